// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu_code.c: the loop over a worker's threadgroups around compiled code.
#include <stdbool.h>

#include "code/cpu_abi.h"

enum { SIMD_WIDTH = 32 };

uint64_t mtli_cpu_code_bytes(const mtli_cpu_code *code,
                             uint32_t threads_per_threadgroup) {
  const uint64_t simdgroups =
      ((uint64_t)threads_per_threadgroup + SIMD_WIDTH - 1) / SIMD_WIDTH;
  return code->kept_bytes + code->context_bytes +
         simdgroups * code->simdgroup_bytes +
         threads_per_threadgroup * code->thread_bytes;
}

// Sets a dimension of a threadgroup: where it begins, and how much of it is
// inside the grid. Threadgroups at the far edge are smaller.
static void place(const mtli_cpu_launch *launch, mtli_cpu_group *group, int i,
                  uint32_t position) {
  const uint32_t full = launch->group_threads[i];
  const uint32_t origin = position * full;
  const uint32_t left = launch->grid_threads[i] - origin;
  group->position[i] = position;
  group->origin[i] = origin;
  group->size[i] = left < full ? left : full;
}

// Volatile: a signal handler reads it.
static void note(volatile mtli_cpu_position *position,
                 const mtli_cpu_group *group) {
  for (int i = 0; i < 3; i++) {
    position->group[i] = group->position[i];
  }
  position->thread_in_group = 0;
  position->reserved[1] = group->count;
}

// Sets where the threadgroup with a linear index is.
static void place_index(const mtli_cpu_launch *launch, mtli_cpu_group *group,
                        uint32_t index) {
  for (uint32_t dimension = 0; dimension < 3; dimension++) {
    const uint32_t i = mtli_cpu_launch_dimension(launch, dimension);
    place(launch, group, (int)i, index % launch->group_count[i]);
    index /= launch->group_count[i];
  }
}

// Moves a group on to the next, the program's x fastest.
static void step(const mtli_cpu_launch *launch, mtli_cpu_group *group) {
  int i = (int)mtli_cpu_launch_dimension(launch, 0);
  for (int dimension = 0; dimension < 3; dimension++) {
    const uint32_t next = group->position[i] + 1;
    if (next < launch->group_count[i]) {
      place(launch, group, i, next);
      return;
    }
    place(launch, group, i, 0);
    i = i == 2 ? 0 : i + 1;
  }
}

static void run_one(const mtli_cpu_code *code, const mtli_cpu_launch *launch,
                    mtli_cpu_group *group, void *scratch, void *context) {
  group->threads = group->size[0] * group->size[1] * group->size[2];
  note(scratch, group);
  code->run_group(launch, scratch, context, group);
}

// True if the window of threadgroups that begins with a group is complete, and
// among `left` threadgroups.
static bool begins_window(const mtli_cpu_launch *launch, uint32_t window,
                          const mtli_cpu_group *group, uint32_t left) {
  const uint32_t whole = launch->grid_threads[0] / launch->group_threads[0];
  const uint32_t x = group->position[0];
  return launch->turn == 0 && left >= window && x % window == 0 && x < whole &&
         whole - x >= window;
}

// Runs a window of threadgroups, and leaves group at its last.
static void run_window(const mtli_cpu_code *code, const mtli_cpu_launch *launch,
                       mtli_cpu_group *group, void *scratch, void *context) {
  const uint32_t x = group->position[0];
  group->count = code->groups_at_once;
  for (uint32_t i = 0; i < code->groups_apart; i++) {
    place(launch, group, 0, x + i);
    run_one(code, launch, group, scratch, context);
  }
  group->count = 1;
  place(launch, group, 0, x + mtli_cpu_code_window(code) - 1);
}

void mtli_cpu_code_run(const mtli_cpu_code *code, const mtli_cpu_launch *launch,
                       uint32_t first_group, uint32_t end_group, void *scratch,
                       void *kept) {
  volatile mtli_cpu_position *position = scratch;
  position->reserved[0] = 0;
  if (first_group >= end_group) {
    return;
  }
  if (code->begin) {
    code->begin(launch, scratch, kept);
  }
  mtli_cpu_group group;
  place_index(launch, &group, first_group);
  void *context = (uint8_t *)kept + code->kept_bytes;
  const uint32_t window = mtli_cpu_code_window(code);
  group.count = 1;
  for (uint32_t left = end_group - first_group;;) {
    uint32_t done = 1;
    if (code->groups_at_once && begins_window(launch, window, &group, left)) {
      run_window(code, launch, &group, scratch, context);
      done = window;
    } else {
      run_one(code, launch, &group, scratch, context);
    }
    left -= done;
    if (left == 0) {
      break;
    }
    step(launch, &group);
  }
  if (code->finish && !launch->will_finish) {
    code->finish(scratch);
  }
}
