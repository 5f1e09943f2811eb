// SPDX-License-Identifier: Apache-2.0
// The data and the model of the logistic regression example, shared by its training program and the demo.
#ifndef HELIOX_EXAMPLES_WDBC_H
#define HELIOX_EXAMPLES_WDBC_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WDBC_FEATURES 30
#define WDBC_TERMS (WDBC_FEATURES + 1)  // measurements and a constant 1
#define WDBC_ROWS_MAX 1000
// sigmoid(z) is taken as 1/2 + z (A - B z^2), which rises for |z| < WDBC_RANGE = sqrt(A / (3 B)).
#define WDBC_A 0.15012
#define WDBC_B 0.001593
#define WDBC_RANGE 5.6

typedef struct wdbc_data {
  size_t rows;
  double features[WDBC_ROWS_MAX][WDBC_FEATURES];
  int labels[WDBC_ROWS_MAX];
} wdbc_data_t;

typedef struct wdbc_model {
  double mean[WDBC_FEATURES], deviation[WDBC_FEATURES];
  double weights[WDBC_TERMS];  // the bias last
} wdbc_model_t;

// Every 4th row is held out of training.
static inline bool wdbc_is_held_out(size_t row) { return row % 4 == 3; }

static inline double wdbc_polynomial(double z) { return 0.5 + z * (WDBC_A - WDBC_B * z * z); }
static inline double wdbc_sigmoid(double z) { return 1 / (1 + exp(-z)); }

// Measurement k of a row, standardised; the constant for k == WDBC_FEATURES.
static inline double wdbc_term(const wdbc_model_t *model, const double *features, size_t k) {
  return k == WDBC_FEATURES ? 1 : (features[k] - model->mean[k]) / model->deviation[k];
}

static inline double wdbc_score(const wdbc_model_t *model, const double *features) {
  double z = 0;
  for (size_t k = 0; k < WDBC_TERMS; ++k) z += model->weights[k] * wdbc_term(model, features, k);
  return z;
}

// Reads wdbc.csv. False with a line on stderr where it is not as expected.
static inline bool wdbc_read_data(const char *path, wdbc_data_t *data) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "cannot open %s\n", path);
    return false;
  }
  int rows = 0, features = 0;
  bool good = fscanf(file, "%d,%d,%*[^\n]", &rows, &features) == 2 && features == WDBC_FEATURES && rows > 0 &&
              rows <= WDBC_ROWS_MAX;
  for (int r = 0; r < rows && good; ++r) {
    for (int k = 0; k < WDBC_FEATURES && good; ++k) good = fscanf(file, "%lf,", &data->features[r][k]) == 1;
    good = good && fscanf(file, "%d", &data->labels[r]) == 1;
  }
  fclose(file);
  data->rows = (size_t)rows;
  if (!good) fprintf(stderr, "%s is not the expected table\n", path);
  return good;
}

// Reads wdbc-model.csv: 30 lines mean,deviation,weight, then the bias.
static inline bool wdbc_read_model(const char *path, wdbc_model_t *model) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "cannot open %s\n", path);
    return false;
  }
  bool good = true;
  for (int k = 0; k < WDBC_FEATURES && good; ++k) {
    good = fscanf(file, "%lf,%lf,%lf", &model->mean[k], &model->deviation[k], &model->weights[k]) == 3;
  }
  good = good && fscanf(file, "%lf", &model->weights[WDBC_FEATURES]) == 1;
  fclose(file);
  if (!good) fprintf(stderr, "%s is not the expected model\n", path);
  return good;
}

#endif
