// SPDX-License-Identifier: Apache-2.0
// Inside of the container reader: shared by container.c and container_header.c.
#ifndef HELIOX_CORE_TENSOR_CONTAINER_INTERNAL_H
#define HELIOX_CORE_TENSOR_CONTAINER_INTERNAL_H

#include <jansson.h>

#include "core/base/memory.h"
#include "core/tensor/container.h"

#define HX_CONTAINER_ALIGNMENT 64
#define HX_CONTAINER_FORMAT "heliox"
#define HX_CONTAINER_VERSION "1"
#define HX_CONTAINER_DIGITS 64  // of the sha256 entry

struct hx_container {
  char *source;
  int fd;                      // -1: bytes
  const unsigned char *bytes;  // whole file in memory
  unsigned char *own;          // the same where it is ours; wiped
  uint64_t size;               // of the file
  uint64_t position;           // next byte to read
  unsigned char *header;       // [header_size], without the length before it
  uint64_t header_size;
  uint64_t digits_at;  // offset of the sha256 entry's digits in the header
  char digits[HX_CONTAINER_DIGITS + 1];
  json_t *root;      // owns all names and metadata
  json_t *metadata;  // in root
  bool (*watch)(void *context, uint64_t done);
  void *watch_context;
  uint64_t watched;  // position of the last call
  hx_container_tensor_t *tensors;
  size_t tensor_count;
};

// Parses container->header: fills root, metadata, tensors (in the order of data), digits. Every rule is checked.
hx_status_t hx_container_parse_header(hx_container_t *container, hx_report_t *report);

const char *hx_container_dtype_name(uint32_t dtype);  // "U64", or NULL
uint32_t hx_container_dtype_find(const char *name);   // 0: unknown
// Bytes of a tensor, 0 on overflow, an empty axis or a rank out of range.
uint64_t hx_container_tensor_bytes(const hx_container_tensor_t *tensor);

#endif
