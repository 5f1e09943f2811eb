// SPDX-License-Identifier: Apache-2.0
// Programs built by calls: an operation's name on the first line, its attributes after it, on two inputs. Whatever is
// accepted makes a program that verifies, prints and reads back.
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "heliox/heliox.h"

// The smallest ring, with depth and special primes.
static const char parameters[] =
    "{\"log_n\":3,\"word\":64,\"base\":[\"1073741441\"],\"groups\":[[\"1073741329\"],[\"1073740529\"]],"
    "\"special\":[\"1073740177\",\"1073740049\"],\"digits\":2,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^"
    "20\"}";

static void finish(hx_builder_t *builder, hx_node_t *node) {
  hx_program_t *program = NULL, *again = NULL;
  char *text = NULL;
  if (hx_builder_output(builder, "y", node, NULL) != HX_STATUS_OK) abort();
  if (hx_builder_finish(builder, &program, NULL) != HX_STATUS_OK) return;  // an attribute that no rule admits
  if (hx_program_print(program, 0, &text, NULL) != HX_STATUS_OK) abort();
  if (hx_program_parse(hx_str(text), "built", &again, NULL) != HX_STATUS_OK) abort();
  hx_text_free(text);
  hx_program_release(again);
  hx_program_release(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static hx_params_t *params;
  if (params == NULL && hx_params_parse(hx_str(parameters), "fuzz", HX_PARAMS_INSECURE, &params, NULL) != HX_STATUS_OK)
    abort();
  char *name = malloc(size + 1);
  if (name == NULL) abort();
  if (size > 0) memcpy(name, data, size);
  name[size] = '\0';
  char *attributes = strchr(name, '\n');
  if (attributes != NULL) *attributes++ = '\0';
  hx_builder_t *builder = NULL;
  hx_node_t *inputs[2] = {NULL}, *results[2] = {NULL};
  if (hx_builder_create(params, &builder, NULL) != HX_STATUS_OK ||
      hx_builder_input(builder, "a", NULL, &inputs[0], NULL) != HX_STATUS_OK ||
      hx_builder_input(builder, "b", NULL, &inputs[1], NULL) != HX_STATUS_OK)
    abort();
  for (size_t operands = 0; operands <= 2; ++operands)
    for (size_t count = 1; count <= 2; ++count) {
      const char *text = attributes != NULL && attributes[0] != '\0' ? attributes : NULL;
      if (hx_builder_op(builder, name, inputs, operands, text, results, count, NULL) != HX_STATUS_OK) continue;
    }
  finish(builder, results[0] != NULL ? results[0] : inputs[0]);
  hx_builder_release(builder);
  free(name);
  return 0;
}
