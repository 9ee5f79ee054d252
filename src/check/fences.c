// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fences.c: orders threads by fences and atomics: a thread's accesses before
// its fence are ordered before another's after its own, if the first then wrote
// an atomic that the other read before its fence. A fence of the threadgroup's
// scope does so for threads of one threadgroup alone.
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

// The segments that a release at a location orders.
typedef struct release {
  uint64_t address;
  uint32_t group;
  uint16_t thread;
  check_segment segment;
  uint32_t device_epoch;
  // Of the thread that released: its threadgroup, and whether for that alone.
  uint32_t by;
  bool is_of_group;
} release;

static release *releases;  // [release_count], by no order
static size_t release_count, release_capacity;

// The atomics that threads of this threadgroup have read since their last
// fences.
typedef struct seen {
  uint32_t group;
  uint16_t thread;
  uint64_t address;
} seen;
static seen *seens;
static size_t seen_count, seen_capacity;

// The last fence of each thread of the threadgroup that has one.
typedef struct fenced {
  uint32_t group;
  uint16_t thread;
  check_segment segment;
  uint32_t device_epoch;
  bool is_of_group;
} fenced;
static fenced *fences;
static size_t fence_count, fence_capacity;

static bool room(void **items, size_t count, size_t *capacity, size_t bytes) {
  if (count < *capacity) {
    return true;
  }
  const size_t larger = *capacity ? 2 * *capacity : 64;
  void *grown = realloc(*items, larger * bytes);
  if (!grown) {
    return false;
  }
  *items = grown;
  *capacity = larger;
  return true;
}

void check_fences_clear(void) {
  release_count = seen_count = fence_count = 0;
}

static fenced *fence_of(const check_state *s) {
  for (size_t i = fence_count; i-- > 0;) {
    if (fences[i].group == s->now.group &&
        fences[i].thread == s->check.thread) {
      return &fences[i];
    }
  }
  return NULL;
}

static void know(check_state *s, const release *from) {
  for (size_t i = 0; i < s->known_count; ++i) {
    check_known *known = &s->known[i];
    if (known->owner == s->now.group &&
        known->owner_thread == s->check.thread && known->group == from->group &&
        known->thread == from->thread) {
      if (from->segment > known->segment) {
        known->segment = from->segment;
        known->device_epoch = from->device_epoch;
      }
      return;
    }
  }
  if (room((void **)&s->known, s->known_count, &s->known_capacity,
           sizeof *s->known)) {
    s->known[s->known_count++] =
        (check_known){.owner = s->now.group,
                      .owner_thread = s->check.thread,
                      .group = from->group,
                      .thread = from->thread,
                      .segment = from->segment,
                      .device_epoch = from->device_epoch};
    check_set_floors(s);
  }
}

void check_fence(check_state *s, bool is_of_group) {
  fenced *own = fence_of(s);
  if (!own && room((void **)&fences, fence_count, &fence_capacity,
                   sizeof *fences)) {
    own = &fences[fence_count++];
  }
  if (own) {
    *own = (fenced){s->now.group, s->check.thread, s->check.segment,
                    s->now.device_epoch, is_of_group};
  }
  size_t kept = 0;
  for (size_t i = 0; i < seen_count; ++i) {
    if (seens[i].group != s->now.group || seens[i].thread != s->check.thread) {
      seens[kept++] = seens[i];
      continue;
    }
    for (size_t k = 0; k < release_count; ++k) {
      if (releases[k].address == seens[i].address &&
          (releases[k].group != s->now.group ||
           releases[k].thread != s->check.thread) &&
          (releases[k].by == s->now.group ||
           !(releases[k].is_of_group || is_of_group))) {
        know(s, &releases[k]);
      }
    }
  }
  seen_count = kept;
}

static void release_with(uint64_t address, const release *what) {
  for (size_t i = 0; i < release_count; ++i) {
    if (releases[i].address == address && releases[i].group == what->group &&
        releases[i].thread == what->thread) {
      releases[i] = *what;
      return;
    }
  }
  if (room((void **)&releases, release_count, &release_capacity,
           sizeof *releases)) {
    releases[release_count++] = *what;
  }
}

void check_fences_atomic(check_state *s, uint64_t address, bool reads,
                         bool writes) {
  const fenced *own = writes ? fence_of(s) : NULL;
  if (reads) {
    bool has = false;
    for (size_t i = 0; i < seen_count && !has; ++i) {
      has = seens[i].group == s->now.group &&
            seens[i].thread == s->check.thread && seens[i].address == address;
    }
    if (!has && room((void **)&seens, seen_count, &seen_capacity,
                     sizeof *seens)) {
      seens[seen_count++] = (seen){s->now.group, s->check.thread, address};
    }
  }
  if (!own) {
    return;
  }
  release_with(address, &(release){address, own->group, own->thread,
                                   own->segment, own->device_epoch, own->group,
                                   own->is_of_group});
  // Also what the thread is ordered after itself.
  for (size_t i = 0; i < s->known_count; ++i) {
    const check_known *known = &s->known[i];
    if (known->owner == s->now.group &&
        (known->is_all || known->owner_thread == s->check.thread)) {
      release_with(address, &(release){address, known->group, known->thread,
                                       known->segment, known->device_epoch,
                                       own->group, own->is_of_group});
    }
  }
}
