// SPDX-License-Identifier: Apache-2.0
// Plaintexts that repeat, kept as one period. A message of period p lies on the coefficients k * gap, gap = N / 2p, so
// it is a polynomial in X^gap, and its value at psi^(2 brv(i) + 1) depends on that power's gap-th power alone: on the
// high bits of i. So a row in ntt domain is made of blocks of `gap` equal elements, and one of each is enough.
#include "core/ckks/compact.h"

#include <string.h>

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a compact plaintext");
}

static hx_status_t check(const hx_value_t *plaintext, hx_report_t *report) {
  if (plaintext->type.kind != HX_TYPE_PLAINTEXT)
    return hx_report_fail(report, HX_CODE_TYPE, "hx_plaintext_compact takes a plaintext, not a %s",
                          hx_type_kind_name(plaintext->type.kind));
  if (plaintext->secret)
    return hx_report_fail(report, HX_CODE_SECRET,
                          "a secret plaintext is not made compact: finding its period would show something of it");
  if (plaintext->type.domain != HX_NTT || plaintext->type.repr != HX_STANDARD)
    return hx_report_fail(report, HX_CODE_DOMAIN,
                          "hx_plaintext_compact takes standard residues in ntt domain; use to_ntt or reduce");
  if (plaintext->type.batch_rank != 0)
    return hx_report_fail(report, HX_CODE_SHAPE, "hx_plaintext_compact takes one plaintext; make the items compact");
  if (plaintext->tensor->storage->address == NULL)
    return hx_report_fail(report, HX_CODE_DEVICE_MIX, "hx_plaintext_compact reads host memory; transfer it first");
  return HX_STATUS_OK;
}

// The largest block, at most `gap`, in which all elements of the row are equal.
static size_t block_of(const char *row, size_t n, size_t width, size_t gap) {
  for (size_t i = 0; i < n && gap > 1; ++i)
    while (gap > 1 && memcmp(row + i * width, row + (i & ~(gap - 1)) * width, width) != 0) gap /= 2;
  return gap;
}

hx_status_t hx_plaintext_compact(const hx_value_t *plaintext, hx_compact_t **out, hx_report_t *report) {
  if (plaintext == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plaintext_compact: plaintext or out is NULL");
  HX_TRY(hx_value_want_data(plaintext, "hx_plaintext_compact reads residues", report));
  HX_TRY(check(plaintext, report));
  const hx_ring *ring = hx_params_ring(plaintext->params);
  const size_t n = (size_t)1 << ring->log_n, width = ring->word / 8, limbs = hx_primes_count(&plaintext->type.primes);
  size_t gap = n;
  for (uint32_t l = 0; l < limbs; ++l) {
    const size_t found = block_of(hx_tensor_row(plaintext->tensor, 0, 0, 0, l), n, width, gap);
    gap = found < gap ? found : gap;
  }
  hx_compact_t *compact = hx_zalloc(1, sizeof *compact);
  const size_t row_bytes = n / gap * width;
  char *rows = hx_alloc(limbs * row_bytes);
  if (compact == NULL || rows == NULL) {
    hx_free(compact);
    hx_free(rows);
    return no_memory(report);
  }
  for (uint32_t l = 0; l < limbs; ++l) {
    const char *row = hx_tensor_row(plaintext->tensor, 0, 0, 0, l);
    for (size_t i = 0; i < n / gap; ++i) memcpy(rows + l * row_bytes + i * width, row + i * gap * width, width);
  }
  atomic_init(&compact->refs, 1);
  compact->params = hx_params_retain(plaintext->params);
  hx_type_copy(&compact->type, &plaintext->type);
  compact->count = plaintext->count;
  compact->is_complex = plaintext->is_complex;
  compact->noise = plaintext->noise;
  compact->gap = gap;
  compact->bytes = limbs * row_bytes;
  compact->rows = rows;
  *out = compact;
  return HX_STATUS_OK;
}

// Each element `gap` times.
static void repeat(const char *from, size_t count, size_t gap, size_t width, char *to) {
  for (size_t i = 0; i < count; ++i) {
    if (width == sizeof(uint64_t)) {
      uint64_t x, *block = (uint64_t *)to + i * gap;
      memcpy(&x, from + i * width, sizeof x);
      for (size_t j = 0; j < gap; ++j) block[j] = x;
    } else {
      uint32_t x, *block = (uint32_t *)to + i * gap;
      memcpy(&x, from + i * width, sizeof x);
      for (size_t j = 0; j < gap; ++j) block[j] = x;
    }
  }
}

hx_status_t hx_compact_expand(const hx_compact_t *compact, hx_value_t **out, hx_report_t *report) {
  if (compact == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compact_expand: compact or out is NULL");
  const hx_ring *ring = hx_params_ring(compact->params);
  const size_t width = ring->word / 8, count = ((size_t)1 << ring->log_n) / compact->gap;
  hx_value_t *value = NULL;
  if (hx_value_create_unset(compact->params, &compact->type, false, &value) != HX_STATUS_OK) return no_memory(report);
  const uint32_t limbs = hx_primes_count(&compact->type.primes);
  for (uint32_t l = 0; l < limbs; ++l)
    repeat(compact->rows + l * count * width, count, compact->gap, width, hx_tensor_row(value->tensor, 0, 0, 0, l));
  value->count = compact->count;
  value->is_complex = compact->is_complex;
  value->noise = compact->noise;
  hx_tensor_touch(value->tensor);
  *out = value;
  return HX_STATUS_OK;
}

hx_compact_t *hx_compact_retain(const hx_compact_t *compact) {
  hx_compact_t *kept = (hx_compact_t *)(uintptr_t)compact;
  atomic_fetch_add_explicit(&kept->refs, 1, memory_order_relaxed);
  return kept;
}

void hx_compact_release(hx_compact_t *compact) {
  if (compact == NULL || atomic_fetch_sub_explicit(&compact->refs, 1, memory_order_acq_rel) != 1) return;
  hx_params_release(compact->params);
  hx_free(compact->rows);
  hx_free(compact);
}

uint64_t hx_compact_bytes(const hx_compact_t *compact) { return compact->bytes; }
