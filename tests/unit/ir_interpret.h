// SPDX-License-Identifier: Apache-2.0
// Runs the function @main of a program without control flow on the reference arithmetic: operations by
// hx_reference_execute, views by copying. Inputs, materials and keys are residues at random from their names, which is
// all that exact arithmetic needs: programs that compute the same give the same words.
#ifndef HELIOX_TESTS_UNIT_IR_INTERPRET_H
#define HELIOX_TESTS_UNIT_IR_INTERPRET_H

#include "core/link/region.h"
#include "ir_util.h"
#include "reference/reference.h"

typedef struct box {
  const hx_type_t *type;
  hx_primes_t primes;
  hx_layout_t layout;  // dense
  uint64_t *words;
} box_t;

typedef struct interpreter {
  const hx_ring *ring;
  hx_ref_ring *reference;
  box_t *boxes;  // by value id
  size_t count;
} interpreter_t;

static inline void box_make(const interpreter_t *run, const hx_type_t *type, const hx_primes_t *primes, uint32_t digits,
                            box_t *out) {
  *out = (box_t){.type = type, .primes = *primes};
  out->layout = (hx_layout_t){.dtype = HX_U64,
                              .log_n = run->ring->log_n,
                              .batch_rank = type->batch_rank,
                              .digits = digits,
                              .components = type->kind == HX_TYPE_KEY ? 2 : type->components,
                              .limbs = hx_primes_count(primes)};
  memcpy(out->layout.batch_shape, type->batch_shape, sizeof out->layout.batch_shape);
  const uint64_t elements = hx_layout_pack(&out->layout);
  assert_true(elements > 0);
  out->words = calloc(elements, sizeof *out->words);
  assert_non_null(out->words);
}

static inline uint64_t *box_row(const box_t *box, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb) {
  return box->words + hx_layout_item_offset(&box->layout, item) + digit * box->layout.digit_stride +
         component * box->layout.component_stride + limb * box->layout.limb_stride;
}

// Residues at random, the same for the same name; some of them 0 and q - 1.
static inline void box_fill(const interpreter_t *run, box_t *box, const char *name) {
  uint64_t state = 1469598103934665603u;
  for (; *name != '\0'; ++name) state = (state ^ (unsigned char)*name) * 1099511628211u;
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&box->primes, ids);
  const uint64_t n = (uint64_t)1 << run->ring->log_n, rows = hx_layout_elements(&box->layout) / n;
  for (uint64_t row = 0; row < rows; ++row) {
    const uint64_t q = run->ring->primes[ids[row % limbs]];
    for (uint64_t i = 0; i < n; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const uint64_t word = state ^ (state >> 29);
      box->words[row * n + i] = word % 17 == 0 ? 0 : word % 19 == 0 ? q - 1 : word % q;
    }
  }
}

static inline uint32_t limb_of(const box_t *box, uint32_t id) {
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&box->primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {
    if (ids[l] == id) return l;
  }
  fail_msg("no row of prime id %u", id);
  return 0;
}

static inline hx_primes_t all_primes(const hx_ring *ring) { return hx_primes_range(0, ring->q_count + ring->p_count); }

// A key's rows and digits at the depth of the value that it meets.
static inline box_t key_at_depth(const interpreter_t *run, const box_t *key, const hx_primes_t *rows) {
  hx_primes_t active = *rows;
  const hx_primes_t special = hx_ring_special(run->ring);
  for (size_t i = 0; i < HX_COUNT_OF(active.bits); ++i) active.bits[i] |= special.bits[i];
  const uint32_t q_rows = hx_primes_count(&active) - run->ring->p_count;
  box_t out;
  box_make(run, key->type, &active, (q_rows + run->ring->digit_run - 1) / run->ring->digit_run, &out);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&active, ids);
  for (uint32_t j = 0; j < out.layout.digits; ++j) {
    for (uint32_t c = 0; c < 2; ++c) {
      for (uint32_t l = 0; l < limbs; ++l)
        memcpy(box_row(&out, 0, j, c, l), box_row(key, 0, j, c, limb_of(key, ids[l])),
               sizeof(uint64_t) << run->ring->log_n);
    }
  }
  return out;
}

static inline int64_t integer_attr(const hx_ir_op_t *op, const char *name) {
  int64_t value = 0;
  (void)hx_attrs_get_i64(op->attrs, name, &value);
  return value;
}

// Item of a batch of `shape` as that of the operand that select_batch takes it from.
static inline uint64_t source_item(const hx_ir_op_t *op, const box_t *from, const box_t *to, uint64_t item) {
  const uint32_t axis = (uint32_t)integer_attr(op, "axis");
  const bool keeps_axis = hx_attrs_find(op->attrs, "items") != NULL;
  uint64_t index[HX_BATCH_RANK_MAX + 1] = {0};
  for (uint32_t a = to->layout.batch_rank; a-- > 0;) {
    const uint32_t target = keeps_axis || a < axis ? a : a + 1;
    index[target] = item % to->layout.batch_shape[a];
    item /= to->layout.batch_shape[a];
  }
  index[axis] += (uint64_t)integer_attr(op, "start");
  uint64_t source = 0;
  for (uint32_t a = 0; a < from->layout.batch_rank; ++a) source = source * from->layout.batch_shape[a] + index[a];
  return source;
}

// Copies one operand's part into the result of a view or packing.
static inline void copy_part(const interpreter_t *run, const hx_ir_op_t *op, const box_t *from, box_t *to,
                             uint32_t first_to, uint32_t first_from) {
  const size_t bytes = sizeof(uint64_t) << run->ring->log_n;
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&to->primes, ids);
  const uint32_t digit = op->info->id == HX_OP_RNS_KEY_SLICE ? (uint32_t)integer_attr(op, "digit") : 0;
  for (uint64_t item = 0; item < hx_layout_items(&to->layout); ++item) {
    const uint64_t source = op->info->id == HX_OP_RNS_SELECT_BATCH ? source_item(op, from, to, item)
                            : from->layout.batch_rank == 0         ? 0
                                                                   : item;
    for (uint32_t c = 0; c + first_to < to->layout.components && c + first_from < from->layout.components; ++c) {
      for (uint32_t l = 0; l < limbs; ++l) {
        if (!hx_primes_has(&from->primes, ids[l])) continue;
        memcpy(box_row(to, item, 0, first_to + c, l),
               box_row(from, source, digit, first_from + c, limb_of(from, ids[l])), bytes);
      }
    }
  }
}

static inline void run_view(const interpreter_t *run, const hx_ir_op_t *op) {
  box_t *to = &run->boxes[op->results[0]->id];
  uint32_t component = 0;
  for (size_t i = 0; i < op->operand_count; ++i) {
    const box_t *from = &run->boxes[op->operands[i]->id];
    copy_part(run, op, from, to, component,
              op->info->id == HX_OP_RNS_SELECT_COMPONENTS ? (uint32_t)integer_attr(op, "first") : 0);
    if (op->info->id == HX_OP_RNS_PACK_COMPONENTS) component += from->layout.components;
  }
}

static inline void run_constant(const interpreter_t *run, const hx_ir_op_t *op) {
  const box_t *to = &run->boxes[op->results[0]->id];
  const hx_attribute_t *residues = hx_attrs_find(op->attrs, "residues");
  const uint64_t n = (uint64_t)1 << run->ring->log_n;
  for (uint64_t i = 0; i < to->layout.limbs * n; ++i)
    to->words[i] = (uint64_t)residues->list[2 * (i / n) + (i % n >= n / 2)].integer;
}

static inline void run_call(const interpreter_t *run, const hx_ir_op_t *op) {
  const size_t count = op->operand_count + op->result_count;
  hx_region_value_t *values = calloc(count, sizeof *values);
  void **data = calloc(count, sizeof *data);
  box_t *keys = calloc(count, sizeof *keys);
  for (size_t i = 0; i < count; ++i) {
    const bool is_operand = i < op->operand_count;
    const box_t *box = &run->boxes[is_operand ? op->operands[i]->id : op->results[i - op->operand_count]->id];
    if (box->type->kind == HX_TYPE_KEY) {
      keys[i] = key_at_depth(run, box, &run->boxes[op->operands[0]->id].primes);
      box = &keys[i];
    }
    values[i] = (hx_region_value_t){.type = box->type, .layout = &box->layout, .primes = &box->primes};
    data[i] = box->words;
  }
  hx_arena_t arena;
  hx_arena_init(&arena);
  const hx_region *region = NULL;
  hx_report_t *report = hx_report_create();
  const hx_region_call_t call = {.op = op->info,
                                 .attrs = op->attrs,
                                 .operands = values,
                                 .results = values + op->operand_count,
                                 .operand_count = (uint32_t)op->operand_count,
                                 .result_count = (uint32_t)op->result_count,
                                 .ring = run->ring};
  if (hx_region_build(&arena, &call, &region, report) != HX_STATUS_OK) fail_msg("%s", hx_report_get(report, 0)->text);
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const int32_t result = hx_reference_execute(run->reference, region->ops, region->values, data, &error);
  if (result != HX_OK) fail_msg("%s: %s", op->info->name, error.message);
  hx_report_release(report);
  hx_arena_deinit(&arena);
  for (size_t i = 0; i < count; ++i) free(keys[i].words);
  free(keys);
  free(values);
  free(data);
}

static inline void run_op(const interpreter_t *run, const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->result_count; ++i) {
    const hx_type_t *type = op->results[i]->type;
    const hx_primes_t all = all_primes(run->ring);
    const bool is_key = type->kind == HX_TYPE_KEY;
    if (!hx_type_is_complete(type)) fail_msg("%s: a type is open", op->info->name);
    box_make(run, type, is_key ? &all : &type->primes, is_key ? hx_ring_digit_count(run->ring, 0) : 0,
             &run->boxes[op->results[i]->id]);
  }
  if (op->info->id == HX_OP_MATERIAL_REF) {
    box_fill(run, &run->boxes[op->results[0]->id], hx_attrs_find(op->attrs, "symbol")->text.data);
  } else if (op->info->id == HX_OP_CORE_CONSTANT) {
    run_constant(run, op);
  } else if ((op->info->flags & HX_OP_FLAG_VIEW) != 0) {
    run_view(run, op);
  } else {
    run_call(run, op);
  }
}

// Boxes of what @main returns, in order; freed by box_free.
static inline box_t *interpret(hx_program_t *program, const hx_ring *ring, size_t *out_count) {
  interpreter_t run = {.ring = ring};
  hx_ir_op_t *func = hx_program_find(program, "main");
  const hx_ir_block_t *block = hx_func_block(func);
  run.count = hx_ir_number(func);
  run.boxes = calloc(run.count, sizeof *run.boxes);
  assert_int_equal(hx_ref_ring_create(ring, &run.reference, NULL), HX_OK);
  for (size_t i = 0; i < block->argument_count; ++i) {
    const hx_ir_value_t *argument = block->arguments[i];
    char name[32];
    snprintf(name, sizeof name, "argument %zu", i);
    box_make(&run, argument->type, &argument->type->primes, 0, &run.boxes[argument->id]);
    box_fill(&run, &run.boxes[argument->id], name);
  }
  for (const hx_ir_op_t *op = block->first; op != block->last; op = op->next) run_op(&run, op);
  *out_count = block->last->operand_count;
  box_t *outputs = calloc(*out_count + 1, sizeof *outputs);
  for (size_t i = 0; i < *out_count; ++i) {
    outputs[i] = run.boxes[block->last->operands[i]->id];
    const size_t bytes = hx_layout_elements(&outputs[i].layout) * sizeof(uint64_t);
    outputs[i].words = memcpy(malloc(bytes), outputs[i].words, bytes);
  }
  for (size_t i = 0; i < run.count; ++i) free(run.boxes[i].words);
  free(run.boxes);
  hx_ref_ring_destroy(run.reference);
  return outputs;
}

static inline void box_free(box_t *boxes, size_t count) {
  for (size_t i = 0; i < count; ++i) free(boxes[i].words);
  free(boxes);
}

// Both programs give the same words.
static inline void assert_same_results(hx_program_t *a, hx_program_t *b, const hx_ring *ring) {
  size_t a_count, b_count;
  box_t *left = interpret(a, ring, &a_count), *right = interpret(b, ring, &b_count);
  assert_int_equal(a_count, b_count);
  for (size_t i = 0; i < a_count; ++i) {
    const uint64_t elements = hx_layout_elements(&left[i].layout);
    assert_true(hx_layout_same_shape(&left[i].layout, &right[i].layout));
    for (uint64_t k = 0; k < elements; ++k) {
      if (left[i].words[k] == right[i].words[k]) continue;
      char *text = print_good(b, 0);
      fprintf(stderr, "%s\n", text);
      hx_text_free(text);
      fail_msg("result %zu differs at word %llu: %llu and %llu", i, (unsigned long long)k,
               (unsigned long long)left[i].words[k], (unsigned long long)right[i].words[k]);
    }
  }
  box_free(left, a_count);
  box_free(right, b_count);
}

#endif
