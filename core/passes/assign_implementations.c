// SPDX-License-Identifier: Apache-2.0
// assign-implementations - writes hard requests (heliox.implementation) onto operations: option
// OPERATION=IMPLEMENTATION for each, as ckks.rotate=cpu/cpu/avx2. In: a verified program. Keeps: results bit for bit,
// since implementations of an operation agree; operations that ask for an implementation already: asking for another
// one is refused (constraint).
#include <stdio.h>

#include "core/passes/pipeline.h"

typedef struct hx_assignment {
  hx_program_t *program;
  const hx_pass_env_t *env;
  hx_op_id_t id;
  hx_str_t implementation;
  size_t count;
  bool changed;
} hx_assignment_t;

static hx_status_t assign(hx_ir_op_t *op, void *argument) {
  hx_assignment_t *assignment = argument;
  if (op->info->id != assignment->id) return HX_STATUS_OK;
  ++assignment->count;
  const hx_attribute_t *asked = hx_attrs_find(op->attrs, "heliox.implementation");
  if (asked != NULL && hx_str_equal(asked->text, assignment->implementation)) return HX_STATUS_OK;
  if (asked != NULL) {
    return hx_report_fail_at(assignment->env->report, HX_CODE_CONSTRAINT, assignment->program->source, op->line,
                             op->column, "%s: the program asks for '%.*s', assign-implementations for '%.*s'",
                             op->info->name, (int)asked->text.size, asked->text.data,
                             (int)assignment->implementation.size, assignment->implementation.data);
  }
  const hx_attribute_t value = {.kind = HX_ATTRIBUTE_TEXT, .text = assignment->implementation};
  assignment->changed = true;
  return hx_ir_set_attr(assignment->program, op, "heliox.implementation", &value);
}

static hx_status_t assign_option(hx_program_t *program, const hx_pass_env_t *env, hx_str_t option, bool *changed) {
  hx_str_t name = option;
  for (name.size = 0; name.size < option.size && option.data[name.size] != '=';) ++name.size;
  hx_assignment_t assignment = {.program = program, .env = env, .id = hx_op_find(name)};
  if (assignment.id == HX_OP_UNKNOWN || name.size + 1 >= option.size) {
    return hx_report_fail(env->report, HX_CODE_UNKNOWN_OPERATION,
                          "assign-implementations: '%.*s' is no OPERATION=IMPLEMENTATION of the catalogue",
                          (int)(option.size < 100 ? option.size : 100), option.data);
  }
  assignment.implementation = (hx_str_t){.data = option.data + name.size + 1, .size = option.size - name.size - 1};
  HX_TRY(hx_ir_walk(program->module, assign, &assignment));
  char chosen[2 * HX_NAME_MAX];
  (void)snprintf(chosen, sizeof chosen, "%.*s", (int)assignment.implementation.size, assignment.implementation.data);
  hx_decide(env, NULL, chosen, "what the backend has", "the caller's request for %zu operations %.*s", assignment.count,
            (int)name.size, name.data);
  *changed = *changed || assignment.changed;
  return HX_STATUS_OK;
}

hx_status_t hx_pass_assign_implementations(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_str_t option, rest = env->options;
  *out_changed = false;
  for (bool more = rest.size > 0; more;) {
    if (!hx_pipeline_cut(rest, &option, &rest, &more)) return HX_STATUS_INTERNAL;  // checked before anything ran
    if (option.size > 0) HX_TRY(assign_option(program, env, option, out_changed));
  }
  return HX_STATUS_OK;
}
