// SPDX-License-Identifier: Apache-2.0
// Running one pass after the other: verified, watched, printed and left out as asked for.
#include "core/passes/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"

#define LOG_WARNING 2

// What HELIOX_DEBUG asks for.
typedef struct hx_debug {
  bool verify, print, roundtrip;
  const char *text;
} hx_debug_t;

// Whether `name` is an item of a comma-separated list, each with `prefix` in front.
static bool lists(const char *list, const char *prefix, const char *name) {
  hx_str_t item, rest = hx_str(list == NULL ? "" : list);
  const size_t size = strlen(prefix);
  for (bool more = rest.size > 0; more;) {
    if (!hx_pipeline_cut(rest, &item, &rest, &more)) return false;
    if (item.size < size || memcmp(item.data, prefix, size) != 0) continue;
    if (hx_str_equal((hx_str_t){.data = item.data + size, .size = item.size - size}, hx_str(name))) return true;
  }
  return false;
}

static hx_debug_t read_debug(void) {
  const char *text = getenv("HELIOX_DEBUG");
  return (hx_debug_t){.verify = lists(text, "", "verify"),
                      .print = lists(text, "", "print"),
                      .roundtrip = lists(text, "", "roundtrip"),
                      .text = text};
}

static void log_program(const hx_program_t *program, const char *when, const char *pass) {
  hx_text_t text;
  hx_text_init(&text);
  if (hx_ir_print(program, HX_PRINT_SHORT, &text) == HX_STATUS_OK && text.data != NULL) {
    hx_log(LOG_WARNING, "passes", "program %s %s:", when, pass);
    for (char *line = text.data, *end; line != NULL && *line != '\0'; line = end) {
      end = strchr(line, '\n');
      if (end != NULL) *end++ = '\0';
      hx_log(LOG_WARNING, "passes", "%s", line);
    }
  }
  hx_text_deinit(&text);
}

// What is printed parses back to what prints alike.
static hx_status_t check_roundtrip(const hx_program_t *program, const char *pass, hx_report_t *report) {
  hx_text_t first, second;
  hx_text_init(&first);
  hx_text_init(&second);
  hx_program_t *again = NULL;
  hx_status_t status = hx_ir_print(program, 0, &first);
  if (status == HX_STATUS_OK && first.data == NULL) status = HX_STATUS_OUT_OF_MEMORY;
  if (status == HX_STATUS_OK) status = hx_program_parse(hx_str(first.data), pass, &again, report);
  if (status == HX_STATUS_OK) status = hx_ir_print(again, 0, &second);
  if (status == HX_STATUS_OK && (second.data == NULL || strcmp(first.data, second.data) != 0)) {
    status =
        hx_report_fail(report, HX_CODE_INTERNAL, "pass %s left a program that does not print and parse alike", pass);
  }
  hx_program_release(again);
  hx_text_deinit(&first);
  hx_text_deinit(&second);
  return status;
}

static hx_status_t check_state(const hx_program_t *program, const char *pass, const hx_pass_env_t *env) {
  hx_program_t *clone = NULL;
  HX_TRY(hx_program_clone(program, &clone));
  const hx_status_t status = hx_program_infer(clone, env->ring, env->report);
  hx_program_release(clone);
  if (status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY) return status;
  return hx_report_fail(env->report, HX_CODE_INTERNAL, "pass %s left a program whose state does not fit", pass);
}

static hx_status_t check_after(const hx_program_t *program, const hx_pipeline_entry_t *entry, const hx_pass_env_t *env,
                               const hx_debug_t *debug) {
  const char *name = entry->pass->name;
  const hx_status_t status = hx_program_verify(program, env->report);
  if (status == HX_STATUS_OUT_OF_MEMORY) return status;
  if (status != HX_STATUS_OK)
    return hx_report_fail(env->report, HX_CODE_INTERNAL, "pass %s left a program that does not verify", name);
  if (debug->verify && entry->pass->role != HX_PASS_MEND) HX_TRY(check_state(program, name, env));
  return debug->roundtrip ? check_roundtrip(program, name, env->report) : HX_STATUS_OK;
}

// One pass and the check of what it left behind: a pass that breaks a program is named at once.
static hx_status_t run_entry(hx_program_t *program, const hx_pipeline_entry_t *entry, size_t index,
                             const hx_pass_env_t *outer, const hx_debug_t *debug) {
  hx_pass_env_t env = *outer;
  env.options = entry->options;
  env.pass = entry->pass->name;
  hx_pass_event_t event = {.pass = entry->pass, .options = entry->options, .index = index, .program = program};
  if (lists(env.skip, "", env.pass) || lists(debug->text, "skip=", env.pass)) {
    hx_decide(&env, NULL, "skipped", "run, skipped", "the caller leaves this pass out");
    return HX_STATUS_OK;
  }
  if (env.watch != NULL) env.watch(env.watch_argument, &event);
  if (debug->print) log_program(program, "before", env.pass);
  const double start = hx_clock_seconds();
  HX_TRY(hx_pass_function(entry->pass)(program, &env, &event.changed));
  event.seconds = hx_clock_seconds() - start;
  event.is_over = true;
  // A program that a pass left as it was has been verified; with HELIOX_DEBUG=verify nobody's word is taken for it.
  if (event.changed || debug->verify || debug->roundtrip) HX_TRY(check_after(program, entry, &env, debug));
  if (debug->print) log_program(program, event.changed ? "after" : "unchanged by", env.pass);
  if (env.watch != NULL) env.watch(env.watch_argument, &event);
  return HX_STATUS_OK;
}

hx_status_t hx_pipeline_run(hx_program_t *program, const char *pipeline, const hx_pass_env_t *env) {
  hx_pipeline_entry_t entries[HX_PIPELINE_ENTRIES_MAX] = {{0}};
  size_t count = 0;
  HX_TRY(hx_pipeline_parse(pipeline, entries, &count, env->report));
  const hx_debug_t debug = read_debug();
  for (size_t i = 0; i < count; ++i) HX_TRY(run_entry(program, &entries[i], i, env, &debug));
  return HX_STATUS_OK;
}
