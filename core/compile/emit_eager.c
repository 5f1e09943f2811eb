// SPDX-License-Identifier: Apache-2.0
// eager-c: a C function that calls the engine's methods in the program's order. Values live in one array and are
// released at its end, or when a loop gives their place a new value.
#include <stdio.h>
#include <string.h>

#include "core/compile/emit.h"
#include "core/link/executable.h"
#include "core/passes/passes.h"

typedef struct writer {
  const hx_program_t *program;
  hx_text_t *out;
  hx_report_t *report;
  uint32_t *place;  // by value id: index in v[] or n[]; HX_NONE: a key
  uint32_t value_count, number_count;
  const char **materials;
  size_t material_count, material_capacity;
  uint32_t indent;
} writer_t;

static bool is_number(const hx_type_t *type) {
  return type->kind == HX_TYPE_INTEGER || type->kind == HX_TYPE_INDEX || type->kind == HX_TYPE_F64;
}

static hx_status_t fail(const writer_t *writer, const hx_ir_op_t *op, const char *why) {
  return hx_report_fail_at(writer->report, HX_CODE_UNSUPPORTED, writer->program->source, op->line, op->column,
                           "%s: %s, so it has no form in eager-c", op->info->name, why);
}

static void begin(const writer_t *writer) {
  for (uint32_t i = 0; i < writer->indent; ++i) hx_text_puts(writer->out, "  ");
}

// ------------------------------------------------------------------ places

static hx_status_t give_place(writer_t *writer, const hx_ir_value_t *value) {
  const hx_type_kind_t kind = value->type->kind;
  if (kind == HX_TYPE_CIPHERTEXT || kind == HX_TYPE_PLAINTEXT) {
    writer->place[value->id] = writer->value_count++;
  } else if (is_number(value->type)) {
    writer->place[value->id] = writer->number_count++;
  } else if (kind == HX_TYPE_KEY) {
    writer->place[value->id] = HX_NONE;
  } else if (value->op != NULL) {
    return fail(writer, value->op, "it works on tensors");
  } else {
    return hx_report_fail(writer->report, HX_CODE_UNSUPPORTED,
                          "an input is no ciphertext, plaintext or number, so the program has no form in eager-c");
  }
  return HX_STATUS_OK;
}

static hx_status_t give_places(hx_ir_op_t *op, void *argument) {
  writer_t *writer = argument;
  for (size_t i = 0; i < op->region_count; ++i) {
    const hx_ir_block_t *block = op->regions[i]->block;
    for (size_t k = 0; k < block->argument_count; ++k) HX_TRY(give_place(writer, block->arguments[k]));
  }
  for (size_t i = 0; i < op->result_count; ++i) HX_TRY(give_place(writer, op->results[i]));
  return HX_STATUS_OK;
}

static uint32_t place_of(const writer_t *writer, const hx_ir_value_t *value) { return writer->place[value->id]; }

// ------------------------------------------------------------------ calls of methods

static void write_text(const writer_t *writer, hx_str_t text) { hx_text_json(writer->out, text); }

static bool to_coefficients(const hx_ir_op_t *op) {
  hx_str_t domain;
  return hx_attrs_get_text(op->attrs, "output_domain", &domain) && hx_str_equal(domain, hx_str("coefficient"));
}

static size_t data_operands(const hx_ir_op_t *op) {
  size_t count = op->operand_count;
  while (count > 0 && op->operands[count - 1]->type->kind == HX_TYPE_KEY) --count;
  return count;
}

// An array of operands: (const hx_value_t *const[]){v[1], v[2]}
static void write_array(const writer_t *writer, const hx_ir_op_t *op, size_t first, size_t end) {
  hx_text_puts(writer->out, "(const hx_value_t *const[]){");
  for (size_t i = first; i < end; ++i)
    hx_text_printf(writer->out, "%sv[%u]", i == first ? "" : ", ", place_of(writer, op->operands[i]));
  hx_text_puts(writer->out, "}");
}

static size_t write_steps(const writer_t *writer, const hx_ir_op_t *op) {
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  (void)hx_attrs_get_list(op->attrs, "steps", &steps, &count);  // required: verified
  hx_text_puts(writer->out, "(const int64_t[]){");
  for (size_t i = 0; i < count; ++i)
    hx_text_printf(writer->out, "%s%lld", i == 0 ? "" : ", ", (long long)steps[i].integer);
  hx_text_puts(writer->out, "}");
  return count;
}

// What stands between the operands and the result.
static void write_attributes(const writer_t *writer, const hx_ir_op_t *op) {
  hx_text_t *out = writer->out;
  int64_t integer = 0;
  double re = 0, im = 0;
  hx_str_t text;
  if (hx_attrs_get_complex(op->attrs, "value", &re, &im)) hx_text_printf(out, ", %.17g, %.17g", re, im);
  if (hx_attrs_get_text(op->attrs, "scale", &text)) {
    hx_text_puts(out, ", ");
    write_text(writer, text);
  }
  static const char *const integers[] = {"integer", "depth", "step", "axis"};
  for (size_t i = 0; i < HX_COUNT_OF(integers); ++i) {
    if (hx_attrs_get_i64(op->attrs, integers[i], &integer)) hx_text_printf(out, ", %lld", (long long)integer);
  }
  if (hx_attrs_get_text(op->attrs, "for", &text))
    hx_text_printf(out, ", %s",
                   hx_str_equal(text, hx_str("add"))   ? "HX_PLAIN_ADD"
                   : hx_str_equal(text, hx_str("mul")) ? "HX_PLAIN_MUL"
                                                       : "HX_PLAIN_WEIGHTED");
}

// Operations of one result: the method is called as the operation is.
static bool has_plain_method(hx_op_id_t id) {
  switch (id) {
    case HX_OP_CKKS_ADD:
    case HX_OP_CKKS_SUB:
    case HX_OP_CKKS_NEG:
    case HX_OP_CKKS_ADD_PLAIN:
    case HX_OP_CKKS_SUB_PLAIN:
    case HX_OP_CKKS_MUL_PLAIN:
    case HX_OP_CKKS_ADD_SCALAR:
    case HX_OP_CKKS_MUL_SCALAR:
    case HX_OP_CKKS_MUL_INTEGER:
    case HX_OP_CKKS_MUL:
    case HX_OP_CKKS_SQUARE:
    case HX_OP_CKKS_SUM:
    case HX_OP_CKKS_RELINEARIZE:
    case HX_OP_CKKS_RESCALE:
    case HX_OP_CKKS_LEVEL_DROP:
    case HX_OP_CKKS_REINTERPRET_SCALE:
    case HX_OP_CKKS_TO_NTT:
    case HX_OP_CKKS_FROM_NTT:
    case HX_OP_CKKS_ROTATE:
    case HX_OP_CKKS_CONJUGATE:
    case HX_OP_CKKS_PREPARE_PLAIN:
      return true;
    default:
      return false;
  }
}

static void write_plain_call(const writer_t *writer, const hx_ir_op_t *op) {
  const char *name = op->info->name + strlen("ckks.");
  const bool coefficients = to_coefficients(op);
  hx_text_printf(writer->out, "TRY(hx_engine_%s%s(engine", name, coefficients ? "_to" : "");
  for (size_t i = 0; i < data_operands(op); ++i)
    hx_text_printf(writer->out, ", v[%u]", place_of(writer, op->operands[i]));
  write_attributes(writer, op);
  hx_text_printf(writer->out, "%s, &made[0], report));\n", coefficients ? ", HX_DOMAIN_COEFFICIENT" : "");
}

static int64_t groups_of(const hx_ir_op_t *op) {
  int64_t groups = 1;
  (void)hx_attrs_get_i64(op->attrs, "groups", &groups);
  return groups;
}

// Operations of several operands or results.
static hx_status_t write_group_call(const writer_t *writer, const hx_ir_op_t *op) {
  hx_text_t *out = writer->out;
  const size_t count = data_operands(op);
  if (to_coefficients(op)) return fail(writer, op, "the engine's method leaves its result in ntt domain");
  switch (op->info->id) {
    case HX_OP_CKKS_WEIGHTED_SUM: {
      const size_t groups = (size_t)groups_of(op), terms = count / (groups + 1);
      hx_text_puts(out, "TRY(hx_engine_weighted_sum(engine, ");
      write_array(writer, op, 0, terms);
      hx_text_printf(out, ", %zu, ", terms);
      write_array(writer, op, terms, count);
      hx_text_printf(out, ", %zu, made, report));\n", groups);
      return HX_STATUS_OK;
    }
    case HX_OP_CKKS_ROTATE_MANY:
      hx_text_printf(out, "TRY(hx_engine_rotate_many(engine, v[%u], ", place_of(writer, op->operands[0]));
      hx_text_printf(out, ", %zu, made, report));\n", write_steps(writer, op));
      return HX_STATUS_OK;
    case HX_OP_CKKS_ROTATE_WEIGHTED_SUM:
      hx_text_printf(out, "TRY(hx_engine_rotate_weighted_sum(engine, v[%u], ", place_of(writer, op->operands[0]));
      hx_text_printf(out, ", %zu, ", write_steps(writer, op));
      write_array(writer, op, 1, count);
      hx_text_printf(out, ", %lld, made, report));\n", (long long)groups_of(op));
      return HX_STATUS_OK;
    case HX_OP_CKKS_ROTATE_SUM:
      hx_text_puts(out, "TRY(hx_engine_rotate_sum(engine, ");
      write_array(writer, op, 0, count);
      hx_text_puts(out, ", ");
      hx_text_printf(out, ", %zu, made, report));\n", write_steps(writer, op));
      return HX_STATUS_OK;
    default:
      return fail(writer, op, "no method of the engine does it");
  }
}

static hx_status_t write_call(writer_t *writer, const hx_ir_op_t *op) {
  begin(writer);
  if (op->info->id == HX_OP_MEMORY_TRANSFER) {
    hx_text_printf(writer->out, "made[0] = hx_value_retain(v[%u]);  // an engine computes on one device\n",
                   place_of(writer, op->operands[0]));
  } else if (has_plain_method(op->info->id)) {
    write_plain_call(writer, op);
  } else {
    HX_TRY(write_group_call(writer, op));
  }
  for (size_t i = 0; i < op->result_count; ++i) {
    begin(writer);
    hx_text_printf(writer->out, "put(&v[%u], &made[%zu]);\n", place_of(writer, op->results[i]), i);
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ numbers and control flow

static void write_number(const writer_t *writer, const hx_ir_op_t *op) {
  hx_text_t *out = writer->out;
  const hx_type_t *type = op->operand_count > 0 ? op->operands[0]->type : op->results[0]->type;
  const uint32_t to = place_of(writer, op->results[0]), bits = type->kind == HX_TYPE_INTEGER ? type->bits : 64;
  const int is_unsigned = type->kind == HX_TYPE_INTEGER && type->signedness == HX_UNSIGNED;
  begin(writer);
  if (op->info->id == HX_OP_ARITH_CONSTANT) {
    const hx_attribute_t *value = hx_attrs_find(op->attrs, "value");  // required: verified
    const long long word = value->kind == HX_ATTRIBUTE_BOOL ? value->boolean : (long long)value->integer;
    if (value->kind == HX_ATTRIBUTE_FLOAT) {
      hx_text_printf(out, "n[%u] = 0;  // %.17g: no arithmetic on f64\n", to, value->number);
    } else {
      hx_text_printf(out, "n[%u] = wrap((uint64_t)%lldLL, %u, %d);\n", to, word == INT64_MIN ? word + 1 : word, bits,
                     is_unsigned);
      if (word == INT64_MIN) {
        begin(writer);
        hx_text_printf(out, "n[%u] -= 1;\n", to);
      }
    }
    return;
  }
  const uint32_t a = place_of(writer, op->operands[0]);
  if (op->info->id == HX_OP_ARITH_INDEX_CAST) {
    const hx_type_t *result = op->results[0]->type;
    hx_text_printf(out, "n[%u] = wrap((uint64_t)n[%u], %u, %d);\n", to, a,
                   result->kind == HX_TYPE_INTEGER ? result->bits : 64,
                   result->kind == HX_TYPE_INTEGER && result->signedness == HX_UNSIGNED);
    return;
  }
  const uint32_t b = place_of(writer, op->operands[1]);
  if (op->info->id == HX_OP_ARITH_SELECT) {
    hx_text_printf(out, "n[%u] = n[%u] != 0 ? n[%u] : n[%u];\n", to, a, b, place_of(writer, op->operands[2]));
    return;
  }
  if (op->info->id >= HX_OP_ARITH_DIVSI && op->info->id <= HX_OP_ARITH_REMUI) {
    const bool is_signed = op->info->id == HX_OP_ARITH_DIVSI || op->info->id == HX_OP_ARITH_REMSI;
    const bool rest = op->info->id == HX_OP_ARITH_REMSI || op->info->id == HX_OP_ARITH_REMUI;
    hx_text_printf(out, "TRY(divide(n[%u], n[%u], %u, %d, %d, &n[%u], report));\n", a, b, bits, is_signed, rest, to);
    begin(writer);
    hx_text_printf(out, "n[%u] = wrap((uint64_t)n[%u], %u, %d);\n", to, to, bits, is_unsigned);
    return;
  }
  if (op->info->id == HX_OP_ARITH_CMPI) {
    int64_t predicate = 0;
    (void)hx_attrs_get_i64(op->attrs, "predicate", &predicate);  // required: verified
    hx_text_printf(out, "n[%u] = compare(%lld, n[%u], n[%u], %u);\n", to, (long long)predicate, a, b, bits);
    return;
  }
  const char *sign = op->info->id == HX_OP_ARITH_ADDI   ? "+"
                     : op->info->id == HX_OP_ARITH_SUBI ? "-"
                     : op->info->id == HX_OP_ARITH_MULI ? "*"
                     : op->info->id == HX_OP_ARITH_ANDI ? "&"
                     : op->info->id == HX_OP_ARITH_ORI  ? "|"
                                                        : "^";
  hx_text_printf(out, "n[%u] = wrap((uint64_t)n[%u] %s (uint64_t)n[%u], %u, %d);\n", to, a, sign, b, bits, is_unsigned);
}

// All values at once, through copies.
static void write_pass(writer_t *writer, hx_ir_value_t *const *from, hx_ir_value_t *const *to, size_t count) {
  if (count == 0) return;
  begin(writer);
  hx_text_puts(writer->out, "{\n");
  for (size_t i = 0; i < count; ++i) {
    begin(writer);
    if (is_number(to[i]->type)) {
      hx_text_printf(writer->out, "  const int64_t next%zu = n[%u];\n", i, place_of(writer, from[i]));
    } else {
      hx_text_printf(writer->out, "  hx_value_t *next%zu = hx_value_retain(v[%u]);\n", i, place_of(writer, from[i]));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    begin(writer);
    if (is_number(to[i]->type)) {
      hx_text_printf(writer->out, "  n[%u] = next%zu;\n", place_of(writer, to[i]), i);
    } else {
      hx_text_printf(writer->out, "  put(&v[%u], &next%zu);\n", place_of(writer, to[i]), i);
    }
  }
  begin(writer);
  hx_text_puts(writer->out, "}\n");
}

static hx_status_t write_block(writer_t *writer, const hx_ir_block_t *block);

static void write_line(const writer_t *writer, const char *text) {
  begin(writer);
  hx_text_puts(writer->out, text);
}

static hx_status_t write_if(writer_t *writer, const hx_ir_op_t *op) {
  begin(writer);
  hx_text_printf(writer->out, "if (n[%u] != 0) {\n", place_of(writer, op->operands[0]));
  for (size_t r = 0; r < 2; ++r) {
    const hx_ir_block_t *block = op->regions[r]->block;
    if (r == 1) write_line(writer, "} else {\n");
    ++writer->indent;
    HX_TRY(write_block(writer, block));
    if (block->last != NULL) write_pass(writer, block->last->operands, op->results, op->result_count);
    --writer->indent;
  }
  write_line(writer, "}\n");
  return HX_STATUS_OK;
}

static hx_status_t write_for(writer_t *writer, const hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  const hx_type_t *type = op->operands[0]->type;
  const bool is_unsigned = type->kind == HX_TYPE_INTEGER && type->signedness == HX_UNSIGNED;
  const uint32_t lower = place_of(writer, op->operands[0]), upper = place_of(writer, op->operands[1]),
                 step = place_of(writer, op->operands[2]), counter = place_of(writer, block->arguments[0]);
  write_pass(writer, op->operands + 3, block->arguments + 1, op->result_count);
  begin(writer);
  hx_text_puts(writer->out, "{\n");
  ++writer->indent;
  begin(writer);
  hx_text_printf(writer->out, "uint64_t turns = 0;\n");
  begin(writer);
  hx_text_printf(writer->out, "TRY(count_turns(n[%u], n[%u], n[%u], %d, &turns, report));\n", lower, upper, step,
                 is_unsigned);
  begin(writer);
  hx_text_puts(writer->out, "for (uint64_t turn = 0; turn < turns; ++turn) {\n");
  ++writer->indent;
  begin(writer);
  hx_text_printf(writer->out, "n[%u] = (int64_t)((uint64_t)n[%u] + turn * (uint64_t)n[%u]);\n", counter, lower, step);
  HX_TRY(write_block(writer, block));
  write_pass(writer, block->last->operands, block->arguments + 1, op->result_count);
  --writer->indent;
  write_line(writer, "}\n");
  --writer->indent;
  write_line(writer, "}\n");
  write_pass(writer, block->arguments + 1, op->results, op->result_count);
  return HX_STATUS_OK;
}

static hx_status_t write_while(writer_t *writer, const hx_ir_op_t *op) {
  const hx_ir_block_t *before = op->regions[0]->block, *after = op->regions[1]->block;
  write_pass(writer, op->operands, before->arguments, before->argument_count);
  write_line(writer, "for (uint64_t turn = 0;; ++turn) {\n");
  ++writer->indent;
  HX_TRY(write_block(writer, before));
  write_pass(writer, before->last->operands + 1, after->arguments, after->argument_count);
  begin(writer);
  hx_text_printf(writer->out, "if (n[%u] == 0) break;\n", place_of(writer, before->last->operands[0]));
  write_line(writer, "TRY(check_turn(turn, report));\n");
  HX_TRY(write_block(writer, after));
  write_pass(writer, after->last->operands, before->arguments, before->argument_count);
  --writer->indent;
  write_line(writer, "}\n");
  write_pass(writer, after->arguments, op->results, op->result_count);
  return HX_STATUS_OK;
}

static hx_status_t write_material(writer_t *writer, const hx_ir_op_t *op) {
  if (op->results[0]->type->kind == HX_TYPE_KEY) return HX_STATUS_OK;  // the engine has keys
  const char *symbol = hx_attrs_find(op->attrs, "symbol")->text.data;  // required: verified; ends in NUL
  size_t index = 0;
  while (index < writer->material_count && strcmp(writer->materials[index], symbol) != 0) ++index;
  begin(writer);
  hx_text_printf(writer->out, "keep(&v[%u], materials[%zu]);  // @%s\n", place_of(writer, op->results[0]), index,
                 symbol);
  return HX_STATUS_OK;
}

static hx_status_t write_op(writer_t *writer, const hx_ir_op_t *op) {
  switch (op->info->id) {
    case HX_OP_MATERIAL_REF:
      return write_material(writer, op);
    case HX_OP_SCF_IF:
      return write_if(writer, op);
    case HX_OP_SCF_FOR:
      return write_for(writer, op);
    case HX_OP_SCF_WHILE:
      return write_while(writer, op);
    default:
      if (!hx_link_is_arith(op->info->id)) return write_call(writer, op);
      write_number(writer, op);
      return HX_STATUS_OK;
  }
}

static hx_status_t write_block(writer_t *writer, const hx_ir_block_t *block) {
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    if ((op->info->flags & HX_OP_FLAG_TERMINATOR) == 0) HX_TRY(write_op(writer, op));
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ the file

static const char helpers[] =
    "#define TRY(call_)                                      \\\n"
    "  do {                                                  \\\n"
    "    if ((status = (call_)) != HX_STATUS_OK) goto done;  \\\n"
    "  } while (0)\n\n"
    "// The place takes the new value and lets go of the old one.\n"
    "static inline void put(hx_value_t **place, hx_value_t **value) {\n"
    "  hx_value_release(*place);\n  *place = *value;\n  *value = NULL;\n}\n\n"
    "static inline void keep(hx_value_t **place, const hx_value_t *value) {\n"
    "  hx_value_t *kept = hx_value_retain(value);\n  put(place, &kept);\n}\n\n";

static const char number_helpers[] =
    "// The low bits of a word, extended by their sign or by zeros.\n"
    "static inline int64_t wrap(uint64_t word, unsigned bits, int zeros) {\n"
    "  if (bits >= 64) return (int64_t)word;\n"
    "  const uint64_t mask = ((uint64_t)1 << bits) - 1, low = word & mask;\n"
    "  return (int64_t)(!zeros && (low >> (bits - 1) & 1) != 0 ? low | ~mask : low);\n}\n\n"
    "static inline int64_t compare(int predicate, int64_t a, int64_t b, unsigned bits) {\n"
    "  const int64_t sa = wrap((uint64_t)a, bits, 0), sb = wrap((uint64_t)b, bits, 0);\n"
    "  const uint64_t ua = (uint64_t)wrap((uint64_t)a, bits, 1), ub = (uint64_t)wrap((uint64_t)b, bits, 1);\n"
    "  const int all[] = {ua == ub, ua != ub, sa < sb, sa <= sb, sa > sb, sa >= sb, ua < ub, ua <= ub, ua > ub, ua >= "
    "ub};\n"
    "  return all[predicate] != 0 ? -1 : 0;\n}\n\n"
    "static inline hx_status_t divide(int64_t a, int64_t b, unsigned bits, int is_signed, int rest, int64_t *out,\n"
    "                                 hx_report_t *report) {\n"
    "  const int64_t x = wrap((uint64_t)a, bits, !is_signed), y = wrap((uint64_t)b, bits, !is_signed);\n"
    "  if (y == 0) return hx_report_fail(report, HX_CODE_INPUT, \"division by 0\");\n"
    "  if (!is_signed) {\n"
    "    *out = (int64_t)(rest ? (uint64_t)x % (uint64_t)y : (uint64_t)x / (uint64_t)y);\n"
    "  } else if (y == -1) {\n    *out = rest ? 0 : (int64_t)(0 - (uint64_t)x);\n  } else {\n"
    "    *out = rest ? x % y : x / y;\n  }\n  return HX_STATUS_OK;\n}\n\n"
    "// A loop runs at most 2^20 times, as in the linked program.\n"
    "static inline hx_status_t check_turn(uint64_t turn, hx_report_t *report) {\n"
    "  return turn < (uint64_t)1 << 20 ? HX_STATUS_OK : hx_report_fail(report, HX_CODE_LIMIT, \"a loop runs too "
    "often\");\n}\n\n"
    "static inline hx_status_t count_turns(int64_t lower, int64_t upper, int64_t step, int is_unsigned, uint64_t "
    "*out,\n"
    "                                      hx_report_t *report) {\n"
    "  if (step == 0 || (!is_unsigned && step < 0))\n"
    "    return hx_report_fail(report, HX_CODE_INPUT, \"the step of a loop has to be positive\");\n"
    "  const int none = is_unsigned ? (uint64_t)lower >= (uint64_t)upper : lower >= upper;\n"
    "  *out = none ? 0 : ((uint64_t)upper - (uint64_t)lower - 1) / (uint64_t)step + 1;\n"
    "  return *out == 0 ? HX_STATUS_OK : check_turn(*out - 1, report);\n}\n\n";

static hx_status_t list_material(hx_ir_op_t *op, void *argument) {
  writer_t *writer = argument;
  if (op->info->id != HX_OP_MATERIAL_REF || op->results[0]->type->kind == HX_TYPE_KEY) return HX_STATUS_OK;
  const char *symbol = hx_attrs_find(op->attrs, "symbol")->text.data;
  for (size_t i = 0; i < writer->material_count; ++i) {
    if (strcmp(writer->materials[i], symbol) == 0) return HX_STATUS_OK;
  }
  HX_TRY(hx_grow(&writer->materials, &writer->material_capacity, writer->material_count + 1, sizeof(const char *)));
  writer->materials[writer->material_count++] = symbol;
  return HX_STATUS_OK;
}

static hx_status_t count_results(hx_ir_op_t *op, void *argument) {
  size_t *most = argument;
  if (op->result_count > *most) *most = op->result_count;
  return HX_STATUS_OK;
}

static void write_heading(const writer_t *writer) {
  hx_text_t *out = writer->out;
  hx_text_printf(out,
                 "// Written by heliox emit --as eager-c from %s.\n#include <heliox/heliox.h>\n#include <stddef.h>\n\n",
                 writer->program->source);
  for (size_t i = 0; i < writer->program->input_count; ++i)
    hx_text_printf(out, "// inputs[%zu]     %s: %s\n", i, writer->program->inputs[i].name,
                   writer->program->inputs[i].type);
  for (size_t i = 0; i < writer->material_count; ++i)
    hx_text_printf(out, "// materials[%zu]  @%s\n", i, writer->materials[i]);
  for (size_t i = 0; i < writer->program->output_count; ++i)
    hx_text_printf(out, "// outputs[%zu]    %s: %s\n", i, writer->program->outputs[i].name,
                   writer->program->outputs[i].type);
  hx_text_printf(out,
                 "enum { PROGRAM_INPUTS = %zu, PROGRAM_MATERIALS = %zu, PROGRAM_OUTPUTS = %zu };\n"
                 "extern const char *const program_materials[PROGRAM_MATERIALS + 1];\n"
                 "const char *const program_materials[PROGRAM_MATERIALS + 1] = {",
                 writer->program->input_count, writer->material_count, writer->program->output_count);
  for (size_t i = 0; i < writer->material_count; ++i) {
    write_text(writer, hx_str(writer->materials[i]));
    hx_text_puts(out, ", ");
  }
  hx_text_puts(out, "NULL};\n\n");
}

static void write_inputs(const writer_t *writer, const hx_ir_block_t *block) {
  for (size_t i = 0; i < block->argument_count; ++i) {
    const hx_ir_value_t *argument = block->arguments[i];
    if (is_number(argument->type)) {
      hx_text_printf(writer->out, "  n[%u] = hx_value_get_integer(inputs[%zu]);\n", place_of(writer, argument), i);
    } else {
      hx_text_printf(writer->out, "  keep(&v[%u], inputs[%zu]);\n", place_of(writer, argument), i);
    }
  }
}

static void write_outputs(const writer_t *writer, const hx_ir_op_t *ending) {
  for (size_t i = 0; i < ending->operand_count; ++i) {
    const hx_ir_value_t *value = ending->operands[i];
    if (is_number(value->type)) {
      hx_text_printf(writer->out,
                     "  TRY(hx_value_integer(hx_engine_params(engine), \"%s\", n[%u], &results[%zu], report));\n",
                     writer->program->outputs[i].type, place_of(writer, value), i);
    } else {
      hx_text_printf(writer->out, "  keep(&results[%zu], v[%u]);\n", i, place_of(writer, value));
    }
  }
}

static hx_status_t write_file(writer_t *writer, hx_ir_op_t *func) {
  hx_text_t *out = writer->out;
  const hx_ir_block_t *block = hx_func_block(func);
  size_t most = 1;
  (void)hx_ir_walk(func, count_results, &most);
  write_heading(writer);
  hx_text_puts(out, helpers);
  if (writer->number_count > 0) hx_text_puts(out, number_helpers);
  hx_text_puts(out,
               "// Fills all outputs with new values, or none.\n"
               "hx_status_t program_run(hx_engine_t *engine, const hx_value_t *const *inputs, const hx_value_t *const "
               "*materials,\n                        hx_value_t **outputs, hx_report_t *report);\n\n"
               "hx_status_t program_run(hx_engine_t *engine, const hx_value_t *const *inputs, const hx_value_t *const "
               "*materials,\n                        hx_value_t **outputs, hx_report_t *report) {\n");
  hx_text_printf(out, "  hx_value_t *v[%u] = {NULL}, *made[%zu] = {NULL}, *results[PROGRAM_OUTPUTS + 1] = {NULL};\n",
                 writer->value_count + 1, most);
  if (writer->number_count > 0) hx_text_printf(out, "  int64_t n[%u] = {0};\n", writer->number_count);
  hx_text_puts(out, "  hx_status_t status = HX_STATUS_OK;\n  (void)materials;\n");
  write_inputs(writer, block);
  writer->indent = 1;
  HX_TRY(write_block(writer, block));
  write_outputs(writer, block->last);
  hx_text_puts(out,
               "  for (size_t i = 0; i < PROGRAM_OUTPUTS; ++i) {\n    outputs[i] = results[i];\n    results[i] = "
               "NULL;\n  }\ndone:\n  for (size_t i = 0; i < sizeof v / sizeof *v; ++i) hx_value_release(v[i]);\n"
               "  for (size_t i = 0; i < sizeof results / sizeof *results; ++i) hx_value_release(results[i]);\n"
               "  return status;\n}\n");
  return HX_STATUS_OK;
}

// The copy is this function's own: calls are put in place in it.
hx_status_t hx_emit_eager(const hx_program_t *program, hx_text_t *out, hx_report_t *report) {
  hx_program_t *own = (hx_program_t *)(uintptr_t)program;
  const hx_pass_env_t env = {.report = report};
  HX_TRY(hx_pipeline_run(own, "inline{only=main}", &env));
  HX_TRY(hx_program_refresh(own, report));
  hx_ir_op_t *func = hx_program_find(own, "main");
  if (func == NULL) return hx_report_fail(report, HX_CODE_SYMBOL_NAME, "the program has no function @main");
  const size_t count = hx_ir_number(func);
  writer_t writer = {.program = own, .out = out, .report = report, .place = hx_zalloc(count + 1, sizeof(uint32_t))};
  hx_status_t status = writer.place == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_ir_walk(func, give_places, &writer);
  if (status == HX_STATUS_OK) status = hx_ir_walk(func, list_material, &writer);
  if (status == HX_STATUS_OK) status = write_file(&writer, func);
  hx_free(writer.place);
  hx_free((void *)writer.materials);
  return status;
}
