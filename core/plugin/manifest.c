// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/manifest.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/schema.h"

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text == NULL ? "" : text;
}

bool hx_json_list_has(const json_t *list, const char *text) {
  for (size_t i = 0; i < json_array_size(list); ++i) {
    const char *item = json_string_value(json_array_get(list, i));
    if (item != NULL && strcmp(item, text) == 0) return true;
  }
  return false;
}

// One word of a closed list to its bit; the schema has refused every other word.
static uint32_t bits_of(const json_t *list, const char *const *words, size_t count) {
  uint32_t bits = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (hx_json_list_has(list, words[i])) bits |= 1u << i;
  }
  return bits;
}

static void read_range(const json_t *range, uint32_t least, uint32_t most, uint32_t *out_min, uint32_t *out_max) {
  *out_min = range == NULL ? least : (uint32_t)json_integer_value(json_array_get(range, 0));
  *out_max = range == NULL ? most : (uint32_t)json_integer_value(json_array_get(range, 1));
}

static bool read_resources(hx_manifest_t *manifest, const json_t *list, hx_manifest_operation_t *operation) {
  const size_t count = json_array_size(list);
  hx_manifest_resource_t *resources = hx_arena_alloc(&manifest->arena, (count + 1) * sizeof *resources);
  if (resources == NULL) return false;
  for (size_t i = 0; i < count; ++i) {
    const json_t *row = json_array_get(list, i);
    resources[i].kind = text_of(row, "kind");
    resources[i].operand = json_string_value(json_object_get(row, "operand"));
    resources[i].packed_only = json_is_true(json_object_get(row, "packed_only"));
  }
  operation->resources = resources;
  operation->resource_count = count;
  return true;
}

static bool read_operation(hx_manifest_t *manifest, const json_t *row, hx_manifest_operation_t *operation) {
  static const char *const dtypes[] = {NULL, "u64", "u32", "i64", "f64", "u8"};  // by HX_U64 and so on
  static const char *const domains[] = {NULL, "coefficient", "ntt"};
  operation->type = text_of(row, "type");
  operation->implementation = text_of(row, "implementation");
  operation->signature = (uint32_t)json_integer_value(json_object_get(row, "signature"));
  operation->dtypes = bits_of(json_object_get(row, "dtypes"), dtypes, HX_COUNT_OF(dtypes));
  operation->domains = bits_of(json_object_get(row, "domains"), domains, HX_COUNT_OF(domains));
  read_range(json_object_get(row, "log_n"), 1, 30, &operation->log_n_min, &operation->log_n_max);
  read_range(json_object_get(row, "prime_bits"), 1, 64, &operation->prime_bits_min, &operation->prime_bits_max);
  operation->in_place = json_is_true(json_object_get(row, "in_place"));
  operation->explicit_only = json_is_true(json_object_get(row, "explicit_only"));
  operation->bit_exact = strcmp(text_of(row, "exactness"), "tolerance") != 0;
  return read_resources(manifest, json_object_get(row, "resources"), operation);
}

static bool read_operations(hx_manifest_t *manifest) {
  const json_t *list = json_object_get(manifest->root, "operations");
  const size_t count = json_array_size(list);
  manifest->operations = hx_arena_alloc(&manifest->arena, (count + 1) * sizeof *manifest->operations);
  manifest->rows = hx_arena_alloc(&manifest->arena, (count + 1) * sizeof *manifest->rows);
  if (manifest->operations == NULL || manifest->rows == NULL) return false;
  for (size_t i = 0; i < count; ++i) {
    hx_manifest_operation_t *operation = &manifest->operations[i];
    if (!read_operation(manifest, json_array_get(list, i), operation)) return false;
    manifest->rows[i] = (hx_plugin_operation_t){.type = operation->type,
                                                .implementation = operation->implementation,
                                                .signature = operation->signature,
                                                .log_n_min = operation->log_n_min,
                                                .log_n_max = operation->log_n_max,
                                                .prime_bits_min = operation->prime_bits_min,
                                                .prime_bits_max = operation->prime_bits_max,
                                                .in_place = operation->in_place,
                                                .bit_exact = operation->bit_exact,
                                                .explicit_only = operation->explicit_only};
  }
  manifest->operation_count = count;
  return true;
}

static bool read_bundled(hx_manifest_t *manifest) {
  const json_t *list = json_object_get(manifest->root, "bundled");
  const size_t count = json_array_size(list);
  manifest->bundled = hx_arena_alloc(&manifest->arena, (count + 1) * sizeof *manifest->bundled);
  if (manifest->bundled == NULL) return false;
  for (size_t i = 0; i < count; ++i) {
    const json_t *row = json_array_get(list, i);
    manifest->bundled[i] = (hx_manifest_bundled_t){
        .file = text_of(row, "file"), .sha256 = text_of(row, "sha256"), .soname = text_of(row, "soname")};
  }
  manifest->bundled_count = count;
  return true;
}

static void read_identity(hx_manifest_t *manifest) {
  manifest->id = text_of(manifest->root, "id");
  manifest->name = text_of(manifest->root, "name");
  manifest->vendor = text_of(manifest->root, "vendor");
  manifest->version = text_of(manifest->root, "version");
  manifest->description = text_of(manifest->root, "description");
  manifest->license = text_of(manifest->root, "license");
  manifest->library = text_of(manifest->root, "library");
}

static bool read_model(hx_manifest_t *manifest) {
  const json_t *root = manifest->root;
  const json_t *digest = json_object_get(root, "digest"), *abi = json_object_get(root, "abi");
  const json_t *target = json_object_get(root, "target"), *secrets = json_object_get(root, "secrets");
  manifest->sha256 = text_of(digest, "sha256");
  manifest->size = (uint64_t)json_integer_value(json_object_get(digest, "size"));
  manifest->abi_min = text_of(abi, "min");
  manifest->abi_max = text_of(abi, "max");
  manifest->layouts = json_object_get(abi, "layouts");
  manifest->os = text_of(target, "os");
  manifest->arch = text_of(target, "arch");
  manifest->libc = text_of(target, "libc");
  manifest->libc_min = text_of(target, "libc_min");
  manifest->isa = json_object_get(target, "isa");
  manifest->handles_secrets = json_is_true(json_object_get(secrets, "handles_secrets"));
  manifest->constant_time = json_is_true(json_object_get(secrets, "constant_time"));
  manifest->priority = (int)json_integer_value(json_object_get(root, "priority"));
  manifest->conflicts = json_object_get(root, "conflicts");
  manifest->replaces = json_object_get(root, "replaces");
  manifest->regions = json_object_get(root, "regions");
  return read_operations(manifest) && read_bundled(manifest);
}

typedef struct rule_error {
  char pointer[64], text[300], expected[64], found[64];
} rule_error_t;

// An ordered range, or none.
static bool check_range(const json_t *row, const char *key, size_t index, rule_error_t *error) {
  const json_t *range = json_object_get(row, key);
  const json_int_t low = json_integer_value(json_array_get(range, 0));
  const json_int_t high = json_integer_value(json_array_get(range, 1));
  if (low <= high) return true;
  snprintf(error->pointer, sizeof error->pointer, "/operations/%zu/%s", index, key);
  snprintf(error->text, sizeof error->text, "starts at %lld and ends at %lld", (long long)low, (long long)high);
  snprintf(error->expected, sizeof error->expected, "a first number not above the second");
  snprintf(error->found, sizeof error->found, "[%lld, %lld]", (long long)low, (long long)high);
  return false;
}

typedef struct pair {
  const char *type, *implementation;
  size_t index;
} pair_t;

static int by_pair(const void *a, const void *b) {
  const pair_t *left = a, *right = b;
  const int type = strcmp(left->type, right->type);
  const int order = type != 0 ? type : strcmp(left->implementation, right->implementation);
  return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

// What the schema cannot say: ordered ranges, one row an implementation.
static bool check_rows(const json_t *root, rule_error_t *error) {
  static pair_t empty;
  const json_t *list = json_object_get(root, "operations");
  const size_t count = json_array_size(list);
  pair_t *pairs = count == 0 ? &empty : hx_zalloc(count, sizeof *pairs);
  if (pairs == NULL) return false;  // the text stays empty: out of memory
  bool passed = true;
  for (size_t i = 0; i < count && passed; ++i) {
    const json_t *row = json_array_get(list, i);
    pairs[i] = (pair_t){text_of(row, "type"), text_of(row, "implementation"), i};
    passed = check_range(row, "log_n", i, error) && check_range(row, "prime_bits", i, error);
  }
  if (passed) qsort(pairs, count, sizeof *pairs, by_pair);
  for (size_t i = 1; i < count && passed; ++i) {
    if (strcmp(pairs[i].type, pairs[i - 1].type) != 0 ||
        strcmp(pairs[i].implementation, pairs[i - 1].implementation) != 0) {
      continue;
    }
    passed = false;
    snprintf(error->pointer, sizeof error->pointer, "/operations/%zu", pairs[i].index);
    snprintf(error->text, sizeof error->text, "declares %s/%s again, after /operations/%zu", pairs[i].type,
             pairs[i].implementation, pairs[i - 1].index);
    snprintf(error->expected, sizeof error->expected, "one row an implementation");
    snprintf(error->found, sizeof error->found, "two");
  }
  if (count != 0) hx_free(pairs);
  return passed;
}

static bool check_schema(const json_t *root, hx_gates_t *gates) {
  json_t *schema = hx_manifest_schema();
  if (schema == NULL) {
    gates->exhausted = true;
    return false;
  }
  hx_schema_error_t error;
  rule_error_t rule = {.text = ""};
  const hx_status_t status = hx_schema_check(schema, root, &error);
  bool passed = status == HX_STATUS_OK;
  if (status == HX_STATUS_OUT_OF_MEMORY) {
    gates->exhausted = true;
  } else if (!passed) {
    const char *place = error.pointer.size > 0 ? error.pointer.data : "(top)";
    hx_gates_fail(gates, HX_GATE_SCHEMA, status == HX_STATUS_INTERNAL ? HX_CODE_INTERNAL : HX_CODE_MANIFEST_SCHEMA,
                  error.expected, error.found, "%s %s", place, error.text);
  } else if (!check_rows(root, &rule)) {
    passed = false;
    if (rule.text[0] == '\0') {
      gates->exhausted = true;
    } else {
      hx_gates_fail(gates, HX_GATE_SCHEMA, HX_CODE_MANIFEST_SCHEMA, rule.expected, rule.found, "%s %s", rule.pointer,
                    rule.text);
    }
  }
  hx_text_deinit(&error.pointer);
  json_decref(schema);
  return passed;
}

hx_manifest_t *hx_manifest_create(hx_str_t text, hx_gates_t *gates) {
  hx_manifest_t *manifest = hx_zalloc(1, sizeof *manifest);
  if (manifest == NULL) {
    gates->exhausted = true;
    return NULL;
  }
  hx_arena_init(&manifest->arena);
  hx_json_error_t error;
  const hx_status_t status = hx_json_parse(text, &manifest->root, &error);
  if (status != HX_STATUS_OK) {
    if (status == HX_STATUS_OUT_OF_MEMORY) {
      gates->exhausted = true;
    } else {
      hx_gates_fail(gates, HX_GATE_PARSE, HX_CODE_MANIFEST_PARSE, "", "", "%u:%u: %s", error.line, error.column,
                    error.text);
    }
    hx_manifest_release(manifest);
    return NULL;
  }
  hx_gates_pass(gates, HX_GATE_PARSE);
  read_identity(manifest);
  manifest->valid = check_schema(manifest->root, gates);
  if (manifest->valid && !read_model(manifest)) {
    gates->exhausted = true;
    manifest->valid = false;
  }
  if (manifest->valid) hx_gates_pass(gates, HX_GATE_SCHEMA);
  return manifest;
}

hx_manifest_t *hx_manifest_from_tree(json_t *root) {
  hx_manifest_t *manifest = hx_zalloc(1, sizeof *manifest);
  if (manifest == NULL) return NULL;
  hx_arena_init(&manifest->arena);
  manifest->root = json_incref(root);
  read_identity(manifest);
  if (read_model(manifest)) return manifest;
  hx_manifest_release(manifest);
  return NULL;
}

void hx_manifest_release(hx_manifest_t *manifest) {
  if (manifest == NULL) return;
  json_decref(manifest->root);
  hx_arena_deinit(&manifest->arena);
  hx_free(manifest);
}

// Values that completion fills, just good enough for the schema.
static json_t *with_placeholders(const json_t *root) {
  json_t *filled = json_pack(
      "{s:i, s:s, s:{s:s, s:i}, s:{s:s, s:s, s:{}}, s:{s:s, s:s, s:s}}", "manifest_version", 1, "library", "library.so",
      "digest", "sha256", "0000000000000000000000000000000000000000000000000000000000000000", "size", 1, "abi", "min",
      "1.0", "max", "1.0", "layouts", "target", "os", "linux", "arch", "any", "libc", "any");
  if (filled == NULL) return NULL;
  json_t *target = json_object_get(filled, "target");
  const json_t *written = json_object_get(root, "target");
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)root, key, value) {
    // Of the filled keys only target has parts that an author writes.
    if (strcmp(key, "digest") == 0 || strcmp(key, "abi") == 0 ||
        (strcmp(key, "target") == 0 && json_is_object(written)))
      continue;
    if (json_object_set(filled, key, value) != 0) goto fail;
  }
  json_object_foreach((json_t *)(uintptr_t)written, key, value) {
    if (json_object_set(target, key, value) != 0) goto fail;
  }
  return filled;
fail:
  json_decref(filled);
  return NULL;
}

hx_status_t hx_manifest_read_template(hx_str_t text, const char *source, json_t **out, hx_report_t *report) {
  hx_json_error_t error;
  json_t *root = NULL;
  const hx_status_t status = hx_json_parse(text, &root, &error);
  if (status == HX_STATUS_INVALID)
    return hx_report_fail_at(report, HX_CODE_MANIFEST_PARSE, source, error.line, error.column, "%s", error.text);
  if (status != HX_STATUS_OK) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", source);
  json_t *filled = with_placeholders(root);
  hx_gates_t gates;
  hx_gates_init(&gates);
  if (filled == NULL || !check_schema(filled, &gates)) gates.exhausted |= hx_gates_first(&gates) == NULL;
  const hx_status_t result = hx_gates_report(&gates, source, report);
  hx_gates_deinit(&gates);
  json_decref(filled);
  if (result == HX_STATUS_OK) {
    *out = root;
  } else {
    json_decref(root);
  }
  return result;
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

hx_status_t hx_operations_digest(const hx_manifest_operation_t *operations, size_t count, char hex[65]) {
  hx_arena_t arena;
  hx_arena_init(&arena);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  char **lines = hx_arena_alloc(&arena, (count + 1) * sizeof *lines);
  if (lines == NULL) goto done;
  for (size_t i = 0; i < count; ++i) {
    const size_t room = strlen(operations[i].type) + strlen(operations[i].implementation) + 16;
    lines[i] = hx_arena_alloc(&arena, room);
    if (lines[i] == NULL) goto done;
    snprintf(lines[i], room, "%s/%u/%s\n", operations[i].type, operations[i].signature, operations[i].implementation);
  }
  qsort(lines, count, sizeof *lines, by_bytes);
  crypto_hash_sha256_state state;
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_init(&state);
  for (size_t i = 0; i < count; ++i)
    crypto_hash_sha256_update(&state, (const unsigned char *)lines[i], strlen(lines[i]));
  crypto_hash_sha256_final(&state, hash);
  sodium_bin2hex(hex, 65, hash, sizeof hash);
  status = HX_STATUS_OK;
done:
  hx_arena_deinit(&arena);
  return status;
}
