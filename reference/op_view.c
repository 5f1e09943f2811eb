// SPDX-License-Identifier: Apache-2.0
// Operations that choose or gather rows and components; no residue changes.
#include "reference/routines.h"

static void copy_row(const hx_ref_call *call, hx_ref_place from, uint32_t from_component, uint32_t from_limb,
                     hx_ref_place to, uint32_t to_component, uint32_t to_limb, uint64_t item) {
  hx_ref_load(call, from, item, from_component, from_limb, call->scratch);
  hx_ref_store(call, to, item, to_component, to_limb, call->scratch);
}

// Every row of the result from the operand's row of the same prime.
static void copy_limbs(const hx_ref_call *call, uint64_t item, hx_ref_place a) {
  const hx_ref_place out = hx_ref_result(call, 0);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < out.desc->limbs; ++l) {
      const uint32_t from = hx_ref_limb_of(a.desc, out.desc->prime_ids[l]);
      if (from != HX_NONE) copy_row(call, a, c, from, out, c, l, item);
    }
}

// rns.select_limbs.

static int32_t check_selected(hx_ref_call *call, hx_ref_shape shape) {
  for (uint32_t i = 0; i < call->id_count; ++i)
    if (hx_ref_limb_of(hx_ref_operand(call, 0).desc, call->ids[i]) == HX_NONE)
      return hx_ref_refuse(call, HX_INVALID, "operand 0 has no row of prime %u, which is to be kept", call->ids[i]);
  shape.id_count = call->id_count;
  shape.ids = call->ids;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

int32_t hx_ref_check_select_limbs(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_attr_ids(call, "ids"));
  return check_selected(call, shape);
}

void hx_ref_run_select_limbs(const hx_ref_call *call, uint64_t item) {
  copy_limbs(call, item, hx_ref_operand(call, 0));
}

// ckks.level_drop: the rows of the result's depth; a plaintext on Q_d and P keeps P's.

int32_t hx_ref_check_level_drop(hx_ref_call *call) {
  const hx_ref_ring *ring = call->ring;
  const hx_tensor_desc *a = hx_ref_operand(call, 0).desc;
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  int64_t depth = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "depth", 0, (int64_t)ring->group_count - 1, &depth));
  uint32_t active = ring->q_count;
  for (uint32_t g = 0; g < depth; ++g) active -= ring->group_sizes[ring->group_count - 1 - g];
  for (call->id_count = 0; call->id_count < active; ++call->id_count) call->ids[call->id_count] = call->id_count;
  for (uint32_t l = 0; l < a->limbs; ++l)
    if (a->prime_ids[l] >= ring->q_count) call->ids[call->id_count++] = a->prime_ids[l];
  return check_selected(call, shape);
}

void hx_ref_run_level_drop(const hx_ref_call *call, uint64_t item) { copy_limbs(call, item, hx_ref_operand(call, 0)); }

// rns.concat_limbs.

int32_t hx_ref_check_concat_limbs(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  uint8_t used[HX_REF_PRIMES_MAX] = {0};
  shape.ids = NULL;
  for (uint32_t i = 0; i < call->op->operand_count; ++i) {
    const hx_ref_place part = hx_ref_operand(call, i);
    HX_REF_TRY(hx_ref_check_residues(call, part, &shape));
    for (uint32_t l = 0; l < part.desc->limbs; ++l) {
      const uint32_t id = part.desc->prime_ids[l];
      if (used[id] != 0) return hx_ref_refuse(call, HX_INVALID, "operand %u has prime %u again", i, id);
      used[id] = 1;
    }
  }
  call->id_count = 0;
  for (uint32_t id = 0; id < HX_REF_PRIMES_MAX; ++id)
    if (used[id] != 0) call->ids[call->id_count++] = id;
  shape.id_count = call->id_count;
  shape.ids = call->ids;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

void hx_ref_run_concat_limbs(const hx_ref_call *call, uint64_t item) {
  for (uint32_t i = 0; i < call->op->operand_count; ++i) copy_limbs(call, item, hx_ref_operand(call, i));
}

// rns.select_components, rns.pack_components.

int32_t hx_ref_check_select_components(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  int64_t first = 0, count = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "first", 0, (int64_t)shape.components - 1, &first));
  HX_REF_TRY(hx_ref_attr_i64(call, "count", 1, (int64_t)shape.components - first, &count));
  call->number = (uint32_t)first;
  shape.components = (uint32_t)count;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

void hx_ref_run_select_components(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  for (uint32_t c = 0; c < out.desc->components; ++c)
    for (uint32_t l = 0; l < out.desc->limbs; ++l) copy_row(call, a, call->number + c, l, out, c, l, item);
}

int32_t hx_ref_check_pack_components(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  uint64_t components = 0;
  shape.components = 0;
  for (uint32_t i = 0; i < call->op->operand_count; ++i) {
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, i), &shape));
    components += hx_ref_operand(call, i).desc->components;
  }
  if (components != hx_ref_result(call, 0).desc->components)
    return hx_ref_refuse(call, HX_INVALID, "result 0 has components %u, must be %llu",
                         hx_ref_result(call, 0).desc->components, (unsigned long long)components);
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

void hx_ref_run_pack_components(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place out = hx_ref_result(call, 0);
  uint32_t at = 0;
  for (uint32_t i = 0; i < call->op->operand_count; ++i) {
    const hx_ref_place part = hx_ref_operand(call, i);
    for (uint32_t c = 0; c < part.desc->components; ++c, ++at)
      for (uint32_t l = 0; l < out.desc->limbs; ++l) copy_row(call, part, c, l, out, at, l, item);
  }
}

// ckks.reinterpret_scale: the residues stay.

int32_t hx_ref_check_copy(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

void hx_ref_run_copy(const hx_ref_call *call, uint64_t item) { copy_limbs(call, item, hx_ref_operand(call, 0)); }
