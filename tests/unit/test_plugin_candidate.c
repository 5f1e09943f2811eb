// SPDX-License-Identifier: Apache-2.0
// Bad candidates: each is refused by the right gate, by the loader and by a full check alike, before any of it runs.
#include <elf.h>

#include "tests/unit/plugin_fixture.h"

#include "core/plugin/elf.h"
#include "core/plugin/host.h"
#include "heliox/plugin_layout.h"

static void candidate_of_the_sdk_passes_every_gate(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  assert_usable(place, "good");
  hx_plugin_check_t *check = NULL;
  const hx_gate_result_t *results;
  assert_int_equal(hx_plugin_check(in_place(place, "good.json"), &check, NULL), HX_STATUS_OK);
  const size_t count = hx_plugin_check_results(check, &results);
  static const hx_gate_t gates[] = {HX_GATE_DISCOVER, HX_GATE_FILE_SAFETY, HX_GATE_PARSE,
                                    HX_GATE_SCHEMA,   HX_GATE_HOST_MATCH,  HX_GATE_DIGEST,
                                    HX_GATE_ELF,      HX_GATE_NOTE,        HX_GATE_NEGOTIATE};
  assert_int_equal(count, HX_COUNT_OF(gates));
  for (size_t i = 0; i < count; ++i) {
    assert_int_equal(results[i].gate, gates[i]);
    assert_int_equal(results[i].code, HX_CODE_NONE);
  }
  hx_plugin_check_release(check);
}

static void check_lists_all_failures_at_once(void **state) {
  place_t *place = *state;
  copy_library(place, "exports", "bad");
  describe_by_hand(place, "bad");
  json_t *root = read_json(place, "bad");
  json_object_set_new(json_object_get(root, "target"), "os", json_string("plan9"));
  json_object_set_new(root, "version", json_string("9.9.9"));
  write_json(place, "bad", root);
  json_decref(root);
  chmod(in_place(place, "bad.json"), 0666);
  hx_plugin_check_t *check = NULL;
  const hx_gate_result_t *results;
  assert_int_equal(hx_plugin_check(in_place(place, "bad.json"), &check, NULL), HX_STATUS_OK);
  const size_t count = hx_plugin_check_results(check, &results);
  bool seen[HX_CODE_COUNT] = {false};
  for (size_t i = 0; i < count; ++i) seen[results[i].code] = true;
  assert_true(seen[HX_CODE_FILE_PERMISSIONS]);
  hx_plugin_check_release(check);
  chmod(in_place(place, "bad.json"), 0644);
  assert_int_equal(hx_plugin_check(in_place(place, "bad.json"), &check, NULL), HX_STATUS_OK);
  const size_t more = hx_plugin_check_results(check, &results);
  for (size_t i = 0; i < more; ++i) seen[results[i].code] = true;
  assert_true(seen[HX_CODE_TARGET] && seen[HX_CODE_EXPORTS] && seen[HX_CODE_NOTE]);
  hx_plugin_check_release(check);
  assert_int_equal(hx_plugin_check("/nonexistent.json", &check, NULL), HX_STATUS_NOT_FOUND);
}

static void libraries_built_wrongly_are_refused(void **state) {
  place_t *place = *state;
  static const struct {
    const char *fixture;
    bool completes;
    hx_gate_t gate;
    hx_code_t code;
    const char *piece;
  } rows[] = {
      {"abi_newer", true, HX_GATE_NEGOTIATE, HX_CODE_ABI_RANGE, "plugin speaks 2.3-2.9, this host 1.0-1.2"},
      {"abi_zero", false, HX_GATE_NOTE, HX_CODE_ABI_FIELD, "0.0-0.0"},
      {"abi_max", false, HX_GATE_NOTE, HX_CODE_ABI_FIELD, "4294967295.0"},
      {"no_note", false, HX_GATE_NOTE, HX_CODE_NOTE, "is missing"},
      {"double_note", false, HX_GATE_NOTE, HX_CODE_NOTE, "more than once"},
      {"short_note", false, HX_GATE_NOTE, HX_CODE_NOTE, "ends within a line"},
      {"exports", true, HX_GATE_ELF, HX_CODE_EXPORTS, "exports fixture_extra_symbol beside"},
      {"other_name", true, HX_GATE_ELF, HX_CODE_EXPORTS,
       "does not export heliox_plugin_query; it exports other_plugin_query"},
      {"undefined", true, HX_GATE_ELF, HX_CODE_SYMBOL, "heliox_fixture_no_such_function"},
      {"sanitized", true, HX_GATE_ELF, HX_CODE_SANITIZER, "__hwasan_init is not here"},
      {"exec_stack", true, HX_GATE_ELF, HX_CODE_ELF_POLICY, "executable stack"},
      {"run_path", true, HX_GATE_ELF, HX_CODE_ELF_POLICY, "its own search path"},
      {"no_delete", true, HX_GATE_ELF, HX_CODE_ELF_POLICY, "NODELETE"},
      {"dependency", true, HX_GATE_ELF, HX_CODE_DEPENDENCY, "libjansson.so.4, which is neither"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    copy_library(place, rows[i].fixture, rows[i].fixture);
    if (rows[i].completes) {
      complete_as(place, rows[i].fixture, "fixture");
    } else {
      describe_by_hand(place, rows[i].fixture);
    }
    assert_refused(place, rows[i].fixture, rows[i].gate, rows[i].code, rows[i].piece);
  }
}

// A copy of the good library with bytes changed, and a manifest that describes those bytes.
static char *good_bytes(size_t *size, hx_elf_t *elf) {
  const char *why;
  char *bytes = read_bytes(FIXTURES "good.so", size);
  assert_int_equal(hx_elf_parse(bytes, *size, elf, &why), HX_STATUS_OK);
  return bytes;
}

static void install_bytes(place_t *place, const char *as, const char *bytes, size_t size) {
  char name[64];
  snprintf(name, sizeof name, "%s.so", as);
  write_bytes(in_place(place, name), bytes, size, 0755);
  describe_by_hand(place, as);
}

static void replace_all(char *bytes, size_t size, const char *from, const char *to) {
  size_t count = 0;
  for (char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), from, strlen(from))) != NULL; ++count)
    memcpy(at, to, strlen(to));
  assert_true(count > 0);
}

static Elf64_Phdr *segment_of(char *bytes, uint32_t type, int index) {
  Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
  Elf64_Phdr *segments = (Elf64_Phdr *)(bytes + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == type && index-- == 0) return &segments[i];
  }
  fail_msg("no such segment");
  return NULL;
}

// The dynamic entry with a tag becomes another one.
static void change_dynamic(char *bytes, int64_t from, int64_t to, uint64_t value) {
  const Elf64_Phdr *segment = segment_of(bytes, PT_DYNAMIC, 0);
  for (Elf64_Dyn *entry = (Elf64_Dyn *)(bytes + segment->p_offset); entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != from) continue;
    entry->d_tag = to;
    entry->d_un.d_val = value;
    return;
  }
  fail_msg("no such entry");
}

static void libraries_with_changed_headers_are_refused(void **state) {
  place_t *place = *state;
  for (int i = 0; i < 10; ++i) {
    size_t size;
    hx_elf_t elf;
    char *bytes = good_bytes(&size, &elf);
    Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
    static const struct {
      hx_code_t code;
      const char *piece;
    } expected[] = {{HX_CODE_ELF_ARCH, "is for riscv64, this host is"},
                    {HX_CODE_ELF_ARCH, "is not a 64-bit object"},
                    {HX_CODE_ELF_ARCH, "is not little-endian"},
                    {HX_CODE_ELF_FORMAT, "is no shared object"},
                    {HX_CODE_ELF_POLICY, "does not say that its stack"},
                    {HX_CODE_ELF_POLICY, "writable and executable"},
                    {HX_CODE_ELF_POLICY, "text relocations"},
                    {HX_CODE_ELF_POLICY, "(RPATH)"},
                    {HX_CODE_ELF_FORMAT, "no dynamic section"},
                    {HX_CODE_ELF_POLICY, "filters another library"}};
    if (i == 0) header->e_machine = EM_RISCV;
    if (i == 1) header->e_ident[EI_CLASS] = ELFCLASS32;
    if (i == 2) header->e_ident[EI_DATA] = ELFDATA2MSB;
    if (i == 3) header->e_type = ET_EXEC;
    if (i == 4) segment_of(bytes, PT_GNU_STACK, 0)->p_type = PT_NULL;
    if (i == 5) segment_of(bytes, PT_LOAD, 1)->p_flags |= PF_W;
    if (i == 6) change_dynamic(bytes, DT_FLAGS, DT_TEXTREL, 0);
    if (i == 7) change_dynamic(bytes, DT_FLAGS, DT_RPATH, 1);
    if (i == 8) segment_of(bytes, PT_DYNAMIC, 0)->p_type = PT_NULL;
    if (i == 9) change_dynamic(bytes, DT_FLAGS, DT_AUXILIARY, 1);
    install_bytes(place, "changed", bytes, size);
    assert_refused(place, "changed", HX_GATE_ELF, expected[i].code, expected[i].piece);
    hx_free(bytes);
  }
}

static void libraries_with_changed_texts_are_refused(void **state) {
  place_t *place = *state;
  static const struct {
    const char *from, *to;
    hx_gate_t gate;
    hx_code_t code;
    const char *piece;
  } rows[] = {
      {"libc.so.6", "libm.so.9", HX_GATE_ELF, HX_CODE_DEPENDENCY, "needs libm.so.9, which is not on this machine"},
      {"GLIBC_2.2.5", "GLIBC_9.2.5", HX_GATE_ELF, HX_CODE_SYMBOL, "GLIBC_9.2.5 of libc.so.6"},
      {"version=1.2.3", "version=1.2.4", HX_GATE_NOTE, HX_CODE_NOTE,
       "version is \"1.2.3\" in the manifest and \"1.2.4\""},
      {"id=org.heliox.fixture", "id=org.heliox.fixturf", HX_GATE_NOTE, HX_CODE_NOTE, "id is \"org.heliox.fixture\""},
      {"operations=", "operatiens=", HX_GATE_NOTE, HX_CODE_NOTE, "too short"},
      {"\nversion=1.2.3", "\nversi\x01n=1.2.3", HX_GATE_NOTE, HX_CODE_NOTE, "no text"},
      {"layout.0=", "layout.x=", HX_GATE_NOTE, HX_CODE_NOTE, "malformed"},
      {"abi_max=1.2", "abi_max=x.2", HX_GATE_NOTE, HX_CODE_ABI_FIELD, "1.0-x.2"},
      {"abi_min=1.0", "abi_min=1.7", HX_GATE_NOTE, HX_CODE_ABI_FIELD, "1.7-1.2"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    size_t size;
    hx_elf_t elf;
    char *bytes = good_bytes(&size, &elf);
    replace_all(bytes, size, rows[i].from, rows[i].to);
    install_bytes(place, "changed", bytes, size);
    assert_refused(place, "changed", rows[i].gate, rows[i].code, rows[i].piece);
    hx_free(bytes);
  }
}

static void row_05_layouts_that_differ_name_the_field(void **state) {
  place_t *place = *state;
  size_t size;
  hx_elf_t elf;
  unsigned char hash[32];
  char hex[65];
  char *bytes = good_bytes(&size, &elf);
  static const char from[] = "hx_ring.p_count 16 4 4\n", to[] = "hx_ring.p_count 20 4 4\n";
  replace_all(bytes, size, from, to);
  install_bytes(place, "text", bytes, size);  // the text was changed, its hash was not: equal hashes decide
  assert_usable(place, "text");
  const char *text = memmem(bytes, size, "HX_ABI_MAJOR 1\nHX_ABI_MINOR 2\n", 30);
  crypto_hash_sha256(hash, (const unsigned char *)text, HX_LAYOUT_TEXT_SIZE);
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  replace_all(bytes, size, HX_LAYOUT_HASH_HEX, hex);
  write_bytes(in_place(place, "layout.so"), bytes, size, 0755);
  complete_as(place, "layout", "fixture");
  assert_refused(place, "layout", HX_GATE_NEGOTIATE, HX_CODE_LAYOUT_HASH,
                 "first at \"hx_ring.p_count 16 4 4\": the plugin has \"hx_ring.p_count 20 4 4\"");
  replace_all(bytes, size, to, from);  // the hash stays, without a text that belongs to it
  write_bytes(in_place(place, "silent.so"), bytes, size, 0755);
  complete_as(place, "silent", "fixture");
  assert_refused(place, "silent", HX_GATE_NEGOTIATE, HX_CODE_LAYOUT_HASH, "does not describe its layout");
  hx_free(bytes);
}

static void row_14_bytes_that_differ_from_the_digest_are_refused(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  size_t size;
  char *bytes = read_bytes(in_place(place, "good.so"), &size);
  bytes[size / 2] ^= 1;
  write_bytes(in_place(place, "good.so"), bytes, size, 0755);
  assert_refused(place, "good", HX_GATE_DIGEST, HX_CODE_DIGEST, "has sha256");
  bytes[size / 2] ^= 1;
  write_bytes(in_place(place, "good.so"), bytes, size - 1, 0755);
  assert_refused(place, "good", HX_GATE_DIGEST, HX_CODE_DIGEST, "bytes, the manifest describes");
  write_bytes(in_place(place, "good.so"), bytes, size, 0755);
  assert_usable(place, "good");
  install_bytes(place, "cut", bytes, 5000);  // within the code, whatever the build
  assert_refused(place, "cut", HX_GATE_ELF, HX_CODE_ELF_FORMAT, "ends within");
  install_bytes(place, "text", "#!/bin/sh\n", 10);
  assert_refused(place, "text", HX_GATE_ELF, HX_CODE_ELF_FORMAT, "has no ELF magic");
  hx_free(bytes);
}

static void set_value(place_t *place, const char *as, const char *object, const char *key, json_t *value) {
  json_t *root = read_json(place, as);
  json_object_set_new(object == NULL ? root : json_object_get(root, object), key, value);
  write_json(place, as, root);
  json_decref(root);
}

static void row_12_targets_of_other_hosts_are_refused(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  set_value(place, "good", "target", "arch", json_string("riscv64"));
  assert_refused(place, "good", HX_GATE_HOST_MATCH, HX_CODE_TARGET, "target.arch is \"riscv64\"");
  complete_as(place, "good", "fixture");
  set_value(place, "good", "target", "os", json_string("plan9"));
  assert_refused(place, "good", HX_GATE_HOST_MATCH, HX_CODE_TARGET, "target.os is \"plan9\"");
  complete_as(place, "good", "fixture");
  set_value(place, "good", "target", "libc", json_string("musl"));
  assert_refused(place, "good", HX_GATE_HOST_MATCH, HX_CODE_TARGET, "target.libc is \"musl\"");
  complete_as(place, "good", "fixture");
  set_value(place, "good", "target", "libc_min", json_string("2.99"));
  assert_refused(place, "good", HX_GATE_HOST_MATCH, HX_CODE_TARGET, "target.libc_min is \"2.99\"");
  complete_as(place, "good", "fixture");
  set_value(place, "good", "target", "isa", json_pack("[s]", "mmx9"));
  assert_refused(place, "good", HX_GATE_HOST_MATCH, HX_CODE_ISA, "\"mmx9\" is not known");
  set_value(place, "good", "target", "isa", json_array());
  assert_usable(place, "good");
}

static void row_10_unsafe_libraries_are_refused(void **state) {
  place_t *place = *state;
  static const char *const names[] = {"../x.so", "/abs/x.so", "sub/x.so", "", ".", ".."};
  install(place, "good", "good");
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    set_value(place, "good", NULL, "library", json_string(names[i]));
    assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_LIBRARY_PATH, "must be a plain file name");
  }
  set_value(place, "good", NULL, "library", json_string("absent.so"));
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_LIBRARY_PATH, "cannot be opened: No such file");
  assert_int_equal(symlink("good.so", in_place(place, "link.so")), 0);
  set_value(place, "good", NULL, "library", json_string("link.so"));
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_LIBRARY_PATH, "is a symbolic link");
  assert_int_equal(mkfifo(in_place(place, "fifo.so"), 0755), 0);
  set_value(place, "good", NULL, "library", json_string("fifo.so"));
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "is a FIFO");
  assert_int_equal(mkdir(in_place(place, "dir.so"), 0755), 0);
  set_value(place, "good", NULL, "library", json_string("dir.so"));
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "is a directory");
  set_value(place, "good", NULL, "library", json_string("good.so"));
  assert_usable(place, "good");
}

static void row_11_files_that_others_may_change_are_refused(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  chmod(in_place(place, "good.so"), 0775);
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "writable by its group (mode 0775)");
  chmod(in_place(place, "good.so"), 0757);
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "writable by everybody (mode 0757)");
  chmod(in_place(place, "good.so"), 0755);
  chmod(in_place(place, "good.json"), 0664);
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "writable by its group (mode 0664)");
  chmod(in_place(place, "good.json"), 0644);
  chmod(place->directory, 0707);
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "writable by everybody (mode 0707)");
  chmod(place->directory, 0700);
  if (geteuid() == 0) {  // only root can give a file away
    assert_int_equal(chown(in_place(place, "good.so"), 12345, 12345), 0);
    assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "belongs to user 12345");
    assert_int_equal(chown(in_place(place, "good.so"), 0, 0), 0);
  }
  assert_usable(place, "good");
  chmod(place->directory, 0770);  // a group may be trusted: said, not refused
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_in(place->directory, report);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  assert_int_equal(hx_report_count(report), 1);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_FILE_PERMISSIONS);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "writable by its group (mode 0770)"));
  hx_report_release(report);
  hx_plugins_release(plugins);
  hx_process_override_privileged(1);
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "writable by its group (mode 0770)");
  hx_process_override_privileged(-1);
  chmod(place->directory, 0700);
  assert_int_equal(rename(in_place(place, "good.json"), in_place(place, "real")), 0);
  assert_int_equal(symlink("real", in_place(place, "good.json")), 0);
  assert_refused(place, "good", HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "is a symbolic link");
}

static void row_08_manifests_that_do_not_parse_are_refused_with_the_place(void **state) {
  place_t *place = *state;
  static const char *const texts[] = {
      "", "[]", "\xef\xbb\xbf{}", "{} {}", "{\"a\": 1, \"a\": 2}", "{\"a\"", "{\"a\":1e999}", "{\"a\": \"\\u0000\"}"};
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
    write_bytes(in_place(place, "bad.json"), texts[i], strlen(texts[i]), 0644);
    assert_refused(place, "bad", HX_GATE_PARSE, HX_CODE_MANIFEST_PARSE, "1:");
  }
  char *large = malloc(1 << 20);
  memset(large, ' ', 1 << 20);
  write_bytes(in_place(place, "bad.json"), large, 1 << 20, 0644);
  assert_refused(place, "bad", HX_GATE_PARSE, HX_CODE_MANIFEST_PARSE, "1:262145: more than 262144 bytes");
  free(large);
  write_bytes(in_place(place, "bad.json"), "{\"manifest_version\": 9}", 23, 0644);
  assert_refused(place, "bad", HX_GATE_SCHEMA, HX_CODE_MANIFEST_SCHEMA, "lacks the key");
}

int main(void) {
  if (sodium_init() < 0) return 1;
#define CASE(name_) cmocka_unit_test_setup_teardown(name_, make_place, remove_place)
  const struct CMUnitTest tests[] = {
      CASE(candidate_of_the_sdk_passes_every_gate),
      CASE(check_lists_all_failures_at_once),
      CASE(libraries_built_wrongly_are_refused),
      CASE(libraries_with_changed_headers_are_refused),
      CASE(libraries_with_changed_texts_are_refused),
      CASE(row_05_layouts_that_differ_name_the_field),
      CASE(row_14_bytes_that_differ_from_the_digest_are_refused),
      CASE(row_12_targets_of_other_hosts_are_refused),
      CASE(row_10_unsafe_libraries_are_refused),
      CASE(row_11_files_that_others_may_change_are_refused),
      CASE(row_08_manifests_that_do_not_parse_are_refused_with_the_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
