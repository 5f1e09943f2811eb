// SPDX-License-Identifier: Apache-2.0
#include "graph_list.h"

#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"
#include "prepare.h"

static int32_t grow(void *items_pointer, uint32_t *room, uint32_t wanted, size_t each, hx_error *error) {
  void *items = NULL;
  memcpy(&items, items_pointer, sizeof items);
  if (wanted <= *room) {
    return HX_OK;
  }
  const uint32_t larger = wanted > UINT32_MAX / 2 ? UINT32_MAX : wanted * 2;
  void *more = realloc(items, larger * each);
  if (more == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to record %u launches and copies", wanted);
  }
  memcpy(items_pointer, &more, sizeof more);
  *room = larger;
  return HX_OK;
}

static hx_cuda_place_t place_of(hx_span span) {
  return (hx_cuda_place_t){span.buffer, span.offset, span.buffer->address + span.offset, 0, false};
}

// shares: as of hx_cuda_work_t.
static int32_t add_piece(hx_graph *graph, uint64_t scratch_bytes, uint32_t shares, hx_error *error) {
  HXS_TRY(grow(&graph->pieces, &graph->piece_room, graph->piece_count + 1, sizeof *graph->pieces, error));
  HXS_TRY(grow(&graph->works, &graph->work_room, graph->piece_count + 1, sizeof *graph->works, error));
  graph->works[graph->piece_count] = (hx_cuda_work_t){.first_range = graph->range_count, .shares = shares};
  graph->pieces[graph->piece_count++] =
      (hx_cuda_piece_t){.first_entry = graph->entry_count, .scratch_bytes = scratch_bytes};
  return HX_OK;
}

// Of the last piece.
static int32_t add_range(hx_graph *graph, hx_span span, uint64_t bytes, bool is_written, hx_error *error) {
  HXS_TRY(grow(&graph->ranges, &graph->range_room, graph->range_count + 1, sizeof *graph->ranges, error));
  HXS_TRY(grow(&graph->origins, &graph->origin_room, graph->range_count + 1, sizeof *graph->origins, error));
  const hx_cuda_place_t place = place_of(span);
  graph->origins[graph->range_count] = place;
  graph->ranges[graph->range_count++] = (hx_cuda_range_t){place.address, place.address + bytes, is_written, false};
  graph->works[graph->piece_count - 1].range_count++;
  return HX_OK;
}

// Of the last piece: bytes [first, end) of scratch memory, wherever that is.
static int32_t add_scratch(hx_graph *graph, uint64_t first, uint64_t end, bool is_written, hx_error *error) {
  HXS_TRY(grow(&graph->ranges, &graph->range_room, graph->range_count + 1, sizeof *graph->ranges, error));
  HXS_TRY(grow(&graph->origins, &graph->origin_room, graph->range_count + 1, sizeof *graph->origins, error));
  graph->origins[graph->range_count] = (hx_cuda_place_t){.buffer = NULL};
  graph->ranges[graph->range_count++] = (hx_cuda_range_t){first, end, is_written, true};
  graph->works[graph->piece_count - 1].range_count++;
  return HX_OK;
}

static int32_t add_entry(hx_graph *graph, const hx_cuda_entry_t *entry, const hx_cuda_place_t *places, uint32_t count,
                         hx_error *error) {
  HXS_TRY(grow(&graph->entries, &graph->entry_room, graph->entry_count + 1, sizeof *graph->entries, error));
  HXS_TRY(grow(&graph->places, &graph->place_room, graph->place_count + count, sizeof *graph->places, error));
  hx_cuda_entry_t *kept = &graph->entries[graph->entry_count++];
  *kept = *entry;
  kept->first_place = graph->place_count;
  kept->place_count = count;
  if (count > 0) {
    memcpy(graph->places + graph->place_count, places, count * sizeof *places);
  }
  graph->place_count += count;
  graph->pieces[graph->piece_count - 1].entry_count++;
  return HX_OK;
}

static int32_t note_span(void *self, const hxs_view *view, hx_span span, const char *what, hx_error *error) {
  (void)what;
  return add_range(self, span, view->bytes, view->side[0] == 'r', error);
}

int32_t hx_cuda_graph_note_execute(hx_queue *queue, const hx_prepared *prepared, const hx_call *call, hx_error *error) {
  hx_graph *graph = queue->recording;
  const uint64_t bytes = prepared->base.scratch_bytes;
  HXS_TRY(add_piece(graph, bytes, 0, error));
  graph->executes++;
  graph->last_name = prepared->base.name;
  graph->whole = graph->piece_count;
  // With parts: the results of parts are theirs, but to write them is to follow whatever used their memory before.
  HXS_TRY(bytes > 0 ? add_scratch(graph, 0, bytes, true, error) : HX_OK);
  return hxs_call_spans(&prepared->base, call, note_span, graph, error);
}

int32_t hx_cuda_graph_note_part(hx_queue *queue, const hx_prepared *prepared, const hx_call *call, uint32_t part,
                                hx_error *error) {
  hx_graph *graph = queue->recording;
  const hx_cuda_part_t *p = &prepared->parts[part];
  const hxs_view *result = &prepared->base.results[p->result];
  HXS_TRY(add_piece(graph, 0, graph->whole, error));
  HXS_TRY(add_scratch(graph, 0, prepared->parts[0].scratch_first, false, error));
  HXS_TRY(add_scratch(graph, p->scratch_first, p->scratch_end, true, error));
  for (uint32_t i = 0; i < prepared->base.operand_count; i++) {
    const hxs_view *operand = &prepared->base.operands[i];
    HXS_TRY(add_range(graph, call->inputs[operand->slot], operand->bytes, false, error));
  }
  return add_range(graph, call->outputs[result->slot], result->bytes, true, error);
}

int32_t hx_cuda_graph_note_launch(hx_queue *queue, const hx_cuda_launch_t *launch, void *function,
                                  const hx_cuda_args_t *args, const hx_cuda_place_t *places, uint32_t place_count,
                                  hx_error *error) {
  const hx_cuda_entry_t entry = {.kind = HX_CUDA_LAUNCH,
                                 .function = function,
                                 .blocks = launch->grid[0],
                                 .threads = launch->block[0],
                                 .shared = launch->shared,
                                 .args = *args};
  return add_entry(queue->recording, &entry, places, place_count, error);
}

int32_t hx_cuda_graph_note_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  const hx_cuda_place_t places[] = {place_of(to), place_of(from)};
  HXS_TRY(add_piece(queue->recording, 0, 0, error));
  HXS_TRY(add_range(queue->recording, from, bytes, false, error));
  HXS_TRY(add_range(queue->recording, to, bytes, true, error));
  return add_entry(queue->recording, &(hx_cuda_entry_t){.kind = HX_CUDA_COPY, .bytes = bytes}, places, 2, error);
}

int32_t hx_cuda_graph_note_fill(hx_queue *queue, hx_span to, uint8_t value, uint64_t bytes, hx_error *error) {
  const hx_cuda_place_t place = place_of(to);
  HXS_TRY(add_piece(queue->recording, 0, 0, error));
  HXS_TRY(add_range(queue->recording, to, bytes, true, error));
  return add_entry(queue->recording, &(hx_cuda_entry_t){.kind = HX_CUDA_FILL, .value = value, .bytes = bytes}, &place,
                   1, error);
}

void hx_cuda_graph_forget(hx_graph *graph) {
  free(graph->entries);
  free(graph->places);
  free(graph->pieces);
  free(graph->works);
  free(graph->turns);
  free(graph->ranges);
  free(graph->origins);
  free(graph);
}
