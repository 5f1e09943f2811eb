// SPDX-License-Identifier: Apache-2.0
// The first pass of a pipeline behind which a result is another one, by halving the pipeline.
#include <math.h>
#include <string.h>

#include "core/compile/compilation.h"
#include "core/passes/passes.h"

typedef struct hx_search {
  const hx_compilation_t *compilation;
  const hx_backend_t *backend;
  const char *pipeline;
  const hx_value_t *const *inputs;
  const hx_bisect_options_t *options;
  hx_report_t *report;
  hx_value_t **expected;  // [output_count]: of the program as it is
  size_t output_count;
  hx_bisection_t *out;
} hx_search_t;

static void release_all(hx_value_t **values, size_t count) {
  for (size_t i = 0; values != NULL && i < count; ++i) hx_value_release(values[i]);
  hx_free(values);
}

// Text of the first `count` passes; freed by hx_free.
static char *beginning(const char *pipeline, size_t count) {
  if (count == 0) return hx_strdup("");
  const hx_str_t last = hx_pipeline_entry(pipeline, count - 1);
  const size_t size = last.data == NULL ? 0 : (size_t)(last.data + last.size - pipeline);
  char *text = hx_alloc(size + 1);
  if (text == NULL) return NULL;
  memcpy(text, pipeline, size);
  text[size] = '\0';
  return text;
}

// Links and runs the program behind a beginning of the pipeline.
static hx_status_t run_behind(hx_search_t *search, size_t count, hx_value_t ***out, hx_report_t *report) {
  char *text = beginning(search->pipeline, count);
  hx_value_t **outputs = hx_zalloc(search->compilation->program->output_count + 1, sizeof *outputs);
  hx_executable_t *executable = NULL;
  hx_status_t status = text == NULL || outputs == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  if (status == HX_STATUS_OK) status = hx_link(search->compilation, search->backend, text, &executable, report);
  if (status == HX_STATUS_OK) status = hx_run(executable, search->inputs, outputs, report);
  search->out->runs += 1;
  hx_executable_release(executable);
  hx_free(text);
  if (status == HX_STATUS_OK) {
    *out = outputs;
  } else {
    hx_free(outputs);
  }
  return status;
}

// ------------------------------------------------------------------ comparing

static hx_status_t decode(const hx_search_t *search, const hx_value_t *value, double **out, size_t *out_count) {
  hx_value_t *host = NULL, *plaintext = NULL;
  *out_count = (size_t)2 * value->type.slots;
  for (uint32_t i = 0; i < value->type.batch_rank; ++i) *out_count *= value->type.batch_shape[i];
  double *pairs = hx_zalloc(*out_count + 1, sizeof *pairs);
  hx_status_t status = pairs == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_value_to_host(value, &host, search->report);
  if (status == HX_STATUS_OK && value->type.kind == HX_TYPE_CIPHERTEXT)
    status = hx_decrypt(search->options->secret, host, &plaintext, search->report);
  if (status == HX_STATUS_OK) status = hx_decode(plaintext == NULL ? host : plaintext, pairs, search->report);
  hx_value_release(host);
  hx_value_release(plaintext);
  if (status == HX_STATUS_OK) {
    *out = pairs;
  } else {
    hx_free(pairs);
  }
  return status;
}

static hx_status_t is_same(const hx_search_t *search, const hx_value_t *expected, const hx_value_t *found, bool *out) {
  *out = hx_value_equal(expected, found);
  const hx_bisect_options_t *options = search->options;
  const bool has_slots = found->type.kind == HX_TYPE_CIPHERTEXT || found->type.kind == HX_TYPE_PLAINTEXT;
  if (*out || options == NULL || options->secret == NULL || !has_slots) return HX_STATUS_OK;
  double *left = NULL, *right = NULL, greatest = 0;
  size_t left_count = 0, right_count = 0;
  hx_status_t status = decode(search, expected, &left, &left_count);
  if (status == HX_STATUS_OK) status = decode(search, found, &right, &right_count);
  for (size_t i = 0; status == HX_STATUS_OK && i < left_count && i < right_count; ++i) {
    const double distance = fabs(left[i] - right[i]);
    if (!(distance <= greatest)) greatest = distance;  // a NaN is the greatest
  }
  if (status == HX_STATUS_OK) {
    *out = left_count == right_count && greatest <= options->tolerance;
    if (!*out) search->out->difference = greatest;
  }
  hx_free(left);
  hx_free(right);
  return status;
}

static void name_output(const hx_search_t *search, size_t index) {
  const char *name = search->compilation->program->outputs[index].name;
  size_t size = strlen(name);
  if (size >= sizeof search->out->output) size = sizeof search->out->output - 1;
  memcpy(search->out->output, name, size);
  search->out->output[size] = '\0';
}

// Whether the results behind a beginning are those expected. A beginning that cannot be linked or run is not.
static hx_status_t is_good(hx_search_t *search, size_t count, bool *out) {
  hx_report_t *own = hx_report_create();
  hx_value_t **outputs = NULL;
  hx_status_t status = own == NULL ? HX_STATUS_OUT_OF_MEMORY : run_behind(search, count, &outputs, own);
  *out = status == HX_STATUS_OK;
  if (status != HX_STATUS_OK && status != HX_STATUS_OUT_OF_MEMORY) {
    search->out->output[0] = '\0';
    status = HX_STATUS_OK;
  }
  for (size_t i = 0; outputs != NULL && i < search->output_count && *out && status == HX_STATUS_OK; ++i) {
    status = is_same(search, search->expected[i], outputs[i], out);
    if (!*out) name_output(search, i);
  }
  release_all(outputs, search->output_count);
  hx_report_release(own);
  return status;
}

static hx_status_t halve(hx_search_t *search, size_t count) {
  bool good = true;
  HX_TRY(is_good(search, count, &good));
  search->out->found = !good;
  if (good) return HX_STATUS_OK;
  size_t low = 0, high = count;  // behind `low` passes all is well, behind `high` it is not
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    HX_TRY(is_good(search, middle, &good));
    *(good ? &low : &high) = middle;
  }
  HX_TRY(is_good(search, high, &good));  // figures of this one
  search->out->index = high - 1;
  const hx_str_t entry = hx_pipeline_entry(search->pipeline, high - 1);
  const size_t size = entry.size < sizeof search->out->entry ? entry.size : sizeof search->out->entry - 1;
  memcpy(search->out->entry, entry.data, size);
  search->out->entry[size] = '\0';
  return HX_STATUS_OK;
}

hx_status_t hx_bisect(const hx_compilation_t *compilation, const hx_backend_t *backend, const char *pipeline,
                      const hx_value_t *const *inputs, const hx_bisect_options_t *options, hx_bisection_t *out,
                      hx_report_t *report) {
  if (compilation == NULL || backend == NULL || pipeline == NULL || inputs == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_bisect: an argument is NULL");
  size_t count = 0;
  HX_TRY(hx_pipeline_check(pipeline, &count, report));
  *out = (hx_bisection_t){0};
  hx_search_t search = {.compilation = compilation,
                        .backend = backend,
                        .pipeline = pipeline,
                        .inputs = inputs,
                        .options = options,
                        .report = report,
                        .output_count = compilation->program->output_count,
                        .out = out};
  hx_status_t status = run_behind(&search, 0, &search.expected, report);
  if (status == HX_STATUS_OK) status = halve(&search, count);
  release_all(search.expected, search.output_count);
  if (status == HX_STATUS_OUT_OF_MEMORY)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to search a pipeline");
  return status;
}
