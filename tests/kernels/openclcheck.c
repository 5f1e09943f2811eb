// SPDX-License-Identifier: Apache-2.0
#include "openclcheck.h"

#include "heliox/support/number.h"
#include "heliox/support/prepare.h"
#include "step.h"

#ifndef HELIOX_BUILD_DIR
#define HELIOX_BUILD_DIR "/tmp"
#endif

oc_host_t oc_host;

static const char *host_option(void *self, const char *name) {
  const oc_host_t *host = self;
  if (strcmp(name, "opencl-cache") == 0) {
    return host->cache;
  }
  if (strcmp(name, "opencl-path") == 0) {
    return host->path;
  }
  return strcmp(name, "opencl-memory") == 0 ? host->memory : strcmp(name, "opencl-queue") == 0 ? host->queue : NULL;
}

static void host_log(void *self, int32_t level, const char *area, const char *text) {
  oc_host_t *host = self;
  const size_t at = strlen(host->log);
  assert_string_equal(area, "opencl");
  snprintf(host->log + at, sizeof host->log - at, "%d %s\n", level, text);
}

static int32_t host_cancelled(void *self) { return ((const oc_host_t *)self)->cancelled; }

void oc_reset(void) {
  static const hx_host host = {.struct_size = HX_END_OF(hx_host, cancelled),
                               .abi_major = HX_ABI_MAJOR,
                               .self = &oc_host,
                               .log = host_log,
                               .option = host_option,
                               .cancelled = host_cancelled};
  memset(&oc_host, 0, sizeof oc_host);
  oc_host.cache = HELIOX_BUILD_DIR "/cache/heliox/opencl";
  hxs_host_set(&host, "opencl");
}

void oc_require_device(void) {
  hx_error error = oc_error();
  oc_reset();
  if (hx_opencl_device_ops.count(&error) == 0) {
    print_message("no OpenCL device: %s\n", error.message);
    skip();
  }
}

hx_device *oc_open(void) {
  hx_device *device = NULL;
  hx_error error = oc_error();
  oc_require_device();
  if (hx_opencl_device_ops.open(0, &device, &error) != HX_OK) {
    fail_msg("open: %s", error.message);
  }
  return device;
}

void oc_ring(uint32_t log_n, oc_ring_t *out) {
  static const uint32_t bits[3] = {60, 45, 50};
  const uint64_t order = (uint64_t)2 << log_n;
  memset(out, 0, sizeof *out);
  for (uint32_t id = 0; id < 3; id++) {
    uint64_t q = (((uint64_t)1 << bits[id]) - 1) / order * order + 1;
    while (q >> bits[id] != 0 || !hxs_is_prime(q)) {
      q -= order;
    }
    hxs_modulus m;
    hxs_modulus_init(&m, q, 64);
    out->primes[id] = q;
    for (uint64_t x = 2; out->psi[id] == 0 || hxs_pow_mod(&m, out->psi[id], order / 2) != q - 1; x++) {
      out->psi[id] = hxs_pow_mod(&m, x, (q - 1) / order);
    }
  }
  out->groups[0] = out->groups[1] = 1;
  out->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                        .log_n = log_n,
                        .word = 64,
                        .q_count = 2,
                        .p_count = 1,
                        .digit_run = 1,
                        .group_count = 2,
                        .primes = out->primes,
                        .psi = out->psi,
                        .group_sizes = out->groups};
}

void oc_transform_open(hx_device *device, uint32_t log_n, uint32_t space, oc_transform_t *out) {
  oc_ring_t ring;
  hx_error error = oc_error();
  const uint32_t ids[3] = {0, 1, 2}, first = 0, second = 1;
  const uint64_t n = (uint64_t)1 << log_n;
  oc_ring(log_n, &ring);
  *out = (oc_transform_t){.device = device, .bytes = 3 * n * sizeof(uint64_t)};
  if (hx_opencl_device_ops.tables_create(device, &ring.ring, &out->tables, &error) != HX_OK) {
    fail_msg("tables: %s", error.message);
  }
  hx_tensor_desc values[2];
  for (uint32_t i = 0; i < 2; i++) {
    values[i] = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                                 .dtype = HX_U64,
                                 .log_n = log_n,
                                 .components = 1,
                                 .limbs = 3,
                                 .domain = i == 0 ? HX_COEFFICIENT : HX_NTT,
                                 .basis = HX_BASIS_QP,
                                 .repr = HX_STANDARD,
                                 .component_stride = 3 * n,
                                 .limb_stride = n,
                                 .prime_ids = ids};
    if (hx_opencl_memory_ops.alloc(device, space, out->bytes, &out->buffers[i], &error) != HX_OK) {
      fail_msg("memory: %s", error.message);
    }
  }
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .operand_count = 1,
                    .result_count = 1,
                    .name = "ntt.forward",
                    .operands = &first,
                    .results = &second};
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = 2,
                            .op_count = 1,
                            .input_count = 1,
                            .output_count = 1,
                            .ring = &ring.ring,
                            .tables = out->tables,
                            .values = values,
                            .ops = &op,
                            .inputs = &first,
                            .outputs = &second};
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  if (hx_opencl_prepare(device, &region, &plan, &out->prepared, &error) != HX_OK) {
    fail_msg("prepare: %s", error.message);
  }
}

int32_t oc_transform_run(oc_transform_t *t, hx_queue *queue, hx_error *error) {
  const hx_span spans[2] = {{t->buffers[0], 0}, {t->buffers[1], 0}};
  const hx_call call = {
      .struct_size = HX_END_OF(hx_call, outputs), .queue = queue, .inputs = spans, .outputs = spans + 1};
  return hx_opencl_execute(t->prepared, &call, error);
}

void oc_transform_close(oc_transform_t *t) {
  hxs_destroy(t->prepared);
  hx_opencl_memory_ops.free(t->buffers[0]);
  hx_opencl_memory_ops.free(t->buffers[1]);
  hx_opencl_device_ops.tables_destroy(t->tables);
}
