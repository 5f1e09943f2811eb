// SPDX-License-Identifier: Apache-2.0
// A validator for the part of JSON Schema that manifests/schema uses: type, const, enum, required, properties,
// patternProperties, additionalProperties (a truth value), items, minItems, maxItems, uniqueItems, minimum,
// maximum, minLength, maxLength, pattern, $ref to #/$defs. A keyword it does not know is a fault of the schema, so that
// the published file never promises what is not enforced.
#ifndef HELIOX_CORE_PLUGIN_SCHEMA_H
#define HELIOX_CORE_PLUGIN_SCHEMA_H

#include "core/plugin/json.h"

typedef struct hx_schema_error {
  hx_text_t pointer;  // of the offending place; "" is the whole text
  char text[300];     // "has 3 items, at most 2"
  char expected[120], found[120];
} hx_schema_error_t;

// The manifest's schema as published, parsed. NULL: out of memory. The caller owns it.
json_t *hx_manifest_schema(void);
// The first place in document order that breaks the schema. HX_STATUS_INVALID fills *error (deinit its pointer in any
// case); HX_STATUS_INTERNAL: the schema itself is wrong, the text says how.
hx_status_t hx_schema_check(const json_t *schema, const json_t *value, hx_schema_error_t *error);

#endif
