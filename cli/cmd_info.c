// SPDX-License-Identifier: Apache-2.0
// version, explain, ops, params.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/message.h"

int cli_run_version(cli_t *cli) {
  if (cli->json) {
    return cli_print_json(json_pack("{s:s, s:s, s:i}", "version", hx_version(), "abi", hx_plugin_abi(), "catalogue",
                                    (int)hx_ops_version()));
  }
  printf("heliox %s\nplugin ABI %s\ncatalogue %u\n", hx_version(), hx_plugin_abi(), hx_ops_version());
  return CLI_DONE;
}

static void print_code(const hx_code_info_t *info) {
  printf("%s\n  %s\n  %s\n", info->word, info->meaning, info->remedy);
  if (info->gate != HX_GATE_NONE) printf("  Gate of a plugin: %s.\n", hx_gate_name(info->gate));
}

static json_t *code_json(const hx_code_info_t *info) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s}", "code", info->word, "status", hx_status_name(info->status), "gate",
                   hx_gate_name(info->gate), "meaning", info->meaning, "remedy", info->remedy);
}

int cli_run_explain(cli_t *cli) {
  if (cli->argument_count == 1) {
    const hx_code_info_t *info = hx_code_find(cli->arguments[0]);
    if (info == NULL) {
      return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_USAGE, "no code '%s'; 'heliox explain' lists all",
                                          cli->arguments[0]));
    }
    if (cli->json) return cli_print_json(code_json(info));
    print_code(info);
    return CLI_DONE;
  }
  json_t *list = json_array();
  for (int code = HX_CODE_NONE + 1; code < HX_CODE_COUNT; ++code) {
    const hx_code_info_t *info = hx_code_info((hx_code_t)code);
    if (cli->json) {
      json_array_append_new(list, code_json(info));
    } else {
      printf("%-20s %s\n", info->word, info->meaning);
    }
  }
  if (cli->json) return cli_print_json(json_pack("{s:o}", "codes", list));
  json_decref(list);
  return CLI_DONE;
}

int cli_run_ops(cli_t *cli) {
  const char *dialect = cli->argument_count == 1 ? cli->arguments[0] : "";
  const size_t size = strlen(dialect);
  json_t *list = json_array();
  size_t found = 0;
  for (size_t i = 0; i < hx_ops_count(); ++i) {
    const hx_op_description_t *op = hx_ops_get(i);
    if (size > 0 && (strncmp(op->name, dialect, size) != 0 || (op->name[size] != '.' && op->name[size] != '\0')))
      continue;
    ++found;
    if (cli->json) {
      json_array_append_new(
          list, json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "name", op->name, "signature", (int)op->signature,
                          "tier", op->tier, "effect", op->effect, "operands", op->operands, "results", op->results,
                          "attributes", op->attributes, "doc", op->doc));
    } else {
      printf("%s/%u (%s, %s)\n  (%s) -> (%s)\n", op->name, op->signature, op->tier, op->effect, op->operands,
             op->results);
      if (op->attributes[0] != '\0') printf("  {%s}\n", op->attributes);
      printf("  %s\n", op->doc);
    }
  }
  if (found == 0) {
    json_decref(list);
    return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_USAGE, "no operation or dialect '%s'", dialect));
  }
  if (cli->json) return cli_print_json(json_pack("{s:i, s:o}", "version", (int)hx_ops_version(), "operations", list));
  json_decref(list);
  return CLI_DONE;
}

// ------------------------------------------------------------------ params

static json_t *precision_json(const hx_params_t *params) {
  hx_params_precision_t precision;
  hx_params_precision(params, &precision);
  json_t *object = json_pack("{s:f}", "fresh", precision.fresh);
  if (!isnan(precision.rotated)) json_object_set_new(object, "rotated", json_real(precision.rotated));
  if (!isnan(precision.multiplied)) json_object_set_new(object, "multiplied", json_real(precision.multiplied));
  if (!isnan(precision.deepest)) json_object_set_new(object, "deepest", json_real(precision.deepest));
  if (isfinite(precision.drift_log2)) json_object_set_new(object, "drift_log2", json_real(precision.drift_log2));
  return object;
}

static json_t *params_json(const hx_params_t *params) {
  json_t *primes = json_array();
  const uint32_t count = hx_params_q_count(params) + hx_params_p_count(params);
  for (uint32_t id = 0; id < count; ++id) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)hx_params_prime(params, id));
    json_array_append_new(primes, json_string(text));
  }
  json_t *groups = json_array();
  for (uint32_t g = 0; g < hx_params_group_count(params); ++g)
    json_array_append_new(groups, json_integer(hx_params_group_size(params, g)));
  return json_pack("{s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:i, s:i, s:s, s:s, s:f, s:f, s:i, s:b, s:I, s:I, s:o, s:s}",
                   "name", hx_params_name(params), "digest", hx_params_digest_hex(params), "log_n",
                   (int)hx_params_log_n(params), "word", (int)hx_params_word(params), "depth",
                   (int)hx_params_max_depth(params), "primes", primes, "group_sizes", groups, "digits_asked",
                   (int)hx_params_digits_asked(params), "digits", (int)hx_params_digits(params), "scale",
                   hx_params_scale(params), "secret", hx_params_secret(params), "log2_q", hx_params_log2_q(params),
                   "log2_p", hx_params_log2_p(params), "security_limit", (int)hx_params_security_limit(params),
                   "insecure", hx_params_is_insecure(params), "key_bytes", (json_int_t)hx_params_key_bytes(params),
                   "ciphertext_bytes", (json_int_t)hx_params_ciphertext_bytes(params), "precision",
                   precision_json(params), "parameters", hx_params_json(params));
}

static void print_security(const hx_params_t *params) {
  const double bits = hx_params_log2_q(params) + hx_params_log2_p(params);
  const uint32_t limit = hx_params_security_limit(params);
  if (limit == 0) {
    printf("security          none: N = 2^%u is a test ring\n", hx_params_log_n(params));
  } else if (hx_params_is_insecure(params)) {
    printf(
        "security          below 128 bits, or without an estimate: log2(QP) = %.1f, the table allows %u for uniform\n"
        "                  ternary secrets\n",
        bits, limit);
  } else {
    printf("security          128 bits (classical): log2(QP) = %.1f, %.1f below the table's %u\n", bits, limit - bits,
           limit);
  }
}

// Bits of the worst slot, values of size 1.
static void print_precision(const hx_params_t *params) {
  hx_params_precision_t precision;
  hx_params_precision(params, &precision);
  printf("precision         %.1f bits fresh", precision.fresh);
  if (!isnan(precision.rotated)) printf(", %.1f rotated", precision.rotated);
  if (!isnan(precision.multiplied)) printf(", %.1f after one product", precision.multiplied);
  if (hx_params_max_depth(params) > 1 && !isnan(precision.deepest))
    printf(", %.1f after %u", precision.deepest, hx_params_max_depth(params));
  printf("\n");
  if (hx_params_max_depth(params) > 0)
    printf("scale             %s; a chain of squarings strays by 2^%.1f bits\n", hx_params_scale(params),
           precision.drift_log2);
}

static int print_params(cli_t *cli, hx_params_t *params) {
  if (cli->json) {
    json_t *object = params_json(params);
    hx_params_release(params);
    return cli_print_json(object);
  }
  cli_print_params(stdout, params);
  printf("digest            %s\n", hx_params_digest_hex(params));
  printf("log2 Q, log2 P    %.2f, %.2f\n", hx_params_log2_q(params), hx_params_log2_p(params));
  printf("digits            asked %u, got %u\n", hx_params_digits_asked(params), hx_params_digits(params));
  printf("secret            %s, sigma 3.2\n", hx_params_secret(params));
  print_security(params);
  print_precision(params);
  printf("one switching key %.1f MiB\n", (double)hx_params_key_bytes(params) / 1048576);
  printf("fresh ciphertext  %.2f MiB\n", (double)hx_params_ciphertext_bytes(params) / 1048576);
  uint32_t id = 0;
  for (uint32_t g = 0; g < hx_params_group_count(params); ++g) {
    if (g == 0) {
      printf("base             ");
    } else {
      printf("depth group %-5u", g);
    }
    for (uint32_t k = 0; k < hx_params_group_size(params, g); ++k, ++id)
      printf(" q%u=%llu", id, (unsigned long long)hx_params_prime(params, id));
    putchar('\n');
  }
  printf("special          ");
  for (uint32_t k = 0; k < hx_params_p_count(params); ++k, ++id)
    printf(" q%u=%llu", id, (unsigned long long)hx_params_prime(params, id));
  putchar('\n');
  hx_params_release(params);
  return CLI_DONE;
}

int cli_run_params_list(cli_t *cli) {
  json_t *list = json_array();
  for (size_t i = 0; i < hx_params_preset_count(); ++i) {
    hx_params_t *params = NULL;
    CLI_TRY(cli, hx_params_preset(hx_params_preset_name(i), &params, cli->report));
    if (cli->json) {
      json_t *object = params_json(params);
      json_object_set_new(object, "purpose", json_string(hx_params_preset_purpose(i)));
      json_array_append_new(list, object);
    } else {
      const bool is_default = strcmp(hx_params_preset_name(i), hx_params_default_name()) == 0;
      cli_print_params(stdout, params);
      printf("  %s%s\n", hx_params_preset_purpose(i), is_default ? " (default)" : "");
    }
    hx_params_release(params);
  }
  if (cli->json) return cli_print_json(json_pack("{s:o}", "presets", list));
  json_decref(list);
  return CLI_DONE;
}

int cli_run_params_show(cli_t *cli) {
  hx_params_t *params = NULL;
  CLI_TRY(cli, cli_params(cli, cli->arguments[0], &params));
  return print_params(cli, params);
}

int cli_run_params_check(cli_t *cli) { return cli_run_params_show(cli); }

// ------------------------------------------------------------------ params make

// Options that are plain numbers, and where they go.
static hx_status_t read_wish(cli_t *cli, hx_params_wish_t *wish) {
  const struct {
    const char *name;
    uint32_t *to;
  } numbers[] = {{"depth", &wish->depth},
                 {"scale-bits", &wish->scale_bits},
                 {"log-n", &wish->log_n},
                 {"slots", &wish->slots},
                 {"word", &wish->word},
                 {"digits", &wish->digits},
                 {"group", &wish->group_primes},
                 {"base-bits", &wish->base_bits},
                 {"special-bits", &wish->special_bits},
                 {"weight", &wish->weight}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    uint64_t value = 0;
    const hx_status_t status = cli_get_number(cli, numbers[i].name, UINT32_MAX, 0, &value);
    if (status != HX_STATUS_OK) return status;
    *numbers[i].to = (uint32_t)value;
  }
  wish->no_special = cli_has(cli, "no-keys");
  const char *precision = cli_get(cli, "precision");
  if (precision == NULL) return HX_STATUS_OK;
  char *end = NULL;
  wish->precision = strtod(precision, &end);
  if (end == precision || *end != '\0' || !(wish->precision > 0) || !isfinite(wish->precision))
    return hx_report_fail(cli->report, HX_CODE_USAGE, "--precision takes a positive number of bits, not '%s'",
                          precision);
  return HX_STATUS_OK;
}

int cli_run_params_make(cli_t *cli) {
  hx_params_wish_t wish = {0};
  hx_params_t *params = NULL;
  CLI_TRY(cli, read_wish(cli, &wish));
  CLI_TRY(cli, hx_params_make(&wish, cli->insecure ? HX_PARAMS_INSECURE : 0, &params, cli->report));
  const char *path = cli_get(cli, "output");
  if (path != NULL) {
    const hx_status_t status =
        cli_write_file(path, hx_params_json(params), strlen(hx_params_json(params)), cli->report);
    if (status != HX_STATUS_OK) {
      hx_params_release(params);
      return cli_fail(cli, status);
    }
  }
  return print_params(cli, params);
}
