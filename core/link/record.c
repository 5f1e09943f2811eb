// SPDX-License-Identifier: Apache-2.0
// Records of runs: one line a result, "call NUMBER OPERATION VALUE DIGEST", behind two lines of heading. In place of a
// digest a secret result has "secret", one that only a fused region reads "inner".
//
// A replay finds results by their value's name and by how often that was given before, not by their place: backends
// fuse other calls and order them otherwise. Each result of either has to be one of the other; digests are compared
// where both have one.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/link/trace.h"
#include "core/tensor/atomic_file.h"
#include "core/tensor/sha256.h"

#define HEADING "heliox-record "
#define VERSION "2"  // 1 had no "inner"
#define RESULTS_MAX ((size_t)1 << 20)
#define TEXT_MAX ((size_t)64 << 20)
#define NAME_BYTES_MAX 128

typedef struct result {
  uint64_t call;
  const char *operation, *value;  // in the arena
  bool secret, inner;             // then there is no digest
  uint8_t digest[HX_SHA256_BYTES];
} result_t;

// The results of one name in a record, `first` to before `end` of those in order; `given` so far in the run.
typedef struct name {
  size_t first, end, given;
} name_t;

struct hx_replay_index {
  const hx_record_t *record;
  size_t *order;  // results by name, and then as they came
  name_t *names;  // by name
  size_t name_count;
};

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

// Merge sort of the results by name, as they came where names are equal; `to` is what sorting needs.
static void sort_names(const result_t *results, size_t *order, size_t *to, size_t count) {
  if (count < 2) return;
  const size_t half = count / 2;
  sort_names(results, order, to, half);  // halves: at most 20 deep
  sort_names(results, order + half, to, count - half);
  size_t a = 0, b = half;
  for (size_t i = 0; i < count; ++i) {
    const bool first = b == count || (a < half && strcmp(results[order[a]].value, results[order[b]].value) <= 0);
    to[i] = first ? order[a++] : order[b++];
  }
  memcpy(order, to, count * sizeof *order);
}

static void index_release(struct hx_replay_index *index) {
  if (index == NULL) return;
  hx_free(index->order);
  hx_free(index->names);
  hx_free(index);
}

static hx_status_t index_create(const hx_record_t *record, struct hx_replay_index **out) {
  struct hx_replay_index *index = hx_zalloc(1, sizeof *index);
  size_t *room = hx_zalloc(record->count + 1, sizeof *room);
  if (index != NULL) {
    index->record = record;
    index->order = hx_zalloc(record->count + 1, sizeof *index->order);
    index->names = hx_zalloc(record->count + 1, sizeof *index->names);
  }
  if (index == NULL || room == NULL || index->order == NULL || index->names == NULL) {
    hx_free(room);
    index_release(index);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < record->count; ++i) index->order[i] = i;
  sort_names(record->results, index->order, room, record->count);
  hx_free(room);
  for (size_t i = 0; i < record->count; ++i) {
    const char *value = record->results[index->order[i]].value;
    if (i == 0 || strcmp(value, record->results[index->order[i - 1]].value) != 0)
      index->names[index->name_count++].first = i;
    index->names[index->name_count - 1].end = i + 1;
  }
  *out = index;
  return HX_STATUS_OK;
}

static name_t *find_name(const struct hx_replay_index *index, const char *value) {
  size_t low = 0, high = index->name_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    name_t *name = &index->names[middle];
    const int order = strcmp(value, index->record->results[index->order[name->first]].value);
    if (order == 0) return name;
    if (order < 0) high = middle;
    if (order > 0) low = middle + 1;
  }
  return NULL;
}

hx_status_t hx_recording_begin(hx_recording_t *recording, const hx_params_t *params) {
  const char *digest = hx_params_digest_hex(params);
  if (recording->record != NULL && recording->replay != NULL)
    return hx_report_fail(recording->report, HX_CODE_INVALID_ARGUMENT, "a run records or replays, not both");
  if (recording->replay != NULL && strcmp(recording->replay->params, digest) != 0)
    return hx_report_fail(recording->report, HX_CODE_PARAMS_DIGEST,
                          "the record belongs to parameters %.16s..., the program to %.16s...",
                          recording->replay->params, digest);
  if (recording->replay != NULL && index_create(recording->replay, &recording->index) != HX_STATUS_OK)
    return hx_report_fail(recording->report, HX_CODE_OUT_OF_MEMORY, "no memory to compare a run with its record");
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

static bool has_digest(const result_t *result) { return !result->secret && !result->inner; }

static void compare(hx_recording_t *recording, const result_t *found, uint32_t line, uint32_t column) {
  const hx_record_t *replay = recording->replay;
  name_t *name = find_name(recording->index, found->value);
  if (name == NULL || name->given == name->end - name->first) {
    recording->status = hx_report_fail_at(
        recording->report, HX_CODE_DIFFERS, recording->source, line, column,
        "%s gives %s as result %zu, but the record has %zu results, %s %zu times among them", found->operation,
        found->value, recording->count, replay->count, found->value, name == NULL ? 0 : name->given);
    return;
  }
  const result_t *wanted = &replay->results[recording->index->order[name->first + name->given]];
  name->given += 1;
  const bool comparable = has_digest(found) && has_digest(wanted);
  if (strcmp(wanted->operation, found->operation) != 0) {
    recording->status = hx_report_fail_at(recording->report, HX_CODE_DIFFERS, recording->source, line, column,
                                          "call %llu is %s (%s); in the record %s is of %s, call %llu",
                                          (unsigned long long)found->call, found->operation, found->value,
                                          wanted->value, wanted->operation, (unsigned long long)wanted->call);
  } else if (wanted->secret != found->secret ||
             (comparable && memcmp(wanted->digest, found->digest, sizeof found->digest) != 0)) {
    recording->status = hx_report_fail_at(recording->report, HX_CODE_DIFFERS, recording->source, line, column,
                                          "call %llu, %s, gives another %s than the record (there: call %llu)",
                                          (unsigned long long)found->call, found->operation, found->value,
                                          (unsigned long long)wanted->call);
  }
}

void hx_recording_watch(void *argument, const hx_watched_t *watched) {
  hx_recording_t *recording = argument;
  if (recording->status != HX_STATUS_OK) return;
  result_t result = {.call = watched->call,
                     .operation = watched->operation,
                     .value = watched->value,
                     .secret = watched->secret,
                     .inner = watched->inner};
  if (has_digest(&result)) digest_of(watched, result.digest);
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

// The first result of the record that the run did not give.
static const result_t *first_missing(const struct hx_replay_index *index) {
  size_t least = index->record->count;
  for (size_t n = 0; n < index->name_count; ++n) {
    const name_t *name = &index->names[n];
    if (name->given == name->end - name->first) continue;
    const size_t missing = index->order[name->first + name->given];
    if (missing < least) least = missing;
  }
  return least == index->record->count ? NULL : &index->record->results[least];
}

hx_status_t hx_recording_end(void *argument) {
  const hx_recording_t *recording = argument;
  if (recording->status != HX_STATUS_OK || recording->replay == NULL) return recording->status;
  const result_t *missing = first_missing(recording->index);
  if (missing == NULL) return HX_STATUS_OK;
  return hx_report_fail(recording->report, HX_CODE_DIFFERS,
                        "the run gave %zu results, the record has %zu: the first that is missing is %s of %s",
                        recording->count, recording->replay->count, missing->value, missing->operation);
}

void hx_recording_deinit(hx_recording_t *recording) {
  index_release(recording->index);
  recording->index = NULL;
}

// ------------------------------------------------------------------ text

static void write_result(const result_t *result, hx_text_t *out) {
  hx_text_printf(out, "call %llu %s %s ", (unsigned long long)result->call, result->operation, result->value);
  if (!has_digest(result)) {
    hx_text_puts(out, result->secret ? "secret\n" : "inner\n");
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
  result.inner = hx_str_equal(line, hx_str("inner"));
  if (has_digest(&result) && !parse_hex(line, result.digest, sizeof result.digest))
    return malformed(reader, "a digest has 64 digits 0-9, a-f, or is the word secret or inner");
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
  const hx_str_t version = {.data = line.data + heading.size, .size = line.size - heading.size};
  if (!hx_str_equal(version, hx_str(VERSION)) && !hx_str_equal(version, hx_str("1")))
    return hx_report_fail_at(reader->report, HX_CODE_FILE_VERSION, reader->source, 1, 1,
                             "the record has version %.*s, this build reads versions 1 and " VERSION,
                             (int)(version.size < 20 ? version.size : 20), version.data);
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
