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
  *out = (cli_message_t){.values = list->pairs, .count = list->count, .is_complex = list->is_complex};
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

static hx_status_t parse_csv(const char *data, size_t size, const char *path, list_t *list, hx_report_t *report) {
  uint32_t line = 0;
  for (const char *start = data; start < data + size;) {
    const char *end = memchr(start, '\n', (size_t)(data + size - start));
    if (end == NULL) end = data + size;
    ++line;
    const char *at = skip_blanks(start);
    if (at < end) {  // a blank line is no value
      double re, im;
      bool is_complex;
      const char *next = *at == '\0' ? NULL : scan_number(at, &re, &im, &is_complex);
      if (next == NULL || next > end)
        return csv_fault(report, path, line, start, at, "not a number; complex ones are written a+bi");
      next = skip_blanks(next);
      if (next < end && *next == ',') {
        return hx_report_fail_at(report, HX_CODE_UNSUPPORTED, path, line, (uint32_t)(next - start) + 1,
                                 "several columns: batches of vectors are not read; give one value a line");
      }
      if (next < end) return csv_fault(report, path, line, start, next, "text behind the number");
      const hx_status_t status = push(list, re, im, is_complex, path, report);
      if (status != HX_STATUS_OK) return status;
    }
    start = end + 1;
  }
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

// Shape of one axis "(n,)", or two with one of them 1.
static bool npy_count(const char *shape, uint64_t *out) {
  uint64_t first, second = 1;
  int end = 0;
  if (sscanf(shape, "(%" SCNu64 ",)%n", &first, &end) == 1 && end > 0) {
    *out = first;
    return true;
  }
  if (sscanf(shape, "(%" SCNu64 ", %" SCNu64 ")%n", &first, &second, &end) == 2 && end > 0 &&
      (first == 1 || second == 1)) {
    *out = first * second;
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
  uint64_t count;
  if (!npy_count(shape, &count)) return npy_fault(report, path, "one axis is read; batches of vectors are not");
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

static hx_status_t parse_json(const char *data, size_t size, const char *path, list_t *list, hx_report_t *report) {
  json_error_t error;
  json_t *root = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) {
    return hx_report_fail_at(report, HX_CODE_TEXT_FORMAT, path, (uint32_t)error.line, (uint32_t)error.column, "%s",
                             error.text);
  }
  hx_status_t status = HX_STATUS_OK;
  if (!json_is_array(root))
    status = hx_report_fail(report, HX_CODE_TEXT_FORMAT, "%s: a list of numbers or [re, im] pairs is read", path);
  const size_t count = json_is_array(root) ? json_array_size(root) : 0;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    const json_t *item = json_array_get(root, i);
    const bool pair = json_is_array(item) && json_array_size(item) == 2 && json_is_number(json_array_get(item, 0)) &&
                      json_is_number(json_array_get(item, 1));
    if (pair) {
      status = push(list, json_number_value(json_array_get(item, 0)), json_number_value(json_array_get(item, 1)), true,
                    path, report);
    } else if (json_is_number(item)) {
      status = push(list, json_number_value(item), 0, false, path, report);
    } else {
      status =
          hx_report_fail(report, HX_CODE_TEXT_FORMAT, "%s: item %zu is neither a number nor a pair [re, im]", path, i);
    }
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

static bool write_text(FILE *to, cli_format_t format, const cli_message_t *message) {
  if (format == CLI_FORMAT_JSON) fputs("[", to);
  for (size_t i = 0; i < message->count; ++i) {
    const double re = message->is_complex ? message->values[2 * i] : message->values[i];
    const double im = message->is_complex ? message->values[2 * i + 1] : 0;
    if (format == CLI_FORMAT_JSON) {
      fputs(i == 0 ? "" : ",\n ", to);
      put_json(to, message->is_complex, re, im);
    } else if (message->is_complex) {
      fprintf(to, "%.17g%+.17gi\n", re, im);
    } else {
      fprintf(to, "%.17g\n", re);
    }
  }
  if (format == CLI_FORMAT_JSON) fputs("]\n", to);
  return ferror(to) == 0;
}

static void put_double(FILE *to, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 8; ++i) fputc((int)(bits >> (8 * i) & 255), to);
}

static bool write_npy(FILE *to, const cli_message_t *message) {
  char header[128];
  int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }",
                        message->is_complex ? "<c16" : "<f8", message->count);
  // The header ends in a newline and is padded so that the data start at a multiple of 64.
  while ((10 + length + 1) % 64 != 0) header[length++] = ' ';
  header[length++] = '\n';
  fwrite("\x93NUMPY\x01\x00", 1, 8, to);
  fputc(length & 255, to);
  fputc(length >> 8, to);
  fwrite(header, 1, (size_t)length, to);
  const size_t doubles = message->is_complex ? 2 * message->count : message->count;
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
  const bool written = format == CLI_FORMAT_NPY ? write_npy(memory, message) : write_text(memory, format, message);
  if (fclose(memory) != 0 || !written) {
    free(data);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  status = cli_write_file(path, data, size, report);
  free(data);
  return status;
}
