/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF note of a plugin: what the host reads from the file before any of its code runs.
 *
 * Write this once in one source file of the plugin:
 *
 *   #include "heliox/plugin_note.h"
 *   #include "heliox_plugin_facts.h"   // made from the manifest by heliox_add_plugin()
 *   HELIOX_PLUGIN_NOTE(HELIOX_PLUGIN_ID, HELIOX_PLUGIN_VERSION, HELIOX_PLUGIN_OPERATIONS);
 *
 * It emits two notes of owner "heliox" in section .note.heliox, allocated and aligned to 4:
 *   type 1  text, key=value lines: id, version, abi_min, abi_max, layout.MINOR, operations
 *   type 2  "MINOR\n" and the layout text of that minor, one note for each minor from 0 to this header's
 * C99 and C++. The arguments are string literals, or macros that stand for one literal each. They are written by the
 * assembler, since no C initialiser has the exact size in both languages and sanitizers pad C objects. */
#ifndef HELIOX_PLUGIN_NOTE_H
#define HELIOX_PLUGIN_NOTE_H

#include "heliox/plugin.h"
#include "heliox/plugin_layout.h"

/* Range of ABI versions that the plugin speaks: all of this header's unless the plugin says otherwise before. One that
 * cannot work without what came with a later minor raises the lower end; its hx_plugin.minor_min says the same. */
#ifndef HELIOX_PLUGIN_ABI_MIN
#define HELIOX_PLUGIN_ABI_MIN HX_LAYOUT_ABI_MIN_TEXT
#endif
#ifndef HELIOX_PLUGIN_ABI_MAX
/* See HELIOX_PLUGIN_ABI_MIN. */
#define HELIOX_PLUGIN_ABI_MAX HX_LAYOUT_ABI_TEXT
#endif

/* A literal as the assembler's text. */
#define HELIOX_NOTE_TEXT(literal_) "\n\t.ascii " #literal_
/* A number as the assembler's text. */
#define HELIOX_NOTE_NUMBER(number_) #number_
/* Where notes go. */
#define HELIOX_NOTE_SECTION "\t.pushsection .note.heliox,\"a\",%note\n\t.balign 4"

/* The size of the second note is known beforehand: its lines come from one assembler statement each, without padding
 * between them, since a string literal is limited to 4095 bytes. */
#define HELIOX_NOTE_PIECE(literal_) \
  __asm__("\t.pushsection .note.heliox,\"a\",%note" HELIOX_NOTE_TEXT(literal_) "\n\t.popsection\n");
/* The layout of a minor, line by line. */
#define HELIOX_NOTE_LAYOUT(minor_, size_, lines_)                                                           \
  __asm__(HELIOX_NOTE_SECTION "\n\t.long 7, " HELIOX_NOTE_NUMBER(                                           \
      size_) ", 2"                                                                                          \
             "\n\t.ascii \"heliox\\0\\0\"" HELIOX_NOTE_TEXT(minor_) "\n\t.ascii \"\\n\"\n\t.popsection\n"); \
  lines_(HELIOX_NOTE_PIECE) __asm__("\t.pushsection .note.heliox,\"a\",%note\n\t.balign 4\n\t.popsection\n");

/* What the loader compares with the manifest. */
#define HELIOX_NOTE_FACTS(id_, version_, min_, max_, minor_, hash_, operations_) \
  __asm__(HELIOX_NOTE_SECTION                                                                                      \
          "\n\t.long 7, 9f - 8f, 1\n\t.ascii \"heliox\\0\\0\""                                                     \
          "\n8:\t.ascii \"id=\"" HELIOX_NOTE_TEXT(id_) "\n\t.ascii \"\\nversion=\"" HELIOX_NOTE_TEXT(version_)     \
          "\n\t.ascii \"\\nabi_min=\"" HELIOX_NOTE_TEXT(min_) "\n\t.ascii \"\\nabi_max=\"" HELIOX_NOTE_TEXT(max_)  \
          "\n\t.ascii \"\\nlayout.\"" HELIOX_NOTE_TEXT(minor_) "\n\t.ascii \"=\"" HELIOX_NOTE_TEXT(hash_)          \
          "\n\t.ascii \"\\noperations=\"" HELIOX_NOTE_TEXT(operations_)                                            \
          "\n\t.ascii \"\\n\"" HX_LAYOUT_OLDER_FACTS "\n9:\t.balign 4\n\t.popsection\n")

/* Expands its arguments before the assembler text is made of them. */
#define HELIOX_PLUGIN_NOTE(id_, version_, operations_)                                                 \
  HX_LAYOUT_EACH_OLDER(HELIOX_NOTE_LAYOUT)                                                             \
  HELIOX_NOTE_LAYOUT(HX_LAYOUT_MINOR_TEXT, HX_LAYOUT_NOTE_SIZE, HX_LAYOUT_LINES)                       \
  HELIOX_NOTE_FACTS(id_, version_, HELIOX_PLUGIN_ABI_MIN, HELIOX_PLUGIN_ABI_MAX, HX_LAYOUT_MINOR_TEXT, \
                    HX_LAYOUT_HASH_HEX, operations_)

#endif
