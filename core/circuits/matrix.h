// SPDX-License-Identifier: Apache-2.0
// Matrices by diagonals. With the vector of period P in its slots, R the least power of two from `rows` up, and
// D = min(R, P), diagonal k < D has entry M[i mod R][(i + k) mod P] in slot i, period W = max(R, P); entries outside
// the matrix are 0. The sum of diagonal k times the vector rotated by k is, in slot i, the part of the product that the
// columns i .. i + D - 1 (mod P) make: all of it where D = P; else the slots i, i + R, i + 2R, ... of one period make
// up the whole, and rotations by R, 2R, ... add them (the folds) [HS14].
//
// Steps: k = giant * baby + b, and diagonal k is turned back by its giant step, as the giant rotation comes after.
#ifndef HELIOX_CORE_CIRCUITS_MATRIX_H
#define HELIOX_CORE_CIRCUITS_MATRIX_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/circuits/target.h"

// Encoded diagonals for one state of the vector.
typedef struct hx_matrix_weights {
  atomic_uint refs;
  uint8_t digest[32];  // of the parameters
  uint32_t depth;
  hx_scale_t scale;
  size_t count;
  struct {
    hx_value_t *value;  // or, of a compact matrix,
    hx_compact_t *compact;
  } items[];  // [count], empty until made
} hx_matrix_weights_t;

struct hx_matrix {
  atomic_uint refs;
  hx_matrix_options_t options;  // period filled in
  double *entries;
  uint32_t row_period, width, diagonals;  // R, W, D
  bool *used;                             // [diagonals]
  uint32_t baby;                          // of k = g * baby + b
  // Steps used, ascending, none by way of a diagonal that is 0; at least one each.
  uint32_t *babies, *giants;
  uint32_t baby_count, giant_count;
  pthread_mutex_t lock;          // of weights
  hx_matrix_weights_t *weights;  // last used, or NULL
};

void hx_matrix_weights_release(hx_matrix_weights_t *weights);  // NULL is fine

// Whether the matrix has the diagonal of babies[b] and giants[g].
bool hx_matrix_has(const hx_matrix_t *matrix, uint32_t g, uint32_t b);
// Entries of that diagonal as a plaintext, turned back by the giant step: `width` numbers or pairs.
void hx_matrix_diagonal(const hx_matrix_t *matrix, uint32_t g, uint32_t b, double *out);

// The product over a target. Weights come from `weight`, one for giants[g] and babies[b], a new reference each;
// `merged` asks for all of them, also those of diagonals that are 0, on Q and P.
typedef hx_status_t (*hx_matrix_weight_fn)(void *argument, uint32_t g, uint32_t b, const hx_type_t *type,
                                           hx_node_t **out, hx_report_t *report);
hx_status_t hx_emit_matrix(const hx_target_t *target, const hx_matrix_t *matrix, hx_node_t *x, const char *scale,
                           bool merged, hx_matrix_weight_fn weight, void *argument, hx_node_t **out,
                           hx_report_t *report);

#endif
