// SPDX-License-Identifier: Apache-2.0
// Kernels on rows. The host puts HX_OPENCL_WORD (64 or 32) and HX_OPENCL_GROUP (work-items of a group) before this. A
// group takes 4 * HX_OPENCL_GROUP elements of one row, each work-item four of them, a group's size apart; args.x: log
// of the groups a row.
#if HX_OPENCL_WORD == 64
typedef ulong Word;
#else
typedef uint Word;
#endif

#define EACH 4
#define FOLD 32  // terms below 2^122 that stay below 2^128 beside a folded sum

#define KERNEL(group_) kernel __attribute__((reqd_work_group_size(group_, 1, 1))) void
#define BESIDE global const uchar *restrict tables, global const uchar *restrict constants, const hx_opencl_args_t args
#define PLACES global Word *out_, global const Word *a_, global const Word *b_, global const Word *c_, BESIDE

// Where row `row_` of a place begins.
#define ROW_OF(place_, row_) (args.base[place_] + ((global const ulong *)(constants + args.rows[place_]))[row_])

static inline hx_opencl_prime_t prime_by_id(global const uchar *tables, uint id) {
  return ((global const hx_opencl_prime_t *)tables)[id];
}

#define PRIME_ID(row_) (((global const uint *)(constants + args.row_prime))[row_])
#define PRIME_OF(row_) prime_by_id(tables, PRIME_ID(row_))

typedef struct place {
  uint row, first, n;
} place_t;

static inline place_t place_of(uint log_groups, uint each, uint log_n) {
  const uint group = (uint)get_group_id(0);
  place_t at;
  at.row = group >> log_groups;
  at.first = (group & ((1u << log_groups) - 1)) * (HX_OPENCL_GROUP * each) + (uint)get_local_id(0);
  at.n = 1u << log_n;
  return at;
}

// One loop for each operation, so that none of them branches inside.
#define FOR_EACH(expression_)                      \
  for (uint k = 0; k < EACH; k++) {                \
    const uint i = at.first + k * HX_OPENCL_GROUP; \
    if (i < at.n) {                                \
      const ulong x = a[i];                        \
      out[i] = (Word)(expression_);                \
    }                                              \
  }                                                \
  return;

static inline ulong scaled(ulong x, hx_opencl_factor_t f, ulong m) {
  return mod_once(mod_shoup(x, f.value, f.quotient, m), m);
}

// args.z: the modulus is q << z (lazy residues).
KERNEL(HX_OPENCL_GROUP) hx_rows(PLACES) {
  const place_t at = place_of(args.x, EACH, args.log_n);
  const hx_opencl_prime_t prime = PRIME_OF(at.row);
  const ulong m = prime.q << args.z;
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, at.row);
  global const Word *a = a_ + ROW_OF(HX_OPENCL_A, at.row);
  global const Word *b = (args.places & 1u << HX_OPENCL_B) ? b_ + ROW_OF(HX_OPENCL_B, at.row) : a;
  global const Word *c = (args.places & 1u << HX_OPENCL_C) ? c_ + ROW_OF(HX_OPENCL_C, at.row) : a;
  global const hx_opencl_factor_t *f = (global const hx_opencl_factor_t *)(constants + args.extra) + 2 * at.row;
  const uint half_log = args.log_n - 1;
  switch (args.op) {
    case HX_OPENCL_DO_ADD:
      FOR_EACH(mod_once(x + b[i], m))
    case HX_OPENCL_DO_SUB:
      FOR_EACH(mod_once(x + m - b[i], m))
    case HX_OPENCL_DO_NEG:
      FOR_EACH(mod_once(m - x, m))
    case HX_OPENCL_DO_REDUCE:
      FOR_EACH(mod_once(mod_word(x, prime.ratio, m), m))
    case HX_OPENCL_DO_MUL:
      FOR_EACH(mod_mul(x, b[i], &prime))
    case HX_OPENCL_DO_MUL_ADD:
      FOR_EACH(mod_product(sum_product(sum_of(0, c[i]), x, b[i]), &prime))
    case HX_OPENCL_DO_SCALE:
      FOR_EACH(scaled(x, f[i >> half_log], m))
    case HX_OPENCL_DO_OFFSET:
      FOR_EACH(mod_once(x + f[i >> half_log].value, m))
    case HX_OPENCL_DO_SCALE_ADD:
      FOR_EACH(mod_once(scaled(x, f[0], m) + b[i], m))
    case HX_OPENCL_DO_MUL_SCALE:
      FOR_EACH(scaled(mod_mul(x, b[i], &prime), f[0], m))
    case HX_OPENCL_DO_AFFINE:
      FOR_EACH(mod_once(scaled(x, f[0], m) + f[1].value, m))
    default:
      FOR_EACH(x)
  }
}

// (a0 b0, a0 b1 + a1 b0, a1 b1). Row tables are [3][launch rows] for the result, [2][launch rows] for a and b; count is
// the number of launch rows.
KERNEL(HX_OPENCL_GROUP) hx_tensor(PLACES) {
  const place_t at = place_of(args.x, EACH, args.log_n);
  const hx_opencl_prime_t prime = PRIME_OF(at.row);
  const uint next = at.row + args.count;
  global const Word *a0 = a_ + ROW_OF(HX_OPENCL_A, at.row), *a1 = a_ + ROW_OF(HX_OPENCL_A, next);
  global const Word *b0 = b_ + ROW_OF(HX_OPENCL_B, at.row), *b1 = b_ + ROW_OF(HX_OPENCL_B, next);
  global Word *out0 = out_ + ROW_OF(HX_OPENCL_OUT, at.row), *out1 = out_ + ROW_OF(HX_OPENCL_OUT, next);
  global Word *out2 = out_ + ROW_OF(HX_OPENCL_OUT, next + args.count);
  for (uint k = 0; k < EACH; k++) {
    const uint i = at.first + k * HX_OPENCL_GROUP;
    if (i < at.n) {
      const ulong x0 = a0[i], x1 = a1[i], y0 = b0[i], y1 = b1[i];
      out0[i] = (Word)mod_mul(x0, y0, &prime);
      out1[i] = (Word)mod_product(sum_product(sum_product(sum_of(0, 0), x0, y1), x1, y0), &prime);
      out2[i] = (Word)mod_mul(x1, y1, &prime);
    }
  }
}

#define DOT_TERM(t_, v_, w_)                                                                                    \
  if (t_ < args.count) {                                                                                        \
    sum = sum_product(sum, v_[ROW_OF(1 + t_, at.row) + i], w_[ROW_OF(1 + HX_OPENCL_DOT_MAX + t_, at.row) + i]); \
  }

// out = [out +] sum of `count` products of rows; args.op: 1 adds to what out holds.
KERNEL(HX_OPENCL_GROUP)
hx_dot(global Word *out_, global const Word *v0, global const Word *v1, global const Word *v2, global const Word *v3,
       global const Word *w0, global const Word *w1, global const Word *w2, global const Word *w3, BESIDE) {
  const place_t at = place_of(args.x, EACH, args.log_n);
  const hx_opencl_prime_t prime = PRIME_OF(at.row);
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, at.row);
  for (uint k = 0; k < EACH; k++) {
    const uint i = at.first + k * HX_OPENCL_GROUP;
    if (i < at.n) {
      hx_opencl_sum_t sum = sum_of(0, args.op == 1 ? out[i] : 0);
      DOT_TERM(0, v0, w0)
      DOT_TERM(1, v1, w1)
      DOT_TERM(2, v2, w2)
      DOT_TERM(3, v3, w3)
      out[i] = (Word)mod_wide(sum, &prime);
    }
  }
}

// out = sum over `count` items of a, `stride` elements apart.
KERNEL(HX_OPENCL_GROUP) hx_sum(PLACES) {
  const place_t at = place_of(args.x, EACH, args.log_n);
  const hx_opencl_prime_t prime = PRIME_OF(at.row);
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, at.row);
  global const Word *a = a_ + ROW_OF(HX_OPENCL_A, at.row);
  for (uint k = 0; k < EACH; k++) {
    const uint i = at.first + k * HX_OPENCL_GROUP;
    if (i < at.n) {
      ulong sum = 0;
      for (uint t = 0; t < args.count; t++) {
        sum = mod_once(sum + a[t * args.stride + i], prime.q);
      }
      out[i] = (Word)sum;
    }
  }
}

// args.op: 0 ntt domain, 1 coefficients; args.y: the element, or for coefficients its inverse mod 2n: out[j] is a[t]
// for t = j * inverse mod 2n below n, else -a[t - n].
KERNEL(HX_OPENCL_GROUP) hx_permute(PLACES) {
  const place_t at = place_of(args.x, EACH, args.log_n);
  const hx_opencl_prime_t prime = PRIME_OF(at.row);
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, at.row);
  global const Word *a = a_ + ROW_OF(HX_OPENCL_A, at.row);
  for (uint k = 0; k < EACH; k++) {
    const uint i = at.first + k * HX_OPENCL_GROUP;
    if (i < at.n) {
      const uint t = i * args.y & (2 * at.n - 1);
      const uint from = args.op == 0 ? permuted_place(i, args.y, args.log_n) : t & (at.n - 1);
      const ulong x = a[from];
      out[i] = (Word)(args.op == 0 || t < at.n ? x : mod_once(prime.q - x, prime.q));
    }
  }
}

// Signed words to residues: |x| mod q, or its negative. Row table A counts 64-bit words, whatever Word is.
KERNEL(HX_OPENCL_GROUP) hx_lift(PLACES) {
  const place_t at = place_of(args.x, EACH, args.log_n);
  const hx_opencl_prime_t prime = PRIME_OF(at.row);
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, at.row);
  global const long *a = (global const long *)a_ + ROW_OF(HX_OPENCL_A, at.row);
  for (uint k = 0; k < EACH; k++) {
    const uint i = at.first + k * HX_OPENCL_GROUP;
    if (i < at.n) {
      const ulong x = (ulong)a[i], sign = 0 - (x >> 63), size = (x ^ sign) - sign;
      const ulong r = mod_once(mod_word(size, prime.ratio, prime.q), prime.q),
                  negative = mod_once(prime.q - r, prime.q);
      out[i] = (Word)((r & ~sign) | (negative & sign));
    }
  }
}

// Key products of a polynomial's digits. Launch rows are [items][rows of Q_d and P]; row r has its digits' values at
// table B (count a row), of which digit table[r] (table: extra, uint [rows]) is row r of A instead; keys at table C,
// [count][2] a row; results at table OUT, [2] a row.
KERNEL(HX_OPENCL_GROUP) hx_key(PLACES) {
  const place_t at = place_of(args.x, EACH, args.log_n);
  const hx_opencl_prime_t prime = PRIME_OF(at.row);
  const uint own = ((global const uint *)(constants + args.extra))[at.row];
  hx_opencl_sum_t first[EACH], second[EACH];
  for (uint k = 0; k < EACH; k++) {
    first[k] = second[k] = sum_of(0, 0);
  }
  for (uint t = 0; t < args.count; t++) {
    const uint row = at.row * args.count + t;
    global const Word *d = t == own ? a_ + ROW_OF(HX_OPENCL_A, at.row) : b_ + ROW_OF(HX_OPENCL_B, row);
    global const Word *b = c_ + ROW_OF(HX_OPENCL_C, 2 * row), *a = c_ + ROW_OF(HX_OPENCL_C, 2 * row + 1);
    for (uint k = 0; k < EACH; k++) {
      const uint i = at.first + k * HX_OPENCL_GROUP;
      const ulong x = i < at.n ? d[i] : 0;
      first[k] = sum_product(first[k], x, i < at.n ? b[i] : 0);
      second[k] = sum_product(second[k], x, i < at.n ? a[i] : 0);
      if (t % FOLD == FOLD - 1) {
        first[k].high = mod_word(first[k].high, prime.ratio, prime.q);
        second[k].high = mod_word(second[k].high, prime.ratio, prime.q);
      }
    }
  }
  global Word *out0 = out_ + ROW_OF(HX_OPENCL_OUT, 2 * at.row), *out1 = out_ + ROW_OF(HX_OPENCL_OUT, 2 * at.row + 1);
  for (uint k = 0; k < EACH; k++) {
    const uint i = at.first + k * HX_OPENCL_GROUP;
    if (i < at.n) {
      out0[i] = (Word)mod_wide(first[k], &prime);
      out1[i] = (Word)mod_wide(second[k], &prime);
    }
  }
}
