// SPDX-License-Identifier: Apache-2.0
// Results as text, JSON and JUnit, all from the same records.
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "sdk/conformance/suite.h"

const char *tier_name(tier_t tier) {
  static const char *const names[TIER_COUNT] = {"primitives", "fused", "ckks"};
  return names[tier];
}

static const char *verdict_name(verdict_t verdict) {
  static const char *const names[] = {"running", "passed", "failed", "skipped"};
  return names[verdict];
}

void results_add(results_t *results, verdict_t verdict, const char *group, const char *name, const char *message) {
  if (results->count == RECORDS_MAX) --results->count;
  record_t *record = &results->records[results->count++];
  *record = (record_t){.verdict = verdict};
  snprintf(record->group, sizeof record->group, "%s", group);
  snprintf(record->name, sizeof record->name, "%s", name);
  snprintf(record->message, sizeof record->message, "%s", message);
}

totals_t results_total(const results_t *results) {
  totals_t totals = {0};
  for (uint32_t i = 0; i < results->count; ++i) {
    const record_t *record = &results->records[i];
    totals.checks += record->checks;
    totals.passed += record->verdict == CASE_PASSED;
    totals.skipped += record->verdict == CASE_SKIPPED;
    totals.failed += record->verdict == CASE_FAILED || record->verdict == CASE_RUNNING;
  }
  return totals;
}

// XML text of attributes and elements; control bytes, which XML cannot hold, become '?'.
static void put_xml(FILE *out, const char *text) {
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '<')
      fputs("&lt;", out);
    else if (c == '>')
      fputs("&gt;", out);
    else if (c == '&')
      fputs("&amp;", out);
    else if (c == '"')
      fputs("&quot;", out);
    else
      fputc(c < 0x20 || c > 0x7e ? '?' : c, out);
  }
}

static void put_case(FILE *out, const results_t *results, const record_t *record) {
  fputs("    <testcase classname=\"", out);
  put_xml(out, results->name);
  fputc('.', out);
  put_xml(out, record->group);
  fputs("\" name=\"", out);
  put_xml(out, record->name);
  fprintf(out, "\" assertions=\"%llu\" time=\"%.3f\"", (unsigned long long)record->checks, record->seconds);
  if (record->verdict == CASE_PASSED) {
    fputs("/>\n", out);
    return;
  }
  fprintf(out, ">\n      <%s message=\"", record->verdict == CASE_SKIPPED ? "skipped" : "failure");
  put_xml(out, record->message);
  fputs("\"/>\n    </testcase>\n", out);
}

bool results_write_junit(const results_t *results, const char *path) {
  const totals_t totals = results_total(results);
  FILE *out = fopen(path, "w");
  if (out == NULL) return false;
  double seconds = 0;
  for (uint32_t i = 0; i < results->count; ++i) seconds += results->records[i].seconds;
  fprintf(out,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%u\" failures=\"%u\" skipped=\"%u\" "
          "time=\"%.3f\">\n",
          results->count, totals.failed, totals.skipped, seconds);
  fputs("  <testsuite name=\"heliox-conformance ", out);
  put_xml(out, results->id);
  fprintf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"%.3f\">\n", results->count,
          totals.failed, totals.skipped, seconds);
  for (uint32_t i = 0; i < results->count; ++i) put_case(out, results, &results->records[i]);
  fputs("  </testsuite>\n</testsuites>\n", out);
  const bool written = ferror(out) == 0;
  return fclose(out) == 0 && written;
}

// A text of the plugin may be cut within a character; what is no UTF-8 is left out.
static json_t *text_json(const char *text) {
  json_t *string = json_string(text);
  return string != NULL ? string : json_string("(not UTF-8)");
}

static json_t *tiers_json(const results_t *results) {
  json_t *tiers = json_object();
  for (int t = 0; t < TIER_COUNT; ++t) {
    const tier_result_t *tier = &results->tiers[t];
    json_object_set_new(tiers, tier_name((tier_t)t),
                        json_pack("{s:b, s:b, s:I, s:I}", "claimed", tier->claimed, "wanted", tier->wanted, "required",
                                  (json_int_t)tier->required, "declared", (json_int_t)tier->declared));
  }
  return tiers;
}

bool results_print_json(const results_t *results) {
  const totals_t totals = results_total(results);
  json_t *cases = json_array();
  for (uint32_t i = 0; i < results->count; ++i) {
    const record_t *record = &results->records[i];
    json_array_append_new(
        cases, json_pack("{s:s, s:o, s:s, s:o, s:I, s:f}", "group", record->group, "name", text_json(record->name),
                         "verdict", verdict_name(record->verdict), "message", text_json(record->message), "checks",
                         (json_int_t)record->checks, "seconds", record->seconds));
  }
  json_t *root =
      json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:o}", "id",
                results->id, "name", results->name, "version", results->version, "digest", results->digest, "conforms",
                totals.failed == 0, "tiers", tiers_json(results), "passed", (json_int_t)totals.passed, "failed",
                (json_int_t)totals.failed, "skipped", (json_int_t)totals.skipped, "checks", (json_int_t)totals.checks,
                "operation_runs", (json_int_t)results->operation_runs, "only", results->only, "part",
                (json_int_t)results->part, "parts", (json_int_t)results->parts, "log_n_run",
                (json_int_t)results->log_n_run, "log_n_declared", (json_int_t)results->log_n_declared, "cases", cases);
  const bool printed = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0;
  putchar('\n');
  json_decref(root);
  return printed;
}

// One wrong transform makes everything fail that is built from it: where to begin.
static void print_first_failure(const results_t *results) {
  const char *first = NULL;
  uint32_t others = 0;
  for (uint32_t i = 0; i < results->count; ++i) {
    const record_t *record = &results->records[i];
    if (record->verdict != CASE_FAILED || hx_op_find(hx_str(record->group)) == HX_OP_UNKNOWN) continue;
    if (first == NULL) first = record->group;
    others += strcmp(first, record->group) != 0;
  }
  if (others > 0)
    printf("%s fails first: begin there, with its smallest ring (--only %s); what is made of it fails with it\n", first,
           first);
}

// What a run that passed has not tried.
static void print_limits(const results_t *results) {
  if (results->parts > 1)
    printf("part %u of %u: every %uth operation; all parts together are the suite\n", results->part, results->parts,
           results->parts);
  if (results->only[0] != '\0')
    printf("only %s: this says nothing about tiers, roles, refusals and the rest of the plugin\n", results->only);
  if (results->log_n_run > 0 && results->log_n_run < results->log_n_declared)
    printf("rings up to 2^%u were run, the manifest declares 2^%u: --log-n-max %u tries them all\n", results->log_n_run,
           results->log_n_declared, results->log_n_declared);
}

void results_print(const results_t *results, bool verbose) {
  const totals_t totals = results_total(results);
  printf("%s %s (%s)\n", results->id[0] != '\0' ? results->id : "?", results->version, results->name);
  for (uint32_t i = 0; i < results->count; ++i) {
    const record_t *record = &results->records[i];
    if (record->verdict == CASE_PASSED && !verbose) continue;
    printf("%-8s %-20s %s", verdict_name(record->verdict), record->group, record->name);
    if (record->message[0] != '\0') printf(": %s", record->message);
    if (record->verdict == CASE_PASSED) printf(" (%llu checks)", (unsigned long long)record->checks);
    putchar('\n');
  }
  for (int t = 0; t < TIER_COUNT; ++t) {
    const tier_result_t *tier = &results->tiers[t];
    if (results->only[0] == '\0' && (tier->claimed || tier->wanted))
      printf("tier %-11s %s, %u of %u declared\n", tier_name((tier_t)t), tier->claimed ? "claimed" : "not claimed",
             tier->declared, tier->required);
  }
  printf("%llu operations run and compared, %llu checks; %u cases passed, %u failed, %u skipped\n",
         (unsigned long long)results->operation_runs, (unsigned long long)totals.checks, totals.passed, totals.failed,
         totals.skipped);
  print_first_failure(results);
  print_limits(results);
}
