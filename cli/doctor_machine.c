// SPDX-License-Identifier: Apache-2.0
// doctor: processor, memory, threads, variables, drivers, directories. Read from the system alone.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/doctor.h"

extern char **environ;

#define MIB (1u << 20)

// The first line "KEY...: VALUE" of a file of /proc, cut at the end of the line.
static bool read_value(const char *path, const char *key, char *out, size_t room) {
  FILE *file = fopen(path, "r");
  char line[4096];
  bool found = false;
  while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    char *value = strchr(line, ':');
    if (value == NULL) continue;
    value += 1 + strspn(value + 1, " \t");
    value[strcspn(value, "\n")] = '\0';
    snprintf(out, room, "%s", value);
    found = true;
  }
  if (file != NULL) fclose(file);
  return found;
}

// A number or "max" that stands first in a file; 0 where there is none.
static uint64_t read_number(const char *path) {
  FILE *file = fopen(path, "r");
  unsigned long long value = 0;
  if (file == NULL || fscanf(file, "%llu", &value) != 1) value = 0;
  if (file != NULL) fclose(file);
  return value;
}

#if defined(__x86_64__)
// Levels of the cpu plugin's kernels, the best first, and what they need of the processor.
static void find_kernels(cli_doctor_t *doctor) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  const bool dq = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  const bool ifma = dq && __builtin_cpu_supports("avx512ifma");
  if (avx2) {
    cli_doctor_find(doctor, "machine", CLI_FINE, NULL, "vectors: AVX2%s%s", dq ? ", AVX-512 DQ" : "",
                    ifma ? ", AVX-512 IFMA" : "");
  } else {
    cli_doctor_find(doctor, "machine", CLI_WARNING,
                    "use a processor with AVX2 or later; in a virtual machine, pass the host's processor through",
                    "no AVX2: the cpu plugin computes with portable kernels, several times slower");
  }
}
#else
static void find_kernels(cli_doctor_t *doctor) {
  cli_doctor_find(doctor, "machine", CLI_NOTE, NULL, "the cpu plugin has portable kernels for this architecture");
}
#endif

static void find_memory(cli_doctor_t *doctor) {
  char text[64];
  uint64_t total = 0, available = 0;
  if (read_value("/proc/meminfo", "MemTotal", text, sizeof text)) total = strtoull(text, NULL, 10) << 10;
  if (read_value("/proc/meminfo", "MemAvailable", text, sizeof text)) available = strtoull(text, NULL, 10) << 10;
  const uint64_t group = read_number("/sys/fs/cgroup/memory.max");
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
  getrlimit(RLIMIT_AS, &limit);
  uint64_t usable = available;
  const char *by = "";
  if (group > 0 && group < usable) {
    usable = group;
    by = ", by the limit of its control group";
  }
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < usable) {
    usable = limit.rlim_cur;
    by = ", by the limit of address space (ulimit -v)";
  }
  const bool little = usable < 512ull * MIB;
  cli_doctor_find(
      doctor, "machine", little ? CLI_WARNING : CLI_FINE,
      little ? "end other programs or raise the limit; `heliox check PROGRAM` says what a program needs" : NULL,
      "memory: %.1f GiB, usable now %.1f GiB%s", (double)total / (1u << 30), (double)usable / (1u << 30), by);
}

void cli_doctor_machine(cli_doctor_t *doctor) {
  struct utsname system = {0};
  char model[256] = "";
  uname(&system);
  if (!read_value("/proc/cpuinfo", "model name", model, sizeof model)) snprintf(model, sizeof model, "processor");
  cli_doctor_find(doctor, "machine", CLI_FINE, NULL, "%s %s, %s, glibc %s: %s", system.sysname, system.release,
                  system.machine, gnu_get_libc_version(), model);
  find_kernels(doctor);
  find_memory(doctor);
  struct rlimit core = {0};
  if (getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur > 0) {
    cli_doctor_find(doctor, "machine", CLI_NOTE, "ulimit -c 0 where secret keys are used",
                    "a crash writes memory out (core dumps are on), and secrets may lie in it");
  }
}

void cli_doctor_threads(cli_doctor_t *doctor) {
  cpu_set_t set;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)online;
  const uint32_t threads = hx_threads_get();
  // "MICROSECONDS PERIOD" of processor time that the control group gets; "max" is no limit.
  const uint64_t quota = read_number("/sys/fs/cgroup/cpu.max");
  double processors = allowed;
  if (quota > 0 && (double)quota / 1e5 < processors) processors = (double)quota / 1e5;
  const char *openmp = getenv("OMP_NUM_THREADS");
  if ((double)threads > processors + 0.5) {
    cli_doctor_find(doctor, "threads", CLI_WARNING, "set HELIOX_NUM_THREADS or --threads to the processors there are",
                    "%u threads on %.1f usable processors of %ld: they wait for each other", threads, processors,
                    online);
  } else {
    cli_doctor_find(doctor, "threads", CLI_FINE, NULL, "%u threads; %.1f usable processors of %ld", threads, processors,
                    online);
  }
  if (openmp != NULL && strtoul(openmp, NULL, 10) != 0 && strtoul(openmp, NULL, 10) < threads) {
    cli_doctor_find(doctor, "threads", CLI_NOTE, "unset OMP_NUM_THREADS, or set it to the same number",
                    "OMP_NUM_THREADS is %s; Heliox asks OpenMP for %u", openmp, threads);
  }
}

void cli_doctor_variables(cli_doctor_t *doctor) {
  static const struct {
    const char *name, *doc;
  } known[] = {
#define VARIABLE(name_, doc_) {name_, doc_},
#include "cli/variables.def"
  };
  size_t set = 0;
  for (char **entry = environ; entry != NULL && *entry != NULL; ++entry) {
    if (strncmp(*entry, "HELIOX_", 7) != 0) continue;
    const size_t size = strcspn(*entry, "=");
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
      is_known = is_known || (strlen(known[i].name) == size && strncmp(known[i].name, *entry, size) == 0);
    ++set;
    if (is_known) {
      cli_doctor_find(doctor, "environment", CLI_NOTE, "unset it if that is not meant", "%s", *entry);
    } else {
      cli_doctor_find(doctor, "environment", CLI_WARNING, "see ENVIRONMENT in `man heliox` for the names",
                      "%.*s is no variable that Heliox reads", (int)size, *entry);
    }
  }
  if (set == 0) cli_doctor_find(doctor, "environment", CLI_FINE, NULL, "no variable of Heliox is set");
}

// ------------------------------------------------------------------ drivers

// Whether the dynamic linker finds one of the libraries; its name, else NULL.
static const char *find_library(const char *const *names) {
  for (; *names != NULL; ++names) {
    void *library = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) continue;
    dlclose(library);
    return *names;
  }
  return NULL;
}

static size_t count_files(const char *directory, const char *end) {
  DIR *list = opendir(directory);
  size_t count = 0;
  for (struct dirent *entry = list == NULL ? NULL : readdir(list); entry != NULL; entry = readdir(list)) {
    const size_t size = strlen(entry->d_name), tail = strlen(end);
    count += size > tail && strcmp(entry->d_name + size - tail, end) == 0;
  }
  if (list != NULL) closedir(list);
  return count;
}

void cli_doctor_drivers(cli_doctor_t *doctor) {
  static const char *const cuda[] = {"libcuda.so.1", NULL}, *const opencl[] = {"libOpenCL.so.1", NULL},
                           *const mpi[] = {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", NULL};
  static const char vendors[] = "/etc/OpenCL/vendors";
  const char *found = find_library(cuda);
  if (found != NULL) {
    cli_doctor_find(doctor, "driver", CLI_FINE, NULL, "CUDA: %s", found);
  } else if (access("/dev/nvidia0", F_OK) == 0) {
    cli_doctor_find(doctor, "driver", CLI_WARNING,
                    "install the driver's user part (package libcuda1) for its kernel part",
                    "CUDA: there is a GPU (/dev/nvidia0), but libcuda.so.1 is not found");
  } else {
    cli_doctor_find(doctor, "driver", CLI_FINE, NULL, "CUDA: none (no libcuda.so.1)");
  }
  found = find_library(opencl);
  const size_t drivers = count_files(vendors, ".icd");
  if (found == NULL && drivers == 0) {
    cli_doctor_find(doctor, "driver", CLI_FINE, NULL, "OpenCL: none (no libOpenCL.so.1)");
  } else if (found == NULL) {
    cli_doctor_find(doctor, "driver", CLI_WARNING, "install the loader (package ocl-icd-libopencl1)",
                    "OpenCL: drivers in %s (%zu), but libOpenCL.so.1 is not found", vendors, drivers);
  } else if (drivers == 0 && getenv("OCL_ICD_VENDORS") == NULL) {
    cli_doctor_find(doctor, "driver", CLI_WARNING, "install a driver (for processors: package pocl-opencl-icd)",
                    "OpenCL: %s, but no driver in %s", found, vendors);
  } else {
    cli_doctor_find(doctor, "driver", CLI_FINE, NULL, "OpenCL: %s, drivers in %s: %zu", found, vendors, drivers);
  }
  found = find_library(mpi);
  cli_doctor_find(doctor, "driver", CLI_FINE, NULL, found != NULL ? "MPI: %s" : "MPI: none%s",
                  found != NULL ? found : "");
}

// ------------------------------------------------------------------ directories

// A directory that may not be there yet: whether this user could use it, and whether others may change it.
static void find_cache(cli_doctor_t *doctor, const char *base) {
  char path[PATH_MAX];
  struct stat facts;
  if ((size_t)snprintf(path, sizeof path, "%s/heliox", base) >= sizeof path) return;
  bool there = stat(path, &facts) == 0;
  for (char *slash = strrchr(path, '/'); !there && slash != NULL && slash != path; slash = strrchr(path, '/')) {
    *slash = '\0';  // the nearest directory that exists
    there = stat(path, &facts) == 0;
  }
  if (!there || !S_ISDIR(facts.st_mode) || access(path, W_OK | X_OK) != 0) {
    cli_doctor_find(doctor, "cache", CLI_WARNING, "set XDG_CACHE_HOME to a directory of your own",
                    "%s/heliox cannot be made or written (%s): devices are tested and kernels compiled at each start",
                    base, there ? path : strerror(errno));
  } else if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (facts.st_mode & S_ISVTX) == 0) {
    cli_doctor_find(doctor, "cache", CLI_WARNING, "take write permission from group and others (chmod go-w)",
                    "%s may be changed by others, so what is remembered there counts for nothing", path);
  } else {
    cli_doctor_find(doctor, "cache", CLI_FINE, NULL, "%s/heliox", base);
  }
}

void cli_doctor_files(cli_doctor_t *doctor) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char path[PATH_MAX];
  if (base != NULL && base[0] == '/') {
    find_cache(doctor, base);
  } else if (home != NULL && home[0] == '/' && (size_t)snprintf(path, sizeof path, "%s/.cache", home) < sizeof path) {
    find_cache(doctor, path);
  } else {
    cli_doctor_find(doctor, "cache", CLI_NOTE, "set HOME or XDG_CACHE_HOME",
                    "no directory for caches: devices are tested and kernels compiled at each start");
  }
  char *data = cli_share_path("examples/data/wdbc.csv");
  const bool there = data != NULL && access(data, R_OK) == 0;
  cli_doctor_find(doctor, "data", there ? CLI_FINE : CLI_WARNING, there ? NULL : "install Heliox again as a whole",
                  there ? "the demo's data: %s" : "the demo's data are missing: %s", data == NULL ? "?" : data);
  free(data);
}
