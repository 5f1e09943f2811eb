// SPDX-License-Identifier: Apache-2.0
// Groups of processes: life, agreement, how the others fare. The plugin moves bytes between hosts.
#include "core/link/group.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_DEFAULT_MS 60000u
#define FACTS_SHOWN 512u   // bytes of a rank's facts that the others get where they differ
#define FACTS_WINDOW 100u  // of them that are told, from shortly before the first difference

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a group");
}

hx_status_t hx_group_status(const hx_group_t *group, int32_t result, const hx_error *error, hx_code_t differs,
                            const char *what, hx_report_t *report) {
  if (result != HX_INVALID && result != HX_UNAVAILABLE)
    return hx_plugin_status(group->plugin, result, error, what, report);
  hx_report_t *said = hx_report_create();
  const hx_status_t status = hx_plugin_status(group->plugin, result, error, what, said);
  const hx_fault_t *fault = hx_report_get(said, 0);
  const hx_code_t code = result == HX_INVALID ? differs : HX_CODE_RANK_MISSING;
  const hx_status_t told =
      fault == NULL ? status : hx_report_fail(report, code, "rank %u: %s", group->rank, fault->text);
  hx_report_release(said);
  return told;
}

// ------------------------------------------------------------------ life

static hx_status_t find_plugin(const hx_backend_t *backend, hx_loaded_plugin_t **out, hx_report_t *report) {
  *out = NULL;
  for (size_t i = 0; i < backend->plugin_count; ++i) {
    if (backend->plugins[i]->table.collectives == NULL) continue;
    if (*out != NULL)
      return hx_report_fail(report, HX_CODE_AMBIGUOUS, "%s and %s both have collectives: leave one out of the backend",
                            (*out)->record->name, backend->plugins[i]->record->name);
    *out = backend->plugins[i];
  }
  if (*out != NULL) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_BACKEND, "no plugin of the backend has collectives: add one, as in cpu,mpi");
}

// Ids and digests of the backend's plugins in their order.
static void digest_plugins(hx_group_t *group) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  for (size_t i = 0; i < group->backend->plugin_count; ++i) {
    const hx_loaded_plugin_t *plugin = group->backend->plugins[i];
    crypto_hash_sha256_update(&state, (const unsigned char *)plugin->record->id, strlen(plugin->record->id) + 1);
    crypto_hash_sha256_update(&state, (const unsigned char *)plugin->digest, sizeof plugin->digest);
  }
  crypto_hash_sha256_final(&state, group->plugins);
  char hex[65];
  sodium_bin2hex(hex, sizeof hex, group->plugins, sizeof group->plugins);
  snprintf(group->facts, sizeof group->facts, "plugins %s", hex);
}

hx_status_t hx_group_enter(hx_group_t *group, hx_report_t *report) {
  if (!atomic_flag_test_and_set_explicit(&group->busy, memory_order_acquire)) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_BUSY, "the group of %u ranks has a caller already", group->size);
}

void hx_group_leave(hx_group_t *group) { atomic_flag_clear_explicit(&group->busy, memory_order_release); }

static void copy_printable(const char *from, size_t bytes, char out[FACTS_SHOWN]) {
  size_t i = 0;
  for (; i < bytes && i + 1 < FACTS_SHOWN; ++i) out[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
  out[i] = '\0';
}

// Every rank knows that facts differ, so that all come here: each tells the others its own.
static hx_status_t tell_facts(hx_group_t *group, const void *facts, size_t bytes, hx_code_t differs, const char *what,
                              const char *said, hx_report_t *report) {
  char mine[FACTS_SHOWN] = {0};
  copy_printable(facts, bytes, mine);
  char *all = hx_zalloc(group->size, FACTS_SHOWN);
  uint64_t *sizes = hx_alloc(group->size * sizeof *sizes);
  int32_t result = HX_OUT_OF_MEMORY;
  for (uint32_t r = 0; sizes != NULL && r < group->size; ++r) sizes[r] = FACTS_SHOWN;
  hx_error error = hx_error_make();
  if (all != NULL && sizes != NULL)
    result = group->plugin->table.collectives->all_gather(group->handle, mine, all, sizes, &error);
  uint32_t other = 0;
  size_t from = 0;
  for (uint32_t r = 1; result == HX_OK && r < group->size && other == 0; ++r) {
    all[(size_t)(r + 1) * FACTS_SHOWN - 1] = '\0';
    if (strcmp(all + (size_t)r * FACTS_SHOWN, all) != 0) other = r;
  }
  const char *theirs = all == NULL ? NULL : all + (size_t)other * FACTS_SHOWN;
  while (other > 0 && all[from] == theirs[from]) ++from;  // they differ before both end
  from = from < 24 ? 0 : from - 24;

  hx_text_t text;
  hx_text_init(&text);
  hx_text_printf(&text, "rank %u: %s: %s", group->rank, what, said);
  if (other > 0)
    hx_text_printf(&text, "; rank 0: %s%.*s; rank %u: %s%.*s", from > 0 ? "..." : "", (int)FACTS_WINDOW, all + from,
                   other, from > 0 ? "..." : "", (int)FACTS_WINDOW, theirs + from);
  const hx_status_t status = hx_report_fail(report, differs, "%s", text.failed ? said : text.data);
  hx_text_deinit(&text);
  hx_free(all);
  hx_free(sizes);
  return status;
}

hx_status_t hx_group_compare(hx_group_t *group, const void *facts, size_t bytes, hx_code_t differs, const char *what,
                             hx_report_t *report) {
  hx_error error = hx_error_make();
  const int32_t result = group->plugin->table.collectives->agree(group->handle, facts, bytes, &error);
  group->volume.calls += 1;
  if (result != HX_INVALID) return hx_group_status(group, result, &error, differs, what, report);
  char said[sizeof error.message + 1] = {0};
  memcpy(said, error.message, sizeof error.message);
  char shown[FACTS_SHOWN];
  copy_printable(said, strlen(said), shown);
  return tell_facts(group, facts, bytes, differs, what, shown, report);
}

hx_status_t hx_group_open(const hx_backend_t *backend, const char *name, uint32_t timeout_ms, hx_group_t **out,
                          hx_report_t *report) {
  if (backend == NULL || name == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_group_open: an argument is NULL");
  hx_loaded_plugin_t *plugin = NULL;
  HX_TRY(find_plugin(backend, &plugin, report));
  hx_group_t *group = hx_zalloc(1, sizeof *group);
  if (group == NULL) return no_memory(report);
  group->backend = hx_backend_retain(backend);
  group->plugin = plugin;
  atomic_flag_clear(&group->busy);
  hx_error error = hx_error_make();
  const hx_collective_ops *ops = plugin->table.collectives;
  int32_t result = ops->open(name, timeout_ms == 0 ? TIMEOUT_DEFAULT_MS : timeout_ms, &group->handle, &error);
  if (result == HX_OK) result = ops->rank(group->handle, &group->rank, &group->size, &error);
  hx_status_t status = hx_group_status(group, result, &error, HX_CODE_PLUGIN_CALL, "open a group", report);
  if (status == HX_STATUS_OK) {
    digest_plugins(group);
    status = hx_group_compare(group, group->facts, strlen(group->facts), HX_CODE_RANK_DIGEST,
                              "compare the plugins of all ranks", report);
  }
  if (status != HX_STATUS_OK) {
    hx_group_release(group);
    return status;
  }
  *out = group;
  return HX_STATUS_OK;
}

void hx_group_release(hx_group_t *group) {
  if (group == NULL) return;
  if (group->handle != NULL) group->plugin->table.collectives->close(group->handle);
  hx_backend_release(group->backend);
  hx_free(group);
}

uint32_t hx_group_rank(const hx_group_t *group) { return group->rank; }

uint32_t hx_group_size(const hx_group_t *group) { return group->size; }

void hx_group_volume(const hx_group_t *group, hx_group_volume_t *out) { *out = group->volume; }

hx_status_t hx_group_agree(hx_group_t *group, const void *facts, size_t bytes, hx_report_t *report) {
  if (group == NULL || (facts == NULL && bytes > 0))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_group_agree: an argument is NULL");
  HX_TRY(hx_group_enter(group, report));
  const hx_status_t status =
      hx_group_compare(group, facts, bytes, HX_CODE_RANK_MISMATCH, "compare what all ranks do", report);
  hx_group_leave(group);
  return status;
}

// ------------------------------------------------------------------ how the others fare

#define JOIN_BYTES 256u  // of one rank: its code, then its first fault

typedef struct joined {
  int32_t code;  // hx_code_t, or -1: well
  char text[JOIN_BYTES - sizeof(int32_t)];
} joined_t;

static hx_status_t gather_joined(hx_group_t *group, const joined_t *mine, joined_t *all, hx_report_t *report) {
  uint64_t *sizes = hx_alloc(group->size * sizeof *sizes);
  if (sizes == NULL) return no_memory(report);
  for (uint32_t r = 0; r < group->size; ++r) sizes[r] = sizeof *mine;
  hx_error error = hx_error_make();
  const int32_t result = group->plugin->table.collectives->all_gather(group->handle, mine, all, sizes, &error);
  hx_free(sizes);
  return hx_group_status(group, result, &error, HX_CODE_RANK_MISMATCH, "ask the other ranks", report);
}

hx_status_t hx_group_join(hx_group_t *group, hx_status_t status, hx_report_t *report) {
  if (group == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_group_join: the group is NULL");
  HX_TRY(hx_group_enter(group, report));
  joined_t mine = {.code = -1};
  const hx_fault_t *fault = hx_report_get(report, 0);
  if (status != HX_STATUS_OK) {
    mine.code = fault == NULL ? (int32_t)HX_CODE_INTERNAL : (int32_t)fault->code;
    const bool has_source = fault != NULL && fault->source[0] != '\0';
    snprintf(mine.text, sizeof mine.text, "%s%s%s", has_source ? fault->source : "", has_source ? ": " : "",
             fault == NULL ? "no reason given" : fault->text);
  }
  joined_t *all = hx_zalloc(group->size, sizeof *all);
  hx_status_t told = all == NULL ? no_memory(report) : gather_joined(group, &mine, all, report);
  for (uint32_t r = 0; told == HX_STATUS_OK && status == HX_STATUS_OK && r < group->size; ++r) {
    if (all[r].code < 0) continue;
    all[r].text[sizeof all[r].text - 1] = '\0';
    const bool is_code = all[r].code < (int32_t)HX_CODE_COUNT;
    told = hx_report_fail(report, is_code ? (hx_code_t)all[r].code : HX_CODE_INTERNAL, "rank %u: %s", r, all[r].text);
  }
  hx_free(all);
  hx_group_leave(group);
  return status != HX_STATUS_OK ? status : told;
}

hx_status_t hx_backend_with_group(const hx_backend_t *backend, const char *name, hx_group_t *group, hx_backend_t **out,
                                  hx_report_t *report) {
  if (backend == NULL || name == NULL || group == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_backend_with_group: an argument is NULL");
  const hx_named_resource_t item = {.name = name, .kind = "process-group", .handle = group};
  return hx_backend_with_resources(backend, &item, 1, false, out, report);
}
