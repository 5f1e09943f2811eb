// SPDX-License-Identifier: Apache-2.0
// backend-c: the linked program as tables of heliox/precompiled.h, each operation with the implementation that it was
// resolved to.
#include <stdio.h>
#include <string.h>

#include "core/compile/emit.h"
#include "core/link/executable.h"

typedef struct writer {
  const hx_executable_t *exe;
  hx_text_t *out;
  hx_pointers_t types;  // interned type to its index
  const hx_type_t **type_list;
  size_t type_count, type_capacity;
  const hx_ir_value_t **values;  // [value_count] by id
  size_t value_count;
  hx_pointers_t steps;  // operation to its step
} writer_t;

static hx_status_t note_type(writer_t *writer, const hx_type_t *type) {
  if (hx_pointers_get(&writer->types, type) != HX_NONE) return HX_STATUS_OK;
  HX_TRY(hx_grow(&writer->type_list, &writer->type_capacity, writer->type_count + 1, sizeof(const hx_type_t *)));
  HX_TRY(hx_pointers_set(&writer->types, type, (uint32_t)writer->type_count));
  writer->type_list[writer->type_count++] = type;
  return HX_STATUS_OK;
}

static hx_status_t note_attribute(writer_t *writer, const hx_attribute_t *attribute) {
  if (attribute->type != NULL) HX_TRY(note_type(writer, attribute->type));
  for (size_t i = 0; i < attribute->input_count + attribute->result_count; ++i)
    HX_TRY(note_type(writer, attribute->types[i]));
  for (size_t i = 0; i < attribute->count; ++i)
    HX_TRY(
        note_attribute(writer, attribute->kind == HX_ATTRIBUTE_DICT ? &attribute->dict[i].value : &attribute->list[i]));
  return HX_STATUS_OK;
}

static hx_status_t note_op(hx_ir_op_t *op, void *argument) {
  writer_t *writer = argument;
  for (size_t i = 0; i < op->attrs.count; ++i) HX_TRY(note_attribute(writer, &op->attrs.items[i].value));
  for (size_t i = 0; i < op->result_count; ++i) {
    writer->values[op->results[i]->id] = op->results[i];
    HX_TRY(note_type(writer, op->results[i]->type));
  }
  for (size_t r = 0; r < op->region_count; ++r) {
    const hx_ir_block_t *block = op->regions[r]->block;
    for (size_t i = 0; i < block->argument_count; ++i) {
      writer->values[block->arguments[i]->id] = block->arguments[i];
      HX_TRY(note_type(writer, block->arguments[i]->type));
    }
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ types

static void write_type(const hx_type_t *type, hx_text_t *out) {
  hx_text_printf(out,
                 "    {.kind = %uu, .known = %uu, .dtype = %uu, .basis = %uu, .domain = %uu, .repr = %uu, "
                 ".components = %uu, .depth = %uu, .slots = %uu",
                 (unsigned)type->kind, type->known, type->dtype, type->basis, type->domain, type->repr,
                 type->components, type->depth, type->slots);
  if (type->batch_rank > 0) {
    hx_text_printf(out, ", .batch_rank = %uu, .batch_shape = {", type->batch_rank);
    for (uint32_t i = 0; i < type->batch_rank; ++i)
      hx_text_printf(out, "%s%lluu", i == 0 ? "" : ", ", (unsigned long long)type->batch_shape[i]);
    hx_text_puts(out, "}");
  }
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&type->primes, ids);
  if (count > 0) {
    hx_text_printf(out, ", .prime_count = %uu, .primes = (const uint32_t[]){", count);
    for (uint32_t i = 0; i < count; ++i) hx_text_printf(out, "%s%uu", i == 0 ? "" : ", ", ids[i]);
    hx_text_puts(out, "}");
  }
  const hx_scale_t *scale = &type->scale;
  if ((type->known & HX_KNOWN_SCALE) != 0)
    hx_text_printf(out, ", .scale_m = {%lluu, %lluu, %lluu, %lluu}, .scale_e = %lld", (unsigned long long)scale->m[0],
                   (unsigned long long)scale->m[1], (unsigned long long)scale->m[2], (unsigned long long)scale->m[3],
                   (long long)scale->e);
  if (scale->term_count > 0) {
    hx_text_printf(out, ", .scale_term_count = %uu, .scale_terms = (const int64_t[]){", scale->term_count);
    for (uint32_t i = 0; i < scale->term_count; ++i)
      hx_text_printf(out, "%s%u, %d", i == 0 ? "" : ", ", scale->terms[i].id, scale->terms[i].exponent);
    hx_text_puts(out, "}");
  }
  if (type->kind == HX_TYPE_KEY)
    hx_text_printf(out, ", .key_kind = %uu, .element = %lluu", (unsigned)type->key_kind,
                   (unsigned long long)type->element);
  if (type->kind == HX_TYPE_INTEGER)
    hx_text_printf(out, ", .bits = %uu, .signedness = %uu", type->bits, (unsigned)type->signedness);
  if (type->count > 0)
    hx_text_printf(out, ", .count = %lluu, .is_complex = %uu", (unsigned long long)type->count, type->is_complex);
  if (type->name[0] != '\0') {
    hx_text_puts(out, ", .name = ");
    hx_text_json(out, hx_str(type->name));
  }
  hx_text_puts(out, "},\n");
}

// ------------------------------------------------------------------ operations

static void write_attribute(const writer_t *writer, hx_str_t name, const hx_attribute_t *attribute) {
  hx_text_t *out = writer->out;
  hx_text_puts(out, "{");
  if (name.data != NULL) {
    hx_text_puts(out, ".name = ");
    hx_text_json(out, name);
    hx_text_puts(out, ", ");
  }
  hx_text_printf(out, ".kind = %uu", (unsigned)attribute->kind);
  if (attribute->boolean) hx_text_puts(out, ", .boolean = 1u");
  if (attribute->integer == INT64_MIN) {
    hx_text_puts(out, ", .integer = INT64_MIN");
  } else if (attribute->integer != 0) {
    hx_text_printf(out, ", .integer = %lldLL", (long long)attribute->integer);
  }
  if (attribute->number != 0) hx_text_printf(out, ", .number = %a", attribute->number);
  if (attribute->kind == HX_ATTRIBUTE_TEXT || attribute->kind == HX_ATTRIBUTE_SYMBOL) {
    hx_text_puts(out, ", .text = ");
    hx_text_json(out, attribute->text);
  }
  if (attribute->type != NULL)
    hx_text_printf(out, ", .type = %uu", hx_pointers_get(&writer->types, attribute->type) + 1);
  if (attribute->count > 0) {
    hx_text_printf(out, ", .count = %zuu, .items = (const hx_precompiled_attr_t[]){", attribute->count);
    for (size_t i = 0; i < attribute->count; ++i) {
      if (i > 0) hx_text_puts(out, ", ");
      if (attribute->kind == HX_ATTRIBUTE_DICT) {
        write_attribute(writer, attribute->dict[i].name, &attribute->dict[i].value);
      } else {
        write_attribute(writer, (hx_str_t){0}, &attribute->list[i]);
      }
    }
    hx_text_puts(out, "}");
  }
  const size_t types = attribute->input_count + attribute->result_count;
  if (types > 0) {
    hx_text_printf(out, ", .input_count = %zuu, .result_count = %zuu, .types = (const uint32_t[]){",
                   attribute->input_count, attribute->result_count);
    for (size_t i = 0; i < types; ++i)
      hx_text_printf(out, "%s%uu", i == 0 ? "" : ", ", hx_pointers_get(&writer->types, attribute->types[i]));
    hx_text_puts(out, "}");
  }
  hx_text_puts(out, "}");
}

static void write_values(const writer_t *writer, const char *name, hx_ir_value_t *const *values, size_t count) {
  if (count == 0) return;
  hx_text_printf(writer->out, ", .%s_count = %zuu, .%ss = (const uint32_t[]){", name, count, name);
  for (size_t i = 0; i < count; ++i) hx_text_printf(writer->out, "%s%uu", i == 0 ? "" : ", ", values[i]->id);
  hx_text_puts(writer->out, "}");
}

// The implementation that the operation was resolved to becomes its hard request.
static void write_attrs(const writer_t *writer, const hx_ir_op_t *op) {
  hx_text_t *out = writer->out;
  const uint32_t index = hx_pointers_get(&writer->steps, op);
  const hx_resolution_t *resolution = index == HX_NONE ? NULL : &writer->exe->steps.items[index].resolution;
  size_t count = 0;
  for (size_t i = 0; i < op->attrs.count; ++i)
    count += resolution == NULL || !hx_str_equal(op->attrs.items[i].name, hx_str("heliox.implementation"));
  const size_t all = count + (resolution != NULL);
  if (all == 0) return;
  hx_text_printf(out, ", .attr_count = %zuu, .attrs = (const hx_precompiled_attr_t[]){", all);
  const char *separator = "";
  for (size_t i = 0; i < op->attrs.count; ++i) {
    if (resolution != NULL && hx_str_equal(op->attrs.items[i].name, hx_str("heliox.implementation"))) continue;
    hx_text_puts(out, separator);
    write_attribute(writer, op->attrs.items[i].name, &op->attrs.items[i].value);
    separator = ", ";
  }
  if (resolution != NULL) {
    const bool pinned = resolution->variant[0] != '\0';
    hx_text_printf(out, "%s{.name = \"heliox.implementation\", .kind = %uu, .text = \"%s%s%s\"}", separator,
                   (unsigned)HX_ATTRIBUTE_TEXT, resolution->implementation->qualified, pinned ? "/" : "",
                   resolution->variant);
  }
  hx_text_puts(out, "}");
}

static void write_op(const writer_t *writer, const hx_ir_op_t *op);

static void write_block(const writer_t *writer, const hx_ir_block_t *block) {
  hx_text_t *out = writer->out;
  size_t count = 0;
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) ++count;
  hx_text_printf(out, "{.op_count = %zuu", count);
  write_values(writer, "argument", block->arguments, block->argument_count);
  if (count > 0) {
    hx_text_puts(out, ", .ops = (const hx_precompiled_op_t[]){\n");
    for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
      hx_text_puts(out, "    ");
      write_op(writer, op);
      hx_text_puts(out, ",\n");
    }
    hx_text_puts(out, "  }");
  }
  hx_text_puts(out, "}");
}

static void write_op(const writer_t *writer, const hx_ir_op_t *op) {
  hx_text_t *out = writer->out;
  hx_text_printf(out, "{.name = \"%s\"", op->info->name);
  if (op->line > 0) hx_text_printf(out, ", .line = %uu", op->line);
  write_values(writer, "operand", op->operands, op->operand_count);
  write_values(writer, "result", op->results, op->result_count);
  write_attrs(writer, op);
  if (op->region_count > 0) {
    hx_text_printf(out, ", .region_count = %zuu, .regions = (const hx_precompiled_block_t[]){", op->region_count);
    for (size_t i = 0; i < op->region_count; ++i) {
      if (i > 0) hx_text_puts(out, ", ");
      write_block(writer, op->regions[i]->block);
    }
    hx_text_puts(out, "}");
  }
  hx_text_puts(out, "}");
}

// ------------------------------------------------------------------ the file

static void write_ports(const hx_executable_t *exe, const char *name, hx_text_t *out) {
  for (size_t i = 0; i < exe->input_count; ++i)
    hx_text_printf(out, "//   inputs[%zu]   %s: %s\n", i, exe->inputs[i].name, exe->inputs[i].type);
  for (size_t i = 0; i < exe->output_count; ++i)
    hx_text_printf(out, "//   outputs[%zu]  %s: %s\n", i, exe->outputs[i].name, exe->outputs[i].type);
  for (size_t i = 0; i < exe->material_count; ++i) {
    if (exe->materials[i].symbol[0] != '\0') hx_text_printf(out, "//   material    @%s\n", exe->materials[i].symbol);
  }
  hx_text_printf(out, "// Built with: cc -std=c17 FILE.c ... -lheliox. %s_link gives what hx_run takes.\n", name);
}

static void write_tables(const writer_t *writer, const char *name) {
  hx_text_t *out = writer->out;
  hx_text_printf(out, "static const hx_precompiled_type_t %s_types[] = {\n", name);
  for (size_t i = 0; i < writer->type_count; ++i) write_type(writer->type_list[i], out);
  hx_text_printf(out, "};\n\nstatic const uint32_t %s_value_types[] = {", name);
  for (size_t i = 0; i < writer->value_count; ++i)
    hx_text_printf(out, "%s%uu,", i % 16 == 0 ? "\n    " : " ",
                   hx_pointers_get(&writer->types, writer->values[i]->type));
  hx_text_printf(out, "\n};\n\nstatic const char *const %s_value_names[] = {", name);
  for (size_t i = 0; i < writer->value_count; ++i) {
    hx_text_puts(out, i % 8 == 0 ? "\n    " : " ");
    if (writer->values[i]->name.size > 0) {
      hx_text_json(out, writer->values[i]->name);
    } else {
      hx_text_puts(out, "NULL");
    }
    hx_text_puts(out, ",");
  }
  hx_text_puts(out, "\n};\n\n");
}

static void write_file(const writer_t *writer, const char *name) {
  const hx_executable_t *exe = writer->exe;
  hx_text_t *out = writer->out;
  hx_text_printf(out, "// Written by heliox emit --as backend-c from %s, for %s, after: %s\n", exe->program->source,
                 exe->device->name, exe->pipeline[0] == '\0' ? "no passes" : exe->pipeline);
  write_ports(exe, name, out);
  hx_text_puts(out, "#include <heliox/heliox.h>\n#include <heliox/precompiled.h>\n#include <stddef.h>\n\n");
  write_tables(writer, name);
  hx_text_printf(out, "static const hx_precompiled_t %s_tables = {\n  .version = \"%s\",\n  .source = ", name,
                 hx_version());
  hx_text_json(out, hx_str(exe->program->source));
  hx_text_printf(out,
                 ",\n  .params_digest = \"%s\",\n  .types = %s_types,\n  .value_types = %s_value_types,\n"
                 "  .value_names = %s_value_names,\n  .type_count = %zuu,\n  .value_count = %zuu,\n  .module = ",
                 hx_params_digest_hex(exe->params), name, name, name, writer->type_count, writer->value_count);
  write_op(writer, exe->program->module);
  hx_text_puts(out, "};\n\n");
  static const char signature[] =
      "hx_status_t %s_link(const hx_params_t *params, const hx_backend_t *backend, const hx_keys_t *keys,\n"
      "                    const hx_named_value_t *materials, size_t material_count, hx_executable_t **out,\n"
      "                    hx_report_t *report)";
  hx_text_puts(out, "// As hx_precompiled_link.\n");
  hx_text_printf(out, signature, name);
  hx_text_puts(out, ";\n\n");
  hx_text_printf(out, signature, name);
  hx_text_printf(out,
                 " {\n  return hx_precompiled_link(&%s_tables, params, backend, keys, materials, material_count, out, "
                 "report);\n}\n",
                 name);
}

static bool is_identifier(const char *name) {
  for (const char *c = name; *c != '\0'; ++c) {
    const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (!letter && (c == name || *c < '0' || *c > '9')) return false;
  }
  return name[0] != '\0' && strlen(name) <= 100;
}

static hx_status_t check(const hx_executable_t *exe, const char *name, hx_report_t *report) {
  if (!is_identifier(name))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "'%.100s' is no identifier of C", name);
  if (exe->secrets != NULL)
    return hx_report_fail(
        report, HX_CODE_UNSUPPORTED,
        "the program switches between secrets: whose its values are is found before it is lowered, so "
        "it has no form in backend-c");
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    if (step->kind == HX_STEP_COLLECTIVE)
      return hx_report_fail_at(report, HX_CODE_UNSUPPORTED, exe->program->source, step->op->line, step->op->column,
                               "%s: a program of one rank has no form in backend-c", step->op->info->name);
  }
  const hx_ir_op_t *func = hx_program_find(exe->program, "main");
  for (size_t i = 0; i < exe->input_count; ++i) {
    if (exe->secret_inputs[i] && hx_link_port_attr(func, "arg_attrs", i, "heliox.secret") == NULL)
      return hx_report_fail(
          report, HX_CODE_UNSUPPORTED,
          "input %s was linked as secret by its caller: write heliox.secret = true into its arg_attrs",
          exe->inputs[i].name);
  }
  return HX_STATUS_OK;
}

static hx_status_t gather(writer_t *writer) {
  writer->value_count = hx_ir_number(writer->exe->program->module);
  writer->values = hx_zalloc(writer->value_count + 1, sizeof(const hx_ir_value_t *));
  if (writer->values == NULL) return HX_STATUS_OUT_OF_MEMORY;
  HX_TRY(hx_ir_walk(writer->exe->program->module, note_op, writer));
  for (size_t s = 0; s < writer->exe->steps.count; ++s) {
    const hx_step_t *step = &writer->exe->steps.items[s];
    if (step->kind == HX_STEP_CALL && step->fused == NULL)
      HX_TRY(hx_pointers_set(&writer->steps, step->op, (uint32_t)s));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_emit_executable(const hx_executable_t *executable, const char *name, char **out_text,
                               hx_report_t *report) {
  if (executable == NULL || out_text == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_emit_executable: an argument is NULL");
  if (name == NULL) name = "program";
  HX_TRY(check(executable, name, report));
  hx_text_t out;
  hx_text_init(&out);
  writer_t writer = {.exe = executable, .out = &out};
  hx_pointers_init(&writer.types);
  hx_pointers_init(&writer.steps);
  hx_executable_t *locked = (hx_executable_t *)(uintptr_t)executable;  // numbering its values changes scratch words
  pthread_mutex_lock(&locked->lock);
  const hx_status_t status = gather(&writer);
  if (status == HX_STATUS_OK) write_file(&writer, name);
  pthread_mutex_unlock(&locked->lock);
  hx_pointers_deinit(&writer.types);
  hx_pointers_deinit(&writer.steps);
  hx_free((void *)writer.type_list);
  hx_free((void *)writer.values);
  char *text = status == HX_STATUS_OK ? hx_text_take(&out) : NULL;
  hx_text_deinit(&out);
  if (text == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to emit a program");
  *out_text = text;
  return HX_STATUS_OK;
}
