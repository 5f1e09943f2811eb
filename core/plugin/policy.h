// SPDX-License-Identifier: Apache-2.0
// What a deployment asks of plugins beyond the gates that all of them pass.
#ifndef HELIOX_CORE_PLUGIN_POLICY_H
#define HELIOX_CORE_PLUGIN_POLICY_H

#include "core/plugin/lock.h"
#include "core/plugin/signature.h"

struct hx_policy {
  hx_lock_t *lock;  // NULL: not locked
  hx_signatures_t signatures;
  hx_trust_t trust;
};

// From options and, unless they or raised privileges forbid it, HELIOX_LOCK and HELIOX_SIGNATURES. `all`: the keys are
// read even where no signature is asked for. On failure there is nothing to deinit.
hx_status_t hx_policy_init(hx_policy_t *policy, const hx_plugins_options_t *options, bool all, hx_report_t *report);
void hx_policy_deinit(hx_policy_t *policy);

#endif
