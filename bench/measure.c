// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

static clockid_t measured = CLOCK_MONOTONIC;

void bench_use_cpu_time(void) { measured = CLOCK_PROCESS_CPUTIME_ID; }

double bench_now(void) {
  struct timespec t;
  clock_gettime(measured, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// A chain of multiplications takes three cycles each on every processor since 2010; the shortest of several runs is the
// one that nothing disturbed.
static double cycles_per_ns(void) {
  enum { STEPS = 400000 };
  double best = 0;
  for (int run = 0; run < 30; run++) {
    uint64_t x = (uint64_t)run | 1;
    const double begin = bench_now();
    for (int i = 0; i < STEPS; i++) {
      x *= 0x9e3779b97f4a7c15u;
      __asm__ volatile("" : "+r"(x));
    }
    const double rate = 3 * STEPS / (bench_now() - begin);
    best = rate > best ? rate : best;
  }
  return best;
}

size_t bench_reach(int i) {
  static const size_t reaches[BENCH_REACHES] = {(size_t)1 << 20, (size_t)16 << 20, (size_t)128 << 20,
                                                (size_t)512 << 20};
  return reaches[i];
}

static double bytes_per_ns(size_t reach) {
  const size_t bytes = reach / 2, rounds = ((size_t)256 << 20) / bytes;
  char *from = malloc(bytes), *to = malloc(bytes);
  double best = 0;
  if (from != NULL && to != NULL) {
    memset(from, 1, bytes);
    memset(to, 2, bytes);
    for (int run = 0; run < 5; run++) {
      const double begin = bench_now();
      for (size_t i = 0; i < rounds; i++) {
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory");
      }
      const double rate = 2 * (double)bytes * (double)rounds / (bench_now() - begin);
      best = rate > best ? rate : best;
    }
  }
  free(from);
  free(to);
  return best;
}

bench_machine_t bench_machine(void) {
  bench_machine_t machine = {.cycles_per_ns = cycles_per_ns()};
  for (int i = 0; i < BENCH_REACHES; i++) {
    machine.bytes_per_ns[i] = bytes_per_ns(bench_reach(i));
  }
  return machine;
}

void bench_bandwidth(bench_suite_t *suite) {
  for (int i = 0; i < BENCH_REACHES; i++) {
    if (!suite->quiet) {
      printf("copy that touches %4zu MiB: %6.1f bytes/ns\n", bench_reach(i) >> 20, suite->machine.bytes_per_ns[i]);
    }
    json_array_append_new(suite->rows,
                          json_pack("{s:s, s:i, s:f}", "copy", "read and written", "mib", (int)(bench_reach(i) >> 20),
                                    "bytes_per_ns", suite->machine.bytes_per_ns[i]));
  }
}

double bench_bound(const bench_machine_t *machine, const bench_work_t *work) {
  const double cycles = work->butterflies * 5 / 8 + work->products / 8;
  int reach = 0;
  while (reach < BENCH_REACHES - 1 && work->bytes > (double)bench_reach(reach)) {
    reach++;
  }
  const double rate = machine->bytes_per_ns[reach], memory = rate > 0 ? work->bytes / rate : 0;
  return cycles / machine->cycles_per_ns > memory ? cycles / machine->cycles_per_ns : memory;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_row(const json_t *row) {
  const char *name = NULL;
  json_t *value = NULL;
  char facts[160];
  size_t used = 0;
  facts[0] = 0;
  json_object_foreach((json_t *)row, name, value) {
    const size_t room = used < sizeof facts ? sizeof facts - used : 0;
    int written = 0;
    if (json_is_string(value)) {
      written = snprintf(facts + used, room, "%s ", json_string_value(value));
    } else if (json_is_integer(value)) {
      written = snprintf(facts + used, room, "%s=%lld ", name, (long long)json_integer_value(value));
    }
    used += written > 0 ? (size_t)written : 0;
  }
  printf("%-64s %11.2f %11.2f %11.2f %11.2f %5.2f\n", facts, json_real_value(json_object_get(row, "median_us")),
         json_real_value(json_object_get(row, "minimum_us")), json_real_value(json_object_get(row, "maximum_us")),
         json_real_value(json_object_get(row, "bound_us")), json_real_value(json_object_get(row, "share")));
  fflush(stdout);
}

bool bench_measure(bench_suite_t *suite, json_t *facts, const bench_work_t *work, int inner, bool (*body)(void *),
                   void *state) {
  const int count = suite->samples;
  double *samples = malloc((size_t)count * sizeof *samples);
  bool good = samples != NULL && facts != NULL && body(state);
  for (int i = 0; good && i < count; i++) {
    const double begin = bench_now();
    for (int k = 0; good && k < inner; k++) {
      good = body(state);
    }
    samples[i] = (bench_now() - begin) / inner;
  }
  if (good) {
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    const double median = samples[count / 2], bound = bench_bound(&suite->machine, work);
    json_object_set_new(facts, "median_us", json_real(median / 1e3));
    json_object_set_new(facts, "minimum_us", json_real(samples[0] / 1e3));
    json_object_set_new(facts, "maximum_us", json_real(samples[count - 1] / 1e3));
    json_object_set_new(facts, "bound_us", json_real(bound / 1e3));
    json_object_set_new(facts, "share", json_real(bound / median));
    json_array_append(suite->rows, facts);
    if (!suite->quiet) {
      print_row(facts);
    }
  }
  json_decref(facts);
  free(samples);
  return good;
}
