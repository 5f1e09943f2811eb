// SPDX-License-Identifier: Apache-2.0
// How calls find their implementation: every rule and every refusal.
#include "tests/unit/fake_plugin.h"
#include "tests/unit/ops_fixture.h"

static const char ct_text[] =
    "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4, 5], basis = Q, "
    "domain = ntt, repr = standard, slots = 8>";

static const char tensor_text[] =
    "!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = "
    "standard>";

typedef struct scene {
  fake_plugin_t *first, *second;
  hx_backend_t *backend;
  hx_type_t type;
  const hx_type_t *types[2];
  hx_invocation_t call;
  hx_request_t request;
  hx_resolution_t found;
  hx_report_t *report;
} scene_t;

static void set_call(scene_t *scene, const char *op, const char *text, size_t operands) {
  scene->type = type_of(text, &ring_a);
  scene->types[0] = scene->types[1] = &scene->type;
  scene->call = (hx_invocation_t){.op = hx_op_info(hx_op_find(hx_str(op))),
                                  .operands = scene->types,
                                  .operand_count = operands,
                                  .results = scene->types,
                                  .result_count = 1,
                                  .ring = &ring_a};
}

static int setup(void **state) {
  scene_t *scene = calloc(1, sizeof *scene);
  fake_reset_knobs();
  scene->first = fake_plugin_create("alpha");
  scene->second = fake_plugin_create("beta");
  scene->report = hx_report_create();
  scene->request = (hx_request_t){.source = "p.mlir", .line = 7, .column = 3};
  set_call(scene, "ckks.add", ct_text, 2);
  *state = scene;
  return 0;
}

static int teardown(void **state) {
  scene_t *scene = *state;
  hx_backend_release(scene->backend);
  fake_plugin_destroy(scene->first);
  fake_plugin_destroy(scene->second);
  hx_report_release(scene->report);
  free(scene);
  return 0;
}

static void assemble(scene_t *scene) {
  hx_loaded_plugin_t *plugins[] = {&scene->first->loaded, &scene->second->loaded};
  const uint32_t indexes[] = {0, 0};
  assert_int_equal(hx_backend_assemble(plugins, indexes, 2, &scene->backend, scene->report), HX_STATUS_OK);
}

static hx_status_t resolve(scene_t *scene) {
  hx_report_clear(scene->report);
  return hx_backend_resolve(scene->backend, &scene->call, &scene->request, &scene->found, scene->report);
}

static void expect_fault(scene_t *scene, hx_code_t code, const char *piece) {
  assert_int_equal(resolve(scene), hx_code_info(code)->status);
  assert_int_equal(hx_report_count(scene->report), 1);
  const hx_fault_t *fault = hx_report_get(scene->report, 0);
  assert_int_equal(fault->code, code);
  assert_int_equal(fault->line, 7);
  if (strstr(fault->text, piece) == NULL) fail_msg("\"%s\" lacks \"%s\"", fault->text, piece);
}

static void resolve_takes_the_only_candidate(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->second, "ckks.sub", "plain");
  assemble(scene);
  assert_int_equal(resolve(scene), HX_STATUS_OK);
  assert_string_equal(scene->found.implementation->qualified, "alpha/plain");
  assert_string_equal(scene->found.variant, "");
  assert_true(hx_backend_supports(scene->backend, &scene->call));
}

static void resolve_refuses_two_candidates_and_lists_them(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->second, "ckks.add", "plain");
  scene->first->record.priority = 100;  // orders discovery, decides nothing here
  assemble(scene);
  expect_fault(scene, HX_CODE_AMBIGUOUS, "alpha/plain; beta/plain");
}

static void resolve_names_ranges_that_do_not_cover(void **state) {
  scene_t *scene = *state;
  hx_manifest_operation_t *row = fake_plugin_add(scene->first, "ckks.add", "plain");
  assemble(scene);
  const hx_manifest_operation_t whole = *row;
  row->log_n_min = 10;
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "log_n 4 is outside its range 10 to 17");
  *row = whole;
  row->dtypes = 1u << HX_U32;
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "it takes dtypes u32, the call has u64");
  *row = whole;
  row->prime_bits_max = 55;
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "primes of 50 to 60 bits are outside its range 2 to 55");
  *row = whole;
  row->domains = 1u << HX_COEFFICIENT;
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "does not take operands in ntt domain");
  assert_false(hx_backend_supports(scene->backend, &scene->call));
}

static void resolve_asks_for_in_place_where_wanted(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain")->in_place = false;
  assemble(scene);
  scene->call.in_place = true;
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "does not declare in_place");
  scene->call.in_place = false;
  assert_int_equal(resolve(scene), HX_STATUS_OK);
}

static void resolve_keeps_secrets_from_plugins_without_them(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  scene->first->loaded.handles_secrets = false;
  assemble(scene);
  assert_int_equal(resolve(scene), HX_STATUS_OK);
  scene->call.secret = true;
  expect_fault(scene, HX_CODE_CAPABILITY, "does not declare secrets");
}

static void resolve_says_when_nothing_implements(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.sub", "plain");
  assemble(scene);
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "ckks.add: no implementation in this backend");
}

static void resolve_obeys_names(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->first, "ckks.add", "fused");
  fake_plugin_add(scene->second, "ckks.add", "plain");
  assemble(scene);
  static const struct {
    const char *asked, *found, *variant;
  } rows[] = {{"fused", "alpha/fused", ""},
              {"beta/plain", "beta/plain", ""},
              {"fused/avx2", "alpha/fused", "avx2"},
              {"beta/plain/ifma", "beta/plain", "ifma"}};
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    scene->request.program = hx_str(rows[i].asked);
    scene->request.caller = hx_str("");
    assert_int_equal(resolve(scene), HX_STATUS_OK);
    assert_string_equal(scene->found.implementation->qualified, rows[i].found);
    assert_string_equal(scene->found.variant, rows[i].variant);
    scene->request.program = hx_str("");
    scene->request.caller = hx_str(rows[i].asked);
    assert_int_equal(resolve(scene), HX_STATUS_OK);
    assert_string_equal(scene->found.implementation->qualified, rows[i].found);
  }
}

static void resolve_refuses_names_that_fit_two(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->second, "ckks.add", "plain");
  assemble(scene);
  scene->request.program = hx_str("plain");
  expect_fault(scene, HX_CODE_AMBIGUOUS, "alpha/plain; beta/plain");
}

static void resolve_lists_what_exists_for_unknown_names(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->second, "ckks.add", "fast");
  assemble(scene);
  static const char *const unknown[] = {"best", "alpha/fast", "alpha/plain/x/y", "/", "plain//"};
  for (size_t i = 0; i < HX_COUNT_OF(unknown); ++i) {
    scene->request.program = hx_str(unknown[i]);
    expect_fault(scene, HX_CODE_IMPLEMENTATION, "there are: alpha/plain, beta/fast");
  }
}

static void resolve_never_falls_back_from_a_name(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "small")->log_n_max = 3;
  fake_plugin_add(scene->first, "ckks.add", "large");
  assemble(scene);
  scene->request.program = hx_str("small");
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "alpha/small: log_n 4 is outside its range 3 to 3");
}

static void resolve_refuses_a_caller_against_the_program(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->second, "ckks.add", "fast");
  assemble(scene);
  scene->request.program = hx_str("plain");
  scene->request.caller = hx_str("fast");
  expect_fault(scene, HX_CODE_CONSTRAINT, "the program asks for \"plain\", the caller for \"fast\"");
  scene->request.program = hx_str("plain/avx2");
  scene->request.caller = hx_str("plain/portable");
  expect_fault(scene, HX_CODE_CONSTRAINT, "plain/avx2");
  scene->request.program = hx_str("plain");
  assert_int_equal(resolve(scene), HX_STATUS_OK);
  assert_string_equal(scene->found.variant, "portable");
}

static void resolve_leaves_explicit_only_to_its_name(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->first, "ckks.add", "checked")->explicit_only = true;
  assemble(scene);
  assert_int_equal(resolve(scene), HX_STATUS_OK);
  assert_string_equal(scene->found.implementation->name, "plain");
  scene->request.program = hx_str("checked");
  assert_int_equal(resolve(scene), HX_STATUS_OK);
  assert_string_equal(scene->found.implementation->name, "checked");
}

static void resolve_refuses_a_variant_name_that_is_too_long(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  assemble(scene);
  char name[128] = "plain/";
  memset(name + 6, 'x', 100);
  scene->request.program = hx_str(name);
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "longer than 63 bytes");
}

static void resolve_counts_special_primes_of_keys(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.relinearize", "plain")->prime_bits_min = 60;
  assemble(scene);
  set_call(scene, "ckks.relinearize", ct_text, 1);
  hx_type_t deep = type_of(
      "!ckks.ciphertext<batch = [], components = 3, depth = 5, scale = \"2^40\", primes = [0], basis = Q, domain = "
      "ntt, "
      "repr = standard, slots = 8>",
      &ring_a);
  hx_type_t key = type_of("!ckks.key<kind = relin>", &ring_a);
  const hx_type_t *types[] = {&deep, &key};
  scene->call.operands = types;
  scene->call.operand_count = 2;
  scene->call.results = types;
  expect_fault(scene, HX_CODE_IMPLEMENTATION, "primes of 55 to 60 bits are outside its range 60 to 61");
}

static void diagnose_explains_every_row(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "rns.add", "plain");
  fake_plugin_add(scene->first, "rns.add", "ntt-only")->domains = 1u << HX_NTT;
  fake_plugin_add(scene->second, "rns.add", "checked")->explicit_only = true;
  assemble(scene);
  set_call(scene, "rns.add", tensor_text, 2);
  hx_text_t text;
  hx_text_init(&text);
  assert_int_equal(hx_backend_diagnose(scene->backend, &scene->call, &text), HX_STATUS_OK);
  assert_string_equal(text.data,
                      "rns.add alpha/plain: covers\n"
                      "rns.add alpha/ntt-only: it does not take operands in coefficient domain\n"
                      "rns.add beta/checked: answers only to its name\n");
  hx_text_deinit(&text);
}

static void available_lists_names_in_order(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->second, "ckks.add", "fast");
  assemble(scene);
  const char *names[2] = {NULL, NULL};
  assert_int_equal(hx_backend_available(scene->backend, "ckks.add", names, 2), 2);
  assert_string_equal(names[0], "alpha/plain");
  assert_string_equal(names[1], "beta/fast");
  assert_int_equal(hx_backend_available(scene->backend, "ckks.add", NULL, 0), 2);
  assert_int_equal(hx_backend_available(scene->backend, "no.such", NULL, 0), 0);
}

static void assemble_drops_unknown_operations(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  fake_plugin_add(scene->first, "ckks.teleport", "plain");
  scene->first->impls[0].signature = 2;
  scene->first->rows[0].signature = 2;
  fake_plugin_add(scene->first, "ckks.sub", "plain");
  assemble(scene);
  assert_int_equal(scene->backend->row_count, 1);
  assert_string_equal(scene->backend->rows[0].record->op, "ckks.sub");
}

// ------------------------------------------------------------------ implementations of the application

static const hx_impl own = {.struct_size = HX_END_OF(hx_impl, destroy),
                            .signature = 1,
                            .name = "own",
                            .op = "ckks.add",
                            .prepare = fake_prepare,
                            .execute = fake_execute,
                            .destroy = fake_destroy};

static void with_implementation_adds_to_a_copy(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  assemble(scene);
  hx_backend_t *extended = NULL;
  assert_int_equal(hx_backend_with_implementation(scene->backend, &own, &extended, scene->report), HX_STATUS_OK);
  assert_int_equal(hx_backend_available(scene->backend, "ckks.add", NULL, 0), 1);
  assert_int_equal(hx_backend_available(extended, "ckks.add", NULL, 0), 2);
  assert_int_equal(hx_backend_resolve(extended, &scene->call, &scene->request, &scene->found, scene->report),
                   HX_STATUS_AMBIGUOUS);
  scene->request.program = hx_str("own");
  assert_int_equal(hx_backend_resolve(extended, &scene->call, &scene->request, &scene->found, scene->report),
                   HX_STATUS_OK);
  assert_string_equal(scene->found.implementation->qualified, "application/own");
  assert_ptr_equal(scene->found.implementation->device, scene->backend->devices[0]);
  scene->call.secret = true;
  assert_int_equal(hx_backend_resolve(extended, &scene->call, &scene->request, &scene->found, scene->report),
                   HX_STATUS_REFUSED);
  hx_backend_release(extended);
}

static void with_implementation_refuses_bad_records(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "own");
  assemble(scene);
  hx_backend_t *extended = NULL;
  assert_int_equal(hx_backend_with_implementation(scene->backend, &own, &extended, scene->report), HX_STATUS_EXISTS);
  hx_impl record = own;
  record.name = "other";
  record.struct_size -= 1;
  assert_int_equal(hx_backend_with_implementation(scene->backend, &record, &extended, scene->report),
                   HX_STATUS_INVALID);
  record = own;
  record.destroy = NULL;
  assert_int_equal(hx_backend_with_implementation(scene->backend, &record, &extended, scene->report),
                   HX_STATUS_INVALID);
  record = own;
  record.op = "ckks.teleport";
  assert_int_equal(hx_backend_with_implementation(scene->backend, &record, &extended, scene->report),
                   HX_STATUS_INVALID);
  record = own;
  record.name = "other";
  record.signature = 9;
  assert_int_equal(hx_backend_with_implementation(scene->backend, &record, &extended, scene->report),
                   HX_STATUS_INVALID);
  assert_int_equal(hx_backend_with_implementation(scene->backend, NULL, &extended, scene->report), HX_STATUS_INVALID);
  assert_null(extended);
}

static void with_resources_overlays_names(void **state) {
  scene_t *scene = *state;
  fake_plugin_add(scene->first, "ckks.add", "plain");
  assemble(scene);
  int group, other;
  const hx_named_resource_t items[] = {{.name = "world", .kind = "process-group", .handle = &group}};
  const hx_named_resource_t again[] = {{.name = "world", .kind = "x-ring", .handle = &other},
                                       {.name = "half", .kind = "process-group", .handle = &other}};
  hx_backend_t *one = NULL, *two = NULL, *three = NULL;
  assert_int_equal(hx_backend_with_resources(scene->backend, items, 1, false, &one, scene->report), HX_STATUS_OK);
  assert_ptr_equal(hx_backend_resource(one, hx_str("world"))->handle, &group);
  assert_ptr_equal(hx_backend_resource_of_kind(one, "process-group")->handle, &group);
  assert_null(hx_backend_resource(scene->backend, hx_str("world")));
  assert_int_equal(hx_backend_with_resources(one, again, 2, false, &two, scene->report), HX_STATUS_EXISTS);
  assert_int_equal(hx_backend_with_resources(one, again, 2, true, &two, scene->report), HX_STATUS_OK);
  assert_string_equal(hx_backend_resource(two, hx_str("world"))->kind, "x-ring");
  assert_ptr_equal(hx_backend_resource_of_kind(two, "process-group")->handle, &other);
  assert_int_equal(hx_backend_with_resources(two, items, 1, true, &three, scene->report), HX_STATUS_OK);
  assert_null(hx_backend_resource_of_kind(three, "process-group"));  // two of them
  hx_backend_release(one);
  hx_backend_release(two);
  hx_backend_release(three);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {CASE(resolve_takes_the_only_candidate),
                                     CASE(resolve_refuses_two_candidates_and_lists_them),
                                     CASE(resolve_names_ranges_that_do_not_cover),
                                     CASE(resolve_asks_for_in_place_where_wanted),
                                     CASE(resolve_keeps_secrets_from_plugins_without_them),
                                     CASE(resolve_says_when_nothing_implements),
                                     CASE(resolve_obeys_names),
                                     CASE(resolve_refuses_names_that_fit_two),
                                     CASE(resolve_lists_what_exists_for_unknown_names),
                                     CASE(resolve_never_falls_back_from_a_name),
                                     CASE(resolve_refuses_a_caller_against_the_program),
                                     CASE(resolve_leaves_explicit_only_to_its_name),
                                     CASE(resolve_refuses_a_variant_name_that_is_too_long),
                                     CASE(resolve_counts_special_primes_of_keys),
                                     CASE(diagnose_explains_every_row),
                                     CASE(available_lists_names_in_order),
                                     CASE(assemble_drops_unknown_operations),
                                     CASE(with_implementation_adds_to_a_copy),
                                     CASE(with_implementation_refuses_bad_records),
                                     CASE(with_resources_overlays_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
