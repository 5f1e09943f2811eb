// SPDX-License-Identifier: Apache-2.0
// Compares plugins, operation by operation: `heliox-bench-plugins [-s SET] [-n SAMPLES] [-o PART] PLUGIN.so...`,
// through the plugin ABI alone, so that it runs anywhere with nothing but the libraries. All plugins are measured in
// one process, one after the other within each sample; a sample is the time of back-to-back executes until the queue
// has passed them, a row has least and median. Results are compared word by word before anything is timed: plugins that
// differ are a failure.
//
// HELIOX_BENCH_OPTION is "name=value", answered to plugins as an option of the host, as "cpu-mask=portable".
#include <dlfcn.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heliox/plugin.h"
#include "heliox/support/number.h"

#define PRIMES_MAX 48u
#define PLUGINS_MAX 4u
#define VALUES_MAX 6u
#define SAMPLES_MAX 500

typedef struct set {
  const char *name;
  uint32_t log_n, word, q_count, p_count, digit_run, q_bits, p_bits;
} set_t;

static const set_t sets[] = {{"G16", 16, 64, 24, 5, 6, 40, 50}, {"G15", 15, 64, 16, 4, 4, 40, 50},
                             {"S16", 16, 64, 4, 1, 2, 50, 60},  {"S15", 15, 64, 4, 1, 2, 50, 60},
                             {"S14", 14, 64, 4, 1, 2, 50, 60},  {"S14-32", 14, 32, 4, 1, 2, 28, 31}};

typedef struct plugin {
  const char *path;
  char directory[4000];
  hx_plugin table;
  hx_device *device;
  hx_queue *queue;
  hx_tables *tables;
} plugin_t;

typedef struct bench {
  const set_t *set;
  hx_ring ring;
  uint64_t primes[PRIMES_MAX], psi[PRIMES_MAX];
  uint32_t groups[PRIMES_MAX], ids[PRIMES_MAX];
  plugin_t plugins[PLUGINS_MAX];
  uint32_t plugin_count;
  int samples;
} bench_t;

static void die(const char *what, const char *why) {
  fprintf(stderr, "heliox-bench-plugins: %s: %s\n", what, why);
  exit(1);
}

static hx_error no_error(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message)}; }

static void require(const plugin_t *p, int32_t code, const hx_error *error, const char *what) {
  if (code != HX_OK) {
    fprintf(stderr, "%s: ", p->path);
    die(what, error->message);
  }
}

// ------------------------------------------------------------------ host and plugins

static const char *option(void *self, const char *name) {
  const plugin_t *p = self;
  const char *given = getenv("HELIOX_BENCH_OPTION");
  const size_t length = strlen(name);
  if (strcmp(name, "plugin-directory") == 0) {
    return p->directory;
  }
  return given != NULL && strncmp(given, name, length) == 0 && given[length] == '=' ? given + length + 1 : NULL;
}

static uint32_t threads(void *self) {
  (void)self;
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (uint32_t)count : 1;
}

static void open_plugin(bench_t *b, plugin_t *p, const char *path) {
  static hx_host hosts[PLUGINS_MAX];
  hx_error error = no_error();
  char copy[sizeof p->directory];
  p->path = path;
  snprintf(copy, sizeof copy, "%s", path);
  snprintf(p->directory, sizeof p->directory, "%s", dirname(copy));
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library != NULL ? dlsym(library, "heliox_plugin_query") : NULL;
  if (symbol == NULL) {
    die(path, dlerror());
  }
  int32_t (*query)(const hx_host *, hx_plugin *) = NULL;
  memcpy(&query, &symbol, sizeof query);
  hx_host *host = &hosts[b->plugin_count];
  *host = (hx_host){.struct_size = HX_END_OF(hx_host, run_region),
                    .abi_major = HX_ABI_MAJOR,
                    .self = p,
                    .option = option,
                    .threads = threads};
  p->table.struct_size = HX_END_OF(hx_plugin, shutdown);
  if (query(host, &p->table) != HX_OK) {
    die(path, "heliox_plugin_query refuses this host");
  }
  require(p, p->table.device->open(0, &p->device, &error), &error, "open");
  require(p, p->table.queue->create(p->device, &p->queue, &error), &error, "queue");
  require(p, p->table.device->tables_create(p->device, &b->ring, &p->tables, &error), &error, "tables");
  b->plugin_count++;
}

static void close_plugin(plugin_t *p) {
  p->table.device->tables_destroy(p->tables);
  p->table.queue->destroy(p->queue);
  p->table.device->close(p->device);
  if (p->table.shutdown != NULL) {
    p->table.shutdown();
  }
}

// ------------------------------------------------------------------ rings and values

static void find_primes(bench_t *b, uint32_t first, uint32_t count, uint32_t bits) {
  const uint64_t order = (uint64_t)2 << b->set->log_n;
  uint64_t q = (((uint64_t)1 << bits) - 1) / order * order + 1;
  for (uint32_t at = first; at < first + count; q -= order) {
    uint32_t known = 0;
    while (known < at && b->primes[known] != q) {
      known++;
    }
    if (known == at && q < (uint64_t)1 << bits && hxs_is_prime(q)) {
      hxs_modulus m;
      hxs_modulus_init(&m, q, 64);
      b->primes[at] = q;
      b->psi[at++] = hxs_root_of_unity(&m, b->set->log_n);
    }
  }
}

static void make_ring(bench_t *b) {
  const set_t *set = b->set;
  find_primes(b, 0, 1, set->p_bits);
  find_primes(b, 1, set->q_count - 1, set->q_bits);
  find_primes(b, set->q_count, set->p_count, set->p_bits);
  for (uint32_t i = 0; i < PRIMES_MAX; i++) {
    b->groups[i] = 1;
    b->ids[i] = i;
  }
  b->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                      .log_n = set->log_n,
                      .word = set->word,
                      .q_count = set->q_count,
                      .p_count = set->p_count,
                      .digit_run = set->digit_run,
                      .group_count = set->q_count,
                      .primes = b->primes,
                      .psi = b->psi,
                      .group_sizes = b->groups};
}

typedef struct value {
  uint32_t digits, components, limbs, domain;
} value_t;

static uint64_t bytes_of(const bench_t *b, const value_t *v) {
  return ((uint64_t)(v->digits > 0 ? v->digits : 1) * v->components * v->limbs * (b->set->word / 8)) << b->set->log_n;
}

static hx_tensor_desc describe(const bench_t *b, const value_t *v) {
  const uint64_t n = (uint64_t)1 << b->set->log_n;
  return (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                          .dtype = b->set->word == 64 ? HX_U64 : HX_U32,
                          .log_n = b->set->log_n,
                          .digits = v->digits,
                          .components = v->components,
                          .limbs = v->limbs,
                          .domain = v->domain,
                          .basis = HX_BASIS_QP,
                          .repr = HX_STANDARD,
                          .digit_stride = v->components * v->limbs * n,
                          .component_stride = v->limbs * n,
                          .limb_stride = n,
                          .prime_ids = b->ids};
}

static void fill(const bench_t *b, const value_t *v, uint64_t seed, unsigned char *to) {
  const uint64_t n = (uint64_t)1 << b->set->log_n, count = bytes_of(b, v) / (b->set->word / 8);
  uint64_t word = 88172645463325252u + seed;
  for (uint64_t i = 0; i < count; i++) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    const uint64_t residue = word % b->primes[i / n % v->limbs];
    const uint32_t narrow = (uint32_t)residue;
    memcpy(to + i * (b->set->word / 8), b->set->word == 64 ? (const void *)&residue : (const void *)&narrow,
           b->set->word / 8);
  }
}

// ------------------------------------------------------------------ operations

typedef struct row {
  const char *name;
  uint32_t ops;  // of a region
  hx_op op[3];
  uint32_t values, inputs;
  value_t value[VALUES_MAX];
  uint32_t executes;
} row_t;

static const uint32_t index_of[VALUES_MAX] = {0, 1, 2, 3, 4, 5};

static hx_op op_of(const char *name, uint32_t operands, const uint32_t *from, const uint32_t *to) {
  return (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                 .signature = 1,
                 .operand_count = operands,
                 .result_count = 1,
                 .name = name,
                 .operands = from,
                 .results = to};
}

// One operation on value 0 .. operands - 1, giving the next.
static row_t single(const char *name, uint32_t operands, value_t a, value_t b, value_t result, uint32_t executes) {
  row_t row = {.name = name, .ops = 1, .values = operands + 1, .inputs = operands, .executes = executes};
  row.value[0] = a;
  row.value[1] = operands == 2 ? b : result;
  row.value[operands] = result;
  row.op[0] = op_of(name, operands, index_of, index_of + operands);
  return row;
}

// Values: both factors, the key, the product, the relinearized product, the result.
static row_t chain(value_t factor, value_t product, value_t key, value_t result) {
  static const uint32_t relinearized[] = {3, 2};
  row_t row = {.name = "mul+relin+rescale",
               .ops = 3,
               .values = 6,
               .inputs = 3,
               .executes = 2,
               .value = {factor, factor, key, product, factor, result}};
  row.op[0] = op_of("ckks.mul", 2, index_of, index_of + 3);
  row.op[1] = op_of("ckks.relinearize", 2, relinearized, index_of + 4);
  row.op[2] = op_of("ckks.rescale", 1, index_of + 4, index_of + 5);
  return row;
}

static uint32_t make_rows(const bench_t *b, row_t *out) {
  static const int64_t step = 1;
  static const hx_attr rotation = {
      .struct_size = HX_END_OF(hx_attr, data), .kind = HX_ATTR_I64, .count = 1, .name = "step", .data = &step};
  const uint32_t q = b->set->q_count, all = q + b->set->p_count,
                 digits = (q + b->set->digit_run - 1) / b->set->digit_run;
  const value_t one_c = {0, 1, 1, HX_COEFFICIENT}, one_n = {0, 1, 1, HX_NTT}, many_c = {0, 2, q, HX_COEFFICIENT};
  const value_t two = {0, 2, q, HX_NTT}, three = {0, 3, q, HX_NTT}, less = {0, 2, q - 1, HX_NTT};
  const value_t key = {digits, 2, all, HX_NTT};
  uint32_t at = 0;
  out[at++] = single("ntt.forward", 1, one_c, one_c, one_n, 20);
  out[at++] = single("ntt.inverse", 1, one_n, one_n, one_c, 20);
  out[at++] = single("ntt.forward", 1, many_c, many_c, two, 4);
  out[at++] = single("ntt.inverse", 1, two, two, many_c, 4);
  out[at++] = single("ckks.add", 2, two, two, two, 10);
  out[at++] = single("ckks.mul", 2, two, two, three, 10);
  out[at++] = single("ckks.rescale", 1, two, two, less, 4);
  out[at++] = single("ckks.relinearize", 2, three, key, two, 2);
  out[at] = single("ckks.rotate", 2, two, key, two, 2);
  out[at].op[0].attrs = &rotation;
  out[at++].op[0].attr_count = 1;
  out[at++] = chain(two, three, key, less);
  return at;
}

typedef struct job {
  hx_prepared *prepared;
  const hx_impl *impl;
  hx_span spans[VALUES_MAX], scratch;
} job_t;

static const hx_impl *find_impl(const plugin_t *p, const char *op) {
  for (uint32_t i = 0; i < p->table.impl_count; i++) {
    if (strcmp(p->table.impls[i]->op, op) == 0) {
      return p->table.impls[i];
    }
  }
  return NULL;
}

static void transfer(const plugin_t *p, hx_span to, hx_span from, uint64_t bytes) {
  hx_error error = no_error();
  require(p, p->table.queue->copy(p->queue, to, from, bytes, &error), &error, "copy");
  require(p, p->table.queue->sync(p->queue, &error), &error, "sync");
}

// Memory of a value, with the bytes of `from` (NULL: none).
static hx_span upload(const plugin_t *p, const unsigned char *from, uint64_t bytes) {
  hx_error error = no_error();
  hx_span span = {NULL, 0}, host = {NULL, 0};
  require(p, p->table.memory->alloc(p->device, HX_SPACE_DEVICE, bytes, &span.buffer, &error), &error, "alloc");
  if (from != NULL) {
    require(p, p->table.memory->alloc(p->device, HX_SPACE_PINNED, bytes, &host.buffer, &error), &error, "alloc");
    memcpy(p->table.memory->address(host.buffer), from, bytes);
    transfer(p, span, host, bytes);
    p->table.memory->free(host.buffer);
  }
  return span;
}

static int prepare(const bench_t *b, const plugin_t *p, const row_t *row, unsigned char *const *data, job_t *job) {
  hx_error error = no_error();
  hx_tensor_desc descs[VALUES_MAX];
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  memset(job, 0, sizeof *job);
  job->impl = find_impl(p, row->ops == 1 ? row->op[0].name : "fusion.region");
  if (job->impl == NULL) {
    return 0;
  }
  for (uint32_t i = 0; i < row->values; i++) {
    descs[i] = describe(b, &row->value[i]);
  }
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = row->values,
                            .op_count = row->ops,
                            .input_count = row->inputs,
                            .output_count = 1,
                            .ring = &b->ring,
                            .tables = p->tables,
                            .values = descs,
                            .ops = row->op,
                            .inputs = index_of,
                            .outputs = index_of + row->values - 1};
  const int32_t code = job->impl->prepare(p->device, &region, &plan, &job->prepared, &error);
  if (code == HX_UNSUPPORTED) {
    job->impl = NULL;
    return 0;
  }
  require(p, code, &error, row->name);
  for (uint32_t i = 0; i < row->values; i++) {
    job->spans[i] = upload(p, i < row->inputs ? data[i] : NULL, bytes_of(b, &row->value[i]));
  }
  if (plan.scratch_device > 0) {
    job->scratch = upload(p, NULL, plan.scratch_device);
  }
  return 1;
}

static double run(const plugin_t *p, const row_t *row, const job_t *job) {
  struct timespec from, to;
  hx_error error = no_error();
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = p->queue,
                        .scratch_device = job->scratch,
                        .scratch_host = job->scratch,
                        .inputs = job->spans,
                        .outputs = job->spans + row->values - 1};
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (uint32_t i = 0; i < row->executes; i++) {
    require(p, job->impl->execute(job->prepared, &call, &error), &error, row->name);
  }
  require(p, p->table.queue->sync(p->queue, &error), &error, "sync");
  clock_gettime(CLOCK_MONOTONIC, &to);
  return ((double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3) / row->executes;
}

static unsigned char *download(const bench_t *b, const plugin_t *p, const row_t *row, const job_t *job) {
  hx_error error = no_error();
  hx_span host = {NULL, 0};
  const uint64_t bytes = bytes_of(b, &row->value[row->values - 1]);
  unsigned char *out = malloc(bytes);
  require(p, p->table.memory->alloc(p->device, HX_SPACE_PINNED, bytes, &host.buffer, &error), &error, "alloc");
  transfer(p, host, job->spans[row->values - 1], bytes);
  if (out == NULL) {
    die(row->name, "no memory");
  }
  memcpy(out, p->table.memory->address(host.buffer), bytes);
  p->table.memory->free(host.buffer);
  return out;
}

static void destroy(const plugin_t *p, const row_t *row, job_t *job) {
  for (uint32_t i = 0; i < row->values && job->impl != NULL; i++) {
    p->table.memory->free(job->spans[i].buffer);
  }
  if (job->scratch.buffer != NULL) {
    p->table.memory->free(job->scratch.buffer);
  }
  if (job->prepared != NULL) {
    job->impl->destroy(job->prepared);
  }
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// One row for all plugins; returns whether their results are equal.
static int measure(const bench_t *b, const row_t *row) {
  static double times[PLUGINS_MAX][SAMPLES_MAX];
  unsigned char *data[VALUES_MAX] = {NULL}, *first = NULL;
  job_t jobs[PLUGINS_MAX];
  int equal = 1;
  for (uint32_t i = 0; i < row->inputs; i++) {
    data[i] = malloc(bytes_of(b, &row->value[i]));
    if (data[i] == NULL) {
      die(row->name, "no memory");
    }
    fill(b, &row->value[i], i, data[i]);
  }
  for (uint32_t k = 0; k < b->plugin_count; k++) {
    if (prepare(b, &b->plugins[k], row, data, &jobs[k])) {
      run(&b->plugins[k], row, &jobs[k]);
      unsigned char *found = download(b, &b->plugins[k], row, &jobs[k]);
      equal = equal && (first == NULL || memcmp(first, found, bytes_of(b, &row->value[row->values - 1])) == 0);
      free(first == NULL ? NULL : found);
      first = first == NULL ? found : first;
    }
  }
  for (int s = 0; s < b->samples; s++) {
    for (uint32_t k = 0; k < b->plugin_count; k++) {
      times[k][s] = jobs[k].impl != NULL ? run(&b->plugins[k], row, &jobs[k]) : 0;
    }
  }
  printf("%-18s %3u rows", row->name, row->value[0].components * row->value[0].limbs);
  for (uint32_t k = 0; k < b->plugin_count; k++) {
    qsort(times[k], (size_t)b->samples, sizeof times[k][0], by_size);
    printf("  %10.1f %10.1f", times[k][0], times[k][b->samples / 2]);
    if (k > 0 && times[0][0] > 0) {
      printf(" x%-5.2f", times[k][0] / times[0][0]);
    }
  }
  printf("%s\n", equal ? "" : "  RESULTS DIFFER");
  for (uint32_t k = 0; k < b->plugin_count; k++) {
    destroy(&b->plugins[k], row, &jobs[k]);
  }
  for (uint32_t i = 0; i < row->inputs; i++) {
    free(data[i]);
  }
  free(first);
  return equal;
}

int main(int argc, char **argv) {
  static bench_t b;
  static row_t rows[16];
  const char *name = "S14", *only = "";
  int letter = 0, equal = 1;
  b.samples = 20;
  while ((letter = getopt(argc, argv, "s:n:o:")) != -1) {
    if (letter == 's') {
      name = optarg;
    } else if (letter == 'o') {
      only = optarg;
    } else if (letter == 'n') {
      b.samples = atoi(optarg);
    } else {
      die("usage", "heliox-bench-plugins [-s SET] [-n SAMPLES] [-o PART] PLUGIN.so...");
    }
  }
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    b.set = strcmp(sets[i].name, name) == 0 ? &sets[i] : b.set;
  }
  if (b.set == NULL || optind == argc || argc - optind > (int)PLUGINS_MAX || b.samples < 1 || b.samples > SAMPLES_MAX) {
    die(name, "no such set, 1 to 4 plugins are compared, or not 1 to 500 samples");
  }
  make_ring(&b);
  for (int i = optind; i < argc; i++) {
    open_plugin(&b, &b.plugins[b.plugin_count], argv[i]);
  }
  printf(
      "set %s: N = 2^%u, %u-bit words, %u + %u primes; microseconds, least and median of %d samples, ratio of the "
      "least\n%-27s",
      name, b.set->log_n, b.set->word, b.set->q_count, b.set->p_count, b.samples, "");
  for (uint32_t k = 0; k < b.plugin_count; k++) {
    printf("  %.20s%s", b.plugins[k].table.id, k > 0 ? "       " : "");
  }
  printf("\n");
  const uint32_t count = make_rows(&b, rows);
  for (uint32_t i = 0; i < count; i++) {
    equal = (strstr(rows[i].name, only) == NULL || measure(&b, &rows[i])) && equal;
  }
  for (uint32_t k = 0; k < b.plugin_count; k++) {
    close_plugin(&b.plugins[k]);
  }
  return equal ? 0 : 1;
}
