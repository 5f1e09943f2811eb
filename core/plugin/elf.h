// SPDX-License-Identifier: Apache-2.0
// Reads 64-bit ELF shared objects from bytes, every access checked. Sees what the dynamic linker sees: program headers
// and the dynamic section; section headers are not used.
#ifndef HELIOX_CORE_PLUGIN_ELF_H
#define HELIOX_CORE_PLUGIN_ELF_H

#include <elf.h>

#include "core/base/memory.h"

#define HX_ELF_NEEDED_MAX 64
#define HX_ELF_SEGMENTS_MAX 64
#define HX_ELF_SYMBOLS_MAX (1u << 20)

typedef struct hx_elf {
  const uint8_t *bytes;
  size_t size;
  uint16_t machine;
  Elf64_Phdr segments[HX_ELF_SEGMENTS_MAX];
  size_t segment_count;
  // From the dynamic section. Texts point into the bytes.
  const char *needed[HX_ELF_NEEDED_MAX];
  size_t needed_count;
  const char *soname, *rpath, *runpath, *filter;  // NULL where absent; filter: DT_FILTER or DT_AUXILIARY
  bool text_relocations, no_delete;
  uint64_t symbols_at, symbol_count;  // file offset and entries of the dynamic symbol table
  uint64_t strings_at, strings_size;
  uint64_t versions_at;              // of the version index of each symbol; 0: none
  uint64_t need_at, need_count;      // version needs
  uint64_t define_at, define_count;  // version definitions
} hx_elf_t;

typedef struct hx_elf_symbol {
  const char *name;
  uint8_t binding, type, visibility;
  bool defined;
  uint16_t version;  // index, 1 where there are no versions; the hidden bit removed
} hx_elf_symbol_t;

// HX_STATUS_OK, or HX_STATUS_CORRUPT with a static sentence part in *why ("ends within the program headers").
// HX_STATUS_UNSUPPORTED: an ELF file, but of another class, byte order or type; *why says which.
// A file of another machine parses: compare `machine`.
hx_status_t hx_elf_parse(const void *bytes, size_t size, hx_elf_t *out, const char **why);
// false: the entry points outside the file.
bool hx_elf_symbol(const hx_elf_t *elf, uint64_t index, hx_elf_symbol_t *out);

// Walks version needs: *state starts at {0}. False at the end or where the chain leaves the file (then *damaged).
typedef struct hx_elf_need {
  uint64_t need, entry;  // position
  uint64_t seen;
  const char *file, *version;
  uint16_t index;
  bool weak;
  bool damaged;
} hx_elf_need_t;
bool hx_elf_next_need(const hx_elf_t *elf, hx_elf_need_t *state);
// Whether a version of that name is defined.
bool hx_elf_defines_version(const hx_elf_t *elf, const char *version);
// Name of a defined version by index, or NULL.
const char *hx_elf_version_name(const hx_elf_t *elf, uint16_t index);

// One note of a PT_NOTE segment. *state starts at {0}; false at the end, *damaged where a note leaves its segment.
typedef struct hx_elf_note {
  size_t segment;
  uint64_t offset;
  uint32_t type;
  hx_str_t owner, text;
  bool damaged;
} hx_elf_note_t;
bool hx_elf_next_note(const hx_elf_t *elf, hx_elf_note_t *state);

// "x86_64" for EM_X86_64 and so on; "machine N" is not made: NULL for machines without a name here.
const char *hx_elf_machine_name(uint16_t machine);

#endif
