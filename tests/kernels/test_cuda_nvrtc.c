// SPDX-License-Identifier: Apache-2.0
// What of compiled regions needs no device: NVRTC's table, which architecture is compiled for, sources of random
// regions through NVRTC to cubins, its log, the cache on disk. Skipped with the reason where NVRTC is not found.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generate.h"
#include "heliox/support/cache.h"
#include "heliox/support/host.h"
#include "kernelcheck.h"
#include "nvrtc.h"
#include "program.h"

#define DRIVER 13000

// ------------------------------------------------------------------ host

static struct {
  const char *nvrtc, *cache;
  char log[4096];
} host;

static const char *host_option(void *self, const char *name) {
  (void)self;
  return strcmp(name, "cuda-nvrtc") == 0 ? host.nvrtc : strcmp(name, "cuda-cache") == 0 ? host.cache : NULL;
}

static void host_log(void *self, int32_t level, const char *area, const char *text) {
  (void)self, (void)level;
  const size_t at = strlen(host.log);
  snprintf(host.log + at, sizeof host.log - at, "%s: %s\n", area, text);
}

static char directory[256];

static int set_up(void **state) {
  static const hx_host table = {.struct_size = HX_END_OF(hx_host, option),
                                .abi_major = HX_ABI_MAJOR,
                                .minor_max = HX_ABI_MINOR,
                                .log = host_log,
                                .option = host_option};
  (void)state;
  memset(&host, 0, sizeof host);
  snprintf(directory, sizeof directory, "%s/cuda-cache-%ld", HELIOX_BUILD_DIR, (long)getpid());
  host.cache = directory;
  hxs_host_set(&table, "cuda");
  return 0;
}

static int tear_down(void **state) {
  char command[300];
  (void)state;
  hxs_host_clear();
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  return system(command);  // NOLINT(cert-env33-c): a path of our own
}

// NVRTC, or a skip that says why there is none.
static const hx_cuda_nvrtc_t *need_nvrtc(void) {
  const hx_cuda_nvrtc_t *nvrtc = NULL;
  hx_error error = kc_error();
  if (hx_cuda_nvrtc_open(&nvrtc, &error) != HX_OK) {
    print_message("%s\n", error.message);
    skip();
  }
  return nvrtc;
}

// ------------------------------------------------------------------ the table

static struct {
  const char *missing;
  int32_t major, archs;
} fake;

static int32_t fake_version(int32_t *major, int32_t *minor) {
  *major = fake.major;
  *minor = 4;
  return 0;
}
static int32_t fake_count(int32_t *count) {
  *count = fake.archs;
  return 0;
}
static int32_t fake_list(int32_t *archs) {
  for (int32_t i = 0; i < fake.archs; i++) archs[i] = 70 + 10 * i;
  return 0;
}
static int32_t fake_other(void) { return 5; }

static void *fake_lookup(void *self, const char *name) {
  void *out = NULL;
  assert_null(self);
  if (fake.missing != NULL && strcmp(name, fake.missing) == 0) return NULL;
  int32_t (*version)(int32_t *, int32_t *) = fake_version;
  int32_t (*counts)(int32_t *) = strcmp(name, "nvrtcGetSupportedArchs") == 0 ? fake_list : fake_count;
  int32_t (*other)(void) = fake_other;
  if (strcmp(name, "nvrtcVersion") == 0) {
    memcpy(&out, &version, sizeof out);
  } else if (strstr(name, "SupportedArchs") != NULL) {
    memcpy(&out, &counts, sizeof out);
  } else {
    memcpy(&out, &other, sizeof out);
  }
  return out;
}

static void table_is_filled_from_one_list(void **state) {
  (void)state;
  static const char *const names[] = {
#define LIBRARY(name_)
#define SYMBOL(result_, name_, parameters_) #name_,
#include "nvrtc.def"
  };
  hx_cuda_nvrtc_t table;
  hx_error error = kc_error();
  fake.missing = NULL;
  fake.major = 12;
  fake.archs = 3;
  assert_int_equal(hx_cuda_nvrtc_fill(fake_lookup, NULL, &table, &error), HX_OK);
  assert_true(table.major == 12 && table.minor == 4 && table.arch_count == 3 && table.archs[2] == 90);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fake.missing = names[i];
    error = kc_error();
    assert_int_equal(hx_cuda_nvrtc_fill(fake_lookup, NULL, &table, &error), HX_UNAVAILABLE);
    assert_non_null(strstr(error.message, names[i]));
  }
  fake.missing = NULL;
  fake.major = 11;
  assert_int_equal(hx_cuda_nvrtc_fill(fake_lookup, NULL, &table, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "version 11.4; 12.0 or newer"));
  fake.major = 13;
  fake.archs = HX_CUDA_NVRTC_ARCHS_MAX + 1;
  assert_int_equal(hx_cuda_nvrtc_fill(fake_lookup, NULL, &table, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "does not say what it compiles for"));
}

static void library_is_found_by_the_option(void **state) {
  (void)state;
  const hx_cuda_nvrtc_t *nvrtc = NULL;
  hx_error error = kc_error();
  char longer[2000];
  host.nvrtc = "off";
  assert_int_equal(hx_cuda_nvrtc_open(&nvrtc, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "option cuda-nvrtc is off"));
  host.nvrtc = "/nonexistent/libnvrtc.so.13";
  assert_int_equal(hx_cuda_nvrtc_open(&nvrtc, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "no NVRTC: /nonexistent/libnvrtc.so.13"));
  host.nvrtc = "libc.so.6";
  assert_int_equal(hx_cuda_nvrtc_open(&nvrtc, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "NVRTC has no nvrtcVersion"));
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  host.nvrtc = longer;
  assert_int_equal(hx_cuda_nvrtc_open(&nvrtc, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "1999 bytes"));
  host.nvrtc = NULL;
}

static void architecture_is_the_newest_that_the_device_runs(void **state) {
  (void)state;
  static const hx_cuda_nvrtc_t nvrtc = {.archs = {75, 80, 86, 90, 100, 120}, .arch_count = 6};
  assert_int_equal(hx_cuda_nvrtc_arch(&nvrtc, 90), 90);
  assert_int_equal(hx_cuda_nvrtc_arch(&nvrtc, 89), 86);
  assert_int_equal(hx_cuda_nvrtc_arch(&nvrtc, 103), 100);
  assert_int_equal(hx_cuda_nvrtc_arch(&nvrtc, 121), 120);
  assert_int_equal(hx_cuda_nvrtc_arch(&nvrtc, 70), 0);
  assert_int_equal(hx_cuda_nvrtc_arch(&nvrtc, 110), 0);
}

// ------------------------------------------------------------------ sources

#define VALUES 24u

typedef struct sketch {
  uint32_t operands[VALUES][4], stores[VALUES];
  bool first_only[VALUES];
  hx_cuda_element_t elements[VALUES];
  hx_cuda_body_t body;
} sketch_t;

static uint64_t state_of_random = 1;

static uint32_t draw(uint32_t below) {
  state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((state_of_random >> 33) % below);
}

// Every kind of operation that doubles can do, then more of them at random.
static const hx_cuda_body_t *sketch(sketch_t *s, uint32_t word, bool integer, bool real, uint32_t elements) {
  static const hx_cuda_element_kind_t kinds[] = {
      HX_CUDA_ELEMENT_ADD,   HX_CUDA_ELEMENT_SUB,     HX_CUDA_ELEMENT_NEG,
      HX_CUDA_ELEMENT_MUL,   HX_CUDA_ELEMENT_MUL_ADD, HX_CUDA_ELEMENT_MUL_SCALE,
      HX_CUDA_ELEMENT_SCALE, HX_CUDA_ELEMENT_OFFSET,  HX_CUDA_ELEMENT_DOT};
  static const uint32_t counts[] = {2, 2, 1, 2, 3, 2, 1, 1, 4};
  memset(s, 0, sizeof *s);
  const uint32_t loads = 3 + draw(4);
  for (uint32_t k = 0; k < elements; k++) {
    const uint32_t kind = k < 9 ? k : draw(9);
    for (uint32_t i = 0; i < counts[kind]; i++) s->operands[k][i] = draw(loads + k);
    s->elements[k] = (hx_cuda_element_t){.kind = kinds[kind],
                                         .first_only = kind < 2 && draw(2) == 0,
                                         .halves = draw(2) == 0,
                                         .constant = k,
                                         .operand_count = counts[kind],
                                         .operands = s->operands[k]};
  }
  s->first_only[0] = draw(2) == 0;
  s->stores[0] = loads + elements - 1;
  s->stores[1] = loads;
  s->body = (hx_cuda_body_t){.word = word,
                             .narrow = word == 32 && draw(2) == 0,
                             .pairs = 1 + draw(2),
                             .integer = integer,
                             .real = real,
                             .load_count = loads,
                             .first_only = s->first_only,
                             .element_count = elements,
                             .elements = s->elements,
                             .store_count = 2,
                             .stores = s->stores};
  return &s->body;
}

static void sources_compile_for_every_architecture(void **state) {
  (void)state;
  const hx_cuda_nvrtc_t *nvrtc = need_nvrtc();
  static const uint32_t archs[] = {80, 90};
  print_message("NVRTC %d.%d\n", nvrtc->major, nvrtc->minor);
  host.cache = "off";
  for (uint32_t i = 0; i < 12; i++) {
    sketch_t s;
    hx_cuda_job_t job;
    hx_error error = kc_error();
    char *source = hx_cuda_generate(sketch(&s, i % 2 == 0 ? 64 : 32, i % 3 != 1, i % 3 != 0, 9 + draw(15)));
    char *cubin = NULL;
    size_t bytes = 0;
    assert_non_null(source);
    assert_int_equal(hx_cuda_job_begin(source, archs[i / 2 % 2], DRIVER, &job, &error), HX_OK);
    assert_int_equal(job.arch, archs[i / 2 % 2]);
    if (hx_cuda_job_compile(&job, &cubin, &bytes, &error) != HX_OK) {
      fail_msg("%s\n%s\n%s", error.message, host.log, source);
    }
    assert_true(bytes > 64);
    assert_memory_equal(cubin, "\177ELF", 4);
    assert_non_null(memmem(cubin, bytes, "hx_region", 9));
    free(cubin);
    free(source);
  }
  host.cache = directory;
}

static void source_that_is_refused_gives_the_log(void **state) {
  (void)state;
  need_nvrtc();
  hx_cuda_job_t job;
  hx_error error = kc_error();
  char *cubin = NULL;
  size_t bytes = 0;
  host.log[0] = 0;
  assert_int_equal(
      hx_cuda_job_begin("#include \"region.cuh\"\nint f() { return nothing; }\n", 90, DRIVER, &job, &error), HX_OK);
  assert_int_equal(hx_cuda_job_compile(&job, &cubin, &bytes, &error), HX_UNAVAILABLE);
  assert_null(cubin);
  assert_non_null(strstr(error.message, "NVRTC refuses the kernel (NVRTC_ERROR_COMPILATION)"));
  assert_non_null(strstr(host.log, "error"));
  assert_int_equal(hx_cuda_job_begin("", 35, DRIVER, &job, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "compiles nothing for capability 3.5"));
}

static void broken_bodies_have_no_source(void **state) {
  (void)state;
  sketch_t s;
  for (uint32_t i = 0; i < 13; i++) {
    hx_cuda_body_t *body = (hx_cuda_body_t *)(uintptr_t)sketch(&s, 64, true, true, 9);
    char *source = hx_cuda_generate(body);
    assert_non_null(source);
    free(source);
    if (i == 0) body->word = 16;
    if (i == 1) body->pairs = 0;
    if (i == 2) body->integer = body->real = false;
    if (i == 3) body->load_count = 0;
    if (i == 4) body->store_count = 0;
    if (i == 5) body->element_count = 65;
    if (i == 6) body->load_count = 63;
    if (i == 7) s.operands[4][1] = body->load_count + 4;  // itself
    if (i == 8) s.stores[1] = body->load_count + 9;
    if (i == 9) s.elements[1].lazy = true;  // not on doubles
    if (i == 10) s.elements[8].operand_count = 3;
    if (i == 11) s.elements[3].kind = HX_CUDA_ELEMENT_REDUCE;
    if (i == 12) body->narrow = true;
    assert_null(hx_cuda_generate(body));
  }
}

// ------------------------------------------------------------------ cache

static char *compile(hx_cuda_job_t *job, const char *source, size_t *out_bytes) {
  hx_error error = kc_error();
  char *cubin = NULL;
  assert_int_equal(hx_cuda_job_begin(source, 90, DRIVER, job, &error), HX_OK);
  if (hx_cuda_job_compile(job, &cubin, out_bytes, &error) != HX_OK) fail_msg("%s", error.message);
  return cubin;
}

static void keys_tell_everything_apart(void **state) {
  (void)state;
  need_nvrtc();
  hx_cuda_job_t jobs[4];
  hx_error error = kc_error();
  assert_int_equal(hx_cuda_job_begin("a", 90, DRIVER, &jobs[0], &error), HX_OK);
  assert_int_equal(hx_cuda_job_begin("b", 90, DRIVER, &jobs[1], &error), HX_OK);
  assert_int_equal(hx_cuda_job_begin("a", 80, DRIVER, &jobs[2], &error), HX_OK);
  assert_int_equal(hx_cuda_job_begin("a", 90, DRIVER + 10, &jobs[3], &error), HX_OK);
  for (uint32_t i = 0; i < 4; i++) {
    for (uint32_t k = 0; k < i; k++) assert_string_not_equal(jobs[i].key, jobs[k].key);
  }
}

static void cubins_are_kept_and_not_trusted_when_damaged(void **state) {
  (void)state;
  need_nvrtc();
  sketch_t s;
  hx_cuda_job_t job;
  char path[400], *source = hx_cuda_generate(sketch(&s, 64, true, true, 9));
  size_t bytes = 0, kept_bytes = 0;
  struct stat facts;
  host.log[0] = 0;
  char *cubin = compile(&job, source, &bytes), *kept = hx_cuda_job_kept(&job, &kept_bytes);
  assert_non_null(kept);
  assert_int_equal(kept_bytes, bytes);
  assert_memory_equal(kept, cubin, bytes);
  free(kept);
  snprintf(path, sizeof path, "%s/%.40s.cubin", directory, job.key);
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 0777, 0600);
  const int file = open(path, O_RDWR);
  char byte = 0;
  assert_int_equal(pread(file, &byte, 1, facts.st_size / 2), 1);
  byte ^= 1;
  assert_int_equal(pwrite(file, &byte, 1, facts.st_size / 2), 1);
  close(file);
  assert_string_equal(host.log, "");
  assert_null(hx_cuda_job_kept(&job, &kept_bytes));
  assert_non_null(strstr(host.log, "a kept kernel is compiled again: its key, length or digest"));
  free(cubin);
  cubin = compile(&job, source, &bytes);  // and takes its place
  kept = hx_cuda_job_kept(&job, &kept_bytes);
  assert_non_null(kept);
  assert_memory_equal(kept, cubin, bytes);
  free(kept);
  free(cubin);
  free(source);
}

// Without a directory everything is compiled; the log says it once for each.
static void cubins_are_compiled_where_nothing_can_be_kept(void **state) {
  (void)state;
  need_nvrtc();
  sketch_t s;
  hx_cuda_job_t job;
  size_t bytes = 0;
  char *source = hx_cuda_generate(sketch(&s, 64, true, false, 9));
  static const char *const places[] = {"off", "/proc/no/such/place"};
  for (uint32_t i = 0; i < 2; i++) {
    host.cache = places[i];
    host.log[0] = 0;
    free(compile(&job, source, &bytes));
    assert_null(hx_cuda_job_kept(&job, &bytes));
    assert_int_equal(strstr(host.log, "are not kept") != NULL, i == 1);
  }
  host.cache = directory;
  free(source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_filled_from_one_list),
      cmocka_unit_test(library_is_found_by_the_option),
      cmocka_unit_test(architecture_is_the_newest_that_the_device_runs),
      cmocka_unit_test(sources_compile_for_every_architecture),
      cmocka_unit_test(source_that_is_refused_gives_the_log),
      cmocka_unit_test(broken_bodies_have_no_source),
      cmocka_unit_test(keys_tell_everything_apart),
      cmocka_unit_test(cubins_are_kept_and_not_trusted_when_damaged),
      cmocka_unit_test(cubins_are_compiled_where_nothing_can_be_kept),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
