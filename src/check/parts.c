// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parts.c: the cells of a word whose bytes were accessed by different threads,
// or at different places. A word's cell packs what a cell for each byte would
// say, if it fits, which it does for threads that run near each other.
// Otherwise the word is split: each byte has a cell in another array, of which
// only such words are ever touched.
//
// A packed cell:
//
//   write                    MTLI_CHECK_PACKED | the number of its names
//   read                     base: the least segment of those below
//   the last 8 bytes         for each byte of the word 16 bits, by its kind:
//     WROTE    14 bits       the write's segment - base; NOTHING if none
//     READ     14 bits       the read's
//     READ_TWO 7 and 7 bits  both reads'
//     BOTH     7 and 7 bits  the write's, and the read's
//
// Names are the sites of the four bytes. A few tuples of them are enough for
// all words that a kernel accesses alike: a table has each once.
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

enum {
  BYTES = 4,
  WROTE = 0 << 14,
  READ = 1 << 14,
  READ_TWO = 2 << 14,
  BOTH = 3 << 14,
  KIND = 3 << 14,
  MOST = (1 << 14) - 2,
  NOTHING = (1 << 14) - 1,
  HALF_BITS = 7,
  MOST_HALF = (1 << HALF_BITS) - 1,
  MOST_NAMES = 1 << 17,
  FIRST_ROOM = 1 << 10,
  READ_ALL = 0xf000,
};

typedef struct names {
  uint16_t write[BYTES];  // write_site of a cell; 0 without a write
  uint16_t read[BYTES];   // its read_site's site
} names;

static names *all_names;  // [names_count]
static uint32_t names_count;
static uint32_t *places;  // [names_room] by hash: number + 1, or 0
static uint32_t names_room;

// --- names -------------------------------------------------------------------

static uint32_t place_of(const names *wanted) {
  uint64_t words[2];
  memcpy(words, wanted, sizeof words);
  const uint64_t hash =
      (words[0] ^ words[1] * 0xbf58476d1ce4e5b9u) * 0x9e3779b97f4a7c15u;
  uint32_t at = (uint32_t)(hash >> 40) & (names_room - 1);
  while (places[at] &&
         memcmp(&all_names[places[at] - 1], wanted, sizeof *wanted) != 0) {
    at = (at + 1) & (names_room - 1);
  }
  return at;
}

static bool grow_names(void) {
  const uint32_t room = names_room ? 2 * names_room : FIRST_ROOM;
  uint32_t *larger = calloc(room, sizeof *larger);
  names *grown = realloc(all_names, room / 2 * sizeof *grown);
  all_names = grown ? grown : all_names;
  if (!larger || !grown) {
    free(larger);
    return false;
  }
  free(places);
  places = larger;
  names_room = room;
  for (uint32_t i = 0; i < names_count; ++i) {
    places[place_of(&all_names[i])] = i + 1;
  }
  return true;
}

// False if there is no room for them.
static bool number_of(const names *wanted, uint32_t *out) {
  if (names_room == 0 && !grow_names()) {
    return false;
  }
  uint32_t at = place_of(wanted);
  if (!places[at]) {
    if (names_count == MOST_NAMES ||
        (2 * names_count == names_room && !grow_names())) {
      return false;
    }
    at = place_of(wanted);
    all_names[names_count++] = *wanted;
    places[at] = names_count;
  }
  *out = places[at] - 1;
  return true;
}

// --- packed cells ------------------------------------------------------------

static void unpack(const check_cell *cell, check_cell out[BYTES]) {
  const names *own = &all_names[cell->write - MTLI_CHECK_PACKED];
  uint16_t parts[BYTES];
  memcpy(parts, &cell->other_read, sizeof parts);
  for (int i = 0; i < BYTES; ++i) {
    const uint32_t base = cell->read, low = parts[i] & NOTHING;
    out[i] = (check_cell){.write_site = own->write[i],
                          .read_site = (uint16_t)(READ_ALL | own->read[i])};
    switch (parts[i] & KIND) {
      case WROTE: out[i].write = low == NOTHING ? 0 : base + low; break;
      case READ: out[i].read = base + low; break;
      case READ_TWO:
        out[i].read = base + (low & MOST_HALF);
        out[i].other_read = base + (low >> HALF_BITS);
        break;
      default:
        out[i].write = base + (low & MOST_HALF);
        out[i].read = base + (low >> HALF_BITS);
        break;
    }
  }
}

static bool pack_two(uint32_t kind, uint32_t first, uint32_t second,
                     uint16_t *out) {
  *out = (uint16_t)(kind | second << HALF_BITS | first);
  return first <= MOST_HALF && second <= MOST_HALF;
}

// False if it does not fit.
static bool pack_byte(const check_cell *cell, uint32_t base, uint16_t *out) {
  const uint32_t write = cell->write - base, read = cell->read - base;
  if (!cell->read) {
    *out = (uint16_t)(WROTE | (cell->write ? write : NOTHING));
    return !cell->other_read && (!cell->write || write <= MOST);
  }
  if (cell->write) {
    return !cell->other_read && pack_two(BOTH, write, read, out);
  }
  if (cell->other_read) {
    return pack_two(READ_TWO, read, cell->other_read - base, out);
  }
  *out = (uint16_t)(READ | read);
  return read <= MOST;
}

static void take_least(uint32_t segment, uint32_t *least) {
  if (segment && segment < *least) {
    *least = segment;
  }
}

static bool pack(const check_cell in[BYTES], check_cell *out) {
  uint32_t base = UINT32_MAX, number;
  names own = {0};
  for (int i = 0; i < BYTES; ++i) {
    if (in[i].write && in[i].other_read) {
      return false;
    }
    take_least(in[i].write, &base);
    take_least(in[i].read, &base);
    take_least(in[i].other_read, &base);
    own.write[i] = in[i].write ? in[i].write_site : 0;
    own.read[i] = in[i].read ? in[i].read_site & (uint16_t)~READ_ALL : 0;
  }
  uint16_t parts[BYTES];
  for (int i = 0; i < BYTES; ++i) {
    if (!pack_byte(&in[i], base, &parts[i])) {
      return false;
    }
  }
  if (!number_of(&own, &number)) {
    return false;
  }
  out->write = MTLI_CHECK_PACKED | number;
  out->read = base;
  memcpy(&out->other_read, parts, sizeof parts);
  return true;
}

// --- without a call of the rules ---------------------------------------------

// The last change of a word's names by an access of some bytes.
typedef struct change {
  uint32_t key[2];  // number | bytes << 18 | is_write << 22, site + 1
  uint32_t to;
} change;

enum { CHANGES = 256, NO_NAMES = MOST_NAMES };  // NO_NAMES: of a new word

// bytes: a bit for each.
static bool changed_names(uint32_t from, uint32_t bytes, bool is_write,
                          uint32_t site, uint32_t *out) {
  static change changes[CHANGES];
  const uint32_t key = from | bytes << 18 | (uint32_t)is_write << 22;
  change *it = &changes[(key * 0x9e3779b1u ^ site * 0x85ebca6bu) >> 24];
  if (it->key[0] == key && it->key[1] == site + 1 && it->to < names_count) {
    *out = it->to;
    return true;
  }
  names own = {0};
  if (from != NO_NAMES) {
    own = all_names[from];
  }
  for (uint32_t i = 0; i < BYTES; ++i) {
    if (bytes >> i & 1) {
      (is_write ? own.write : own.read)[i] = (uint16_t)site;
      own.read[i] = is_write ? 0 : own.read[i];
    }
  }
  if (!number_of(&own, out)) {
    return false;
  }
  *it = (change){{key, site + 1}, *out};
  return true;
}

// The outcome of the running segment's write, or read, of a byte.
typedef enum outcome {
  ASK,    // the rules of races.c
  KNOWN,  // it is clean, and its site is not kept
  NOTED,
} outcome;

typedef struct running {
  uint32_t segment;
  uint32_t floor;   // segments below come before
  uint32_t shared;  // segments from here on do not, except the running one
  uint32_t base;
} running;

static bool is_past(const running *r, uint32_t segment) {
  return segment < r->floor || segment == r->segment;
}

static outcome write_byte(const running *r, uint16_t *part) {
  const uint32_t low = *part & NOTHING, now = r->segment - r->base;
  bool is_clean;
  switch (*part & KIND) {
    case WROTE: is_clean = low == NOTHING || is_past(r, r->base + low); break;
    case READ: is_clean = is_past(r, r->base + low); break;
    default:
      is_clean = is_past(r, r->base + (low & MOST_HALF)) &&
                 is_past(r, r->base + (low >> HALF_BITS));
      break;
  }
  *part = (uint16_t)(WROTE | now);
  return is_clean && now <= MOST ? NOTED : ASK;
}

static outcome begin_read(uint32_t now, uint16_t *part) {
  *part = (uint16_t)(READ | now);
  return now <= MOST ? NOTED : ASK;
}

static outcome read_byte(const running *r, uint16_t *part) {
  const uint32_t low = *part & NOTHING, now = r->segment - r->base;
  const uint32_t at = r->base + low;
  const uint32_t half = r->base + (low & MOST_HALF);
  const uint32_t other = r->base + (low >> HALF_BITS);
  switch (*part & KIND) {
    case WROTE:
      if (low == NOTHING || at < r->floor) {
        return begin_read(now, part);
      }
      return at == r->segment && pack_two(BOTH, low, now, part) ? NOTED : ASK;
    case READ:
      if (at < r->floor) {
        return begin_read(now, part);
      }
      return at == r->segment ||
                     (at >= r->shared && pack_two(READ_TWO, low, now, part))
                 ? KNOWN
                 : ASK;
    case READ_TWO:
      return half == r->segment || other == r->segment ||
                     (half >= r->shared && other >= r->shared)
                 ? KNOWN
                 : ASK;
    default: return half == r->segment && other == r->segment ? KNOWN : ASK;
  }
}

// True if everything known of a word is ordered before: its parts are
// forgotten.
static bool is_new(const check_cell *cell, uint32_t floor) {
  return check_is_parted(cell)
             ? cell->write != MTLI_CHECK_SPLIT && cell->read + MOST < floor
             : cell->write < floor && cell->read < floor &&
                   cell->other_read < floor;
}

uint32_t check_part_access(mtli_check *check, mtli_check_cell *cell,
                           uint32_t first, uint32_t end, uint32_t flags,
                           uint32_t site) {
  const bool is_threadgroup = (flags & MTLI_CHECK_PART_THREADGROUP) != 0;
  const bool is_write = (flags & MTLI_CHECK_PART_WRITE) != 0;
  running r = {
      .segment = check->segment,
      .floor = is_threadgroup ? check->threadgroup_floor : check->device_floor,
      .shared =
          is_threadgroup ? check->threadgroup_shared : check->device_shared};
  uint16_t parts[BYTES] = {NOTHING, NOTHING, NOTHING, NOTHING};
  uint32_t from = NO_NAMES, noted = 0;
  if (is_new(cell, r.floor)) {
    r.base = r.segment;
  } else if (check_is_parted(cell) && cell->write != MTLI_CHECK_SPLIT) {
    r.base = cell->read;
    from = cell->write - MTLI_CHECK_PACKED;
    memcpy(parts, &cell->other_read, sizeof parts);
  } else {
    return 0;
  }
  for (uint32_t i = first; i < end; ++i) {
    const bool has_read = (parts[i] & KIND) == READ;
    const outcome what =
        is_write ? write_byte(&r, &parts[i]) : read_byte(&r, &parts[i]);
    const bool is_second = has_read && (parts[i] & KIND) == READ_TWO;
    if (what == ASK || (is_second && all_names[from].read[i] != site) ||
        (from != NO_NAMES &&
         (all_names[from].write[i] & MTLI_CHECK_CELL_ATOMIC))) {
      return 0;
    }
    noted |= (uint32_t)(what == NOTED) << i;
  }
  uint32_t number = from;
  if (site > MTLI_CHECK_MOST_READ_SITE ||
      (noted && !changed_names(from, noted, is_write, site, &number))) {
    return 0;
  }
  cell->write = MTLI_CHECK_PACKED | number;
  cell->read = r.base;
  memcpy(&cell->other_read, parts, sizeof parts);
  return 1;
}

// --- words -------------------------------------------------------------------

void check_parts_load(const check_cell *cell, const check_cell *quarters,
                      check_cell out[BYTES]) {
  if (cell->write == MTLI_CHECK_SPLIT) {
    memcpy(out, quarters, BYTES * sizeof *out);
  } else if (check_is_parted(cell)) {
    unpack(cell, out);
  } else {
    for (int i = 0; i < BYTES; ++i) {
      out[i] = *cell;
      if (!(cell->read_site >> 12 >> i & 1)) {
        out[i].read = out[i].other_read = 0;
      }
      out[i].read_site |= READ_ALL;
    }
  }
}

static bool is_same(const check_cell *a, const check_cell *b) {
  return a->write == b->write && a->read == b->read &&
         a->other_read == b->other_read &&
         (!a->write || a->write_site == b->write_site) &&
         (!a->read || a->read_site == b->read_site);
}

// Forgets accesses below floor: the cell's contents do not fit, or are of no
// use.
static void forget_below(check_segment floor, check_cell *cell) {
  cell->write = cell->write < floor ? 0 : cell->write;
  cell->other_read = cell->other_read < floor ? 0 : cell->other_read;
  if (cell->read < floor) {
    const uint32_t site = check_other_read_site(cell);
    check_set_read_sites(cell, site, site);
    cell->read = cell->other_read;
    cell->other_read = 0;
  }
}

void check_parts_store(check_cell *cell, check_cell *quarters,
                       const check_cell in[BYTES], check_segment floor) {
  if (is_same(&in[0], &in[1]) && is_same(&in[0], &in[2]) &&
      is_same(&in[0], &in[3])) {
    *cell = in[0];
    return;
  }
  if (pack(in, cell)) {
    return;
  }
  check_cell recent[BYTES];
  for (int i = 0; i < BYTES; ++i) {
    recent[i] = in[i];
    forget_below(floor, &recent[i]);
  }
  if (!pack(recent, cell)) {
    memcpy(quarters, recent, sizeof recent);
    *cell = (check_cell){.write = MTLI_CHECK_SPLIT};
  }
}

check_cell check_parts_at(const check_cell *cell, const check_cell *quarters,
                          uint64_t offset) {
  if (!check_is_parted(cell)) {
    return *cell;
  }
  check_cell parts[BYTES];
  check_parts_load(cell, quarters, parts);
  return parts[offset % BYTES];
}

void check_parts_forget(void) {
  names_count = 0;
  if (places) {
    memset(places, 0, names_room * sizeof *places);
  }
}
