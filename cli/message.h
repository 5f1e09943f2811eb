// SPDX-License-Identifier: Apache-2.0
// Messages as files: .csv, .npy, .json. Real or complex doubles, one vector a file or a batch of vectors of one length:
// several columns in .csv (a line is an item), two axes above 1 in .npy (C order: a row is an item), a list of lists in
// .json. A .json list whose items are all pairs of numbers is one complex vector; write a batch of two-value vectors in
// another format. A batch of vectors of one value reads back from .csv and .npy as one vector.
#ifndef HELIOX_CLI_MESSAGE_H
#define HELIOX_CLI_MESSAGE_H

#include "heliox/base.h"

typedef struct cli_message {
  double *values;  // count doubles, or count pairs (re, im), of each item; freed by cli_message_free
  size_t count;    // of one item
  size_t items;    // of a batch; 0: one vector, no batch
  bool is_complex;
} cli_message_t;

typedef enum cli_format { CLI_FORMAT_CSV, CLI_FORMAT_NPY, CLI_FORMAT_JSON } cli_format_t;

// Format by the path's ending (.csv, .npy, .json). usage fault otherwise.
hx_status_t cli_format_of(const char *path, cli_format_t *out, hx_report_t *report);
// Parses a whole file's bytes; data[size] must be 0. Faults (text-format) name path, line and column or offset. At most
// 16 Mi values.
hx_status_t cli_message_parse(cli_format_t format, const char *data, size_t size, const char *path, cli_message_t *out,
                              hx_report_t *report);
// Reads a file (at most 1 GiB).
hx_status_t cli_message_read(const char *path, cli_message_t *out, hx_report_t *report);
// Writes a file; appears whole or not at all.
hx_status_t cli_message_write(const char *path, const cli_message_t *message, hx_report_t *report);
void cli_message_free(cli_message_t *message);

// Writes bytes to a file that appears whole or not at all.
hx_status_t cli_write_file(const char *path, const void *data, size_t size, hx_report_t *report);
// Reads a whole file, at most `limit` bytes, plus a NUL; freed by free.
hx_status_t cli_read_file(const char *path, size_t limit, char **out_data, size_t *out_size, hx_report_t *report);

#endif
