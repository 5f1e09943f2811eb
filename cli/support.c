// SPDX-License-Identifier: Apache-2.0
// What several commands share: option values, faults, backends, parameters.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

const char *cli_get(const cli_t *cli, const char *name) {
  for (int i = cli->given_count; i-- > 0;) {
    if (strcmp(cli->given[i].name, name) == 0) return cli->given[i].value;
  }
  return NULL;
}

bool cli_has(const cli_t *cli, const char *name) {
  for (int i = 0; i < cli->given_count; ++i) {
    if (strcmp(cli->given[i].name, name) == 0) return true;
  }
  return false;
}

const char *cli_get_at(const cli_t *cli, const char *name, int index) {
  for (int i = 0; i < cli->given_count; ++i) {
    if (strcmp(cli->given[i].name, name) == 0 && index-- == 0) return cli->given[i].value;
  }
  return NULL;
}

hx_status_t cli_get_number(cli_t *cli, const char *name, uint64_t limit, uint64_t missing, uint64_t *out) {
  const char *text = cli_get(cli, name);
  *out = missing;
  if (text == NULL) return HX_STATUS_OK;
  char *end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value >= limit) {
    return hx_report_fail(cli->report, HX_CODE_USAGE, "--%s takes a whole number below %llu, found '%s'", name,
                          (unsigned long long)limit, text);
  }
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t cli_need(cli_t *cli, const char *name, const char **out) {
  *out = cli_get(cli, name);
  if (*out != NULL) return HX_STATUS_OK;
  char text[160], hint[160];
  snprintf(text, sizeof text, "'heliox %s' needs --%s", cli->command->name, name);
  snprintf(hint, sizeof hint, "see 'heliox %s --help'", cli->command->name);
  return hx_report_add(cli->report, &(hx_fault_t){.code = HX_CODE_USAGE, .text = text, .hint = hint});
}

static int exit_code(const hx_report_t *report, hx_status_t status) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    if (hx_report_get(report, i)->code == HX_CODE_USAGE) return CLI_USAGE;
  }
  switch (status) {
    case HX_STATUS_OK:
      return CLI_DONE;
    case HX_STATUS_INVALID:
    case HX_STATUS_CORRUPT:
    case HX_STATUS_IO:
      return CLI_INPUT;
    case HX_STATUS_OUT_OF_MEMORY:
    case HX_STATUS_INTERNAL:
    case HX_STATUS_COUNT:
      return CLI_INTERNAL;
    default:
      return CLI_NO;
  }
}

static char speaker[32] = "heliox";

const char *cli_speaker(void) { return speaker; }

void cli_speak_as(cli_t *cli, uint32_t rank, uint32_t size) {
  snprintf(speaker, sizeof speaker, "heliox[%u/%u]", rank, size);
  cli->is_silent = rank > 0;
  if (!cli->is_silent) return;
  cli->quiet = true;
  cli->json = false;  // one object in all, rank 0's
}

// What to do: the fault's own words, else those of its code.
static const char *hint_of(const hx_fault_t *fault) {
  return fault->hint[0] != '\0' ? fault->hint : hx_code_info(fault->code)->remedy;
}

static void put_fault(FILE *to, const char *kind, const hx_fault_t *fault) {
  fprintf(to, "%s: %s[%s]: ", speaker, kind, hx_code_info(fault->code)->word);
  if (fault->source[0] != '\0') fprintf(to, "%s:", fault->source);
  if (fault->line != 0) fprintf(to, "%u:%u:", fault->line, fault->column);
  fprintf(to, "%s%s\n", fault->source[0] != '\0' || fault->line != 0 ? " " : "", fault->text);
  if (fault->expected[0] != '\0') fprintf(to, "  expected: %s\n", fault->expected);
  if (fault->found[0] != '\0') fprintf(to, "  found:    %s\n", fault->found);
  fprintf(to, "  hint:     %s\n", hint_of(fault));
}

// In one piece: ranks that fail together write to one place, and must not tear each other's lines.
static void print_fault(const char *kind, const hx_fault_t *fault) {
  char *text = NULL;
  size_t size = 0;
  FILE *whole = open_memstream(&text, &size);
  put_fault(whole != NULL ? whole : stderr, kind, fault);
  if (whole != NULL && fclose(whole) == 0) fwrite(text, 1, size, stderr);
  free(text);
}

static json_t *fault_json(const hx_fault_t *fault) {
  return json_pack("{s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:s}", "code", hx_code_info(fault->code)->word, "source",
                   fault->source, "line", (int)fault->line, "column", (int)fault->column, "text", fault->text,
                   "expected", fault->expected, "found", fault->found, "hint", hint_of(fault));
}

int cli_fail(cli_t *cli, hx_status_t status) {
  const size_t count = hx_report_count(cli->report);
  if (cli->json) {
    json_t *faults = json_array();
    for (size_t i = 0; i < count; ++i) json_array_append_new(faults, fault_json(hx_report_get(cli->report, i)));
    cli_print_json(json_pack("{s:b, s:s, s:o}", "ok", 0, "status", hx_status_name(status), "faults", faults));
  } else {
    for (size_t i = 0; i < count; ++i) print_fault("error", hx_report_get(cli->report, i));
    if (count == 0) fprintf(stderr, "%s: error: %s\n", speaker, hx_status_name(status));
  }
  return exit_code(cli->report, status);
}

void cli_warn(cli_t *cli) {
  for (size_t i = 0; i < hx_report_count(cli->report); ++i) print_fault("warning", hx_report_get(cli->report, i));
  hx_report_clear(cli->report);
}

int cli_print_json(json_t *object) {
  if (object == NULL) return CLI_INTERNAL;
  const int failed = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  json_decref(object);
  return failed != 0 || putchar('\n') == EOF ? CLI_INPUT : CLI_DONE;
}

void cli_say(const cli_t *cli, const char *format, ...) {
  if (cli->quiet || cli->json) return;
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
}

hx_status_t cli_split(cli_t *cli, const char *text, char *name, size_t size, const char **out_rest) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text || equals[1] == '\0' || (size_t)(equals - text) >= size) {
    return hx_report_fail(cli->report, HX_CODE_USAGE, "'%s' is not of the form NAME=FILE", text);
  }
  memcpy(name, text, (size_t)(equals - text));
  name[equals - text] = '\0';
  *out_rest = equals + 1;
  return HX_STATUS_OK;
}

hx_status_t cli_plugins_options(cli_t *cli, hx_plugins_options_t *out) {
  static const char *const policies[] = {"off", "warn", "require"};
  const char *signatures = cli_get(cli, "signatures");
  *out = (hx_plugins_options_t){.lock = cli_get(cli, "locked")};
  if (signatures == NULL) return HX_STATUS_OK;
  for (int i = 0; i < 3; ++i) {
    if (strcmp(signatures, policies[i]) == 0) out->signatures = (hx_signatures_t)(HX_SIGNATURES_OFF + i);
  }
  if (out->signatures != HX_SIGNATURES_DEFAULT) return HX_STATUS_OK;
  return hx_report_fail(cli->report, HX_CODE_USAGE, "--signatures takes off, warn or require, found '%s'", signatures);
}

hx_status_t cli_discover(cli_t *cli, hx_plugins_t **out) {
  hx_plugins_options_t options;
  hx_status_t status = cli_plugins_options(cli, &options);
  if (status == HX_STATUS_OK) status = hx_plugins_discover(&options, out, cli->report);
  if (status == HX_STATUS_OK) cli_warn(cli);
  return status;
}

hx_status_t cli_backend(cli_t *cli, hx_plugins_t **out_plugins, hx_backend_t **out_backend) {
  const char *list = cli_get(cli, "backend");
  return cli_backend_of(cli, list == NULL ? "cpu" : list, out_plugins, out_backend);
}

hx_status_t cli_backend_of(cli_t *cli, const char *list, hx_plugins_t **out_plugins, hx_backend_t **out_backend) {
  hx_plugins_t *plugins = NULL;
  hx_status_t status = cli_discover(cli, &plugins);
  if (status != HX_STATUS_OK) return status;
  status = hx_backend_create(plugins, list, out_backend, cli->report);
  if (status != HX_STATUS_OK) {
    hx_plugins_release(plugins);
    return status;
  }
  *out_plugins = plugins;
  return HX_STATUS_OK;
}

static bool ends_with(const char *text, const char *end) {
  const size_t size = strlen(text), tail = strlen(end);
  return size >= tail && strcmp(text + size - tail, end) == 0;
}

static hx_status_t params_from_json(cli_t *cli, const char *path, uint32_t flags, hx_params_t **out) {
  enum { LIMIT = 65536 };
  FILE *file = fopen(path, "rb");
  if (file == NULL) return hx_report_fail(cli->report, HX_CODE_IO, "%s: %s", path, strerror(errno));
  static char text[LIMIT + 1];
  const size_t size = fread(text, 1, sizeof text, file);
  const bool failed = ferror(file) != 0;
  fclose(file);
  if (failed) return hx_report_fail(cli->report, HX_CODE_IO, "%s: cannot be read", path);
  if (size > LIMIT)
    return hx_report_fail(cli->report, HX_CODE_LIMIT, "%s: a parameter file has at most %d bytes", path, LIMIT);
  return hx_params_parse((hx_str_t){.data = text, .size = size}, path, flags, out, cli->report);
}

hx_status_t cli_params(cli_t *cli, const char *text, hx_params_t **out) {
  const uint32_t flags = cli->insecure ? HX_PARAMS_INSECURE : 0;
  uint64_t digits;
  hx_status_t status = cli_get_number(cli, "digits", 257, 0, &digits);
  if (status != HX_STATUS_OK) return status;
  hx_params_t *params = NULL;
  if (ends_with(text, ".hx")) {
    status = hx_params_load(text, flags, &params, cli->report);
  } else if (ends_with(text, ".json")) {
    status = params_from_json(cli, text, flags, &params);
  } else {
    status = hx_params_preset(text, &params, cli->report);
  }
  if (status != HX_STATUS_OK || digits == 0) {
    *out = params;
    return status;
  }
  status = hx_params_with_digits(params, (uint32_t)digits, flags, out, cli->report);
  hx_params_release(params);
  return status;
}

void cli_print_params(FILE *to, const hx_params_t *params) {
  const double log2_qp = hx_params_log2_q(params) + hx_params_log2_p(params);
  const char *name = hx_params_name(params);
  fprintf(to, "%s: N = 2^%u, depth %u, scale %s, %u digits, log2(QP) = %.1f", name[0] != '\0' ? name : "parameters",
          hx_params_log_n(params), hx_params_max_depth(params), hx_params_scale(params), hx_params_digits(params),
          log2_qp);
  if (hx_params_is_insecure(params)) {
    fprintf(to, ", INSECURE (limit for 128 bits: %u)\n", hx_params_security_limit(params));
  } else {
    fprintf(to, ", 128-bit security (limit %u)\n", hx_params_security_limit(params));
  }
}

double cli_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

char *cli_share_path(const char *below) {
  char self[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
  if (size <= 0) return NULL;
  self[size] = '\0';
  for (int up = 0; up < 2; ++up) {
    char *slash = strrchr(self, '/');
    if (slash == NULL) return NULL;
    *slash = '\0';
  }
  const size_t room = strlen(self) + strlen(below) + sizeof "/share/heliox/";
  char *path = malloc(room);
  if (path != NULL) snprintf(path, room, "%s/share/heliox/%s", self, below);
  return path;
}
