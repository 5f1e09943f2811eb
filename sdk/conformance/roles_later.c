// SPDX-License-Identifier: Apache-2.0
// The roles that 1.1 added, for plugins that have them: graphs, the codec.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/conformance/suite.h"

enum { BYTES = 4096, LOG_N = 6, LIMBS = 3 };

// ------------------------------------------------------------------ graphs

// Memory of the host that the device can copy: two sources, two targets, and a place on the device between them.
typedef struct places {
  hx_buffer *from[2], *to[2], *middle;
  uint8_t *source[2], *target[2];
} places_t;

static void drop_places(suite_t *suite, places_t *p) {
  hx_buffer *const all[] = {p->from[0], p->from[1], p->to[0], p->to[1], p->middle};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) {
    if (all[i] != NULL) suite->table->memory->free(all[i]);
  }
}

static bool make_places(suite_t *suite, places_t *p) {
  const hx_memory_ops *ops = suite->table->memory;
  hx_error error = error_init();
  memset(p, 0, sizeof *p);
  bool made = ops->alloc(suite->device, HX_SPACE_DEVICE, BYTES, &p->middle, &error) == HX_OK;
  for (size_t i = 0; i < 2 && made; ++i) {
    made = ops->alloc(suite->device, HX_SPACE_PINNED, BYTES, &p->from[i], &error) == HX_OK &&
           ops->alloc(suite->device, HX_SPACE_PINNED, BYTES, &p->to[i], &error) == HX_OK;
    if (!made) break;
    p->source[i] = ops->address(p->from[i]);
    p->target[i] = ops->address(p->to[i]);
    made = p->source[i] != NULL && p->target[i] != NULL;
    if (!made) break;
    memset(p->source[i], 0x10 + (int)i, BYTES);
    memset(p->target[i], 0, BYTES);
  }
  return case_expect(suite, made, "alloc: %s", error.message);
}

static bool holds(const uint8_t *memory, uint8_t value) {
  for (size_t i = 0; i < BYTES; ++i) {
    if (memory[i] != value) return false;
  }
  return true;
}

static bool launched(suite_t *suite, hx_graph *graph) {
  hx_error error = error_init();
  int32_t code = suite->table->graph->launch(graph, suite->queue, &error);
  if (code == HX_OK) code = suite->table->queue->sync(suite->queue, &error);
  return case_expect(suite, code == HX_OK, "launch: %s: %s", result_word(code), error.message);
}

static void replay(suite_t *suite, places_t *p, hx_graph *graph) {
  case_expect(suite, holds(p->target[0], 0), "recording did the work");
  if (!launched(suite, graph)) return;
  case_expect(suite, holds(p->target[0], 0x10), "the first launch did not copy what was recorded");
  memset(p->source[0], 0x22, BYTES);
  if (!launched(suite, graph)) return;
  case_expect(suite, holds(p->target[0], 0x22), "the second launch does not read what is there now");
  const hx_span from[2] = {{p->from[0], 0}, {p->to[0], 0}}, to[2] = {{p->from[1], 0}, {p->to[1], 0}};
  const uint64_t bytes[2] = {BYTES, BYTES};
  hx_error error = error_init();
  const int32_t code = suite->table->graph->update(graph, 2, from, to, bytes, &error);
  if (!case_expect(suite, code == HX_OK, "update: %s: %s", result_word(code), error.message)) return;
  memset(p->source[0], 0x33, BYTES);
  if (!launched(suite, graph)) return;
  case_expect(suite, holds(p->target[1], 0x11), "after update the new places are not used");
  case_expect(suite, holds(p->target[0], 0x22), "after update an old place was written");
}

static void check_graph(suite_t *suite) {
  const hx_graph_ops *ops = suite->table->graph;
  const hx_queue_ops *q = suite->table->queue;
  places_t p;
  hx_graph *graph = NULL;
  hx_error error = error_init();
  case_begin(suite, "graph", "record, launch, update");
  if (ops == NULL) {
    case_skip(suite, "the plugin has no graph role");
  } else if (make_places(suite, &p)) {
    int32_t code = ops->capture_begin(suite->queue, &error);
    if (code == HX_UNSUPPORTED) {
      case_skip(suite, "not supported: %s", error.message);
    } else if (case_expect(suite, code == HX_OK, "capture_begin: %s: %s", result_word(code), error.message)) {
      case_expect(suite, ops->capture_begin(suite->queue, &error) != HX_OK, "a queue that records begins once more");
      code = q->copy(suite->queue, (hx_span){p.middle, 0}, (hx_span){p.from[0], 0}, BYTES, &error);
      if (code == HX_OK) code = q->copy(suite->queue, (hx_span){p.to[0], 0}, (hx_span){p.middle, 0}, BYTES, &error);
      const int32_t ended = ops->capture_end(suite->queue, &graph, &error);
      case_expect(suite, code == HX_OK && ended == HX_OK, "recording: %s", error.message);
      if (graph != NULL) {
        replay(suite, &p, graph);
        ops->destroy(graph);
      }
      case_expect(suite, ops->capture_end(suite->queue, &graph, &error) != HX_OK, "a queue that does not record ends");
      (void)q->reset(suite->queue, &error);
    }
    drop_places(suite, &p);
  } else {
    drop_places(suite, &p);
  }
  case_end(suite);
}

// ------------------------------------------------------------------ codec

// By the definition: scale/slots times the real part of the sum of z_j zeta^(-k gap 5^j), not yet rounded.
static long double coefficient(const double *values, bool is_complex, uint32_t slots, long double scale, uint32_t k) {
  static const long double pi = 3.14159265358979323846264338327950288L;
  long double sum = 0;
  uint64_t five = 1;
  for (uint32_t j = 0; j < slots; ++j) {
    const long double angle = pi * (long double)(five * k % (4 * slots)) / (2 * slots);
    sum += (is_complex ? values[2 * j] : values[j]) * cosl(angle);
    if (is_complex) sum += values[2 * j + 1] * sinl(angle);
    five = five * 5 % (4 * slots);
  }
  return sum * scale / slots;
}

static uint64_t distance(uint64_t a, uint64_t b, uint64_t q) {
  const uint64_t d = a > b ? a - b : b - a;
  return d < q - d ? d : q - d;
}

// Coefficients of what was encoded against the definition, in every row.
static void check_rows(suite_t *suite, const ring_t *ring, const hx_encoding *encoding, const double *values,
                       const uint64_t *plaintext, long double scale) {
  const uint32_t n = 1u << LOG_N, gap = n / (2 * encoding->slots);
  const hx_codec_ops *codec = suite->table->codec;
  const uint64_t tolerance = codec->exactness == HX_BIT_EXACT ? 0 : UINT64_C(1) << codec->tolerance_log2;
  uint64_t row[1 << LOG_N];
  for (uint32_t l = 0; l < LIMBS; ++l) {
    const uint64_t q = ring->primes[l];
    memcpy(row, plaintext + l * n, sizeof row);
    hx_ref_ntt_inverse(ring->reference, l, row);
    for (uint32_t i = 0; i < n; ++i) {
      const long double exact =
          i % gap == 0 ? coefficient(values, encoding->complex_values != 0, encoding->slots, scale, i / gap) : 0;
      const long double rounded = rintl(exact);
      // At a half the sums here may fall on the other side than those of an exact encoder.
      const bool is_tie = fabsl(fabsl(exact - rounded) - 0.5L) < 1e-9L;
      const uint64_t expected = hx_ref_word_reduce_signed(ring->reference, l, (int64_t)rounded);
      const uint64_t found = distance(row[i], expected, q);
      if (!case_expect(suite, found <= tolerance + (is_tie ? 1 : 0), "limb %u, coefficient %u is off by %llu", l, i,
                       (unsigned long long)found))
        return;
    }
  }
}

static void encode_and_back(suite_t *suite, const ring_t *ring, uint32_t slots, bool is_complex) {
  const hx_codec_ops *codec = suite->table->codec;
  const hx_memory_ops *ops = suite->table->memory;
  static const uint32_t ids[LIMBS] = {0, 1, 2};
  const uint32_t n = 1u << LOG_N, doubles = slots * (is_complex ? 2 : 1), exponent = 20;
  const hx_tensor_desc desc = {.struct_size = HX_END_OF(hx_tensor_desc, rows),
                               .dtype = HX_U64,
                               .log_n = LOG_N,
                               .components = 1,
                               .limbs = LIMBS,
                               .domain = HX_NTT,
                               .basis = HX_BASIS_Q,
                               .repr = HX_STANDARD,
                               .component_stride = (uint64_t)n * LIMBS,
                               .limb_stride = n,
                               .prime_ids = ids};
  const int32_t powers[RING_PRIMES_MAX] = {0};
  const hx_encoding encoding = {.struct_size = HX_END_OF(hx_encoding, plaintext),
                                .complex_values = is_complex,
                                .slots = slots,
                                .scale_exponent = (int32_t)exponent,
                                .scale_mantissa = 1,
                                .prime_powers = powers,
                                .ring = &ring->ring,
                                .tables = ring->tables,
                                .plaintext = &desc};
  const long double scale = ldexpl(1, (int)exponent);
  hx_buffer *numbers = NULL, *rows = NULL;
  hx_error error = error_init();
  const bool made = ops->alloc(suite->device, HX_SPACE_PINNED, (uint64_t)doubles * 8, &numbers, &error) == HX_OK &&
                    ops->alloc(suite->device, HX_SPACE_PINNED, (uint64_t)n * LIMBS * 8, &rows, &error) == HX_OK;
  if (case_expect(suite, made, "alloc: %s", error.message)) {
    double *values = ops->address(numbers), *kept = suite_alloc(doubles * sizeof *kept);
    for (uint32_t i = 0; i < doubles; ++i)
      kept[i] = values[i] = (double)(int64_t)(suite_random(suite) >> 11) / (double)(UINT64_C(1) << 52) - 1;
    int32_t code = codec->encode(suite->queue, &encoding, (hx_span){numbers, 0}, (hx_span){rows, 0}, &error);
    if (code == HX_OK) code = suite->table->queue->sync(suite->queue, &error);
    if (case_expect(suite, code == HX_OK, "encode: %s: %s", result_word(code), error.message)) {
      check_rows(suite, ring, &encoding, kept, ops->address(rows), scale);
      memset(values, 0, doubles * sizeof *values);
      code = codec->decode(suite->queue, &encoding, (hx_span){rows, 0}, (hx_span){numbers, 0}, &error);
      if (code == HX_OK) code = suite->table->queue->sync(suite->queue, &error);
      case_expect(suite, code == HX_OK, "decode: %s: %s", result_word(code), error.message);
      // Every coefficient is off by half a unit, or by the tolerance: a slot by no more than all of them together.
      const double unit = codec->exactness == HX_BIT_EXACT ? 0.5 : 0.5 + ldexp(1, (int)codec->tolerance_log2);
      const double most = 2.0 * slots * unit / (double)scale;
      for (uint32_t i = 0; i < doubles && code == HX_OK; ++i) {
        if (!case_expect(suite, fabs(values[i] - kept[i]) <= most, "number %u comes back off by %g, at most %g", i,
                         fabs(values[i] - kept[i]), most))
          break;
      }
      ++suite->results->operation_runs;
    }
    free(kept);
  }
  if (numbers != NULL) ops->free(numbers);
  if (rows != NULL) ops->free(rows);
}

static void check_codec(suite_t *suite) {
  case_begin(suite, "codec", "encode and decode by the definition");
  if (suite->table->codec == NULL) {
    case_skip(suite, "the plugin has no codec role");
    case_end(suite);
    return;
  }
  const ring_t *ring = suite_ring(suite, LOG_N, 64, 40, 50);
  if (ring != NULL && case_expect(suite, ring->ring.q_count >= LIMBS, "the ring has %u primes", ring->ring.q_count)) {
    for (uint32_t slots = 1; slots <= 1u << (LOG_N - 1); slots *= 2) {
      encode_and_back(suite, ring, slots, false);
      encode_and_back(suite, ring, slots, true);
    }
    hx_error error = error_init();
    hx_encoding broken = {.struct_size = 4, .slots = 1};
    case_expect(
        suite,
        suite->table->codec->encode(suite->queue, &broken, (hx_span){NULL, 0}, (hx_span){NULL, 0}, &error) != HX_OK,
        "an encoding of 4 bytes is taken");
    (void)suite->table->queue->reset(suite->queue, &error);
  }
  case_end(suite);
}

void run_later_roles(suite_t *suite) {
  check_graph(suite);
  check_codec(suite);
}
