// SPDX-License-Identifier: Apache-2.0
/// @file
/// Programs, compilations, executables.
#ifndef HELIOX_PROGRAM_H
#define HELIOX_PROGRAM_H

#include "heliox/keys.h"
#include "heliox/plugins.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A program in IR form. Reference-counted; immutable through this interface.
typedef struct hx_program hx_program_t;

enum { HX_PRINT_SHORT = 1, HX_PRINT_ALIASES = 2 };

/// Reads MLIR's generic operation form and verifies it; all faults are reported, with line and column.
/// Limits: 64 MiB of text, nesting 64, 4 Mi operations.
HX_API HX_MUST_USE hx_status_t hx_program_parse(hx_str_t text, const char *source, hx_program_t **out,
                                                hx_report_t *report);
/// hx_program_parse of a file.
HX_API HX_MUST_USE hx_status_t hx_program_load(const char *path, hx_program_t **out, hx_report_t *report);
/// One more owner.
HX_API hx_program_t *hx_program_retain(const hx_program_t *program);
/// One owner less; NULL is allowed.
HX_API void hx_program_release(hx_program_t *program);
/// Text of the program; freed by hx_text_free. Deterministic.
HX_API HX_MUST_USE hx_status_t hx_program_print(const hx_program_t *program, uint32_t flags, char **out_text,
                                                hx_report_t *report);
/// Frees a text that a function of the library gave; NULL is allowed.
HX_API void hx_text_free(char *text);
/// Name or digest in heliox.params, or "".
HX_API const char *hx_program_params(const hx_program_t *program);

/// An input or output of @main.
typedef struct hx_port {
  const char *name;  ///< heliox.name, else "argN", "resultN"
  const char *role;  ///< ciphertext, plaintext, message, static
  const char *type;  ///< text
} hx_port_t;
/// Of the main function, borrowed. Returns their number.
HX_API size_t hx_program_inputs(const hx_program_t *program, const hx_port_t **out_ports);
/// Of the main function, borrowed. Returns their number.
HX_API size_t hx_program_outputs(const hx_program_t *program, const hx_port_t **out_ports);

/// What a program needs to run: derived without executing anything.
typedef struct hx_program_needs {
  uint32_t parts;            ///< HX_KEYS_RELIN, HX_KEYS_GALOIS, HX_KEYS_CONJ
  const uint64_t *elements;  ///< Galois elements, ascending; owned by the object below
  const int64_t *steps;      ///< a step for each element
  size_t element_count;      ///< of elements and steps
  uint32_t depth;            ///< deepest depth of any value
  uint32_t slots;            ///< that the steps refer to
} hx_program_needs_t;
/// What hx_program_needs found.
typedef struct hx_needs hx_needs_t;
/// Keys and depth of a program under these parameters (NULL: those that it names).
HX_API HX_MUST_USE hx_status_t hx_program_needs(const hx_program_t *program, const hx_params_t *params,
                                                hx_needs_t **out, hx_report_t *report);
/// Borrowed.
HX_API const hx_program_needs_t *hx_needs_get(const hx_needs_t *needs);
/// Frees it; NULL is allowed.
HX_API void hx_needs_release(hx_needs_t *needs);

/// Program, bindings and parameters, to be transformed and linked. One thread at a time.
typedef struct hx_compilation hx_compilation_t;

/// @param params NULL: the preset named by heliox.params (refused if there is none)
HX_API HX_MUST_USE hx_status_t hx_compilation_create(const hx_program_t *program, const hx_params_t *params,
                                                     hx_compilation_t **out, hx_report_t *report);
/// Frees it; NULL is allowed. Executables stay.
HX_API void hx_compilation_release(hx_compilation_t *compilation);
/// Borrowed.
HX_API const hx_params_t *hx_compilation_params(const hx_compilation_t *compilation);
/// Writes the digest of the parameters into the program (heliox.params): from then on it is refused under any others.
HX_API HX_MUST_USE hx_status_t hx_compilation_name_params(hx_compilation_t *compilation, hx_report_t *report);
/// Binds @relin, @conj and the Galois symbols (`galois_5`) to the keys of a set (retained). Refused: other parameters,
/// or another key id than keys bound before.
HX_API HX_MUST_USE hx_status_t hx_compilation_bind_keys(hx_compilation_t *compilation, const hx_keys_t *keys,
                                                        hx_report_t *report);
/// Binds a symbol (without @) of type !ckks.key<kind = switch> to a switching key (retained). Refused: other
/// parameters, a symbol that the program has with another type or not at all (material).
HX_API HX_MUST_USE hx_status_t hx_compilation_bind_switch(hx_compilation_t *compilation, const char *symbol,
                                                          const hx_switch_t *key, hx_report_t *report);
/// Binds a symbol (without @) to a value (retained). Refused: secret values.
HX_API HX_MUST_USE hx_status_t hx_compilation_bind_material(hx_compilation_t *compilation, const char *symbol,
                                                            const hx_value_t *value, hx_report_t *report);
/// Encodes numbers as the program's material.ref of this symbol says (scale, depth, slots) and binds the plaintext.
/// @retval HX_STATUS_NOT_FOUND (material) the program has no such symbol, or its type is not a complete plaintext type
HX_API HX_MUST_USE hx_status_t hx_compilation_encode_material(hx_compilation_t *compilation, const char *symbol,
                                                              const double *values, size_t count, bool complex_values,
                                                              hx_report_t *report);
/// The same of a batch: `items` vectors of `count` values each, one after the other, along one batch axis.
/// @param items 0: one vector, no batch axis
HX_API HX_MUST_USE hx_status_t hx_compilation_encode_materials(hx_compilation_t *compilation, const char *symbol,
                                                               const double *values, size_t items, size_t count,
                                                               bool complex_values, hx_report_t *report);
/// Materials that the program refers to: symbol and type text. Ports are borrowed.
HX_API size_t hx_compilation_materials(const hx_compilation_t *compilation, const hx_port_t **out_ports);
/// Runs passes over the compilation's program: "dve,resolve-keys,lower{only=missing}". Empty text: nothing.
HX_API HX_MUST_USE hx_status_t hx_compilation_transform(hx_compilation_t *compilation, const char *pipeline,
                                                        hx_report_t *report);
/// The transformed program; borrowed.
HX_API const hx_program_t *hx_compilation_program(const hx_compilation_t *compilation);

/// A linked program. Reference-counted. One executable runs from several threads, each run with its own instance.
typedef struct hx_executable hx_executable_t;

/// Links a clone: the compilation is unchanged. All problems are reported at once.
/// @param pipeline NULL: the default; the link steps (infer-state, resolve-keys, lower{only=missing}) always follow it
HX_API HX_MUST_USE hx_status_t hx_link(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                       const char *pipeline, hx_executable_t **out, hx_report_t *report);
/// What hx_link would say without bound keys and materials and without preparing anything: every operation resolves,
/// every state is complete. Nothing is executed.
HX_API HX_MUST_USE hx_status_t hx_link_check(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                             const char *pipeline, hx_report_t *report);
/// Linking in progress, as a caller's step sees it.
typedef struct hx_linking hx_linking_t;
/// A step of linking. run NULL: the standard step of that name. Steps work on copies: of the program, of the bindings.
typedef struct hx_link_pass {
  const char *name;                                                                ///< of a standard step, or one's own
  const char *doc;                                                                 ///< one sentence; may be NULL
  hx_status_t (*run)(hx_linking_t *linking, void *argument, hx_report_t *report);  ///< a failure is one of linking's
  void *argument;                                                                  ///< passed to run
} hx_link_pass_t;
/// The standard steps in order: resolve-tensors, resolve-operations, initialise-resources, materialise, link. The first
/// three gather all faults; the others run where there are none.
HX_API size_t hx_link_standard_passes(const hx_link_pass_t **out_passes);
/// hx_link with the caller's own steps. Refused (pass): an unknown or repeated step, one before what it needs, no link.
HX_API HX_MUST_USE hx_status_t hx_link_with(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                            const char *pipeline, const hx_link_pass_t *passes, size_t pass_count,
                                            hx_executable_t **out, hx_report_t *report);
/// The clone that is being linked; borrowed for the step.
HX_API const hx_program_t *hx_linking_program(const hx_linking_t *linking);
/// Runs passes over the clone; before resolve-tensors.
HX_API HX_MUST_USE hx_status_t hx_linking_transform(hx_linking_t *linking, const char *pipeline, hx_report_t *report);
/// A hard request: this implementation ("plugin/name", "name", with /variant) for all operations of a type; before
/// resolve-tensors.
HX_API HX_MUST_USE hx_status_t hx_linking_assign(hx_linking_t *linking, const char *operation,
                                                 const char *implementation, hx_report_t *report);
/// One more owner.
HX_API hx_executable_t *hx_executable_retain(const hx_executable_t *executable);
/// One owner less; NULL is allowed.
HX_API void hx_executable_release(hx_executable_t *executable);
/// In the order of hx_run's, borrowed. Returns their number.
HX_API size_t hx_executable_inputs(const hx_executable_t *executable, const hx_port_t **out_ports);
/// In the order of hx_run's, borrowed. Returns their number.
HX_API size_t hx_executable_outputs(const hx_executable_t *executable, const hx_port_t **out_ports);
/// JSON: operations, implementations, plugin digests, resources, memory plan. Deterministic; written when first asked
/// for,
/// "" where memory is exhausted.
HX_API const char *hx_executable_manifest(const hx_executable_t *executable);
/// The prepared control flow as C that a person can read.
HX_API const char *hx_executable_source(const hx_executable_t *executable);

/// Figures of an executable and of its last run.
typedef struct hx_run_stats {
  uint64_t slab_bytes;  ///< memory for intermediates
  uint64_t
      peak_bytes;  ///< memory of one run besides its inputs, outputs and materials: slab and scratch. Known at link
  uint64_t unshared_bytes;  ///< what the slab would take if no two intermediates shared memory
  uint64_t calls;           ///< prepared calls a run
  uint64_t runs;            ///< made so far
  uint64_t mod_ups;         ///< of the last run: polynomials decomposed and raised to Q and P
  uint64_t mod_downs;       ///< of the last run: values divided by P
  double seconds;           ///< of the last run
  uint64_t recordings;      ///< runs that the device recorded as a graph; then they were launched like replays
  uint64_t replays;         ///< runs that launched what was recorded before
  uint64_t updates;         ///< of those, runs whose inputs or outputs lay elsewhere than the run before had them
} hx_run_stats_t;

/// Runs once, synchronously.
/// @param inputs  [input count], in port order; state must be exactly what the program's types say
/// @param outputs [output count]; NULL entries are created, others are written in place (they must have the output's
///                state and be owned by nobody else). On failure nothing is created and given outputs are zeroed.
HX_API HX_MUST_USE hx_status_t hx_run(hx_executable_t *executable, const hx_value_t *const *inputs,
                                      hx_value_t **outputs, hx_report_t *report);
/// Times of runs, digests of results: heliox/trace.h.
typedef struct hx_trace hx_trace_t;
/// Digests of a run's results.
typedef struct hx_record hx_record_t;

/// How a run is watched. Zero-initialise.
typedef struct hx_run_options {
  bool (*cancelled)(void *argument);  ///< polled between prepared calls; true stops the run (cancelled). Plugins may
                                      ///< ask it within a call, from the threads that work on it
  void *argument;                     ///< passed to cancelled and progress
  hx_trace_t *trace;                  ///< gets an event a call; NULL: none. The run waits for every call
  hx_record_t *record;        ///< is emptied and gets the digest of every result; NULL: none. The run waits likewise
  const hx_record_t *replay;  ///< results must have these digests, of these operations in this order: the first that
                              ///< has not is named and the run fails (differs); NULL: none. Not together with record
  /// Called with `argument` as calls are enqueued, and within a call where its plugin tells how far it is; NULL: nobody
  /// looks. `done` of `total` never falls in a run without loops.
  void (*progress)(void *argument, uint64_t done, uint64_t total);
  bool apart;  ///< call by call, also where the device could record the run and launch it as one graph
} hx_run_options_t;
/// hx_run with options; NULL options: none.
HX_API HX_MUST_USE hx_status_t hx_run_with(hx_executable_t *executable, const hx_value_t *const *inputs,
                                           hx_value_t **outputs, const hx_run_options_t *options, hx_report_t *report);

/// Notes the predicted noise (hx_value_noise) of a run's outputs: the rules of the compilation's program applied to its
/// inputs and bound materials. An output that comes out of a loop or another dialect stays unknown. The outputs are the
/// caller's alone.
/// @param inputs  [input count], as given to hx_run
/// @param outputs [output count], as hx_run gave them
HX_API HX_MUST_USE hx_status_t hx_compilation_note_noise(const hx_compilation_t *compilation,
                                                         const hx_value_t *const *inputs, hx_value_t *const *outputs,
                                                         hx_report_t *report);

/// The value where the backend's first device can read it: the value itself, retained, where the device works on host
/// memory or has it already, else a copy in its memory. hx_run never transfers; this is the explicit step.
HX_API HX_MUST_USE hx_status_t hx_value_to_device(const hx_value_t *value, const hx_backend_t *backend,
                                                  hx_value_t **out, hx_report_t *report);
/// The value in host memory: itself, retained, where it is there already, else a copy.
HX_API HX_MUST_USE hx_status_t hx_value_to_host(const hx_value_t *value, hx_value_t **out, hx_report_t *report);

/// Fills in the figures.
HX_API void hx_executable_stats(const hx_executable_t *executable, hx_run_stats_t *out);

/// How two backends are compared. Zero-initialise.
typedef struct hx_diff_options {
  const char *pipeline;  ///< passes before; NULL: the default
  bool deep;             ///< everything lowered to primitives; else only what either backend lacks
  uint64_t tolerance;    ///< greatest distance of two residues modulo their prime that counts as equal; 0: equal bits
} hx_diff_options_t;

/// The first place at which two backends differ, and what was compared. Texts are owned by the object.
typedef struct hx_difference {
  bool differs;                  ///< false: all that was compared is equal, and what follows is empty
  uint64_t calls;                ///< prepared calls that were compared, up to the first that differs
  uint64_t values;               ///< words that were compared
  uint64_t secrets;              ///< results that were left out because they are secret
  size_t call;                   ///< number of the differing call, from 0
  const char *operation;         ///< "rns.mul"
  const char *value;             ///< "rns.mul", "%x"
  const char *implementation_a;  ///< of the first backend
  const char *implementation_b;  ///< of the second one
  uint32_t line;                 ///< in the program; 0: none
  uint32_t column;               ///< in the program; 0: none
  uint64_t item;                 ///< of the batch
  uint32_t digit;                ///< of a key
  uint32_t component;            ///< polynomial
  uint32_t limb;                 ///< of the tensor
  uint32_t prime_id;             ///< of the limb
  uint64_t prime;                ///< the limb's modulus
  uint64_t index;                ///< 0 where the words are no residues
  uint64_t a;                    ///< the first backend's word
  uint64_t b;                    ///< both words
} hx_difference_t;
/// What hx_diff found.
typedef struct hx_diff hx_diff_t;

/// Links a compilation to two backends so that both have the same calls, runs both on the same inputs, and compares the
/// results of every call bit for bit, side by side.
/// @param inputs [input count] or NULL; NULL entries are random residues from a fixed seed, as are materials of a
/// complete
///               type that are not bound
/// @retval HX_STATUS_OK also where they differ: see the object
HX_API HX_MUST_USE hx_status_t hx_diff(const hx_compilation_t *compilation, const hx_backend_t *a,
                                       const hx_backend_t *b, const hx_diff_options_t *options,
                                       const hx_value_t *const *inputs, hx_diff_t **out, hx_report_t *report);
/// Borrowed.
HX_API const hx_difference_t *hx_diff_get(const hx_diff_t *diff);
/// Frees it; NULL is allowed.
HX_API void hx_diff_release(hx_diff_t *diff);

#ifdef __cplusplus
}
#endif
#endif
