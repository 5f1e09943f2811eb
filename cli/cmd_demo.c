// SPDX-License-Identifier: Apache-2.0
// demo: private inference of a logistic regression, three roles as separate processes with directories of their own.
// The client's keys and encryption, the server's run (it has evaluation keys, program, weights and the ciphertext; no
// secret), the client's decryption. Then the scores are compared with plain computation.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/demo_ranks.h"
#include "cli/message.h"
#include "cli/process.h"
#include "examples/wdbc.h"

#define SAMPLES_MAX 256  // a block of the ciphertext
#define BLOCKS 32
#define SLOTS (SAMPLES_MAX * BLOCKS)
#define ITEMS 4  // ciphertexts of the batch (examples/wdbc-batch.mlir)
#define PATH_ROOM 4096
#define PATH_BYTES_MAX ((size_t)1 << 30)

typedef struct {
  cli_t *cli;
  char root[PATH_ROOM - 64];                  // directory of the roles
  char client[PATH_ROOM], server[PATH_ROOM];  // their directories
  char program[PATH_ROOM];
  wdbc_data_t data;
  wdbc_model_t model;
  size_t samples;
  size_t rows[SAMPLES_MAX];  // held-out rows, in slot order
  size_t items;              // ciphertexts that the samples are in; more than one: a batch
  json_t *steps;
} demo_t;

// ------------------------------------------------------------------ files

static hx_status_t make_directory(demo_t *demo, const char *path) {
  if (mkdir(path, 0700) == 0) return HX_STATUS_OK;
  return hx_report_fail(demo->cli->report, HX_CODE_IO, "%s: %s", path, strerror(errno));
}

static hx_status_t make_directories(demo_t *demo) {
  const char *keep = cli_get(demo->cli, "keep");
  hx_status_t status = HX_STATUS_OK;
  if (keep != NULL) {
    status = make_directory(demo, keep);
    if (status == HX_STATUS_OK && (strlen(keep) >= sizeof demo->root || realpath(keep, demo->client) == NULL)) {
      status = hx_report_fail(demo->cli->report, HX_CODE_IO, "%s: cannot be resolved", keep);
    }
    if (status == HX_STATUS_OK) snprintf(demo->root, sizeof demo->root, "%.4000s", demo->client);
  } else {
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0') base = "/tmp";
    const bool meets = cli_demo_meeting(demo->cli, base, demo->root, sizeof demo->root);
    if (!meets) snprintf(demo->root, sizeof demo->root, "%s/heliox-demo.XXXXXX", base);
    if (meets ? mkdir(demo->root, 0700) != 0 : mkdtemp(demo->root) == NULL) {
      status = hx_report_fail(demo->cli->report, HX_CODE_IO, "%s: %s", demo->root, strerror(errno));
      demo->root[0] = '\0';
    }
  }
  snprintf(demo->client, sizeof demo->client, "%s/client", demo->root);
  snprintf(demo->server, sizeof demo->server, "%s/server", demo->root);
  if (status == HX_STATUS_OK) status = make_directory(demo, demo->client);
  if (status == HX_STATUS_OK) status = make_directory(demo, demo->server);
  return status;
}

// Removes what this command made; names are a fixed list, so nothing else can go.
static void remove_directories(const demo_t *demo) {
  static const char *const names[] = {"client/keys/params.hx",
                                      "client/keys/secret.hx",
                                      "client/keys/public.hx",
                                      "client/keys/relin.hx",
                                      "client/keys/galois.hx",
                                      "client/keys",
                                      "client/samples.csv",
                                      "client/x.hx",
                                      "client/score.hx",
                                      "client/score.csv",
                                      "client",
                                      "server/keys/params.hx",
                                      "server/keys/relin.hx",
                                      "server/keys/galois.hx",
                                      "server/keys",
                                      "server/weights.csv",
                                      "server/x.hx",
                                      "server/score.hx",
                                      "server/program.mlir",
                                      "server",
                                      "ready",
                                      "failed",
                                      ""};
  char path[2 * PATH_ROOM];
  for (size_t i = 0; demo->root[0] != '\0' && i < sizeof names / sizeof *names; ++i) {
    snprintf(path, sizeof path, "%s/%s", demo->root, names[i]);
    if (unlink(path) != 0) rmdir(path);
  }
}

// The network: a file of one role becomes a file of the other.
static hx_status_t send_file(demo_t *demo, const char *from, const char *to) {
  char source[2 * PATH_ROOM], target[2 * PATH_ROOM];
  snprintf(source, sizeof source, "%s/%s", demo->root, from);
  snprintf(target, sizeof target, "%s/%s", demo->root, to);
  char *bytes = NULL;
  size_t size = 0;
  hx_status_t status = cli_read_file(source, PATH_BYTES_MAX, &bytes, &size, demo->cli->report);
  if (status == HX_STATUS_OK) status = cli_write_file(target, bytes, size, demo->cli->report);
  free(bytes);
  return status;
}

// items 0: one vector, no batch.
static hx_status_t write_numbers(demo_t *demo, const char *name, double *values, size_t items) {
  char path[2 * PATH_ROOM];
  snprintf(path, sizeof path, "%s/%s", demo->root, name);
  const cli_message_t message = {.values = values, .count = SLOTS, .items = items};
  return cli_message_write(path, &message, demo->cli->report);
}

// Samples of one ciphertext: all of them, or an even share of a batch.
static size_t samples_each(const demo_t *demo) { return (demo->samples + demo->items - 1) / demo->items; }

// Slot 256 j + i of item k: number j of its sample i for the client, weight j for the server.
static hx_status_t write_inputs(demo_t *demo) {
  const size_t each = samples_each(demo);
  double *values = calloc(demo->items * SLOTS, sizeof *values);
  if (values == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t j = 0; j < WDBC_TERMS; ++j) {
    for (size_t i = 0; i < demo->samples; ++i)
      values[SLOTS * (i / each) + SAMPLES_MAX * j + i % each] =
          wdbc_term(&demo->model, demo->data.features[demo->rows[i]], j);
  }
  hx_status_t status = write_numbers(demo, "client/samples.csv", values, demo->items > 1 ? demo->items : 0);
  for (size_t j = 0; j < BLOCKS; ++j) {
    for (size_t i = 0; i < SAMPLES_MAX; ++i) values[SAMPLES_MAX * j + i] = j < WDBC_TERMS ? demo->model.weights[j] : 0;
  }
  if (status == HX_STATUS_OK) status = write_numbers(demo, "server/weights.csv", values, 0);
  free(values);
  return status;
}

static hx_status_t read_example(demo_t *demo) {
  char *data = cli_share_path("examples/data/wdbc.csv"), *model = cli_share_path("examples/data/wdbc-model.csv"),
       *program = cli_share_path(demo->items > 1 ? "examples/wdbc-batch.mlir" : "examples/wdbc.mlir");
  hx_status_t status = HX_STATUS_OK;
  if (data == NULL || model == NULL || program == NULL) {
    status = HX_STATUS_OUT_OF_MEMORY;
  } else if (!wdbc_read_data(data, &demo->data) || !wdbc_read_model(model, &demo->model)) {
    status = hx_report_fail(demo->cli->report, HX_CODE_IO, "the example's data are not beside the program: %s, %s",
                            data, model);
  } else {
    snprintf(demo->program, sizeof demo->program, "%s", program);
    for (size_t r = 0; r < demo->data.rows && demo->samples < SAMPLES_MAX; ++r) {
      if (wdbc_is_held_out(r)) demo->rows[demo->samples++] = r;
    }
  }
  free(data);
  free(model);
  free(program);
  return status;
}

// ------------------------------------------------------------------ roles

// The faults of a step that reports as JSON, as faults of the demo; false where there are none to read.
static bool pass_faults(demo_t *demo, const char *role, const char *what, const char *output, hx_status_t *out_status) {
  json_t *root = json_loads(output, 0, NULL), *item;
  const json_t *faults = json_object_get(root, "faults");
  char text[2048];
  size_t i;
  json_array_foreach((json_t *)(uintptr_t)faults, i, item) {
    const char *word = json_string_value(json_object_get(item, "code")),
               *said = json_string_value(json_object_get(item, "text"));
    const char *expected = json_string_value(json_object_get(item, "expected"));
    const char *found = json_string_value(json_object_get(item, "found")),
               *hint = json_string_value(json_object_get(item, "hint"));
    const hx_code_info_t *info = word == NULL ? NULL : hx_code_find(word);
    const hx_code_t code = info == NULL ? HX_CODE_INTERNAL : info->code;
    if (said == NULL) continue;
    snprintf(text, sizeof text, "the %s's step '%s': %s", role, what, said);
    const hx_status_t status =
        hx_report_add(demo->cli->report,
                      &(hx_fault_t){.code = code, .text = text, .expected = expected, .found = found, .hint = hint});
    if (i == 0) *out_status = status;
  }
  const bool passed = json_array_size(faults) > 0;
  json_decref(root);
  return passed;
}

static hx_status_t run_step(demo_t *demo, const char *role, const char *what, const char *directory,
                            const char *const *arguments, cli_process_t *out) {
  hx_status_t status = cli_process_run(directory, arguments, out, demo->cli->report);
  if (status != HX_STATUS_OK) return status;
  if (out->exit_code != 0 && pass_faults(demo, role, what, out->output, &status)) return status;
  if (out->exit_code != 0)
    return hx_report_fail(demo->cli->report, HX_CODE_INTERNAL, "the %s's step '%s' ended with exit status %d", role,
                          what, out->exit_code);
  cli_say(demo->cli, "%-7s %-22s %8.0f ms  %5.0f MiB\n", role, what, out->wall_ms, out->peak_mib);
  json_array_append_new(demo->steps, json_pack("{s:s, s:s, s:f, s:f}", "role", role, "step", what, "ms", out->wall_ms,
                                               "peak_mib", out->peak_mib));
  return HX_STATUS_OK;
}

static hx_status_t client_prepares(demo_t *demo) {
  cli_process_t step;
  const char *const keygen[] = {"keygen", "--for", demo->program, "-o", "keys", "-q", NULL};
  hx_status_t status = run_step(demo, "client", "keygen", demo->client, keygen, &step);
  const char *const encrypt[] = {"encrypt", "--keys", "keys", "-i", "samples.csv", "-o", "x.hx", "-q", NULL};
  if (status == HX_STATUS_OK) status = run_step(demo, "client", "encrypt", demo->client, encrypt, &step);
  return status;
}

static hx_status_t send_to_server(demo_t *demo) {
  static const char *const files[][2] = {{"client/keys/params.hx", "server/keys/params.hx"},
                                         {"client/keys/relin.hx", "server/keys/relin.hx"},
                                         {"client/keys/galois.hx", "server/keys/galois.hx"},
                                         {"client/x.hx", "server/x.hx"}};
  char path[2 * PATH_ROOM];
  snprintf(path, sizeof path, "%s/keys", demo->server);
  hx_status_t status = make_directory(demo, path);
  for (size_t i = 0; i < sizeof files / sizeof *files && status == HX_STATUS_OK; ++i)
    status = send_file(demo, files[i][0], files[i][1]);
  char *text = NULL;
  size_t size = 0;
  if (status == HX_STATUS_OK) status = cli_read_file(demo->program, PATH_BYTES_MAX, &text, &size, demo->cli->report);
  snprintf(path, sizeof path, "%s/program.mlir", demo->server);
  if (status == HX_STATUS_OK) status = cli_write_file(path, text, size, demo->cli->report);
  free(text);
  return status;
}

static hx_status_t run_server(demo_t *demo, cli_process_t *step) {
  const char *backend = cli_get(demo->cli, "backend"), *kind = cli_get(demo->cli, "shard");
  const char *const run[] = {"run",         "program.mlir",
                             "--keys",      "keys",
                             "-i",          "x=x.hx",
                             "-o",          "score=score.hx",
                             "--materials", "weights=weights.csv",
                             "--backend",   backend == NULL ? "cpu" : backend,
                             "--json",      kind == NULL ? NULL : "--shard",
                             kind,          NULL};
  return run_step(demo, "server", "run", demo->server, run, step);
}

static hx_status_t server_runs(demo_t *demo) {
  cli_process_t step;
  hx_status_t status = run_server(demo, &step);
  if (status != HX_STATUS_OK) return status;
  json_t *stats = json_loads(step.output, 0, NULL);
  if (stats != NULL) {
    cli_say(demo->cli, "        (load %.0f ms, link %.0f ms, the computation itself %.0f ms)\n",
            json_number_value(json_object_get(stats, "load_ms")), json_number_value(json_object_get(stats, "link_ms")),
            json_number_value(json_object_get(stats, "run_ms")));
    json_object_update(json_array_get(demo->steps, json_array_size(demo->steps) - 1), stats);
  }
  json_decref(stats);
  return send_file(demo, "server/score.hx", "client/score.hx");
}

static hx_status_t client_decrypts(demo_t *demo) {
  cli_process_t step;
  const char *const decrypt[] = {"decrypt", "--keys", "keys", "-i", "score.hx", "-o", "score.csv", "-q", NULL};
  return run_step(demo, "client", "decrypt", demo->client, decrypt, &step);
}

// ------------------------------------------------------------------ verdict

typedef struct {
  size_t right_encrypted, right_polynomial, right_sigmoid, decided_alike, agree;
  double largest_difference, largest_z;
} verdict_t;

// all: `stride` numbers of each ciphertext, of which the first are those of its samples.
static verdict_t judge(const demo_t *demo, const double *all, size_t stride) {
  verdict_t verdict = {0};
  const size_t each = samples_each(demo);
  for (size_t i = 0; i < demo->samples; ++i) {
    const size_t row = demo->rows[i];
    const double score = all[stride * (i / each) + i % each];
    const double z = wdbc_score(&demo->model, demo->data.features[row]);
    const double plain = wdbc_polynomial(z);
    const bool benign = demo->data.labels[row] == 1;
    verdict.right_encrypted += (score > 0.5) == benign;
    verdict.right_polynomial += (plain > 0.5) == benign;
    verdict.right_sigmoid += (wdbc_sigmoid(z) > 0.5) == benign;
    verdict.decided_alike += (score > 0.5) == (plain > 0.5);
    verdict.agree += (plain > 0.5) == (wdbc_sigmoid(z) > 0.5);
    verdict.largest_difference = fmax(verdict.largest_difference, fabs(score - plain));
    verdict.largest_z = fmax(verdict.largest_z, fabs(z));
  }
  return verdict;
}

static double percent(size_t part, size_t whole) { return 100 * (double)part / (double)whole; }

static int report_verdict(demo_t *demo, const verdict_t *v) {
  const size_t n = demo->samples;
  const bool good = v->decided_alike == n && v->agree == n && v->largest_difference < 1e-4;
  if (demo->cli->json) {
    return cli_print_json(json_pack("{s:b, s:i, s:f, s:f, s:f, s:i, s:f, s:f, s:f, s:O}", "ok", good, "samples", (int)n,
                                    "accuracy_encrypted", percent(v->right_encrypted, n), "accuracy_polynomial",
                                    percent(v->right_polynomial, n), "accuracy_sigmoid", percent(v->right_sigmoid, n),
                                    "decided_alike", (int)v->decided_alike, "largest_difference", v->largest_difference,
                                    "largest_z", v->largest_z, "range", WDBC_RANGE, "steps", demo->steps)) ==
                       CLI_DONE &&
                   good
               ? CLI_DONE
               : CLI_NO;
  }
  if (demo->items > 1) {
    printf("\nheld-out samples        %zu, in a batch of %zu ciphertexts\n", n, demo->items);
  } else {
    printf("\nheld-out samples        %zu, all in one ciphertext\n", n);
  }
  printf("accuracy, encrypted     %.1f %%\n", percent(v->right_encrypted, n));
  printf("accuracy, plain         %.1f %% (same polynomial), %.1f %% (sigmoid)\n", percent(v->right_polynomial, n),
         percent(v->right_sigmoid, n));
  printf("same decision           %zu of %zu (encrypted and plain), %zu of %zu (polynomial and sigmoid)\n",
         v->decided_alike, n, v->agree, n);
  printf("largest score difference %.2g\n", v->largest_difference);
  printf("largest |z|             %.2f; the polynomial rises up to %.1f\n", v->largest_z, WDBC_RANGE);
  return good ? CLI_DONE : CLI_NO;
}

static int finish(demo_t *demo) {
  char path[2 * PATH_ROOM];
  snprintf(path, sizeof path, "%s/score.csv", demo->client);
  cli_message_t scores = {0};
  CLI_TRY(demo->cli, cli_message_read(path, &scores, demo->cli->report));
  int code;
  const size_t items = scores.items == 0 ? 1 : scores.items, each = samples_each(demo);
  if (scores.is_complex || scores.count < each || items != demo->items) {
    code = cli_fail(demo->cli, hx_report_fail(demo->cli->report, HX_CODE_INTERNAL,
                                              "%zu times %zu scores came back for %zu times %zu samples", items,
                                              scores.count, demo->items, each));
  } else {
    const verdict_t verdict = judge(demo, scores.values, scores.count);
    code = report_verdict(demo, &verdict);
  }
  cli_message_free(&scores);
  return code;
}

static hx_status_t print_head(demo_t *demo) {
  hx_program_t *program = NULL;
  hx_params_t *params = NULL;
  hx_status_t status = hx_program_load(demo->program, &program, demo->cli->report);
  if (status == HX_STATUS_OK) status = hx_params_preset(hx_program_params(program), &params, demo->cli->report);
  if (status == HX_STATUS_OK && !demo->cli->json) {
    cli_print_params(stdout, params);
    printf("\n%-7s %-22s %8s     %5s\n", "role", "step", "time", "peak memory");
  }
  hx_params_release(params);
  hx_program_release(program);
  return status;
}

// A rank that is not rank 0: it plays the server with the others, in the directory that rank 0 makes.
static int serve(demo_t *demo) {
  cli_t *cli = demo->cli;
  const char *base = getenv("TMPDIR"), *keep = cli_get(cli, "keep");
  cli_process_t step;
  cli->quiet = true;
  if (base == NULL || base[0] == '\0') base = "/tmp";
  if (keep != NULL) snprintf(demo->root, sizeof demo->root, "%s", keep);
  hx_status_t status = HX_STATUS_OK;
  if (keep == NULL && !cli_demo_meeting(cli, base, demo->root, sizeof demo->root))
    status = hx_report_fail(cli->report, HX_CODE_USAGE, "the launcher gives the job no name: use --keep DIR");
  snprintf(demo->server, sizeof demo->server, "%s/server", demo->root);
  if (status == HX_STATUS_OK) status = cli_demo_wait(cli, demo->root);
  if (status == HX_STATUS_OK) status = run_server(demo, &step);
  return status == HX_STATUS_OK ? CLI_DONE : cli_fail(cli, status);
}

// The client's side up to the server's step, and whether the other ranks have anything to wait for.
static hx_status_t prepare_server(demo_t *demo) {
  hx_status_t status = write_inputs(demo);
  if (status == HX_STATUS_OK) status = client_prepares(demo);
  if (status == HX_STATUS_OK) status = send_to_server(demo);
  const hx_status_t told = cli_demo_tell(demo->cli, demo->root, status == HX_STATUS_OK);
  return status == HX_STATUS_OK ? told : status;
}

int cli_run_demo(cli_t *cli) {
  if (cli->argument_count == 1 && strcmp(cli->arguments[0], "wdbc") != 0) {
    return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_USAGE, "no demo '%s'; there is wdbc", cli->arguments[0]));
  }
  static demo_t demo;
  demo.cli = cli;
  demo.steps = json_array();
  // Items of a batch are what ranks share by `batch`; the other kinds share the work on one ciphertext.
  demo.items = cli_has(cli, "shard") && strcmp(cli_get(cli, "shard"), "batch") == 0 ? ITEMS : 1;
  if (cli_demo_rank(cli) > 0) {
    const int code = serve(&demo);
    json_decref(demo.steps);
    return code;
  }
  hx_status_t status = read_example(&demo);
  if (status == HX_STATUS_OK) status = print_head(&demo);
  if (status == HX_STATUS_OK) status = make_directories(&demo);
  if (status == HX_STATUS_OK) status = prepare_server(&demo);
  if (status == HX_STATUS_OK) status = server_runs(&demo);
  if (status == HX_STATUS_OK) status = client_decrypts(&demo);
  const int code = status == HX_STATUS_OK ? finish(&demo) : cli_fail(cli, status);
  if (!cli_has(cli, "keep")) remove_directories(&demo);
  json_decref(demo.steps);
  return code;
}
