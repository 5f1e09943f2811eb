// SPDX-License-Identifier: Apache-2.0
// The inside of an executable: roots (memory), slots (typed views of it), registers (public numbers), steps (prepared
// calls, copies, arithmetic on numbers, control flow), instances (memory and queue of one run). Shared by the files of
// this folder alone.
//
// Steps lie in one array in program order. A structured operation is one step that is followed by the steps of its
// regions, so a nested list is a range of the array and a step's number says when it runs.
#ifndef HELIOX_CORE_LINK_EXECUTABLE_H
#define HELIOX_CORE_LINK_EXECUTABLE_H

#include "core/link/link.h"
#include "core/passes/work.h"

typedef enum hx_root_kind { HX_ROOT_INPUT, HX_ROOT_OUTPUT, HX_ROOT_MATERIAL, HX_ROOT_SLAB } hx_root_kind_t;

// A piece of memory that slots lie in.
typedef struct hx_root {
  hx_root_kind_t kind;
  uint32_t index;        // of the input, output or material
  uint32_t site;         // whose memory it is
  uint64_t bytes;        // SLAB: size
  uint64_t offset;       // SLAB: place in the slab, set by the memory plan
  bool is_whole;         // SLAB: one result of one call has it to itself, so that it may be computed in place
  bool is_merged;        // SLAB: shares the memory of root `index` (in place)
  bool is_used;          // SLAB: some step touches it
  uint32_t loop;         // SLAB: innermost loop that holds all steps that touch it; HX_NONE: none
  uint32_t first, last;  // SLAB: steps between which it is needed, loops that it is needed around taken whole
} hx_root_t;

// A value in memory. Offsets are in bytes from the start of the root.
typedef struct hx_slot {
  uint32_t root;
  uint64_t offset;
  const hx_layout_t *layout;  // in the arena; slots that lie alike share it
  const hx_type_t *type;      // of the executable's program
  hx_primes_t primes;         // of the rows
  bool secret;
  const char *name;  // "%x", for people
} hx_slot_t;

// A slot in the making: its layout is still its own.
typedef struct hx_draft {
  hx_slot_t slot;
  hx_layout_t layout;
} hx_draft_t;

// A material on one site.
typedef struct hx_bound_material {
  uint32_t site;
  const char *symbol;     // "" for a constant of the program
  hx_tensor_t *tensor;    // retained
  hx_placed_t *placed;    // copy on the device, or NULL
  hx_buffer *buffer;      // of the storage that runs read
  hx_storage_t *storage;  // that storage; borrowed from tensor or placed
  uint64_t generation;    // of the tensor when linked
  const hx_type_t *type;
  uint8_t key_id[16];  // zero: none
  uint64_t count;      // of a value; 0 otherwise
  bool is_complex, is_key;
  hx_value_t *source;          // what the tensor was prepared from, retained; NULL: it is what was bound
  uint64_t source_generation;  // of the source when it was prepared
  uint32_t preparation;        // of the executable
} hx_bound_material_t;

typedef enum hx_step_kind {
  HX_STEP_CALL,
  HX_STEP_FUSED,  // its operation is part of the region that a call before it runs: nothing is to be done
  HX_STEP_COPY,
  HX_STEP_TRANSFER,  // a copy between sites
  HX_STEP_NUMBER,    // arithmetic on public numbers, on the host
  HX_STEP_IF,
  HX_STEP_FOR,
  HX_STEP_WHILE,
  HX_STEP_COLLECTIVE,  // values between processes; the host waits for it
  HX_STEP_TEST         // scf.condition: reads what is passed on, so that it stays as it is until then
} hx_step_kind_t;

#define HX_LOOP_TRIPS_MAX ((uint64_t)1 << 20)  // of one loop, each time that it runs

// NUMBER: one operation of arith, or a move, between registers. Integers are kept sign-extended (zero-extended where
// unsigned) to 64 bits; an f64 keeps its bits.
typedef struct hx_number_code {
  hx_op_id_t op;         // HX_OP_SCF_YIELD: move a
  uint32_t a, b, c, to;  // c: second choice of arith.select
  uint32_t bits;         // of the operands; of arith.index_cast: of the result
  bool is_unsigned;
  uint32_t predicate;  // of arith.cmpi
  int64_t constant;    // of arith.constant
} hx_number_code_t;

// IF, FOR, WHILE. The first region's steps follow the step itself and end before `middle`, the second's before `end`.
typedef struct hx_control_code {
  uint32_t middle, end;
  uint32_t condition;                    // register: of IF; of WHILE, computed by its first region
  uint32_t lower, upper, step, counter;  // registers of FOR
  bool is_unsigned;                      // FOR
  uint64_t turns_max;                    // FOR, WHILE: it never runs more often
} hx_control_code_t;

// A loop of the executable and the steps of it, its own included: [first, end).
typedef struct hx_loop {
  uint32_t first, end;
  uint32_t parent;  // loop around it, or HX_NONE
  uint32_t depth;   // loops around it
} hx_loop_t;

// A resource that a prepared call wants.
typedef struct hx_step_resource {
  const char *kind;
  uint32_t operand;        // packed from it; HX_NONE: a live handle
  hx_packed_form_t *form;  // of an operand
  uint64_t generation;     // of the material when it was packed
  const char *name;        // of a live handle
  void *handle;            // live handle
} hx_step_resource_t;

typedef struct hx_step {
  hx_step_kind_t kind;
  bool is_elided;                // COPY: both slots are one place, nothing is to be done
  uint32_t loop;                 // innermost loop that it runs in, or HX_NONE
  uint32_t site;                 // CALL, COPY: where it runs
  const hx_ir_op_t *op;          // of the executable's program
  uint32_t *operands, *results;  // slots; COPY: one each
  uint32_t operand_count, result_count;
  const hx_number_code_t *number;  // NUMBER
  hx_control_code_t *control;      // IF, FOR, WHILE
  hx_resolution_t resolution;
  hx_prepared *prepared;
  int32_t *may_alias;  // [result_count]
  int32_t *in_place;   // [result_count]: operand whose memory it took, or -1
  uint64_t scratch_host, scratch_device;
  hx_step_resource_t *resources;
  uint32_t resource_count;
  hx_work_t work;                // CALL
  const struct hx_fused *fused;  // CALL of a region of several operations
  struct hx_exchange *exchange;  // COLLECTIVE
} hx_step_t;

// A marked region (heliox.region) and what became of it.
typedef struct hx_fused {
  struct hx_fused *next;
  const char *implementation;  // "far/far", or "" where it was not fused
  const char *reason;          // why it was not, or NULL
  const hx_ir_op_t **ops;      // in order
  const uint32_t **results;    // [count][result_counts]: slots; those that only the region reads have no memory
  uint32_t *result_counts;
  uint32_t count;
} hx_fused_t;

typedef struct hx_step_list {
  hx_step_t *items;
  size_t count, capacity;
} hx_step_list_t;

// What a result inherits from inputs and materials (CLI.md on counts).
typedef struct hx_output_rule {
  uint64_t *inputs;      // bit set of the inputs that it depends on
  uint64_t least_count;  // from materials; or the count written in heliox.count
  bool count_is_written, is_complex, secret;
} hx_output_rule_t;

// Whose an input or output is, in a program that switches between secrets. Ports of one class have one key id.
typedef struct hx_secret_class {
  bool is_known;      // by a switching key, the key set or a material
  uint8_t id[16];     // where known
  const char *owner;  // who says so
} hx_secret_class_t;

// A span of an instance that depends on what a run is given: of an input or output.
typedef struct hx_open_span {
  uint32_t slot;
  hx_span *span;
} hx_open_span_t;

// A device of the backend and what the executable needs of it. The first one is home: inputs and outputs lie there, and
// whatever is not placed elsewhere (heliox.device) runs there.
typedef struct hx_site {
  hx_opened_device_t *device;  // borrowed from the backend
  hx_device_tables_t *tables;  // NULL: the site is not used
  bool is_used;
  uint64_t slab_bytes, scratch_host, scratch_device;
  uint64_t staging_bytes;  // the largest value that is transferred; 0 where the host addresses the device's memory
} hx_site_t;

// An instance's part of one site.
typedef struct hx_instance_site {
  hx_queue *queue;        // NULL: the site is not used
  hx_storage_t *slab;     // intermediates, then device scratch; NULL where neither is needed
  hx_storage_t *scratch;  // host scratch, or NULL
  hx_storage_t *staging;  // of transfers, or NULL
} hx_instance_site_t;

// Memory and queues of one run at a time.
typedef struct hx_instance {
  struct hx_instance *next;
  hx_instance_site_t *sites;  // [site_count]
  hx_span *roots;             // [root_count]
  hx_call *calls;             // [steps.count]
  hx_span *spans;             // of all calls
  hx_open_span_t *open;       // [open_count] those of them that each run sets
  size_t open_count;
  int64_t *numbers;              // [number_count] registers
  void **resources;              // of all calls
  hx_packed_form_t **forms;      // behind them, retained; NULL for live handles
  hx_storage_t **staging;        // [input_count]: dense copies of strided inputs; made when first needed
  hx_value_t **results;          // [output_count]: of the current run
  struct hx_recorded *recorded;  // the run as a graph of the device, or NULL
  bool refuses_graphs;           // the queue does not record
} hx_instance_t;

struct hx_executable {
  atomic_uint refs;
  hx_arena_t arena;  // everything below that has no owner of its own
  hx_program_t *program;
  hx_params_t *params;
  hx_keys_t *keys;  // or NULL
  hx_backend_t *backend;
  hx_opened_device_t *device;  // of the first site
  hx_site_t *sites;            // [site_count] the backend's devices
  uint32_t site_count;
  bool is_spread;      // several sites are used
  uint64_t alignment;  // of offsets: every device's is a power of two, this is the largest
  const char *pipeline;

  const hx_port_t *inputs, *outputs;  // of the program
  const hx_type_t **input_types, **output_types;
  hx_layout_t *input_layouts;
  bool *secret_inputs;
  hx_output_rule_t *output_rules;
  size_t input_count, output_count;

  hx_slot_t *slots;
  size_t slot_count, slot_capacity;
  const hx_layout_t **layouts;  // each once
  size_t layout_count, layout_capacity;
  hx_root_t *roots;
  size_t root_count, root_capacity;
  hx_bound_material_t *materials;
  size_t material_count, material_capacity;
  struct hx_preparation *preparations;  // prepared.c
  size_t preparation_count, preparation_capacity;
  hx_step_list_t steps;
  size_t call_count, span_count, resource_count;
  bool is_straight;     // without control flow
  hx_fused_t *regions;  // in the arena, last first
  hx_loop_t *loops;
  size_t loop_count, loop_capacity;
  uint32_t number_count;                     // registers
  uint32_t *input_numbers, *output_numbers;  // register of an input or output that is a public number; else HX_NONE
  bool has_keys;
  uint8_t key_id[16];  // of bound keys; zero: none
  // Where the program has a ckks.key_switch; NULL otherwise: all ports belong to one secret.
  hx_secret_class_t *secrets;
  uint32_t *input_secrets, *output_secrets;  // class of each port
  size_t secret_count;

  uint64_t slab_bytes, scratch_host, scratch_device, staging_bytes, unshared_bytes;  // of all sites
  bool has_secrets;
  uint64_t exchange_bytes;           // of the largest value that a collective moves
  hx_storage_t *exchange_memory[2];  // pinned: what goes out, what comes in; used inside the group

  pthread_mutex_t lock;          // all below
  char *manifest, *host_source;  // written when first asked for
  hx_instance_t *pool;
  uint64_t runs;
  double seconds;
  uint64_t mod_ups, mod_downs;  // of the last run
  uint64_t recordings, replays, updates;
};

// What one link needs; lives for the call.
typedef struct hx_linker {
  hx_executable_t *exe;
  const hx_link_source_t *source;
  const hx_link_options_t *options;
  const hx_ring *ring;
  hx_ir_block_t *block;             // of @main
  uint32_t *slot_of;                // by value id; HX_NONE: no memory
  uint32_t *number_of;              // by value id: register of a public number; HX_NONE: none
  bool *is_secret;                  // by value id
  bool is_placed;                   // some operation says where it runs: the others run at home
  uint32_t loop;                    // innermost loop that is being linked, or HX_NONE
  struct hx_placement *placements;  // by value id
  uint32_t *material_of;            // by value id: the material of a key reference; HX_NONE: none
  size_t value_count;
  hx_report_t *report;
  size_t fault_count;
  hx_status_t first_status;  // of the first fault
  bool is_exhausted;         // a question of a pass could not be answered: no memory
  uint32_t done;             // steps that have run
  hx_link_wish_t *wishes;    // of the caller's options and steps
  size_t wish_count, wish_capacity;
} hx_linker_t;

// One run.
typedef struct hx_running {
  hx_executable_t *exe;
  hx_instance_t *instance;
  const hx_value_t *const *inputs;
  hx_value_t **outputs;
  const hx_run_options_t *options;
  const hx_watcher_t *watcher;
  hx_trace_t *trace;
  hx_report_t *report;
  hx_error error;               // ready for the next call
  uint64_t calls;               // executed so far
  uint64_t settled;             // calls that have been waited for
  uint64_t mod_ups, mod_downs;  // enqueued so far
  bool is_recorded, is_replayed, is_updated;
  size_t step;       // that is being enqueued
  bool is_counting;  // follow control flow alone, up to call number `wanted`
  bool is_found;     // that call is step `found`
  uint64_t wanted;
  size_t found;
} hx_running_t;

// A fault at an operation. Counts it; returns the code's status.
hx_status_t hx_link_fail(hx_linker_t *linker, const hx_ir_op_t *op, hx_code_t code, const char *format, ...)
    HX_PRINTF(4, 5);
// Counts a fault that is in the report already: OK to go on collecting, except when memory is exhausted.
hx_status_t hx_link_count(hx_linker_t *linker, hx_status_t status);

// slots.c, views.c: memory of every value, the steps in order. Faults are counted; only exhaustion is returned.
hx_status_t hx_link_layout(const hx_type_t *type, const hx_ring *ring, hx_layout_t *out);
hx_status_t hx_link_add_root(hx_linker_t *linker, hx_root_t root, uint32_t *out);
hx_status_t hx_link_add_slot(hx_linker_t *linker, const hx_slot_t *slot, uint32_t *out);
hx_status_t hx_link_add_draft(hx_linker_t *linker, const hx_draft_t *draft, uint32_t *out);
hx_draft_t hx_link_draft_of(const hx_linker_t *linker, uint32_t slot);
// The arena's copy of a layout, made once; NULL on exhaustion.
const hx_layout_t *hx_link_keep_layout(hx_linker_t *linker, const hx_layout_t *layout);
hx_status_t hx_link_add_step(hx_linker_t *linker, hx_step_kind_t kind, const hx_ir_op_t *op, uint32_t operand_count,
                             uint32_t result_count, hx_step_t **out);
hx_status_t hx_link_add_copy(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t from, uint32_t to);
hx_status_t hx_link_slots(hx_linker_t *linker);
hx_status_t hx_link_place_results(hx_linker_t *linker);
// Steps of all operations of a block but its terminator.
hx_status_t hx_link_block(hx_linker_t *linker, const hx_ir_block_t *block);
// A value that is a ciphertext, plaintext, tensor or seed.
bool hx_link_has_memory(const hx_type_t *type);
// Name of the first part of a type that is not known.
const char *hx_link_unknown_part(const hx_type_t *type);
// The slot of what an operation gives, where it was placed or in a place of its own.
hx_status_t hx_link_add_result_slot(hx_linker_t *linker, const hx_ir_value_t *value);
// A dense slot of its own for a value, on the site where the value lies or will.
hx_status_t hx_link_add_place(hx_linker_t *linker, const hx_ir_value_t *value, uint32_t *out_slot);
// True if the core resolves the operation by a view or copy of its own: no implementation is asked for.
bool hx_link_is_view(const hx_ir_op_t *op);
hx_status_t hx_link_view(hx_linker_t *linker, const hx_ir_op_t *op);
const char *hx_link_value_name(hx_linker_t *linker, const hx_ir_value_t *value);

// sites.c: where operations run and values lie.
// Site that heliox.device of an operation names, home without it.
uint32_t hx_link_site(hx_linker_t *linker, const hx_ir_op_t *op);
// The device of that site; NULL in a program that places nothing: then any device may answer.
const hx_opened_device_t *hx_link_placed_on(hx_linker_t *linker, const hx_ir_op_t *op);
// The site of what an operation computes, or of a block's argument: the structured operation's.
uint32_t hx_link_site_of(hx_linker_t *linker, const hx_ir_value_t *value);
static inline uint32_t hx_slot_site(const hx_executable_t *exe, uint32_t slot) {
  return exe->roots[exe->slots[slot].root].site;
}
// Every name in the program; those that the backend lacks are faults.
hx_status_t hx_link_check_sites(hx_linker_t *linker);
// A fault (device-mix) where the slot does not lie on the site.
bool hx_link_check_site(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t slot, uint32_t site);
// Whether operations of the program say where they run.
hx_status_t hx_link_find_placed(hx_linker_t *linker);
// Tables of the ring on every site that steps or materials use.
hx_status_t hx_link_open_sites(hx_linker_t *linker);

// transfer.c: memory.transfer between sites, one value, through the host.
hx_status_t hx_run_transfer(hx_running_t *run, size_t index);

// numbers.c: public numbers in registers.
bool hx_link_is_number(const hx_type_t *type);
uint32_t hx_link_new_number(hx_linker_t *linker);
// The register of a value that is a number, made when first asked for.
uint32_t hx_link_number(hx_linker_t *linker, const hx_ir_value_t *value);
// An operation of arith.
hx_status_t hx_link_arith(hx_linker_t *linker, const hx_ir_op_t *op);
hx_status_t hx_link_move(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t from, uint32_t to);
// The value of a register that one arith.constant sets; false where it is computed.
bool hx_link_known_number(const hx_ir_value_t *value, int64_t *out);
// False where it divides by 0: then nothing is written.
bool hx_number_execute(const hx_number_code_t *code, int64_t *numbers);
// True for the operations that hx_link_arith takes.
bool hx_link_is_arith(hx_op_id_t id);

// The register of an operation's result is this number.
hx_status_t hx_link_number_constant(hx_linker_t *linker, const hx_ir_op_t *op, int64_t number);

// collective.c: the distributed dialect.
typedef struct hx_exchange hx_exchange_t;
// distributed.rank and group_size: constants of the group.
hx_status_t hx_link_group_number(hx_linker_t *linker, const hx_ir_op_t *op);
// A program of one rank is for this process: before collectives are lowered.
hx_status_t hx_link_check_ranks(hx_linker_t *linker);
hx_status_t hx_link_collective(hx_linker_t *linker, const hx_ir_op_t *op);
// Memory and combine regions of all collectives.
hx_status_t hx_link_exchanges(hx_linker_t *linker);
void hx_exchange_free(hx_exchange_t *exchange);
const char *hx_exchange_plugin(const hx_exchange_t *exchange);  // short name
struct hx_running;
hx_status_t hx_run_collective(struct hx_running *run, size_t step);

// control.c: scf.if, scf.for, scf.while.
hx_status_t hx_link_control(hx_linker_t *linker, const hx_ir_op_t *op);
// How often a counted loop runs; false where its step is not positive.
bool hx_control_trips(int64_t lower, int64_t upper, int64_t step, bool is_unsigned, uint64_t *out);

// Where the result of a call goes: decided before slots are made.
typedef struct hx_placement {
  bool is_set;
  uint32_t root;
  uint64_t offset;
  const hx_layout_t *layout;  // in the arena
} hx_placement_t;

// materials.c: references, constants, keys at a depth.
hx_status_t hx_link_material(hx_linker_t *linker, const hx_ir_op_t *op);
hx_status_t hx_link_constant(hx_linker_t *linker, const hx_ir_op_t *op);
hx_status_t hx_link_resource(hx_linker_t *linker, const hx_ir_op_t *op);
// Makes every material readable by the device: in place, or as a copy where placing was asked for.
hx_status_t hx_link_bind_materials(hx_linker_t *linker);
// The slot of a key operand: its rows at the depth that the operation works at.
hx_status_t hx_link_key(hx_linker_t *linker, const hx_ir_op_t *op, const hx_ir_value_t *key, uint32_t *out_slot);
// One digit of the key that rns.key_slice takes, with all its rows, as a value of two components; false where the key
// is missing.
hx_status_t hx_link_key_digit(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t digit, hx_draft_t *out,
                              bool *out_found);

// steps.c: all steps, those of the options or the standard ones.
hx_status_t hx_link_run_steps(hx_linker_t *linker);
// link.c: passes over the clone; tables by value id.
hx_status_t hx_link_run_passes(hx_linker_t *linker);
hx_status_t hx_link_make_tables(hx_linker_t *linker, hx_ir_op_t *func);

// prepare.c: implementations, resources and regions of every call.
hx_status_t hx_link_resolve(hx_linker_t *linker);
hx_status_t hx_link_resources(hx_linker_t *linker);
// Materials where the device reads them, and their packed forms.
hx_status_t hx_link_materialise(hx_linker_t *linker);
hx_status_t hx_link_prepare(hx_linker_t *linker);
// Packs the material of one resource as it is now.
hx_status_t hx_step_pack(hx_executable_t *exe, const hx_step_t *step, hx_step_resource_t *resource,
                         hx_report_t *report);

// graph.c: a run without control flow as a graph of the device, recorded once an instance and launched again.
bool hx_graph_serves(const hx_running_t *run);
// Why runs of the executable are never recorded; NULL: they are, where the queue can and nobody watches.
const char *hx_graph_obstacle(const hx_executable_t *exe);
// Enqueues all steps: records where there is no graph yet, brings the graph up to date, launches it. *out_done false:
// the queue does not record, and nothing was enqueued.
hx_status_t hx_graph_run(hx_running_t *run, bool *out_done);
void hx_graph_drop(const hx_executable_t *exe, hx_instance_t *instance);
// Steps [0, count) in order, enqueued or recorded.
hx_status_t hx_run_enqueue(hx_running_t *run);
// Whether the run was asked to stop: a fault (cancelled).
hx_status_t hx_run_attend(hx_running_t *run, size_t step);

// fuse.c: marked regions become one call each where their plugin takes them. Faults are none: what is not fused runs
// operation by operation, and the executable's manifest says why.
hx_status_t hx_link_fuse(hx_linker_t *linker);
// Name of a call for people: of its operation, or fusion.region.
const char *hx_step_name(const hx_step_t *step);

// plan.c: lifetimes, in-place results, places in the slab.
hx_status_t hx_link_plan(hx_linker_t *linker);
// Root whose memory a root shares, itself where it shares none.
// Whether an output may lie in the memory of an input: the executable is one call whose implementation allows it.
bool hx_executable_may_replace(const hx_executable_t *exe, size_t input, size_t output);
uint32_t hx_root_of(const hx_executable_t *exe, uint32_t root);

// inherit.c: which values are secret, before slots are made; counts and complexity of outputs.
hx_status_t hx_link_spread_secrets(hx_linker_t *linker);
hx_status_t hx_link_inherit(hx_linker_t *linker);
// Value of heliox.<name> in arg_attrs or res_attrs of @main, or NULL.
const hx_attribute_t *hx_link_port_attr(const hx_ir_op_t *func, const char *list, size_t index, const char *name);

// secrets.c: classes of ports by secret, before anything is lowered.
hx_status_t hx_link_secrets(hx_linker_t *linker);
// Switching key bound to a symbol, or NULL.
const hx_switch_t *hx_link_find_switch(const hx_linker_t *linker, hx_str_t symbol);

// prepared.c: a material as its reference wants it prepared; `material` gets tensor (retained), source, generation.
hx_status_t hx_link_prepare_value(hx_linker_t *linker, const hx_ir_op_t *op, hx_value_t *source,
                                  hx_bound_material_t *material);
// Prepares anew what changed since; before every run.
hx_status_t hx_prepared_refresh(hx_executable_t *exe, hx_report_t *report);
void hx_prepared_free(hx_executable_t *exe);

// manifest.c, source.c
char *hx_executable_describe(const hx_executable_t *exe);      // NULL: out of memory
char *hx_executable_write_source(const hx_executable_t *exe);  // NULL: out of memory

// check.c: inputs and outputs of a run, before anything happens.
hx_status_t hx_run_check(const hx_executable_t *exe, const hx_value_t *const *inputs, hx_value_t *const *outputs,
                         uint8_t out_key_id[16], hx_report_t *report);

// follow.c: registers of inputs (every other register is set before it is read); all steps; waiting for them.
void hx_run_bind_numbers(hx_running_t *run);
// What the plugins' calls of a run ask and tell (hx_call_watch_t); argument: the run.
void hx_run_progress(void *argument, uint64_t done, uint64_t total);
bool hx_run_cancelled(void *argument);
hx_status_t hx_run_steps(hx_running_t *run);
hx_status_t hx_run_wait(hx_running_t *run, bool report_late);
// Waits for all that was enqueued before a step that the host does itself.
hx_status_t hx_run_settle(hx_running_t *run);

// instance.c
hx_status_t hx_instance_take(hx_executable_t *exe, hx_instance_t **out, hx_report_t *report);
void hx_instance_give(hx_executable_t *exe, hx_instance_t *instance);
void hx_instance_destroy(hx_executable_t *exe, hx_instance_t *instance);
// Packs again what was written since, and takes hold of the packed forms for the next run.
hx_status_t hx_instance_refresh(hx_executable_t *exe, hx_instance_t *instance, hx_report_t *report);
hx_span hx_instance_span(const hx_executable_t *exe, const hx_instance_t *instance, uint32_t slot);

// place.c: a new value in the memory of a device, uninitialised.
// A dense copy in host memory, always a new one.
hx_status_t hx_value_to_dense_host(const hx_value_t *value, hx_value_t **out, hx_report_t *report);
hx_status_t hx_value_create_on(hx_opened_device_t *device, const hx_params_t *params, const hx_type_t *type,
                               bool secret, hx_value_t **out, hx_report_t *report);

// watch.c: waits for a step and shows its results to whoever watches the run. number: of the call among the calls.
hx_status_t hx_watch_step(hx_executable_t *exe, hx_instance_t *instance, size_t step, size_t number,
                          const hx_watcher_t *watcher, hx_report_t *report);

// copy.c: enqueues row copies between two slots' places.
int32_t hx_copy_rows(const hx_opened_device_t *device, hx_queue *queue, const hx_layout_t *to_layout, hx_span to,
                     const hx_layout_t *from_layout, hx_span from, hx_error *error);

#endif
