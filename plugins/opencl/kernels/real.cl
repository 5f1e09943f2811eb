// SPDX-License-Identifier: Apache-2.0
// Kernels of the real path beside the transforms; after path_real.cl and ntt.cl.
#ifdef HX_OPENCL_REAL

// Key products with the last pass of the digits' transforms: a group takes 8 chunks of 256 points of one row for all
// digits. Tables as of hx_key; rows of B hold what the columns have left. Transformed values are reduced, so that of
// the two factors of a product one is at most q/2 + e and the other, a word, below q (for own rows both are below q):
// products are below q, four of them below 4q < 2^53, and then sums are reduced.
KERNEL(NTT_GROUP) hx_real_key_rows(PLACES) {
  local double exchange[NTT_GROUP / 16 * 272];
  const uint group = (uint)get_group_id(0), lane = (uint)get_local_id(0);
  const uint row = group >> args.x, tile = group & ((1u << args.x) - 1);
  const hx_opencl_prime_t prime = PRIME_OF(row);
  PATH_BEGIN(prime)
  global const double *table = (global const double *)(tables + prime.real_forward);
  const uint g = lane % 16, chunk = tile * (NTT_GROUP / 16) + lane / 16;
  const uint root = (1u << (args.log_n - 8)) + chunk, first = chunk * 256 + g;
  const uint own_digit = ((global const uint *)(constants + args.extra))[row];
  local double *own = exchange + lane / 16 * 272;
  double v[16], sum0[16], sum1[16];
  UNROLL for (int k = 0; k < 16; k++) sum0[k] = sum1[k] = 0;
  for (uint t = 0; t < args.count; t++) {
    const uint at = row * args.count + t;
    if (t == own_digit) {
      global const Word *from = a_ + ROW_OF(HX_OPENCL_A, row);
      UNROLL for (int k = 0; k < 16; k++) v[k] = LOAD(from[first + (uint)k * 16]);
    } else {
      global const Word *from = b_ + ROW_OF(HX_OPENCL_B, at);
      UNROLL for (int k = 0; k < 16; k++) v[k] = LOAD_MIDDLE(from[first + (uint)k * 16]);
      PATH(forward_step)(v, 4, PATH_ARGUMENTS, table, root);
      barrier(CLK_LOCAL_MEM_FENCE);  // the digit before this one has been read
      UNROLL for (int k = 0; k < 16; k++) own[k * 17 + g] = SETTLE(v[k]);
      barrier(CLK_LOCAL_MEM_FENCE);
      UNROLL for (int k = 0; k < 16; k++) v[k] = own[g * 17 + k];
      PATH(forward_step)(v, 4, PATH_ARGUMENTS, table, (root << 4) + g);
      REDUCE_ALL(v)
      barrier(CLK_LOCAL_MEM_FENCE);
      UNROLL for (int k = 0; k < 16; k++) own[g * 17 + k] = v[k];
      barrier(CLK_LOCAL_MEM_FENCE);
      UNROLL for (int k = 0; k < 16; k++) v[k] = own[k * 17 + g];
    }
    global const Word *b = c_ + ROW_OF(HX_OPENCL_C, 2 * at) + first, *a = c_ + ROW_OF(HX_OPENCL_C, 2 * at + 1) + first;
    UNROLL for (int k = 0; k < 16; k++) sum0[k] += real_mul(v[k], LOAD(b[k * 16]), q, inverse);
    UNROLL for (int k = 0; k < 16; k++) sum1[k] += real_mul(v[k], LOAD(a[k * 16]), q, inverse);
    if (t % 4 == 3) {
      REDUCE_ALL(sum0)
      REDUCE_ALL(sum1)
    }
  }
  global Word *out0 = out_ + ROW_OF(HX_OPENCL_OUT, 2 * row) + first;
  global Word *out1 = out_ + ROW_OF(HX_OPENCL_OUT, 2 * row + 1) + first;
  UNROLL for (int k = 0; k < 16; k++) out0[k * 16] = (Word)STORE(sum0[k]);
  UNROLL for (int k = 0; k < 16; k++) out1[k * 16] = (Word)STORE(sum1[k]);
}

// ---- conversions

#define REAL_EACH 2  // coefficients of a work-item

// What a group needs of a target; out and x are row offsets.
typedef struct real_target {
  ulong q, start, out, x, kind;
  double start_quotient;
  ulong values[HX_OPENCL_REAL_STAGES + 1];  // the last one: the factor
  double quotients[HX_OPENCL_REAL_STAGES + 1];
} real_target_t;

// As hx_convert, for primes of at most 50 bits on both sides and so many rows y a polynomial: weights are
// hx_opencl_weight_t, [z][y][stages], then the factors [z][y]. The part's targets, at most HX_OPENCL_REAL_TARGETS, are
// gathered in local memory first.
#define CONVERT_REAL(stages_)                                                                                        \
  KERNEL(NTT_GROUP) hx_convert_real_##stages_(PLACES) {                                                              \
    local real_target_t gathered[HX_OPENCL_REAL_TARGETS];                                                            \
    const uint group = (uint)get_group_id(0), lane = (uint)get_local_id(0);                                          \
    const uint tile = group & ((1u << args.x) - 1), rest = group >> args.x;                                          \
    const uint parts = (args.y + args.op - 1) / args.op, polynomial = rest / parts, part = rest % parts;             \
    const uint n = 1u << args.log_n, i = tile * (NTT_GROUP * REAL_EACH) + lane, plan = polynomial % args.z * args.y; \
    const uint first = part * args.op, count = min(args.op, args.y - first);                                         \
    global const hx_opencl_target_t *targets = (global const hx_opencl_target_t *)(constants + args.extra);          \
    global const hx_opencl_weight_t *weights = (global const hx_opencl_weight_t *)(targets + args.z * args.y);       \
    global const hx_opencl_weight_t *factors = weights + (ulong)args.z * args.y * stages_;                           \
    for (uint t = lane; t < count; t += NTT_GROUP) {                                                                 \
      const hx_opencl_target_t from = targets[plan + first + t];                                                     \
      const uint to_row = polynomial * args.y + first + t;                                                           \
      local real_target_t *to = &gathered[t];                                                                        \
      to->kind = from.kind;                                                                                          \
      to->q = prime_by_id(tables, from.prime).q;                                                                     \
      to->start = from.start;                                                                                        \
      to->start_quotient = as_double(from.factor);                                                                   \
      to->out = ROW_OF(HX_OPENCL_OUT, to_row);                                                                       \
      to->x = (args.places & 1u << HX_OPENCL_A) ? ROW_OF(HX_OPENCL_A, to_row) : 0;                                   \
      to->values[stages_] = factors[plan + first + t].value;                                                         \
      to->quotients[stages_] = as_double(factors[plan + first + t].quotient);                                        \
    }                                                                                                                \
    for (uint w = lane; w < count * stages_; w += NTT_GROUP) {                                                       \
      const hx_opencl_weight_t weight = weights[(ulong)(plan + first) * stages_ + w];                                \
      gathered[w / stages_].values[w % stages_] = weight.value;                                                      \
      gathered[w / stages_].quotients[w % stages_] = as_double(weight.quotient);                                     \
    }                                                                                                                \
    ulong y[stages_ * REAL_EACH];                                                                                    \
    double real[stages_ * REAL_EACH];                                                                                \
    UNROLL for (int s = 0; s < stages_ * REAL_EACH; s++) {                                                           \
      const uint at = i + (uint)(s % REAL_EACH) * NTT_GROUP;                                                         \
      y[s] = at < n ? b_[ROW_OF(HX_OPENCL_B, polynomial * stages_ + (uint)s / REAL_EACH) + at] : 0;                  \
      real[s] = real_load(y[s]);                                                                                     \
    }                                                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                    \
    for (uint t = 0; t < count; t++) {                                                                               \
      local const real_target_t *to = &gathered[t];                                                                  \
      if (to->kind != HX_OPENCL_TARGET_SKIP) {                                                                       \
        UNROLL for (int e = 0; e < REAL_EACH; e++) {                                                                 \
          const uint at = i + (uint)e * NTT_GROUP;                                                                   \
          const ulong x = to->kind != HX_OPENCL_TARGET_CONVERT && at < n ? a_[to->x + at] : 0;                       \
          ulong low = to->start;                                                                                     \
          double quotient = to->start_quotient;                                                                      \
          UNROLL for (int s = 0; s < stages_; s++) {                                                                 \
            low += y[s * REAL_EACH + e] * to->values[s];                                                             \
            quotient = fma(real[s * REAL_EACH + e], to->quotients[s], quotient);                                     \
          }                                                                                                          \
          if (to->kind == HX_OPENCL_TARGET_DIVIDE) {                                                                 \
            low += x * to->values[stages_];                                                                          \
            quotient = fma(real_load(x), to->quotients[stages_], quotient);                                          \
          }                                                                                                          \
          const ulong result = to->kind == HX_OPENCL_TARGET_COPY ? x : real_rest(low, quotient, to->q);              \
          if (at < n) out_[to->out + at] = (Word)result;                                                             \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
  }

CONVERT_REAL(1)
CONVERT_REAL(2)
CONVERT_REAL(3)
CONVERT_REAL(4)
CONVERT_REAL(5)
CONVERT_REAL(6)

#endif
