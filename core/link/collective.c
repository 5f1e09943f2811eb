// SPDX-License-Identifier: Apache-2.0
// Collectives of a program. Each is a step of its own: what was enqueued before it is waited for, its operand goes to
// pinned memory, all ranks compare what they are about to do, the plugin of the group moves bytes, and the result goes
// to its place. The region of a reduction is linked apart, to the backend that computes, and handed over as a callable.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/link/group.h"
#include "core/link/trace.h"

#define FACTS_MAX 512u  // of one collective

struct hx_exchange {
  hx_group_t *group;  // the backend's
  hx_op_id_t op;
  uint32_t peer;      // root, from, to
  char *facts;        // what every rank must bring
  uint64_t bytes;     // of this rank's operand, dense
  uint64_t received;  // of the whole result, dense
  uint64_t *sizes;    // all_gather: [group size]
  // Reductions.
  hx_executable_t *combine;
  hx_value_t *sums[2], *incoming;  // on the device
};

static hx_group_t *group_of(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_ir_op_t *reference = op->operands[0]->op;
  if (reference == NULL || reference->info->id != HX_OP_RESOURCE_REF) {
    hx_link_fail(linker, op, HX_CODE_UNSUPPORTED, "operand group has to come from a resource.ref at once");
    return NULL;
  }
  const hx_named_resource_t *found =
      hx_backend_resource(linker->exe->backend, hx_attrs_find(reference->attrs, "symbol")->text);
  return found == NULL || strcmp(found->kind, "process-group") != 0 ? NULL : found->handle;  // told at the reference
}

hx_status_t hx_link_group_number(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_group_t *group = group_of(linker, op);
  if (group == NULL) return HX_STATUS_OK;
  return hx_link_number_constant(linker, op, op->info->id == HX_OP_DISTRIBUTED_RANK ? group->rank : group->size);
}

// ------------------------------------------------------------------ what a rank-local program says of itself

static bool check_rank(hx_linker_t *linker, const hx_ir_op_t *op, const char *name, const hx_group_t *group,
                       uint32_t *out) {
  int64_t rank = 0;
  if (!hx_attrs_get_i64(op->attrs, name, &rank)) return true;
  *out = (uint32_t)rank;
  if (rank < group->size) return true;
  hx_link_fail(linker, op, HX_CODE_RANK_MISMATCH, "attribute %s is rank %lld, but the group has %u ranks", name,
               (long long)rank, group->size);
  return false;
}

static bool check_ranks(hx_linker_t *linker, const hx_ir_op_t *op, const hx_group_t *group, uint32_t *out_peer) {
  uint32_t rank = group->rank;
  *out_peer = group->rank;
  if (!check_rank(linker, op, "root", group, out_peer) || !check_rank(linker, op, "to", group, out_peer) ||
      !check_rank(linker, op, "from", group, out_peer) || !check_rank(linker, op, "rank", group, &rank))
    return false;
  const hx_op_id_t id = op->info->id;
  const bool is_pair = id == HX_OP_DISTRIBUTED_SEND || id == HX_OP_DISTRIBUTED_RECEIVE;
  const hx_attribute_t *counts = hx_attrs_find(op->attrs, "counts");
  if (rank != group->rank) {
    hx_link_fail(linker, op, HX_CODE_RANK_MISMATCH, "the program is rank %u's, this process is rank %u", rank,
                 group->rank);
  } else if (counts != NULL && counts->count != group->size) {
    hx_link_fail(linker, op, HX_CODE_RANK_MISMATCH, "the program is for %zu ranks, the group has %u", counts->count,
                 group->size);
  } else if (is_pair && *out_peer == group->rank) {
    hx_link_fail(linker, op, HX_CODE_RANK_MISMATCH, "rank %u does not send to itself", group->rank);
  } else if (id == HX_OP_DISTRIBUTED_BROADCAST && op->operand_count < 2 && *out_peer == group->rank) {
    hx_link_fail(linker, op, HX_CODE_OPERANDS, "operand value is missing on rank %u, whose value it is", *out_peer);
  } else {
    return true;
  }
  return false;
}

static hx_status_t check_op(hx_ir_op_t *op, void *argument) {
  hx_linker_t *linker = argument;
  if (op->info->effect != HX_EFFECT_COLLECTIVE) return HX_STATUS_OK;
  const hx_group_t *group = group_of(linker, op);
  uint32_t peer = 0;
  if (group != NULL) (void)check_ranks(linker, op, group, &peer);
  return linker->first_status == HX_STATUS_OUT_OF_MEMORY ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

hx_status_t hx_link_check_ranks(hx_linker_t *linker) {
  return hx_ir_walk(linker->exe->program->module, check_op, linker);
}

static uint32_t peer_of(const hx_ir_op_t *op) {
  int64_t peer = 0;
  if (!hx_attrs_get_i64(op->attrs, "root", &peer) && !hx_attrs_get_i64(op->attrs, "to", &peer))
    (void)hx_attrs_get_i64(op->attrs, "from", &peer);
  return (uint32_t)peer;
}

// Equal on all ranks that meet in the collective: name, root, items, and the type of what they all get.
static char *facts_of(const hx_exchange_t *exchange, const hx_ir_op_t *op, const hx_params_t *params) {
  hx_text_t text;
  hx_text_init(&text);
  const bool is_pair = exchange->op == HX_OP_DISTRIBUTED_SEND || exchange->op == HX_OP_DISTRIBUTED_RECEIVE;
  hx_text_puts(&text, is_pair ? "distributed.send" : op->info->name);
  if (exchange->op == HX_OP_DISTRIBUTED_BROADCAST) hx_text_printf(&text, " root %u", exchange->peer);
  const hx_attribute_t *counts = hx_attrs_find(op->attrs, "counts");
  for (size_t i = 0; counts != NULL && i < counts->count; ++i)
    hx_text_printf(&text, "%s%lld", i == 0 ? " counts " : ",", (long long)counts->list[i].integer);
  hx_text_puts(&text, " ");
  (void)hx_type_print(op->result_count > 0 ? op->results[0]->type : op->operands[1]->type, &text);
  hx_text_printf(&text, " parameters %s", hx_params_digest_hex(params));
  char *kept = text.failed ? NULL : hx_strdup(text.data);
  hx_text_deinit(&text);
  return kept;
}

// ------------------------------------------------------------------ combine regions

static hx_status_t fill_combine(const hx_ir_op_t *op, hx_program_t *program, hx_ir_map_t *map) {
  const hx_ir_block_t *body = op->regions[0]->block;
  const hx_type_t *type = op->operands[1]->type;
  hx_ir_op_t *func = NULL;
  const hx_attribute_t name = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")};
  const hx_type_t *types[3] = {type, type, type};
  const hx_attribute_t signature = {.kind = HX_ATTRIBUTE_TYPE, .types = types, .input_count = 2, .result_count = 1};
  const hx_named_attr_t items[] = {{.name = hx_str("function_type"), .value = signature},
                                   {.name = hx_str("sym_name"), .value = name}};
  hx_attrs_t attrs, none = {0};
  HX_TRY(hx_program_attrs(program, items, HX_COUNT_OF(items), &attrs));
  HX_TRY(hx_ir_create(program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &func));
  hx_ir_insert(program->module->regions[0]->block, NULL, func);
  hx_ir_block_t *block = hx_func_block(func);
  for (size_t i = 0; i < 2; ++i) {
    hx_ir_value_t *argument = NULL;
    HX_TRY(hx_ir_add_argument(program, block, type, &argument));
    HX_TRY(hx_ir_map_set(map, body->arguments[i], argument));
  }
  for (const hx_ir_op_t *inner = body->first; inner != body->last; inner = inner->next) {
    hx_ir_op_t *copy = NULL;
    HX_TRY(hx_ir_import_op(program, inner, map, &copy));
    hx_ir_insert(block, NULL, copy);
  }
  hx_ir_value_t *result = hx_ir_map_get(map, body->last->operands[0]);
  hx_ir_op_t *last = NULL;
  HX_TRY(hx_ir_create(program, HX_OP_RETURN, &result, 1, NULL, 0, none, 0, &last));
  hx_ir_insert(block, NULL, last);
  return hx_func_refresh_type(program, func);
}

// The region as a program of its own: (sum, value) to the new sum. Nothing in it is left to lower.
static hx_status_t link_combine(hx_linker_t *linker, const hx_ir_op_t *op, hx_exchange_t *exchange) {
  hx_executable_t *exe = linker->exe;
  hx_program_t *program = NULL;
  hx_ir_map_t map;
  HX_TRY(hx_program_create(exe->program->source, &program));
  hx_ir_map_init(&map);
  hx_status_t status = fill_combine(op, program, &map);
  hx_ir_map_deinit(&map);
  if (status == HX_STATUS_OK) status = hx_program_refresh(program, linker->report);
  const hx_link_source_t source = {.program = program, .params = exe->params};
  const hx_link_options_t options = {.is_lowered = true, .place_materials = true};
  if (status == HX_STATUS_OK) {
    status = hx_link_program(&source, exe->backend, &options, &exchange->combine, linker->report);
    if (status != HX_STATUS_OK) status = hx_link_count(linker, status);
  }
  hx_program_release(program);
  if (status != HX_STATUS_OK || exchange->combine == NULL) return status;
  hx_value_t **const values[] = {&exchange->sums[0], &exchange->sums[1], &exchange->incoming};
  for (size_t i = 0; i < HX_COUNT_OF(values); ++i) {
    status = hx_value_create_on(exe->device, exe->params, op->operands[1]->type, false, values[i], linker->report);
    if (status != HX_STATUS_OK) return hx_link_count(linker, status);
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ steps

static uint64_t dense_bytes(const hx_layout_t *layout) {
  return hx_layout_elements(layout) * hx_dtype_bytes(layout->dtype);
}

static hx_status_t alloc_exchange(hx_linker_t *linker, const hx_ir_op_t *op, hx_group_t *group, hx_exchange_t **out) {
  hx_exchange_t *exchange = hx_arena_alloc(&linker->exe->arena, sizeof *exchange);
  if (exchange == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *exchange = (hx_exchange_t){.group = group, .op = op->info->id, .peer = peer_of(op)};
  exchange->sizes = hx_arena_alloc(&linker->exe->arena, group->size * sizeof *exchange->sizes);
  exchange->facts = facts_of(exchange, op, linker->exe->params);
  if (exchange->facts == NULL || exchange->sizes == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *out = exchange;
  return HX_STATUS_OK;
}

// Shares of a gather: of equal bytes an item.
static void set_sizes(hx_exchange_t *exchange, const hx_ir_op_t *op) {
  const hx_attribute_t *counts = hx_attrs_find(op->attrs, "counts");
  uint64_t total = 0;
  if (counts == NULL) return;
  for (size_t r = 0; r < counts->count; ++r) total += (uint64_t)counts->list[r].integer;
  for (size_t r = 0; r < counts->count; ++r)
    exchange->sizes[r] = exchange->received / total * (uint64_t)counts->list[r].integer;
}

static bool is_secret(const hx_linker_t *linker, const hx_ir_op_t *op) {
  return op->operand_count > 1 && linker->is_secret[op->operands[1]->id];
}

hx_status_t hx_link_collective(hx_linker_t *linker, const hx_ir_op_t *op) {
  hx_executable_t *exe = linker->exe;
  hx_group_t *group = group_of(linker, op);
  if (group == NULL || linker->fault_count > 0) return HX_STATUS_OK;  // told at the reference, or of the rank
  const hx_op_id_t id = op->info->id;
  if (id == HX_OP_DISTRIBUTED_SCATTER_LIMBS || id == HX_OP_DISTRIBUTED_GATHER_LIMBS ||
      id == HX_OP_DISTRIBUTED_ALL_REDUCE_ADD) {  // where no pass was asked for
    hx_link_fail(linker, op, HX_CODE_UNSUPPORTED, "it is written in other collectives by the pass lower-collectives");
    return HX_STATUS_OK;
  }
  if (is_secret(linker, op)) {
    hx_link_fail(linker, op, HX_CODE_CAPABILITY, "a secret value is not sent to other processes");
    return HX_STATUS_OK;
  }
  const uint32_t operand_count = op->operand_count > 1 ? 1 : 0, result_count = (uint32_t)op->result_count;
  const uint32_t from = operand_count == 0 ? HX_NONE : linker->slot_of[op->operands[1]->id];
  if (operand_count > 0 && from == HX_NONE) return HX_STATUS_OK;  // told where it is defined
  if (operand_count > 0 && !hx_link_check_site(linker, op, from, 0)) return HX_STATUS_OK;
  if (hx_link_site(linker, op) != 0) {
    hx_link_fail(linker, op, HX_CODE_DEVICE_MIX, "collectives work on %s, the first device of the backend",
                 exe->device->name);
    return HX_STATUS_OK;
  }
  hx_step_t *step;
  hx_exchange_t *exchange;
  HX_TRY(alloc_exchange(linker, op, group, &exchange));
  HX_TRY(hx_link_add_step(linker, HX_STEP_COLLECTIVE, op, operand_count, result_count, &step));
  const size_t index = exe->steps.count - 1;
  step->exchange = exchange;
  if (operand_count > 0) {
    step->operands[0] = from;
    exchange->bytes = dense_bytes(exe->slots[from].layout);
  }
  if (result_count > 0) {
    HX_TRY(hx_link_add_result_slot(linker, op->results[0]));
    const uint32_t to = linker->slot_of[op->results[0]->id];
    exe->steps.items[index].results[0] = to;
    exchange->received = dense_bytes(exe->slots[to].layout);
  }
  set_sizes(exchange, op);
  const uint64_t room = exchange->received > exchange->bytes ? exchange->received : exchange->bytes;
  if (room > exe->exchange_bytes) exe->exchange_bytes = room;
  return HX_STATUS_OK;
}

// Pinned memory for what goes out and what comes in; combine regions.
hx_status_t hx_link_exchanges(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  for (size_t i = 0; i < 2 && exe->exchange_bytes > 0; ++i) {
    hx_storage_t **storage = &exe->exchange_memory[i];
    HX_TRY(hx_link_count(
        linker, hx_device_alloc(exe->device, HX_SPACE_PINNED, exe->exchange_bytes, false, storage, linker->report)));
    if (*storage == NULL) return HX_STATUS_OK;
    if ((*storage)->address != NULL) continue;
    return hx_link_count(linker, hx_report_fail(linker->report, HX_CODE_PLUGIN_CALL,
                                                "%s gives pinned memory without an address", exe->device->name));
  }
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    if (step->kind != HX_STEP_COLLECTIVE || step->op->info->id != HX_OP_DISTRIBUTED_ALL_REDUCE) continue;
    HX_TRY(link_combine(linker, step->op, step->exchange));
  }
  return HX_STATUS_OK;
}

void hx_exchange_free(hx_exchange_t *exchange) {
  if (exchange == NULL) return;
  hx_free(exchange->facts);
  hx_executable_release(exchange->combine);
  hx_value_release(exchange->sums[0]);
  hx_value_release(exchange->sums[1]);
  hx_value_release(exchange->incoming);
}

const char *hx_exchange_plugin(const hx_exchange_t *exchange) { return exchange->group->plugin->record->name; }

// ------------------------------------------------------------------ runs

typedef struct exchanging {
  hx_running_t *run;
  const hx_step_t *step;
  hx_exchange_t *exchange;
  hx_span operand, result;
  unsigned char *mine, *incoming;  // pinned
  uint32_t current;                // of the sums
  bool is_begun;                   // the first value has come
  hx_callable callable;
} exchanging_t;

static hx_layout_t dense_of(const hx_layout_t *layout) {
  hx_layout_t dense = *layout;
  dense.has_rows = false;
  (void)hx_layout_pack(&dense);
  return dense;
}

// Between a slot and dense memory, waited for.
static hx_status_t move(const exchanging_t *x, const hx_layout_t *to_layout, hx_span to, const hx_layout_t *from_layout,
                        hx_span from) {
  const hx_executable_t *exe = x->run->exe;
  hx_error error = hx_error_make();
  int32_t result =
      hx_copy_rows(exe->device, x->run->instance->sites[0].queue, to_layout, to, from_layout, from, &error);
  if (result == HX_OK) result = exe->device->queue.sync(x->run->instance->sites[0].queue, &error);
  return hx_plugin_status(exe->device->plugin, result, &error, x->step->op->info->name, x->run->report);
}

static hx_status_t fetch_operand(const exchanging_t *x, uint32_t memory) {
  const hx_executable_t *exe = x->run->exe;
  if (x->step->operand_count == 0) return HX_STATUS_OK;
  const hx_layout_t *layout = exe->slots[x->step->operands[0]].layout;
  const hx_layout_t dense = dense_of(layout);
  return move(x, &dense, (hx_span){.buffer = exe->exchange_memory[memory]->buffer}, layout, x->operand);
}

static hx_status_t store_result(const exchanging_t *x, hx_span from) {
  const hx_layout_t *layout = x->run->exe->slots[x->step->results[0]].layout;
  const hx_layout_t dense = dense_of(layout);
  return move(x, layout, x->result, &dense, from);
}

// Called by the plugin of the group for each rank's value in turn.
static int32_t combine(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  exchanging_t *x = (exchanging_t *)(void *)prepared;
  hx_exchange_t *exchange = x->exchange;
  (void)call;
  hx_value_t *into = x->is_begun ? exchange->incoming : exchange->sums[0];
  hx_status_t status =
      hx_device_upload(x->run->exe->device, into->tensor->storage, 0, x->incoming, exchange->bytes, x->run->report);
  hx_tensor_touch(into->tensor);
  if (status == HX_STATUS_OK && x->is_begun) {
    const hx_value_t *const inputs[2] = {exchange->sums[x->current], exchange->incoming};
    hx_value_t *outputs[1] = {exchange->sums[1 - x->current]};
    status = hx_run(exchange->combine, inputs, outputs, x->run->report);
    x->current = 1 - x->current;
  }
  x->is_begun = true;
  if (status == HX_STATUS_OK) return HX_OK;
  snprintf(error->message, sizeof error->message, "the combine region failed");
  return HX_INTERNAL;
}

static int32_t all_reduce(exchanging_t *x, hx_error *error) {
  const hx_collective_ops *ops = x->exchange->group->plugin->table.collectives;
  x->callable = (hx_callable){.execute = combine, .prepared = (hx_prepared *)(void *)x};
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs), .queue = x->run->instance->sites[0].queue};
  const hx_reduction reduction = {.struct_size = HX_END_OF(hx_reduction, bytes),
                                  .combine = &x->callable,
                                  .call = &call,
                                  .mine = x->mine,
                                  .incoming = x->incoming,
                                  .bytes = x->exchange->bytes};
  return ops->all_reduce(x->exchange->group->handle, &reduction, error);
}

// The two ranks of a pair compare what they are about to do, as a group does.
static hx_status_t compare_pair(const exchanging_t *x) {
  const hx_exchange_t *exchange = x->exchange;
  const hx_collective_ops *ops = exchange->group->plugin->table.collectives;
  char mine[FACTS_MAX] = {0}, theirs[FACTS_MAX] = {0};
  snprintf(mine, sizeof mine, "%s", exchange->facts);
  hx_error error = hx_error_make();
  const bool sends = exchange->op == HX_OP_DISTRIBUTED_SEND;
  int32_t result = sends ? ops->send(exchange->group->handle, exchange->peer, mine, sizeof mine, &error)
                         : ops->receive(exchange->group->handle, exchange->peer, theirs, sizeof theirs, &error);
  if (result == HX_OK)
    result = sends ? ops->receive(exchange->group->handle, exchange->peer, theirs, sizeof theirs, &error)
                   : ops->send(exchange->group->handle, exchange->peer, mine, sizeof mine, &error);
  exchange->group->volume.calls += 1;
  HX_TRY(hx_group_status(exchange->group, result, &error, HX_CODE_RANK_MISMATCH, "compare what two ranks do",
                         x->run->report));
  theirs[sizeof theirs - 1] = '\0';
  if (strcmp(mine, theirs) == 0) return HX_STATUS_OK;
  return hx_report_fail(x->run->report, HX_CODE_RANK_MISMATCH, "rank %u: %s; rank %u: %.400s", exchange->group->rank,
                        mine, exchange->peer, theirs);
}

static hx_status_t agree(const exchanging_t *x) {
  const hx_exchange_t *exchange = x->exchange;
  if (exchange->op == HX_OP_DISTRIBUTED_SEND || exchange->op == HX_OP_DISTRIBUTED_RECEIVE) return compare_pair(x);
  return hx_group_compare(exchange->group, exchange->facts, strlen(exchange->facts), HX_CODE_RANK_MISMATCH,
                          "compare what all ranks do", x->run->report);
}

// Moves the payload. *out_memory: the pinned memory that then holds the result.
static hx_status_t transfer(exchanging_t *x, uint32_t *out_memory) {
  hx_exchange_t *exchange = x->exchange;
  hx_group_t *group = exchange->group;
  const hx_collective_ops *ops = group->plugin->table.collectives;
  hx_error error = hx_error_make();
  int32_t result = HX_INTERNAL;
  uint64_t sent = 0, received = 0;
  switch (exchange->op) {
    case HX_OP_DISTRIBUTED_BROADCAST:
      result = ops->broadcast(group->handle, exchange->peer, x->mine, exchange->received, &error);
      sent = group->rank == exchange->peer ? exchange->received : 0;
      received = group->rank == exchange->peer ? 0 : exchange->received;
      break;
    case HX_OP_DISTRIBUTED_ALL_GATHER:
      *out_memory = 1;
      result = ops->all_gather(group->handle, x->mine, x->incoming, exchange->sizes, &error);
      sent = exchange->bytes;
      received = exchange->received - exchange->bytes;
      break;
    case HX_OP_DISTRIBUTED_ALL_REDUCE:
      result = all_reduce(x, &error);
      sent = exchange->bytes;
      received = exchange->bytes * (group->size - 1);
      break;
    case HX_OP_DISTRIBUTED_SEND:
      result = ops->send(group->handle, exchange->peer, x->mine, exchange->bytes, &error);
      sent = exchange->bytes;
      break;
    default:
      result = ops->receive(group->handle, exchange->peer, x->mine, exchange->received, &error);
      received = exchange->received;
      break;
  }
  HX_TRY(hx_group_status(group, result, &error, HX_CODE_RANK_MISMATCH, x->step->op->info->name, x->run->report));
  group->volume.sent += sent;
  group->volume.received += received;
  return HX_STATUS_OK;
}

static hx_status_t exchange_values(exchanging_t *x) {
  const hx_executable_t *exe = x->run->exe;
  uint32_t memory = 0;
  HX_TRY(fetch_operand(x, 0));
  HX_TRY(agree(x));
  HX_TRY(transfer(x, &memory));
  if (x->step->result_count == 0) return HX_STATUS_OK;
  hx_span from = {.buffer = exe->exchange_memory[memory]->buffer};
  if (x->exchange->op == HX_OP_DISTRIBUTED_ALL_REDUCE) {
    const hx_tensor_t *sum = x->exchange->sums[x->current]->tensor;
    from = (hx_span){.offset = sum->offset};
    HX_TRY(hx_device_buffer(exe->device, sum->storage, "a sum of all ranks", &from.buffer, x->run->report));
  }
  return store_result(x, from);
}

static hx_status_t trace_exchange(const exchanging_t *x, uint64_t start) {
  hx_running_t *run = x->run;
  if (run->trace == NULL) return HX_STATUS_OK;
  const hx_trace_event_t event = {
      .call = run->calls,
      .operation = x->step->op->info->name,
      .implementation = hx_exchange_plugin(x->exchange),
      .value = x->step->result_count > 0 ? run->exe->slots[x->step->results[0]].name : "",
      .line = x->step->op->line,
      .start_ns = start,
      .duration_ns = hx_trace_now(run->trace) - start,
  };
  if (hx_trace_add(run->trace, &event) == HX_STATUS_OK) return HX_STATUS_OK;
  return hx_report_fail(run->report, HX_CODE_OUT_OF_MEMORY, "no memory for the trace of a run");
}

hx_status_t hx_run_collective(hx_running_t *run, size_t index) {
  const hx_executable_t *exe = run->exe;
  const hx_step_t *step = &exe->steps.items[index];
  const hx_call *call = &run->instance->calls[index];
  exchanging_t x = {.run = run, .step = step, .exchange = step->exchange};
  if (step->operand_count > 0) x.operand = call->inputs[0];
  if (step->result_count > 0) x.result = call->outputs[0];
  x.mine = exe->exchange_memory[0]->address;
  x.incoming = exe->exchange_memory[1]->address;
  const uint64_t start = run->trace == NULL ? 0 : hx_trace_now(run->trace);
  HX_TRY(hx_run_settle(run));
  HX_TRY(hx_group_enter(x.exchange->group, run->report));
  const hx_status_t status = exchange_values(&x);
  hx_group_leave(x.exchange->group);
  HX_TRY(status);
  return trace_exchange(&x, start);
}
