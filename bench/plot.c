// SPDX-License-Identifier: Apache-2.0
// A drawing of what multiply, relinearize and rescale cost against N, limbs and threads: three panels, logarithmic
// time, one line for what was measured and one for the bound.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region.h"

#define POINTS_MAX 8u

typedef struct panel {
  const char *title;
  uint32_t count;
  uint32_t x[POINTS_MAX];
  double median[POINTS_MAX], bound[POINTS_MAX];  // microseconds
} panel_t;

static bool measure(bench_suite_t *suite, panel_t *panel, uint32_t x, const bench_ring_t *ring, uint32_t threads) {
  bench_region_t *region = bench_region_open(ring, BENCH_FUSED, threads);
  if (region == NULL) {
    return false;
  }
  bench_work_t work = bench_chain_work(ring, BENCH_FUSED);
  json_t *facts = json_pack("{s:s, s:i, s:i, s:i, s:i}", "operation", bench_chain_name(BENCH_FUSED), "log_n",
                            (int)ring->log_n, "limbs", (int)ring->q_count, "digits",
                            (int)((ring->q_count + ring->digit_run - 1) / ring->digit_run), "threads", (int)threads);
  const bool good = bench_measure(suite, facts, &work, 1, bench_region_run, region);
  bench_region_close(region);
  if (good) {
    const json_t *row = json_array_get(suite->rows, json_array_size(suite->rows) - 1);
    panel->x[panel->count] = x;
    panel->median[panel->count] = json_real_value(json_object_get(row, "median_us"));
    panel->bound[panel->count++] = json_real_value(json_object_get(row, "bound_us"));
  }
  return good;
}

static bench_ring_t ring_of(uint32_t log_n, uint32_t limbs) {
  bench_ring_t ring = {.log_n = log_n, .q_count = limbs, .digit_run = (limbs + 3) / 4};
  ring.p_count = ring.digit_run;
  bench_ring_fill(&ring, 40);
  return ring;
}

// ---- drawing

#define PANEL_WIDTH 300.0
#define PANEL_HEIGHT 260.0
#define LEFT 60.0
#define TOP 40.0

typedef struct frame {
  double x0, low, high;  // logarithms of the least and the largest time
} frame_t;

static double place_y(const frame_t *f, double time) {
  return TOP + PANEL_HEIGHT * (1 - (log10(time) - f->low) / (f->high - f->low));
}

static void line(FILE *file, const panel_t *p, const frame_t *f, const double *times, const char *colour) {
  fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
  for (uint32_t i = 0; i < p->count; i++) {
    const double x = f->x0 + PANEL_WIDTH * (i + 0.5) / p->count;
    fprintf(file, "%.1f,%.1f ", x, place_y(f, times[i]));
  }
  fprintf(file, "\"/>\n");
}

static void draw(FILE *file, const panel_t *p, uint32_t index) {
  frame_t f = {.x0 = LEFT + index * (PANEL_WIDTH + LEFT), .low = 9, .high = 0};
  for (uint32_t i = 0; i < p->count; i++) {
    f.low = fmin(f.low, floor(log10(fmin(p->bound[i], p->median[i]))));
    f.high = fmax(f.high, ceil(log10(fmax(p->bound[i], p->median[i]))));
  }
  fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#888\"/>\n", f.x0,
          TOP, PANEL_WIDTH, PANEL_HEIGHT);
  fprintf(file, "<text x=\"%.1f\" y=\"24\" text-anchor=\"middle\">%s</text>\n", f.x0 + PANEL_WIDTH / 2, p->title);
  for (double power = f.low; power <= f.high; power++) {
    const double y = place_y(&f, pow(10, power));
    fprintf(file, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", f.x0, f.x0 + PANEL_WIDTH,
            y, y);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g us</text>\n", f.x0 - 4, y + 4, pow(10, power));
  }
  for (uint32_t i = 0; i < p->count; i++) {
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%u</text>\n",
            f.x0 + PANEL_WIDTH * (i + 0.5) / p->count, TOP + PANEL_HEIGHT + 16, p->x[i]);
  }
  line(file, p, &f, p->median, "#1f4e9c");
  line(file, p, &f, p->bound, "#c0392b");
}

static bool write_svg(const char *path, const panel_t *panels, uint32_t count) {
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "bench: %s cannot be written\n", path);
    return false;
  }
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
          "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          LEFT + count * (PANEL_WIDTH + LEFT), TOP + PANEL_HEIGHT + 60);
  for (uint32_t i = 0; i < count; i++) {
    draw(file, &panels[i], i);
  }
  fprintf(file,
          "<text x=\"%.1f\" y=\"%.1f\" fill=\"#1f4e9c\">measured, median</text>\n<text x=\"%.1f\" y=\"%.1f\" "
          "fill=\"#c0392b\">bound</text>\n</svg>\n",
          LEFT, TOP + PANEL_HEIGHT + 40, LEFT + 140, TOP + PANEL_HEIGHT + 40);
  return fclose(file) == 0;
}

bool bench_plot(bench_suite_t *suite, const char *path, uint32_t threads) {
  panel_t panels[3] = {{.title = "log2 N (8 limbs, 1 thread)"},
                       {.title = "limbs (N = 2^14, 1 thread)"},
                       {.title = "threads (N = 2^15, 15 limbs)"}};
  bool good = true;
  for (uint32_t log_n = 12; good && log_n <= 16; log_n++) {
    const bench_ring_t ring = ring_of(log_n, 8);
    good = measure(suite, &panels[0], log_n, &ring, 1);
  }
  for (uint32_t limbs = 4; good && limbs <= 24; limbs += 4) {
    const bench_ring_t ring = ring_of(14, limbs);
    good = measure(suite, &panels[1], limbs, &ring, 1);
  }
  for (uint32_t count = 1; good && count <= threads && panels[2].count < POINTS_MAX; count *= 2) {
    const bench_ring_t ring = ring_of(15, 15);
    good = measure(suite, &panels[2], count, &ring, count);
  }
  return good && write_svg(path, panels, 3);
}
