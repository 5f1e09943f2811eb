// SPDX-License-Identifier: Apache-2.0
// The integer path of the transforms, for ntt.cl; after rows.cl. Forward values are in [0, 4q), backward ones in [0,
// 2q) [Har14].

#define PATH(name_) hx_##name_
#define PATH_TABLE(prime_, way_) prime_.way_
#define PATH_BEGIN(prime_) const ulong q = prime_.q, two_q = prime_.two_q;
#define PATH_PARAMETERS ulong q, ulong two_q
#define PATH_ARGUMENTS q, two_q
#define Value ulong
#define Twiddle hx_opencl_factor_t

static inline ulong reduced(ulong x, ulong q) { return mod_once(mod_once(x, 2 * q), q); }

static inline ulong finished(ulong x, global const hx_opencl_finish_t *f, ulong q) {
  return mod_once(mod_once(mod_shoup(x, f->factor.value, f->factor.quotient, q), q) + f->add, q);
}

// x plus a constant times y: both may be of either path, as residues (or x below 4q).
static inline ulong plus_scaled(ulong x, ulong y, hx_opencl_factor_t f, ulong q) {
  return reduced(x + mod_shoup(y, f.value, f.quotient, q), q);
}

#define LOAD(word_) ((ulong)(word_))
#define STORE(x_) reduced(x_, q)
#define LOAD_BITS(bits_) (bits_)
#define BITS(x_) (x_)
#define SETTLE(x_) (x_)
#define SETTLE_ALL(v_)
#define SETTLE_BACKWARD(v_, r_, t_)
#define FINISH(x_, finish_, prime_) finished(x_, finish_, q)

// x + y w, x - y w: x is brought below 2q first.
#define SPLIT(x_, y_, w_)                                                           \
  {                                                                                 \
    const hx_opencl_factor_t f = w_;                                                \
    const ulong a = mod_once(x_, two_q), b = mod_shoup(y_, f.value, f.quotient, q); \
    x_ = a + b;                                                                     \
    y_ = a - b + two_q;                                                             \
  }

// x + y, (x - y) w: sums are brought below 2q.
#define JOIN(x_, y_, w_)                                   \
  {                                                        \
    const hx_opencl_factor_t f = w_;                       \
    const ulong a = x_, b = y_;                            \
    x_ = mod_once(a + b, two_q);                           \
    y_ = mod_shoup(a - b + two_q, f.value, f.quotient, q); \
  }
