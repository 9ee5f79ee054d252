// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen.c: runs dispatches as screened code, which checks many threads at a
// time without reporting (compiler/check/screen/screen_accesses.c). Where it stops,
// the dispatch is undone, and checked code runs it again.
//
// Stamps describe accesses of one dispatch only: a dispatch is screened if all
// earlier work is ordered before it and all later work will be ordered behind
// it.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

enum {
  MOST_STAMP = 0x60000000,
  ANY = 0x7fffffff,  // of a stamp: without the bit for several threads
  // Difference between the stamps of two threadgroups: room for the last one's
  // threads after its last barrier, and for a barrier that it was stopped at.
  GROUP_STAMPS = 3 * CHECK_MOST_THREADS,
};
#define MOST_THREADS (UINT64_C(1) << 29)
#define MOST_KEPT_BYTES (UINT64_C(256) << 20)

static _Atomic uint32_t queues;

uint32_t mtli_check_queue_count(void) {
  return atomic_load(&queues);
}

void mtli_check_queue_begins(void) {
  atomic_fetch_add(&queues, 1);
}

void mtli_check_queue_ends(void) {
  atomic_fetch_sub(&queues, 1);
}

// A copy of the memory that the dispatch reads and writes, as it was before.
static struct {
  char *bytes;  // [capacity]
  size_t capacity;
} kept;

// --- what may be screened ----------------------------------------------------------

static bool is_used(const check_range *range) {
  return range->is_read || range->is_written;
}

// True if another parameter leads to the same memory.
static bool is_shared(const check_state *s, const check_range *range) {
  for (size_t i = 0; i < s->range_count; ++i) {
    const check_range *other = &s->ranges[i];
    if (other != range && is_used(other) &&
        other->first - range->first < range->bytes) {
      return true;
    }
    if (other != range && is_used(other) &&
        range->first - other->first < other->bytes) {
      return true;
    }
  }
  return false;
}

static bool is_all_set(const uint8_t *set, uint64_t bytes) {
  uint64_t word = ~UINT64_C(0);
  uint64_t i = 0;
  for (; i + sizeof word <= bytes; i += sizeof word) {
    uint64_t next;
    memcpy(&next, set + i, sizeof next);
    word &= next;
  }
  bool is_set = word == ~UINT64_C(0);
  for (; i < bytes; ++i) {
    is_set = is_set && set[i] == 0xff;
  }
  return is_set;
}

static bool may_read(const check_state *s, const check_range *range) {
  const check_memory *memory = range->memory;
  return !(s->checks & MTLI_CHECK_INIT) || !memory || !memory->set ||
         is_all_set(memory->set + (range->first - memory->first), range->bytes);
}

static bool may_be_screened(const check_state *s, const check_range *range) {
  if (!is_used(range) || !range->first) {
    return true;  // a threadgroup's
  }
  const uint64_t mask = 3 | (range->align_bytes ? range->align_bytes - 1 : 0);
  if ((range->first & mask) || range->object_bytes > range->bytes ||
      (range->memory && (range->first - range->memory->first) % 4)) {
    return false;
  }
  return range->is_written ? range->memory && !is_shared(s, range)
                           : may_read(s, range);
}

// --- stamps ------------------------------------------------------------------------

// Sets the initial write stamps of words: 1 for a set word, 0 (no stamp) for an
// unset one.
static void stamp_set_words(const check_range *range, uint32_t *writes) {
  const uint8_t *set =
      range->memory->set + (range->first - range->memory->first);
  for (uint64_t i = 0; i < range->bytes / 4; ++i) {
    uint32_t word;
    memcpy(&word, set + 4 * i, sizeof word);
    writes[i] = word == UINT32_MAX;
  }
}

// Words with stamps of the dispatch are set.
static void set_stamped_words(check_state *s, const check_range *range,
                              const uint32_t *writes) {
  check_memory *memory = range->memory;
  uint8_t *set = memory->set + (range->first - memory->first);
  for (uint64_t i = 0; i < range->bytes / 4; ++i) {
    uint32_t word;
    memcpy(&word, set + 4 * i, sizeof word);
    word |= (writes[i] & ANY) >= s->check.stamp ? UINT32_MAX : 0;
    memcpy(set + 4 * i, &word, sizeof word);
  }
  if (is_all_set(memory->set, memory->bytes)) {
    check_memory_is_set(memory);
  }
}

static bool prepare_range(check_state *s, size_t i) {
  check_range *range = &s->ranges[i];
  mtli_check_view *view = &s->views[i];
  view->least = 0;
  if (!is_used(range) || !range->first) {
    return true;
  }
  view->bytes = range->bytes;
  if (!range->is_written) {
    return true;
  }
  check_memory *memory = range->memory;
  if (!check_memory_prepare_stamps(memory)) {
    return false;
  }
  const uint64_t first = (range->first - memory->first) / 4;
  view->writes = view->writes_again = memory->writes + first;
  view->reads = view->reads_again = memory->reads + first;
  if ((s->checks & MTLI_CHECK_INIT) && memory->set) {
    view->least = 1;
    stamp_set_words(range, view->writes);
  }
  return true;
}

static bool prepare_group_stamps(check_state *s, uint64_t bytes) {
  static uint64_t room;
  const uint64_t wanted = (bytes + 64 + 4095) & ~(uint64_t)4095;
  if (wanted <= room) {
    return true;
  }
  free(s->check.threadgroup_writes);
  free(s->check.threadgroup_reads);
  room = wanted;
  s->check.threadgroup_writes = calloc(1, wanted);
  s->check.threadgroup_reads = calloc(1, wanted);
  s->check.threadgroup_writes_again = s->check.threadgroup_writes;
  s->check.threadgroup_reads_again = s->check.threadgroup_reads;
  s->group_stamp_bytes = wanted;
  room = s->check.threadgroup_writes && s->check.threadgroup_reads ? wanted : 0;
  return room != 0;
}

void mtli_check_screen_group(mtli_check *check, void *threadgroup) {
  check_state *s = (check_state *)check;
  check->threadgroup_memory = threadgroup;
  if (check->arrived > MOST_STAMP) {
    memset(check->threadgroup_writes, 0, s->group_stamp_bytes);
    memset(check->threadgroup_reads, 0, s->group_stamp_bytes);
    check->arrived = 0;
  }
  check->arrived += GROUP_STAMPS;
  check->group_stamp = check->arrived;
}

// --- what is undone ------------------------------------------------------------------

static bool is_kept(const check_range *range) {
  return range->is_read && range->is_written && range->first;
}

// A copy lies at the same place in its page as what it is of: memcpy to a place
// a few bytes further is 15 times as slow on some machines (AMD, Zen 3).
enum { PAGE_BYTES = 4096 };

static uint64_t place_for(const check_range *range, uint64_t at) {
  return at + ((range->first - at) & (PAGE_BYTES - 1));
}

static uint64_t end_of_kept(const check_state *s) {
  uint64_t at = 0;
  for (size_t i = 0; i < s->range_count; ++i) {
    const check_range *range = &s->ranges[i];
    if (is_kept(range)) {
      at = place_for(range, at) + range->bytes;
    }
  }
  return at;
}

static bool has_room(uint64_t bytes) {
  if (bytes > kept.capacity) {
    const uint64_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    free(kept.bytes);
    kept.bytes = aligned_alloc(PAGE_BYTES, whole);
    kept.capacity = kept.bytes ? whole : 0;
  }
  return bytes <= kept.capacity;
}

static bool keep(const check_state *s) {
  const uint64_t bytes = end_of_kept(s);
  if (bytes > MOST_KEPT_BYTES || !has_room(bytes)) {
    return false;
  }
  uint64_t at = 0;
  for (size_t i = 0; i < s->range_count; ++i) {
    const check_range *range = &s->ranges[i];
    if (is_kept(range)) {
      at = place_for(range, at);
      memcpy(kept.bytes + at, (const void *)(uintptr_t)range->first,
             range->bytes);
      at += range->bytes;
    }
  }
  return true;
}

// Restores memory. Memory that the dispatch only writes is left out: it will be
// written again.
static void undo(const check_state *s) {
  uint64_t at = 0;
  for (size_t i = 0; i < s->range_count; ++i) {
    const check_range *range = &s->ranges[i];
    if (is_kept(range)) {
      at = place_for(range, at);
      memcpy((void *)(uintptr_t)range->first, kept.bytes + at, range->bytes);
      at += range->bytes;
    }
  }
}

void mtli_check_screen_missed(const char *kernel) {
  if (check_screens_only()) {
    mtli_check_note_unchecked("kernel '%s' is not found clean by screening",
                              kernel);
  }
}

// --- a dispatch -----------------------------------------------------------------------

// True if the code uses stamps of threadgroups, or counts arrivals.
static bool has_groups(const check_state *s) {
  if (!(s->checks &
        (MTLI_CHECK_RACES | MTLI_CHECK_INIT | MTLI_CHECK_SYNC))) {
    return false;
  }
  for (uint32_t i = 0; i < s->sites->count; ++i) {
    const mtli_check_site *site = &s->sites->sites[i];
    if (site->space == MTLI_CHECK_THREADGROUP ||
        site->access == MTLI_CHECK_BARRIER) {
      return true;
    }
  }
  return false;
}

static uint64_t threads_of(const check_state *s, uint32_t group_threads) {
  return (uint64_t)s->group_count[0] * s->group_count[1] * s->group_count[2] *
         group_threads;
}

bool mtli_check_screen_begin(mtli_check *check, uint32_t group_threads,
                             uint64_t threadgroup_bytes, bool *out_by_group) {
  check_state *s = (check_state *)check;
  const uint64_t threads = threads_of(s, group_threads);
  *out_by_group = has_groups(s);
  if (s->schedule_kind != CHECK_FORWARD || s->safe != s->dispatch_first ||
      !s->is_tracked || mtli_check_queue_count() > 1 || threads >= MOST_THREADS) {
    return false;
  }
  for (size_t i = 0; i < s->range_count; ++i) {
    if (!may_be_screened(s, &s->ranges[i])) {
      return false;
    }
  }
  if (check->stamp == 0 || check->stamp > MOST_STAMP) {
    check_memory_forget_stamps();
    check->stamp = 2;  // 1 is the stamp of bytes that were set before
  }
  for (size_t i = 0; i < s->range_count; ++i) {
    if (!prepare_range(s, i)) {
      return false;
    }
  }
  s->screened_threads = (uint32_t)threads;
  return (!*out_by_group || prepare_group_stamps(s, threadgroup_bytes)) &&
         keep(s);
}

void mtli_check_screen_end(mtli_check *check, bool is_clean) {
  check_state *s = (check_state *)check;
  for (size_t i = 0; is_clean && i < s->range_count; ++i) {
    const check_range *range = &s->ranges[i];
    if (is_used(range) && range->is_written && range->memory &&
        range->memory->set && s->views[i].least) {
      set_stamped_words(s, range, s->views[i].writes);
    }
  }
  if (!is_clean) {
    undo(s);
  }
  check->stamp += s->screened_threads;
  // Views are written for checked code, and the group's stamps for the next
  // one.
  for (size_t i = 0; !is_clean && i < s->range_count; ++i) {
    s->views[i] = check_view_of(s, &s->ranges[i]);
  }
}
