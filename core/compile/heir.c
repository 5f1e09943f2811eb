// SPDX-License-Identifier: Apache-2.0
// HEIR's ckks and lwe dialects, generic form, as a program. A ciphertext's depth is how far `current` of its modulus
// chain is below the top, its scale 2^scaling_factor of its encoding; what results have is left to inference.
// Plaintexts come at depth 0 and drop to the depth of the ciphertext that they meet. What a program encodes itself
// becomes a material.
#include "core/compile/heir.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ops/parts.h"

typedef bool (*hx_heir_rule_t)(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id);

void hx_heir_refuse(hx_heir_t *heir, const hx_heir_op_t *op, hx_code_t code, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size < 0) text[0] = '\0';
  if (!heir->reader.failed)
    (void)hx_report_fail_at(heir->reader.report, code, heir->reader.source, op->line, op->column, "%.*s: %s",
                            (int)op->name.size, op->name.data, text);
  heir->reader.failed = true;
}

bool hx_heir_must(hx_heir_t *heir, hx_status_t status) {
  if (status == HX_STATUS_OK) return true;
  hx_heir_fail(&heir->reader, HX_CODE_OUT_OF_MEMORY, "no memory to import a program");
  return false;
}

// ------------------------------------------------------------------ types

// Depth below the top of the chain; false where the type names no chain.
static bool depth_of(hx_str_t type, uint32_t *out) {
  int64_t current = 0;
  const char *elements = NULL;
  for (size_t i = 0; i + 8 <= type.size && elements == NULL; ++i) {
    if (memcmp(type.data + i, "elements", 8) == 0) elements = type.data + i + 8;
  }
  if (elements == NULL || !hx_heir_integer(type, "current", &current) || current < 0) return false;
  const char *end = memchr(elements, '>', (size_t)(type.data + type.size - elements));
  int64_t top = 0;
  for (const char *c = elements; end != NULL && c < end; ++c) top += *c == ',' ? 1 : 0;
  if (end == NULL || current > top) return false;
  *out = (uint32_t)(top - current);
  return true;
}

static bool contains(hx_str_t text, const char *piece) {
  const size_t size = strlen(piece);
  for (size_t i = 0; i + size <= text.size; ++i) {
    if (memcmp(text.data + i, piece, size) == 0) return true;
  }
  return false;
}

// The ring degree of 1 + x**N.
static bool degree_of(hx_str_t type, int64_t *out) {
  for (size_t i = 0; i + 3 < type.size; ++i) {
    if (memcmp(type.data + i, "x**", 3) != 0) continue;
    *out = 0;
    for (size_t k = i + 3; k < type.size && type.data[k] >= '0' && type.data[k] <= '9' && *out < (1 << 20); ++k)
      *out = *out * 10 + (type.data[k] - '0');
    return *out >= 8 && *out <= 131072 && (*out & (*out - 1)) == 0;
  }
  return false;
}

// Scale, slots and, for ciphertexts, depth and components of an input. False with a fault for other types.
bool hx_heir_read_type(hx_heir_t *heir, hx_str_t written, hx_type_t *out) {
  const hx_str_t text = hx_heir_expand(&heir->reader, written);
  const bool is_ciphertext = contains(text, "lwe_ciphertext"), is_plaintext = contains(text, "lwe_plaintext");
  if (heir->reader.failed) return false;
  if ((!is_ciphertext && !is_plaintext) || contains(text, "tensor<")) {
    hx_heir_fail(&heir->reader, HX_CODE_UNSUPPORTED,
                 "type %.*s is not imported: inputs are single lwe ciphertexts and plaintexts",
                 (int)(text.size < 60 ? text.size : 60), text.data);
    return false;
  }
  int64_t bits = 0, degree = 0, size = 2;
  hx_type_init(out, is_ciphertext ? HX_TYPE_CIPHERTEXT : HX_TYPE_PLAINTEXT);
  hx_type_set_batch(out, 0, NULL);
  hx_type_set_word(out, HX_PART_DOMAIN, HX_NTT);
  hx_type_set_word(out, HX_PART_REPR, HX_STANDARD);
  if (hx_heir_integer(text, "scaling_factor", &bits) && bits > 0 && bits < 1024) {
    hx_scale_t scale;
    hx_scale_set_one(&scale);
    scale.e = bits;
    hx_type_set_scale(out, &scale);
  }
  if (degree_of(text, &degree)) hx_type_set_word(out, HX_PART_SLOTS, (uint32_t)(degree / 2));
  if (!is_ciphertext) {
    hx_type_set_word(out, HX_PART_DEPTH, 0);
    hx_type_set_word(out, HX_PART_COMPONENTS, 1);
    hx_type_set_word(out, HX_PART_BASIS, HX_BASIS_Q);
    return true;
  }
  uint32_t depth = 0;
  if (depth_of(text, &depth)) hx_type_set_word(out, HX_PART_DEPTH, depth);
  (void)hx_heir_integer(text, "size", &size);
  if (size < 2 || size > 3) {
    hx_heir_fail(&heir->reader, HX_CODE_COMPONENTS, "a ciphertext of %lld components is not imported: two or three are",
                 (long long)size);
    return false;
  }
  hx_type_set_word(out, HX_PART_COMPONENTS, (uint32_t)size);
  return true;
}

// ------------------------------------------------------------------ values

void hx_heir_define(hx_heir_t *heir, const hx_heir_op_t *op, hx_str_t name, hx_heir_value_t value) {
  uint32_t id;
  if (name.size == 0 || heir->reader.failed) return;
  if (hx_names_find(&heir->names, name) != HX_NONE) {
    hx_heir_refuse(heir, op, HX_CODE_SSA, "%%%.*s is defined twice", (int)name.size, name.data);
    return;
  }
  if (!hx_heir_must(heir, hx_names_add(&heir->names, name, &id)) ||
      !hx_heir_must(heir, hx_grow(&heir->values, &heir->value_capacity, id + (size_t)1, sizeof *heir->values))) {
    return;
  }
  heir->values[id] = value;
  if (value.value != NULL) {
    const hx_str_t kept = hx_arena_str(&heir->import->program->arena, name);
    value.value->name = kept;
  }
}

static hx_heir_value_t *operand(hx_heir_t *heir, const hx_heir_op_t *op, size_t index) {
  static hx_heir_value_t none = {.constant = HX_NONE};
  if (heir->reader.failed) return &none;
  if (index >= op->operand_count) {
    hx_heir_refuse(heir, op, HX_CODE_OPERANDS, "it has %zu operands", op->operand_count);
    return &none;
  }
  const hx_str_t name = op->operands[index];
  const uint32_t id = hx_names_find(&heir->names, name);
  if (id == HX_NONE) {
    hx_heir_refuse(heir, op, HX_CODE_SSA, "%%%.*s is not defined", (int)name.size, name.data);
    return &none;
  }
  return &heir->values[id];
}

static hx_ir_value_t *operand_value(hx_heir_t *heir, const hx_heir_op_t *op, size_t index, hx_type_kind_t kind) {
  hx_ir_value_t *value = operand(heir, op, index)->value;
  if (heir->reader.failed) return NULL;
  if (value != NULL && value->type->kind == kind) return value;
  hx_heir_refuse(heir, op, HX_CODE_OPERANDS, "operand %zu is no %s", index, hx_type_kind_name(kind));
  return NULL;
}

static hx_ir_value_t *build(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id, hx_ir_value_t *const *operands,
                            size_t count, const hx_named_attr_t *items, size_t item_count) {
  hx_attrs_t attrs;
  hx_ir_op_t *built = NULL;
  if (heir->reader.failed || !hx_heir_must(heir, hx_program_attrs(heir->import->program, items, item_count, &attrs)))
    return NULL;
  hx_report_t *own = hx_report_create();
  const hx_status_t status =
      hx_ir_build(heir->import->program, heir->block, NULL, id, operands, count, attrs, 1, NULL, own, &built);
  if (status != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(own, 0);
    hx_heir_refuse(heir, op, fault == NULL ? HX_CODE_OUT_OF_MEMORY : fault->code, "%s",
                   fault == NULL ? "no memory" : fault->text);
  }
  hx_report_release(own);
  if (status != HX_STATUS_OK) return NULL;
  built->line = op->line;
  built->column = op->column;
  return built->results[0];
}

static bool finish(hx_heir_t *heir, const hx_heir_op_t *op, hx_ir_value_t *value) {
  if (value == NULL) return false;
  hx_heir_define(heir, op, op->result, (hx_heir_value_t){.value = value, .constant = HX_NONE});
  return !heir->reader.failed;
}

// ------------------------------------------------------------------ rules

static bool of_unary(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  hx_ir_value_t *value = operand_value(heir, op, 0, HX_TYPE_CIPHERTEXT);
  return value != NULL && finish(heir, op, build(heir, op, id, &value, 1, NULL, 0));
}

static bool of_binary(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  hx_ir_value_t *operands[2];
  for (size_t i = 0; i < 2; ++i) operands[i] = operand_value(heir, op, i, HX_TYPE_CIPHERTEXT);
  return operands[0] != NULL && operands[1] != NULL && finish(heir, op, build(heir, op, id, operands, 2, NULL, 0));
}

// The plaintext drops to the ciphertext's depth. Sums and products are written in either order.
static bool of_plain(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  const hx_ir_value_t *first = operand(heir, op, 0)->value;
  const bool is_swapped = first != NULL && first->type->kind == HX_TYPE_PLAINTEXT;
  if (is_swapped && id == HX_OP_CKKS_SUB_PLAIN) {
    hx_heir_refuse(heir, op, HX_CODE_UNSUPPORTED,
                   "a plaintext less a ciphertext is not imported: negate the difference");
    return false;
  }
  hx_ir_value_t *operands[2] = {operand_value(heir, op, is_swapped ? 1 : 0, HX_TYPE_CIPHERTEXT),
                                operand_value(heir, op, is_swapped ? 0 : 1, HX_TYPE_PLAINTEXT)};
  if (operands[0] == NULL || operands[1] == NULL) return false;
  const hx_type_t *type = operands[0]->type;
  if ((type->known & HX_KNOWN_DEPTH) != 0 && type->depth > operands[1]->type->depth) {
    const hx_named_attr_t item = {.name = hx_str("depth"),
                                  .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = type->depth}};
    operands[1] = build(heir, op, HX_OP_CKKS_LEVEL_DROP, &operands[1], 1, &item, 1);
    if (operands[1] == NULL) return false;
  }
  return finish(heir, op, build(heir, op, id, operands, 2, NULL, 0));
}

static bool of_rotate(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  int64_t step = 0;
  hx_ir_value_t *value = operand_value(heir, op, 0, HX_TYPE_CIPHERTEXT);
  if (value == NULL) return false;
  if (!hx_heir_integer(op->attributes, "offset", &step) && !hx_heir_integer(op->attributes, "static_shift", &step)) {
    hx_heir_refuse(heir, op, HX_CODE_ATTRIBUTE,
                   "it has no attribute offset (or static_shift): only steps known beforehand are "
                   "imported");
    return false;
  }
  const hx_named_attr_t item = {.name = hx_str("step"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = step}};
  return finish(heir, op, build(heir, op, id, &value, 1, &item, 1));
}

static bool of_relinearize(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  const hx_str_t from = hx_heir_attribute(op->attributes, "from_basis"),
                 to = hx_heir_attribute(op->attributes, "to_basis");
  const bool fits = hx_str_equal(from, hx_str("array<i32: 0, 1, 2>")) && hx_str_equal(to, hx_str("array<i32: 0, 1>"));
  if (from.data != NULL && !fits) {
    hx_heir_refuse(heir, op, HX_CODE_UNSUPPORTED, "only from_basis 0, 1, 2 to to_basis 0, 1 is imported, found %.*s",
                   (int)(from.size < 40 ? from.size : 40), from.data);
    return false;
  }
  hx_ir_value_t *value = operand_value(heir, op, 0, HX_TYPE_CIPHERTEXT);
  return value != NULL && finish(heir, op, build(heir, op, id, &value, 1, NULL, 0));
}

static bool of_level_reduce(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  int64_t levels = 1;
  hx_ir_value_t *value = operand_value(heir, op, 0, HX_TYPE_CIPHERTEXT);
  if (value == NULL) return false;
  if (!hx_heir_integer(op->attributes, "levelToDrop", &levels))
    (void)hx_heir_integer(op->attributes, "level_to_drop", &levels);
  if ((value->type->known & HX_KNOWN_DEPTH) == 0 || levels < 0 || levels > 255) {
    hx_heir_refuse(heir, op, HX_CODE_UNSUPPORTED, "%lld levels are dropped from a depth that %s", (long long)levels,
                   (value->type->known & HX_KNOWN_DEPTH) == 0 ? "no modulus chain tells" : "no parameters have");
    return false;
  }
  const hx_named_attr_t item = {
      .name = hx_str("depth"),
      .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)value->type->depth + levels}};
  return finish(heir, op, build(heir, op, id, &value, 1, &item, 1));
}

static bool of_constant(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  (void)id;
  double *values = NULL;
  size_t count = 0;
  hx_import_t *import = heir->import;
  if (!hx_heir_dense(&heir->reader, op->attributes, &values, &count)) return false;
  const size_t index = import->constant_count;
  if (!hx_heir_must(heir,
                    hx_grow(&import->constants, &import->constant_capacity, index + 1, sizeof *import->constants))) {
    hx_free(values);
    return false;
  }
  char symbol[32];
  (void)snprintf(symbol, sizeof symbol, "constant%zu", index);
  import->constants[index] = (hx_import_constant_t){
      .symbol = hx_arena_str(&import->arena, hx_str(symbol)).data, .values = values, .count = count};
  import->constant_count = index + 1;
  if (import->constants[index].symbol == NULL) return hx_heir_must(heir, HX_STATUS_OUT_OF_MEMORY);
  hx_heir_define(heir, op, op->result, (hx_heir_value_t){.constant = (uint32_t)index});
  return !heir->reader.failed;
}

// The encoding of a constant: a material of the type's scale and slots.
static bool of_encode(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  const uint32_t constant = operand(heir, op, 0)->constant;
  const size_t arrow = op->types.size;
  hx_type_t type;
  size_t at = 0;
  while (at + 1 < arrow && memcmp(op->types.data + at, "->", 2) != 0) ++at;
  if (heir->reader.failed) return false;
  if (constant == HX_NONE || at + 2 >= arrow) {
    hx_heir_refuse(heir, op, HX_CODE_UNSUPPORTED,
                   "only constants are encoded by an imported program; give other messages as "
                   "plaintext inputs");
    return false;
  }
  if (!hx_heir_read_type(heir, (hx_str_t){.data = op->types.data + at + 2, .size = arrow - at - 2}, &type))
    return false;
  const hx_import_constant_t *numbers = &heir->import->constants[constant];
  if (hx_type_knows(&type, HX_PART_SLOTS) && numbers->count > type.slots) {
    hx_heir_refuse(heir, op, HX_CODE_LENGTH, "it encodes %zu numbers into %u slots", numbers->count, type.slots);
    return false;
  }
  const hx_named_attr_t item = {.name = hx_str("symbol"),
                                .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(numbers->symbol)}};
  hx_attrs_t attrs;
  hx_ir_op_t *ref = NULL;
  if (!hx_heir_must(heir, hx_program_attrs(heir->import->program, &item, 1, &attrs)) ||
      !hx_heir_must(heir, hx_ir_create(heir->import->program, id, NULL, 0, &type, 1, attrs, 0, &ref))) {
    return false;
  }
  ref->line = op->line;
  ref->column = op->column;
  hx_ir_insert(heir->block, NULL, ref);
  return finish(heir, op, ref->results[0]);
}

static bool of_return(hx_heir_t *heir, const hx_heir_op_t *op, hx_op_id_t id) {
  hx_ir_value_t *values[HX_HEIR_OPERANDS_MAX];
  hx_ir_op_t *last = NULL;
  for (size_t i = 0; i < op->operand_count; ++i) {
    values[i] = operand_value(heir, op, i, HX_TYPE_CIPHERTEXT);
    if (values[i] == NULL) return false;
  }
  if (!hx_heir_must(
          heir, hx_ir_create(heir->import->program, id, values, op->operand_count, NULL, 0, (hx_attrs_t){0}, 0, &last)))
    return false;
  last->line = op->line;
  last->column = op->column;
  hx_ir_insert(heir->block, NULL, last);
  return true;
}

// What both have; the table of docs/heir.md.
static const struct {
  const char *name;
  hx_op_id_t id;
  hx_heir_rule_t rule;
} rules[] = {
    {"ckks.add", HX_OP_CKKS_ADD, of_binary},
    {"ckks.sub", HX_OP_CKKS_SUB, of_binary},
    {"ckks.mul", HX_OP_CKKS_MUL, of_binary},
    {"ckks.negate", HX_OP_CKKS_NEG, of_unary},
    {"ckks.add_plain", HX_OP_CKKS_ADD_PLAIN, of_plain},
    {"ckks.sub_plain", HX_OP_CKKS_SUB_PLAIN, of_plain},
    {"ckks.mul_plain", HX_OP_CKKS_MUL_PLAIN, of_plain},
    {"ckks.rotate", HX_OP_CKKS_ROTATE, of_rotate},
    {"ckks.relinearize", HX_OP_CKKS_RELINEARIZE, of_relinearize},
    {"ckks.rescale", HX_OP_CKKS_RESCALE, of_unary},
    {"ckks.level_reduce", HX_OP_CKKS_LEVEL_DROP, of_level_reduce},
    {"lwe.radd", HX_OP_CKKS_ADD, of_binary},
    {"lwe.rsub", HX_OP_CKKS_SUB, of_binary},
    {"lwe.rmul", HX_OP_CKKS_MUL, of_binary},
    {"lwe.rnegate", HX_OP_CKKS_NEG, of_unary},
    {"lwe.radd_plain", HX_OP_CKKS_ADD_PLAIN, of_plain},
    {"lwe.rsub_plain", HX_OP_CKKS_SUB_PLAIN, of_plain},
    {"lwe.rmul_plain", HX_OP_CKKS_MUL_PLAIN, of_plain},
    {"lwe.rlwe_encode", HX_OP_MATERIAL_REF, of_encode},
    {"arith.constant", HX_OP_ARITH_CONSTANT, of_constant},
    {"func.return", HX_OP_RETURN, of_return},
};

void hx_heir_import_op(hx_heir_t *heir, const hx_heir_op_t *op) {
  if (++heir->ops > HX_HEIR_OPS_MAX) {
    hx_heir_refuse(heir, op, HX_CODE_LIMIT, "the program has more than %zu operations", HX_HEIR_OPS_MAX);
    return;
  }
  if (heir->is_skipped || heir->reader.failed) return;
  for (size_t i = 0; i < HX_COUNT_OF(rules); ++i) {
    if (!hx_str_equal(op->name, hx_str(rules[i].name))) continue;
    (void)rules[i].rule(heir, op, rules[i].id);
    return;
  }
  hx_heir_refuse(heir, op, HX_CODE_UNSUPPORTED, "this operation is not imported; docs/heir.md lists those that are");
}

// ------------------------------------------------------------------ the import

void hx_import_release(hx_import_t *import) {
  if (import == NULL) return;
  for (size_t i = 0; i < import->constant_count; ++i) hx_free((double *)(uintptr_t)import->constants[i].values);
  hx_free(import->constants);
  hx_arena_deinit(&import->arena);
  hx_program_release(import->program);
  hx_free(import);
}

const hx_program_t *hx_import_program(const hx_import_t *import) { return import->program; }

size_t hx_import_constants(const hx_import_t *import, const hx_import_constant_t **out_constants) {
  *out_constants = import->constants;
  return import->constant_count;
}

// The signature, and a last check by the rules of every program.
static hx_status_t close_program(hx_heir_t *heir) {
  hx_program_t *program = heir->import->program;
  hx_status_t status = HX_STATUS_OK;
  if (hx_func_return(heir->found) == NULL || hx_func_return(heir->found)->info->id != HX_OP_RETURN) {
    return hx_report_fail_at(heir->reader.report, HX_CODE_SYNTAX, heir->reader.source, heir->found->line,
                             heir->found->column, "the function does not end in func.return");
  }
  status = hx_func_refresh_type(program, heir->found);
  if (status == HX_STATUS_OK) status = hx_program_verify(program, heir->reader.report);
  if (status == HX_STATUS_OK) status = hx_program_refresh(program, heir->reader.report);
  return status;
}

hx_status_t hx_import_heir(hx_str_t text, const char *source, const char *entry, hx_import_t **out,
                           hx_report_t *report) {
  if (text.size > HX_HEIR_TEXT_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "%s: %zu bytes, an imported program has at most %zu", source,
                          text.size, HX_HEIR_TEXT_MAX);
  hx_import_t *import = hx_zalloc(1, sizeof *import);
  hx_status_t status = import == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_program_create(source, &import->program);
  if (status != HX_STATUS_OK) {
    hx_free(import);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to import a program");
  }
  hx_arena_init(&import->arena);
  hx_heir_t heir = {.reader = {.text = text.data,
                               .end = text.data + text.size,
                               .at = text.data,
                               .source = source,
                               .line = 1,
                               .line_start = text.data,
                               .report = report,
                               .arena = &import->arena},
                    .import = import,
                    .entry = entry};
  hx_names_init(&heir.reader.aliases);
  hx_names_init(&heir.names);
  if (text.size == 0) hx_heir_fail(&heir.reader, HX_CODE_SYNTAX, "the text is empty");
  if (!heir.reader.failed) hx_heir_read_module(&heir);
  status = heir.reader.failed ? HX_STATUS_INVALID : close_program(&heir);
  hx_names_deinit(&heir.reader.aliases);
  hx_names_deinit(&heir.names);
  hx_free(heir.reader.alias_texts);
  hx_free(heir.values);
  if (status == HX_STATUS_OK) {
    *out = import;
  } else {
    hx_import_release(import);
  }
  return status;
}

hx_status_t hx_import_bind(const hx_import_t *import, hx_compilation_t *compilation, hx_report_t *report) {
  const hx_port_t *ports = NULL;
  const size_t count = hx_compilation_materials(compilation, &ports);
  for (size_t i = 0; i < import->constant_count; ++i) {
    const hx_import_constant_t *constant = &import->constants[i];
    for (size_t k = 0; k < count; ++k) {
      if (strcmp(ports[k].name, constant->symbol) != 0) continue;
      HX_TRY(hx_compilation_encode_material(compilation, constant->symbol, constant->values, constant->count, false,
                                            report));
      break;
    }
  }
  return HX_STATUS_OK;
}
