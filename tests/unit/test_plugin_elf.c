// SPDX-License-Identifier: Apache-2.0
// The ELF reader on a good library and on damaged ones.
#include "tests/unit/plugin_fixture.h"

#include "core/plugin/elf.h"
#include "core/plugin/host.h"
#include "core/plugin/inspect.h"
#include "core/plugin/note.h"

// Reads everything that a file can be asked; what it says does not matter here.
static void read_all(const char *bytes, size_t size) {
  hx_elf_t elf;
  const char *why;
  if (hx_elf_parse(bytes, size, &elf, &why) != HX_STATUS_OK) return;
  hx_elf_symbol_t symbol;
  for (uint64_t i = 0; i < elf.symbol_count; ++i) (void)hx_elf_symbol(&elf, i, &symbol);
  hx_elf_need_t need = {0};
  while (hx_elf_next_need(&elf, &need)) (void)hx_elf_defines_version(&elf, need.version);
  hx_gates_t gates;
  hx_note_t note;
  hx_gates_init(&gates);
  uint32_t minor;
  if (hx_note_read(&elf, &gates.arena, &note, &gates)) (void)hx_note_negotiate(&note, &gates, &minor);
  char text[64];
  hx_inspect_policy(&elf, "it", &gates);
  hx_inspect_exports(&elf, &gates);
  hx_inspect_libc_min(&elf, text);
  hx_inspect_sanitizers(&elf, text);
  hx_gates_deinit(&gates);
}

static void elf_reads_a_good_library(void **state) {
  (void)state;
  size_t size;
  char *bytes = read_bytes(FIXTURES "good.so", &size);
  hx_elf_t elf;
  const char *why = "";
  assert_int_equal(hx_elf_parse(bytes, size, &elf, &why), HX_STATUS_OK);
  assert_int_equal(elf.machine, hx_host_machine());
  assert_true(elf.needed_count >= 1);
  assert_null(elf.runpath);
  assert_false(elf.text_relocations);
  bool query = false, setter = false;
  for (uint64_t i = 0; i < elf.symbol_count; ++i) {
    hx_elf_symbol_t symbol;
    assert_true(hx_elf_symbol(&elf, i, &symbol));
    query |= symbol.defined && strcmp(symbol.name, "heliox_plugin_query") == 0;
    setter |= !symbol.defined && strcmp(symbol.name, "setenv") == 0;
  }
  assert_true(query && setter);
  char version[32];
  hx_inspect_libc_min(&elf, version);
  assert_memory_equal(version, "2.", 2);
  int facts = 0, layouts = 0;
  hx_elf_note_t note = {0};
  while (hx_elf_next_note(&elf, &note)) {
    if (note.owner.size != 7 || memcmp(note.owner.data, "heliox", 7) != 0) continue;
    facts += note.type == 1;
    layouts += note.type == 2;
  }
  assert_false(note.damaged);
  assert_int_equal(facts, 1);
  assert_int_equal(layouts, HX_ABI_MINOR + 1);  // one a minor
  hx_free(bytes);
}

static void elf_reads_the_system_library(void **state) {
  (void)state;
  char *path = NULL;
  size_t size;
  assert_int_equal(hx_system_library_find("libc.so.6", &path), HX_STATUS_OK);
  char *bytes = read_bytes(path, &size);
  hx_elf_t elf;
  const char *why;
  assert_int_equal(hx_elf_parse(bytes, size, &elf, &why), HX_STATUS_OK);
  assert_string_equal(elf.soname, "libc.so.6");
  assert_true(hx_elf_defines_version(&elf, "GLIBC_2.17"));
  assert_false(hx_elf_defines_version(&elf, "GLIBC_9.99"));
  hx_free(bytes);
  hx_free(path);
  path = NULL;
  assert_int_equal(hx_system_library_find("libm.so.6", &path), HX_STATUS_OK);
  hx_free(path);
  assert_int_equal(hx_system_library_find("libm.so.99", &path), HX_STATUS_NOT_FOUND);
  assert_int_equal(hx_system_library_find("../libm.so.6", &path), HX_STATUS_NOT_FOUND);
}

static void elf_refuses_every_truncation(void **state) {
  (void)state;
  size_t size;
  char *bytes = read_bytes(FIXTURES "good.so", &size);
  hx_elf_t elf;
  const char *why;
  // The last segment ends before the section headers, which nobody reads.
  size_t end = 0;
  assert_int_equal(hx_elf_parse(bytes, size, &elf, &why), HX_STATUS_OK);
  for (size_t i = 0; i < elf.segment_count; ++i) {
    const size_t this_end = (size_t)(elf.segments[i].p_offset + elf.segments[i].p_filesz);
    if (elf.segments[i].p_type == PT_LOAD && this_end > end) end = this_end;
  }
  for (size_t cut = 0; cut < size; cut += cut < 1024 || cut > end - 64 ? 1 : 61) {
    char *copy = malloc(cut + 1);  // its own block, so that a read past the end is seen
    memcpy(copy, bytes, cut);
    const hx_status_t status = hx_elf_parse(copy, cut, &elf, &why);
    assert_int_equal(status, cut < end ? HX_STATUS_CORRUPT : HX_STATUS_OK);
    read_all(copy, cut);
    free(copy);
  }
  hx_free(bytes);
}

static void elf_survives_any_flipped_bytes(void **state) {
  (void)state;
  size_t size;
  char *bytes = read_bytes(FIXTURES "good.so", &size);
  uint64_t random = 1;
  for (int round = 0; round < 3000; ++round) {
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    for (int flip = 0; flip < 1 + round % 8; ++flip) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      // Half of the flips hit headers and tables at the start.
      const size_t at = (size_t)(random >> 33) % (flip % 2 == 0 ? 0x800 : size);
      copy[at] = (char)(copy[at] ^ (1 << (random >> 20 & 7)));
    }
    read_all(copy, size);
    free(copy);
  }
  hx_free(bytes);
}

static void abi_parse_reads_decimal_pairs_alone(void **state) {
  (void)state;
  uint32_t major, minor;
  assert_true(hx_abi_parse("1.0", &major, &minor));
  assert_int_equal(major, 1);
  assert_int_equal(minor, 0);
  assert_true(hx_abi_parse("4294967295.12", &major, &minor));
  assert_int_equal(major, UINT32_MAX);
  assert_true(hx_abi_parse("9999999999.1", &major, &minor));
  assert_int_equal(major, UINT32_MAX);
  static const char *const bad[] = {"", "1", ".", "1.", ".1", "01.0", "1.00", "1.0.0", "-1.0", "1.0 ", "a.b", "1,0"};
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) assert_false(hx_abi_parse(bad[i], &major, &minor));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elf_reads_a_good_library),
      cmocka_unit_test(elf_reads_the_system_library),
      cmocka_unit_test(elf_refuses_every_truncation),
      cmocka_unit_test(elf_survives_any_flipped_bytes),
      cmocka_unit_test(abi_parse_reads_decimal_pairs_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
