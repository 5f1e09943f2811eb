// SPDX-License-Identifier: Apache-2.0
// The collective role, in the process of the suite: a group of one, or whatever ranks the plugin simulates. What real
// ranks do together is for whoever starts several; here the calls keep their promises, and refuse what they have to.
#include <stdlib.h>
#include <string.h>

#include "sdk/conformance/suite.h"

enum { BYTES = 5000, ROUNDS = 100, TIMEOUT_MS = 2000 };

typedef struct meeting {
  suite_t *suite;
  const hx_collective_ops *ops;
  hx_group *group;
  uint32_t rank, size;
  uint8_t payload[BYTES], copy[BYTES], incoming[BYTES];
  uint8_t *all;  // [size][BYTES]
} meeting_t;

static bool open_group(meeting_t *m, const char *name) {
  hx_error error = error_init();
  const int32_t code = m->ops->open(name, TIMEOUT_MS, &m->group, &error);
  if (!case_expect(m->suite, code == HX_OK, "open %s: %s: %s", name, result_word(code), error.message)) return false;
  const int32_t placed = m->ops->rank(m->group, &m->rank, &m->size, &error);
  return case_expect(m->suite, placed == HX_OK && m->size > 0 && m->rank < m->size, "it is rank %u of %u", m->rank,
                     m->size);
}

static void expect(meeting_t *m, int32_t found, int32_t wanted, const hx_error *error, const char *what) {
  case_expect(m->suite, found == wanted, "%s: %s and not %s: %s", what, result_word(found), result_word(wanted),
              error->message);
}

static void check_bytes(meeting_t *m) {
  hx_error error = error_init();
  expect(m, m->ops->agree(m->group, m->payload, BYTES, &error), HX_OK, &error, "agree");
  expect(m, m->ops->agree(m->group, NULL, 0, &error), HX_OK, &error, "agree on nothing");
  for (uint32_t root = 0; root < m->size; ++root) {
    expect(m, m->ops->broadcast(m->group, root, m->payload, BYTES, &error), HX_OK, &error, "broadcast");
    case_expect(m->suite, root != m->rank || memcmp(m->payload, m->copy, BYTES) == 0,
                "broadcast changed the bytes of its root");
    memcpy(m->payload, m->copy, BYTES);
  }
  expect(m, m->ops->broadcast(m->group, m->size, m->payload, BYTES, &error), HX_INVALID, &error,
         "broadcast from a rank that is not there");
  uint64_t *sizes = suite_alloc(m->size * sizeof *sizes);
  for (uint32_t r = 0; r < m->size; ++r) sizes[r] = BYTES - r % BYTES;
  expect(m, m->ops->all_gather(m->group, m->payload, m->all, sizes, &error), HX_OK, &error, "all_gather");
  uint64_t own = 0;
  for (uint32_t r = 0; r < m->rank; ++r) own += sizes[r];
  case_expect(m->suite, memcmp(m->all + own, m->payload, (size_t)sizes[m->rank]) == 0,
              "all_gather does not have this rank's bytes in their place");
  free(sizes);
  expect(m, m->ops->send(m->group, m->rank, m->payload, BYTES, &error) == HX_OK ? HX_OK : HX_INVALID, HX_INVALID,
         &error, "send to itself");
}

// What the combine region is given, one rank's value after the other.
typedef struct counted {
  meeting_t *meeting;
  uint32_t calls;
  int32_t result;  // of the region
  bool own_came;
} counted_t;

static int32_t count_call(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  counted_t *counted = (counted_t *)(void *)prepared;
  meeting_t *m = counted->meeting;
  (void)call, (void)error;
  if (counted->calls++ == m->rank) counted->own_came = memcmp(m->incoming, m->copy, BYTES) == 0;
  memset(m->incoming, 0xee, BYTES);  // it may be overwritten, and so may this
  return counted->result;
}

static void check_reduction(meeting_t *m) {
  hx_error error = error_init();
  counted_t counted = {.meeting = m};
  hx_callable combine = {.execute = count_call, .prepared = (hx_prepared *)(void *)&counted};
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs), .queue = m->suite->queue};
  hx_reduction reduction = {.struct_size = HX_END_OF(hx_reduction, bytes),
                            .combine = &combine,
                            .call = &call,
                            .mine = m->payload,
                            .incoming = m->incoming,
                            .bytes = BYTES};
  expect(m, m->ops->all_reduce(m->group, &reduction, &error), HX_OK, &error, "all_reduce");
  case_expect(m->suite, counted.calls == m->size, "the region ran %u times for %u ranks", counted.calls, m->size);
  case_expect(m->suite, counted.own_came, "this rank's value did not come in its turn");
  case_expect(m->suite, memcmp(m->payload, m->copy, BYTES) == 0, "all_reduce changed what it was given");
  reduction.struct_size = HX_END_OF(hx_reduction, combine);
  expect(m, m->ops->all_reduce(m->group, &reduction, &error), HX_ARGS_SIZE, &error, "a shorter hx_reduction");
  reduction.struct_size = HX_END_OF(hx_reduction, bytes);
  counted = (counted_t){.meeting = m, .result = HX_CANCELLED};
  expect(m, m->ops->all_reduce(m->group, &reduction, &error), HX_CANCELLED, &error, "a region that fails");
}

static void check_names(meeting_t *m) {
  static const char *const names[] = {"", "moon", "World",
                                      "a name that is longer than any that a group may ever have had"};
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    hx_group *group = NULL;
    hx_error error = error_init();
    expect(m, m->ops->open(names[i], TIMEOUT_MS, &group, &error), HX_INVALID, &error,
           "a group without a name that is known");
    case_expect(m->suite, group == NULL, "a refused group was given");
  }
}

bool run_groups(suite_t *suite) {
  meeting_t m = {.suite = suite, .ops = suite->table->collectives};
  if (m.ops == NULL) return false;
  for (size_t i = 0; i < BYTES; ++i) m.payload[i] = (uint8_t)suite_random(suite);
  memcpy(m.copy, m.payload, BYTES);
  case_begin(suite, "groups", "agreement and payloads");
  if (open_group(&m, "world")) {
    m.all = suite_alloc((size_t)m.size * BYTES);
    check_bytes(&m);
    check_reduction(&m);
    free(m.all);
    m.ops->close(m.group);
  }
  case_end(suite);
  case_begin(suite, "groups", "names, %d rounds", ROUNDS);
  check_names(&m);
  for (int round = 0; round < ROUNDS && !case_failed(suite); ++round) {
    if (open_group(&m, "world")) m.ops->close(m.group);
  }
  case_end(suite);
  suite->results->group_cases += 2;
  return true;
}
