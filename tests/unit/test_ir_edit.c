// SPDX-License-Identifier: Apache-2.0
// Regions as wholes: copies, uses, dominance, ways of values through control flow.
#include "ir_util.h"

#define LOOP                                                                                                \
  MODULE("%x: " CT ", %n: index", CT ", index", CT,                                                         \
         "%zero = \"arith.constant\"() {value = 0 : index} : () -> index\n"                                 \
         "%one = \"arith.constant\"() {value = 1 : index} : () -> index\n"                                  \
         "%y = \"ckks.neg\"(%x) : (" CT ") -> " CT                                                          \
         "\n"                                                                                               \
         "%l = \"scf.for\"(%zero, %n, %one, %y) ({\n^entry(%i: index, %c: " CT                              \
         "):\n"                                                                                             \
         "%flag = \"arith.cmpi\"(%i, %one) {predicate = 0 : i64} : (index, index) -> i1\n"                  \
         "%k = \"scf.if\"(%flag) ({\n"                                                                      \
         "%s = \"ckks.add\"(%c, %y) : (" CT ", " CT ") -> " CT "\n\"scf.yield\"(%s) : (" CT                 \
         ") -> ()\n}, {\n\"scf.yield\"(%y) : (" CT ") -> ()\n}) : (i1) -> " CT "\n\"scf.yield\"(%k) : (" CT \
         ") -> ()\n}) : (index, "                                                                           \
         "index, index, " CT ") -> " CT "\n\"func.return\"(%l) : (" CT ") -> ()")

typedef struct search {
  const char *name;
  hx_ir_op_t *found;
} search_t;

static hx_status_t visit_named(hx_ir_op_t *op, void *argument) {
  search_t *search = argument;
  if (op->result_count > 0 && hx_str_equal(op->results[0]->name, hx_str(search->name))) search->found = op;
  return HX_STATUS_OK;
}

// The operation that defines %name.
static hx_ir_op_t *find(hx_program_t *program, const char *name) {
  search_t search = {.name = name};
  assert_int_equal(hx_ir_walk(program->module, visit_named, &search), HX_STATUS_OK);
  assert_non_null(search.found);
  return search.found;
}

static void visible_follows_blocks_and_order(void **state) {
  (void)state;
  hx_program_t *program = parse_good(LOOP);
  const size_t count = hx_ir_number_ops(program->module);
  assert_int_equal(count, 13);
  hx_ir_op_t *y = find(program, "y"), *loop = find(program, "l"), *sum = find(program, "s"),
             *flag = find(program, "flag");
  const hx_ir_block_t *body = loop->regions[0]->block;
  assert_true(hx_ir_is_visible(y->results[0], sum));
  assert_true(hx_ir_is_visible(body->arguments[1], sum));
  assert_true(hx_ir_is_visible(flag->results[0], sum));
  assert_false(hx_ir_is_visible(sum->results[0], flag));
  assert_false(hx_ir_is_visible(sum->results[0], find(program, "k")));
  assert_false(hx_ir_is_visible(loop->results[0], sum));
  assert_false(hx_ir_is_visible(y->results[0], y));
  assert_ptr_equal(hx_ir_ancestor_in(sum, y->block), loop);
  assert_ptr_equal(hx_ir_ancestor_in(sum, body), find(program, "k"));
  assert_null(hx_ir_ancestor_in(y, body));
  assert_true(hx_ir_is_inside(sum, loop));
  assert_true(hx_ir_is_inside(loop, loop));
  assert_false(hx_ir_is_inside(y, loop));
  hx_program_release(program);
}

static void uses_are_counted_and_replaced_below_a_root_alone(void **state) {
  (void)state;
  hx_program_t *program = parse_good(LOOP);
  hx_ir_value_t *y = find(program, "y")->results[0], *x = find(program, "y")->operands[0];
  hx_ir_op_t *loop = find(program, "l"), *branch = find(program, "k");
  assert_int_equal(hx_ir_count_uses(program->module, y), 3);
  assert_int_equal(hx_ir_count_uses(branch, y), 2);
  hx_ir_replace_uses_in(branch, y, x);
  assert_int_equal(hx_ir_count_uses(program->module, y), 1);
  assert_ptr_equal(loop->operands[3], y);
  assert_int_equal(hx_program_verify(program, NULL), HX_STATUS_OK);
  hx_program_release(program);
}

static void copy_of_a_loop_is_a_loop_of_its_own(void **state) {
  (void)state;
  hx_program_t *program = parse_good(LOOP);
  hx_ir_op_t *loop = find(program, "l"), *ending = loop->next;
  hx_ir_map_t map;
  hx_ir_map_init(&map);
  assert_int_equal(hx_ir_map_set(&map, loop->operands[3], find(program, "y")->operands[0]), HX_STATUS_OK);
  assert_int_equal(hx_ir_copy_range(program, loop, ending, &map, loop->block, ending), HX_STATUS_OK);
  hx_ir_op_t *copy = loop->next;
  assert_ptr_equal(hx_ir_map_get(&map, loop->results[0]), copy->results[0]);
  assert_ptr_equal(hx_ir_map_get(&map, ending->operands[0]), copy->results[0]);
  hx_ir_map_deinit(&map);
  hx_ir_replace_uses_in(ending, loop->results[0], copy->results[0]);
  assert_int_equal(hx_program_verify(program, NULL), HX_STATUS_OK);
  // Nothing of the copy refers to the original: it can go.
  hx_ir_remove(loop);
  assert_int_equal(hx_program_verify(program, NULL), HX_STATUS_OK);
  char *text = print_good(program, HX_PRINT_SHORT);
  assert_non_null(strstr(text, "\"scf.for\"(%zero, %n, %one, %x)"));
  assert_non_null(strstr(text, "\"ckks.add\"(%c, %x)"));
  hx_text_free(text);
  hx_program_release(program);
}

static void copy_fails_cleanly_for_want_of_memory(void **state) {
  (void)state;
  bool failed = false;
  for (uint64_t n = 1; n < 64; ++n) {
    hx_program_t *program = parse_good(LOOP);
    hx_ir_op_t *loop = find(program, "l"), *copy = NULL;
    hx_ir_map_t map;
    hx_ir_map_init(&map);
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_ir_copy_op(program, loop, &map, &copy);
    hx_alloc_fail_at(0);
    failed = failed || status == HX_STATUS_OUT_OF_MEMORY;
    assert_true(status == HX_STATUS_OK || (status == HX_STATUS_OUT_OF_MEMORY && copy == NULL));
    hx_ir_map_deinit(&map);
    hx_program_release(program);
  }
  assert_true(failed);
}

typedef struct pairs {
  char text[256];
} pairs_t;

static hx_status_t note_pair(hx_ir_value_t *from, hx_ir_value_t *to, void *argument) {
  pairs_t *pairs = argument;
  const size_t used = strlen(pairs->text);
  snprintf(pairs->text + used, sizeof pairs->text - used, "%.*s>%.*s ", (int)from->name.size, from->name.data,
           (int)to->name.size, to->name.data);
  return HX_STATUS_OK;
}

static void flows_name_every_way_of_a_value(void **state) {
  (void)state;
  hx_program_t *program = parse_good(LOOP);
  pairs_t pairs = {{0}};
  assert_int_equal(hx_ir_flows(find(program, "l"), note_pair, &pairs), HX_STATUS_OK);
  assert_string_equal(pairs.text, "zero>i y>c k>c c>l ");
  pairs.text[0] = '\0';
  assert_int_equal(hx_ir_flows(find(program, "k"), note_pair, &pairs), HX_STATUS_OK);
  assert_string_equal(pairs.text, "s>k y>k ");
  pairs.text[0] = '\0';
  assert_int_equal(hx_ir_flows(find(program, "s"), note_pair, &pairs), HX_STATUS_OK);
  assert_string_equal(pairs.text, "");
  hx_program_release(program);
  program =
      parse_good(MODULE("%x: " CT ", %f: i1", CT ", i1", CT,
                        "%w:2 = \"scf.while\"(%x, %f) ({\n^entry(%a: " CT
                        ", %b: i1):\n\"scf.condition\"(%b, %a, %b) : (i1, " CT ", i1) -> ()\n}, {\n^entry(%c: " CT
                        ", %d: i1):\n%e = \"ckks.neg\"(%c) : (" CT ") -> " CT "\n\"scf.yield\"(%e, %d) : (" CT
                        ", i1) -> ()\n}) : (" CT ", i1) -> (" CT ", i1)\n\"func.return\"(%w#0) : (" CT ") -> ()"));
  pairs.text[0] = '\0';
  assert_int_equal(hx_ir_flows(find(program, "w"), note_pair, &pairs), HX_STATUS_OK);
  assert_string_equal(pairs.text, "x>a f>b a>c b>d a>w b>w e>a d>b ");
  hx_program_release(program);
}

static hx_status_t note_op(hx_ir_op_t *op, void *argument) {
  pairs_t *order = argument;
  const size_t used = strlen(order->text);
  snprintf(order->text + used, sizeof order->text - used, "%s ", op->info->name);
  return HX_STATUS_OK;
}

static void walk_post_visits_regions_before_their_owner(void **state) {
  (void)state;
  hx_program_t *program = parse_good(LOOP);
  pairs_t order = {{0}};
  assert_int_equal(hx_ir_walk_post(find(program, "l"), note_op, &order), HX_STATUS_OK);
  assert_string_equal(order.text, "arith.cmpi ckks.add scf.yield scf.yield scf.if scf.yield scf.for ");
  hx_program_release(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(visible_follows_blocks_and_order),
                                     cmocka_unit_test(uses_are_counted_and_replaced_below_a_root_alone),
                                     cmocka_unit_test(copy_of_a_loop_is_a_loop_of_its_own),
                                     cmocka_unit_test(copy_fails_cleanly_for_want_of_memory),
                                     cmocka_unit_test(flows_name_every_way_of_a_value),
                                     cmocka_unit_test(walk_post_visits_regions_before_their_owner)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
