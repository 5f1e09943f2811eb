// SPDX-License-Identifier: Apache-2.0
// The real path of the transforms, for ntt.cl: residues as doubles, q of at most 50 bits, where the device has fused
// multiply-add in double precision. In units of q: loads are at most 1, and four stages forward bring 1 to 4.0 (each
// adds 1/2 + B/8), so where q is above 2^46 (`tight`) values are reduced after four stages; below it seventeen stages
// stay under 12 q < 2^50. Backward two stages bring sums from 1 to 4, then they are reduced; not tight: after four
// stages, below 16 q.

#undef PATH
#undef PATH_TABLE
#undef PATH_BEGIN
#undef PATH_PARAMETERS
#undef PATH_ARGUMENTS
#undef Value
#undef Twiddle
#undef LOAD
#undef STORE
#undef LOAD_BITS
#undef BITS
#undef SETTLE
#undef SETTLE_ALL
#undef SETTLE_BACKWARD
#undef FINISH
#undef SPLIT
#undef JOIN

#ifdef HX_OPENCL_REAL

#define PATH(name_) hx_real_##name_
#define PATH_TABLE(prime_, way_) prime_.real_##way_
#define PATH_BEGIN(prime_)                                                             \
  const double q = as_double(prime_.real_q), inverse = as_double(prime_.real_inverse); \
  const bool tight = prime_.bits > HX_OPENCL_TIGHT_BITS;
#define PATH_PARAMETERS double q, double inverse, bool tight
#define PATH_ARGUMENTS q, inverse, tight
#define Value double
#define Twiddle double

#define LOAD(word_) real_load(word_)
#define STORE(x_) real_store(x_, q, inverse)
#define LOAD_BITS(bits_) as_double(bits_)
#define BITS(x_) as_ulong(x_)
#define SETTLE(x_) (tight ? real_reduce(x_, q, inverse) : (x_))
#define REDUCE_ALL(v_) UNROLL for (int i = 0; i < 16; i++) v_[i] = real_reduce(v_[i], q, inverse);
#define SETTLE_ALL(v_) \
  if (tight) {         \
    REDUCE_ALL(v_)     \
  }
#define SETTLE_BACKWARD(v_, r_, t_)               \
  if (t_ == 0 || ((r_ - t_) % 2 == 0 && tight)) { \
    REDUCE_ALL(v_)                                \
  }
#define FINISH(x_, finish_, prime_) \
  mod_once(real_store(real_mul(x_, as_double(finish_->real), q, inverse), q, inverse) + finish_->add, prime_.q)

// x + y w, x - y w.
#define SPLIT(x_, y_, w_)                                  \
  {                                                        \
    const double a = x_, b = real_mul(y_, w_, q, inverse); \
    x_ = a + b;                                            \
    y_ = a - b;                                            \
  }

// x + y, (x - y) w.
#define JOIN(x_, y_, w_)                  \
  {                                       \
    const double a = x_, b = y_;          \
    x_ = a + b;                           \
    y_ = real_mul(a - b, w_, q, inverse); \
  }

#endif
