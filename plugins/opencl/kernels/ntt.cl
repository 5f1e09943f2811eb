// SPDX-License-Identifier: Apache-2.0
// Transforms of rows of 2^12 points and more, once for each path: after path_integer.cl and again after path_real.cl,
// which say what a value is and how values are split and joined.
//
// A row of 2^log_n points is a matrix of 2^a rows of 256: forward, the columns are transformed first (in one kernel),
// then the rows (in another); backward the other way round. Each work-item holds 16 values and does up to four stages
// on them; one exchange through local memory lies between two such steps.
//
// Node v of the tree of stages has twiddle table[v]; stage t below it has the nodes (v << t) + j. The whole row is node
// 1; of 2^17 points the first stage is done apart (small.cl) and the columns begin at nodes 2 and 3.

#define NTT_GROUP 128

// Values stay in registers only where every index is a constant; processors have a stack, and their compilers take long
// over unrolled code.
#ifdef HX_OPENCL_WIDE
#define UNROLL _Pragma("nounroll")
#else
#define UNROLL _Pragma("unroll")
#endif

#ifdef PATH

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

#define STAGE_BACKWARD(r_, t_) \
  if (t_ < r_) {               \
    STAGE(JOIN, r_, t_)        \
    SETTLE_BACKWARD(v, r_, t_) \
  }

static inline void PATH(forward_step)(Value *v, const int r, PATH_PARAMETERS, global const Twiddle *table, uint node) {
  STAGE(SPLIT, r, 0)
  STAGE(SPLIT, r, 1)
  STAGE(SPLIT, r, 2)
  STAGE(SPLIT, r, 3)
}

static inline void PATH(backward_step)(Value *v, const int r, PATH_PARAMETERS, global const Twiddle *table, uint node) {
  STAGE_BACKWARD(r, 3)
  STAGE_BACKWARD(r, 2)
  STAGE_BACKWARD(r, 1)
  STAGE_BACKWARD(r, 0)
}

// Middle results: 64-bit rows keep the path's own form, 32-bit rows hold residues.
#if HX_OPENCL_WORD == 64
#define MIDDLE(x_) BITS(x_)
#define LOAD_MIDDLE(word_) LOAD_BITS(word_)
#else
#define MIDDLE(x_) (Word) STORE(x_)
#define LOAD_MIDDLE(word_) LOAD(word_)
#endif

// What follows a forward transform: plus b times the row's first constant (args.z > 0), plus c times its second (args.z
// > 1, where the row has a c), stored at the places of an automorphism. Aligned blocks stay blocks under it.
#define END_BEGIN(row_)                                                                                            \
  global const hx_opencl_factor_t *scale = (global const hx_opencl_factor_t *)(constants + args.extra) + 2 * row_; \
  global const Word *plus_b = args.z > 0 ? b_ + ROW_OF(HX_OPENCL_B, row_) : out;                                   \
  const bool has_c =                                                                                               \
      args.z > 1 && ((global const ulong *)(constants + args.rows[HX_OPENCL_C]))[row_] != HX_OPENCL_NO_ROW;        \
  global const Word *plus_c = has_c ? c_ + ROW_OF(HX_OPENCL_C, row_) : out;

#define END_STORE(i_, x_)                                                                     \
  {                                                                                           \
    ulong end_x = x_;                                                                         \
    if (args.z > 0) end_x = plus_scaled(end_x, plus_b[i_], scale[0], prime.q);                \
    if (has_c) end_x = plus_scaled(end_x, plus_c[i_], scale[1], prime.q);                     \
    out[args.element == 0 ? i_ : permuted_place(i_, args.element, args.log_n)] = (Word)end_x; \
  }

// Where a group works.
#define NTT_BEGIN(way_, log_tiles_)                                                         \
  const uint group = (uint)get_group_id(0), lane = (uint)get_local_id(0);                   \
  const uint row = group >> (log_tiles_), tile = group & ((1u << (log_tiles_)) - 1);        \
  const hx_opencl_prime_t prime = PRIME_OF(row);                                            \
  PATH_BEGIN(prime)                                                                         \
  global const Twiddle *table = (global const Twiddle *)(tables + PATH_TABLE(prime, way_)); \
  global Word *out = out_ + ROW_OF(HX_OPENCL_OUT, row);

// Columns of 2^(4 + R) points; args.x: log of the tiles a row, args.y: root node of the first half (1, or 2 of two).
#define COLUMNS_BEGIN(r_)                                                                                 \
  const uint columns = NTT_GROUP >> r_, per = 256 / columns, column = lane % columns, g = lane / columns; \
  const uint half_row = tile / per, first = half_row * (4096u << r_) + tile % per * columns + column;     \
  const uint root = args.y + half_row;                                                                    \
  Value v[16];

#define FORWARD_COLUMNS(r_)                                                                          \
  KERNEL(NTT_GROUP) PATH(forward_columns_##r_)(PLACES) {                                             \
    local Value exchange[NTT_GROUP * 16];                                                            \
    NTT_BEGIN(forward, args.x)                                                                       \
    COLUMNS_BEGIN(r_)                                                                                \
    global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);                                           \
    UNROLL for (int k = 0; k < 16; k++) v[k] = LOAD(in[first + ((k << r_) + g) * 256]);              \
    PATH(forward_step)(v, 4, PATH_ARGUMENTS, table, root);                                           \
    if (r_ > 0) {                                                                                    \
      SETTLE_ALL(v)                                                                                  \
      UNROLL for (int k = 0; k < 16; k++) exchange[((k << r_) + g) * columns + column] = v[k];       \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
      UNROLL for (int k = 0; k < 16; k++) v[k] = exchange[(g * 16 + k) * columns + column];          \
      PATH(forward_step)(v, r_, PATH_ARGUMENTS, table, (root << 4) + g * (16 >> r_));                \
    }                                                                                                \
    SETTLE_ALL(v)                                                                                    \
    UNROLL for (int k = 0; k < 16; k++) out[first + (r_ > 0 ? g * 16 + k : k) * 256] = MIDDLE(v[k]); \
  }

FORWARD_COLUMNS(0)
FORWARD_COLUMNS(1)
FORWARD_COLUMNS(2)
FORWARD_COLUMNS(3)
FORWARD_COLUMNS(4)

// args.z: 0: the last stages of the row, finished; 1: one more stage follows, so residues are stored.
#define BACKWARD_COLUMNS(r_)                                                                                     \
  KERNEL(NTT_GROUP) PATH(backward_columns_##r_)(PLACES) {                                                        \
    local Value exchange[NTT_GROUP * 16];                                                                        \
    NTT_BEGIN(backward, args.x)                                                                                  \
    COLUMNS_BEGIN(r_)                                                                                            \
    UNROLL for (int k = 0; k < 16; k++) v[k] = LOAD_MIDDLE(out[first + (r_ > 0 ? g * 16 + k : k) * 256]);        \
    if (r_ > 0) {                                                                                                \
      PATH(backward_step)(v, r_, PATH_ARGUMENTS, table, (root << 4) + g * (16 >> r_));                           \
      UNROLL for (int k = 0; k < 16; k++) exchange[(g * 16 + k) * columns + column] = v[k];                      \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
      UNROLL for (int k = 0; k < 16; k++) v[k] = exchange[((k << r_) + g) * columns + column];                   \
    }                                                                                                            \
    PATH(backward_step)(v, 4, PATH_ARGUMENTS, table, root);                                                      \
    global const hx_opencl_finish_t *finish = (global const hx_opencl_finish_t *)(constants + args.extra) + row; \
    UNROLL for (int k = 0; k < 16; k++) {                                                                        \
      out[first + ((k << r_) + g) * 256] = (Word)(args.z == 1 ? STORE(v[k]) : FINISH(v[k], finish, prime));      \
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
  local Value *own = exchange + lane / 16 * 272;                           \
  Value v[16];

KERNEL(NTT_GROUP) PATH(forward_rows)(PLACES) {
  local Value exchange[NTT_GROUP / 16 * 272];
  NTT_BEGIN(forward, args.x)
  ROWS_BEGIN
  global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);
  UNROLL for (int k = 0; k < 16; k++) v[k] = LOAD_MIDDLE(in[first + k * 16 + g]);
  PATH(forward_step)(v, 4, PATH_ARGUMENTS, table, root);
  UNROLL for (int k = 0; k < 16; k++) own[k * 17 + g] = SETTLE(v[k]);
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int k = 0; k < 16; k++) v[k] = own[g * 17 + k];
  PATH(forward_step)(v, 4, PATH_ARGUMENTS, table, (root << 4) + g);
  UNROLL for (int k = 0; k < 16; k++) own[g * 17 + k] = v[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  END_BEGIN(row)
  UNROLL for (int k = 0; k < 16; k++) {
    const uint i = first + (uint)k * 16 + g;
    END_STORE(i, STORE(own[k * 17 + g]))
  }
}

KERNEL(NTT_GROUP) PATH(backward_rows)(PLACES) {
  local Value exchange[NTT_GROUP / 16 * 272];
  NTT_BEGIN(backward, args.x)
  ROWS_BEGIN
  global const Word *in = a_ + ROW_OF(HX_OPENCL_A, row);
  UNROLL for (int k = 0; k < 16; k++) own[k * 17 + g] = LOAD(in[first + k * 16 + g]);
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int k = 0; k < 16; k++) v[k] = own[g * 17 + k];
  PATH(backward_step)(v, 4, PATH_ARGUMENTS, table, (root << 4) + g);
  UNROLL for (int k = 0; k < 16; k++) own[g * 17 + k] = v[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  UNROLL for (int k = 0; k < 16; k++) v[k] = own[k * 17 + g];
  PATH(backward_step)(v, 4, PATH_ARGUMENTS, table, root);
  UNROLL for (int k = 0; k < 16; k++) out[first + k * 16 + g] = MIDDLE(v[k]);
}

#endif
