// SPDX-License-Identifier: Apache-2.0
// Parts of a predicted error and their arithmetic.
#include "core/ckks/noise_state.h"

#include <math.h>
#include <string.h>

#include "core/ckks/noise.h"

uint64_t hx_noise_mix(uint64_t id, uint64_t word) {
  uint64_t x = (id ^ word) + 0x9e3779b97f4a7c15u;  // SplitMix64's finish
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double hx_noise_variance(const hx_noise_t *noise) {
  double sum = 0;
  for (uint32_t i = 0; i < noise->error.count; ++i)
    sum += noise->error.parts[i].amplitude * noise->error.parts[i].amplitude;
  return noise->known ? sum : NAN;
}

double hx_noise_worst_variance(const hx_noise_t *noise) {
  double sum = 0;
  for (uint32_t i = 0; i < noise->error.count; ++i) sum += noise->error.parts[i].worst * noise->error.parts[i].worst;
  return noise->known ? sum : NAN;
}

double hx_noise_power(const hx_noise_t *noise) {
  double sum = 0;
  for (uint32_t i = 0; i < noise->message.count; ++i) sum += fabs(noise->message.parts[i].amplitude);
  return sum * sum;
}

double hx_noise_peak(const hx_noise_t *noise) {
  double sum = 0;
  for (uint32_t i = 0; i < noise->message.count; ++i) sum += noise->message.parts[i].worst;
  return sum * sum;
}

double hx_noise_worst_sigma(const hx_noise_t *noise, const hx_type_t *type, const hx_ring *ring) {
  return hx_noise_slot_sigma(type->slots, exp2(hx_scale_log2(&type->scale, ring)), hx_noise_worst_variance(noise));
}

// ------------------------------------------------------------------ parts

#define TURNED ((uint64_t)2)  // bit of a shape: times i
#define SHAPED ((uint64_t)1)  // set in every shape but that of constants

static void remove_part(hx_noise_part_t *parts, uint32_t *count, uint32_t index) {
  memmove(parts + index, parts + index + 1, (*count - index - 1) * sizeof *parts);
  *count -= 1;
}

static void insert_part(hx_noise_part_t *parts, uint32_t *count, const hx_noise_part_t *part) {
  uint32_t at = *count;
  while (at > 0 && parts[at - 1].id > part->id) --at;
  memmove(parts + at + 1, parts + at, (*count - at) * sizeof *parts);
  parts[at] = *part;
  *count += 1;
}

// The same polynomial again. Equal shapes add with their signs, others as magnitudes.
static void add_to_part(hx_noise_part_t *part, const hx_noise_part_t *more) {
  if (part->shape == more->shape) {
    const bool opposed = (part->amplitude < 0) != (more->amplitude < 0);
    part->amplitude += more->amplitude;
    part->worst = opposed ? fabs(part->worst - more->worst) : part->worst + more->worst;
    if (part->worst < fabs(part->amplitude)) part->worst = fabs(part->amplitude);
    return;
  }
  part->amplitude = fabs(part->amplitude) + fabs(more->amplitude);
  part->worst += more->worst;
  part->shape = hx_noise_mix(part->shape < more->shape ? part->shape : more->shape,
                             part->shape < more->shape ? more->shape : part->shape) &
                ~TURNED;
}

// Of two parts one: independent errors, or messages of which nothing is assumed. Its id moves with a rotation as theirs
// do.
static hx_noise_part_t join_parts(const hx_noise_part_t *a, const hx_noise_part_t *b, bool independent) {
  const double x = fabs(a->amplitude), y = fabs(b->amplitude);
  return (hx_noise_part_t){.id = a->id + hx_noise_mix(b->id - a->id, 1),
                           .shape = independent ? hx_noise_mix(a->shape, b->shape) & ~TURNED : 0,
                           .amplitude = independent ? hypot(x, y) : x + y,
                           .worst = independent ? hypot(a->worst, b->worst) : a->worst + b->worst};
}

static uint32_t least_part(const hx_noise_part_t *parts, uint32_t count) {
  uint32_t least = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (parts[i].worst < parts[least].worst) least = i;
  }
  return least;
}

static void add_part(hx_noise_list_t *list, const hx_noise_part_t *part, bool independent) {
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->parts[i].id != part->id) continue;
    add_to_part(&list->parts[i], part);
    if (list->parts[i].worst == 0) remove_part(list->parts, &list->count, i);
    return;
  }
  if (part->worst == 0) return;
  if (list->count < HX_NOISE_PARTS_MAX) {
    insert_part(list->parts, &list->count, part);
    return;
  }
  hx_noise_part_t parts[HX_NOISE_PARTS_MAX + 1];
  uint32_t count = list->count;
  memcpy(parts, list->parts, sizeof list->parts);
  insert_part(parts, &count, part);
  hx_noise_part_t least[2];
  for (uint32_t k = 0; k < 2; ++k) {
    const uint32_t at = least_part(parts, count);
    least[k] = parts[at];
    remove_part(parts, &count, at);
  }
  const bool ordered = least[0].id < least[1].id;
  const hx_noise_part_t joined = join_parts(&least[!ordered], &least[ordered], independent);
  insert_part(parts, &count, &joined);
  memcpy(list->parts, parts, count * sizeof *parts);
  list->count = count;
}

void hx_noise_add_part(hx_noise_t *noise, const hx_noise_part_t *part) { add_part(&noise->error, part, true); }

void hx_noise_add_white(hx_noise_t *noise, uint64_t id, double variance) {
  const double sigma = sqrt(variance);
  hx_noise_add_part(noise, &(hx_noise_part_t){.id = id, .amplitude = sigma, .worst = sigma});
}

void hx_noise_add_message(hx_noise_t *noise, uint64_t id, double amplitude, double worst) {
  add_part(&noise->message, &(hx_noise_part_t){.id = id, .amplitude = amplitude, .worst = worst}, false);
}

void hx_noise_set_message(hx_noise_t *noise, uint64_t id, double power, double peak) {
  noise->message.count = 0;
  hx_noise_add_message(noise, id, sqrt(power), sqrt(peak));
}

void hx_noise_times(hx_noise_list_t *list, double factor) {
  for (uint32_t i = 0; i < list->count; ++i) {
    list->parts[i].amplitude *= factor;
    list->parts[i].worst *= fabs(factor);
  }
  if (factor == 0) list->count = 0;
}

void hx_noise_shape(hx_noise_t *noise, double scale, double power, double peak, uint64_t shape) {
  for (uint32_t i = 0; i < noise->error.count; ++i) {
    hx_noise_part_t *part = &noise->error.parts[i];
    // Mean of |e|^2 |z|^2 over the slots: at most the mean of one times the largest of the other.
    const double flat = part->worst * sqrt(power), sharp = fabs(part->amplitude) * sqrt(peak);
    part->amplitude = copysign(scale * (flat < sharp ? flat : sharp), part->amplitude);
    part->worst *= scale * sqrt(peak);
    part->shape = (hx_noise_mix(part->shape & ~TURNED, shape) & ~TURNED) | SHAPED | (part->shape & TURNED);
  }
  if (peak == 0) noise->error.count = 0;
}

void hx_noise_turn(hx_noise_list_t *list, uint32_t unit) {
  for (uint32_t i = 0; i < list->count; ++i) {
    hx_noise_part_t *part = &list->parts[i];
    const bool both = (unit & 1) != 0 && (part->shape & TURNED) != 0;  // i^2
    if (both != ((unit & 2) != 0)) part->amplitude = -part->amplitude;
    if ((unit & 1) != 0) part->shape ^= TURNED;
  }
}

// Steps are added in the highest bits, so that they add up modulo the slots; a conjugation turns bit 0 of an id.
static void move_list(hx_noise_list_t *list, uint64_t shift, uint64_t turn, bool independent) {
  const hx_noise_list_t from = *list;
  list->count = 0;
  for (uint32_t i = 0; i < from.count; ++i) {
    hx_noise_part_t part = from.parts[i];
    part.id = (part.id + shift) ^ turn;
    if ((part.shape & ~TURNED) != 0) part.shape = (part.shape + shift) ^ (turn << 2);
    if (turn != 0 && (part.shape & TURNED) != 0) part.amplitude = -part.amplitude;
    add_part(list, &part, independent);
  }
}

static void move(hx_noise_t *noise, uint64_t shift, uint64_t turn) {
  move_list(&noise->error, shift, turn, true);
  move_list(&noise->message, shift, turn, false);
}

void hx_noise_rotate(hx_noise_t *noise, uint32_t step, uint32_t slots) {
  if (step == 0 || slots < 2) return;
  move(noise, (uint64_t)step << (64 - (uint32_t)__builtin_ctz(slots)), 0);
}

void hx_noise_conjugate(hx_noise_t *noise) { move(noise, 0, 1); }

static void accumulate(hx_noise_list_t *to, const hx_noise_list_t *from, double sign, bool independent) {
  for (uint32_t i = 0; i < from->count; ++i) {
    hx_noise_part_t part = from->parts[i];
    part.amplitude *= sign;
    add_part(to, &part, independent);
  }
}

void hx_noise_accumulate(hx_noise_t *to, const hx_noise_t *from, double sign) {
  accumulate(&to->error, &from->error, sign, true);
  accumulate(&to->message, &from->message, sign, false);
  to->items_alike = to->items_alike || from->items_alike;
}

bool hx_noise_share_parts(const hx_noise_t *a, const hx_noise_t *b) {
  for (uint32_t i = 0, k = 0; i < a->error.count && k < b->error.count;) {
    const uint64_t x = a->error.parts[i].id, y = b->error.parts[k].id;
    if (x == y) return true;
    if (x < y) {
      ++i;
    } else {
      ++k;
    }
  }
  return false;
}

// ------------------------------------------------------------------ values that come from outside

void hx_noise_of_encoding(const hx_params_t *params, uint32_t slots, double scale, double power, double peak,
                          uint64_t id, hx_noise_t *out) {
  const double packed = 2.0 * slots / ldexp(1.0, (int)hx_params_log_n(params));  // share of the coefficients
  const double lost = scale * sqrt(peak) * 0x1p-97;  // CKKS.md: at most 2^-96 of the largest
  const double worst = sqrt(hx_noise_encode() + lost * lost);
  *out = (hx_noise_t){.known = true, .id = id & ~(uint64_t)3, .mask = id & ~(uint64_t)3};
  hx_noise_set_message(out, id, power, peak);
  hx_noise_add_part(out,
                    &(hx_noise_part_t){.id = hx_noise_mix(id, 1), .amplitude = worst * sqrt(packed), .worst = worst});
}

void hx_noise_of_encryption(const hx_params_t *params, const hx_noise_t *plaintext, bool symmetric, uint64_t id,
                            hx_noise_t *out) {
  *out = *plaintext;
  out->id = out->mask = id & ~(uint64_t)3;
  if (!plaintext->known) return;
  hx_noise_add_white(out, hx_noise_mix(id, 2),
                     symmetric ? hx_noise_fresh_secret(params) : hx_noise_fresh_public(params));
}

void hx_noise_of_report(double variance, double worst, double power, double peak, uint64_t id, hx_noise_t *out) {
  *out = (hx_noise_t){.known = true, .id = id & ~(uint64_t)3, .mask = id & ~(uint64_t)3};
  hx_noise_set_message(out, id, power, peak > power ? peak : power);
  const double sigma = sqrt(variance);
  hx_noise_add_part(
      out, &(hx_noise_part_t){
               .id = hx_noise_mix(id, 3), .amplitude = sigma, .worst = worst > variance ? sqrt(worst) : sigma});
}

static const hx_noise_part_t *find_part(const hx_noise_list_t *list, const hx_noise_part_t *like) {
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->parts[i].id == like->id && list->parts[i].shape == like->shape) return &list->parts[i];
  }
  return NULL;
}

static bool same_part(const hx_noise_part_t *a, const hx_noise_part_t *b) {
  return b != NULL && a->amplitude == b->amplitude && a->worst == b->worst;
}

// Parts of `from` that `other` carries otherwise, each at the larger of both amplitudes; of those that both carry,
// those of the first alone.
static void take_parts(hx_noise_t *to, const hx_noise_list_t *from, const hx_noise_list_t *other, bool is_first,
                       uint64_t id) {
  for (uint32_t i = 0; i < from->count; ++i) {
    hx_noise_part_t part = from->parts[i];
    const hx_noise_part_t *there = find_part(other, &part);
    if (there != NULL && !is_first) continue;
    if (!same_part(&part, there)) {
      part.amplitude = fabs(part.amplitude);
      if (there != NULL && fabs(there->amplitude) > part.amplitude) part.amplitude = fabs(there->amplitude);
      if (there != NULL && there->worst > part.worst) part.worst = there->worst;
      part.shape = (hx_noise_mix(part.shape & ~TURNED, id) & ~TURNED) | SHAPED | (part.shape & TURNED);
    }
    hx_noise_add_part(to, &part);
  }
}

void hx_noise_join(hx_noise_t *to, const hx_noise_t *other, uint64_t id) {
  if (!to->known || !other->known) {
    *to = (hx_noise_t){0};
    return;
  }
  if (to->id == other->id && memcmp(&to->error, &other->error, sizeof to->error) == 0) return;
  const hx_noise_t first = *to;
  const double power = fmax(hx_noise_power(to), hx_noise_power(other));
  const double peak = fmax(hx_noise_peak(to), hx_noise_peak(other));
  *to = (hx_noise_t){.known = true,
                     .private = first.private || other->private,
                     .items_alike = first.items_alike || other->items_alike,
                     .transparent = first.transparent && other->transparent,
                     .id = hx_noise_mix(hx_noise_mix(first.id, other->id), id) & ~(uint64_t)3,
                     .mask = hx_noise_mix(hx_noise_mix(first.mask, other->mask), id) & ~(uint64_t)3};
  hx_noise_set_message(to, to->id, power, peak);
  take_parts(to, &first.error, &other->error, true, to->id);
  take_parts(to, &other->error, &first.error, false, to->id);
}
