// SPDX-License-Identifier: Apache-2.0
// heliox-bench-cpu: medians, minima and maxima of kernels and operations on this machine's processors.
//   --suite NAME        micro, ckks or bandwidth (default: micro and ckks)
//   --digits N          the ckks suite's sets with so many digits
//   --html FILE         the rows as a page with drawings
//   --plot FILE         instead of a suite: a drawing (SVG) of cost against N, limbs and threads
//   --params NAME       preset of the ckks suite; may be repeated (default: C14, C15 and C16)
//   --only TEXT         operations whose name begins so
//   --samples N         default 31
//   --clock wall|cpu    cpu: processor time, for one thread on a busy machine (default: wall)
//   --json FILE         rows and machine as JSON; - is the standard output, which then has nothing else
//   --compare OLD.json  prints the ratio of medians, old to new, of the rows that both have
// HELIOX_NUM_THREADS and HELIOX_CPU_MASK count as they do for every program.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct options {
  const char *suite, *json, *compare, *only, *plot, *html;
  uint32_t digits;
  const char *params[8];
  size_t param_count;
  int samples;
  bool cpu_time;
} options_t;

static bool is_suite(const char *name) {
  return strcmp(name, "micro") == 0 || strcmp(name, "ckks") == 0 || strcmp(name, "bandwidth") == 0;
}

static bool parse(int count, char **arguments, options_t *out) {
  *out = (options_t){.samples = 31};
  for (int i = 1; i < count; i++) {
    const char *name = arguments[i], *value = i + 1 < count ? arguments[++i] : NULL;
    if (value == NULL) {
      return false;
    }
    if (strcmp(name, "--suite") == 0 && is_suite(value)) {
      out->suite = value;
    } else if (strcmp(name, "--json") == 0) {
      out->json = value;
    } else if (strcmp(name, "--html") == 0) {
      out->html = value;
    } else if (strcmp(name, "--plot") == 0) {
      out->plot = value;
    } else if (strcmp(name, "--digits") == 0 && atoi(value) >= 1 && atoi(value) <= 64) {
      out->digits = (uint32_t)atoi(value);
    } else if (strcmp(name, "--compare") == 0) {
      out->compare = value;
    } else if (strcmp(name, "--params") == 0 && out->param_count < 8) {
      out->params[out->param_count++] = value;
    } else if (strcmp(name, "--only") == 0) {
      out->only = value;
    } else if (strcmp(name, "--clock") == 0 && (strcmp(value, "wall") == 0 || strcmp(value, "cpu") == 0)) {
      out->cpu_time = strcmp(value, "cpu") == 0;
    } else if (strcmp(name, "--samples") == 0 && atoi(value) >= 1 && atoi(value) <= 100000) {
      out->samples = atoi(value);
    } else {
      return false;
    }
  }
  if (out->param_count == 0) {
    out->params[out->param_count++] = "n14-d6-s40";
    out->params[out->param_count++] = "n15-d14-s49";
    out->params[out->param_count++] = "n16-d27-s49";
  }
  return true;
}

// Whether all facts of a row (texts and whole numbers) are those of another.
static bool same_facts(json_t *a, json_t *b) {
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(a, name, value) {
    if (!json_is_real(value) && !json_equal(value, json_object_get(b, name))) {
      return false;
    }
  }
  return true;
}

static bool compare(const char *path, json_t *rows) {
  json_error_t error;
  json_t *old = json_load_file(path, 0, &error);
  if (old == NULL) {
    fprintf(stderr, "bench: %s:%d: %s\n", path, error.line, error.text);
    return false;
  }
  json_t *row = NULL, *before = NULL;
  size_t i = 0, k = 0;
  json_array_foreach(rows, i, row) {
    json_array_foreach(json_object_get(old, "rows"), k, before) {
      if (same_facts(row, before)) {
        char *text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(4));
        printf(
            "%6.2fx  %s\n",
            json_real_value(json_object_get(before, "median_us")) / json_real_value(json_object_get(row, "median_us")),
            text != NULL ? text : "");
        free(text);
      }
    }
  }
  json_decref(old);
  return true;
}

static bool run(const options_t *options, bench_suite_t *suite) {
  if (!suite->quiet) {
    printf("core %.2f cycles/ns, copy %.1f bytes/ns\n", suite->machine.cycles_per_ns,
           suite->machine.bytes_per_ns[BENCH_REACHES - 1]);
    printf("%-64s %11s %11s %11s %11s %5s\n", "microseconds", "median", "minimum", "maximum", "bound", "share");
  }
  bool good = true;
  if (options->plot != NULL) {
    const char *threads = getenv("HELIOX_NUM_THREADS");
    return bench_plot(suite, options->plot, threads != NULL && atoi(threads) > 0 ? (uint32_t)atoi(threads) : 2);
  }
  if (options->suite != NULL && strcmp(options->suite, "bandwidth") == 0) {
    bench_bandwidth(suite);
    return true;
  }
  if (options->suite == NULL || strcmp(options->suite, "micro") == 0) {
    good = bench_micro(suite);
  }
  for (size_t i = 0; good && i < options->param_count; i++) {
    if (options->suite == NULL || strcmp(options->suite, "ckks") == 0) {
      good = bench_ckks(suite, options->params[i], options->digits);
    }
  }
  return good;
}

static bool write_json(const options_t *options, const bench_suite_t *suite) {
  json_t *all = json_pack("{s:f, s:f, s:O}", "cycles_per_ns", suite->machine.cycles_per_ns, "bytes_per_ns",
                          suite->machine.bytes_per_ns[BENCH_REACHES - 1], "rows", suite->rows);
  const size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(6);
  const bool good = all != NULL && (strcmp(options->json, "-") == 0 ? json_dumpf(all, stdout, flags) == 0
                                                                    : json_dump_file(all, options->json, flags) == 0);
  if (!good) {
    fprintf(stderr, "bench: %s cannot be written\n", options->json);
  }
  json_decref(all);
  return good;
}

int main(int count, char **arguments) {
  options_t options;
  if (!parse(count, arguments, &options)) {
    fprintf(stderr,
            "usage: heliox-bench-cpu [--suite micro|ckks|bandwidth] [--plot FILE] [--html FILE] [--params NAME] "
            "[--digits N] [--only "
            "TEXT] "
            "[--samples N] [--clock wall|cpu] [--json FILE] [--compare OLD.json]\n");
    return 2;
  }
  if (options.cpu_time) {
    bench_use_cpu_time();
  }
  // Results come from the allocator: told to keep memory, it does not fetch fresh pages for every one of them.
  (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)mallopt(M_TRIM_THRESHOLD, -1);
  bench_suite_t suite = {.machine = bench_machine(),
                         .only = options.only != NULL ? options.only : "",
                         .samples = options.samples,
                         .quiet = options.json != NULL && strcmp(options.json, "-") == 0,
                         .rows = json_array()};
  bool good = suite.rows != NULL && run(&options, &suite);
  if (good && options.json != NULL) {
    good = write_json(&options, &suite);
  }
  if (good && options.html != NULL) {
    good = bench_page(&suite, options.html);
  }
  if (good && options.compare != NULL) {
    good = compare(options.compare, suite.rows);
  }
  json_decref(suite.rows);
  return good ? 0 : 1;
}
