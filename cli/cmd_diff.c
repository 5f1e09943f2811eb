// SPDX-License-Identifier: Apache-2.0
// diff: one program, the same inputs, two backends.
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct {
  hx_params_t *params;
  hx_keys_t *keys;
  hx_program_t *program;
  hx_compilation_t *compilation;
  hx_plugins_t *plugins;
  hx_backend_t *backends[2];
  hx_value_t **inputs;
  size_t input_count;
  hx_diff_t *diff;
} diff_t;

static void diff_deinit(diff_t *diff) {
  hx_diff_release(diff->diff);
  for (size_t i = 0; i < diff->input_count; ++i) hx_value_release(diff->inputs[i]);
  free(diff->inputs);
  for (int i = 0; i < 2; ++i) hx_backend_release(diff->backends[i]);
  hx_plugins_release(diff->plugins);
  hx_compilation_release(diff->compilation);
  hx_program_release(diff->program);
  hx_keys_release(diff->keys);
  hx_params_release(diff->params);
}

// "A,B": one plugin each.
static hx_status_t open_backends(cli_t *cli, diff_t *diff) {
  const char *list = NULL;
  hx_status_t status = cli_need(cli, "backends", &list);
  if (status != HX_STATUS_OK) return status;
  const char *comma = strchr(list, ',');
  char names[2][64];
  if (comma == NULL || strchr(comma + 1, ',') != NULL || comma == list || comma[1] == '\0' ||
      (size_t)(comma - list) >= sizeof names[0] || strlen(comma + 1) >= sizeof names[1]) {
    return hx_report_fail(cli->report, HX_CODE_USAGE, "--backends '%s' does not name two backends, as cpu,other", list);
  }
  snprintf(names[0], sizeof names[0], "%.*s", (int)(comma - list), list);
  snprintf(names[1], sizeof names[1], "%s", comma + 1);
  status = hx_plugins_discover(NULL, &diff->plugins, cli->report);
  if (status == HX_STATUS_OK) cli_warn(cli);
  for (int i = 0; i < 2 && status == HX_STATUS_OK; ++i)
    status = hx_backend_create(diff->plugins, names[i], &diff->backends[i], cli->report);
  return status;
}

// Keys from a directory, or the ones that the program needs, drawn now: both backends work with the same.
static hx_status_t make_keys(cli_t *cli, diff_t *diff) {
  if (diff->keys != NULL) return HX_STATUS_OK;
  return cli_draw_keys(cli, diff->program, hx_compilation_params(diff->compilation), &diff->keys);
}

static hx_status_t load_program(cli_t *cli, diff_t *diff) {
  hx_status_t status = HX_STATUS_OK;
  if (cli_has(cli, "keys")) status = hx_keys_load(cli_get(cli, "keys"), HX_KEYS_EVALUATION, &diff->keys, cli->report);
  if (status == HX_STATUS_OK && cli_has(cli, "params")) status = cli_params(cli, cli_get(cli, "params"), &diff->params);
  const hx_params_t *params = diff->params != NULL ? diff->params
                              : diff->keys != NULL ? hx_keys_params(diff->keys)
                                                   : NULL;
  if (status == HX_STATUS_OK)
    status = cli_load_compilation(cli, cli->arguments[0], params, &diff->program, &diff->compilation);
  if (status == HX_STATUS_OK) status = make_keys(cli, diff);
  if (status == HX_STATUS_OK) status = hx_compilation_bind_keys(diff->compilation, diff->keys, cli->report);
  return status;
}

static hx_status_t bind_materials(cli_t *cli, diff_t *diff) {
  hx_status_t status = HX_STATUS_OK;
  for (int i = 0; cli_get_at(cli, "materials", i) != NULL && status == HX_STATUS_OK; ++i) {
    hx_named_value_t *values = NULL;
    size_t count = 0;
    status = hx_values_load(cli_get_at(cli, "materials", i), hx_compilation_params(diff->compilation), &values, &count,
                            cli->report);
    for (size_t v = 0; v < count && status == HX_STATUS_OK; ++v)
      status = hx_compilation_bind_material(diff->compilation, values[v].name, values[v].value, cli->report);
    hx_values_free(values, count);
  }
  return status;
}

static hx_status_t load_inputs(cli_t *cli, diff_t *diff) {
  const hx_port_t *ports = NULL;
  diff->input_count = hx_program_inputs(diff->program, &ports);
  diff->inputs = calloc(diff->input_count + 1, sizeof *diff->inputs);
  if (diff->inputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (int i = 0; cli_get_at(cli, "input", i) != NULL; ++i) {
    char name[128];
    const char *path = NULL;
    hx_status_t status = cli_split(cli, cli_get_at(cli, "input", i), name, sizeof name, &path);
    if (status != HX_STATUS_OK) return status;
    size_t index = 0;
    while (index < diff->input_count && strcmp(ports[index].name, name) != 0) ++index;
    if (index == diff->input_count)
      return hx_report_fail(cli->report, HX_CODE_INPUT, "the program has no input '%s'", name);
    if (diff->inputs[index] != NULL)
      return hx_report_fail(cli->report, HX_CODE_INPUT, "input '%s' is given twice", name);
    status = hx_value_load(path, NULL, hx_compilation_params(diff->compilation), &diff->inputs[index], cli->report);
    if (status != HX_STATUS_OK) return status;
  }
  return HX_STATUS_OK;
}

static int print_json(const hx_difference_t *found) {
  json_t *root = json_pack("{s:b, s:I, s:I, s:I}", "differs", found->differs, "calls", (json_int_t)found->calls,
                           "words", (json_int_t)found->values, "secret", (json_int_t)found->secrets);
  if (found->differs) {
    char a[24], b[24], prime[24];  // words may be above 2^63
    snprintf(a, sizeof a, "%llu", (unsigned long long)found->a);
    snprintf(b, sizeof b, "%llu", (unsigned long long)found->b);
    snprintf(prime, sizeof prime, "%llu", (unsigned long long)found->prime);
    json_object_set_new(
        root, "first",
        json_pack("{s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:s, s:s}", "call",
                  (json_int_t)found->call, "operation", found->operation, "value", found->value, "a_implementation",
                  found->implementation_a, "b_implementation", found->implementation_b, "line", (json_int_t)found->line,
                  "column", (json_int_t)found->column, "item", (json_int_t)found->item, "component",
                  (json_int_t)found->component, "limb", (json_int_t)found->limb, "prime_id",
                  (json_int_t)found->prime_id, "prime", prime, "index", (json_int_t)found->index, "a", a, "b", b));
  }
  cli_print_json(root);
  return found->differs ? CLI_NO : CLI_DONE;
}

static int report(const cli_t *cli, const hx_difference_t *found) {
  if (cli->json) return print_json(found);
  if (found->secrets > 0) printf("%llu secret results were left out\n", (unsigned long long)found->secrets);
  if (!found->differs) {
    printf("equal: %llu calls, %llu words\n", (unsigned long long)found->calls, (unsigned long long)found->values);
    return CLI_DONE;
  }
  printf("differs at call %zu: %s (%s), %s:%u\n", found->call, found->operation, found->value, cli->arguments[0],
         found->line);
  printf("  item %llu, component %u, limb %u (prime q%u = %llu), index %llu\n", (unsigned long long)found->item,
         found->component, found->limb, found->prime_id, (unsigned long long)found->prime,
         (unsigned long long)found->index);
  printf("  %-24s %llu\n  %-24s %llu\n", found->implementation_a, (unsigned long long)found->a, found->implementation_b,
         (unsigned long long)found->b);
  return CLI_NO;
}

int cli_run_diff(cli_t *cli) {
  diff_t diff = {0};
  uint64_t tolerance = 0;
  hx_status_t status = cli_get_number(cli, "tolerance", UINT64_MAX, 0, &tolerance);
  if (status == HX_STATUS_OK) status = open_backends(cli, &diff);
  if (status == HX_STATUS_OK) status = load_program(cli, &diff);
  if (status == HX_STATUS_OK) status = bind_materials(cli, &diff);
  if (status == HX_STATUS_OK) status = load_inputs(cli, &diff);
  const hx_diff_options_t options = {
      .pipeline = cli_get(cli, "pipeline"), .deep = cli_has(cli, "deep"), .tolerance = tolerance};
  if (status == HX_STATUS_OK) {
    status = hx_diff(diff.compilation, diff.backends[0], diff.backends[1], &options,
                     (const hx_value_t *const *)diff.inputs, &diff.diff, cli->report);
  }
  const int code = status == HX_STATUS_OK ? report(cli, hx_diff_get(diff.diff)) : cli_fail(cli, status);
  diff_deinit(&diff);
  return code;
}
