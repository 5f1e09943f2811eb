// SPDX-License-Identifier: Apache-2.0
// Reading the text form of types. One pass, no recursion, no allocation; every fault has its place.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/ops/parts.h"

typedef struct reader {
  hx_str_t text;
  size_t at;
  const hx_ring *ring;
  hx_place_t place;
  hx_report_t *report;
} reader_t;

// Place of a byte of the text in the larger one: lines are counted, columns start anew after each.
static hx_place_t place_at(const reader_t *reader, size_t at) {
  hx_place_t place = reader->place;
  if (place.line == 0) return place;
  for (size_t i = 0; i < at && i < reader->text.size; ++i) {
    if (reader->text.data[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else {
      ++place.column;
    }
  }
  return place;
}

static hx_status_t fault(const reader_t *reader, hx_code_t code, size_t at, const char *what) {
  const hx_place_t place = place_at(reader, at);
  return hx_report_fail_at(reader->report, code, place.source, place.line, place.column, "type: %s", what);
}

static char peek(const reader_t *reader) {
  return reader->at < reader->text.size ? reader->text.data[reader->at] : '\0';
}

static void skip_blanks(reader_t *reader) {
  while (peek(reader) == ' ' || peek(reader) == '\t' || peek(reader) == '\n' || peek(reader) == '\r') ++reader->at;
}

// Takes `c` with blanks around it.
static bool take(reader_t *reader, char c) {
  skip_blanks(reader);
  if (peek(reader) != c) return false;
  ++reader->at;
  skip_blanks(reader);
  return true;
}

static hx_status_t expect(reader_t *reader, char c) {
  if (take(reader, c)) return HX_STATUS_OK;
  char what[48];
  snprintf(what, sizeof what, "expected '%c'%s", c,
           reader->at >= reader->text.size ? " before the end of the text" : "");
  return fault(reader, HX_CODE_SYNTAX, reader->at, what);
}

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-'; }

static hx_str_t take_word(reader_t *reader) {
  const size_t first = reader->at;
  while (is_word_char(peek(reader))) ++reader->at;
  return (hx_str_t){.data = reader->text.data + first, .size = reader->at - first};
}

static bool is_word(hx_str_t word, const char *text) { return hx_str_equal(word, hx_str(text)); }

// An unsigned number in [low, high].
static hx_status_t take_number(reader_t *reader, uint64_t low, uint64_t high, uint64_t *out) {
  const size_t first = reader->at;
  uint64_t value = 0;
  bool fits = true;
  while (peek(reader) >= '0' && peek(reader) <= '9') {
    const uint64_t digit = (uint64_t)(peek(reader) - '0');
    if (value > (UINT64_MAX - digit) / 10) fits = false;
    value = value * 10 + digit;
    ++reader->at;
  }
  if (reader->at == first) return fault(reader, HX_CODE_SYNTAX, first, "expected a number or ?");
  if (!fits || value < low || value > high) {
    char what[96];
    snprintf(what, sizeof what, "the number is not between %llu and %llu", (unsigned long long)low,
             (unsigned long long)high);
    return fault(reader, HX_CODE_TYPE, first, what);
  }
  *out = value;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ values of parts

static hx_status_t parse_batch(reader_t *reader, hx_type_t *out) {
  uint64_t shape[HX_BATCH_RANK_MAX] = {0};
  uint64_t items = 1;
  uint32_t rank = 0;
  HX_TRY(expect(reader, '['));
  while (!take(reader, ']')) {
    if (rank > 0) HX_TRY(expect(reader, ','));
    if (rank == HX_BATCH_RANK_MAX) return fault(reader, HX_CODE_TYPE, reader->at, "a batch has at most 4 axes");
    const size_t start = reader->at;
    HX_TRY(take_number(reader, 1, HX_BATCH_ITEMS_MAX, &shape[rank]));
    if (shape[rank] > HX_BATCH_ITEMS_MAX / items)
      return fault(reader, HX_CODE_TYPE, start, "a batch has at most 2^32 items");
    items *= shape[rank++];
  }
  hx_type_set_batch(out, rank, shape);
  return HX_STATUS_OK;
}

static hx_status_t parse_primes(reader_t *reader, hx_type_t *out) {
  hx_primes_t primes = {0};
  uint64_t next = 0;  // smallest id that may follow
  HX_TRY(expect(reader, '['));
  const size_t first = reader->at;
  while (!take(reader, ']')) {
    if (next > 0) HX_TRY(expect(reader, ','));
    const size_t start = reader->at;
    uint64_t id = 0;
    HX_TRY(take_number(reader, 0, HX_PRIMES_MAX - 1, &id));
    if (id < next) return fault(reader, HX_CODE_TYPE, start, "prime ids are ascending, each once");
    hx_primes_add(&primes, (uint32_t)id);
    next = id + 1;
  }
  if (next == 0) return fault(reader, HX_CODE_TYPE, first, "a value has at least one prime");
  hx_type_set_primes(out, &primes);
  return HX_STATUS_OK;
}

// The inside of a quoted text without escapes.
static hx_status_t take_quoted(reader_t *reader, hx_str_t *out) {
  if (peek(reader) != '"') return fault(reader, HX_CODE_SYNTAX, reader->at, "expected a text in quotes or ?");
  const char *start = reader->text.data + reader->at + 1;
  const char *end = memchr(start, '"', reader->text.size - reader->at - 1);
  if (end == NULL) return fault(reader, HX_CODE_SYNTAX, reader->at, "the quoted text does not end");
  *out = (hx_str_t){.data = start, .size = (size_t)(end - start)};
  reader->at += out->size + 2;
  return HX_STATUS_OK;
}

static hx_status_t parse_scale(reader_t *reader, hx_type_t *out) {
  const hx_place_t place = place_at(reader, reader->at + 1);
  hx_str_t text;
  HX_TRY(take_quoted(reader, &text));
  hx_scale_t scale;
  HX_TRY(hx_scale_parse_at(text, reader->ring, place, &scale, reader->report));
  hx_type_set_scale(out, &scale);
  return HX_STATUS_OK;
}

static hx_status_t parse_named(reader_t *reader, hx_part_t part, hx_type_t *out) {
  size_t count = 0;
  const char *const *words = hx_part_words(part, &count);
  const size_t start = reader->at;
  const hx_str_t word = take_word(reader);
  char what[96];
  size_t size = (size_t)snprintf(what, sizeof what, "%s is none of", hx_part_name(part));
  for (uint32_t i = 0; i < count; ++i) {
    if (words[i] == NULL) continue;
    if (is_word(word, words[i])) {
      hx_type_set_word(out, part, i);
      return HX_STATUS_OK;
    }
    size += (size_t)snprintf(what + size, sizeof what - size, " %s,", words[i]);
  }
  snprintf(what + size, sizeof what - size, " ?");
  return fault(reader, HX_CODE_TYPE, start, what);
}

// Values of a part up to its limit; 0 is allowed for depth alone.
static hx_status_t parse_counted(reader_t *reader, hx_part_t part, hx_type_t *out) {
  const uint64_t high = part == HX_PART_COMPONENTS ? HX_COMPONENTS_MAX
                        : part == HX_PART_SLOTS    ? HX_SLOTS_MAX
                                                   : HX_PRIMES_MAX - 1;
  uint64_t value = 0;
  HX_TRY(take_number(reader, part == HX_PART_DEPTH ? 0 : 1, high, &value));
  hx_type_set_word(out, part, (uint32_t)value);
  return HX_STATUS_OK;
}

static hx_status_t parse_part(reader_t *reader, hx_part_t part, hx_type_t *out) {
  switch (part) {
    case HX_PART_BATCH:
      return parse_batch(reader, out);
    case HX_PART_PRIMES:
      return parse_primes(reader, out);
    case HX_PART_SCALE:
      return parse_scale(reader, out);
    case HX_PART_COMPONENTS:
    case HX_PART_DEPTH:
    case HX_PART_SLOTS:
      return parse_counted(reader, part, out);
    default:
      return parse_named(reader, part, out);
  }
}

// ------------------------------------------------------------------ lists of keys

// Reads "<key = value, ...>"; `keys` names the allowed ones, `read` stores the value of keys[index]. `?` and absent
// keys store nothing.
static hx_status_t parse_keys(reader_t *reader, const char *const *keys, size_t key_count,
                              hx_status_t (*read)(reader_t *, size_t, hx_type_t *), hx_type_t *out) {
  skip_blanks(reader);
  if (!take(reader, '<')) return HX_STATUS_OK;  // "!ckks.ciphertext" alone: nothing is known
  uint32_t seen = 0;
  while (!take(reader, '>')) {
    if (seen != 0) HX_TRY(expect(reader, ','));
    const size_t start = reader->at;
    const hx_str_t word = take_word(reader);
    size_t key = 0;
    while (key < key_count && (keys[key] == NULL || !is_word(word, keys[key]))) ++key;
    if (key == key_count) {
      char what[96];
      snprintf(what, sizeof what, word.size == 0 ? "expected a key or '>'" : "'%.*s' is no key of this type",
               (int)(word.size > 32 ? 32 : word.size), word.data);
      return fault(reader, word.size == 0 ? HX_CODE_SYNTAX : HX_CODE_TYPE, start, what);
    }
    if ((seen & (1u << key)) != 0) return fault(reader, HX_CODE_TYPE, start, "the key is given twice");
    seen |= 1u << key;
    HX_TRY(expect(reader, '='));
    if (!take(reader, '?')) HX_TRY(read(reader, key, out));
  }
  return HX_STATUS_OK;
}

static hx_status_t read_part(reader_t *reader, size_t key, hx_type_t *out) {
  return parse_part(reader, (hx_part_t)key, out);
}

static hx_status_t parse_state(reader_t *reader, hx_type_t *out) {
  const char *keys[HX_PART_COUNT];
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    keys[part] = (hx_type_parts(out->kind) & hx_part_bit(part)) != 0 ? hx_part_name(part) : NULL;
  }
  return parse_keys(reader, keys, HX_PART_COUNT, read_part, out);
}

static hx_status_t read_key(reader_t *reader, size_t key, hx_type_t *out) {
  static const char *const kinds[] = {NULL,
                                      [HX_KEY_RELIN] = "relin",
                                      [HX_KEY_GALOIS] = "galois",
                                      [HX_KEY_CONJ] = "conj",
                                      [HX_KEY_SWITCH] = "switch",
                                      [HX_KEY_PUBLIC] = "public",
                                      [HX_KEY_SECRET] = "secret"};
  if (key == 1) {
    const size_t start = reader->at;
    HX_TRY(take_number(reader, 1, 4 * (uint64_t)HX_SLOTS_MAX - 1, &out->element));
    if (out->element % 2 == 0) return fault(reader, HX_CODE_TYPE, start, "a Galois element is odd");
    return HX_STATUS_OK;
  }
  const size_t start = reader->at;
  const hx_str_t word = take_word(reader);
  for (uint32_t i = 1; i < HX_COUNT_OF(kinds); ++i) {
    if (!is_word(word, kinds[i])) continue;
    out->key_kind = (hx_key_kind_t)i;
    return HX_STATUS_OK;
  }
  return fault(reader, HX_CODE_TYPE, start,
               "the kind of a key is one of relin, galois, conj, switch, public, secret, ?");
}

static hx_status_t parse_key(reader_t *reader, hx_type_t *out) {
  static const char *const keys[] = {"kind", "element"};
  const size_t start = reader->at;
  HX_TRY(parse_keys(reader, keys, HX_COUNT_OF(keys), read_key, out));
  if (out->element != 0 && out->key_kind != HX_KEY_GALOIS) {
    return fault(reader, HX_CODE_TYPE, start, "an element is given, which only keys of kind = galois have");
  }
  return HX_STATUS_OK;
}

static hx_status_t read_handle(reader_t *reader, size_t key, hx_type_t *out) {
  (void)key;
  const size_t start = reader->at;
  hx_str_t text;
  HX_TRY(take_quoted(reader, &text));
  if (text.size == 0 || text.size >= sizeof out->name)
    return fault(reader, HX_CODE_TYPE, start, "the kind of a handle has 1 to 63 bytes");
  for (size_t i = 0; i < text.size; ++i) {
    if (!is_word_char(text.data[i]))
      return fault(reader, HX_CODE_TYPE, start + 1 + i, "the kind of a handle has letters, digits, and . - _ alone");
  }
  memcpy(out->name, text.data, text.size);
  out->name[text.size] = '\0';
  return HX_STATUS_OK;
}

static hx_status_t parse_handle(reader_t *reader, hx_type_t *out) {
  static const char *const keys[] = {"kind"};
  return parse_keys(reader, keys, HX_COUNT_OF(keys), read_handle, out);
}

// ------------------------------------------------------------------ whole types

// After "tensor": <8192xf64>, <8192xcomplex<f64>>, <32xui8>.
static hx_status_t parse_tensor(reader_t *reader, size_t start, hx_type_t *out) {
  uint64_t count = 0;
  HX_TRY(expect(reader, '<'));
  if (peek(reader) == '?') {
    ++reader->at;
  } else {
    HX_TRY(take_number(reader, 1, HX_SLOTS_MAX, &count));
  }
  if (peek(reader) != 'x')
    return fault(reader, HX_CODE_SYNTAX, reader->at, "expected x and an element type after the number of values");
  ++reader->at;
  const size_t element = reader->at;
  const hx_str_t word = take_word(reader);
  if (is_word(word, "ui8")) {
    if (count != 32) return fault(reader, HX_CODE_TYPE, start, "a seed is a tensor<32xui8>");
    hx_type_init(out, HX_TYPE_SEED);
    return expect(reader, '>');
  }
  hx_type_init(out, HX_TYPE_MESSAGE);
  out->count = count;
  out->is_complex = is_word(word, "complex");
  if (out->is_complex) {
    HX_TRY(expect(reader, '<'));
    const size_t inner = reader->at;
    if (!is_word(take_word(reader), "f64"))
      return fault(reader, HX_CODE_TYPE, inner, "complex values are complex<f64>");
    HX_TRY(expect(reader, '>'));
  } else if (!is_word(word, "f64")) {
    return fault(reader, HX_CODE_TYPE, element,
                 "a tensor has one axis of f64 or complex<f64> (a message) or 32 ui8 (a seed)");
  }
  return expect(reader, '>');
}

static hx_status_t parse_dialect(reader_t *reader, size_t start, hx_type_t *out) {
  ++reader->at;
  const hx_str_t word = take_word(reader);
  static const struct {
    const char *name;
    hx_type_kind_t kind;
    hx_status_t (*parse)(reader_t *, hx_type_t *);
  } rows[] = {{"ckks.ciphertext", HX_TYPE_CIPHERTEXT, parse_state},
              {"ckks.plaintext", HX_TYPE_PLAINTEXT, parse_state},
              {"rns.tensor", HX_TYPE_TENSOR, parse_state},
              {"ckks.key", HX_TYPE_KEY, parse_key},
              {"resource.handle", HX_TYPE_HANDLE, parse_handle}};
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    if (!is_word(word, rows[i].name)) continue;
    hx_type_init(out, rows[i].kind);
    return rows[i].parse(reader, out);
  }
  return fault(reader, HX_CODE_TYPE, start,
               "unknown; Heliox has !ckks.ciphertext, !ckks.plaintext, !ckks.key, !rns.tensor, !resource.handle");
}

// iN, siN, uiN.
static bool parse_integer(hx_str_t word, hx_type_t *out) {
  hx_type_init(out, HX_TYPE_INTEGER);
  size_t at = 0;
  if (word.size > 0 && (word.data[0] == 's' || word.data[0] == 'u')) {
    out->signedness = word.data[0] == 's' ? HX_SIGNED : HX_UNSIGNED;
    at = 1;
  }
  if (at >= word.size || word.data[at++] != 'i') return false;
  if (at == word.size || word.size - at > 2 || word.data[at] == '0') return false;
  for (; at < word.size; ++at) {
    if (word.data[at] < '0' || word.data[at] > '9') return false;
    out->bits = 10 * out->bits + (uint32_t)(word.data[at] - '0');
  }
  return out->bits <= 64;
}

static hx_status_t parse_builtin(reader_t *reader, size_t start, hx_type_t *out) {
  const hx_str_t word = take_word(reader);
  if (is_word(word, "tensor")) return parse_tensor(reader, start, out);
  if (is_word(word, "index") || is_word(word, "f64")) {
    hx_type_init(out, word.data[0] == 'i' ? HX_TYPE_INDEX : HX_TYPE_F64);
    return HX_STATUS_OK;
  }
  if (parse_integer(word, out)) return HX_STATUS_OK;
  return fault(reader, HX_CODE_TYPE, start,
               "expected a type: !dialect.name<...>, tensor<...>, i1 to i64, si, ui, index or f64");
}

hx_status_t hx_type_parse_at(hx_str_t text, const hx_ring *ring, hx_place_t place, hx_type_t *out,
                             hx_report_t *report) {
  reader_t reader = {.text = text, .ring = ring, .place = place, .report = report};
  skip_blanks(&reader);
  const size_t start = reader.at;
  hx_type_t type;
  if (peek(&reader) == '!') {
    HX_TRY(parse_dialect(&reader, start, &type));
  } else {
    HX_TRY(parse_builtin(&reader, start, &type));
  }
  skip_blanks(&reader);
  if (reader.at != text.size) return fault(&reader, HX_CODE_SYNTAX, reader.at, "text after the end of the type");
  HX_TRY(hx_type_verify(&type, ring, place_at(&reader, start), report));
  hx_type_copy(out, &type);
  return HX_STATUS_OK;
}

hx_status_t hx_type_parse(hx_str_t text, const hx_ring *ring, hx_type_t *out, hx_report_t *report) {
  return hx_type_parse_at(text, ring, (hx_place_t){.source = NULL, .line = 1, .column = 1}, out, report);
}
