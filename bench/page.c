// SPDX-License-Identifier: Apache-2.0
// The rows of a run as one HTML page: the machine, a drawing (inline SVG) for each group of rows, and the numbers. The
// page needs nothing else: no script, no style or picture from elsewhere.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"
#include "heliox/base.h"

#define LABELS 320.0
#define PLOT 520.0
#define ROW 18.0
#define TOP 34.0

static void put_text(FILE *file, const char *text) {
  for (; *text != 0; text++) {
    switch (*text) {
      case '<':
        fputs("&lt;", file);
        break;
      case '>':
        fputs("&gt;", file);
        break;
      case '&':
        fputs("&amp;", file);
        break;
      case '"':
        fputs("&quot;", file);
        break;
      default:
        fputc(*text, file);
    }
  }
}

// A time in the unit that suits it.
static const char *time_text(double us, char out[24]) {
  snprintf(out, 24,
           us < 1e3   ? "%.4g us"
           : us < 1e6 ? "%.4g ms"
                      : "%.4g s",
           us < 1e3   ? us
           : us < 1e6 ? us / 1e3
                      : us / 1e6);
  return out;
}

static double number(const json_t *row, const char *name) {
  const json_t *value = json_object_get(row, name);
  return json_is_number(value) ? json_number_value(value) : 0;
}

// Rows of one parameter set, or of one kernel, or of one operation, stand in one drawing.
static const char *group_of(const json_t *row) {
  static const char *const keys[] = {"params", "kernel", "operation"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *text = json_string_value(json_object_get(row, keys[i]));
    if (text != NULL) {
      return text;
    }
  }
  return "copies";
}

// What tells a row from others of its group.
static void label_of(const json_t *row, char *out, size_t room) {
  const char *name = NULL, *group = group_of(row);
  json_t *value = NULL;
  size_t used = 0;
  out[0] = 0;
  json_object_foreach((json_t *)(uintptr_t)row, name, value) {
    int written = 0;
    if (used >= room) {
      return;
    }
    if (json_is_string(value) && strcmp(json_string_value(value), group) != 0) {
      written = snprintf(out + used, room - used, "%s ", json_string_value(value));
    } else if (json_is_integer(value)) {
      written = snprintf(out + used, room - used, "%s=%lld ", name, (long long)json_integer_value(value));
    }
    used += written > 0 ? (size_t)written : 0;
  }
}

static bool is_timed(const json_t *row, const char *group) {
  return number(row, "median_us") > 0 && strcmp(group_of(row), group) == 0;
}

typedef struct scale {
  double low, high;  // decimal logarithms of microseconds
  size_t count;
} scale_t;

static scale_t measure(const json_t *rows, const char *group) {
  scale_t scale = {.low = 99, .high = -99};
  size_t i = 0;
  const json_t *row = NULL;
  json_array_foreach(rows, i, row) {
    if (!is_timed(row, group)) {
      continue;
    }
    const double bound = number(row, "bound_us"), least = number(row, "minimum_us");
    scale.low = fmin(scale.low, floor(log10(bound > 0 && bound < least ? bound : least)));
    scale.high = fmax(scale.high, ceil(log10(fmax(bound, number(row, "maximum_us")))));
    scale.count++;
  }
  if (scale.high <= scale.low) {
    scale.high = scale.low + 1;
  }
  return scale;
}

static double place(const scale_t *scale, double time) {
  return LABELS + PLOT * (log10(time) - scale->low) / (scale->high - scale->low);
}

static void draw_axis(FILE *file, const scale_t *scale) {
  const double bottom = TOP + ROW * (double)scale->count;
  char text[24];
  for (double power = scale->low; power <= scale->high; power++) {
    const double x = place(scale, pow(10, power));
    fprintf(file, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x, TOP - 6, bottom);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x, TOP - 12,
            time_text(pow(10, power), text));
  }
}

static void draw_row(FILE *file, const scale_t *scale, const json_t *row, double y) {
  char label[160], text[24];
  const double median = number(row, "median_us"), bound = number(row, "bound_us");
  const double from = place(scale, number(row, "minimum_us")), to = place(scale, number(row, "maximum_us"));
  label_of(row, label, sizeof label);
  fprintf(file, "<g><title>median %.4g us, minimum %.4g, maximum %.4g, bound %.4g</title>", median,
          number(row, "minimum_us"), number(row, "maximum_us"), bound);
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", LABELS - 8, y + 13);
  put_text(file, label);
  fprintf(file, "</text><rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", LABELS, y + 3,
          place(scale, median) - LABELS, ROW - 6);
  fprintf(file, "<line class=\"range\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", from, to, y + ROW / 2,
          y + ROW / 2);
  if (bound > 0) {
    fprintf(file, "<line class=\"bound\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", place(scale, bound),
            place(scale, bound), y + 1, y + ROW - 1);
  }
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", LABELS + PLOT + 8, y + 13, time_text(median, text));
}

static void draw_group(FILE *file, const json_t *rows, const char *group) {
  const scale_t scale = measure(rows, group);
  size_t i = 0;
  const json_t *row = NULL;
  double y = TOP;
  if (scale.count == 0) {
    return;
  }
  fputs("<h2>", file);
  put_text(file, group);
  fprintf(file, "</h2>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" role=\"img\">\n",
          LABELS + PLOT + 90, TOP + ROW * (double)scale.count + 8);
  draw_axis(file, &scale);
  json_array_foreach(rows, i, row) {
    if (is_timed(row, group)) {
      draw_row(file, &scale, row, y);
      y += ROW;
    }
  }
  fputs("</svg>\n", file);
}

static void put_table(FILE *file, const json_t *rows) {
  static const char *const columns[] = {"median_us", "minimum_us", "maximum_us", "bound_us", "share"};
  size_t i = 0;
  const json_t *row = NULL;
  fputs(
      "<h2>Numbers</h2>\n<table><tr><th>row</th><th>median, us</th><th>minimum</th><th>maximum</th><th>bound</th>"
      "<th>share of the bound</th></tr>\n",
      file);
  json_array_foreach(rows, i, row) {
    char label[160];
    label_of(row, label, sizeof label);
    fputs("<tr><td>", file);
    put_text(file, group_of(row));
    fputc(' ', file);
    put_text(file, label);
    fputs("</td>", file);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
      fprintf(file, "<td>%.4g</td>", number(row, columns[k]));
    }
    fputs("</tr>\n", file);
  }
  fputs("</table>\n", file);
}

static void put_machine(FILE *file, const bench_suite_t *suite) {
  struct utsname system = {0};
  char line[512] = "", *model = NULL;
  FILE *facts = fopen("/proc/cpuinfo", "r");
  while (facts != NULL && model == NULL && fgets(line, sizeof line, facts) != NULL) {
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
      model = strchr(line, ':') + 2;
      model[strcspn(model, "\n")] = 0;
    }
  }
  if (facts != NULL) {
    fclose(facts);
  }
  uname(&system);
  fputs("<p>", file);
  put_text(file, model != NULL ? model : "processor");
  fprintf(file, ", %.2f cycles/ns, copies %.1f bytes/ns; ", suite->machine.cycles_per_ns,
          suite->machine.bytes_per_ns[BENCH_REACHES - 1]);
  put_text(file, system.sysname);
  fputc(' ', file);
  put_text(file, system.release);
  fprintf(file,
          "; Heliox %s; %d samples a row. Bars are medians, thin lines go from minimum to maximum, red marks are the "
          "bound ",
          hx_version(), suite->samples);
  fputs("(arithmetic or memory, whichever is slower). Time is logarithmic.</p>\n", file);
}

bool bench_page(const bench_suite_t *suite, const char *path) {
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "bench: %s cannot be written\n", path);
    return false;
  }
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Heliox bench</title>\n<style>\n"
      "body { font: 13px sans-serif; margin: 24px; }\nsvg text { font: 11px sans-serif; }\n"
      ".bar { fill: #4a7fc1; }\n.range { stroke: #1c2f4a; stroke-width: 2; }\n.bound { stroke: #c0392b; stroke-width: "
      "3; }\n"
      ".grid { stroke: #ddd; }\ntd, th { padding: 1px 10px; text-align: right; }\ntd:first-child { text-align: left; "
      "}\n"
      "</style></head><body>\n<h1>Heliox bench</h1>\n",
      file);
  put_machine(file, suite);
  size_t i = 0, k = 0;
  const json_t *row = NULL, *before = NULL;
  json_array_foreach(suite->rows, i, row) {
    bool seen = false;
    for (k = 0; k < i && !seen; k++) {
      before = json_array_get(suite->rows, k);
      seen = strcmp(group_of(before), group_of(row)) == 0;
    }
    if (!seen) {
      draw_group(file, suite->rows, group_of(row));
    }
  }
  put_table(file, suite->rows);
  fputs("</body></html>\n", file);
  const bool written = ferror(file) == 0;
  if (fclose(file) == 0 && written) {
    return true;
  }
  fprintf(stderr, "bench: %s cannot be written whole\n", path);
  remove(path);
  return false;
}
