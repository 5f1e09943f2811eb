// SPDX-License-Identifier: Apache-2.0
// Names and types of values as the printer writes them.
#include <stdio.h>
#include <string.h>

#include "core/ir/print.h"

#define ALIAS_LENGTH_MIN 24  // shorter types are no shorter by an alias
#define SEPARATE_MAX 16      // more results than that are always printed as a pack

void hx_printer_init(hx_printer_t *printer, uint32_t flags, hx_text_t *out) {
  *printer = (hx_printer_t){.out = out, .flags = flags};
  hx_arena_init(&printer->arena);
  hx_pointers_init(&printer->type_ids);
  hx_pointers_init(&printer->pinned);
  hx_pointers_init(&printer->label_ids);
  hx_names_init(&printer->names);
  hx_names_init(&printer->type_names);
}

void hx_printer_deinit(hx_printer_t *printer) {
  hx_arena_deinit(&printer->arena);
  hx_pointers_deinit(&printer->type_ids);
  hx_pointers_deinit(&printer->pinned);
  hx_pointers_deinit(&printer->label_ids);
  hx_names_deinit(&printer->names);
  hx_names_deinit(&printer->type_names);
  hx_free(printer->type_uses);
  hx_free(printer->taken);
  hx_free(printer->suffix);
  hx_free(printer->open);
  hx_free(printer->labels);
}

void hx_printer_check(hx_printer_t *printer, hx_status_t status) {
  if (printer->status == HX_STATUS_OK) printer->status = status;
}

// Equal texts have one place, so that uses add up and the second printing finds what the first one counted.
static hx_status_t add_type_text(hx_printer_t *printer, const hx_type_t *type, uint32_t *out) {
  hx_text_t text;
  hx_text_init(&text);
  hx_status_t status = hx_type_print_short(type, &text);
  if (status == HX_STATUS_OK && text.failed) status = HX_STATUS_OUT_OF_MEMORY;
  hx_str_t name = {.data = text.data, .size = text.size};
  uint32_t id = status == HX_STATUS_OK ? hx_names_find(&printer->type_names, name) : 0;
  if (id == HX_NONE) {
    name = hx_arena_str(&printer->arena, name);
    const size_t count = printer->type_names.count;
    status = name.data == NULL
                 ? HX_STATUS_OUT_OF_MEMORY
                 : hx_grow(&printer->type_uses, &printer->use_capacity, count + 1, sizeof *printer->type_uses);
    if (status == HX_STATUS_OK) printer->type_uses[count] = 0;
    if (status == HX_STATUS_OK) status = hx_names_add(&printer->type_names, name, &id);
  }
  hx_text_deinit(&text);
  *out = id;
  return status;
}

uint32_t hx_printer_type_id(hx_printer_t *printer, const hx_type_t *type) {
  uint32_t id = hx_pointers_get(&printer->type_ids, type);
  if (id != HX_NONE) return id;
  hx_status_t status = add_type_text(printer, type, &id);
  if (status == HX_STATUS_OK) status = hx_pointers_set(&printer->type_ids, type, id);
  hx_printer_check(printer, status);
  return status == HX_STATUS_OK ? id : 0;
}

static void print_type_id(hx_printer_t *printer, uint32_t id) {
  if (id >= printer->type_names.count) return;  // only after a failure
  if (id < printer->alias_count && printer->aliases[id] != HX_NONE) {
    hx_text_printf(printer->out, "!t%u", printer->aliases[id]);
  } else {
    hx_text_append(printer->out, printer->type_names.names[id]);
  }
  if (printer->type_uses[id] < UINT32_MAX) ++printer->type_uses[id];
}

void hx_print_type(hx_printer_t *printer, const hx_type_t *type) {
  print_type_id(printer, hx_printer_type_id(printer, type));
}

void hx_print_aliases(hx_printer_t *printer) {
  const size_t count = printer->type_names.count;
  printer->aliases = hx_arena_alloc(&printer->arena, count * sizeof *printer->aliases);
  if (printer->aliases == NULL) {
    hx_printer_check(printer, HX_STATUS_OUT_OF_MEMORY);
    return;
  }
  printer->alias_count = count;
  uint32_t next = 0;
  for (size_t id = 0; id < count; ++id) {
    const hx_str_t text = printer->type_names.names[id];
    const bool is_wanted = printer->type_uses[id] > 1 && text.size >= ALIAS_LENGTH_MIN;
    printer->aliases[id] = is_wanted ? next++ : HX_NONE;
    if (!is_wanted) continue;
    hx_text_printf(printer->out, "!t%u = ", printer->aliases[id]);
    hx_text_append(printer->out, text);
    hx_text_puts(printer->out, "\n");
  }
}

// What inference without parameters gives back of a result is left out of its type. Structure and references are
// written in full, and so is what they take: their types must be equal on both sides.
static uint32_t short_type_id(hx_printer_t *printer, const hx_ir_value_t *value, const hx_type_t *inferred) {
  if (inferred == NULL || hx_pointers_get(&printer->pinned, value) != HX_NONE)
    return hx_printer_type_id(printer, value->type);
  hx_type_t rest;
  hx_type_copy(&rest, value->type);
  rest.known &= ~inferred->known;
  uint32_t id = 0;
  hx_printer_check(printer, add_type_text(printer, &rest, &id));
  return id;
}

static hx_status_t infer_results(const hx_ir_op_t *op, hx_type_t **out) {
  const hx_op_info_t *info = op->info;
  *out = NULL;
  if (op->result_count == 0 || info->infer == NULL || info->tier == HX_TIER_STRUCTURE ||
      info->infer == hx_infer_written)
    return HX_STATUS_OK;
  hx_type_t *results = hx_zalloc(op->result_count, sizeof *results);
  const hx_type_t **types = hx_zalloc(op->operand_count + 1, sizeof *types);
  if (results == NULL || types == NULL) {
    hx_free(results);
    hx_free(types);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < op->operand_count; ++i) types[i] = op->operands[i]->type;
  hx_infer_t call = {.op = info,
                     .attrs = op->attrs,
                     .operands = types,
                     .operand_count = op->operand_count,
                     .results = results,
                     .result_count = op->result_count};
  const bool inferred = hx_op_infer(&call) == HX_STATUS_OK;
  hx_free(types);
  if (inferred) {
    *out = results;
  } else {
    hx_free(results);  // such a program is printed in full
  }
  return HX_STATUS_OK;
}

static hx_status_t open_name(hx_printer_t *printer, hx_str_t name, uint32_t *out_id) {
  const size_t known = printer->names.count;
  HX_TRY(hx_grow(&printer->taken, &printer->taken_capacity, known + 1, sizeof *printer->taken));
  HX_TRY(hx_grow(&printer->suffix, &printer->suffix_capacity, known + 1, sizeof *printer->suffix));
  printer->taken[known] = printer->suffix[known] = 0;
  return hx_names_add(&printer->names, name, out_id);
}

static bool is_number(hx_str_t name) {
  for (size_t i = 0; i < name.size; ++i) {
    if (name.data[i] < '0' || name.data[i] > '9') return false;
  }
  return true;
}

// A name that is not visible yet: the value's own, else with a number behind it, else a number.
static hx_status_t choose_name(hx_printer_t *printer, hx_str_t wanted, hx_str_t *out) {
  hx_text_t text;
  hx_text_init(&text);
  uint32_t id = HX_NONE;
  hx_str_t name = wanted;
  hx_status_t status = HX_STATUS_OK;
  if (is_number(wanted)) {
    hx_text_printf(&text, "%llu", (unsigned long long)printer->next_number++);
    name = hx_arena_str(&printer->arena, (hx_str_t){.data = text.data, .size = text.size});
    *out = name;
    status = name.data == NULL || text.failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
    hx_text_deinit(&text);
    return status;
  }
  status = open_name(printer, name, &id);
  const uint32_t base = id;
  while (status == HX_STATUS_OK && printer->taken[id] != 0) {
    hx_text_clear(&text);
    hx_text_append(&text, wanted);
    hx_text_printf(&text, "_%u", ++printer->suffix[base]);
    name = hx_arena_str(&printer->arena, (hx_str_t){.data = text.data, .size = text.size});
    status = name.data == NULL || text.failed ? HX_STATUS_OUT_OF_MEMORY : open_name(printer, name, &id);
  }
  hx_text_deinit(&text);
  HX_TRY(status);
  HX_TRY(hx_grow(&printer->open, &printer->open_capacity, printer->open_count + 1, sizeof *printer->open));
  printer->open[printer->open_count++] = id;
  printer->taken[id] = 1;
  *out = name;
  return HX_STATUS_OK;
}

void hx_printer_close(hx_printer_t *printer, size_t mark) {
  while (printer->open_count > mark) printer->taken[printer->open[--printer->open_count]] = 0;
}

static hx_status_t add_label(hx_printer_t *printer, const hx_ir_value_t *value, hx_str_t name, uint32_t type) {
  HX_TRY(hx_grow(&printer->labels, &printer->label_capacity, printer->label_count + 1, sizeof *printer->labels));
  printer->labels[printer->label_count] = (hx_label_t){.name = name, .type = type};
  return hx_pointers_set(&printer->label_ids, value, (uint32_t)printer->label_count++);
}

// Names that the text gave one by one are kept so.
static bool has_separate_names(const hx_ir_op_t *op) {
  if (op->result_count > SEPARATE_MAX) return false;
  for (size_t i = 0; i < op->result_count; ++i) {
    if (is_number(op->results[i]->name)) return false;
    for (size_t j = 0; j < i; ++j) {
      if (hx_str_equal(op->results[i]->name, op->results[j]->name)) return false;
    }
  }
  return true;
}

static hx_status_t label_results(hx_printer_t *printer, const hx_ir_op_t *op) {
  hx_type_t *inferred = NULL;
  if ((printer->flags & HX_PRINT_SHORT) != 0) HX_TRY(infer_results(op, &inferred));
  const bool separate = op->result_count == 1 || has_separate_names(op);
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < op->result_count && status == HX_STATUS_OK; ++i) {
    hx_str_t name = {0};
    if (separate || i == 0) {
      status = choose_name(printer, op->results[i]->name, &name);
      if (status != HX_STATUS_OK) break;
      hx_text_puts(printer->out, i == 0 ? "%" : ", %");
      hx_text_append(printer->out, name);
    }
    const uint32_t type = short_type_id(printer, op->results[i], inferred == NULL ? NULL : &inferred[i]);
    status = add_label(printer, op->results[i], name, type);
  }
  hx_free(inferred);
  if (!separate) hx_text_printf(printer->out, ":%zu", op->result_count);
  hx_text_puts(printer->out, " = ");
  return status;
}

void hx_print_results(hx_printer_t *printer, const hx_ir_op_t *op) {
  if (op->result_count > 0) hx_printer_check(printer, label_results(printer, op));
}

void hx_print_argument(hx_printer_t *printer, const hx_ir_value_t *argument) {
  hx_str_t name = {0};
  hx_printer_check(printer, choose_name(printer, argument->name, &name));
  const uint32_t type = hx_printer_type_id(printer, argument->type);
  hx_printer_check(printer, add_label(printer, argument, name, type));
  hx_text_puts(printer->out, "%");
  hx_text_append(printer->out, name);
  hx_text_puts(printer->out, ": ");
  print_type_id(printer, type);
}

void hx_print_use(hx_printer_t *printer, const hx_ir_value_t *value) {
  const hx_ir_value_t *named = value;
  const bool is_pack = value->op != NULL && value->op->result_count > 1 && !has_separate_names(value->op);
  if (is_pack) named = value->op->results[0];
  const uint32_t id = hx_pointers_get(&printer->label_ids, named);
  hx_text_puts(printer->out, "%");
  // A program that breaks the rules of SSA can be printed, to be looked at.
  hx_text_append(printer->out, id == HX_NONE ? hx_str("undefined") : printer->labels[id].name);
  if (is_pack) hx_text_printf(printer->out, "#%u", value->index);
}

void hx_print_value_type(hx_printer_t *printer, const hx_ir_value_t *value) {
  const uint32_t id = hx_pointers_get(&printer->label_ids, value);
  print_type_id(printer, id == HX_NONE ? hx_printer_type_id(printer, value->type) : printer->labels[id].type);
}
