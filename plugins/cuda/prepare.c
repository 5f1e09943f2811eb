// SPDX-License-Identifier: Apache-2.0
#include "prepare.h"

#include <stdlib.h>
#include <string.h>

#include "heliox/support/chain.h"
#include "step.h"

const hxs_ring *hx_cuda_ring_of(const hx_device *device, const hx_tables *tables) {
  return tables->device == device ? &tables->ring : NULL;
}

// "integer" and "real" pin the path of transforms; real leaves integers to primes that are too large for it.
int32_t hx_cuda_choose_variant(hxs_build *build, const hx_region *region) {
  hx_prepared *prepared = hx_cuda_whole(build);
  const char *variant = region->variant;
  prepared->real = prepared->base.device->real;
  if (variant == NULL) {
    return HX_OK;
  }
  if (strcmp(variant, "real") != 0 && strcmp(variant, "integer") != 0) {
    return hxs_fail(build->error, HX_UNSUPPORTED, "variant %.32s is unknown; cuda has integer and real", variant);
  }
  prepared->real = variant[0] == 'r';
  return HX_OK;
}

void hx_cuda_release(hx_prepared *prepared) {
  free(prepared->gathered);
  if (prepared->constants != 0) {
    hx_cuda_device_free(prepared->base.device, prepared->constants);
  }
}

int32_t hx_cuda_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hxs_fail(error, HX_INVALID, "prepare: device or result is missing");
  }
  HXS_TRY(hxs_region_check(&hx_cuda_plugin, device, region, plan, error));
  const hx_op *op = region->ops;
  hxs_chain chain;
  if (region->op_count > 1) {
    HXS_TRY(hxs_chain_find(region, "cuda", &chain, error));
    op = &chain.op;
  }
  return hxs_prepare_op(&hx_cuda_plugin, device, region, op, plan, out, error);
}

// A tensor's span is device memory, aligned to pairs of words.
static int32_t check_span(void *self, const hxs_view *view, hx_span span, const char *what, hx_error *error) {
  uint64_t address = 0;
  return hx_cuda_span_address(self, span, view->bytes, 2 * view->element_bytes, true, what, &address, error);
}

int32_t hx_cuda_execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  HXS_NEED(hx_call, outputs, call);
  if (prepared == NULL || call->queue == NULL) {
    return hxs_fail(error, HX_INVALID, "execute: the prepared operation or the queue is missing");
  }
  const hxs_prepared *base = &prepared->base;
  hx_queue *queue = call->queue;
  if (queue->device != base->device) {
    return hxs_fail(error, HX_INVALID, "execute: the queue is of another device");
  }
  uint64_t scratch = 0;
  HXS_TRY(hxs_call_spans(base, call, check_span, base->device, error));
  if (base->scratch_bytes > 0) {
    HXS_TRY(hx_cuda_span_address(base->device, call->scratch_device, base->scratch_bytes, sizeof(uint64_t), true,
                                 "scratch_device", &scratch, error));
  }
  HXS_TRY(hx_cuda_queue_enter(queue, error));
  queue->gate.calls++;
  queue->last_name = base->name;
  const int32_t code = hx_cuda_steps_run(prepared, call, scratch, error);
  if (code != HX_OK) {
    hxs_gate_poison(&queue->gate, code, "a kernel of the operation could not be launched");
  }
  hx_cuda_queue_leave(queue);
  return code;
}
