// SPDX-License-Identifier: Apache-2.0
// Times the cuda plugin's operations with CUDA events: `heliox-bench-cuda IMAGES [LABEL or once [SET]]`, IMAGES the
// directory of the kernel images, SET the only set (with once: G16). Each row is the median of 50 samples after
// warm-up; a sample is 10 executes back to back between two events, once as launches of a queue and once as a captured
// graph. Operands stay the same, so what fits the L2 is warm. Beside each stands the operation's own bound, its share
// of the time and whether the time is within twice the bound. With the label `variants` it times each variant of the
// transforms at each size instead, and all operations of the sets of 32-bit words by each variant.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/host.h"
#include "step.h"
#include "variant.h"

#define PRIMES_MAX 64u
#define VALUES_MAX 24u
#define SAMPLES 50
#define EXECUTES 10

// Measured ceilings of one H200: see docs/cuda.md.
#define BYTES_PER_US 4.2e6
#define REAL_PER_US 3.08e6
#define WORD_PER_US 4.14e6

typedef struct set {
  const char *name;
  uint32_t word, log_n, q_count, p_count, digit_run, q_bits, p_bits;
} set_t;

// W16 and W15: as many bits in 32-bit words.
static const set_t sets[] = {{"G16", 64, 16, 24, 5, 6, 40, 50},
                             {"G15", 64, 15, 16, 4, 4, 40, 50},
                             {"W16", 32, 16, 33, 9, 9, 30, 31},
                             {"W15", 32, 15, 22, 6, 6, 30, 31}};

typedef struct bench {
  const set_t *set;
  hx_device *device;
  hx_queue *queue;
  hx_tables *tables;
  hx_ring ring;
  uint64_t primes[PRIMES_MAX], psi[PRIMES_MAX];
  uint32_t groups[PRIMES_MAX], ids[PRIMES_MAX];
  uint64_t random;
  const char *variant;  // pinned for all operations; NULL: the plugin's choice, or the job's
} bench_t;

typedef struct value {
  hx_tensor_desc desc;
  hx_span span;
  uint64_t bytes;
} value_t;

static const char *images;
static int once;  // for a profiler: every operation is executed twice and not timed

static const char *option(void *self, const char *name) {
  (void)self;
  return strcmp(name, "cuda-images") == 0 ? images : NULL;
}

static void require(int32_t code, const hx_error *error, const char *what) {
  if (code != HX_OK) {
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
  }
}

static hx_error no_error(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message)}; }

static uint64_t next_word(bench_t *b) {
  b->random ^= b->random << 13;
  b->random ^= b->random >> 7;
  return b->random ^= b->random << 17;
}

// The largest primes of `bits` bits that are 1 mod 2N and not there yet; the ring's psi of each.
static void find_primes(bench_t *b, uint32_t first, uint32_t count, uint32_t bits) {
  const uint64_t order = (uint64_t)2 << b->set->log_n;
  uint64_t q = (((uint64_t)1 << bits) - 1) / order * order + 1;
  for (uint32_t at = first; at < first + count; q -= order) {
    uint32_t known = 0;
    while (known < at && b->primes[known] != q) {
      known++;
    }
    if (known == at && q < (uint64_t)1 << bits && hxs_is_prime(q)) {
      b->primes[at] = q;
      hxs_modulus m;
      hxs_modulus_init(&m, q, 64);
      b->psi[at] = hxs_root_of_unity(&m, b->set->log_n);
      at++;
    }
  }
}

static void open_set(bench_t *b, const set_t *set) {
  hx_error error = no_error();
  b->set = set;
  b->random = 88172645463325252u;
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
  require(hx_cuda_tables_create(b->device, &b->ring, &b->tables, &error), &error, "tables");
}

static value_t make_value(bench_t *b, uint32_t digits, uint32_t components, uint32_t limbs, uint32_t domain) {
  hx_error error = no_error();
  const uint64_t n = (uint64_t)1 << b->set->log_n, rows = (uint64_t)(digits > 0 ? digits : 1) * components * limbs;
  value_t v = {.desc = {.struct_size = HX_END_OF(hx_tensor_desc, rows),
                        .dtype = b->set->word == 32 ? HX_U32 : HX_U64,
                        .log_n = b->set->log_n,
                        .digits = digits,
                        .components = components,
                        .limbs = limbs,
                        .domain = domain,
                        .basis = HX_BASIS_QP,
                        .repr = HX_STANDARD,
                        .digit_stride = components * limbs * n,
                        .component_stride = limbs * n,
                        .limb_stride = n,
                        .prime_ids = b->ids},
               .bytes = rows * n * b->set->word / 8};
  hx_span pinned = {NULL, 0};
  require(hx_cuda_memory_ops.alloc(b->device, HX_SPACE_DEVICE, v.bytes, &v.span.buffer, &error), &error, "alloc");
  require(hx_cuda_memory_ops.alloc(b->device, HX_SPACE_PINNED, v.bytes, &pinned.buffer, &error), &error, "pinned");
  void *words = hx_cuda_memory_ops.address(pinned.buffer);
  for (uint64_t i = 0; i < rows * n; i++) {
    const uint64_t residue = next_word(b) % b->primes[i / n % limbs];
    if (b->set->word == 32) {
      ((uint32_t *)words)[i] = (uint32_t)residue;
    } else {
      ((uint64_t *)words)[i] = residue;
    }
  }
  require(hx_cuda_queue_ops.copy(b->queue, v.span, pinned, v.bytes, &error), &error, "copy");
  require(hx_cuda_queue_ops.sync(b->queue, &error), &error, "sync");
  hx_cuda_memory_ops.free(pinned.buffer);
  return v;
}

static int compare(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

typedef struct job {
  const char *name, *label;
  const hx_attr *attrs;
  uint32_t attr_count, operand_count, result_count;
  const value_t *values[VALUES_MAX];  // operands, then results
  double bytes, products;             // that the operation cannot do without
  const hx_region *region;            // instead of one operation
  const char *variant;                // pinned; NULL: the plugin's choice
} job_t;

static void execute_all(bench_t *b, hx_prepared *prepared, const hx_call *call) {
  hx_error error = no_error();
  for (int i = 0; i < EXECUTES; i++) {
    require(hx_cuda_execute(prepared, call, &error), &error, "execute");
  }
  (void)b;
}

// Median microseconds of one execute; graph NULL: launches.
static float sample(bench_t *b, hx_prepared *prepared, const hx_call *call, void *graph) {
  const hx_cuda_driver_t *driver = b->device->driver;
  float times[SAMPLES], milliseconds = 0;
  void *begin = NULL, *end = NULL;
  driver->cuEventCreate(&begin, 0);
  driver->cuEventCreate(&end, 0);
  for (int i = -5; i < SAMPLES; i++) {
    driver->cuEventRecord(begin, b->queue->stream);
    if (graph != NULL) {
      driver->cuGraphLaunch(graph, b->queue->stream);
    } else {
      execute_all(b, prepared, call);
    }
    driver->cuEventRecord(end, b->queue->stream);
    driver->cuEventSynchronize(end);
    driver->cuEventElapsedTime(&milliseconds, begin, end);
    times[i < 0 ? 0 : i] = milliseconds * 1000 / EXECUTES;
  }
  driver->cuEventDestroy(begin);
  driver->cuEventDestroy(end);
  qsort(times, SAMPLES, sizeof *times, compare);
  return times[SAMPLES / 2];
}

static void *capture(bench_t *b, hx_prepared *prepared, const hx_call *call) {
  const hx_cuda_driver_t *driver = b->device->driver;
  void *graph = NULL, *executable = NULL;
  driver->cuStreamBeginCapture(b->queue->stream, 2);
  execute_all(b, prepared, call);
  if (driver->cuStreamEndCapture(b->queue->stream, &graph) != 0 ||
      driver->cuGraphInstantiateWithFlags(&executable, graph, 0) != 0) {
    fprintf(stderr, "capture failed\n");
    exit(1);
  }
  driver->cuGraphDestroy(graph);
  return executable;
}

// The bound of an operation is the larger of what its bytes and what its products take; its share of the time by graph.
static void print_row(const bench_t *b, const job_t *job, uint32_t launches, float launched, float replayed) {
  const double memory = job->bytes / BYTES_PER_US,
               arithmetic = job->products / (b->set->word == 32 ? WORD_PER_US : REAL_PER_US);
  const double bound = memory > arithmetic ? memory : arithmetic, time = (double)replayed;
  printf("%-4s %-34s %3u launches %8.1f us, by graph %7.1f us; ", b->set->name, job->label, launches, (double)launched,
         time);
  printf("bytes %6.1f us, products %6.1f us; bound %5.1f us is %3.0f %%, within 2x: %s\n", memory, arithmetic, bound,
         100 * bound / time, time <= 2 * bound ? "yes" : "no");
}

static void run(bench_t *b, const job_t *job) {
  hx_error error = no_error();
  hx_tensor_desc descs[VALUES_MAX];
  uint32_t ids[VALUES_MAX];
  int32_t alias[VALUES_MAX];
  hx_span spans[VALUES_MAX];
  const uint32_t count = job->operand_count + job->result_count;
  for (uint32_t i = 0; i < count; i++) {
    descs[i] = job->values[i]->desc;
    spans[i] = job->values[i]->span;
    ids[i] = i;
    alias[i] = -1;
  }
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .attr_count = job->attr_count,
                    .operand_count = job->operand_count,
                    .result_count = job->result_count,
                    .name = job->name,
                    .attrs = job->attrs,
                    .operands = ids,
                    .results = ids + job->operand_count};
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = count,
                            .op_count = 1,
                            .input_count = job->operand_count,
                            .output_count = job->result_count,
                            .ring = &b->ring,
                            .tables = b->tables,
                            .values = descs,
                            .ops = &op,
                            .inputs = ids,
                            .outputs = ids + job->operand_count,
                            .variant = job->variant != NULL ? job->variant : b->variant};
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = job->result_count, .may_alias = alias};
  hx_prepared *prepared = NULL;
  hx_region fused;
  if (job->region != NULL) {
    fused = *job->region;
    fused.ring = &b->ring;
    fused.tables = b->tables;
    fused.variant = b->variant;
  }
  require(hx_cuda_prepare(b->device, job->region != NULL ? &fused : &region, &plan, &prepared, &error), &error,
          job->name);
  hx_span scratch = {NULL, 0};
  if (plan.scratch_device > 0) {
    require(hx_cuda_memory_ops.alloc(b->device, HX_SPACE_DEVICE, plan.scratch_device, &scratch.buffer, &error), &error,
            "scratch");
  }
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = b->queue,
                        .scratch_device = scratch,
                        .inputs = spans,
                        .outputs = spans + job->operand_count};
  if (once) {
    for (int i = 0; i < 2; i++) {
      require(hx_cuda_execute(prepared, &call, &error), &error, "execute");
      require(hx_cuda_queue_ops.sync(b->queue, &error), &error, "sync");
    }
    hx_cuda_memory_ops.free(scratch.buffer);
    hxs_destroy(prepared);
    return;
  }
  const float launched = sample(b, prepared, &call, NULL);
  void *graph = capture(b, prepared, &call);
  const float replayed = sample(b, prepared, &call, graph);
  b->device->driver->cuGraphExecDestroy(graph);
  print_row(b, job, prepared->step_count, launched, replayed);
  if (scratch.buffer != NULL) {
    hx_cuda_memory_ops.free(scratch.buffer);
  }
  hxs_destroy(prepared);
}

// A linear transform of eight diagonals: one value, steps 0 to 7, one group. Keys lie apart, so that each is read.
static void run_diagonals(bench_t *b, const value_t *a, const value_t *key, const value_t *result,
                          double raised_products, double lowered_products) {
  enum { STEPS = 8 };
  static const int64_t steps[STEPS] = {0, 1, 2, 3, 4, 5, 6, 7};
  const set_t *s = b->set;
  const uint32_t all = s->q_count + s->p_count;
  const double n = (double)((uint64_t)1 << s->log_n), row = n * s->word / 8;
  hx_error error = no_error();
  const hx_attr attr = {
      .struct_size = HX_END_OF(hx_attr, data), .kind = HX_ATTR_I64, .count = STEPS, .name = "steps", .data = steps};
  value_t weights[STEPS], keys[STEPS - 1];
  job_t job = {.name = "ckks.rotate_weighted_sum",
               .label = "linear transform, 8 diagonals",
               .attrs = &attr,
               .attr_count = 1,
               .operand_count = 2 * STEPS,
               .result_count = 1,
               .values = {a},
               .bytes = (STEPS - 1) * (double)key->bytes + (STEPS * all + 4.0 * s->q_count) * row,
               .products = raised_products + lowered_products +
                           ((STEPS - 1) * (double)key->bytes * 8 / s->word + 2.0 * STEPS * all * n)};
  for (uint32_t i = 0; i < STEPS; i++) {
    weights[i] = make_value(b, 0, 1, all, HX_NTT);
    job.values[1 + i] = &weights[i];
  }
  for (uint32_t i = 0; i < STEPS - 1; i++) {
    keys[i] = *key;
    require(hx_cuda_memory_ops.alloc(b->device, HX_SPACE_DEVICE, key->bytes, &keys[i].span.buffer, &error), &error,
            "key");
    require(hx_cuda_queue_ops.copy(b->queue, keys[i].span, key->span, key->bytes, &error), &error, "copy");
    job.values[1 + STEPS + i] = &keys[i];
  }
  job.values[2 * STEPS] = result;
  run(b, &job);
  for (uint32_t i = 0; i < STEPS; i++) {
    hx_cuda_memory_ops.free(weights[i].span.buffer);
  }
  for (uint32_t i = 0; i < STEPS - 1; i++) {
    hx_cuda_memory_ops.free(keys[i].span.buffer);
  }
}

static void run_set(bench_t *b) {
  const set_t *s = b->set;
  const uint32_t q = s->q_count, all = q + s->p_count, digits = (q + s->digit_run - 1) / s->digit_run;
  const double n = (double)((uint64_t)1 << s->log_n), row = n * s->word / 8, transform = n / 2 * s->log_n;
  const value_t x = make_value(b, 0, 1, q, HX_COEFFICIENT), y = make_value(b, 0, 1, q, HX_NTT);
  const value_t a = make_value(b, 0, 2, q, HX_NTT), c = make_value(b, 0, 2, q, HX_NTT),
                d = make_value(b, 0, 2, q, HX_NTT);
  const value_t three = make_value(b, 0, 3, q, HX_NTT), less = make_value(b, 0, 2, q - 1, HX_NTT);
  const value_t key = make_value(b, digits, 2, all, HX_NTT);
  const int64_t one = 1;
  const hx_attr step = {
      .struct_size = HX_END_OF(hx_attr, data), .kind = HX_ATTR_I64, .count = 1, .name = "step", .data = &one};
  // Rows that are transformed in a key switch, products of its two conversions, and the bytes that it must read.
  const double moved = (double)digits * all - q, switched = q + moved + 2.0 * s->p_count + 2.0 * q;
  const double converted = moved * s->digit_run + 2.0 * q * s->p_count;
  const double key_bytes = 2.0 * digits * all * row;
  const double key_products = switched * transform + (converted + 2.0 * digits * all) * n;
  // ckks.mul, ckks.relinearize and ckks.rescale as one region: values a, c, key, product, its relinearization, result.
  const hx_tensor_desc descs[] = {a.desc, c.desc, key.desc, three.desc, d.desc, less.desc};
  const uint32_t ids[] = {0, 1, 2, 3, 4, 5}, relinearized[] = {3, 2};
  const hx_op chain[] = {{.struct_size = HX_END_OF(hx_op, resources),
                          .signature = 1,
                          .operand_count = 2,
                          .result_count = 1,
                          .name = "ckks.mul",
                          .operands = ids,
                          .results = ids + 3},
                         {.struct_size = HX_END_OF(hx_op, resources),
                          .signature = 1,
                          .operand_count = 2,
                          .result_count = 1,
                          .name = "ckks.relinearize",
                          .operands = relinearized,
                          .results = ids + 4},
                         {.struct_size = HX_END_OF(hx_op, resources),
                          .signature = 1,
                          .operand_count = 1,
                          .result_count = 1,
                          .name = "ckks.rescale",
                          .operands = ids + 4,
                          .results = ids + 5}};
  const hx_region fused = {.struct_size = HX_END_OF(hx_region, variant),
                           .value_count = 6,
                           .op_count = 3,
                           .input_count = 3,
                           .output_count = 1,
                           .values = descs,
                           .ops = chain,
                           .inputs = ids,
                           .outputs = ids + 5};
  const job_t jobs[] = {
      {"ntt.forward", "ntt.forward, one polynomial", NULL, 0, 1, 1, {&x, &y}, 2 * q * row, q * transform, NULL, NULL},
      {"ntt.inverse", "ntt.inverse, one polynomial", NULL, 0, 1, 1, {&y, &x}, 2 * q * row, q * transform, NULL, NULL},
      {"ckks.add", "ckks.add", NULL, 0, 2, 1, {&a, &c, &d}, 6 * q * row, 0, NULL, NULL},
      {"ckks.mul_plain", "ckks.mul_plain", NULL, 0, 2, 1, {&a, &y, &d}, 5 * q * row, 2 * q * n, NULL, NULL},
      {"ckks.mul", "ckks.mul", NULL, 0, 2, 1, {&a, &c, &three}, 7 * q * row, 4 * q * n, NULL, NULL},
      {"ckks.rescale", "ckks.rescale", NULL, 0, 1, 1, {&a, &less}, (4 * q - 2) * row, 2 * q * transform, NULL, NULL},
      {"ckks.relinearize",
       "ckks.relinearize",
       NULL,
       0,
       2,
       1,
       {&three, &key, &d},
       key_bytes + 5 * q * row,
       key_products,
       NULL,
       NULL},
      {"fusion.region",
       "mul + relinearize + rescale, fused",
       NULL,
       0,
       3,
       1,
       {&a, &c, &key, &less},
       key_bytes + 6 * q * row,
       key_products + 4 * q * n,
       &fused,
       NULL},
      {"ckks.rotate", "ckks.rotate", &step, 1, 2, 1, {&a, &key, &d}, key_bytes + 4 * q * row, key_products, NULL, NULL},
  };
  for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
    run(b, &jobs[i]);
  }
  run_diagonals(b, &a, &key, &d, (q + moved) * transform + moved * s->digit_run * n,
                2.0 * all * transform + 2.0 * q * s->p_count * n);
  const value_t *const values[] = {&x, &y, &a, &c, &d, &three, &less, &key};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    hx_cuda_memory_ops.free(values[i]->span.buffer);
  }
}

static void begin_set(bench_t *b, const set_t *set, const char *variant) {
  *b = (bench_t){.device = b->device, .queue = b->queue, .variant = variant};
  open_set(b, set);
}

// Transforms of 24 rows of 40 bits, or of 30 in 32-bit words, by each variant, and the sets of 32-bit words by each
// that is of whole operations: what choices.def follows.
static void run_variants(bench_t *b) {
  static const char *const names[] = {
#define VARIANT(id_, name_, radix_, path_) name_,
#include "variants.def"
  };
  const size_t count = sizeof names / sizeof names[0];
  for (uint32_t at = 0; at < 16; at++) {
    const uint32_t log_n = 10 + at % 8, word = at < 8 ? 32 : 64;
    const set_t set = {word == 32 ? "nt32" : "ntt", word, log_n, 24, 1, 24, word == 32 ? 30 : 40, word == 32 ? 31 : 41};
    char label[2][64];
    begin_set(b, &set, NULL);
    const value_t x = make_value(b, 0, 1, set.q_count, HX_COEFFICIENT), y = make_value(b, 0, 1, set.q_count, HX_NTT);
    const double bytes = 2.0 * (double)y.bytes, products = (double)set.q_count * (double)(1u << (log_n - 1)) * log_n;
    for (size_t i = 0; i < count; i++) {
      const char *name = names[i];
      if (hx_cuda_variant_find(name)->word && word != 32) {
        continue;
      }
      snprintf(label[0], sizeof label[0], "forward 2^%u %s", log_n, name);
      snprintf(label[1], sizeof label[1], "inverse 2^%u %s", log_n, name);
      run(b, &(job_t){"ntt.forward", label[0], NULL, 0, 1, 1, {&x, &y}, bytes, products, NULL, name});
      run(b, &(job_t){"ntt.inverse", label[1], NULL, 0, 1, 1, {&y, &x}, bytes, products, NULL, name});
    }
    hx_cuda_memory_ops.free(x.span.buffer);
    hx_cuda_memory_ops.free(y.span.buffer);
    hx_cuda_tables_destroy(b->tables);
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < sizeof sets / sizeof sets[0] && hx_cuda_variant_find(names[i])->radix == 0; k++) {
      if (sets[k].word == 32) {
        printf("-- %s\n", names[i]);
        begin_set(b, &sets[k], names[i]);
        run_set(b);
        hx_cuda_tables_destroy(b->tables);
      }
    }
  }
}

int main(int argc, char **argv) {
  hx_error error = no_error();
  if (argc < 2) {
    fprintf(stderr, "usage: heliox-bench-cuda IMAGES [LABEL or once [SET]]\n");
    return 2;
  }
  images = argv[1];
  once = argc > 2 && strcmp(argv[2], "once") == 0;
  const hx_host host = {.struct_size = HX_END_OF(hx_host, option), .abi_major = HX_ABI_MAJOR, .option = option};
  hxs_host_set(&host, "cuda");
  static bench_t b;
  hx_device_info info = {.struct_size = HX_END_OF(hx_device_info, driver)};
  require(hx_cuda_device_ops.info(0, &info, &error), &error, "device");
  require(hx_cuda_device_ops.open(0, &b.device, &error), &error, "open");
  require(hx_cuda_queue_ops.create(b.device, &b.queue, &error), &error, "queue");
  b.device->driver->cuCtxPushCurrent(b.device->context);  // for events and graphs here
  printf("%s, %u multiprocessors, %s, %s\n", info.name, info.compute_units, info.driver, argc > 2 ? argv[2] : "");
  const bool variants = argc > 2 && strcmp(argv[2], "variants") == 0;
  if (variants) {
    run_variants(&b);
  }
  const char *only = argc > 3 ? argv[3] : once ? sets[0].name : NULL;
  for (size_t i = 0; !variants && i < sizeof sets / sizeof sets[0]; i++) {
    if (only != NULL && strcmp(only, sets[i].name) != 0) {
      continue;
    }
    begin_set(&b, &sets[i], NULL);
    run_set(&b);
    hx_cuda_tables_destroy(b.tables);
  }
  hx_cuda_queue_ops.destroy(b.queue);
  hx_cuda_device_ops.close(b.device);
  return 0;
}
