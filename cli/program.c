// SPDX-License-Identifier: Apache-2.0
// Programs named on the command line: text (.mlir) or bundles; and what is written of them.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "cli/watch.h"

bool cli_is_bundle(const char *path) {
  hx_file_kind_t kind;
  return hx_file_kind(path, &kind, NULL) == HX_STATUS_OK && kind == HX_FILE_BUNDLE;
}

hx_status_t cli_load_program(cli_t *cli, const char *path, hx_program_t **out) {
  const bool absent = path[0] != '/' && access(path, F_OK) != 0 && errno == ENOENT;
  char *shared = absent ? cli_share_path(path) : NULL;
  const hx_status_t status =
      shared != NULL && access(shared, R_OK) == 0
          ? hx_report_fail(cli->report, HX_CODE_IO, "%s: there is no such file here, but %s", path, shared)
          : hx_program_load(path, out, cli->report);
  free(shared);
  return status;
}

hx_status_t cli_load_compilation(cli_t *cli, const char *path, const hx_params_t *params, hx_program_t **out_program,
                                 hx_compilation_t **out) {
  if (cli_is_bundle(path)) {
    const hx_status_t status = hx_bundle_load(path, params, out, cli->report);
    if (status == HX_STATUS_OK) *out_program = hx_program_retain(hx_compilation_program(*out));
    return status;
  }
  const hx_status_t status = cli_load_program(cli, path, out_program);
  return status == HX_STATUS_OK ? hx_compilation_create(*out_program, params, out, cli->report) : status;
}

hx_status_t cli_save_compilation(cli_t *cli, const hx_compilation_t *compilation, const char *pipeline,
                                 const char *path) {
  const hx_bundle_options_t options = {.pipeline = pipeline};
  return hx_bundle_save(compilation, &options, path, cli->report);
}

hx_status_t cli_draw_keys(cli_t *cli, const hx_program_t *program, const hx_params_t *params, hx_keys_t **out) {
  hx_needs_t *needs = NULL;
  hx_status_t status = hx_program_needs(program, params, &needs, cli->report);
  if (status != HX_STATUS_OK) return status;
  const hx_program_needs_t *need = hx_needs_get(needs);
  const hx_keygen_options_t options = {
      .parts = need->parts, .rotations = need->steps, .rotation_count = need->element_count, .slots = need->slots};
  status = hx_keys_generate(params, &options, out, cli->report);
  hx_needs_release(needs);
  return status;
}

hx_status_t cli_load_input(cli_t *cli, const hx_params_t *params, const hx_port_t *port, const char *text,
                           hx_value_t **out) {
  if (strcmp(port->role, "static") != 0) return hx_value_load(text, NULL, params, out, cli->report);
  char *end = NULL;
  errno = 0;
  if (strcmp(port->type, "f64") == 0) {
    const double number = strtod(text, &end);
    if (*text != '\0' && *end == '\0' && errno == 0) return hx_value_real(params, number, out, cli->report);
  } else {
    const long long number = strtoll(text, &end, 10);
    if (*text != '\0' && *end == '\0' && errno == 0)
      return hx_value_integer(params, port->type, number, out, cli->report);
  }
  return hx_report_fail(cli->report, HX_CODE_INPUT, "input '%s' is a number of type %s; '%s' is none", port->name,
                        port->type, text);
}

// ------------------------------------------------------------------ emit

typedef struct {
  cli_t *cli;
  hx_params_t *params;
  hx_program_t *program;
  hx_compilation_t *compilation;
  hx_keys_t *keys;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  hx_executable_t *executable;
} emission_t;

static const struct {
  const char *name;
  int form;  // hx_emit_form_t, or -1: of a linked program
} forms[] = {{"dot", HX_EMIT_DOT},         {"svg", HX_EMIT_SVG}, {"html", HX_EMIT_HTML},
             {"eager-c", HX_EMIT_EAGER_C}, {"host-c", -1},       {"backend-c", -1}};

// Linked with the keys given, or with keys that the program needs, drawn now: nothing of them is emitted.
static hx_status_t link_program(emission_t *job) {
  cli_t *cli = job->cli;
  const hx_params_t *params = hx_compilation_params(job->compilation);
  hx_status_t status = HX_STATUS_OK;
  if (cli_has(cli, "keys")) {
    status = cli_load_keys(cli, cli_get(cli, "keys"), HX_KEYS_EVALUATION, &job->keys);
  } else {
    status = cli_draw_keys(cli, job->program, params, &job->keys);
  }
  if (status == HX_STATUS_OK) status = hx_compilation_bind_keys(job->compilation, job->keys, cli->report);
  if (status == HX_STATUS_OK) status = cli_bind_materials(cli, job->compilation);
  if (status == HX_STATUS_OK) status = cli_backend(cli, &job->plugins, &job->backend);
  if (status == HX_STATUS_OK)
    status = hx_link(job->compilation, job->backend, cli_get(cli, "pipeline"), &job->executable, cli->report);
  return status;
}

static hx_status_t write_form(emission_t *job, size_t form, char **out) {
  cli_t *cli = job->cli;
  if (forms[form].form >= 0) {
    // States are shown as far as they follow; a program that a pass has yet to mend is shown as it is.
    if (hx_compilation_transform(job->compilation, "infer-state", cli->report) != HX_STATUS_OK)
      hx_report_clear(cli->report);
    return hx_emit(hx_compilation_program(job->compilation), (hx_emit_form_t)forms[form].form, out, cli->report);
  }
  const hx_status_t status = link_program(job);
  if (status != HX_STATUS_OK) return status;
  if (strcmp(forms[form].name, "backend-c") == 0)
    return hx_emit_executable(job->executable, cli_get(cli, "name"), out, cli->report);
  const char *source = hx_executable_source(job->executable);
  if (source[0] == '\0') return HX_STATUS_OUT_OF_MEMORY;
  return cli_give_text(cli, source);
}

static hx_status_t give(cli_t *cli, emission_t *job, size_t form) {
  char *text = NULL;
  hx_status_t status = write_form(job, form, &text);
  if (status == HX_STATUS_OK && text != NULL) status = cli_give_text(cli, text);
  hx_text_free(text);
  return status;
}

int cli_run_emit(cli_t *cli) {
  emission_t job = {.cli = cli};
  const char *as = NULL;
  hx_status_t status = cli_need(cli, "as", &as);
  size_t form = 0;
  while (status == HX_STATUS_OK && form < sizeof forms / sizeof *forms && strcmp(forms[form].name, as) != 0) ++form;
  if (form == sizeof forms / sizeof *forms)
    status = hx_report_fail(cli->report, HX_CODE_USAGE,
                            "--as %s: the forms are dot, svg, html, eager-c, host-c and backend-c", as);
  if (status == HX_STATUS_OK && cli_has(cli, "params")) status = cli_params(cli, cli_get(cli, "params"), &job.params);
  if (status == HX_STATUS_OK)
    status = cli_load_compilation(cli, cli->arguments[0], job.params, &job.program, &job.compilation);
  if (status == HX_STATUS_OK) status = give(cli, &job, form);
  hx_executable_release(job.executable);
  hx_backend_release(job.backend);
  hx_plugins_release(job.plugins);
  hx_keys_release(job.keys);
  hx_compilation_release(job.compilation);
  hx_program_release(job.program);
  hx_params_release(job.params);
  return status == HX_STATUS_OK ? CLI_DONE : cli_fail(cli, status);
}

hx_status_t cli_give_text(cli_t *cli, const char *text) {
  const char *path = cli_get(cli, "output");
  if (path != NULL) return cli_write_file(path, text, strlen(text), cli->report);
  fputs(text, stdout);
  return HX_STATUS_OK;
}
