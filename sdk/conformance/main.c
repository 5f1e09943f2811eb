// SPDX-License-Identifier: Apache-2.0
// heliox-conformance MANIFEST.json [--tier T] [--only OP] [--part I/N] [--junit F] [--json] [--log-n-max N]
//                    [--timeout S] [-v]
//
// Exit: 0 it conforms; 1 it does not; 2 usage; 3 a file cannot be read or written; 70 a fault of the suite.
#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/conformance/suite.h"

#define PARTS_MAX 64

typedef struct options {
  const char *manifest, *junit, *only;
  bool json, verbose, tiers[TIER_COUNT], all;
  uint32_t log_n_max, part, parts, timeout;
} options_t;

static int usage(const char *what, const char *value) {
  fprintf(stderr, "heliox-conformance: %s '%s'\n", what, value);
  fprintf(stderr,
          "usage: heliox-conformance MANIFEST.json [--tier primitives|fused|ckks|all] [--only OPERATION]\n"
          "                          [--part I/N] [--junit FILE] [--json] [--log-n-max N] [--timeout SECONDS] [-v]\n");
  return 2;
}

static bool parse_tier(options_t *options, const char *name) {
  if (strcmp(name, "all") == 0) return options->all = true;
  for (int t = 0; t < TIER_COUNT; ++t) {
    if (strcmp(name, tier_name((tier_t)t)) == 0) return options->tiers[t] = true;
  }
  return false;
}

static bool parse_number(const char *text, unsigned long low, unsigned long high, uint32_t *out) {
  char *end = NULL;
  errno = 0;
  const unsigned long value = strtoul(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < low || value > high) return false;
  *out = (uint32_t)value;
  return true;
}

// "2/8": part 2 of 8.
static bool parse_part(const char *text, options_t *options) {
  char first[16];
  const char *slash = strchr(text, '/');
  if (slash == NULL || (size_t)(slash - text) >= sizeof first) return false;
  snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
  return parse_number(slash + 1, 1, PARTS_MAX, &options->parts) &&
         parse_number(first, 1, options->parts, &options->part);
}

// 0, or the exit code.
static int parse(int argc, char **argv, options_t *options) {
  for (int i = 1; i < argc; ++i) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    bool takes_value = true, right = true;
    if (strcmp(name, "--tier") == 0) {
      right = parse_tier(options, value);
    } else if (strcmp(name, "--only") == 0) {
      right = *value != '\0';
      options->only = value;
    } else if (strcmp(name, "--junit") == 0) {
      right = *value != '\0';
      options->junit = value;
    } else if (strcmp(name, "--log-n-max") == 0) {
      right = parse_number(value, 3, 17, &options->log_n_max);
    } else if (strcmp(name, "--part") == 0) {
      right = parse_part(value, options);
    } else if (strcmp(name, "--timeout") == 0) {
      right = parse_number(value, 1, 86400, &options->timeout);
    } else {
      takes_value = false;
      if (strcmp(name, "--json") == 0)
        options->json = true;
      else if (strcmp(name, "-v") == 0)
        options->verbose = true;
      else if (name[0] == '-' || options->manifest != NULL)
        return usage("unknown argument", name);
      else
        options->manifest = name;
    }
    if (!right) return usage(name, value);
    i += takes_value ? 1 : 0;
  }
  return options->manifest != NULL ? 0 : usage("no manifest is named", "");
}

// ------------------------------------------------------------------ the child

// Everything about a plugin that has been opened; what is of no operation in the first part.
static void run_parts(suite_t *suite, uint32_t log_n_max) {
  if (suite->only != NULL || suite->part > 0) {
    run_operations(suite, log_n_max);
    return;
  }
  run_roles(suite);
  run_later_roles(suite);
  run_operations(suite, log_n_max);
  run_fused(suite);
  run_refusals(suite);
  run_scarcity(suite);
  run_life(suite);
}

static void run_suite(const options_t *options, results_t *results) {
  suite_t *suite = suite_alloc(sizeof *suite);
  memset(suite, 0, sizeof *suite);
  suite->results = results;
  suite->manifest = options->manifest;
  suite->only = options->only;
  suite->part = options->part - 1;
  suite->parts = options->parts;
  suite->random = 20;
  suite->report = hx_report_create();
  suite->threads_before = life_threads();
  if (suite->report == NULL) exit(70);
  if (run_gates(suite)) {
    run_coverage(suite);
    suite_close(suite);
    if (suite->only == NULL) run_negotiation(suite);
    case_begin(suite, "load", suite->only == NULL ? "again, after negotiation" : "open");
    // A plugin of groups alone has nothing to compute with, and no operation.
    const bool opened = suite_open(suite);
    suite->record->checks += opened ? 1 : 0;
    case_end(suite);
    if (opened && suite->only == NULL && suite->part == 0) run_groups(suite);
    if (opened && suite->device != NULL) run_parts(suite, options->log_n_max);
  }
  suite_close(suite);
  hx_plugins_release(suite->plugins);
  hx_report_release(suite->report);
  suite_drop_tensors(suite);
  free(suite);
  results->finished = true;
}

// ------------------------------------------------------------------ the parent

// A case that was running when the child ended is the one that ended it.
static void note_end(results_t *results, int status, uint32_t timeout) {
  char text[200];
  if (results->finished && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    snprintf(text, sizeof text, "no end after %u seconds", timeout);
  } else if (WIFSIGNALED(status)) {
    snprintf(text, sizeof text, "the process ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else if (results->finished) {
    snprintf(text, sizeof text, "the process ended with %d as it was leaving", WEXITSTATUS(status));
  } else {
    snprintf(text, sizeof text, "the process was ended, with exit code %d", WEXITSTATUS(status));
  }
  record_t *last = results->count > 0 ? &results->records[results->count - 1] : NULL;
  if (last != NULL && last->verdict == CASE_RUNNING) {
    last->verdict = CASE_FAILED;
    snprintf(last->message, sizeof last->message, "%s", text);
  } else {
    results_add(results, CASE_FAILED, "life", "end of the process", text);
  }
}

// What the caller asked for by name must be claimed, and something must have been run.
static void judge(const options_t *options, results_t *results) {
  for (int t = 0; t < TIER_COUNT; ++t) {
    const tier_result_t *tier = &results->tiers[t];
    char text[200];
    if (!options->tiers[t] || tier->claimed || options->only != NULL || !results->finished) continue;
    snprintf(text, sizeof text,
             "asked for, and the manifest does not claim it (conformance.tiers); %u of %u operations are declared",
             tier->declared, tier->required);
    results_add(results, CASE_FAILED, "coverage", tier_name((tier_t)t), text);
  }
  if (results->operation_runs > 0 || results->group_cases > 0) return;
  results_add(results, CASE_FAILED, "coverage", options->only != NULL ? options->only : "operations",
              options->only != NULL ? "no operation of that name that these tiers want was run and compared"
                                    : "no operation was run and compared");
}

static int report(const options_t *options, const results_t *results) {
  if (options->json) {
    if (!results_print_json(results)) return 70;
  } else {
    results_print(results, options->verbose);
  }
  if (options->junit != NULL && !results_write_junit(results, options->junit)) {
    fprintf(stderr, "heliox-conformance: %s: %s\n", options->junit, strerror(errno));
    return 3;
  }
  return results_total(results).failed == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  options_t options = {.log_n_max = 16, .part = 1, .parts = 1, .timeout = 3600};
  const int code = parse(argc, argv, &options);
  if (code != 0) return code;
  if (access(options.manifest, R_OK) != 0) {
    fprintf(stderr, "heliox-conformance: %s: %s\n", options.manifest, strerror(errno));
    return 3;
  }
  bool any = options.all;
  for (int t = 0; t < TIER_COUNT; ++t) any |= options.tiers[t];
  results_t *results = mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (results == MAP_FAILED || sodium_init() < 0) return 70;
  for (int t = 0; t < TIER_COUNT; ++t) results->tiers[t].wanted = options.all || options.tiers[t] || !any;
  results->part = options.part;
  results->parts = options.parts;
  if (options.only != NULL) snprintf(results->only, sizeof results->only, "%s", options.only);
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    fprintf(stderr, "heliox-conformance: %s\n", strerror(errno));
    return 70;
  }
  if (child == 0) {
    alarm(options.timeout);
    run_suite(&options, results);
    exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  note_end(results, status, options.timeout);
  judge(&options, results);
  const int result = report(&options, results);
  munmap(results, sizeof *results);
  return result;
}
