// SPDX-License-Identifier: Apache-2.0
// The file container: safetensors (8 bytes little-endian header length, a JSON header, data) with metadata, held to
// stricter rules: the header is padded with blanks so that data starts at a multiple of 64, tensors follow each other
// without holes to the end of the file, and the metadata name format "heliox", format_version "1" and the SHA-256 of
// the whole file taken with that entry's own 64 digits set to 0. Nothing is allocated for data before the sizes in the
// header have been compared with the bytes that are there.
#ifndef HELIOX_CORE_TENSOR_CONTAINER_H
#define HELIOX_CORE_TENSOR_CONTAINER_H

#include "core/tensor/atomic_file.h"
#include "heliox/plugin.h"

#define HX_CONTAINER_RANK_MAX 8
#define HX_CONTAINER_HEADER_MAX (512 * 1024)  // bytes of the header

// Where a tensor's bytes lie in memory: run `index` of run_bytes bytes at at(context, index); the runs make up the
// tensor in order. Called in order, one thread.
typedef struct hx_container_runs {
  void *(*at)(void *context, uint64_t index);
  void *context;
  uint64_t run_bytes;  // divides the tensor's bytes
} hx_container_runs_t;

// One tensor. In a file that was opened: borrowed until it is closed.
typedef struct hx_container_tensor {
  const char *name;
  uint32_t dtype;  // HX_U8, HX_U32, HX_U64, HX_I64, HX_F64
  uint32_t rank;
  uint64_t shape[HX_CONTAINER_RANK_MAX];
  uint64_t bytes;   // reading: from the header; writing: filled in
  uint64_t offset;  // from the start of the data; writing: filled in
  hx_container_runs_t runs;
} hx_container_tensor_t;

// ------------------------------------------------------------------ reading

typedef struct hx_container hx_container_t;  // one thread

// Opens and checks the header: structure, format, version, offsets against the file's size. A file that cannot be
// sought (a pipe) is read into memory first. Refused: io; file-truncated; file-format; file-version. Messages give
// offset and field.
hx_status_t hx_container_open(const char *path, hx_container_t **out, hx_report_t *report);
// The same of bytes in memory, borrowed until hx_container_close. `source` is for faults.
hx_status_t hx_container_open_memory(const void *bytes, size_t size, const char *source, hx_container_t **out,
                                     hx_report_t *report);
// Wipes what was read into memory of its own. NULL is allowed.
void hx_container_close(hx_container_t *container);

const char *hx_container_source(const hx_container_t *container);
// Value of a metadata key, or NULL.
const char *hx_container_metadata(const hx_container_t *container, const char *key);
// Tensors in the order of their data.
size_t hx_container_count(const hx_container_t *container);
const hx_container_tensor_t *hx_container_get(const hx_container_t *container, size_t index);
// Index of a tensor by name, or SIZE_MAX.
size_t hx_container_find(const hx_container_t *container, const char *name);

// Says where hx_container_load puts tensor `index`; run_bytes must divide its bytes. A tensor without a place is read
// and only enters the digest.
void hx_container_place(hx_container_t *container, size_t index, const hx_container_runs_t *runs);
// A place that is one contiguous piece of memory.
void hx_container_place_at(hx_container_t *container, size_t index, void *memory);
// Reads all data, once, in the order of the file, straight to their places, and compares the digest. On failure
// (file-truncated, file-integrity, io) the places hold anything and must not be used.
hx_status_t hx_container_load(hx_container_t *container, hx_report_t *report);
// Called while bytes are loaded, after each few MiB and at the end, with the bytes of this file so far; false ends the
// load (cancelled). NULL: nobody.
void hx_container_watch(hx_container_t *container, bool (*watch)(void *context, uint64_t done), void *context);
// Bytes of the file.
uint64_t hx_container_size(const hx_container_t *container);

// A fault of this file: "SOURCE: text". Returns the code's status.
hx_status_t hx_container_fail(const hx_container_t *container, hx_report_t *report, hx_code_t code, const char *format,
                              ...) HX_PRINTF(4, 5);

// ------------------------------------------------------------------ writing

typedef struct hx_container_entry {
  const char *key, *value;
} hx_container_entry_t;

// What a file will hold. format, format_version and sha256 are added; equal content gives equal bytes.
typedef struct hx_container_content {
  const hx_container_entry_t *entries;
  size_t entry_count;
  hx_container_tensor_t *tensors;  // name, dtype, rank, shape, runs given
  size_t tensor_count;
} hx_container_content_t;

// Writes everything into an open file, without committing it. Refused: limit (header too large), invalid-argument
// (an empty tensor, runs that do not make up the tensor), device-mix (a run has no host address), io.
hx_status_t hx_container_stage(hx_atomic_file_t *file, const hx_container_content_t *content, hx_report_t *report);
// Opens, stages, commits: the file appears whole or not at all.
hx_status_t hx_container_write(const char *path, const hx_container_content_t *content, uint32_t mode, bool overwrite,
                               hx_report_t *report);

#endif
