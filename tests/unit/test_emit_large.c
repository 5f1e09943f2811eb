// SPDX-License-Identifier: Apache-2.0
// Pictures of a program of two thousand operations: every operation is there, none hides another, bands are depths, and
// the page needs nothing from elsewhere.
#include <stdlib.h>

#include "bsgs.h"
#include "core/compile/graph.h"
#include "core/passes/passes.h"
#include "heliox/emit.h"
#include "tests/unit/link_fixture.h"

static hx_program_t *large_program(void) {
  static const bsgs_t shape = {.baby = 32, .giant = 32, .slots = SLOTS, .limbs = 5, .scale = "2^40"};
  hx_params_t *params = link_params(LINK_RING);
  hx_report_t *report = hx_report_create();
  hx_text_t text;
  bsgs_text(&shape, &text);
  hx_program_t *program = link_parse(text.data);
  const hx_pass_env_t env = {.ring = hx_params_ring(params), .report = report};
  must(hx_pipeline_run(program, "infer-state", &env), report);
  hx_text_deinit(&text);
  hx_report_release(report);
  hx_params_release(params);
  return program;
}

static char *picture(hx_emit_form_t form) {
  hx_report_t *report = hx_report_create();
  hx_program_t *program = large_program();
  char *text = NULL;
  must(hx_emit(program, form, &text, report), report);
  hx_program_release(program);
  hx_report_release(report);
  return text;
}

typedef struct place {
  double x, y;
} place_t;

static int by_row(const void *left, const void *right) {
  const place_t *a = left, *b = right;
  if (a->y != b->y) return a->y < b->y ? -1 : 1;
  return (a->x > b->x) - (a->x < b->x);
}

static void svg_shows_every_operation_beside_the_others(void **state) {
  (void)state;
  char *text = picture(HX_EMIT_SVG);
  static place_t places[8192];
  size_t count = 0;
  static const char start[] = "transform=\"translate(";
  for (char *at = text; (at = strstr(at, start)) != NULL && count < HX_COUNT_OF(places);) {
    at += sizeof start - 1;
    places[count].x = strtod(at, &at);
    places[count++].y = strtod(at, &at);
  }
  assert_true(count >= 2000 && count < HX_COUNT_OF(places));
  qsort(places, count, sizeof *places, by_row);
  for (size_t i = 1; i < count; ++i) {
    const bool beside = places[i].y == places[i - 1].y && places[i].x >= places[i - 1].x + HX_GRAPH_NODE_WIDTH;
    const bool below = places[i].y >= places[i - 1].y + HX_GRAPH_NODE_HEIGHT;
    if (!beside && !below)
      fail_msg("boxes at (%g, %g) and (%g, %g)", places[i - 1].x, places[i - 1].y, places[i].x, places[i].y);
  }
  assert_non_null(strstr(text, ">depth 0</text>"));
  assert_true(strlen(text) < (size_t)8 << 20);
  hx_text_free(text);
}

static void page_needs_nothing_from_elsewhere(void **state) {
  (void)state;
  char *text = picture(HX_EMIT_HTML);
  assert_true(strncmp(text, "<!DOCTYPE html>", 15) == 0);
  assert_null(strstr(text, "src="));
  assert_null(strstr(text, "href=\"http"));
  assert_null(strstr(text, "@import"));
  size_t links = 0;
  for (const char *at = text; (at = strstr(at, "http")) != NULL; ++at) ++links;
  assert_int_equal(links, 1);  // the name space of SVG
  assert_true(strlen(text) < (size_t)8 << 20);
  hx_text_free(text);
}

static void dot_names_every_operation_once(void **state) {
  (void)state;
  char *text = picture(HX_EMIT_DOT), *again = picture(HX_EMIT_DOT);
  assert_string_equal(text, again);
  size_t rotations = 0;
  for (const char *at = text; (at = strstr(at, "rotate")) != NULL; ++at) ++rotations;
  assert_true(rotations >= 62);
  hx_text_free(text);
  hx_text_free(again);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(svg_shows_every_operation_beside_the_others),
                                     cmocka_unit_test(page_needs_nothing_from_elsewhere),
                                     cmocka_unit_test(dot_names_every_operation_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
