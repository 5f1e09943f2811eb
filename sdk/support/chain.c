// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/chain.h"

#include <stdbool.h>
#include <string.h>

#include "heliox/support/prepare.h"

static bool is_named(const hx_op *op, const char *name) { return op->name != NULL && strcmp(op->name, name) == 0; }

// One result, so many operands, no resources, and no attribute but output_domain, which the result's domain repeats.
static bool is_plain(const hx_op *op, uint32_t operands) {
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const hx_attr *attr = hxs_op_attr(op, i);
    if (attr->name == NULL || (strcmp(attr->name, "output_domain") != 0 && strncmp(attr->name, "heliox.", 7) != 0)) {
      return false;
    }
  }
  return op->signature == 1 && op->operand_count == operands && op->result_count == 1 && op->resource_count == 0 &&
         op->operands != NULL && op->results != NULL;
}

static bool is_chain(const hx_region *region, const hx_op **out_relinearize, const hx_op **out_rescale) {
  const uint32_t first = region->op_count - 2;
  if (region->op_count < 2 || region->op_count > 3 || region->output_count != 1 || region->outputs == NULL) {
    return false;
  }
  const hx_op *product = hxs_region_op(region, 0), *relinearize = hxs_region_op(region, first),
              *rescale = hxs_region_op(region, first + 1);
  if (!is_named(relinearize, "ckks.relinearize") || !is_plain(relinearize, 2) || !is_named(rescale, "ckks.rescale") ||
      !is_plain(rescale, 1) || rescale->operands[0] != relinearize->results[0] ||
      region->outputs[0] != rescale->results[0]) {
    return false;
  }
  const bool multiplies = is_named(product, "ckks.mul") && is_plain(product, 2);
  const bool squares = is_named(product, "ckks.square") && is_plain(product, 1);
  if (first == 1 && ((!multiplies && !squares) || relinearize->operands[0] != product->results[0])) {
    return false;
  }
  *out_relinearize = relinearize;
  *out_rescale = rescale;
  return true;
}

int32_t hxs_chain_find(const hx_region *region, const char *plugin, hxs_chain *out, hx_error *error) {
  const hx_op *relinearize = NULL, *rescale = NULL;
  if (!is_chain(region, &relinearize, &rescale)) {
    return hxs_fail(error, HX_UNSUPPORTED,
                    "the region of %u operations is no chain that %s prepares as one; these are ckks.mul or "
                    "ckks.square, ckks.relinearize, ckks.rescale",
                    region->op_count, plugin);
  }
  uint32_t count = 0;
  if (region->op_count == 3) {
    const hx_op *product = hxs_region_op(region, 0);
    out->operands[count++] = product->operands[0];
    out->operands[count++] = product->operands[product->operand_count - 1];
  } else {
    out->operands[count++] = relinearize->operands[0];
  }
  out->operands[count++] = relinearize->operands[1];
  out->results[0] = rescale->results[0];
  out->op = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .operand_count = count,
                    .result_count = 1,
                    .name = "fusion.region",
                    .operands = out->operands,
                    .results = out->results};
  return HX_OK;
}
