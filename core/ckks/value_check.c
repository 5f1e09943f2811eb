// SPDX-License-Identifier: Apache-2.0
// What must hold of a value: its state under the parameters, its residues below their primes.
#include "core/ckks/value.h"

static hx_status_t check_counts(const hx_ring *ring, const hx_type_t *type, hx_report_t *report) {
  hx_status_t status = HX_STATUS_OK;
  if (type->kind == HX_TYPE_CIPHERTEXT && (type->components < 2 || type->components > 3)) {
    status = hx_report_fail(report, HX_CODE_COMPONENTS, "a ciphertext of %u components: it has two or three",
                            type->components);
  }
  if (type->kind == HX_TYPE_PLAINTEXT && type->components > 1) {
    status = hx_report_fail(report, HX_CODE_COMPONENTS, "a plaintext of %u components: it has one", type->components);
  }
  const uint32_t half = (uint32_t)1 << (ring->log_n - 1);
  if (type->slots == 0 || type->slots > half || (type->slots & (type->slots - 1)) != 0) {
    status = hx_report_fail(report, HX_CODE_SLOTS, "%u slots: a power of two between 1 and N/2 = %u is needed",
                            type->slots, half);
  }
  bool empty = type->batch_rank > HX_BATCH_RANK_MAX;
  for (uint32_t a = 0; !empty && a < type->batch_rank; ++a) empty = type->batch_shape[a] == 0;
  if (empty) status = hx_report_fail(report, HX_CODE_SHAPE, "a batch axis is empty, or there are more than four");
  return status;
}

// At a depth the rows are Q's active primes, P's, or both.
static hx_status_t check_primes(const hx_ring *ring, const hx_type_t *type, hx_report_t *report) {
  const uint32_t max_depth = hx_ring_max_depth(ring);
  if (type->depth > max_depth) {
    return hx_report_fail(report, HX_CODE_NO_DEPTH, "depth %u: these parameters end at %u", type->depth, max_depth);
  }
  hx_primes_t rows = {{0}};
  if (type->basis == HX_BASIS_Q || type->basis == HX_BASIS_QP) rows = hx_ring_active(ring, type->depth);
  if (type->basis == HX_BASIS_P || type->basis == HX_BASIS_QP) {
    for (uint32_t id = ring->q_count; id < ring->q_count + ring->p_count; ++id) hx_primes_add(&rows, id);
  }
  const uint32_t count = hx_primes_count(&rows);
  if (count == 0 || !hx_primes_equal(&rows, &type->primes)) {
    return hx_report_fail(report, HX_CODE_PRIMES,
                          "a value at depth %u has other primes (%u of them) than its basis there has (%u)",
                          type->depth, hx_primes_count(&type->primes), count);
  }
  return HX_STATUS_OK;
}

// Residues of the ring's word on its primes, or signed words that belong to no prime.
static hx_status_t check_tensor(const hx_ring *ring, const hx_type_t *type, hx_report_t *report) {
  if (!hx_type_is_complete(type)) {
    return hx_report_fail(report, HX_CODE_TYPE, "a part of a tensor's state is unknown");
  }
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&type->primes, ids);
  const uint32_t dtype = ring->word == 32 ? HX_U32 : HX_U64;
  if (type->dtype == HX_I64 ? count != 0 : type->dtype != dtype) {
    return hx_report_fail(report, HX_CODE_TYPE,
                          "a tensor holds residues of %u bits, or i64 words that belong to no prime", ring->word);
  }
  if (count > 0 && ids[count - 1] >= ring->q_count + ring->p_count) {
    return hx_report_fail(report, HX_CODE_PRIMES, "prime id %u: the parameters have %u primes", ids[count - 1],
                          ring->q_count + ring->p_count);
  }
  if (type->dtype != HX_I64 && count == 0) return hx_report_fail(report, HX_CODE_PRIMES, "a tensor without rows");
  if (type->components == 0) return hx_report_fail(report, HX_CODE_COMPONENTS, "a tensor without components");
  return HX_STATUS_OK;
}

hx_status_t hx_value_check_type(const hx_params_t *params, const hx_type_t *type, hx_report_t *report) {
  const hx_ring *ring = hx_params_ring(params);
  if (type->kind == HX_TYPE_SEED) return HX_STATUS_OK;
  if (type->kind == HX_TYPE_TENSOR) return check_tensor(ring, type, report);
  if (type->kind == HX_TYPE_INTEGER || type->kind == HX_TYPE_INDEX || type->kind == HX_TYPE_F64) return HX_STATUS_OK;
  if (type->kind != HX_TYPE_CIPHERTEXT && type->kind != HX_TYPE_PLAINTEXT) {
    return hx_report_fail(report, HX_CODE_TYPE, "a value is a ciphertext, a plaintext, a tensor, a seed or a number");
  }
  if (!hx_type_is_complete(type)) {
    return hx_report_fail(report, HX_CODE_TYPE, "a part of a value's state is unknown");
  }
  hx_status_t status = check_counts(ring, type, report);
  const hx_status_t primes = check_primes(ring, type, report);
  if (primes != HX_STATUS_OK) status = primes;
  if ((type->domain != HX_COEFFICIENT && type->domain != HX_NTT) || type->repr < HX_STANDARD ||
      type->repr > HX_MONTGOMERY) {
    status = hx_report_fail(report, HX_CODE_DOMAIN, "a value's domain or representation is none");
  }
  return status;
}

// ------------------------------------------------------------------ residues

// Index of the first word at or above the bound, or n. The first loop has no exit, so that it vectorises.
static uint64_t first_above_u64(const uint64_t *row, uint64_t n, uint64_t bound) {
  uint64_t bad = 0;
  for (uint64_t i = 0; i < n; ++i) bad |= (uint64_t)(row[i] >= bound);
  if (bad == 0) return n;
  uint64_t at = 0;
  while (row[at] < bound) ++at;
  return at;
}

static uint64_t first_above_u32(const uint32_t *row, uint64_t n, uint64_t bound) {
  uint64_t bad = 0;
  for (uint64_t i = 0; i < n; ++i) bad |= (uint64_t)(row[i] >= bound);
  if (bad == 0) return n;
  uint64_t at = 0;
  while (row[at] < bound) ++at;
  return at;
}

typedef struct hx_row_place {
  uint64_t item;
  uint32_t digit, component, limb;
} hx_row_place_t;

static hx_status_t check_row(const hx_tensor_t *tensor, const hx_row_place_t *place, uint32_t id, uint64_t bound,
                             const char *what, hx_report_t *report) {
  const hx_layout_t *layout = &tensor->layout;
  const uint64_t n = (uint64_t)1 << layout->log_n;
  const void *row = hx_tensor_row(tensor, place->item, place->digit, place->component, place->limb);
  if (row == NULL) return hx_report_fail(report, HX_CODE_DEVICE_MIX, "%s lies on a device, not in host memory", what);
  const bool wide = layout->dtype == HX_U64;
  const uint64_t at = wide ? first_above_u64(row, n, bound) : first_above_u32(row, n, bound);
  if (at == n) return HX_STATUS_OK;
  const uint64_t found = wide ? ((const uint64_t *)row)[at] : ((const uint32_t *)row)[at];
  return hx_report_fail(
      report, HX_CODE_RESIDUE,
      "%s: batch item %llu, digit %u, component %u, row %u (prime id %u), index %llu holds %llu, which "
      "is not below %llu",
      what, (unsigned long long)place->item, place->digit, place->component, place->limb, id, (unsigned long long)at,
      (unsigned long long)found, (unsigned long long)bound);
}

hx_status_t hx_tensor_check_residues(const hx_tensor_t *tensor, const hx_ring *ring, const uint32_t *ids,
                                     uint32_t factor, const char *what, hx_report_t *report) {
  const hx_layout_t *layout = &tensor->layout;
  const uint64_t items = hx_layout_items(layout);
  const uint32_t digits = layout->digits == 0 ? 1 : layout->digits;
  hx_row_place_t place;
  for (place.item = 0; place.item < items; ++place.item) {
    for (place.digit = 0; place.digit < digits; ++place.digit) {
      for (place.component = 0; place.component < layout->components; ++place.component) {
        for (place.limb = 0; place.limb < layout->limbs; ++place.limb) {
          const uint32_t id = ids[place.limb];
          // factor is 1 or 2, primes are below 2^61.
          HX_TRY(check_row(tensor, &place, id, ring->primes[id] * factor, what, report));
        }
      }
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_value_check_residues(const hx_value_t *value, hx_report_t *report) {
  uint32_t ids[HX_PRIMES_MAX];
  (void)hx_primes_list(&value->type.primes, ids);
  return hx_tensor_check_residues(value->tensor, hx_params_ring(value->params), ids,
                                  value->type.repr == HX_LAZY ? 2 : 1,
                                  value->type.kind == HX_TYPE_PLAINTEXT ? "the plaintext" : "the ciphertext", report);
}
