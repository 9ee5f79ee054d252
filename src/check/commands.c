// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commands.c: checks the memory accesses of commands other than dispatches:
// copies, fills, and counts of threadgroups that a device reads. Each is one
// segment.
#include <stdatomic.h>
#include <string.h>

#include "check/findings.h"

// Text 0 is empty: such accesses have no line and no argument's name.
static const char texts[] = "";
static const mtli_check_site places[] = {
    [0] = {.slot = MTLI_CHECK_NO_SLOT},
    [1] = {.access = MTLI_CHECK_READ,
           .space = MTLI_CHECK_DEVICE,
           .slot = MTLI_CHECK_NO_SLOT,
           .align_bytes = 1},
    [2] = {.access = MTLI_CHECK_WRITE,
           .space = MTLI_CHECK_DEVICE,
           .slot = MTLI_CHECK_NO_SLOT,
           .align_bytes = 1},
};
static const mtli_check_sites command_sites = {
    .sites = places, .count = 3, .texts = texts};

const mtli_check_sites *check_command_sites(void) {
  return &command_sites;
}

bool check_is_command(const mtli_check_sites *sites) {
  return sites == &command_sites;
}

static void look_at_piece(check_state *s, uint32_t site, uint64_t first,
                          uint64_t bytes) {
  check_memory *memory = bytes ? check_memory_find(first) : NULL;
  if (!memory || first - memory->first + bytes > memory->bytes ||
      !check_memory_prepare(memory)) {
    return;
  }
  for (uint64_t i = 0; i < bytes;) {
    const uint64_t offset = first + i - memory->first;
    const uint64_t in_word = 4 - offset % 4;
    const uint64_t length = bytes - i < in_word ? bytes - i : in_word;
    check_races(s, site, (char *)(uintptr_t)(first + i),
                &(check_place){.cells = memory->cells,
                               .quarters = memory->quarters,
                               .offset = offset,
                               .length = length,
                               .told = offset,
                               .barrier = check_barrier_of(s, memory),
                               .memory = memory,
                               .kind = memory->is_untracked ? CHECK_UNTRACKED
                                                            : CHECK_TRACKED});
    i += length;
  }
}

static bool is_untracked(uint64_t address) {
  const check_memory *memory = address ? check_memory_find(address) : NULL;
  return memory && memory->is_untracked;
}

// True if a command's segment may take part in a race: unless all earlier work
// is ordered before it and all later work after it.
static bool is_of_use(const mtli_check_piece *it) {
  return it->orders != (MTL_BARRIER_BUFFERS | MTL_BARRIER_TEXTURES) ||
         check_clock_has_barriers(it->queue) || mtli_check_queue_count() > 1 ||
         is_untracked(it->read) || is_untracked(it->written);
}

static void begin(check_state *s, const mtli_check_piece *it) {
  static uint32_t count;
  const check_segment next = check_last(s) + 1;
  s->sites = &command_sites;
  s->kernel = it->name;
  s->checks = MTLI_CHECK_RACES;
  s->dispatch = ++count | 0x80000000u;  // no dispatch's number
  s->queue_number = it->queue;
  s->stage = it->is_of_dispatch ? CHECK_STAGE_DISPATCH : CHECK_STAGE_BLIT;
  check_clock_take(s, it->queue, it->orders, next);
  s->is_tracked = !check_clock_has_barriers(it->queue) &&
                  !is_untracked(it->read) && !is_untracked(it->written);
  memset(s->group_count, 0, sizeof s->group_count);
  s->now = (check_moment){0};
  s->known_count = 0;
  s->simd_epoch = 0;
  s->marked = 0;
  s->pending = NULL;
  s->is_stale = false;
  s->dispatch_first = s->group_first = s->device_first = s->texels_first = next;
  check_clock_safe(s);
  check_causes_begin(s);
}

char *mtli_check_command(const mtli_check_piece *it) {
  char *text = NULL;
  pthread_mutex_lock(&check_lock);
  check_state *s = check_state_prepare();
  if (s && is_of_use(it)) {
    begin(s, it);
    if (check_past_add(s)) {
      check_switch(s, 0);
      look_at_piece(s, 1, it->read, it->read ? it->bytes : 0);
      look_at_piece(s, 2, it->written, it->written ? it->bytes : 0);
      text = check_first_text(s);
    }
    check_clock_end(s->queue, check_last(s) + 1);
  }
  pthread_mutex_unlock(&check_lock);
  return text;
}
