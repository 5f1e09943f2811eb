// SPDX-License-Identifier: Apache-2.0
// What a program needs to run under given parameters: keys and depth.
#include <stdlib.h>

#include "core/ckks/transition.h"
#include "core/passes/keys.h"

struct hx_needs {
  hx_program_needs_t found;
  uint64_t *elements;
  int64_t *steps;
};

typedef struct hx_search {
  const hx_program_t *program;
  const hx_ring *ring;
  hx_report_t *report;
  hx_status_t first;
  hx_key_needs_t needs;
  uint32_t depth;
} hx_search_t;

static void note_depth(hx_search_t *search, const hx_type_t *type) {
  if ((type->known & HX_KNOWN_DEPTH) != 0 && type->depth > search->depth) search->depth = type->depth;
}

// A key that the program refers to itself.
static hx_status_t add_reference(hx_search_t *search, const hx_type_t *type) {
  hx_key_need_t need;
  if (!hx_key_need_of_type(type, search->ring, &need)) return HX_STATUS_OK;
  HX_TRY(hx_grow(&search->needs.items, &search->needs.capacity, search->needs.count + 1, sizeof need));
  search->needs.items[search->needs.count++] = need;
  return HX_STATUS_OK;
}

static hx_status_t search_op(hx_ir_op_t *op, void *argument) {
  hx_search_t *search = argument;
  for (size_t i = 0; i < op->result_count; ++i) note_depth(search, op->results[i]->type);
  for (size_t i = 0; i < op->region_count; ++i) {
    const hx_ir_block_t *block = op->regions[i]->block;
    for (size_t j = 0; j < block->argument_count; ++j) note_depth(search, block->arguments[j]->type);
  }
  if (op->info->id == HX_OP_MATERIAL_REF && op->results[0]->type->kind == HX_TYPE_KEY)
    return add_reference(search, op->results[0]->type);
  if (hx_op_first_key(op) < op->operand_count) return HX_STATUS_OK;  // its keys are referred to
  const hx_status_t status = hx_op_key_needs(search->program, op, search->ring, &search->needs, search->report);
  if (status != HX_STATUS_OK && search->first == HX_STATUS_OK) search->first = status;
  return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
}

static int by_element(const void *left, const void *right) {
  const uint64_t a = ((const hx_key_need_t *)left)->element, b = ((const hx_key_need_t *)right)->element;
  return (a > b) - (a < b);
}

static hx_status_t fill(hx_needs_t *needs, hx_search_t *search) {
  const size_t count = search->needs.count;
  needs->elements = hx_zalloc(count + 1, sizeof *needs->elements);
  needs->steps = hx_zalloc(count + 1, sizeof *needs->steps);
  if (needs->elements == NULL || needs->steps == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (count > 1) qsort(search->needs.items, count, sizeof *search->needs.items, by_element);
  hx_program_needs_t *found = &needs->found;
  for (size_t i = 0; i < count; ++i) {
    const hx_key_need_t *need = &search->needs.items[i];
    if (need->kind == HX_KEY_RELIN) found->parts |= HX_KEYS_RELIN;
    if (need->kind == HX_KEY_CONJ) found->parts |= HX_KEYS_CONJ;
    if (need->kind != HX_KEY_GALOIS) continue;
    found->parts |= HX_KEYS_GALOIS;
    if (found->element_count > 0 && needs->elements[found->element_count - 1] == need->element) continue;
    needs->elements[found->element_count] = need->element;
    needs->steps[found->element_count++] = (int64_t)need->step;
  }
  found->elements = needs->elements;
  found->steps = needs->steps;
  found->depth = search->depth;
  // A step below the slots of a sparse packing is the same step with all of them.
  found->slots = (uint32_t)1 << (search->ring->log_n - 1);
  return HX_STATUS_OK;
}

static hx_status_t search_program(hx_program_t *clone, hx_search_t *search, hx_needs_t *needs) {
  search->program = clone;
  HX_TRY(hx_program_infer(clone, search->ring, search->report));
  HX_TRY(hx_ir_walk(clone->module, search_op, search));
  return search->first == HX_STATUS_OK ? fill(needs, search) : search->first;
}

hx_status_t hx_program_needs(const hx_program_t *program, const hx_params_t *params, hx_needs_t **out,
                             hx_report_t *report) {
  hx_search_t search = {.ring = hx_params_ring(params), .report = report};
  hx_needs_t *needs = hx_zalloc(1, sizeof *needs);
  hx_program_t *clone = NULL;
  hx_status_t status = needs == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_program_clone(program, &clone);
  if (status == HX_STATUS_OK) status = search_program(clone, &search, needs);
  hx_program_release(clone);
  hx_free(search.needs.items);
  if (status == HX_STATUS_OUT_OF_MEMORY)
    (void)hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "memory is exhausted while finding what %s needs",
                         program->source);
  if (status == HX_STATUS_OK) {
    *out = needs;
  } else {
    hx_needs_release(needs);
  }
  return status;
}

const hx_program_needs_t *hx_needs_get(const hx_needs_t *needs) { return &needs->found; }

void hx_needs_release(hx_needs_t *needs) {
  if (needs == NULL) return;
  hx_free(needs->elements);
  hx_free(needs->steps);
  hx_free(needs);
}
