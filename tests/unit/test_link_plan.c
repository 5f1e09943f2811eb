// SPDX-License-Identifier: Apache-2.0
// The memory plan: random programs give the same bits as the reference run value by value, with and without reuse in
// place; two links give equal manifests; slots never overlap while both live.
#include "core/ckks/transition.h"
#include "core/link/region.h"
#include "core/passes/passes.h"
#include "tests/unit/link_fixture.h"

#define PROGRAMS 15
#define OPERATIONS 24
#define OUTPUTS 3

static uint64_t random_state;

static uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % below;
}

// ------------------------------------------------------------------ random programs

typedef struct maker {
  const bench_t *bench;
  hx_program_t *program;
  hx_ir_op_t *func;
  hx_ir_block_t *block;
  hx_ir_value_t *values[OPERATIONS + 8];
  size_t count;
} maker_t;

static hx_named_attr_t integer(const char *name, int64_t value) {
  return (hx_named_attr_t){.name = hx_str(name), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = value}};
}

static void add_argument(maker_t *maker, const char *text) {
  hx_type_t type;
  must(hx_type_parse(hx_str(text), hx_params_ring(maker->bench->params), &type, maker->bench->report),
       maker->bench->report);
  hx_ir_value_t *argument = NULL;
  assert_int_equal(hx_ir_add_argument(maker->program, maker->block, hx_program_type(maker->program, &type), &argument),
                   HX_STATUS_OK);
  maker->values[maker->count++] = argument;
}

// One more operation on values made before, if their states allow it.
static bool try_operation(maker_t *maker) {
  static const hx_op_id_t ids[] = {
      HX_OP_CKKS_ADD,         HX_OP_CKKS_SUB,    HX_OP_CKKS_NEG,    HX_OP_CKKS_ADD_PLAIN,   HX_OP_CKKS_MUL_PLAIN,
      HX_OP_CKKS_MUL_INTEGER, HX_OP_CKKS_MUL,    HX_OP_CKKS_SQUARE, HX_OP_CKKS_RELINEARIZE, HX_OP_CKKS_RESCALE,
      HX_OP_CKKS_LEVEL_DROP,  HX_OP_CKKS_ROTATE, HX_OP_CKKS_TO_NTT, HX_OP_CKKS_FROM_NTT,    HX_OP_CKKS_CONJUGATE,
      HX_OP_CKKS_ADD_SCALAR,  HX_OP_CKKS_ADD,    HX_OP_CKKS_SUB,    HX_OP_CKKS_NEG,         HX_OP_CKKS_MUL_INTEGER};
  static const int64_t steps[] = {0, 1, 2, 5, -1};
  const hx_op_id_t id = ids[draw(HX_COUNT_OF(ids))];
  hx_ir_value_t *operands[2] = {maker->values[draw((uint32_t)maker->count)],
                                maker->values[draw((uint32_t)maker->count)]};
  hx_named_attr_t attr = {0};
  size_t attr_count = 1;
  switch (id) {
    case HX_OP_CKKS_MUL_INTEGER:
      attr = integer("integer", (int64_t)draw(7) - 3);
      break;
    case HX_OP_CKKS_LEVEL_DROP:
      attr = integer("depth", draw(4));
      break;
    case HX_OP_CKKS_ROTATE:
      attr = integer("step", steps[draw(HX_COUNT_OF(steps))]);
      break;
    case HX_OP_CKKS_ADD_SCALAR:
      attr = (hx_named_attr_t){.name = hx_str("value"), .value = {.kind = HX_ATTRIBUTE_FLOAT, .number = 0.125}};
      break;
    default:
      attr_count = 0;
      break;
  }
  const hx_op_form_t second = hx_op_info(id)->operands[1].form;
  const size_t operand_count = hx_op_info(id)->operands[1].name == NULL || second == HX_FORM_OPT ? 1 : 2;
  hx_attrs_t attrs;
  assert_int_equal(hx_program_attrs(maker->program, &attr, attr_count, &attrs), HX_STATUS_OK);
  hx_ir_op_t *op = NULL;
  if (hx_ir_build(maker->program, maker->block, NULL, id, operands, operand_count, attrs, 1,
                  hx_params_ring(maker->bench->params), NULL, &op) != HX_STATUS_OK) {
    return false;
  }
  maker->values[maker->count++] = op->results[0];
  return true;
}

static void finish_function(maker_t *maker, hx_ir_value_t *const *results) {
  const hx_type_t *types[8];
  for (size_t i = 0; i < maker->block->argument_count; ++i) types[i] = maker->block->arguments[i]->type;
  for (size_t i = 0; i < OUTPUTS; ++i) types[maker->block->argument_count + i] = results[i]->type;
  const hx_attribute_t function_type = {
      .kind = HX_ATTRIBUTE_TYPE, .input_count = maker->block->argument_count, .result_count = OUTPUTS, .types = types};
  assert_int_equal(hx_ir_set_attr(maker->program, maker->func, "function_type", &function_type), HX_STATUS_OK);
  hx_ir_op_t *ending = NULL;
  assert_int_equal(hx_ir_create(maker->program, HX_OP_RETURN, results, OUTPUTS, NULL, 0, (hx_attrs_t){0}, 0, &ending),
                   HX_STATUS_OK);
  hx_ir_insert(maker->block, NULL, ending);
  must(hx_program_refresh(maker->program, maker->bench->report), maker->bench->report);
  must(hx_program_verify(maker->program, maker->bench->report), maker->bench->report);
}

// Two ciphertexts and a plaintext go in, three ciphertexts come out: any values, operands and views too.
static hx_program_t *make_program(const bench_t *bench) {
  maker_t maker = {.bench = bench};
  assert_int_equal(hx_program_create("random", &maker.program), HX_STATUS_OK);
  const hx_named_attr_t name = {.name = hx_str("sym_name"),
                                .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")}};
  hx_attrs_t attrs;
  assert_int_equal(hx_program_attrs(maker.program, &name, 1, &attrs), HX_STATUS_OK);
  assert_int_equal(hx_ir_create(maker.program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &maker.func), HX_STATUS_OK);
  hx_ir_insert(maker.program->module->regions[0]->block, NULL, maker.func);
  maker.block = hx_func_block(maker.func);
  add_argument(&maker, CT0);
  add_argument(&maker, CT0);
  add_argument(&maker, PT0);
  for (size_t made = 0, tries = 0; made < OPERATIONS && tries < 4000; ++tries) made += try_operation(&maker);
  hx_ir_value_t *results[OUTPUTS];
  for (size_t i = 0; i < OUTPUTS; ++i) {
    do {
      results[i] = maker.values[draw(3) == 0 ? draw((uint32_t)maker.count) : (uint32_t)maker.count - 1 - draw(6)];
    } while (results[i]->type->kind != HX_TYPE_CIPHERTEXT);
  }
  finish_function(&maker, results);
  return maker.program;
}

// ------------------------------------------------------------------ the reference, value by value

typedef struct direct {
  const bench_t *bench;
  const hx_ring *ring;
  hx_ref_ring *tables;
  hx_tensor_t *tensors[2 * OPERATIONS + 16];  // by value id
} direct_t;

static hx_tensor_t *key_tensor(const direct_t *direct, const hx_type_t *type, uint32_t depth) {
  const hx_switch_key_t *key = hx_keys_find(direct->bench->keys, type->key_kind, type->element);
  assert_non_null(key);
  hx_tensor_t *view = NULL;
  assert_int_equal(hx_switch_key_at(key, direct->ring, depth, &view), HX_STATUS_OK);
  return view;
}

static void run_directly(direct_t *direct, const hx_ir_op_t *op) {
  hx_region_value_t values[3];
  hx_primes_t primes = op->operand_count > 0 ? op->operands[0]->type->primes : (hx_primes_t){0};
  hx_tensor_t *key = NULL;
  void *data[3];
  const uint32_t count = (uint32_t)op->operand_count;
  const hx_primes_t special = hx_ring_special(direct->ring);
  for (uint32_t i = 0; i < HX_COUNT_OF(primes.bits); ++i) primes.bits[i] |= special.bits[i];
  for (uint32_t i = 0; i < count; ++i) {
    const hx_type_t *type = op->operands[i]->type;
    hx_tensor_t *tensor = direct->tensors[op->operands[i]->id];
    if (type->kind == HX_TYPE_KEY) tensor = key = key_tensor(direct, type, op->operands[0]->type->depth);
    values[i] = (hx_region_value_t){
        .type = type, .layout = &tensor->layout, .primes = type->kind == HX_TYPE_KEY ? &primes : &type->primes};
    data[i] = (unsigned char *)tensor->storage->address + tensor->offset;
  }
  hx_layout_t layout;
  const hx_type_t *type = op->results[0]->type;
  hx_type_layout(type, direct->ring, &layout);
  hx_tensor_t **out = &direct->tensors[op->results[0]->id];
  assert_int_equal(hx_tensor_create(&layout, false, out), HX_STATUS_OK);
  values[count] = (hx_region_value_t){.type = type, .layout = &(*out)->layout, .primes = &type->primes};
  data[count] = (*out)->storage->address;
  hx_arena_t arena;
  hx_arena_init(&arena);
  const hx_region_call_t call = {.op = op->info,
                                 .attrs = op->attrs,
                                 .operands = values,
                                 .results = values + count,
                                 .operand_count = count,
                                 .result_count = 1,
                                 .ring = direct->ring};
  const hx_region *region = NULL;
  must(hx_region_build(&arena, &call, &region, direct->bench->report), direct->bench->report);
  hx_error error = hx_error_make();
  if (hx_reference_execute(direct->tables, region->ops, region->values, data, &error) != HX_OK)
    fail_msg("%s", error.message);
  hx_arena_deinit(&arena);
  hx_tensor_release(key);
}

// Results of @main on the given inputs, as tensors by value id.
static void run_program_directly(direct_t *direct, hx_program_t *program, const hx_value_t *const *inputs) {
  const hx_pass_env_t env = {.ring = direct->ring, .report = direct->bench->report};
  must(hx_pipeline_run(program, "infer-state,resolve-keys", &env), direct->bench->report);
  hx_ir_op_t *func = hx_program_find(program, "main");
  assert_true(hx_ir_number(func) <= HX_COUNT_OF(direct->tensors));
  hx_error error = hx_error_make();
  assert_int_equal(hx_ref_ring_create(direct->ring, &direct->tables, &error), HX_OK);
  const hx_ir_block_t *block = hx_func_block(func);
  for (size_t i = 0; i < block->argument_count; ++i) {
    direct->tensors[block->arguments[i]->id] = hx_tensor_retain(inputs[i]->tensor);
  }
  for (const hx_ir_op_t *op = block->first; op != block->last; op = op->next) {
    if (op->info->id != HX_OP_MATERIAL_REF) run_directly(direct, op);
  }
}

static void drop_direct(direct_t *direct) {
  for (size_t i = 0; i < HX_COUNT_OF(direct->tensors); ++i) hx_tensor_release(direct->tensors[i]);
  hx_ref_ring_destroy(direct->tables);
}

// ------------------------------------------------------------------ plans

static bool live_together(const hx_root_t *a, const hx_root_t *b) { return a->first <= b->last && b->first <= a->last; }

static void check_plan(const hx_executable_t *exe) {
  for (size_t i = 0; i < exe->root_count; ++i) {
    const hx_root_t *a = &exe->roots[i];
    if (a->kind != HX_ROOT_SLAB || a->is_merged || !a->is_used) continue;
    assert_int_equal(a->offset % 64, 0);
    assert_true(a->offset + a->bytes <= exe->slab_bytes);
    for (size_t k = 0; k < i; ++k) {
      const hx_root_t *b = &exe->roots[k];
      if (b->kind != HX_ROOT_SLAB || b->is_merged || !b->is_used || !live_together(a, b)) continue;
      assert_true(a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset);
    }
  }
}

// Whether step s needs step t, by what it reads.
static bool needs[4 * OPERATIONS][4 * OPERATIONS];

static bool writes(const hx_step_t *step, const hx_executable_t *exe, uint32_t root) {
  for (uint32_t i = 0; i < step->result_count; ++i) {
    if (exe->slots[step->results[i]].root == root) return true;
  }
  return false;
}

static void find_needs(const hx_executable_t *exe) {
  memset(needs, 0, sizeof needs);
  assert_true(exe->steps.count <= HX_COUNT_OF(needs));
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    for (uint32_t i = 0; i < step->operand_count; ++i) {
      for (size_t t = 0; t < s; ++t) {
        if (!writes(&exe->steps.items[t], exe, exe->slots[step->operands[i]].root)) continue;
        needs[s][t] = true;
        for (size_t u = 0; u < t; ++u) needs[s][u] = needs[s][u] || needs[t][u];
      }
    }
  }
}

// Whether two places share bytes of the slab, though they are of different values.
static bool share(const hx_executable_t *exe, uint32_t a, uint32_t b) {
  const uint32_t raw[] = {exe->slots[a].root, exe->slots[b].root};
  const hx_root_t *x = &exe->roots[hx_root_of(exe, raw[0])], *y = &exe->roots[hx_root_of(exe, raw[1])];
  return raw[0] != raw[1] && x->kind == HX_ROOT_SLAB && y->kind == HX_ROOT_SLAB && x->offset < y->offset + y->bytes &&
         y->offset < x->offset + x->bytes;
}

// A step that writes where another one read or wrote before needs that one.
static void check_apart(const hx_executable_t *exe) {
  find_needs(exe);
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *later = &exe->steps.items[s];
    for (size_t t = 0; t < s; ++t) {
      const hx_step_t *step = &exe->steps.items[t];
      for (uint32_t r = 0; r < later->result_count; ++r) {
        for (uint32_t i = 0; i < step->operand_count + step->result_count; ++i) {
          const uint32_t slot = i < step->operand_count ? step->operands[i] : step->results[i - step->operand_count];
          if (share(exe, later->results[r], slot)) assert_true(needs[s][t]);
        }
      }
    }
  }
}

static hx_executable_t *link_program(const bench_t *bench, const hx_program_t *program) {
  hx_compilation_t *compilation = NULL;
  must(hx_compilation_create(program, bench->params, &compilation, bench->report), bench->report);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, "", &executable, bench->report), bench->report);
  hx_compilation_release(compilation);
  return executable;
}

static void check_run(const bench_t *bench, hx_executable_t *executable, const hx_value_t *const *inputs,
                      const direct_t *direct, const hx_program_t *program) {
  hx_value_t *outputs[OUTPUTS] = {NULL};
  const hx_ir_op_t *ending = hx_func_return(hx_program_find(program, "main"));
  for (int run = 0; run < 2; ++run) {
    must(hx_run(executable, inputs, outputs, bench->report), bench->report);
    for (size_t i = 0; i < OUTPUTS; ++i) {
      const hx_tensor_t *expected = direct->tensors[ending->operands[i]->id];
      assert_true(hx_type_equal(&outputs[i]->type, ending->operands[i]->type));
      for (uint32_t c = 0; c < expected->layout.components; ++c) {
        for (uint32_t l = 0; l < expected->layout.limbs; ++l) {
          assert_memory_equal(hx_tensor_row(outputs[i]->tensor, 0, 0, c, l), hx_tensor_row(expected, 0, 0, c, l), 8192);
        }
      }
    }
  }
  for (size_t i = 0; i < OUTPUTS; ++i) hx_value_release(outputs[i]);
}

static void random_programs_run_on(bench_t *bench_of_test, uint64_t seed) {
  bench_t bench = *bench_of_test;
  random_state = seed;
  double values[SLOTS];
  fill_values(values, SLOTS, 9);
  hx_value_t *x = encrypt_seed(&bench, 1), *y = encrypt_seed(&bench, 2),
             *p = encode_values(&bench, values, SLOTS, false);
  const hx_value_t *inputs[] = {x, y, p};
  uint64_t shared = 0, unshared = 0;
  for (int i = 0; i < PROGRAMS; ++i) {
    hx_program_t *program = make_program(&bench);
    hx_executable_t *executable = link_program(&bench, program);
    check_plan(executable);
    if (bench.plugin != NULL && bench.plugin->loaded.table.graph != NULL) check_apart(executable);
    shared += executable->slab_bytes;
    unshared += executable->unshared_bytes;
    direct_t direct = {.bench = &bench, .ring = hx_params_ring(bench.params)};
    run_program_directly(&direct, program, inputs);
    check_run(&bench, executable, inputs, &direct, program);
    drop_direct(&direct);
    hx_executable_release(executable);
    hx_program_release(program);
  }
  print_message("%d programs: slabs %.1f MB, without reuse %.1f MB\n", PROGRAMS, (double)shared / 1e6,
                (double)unshared / 1e6);
  assert_true(shared < unshared);
  hx_value_release(x);
  hx_value_release(y);
  hx_value_release(p);
  bench_close(&bench);
}

static void random_programs_equal_the_reference(void **state) {
  (void)state;
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  random_programs_run_on(&bench, 1);
}

static void random_programs_equal_the_reference_in_place(void **state) {
  (void)state;
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  fake.in_place = true;
  random_programs_run_on(&bench, 2);
}

// A device that records runs, though it takes none of these.
static int32_t refuse_to_record(hx_queue *queue, hx_error *error) {
  (void)queue;
  return fake_fail(error, HX_UNSUPPORTED, "nothing is recorded");
}
static const hx_graph_ops refusing_graphs = {.struct_size = HX_END_OF(hx_graph_ops, destroy),
                                             .capture_begin = refuse_to_record};

static void random_programs_keep_independent_steps_apart(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 2; ++i) {
    bench_t bench;
    bench_open(&bench, FAKE_ALL);
    bench.plugin->loaded.table.graph = &refusing_graphs;
    fake.in_place = i == 1;
    random_programs_run_on(&bench, 5 + i);
  }
}

// Two chains of a device that records runs: in order they need three places, apart four.
static void chains_that_need_nothing_of_each_other_share_no_memory(void **state) {
  (void)state;
  static const char text[] = MODULE("%x: " CT0, CT0, CT,
                                    "%a = \"ckks.neg\"(%x) : (" CT0 ") -> " CT
                                    "\n"
                                    "%b = \"ckks.mul_integer\"(%a) {integer = 3 : i64} : (" CT ") -> " CT
                                    "\n"
                                    "%c = \"ckks.neg\"(%x) : (" CT0 ") -> " CT
                                    "\n"
                                    "%d = \"ckks.mul_integer\"(%c) {integer = 5 : i64} : (" CT ") -> " CT
                                    "\n"
                                    "%e = \"ckks.add\"(%b, %d) : (" CT ", " CT ") -> " CT
                                    "\n"
                                    "\"func.return\"(%e) : (" CT ") -> ()");
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  hx_executable_t *executable = link_text(&bench, text);
  assert_int_equal(executable->slab_bytes, 3 * 2 * 5 * 1024 * 8);
  hx_executable_release(executable);
  bench.plugin->loaded.table.graph = &refusing_graphs;
  executable = link_text(&bench, text);
  assert_int_equal(executable->slab_bytes, 4 * 2 * 5 * 1024 * 8);
  check_plan(executable);
  check_apart(executable);
  hx_executable_release(executable);
  bench_close(&bench);
}

static void random_programs_equal_the_reference_when_lowered(void **state) {
  (void)state;
  bench_t bench;
  bench_open(&bench, FAKE_PRIMITIVES);
  fake.in_place = true;
  random_programs_run_on(&bench, 3);
}

static void random_programs_equal_the_reference_on_the_cpu(void **state) {
  (void)state;
  bench_t bench;
  if (!bench_open_cpu(&bench, LINK_RING)) skip();
  random_programs_run_on(&bench, 4);
}

// ------------------------------------------------------------------ in place

#define CHAIN                                                                  \
  MODULE("%x: " CT0, CT0, CT,                                                  \
         "%a = \"ckks.neg\"(%x) : (" CT0 ") -> " CT                            \
         "\n"                                                                  \
         "%b = \"ckks.mul_integer\"(%a) {integer = 3 : i64} : (" CT ") -> " CT \
         "\n"                                                                  \
         "%c = \"ckks.neg\"(%b) : (" CT ") -> " CT                             \
         "\n"                                                                  \
         "%d = \"ckks.add\"(%c, %c) : (" CT ", " CT ") -> " CT                 \
         "\n"                                                                  \
         "\"func.return\"(%d) : (" CT ") -> ()")

static void chains_are_computed_in_place(void **state) {
  (void)state;
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  fake.in_place = true;
  hx_executable_t *executable = link_text(&bench, CHAIN);
  const hx_step_t *steps = executable->steps.items;
  assert_int_equal(executable->steps.count, 4);
  assert_int_equal(steps[0].in_place[0], -1);  // the input is the caller's
  assert_int_equal(steps[1].in_place[0], 0);
  assert_int_equal(steps[2].in_place[0], 0);
  assert_int_equal(steps[3].in_place[0], -1);  // both operands lie there, and the result is the output
  assert_int_equal(executable->slab_bytes, 2 * 5 * 1024 * 8);
  hx_executable_release(executable);
  fake.in_place = false;
  executable = link_text(&bench, CHAIN);
  assert_int_equal(executable->slab_bytes, 2 * 2 * 5 * 1024 * 8);
  hx_executable_release(executable);
  bench_close(&bench);
}

// %a is read after the call that could overwrite it.
static void values_read_later_are_not_overwritten(void **state) {
  (void)state;
  static const char text[] = MODULE("%x: " CT0, CT0, CT,
                                    "%a = \"ckks.neg\"(%x) : (" CT0 ") -> " CT
                                    "\n"
                                    "%b = \"ckks.neg\"(%a) : (" CT ") -> " CT
                                    "\n"
                                    "%c = \"ckks.sub\"(%b, %a) : (" CT ", " CT ") -> " CT
                                    "\n"
                                    "%d = \"ckks.neg\"(%c) : (" CT ") -> " CT
                                    "\n"
                                    "\"func.return\"(%d) : (" CT ") -> ()");
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  fake.in_place = true;
  hx_executable_t *executable = link_text(&bench, text);
  assert_int_equal(executable->steps.items[1].in_place[0], -1);
  assert_int_equal(executable->steps.items[2].in_place[0], 0);  // %b ends there, %a is another place
  hx_executable_release(executable);
  bench_close(&bench);
}

// ------------------------------------------------------------------ descriptions

static void two_links_give_equal_manifests(void **state) {
  (void)state;
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  fake.in_place = true;
  hx_program_t *program = link_parse(CHAIN);
  char *before = NULL, *after = NULL;
  must(hx_program_print(program, 0, &before, bench.report), bench.report);
  hx_executable_t *one = link_program(&bench, program), *two = link_program(&bench, program);
  must(hx_program_print(program, 0, &after, bench.report), bench.report);
  assert_string_equal(before, after);  // linking changes nothing
  assert_string_equal(hx_executable_manifest(one), hx_executable_manifest(two));
  assert_string_equal(hx_executable_source(one), hx_executable_source(two));
  const char *const pieces[] = {"\"implementation\": \"alpha/ref\"",
                                "\"operation\": \"ckks.mul_integer\"",
                                "\"in_place\": [",
                                "\"slab_bytes\": 81920",
                                "\"id\": \"alpha\"",
                                "\"name\": \"arg0\""};
  for (size_t i = 0; i < HX_COUNT_OF(pieces); ++i) {
    if (strstr(hx_executable_manifest(one), pieces[i]) == NULL)
      fail_msg("no %s in %s", pieces[i], hx_executable_manifest(one));
  }
  assert_non_null(
      strstr(hx_executable_source(one), "  ckks_mul_integer(slab, slab, /*integer*/ 3);  // %b = alpha/ref"));
  hx_text_free(before);
  hx_text_free(after);
  hx_executable_release(one);
  hx_executable_release(two);
  hx_program_release(program);
  bench_close(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_equal_the_reference),
                                     cmocka_unit_test(random_programs_equal_the_reference_on_the_cpu),
                                     cmocka_unit_test(random_programs_equal_the_reference_in_place),
                                     cmocka_unit_test(random_programs_keep_independent_steps_apart),
                                     cmocka_unit_test(chains_that_need_nothing_of_each_other_share_no_memory),
                                     cmocka_unit_test(random_programs_equal_the_reference_when_lowered),
                                     cmocka_unit_test(chains_are_computed_in_place),
                                     cmocka_unit_test(values_read_later_are_not_overwritten),
                                     cmocka_unit_test(two_links_give_equal_manifests)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
