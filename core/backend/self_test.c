// SPDX-License-Identifier: Apache-2.0
// Runs each declared row that has a known answer on the device and compares it word by word with the reference.
#include "core/backend/self_test.h"

#include <stdio.h>
#include <string.h>

#include "core/base/log.h"

#define OPERANDS_MAX 3
#define FILLS 2  // all q-1; edges and a mixture

enum { ALL, Q_ONLY, Q_BUT_LAST };  // rows of a value
enum { NOTHING, CONSTANTS, DIGIT, ROUNDING, ROUNDING_COUNT, ELEMENT };

typedef struct question {
  const char *op;
  uint32_t operands;
  int from, to;                     // rows of operands and result
  uint32_t domain_from, domain_to;  // 0: ntt where the row takes it, else coefficients
  int attrs;
} question_t;

static const question_t questions[] = {
    {"rns.add", 2, ALL, ALL, 0, 0, NOTHING},
    {"rns.sub", 2, ALL, ALL, 0, 0, NOTHING},
    {"rns.mul", 2, ALL, ALL, 0, 0, NOTHING},
    {"rns.mul_add", 3, ALL, ALL, 0, 0, NOTHING},
    {"rns.mul_scalar", 1, ALL, ALL, 0, 0, CONSTANTS},
    {"ntt.forward", 1, ALL, ALL, HX_COEFFICIENT, HX_NTT, NOTHING},
    {"ntt.inverse", 1, ALL, ALL, HX_NTT, HX_COEFFICIENT, NOTHING},
    {"rns.mod_up", 1, Q_ONLY, ALL, 0, 0, DIGIT},
    {"rns.mod_down", 1, ALL, Q_ONLY, 0, 0, ROUNDING},
    {"rns.rescale", 1, Q_ONLY, Q_BUT_LAST, 0, 0, ROUNDING_COUNT},
    {"rns.automorphism", 1, ALL, ALL, 0, 0, ELEMENT},
};

// One run of the self-test. Value i < operands is an operand, value `operands` the result.
typedef struct run {
  hx_opened_device_t *device;
  hx_queue *queue;
  hx_report_t *report;
  const hx_impl *record;
  const question_t *question;
  hx_self_test_ring_t ring;
  hx_ref_ring *reference;
  hx_device_tables_t *tables;
  hx_tensor_desc values[OPERANDS_MAX + 1];
  uint64_t offsets[OPERANDS_MAX + 1], bytes[OPERANDS_MAX + 1];
  uint64_t size;  // of all values
  hx_attr attrs[2];
  int64_t numbers[2];
  hx_op op;
  hx_region region;
  uint32_t operand_ids[OPERANDS_MAX], result_id;
} run_t;

static hx_status_t out_of_memory(const run_t *run) {
  return hx_report_fail(run->report, HX_CODE_OUT_OF_MEMORY, "no memory for the self-test of %s", run->device->name);
}

// ------------------------------------------------------------------ the question

static uint32_t limbs_of(const hx_ring *ring, int rows) {
  return rows == ALL ? ring->q_count + ring->p_count : rows == Q_ONLY ? ring->q_count : ring->q_count - 1;
}

static void describe_value(run_t *run, uint32_t index, int rows, uint32_t domain) {
  const hx_ring *ring = &run->ring.ring;
  const uint64_t n = (uint64_t)1 << ring->log_n, alignment = run->device->alignment;
  hx_tensor_desc *desc = &run->values[index];
  *desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                           .dtype = ring->word == 32 ? HX_U32 : HX_U64,
                           .log_n = ring->log_n,
                           .components = 1,
                           .limbs = limbs_of(ring, rows),
                           .domain = domain,
                           .basis = rows == ALL ? HX_BASIS_QP : HX_BASIS_Q,
                           .repr = HX_STANDARD,
                           .component_stride = limbs_of(ring, rows) * n,
                           .limb_stride = n,
                           .prime_ids = run->ring.ids};
  run->offsets[index] = run->size;
  run->bytes[index] = desc->component_stride * (ring->word / 8);
  run->size += (run->bytes[index] + alignment - 1) / alignment * alignment;
}

static void set_attr(run_t *run, const char *name, uint32_t kind, uint32_t count, const void *data) {
  run->attrs[run->op.attr_count++] =
      (hx_attr){.struct_size = HX_END_OF(hx_attr, data), .kind = kind, .count = count, .name = name, .data = data};
}

static void set_attrs(run_t *run, uint64_t *constants) {
  static const char nearest[] = "nearest";
  run->numbers[0] = run->question->attrs == ELEMENT ? 5 : 0;
  run->numbers[1] = 1;
  switch (run->question->attrs) {
    case CONSTANTS:
      for (uint32_t l = 0; l < run->values[0].limbs; ++l) constants[l] = run->ring.primes[l] - 1;
      set_attr(run, "residues", HX_ATTR_U64, run->values[0].limbs, constants);
      break;
    case DIGIT:
      set_attr(run, "digit", HX_ATTR_I64, 1, &run->numbers[0]);
      break;
    case ELEMENT:
      set_attr(run, "element", HX_ATTR_I64, 1, &run->numbers[0]);
      break;
    case ROUNDING_COUNT:
      set_attr(run, "count", HX_ATTR_I64, 1, &run->numbers[1]);
      set_attr(run, "rounding", HX_ATTR_TEXT, sizeof nearest - 1, nearest);
      break;
    case ROUNDING:
      set_attr(run, "rounding", HX_ATTR_TEXT, sizeof nearest - 1, nearest);
      break;
    default:
      break;
  }
}

static void build_region(run_t *run, const hx_manifest_operation_t *row, uint64_t *constants) {
  const question_t *question = run->question;
  const bool ntt = row->domains == 0 || (row->domains & (1u << HX_NTT)) != 0;
  const uint32_t any = ntt ? HX_NTT : HX_COEFFICIENT;
  run->size = 0;
  for (uint32_t i = 0; i < question->operands; ++i) {
    describe_value(run, i, question->from, question->domain_from == 0 ? any : question->domain_from);
    run->operand_ids[i] = i;
  }
  run->result_id = question->operands;
  describe_value(run, run->result_id, question->to, question->domain_to == 0 ? any : question->domain_to);
  run->op = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                    .signature = run->record->signature,
                    .operand_count = question->operands,
                    .result_count = 1,
                    .name = question->op,
                    .attrs = run->attrs,
                    .operands = run->operand_ids,
                    .results = &run->result_id};
  set_attrs(run, constants);
  run->region = (hx_region){.struct_size = HX_END_OF(hx_region, op_callables),
                            .value_count = question->operands + 1,
                            .op_count = 1,
                            .input_count = question->operands,
                            .output_count = 1,
                            .ring = &run->ring.ring,
                            .tables = run->tables->handle,
                            .values = run->values,
                            .ops = &run->op,
                            .inputs = run->operand_ids,
                            .outputs = &run->result_id};
}

// ------------------------------------------------------------------ the answers

// Values of the mixture: the edges first, then whatever a linear congruence gives.
static uint64_t mixed(uint64_t i, uint64_t q, uint64_t *state) {
  const uint64_t edges[] = {0, 1, q - 1, (q - 1) / 2, (q + 1) / 2, q - 2};
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return i < HX_COUNT_OF(edges) ? edges[i] : *state % q;
}

static void fill_operand(const run_t *run, uint32_t index, uint32_t fill, uint64_t *row, unsigned char *memory) {
  const hx_tensor_desc *desc = &run->values[index];
  const uint64_t n = (uint64_t)1 << desc->log_n, word = run->ring.ring.word / 8;
  uint64_t state = 88172645463325252u + index;
  for (uint32_t l = 0; l < desc->limbs; ++l) {
    const uint64_t q = run->ring.primes[l];
    for (uint64_t i = 0; i < n; ++i) row[i] = fill == 0 ? q - 1 : mixed((i + index) % n, q, &state);
    hx_ref_row_store(run->reference, desc->dtype, row, memory + l * n * word);
  }
}

static hx_status_t fail_call(const run_t *run, const char *step, int32_t result, const hx_error *error) {
  char what[160], number[32];
  hx_report_t *reason = hx_report_create();
  snprintf(what, sizeof what, "%s", step);
  snprintf(number, sizeof number, "result %d", result);
  (void)hx_plugin_status(run->device->plugin, result, error, what, reason);
  const hx_fault_t *fault = hx_report_get(reason, 0);
  char text[1400];
  snprintf(text, sizeof text, "%s fails at %s by %s: %.1000s", run->device->name, run->question->op, run->record->name,
           fault == NULL ? "out of memory" : fault->text);
  hx_report_release(reason);
  return hx_report_add(run->report, &(hx_fault_t){.code = HX_CODE_SELF_TEST,
                                                  .text = text,
                                                  .expected = "the known answer",
                                                  .found = number,
                                                  .hint = hx_code_info(HX_CODE_SELF_TEST)->remedy});
}

static hx_status_t fail_word(const run_t *run, uint32_t limb, uint64_t index, uint64_t expected, uint64_t found) {
  char text[400], wanted[32], got[32];
  snprintf(text, sizeof text, "%s computes %s by %s wrongly: N = 2^%u, prime %u (%llu), index %llu", run->device->name,
           run->question->op, run->record->name, run->ring.ring.log_n, limb, (unsigned long long)run->ring.primes[limb],
           (unsigned long long)index);
  snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)expected);
  snprintf(got, sizeof got, "%llu", (unsigned long long)found);
  return hx_report_add(run->report, &(hx_fault_t){.code = HX_CODE_SELF_TEST,
                                                  .text = text,
                                                  .expected = wanted,
                                                  .found = got,
                                                  .hint = hx_code_info(HX_CODE_SELF_TEST)->remedy});
}

static hx_status_t compare(const run_t *run, const unsigned char *expected, const unsigned char *found) {
  const hx_tensor_desc *desc = &run->values[run->result_id];
  const uint64_t n = (uint64_t)1 << desc->log_n;
  for (uint64_t i = 0; i < desc->limbs * n; ++i) {
    uint64_t wanted = 0, got = 0;
    if (desc->dtype == HX_U64) {
      memcpy(&wanted, expected + 8 * i, 8);
      memcpy(&got, found + 8 * i, 8);
    } else {
      uint32_t narrow[2];
      memcpy(&narrow[0], expected + 4 * i, 4);
      memcpy(&narrow[1], found + 4 * i, 4);
      wanted = narrow[0];
      got = narrow[1];
    }
    if (wanted != got) return fail_word(run, (uint32_t)(i / n), i % n, wanted, got);
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ one run on the device

// Host memory of all values, device memory of all values and of scratch.
typedef struct memory {
  unsigned char *host, *found;
  uint64_t *row;
  hx_storage_t *values, *scratch_device, *scratch_host;
} memory_t;

static void free_memory(memory_t *memory) {
  hx_aligned_free(memory->host);
  hx_aligned_free(memory->found);
  hx_free(memory->row);
  if (memory->values != NULL) hx_storage_release(memory->values);
  if (memory->scratch_device != NULL) hx_storage_release(memory->scratch_device);
  if (memory->scratch_host != NULL) hx_storage_release(memory->scratch_host);
}

static hx_status_t alloc_memory(run_t *run, const hx_plan *plan, memory_t *memory) {
  hx_opened_device_t *device = run->device;
  memory->host = hx_aligned_alloc((size_t)run->size);
  memory->found = hx_aligned_alloc((size_t)run->bytes[run->result_id]);
  memory->row = hx_alloc(sizeof *memory->row << run->ring.ring.log_n);
  if (memory->host == NULL || memory->found == NULL || memory->row == NULL) return out_of_memory(run);
  HX_TRY(hx_device_alloc(device, HX_SPACE_DEVICE, run->size, false, &memory->values, run->report));
  if (plan->scratch_device > 0) {
    HX_TRY(hx_device_alloc(device, HX_SPACE_DEVICE, plan->scratch_device, false, &memory->scratch_device, run->report));
  }
  if (plan->scratch_host > 0) {
    HX_TRY(hx_device_alloc(device, HX_SPACE_HOST, plan->scratch_host, false, &memory->scratch_host, run->report));
  }
  return HX_STATUS_OK;
}

static hx_status_t call_device(run_t *run, hx_prepared *prepared, memory_t *memory) {
  hx_error error = hx_error_make();
  hx_span inputs[OPERANDS_MAX], output = {memory->values->buffer, run->offsets[run->result_id]};
  for (uint32_t i = 0; i < run->question->operands; ++i) inputs[i] = (hx_span){memory->values->buffer, run->offsets[i]};
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = run->queue,
                        .scratch_host = {memory->scratch_host == NULL ? NULL : memory->scratch_host->buffer, 0},
                        .scratch_device = {memory->scratch_device == NULL ? NULL : memory->scratch_device->buffer, 0},
                        .inputs = inputs,
                        .outputs = &output};
  int32_t result = run->record->execute(prepared, &call, &error);
  if (result != HX_OK) return fail_call(run, "execute", result, &error);
  result = run->device->queue.sync(run->queue, &error);
  return result == HX_OK ? HX_STATUS_OK : fail_call(run, "sync", result, &error);
}

static hx_status_t ask(run_t *run, hx_prepared *prepared, uint32_t fill, memory_t *memory) {
  void *data[OPERANDS_MAX + 1];
  hx_error error = hx_error_make();
  for (uint32_t i = 0; i <= run->question->operands; ++i) data[i] = memory->host + run->offsets[i];
  for (uint32_t i = 0; i < run->question->operands; ++i) fill_operand(run, i, fill, memory->row, data[i]);
  memset(data[run->result_id], 0xa5, (size_t)run->bytes[run->result_id]);
  HX_TRY(hx_device_upload(run->device, memory->values, 0, memory->host, run->size, run->report));
  const int32_t result = hx_reference_execute(run->reference, &run->op, run->values, data, &error);
  if (result == HX_OUT_OF_MEMORY) return out_of_memory(run);
  if (result != HX_OK) {
    return hx_report_fail(run->report, HX_CODE_INTERNAL, "the self-test of %s asks what has no answer: %s",
                          run->question->op, error.message);
  }
  HX_TRY(call_device(run, prepared, memory));
  HX_TRY(hx_device_download(run->device, memory->found, memory->values, run->offsets[run->result_id],
                            run->bytes[run->result_id], run->report));
  return compare(run, data[run->result_id], memory->found);
}

// *out_done: false where the implementation does not take the question's form.
static hx_status_t ask_all(run_t *run, bool *out_done) {
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  hx_error error = hx_error_make();
  hx_prepared *prepared = NULL;
  const int32_t result = run->record->prepare(run->device->handle, &run->region, &plan, &prepared, &error);
  *out_done = result != HX_UNSUPPORTED;
  if (result == HX_UNSUPPORTED) return HX_STATUS_OK;
  if (result != HX_OK) return fail_call(run, "prepare", result, &error);
  memory_t memory = {0};
  hx_status_t status = alloc_memory(run, &plan, &memory);
  for (uint32_t fill = 0; fill < FILLS && status == HX_STATUS_OK; ++fill) status = ask(run, prepared, fill, &memory);
  run->record->destroy(prepared);
  free_memory(&memory);
  return status;
}

static void close_ring(run_t *run) {
  hx_device_tables_release(run->tables);
  hx_ref_ring_destroy(run->reference);
  run->tables = NULL;
  run->reference = NULL;
}

// The ring of a row; most rows of a plugin have the same one, which is kept. *out_fits: false where no ring fits.
static hx_status_t open_ring(run_t *run, const hx_manifest_operation_t *row, uint32_t word, bool *out_fits) {
  hx_self_test_choice_t choice;
  *out_fits = hx_self_test_choose(row, word, &choice);
  if (!*out_fits || (run->reference != NULL && memcmp(&choice, &run->ring.choice, sizeof choice) == 0))
    return HX_STATUS_OK;
  close_ring(run);
  hx_error error = hx_error_make();
  hx_self_test_ring(&choice, &run->ring);
  const int32_t made = hx_ref_ring_create(&run->ring.ring, &run->reference, &error);
  if (made == HX_OUT_OF_MEMORY) return out_of_memory(run);
  if (made != HX_OK) return hx_report_fail(run->report, HX_CODE_INTERNAL, "the ring of a self-test: %s", error.message);
  return hx_device_tables_acquire(run->device, &run->ring.ring, &run->tables, run->report);
}

static const question_t *find_question(const char *op) {
  for (size_t i = 0; i < HX_COUNT_OF(questions); ++i) {
    if (strcmp(questions[i].op, op) == 0) return &questions[i];
  }
  return NULL;
}

// Rows that want packed forms or promise less than equal bits have no known answer here.
static hx_status_t test_row(run_t *run, const hx_impl *record, uint32_t word, bool *out_done) {
  const hx_manifest_operation_t *row = hx_loaded_plugin_operation(run->device->plugin, record->op, record->name);
  const uint32_t dtype = word == 32 ? HX_U32 : HX_U64;
  uint64_t constants[HX_SELF_TEST_PRIMES];
  bool fits = false;
  run->record = record;
  run->question = find_question(record->op);
  if (row == NULL || run->question == NULL || !row->bit_exact || row->resource_count > 0 || row->signature != 1 ||
      (row->dtypes & (1u << dtype)) == 0) {
    return HX_STATUS_OK;
  }
  HX_TRY(open_ring(run, row, word, &fits));
  if (!fits) return HX_STATUS_OK;
  build_region(run, row, constants);
  return ask_all(run, out_done);
}

static hx_status_t test_rows(run_t *run, bool *done) {
  const hx_plugin *table = &run->device->plugin->table;
  for (uint32_t word = 64; word >= 32; word -= 32) {
    for (uint32_t i = 0; i < table->impl_count; ++i) {
      bool one = false;
      HX_TRY(test_row(run, table->impls[i], word, &one));
      done[i] = done[i] || one;
    }
  }
  return HX_STATUS_OK;
}

static hx_status_t test_device(hx_opened_device_t *device, hx_self_test_result_t *out, hx_report_t *report) {
  run_t run = {.device = device, .report = report};
  const uint32_t count = device->plugin->table.impl_count;
  bool *done = hx_zalloc((size_t)count + 1, sizeof *done);
  if (done == NULL) return out_of_memory(&run);
  hx_status_t status = hx_device_queue(device, &run.queue, report);
  if (status == HX_STATUS_OK) {
    status = test_rows(&run, done);
    close_ring(&run);
    device->queue.destroy(run.queue);
  }
  for (uint32_t i = 0; i < count; ++i) {
    out->tested += done[i];
    out->skipped += !done[i];
  }
  hx_free(done);
  return status;
}

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

hx_status_t hx_device_self_test(hx_opened_device_t *device, bool force, hx_self_test_result_t *out,
                                hx_report_t *report) {
  hx_self_test_result_t result = {0};
  hx_text_t key;
  hx_text_init(&key);
  pthread_mutex_lock(&one_at_a_time);
  hx_status_t status = hx_self_test_key(device, &key);
  if (status != HX_STATUS_OK) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for the self-test of %s", device->name);
  } else if (!force && hx_self_test_is_known(key.data)) {
    result.cached = true;
  } else {
    status = test_device(device, &result, report);
    if (status == HX_STATUS_OK) {
      hx_self_test_remember(key.data);
      hx_log(HX_LOG_INFO, "backend", "%s: %u operations give the known answers, %u are not asked", device->name,
             result.tested, result.skipped);
    }
  }
  pthread_mutex_unlock(&one_at_a_time);
  hx_text_deinit(&key);
  *out = result;
  return status;
}
