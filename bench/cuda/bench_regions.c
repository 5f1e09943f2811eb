// SPDX-License-Identifier: Apache-2.0
// Times regions of operations element by element on the cuda plugin, as one compiled kernel and one by one, with CUDA
// events: `heliox-bench-regions IMAGES`, IMAGES the directory of the kernel images. Each figure is the median of 50
// samples after warm-up, a sample 10 runs back to back as a captured graph. Operands stay the same, so what fits the L2
// is warm. The bound is the bytes that a region reads and writes, each once, at 4.2 TB/s.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heliox/support/host.h"
#include "step.h"

#define LIMBS_MAX 32u
#define VALUES_MAX 32u
#define OPS_MAX 16u
#define SAMPLES 50
#define RUNS 10
#define BYTES_PER_US 4.2e6

static const char *images;

static const char *option(void *self, const char *name) {
  (void)self;
  return strcmp(name, "cuda-images") == 0  ? images
         : strcmp(name, "cuda-nvrtc") == 0 ? getenv("HELIOX_CUDA_NVRTC")
                                           : NULL;
}

static hx_error error = {.struct_size = HX_END_OF(hx_error, message)};

static void require(int32_t code, const char *what) {
  if (code != HX_OK) {
    fprintf(stderr, "%s: %s\n", what, error.message);
    exit(1);
  }
}

typedef struct bench {
  hx_device *device;
  hx_queue *queue;
  hx_tables *tables;
  hx_ring ring;
  uint32_t limbs, ids[LIMBS_MAX], groups[LIMBS_MAX];
  uint64_t primes[LIMBS_MAX], psi[LIMBS_MAX], residues[2 * LIMBS_MAX];
  hx_tensor_desc descs[VALUES_MAX];
  hx_span spans[VALUES_MAX];
  uint32_t value_count;
  uint64_t random;
} bench_t;

// ------------------------------------------------------------------ ring and values

static void open_ring(bench_t *b, uint32_t log_n, uint32_t limbs, uint32_t bits) {
  const uint64_t order = (uint64_t)2 << log_n;
  uint64_t q = (((uint64_t)1 << bits) - 1) / order * order + 1;
  b->limbs = limbs;
  for (uint32_t i = 0; i < limbs; q -= order) {
    if (!hxs_is_prime(q)) continue;
    hxs_modulus m;
    hxs_modulus_init(&m, q, 64);
    b->primes[i] = q;
    b->psi[i] = hxs_root_of_unity(&m, log_n);
    b->ids[i] = i;
    b->groups[i] = 1;
    b->residues[2 * i] = q / 3;
    b->residues[2 * i + 1] = q / 5;
    i++;
  }
  b->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                      .log_n = log_n,
                      .word = 64,
                      .q_count = limbs,
                      .digit_run = 1,
                      .group_count = limbs,
                      .primes = b->primes,
                      .psi = b->psi,
                      .group_sizes = b->groups};
  require(hx_cuda_tables_create(b->device, &b->ring, &b->tables, &error), "tables");
}

static void free_values(bench_t *b) {
  for (uint32_t i = 0; i < b->value_count; i++) hx_cuda_memory_ops.free(b->spans[i].buffer);
  b->value_count = 0;
}

// A value of random residues; its number.
static uint32_t add_value(bench_t *b, uint32_t components) {
  const uint64_t n = (uint64_t)1 << b->ring.log_n, bytes = components * b->limbs * n * 8;
  const uint32_t v = b->value_count++;
  b->descs[v] = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                                 .dtype = HX_U64,
                                 .log_n = b->ring.log_n,
                                 .components = components,
                                 .limbs = b->limbs,
                                 .domain = HX_NTT,
                                 .basis = HX_BASIS_Q,
                                 .repr = HX_STANDARD,
                                 .component_stride = b->limbs * n,
                                 .limb_stride = n,
                                 .prime_ids = b->ids};
  b->spans[v] = (hx_span){NULL, 0};
  require(hx_cuda_memory_ops.alloc(b->device, HX_SPACE_DEVICE, bytes, &b->spans[v].buffer, &error), "memory");
  hx_span pinned = {NULL, 0};
  require(hx_cuda_memory_ops.alloc(b->device, HX_SPACE_PINNED, bytes, &pinned.buffer, &error), "pinned memory");
  uint64_t *words = hx_cuda_memory_ops.address(pinned.buffer);
  for (uint64_t k = 0; k < bytes / 8; k++) {
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    words[k] = (b->random >> 16) % b->primes[k / n % b->limbs];
  }
  require(hx_cuda_queue_ops.copy(b->queue, b->spans[v], pinned, bytes, &error), "copy");
  require(hx_cuda_queue_ops.sync(b->queue, &error), "sync");
  hx_cuda_memory_ops.free(pinned.buffer);
  return v;
}

// ------------------------------------------------------------------ operations

typedef struct plan {
  hx_op ops[OPS_MAX];
  hx_attr attrs[OPS_MAX];
  uint32_t ids[OPS_MAX][8], made[OPS_MAX];
  uint32_t count;
} plan_t;

static uint32_t add_op(bench_t *b, plan_t *p, const char *name, uint32_t x, uint32_t y) {
  const uint32_t k = p->count++;
  const bool scalar = strstr(name, "_scalar") != NULL;
  p->ids[k][0] = x;
  p->ids[k][1] = y;
  p->made[k] = add_value(b, 2);
  p->attrs[k] = (hx_attr){.struct_size = HX_END_OF(hx_attr, data),
                          .kind = HX_ATTR_U64,
                          .count = 2 * b->limbs,
                          .name = "residues",
                          .data = b->residues};
  p->ops[k] = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                      .signature = 1,
                      .attr_count = scalar ? 1 : 0,
                      .operand_count = scalar || strcmp(name, "ckks.neg") == 0 ? 1 : 2,
                      .result_count = 1,
                      .name = name,
                      .attrs = &p->attrs[k],
                      .operands = p->ids[k],
                      .results = &p->made[k]};
  return p->made[k];
}

typedef struct job {
  hx_prepared *prepared;
  hx_span inputs[VALUES_MAX], outputs[1];
} job_t;

static bool is_made(const plan_t *p, uint32_t first, uint32_t count, uint32_t value) {
  for (uint32_t k = first; k < first + count; k++) {
    if (p->made[k] == value) return true;
  }
  return false;
}

// Some operations in a row as one region, of which the last result leaves; bytes that they read and write.
static double prepare(bench_t *b, const plan_t *p, uint32_t first, uint32_t count, const char *variant, job_t *out) {
  uint32_t inputs[VALUES_MAX], input_count = 0, limbs = 2;
  for (uint32_t k = first; k < first + count; k++) {
    for (uint32_t i = 0; i < p->ops[k].operand_count; i++) {
      const uint32_t v = p->ids[k][i];
      uint32_t at = 0;
      while (at < input_count && inputs[at] != v) at++;
      if (at < input_count || is_made(p, first, count, v)) continue;
      out->inputs[input_count] = b->spans[v];
      inputs[input_count++] = v;
      limbs += b->descs[v].components;
    }
  }
  const uint32_t last = p->made[first + count - 1];
  out->outputs[0] = b->spans[last];
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = b->value_count,
                            .op_count = count,
                            .input_count = input_count,
                            .output_count = 1,
                            .ring = &b->ring,
                            .tables = b->tables,
                            .values = b->descs,
                            .ops = &p->ops[first],
                            .inputs = inputs,
                            .outputs = &last,
                            .variant = variant};
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  require(hx_cuda_prepare(b->device, &region, &plan, &out->prepared, &error), p->ops[first].name);
  return (double)limbs * b->limbs * (double)((uint64_t)8 << b->ring.log_n);
}

// ------------------------------------------------------------------ timing

static int compare(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

// Median microseconds of one run of some jobs in order.
static double measure(bench_t *b, const job_t *jobs, uint32_t count) {
  const hx_cuda_driver_t *driver = b->device->driver;
  void *graph = NULL, *executable = NULL, *begin = NULL, *end = NULL;
  float times[SAMPLES], milliseconds = 0;
  driver->cuStreamBeginCapture(b->queue->stream, 2);
  for (uint32_t i = 0; i < RUNS * count; i++) {
    const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                          .queue = b->queue,
                          .inputs = jobs[i % count].inputs,
                          .outputs = jobs[i % count].outputs};
    require(hx_cuda_execute(jobs[i % count].prepared, &call, &error), "execute");
  }
  if (driver->cuStreamEndCapture(b->queue->stream, &graph) != 0 ||
      driver->cuGraphInstantiateWithFlags(&executable, graph, 0) != 0) {
    fprintf(stderr, "capture failed\n");
    exit(1);
  }
  driver->cuEventCreate(&begin, 0);
  driver->cuEventCreate(&end, 0);
  for (int i = -5; i < SAMPLES; i++) {
    driver->cuEventRecord(begin, b->queue->stream);
    driver->cuGraphLaunch(executable, b->queue->stream);
    driver->cuEventRecord(end, b->queue->stream);
    driver->cuEventSynchronize(end);
    driver->cuEventElapsedTime(&milliseconds, begin, end);
    times[i < 0 ? 0 : i] = milliseconds * 1000 / RUNS;
  }
  driver->cuEventDestroy(begin);
  driver->cuEventDestroy(end);
  driver->cuGraphExecDestroy(executable);
  driver->cuGraphDestroy(graph);
  qsort(times, SAMPLES, sizeof *times, compare);
  return (double)times[SAMPLES / 2];
}

static double milliseconds_since(const struct timespec *from) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - from->tv_sec) * 1e3 + (double)(now.tv_nsec - from->tv_nsec) / 1e6;
}

static void run(bench_t *b, const char *label, const plan_t *p) {
  static const char *const variants[] = {"real", "integer"};
  job_t apart[OPS_MAX], fused[2];
  double apart_bytes = 0, bytes = 0, prepared[2], times[2];
  for (uint32_t k = 0; k < p->count; k++) apart_bytes += prepare(b, p, k, 1, NULL, &apart[k]);
  const double one_by_one = measure(b, apart, p->count);
  for (uint32_t v = 0; v < 2; v++) {
    struct timespec from;
    clock_gettime(CLOCK_MONOTONIC, &from);
    bytes = prepare(b, p, 0, p->count, variants[v], &fused[v]);
    prepared[v] = milliseconds_since(&from);
    times[v] = measure(b, &fused[v], 1);
    hxs_destroy(fused[v].prepared);
  }
  printf(
      "2^%u %2u rows %-44s one by one %7.1f (bound %6.1f)   one kernel %7.1f doubles %7.1f integers (bound %6.1f)   "
      "%.1fx   prepared in %.0f and %.0f ms\n",
      b->ring.log_n, b->limbs, label, one_by_one, apart_bytes / BYTES_PER_US, times[0], times[1], bytes / BYTES_PER_US,
      one_by_one / times[0], prepared[0], prepared[1]);
  for (uint32_t k = 0; k < p->count; k++) hxs_destroy(apart[k].prepared);
  free_values(b);
}

// ------------------------------------------------------------------ regions

static void run_all(bench_t *b) {
  plan_t p = {.count = 0};
  uint32_t x = add_value(b, 2), y = add_value(b, 2), w = add_value(b, 1), v = 0;
  add_op(b, &p, "ckks.mul_plain", add_op(b, &p, "ckks.add", x, y), w);
  run(b, "(x + y) w", &p);

  p.count = 0;
  x = add_value(b, 2), y = add_value(b, 2), w = add_value(b, 1);
  v = add_op(b, &p, "ckks.mul_scalar", x, x);
  v = add_op(b, &p, "ckks.add", v, y);
  v = add_op(b, &p, "ckks.add_scalar", v, v);
  v = add_op(b, &p, "ckks.mul_plain", v, w);
  v = add_op(b, &p, "ckks.sub", v, x);
  add_op(b, &p, "ckks.mul_scalar", v, v);
  run(b, "((x c + y + c) w - x) c", &p);

  p.count = 0;
  x = add_value(b, 2);
  for (uint32_t i = 0; i < 7; i++) x = add_op(b, &p, "ckks.add", x, add_value(b, 2));
  run(b, "sum of 8", &p);

  p.count = 0;
  x = add_op(b, &p, "ckks.mul_plain", add_value(b, 2), add_value(b, 1));
  for (uint32_t i = 0; i < 3; i++) {
    y = add_op(b, &p, "ckks.mul_plain", add_value(b, 2), add_value(b, 1));
    x = add_op(b, &p, "ckks.add", x, y);
  }
  run(b, "sum of 4 products with plaintexts", &p);
}

int main(int argc, char **argv) {
  static const uint32_t rings[][3] = {{16, 24, 40}, {15, 16, 40}, {14, 8, 40}};
  if (argc != 2) {
    fprintf(stderr, "usage: heliox-bench-regions IMAGES\n");
    return 2;
  }
  images = argv[1];
  const hx_host host = {.struct_size = HX_END_OF(hx_host, option), .abi_major = HX_ABI_MAJOR, .option = option};
  hxs_host_set(&host, "cuda");
  static bench_t b;
  hx_device_info info = {.struct_size = HX_END_OF(hx_device_info, driver)};
  require(hx_cuda_device_ops.info(0, &info, &error), "device");
  require(hx_cuda_device_ops.open(0, &b.device, &error), "open");
  require(hx_cuda_queue_ops.create(b.device, &b.queue, &error), "queue");
  b.device->driver->cuCtxPushCurrent(b.device->context);  // for events and graphs here
  printf("%s, %s; microseconds\n", info.name, info.driver);
  for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++) {
    open_ring(&b, rings[i][0], rings[i][1], rings[i][2]);
    run_all(&b);
    hx_cuda_tables_destroy(b.tables);
  }
  hx_cuda_queue_ops.destroy(b.queue);
  hx_cuda_device_ops.close(b.device);
  return 0;
}
