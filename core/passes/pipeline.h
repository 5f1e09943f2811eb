// SPDX-License-Identifier: Apache-2.0
// The text of pipelines, taken apart: shared by pipeline_text.c and pipeline.c.
#ifndef HELIOX_CORE_PASSES_PIPELINE_H
#define HELIOX_CORE_PASSES_PIPELINE_H

#include "core/passes/passes.h"

#define HX_PIPELINE_ENTRIES_MAX 64

typedef struct hx_pipeline_entry {
  const hx_pass_info_t *pass;
  hx_str_t text;     // the whole entry, without blanks around it
  hx_str_t options;  // between its braces
} hx_pipeline_entry_t;

// Every name and option is checked. Texts are borrowed from `text`.
hx_status_t hx_pipeline_parse(const char *text, hx_pipeline_entry_t entries[HX_PIPELINE_ENTRIES_MAX], size_t *out_count,
                              hx_report_t *report);
// Cuts `text` at the first comma outside braces; `rest` is what follows it. False where braces do not match.
bool hx_pipeline_cut(hx_str_t text, hx_str_t *out_first, hx_str_t *out_rest, bool *out_more);

#endif
