// SPDX-License-Identifier: Apache-2.0
// Shape of a matrix product: diagonals that there are, baby and giant steps, rotations.
#include "core/circuits/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

#define SLOTS_MAX ((uint32_t)1 << 16)

static uint32_t power_from(size_t x) {
  uint32_t power = 1;
  while (power < x) power *= 2;  // x is at most SLOTS_MAX
  return power;
}

static size_t parts(const hx_matrix_options_t *options) { return options->is_complex ? 2 : 1; }

static hx_status_t check(const hx_matrix_options_t *options, const double *entries, hx_report_t *report) {
  if (options == NULL || entries == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_matrix_create: options or entries are NULL");
  if (options->rows == 0 || options->columns == 0)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "the matrix is %zu by %zu; give at least one row and column", options->rows,
                          options->columns);
  const uint32_t slots = options->slots;
  if (slots == 0 || slots > SLOTS_MAX || (slots & (slots - 1)) != 0)
    return hx_report_fail(report, HX_CODE_SLOTS, "slots is %u; it must be a power of two from 1 to %u", slots,
                          SLOTS_MAX);
  if (options->rows > slots || options->columns > slots)
    return hx_report_fail(report, HX_CODE_SLOTS,
                          "the matrix is %zu by %zu, and the vectors have %u slots; use more slots or split the matrix",
                          options->rows, options->columns, slots);
  const uint32_t period = options->period == 0 ? slots : options->period;
  if ((period & (period - 1)) != 0 || period > slots || period < options->columns)
    return hx_report_fail(report, HX_CODE_SLOTS,
                          "the period is %u; it must be a power of two from the columns (%zu) up to the slots (%u)",
                          period, options->columns, slots);
  for (size_t i = 0; i < options->rows; ++i)
    for (size_t j = 0; j < options->columns * parts(options); ++j)
      if (!isfinite(entries[i * options->columns * parts(options) + j]))
        return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "entry (%zu, %zu) of the matrix is not finite", i,
                              j / parts(options));
  return HX_STATUS_OK;
}

// Marks the diagonals with an entry that is not 0: entry (i, j) is in diagonal (j - i) mod D.
static void find_diagonals(hx_matrix_t *matrix) {
  const hx_matrix_options_t *options = &matrix->options;
  const size_t width = parts(options);
  for (size_t i = 0; i < options->rows; ++i)
    for (size_t j = 0; j < options->columns; ++j) {
      const double *entry = matrix->entries + (i * options->columns + j) * width;
      if (entry[0] == 0.0 && entry[width - 1] == 0.0) continue;
      matrix->used[(j - i) & (matrix->diagonals - 1)] = true;  // D divides 2^64
    }
}

// Distinct steps by `baby`; [diagonals] of scratch each.
static void count_steps(const hx_matrix_t *matrix, uint32_t baby, bool *babies, bool *giants, uint32_t *out_babies,
                        uint32_t *out_giants) {
  memset(babies, 0, matrix->diagonals);
  memset(giants, 0, matrix->diagonals);
  uint32_t baby_count = 0, giant_count = 0;
  for (uint32_t k = 0; k < matrix->diagonals; ++k) {
    if (!matrix->used[k]) continue;
    baby_count += !babies[k % baby];
    giant_count += !giants[k / baby];
    babies[k % baby] = giants[k / baby] = true;
  }
  *out_babies = baby_count;
  *out_giants = giant_count;
}

// Work of a choice in quarters of a key switch: a giant step is a whole one, a baby step shares its decomposition with
// the others (half), and a product with a plaintext costs about a fiftieth.
static uint64_t work_of(uint32_t babies, uint32_t giants) {
  return 50 * (uint64_t)babies + 100 * (uint64_t)giants + 2 * (uint64_t)babies * giants;
}

static void choose_baby(hx_matrix_t *matrix, bool *babies, bool *giants) {
  uint64_t least = UINT64_MAX;
  uint32_t baby_count, giant_count;
  // Beyond twice the root baby steps only grow; a sparse matrix may want any step up to all of them.
  for (uint32_t baby = 1; baby <= matrix->diagonals; baby += baby < 256 ? 1 : baby / 16) {
    count_steps(matrix, baby, babies, giants, &baby_count, &giant_count);
    const uint64_t work = work_of(baby_count, giant_count);
    if (work >= least) continue;
    least = work;
    matrix->baby = baby;
  }
  count_steps(matrix, matrix->diagonals, babies, giants, &baby_count, &giant_count);
  if (work_of(baby_count, giant_count) < least) matrix->baby = matrix->diagonals;
}

static hx_status_t list_steps(hx_matrix_t *matrix) {
  const uint32_t diagonals = matrix->diagonals;
  bool *babies = hx_zalloc(2 * (size_t)diagonals, sizeof *babies);
  if (babies == NULL) return HX_STATUS_OUT_OF_MEMORY;
  bool *giants = babies + diagonals;
  uint32_t any = 0;
  while (any < diagonals && !matrix->used[any]) ++any;
  if (any == diagonals) matrix->used[0] = true;  // a zero matrix keeps one diagonal
  matrix->baby = matrix->options.baby;
  if (matrix->baby == 0 || matrix->baby > diagonals) choose_baby(matrix, babies, giants);
  count_steps(matrix, matrix->baby, babies, giants, &matrix->baby_count, &matrix->giant_count);
  matrix->babies = hx_alloc(matrix->baby_count * sizeof *matrix->babies);
  matrix->giants = hx_alloc(matrix->giant_count * sizeof *matrix->giants);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (matrix->babies != NULL && matrix->giants != NULL) {
    uint32_t b = 0, g = 0;
    for (uint32_t k = 0; k < diagonals; ++k) {
      if (babies[k]) matrix->babies[b++] = k;
      if (giants[k]) matrix->giants[g++] = k * matrix->baby;
    }
    status = HX_STATUS_OK;
  }
  hx_free(babies);
  return status;
}

hx_status_t hx_matrix_create(const hx_matrix_options_t *options, const double *entries, hx_matrix_t **out,
                             hx_report_t *report) {
  if (out == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_matrix_create: out is NULL");
  HX_TRY(check(options, entries, report));
  hx_matrix_t *matrix = hx_zalloc(1, sizeof *matrix);
  if (matrix == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a matrix");
  atomic_init(&matrix->refs, 1);
  pthread_mutex_init(&matrix->lock, NULL);
  matrix->options = *options;
  if (options->period == 0) matrix->options.period = options->slots;
  const uint32_t period = matrix->options.period;
  matrix->row_period = power_from(options->rows);
  matrix->width = matrix->row_period > period ? matrix->row_period : period;
  matrix->diagonals = matrix->row_period > period ? period : matrix->row_period;
  const size_t numbers = options->rows * options->columns * parts(options);
  matrix->entries = hx_alloc(numbers * sizeof *matrix->entries);
  matrix->used = hx_zalloc(matrix->diagonals, sizeof *matrix->used);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (matrix->entries != NULL && matrix->used != NULL) {
    memcpy(matrix->entries, entries, numbers * sizeof *entries);
    find_diagonals(matrix);
    status = list_steps(matrix);
  }
  if (status != HX_STATUS_OK) {
    hx_matrix_release(matrix);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a matrix of %zu by %zu", options->rows,
                          options->columns);
  }
  *out = matrix;
  return HX_STATUS_OK;
}

hx_matrix_t *hx_matrix_retain(const hx_matrix_t *matrix) {
  hx_matrix_t *kept = (hx_matrix_t *)(uintptr_t)matrix;
  atomic_fetch_add_explicit(&kept->refs, 1, memory_order_relaxed);
  return kept;
}

void hx_matrix_release(hx_matrix_t *matrix) {
  if (matrix == NULL || atomic_fetch_sub_explicit(&matrix->refs, 1, memory_order_acq_rel) != 1) return;
  hx_matrix_weights_release(matrix->weights);
  pthread_mutex_destroy(&matrix->lock);
  hx_free(matrix->entries);
  hx_free(matrix->used);
  hx_free(matrix->babies);
  hx_free(matrix->giants);
  hx_free(matrix);
}

bool hx_matrix_has(const hx_matrix_t *matrix, uint32_t g, uint32_t b) {
  const uint32_t k = matrix->giants[g] + matrix->babies[b];
  return k < matrix->diagonals && matrix->used[k];
}

void hx_matrix_diagonal(const hx_matrix_t *matrix, uint32_t g, uint32_t b, double *out) {
  const hx_matrix_options_t *options = &matrix->options;
  const size_t size = parts(options);
  memset(out, 0, matrix->width * size * sizeof *out);
  if (!hx_matrix_has(matrix, g, b)) return;
  const uint32_t giant = matrix->giants[g], k = giant + matrix->babies[b];
  for (uint32_t i = 0; i < matrix->width; ++i) {  // slot i before the giant rotation is slot i - giant after it
    const uint32_t place = (i - giant) & (matrix->width - 1);
    const size_t row = place & (matrix->row_period - 1), column = (place + k) & (options->period - 1);
    if (row >= options->rows || column >= options->columns) continue;
    memcpy(out + i * size, matrix->entries + (row * options->columns + column) * size, size * sizeof *out);
  }
}

static uint32_t fold_count(const hx_matrix_t *matrix) {
  return (uint32_t)__builtin_ctz(matrix->width / matrix->row_period);
}

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

size_t hx_matrix_rotations(const hx_matrix_t *matrix, int64_t *out_steps, size_t room) {
  const uint32_t folds = fold_count(matrix);
  const size_t most = (size_t)matrix->baby_count + matrix->giant_count + folds;
  int64_t *steps = hx_alloc(most * sizeof *steps);
  if (steps == NULL) return 0;
  size_t count = 0;
  for (uint32_t b = 0; b < matrix->baby_count; ++b) steps[count++] = matrix->babies[b];
  for (uint32_t g = 0; g < matrix->giant_count; ++g) steps[count++] = matrix->giants[g];
  for (uint32_t f = 0; f < folds; ++f) steps[count++] = (int64_t)matrix->row_period << f;
  qsort(steps, count, sizeof *steps, by_value);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (steps[i] % matrix->options.slots == 0 || (kept > 0 && steps[kept - 1] == steps[i])) continue;
    steps[kept++] = steps[i];
  }
  if (out_steps != NULL) memcpy(out_steps, steps, (kept < room ? kept : room) * sizeof *steps);
  hx_free(steps);
  return kept;
}

void hx_matrix_cost(const hx_matrix_t *matrix, hx_matrix_cost_t *out) {
  *out = (hx_matrix_cost_t){.baby = matrix->baby_count,
                            .giant = matrix->giant_count,
                            .folds = fold_count(matrix),
                            .period = matrix->row_period};
  for (uint32_t k = 0; k < matrix->diagonals; ++k) out->diagonals += matrix->used[k];
}
