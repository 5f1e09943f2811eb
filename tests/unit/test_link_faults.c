// SPDX-License-Identifier: Apache-2.0
// What stops linking: every problem at once, each with its code, its operation and its line. And what is bound to a
// compilation, live handles and packed forms.
#include "core/ckks/transition.h"
#include "tests/unit/link_fixture.h"

static int setup(void **state) {
  bench_t *bench = calloc(1, sizeof *bench);
  bench_open(bench, FAKE_ALL);
  *state = bench;
  return 0;
}

static int teardown(void **state) {
  bench_t *bench = *state;
  bench_close(bench);
  free(bench);
  return 0;
}

// The first line of a body is line 4.
#define ONE(body_) MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT, body_)

static hx_status_t try_link(bench_t *bench, const hx_compilation_t *compilation, const hx_link_options_t *options,
                            hx_executable_t **out) {
  const hx_link_source_t source = hx_compilation_source(compilation);
  hx_report_clear(bench->report);
  return hx_link_program(&source, bench->backend, options, out, bench->report);
}

static const hx_link_options_t plain_options = {.pipeline = "", .place_materials = true};

// Linking this text fails with the status of the code, and with the fault.
static void expect_fault(bench_t *bench, const char *text, const hx_keys_t *keys, hx_code_t code, uint32_t line,
                         const char *piece) {
  hx_compilation_t *compilation = link_compile(bench, text);
  if (keys != NULL) must(hx_compilation_bind_keys(compilation, keys, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  const hx_status_t status = try_link(bench, compilation, &plain_options, &executable);
  must_fault(bench->report, code, line, piece);
  assert_int_equal(status, hx_code_info(code)->status);
  assert_null(executable);
  hx_compilation_release(compilation);
}

// ------------------------------------------------------------------ operations

static void link_reports_all_problems_at_once(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      ONE("%w = \"material.ref\"() {symbol = @weights} : () -> " PT0
          "\n"
          "%a = \"ckks.mul_plain\"(%x, %w) : (" CT0 ", " PT0 ") -> " CT
          "\n"
          "%b = \"ckks.rotate\"(%x) {step = 7 : i64} : (" CT0 ") -> " CT
          "\n"
          "%c = \"ckks.add\"(%b, %y) {heliox.implementation = \"best\"} : (" CT ", " CT0 ") -> " CT
          "\n"
          "\"func.return\"(%c) : (" CT ") -> ()");
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  assert_int_equal(try_link(bench, compilation, &plain_options, &executable), HX_STATUS_NOT_FOUND);
  must_fault(bench->report, HX_CODE_MATERIAL, 4, "material @weights is not bound");
  must_fault(bench->report, HX_CODE_MISSING_KEY, 0, "rotations steps");
  must_fault(bench->report, HX_CODE_IMPLEMENTATION, 7, "no implementation is named \"best\"; there are: alpha/ref");
  assert_int_equal(hx_report_count(bench->report), 3);
  // Without bindings, what is not bound is no problem; the name is.
  const hx_link_options_t check = {.pipeline = "", .check_only = true};
  assert_int_equal(try_link(bench, compilation, &check, NULL), HX_STATUS_NOT_FOUND);
  assert_int_equal(hx_report_count(bench->report), 1);
  hx_compilation_release(compilation);
}

static void link_refuses_keys_that_go_through_control_flow(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,
             "%k = \"arith.constant\"() {value = 1 : i64} : () -> i64\n"
             "%c = \"arith.cmpi\"(%k, %k) {predicate = 0 : i64} : (i64, i64) -> i1\n"
             "%a = \"material.ref\"() {symbol = @relin} : () -> !ckks.key<kind = relin>\n"
             "%r = \"scf.if\"(%c) ({\n\"scf.yield\"(%a) : (!ckks.key<kind = relin>) -> ()\n}, {\n"
             "\"scf.yield\"(%a) : (!ckks.key<kind = relin>) -> ()\n}) : (i1) -> !ckks.key<kind = relin>\n"
             "%m = \"ckks.mul\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT "\n%s = \"ckks.relinearize\"(%m, %r) : (" CT
             ", !ckks.key<kind = relin>) -> " CT "\n\"func.return\"(%s) : (" CT ") -> ()");
  expect_fault(bench, text, bench->keys, HX_CODE_UNSUPPORTED, 7, "scf.if: %r is a key");
}

static void link_names_what_no_plugin_implements(void **state) {
  bench_t *bench = *state;
  for (uint32_t i = 0; i < bench->plugin->loaded.table.impl_count; ++i) {
    if (strcmp(bench->plugin->rows[i].type, "ckks.add") == 0) bench->plugin->rows[i].log_n_max = 9;
  }
  static const char text[] =
      ONE("%s = \"ckks.add\"(%x, %y) {heliox.implementation = \"ref\"} : (" CT0 ", " CT0 ") -> " CT
          "\n"
          "\"func.return\"(%s) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_IMPLEMENTATION, 4, "alpha/ref: log_n 10 is outside its range 3 to 9");
}

static void link_reports_what_prepare_refuses(void **state) {
  bench_t *bench = *state;
  fake.prepare_result = HX_UNSUPPORTED;
  static const char text[] = ONE("%s = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT
                                 "\n"
                                 "\"func.return\"(%s) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_UNSUPPORTED, 0, "prepare ckks.add (line 4) with alpha/ref");
}

static void link_obeys_and_pins_names(void **state) {
  bench_t *bench = *state;
  static const char text[] = ONE("%s = \"ckks.add\"(%x, %y) {heliox.implementation = \"ref/avx2\"} : (" CT0 ", " CT0
                                 ") -> " CT "\n\"func.return\"(%s) : (" CT ") -> ()");
  hx_compilation_t *compilation = link_compile(bench, text);
  hx_executable_t *executable = NULL;
  must(try_link(bench, compilation, &plain_options, &executable), bench->report);
  assert_string_equal(fake.last_variant, "avx2");
  assert_non_null(strstr(hx_executable_manifest(executable), "\"variant\": \"avx2\""));
  hx_executable_release(executable);
  const hx_link_wish_t wishes[] = {{.operation = "ckks.add", .implementation = "ref/portable"}};
  const hx_link_options_t options = {.pipeline = "", .wishes = wishes, .wish_count = 1};
  executable = NULL;
  assert_int_equal(try_link(bench, compilation, &options, &executable), HX_STATUS_REFUSED);
  must_fault(bench->report, HX_CODE_CONSTRAINT, 4,
             "the program asks for \"ref/avx2\", the caller for \"ref/portable\"");
  hx_compilation_release(compilation);
}

static void link_gives_ambiguity_until_somebody_chooses(void **state) {
  bench_t *bench = *state;
  fake_plugin_add(bench->plugin, "ckks.add", "other");
  hx_backend_release(bench->backend);
  bench->backend = fake_backend(bench->plugin);
  static const char text[] = ONE("%s = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT
                                 "\n"
                                 "\"func.return\"(%s) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_AMBIGUOUS, 4, "alpha/ref; alpha/other");
  hx_compilation_t *compilation = link_compile(bench, text);
  const hx_link_wish_t wishes[] = {{.implementation = "other"}};
  const hx_link_options_t options = {.pipeline = "", .wishes = wishes, .wish_count = 1};
  hx_executable_t *executable = NULL;
  must(try_link(bench, compilation, &options, &executable), bench->report);
  assert_non_null(strstr(hx_executable_manifest(executable), "alpha/other"));
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

static void link_refuses_wrong_states(void **state) {
  bench_t *bench = *state;
  static const char text[] = ONE("%s = \"ckks.rescale\"(%x) : (" CT0 ") -> " CT
                                 "\n"
                                 "%t = \"ckks.add\"(%s, %y) : (" CT ", " CT0 ") -> " CT
                                 "\n"
                                 "\"func.return\"(%t) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_DEPTH_MISMATCH, 5, "ckks.add");
}

static void link_refuses_open_inputs(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      MODULE("%x: !ckks.ciphertext<depth = 0>", "!ckks.ciphertext<depth = 0>", CT,
             "%s = \"ckks.neg\"(%x) : (!ckks.ciphertext<depth = 0>) -> " CT "\n\"func.return\"(%s) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_TYPE, 0, "of input arg0 is not known");
}

static void link_refuses_messages(void **state) {
  bench_t *bench = *state;
  static const char text[] = MODULE("%m: tensor<512xf64>", "tensor<512xf64>", PT,
                                    "%p = \"ckks.encode\"(%m) {scale = \"2^40\"} : (tensor<512xf64>) -> " PT
                                    "\n\"func.return\"(%p) : (" PT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_UNSUPPORTED, 0, "input arg0 is no ciphertext, plaintext, tensor or number");
}

// ------------------------------------------------------------------ secrets

static void link_keeps_secret_inputs_from_careless_plugins(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " CT0 ", %p: " PT0
      "):\n"
      "%s = \"ckks.add_plain\"(%x, %p) : (" CT0 ", " PT0 ") -> " CT "\n\"func.return\"(%s) : (" CT
      ") -> ()"
      "\n}) {sym_name = \"main\", function_type = (" CT0 ", " PT0 ") -> (" CT
      "), arg_attrs = [{}, {heliox.secret = true}]} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n";
  hx_executable_t *executable = link_text(bench, text);
  double values[SLOTS];
  fill_values(values, SLOTS, 2);
  hx_value_t *x = encrypt_seed(bench, 1), *p = encode_values(bench, values, SLOTS, true), *outputs[1] = {NULL};
  const hx_value_t *inputs[] = {x, p};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_true(hx_value_is_secret(outputs[0]));
  hx_value_release(outputs[0]);
  hx_value_release(x);
  hx_value_release(p);
  hx_executable_release(executable);
  bench->plugin->loaded.handles_secrets = false;
  hx_backend_release(bench->backend);
  bench->backend = fake_backend(bench->plugin);
  expect_fault(bench, text, NULL, HX_CODE_CAPABILITY, 4, "does not declare secrets");
}

// ------------------------------------------------------------------ bindings

#define WEIGHTED                                                    \
  ONE("%w = \"material.ref\"() {symbol = @weights} : () -> " PT0    \
      "\n"                                                          \
      "%a = \"ckks.mul_plain\"(%x, %w) : (" CT0 ", " PT0 ") -> " CT \
      "\n"                                                          \
      "\"func.return\"(%a) : (" CT ") -> ()")

static void materials_are_listed_and_bound(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, WEIGHTED);
  const hx_port_t *ports = NULL;
  assert_int_equal(hx_compilation_materials(compilation, &ports), 1);
  assert_string_equal(ports[0].name, "weights");
  assert_string_equal(ports[0].role, "plaintext");
  double values[SLOTS], a[SLOTS], expected[SLOTS], found[SLOTS];
  fill_values(values, SLOTS, 3);
  fill_values(a, SLOTS, 1);
  for (size_t i = 0; i < SLOTS; ++i) expected[i] = values[i] * a[i];
  must(hx_compilation_encode_material(compilation, "weights", values, SLOTS, false, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, "", &executable, bench->report), bench->report);
  hx_value_t *x = encrypt_values(bench, bench->keys, a, 100), *y = encrypt_seed(bench, 2), *outputs[1] = {NULL};
  const hx_value_t *inputs[] = {x, y};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  for (size_t i = 100; i < SLOTS; ++i) expected[i] = 0;
  decrypt_values(bench, outputs[0], found);
  must_be_near(found, expected, SLOTS, 1e-5);
  assert_int_equal(hx_value_count(outputs[0]), 100);  // of the input, not of the weights
  hx_value_release(outputs[0]);
  hx_value_release(x);
  hx_value_release(y);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

static void check_passes_without_bindings(void **state) {
  bench_t *bench = *state;
  static const char text[] = ONE("%w = \"material.ref\"() {symbol = @weights} : () -> " PT0
                                 "\n"
                                 "%a = \"ckks.mul_plain\"(%x, %w) : (" CT0 ", " PT0 ") -> " CT
                                 "\n"
                                 "%b = \"ckks.rotate\"(%a) {step = 7 : i64} : (" CT ") -> " CT
                                 "\n"
                                 "\"func.return\"(%b) : (" CT ") -> ()");
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_link_check(compilation, bench->backend, "", bench->report), bench->report);
  must(hx_link_check(compilation, bench->backend, NULL, bench->report), bench->report);
  assert_int_equal(fake.prepared_alive, 0);
  hx_compilation_release(compilation);
}

static void contents_of_a_bound_material_are_seen_by_the_next_run(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, WEIGHTED);
  double values[SLOTS], other[SLOTS];
  fill_values(values, SLOTS, 3);
  fill_values(other, SLOTS, 4);
  hx_value_t *w = encode_values(bench, values, SLOTS, false), *v = encode_values(bench, other, SLOTS, false);
  must(hx_compilation_bind_material(compilation, "weights", w, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, "", &executable, bench->report), bench->report);
  hx_value_t *x = encrypt_seed(bench, 1), *first[1] = {NULL}, *second[1] = {NULL};
  const hx_value_t *inputs[] = {x, x};
  must(hx_run(executable, inputs, first, bench->report), bench->report);
  memcpy(hx_tensor_row(w->tensor, 0, 0, 0, 0), hx_tensor_row(v->tensor, 0, 0, 0, 0), (size_t)hx_value_bytes(v));
  hx_tensor_touch(w->tensor);
  must(hx_run(executable, inputs, second, bench->report), bench->report);
  assert_false(hx_value_equal(first[0], second[0]));
  hx_executable_release(executable);
  // A copy on a device apart is as it was placed: that is said, not hidden.
  fake.no_import = fake.hides_addresses = true;
  hx_backend_release(bench->backend);
  bench->backend = fake_backend(bench->plugin);
  must(hx_link(compilation, bench->backend, "", &executable, bench->report), bench->report);
  hx_tensor_touch(w->tensor);
  hx_value_t *placed = NULL, *third[1] = {NULL};
  must(hx_value_to_device(x, bench->backend, &placed, bench->report), bench->report);
  const hx_value_t *far[] = {placed, placed};
  assert_int_equal(hx_run(executable, far, third, bench->report), HX_STATUS_NOT_FOUND);
  must_fault(bench->report, HX_CODE_MATERIAL, 0, "material @weights changed after it was placed");
  hx_executable_release(executable);
  hx_value_release(placed);
  hx_value_release(first[0]);
  hx_value_release(second[0]);
  hx_value_release(x);
  hx_value_release(w);
  hx_value_release(v);
  hx_compilation_release(compilation);
}

static void bindings_that_do_not_fit_are_refused(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, WEIGHTED);
  double values[SLOTS];
  fill_values(values, SLOTS, 3);
  hx_value_t *w = encode_values(bench, values, SLOTS, false), *secret = encode_values(bench, values, SLOTS, true);
  hx_value_t *x = encrypt_seed(bench, 1), *scaled = NULL;
  const hx_encode_options_t options = {.scale = "2^30"};
  must(hx_encode(bench->params, values, SLOTS, false, &options, &scaled, bench->report), bench->report);
  hx_report_t *report = bench->report;
  assert_int_equal(hx_compilation_bind_material(compilation, "bias", w, report), HX_STATUS_NOT_FOUND);
  must_fault(report, HX_CODE_MATERIAL, 0, "the program has no material @bias; it has: @weights");
  assert_int_equal(hx_compilation_bind_material(compilation, "weights", secret, report), HX_STATUS_REFUSED);
  must_fault(report, HX_CODE_SECRET, 0, "@weights is secret");
  assert_int_equal(hx_compilation_bind_material(compilation, "weights", x, report), HX_STATUS_NOT_FOUND);
  must_fault(report, HX_CODE_MATERIAL, 0, "another kind");
  assert_int_equal(hx_compilation_bind_material(compilation, "weights", scaled, report), HX_STATUS_NOT_FOUND);
  must_fault(report, HX_CODE_MATERIAL, 0, "another scale");
  assert_int_equal(hx_compilation_encode_material(compilation, "bias", values, SLOTS, false, report),
                   HX_STATUS_NOT_FOUND);
  assert_int_equal(hx_compilation_encode_material(compilation, "weights", values, SLOTS + 1, false, report),
                   HX_STATUS_INVALID);
  must_fault(report, HX_CODE_LENGTH, 0, "513");
  hx_value_release(w);
  hx_value_release(secret);
  hx_value_release(x);
  hx_value_release(scaled);
  hx_compilation_release(compilation);
}

static void keys_of_two_secrets_are_refused(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, WEIGHTED);
  hx_keys_t *strangers = link_keys(bench->params);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  assert_int_equal(hx_compilation_bind_keys(compilation, strangers, bench->report), HX_STATUS_REFUSED);
  must_fault(bench->report, HX_CODE_KEY_ID, 0, "another secret");
  hx_keys_release(strangers);
  hx_compilation_release(compilation);
}

static void keys_are_needed_by_name(void **state) {
  bench_t *bench = *state;
  static const char text[] = ONE("%s = \"ckks.square\"(%x) : (" CT0 ") -> " CT
                                 "\n"
                                 "%t = \"ckks.relinearize\"(%s) : (" CT ") -> " CT
                                 "\n"
                                 "\"func.return\"(%t) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_MISSING_KEY, 0, "key @relin is needed, and no keys are bound");
}

static void parameters_must_be_those_of_the_program(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = NULL;
  hx_program_t *program = link_parse(WEIGHTED);
  assert_int_equal(hx_compilation_create(program, NULL, &compilation, bench->report), HX_STATUS_INVALID);
  must_fault(bench->report, HX_CODE_PARAMS, 0, "names no parameters");
  hx_program_release(program);
  char text[sizeof WEIGHTED + 64] = WEIGHTED;
  char *end = strstr(text, "{heliox.version = 1 : i64}");
  assert_non_null(end);
  strcpy(end, "{heliox.version = 1 : i64, heliox.params = \"n14-d7-s40\"} : () -> ()\n");
  program = link_parse(text);
  assert_int_equal(hx_compilation_create(program, bench->params, &compilation, bench->report), HX_STATUS_INVALID);
  must_fault(bench->report, HX_CODE_PARAMS_DIGEST, 0, "written for parameters n14-d7-s40");
  must(hx_compilation_create(program, NULL, &compilation, bench->report), bench->report);
  assert_string_equal(hx_params_name(hx_compilation_params(compilation)), "n14-d7-s40");
  hx_compilation_release(compilation);
  hx_program_release(program);
}

static void transform_leaves_the_program_alone_when_it_fails(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, WEIGHTED);
  char *before = NULL, *after = NULL;
  must(hx_program_print(hx_compilation_program(compilation), 0, &before, bench->report), bench->report);
  assert_int_not_equal(hx_compilation_transform(compilation, "dve,no-such-pass", bench->report), HX_STATUS_OK);
  must(hx_program_print(hx_compilation_program(compilation), 0, &after, bench->report), bench->report);
  assert_string_equal(before, after);
  must(hx_compilation_transform(compilation, "", bench->report), bench->report);
  hx_text_free(before);
  hx_text_free(after);
  hx_compilation_release(compilation);
}

// ------------------------------------------------------------------ resources

static void live_handles_are_checked(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      ONE("%g = \"resource.ref\"() {symbol = @world, kind = \"process-group\"} : () -> !resource.handle<kind = "
          "\"process-group\">\n"
          "%s = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT "\n\"func.return\"(%s) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_RESOURCE, 4, "the backend has no resource named world");
  int handle;
  const hx_named_resource_t items[] = {{.name = "world", .kind = "x-ring", .handle = &handle}};
  hx_backend_t *extended = NULL;
  must(hx_backend_with_resources(bench->backend, items, 1, false, &extended, bench->report), bench->report);
  hx_backend_release(bench->backend);
  bench->backend = extended;
  expect_fault(bench, text, NULL, HX_CODE_RESOURCE, 4,
               "resource world is of kind x-ring, the program wants process-group");
  const hx_named_resource_t right[] = {{.name = "world", .kind = "process-group", .handle = &handle}};
  must(hx_backend_with_resources(bench->backend, right, 1, true, &extended, bench->report), bench->report);
  hx_backend_release(bench->backend);
  bench->backend = extended;
  hx_executable_release(link_text(bench, text));
}

static void keys_are_packed_once_for_all_executables(void **state) {
  bench_t *bench = *state;
  static const hx_manifest_resource_t resources[] = {{.kind = "packed-key", .operand = "key"}};
  for (uint32_t i = 0; i < bench->plugin->loaded.table.impl_count; ++i) {
    if (strcmp(bench->plugin->rows[i].type, "ckks.rotate") != 0) continue;
    bench->plugin->rows[i].resources = resources;
    bench->plugin->rows[i].resource_count = 1;
  }
  static const char text[] = ONE("%s = \"ckks.rotate\"(%x) {step = 1 : i64} : (" CT0 ") -> " CT
                                 "\n"
                                 "%t = \"ckks.rotate\"(%y) {step = 1 : i64} : (" CT0 ") -> " CT
                                 "\n"
                                 "%u = \"ckks.add\"(%s, %t) : (" CT ", " CT ") -> " CT
                                 "\n"
                                 "\"func.return\"(%u) : (" CT ") -> ()");
  const uint32_t before = fake.packs;
  hx_executable_t *one = link_text(bench, text), *two = link_text(bench, text);
  assert_int_equal(fake.packs - before, 1);
  assert_non_null(strstr(hx_executable_manifest(one), "\"kind\": \"packed-key\""));
  hx_value_t *x = encrypt_seed(bench, 1), *outputs[1] = {NULL};
  const hx_value_t *inputs[] = {x, x};
  must(hx_run(one, inputs, outputs, bench->report), bench->report);
  hx_value_release(outputs[0]);
  hx_executable_release(one);
  assert_int_equal(fake.packed_alive, 1);
  outputs[0] = NULL;
  must(hx_run(two, inputs, outputs, bench->report), bench->report);
  hx_value_release(outputs[0]);
  hx_value_release(x);
  hx_executable_release(two);
  assert_int_equal(fake.packed_alive, 0);
}

static void packed_plaintexts_follow_their_contents(void **state) {
  bench_t *bench = *state;
  static const hx_manifest_resource_t resources[] = {{.kind = "packed-plain", .operand = "p"}};
  for (uint32_t i = 0; i < bench->plugin->loaded.table.impl_count; ++i) {
    if (strcmp(bench->plugin->rows[i].type, "ckks.mul_plain") != 0) continue;
    bench->plugin->rows[i].resources = resources;
    bench->plugin->rows[i].resource_count = 1;
  }
  hx_compilation_t *compilation = link_compile(bench, WEIGHTED);
  double values[SLOTS];
  fill_values(values, SLOTS, 3);
  hx_value_t *w = encode_values(bench, values, SLOTS, false), *x = encrypt_seed(bench, 1), *outputs[1] = {NULL};
  must(hx_compilation_bind_material(compilation, "weights", w, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, "", &executable, bench->report), bench->report);
  const hx_value_t *inputs[] = {x, x};
  const uint32_t before = fake.packs;
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_int_equal(fake.packs, before);
  hx_tensor_touch(w->tensor);
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_int_equal(fake.packs, before + 1);
  assert_int_equal(fake.packed_alive, 1);
  hx_value_release(outputs[0]);
  hx_value_release(x);
  hx_value_release(w);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  // A plaintext that comes in with the run cannot be packed at link.
  static const char text[] = MODULE("%x: " CT0 ", %p: " PT0, CT0 ", " PT0, CT,
                                    "%s = \"ckks.mul_plain\"(%x, %p) : (" CT0 ", " PT0 ") -> " CT
                                    "\n"
                                    "\"func.return\"(%s) : (" CT ") -> ()");
  expect_fault(bench, text, NULL, HX_CODE_RESOURCE, 4, "wants operand %p as packed-plain");
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {CASE(link_reports_all_problems_at_once),
                                     CASE(link_refuses_keys_that_go_through_control_flow),
                                     CASE(link_names_what_no_plugin_implements),
                                     CASE(link_reports_what_prepare_refuses),
                                     CASE(link_obeys_and_pins_names),
                                     CASE(link_gives_ambiguity_until_somebody_chooses),
                                     CASE(link_refuses_wrong_states),
                                     CASE(link_refuses_open_inputs),
                                     CASE(link_refuses_messages),
                                     CASE(link_keeps_secret_inputs_from_careless_plugins),
                                     CASE(materials_are_listed_and_bound),
                                     CASE(check_passes_without_bindings),
                                     CASE(contents_of_a_bound_material_are_seen_by_the_next_run),
                                     CASE(bindings_that_do_not_fit_are_refused),
                                     CASE(keys_of_two_secrets_are_refused),
                                     CASE(keys_are_needed_by_name),
                                     CASE(parameters_must_be_those_of_the_program),
                                     CASE(transform_leaves_the_program_alone_when_it_fails),
                                     CASE(live_handles_are_checked),
                                     CASE(keys_are_packed_once_for_all_executables),
                                     CASE(packed_plaintexts_follow_their_contents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
