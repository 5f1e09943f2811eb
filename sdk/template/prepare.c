/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of every implementation. hxs_prepare reads a region, refuses what cannot be, and calls the operation's
 * build function, so that execute has nothing left to check but memory. */
#include <string.h>

#include "plugin.h"

/* ------------------------------------------------------------------ prepare */

const hxs_ring *ring_of(const hx_device *device, const hx_tables *tables) {
  return tables->device == device ? &tables->ring : NULL;
}

/* Before an operation's build function: what this plugin has to say about every region. */
int32_t begin(hxs_build *b, const hx_region *region) {
  if (region->variant != NULL)
    return hxs_refuse(b, HX_UNSUPPORTED, "variant %.64s is asked for, there are none", region->variant);
  return hxs_expect_counts(b, 1, OPERANDS_MAX, 1, 1);
}

int32_t prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error) {
  return hxs_prepare(&plugin, device, region, plan, out, error);
}

hx_prepared *runs(hxs_build *b, run_fn *run, uint32_t scratch_rows) {
  hx_prepared *prepared = (hx_prepared *)(void *)b->prepared; /* whose first member it is */
  prepared->run = run;
  b->prepared->scratch_bytes = (uint64_t)scratch_rows * b->prepared->n * sizeof(uint64_t);
  return prepared;
}

/* ------------------------------------------------------------------ execute */

static int32_t find_operand(void *self, const hxs_view *view, hx_span span, const char *what, hx_error *error) {
  job *j = (job *)self;
  unsigned char **address = view->side[0] == 'r' ? &j->result : &j->operands[view->index];
  return span_address(j->tables->device, span, view->bytes, view->element_bytes, what, address, error);
}

/* Every batch item, every component of the result. */
static int32_t run_all(const hx_prepared *prepared, job *j) {
  const hxs_view *result = &prepared->base.results[0];
  for (j->item = 0; j->item < result->items; ++j->item) {
    for (j->component = 0; j->component < result->components; ++j->component) {
      if (hxs_host_cancelled()) return HX_CANCELLED;
      prepared->run(j);
    }
  }
  return HX_OK;
}

int32_t execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  HXS_NEED(hx_call, outputs, call);
  if (prepared == NULL || call->queue == NULL || call->queue->device != prepared->base.device)
    return hxs_fail(error, HX_INVALID, "execute: the prepared call or its queue is missing, or they differ in device");
  job j;
  unsigned char *scratch = NULL;
  memset(&j, 0, sizeof j);
  j.prepared = prepared;
  j.tables = prepared->base.tables;
  HXS_TRY(hxs_call_spans(&prepared->base, call, find_operand, &j, error));
  HXS_TRY(span_address(prepared->base.device, call->scratch_device, prepared->base.scratch_bytes, sizeof(uint64_t),
                       "device scratch", &scratch, error));
  j.scratch = (uint64_t *)(void *)scratch;
  HXS_TRY(hxs_gate_enter(&call->queue->gate, error));
  const int32_t code = run_all(prepared, &j);
  hxs_gate_leave(&call->queue->gate);
  if (code == HX_CANCELLED)
    return hxs_fail(error, code, "the host asked to stop; the result of this call is not defined");
  return code;
}

/* ------------------------------------------------------------------ rows of a job */

static uint64_t row_offset(const job *j, const hxs_view *view, uint32_t limb) {
  const uint64_t elements = hxs_view_item_offset(view, j->item) + j->component * view->component_stride;
  return (elements + view->limb_offsets[limb]) * view->element_bytes;
}

uint64_t *job_row(const job *j, uint32_t index) { return j->scratch + (size_t)index * j->tables->n; }

uint32_t job_limbs(const job *j) { return j->prepared->base.results[0].limbs; }

const prime *job_prime(const job *j, uint32_t limb) {
  return &j->tables->primes[j->prepared->base.results[0].ids[limb]];
}

const unsigned char *job_bytes(const job *j, uint32_t operand) {
  const hxs_view *view = &j->prepared->base.operands[operand];
  return j->operands[operand] + hxs_view_item_offset(view, j->item) * view->element_bytes;
}

void job_load(const job *j, uint32_t operand, uint32_t limb, uint64_t *row) {
  const hxs_view *view = &j->prepared->base.operands[operand];
  const unsigned char *from = j->operands[operand] + row_offset(j, view, limb);
  for (uint32_t k = 0; k < j->tables->n; ++k) row[k] = hxs_row_load(from, k, view->element_bytes * 8);
}

void job_store(const job *j, uint32_t limb, const uint64_t *row) {
  const hxs_view *view = &j->prepared->base.results[0];
  unsigned char *to = j->result + row_offset(j, view, limb);
  for (uint32_t k = 0; k < j->tables->n; ++k) hxs_row_store(to, k, row[k], view->element_bytes * 8);
}
