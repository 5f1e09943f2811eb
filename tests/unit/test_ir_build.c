// SPDX-License-Identifier: Apache-2.0
// Building, editing, copying and walking programs by calls.
#include "ir_generate.h"

static hx_ir_block_t *body_of(const hx_program_t *program) { return hx_func_block(hx_program_find(program, "main")); }

static void types_are_interned_by_content(void **state) {
  (void)state;
  hx_program_t *program;
  assert_int_equal(hx_program_create("x", &program), HX_STATUS_OK);
  static const char *const texts[] = {CT,
                                      TENSOR,
                                      "!ckks.ciphertext<depth = 1>",
                                      "!ckks.ciphertext<scale = \"2^40\">",
                                      "!ckks.ciphertext<scale = \"2^40*q1^-1\">",
                                      "!ckks.plaintext<depth = 0>",
                                      "i64",
                                      "i32",
                                      "ui64",
                                      "index",
                                      "f64",
                                      "!ckks.key<kind = relin>",
                                      "!ckks.key<kind = galois, element = 5>",
                                      "!ckks.key<kind = galois, element = 25>",
                                      "tensor<8xf64>",
                                      "tensor<8xcomplex<f64>>",
                                      "tensor<16xf64>",
                                      "tensor<32xui8>",
                                      "!resource.handle<kind = \"a\">",
                                      "!resource.handle<kind = \"b\">",
                                      "!ckks.ciphertext<batch = [2]>",
                                      "!ckks.ciphertext<batch = [2, 1]>"};
  const hx_type_t *types[HX_COUNT_OF(texts)];
  for (size_t round = 0; round < 2; ++round) {
    for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
      const hx_type_t type = type_of_text(texts[i]);
      const hx_type_t *interned = hx_program_type(program, &type);
      assert_true(hx_type_equal(interned, &type));
      if (round == 1) assert_ptr_equal(interned, types[i]);
      types[i] = interned;
      for (size_t j = 0; j < i; ++j) assert_ptr_not_equal(types[i], types[j]);
    }
  }
  hx_program_release(program);
}

static void attributes_are_sorted_and_copied(void **state) {
  (void)state;
  hx_program_t *program;
  assert_int_equal(hx_program_create("x", &program), HX_STATUS_OK);
  char text[] = "value";
  const hx_named_attr_t inner[] = {{.name = hx_str("z"), .value = {.kind = HX_ATTRIBUTE_UNIT}},
                                   {.name = hx_str("y"), .value = {.kind = HX_ATTRIBUTE_UNIT}}};
  const hx_attribute_t list[] = {{.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(text)},
                                 {.kind = HX_ATTRIBUTE_DICT, .dict = inner, .count = 2}};
  const hx_named_attr_t items[] = {
      {.name = hx_str("b"), .value = {.kind = HX_ATTRIBUTE_LIST, .list = list, .count = 2}},
      {.name = hx_str("a"), .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(text)}},
      {.name = hx_str("ab"), .value = {.kind = HX_ATTRIBUTE_BOOL, .boolean = true}}};
  hx_attrs_t attrs;
  assert_int_equal(hx_program_attrs(program, items, 3, &attrs), HX_STATUS_OK);
  memset(text, 'x', 5);
  assert_true(hx_str_equal(attrs.items[0].name, hx_str("a")));
  assert_true(hx_str_equal(attrs.items[1].name, hx_str("ab")));
  assert_true(hx_str_equal(attrs.items[0].value.text, hx_str("value")));
  assert_true(hx_str_equal(attrs.items[2].value.list[0].text, hx_str("value")));
  assert_true(hx_str_equal(attrs.items[2].value.list[1].dict[0].name, hx_str("y")));
  const hx_named_attr_t twice[] = {items[0], items[0]};
  assert_int_equal(hx_program_attrs(program, twice, 2, &attrs), HX_STATUS_INVALID);
  const hx_attribute_t number = {.kind = HX_ATTRIBUTE_INTEGER, .integer = 3};
  assert_int_equal(hx_ir_set_attr(program, program->module, "x.y", &number), HX_STATUS_OK);
  assert_int_equal(hx_ir_set_attr(program, program->module, "heliox.version", &number), HX_STATUS_OK);
  int64_t value = 0;
  assert_true(hx_attrs_get_i64(program->module->attrs, "heliox.version", &value) && value == 3);
  assert_int_equal(program->module->attrs.count, 2);
  hx_program_release(program);
}

static void builder_infers_inserts_and_refuses(void **state) {
  (void)state;
  hx_program_t *program = generate(1);
  hx_ir_block_t *block = body_of(program);
  hx_ir_value_t *operands[2] = {block->arguments[0], block->arguments[1]};
  hx_ir_op_t *op, *second;
  hx_report_t *report = hx_report_create();
  const hx_attrs_t none = {0};
  assert_int_equal(hx_ir_build(program, block, block->first, HX_OP_RNS_ADD, operands, 2, none, 1, NULL, report, &op),
                   HX_STATUS_OK);
  assert_ptr_equal(block->first, op);
  assert_ptr_equal(op->results[0]->type, operands[0]->type);
  operands[0] = op->results[0];
  assert_int_equal(hx_ir_build(program, block, op->next, HX_OP_RNS_NEG, operands, 1, none, 1, NULL, report, &second),
                   HX_STATUS_OK);
  assert_ptr_equal(op->next, second);
  assert_ptr_equal(second->previous, op);
  assert_int_equal(hx_program_verify(program, report), HX_STATUS_OK);
  operands[1] = block->arguments[2];  // an index
  assert_int_equal(hx_ir_build(program, block, NULL, HX_OP_RNS_ADD, operands, 2, none, 1, NULL, report, &op),
                   HX_STATUS_INVALID);
  assert_int_equal(hx_report_count(report), 1);
  hx_ir_remove(second);
  assert_null(second->block);
  assert_int_equal(hx_program_verify(program, report), HX_STATUS_OK);
  hx_ir_remove(op);
  assert_ptr_not_equal(block->first, op);
  assert_int_equal(hx_program_verify(program, report), HX_STATUS_OK);
  hx_report_release(report);
  hx_program_release(program);
}

static void replace_reaches_every_use_in_regions(void **state) {
  (void)state;
  hx_program_t *program = generate(6);
  hx_ir_block_t *block = body_of(program);
  hx_ir_replace_uses(program, block->arguments[0], block->arguments[1]);
  char *text = print_good(program, 0);
  assert_null(strstr(text, "(%a)"));
  assert_null(strstr(text, "(%a,"));
  assert_null(strstr(text, ", %a)"));
  assert_int_equal(hx_program_verify(program, NULL), HX_STATUS_OK);
  hx_text_free(text);
  hx_program_release(program);
}

static void clone_is_equal_and_independent(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    hx_program_t *program = generate(seed);
    hx_program_t *clone;
    assert_int_equal(hx_program_clone(program, &clone), HX_STATUS_OK);
    char *before = print_good(program, 0);
    char *copy = print_good(clone, 0);
    assert_string_equal(copy, before);
    const hx_attribute_t number = {.kind = HX_ATTRIBUTE_INTEGER, .integer = 3};
    assert_int_equal(hx_ir_set_attr(clone, clone->module, "x.y", &number), HX_STATUS_OK);
    hx_ir_block_t *block = body_of(clone);
    while (block->first != block->last) hx_ir_remove(block->first);
    char *after = print_good(program, 0);
    assert_string_equal(after, before);
    const hx_port_t *ports, *others;
    assert_int_equal(hx_program_inputs(program, &ports), hx_program_inputs(clone, &others));
    assert_string_equal(ports[0].type, others[0].type);
    hx_text_free(before);
    hx_text_free(copy);
    hx_text_free(after);
    hx_program_release(program);
    char *alone = print_good(clone, 0);  // nothing of the original is needed
    hx_text_free(alone);
    hx_program_release(clone);
  }
}

static void clone_keeps_places_and_names(void **state) {
  (void)state;
  hx_program_t *program = parse_good(MODULE("%x: " CT, CT, CT,
                                            "%y:2 = \"ckks.rotate_many\"(%x) {steps = [0, 0]} : (" CT ") -> (" CT
                                            ", " CT ")\n\"func.return\"(%y#1) : (" CT ") -> ()"));
  hx_program_t *clone;
  assert_int_equal(hx_program_clone(program, &clone), HX_STATUS_OK);
  const hx_ir_op_t *op = body_of(clone)->first;
  assert_int_equal(op->line, 4);
  assert_int_equal(op->column, 8);
  assert_true(hx_str_equal(op->results[1]->name, hx_str("y")));
  assert_ptr_equal(body_of(clone)->last->operands[0], op->results[1]);
  hx_program_release(program);
  hx_program_release(clone);
}

static void clone_frees_everything_when_memory_runs_out(void **state) {
  (void)state;
  hx_program_t *program = generate(3);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  for (uint64_t n = 1; status == HX_STATUS_OUT_OF_MEMORY; ++n) {
    hx_program_t *clone = NULL;
    hx_alloc_fail_at(n);
    status = hx_program_clone(program, &clone);
    hx_alloc_fail_at(0);
    if (status != HX_STATUS_OK) assert_null(clone);
    hx_program_release(clone);
  }
  assert_int_equal(status, HX_STATUS_OK);
  hx_program_release(program);
}

typedef struct visit {
  size_t count, stop_at;
} visit_t;

static hx_status_t count_and_remove(hx_ir_op_t *op, void *argument) {
  visit_t *visit = argument;
  if (++visit->count == visit->stop_at) return HX_STATUS_CANCELLED;
  if (op->info->id == HX_OP_SCF_IF || op->info->id == HX_OP_SCF_FOR) hx_ir_remove(op);
  return HX_STATUS_OK;
}

static hx_status_t count_only(hx_ir_op_t *op, void *argument) {
  (void)op;
  ++*(size_t *)argument;
  return HX_STATUS_OK;
}

static void walk_visits_parents_first_and_stops(void **state) {
  (void)state;
  hx_program_t *program = generate(9);
  size_t all = 0;
  assert_int_equal(hx_ir_walk(program->module, count_only, &all), HX_STATUS_OK);
  assert_true(all > 10);
  visit_t visit = {.stop_at = 3};
  assert_int_equal(hx_ir_walk(program->module, count_and_remove, &visit), HX_STATUS_CANCELLED);
  assert_int_equal(visit.count, 3);
  visit = (visit_t){0};
  assert_int_equal(hx_ir_walk(program->module, count_and_remove, &visit), HX_STATUS_OK);
  size_t left = 0;
  assert_int_equal(hx_ir_walk(program->module, count_only, &left), HX_STATUS_OK);
  assert_true(left <= visit.count && visit.count <= all);
  hx_program_release(program);
}

static void numbers_are_dense_and_in_order(void **state) {
  (void)state;
  hx_program_t *program = generate(8);
  hx_ir_op_t *func = hx_program_find(program, "main");
  const size_t count = hx_ir_number(func);
  assert_int_equal(hx_func_block(func)->arguments[0]->id, 0);
  assert_int_equal(hx_func_block(func)->arguments[2]->id, 2);
  assert_true(count >= 3);
  assert_null(hx_program_find(program, "absent"));
  assert_int_equal(hx_func_return(func)->info->id, HX_OP_RETURN);
  hx_program_release(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_are_interned_by_content),
      cmocka_unit_test(attributes_are_sorted_and_copied),
      cmocka_unit_test(builder_infers_inserts_and_refuses),
      cmocka_unit_test(replace_reaches_every_use_in_regions),
      cmocka_unit_test(clone_is_equal_and_independent),
      cmocka_unit_test(clone_keeps_places_and_names),
      cmocka_unit_test(clone_frees_everything_when_memory_runs_out),
      cmocka_unit_test(walk_visits_parents_first_and_stops),
      cmocka_unit_test(numbers_are_dense_and_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
