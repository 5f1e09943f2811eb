// SPDX-License-Identifier: Apache-2.0
// compile: passes over a program, what they chose, what was measured, which of them changes a result.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "cli/watch.h"

typedef struct {
  cli_t *cli;
  hx_params_t *params;
  hx_keys_t *keys, *secret;
  hx_program_t *program;
  hx_compilation_t *compilation;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  hx_costs_t *costs;
  hx_decisions_t *decisions;
  hx_value_t **inputs;
  size_t input_count;
} job_t;

static void job_deinit(job_t *job) {
  for (size_t i = 0; i < job->input_count; ++i) hx_value_release(job->inputs[i]);
  free(job->inputs);
  hx_decisions_release(job->decisions);
  hx_costs_release(job->costs);
  hx_backend_release(job->backend);
  hx_plugins_release(job->plugins);
  hx_compilation_release(job->compilation);
  hx_program_release(job->program);
  hx_keys_release(job->keys);
  hx_keys_release(job->secret);
  hx_params_release(job->params);
}

// ------------------------------------------------------------------ the list of passes

static int list_passes(const cli_t *cli) {
  const hx_pass_info_t *passes;
  const size_t count = hx_pass_list(&passes);
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i) {
    const hx_pass_info_t *pass = &passes[i];
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", pass->name, "role", hx_pass_role_name(pass->role),
                        "promise", hx_pass_claim_name(pass->claim), "options", pass->options, "doc", pass->doc));
    if (!cli->json)
      printf("%-22s %-9s %-16s %s%s%s%s\n", pass->name, hx_pass_role_name(pass->role), hx_pass_claim_name(pass->claim),
             pass->doc, pass->options[0] == '\0' ? "" : " {", pass->options, pass->options[0] == '\0' ? "" : "}");
  }
  if (cli->json)
    return cli_print_json(json_pack("{s:b, s:s, s:o}", "ok", 1, "default", hx_pipeline_default(), "passes", list));
  json_decref(list);
  printf("default: %s\n", hx_pipeline_default());
  return CLI_DONE;
}

// ------------------------------------------------------------------ loading

// Keys from a directory, or the ones that the program needs, drawn now: measurements do not depend on them.
static hx_status_t take_keys(job_t *job, bool with_secret) {
  cli_t *cli = job->cli;
  const char *directory = cli_get(cli, "keys");
  if (directory != NULL) {
    hx_status_t status = cli_load_keys(cli, directory, HX_KEYS_EVALUATION, &job->keys);
    if (status != HX_STATUS_OK || !with_secret || !cli_has(cli, "tolerance")) return status;
    return hx_keys_load(directory, HX_KEYS_SECRET, &job->secret, cli->report);
  }
  if (with_secret) return hx_report_fail(cli->report, HX_CODE_USAGE, "--bisect runs the program: give --keys DIR");
  return cli_draw_keys(cli, job->program, hx_compilation_params(job->compilation), &job->keys);
}

static hx_status_t tune_digits(job_t *job);

static hx_status_t load(job_t *job) {
  cli_t *cli = job->cli;
  hx_status_t status = HX_STATUS_OK;
  if (cli_has(cli, "params")) status = cli_params(cli, cli_get(cli, "params"), &job->params);
  if (status == HX_STATUS_OK)
    status = cli_load_compilation(cli, cli->arguments[0], job->params, &job->program, &job->compilation);
  const bool runs = cli_has(cli, "tune") || cli_has(cli, "bisect");
  if (status == HX_STATUS_OK) status = tune_digits(job);
  if (status == HX_STATUS_OK && runs) status = take_keys(job, cli_has(cli, "bisect"));
  if (status == HX_STATUS_OK && runs) status = hx_compilation_bind_keys(job->compilation, job->keys, cli->report);
  if (status == HX_STATUS_OK) status = cli_bind_materials(cli, job->compilation);
  return status;
}

static hx_status_t open_backend(job_t *job, const char *name) {
  if (job->backend != NULL) return HX_STATUS_OK;
  if (name == NULL) return cli_backend(job->cli, &job->plugins, &job->backend);
  hx_status_t status = cli_discover(job->cli, &job->plugins);
  if (status == HX_STATUS_OK) status = hx_backend_create(job->plugins, name, &job->backend, job->cli->report);
  return status;
}

// ------------------------------------------------------------------ tuning

static void show_cost(void *argument, const hx_cost_t *cost) {
  const cli_t *cli = argument;
  if (!cli->quiet)
    fprintf(stderr, "%-26s %-24s %12.1f us  %s\n", cost->operation, cost->candidate, cost->nanoseconds * 1e-3,
            cost->shape);
}

// Tables come from a file, where there is one; --tune writes it.
static hx_status_t load_costs(job_t *job) {
  cli_t *cli = job->cli;
  const char *path = cli_get(cli, "costs");
  if (job->costs != NULL) return HX_STATUS_OK;
  job->costs = hx_costs_create();
  if (job->costs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const hx_status_t status = open_backend(job, cli_get(cli, "tune"));
  const bool is_there = path != NULL && access(path, F_OK) == 0;
  if (status == HX_STATUS_OK && path != NULL && (is_there || !cli_has(cli, "tune")))
    return hx_costs_load(job->costs, path, cli->report);
  return status;
}

// Where nothing says how many digits keys have, the fastest number is taken: the program names that set.
static hx_status_t tune_digits(job_t *job) {
  cli_t *cli = job->cli;
  const bool is_free = cli_has(cli, "tune") && !cli_has(cli, "keys") && !cli_has(cli, "digits") &&
                       job->params != NULL && hx_program_params(job->program)[0] == '\0';
  if (!is_free) return HX_STATUS_OK;
  uint32_t digits = 0;
  const hx_tune_options_t options = {.measured = show_cost, .argument = cli};
  hx_status_t status = load_costs(job);
  if (status == HX_STATUS_OK)
    status = hx_tune_digits(job->compilation, job->backend, &options, job->costs, &digits, cli->report);
  hx_params_t *chosen = NULL;
  if (status == HX_STATUS_OK)
    status = hx_params_with_digits(job->params, digits, cli->insecure ? HX_PARAMS_INSECURE : 0, &chosen, cli->report);
  if (status != HX_STATUS_OK) return status;
  if (!cli->quiet)
    fprintf(stderr, "digits: %u measured to be the fastest; make keys with --digits %u, the program names the set\n",
            digits, digits);
  hx_compilation_release(job->compilation);
  job->compilation = NULL;
  hx_params_release(job->params);
  job->params = chosen;
  status = hx_compilation_create(job->program, chosen, &job->compilation, cli->report);
  return status == HX_STATUS_OK ? hx_compilation_name_params(job->compilation, cli->report) : status;
}

static hx_status_t tune(job_t *job) {
  cli_t *cli = job->cli;
  const char *path = cli_get(cli, "costs");
  hx_status_t status = load_costs(job);
  if (status != HX_STATUS_OK || !cli_has(cli, "tune")) return status;
  const hx_tune_options_t options = {.measured = show_cost, .argument = cli};
  status = hx_tune(job->compilation, job->backend, &options, job->costs, cli->report);
  if (status == HX_STATUS_OK && path != NULL) status = hx_costs_save(job->costs, path, cli->report);
  return status;
}

// ------------------------------------------------------------------ passes

static bool is_named(const char *list, const char *pass) {
  if (list == NULL) return false;
  return strcmp(list, "all") == 0 || strcmp(list, pass) == 0;
}

static void watch(void *argument, const char *pass, bool is_over, bool changed, const hx_program_t *program) {
  const cli_t *cli = argument;
  if (!is_named(cli_get(cli, is_over ? "print-after" : "print-before"), pass)) return;
  char *text = NULL;
  if (hx_program_print(program, cli_has(cli, "short") ? HX_PRINT_SHORT : 0, &text, NULL) != HX_STATUS_OK) return;
  fprintf(stderr, "// %s %s%s\n%s", is_over ? "after" : "before", pass, is_over && !changed ? " (unchanged)" : "",
          text);
  hx_text_free(text);
}

static void explain(const job_t *job) {
  for (size_t i = 0; i < hx_decisions_count(job->decisions); ++i) {
    const hx_decision_t *decision = hx_decisions_get(job->decisions, i);
    char place[32] = "";
    if (decision->line > 0) snprintf(place, sizeof place, ":%u:%u", decision->line, decision->column);
    fprintf(stderr, "%s%s: %s%s%s [%s]: %s\n", decision->pass, place, decision->operation,
            decision->operation[0] == '\0' ? "" : ": ", decision->chosen, decision->among, decision->why);
  }
}

static json_t *decisions_json(const job_t *job) {
  json_t *list = json_array();
  for (size_t i = 0; i < hx_decisions_count(job->decisions); ++i) {
    const hx_decision_t *decision = hx_decisions_get(job->decisions, i);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:i, s:i, s:s, s:s, s:s}", "pass", decision->pass, "operation", decision->operation,
                        "line", (int)decision->line, "column", (int)decision->column, "chosen", decision->chosen,
                        "among", decision->among, "why", decision->why));
  }
  return list;
}

static hx_status_t run_passes(job_t *job, const char *pipeline) {
  cli_t *cli = job->cli;
  job->decisions = hx_decisions_create();
  if (job->decisions == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const hx_transform_options_t options = {.skip = cli_get(cli, "skip"),
                                          .target = job->backend,
                                          .decisions = job->decisions,
                                          .costs = job->costs,
                                          .watch = watch,
                                          .argument = cli};
  hx_status_t status = hx_compilation_transform(job->compilation, "infer-state", cli->report);
  // A program that leaves out what passes are to add has no state yet.
  if (status != HX_STATUS_OK && cli_has(cli, "pipeline")) {
    hx_report_clear(cli->report);
    status = HX_STATUS_OK;
  }
  if (status == HX_STATUS_OK && job->costs != NULL && strstr(pipeline, "select-by-cost") == NULL)
    status = hx_compilation_transform_with(job->compilation, "select-by-cost", &options, cli->report);
  if (status == HX_STATUS_OK) status = hx_compilation_transform_with(job->compilation, pipeline, &options, cli->report);
  return status;
}

// Text where the file is called .mlir or goes to standard output, else a bundle with all that is bound.
static bool wants_bundle(const char *path) {
  const size_t size = path == NULL ? 0 : strlen(path);
  return size > 0 && (size < 5 || strcmp(path + size - 5, ".mlir") != 0);
}

static int write_program(job_t *job, const char *pipeline) {
  cli_t *cli = job->cli;
  char *text = NULL;
  const char *path = cli_get(cli, "output");
  if (wants_bundle(path)) {
    CLI_TRY(cli, cli_save_compilation(cli, job->compilation, pipeline, path));
    if (!cli->json) return CLI_DONE;
    return cli_print_json(json_pack("{s:b, s:s, s:o}", "ok", 1, "bundle", path, "decisions", decisions_json(job)));
  }
  CLI_TRY(cli, hx_program_print(hx_compilation_program(job->compilation), cli_has(cli, "short") ? HX_PRINT_SHORT : 0,
                                &text, cli->report));
  hx_status_t status = HX_STATUS_OK;
  if (path != NULL) {
    status = cli_write_file(path, text, strlen(text), cli->report);
  } else if (!cli->json) {
    fputs(text, stdout);
  }
  int code = status == HX_STATUS_OK ? CLI_DONE : cli_fail(cli, status);
  if (code == CLI_DONE && cli->json)
    code = cli_print_json(json_pack("{s:b, s:o, s:o}", "ok", 1, "program",
                                    path == NULL ? json_string(text) : json_string(path), "decisions",
                                    decisions_json(job)));
  hx_text_free(text);
  return code;
}

// ------------------------------------------------------------------ bisection

static hx_status_t load_inputs(job_t *job) {
  cli_t *cli = job->cli;
  const hx_port_t *ports = NULL;
  const size_t count = hx_program_inputs(hx_compilation_program(job->compilation), &ports);
  job->inputs = calloc(count + 1, sizeof *job->inputs);
  if (job->inputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  job->input_count = count;
  for (int i = 0; cli_get_at(cli, "input", i) != NULL; ++i) {
    char name[128];
    const char *path = NULL;
    hx_status_t status = cli_split(cli, cli_get_at(cli, "input", i), name, sizeof name, &path);
    if (status != HX_STATUS_OK) return status;
    size_t index = 0;
    while (index < count && strcmp(ports[index].name, name) != 0) ++index;
    if (index == count) return hx_report_fail(cli->report, HX_CODE_INPUT, "the program has no input '%s'", name);
    if (job->inputs[index] != NULL)
      return hx_report_fail(cli->report, HX_CODE_INPUT, "input '%s' is given twice", name);
    status = cli_load_input(cli, hx_compilation_params(job->compilation), &ports[index], path, &job->inputs[index]);
    if (status != HX_STATUS_OK) return status;
  }
  for (size_t i = 0; i < count; ++i) {
    if (job->inputs[i] == NULL)
      return hx_report_fail(cli->report, HX_CODE_INPUT, "input '%s' is missing: give -i %s=FILE", ports[i].name,
                            ports[i].name);
  }
  return HX_STATUS_OK;
}

static hx_status_t read_tolerance(cli_t *cli, double *out) {
  const char *text = cli_get(cli, "tolerance");
  *out = 0;
  if (text == NULL) return HX_STATUS_OK;
  char *end = NULL;
  *out = strtod(text, &end);
  if (*text != '\0' && *end == '\0' && *out >= 0) return HX_STATUS_OK;
  return hx_report_fail(cli->report, HX_CODE_USAGE, "--tolerance '%s' is no number from 0 up", text);
}

static int bisect(job_t *job, const char *pipeline) {
  cli_t *cli = job->cli;
  hx_bisect_options_t options = {.secret = job->secret};
  hx_bisection_t found;
  CLI_TRY(cli, read_tolerance(cli, &options.tolerance));
  CLI_TRY(cli, open_backend(job, NULL));
  CLI_TRY(cli, load_inputs(job));
  CLI_TRY(cli, hx_bisect(job->compilation, job->backend, pipeline, (const hx_value_t *const *)job->inputs, &options,
                         &found, cli->report));
  if (cli->json) {
    const int code = cli_print_json(json_pack("{s:b, s:b, s:i, s:s, s:s, s:f, s:i}", "ok", !found.found, "found",
                                              found.found, "index", (int)found.index, "pass", found.entry, "output",
                                              found.output, "difference", found.difference, "runs", (int)found.runs));
    return code != CLI_DONE ? code : found.found ? CLI_NO : CLI_DONE;
  }
  if (!found.found) {
    printf("no pass of %s changes a result (%zu runs)\n", pipeline, found.runs);
    return CLI_DONE;
  }
  printf("pass %zu, %s: ", found.index + 1, found.entry);
  if (found.output[0] == '\0') {
    printf("the program cannot be linked or run behind it");
  } else if (found.difference > 0) {
    printf("output %s differs by %g", found.output, found.difference);
  } else {
    printf("the bits of output %s differ", found.output);
  }
  printf(" (%zu runs)\n", found.runs);
  return CLI_NO;
}

int cli_run_compile(cli_t *cli) {
  job_t job = {.cli = cli};
  const char *pipeline = cli_has(cli, "pipeline") ? cli_get(cli, "pipeline") : hx_pipeline_default();
  if (cli_has(cli, "passes")) return list_passes(cli);
  size_t count = 0;
  hx_status_t status = hx_pipeline_check(pipeline, &count, cli->report);
  if (status == HX_STATUS_OK && cli->argument_count == 0)
    status = hx_report_fail(cli->report, HX_CODE_USAGE, "heliox compile needs a program, or --passes");
  if (status == HX_STATUS_OK) status = load(&job);
  if (status == HX_STATUS_OK && (cli_has(cli, "tune") || cli_has(cli, "costs"))) status = tune(&job);
  int code = CLI_DONE;
  if (status == HX_STATUS_OK && cli_has(cli, "bisect")) {
    code = bisect(&job, pipeline);
  } else {
    if (status == HX_STATUS_OK) status = run_passes(&job, pipeline);
    if (status == HX_STATUS_OK && cli_has(cli, "explain") && !cli->json) explain(&job);
    code = status == HX_STATUS_OK ? write_program(&job, pipeline) : cli_fail(cli, status);
  }
  job_deinit(&job);
  return code;
}
