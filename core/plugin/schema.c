// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/schema.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema_text[] = {
#include "heliox/manifest_schema.inc"
};

#define PATTERNS_MAX 32

typedef struct checker {
  const json_t *root;  // of the schema
  hx_schema_error_t *error;
  struct {
    const char *source;
    regex_t compiled;
  } patterns[PATTERNS_MAX];  // compiled once a check
  size_t pattern_count;
} checker_t;

HX_PRINTF(3, 4)
static hx_status_t broken(checker_t *checker, const char *expected, const char *format, ...) {
  hx_schema_error_t *error = checker->error;
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) error->text[0] = '\0';
  va_end(arguments);
  snprintf(error->expected, sizeof error->expected, "%s", expected);
  return HX_STATUS_INVALID;
}

static hx_status_t bad_schema(checker_t *checker, const char *keyword) {
  broken(checker, "", "the schema uses %s in a way that this build does not enforce", keyword);
  return HX_STATUS_INTERNAL;
}

static const char *type_name(const json_t *value) {
  switch (json_typeof(value)) {
    case JSON_OBJECT:
      return "object";
    case JSON_ARRAY:
      return "array";
    case JSON_STRING:
      return "string";
    case JSON_INTEGER:
      return "integer";
    case JSON_REAL:
      return "number";
    case JSON_TRUE:
    case JSON_FALSE:
      return "boolean";
    default:
      return "null";
  }
}

// The offending value for messages: the value where it is small, else its type.
static void show(const json_t *value, char *room, size_t size) {
  char *text = json_is_object(value) || json_is_array(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
  if (text == NULL) {
    snprintf(room, size, "%s", type_name(value));
  } else {
    snprintf(room, size, strlen(text) < size ? "%s" : "%.60s...", text);
  }
  free(text);
}

static bool type_fits(const char *wanted, const json_t *value) {
  if (strcmp(wanted, "number") == 0) return json_is_number(value);
  return strcmp(wanted, type_name(value)) == 0;
}

static hx_status_t check_type(checker_t *checker, const json_t *rule, const json_t *value) {
  if (json_is_string(rule)) {
    if (type_fits(json_string_value(rule), value)) return HX_STATUS_OK;
    return broken(checker, json_string_value(rule), "is %s, must be %s", type_name(value), json_string_value(rule));
  }
  return bad_schema(checker, "type");
}

static hx_status_t check_choice(checker_t *checker, const json_t *choices, const json_t *value) {
  size_t index;
  const json_t *choice;
  char list[sizeof checker->error->expected] = "";
  size_t used = 0;
  json_array_foreach(choices, index, choice) {
    if (json_equal(choice, value)) return HX_STATUS_OK;
    char one[64];
    show(choice, one, sizeof one);
    if (used < sizeof list) {
      const int size = snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", one);
      used += size > 0 ? (size_t)size : 0;
    }
  }
  char found[sizeof checker->error->found];
  show(value, found, sizeof found);
  return broken(checker, list, "is %s, must be %s%s", found, json_array_size(choices) > 1 ? "one of " : "", list);
}

static size_t code_points(const char *text) {
  size_t count = 0;
  for (; *text != '\0'; ++text) count += ((unsigned char)*text & 0xc0) != 0x80;
  return count;
}

// 1: matches, 0: does not, -1: no regular expression, or more different ones than expected.
static int matches(checker_t *checker, const char *pattern, const char *text) {
  if (pattern == NULL) return -1;
  size_t i = 0;
  while (i < checker->pattern_count && strcmp(checker->patterns[i].source, pattern) != 0) ++i;
  if (i == checker->pattern_count) {
    if (i == PATTERNS_MAX || regcomp(&checker->patterns[i].compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0) return -1;
    checker->patterns[i].source = pattern;
    ++checker->pattern_count;
  }
  return regexec(&checker->patterns[i].compiled, text, 0, NULL, 0) == 0;
}

static hx_status_t check_bounds(checker_t *checker, const json_t *schema, const char *low, const char *high,
                                double measure, const char *unit) {
  const json_t *least = json_object_get(schema, low), *most = json_object_get(schema, high);
  char bound[64];
  if (least != NULL && measure < json_number_value(least)) {
    snprintf(bound, sizeof bound, "at least %.17g%s", json_number_value(least), unit);
    return broken(checker, bound, "is %.17g%s, must be %s", measure, unit, bound);
  }
  if (most != NULL && measure > json_number_value(most)) {
    snprintf(bound, sizeof bound, "at most %.17g%s", json_number_value(most), unit);
    return broken(checker, bound, "is %.17g%s, must be %s", measure, unit, bound);
  }
  return HX_STATUS_OK;
}

static hx_status_t check_string(checker_t *checker, const json_t *schema, const json_t *value) {
  const char *text = json_string_value(value);
  HX_TRY(check_bounds(checker, schema, "minLength", "maxLength", (double)code_points(text), " characters long"));
  const json_t *pattern = json_object_get(schema, "pattern");
  if (pattern == NULL) return HX_STATUS_OK;
  const int result = matches(checker, json_string_value(pattern), text);
  if (result < 0) return bad_schema(checker, "pattern");
  if (result > 0) return HX_STATUS_OK;
  char found[sizeof checker->error->found];
  show(value, found, sizeof found);
  return broken(checker, json_string_value(pattern), "is %s, must match %s", found, json_string_value(pattern));
}

static hx_status_t check_value(checker_t *checker, const json_t *schema, const json_t *value);

// Checks a child and keeps the pointer of the place where it failed.
static hx_status_t check_child(checker_t *checker, const json_t *schema, const json_t *value, const char *key,
                               size_t index) {
  hx_text_t *pointer = &checker->error->pointer;
  const size_t before = pointer->size;
  if (key != NULL) {
    hx_json_pointer_key(pointer, key);
  } else {
    hx_json_pointer_index(pointer, index);
  }
  if (pointer->failed) return HX_STATUS_OUT_OF_MEMORY;
  const hx_status_t status = check_value(checker, schema, value);
  if (status == HX_STATUS_OK) {
    pointer->size = before;
    pointer->data[before] = '\0';
  }
  return status;
}

static hx_status_t check_array(checker_t *checker, const json_t *schema, const json_t *value) {
  HX_TRY(check_bounds(checker, schema, "minItems", "maxItems", (double)json_array_size(value), " items"));
  const json_t *items = json_object_get(schema, "items");
  const bool unique = json_is_true(json_object_get(schema, "uniqueItems"));
  for (size_t i = 0; i < json_array_size(value); ++i) {
    const json_t *item = json_array_get(value, i);
    if (items != NULL) HX_TRY(check_child(checker, items, item, NULL, i));
    for (size_t j = 0; unique && j < i; ++j) {
      if (json_equal(json_array_get(value, j), item))
        return broken(checker, "different items", "has equal items at %zu and %zu", j, i);
    }
  }
  return HX_STATUS_OK;
}

// The schema of one property; NULL where none names it.
static hx_status_t find_property(checker_t *checker, const json_t *schema, const char *key, const json_t **out) {
  *out = json_object_get(json_object_get(schema, "properties"), key);
  if (*out != NULL) return HX_STATUS_OK;
  const char *pattern;
  json_t *candidate;
  json_object_foreach(json_object_get(schema, "patternProperties"), pattern, candidate) {
    const int result = matches(checker, pattern, key);
    if (result < 0) return bad_schema(checker, "patternProperties");
    if (result > 0) *out = candidate;
  }
  return HX_STATUS_OK;
}

static hx_status_t check_object(checker_t *checker, const json_t *schema, const json_t *value) {
  size_t index;
  const json_t *name;
  json_array_foreach(json_object_get(schema, "required"), index, name) {
    if (json_object_get(value, json_string_value(name)) != NULL) continue;
    return broken(checker, json_string_value(name), "lacks the key \"%s\"", json_string_value(name));
  }
  const bool closed = json_is_false(json_object_get(schema, "additionalProperties"));
  const char *key;
  json_t *child;
  json_object_foreach((json_t *)(uintptr_t)value, key, child) {
    const json_t *rule;
    HX_TRY(find_property(checker, schema, key, &rule));
    if (rule != NULL) {
      HX_TRY(check_child(checker, rule, child, key, 0));
    } else if (closed) {
      hx_json_pointer_key(&checker->error->pointer, key);
      snprintf(checker->error->found, sizeof checker->error->found, "%.100s", key);
      return broken(checker, "a known key or one that starts with x-", "is an unknown key");
    }
  }
  return HX_STATUS_OK;
}

static bool is_known_keyword(const char *keyword) {
  static const char *const known[] = {"$schema",
                                      "$id",
                                      "$defs",
                                      "$ref",
                                      "$comment",
                                      "title",
                                      "description",
                                      "default",
                                      "examples",
                                      "type",
                                      "const",
                                      "enum",
                                      "required",
                                      "properties",
                                      "patternProperties",
                                      "additionalProperties",
                                      "items",
                                      "minItems",
                                      "maxItems",
                                      "uniqueItems",
                                      "minimum",
                                      "maximum",
                                      "minLength",
                                      "maxLength",
                                      "pattern"};
  for (size_t i = 0; i < HX_COUNT_OF(known); ++i) {
    if (strcmp(known[i], keyword) == 0) return true;
  }
  return false;
}

static hx_status_t check_rules(checker_t *checker, const json_t *schema, const json_t *value) {
  const json_t *type = json_object_get(schema, "type");
  if (type != NULL) HX_TRY(check_type(checker, type, value));
  const json_t *fixed = json_object_get(schema, "const");
  if (fixed != NULL && !json_equal(fixed, value)) {
    char wanted[64], found[64];
    show(fixed, wanted, sizeof wanted);
    show(value, found, sizeof found);
    return broken(checker, wanted, "is %s, must be %s", found, wanted);
  }
  const json_t *choices = json_object_get(schema, "enum");
  if (choices != NULL) HX_TRY(check_choice(checker, choices, value));
  if (json_is_number(value)) HX_TRY(check_bounds(checker, schema, "minimum", "maximum", json_number_value(value), ""));
  if (json_is_string(value)) HX_TRY(check_string(checker, schema, value));
  if (json_is_array(value)) HX_TRY(check_array(checker, schema, value));
  if (json_is_object(value)) HX_TRY(check_object(checker, schema, value));
  return HX_STATUS_OK;
}

// Recursion follows the value, whose depth the parser has limited; a $ref leads to a definition, never to another $ref.
static hx_status_t check_value(checker_t *checker, const json_t *schema, const json_t *value) {
  const char *reference = json_string_value(json_object_get(schema, "$ref"));
  if (reference != NULL) {
    if (strncmp(reference, "#/$defs/", 8) != 0) return bad_schema(checker, "$ref");
    schema = json_object_get(json_object_get(checker->root, "$defs"), reference + 8);
    if (schema == NULL || json_object_get(schema, "$ref") != NULL) return bad_schema(checker, "$ref");
  }
  if (!json_is_object(schema)) return bad_schema(checker, "a schema that is no object");
  const char *keyword;
  json_t *unused;
  json_object_foreach((json_t *)(uintptr_t)schema, keyword, unused) {
    if (!is_known_keyword(keyword)) return bad_schema(checker, keyword);
  }
  const hx_status_t status = check_rules(checker, schema, value);
  if (status == HX_STATUS_INVALID && checker->error->found[0] == '\0')
    show(value, checker->error->found, sizeof checker->error->found);
  return status;
}

json_t *hx_manifest_schema(void) { return json_loadb(schema_text, sizeof schema_text, 0, NULL); }

hx_status_t hx_schema_check(const json_t *schema, const json_t *value, hx_schema_error_t *error) {
  *error = (hx_schema_error_t){.text = ""};
  hx_text_init(&error->pointer);
  checker_t checker = {.root = schema, .error = error};
  const hx_status_t status = check_value(&checker, schema, value);
  for (size_t i = 0; i < checker.pattern_count; ++i) regfree(&checker.patterns[i].compiled);
  return error->pointer.failed ? HX_STATUS_OUT_OF_MEMORY : status;
}
