// SPDX-License-Identifier: Apache-2.0
// An artifact is a container of one kind (CLI.md's table of files): parameters, keys, values, bundles. This is what all
// of them share: the common metadata, read and written. What each kind holds beside it is in file_*.c and keyfile_*.c.
#ifndef HELIOX_CORE_CKKS_ARTIFACT_H
#define HELIOX_CORE_CKKS_ARTIFACT_H

#include "core/ckks/params.h"
#include "core/tensor/container.h"
#include "core/tensor/tensor.h"
#include "heliox/file.h"

// ------------------------------------------------------------------ reading

typedef struct hx_artifact {
  hx_container_t *container;
  hx_file_kind_t kind;
  bool insecure;              // as the file says
  const char *params_digest;  // 64 digits, borrowed from the container
  uint8_t key_id[16];         // zero where the file has none
  bool has_key_id;
} hx_artifact_t;

// Word of a kind: "ciphertext".
const char *hx_artifact_kind_name(hx_file_kind_t kind);
// Opens a container and reads the common metadata. Refused: what hx_container_open refuses; file-kind (unknown);
// file-format (a common key is missing or malformed).
hx_status_t hx_artifact_open(const char *path, hx_artifact_t *out, hx_report_t *report);
// The same of bytes in memory.
hx_status_t hx_artifact_open_memory(const void *bytes, size_t size, const char *source, hx_artifact_t *out,
                                    hx_report_t *report);
void hx_artifact_close(hx_artifact_t *artifact);
// Refused (file-kind): another kind.
hx_status_t hx_artifact_expect(const hx_artifact_t *artifact, hx_file_kind_t kind, hx_report_t *report);
// Refused: params-digest (both digests), file-format (says insecure "0" of insecure parameters).
hx_status_t hx_artifact_check_params(const hx_artifact_t *artifact, const hx_params_t *params, hx_report_t *report);
// Adds the faults of `from` to `to` as the file's: its name as source, `what` before the text; a broken rule of a type
// or text becomes file-format. Returns the status of the last.
hx_status_t hx_artifact_relay(const hx_artifact_t *artifact, const char *what, const hx_report_t *from,
                              hx_report_t *to);
// "000102" to bytes; lower case, exactly 2 * size digits.
bool hx_artifact_parse_hex(const char *text, uint8_t *out, size_t size);

// Rows of one component of a host tensor, as the runs of a container's tensor: run i is row i of [*batch][digit]
// [first_component ..+components][limb]. Lives as long as the container uses it.
typedef struct hx_artifact_rows {
  hx_tensor_t *tensor;  // borrowed
  uint32_t first_component, components;
} hx_artifact_rows_t;
hx_container_runs_t hx_artifact_runs(hx_artifact_rows_t *rows);
// Fills component 1 of a host tensor [*batch][digit][2][limb] of the ring's word from a seed: limb l belongs to ids[l];
// the polynomial index is the digit where there is a digit axis, else the place in the batch.
void hx_artifact_expand(const hx_params_t *params, const uint8_t seed[32], const uint32_t *ids, hx_tensor_t *tensor);

// ------------------------------------------------------------------ writing

// Collects what a file will hold. After a failed allocation it stays failed; staging reports it.
typedef struct hx_artifact_writer {
  hx_arena_t arena;
  hx_container_entry_t *entries;
  size_t entry_count, entry_capacity;
  hx_container_tensor_t *tensors;
  size_t tensor_count, tensor_capacity;
  bool failed;
} hx_artifact_writer_t;

// Begins with the common metadata. key_id NULL or zero: none.
void hx_artifact_writer_init(hx_artifact_writer_t *writer, hx_file_kind_t kind, const hx_params_t *params,
                             const uint8_t *key_id);
void hx_artifact_writer_deinit(hx_artifact_writer_t *writer);
// Copies key (prefix followed by suffix) and value.
void hx_artifact_writer_metadata(hx_artifact_writer_t *writer, const char *prefix, const char *suffix,
                                 const char *value);
// Copies the tensor and its name (prefix followed by suffix); its memory is borrowed until the file is staged.
void hx_artifact_writer_tensor(hx_artifact_writer_t *writer, const char *prefix, const char *suffix,
                               const hx_container_tensor_t *tensor);
// `rows` of a tensor with its whole shape: [*batch, (digit,) components, limb, n], the component axis left out where
// without_component. Copies `rows`.
void hx_artifact_writer_rows(hx_artifact_writer_t *writer, const char *prefix, const char *suffix,
                             const hx_artifact_rows_t *rows, bool without_component);
// One contiguous piece of memory, U8 [count].
void hx_artifact_writer_bytes(hx_artifact_writer_t *writer, const char *prefix, const char *suffix, const void *bytes,
                              uint64_t count);
hx_status_t hx_artifact_writer_stage(hx_artifact_writer_t *writer, hx_atomic_file_t *file, hx_report_t *report);
// Whole or not at all, replacing what is there.
hx_status_t hx_artifact_writer_save(hx_artifact_writer_t *writer, const char *path, uint32_t mode, hx_report_t *report);

#endif
