// SPDX-License-Identifier: Apache-2.0
// --materials: what a program refers to, from containers and from files of numbers.
#include <string.h>

#include "cli/cli.h"
#include "cli/message.h"

// Binds every value of a container by its name.
static hx_status_t bind_container(cli_t *cli, hx_compilation_t *compilation, const char *path) {
  hx_named_value_t *values = NULL;
  size_t count = 0;
  hx_status_t status = hx_values_load(path, hx_compilation_params(compilation), &values, &count, cli->report);
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    status = hx_compilation_bind_material(compilation, values[i].name, values[i].value, cli->report);
  }
  hx_values_free(values, count);
  return status;
}

// Numbers become the plaintext that the program's material.ref asks for.
static hx_status_t bind_numbers(cli_t *cli, hx_compilation_t *compilation, const char *symbol, const char *path) {
  cli_message_t message = {0};
  hx_status_t status = cli_message_read(path, &message, cli->report);
  if (status == HX_STATUS_OK) {
    status = hx_compilation_encode_materials(compilation, symbol, message.values, message.items, message.count,
                                             message.is_complex, cli->report);
  }
  cli_message_free(&message);
  return status;
}

// A container is a value or a switching key, by its kind.
static hx_status_t bind_file(cli_t *cli, hx_compilation_t *compilation, const char *symbol, const char *path) {
  hx_file_kind_t kind;
  hx_status_t status = hx_file_kind(path, &kind, cli->report);
  if (status != HX_STATUS_OK) return status;
  if (kind == HX_FILE_SWITCH) {
    hx_switch_t *key = NULL;
    status = hx_switch_load(path, hx_compilation_params(compilation), &key, cli->report);
    if (status == HX_STATUS_OK) status = hx_compilation_bind_switch(compilation, symbol, key, cli->report);
    hx_switch_release(key);
    return status;
  }
  hx_value_t *value = NULL;
  status = hx_value_load(path, NULL, hx_compilation_params(compilation), &value, cli->report);
  if (status == HX_STATUS_OK) status = hx_compilation_bind_material(compilation, symbol, value, cli->report);
  hx_value_release(value);
  return status;
}

hx_status_t cli_bind_materials(cli_t *cli, hx_compilation_t *compilation) {
  hx_status_t status = HX_STATUS_OK;
  for (int i = 0; cli_get_at(cli, "materials", i) != NULL && status == HX_STATUS_OK; ++i) {
    const char *text = cli_get_at(cli, "materials", i), *path = NULL;
    char symbol[128];
    if (strchr(text, '=') == NULL) {
      status = bind_container(cli, compilation, text);
      continue;
    }
    status = cli_split(cli, text, symbol, sizeof symbol, &path);
    if (status != HX_STATUS_OK) return status;
    const size_t size = strlen(path);
    if (size > 3 && strcmp(path + size - 3, ".hx") == 0) {
      status = bind_file(cli, compilation, symbol, path);
    } else {
      status = bind_numbers(cli, compilation, symbol, path);
    }
  }
  return status;
}
