// SPDX-License-Identifier: Apache-2.0
// Pipelines: their text, and running one pass after the other.
#include "core/passes/passes.h"

#define ENTRIES_MAX 64  // of one pipeline

static const hx_pass_info_t infos[] = {
#define PASS(id_, name_, options_, doc_) {.name = (name_), .options = (options_), .run = hx_pass_##id_, .doc = (doc_)},
#include "core/passes/passes.def"
};

const hx_pass_info_t *hx_pass_find(hx_str_t name) {
  for (size_t i = 0; i < HX_COUNT_OF(infos); ++i) {
    if (hx_str_equal(name, hx_str(infos[i].name))) return &infos[i];
  }
  return NULL;
}

size_t hx_pass_list(const hx_pass_info_t **out_passes) {
  *out_passes = infos;
  return HX_COUNT_OF(infos);
}

const char *hx_pipeline_default(void) { return "dve,cse"; }

typedef struct hx_entry {
  const hx_pass_info_t *pass;
  hx_str_t options;
} hx_entry_t;

static hx_str_t trim(hx_str_t text) {
  while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t' || text.data[0] == '\n')) {
    ++text.data;
    --text.size;
  }
  while (text.size > 0 &&
         (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t' || text.data[text.size - 1] == '\n'))
    --text.size;
  return text;
}

// Cuts `text` at the first comma outside braces; `rest` is what follows it. False where braces do not match.
static bool cut(hx_str_t text, hx_str_t *out_first, hx_str_t *out_rest, bool *out_more) {
  size_t depth = 0, i = 0;
  for (; i < text.size && (depth > 0 || text.data[i] != ','); ++i) {
    if (text.data[i] == '{') ++depth;
    if (text.data[i] == '}' && depth-- == 0) return false;
  }
  *out_first = trim((hx_str_t){.data = text.data, .size = i});
  *out_more = i < text.size;
  *out_rest = *out_more ? (hx_str_t){.data = text.data + i + 1, .size = text.size - i - 1} : (hx_str_t){0};
  return depth == 0;
}

static hx_status_t fail(hx_report_t *report, const char *what, hx_str_t text) {
  hx_text_t known;
  hx_text_init(&known);
  for (size_t i = 0; i < HX_COUNT_OF(infos); ++i) hx_text_printf(&known, "%s%s", i == 0 ? "" : ", ", infos[i].name);
  const hx_status_t status = hx_report_fail(report, HX_CODE_PASS, "pipeline: %s '%.*s'; the passes are %s", what,
                                            (int)(text.size < 100 ? text.size : 100),
                                            text.data == NULL ? "" : text.data, known.data == NULL ? "" : known.data);
  hx_text_deinit(&known);
  return status;
}

static bool takes_option(const hx_pass_info_t *pass, hx_str_t option) {
  hx_str_t known, rest = hx_str(pass->options);
  for (bool more = rest.size > 0; more;) {
    if (!cut(rest, &known, &rest, &more)) return false;
    if (hx_str_equal(known, option)) return true;
  }
  return false;
}

static hx_status_t check_options(const hx_entry_t *entry, hx_report_t *report) {
  hx_str_t option, rest = entry->options;
  for (bool more = trim(rest).size > 0; more;) {
    if (!cut(rest, &option, &rest, &more)) return fail(report, "braces do not match in", entry->options);
    if (takes_option(entry->pass, option)) continue;
    return hx_report_fail(report, HX_CODE_PASS, "pipeline: pass %s has no option '%.*s'; it takes %s",
                          entry->pass->name, (int)(option.size < 100 ? option.size : 100), option.data,
                          entry->pass->options[0] == '\0' ? "none" : entry->pass->options);
  }
  return HX_STATUS_OK;
}

static hx_status_t parse_entry(hx_str_t text, hx_entry_t *out, hx_report_t *report) {
  hx_str_t name = text;
  for (name.size = 0; name.size < text.size && text.data[name.size] != '{';) ++name.size;
  out->options = (hx_str_t){0};
  if (name.size < text.size) {
    if (text.data[text.size - 1] != '}') return fail(report, "text behind the options in", text);
    out->options = (hx_str_t){.data = text.data + name.size + 1, .size = text.size - name.size - 2};
  }
  name = trim(name);
  if (name.size == 0) return fail(report, "a name is missing in", text);
  out->pass = hx_pass_find(name);
  return out->pass == NULL ? fail(report, "there is no pass", name) : check_options(out, report);
}

static hx_status_t parse_pipeline(const char *text, hx_entry_t *entries, size_t *out_count, hx_report_t *report) {
  hx_str_t first, rest = hx_str(text);
  *out_count = 0;
  for (bool more = trim(rest).size > 0; more;) {
    if (!cut(rest, &first, &rest, &more)) return fail(report, "braces do not match in", hx_str(text));
    if (*out_count == ENTRIES_MAX)
      return hx_report_fail(report, HX_CODE_LIMIT, "pipeline: more than %d passes", ENTRIES_MAX);
    HX_TRY(parse_entry(first, &entries[(*out_count)++], report));
  }
  return HX_STATUS_OK;
}

// One pass and the check of what it left behind: a pass that breaks a program is named at once.
static hx_status_t run_entry(hx_program_t *program, const hx_entry_t *entry, const hx_pass_env_t *outer) {
  hx_pass_env_t env = *outer;
  env.options = entry->options;
  bool changed = false;
  if (entry->pass == NULL) return HX_STATUS_INTERNAL;
  HX_TRY(entry->pass->run(program, &env, &changed));
  const hx_status_t status = hx_program_verify(program, env.report);
  if (status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY) return status;
  return hx_report_fail(env.report, HX_CODE_INTERNAL, "pass %s left a program that does not verify", entry->pass->name);
}

hx_status_t hx_pipeline_run(hx_program_t *program, const char *pipeline, const hx_pass_env_t *env) {
  hx_entry_t entries[ENTRIES_MAX] = {{0}};
  size_t count = 0;
  HX_TRY(parse_pipeline(pipeline, entries, &count, env->report));
  for (size_t i = 0; i < count; ++i) HX_TRY(run_entry(program, &entries[i], env));
  return HX_STATUS_OK;
}
