// SPDX-License-Identifier: Apache-2.0
// Programs of all ranks of a group, compared before they run. Every rank gets the texts of all sequences and compares
// them itself, so that all come to the same end.
#include <string.h>

#include "core/link/group.h"
#include "core/passes/collectives.h"

#define TEXT_BYTES_MAX ((uint64_t)64 << 20)  // of one rank
#define FAULT "fault "                       // begins the text of a rank that has no sequence to compare

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to compare the programs of all ranks");
}

// This rank's text. What is wrong with its program is told to all.
static hx_status_t read_text(const hx_group_t *group, const hx_program_t *program, const char *symbol, hx_text_t *out) {
  hx_collectives_t *collectives = NULL;
  hx_report_t *said = hx_report_create();
  const hx_status_t status =
      hx_collectives_read(program, NULL, hx_str(symbol), group->rank, group->size, &collectives, said);
  const hx_fault_t *fault = hx_report_get(said, 0);
  if (status != HX_STATUS_OK) {
    hx_text_printf(out, FAULT "%s", fault == NULL ? hx_status_name(status) : fault->text);
  } else {
    hx_text_puts(out, hx_collectives_text(collectives));
  }
  hx_collectives_release(collectives);
  hx_report_release(said);
  return out->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

static hx_status_t gather(hx_group_t *group, const void *mine, void *all, const uint64_t *bytes, hx_report_t *report) {
  hx_error error = hx_error_make();
  const int32_t result = group->plugin->table.collectives->all_gather(group->handle, mine, all, bytes, &error);
  return hx_group_status(group, result, &error, HX_CODE_RANK_MISMATCH, "compare the programs of all ranks", report);
}

static hx_status_t compare_texts(const hx_group_t *group, char *const *texts, hx_report_t *report) {
  for (uint32_t r = 0; r < group->size; ++r) {
    if (strncmp(texts[r], FAULT, strlen(FAULT)) == 0)
      return hx_report_fail(report, HX_CODE_RANK_MISMATCH, "rank %u: %.400s", r, texts[r] + strlen(FAULT));
  }
  return hx_collectives_compare((const char *const *)texts, group->size, report);
}

// The texts of all ranks, one behind the other, each with its NUL. sizes: [size], with the NUL.
static hx_status_t exchange(hx_group_t *group, const char *mine, const uint64_t *sizes, hx_report_t *report) {
  uint64_t total = 0;
  for (uint32_t r = 0; r < group->size; ++r) {
    if (sizes[r] == 0 || sizes[r] > TEXT_BYTES_MAX)
      return hx_report_fail(report, HX_CODE_LIMIT, "rank %u: its sequence of collectives has %llu bytes, at most %llu",
                            r, (unsigned long long)sizes[r], (unsigned long long)TEXT_BYTES_MAX);
    total += sizes[r];  // 65,536 ranks of 2^26 bytes at most
  }
  char *all = hx_alloc((size_t)total), **texts = hx_zalloc(group->size, sizeof *texts);
  // A rank without memory may not stay away: it would be waited for. It fails by itself, and the others by the time.
  hx_status_t status = all == NULL || texts == NULL ? no_memory(report) : gather(group, mine, all, sizes, report);
  char *at = all;
  for (uint32_t r = 0; r < group->size && status == HX_STATUS_OK; ++r) {
    texts[r] = at;
    at += sizes[r];
    at[-1] = '\0';
  }
  if (status == HX_STATUS_OK) status = compare_texts(group, texts, report);
  hx_free(texts);
  hx_free(all);
  return status;
}

static hx_status_t compare(hx_group_t *group, const char *mine, hx_report_t *report) {
  const uint64_t own = strlen(mine) + 1;
  uint64_t *sizes = hx_alloc(group->size * sizeof *sizes), *widths = hx_alloc(group->size * sizeof *widths);
  hx_status_t status = sizes == NULL || widths == NULL ? no_memory(report) : HX_STATUS_OK;
  for (uint32_t r = 0; widths != NULL && r < group->size; ++r) widths[r] = sizeof own;
  if (status == HX_STATUS_OK) status = gather(group, &own, sizes, widths, report);
  if (status == HX_STATUS_OK) status = exchange(group, mine, sizes, report);
  hx_free(sizes);
  hx_free(widths);
  return status;
}

hx_status_t hx_group_compare_programs(hx_group_t *group, const hx_program_t *program, const char *symbol,
                                      hx_report_t *report) {
  if (group == NULL || program == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_group_compare_programs: an argument is NULL");
  hx_text_t text;
  hx_text_init(&text);
  HX_TRY(hx_group_enter(group, report));
  hx_status_t status = read_text(group, program, symbol == NULL ? "world" : symbol, &text);
  if (status != HX_STATUS_OK) (void)no_memory(report);
  if (status == HX_STATUS_OK) status = compare(group, text.data == NULL ? "" : text.data, report);
  hx_group_leave(group);
  hx_text_deinit(&text);
  return status;
}
