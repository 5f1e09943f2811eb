// SPDX-License-Identifier: Apache-2.0
// Structured control flow over public numbers. A carried value has one place of its own (memory or a register) that its
// operand is copied to before the loop and each turn's yielded value at the end of the turn; the loop's result is that
// place. What scf.condition passes on stays where it is: its place is not written before the first region runs again.
// The memory plan makes most of the copies vanish.
#include "core/link/executable.h"
#include "core/passes/turns.h"

// As the program says, and never more than any loop may run.
static uint64_t most_turns(const hx_ir_op_t *op) {
  int64_t written = 0;
  const bool is_written = hx_attrs_get_i64(op->attrs, HX_TURNS_ATTR, &written) && written >= 0;
  return is_written && (uint64_t)written < HX_LOOP_TRIPS_MAX ? (uint64_t)written : HX_LOOP_TRIPS_MAX;
}

bool hx_control_trips(int64_t lower, int64_t upper, int64_t step, bool is_unsigned, uint64_t *out) {
  if (step == 0 || (!is_unsigned && step < 0)) return false;
  const bool none = is_unsigned ? (uint64_t)lower >= (uint64_t)upper : lower >= upper;
  // The distance of two words in order is below 2^64, whatever their signs.
  const uint64_t distance = (uint64_t)upper - (uint64_t)lower;
  *out = none ? 0 : (distance - 1) / (uint64_t)step + 1;
  return true;
}

static hx_status_t add_control(hx_linker_t *linker, hx_step_kind_t kind, const hx_ir_op_t *op,
                               hx_control_code_t **out) {
  hx_control_code_t *code = hx_arena_alloc(&linker->exe->arena, sizeof *code);
  if (code == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_step_t *step;
  HX_TRY(hx_link_add_step(linker, kind, op, 0, 0, &step));
  step->control = code;
  *out = code;
  return HX_STATUS_OK;
}

static uint32_t here(const hx_linker_t *linker) { return (uint32_t)linker->exe->steps.count; }

static hx_status_t enter_loop(hx_linker_t *linker, uint32_t *out) {
  hx_executable_t *exe = linker->exe;
  const size_t count = exe->loop_count;
  HX_TRY(hx_grow(&exe->loops, &exe->loop_capacity, count + 1, sizeof *exe->loops));
  exe->loops[count] = (hx_loop_t){.first = here(linker),
                                  .parent = linker->loop,
                                  .depth = linker->loop == HX_NONE ? 0 : exe->loops[linker->loop].depth + 1};
  exe->loop_count = count + 1;
  linker->loop = (uint32_t)count;
  *out = (uint32_t)count;
  return HX_STATUS_OK;
}

static void leave_loop(hx_linker_t *linker, uint32_t loop) {
  linker->exe->loops[loop].end = here(linker);
  linker->loop = linker->exe->loops[loop].parent;
}

// ------------------------------------------------------------------ values that go through control flow

// A place for a value that control flow writes: memory or a register. False with a fault where it can have neither.
static hx_status_t make_place(hx_linker_t *linker, const hx_ir_op_t *op, const hx_ir_value_t *value, bool *out_made) {
  const hx_type_t *type = value->type;
  *out_made = true;
  if (hx_link_is_number(type)) {
    (void)hx_link_number(linker, value);
    return HX_STATUS_OK;
  }
  *out_made = false;
  if (!hx_link_has_memory(type)) {
    hx_link_fail(linker, op, HX_CODE_UNSUPPORTED,
                 "%s is a %s; ciphertexts, plaintexts, tensors and public numbers go through control flow",
                 hx_link_value_name(linker, value), hx_type_kind_name(type->kind));
    return HX_STATUS_OK;
  }
  if (!hx_type_is_complete(type)) {
    hx_link_fail(linker, op, HX_CODE_TYPE, "the %s of %s is not known", hx_link_unknown_part(type),
                 hx_link_value_name(linker, value));
    return HX_STATUS_OK;
  }
  const hx_status_t status = hx_link_add_place(linker, value, &linker->slot_of[value->id]);
  *out_made = status == HX_STATUS_OK;
  return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
}

// The value is where another one is.
static hx_status_t share_place(hx_linker_t *linker, const hx_ir_value_t *value, const hx_ir_value_t *with) {
  if (hx_link_is_number(value->type)) {
    linker->number_of[value->id] = hx_link_number(linker, with);
    return HX_STATUS_OK;
  }
  const uint32_t from = linker->slot_of[with->id];
  if (from == HX_NONE) return HX_STATUS_OK;  // told where it was to be made
  const hx_ir_op_t *owner = value->op != NULL ? value->op : value->block->region->op;
  if (!hx_link_check_site(linker, owner, from, hx_link_site(linker, owner))) return HX_STATUS_OK;
  hx_slot_t slot = linker->exe->slots[from];
  slot.type = value->type;
  slot.secret = linker->is_secret[value->id];
  slot.name = hx_link_value_name(linker, value);
  return hx_link_add_slot(linker, &slot, &linker->slot_of[value->id]);
}

static hx_status_t copy_value(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t from, uint32_t to) {
  if (from == HX_NONE || to == HX_NONE) return HX_STATUS_OK;  // told already
  const size_t count = linker->exe->steps.count;
  HX_TRY(hx_link_add_copy(linker, op, from, to));
  if (linker->exe->steps.count > count) linker->exe->steps.items[count].may_alias[0] = 0;
  return HX_STATUS_OK;
}

static hx_status_t pass_one(hx_linker_t *linker, const hx_ir_op_t *op, const hx_ir_value_t *from,
                            const hx_ir_value_t *to) {
  if (hx_link_is_number(to->type))
    return hx_link_move(linker, op, hx_link_number(linker, from), hx_link_number(linker, to));
  return copy_value(linker, op, linker->slot_of[from->id], linker->slot_of[to->id]);
}

// True if writing one of the places before this one is read would change what is read.
static bool is_overwritten(const hx_linker_t *linker, const hx_ir_value_t *from, hx_ir_value_t *const *to,
                           size_t before) {
  for (size_t i = 0; i < before; ++i) {
    if (hx_link_is_number(from->type)) {
      if (hx_link_is_number(to[i]->type) && linker->number_of[from->id] == linker->number_of[to[i]->id]) return true;
      continue;
    }
    const uint32_t a = linker->slot_of[from->id], b = linker->slot_of[to[i]->id];
    if (a != HX_NONE && b != HX_NONE && linker->exe->slots[a].root == linker->exe->slots[b].root) return true;
  }
  return false;
}

// All values at once: what is read is what was there before any of them was written.
static hx_status_t pass_values(hx_linker_t *linker, const hx_ir_op_t *op, hx_ir_value_t *const *from,
                               hx_ir_value_t *const *to, size_t count) {
  uint32_t *saved = hx_alloc((count + 1) * sizeof *saved);
  if (saved == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    saved[i] = HX_NONE;
    if (!is_overwritten(linker, from[i], to, i)) continue;
    if (hx_link_is_number(from[i]->type)) {
      saved[i] = hx_link_new_number(linker);
      status = hx_link_move(linker, op, hx_link_number(linker, from[i]), saved[i]);
    } else {
      status = hx_link_add_place(linker, from[i], &saved[i]);
      if (status == HX_STATUS_OK) status = hx_link_add_copy(linker, op, linker->slot_of[from[i]->id], saved[i]);
    }
  }
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    if (saved[i] == HX_NONE) {
      status = pass_one(linker, op, from[i], to[i]);
    } else if (hx_link_is_number(to[i]->type)) {
      status = hx_link_move(linker, op, saved[i], hx_link_number(linker, to[i]));
    } else {
      status = copy_value(linker, op, saved[i], linker->slot_of[to[i]->id]);
    }
  }
  hx_free(saved);
  return status;
}

static hx_status_t make_places(hx_linker_t *linker, const hx_ir_op_t *op, hx_ir_value_t *const *values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    bool made;
    HX_TRY(make_place(linker, op, values[i], &made));
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ operations

static hx_status_t add_if(hx_linker_t *linker, const hx_ir_op_t *op) {
  HX_TRY(make_places(linker, op, op->results, op->result_count));
  hx_control_code_t *code;
  HX_TRY(add_control(linker, HX_STEP_IF, op, &code));
  code->condition = hx_link_number(linker, op->operands[0]);
  for (size_t r = 0; r < 2; ++r) {
    const hx_ir_block_t *block = op->regions[r]->block;
    HX_TRY(hx_link_block(linker, block));
    // An empty second region has no terminator, and then there are no results.
    if (block->last != NULL)
      HX_TRY(pass_values(linker, block->last, block->last->operands, op->results, op->result_count));
    *(r == 0 ? &code->middle : &code->end) = here(linker);
  }
  return HX_STATUS_OK;
}

static hx_status_t check_bounds(hx_linker_t *linker, const hx_ir_op_t *op, bool is_unsigned) {
  int64_t lower = 0, upper = 0, step = 1;
  uint64_t trips = 0;
  const bool knows_step = hx_link_known_number(op->operands[2], &step);
  if (knows_step && !hx_control_trips(0, 0, step, is_unsigned, &trips)) {
    hx_link_fail(linker, op, HX_CODE_INPUT, "the step is %lld; it has to be positive", (long long)step);
    return HX_STATUS_OK;
  }
  if (!knows_step || !hx_link_known_number(op->operands[0], &lower) || !hx_link_known_number(op->operands[1], &upper))
    return HX_STATUS_OK;  // checked when it runs
  if (hx_control_trips(lower, upper, step, is_unsigned, &trips) && trips > most_turns(op))
    hx_link_fail(linker, op, HX_CODE_LIMIT, "it runs %llu times; %s at most %llu times", (unsigned long long)trips,
                 most_turns(op) < HX_LOOP_TRIPS_MAX ? "by its heliox.turns" : "a loop runs",
                 (unsigned long long)most_turns(op));
  return HX_STATUS_OK;
}

static hx_status_t add_for(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  hx_ir_value_t *const *carried = block->arguments + 1;
  const size_t count = op->result_count;
  const hx_type_t *type = op->operands[0]->type;
  const bool is_unsigned = type->kind == HX_TYPE_INTEGER && type->signedness == HX_UNSIGNED;
  HX_TRY(check_bounds(linker, op, is_unsigned));
  HX_TRY(make_places(linker, op, carried, count));
  HX_TRY(pass_values(linker, op, op->operands + 3, carried, count));
  uint32_t loop;
  hx_control_code_t *code;
  HX_TRY(enter_loop(linker, &loop));
  HX_TRY(add_control(linker, HX_STEP_FOR, op, &code));
  code->is_unsigned = is_unsigned;
  code->turns_max = most_turns(op);
  code->lower = hx_link_number(linker, op->operands[0]);
  code->upper = hx_link_number(linker, op->operands[1]);
  code->step = hx_link_number(linker, op->operands[2]);
  code->counter = hx_link_number(linker, block->arguments[0]);
  HX_TRY(hx_link_block(linker, block));
  HX_TRY(pass_values(linker, block->last, block->last->operands, carried, count));
  code->middle = code->end = here(linker);
  leave_loop(linker, loop);
  for (size_t i = 0; i < count; ++i) HX_TRY(share_place(linker, op->results[i], carried[i]));
  return HX_STATUS_OK;
}

// The loop may end here with what is passed on: nothing computed later is put in its place.
static hx_status_t add_test(hx_linker_t *linker, const hx_ir_op_t *condition) {
  hx_step_t *step;
  HX_TRY(hx_link_add_step(linker, HX_STEP_TEST, condition, (uint32_t)condition->operand_count - 1, 0, &step));
  uint32_t count = 0;
  for (size_t i = 1; i < condition->operand_count; ++i) {
    const uint32_t slot = linker->slot_of[condition->operands[i]->id];
    if (slot != HX_NONE) step->operands[count++] = slot;  // numbers have none
  }
  linker->exe->span_count -= step->operand_count - count;
  step->operand_count = count;
  return HX_STATUS_OK;
}

static hx_status_t add_while(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_ir_block_t *before = op->regions[0]->block, *after = op->regions[1]->block;
  HX_TRY(make_places(linker, op, before->arguments, before->argument_count));
  HX_TRY(pass_values(linker, op, op->operands, before->arguments, before->argument_count));
  uint32_t loop;
  hx_control_code_t *code;
  HX_TRY(enter_loop(linker, &loop));
  HX_TRY(add_control(linker, HX_STEP_WHILE, op, &code));
  code->turns_max = most_turns(op);
  HX_TRY(hx_link_block(linker, before));
  hx_ir_value_t *const *passed = before->last->operands + 1;
  code->condition = hx_link_number(linker, before->last->operands[0]);
  for (size_t i = 0; i < after->argument_count; ++i) HX_TRY(share_place(linker, after->arguments[i], passed[i]));
  HX_TRY(add_test(linker, before->last));
  code->middle = here(linker);
  HX_TRY(hx_link_block(linker, after));
  HX_TRY(pass_values(linker, after->last, after->last->operands, before->arguments, before->argument_count));
  code->end = here(linker);
  leave_loop(linker, loop);
  for (size_t i = 0; i < op->result_count; ++i) HX_TRY(share_place(linker, op->results[i], passed[i]));
  return HX_STATUS_OK;
}

hx_status_t hx_link_control(hx_linker_t *linker, const hx_ir_op_t *op) {
  switch (op->info->id) {
    case HX_OP_SCF_IF:
      return add_if(linker, op);
    case HX_OP_SCF_FOR:
      return add_for(linker, op);
    default:
      return add_while(linker, op);
  }
}
