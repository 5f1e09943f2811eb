// SPDX-License-Identifier: Apache-2.0
// What the tests over a real MPI share: whether there is one, and how commands run under it. After <cmocka.h>.
#ifndef HX_TESTS_E2E_MPIRUN_H
#define HX_TESTS_E2E_MPIRUN_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/e2e/command.h"

#define MPIRUN "timeout -k 5 100 mpirun --allow-run-as-root --oversubscribe"
#define SPACES "LIMIT=100 " HELIOX_SOURCE_DIR "/tests/mpi/namespaces.sh"
#define RANKS HELIOX_BUILD_DIR "/bin/heliox-ranks"

// Skips the test, saying why, where this build or this machine has no MPI.
static inline void need_mpi(void) {
  if (access(RANKS, X_OK) != 0) {
    print_message("skipped: this build has no MPI shim\n");
    skip();
  }
  if (system("command -v mpirun >/dev/null 2>&1") != 0) {
    print_message("skipped: there is no mpirun\n");
    skip();
  }
}

// A command in a directory; ranks have one thread each.
__attribute__((format(printf, 3, 4))) static inline void run(command_t *command, const char *directory,
                                                             const char *format, ...) {
  char line[8192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  // Open MPI keeps memory until the process ends.
  command_run(command, directory, "HELIOX_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0", line);
}

#endif
