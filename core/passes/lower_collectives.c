// SPDX-License-Identifier: Apache-2.0
// lower-collectives - what is said of ciphertexts and rows, in the collectives that a plugin's table has:
//   all_reduce_add_ciphertext  all_reduce whose region is rns.add
//   gather_limbs               one broadcast from every rank that owns rows, and concat_limbs
//   scatter_limbs              send from the root to every other rank that owns rows, receive there
// In: a verified program of one rank, types complete. Keeps: results bit for bit (the region adds mod each prime from
// rank 0 up, as the sum does; rows are moved), their types, the order of collectives. broadcast, all_reduce,
// all_gather, send and receive stay. Legal everywhere: every rank lowers the same collective at the same place, so the
// ranks meet as before; works inside regions.
#include "core/passes/shard.h"

typedef struct hx_lowered {
  hx_shard_t shard;  // what it builds with
  bool changed;
} hx_lowered_t;

// Rows of a gather or scatter, by owner.
typedef struct hx_owned_rows {
  uint32_t ranks[HX_PRIMES_MAX];  // that own rows, ascending
  hx_primes_t rows[HX_PRIMES_MAX];
  size_t count;
  uint32_t rank, root;
} hx_owned_rows_t;

static void read_rows(const hx_ir_op_t *op, hx_owned_rows_t *out) {
  const hx_attribute_t *ids = hx_attrs_find(op->attrs, "ids"), *owners = hx_attrs_find(op->attrs, "owners");
  int64_t rank = 0, root = 0;
  (void)hx_attrs_get_i64(op->attrs, "rank", &rank);
  (void)hx_attrs_get_i64(op->attrs, "root", &root);
  *out = (hx_owned_rows_t){.rank = (uint32_t)rank, .root = (uint32_t)root};
  for (size_t i = 0; i < ids->count; ++i) {
    const uint32_t owner = (uint32_t)owners->list[i].integer;
    size_t at = 0;
    while (at < out->count && out->ranks[at] < owner) ++at;
    if (at == out->count || out->ranks[at] != owner) {
      for (size_t k = out->count++; k > at; --k) {
        out->ranks[k] = out->ranks[k - 1];
        out->rows[k] = out->rows[k - 1];
      }
      out->ranks[at] = owner;
      out->rows[at] = (hx_primes_t){0};
    }
    hx_primes_add(&out->rows[at], (uint32_t)ids->list[i].integer);
  }
}

// The type of some rows of a value, as a tensor.
static void type_of_rows(const hx_lowered_t *lowered, const hx_type_t *whole, const hx_primes_t *rows, hx_type_t *out) {
  const hx_ring *ring = lowered->shard.env->ring;
  hx_type_init(out, HX_TYPE_TENSOR);
  if (whole->kind == HX_TYPE_TENSOR) {
    hx_type_copy(out, whole);
  } else {
    for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
      if ((hx_type_parts(HX_TYPE_TENSOR) & hx_part_bit(part)) != 0) hx_part_copy(part, out, whole);
    }
  }
  hx_type_set_primes(out, rows);
  if (ring == NULL) return;
  hx_type_set_word(out, HX_PART_DTYPE, ring->word == 32 ? HX_U32 : HX_U64);
  uint32_t basis = 0, ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(rows, ids);
  for (uint32_t i = 0; i < count; ++i) basis |= ids[i] < ring->q_count ? HX_BASIS_Q : HX_BASIS_P;  // constants are bits
  hx_type_set_word(out, HX_PART_BASIS, basis);
}

static void replace(hx_lowered_t *lowered, hx_ir_op_t *op, hx_ir_value_t *value) {
  if (lowered->shard.status != HX_STATUS_OK) return;
  if (op->result_count > 0 && value != NULL) {
    value->name = op->results[0]->name;
    hx_ir_replace_uses_in(lowered->shard.func, op->results[0], value);
  }
  hx_ir_remove(op);
  lowered->changed = true;
}

static hx_ir_value_t *operand_of(const hx_ir_op_t *op) { return op->operand_count > 1 ? op->operands[1] : NULL; }

// ------------------------------------------------------------------ rules

static hx_status_t build_region(hx_lowered_t *lowered, hx_ir_op_t *reduce, const hx_type_t *type) {
  hx_program_t *program = lowered->shard.program;
  hx_ir_block_t *block = reduce->regions[0]->block;
  hx_ir_value_t *values[2];
  hx_ir_op_t *op;
  for (size_t i = 0; i < 2; ++i) HX_TRY(hx_ir_add_argument(program, block, type, &values[i]));
  HX_TRY(hx_ir_create(program, HX_OP_RNS_ADD, values, 2, type, 1, (hx_attrs_t){0}, 0, &op));
  hx_ir_insert(block, NULL, op);
  HX_TRY(hx_ir_create(program, HX_OP_DISTRIBUTED_YIELD, op->results, 1, NULL, 0, (hx_attrs_t){0}, 0, &op));
  hx_ir_insert(block, NULL, op);
  return HX_STATUS_OK;
}

static void lower_sum(hx_lowered_t *lowered, hx_ir_op_t *op) {
  hx_ir_op_t *reduce = NULL;
  hx_shard_fail(&lowered->shard, hx_ir_create(lowered->shard.program, HX_OP_DISTRIBUTED_ALL_REDUCE, op->operands,
                                              op->operand_count, op->results[0]->type, 1, op->attrs, 1, &reduce));
  if (lowered->shard.status != HX_STATUS_OK) return;
  reduce->line = op->line;
  reduce->column = op->column;
  hx_ir_insert(op->block, op, reduce);
  hx_shard_fail(&lowered->shard, build_region(lowered, reduce, op->results[0]->type));
  replace(lowered, op, reduce->results[0]);
}

static void lower_gather(hx_lowered_t *lowered, hx_ir_op_t *op) {
  hx_shard_t *shard = &lowered->shard;
  hx_owned_rows_t rows;
  hx_ir_value_t *parts[HX_PRIMES_MAX];
  read_rows(op, &rows);
  for (size_t i = 0; i < rows.count; ++i) {
    hx_type_t type;
    type_of_rows(lowered, op->results[0]->type, &rows.rows[i], &type);
    const hx_named_attr_t root = hx_shard_number("root", rows.ranks[i]);
    parts[i] = hx_shard_collective(shard, op, HX_OP_DISTRIBUTED_BROADCAST,
                                   rows.ranks[i] == rows.rank ? operand_of(op) : NULL, &root, 1, &type);
  }
  replace(lowered, op,
          hx_shard_build(shard, op, HX_OP_RNS_CONCAT_LIMBS, parts, rows.count, NULL, 0, op->results[0]->type));
}

static void send_rows(hx_lowered_t *lowered, hx_ir_op_t *op, hx_ir_value_t *part, uint32_t to) {
  hx_shard_t *shard = &lowered->shard;
  const hx_named_attr_t item = hx_shard_number("to", to);
  hx_ir_value_t *const operands[] = {shard->group, part};
  hx_attrs_t attrs;
  hx_ir_op_t *send = NULL;
  if (shard->status != HX_STATUS_OK) return;
  hx_shard_fail(shard, hx_program_attrs(shard->program, &item, 1, &attrs));
  if (shard->status == HX_STATUS_OK)
    hx_shard_fail(shard, hx_ir_create(shard->program, HX_OP_DISTRIBUTED_SEND, operands, 2, NULL, 0, attrs, 0, &send));
  if (send == NULL) return;
  send->line = op->line;
  send->column = op->column;
  hx_ir_insert(op->block, op, send);
}

static void lower_scatter(hx_lowered_t *lowered, hx_ir_op_t *op) {
  hx_shard_t *shard = &lowered->shard;
  hx_owned_rows_t rows;
  hx_ir_value_t *whole = operand_of(op), *own = NULL;
  read_rows(op, &rows);
  for (size_t i = 0; i < rows.count; ++i) {
    const bool is_mine = rows.ranks[i] == rows.rank;
    if (rows.rank == rows.root) {
      const hx_named_attr_t ids = hx_shard_ids(shard, "ids", &rows.rows[i]);
      hx_ir_value_t *part = hx_shard_build(shard, op, HX_OP_RNS_SELECT_LIMBS, &whole, 1, &ids, 1, NULL);
      if (is_mine) {
        own = part;
      } else if (part != NULL) {
        send_rows(lowered, op, part, rows.ranks[i]);
      }
    } else if (is_mine) {
      const hx_named_attr_t from = hx_shard_number("from", rows.root);
      own = hx_shard_collective(shard, op, HX_OP_DISTRIBUTED_RECEIVE, NULL, &from, 1, op->results[0]->type);
    }
  }
  replace(lowered, op, own);
}

static const struct {
  hx_op_id_t id;
  void (*lower)(hx_lowered_t *lowered, hx_ir_op_t *op);
} rules[] = {{HX_OP_DISTRIBUTED_ALL_REDUCE_ADD, lower_sum},
             {HX_OP_DISTRIBUTED_GATHER_LIMBS, lower_gather},
             {HX_OP_DISTRIBUTED_SCATTER_LIMBS, lower_scatter}};

static bool has_open_state(const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->result_count; ++i) {
    if (!hx_type_is_complete(op->results[i]->type)) return true;
  }
  return false;
}

static hx_status_t visit(hx_ir_op_t *op, void *argument) {
  hx_lowered_t *lowered = argument;
  hx_shard_t *shard = &lowered->shard;
  if (op->info->id == HX_OP_FUNC) shard->func = op;
  for (size_t i = 0; i < HX_COUNT_OF(rules); ++i) {
    if (rules[i].id != op->info->id) continue;
    shard->op = op;
    shard->group = op->operands[0];
    if (has_open_state(op)) {
      hx_shard_refuse(shard, HX_CODE_TYPE, "its state is not complete; run infer-state before lower-collectives");
    } else {
      rules[i].lower(lowered, op);
    }
    return shard->status;
  }
  return HX_STATUS_OK;
}

hx_status_t hx_pass_lower_collectives(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_lowered_t lowered = {.shard = {.program = program, .env = env}};
  const hx_status_t status = hx_ir_walk(program->module, visit, &lowered);
  *out_changed = lowered.changed;
  return status;
}
