// SPDX-License-Identifier: Apache-2.0
// Manifests: strict parser, schema, model. What parses and is valid prints to text that parses again.
#include <stdint.h>
#include <stdlib.h>

#include "core/plugin/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hx_gates_t gates;
  hx_gates_init(&gates);
  hx_manifest_t *manifest = hx_manifest_create((hx_str_t){(const char *)data, size}, &gates);
  if ((manifest == NULL || !manifest->valid) && hx_gates_first(&gates) == NULL && !gates.exhausted) abort();
  if (manifest != NULL && manifest->valid) {
    char digest[65];
    if (hx_operations_digest(manifest->operations, manifest->operation_count, digest) != HX_STATUS_OK) abort();
    char *text = json_dumps(manifest->root, JSON_COMPACT);
    hx_manifest_t *again = text == NULL ? NULL : hx_manifest_create(hx_str(text), &gates);
    if (again == NULL || !again->valid || !json_equal(again->root, manifest->root)) abort();
    hx_manifest_release(again);
    free(text);
  }
  hx_manifest_release(manifest);
  hx_gates_deinit(&gates);
  json_t *root = NULL;
  if (hx_manifest_read_template((hx_str_t){(const char *)data, size}, "template", &root, NULL) == HX_STATUS_OK) {
    hx_manifest_t *model = hx_manifest_from_tree(root);
    if (model == NULL) abort();
    hx_manifest_release(model);
    json_decref(root);
  }
  return 0;
}
