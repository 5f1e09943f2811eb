// SPDX-License-Identifier: Apache-2.0
// version, explain, ops, params.
#include <string.h>

#include "cli/cli.h"

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
  return json_pack(
      "{s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:i, s:i, s:s, s:s, s:f, s:f, s:i, s:b, s:I, s:I, s:s}", "name",
      hx_params_name(params), "digest", hx_params_digest_hex(params), "log_n", (int)hx_params_log_n(params), "word",
      (int)hx_params_word(params), "depth", (int)hx_params_max_depth(params), "primes", primes, "group_sizes", groups,
      "digits_asked", (int)hx_params_digits_asked(params), "digits", (int)hx_params_digits(params), "scale",
      hx_params_scale(params), "secret", hx_params_secret(params), "log2_q", hx_params_log2_q(params), "log2_p",
      hx_params_log2_p(params), "security_limit", (int)hx_params_security_limit(params), "insecure",
      hx_params_is_insecure(params), "key_bytes", (json_int_t)hx_params_key_bytes(params), "ciphertext_bytes",
      (json_int_t)hx_params_ciphertext_bytes(params), "parameters", hx_params_json(params));
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
