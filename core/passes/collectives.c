// SPDX-License-Identifier: Apache-2.0
// What a rank's program does with other ranks, step by step, and as text that ranks can exchange:
//   ROLE PEER LINE:COLUMN OPERATION FACTS
// one line a step. Facts are what has to be equal on all ranks that make the step together.
#include "core/passes/collectives.h"

#include <string.h>

#include "core/ir/print.h"
#include "core/passes/work.h"

struct hx_collectives {
  hx_arena_t arena;  // of the steps' texts
  hx_collective_t *steps;
  size_t count, capacity;
  hx_text_t text;
};

typedef struct hx_sequence_reader {
  const hx_program_t *program;
  const hx_ring *ring;
  hx_str_t group;
  uint32_t rank, size;
  hx_collectives_t *out;
  hx_report_t *report;
  uint64_t times;  // of the block that is read
  bool is_exact;
} hx_sequence_reader_t;

static const char *const role_names[] = {"all", "send", "receive", "enter", "next", "leave"};

void hx_collectives_release(hx_collectives_t *collectives) {
  if (collectives == NULL) return;
  hx_text_deinit(&collectives->text);
  hx_arena_deinit(&collectives->arena);
  hx_free(collectives->steps);
  hx_free(collectives);
}

size_t hx_collectives_count(const hx_collectives_t *collectives) { return collectives->count; }

const hx_collective_t *hx_collectives_get(const hx_collectives_t *collectives, size_t index) {
  return index < collectives->count ? &collectives->steps[index] : NULL;
}

const char *hx_collectives_text(const hx_collectives_t *collectives) {
  return collectives->text.data == NULL ? "" : collectives->text.data;
}

// ------------------------------------------------------------------ facts

// Attributes but the rank, then the operations of a combine region, then the type of what is moved.
static hx_status_t print_facts(const hx_ir_op_t *op, hx_text_t *out) {
  hx_printer_t printer;
  bool is_first = true;
  hx_printer_init(&printer, 0, out);
  hx_text_puts(out, "{");
  for (size_t i = 0; i < op->attrs.count; ++i) {
    if (hx_str_equal(op->attrs.items[i].name, hx_str("rank"))) continue;
    if (!is_first) hx_text_puts(out, ", ");
    is_first = false;
    hx_print_named(&printer, &op->attrs.items[i]);
  }
  hx_text_puts(out, "}");
  if (op->region_count > 0) {
    hx_text_puts(out, " (");
    for (const hx_ir_op_t *inner = op->regions[0]->block->first; inner != NULL; inner = inner->next) {
      hx_text_printf(out, "%s%s", inner == op->regions[0]->block->first ? "" : ", ", inner->info->name);
      if (inner->attrs.count > 0) hx_print_attrs(&printer, inner->attrs);
    }
    hx_text_puts(out, ")");
  }
  const bool is_scatter = op->info->id == HX_OP_DISTRIBUTED_SCATTER_LIMBS;  // the root alone knows the type
  const hx_ir_value_t *value = op->result_count > 0 ? op->results[0] : op->operand_count > 1 ? op->operands[1] : NULL;
  if (value != NULL && !is_scatter) {
    hx_text_puts(out, " ");
    hx_print_type(&printer, value->type);
  }
  const hx_status_t status = printer.status;
  hx_printer_deinit(&printer);
  if (status != HX_STATUS_OK) return status;
  return out->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

static hx_status_t add_step(hx_sequence_reader_t *reader, const hx_ir_op_t *op, hx_collective_t step,
                            const char *facts) {
  hx_collectives_t *out = reader->out;
  HX_TRY(hx_grow(&out->steps, &out->capacity, out->count + 1, sizeof *out->steps));
  step.operation = op->info->name;
  step.facts = hx_arena_str(&out->arena, hx_str(facts == NULL ? "" : facts)).data;
  step.line = op->line;
  step.column = op->column;
  step.times = reader->times;
  step.is_exact = reader->is_exact;
  if (step.facts == NULL) return HX_STATUS_OUT_OF_MEMORY;
  out->steps[out->count++] = step;
  hx_text_printf(&out->text, "%s %u %u:%u %s %s\n", role_names[step.role], step.peer, step.line, step.column,
                 step.operation, step.facts);
  return out->text.failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

// ------------------------------------------------------------------ one operation

static hx_status_t refuse(const hx_sequence_reader_t *reader, const hx_ir_op_t *op, const char *name, long long found,
                          const char *what) {
  return hx_report_fail_at(reader->report, HX_CODE_RANK_MISMATCH, reader->program->source, op->line, op->column,
                           "%s: attribute %s is %lld, but this is rank %u of %u%s", op->info->name, name, found,
                           reader->rank, reader->size, what);
}

// The operation is meant for this rank of a group of this size.
static hx_status_t check_ranks(const hx_sequence_reader_t *reader, const hx_ir_op_t *op) {
  static const char *const names[] = {"from", "root", "to"};
  int64_t number = 0;
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    if (hx_attrs_get_i64(op->attrs, names[i], &number) && number >= (int64_t)reader->size)
      return refuse(reader, op, names[i], (long long)number, ": there is no such rank");
  }
  if (hx_attrs_get_i64(op->attrs, "rank", &number) && number != (int64_t)reader->rank)
    return refuse(reader, op, "rank", (long long)number, ": the program is another rank's");
  const hx_attribute_t *counts = hx_attrs_find(op->attrs, "counts"), *owners = hx_attrs_find(op->attrs, "owners");
  if (counts != NULL && counts->count != reader->size)
    return refuse(reader, op, "counts", (long long)counts->count, " (numbers in the list): it is for another size");
  for (size_t i = 0; owners != NULL && i < owners->count; ++i) {
    if (owners->list[i].integer >= (int64_t)reader->size)
      return refuse(reader, op, "owners", (long long)owners->list[i].integer, ": there is no such rank");
  }
  return HX_STATUS_OK;
}

static bool is_of_group(const hx_sequence_reader_t *reader, const hx_ir_op_t *op) {
  const hx_ir_op_t *handle = op->operand_count > 0 ? op->operands[0]->op : NULL;
  const hx_attribute_t *symbol =
      handle != NULL && handle->info->id == HX_OP_RESOURCE_REF ? hx_attrs_find(handle->attrs, "symbol") : NULL;
  return symbol == NULL || hx_str_equal(symbol->text, reader->group);
}

static hx_status_t read_collective(hx_sequence_reader_t *reader, const hx_ir_op_t *op) {
  if (!is_of_group(reader, op)) return HX_STATUS_OK;
  HX_TRY(check_ranks(reader, op));
  hx_text_t facts;
  hx_text_init(&facts);
  int64_t peer = 0;
  hx_collective_t step = {.role = HX_COLLECTIVE_ALL};
  if (op->info->id == HX_OP_DISTRIBUTED_SEND) step.role = HX_COLLECTIVE_SEND;
  if (op->info->id == HX_OP_DISTRIBUTED_RECEIVE) step.role = HX_COLLECTIVE_RECEIVE;
  if (step.role != HX_COLLECTIVE_ALL)
    (void)hx_attrs_get_i64(op->attrs, step.role == HX_COLLECTIVE_SEND ? "to" : "from", &peer);
  step.peer = (uint32_t)peer;
  const hx_volume_t volume = hx_collective_volume(op, reader->ring, reader->rank, reader->size);
  step.payload = volume.payload;
  step.sent = volume.sent;
  step.received = volume.received;
  // Partners of a send have other attributes (to, from): the type is what they share.
  hx_status_t status = HX_STATUS_OK;
  if (step.role == HX_COLLECTIVE_ALL) {
    status = print_facts(op, &facts);
  } else {
    status = hx_type_print(op->result_count > 0 ? op->results[0]->type : op->operands[1]->type, &facts);
    if (facts.failed) status = HX_STATUS_OUT_OF_MEMORY;
  }
  if (status == HX_STATUS_OK) status = add_step(reader, op, step, facts.data);
  hx_text_deinit(&facts);
  return status;
}

// ------------------------------------------------------------------ the walk

static hx_status_t want_no_collective(hx_ir_op_t *op, void *argument) {
  (void)argument;
  return op->info->effect == HX_EFFECT_COLLECTIVE ? HX_STATUS_INVALID : HX_STATUS_OK;
}

static hx_status_t read_block(hx_sequence_reader_t *reader, const hx_ir_block_t *block);

// A loop or branch with collectives in it: how often it turns is a fact where it is known.
static hx_status_t read_regions(hx_sequence_reader_t *reader, hx_ir_op_t *op) {
  if (hx_ir_walk(op, want_no_collective, NULL) == HX_STATUS_OK) return HX_STATUS_OK;
  const uint64_t times = reader->times;
  const bool was_exact = reader->is_exact;
  bool is_exact = true;
  const uint64_t trips = op->info->id == HX_OP_SCF_IF ? 1 : hx_op_trips(op, &is_exact);
  if (op->info->id == HX_OP_SCF_IF) is_exact = false;
  hx_text_t facts;
  hx_text_init(&facts);
  if (is_exact) hx_text_printf(&facts, "%llu turns", (unsigned long long)trips);
  hx_status_t status = facts.failed ? HX_STATUS_OUT_OF_MEMORY
                                    : add_step(reader, op, (hx_collective_t){.role = HX_COLLECTIVE_ENTER}, facts.data);
  hx_text_deinit(&facts);
  uint64_t product;
  reader->times = __builtin_mul_overflow(times, trips, &product) ? UINT64_MAX : product;
  reader->is_exact = was_exact && is_exact;
  for (size_t i = 0; i < op->region_count && status == HX_STATUS_OK; ++i) {
    if (i > 0) status = add_step(reader, op, (hx_collective_t){.role = HX_COLLECTIVE_NEXT}, NULL);
    if (status == HX_STATUS_OK) status = read_block(reader, op->regions[i]->block);
  }
  reader->times = times;
  reader->is_exact = was_exact;
  return status == HX_STATUS_OK ? add_step(reader, op, (hx_collective_t){.role = HX_COLLECTIVE_LEAVE}, NULL) : status;
}

static hx_status_t read_block(hx_sequence_reader_t *reader, const hx_ir_block_t *block) {
  for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    if (op->info->id == HX_OP_CALL)
      return hx_report_fail_at(reader->report, HX_CODE_PASS, reader->program->source, op->line, op->column,
                               "func.call: collectives are not followed into functions; run inline{only=main} first");
    if (op->info->effect == HX_EFFECT_COLLECTIVE) {
      HX_TRY(read_collective(reader, op));
    } else if (op->region_count > 0) {
      HX_TRY(read_regions(reader, op));
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_collectives_read(const hx_program_t *program, const hx_ring *ring, hx_str_t group, uint32_t rank,
                                uint32_t size, hx_collectives_t **out, hx_report_t *report) {
  hx_collectives_t *collectives = hx_zalloc(1, sizeof *collectives);
  if (collectives == NULL)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a sequence of collectives");
  hx_arena_init(&collectives->arena);
  hx_text_init(&collectives->text);
  hx_sequence_reader_t reader = {.program = program,
                                 .ring = ring,
                                 .group = group,
                                 .rank = rank,
                                 .size = size,
                                 .out = collectives,
                                 .report = report,
                                 .times = 1,
                                 .is_exact = true};
  const hx_ir_op_t *entry = hx_program_find(program, "main");
  hx_status_t status = HX_STATUS_OK;
  if (entry == NULL)
    status = hx_report_fail(report, HX_CODE_PASS, "%s: there is no @main whose collectives could be read",
                            program->source == NULL ? "program" : program->source);
  if (status == HX_STATUS_OK) status = read_block(&reader, hx_func_block(entry));
  if (status == HX_STATUS_OUT_OF_MEMORY)
    (void)hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a sequence of collectives");
  if (status != HX_STATUS_OK) {
    hx_collectives_release(collectives);
    return status;
  }
  *out = collectives;
  return HX_STATUS_OK;
}
