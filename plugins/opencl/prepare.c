// SPDX-License-Identifier: Apache-2.0
// hx_impl: a region becomes a list of launches, once; running it is checking memory and launching.
#include <stdlib.h>
#include <string.h>

#include "heliox/support/chain.h"
#include "heliox/support/host.h"
#include "ops.h"
#include "step.h"

// "integer" and "real" pin the path; real leaves integers to primes that are too large for it.
int32_t hx_opencl_begin(hxs_build *build, const hx_region *region) {
  hx_prepared *prepared = hx_opencl_prepared(build);
  const hx_device *device = prepared->base.device;
  const char *variant = region->variant;
  if (variant == NULL) {
    prepared->real = atomic_load(&device->real);
    return HX_OK;
  }
  if (strcmp(variant, "real") != 0 && strcmp(variant, "integer") != 0) {
    return hxs_fail(build->error, HX_UNSUPPORTED, "variant %.32s is unknown; opencl has integer and real", variant);
  }
  prepared->real = variant[0] == 'r';
  if (prepared->real && !device->facts.real) {
    return hxs_fail(build->error, HX_UNSUPPORTED,
                    "variant real needs fused multiply-add in double precision, which "
                    "%.48s has not",
                    device->facts.name);
  }
  return HX_OK;
}

void hx_opencl_release(hx_prepared *prepared) {
  free(prepared->gathered);
  if (prepared->constants != NULL) {
    prepared->base.device->cl->clReleaseMemObject(prepared->constants);
  }
}

int32_t hx_opencl_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out,
                          hx_error *error) {
  hxs_chain chain;
  if (region == NULL || region->struct_size < HX_END_OF(hx_region, variant) || region->op_count <= 1) {
    return hxs_prepare(&hx_opencl_plugin, device, region, plan, out, error);
  }
  HXS_TRY(hxs_region_check(&hx_opencl_plugin, device, region, plan, error));
  HXS_TRY(hxs_chain_find(region, "opencl", &chain, error));
  return hxs_prepare_op(&hx_opencl_plugin, device, region, &chain.op, plan, out, error);
}

static int32_t check_span(void *self, const hxs_view *view, hx_span span, const char *what, hx_error *error) {
  return hx_opencl_span_check(self, span, view->bytes, view->element_bytes, true, what, error);
}

int32_t hx_opencl_execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  HXS_NEED(hx_call, outputs, call);
  if (prepared == NULL || call->queue == NULL) {
    return hxs_fail(error, HX_INVALID, "execute: the prepared operation or the queue is missing");
  }
  hx_device *device = prepared->base.device;
  hx_queue *queue = call->queue;
  if (queue->device != device) {
    return hxs_fail(error, HX_INVALID, "execute: the queue is of another device");
  }
  HXS_TRY(hxs_call_spans(&prepared->base, call, check_span, device, error));
  if (prepared->base.scratch_bytes > 0) {
    HXS_TRY(hx_opencl_span_check(device, call->scratch_device, prepared->base.scratch_bytes, sizeof(uint64_t), true,
                                 "scratch_device", error));
  }
  HXS_TRY(hx_opencl_device_usable(device, error));
  HXS_TRY(hxs_gate_enter(&queue->gate, error));
  int32_t code = HX_OK;
  if (hxs_host_cancelled()) {
    code = hxs_fail(error, HX_CANCELLED, "%s: the host cancelled before the operation began", prepared->base.name);
  } else {
    queue->gate.calls++;
    queue->last_name = prepared->base.name;
    code = hx_opencl_steps_run(prepared, call, error);
    if (code != HX_OK) {
      hxs_gate_poison(&queue->gate, code, "a kernel of the operation could not be launched");
    }
  }
  hxs_gate_leave(&queue->gate);
  return code;
}
