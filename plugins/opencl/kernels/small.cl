// SPDX-License-Identifier: Apache-2.0
// What of transforms is done on integers always; after path_integer.cl and ntt.cl.

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
