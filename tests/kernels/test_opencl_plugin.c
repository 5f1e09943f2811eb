// SPDX-License-Identifier: Apache-2.0
// What of the opencl plugin needs no device: the loader's table, results, which devices can be used, compiler logs, the
// cache on disk, the arithmetic of the kernels on the host, the manifest, and the state without a loader or a platform.
#include <dlfcn.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heliox/support/cache.h"
#include "heliox/support/compiler_log.h"
#include "heliox/support/number.h"
#include "heliox/support/prepare.h"
#include "kernels/arith.h"
#include "openclcheck.h"
#include "tables.h"

// ------------------------------------------------------------------ loader

static const char *missing;
static uint32_t asked;

static int32_t any_function(void) { return 0; }

static void *lookup(void *self, const char *name) {
  int32_t (*function)(void) = any_function;
  void *out = NULL;
  assert_null(self);
  asked++;
  memcpy(&out, &function, sizeof out);
  return missing != NULL && strcmp(missing, name) == 0 ? NULL : out;
}

static void loader_table_is_filled_from_one_list(void **state) {
  (void)state;
  static const char *const names[] = {
#define SYMBOL(result_, name_, parameters_) #name_,
#include "loader.def"
  };
  const uint32_t count = sizeof names / sizeof names[0];
  hx_opencl_cl_t table;
  hx_error error = oc_error();
  missing = NULL;
  asked = 0;
  assert_int_equal(hx_opencl_cl_fill(lookup, NULL, &table, &error), HX_OK);
  assert_int_equal(asked, count);
  assert_true(table.clGetPlatformIDs != NULL && table.clFinish != NULL);
  for (uint32_t i = 0; i < count; i++) {
    missing = names[i];
    error = oc_error();
    assert_int_equal(hx_opencl_cl_fill(lookup, NULL, &table, &error), HX_UNAVAILABLE);
    assert_non_null(strstr(error.message, names[i]));
    assert_non_null(strstr(error.message, "1.2"));
  }
}

static void loader_that_is_absent_is_named(void **state) {
  (void)state;
  hx_opencl_cl_t table;
  hx_error error = oc_error();
  assert_int_equal(hx_opencl_cl_load("libOpenCL-absent.so.1", &table, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "no OpenCL loader: libOpenCL-absent.so.1"));
}

static void results_have_codes_and_names(void **state) {
  (void)state;
  static const struct {
    int32_t result, code;
    const char *name;
  } rows[] = {{0, HX_OK, "CL_SUCCESS"},
              {-2, HX_DEVICE_LOST, "CL_DEVICE_NOT_AVAILABLE"},
              {-4, HX_OUT_OF_MEMORY, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
              {-5, HX_DEVICE_LOST, "CL_OUT_OF_RESOURCES"},
              {-11, HX_UNAVAILABLE, "CL_BUILD_PROGRAM_FAILURE"},
              {-36, HX_DEVICE_LOST, "CL_INVALID_COMMAND_QUEUE"},
              {-1001, HX_UNAVAILABLE, "CL_PLATFORM_NOT_FOUND_KHR"},
              {-7777, HX_INTERNAL, "unknown OpenCL error"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hx_error error = oc_error();
    assert_int_equal(hx_opencl_code_of(rows[i].result), rows[i].code);
    assert_string_equal(hx_opencl_result_name(rows[i].result), rows[i].name);
    assert_int_equal(hx_opencl_cl_fail("clSomething", rows[i].result, &error), rows[i].code);
    assert_non_null(strstr(error.message, rows[i].name));
  }
}

// ------------------------------------------------------------------ platforms and devices

static int32_t no_platforms(uint32_t room, void **platforms, uint32_t *count) {
  (void)room, (void)platforms;
  *count = 0;
  return HX_OPENCL_PLATFORM_NOT_FOUND_KHR;
}

static int32_t one_platform(uint32_t room, void **platforms, uint32_t *count) {
  assert_true(room >= 1);
  platforms[0] = &asked;
  *count = 1;
  return 0;
}

static int32_t no_devices(void *platform, uint64_t type, uint32_t room, void **devices, uint32_t *count) {
  (void)platform, (void)type, (void)room, (void)devices;
  *count = 0;
  return HX_OPENCL_DEVICE_NOT_FOUND;
}

static void platforms_and_devices_that_are_absent_are_told_apart(void **state) {
  (void)state;
  hx_opencl_cl_t table = {.clGetPlatformIDs = no_platforms, .clGetDeviceIDs = no_devices};
  hx_opencl_found_t found[2];
  uint32_t count = 7;
  hx_error error = oc_error();
  assert_int_equal(hx_opencl_devices_list(&table, found, 2, &count, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "finds no platform"));
  table.clGetPlatformIDs = one_platform;
  assert_int_equal(hx_opencl_devices_list(&table, found, 2, &count, &error), HX_UNAVAILABLE);
  assert_string_equal(error.message, "1 OpenCL platform, no device");
  assert_int_equal(count, 7);
}

static void devices_that_cannot_be_used_have_a_reason(void **state) {
  (void)state;
  const hx_opencl_found_t good = {
      .version = "OpenCL 1.2 Vendor", .local_bytes = 32768, .group = 256, .argument_bytes = 1024};
  hx_opencl_found_t f = good;
  hx_opencl_devices_judge(&f, true, true, true, true);
  assert_string_equal(f.reason, "");
  static const char *const flags[] = {"not available", "no compiler", "big-endian", "embedded profile"};
  for (uint32_t i = 0; i < 4; i++) {
    f = good;
    hx_opencl_devices_judge(&f, i != 0, i != 1, i != 2, i != 3);
    assert_non_null(strstr(f.reason, flags[i]));
  }
  const struct {
    hx_opencl_found_t found;
    const char *part;
  } rows[] = {{{.version = "OpenCL 1.1 old", .local_bytes = 32768, .group = 256, .argument_bytes = 1024},
               "'OpenCL 1.1 old', OpenCL 1.2"},
              {{.version = "nonsense", .local_bytes = 32768, .group = 256, .argument_bytes = 1024}, "'nonsense'"},
              {{.version = "OpenCL 3.0", .local_bytes = 16384, .group = 256, .argument_bytes = 1024},
               "16384 bytes of local memory, 17408 are needed"},
              {{.version = "OpenCL 3.0", .local_bytes = 32768, .group = 64, .argument_bytes = 1024},
               "at most 64 work-items, the transforms need 128"},
              {{.version = "OpenCL 3.0", .local_bytes = 32768, .group = 256, .argument_bytes = 256},
               "at most 256 bytes of arguments"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    f = rows[i].found;
    hx_opencl_devices_judge(&f, true, true, true, true);
    if (strstr(f.reason, rows[i].part) == NULL) {
      fail_msg("reason '%s' lacks '%s'", f.reason, rows[i].part);
    }
  }
}

// ------------------------------------------------------------------ logs

static void logs_are_shortened_to_what_is_wrong(void **state) {
  (void)state;
  char out[64];
  hxs_compiler_log_shorten("", out, sizeof out);
  assert_string_equal(out, "");
  hxs_compiler_log_shorten("warning: a\n\n/tmp/x/y.cl:3:4: error: b c\nnote: d\nerror: e\n", out, sizeof out);
  assert_string_equal(out, "y.cl:3:4: error: b c; error: e");
  hxs_compiler_log_shorten("only\n  \nlines\n", out, sizeof out);
  assert_string_equal(out, "only; lines");
  char longer[400];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  hxs_compiler_log_shorten(longer, out, sizeof out);
  assert_int_equal(strlen(out), sizeof out - 1);
}

// ------------------------------------------------------------------ cache

static char directory[256];

static void cache_open(hxs_cache *cache) {
  oc_reset();
  snprintf(directory, sizeof directory, "%s/opencl-cache-%ld", HELIOX_BUILD_DIR, (long)getpid());
  oc_host.cache = directory;
  hxs_cache_init(cache, "opencl", ".clbin");
  assert_string_equal(cache->directory, directory);
}

static void cache_remove(void) {
  char command[300];
  snprintf(command, sizeof command, "rm -r '%s'", directory);
  assert_int_equal(system(command), 0);  // NOLINT(cert-env33-c): a path of our own
}

// The one file of a key.
static void path_of(const char *key, char out[512]) { snprintf(out, 512, "%s/%.40s.clbin", directory, key); }

static void cache_gives_back_what_was_stored(void **state) {
  (void)state;
  hxs_cache cache;
  static const char *const texts[] = {"device", "source"}, *const others[] = {"devices", "ource"};
  char key[65], other[65], path[512];
  struct stat facts;
  const char *why = NULL;
  size_t bytes = 0;
  cache_open(&cache);
  hxs_cache_key(texts, 2, key);
  hxs_cache_key(others, 2, other);
  assert_string_not_equal(key, other);
  assert_null(hxs_cache_load(&cache, key, &bytes, &why));
  assert_string_equal(why, "absent");
  assert_true(hxs_cache_store(&cache, key, (const unsigned char *)"content", 7));
  unsigned char *content = hxs_cache_load(&cache, key, &bytes, &why);
  assert_non_null(content);
  assert_int_equal(bytes, 7);
  assert_memory_equal(content, "content", 7);
  free(content);
  path_of(key, path);
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 0777, 0600);
  hxs_cache_drop(&cache, key);
  assert_null(hxs_cache_load(&cache, key, &bytes, &why));
  cache_remove();
}

static void cache_trusts_no_file_that_differs(void **state) {
  (void)state;
  hxs_cache cache;
  static const char *const texts[] = {"a"};
  char key[65], path[512];
  const char *why = NULL;
  size_t bytes = 0;
  cache_open(&cache);
  hxs_cache_key(texts, 1, key);
  path_of(key, path);
  static const unsigned char content[64] = {1, 2, 3};
  for (off_t at = 0; at < 200; at += 7) {  // a flipped byte anywhere
    assert_true(hxs_cache_store(&cache, key, content, sizeof content));
    const int file = open(path, O_RDWR);
    unsigned char byte = 0;
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 4;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
    assert_null(hxs_cache_load(&cache, key, &bytes, &why));
    assert_non_null(strstr(why, "digest"));
  }
  assert_true(hxs_cache_store(&cache, key, content, sizeof content));
  assert_int_equal(truncate(path, 180), 0);
  assert_null(hxs_cache_load(&cache, key, &bytes, &why));
  assert_int_equal(truncate(path, 3), 0);
  assert_null(hxs_cache_load(&cache, key, &bytes, &why));
  assert_non_null(strstr(why, "size"));
  assert_true(hxs_cache_store(&cache, key, content, sizeof content));
  assert_int_equal(chmod(path, 0622), 0);
  assert_null(hxs_cache_load(&cache, key, &bytes, &why));
  assert_non_null(strstr(why, "writable by others"));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(symlink("/etc/passwd", path), 0);
  assert_null(hxs_cache_load(&cache, key, &bytes, &why));
  assert_string_not_equal(why, "absent");
  cache_remove();
}

static void cache_keeps_its_limit_and_the_newest(void **state) {
  (void)state;
  hxs_cache cache;
  unsigned char content[1000] = {0};
  char keys[6][65];
  const char *why = NULL;
  size_t bytes = 0;
  cache_open(&cache);
  cache.limit = 3600;  // three files of 1000 bytes and their heads
  for (uint32_t i = 0; i < 6; i++) {
    const char name[2] = {(char)('a' + i), 0};
    const char *const text[] = {name};
    char path[512];
    hxs_cache_key(text, 1, keys[i]);
    assert_true(hxs_cache_store(&cache, keys[i], content, sizeof content));
    path_of(keys[i], path);
    const struct timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
  }
  for (uint32_t i = 0; i < 6; i++) {
    unsigned char *found = hxs_cache_load(&cache, keys[i], &bytes, &why);
    assert_int_equal(found != NULL, i >= 3);
    free(found);
  }
  assert_false(hxs_cache_store(&cache, keys[0], content, 3601));
  cache_remove();
}

// Many processes write and read one key: each reads nothing, or all of it.
static void cache_is_whole_between_processes(void **state) {
  (void)state;
  hxs_cache cache;
  static const char *const texts[] = {"shared"};
  char key[65];
  pid_t children[4];
  cache_open(&cache);
  hxs_cache_key(texts, 1, key);
  for (int c = 0; c < 4; c++) {
    children[c] = fork();
    assert_true(children[c] >= 0);
    if (children[c] == 0) {
      static unsigned char content[20000];
      const char *why = NULL;
      size_t bytes = 0;
      bool right = true;
      memset(content, 'a', sizeof content);
      for (int i = 0; i < 200 && right; i++) {
        right = hxs_cache_store(&cache, key, content, sizeof content);
        unsigned char *found = hxs_cache_load(&cache, key, &bytes, &why);
        right = right && found != NULL && bytes == sizeof content && memcmp(found, content, bytes) == 0;
        free(found);
      }
      _exit(right ? 0 : 1);
    }
  }
  for (int c = 0; c < 4; c++) {
    int status = 1;
    assert_int_equal(waitpid(children[c], &status, 0), children[c]);
    assert_int_equal(status, 0);
  }
  cache_remove();
}

static void cache_is_off_where_it_cannot_be_trusted(void **state) {
  (void)state;
  hxs_cache cache;
  const char *why = NULL;
  size_t bytes = 0;
  char key[65] = "0000000000000000000000000000000000000000000000000000000000000000";
  oc_reset();
  oc_host.cache = "off";
  hxs_cache_init(&cache, "opencl", ".clbin");
  assert_string_equal(cache.directory, "");
  assert_false(hxs_cache_store(&cache, key, (const unsigned char *)"x", 1));
  assert_null(hxs_cache_load(&cache, key, &bytes, &why));
  assert_string_equal(oc_host.log, "");
  oc_host.cache = "/proc/no/such/place";
  hxs_cache_init(&cache, "opencl", ".clbin");
  assert_string_equal(cache.directory, "");
  assert_non_null(strstr(oc_host.log, "are not kept"));
  cache_open(&cache);
  assert_int_equal(chmod(directory, 0777), 0);
  hxs_cache_init(&cache, "opencl", ".clbin");
  assert_string_equal(cache.directory, "");
  assert_int_equal(chmod(directory, 0700), 0);
  cache_remove();
}

// ------------------------------------------------------------------ arithmetic of the kernels, on the host

static uint64_t state_word = 7;

static uint64_t next_word(void) {
  uint64_t z = state_word += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// An edge or a random value below the limit.
static uint64_t pick(uint64_t limit) {
  const uint64_t r = next_word(), near[6] = {0, 1, limit - 1, limit / 2, limit / 2 + 1, r % limit};
  return near[(r >> 40) % 6];
}

#include "realcheck.h"

static void check_prime(uint64_t q) {
  hxs_modulus m;
  hxs_modulus_init(&m, q, 64);
  const hx_opencl_prime_t p = hx_opencl_prime_of(&m);
  for (int i = 0; i < 2000; i++) {
    const uint64_t a = pick(q), b = pick(q), x = pick(UINT64_MAX), y = pick(UINT64_MAX);
    const hx_opencl_factor_t f = hx_opencl_factor_of(&m, a);
    assert_int_equal(f.quotient, (uint64_t)(((hx_opencl_u128)a << 64) / q));
    assert_int_equal(mod_mul(a, b, &p), (uint64_t)((hx_opencl_u128)a * b % q));
    const uint64_t lazy = mod_shoup(x, f.value, f.quotient, q);
    assert_true(lazy < 2 * q && lazy % q == (uint64_t)((hx_opencl_u128)x * a % q));
    assert_true(mod_word(x, p.ratio, q) < 2 * q && mod_word(x, p.ratio, q) % q == x % q);
    const hx_opencl_sum_t two = sum_product(sum_product(sum_of(0, 0), a, b), q - 1, q - 1);
    const hx_opencl_u128 expected = (hx_opencl_u128)a * b + (hx_opencl_u128)(q - 1) * (q - 1);
    const hx_opencl_u128 whole = (hx_opencl_u128)x << 64 | y;
    assert_int_equal(mod_product(two, &p), (uint64_t)(expected % q));
    assert_int_equal(mod_wide(sum_of(x, y), &p), (uint64_t)(whole % q));
    // z = result * 2^64 mod q
    assert_int_equal((uint64_t)(((hx_opencl_u128)mod_redc(sum_of(x, y), &p) << 64) % q), (uint64_t)(whole % q));
  }
  if (p.bits <= HX_OPENCL_REAL_BITS) {
    check_real_products(q, real_of_bits(p.real_q), real_of_bits(p.real_inverse));
    check_real_sums(q, HX_OPENCL_REAL_STAGES + 2);
    assert_true(hx_opencl_centred(q, q / 2) == (double)(q / 2) && hx_opencl_centred(q, q / 2 + 1) == -(double)(q / 2));
  }
}

static void arithmetic_matches_128_bit_integers(void **state) {
  (void)state;
  for (uint32_t bits = 5; bits <= 61; bits++) {
    uint64_t large = ((uint64_t)1 << bits) - 1, small = ((uint64_t)1 << (bits - 1)) + 1;
    while (!hxs_is_prime(large)) {
      large -= 2;
    }
    while (!hxs_is_prime(small)) {
      small += 2;
    }
    check_prime(large);
    check_prime(small);
  }
}

static void permuted_places_follow_the_definition(void **state) {
  (void)state;
  for (uint32_t log_n = 3; log_n <= 12; log_n++) {
    const uint32_t n = 1u << log_n, elements[] = {1, 5, 25, 2 * n - 1, n + 1};
    for (uint32_t e = 0; e < 5; e++) {
      for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(reverse_bits(i, log_n), hxs_bit_reverse(i, log_n));
        const uint64_t odd = (uint64_t)elements[e] * (2 * (uint64_t)hxs_bit_reverse(i, log_n) + 1) % (2 * n);
        assert_int_equal(permuted_place(i, elements[e], log_n), hxs_bit_reverse((uint32_t)((odd - 1) / 2), log_n));
      }
    }
  }
}

// ------------------------------------------------------------------ manifest and library

static json_t *row_json(uint32_t index) {
  const hxs_impl_row *row = &hx_opencl_plugin.rows[index];
  json_t *domains = json_array(), *dtypes = json_pack("[s, s]", "u64", "u32");
  if ((row->domains >> HX_COEFFICIENT & 1) != 0) {
    json_array_append_new(domains, json_string("coefficient"));
  }
  if ((row->domains >> HX_NTT & 1) != 0) {
    json_array_append_new(domains, json_string("ntt"));
  }
  if (row->others != 0) {
    json_array_append_new(dtypes, json_string(row->others == HX_U8 ? "u8" : "i64"));
  }
  return json_pack("{s:s, s:i, s:s, s:o, s:[i, i], s:[i, i], s:b, s:o, s:s}", "type", row->op, "signature",
                   (int)row->signature, "implementation", "opencl", "dtypes", dtypes, "log_n", 3, 17, "prime_bits", 5,
                   61, "in_place", row->in_place, "domains", domains, "exactness", "bit_exact");
}

static void manifest_declares_exactly_the_registered_rows(void **state) {
  (void)state;
  json_t *manifest = json_load_file(HELIOX_SOURCE_DIR "/plugins/opencl/opencl.json", JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(manifest);
  const json_t *rows = json_object_get(manifest, "operations");
  assert_int_equal(json_array_size(rows), hx_opencl_plugin.row_count);
  for (uint32_t i = 0; i < hx_opencl_plugin.row_count; i++) {
    json_t *expected = row_json(i);
    assert_non_null(expected);
    if (!json_equal(expected, json_array_get(rows, i))) {
      char *text = json_dumps(expected, 0);
      fail_msg("row %u of opencl.json must be %s", i, text);
    }
    json_decref(expected);
  }
  json_decref(manifest);
}

// In a process of its own, where the loader finds no platform: the plugin says so, and nothing crashes.
static void device_without_a_platform_says_why(void **state) {
  (void)state;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    hx_error error = oc_error();
    hx_device *device = NULL;
    hx_device_info info = {.struct_size = sizeof info};
    setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
    oc_reset();
    bool right = hx_opencl_device_ops.count(&error) == 0 && error.code == HX_UNAVAILABLE && error.message[0] != 0;
    right = right && hx_opencl_device_ops.info(0, &info, &error) == HX_UNAVAILABLE;
    right = right && hx_opencl_device_ops.open(0, &device, &error) == HX_UNAVAILABLE && device == NULL;
    info.struct_size = 4;
    right = right && hx_opencl_device_ops.info(0, &info, &error) == HX_ARGS_SIZE;
    _exit(right ? 0 : 1);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(device_without_a_platform_says_why),  // first: the loader is opened once in a process
      cmocka_unit_test(loader_table_is_filled_from_one_list),
      cmocka_unit_test(loader_that_is_absent_is_named),
      cmocka_unit_test(results_have_codes_and_names),
      cmocka_unit_test(platforms_and_devices_that_are_absent_are_told_apart),
      cmocka_unit_test(devices_that_cannot_be_used_have_a_reason),
      cmocka_unit_test(logs_are_shortened_to_what_is_wrong),
      cmocka_unit_test(cache_gives_back_what_was_stored),
      cmocka_unit_test(cache_trusts_no_file_that_differs),
      cmocka_unit_test(cache_keeps_its_limit_and_the_newest),
      cmocka_unit_test(cache_is_whole_between_processes),
      cmocka_unit_test(cache_is_off_where_it_cannot_be_trusted),
      cmocka_unit_test(arithmetic_matches_128_bit_integers),
      cmocka_unit_test(permuted_places_follow_the_definition),
      cmocka_unit_test(manifest_declares_exactly_the_registered_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
