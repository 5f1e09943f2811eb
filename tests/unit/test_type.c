// SPDX-License-Identifier: Apache-2.0
#include "ops_fixture.h"

// In the canonical form: printing gives the same text.
static const char *const canonical[] = {
    "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2], basis = Q, domain = "
    "ntt, "
    "repr = standard, slots = 4096>",
    "!ckks.ciphertext<batch = [3, 7], components = 3, depth = 2, scale = \"2^80*q5^-1\", primes = [0], basis = Q, "
    "domain = "
    "coefficient, repr = lazy, slots = 1>",
    "!ckks.ciphertext<batch = ?, components = ?, depth = ?, scale = ?, primes = ?, basis = ?, domain = ?, repr = ?, "
    "slots = ?>",
    "!ckks.plaintext<batch = [], components = 1, depth = 1, scale = \"3*2^-5\", primes = [0, 4, 200, 255], basis = QP, "
    "domain = ?, "
    "repr = standard, slots = 65536>",
    "!rns.tensor<dtype = u64, batch = [4294967296], components = 1, primes = [6, 7], basis = P, domain = ntt, repr = "
    "montgomery>",
    "!rns.tensor<dtype = i64, batch = [1, 2, 3, 4], components = 65535, primes = ?, basis = ?, domain = ?, repr = ?>",
    "!rns.tensor<dtype = ?, batch = ?, components = ?, primes = ?, basis = ?, domain = ?, repr = ?>",
    "!ckks.key<kind = relin>",
    "!ckks.key<kind = galois, element = 5>",
    "!ckks.key<kind = galois, element = ?>",
    "!ckks.key<kind = conj>",
    "!ckks.key<kind = switch>",
    "!ckks.key<kind = public>",
    "!ckks.key<kind = secret>",
    "!ckks.key<kind = ?>",
    "tensor<8192xf64>",
    "tensor<1xcomplex<f64>>",
    "tensor<?xf64>",
    "tensor<?xcomplex<f64>>",
    "tensor<32xui8>",
    "tensor<32xf64>",
    "i1",
    "i64",
    "si32",
    "ui8",
    "index",
    "f64",
    "!resource.handle<kind = \"process-group\">",
    "!resource.handle<kind = ?>",
};

static void parse_and_print_agree_on_canonical_texts(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(canonical); ++i) {
    const hx_type_t type = type_of(canonical[i], NULL);
    char *text = text_of(&type);
    assert_string_equal(text, canonical[i]);
    hx_free(text);
  }
}

static void parse_takes_other_spellings_of_the_same_type(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"!ckks.ciphertext<>", "!ckks.ciphertext<batch = ?>"},
      {"!ckks.ciphertext", "!ckks.ciphertext<>"},
      {" !ckks.ciphertext< slots=8 ,\n\tdepth = 1,batch=[ 2,3 ] , primes=[0 , 1]>\n",
       "!ckks.ciphertext<batch = [2, 3], depth = 1, primes = [0, 1], slots = 8>"},
      {"!ckks.key<element = 5, kind = galois>", "!ckks.key<kind = galois, element = 5>"},
      {"!ckks.key", "!ckks.key<kind = ?>"},
      {"!resource.handle<>", "!resource.handle<kind = ?>"},
      {"tensor< 8xcomplex< f64 > >", "tensor<8xcomplex<f64>>"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(pairs); ++i) {
    const hx_type_t left = type_of(pairs[i][0], NULL), right = type_of(pairs[i][1], NULL);
    assert_true(hx_type_equal(&left, &right));
  }
}

static void parse_refuses_hostile_text_with_its_column(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
    uint32_t line, column;
  } rows[] = {
      {"", HX_CODE_TYPE, 1, 1},
      {"?", HX_CODE_TYPE, 1, 1},
      {"i0", HX_CODE_TYPE, 1, 1},
      {"i65", HX_CODE_TYPE, 1, 1},
      {"i064", HX_CODE_TYPE, 1, 1},
      {"i", HX_CODE_TYPE, 1, 1},
      {"s", HX_CODE_TYPE, 1, 1},
      {"f32", HX_CODE_TYPE, 1, 1},
      {"none", HX_CODE_TYPE, 1, 1},
      {"i64 i64", HX_CODE_SYNTAX, 1, 5},
      {"!", HX_CODE_TYPE, 1, 1},
      {"!ckks.cipher<>", HX_CODE_TYPE, 1, 1},
      {"!ckks.ciphertext<", HX_CODE_SYNTAX, 1, 18},
      {"!ckks.ciphertext<depth>", HX_CODE_SYNTAX, 1, 23},
      {"!ckks.ciphertext<depth = >", HX_CODE_SYNTAX, 1, 26},
      {"!ckks.ciphertext<depth = 1 slots = 8>", HX_CODE_SYNTAX, 1, 28},
      {"!ckks.ciphertext<depth = 1,>", HX_CODE_SYNTAX, 1, 28},
      {"!ckks.ciphertext<,>", HX_CODE_SYNTAX, 1, 18},
      {"!ckks.ciphertext<depth = 1,\n  depth = 2>", HX_CODE_TYPE, 2, 3},
      {"!ckks.ciphertext<dtype = u64>", HX_CODE_TYPE, 1, 18},
      {"!ckks.ciphertext<level = 3>", HX_CODE_TYPE, 1, 18},
      {"!ckks.ciphertext<depth = -1>", HX_CODE_SYNTAX, 1, 26},
      {"!ckks.ciphertext<depth = 256>", HX_CODE_TYPE, 1, 26},
      {"!ckks.ciphertext<depth = 99999999999999999999999>", HX_CODE_TYPE, 1, 26},
      {"!ckks.ciphertext<slots = 0>", HX_CODE_TYPE, 1, 26},
      {"!ckks.ciphertext<slots = 12>", HX_CODE_SLOTS, 1, 1},
      {"!ckks.ciphertext<slots = 131072>", HX_CODE_TYPE, 1, 26},
      {"!ckks.ciphertext<components = 1>", HX_CODE_TYPE, 1, 1},
      {"!ckks.ciphertext<components = 4>", HX_CODE_TYPE, 1, 1},
      {"!ckks.plaintext<components = 2>", HX_CODE_TYPE, 1, 1},
      {"!ckks.ciphertext<basis = QP>", HX_CODE_TYPE, 1, 1},
      {"!ckks.plaintext<basis = P>", HX_CODE_TYPE, 1, 1},
      {"!ckks.ciphertext<basis = R>", HX_CODE_TYPE, 1, 26},
      {"!ckks.ciphertext<domain = \"ntt\">", HX_CODE_TYPE, 1, 27},
      {"!ckks.ciphertext<scale = 2^40>", HX_CODE_SYNTAX, 1, 26},
      {"!ckks.ciphertext<scale = \"2^40>", HX_CODE_SYNTAX, 1, 26},
      {"!ckks.ciphertext<depth = 1,\n scale = \"2^40*q1^0\">", HX_CODE_SYNTAX, 2, 16},
      {"!ckks.ciphertext<primes = []>", HX_CODE_TYPE, 1, 28},
      {"!ckks.ciphertext<primes = [1, 0]>", HX_CODE_TYPE, 1, 31},
      {"!ckks.ciphertext<primes = [1, 1]>", HX_CODE_TYPE, 1, 31},
      {"!ckks.ciphertext<primes = [256]>", HX_CODE_TYPE, 1, 28},
      {"!ckks.ciphertext<primes = [0 1]>", HX_CODE_SYNTAX, 1, 30},
      {"!ckks.ciphertext<primes = [0,]>", HX_CODE_SYNTAX, 1, 30},
      {"!ckks.ciphertext<batch = [0]>", HX_CODE_TYPE, 1, 27},
      {"!ckks.ciphertext<batch = [1, 1, 1, 1, 1]>", HX_CODE_TYPE, 1, 39},
      {"!ckks.ciphertext<batch = [65536, 65537]>", HX_CODE_TYPE, 1, 34},
      {"!rns.tensor<dtype = u16>", HX_CODE_TYPE, 1, 21},
      {"!ckks.key<kind = rotation>", HX_CODE_TYPE, 1, 18},
      {"!ckks.key<kind = relin, element = 5>", HX_CODE_TYPE, 1, 10},
      {"!ckks.key<element = 5>", HX_CODE_TYPE, 1, 10},
      {"!ckks.key<kind = galois, element = 4>", HX_CODE_TYPE, 1, 36},
      {"!ckks.key<kind = galois, element = 262144>", HX_CODE_TYPE, 1, 36},
      {"!resource.handle<kind = process>", HX_CODE_SYNTAX, 1, 25},
      {"!resource.handle<kind = \"\">", HX_CODE_TYPE, 1, 25},
      {"!resource.handle<kind = \"a<b\">", HX_CODE_TYPE, 1, 27},
      {"!resource.handle<kind = \"0123456789012345678901234567890123456789012345678901234567890123\">", HX_CODE_TYPE, 1,
       25},
      {"tensor", HX_CODE_SYNTAX, 1, 7},
      {"tensor<8192>", HX_CODE_SYNTAX, 1, 12},
      {"tensor<0xf64>", HX_CODE_TYPE, 1, 8},
      {"tensor<65537xf64>", HX_CODE_TYPE, 1, 8},
      {"tensor<4x4xf64>", HX_CODE_TYPE, 1, 10},
      {"tensor<8xf32>", HX_CODE_TYPE, 1, 10},
      {"tensor<8xcomplex<f32>>", HX_CODE_TYPE, 1, 18},
      {"tensor<8xcomplex<f64>", HX_CODE_SYNTAX, 1, 22},
      {"tensor<31xui8>", HX_CODE_TYPE, 1, 1},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_report_t *report = hx_report_create();
    hx_type_t type = {.count = 77};
    if (hx_type_parse(hx_str(rows[i].text), NULL, &type, report) == HX_STATUS_OK) fail_msg("%s", rows[i].text);
    const hx_fault_t *fault = hx_report_get(report, 0);
    if (hx_report_count(report) != 1 || fault->code != rows[i].code || fault->line != rows[i].line ||
        fault->column != rows[i].column) {
      fail_msg("%s: %s at %u:%u: %s", rows[i].text, hx_code_info(fault->code)->word, fault->line, fault->column,
               fault->text);
    }
    assert_int_equal(type.count, 77);
    hx_report_release(report);
  }
  // Every truncation of a good text is refused or is another good text; none reads beyond its end.
  for (size_t i = 0; i < HX_COUNT_OF(canonical); ++i) {
    for (size_t size = 0; size < strlen(canonical[i]); ++size) {
      char *piece = malloc(size + 1);
      memcpy(piece, canonical[i], size);
      hx_type_t type;
      (void)!hx_type_parse((hx_str_t){.data = piece, .size = size}, &ring_b, &type, NULL);
      free(piece);
    }
  }
  hx_report_t *report = hx_report_create();
  hx_type_t type;
  const hx_place_t place = {.source = "a.mlir", .line = 7, .column = 20};
  hx_type_parse_at(hx_str("!ckks.key<kind = x>"), NULL, place, &type, report);
  assert_int_equal(hx_report_get(report, 0)->line, 7);
  assert_int_equal(hx_report_get(report, 0)->column, 37);
  hx_report_release(report);
}

static void verify_refuses_types_that_do_not_fit_the_ring(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;  // under ring a: depths 0 to 5, ids 0 to 5 and 6 to 7, 8 slots
  } rows[] = {
      {"!ckks.ciphertext<depth = 5, primes = [0], slots = 8>", HX_CODE_NONE},
      {"!ckks.plaintext<depth = 4, primes = [0, 1, 6, 7], basis = QP>", HX_CODE_NONE},
      {"!rns.tensor<dtype = u64, primes = [1, 6], basis = QP>", HX_CODE_NONE},
      {"!rns.tensor<dtype = i64>", HX_CODE_NONE},
      {"!ckks.key<kind = galois, element = 31>", HX_CODE_NONE},
      {"!ckks.ciphertext<depth = 6>", HX_CODE_NO_DEPTH},
      {"!ckks.ciphertext<slots = 16>", HX_CODE_SLOTS},
      {"!ckks.ciphertext<primes = [0, 2]>", HX_CODE_PRIMES},
      {"!ckks.ciphertext<primes = [0, 1, 6, 7]>", HX_CODE_PRIMES},
      {"!ckks.ciphertext<primes = [0, 8]>", HX_CODE_PRIMES},
      {"!ckks.ciphertext<depth = 1, primes = [0, 1]>", HX_CODE_PRIMES},
      {"!ckks.plaintext<depth = 4, primes = [0, 1], basis = QP>", HX_CODE_PRIMES},
      {"!ckks.plaintext<primes = [0, 1, 6]>", HX_CODE_PRIMES},
      {"!rns.tensor<primes = [6], basis = Q>", HX_CODE_PRIMES},
      {"!rns.tensor<dtype = u32>", HX_CODE_TYPE},
      {"!ckks.ciphertext<scale = \"2^40*q6^1\">", HX_CODE_SCALE_RANGE},
      {"!ckks.ciphertext<scale = \"1125899906842273*2^1\">", HX_CODE_SYNTAX},
      {"!ckks.key<kind = galois, element = 33>", HX_CODE_TYPE},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_report_t *report = hx_report_create();
    hx_type_t type;
    const hx_status_t status = hx_type_parse(hx_str(rows[i].text), &ring_a, &type, report);
    const hx_code_t code = status == HX_STATUS_OK ? HX_CODE_NONE : hx_report_get(report, 0)->code;
    if (code != rows[i].code) fail_msg("%s: %s", rows[i].text, hx_code_info(code)->word);
    hx_report_release(report);
  }
  // Scales that were read without a ring are checked too.
  const hx_type_t type = type_of("!ckks.ciphertext<scale = \"1125899906842273*2^1\">", NULL);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_type_verify(&type, &ring_a, (hx_place_t){0}, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_SCALE_RANGE);
  hx_report_release(report);
}

static void agrees_names_the_first_part_that_differs(void **state) {
  (void)state;
  static const char *const rows[][3] = {
      {"!ckks.ciphertext<depth = 1>", "!ckks.ciphertext<depth = 1, slots = 8>", ""},
      {"!ckks.ciphertext<depth = 1>", "!ckks.ciphertext<>", ""},
      {"!ckks.ciphertext<depth = 1, slots = 8>", "!ckks.ciphertext<depth = 2, slots = 4>", "depth"},
      {"!ckks.ciphertext<scale = \"2^40\">", "!ckks.ciphertext<scale = \"2^40*q1^1\">", "scale"},
      {"!ckks.ciphertext<batch = [2]>", "!ckks.ciphertext<batch = [2, 1]>", "batch"},
      {"!ckks.ciphertext<primes = [0]>", "!ckks.ciphertext<primes = [0, 1]>", "primes"},
      {"!ckks.ciphertext<>", "!ckks.plaintext<>", "type"},
      {"!ckks.key<kind = ?>", "!ckks.key<kind = relin>", ""},
      {"!ckks.key<kind = conj>", "!ckks.key<kind = relin>", "kind"},
      {"!ckks.key<kind = galois, element = 3>", "!ckks.key<kind = galois, element = 5>", "element"},
      {"tensor<?xf64>", "tensor<8xf64>", ""},
      {"tensor<8xf64>", "tensor<9xf64>", "number of values"},
      {"tensor<8xf64>", "tensor<8xcomplex<f64>>", "element type"},
      {"i64", "i32", "width"},
      {"i64", "ui64", "signedness"},
      {"!resource.handle<kind = \"a\">", "!resource.handle<kind = \"b\">", "kind"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_type_t left = type_of(rows[i][0], NULL), right = type_of(rows[i][1], NULL);
    const char *part = "";
    assert_int_equal(hx_type_agrees(&left, &right, &part), rows[i][2][0] == '\0');
    assert_string_equal(part, rows[i][2]);
    assert_int_equal(hx_type_agrees(&right, &left, &part), rows[i][2][0] == '\0');
    assert_false(hx_type_equal(&left, &right));
  }
}

static void merge_fills_unknown_parts_alone(void **state) {
  (void)state;
  static const char *const rows[][3] = {
      {"!ckks.ciphertext<depth = 1>",
       "!ckks.ciphertext<depth = 2, slots = 8, scale = \"2^3*q1^1\", batch = [4], primes = [0]>",
       "!ckks.ciphertext<depth = 1, slots = 8, scale = \"2^3*q1^1\", batch = [4], primes = [0]>"},
      {"!ckks.key", "!ckks.key<kind = galois, element = 5>", "!ckks.key<kind = galois, element = 5>"},
      {"!ckks.key<kind = galois>", "!ckks.key<kind = galois, element = 5>", "!ckks.key<kind = galois, element = 5>"},
      {"tensor<?xf64>", "tensor<8xf64>", "tensor<8xf64>"},
      {"!resource.handle<>", "!resource.handle<kind = \"x\">", "!resource.handle<kind = \"x\">"},
      {"i64", "index", "i64"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_type_t type = type_of(rows[i][0], NULL);
    const hx_type_t from = type_of(rows[i][1], NULL), expected = type_of(rows[i][2], NULL);
    hx_type_merge(&type, &from);
    assert_true(hx_type_equal(&type, &expected));
  }
}

static void completeness_asks_for_every_part_of_the_kind(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool complete;
  } rows[] = {
      {"!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0], basis = Q, domain = "
       "ntt, repr = standard, slots = 4>",
       true},
      {"!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0], basis = Q, domain = "
       "ntt, repr = standard>",
       false},
      {"!rns.tensor<dtype = u32, batch = [], components = 1, primes = [0], basis = Q, domain = ntt, repr = lazy>",
       true},
      {"!rns.tensor<dtype = u32, batch = [], components = 1, primes = [0], basis = Q, domain = ntt>", false},
      {"!rns.tensor<dtype = i64, batch = [], components = 1>", true},
      {"!rns.tensor<dtype = i64, batch = []>", false},
      {"!ckks.key<kind = relin>", true},
      {"!ckks.key<kind = galois>", false},
      {"!ckks.key", false},
      {"tensor<8xf64>", true},
      {"tensor<?xf64>", false},
      {"tensor<32xui8>", true},
      {"index", true},
      {"!resource.handle<>", false},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_type_t type = type_of(rows[i].text, NULL);
    assert_int_equal(hx_type_is_complete(&type), rows[i].complete);
  }
  hx_type_t none;
  hx_type_init(&none, HX_TYPE_NONE);
  assert_false(hx_type_is_complete(&none));
  hx_text_t text;
  hx_text_init(&text);
  assert_int_equal(hx_type_print(&none, &text), HX_STATUS_INVALID);
  hx_text_deinit(&text);
}

static void derive_fills_what_follows(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
    const hx_ring *ring;
  } rows[] = {
      {"!ckks.ciphertext<depth = 4>", "!ckks.ciphertext<depth = 4, primes = [0, 1], basis = Q>", &ring_a},
      {"!ckks.ciphertext<depth = 1>", "!ckks.ciphertext<depth = 1, primes = [0, 1, 2, 3, 4, 5], basis = Q>", &ring_b},
      {"!ckks.ciphertext<depth = 4>", "!ckks.ciphertext<depth = 4, basis = Q>", NULL},
      {"!ckks.ciphertext<primes = [0]>", "!ckks.ciphertext<depth = 5, primes = [0], basis = Q>", &ring_a},
      {"!ckks.plaintext<depth = 4>", "!ckks.plaintext<depth = 4, components = 1>", &ring_a},
      {"!ckks.plaintext<depth = 4, basis = QP>",
       "!ckks.plaintext<depth = 4, components = 1, primes = [0, 1, 6, 7], basis = QP>", &ring_a},
      {"!ckks.plaintext<primes = [0, 1, 6, 7]>",
       "!ckks.plaintext<depth = 4, components = 1, primes = [0, 1, 6, 7], basis = QP>", &ring_a},
      {"!rns.tensor<primes = [5, 6]>", "!rns.tensor<primes = [5, 6], basis = QP>", &ring_a},
      {"!rns.tensor<primes = [7]>", "!rns.tensor<primes = [7], basis = P>", &ring_a},
      {"i64", "i64", &ring_a},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_type_t type = type_of(rows[i].from, NULL);
    const hx_type_t expected = type_of(rows[i].to, NULL);
    hx_type_derive(&type, rows[i].ring);
    char *text = text_of(&type);
    if (!hx_type_equal(&type, &expected)) fail_msg("%s gives %s", rows[i].from, text);
    hx_free(text);
  }
}

// A random type of a kind with state.
static void draw(uint64_t *seed, hx_type_t *type) {
  static const hx_type_kind_t kinds[] = {HX_TYPE_CIPHERTEXT, HX_TYPE_PLAINTEXT, HX_TYPE_TENSOR};
  hx_type_init(type, kinds[next_random(seed) % 3]);
  uint64_t shape[HX_BATCH_RANK_MAX];
  for (int i = 0; i < HX_BATCH_RANK_MAX; ++i) shape[i] = 1 + next_random(seed) % 9;
  hx_primes_t primes = {{next_random(seed), next_random(seed), 0, next_random(seed) | 1}};
  hx_scale_t scale;
  hx_scale_set_one(&scale);
  scale.m[next_random(seed) % 4] |= next_random(seed) | 1;
  scale.m[0] |= 1;
  scale.e = (int64_t)(next_random(seed) % 2000) - 1000;
  assert_int_equal(hx_scale_multiply_prime(&scale, (uint32_t)(next_random(seed) % HX_PRIMES_MAX), -3, NULL),
                   HX_STATUS_OK);
  const uint32_t words[HX_PART_COUNT] = {
      [HX_PART_DTYPE] = 1 + (uint32_t)(next_random(seed) % 5),
      [HX_PART_COMPONENTS] = type->kind == HX_TYPE_PLAINTEXT ? 1 : 2 + (uint32_t)(next_random(seed) % 2),
      [HX_PART_DEPTH] = (uint32_t)(next_random(seed) % HX_PRIMES_MAX),
      [HX_PART_BASIS] = type->kind == HX_TYPE_TENSOR ? 1 + (uint32_t)(next_random(seed) % 3) : HX_BASIS_Q,
      [HX_PART_DOMAIN] = 1 + (uint32_t)(next_random(seed) % 2),
      [HX_PART_REPR] = 1 + (uint32_t)(next_random(seed) % 3),
      [HX_PART_SLOTS] = 1u << (next_random(seed) % 17)};
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if ((hx_type_parts(type->kind) & hx_part_bit(part)) == 0 || next_random(seed) % 3 == 0) continue;
    if (part == HX_PART_BATCH) {
      hx_type_set_batch(type, (uint32_t)(next_random(seed) % (HX_BATCH_RANK_MAX + 1)), shape);
    } else if (part == HX_PART_PRIMES) {
      hx_type_set_primes(type, &primes);
    } else if (part == HX_PART_SCALE) {
      hx_type_set_scale(type, &scale);
    } else {
      hx_type_set_word(type, part, words[part]);
    }
  }
}

static void print_reparses_for_random_types_long_and_short(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int round = 0; round < 3000; ++round) {
    hx_type_t type, copy;
    draw(&seed, &type);
    hx_type_copy(&copy, &type);
    assert_true(hx_type_equal(&copy, &type));
    for (int brief = 0; brief < 2; ++brief) {
      hx_text_t text, again;
      hx_text_init(&text);
      hx_text_init(&again);
      assert_int_equal(brief ? hx_type_print_short(&type, &text) : hx_type_print(&type, &text), HX_STATUS_OK);
      const hx_type_t parsed = type_of(text.data, NULL);
      assert_true(hx_type_equal(&parsed, &type));
      assert_int_equal(brief ? hx_type_print_short(&parsed, &again) : hx_type_print(&parsed, &again), HX_STATUS_OK);
      assert_string_equal(text.data, again.data);
      assert_true(brief ? strchr(text.data, '?') == NULL : true);
      hx_text_deinit(&text);
      hx_text_deinit(&again);
    }
  }
}

static void print_short_leaves_unknown_parts_out(void **state) {
  (void)state;
  static const char *const texts[] = {"!ckks.ciphertext<>", "!ckks.plaintext<slots = 8>", "!rns.tensor<>",
                                      "!ckks.key<>",        "!ckks.key<kind = galois>",   "!resource.handle<>",
                                      "tensor<?xf64>"};
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
    const hx_type_t type = type_of(texts[i], NULL);
    hx_text_t text;
    hx_text_init(&text);
    assert_int_equal(hx_type_print_short(&type, &text), HX_STATUS_OK);
    assert_string_equal(text.data, texts[i]);
    hx_text_deinit(&text);
  }
}

static void print_reports_exhaustion(void **state) {
  (void)state;
  const hx_type_t type = type_of(canonical[0], NULL);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  uint64_t n = 1;
  for (; status != HX_STATUS_OK; ++n) {
    hx_text_t text;
    hx_text_init(&text);
    hx_alloc_fail_at(n);
    status = hx_type_print(&type, &text);
    hx_alloc_fail_at(0);
    hx_text_deinit(&text);
    assert_true(status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY);
  }
  assert_true(n > 2);
}

// Every printed form is accepted by MLIR's own reader: balanced brackets, nothing that it takes for its own.
static void mlir_reads_every_printed_type(void **state) {
  (void)state;
  if (system("command -v mlir-opt-14 >/dev/null 2>&1") != 0) skip();
  char path[] = "/tmp/heliox-types-XXXXXX";
  const int handle = mkstemp(path);
  assert_true(handle >= 0);
  FILE *file = fdopen(handle, "w");
  assert_non_null(file);
  fputs("\"builtin.module\"() ({\n", file);
  uint64_t seed = 11;
  for (size_t i = 0; i < HX_COUNT_OF(canonical) + 40; ++i) {
    hx_type_t type;
    if (i < HX_COUNT_OF(canonical)) {
      type = type_of(canonical[i], NULL);
    } else {
      draw(&seed, &type);
    }
    hx_text_t text;
    hx_text_init(&text);
    assert_int_equal(hx_type_print(&type, &text), HX_STATUS_OK);
    fprintf(file, "  %%a%zu = \"x.y\"() : () -> %s\n", i, text.data);
    hx_text_clear(&text);
    assert_int_equal(hx_type_print_short(&type, &text), HX_STATUS_OK);
    fprintf(file, "  %%b%zu = \"x.y\"() : () -> %s\n", i, text.data);
    hx_text_deinit(&text);
  }
  fputs("}) : () -> ()\n", file);
  assert_int_equal(fclose(file), 0);
  char command[128];
  snprintf(command, sizeof command, "mlir-opt-14 --allow-unregistered-dialect %s >/dev/null", path);
  const int result = system(command);
  remove(path);
  assert_int_equal(result, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parse_and_print_agree_on_canonical_texts),
      cmocka_unit_test(parse_takes_other_spellings_of_the_same_type),
      cmocka_unit_test(parse_refuses_hostile_text_with_its_column),
      cmocka_unit_test(verify_refuses_types_that_do_not_fit_the_ring),
      cmocka_unit_test(agrees_names_the_first_part_that_differs),
      cmocka_unit_test(merge_fills_unknown_parts_alone),
      cmocka_unit_test(completeness_asks_for_every_part_of_the_kind),
      cmocka_unit_test(derive_fills_what_follows),
      cmocka_unit_test(print_reparses_for_random_types_long_and_short),
      cmocka_unit_test(print_short_leaves_unknown_parts_out),
      cmocka_unit_test(print_reports_exhaustion),
      cmocka_unit_test(mlir_reads_every_printed_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
