// SPDX-License-Identifier: Apache-2.0
// One rank of a group on a real MPI, for tests/e2e/test_mpi.c: mpirun starts as many as the test wants. What it finds
// goes to stdout in lines "rank R: ...", faults to stderr; exit status 0 where all was as it has to be.
//
//   calls              every collective, by calls and as programs, against what one process computes
//   die PHASE RANK     that rank kills itself in that phase; the others have to say so
//   differ WHAT RANK   that rank brings another call, state, parameters or program
//   late RANK MS       that rank comes later than the group's time
//   start MS RANK      that rank ends before MPI begins; the others give up after so long
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/link/executable.h"
#include "core/link/group.h"
#include "heliox/heliox.h"

#define RING                                                                                         \
  "{\"log_n\":10,\"word\":64,\"base\":[\"36028797018820609\"],\"groups\":[[\"1099511592961\"],"      \
  "[\"1099511590913\"],[\"1099511560193\"],[\"1099511556097\"]],\"special\":[\"72057594037897217\"," \
  "\"72057594037774337\"],\"digits\":3,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"%s\"}"
#define SLOTS 512
#define CT0                                                                                                         \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4], basis = Q, " \
  "domain = ntt, repr = standard, slots = 512>"
#define GROUP "!resource.handle<kind = \"process-group\">"
#define MODULE(body_)                                                                                   \
  "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%%x: " CT0                                       \
  "):\n%%g = \"resource.ref\"() {symbol = @world, kind = \"process-group\"} : () -> " GROUP "\n" body_  \
  "\"func.return\"(%%r) : (" CT0 ") -> ()\n}) {sym_name = \"main\", function_type = (" CT0 ") -> (" CT0 \
  ")} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n"

typedef struct rank {
  hx_report_t *report;
  hx_plugins_t *plugins;
  hx_params_t *params;
  hx_keys_t *keys;
  hx_backend_t *alone, *backend;  // without and with the group
  hx_group_t *group;
  uint32_t rank, size, timeout_ms;
} rank_t;

static int show(const rank_t *rank, const char *where) {
  for (size_t i = 0; i < hx_report_count(rank->report); ++i) {
    const hx_fault_t *fault = hx_report_get(rank->report, i);
    fprintf(stderr, "rank %u: %s: %s: %s\n", rank->rank, where, hx_code_info(fault->code)->word, fault->text);
  }
  return 1;
}

// Ends this rank with its faults.
static void must(const rank_t *rank, hx_status_t status, const char *where) {
  if (status == HX_STATUS_OK) return;
  (void)show(rank, where);
  exit(1);
}

static void claim(const rank_t *rank, bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "rank %u: %s does not hold\n", rank->rank, what);
  exit(1);
}

static void open_rank(rank_t *rank, const char *scale) {
  char ring[1024];
  rank->report = hx_report_create();
  snprintf(ring, sizeof ring, RING, scale);
  must(rank, hx_params_parse(hx_str(ring), "test", HX_PARAMS_INSECURE, &rank->params, rank->report), "parameters");
  const char *path = getenv("RANKS_PLUGINS");
  const hx_plugins_options_t options = {.path = path == NULL ? HELIOX_BUILD_DIR "/lib/heliox/plugins" : path,
                                        .only_path = true};
  must(rank, hx_plugins_discover(&options, &rank->plugins, rank->report), "discover");
  must(rank, hx_backend_create(rank->plugins, "cpu,mpi", &rank->alone, rank->report), "backend");
}

static void join_world(rank_t *rank) {
  must(rank, hx_group_open(rank->alone, "world", rank->timeout_ms, &rank->group, rank->report), "open");
  rank->rank = hx_group_rank(rank->group);
  rank->size = hx_group_size(rank->group);
  must(rank, hx_backend_with_group(rank->alone, "world", rank->group, &rank->backend, rank->report), "backend");
}

static void close_rank(rank_t *rank) {
  hx_backend_release(rank->backend);
  hx_group_release(rank->group);
  hx_backend_release(rank->alone);
  hx_plugins_release(rank->plugins);
  hx_params_release(rank->params);
  hx_report_release(rank->report);
}

// A value that every rank can make: residues by a formula of rank, row and place.
static hx_value_t *value_of(const rank_t *rank, uint32_t of) {
  hx_type_t type;
  hx_value_t *value = NULL;
  must(rank, hx_type_parse(hx_str(CT0), hx_params_ring(rank->params), &type, rank->report), "type");
  must(rank, hx_value_create(rank->params, &type, false, &value), "value");
  for (uint32_t c = 0; c < 2; ++c) {
    for (uint32_t l = 0; l < 5; ++l) {
      uint64_t *row = hx_tensor_row(value->tensor, 0, 0, c, l);
      const uint64_t q = hx_params_ring(rank->params)->primes[l];
      for (uint64_t i = 0; i < 1024; ++i)
        row[i] = ((i + 1) * UINT64_C(0x9e3779b97f4a7c15) + of * UINT64_C(0xbf58476d1ce4e5b9) + c + 7 * l) % q;
    }
  }
  value->count = SLOTS;
  hx_tensor_touch(value->tensor);
  return value;
}

// The sum of all ranks' values, by hand.
static hx_value_t *sum_of(const rank_t *rank) {
  hx_value_t *sum = value_of(rank, 0);
  for (uint32_t r = 1; r < rank->size; ++r) {
    hx_value_t *next = value_of(rank, r);
    for (uint32_t c = 0; c < 2; ++c) {
      for (uint32_t l = 0; l < 5; ++l) {
        uint64_t *to = hx_tensor_row(sum->tensor, 0, 0, c, l);
        const uint64_t *from = hx_tensor_row(next->tensor, 0, 0, c, l);
        const uint64_t q = hx_params_ring(rank->params)->primes[l];
        for (size_t i = 0; i < 1024; ++i) to[i] = (to[i] + from[i]) % q;
      }
    }
    hx_value_release(next);
  }
  return sum;
}

// ------------------------------------------------------------------ programs

static hx_executable_t *link_text(const rank_t *rank, const char *text) {
  hx_program_t *program = NULL;
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  must(rank, hx_program_parse(hx_str(text), "rank.mlir", &program, rank->report), "parse");
  must(rank, hx_compilation_create(program, rank->params, &compilation, rank->report), "compile");
  must(rank, hx_link(compilation, rank->backend, NULL, &executable, rank->report), "link");
  hx_compilation_release(compilation);
  hx_program_release(program);
  return executable;
}

// A program of this rank on its value: exactly `expected` comes out, twice.
static void expect_program(const rank_t *rank, const char *what, const char *text, const hx_value_t *expected) {
  hx_value_t *mine = value_of(rank, rank->rank);
  hx_executable_t *executable = link_text(rank, text);
  for (int round = 0; round < 2; ++round) {
    hx_value_t *found = NULL;
    must(rank, hx_run(executable, (const hx_value_t *const *)&mine, &found, rank->report), what);
    claim(rank, hx_value_equal(found, expected), what);
    hx_value_release(found);
  }
  hx_executable_release(executable);
  hx_value_release(mine);
}

#define SUM "%%r = \"distributed.all_reduce_add_ciphertext\"(%%g, %%x) : (" GROUP ", " CT0 ") -> " CT0 "\n"

static void run_programs(const rank_t *rank) {
  char text[8192], owners[64] = "";
  hx_value_t *sum = sum_of(rank), *last = value_of(rank, rank->size - 1), *mine = value_of(rank, rank->rank);
  snprintf(text, sizeof text, MODULE(SUM));
  expect_program(rank, "all_reduce_add_ciphertext", text, sum);
  snprintf(text, sizeof text,
           MODULE("%%r = \"distributed.broadcast\"(%%g, %%x) {root = %u : i64} : (" GROUP ", " CT0 ") -> " CT0 "\n"),
           rank->size - 1);
  expect_program(rank, "broadcast", text, last);
  // To the owners and back: rank r has the rows r, r + size, ...; what comes back is the root's value.
  for (uint32_t l = 0; l < 5; ++l) snprintf(owners + strlen(owners), 8, "%s%u", l == 0 ? "" : ", ", l % rank->size);
  char rows[256], own[64] = "";
  for (uint32_t l = rank->rank; l < 5; l += rank->size)
    snprintf(own + strlen(own), 8, "%s%u", own[0] == '\0' ? "" : ", ", l);
  snprintf(rows, sizeof rows,
           "!rns.tensor<dtype = u64, batch = [], components = 2, primes = [%s], basis = Q, domain = ntt, repr = "
           "standard>",
           own);
  snprintf(
      text, sizeof text,
      MODULE("%%s = \"distributed.scatter_limbs\"(%%g, %%x) {root = %u : i64, ids = [0, 1, 2, 3, 4], owners = [%s], "
             "rank = %u : i64} : (" GROUP ", " CT0 ") -> %s\n"
             "%%r = \"distributed.gather_limbs\"(%%g, %%s) {ids = [0, 1, 2, 3, 4], owners = [%s], rank = %u : i64} "
             ": (" GROUP ", %s) -> " CT0 "\n"),
      rank->size - 1, owners, rank->rank, rows, owners, rank->rank, rows);
  expect_program(rank, "scatter_limbs and gather_limbs", text, last);
  hx_value_release(mine);
  hx_value_release(last);
  hx_value_release(sum);
}

// ------------------------------------------------------------------ modes

// Groups of some ranks: those of this machine, and the odd or even ones in descending order.
static void run_subsets(const rank_t *rank) {
  char name[64] = "ranks:";
  uint32_t members = 0, own = 0;
  for (uint32_t r = rank->size; r-- > 0;) {
    if (r % 2 != rank->rank % 2) continue;
    if (r == rank->rank) own = members;
    const size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, "%s%u", members++ == 0 ? "" : ",", r);
  }
  hx_group_t *some = NULL, *node = NULL, *none = NULL;
  must(rank, hx_group_open(rank->alone, name, rank->timeout_ms, &some, rank->report), name);
  claim(rank, hx_group_size(some) == members && hx_group_rank(some) == own, "the place in a group of some ranks");
  hx_value_t *mine = value_of(rank, rank->rank), *found = NULL;
  const uint32_t first = rank->size - 1 - (rank->size - 1 - rank->rank) % 2;  // the highest of this parity
  hx_value_t *expected = value_of(rank, first);
  must(rank, hx_group_broadcast(some, 0, mine, &found, rank->report), "broadcast among some");
  claim(rank, hx_value_equal(found, expected), "the value of the first of some ranks");
  must(rank, hx_group_open(rank->alone, "node", rank->timeout_ms, &node, rank->report), "node");
  claim(rank, hx_group_size(node) >= 1 && hx_group_size(node) <= rank->size, "the size of a machine's group");
  static const char *const bad[] = {"moon", "ranks:", "ranks:0,0", "ranks:0,", "ranks:x", "ranks:99999"};
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) {
    claim(rank, hx_group_open(rank->alone, bad[i], rank->timeout_ms, &none, rank->report) != HX_STATUS_OK, bad[i]);
    hx_report_clear(rank->report);
  }
  hx_value_release(expected);
  hx_value_release(found);
  hx_value_release(mine);
  hx_group_release(node);
  hx_group_release(some);
}

static int run_calls(rank_t *rank) {
  join_world(rank);
  hx_value_t *mine = value_of(rank, rank->rank), *sum = sum_of(rank), *found = NULL;
  must(rank, hx_group_all_reduce_add(rank->group, mine, &found, rank->report), "all_reduce_add");
  claim(rank, hx_value_equal(found, sum), "the sum of all ranks");
  hx_value_release(found);
  hx_value_t **all = calloc(rank->size, sizeof(hx_value_t *));
  must(rank, hx_group_all_gather(rank->group, mine, all, rank->report), "all_gather");
  for (uint32_t r = 0; r < rank->size; ++r) {
    hx_value_t *theirs = value_of(rank, r);
    claim(rank, hx_value_equal(all[r], theirs), "a gathered value");
    hx_value_release(theirs);
    hx_value_release(all[r]);
  }
  free((void *)all);
  for (uint32_t root = 0; root < rank->size; ++root) {
    hx_value_t *theirs = value_of(rank, root);
    must(rank, hx_group_broadcast(rank->group, root, mine, &found, rank->report), "broadcast");
    claim(rank, hx_value_equal(found, theirs), "a broadcast value");
    hx_value_release(found);
    hx_value_release(theirs);
  }
  run_programs(rank);
  run_subsets(rank);
  must(rank, hx_group_join(rank->group, HX_STATUS_OK, rank->report), "join");
  hx_group_volume_t volume;
  hx_group_volume(rank->group, &volume);
  printf("rank %u: of %u, sent %llu received %llu\n", rank->rank, rank->size, (unsigned long long)volume.sent,
         (unsigned long long)volume.received);
  hx_value_release(sum);
  hx_value_release(mine);
  close_rank(rank);
  return 0;
}

// Phases: "before" the group, "agree" (the others wait in an agreement), "payload" (in the middle of a reduction),
// "compute" (between collectives), "end" (before the last).
static void die_in(const rank_t *rank, const char *phase, const char *now, uint32_t who) {
  if (strcmp(phase, now) != 0 || rank->rank != who) return;
  fflush(NULL);
  raise(SIGKILL);
}

static int run_die(rank_t *rank, const char *phase, uint32_t who) {
  join_world(rank);
  hx_value_t *mine = value_of(rank, rank->rank), *found = NULL;
  must(rank, hx_group_agree(rank->group, "begin", 5, rank->report), "agree");
  die_in(rank, phase, "agree", who);
  must(rank, hx_group_all_reduce_add(rank->group, mine, &found, rank->report), "all_reduce_add");
  hx_value_release(found);
  die_in(rank, phase, "compute", who);
  usleep(100000);
  for (int round = 0; round < 200; ++round) {
    if (round == 100) die_in(rank, phase, "payload", who);
    must(rank, hx_group_broadcast(rank->group, (uint32_t)round % rank->size, mine, &found, rank->report), "broadcast");
    hx_value_release(found);
  }
  die_in(rank, phase, "end", who);
  must(rank, hx_group_join(rank->group, HX_STATUS_OK, rank->report), "join");
  printf("rank %u: done\n", rank->rank);
  close_rank(rank);
  return 0;
}

static int run_differ(rank_t *rank, const char *what, uint32_t who) {
  join_world(rank);
  const bool differs = rank->rank == who;
  hx_value_t *mine = value_of(rank, rank->rank), *found = NULL;
  if (strcmp(what, "call") == 0) {
    must(rank,
         differs ? hx_group_broadcast(rank->group, 0, mine, &found, rank->report)
                 : hx_group_all_reduce_add(rank->group, mine, &found, rank->report),
         "call");
  } else if (strcmp(what, "program") == 0) {
    char text[4096];
    if (differs) {
      snprintf(
          text, sizeof text,
          MODULE("%%r = \"distributed.broadcast\"(%%g, %%x) {root = 0 : i64} : (" GROUP ", " CT0 ") -> " CT0 "\n"));
    } else {
      snprintf(text, sizeof text, MODULE(SUM));
    }
    hx_executable_t *executable = link_text(rank, text);
    must(rank, hx_run(executable, (const hx_value_t *const *)&mine, &found, rank->report), "run");
  } else {  // state or parameters
    if (strcmp(what, "state") == 0 && differs) mine->count = 7;
    must(rank, hx_group_all_reduce_add(rank->group, mine, &found, rank->report), "call");
  }
  printf("rank %u: nothing was refused\n", rank->rank);
  return 0;
}

static int run_late(rank_t *rank, uint32_t who, unsigned long ms) {
  join_world(rank);
  if (rank->rank == who) usleep((useconds_t)(ms * 1000));
  must(rank, hx_group_agree(rank->group, "x", 1, rank->report), "agree");
  printf("rank %u: nobody was late\n", rank->rank);
  return 0;
}

int main(int count, char **arguments) {
  rank_t rank = {.timeout_ms = 20000};
  const char *mode = count > 1 ? arguments[1] : "";
  const uint32_t who = count > 3 ? (uint32_t)strtoul(arguments[3], NULL, 10) : 0;
  const char *env = getenv("OMPI_COMM_WORLD_RANK");
  const bool is_who = env != NULL && (uint32_t)strtoul(env, NULL, 10) == who;
  const bool other = strcmp(mode, "differ") == 0 && count > 3 && strcmp(arguments[2], "parameters") == 0 && is_who;
  open_rank(&rank, other ? "2^39" : "2^40");
  if (strcmp(mode, "start") == 0 && count == 4) {  // start MS RANK: that rank never begins
    rank.timeout_ms = (uint32_t)strtoul(arguments[2], NULL, 10);
    if (is_who) raise(SIGKILL);
    join_world(&rank);
    printf("rank %s: all have begun\n", env);
    return 0;
  }
  if (strcmp(mode, "calls") == 0) return run_calls(&rank);
  if (strcmp(mode, "die") == 0 && count == 4) return run_die(&rank, arguments[2], who);
  if (strcmp(mode, "differ") == 0 && count == 4) return run_differ(&rank, arguments[2], who);
  if (strcmp(mode, "late") == 0 && count == 4) {
    rank.timeout_ms = 1500;
    return run_late(&rank, (uint32_t)strtoul(arguments[2], NULL, 10), strtoul(arguments[3], NULL, 10));
  }
  fprintf(stderr, "ranks calls | die PHASE RANK | differ WHAT RANK | late RANK MS\n");
  return 2;
}
