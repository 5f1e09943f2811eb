// SPDX-License-Identifier: Apache-2.0
// heliox-kat DIR [--backend B]: known answers through a backend.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kat/kat.h"

void kat_check(kat_t *kat, bool ok, const char *format, ...) {
  if (ok) {
    ++kat->file_passed;
    return;
  }
  ++kat->file_failed;
  va_list arguments;
  va_start(arguments, format);
  printf("  FAILED ");
  vprintf(format, arguments);
  putchar('\n');
  va_end(arguments);
}

void kat_skip(kat_t *kat, const char *reason) {
  ++kat->file_skipped;
  for (size_t i = 0; i < kat->reason_count; ++i) {
    if (strncmp(kat->reasons[i], reason, sizeof kat->reasons[i] - 1) == 0) return;
  }
  if (kat->reason_count < KAT_REASONS_MAX)
    snprintf(kat->reasons[kat->reason_count++], sizeof kat->reasons[0], "%s", reason);
}

static void run_file(kat_t *kat, const char *directory, const char *name) {
  static const struct {
    const char *name;
    void (*run)(kat_t *kat, json_t *cases);
  } kinds[] = {{"roots.json", kat_roots},
               {"ntt.json", kat_ntt},
               {"pointwise.json", kat_pointwise},
               {"bases.json", kat_bases},
               {"automorphism.json", kat_automorphism},
               {"seed.json", kat_seed},
               {"encode.json", kat_encode}};
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  json_error_t error;
  json_t *file = json_load_file(path, 0, &error);
  kat->file = name;
  kat->file_passed = kat->file_failed = kat->file_skipped = 0;
  kat->reason_count = 0;
  if (file == NULL) {
    kat_check(kat, false, "%s:%d: %s", path, error.line, error.text);
  } else {
    bool known = false;
    for (size_t i = 0; i < HX_COUNT_OF(kinds); ++i) {
      if (strcmp(kinds[i].name, name) != 0) continue;
      known = true;
      kinds[i].run(kat, file);
    }
    if (!known && strncmp(name, "scheme-", 7) == 0) {
      known = true;
      kat_scheme(kat, file);
    }
    if (!known) kat_skip(kat, "a file of unknown kind");
  }
  json_decref(file);
  printf("%-28s %6llu passed %6llu failed %6llu skipped\n", name, (unsigned long long)kat->file_passed,
         (unsigned long long)kat->file_failed, (unsigned long long)kat->file_skipped);
  for (size_t i = 0; i < kat->reason_count; ++i) printf("  skipped: %s\n", kat->reasons[i]);
  kat->passed += kat->file_passed;
  kat->failed += kat->file_failed;
  kat->skipped += kat->file_skipped;
}

static int is_vectors(const struct dirent *entry) {
  const size_t size = strlen(entry->d_name);
  return size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0;
}

static int fail(hx_report_t *report, hx_status_t status) {
  const hx_fault_t *fault = hx_report_get(report, 0);
  fprintf(stderr, "heliox-kat: %s\n", fault == NULL ? hx_status_name(status) : fault->text);
  return 1;
}

int main(int argc, char **argv) {
  const char *directory = NULL, *backend = "cpu";
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) {
      backend = argv[++i];
    } else if (directory == NULL && argv[i][0] != '-') {
      directory = argv[i];
    } else {
      directory = NULL;
      break;
    }
  }
  if (directory == NULL) {
    fprintf(stderr, "Usage: heliox-kat DIR [--backend B]\n");
    return 2;
  }
  struct dirent **entries = NULL;
  const int count = scandir(directory, &entries, is_vectors, alphasort);
  if (count <= 0) {
    fprintf(stderr, "heliox-kat: no vector files in %s\n", directory);
    return 3;
  }
  static kat_t kat;
  hx_report_t *report = hx_report_create();
  hx_status_t status = hx_plugins_discover(NULL, &kat.plugins, report);
  if (status == HX_STATUS_OK) status = hx_backend_create(kat.plugins, backend, &kat.backend, report);
  if (status != HX_STATUS_OK) return fail(report, status);
  for (int i = 0; i < count; ++i) {
    run_file(&kat, directory, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  hx_backend_release(kat.backend);
  hx_plugins_release(kat.plugins);
  hx_report_release(report);
  printf("%llu passed, %llu failed, %llu skipped\n", (unsigned long long)kat.passed, (unsigned long long)kat.failed,
         (unsigned long long)kat.skipped);
  return kat.failed == 0 ? 0 : 1;
}
