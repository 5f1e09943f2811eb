// SPDX-License-Identifier: Apache-2.0
// Writers of programs: one file a form.
#ifndef HELIOX_CORE_COMPILE_EMIT_H
#define HELIOX_CORE_COMPILE_EMIT_H

#include "core/compile/graph.h"
#include "heliox/emit.h"

void hx_emit_dot(const hx_graph_t *graph, hx_text_t *out);
// `in_page`: ids and classes for the page's script instead of own styles.
void hx_emit_svg(const hx_graph_t *graph, bool in_page, hx_text_t *out);
void hx_emit_html(const hx_graph_t *graph, const char *title, hx_text_t *out);
hx_status_t hx_emit_eager(const hx_program_t *program, hx_text_t *out, hx_report_t *report);
// Text with <, >, & and " escaped.
void hx_emit_escaped(hx_text_t *out, const char *text);

#endif
