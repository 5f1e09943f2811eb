// SPDX-License-Identifier: Apache-2.0
#include "core/compile/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_STEP 190.0
#define BAND_LABEL 70.0
#define SWEEPS 6  // of ordering columns by what a node is joined to

typedef struct builder {
  hx_graph_t *graph;
  uint32_t *node_of;  // by value id: node that gives it
  hx_report_t *report;
  const hx_ir_op_t *owner;
} builder_t;

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to draw a program");
}

// ------------------------------------------------------------------ nodes and edges

static hx_status_t add_node(builder_t *builder, hx_graph_node_t node, uint32_t *out) {
  hx_graph_t *graph = builder->graph;
  if (graph->node_count == HX_GRAPH_NODES_MAX)
    return hx_report_fail(builder->report, HX_CODE_LIMIT, "a picture shows at most %d operations", HX_GRAPH_NODES_MAX);
  if (hx_grow(&graph->nodes, &graph->node_capacity, graph->node_count + 1, sizeof *graph->nodes) != HX_STATUS_OK)
    return no_memory(builder->report);
  *out = (uint32_t)graph->node_count;
  graph->nodes[graph->node_count++] = node;
  return HX_STATUS_OK;
}

static hx_status_t add_edge(builder_t *builder, const hx_ir_value_t *value, uint32_t to, bool is_back) {
  hx_graph_t *graph = builder->graph;
  const uint32_t from = builder->node_of[value->id];
  if (from == HX_NONE || to == HX_NONE) return HX_STATUS_OK;
  if (hx_grow(&graph->edges, &graph->edge_capacity, graph->edge_count + 1, sizeof *graph->edges) != HX_STATUS_OK)
    return no_memory(builder->report);
  graph->edges[graph->edge_count++] = (hx_graph_edge_t){.from = from, .to = to, .value = value, .is_back = is_back};
  return HX_STATUS_OK;
}

static uint32_t depth_of_type(const hx_type_t *type) {
  const bool has_depth =
      (type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT) && (type->known & HX_KNOWN_DEPTH) != 0;
  return has_depth ? type->depth : 0;
}

static uint32_t depth_of(const builder_t *builder, const hx_ir_op_t *op) {
  uint32_t depth = 0;
  for (size_t i = 0; i < op->result_count; ++i) {
    const uint32_t own = depth_of_type(op->results[i]->type);
    depth = own > depth ? own : depth;
  }
  // What has no depth of its own (tensors, numbers, ends) stands with what it reads.
  for (size_t i = 0; depth == 0 && i < op->operand_count; ++i) {
    const uint32_t from = builder->node_of[op->operands[i]->id];
    if (from != HX_NONE && builder->graph->nodes[from].depth > depth) depth = builder->graph->nodes[from].depth;
  }
  return depth;
}

static hx_status_t add_block(builder_t *builder, const hx_ir_block_t *block);

static hx_status_t add_arguments(builder_t *builder, const hx_ir_block_t *block) {
  for (size_t i = 0; i < block->argument_count; ++i) {
    const hx_ir_value_t *argument = block->arguments[i];
    const hx_graph_node_t node = {
        .argument = argument, .owner = builder->owner, .depth = depth_of_type(argument->type)};
    HX_TRY(add_node(builder, node, &builder->node_of[argument->id]));
  }
  return HX_STATUS_OK;
}

// What flows into regions and out of them. The last values of a loop's turn flow back up.
static hx_status_t add_flow(hx_ir_value_t *from, hx_ir_value_t *to, void *argument) {
  builder_t *builder = argument;
  const uint32_t source = builder->node_of[from->id], target = builder->node_of[to->id];
  if (source == target) return HX_STATUS_OK;
  return add_edge(builder, from, target, to->op == NULL && source > target);
}

static hx_status_t add_op(builder_t *builder, const hx_ir_op_t *op) {
  const bool is_func = op->info->id == HX_OP_FUNC;
  const hx_ir_op_t *outer = builder->owner;
  if (op->region_count > 0) {
    builder->owner = is_func ? NULL : op;
    for (size_t i = 0; i < op->region_count; ++i) HX_TRY(add_block(builder, op->regions[i]->block));
    builder->owner = outer;
  }
  if (is_func) return HX_STATUS_OK;
  uint32_t node;
  HX_TRY(add_node(builder, (hx_graph_node_t){.op = op, .owner = outer, .depth = depth_of(builder, op)}, &node));
  for (size_t i = 0; i < op->operand_count; ++i) HX_TRY(add_edge(builder, op->operands[i], node, false));
  for (size_t i = 0; i < op->result_count; ++i) builder->node_of[op->results[i]->id] = node;
  return op->region_count > 0 ? hx_ir_flows(op, add_flow, builder) : HX_STATUS_OK;
}

static hx_status_t add_block(builder_t *builder, const hx_ir_block_t *block) {
  HX_TRY(add_arguments(builder, block));
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) HX_TRY(add_op(builder, op));
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ rows

static int by_depth(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

// Down to just above what reads it first in its band: then a chain of many terms is as wide as a term, not as all.
static hx_status_t sink_rows(hx_graph_t *graph) {
  uint32_t *limits = hx_alloc((graph->node_count + 1) * sizeof *limits);
  if (limits == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < graph->node_count; ++i) limits[i] = HX_NONE;
  bool changed = true;
  for (size_t round = 0; changed && round < graph->node_count; ++round) {
    changed = false;
    for (size_t e = graph->edge_count; e-- > 0;) {
      const hx_graph_edge_t *edge = &graph->edges[e];
      if (edge->is_back || graph->nodes[edge->from].depth != graph->nodes[edge->to].depth) continue;
      const uint32_t to = limits[edge->to] == HX_NONE ? graph->nodes[edge->to].row : limits[edge->to];
      if (limits[edge->from] <= to - 1) continue;  // at least row 1: it reads in its band
      limits[edge->from] = to - 1;
      changed = true;
    }
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    if (limits[i] != HX_NONE) graph->nodes[i].row = limits[i];
  }
  hx_free(limits);
  return HX_STATUS_OK;
}

// A band for every depth that occurs, rows within: below all that a node reads in its band. Edges go forwards in node
// order but for those that go back.
static hx_status_t make_rows(hx_graph_t *graph) {
  uint32_t *depths = hx_zalloc(graph->node_count + 1, sizeof *depths);
  if (depths == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < graph->node_count; ++i) depths[i] = graph->nodes[i].depth;
  qsort(depths, graph->node_count, sizeof *depths, by_depth);
  graph->bands = hx_zalloc(graph->node_count + 1, sizeof *graph->bands);
  for (size_t i = 0; graph->bands != NULL && i < graph->node_count; ++i) {
    if (i == 0 || depths[i] != depths[i - 1]) graph->bands[graph->band_count++].depth = depths[i];
  }
  hx_free(depths);
  if (graph->bands == NULL) return HX_STATUS_OUT_OF_MEMORY;
  // Sorted by target, so one pass is enough: edges were added with their targets, except flows into results.
  bool changed = true;
  for (size_t round = 0; changed && round < graph->node_count; ++round) {
    changed = false;
    for (size_t e = 0; e < graph->edge_count; ++e) {
      const hx_graph_edge_t *edge = &graph->edges[e];
      const hx_graph_node_t *from = &graph->nodes[edge->from];
      hx_graph_node_t *to = &graph->nodes[edge->to];
      if (edge->is_back || from->depth != to->depth || to->row > from->row) continue;
      to->row = from->row + 1;
      changed = true;
    }
  }
  HX_TRY(sink_rows(graph));
  for (size_t b = 0; b < graph->band_count; ++b) {
    hx_graph_band_t *band = &graph->bands[b];
    band->first_row = graph->row_count;
    for (size_t i = 0; i < graph->node_count; ++i) {
      if (graph->nodes[i].depth == band->depth && graph->nodes[i].row + 1 > band->row_count)
        band->row_count = graph->nodes[i].row + 1;
    }
    for (size_t i = 0; i < graph->node_count; ++i) {
      if (graph->nodes[i].depth == band->depth) graph->nodes[i].row += band->first_row;
    }
    graph->row_count += band->row_count;
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ columns

typedef struct wish {
  double place;
  uint32_t node, row;
} wish_t;

static int by_place(const void *left, const void *right) {
  const wish_t *a = left, *b = right;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  if (a->place < b->place) return -1;
  if (a->place > b->place) return 1;
  return (a->node > b->node) - (a->node < b->node);
}

// Columns by rank in the row.
static void set_columns(hx_graph_t *graph, wish_t *wishes) {
  qsort(wishes, graph->node_count, sizeof *wishes, by_place);
  for (size_t i = 0, column = 0; i < graph->node_count; ++i, ++column) {
    if (i > 0 && wishes[i].row != wishes[i - 1].row) column = 0;
    graph->nodes[wishes[i].node].column = (uint32_t)column;
  }
}

// Each node towards the mean place of what it is joined to, above and below in turn.
static hx_status_t make_columns(hx_graph_t *graph) {
  wish_t *wishes = hx_zalloc(graph->node_count + 1, sizeof *wishes);
  double *sums = hx_zalloc(graph->node_count + 1, sizeof *sums);
  uint32_t *counts = hx_zalloc(graph->node_count + 1, sizeof *counts);
  const bool good = wishes != NULL && sums != NULL && counts != NULL;
  for (int sweep = 0; good && sweep <= SWEEPS; ++sweep) {
    for (size_t i = 0; i < graph->node_count; ++i) {
      sums[i] = 0;
      counts[i] = 0;
    }
    for (size_t e = 0; e < graph->edge_count && sweep > 0; ++e) {
      const hx_graph_edge_t *edge = &graph->edges[e];
      const uint32_t moved = sweep % 2 == 1 ? edge->to : edge->from, fixed = sweep % 2 == 1 ? edge->from : edge->to;
      sums[moved] += graph->nodes[fixed].column;
      counts[moved] += 1;
    }
    for (uint32_t i = 0; i < graph->node_count; ++i) {
      const double own = sweep == 0 ? i : graph->nodes[i].column;
      wishes[i] = (wish_t){.node = i, .row = graph->nodes[i].row, .place = counts[i] == 0 ? own : sums[i] / counts[i]};
    }
    set_columns(graph, wishes);
  }
  hx_free(wishes);
  hx_free(sums);
  hx_free(counts);
  return good ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
}

static void make_places(hx_graph_t *graph) {
  uint32_t widest = 0;
  for (size_t i = 0; i < graph->node_count; ++i) {
    if (graph->nodes[i].column + 1 > widest) widest = graph->nodes[i].column + 1;
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    hx_graph_node_t *node = &graph->nodes[i];
    node->x = HX_GRAPH_MARGIN + BAND_LABEL + node->column * COLUMN_STEP;
    node->y = HX_GRAPH_MARGIN + node->row * HX_GRAPH_ROW_STEP;
  }
  graph->width = 2 * HX_GRAPH_MARGIN + BAND_LABEL + widest * COLUMN_STEP;
  graph->height = 2 * HX_GRAPH_MARGIN + graph->row_count * HX_GRAPH_ROW_STEP;
}

hx_status_t hx_graph_create(const hx_program_t *program, hx_graph_t *out, hx_report_t *report) {
  *out = (hx_graph_t){0};
  const size_t count = hx_ir_number(program->module);
  builder_t builder = {.graph = out, .node_of = hx_alloc((count + 1) * sizeof(uint32_t)), .report = report};
  if (builder.node_of == NULL) return no_memory(report);
  for (size_t i = 0; i < count; ++i) builder.node_of[i] = HX_NONE;
  hx_status_t status = add_block(&builder, program->module->regions[0]->block);
  hx_free(builder.node_of);
  if (status == HX_STATUS_OK && (make_rows(out) != HX_STATUS_OK || make_columns(out) != HX_STATUS_OK))
    status = no_memory(report);
  if (status == HX_STATUS_OK) {
    make_places(out);
  } else {
    hx_graph_deinit(out);
  }
  return status;
}

void hx_graph_deinit(hx_graph_t *graph) {
  hx_free(graph->nodes);
  hx_free(graph->edges);
  hx_free(graph->bands);
  *graph = (hx_graph_t){0};
}

// ------------------------------------------------------------------ texts

static const hx_graph_dialect_t dialects[] = {
    {"ckks", "#dbe9ff", "#2f6fd6"},     {"rns", "#e2f5df", "#3f9142"},    {"ntt", "#fdeccf", "#c77b0a"},
    {"material", "#f0e6fa", "#7b4bb3"}, {"scf", "#ffe0e0", "#c43d3d"},    {"arith", "#eeeeee", "#777777"},
    {"func", "#e0f4f4", "#2b8a8a"},     {"fusion", "#fff3b8", "#a58a00"}, {"other", "#f5f5f5", "#555555"}};

const hx_graph_dialect_t *hx_graph_dialects(size_t *out_count) {
  *out_count = HX_COUNT_OF(dialects);
  return dialects;
}

size_t hx_graph_dialect_of(const hx_graph_node_t *node) {
  const char *name = node->op == NULL ? "func.argument" : node->op->info->name;
  for (size_t i = 0; i + 1 < HX_COUNT_OF(dialects); ++i) {
    const size_t size = strlen(dialects[i].name);
    if (strncmp(name, dialects[i].name, size) == 0 && name[size] == '.') return i;
  }
  return HX_COUNT_OF(dialects) - 1;
}

const char *hx_graph_title(const hx_graph_node_t *node) {
  if (node->op != NULL) return node->op->info->name;
  return node->owner == NULL ? "input" : node->owner->info->name;
}

static void append(char *text, size_t size, const char *piece) {
  const size_t used = strlen(text);
  if (used + 1 < size) snprintf(text + used, size - used, "%s", piece);
}

static void append_attr(const hx_named_attr_t *attr, char *text, size_t size) {
  char piece[64];
  const hx_attribute_t *value = &attr->value;
  if (value->kind == HX_ATTRIBUTE_INTEGER) {
    snprintf(piece, sizeof piece, " %.*s %lld", (int)(attr->name.size < 20 ? attr->name.size : 20), attr->name.data,
             (long long)value->integer);
  } else if (value->kind == HX_ATTRIBUTE_TEXT || value->kind == HX_ATTRIBUTE_SYMBOL) {
    snprintf(piece, sizeof piece, " %s%.*s", value->kind == HX_ATTRIBUTE_SYMBOL ? "@" : "",
             (int)(value->text.size < 30 ? value->text.size : 30), value->text.data);
  } else if (value->kind == HX_ATTRIBUTE_FLOAT) {
    snprintf(piece, sizeof piece, " %.4g", value->number);
  } else if (value->kind == HX_ATTRIBUTE_LIST) {
    snprintf(piece, sizeof piece, " %.*s[%zu]", (int)(attr->name.size < 20 ? attr->name.size : 20), attr->name.data,
             value->count);
  } else {
    return;
  }
  append(text, size, piece);
}

void hx_graph_subtitle(const hx_graph_node_t *node, char *text, size_t size) {
  const hx_ir_value_t *value = node->argument;
  if (node->op != NULL) value = node->op->result_count > 0 ? node->op->results[0] : NULL;
  text[0] = '\0';
  if (value != NULL && value->name.size > 0) {
    snprintf(text, size, "%%%.*s", (int)(value->name.size < 24 ? value->name.size : 24), value->name.data);
  } else if (value != NULL) {
    snprintf(text, size, "%%%u", value->id);
  }
  for (size_t i = 0; node->op != NULL && i < node->op->attrs.count; ++i)
    append_attr(&node->op->attrs.items[i], text, size);
}

void hx_graph_state(const hx_type_t *type, char *text, size_t size) {
  char piece[48];
  text[0] = '\0';
  if (type->kind != HX_TYPE_CIPHERTEXT && type->kind != HX_TYPE_PLAINTEXT) {
    if (type->kind == HX_TYPE_TENSOR && (type->known & HX_KNOWN_PRIMES) != 0) {
      snprintf(text, size, "%u rows%s", hx_primes_count(&type->primes),
               (type->known & HX_KNOWN_DOMAIN) != 0 && type->domain == HX_COEFFICIENT ? " coeff" : "");
    }
    return;
  }
  if ((type->known & HX_KNOWN_DEPTH) != 0) {
    snprintf(piece, sizeof piece, "d%u", type->depth);
    append(text, size, piece);
  }
  if ((type->known & HX_KNOWN_SCALE) != 0) {
    // Terms are primes of unknown size here; they are shown by their number.
    snprintf(piece, sizeof piece, " 2^%.1f%s", hx_scale_log2(&type->scale, NULL),
             type->scale.term_count > 0 ? "*q" : "");
    append(text, size, piece);
  }
  if ((type->known & HX_KNOWN_COMPONENTS) != 0 && type->components != 2 && type->kind == HX_TYPE_CIPHERTEXT) {
    snprintf(piece, sizeof piece, " x%u", type->components);
    append(text, size, piece);
  }
  if ((type->known & HX_KNOWN_DOMAIN) != 0 && type->domain == HX_COEFFICIENT) append(text, size, " coeff");
}
