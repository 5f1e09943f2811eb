// SPDX-License-Identifier: Apache-2.0
// What build functions share: memory, and checks of operands and results.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prepare.h"

struct hx_cuda_block {
  struct hx_cuda_block *next;
};

#define BLOCK_HEAD 64u  // keeps what follows 64-byte aligned

void *hx_cuda_keep(hx_prepared *prepared, size_t count, size_t size) {
  void *memory = NULL;
  if (size != 0 && count > (SIZE_MAX - BLOCK_HEAD) / size) {
    return NULL;
  }
  if (posix_memalign(&memory, BLOCK_HEAD, BLOCK_HEAD + count * size) != 0) {
    return NULL;
  }
  memset(memory, 0, BLOCK_HEAD + count * size);
  struct hx_cuda_block *block = memory;
  block->next = prepared->blocks;
  prepared->blocks = block;
  return (char *)memory + BLOCK_HEAD;
}

int32_t hx_cuda_keep_or_fail(const hx_cuda_build_t *build, size_t count, size_t size, void *out_pointer) {
  void *memory = hx_cuda_keep(build->prepared, count, size);
  if (memory == NULL) {
    return hx_cuda_refuse(build, HX_OUT_OF_MEMORY, "no memory for %zu times %zu bytes", count, size);
  }
  memcpy(out_pointer, &memory, sizeof memory);
  return HX_OK;
}

void hx_cuda_destroy(hx_prepared *prepared) {
  if (prepared == NULL) {
    return;
  }
  while (prepared->blocks != NULL) {
    struct hx_cuda_block *block = prepared->blocks;
    prepared->blocks = block->next;
    free(block);
  }
  if (prepared->constants != 0) {
    hx_cuda_device_free(prepared->device, prepared->constants);
  }
  free(prepared);
}

int32_t hx_cuda_refuse(const hx_cuda_build_t *build, int32_t code, const char *format, ...) {
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return hx_cuda_fail(build->error, code, "%.64s: %s", build->op->name, text);
}

int32_t hx_cuda_expect_counts(const hx_cuda_build_t *build, uint32_t operands_min, uint32_t operands_max,
                              uint32_t results_min, uint32_t results_max) {
  const hx_prepared *p = build->prepared;
  if (p->operand_count < operands_min || p->operand_count > operands_max) {
    return hx_cuda_refuse(build, HX_INVALID, "%u operands are given, at least %u and at most %u belong here",
                          p->operand_count, operands_min, operands_max);
  }
  if (p->result_count < results_min || p->result_count > results_max) {
    return hx_cuda_refuse(build, HX_INVALID, "%u results are given, at least %u and at most %u belong here",
                          p->result_count, results_min, results_max);
  }
  return HX_OK;
}

static int32_t differs(const hx_cuda_build_t *build, const hx_cuda_view_t *view, const char *what, uint64_t found,
                       uint64_t expected) {
  return hx_cuda_refuse(build, HX_INVALID, "%s %u has %s %llu, must be %llu", view->side, view->index, what,
                        (unsigned long long)found, (unsigned long long)expected);
}

int32_t hx_cuda_expect_residues(const hx_cuda_build_t *build, const hx_cuda_view_t *view) {
  if (!hx_cuda_view_is_residue(view)) {
    return hx_cuda_refuse(build, HX_INVALID, "%s %u has dtype %u, must hold residues", view->side, view->index,
                          view->dtype);
  }
  return view->digits == 0 ? HX_OK : differs(build, view, "digits", view->digits, 0);
}

int32_t hx_cuda_expect_components(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t components) {
  return view->components == components ? HX_OK : differs(build, view, "components", view->components, components);
}

static const char *domain_name(uint32_t domain) { return domain == HX_NTT ? "ntt" : "coefficient"; }

int32_t hx_cuda_expect_domain(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t domain) {
  if (view->domain == domain) {
    return HX_OK;
  }
  return hx_cuda_refuse(build, HX_INVALID, "%s %u is in %s domain, must be in %s domain", view->side, view->index,
                        domain_name(view->domain), domain_name(domain));
}

int32_t hx_cuda_expect_repr(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t repr) {
  static const char *const names[] = {"no residue", "standard", "lazy", "montgomery"};
  if (view->repr == repr) {
    return HX_OK;
  }
  return hx_cuda_refuse(build, HX_INVALID, "%s %u is %s, must be %s", view->side, view->index, names[view->repr],
                        names[repr]);
}

int32_t hx_cuda_expect_ids(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t count,
                           const uint32_t *ids) {
  if (view->limbs != count) {
    return differs(build, view, "limbs", view->limbs, count);
  }
  for (uint32_t limb = 0; limb < count; limb++) {
    if (view->ids[limb] != ids[limb]) {
      return hx_cuda_refuse(build, HX_INVALID, "row %u of %s %u is of prime %u, must be of prime %u", limb, view->side,
                            view->index, view->ids[limb], ids[limb]);
    }
  }
  return HX_OK;
}

int32_t hx_cuda_expect_batch(const hx_cuda_build_t *build, hx_cuda_view_t *view, const hx_cuda_view_t *shape) {
  if (view->batch_rank == 0 && view->side[0] == 'o') {
    view->batch_rank = shape->batch_rank;
    view->items = shape->items;
    memcpy(view->batch_shape, shape->batch_shape, sizeof view->batch_shape);
    memset(view->batch_strides, 0, sizeof view->batch_strides);
  }
  if (view->batch_rank != shape->batch_rank) {
    return differs(build, view, "batch axes", view->batch_rank, shape->batch_rank);
  }
  for (uint32_t axis = 0; axis < shape->batch_rank; axis++) {
    if (view->batch_shape[axis] != shape->batch_shape[axis]) {
      return differs(build, view, "batch items on an axis", view->batch_shape[axis], shape->batch_shape[axis]);
    }
  }
  return HX_OK;
}

int32_t hx_cuda_expect_like(const hx_cuda_build_t *build, hx_cuda_view_t *view, const hx_cuda_view_t *shape) {
  HX_CUDA_TRY(hx_cuda_expect_residues(build, view));
  HX_CUDA_TRY(hx_cuda_expect_batch(build, view, shape));
  HX_CUDA_TRY(hx_cuda_expect_components(build, view, shape->components));
  HX_CUDA_TRY(hx_cuda_expect_ids(build, view, shape->limbs, shape->ids));
  HX_CUDA_TRY(hx_cuda_expect_domain(build, view, shape->domain));
  return hx_cuda_expect_repr(build, view, shape->repr);
}

int32_t hx_cuda_expect_factor(const hx_cuda_build_t *build, hx_cuda_view_t *view, const hx_cuda_view_t *shape) {
  HX_CUDA_TRY(hx_cuda_expect_components(build, view, 1));
  view->components = shape->components;
  view->component_stride = 0;
  return hx_cuda_expect_like(build, view, shape);
}

void hx_cuda_allow_alias(const hx_cuda_build_t *build, uint32_t result, uint32_t operand) {
  const hx_cuda_view_t *to = &build->prepared->results[result], *from = &build->prepared->operands[operand];
  if (hx_cuda_view_same_layout(to, from)) {
    build->plan->may_alias[to->slot] = (int32_t)from->slot;
  }
}
