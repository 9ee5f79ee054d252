// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.c: begins and ends a checked dispatch: sets its ranges, its order,
// and what is ordered before it.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/findings.h"

pthread_mutex_t check_lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t check_dispatches;
uint32_t check_unchecked;

enum { LAST_SEGMENT = 0xa0000000u };

static check_state state;
static check_past *pasts;  // [past_count] by first segment
static size_t past_count, past_capacity;

const check_past *check_past_of(check_segment segment) {
  size_t low = 0, high = past_count;
  if (past_count && pasts[past_count - 1].first <= segment) {
    return &pasts[past_count - 1];
  }
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (pasts[middle].first <= segment) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low ? &pasts[low - 1] : NULL;
}

// --- the dispatch -----------------------------------------------------------------

static void *map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void drop_threadgroup(check_state *s) {
  if (s->check.threadgroup_cells) {
    munmap(s->check.threadgroup_cells,
           s->threadgroup_room / 4 * sizeof(check_cell));
    munmap(s->threadgroup_quarters,
           s->threadgroup_room * sizeof(check_cell));
    munmap(s->check.threadgroup_set, s->threadgroup_room);
  }
  s->check.threadgroup_cells = NULL;
  s->threadgroup_room = 0;
}

// Prepares cells for a threadgroup's memory, and for some bytes after it.
static bool prepare_threadgroup(check_state *s, uint64_t bytes) {
  const uint64_t room = (bytes + 64 + 4095) & ~(uint64_t)4095;
  if (room <= s->threadgroup_room) {
    return true;
  }
  drop_threadgroup(s);
  s->check.threadgroup_cells = map(room / 4 * sizeof(check_cell));
  s->threadgroup_quarters = map(room * sizeof(check_cell));
  s->check.threadgroup_set = map(room);
  s->threadgroup_room = room;
  return s->check.threadgroup_cells && s->threadgroup_quarters &&
         s->check.threadgroup_set;
}

static bool prepare_state(check_state *s) {
  if (!s->dump) {
    s->dump = map(CHECK_DUMP_BYTES);
    s->check.segment = s->last = 1;
  }
  return s->dump != NULL;
}

// Restarts segment numbers when they run out; work in flight then counts as
// ordered.
static void begin_anew(check_state *s) {
  check_memory_forget();
  drop_threadgroup(s);
  check_parts_forget();
  check_read_sites_forget();
  check_clocks_forget();
  past_count = 0;
  s->check.segment = s->last = 1;
}

bool check_past_add(check_state *s) {
  if (past_count == past_capacity) {
    past_capacity = past_capacity ? 2 * past_capacity : 64;
    check_past *grown = realloc(pasts, past_capacity * sizeof *pasts);
    if (!grown) {
      return false;
    }
    pasts = grown;
  }
  check_past *past = &pasts[past_count++];
  *past = (check_past){.first = check_last(s) + 1,
                       .queue = s->queue,
                       .encoder = s->encoder,
                       .stage = s->stage,
                       .kernel = s->kernel,
                       .sites = s->sites,
                       .number = s->dispatch};
  memcpy(past->group_count, s->group_count, sizeof past->group_count);
  return true;
}

mtli_check_view check_view_of(const check_state *s, const check_range *range) {
  mtli_check_view view = {.first = range->first, .bytes = range->bytes};
  const check_memory *memory = range->memory;
  if (!range->first) {
    return view;  // of a threadgroup
  }
  // Cells of inline bytes, which nobody may write.
  static check_cell inline_cells[CHECK_MOST_INLINE / 4 + 4];
  if (!memory && range->bytes <= CHECK_MOST_INLINE && !range->is_written) {
    view.cells = view.coarse = inline_cells;
  } else if (memory && (range->first - memory->first) % 4 == 0) {
    const uint64_t offset = range->first - memory->first;
    view.cells = memory->cells ? memory->cells + offset / 4 : NULL;
    view.coarse = memory->has_parts ? NULL : view.cells;
    view.set = memory->set ? memory->set + offset : NULL;
  } else {
    view.bytes = 0;
  }
  if (!view.cells && (s->checks & MTLI_CHECK_RACES)) {
    view.bytes = 0;
  }
  return view;
}

static void note_use(check_state *s, const mtli_check_site *site) {
  check_range *range = &s->ranges[site->slot];
  const bool is_write = check_is_write(site);
  range->is_written |= is_write;
  range->is_read |= !is_write || site->access == MTLI_CHECK_ATOMIC_BOTH ||
                    site->access == MTLI_CHECK_ATOMIC_EXCHANGE;
  if (site->align_bytes > range->align_bytes) {
    range->align_bytes = site->align_bytes;
  }
  if (site->object_bytes > range->object_bytes) {
    range->object_bytes = site->object_bytes;
  }
}

// Records which arguments are read or written, and which in parts of words.
static void note_uses(check_state *s) {
  for (uint32_t i = 0; i < s->sites->count; ++i) {
    const mtli_check_site *site = &s->sites->sites[i];
    if (site->space != MTLI_CHECK_DEVICE &&
        site->space != MTLI_CHECK_TEXELS) {
      continue;
    }
    const bool is_part = check_is_write(site) &&
                         (site->size_bytes % 4 || site->size_bytes == 0);
    if (site->slot == MTLI_CHECK_NO_SLOT) {
      s->has_device_writes = true;
      s->has_parts |= is_part;
      continue;
    }
    note_use(s, site);
    if (is_part && s->ranges[site->slot].memory) {
      s->ranges[site->slot].memory->has_parts = true;
    }
  }
}

static void note_resident(const check_state *s, uint64_t address) {
  check_memory *memory = check_memory_find(address);
  if (memory) {
    memory->resident = s->dispatch;
  }
}

static bool take_ranges(check_state *s, const mtli_check_dispatch *dispatch) {
  const size_t count = dispatch->argument_count + 1;
  check_range *grown = realloc(s->ranges, count * sizeof *s->ranges);
  s->ranges = grown ? grown : s->ranges;
  mtli_check_view *views = realloc(s->views, count * sizeof *s->views);
  s->views = views ? views : s->views;
  if (!grown || !views) {
    return false;
  }
  s->check.views = s->views;
  s->range_count = dispatch->argument_count;
  s->found = NULL;
  s->has_parts = s->has_device_writes = false;
  for (size_t i = 0; i < s->range_count; ++i) {
    const mtli_check_argument *argument = &dispatch->arguments[i];
    s->ranges[i] = (check_range){.first = argument->first,
                                 .bytes = argument->bytes,
                                 .is_host = argument->is_host,
                                 .name = argument->name,
                                 .type = argument->type};
    if (argument->is_buffer) {
      s->ranges[i].memory = check_memory_find(argument->first);
      note_resident(s, argument->first);
    }
    if (s->ranges[i].memory && (s->checks & MTLI_CHECK_RACES) &&
        !check_memory_prepare(s->ranges[i].memory)) {
      return false;
    }
    if (s->ranges[i].memory) {
      s->ranges[i].memory->has_parts = false;
    }
  }
  for (size_t i = 0; i < dispatch->resident_count; ++i) {
    note_resident(s, dispatch->residents[i]);
  }
  note_uses(s);
  for (size_t i = 0; i < s->range_count; ++i) {
    if (s->ranges[i].memory) {
      s->ranges[i].memory->has_parts |= s->has_parts;
    }
    s->views[i] = check_view_of(s, &s->ranges[i]);
  }
  return true;
}

static void take_schedule(check_state *s, uint64_t groups) {
  free(s->order);
  s->order = NULL;
  s->schedule_kind = check_schedule(s->run, &s->seed, &s->is_stale);
  s->stale_seed = s->seed;
  if (!s->schedule_kind || !groups || groups > UINT32_MAX) {
    return;
  }
  s->order = malloc(groups * sizeof *s->order);
  for (uint32_t i = 0; s->order && i < groups; ++i) {
    s->order[i] = s->schedule_kind == CHECK_REVERSE
                      ? (uint32_t)(groups - 1 - i)
                      : i;
  }
  uint64_t seed = s->seed + s->dispatch;
  for (uint64_t i = groups; s->order && s->schedule_kind == CHECK_RANDOM &&
                            i > 1; --i) {
    const uint64_t other = check_random(&seed) % i;
    const uint32_t kept = s->order[i - 1];
    s->order[i - 1] = s->order[other];
    s->order[other] = kept;
  }
}

static bool has_fences(const mtli_check_sites *sites) {
  for (uint32_t i = 0; i < sites->count; ++i) {
    if (sites->sites[i].access == MTLI_CHECK_FENCE) {
      return true;
    }
  }
  return false;
}

// True if a barrier of a simdgroup may order memory.
static bool has_simd_orders(const mtli_check_sites *sites) {
  for (uint32_t i = 0; i < sites->count; ++i) {
    if (sites->sites[i].access == MTLI_CHECK_SIMD_BARRIER &&
        sites->sites[i].size_bytes) {
      return true;
    }
  }
  return false;
}

// Begins a run of the dispatch.
static void begin_run(check_state *s) {
  s->dispatch_first = check_last(s) + 1;
  check_clock_safe(s);
  s->known_count = 0;
  check_fences_clear();
  check_causes_begin(s);
  check_origins_clear();
  s->pending = NULL;
  check_set_floors(s);
  take_schedule(s, (uint64_t)s->group_count[0] * s->group_count[1] *
                       s->group_count[2]);
}

// False if the dispatch may access untracked memory.
static bool is_all_tracked(const mtli_check_dispatch *dispatch) {
  bool is_tracked = true;
  for (size_t i = 0; i < dispatch->argument_count; ++i) {
    const mtli_check_argument *argument = &dispatch->arguments[i];
    const check_memory *memory =
        argument->is_buffer ? check_memory_find(argument->first) : NULL;
    is_tracked = is_tracked && !(memory && memory->is_untracked);
  }
  for (uint32_t i = 0; is_tracked && i < dispatch->sites->count; ++i) {
    const mtli_check_site *site = &dispatch->sites->sites[i];
    if (site->slot == MTLI_CHECK_NO_SLOT &&
        (site->space == MTLI_CHECK_DEVICE ||
         site->space == MTLI_CHECK_TEXELS ||
         site->space == MTLI_CHECK_ANYWHERE)) {
      is_tracked = !check_memory_has_untracked();
    }
  }
  return is_tracked;
}

check_state *check_state_prepare(void) {
  if (!prepare_state(&state)) {
    return NULL;
  }
  if (check_last(&state) > LAST_SEGMENT) {
    begin_anew(&state);
  }
  return &state;
}

static bool begin_dispatch(check_state *s,
                           const mtli_check_dispatch *dispatch) {
  const uint32_t checks = dispatch->sites->checks;
  check_take_functions(s);
  s->sites = dispatch->sites;
  s->kernel = dispatch->kernel;
  s->checks = checks;
  s->dispatch = ++check_dispatches;
  s->queue_number = dispatch->queue;
  s->stage = CHECK_STAGE_DISPATCH;
  check_clock_take(s, dispatch->queue, dispatch->orders, check_last(s) + 1);
  s->is_tracked =
      !check_clock_has_barriers(dispatch->queue) && is_all_tracked(dispatch);
  s->window = check_clock_window(s->queue);
  memcpy(s->group_count, dispatch->group_count, sizeof s->group_count);
  s->has_fences = has_fences(s->sites);
  s->has_simd_orders = has_simd_orders(s->sites);
  s->is_to_stop = false;
  s->run = 0;
  begin_run(s);
  const check_segment safe =
      s->texels_safe < s->safe ? s->texels_safe : s->safe;
  check_segments_drop(safe < s->last ? safe : s->last);
  return take_ranges(s, dispatch) && check_past_add(s) && check_explore_begin(s);
}

// The runs of a dispatch are ordered one after another.
bool mtli_check_again(mtli_check *check) {
  check_state *s = (check_state *)check;
  check_causes_end();
  if (!check_explore_next(s) || check_last(s) > LAST_SEGMENT) {
    return false;
  }
  check_clock_run_again(s, check_last(s) + 1);
  begin_run(s);
  return check_past_add(s);
}

mtli_check *mtli_check_begin(const mtli_check_dispatch *dispatch) {
  pthread_mutex_lock(&check_lock);
  if (!check_state_prepare() || !begin_dispatch(&state, dispatch)) {
    pthread_mutex_unlock(&check_lock);
    mtli_check_note_unchecked("no memory for the shadows of kernel '%s'",
                              dispatch->kernel);
    return NULL;
  }
  return &state.check;
}

uint32_t mtli_check_group_at(mtli_check *check, uint32_t step) {
  const check_state *s = (const check_state *)check;
  return s->order ? s->order[step] : step;
}

static void order_threads(check_state *s, uint32_t group) {
  uint64_t seed = s->seed ^ ((uint64_t)group << 32 | s->dispatch);
  for (uint32_t i = 0; i < s->threads; ++i) {
    s->thread_order[i] =
        s->schedule_kind == CHECK_REVERSE ? s->threads - 1 - i : i;
  }
  for (uint32_t i = s->threads; s->schedule_kind == CHECK_RANDOM && i > 1;
       --i) {
    const uint32_t other = (uint32_t)(check_random(&seed) % i);
    const uint32_t kept = s->thread_order[i - 1];
    s->thread_order[i - 1] = s->thread_order[other];
    s->thread_order[other] = kept;
  }
}

void mtli_check_enter_group(mtli_check *check, uint32_t group, void *threadgroup,
                      uint64_t bytes) {
  check_state *s = (check_state *)check;
  s->now = (check_moment){.group = group};
  s->group_first = s->device_first = s->texels_first = check_last(s) + 1;
  s->check.threadgroup_floor = s->group_first;
  s->check.threadgroup_memory = threadgroup;
  s->threadgroup_bytes = bytes;
  if (bytes && !prepare_threadgroup(s, bytes)) {
    mtli_check_note_unchecked("no memory for the shadow of a threadgroup");
    s->threadgroup_bytes = 0;
  }
  if (s->threadgroup_bytes && (s->checks & MTLI_CHECK_INIT)) {
    memset(s->check.threadgroup_set, 0, bytes);
  }
  memset(s->thread, 0, s->threads * sizeof s->thread[0]);
  s->arrived = s->simd_epoch = 0;
  check_part(s);
  if (s->schedule_kind) {
    order_threads(s, group);
  }
}

bool mtli_check_is_to_stop(const mtli_check *check) {
  return ((const check_state *)check)->is_to_stop;
}

const check_state *check_last_state(void) {
  return &state;
}

void mtli_check_end(mtli_check *check, char **out_text) {
  check_state *s = (check_state *)check;
  check_causes_end();
  check_explore_end();
  check_clock_set_window(s->queue, s->window);
  *out_text = check_first_text(s);
  check_clock_end(s->queue, check_last(s) + 1);
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_note_unchecked(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (check_unchecked++ == 0) {
    fputs("mettle check: not checked: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
  }
  va_end(arguments);
}
