// SPDX-License-Identifier: Apache-2.0
// What the suites share: samples, the machine's measured limits, and the report.
#ifndef HX_BENCH_H
#define HX_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What this processor does at best, measured before the suites.
typedef struct bench_machine {
  double cycles_per_ns;  // of the core at work
  // Read and written by a copy, by how many bytes it touches in all: BENCH_REACHES of bench_reach.
  double bytes_per_ns[4];
} bench_machine_t;

#define BENCH_REACHES 4
// Bytes that the i-th copy touches: in the second cache, in the last one, and beyond.
size_t bench_reach(int i);

// Work of an operation, for its bound: max(bytes / bandwidth, butterflies * 5/8 + products / 8 cycles). A butterfly of
// eight lanes takes five cycles, and the two halves of a conversion's product two instructions of eight lanes.
typedef struct bench_work {
  double butterflies, products, bytes;
} bench_work_t;

typedef struct bench_suite {
  bench_machine_t machine;
  int samples;
  const char *only;  // how names begin that the ckks suite measures
  bool quiet;        // no table, for --json -
  json_t *rows;      // array
} bench_suite_t;

double bench_now(void);  // nanoseconds
// From now on bench_now counts this process's processor time, all its threads together: for one thread on a busy
// machine.
void bench_use_cpu_time(void);
bench_machine_t bench_machine(void);
double bench_bound(const bench_machine_t *machine, const bench_work_t *work);  // nanoseconds

// Calls body(state) for every sample, `inner` times each, after one call that is not counted, and adds a row: `facts`
// (stolen), median, minimum, maximum, bound and the share of it reached, in microseconds. Returns false where body
// does.
bool bench_measure(bench_suite_t *suite, json_t *facts, const bench_work_t *work, int inner, bool (*body)(void *),
                   void *state);

// Adds the rows of the bandwidths.
void bench_bandwidth(bench_suite_t *suite);
// What multiply, relinearize and rescale cost against N, limbs and threads, as an SVG drawing.
bool bench_plot(bench_suite_t *suite, const char *path, uint32_t threads);

// The rows as an HTML page with drawings. False, having said why, where it cannot be written.
bool bench_page(const bench_suite_t *suite, const char *path);

// The row kernels of every variant this processor has.
bool bench_micro(bench_suite_t *suite);
// Operations of the engine on the cpu plugin, for one preset; digits: 0, or of another set with the same Q.
bool bench_ckks(bench_suite_t *suite, const char *preset, uint32_t digits);

#endif
