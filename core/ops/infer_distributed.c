// SPDX-License-Identifier: Apache-2.0
// Inference of the distributed dialect. Programs are local to a rank: where rows or items are spread over the ranks,
// attributes say how all of them lie and which rank this program is for.
#include <string.h>

#include "core/ops/infer.h"

static hx_status_t want_group(const hx_infer_t *call) {
  const hx_type_t *group = call->operands[0];
  if (group->name[0] == '\0' || strcmp(group->name, "process-group") == 0) return HX_STATUS_OK;
  return hx_infer_refuse(call, HX_CODE_TYPE, "use a resource.ref of kind \"process-group\"",
                         "operand group is a handle of kind \"%s\", not of a process group", group->name);
}

static bool has_value(const hx_infer_t *call) { return call->operand_count > 1; }

// The written type is all that is known of a value that others bring.
static hx_status_t take_written(hx_infer_t *call, const char *why) {
  const hx_type_t *written = call->written == NULL ? NULL : call->written[0];
  if (written == NULL || written->kind == HX_TYPE_NONE)
    return hx_infer_fail(call, HX_CODE_TYPE, "result 0 needs a written type: %s", why);
  hx_type_copy(&call->results[0], written);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_distributed_number(hx_infer_t *call) {
  HX_TRY(want_group(call));
  hx_type_init(&call->results[0], HX_TYPE_INTEGER);
  call->results[0].bits = 64;
  return HX_STATUS_OK;
}

hx_status_t hx_infer_distributed_broadcast(hx_infer_t *call) {
  HX_TRY(want_group(call));
  if (!has_value(call)) return take_written(call, "this rank brings no value that would say it");
  hx_type_copy(&call->results[0], call->operands[1]);
  return HX_STATUS_OK;
}

// Sums are defined on standard residues: lazy ones would leave their range.
hx_status_t hx_infer_distributed_reduce(hx_infer_t *call) {
  HX_TRY(want_group(call));
  hx_state_t state;
  hx_state_load(call, 1, call->operands[1]->kind, &state);
  if (call->op->id == HX_OP_DISTRIBUTED_ALL_REDUCE_ADD) HX_TRY(hx_state_want(call, &state, HX_PART_REPR, HX_STANDARD));
  hx_type_copy(&call->results[0], &state.type);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_distributed_send(hx_infer_t *call) { return want_group(call); }

hx_status_t hx_infer_distributed_receive(hx_infer_t *call) {
  HX_TRY(want_group(call));
  return take_written(call, "nothing else says what is received");
}

// ------------------------------------------------------------------ rows

// All rows, and those of this rank.
typedef struct spread {
  hx_primes_t whole, own;
} spread_t;

static hx_status_t read_spread(const hx_infer_t *call, spread_t *out) {
  const hx_attribute_t *ids = hx_attrs_find(call->attrs, "ids"), *owners = hx_attrs_find(call->attrs, "owners");
  const int64_t rank = hx_infer_integer(call, "rank", 0);
  memset(out, 0, sizeof *out);
  if (owners->count != ids->count)
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute owners has %zu ranks for the %zu rows of attribute ids",
                         owners->count, ids->count);
  for (size_t i = 0; i < ids->count; ++i) {
    const int64_t owner = owners->list[i].integer;
    if (owner < 0 || owner >= HX_RANKS_MAX)
      return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute owners has rank %lld, outside [0, %d]", (long long)owner,
                           HX_RANKS_MAX - 1);
    const uint32_t id = (uint32_t)ids->list[i].integer;
    hx_primes_add(&out->whole, id);
    if (owner == rank) hx_primes_add(&out->own, id);
  }
  const uint32_t count = call->ring == NULL ? HX_PRIMES_MAX : call->ring->q_count + call->ring->p_count;
  const hx_primes_t all = hx_primes_range(0, count);
  if (hx_primes_contain(&all, &out->whole)) return HX_STATUS_OK;
  return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute ids reaches beyond the prime ids 0 to %u of the parameters",
                       count - 1);
}

static hx_status_t want_rows(const hx_infer_t *call, const hx_state_t *state, const hx_primes_t *rows,
                             const char *what) {
  if (!hx_type_knows(&state->type, HX_PART_PRIMES) || hx_primes_equal(&state->type.primes, rows)) return HX_STATUS_OK;
  return hx_infer_refuse(call, HX_CODE_PRIMES, "attributes ids, owners and rank say which rows are whose",
                         "operand value does not lie on %s: it has %u rows, %u are meant", what,
                         hx_primes_count(&state->type.primes), hx_primes_count(rows));
}

// The operand as a tensor, or what the written result says of it; then on other rows.
static hx_status_t change_rows(hx_infer_t *call, const hx_primes_t *from, const char *what, const hx_primes_t *to) {
  if (!has_value(call)) {
    HX_TRY(take_written(call, "this rank brings no value that would say it"));
    hx_type_t *result = &call->results[0];
    if (!hx_type_knows(result, HX_PART_PRIMES)) hx_type_set_primes(result, to);
    if (hx_primes_equal(&result->primes, to)) return HX_STATUS_OK;
    return hx_infer_fail(call, HX_CODE_PRIMES, "its result is written with %u rows, %u follow from its attributes",
                         hx_primes_count(&result->primes), hx_primes_count(to));
  }
  hx_state_t state;
  hx_state_load(call, 1, HX_TYPE_TENSOR, &state);
  HX_TRY(want_rows(call, &state, from, what));
  const bool same = hx_type_knows(&state.type, HX_PART_BASIS) && state.type.basis != HX_BASIS_QP;
  const uint32_t basis = state.type.basis;
  hx_state_set_rows(call, &state, to);
  if (same && call->ring == NULL) hx_type_set_word(&state.type, HX_PART_BASIS, basis);
  hx_type_copy(&call->results[0], &state.type);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_distributed_scatter(hx_infer_t *call) {
  spread_t spread;
  HX_TRY(want_group(call));
  HX_TRY(read_spread(call, &spread));
  const bool is_root = hx_infer_integer(call, "root", 0) == hx_infer_integer(call, "rank", 0);
  if (is_root && !has_value(call))
    return hx_infer_fail(call, HX_CODE_OPERANDS, "operand value is missing on rank root, whose value it is");
  const bool has_rows = hx_primes_count(&spread.own) > 0;
  HX_TRY(hx_infer_want_results(call, has_rows ? 1 : 0, has_rows ? "the rank's rows" : "the rank has no rows"));
  return has_rows ? change_rows(call, &spread.whole, "the rows of attribute ids", &spread.own) : HX_STATUS_OK;
}

hx_status_t hx_infer_distributed_gather(hx_infer_t *call) {
  spread_t spread;
  HX_TRY(want_group(call));
  HX_TRY(read_spread(call, &spread));
  const bool has_rows = hx_primes_count(&spread.own) > 0;
  if (has_rows != has_value(call))
    return hx_infer_fail(call, HX_CODE_OPERANDS,
                         has_rows ? "operand value is missing, but the rank owns %u rows"
                                  : "operand value is there, but the rank owns %u rows",
                         hx_primes_count(&spread.own));
  return change_rows(call, &spread.own, "the rank's rows", &spread.whole);
}

// ------------------------------------------------------------------ items

hx_status_t hx_infer_distributed_all_gather(hx_infer_t *call) {
  HX_TRY(want_group(call));
  const hx_attribute_t *counts = hx_attrs_find(call->attrs, "counts");
  const int64_t rank = hx_infer_integer(call, "rank", 0);
  uint64_t total = 0;
  for (size_t i = 0; i < counts->count; ++i) {
    const int64_t count = counts->list[i].integer;
    if (count < 0 || (uint64_t)count > HX_BATCH_ITEMS_MAX)
      return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute counts has %lld items, outside [0, 2^32]",
                           (long long)count);
    total += (uint64_t)count;  // at most 65536 * 2^32
  }
  if (total == 0 || total > HX_BATCH_ITEMS_MAX)
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute counts has %llu items in all, outside [1, 2^32]",
                         (unsigned long long)total);
  if (counts->count > HX_RANKS_MAX || (uint64_t)rank >= counts->count)
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute counts is for %zu ranks, attribute rank is %lld",
                         counts->count, (long long)rank);
  const uint64_t own = (uint64_t)counts->list[rank].integer;
  if ((own > 0) != has_value(call))
    return hx_infer_fail(call, HX_CODE_OPERANDS,
                         own > 0 ? "operand value is missing, but the rank has %llu items"
                                 : "operand value is there, but the rank has %llu items",
                         (unsigned long long)own);
  if (own == 0) return take_written(call, "this rank brings no value that would say it");
  hx_state_t state;
  hx_state_load(call, 1, call->operands[1]->kind, &state);
  if (hx_type_knows(&state.type, HX_PART_BATCH)) {
    if (state.type.batch_rank == 0 || state.type.batch_shape[0] != own)
      return hx_infer_refuse(call, HX_CODE_SHAPE, "a value without a batch gets one of 1 item before it is gathered",
                             "operand value has %llu items along its first batch axis, attribute counts says %llu",
                             (unsigned long long)(state.type.batch_rank == 0 ? 0 : state.type.batch_shape[0]),
                             (unsigned long long)own);
    uint64_t shape[HX_BATCH_RANK_MAX];
    memcpy(shape, state.type.batch_shape, sizeof shape);
    shape[0] = total;
    hx_type_set_batch(&state.type, state.type.batch_rank, shape);
  }
  hx_type_copy(&call->results[0], &state.type);
  return HX_STATUS_OK;
}
