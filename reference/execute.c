// SPDX-License-Identifier: Apache-2.0
// hx_reference_execute: find the routine, check, take scratch memory, run every batch item.
#include <stdlib.h>
#include <string.h>

#include "reference/routines.h"

#define MANY UINT32_MAX

#define ROUTINE(name_, functions_, operands_min_, operands_max_, results_max_, variant_) \
  { name_, hx_ref_check_##functions_, hx_ref_run_##functions_, operands_min_, operands_max_, 1, results_max_, variant_ }

// clang-format off
static const hx_ref_routine routines[] = {
    ROUTINE("core.constant", constant, 0, 0, 1, 0),
    ROUTINE("ntt.forward", forward, 1, 1, 1, 0),
    ROUTINE("ntt.inverse", inverse, 1, 1, 1, 0),
    ROUTINE("rns.add", linear, 2, 2, 1, HX_REF_ADD),
    ROUTINE("rns.sub", linear, 2, 2, 1, HX_REF_SUB),
    ROUTINE("rns.neg", linear, 1, 1, 1, HX_REF_NEG),
    ROUTINE("rns.mul", product, 2, 2, 1, HX_REF_MUL),
    ROUTINE("rns.mul_add", product, 3, 3, 1, HX_REF_MUL_ADD),
    ROUTINE("rns.mul_scalar", scalar, 1, 1, 1, HX_REF_MUL),
    ROUTINE("rns.add_scalar", scalar, 1, 1, 1, HX_REF_ADD),
    ROUTINE("rns.reduce", reduce, 1, 1, 1, 0),
    ROUTINE("rns.center_lift", center_lift, 1, 1, 1, 0),
    ROUTINE("rns.mod_up", mod_up, 1, 1, 1, 0),
    ROUTINE("rns.mod_down", mod_down, 1, 1, 1, 0),
    ROUTINE("rns.rescale", rescale, 1, 1, 1, 0),
    ROUTINE("rns.automorphism", automorphism, 1, 1, 1, 0),
    ROUTINE("rns.expand_uniform", expand_uniform, 1, 1, 1, 0),
    ROUTINE("rns.sum", sum, 1, 1, 1, 0),
    ROUTINE("rns.weighted_sum", weighted_sum, 2, MANY, MANY, 0),
    ROUTINE("rns.to_montgomery", montgomery, 1, 1, 1, HX_REF_TO_MONTGOMERY),
    ROUTINE("rns.from_montgomery", montgomery, 1, 1, 1, HX_REF_FROM_MONTGOMERY),
    ROUTINE("rns.mul_montgomery", montgomery, 2, 2, 1, HX_REF_MUL_MONTGOMERY),
    ROUTINE("rns.mixed_radix", mixed_radix, 1, 1, 1, 0),
    ROUTINE("rns.extend_exact", extend_exact, 1, 1, 1, 0),
    ROUTINE("rns.select_limbs", select_limbs, 1, 1, 1, 0),
    ROUTINE("rns.concat_limbs", concat_limbs, 1, MANY, 1, 0),
    ROUTINE("rns.select_components", select_components, 1, 1, 1, 0),
    ROUTINE("rns.pack_components", pack_components, 1, MANY, 1, 0),
    ROUTINE("rns.key_product", key_product, 2, 3, 1, 0),
    ROUTINE("ckks.add", ckks_linear, 2, 2, 1, HX_REF_ADD),
    ROUTINE("ckks.sub", ckks_linear, 2, 2, 1, HX_REF_SUB),
    ROUTINE("ckks.neg", ckks_linear, 1, 1, 1, HX_REF_NEG),
    ROUTINE("ckks.add_plain", ckks_plain, 2, 2, 1, HX_REF_ADD),
    ROUTINE("ckks.sub_plain", ckks_plain, 2, 2, 1, HX_REF_SUB),
    ROUTINE("ckks.mul_plain", ckks_plain, 2, 2, 1, HX_REF_MUL),
    ROUTINE("ckks.add_scalar", ckks_scalar, 1, 1, 1, HX_REF_ADD),
    ROUTINE("ckks.mul_scalar", ckks_scalar, 1, 1, 1, HX_REF_MUL),
    ROUTINE("ckks.mul_integer", ckks_integer, 1, 1, 1, 0),
    ROUTINE("ckks.mul", ckks_multiply, 2, 2, 1, 0),
    ROUTINE("ckks.square", ckks_multiply, 1, 1, 1, 0),
    ROUTINE("ckks.sum", sum, 1, 1, 1, HX_REF_WHOLE),
    ROUTINE("ckks.weighted_sum", weighted_sum, 2, MANY, MANY, HX_REF_WHOLE),
    ROUTINE("ckks.relinearize", relinearize, 2, 2, 1, 0),
    ROUTINE("ckks.rescale", ckks_rescale, 1, 1, 1, 0),
    ROUTINE("ckks.level_drop", level_drop, 1, 1, 1, 0),
    ROUTINE("ckks.reinterpret_scale", copy, 1, 1, 1, 0),
    ROUTINE("ckks.to_ntt", to_domain, 1, 1, 1, HX_NTT),
    ROUTINE("ckks.from_ntt", to_domain, 1, 1, 1, HX_COEFFICIENT),
    ROUTINE("ckks.key_switch", key_switch, 2, 2, 1, 0),
    ROUTINE("ckks.rotate", rotate, 1, 2, 1, HX_REF_ROTATE),
    ROUTINE("ckks.conjugate", rotate, 2, 2, 1, HX_REF_CONJUGATE),
    ROUTINE("ckks.rotate_many", rotate_many, 1, MANY, MANY, 0),
    ROUTINE("ckks.rotate_sum", rotate_sum, 1, MANY, 1, 0),
    ROUTINE("ckks.rotate_weighted_sum", rotate_weighted_sum, 2, MANY, MANY, 0),
    ROUTINE("ckks.prepare_plain", prepare_plain, 1, 1, 1, 0),
};
// clang-format on

static const hx_ref_routine *find_routine(const char *name) {
  for (size_t i = 0; name != NULL && i < sizeof routines / sizeof *routines; ++i)
    if (strcmp(routines[i].name, name) == 0) return &routines[i];
  return NULL;
}

int32_t hx_reference_has(const char *name) { return find_routine(name) != NULL; }

static int32_t check_count(const hx_ref_call *call, const char *what, uint32_t count, uint32_t low, uint32_t high) {
  if (count >= low && count <= high) return HX_OK;
  if (high == MANY) return hx_ref_refuse(call, HX_INVALID, "%u %s, must be at least %u", count, what, low);
  if (low != high) return hx_ref_refuse(call, HX_INVALID, "%u %s, must be %u to %u", count, what, low, high);
  return hx_ref_refuse(call, HX_INVALID, "%u %s, must be %u", count, what, low);
}

static int32_t check_call(hx_ref_call *call) {
  const hx_op *op = call->op;
  const hx_ref_routine *routine = find_routine(op->name);
  if (routine == NULL)
    return hx_ref_fail(call->error, HX_UNSUPPORTED, "%s has no reference",
                       op->name == NULL ? "operation without a name" : op->name);
  call->routine = routine;
  if (op->signature != 1)
    return hx_ref_refuse(call, HX_UNSUPPORTED, "signature %u, the reference has 1", op->signature);
  HX_REF_TRY(check_count(call, "operands", op->operand_count, routine->operands_min, routine->operands_max));
  HX_REF_TRY(check_count(call, "results", op->result_count, routine->results_min, routine->results_max));
  for (uint32_t i = 0; i < op->operand_count; ++i) HX_REF_TRY(hx_ref_check_place(call, hx_ref_operand(call, i)));
  for (uint32_t i = 0; i < op->result_count; ++i) HX_REF_TRY(hx_ref_check_place(call, hx_ref_result(call, i)));
  return routine->check(call);
}

int32_t hx_reference_execute(const hx_ref_ring *ring, const hx_op *op, const hx_tensor_desc *values, void *const *data,
                             hx_error *error) {
  if (ring == NULL || op == NULL || values == NULL || data == NULL)
    return hx_ref_fail(error, HX_INVALID, "reference: ring, operation, values or data is NULL");
  hx_ref_call call = {.ring = ring, .op = op, .values = values, .data = data, .error = error};
  HX_REF_TRY(check_call(&call));
  const size_t bytes = (size_t)call.scratch_rows * ring->n * sizeof *call.scratch;
  call.scratch = malloc(bytes == 0 ? 1 : bytes);
  if (call.scratch == NULL)
    return hx_ref_refuse(&call, HX_OUT_OF_MEMORY, "no memory for %zu bytes of scratch rows", bytes);
  for (uint64_t item = 0; item < call.items; ++item) call.routine->run(&call, item);
  hx_ref_scratch_release(call.scratch, bytes);
  return HX_OK;
}
