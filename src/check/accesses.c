// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accesses.c: checks an access that the kernel has not found clean by itself
// (fast_paths.c): bounds, alignment, races, unset bytes.
#include <inttypes.h>
#include <string.h>

#include "check/findings.h"

// --- unset bytes -----------------------------------------------------------------

// States of a byte: set; read before it was set; or holding an unset value of
// known origin. 0 for any other.
enum { IS_SET = 0xff, IS_MARKED = 1, HAS_ORIGIN = 2 };
// The same state in a private variable's bytes, where 0 is set and 0xff is not.
enum { PRIVATE_HAS_ORIGIN = 0xfe };

// Returns how many were marked. unset: HAS_ORIGIN or 0, for unset bytes.
static uint64_t write_set(uint8_t *set, uint64_t length, uint64_t unset,
                          uint8_t for_unset) {
  uint64_t marked = 0;
  for (uint64_t i = 0; i < length; ++i) {
    marked += set[i] == IS_MARKED;
  }
  memset(set, 0xff, length);
  for (uint64_t i = 0; unset && i < length && i < 64; ++i) {
    if (unset >> i & 1) {
      set[i] = for_unset;
    }
  }
  return marked;
}

static uint64_t read_unset(check_state *s, uint8_t *set, uint64_t length,
                           const char *address, uint32_t number) {
  uint64_t unset = 0, count = 0;
  bool has_others = false;
  for (uint64_t i = 0; i < length && i < 64; ++i) {
    if (set[i] != IS_SET) {
      unset |= (uint64_t)1 << i;
      if (set[i] == HAS_ORIGIN) {
        s->check.origin = check_origins_get(address + i);
        continue;
      }
      has_others |= set[i] == IS_MARKED;
      count += set[i] != IS_MARKED;
      set[i] = IS_MARKED;
    }
  }
  if (count || has_others) {
    check_causes_read(number, count, has_others);
  }
  return unset;
}

// An atomic change of an unset value leaves it unset. address: of threadgroup
// memory, whose unset values keep their origins; else NULL.
static void note_set(check_state *s, uint32_t number, uint8_t *set,
                     const char *address, uint64_t length, uint64_t unset) {
  const mtli_check_site *site = check_site(s, number);
  if (site->access == MTLI_CHECK_WRITE ||
      site->access == MTLI_CHECK_ATOMIC_WRITE) {
    s->marked =
        write_set(set, length, unset, address && s->check.origin ? HAS_ORIGIN : 0);
    if (unset && address && s->check.origin) {
      check_origins_put(address, length, s->check.origin);
    }
  } else {
    s->check.origin = number;
    s->check.unset = read_unset(s, set, length, address, number);
    if (site->access == MTLI_CHECK_ATOMIC_EXCHANGE) {
      s->marked = write_set(set, length, 0, 0);
    }
  }
}

// --- device memory ----------------------------------------------------------------

static void *access_threadgroup_range(check_state *s, void *address,
                                      uint32_t number, uint64_t unset,
                                      void *base, uint64_t length);

static const check_range *range_at(check_state *s, uint32_t number,
                                   uint64_t address, check_range *own) {
  const mtli_check_site *site = check_site(s, number);
  if (site->slot != MTLI_CHECK_NO_SLOT) {
    return &s->ranges[site->slot];
  }
  check_memory *memory = s->found;
  if (!memory || address - memory->first >= memory->bytes) {
    memory = s->found = check_memory_find(address);
  }
  if (memory) {
    if (memory->resident != s->dispatch &&
        site->space != MTLI_CHECK_TEXELS) {
      check_report_residency(s, number, memory);
    }
    if (!check_memory_prepare(memory)) {
      mtli_check_note_unchecked("no memory for the shadow of a buffer");
    }
    *own = (check_range){.first = memory->first, .bytes = memory->bytes, .memory = memory,
                         .is_host = memory->set == NULL};
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
  check_report_bounds(s, "bounds.device", number, address, range->first, allowed,
                length);
  return true;
}

static void *access_device_range(check_state *s, void *address,
                                 uint32_t number, uint64_t unset,
                                 uint64_t length) {
  const mtli_check_site *site = check_site(s, number);
  const uint64_t at = (uintptr_t)address;
  check_range own;
  if (site->space == MTLI_CHECK_ANYWHERE &&
      at - (uintptr_t)s->check.threadgroup_memory < s->threadgroup_bytes) {
    return access_threadgroup_range(s, address, number, unset, NULL, length);
  }
  const check_range *range = range_at(s, number, at, &own);
  if (!range && site->space == MTLI_CHECK_ANYWHERE) {
    s->check.unset = 0;  // the thread's own memory, as far as is known
    return address;
  }
  s->check.unset = s->marked = 0;
  uint64_t allowed = range ? range->bytes : 0;
  if (site->object_bytes && site->object_bytes < allowed) {
    allowed = site->object_bytes;
  }
  if (!range || at - range->first > allowed ||
      allowed - (at - range->first) < length) {
    report_outside(s, number, at, length, range, allowed);
    return check_harmless(s);
  }
  if ((at & (site->align_bytes - 1)) && (s->checks & MTLI_CHECK_ALIGN)) {
    check_report_align(s, number, at);
  }
  check_memory *memory = range->memory;
  if (!memory) {
    return address;
  }
  const uint64_t offset = at - memory->first;
  if (memory->set && (s->checks & MTLI_CHECK_INIT)) {
    note_set(s, number, memory->set + offset, NULL, length, unset);
  }
  if ((s->checks & MTLI_CHECK_RACES) && memory->cells) {
    if (s->has_fences && check_is_atomic(site)) {
      check_fences_atomic(s, at, site->access != MTLI_CHECK_ATOMIC_WRITE,
                          site->access != MTLI_CHECK_ATOMIC_READ);
    }
    return check_races(s, number, address,
                       &(check_place){.cells = memory->cells,
                                      .quarters = memory->quarters,
                                      .offset = offset,
                                      .length = length,
                                      .told = offset,
                                      .kind = (memory->is_untracked
                                                   ? CHECK_UNTRACKED
                                                   : CHECK_TRACKED) |
                                              (site->space == MTLI_CHECK_TEXELS
                                                   ? CHECK_TEXELS
                                                   : 0),
                                      .barrier = check_barrier_of(s, memory),
                                      .memory = memory,
                                      .is_coarse = !memory->has_parts &&
                                                   !s->has_parts});
  }
  return address;
}

static void *access_device(mtli_check *check, void *address, uint32_t number,
                           uint64_t unset) {
  check_state *s = (check_state *)check;
  return access_device_range(s, address, number, unset,
                             check_site(s, number)->size_bytes);
}

// --- threadgroup memory --------------------------------------------------------------

static void *access_threadgroup_range(check_state *s, void *address,
                                      uint32_t number, uint64_t unset,
                                      void *base, uint64_t length) {
  const mtli_check_site *site = check_site(s, number);
  char *first = s->check.threadgroup_memory;
  uint64_t allowed = s->threadgroup_bytes;
  s->check.unset = s->marked = 0;
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
      check_report_bounds(s, "bounds.threadgroup", number, (uintptr_t)address,
                    (uintptr_t)first, allowed, length);
    }
    return check_harmless(s);
  }
  if (((uintptr_t)address & (site->align_bytes - 1)) &&
      (s->checks & MTLI_CHECK_ALIGN)) {
    check_report_align(s, number, (uintptr_t)address);
  }
  const uint64_t offset = (uint64_t)((char *)address - s->check.threadgroup_memory);
  if (offset > s->threadgroup_bytes ||
      s->threadgroup_bytes - offset < length) {
    return check_harmless(s);  // an argument without memory
  }
  if (s->checks & MTLI_CHECK_INIT) {
    note_set(s, number, s->check.threadgroup_set + offset, address, length,
             unset);
  }
  if (s->checks & MTLI_CHECK_RACES) {
    if (s->has_fences && check_is_atomic(site)) {
      // Of this threadgroup alone: others have the same addresses.
      const uint64_t place =
          (uint64_t)1 << 63 | (uint64_t)s->now.group << 24 | offset;
      check_fences_atomic(s, place, site->access != MTLI_CHECK_ATOMIC_WRITE,
                          site->access != MTLI_CHECK_ATOMIC_READ);
    }
    return check_races(
        s, number, address,
        &(check_place){.cells = s->check.threadgroup_cells,
                       .quarters = s->threadgroup_quarters,
                       .offset = offset,
                       .length = length,
                       .told = (uint64_t)((char *)address - first)});
  }
  return address;
}

static void *access_threadgroup(mtli_check *check, void *address,
                                uint32_t number, uint64_t unset, void *base,
                                uint8_t *shadow) {
  (void)shadow;
  check_state *s = (check_state *)check;
  return access_threadgroup_range(s, address, number, unset, base,
                                  check_site(s, number)->size_bytes);
}

// --- variables -----------------------------------------------------------------------

// Notes a write to a private variable, whose unset bytes are 0xff.
static void note_private(check_state *s, uint32_t number, uint8_t *shadow,
                         const char *address, uint64_t length,
                         uint64_t unset) {
  const uint32_t from = s->check.origin;
  if (check_is_write(check_site(s, number))) {
    for (uint64_t i = 0; i < length; ++i) {
      const bool is_unset = i < 64 && (unset >> i & 1);
      shadow[i] = !is_unset ? 0 : from ? PRIVATE_HAS_ORIGIN : 0xff;
    }
    if (unset && from) {
      check_origins_put(address, length, from);
    }
    return;
  }
  s->check.origin = number;
  for (uint64_t i = 0; i < length && i < 64; ++i) {
    s->check.unset |= shadow[i] ? (uint64_t)1 << i : 0;
    if (shadow[i] == PRIVATE_HAS_ORIGIN) {
      s->check.origin = check_origins_get(address + i);
    }
  }
}

static void *access_variable_range(check_state *s, void *address,
                                   uint32_t number, uint64_t unset, void *base,
                                   uint8_t *shadow, uint64_t length) {
  const mtli_check_site *site = check_site(s, number);
  const uint64_t within = (uint64_t)((char *)address - (char *)base);
  const uint64_t allowed = site->object_bytes;
  s->check.unset = 0;
  if (within > allowed || allowed - within < length) {
    if (s->checks & MTLI_CHECK_BOUNDS) {
      check_report_bounds(s,
                    site->space == MTLI_CHECK_CONSTANT ? "bounds.constant"
                                                       : "bounds.private",
                    number, (uintptr_t)address, (uintptr_t)base, allowed,
                    length);
    }
    return check_harmless(s);
  }
  if (!shadow || !(s->checks & MTLI_CHECK_INIT)) {
    return address;
  }
  note_private(s, number, &shadow[within], address, length, unset);
  return address;
}

static void *access_variable(mtli_check *check, void *address, uint32_t number,
                             uint64_t unset, void *base, uint8_t *shadow) {
  check_state *s = (check_state *)check;
  return access_variable_range(s, address, number, unset, base, shadow,
                               check_site(s, number)->size_bytes);
}

// --- pieces --------------------------------------------------------------------------

// A piece too large for the dump is skipped entirely.
static uint64_t access_range(mtli_check *check, void *address, uint32_t number,
                             uint64_t bytes, void *base, uint8_t *shadow) {
  check_state *s = (check_state *)check;
  void *to = address;
  if (bytes == 0) {
    return 0;
  }
  switch (check_site(s, number)->space) {
    case MTLI_CHECK_DEVICE:
    case MTLI_CHECK_TEXELS:
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

// --- the table -----------------------------------------------------------------------

void check_take_functions(check_state *s) {
  s->check.device = access_device;
  s->check.threadgroup = access_threadgroup;
  s->check.variable = access_variable;
  s->check.range = access_range;
  s->check.use = check_use;
  s->check.member = check_report_member;
  s->check.arrive = check_arrive;
  s->check.pass = check_pass;
  s->check.settle = check_settle;
  s->check.part = check_part_access;
  s->check.run_threads = check_run_threads;
  s->check.run_waiting = check_run_waiting;
}
