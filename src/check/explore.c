// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// explore.c: runs a dispatch under several schedules (explore:N), each from the
// same contents of memory, and reports elements with different results.
//
// A schedule that is stale lets a read that races have what was there before
// the dispatch: on a GPU a write need not be visible to a thread that nothing
// orders behind it.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

// The last writer of a word.
typedef struct writer {
  check_segment segment;  // 0: nobody
  uint32_t site;
} writer;

// A piece of memory that the kernel may write.
typedef struct piece {
  const check_memory *memory;  // NULL: no cells
  uint64_t first;
  uint64_t bytes;
  const char *name;
  mtl_data_type type;
  uint8_t *before;  // contents when the dispatch begins
  uint8_t *result;  // of the first run
  writer *writers;  // [bytes / 4 + 1] of the first run; NULL: not known
} piece;

static piece *pieces;  // [piece_count]
static size_t piece_count, piece_capacity;

void check_explore_end(void) {
  for (size_t i = 0; i < piece_count; ++i) {
    free(pieces[i].before);
    free(pieces[i].result);
    free(pieces[i].writers);
  }
  piece_count = 0;
}

static void *bytes_at(uint64_t address) {
  return (void *)(uintptr_t)address;
}

static bool add_piece(piece added) {
  if (piece_count == piece_capacity) {
    const size_t larger = piece_capacity ? 2 * piece_capacity : 16;
    piece *grown = realloc(pieces, larger * sizeof *pieces);
    if (!grown) {
      return false;
    }
    pieces = grown;
    piece_capacity = larger;
  }
  added.before = malloc(added.bytes);
  if (!added.before) {
    return false;
  }
  memcpy(added.before, bytes_at(added.first), added.bytes);
  pieces[piece_count++] = added;
  return true;
}

// Arguments as they are bound; of a kernel that writes through other addresses
// all memory.
bool check_explore_begin(const check_state *s) {
  check_explore_end();
  if (check_schedule_runs() == 1 && !check_schedule_is_stale()) {
    return true;
  }
  for (size_t i = 0; i < s->range_count; ++i) {
    const check_range *range = &s->ranges[i];
    if (range->memory && range->is_written && range->bytes &&
        !add_piece((piece){.memory = range->memory,
                           .first = range->first,
                           .bytes = range->bytes,
                           .name = range->name,
                           .type = range->type})) {
      return false;
    }
  }
  const check_memory *memory;
  for (size_t i = 0; s->has_device_writes && (memory = check_memory_at(i));
       ++i) {
    if (!add_piece((piece){.memory = memory,
                           .first = memory->first,
                           .bytes = memory->bytes,
                           .name = memory->label})) {
      return false;
    }
  }
  return true;
}

void *check_explore_stale(check_state *s, void *address, uint64_t length) {
  const uint64_t at = (uintptr_t)address;
  for (size_t i = 0; i < piece_count; ++i) {
    if (at - pieces[i].first < pieces[i].bytes &&
        pieces[i].bytes - (at - pieces[i].first) >= length) {
      return check_random(&s->stale_seed) & 1
                 ? pieces[i].before + (at - pieces[i].first)
                 : address;
    }
  }
  return address;
}

// --- what is different ------------------------------------------------------------

static writer writer_at(const check_state *s, const piece *p,
                        uint64_t offset) {
  if (!p->memory || !p->memory->cells) {
    return (writer){0, 0};
  }
  const uint64_t at = p->first - p->memory->first + offset;
  const check_cell cell = check_parts_at(
      &p->memory->cells[at / 4], &p->memory->quarters[at / 4 * 4], at);
  if (cell.write < s->dispatch_first) {
    return (writer){0, 0};
  }
  return (writer){cell.write, cell.write_site & MTLI_CHECK_MOST_WRITE_SITE};
}

static uint64_t element_bytes(const piece *p) {
  const size_t bytes = mtl_data_type_size(p->type);
  return bytes ? bytes : 4;
}

static double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                     : ldexp(fraction, -24);
  return bits >> 15 ? -size : size;
}

static void write_integer(mtl_data_type type, const void *at, char *out,
                          size_t room) {
  uint64_t bits = 0;
  const size_t bytes = mtl_data_type_size(type);
  memcpy(&bits, at, bytes);
  const bool is_signed = type == MTL_TYPE_CHAR || type == MTL_TYPE_SHORT ||
                         type == MTL_TYPE_INT || type == MTL_TYPE_LONG;
  const unsigned unused = 64 - 8 * (unsigned)bytes;
  if (is_signed) {
    snprintf(out, room, "%" PRId64, (int64_t)(bits << unused) >> unused);
  } else {
    snprintf(out, room, "%" PRIu64, bits);
  }
}

static void write_value(mtl_data_type type, const void *at, char *out,
                        size_t room) {
  uint32_t word = 0;
  float number;
  switch (type) {
    case MTL_TYPE_FLOAT:
      memcpy(&number, at, sizeof number);
      snprintf(out, room, "%.9g", (double)number);
      return;
    case MTL_TYPE_HALF:
      memcpy(&word, at, 2);
      snprintf(out, room, "%.5g", half_value((uint16_t)word));
      return;
    case MTL_TYPE_BFLOAT:
      memcpy((char *)&word + 2, at, 2);
      memcpy(&number, &word, sizeof number);
      snprintf(out, room, "%.4g", (double)number);
      return;
    case MTL_TYPE_NONE:
      memcpy(&word, at, 4);
      snprintf(out, room, "0x%08" PRIx32, word);
      return;
    default: write_integer(type, at, out, room); return;
  }
}

static check_side side_of(const check_state *s, writer who) {
  return who.segment ? check_side_of(s, who.segment, who.site)
                     : (check_side){.sites = s->sites,
                                    .kernel = s->kernel,
                                    .group_count = s->group_count,
                                    .dispatch = s->dispatch};
}

static void report(check_state *s, const piece *p, uint64_t offset,
                   uint64_t different) {
  char one[64], other[64], first_name[64], name[64];
  write_value(p->type, p->result + offset, one, sizeof one);
  write_value(p->type, bytes_at(p->first + offset), other, sizeof other);
  check_schedule_name(0, first_name);
  check_schedule_name(s->run, name);
  const writer now = writer_at(s, p, offset);
  const check_side first =
      side_of(s, p->writers ? p->writers[offset / 4] : (writer){0, 0});
  const check_side second = side_of(s, now);
  check_report(s, "nondeterministic", &first, &second,
               "element %" PRIu64 " of '%s' is %s in the order %s and %s in "
               "%s; %" PRIu64 " of its elements differ",
               offset / element_bytes(p), p->name ? p->name : "", one,
               first_name, other, name, different);
}

static void compare(check_state *s, const piece *p) {
  const uint64_t step = element_bytes(p);
  const uint8_t *now = bytes_at(p->first);
  uint64_t first = p->bytes, different = 0;
  if (memcmp(now, p->result, p->bytes) == 0) {
    return;
  }
  for (uint64_t at = 0; at + step <= p->bytes; at += step) {
    if (memcmp(now + at, p->result + at, step) != 0) {
      first = different++ ? first : at;
    }
  }
  if (different) {
    report(s, p, first, different);
  }
}

// --- runs ---------------------------------------------------------------------------

// Keeps the results of the first run.
static bool keep_result(const check_state *s, piece *p) {
  p->result = malloc(p->bytes);
  if (!p->result) {
    return false;
  }
  memcpy(p->result, bytes_at(p->first), p->bytes);
  const uint64_t words = p->bytes / 4 + 1;
  p->writers = p->memory && p->memory->cells
                   ? malloc(words * sizeof *p->writers)
                   : NULL;
  for (uint64_t i = 0; p->writers && i < words; ++i) {
    p->writers[i] = i * 4 < p->bytes ? writer_at(s, p, i * 4) : (writer){0, 0};
  }
  return true;
}

static void put(const piece *p, const uint8_t *contents) {
  if (contents) {
    memcpy(bytes_at(p->first), contents, p->bytes);
  }
}

bool check_explore_next(check_state *s) {
  if (check_schedule_runs() == 1) {
    return false;
  }
  for (size_t i = 0; i < piece_count; ++i) {
    if (s->run > 0) {
      compare(s, &pieces[i]);
    } else if (!keep_result(s, &pieces[i])) {
      mtli_check_note_unchecked("no memory for the results of '%s'",
                                s->kernel);
      return false;
    }
  }
  const bool is_last =
      s->is_to_stop || s->run + 1 == check_schedule_runs() || !piece_count;
  for (size_t i = 0; i < piece_count; ++i) {
    put(&pieces[i], is_last ? pieces[i].result : pieces[i].before);
  }
  s->run += !is_last;
  return !is_last;
}
