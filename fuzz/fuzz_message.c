// SPDX-License-Identifier: Apache-2.0
// Numbers as .csv, .npy, .json: the first byte chooses the format, the rest is the file.
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  char *text = malloc(size);
  if (text == NULL) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  cli_message_t message = {0};
  hx_report_t *report = hx_report_create();
  const hx_status_t status = cli_message_parse((cli_format_t)(data[0] % 3), text, size - 1, "fuzz", &message, report);
  // A refusal says why; success has values.
  if (status == HX_STATUS_OK ? message.count == 0 : hx_report_count(report) == 0 && status != HX_STATUS_OUT_OF_MEMORY)
    abort();
  cli_message_free(&message);
  hx_report_release(report);
  free(text);
  return 0;
}
