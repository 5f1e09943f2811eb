// SPDX-License-Identifier: Apache-2.0
// Finds candidates in search order and decides which of them count.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/ops/ops.h"
#include "core/plugin/policy.h"
#include "core/plugin/set.h"

#define CANDIDATES_MAX 1024

typedef struct finder {
  hx_plugins_t *plugins;
  hx_report_t *report;
  hx_policy_t policy;
  bool variables;  // environment and user directories count
} finder_t;

static const char *const variables[] = {"HELIOX_PLUGIN_PATH", "HELIOX_PLUGINS_DISABLE", "XDG_CONFIG_HOME",
                                        "XDG_CONFIG_DIRS",    "XDG_DATA_HOME",          "XDG_DATA_DIRS",
                                        "HELIOX_LOCK",        "HELIOX_SIGNATURES"};

// The value of a variable, NULL where unset, empty or not to be looked at.
static const char *variable(const finder_t *finder, const char *name) {
  const char *value = finder->variables ? getenv(name) : NULL;
  return value == NULL || *value == '\0' ? NULL : value;
}

static hx_status_t note_place(finder_t *finder, const char *path) {
  hx_plugins_t *plugins = finder->plugins;
  const char *copy = hx_arena_clean(&plugins->arena, path);
  if (copy == NULL || hx_grow(&plugins->places, &plugins->place_capacity, plugins->place_count + 1,
                              sizeof *plugins->places) != HX_STATUS_OK) {
    return HX_STATUS_OUT_OF_MEMORY;
  }
  plugins->places[plugins->place_count++] = copy;
  return HX_STATUS_OK;
}

static void warn(finder_t *finder, const char *source, const char *format, const char *place, const char *why) {
  char text[PATH_MAX + 256];
  if (snprintf(text, sizeof text, format, place, why) < 0) return;
  hx_report_warn_once(finder->report, HX_CODE_SEARCH_PATH, source, text);
}

static hx_status_t add_candidate(finder_t *finder, const char *path, const char *source) {
  hx_plugins_t *plugins = finder->plugins;
  if (plugins->count == CANDIDATES_MAX) {
    warn(finder, source, "%s and what follows is not looked at%s", path, ": there are more than 1024 manifests");
    return HX_STATUS_OK;
  }
  HX_TRY(hx_grow(&plugins->entries, &plugins->capacity, plugins->count + 1, sizeof *plugins->entries));
  hx_plugin_entry_t *entry = &plugins->entries[plugins->count];
  *entry = (hx_plugin_entry_t){.record = {.state = HX_PLUGIN_REFUSED}};
  HX_TRY(hx_candidate_init(&entry->candidate, path));
  const hx_status_t status = hx_candidate_read(&entry->candidate, &finder->policy, finder->report);
  if (status != HX_STATUS_OK) {
    hx_candidate_deinit(&entry->candidate);
    if (status != HX_STATUS_NOT_FOUND) return status;
    warn(finder, source, "%s vanished%s", path, "");  // between listing and reading
    return HX_STATUS_OK;
  }
  ++plugins->count;
  return HX_STATUS_OK;
}

static bool is_manifest_name(const char *name) {
  const size_t size = strlen(name);
  return size > 5 && strcmp(name + size - 5, ".json") == 0 && name[0] != '.';
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int priority_of(const hx_plugin_entry_t *entry) {
  return entry->candidate.manifest != NULL ? entry->candidate.manifest->priority : 0;
}

// Higher priority first; stable, so that names decide among equals.
static void order_by_priority(hx_plugin_entry_t *entries, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    const hx_plugin_entry_t entry = entries[i];
    size_t at = i;
    for (; at > 0 && priority_of(&entries[at - 1]) < priority_of(&entry); --at) entries[at] = entries[at - 1];
    entries[at] = entry;
  }
}

static hx_status_t search_directory(finder_t *finder, const char *path, const char *source) {
  DIR *directory = opendir(path);
  if (directory == NULL) {
    if (source != NULL || errno != ENOENT) warn(finder, source, "%s cannot be listed: %s", path, strerror(errno));
    return HX_STATUS_OK;
  }
  char **names = NULL;
  size_t count = 0, capacity = 0;
  hx_status_t status = HX_STATUS_OK;
  for (struct dirent *item = readdir(directory); item != NULL && status == HX_STATUS_OK; item = readdir(directory)) {
    if (!is_manifest_name(item->d_name)) continue;
    status = hx_grow(&names, &capacity, count + 1, sizeof *names);
    if (status == HX_STATUS_OK && (names[count] = hx_path_join(path, item->d_name)) == NULL)
      status = HX_STATUS_OUT_OF_MEMORY;
    count += status == HX_STATUS_OK;
  }
  closedir(directory);
  if (count > 0) qsort(names, count, sizeof *names, by_bytes);
  const size_t first = finder->plugins->count;
  for (size_t i = 0; i < count; ++i) {
    if (status == HX_STATUS_OK) status = add_candidate(finder, names[i], source);
    hx_free(names[i]);
  }
  hx_free(names);
  if (finder->plugins->count > first)
    order_by_priority(&finder->plugins->entries[first], finder->plugins->count - first);
  return status;
}

// An entry that somebody named: what is wrong with it is said.
static hx_status_t search_entry(finder_t *finder, const char *path, const char *source) {
  struct stat facts;
  HX_TRY(note_place(finder, path));
  if (stat(path, &facts) != 0) {
    warn(finder, source, "the plugin search path names %s: %s", path, strerror(errno));
    return HX_STATUS_OK;
  }
  const char *slash = strrchr(path, '/');
  if (S_ISDIR(facts.st_mode)) return search_directory(finder, path, source);
  if (is_manifest_name(slash == NULL ? path : slash + 1)) return add_candidate(finder, path, source);
  warn(finder, source, "the plugin search path names %s, which is neither a directory nor a .json file%s", path, "");
  return HX_STATUS_OK;
}

static hx_status_t search_list(finder_t *finder, const char *list, const char *source) {
  while (list != NULL && *list != '\0') {
    const size_t size = strcspn(list, ":");
    if (size > 0) {  // an empty element is nothing, never the working directory
      char path[PATH_MAX];
      snprintf(path, sizeof path, "%.*s", (int)(size < PATH_MAX ? size : PATH_MAX - 1), list);
      HX_TRY(search_entry(finder, path, source));
    }
    list += size + (list[size] != '\0');
  }
  return HX_STATUS_OK;
}

static hx_status_t search_default(finder_t *finder, const char *base, size_t size, const char *below) {
  char path[PATH_MAX];
  if (size == 0 || base[0] != '/') return HX_STATUS_OK;  // relative ones are invalid by the XDG rules
  const int length = snprintf(path, sizeof path, "%.*s%s", (int)size, base, below);
  if (length < 0 || (size_t)length >= sizeof path) return HX_STATUS_OK;
  HX_TRY(note_place(finder, path));
  return search_directory(finder, path, NULL);
}

static hx_status_t search_defaults(finder_t *finder, const char *list, const char *below) {
  while (*list != '\0') {
    const size_t size = strcspn(list, ":");
    HX_TRY(search_default(finder, list, size, below));
    list += size + (list[size] != '\0');
  }
  return HX_STATUS_OK;
}

static hx_status_t search_home(finder_t *finder, const char *name, const char *below_home) {
  static const char below[] = "/heliox/plugins.d";
  const char *value = variable(finder, name), *home = variable(finder, "HOME");
  char path[PATH_MAX];
  if (value == NULL && home != NULL) {
    const int length = snprintf(path, sizeof path, "%s%s", home, below_home);
    if (length > 0 && (size_t)length < sizeof path) value = path;
  }
  return value == NULL ? HX_STATUS_OK : search_default(finder, value, strlen(value), below);
}

// lib/heliox/plugins beside the library, or of the program that the library is part of.
static hx_status_t search_installation(finder_t *finder) {
  Dl_info self;
  char path[PATH_MAX + 32];
  char *file =
      dladdr((const void *)(uintptr_t)&hx_plugins_discover, &self) != 0 ? realpath(self.dli_fname, NULL) : NULL;
  char *slash = file == NULL ? NULL : strrchr(file, '/');
  if (slash != NULL && strncmp(slash, "/libheliox.so", 13) == 0) {
    snprintf(path, sizeof path, "%.*s/heliox/plugins", (int)(slash - file), file);
  } else {
    free(file);
    file = realpath("/proc/self/exe", NULL);
    slash = file == NULL ? NULL : strrchr(file, '/');
    if (slash != NULL) snprintf(path, sizeof path, "%.*s/../lib/heliox/plugins", (int)(slash - file), file);
  }
  free(file);
  if (slash == NULL) return HX_STATUS_OK;
  char *resolved = realpath(path, NULL);
  const char *place = resolved != NULL ? resolved : path;
  const hx_status_t status = search_default(finder, place, strlen(place), "");
  free(resolved);
  return status;
}

static hx_status_t search_all(finder_t *finder, const hx_plugins_options_t *options) {
  static const char below[] = "/heliox/plugins.d";
  const char *const configs = variable(finder, "XDG_CONFIG_DIRS"), *const data = variable(finder, "XDG_DATA_DIRS");
  const bool given = options->path != NULL;
  HX_TRY(search_list(finder, given ? options->path : variable(finder, "HELIOX_PLUGIN_PATH"),
                     given ? "plugin path" : "HELIOX_PLUGIN_PATH"));
  if (options->only_path) return HX_STATUS_OK;
  HX_TRY(search_home(finder, "XDG_CONFIG_HOME", "/.config"));
  HX_TRY(search_defaults(finder, configs != NULL ? configs : "/etc/xdg", below));
  HX_TRY(search_home(finder, "XDG_DATA_HOME", "/.local/share"));
  HX_TRY(search_defaults(finder, data != NULL ? data : "/usr/local/share:/usr/share", below));
  return search_installation(finder);
}

// The element of a list of names and globs that a plugin matches.
static bool find_disabled(const char *list, const hx_manifest_t *manifest, char element[256]) {
  while (list != NULL && *list != '\0') {
    const size_t size = strcspn(list, ",:; ");
    if (size > 0 && size < 256) {
      memcpy(element, list, size);
      element[size] = '\0';
      if (fnmatch(element, manifest->name, 0) == 0 || fnmatch(element, manifest->id, 0) == 0) return true;
    }
    list += size + (list[size] != '\0');
  }
  return false;
}

// An earlier candidate that is the very same file.
static const hx_plugin_entry_t *find_same_file(const hx_plugins_t *plugins, size_t index) {
  const hx_candidate_t *candidate = &plugins->entries[index].candidate;
  for (size_t i = 0; candidate->inode != 0 && i < index; ++i) {
    const hx_candidate_t *other = &plugins->entries[i].candidate;
    if (other->inode == candidate->inode && other->device == candidate->device) return &plugins->entries[i];
  }
  return NULL;
}

static bool shadow(hx_plugin_entry_t *loser, const hx_plugin_entry_t *winner, const char *rule) {
  return hx_plugin_entry_end(loser, HX_PLUGIN_SHADOWED, HX_GATE_DISCOVER, HX_CODE_SHADOWED, winner->candidate.path,
                             loser->candidate.path, "shadowed by %s (%s): %s", winner->record.id,
                             winner->candidate.path, rule);
}

static hx_status_t judge(finder_t *finder, size_t index, const char *disabled) {
  hx_plugin_entry_t *entry = &finder->plugins->entries[index];
  const hx_manifest_t *manifest = entry->candidate.manifest;
  const hx_plugin_entry_t *same = find_same_file(finder->plugins, index);
  char element[256];
  if (same != NULL) {
    const bool done = hx_plugin_entry_conclude(entry) && shadow(entry, same, "the same manifest file");
    return done ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
  }
  if (manifest != NULL && manifest->valid && find_disabled(disabled, manifest, element)) {
    const bool done = hx_plugin_entry_conclude(entry) &&
                      hx_plugin_entry_end(entry, HX_PLUGIN_DISABLED, HX_GATE_DISCOVER, HX_CODE_DISABLED, "", element,
                                          "HELIOX_PLUGINS_DISABLE has \"%s\"", element);
    return done ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
  }
  HX_TRY(hx_candidate_examine(&entry->candidate, &finder->policy, false, finder->report));
  return hx_plugin_entry_conclude(entry) ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
}

// Why an earlier usable plugin leaves no room for a later one, or NULL.
static const char *shadow_rule(const hx_plugin_entry_t *winner, const hx_plugin_entry_t *loser) {
  if (strcmp(winner->candidate.digest, loser->candidate.digest) == 0) return "the same library bytes";
  if (strcmp(winner->record.id, loser->record.id) == 0) return "the same id, found first";
  if (strcmp(winner->record.name, loser->record.name) == 0) return "the same short name, found first";
  return NULL;
}

static hx_status_t settle(hx_plugins_t *plugins) {
  for (size_t i = 0; i < plugins->count; ++i) {
    for (size_t j = 0; j < plugins->count && plugins->entries[i].record.state == HX_PLUGIN_USABLE; ++j) {
      hx_plugin_entry_t *loser = &plugins->entries[i], *winner = &plugins->entries[j];
      if (i == j || winner->record.state != HX_PLUGIN_USABLE) continue;
      const char *rule = j < i ? shadow_rule(winner, loser) : NULL;
      if (rule == NULL && strcmp(winner->record.id, loser->record.id) != 0 &&
          hx_json_list_has(winner->candidate.manifest->replaces, loser->record.id)) {
        rule = "its manifest replaces this id";
      }
      if (rule != NULL && !shadow(loser, winner, rule)) return HX_STATUS_OUT_OF_MEMORY;
    }
  }
  return HX_STATUS_OK;
}

// Operations of a newer catalogue are not used; that is worth a line, not a refusal.
static void warn_unknown_operations(finder_t *finder) {
  for (size_t i = 0; i < finder->plugins->count; ++i) {
    const hx_plugin_entry_t *entry = &finder->plugins->entries[i];
    const hx_manifest_t *manifest = entry->candidate.manifest;
    for (size_t j = 0; entry->record.state == HX_PLUGIN_USABLE && j < manifest->operation_count; ++j) {
      const hx_manifest_operation_t *operation = &manifest->operations[j];
      const hx_op_id_t id = hx_op_find(hx_str(operation->type));
      if (strcmp(operation->type, "fusion.region") == 0 ||
          (id != HX_OP_UNKNOWN && hx_op_info(id)->signature == operation->signature)) {
        continue;
      }
      char text[256];
      snprintf(text, sizeof text, "%s: operation %s of signature %u is not in this catalogue and is left out",
               manifest->id, operation->type, operation->signature);
      hx_report_warn_once(finder->report, HX_CODE_UNKNOWN_OPERATION, entry->candidate.path, text);
    }
  }
}

// What a lockfile promises and this machine does not have is worth a line; asking for it is the error.
static void warn_missing(finder_t *finder) {
  const hx_lock_t *lock = finder->policy.lock;
  for (size_t i = 0; lock != NULL && i < lock->count; ++i) {
    bool found = false;
    for (size_t j = 0; j < finder->plugins->count && !found; ++j)
      found = strcmp(finder->plugins->entries[j].record.id, lock->entries[i].id) == 0;
    if (found) continue;
    char text[512];
    snprintf(text, sizeof text, "%s %s is in the lockfile and not found here", lock->entries[i].id,
             lock->entries[i].version);
    hx_report_warn_once(finder->report, HX_CODE_LOCK, lock->source, text);
  }
}

static void warn_privileged(finder_t *finder) {
  for (size_t i = 0; i < HX_COUNT_OF(variables); ++i) {
    if (getenv(variables[i]) == NULL) continue;
    char text[128];
    snprintf(text, sizeof text, "%s is ignored in a privileged process", variables[i]);
    hx_report_warn_once(finder->report, HX_CODE_PRIVILEGED, variables[i], text);
  }
}

hx_status_t hx_plugins_discover(const hx_plugins_options_t *options, hx_plugins_t **out, hx_report_t *report) {
  const hx_plugins_options_t defaults = {0};
  if (out == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plugins_discover: out is NULL");
  if (options == NULL) options = &defaults;
  const bool privileged = hx_process_privileged();
  finder_t finder = {.plugins = hx_zalloc(1, sizeof *finder.plugins),
                     .report = report,
                     .variables = !privileged && !options->ignore_environment};
  if (finder.plugins == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "plugin search: out of memory");
  hx_arena_init(&finder.plugins->arena);
  if (privileged && !options->ignore_environment) warn_privileged(&finder);
  hx_status_t status = hx_policy_init(&finder.policy, options, false, report);
  if (status != HX_STATUS_OK) {
    hx_plugins_release(finder.plugins);
    return status;
  }
  status = search_all(&finder, options);
  const char *disabled = variable(&finder, "HELIOX_PLUGINS_DISABLE");
  for (size_t i = 0; status == HX_STATUS_OK && i < finder.plugins->count; ++i) status = judge(&finder, i, disabled);
  if (status == HX_STATUS_OK) status = settle(finder.plugins);
  if (status == HX_STATUS_OK) warn_missing(&finder);
  hx_policy_deinit(&finder.policy);
  if (status != HX_STATUS_OK) {
    hx_plugins_release(finder.plugins);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "plugin search: out of memory");
  }
  warn_unknown_operations(&finder);
  for (size_t i = 0; i < finder.plugins->count; ++i) {
    const hx_plugin_record_t *record = &finder.plugins->entries[i].record;
    if (record->state == HX_PLUGIN_REFUSED)
      hx_log(2, "plugins", "refused %s (%s): %s: %s", record->id, record->manifest, hx_code_info(record->code)->word,
             record->text);
  }
  *out = finder.plugins;
  return HX_STATUS_OK;
}
