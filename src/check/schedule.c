// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// schedule.c: runs the threads of a checked threadgroup, in the order of the
// schedule, and knows what their waits order. The rule is that of
// compiler/ir/schedule.ll: of a simdgroup's waiting threads, those furthest
// behind in the program go first, together.
#include <string.h>

#include "check/state.h"

enum { SIMD_WIDTH = 32 };
enum { RETURNED = 0, AT_BARRIER = 1, FIRST_FUNCTION = 2 };
enum { FLAG_DEVICE = 1, FLAG_THREADGROUP = 2, FLAG_TEXTURE = 4 };

uint64_t check_random(uint64_t *seed) {  // splitmix64
  uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void note_position(void *scratch, uint32_t thread) {
  ((volatile mtli_cpu_position *)scratch)->thread_in_group = thread;
}

static void place(const mtli_cpu_group *group, uint32_t thread,
                  uint32_t out[3]) {
  out[0] = thread % group->size[0];
  out[1] = thread / group->size[0] % group->size[1];
  out[2] = thread / group->size[0] / group->size[1];
}

static void begin(check_state *s, const mtli_cpu_launch *launch, void *scratch,
                  const mtli_cpu_group *group) {
  const uint32_t linear =
      group->position[0] +
      launch->group_count[0] *
          (group->position[1] + launch->group_count[1] * group->position[2]);
  memcpy(((mtli_cpu_position *)scratch)->group, group->position,
         sizeof group->position);
  s->threads = group->threads;
  memcpy(s->group_size, group->size, sizeof s->group_size);
  mtli_check_enter_group(&s->check, linear,
                   (char *)scratch + sizeof(mtli_cpu_position),
                   launch->threadgroup_bytes);
}

// Runs a row of threads at once in the plain order, otherwise thread by thread.
void check_run_threads(mtli_check *check, const mtli_cpu_launch *launch,
                       void *scratch, const mtli_cpu_group *group,
                       mtli_check_row_fn *row) {
  check_state *s = (check_state *)check;
  begin(s, launch, scratch, group);
  const uint32_t count = s->schedule_kind ? 1 : group->size[0];
  for (uint32_t i = 0; i < group->threads && !s->is_to_stop; i += count) {
    const uint32_t index = s->schedule_kind ? s->thread_order[i] : i;
    uint32_t at[3];
    place(group, index, at);
    check_expect(s, index);
    row(launch, scratch, group, at[0], at[1], at[2], index, count);
  }
}

// --- waits -----------------------------------------------------------------------

void check_arrive(mtli_check *check, uint32_t site, uint32_t flags,
                  uint32_t origin) {
  check_state *s = (check_state *)check;
  const uint32_t thread = s->check.thread;
  const uint8_t access = s->sites->sites[site].access;
  if (access == MTLI_CHECK_FENCE) {
    check_fence(s, flags != 0);
    check_switch(s, thread);
    return;
  }
  s->thread[thread].site = site;
  s->thread[thread].origin = origin;
  s->thread[thread].flags = flags;
  if (access != MTLI_CHECK_BARRIER) {
    return;
  }
  if (s->arrived++ == 0) {
    s->arrived_site = site;
    s->arrived_flags = flags;
    s->arrived_other = 0;
    s->arrived_thread[0] = thread;
  } else {
    s->arrived_flags &= flags;
    if (site != s->arrived_site && !s->arrived_other) {
      s->arrived_other = site;
      s->arrived_thread[1] = thread;
    }
  }
}

static void report_barrier(check_state *s) {
  check_side first = check_side_now(s, s->arrived_site);
  first.thread = s->arrived_thread[0];
  if (s->arrived_other) {
    check_side second = check_side_now(s, s->arrived_other);
    second.thread = s->arrived_thread[1];
    check_report(s, "sync.barrier", &first, &second,
                 "threads of one threadgroup wait at different barriers");
    return;
  }
  check_report(s, "sync.barrier", &first, NULL,
               "%u of %u threads wait: the others have returned", s->arrived,
               s->threads);
}

// Releases the threadgroup barrier, at which all threads that have not returned
// now wait.
static void pass_barrier(check_state *s) {
  if (!s->arrived) {
    return;
  }
  if ((s->checks & MTLI_CHECK_SYNC) &&
      (s->arrived != s->threads || s->arrived_other)) {
    report_barrier(s);
  }
  if (s->arrived_flags & FLAG_THREADGROUP) {
    ++s->now.threadgroup_epoch;
    s->check.threadgroup_floor = check_last(s) + 1;
  }
  if (s->arrived_flags & FLAG_DEVICE) {
    ++s->now.device_epoch;
    s->device_first = check_last(s) + 1;
  }
  if (s->arrived_flags & FLAG_TEXTURE) {
    s->texels_first = check_last(s) + 1;
  }
  for (uint32_t i = 0; i < s->threads; ++i) {
    s->thread[i].has_new = true;
  }
  for (size_t i = 0; i < s->known_count; ++i) {
    if (s->known[i].owner == s->now.group &&
        (s->arrived_flags & FLAG_DEVICE)) {
      s->known[i].is_all = 1;
    }
  }
  s->arrived = 0;
  check_part(s);
}

uint32_t check_pass(mtli_check *check, uint32_t site) {
  check_state *s = (check_state *)check;
  const uint8_t access = s->sites->sites[site].access;
  return access == MTLI_CHECK_SHUFFLE || access == MTLI_CHECK_SIMD ||
                 access == MTLI_CHECK_SCAN_INCLUSIVE ||
                 access == MTLI_CHECK_SCAN_EXCLUSIVE
             ? s->thread[s->check.thread].origin
             : 0;
}

// --- the simdgroup ------------------------------------------------------------------

typedef struct waiting {
  uint32_t *states;
  uint64_t *values;
  uint32_t *operands;
  uint32_t *keys;
  char *frames;
  uint64_t key_words;
  uint64_t frame_bytes;
} waiting;

static void resume(check_state *s, const waiting *w, void *scratch,
                   uint32_t thread) {
  check_go_on(s, thread);
  s->thread[thread].site = 0;
  note_position(scratch, thread);
  void *frame = w->frames + w->frame_bytes * thread;
  void (*go_on)(void *);
  memcpy(&go_on, frame, sizeof go_on);
  go_on(frame);
}

static int compare_keys(const waiting *w, uint32_t a, uint32_t b) {
  const uint32_t *left = w->keys + a * w->key_words;
  const uint32_t *right = w->keys + b * w->key_words;
  for (uint64_t i = 0; i < w->key_words; ++i) {
    if (left[i] != right[i]) {
      return left[i] < right[i] ? -1 : 1;
    }
  }
  return 0;
}

// Finds which threads the values of a simdgroup function come from.
static void exchange(check_state *s, const waiting *w, uint32_t first,
                     uint32_t mask) {
  uint32_t old[SIMD_WIDTH] = {0};
  uint32_t any = 0, before = 0;
  for (uint32_t lane = 0; lane < SIMD_WIDTH; ++lane) {
    if (mask >> lane & 1) {
      old[lane] = s->thread[first + lane].origin;
      any = old[lane] ? old[lane] : any;
    }
  }
  for (uint32_t lane = 0; lane < SIMD_WIDTH; ++lane) {
    if (!(mask >> lane & 1)) {
      continue;
    }
    const uint32_t site = s->thread[first + lane].site;
    const uint8_t access = s->sites->sites[site].access;
    uint32_t origin = any;
    if (access == MTLI_CHECK_SHUFFLE) {
      const uint32_t from = w->operands[first + lane] % SIMD_WIDTH;
      origin = mask >> from & 1 ? old[from] : site;
    }
    origin = access == MTLI_CHECK_SCAN_EXCLUSIVE ? before : origin;
    before = old[lane] ? old[lane] : before;
    origin = access == MTLI_CHECK_SCAN_INCLUSIVE ? before : origin;
    s->thread[first + lane].origin = origin;
  }
}

static void report_simd_barrier(check_state *s, uint32_t first, uint32_t mask,
                                uint32_t lanes) {
  const uint32_t lane = (uint32_t)__builtin_ctz(mask);
  check_side side = check_side_now(s, s->thread[first + lane].site);
  side.thread = first + lane;
  check_report(s, "sync.barrier", &side, NULL,
               "%d of %u threads of a simdgroup wait",
               __builtin_popcount(mask), lanes);
}

static void pass_simd_barrier(check_state *s, uint32_t first, uint32_t mask,
                              uint32_t lanes) {
  uint32_t flags = ~0u;
  bool is_barrier = true;
  for (uint32_t lane = 0; lane < SIMD_WIDTH; ++lane) {
    if (mask >> lane & 1) {
      const uint32_t site = s->thread[first + lane].site;
      is_barrier =
          is_barrier && s->sites->sites[site].access == MTLI_CHECK_SIMD_BARRIER;
      flags &= s->thread[first + lane].flags;
    }
  }
  if (is_barrier && (s->checks & MTLI_CHECK_SYNC) &&
      (uint32_t)__builtin_popcount(mask) != lanes) {
    report_simd_barrier(s, first, mask, lanes);
  }
  if (!is_barrier || !(flags & (FLAG_THREADGROUP | FLAG_DEVICE | FLAG_TEXTURE))) {
    return;
  }
  ++s->simd_epoch;
  check_part(s);
  for (uint32_t lane = 0; lane < SIMD_WIDTH; ++lane) {
    if (mask >> lane & 1) {
      s->thread[first + lane].has_new = true;
      if (flags & FLAG_THREADGROUP) {
        s->thread[first + lane].simd_threadgroup = s->simd_epoch;
      }
      if (flags & (FLAG_DEVICE | FLAG_TEXTURE)) {
        s->thread[first + lane].simd_device = s->simd_epoch;
      }
    }
  }
}

// Runs a simdgroup until each thread has returned or is at a threadgroup
// barrier. True if one is at a barrier.
static bool drain(check_state *s, const waiting *w, void *scratch,
                  mtli_check_execute_fn *execute, uint32_t first,
                  uint32_t lanes) {
  for (;;) {
    uint32_t best = SIMD_WIDTH, mask = 0;
    bool is_at_barrier = false;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const uint32_t state = w->states[first + lane];
      is_at_barrier |= state == AT_BARRIER;
      if (state < FIRST_FUNCTION) {
        continue;
      }
      const int order = best == SIMD_WIDTH
                            ? -1
                            : compare_keys(w, first + lane, first + best);
      best = order < 0 ? lane : best;
      mask = order < 0 ? 1u << lane : order == 0 ? mask | 1u << lane : mask;
    }
    if (!mask || s->is_to_stop) {
      return is_at_barrier;
    }
    exchange(s, w, first, mask);
    pass_simd_barrier(s, first, mask, lanes);
    execute(w->states[first + best] - FIRST_FUNCTION, mask, w->values + first,
            w->operands + first);
    for (uint32_t i = 0; i < lanes; ++i) {
      const uint32_t lane = s->schedule_kind == 0 ? i : lanes - 1 - i;
      if (mask >> lane & 1) {
        resume(s, w, scratch, first + lane);
      }
    }
  }
}

static void lay_out(waiting *w, void *context, uint32_t threads,
                    uint64_t key_words, uint64_t frame_bytes) {
  const uint64_t padded = (threads + 31u) & ~31u;
  w->states = context;
  w->values = (uint64_t *)(w->states + padded);
  w->operands = (uint32_t *)(w->values + padded);
  w->keys = w->operands + padded;
  w->frames = (char *)(w->keys + key_words * padded);
  w->key_words = key_words;
  w->frame_bytes = frame_bytes;
}

static void start_all(check_state *s, const waiting *w,
                      const mtli_cpu_launch *launch, void *scratch,
                      const mtli_cpu_group *group,
                      mtli_check_start_fn *start) {
  void *const tables[] = {w->states, w->values, w->operands, w->keys,
                          w->frames};
  for (uint32_t i = 0; i < group->threads; ++i) {
    const uint32_t thread = s->schedule_kind ? s->thread_order[i] : i;
    uint32_t at[3];
    place(group, thread, at);
    check_switch(s, thread);
    note_position(scratch, thread);
    start(launch, scratch, group, at[0], at[1], at[2], thread, tables,
          w->frames + w->frame_bytes * thread);
  }
}

void check_run_waiting(mtli_check *check, const mtli_cpu_launch *launch,
                       void *scratch, void *context,
                       const mtli_cpu_group *group, mtli_check_start_fn *start,
                       mtli_check_execute_fn *execute, uint64_t key_words,
                       uint64_t frame_bytes) {
  check_state *s = (check_state *)check;
  waiting w;
  begin(s, launch, scratch, group);
  lay_out(&w, context, group->threads, key_words, frame_bytes);
  start_all(s, &w, launch, scratch, group, start);
  for (bool any = true; any && !s->is_to_stop;) {
    any = false;
    for (uint32_t first = 0; first < group->threads; first += SIMD_WIDTH) {
      const uint32_t left = group->threads - first;
      any |= drain(s, &w, scratch, execute, first,
                   left < SIMD_WIDTH ? left : SIMD_WIDTH);
    }
    pass_barrier(s);
    for (uint32_t i = 0; any && i < group->threads; ++i) {
      const uint32_t thread = s->schedule_kind ? s->thread_order[i] : i;
      if (w.states[thread] == AT_BARRIER) {
        resume(s, &w, scratch, thread);
      }
    }
  }
}
