// SPDX-License-Identifier: Apache-2.0
// Pictures: a band a depth, a box an operation in its dialect's colour, an edge a use with the value's state at its
// start.
#include <stdio.h>
#include <string.h>

#include "core/compile/emit.h"

void hx_emit_escaped(hx_text_t *out, const char *text) {
  for (const char *c = text; *c != '\0'; ++c) {
    const char *piece = *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : *c == '&' ? "&amp;" : *c == '"' ? "&quot;" : NULL;
    if (piece != NULL) {
      hx_text_puts(out, piece);
    } else if ((unsigned char)*c >= 0x20) {
      hx_text_append(out, (hx_str_t){.data = c, .size = 1});
    }
  }
}

static void write_type(const hx_type_t *type, hx_text_t *out) {
  hx_text_t text;
  hx_text_init(&text);
  if (hx_type_print(type, &text) == HX_STATUS_OK && !text.failed && text.data != NULL) hx_emit_escaped(out, text.data);
  hx_text_deinit(&text);
}

static void write_styles(hx_text_t *out) {
  hx_text_puts(out,
               "<style>text{font:11px sans-serif;fill:#222}.s{font-size:9px;fill:#555}.t{font-weight:600}"
               ".b{font-size:13px;fill:#888}.e{fill:none;stroke:#9aa3ad;stroke-width:1}.r{stroke-dasharray:4 3}");
  size_t count;
  const hx_graph_dialect_t *dialects = hx_graph_dialects(&count);
  for (size_t i = 0; i < count; ++i)
    hx_text_printf(out, ".d%zu{fill:%s;stroke:%s}", i, dialects[i].fill, dialects[i].line);
  hx_text_puts(out, "</style>\n");
}

static void write_bands(const hx_graph_t *graph, hx_text_t *out) {
  for (size_t i = 0; i < graph->band_count; ++i) {
    const hx_graph_band_t *band = &graph->bands[i];
    const double y = HX_GRAPH_MARGIN + band->first_row * HX_GRAPH_ROW_STEP - 24;
    hx_text_printf(out, "<rect x=\"10\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"%s\"/>", y, graph->width - 20,
                   band->row_count * HX_GRAPH_ROW_STEP, i % 2 == 0 ? "#fafbfc" : "#f1f4f7");
    hx_text_printf(out, "<text class=\"b\" x=\"20\" y=\"%.0f\">depth %u</text>\n", y + 20, band->depth);
  }
}

static void write_edge(const hx_graph_t *graph, const hx_graph_edge_t *edge, hx_text_t *out) {
  const hx_graph_node_t *from = &graph->nodes[edge->from], *to = &graph->nodes[edge->to];
  const double x1 = from->x + HX_GRAPH_NODE_WIDTH / 2, y1 = from->y + HX_GRAPH_NODE_HEIGHT;
  const double x2 = to->x + HX_GRAPH_NODE_WIDTH / 2, y2 = to->y;
  const double bend = edge->is_back ? 60 : (y2 - y1) / 2 > 18 ? (y2 - y1) / 2 : 18;
  hx_text_printf(out, "<path class=\"e%s\" data-f=\"%u\" data-t=\"%u\" d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\">",
                 edge->is_back ? " r" : "", edge->from, edge->to, x1, y1, x1, y1 + bend, x2, y2 - bend, x2, y2);
  hx_text_puts(out, "<title>");
  if (edge->value->name.size > 0) {
    hx_text_puts(out, "%");
    hx_text_append(out, edge->value->name);
    hx_text_puts(out, ": ");
  }
  write_type(edge->value->type, out);
  hx_text_puts(out, "</title></path>\n");
}

// Where the operation stands in the text, and all that its results are.
static void write_tooltip(const hx_graph_node_t *node, hx_text_t *out) {
  hx_text_puts(out, "<title>");
  hx_text_puts(out, hx_graph_title(node));
  if (node->op != NULL && node->op->line > 0) hx_text_printf(out, ", line %u", node->op->line);
  if (node->owner != NULL) hx_text_printf(out, ", in %s of line %u", node->owner->info->name, node->owner->line);
  const size_t count = node->op == NULL ? 1 : node->op->result_count;
  for (size_t i = 0; i < count && i < 8; ++i) {
    hx_text_puts(out, "&#10;");
    write_type(node->op == NULL ? node->argument->type : node->op->results[i]->type, out);
  }
  hx_text_puts(out, "</title>");
}

static void write_node(const hx_graph_node_t *node, size_t index, hx_text_t *out) {
  char subtitle[96], state[96] = "";
  hx_graph_subtitle(node, subtitle, sizeof subtitle);
  const hx_ir_value_t *value = node->argument;
  if (node->op != NULL) value = node->op->result_count > 0 ? node->op->results[0] : NULL;
  if (value != NULL) hx_graph_state(value->type, state, sizeof state);
  hx_text_printf(out, "<g class=\"n\" data-i=\"%zu\" transform=\"translate(%.0f %.0f)\">", index, node->x, node->y);
  write_tooltip(node, out);
  hx_text_printf(out, "<rect class=\"d%zu%s\" width=\"%.0f\" height=\"%.0f\" rx=\"5\"/>", hx_graph_dialect_of(node),
                 node->owner != NULL ? " r" : "", HX_GRAPH_NODE_WIDTH, HX_GRAPH_NODE_HEIGHT);
  hx_text_printf(out, "<text class=\"t\" x=\"8\" y=\"14\">%s</text><text x=\"8\" y=\"27\">", hx_graph_title(node));
  if (strlen(subtitle) > 26) snprintf(subtitle + 23, 4, "...");
  hx_emit_escaped(out, subtitle);
  hx_text_puts(out, "</text>");
  if (state[0] != '\0')
    hx_text_printf(out, "<text class=\"s\" x=\"%.0f\" y=\"%.0f\">%s</text>", HX_GRAPH_NODE_WIDTH / 2 + 4,
                   HX_GRAPH_NODE_HEIGHT + 11, state);
  hx_text_puts(out, "</g>\n");
}

// The dialects that occur, with their colours.
static void write_legend(const hx_graph_t *graph, hx_text_t *out) {
  size_t count;
  const hx_graph_dialect_t *dialects = hx_graph_dialects(&count);
  double x = 20;
  for (size_t d = 0; d < count; ++d) {
    bool used = false;
    for (size_t i = 0; i < graph->node_count && !used; ++i) used = hx_graph_dialect_of(&graph->nodes[i]) == d;
    if (!used) continue;
    hx_text_printf(out, "<rect class=\"d%zu\" x=\"%.0f\" y=\"8\" width=\"14\" height=\"14\" rx=\"3\"/>", d, x);
    hx_text_printf(out, "<text x=\"%.0f\" y=\"19\">%s</text>", x + 19, dialects[d].name);
    x += 90;
  }
  hx_text_puts(out, "\n");
}

void hx_emit_svg(const hx_graph_t *graph, bool in_page, hx_text_t *out) {
  hx_text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\"", graph->width,
                 graph->height);
  if (in_page) {
    hx_text_puts(out, " id=\"picture\">\n");
  } else {
    hx_text_printf(out, " width=\"%.0f\" height=\"%.0f\">\n", graph->width, graph->height);
  }
  write_styles(out);
  hx_text_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  write_bands(graph, out);
  for (size_t i = 0; i < graph->edge_count; ++i) write_edge(graph, &graph->edges[i], out);
  for (size_t i = 0; i < graph->node_count; ++i) write_node(&graph->nodes[i], i, out);
  write_legend(graph, out);
  hx_text_puts(out, "</svg>\n");
}
