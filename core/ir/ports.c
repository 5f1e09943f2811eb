// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of @main, and reading a program from a file.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/ir/internal.h"

// Role of a port whose function names none.
static const char *role_of(const hx_type_t *type) {
  switch (type->kind) {
    case HX_TYPE_CIPHERTEXT:
      return "ciphertext";
    case HX_TYPE_PLAINTEXT:
      return "plaintext";
    case HX_TYPE_MESSAGE:
      return "message";
    case HX_TYPE_TENSOR:
      return "tensor";
    case HX_TYPE_KEY:
      return "key";
    case HX_TYPE_SEED:
      return "seed";
    case HX_TYPE_HANDLE:
      return "handle";
    case HX_TYPE_NONE:
    case HX_TYPE_INTEGER:
    case HX_TYPE_INDEX:
    case HX_TYPE_F64:
    case HX_TYPE_KIND_COUNT:
      break;
  }
  return "static";
}

// A text of dictionary `index` of a list of dictionaries, or NULL.
static const char *text_in(const hx_attribute_t *list, size_t index, const char *name) {
  if (list == NULL || list->kind != HX_ATTRIBUTE_LIST || index >= list->count ||
      list->list[index].kind != HX_ATTRIBUTE_DICT)
    return NULL;
  const hx_attrs_t dict = {.items = list->list[index].dict, .count = list->list[index].count};
  hx_str_t text;
  return hx_attrs_get_text(dict, name, &text) ? text.data : NULL;
}

static const char *lasting(hx_program_t *program, const char *text) {
  return hx_arena_str(&program->arena, hx_str(text)).data;
}

static hx_status_t make_ports(hx_program_t *program, hx_ir_value_t *const *values, size_t count,
                              const hx_attribute_t *attributes, const char *fallback, hx_port_t **out) {
  hx_port_t *ports = hx_arena_alloc(&program->arena, count * sizeof *ports);
  if (ports == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_text_t text;
  hx_text_init(&text);
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    const char *name = text_in(attributes, i, "heliox.name");
    if (name == NULL) {
      hx_text_clear(&text);
      hx_text_printf(&text, "%s%zu", fallback, i);
      name = text.failed ? NULL : lasting(program, text.data);
    }
    const char *role = text_in(attributes, i, "heliox.role");
    hx_text_clear(&text);
    status = hx_type_print_short(values[i]->type, &text);
    if (status == HX_STATUS_OK && text.failed) status = HX_STATUS_OUT_OF_MEMORY;
    if (status != HX_STATUS_OK) break;
    ports[i] = (hx_port_t){
        .name = name, .role = role == NULL ? role_of(values[i]->type) : role, .type = lasting(program, text.data)};
    if (ports[i].name == NULL || ports[i].type == NULL) status = HX_STATUS_OUT_OF_MEMORY;
  }
  hx_text_deinit(&text);
  if (status == HX_STATUS_OK) *out = ports;
  return status;
}

hx_status_t hx_program_refresh(hx_program_t *program, hx_report_t *report) {
  program->inputs = program->outputs = NULL;
  program->input_count = program->output_count = 0;
  const hx_ir_op_t *func = hx_program_find(program, "main");
  if (func == NULL || func->region_count == 0) return HX_STATUS_OK;
  const hx_ir_block_t *block = hx_func_block(func);
  hx_status_t status = make_ports(program, block->arguments, block->argument_count,
                                  hx_attrs_find(func->attrs, "arg_attrs"), "arg", &program->inputs);
  if (status == HX_STATUS_OK) program->input_count = block->argument_count;
  const hx_ir_op_t *last = hx_func_return(func);
  if (status == HX_STATUS_OK && last != NULL && last->info->id == HX_OP_RETURN) {
    status = make_ports(program, last->operands, last->operand_count, hx_attrs_find(func->attrs, "res_attrs"), "result",
                        &program->outputs);
    if (status == HX_STATUS_OK) program->output_count = last->operand_count;
  }
  if (status == HX_STATUS_OUT_OF_MEMORY)
    (void)hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "memory is exhausted for the ports of %s", program->source);
  return status;
}

size_t hx_program_inputs(const hx_program_t *program, const hx_port_t **out_ports) {
  *out_ports = program->inputs;
  return program->input_count;
}

size_t hx_program_outputs(const hx_program_t *program, const hx_port_t **out_ports) {
  *out_ports = program->outputs;
  return program->output_count;
}

const char *hx_program_params(const hx_program_t *program) {
  hx_str_t text;
  return hx_attrs_get_text(program->module->attrs, "heliox.params", &text) ? text.data : "";
}

static hx_status_t io_fault(hx_report_t *report, const char *path, const char *what) {
  return hx_report_fail_at(report, HX_CODE_IO, path, 0, 0, "the program cannot be %s: %s", what, strerror(errno));
}

// The whole file, at most HX_IR_TEXT_MAX + 1 bytes of it: one more than is parsed, so that too much is seen.
static hx_status_t read_file(FILE *file, const char *path, hx_text_t *out, hx_report_t *report) {
  char *chunk = hx_alloc((size_t)1 << 16);
  if (chunk == NULL) return HX_STATUS_OUT_OF_MEMORY;
  size_t count;
  while (out->size <= HX_IR_TEXT_MAX && !out->failed && (count = fread(chunk, 1, (size_t)1 << 16, file)) > 0)
    hx_text_append(out, (hx_str_t){.data = chunk, .size = count});
  hx_free(chunk);
  if (ferror(file) != 0) return io_fault(report, path, "read");
  return out->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

hx_status_t hx_program_load(const char *path, hx_program_t **out, hx_report_t *report) {
  FILE *file = fopen(path, "rbe");
  if (file == NULL) return io_fault(report, path, "opened");
  hx_text_t text;
  hx_text_init(&text);
  hx_status_t status = read_file(file, path, &text, report);
  (void)fclose(file);
  if (status == HX_STATUS_OK) {
    status =
        hx_program_parse((hx_str_t){.data = text.data == NULL ? "" : text.data, .size = text.size}, path, out, report);
  } else if (status == HX_STATUS_OUT_OF_MEMORY) {
    (void)hx_report_fail_at(report, HX_CODE_OUT_OF_MEMORY, path, 0, 0, "memory is exhausted while reading the file");
  }
  hx_text_deinit(&text);
  return status;
}
