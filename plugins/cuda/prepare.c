// SPDX-License-Identifier: Apache-2.0
#include "prepare.h"

#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "graph.h"
#include "heliox/support/chain.h"
#include "step.h"
#include "variant.h"

const hxs_ring *hx_cuda_ring_of(const hx_device *device, const hx_tables *tables) {
  return tables->device == device ? &tables->ring : NULL;
}

int32_t hx_cuda_choose_variant(hxs_build *build, const hx_region *region) {
  hx_prepared *prepared = hx_cuda_whole(build);
  const hxs_prepared *base = &prepared->base;
  const hx_cuda_variant_t *variant = region->variant != NULL
                                         ? hx_cuda_variant_find(region->variant)
                                         : hx_cuda_variant_choose(base->device->arch, base->ring->word, base->log_n);
  if (variant == NULL) {
    return hxs_fail(build->error, HX_UNSUPPORTED, "variant %.32s is unknown; cuda has: %s", region->variant,
                    hx_cuda_variant_names());
  }
  const bool transform = strncmp(base->name, "ntt.", 4) == 0;
  if (region->variant != NULL && variant->radix > 0 && !transform) {
    return hxs_fail(build->error, HX_UNSUPPORTED, "variant %s is of ntt.forward and ntt.inverse alone, not of %s",
                    variant->name, base->name);
  }
  if (variant->word && base->ring->word != 32) {
    return hxs_fail(build->error, HX_UNSUPPORTED,
                    "variant %s is of rings of 32-bit words; %s is of one of %u-bit words", variant->name, base->name,
                    base->ring->word);
  }
  prepared->real = variant->real;
  prepared->tensor = variant->tensor;
  prepared->word = variant->word;
  prepared->radix = transform ? variant->radix : 0;
  return HX_OK;
}

void hx_cuda_release(hx_prepared *prepared) {
  hx_cuda_elements_release(prepared);
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
  if (region->op_count > 1 && hx_cuda_elements_begin(region)) {
    return hx_cuda_elements_prepare(device, region, plan, out, error);
  }
  if (region->op_count > 1) {
    HXS_TRY(hxs_chain_find(region, "cuda", &chain, error));
    op = &chain.op;
  }
  return hxs_prepare_op(&hx_cuda_plugin, device, region, op, plan, out, error);
}

// A region longer than the struct here is a newer host's: what follows the variant is not looked at.
static int32_t prepare_pinned(const char *variant, hx_device *device, const hx_region *region, hx_plan *plan,
                              hx_prepared **out, hx_error *error) {
  HXS_NEED(hx_region, variant, region);
  hx_region pinned = {0};
  memcpy(&pinned, region, HX_END_OF(hx_region, variant));
  pinned.struct_size = HX_END_OF(hx_region, variant);
  if (pinned.variant != NULL && strcmp(pinned.variant, variant) != 0) {
    return hxs_fail(error, HX_UNSUPPORTED, "cuda-%s is one variant; %.32s is asked for", variant, pinned.variant);
  }
  pinned.variant = variant;
  return hx_cuda_prepare(device, &pinned, plan, out, error);
}

#define VARIANT(id_, name_, radix_, path_)                                                                    \
  int32_t hx_cuda_prepare_##id_(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, \
                                hx_error *error) {                                                            \
    return prepare_pinned(name_, device, region, plan, out, error);                                           \
  }
#include "variants.def"

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
  int32_t code = HX_OK;
  if (queue->recording != NULL) {
    code = hx_cuda_graph_note_execute(queue, prepared, call, error);
  } else {
    queue->gate.calls++;
    queue->last_name = base->name;
  }
  code = code == HX_OK ? hx_cuda_steps_run(prepared, call, scratch, error) : code;
  if (code != HX_OK) {
    hxs_gate_poison(&queue->gate, code, "a kernel of the operation could not be launched");
  }
  hx_cuda_queue_leave(queue);
  return code;
}
