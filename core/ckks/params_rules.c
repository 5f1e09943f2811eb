// SPDX-License-Identifier: Apache-2.0
// The rules of CKKS.md for parameter sets.
#include <stdio.h>

#include "core/base/memory.h"
#include "core/ckks/params_spec.h"
#include "core/ckks/primes.h"
#include "core/ckks/security.h"

#define LOG_N_MIN 3
#define LOG_N_MAX HX_SECURITY_LOG_N_MAX

uint32_t hx_params_spec_run(const hx_params_spec_t *spec) {
  return spec->q_count / spec->digits + (spec->q_count % spec->digits != 0);
}

uint32_t hx_params_spec_digits(const hx_params_spec_t *spec) {
  const uint32_t run = hx_params_spec_run(spec);
  return spec->q_count / run + (spec->q_count % run != 0);
}

static hx_status_t fail(const hx_params_spec_t *spec, hx_report_t *report, hx_code_t code, const char *text,
                        const char *expected, const char *found, const char *hint) {
  return hx_report_add(
      report,
      &(hx_fault_t){
          .code = code, .source = spec->source, .text = text, .expected = expected, .found = found, .hint = hint});
}

// "base prime id 0", "prime id 3 (depth group 3)", "special prime id 9"
static void describe_prime(const hx_params_spec_t *spec, uint32_t id, char *out, size_t size) {
  if (id >= spec->q_count) {
    snprintf(out, size, "special prime %llu (id %u)", (unsigned long long)spec->primes[id], id);
    return;
  }
  uint32_t group = 0, end = spec->group_sizes[0];
  while (id >= end) end += spec->group_sizes[++group];
  if (group == 0) {
    snprintf(out, size, "base prime %llu (id %u)", (unsigned long long)spec->primes[id], id);
  } else {
    snprintf(out, size, "prime %llu (id %u, depth group %u)", (unsigned long long)spec->primes[id], id, group);
  }
}

static hx_status_t check_prime(const hx_params_spec_t *spec, uint32_t id, hx_report_t *report) {
  const uint64_t q = spec->primes[id];
  const uint64_t step = (uint64_t)1 << (spec->log_n + 1);
  const uint32_t bits = spec->word == 32 ? 31 : 61;
  char what[96], text[256], expected[64], found[64];
  describe_prime(spec, id, what, sizeof what);
  hx_status_t status = HX_STATUS_OK;
  if (q >= (uint64_t)1 << bits) {
    snprintf(text, sizeof text, "%s is not below 2^%u, the limit of word %u", what, bits, spec->word);
    snprintf(expected, sizeof expected, "below %llu", 1ULL << bits);
    snprintf(found, sizeof found, "%llu", (unsigned long long)q);
    status = fail(spec, report, HX_CODE_PARAMS, text, expected, found,
                  spec->word == 32 ? "Use a smaller prime or word 64." : "Use a smaller prime.");
  } else if (!hx_prime_is(q)) {
    snprintf(text, sizeof text, "%s is not prime", what);
    status = fail(spec, report, HX_CODE_PARAMS, text, "a prime", "a composite number, 0 or 1", NULL);
  } else if (q % step != 1) {
    snprintf(text, sizeof text, "%s is not 1 mod 2N, N = %llu: it leaves %llu", what, (unsigned long long)(step / 2),
             (unsigned long long)(q % step));
    snprintf(expected, sizeof expected, "1 mod %llu", (unsigned long long)step);
    snprintf(found, sizeof found, "%llu mod %llu", (unsigned long long)(q % step), (unsigned long long)step);
    status = fail(spec, report, HX_CODE_PARAMS, text, expected, found, "Choose primes of the form k * 2N + 1.");
  }
  for (uint32_t other = 0; other < id; ++other) {
    if (spec->primes[other] != q) continue;
    snprintf(text, sizeof text, "%s stands twice, as ids %u and %u: primes are distinct", what, other, id);
    status = fail(spec, report, HX_CODE_PARAMS, text, "distinct primes", what, "Replace one of the two.");
    break;
  }
  return status;
}

hx_status_t hx_params_check_ring(const hx_params_spec_t *spec, hx_report_t *report) {
  hx_status_t status = HX_STATUS_OK;
  if (spec->log_n < LOG_N_MIN || spec->log_n > LOG_N_MAX) {
    status = hx_report_fail_at(
        report, HX_CODE_PARAMS, spec->source, 0, 0,
        "log_n = %u: N = 2^%u is out of range, 2^10 <= N <= 2^17 (2^3 upward for tests); the security "
        "table ends at 2^17",
        spec->log_n, spec->log_n);
  }
  if (spec->word != 64 && spec->word != 32) {
    status = hx_report_fail_at(report, HX_CODE_PARAMS, spec->source, 0, 0,
                               "word = %u: a residue word has 64 or 32 bits", spec->word);
  }
  if (spec->digits < 1 || spec->digits > HX_PRIMES_MAX) {
    status = hx_report_fail_at(report, HX_CODE_PARAMS, spec->source, 0, 0, "digits = %u: give between 1 and %d",
                               spec->digits, HX_PRIMES_MAX);
  }
  if (status != HX_STATUS_OK) return status;
  if (spec->weight > (uint32_t)1 << spec->log_n) {
    status = hx_report_fail_at(report, HX_CODE_PARAMS, spec->source, 0, 0,
                               "secret = ternary:%u: a secret of N = %u coefficients has at most that many nonzero",
                               spec->weight, 1u << spec->log_n);
  }
  for (uint32_t id = 0; id < spec->q_count + spec->p_count; ++id) {
    const hx_status_t one = check_prime(spec, id, report);
    if (one != HX_STATUS_OK) status = one;
  }
  return status;
}

static void multiply_range(hx_product_t *product, const hx_params_spec_t *spec, uint32_t first, uint32_t end) {
  for (uint32_t id = first; id < end; ++id) hx_product_multiply(product, spec->primes[id]);
}

hx_status_t hx_params_check_special(const hx_params_spec_t *spec, hx_report_t *report) {
  if (spec->p_count == 0) return HX_STATUS_OK;  // no switching keys, nothing to swamp
  hx_product_t p, double_p, digit;
  hx_product_set_one(&p);
  multiply_range(&p, spec, spec->q_count, spec->q_count + spec->p_count);
  double_p = p;
  hx_product_multiply(&double_p, 2);
  const uint32_t run = hx_params_spec_run(spec), digits = hx_params_spec_digits(spec);
  hx_status_t status = HX_STATUS_OK;
  for (uint32_t j = 0; j < digits; ++j) {
    const uint32_t end = (j + 1) * run < spec->q_count ? (j + 1) * run : spec->q_count;
    hx_product_set_one(&digit);
    multiply_range(&digit, spec, j * run, end);
    if (hx_product_compare(&double_p, &digit) >= 0) continue;
    char text[256], expected[64], found[64];
    const double digit_log2 = hx_product_log2(&digit), p_log2 = hx_product_log2(&p);
    snprintf(text, sizeof text,
             "digit %u (prime ids %u to %u) has %.2f bits and the special primes have %.2f: 2P must be at least the "
             "digit, or "
             "key-switching noise swamps the message",
             j, j * run, end - 1, digit_log2, p_log2);
    snprintf(expected, sizeof expected, "log2 P >= %.2f", digit_log2 - 1);
    snprintf(found, sizeof found, "log2 P = %.2f", p_log2);
    status =
        fail(spec, report, HX_CODE_SPECIAL_SIZE, text, expected, found, "Add special primes, or ask for more digits.");
  }
  return status;
}

hx_status_t hx_params_check_security(const hx_params_spec_t *spec, uint32_t flags, bool *out_insecure,
                                     hx_report_t *report) {
  hx_status_t status = HX_STATUS_OK;
  // With the flag the faults are only counted.
  hx_report_t *const sink = (flags & HX_PARAMS_INSECURE) != 0 ? NULL : report;
  const uint32_t limit = hx_security_limit(spec->log_n);
  char text[256], expected[64], found[64];
  if (limit == 0) {
    snprintf(text, sizeof text,
             "log_n = %u: N = 2^%u is a small test ring, without any security; the table begins at 2^%d", spec->log_n,
             spec->log_n, HX_SECURITY_LOG_N_MIN);
    snprintf(expected, sizeof expected, "log_n between %d and %d", HX_SECURITY_LOG_N_MIN, HX_SECURITY_LOG_N_MAX);
    snprintf(found, sizeof found, "%u", spec->log_n);
    status = fail(spec, sink, HX_CODE_INSECURE, text, expected, found, "Tests may pass the insecure flag.");
  } else {
    hx_product_t qp;
    hx_product_set_one(&qp);
    multiply_range(&qp, spec, 0, spec->q_count + spec->p_count);
    const uint32_t bits = hx_product_bits(&qp);  // QP < 2^limit exactly if bits <= limit
    if (bits > limit) {
      snprintf(text, sizeof text,
               "log2(QP) is %.2f (QP has %u bits), and 128-bit security at N = 2^%u allows QP < 2^%u",
               hx_product_log2(&qp), bits, spec->log_n, limit);
      snprintf(expected, sizeof expected, "QP of at most %u bits", limit);
      snprintf(found, sizeof found, "%u bits", bits);
      status = fail(spec, sink, HX_CODE_INSECURE, text, expected, found,
                    "Use fewer or smaller primes or a larger N; tests may pass the insecure flag.");
    }
  }
  if (spec->weight != 0) {
    snprintf(text, sizeof text,
             "secret = ternary:%u: the table is for uniform ternary secrets, and no estimate for sparse ones is given",
             spec->weight);
    snprintf(found, sizeof found, "ternary:%u", spec->weight);
    status =
        fail(spec, sink, HX_CODE_INSECURE, text, "ternary", found, "Use ternary; tests may pass the insecure flag.");
  }
  *out_insecure = status != HX_STATUS_OK;
  return (flags & HX_PARAMS_INSECURE) != 0 ? HX_STATUS_OK : status;
}
