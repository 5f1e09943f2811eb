// SPDX-License-Identifier: Apache-2.0
// A step of one's own in linking: the standard steps and, before them, one that prints what it sees, runs passes over
// the clone and pins the implementation of an operation. Usage: custom_pass PROGRAM.mlir
#include "examples/example.h"

// Argument: how many products the step found.
static hx_status_t count_and_pin(hx_linking_t *linking, void *argument, hx_report_t *faults) {
  size_t *products = argument;
  char *text = NULL;
  hx_status_t status = hx_linking_transform(linking, "canonicalize,cse,dve", faults);
  if (status == HX_STATUS_OK) {
    status = hx_program_print(hx_linking_program(linking), HX_PRINT_SHORT, &text, faults);
  }
  for (const char *at = text; status == HX_STATUS_OK && (at = strstr(at, "\"ckks.mul\"")) != NULL; ++at) ++*products;
  hx_text_free(text);
  // From now on this is a hard request: linking fails where the implementation cannot do it.
  return status == HX_STATUS_OK && *products > 0 ? hx_linking_assign(linking, "ckks.mul", "cpu", faults) : status;
}

static int run(const char *path) {
  hx_program_t *program = NULL;
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  hx_keys_t *keys = NULL;
  hx_needs_t *needs = NULL;
  size_t products = 0;
  CHECK(hx_program_load(path, &program, report));
  CHECK(hx_compilation_create(program, NULL, &compilation, report));
  const hx_params_t *params = hx_compilation_params(compilation);
  CHECK(hx_program_needs(program, params, &needs, report));
  const hx_program_needs_t *n = hx_needs_get(needs);
  const hx_keygen_options_t options = {
      .parts = n->parts, .rotations = n->steps, .rotation_count = n->element_count, .slots = n->slots};
  CHECK(hx_keys_generate(params, &options, &keys, report));
  CHECK(hx_compilation_bind_keys(compilation, keys, report));
  const hx_port_t *materials = NULL;
  const size_t material_count = hx_compilation_materials(compilation, &materials);
  for (size_t i = 0; i < material_count; ++i) {
    CHECK(hx_compilation_encode_material(compilation, materials[i].name, (const double[]){1}, 1, false, report));
  }
  CHECK(hx_plugins_discover(NULL, &plugins, report));
  CHECK(hx_backend_create(plugins, "cpu", &backend, report));

  const hx_link_pass_t *standard = NULL;
  const size_t count = hx_link_standard_passes(&standard);
  hx_link_pass_t *steps = calloc(count + 1, sizeof *steps);
  if (steps == NULL) return fprintf(stderr, "no memory for the steps\n"), 1;
  steps[0] = (hx_link_pass_t){.name = "count-and-pin", .run = count_and_pin, .argument = &products};
  for (size_t i = 0; i < count; ++i) steps[i + 1] = (hx_link_pass_t){.name = standard[i].name};
  CHECK(hx_link_with(compilation, backend, NULL, steps, count + 1, &executable, report));
  printf("%zu steps, %zu products, linked\n", count + 1, products);

  free(steps);
  hx_executable_release(executable);
  hx_backend_release(backend);
  hx_plugins_release(plugins);
  hx_keys_release(keys);
  hx_needs_release(needs);
  hx_compilation_release(compilation);
  hx_program_release(program);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: custom_pass PROGRAM.mlir\n"), 2;
  report = hx_report_create();
  const int failed = run(argv[1]);
  hx_report_release(report);
  return failed;
}
