// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX ((size_t)16 * 1024 * 1024)
#define FILE_MAX_BYTES ((size_t)1024 * 1024 * 1024)

void cli_message_free(cli_message_t *message) {
  free(message->values);
  *message = (cli_message_t){0};
}

hx_status_t cli_format_of(const char *path, cli_format_t *out, hx_report_t *report) {
  static const char *const endings[] = {".csv", ".npy", ".json"};
  const size_t size = strlen(path);
  for (size_t i = 0; i < 3; ++i) {
    const size_t tail = strlen(endings[i]);
    if (size > tail && strcmp(path + size - tail, endings[i]) == 0) {
      *out = (cli_format_t)i;
      return HX_STATUS_OK;
    }
  }
  return hx_report_fail(report, HX_CODE_USAGE, "%s: the name must end in .csv, .npy or .json", path);
}

// A growing list of pairs; real until a complex number comes.
typedef struct {
  double *pairs;
  size_t count, capacity;
  size_t row;  // values of each item of a batch; 0: no batch
  bool is_complex;
} list_t;

static hx_status_t push(list_t *list, double re, double im, bool is_complex, const char *path, hx_report_t *report) {
  if (list->count == VALUES_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "%s: more than %zu values", path, VALUES_MAX);
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity == 0 ? 1024 : 2 * list->capacity;
    double *pairs = realloc(list->pairs, capacity * 2 * sizeof *pairs);
    if (pairs == NULL) return HX_STATUS_OUT_OF_MEMORY;
    list->pairs = pairs;
    list->capacity = capacity;
  }
  list->pairs[2 * list->count] = re;
  list->pairs[2 * list->count + 1] = im;
  ++list->count;
  list->is_complex = list->is_complex || is_complex;
  return HX_STATUS_OK;
}

// Pairs become plain doubles where no value was complex.
static void finish(list_t *list, cli_message_t *out) {
  if (!list->is_complex) {
    for (size_t i = 1; i < list->count; ++i) list->pairs[i] = list->pairs[2 * i];
  }
  *out = (cli_message_t){.values = list->pairs,
                         .count = list->row == 0 ? list->count : list->row,
                         .items = list->row == 0 ? 0 : list->count / list->row,
                         .is_complex = list->is_complex};
}

// ------------------------------------------------------------------ csv

// Reads "a", "a+bi", "bi" (i or j) from text; returns the end, or NULL. Numbers as strtod reads them, nan and inf
// included: whether they are allowed is for the encoder to say.
static const char *scan_number(const char *text, double *re, double *im, bool *is_complex) {
  char *end;
  *re = strtod(text, &end);
  *im = 0;
  *is_complex = false;
  if (end == text) return NULL;
  if (*end == 'i' || *end == 'j') {
    *im = *re;
    *re = 0;
    *is_complex = true;
    return end + 1;
  }
  if (*end == '+' || *end == '-') {
    const char *second = end;
    *im = strtod(second, &end);
    if (end == second || (*end != 'i' && *end != 'j')) return NULL;
    *is_complex = true;
    return end + 1;
  }
  return end;
}

static const char *skip_blanks(const char *text) {
  while (*text == ' ' || *text == '\t' || *text == '\r') ++text;
  return text;
}

static hx_status_t csv_fault(hx_report_t *report, const char *path, uint32_t line, const char *start, const char *at,
                             const char *what) {
  return hx_report_fail_at(report, HX_CODE_TEXT_FORMAT, path, line, (uint32_t)(at - start) + 1, "%s", what);
}

// The values of one line, one or more.
static hx_status_t parse_line(const char *start, const char *end, uint32_t line, const char *path, list_t *list,
                              size_t *out_columns, hx_report_t *report) {
  const char *at = skip_blanks(start);
  for (*out_columns = 0;; ++*out_columns) {
    double re, im;
    bool is_complex;
    const char *next = at == end || *at == '\0' ? NULL : scan_number(at, &re, &im, &is_complex);
    if (next == NULL || next > end)
      return csv_fault(report, path, line, start, at, "not a number; complex ones are written a+bi");
    const hx_status_t status = push(list, re, im, is_complex, path, report);
    if (status != HX_STATUS_OK) return status;
    at = skip_blanks(next);
    if (at >= end) break;
    if (*at != ',') return csv_fault(report, path, line, start, at, "text behind the number");
    at = skip_blanks(at + 1);
  }
  *out_columns += 1;
  return HX_STATUS_OK;
}

static hx_status_t parse_csv(const char *data, size_t size, const char *path, list_t *list, hx_report_t *report) {
  uint32_t line = 0;
  size_t first_columns = 0;
  for (const char *start = data; start < data + size;) {
    const char *end = memchr(start, '\n', (size_t)(data + size - start));
    if (end == NULL) end = data + size;
    ++line;
    const char *at = skip_blanks(start);
    if (at < end) {  // a blank line is no value
      size_t columns = 0;
      const hx_status_t status = parse_line(start, end, line, path, list, &columns, report);
      if (status != HX_STATUS_OK) return status;
      if (first_columns == 0) first_columns = columns;
      if (columns != first_columns) {
        return hx_report_fail_at(report, HX_CODE_TEXT_FORMAT, path, line, 1,
                                 "%zu columns; the lines before have %zu, and all vectors of a batch have one length",
                                 columns, first_columns);
      }
    }
    start = end + 1;
  }
  if (first_columns > 1) list->row = first_columns;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ npy

static hx_status_t npy_fault(hx_report_t *report, const char *path, const char *what) {
  return hx_report_fail(report, HX_CODE_TEXT_FORMAT, "%s: %s", path, what);
}

// Text behind 'key': in the header dictionary, or NULL.
static const char *npy_entry(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (at == NULL) return NULL;
  at = skip_blanks(at + strlen(key));
  return *at == ':' ? skip_blanks(at + 1) : NULL;
}

// Shape of one axis "(n,)", or of two; *out_row is the second where both are above 1, else 0: a single row or column
// is one vector.
static bool npy_count(const char *shape, uint64_t *out, uint64_t *out_row) {
  uint64_t first, second = 1;
  int end = 0;
  *out_row = 0;
  if (sscanf(shape, "(%" SCNu64 ",)%n", &first, &end) == 1 && end > 0) {
    *out = first;
    return true;
  }
  if (sscanf(shape, "(%" SCNu64 ", %" SCNu64 ")%n", &first, &second, &end) == 2 && end > 0 &&
      (second == 0 || first <= VALUES_MAX / second)) {
    *out = first * second;
    *out_row = first > 1 && second > 1 ? second : 0;
    return true;
  }
  return false;
}

static double read_double(const unsigned char *bytes) {
  uint64_t bits = 0;
  for (int i = 7; i >= 0; --i) bits = bits << 8 | bytes[i];
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static hx_status_t parse_npy(const char *data, size_t size, const char *path, list_t *list, hx_report_t *report) {
  const unsigned char *bytes = (const unsigned char *)data;
  if (size < 12 || memcmp(data, "\x93NUMPY", 6) != 0) return npy_fault(report, path, "not a .npy file");
  const bool wide = bytes[6] >= 2;
  if (bytes[6] < 1 || bytes[6] > 3) return npy_fault(report, path, "unknown .npy version; 1 to 3 are read");
  const size_t length = wide ? bytes[8] | (size_t)bytes[9] << 8 | (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24
                             : bytes[8] | (size_t)bytes[9] << 8;
  const size_t start = wide ? 12 : 10;
  char header[4096];
  if (length >= sizeof header || start + length > size)
    return npy_fault(report, path, "the header is cut or longer than 4095 bytes");
  memcpy(header, data + start, length);
  header[length] = '\0';
  const char *descr = npy_entry(header, "'descr'"), *order = npy_entry(header, "'fortran_order'"),
             *shape = npy_entry(header, "'shape'");
  if (descr == NULL || order == NULL || shape == NULL)
    return npy_fault(report, path, "descr, fortran_order or shape is missing in the header");
  const bool is_complex = strncmp(descr, "'<c16'", 6) == 0;
  if (!is_complex && strncmp(descr, "'<f8'", 5) != 0) return npy_fault(report, path, "descr must be '<f8' or '<c16'");
  if (strncmp(order, "False", 5) != 0) return npy_fault(report, path, "fortran_order must be False");
  uint64_t count, row;
  if (!npy_count(shape, &count, &row))
    return npy_fault(report, path, "one axis, or two of at most 16 Mi values in all, are read");
  list->row = (size_t)row;
  const size_t step = is_complex ? 16 : 8;
  if (count > VALUES_MAX || size - start - length != count * step)
    return npy_fault(report, path, "the data are not as long as shape and descr say");
  for (size_t i = 0; i < count; ++i) {
    const unsigned char *at = bytes + start + length + i * step;
    const hx_status_t status =
        push(list, read_double(at), is_complex ? read_double(at + 8) : 0, is_complex, path, report);
    if (status != HX_STATUS_OK) return status;
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ json

static bool is_pair(const json_t *item) {
  return json_is_array(item) && json_array_size(item) == 2 && json_is_number(json_array_get(item, 0)) &&
         json_is_number(json_array_get(item, 1));
}

// Numbers and pairs of one list. `where` names it in faults.
static hx_status_t parse_json_list(const json_t *from, const char *where, const char *path, list_t *list,
                                   hx_report_t *report) {
  for (size_t i = 0; i < json_array_size(from); ++i) {
    const json_t *item = json_array_get(from, i);
    hx_status_t status;
    if (is_pair(item)) {
      status = push(list, json_number_value(json_array_get(item, 0)), json_number_value(json_array_get(item, 1)), true,
                    path, report);
    } else if (json_is_number(item)) {
      status = push(list, json_number_value(item), 0, false, path, report);
    } else {
      status = hx_report_fail(report, HX_CODE_TEXT_FORMAT, "%s: item %zu%s is neither a number nor a pair [re, im]",
                              path, i, where);
    }
    if (status != HX_STATUS_OK) return status;
  }
  return HX_STATUS_OK;
}

// True if every item is a list, and not every one a pair.
static bool is_batch(const json_t *root) {
  bool all_lists = json_array_size(root) > 0, all_pairs = true;
  for (size_t i = 0; i < json_array_size(root); ++i) {
    all_lists = all_lists && json_is_array(json_array_get(root, i));
    all_pairs = all_pairs && is_pair(json_array_get(root, i));
  }
  return all_lists && !all_pairs;
}

static hx_status_t parse_json_batch(const json_t *root, const char *path, list_t *list, hx_report_t *report) {
  list->row = json_array_size(json_array_get(root, 0));
  if (list->row == 0) return hx_report_fail(report, HX_CODE_LENGTH, "%s: vector 0 of the batch is empty", path);
  for (size_t i = 0; i < json_array_size(root); ++i) {
    char where[48];
    const json_t *item = json_array_get(root, i);
    if (json_array_size(item) != list->row)
      return hx_report_fail(report, HX_CODE_TEXT_FORMAT,
                            "%s: vector %zu has %zu values, vector 0 has %zu; all of a batch have one length", path, i,
                            json_array_size(item), list->row);
    snprintf(where, sizeof where, " of vector %zu", i);
    const hx_status_t status = parse_json_list(item, where, path, list, report);
    if (status != HX_STATUS_OK) return status;
  }
  return HX_STATUS_OK;
}

static hx_status_t parse_json(const char *data, size_t size, const char *path, list_t *list, hx_report_t *report) {
  json_error_t error;
  json_t *root = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) {
    return hx_report_fail_at(report, HX_CODE_TEXT_FORMAT, path, (uint32_t)error.line, (uint32_t)error.column, "%s",
                             error.text);
  }
  hx_status_t status;
  if (!json_is_array(root)) {
    status = hx_report_fail(report, HX_CODE_TEXT_FORMAT,
                            "%s: a list of numbers or [re, im] pairs is read, or a list of such lists", path);
  } else if (is_batch(root)) {
    status = parse_json_batch(root, path, list, report);
  } else {
    status = parse_json_list(root, "", path, list, report);
  }
  json_decref(root);
  return status;
}

hx_status_t cli_message_parse(cli_format_t format, const char *data, size_t size, const char *path, cli_message_t *out,
                              hx_report_t *report) {
  list_t list = {0};
  hx_status_t status;
  switch (format) {
    case CLI_FORMAT_CSV:
      status = parse_csv(data, size, path, &list, report);
      break;
    case CLI_FORMAT_NPY:
      status = parse_npy(data, size, path, &list, report);
      break;
    default:
      status = parse_json(data, size, path, &list, report);
      break;
  }
  if (status == HX_STATUS_OK && list.count == 0)
    status = hx_report_fail(report, HX_CODE_LENGTH, "%s: there is no value in the file", path);
  if (status != HX_STATUS_OK) {
    free(list.pairs);
    return status;
  }
  finish(&list, out);
  return HX_STATUS_OK;
}

hx_status_t cli_message_read(const char *path, cli_message_t *out, hx_report_t *report) {
  cli_format_t format = CLI_FORMAT_CSV;
  hx_status_t status = cli_format_of(path, &format, report);
  char *data = NULL;
  size_t size = 0;
  if (status == HX_STATUS_OK) status = cli_read_file(path, FILE_MAX_BYTES, &data, &size, report);
  if (status == HX_STATUS_OK) status = cli_message_parse(format, data, size, path, out, report);
  free(data);
  return status;
}

// ------------------------------------------------------------------ writing

// A double that reads back to the same bits. JSON's -0 is an integer, so its sign needs a fraction.
static void put_number(FILE *to, double value) { fprintf(to, value == 0 && signbit(value) ? "-0.0" : "%.17g", value); }

static void put_json(FILE *to, bool is_complex, double re, double im) {
  if (is_complex) fputs("[", to);
  put_number(to, re);
  if (!is_complex) return;
  fputs(", ", to);
  put_number(to, im);
  fputs("]", to);
}

// Value i of the whole message.
static void put_value(FILE *to, cli_format_t format, const cli_message_t *message, size_t i) {
  const double re = message->is_complex ? message->values[2 * i] : message->values[i];
  const double im = message->is_complex ? message->values[2 * i + 1] : 0;
  if (format == CLI_FORMAT_JSON) {
    put_json(to, message->is_complex, re, im);
  } else if (message->is_complex) {
    fprintf(to, "%.17g%+.17gi", re, im);
  } else {
    fprintf(to, "%.17g", re);
  }
}

static bool write_csv(FILE *to, const cli_message_t *message) {
  const size_t columns = message->items == 0 ? 1 : message->count;
  const size_t total = message->items == 0 ? message->count : message->items * message->count;
  for (size_t i = 0; i < total; ++i) {
    put_value(to, CLI_FORMAT_CSV, message, i);
    fputs((i + 1) % columns == 0 ? "\n" : ",", to);
  }
  return ferror(to) == 0;
}

static bool write_json(FILE *to, const cli_message_t *message) {
  const size_t items = message->items == 0 ? 1 : message->items;
  if (message->items > 0) fputs("[", to);
  for (size_t item = 0; item < items; ++item) {
    fputs(item == 0 ? "[" : ",\n [", to);
    for (size_t i = 0; i < message->count; ++i) {
      if (i > 0) fputs(message->items > 0 ? ", " : ",\n ", to);
      put_value(to, CLI_FORMAT_JSON, message, item * message->count + i);
    }
    fputs("]", to);
  }
  fputs(message->items > 0 ? "]\n" : "\n", to);
  return ferror(to) == 0;
}

static void put_double(FILE *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 8; ++i) fputc((int)(bits >> (8 * i) & 255), to);
}

static bool write_npy(FILE *to, const cli_message_t *message) {
  char header[128];
  char shape[48];
  if (message->items == 0) {
    snprintf(shape, sizeof shape, "(%zu,)", message->count);
  } else {
    snprintf(shape, sizeof shape, "(%zu, %zu)", message->items, message->count);
  }
  int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                        message->is_complex ? "<c16" : "<f8", shape);
  // The header ends in a newline and is padded so that the data start at a multiple of 64.
  while ((10 + length + 1) % 64 != 0) header[length++] = ' ';
  header[length++] = '\n';
  fwrite("\x93NUMPY\x01\x00", 1, 8, to);
  fputc(length & 255, to);
  fputc(length >> 8, to);
  fwrite(header, 1, (size_t)length, to);
  const size_t total = message->items == 0 ? message->count : message->items * message->count;
  const size_t doubles = message->is_complex ? 2 * total : total;
  for (size_t i = 0; i < doubles; ++i) put_double(to, message->values[i]);
  return ferror(to) == 0;
}

hx_status_t cli_message_write(const char *path, const cli_message_t *message, hx_report_t *report) {
  cli_format_t format = CLI_FORMAT_CSV;
  hx_status_t status = cli_format_of(path, &format, report);
  if (status != HX_STATUS_OK) return status;
  char *data = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&data, &size);
  if (memory == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const bool written = format == CLI_FORMAT_NPY   ? write_npy(memory, message)
                       : format == CLI_FORMAT_CSV ? write_csv(memory, message)
                                                  : write_json(memory, message);
  if (fclose(memory) != 0 || !written) {
    free(data);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  status = cli_write_file(path, data, size, report);
  free(data);
  return status;
}
