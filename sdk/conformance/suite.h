// SPDX-License-Identifier: Apache-2.0
// The conformance suite: what its files share.
//
// The suite runs in a child process that writes records into memory shared with its parent, so that a plugin that
// crashes or never ends is a failed case of the report like any other.
#ifndef HELIOX_SDK_CONFORMANCE_SUITE_H
#define HELIOX_SDK_CONFORMANCE_SUITE_H

#include "core/ops/ops.h"
#include "core/plugin/plugin.h"
#include "reference/reference.h"

#define RECORDS_MAX 8192u
#define RING_PRIMES_MAX 8u
#define RINGS_MAX 32u
#define TENSORS_MAX 64u
#define OPERANDS_MAX 40u

// ------------------------------------------------------------------ results (report.c)

typedef enum verdict { CASE_RUNNING, CASE_PASSED, CASE_FAILED, CASE_SKIPPED } verdict_t;

typedef struct record {
  char group[48];
  char name[128];
  char message[400];  // of the first failure, or why it was skipped
  verdict_t verdict;
  uint64_t checks;  // comparisons and refusals that were made
  double seconds;
} record_t;

typedef enum tier { TIER_PRIMITIVES, TIER_FUSED, TIER_CKKS, TIER_COUNT } tier_t;

typedef struct tier_result {
  bool claimed, wanted;         // by the manifest, by the caller
  uint32_t required, declared;  // operations
} tier_result_t;

typedef struct results {
  char id[132], name[36], version[68], digest[65];
  tier_result_t tiers[TIER_COUNT];
  uint64_t operation_runs;             // executions of declared operations that were compared
  uint32_t group_cases;                // of the collective role
  char only[48];                       // the operations that were asked for; empty: all, and everything else
  uint32_t part, parts;                // of the operations, from 1
  uint32_t log_n_run, log_n_declared;  // largest ring that an operation was run on, that one of them declares
  bool finished;
  uint32_t count;
  record_t records[RECORDS_MAX];
} results_t;

const char *tier_name(tier_t tier);
// Adds a record that is complete in itself.
void results_add(results_t *results, verdict_t verdict, const char *group, const char *name, const char *message);
typedef struct totals {
  uint32_t passed, failed, skipped;
  uint64_t checks;
} totals_t;
totals_t results_total(const results_t *results);
bool results_write_junit(const results_t *results, const char *path);
bool results_print_json(const results_t *results);
void results_print(const results_t *results, bool verbose);

// ------------------------------------------------------------------ rings, tensors (ring.c, tensor.c)

typedef struct ring {
  uint32_t bits_min, bits_max;  // key, with ring.log_n and ring.word
  hx_ring ring;
  uint64_t primes[RING_PRIMES_MAX], psi[RING_PRIMES_MAX];
  uint32_t groups[RING_PRIMES_MAX];
  hx_ref_ring *reference;
  hx_tables *tables;  // NULL where the plugin needs none
} ring_t;

typedef enum pattern { FILL_ZERO, FILL_ONE, FILL_TOP, FILL_RANDOM, FILL_EDGES, FILL_COUNT } pattern_t;
// GAPS: every stride larger than it need be. SWAPPED: limbs outside components. REPEAT: batch strides 0.
typedef enum arrangement { DENSE, GAPS, SWAPPED, REPEAT } arrangement_t;

typedef struct shape {
  uint32_t dtype;  // 0: the ring's residues
  uint32_t log_n;  // 0: the ring's
  uint32_t digits, components, limbs;
  const uint32_t *ids;  // NULL: 0, 1, ...
  uint32_t domain, repr;
  uint32_t batch_rank;
  uint64_t batch[3];
  arrangement_t arrangement;
} shape_t;

// A tensor in host memory between guard bytes; guards and gaps hold a known byte.
typedef struct tensor {
  hx_tensor_desc desc;
  uint32_t ids[RING_PRIMES_MAX];
  uint64_t batch[3], strides[3];
  uint64_t bytes, offset;  // of the memory, and of the first element in it
  uint8_t *base;
} tensor_t;

typedef struct suite {
  results_t *results;
  record_t *record;  // of the running case
  double started;
  const char *manifest;
  const char *only;      // NULL: everything
  uint32_t part, parts;  // of the declared operations those whose number leaves `part` by `parts`
  hx_plugins_t *plugins;
  size_t index;
  hx_report_t *report;
  uint64_t threads_before;   // of this process, before the plugin was loaded
  uint64_t threads_allowed;  // that may stay after shutdown: "runtime.threads"
  int32_t (*query)(const hx_host *host, hx_plugin *out);
  hx_loaded_plugin_t *loaded;
  const hx_plugin *table;
  hx_device *device;
  hx_queue *queue;
  hx_device_info info;
  uint64_t random;
  ring_t *rings[RINGS_MAX];
  uint32_t ring_count;
  tensor_t tensors[TENSORS_MAX];
  uint32_t tensor_count;
} suite_t;

uint64_t suite_random(suite_t *suite);  // splitmix64 from a fixed seed
// The ring of these limits, made once: primes of the smallest and the largest size in turn. NULL: the case has failed
// or was skipped, with a message.
ring_t *suite_ring(suite_t *suite, uint32_t log_n, uint32_t word, uint32_t bits_min, uint32_t bits_max);
void suite_drop_rings(suite_t *suite);
// Never NULL; ends the process where memory is exhausted.
tensor_t *suite_tensor(suite_t *suite, const ring_t *ring, const shape_t *shape, pattern_t pattern);
void suite_drop_tensors(suite_t *suite);
void *tensor_row(const tensor_t *tensor, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb);
void *suite_alloc(size_t bytes);

// ------------------------------------------------------------------ cases (suite.c)

void case_begin(suite_t *suite, const char *group, const char *format, ...) HX_PRINTF(3, 4);
// The first failure of a case is kept. Returns false.
bool case_fail(suite_t *suite, const char *format, ...) HX_PRINTF(2, 3);
void case_skip(suite_t *suite, const char *format, ...) HX_PRINTF(2, 3);
bool case_expect(suite_t *suite, bool holds, const char *format, ...) HX_PRINTF(3, 4);  // counts a check
bool case_failed(const suite_t *suite);
void case_end(suite_t *suite);
const char *result_word(int32_t code);
hx_error error_init(void);

// Loads the plugin and opens its first device with one queue; the opposite. Failures go to the running case.
bool suite_open(suite_t *suite);
void suite_close(suite_t *suite);

// ------------------------------------------------------------------ running an operation (call.c)

typedef struct call {
  const hx_impl *impl;
  const hx_manifest_operation_t *row;
  const ring_t *ring;
  const char *op;
  const hx_attr *attrs;
  uint32_t attr_count;
  tensor_t *const *operands;
  uint32_t operand_count;
  tensor_t *const *results;
  uint32_t result_count;
  uint32_t growth;  // bytes by which every struct is longer than this header has it: a newer host
} call_t;

// A region of one operation in memory of its own.
typedef struct region region_t;
region_t *region_create(const call_t *call);
void region_release(region_t *region);
hx_region *region_get(region_t *region);
// Value `id` of the region, as the plugin will read it.
hx_tensor_desc *region_value(region_t *region, uint32_t id);
hx_op *region_op(region_t *region);

// A prepared region and what its execution needs.
typedef struct running {
  hx_prepared *prepared;
  uint64_t scratch_host, scratch_device;
  int32_t alias[OPERANDS_MAX];
  hx_packed *packed[8];
  uint32_t packed_count;
} running_t;

int32_t call_prepare(suite_t *suite, const call_t *call, region_t *region, running_t *out, hx_error *error);
// Runs on a queue and waits. results[i]: where result i goes, of its tensor's size; result 0 goes to the memory of
// input `in_place` where that is not negative. Operands that the plugin changed are a failure of the case.
int32_t call_execute(suite_t *suite, const call_t *call, const running_t *running, hx_queue *queue, int32_t in_place,
                     uint8_t *const *results, hx_error *error);
void call_destroy(suite_t *suite, const call_t *call, running_t *running);
// The reference's results, each a copy of the result tensor's memory with the rows written; freed by the caller.
bool call_expect(suite_t *suite, const call_t *call, uint8_t **expected);
// Prepares, executes, compares; again in place where the plan allows it. True if it did that.
bool call_check(suite_t *suite, const call_t *call);
// Between host memory and a buffer of the device, which may have no address in the host; done when it returns.
int32_t suite_move(suite_t *suite, hx_queue *queue, hx_buffer *buffer, uint8_t *memory, uint64_t bytes, bool up,
                   hx_error *error);
bool compare_result(suite_t *suite, const call_t *call, uint32_t index, const uint8_t *found, const uint8_t *expected,
                    const char *how);

hx_attr attr_i64(const char *name, const int64_t *values, uint32_t count);
hx_attr attr_u64(const char *name, const uint64_t *values, uint32_t count);
hx_attr attr_text(const char *name, const char *text);

// ------------------------------------------------------------------ operations (cases_*.c)

// One configuration in which an operation is run.
typedef struct sweep {
  suite_t *suite;
  const hx_impl *impl;
  const hx_manifest_operation_t *row;
  const ring_t *ring;
  pattern_t pattern;
  arrangement_t in, out;
  uint32_t batch_rank;  // 0, or 2: 2 x 3
  uint32_t growth;
  bool brief;  // large ring: one call of each kind
  bool aliased;
  bool (*visit)(suite_t *suite, const call_t *call);  // what is done with each call: call_check, or another test
  bool first_only, visited;                           // the first call of the case alone
} sweep_t;

typedef struct op_case {
  const char *op;
  void (*run)(sweep_t *sweep);
} op_case_t;

extern const op_case_t cases_rns[], cases_basis[], cases_ckks[];
extern const size_t cases_rns_count, cases_basis_count, cases_ckks_count;
const op_case_t *op_case_find(const char *op);

shape_t sweep_shape(const sweep_t *sweep, arrangement_t arrangement, uint32_t components, uint32_t limbs,
                    const uint32_t *ids, uint32_t domain);
tensor_t *sweep_operand(sweep_t *sweep, uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain);
tensor_t *sweep_result(sweep_t *sweep, uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain);
void sweep_check(sweep_t *sweep, const hx_attr *attrs, uint32_t attr_count, tensor_t *const *operands,
                 uint32_t operand_count, tensor_t *const *results, uint32_t result_count);
// Whether the manifest declares a domain for the operation.
bool sweep_has_domain(const sweep_t *sweep, uint32_t domain);

// ------------------------------------------------------------------ parts of a run

// All gates and the loading; false: nothing can be run.
bool run_gates(suite_t *suite);        // gates.c
void run_negotiation(suite_t *suite);  // negotiation.c
// Tiers claimed by the manifest and wanted by the caller against declared rows.
void run_coverage(suite_t *suite);                        // coverage.c
void run_operations(suite_t *suite, uint32_t log_n_max);  // operations.c
void run_fused(suite_t *suite);                           // fused.c
// One call of the first row that the caller wants, on a ring of about log_n, visited by a test of another kind.
// False: there is none, and the case is skipped.
bool with_some_call(suite_t *suite, uint32_t log_n, bool (*visit)(suite_t *suite, const call_t *call));
// A call of each row, at the small end of its range.
void with_first_call(suite_t *suite, const hx_manifest_operation_t *row, const hx_impl *impl, uint32_t log_n,
                     bool (*visit)(suite_t *suite, const call_t *call));
bool operation_wanted(const suite_t *suite, const hx_manifest_operation_t *row);  // coverage.c
const hx_impl *find_impl(const suite_t *suite, const hx_manifest_operation_t *row);
void run_refusals(suite_t *suite);     // refusals.c
void run_roles(suite_t *suite);        // roles.c: memory, queue
void run_later_roles(suite_t *suite);  // roles_later.c: graphs, codec
void run_scarcity(suite_t *suite);     // scarcity.c
void run_life(suite_t *suite);         // life.c: queues, cancel, rounds, threads; closes the plugin
uint64_t life_threads(void);           // of this process
// False: the plugin has no collectives.
bool run_groups(suite_t *suite);

#endif
