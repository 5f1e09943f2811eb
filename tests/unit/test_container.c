// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/tensor/container.h"

// ------------------------------------------------------------------ help

static char folder[64];
static char path[128];

static int enter_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/heliox-container-XXXXXX");
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/file.hx", folder);
  return 0;
}

static int entries_left(void) {
  DIR *dir = opendir(folder);
  int count = 0;
  for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) ++count;
  }
  closedir(dir);
  return count;
}

static int leave_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);  // fails where anything else is left
}

static void *same_place(void *context, uint64_t index) {
  (void)index;
  return context;
}

static uint64_t words[6] = {1, 2, 3, 4, 5, UINT64_MAX};
static unsigned char seed[32] = {9, 8, 7};

static void *word_at(void *context, uint64_t index) { return (uint64_t *)context + 2 * index; }

static void fill_tensors(hx_container_tensor_t tensors[2]) {
  tensors[0] = (hx_container_tensor_t){.name = "x",
                                       .dtype = HX_U64,
                                       .rank = 2,
                                       .shape = {3, 2},
                                       .runs = {.at = word_at, .context = words, .run_bytes = 16}};
  tensors[1] = (hx_container_tensor_t){.name = "x.seed",
                                       .dtype = HX_U8,
                                       .rank = 1,
                                       .shape = {32},
                                       .runs = {.at = same_place, .context = seed, .run_bytes = 32}};
}

static hx_status_t write_sample(bool overwrite, uint32_t mode, hx_report_t *report) {
  const hx_container_entry_t entries[] = {{"kind", "test"}, {"quoted", "a \"b\"\n\\ \xc3\xa4"}};
  hx_container_tensor_t tensors[2];
  fill_tensors(tensors);
  return hx_container_write(
      path, &(hx_container_content_t){.entries = entries, .entry_count = 2, .tensors = tensors, .tensor_count = 2},
      mode, overwrite, report);
}

// The whole sample file; freed by the caller.
static unsigned char *read_all(size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  unsigned char *bytes = malloc(1 << 16);
  assert_non_null(bytes);
  *size = fread(bytes, 1, 1 << 16, file);
  fclose(file);
  return bytes;
}

static void write_all(const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

// A file around a header text: length, padding and digest are made to fit. Every "@" in it stands for the digits.
static unsigned char *build(const char *json, const void *data, size_t data_size, size_t *size) {
  hx_text_t text;
  hx_text_init(&text);
  hx_text_puts(&text, "12345678");
  const char *at = strchr(json, '@');
  size_t digits_at = 0;
  if (at != NULL) {
    hx_text_append(&text, (hx_str_t){.data = json, .size = (size_t)(at - json)});
    digits_at = text.size;
    for (int i = 0; i < 64; ++i) hx_text_puts(&text, "0");
    hx_text_puts(&text, at + 1);
  } else {
    hx_text_puts(&text, json);
  }
  while (text.size % 64 != 0) hx_text_puts(&text, " ");
  const uint64_t length = text.size - 8;
  for (int i = 0; i < 8; ++i) text.data[i] = (char)(length >> (8 * i));
  hx_text_append(&text, (hx_str_t){.data = data, .size = data_size});
  assert_false(text.failed);
  if (at != NULL) {
    unsigned char digest[32];
    char digits[65];
    crypto_hash_sha256(digest, (const unsigned char *)text.data, text.size);
    sodium_bin2hex(digits, sizeof digits, digest, sizeof digest);
    memcpy(text.data + digits_at, digits, 64);
  }
  *size = text.size;
  return (unsigned char *)hx_text_take(&text);
}

// Opens and loads; the first failure's status, with its fault in the report.
static hx_status_t open_and_load(const void *bytes, size_t size, hx_report_t *report) {
  hx_container_t *container = NULL;
  hx_status_t status = hx_container_open_memory(bytes, size, "m", &container, report);
  if (status != HX_STATUS_OK) {
    assert_null(container);
    return status;
  }
  status = hx_container_load(container, report);
  hx_container_close(container);
  return status;
}

static void expect_refused(const void *bytes, size_t size, hx_code_t code, const char *word) {
  hx_report_t *report = hx_report_create();
  assert_int_not_equal(open_and_load(bytes, size, report), HX_STATUS_OK);
  assert_int_equal(hx_report_count(report), 1);
  const hx_fault_t *fault = hx_report_get(report, 0);
  if (fault->code != code || strstr(fault->text, word) == NULL) {
    fail_msg("expected %s with \"%s\", got %s: %s", hx_code_info(code)->word, word, hx_code_info(fault->code)->word,
             fault->text);
  }
  assert_string_equal(fault->source, "m");
  hx_report_release(report);
}

static void refuse_header(const char *json, size_t data_size, hx_code_t code, const char *word) {
  static const unsigned char data[256] = {0};
  size_t size;
  unsigned char *bytes = build(json, data, data_size, &size);
  expect_refused(bytes, size, code, word);
  hx_free(bytes);
}

#define META "\"__metadata__\":{\"format\":\"heliox\",\"format_version\":\"1\",\"sha256\":\"@\"}"

// ------------------------------------------------------------------ round trip

static void container_gives_back_what_was_written(void **state) {
  (void)state;
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  hx_container_t *container = NULL;
  assert_int_equal(hx_container_open(path, &container, NULL), HX_STATUS_OK);
  assert_string_equal(hx_container_source(container), path);
  assert_string_equal(hx_container_metadata(container, "kind"), "test");
  assert_string_equal(hx_container_metadata(container, "quoted"), "a \"b\"\n\\ \xc3\xa4");
  assert_null(hx_container_metadata(container, "absent"));
  assert_int_equal(hx_container_count(container), 2);
  const hx_container_tensor_t *x = hx_container_get(container, 0);
  assert_string_equal(x->name, "x");
  assert_int_equal(x->dtype, HX_U64);
  assert_int_equal(x->rank, 2);
  assert_int_equal(x->shape[0], 3);
  assert_int_equal(x->shape[1], 2);
  assert_int_equal(x->bytes, 48);
  assert_int_equal(hx_container_find(container, "x.seed"), 1);
  assert_int_equal(hx_container_find(container, "y"), SIZE_MAX);
  assert_null(hx_container_get(container, 2));
  uint64_t back[6] = {0};
  unsigned char seed_back[32] = {0};
  hx_container_place(container, 0, &(hx_container_runs_t){.at = word_at, .context = back, .run_bytes = 16});
  hx_container_place_at(container, 1, seed_back);
  assert_int_equal(hx_container_load(container, NULL), HX_STATUS_OK);
  assert_memory_equal(back, words, sizeof words);
  assert_memory_equal(seed_back, seed, sizeof seed);
  hx_container_close(container);
  hx_container_close(NULL);
}

static void container_data_start_at_a_multiple_of_64_with_the_stated_digest(void **state) {
  (void)state;
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  size_t size, again_size;
  unsigned char *bytes = read_all(&size);
  const size_t length = bytes[0] + 256u * bytes[1];
  assert_int_equal((8 + length) % 64, 0);
  assert_int_equal(size, 8 + length + sizeof words + sizeof seed);
  assert_memory_equal(bytes + 8 + length, words, sizeof words);
  assert_memory_equal(bytes + 8 + length + sizeof words, seed, sizeof seed);
  assert_int_equal(bytes[8 + length - 1], ' ');
  // The digest again, from its definition.
  char *at = strstr((char *)bytes + 8, "\"sha256\":\"");
  assert_non_null(at);
  at += strlen("\"sha256\":\"");
  char told[65] = {0}, digits[65];
  unsigned char digest[32];
  memcpy(told, at, 64);
  memset(at, '0', 64);
  crypto_hash_sha256(digest, bytes, size);
  sodium_bin2hex(digits, sizeof digits, digest, sizeof digest);
  assert_string_equal(digits, told);
  memcpy(at, told, 64);
  // Equal content, equal bytes.
  assert_int_equal(write_sample(true, 0644, NULL), HX_STATUS_OK);
  unsigned char *again = read_all(&again_size);
  assert_int_equal(again_size, size);
  assert_memory_equal(again, bytes, size);
  free(again);
  free(bytes);
}

static void container_reads_from_a_pipe(void **state) {
  (void)state;
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  size_t size;
  unsigned char *bytes = read_all(&size);
  int ends[2];
  char name[40];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], bytes, size), (ssize_t)size);
  close(ends[1]);
  snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
  hx_container_t *container = NULL;
  assert_int_equal(hx_container_open(name, &container, NULL), HX_STATUS_OK);
  uint64_t back[6] = {0};
  hx_container_place_at(container, 0, back);
  assert_int_equal(hx_container_load(container, NULL), HX_STATUS_OK);
  assert_memory_equal(back, words, sizeof words);
  hx_container_close(container);
  close(ends[0]);
  free(bytes);
}

static void container_loads_twice_and_without_places(void **state) {
  (void)state;
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  hx_container_t *container = NULL;
  assert_int_equal(hx_container_open(path, &container, NULL), HX_STATUS_OK);
  assert_int_equal(hx_container_load(container, NULL), HX_STATUS_OK);
  assert_int_equal(hx_container_load(container, NULL), HX_STATUS_OK);
  hx_container_place(container, 0, &(hx_container_runs_t){.at = word_at, .context = words, .run_bytes = 7});
  assert_int_equal(hx_container_load(container, NULL), HX_STATUS_INVALID);
  hx_container_close(container);
}

static void container_reads_tensors_in_any_order_of_the_header(void **state) {
  (void)state;
  size_t size;
  unsigned char data[24];
  for (unsigned i = 0; i < sizeof data; ++i) data[i] = (unsigned char)i;
  unsigned char *bytes = build(
      "{\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[16,24]},"
      "\"a\":{\"data_offsets\":[0,16],\"shape\":[2,1],\"dtype\":\"I64\"}," META "}",
      data, sizeof data, &size);
  hx_container_t *container = NULL;
  assert_int_equal(hx_container_open_memory(bytes, size, "m", &container, NULL), HX_STATUS_OK);
  assert_string_equal(hx_container_get(container, 0)->name, "a");
  assert_string_equal(hx_container_get(container, 1)->name, "b");
  unsigned char back[8];
  hx_container_place_at(container, 1, back);
  hx_container_place_at(container, 7, back);  // no such tensor: nothing happens
  assert_int_equal(hx_container_load(container, NULL), HX_STATUS_OK);
  assert_memory_equal(back, data + 16, 8);
  hx_container_close(container);
  hx_free(bytes);
}

static void container_may_hold_no_tensor(void **state) {
  (void)state;
  size_t size;
  unsigned char *bytes = build("{" META "}", "", 0, &size);
  assert_int_equal(open_and_load(bytes, size, NULL), HX_STATUS_OK);
  hx_free(bytes);
}

// ------------------------------------------------------------------ damage

static void container_refuses_every_truncation(void **state) {
  (void)state;
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  size_t size;
  unsigned char *bytes = read_all(&size);
  for (size_t cut = 0; cut < size; ++cut) {
    hx_report_t *report = hx_report_create();
    assert_int_equal(open_and_load(bytes, cut, report), HX_STATUS_CORRUPT);
    assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_FILE_TRUNCATED);
    hx_report_release(report);
  }
  free(bytes);
}

static void container_refuses_every_flipped_bit(void **state) {
  (void)state;
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  size_t size;
  unsigned char *bytes = read_all(&size);
  for (size_t bit = 0; bit < 8 * size; ++bit) {
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    assert_int_not_equal(open_and_load(bytes, size, NULL), HX_STATUS_OK);
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
  }
  assert_int_equal(open_and_load(bytes, size, NULL), HX_STATUS_OK);
  // A payload flip is an integrity failure, with both digests.
  bytes[size - 1] ^= 1;
  expect_refused(bytes, size, HX_CODE_FILE_INTEGRITY, "sha256");
  free(bytes);
}

static void container_refuses_boastful_sizes(void **state) {
  (void)state;
  static const uint64_t lengths[] = {
      (uint64_t)1 << 31, UINT32_MAX, (uint64_t)1 << 60, UINT64_MAX, 512 * 1024 + 1, 0, 1};
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  size_t size;
  unsigned char *bytes = read_all(&size);
  for (size_t i = 0; i < HX_COUNT_OF(lengths); ++i) {
    for (int b = 0; b < 8; ++b) bytes[b] = (unsigned char)(lengths[i] >> (8 * b));
    expect_refused(bytes, size, HX_CODE_FILE_FORMAT, "length at offset 0");
  }
  free(bytes);
  static const struct {
    const char *tensor;
    hx_code_t code;
    const char *word;
  } boasts[] = {
      {"{\"dtype\":\"U64\",\"shape\":[1152921504606846976],\"data_offsets\":[0,8]}", HX_CODE_FILE_FORMAT,
       "data_offsets 8"},
      {"{\"dtype\":\"U8\",\"shape\":[1152921504606846976],\"data_offsets\":[0,1152921504606846976]}",
       HX_CODE_FILE_TRUNCATED, "offset"},
      {"{\"dtype\":\"U8\",\"shape\":[4294967295],\"data_offsets\":[0,4294967295]}", HX_CODE_FILE_TRUNCATED,
       "4294967295"},
      {"{\"dtype\":\"U8\",\"shape\":[2147483648],\"data_offsets\":[0,2147483648]}", HX_CODE_FILE_TRUNCATED,
       "2147483648"},
      {"{\"dtype\":\"U8\",\"shape\":[4294967295,4294967295,4294967295],\"data_offsets\":[0,8]}", HX_CODE_FILE_FORMAT,
       "overflows"},
      {"{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]}", HX_CODE_FILE_FORMAT, "JSON"},
      {"{\"dtype\":\"U8\",\"shape\":[9223372036854775807],\"data_offsets\":[0,9223372036854775807]}",
       HX_CODE_FILE_TRUNCATED, "offset"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(boasts); ++i) {
    char json[512];
    snprintf(json, sizeof json, "{" META ",\"x\":%s}", boasts[i].tensor);
    refuse_header(json, 8, boasts[i].code, boasts[i].word);
  }
}

static void container_refuses_bad_headers(void **state) {
  (void)state;
#define X(dtype_, shape_, offsets_) \
  "{" META ",\"x\":{\"dtype\":\"" dtype_ "\",\"shape\":" shape_ ",\"data_offsets\":" offsets_ "}}"
  static const struct {
    const char *json;
    hx_code_t code;
    const char *word;
  } bad[] = {
      {"[" META "]", HX_CODE_FILE_FORMAT, "begin with {"},
      {"{]}", HX_CODE_FILE_FORMAT, "no JSON at offset"},
      {"{" META "," META "}", HX_CODE_FILE_FORMAT, "duplicate"},
      {"{}", HX_CODE_FILE_FORMAT, "__metadata__"},
      {"{\"__metadata__\":7}", HX_CODE_FILE_FORMAT, "__metadata__"},
      {"{\"__metadata__\":{\"format\":\"pt\"}}", HX_CODE_FILE_FORMAT, "format in the header at offset 8 is \"pt\""},
      {"{\"__metadata__\":{\"format\":\"heliox\"}}", HX_CODE_FILE_VERSION, "absent"},
      {"{\"__metadata__\":{\"format\":\"heliox\",\"format_version\":\"2\"}}", HX_CODE_FILE_VERSION,
       "\"2\", this build reads \"1\""},
      {"{\"__metadata__\":{\"format\":\"heliox\",\"format_version\":\"0\"}}", HX_CODE_FILE_VERSION,
       "\"0\", this build reads \"1\""},
      {"{\"__metadata__\":{\"format\":\"heliox\",\"format_version\":\"-1\"}}", HX_CODE_FILE_VERSION, "\"-1\""},
      {"{\"__metadata__\":{\"format\":\"heliox\",\"format_version\":1}}", HX_CODE_FILE_FORMAT,
       "format_version\" in the header"},
      {"{\"__metadata__\":{\"format\":\"heliox\",\"format_version\":\"1\"}}", HX_CODE_FILE_FORMAT, "sha256"},
      {"{\"__metadata__\":{\"format\":\"heliox\",\"format_version\":\"1\",\"sha256\":\"00\"}}", HX_CODE_FILE_FORMAT,
       "64 lower-case"},
      {"{" META ",\"x\":7}", HX_CODE_FILE_FORMAT, "nothing else"},
      {"{" META ",\"x\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8],\"y\":1}}", HX_CODE_FILE_FORMAT,
       "nothing else"},
      {"{" META ",\"\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", HX_CODE_FILE_FORMAT, "name"},
      {"{" META ",\"a\\nb\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", HX_CODE_FILE_FORMAT, "name"},
      {X("F16", "[4]", "[0,8]"), HX_CODE_FILE_FORMAT, "dtype"},
      {X("U8", "[]", "[0,8]"), HX_CODE_FILE_FORMAT, "no axis"},
      {X("U8", "[1,1,1,1,1,1,1,1,8]", "[0,8]"), HX_CODE_FILE_FORMAT, "more than eight"},
      {X("U8", "[0]", "[0,0]"), HX_CODE_FILE_FORMAT, "empty axis"},
      {X("U8", "[-8]", "[0,8]"), HX_CODE_FILE_FORMAT, "whole numbers"},
      {X("U8", "[8.0]", "[0,8]"), HX_CODE_FILE_FORMAT, "whole numbers"},
      {X("U8", "[8]", "[8,0]"), HX_CODE_FILE_FORMAT, "ascending"},
      {X("U8", "[8]", "[-1,7]"), HX_CODE_FILE_FORMAT, "ascending"},
      {X("U8", "[8]", "[0]"), HX_CODE_FILE_FORMAT, "two numbers"},
      {X("U8", "[7]", "[0,8]"), HX_CODE_FILE_FORMAT, "7 bytes, data_offsets 8"},
      {X("U8", "[7]", "[1,8]"), HX_CODE_FILE_FORMAT, "begins at data offset 1"},
      {X("U8", "[7]", "[0,7]"), HX_CODE_FILE_FORMAT, "1 bytes from offset"},
      {X("U8", "[9]", "[0,9]"), HX_CODE_FILE_TRUNCATED, "reach to 9"},
      {"{" META ",\"x\":{\"dtype\":\"U8\",\"shape\":[6],\"data_offsets\":[0,6]},\"y\":{\"dtype\":\"U8\",\"shape\":[4],"
       "\"data_offsets\":[4,8]}}",
       HX_CODE_FILE_FORMAT, "overlap"},
      {"{" META ",\"x\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]},\"y\":{\"dtype\":\"U8\",\"shape\":[8],"
       "\"data_offsets\":[0,8]}}",
       HX_CODE_FILE_FORMAT, "overlap"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) refuse_header(bad[i].json, 8, bad[i].code, bad[i].word);
#undef X
}

static void container_wants_the_digits_once(void **state) {
  (void)state;
  // The digits a second time, under another key, after the digest was made: only where they stand is looked at.
  char json[400], digits[65];
  memset(digits, 'a', 64);
  digits[64] = '\0';
  snprintf(json, sizeof json,
           "{\"__metadata__\":{\"format\":\"heliox\",\"format_version\":\"1\",\"sha256\":\"%s\",\"x\":\"%s\"}}", digits,
           digits);
  refuse_header(json, 0, HX_CODE_FILE_FORMAT, "2 times");
}

static void b52_other_framing_is_refused(void **state) {
  (void)state;
  assert_int_equal(write_sample(false, 0644, NULL), HX_STATUS_OK);
  size_t size;
  unsigned char *bytes = read_all(&size);
  // Base64.
  char *text = malloc(4 * size);
  sodium_bin2base64(text, 4 * size, bytes, size, sodium_base64_VARIANT_ORIGINAL);
  memcpy(text, "kAEBAAAA", 8);
  hx_report_t *report = hx_report_create();
  assert_int_equal(open_and_load(text, strlen(text), report), HX_STATUS_CORRUPT);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "no Heliox container"));
  assert_non_null(strstr(hx_report_get(report, 0)->hint, "base64"));
  hx_report_release(report);
  free(text);
  // 16 bytes of junk before.
  unsigned char *longer = malloc(2 * size + 16);
  memset(longer, 0xa5, 16);
  memcpy(longer + 16, bytes, size);
  expect_refused(longer, size + 16, HX_CODE_FILE_FORMAT, "no Heliox container");
  // Bytes after the end.
  memcpy(longer, bytes, size);
  longer[size] = 0;
  expect_refused(longer, size + 1, HX_CODE_FILE_FORMAT, "belong to no tensor");
  // Line ends translated: a byte 10 in the data becomes 13 10.
  words[0] = 0x0a0a;
  assert_int_equal(write_sample(true, 0644, NULL), HX_STATUS_OK);
  words[0] = 1;
  free(bytes);
  bytes = read_all(&size);
  size_t out = 0;
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] == '\n') longer[out++] = '\r';
    longer[out++] = bytes[i];
  }
  assert_true(out > size);
  expect_refused(longer, out, HX_CODE_FILE_FORMAT, "translated as text");
  free(longer);
  free(bytes);
}

static void container_open_names_what_the_system_says(void **state) {
  (void)state;
  hx_report_t *report = hx_report_create();
  hx_container_t *container = NULL;
  assert_int_equal(hx_container_open(path, &container, report), HX_STATUS_IO);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "No such file"));
  assert_string_equal(hx_report_get(report, 0)->source, path);
  assert_int_equal(hx_container_open(folder, &container, report), HX_STATUS_IO);
  assert_int_equal(hx_container_open(NULL, &container, report), HX_STATUS_INVALID);
  write_all("", 0);
  assert_int_equal(hx_container_open(path, &container, report), HX_STATUS_CORRUPT);
  assert_non_null(strstr(hx_report_get(report, 3)->text, "ends after 0 bytes"));
  assert_null(container);
  hx_report_release(report);
}

// ------------------------------------------------------------------ writing

static void container_write_keeps_an_existing_file(void **state) {
  (void)state;
  write_all("old", 3);
  hx_report_t *report = hx_report_create();
  assert_int_equal(write_sample(false, 0644, report), HX_STATUS_EXISTS);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_FILE_EXISTS);
  size_t size;
  unsigned char *bytes = read_all(&size);
  assert_int_equal(size, 3);
  free(bytes);
  assert_int_equal(entries_left(), 1);
  assert_int_equal(write_sample(true, 0644, report), HX_STATUS_OK);
  assert_int_equal(entries_left(), 1);
  hx_report_release(report);
}

static void container_write_sets_the_mode(void **state) {
  (void)state;
  struct stat facts;
  const mode_t mask = umask(0);
  assert_int_equal(write_sample(false, 0600, NULL), HX_STATUS_OK);
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 07777, 0600);
  umask(022);
  assert_int_equal(write_sample(true, 0666, NULL), HX_STATUS_OK);
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 07777, 0644);
  umask(mask);
}

static void *no_place(void *context, uint64_t index) {
  (void)context;
  return index == 0 ? (void *)words : NULL;
}

static void container_write_leaves_nothing_on_failure(void **state) {
  (void)state;
  hx_container_tensor_t tensors[2];
  fill_tensors(tensors);
  tensors[0].runs.at = no_place;
  hx_container_content_t content = {.tensors = tensors, .tensor_count = 2};
  assert_int_equal(hx_container_write(path, &content, 0644, true, NULL), HX_STATUS_INVALID);
  fill_tensors(tensors);
  tensors[1].shape[0] = 0;
  assert_int_equal(hx_container_write(path, &content, 0644, true, NULL), HX_STATUS_INVALID);
  fill_tensors(tensors);
  tensors[0].runs.run_bytes = 5;
  assert_int_equal(hx_container_write(path, &content, 0644, true, NULL), HX_STATUS_INVALID);
  fill_tensors(tensors);
  tensors[0].name = "\xff";
  assert_int_equal(hx_container_write(path, &content, 0644, true, NULL), HX_STATUS_INVALID);
  fill_tensors(tensors);
  char *large = malloc(HX_CONTAINER_HEADER_MAX + 1);
  memset(large, 'x', HX_CONTAINER_HEADER_MAX);
  large[HX_CONTAINER_HEADER_MAX] = '\0';
  content.entries = &(hx_container_entry_t){.key = "k", .value = large};
  content.entry_count = 1;
  assert_int_equal(hx_container_write(path, &content, 0644, true, NULL), HX_STATUS_REFUSED);
  free(large);
  assert_int_equal(entries_left(), 0);
  char nowhere[160];
  snprintf(nowhere, sizeof nowhere, "%s/absent/file.hx", folder);
  content.entry_count = 0;
  assert_int_equal(hx_container_write(nowhere, &content, 0644, true, NULL), HX_STATUS_IO);
  assert_int_equal(hx_container_write(folder, &content, 0644, true, NULL), HX_STATUS_IO);
  assert_int_equal(hx_container_write("", &content, 0644, true, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_container_write("/dev/full", &content, 0644, true, NULL), HX_STATUS_IO);
}

static void atomic_file_has_no_name_before_its_commit(void **state) {
  (void)state;
  hx_atomic_file_t file;
  assert_int_equal(hx_atomic_file_open(&file, path, 0644, NULL), HX_STATUS_OK);
  assert_int_equal(hx_atomic_file_write(&file, "abcdef", 6, NULL), HX_STATUS_OK);
  assert_int_equal(hx_atomic_file_patch(&file, 1, "XY", 2, NULL), HX_STATUS_OK);
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_equal(hx_atomic_file_commit(&file, false, NULL), HX_STATUS_OK);
  size_t size;
  unsigned char *bytes = read_all(&size);
  assert_int_equal(size, 6);
  assert_memory_equal(bytes, "aXYdef", 6);
  free(bytes);
  hx_atomic_file_abandon(&file);  // closed: nothing happens
  assert_int_equal(hx_atomic_file_open(&file, path, 0644, NULL), HX_STATUS_OK);
  hx_atomic_file_abandon(&file);
  assert_int_equal(entries_left(), 1);
}

static void container_survives_failed_allocations(void **state) {
  (void)state;
  for (uint64_t n = 1;; ++n) {
    hx_alloc_fail_at(n);
    const hx_status_t status = write_sample(true, 0644, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
    assert_int_equal(entries_left(), 0);
  }
  assert_int_equal(entries_left(), 1);
  for (uint64_t n = 1;; ++n) {
    hx_container_t *container = NULL;
    hx_alloc_fail_at(n);
    hx_status_t status = hx_container_open(path, &container, NULL);
    if (status == HX_STATUS_OK) status = hx_container_load(container, NULL);
    hx_alloc_fail_at(0);
    hx_container_close(container);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
  }
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, enter_folder, leave_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(container_gives_back_what_was_written),
      CASE(container_data_start_at_a_multiple_of_64_with_the_stated_digest),
      CASE(container_reads_from_a_pipe),
      CASE(container_loads_twice_and_without_places),
      CASE(container_reads_tensors_in_any_order_of_the_header),
      CASE(container_may_hold_no_tensor),
      CASE(container_refuses_every_truncation),
      CASE(container_refuses_every_flipped_bit),
      CASE(container_refuses_boastful_sizes),
      CASE(container_refuses_bad_headers),
      CASE(container_wants_the_digits_once),
      CASE(b52_other_framing_is_refused),
      CASE(container_open_names_what_the_system_says),
      CASE(container_write_keeps_an_existing_file),
      CASE(container_write_sets_the_mode),
      CASE(container_write_leaves_nothing_on_failure),
      CASE(atomic_file_has_no_name_before_its_commit),
      CASE(container_survives_failed_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
