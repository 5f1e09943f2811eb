// SPDX-License-Identifier: Apache-2.0
// Trains the demo's logistic regression on wdbc.csv and writes wdbc-model.csv. Usage: train_wdbc DATA.csv MODEL.csv
//
// Plain gradient descent with momentum on the standardised training rows (every 4th row is held out) with a small L2
// term; deterministic. Then all weights are scaled by one number, so that |z| stays inside the range where the
// polynomial of the encrypted program rises: decisions at score 1/2 depend on the sign of z alone and do not change.
#include "examples/wdbc.h"

#define STEPS 20000
#define RATE 0.05
#define MOMENTUM 0.9
#define L2 0.002
#define MARGIN 0.95  // of the polynomial's range, on the training rows

static void standardise(const wdbc_data_t *data, wdbc_model_t *model) {
  for (size_t k = 0; k < WDBC_FEATURES; ++k) {
    double sum = 0, squares = 0, count = 0;
    for (size_t r = 0; r < data->rows; ++r) {
      if (wdbc_is_held_out(r)) continue;
      sum += data->features[r][k];
      ++count;
    }
    model->mean[k] = sum / count;
    for (size_t r = 0; r < data->rows; ++r) {
      const double x = data->features[r][k] - model->mean[k];
      if (!wdbc_is_held_out(r)) squares += x * x;
    }
    model->deviation[k] = sqrt(squares / count);
  }
}

static void descend(const wdbc_data_t *data, wdbc_model_t *model) {
  double velocity[WDBC_TERMS] = {0};
  for (int step = 0; step < STEPS; ++step) {
    double gradient[WDBC_TERMS] = {0}, count = 0;
    for (size_t r = 0; r < data->rows; ++r) {
      if (wdbc_is_held_out(r)) continue;
      const double error = wdbc_sigmoid(wdbc_score(model, data->features[r])) - data->labels[r];
      for (size_t k = 0; k < WDBC_TERMS; ++k) gradient[k] += error * wdbc_term(model, data->features[r], k);
      ++count;
    }
    for (size_t k = 0; k < WDBC_TERMS; ++k) {
      const double pull = k == WDBC_FEATURES ? 0 : L2 * model->weights[k];
      velocity[k] = MOMENTUM * velocity[k] - RATE * (gradient[k] / count + pull);
      model->weights[k] += velocity[k];
    }
  }
}

// Largest |z| and share of right decisions over one part of the rows.
static double largest_z(const wdbc_data_t *data, const wdbc_model_t *model, bool held_out, double *out_accuracy) {
  double largest = 0, right = 0, count = 0;
  for (size_t r = 0; r < data->rows; ++r) {
    if (wdbc_is_held_out(r) != held_out) continue;
    const double z = wdbc_score(model, data->features[r]);
    largest = fmax(largest, fabs(z));
    right += (z > 0) == (data->labels[r] == 1);
    ++count;
  }
  *out_accuracy = right / count;
  return largest;
}

static bool write_model(const char *path, const wdbc_model_t *model) {
  FILE *file = fopen(path, "w");
  if (file == NULL) return false;
  for (size_t k = 0; k < WDBC_FEATURES; ++k)
    fprintf(file, "%.10g,%.10g,%.10g\n", model->mean[k], model->deviation[k], model->weights[k]);
  fprintf(file, "%.10g\n", model->weights[WDBC_FEATURES]);
  return fclose(file) == 0;
}

int main(int argc, char **argv) {
  static wdbc_data_t data;
  static wdbc_model_t model;
  if (argc != 3) {
    fprintf(stderr, "Usage: train_wdbc DATA.csv MODEL.csv\n");
    return 2;
  }
  if (!wdbc_read_data(argv[1], &data)) return 3;
  standardise(&data, &model);
  descend(&data, &model);
  double accuracy;
  const double scale = MARGIN * WDBC_RANGE / largest_z(&data, &model, false, &accuracy);
  for (size_t k = 0; k < WDBC_TERMS; ++k) model.weights[k] *= scale;
  if (!write_model(argv[2], &model)) {
    fprintf(stderr, "cannot write %s\n", argv[2]);
    return 3;
  }
  for (int held_out = 0; held_out < 2; ++held_out) {
    const double largest = largest_z(&data, &model, held_out, &accuracy);
    printf("%s rows: largest |z| %.3f, accuracy %.4f\n", held_out ? "held-out" : "training", largest, accuracy);
  }
  return 0;
}
