// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/policy.h"

#include <stdlib.h>
#include <string.h>

static const char *const policy_names[] = {"default", "off", "warn", "require"};

static hx_status_t parse_signatures(const char *text, hx_signatures_t *out, hx_report_t *report) {
  for (unsigned i = HX_SIGNATURES_OFF; i <= HX_SIGNATURES_REQUIRE; ++i) {
    if (strcmp(text, policy_names[i]) != 0) continue;
    *out = (hx_signatures_t)i;
    return HX_STATUS_OK;
  }
  return hx_report_fail(report, HX_CODE_USAGE, "HELIOX_SIGNATURES is \"%.40s\", must be off, warn or require", text);
}

static const char *variable(bool allowed, const char *name) {
  const char *value = allowed ? getenv(name) : NULL;
  return value == NULL || *value == '\0' ? NULL : value;
}

hx_status_t hx_policy_init(hx_policy_t *policy, const hx_plugins_options_t *options, bool all, hx_report_t *report) {
  const bool variables = !options->ignore_environment && !hx_process_privileged();
  const char *lock = options->lock != NULL ? options->lock : variable(variables, "HELIOX_LOCK");
  const char *signatures = variable(variables, "HELIOX_SIGNATURES");
  *policy = (hx_policy_t){.signatures = options->signatures};
  if ((unsigned)options->signatures > HX_SIGNATURES_REQUIRE) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plugins_options_t: signatures is %u, at most %u",
                          (unsigned)options->signatures, (unsigned)HX_SIGNATURES_REQUIRE);
  }
  if (policy->signatures == HX_SIGNATURES_DEFAULT) {
    policy->signatures = HX_SIGNATURES_OFF;
    if (signatures != NULL) HX_TRY(parse_signatures(signatures, &policy->signatures, report));
  }
  if (lock != NULL && *lock != '\0') HX_TRY(hx_lock_read(lock, &policy->lock, report));
  if (policy->signatures == HX_SIGNATURES_OFF && !all) return HX_STATUS_OK;
  const hx_status_t status = hx_trust_init(&policy->trust, options->trust, variables, report);
  if (status != HX_STATUS_OK) hx_lock_release(policy->lock);
  return status;
}

void hx_policy_deinit(hx_policy_t *policy) {
  hx_lock_release(policy->lock);
  hx_trust_deinit(&policy->trust);
}
