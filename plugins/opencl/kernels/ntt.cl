// SPDX-License-Identifier: Apache-2.0
// Transforms; after rows.cl. Forward values are in [0, 4q), backward ones in [0, 2q) [Har14].
//
// A row of 2^log_n points, log_n >= 12, is a matrix of 2^a rows of 256: forward, the columns are transformed first (in
// one kernel), then the rows (in another); backward the other way round. Each work-item holds 16 values and does up to
// four stages on them; one exchange through local memory lies between two such steps.
//
// Node v of the tree of stages has twiddle table[v]; stage t below it has the nodes (v << t) + j. The whole row is node
// 1; of 2^17 points the first stage is done apart and the columns begin at nodes 2 and 3.

#define NTT_GROUP 128

// Values stay in registers only where every index is a constant; processors have a stack, and their compilers take long
// over unrolled code.
#ifdef HX_OPENCL_WIDE
#define UNROLL _Pragma("nounroll")
#else
#define UNROLL _Pragma("unroll")
#endif

typedef global const hx_opencl_factor_t *twiddles_t;

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

// Stage t_ of r_ on 16 values, which are 16 >> r_ groups of 2^r_ adjacent ones, whose nodes are `node` and the next
// ones. Every index is a constant, so that values can stay in registers.
#define STAGE(pair_, r_, t_)                                         \
  if (t_ < r_) {                                                     \
    const int apart = t_ < r_ ? 8 >> (4 - r_ + t_) : 1;              \
    UNROLL                                                           \
    for (int k = 0; k < 8; k++) {                                    \
      const int low = k / apart * 2 * apart + k % apart;             \
      pair_(v[low], v[low + apart], table[(node << t_) + k / apart]) \
    }                                                                \
  }

static inline void forward_step(ulong *v, const int r, ulong q, ulong two_q, twiddles_t table, uint node) {
  STAGE(SPLIT, r, 0)
  STAGE(SPLIT, r, 1)
  STAGE(SPLIT, r, 2)
  STAGE(SPLIT, r, 3)
}

static inline void backward_step(ulong *v, const int r, ulong q, ulong two_q, twiddles_t table, uint node) {
  STAGE(JOIN, r, 3)
  STAGE(JOIN, r, 2)
  STAGE(JOIN, r, 1)
  STAGE(JOIN, r, 0)
}

static inline ulong reduced(ulong x, ulong q) { return mod_once(mod_once(x, 2 * q), q); }

// Middle results: 64-bit rows keep lazy values, 32-bit rows hold residues.
#if HX_OPENCL_WORD == 64
#define MIDDLE(x_) (x_)
#else
#define MIDDLE(x_) (Word) reduced(x_, q)
#endif

static inline ulong finished(ulong x, global const hx_opencl_finish_t *f, ulong q) {
  return mod_once(mod_once(mod_shoup(x, f->factor.value, f->factor.quotient, q), q) + f->add, q);
}

// What follows a forward transform: plus b times the row's first constant (args.z > 0), plus c times its second (args.z
// > 1, where the row has a c), stored at the places of an automorphism. Aligned blocks stay blocks under it.
static inline ulong plus_scaled(ulong x, ulong y, hx_opencl_factor_t f, ulong q) {
  return reduced(x + mod_shoup(y, f.value, f.quotient, q), q);
}

#define END_BEGIN(row_)                                                                                            \
  global const hx_opencl_factor_t *scale = (global const hx_opencl_factor_t *)(constants + args.extra) + 2 * row_; \
  global const Word *plus_b = args.z > 0 ? b_ + ROW_OF(HX_OPENCL_B, row_) : out;                                   \
  const bool has_c =                                                                                               \
      args.z > 1 && ((global const ulong *)(constants + args.rows[HX_OPENCL_C]))[row_] != HX_OPENCL_NO_ROW;        \
  global const Word *plus_c = has_c ? c_ + ROW_OF(HX_OPENCL_C, row_) : out;

#define END_STORE(i_, x_)                                                                     \
  {                                                                                           \
    ulong end_x = x_;                                                                         \
    if (args.z > 0) end_x = plus_scaled(end_x, plus_b[i_], scale[0], q);                      \
    if (has_c) end_x = plus_scaled(end_x, plus_c[i_], scale[1], q);                           \
    out[args.element == 0 ? i_ : permuted_place(i_, args.element, args.log_n)] = (Word)end_x; \
  }

// Where a group works.
#define NTT_BEGIN(table_, log_tiles_)                                                \
  const uint group = (uint)get_group_id(0), lane = (uint)get_local_id(0);            \
  const uint row = group >> (log_tiles_), tile = group & ((1u << (log_tiles_)) - 1); \
  const hx_opencl_prime_t prime = PRIME_OF(row);                                     \
  const ulong q = prime.q, two_q = prime.two_q;                                      \
  const twiddles_t table = (twiddles_t)(tables + prime.table_);                      \
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, row);

// Columns of 2^(4 + R) points; args.x: log of the tiles a row, args.y: root node of the first half (1, or 2 of two).
#define COLUMNS_BEGIN(r_)                                                                                 \
  const uint columns = NTT_GROUP >> r_, per = 256 / columns, column = lane % columns, g = lane / columns; \
  const uint half_row = tile / per, first = half_row * (4096u << r_) + tile % per * columns + column;     \
  const uint root = args.y + half_row;                                                                    \
  ulong v[16];

#define FORWARD_COLUMNS(r_)                                                                          \
  KERNEL(NTT_GROUP) hx_forward_columns_##r_(PLACES) {                                                \
    local ulong exchange[NTT_GROUP * 16];                                                            \
    NTT_BEGIN(forward, args.x)                                                                       \
    COLUMNS_BEGIN(r_)                                                                                \
    global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);                                           \
    UNROLL for (int k = 0; k < 16; k++) v[k] = in[first + ((k << r_) + g) * 256];                    \
    forward_step(v, 4, q, two_q, table, root);                                                       \
    if (r_ > 0) {                                                                                    \
      UNROLL for (int k = 0; k < 16; k++) exchange[((k << r_) + g) * columns + column] = v[k];       \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
      UNROLL for (int k = 0; k < 16; k++) v[k] = exchange[(g * 16 + k) * columns + column];          \
      forward_step(v, r_, q, two_q, table, (root << 4) + g * (16 >> r_));                            \
    }                                                                                                \
    UNROLL for (int k = 0; k < 16; k++) out[first + (r_ > 0 ? g * 16 + k : k) * 256] = MIDDLE(v[k]); \
  }

FORWARD_COLUMNS(0)
FORWARD_COLUMNS(1)
FORWARD_COLUMNS(2)
FORWARD_COLUMNS(3)
FORWARD_COLUMNS(4)

// args.z: 0: the last stages of the row, finished; 1: one more stage follows, so residues are stored.
#define BACKWARD_COLUMNS(r_)                                                                                     \
  KERNEL(NTT_GROUP) hx_backward_columns_##r_(PLACES) {                                                           \
    local ulong exchange[NTT_GROUP * 16];                                                                        \
    NTT_BEGIN(backward, args.x)                                                                                  \
    COLUMNS_BEGIN(r_)                                                                                            \
    UNROLL for (int k = 0; k < 16; k++) v[k] = out[first + (r_ > 0 ? g * 16 + k : k) * 256];                     \
    if (r_ > 0) {                                                                                                \
      backward_step(v, r_, q, two_q, table, (root << 4) + g * (16 >> r_));                                       \
      UNROLL for (int k = 0; k < 16; k++) exchange[(g * 16 + k) * columns + column] = v[k];                      \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
      UNROLL for (int k = 0; k < 16; k++) v[k] = exchange[((k << r_) + g) * columns + column];                   \
    }                                                                                                            \
    backward_step(v, 4, q, two_q, table, root);                                                                  \
    global const hx_opencl_finish_t *finish = (global const hx_opencl_finish_t *)(constants + args.extra) + row; \
    UNROLL for (int k = 0; k < 16; k++) {                                                                        \
      out[first + ((k << r_) + g) * 256] = (Word)(args.z == 1 ? mod_once(v[k], q) : finished(v[k], finish, q));  \
    }                                                                                                            \
  }

BACKWARD_COLUMNS(0)
BACKWARD_COLUMNS(1)
BACKWARD_COLUMNS(2)
BACKWARD_COLUMNS(3)
BACKWARD_COLUMNS(4)

// Rows of 256 points, 8 of them a group; 16 work-items exchange among themselves, a place apart after every 16.
#define ROWS_BEGIN                                                         \
  const uint g = lane % 16, chunk = tile * (NTT_GROUP / 16) + lane / 16;   \
  const uint root = (1u << (args.log_n - 8)) + chunk, first = chunk * 256; \
  local ulong *own = exchange + lane / 16 * 272;                           \
  ulong v[16];

KERNEL(NTT_GROUP) hx_forward_rows(PLACES) {
  local ulong exchange[NTT_GROUP / 16 * 272];
  NTT_BEGIN(forward, args.x)
  ROWS_BEGIN
  global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);
  UNROLL for (int k = 0; k < 16; k++) v[k] = in[first + k * 16 + g];
  forward_step(v, 4, q, two_q, table, root);
  UNROLL for (int k = 0; k < 16; k++) own[k * 17 + g] = v[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int k = 0; k < 16; k++) v[k] = own[g * 17 + k];
  forward_step(v, 4, q, two_q, table, (root << 4) + g);
  UNROLL for (int k = 0; k < 16; k++) own[g * 17 + k] = v[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  END_BEGIN(row)
  UNROLL for (int k = 0; k < 16; k++) {
    const uint i = first + (uint)k * 16 + g;
    END_STORE(i, reduced(own[k * 17 + g], q))
  }
}

KERNEL(NTT_GROUP) hx_backward_rows(PLACES) {
  local ulong exchange[NTT_GROUP / 16 * 272];
  NTT_BEGIN(backward, args.x)
  ROWS_BEGIN
  global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);
  UNROLL for (int k = 0; k < 16; k++) own[k * 17 + g] = in[first + k * 16 + g];
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int k = 0; k < 16; k++) v[k] = own[g * 17 + k];
  backward_step(v, 4, q, two_q, table, (root << 4) + g);
  UNROLL for (int k = 0; k < 16; k++) own[g * 17 + k] = v[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int k = 0; k < 16; k++) v[k] = own[k * 17 + g];
  backward_step(v, 4, q, two_q, table, root);
  UNROLL for (int k = 0; k < 16; k++) out[first + k * 16 + g] = MIDDLE(v[k]);
}

// The first stage of 2^17 points, forward, or the last, backward, between the halves of a row: residues to residues.
#define HALF_BEGIN(table_)                                                       \
  NTT_BEGIN(table_, args.x)                                                      \
  global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);                         \
  const uint i = tile * HX_OPENCL_GROUP + lane, half_n = 1u << (args.log_n - 1); \
  ulong x = in[i], y = in[i + half_n];

KERNEL(HX_OPENCL_GROUP) hx_half_forward(PLACES) {
  HALF_BEGIN(forward)
  SPLIT(x, y, table[1])
  out[i] = (Word)reduced(x, q);
  out[i + half_n] = (Word)reduced(y, q);
}

KERNEL(HX_OPENCL_GROUP) hx_half_backward(PLACES) {
  HALF_BEGIN(backward)
  global const hx_opencl_finish_t *finish = (global const hx_opencl_finish_t *)(constants + args.extra) + row;
  JOIN(x, y, table[1])
  out[i] = (Word)finished(x, finish, q);
  out[i + half_n] = (Word)finished(y, finish, q);
}

// Rows of at most 2^11 points, one a group, in local memory; the same ends as the large ones.
#define SMALL_STAGES(pair_, stage_)                                             \
  for (uint s = 0; s < args.log_n; s++) {                                       \
    const uint stage = stage_, distance = n / 2 >> stage;                       \
    barrier(CLK_LOCAL_MEM_FENCE);                                               \
    for (uint i = lane; i < n / 2; i += HX_OPENCL_GROUP) {                      \
      const uint block = i / distance, k = block * 2 * distance + i % distance; \
      pair_(values[k], values[k + distance], table[(1u << stage) + block])      \
    }                                                                           \
  }                                                                             \
  barrier(CLK_LOCAL_MEM_FENCE);

KERNEL(HX_OPENCL_GROUP) hx_small_forward(PLACES) {
  local ulong values[2048];
  NTT_BEGIN(forward, 0)
  global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);
  const uint n = 1u << args.log_n;
  for (uint i = lane; i < n; i += HX_OPENCL_GROUP) values[i] = in[i];
  SMALL_STAGES(SPLIT, s)
  END_BEGIN(row)
  for (uint i = lane; i < n; i += HX_OPENCL_GROUP) {
    END_STORE(i, reduced(values[i], q))
  }
}

KERNEL(HX_OPENCL_GROUP) hx_small_backward(PLACES) {
  local ulong values[2048];
  NTT_BEGIN(backward, 0)
  global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);
  const uint n = 1u << args.log_n;
  for (uint i = lane; i < n; i += HX_OPENCL_GROUP) values[i] = in[i];
  SMALL_STAGES(JOIN, args.log_n - 1 - s)
  global const hx_opencl_finish_t *finish = (global const hx_opencl_finish_t *)(constants + args.extra) + row;
  for (uint i = lane; i < n; i += HX_OPENCL_GROUP) {
    out[i] = (Word)finished(values[i], finish, q);
  }
}
