// SPDX-License-Identifier: Apache-2.0
// Libraries: the ELF reader, the notes, and every gate that looks at bytes alone.
#include <stdint.h>
#include <string.h>

#include "core/plugin/inspect.h"
#include "core/plugin/note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hx_gates_t gates;
  hx_gates_init(&gates);
  hx_elf_t elf;
  if (hx_inspect_format(data, size, "the library", &gates, &elf)) {
    static const hx_manifest_t nothing = {
        .id = "a.b", .version = "1.0.0", .abi_min = "1.0", .abi_max = "1.0", .libc_min = "2.2"};
    char text[64];
    hx_note_t note;
    uint32_t minor;
    hx_inspect_policy(&elf, "the library", &gates);
    hx_inspect_exports(&elf, &gates);
    hx_inspect_libc_min(&elf, text);
    hx_inspect_sanitizers(&elf, text);
    hx_elf_need_t need = {0};
    while (hx_elf_next_need(&elf, &need)) {
      (void)hx_elf_defines_version(&elf, need.version);
      (void)hx_elf_version_name(&elf, need.index);
    }
    if (hx_note_read(&elf, &gates.arena, &note, &gates)) {
      hx_note_compare(&note, &elf, &nothing, &gates);
      (void)hx_note_negotiate(&note, &gates, &minor);
    }
  } else if (hx_gates_first(&gates) == NULL && !gates.exhausted) {
    __builtin_trap();
  }
  hx_gates_deinit(&gates);
  return 0;
}
