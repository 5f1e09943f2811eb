// SPDX-License-Identifier: Apache-2.0
#include "core/compile/emit.h"

static hx_status_t write_picture(const hx_program_t *program, hx_emit_form_t form, hx_text_t *out,
                                 hx_report_t *report) {
  hx_graph_t graph;
  HX_TRY(hx_graph_create(program, &graph, report));
  if (form == HX_EMIT_DOT) {
    hx_emit_dot(&graph, out);
  } else if (form == HX_EMIT_SVG) {
    hx_emit_svg(&graph, false, out);
  } else {
    hx_emit_html(&graph, program->source, out);
  }
  hx_graph_deinit(&graph);
  return HX_STATUS_OK;
}

hx_status_t hx_emit(const hx_program_t *program, hx_emit_form_t form, char **out_text, hx_report_t *report) {
  if (program == NULL || out_text == NULL || (uint32_t)form > HX_EMIT_EAGER_C)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_emit: an argument is NULL or no form");
  hx_text_t out;
  hx_text_init(&out);
  // Numbering touches scratch words of values, so a copy is drawn: programs are shared between threads.
  hx_program_t *copy = NULL;
  hx_status_t status = hx_program_clone(program, &copy);
  if (status == HX_STATUS_OK)
    status = form == HX_EMIT_EAGER_C ? hx_emit_eager(copy, &out, report) : write_picture(copy, form, &out, report);
  hx_program_release(copy);
  char *text = status == HX_STATUS_OK ? hx_text_take(&out) : NULL;
  hx_text_deinit(&out);
  if (status == HX_STATUS_OUT_OF_MEMORY || (status == HX_STATUS_OK && text == NULL))
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to emit a program");
  if (status == HX_STATUS_OK) *out_text = text;
  return status;
}
