// SPDX-License-Identifier: Apache-2.0
// `heliox plugins check` under a tracer: it never maps a byte of the plugin as executable. With --probe it does, which
// shows that the tracer would see it.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// cmocka.h comes after those.
#include <cmocka.h>

#include <linux/ptrace.h>

#define PROGRAM HELIOX_BUILD_DIR "/bin/heliox"
#define PLUGINS HELIOX_BUILD_DIR "/lib/heliox/plugins"

typedef struct trace {
  bool traced;  // the system lets processes be traced
  int exit_code;
  unsigned opened;      // descriptors of the library that were seen at calls of mmap
  unsigned executable;  // mappings of the library, or of anonymous memory files, as code
} trace_t;

static void start_child(const char *option) {
  char *const plain[] = {(char *)(uintptr_t)PROGRAM,  (char *)(uintptr_t) "plugins",
                         (char *)(uintptr_t) "check", (char *)(uintptr_t)PLUGINS "/cpu.json",
                         (char *)(uintptr_t)option,   NULL};
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 1);
  dup2(nowhere, 2);
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // which traces by itself
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(121);
  raise(SIGSTOP);
  execv(PROGRAM, plain);
  _exit(122);
}

// What a descriptor of the child is: the plugin's library, or a sealed copy of something.
static bool is_plugin(pid_t child, int64_t descriptor) {
  char path[64], target[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)child, (int)descriptor);
  const ssize_t size = readlink(path, target, sizeof target - 1);
  if (size <= 0) return false;
  target[size] = '\0';
  return strstr(target, "heliox_cpu.so") != NULL || strncmp(target, "/memfd:", 7) == 0;
}

static void look_at_call(pid_t child, trace_t *trace) {
  struct __ptrace_syscall_info info;
  memset(&info, 0, sizeof info);
  if (ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info) <= 0) return;
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_mmap) return;
  const bool plugin = (info.entry.args[3] & MAP_ANONYMOUS) == 0 && is_plugin(child, (int32_t)info.entry.args[4]);
  trace->opened += plugin ? 1u : 0u;
  trace->executable += plugin && (info.entry.args[2] & PROT_EXEC) != 0 ? 1u : 0u;
}

static trace_t run_traced(const char *option) {
  trace_t trace = {0};
  int status = 0, signal_number = 0;
  const pid_t child = fork();
  if (child == 0) start_child(option);
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFSTOPPED(status)) return trace;
  trace.traced = ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) == 0;
  while (ptrace(PTRACE_SYSCALL, child, NULL, (void *)(intptr_t)signal_number) == 0 &&
         waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const bool call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    signal_number = call || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    if (call) look_at_call(child, &trace);
  }
  trace.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return trace;
}

static void check_maps_nothing_of_the_plugin_as_code(void **state) {
  (void)state;
  const trace_t trace = run_traced(NULL);
  if (!trace.traced) skip();
  assert_int_equal(trace.exit_code, 0);
  assert_int_equal(trace.executable, 0);
}

static void probe_maps_the_plugin_as_code(void **state) {
  (void)state;
  const trace_t trace = run_traced("--probe");
  if (!trace.traced) skip();
  assert_int_equal(trace.exit_code, 0);
  assert_true(trace.executable > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(check_maps_nothing_of_the_plugin_as_code),
      cmocka_unit_test(probe_maps_the_plugin_as_code),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
