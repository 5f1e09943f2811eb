// SPDX-License-Identifier: Apache-2.0
// The catalogue as data: one row an operation, read from ops.def.
#ifndef HELIOX_CORE_OPS_OPS_H
#define HELIOX_CORE_OPS_OPS_H

#include "core/ops/attr.h"

typedef enum hx_op_id {
#define OP(id_, name_, signature_, tier_, effect_, flags_, operands_, results_, attributes_, infer_, doc_) HX_OP_##id_,
#include "core/ops/ops.def"
  HX_OP_COUNT,
  HX_OP_UNKNOWN = HX_OP_COUNT
} hx_op_id_t;

typedef enum hx_op_tier {
  HX_TIER_PRIMITIVE,
  HX_TIER_DERIVED,
  HX_TIER_WHOLE,
  HX_TIER_HOST,
  HX_TIER_STRUCTURE,
  HX_TIER_COUNT
} hx_op_tier_t;
typedef enum hx_op_effect {
  HX_EFFECT_PURE,
  HX_EFFECT_RANDOM,
  HX_EFFECT_MUTATING,
  HX_EFFECT_COLLECTIVE,
  HX_EFFECT_COUNT
} hx_op_effect_t;
typedef enum hx_op_dependency { HX_DEPENDS_ELEMENT, HX_DEPENDS_REINDEXED, HX_DEPENDS_MIXING } hx_op_dependency_t;
typedef enum hx_op_form { HX_FORM_ONE, HX_FORM_OPT, HX_FORM_ANY } hx_op_form_t;

enum { HX_OP_FLAG_COMMUTES = 1, HX_OP_FLAG_VIEW = 2, HX_OP_FLAG_TERMINATOR = 4, HX_OP_FLAG_REGION = 8 };

// Kinds that an operand or result accepts.
enum {
  HX_ACCEPT_CT = 1,
  HX_ACCEPT_PT = 2,
  HX_ACCEPT_TENSOR = 4,
  HX_ACCEPT_KEY = 8,
  HX_ACCEPT_MESSAGE = 16,
  HX_ACCEPT_SEED = 32,
  HX_ACCEPT_SCALAR = 64,
  HX_ACCEPT_HANDLE = 128,
  HX_ACCEPT_ANYTHING = 255
};
// The accept bit of a type kind; 0 for HX_TYPE_NONE.
uint32_t hx_accept_of(hx_type_kind_t kind);
// True if a row with these kinds takes a type of this one. A ciphertext or plaintext is a tensor with more state, so
// rows that take tensors take both: lowered programs compute on ciphertexts directly, and results of such rows may be
// written as ciphertexts or plaintexts (hx_op_infer).
bool hx_op_accepts(uint32_t accepts, hx_type_kind_t kind);

// Value rules of attributes, checked by hx_op_check_attrs.
typedef enum hx_attr_rule {
  HX_RULE_I64,
  HX_RULE_I64_LIST,
  HX_RULE_U64_LIST,
  HX_RULE_NUMBER,
  HX_RULE_COMPLEX,
  HX_RULE_TEXT,
  HX_RULE_SYMBOL,
  HX_RULE_TYPE,
  HX_RULE_DICTS,
  HX_RULE_SCALE,
  HX_RULE_DOMAIN,
  HX_RULE_ROUNDING,
  HX_RULE_DROP,
  HX_RULE_PURPOSE,
  HX_RULE_COUNT
} hx_attr_rule_t;

typedef struct hx_op_operand {
  const char *name;
  uint32_t accepts;
  hx_op_dependency_t dependency;
  hx_op_form_t form;
} hx_op_operand_t;
typedef struct hx_op_result {
  const char *name;
  uint32_t accepts;
  hx_op_form_t form;
} hx_op_result_t;
typedef struct hx_op_attr {
  const char *name;
  hx_attr_rule_t rule;
  bool required;
  const char *doc;
} hx_op_attr_t;

#define HX_OP_OPERANDS_MAX 5
#define HX_OP_RESULTS_MAX 2
#define HX_OP_ATTRS_MAX 6

struct hx_infer;
typedef struct hx_op_info {
  hx_op_id_t id;
  const char *name;  // "ckks.add"
  uint32_t signature;
  hx_op_tier_t tier;
  hx_op_effect_t effect;
  uint32_t flags;
  hx_op_operand_t operands[HX_OP_OPERANDS_MAX];  // ends at name == NULL
  hx_op_result_t results[HX_OP_RESULTS_MAX];
  hx_op_attr_t attrs[HX_OP_ATTRS_MAX];
  hx_status_t (*infer)(struct hx_infer *call);  // NULL: structure, checked by the verifier alone
  const char *doc;
} hx_op_info_t;

// Row of an id (never NULL for id < HX_OP_COUNT).
const hx_op_info_t *hx_op_info(hx_op_id_t id);
// Id by name, or HX_OP_UNKNOWN. Binary search over sorted names.
hx_op_id_t hx_op_find(hx_str_t name);
// The row that operand `index` of `count` falls under, or NULL where the operation takes no such operand.
const hx_op_operand_t *hx_op_operand_at(const hx_op_info_t *op, size_t index, size_t count);
const hx_op_result_t *hx_op_result_at(const hx_op_info_t *op, size_t index, size_t count);
// Name of an operand for messages: "b", or "terms[2]" where the row takes any number. Returns out_name.
const char *hx_op_operand_name(const hx_op_info_t *op, size_t index, size_t count, char out_name[HX_NAME_MAX]);
const char *hx_op_tier_name(hx_op_tier_t tier);
const char *hx_op_effect_name(hx_op_effect_t effect);

// Type inference of one call: checks operands and attributes against the row, then runs the hook.
// Unknown parts of operands give unknown parts of results; what is known is checked. Nothing is executed.
typedef struct hx_infer {
  const hx_op_info_t *op;
  hx_attrs_t attrs;
  const hx_type_t *const *operands;
  size_t operand_count;
  const hx_ring *ring;  // NULL: no parameters known yet
  hx_type_t *results;   // room for result_count types; the hook sets kinds and state
  size_t result_count;
  const hx_type_t *const *written;  // result types as written, or NULL; hooks of references read them
  hx_report_t *report;
  const char *source;  // for faults
  uint32_t line, column;
} hx_infer_t;

// Operand, result and attribute rules of the row alone (kinds, counts, attribute kinds and ranges).
hx_status_t hx_op_check(const hx_infer_t *call);
// hx_op_check, then the hook; then compares with `written` and merges it, so that results hold all that is known. Each
// result is checked against the ring. Where a row gives a tensor, a written ciphertext or plaintext takes its depth,
// scale and slots from the text and its other parts from inference. On failure results are HX_TYPE_NONE.
hx_status_t hx_op_infer(hx_infer_t *call);
// A fault at the call's place, prefixed with the operation's name. Returns the code's status.
hx_status_t hx_infer_fail(const hx_infer_t *call, hx_code_t code, const char *format, ...) HX_PRINTF(3, 4);
// The same with what would fix it.
hx_status_t hx_infer_refuse(const hx_infer_t *call, hx_code_t code, const char *hint, const char *format, ...)
    HX_PRINTF(4, 5);

// Hooks. rns and structural ones live beside this file (infer_rns.c, infer_structure.c); those of the ckks
// dialect are the transition table of core/ckks, shared by engine and compiler (core/ckks/transition.c).
hx_status_t hx_infer_call(hx_infer_t *call);
hx_status_t hx_infer_region(hx_infer_t *call);
hx_status_t hx_infer_constant(hx_infer_t *call);
hx_status_t hx_infer_arith(hx_infer_t *call);
hx_status_t hx_infer_compare(hx_infer_t *call);
hx_status_t hx_infer_select(hx_infer_t *call);
hx_status_t hx_infer_index_cast(hx_infer_t *call);
hx_status_t hx_infer_written(hx_infer_t *call);
hx_status_t hx_infer_core_constant(hx_infer_t *call);
hx_status_t hx_infer_ntt(hx_infer_t *call);
hx_status_t hx_infer_rns_linear(hx_infer_t *call);
hx_status_t hx_infer_rns_product(hx_infer_t *call);
hx_status_t hx_infer_rns_scalar(hx_infer_t *call);
hx_status_t hx_infer_rns_reduce(hx_infer_t *call);
hx_status_t hx_infer_rns_lift(hx_infer_t *call);
hx_status_t hx_infer_rns_mod_up(hx_infer_t *call);
hx_status_t hx_infer_rns_mod_down(hx_infer_t *call);
hx_status_t hx_infer_rns_rescale(hx_infer_t *call);
hx_status_t hx_infer_rns_automorphism(hx_infer_t *call);
hx_status_t hx_infer_rns_expand(hx_infer_t *call);
hx_status_t hx_infer_rns_sum(hx_infer_t *call);
hx_status_t hx_infer_rns_weighted_sum(hx_infer_t *call);
hx_status_t hx_infer_rns_montgomery(hx_infer_t *call);
hx_status_t hx_infer_rns_mixed_radix(hx_infer_t *call);
hx_status_t hx_infer_rns_select_limbs(hx_infer_t *call);
hx_status_t hx_infer_rns_concat_limbs(hx_infer_t *call);
hx_status_t hx_infer_rns_select_components(hx_infer_t *call);
hx_status_t hx_infer_rns_pack_components(hx_infer_t *call);
hx_status_t hx_infer_rns_key_product(hx_infer_t *call);
hx_status_t hx_infer_rns_key_slice(hx_infer_t *call);
hx_status_t hx_infer_rns_select_batch(hx_infer_t *call);
hx_status_t hx_infer_rns_reinterpret(hx_infer_t *call);
hx_status_t hx_infer_transfer(hx_infer_t *call);
hx_status_t hx_infer_ckks_linear(hx_infer_t *call);
hx_status_t hx_infer_ckks_product(hx_infer_t *call);
hx_status_t hx_infer_ckks_add_scalar(hx_infer_t *call);
hx_status_t hx_infer_ckks_mul_scalar(hx_infer_t *call);
hx_status_t hx_infer_ckks_sum(hx_infer_t *call);
hx_status_t hx_infer_ckks_weighted_sum(hx_infer_t *call);
hx_status_t hx_infer_ckks_relinearize(hx_infer_t *call);
hx_status_t hx_infer_ckks_rescale(hx_infer_t *call);
hx_status_t hx_infer_ckks_level_drop(hx_infer_t *call);
hx_status_t hx_infer_ckks_reinterpret_scale(hx_infer_t *call);
hx_status_t hx_infer_ckks_transform(hx_infer_t *call);
hx_status_t hx_infer_ckks_key_switch(hx_infer_t *call);
hx_status_t hx_infer_ckks_rotate(hx_infer_t *call);
hx_status_t hx_infer_ckks_rotate_many(hx_infer_t *call);
hx_status_t hx_infer_ckks_conjugate(hx_infer_t *call);
hx_status_t hx_infer_ckks_rotate_weighted_sum(hx_infer_t *call);
hx_status_t hx_infer_ckks_rotate_sum(hx_infer_t *call);
hx_status_t hx_infer_ckks_encode(hx_infer_t *call);
hx_status_t hx_infer_ckks_decode(hx_infer_t *call);
hx_status_t hx_infer_ckks_encrypt(hx_infer_t *call);
hx_status_t hx_infer_ckks_decrypt(hx_infer_t *call);
hx_status_t hx_infer_ckks_prepare_plain(hx_infer_t *call);
hx_status_t hx_infer_distributed_number(hx_infer_t *call);
hx_status_t hx_infer_distributed_broadcast(hx_infer_t *call);
hx_status_t hx_infer_distributed_reduce(hx_infer_t *call);
hx_status_t hx_infer_distributed_scatter(hx_infer_t *call);
hx_status_t hx_infer_distributed_gather(hx_infer_t *call);
hx_status_t hx_infer_distributed_all_gather(hx_infer_t *call);
hx_status_t hx_infer_distributed_send(hx_infer_t *call);
hx_status_t hx_infer_distributed_receive(hx_infer_t *call);

// Rows of a ring (no plugin call): Q at a depth (empty beyond the last), P, a digit's remaining ids.
hx_primes_t hx_ring_active(const hx_ring *ring, uint32_t depth);
hx_primes_t hx_ring_special(const hx_ring *ring);
hx_primes_t hx_ring_digit(const hx_ring *ring, uint32_t digit, const hx_primes_t *active);
// Digits that still have a prime at a depth.
uint32_t hx_ring_digit_count(const hx_ring *ring, uint32_t depth);
uint32_t hx_ring_max_depth(const hx_ring *ring);
// HX_BASIS_ of a set of ids; 0 for none.
uint32_t hx_ring_basis(const hx_ring *ring, const hx_primes_t *primes);
// 5^(step mod slots) mod 2N; step any integer, slots at least 1.
uint64_t hx_galois_element(uint32_t log_n, uint32_t slots, int64_t step);

#endif
