// SPDX-License-Identifier: Apache-2.0
#include "start.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "heliox/support/error.h"

typedef enum { NOT_BEGUN, BEGINNING, BEGUN, ENDING, ENDED } phase_t;

// The thread waits for the end in the same place: MPI is to be ended by the thread that began it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static phase_t phase;
static int begin_result;

static void make_condition(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

static void enter(phase_t next) {
  phase = next;
  pthread_cond_broadcast(&changed);
}

static void *keep(void *argument) {
  const hx_mpi_shim *shim = argument;
  const int result = shim->begin();
  pthread_mutex_lock(&lock);
  begin_result = result;
  enter(BEGUN);
  while (phase != ENDING) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  shim->end();
  pthread_mutex_lock(&lock);
  enter(ENDED);
  pthread_mutex_unlock(&lock);
  return NULL;
}

// Under the lock. False: the time has passed first.
static bool wait_while(phase_t now, uint32_t timeout_ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec += 1;
    until.tv_nsec -= 1000000000;
  }
  while (phase == now) {
    if (pthread_cond_timedwait(&changed, &lock, &until) != 0) return phase != now;
  }
  return true;
}

int32_t hx_mpi_start(const hx_mpi_shim *shim, uint32_t timeout_ms, hx_error *error) {
  int32_t code = HX_OK;
  pthread_once(&once, make_condition);
  pthread_mutex_lock(&lock);
  if (phase == NOT_BEGUN) {
    pthread_t thread;
    const int result = pthread_create(&thread, NULL, keep, (void *)(uintptr_t)shim);
    if (result == 0) pthread_detach(thread);
    if (result == 0) phase = BEGINNING;
    if (result != 0) code = hxs_fail(error, HX_UNAVAILABLE, "no thread to begin MPI: %s", strerror(result));
  }
  if (code == HX_OK && !wait_while(BEGINNING, timeout_ms))
    code =
        hxs_fail(error, HX_UNAVAILABLE,
                 "MPI has not begun within %u ms: some rank was not started, or has ended before; mpirun knows which",
                 timeout_ms);
  if (code == HX_OK && phase != BEGUN)
    code = hxs_fail(error, HX_UNAVAILABLE, "MPI was ended before and cannot begin again");
  if (code == HX_OK && begin_result != 0) {
    char text[256];
    shim->text(begin_result, text);
    code = hxs_fail(error, HX_INTERNAL, "begin MPI: MPI says: %.150s", text);
  }
  pthread_mutex_unlock(&lock);
  return code;
}

void hx_mpi_stop(uint32_t timeout_ms) {
  pthread_once(&once, make_condition);
  pthread_mutex_lock(&lock);
  if (phase == BEGUN) {
    enter(ENDING);
    (void)wait_while(ENDING, timeout_ms);
  }
  pthread_mutex_unlock(&lock);
}
