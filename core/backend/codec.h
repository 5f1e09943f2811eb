// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding by the codec role of a device's plugin (hx_codec_ops). Any thread.
#ifndef HELIOX_CORE_BACKEND_CODEC_H
#define HELIOX_CORE_BACKEND_CODEC_H

#include "core/backend/device.h"
#include "core/ops/type.h"

// A plaintext and the numbers of its slots: pairs (re, im), or reals, item after item of its batch.
typedef struct hx_device_coding {
  const hx_ring *ring;
  const hx_type_t *type;      // a complete plaintext: ntt domain, standard, on primes of Q
  const hx_layout_t *layout;  // of the plaintext, dense
  hx_storage_t *plaintext;    // memory that the device can use
  uint64_t offset;            // of its first residue, in bytes
  bool complex_values, secret;
} hx_device_coding_t;

// Waits until it is done. Refused (unsupported): a plugin without the role, a scale whose factor has more than 64 bits,
// what the plugin does not take; (plugin-call, out-of-memory, ...): the plugin's own failures.
// values: slots of each item, all of them given.
hx_status_t hx_device_encode(hx_opened_device_t *device, const hx_device_coding_t *coding, const double *values,
                             hx_report_t *report);
hx_status_t hx_device_decode(hx_opened_device_t *device, const hx_device_coding_t *coding, double *out_values,
                             hx_report_t *report);

#endif
