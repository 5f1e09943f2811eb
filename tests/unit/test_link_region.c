// SPDX-License-Identifier: Apache-2.0
// Regions: what crosses to a plugin, and what never does.
#include "core/link/region.h"
#include "tests/unit/link_fixture.h"

typedef struct scene {
  hx_params_t *params;
  hx_arena_t arena;
  hx_report_t *report;
  hx_type_t types[4];
  hx_layout_t layouts[4];
  hx_region_value_t values[4];
} scene_t;

static int setup(void **state) {
  scene_t *scene = calloc(1, sizeof *scene);
  scene->params = link_params(LINK_RING);
  scene->report = hx_report_create();
  hx_arena_init(&scene->arena);
  *state = scene;
  return 0;
}

static int teardown(void **state) {
  scene_t *scene = *state;
  hx_arena_deinit(&scene->arena);
  hx_params_release(scene->params);
  hx_report_release(scene->report);
  free(scene);
  return 0;
}

static void set_value(scene_t *scene, uint32_t index, const char *text) {
  must(hx_type_parse(hx_str(text), hx_params_ring(scene->params), &scene->types[index], scene->report), scene->report);
  assert_int_equal(hx_link_layout(&scene->types[index], hx_params_ring(scene->params), &scene->layouts[index]),
                   HX_STATUS_OK);
  scene->values[index] = (hx_region_value_t){
      .type = &scene->types[index], .layout = &scene->layouts[index], .primes = &scene->types[index].primes};
}

static hx_status_t build(scene_t *scene, hx_op_id_t id, const hx_named_attr_t *attrs, size_t attr_count,
                         uint32_t operands, const hx_region **out) {
  const hx_region_call_t call = {.op = hx_op_info(id),
                                 .attrs = {.items = attrs, .count = attr_count},
                                 .operands = scene->values,
                                 .operand_count = operands,
                                 .results = scene->values + operands,
                                 .result_count = 1,
                                 .ring = hx_params_ring(scene->params),
                                 .variant = "avx2"};
  return hx_region_build(&scene->arena, &call, out, scene->report);
}

static const hx_attr *attr_of(const hx_region *region, const char *name) {
  for (uint32_t i = 0; i < region->ops[0].attr_count; ++i) {
    if (strcmp(region->ops[0].attrs[i].name, name) == 0) return &region->ops[0].attrs[i];
  }
  return NULL;
}

static hx_named_attr_t integer(const char *name, int64_t value) {
  return (hx_named_attr_t){.name = hx_str(name), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = value}};
}

static hx_named_attr_t text(const char *name, const char *value) {
  return (hx_named_attr_t){.name = hx_str(name), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(value)}};
}

static void a_call_is_a_region_of_one_operation(void **state) {
  scene_t *scene = *state;
  set_value(scene, 0, CT0);
  set_value(scene, 1, CT0);
  set_value(scene, 2, CT0);
  scene->values[0].secret = true;
  scene->values[1].immutable = true;
  const hx_region *region = NULL;
  must(build(scene, HX_OP_CKKS_ADD, NULL, 0, 2, &region), scene->report);
  assert_int_equal(region->struct_size, HX_END_OF(hx_region, op_callables));
  assert_int_equal(region->op_count, 1);
  assert_int_equal(region->value_count, 3);
  assert_int_equal(region->input_count, 2);
  assert_int_equal(region->output_count, 1);
  assert_int_equal(region->outputs[0], 2);
  assert_ptr_equal(region->ring, hx_params_ring(scene->params));
  assert_string_equal(region->variant, "avx2");
  assert_string_equal(region->ops[0].name, "ckks.add");
  assert_int_equal(region->ops[0].signature, 1);
  const hx_tensor_desc *a = &region->values[region->inputs[0]];
  assert_int_equal(a->dtype, HX_U64);
  assert_int_equal(a->log_n, 10);
  assert_int_equal(a->components, 2);
  assert_int_equal(a->limbs, 5);
  assert_int_equal(a->domain, HX_NTT);
  assert_int_equal(a->basis, HX_BASIS_Q);
  assert_int_equal(a->repr, HX_STANDARD);
  assert_int_equal(a->flags, HX_SECRET);
  assert_int_equal(a->component_stride, 5 * 1024);
  assert_int_equal(a->prime_ids[4], 4);
  assert_null(a->rows);
  assert_int_equal(region->values[1].flags, HX_IMMUTABLE);
}

static void steps_are_taken_into_the_slots(void **state) {
  scene_t *scene = *state;
  static const struct {
    int64_t step, crosses;
  } rows[] = {{1, 1}, {-1, 511}, {512, 0}, {513, 1}, {-1024, 0}, {INT64_MIN, 0}, {INT64_MAX, 511}};
  set_value(scene, 0, CT0);
  set_value(scene, 1, CT0);
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_named_attr_t attrs[] = {integer("step", rows[i].step)};
    const hx_region *region = NULL;
    must(build(scene, HX_OP_CKKS_ROTATE, attrs, 1, 1, &region), scene->report);
    const hx_attr *step = attr_of(region, "step");
    assert_int_equal(step->kind, HX_ATTR_I64);
    assert_int_equal(step->count, 1);
    assert_int_equal(((const int64_t *)step->data)[0], rows[i].crosses);
  }
}

static void constants_cross_as_residues(void **state) {
  scene_t *scene = *state;
  set_value(scene, 0, CT0);
  set_value(scene, 1, CT0);
  const hx_attribute_t parts[] = {{.kind = HX_ATTRIBUTE_FLOAT, .number = 0.5},
                                  {.kind = HX_ATTRIBUTE_FLOAT, .number = -2}};
  const hx_named_attr_t attrs[] = {
      text("heliox.implementation", "cpu"),
      text("scale", "2^20"),
      {.name = hx_str("value"), .value = {.kind = HX_ATTRIBUTE_LIST, .list = parts, .count = 2}}};
  const hx_region *region = NULL;
  must(build(scene, HX_OP_CKKS_MUL_SCALAR, attrs, 3, 1, &region), scene->report);
  assert_int_equal(region->ops[0].attr_count, 1);  // neither value nor scale nor the request
  const hx_attr *residues = attr_of(region, "residues");
  assert_int_equal(residues->kind, HX_ATTR_U64);
  assert_int_equal(residues->count, 10);
  uint64_t expected[10];
  hx_scale_t scale;
  must(hx_scale_parse(hx_str("2^20"), NULL, &scale, scene->report), scene->report);
  must(hx_constant_residues(hx_params_ring(scene->params), &scene->types[0].primes, 0.5, -2, &scale, expected,
                            scene->report),
       scene->report);
  assert_memory_equal(residues->data, expected, sizeof expected);
  // A real constant at the operand's own scale: equal words on both halves.
  const hx_named_attr_t real[] = {{.name = hx_str("value"), .value = {.kind = HX_ATTRIBUTE_FLOAT, .number = 1}}};
  must(build(scene, HX_OP_CKKS_ADD_SCALAR, real, 1, 1, &region), scene->report);
  const uint64_t *words = attr_of(region, "residues")->data;
  for (uint32_t l = 0; l < 5; ++l) {
    assert_int_equal(words[2 * l], ((uint64_t)1 << 40) % hx_params_prime(scene->params, l));
    assert_int_equal(words[2 * l], words[2 * l + 1]);
  }
}

static void constants_that_do_not_fit_are_refused(void **state) {
  scene_t *scene = *state;
  set_value(scene, 0, CT0);
  set_value(scene, 1, CT0);
  const hx_named_attr_t attrs[] = {{.name = hx_str("value"), .value = {.kind = HX_ATTRIBUTE_FLOAT, .number = 1e300}}};
  const hx_region *region = NULL;
  assert_int_equal(build(scene, HX_OP_CKKS_ADD_SCALAR, attrs, 1, 1, &region), HX_STATUS_INVALID);
  must_fault(scene->report, HX_CODE_VALUE, 0, "");
}

static void operands_without_a_batch_repeat(void **state) {
  scene_t *scene = *state;
  static const char batch[] =
      "!ckks.ciphertext<batch = [3, 2], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4], basis = "
      "Q, "
      "domain = ntt, repr = standard, slots = 512>";
  set_value(scene, 0, batch);
  set_value(scene, 1, PT0);
  set_value(scene, 2, batch);
  const hx_region *region = NULL;
  must(build(scene, HX_OP_CKKS_MUL_PLAIN, NULL, 0, 2, &region), scene->report);
  const hx_tensor_desc *plain = &region->values[1];
  assert_int_equal(plain->batch_rank, 2);
  assert_int_equal(plain->batch_shape[0], 3);
  assert_int_equal(plain->batch_shape[1], 2);
  assert_int_equal(plain->batch_strides[0], 0);
  assert_int_equal(plain->batch_strides[1], 0);
  assert_int_equal(plain->components, 1);  // a plaintext of a ckks operation has one component by definition
  assert_int_equal(region->values[0].batch_strides[0], 2 * 2 * 5 * 1024);
}

static void factors_of_one_component_repeat(void **state) {
  scene_t *scene = *state;
  set_value(scene, 0, CT0);
  set_value(
      scene, 1,
      "!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2, 3, 4], basis = Q, domain = ntt, repr = "
      "standard>");
  set_value(scene, 2, CT0);
  const hx_region *region = NULL;
  must(build(scene, HX_OP_RNS_MUL, NULL, 0, 2, &region), scene->report);
  assert_int_equal(region->values[1].components, 2);
  assert_int_equal(region->values[1].component_stride, 0);
}

static void keys_carry_rows_and_digits(void **state) {
  scene_t *scene = *state;
  hx_keys_t *keys = link_keys(scene->params);
  const hx_ring *ring = hx_params_ring(scene->params);
  hx_tensor_t *view = NULL;
  assert_int_equal(hx_switch_key_at(keys->relin, ring, 2, &view), HX_STATUS_OK);
  set_value(scene, 0, CT2);
  set_value(scene, 2, CT2);
  hx_primes_t rows = hx_ring_active(ring, 2);
  hx_primes_add(&rows, 5);
  hx_primes_add(&rows, 6);
  scene->types[1] = (hx_type_t){.kind = HX_TYPE_KEY, .key_kind = HX_KEY_RELIN};
  scene->values[1] =
      (hx_region_value_t){.type = &scene->types[1], .layout = &view->layout, .primes = &rows, .immutable = true};
  const hx_region *region = NULL;
  must(build(scene, HX_OP_CKKS_RELINEARIZE, NULL, 0, 2, &region), scene->report);
  const hx_tensor_desc *key = &region->values[1];
  static const uint32_t ids[] = {0, 1, 2, 5, 6};
  assert_int_equal(key->digits, 2);  // of three: the last one is empty at this depth
  assert_int_equal(key->components, 2);
  assert_int_equal(key->limbs, 5);
  assert_int_equal(key->basis, HX_BASIS_QP);
  assert_int_equal(key->domain, HX_NTT);
  assert_int_equal(key->flags, HX_IMMUTABLE);
  assert_memory_equal(key->prime_ids, ids, sizeof ids);
  assert_non_null(key->rows);
  assert_memory_equal(key->rows, ids, sizeof ids);  // rows of a whole key stand by id
  hx_tensor_release(view);
  hx_keys_release(keys);
}

static void texts_and_lists_cross_by_name(void **state) {
  scene_t *scene = *state;
  const char *deep = CT2;
  set_value(scene, 0, CT0);
  set_value(scene, 1, deep);
  const hx_attribute_t ids[] = {{.kind = HX_ATTRIBUTE_INTEGER, .integer = 3},
                                {.kind = HX_ATTRIBUTE_INTEGER, .integer = 4}};
  const hx_named_attr_t attrs[] = {
      {.name = hx_str("drop"), .value = {.kind = HX_ATTRIBUTE_LIST, .list = ids, .count = 2}},
      text("rounding", "nearest")};
  const hx_region *region = NULL;
  must(build(scene, HX_OP_RNS_MOD_DOWN, attrs, 2, 1, &region), scene->report);
  const hx_attr *rounding = attr_of(region, "rounding"), *drop = attr_of(region, "drop");
  assert_int_equal(rounding->kind, HX_ATTR_TEXT);
  assert_int_equal(rounding->count, 7);
  assert_memory_equal(rounding->data, "nearest", 8);
  assert_int_equal(drop->kind, HX_ATTR_I64);
  assert_int_equal(((const int64_t *)drop->data)[1], 4);
  const hx_named_attr_t by_name[] = {text("drop", "P"), text("rounding", "nearest")};
  must(build(scene, HX_OP_RNS_MOD_DOWN, by_name, 2, 1, &region), scene->report);
  assert_int_equal(attr_of(region, "drop")->kind, HX_ATTR_TEXT);
  assert_memory_equal(attr_of(region, "drop")->data, "P", 2);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_call_is_a_region_of_one_operation), CASE(steps_are_taken_into_the_slots),
      CASE(constants_cross_as_residues),         CASE(constants_that_do_not_fit_are_refused),
      CASE(operands_without_a_batch_repeat),     CASE(factors_of_one_component_repeat),
      CASE(keys_carry_rows_and_digits),          CASE(texts_and_lists_cross_by_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
