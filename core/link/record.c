// SPDX-License-Identifier: Apache-2.0
// Records of runs: one line a result, "call NUMBER OPERATION VALUE DIGEST", behind two lines of heading. A secret
// result has "secret" in place of a digest.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/link/trace.h"
#include "core/tensor/atomic_file.h"
#include "core/tensor/sha256.h"

#define HEADING "heliox-record "
#define VERSION "1"
#define RESULTS_MAX ((size_t)1 << 20)
#define TEXT_MAX ((size_t)64 << 20)
#define NAME_BYTES_MAX 128

typedef struct result {
  uint64_t call;
  const char *operation, *value;  // in the arena
  bool secret;
  uint8_t digest[HX_SHA256_BYTES];
} result_t;

struct hx_record {
  hx_arena_t arena;
  char params[65];
  result_t *results;
  size_t count, capacity;
};

hx_status_t hx_record_create(hx_record_t **out, hx_report_t *report) {
  if (out == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_record_create: out is NULL");
  hx_record_t *record = hx_zalloc(1, sizeof *record);
  if (record == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a record");
  hx_arena_init(&record->arena);
  *out = record;
  return HX_STATUS_OK;
}

void hx_record_release(hx_record_t *record) {
  if (record == NULL) return;
  hx_free(record->results);
  hx_arena_deinit(&record->arena);
  hx_free(record);
}

size_t hx_record_count(const hx_record_t *record) { return record->count; }

// ------------------------------------------------------------------ runs

hx_status_t hx_recording_begin(hx_recording_t *recording, const hx_params_t *params) {
  const char *digest = hx_params_digest_hex(params);
  if (recording->record != NULL && recording->replay != NULL)
    return hx_report_fail(recording->report, HX_CODE_INVALID_ARGUMENT, "a run records or replays, not both");
  if (recording->replay != NULL && strcmp(recording->replay->params, digest) != 0)
    return hx_report_fail(recording->report, HX_CODE_PARAMS_DIGEST,
                          "the record belongs to parameters %.16s..., the program to %.16s...",
                          recording->replay->params, digest);
  if (recording->record == NULL) return HX_STATUS_OK;
  hx_arena_deinit(&recording->record->arena);
  hx_arena_init(&recording->record->arena);
  recording->record->count = 0;
  snprintf(recording->record->params, sizeof recording->record->params, "%.64s", digest);
  return HX_STATUS_OK;
}

// Rows of a dense tensor lie one after the other.
static void digest_of(const hx_watched_t *watched, uint8_t out[HX_SHA256_BYTES]) {
  hx_sha256_t hash;
  hx_sha256_init(&hash);
  hx_sha256_update(&hash, watched->data,
                   (size_t)(hx_layout_elements(watched->layout) * hx_dtype_bytes(watched->layout->dtype)));
  hx_sha256_final(&hash, out);
}

static hx_status_t add_result(hx_record_t *record, const result_t *result) {
  if (record->count == RESULTS_MAX) return HX_STATUS_REFUSED;
  HX_TRY(hx_grow(&record->results, &record->capacity, record->count + 1, sizeof *record->results));
  result_t *kept = &record->results[record->count];
  *kept = *result;
  kept->operation = hx_arena_str(&record->arena, hx_str(result->operation)).data;
  kept->value = hx_arena_str(&record->arena, hx_str(result->value)).data;
  if (kept->operation == NULL || kept->value == NULL) return HX_STATUS_OUT_OF_MEMORY;
  record->count += 1;
  return HX_STATUS_OK;
}

static void compare(hx_recording_t *recording, const result_t *found, uint32_t line, uint32_t column) {
  const hx_record_t *replay = recording->replay;
  if (recording->count >= replay->count) {
    recording->status = hx_report_fail_at(recording->report, HX_CODE_DIFFERS, recording->source, line, column,
                                          "%s gives %s as result %zu, but the record has %zu results", found->operation,
                                          found->value, recording->count, replay->count);
    return;
  }
  const result_t *wanted = &replay->results[recording->count];
  if (strcmp(wanted->operation, found->operation) != 0 || wanted->call != found->call) {
    recording->status = hx_report_fail_at(recording->report, HX_CODE_DIFFERS, recording->source, line, column,
                                          "call %llu is %s (%s); the record has call %llu, %s (%s) there",
                                          (unsigned long long)found->call, found->operation, found->value,
                                          (unsigned long long)wanted->call, wanted->operation, wanted->value);
  } else if (wanted->secret != found->secret || memcmp(wanted->digest, found->digest, sizeof found->digest) != 0) {
    recording->status =
        hx_report_fail_at(recording->report, HX_CODE_DIFFERS, recording->source, line, column,
                          "call %llu, %s, gives another %s than the record (there: %s)",
                          (unsigned long long)found->call, found->operation, found->value, wanted->value);
  }
}

void hx_recording_watch(void *argument, const hx_watched_t *watched) {
  hx_recording_t *recording = argument;
  if (recording->status != HX_STATUS_OK) return;
  result_t result = {
      .call = watched->call, .operation = watched->operation, .value = watched->value, .secret = watched->secret};
  if (!watched->secret) digest_of(watched, result.digest);
  if (recording->record != NULL) {
    recording->status = add_result(recording->record, &result);
    if (recording->status == HX_STATUS_REFUSED)
      recording->status =
          hx_report_fail(recording->report, HX_CODE_LIMIT, "a record holds at most %zu results", RESULTS_MAX);
    if (recording->status == HX_STATUS_OUT_OF_MEMORY)
      (void)hx_report_fail(recording->report, HX_CODE_OUT_OF_MEMORY, "no memory for the record of a run");
  } else {
    compare(recording, &result, watched->line, watched->column);
  }
  recording->count += 1;
}

hx_status_t hx_recording_end(void *argument) {
  const hx_recording_t *recording = argument;
  if (recording->status != HX_STATUS_OK || recording->replay == NULL || recording->count == recording->replay->count)
    return recording->status;
  const result_t *missing = &recording->replay->results[recording->count];
  return hx_report_fail(recording->report, HX_CODE_DIFFERS,
                        "the run gave %zu results, the record has %zu: the first that is missing is %s of %s",
                        recording->count, recording->replay->count, missing->value, missing->operation);
}

// ------------------------------------------------------------------ text

static void write_result(const result_t *result, hx_text_t *out) {
  hx_text_printf(out, "call %llu %s %s ", (unsigned long long)result->call, result->operation, result->value);
  if (result->secret) {
    hx_text_puts(out, "secret\n");
    return;
  }
  for (size_t i = 0; i < sizeof result->digest; ++i) hx_text_printf(out, "%02x", result->digest[i]);
  hx_text_puts(out, "\n");
}

hx_status_t hx_record_save(const hx_record_t *record, const char *path, hx_report_t *report) {
  if (record == NULL || path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_record_save: an argument is NULL");
  hx_text_t text;
  hx_text_init(&text);
  hx_text_printf(&text, HEADING VERSION "\nparams %s\n", record->params);
  for (size_t i = 0; i < record->count; ++i) write_result(&record->results[i], &text);
  hx_atomic_file_t file = {0};
  hx_status_t status =
      text.failed ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", path) : HX_STATUS_OK;
  if (status == HX_STATUS_OK) status = hx_atomic_file_open(&file, path, 0666, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_write(&file, text.data, text.size, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_commit(&file, true, report);
  hx_atomic_file_abandon(&file);
  hx_text_deinit(&text);
  return status;
}

// Lines of a record: words between single blanks.
typedef struct reader {
  hx_str_t rest;
  const char *source;
  uint32_t line;
  hx_report_t *report;
} reader_t;

static hx_status_t malformed(const reader_t *reader, const char *what) {
  return hx_report_fail_at(reader->report, HX_CODE_FILE_FORMAT, reader->source, reader->line, 1, "%s", what);
}

static bool next_line(reader_t *reader, hx_str_t *out) {
  const char *end = reader->rest.size == 0 ? NULL : memchr(reader->rest.data, '\n', reader->rest.size);
  if (end == NULL) return false;
  *out = (hx_str_t){.data = reader->rest.data, .size = (size_t)(end - reader->rest.data)};
  reader->rest.data += out->size + 1;
  reader->rest.size -= out->size + 1;
  reader->line += 1;
  return true;
}

static hx_str_t next_word(hx_str_t *line) {
  const char *end = line->size == 0 ? NULL : memchr(line->data, ' ', line->size);
  const hx_str_t word = {.data = line->data, .size = end == NULL ? line->size : (size_t)(end - line->data)};
  const size_t taken = word.size + (end != NULL);
  line->data += taken;
  line->size -= taken;
  return word;
}

static bool parse_hex(hx_str_t text, uint8_t *out, size_t size) {
  if (text.size != 2 * size) return false;
  for (size_t i = 0; i < text.size; ++i) {
    const char c = text.data[i];
    const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    if (!digit && !letter) return false;
    const uint8_t nibble = (uint8_t)(digit ? c - '0' : c - 'a' + 10);
    out[i / 2] = (uint8_t)(i % 2 == 0 ? nibble << 4 : out[i / 2] | nibble);
  }
  return true;
}

static bool parse_number(hx_str_t text, uint64_t *out) {
  *out = 0;
  if (text.size == 0 || text.size > 18) return false;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    *out = *out * 10 + (uint64_t)(text.data[i] - '0');
  }
  return true;
}

// Printable and short: it is shown to people.
static bool is_name(hx_str_t text) {
  if (text.size == 0 || text.size > NAME_BYTES_MAX) return false;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] <= ' ' || text.data[i] == 0x7f) return false;
  }
  return true;
}

static hx_status_t parse_result(reader_t *reader, hx_str_t line, hx_record_t *record) {
  const hx_str_t word = next_word(&line), number = next_word(&line), operation = next_word(&line),
                 value = next_word(&line);
  result_t result = {0};
  if (!hx_str_equal(word, hx_str("call")) || !parse_number(number, &result.call) || !is_name(operation) ||
      !is_name(value))
    return malformed(reader, "a line has to be: call NUMBER OPERATION VALUE DIGEST");
  result.secret = hx_str_equal(line, hx_str("secret"));
  if (!result.secret && !parse_hex(line, result.digest, sizeof result.digest))
    return malformed(reader, "a digest has 64 digits 0-9, a-f, or is the word secret");
  char names[2][NAME_BYTES_MAX + 1];
  snprintf(names[0], sizeof names[0], "%.*s", (int)operation.size, operation.data);
  snprintf(names[1], sizeof names[1], "%.*s", (int)value.size, value.data);
  result.operation = names[0];
  result.value = names[1];
  const hx_status_t status = add_result(record, &result);
  if (status == HX_STATUS_REFUSED)
    return hx_report_fail_at(reader->report, HX_CODE_LIMIT, reader->source, reader->line, 1,
                             "a record holds at most %zu results", RESULTS_MAX);
  if (status != HX_STATUS_OK)
    return hx_report_fail(reader->report, HX_CODE_OUT_OF_MEMORY, "no memory for %s", reader->source);
  return HX_STATUS_OK;
}

static hx_status_t parse_heading(reader_t *reader, hx_record_t *record) {
  hx_str_t line;
  const hx_str_t heading = hx_str(HEADING);
  if (!next_line(reader, &line) || line.size < heading.size || memcmp(line.data, heading.data, heading.size) != 0)
    return malformed(reader, "this is no record of a run");
  if (!hx_str_equal((hx_str_t){.data = line.data + heading.size, .size = line.size - heading.size}, hx_str(VERSION)))
    return hx_report_fail_at(reader->report, HX_CODE_FILE_VERSION, reader->source, 1, 1,
                             "the record has version %.*s, this build reads version " VERSION,
                             (int)(line.size - heading.size < 20 ? line.size - heading.size : 20),
                             line.data + heading.size);
  uint8_t digest[32];
  if (!next_line(reader, &line) || !hx_str_equal(next_word(&line), hx_str("params")) ||
      !parse_hex(line, digest, sizeof digest))
    return malformed(reader, "the second line has to be: params DIGEST");
  snprintf(record->params, sizeof record->params, "%.64s", line.data);
  return HX_STATUS_OK;
}

hx_status_t hx_record_parse(hx_str_t text, const char *source, hx_record_t **out, hx_report_t *report) {
  if (source == NULL || out == NULL || (text.data == NULL && text.size > 0))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_record_parse: an argument is NULL");
  if (text.size > TEXT_MAX)
    return hx_report_fail_at(report, HX_CODE_LIMIT, source, 0, 0, "a record has at most %zu bytes", TEXT_MAX);
  hx_record_t *record;
  HX_TRY(hx_record_create(&record, report));
  reader_t reader = {.rest = text, .source = source, .report = report};
  hx_status_t status = parse_heading(&reader, record);
  for (hx_str_t line; status == HX_STATUS_OK && next_line(&reader, &line);)
    status = parse_result(&reader, line, record);
  if (status == HX_STATUS_OK && reader.rest.size > 0) status = malformed(&reader, "the last line is cut");
  if (status != HX_STATUS_OK) {
    hx_record_release(record);
    return status;
  }
  *out = record;
  return HX_STATUS_OK;
}

hx_status_t hx_record_load(const char *path, hx_record_t **out, hx_report_t *report) {
  if (path == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_record_load: an argument is NULL");
  FILE *file = fopen(path, "rbe");
  if (file == NULL) return hx_report_fail_at(report, HX_CODE_IO, path, 0, 0, "cannot be opened: %s", strerror(errno));
  hx_text_t text;
  hx_text_init(&text);
  char chunk[16384];
  size_t count;
  while (text.size <= TEXT_MAX && !text.failed && (count = fread(chunk, 1, sizeof chunk, file)) > 0)
    hx_text_append(&text, (hx_str_t){.data = chunk, .size = count});
  hx_status_t status = ferror(file) != 0
                           ? hx_report_fail_at(report, HX_CODE_IO, path, 0, 0, "cannot be read: %s", strerror(errno))
                           : HX_STATUS_OK;
  (void)fclose(file);
  if (status == HX_STATUS_OK && text.failed)
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to read %s", path);
  if (status == HX_STATUS_OK)
    status = hx_record_parse((hx_str_t){.data = text.data, .size = text.size}, path, out, report);
  hx_text_deinit(&text);
  return status;
}
