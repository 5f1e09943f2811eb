// SPDX-License-Identifier: Apache-2.0
#include "selftest.h"

#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"
#include "heliox/support/number.h"
#include "ops.h"
#include "pace.h"
#include "step.h"

// Operands, components and limbs of operands and result. Rings have Q of three primes and P of one, digits of two.
typedef enum shape {
  SHAPE_ONE,
  SHAPE_TWO,
  SHAPE_THREE,
  SHAPE_SCALAR,
  SHAPE_TENSOR,
  SHAPE_WEIGHTED,
  SHAPE_ELEMENT,
  SHAPE_SIGNED,
  SHAPE_SEED,
  SHAPE_RAISED,
  SHAPE_LOWERED,
  SHAPE_DROPPED,
  SHAPE_SWITCHED,
  SHAPE_COUNT
} shape_t;

static const struct {
  uint32_t operands, components, limbs;  // of operands
  uint32_t result_components, result_limbs;
} shapes[SHAPE_COUNT] = {
    [SHAPE_ONE] = {1, 1, 4, 1, 4},     [SHAPE_TWO] = {2, 1, 4, 1, 4},     [SHAPE_THREE] = {3, 1, 4, 1, 4},
    [SHAPE_SCALAR] = {1, 1, 4, 1, 4},  [SHAPE_TENSOR] = {2, 2, 3, 3, 3},  [SHAPE_WEIGHTED] = {4, 1, 4, 1, 4},
    [SHAPE_ELEMENT] = {1, 1, 4, 1, 4}, [SHAPE_SIGNED] = {1, 1, 1, 1, 4},  [SHAPE_SEED] = {1, 1, 1, 1, 4},
    [SHAPE_RAISED] = {1, 1, 3, 1, 4},  [SHAPE_LOWERED] = {1, 1, 4, 1, 3}, [SHAPE_DROPPED] = {1, 1, 3, 1, 1},
    [SHAPE_SWITCHED] = {2, 3, 3, 2, 3}};

typedef struct row {
  const char *op;
  uint32_t log_n;
  shape_t shape;
  uint32_t from, to;
  uint32_t small;  // 1: all primes have at most 50 bits, and take the real path where the device has it
  uint64_t digest64, digest32;
} row_t;

#define DOMAINS_CC HX_COEFFICIENT, HX_COEFFICIENT
#define DOMAINS_NN HX_NTT, HX_NTT
#define DOMAINS_CN HX_COEFFICIENT, HX_NTT
#define DOMAINS_NC HX_NTT, HX_COEFFICIENT

static const row_t rows[] = {
#define CHECK(op_, log_n_, shape_, domains_, small_, digest64_, digest32_) \
  {op_, log_n_, SHAPE_##shape_, DOMAINS_##domains_, small_, digest64_, digest32_},
#include "selftest.def"
};

const uint32_t hx_opencl_check_count = sizeof rows / sizeof rows[0];
const uint32_t hx_opencl_pace_check = sizeof rows / sizeof rows[0] - 1;

// ------------------------------------------------------------------ making one

#define PRIMES_LOG 13u  // of the order of the roots below

// Largest primes of their sizes that are 1 mod 2^13, with a root of unity of that order each: of 64-bit words, of
// 32-bit words, and small ones of 64-bit words.
static const uint64_t primes[3][4][2] = {{{2305843009213554689u, 334526349397148170u},  // 61 bits
                                          {1152921504606830593u, 431606828070683274u},  // 60
                                          {35184371884033u, 19095220364083u},           // 45
                                          {1125899906826241u, 1094367314627419u}},      // 50
                                         {{2147377153u, 1202012506u},                   // 31
                                          {1073692673u, 510015274u},                    // 30
                                          {268369921u, 262383721u},                     // 28
                                          {536813569u, 327210582u}},                    // 29
                                         {{1125899906826241u, 1094367314627419u},       // 50
                                          {140737488273409u, 58963435781594u},          // 47
                                          {35184371884033u, 19095220364083u},           // 45
                                          {562949953216513u, 169658170966992u}}};       // 49

static uint64_t mixed(uint64_t x) {  // splitmix64's output function
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static void make_ring(hx_opencl_check_t *c, uint32_t log_n, uint32_t word, bool small) {
  const uint64_t(*from)[2] = primes[word == 32 ? 1 : small ? 2 : 0];
  for (uint32_t id = 0; id < 4; id++) {
    hxs_modulus m;
    c->primes[id] = from[id][0];
    hxs_modulus_init(&m, c->primes[id], 64);
    c->psi[id] = hxs_pow_mod(&m, from[id][1], (uint64_t)1 << (PRIMES_LOG - 1 - log_n));
    c->groups[id % 3] = 1;
  }
  c->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                      .log_n = log_n,
                      .word = word,
                      .q_count = 3,
                      .p_count = 1,
                      .digit_run = 2,
                      .group_count = 3,
                      .primes = c->primes,
                      .psi = c->psi,
                      .group_sizes = c->groups,
                      .digest = {(uint8_t)log_n, (uint8_t)word, small ? 1 : 0}};
}

// Value `at` with so many digits, components and limbs; dtype 0: residues.
static void make_value(hx_opencl_check_t *c, uint32_t at, uint32_t digits, uint32_t components, uint32_t limbs,
                       uint32_t domain, uint32_t dtype) {
  const uint32_t residues = c->ring.word == 64 ? HX_U64 : HX_U32, log_n = dtype == HX_U8 ? 5 : c->ring.log_n;
  const uint64_t unit = dtype == HX_U8 ? 1 : dtype == HX_I64 ? 8 : c->ring.word / 8, n = (uint64_t)1 << log_n;
  for (uint32_t limb = 0; limb < limbs; limb++) {
    c->ids[at][limb] = limb;
  }
  c->values[at] = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                                   .dtype = dtype != 0 ? dtype : residues,
                                   .log_n = log_n,
                                   .digits = digits,
                                   .components = components,
                                   .limbs = limbs,
                                   .domain = dtype != 0 ? 0 : domain,
                                   .basis = HX_BASIS_QP,
                                   .repr = dtype != 0 ? 0 : HX_STANDARD,
                                   .digit_stride = n * limbs * components,
                                   .component_stride = n * limbs,
                                   .limb_stride = n,
                                   .prime_ids = dtype != 0 ? NULL : c->ids[at]};
  c->indices[at] = at;
  c->offsets[at] = c->memory_bytes;
  c->bytes[at] = n * limbs * components * (digits > 0 ? digits : 1) * unit;
  c->memory_bytes += (c->bytes[at] + HX_OPENCL_ALIGNMENT - 1) / HX_OPENCL_ALIGNMENT * HX_OPENCL_ALIGNMENT;
}

static void make_values(hx_opencl_check_t *c, const row_t *row) {
  const uint32_t operands = shapes[row->shape].operands;
  for (uint32_t i = 0; i < operands; i++) {
    if (row->shape == SHAPE_SWITCHED && i == 1) {  // the key
      make_value(c, i, 2, 2, 4, HX_NTT, 0);
    } else {
      make_value(c, i, 0, shapes[row->shape].components, shapes[row->shape].limbs, row->from,
                 row->shape == SHAPE_SEED     ? HX_U8
                 : row->shape == SHAPE_SIGNED ? HX_I64
                                              : 0);
    }
  }
  make_value(c, operands, 0, shapes[row->shape].result_components, shapes[row->shape].result_limbs, row->to, 0);
  c->value_count = operands + 1;
}

static void add_attr(hx_opencl_check_t *c, const char *name, uint32_t kind, const void *data, uint32_t count) {
  c->attrs[c->op.attr_count++] =
      (hx_attr){.struct_size = HX_END_OF(hx_attr, data), .kind = kind, .count = count, .name = name, .data = data};
}

static void make_attrs(hx_opencl_check_t *c, shape_t shape) {
  for (uint32_t i = 0; i < 4; i++) {
    c->numbers[i] = i;
    c->residues[i] = mixed(i + 1) % c->primes[i];
  }
  switch (shape) {
    case SHAPE_SCALAR:
      add_attr(c, "residues", HX_ATTR_U64, c->residues, 4);
      break;
    case SHAPE_WEIGHTED:
      add_attr(c, "groups", HX_ATTR_I64, &c->numbers[1], 1);
      break;
    case SHAPE_ELEMENT:
      c->numbers[0] = 5;
      add_attr(c, "element", HX_ATTR_I64, c->numbers, 1);
      break;
    case SHAPE_SEED:
      add_attr(c, "index", HX_ATTR_I64, &c->numbers[3], 1);
      add_attr(c, "ids", HX_ATTR_I64, c->numbers, 4);
      break;
    case SHAPE_SIGNED:
      add_attr(c, "ids", HX_ATTR_I64, c->numbers, 4);
      break;
    case SHAPE_RAISED:
      add_attr(c, "digit", HX_ATTR_I64, c->numbers, 1);
      break;
    case SHAPE_LOWERED:
    case SHAPE_DROPPED:
      add_attr(c, "rounding", HX_ATTR_TEXT, "nearest", 7);
      if (shape == SHAPE_DROPPED) {
        add_attr(c, "count", HX_ATTR_I64, &c->numbers[2], 1);
      }
      break;
    default:
      break;
  }
}

// Residues at and near the ends of their range between others; signed words and seeds are any.
static void fill_operand(hx_opencl_check_t *c, uint32_t at) {
  const hx_tensor_desc *d = &c->values[at];
  unsigned char *to = c->memory + c->offsets[at];
  if (d->dtype == HX_U8) {
    for (uint64_t i = 0; i < c->bytes[at]; i++) {
      to[i] = (unsigned char)mixed(i + 7);
    }
    return;
  }
  const uint64_t unit = d->dtype == HX_U32 ? 4 : 8, n = (uint64_t)1 << d->log_n;
  for (uint64_t i = 0; i < c->bytes[at] / unit; i++) {
    const uint64_t word = mixed(i + 0x9e3779b97f4a7c15u * (at + 1));
    uint64_t value = word;
    if (d->dtype != HX_I64) {
      const uint64_t q = c->primes[i / n % d->limbs], ends[4] = {0, 1, q - 1, q / 2};
      value = i % 5 == 0 ? ends[word % 4] : word % q;
    }
    if (unit == 8) {
      memcpy(to + 8 * i, &value, 8);
    } else {
      const uint32_t narrow = (uint32_t)value;
      memcpy(to + 4 * i, &narrow, 4);
    }
  }
}

int32_t hx_opencl_check_make(uint32_t index, uint32_t word, hx_opencl_check_t *out, hx_error *error) {
  const row_t *row = &rows[index];
  memset(out, 0, sizeof *out);
  out->op_name = row->op;
  out->expected = word == 64 ? row->digest64 : row->digest32;
  out->small = row->small != 0;
  make_ring(out, row->log_n, word, out->small);
  make_values(out, row);
  const uint32_t operands = out->value_count - 1;
  out->op = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .operand_count = operands,
                    .result_count = 1,
                    .name = row->op,
                    .attrs = out->attrs,
                    .operands = out->indices,
                    .results = out->indices + operands};
  make_attrs(out, row->shape);
  out->region = (hx_region){.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = out->value_count,
                            .op_count = 1,
                            .input_count = operands,
                            .output_count = 1,
                            .ring = &out->ring,
                            .values = out->values,
                            .ops = &out->op,
                            .inputs = out->indices,
                            .outputs = out->indices + operands};
  out->memory = aligned_alloc(HX_OPENCL_ALIGNMENT, out->memory_bytes);
  if (out->memory == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for the self-test");
  }
  memset(out->memory, 0, out->memory_bytes);
  for (uint32_t i = 0; i < operands; i++) {
    fill_operand(out, i);
  }
  return HX_OK;
}

void hx_opencl_check_release(hx_opencl_check_t *check) { free(check->memory); }

uint64_t hx_opencl_check_digest(const hx_opencl_check_t *check, const unsigned char *memory) {
  const uint32_t at = check->value_count - 1;
  uint64_t digest = 0;
  for (uint64_t i = 0; i < check->bytes[at]; i += 4) {
    uint32_t word = 0;
    memcpy(&word, memory + check->offsets[at] + i, sizeof word);
    digest = mixed(digest ^ word) + i;
  }
  return digest;
}

// ------------------------------------------------------------------ running them

typedef struct session {
  hx_device *device;
  hx_queue *queue;
  hx_tables *tables;  // of the ring of log_n and such primes
  uint32_t log_n;
  bool small;
} session_t;

static int32_t alloc(session_t *s, uint32_t space, uint64_t bytes, hx_buffer **out, hx_error *error) {
  return bytes == 0 ? HX_OK : hx_opencl_memory_ops.alloc(s->device, space, bytes, out, error);
}

// The prepared check with its memory on the device; `host` holds operands before and the result after.
static int32_t run_prepared(session_t *s, hx_opencl_check_t *c, hx_prepared *prepared, hx_buffer *const *buffers,
                            hx_error *error) {
  hx_buffer *host = buffers[0], *memory = buffers[1];
  hx_span spans[HX_OPENCL_CHECK_VALUES];
  const uint32_t operands = c->value_count - 1;
  const hx_span all = {memory, 0}, from = {host, 0};
  for (uint32_t i = 0; i < c->value_count; i++) {
    spans[i] = (hx_span){memory, c->offsets[i]};
  }
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = s->queue,
                        .scratch_device = {buffers[2], 0},
                        .inputs = spans,
                        .outputs = spans + operands};
  memcpy(hx_opencl_memory_ops.address(host), c->memory, c->memory_bytes);
  HXS_TRY(hx_opencl_queue_ops.copy(s->queue, all, from, c->memory_bytes, error));
  HXS_TRY(hx_opencl_execute(prepared, &call, error));
  HXS_TRY(hx_opencl_queue_ops.copy(s->queue, from, all, c->memory_bytes, error));
  HXS_TRY(hx_opencl_queue_ops.sync(s->queue, error));
  if (hx_opencl_check_digest(c, hx_opencl_memory_ops.address(host)) != c->expected) {
    return hxs_fail(
        error, HX_UNAVAILABLE,
        "%.48s computes %s wrongly (N = 2^%u, %u-bit words): its compiler makes wrong code; another version "
        "of the driver may not",
        s->device->facts.name, c->op_name, c->ring.log_n, c->ring.word);
  }
  return HX_OK;
}

static int32_t run_check(session_t *s, hx_opencl_check_t *c, hx_error *error) {
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  hx_prepared *prepared = NULL;
  hx_buffer *buffers[3] = {NULL};
  c->region.tables = s->tables;
  c->region.variant = c->small && s->device->path != HX_OPENCL_PATH_INTEGER ? "real" : "integer";
  HXS_TRY(hx_opencl_prepare(s->device, &c->region, &plan, &prepared, error));
  int32_t code = alloc(s, HX_SPACE_HOST, c->memory_bytes, &buffers[0], error);
  code = code == HX_OK ? alloc(s, HX_SPACE_DEVICE, c->memory_bytes, &buffers[1], error) : code;
  code = code == HX_OK ? alloc(s, HX_SPACE_DEVICE, plan.scratch_device, &buffers[2], error) : code;
  code = code == HX_OK ? run_prepared(s, c, prepared, buffers, error) : code;
  for (uint32_t i = 0; i < 3; i++) {
    hx_opencl_memory_ops.free(buffers[i]);
  }
  hxs_destroy(prepared);
  return code;
}

// Tables for the check's ring; checks of one ring mostly stand together.
static int32_t use_ring(session_t *s, const hx_opencl_check_t *check, hx_error *error) {
  const hx_ring *ring = &check->ring;
  if (s->tables != NULL && s->log_n == ring->log_n && s->small == check->small) {
    return HX_OK;
  }
  hx_opencl_tables_destroy(s->tables);
  s->tables = NULL;
  s->log_n = ring->log_n;
  s->small = check->small;
  return hx_opencl_tables_make(s->device, ring, &s->tables, error);
}

static int32_t run_all(session_t *s, uint32_t word, hx_error *error) {
  for (uint32_t i = 0; i < hx_opencl_check_count; i++) {
    hx_opencl_check_t check;
    int32_t code = hx_opencl_check_make(i, word, &check, error);
    code = code == HX_OK ? use_ring(s, &check, error) : code;
    code = code == HX_OK ? run_check(s, &check, error) : code;
    hx_opencl_check_release(&check);
    if (code != HX_OK) {
      return code;
    }
  }
  return HX_OK;
}

int32_t hx_opencl_self_test(hx_device *device, uint32_t word, hx_error *error) {
  atomic_bool *tested = &device->tested[word == 64 ? 0 : 1];
  session_t session = {.device = device};
  if (atomic_load(tested)) {
    return HX_OK;
  }
  int32_t code = hx_opencl_queue_ops.create(device, &session.queue, error);
  code = code == HX_OK ? run_all(&session, word, error) : code;
  hx_opencl_tables_destroy(session.tables);
  hx_opencl_queue_ops.destroy(session.queue);
  if (code == HX_OK && word == 64) {
    bool real = device->path == HX_OPENCL_PATH_REAL;
    code = device->path == HX_OPENCL_PATH_MEASURED ? hx_opencl_pace_measure(device, &real, error) : HX_OK;
    atomic_store(&device->real, real);
  }
  atomic_store(tested, code == HX_OK);
  return code;
}
