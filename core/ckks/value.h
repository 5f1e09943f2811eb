// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CORE_CKKS_VALUE_H
#define HELIOX_CORE_CKKS_VALUE_H

#include "core/ckks/noise_state.h"
#include "core/tensor/tensor.h"
#include "heliox/value.h"

// What stands for a value while a function is recorded (core/eager/capture.h): its operations are noted, nothing is
// computed, and there are no residues.
typedef struct hx_symbol {
  void *owner;     // the capture
  void *ir_value;  // in its program
  void (*release)(void *owner);
} hx_symbol_t;

// The numbers that a value should hold, in debug mode. Secret: wiped when the last value goes.
typedef struct hx_truth {
  atomic_uint refs;
  size_t slots;
  double pairs[];  // [slots] pairs (re, im)
} hx_truth_t;
hx_truth_t *hx_truth_retain(hx_truth_t *truth);
void hx_truth_release(hx_truth_t *truth);  // NULL is fine

struct hx_value {
  atomic_uint refs;
  hx_params_t *params;
  uint8_t key_id[16];  // zero: none
  hx_type_t type;      // ciphertext, plaintext, tensor, seed or number, complete
  hx_tensor_t *tensor;
  uint64_t count;  // values of the message; see CLI.md on results
  bool is_complex;
  bool secret;
  hx_symbol_t symbol;  // owner NULL: a value with data
  hx_noise_t noise;    // predicted; set by what makes the value
  hx_truth_t *truth;   // or NULL
};

// Layout of a complete ciphertext, plaintext, tensor, seed or number type under a ring (dense). A number is one word.
void hx_type_layout(const hx_type_t *type, const hx_ring *ring, hx_layout_t *out);
// The rules of CKKS.md for the state of a value under a parameter set: a complete ciphertext (two or three components)
// or plaintext type whose depth, primes and slots are the ring's; a tensor on primes of the ring; a seed. One fault a
// broken rule.
hx_status_t hx_value_check_type(const hx_params_t *params, const hx_type_t *type, hx_report_t *report);
// A new value of a complete type with zeroed host memory. Fails (invalid) on a type that hx_value_check_type refuses,
// and for want of memory.
hx_status_t hx_value_create(const hx_params_t *params, const hx_type_t *type, bool secret, hx_value_t **out);
// The same with memory that is not cleared: for what is going to be written whole before anybody reads it.
hx_status_t hx_value_create_unset(const hx_params_t *params, const hx_type_t *type, bool secret, hx_value_t **out);
// A value around an existing tensor (retained); its shape must be the type's.
hx_status_t hx_value_wrap(const hx_params_t *params, const hx_type_t *type, hx_tensor_t *tensor, bool secret,
                          hx_value_t **out, hx_report_t *report);
// The word of a number in host memory: an integer sign-extended (zero-extended where its type is unsigned), or the bits
// of an f64.
int64_t hx_value_word(const hx_value_t *number);
void hx_value_set_word(hx_value_t *number, int64_t word);
// A value without data. The symbol's owner is released with it.
hx_status_t hx_value_create_symbol(const hx_params_t *params, const hx_type_t *type, hx_symbol_t symbol,
                                   hx_value_t **out);
// Refused (unsupported): a value that is being recorded, by what cannot be recorded: "ckks.encrypt draws at random".
hx_status_t hx_value_want_data(const hx_value_t *value, const char *what, hx_report_t *report);
// Notes what the predicted noise of a plaintext just encoded follows from: its message where it is not secret, else the
// magnitude that the caller declares for it. `period`: slots that the values fill, again and again.
void hx_value_note_message(hx_value_t *plaintext, const double *values, size_t count, bool is_complex, uint32_t period,
                           double magnitude);
// The same for `items` messages of `count` values each, of which the largest counts. `bound`: what each coefficient may
// be off beyond its rounding.
void hx_value_note_messages(hx_value_t *plaintext, const double *values, size_t items, size_t count, bool is_complex,
                            uint32_t period, double magnitude, double bound);
// The noise of a ciphertext just encrypted from a plaintext. Where nothing is known of the plaintext, its message
// counts as bounded by 1.
void hx_value_note_encryption(hx_value_t *ciphertext, const hx_value_t *plaintext, bool symmetric);
// An id from the last component's first words: the same for equal values, different for others. Host memory.
uint64_t hx_value_noise_id(const hx_value_t *value);
// A batch from values: their largest noise. Items that share parts are alike.
void hx_value_note_stack(hx_value_t *batch, const hx_value_t *const *values, size_t count);

// Checks every residue against its prime (residue, naming row and index). Host memory.
hx_status_t hx_value_check_residues(const hx_value_t *value, hx_report_t *report);
// The same for any host tensor of residues whose limb l belongs to prime ids[l]: values below `factor` times the prime.
// `what` names the tensor in the fault.
hx_status_t hx_tensor_check_residues(const hx_tensor_t *tensor, const hx_ring *ring, const uint32_t *ids,
                                     uint32_t factor, const char *what, hx_report_t *report);

// Constants of ckks.add_scalar and ckks.mul_scalar (CKKS.md, "Constants"): per row of `primes`, the constant on the
// first and on the second half of the row in ntt domain. out_residues holds 2 * rows words. Refused (value): not
// finite, or above the modulus.
hx_status_t hx_constant_residues(const hx_ring *ring, const hx_primes_t *primes, double re, double im,
                                 const hx_scale_t *scale, uint64_t *out_residues, hx_report_t *report);

#endif
