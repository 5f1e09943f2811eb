// SPDX-License-Identifier: Apache-2.0
// Trains the network of the digits example on digits.csv and writes digits-model.csv. Usage: train_digits DATA.csv
// MODEL.csv
//
// Stochastic gradient descent on the cross-entropy of the scores, with a small L2 term; every 4th row is held out.
// Deterministic: the same order and the same start every time.
#include "examples/digits.h"

#define EPOCHS 60
#define RATE 0.02
#define L2 1e-4
#define SCORE_MAX 16

static uint64_t state = 20170526;

static double random_number(void) {  // in [-1, 1)
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(state >> 11) / 0x1p52 - 1;
}

static void start(digits_model_t *model) {
  double *numbers = &model->first[0][0];
  for (size_t i = 0; i < DIGITS_NUMBERS; ++i) numbers[i] = 0;
  for (int h = 0; h < DIGITS_HIDDEN; ++h)
    for (int i = 0; i < DIGITS_PIXELS; ++i) model->first[h][i] = 0.2 * random_number();
  for (int c = 0; c < DIGITS_CLASSES; ++c)
    for (int h = 0; h < DIGITS_HIDDEN; ++h) model->second[c][h] = 0.3 * random_number();
}

// One step against the gradient of one row.
static void descend(digits_model_t *model, const double *pixels, int label, double rate) {
  double hidden[DIGITS_HIDDEN], scores[DIGITS_CLASSES], back[DIGITS_HIDDEN] = {0}, total = 0;
  digits_scores(model, pixels, hidden, scores);
  const double largest = scores[digits_best(scores)];
  for (int c = 0; c < DIGITS_CLASSES; ++c) total += exp(scores[c] - largest);
  for (int c = 0; c < DIGITS_CLASSES; ++c) {
    const double error = exp(scores[c] - largest) / total - (c == label);
    for (int h = 0; h < DIGITS_HIDDEN; ++h) {
      back[h] += error * model->second[c][h] * 2 * hidden[h];
      model->second[c][h] -= rate * (error * hidden[h] * hidden[h] + L2 * model->second[c][h]);
    }
    model->second_bias[c] -= rate * error;
  }
  for (int h = 0; h < DIGITS_HIDDEN; ++h) {
    for (int i = 0; i < DIGITS_PIXELS; ++i)
      model->first[h][i] -= rate * (back[h] * pixels[i] + L2 * model->first[h][i]);
    model->first_bias[h] -= rate * back[h];
  }
}

static double accuracy(const digits_data_t *data, const digits_model_t *model, bool held_out, double *out_largest) {
  double right = 0, count = 0, hidden[DIGITS_HIDDEN], scores[DIGITS_CLASSES];
  *out_largest = 0;
  for (size_t r = 0; r < data->rows; ++r) {
    if (digits_is_held_out(r) != held_out) continue;
    digits_scores(model, data->pixels[r], hidden, scores);
    right += digits_best(scores) == data->labels[r];
    ++count;
    for (int h = 0; h < DIGITS_HIDDEN; ++h) *out_largest = fmax(*out_largest, fabs(hidden[h]));
    for (int c = 0; c < DIGITS_CLASSES; ++c) *out_largest = fmax(*out_largest, fabs(scores[c]));
  }
  return right / count;
}

// All scores times one number, so that the largest stays far below what the last modulus holds; the best one is the
// same.
static void scale_scores(const digits_data_t *data, digits_model_t *model) {
  double largest = 0, hidden[DIGITS_HIDDEN], scores[DIGITS_CLASSES];
  for (size_t r = 0; r < data->rows; ++r) {
    digits_scores(model, data->pixels[r], hidden, scores);
    for (int c = 0; c < DIGITS_CLASSES; ++c) largest = fmax(largest, fabs(scores[c]));
  }
  for (int c = 0; c < DIGITS_CLASSES; ++c) {
    for (int h = 0; h < DIGITS_HIDDEN; ++h) model->second[c][h] *= SCORE_MAX / largest;
    model->second_bias[c] *= SCORE_MAX / largest;
  }
}

static bool write_model(const char *path, const digits_model_t *model) {
  FILE *file = fopen(path, "w");
  if (file == NULL) return false;
  const double *numbers = &model->first[0][0];
  for (size_t i = 0; i < DIGITS_NUMBERS; ++i) fprintf(file, "%.6g\n", numbers[i]);
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  static digits_data_t data;
  static digits_model_t model;
  if (argc != 3) {
    fprintf(stderr, "usage: train_digits DATA.csv MODEL.csv\n");
    return 2;
  }
  if (!digits_read_data(argv[1], &data)) return 1;
  start(&model);
  for (int epoch = 0; epoch < EPOCHS; ++epoch)
    for (size_t i = 0; i < data.rows; ++i) {
      const size_t r = i * 797 % data.rows;  // 797 is prime, so every row comes once
      if (!digits_is_held_out(r)) descend(&model, data.pixels[r], data.labels[r], RATE / (1 + 0.1 * epoch));
    }
  scale_scores(&data, &model);
  double largest = 0;
  printf("right on the training rows: %.4f\n", accuracy(&data, &model, false, &largest));
  const double held_out = accuracy(&data, &model, true, &largest);
  printf("right on the held-out rows: %.4f, largest number %.2f\n", held_out, largest);
  if (!write_model(argv[2], &model)) {
    fprintf(stderr, "cannot write %s\n", argv[2]);
    return 1;
  }
  return 0;
}
