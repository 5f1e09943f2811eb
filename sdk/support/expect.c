// SPDX-License-Identifier: Apache-2.0
// What build functions share: checks of operands and results.
#include <string.h>

#include "heliox/support/prepare.h"

int32_t hxs_expect_counts(const hxs_build *build, uint32_t operands_min, uint32_t operands_max, uint32_t results_min,
                          uint32_t results_max) {
  const hxs_prepared *p = build->prepared;
  if (p->operand_count < operands_min || p->operand_count > operands_max) {
    return hxs_refuse(build, HX_INVALID, "%u operands are given, at least %u and at most %u belong here",
                      p->operand_count, operands_min, operands_max);
  }
  if (p->result_count < results_min || p->result_count > results_max) {
    return hxs_refuse(build, HX_INVALID, "%u results are given, at least %u and at most %u belong here",
                      p->result_count, results_min, results_max);
  }
  return HX_OK;
}

static int32_t differs(const hxs_build *build, const hxs_view *view, const char *what, uint64_t found,
                       uint64_t expected) {
  return hxs_refuse(build, HX_INVALID, "%s %u has %s %llu, must be %llu", view->side, view->index, what,
                    (unsigned long long)found, (unsigned long long)expected);
}

int32_t hxs_expect_residues(const hxs_build *build, const hxs_view *view) {
  if (!hxs_view_is_residue(view)) {
    return hxs_refuse(build, HX_INVALID, "%s %u has dtype %u, must hold residues", view->side, view->index,
                      view->dtype);
  }
  return view->digits == 0 ? HX_OK : differs(build, view, "digits", view->digits, 0);
}

int32_t hxs_expect_components(const hxs_build *build, const hxs_view *view, uint32_t components) {
  return view->components == components ? HX_OK : differs(build, view, "components", view->components, components);
}

static const char *domain_name(uint32_t domain) { return domain == HX_NTT ? "ntt" : "coefficient"; }

int32_t hxs_expect_domain(const hxs_build *build, const hxs_view *view, uint32_t domain) {
  if (view->domain == domain) {
    return HX_OK;
  }
  return hxs_refuse(build, HX_INVALID, "%s %u is in %s domain, must be in %s domain", view->side, view->index,
                    domain_name(view->domain), domain_name(domain));
}

int32_t hxs_expect_repr(const hxs_build *build, const hxs_view *view, uint32_t repr) {
  static const char *const names[] = {"no residue", "standard", "lazy", "montgomery"};
  if (view->repr == repr) {
    return HX_OK;
  }
  return hxs_refuse(build, HX_INVALID, "%s %u is %s, must be %s", view->side, view->index, names[view->repr],
                    names[repr]);
}

int32_t hxs_expect_ids(const hxs_build *build, const hxs_view *view, uint32_t count, const uint32_t *ids) {
  if (view->limbs != count) {
    return differs(build, view, "limbs", view->limbs, count);
  }
  for (uint32_t limb = 0; limb < count; limb++) {
    if (view->ids[limb] != ids[limb]) {
      return hxs_refuse(build, HX_INVALID, "row %u of %s %u is of prime %u, must be of prime %u", limb, view->side,
                        view->index, view->ids[limb], ids[limb]);
    }
  }
  return HX_OK;
}

int32_t hxs_expect_leading(const hxs_build *build, const hxs_view *view) {
  for (uint32_t limb = 0; limb < view->limbs; limb++) {
    if (view->ids[limb] != limb || limb >= build->ring->q_count) {
      return hxs_refuse(build, HX_INVALID,
                        "row %u of %s %u is of prime %u; it must stand on the first primes of Q, in order", limb,
                        view->side, view->index, view->ids[limb]);
    }
  }
  return HX_OK;
}

int32_t hxs_expect_listed(const hxs_build *build) {
  uint32_t ids[HXS_PRIMES_MAX], count = 0;
  HXS_TRY(hxs_attr_ids(build, "ids", ids, &count));
  return hxs_expect_ids(build, &build->prepared->results[0], count, ids);
}

int32_t hxs_expect_seed(const hxs_build *build, const hxs_view *view) {
  if (view->dtype == HX_U8 && view->log_n == 5 && view->limbs == 1 && view->components == 1 && view->digits == 0) {
    return HX_OK;
  }
  return hxs_refuse(
      build, HX_INVALID,
      "%s %u has dtype %u, log_n %u, %u limbs and %u components; a seed is 32 bytes: dtype %d, log_n 5, 1 and 1",
      view->side, view->index, view->dtype, view->log_n, view->limbs, view->components, HX_U8);
}

int32_t hxs_expect_batch(const hxs_build *build, hxs_view *view, const hxs_view *shape) {
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

int32_t hxs_expect_like(const hxs_build *build, hxs_view *view, const hxs_view *shape) {
  HXS_TRY(hxs_expect_residues(build, view));
  HXS_TRY(hxs_expect_batch(build, view, shape));
  HXS_TRY(hxs_expect_components(build, view, shape->components));
  HXS_TRY(hxs_expect_ids(build, view, shape->limbs, shape->ids));
  HXS_TRY(hxs_expect_domain(build, view, shape->domain));
  return hxs_expect_repr(build, view, shape->repr);
}

int32_t hxs_expect_factor(const hxs_build *build, hxs_view *view, const hxs_view *shape) {
  HXS_TRY(hxs_expect_components(build, view, 1));
  view->components = shape->components;
  view->component_stride = 0;
  return hxs_expect_like(build, view, shape);
}

void hxs_allow_alias(const hxs_build *build, uint32_t result, uint32_t operand) {
  const hxs_view *to = &build->prepared->results[result], *from = &build->prepared->operands[operand];
  if (hxs_view_same_layout(to, from)) {
    build->plan->may_alias[to->slot] = (int32_t)from->slot;
  }
}
