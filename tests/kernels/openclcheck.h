// SPDX-License-Identifier: Apache-2.0
// What the tests of the opencl plugin share: a host, and the first device, without which they are skipped.
#ifndef HX_OPENCLCHECK_H
#define HX_OPENCLCHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device.h"
#include "heliox/support/host.h"
#include "ops.h"
#include "program.h"

static inline hx_error oc_error(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message)}; }

// What the plugin sees as its host: options opencl-cache, -memory and -queue, lines of its log, and a cancel flag.
typedef struct oc_host {
  const char *cache, *memory, *queue, *path;
  int32_t cancelled;
  char log[8192];
} oc_host_t;

extern oc_host_t oc_host;

// Makes the host above the plugin's; options are unset but the cache, which is the tests' own directory.
void oc_reset(void);
// Skips the test where the machine has no OpenCL device that can be used.
void oc_require_device(void);
// The first device, opened.
hx_device *oc_open(void);

// A ring of 2 primes and a special one of 45 to 60 bits, and its tables.
typedef struct oc_ring {
  hx_ring ring;
  uint64_t primes[3], psi[3];
  uint32_t groups[2];
} oc_ring_t;
void oc_ring(uint32_t log_n, oc_ring_t *out);

// ntt.forward of `limbs` rows of a ring, prepared; buffers are [operand, result], rows are dense.
typedef struct oc_transform {
  hx_device *device;
  hx_tables *tables;
  hx_prepared *prepared;
  hx_buffer *buffers[2];
  uint64_t bytes;
} oc_transform_t;
void oc_transform_open(hx_device *device, uint32_t log_n, uint32_t space, oc_transform_t *out);
int32_t oc_transform_run(oc_transform_t *t, hx_queue *queue, hx_error *error);
void oc_transform_close(oc_transform_t *t);

#endif
