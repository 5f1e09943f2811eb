// SPDX-License-Identifier: Apache-2.0
// Runs operations of a plugin through its tables, as a host does, and compares every byte with the reference. One
// harness for all plugins: the tables are those of the archive that the test is linked with (inside.c), or those of the
// library beside the manifest that HELIOX_TEST_PLUGIN names. Without a device a test skips and says why.
//
// A tensor has guard words around it and whatever gaps its strides leave, all filled with a known pattern: a result is
// compared with the reference's copy byte for byte, gaps and guards included, and operands must come out unchanged.
#ifndef HX_KERNELCHECK_H
#define HX_KERNELCHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heliox/plugin.h"
#include "reference/reference.h"

#define KC_PRIMES_MAX 40u
#define KC_TENSORS_MAX 160u

typedef enum kc_pattern { KC_ZERO, KC_ONE, KC_TOP, KC_RANDOM, KC_EDGES, KC_PATTERN_COUNT } kc_pattern_t;
// GAPS: every stride larger than it need be. SWAPPED: limbs outside components. REPEAT: batch strides 0.
typedef enum kc_layout { KC_DENSE, KC_GAPS, KC_SWAPPED, KC_REPEAT } kc_layout_t;

typedef struct kc_shape {
  uint32_t dtype;  // 0: the ring's residues
  uint32_t log_n;  // 0: the ring's
  uint32_t digits, components, limbs;
  const uint32_t *ids;  // NULL: 0, 1, ...
  uint32_t domain, repr;
  uint32_t batch_rank;
  uint64_t batch[3];
  kc_layout_t layout;
} kc_shape_t;

typedef struct kc_tensor {
  hx_tensor_desc desc;
  uint32_t ids[KC_PRIMES_MAX];
  uint64_t shape[3], strides[3];
  uint64_t bytes;   // of the memory at `base`, guards included
  uint64_t offset;  // of the tensor in it
  uint8_t *base;
} kc_tensor_t;

typedef struct kc {
  bool direct;  // device memory is host memory: tensors are borrowed, not copied
  hx_device *device;
  hx_queue *queue;
  hx_buffer *pinned;  // between host and device; grows
  uint64_t pinned_bytes;
  hx_tables *tables;
  hx_ring ring;
  hx_ref_ring *reference;
  uint64_t primes[KC_PRIMES_MAX], psi[KC_PRIMES_MAX];
  uint32_t groups[KC_PRIMES_MAX];
  kc_tensor_t tensors[KC_TENSORS_MAX];
  uint32_t tensor_count;
  uint64_t random;
  const char *variant;  // pinned, or NULL
} kc_t;

// The plugin under test, queried with kc_host.
const hx_plugin *kc_plugin(void);
// Names of variants that may be pinned, a NULL behind the last and one more: all that there are, or none.
const char *const *kc_variants(void);
// What the plugin declares of an operation.
typedef struct kc_row {
  const char *op;
  uint32_t index;    // among the plugin's implementations
  uint32_t domains;  // bits (1 << HX_NTT) and so on
  bool in_place;
} kc_row_t;
// NULL where the plugin does not register the operation.
const kc_row_t *kc_row_of(const char *op);

// What the plugin sees as its host: two threads, options and the cancel flag below.
const hx_host *kc_host(void);
// Sets an option, as the host's configuration does; NULL: unset. Both are borrowed.
void kc_set_option(const char *name, const char *value);
extern int32_t kc_cancel_after;  // calls of cancelled() that answer no; negative: always no

// bits[id]: size of prime id; even ids are the largest such primes, odd ids the smallest.
void kc_open(kc_t *kc, uint32_t log_n, uint32_t word, uint32_t q_count, uint32_t p_count, uint32_t digit_run,
             const uint32_t *bits);
// The same with base and depth groups of these sizes; kc_open has groups of one prime.
void kc_open_groups(kc_t *kc, uint32_t log_n, uint32_t word, uint32_t q_count, uint32_t p_count, uint32_t digit_run,
                    const uint32_t *bits, const uint32_t *groups, uint32_t group_count);
void kc_close(kc_t *kc);
// Frees the tensors made so far.
void kc_clear(kc_t *kc);

uint64_t kc_next(kc_t *kc);  // a random word
kc_tensor_t *kc_tensor(kc_t *kc, const kc_shape_t *shape, kc_pattern_t pattern);
// Address of element 0 of a row.
void *kc_row(const kc_tensor_t *tensor, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb);

hx_attr kc_i64(const char *name, const int64_t *values, uint32_t count);
hx_attr kc_u64(const char *name, const uint64_t *values, uint32_t count);
hx_attr kc_text(const char *name, const char *text);

// ---- calls of a plugin's tables by hand

static inline hx_error kc_error(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message)}; }

// Fails the test with the plugin's message.
static inline void kc_must(int32_t code, const hx_error *error) {
  if (code != HX_OK) {
    fail_msg("%s", error->message);
  }
}

// 64-bit residues in ntt domain on the first `limbs` primes of Q; `room`: limbs from one component to the next.
static inline hx_tensor_desc kc_residues(const kc_t *kc, uint32_t components, uint32_t limbs, uint32_t room,
                                         const uint32_t *ids) {
  const uint64_t n = (uint64_t)1 << kc->ring.log_n;
  return (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                          .dtype = HX_U64,
                          .log_n = kc->ring.log_n,
                          .components = components,
                          .limbs = limbs,
                          .domain = HX_NTT,
                          .basis = HX_BASIS_Q,
                          .repr = HX_STANDARD,
                          .component_stride = room * n,
                          .limb_stride = n,
                          .prime_ids = ids};
}

static inline hx_op kc_call(const char *name, const uint32_t *operands, uint32_t operand_count,
                            const uint32_t *result) {
  return (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                 .signature = 1,
                 .operand_count = operand_count,
                 .result_count = 1,
                 .name = name,
                 .operands = operands,
                 .results = result};
}

// A region of `count` operations whose inputs are the first values of `places` and whose output is the last one.
static inline hx_region kc_region(const kc_t *kc, const hx_tensor_desc *values, const uint32_t *places,
                                  uint32_t value_count, uint32_t input_count, const hx_op *ops, uint32_t count) {
  return (hx_region){.struct_size = HX_END_OF(hx_region, variant),
                     .value_count = value_count,
                     .op_count = count,
                     .input_count = input_count,
                     .output_count = 1,
                     .ring = &kc->ring,
                     .tables = kc->tables,
                     .values = values,
                     .ops = ops,
                     .inputs = places,
                     .outputs = places + value_count - 1};
}

typedef struct kc_op {
  const char *name;
  const hx_attr *attrs;
  uint32_t attr_count;
  kc_tensor_t *const *operands;
  uint32_t operand_count;
  kc_tensor_t *const *results;
  uint32_t result_count;
} kc_op_t;

// Prepares; HX_OK or the code of the refusal, with its message. *out_alias: of output 0 (may be NULL).
int32_t kc_prepare(kc_t *kc, const kc_op_t *op, hx_prepared **out, uint64_t *out_scratch, int32_t *out_alias,
                   hx_error *error);
// Executes what kc_prepare made; in_place: output 0 is given that input's memory, -1: its own.
int32_t kc_execute(kc_t *kc, const kc_op_t *op, hx_prepared *prepared, uint64_t scratch, int32_t in_place,
                   hx_error *error);
// Prepares, executes, compares with the reference; then again in place where the plan allows it. Returns whether it
// did.
bool kc_check(kc_t *kc, const kc_op_t *op);
// The same for a chain of operations in one region, of which only the last one's result leaves it.
void kc_check_chain(kc_t *kc, const kc_op_t *ops, uint32_t count);
// The same for any operations of one region; bit i of `leave`: the result of operation i leaves it. In place too, on
// the first output, where the plan allows it: whether it did.
bool kc_check_region(kc_t *kc, const kc_op_t *ops, uint32_t count, uint64_t leave);
// Prepare refuses the chain with this code and a message that has `part`.
void kc_refuses_chain(kc_t *kc, const kc_op_t *ops, uint32_t count, int32_t code, const char *part);
void kc_destroy(hx_prepared *prepared);  // of kc_prepare
// Plugin and reference both refuse; the plugin's code, and a part of its message, are as given.
void kc_refuses(kc_t *kc, const kc_op_t *op, int32_t code, const char *part);

// ---- between the harness's files

#define KC_GUARD 64u  // bytes before and after a tensor
#define KC_FILL 0xa5  // of guards and gaps

// The archive's own table, variants and rows, NULL-terminated by op.
const hx_plugin *kc_inside(const hx_host *host);
extern const char *const kc_inside_variants[];
const kc_row_t *kc_inside_rows(void);

#endif
