// SPDX-License-Identifier: Apache-2.0
// Conversions between bases, and rows from seeds; after rows.cl. One work-item a coefficient.

// Targets of fast conversions. A launch has polynomials of `count` rows y (table B, count a polynomial) and `y` targets
// (result rows, table OUT); x (table A) has a row for each target that needs one. Polynomials repeat every args.z
// plans: extra is hx_opencl_target_t [z][y], then weights ulong [z][y][count]. args.x: log of the groups a row;
// args.op: targets that one group makes.
#define CONVERT_BEGIN                                                                                     \
  const uint group = (uint)get_group_id(0), tile = group & ((1u << args.x) - 1), rest = group >> args.x;  \
  const uint parts = (args.y + args.op - 1) / args.op, polynomial = rest / parts, part = rest % parts;    \
  const uint n = 1u << args.log_n, i = tile * HX_OPENCL_GROUP + (uint)get_local_id(0);                    \
  const uint first = polynomial * args.y, plan = polynomial % args.z * args.y;                            \
  const uint begin = part * args.op, end = min(args.y, begin + args.op);                                  \
  global const hx_opencl_target_t *targets = (global const hx_opencl_target_t *)(constants + args.extra); \
  global const ulong *weights = (global const ulong *)(targets + args.z * args.y);

// The residue of a target from the sum over its stage and x.
static inline ulong target_result(hx_opencl_target_t target, ulong x, hx_opencl_sum_t sum, hx_opencl_prime_t prime) {
  if (target.kind == HX_OPENCL_TARGET_COPY) {
    return x;
  }
  return mod_redc(target.kind == HX_OPENCL_TARGET_DIVIDE ? sum_product(sum, x, target.factor) : sum, &prime);
}

#define TARGET_X(row_) (target.kind == HX_OPENCL_TARGET_CONVERT ? 0 : a_[ROW_OF(HX_OPENCL_A, row_) + i])

// sum + y_s * w_s over rows y, folded.
static inline hx_opencl_sum_t stage_sum(hx_opencl_sum_t sum, global const Word *y, global const ulong *rows,
                                        global const ulong *w, uint count, uint i, hx_opencl_prime_t p) {
  for (uint s = 0; s < count; s++) {
    sum = sum_product(sum, y[rows[s] + i], w[s]);
    if (s % FOLD == FOLD - 1) {
      sum.high = mod_word(sum.high, p.ratio, p.q);
    }
  }
  return sum;
}

KERNEL(HX_OPENCL_GROUP) hx_convert(PLACES) {
  CONVERT_BEGIN
  global const ulong *rows = (global const ulong *)(constants + args.rows[HX_OPENCL_B]) + polynomial * args.count;
  global const Word *y = b_ + args.base[HX_OPENCL_B];
  for (uint t = begin; t < end; t++) {
    const hx_opencl_target_t target = targets[plan + t];
    if (target.kind != HX_OPENCL_TARGET_SKIP && i < n) {
      const hx_opencl_prime_t prime = prime_by_id(tables, target.prime);
      global const ulong *w = weights + (ulong)(plan + t) * args.count;
      hx_opencl_sum_t sum = sum_of(0, target.start);
      if (target.kind != HX_OPENCL_TARGET_COPY) {
        sum = stage_sum(sum, y, rows, w, args.count, i, prime);
      }
      out_[ROW_OF(HX_OPENCL_OUT, first + t) + i] = (Word)target_result(target, TARGET_X(first + t), sum, prime);
    }
  }
}

// The same with the rows y held in registers, for at most HELD of them: 8 products stay below 2^125 beside a word.
#define HELD 8

KERNEL(HX_OPENCL_GROUP) hx_convert_held(PLACES) {
  CONVERT_BEGIN
  ulong y[HELD];
#pragma unroll
  for (uint s = 0; s < HELD; s++) {
    y[s] = s < args.count && i < n ? b_[ROW_OF(HX_OPENCL_B, polynomial * args.count + s) + i] : 0;
  }
  for (uint t = begin; t < end; t++) {
    const hx_opencl_target_t target = targets[plan + t];
    if (target.kind != HX_OPENCL_TARGET_SKIP && i < n) {
      const hx_opencl_prime_t prime = prime_by_id(tables, target.prime);
      global const ulong *w = weights + (ulong)(plan + t) * args.count;
      hx_opencl_sum_t sum = sum_of(0, target.start);
#pragma unroll
      for (uint s = 0; s < HELD; s++) {
        if (s < args.count) {
          sum = sum_product(sum, y[s], w[s]);
        }
      }
      out_[ROW_OF(HX_OPENCL_OUT, first + t) + i] = (Word)target_result(target, TARGET_X(first + t), sum, prime);
    }
  }
}

KERNEL(HX_OPENCL_GROUP) hx_convert_one(PLACES) {
  CONVERT_BEGIN
  const ulong y = i < n ? b_[ROW_OF(HX_OPENCL_B, polynomial) + i] : 0;
  for (uint t = begin; t < end; t++) {
    const hx_opencl_target_t target = targets[plan + t];
    if (target.kind != HX_OPENCL_TARGET_SKIP && i < n) {
      const hx_opencl_prime_t prime = prime_by_id(tables, target.prime);
      const hx_opencl_sum_t sum = sum_product(sum_of(0, target.start), y, weights[plan + t]);
      out_[ROW_OF(HX_OPENCL_OUT, first + t) + i] = (Word)target_result(target, TARGET_X(first + t), sum, prime);
    }
  }
}

// Chained stages: row y_s from y_0 .. y_s-1 and row x_s. Tables OUT (y) and A (x), count rows a polynomial; extra is
// hx_opencl_target_t [count], then weights [count][count]; y_s has s weights and its factor.
KERNEL(HX_OPENCL_GROUP) hx_chain(PLACES) {
  const uint group = (uint)get_group_id(0), tile = group & ((1u << args.x) - 1), polynomial = group >> args.x;
  const uint n = 1u << args.log_n, i = tile * HX_OPENCL_GROUP + (uint)get_local_id(0);
  global const hx_opencl_target_t *targets = (global const hx_opencl_target_t *)(constants + args.extra);
  global const ulong *weights = (global const ulong *)(targets + args.count);
  global const ulong *rows = (global const ulong *)(constants + args.rows[HX_OPENCL_OUT]) + polynomial * args.count;
  global Word *y = out_ + args.base[HX_OPENCL_OUT];
  if (i < n) {
    for (uint s = 0; s < args.count; s++) {
      const hx_opencl_prime_t prime = prime_by_id(tables, targets[s].prime);
      const ulong x = a_[ROW_OF(HX_OPENCL_A, polynomial * args.count + s) + i];
      hx_opencl_sum_t sum =
          stage_sum(sum_of(0, targets[s].start), y, rows, weights + (ulong)s * args.count, s, i, prime);
      sum = sum_product(sum, x, targets[s].factor);
      y[rows[s] + i] = (Word)mod_redc(sum, &prime);
    }
  }
}

// ---- rows from seeds [RFC8439]

#define QUARTER(a_, b_, c_, d_)                       \
  w[a_] += w[b_], w[d_] = rotate(w[d_] ^ w[a_], 16u); \
  w[c_] += w[d_], w[b_] = rotate(w[b_] ^ w[c_], 12u); \
  w[a_] += w[b_], w[d_] = rotate(w[d_] ^ w[a_], 8u);  \
  w[c_] += w[d_], w[b_] = rotate(w[b_] ^ w[c_], 7u);

static inline void chacha_block(const uint *state, uint counter, uint *out) {
  uint w[16];
  for (uint i = 0; i < 16; i++) {
    w[i] = i == 12 ? counter : state[i];
  }
  for (uint round = 0; round < 10; round++) {
    QUARTER(0, 4, 8, 12)
    QUARTER(1, 5, 9, 13)
    QUARTER(2, 6, 10, 14)
    QUARTER(3, 7, 11, 15)
    QUARTER(0, 5, 10, 15)
    QUARTER(1, 6, 11, 12)
    QUARTER(2, 7, 8, 13)
    QUARTER(3, 4, 9, 14)
  }
  for (uint i = 0; i < 16; i++) {
    out[i] = w[i] + (i == 12 ? counter : state[i]);
  }
}

// Word k of a block as the row's words.
static inline ulong block_word(const uint *block, uint k) {
#if HX_OPENCL_WORD == 64
  return block[2 * k] | (ulong)block[2 * k + 1] << 32;
#else
  return block[k];
#endif
}

// Uniform rows: one work-item a block of the keystream's first attempt; what it rejects is drawn again from word
// attempt * n + c, that is, from another block. Seeds are public, so the loops may depend on what they hold. args.y:
// the polynomial's index; seed: table A, bytes.
KERNEL(HX_OPENCL_GROUP) hx_expand(PLACES) {
  const uint per = 512 / HX_OPENCL_WORD;
  const uint group = (uint)get_group_id(0), row = group >> args.x, n = 1u << args.log_n;
  const uint first = ((group & ((1u << args.x) - 1)) * HX_OPENCL_GROUP + (uint)get_local_id(0)) * per;
  const uint id = PRIME_ID(row);
  const hx_opencl_prime_t prime = prime_by_id(tables, id);
  global const uchar *seed = (global const uchar *)a_ + ROW_OF(HX_OPENCL_A, row);
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, row);
  if (first < n) {
    const ulong mask = ((ulong)1 << prime.bits) - 1;
    uint state[16], block[16], again[16];
    state[0] = 0x61707865, state[1] = 0x3320646e, state[2] = 0x79622d32, state[3] = 0x6b206574;
    for (uint i = 0; i < 8; i++) {
      state[4 + i] =
          seed[4 * i] | (uint)seed[4 * i + 1] << 8 | (uint)seed[4 * i + 2] << 16 | (uint)seed[4 * i + 3] << 24;
    }
    state[12] = 0, state[13] = args.y, state[14] = id, state[15] = 0;
    chacha_block(state, first / per, block);
    for (uint k = 0; k < per && first + k < n; k++) {
      ulong x = block_word(block, k) & mask;
      for (ulong attempt = 1; x >= prime.q; attempt++) {
        const ulong at = attempt * n + first + k;
        chacha_block(state, (uint)(at / per), again);
        x = block_word(again, (uint)(at % per)) & mask;
      }
      out[first + k] = (Word)x;
    }
  }
}
