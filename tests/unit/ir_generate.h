// SPDX-License-Identifier: Apache-2.0
// Programs at random, from a seed, with nested regions: what comes out verifies, infers and is read by mlir-opt.
#ifndef HELIOX_TESTS_UNIT_IR_GENERATE_H
#define HELIOX_TESTS_UNIT_IR_GENERATE_H

#include "ir_util.h"

typedef struct generator {
  hx_program_t *program;
  uint64_t state;
  hx_ir_value_t *tensors[256];  // visible here; all of one type
  size_t tensor_count;
  hx_ir_value_t *numbers[256];  // index
  size_t number_count;
  size_t budget;  // operations still to be made
} generator_t;

static inline uint32_t draw(generator_t *generator, uint32_t below) {
  generator->state = generator->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((generator->state >> 33) % below);
}

static inline hx_type_t type_of_text(const char *text) {
  hx_type_t type;
  assert_int_equal(hx_type_parse(hx_str(text), NULL, &type, NULL), HX_STATUS_OK);
  return type;
}

static inline hx_ir_value_t *some(generator_t *generator, hx_ir_value_t *const *values, size_t count) {
  return values[draw(generator, (uint32_t)count)];
}

static inline void remember(hx_ir_value_t **values, size_t *count, hx_ir_value_t *value) {
  if (*count < 256) values[(*count)++] = value;
}

static inline hx_ir_op_t *emit(generator_t *generator, hx_ir_block_t *block, hx_op_id_t id,
                               hx_ir_value_t *const *operands, size_t count, const hx_named_attr_t *items,
                               size_t item_count, const hx_type_t *types, size_t type_count, size_t regions) {
  hx_attrs_t attrs;
  hx_ir_op_t *op;
  assert_int_equal(hx_program_attrs(generator->program, items, item_count, &attrs), HX_STATUS_OK);
  assert_int_equal(hx_ir_create(generator->program, id, operands, count, types, type_count, attrs, regions, &op),
                   HX_STATUS_OK);
  hx_ir_insert(block, NULL, op);
  return op;
}

static inline void fill(generator_t *generator, hx_ir_block_t *block, int depth);

static inline void yield(generator_t *generator, hx_ir_block_t *block, size_t count) {
  hx_ir_value_t *values[4];
  for (size_t i = 0; i < count; ++i) values[i] = some(generator, generator->tensors, generator->tensor_count);
  emit(generator, block, HX_OP_SCF_YIELD, values, count, NULL, 0, NULL, 0, 0);
}

// A region's own values vanish after it.
static inline void inside(generator_t *generator, hx_ir_block_t *block, int depth, size_t yields) {
  const size_t tensors = generator->tensor_count, numbers = generator->number_count;
  for (size_t i = 0; i < block->argument_count; ++i) {
    if (block->arguments[i]->type->kind == HX_TYPE_INDEX)
      remember(generator->numbers, &generator->number_count, block->arguments[i]);
    if (block->arguments[i]->type->kind == HX_TYPE_TENSOR)
      remember(generator->tensors, &generator->tensor_count, block->arguments[i]);
  }
  fill(generator, block, depth - 1);
  yield(generator, block, yields);
  generator->tensor_count = tensors;
  generator->number_count = numbers;
}

static inline hx_ir_value_t *compare(generator_t *generator, hx_ir_block_t *block) {
  const hx_type_t bit = type_of_text("i1");
  const hx_named_attr_t predicate = {.name = hx_str("predicate"),
                                     .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = draw(generator, 10)}};
  hx_ir_value_t *operands[2] = {some(generator, generator->numbers, generator->number_count),
                                some(generator, generator->numbers, generator->number_count)};
  return emit(generator, block, HX_OP_ARITH_CMPI, operands, 2, &predicate, 1, &bit, 1, 0)->results[0];
}

static inline void emit_region(generator_t *generator, hx_ir_block_t *block, int depth) {
  const hx_type_t index = type_of_text("index");
  const size_t count = draw(generator, 4);
  hx_type_t types[3];
  hx_ir_value_t *operands[6];
  hx_ir_value_t *unused;
  for (size_t i = 0; i < count; ++i) hx_type_copy(&types[i], generator->tensors[0]->type);
  for (size_t i = 0; i < 3; ++i) operands[i] = some(generator, generator->numbers, generator->number_count);
  for (size_t i = 0; i < count; ++i) operands[3 + i] = some(generator, generator->tensors, generator->tensor_count);
  const uint32_t what = draw(generator, 3);
  hx_ir_op_t *op;
  if (what == 0) {
    hx_ir_value_t *condition = compare(generator, block);
    op = emit(generator, block, HX_OP_SCF_IF, &condition, 1, NULL, 0, types, count, 2);
    inside(generator, op->regions[0]->block, depth, count);
    if (count > 0 || draw(generator, 2) == 0) inside(generator, op->regions[1]->block, depth, count);
  } else if (what == 1) {
    op = emit(generator, block, HX_OP_SCF_FOR, operands, 3 + count, NULL, 0, types, count, 1);
    hx_ir_block_t *body = op->regions[0]->block;
    assert_int_equal(hx_ir_add_argument(generator->program, body, &index, &unused), HX_STATUS_OK);
    for (size_t i = 0; i < count; ++i)
      assert_int_equal(hx_ir_add_argument(generator->program, body, &types[i], &unused), HX_STATUS_OK);
    inside(generator, body, depth, count);
  } else {
    op = emit(generator, block, HX_OP_SCF_WHILE, operands + 3, count, NULL, 0, types, count, 2);
    for (size_t r = 0; r < 2; ++r) {
      for (size_t i = 0; i < count; ++i)
        assert_int_equal(hx_ir_add_argument(generator->program, op->regions[r]->block, &types[i], &unused),
                         HX_STATUS_OK);
    }
    hx_ir_value_t *passed[4] = {compare(generator, op->regions[0]->block)};
    for (size_t i = 0; i < count; ++i) passed[1 + i] = op->regions[0]->block->arguments[i];
    emit(generator, op->regions[0]->block, HX_OP_SCF_CONDITION, passed, 1 + count, NULL, 0, NULL, 0, 0);
    inside(generator, op->regions[1]->block, depth, count);
  }
  for (size_t i = 0; i < op->result_count; ++i) remember(generator->tensors, &generator->tensor_count, op->results[i]);
}

static inline void fill(generator_t *generator, hx_ir_block_t *block, int depth) {
  static const hx_op_id_t unary[] = {HX_OP_RNS_NEG, HX_OP_RNS_AUTOMORPHISM},
                          binary[] = {HX_OP_RNS_ADD, HX_OP_RNS_SUB, HX_OP_RNS_MUL};
  const hx_type_t index = type_of_text("index");
  for (uint32_t n = draw(generator, 8); n > 0 && generator->budget > 0; --n) {
    --generator->budget;
    const uint32_t what = draw(generator, 10);
    hx_ir_value_t *operands[2] = {some(generator, generator->tensors, generator->tensor_count),
                                  some(generator, generator->tensors, generator->tensor_count)};
    const hx_type_t *type = generator->tensors[0]->type;
    if (what < 2 && depth > 0) {
      emit_region(generator, block, depth);
    } else if (what < 4) {
      const hx_named_attr_t items[] = {
          {.name = hx_str("element"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = 5}},
          {.name = hx_str("x.note"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("a\"\\\n\x80")}}};
      const uint32_t k = draw(generator, 2);
      remember(generator->tensors, &generator->tensor_count,
               emit(generator, block, unary[k], operands, 1, items, k == 0 ? 0 : 2, type, 1, 0)->results[0]);
    } else if (what == 4) {
      const hx_named_attr_t item = {
          .name = hx_str("value"),
          .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = 1 + draw(generator, 9), .type = &index}};
      remember(generator->numbers, &generator->number_count,
               emit(generator, block, HX_OP_ARITH_CONSTANT, NULL, 0, &item, 1, &index, 1, 0)->results[0]);
    } else {
      remember(generator->tensors, &generator->tensor_count,
               emit(generator, block, binary[draw(generator, 3)], operands, 2, NULL, 0, type, 1, 0)->results[0]);
    }
  }
}

static inline hx_program_t *generate(uint64_t seed) {
  generator_t generator = {.state = seed * 0x9e3779b97f4a7c15u + 1, .budget = 60};
  assert_int_equal(hx_program_create("generated", &generator.program), HX_STATUS_OK);
  const hx_type_t types[] = {type_of_text(TENSOR), type_of_text(TENSOR), type_of_text("index")};
  hx_ir_op_t *func =
      emit(&generator, generator.program->module->regions[0]->block, HX_OP_FUNC, NULL, 0, NULL, 0, NULL, 0, 1);
  hx_ir_block_t *block = hx_func_block(func);
  const hx_type_t *signature[5];
  for (size_t i = 0; i < 3; ++i) {
    hx_ir_value_t *argument;
    assert_int_equal(hx_ir_add_argument(generator.program, block, &types[i], &argument), HX_STATUS_OK);
    if (seed % 2 == 0) argument->name = hx_str(i == 0 ? "a" : i == 1 ? "b.c-$_" : "n");
    if (i < 2) remember(generator.tensors, &generator.tensor_count, argument);
    if (i == 2) remember(generator.numbers, &generator.number_count, argument);
    signature[i] = argument->type;
  }
  while (generator.budget > 0) fill(&generator, block, 4);
  hx_ir_value_t *last[2] = {generator.tensors[generator.tensor_count - 1], generator.tensors[0]};
  const size_t results = seed % 3;
  emit(&generator, block, HX_OP_RETURN, last, results, NULL, 0, NULL, 0, 0);
  signature[3] = signature[4] = signature[0];
  const hx_attribute_t name = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")};
  const hx_attribute_t type = {
      .kind = HX_ATTRIBUTE_TYPE, .types = signature, .input_count = 3, .result_count = results};
  assert_int_equal(hx_ir_set_attr(generator.program, func, "sym_name", &name), HX_STATUS_OK);
  assert_int_equal(hx_ir_set_attr(generator.program, func, "function_type", &type), HX_STATUS_OK);
  assert_int_equal(hx_program_refresh(generator.program, NULL), HX_STATUS_OK);
  return generator.program;
}

#endif
