// SPDX-License-Identifier: Apache-2.0
// How a call finds its implementation. Candidates are the rows whose declared ranges cover the call; a request by name
// is a hard constraint; exactly one must remain. Order and priority never decide.
#include <stdio.h>
#include <string.h>

#include "core/backend/backend.h"

// What declared ranges are compared with.
typedef struct facts {
  uint32_t dtypes;   // bits (1 << HX_U64)
  uint32_t domains;  // bits (1 << HX_NTT)
  uint32_t log_n;
  uint32_t bits_min, bits_max;  // of the primes on all rows; 0: no rows
} facts_t;

static uint32_t bits_of(uint64_t prime) { return 64 - (uint32_t)__builtin_clzll(prime | 1); }

static bool has_rows(const hx_type_t *type) {
  return type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT || type->kind == HX_TYPE_TENSOR;
}

static void add_primes(const hx_primes_t *primes, const hx_ring *ring, facts_t *facts) {
  for (uint32_t id = 0; id < ring->q_count + ring->p_count; ++id) {
    if (!hx_primes_has(primes, id)) continue;
    const uint32_t bits = bits_of(ring->primes[id]);
    if (facts->bits_min == 0 || bits < facts->bits_min) facts->bits_min = bits;
    if (bits > facts->bits_max) facts->bits_max = bits;
  }
}

static void add_type(const hx_type_t *type, const hx_ring *ring, facts_t *facts) {
  if (type->kind == HX_TYPE_KEY) {
    const hx_primes_t special = hx_ring_special(ring);
    add_primes(&special, ring, facts);
  }
  if (!has_rows(type)) return;
  const uint32_t word = ring->word == 32 ? HX_U32 : HX_U64;
  const uint32_t dtype = type->kind == HX_TYPE_TENSOR && (type->known & HX_KNOWN_DTYPE) != 0 ? type->dtype : word;
  if (dtype == HX_U64 || dtype == HX_U32)
    facts->dtypes |= 1u << dtype;  // signed words belong to the operation's definition
  add_primes(&type->primes, ring, facts);
}

static facts_t facts_of(const hx_invocation_t *call) {
  facts_t facts = {.log_n = call->ring->log_n};
  for (size_t i = 0; i < call->operand_count; ++i) {
    add_type(call->operands[i], call->ring, &facts);
    if (has_rows(call->operands[i])) facts.domains |= 1u << call->operands[i]->domain;
  }
  for (size_t i = 0; i < call->result_count; ++i) add_type(call->results[i], call->ring, &facts);
  facts.domains &= ~1u;  // domain 0: no residues
  return facts;
}

static const char *dtype_names(uint32_t mask, char text[40]) {
  static const char *const names[] = {"", "u64", "u32", "i64", "f64", "u8"};
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t d = 1; d < HX_COUNT_OF(names); ++d) {
    if ((mask & (1u << d)) == 0) continue;
    // Five names of 3 bytes and blanks fit.
    used += (size_t)snprintf(text + used, 40 - used, "%s%s", used == 0 ? "" : " ", names[d]);
  }
  return text;
}

// NULL if the declared ranges cover the call, else why not (in text). The secret capability is asked separately.
static const char *why_not(const hx_implementation_t *row, const facts_t *facts, bool in_place, char *text,
                           size_t size) {
  const hx_manifest_operation_t *limits = row->limits;
  char declared[40], needed[40];
  if (row->device == NULL) return "its plugin has no device";
  if (limits == NULL) return NULL;
  if (facts->log_n < limits->log_n_min || facts->log_n > limits->log_n_max) {
    snprintf(text, size, "log_n %u is outside its range %u to %u", facts->log_n, limits->log_n_min, limits->log_n_max);
  } else if ((facts->dtypes & ~limits->dtypes) != 0) {
    snprintf(text, size, "it takes dtypes %s, the call has %s", dtype_names(limits->dtypes, declared),
             dtype_names(facts->dtypes, needed));
  } else if (facts->bits_min != 0 &&
             (facts->bits_min < limits->prime_bits_min || facts->bits_max > limits->prime_bits_max)) {
    snprintf(text, size, "primes of %u to %u bits are outside its range %u to %u", facts->bits_min, facts->bits_max,
             limits->prime_bits_min, limits->prime_bits_max);
  } else if (limits->domains != 0 && (facts->domains & ~limits->domains) != 0) {
    snprintf(text, size, "it does not take operands in %s domain",
             (facts->domains & ~limits->domains & (1u << HX_NTT)) != 0 ? "ntt" : "coefficient");
  } else if (in_place && !limits->in_place) {
    return "it does not declare in_place";
  } else {
    return NULL;
  }
  return text;
}

static const char *secret_reason(const hx_implementation_t *row, const hx_invocation_t *call) {
  return call->secret && !row->handles_secrets ? "its plugin does not declare secrets, and an operand is secret" : NULL;
}

// ------------------------------------------------------------------ requests

typedef struct parts {
  hx_str_t part[3];
  size_t count;  // 0: no request; 4: too many
} parts_t;

static parts_t split(hx_str_t text) {
  parts_t parts = {0};
  for (bool more = text.size > 0; more && parts.count < 4; parts.count += 1) {
    const char *slash = text.size == 0 ? NULL : memchr(text.data, '/', text.size);
    const size_t size = slash == NULL ? text.size : (size_t)(slash - text.data);
    if (parts.count < 3) parts.part[parts.count] = (hx_str_t){.data = text.data, .size = size};
    more = slash != NULL;
    if (more) text = (hx_str_t){.data = slash + 1, .size = text.size - size - 1};
  }
  return parts;
}

// True if the request names this row; *out_variant is set where it pins one.
static bool names_row(const hx_implementation_t *row, hx_str_t request, hx_str_t *out_variant) {
  const parts_t parts = split(request);
  const hx_str_t plugin = hx_str(row->plugin), name = hx_str(row->name);
  *out_variant = (hx_str_t){0};
  if (parts.count == 1) return hx_str_equal(parts.part[0], name);
  if (parts.count == 2) {
    if (hx_str_equal(parts.part[0], plugin) && hx_str_equal(parts.part[1], name)) return true;
    *out_variant = parts.part[1];
    return parts.part[1].size > 0 && hx_str_equal(parts.part[0], name);
  }
  *out_variant = parts.part[2];
  return parts.count == 3 && parts.part[2].size > 0 && hx_str_equal(parts.part[0], plugin) &&
         hx_str_equal(parts.part[1], name);
}

// ------------------------------------------------------------------ resolution

typedef struct search {
  const hx_backend_t *backend;
  const hx_invocation_t *call;
  const hx_request_t *request;
  facts_t facts;
  size_t exists;  // rows of the operation
  size_t named;   // of them, those that the requests name, or that answer unnamed
  size_t by_program, by_caller;
  size_t remaining;    // that cover the call
  size_t only_secret;  // that would, but for the secret flag
  hx_text_t list;      // "a, b" of what remains, or each row's reason
} search_t;

static bool is_elsewhere(const hx_implementation_t *row, const hx_invocation_t *call) {
  return call->device != NULL && row->device != call->device;
}

static void describe(search_t *search, const hx_implementation_t *row, const char *reason) {
  if (reason != NULL && search->remaining > 0) return;  // the list holds what remains from the first one on
  hx_text_printf(&search->list, "%s%s", search->list.size == 0 ? "" : "; ", row->qualified);
  if (reason != NULL) hx_text_printf(&search->list, ": %s", reason);
}

// Counts a row; true if it is a candidate that remains.
static bool consider(search_t *search, const hx_implementation_t *row, hx_str_t *out_variant) {
  hx_str_t program_variant = {0}, caller_variant = {0};
  const hx_str_t program = search->request->program, caller = search->request->caller;
  const bool program_fits = program.size == 0 || names_row(row, program, &program_variant);
  const bool caller_fits = caller.size == 0 || names_row(row, caller, &caller_variant);
  search->exists += 1;
  search->by_program += program_fits;
  search->by_caller += caller_fits;
  if (!program_fits || !caller_fits) return false;
  if (program_variant.size > 0 && caller_variant.size > 0 && !hx_str_equal(program_variant, caller_variant))
    return false;
  if (program.size == 0 && caller.size == 0 && row->limits != NULL && row->limits->explicit_only) {
    describe(search, row, "answers only to its name");
    return false;
  }
  search->named += 1;
  char text[160];
  const char *reason = why_not(row, &search->facts, search->call->in_place, text, sizeof text);
  const char *secret = secret_reason(row, search->call);
  if (is_elsewhere(row, search->call)) {
    snprintf(text, sizeof text, "the operation is placed on %s", search->call->device->name);
    reason = text;
  }
  if (reason == NULL && secret != NULL) search->only_secret += 1;
  if (reason == NULL) reason = secret;
  if (reason != NULL) {
    describe(search, row, reason);
    return false;
  }
  *out_variant = program_variant.size > 0 ? program_variant : caller_variant;
  return true;
}

static hx_status_t fail(const search_t *search, hx_code_t code, hx_report_t *report, const char *text) {
  const hx_request_t *request = search->request;
  return hx_report_fail_at(report, code, request->source, request->line, request->column, "%s: %s",
                           search->call->op->name, text);
}

static void list_existing(const search_t *search, hx_text_t *out) {
  const char *separator = "";
  for (size_t i = 0; i < search->backend->row_count; ++i) {
    const hx_implementation_t *row = &search->backend->rows[i];
    if (row->op != search->call->op->id) continue;
    hx_text_printf(out, "%s%s", separator, row->qualified);
    separator = ", ";
  }
}

static hx_status_t fail_none(search_t *search, hx_report_t *report) {
  const hx_str_t program = search->request->program, caller = search->request->caller;
  const hx_str_t asked = search->by_program == 0 ? program : caller;
  const bool unknown = (program.size > 0 && search->by_program == 0) || (caller.size > 0 && search->by_caller == 0);
  hx_code_t code = HX_CODE_IMPLEMENTATION;
  hx_text_t text;
  hx_text_init(&text);
  if (search->exists == 0) {
    hx_text_puts(&text, "no implementation in this backend");
  } else if (unknown) {
    hx_text_printf(&text, "no implementation is named \"%.*s\"; there are: ", (int)asked.size, asked.data);
    list_existing(search, &text);
  } else if (program.size > 0 && caller.size > 0 && search->named == 0) {
    code = HX_CODE_CONSTRAINT;
    hx_text_printf(&text, "the program asks for \"%.*s\", the caller for \"%.*s\"", (int)program.size, program.data,
                   (int)caller.size, caller.data);
  } else {
    if (search->only_secret > 0) code = HX_CODE_CAPABILITY;
    hx_text_printf(&text, "no implementation covers this call (%s)", search->list.failed ? "" : search->list.data);
  }
  const hx_status_t status = fail(search, code, report, text.failed ? "no implementation" : text.data);
  hx_text_deinit(&text);
  return status;
}

static hx_status_t fail_ambiguous(const search_t *search, hx_report_t *report) {
  hx_text_t text;
  hx_text_init(&text);
  hx_text_printf(&text, "%zu implementations fit and none was asked for: %s", search->remaining,
                 search->list.failed ? "" : search->list.data);
  const hx_status_t status =
      fail(search, HX_CODE_AMBIGUOUS, report, text.failed ? "several implementations fit" : text.data);
  hx_text_deinit(&text);
  return status;
}

hx_status_t hx_backend_resolve(const hx_backend_t *backend, const hx_invocation_t *call, const hx_request_t *request,
                               hx_resolution_t *out, hx_report_t *report) {
  search_t search = {.backend = backend, .call = call, .request = request, .facts = facts_of(call)};
  hx_text_init(&search.list);
  const hx_implementation_t *found = NULL;
  hx_str_t variant = {0};
  for (size_t i = 0; i < backend->row_count; ++i) {
    const hx_implementation_t *row = &backend->rows[i];
    hx_str_t row_variant = {0};
    if (row->op != call->op->id || !consider(&search, row, &row_variant)) continue;
    if (search.remaining == 0) hx_text_clear(&search.list);
    search.remaining += 1;
    found = row;
    variant = row_variant;
    describe(&search, row, NULL);
  }
  hx_status_t status = HX_STATUS_OK;
  if (search.remaining == 0) {
    status = fail_none(&search, report);
  } else if (search.remaining > 1) {
    status = fail_ambiguous(&search, report);
  } else if (variant.size >= sizeof out->variant) {
    status = fail(&search, HX_CODE_IMPLEMENTATION, report, "the variant's name is longer than 63 bytes");
  } else {
    *out = (hx_resolution_t){.implementation = found};
    if (variant.size > 0) memcpy(out->variant, variant.data, variant.size);
  }
  hx_text_deinit(&search.list);
  return status;
}

bool hx_implementation_covers(const hx_implementation_t *implementation, const hx_invocation_t *call) {
  char text[160];
  const facts_t facts = facts_of(call);
  return !is_elsewhere(implementation, call) &&
         why_not(implementation, &facts, call->in_place, text, sizeof text) == NULL &&
         secret_reason(implementation, call) == NULL;
}

uint32_t hx_backend_device_of(const hx_backend_t *backend, hx_str_t name) {
  for (uint32_t i = 0; i < backend->device_count; ++i) {
    const hx_opened_device_t *device = backend->devices[i];
    if (hx_str_equal(name, hx_str(device->plugin->record->name)) || hx_str_equal(name, hx_str(device->name))) return i;
  }
  return HX_NONE;
}

const hx_implementation_t *hx_backend_fusion(const hx_backend_t *backend, const hx_opened_device_t *device,
                                             const char *kind, bool *out_several) {
  const hx_implementation_t *found = NULL;
  *out_several = false;
  for (size_t i = 0; i < backend->row_count; ++i) {
    const hx_implementation_t *row = &backend->rows[i];
    if (row->region_count == 0 || row->device != device || (row->limits != NULL && row->limits->explicit_only))
      continue;
    for (size_t k = 0; k < row->region_count; ++k) {
      if (strcmp(row->regions[k], kind) != 0) continue;
      *out_several = found != NULL;
      if (found != NULL) return NULL;
      found = row;
      break;
    }
  }
  return found;
}

bool hx_backend_supports(const hx_backend_t *backend, const hx_invocation_t *call) {
  const facts_t facts = facts_of(call);
  char text[160];
  for (size_t i = 0; i < backend->row_count; ++i) {
    const hx_implementation_t *row = &backend->rows[i];
    if (row->op != call->op->id || (row->limits != NULL && row->limits->explicit_only)) continue;
    if (!is_elsewhere(row, call) && why_not(row, &facts, call->in_place, text, sizeof text) == NULL &&
        secret_reason(row, call) == NULL)
      return true;
  }
  return false;
}

hx_status_t hx_backend_diagnose(const hx_backend_t *backend, const hx_invocation_t *call, hx_text_t *out) {
  const facts_t facts = facts_of(call);
  for (size_t i = 0; i < backend->row_count; ++i) {
    const hx_implementation_t *row = &backend->rows[i];
    char text[160];
    if (row->op != call->op->id) continue;
    const char *reason = why_not(row, &facts, call->in_place, text, sizeof text);
    if (reason == NULL) reason = secret_reason(row, call);
    if (reason == NULL && row->limits != NULL && row->limits->explicit_only) reason = "answers only to its name";
    hx_text_printf(out, "%s %s: %s\n", call->op->name, row->qualified, reason == NULL ? "covers" : reason);
  }
  return out->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

hx_status_t hx_implementation_status(const hx_implementation_t *implementation, int32_t result, const hx_error *error,
                                     const char *what, hx_report_t *report) {
  if (result == HX_OK) return HX_STATUS_OK;
  char text[HX_NAME_MAX * 4];
  snprintf(text, sizeof text, "%s with %s", what, implementation->qualified);
  return hx_plugin_status(implementation->device->plugin, result, error, text, report);
}
