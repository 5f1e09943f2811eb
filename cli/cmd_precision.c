// SPDX-License-Identifier: Apache-2.0
// precision: error statistics between two files of numbers, in bits.
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/message.h"

// Real numbers as complex ones; the message's values are replaced.
static hx_status_t widen(cli_message_t *message) {
  const size_t count = message->count * (message->items == 0 ? 1 : message->items);
  double *pairs = calloc(count, 2 * sizeof *pairs);
  if (pairs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; ++i) pairs[2 * i] = message->values[i];
  free(message->values);
  message->values = pairs;
  message->is_complex = true;
  return HX_STATUS_OK;
}

static void print_row(const char *name, const hx_error_statistics_t *errors) {
  const double values[] = {errors->worst, errors->mean, errors->median};
  printf("%-10s", name);
  for (size_t i = 0; i < 3; ++i) {
    if (values[i] == 0) {
      printf("  %9s           ", "exact");
    } else {
      printf("  %9.2f (%.3g)", -log2(values[i]), values[i]);
    }
  }
  printf("  at %zu\n", errors->worst_index);
}

static json_t *row_json(const hx_error_statistics_t *errors) {
  json_t *row = json_pack("{s:f, s:f, s:f, s:I}", "worst", errors->worst, "mean", errors->mean, "median",
                          errors->median, "worst_index", (json_int_t)errors->worst_index);
  if (errors->worst > 0) json_object_set_new(row, "worst_bits", json_real(-log2(errors->worst)));
  return row;
}

static int print_report(cli_t *cli, const hx_error_report_t *report) {
  if (cli->json) {
    return cli_print_json(json_pack("{s:I, s:b, s:o, s:o, s:o, s:f}", "count", (json_int_t)report->count, "exact",
                                    report->exact, "real", row_json(&report->real), "imaginary",
                                    row_json(&report->imaginary), "size", row_json(&report->size), "l2", report->l2));
  }
  if (report->exact) {
    printf("%zu numbers, all equal\n", report->count);
    return CLI_DONE;
  }
  printf("%zu numbers; bits (error)\n%-10s  %9s            %9s            %9s\n", report->count, "", "worst", "mean",
         "median");
  print_row("real", &report->real);
  print_row("imaginary", &report->imaginary);
  print_row("size", &report->size);
  printf("L2 error   %.6g\n", report->l2);
  return CLI_DONE;
}

int cli_run_precision(cli_t *cli) {
  cli_message_t messages[2] = {{0}, {0}};
  hx_error_report_t errors;
  hx_status_t status = HX_STATUS_OK;
  for (int i = 0; i < 2 && status == HX_STATUS_OK; ++i)
    status = cli_message_read(cli->arguments[i], &messages[i], cli->report);
  const bool complex_values = messages[0].is_complex || messages[1].is_complex;
  for (int i = 0; i < 2 && status == HX_STATUS_OK; ++i)
    if (complex_values && !messages[i].is_complex) status = widen(&messages[i]);
  if (status == HX_STATUS_OK) {
    size_t counts[2];
    for (int i = 0; i < 2; ++i) counts[i] = messages[i].count * (messages[i].items == 0 ? 1 : messages[i].items);
    status = hx_errors_measure(messages[0].values, counts[0], messages[1].values, counts[1], complex_values, &errors,
                               cli->report);
  }
  for (int i = 0; i < 2; ++i) cli_message_free(&messages[i]);
  return status == HX_STATUS_OK ? print_report(cli, &errors) : cli_fail(cli, status);
}
