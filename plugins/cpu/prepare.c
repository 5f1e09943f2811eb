// SPDX-License-Identifier: Apache-2.0
#include "prepare.h"

#include <string.h>

#include "device.h"
#include "elements.h"
#include "heliox/support/chain.h"
#include "ops.h"
#include "run.h"
#include "tables.h"

const hxs_ring *hx_cpu_ring_of(const hx_device *device, const hx_tables *tables) {
  return tables->device == device ? &tables->ring : NULL;
}

// The library's object is the first member of the plugin's.
static hx_prepared *whole(hxs_prepared *base) { return (hx_prepared *)(void *)base; }

int32_t hx_cpu_choose_kernels(hxs_build *build, const hx_region *region) {
  return hx_cpu_kernels_select(build->prepared->device->mask, region->variant, build->ring->word, build->ring->bits,
                               &whole(build->prepared)->kernels, build->error);
}

void hx_cpu_set_run(const hxs_build *build, hx_cpu_run_fn *run) { whole(build->prepared)->run = run; }

static int32_t run_rows(hx_cpu_run_t *run) {
  const hx_prepared *prepared = (const hx_prepared *)(const void *)run->prepared;
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, prepared->row_cost, prepared->row);
}

void hx_cpu_set_rows(const hxs_build *build, hx_cpu_row_fn *row, uint64_t row_cost) {
  hx_prepared *prepared = whole(build->prepared);
  prepared->run = run_rows;
  prepared->row = row;
  prepared->row_cost = row_cost;
}

int32_t hx_cpu_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error) {
  if (region != NULL && region->op_count > 1) {
    hxs_chain chain;
    HXS_TRY(hxs_region_check(&hx_cpu_plugin, device, region, plan, error));
    if (strncmp(region->ops->name, "rns.", 4) == 0) {
      return hx_cpu_elements_prepare(device, region, plan, out, error);
    }
    HXS_TRY(hxs_chain_find(region, "cpu", &chain, error));
    return hxs_prepare_op(&hx_cpu_plugin, device, region, &chain.op, plan, out, error);
  }
  return hxs_prepare(&hx_cpu_plugin, device, region, plan, out, error);
}

static int32_t check_span(void *self, const hxs_view *view, hx_span span, const char *what, hx_error *error) {
  void *address = NULL;
  return hx_cpu_span_address(self, span, view->bytes, view->element_bytes, what, &address, error);
}

int32_t hx_cpu_execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  HXS_NEED(hx_call, outputs, call);
  if (prepared == NULL || call->queue == NULL) {
    return hxs_fail(error, HX_INVALID, "execute: the prepared operation or the queue is missing");
  }
  const hxs_prepared *base = &prepared->base;
  hx_queue *queue = call->queue;
  if (queue->device != base->device) {
    return hxs_fail(error, HX_INVALID, "execute: the queue is of another device");
  }
  void *scratch = NULL;
  HXS_TRY(hxs_call_spans(base, call, check_span, base->device, error));
  if (base->scratch_bytes > 0) {
    HXS_TRY(hx_cpu_span_address(base->device, call->scratch_device, base->scratch_bytes, sizeof(uint64_t),
                                "scratch_device", &scratch, error));
  }
  HXS_TRY(hxs_gate_enter(&queue->gate, error));
  queue->gate.calls++;
  hx_cpu_run_t run = {.prepared = base,
                      .kernels = &prepared->kernels,
                      .primes = base->tables->primes,
                      .call = call,
                      .scratch = scratch};
  int32_t code = prepared->run(&run);
  if (code == HX_CANCELLED) {
    hxs_fail(error, code, "the host cancelled; the results of this call are not defined");
  } else if (code != HX_OK) {
    hxs_fail(error, code, "the operation failed while it ran");
    hxs_gate_poison(&queue->gate, code, "the operation failed while it ran");
  }
  hxs_gate_leave(&queue->gate);
  return code;
}
