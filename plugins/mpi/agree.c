// SPDX-License-Identifier: Apache-2.0
#include "agree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"
#include "heliox/support/sha256.h"
#include "wait.h"

#define SLACK_MS 1000  // for a verdict to arrive

enum { TAG_HERE = 1, TAG_FACTS = 2, TAG_VERDICT = 5 };

typedef struct facts {
  uint64_t number;  // of the agreement: a rank that is one behind differs
  char digest[65];
} facts_t;

typedef struct verdict {
  int32_t code;
  char text[212];
} verdict_t;

static void list_rank(char *text, size_t room, uint32_t rank) {
  const size_t size = strlen(text);
  if (size + 24 < room) {
    snprintf(text + size, room - size, "%s%u", size == 0 ? "" : ", ", rank);
  } else if (size + 6 < room && text[size - 1] != '.') {
    snprintf(text + size, room - size, ", ...");
  }
}

// ------------------------------------------------------------------ rank 0

// One small message to every other rank that is not excluded.
static int32_t tell_all(hx_group *group, const void *bytes, int size, int tag, const bool *excluded, hx_error *error) {
  for (uint32_t r = 1; r < group->size; ++r) {
    group->requests[r] = NULL;
    if (excluded != NULL && excluded[r]) continue;
    const int result = group->shim->send(group->comm, bytes, size, (int)r, tag, &group->requests[r]);
    HXS_TRY(hx_mpi_fail(group, result, "compare what all ranks do", error));
    group->control += (uint64_t)size;
  }
  return hx_mpi_wait(group, group->requests + 1, group->size - 1, hx_mpi_now_ms() + group->timeout_ms,
                     "compare what all ranks do", NULL, error);
}

static void judge(const hx_group *group, const facts_t *all, const bool *late, verdict_t *out) {
  char missing[120] = "", differing[120] = "";
  for (uint32_t r = 1; r < group->size; ++r) {
    if (late[r]) {
      list_rank(missing, sizeof missing, r);
    } else if (all[r].number != all[0].number || strcmp(all[r].digest, all[0].digest) != 0) {
      list_rank(differing, sizeof differing, r);
    }
  }
  *out = (verdict_t){.code = HX_OK};
  if (missing[0] != '\0') {
    out->code = HX_UNAVAILABLE;
    snprintf(out->text, sizeof out->text, "rank %s did not come within %u ms", missing, group->timeout_ms);
  } else if (differing[0] != '\0') {
    out->code = HX_INVALID;
    snprintf(out->text, sizeof out->text, "rank %s differs from rank 0", differing);
  }
}

static int32_t gather_facts(hx_group *group, const facts_t *mine, facts_t *all, bool *late, hx_error *error) {
  bool is_late = false;
  all[0] = *mine;
  for (uint32_t r = 1; r < group->size; ++r) {
    const int result =
        group->shim->receive(group->comm, &all[r], (int)sizeof *all, (int)r, TAG_FACTS, &group->requests[r]);
    HXS_TRY(hx_mpi_fail(group, result, "compare what all ranks do", error));
  }
  HXS_TRY(hx_mpi_wait(group, group->requests + 1, group->size - 1, hx_mpi_now_ms() + group->timeout_ms,
                      "compare what all ranks do", &is_late, error));
  for (uint32_t r = 1; r < group->size; ++r) late[r] = is_late && group->requests[r] != NULL;
  return HX_OK;
}

// What is received into stays where ranks are late: they may still send.
static int32_t preside(hx_group *group, const facts_t *mine, verdict_t *out, hx_error *error) {
  const uint8_t here = 1;
  facts_t *all = calloc(group->size, sizeof *all);
  bool *late = calloc(group->size, sizeof *late);
  int32_t code = HX_OK;
  if (all == NULL || late == NULL) code = hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for %u ranks", group->size);
  if (code == HX_OK) code = tell_all(group, &here, 1, TAG_HERE, NULL, error);
  if (code == HX_OK) code = gather_facts(group, mine, all, late, error);
  if (code == HX_OK) {
    judge(group, all, late, out);
    code = tell_all(group, out, (int)sizeof *out, TAG_VERDICT, late, error);
  }
  if (code == HX_OUT_OF_MEMORY || (code == HX_OK && out->code != HX_UNAVAILABLE)) {
    free(all);
  } else {
    hx_mpi_keep(all);
  }
  free(late);
  return code;
}

// ------------------------------------------------------------------ other ranks

static int32_t receive_small(hx_group *group, void *bytes, int size, int tag, int64_t deadline, bool *out_late,
                             hx_error *error) {
  hx_mpi_request *request = NULL;
  const int result = group->shim->receive(group->comm, bytes, size, 0, tag, &request);
  HXS_TRY(hx_mpi_fail(group, result, "compare what all ranks do", error));
  return hx_mpi_wait(group, &request, 1, deadline, "compare what all ranks do", out_late, error);
}

// A group whose rank 0 is late is over: the memory that it may still write to stays.
static int32_t fail_late(hx_group *group, const char *what, hx_error *error) {
  (void)hxs_fail(error, HX_UNAVAILABLE, "rank 0 did not %s within %u ms", what, group->timeout_ms);
  return hx_mpi_break(group, error);
}

typedef struct mail {
  uint8_t here;
  facts_t facts;
  verdict_t verdict;
} mail_t;

static int32_t attend(hx_group *group, mail_t *mail, hx_error *error) {
  bool late = false;
  HXS_TRY(receive_small(group, &mail->here, 1, TAG_HERE, hx_mpi_now_ms() + group->timeout_ms, &late, error));
  if (late) return fail_late(group, "come", error);
  const int result =
      group->shim->send(group->comm, &mail->facts, (int)sizeof mail->facts, 0, TAG_FACTS, &group->requests[0]);
  HXS_TRY(hx_mpi_fail(group, result, "compare what all ranks do", error));
  group->control += sizeof mail->facts;
  const int64_t deadline = hx_mpi_now_ms() + group->timeout_ms + SLACK_MS;
  HXS_TRY(hx_mpi_wait(group, group->requests, 1, deadline, "compare what all ranks do", NULL, error));
  HXS_TRY(receive_small(group, &mail->verdict, (int)sizeof mail->verdict, TAG_VERDICT, deadline, &late, error));
  return late ? fail_late(group, "answer", error) : HX_OK;
}

int32_t hx_mpi_agree(hx_group *group, const void *facts, uint64_t bytes, hx_error *error) {
  HXS_TRY(hx_mpi_whole(group, error));
  group->calls += 1;
  if (group->size == 1) return HX_OK;
  mail_t *mail = calloc(1, sizeof *mail);
  if (mail == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to compare what all ranks do");
  mail->facts.number = group->agreements++;
  hxs_sha256_text(facts, (size_t)bytes, mail->facts.digest);
  int32_t code = group->rank == 0 ? preside(group, &mail->facts, &mail->verdict, error) : attend(group, mail, error);
  if (code == HX_OK && mail->verdict.code != HX_OK) {
    mail->verdict.text[sizeof mail->verdict.text - 1] = '\0';
    code = hxs_fail(error, mail->verdict.code, "%s", mail->verdict.text);
    if (code == HX_UNAVAILABLE) (void)hx_mpi_break(group, error);
  }
  if (group->is_broken) {
    hx_mpi_keep(mail);  // something may still arrive in it
  } else {
    free(mail);
  }
  return code;
}
