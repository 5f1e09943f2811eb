// SPDX-License-Identifier: Apache-2.0
// The notes of a plugin's library, their comparison with the manifest, and the choice of an ABI version.
#ifndef HELIOX_CORE_PLUGIN_NOTE_H
#define HELIOX_CORE_PLUGIN_NOTE_H

#include "core/plugin/elf.h"
#include "core/plugin/manifest.h"

#define HX_NOTE_LAYOUTS_MAX 16

typedef struct hx_note_layout {
  uint32_t minor;
  const char *hash;  // hexadecimal
  hx_str_t text;     // data == NULL: no note describes it
} hx_note_layout_t;

// Texts live in the arena given to hx_note_read.
typedef struct hx_note {
  const char *id, *version, *abi_min, *abi_max, *operations;
  uint32_t major, minor_min, minor_max;
  hx_note_layout_t layouts[HX_NOTE_LAYOUTS_MAX];
  size_t layout_count;
} hx_note_t;

// Finds and parses both kinds of notes; gate note: failures are note and abi-field.
bool hx_note_read(const hx_elf_t *elf, hx_arena_t *arena, hx_note_t *out, hx_gates_t *gates);
// Gate note: every fact that manifest and note both state, and the manifest's libc_min against the library's needs.
void hx_note_compare(const hx_note_t *note, const hx_elf_t *elf, const hx_manifest_t *manifest, hx_gates_t *gates);
// Gate negotiate: the highest common minor with equal layouts; failures are abi-range and layout-hash, which names the
// first difference where the note describes the layout.
bool hx_note_negotiate(const hx_note_t *note, hx_gates_t *gates, uint32_t *out_minor);
// "MAJOR.MINOR" in decimal.
bool hx_abi_parse(const char *text, uint32_t *major, uint32_t *minor);

#endif
