// SPDX-License-Identifier: Apache-2.0
// Programs run by ranks that are threads of this process (tests/fixtures/ranks), each with its own program.
#ifndef HELIOX_TESTS_RANKS_FIXTURE_H
#define HELIOX_TESTS_RANKS_FIXTURE_H

#include <pthread.h>

#include "heliox/group.h"
#include "heliox/shard.h"
#include "tests/unit/link_fixture.h"

#define RANKS HELIOX_BUILD_DIR "/tests/fixtures/ranks"
#define RANKS_MAX 16

// A bench whose backend is the cpu plugin and the ranks.
static inline bool ranks_open(bench_t *bench, const char *json) {
  if (!bench_open_cpu(bench, json)) return false;
  hx_backend_release(bench->backend);
  bench->backend = NULL;
  const hx_plugins_options_t options = {.path = HELIOX_BUILD_DIR "/lib/heliox/plugins:" RANKS, .only_path = true};
  hx_plugins_t *plugins = NULL;
  must(hx_plugins_discover(&options, &plugins, bench->report), bench->report);
  must(hx_backend_create(plugins, "cpu,ranks", &bench->backend, bench->report), bench->report);
  hx_plugins_release(plugins);
  return true;
}

typedef struct ranks_job {
  const bench_t *bench;
  hx_shard_spec_t spec;
  const char *lowering;  // passes behind, or NULL
  uint32_t odd_rank;     // it spreads by odd_kind, or as if it were the next rank
  const char *odd_kind;  // NULL: it does as the others
  bool is_shifted;
  const hx_value_t *inputs[2];
} ranks_job_t;

typedef struct ranks_rank {
  const ranks_job_t *job;
  hx_compilation_t *compilation;  // of this rank, keys and materials bound
  hx_report_t *report;
  hx_status_t status;
  hx_value_t *outputs[2];  // as many as the program has
  uint32_t rank;
  hx_group_volume_t volume;
  uint64_t sent, received;  // as predicted
  pthread_t thread;
} ranks_rank_t;

static inline hx_status_t ranks_predict(ranks_rank_t *rank, const hx_shard_spec_t *spec) {
  hx_collectives_t *collectives = NULL;
  HX_TRY(hx_collectives_create(hx_compilation_program(rank->compilation), rank->job->bench->params, NULL, spec->rank,
                               spec->size, &collectives, rank->report));
  for (size_t i = 0; i < hx_collectives_count(collectives); ++i) {
    rank->sent += hx_collectives_get(collectives, i)->times * hx_collectives_get(collectives, i)->sent;
    rank->received += hx_collectives_get(collectives, i)->times * hx_collectives_get(collectives, i)->received;
  }
  hx_collectives_release(collectives);
  return HX_STATUS_OK;
}

static inline hx_status_t ranks_run_in(ranks_rank_t *rank, hx_group_t *group, hx_backend_t **out_backend) {
  const bench_t *bench = rank->job->bench;
  hx_shard_spec_t spec = rank->job->spec;
  rank->rank = spec.rank = hx_group_rank(group);
  spec.size = hx_group_size(group);
  if (rank->rank == rank->job->odd_rank && rank->job->odd_kind != NULL) spec.kind = rank->job->odd_kind;
  if (rank->rank == rank->job->odd_rank && rank->job->is_shifted) spec.rank = (spec.rank + 1) % spec.size;
  HX_TRY(hx_compilation_shard(rank->compilation, &spec, NULL, rank->report));
  if (rank->job->lowering != NULL)
    HX_TRY(hx_compilation_transform(rank->compilation, rank->job->lowering, rank->report));
  HX_TRY(hx_group_compare_programs(group, hx_compilation_program(rank->compilation), NULL, rank->report));
  spec.rank = rank->rank;
  HX_TRY(ranks_predict(rank, &spec));
  HX_TRY(hx_backend_with_group(bench->backend, "world", group, out_backend, rank->report));
  hx_executable_t *executable = NULL;
  HX_TRY(hx_link(rank->compilation, *out_backend, NULL, &executable, rank->report));
  hx_group_volume_t before;
  hx_group_volume(group, &before);
  const hx_status_t status = hx_run(executable, rank->job->inputs, rank->outputs, rank->report);
  hx_group_volume(group, &rank->volume);
  rank->volume.sent -= before.sent;
  rank->volume.received -= before.received;
  hx_executable_release(executable);
  return status;
}

static inline void *ranks_thread(void *argument) {
  ranks_rank_t *rank = argument;
  hx_group_t *group = NULL;
  hx_backend_t *backend = NULL;
  rank->status = hx_group_open(rank->job->bench->backend, "world", 20000, &group, rank->report);
  if (rank->status == HX_STATUS_OK) rank->status = ranks_run_in(rank, group, &backend);
  hx_backend_release(backend);
  hx_group_release(group);
  return NULL;
}

// Runs one rank a compilation. The compilations are released; reports and outputs are the caller's to look at.
static inline void ranks_run(const ranks_job_t *job, hx_compilation_t *const *compilations, uint32_t size,
                             ranks_rank_t *ranks) {
  char text[16];
  snprintf(text, sizeof text, "%u", size);
  assert_int_equal(hx_plugin_option_set("ranks-size", text), HX_STATUS_OK);
  for (uint32_t r = 0; r < size; ++r) {
    ranks[r] = (ranks_rank_t){.job = job, .compilation = compilations[r], .report = hx_report_create()};
    assert_int_equal(pthread_create(&ranks[r].thread, NULL, ranks_thread, &ranks[r]), 0);
  }
  for (uint32_t r = 0; r < size; ++r) pthread_join(ranks[r].thread, NULL);
  assert_int_equal(hx_plugin_option_set("ranks-size", NULL), HX_STATUS_OK);
  for (uint32_t r = 0; r < size; ++r) hx_compilation_release(compilations[r]);
}

static inline void ranks_release(ranks_rank_t *ranks, uint32_t size) {
  for (uint32_t r = 0; r < size; ++r) {
    for (size_t i = 0; i < 2; ++i) hx_value_release(ranks[r].outputs[i]);
    hx_report_release(ranks[r].report);
  }
}

#endif
