// SPDX-License-Identifier: Apache-2.0
// Linked into every test program: which codes it made the library say, one a line, into the file that HELIOX_CODES_SEEN
// names. tools/check-codes.sh asks that every code is there.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/observe.h"

static atomic_bool seen[HX_CODE_COUNT];
static pid_t owner;

static void note(hx_code_t code) {
  if ((unsigned)code < HX_CODE_COUNT) atomic_store(&seen[code], true);
}

__attribute__((constructor)) static void begin(void) {
  owner = getpid();
  hx_code_observer = note;
}

// Children that a test starts share what was seen before them and are not asked.
__attribute__((destructor)) static void end(void) {
  const char *path = getenv("HELIOX_CODES_SEEN");
  FILE *file = path == NULL || getpid() != owner ? NULL : fopen(path, "w");
  if (file == NULL) return;
  for (int code = 0; code < HX_CODE_COUNT; ++code) {
    if (atomic_load(&seen[code])) fprintf(file, "%s\n", hx_code_info((hx_code_t)code)->word);
  }
  if (fclose(file) != 0) fprintf(stderr, "%s: cannot be written\n", path);
}
