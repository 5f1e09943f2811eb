// SPDX-License-Identifier: Apache-2.0
// Every declared operation at the edges of what its row declares, compared bit for bit with the reference.
#include <string.h>

#include "sdk/conformance/suite.h"

static const struct {
  arrangement_t in, out;
  uint32_t batch_rank;
  pattern_t pattern;
} arrangements[] = {{DENSE, DENSE, 2, FILL_EDGES},
                    {GAPS, DENSE, 2, FILL_RANDOM},
                    {SWAPPED, GAPS, 2, FILL_RANDOM},
                    {REPEAT, DENSE, 2, FILL_RANDOM},
                    {GAPS, GAPS, 0, FILL_TOP}};

static void run_sweep(sweep_t *sweep, const op_case_t *op) {
  op->run(sweep);
  suite_drop_tensors(sweep->suite);
}

static void run_small(sweep_t *sweep, const op_case_t *op) {
  for (int pattern = 0; pattern < FILL_COUNT && !case_failed(sweep->suite); ++pattern) {
    sweep->pattern = (pattern_t)pattern;
    run_sweep(sweep, op);
  }
  for (size_t i = 0; i < HX_COUNT_OF(arrangements) && !case_failed(sweep->suite); ++i) {
    sweep->in = arrangements[i].in;
    sweep->out = arrangements[i].out;
    sweep->batch_rank = arrangements[i].batch_rank;
    sweep->pattern = arrangements[i].pattern;
    run_sweep(sweep, op);
  }
}

static void run_large(sweep_t *sweep, const op_case_t *op) {
  sweep->brief = true;
  sweep->pattern = FILL_TOP;
  run_sweep(sweep, op);
  sweep->pattern = FILL_RANDOM;
  if (!case_failed(sweep->suite)) run_sweep(sweep, op);
}

static void run_case(suite_t *suite, const hx_manifest_operation_t *row, const hx_impl *impl, uint32_t log_n,
                     uint32_t word, bool smallest) {
  case_begin(suite, row->type, "%s, %u-bit words, N 2^%u, primes of %u to %u bits", row->implementation, word, log_n,
             row->prime_bits_min, row->prime_bits_max);
  const op_case_t *op = op_case_find(row->type);
  const ring_t *ring = suite_ring(suite, log_n, word, row->prime_bits_min, row->prime_bits_max);
  if (ring != NULL && op == NULL) case_fail(suite, "the suite has no case for %s", row->type);
  if (ring != NULL && op != NULL) {
    sweep_t sweep = {.suite = suite, .impl = impl, .row = row, .ring = ring, .visit = call_check};
    if (log_n <= 10) {
      run_small(&sweep, op);
    } else {
      run_large(&sweep, op);
    }
    if (smallest && row->in_place && !case_failed(suite))
      case_expect(suite, sweep.aliased, "in_place is declared, and no plan ever allowed it");
  }
  case_end(suite);
}

// Structs longer than this header has them, as a newer host passes them.
static void run_newer(suite_t *suite, const hx_manifest_operation_t *row, const hx_impl *impl, uint32_t log_n,
                      uint32_t word) {
  case_begin(suite, row->type, "%s, from a newer host with longer structs", row->implementation);
  const op_case_t *op = op_case_find(row->type);
  const ring_t *ring = suite_ring(suite, log_n, word, row->prime_bits_min, row->prime_bits_max);
  if (ring != NULL && op != NULL) {
    sweep_t sweep = {.suite = suite,
                     .impl = impl,
                     .row = row,
                     .ring = ring,
                     .pattern = FILL_RANDOM,
                     .growth = 24,
                     .visit = call_check};
    run_sweep(&sweep, op);
  }
  case_end(suite);
}

// Every resource of a row can be packed from one of its operands.
static bool can_run(suite_t *suite, const hx_manifest_operation_t *row) {
  for (size_t i = 0; i < row->resource_count; ++i) {
    if (row->resources[i].operand != NULL && suite->table->materializer != NULL) continue;
    case_begin(suite, row->type, "%s", row->implementation);
    case_skip(suite, "it needs a live handle of kind %s", row->resources[i].kind);
    case_end(suite);
    return false;
  }
  return true;
}

static void run_row(suite_t *suite, const hx_manifest_operation_t *row, uint32_t log_n_max) {
  const hx_impl *impl = find_impl(suite, row);
  if (impl == NULL || !can_run(suite, row)) return;  // the loader compared declared and registered rows
  if (!row->bit_exact) {
    case_begin(suite, row->type, "%s", row->implementation);
    case_skip(suite, "declared within a tolerance, so there is no bit-exact answer to compare with");
    case_end(suite);
    return;
  }
  const uint32_t low = row->log_n_min < 3 ? 3 : row->log_n_min;
  const uint32_t high = row->log_n_max < log_n_max ? row->log_n_max : log_n_max;
  const uint32_t middle = low < 8 && high > 8 ? 8 : low;
  const uint32_t sizes[] = {low, middle, high};
  results_t *results = suite->results;
  results->log_n_run = high > results->log_n_run ? high : results->log_n_run;
  results->log_n_declared = row->log_n_max > results->log_n_declared ? row->log_n_max : results->log_n_declared;
  bool newer = false;
  for (uint32_t word = 64; word >= 32; word -= 32) {
    if ((row->dtypes >> (word == 64 ? HX_U64 : HX_U32) & 1) == 0) continue;
    for (size_t i = 0; i < HX_COUNT_OF(sizes); ++i) {
      if (i > 0 && sizes[i] <= sizes[i - 1]) continue;
      run_case(suite, row, impl, sizes[i], word, i == 0);
    }
    if (!newer) run_newer(suite, row, impl, low, word);
    newer = true;
  }
}

// Whether the caller asked for an operation: all, by its name, or by the name of its family (what stands before a dot).
static bool is_asked_for(const suite_t *suite, const char *type) {
  const size_t length = suite->only == NULL ? 0 : strlen(suite->only);
  return strncmp(type, suite->only == NULL ? "" : suite->only, length) == 0 &&
         (length == 0 || type[length] == '\0' || type[length] == '.');
}

void run_operations(suite_t *suite, uint32_t log_n_max) {
  for (size_t i = suite->part; i < suite->loaded->operation_count; i += suite->parts) {
    const hx_manifest_operation_t *row = &suite->loaded->operations[i];
    if (operation_wanted(suite, row) && is_asked_for(suite, row->type) && strcmp(row->type, "fusion.region") != 0)
      run_row(suite, row, log_n_max);
  }
}

void with_first_call(suite_t *suite, const hx_manifest_operation_t *row, const hx_impl *impl, uint32_t log_n,
                     bool (*visit)(suite_t *suite, const call_t *call)) {
  const op_case_t *op = op_case_find(row->type);
  const uint32_t word = (row->dtypes >> HX_U64 & 1) != 0 ? 64 : 32;
  log_n = log_n > row->log_n_max ? row->log_n_max : log_n < row->log_n_min ? row->log_n_min : log_n;
  const ring_t *ring = suite_ring(suite, log_n, word, row->prime_bits_min, row->prime_bits_max);
  if (ring == NULL || op == NULL) return;
  sweep_t sweep = {.suite = suite,
                   .impl = impl,
                   .row = row,
                   .ring = ring,
                   .pattern = FILL_RANDOM,
                   .visit = visit,
                   .first_only = true};
  op->run(&sweep);
}

bool with_some_call(suite_t *suite, uint32_t log_n, bool (*visit)(suite_t *suite, const call_t *call)) {
  for (size_t i = 0; i < suite->loaded->operation_count; ++i) {
    const hx_manifest_operation_t *row = &suite->loaded->operations[i];
    const hx_impl *impl = find_impl(suite, row);
    if (!operation_wanted(suite, row) || impl == NULL || !row->bit_exact || row->resource_count > 0 ||
        op_case_find(row->type) == NULL)
      continue;
    with_first_call(suite, row, impl, log_n, visit);
    return true;
  }
  case_skip(suite, "no declared operation of these tiers can be run");
  return false;
}
