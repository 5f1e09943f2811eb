// SPDX-License-Identifier: Apache-2.0
// Public numbers: one register a value, arithmetic on the host while steps are enqueued. Nothing here is secret.
#include "core/link/executable.h"

bool hx_link_is_number(const hx_type_t *type) {
  return type->kind == HX_TYPE_INTEGER || type->kind == HX_TYPE_INDEX || type->kind == HX_TYPE_F64;
}

uint32_t hx_link_new_number(hx_linker_t *linker) { return linker->exe->number_count++; }

uint32_t hx_link_number(hx_linker_t *linker, const hx_ir_value_t *value) {
  uint32_t *number = &linker->number_of[value->id];
  if (*number == HX_NONE) *number = hx_link_new_number(linker);
  return *number;
}

static uint32_t bits_of(const hx_type_t *type) { return type->kind == HX_TYPE_INTEGER ? type->bits : 64; }

static bool is_unsigned(const hx_type_t *type) {
  return type->kind == HX_TYPE_INTEGER && type->signedness == HX_UNSIGNED;
}

// A word as a register keeps it: the low bits, extended by their sign or by zeros.
static int64_t extend(int64_t word, uint32_t bits, bool zeros) {
  if (bits >= 64) return word;
  const uint64_t mask = ((uint64_t)1 << bits) - 1, low = (uint64_t)word & mask;
  const bool negative = !zeros && ((low >> (bits - 1)) & 1) != 0;
  return (int64_t)(negative ? low | ~mask : low);
}

static int64_t constant_word(const hx_ir_op_t *op) {
  const hx_type_t *type = op->results[0]->type;
  const hx_attribute_t *value = hx_attrs_find(op->attrs, "value");  // required: verified
  if (value->kind == HX_ATTRIBUTE_BOOL) return extend(value->boolean, 1, false);
  if (value->kind == HX_ATTRIBUTE_FLOAT) {
    const union {
      double number;
      int64_t word;
    } bits = {.number = value->number};
    return bits.word;
  }
  return extend(value->integer, bits_of(type), is_unsigned(type));
}

static hx_status_t add_number_step(hx_linker_t *linker, const hx_ir_op_t *op, hx_number_code_t code) {
  hx_number_code_t *kept = hx_arena_alloc(&linker->exe->arena, sizeof *kept);
  if (kept == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *kept = code;
  hx_step_t *step;
  HX_TRY(hx_link_add_step(linker, HX_STEP_NUMBER, op, 0, 0, &step));
  step->number = kept;
  return HX_STATUS_OK;
}

hx_status_t hx_link_arith(hx_linker_t *linker, const hx_ir_op_t *op) {
  hx_number_code_t code = {.op = op->info->id, .to = hx_link_number(linker, op->results[0])};
  const hx_type_t *type = op->operand_count > 0 ? op->operands[0]->type : op->results[0]->type;
  code.bits = bits_of(type);
  code.is_unsigned = is_unsigned(type);
  if (op->info->id == HX_OP_ARITH_CONSTANT) {
    code.constant = constant_word(op);
    return add_number_step(linker, op, code);
  }
  code.a = hx_link_number(linker, op->operands[0]);
  if (op->operand_count > 1) code.b = hx_link_number(linker, op->operands[1]);
  if (op->operand_count > 2) code.c = hx_link_number(linker, op->operands[2]);
  if (op->info->id == HX_OP_ARITH_INDEX_CAST) {
    code.bits = bits_of(op->results[0]->type);
    code.is_unsigned = is_unsigned(op->results[0]->type);
  }
  int64_t predicate = 0;
  if (hx_attrs_get_i64(op->attrs, "predicate", &predicate)) {
    if (predicate < 0 || predicate > 9) {
      hx_link_fail(linker, op, HX_CODE_ATTRIBUTE, "predicate is %lld; it is 0 (eq) to 9 (uge)", (long long)predicate);
      return HX_STATUS_OK;
    }
    code.predicate = (uint32_t)predicate;
  }
  return add_number_step(linker, op, code);
}

hx_status_t hx_link_number_constant(hx_linker_t *linker, const hx_ir_op_t *op, int64_t number) {
  const hx_number_code_t code = {.op = HX_OP_ARITH_CONSTANT,
                                 .to = hx_link_number(linker, op->results[0]),
                                 .bits = bits_of(op->results[0]->type),
                                 .constant = number};
  return add_number_step(linker, op, code);
}

hx_status_t hx_link_move(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t from, uint32_t to) {
  if (from == to) return HX_STATUS_OK;
  return add_number_step(linker, op, (hx_number_code_t){.op = HX_OP_SCF_YIELD, .a = from, .to = to});
}

bool hx_link_known_number(const hx_ir_value_t *value, int64_t *out) {
  if (value->op == NULL || value->op->info->id != HX_OP_ARITH_CONSTANT) return false;
  *out = constant_word(value->op);
  return true;
}

static bool compare(const hx_number_code_t *code, int64_t a, int64_t b) {
  // Predicates say themselves whether they are signed, whatever the type.
  const int64_t sa = extend(a, code->bits, false), sb = extend(b, code->bits, false);
  const uint64_t ua = (uint64_t)extend(a, code->bits, true), ub = (uint64_t)extend(b, code->bits, true);
  switch (code->predicate) {
    case 0:
      return ua == ub;
    case 1:
      return ua != ub;
    case 2:
      return sa < sb;
    case 3:
      return sa <= sb;
    case 4:
      return sa > sb;
    case 5:
      return sa >= sb;
    case 6:
      return ua < ub;
    case 7:
      return ua <= ub;
    case 8:
      return ua > ub;
    default:
      return ua >= ub;
  }
}

// a / b and what is left. The least number by -1 wraps to itself, which leaves 0.
static bool divide(const hx_number_code_t *code, int64_t a, int64_t b, int64_t *out) {
  const bool is_signed = code->op == HX_OP_ARITH_DIVSI || code->op == HX_OP_ARITH_REMSI;
  const bool rest = code->op == HX_OP_ARITH_REMSI || code->op == HX_OP_ARITH_REMUI;
  // Operations say themselves whether they are signed, whatever the type.
  const int64_t x = extend(a, code->bits, !is_signed), y = extend(b, code->bits, !is_signed);
  if (y == 0) return false;
  if (!is_signed) {
    *out = (int64_t)(rest ? (uint64_t)x % (uint64_t)y : (uint64_t)x / (uint64_t)y);
  } else if (y == -1) {
    *out = rest ? 0 : (int64_t)(0 - (uint64_t)x);
  } else {
    *out = rest ? x % y : x / y;
  }
  return true;
}

bool hx_link_is_arith(hx_op_id_t id) { return id >= HX_OP_ARITH_CONSTANT && id <= HX_OP_ARITH_INDEX_CAST; }

bool hx_number_execute(const hx_number_code_t *code, int64_t *numbers) {
  const uint64_t a = (uint64_t)numbers[code->a], b = (uint64_t)numbers[code->b];  // register 0 where there is none
  int64_t word = 0;
  switch (code->op) {
    case HX_OP_ARITH_CONSTANT:
      word = code->constant;
      break;
    case HX_OP_ARITH_ADDI:
      word = (int64_t)(a + b);
      break;
    case HX_OP_ARITH_SUBI:
      word = (int64_t)(a - b);
      break;
    case HX_OP_ARITH_MULI:
      word = (int64_t)(a * b);
      break;
    case HX_OP_ARITH_DIVSI:
    case HX_OP_ARITH_DIVUI:
    case HX_OP_ARITH_REMSI:
    case HX_OP_ARITH_REMUI:
      if (!divide(code, (int64_t)a, (int64_t)b, &word)) return false;
      break;
    case HX_OP_ARITH_ANDI:
      word = (int64_t)(a & b);
      break;
    case HX_OP_ARITH_ORI:
      word = (int64_t)(a | b);
      break;
    case HX_OP_ARITH_XORI:
      word = (int64_t)(a ^ b);
      break;
    case HX_OP_ARITH_CMPI:
      numbers[code->to] = compare(code, (int64_t)a, (int64_t)b) ? -1 : 0;  // an i1
      return true;
    case HX_OP_ARITH_SELECT:  // words of any type, kept as they are
      numbers[code->to] = a != 0 ? (int64_t)b : numbers[code->c];
      return true;
    case HX_OP_ARITH_INDEX_CAST:
      word = (int64_t)a;
      break;
    default:  // a move
      numbers[code->to] = (int64_t)a;
      return true;
  }
  numbers[code->to] = extend(word, code->bits, code->is_unsigned);
  return true;
}
