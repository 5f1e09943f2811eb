// SPDX-License-Identifier: Apache-2.0
#include "wait.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heliox/support/error.h"
#include "heliox/support/host.h"

#define EAGER_MS 20     // of asking without a pause: small messages, and large ones that are under way
#define ROUNDS 64u      // of asking between two pauses after that
#define PAUSE_NS 50000  // so that ranks that compute on the same processor get on
#define LONG_MS 1000    // after which somebody computes for long
#define LONG_PAUSE_NS 500000
#define DRAIN_MS 500  // for what a rank has sent before it went to arrive

int64_t hx_mpi_now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int32_t hx_mpi_whole(const hx_group *group, hx_error *error) {
  return group->is_broken ? hxs_fail(error, group->broken_code, "%s", group->broken_text) : HX_OK;
}

int32_t hx_mpi_break(hx_group *group, hx_error *error) {
  if (group->is_broken) return group->broken_code;
  group->is_broken = true;
  group->broken_code = hxs_error_code(error) == HX_OK ? HX_INTERNAL : hxs_error_code(error);
  memset(group->broken_text, 0, sizeof group->broken_text);
  if (error != NULL && error->struct_size >= HX_END_OF(hx_error, message))
    memcpy(group->broken_text, error->message, sizeof group->broken_text - 1);
  return group->broken_code;
}

typedef struct kept {
  struct kept *next;
  void *memory;
} kept_t;

void hx_mpi_keep(void *memory) {
  static kept_t *all;  // reached from here, so that nobody takes it for forgotten
  kept_t *kept = memory == NULL ? NULL : malloc(sizeof *kept);
  if (kept == NULL) return;
  *kept = (kept_t){.next = all, .memory = memory};
  all = kept;
}

int32_t hx_mpi_fail(hx_group *group, int result, const char *what, hx_error *error) {
  char text[256];
  if (result == 0) return HX_OK;
  group->shim->text(result, text);
  (void)hxs_fail(error, HX_INTERNAL, "%s: MPI says: %.150s", what, text);
  return hx_mpi_break(group, error);
}

// Asks for each once. False: MPI failed.
static bool ask(const hx_group *group, hx_mpi_request **requests, uint32_t count, uint32_t *out_open, int *out_result) {
  *out_open = 0;
  for (uint32_t i = 0; i < count; ++i) {
    int done = 0;
    if (requests[i] == NULL) continue;
    *out_result = group->shim->test(requests[i], &done);
    if (*out_result != 0) return false;
    if (done) requests[i] = NULL;
    if (!done) *out_open += 1;
  }
  return true;
}

static bool somebody_is_gone(const hx_group *group) {
  return hx_lifeline_lost(group->line) != HX_NONE || hx_lifeline_left(group->line) != HX_NONE;
}

static int32_t look_around(hx_group *group, const char *what, hx_error *error) {
  const uint32_t lost = hx_lifeline_lost(group->line), left = hx_lifeline_left(group->line);
  if (lost != HX_NONE) {
    (void)hxs_fail(error, HX_UNAVAILABLE, "rank %u has ended while others wait for it: %s", lost, what);
  } else if (left != HX_NONE) {
    (void)hxs_fail(error, HX_UNAVAILABLE, "rank %u has left the group while others wait for it: %s", left, what);
  } else if (hxs_host_cancelled()) {
    (void)hxs_fail(error, HX_CANCELLED, "stopped while waiting for other ranks: %s", what);
  } else {
    return HX_OK;
  }
  return hx_mpi_break(group, error);
}

int32_t hx_mpi_wait(hx_group *group, hx_mpi_request **requests, uint32_t count, int64_t deadline, const char *what,
                    bool *is_late, hx_error *error) {
  const int64_t start = hx_mpi_now_ms();
  int64_t gone = 0;  // since when somebody is
  if (is_late != NULL) *is_late = false;
  for (uint64_t round = 0;; ++round) {
    uint32_t open = 0;
    int result = 0;
    if (!ask(group, requests, count, &open, &result)) return hx_mpi_fail(group, result, what, error);
    if (open == 0) return HX_OK;
    if (round % ROUNDS != ROUNDS - 1) {
      sched_yield();
      continue;
    }
    const int64_t now = hx_mpi_now_ms();
    if (gone == 0 && somebody_is_gone(group)) gone = now;
    if (gone == 0 || now - gone >= DRAIN_MS || hxs_host_cancelled()) {
      const int32_t code = look_around(group, what, error);
      if (code != HX_OK) return code;
    }
    if (now >= deadline && is_late != NULL) {
      *is_late = true;
      return HX_OK;
    }
    if (now >= deadline) {
      (void)hxs_fail(error, HX_UNAVAILABLE, "%u of %u transfers did not end in time: %s", open, count, what);
      return hx_mpi_break(group, error);
    }
    const struct timespec pause = {.tv_nsec = now - start > LONG_MS ? LONG_PAUSE_NS : PAUSE_NS};
    if (now - start > EAGER_MS) (void)nanosleep(&pause, NULL);
  }
}
