// SPDX-License-Identifier: Apache-2.0
// A page around the picture: drag and wheel move it, a search marks operations, a click shows what one reads and who
// reads it. It loads nothing.
#include "core/compile/emit.h"

static const char style[] =
    "html,body{margin:0;height:100%;font:13px sans-serif;color:#222}\n"
    "#bar{position:fixed;top:0;left:0;right:0;height:40px;display:flex;gap:12px;align-items:center;padding:0 12px;"
    "background:#fff;border-bottom:1px solid #ddd;z-index:1}\n"
    "#bar b{font-size:14px}#bar input{padding:4px 8px;width:240px}#count{color:#666}\n"
    "#stage{position:fixed;top:41px;left:0;right:0;bottom:0;overflow:hidden;cursor:grab}\n"
    "#picture{width:100%;height:100%}\n"
    "#facts{position:fixed;right:12px;bottom:12px;max-width:46%;max-height:40%;overflow:auto;background:#fffffff2;"
    "border:1px solid #ccc;border-radius:6px;padding:8px 12px;white-space:pre-wrap;display:none;font:12px monospace}\n"
    ".n{cursor:pointer}.faded .n{opacity:.18}.faded .e{opacity:.08}\n"
    ".faded .n.on{opacity:1}.faded .e.on{opacity:1;stroke:#d2401f;stroke-width:2}.n.hit rect{stroke-width:3}\n";

static const char script[] =
    "const svg=document.getElementById('picture'),stage=document.getElementById('stage');\n"
    "const nodes=[...svg.querySelectorAll('.n')],edges=[...svg.querySelectorAll('.e')];\n"
    "const facts=document.getElementById('facts'),count=document.getElementById('count');\n"
    "let box=svg.viewBox.baseVal,drag=null;\n"
    "const aspect=stage.clientHeight/stage.clientWidth;\n"
    "if(box.height>box.width*aspect*1.5){box.height=box.width*aspect}\n"
    "if(box.width>4000){box.width=4000;box.height=4000*aspect}\n"
    "stage.addEventListener('wheel',e=>{e.preventDefault();const k=e.deltaY>0?1.15:1/1.15;\n"
    " const r=svg.getBoundingClientRect(),px=box.x+(e.clientX-r.left)/r.width*box.width,\n"
    " py=box.y+(e.clientY-r.top)/r.height*box.height;\n"
    " box.x=px-(px-box.x)*k;box.y=py-(py-box.y)*k;box.width*=k;box.height*=k},{passive:false});\n"
    "stage.addEventListener('pointerdown',e=>{drag={x:e.clientX,y:e.clientY,moved:0}});\n"
    "addEventListener('pointermove',e=>{if(!drag)return;const r=svg.getBoundingClientRect();\n"
    " const s=Math.max(box.width/r.width,box.height/r.height);\n"
    " box.x-=(e.clientX-drag.x)*s;box.y-=(e.clientY-drag.y)*s;\n"
    " drag.moved+=Math.abs(e.clientX-drag.x)+Math.abs(e.clientY-drag.y);drag.x=e.clientX;drag.y=e.clientY});\n"
    "addEventListener('pointerup',e=>{const clicked=drag&&drag.moved<5;drag=null;if(!clicked)return;\n"
    " const node=e.target.closest&&e.target.closest('.n');show(node)});\n"
    "function show(node){svg.classList.toggle('faded',!!node);nodes.forEach(n=>n.classList.remove('on'));\n"
    " edges.forEach(p=>p.classList.remove('on'));facts.style.display=node?'block':'none';if(!node)return;\n"
    " const i=node.dataset.i;node.classList.add('on');\n"
    " edges.forEach(p=>{if(p.dataset.f===i||p.dataset.t===i){p.classList.add('on');\n"
    "  nodes[p.dataset.f].classList.add('on');nodes[p.dataset.t].classList.add('on')}});\n"
    " facts.textContent=node.querySelector('title').textContent}\n"
    "document.getElementById('find').addEventListener('input',e=>{const t=e.target.value.toLowerCase();let "
    "c=0,f=null;\n"
    " nodes.forEach(n=>{const hit=t&&n.textContent.toLowerCase().includes(t);n.classList.toggle('hit',!!hit);\n"
    "  if(hit){c++;f=f||n}});count.textContent=t?c+' found':'';\n"
    " if(f){const m=f.transform.baseVal.getItem(0).matrix;box.x=m.e-box.width/2+75;box.y=m.f-box.height/2+17}});\n";

void hx_emit_html(const hx_graph_t *graph, const char *title, hx_text_t *out) {
  hx_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
  hx_emit_escaped(out, title);
  hx_text_puts(out, "</title>\n<style>\n");
  hx_text_puts(out, style);
  hx_text_puts(out, "</style></head><body>\n<div id=\"bar\"><b>");
  hx_emit_escaped(out, title);
  hx_text_printf(out, "</b><span>%zu operations and inputs, %zu uses, %zu depths</span>", graph->node_count,
                 graph->edge_count, graph->band_count);
  hx_text_puts(out,
               "<input id=\"find\" placeholder=\"operation, value or state\"><span id=\"count\"></span></div>\n"
               "<div id=\"stage\">\n");
  hx_emit_svg(graph, true, out);
  hx_text_puts(out, "</div>\n<div id=\"facts\"></div>\n<script>\n");
  hx_text_puts(out, script);
  hx_text_puts(out, "</script></body></html>\n");
}
