// SPDX-License-Identifier: Apache-2.0
// Cases of operations between bases.
#include "opcheck.h"

// ------------------------------------------------------------------ bases

void oc_case_mod_up(const oc_sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, np = s->kc->ring.p_count, run = s->kc->ring.digit_run;
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    for (uint32_t active = nq; active >= 1; active -= nq > 2 ? 2 : 1) {
      uint32_t ids[KC_PRIMES_MAX];
      for (uint32_t i = 0; i < active + np; i++) {
        ids[i] = i < active ? i : nq + i - active;
      }
      kc_tensor_t *a = oc_operand(s, 1, active, NULL, domain), *out = oc_result(s, 1, active + np, ids, domain);
      for (int64_t digit = 0; digit * run < active; digit++) {
        const hx_attr attr = kc_i64("digit", &digit, 1);
        oc_check(s, "rns.mod_up", &attr, 1, &a, 1, &out, 1);
      }
      if (active <= 2) {
        break;
      }
    }
  }
}

void oc_case_mod_down(const oc_sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, limbs = oc_primes(s);
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    kc_tensor_t *a = oc_operand(s, 2, limbs, NULL, domain), *out = oc_result(s, 2, nq, NULL, domain);
    for (uint32_t truncating = 0; truncating < 2; truncating++) {
      const hx_attr rounding = kc_text("rounding", truncating ? "truncating" : "nearest");
      oc_check(s, "rns.mod_down", &rounding, 1, &a, 1, &out, 1);
      const hx_attr named[] = {rounding, kc_text("drop", "P")};
      oc_check(s, "rns.mod_down", named, 2, &a, 1, &out, 1);
      const int64_t drop[] = {1, 3, (int64_t)limbs - 1};
      uint32_t kept[KC_PRIMES_MAX], count = 0;
      for (uint32_t i = 0; i < limbs - 1; i++) {
        if (i != 1 && i != 3) {
          kept[count++] = i;
        }
      }
      const hx_attr listed[] = {rounding, kc_i64("drop", drop, 3)};
      kc_tensor_t *rest = oc_result(s, 2, count, kept, domain);
      oc_check(s, "rns.mod_down", listed, 2, &a, 1, &rest, 1);
    }
  }
}

void oc_case_rescale(const oc_sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count;
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    kc_tensor_t *a = oc_operand(s, 2, nq, NULL, domain);
    for (int64_t count = 1; count < (int64_t)nq; count++) {
      kc_tensor_t *out = oc_result(s, 2, nq - (uint32_t)count, NULL, domain);
      for (uint32_t truncating = 0; truncating < 2; truncating++) {
        const hx_attr attrs[] = {kc_text("rounding", truncating ? "truncating" : "nearest"),
                                 kc_i64("count", &count, 1)};
        oc_check(s, "rns.rescale", attrs, 2, &a, 1, &out, 1);
      }
    }
  }
}

// The last depth group, from and to either domain.
void oc_case_ckks_rescale(const oc_sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, kept = nq - s->kc->ring.group_sizes[s->kc->ring.group_count - 1];
  for (uint32_t domains = 0; domains < 4; domains++) {
    const uint32_t to = domains < 2 ? HX_NTT : HX_COEFFICIENT;
    kc_tensor_t *a = oc_operand(s, 2, nq, NULL, domains % 2 == 0 ? HX_NTT : HX_COEFFICIENT);
    kc_tensor_t *out = oc_result(s, 2, kept, NULL, to);
    const hx_attr attr = kc_text("output_domain", to == HX_NTT ? "ntt" : "coefficient");
    oc_check(s, "ckks.rescale", &attr, 1, &a, 1, &out, 1);
  }
}

void oc_case_lifts(const oc_sweep_t *s) {
  static const uint32_t source[] = {1, 2, 4}, target[] = {0, 1, 3, 5}, from[] = {2};
  const int64_t ids[] = {0, 1, 3, 5}, every[] = {0, 1, 2, 3, 4, 5};
  const hx_attr some = kc_i64("ids", ids, 4), all = kc_i64("ids", every, 6);
  kc_tensor_t *a = oc_operand(s, 2, 3, source, HX_COEFFICIENT), *out = oc_result(s, 2, 4, target, HX_COEFFICIENT);
  kc_tensor_t *digits = oc_result(s, 2, 3, source, HX_COEFFICIENT), *wide = oc_result(s, 2, 6, NULL, HX_COEFFICIENT);
  oc_check(s, "rns.mixed_radix", NULL, 0, &a, 1, &digits, 1);
  oc_check(s, "rns.extend_exact", &some, 1, &a, 1, &out, 1);
  oc_check(s, "rns.extend_exact", &all, 1, &a, 1, &wide, 1);
  kc_tensor_t *limb = oc_operand(s, 2, 1, from, HX_COEFFICIENT);
  oc_check(s, "rns.center_lift", &some, 1, &limb, 1, &out, 1);
  oc_check(s, "rns.center_lift", &all, 1, &limb, 1, &wide, 1);
  kc_shape_t words = oc_shape(s, s->in, 2, 1, NULL, 0);
  words.dtype = HX_I64;
  words.repr = 0;
  kc_tensor_t *integers = kc_tensor(s->kc, &words, s->pattern);
  oc_check(s, "rns.center_lift", &all, 1, &integers, 1, &wide, 1);
}

void oc_case_expand(const oc_sweep_t *s) {
  const kc_shape_t bytes = {.dtype = HX_U8, .log_n = 5, .components = 1, .limbs = 1};
  const int64_t ids[] = {0, 1, 2, 4, 5}, indices[] = {0, 7, UINT32_MAX};
  static const uint32_t rows[] = {0, 1, 2, 4, 5};
  kc_tensor_t *seed = kc_tensor(s->kc, &bytes, KC_RANDOM);
  for (uint32_t i = 0; i < 3; i++) {
    kc_shape_t shape = oc_shape(s, s->out, 1, 5, rows, HX_NTT);
    shape.batch_rank = 0;
    kc_tensor_t *out = kc_tensor(s->kc, &shape, KC_RANDOM);
    const hx_attr attrs[] = {kc_i64("index", &indices[i], 1), kc_i64("ids", ids, 5)};
    oc_check(s, "rns.expand_uniform", attrs, 2, &seed, 1, &out, 1);
  }
}
