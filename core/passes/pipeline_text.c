// SPDX-License-Identifier: Apache-2.0
// The registry of passes and the text of pipelines.
#include <string.h>

#include "core/passes/pipeline.h"

typedef struct hx_pass_row {
  hx_pass_info_t info;
  hx_pass_fn_t run;
} hx_pass_row_t;

#define PASS(id_, name_, role_, claim_, options_, doc_)                                                          \
  {{.name = (name_), .options = (options_), .role = HX_PASS_##role_, .claim = HX_CLAIM_##claim_, .doc = (doc_)}, \
   hx_pass_##id_},
static const hx_pass_row_t rows[] = {
#include "core/passes/passes.def"
};

#define PASS(id_, name_, role_, claim_, options_, doc_) \
  {.name = (name_), .options = (options_), .role = HX_PASS_##role_, .claim = HX_CLAIM_##claim_, .doc = (doc_)},
static const hx_pass_info_t infos[] = {
#include "core/passes/passes.def"
};

const hx_pass_info_t *hx_pass_find(hx_str_t name) {
  for (size_t i = 0; i < HX_COUNT_OF(infos); ++i) {
    if (hx_str_equal(name, hx_str(infos[i].name))) return &infos[i];
  }
  return NULL;
}

hx_pass_fn_t hx_pass_function(const hx_pass_info_t *pass) { return rows[pass - infos].run; }

size_t hx_pass_list(const hx_pass_info_t **out_passes) {
  *out_passes = infos;
  return HX_COUNT_OF(infos);
}

const char *hx_pass_role_name(hx_pass_role_t role) {
  static const char *const names[] = {"optimise", "mend", "lower", "check"};
  return (size_t)role < HX_COUNT_OF(names) ? names[role] : "unknown";
}

const char *hx_pass_claim_name(hx_pass_claim_t claim) {
  return claim == HX_CLAIM_BITS ? "equal bits" : claim == HX_CLAIM_ROUNDING ? "other roundings" : "unknown";
}

const char *hx_pipeline_default(void) { return "dve,cse,hoist-rotations,reuse-transforms,pair-rescale"; }

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static hx_str_t trim(hx_str_t text) {
  while (text.size > 0 && is_blank(text.data[0])) {
    ++text.data;
    --text.size;
  }
  while (text.size > 0 && is_blank(text.data[text.size - 1])) --text.size;
  return text;
}

bool hx_pipeline_cut(hx_str_t text, hx_str_t *out_first, hx_str_t *out_rest, bool *out_more) {
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

// Splits at the first '='; a text without one has no value (data NULL).
static hx_str_t split_value(hx_str_t text, hx_str_t *out_value) {
  const char *equals = text.size == 0 ? NULL : memchr(text.data, '=', text.size);
  *out_value = (hx_str_t){0};
  if (equals == NULL) return text;
  const size_t size = (size_t)(equals - text.data);
  *out_value = trim((hx_str_t){.data = equals + 1, .size = text.size - size - 1});
  return trim((hx_str_t){.data = text.data, .size = size});
}

// One of the values between bars, or any but none for *.
static bool takes_value(hx_str_t known, hx_str_t value) {
  if (known.data == NULL || value.data == NULL) return known.data == value.data;
  if (hx_str_equal(known, hx_str("*"))) return value.size > 0;
  for (size_t start = 0; start <= known.size;) {
    size_t end = start;
    while (end < known.size && known.data[end] != '|') ++end;
    if (hx_str_equal((hx_str_t){.data = known.data + start, .size = end - start}, value)) return true;
    start = end + 1;
  }
  return false;
}

static bool takes_option(const hx_pass_info_t *pass, hx_str_t option) {
  hx_str_t value, known_value, row, rest = hx_str(pass->options);
  const hx_str_t name = split_value(option, &value);
  for (bool more = rest.size > 0; more;) {
    if (!hx_pipeline_cut(rest, &row, &rest, &more)) return false;
    const hx_str_t known = split_value(row, &known_value);
    const bool is_name = hx_str_equal(known, name) || (hx_str_equal(known, hx_str("*")) && name.size > 0);
    if (is_name && takes_value(known_value, value)) return true;
  }
  return false;
}

static hx_status_t check_options(const hx_pipeline_entry_t *entry, hx_report_t *report) {
  hx_str_t option, rest = entry->options;
  for (bool more = trim(rest).size > 0; more;) {
    if (!hx_pipeline_cut(rest, &option, &rest, &more)) return fail(report, "braces do not match in", entry->options);
    if (takes_option(entry->pass, option)) continue;
    return hx_report_fail(report, HX_CODE_PASS, "pipeline: pass %s has no option '%.*s'; it takes %s",
                          entry->pass->name, (int)(option.size < 100 ? option.size : 100), option.data,
                          entry->pass->options[0] == '\0' ? "none" : entry->pass->options);
  }
  return HX_STATUS_OK;
}

static hx_status_t parse_entry(hx_str_t text, hx_pipeline_entry_t *out, hx_report_t *report) {
  hx_str_t name = text;
  for (name.size = 0; name.size < text.size && text.data[name.size] != '{';) ++name.size;
  out->text = text;
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

hx_status_t hx_pipeline_parse(const char *text, hx_pipeline_entry_t entries[HX_PIPELINE_ENTRIES_MAX], size_t *out_count,
                              hx_report_t *report) {
  hx_str_t first, rest = hx_str(text);
  *out_count = 0;
  for (bool more = trim(rest).size > 0; more;) {
    if (!hx_pipeline_cut(rest, &first, &rest, &more)) return fail(report, "braces do not match in", hx_str(text));
    if (*out_count == HX_PIPELINE_ENTRIES_MAX)
      return hx_report_fail(report, HX_CODE_LIMIT, "pipeline: more than %d passes", HX_PIPELINE_ENTRIES_MAX);
    HX_TRY(parse_entry(first, &entries[(*out_count)++], report));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_pipeline_check(const char *pipeline, size_t *out_count, hx_report_t *report) {
  hx_pipeline_entry_t entries[HX_PIPELINE_ENTRIES_MAX];
  *out_count = 0;
  return hx_pipeline_parse(pipeline, entries, out_count, report);
}

hx_str_t hx_pipeline_entry(const char *pipeline, size_t index) {
  hx_pipeline_entry_t entries[HX_PIPELINE_ENTRIES_MAX];
  size_t count = 0;
  const bool is_good = hx_pipeline_parse(pipeline, entries, &count, NULL) == HX_STATUS_OK;
  return is_good && index < count ? entries[index].text : (hx_str_t){0};
}

hx_str_t hx_pass_option(const hx_pass_env_t *env, const char *name) {
  hx_str_t option, value, rest = env->options;
  for (bool more = trim(rest).size > 0; more;) {
    if (!hx_pipeline_cut(rest, &option, &rest, &more)) break;
    if (!hx_str_equal(split_value(option, &value), hx_str(name))) continue;
    return value.data == NULL ? hx_str("") : value;
  }
  return (hx_str_t){0};
}
