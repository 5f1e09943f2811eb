// SPDX-License-Identifier: Apache-2.0
// visualize - writes a picture of the program as it is at this place of the pipeline: option file=PATH, and
// form=dot|svg|html (else by the end of the name). A file that is there is replaced.
// In: a verified program. Keeps: everything. Refused: no file, or where nothing draws (a pipeline that is run without a
// compilation).
#include <string.h>

#include "core/passes/passes.h"

static bool ends_with(hx_str_t text, const char *end) {
  const size_t size = strlen(end);
  return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

hx_status_t hx_pass_visualize(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  const hx_str_t file = hx_pass_option(env, "file");
  hx_str_t form = hx_pass_option(env, "form");
  *out_changed = false;
  if (file.data == NULL)
    return hx_report_fail(env->report, HX_CODE_PASS, "visualize: say where the picture goes: visualize{file=PATH}");
  if (form.data == NULL) form = hx_str(ends_with(file, ".svg") ? "svg" : ends_with(file, ".html") ? "html" : "dot");
  if (env->draw == NULL)
    return hx_report_fail(env->report, HX_CODE_UNSUPPORTED, "visualize: this pipeline is run where nothing draws");
  return env->draw(env->draw_argument, program, form, file, env->report);
}
