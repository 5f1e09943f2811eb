// SPDX-License-Identifier: Apache-2.0
// Whether the ranks of a group meet, from the texts of their sequences. The ranks are followed side by side: a
// collective is made when all of them have come to it, a send when its receiver has. Where nobody can go on, the first
// rank that does not fit is named. The texts come from other processes, so each line is read with care.
#include <stdio.h>
#include <string.h>

#include "core/passes/collectives.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)  // of one rank
#define SHOWN_MAX 360                      // bytes of a step in a message

typedef struct hx_cursor {
  const char *at;              // the line that comes next; "" at the end
  size_t step;                 // number of that line, from 1
  hx_str_t role, place, what;  // of the line: "all", "12:3", operation and facts
  uint32_t peer;
  bool is_over;
} hx_cursor_t;

static hx_status_t not_text(hx_report_t *report, size_t rank, size_t step) {
  return hx_report_fail(report, HX_CODE_RANK_MISMATCH,
                        "rank %zu: step %zu is no step of a sequence of collectives; the rank runs another version",
                        rank, step);
}

static bool cut(const char **at, const char *end, hx_str_t *out) {
  const char *blank = memchr(*at, ' ', (size_t)(end - *at));
  if (blank == NULL || blank == *at) return false;
  *out = (hx_str_t){.data = *at, .size = (size_t)(blank - *at)};
  *at = blank + 1;
  return true;
}

static bool read_number(hx_str_t text, uint32_t *out) {
  uint64_t number = 0;
  if (text.size == 0 || text.size > 9) return false;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    number = 10 * number + (uint64_t)(text.data[i] - '0');
  }
  *out = (uint32_t)number;  // nine digits
  return true;
}

static bool is_role(const hx_cursor_t *cursor, const char *role) { return hx_str_equal(cursor->role, hx_str(role)); }

// Splits the line that comes next.
static hx_status_t read_step(hx_cursor_t *cursor, size_t rank, size_t ranks, hx_report_t *report) {
  hx_str_t peer;
  cursor->is_over = *cursor->at == '\0';
  if (cursor->is_over) return HX_STATUS_OK;
  const char *end = strchr(cursor->at, '\n'), *at = cursor->at;
  if (end == NULL || !cut(&at, end, &cursor->role) || !cut(&at, end, &peer) || !cut(&at, end, &cursor->place))
    return not_text(report, rank, cursor->step);
  cursor->what = (hx_str_t){.data = at, .size = (size_t)(end - at)};
  const bool has_role = is_role(cursor, "all") || is_role(cursor, "send") || is_role(cursor, "receive") ||
                        is_role(cursor, "enter") || is_role(cursor, "next") || is_role(cursor, "leave");
  if (!has_role || !read_number(peer, &cursor->peer) || cursor->peer >= ranks)
    return not_text(report, rank, cursor->step);
  return HX_STATUS_OK;
}

static hx_status_t advance(hx_cursor_t *cursor, size_t rank, size_t ranks, hx_report_t *report) {
  cursor->at = strchr(cursor->at, '\n') + 1;  // was there when the line was read
  cursor->step += 1;
  return read_step(cursor, rank, ranks, report);
}

// ------------------------------------------------------------------ messages

// A step in words: what, with whom, where.
static void describe(const hx_cursor_t *cursor, char out[SHOWN_MAX]) {
  if (cursor->is_over) {
    snprintf(out, SHOWN_MAX, "its end, after %zu steps", cursor->step - 1);
    return;
  }
  static const struct {
    const char *role, *words;
  } roles[] = {{"enter", "the beginning of "}, {"next", "the second region of "}, {"leave", "the end of "}};
  const char *words = "";
  for (size_t i = 0; i < HX_COUNT_OF(roles); ++i) {
    if (is_role(cursor, roles[i].role)) words = roles[i].words;
  }
  char place[48] = "", peer[32] = "";
  if (!hx_str_equal(cursor->place, hx_str("0:0")))
    snprintf(place, sizeof place, " at %.*s", (int)(cursor->place.size < 32 ? cursor->place.size : 32),
             cursor->place.data);
  if (is_role(cursor, "send")) snprintf(peer, sizeof peer, " to rank %u", cursor->peer);
  if (is_role(cursor, "receive")) snprintf(peer, sizeof peer, " from rank %u", cursor->peer);
  snprintf(out, SHOWN_MAX, "%s%.*s%s%s", words, (int)(cursor->what.size < 240 ? cursor->what.size : 240),
           cursor->what.data, peer, place);
}

static hx_status_t differ(const hx_cursor_t *cursors, size_t rank, size_t other, hx_report_t *report) {
  char mine[SHOWN_MAX], theirs[SHOWN_MAX], text[3 * SHOWN_MAX];
  describe(&cursors[rank], mine);
  describe(&cursors[other], theirs);
  snprintf(text, sizeof text, "rank %zu comes in step %zu to %s, where rank %zu comes in step %zu to %s", rank,
           cursors[rank].step, mine, other, cursors[other].step, theirs);
  return hx_report_add(report, &(hx_fault_t){.code = HX_CODE_RANK_MISMATCH,
                                             .text = text,
                                             .expected = theirs,
                                             .found = mine,
                                             .hint = "run the same program with the same options on every rank"});
}

// Nobody can go on: the first rank that differs from rank 0, or the first that waits for one that does not come.
static hx_status_t tell_stuck(const hx_cursor_t *cursors, size_t ranks, hx_report_t *report) {
  for (size_t r = 0; r < ranks; ++r) {
    const bool waits = !cursors[r].is_over && (is_role(&cursors[r], "send") || is_role(&cursors[r], "receive"));
    if (waits && cursors[r].peer != r) return differ(cursors, r, cursors[r].peer, report);
    if (waits)
      return hx_report_fail(report, HX_CODE_RANK_MISMATCH, "rank %zu waits for itself in step %zu", r, cursors[r].step);
  }
  for (size_t r = 1; r < ranks; ++r) {
    const bool same = cursors[r].is_over == cursors[0].is_over &&
                      (cursors[r].is_over || (hx_str_equal(cursors[r].role, cursors[0].role) &&
                                              hx_str_equal(cursors[r].what, cursors[0].what)));
    if (!same) return differ(cursors, r, 0, report);
  }
  return hx_report_fail(report, HX_CODE_INTERNAL, "ranks with equal steps did not meet");
}

// ------------------------------------------------------------------ following

// The facts behind the operation's name.
static hx_str_t facts_of(const hx_cursor_t *cursor) {
  const char *blank = cursor->what.size == 0 ? NULL : memchr(cursor->what.data, ' ', cursor->what.size);
  if (blank == NULL) return (hx_str_t){0};
  return (hx_str_t){.data = blank + 1, .size = cursor->what.size - (size_t)(blank + 1 - cursor->what.data)};
}

// Every send whose receiver is there is made; *out_moved tells whether there was one.
static hx_status_t exchange(hx_cursor_t *cursors, size_t ranks, bool *out_moved, hx_report_t *report) {
  *out_moved = false;
  for (size_t r = 0; r < ranks; ++r) {
    while (!cursors[r].is_over && is_role(&cursors[r], "send") && cursors[r].peer != r) {
      hx_cursor_t *partner = &cursors[cursors[r].peer];
      const size_t other = cursors[r].peer;
      if (partner->is_over || !is_role(partner, "receive") || partner->peer != r) break;
      if (!hx_str_equal(facts_of(&cursors[r]), facts_of(partner))) return differ(cursors, r, other, report);
      HX_TRY(advance(&cursors[r], r, ranks, report));
      HX_TRY(advance(partner, other, ranks, report));
      *out_moved = true;
    }
  }
  return HX_STATUS_OK;
}

// Whether all ranks stand at one and the same collective, or all at their ends.
static bool are_together(const hx_cursor_t *cursors, size_t ranks) {
  for (size_t r = 0; r < ranks; ++r) {
    if (cursors[r].is_over != cursors[0].is_over) return false;
    if (cursors[r].is_over) continue;
    if (is_role(&cursors[r], "send") || is_role(&cursors[r], "receive")) return false;
    if (!hx_str_equal(cursors[r].role, cursors[0].role) || !hx_str_equal(cursors[r].what, cursors[0].what))
      return false;
  }
  return true;
}

static hx_status_t follow(hx_cursor_t *cursors, size_t ranks, hx_report_t *report) {
  for (;;) {
    bool moved;
    HX_TRY(exchange(cursors, ranks, &moved, report));
    if (are_together(cursors, ranks)) {
      if (cursors[0].is_over) return HX_STATUS_OK;
      for (size_t r = 0; r < ranks; ++r) HX_TRY(advance(&cursors[r], r, ranks, report));
    } else if (!moved) {
      return tell_stuck(cursors, ranks, report);
    }
  }
}

hx_status_t hx_collectives_compare(const char *const *texts, size_t count, hx_report_t *report) {
  if (texts == NULL || count == 0 || count > HX_RANKS_MAX)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_collectives_compare: no texts, or more than %d ranks",
                          HX_RANKS_MAX);
  hx_cursor_t *cursors = hx_zalloc(count, sizeof *cursors);
  if (cursors == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to compare %zu ranks", count);
  hx_status_t status = HX_STATUS_OK;
  for (size_t r = 0; r < count && status == HX_STATUS_OK; ++r) {
    cursors[r] = (hx_cursor_t){.at = texts[r], .step = 1};
    if (texts[r] == NULL || strnlen(texts[r], TEXT_BYTES_MAX) == TEXT_BYTES_MAX) {
      status = hx_report_fail(report, HX_CODE_LIMIT, "rank %zu: a sequence of collectives has less than %zu bytes", r,
                              TEXT_BYTES_MAX);
    } else {
      status = read_step(&cursors[r], r, count, report);
    }
  }
  if (status == HX_STATUS_OK) status = follow(cursors, count, report);
  hx_free(cursors);
  return status;
}
