// SPDX-License-Identifier: Apache-2.0
// Mean and variance of a column of a CSV file that the server never sees. Usage: statistics DATA.csv COLUMN
//
// Lines that do not have a number in the column, such as a heading, are left out. One ciphertext holds the column;
// rotations by 1, 2, 4, ... add every slot to every other. Depth 3: squares, 1/count, and bringing the two terms of the
// variance to one scale.
#include <math.h>

#include "examples/example.h"

#define ROWS_MAX 4096  // slots of the parameters

static int read_column(const char *path, long column, double *out, size_t *out_count) {
  char line[4096];
  FILE *file = fopen(path, "r");
  if (file == NULL) return fprintf(stderr, "%s cannot be read\n", path), 1;
  *out_count = 0;
  while (fgets(line, sizeof line, file) != NULL && *out_count < ROWS_MAX) {
    char *at = line, *end = NULL;
    for (long i = 1; i < column && at != NULL; ++i) {
      at = strchr(at, ',');
      at = at != NULL ? at + 1 : NULL;
    }
    const double number = at != NULL ? strtod(at, &end) : 0;
    if (end != at && isfinite(number)) out[(*out_count)++] = number;
  }
  fclose(file);
  if (*out_count < 2) return fprintf(stderr, "%s has no two numbers in column %ld\n", path, column), 1;
  return 0;
}

// *value becomes the sum of its slots times `factor`, in every slot; one depth.
static int average(hx_engine_t *engine, hx_value_t **value, double factor) {
  for (int64_t step = 1; step < ROWS_MAX; step *= 2) {
    hx_value_t *turned = NULL;
    CHECK(hx_engine_rotate(engine, *value, step, &turned, report));
    CHECK(hx_engine_add_inplace(engine, value, turned, report));
    hx_value_release(turned);
  }
  hx_value_t *scaled = NULL, *rescaled = NULL;
  CHECK(hx_engine_mul_scalar(engine, *value, factor, 0, "2^40", &scaled, report));
  CHECK(hx_engine_rescale(engine, scaled, &rescaled, report));
  hx_value_release(scaled);
  hx_value_release(*value);
  *value = rescaled;
  return 0;
}

static int square(hx_engine_t *engine, const hx_value_t *value, hx_value_t **out) {
  hx_value_t *three = NULL, *two = NULL;
  CHECK(hx_engine_square(engine, value, &three, report));
  CHECK(hx_engine_relinearize(engine, three, &two, report));
  CHECK(hx_engine_rescale(engine, two, out, report));
  hx_value_release(three);
  hx_value_release(two);
  return 0;
}

// The server: mean and E[x^2] - mean^2 of what x holds.
static int compute(hx_engine_t *engine, const hx_value_t *x, size_t count, hx_value_t **out_mean,
                   hx_value_t **out_variance) {
  hx_value_t *squares = NULL, *mean = hx_value_retain(x), *mean_square = NULL, *a = NULL, *b = NULL;
  if (square(engine, x, &squares) || average(engine, &squares, 1.0 / (double)count)) return 1;
  if (average(engine, &mean, 1.0 / (double)count) || square(engine, mean, &mean_square)) return 1;
  CHECK(hx_engine_match(engine, squares, mean_square, &a, &b, report));
  CHECK(hx_engine_sub(engine, a, b, out_variance, report));
  *out_mean = mean;
  hx_value_t *const done[] = {squares, mean_square, a, b};
  for (size_t i = 0; i < sizeof done / sizeof *done; ++i) hx_value_release(done[i]);
  return 0;
}

static int run(const char *path, long column) {
  static double numbers[ROWS_MAX];
  int64_t steps[16];
  size_t count = 0, step_count = 0;
  session_t s;
  hx_value_t *x = NULL, *mean = NULL, *variance = NULL;
  if (read_column(path, column, numbers, &count)) return 1;
  // Into [-1, 1], so that squares keep their precision; undone after decryption.
  double largest = 0, clear_mean = 0, clear_variance = 0, found[2];
  for (size_t i = 0; i < count; ++i) largest = fmax(largest, fabs(numbers[i]));
  largest = largest > 0 ? largest : 1;
  for (size_t i = 0; i < count; ++i) clear_mean += numbers[i] / (double)count;
  for (size_t i = 0; i < count; ++i)
    clear_variance += (numbers[i] - clear_mean) * (numbers[i] - clear_mean) / (double)count;
  for (size_t i = 0; i < count; ++i) numbers[i] /= largest;
  for (int64_t step = 1; step < ROWS_MAX; step *= 2) steps[step_count++] = step;
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_PUBLIC | HX_KEYS_RELIN | HX_KEYS_GALOIS, .rotations = steps, .rotation_count = step_count};
  if (session_open(&s, "n13-d3-s40", &options) || session_encrypt(&s, numbers, count, &x)) return 1;
  if (compute(s.engine, x, count, &mean, &variance)) return 1;
  if (session_decrypt(&s, mean, &found[0], 1) || session_decrypt(&s, variance, &found[1], 1)) return 1;
  printf("%zu numbers\nmean      %.6g encrypted, %.6g in the clear\nvariance  %.6g encrypted, %.6g in the clear\n",
         count, found[0] * largest, clear_mean, found[1] * largest * largest, clear_variance);
  hx_value_release(x);
  hx_value_release(mean);
  hx_value_release(variance);
  session_close(&s);
  return 0;
}

int main(int argc, char **argv) {
  const long column = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
  if (column < 1) return fprintf(stderr, "usage: statistics DATA.csv COLUMN (columns from 1)\n"), 2;
  report = hx_report_create();
  const int failed = run(argv[1], column);
  hx_report_release(report);
  return failed;
}
