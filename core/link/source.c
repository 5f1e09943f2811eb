// SPDX-License-Identifier: Apache-2.0
// The prepared control flow as C text for people: memory, then one line a step. It is not compiled by anything.
#include <string.h>

#include "core/link/executable.h"

static void write_ports(const hx_executable_t *exe, hx_text_t *out) {
  for (size_t i = 0; i < exe->input_count; ++i) {
    hx_text_printf(out, "//   in[%zu]   %s: ", i, exe->inputs[i].name);
    (void)hx_type_print(exe->input_types[i], out);
    hx_text_puts(out, "\n");
  }
  for (size_t i = 0; i < exe->output_count; ++i) {
    hx_text_printf(out, "//   out[%zu]  %s: ", i, exe->outputs[i].name);
    (void)hx_type_print(exe->output_types[i], out);
    hx_text_puts(out, "\n");
  }
  for (size_t i = 0; i < exe->material_count; ++i) {
    const char *symbol = exe->materials[i].symbol;
    hx_text_printf(out, "//   mat[%zu]  %s%s: ", i, symbol[0] == '\0' ? "" : "@",
                   symbol[0] == '\0' ? "a constant" : symbol);
    (void)hx_type_print(exe->materials[i].type, out);
    hx_text_puts(out, "\n");
  }
}

static void write_place(const hx_executable_t *exe, uint32_t index, hx_text_t *out) {
  const hx_slot_t *slot = &exe->slots[index];
  const hx_root_t *root = &exe->roots[hx_root_of(exe, slot->root)];
  uint64_t offset = slot->offset;
  switch (root->kind) {
    case HX_ROOT_INPUT:
      hx_text_printf(out, "in[%u]", root->index);
      break;
    case HX_ROOT_OUTPUT:
      hx_text_printf(out, "out[%u]", root->index);
      break;
    case HX_ROOT_MATERIAL:
      hx_text_printf(out, "mat[%u]", root->index);
      break;
    case HX_ROOT_SLAB:
      hx_text_puts(out, "slab");
      if (exe->is_spread) hx_text_printf(out, "_%u", root->site);
      offset += root->offset;
      break;
  }
  if (offset > 0) hx_text_printf(out, " + %llu", (unsigned long long)offset);
}

static void write_places(const hx_executable_t *exe, const uint32_t *slots, uint32_t count, const char *lead,
                         hx_text_t *out) {
  for (uint32_t i = 0; i < count; ++i) {
    hx_text_puts(out, i == 0 ? lead : ", ");
    write_place(exe, slots[i], out);
  }
}

static void write_attr_value(const hx_attribute_t *value, hx_text_t *out) {
  switch (value->kind) {
    case HX_ATTRIBUTE_INTEGER:
      hx_text_printf(out, "%lld", (long long)value->integer);
      break;
    case HX_ATTRIBUTE_FLOAT:
      hx_text_printf(out, "%.17g", value->number);
      break;
    case HX_ATTRIBUTE_TEXT:
      hx_text_json(out, value->text);
      break;
    case HX_ATTRIBUTE_LIST:
      hx_text_puts(out, "{");
      for (size_t i = 0; i < value->count; ++i) {
        if (i > 0) hx_text_puts(out, ", ");
        write_attr_value(&value->list[i], out);
      }
      hx_text_puts(out, "}");
      break;
    default:
      hx_text_puts(out, "...");
      break;
  }
}

// "rns_mul": the operation's name as a C identifier.
static void write_identifier(const char *name, hx_text_t *out) {
  for (const char *c = name; *c != '\0'; ++c) hx_text_append(out, (hx_str_t){.data = *c == '.' ? "_" : c, .size = 1});
}

static void write_indent(hx_text_t *out, uint32_t depth) {
  for (uint32_t i = 0; i < depth; ++i) hx_text_puts(out, "  ");
}

static void write_call(const hx_executable_t *exe, const hx_step_t *step, uint32_t depth, hx_text_t *out) {
  write_indent(out, depth);
  write_identifier(hx_step_name(step), out);
  write_places(exe, step->results, step->result_count, "(", out);
  write_places(exe, step->operands, step->operand_count, step->result_count > 0 ? ", " : "(", out);
  for (size_t i = 0; i < step->op->attrs.count; ++i) {
    const hx_named_attr_t *attr = &step->op->attrs.items[i];
    hx_text_puts(out, ", /*");
    hx_text_append(out, attr->name);
    hx_text_puts(out, "*/ ");
    write_attr_value(&attr->value, out);
  }
  hx_text_printf(out, ");  // %s = ", step->result_count > 0 ? exe->slots[step->results[0]].name : "");
  hx_text_puts(out, step->resolution.implementation->qualified);
  if (step->resolution.variant[0] != '\0') hx_text_printf(out, "/%s", step->resolution.variant);
  for (uint32_t i = 0; i < step->result_count; ++i) {
    if (step->in_place[i] >= 0) hx_text_printf(out, ", in place of operand %d", step->in_place[i]);
  }
  if (step->op->line > 0) hx_text_printf(out, ", line %u", step->op->line);
  hx_text_puts(out, "\n");
}

static void write_copy(const hx_executable_t *exe, const hx_step_t *step, uint32_t depth, hx_text_t *out) {
  const hx_layout_t *layout = exe->slots[step->results[0]].layout;
  write_indent(out, depth);
  if (step->is_elided) {
    hx_text_printf(out, "// %s is in its place already, for %s\n", exe->slots[step->operands[0]].name,
                   step->op->info->name);
    return;
  }
  hx_text_puts(out, step->kind == HX_STEP_TRANSFER ? "transfer(" : "copy_rows(");
  write_place(exe, step->results[0], out);
  hx_text_puts(out, ", ");
  write_place(exe, step->operands[0], out);
  hx_text_printf(out, ");  // %s, %u components of %u rows, for %s", exe->slots[step->operands[0]].name,
                 layout->components, layout->limbs, step->op->info->name);
  if (step->op->line > 0) hx_text_printf(out, ", line %u", step->op->line);
  hx_text_puts(out, "\n");
}

static void write_collective(const hx_executable_t *exe, const hx_step_t *step, uint32_t depth, hx_text_t *out) {
  write_indent(out, depth);
  hx_text_printf(out, "collective(\"%s\"", step->op->info->name);
  for (uint32_t i = 0; i < step->result_count + step->operand_count; ++i) {
    hx_text_puts(out, ", ");
    write_place(exe, i < step->result_count ? step->results[i] : step->operands[i - step->result_count], out);
  }
  hx_text_printf(out, ");  // by %s", hx_exchange_plugin(step->exchange));
  if (step->op->line > 0) hx_text_printf(out, ", line %u", step->op->line);
  hx_text_puts(out, "\n");
}

// Sign of a binary operation, or NULL.
static const char *sign_of(hx_op_id_t id) {
  switch (id) {
    case HX_OP_ARITH_ADDI:
      return "+";
    case HX_OP_ARITH_SUBI:
      return "-";
    case HX_OP_ARITH_MULI:
      return "*";
    case HX_OP_ARITH_DIVSI:
    case HX_OP_ARITH_DIVUI:
      return "/";
    case HX_OP_ARITH_REMSI:
    case HX_OP_ARITH_REMUI:
      return "%";
    case HX_OP_ARITH_ANDI:
      return "&";
    case HX_OP_ARITH_ORI:
      return "|";
    case HX_OP_ARITH_XORI:
      return "^";
    default:
      return NULL;
  }
}

// int64_t n[]: the public numbers.
static void write_number(const hx_number_code_t *code, uint32_t depth, hx_text_t *out) {
  static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
  const char *sign = sign_of(code->op);
  write_indent(out, depth);
  if (code->op == HX_OP_ARITH_CONSTANT) {
    hx_text_printf(out, "n[%u] = %lld;\n", code->to, (long long)code->constant);
  } else if (sign != NULL) {
    const bool is_unsigned = code->is_unsigned || code->op == HX_OP_ARITH_DIVUI || code->op == HX_OP_ARITH_REMUI;
    hx_text_printf(out, "n[%u] = n[%u] %s n[%u];  // as %s%u\n", code->to, code->a, sign, code->b,
                   is_unsigned ? "uint" : "int", code->bits);
  } else if (code->op == HX_OP_ARITH_CMPI) {
    hx_text_printf(out, "n[%u] = n[%u] %s n[%u];%s\n", code->to, code->a, signs[code->predicate], code->b,
                   code->predicate >= 6 ? "  // unsigned" : "");
  } else if (code->op == HX_OP_ARITH_SELECT) {
    hx_text_printf(out, "n[%u] = n[%u] ? n[%u] : n[%u];\n", code->to, code->a, code->b, code->c);
  } else {
    hx_text_printf(out, "n[%u] = n[%u];%s\n", code->to, code->a,
                   code->op == HX_OP_ARITH_INDEX_CAST ? "  // of another width" : "");
  }
}

static void write_range(const hx_executable_t *exe, size_t first, size_t end, uint32_t depth, hx_text_t *out);

static void write_control(const hx_executable_t *exe, size_t index, uint32_t depth, hx_text_t *out) {
  const hx_step_t *step = &exe->steps.items[index];
  const hx_control_code_t *code = step->control;
  write_indent(out, depth);
  if (step->kind == HX_STEP_FOR) {
    hx_text_printf(out, "for (n[%u] = n[%u]; n[%u] < n[%u]; n[%u] += n[%u]) {%s\n", code->counter, code->lower,
                   code->counter, code->upper, code->counter, code->step, code->is_unsigned ? "  // unsigned" : "");
    write_range(exe, index + 1, code->end, depth + 1, out);
  } else if (step->kind == HX_STEP_WHILE) {
    hx_text_puts(out, "for (;;) {\n");
    write_range(exe, index + 1, code->middle, depth + 1, out);
    write_indent(out, depth + 1);
    hx_text_printf(out, "if (!n[%u]) break;\n", code->condition);
    write_range(exe, code->middle, code->end, depth + 1, out);
  } else {
    hx_text_printf(out, "if (n[%u]) {\n", code->condition);
    write_range(exe, index + 1, code->middle, depth + 1, out);
    if (code->end > code->middle) {
      write_indent(out, depth);
      hx_text_puts(out, "} else {\n");
      write_range(exe, code->middle, code->end, depth + 1, out);
    }
  }
  write_indent(out, depth);
  hx_text_puts(out, "}\n");
}

static void write_range(const hx_executable_t *exe, size_t first, size_t end, uint32_t depth, hx_text_t *out) {
  for (size_t s = first; s < end;) {
    const hx_step_t *step = &exe->steps.items[s];
    if (step->control != NULL) {
      write_control(exe, s, depth, out);
      s = step->control->end;
      continue;
    }
    if (step->kind == HX_STEP_CALL) write_call(exe, step, depth, out);
    if (step->kind == HX_STEP_COPY || step->kind == HX_STEP_TRANSFER) write_copy(exe, step, depth, out);
    if (step->kind == HX_STEP_COLLECTIVE) write_collective(exe, step, depth, out);
    if (step->kind == HX_STEP_NUMBER) write_number(step->number, depth, out);
    ++s;
  }
}

char *hx_executable_write_source(const hx_executable_t *exe) {
  hx_text_t out;
  hx_text_init(&out);
  hx_text_printf(&out, "// %s on %s, parameters %s\n", exe->program->source, exe->device->name,
                 hx_params_digest_hex(exe->params));
  write_ports(exe, &out);
  size_t copies = 0;
  for (size_t s = 0; s < exe->steps.count; ++s)
    copies += exe->steps.items[s].kind == HX_STEP_COPY && !exe->steps.items[s].is_elided;
  hx_text_printf(&out, "// %zu calls, %zu copies; the slab holds %llu bytes, %llu without reuse.\n", exe->call_count,
                 copies, (unsigned long long)exe->slab_bytes, (unsigned long long)exe->unshared_bytes);
  hx_text_puts(&out,
               "void run(const word *const in[], word *const out[], const word *const mat[], unsigned char *slab) {\n");
  if (exe->number_count > 1) hx_text_printf(&out, "  int64_t n[%u];  // public numbers\n", exe->number_count);
  for (size_t i = 0; i < exe->input_count; ++i) {
    if (exe->input_numbers[i] != HX_NONE)
      hx_text_printf(&out, "  n[%u] = *in[%zu];  // %s\n", exe->input_numbers[i], i, exe->inputs[i].name);
  }
  write_range(exe, 0, exe->steps.count, 1, &out);
  for (size_t i = 0; i < exe->output_count; ++i) {
    if (exe->output_numbers[i] != HX_NONE)
      hx_text_printf(&out, "  *out[%zu] = n[%u];  // %s\n", i, exe->output_numbers[i], exe->outputs[i].name);
  }
  hx_text_puts(&out, "}\n");
  return hx_text_take(&out);
}
