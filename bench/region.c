// SPDX-License-Identifier: Apache-2.0
#include "region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/host.h"
#include "heliox/support/number.h"

#define STEPS 8u

struct bench_region {
  bench_ring_t shape;
  uint64_t psi[BENCH_PRIMES_MAX];
  uint32_t groups[BENCH_PRIMES_MAX], ids[BENCH_PRIMES_MAX];
  uint32_t threads;
  hx_host host;
  hx_device *device;
  hx_queue *queue;
  hx_ring ring;
  hx_tables *tables;
  hx_prepared *prepared;
  hx_tensor_desc values[BENCH_VALUES_MAX];
  uint32_t inputs[BENCH_VALUES_MAX], outputs[BENCH_VALUES_MAX], input_count, output_count, value_count;
  hx_span spans[BENCH_VALUES_MAX], input_spans[BENCH_VALUES_MAX], output_spans[BENCH_VALUES_MAX], scratch;
};

const char *bench_chain_name(bench_chain_t chain) {
  static const char *const names[] = {"mul+relinearize+rescale fused", "rotate native", "rotate_many 8 native"};
  return names[chain];
}

void bench_ring_fill(bench_ring_t *ring, uint32_t bits) {
  uint64_t q = ((uint64_t)1 << bits) + 1, p = ((uint64_t)1 << 50) + 1;
  for (uint32_t i = 0; i < ring->q_count + ring->p_count; i++) {
    uint64_t *next = i < ring->q_count ? &q : &p;
    bool taken = true;
    while (taken) {
      *next -= (uint64_t)2 << ring->log_n;
      taken = !hxs_is_prime(*next);
      for (uint32_t k = 0; k < i && !taken; k++) {
        taken = ring->primes[k] == *next;
      }
    }
    ring->primes[i] = *next;
  }
}

bench_work_t bench_chain_work(const bench_ring_t *ring, bench_chain_t chain) {
  const double n = (double)((size_t)1 << ring->log_n), row = n * 8;
  const double q = ring->q_count, p = ring->p_count, used = (ring->q_count + ring->digit_run - 1) / ring->digit_run;
  const double raised = used * (q + p) - q;  // rows that conversions give
  const double keys = used * 2 * (q + p) * row;
  double transforms = q + raised, products = 0, bytes = 0;
  for (uint32_t first = 0; first < ring->q_count; first += ring->digit_run) {
    const double left = q - first, size = left < ring->digit_run ? left : ring->digit_run;
    products += size * (q + p - size);
  }
  if (chain == BENCH_FUSED) {  // of the dropped row one transform each way, of a kept one a single one
    transforms += 2 * p + 2 + 2 * (q - 1);
    products += 2 * ((q - 1) * (p + 1) + p);
    bytes = keys + (4 * q + 2 * (q - 1)) * row;
  } else {
    const double count = chain == BENCH_ROTATE ? 1 : STEPS;
    transforms += count * (2 * p + 2 * q);
    products += count * 2 * q * p;
    bytes = count * (keys + 2 * q * row) + 2 * q * row;
  }
  const bench_work_t work = {transforms * n / 2 * ring->log_n, products * n, bytes};
  return work;
}

// ---- host

static const char *option(void *self, const char *name) {
  (void)self;
  return strcmp(name, "cpu-mask") == 0 ? getenv("HELIOX_CPU_MASK") : NULL;
}
static uint32_t threads(void *self) { return ((const bench_region_t *)self)->threads; }
static int32_t cancelled(void *self) {
  (void)self;
  return 0;
}

// ---- values

static hx_error failure(void) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  return error;
}

// A dense value in memory of the plugin, filled with residues.
static bool add_value(bench_region_t *r, uint32_t digits, uint32_t components, uint32_t first, uint32_t limbs) {
  const size_t n = (size_t)1 << r->shape.log_n, rows = (size_t)(digits > 0 ? digits : 1) * components * limbs;
  hx_error error = failure();
  hx_tensor_desc *d = &r->values[r->value_count];
  *d = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                        .dtype = HX_U64,
                        .log_n = r->shape.log_n,
                        .digits = digits,
                        .components = components,
                        .limbs = limbs,
                        .domain = HX_NTT,
                        .basis = digits > 0 ? HX_BASIS_QP : HX_BASIS_Q,
                        .repr = HX_STANDARD,
                        .prime_ids = r->ids + first,
                        .limb_stride = n,
                        .component_stride = n * limbs,
                        .digit_stride = n * limbs * components};
  hx_span *span = &r->spans[r->value_count++];
  if (hx_cpu_memory_ops.alloc(r->device, HX_SPACE_DEVICE, rows * n * 8, &span->buffer, &error) != HX_OK) {
    fprintf(stderr, "bench: %s\n", error.message);
    return false;
  }
  uint64_t *words = hx_cpu_memory_ops.address(span->buffer);
  for (size_t i = 0; i < rows * n; i++) {
    words[i] = i * 0x9e3779b97f4a7c15u % r->shape.primes[first + i / n % limbs];
  }
  return true;
}

typedef struct call_plan {
  hx_op ops[3];
  hx_attr attr;
  int64_t steps[STEPS];
  uint32_t operands[3][STEPS + 1], results[3][STEPS];
  uint32_t op_count;
} call_plan_t;

static void set_op(call_plan_t *plan, const char *name, uint32_t operands, uint32_t results) {
  hx_op *op = &plan->ops[plan->op_count];
  *op = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                .signature = 1,
                .operand_count = operands,
                .result_count = results,
                .name = name,
                .operands = plan->operands[plan->op_count],
                .results = plan->results[plan->op_count]};
  plan->op_count++;
}

// Values 0 to 3: a, b, key, result; 4 and 5 inside.
static bool plan_fused(bench_region_t *r, call_plan_t *plan) {
  const uint32_t q = r->shape.q_count, all = q + r->shape.p_count,
                 digits = (q + r->shape.digit_run - 1) / r->shape.digit_run;
  bool good = add_value(r, 0, 2, 0, q) && add_value(r, 0, 2, 0, q) && add_value(r, digits, 2, 0, all) &&
              add_value(r, 0, 2, 0, q - 1) && add_value(r, 0, 3, 0, q) && add_value(r, 0, 2, 0, q);
  const uint32_t operands[3][2] = {{0, 1}, {4, 2}, {5, 0}}, results[3] = {4, 5, 3};
  static const char *const names[] = {"ckks.mul", "ckks.relinearize", "ckks.rescale"};
  for (uint32_t i = 0; i < 3; i++) {
    memcpy(plan->operands[i], operands[i], sizeof operands[i]);
    plan->results[i][0] = results[i];
    set_op(plan, names[i], i < 2 ? 2 : 1, 1);
  }
  r->input_count = 3;
  r->output_count = 1;
  r->outputs[0] = 3;
  return good;
}

// Value 0, the keys, the results.
static bool plan_rotations(bench_region_t *r, call_plan_t *plan, uint32_t count) {
  const uint32_t q = r->shape.q_count, all = q + r->shape.p_count,
                 digits = (q + r->shape.digit_run - 1) / r->shape.digit_run;
  bool good = add_value(r, 0, 2, 0, q);
  for (uint32_t i = 0; good && i < count; i++) {
    plan->steps[i] = (int64_t)i + 1;
    plan->operands[0][1 + i] = 1 + i;
    good = add_value(r, digits, 2, 0, all);
  }
  for (uint32_t i = 0; good && i < count; i++) {
    r->outputs[i] = plan->results[0][i] = r->value_count;
    good = add_value(r, 0, 2, 0, q);
  }
  plan->attr = (hx_attr){.struct_size = HX_END_OF(hx_attr, data),
                         .kind = HX_ATTR_I64,
                         .count = count,
                         .name = count == 1 ? "step" : "steps",
                         .data = plan->steps};
  set_op(plan, count == 1 ? "ckks.rotate" : "ckks.rotate_many", 1 + count, count);
  plan->ops[0].attr_count = 1;
  plan->ops[0].attrs = &plan->attr;
  r->input_count = 1 + count;
  r->output_count = count;
  return good;
}

static bool prepare(bench_region_t *r, bench_chain_t chain) {
  call_plan_t plan = {.op_count = 0};
  int32_t aliases[BENCH_VALUES_MAX];
  hx_error error = failure();
  if (!(chain == BENCH_FUSED ? plan_fused(r, &plan) : plan_rotations(r, &plan, chain == BENCH_ROTATE ? 1 : STEPS))) {
    return false;
  }
  for (uint32_t i = 0; i < r->input_count; i++) {
    r->inputs[i] = i;
    r->input_spans[i] = r->spans[i];
  }
  for (uint32_t i = 0; i < r->output_count; i++) {
    aliases[i] = -1;
    r->output_spans[i] = r->spans[r->outputs[i]];
  }
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = r->value_count,
                            .op_count = plan.op_count,
                            .input_count = r->input_count,
                            .output_count = r->output_count,
                            .ring = &r->ring,
                            .tables = r->tables,
                            .values = r->values,
                            .ops = plan.ops,
                            .inputs = r->inputs,
                            .outputs = r->outputs};
  hx_plan made = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = r->output_count, .may_alias = aliases};
  if (hx_cpu_prepare(r->device, &region, &made, &r->prepared, &error) != HX_OK ||
      (made.scratch_device > 0 &&
       hx_cpu_memory_ops.alloc(r->device, HX_SPACE_DEVICE, made.scratch_device, &r->scratch.buffer, &error) != HX_OK)) {
    fprintf(stderr, "bench: %s\n", error.message);
    return false;
  }
  return true;
}

bench_region_t *bench_region_open(const bench_ring_t *ring, bench_chain_t chain, uint32_t thread_count) {
  bench_region_t *r = calloc(1, sizeof *r);
  hx_error error = failure();
  if (r == NULL) {
    return NULL;
  }
  r->shape = *ring;
  r->threads = thread_count;
  r->host = (hx_host){.struct_size = HX_END_OF(hx_host, run_region),
                      .abi_major = HX_ABI_MAJOR,
                      .self = r,
                      .option = option,
                      .threads = threads,
                      .cancelled = cancelled};
  hxs_host_set(&r->host, "cpu");
  for (uint32_t i = 0; i < ring->q_count + ring->p_count; i++) {
    hxs_modulus m;
    hxs_modulus_init(&m, ring->primes[i], 64);
    r->psi[i] = hxs_root_of_unity(&m, ring->log_n);
    r->groups[i] = 1;
    r->ids[i] = i;
  }
  r->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                      .log_n = ring->log_n,
                      .word = 64,
                      .q_count = ring->q_count,
                      .p_count = ring->p_count,
                      .digit_run = ring->digit_run,
                      .group_count = ring->q_count,
                      .primes = r->shape.primes,
                      .psi = r->psi,
                      .group_sizes = r->groups};
  if (hx_cpu_device_ops.open(0, &r->device, &error) != HX_OK ||
      hx_cpu_queue_ops.create(r->device, &r->queue, &error) != HX_OK ||
      hx_cpu_device_ops.tables_create(r->device, &r->ring, &r->tables, &error) != HX_OK) {
    fprintf(stderr, "bench: %s\n", error.message);
    bench_region_close(r);
    return NULL;
  }
  if (!prepare(r, chain)) {
    bench_region_close(r);
    return NULL;
  }
  return r;
}

bool bench_region_run(void *region) {
  bench_region_t *r = region;
  hx_error error = failure();
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = r->queue,
                        .scratch_device = r->scratch,
                        .inputs = r->input_spans,
                        .outputs = r->output_spans};
  if (hx_cpu_execute(r->prepared, &call, &error) != HX_OK) {
    fprintf(stderr, "bench: %s\n", error.message);
    return false;
  }
  return true;
}

void bench_region_close(bench_region_t *r) {
  if (r == NULL) {
    return;
  }
  hxs_destroy(r->prepared);
  hx_cpu_memory_ops.free(r->scratch.buffer);
  for (uint32_t i = 0; i < r->value_count; i++) {
    hx_cpu_memory_ops.free(r->spans[i].buffer);
  }
  if (r->tables != NULL) {
    hx_cpu_device_ops.tables_destroy(r->tables);
  }
  if (r->queue != NULL) {
    hx_cpu_queue_ops.destroy(r->queue);
  }
  if (r->device != NULL) {
    hx_cpu_device_ops.close(r->device);
  }
  hxs_host_clear();
  free(r);
}
