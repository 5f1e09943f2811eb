// SPDX-License-Identifier: Apache-2.0
// Strict JSON: what is refused, where, and what it costs.
#include "tests/unit/plugin_fixture.h"

#include "core/plugin/json.h"

typedef struct row {
  const char *text;
  size_t size;  // 0: strlen
  uint32_t line, column;
  const char *piece;
} row_t;

static void expect_refusal(const char *text, size_t size, uint32_t line, uint32_t column, const char *piece) {
  json_t *root = NULL;
  hx_json_error_t error;
  const hx_status_t status = hx_json_parse((hx_str_t){text, size}, &root, &error);
  if (status != HX_STATUS_INVALID || strstr(error.text, piece) == NULL || error.line != line || error.column != column)
    print_error("%.40s: %u:%u: %s\n", text, error.line, error.column, error.text);
  assert_int_equal(status, HX_STATUS_INVALID);
  assert_null(root);
  assert_non_null(strstr(error.text, piece));
  assert_int_equal(error.line, line);
  assert_int_equal(error.column, column);
}

static void parse_refuses_what_is_not_strict(void **state) {
  (void)state;
  static const row_t rows[] = {
      {"", 0, 1, 1, "empty"},
      {" \n\t ", 0, 2, 3, "empty"},
      {"[1]", 0, 1, 1, "object at the top level expected, found '['"},
      {"\"a\"", 0, 1, 1, "object at the top level"},
      {"\xef\xbb\xbf{}", 0, 1, 1, "byte order mark"},
      {"{} x", 0, 1, 4, "nothing after the object"},
      {"{}\n{}", 0, 2, 1, "nothing after the object"},
      {"{}\0", 3, 1, 3, "byte 0x00"},
      {"{\"a\": 1,}", 0, 1, 9, "a key in quotes expected"},
      {"{\"a\" 1}", 0, 1, 6, "':' expected"},
      {"{\"a\": 1 \"b\": 2}", 0, 1, 9, "',' or '}' expected"},
      {"{\"a\": [1,]}", 0, 1, 10, "a value expected"},
      {"{\"a\": [1 2]}", 0, 1, 10, "',' or ']' expected"},
      {"{\n \"a\": tru\n}", 0, 2, 7, "a value expected"},
      {"{\"a\": NaN}", 0, 1, 7, "a value expected"},
      {"{\"a\": 01}", 0, 1, 7, "malformed number"},
      {"{\"a\": 1.}", 0, 1, 7, "malformed number"},
      {"{\"a\": -}", 0, 1, 7, "malformed number"},
      {"{\"a\": 1e}", 0, 1, 7, "malformed number"},
      {"{\"a\": +1}", 0, 1, 7, "a value expected"},
      {"{\"a\": \"b", 0, 1, 7, "without closing quote"},
      {"{\"a\": \"b\tc\"}", 0, 1, 9, "control byte 0x09"},
      {"{\"a\": \"b\\u0000c\"}", 0, 1, 9, "NUL in a string"},
      {"{\"a\": \"b\0c\"}", 12, 1, 9, "NUL in a string"},
      {"{\"a\": \"\\x41\"}", 0, 1, 8, "unknown escape"},
      {"{\"a\": \"\\u12g4\"}", 0, 1, 8, "four hexadecimal digits"},
      {"{\"a\": \"\\ud800\"}", 0, 1, 8, "surrogate"},
      {"{\"a\": \"\\udc00\"}", 0, 1, 8, "surrogate"},
      {"{\"a\": \"\\ud800\\u0041\"}", 0, 1, 8, "surrogate"},
      {"{\"a\": \"\xff\"}", 0, 1, 8, "byte 0xff is not UTF-8"},
      {"{\"a\": \"\xc0\xaf\"}", 0, 1, 8, "not UTF-8"},
      {"{\"a\": \"\xed\xa0\x80\"}", 0, 1, 8, "not UTF-8"},
      {"{\"a\": \"\xf4\x90\x80\x80\"}", 0, 1, 8, "not UTF-8"},
      {"{'a': 1}", 0, 1, 2, "a key in quotes"},
      {"{\"a\": 1 // b\n}", 0, 1, 9, "',' or '}'"},
      {"{", 0, 1, 2, "the end of the text"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i)
    expect_refusal(rows[i].text, rows[i].size > 0 ? rows[i].size : strlen(rows[i].text), rows[i].line, rows[i].column,
                   rows[i].piece);
}

static void parse_refuses_duplicate_keys_and_numbers_out_of_range(void **state) {
  (void)state;
  static const char *const texts[] = {"{\"a\": 1, \"a\": 2}", "{\"a\": 1, \"\\u0061\": 2}", "{\"a\": 1e999}",
                                      "{\"a\": 123456789012345678901234567890}"};
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
    json_t *root = NULL;
    hx_json_error_t error;
    assert_int_equal(hx_json_parse(hx_str(texts[i]), &root, &error), HX_STATUS_INVALID);
    assert_int_equal(error.line, 1);
    assert_true(error.column > 5);
    assert_true(strlen(error.text) > 5);
  }
}

static char *repeat(const char *head, const char *piece, size_t count, const char *tail, size_t *size) {
  const size_t one = strlen(piece);
  char *text = malloc(strlen(head) + one * count + strlen(tail) + 1);
  assert_non_null(text);
  char *at = stpcpy(text, head);
  for (size_t i = 0; i < count; ++i) at = stpcpy(at, piece);
  stpcpy(at, tail);
  *size = strlen(text);
  return text;
}

static void parse_refuses_what_is_too_large(void **state) {
  (void)state;
  size_t size;
  char *text = repeat("{\"a\": \"", "x", 1 << 20, "\"}", &size);
  expect_refusal(text, size, 1, 256 * 1024 + 1, "more than 262144 bytes");
  free(text);
  text = repeat("{\"a\": ", "[", 100000, "", &size);
  expect_refusal(text, size, 1, 22, "more than 16 levels");
  free(text);
  text = repeat("{\"a\": ", "{\"b\":", 16, "", &size);
  expect_refusal(text, size, 1, 82, "more than 16 levels");
  free(text);
  text = repeat("{\"a\": \"", "x", 70 * 1024, "\"}", &size);
  expect_refusal(text, size, 1, 7, "string of more than 4096 bytes");
  free(text);
  text = repeat("{\"a\": [0", ",0", 1024, "]}", &size);
  expect_refusal(text, size, 1, 8 + 1024 * 2, "more than 1024 items");
  free(text);
  text = repeat("{\"a\": [[]", ",[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", 1000, "]}", &size);
  json_t *root = NULL;
  hx_json_error_t error;
  assert_int_equal(hx_json_parse((hx_str_t){text, size}, &root, &error), HX_STATUS_INVALID);
  assert_non_null(strstr(error.text, "more than 20480 values"));
  free(text);
}

static void parse_accepts_limits(void **state) {
  (void)state;
  static const struct {
    const char *head, *piece, *tail;
    size_t count;
  } rows[] = {{"{\"a\": \"", "x", "\"}", 4096},
              {"{\"a\": [0", ",0", "]}", 1023},
              {"{\"a\": ", "[", "]]]]]]]]]]]]]]]}", 15},
              {"{\"a\": [", " ", "]}", 256 * 1024 - 9},
              {"{\"\\u00e4\": \"\\ud83d\\ude00 \xf0\x9f\x98\x80 \\\"\\\\\\/\\b\\f\\n\\r\\t", "", "\"}", 0},
              {"{\"a\": [-0, 0.5, 1e3, 1E-2, true, false, null, {}, []", "", "]}", 0}};
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    size_t size;
    json_t *root = NULL;
    hx_json_error_t error;
    char *text = repeat(rows[i].head, rows[i].piece, rows[i].count, rows[i].tail, &size);
    if (hx_json_parse((hx_str_t){text, size}, &root, &error) != HX_STATUS_OK)
      fail_msg("row %zu: %u:%u: %s", i, error.line, error.column, error.text);
    json_decref(root);
    free(text);
  }
}

static size_t live_bytes, peak_bytes;

// jansson's memory, each block with its size before it.
static void *count_malloc(size_t size) {
  size_t *block = malloc(size + 16);
  if (block == NULL) return NULL;
  block[0] = size;
  live_bytes += size + 16;
  if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  return block + 2;
}

static void count_free(void *pointer) {
  if (pointer == NULL) return;
  size_t *block = (size_t *)pointer - 2;
  live_bytes -= block[0] + 16;
  free(block);
}

static void parse_stays_below_four_mebibytes(void **state) {
  (void)state;
  // Pieces of an array, how many values each counts for, and members of an object.
  static const struct {
    const char *piece;
    size_t weight;
  } rows[] = {{",{}", 3}, {",[]", 1}, {",\"abcdef\"", 1}, {",{\"a\":{}}", 6}, {",[0]", 2}, {NULL, 1}};
  json_set_alloc_funcs(count_malloc, count_free);
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_text_t text;
    hx_text_init(&text);
    size_t values = 3;
    for (size_t array = 0; values + 1100 * rows[i].weight < HX_JSON_VALUES_MAX && text.size < 240000; ++array) {
      hx_text_printf(&text, "%s\"k%zu\": %s", array == 0 ? "{" : ",", array,
                     rows[i].piece == NULL ? "{\"_\": 0" : "[0");
      values += 4;
      for (int j = 0; j < 1023 && text.size < HX_JSON_BYTES_MAX - 64; ++j, values += rows[i].weight) {
        if (rows[i].piece == NULL) {
          hx_text_printf(&text, ",\"%x\":1", j);
        } else {
          hx_text_puts(&text, rows[i].piece);
        }
      }
      hx_text_puts(&text, rows[i].piece == NULL ? "}" : "]");
    }
    hx_text_puts(&text, "}");
    json_t *root = NULL;
    hx_json_error_t error;
    live_bytes = peak_bytes = 0;
    if (hx_json_parse((hx_str_t){text.data, text.size}, &root, &error) != HX_STATUS_OK)
      fail_msg("row %zu: %u:%u: %s", i, error.line, error.column, error.text);
    json_decref(root);
    if (peak_bytes > 4u << 20) fail_msg("row %zu: %zu bytes", i, peak_bytes);
    assert_int_equal(live_bytes, 0);
    hx_text_deinit(&text);
  }
  json_set_alloc_funcs(malloc, free);
}

static void pointer_escapes_slash_and_tilde(void **state) {
  (void)state;
  hx_text_t text;
  hx_text_init(&text);
  hx_json_pointer_key(&text, "a/b~c");
  hx_json_pointer_index(&text, 12);
  assert_string_equal(text.data, "/a~1b~0c/12");
  hx_text_deinit(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parse_refuses_what_is_not_strict),
      cmocka_unit_test(parse_refuses_duplicate_keys_and_numbers_out_of_range),
      cmocka_unit_test(parse_refuses_what_is_too_large),
      cmocka_unit_test(parse_accepts_limits),
      cmocka_unit_test(parse_stays_below_four_mebibytes),
      cmocka_unit_test(pointer_escapes_slash_and_tilde),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
