// SPDX-License-Identifier: Apache-2.0
// Regions that break the contract, one thing each: the plugin refuses, says why, and does not crash.
#include <stdio.h>
#include <string.h>

#include "sdk/conformance/suite.h"

typedef struct mutation {
  const char *what;
  // Changes the region; false: it does not apply to this operation.
  bool (*apply)(region_t *region, const call_t *call);
  bool short_struct;  // the answer is HX_ARGS_SIZE
} mutation_t;

static hx_tensor_desc *result_of(region_t *r, const call_t *call) {
  return region_value(r, region_get(r)->outputs[call->result_count - 1]);
}

static bool no_operation(region_t *r, const call_t *call) {
  (void)call;
  region_get(r)->op_count = 0;
  return true;
}

static bool unknown_operation(region_t *r, const call_t *call) {
  (void)call;
  region_op(r)->name = "rns.no_such_operation";
  return true;
}

static bool other_signature(region_t *r, const call_t *call) {
  (void)call;
  region_op(r)->signature = 99;
  return true;
}

static bool unknown_operand(region_t *r, const call_t *call) {
  static uint32_t ids[OPERANDS_MAX];
  if (call->operand_count == 0) return false;
  for (uint32_t i = 0; i < call->operand_count; ++i) ids[i] = region_get(r)->value_count + 5;
  region_op(r)->operands = ids;
  return true;
}

static bool unknown_result(region_t *r, const call_t *call) {
  static uint32_t ids[OPERANDS_MAX];
  for (uint32_t i = 0; i < call->result_count; ++i) ids[i] = UINT32_MAX - 1;
  region_op(r)->results = ids;
  return true;
}

static bool no_operands(region_t *r, const call_t *call) {
  region_op(r)->operand_count = 0;
  return call->operand_count > 0;
}

static bool unknown_prime(region_t *r, const call_t *call) {
  static uint32_t ids[RING_PRIMES_MAX];
  hx_tensor_desc *desc = result_of(r, call);
  memcpy(ids, desc->prime_ids, desc->limbs * sizeof *ids);
  ids[desc->limbs - 1] = 200;
  desc->prime_ids = ids;
  return true;
}

static bool descending_primes(region_t *r, const call_t *call) {
  static uint32_t ids[RING_PRIMES_MAX];
  hx_tensor_desc *desc = result_of(r, call);
  if (desc->limbs < 2) return false;
  for (uint32_t i = 0; i < desc->limbs; ++i) ids[i] = desc->prime_ids[desc->limbs - 1 - i];
  desc->prime_ids = ids;
  return true;
}

static bool missing_primes(region_t *r, const call_t *call) {
  result_of(r, call)->prime_ids = NULL;
  return true;
}

static bool fewer_rows(region_t *r, const call_t *call) {
  hx_tensor_desc *desc = result_of(r, call);
  if (desc->limbs < 2) return false;
  --desc->limbs;
  return true;
}

static bool more_components(region_t *r, const call_t *call) {
  hx_tensor_desc *desc = result_of(r, call);
  desc->components += 4;
  return true;
}

static bool unknown_dtype(region_t *r, const call_t *call) {
  result_of(r, call)->dtype = 77;
  return true;
}

static bool other_degree(region_t *r, const call_t *call) {
  ++result_of(r, call)->log_n;
  return true;
}

static bool unknown_domain(region_t *r, const call_t *call) {
  result_of(r, call)->domain = 9;
  return true;
}

static bool unknown_repr(region_t *r, const call_t *call) {
  result_of(r, call)->repr = 9;
  return true;
}

static bool unknown_attribute(region_t *r, const call_t *call) {
  static hx_attr attrs[8];
  static const int64_t one = 1;
  if (call->attr_count > 7) return false;
  for (uint32_t i = 0; i < call->attr_count; ++i) attrs[i] = call->attrs[i];
  attrs[call->attr_count] = attr_i64("no_such_attribute", &one, 1);
  region_op(r)->attrs = attrs;
  region_op(r)->attr_count = call->attr_count + 1;
  return true;
}

static bool missing_attribute(region_t *r, const call_t *call) {
  const hx_op_info_t *op = hx_op_info(hx_op_find(hx_str(call->op)));
  bool required = false;
  for (size_t i = 0; i < HX_OP_ATTRS_MAX && op->attrs[i].name != NULL; ++i) required |= op->attrs[i].required;
  region_op(r)->attr_count = 0;
  return required && call->attr_count > 0;
}

static bool short_region(region_t *r, const call_t *call) {
  (void)call;
  region_get(r)->struct_size = HX_END_OF(hx_region, values);
  return true;
}

static bool short_op(region_t *r, const call_t *call) {
  (void)call;
  region_op(r)->struct_size = HX_END_OF(hx_op, name);
  return true;
}

// All of them: the first one's size is the stride of the array.
static bool short_values(region_t *r, const call_t *call) {
  (void)call;
  static hx_tensor_desc values[2 * OPERANDS_MAX];
  const uint32_t count = region_get(r)->value_count;
  memset(values, 0, sizeof values);
  for (uint32_t i = 0; i < count; ++i) values[i].struct_size = HX_END_OF(hx_tensor_desc, components);
  region_get(r)->values = values;
  return true;
}

static const mutation_t mutations[] = {{"no operation", no_operation, false},
                                       {"an operation that nobody has", unknown_operation, false},
                                       {"another signature", other_signature, false},
                                       {"an operand that is no value", unknown_operand, false},
                                       {"a result that is no value", unknown_result, false},
                                       {"no operands", no_operands, false},
                                       {"a row of a prime that the ring lacks", unknown_prime, false},
                                       {"rows in descending order", descending_primes, false},
                                       {"residues without prime ids", missing_primes, false},
                                       {"a result with a row too few", fewer_rows, false},
                                       {"a result with components too many", more_components, false},
                                       {"an unknown dtype", unknown_dtype, false},
                                       {"another ring degree", other_degree, false},
                                       {"an unknown domain", unknown_domain, false},
                                       {"an unknown representation", unknown_repr, false},
                                       {"an unknown attribute", unknown_attribute, false},
                                       {"a required attribute missing", missing_attribute, false},
                                       {"a short hx_region", short_region, true},
                                       {"a short hx_op", short_op, true},
                                       {"a short hx_tensor_desc", short_values, true}};

static void expect_refusal(suite_t *suite, const call_t *call, region_t *r, const char *what, bool short_struct) {
  running_t running;
  hx_error error;
  const int32_t code = call_prepare(suite, call, r, &running, &error);
  const bool right = short_struct ? code == HX_ARGS_SIZE : code == HX_INVALID || code == HX_UNSUPPORTED;
  case_expect(suite, right, "%s with %s: prepare returned %s, %s is asked for", call->op, what, result_word(code),
              short_struct ? "HX_ARGS_SIZE" : "HX_INVALID or HX_UNSUPPORTED");
  if (code != HX_OK) {
    case_expect(
        suite, error.code == code && memchr(error.message, 0, sizeof error.message) != NULL && error.message[0] != '\0',
        "%s with %s: hx_error has code %d and %s message", call->op, what, error.code,
        error.message[0] == '\0' ? "no" : "a");
    case_expect(suite, running.prepared == NULL, "%s with %s: refused, and yet something was prepared", call->op, what);
  }
  call_destroy(suite, call, &running);
}

static void try_plan(suite_t *suite, const call_t *call) {
  region_t *r = region_create(call);
  int32_t alias[OPERANDS_MAX];
  memset(alias, 0xff, sizeof alias);
  hx_plan plan = {
      .struct_size = HX_END_OF(hx_plan, alias_count), .alias_count = call->result_count, .may_alias = alias};
  hx_prepared *prepared = NULL;
  hx_error error = error_init();
  const int32_t code = call->impl->prepare(suite->device, region_get(r), &plan, &prepared, &error);
  case_expect(suite, code == HX_ARGS_SIZE, "%s with a short hx_plan: prepare returned %s", call->op, result_word(code));
  if (prepared != NULL) call->impl->destroy(prepared);
  region_release(r);
}

// HX_ARGS_SIZE from the call itself.
static void try_call(suite_t *suite, const call_t *call) {
  region_t *r = region_create(call);
  running_t running;
  hx_error error;
  if (call_prepare(suite, call, r, &running, &error) == HX_OK) {
    const hx_call given = {.struct_size = HX_END_OF(hx_call, queue), .queue = suite->queue};
    error = error_init();
    const int32_t code = call->impl->execute(running.prepared, &given, &error);
    case_expect(suite, code == HX_ARGS_SIZE, "%s with a short hx_call: execute returned %s", call->op,
                result_word(code));
    // An error that has no room for a message is left alone.
    struct {
      uint32_t size;
      uint8_t rest[60];
    } small = {.size = 4};
    memset(small.rest, 0x5a, sizeof small.rest);
    (void)call->impl->execute(running.prepared, &given, (hx_error *)(void *)&small);
    for (size_t i = 0; i < sizeof small.rest; ++i) {
      if (!case_expect(suite, small.rest[i] == 0x5a, "%s: execute wrote into an hx_error of 4 bytes", call->op)) break;
    }
  } else {
    case_fail(suite, "%s: prepare: %s", call->op, error.message);
  }
  call_destroy(suite, call, &running);
  region_release(r);
}

static bool visit(suite_t *suite, const call_t *call) {
  for (size_t i = 0; i < HX_COUNT_OF(mutations); ++i) {
    region_t *r = region_create(call);
    if (mutations[i].apply(r, call)) expect_refusal(suite, call, r, mutations[i].what, mutations[i].short_struct);
    region_release(r);
  }
  try_plan(suite, call);
  try_call(suite, call);
  // After all that the call itself still works.
  return call_check(suite, call);
}

static bool is_registered(const suite_t *suite, const char *op) {
  for (uint32_t i = 0; i < suite->loaded->table.impl_count; ++i) {
    if (strcmp(suite->loaded->table.impls[i]->op, op) == 0) return true;
  }
  return false;
}

// Operations of the catalogue that the plugin does not have, asked of one that it has.
static bool visit_undeclared(suite_t *suite, const call_t *call) {
  for (uint32_t id = 0; id < HX_OP_COUNT; ++id) {
    const hx_op_info_t *op = hx_op_info((hx_op_id_t)id);
    if (is_registered(suite, op->name) || op->tier == HX_TIER_STRUCTURE) continue;
    region_t *r = region_create(call);
    region_op(r)->name = op->name;
    char what[96];
    snprintf(what, sizeof what, "the undeclared %.48s as its operation", op->name);
    expect_refusal(suite, call, r, what, false);
    region_release(r);
  }
  return false;
}

void run_refusals(suite_t *suite) {
  for (size_t i = 0; i < suite->loaded->operation_count; ++i) {
    const hx_manifest_operation_t *row = &suite->loaded->operations[i];
    const hx_impl *impl = find_impl(suite, row);
    if (!operation_wanted(suite, row) || impl == NULL || row->resource_count > 0 || op_case_find(row->type) == NULL)
      continue;
    case_begin(suite, "refusals", "%s, %s", row->type, row->implementation);
    with_first_call(suite, row, impl, 4, visit);
    case_end(suite);
  }
  case_begin(suite, "refusals", "undeclared operations");
  with_some_call(suite, 4, visit_undeclared);
  if (suite->record->verdict == CASE_RUNNING && suite->record->checks == 0)
    case_skip(suite, "every operation is declared");
  case_end(suite);
}
