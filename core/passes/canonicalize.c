// SPDX-License-Identifier: Apache-2.0
// canonicalize - one form for what can be written in several ways, and nothing for what does nothing:
//   a step that is 0 modulo the slots, an equal depth, scale or representation, all rows or components: the operand;
//   chains of level_drop, reinterpret_scale, mul_integer, neg: one operation or none; mul of one value by itself:
//   square; add of a negated value: sub; rotate_many of one step: rotate; integer arithmetic on constants: its result;
//   scf.if on a constant: the branch; scf.for without a turn: what it carries.
// In: a verified program. Keeps: results bit for bit, their types; operations that ask for an implementation.
// Legal because every rule is an identity of exact arithmetic modulo each prime (CKKS.md), and of wrapping integers.
#include <string.h>

#include "core/ckks/transition.h"
#include "core/passes/rewrite.h"

// What stands for the first result of an operation; NULL where the rule does not apply.
typedef hx_ir_value_t *(*hx_rule_fn_t)(hx_rewriter_t *rewriter, hx_ir_op_t *op);

static hx_ir_value_t *current(const hx_rewriter_t *rewriter, const hx_ir_op_t *op, size_t index) {
  return hx_rewriter_current(rewriter, op->operands[index]);
}

static bool has_request(const hx_ir_op_t *op) { return hx_attrs_find(op->attrs, "heliox.implementation") != NULL; }

// A value's operation, where that may be looked through.
static hx_ir_op_t *through(const hx_ir_value_t *value, hx_op_id_t id) {
  hx_ir_op_t *op = hx_value_op(value, id);
  return op == NULL || has_request(op) ? NULL : op;
}

// An operand whose type is the result's in full: then nothing but the name of the operation stood between them.
static hx_ir_value_t *same_type(const hx_ir_op_t *op, hx_ir_value_t *operand) {
  return operand->type == op->results[0]->type && hx_type_is_complete(operand->type) ? operand : NULL;
}

static hx_ir_value_t *of_view(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  return same_type(op, current(rewriter, op, 0));
}

static hx_ir_value_t *build_unary(hx_rewriter_t *rewriter, hx_ir_op_t *op, hx_op_id_t id, hx_ir_value_t *operand,
                                  hx_attrs_t attrs) {
  const hx_ir_op_t *built = hx_rewriter_build_like(rewriter, op, op, id, &operand, 1, attrs, 1);
  return built == NULL ? NULL : built->results[0];
}

// level_drop of a level_drop, reinterpret_scale of a reinterpret_scale: the last one counts.
static hx_ir_value_t *of_chain(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  hx_ir_value_t *operand = current(rewriter, op, 0);
  const hx_ir_op_t *inner = through(operand, op->info->id);
  hx_ir_value_t *same = same_type(op, operand);
  if (same != NULL || inner == NULL) return same;
  return build_unary(rewriter, op, op->info->id, current(rewriter, inner, 0), op->attrs);
}

static hx_ir_value_t *of_neg(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  const hx_ir_op_t *inner = through(current(rewriter, op, 0), op->info->id);
  return inner == NULL ? NULL : current(rewriter, inner, 0);
}

// a + (-b): lazy negation stays, since its words differ from those of a lazy difference only in name.
static hx_ir_value_t *of_add(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  const bool is_ckks = op->info->id == HX_OP_CKKS_ADD;
  for (size_t i = 0; i < 2; ++i) {
    const hx_ir_op_t *negation = through(current(rewriter, op, 1 - i), is_ckks ? HX_OP_CKKS_NEG : HX_OP_RNS_NEG);
    if (negation == NULL || hx_rewriter_sole_user(rewriter, negation->results[0]) == NULL) continue;
    if (!is_ckks && op->results[0]->type->repr != HX_STANDARD) continue;
    hx_ir_value_t *const operands[] = {current(rewriter, op, i), current(rewriter, negation, 0)};
    const hx_ir_op_t *built =
        hx_rewriter_build(rewriter, op, op, is_ckks ? HX_OP_CKKS_SUB : HX_OP_RNS_SUB, operands, 2, NULL, 0, 1);
    return built == NULL ? NULL : built->results[0];
  }
  return NULL;
}

static hx_ir_value_t *of_mul(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  hx_ir_value_t *a = current(rewriter, op, 0);
  return a == current(rewriter, op, 1) ? build_unary(rewriter, op, HX_OP_CKKS_SQUARE, a, op->attrs) : NULL;
}

static hx_ir_value_t *of_mul_integer(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  hx_ir_value_t *operand = current(rewriter, op, 0);
  const hx_ir_op_t *inner = through(operand, HX_OP_CKKS_MUL_INTEGER);
  int64_t factor = 0, other = 1, product;
  (void)hx_attrs_get_i64(op->attrs, "integer", &factor);  // required: verified
  if (factor == 1) return operand;
  if (factor == -1) return build_unary(rewriter, op, HX_OP_CKKS_NEG, operand, (hx_attrs_t){0});
  if (inner == NULL || !hx_attrs_get_i64(inner->attrs, "integer", &other)) return NULL;
  if (__builtin_mul_overflow(factor, other, &product)) return NULL;
  const hx_named_attr_t item = {.name = hx_str("integer"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = product}};
  hx_ir_value_t *source = current(rewriter, inner, 0);
  const hx_ir_op_t *built = hx_rewriter_build(rewriter, op, op, HX_OP_CKKS_MUL_INTEGER, &source, 1, &item, 1, 1);
  return built == NULL ? NULL : built->results[0];
}

static hx_ir_value_t *of_rotate(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  hx_ir_value_t *operand = current(rewriter, op, 0);
  int64_t step = 0;
  (void)hx_attrs_get_i64(op->attrs, "step", &step);  // required: verified
  const bool known = (operand->type->known & HX_KNOWN_SLOTS) != 0 && operand->type->slots > 0;
  if (!known) return NULL;
  const uint32_t reduced = hx_rotation_reduce(step, operand->type->slots);
  if (reduced == 0) return same_type(op, operand);
  if (step == (int64_t)reduced) return NULL;
  const hx_attribute_t value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = reduced};
  rewriter->status = hx_ir_set_attr(rewriter->program, op, "step", &value);
  rewriter->changed = true;
  return NULL;
}

static hx_ir_value_t *of_rotate_many(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  const hx_attribute_t *steps;
  if (hx_op_list(op, "steps", &steps) != 1) return NULL;
  const hx_attribute_t *domain = hx_attrs_find(op->attrs, "output_domain");
  static const hx_attribute_t none;
  const hx_named_attr_t items[] = {
      {.name = hx_str("step"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = steps[0].integer}},
      {.name = hx_str("output_domain"), .value = domain == NULL ? none : *domain}};
  hx_rewriter_take(rewriter, op);
  const hx_ir_op_t *built = hx_rewriter_build(rewriter, op, op, HX_OP_CKKS_ROTATE, op->operands, op->operand_count,
                                              items, domain == NULL ? 1 : 2, 1);
  return built == NULL ? NULL : built->results[0];
}

// ------------------------------------------------------------------ public integers

// Width of an integer type: 64 for index; 0 for others.
static uint32_t width_of(const hx_type_t *type) {
  if (type->kind == HX_TYPE_INDEX) return 64;
  return type->kind == HX_TYPE_INTEGER && type->bits >= 1 && type->bits <= 64 ? type->bits : 0;
}

// The low bits of a word, as a signed number.
static int64_t wrap(uint64_t word, uint32_t width) {
  if (width == 64) return (int64_t)word;
  const uint64_t mask = ((uint64_t)1 << width) - 1, sign = (uint64_t)1 << (width - 1);
  const uint64_t low = word & mask;
  return (int64_t)((low ^ sign) - sign);
}

static bool read_constant(const hx_ir_value_t *value, int64_t *out) {
  const hx_ir_op_t *op = hx_value_op(value, HX_OP_ARITH_CONSTANT);
  const hx_attribute_t *number = op == NULL ? NULL : hx_attrs_find(op->attrs, "value");
  if (number == NULL || width_of(value->type) == 0) return false;
  if (number->kind == HX_ATTRIBUTE_BOOL) {
    *out = number->boolean ? 1 : 0;
    return true;
  }
  *out = number->integer;
  return number->kind == HX_ATTRIBUTE_INTEGER;
}

static int64_t compare(int64_t predicate, int64_t a, int64_t b, uint32_t width) {
  const uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
  const uint64_t ua = (uint64_t)a & mask, ub = (uint64_t)b & mask;
  const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
  return predicate >= 0 && predicate < 10 && results[predicate] ? 1 : 0;
}

static hx_ir_value_t *make_constant(hx_rewriter_t *rewriter, hx_ir_op_t *op, int64_t value) {
  const hx_type_t *type = op->results[0]->type;
  hx_named_attr_t item = {.name = hx_str("value"),
                          .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = value, .type = type}};
  if (width_of(type) == 1) item.value = (hx_attribute_t){.kind = HX_ATTRIBUTE_BOOL, .boolean = value != 0};
  const hx_ir_op_t *built = hx_rewriter_build(rewriter, op, op, HX_OP_ARITH_CONSTANT, NULL, 0, &item, 1, 1);
  return built == NULL ? NULL : built->results[0];
}

static hx_ir_value_t *of_arith(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  const hx_ir_value_t *left = current(rewriter, op, 0), *right = current(rewriter, op, 1);
  const uint32_t width = width_of(left->type);
  int64_t a, b, predicate = -1;
  if (width == 0 || !read_constant(left, &a) || !read_constant(right, &b)) return NULL;
  a = wrap((uint64_t)a, width);
  b = wrap((uint64_t)b, width);
  switch (op->info->id) {
    case HX_OP_ARITH_ADDI:
      return make_constant(rewriter, op, wrap((uint64_t)a + (uint64_t)b, width));
    case HX_OP_ARITH_SUBI:
      return make_constant(rewriter, op, wrap((uint64_t)a - (uint64_t)b, width));
    case HX_OP_ARITH_MULI:
      return make_constant(rewriter, op, wrap((uint64_t)a * (uint64_t)b, width));
    default:
      (void)hx_attrs_get_i64(op->attrs, "predicate", &predicate);  // required: verified
      return make_constant(rewriter, op, compare(predicate, a, b, width));
  }
}

// ------------------------------------------------------------------ control flow

// Puts the operations of a region in place of its operation; its terminator's operands stand for the results.
static void unwrap(hx_rewriter_t *rewriter, hx_ir_op_t *op, hx_ir_block_t *block) {
  for (hx_ir_op_t *inner = block->first, *next; inner != NULL && inner != block->last; inner = next) {
    next = inner->next;
    hx_rewriter_move(rewriter, inner, op);
  }
  hx_ir_op_t *last = block->last;
  if (last == NULL) return;
  hx_rewriter_take(rewriter, last);
  for (size_t i = 0; i < op->result_count && i < last->operand_count; ++i)
    hx_rewriter_replace(rewriter, op->results[i], last->operands[i]);
}

static bool fold_if(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  int64_t condition;
  if (!read_constant(current(rewriter, op, 0), &condition)) return false;
  unwrap(rewriter, op, op->regions[(condition & 1) != 0 ? 0 : 1]->block);
  return true;
}

// No turn: the step is positive and lower is not below upper, as signed numbers.
static bool fold_for(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  int64_t lower, upper, step;
  if (op->operands[0]->type->kind == HX_TYPE_INTEGER && op->operands[0]->type->signedness == HX_UNSIGNED) return false;
  if (!read_constant(current(rewriter, op, 0), &lower) || !read_constant(current(rewriter, op, 1), &upper) ||
      !read_constant(current(rewriter, op, 2), &step) || step <= 0 || lower < upper) {
    return false;
  }
  for (size_t i = 0; i < op->result_count; ++i)
    hx_rewriter_replace(rewriter, op->results[i], current(rewriter, op, 3 + i));
  return true;
}

// ------------------------------------------------------------------ the walk

static const struct {
  hx_op_id_t id;
  hx_rule_fn_t rule;
} rules[] = {
    {HX_OP_CKKS_LEVEL_DROP, of_chain}, {HX_OP_CKKS_REINTERPRET_SCALE, of_chain},
    {HX_OP_CKKS_NEG, of_neg},          {HX_OP_RNS_NEG, of_neg},
    {HX_OP_CKKS_ADD, of_add},          {HX_OP_RNS_ADD, of_add},
    {HX_OP_CKKS_MUL, of_mul},          {HX_OP_CKKS_MUL_INTEGER, of_mul_integer},
    {HX_OP_CKKS_ROTATE, of_rotate},    {HX_OP_CKKS_ROTATE_MANY, of_rotate_many},
    {HX_OP_RNS_SELECT_LIMBS, of_view}, {HX_OP_RNS_SELECT_COMPONENTS, of_view},
    {HX_OP_RNS_CONCAT_LIMBS, of_view}, {HX_OP_RNS_PACK_COMPONENTS, of_view},
    {HX_OP_RNS_REINTERPRET, of_view},  {HX_OP_ARITH_ADDI, of_arith},
    {HX_OP_ARITH_SUBI, of_arith},      {HX_OP_ARITH_MULI, of_arith},
    {HX_OP_ARITH_CMPI, of_arith},
};

static void simplify(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  for (size_t i = 0; i < HX_COUNT_OF(rules); ++i) {
    if (rules[i].id != op->info->id) continue;
    hx_ir_value_t *value = rules[i].rule(rewriter, op);
    if (value == NULL || rewriter->status != HX_STATUS_OK) return;
    if (value->name.size == 0) value->name = op->results[0]->name;
    hx_rewriter_replace(rewriter, op->results[0], value);
    hx_rewriter_remove(rewriter, op);
    return;
  }
}

static void simplify_block(hx_rewriter_t *rewriter, hx_ir_block_t *block) {
  for (hx_ir_op_t *op = block->first, *next; op != NULL && rewriter->status == HX_STATUS_OK; op = next) {
    next = op->next;
    hx_rewriter_take(rewriter, op);
    for (size_t i = 0; i < op->region_count; ++i) simplify_block(rewriter, op->regions[i]->block);
    const bool is_folded = (op->info->id == HX_OP_SCF_IF && fold_if(rewriter, op)) ||
                           (op->info->id == HX_OP_SCF_FOR && fold_for(rewriter, op));
    if (is_folded) {
      hx_rewriter_remove(rewriter, op);
    } else if (op->region_count == 0 && !has_request(op)) {
      simplify(rewriter, op);
    }
  }
}

// A rule may open the way for one that was looked at before it, so it goes on until nothing changes.
hx_status_t hx_pass_canonicalize(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  *out_changed = false;
  for (bool changed = true; changed;) {
    hx_rewriter_t rewriter;
    if (hx_rewriter_init(&rewriter, program, env) == HX_STATUS_OK)
      simplify_block(&rewriter, program->module->regions[0]->block);
    HX_TRY(hx_rewriter_finish(&rewriter, &changed));
    *out_changed = *out_changed || changed;
  }
  return HX_STATUS_OK;
}
