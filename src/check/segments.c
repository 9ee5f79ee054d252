// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// segments.c: facts about segments, and whether one is ordered before the
// running one.
#include <stdlib.h>
#include <string.h>

#include "check/state.h"

// A run: consecutive segments of consecutive threads, at one epoch.
typedef struct run {
  check_segment first;
  int32_t step;  // the difference between consecutive threads
  check_moment moment;  // of the first
} run;

static run *runs;  // [run_count]
static size_t run_count, run_capacity;
static bool is_open;  // the last run may be extended

static const run *run_of(check_segment segment) {
  static size_t last;  // found last
  if (last < run_count && runs[last].first <= segment &&
      (last + 1 == run_count || segment < runs[last + 1].first)) {
    return &runs[last];
  }
  size_t low = 0, high = run_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (runs[middle].first <= segment) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  last = low ? low - 1 : 0;
  return low ? &runs[last] : NULL;
}

bool check_moment_of(check_segment segment, check_moment *out) {
  const run *it = run_of(segment);
  if (!it) {
    return false;
  }
  *out = it->moment;
  out->thread = (uint16_t)((int64_t)it->moment.thread +
                           (int64_t)it->step * (segment - it->first));
  return true;
}

void check_segments_drop(check_segment end) {
  size_t gone = 0;
  if (run_count > 1 && runs[run_count - 1].first < end) {
    gone = run_count - 1;
  } else {
    while (gone + 1 < run_count && runs[gone + 1].first <= end) {
      ++gone;
    }
  }
  if (gone > run_count / 2) {
    run_count -= gone;
    memmove(runs, runs + gone, run_count * sizeof *runs);
  }
  is_open = false;
}

static void begin_run(const check_state *s, check_segment first,
                      uint32_t thread) {
  if (run_count == run_capacity) {
    const size_t larger = run_capacity ? 2 * run_capacity : 1024;
    run *grown = realloc(runs, larger * sizeof *runs);
    if (!grown) {
      mtli_check_note_unchecked("no memory for what threads did");
      return;
    }
    runs = grown;
    run_capacity = larger;
  }
  run *it = &runs[run_count++];
  *it = (run){.first = first, .step = 1, .moment = s->now};
  it->moment.thread = (uint16_t)thread;
  it->moment.simd_threadgroup = s->thread[thread].simd_threadgroup;
  it->moment.simd_device = s->thread[thread].simd_device;
  is_open = true;
}

// True if a thread continues the last run of segments.
static bool goes_on(const check_state *s, uint32_t thread) {
  if (!is_open) {
    return false;
  }
  run *last = &runs[run_count - 1];
  const check_moment *then = &last->moment;
  if (then->simd_threadgroup != s->thread[thread].simd_threadgroup ||
      then->simd_device != s->thread[thread].simd_device) {
    return false;
  }
  const uint32_t after = s->check.segment - last->first;
  const int32_t further = (int32_t)thread - then->thread;
  if (after == 1 && (further == 1 || further == -1)) {
    last->step = further;
  }
  return further == last->step * (int32_t)after;
}

check_segment check_last(check_state *s) {
  if (s->check.segment > s->last) {
    s->last = s->check.segment;
  }
  return s->last;
}

void check_go_on(check_state *s, uint32_t thread) {
  if (s->thread[thread].has_new) {
    check_switch(s, thread);
  } else {
    s->check.segment = s->thread[thread].segment;
    s->check.thread = thread;
  }
}

void check_switch(check_state *s, uint32_t thread) {
  s->check.segment = s->last = check_last(s) + 1;
  s->check.thread = thread;
  s->thread[thread].segment = s->last;
  s->thread[thread].has_new = false;
  if (!goes_on(s, thread)) {
    begin_run(s, s->check.segment, thread);
  }
}

void check_expect(check_state *s, uint32_t thread) {
  s->check.segment = check_last(s);
  begin_run(s, s->last + 1, thread);
}

void check_part(check_state *s) {
  is_open = false;
  check_set_floors(s);
}

// Sets the bounds between ordered and unordered segments. Where a simdgroup
// barrier may come, or a fence or a device-memory barrier has been passed, one
// number cannot describe the order: the upper bounds are then UINT32_MAX.
void check_set_floors(check_state *s) {
  s->check.device_floor = s->safe;
  const bool is_plain = !s->has_simd_orders && !s->known_count;
  s->check.device_shared = is_plain && s->device_first == s->group_first
                               ? s->dispatch_first
                               : UINT32_MAX;
  s->check.threadgroup_shared =
      is_plain ? s->check.threadgroup_floor : UINT32_MAX;
}

// True if fences and atomics have ordered a segment before the running thread.
static bool is_known(const check_state *s, check_segment before,
                     const check_moment *then) {
  for (size_t i = 0; i < s->known_count; ++i) {
    const check_known *known = &s->known[i];
    if (known->owner != s->now.group || known->group != then->group ||
        (!known->is_all && known->owner_thread != s->check.thread)) {
      continue;
    }
    if ((known->thread == then->thread && before <= known->segment) ||
        (before <= known->segment &&
         then->device_epoch < known->device_epoch)) {
      return true;
    }
  }
  return false;
}

bool check_is_ordered(const check_state *s, check_segment before,
                      check_kind kind, check_segment barrier) {
  const bool is_device = kind != CHECK_THREADGROUP;
  check_moment then;
  if (before < s->group_first) {
    if (!is_device) {
      return true;  // it belonged to an earlier threadgroup, in other memory
    }
    if (before < s->dispatch_first) {
      const check_past *past = check_past_of(before);
      return !past || check_past_is_ordered(s, past, before, kind, barrier);
    }
    return s->known_count && check_moment_of(before, &then) &&
           is_known(s, before, &then);
  }
  const check_segment first = kind & CHECK_TEXELS ? s->texels_first
                              : is_device ? s->device_first
                                          : s->check.threadgroup_floor;
  if (before < first) {
    return true;
  }
  if (!check_moment_of(before, &then) || then.thread == s->check.thread) {
    return true;
  }
  if (s->simd_epoch && then.thread / 32 == s->check.thread / 32 &&
      (is_device
           ? then.simd_device < s->thread[s->check.thread].simd_device
           : then.simd_threadgroup <
                 s->thread[s->check.thread].simd_threadgroup)) {
    return true;
  }
  return s->known_count && is_known(s, before, &then);
}
