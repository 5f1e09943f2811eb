// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/elf.h"

#include <string.h>

// Everything is copied out with memcpy: a hostile file need not align anything.
static bool read_at(const hx_elf_t *elf, uint64_t offset, void *out, size_t size) {
  if (offset > elf->size || elf->size - offset < size) return false;
  memcpy(out, elf->bytes + offset, size);
  return true;
}

// File offset of a virtual address that has file bytes behind it, with the bytes left in its segment.
static bool offset_of(const hx_elf_t *elf, uint64_t address, uint64_t *offset, uint64_t *left) {
  for (size_t i = 0; i < elf->segment_count; ++i) {
    const Elf64_Phdr *segment = &elf->segments[i];
    if (segment->p_type != PT_LOAD || address < segment->p_vaddr || address - segment->p_vaddr >= segment->p_filesz)
      continue;
    const uint64_t inside = address - segment->p_vaddr;
    *offset = segment->p_offset + inside;  // p_offset + p_filesz was checked against the file
    *left = segment->p_filesz - inside;
    return true;
  }
  return false;
}

// A NUL-terminated string of the dynamic string table, or NULL.
static const char *string_at(const hx_elf_t *elf, uint64_t index) {
  if (index >= elf->strings_size) return NULL;
  const char *text = (const char *)elf->bytes + elf->strings_at + index;
  return memchr(text, '\0', elf->strings_size - index) != NULL ? text : NULL;
}

static hx_status_t corrupt(const char **why, const char *text) {
  *why = text;
  return HX_STATUS_CORRUPT;
}

static hx_status_t other_kind(const char **why, const char *text) {
  *why = text;
  return HX_STATUS_UNSUPPORTED;
}

static hx_status_t read_headers(hx_elf_t *elf, const char **why) {
  Elf64_Ehdr header;
  if (elf->size < SELFMAG || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0) return corrupt(why, "has no ELF magic");
  if (elf->size < sizeof header) return corrupt(why, "ends within the ELF header");
  memcpy(&header, elf->bytes, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return other_kind(why, "is not a 64-bit object");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return other_kind(why, "is not little-endian");
  elf->machine = header.e_machine;
  if (header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT)
    return corrupt(why, "has an unknown ELF version");
  if (header.e_type != ET_DYN) return corrupt(why, "is no shared object");
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return corrupt(why, "has program headers of another size");
  if (header.e_phnum == 0 || header.e_phnum > HX_ELF_SEGMENTS_MAX)
    return corrupt(why, "has no program headers, or more than 64");
  elf->segment_count = header.e_phnum;
  if (!read_at(elf, header.e_phoff, elf->segments, elf->segment_count * sizeof(Elf64_Phdr)))
    return corrupt(why, "ends within the program headers");
  for (size_t i = 0; i < elf->segment_count; ++i) {
    const Elf64_Phdr *segment = &elf->segments[i];
    if (segment->p_type != PT_LOAD && segment->p_type != PT_DYNAMIC && segment->p_type != PT_NOTE) continue;
    if (segment->p_offset > elf->size || segment->p_filesz > elf->size - segment->p_offset)
      return corrupt(why, "ends within a segment");
    if (segment->p_type == PT_LOAD && segment->p_memsz < segment->p_filesz)
      return corrupt(why, "has a segment larger in the file than in memory");
  }
  return HX_STATUS_OK;
}

typedef struct dynamic {
  uint64_t needed[HX_ELF_NEEDED_MAX];
  uint64_t soname, rpath, runpath, filter;  // index + 1 into the strings
  uint64_t strings, strings_size, symbols, hash, gnu_hash, versions, need, define;
} dynamic_t;

static bool note_entry(hx_elf_t *elf, dynamic_t *dynamic, const Elf64_Dyn *entry) {
  const uint64_t value = entry->d_un.d_val;
  switch (entry->d_tag) {
    case DT_NEEDED:
      if (elf->needed_count == HX_ELF_NEEDED_MAX) return false;
      dynamic->needed[elf->needed_count++] = value;
      break;
    case DT_SONAME:
      dynamic->soname = value + 1;
      break;
    case DT_RPATH:
      dynamic->rpath = value + 1;
      break;
    case DT_RUNPATH:
      dynamic->runpath = value + 1;
      break;
    case DT_FILTER:
    case DT_AUXILIARY:
      dynamic->filter = value + 1;
      break;
    case DT_STRTAB:
      dynamic->strings = value;
      break;
    case DT_STRSZ:
      dynamic->strings_size = value;
      break;
    case DT_SYMTAB:
      dynamic->symbols = value;
      break;
    case DT_HASH:
      dynamic->hash = value;
      break;
    case DT_GNU_HASH:
      dynamic->gnu_hash = value;
      break;
    case DT_VERSYM:
      dynamic->versions = value;
      break;
    case DT_VERNEED:
      dynamic->need = value;
      break;
    case DT_VERNEEDNUM:
      elf->need_count = value;
      break;
    case DT_VERDEF:
      dynamic->define = value;
      break;
    case DT_VERDEFNUM:
      elf->define_count = value;
      break;
    case DT_TEXTREL:
      elf->text_relocations = true;
      break;
    case DT_FLAGS:
      elf->text_relocations |= (value & DF_TEXTREL) != 0;
      break;
    case DT_FLAGS_1:
      elf->no_delete = (value & DF_1_NODELETE) != 0;
      break;
    default:
      break;
  }
  return true;
}

static hx_status_t read_dynamic(hx_elf_t *elf, dynamic_t *dynamic, const char **why) {
  const Elf64_Phdr *segment = NULL;
  for (size_t i = 0; i < elf->segment_count; ++i) {
    if (elf->segments[i].p_type != PT_DYNAMIC) continue;
    if (segment != NULL) return corrupt(why, "has two dynamic sections");
    segment = &elf->segments[i];
  }
  if (segment == NULL) return corrupt(why, "has no dynamic section");
  for (uint64_t at = 0; segment->p_filesz - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    memcpy(&entry, elf->bytes + segment->p_offset + at, sizeof entry);
    if (entry.d_tag == DT_NULL) return HX_STATUS_OK;
    if (!note_entry(elf, dynamic, &entry)) return corrupt(why, "needs more than 64 libraries");
  }
  return corrupt(why, "has a dynamic section without end");
}

static bool read_string(const hx_elf_t *elf, uint64_t index_plus_one, const char **out) {
  if (index_plus_one == 0) return true;
  *out = string_at(elf, index_plus_one - 1);
  return *out != NULL;
}

// Entries of the symbol table as the GNU hash table reaches them: the highest chain, walked to its end.
static bool count_gnu_hash(const hx_elf_t *elf, uint64_t address, uint64_t *out) {
  uint64_t at, left;
  struct {
    uint32_t buckets, first, bloom, shift;
  } head;
  if (!offset_of(elf, address, &at, &left) || left < sizeof head || !read_at(elf, at, &head, sizeof head)) return false;
  const uint64_t buckets_at = sizeof head + (uint64_t)head.bloom * 8;
  const uint64_t chains_at = buckets_at + (uint64_t)head.buckets * 4;
  if (chains_at > left) return false;
  uint32_t last = 0;
  for (uint64_t i = 0; i < head.buckets; ++i) {
    uint32_t bucket;
    memcpy(&bucket, elf->bytes + at + buckets_at + i * 4, sizeof bucket);
    if (bucket > last) last = bucket;
  }
  if (last < head.first) {  // nothing is hashed
    *out = head.first;
    return true;
  }
  for (uint64_t i = last - head.first;; ++i) {
    uint32_t hash;
    if (chains_at + i * 4 + 4 > left) return false;
    memcpy(&hash, elf->bytes + at + chains_at + i * 4, sizeof hash);
    if ((hash & 1) != 0) {
      *out = head.first + i + 1;
      return true;
    }
  }
}

static hx_status_t read_symbols(hx_elf_t *elf, const dynamic_t *dynamic, const char **why) {
  uint64_t left, count = 0;
  if (dynamic->symbols == 0 || !offset_of(elf, dynamic->symbols, &elf->symbols_at, &left))
    return corrupt(why, "has no dynamic symbol table");
  if (dynamic->gnu_hash != 0 && !count_gnu_hash(elf, dynamic->gnu_hash, &elf->symbol_count))
    return corrupt(why, "has a damaged GNU hash table");
  if (dynamic->hash != 0) {
    uint64_t at, room;
    uint32_t chains;
    if (!offset_of(elf, dynamic->hash, &at, &room) || room < 8 || !read_at(elf, at + 4, &chains, sizeof chains))
      return corrupt(why, "has a damaged hash table");
    count = chains;
  }
  if (count > elf->symbol_count) elf->symbol_count = count;
  if (elf->symbol_count > HX_ELF_SYMBOLS_MAX) return corrupt(why, "has more than a million dynamic symbols");
  if (elf->symbol_count * sizeof(Elf64_Sym) > left) return corrupt(why, "ends within the dynamic symbol table");
  if (dynamic->versions != 0) {
    if (!offset_of(elf, dynamic->versions, &elf->versions_at, &left) || elf->symbol_count * 2 > left)
      return corrupt(why, "ends within the symbol versions");
  }
  if (dynamic->need != 0 && !offset_of(elf, dynamic->need, &elf->need_at, &left))
    return corrupt(why, "has version needs outside its segments");
  if (dynamic->define != 0 && !offset_of(elf, dynamic->define, &elf->define_at, &left))
    return corrupt(why, "has version definitions outside its segments");
  return HX_STATUS_OK;
}

hx_status_t hx_elf_parse(const void *bytes, size_t size, hx_elf_t *out, const char **why) {
  *out = (hx_elf_t){.bytes = bytes, .size = size};
  HX_TRY(read_headers(out, why));
  dynamic_t dynamic = {0};
  HX_TRY(read_dynamic(out, &dynamic, why));
  uint64_t left;
  if (dynamic.strings == 0 || !offset_of(out, dynamic.strings, &out->strings_at, &left) || dynamic.strings_size > left)
    return corrupt(why, "has no dynamic string table");
  out->strings_size = dynamic.strings_size;
  for (size_t i = 0; i < out->needed_count; ++i) {
    out->needed[i] = string_at(out, dynamic.needed[i]);
    if (out->needed[i] == NULL) return corrupt(why, "names a library outside its string table");
  }
  if (!read_string(out, dynamic.soname, &out->soname) || !read_string(out, dynamic.rpath, &out->rpath) ||
      !read_string(out, dynamic.runpath, &out->runpath) || !read_string(out, dynamic.filter, &out->filter)) {
    return corrupt(why, "has a name outside its string table");
  }
  return read_symbols(out, &dynamic, why);
}

bool hx_elf_symbol(const hx_elf_t *elf, uint64_t index, hx_elf_symbol_t *out) {
  if (index >= elf->symbol_count) return false;
  Elf64_Sym symbol;
  memcpy(&symbol, elf->bytes + elf->symbols_at + index * sizeof symbol, sizeof symbol);
  *out = (hx_elf_symbol_t){.name = string_at(elf, symbol.st_name),
                           .binding = ELF64_ST_BIND(symbol.st_info),
                           .type = ELF64_ST_TYPE(symbol.st_info),
                           .visibility = ELF64_ST_VISIBILITY(symbol.st_other),
                           .defined = symbol.st_shndx != SHN_UNDEF,
                           .version = 1};
  if (elf->versions_at != 0) {
    uint16_t version;
    memcpy(&version, elf->bytes + elf->versions_at + index * 2, sizeof version);
    out->version = version & 0x7fff;
  }
  return out->name != NULL;
}

// Chains move forward only, and `seen` bounds them: a loop ends. All offsets stay below 2^33 steps of 2^32.
bool hx_elf_next_need(const hx_elf_t *elf, hx_elf_need_t *state) {
  Elf64_Verneed need;
  Elf64_Vernaux entry;
  if (elf->need_at == 0 || elf->need_count == 0) return false;
  if (state->need == 0) {
    state->need = elf->need_at;
    if (!read_at(elf, state->need, &need, sizeof need)) goto damaged;
    state->entry = state->need + need.vn_aux;
  } else {
    if (!read_at(elf, state->need, &need, sizeof need) || !read_at(elf, state->entry, &entry, sizeof entry))
      goto damaged;
    if (entry.vna_next != 0) {
      state->entry += entry.vna_next;
    } else {
      if (need.vn_next == 0) return false;
      state->need += need.vn_next;
      if (!read_at(elf, state->need, &need, sizeof need)) goto damaged;
      state->entry = state->need + need.vn_aux;
    }
  }
  if (++state->seen > 4096 || !read_at(elf, state->entry, &entry, sizeof entry)) goto damaged;
  state->file = string_at(elf, need.vn_file);
  state->version = string_at(elf, entry.vna_name);
  state->index = entry.vna_other & 0x7fff;
  state->weak = (entry.vna_flags & VER_FLG_WEAK) != 0;
  if (state->file == NULL || state->version == NULL) goto damaged;
  return true;
damaged:
  state->damaged = true;
  return false;
}

// Calls a predicate for each defined version until it says true.
static const char *find_definition(const hx_elf_t *elf, const char *name, uint16_t index) {
  uint64_t at = elf->define_at;
  for (uint64_t i = 0; at != 0 && i < elf->define_count && i < 65536; ++i) {
    Elf64_Verdef define;
    Elf64_Verdaux entry;
    if (!read_at(elf, at, &define, sizeof define) || !read_at(elf, at + define.vd_aux, &entry, sizeof entry))
      return NULL;
    const char *text = string_at(elf, entry.vda_name);
    if (text != NULL && (name != NULL ? strcmp(text, name) == 0 : (define.vd_ndx & 0x7fff) == index)) return text;
    if (define.vd_next == 0) return NULL;
    at += define.vd_next;
  }
  return NULL;
}

bool hx_elf_defines_version(const hx_elf_t *elf, const char *version) {
  return find_definition(elf, version, 0) != NULL;
}

const char *hx_elf_version_name(const hx_elf_t *elf, uint16_t index) { return find_definition(elf, NULL, index); }

bool hx_elf_next_note(const hx_elf_t *elf, hx_elf_note_t *state) {
  for (; state->segment < elf->segment_count; ++state->segment, state->offset = 0) {
    const Elf64_Phdr *segment = &elf->segments[state->segment];
    if (segment->p_type != PT_NOTE) continue;
    // Fields are padded to 4 bytes, in segments of alignment 8 (GNU properties) to 8.
    const uint64_t pad = segment->p_align == 8 ? 8 : 4;
    const uint64_t left = segment->p_filesz - state->offset;
    if (left == 0) continue;
    Elf64_Nhdr note;
    if (left < sizeof note) break;
    const uint8_t *at = elf->bytes + segment->p_offset + state->offset;
    memcpy(&note, at, sizeof note);
    const uint64_t text_at = (sizeof note + (uint64_t)note.n_namesz + pad - 1) / pad * pad;
    const uint64_t end = text_at + note.n_descsz;
    if (end > left) break;
    const uint64_t padded = (end + pad - 1) / pad * pad;
    state->offset += padded > left ? left : padded;
    state->type = note.n_type;
    state->owner = (hx_str_t){(const char *)at + sizeof note, note.n_namesz};
    state->text = (hx_str_t){(const char *)at + text_at, note.n_descsz};
    return true;
  }
  state->damaged = state->segment < elf->segment_count;
  return false;
}

const char *hx_elf_machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv64";
    case EM_PPC64:
      return "ppc64le";
    case EM_S390:
      return "s390x";
    case EM_386:
      return "x86";
    case EM_ARM:
      return "arm";
    default:
      return NULL;
  }
}
