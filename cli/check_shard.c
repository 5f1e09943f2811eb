// SPDX-License-Identifier: Apache-2.0
// check --shard: what a kind of sharding gives on so many ranks, before there is a second one.
#include "cli/check_shard.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_DEFAULT "2,4,8,64,1000"

static double mib(uint64_t bytes) { return (double)bytes / 1048576; }

static hx_status_t bad_ranks(cli_t *cli, const char *text) {
  return hx_report_fail(cli->report, HX_CODE_USAGE, "--ranks '%s' is no list of up to %d numbers from 1 to 65536", text,
                        CLI_SHARD_SIZES_MAX);
}

static hx_status_t read_ranks(cli_t *cli, const char *text, cli_shard_t *shard) {
  for (const char *at = text;; ++at) {
    char *end;
    const unsigned long size = strtoul(at, &end, 10);
    if (*at < '0' || *at > '9' || size == 0 || size > 65536 || shard->count == CLI_SHARD_SIZES_MAX)
      return bad_ranks(cli, text);
    shard->scalings[shard->count++].size = (uint32_t)size;
    if (*end == '\0') return HX_STATUS_OK;
    if (*end != ',') return bad_ranks(cli, text);
    at = end;
  }
}

// The collectives of rank 0 of the first number of ranks.
static hx_status_t list_collectives(cli_t *cli, const hx_program_t *program, const hx_params_t *params,
                                    hx_shard_spec_t spec, cli_shard_t *shard) {
  hx_compilation_t *compilation = NULL;
  spec.size = shard->scalings[0].size;
  hx_status_t status = hx_compilation_create(program, params, &compilation, cli->report);
  if (status == HX_STATUS_OK) status = hx_compilation_shard(compilation, &spec, NULL, cli->report);
  if (status == HX_STATUS_OK)
    status = hx_collectives_create(hx_compilation_program(compilation), params, NULL, 0, spec.size, &shard->collectives,
                                   cli->report);
  hx_compilation_release(compilation);
  return status;
}

hx_status_t cli_shard_predict(cli_t *cli, const hx_compilation_t *compilation, cli_shard_t *shard) {
  const char *kind = cli_get(cli, "shard"), *ranks = cli_get(cli, "ranks"), *network = cli_get(cli, "network");
  if (kind == NULL && ranks == NULL && network == NULL) return HX_STATUS_OK;
  if (kind == NULL)
    return hx_report_fail(cli->report, HX_CODE_USAGE, "--ranks and --network go with --shard limbs, terms or batch");
  if (network != NULL) {
    char *end;
    shard->gigabits = strtod(network, &end);
    if (*end != '\0' || !(shard->gigabits > 0) || shard->gigabits > 1e6)
      return hx_report_fail(cli->report, HX_CODE_USAGE, "--network '%s' is no number of Gbit/s above 0", network);
  }
  hx_status_t status = read_ranks(cli, ranks == NULL ? RANKS_DEFAULT : ranks, shard);
  const hx_shard_spec_t spec = {.kind = kind, .pipeline = cli_get(cli, "pipeline")};
  shard->kind = kind;
  for (size_t i = 0; i < shard->count && status == HX_STATUS_OK; ++i)
    status = hx_shard_predict(compilation, &spec, shard->scalings[i].size, &shard->scalings[i], cli->report);
  if (status == HX_STATUS_OK)
    status =
        list_collectives(cli, hx_compilation_program(compilation), hx_compilation_params(compilation), spec, shard);
  return status;
}

void cli_shard_release(cli_shard_t *shard) { hx_collectives_release(shard->collectives); }

// Seconds that the rank which takes the most bytes is given them for; 0: no network is told.
static double network_seconds(const cli_shard_t *shard, const hx_scaling_t *scaling) {
  return shard->gigabits > 0 ? (double)scaling->received * 8e-9 / shard->gigabits : 0;
}

// Seconds on so many ranks: the share of what was measured for one process, and the network. 0: not known.
static double predicted_seconds(const cli_shard_t *shard, const hx_scaling_t *scaling, double seconds) {
  return seconds > 0 && shard->gigabits > 0 ? seconds * scaling->share + network_seconds(shard, scaling) : 0;
}

static bool is_call(const hx_collective_t *step) {
  return step->role == HX_COLLECTIVE_ALL || step->role == HX_COLLECTIVE_SEND || step->role == HX_COLLECTIVE_RECEIVE;
}

void cli_shard_print(const cli_t *cli, const cli_shard_t *shard, double seconds) {
  if (shard->count == 0) return;
  printf(
      "sharding  by %s: of the busiest rank, work (of one process), bound of the speedup, calls, MiB taken and "
      "given, keys;\n          MiB that the network carries%s\n",
      shard->kind, shard->gigabits > 0 ? "; time on it" : "");
  for (size_t i = 0; i < shard->count; ++i) {
    const hx_scaling_t *s = &shard->scalings[i];
    printf("ranks     %5u  %6.3f  %7.2fx  %6llu calls  %10.3f  %10.3f  keys %8.1f MiB  network %10.3f", s->size,
           s->share, s->share > 0 ? 1 / s->share : 1, (unsigned long long)s->collectives, mib(s->received),
           mib(s->sent), mib(s->key_bytes), mib(s->total));
    if (shard->gigabits > 0) printf("  %.3f ms", 1e3 * network_seconds(shard, s));
    const double predicted = predicted_seconds(shard, s, seconds);
    if (predicted > 0) printf("; run %.3f ms, %.2fx", 1e3 * predicted, seconds / predicted);
    printf("\n");
  }
  for (size_t i = 0; i < hx_collectives_count(shard->collectives) && !cli->quiet; ++i) {
    const hx_collective_t *step = hx_collectives_get(shard->collectives, i);
    if (!is_call(step)) continue;
    printf("moves     %-40s %u:%-4u %llu times%s, payload %.3f MiB, rank 0 of %u gives %.3f, takes %.3f\n",
           step->operation, step->line, step->column, (unsigned long long)step->times,
           step->is_exact ? "" : " (or more: it depends on inputs)", mib(step->payload), shard->scalings[0].size,
           mib(step->sent), mib(step->received));
  }
}

json_t *cli_shard_json(const cli_shard_t *shard, double seconds) {
  json_t *ranks = json_array(), *moves = json_array();
  for (size_t i = 0; i < shard->count; ++i) {
    const hx_scaling_t *s = &shard->scalings[i];
    json_t *row =
        json_pack("{s:i, s:f, s:i, s:I, s:I, s:I, s:I, s:I}", "ranks", (int)s->size, "share", s->share, "busiest",
                  (int)s->busiest, "calls", (json_int_t)s->collectives, "received", (json_int_t)s->received, "sent",
                  (json_int_t)s->sent, "network", (json_int_t)s->total, "key_bytes", (json_int_t)s->key_bytes);
    const double predicted = predicted_seconds(shard, s, seconds);
    json_object_set_new(row, "network_seconds",
                        shard->gigabits > 0 ? json_real(network_seconds(shard, s)) : json_null());
    json_object_set_new(row, "seconds", predicted > 0 ? json_real(predicted) : json_null());
    json_array_append_new(ranks, row);
  }
  for (size_t i = 0; i < hx_collectives_count(shard->collectives); ++i) {
    const hx_collective_t *step = hx_collectives_get(shard->collectives, i);
    if (!is_call(step)) continue;
    json_array_append_new(
        moves,
        json_pack("{s:s, s:i, s:i, s:I, s:b, s:I, s:I, s:I}", "operation", step->operation, "line", (int)step->line,
                  "column", (int)step->column, "times", (json_int_t)step->times, "exact", step->is_exact, "payload",
                  (json_int_t)step->payload, "sent", (json_int_t)step->sent, "received", (json_int_t)step->received));
  }
  return json_pack("{s:s, s:o, s:o}", "kind", shard->kind, "scaling", ranks, "collectives", moves);
}
