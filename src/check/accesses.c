// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accesses.c: what is asked of each access: its bounds, its alignment, who else
// accessed the place, and whether it was ever set.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/state.h"

static const mtli_check_site *site_of(const check_state *s, uint32_t site) {
  return &s->sites->sites[site];
}

static const char *text_of(const check_state *s, uint32_t offset) {
  return s->sites->texts + offset;
}

static bool is_atomic(const mtli_check_site *site) {
  return site->access >= MTLI_CHECK_ATOMIC_READ &&
         site->access <= MTLI_CHECK_ATOMIC_BOTH;
}

static bool is_write(const mtli_check_site *site) {
  return site->access == MTLI_CHECK_WRITE ||
         site->access == MTLI_CHECK_ATOMIC_WRITE ||
         site->access == MTLI_CHECK_ATOMIC_BOTH;
}

// --- out of bounds -------------------------------------------------------------

static void *harmless(check_state *s) {
  memset(s->dump, 0, 256);
  return s->dump;
}

// Where an address is, against what may be accessed.
static void report_bounds(check_state *s, const char *kind, uint32_t number,
                          uint64_t address, uint64_t first, uint64_t bytes,
                          uint64_t length) {
  const mtli_check_site *site = site_of(s, number);
  const check_side side = check_side_now(s, number);
  const char *name = text_of(s, site->name);
  const int64_t offset = (int64_t)(address - first);
  if (offset < 0) {
    check_report(s, kind, &side, NULL,
                 "'%s': %" PRIu64 " byte%s at offset %" PRId64
                 ", before its %" PRIu64 " bytes",
                 name, length, length == 1 ? "" : "s", offset, bytes);
  } else {
    check_report(s, kind, &side, NULL,
                 "'%s': %" PRIu64 " byte%s at offset %" PRId64 " of %" PRIu64
                 " bytes",
                 name, length, length == 1 ? "" : "s", offset, bytes);
  }
}

static void report_member(mtli_check *check, uint32_t number, void *address,
                          void *base) {
  check_state *s = (check_state *)check;
  const mtli_check_site *site = site_of(s, number);
  report_bounds(s, "bounds.subobject", number, (uintptr_t)address,
                (uintptr_t)base, site->object_bytes, site->size_bytes);
}

static void report_align(check_state *s, uint32_t number, uint64_t address) {
  const mtli_check_site *site = site_of(s, number);
  const check_side side = check_side_now(s, number);
  uint64_t is = address & -address;
  check_report(s, "align", &side, NULL,
               "'%s': %u bytes at an address that is a multiple of %" PRIu64
               ", and must be one of %u",
               text_of(s, site->name), site->size_bytes, is, site->align_bytes);
}

// --- races ---------------------------------------------------------------------

static void report_race(check_state *s, bool is_device, uint32_t number,
                        check_segment other, uint32_t other_number,
                        uint64_t offset) {
  const mtli_check_site *site = site_of(s, number);
  const check_side now = check_side_now(s, number);
  const check_side then = check_side_of(s, other, other_number);
  const check_past *past = check_past_of(other);
  const bool is_other = past && past->number != s->dispatch;
  const char *kind = is_other    ? "race.dispatch"
                     : is_device ? "race.device"
                                 : "race.threadgroup";
  const char *why =
      is_other ? "nothing orders the two dispatches"
      : then.group != now.group
          ? "nothing orders threads of different threadgroups"
          : "no barrier that orders such memory is between them";
  check_report(s, kind, &then, &now,
               "'%s': %u byte%s at offset %" PRIu64 "; %s",
               text_of(s, site->name), site->size_bytes,
               site->size_bytes == 1 ? "" : "s", offset, why);
}

void check_settle(check_state *s) {
  char *to = s->pending;
  s->pending = NULL;
  const bool is_same = memcmp(to, s->bounce, s->pending_bytes) == 0;
  const bool is_device =
      site_of(s, s->pending_site)->space != MTLI_CHECK_THREADGROUP;
  if (!is_same || (s->checks & MTLI_CHECK_UNIFORM)) {
    uint64_t first = (uint64_t)(uintptr_t)s->threadgroup;
    if (is_device) {
      const check_memory *memory = check_memory_find((uintptr_t)to);
      first = memory ? memory->first : 0;
    }
    report_race(s, is_device, s->pending_site, s->pending_other,
                s->pending_other_site, (uintptr_t)to - first);
  }
  memcpy(to, s->bounce, s->pending_bytes);
}

// True if two accesses may both be at once.
static bool may_both(const check_state *s, check_segment other,
                     uint32_t other_site, const mtli_check_site *site) {
  if (!is_atomic(site)) {
    return false;
  }
  const check_past *past = check_past_of(other);
  const mtli_check_sites *sites = past ? past->sites : s->sites;
  return is_atomic(&sites->sites[other_site]);
}

// One word, or one byte of a word that is split.
typedef struct look {
  check_state *s;
  const mtli_check_site *site;
  uint32_t number;
  bool is_device;
  bool is_live;      // set by a conflict: a race
  bool is_writers;   // it is between two writes
  check_segment other;
  uint32_t other_site;
} look;

static bool conflicts(const look *l, check_segment before) {
  const check_state *s = l->s;
  const check_segment safe = l->is_device ? s->safe : s->group_first;
  return before >= safe && before != s->segment && before != 0 &&
         !check_is_ordered(s, before, l->is_device);
}

static void note(look *l, check_segment other, uint32_t site,
                 bool is_writers) {
  if (!l->is_live || (l->is_writers && !is_writers)) {
    l->is_live = true;
    l->is_writers = is_writers;
    l->other = other;
    l->other_site = site;
  }
}

static void look_at_read(look *l, check_cell *cell) {
  const check_segment segment = l->s->segment;
  if (cell->write != segment && conflicts(l, cell->write) &&
      !may_both(l->s, cell->write, cell->write_site, l->site)) {
    note(l, cell->write, cell->write_site, false);
  }
  if (cell->read == segment || cell->other_read == segment) {
    return;
  }
  if (!conflicts(l, cell->read)) {
    cell->read = segment;
    cell->read_site = (uint16_t)l->number;
    if (cell->other_read && !conflicts(l, cell->other_read)) {
      cell->other_read = 0;
    }
  } else if (!conflicts(l, cell->other_read)) {
    cell->other_read = segment;
  }
}

static void look_at_write(look *l, check_cell *cell) {
  const check_state *s = l->s;
  if (conflicts(l, cell->write) &&
      !may_both(s, cell->write, cell->write_site, l->site)) {
    note(l, cell->write, cell->write_site,
         !is_atomic(l->site) && l->site->access == MTLI_CHECK_WRITE);
  }
  if (conflicts(l, cell->read) &&
      !may_both(s, cell->read, cell->read_site, l->site)) {
    note(l, cell->read, cell->read_site, false);
  } else if (conflicts(l, cell->other_read) &&
             !may_both(s, cell->other_read, cell->read_site, l->site)) {
    note(l, cell->other_read, cell->read_site, false);
  }
  cell->write = s->segment;
  cell->write_site = (uint16_t)l->number;
  cell->read = cell->other_read = 0;
}

static void look_at(look *l, check_cell *cell) {
  if (is_write(l->site)) {
    look_at_write(l, cell);
  } else {
    look_at_read(l, cell);
  }
}

// Words whose bytes are accessed one by one have four cells of their own.
typedef struct split_cells {
  check_cell bytes[4];
} split_cells;

enum { SPLITS = 1 << 12, SPLIT_BLOCKS = 1 << 16 };
static split_cells *split_blocks[SPLIT_BLOCKS];
static uint32_t split_count = 1;

static split_cells *split_of(uint32_t number) {
  return &split_blocks[number / SPLITS][number % SPLITS];
}

static split_cells *split_cell(check_cell *cell) {
  if (cell->write == CHECK_SPLIT) {
    return split_of(cell->read);
  }
  split_cells **block = &split_blocks[split_count / SPLITS];
  if (split_count / SPLITS >= SPLIT_BLOCKS ||
      (!*block && !(*block = calloc(SPLITS, sizeof **block)))) {
    mtli_check_note_unchecked("no memory for accesses of single bytes");
    return NULL;
  }
  split_cells *cells = split_of(split_count);
  for (int i = 0; i < 4; ++i) {
    cells->bytes[i] = *cell;
  }
  *cell = (check_cell){.write = CHECK_SPLIT, .read = split_count++};
  return cells;
}

static void look_at_bytes(look *l, check_cell *cell, uint32_t first,
                          uint32_t end) {
  split_cells *cells = split_cell(cell);
  for (uint32_t i = first; cells && i < end; ++i) {
    look_at(l, &cells->bytes[i]);
  }
}

// The words from offset on, of the memory that cells are of.
static void look_through(look *l, check_cell *cells, uint64_t offset,
                         uint64_t length) {
  const uint64_t end = offset + length;
  while (offset < end) {
    check_cell *cell = &cells[offset / 4];
    const uint32_t first = offset % 4;
    const uint32_t last = end - offset + first >= 4
                              ? 4
                              : (uint32_t)(end - offset + first);
    if (first == 0 && last == 4 && cell->write != CHECK_SPLIT) {
      look_at(l, cell);
    } else {
      look_at_bytes(l, cell, first, last);
    }
    offset += last - first;
  }
}

// Returns where to write: elsewhere, if it may be the value that is there.
static void *finish_look(look *l, void *address, uint64_t offset,
                         uint64_t length) {
  check_state *s = l->s;
  if (!l->is_live) {
    return address;
  }
  if (l->is_writers && length <= sizeof s->bounce &&
      l->site->size_bytes == length) {
    s->pending = address;
    s->pending_bytes = (uint32_t)length;
    s->pending_site = l->number;
    s->pending_other = l->other;
    s->pending_other_site = l->other_site;
    memcpy(s->bounce, address, length);
    return s->bounce;
  }
  report_race(s, l->is_device, l->number, l->other, l->other_site, offset);
  return address;
}

// --- unset bytes -----------------------------------------------------------------

static void write_set(uint8_t *set, uint64_t at, uint64_t length,
                      uint64_t unset) {
  if (!unset && at % 8 == 0 && length % 8 == 0) {
    memset(set + at / 8, 0xff, length / 8);
    return;
  }
  for (uint64_t i = 0; i < length; ++i, ++at) {
    if (i < 64 && (unset >> i & 1)) {
      set[at / 8] &= (uint8_t) ~(1u << at % 8);
    } else {
      set[at / 8] |= (uint8_t)(1u << at % 8);
    }
  }
}

static uint64_t read_unset(const uint8_t *set, uint64_t at, uint64_t length) {
  uint64_t unset = 0;
  for (uint64_t i = 0; i < length && i < 64; ++i, ++at) {
    unset |= (uint64_t)(~set[at / 8] >> at % 8 & 1) << i;
  }
  return unset;
}

// What was a change of what is there leaves it as unset as it was.
static void note_set(check_state *s, const mtli_check_site *site, uint8_t *set,
                     uint64_t at, uint64_t length, uint64_t unset) {
  if (site->access == MTLI_CHECK_WRITE ||
      site->access == MTLI_CHECK_ATOMIC_WRITE) {
    write_set(set, at, length, unset);
  } else {
    s->check.unset = read_unset(set, at, length);
  }
}

// --- device memory ----------------------------------------------------------------

static void *access_threadgroup_range(check_state *s, void *address,
                                      uint32_t number, uint64_t unset,
                                      void *base, uint64_t length);

static const check_range *range_at(check_state *s, const mtli_check_site *site,
                                   uint64_t address, check_range *own) {
  if (site->slot != MTLI_CHECK_NO_SLOT) {
    return &s->ranges[site->slot];
  }
  check_memory *memory = s->last;
  if (!memory || address - memory->first >= memory->bytes) {
    memory = s->last = check_memory_find(address);
  }
  if (memory) {
    if (!check_memory_prepare(memory)) {
      mtli_check_note_unchecked("no memory for the shadow of a buffer");
    }
    *own = (check_range){memory->first, memory->bytes, memory,
                         memory->set == NULL};
    return own;
  }
  for (size_t i = 0; i < s->range_count; ++i) {
    if (address - s->ranges[i].first < s->ranges[i].bytes) {
      return &s->ranges[i];
    }
  }
  return NULL;
}

static bool report_outside(check_state *s, uint32_t number, uint64_t address,
                           uint64_t length, const check_range *range,
                           uint64_t allowed) {
  if (!(s->checks & MTLI_CHECK_BOUNDS)) {
    return true;
  }
  if (!range) {
    const check_side side = check_side_now(s, number);
    check_report(s, "bounds.device", &side, NULL,
                 "%" PRIu64 " bytes at an address that is in no buffer of the "
                 "device",
                 length);
    return true;
  }
  report_bounds(s, "bounds.device", number, address, range->first, allowed,
                length);
  return true;
}

static void *access_device_range(check_state *s, void *address,
                                 uint32_t number, uint64_t unset,
                                 uint64_t length) {
  const mtli_check_site *site = site_of(s, number);
  const uint64_t at = (uintptr_t)address;
  check_range own;
  if (site->space == MTLI_CHECK_ANYWHERE &&
      at - (uintptr_t)s->threadgroup < s->threadgroup_bytes) {
    return access_threadgroup_range(s, address, number, unset, NULL, length);
  }
  const check_range *range = range_at(s, site, at, &own);
  if (!range && site->space == MTLI_CHECK_ANYWHERE) {
    s->check.unset = 0;  // the thread's own, as far as is known
    return address;
  }
  s->check.unset = 0;
  if (s->pending) {
    check_settle(s);
  }
  uint64_t allowed = range ? range->bytes : 0;
  if (site->object_bytes && site->object_bytes < allowed) {
    allowed = site->object_bytes;
  }
  if (!range || at - range->first > allowed ||
      allowed - (at - range->first) < length) {
    report_outside(s, number, at, length, range, allowed);
    return harmless(s);
  }
  if ((at & (site->align_bytes - 1)) && (s->checks & MTLI_CHECK_ALIGN)) {
    report_align(s, number, at);
  }
  check_memory *memory = range->memory;
  if (!memory) {
    return address;
  }
  const uint64_t offset = at - memory->first;
  if (memory->set && (s->checks & MTLI_CHECK_INIT)) {
    note_set(s, site, memory->set, offset, length, unset);
  }
  if ((s->checks & MTLI_CHECK_RACES) && memory->cells) {
    if (s->has_fences && is_atomic(site)) {
      check_fences_atomic(s, at, site->access != MTLI_CHECK_ATOMIC_WRITE,
                          site->access != MTLI_CHECK_ATOMIC_READ);
    }
    look l = {.s = s, .site = site, .number = number, .is_device = true};
    look_through(&l, memory->cells, offset, length);
    return finish_look(&l, address, offset, length);
  }
  return address;
}

static void *access_device(mtli_check *check, void *address, uint32_t number,
                           uint64_t unset) {
  check_state *s = (check_state *)check;
  return access_device_range(s, address, number, unset,
                             site_of(s, number)->size_bytes);
}

// Bounds and nothing else.
static void *bound_device(mtli_check *check, void *address, uint32_t number,
                          uint64_t unset) {
  check_state *s = (check_state *)check;
  const mtli_check_site *site = site_of(s, number);
  const uint64_t at = (uintptr_t)address;
  if (site->slot != MTLI_CHECK_NO_SLOT && !site->object_bytes) {
    const check_range *range = &s->ranges[site->slot];
    const uint64_t offset = at - range->first;
    if (offset + site->size_bytes <= range->bytes && offset < range->bytes) {
      return address;
    }
  }
  return access_device_range(s, address, number, unset, site->size_bytes);
}

// --- threadgroup memory --------------------------------------------------------------

static void *access_threadgroup_range(check_state *s, void *address,
                                      uint32_t number, uint64_t unset,
                                      void *base, uint64_t length) {
  const mtli_check_site *site = site_of(s, number);
  char *first = s->threadgroup;
  uint64_t allowed = s->threadgroup_bytes;
  s->check.unset = 0;
  if (s->pending) {
    check_settle(s);
  }
  if (base && site->object_bytes) {
    first = base;
    allowed = site->object_bytes;
  } else if (site->slot != MTLI_CHECK_NO_SLOT) {
    first = base;
    allowed = s->ranges[site->slot].bytes;
  }
  const uint64_t within = (uint64_t)((char *)address - first);
  if (within > allowed || allowed - within < length) {
    if (s->checks & MTLI_CHECK_BOUNDS) {
      report_bounds(s, "bounds.threadgroup", number, (uintptr_t)address,
                    (uintptr_t)first, allowed, length);
    }
    return harmless(s);
  }
  if (((uintptr_t)address & (site->align_bytes - 1)) &&
      (s->checks & MTLI_CHECK_ALIGN)) {
    report_align(s, number, (uintptr_t)address);
  }
  const uint64_t offset = (uint64_t)((char *)address - s->threadgroup);
  if (offset > s->threadgroup_bytes ||
      s->threadgroup_bytes - offset < length) {
    return harmless(s);  // an argument without memory
  }
  if (s->checks & MTLI_CHECK_INIT) {
    note_set(s, site, s->threadgroup_set, offset, length, unset);
  }
  if (s->checks & MTLI_CHECK_RACES) {
    look l = {.s = s, .site = site, .number = number};
    look_through(&l, s->threadgroup_cells, offset, length);
    return finish_look(&l, address, (uint64_t)((char *)address - first),
                       length);
  }
  return address;
}

static void *access_threadgroup(mtli_check *check, void *address,
                                uint32_t number, uint64_t unset, void *base,
                                uint8_t *shadow) {
  (void)shadow;
  check_state *s = (check_state *)check;
  return access_threadgroup_range(s, address, number, unset, base,
                                  site_of(s, number)->size_bytes);
}

// --- variables -----------------------------------------------------------------------

static void *access_variable_range(check_state *s, void *address,
                                   uint32_t number, uint64_t unset, void *base,
                                   uint8_t *shadow, uint64_t length) {
  const mtli_check_site *site = site_of(s, number);
  const uint64_t within = (uint64_t)((char *)address - (char *)base);
  const uint64_t allowed = site->object_bytes;
  s->check.unset = 0;
  if (s->pending) {
    check_settle(s);
  }
  if (within > allowed || allowed - within < length) {
    if (s->checks & MTLI_CHECK_BOUNDS) {
      report_bounds(s,
                    site->space == MTLI_CHECK_CONSTANT ? "bounds.constant"
                                                       : "bounds.private",
                    number, (uintptr_t)address, (uintptr_t)base, allowed,
                    length);
    }
    return harmless(s);
  }
  if (!shadow || !(s->checks & MTLI_CHECK_INIT)) {
    return address;
  }
  // A private variable's bits are 1 for what is not set.
  for (uint64_t i = 0; i < length; ++i) {
    const uint64_t at = within + i;
    const uint8_t bit = (uint8_t)(1u << at % 8);
    if (!is_write(site)) {
      s->check.unset |= i < 64 && (shadow[at / 8] & bit) ? (uint64_t)1 << i : 0;
    } else if (i < 64 && (unset >> i & 1)) {
      shadow[at / 8] |= bit;
    } else {
      shadow[at / 8] &= (uint8_t)~bit;
    }
  }
  return address;
}

static void *access_variable(mtli_check *check, void *address, uint32_t number,
                             uint64_t unset, void *base, uint8_t *shadow) {
  check_state *s = (check_state *)check;
  return access_variable_range(s, address, number, unset, base, shadow,
                               site_of(s, number)->size_bytes);
}

// --- pieces --------------------------------------------------------------------------

// Of a piece too large for the dump nothing is done at all.
static uint64_t access_range(mtli_check *check, void *address, uint32_t number,
                             uint64_t bytes, void *base, uint8_t *shadow) {
  check_state *s = (check_state *)check;
  void *to = address;
  if (bytes == 0) {
    return 0;
  }
  switch (site_of(s, number)->space) {
    case MTLI_CHECK_DEVICE:
      to = access_device_range(s, address, number, 0, bytes);
      break;
    case MTLI_CHECK_THREADGROUP:
      to = access_threadgroup_range(s, address, number, 0, base, bytes);
      break;
    default:
      to = access_variable_range(s, address, number, 0, base, shadow, bytes);
      break;
  }
  if (to == s->bounce) {
    s->pending = NULL;
    return bytes;
  }
  return to == address ? bytes : 0;
}

// --- values ----------------------------------------------------------------------------

static const char *kind_of_origin(const mtli_check_site *origin) {
  switch (origin->access) {
    case MTLI_CHECK_SHUFFLE: return "sync.simdgroup";
    case MTLI_CHECK_VARIABLE: return "init.private";
    default: break;
  }
  switch (origin->space) {
    case MTLI_CHECK_THREADGROUP: return "init.threadgroup";
    case MTLI_CHECK_DEVICE: return "init.device";
    default: return "init.private";
  }
}

// A store to device memory passes a value on; where only kernels read it that
// is no use of it yet.
static bool is_passed_on(const check_state *s, const mtli_check_site *site) {
  if (site->access != MTLI_CHECK_WRITE &&
      site->access != MTLI_CHECK_ATOMIC_WRITE) {
    return false;
  }
  return site->slot != MTLI_CHECK_NO_SLOT && s->ranges[site->slot].memory &&
         s->ranges[site->slot].memory->set != NULL;
}

// True if it was one of these.
static bool use_number(check_state *s, uint32_t number, uint32_t what) {
  const check_side side = check_side_now(s, number);
  switch (what) {
    case MTLI_CHECK_DIVISION:
      check_report(s, "integer.division", &side, NULL,
                   "a division of integers by zero, which gives 0");
      return true;
    case MTLI_CHECK_SHIFT:
      check_report(s, "integer.shift", &side, NULL,
                   "a shift by the width of its type or more");
      return true;
    case MTLI_CHECK_BORN:
      if (!s->thread[s->now.thread].born) {
        s->thread[s->now.thread].born = number;
      }
      return true;
    case MTLI_CHECK_KEPT:
      if (s->thread[s->now.thread].born) {
        const check_side born =
            check_side_now(s, s->thread[s->now.thread].born);
        check_report(s, "nan", &born, &side,
                     "a value that is not finite, made of finite ones, is "
                     "stored in '%s'",
                     text_of(s, site_of(s, number)->name));
      }
      return true;
    default: return false;
  }
}

static void use_value(mtli_check *check, uint32_t number, uint32_t origin) {
  check_state *s = (check_state *)check;
  if (use_number(s, number, origin)) {
    return;
  }
  const mtli_check_site *site = site_of(s, number);
  const mtli_check_site *from = site_of(s, origin);
  const char *kind = kind_of_origin(from);
  const unsigned wanted = from->access == MTLI_CHECK_SHUFFLE ? MTLI_CHECK_SYNC
                                                             : MTLI_CHECK_INIT;
  if (!(s->checks & wanted) || is_passed_on(s, site)) {
    return;
  }
  const char *name = text_of(s, from->name);
  const char *how = site->access == MTLI_CHECK_BRANCH    ? "decides a branch"
                    : site->access == MTLI_CHECK_ADDRESS ? "is in an address"
                                                         : "is stored";
  check_side use = check_side_now(s, number);
  check_side began = check_side_now(s, origin);
  began.has_thread = false;
  if (from->access == MTLI_CHECK_SHUFFLE) {
    check_report(s, kind, &began, &use,
                 "the value of a thread that takes no part in it %s", how);
  } else if (from->access == MTLI_CHECK_VARIABLE) {
    check_report(s, kind, &use, &began,
                 "'%s' was given no value, and %s", name, how);
  } else {
    check_report(s, kind, &use, &began,
                 "what was read of '%s' was never set, and %s", name, how);
  }
}

// --- the tables -------------------------------------------------------------------------

// The two differ in what is done about device memory.
#define CHECK_FUNCTIONS(device_function) \
  {                                      \
      .device = (device_function),       \
      .threadgroup = access_threadgroup, \
      .variable = access_variable,       \
      .range = access_range,             \
      .use = use_value,                  \
      .member = report_member,           \
      .arrive = check_arrive,            \
      .pass = check_pass,                \
      .run_threads = check_run_threads,  \
      .run_waiting = check_run_waiting,  \
  }

const mtli_check check_functions = CHECK_FUNCTIONS(access_device);
const mtli_check check_bounds_functions = CHECK_FUNCTIONS(bound_device);
