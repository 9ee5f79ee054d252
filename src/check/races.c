// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// races.c: compares an access with the last ones of its words, which cells of
// shadow memory record. Two accesses that nothing orders, one of them a write,
// are a race. The kernel itself dismisses most accesses (fast_paths.c).
#include <inttypes.h>
#include <string.h>

#include "check/findings.h"

bool check_is_atomic(const mtli_check_site *site) {
  return site->access >= MTLI_CHECK_ATOMIC_READ &&
         site->access <= MTLI_CHECK_ATOMIC_BOTH;
}

bool check_is_write(const mtli_check_site *site) {
  return site->access == MTLI_CHECK_WRITE ||
         site->access == MTLI_CHECK_ATOMIC_WRITE ||
         site->access == MTLI_CHECK_ATOMIC_EXCHANGE ||
         site->access == MTLI_CHECK_ATOMIC_BOTH;
}

static void report_race(check_state *s, bool is_device, uint32_t number,
                        check_segment other, uint32_t other_number,
                        uint64_t offset, uint64_t length) {
  const mtli_check_site *site = check_site(s, number);
  const check_side now = check_side_now(s, number);
  const check_side then = check_side_of(s, other, other_number);
  const check_past *past = check_past_of(other);
  const bool is_other = past && past->number != s->dispatch;
  const char *kind = is_other    ? "race.dispatch"
                     : is_device ? "race.device"
                                 : "race.threadgroup";
  const char *why =
      is_other && (check_is_command(s->sites) || check_is_command(then.sites))
          ? "nothing orders the command and the dispatch"
      : is_other ? "nothing orders the two dispatches"
      : then.group != now.group
          ? "nothing orders threads of different threadgroups"
          : "no barrier that orders such memory is between them";
  const char *name = check_text(s, site->name);
  name = name[0] ? name : check_place_of(&then).variable;
  name = name[0] ? name : "buffer";
  check_report(s, kind, &then, &now,
               "'%s': %" PRIu64 " byte%s at offset %" PRIu64 "; %s", name,
               length, length == 1 ? "" : "s", offset, why);
}

// --- cells -------------------------------------------------------------------

// One word, or one byte of a word that is split.
typedef struct look {
  check_state *s;
  const mtli_check_site *site;
  uint32_t number;
  check_kind kind;
  check_segment barrier;  // check_place
  bool is_device;
  bool is_atomic;
  bool is_live;     // set by a conflict: a race
  bool is_writers;  // it is between two writes
  check_segment other;
  uint32_t other_site;
  uint32_t reader;  // a read that a write races with, its site
  check_memory *memory;
  uint64_t word;        // in memory, that is looked at
  uint32_t bytes;       // of the word, that are accessed
  uint32_t cell_bytes;  // of the word, that the cell is of
} look;

static check_segment safe_of(const look *l) {
  return l->kind & CHECK_TEXELS ? l->s->texels_safe : l->s->safe;
}

// Returns the floor: segments below it are ordered before all later ones.
static check_segment floor_of(const look *l) {
  return l->is_device ? safe_of(l) : l->s->check.threadgroup_floor;
}

// True if a later access may still race with it.
static bool is_recent(const look *l, check_segment before) {
  return before != 0 && before >= floor_of(l);
}

static bool conflicts(const look *l, check_segment before) {
  return is_recent(l, before) && before != l->s->check.segment &&
         !check_is_ordered(l->s, before, l->kind, l->barrier);
}

static void note(look *l, check_segment other, uint32_t site, bool is_writers) {
  if (!l->is_live || (l->is_writers && !is_writers)) {
    l->is_live = true;
    l->is_writers = is_writers;
    l->other = other;
    l->other_site = site;
  }
}

static uint32_t write_site(const check_cell *cell) {
  return cell->write_site & MTLI_CHECK_MOST_WRITE_SITE;
}

static bool is_atomic_write(const check_cell *cell) {
  return (cell->write_site & MTLI_CHECK_CELL_ATOMIC) != 0;
}

// Notes the reads of a cell: cell->read at a site, cell->other_read at another.
static void set_sites(check_cell *cell, uint32_t read, uint32_t other_read) {
  check_set_read_sites(cell, read, cell->other_read ? other_read : read);
}

static const mtli_check_site *site_then(const check_state *s,
                                        check_segment segment,
                                        uint32_t number) {
  const check_past *past = check_past_of(segment);
  return &(past ? past->sites : s->sites)->sites[number];
}

// True if the access kept as a read may be a write: the last but one of several
// atomic ones, or a plain one that comes before an atomic one in order.
static bool is_kept_write(const look *l, const check_cell *cell) {
  return cell->read &&
         check_is_write(site_then(l->s, cell->read, check_read_site(cell)));
}

static bool read_is_atomic(const look *l, const check_cell *cell) {
  return check_is_atomic(site_then(l->s, cell->read, check_read_site(cell)));
}

// Returns how far apart two segments are; the farther, the less is likely to
// order them. 0: in one simdgroup, 1: in one threadgroup, 2: in one dispatch,
// 3: in two.
static int distance(const look *l, check_segment a, check_segment b) {
  const check_segment first = l->s->dispatch_first;
  if (a < first || b < first) {
    return check_past_of(a) == check_past_of(b) ? 0 : 3;
  }
  check_moment one, two;
  if (!check_moment_of(a, &one) || !check_moment_of(b, &two)) {
    return 0;
  }
  return one.group != two.group               ? 2
         : one.thread / 32 != two.thread / 32 ? 1
                                              : 0;
}

// --- further accesses of a word ----------------------------------------------

// True if what orders the later of two accesses orders the other one too: they
// are of one dispatch, or of one stage of a queue's encoder.
static bool is_alike(check_segment a, check_segment b) {
  const check_past *one = check_past_of(a), *other = check_past_of(b);
  return one == other ||
         (one && other && one->queue == other->queue &&
          one->encoder == other->encoder && one->stage == other->stage);
}

// True for an access that is still of use: a later one is not alike.
static bool is_of_use(void *context, check_further *access) {
  look *l = ((void **)context)[0];
  const check_further *later = ((void **)context)[1];
  if (conflicts(l, access->segment) &&
      is_alike(access->segment, later->segment) &&
      (later->bytes & access->bytes) == access->bytes &&
      later->segment >= access->segment) {
    return false;
  }
  return conflicts(l, access->segment);
}

// Moves an access from the word's shadow cell to its list (further.c), where it
// is of an earlier dispatch and unordered with the running access.
static void move_out(look *l, check_segment segment, uint32_t site,
                     uint32_t bytes) {
  if (l->memory && segment < l->s->dispatch_first && conflicts(l, segment)) {
    check_further access = {.segment = segment,
                            .site = (uint16_t)site,
                            .bytes = (uint16_t)(bytes & l->cell_bytes)};
    check_further_keep(l->memory, l->word, is_of_use,
                       (void *[]){l, &access});
    check_further_add(l->memory, l->word, access);
  }
}

static bool move_first(void *context, check_further *access) {
  look *l = ((void **)context)[0];
  check_further *out = ((void **)context)[1];
  if (out->segment || !(access->bytes & l->cell_bytes) ||
      !conflicts(l, access->segment) ||
      check_is_write(site_then(l->s, access->segment, access->site))) {
    return true;
  }
  *out = *access;
  access->bytes &= (uint16_t)~l->cell_bytes;
  return access->bytes != 0;
}

// Moves a read that nothing orders back into the cell, where the kernel itself
// sees it: as the second one.
static void move_in(look *l, check_cell *cell) {
  check_further first = {0};
  check_further_keep(l->memory, l->word, move_first, (void *[]){l, &first});
  cell->other_read = first.segment;
  if (first.segment) {
    set_sites(cell, check_read_site(cell), first.site);
    cell->read_site |= (uint16_t)(first.bytes << 12);
  }
}

// Notes a race with an access that is not in the cell. A plain write takes the
// place of all.
static bool look_at_further(void *context, check_further *access) {
  look *l = context;
  const mtli_check_site *then =
      site_then(l->s, access->segment, access->site);
  if (!(access->bytes & l->bytes)) {
    return true;
  }
  if ((check_is_write(l->site) || check_is_write(then)) &&
      !(l->is_atomic && check_is_atomic(then)) &&
      conflicts(l, access->segment)) {
    note(l, access->segment, access->site, false);
  }
  if (check_is_write(l->site) && !l->is_atomic) {
    access->bytes &= (uint16_t)~l->bytes;
  }
  return access->bytes != 0;
}

// --- reads -------------------------------------------------------------------

// Keeps two of three reads that nothing orders: one of an earlier dispatch and
// two of the running one, where it has two in this threadgroup, else one of it.
static void keep_read_of_dispatch(look *l, check_cell *cell,
                                  uint32_t bytes) {
  const check_state *s = l->s;
  const bool is_first = cell->read >= s->dispatch_first;
  const check_segment own = is_first ? cell->read : cell->other_read;
  const uint32_t read = check_read_site(cell);
  const uint32_t other = check_other_read_site(cell);
  if (own < s->group_first || !l->memory) {
    return;  // it stands for those of this threadgroup
  }
  move_out(l, is_first ? cell->other_read : cell->read, is_first ? other : read,
           bytes);
  cell->read = own;
  cell->other_read = s->check.segment;
  set_sites(cell, is_first ? read : other, l->number);
}

// The running segment is the third of reads that nothing orders.
static void keep_read(look *l, check_cell *cell) {
  const check_state *s = l->s;
  const check_segment segment = s->check.segment;
  const uint32_t read = check_read_site(cell), bytes = cell->read_site >> 12;
  const bool was_here = cell->read >= s->dispatch_first;
  if (!conflicts(l, cell->other_read)) {
    cell->other_read = segment;
    set_sites(cell, read, l->number);
  } else if (was_here && cell->other_read >= s->dispatch_first) {
    if (distance(l, cell->read, segment) >
        distance(l, cell->read, cell->other_read)) {
      cell->other_read = segment;
      set_sites(cell, read, l->number);
    }
  } else if (was_here || cell->other_read >= s->dispatch_first) {
    keep_read_of_dispatch(l, cell, bytes);
  } else {
    const uint32_t other = check_other_read_site(cell);
    if (!is_alike(cell->read, cell->other_read)) {
      move_out(l, cell->read, read, bytes);
    }
    cell->read = cell->other_read;
    cell->other_read = segment;
    set_sites(cell, other, l->number);
  }
}

static void look_at_read(look *l, check_cell *cell, uint32_t bytes) {
  const check_segment segment = l->s->check.segment;
  const bool is_kept = is_atomic_write(cell) && is_recent(l, cell->read) &&
                       is_kept_write(l, cell);
  const bool both_atomic = l->is_atomic && is_atomic_write(cell);
  if (!both_atomic && conflicts(l, cell->write)) {
    note(l, cell->write, write_site(cell), false);
  } else if (is_kept && conflicts(l, cell->read) &&
             !(l->is_atomic && read_is_atomic(l, cell))) {
    note(l, cell->read, check_read_site(cell), false);
  }
  if (both_atomic && is_kept && !read_is_atomic(l, cell)) {
    return;  // an access that conflicts with this read also conflicts with that
             // write
  }
  if (cell->read == segment || cell->other_read == segment) {
    cell->read_site |= (uint16_t)(bytes << 12);
    return;
  }
  if (!conflicts(l, cell->read)) {
    if (cell->other_read && !conflicts(l, cell->other_read)) {
      cell->other_read = 0;
    }
    cell->read = segment;
    if (!cell->other_read) {
      cell->read_site = 0;
    }
    set_sites(cell, l->number, check_other_read_site(cell));
    if (!cell->other_read && l->memory) {
      move_in(l, cell);
    }
    cell->read_site |= (uint16_t)(bytes << 12);
    return;
  }
  keep_read(l, cell);
  cell->read_site |= (uint16_t)(bytes << 12);
}

// True if the atomic write that is kept, before the last one, is farther from
// the running one, which becomes the last.
static bool is_kept_farther(const look *l, const check_cell *cell) {
  const check_segment segment = l->s->check.segment;
  return is_kept_write(l, cell) && conflicts(l, cell->read) &&
         distance(l, cell->read, segment) > distance(l, cell->write, segment);
}

// Moves a read, or an atomic write kept as one, out of the cell, unless the
// last write stands for it.
static void move_read_out(look *l, const check_cell *cell,
                          check_segment segment, uint32_t site) {
  if (segment && !is_alike(segment, cell->write)) {
    move_out(l, segment, site, cell->read_site >> 12);
  }
}

// Updates the earlier accesses of a word at a write. An atomic write orders
// nothing: others' atomics race with earlier accesses that were not atomic.
static void keep_before_write(look *l, check_cell *cell, bool is_unordered) {
  const bool was_atomic = is_atomic_write(cell);
  if (l->is_atomic && was_atomic && is_unordered && is_kept_farther(l, cell)) {
    if (!is_alike(cell->read, cell->write)) {
      move_out(l, cell->write, write_site(cell), 15);
    }
    return;
  }
  if (l->is_atomic) {
    move_read_out(l, cell, cell->other_read, check_other_read_site(cell));
  }
  if (l->is_atomic &&
      ((!was_atomic && is_recent(l, cell->write)) ||
       (was_atomic && is_unordered &&
        !(is_recent(l, cell->read) && !read_is_atomic(l, cell))))) {
    move_read_out(l, cell, cell->read, check_read_site(cell));
    cell->read = cell->write;
    cell->other_read = 0;
    cell->read_site = 0xf000;
    set_sites(cell, write_site(cell), 0);
  } else if (!l->is_atomic || !(is_recent(l, cell->read) &&
                                (!read_is_atomic(l, cell) ||
                                 (was_atomic && is_kept_write(l, cell))))) {
    cell->read = cell->other_read = 0;
  }
}

static void look_at_write(look *l, check_cell *cell) {
  const check_state *s = l->s;
  const bool both_atomic = l->is_atomic && is_atomic_write(cell);
  const bool is_unordered = conflicts(l, cell->write);
  if (is_unordered && !both_atomic) {
    note(l, cell->write, write_site(cell), l->site->access == MTLI_CHECK_WRITE);
  }
  const bool reads = cell->read && !(l->is_atomic && read_is_atomic(l, cell));
  const check_segment reader = !reads                     ? 0
                               : conflicts(l, cell->read) ? cell->read
                               : conflicts(l, cell->other_read)
                                   ? cell->other_read
                                   : 0;
  if (reader) {
    l->reader = reader == cell->read ? check_read_site(cell)
                                     : check_other_read_site(cell);
    note(l, reader, l->reader, false);
  }
  keep_before_write(l, cell, is_unordered);
  cell->write = s->check.segment;
  cell->write_site =
      (uint16_t)((l->number <= MTLI_CHECK_MOST_WRITE_SITE ? l->number : 0) |
                 (l->is_atomic ? MTLI_CHECK_CELL_ATOMIC : 0));
}

// cell: of the word, or of one of its bytes; bytes: of the word.
static void look_at(look *l, check_cell *cell, uint32_t bytes, bool is_part) {
  l->bytes = bytes;
  l->cell_bytes = is_part ? bytes : 15;
  if (check_is_write(l->site)) {
    look_at_write(l, cell);
  } else {
    look_at_read(l, cell, is_part ? 15 : bytes);
  }
  check_further_keep(l->memory, l->word, look_at_further, l);
}

// --- words whose bytes are accessed one by one -------------------------------

// True if a word in parts still has facts worth keeping.
static bool has_use(const look *l, const check_cell *parts) {
  const check_segment floor = floor_of(l);
  for (int i = 0; i < 4; ++i) {
    if (parts[i].write >= floor || parts[i].read >= floor ||
        parts[i].other_read >= floor) {
      return true;
    }
  }
  return false;
}

static void look_at_parts(look *l, check_cell *cell, check_cell *quarters,
                          uint32_t first, uint32_t end) {
  check_cell parts[4];
  check_parts_load(cell, quarters, parts);
  if (first == 0 && end == 4 && !has_use(l, parts)) {
    *cell = (check_cell){0};
    look_at(l, cell, 15, false);
    return;
  }
  for (uint32_t i = first; i < end; ++i) {
    look_at(l, &parts[i], 1u << i, true);
  }
  check_parts_store(cell, quarters, parts, floor_of(l));
}

static void look_through(look *l, const check_place *place) {
  uint64_t offset = place->offset;
  const uint64_t end = offset + place->length;
  while (offset < end) {
    check_cell *cell = &place->cells[offset / 4];
    check_cell *quarters = &place->quarters[offset / 4 * 4];
    l->word = offset / 4;
    const uint32_t first = offset % 4;
    const uint32_t last =
        end - offset + first >= 4 ? 4 : (uint32_t)(end - offset + first);
    if (check_is_parted(cell)) {
      look_at_parts(l, cell, quarters, first, last);
    } else if (first == 0 && last == 4) {
      look_at(l, cell, 15, false);
    } else if (place->is_coarse && !check_is_write(l->site)) {
      look_at(l, cell, (1u << last) - (1u << first), false);
    } else {
      look_at_parts(l, cell, quarters, first, last);
    }
    offset += last - first;
  }
}

// --- the same value ----------------------------------------------------------

void check_settle(mtli_check *check) {
  check_state *s = (check_state *)check;
  char *to = s->pending;
  if (!to) {
    return;  // out of bounds
  }
  s->pending = NULL;
  const bool is_same = memcmp(to, s->bounce, s->pending_bytes) == 0;
  const bool is_device =
      (uint64_t)(to - s->check.threadgroup_memory) >= s->threadgroup_bytes;
  if (!is_same || (s->checks & MTLI_CHECK_UNIFORM)) {
    uint64_t first = (uint64_t)(uintptr_t)s->check.threadgroup_memory;
    if (is_device) {
      const check_memory *memory = check_memory_find((uintptr_t)to);
      first = memory ? memory->first : 0;
    }
    report_race(s, is_device, s->pending_site, s->pending_other,
                s->pending_other_site, (uintptr_t)to - first, s->pending_bytes);
  }
  memcpy(to, s->bounce, s->pending_bytes);
}

void *check_races(check_state *s, uint32_t number, void *address,
                  const check_place *place) {
  const mtli_check_site *site = check_site(s, number);
  look l = {.s = s,
            .site = site,
            .number = number,
            .kind = place->kind,
            .barrier = place->barrier,
            .is_device = place->kind != CHECK_THREADGROUP,
            .is_atomic = check_is_atomic(site),
            .memory = place->memory};
  look_through(&l, place);
  if (!l.is_live) {
    return address;
  }
  if (l.is_writers && place->length <= sizeof s->bounce &&
      site->size_bytes == place->length) {
    s->pending = address;
    s->pending_bytes = (uint32_t)place->length;
    s->pending_site = number;
    s->pending_other = l.other;
    s->pending_other_site = l.other_site;
    memcpy(s->bounce, address, place->length);
    return s->bounce;
  }
  report_race(s, l.is_device, number, l.other, l.other_site, place->told,
              site->size_bytes ? site->size_bytes : place->length);
  if (s->marked && l.reader) {
    check_causes_write(l.reader, s->marked);
  }
  if (s->is_stale && l.is_device && site->access == MTLI_CHECK_READ) {
    return check_explore_stale(s, address, place->length);
  }
  return address;
}
