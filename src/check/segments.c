// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// segments.c: what is known of each segment, and whether one comes before the
// one that runs.
#include <stdlib.h>

#include "check/state.h"

static check_moment *chunks[CHECK_CHUNKS];

const check_moment *check_moment_of(check_segment segment) {
  const check_moment *chunk = chunks[segment / CHECK_CHUNK];
  return chunk ? &chunk[segment % CHECK_CHUNK] : NULL;
}

check_moment *check_moment_new(check_segment segment) {
  check_moment **chunk = &chunks[segment / CHECK_CHUNK];
  if (!*chunk) {
    *chunk = malloc(CHECK_CHUNK * sizeof **chunk);
  }
  return *chunk ? &(*chunk)[segment % CHECK_CHUNK] : NULL;
}

void check_segments_drop(check_segment end) {
  static uint32_t dropped;
  if (end / CHECK_CHUNK < dropped) {
    dropped = 0;
  }
  for (; dropped < end / CHECK_CHUNK; ++dropped) {
    free(chunks[dropped]);
    chunks[dropped] = NULL;
  }
}

void check_switch(check_state *s, uint32_t thread) {
  if (s->pending) {
    check_settle(s);
  }
  ++s->segment;
  s->now.thread = (uint16_t)thread;
  s->now.simd_threadgroup = s->thread[thread].simd_threadgroup;
  s->now.simd_device = s->thread[thread].simd_device;
  check_moment *moment = check_moment_new(s->segment);
  if (moment) {
    *moment = s->now;
  }
}

// What fences and atomics have told the thread that runs.
static bool is_known(const check_state *s, check_segment before,
                     const check_moment *then) {
  for (size_t i = 0; i < s->known_count; ++i) {
    const check_known *known = &s->known[i];
    if (known->owner != s->now.group || known->group != then->group ||
        (!known->is_all && known->owner_thread != s->now.thread)) {
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
                      bool is_device) {
  if (before < s->group_first) {
    if (!is_device) {
      return true;  // of an earlier threadgroup, in other memory
    }
    const check_past *past = check_past_of(before);
    if (past && past->number != s->dispatch) {
      return check_past_is_ordered(s, past, before);
    }
    const check_moment *then = check_moment_of(before);
    return then && is_known(s, before, then);
  }
  const check_moment *then = check_moment_of(before);
  if (!then || then->thread == s->now.thread) {
    return true;
  }
  const bool is_behind_barrier =
      is_device ? then->device_epoch < s->now.device_epoch
                : then->threadgroup_epoch < s->now.threadgroup_epoch;
  if (is_behind_barrier) {
    return true;
  }
  if (then->thread / 32 == s->now.thread / 32 &&
      (is_device ? then->simd_device < s->now.simd_device
                 : then->simd_threadgroup < s->now.simd_threadgroup)) {
    return true;
  }
  return s->known_count && is_known(s, before, then);
}
