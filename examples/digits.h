// SPDX-License-Identifier: Apache-2.0
// The data and the network of the digits example, shared by its training program and the encrypted classifier: 64
// pixels, 32 hidden units with square activations, 10 scores.
#ifndef HELIOX_EXAMPLES_DIGITS_H
#define HELIOX_EXAMPLES_DIGITS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS_PIXELS 64
#define DIGITS_HIDDEN 32
#define DIGITS_CLASSES 10
#define DIGITS_ROWS_MAX 2000

typedef struct digits_data {
  size_t rows;
  double pixels[DIGITS_ROWS_MAX][DIGITS_PIXELS];  // 0 .. 1
  int labels[DIGITS_ROWS_MAX];
} digits_data_t;

// scores = second (first x + first_bias)^2 + second_bias
typedef struct digits_model {
  double first[DIGITS_HIDDEN][DIGITS_PIXELS], first_bias[DIGITS_HIDDEN];
  double second[DIGITS_CLASSES][DIGITS_HIDDEN], second_bias[DIGITS_CLASSES];
} digits_model_t;

#define DIGITS_NUMBERS (sizeof(digits_model_t) / sizeof(double))

// Every 4th row is held out of training.
static inline bool digits_is_held_out(size_t row) { return row % 4 == 3; }

static inline void digits_scores(const digits_model_t *model, const double *pixels, double *hidden, double *scores) {
  for (int h = 0; h < DIGITS_HIDDEN; ++h) {
    double sum = model->first_bias[h];
    for (int i = 0; i < DIGITS_PIXELS; ++i) sum += model->first[h][i] * pixels[i];
    hidden[h] = sum;
  }
  for (int c = 0; c < DIGITS_CLASSES; ++c) {
    scores[c] = model->second_bias[c];
    for (int h = 0; h < DIGITS_HIDDEN; ++h) scores[c] += model->second[c][h] * hidden[h] * hidden[h];
  }
}

static inline int digits_best(const double *scores) {
  int best = 0;
  for (int c = 1; c < DIGITS_CLASSES; ++c)
    if (scores[c] > scores[best]) best = c;
  return best;
}

// Reads digits.csv: 64 pixels of 0 to 16 and the label on each line. False with a line on stderr where it is not so.
static inline bool digits_read_data(const char *path, digits_data_t *data) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "cannot open %s\n", path);
    return false;
  }
  bool good = true;
  data->rows = 0;
  double first = 0;
  while (good && data->rows < DIGITS_ROWS_MAX && fscanf(file, "%lf,", &first) == 1) {
    double *pixels = data->pixels[data->rows];
    pixels[0] = first / 16;
    for (int i = 1; i < DIGITS_PIXELS && good; ++i) {
      good = fscanf(file, "%lf,", &pixels[i]) == 1;
      pixels[i] /= 16;
    }
    good = good && fscanf(file, "%d", &data->labels[data->rows]) == 1 && data->labels[data->rows] >= 0 &&
           data->labels[data->rows] < DIGITS_CLASSES;
    ++data->rows;
  }
  fclose(file);
  good = good && data->rows > 0;
  if (!good) fprintf(stderr, "%s is not the expected table\n", path);
  return good;
}

// Reads digits-model.csv: the numbers of digits_model_t, one a line.
static inline bool digits_read_model(const char *path, digits_model_t *model) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "cannot open %s\n", path);
    return false;
  }
  double *numbers = &model->first[0][0];
  size_t count = 0;
  while (count < DIGITS_NUMBERS && fscanf(file, "%lf", &numbers[count]) == 1) ++count;
  fclose(file);
  if (count == DIGITS_NUMBERS) return true;
  fprintf(stderr, "%s has %zu numbers, the network %zu\n", path, count, DIGITS_NUMBERS);
  return false;
}

#endif
