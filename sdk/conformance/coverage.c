// SPDX-License-Identifier: Apache-2.0
// Tiers: what a plugin claims it must declare whole, row by row.
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "sdk/conformance/suite.h"

static tier_t tier_of(const hx_manifest_operation_t *row) {
  const hx_op_id_t id = hx_op_find(hx_str(row->type));
  if (id == HX_OP_UNKNOWN) return TIER_FUSED;  // fusion.region: the loader keeps no other unknown row
  return hx_op_info(id)->tier == HX_TIER_WHOLE ? TIER_CKKS : TIER_PRIMITIVES;
}

bool operation_wanted(const suite_t *suite, const hx_manifest_operation_t *row) {
  return suite->results->tiers[tier_of(row)].wanted;
}

const hx_impl *find_impl(const suite_t *suite, const hx_manifest_operation_t *row) {
  for (uint32_t i = 0; i < suite->loaded->table.impl_count; ++i) {
    const hx_impl *impl = suite->loaded->table.impls[i];
    if (strcmp(impl->op, row->type) == 0 && strcmp(impl->name, row->implementation) == 0) return impl;
  }
  return NULL;
}

// Whether an operation belongs to what a tier must have. Views are the core's own.
static bool is_required(tier_t tier, const hx_op_info_t *op) {
  if (tier == TIER_PRIMITIVES) return op->tier == HX_TIER_PRIMITIVE;
  return tier == TIER_CKKS && op->tier == HX_TIER_WHOLE && (op->flags & HX_OP_FLAG_VIEW) == 0;
}

// A row that answers without being named, exactly, in either residue word.
static bool is_declared(const suite_t *suite, const hx_op_info_t *op) {
  for (size_t i = 0; i < suite->loaded->operation_count; ++i) {
    const hx_manifest_operation_t *row = &suite->loaded->operations[i];
    if (strcmp(row->type, op->name) == 0 && row->bit_exact && !row->explicit_only &&
        (row->dtypes & (1u << HX_U64 | 1u << HX_U32)) != 0 && find_impl(suite, row) != NULL)
      return true;
  }
  return false;
}

static void read_claims(suite_t *suite, bool *has_regions) {
  json_t *root = json_loads(hx_plugins_manifest(suite->plugins, suite->index), 0, NULL);
  const json_t *tiers = json_object_get(json_object_get(root, "conformance"), "tiers");
  for (int tier = 0; tier < TIER_COUNT; ++tier) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)tiers, i, item) {
      if (json_is_string(item) && strcmp(json_string_value(item), tier_name((tier_t)tier)) == 0)
        suite->results->tiers[tier].claimed = true;
    }
  }
  *has_regions = json_array_size(json_object_get(root, "regions")) > 0;
  const char *threads = json_string_value(json_object_get(json_object_get(root, "runtime"), "threads"));
  suite->threads_allowed = threads == NULL || strcmp(threads, "none") == 0 ? 0
                           : strcmp(threads, "host") == 0                  ? hx_threads_get()
                                                                           : UINT64_MAX;
  json_decref(root);
}

static void count_rows(suite_t *suite, tier_t tier, char *missing, size_t room) {
  tier_result_t *result = &suite->results->tiers[tier];
  size_t used = 0;
  missing[0] = '\0';
  for (uint32_t id = 0; id < HX_OP_COUNT; ++id) {
    const hx_op_info_t *op = hx_op_info((hx_op_id_t)id);
    if (!is_required(tier, op)) continue;
    ++result->required;
    if (is_declared(suite, op)) {
      ++result->declared;
    } else if (used + strlen(op->name) + 3 < room) {
      used += (size_t)snprintf(missing + used, room - used, "%s%s", used == 0 ? "" : ", ", op->name);
    }
  }
}

static void count_regions(suite_t *suite, bool has_regions, char *missing, size_t room) {
  tier_result_t *result = &suite->results->tiers[TIER_FUSED];
  bool registered = false;
  for (size_t i = 0; i < suite->loaded->operation_count; ++i)
    registered |= strcmp(suite->loaded->operations[i].type, "fusion.region") == 0;
  result->required = 1;
  result->declared = registered && has_regions ? 1 : 0;
  snprintf(missing, room, "%s",
           result->declared == 1 ? ""
           : !has_regions        ? "regions in the manifest"
                                 : "an operation row fusion.region");
}

void run_coverage(suite_t *suite) {
  bool has_regions = false;
  read_claims(suite, &has_regions);
  for (int t = 0; t < TIER_COUNT; ++t) {
    const tier_t tier = (tier_t)t;
    tier_result_t *result = &suite->results->tiers[tier];
    char missing[256];
    case_begin(suite, "coverage", "%s", tier_name(tier));
    if (tier == TIER_FUSED) {
      count_regions(suite, has_regions, missing, sizeof missing);
    } else {
      count_rows(suite, tier, missing, sizeof missing);
    }
    if (result->claimed) {
      suite->record->checks += result->required;
      case_expect(suite, result->declared == result->required,
                  "%u of %u are declared, so the tier must not be claimed; missing: %s", result->declared,
                  result->required, missing);
    } else {
      case_skip(suite, "not claimed by the manifest (conformance.tiers); %u of %u operations are declared",
                result->declared, result->required);
    }
    case_end(suite);
  }
}
