// SPDX-License-Identifier: Apache-2.0
// check: whether this machine can run a program, and the plan report, before any key exists.
#include <math.h>
#include <string.h>

#include "cli/check_shard.h"

typedef struct {
  hx_params_t *params;
  hx_program_t *program;
  hx_compilation_t *compilation;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  hx_costs_t *costs;
  hx_plan_t *plan;
  hx_bundle_t *bundle;  // where the program is one
  cli_shard_t shard;
} check_t;

static double mib(uint64_t bytes) { return (double)bytes / 1048576; }

// ------------------------------------------------------------------ text

static void print_ports(const char *what, const hx_port_t *ports, size_t count) {
  for (size_t i = 0; i < count; ++i) printf("%-9s %s (%s): %s\n", what, ports[i].name, ports[i].role, ports[i].type);
}

static void print_keys(const hx_plan_info_t *info) {
  printf("depth     %u of %u\nkeys      %s%srotations", info->depth, info->max_depth,
         info->needs_relin ? "relinearization, " : "", info->needs_conj ? "conjugation, " : "");
  for (size_t i = 0; i < info->step_count; ++i) printf("%s%lld", i == 0 ? " " : ", ", (long long)info->steps[i]);
  if (info->step_count == 0) printf(" none");
  printf("; %.1f MiB\n", mib(info->key_bytes));
}

static void print_devices(const hx_plan_t *plan) {
  const hx_plan_device_t *devices;
  const size_t count = hx_plan_devices(plan, &devices);
  for (size_t i = 0; i < count; ++i)
    printf("  on %-6s %.1f MiB at their peak (%.1f side by side)\n", devices[i].name, mib(devices[i].peak_bytes),
           mib(devices[i].unshared_bytes));
}

static void print_work(const hx_plan_t *plan, const hx_plan_info_t *info) {
  printf("work      %llu operations, %llu key switches (%llu ModUp, %llu ModDown), %llu limb transforms%s\n",
         (unsigned long long)info->operations, (unsigned long long)info->key_switches,
         (unsigned long long)info->mod_ups, (unsigned long long)info->mod_downs, (unsigned long long)info->transforms,
         info->counts_exact ? "" : " (loops and branches on inputs: each loop once, the dearer branch)");
  printf(
      "memory    %.1f MiB of intermediates at their peak (%.1f side by side), materials %.1f, inputs %.1f, outputs "
      "%.1f",
      mib(info->peak_bytes), mib(info->unshared_bytes), mib(info->material_bytes), mib(info->input_bytes),
      mib(info->output_bytes));
  if (info->memory_bytes > 0) printf("; the device has %.1f", mib(info->memory_bytes));
  printf("\n");
  print_devices(plan);
  if (info->measured > 0) {
    printf("time      %.3f ms measured for %llu of %llu operations\n", 1e3 * info->seconds,
           (unsigned long long)info->measured, (unsigned long long)info->operations);
  } else {
    printf("time      not measured on this device (heliox compile --tune makes a table, check --costs reads it)\n");
  }
}

static void print_value(const char *what, const hx_plan_value_t *value) {
  char place[24] = "";
  if (value->line > 0) snprintf(place, sizeof place, "%u:%u", value->line, value->column);
  printf("%-9s %-12s %-22s %-8s depth %u, scale %s (2^%.4f), %u components", what, value->name, value->operation, place,
         value->depth, value->scale, value->scale_log2, value->components);
  if (isfinite(value->sigma) && value->sigma > 0) {
    printf(", error 2^%.1f", log2(value->sigma));
  } else if (isnan(value->sigma)) {
    printf(", error not predicted");
  }
  printf("\n");
}

// What a bundle brings, and what has to be given to run it.
static void print_bundle(const hx_bundle_t *bundle) {
  hx_bundle_info_t info;
  hx_bundle_info(bundle, &info);
  printf("bundle    passes %s\n", info.pipeline[0] == '\0' ? "none" : info.pipeline);
  for (size_t i = 0; i < info.material_count; ++i) {
    if (info.materials[i].of != NULL) {
      printf("stored    @%s, a view of @%s\n", info.materials[i].symbol, info.materials[i].of);
    } else {
      printf("stored    @%s, %.2f MiB\n", info.materials[i].symbol, (double)info.materials[i].bytes / 1048576);
    }
  }
  json_t *needs = json_loads(info.requires_text, 0, NULL), *material;
  size_t i;
  json_array_foreach(json_object_get(needs, "materials"), i, material) {
    const char *symbol = json_string_value(json_object_get(material, "symbol"));
    printf("missing   @%s: give it with --materials\n", symbol == NULL ? "?" : symbol);
  }
  json_decref(needs);
}

static json_t *bundle_json(const hx_bundle_t *bundle) {
  hx_bundle_info_t info;
  hx_bundle_info(bundle, &info);
  json_t *stored = json_array(), *needs = json_loads(info.requires_text, 0, NULL);
  for (size_t i = 0; i < info.material_count; ++i)
    json_array_append_new(stored, json_pack("{s:s, s:I, s:s?}", "symbol", info.materials[i].symbol, "bytes",
                                            (json_int_t)info.materials[i].bytes, "of", info.materials[i].of));
  return json_pack("{s:s, s:o, s:o}", "pipeline", info.pipeline, "stored", stored, "requires",
                   needs == NULL ? json_null() : needs);
}

static int print_report(cli_t *cli, const check_t *check) {
  const hx_plan_info_t *info = hx_plan_info(check->plan);
  const hx_port_t *ports = NULL;
  const hx_plan_value_t *values = NULL;
  cli_print_params(stdout, hx_compilation_params(check->compilation));
  const hx_program_t *program = hx_compilation_program(check->compilation);
  size_t count = hx_program_inputs(program, &ports);
  print_ports("input", ports, count);
  count = hx_program_outputs(program, &ports);
  print_ports("output", ports, count);
  count = hx_compilation_materials(check->compilation, &ports);
  print_ports("material", ports, count);
  if (check->bundle != NULL) print_bundle(check->bundle);
  print_keys(info);
  print_work(check->plan, info);
  cli_shard_print(cli, &check->shard, info->measured > 0 ? info->seconds : 0);
  count = hx_plan_outputs(check->plan, &values);
  for (size_t i = 0; i < count; ++i) print_value("result", &values[i]);
  count = hx_plan_values(check->plan, &values);
  for (size_t i = 0; i < count && !cli->quiet; ++i) print_value("value", &values[i]);
  return CLI_DONE;
}

// ------------------------------------------------------------------ JSON

static json_t *ports_json(const hx_port_t *ports, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i) {
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s}", "name", ports[i].name, "role", ports[i].role, "type", ports[i].type));
  }
  return list;
}

static json_t *values_json(const hx_plan_value_t *values, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i) {
    const hx_plan_value_t *value = &values[i];
    json_t *json = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:s, s:f}", "name", value->name, "operation",
                             value->operation, "line", (int)value->line, "column", (int)value->column, "depth",
                             (int)value->depth, "components", (int)value->components, "slots", (int)value->slots,
                             "scale", value->scale, "scale_log2", value->scale_log2);
    json_object_set_new(json, "sigma", isfinite(value->sigma) ? json_real(value->sigma) : json_null());
    json_array_append_new(list, json);
  }
  return list;
}

static json_t *needs_json(const hx_plan_info_t *info, const hx_program_needs_t *need) {
  json_t *steps = json_array(), *elements = json_array();
  for (size_t i = 0; i < need->element_count; ++i) {
    json_array_append_new(steps, json_integer(need->steps[i]));
    json_array_append_new(elements, json_integer((json_int_t)need->elements[i]));
  }
  return json_pack("{s:b, s:b, s:o, s:o, s:i, s:I}", "relinearization", info->needs_relin, "conjugation",
                   info->needs_conj, "steps", steps, "elements", elements, "depth", (int)info->depth, "key_bytes",
                   (json_int_t)info->key_bytes);
}

static json_t *devices_json(const hx_plan_t *plan) {
  const hx_plan_device_t *devices;
  const size_t count = hx_plan_devices(plan, &devices);
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i)
    json_array_append_new(
        list, json_pack("{s:s, s:I, s:I}", "name", devices[i].name, "peak_bytes", (json_int_t)devices[i].peak_bytes,
                        "unshared_bytes", (json_int_t)devices[i].unshared_bytes));
  return list;
}

static json_t *work_json(const hx_plan_t *plan, const hx_plan_info_t *info) {
  json_t *json = json_object();
  json_object_set_new(json, "devices", devices_json(plan));
  const struct {
    const char *name;
    uint64_t number;
  } rows[] = {{"operations", info->operations},
              {"key_switches", info->key_switches},
              {"mod_ups", info->mod_ups},
              {"mod_downs", info->mod_downs},
              {"transforms", info->transforms},
              {"peak_bytes", info->peak_bytes},
              {"unshared_bytes", info->unshared_bytes},
              {"material_bytes", info->material_bytes},
              {"input_bytes", info->input_bytes},
              {"output_bytes", info->output_bytes},
              {"memory_bytes", info->memory_bytes},
              {"measured", info->measured}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    json_object_set_new(json, rows[i].name, json_integer((json_int_t)rows[i].number));
  json_object_set_new(json, "exact", json_boolean(info->counts_exact));
  json_object_set_new(json, "seconds", info->measured > 0 ? json_real(info->seconds) : json_null());
  return json;
}

static int json_report(cli_t *cli, const check_t *check) {
  const hx_params_t *params = hx_compilation_params(check->compilation);
  const hx_program_t *program = hx_compilation_program(check->compilation);
  const hx_port_t *inputs = NULL, *outputs = NULL, *materials = NULL;
  const hx_plan_value_t *values = NULL, *results = NULL;
  const size_t input_count = hx_program_inputs(program, &inputs), output_count = hx_program_outputs(program, &outputs);
  const size_t material_count = hx_compilation_materials(check->compilation, &materials);
  const size_t value_count = hx_plan_values(check->plan, &values),
               result_count = hx_plan_outputs(check->plan, &results);
  hx_needs_t *needs = NULL;
  CLI_TRY(cli, hx_program_needs(program, params, &needs, cli->report));
  json_t *json = json_pack(
      "{s:b, s:s, s:b, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o}", "ok", 1, "params", hx_params_digest_hex(params),
      "insecure", hx_params_is_insecure(params), "inputs", ports_json(inputs, input_count), "outputs",
      ports_json(outputs, output_count), "materials", ports_json(materials, material_count), "needs",
      needs_json(hx_plan_info(check->plan), hx_needs_get(needs)), "max_depth",
      (int)hx_plan_info(check->plan)->max_depth, "plan", work_json(check->plan, hx_plan_info(check->plan)), "results",
      values_json(results, result_count), "values", values_json(values, value_count));
  hx_needs_release(needs);
  if (check->bundle != NULL) json_object_set_new(json, "bundle", bundle_json(check->bundle));
  const hx_plan_info_t *info = hx_plan_info(check->plan);
  if (check->shard.count > 0)
    json_object_set_new(json, "shard", cli_shard_json(&check->shard, info->measured > 0 ? info->seconds : 0));
  return cli_print_json(json);
}

// ------------------------------------------------------------------ the command

// The passes of --pipeline, or those that a run would do: what is planned is what runs. A program that they cannot take
// is planned as it is: the plan tells what is wrong with it, naming the value.
static hx_status_t run_passes(cli_t *cli, check_t *check) {
  if (cli_has(cli, "pipeline"))
    return hx_compilation_transform(check->compilation, cli_get(cli, "pipeline"), cli->report);
  char pipeline[512];
  snprintf(pipeline, sizeof pipeline, "inline{only=main},infer-state,%s", hx_pipeline_default());
  const hx_status_t status = hx_compilation_transform(check->compilation, pipeline, cli->report);
  if (status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY) return status;
  hx_report_clear(cli->report);
  return HX_STATUS_OK;
}

static hx_status_t prepare(cli_t *cli, check_t *check) {
  hx_status_t status = HX_STATUS_OK;
  if (cli_has(cli, "params")) status = cli_params(cli, cli_get(cli, "params"), &check->params);
  if (status == HX_STATUS_OK)
    status = cli_load_compilation(cli, cli->arguments[0], check->params, &check->program, &check->compilation);
  if (status == HX_STATUS_OK && cli_is_bundle(cli->arguments[0]))
    status = hx_bundle_inspect(cli->arguments[0], &check->bundle, cli->report);
  if (status == HX_STATUS_OK) status = cli_shard_predict(cli, check->compilation, &check->shard);
  if (status == HX_STATUS_OK) status = run_passes(cli, check);
  if (status == HX_STATUS_OK) status = cli_backend(cli, &check->plugins, &check->backend);
  if (status == HX_STATUS_OK && cli_has(cli, "costs")) {
    check->costs = hx_costs_create();
    status = check->costs == NULL ? HX_STATUS_OUT_OF_MEMORY
                                  : hx_costs_load(check->costs, cli_get(cli, "costs"), cli->report);
  }
  // What runs out of depth or does not fit is told by the plan, with the value; then the backend is asked.
  if (status == HX_STATUS_OK)
    status = hx_plan_create(check->compilation, check->backend, check->costs, &check->plan, cli->report);
  if (status == HX_STATUS_OK) status = hx_compilation_transform(check->compilation, "infer-state", cli->report);
  if (status == HX_STATUS_OK) status = hx_link_check(check->compilation, check->backend, NULL, cli->report);
  return status;
}

int cli_run_check(cli_t *cli) {
  check_t check = {0};
  const hx_status_t status = prepare(cli, &check);
  const int code = status != HX_STATUS_OK ? cli_fail(cli, status)
                   : cli->json            ? json_report(cli, &check)
                                          : print_report(cli, &check);
  cli_shard_release(&check.shard);
  hx_bundle_release(check.bundle);
  hx_plan_release(check.plan);
  hx_costs_release(check.costs);
  hx_backend_release(check.backend);
  hx_plugins_release(check.plugins);
  hx_compilation_release(check.compilation);
  hx_program_release(check.program);
  hx_params_release(check.params);
  return code;
}
