// SPDX-License-Identifier: Apache-2.0
// What a device must compute rightly before it is used: there are compilers that make wrong code.
#ifndef HX_OPENCL_SELFTEST_H
#define HX_OPENCL_SELFTEST_H

#include "device.h"

// [A] Runs every kernel of a residue word (64 or 32) on fixed residues, once for a device, and compares with digests of
// what is right (selftest.def). HX_UNAVAILABLE names the first primitive that is wrong. The first time it then chooses
// the path of small primes (pace.h).
int32_t hx_opencl_self_test(hx_device *device, uint32_t word, hx_error *error);

// ---- one check, for the plugin and for the test of its digests

#define HX_OPENCL_CHECK_OPERANDS 4u
#define HX_OPENCL_CHECK_VALUES (HX_OPENCL_CHECK_OPERANDS + 1)

// Values are the operands, then the result; all lie in one memory.
typedef struct hx_opencl_check {
  const char *op_name;
  bool small;  // all primes of the ring have at most 50 bits
  uint64_t expected;
  hx_ring ring;
  uint64_t primes[4], psi[4];
  uint32_t groups[3];
  hx_region region;
  hx_op op;
  hx_tensor_desc values[HX_OPENCL_CHECK_VALUES];
  uint64_t offsets[HX_OPENCL_CHECK_VALUES], bytes[HX_OPENCL_CHECK_VALUES];
  uint32_t ids[HX_OPENCL_CHECK_VALUES][4], indices[HX_OPENCL_CHECK_VALUES];
  uint32_t value_count;
  hx_attr attrs[2];
  int64_t numbers[4];
  uint64_t residues[4];
  uint64_t memory_bytes;
  unsigned char *memory;  // operands filled in, the result zeroed
} hx_opencl_check_t;

extern const uint32_t hx_opencl_check_count;
extern const uint32_t hx_opencl_pace_check;  // ntt.forward of 2^12 points, all primes of at most 50 bits

// HX_OUT_OF_MEMORY. The check is not to be moved; hx_opencl_check_release frees its memory.
int32_t hx_opencl_check_make(uint32_t index, uint32_t word, hx_opencl_check_t *out, hx_error *error);
void hx_opencl_check_release(hx_opencl_check_t *check);
// Of the result as it lies in `memory`.
uint64_t hx_opencl_check_digest(const hx_opencl_check_t *check, const unsigned char *memory);

#endif
