// SPDX-License-Identifier: Apache-2.0
// A program as a graph with places: what the picture writers share.
//
// Nodes are operations, inputs of functions and arguments of regions. A node lies in the band of its depth (CKKS depth
// of its result, or of its operands where it has none); within a band below all that it reads there. So depth grows
// downwards and every band is as high as its longest chain.
#ifndef HELIOX_CORE_COMPILE_GRAPH_H
#define HELIOX_CORE_COMPILE_GRAPH_H

#include "core/ir/ir.h"

#define HX_GRAPH_NODES_MAX 20000

typedef struct hx_graph_node {
  const hx_ir_op_t *op;           // NULL: an argument
  const hx_ir_value_t *argument;  // of a function or region
  const hx_ir_op_t *owner;        // innermost control flow around it, or NULL
  uint32_t depth;                 // band
  uint32_t row;                   // of all rows, from 0
  uint32_t column;                // in its row
  double x, y;                    // left upper corner
} hx_graph_node_t;

typedef struct hx_graph_edge {
  uint32_t from, to;           // nodes
  const hx_ir_value_t *value;  // what flows
  bool is_back;                // to the next turn of a loop
} hx_graph_edge_t;

typedef struct hx_graph_band {
  uint32_t depth, first_row, row_count;
} hx_graph_band_t;

typedef struct hx_graph {
  hx_graph_node_t *nodes;
  size_t node_count, node_capacity;
  hx_graph_edge_t *edges;
  size_t edge_count, edge_capacity;
  hx_graph_band_t *bands;
  size_t band_count;
  uint32_t row_count;
  double width, height;
} hx_graph_t;

#define HX_GRAPH_MARGIN 60.0
#define HX_GRAPH_ROW_STEP 74.0
#define HX_GRAPH_NODE_WIDTH 150.0
#define HX_GRAPH_NODE_HEIGHT 34.0

// Graph of all functions of a program. Refused (limit): too many operations.
hx_status_t hx_graph_create(const hx_program_t *program, hx_graph_t *out, hx_report_t *report);
void hx_graph_deinit(hx_graph_t *graph);

// Index of an operation's dialect: ckks, rns, ntt, material, scf, arith, others; its name and colour.
typedef struct hx_graph_dialect {
  const char *name, *fill, *line;
} hx_graph_dialect_t;
const hx_graph_dialect_t *hx_graph_dialects(size_t *out_count);
size_t hx_graph_dialect_of(const hx_graph_node_t *node);

// "ckks.rotate", or the role of an argument.
const char *hx_graph_title(const hx_graph_node_t *node);
// "%x, step 3": the first result's name and what tells operations of one kind apart; at most `size` bytes.
void hx_graph_subtitle(const hx_graph_node_t *node, char *text, size_t size);
// "d2 2^40.0 x3": depth, scale, components, coefficient domain, as far as known; "" for values without state.
void hx_graph_state(const hx_type_t *type, char *text, size_t size);

#endif
