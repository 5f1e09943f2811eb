// SPDX-License-Identifier: Apache-2.0
// Graphviz: one cluster a depth.
#include "core/compile/emit.h"

static void write_node(const hx_graph_node_t *node, size_t index, hx_text_t *out) {
  char subtitle[96];
  size_t count;
  const hx_graph_dialect_t *dialect = &hx_graph_dialects(&count)[hx_graph_dialect_of(node)];
  hx_graph_subtitle(node, subtitle, sizeof subtitle);
  hx_text_printf(out, "    n%zu [label=", index);
  hx_text_t label;
  hx_text_init(&label);
  hx_text_printf(&label, "%s\n%s", hx_graph_title(node), subtitle);
  hx_text_json(out, (hx_str_t){.data = label.data == NULL ? "" : label.data, .size = label.size});  // dot's quotes too
  out->failed = out->failed || label.failed;
  hx_text_deinit(&label);
  hx_text_printf(out, ", fillcolor=\"%s\", color=\"%s\"%s];\n", dialect->fill, dialect->line,
                 node->owner != NULL ? ", style=\"filled,rounded,dashed\"" : "");
}

void hx_emit_dot(const hx_graph_t *graph, hx_text_t *out) {
  hx_text_puts(out,
               "digraph program {\n  rankdir=TB;\n  node [shape=box, style=\"filled,rounded\", "
               "fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8, "
               "color=\"#9aa3ad\"];\n");
  for (size_t b = 0; b < graph->band_count; ++b) {
    hx_text_printf(out, "  subgraph cluster_%u {\n    label=\"depth %u\";\n    color=\"#cccccc\";\n",
                   graph->bands[b].depth, graph->bands[b].depth);
    for (size_t i = 0; i < graph->node_count; ++i) {
      if (graph->nodes[i].depth == graph->bands[b].depth) write_node(&graph->nodes[i], i, out);
    }
    hx_text_puts(out, "  }\n");
  }
  for (size_t e = 0; e < graph->edge_count; ++e) {
    const hx_graph_edge_t *edge = &graph->edges[e];
    char state[96];
    hx_graph_state(edge->value->type, state, sizeof state);
    hx_text_printf(out, "  n%u -> n%u [label=\"%s\"%s];\n", edge->from, edge->to, state,
                   edge->is_back ? ", style=dashed, constraint=false" : "");
  }
  hx_text_puts(out, "}\n");
}
