// SPDX-License-Identifier: Apache-2.0
// The JSON text of a parameter set: reading it strictly, writing it canonically, its digest.
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/params_spec.h"

#define JSON_MAX (64 * 1024)

static const char *const keys[] = {"log_n", "word", "base", "groups", "special", "digits", "secret", "sigma", "scale"};

// ------------------------------------------------------------------ writing

static void print_primes(hx_text_t *out, const uint64_t *primes, uint32_t count) {
  hx_text_puts(out, "[");
  for (uint32_t i = 0; i < count; ++i) {
    hx_text_printf(out, "%s\"%llu\"", i == 0 ? "" : ",", (unsigned long long)primes[i]);
  }
  hx_text_puts(out, "]");
}

char *hx_params_spec_json(const hx_params_spec_t *spec) {
  hx_text_t out;
  hx_text_init(&out);
  hx_text_printf(&out, "{\"log_n\":%u,\"word\":%u,\"base\":", spec->log_n, spec->word);
  print_primes(&out, spec->primes, spec->group_sizes[0]);
  hx_text_puts(&out, ",\"groups\":[");
  uint32_t first = spec->group_sizes[0];
  for (uint32_t group = 1; group < spec->group_count; ++group) {
    if (group > 1) hx_text_puts(&out, ",");
    print_primes(&out, spec->primes + first, spec->group_sizes[group]);
    first += spec->group_sizes[group];
  }
  hx_text_puts(&out, "],\"special\":");
  print_primes(&out, spec->primes + spec->q_count, spec->p_count);
  hx_text_printf(&out, ",\"digits\":%u,\"secret\":\"ternary", spec->digits);
  if (spec->weight != 0) hx_text_printf(&out, ":%u", spec->weight);
  hx_text_puts(&out, "\",\"sigma\":\"3.2\",\"scale\":\"");
  hx_text_append(&out, spec->scale);
  hx_text_puts(&out, "\"}");
  return hx_text_take(&out);
}

void hx_params_json_digest(const char *json, uint8_t digest[32]) {
  crypto_hash_sha256(digest, (const unsigned char *)json, strlen(json));
}

// ------------------------------------------------------------------ reading

typedef struct hx_reader {
  const char *source;
  hx_report_t *report;
  hx_status_t status;  // of the last fault
  hx_params_spec_t *spec;
} hx_reader_t;

HX_PRINTF(2, 3) static void fail(hx_reader_t *reader, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  reader->status =
      hx_report_add(reader->report, &(hx_fault_t){.code = HX_CODE_PARAMS, .source = reader->source, .text = text});
}

static bool is_known(const char *key) {
  for (size_t i = 0; i < HX_COUNT_OF(keys); ++i) {
    if (strcmp(key, keys[i]) == 0) return true;
  }
  return false;
}

static void check_keys(hx_reader_t *reader, json_t *object) {
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    if (!is_known(key)) {
      fail(reader, "unknown key \"%.100s\"; known are log_n, word, base, groups, special, digits, secret, sigma, scale",
           key);
    }
  }
  for (size_t i = 0; i < HX_COUNT_OF(keys); ++i) {
    if (json_object_get(object, keys[i]) == NULL) fail(reader, "key \"%s\" is missing", keys[i]);
  }
}

// A whole number in [0, 2^32); the rules for it come later.
static void read_count(hx_reader_t *reader, const json_t *object, const char *key, uint32_t *out) {
  const json_t *value = json_object_get(object, key);
  if (value == NULL) return;
  if (!json_is_integer(value)) {
    fail(reader, "%s is no whole number%s", key, strcmp(key, "log_n") == 0 ? ": N = 2^log_n is a power of two" : "");
  } else if (json_integer_value(value) < 0 || json_integer_value(value) > UINT32_MAX) {
    fail(reader, "%s = %lld is out of range", key, (long long)json_integer_value(value));
  } else {
    *out = (uint32_t)json_integer_value(value);
  }
}

// Decimal digits without a leading zero, below 2^64.
static bool parse_decimal(const char *text, uint64_t *out) {
  const size_t size = strlen(text);
  if (size == 0 || size > 20 || (text[0] == '0' && size > 1)) return false;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    const uint64_t digit = (uint64_t)(text[i] - '0');
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *out = value;
  return true;
}

// Appends the primes of one array to the spec; returns how many.
static uint32_t read_primes(hx_reader_t *reader, const json_t *array, const char *place) {
  hx_params_spec_t *spec = reader->spec;
  if (!json_is_array(array)) {
    fail(reader, "%s is no list of primes", place);
    return 0;
  }
  uint32_t count = 0;
  for (size_t i = 0; i < json_array_size(array); ++i) {
    const json_t *item = json_array_get(array, i);
    const uint32_t id = spec->q_count + spec->p_count + count;
    if (id >= HX_PRIMES_MAX) {
      fail(reader, "more than %d primes in all", HX_PRIMES_MAX);
      break;
    }
    if (!json_is_string(item)) {
      fail(reader, "%s[%zu] is no text: primes are decimal strings", place, i);
    } else if (!parse_decimal(json_string_value(item), &spec->primes[id])) {
      fail(reader, "%s[%zu] = \"%.40s\" is no decimal number below 2^64 without leading zeros", place, i,
           json_string_value(item));
    }
    ++count;
  }
  return count;
}

static void read_chain(hx_reader_t *reader, const json_t *object) {
  hx_params_spec_t *spec = reader->spec;
  const json_t *base = json_object_get(object, "base"), *groups = json_object_get(object, "groups"),
               *special = json_object_get(object, "special");
  if (base == NULL || groups == NULL || special == NULL) return;  // told already
  spec->group_count = 1;
  spec->group_sizes[0] = read_primes(reader, base, "base");
  spec->q_count = spec->group_sizes[0];
  if (json_is_array(base) && json_array_size(base) == 0)
    fail(reader, "base is empty: the chain needs at least one prime");
  if (!json_is_array(groups)) {
    fail(reader, "groups is no list of lists of primes");
    return;
  }
  for (size_t i = 0; i < json_array_size(groups) && spec->group_count < HX_PRIMES_MAX; ++i) {
    char place[32];
    snprintf(place, sizeof place, "groups[%zu]", i);
    const json_t *group = json_array_get(groups, i);
    if (json_is_array(group) && json_array_size(group) == 0)
      fail(reader, "%s is empty: a depth group has at least one prime", place);
    spec->group_sizes[spec->group_count] = read_primes(reader, group, place);
    spec->q_count += spec->group_sizes[spec->group_count++];
    if (spec->q_count >= HX_PRIMES_MAX && i + 1 < json_array_size(groups)) {
      fail(reader, "more than %d primes in all", HX_PRIMES_MAX);
      return;
    }
  }
  spec->p_count = read_primes(reader, special, "special");
}

static const char *read_text(hx_reader_t *reader, const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (value == NULL) return NULL;
  if (!json_is_string(value)) fail(reader, "%s is no text", key);
  return json_string_value(value);
}

static void read_texts(hx_reader_t *reader, const json_t *object) {
  const char *secret = read_text(reader, object, "secret");
  if (secret != NULL && strcmp(secret, "ternary") != 0) {
    uint64_t weight = 0;
    if (strncmp(secret, "ternary:", 8) != 0 || !parse_decimal(secret + 8, &weight) || weight == 0 ||
        weight > UINT32_MAX) {
      fail(reader, "secret = \"%.40s\": it is ternary, or ternary:h with h nonzero coefficients", secret);
    } else {
      reader->spec->weight = (uint32_t)weight;
    }
  }
  const char *sigma = read_text(reader, object, "sigma");
  if (sigma != NULL && strcmp(sigma, "3.2") != 0) fail(reader, "sigma = \"%.40s\": the error width is \"3.2\"", sigma);
  reader->spec->scale = hx_str(read_text(reader, object, "scale"));
}

static hx_status_t read_object(hx_reader_t *reader, json_t *object) {
  if (!json_is_object(object)) {
    fail(reader, "the text is no object { }");
    return reader->status;
  }
  check_keys(reader, object);
  read_count(reader, object, "log_n", &reader->spec->log_n);
  read_count(reader, object, "word", &reader->spec->word);
  read_count(reader, object, "digits", &reader->spec->digits);
  read_chain(reader, object);
  read_texts(reader, object);
  return reader->status;
}

hx_status_t hx_params_parse(hx_str_t json, const char *source, uint32_t flags, hx_params_t **out, hx_report_t *report) {
  if (json.size > JSON_MAX) {
    return hx_report_fail_at(report, HX_CODE_LIMIT, source, 0, 0, "a parameter text of %zu bytes; at most %d are read",
                             json.size, JSON_MAX);
  }
  json_error_t error = {0};
  json_t *object = json_loadb(json.data == NULL ? "" : json.data, json.size, JSON_REJECT_DUPLICATES, &error);
  if (object == NULL) {
    if (json_error_code(&error) == json_error_out_of_memory)
      return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a parameter text");
    return hx_report_fail_at(report, HX_CODE_SYNTAX, source, error.line > 0 ? (uint32_t)error.line : 0,
                             error.column > 0 ? (uint32_t)error.column : 0, "the parameters are no JSON: %s",
                             error.text);
  }
  hx_params_spec_t *spec = hx_zalloc(1, sizeof *spec);
  hx_status_t status;
  if (spec == NULL) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for parameters");
  } else {
    hx_reader_t reader = {.source = source, .report = report, .status = HX_STATUS_OK, .spec = spec};
    spec->source = source;
    status = read_object(&reader, object);
    if (status == HX_STATUS_OK) status = hx_params_build(spec, flags, out, report);
  }
  hx_free(spec);
  json_decref(object);
  return status;
}
