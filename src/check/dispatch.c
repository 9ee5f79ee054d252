// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.c: begins and ends a checked dispatch: its ranges, its order, what
// comes before it.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/findings.h"

pthread_mutex_t check_lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t check_dispatches;
uint32_t check_unchecked;

enum { LAST_SEGMENT = 0xe0000000u };

static check_state state;
static check_past *pasts;  // [past_count] by first segment
static size_t past_count, past_capacity;

// A queue, and which segments of others come before what it does next.
typedef struct clock_of_queue {
  uint64_t queue;
  check_segment window;  // its own from here on are not ordered
  check_segment end;     // behind its last
  check_segment known[CHECK_QUEUES];
} clock_of_queue;

static clock_of_queue clocks[CHECK_QUEUES];
static uint32_t clock_count;

static clock_of_queue *clock_of(uint64_t queue) {
  for (uint32_t i = 0; i < clock_count; ++i) {
    if (clocks[i].queue == queue) {
      return &clocks[i];
    }
  }
  // Of too many queues the last ones count as one.
  const size_t at = clock_count < CHECK_QUEUES ? clock_count++
                                                 : CHECK_QUEUES - 1;
  if (clocks[at].queue == 0) {
    clocks[at] = (clock_of_queue){.queue = queue, .window = 1, .end = 1};
  }
  return &clocks[at];
}

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

bool check_past_is_ordered(const check_state *s, const check_past *past,
                           check_segment segment) {
  const clock_of_queue *own = &clocks[s->queue];
  return past->queue == s->queue ? segment < own->window
                                 : segment < own->known[past->queue];
}

// --- queues and events ---------------------------------------------------------

void mtli_check_queue_orders(uint64_t queue) {
  pthread_mutex_lock(&check_lock);
  clock_of_queue *clock = clock_of(queue);
  clock->window = clock->end;
  pthread_mutex_unlock(&check_lock);
}

enum { SIGNALS = 16 };

// An event: what came before each of its last values. Values rise.
typedef struct event_clock {
  uint64_t event;
  uint32_t count;
  struct {
    uint64_t value;
    check_segment known[CHECK_QUEUES];
  } signals[SIGNALS];  // [count] by rising value
} event_clock;

static event_clock *events;  // [event_count]
static size_t event_count, event_capacity;
// What hosts can know to have come before what they commit or signal now.
static check_segment host[CHECK_QUEUES];

static event_clock *event_of(uint64_t event) {
  for (size_t i = 0; i < event_count; ++i) {
    if (events[i].event == event) {
      return &events[i];
    }
  }
  return NULL;
}

static event_clock *add_event(uint64_t event) {
  if (event_count == event_capacity) {
    event_capacity = event_capacity ? 2 * event_capacity : 16;
    event_clock *grown = realloc(events, event_capacity * sizeof *events);
    if (!grown) {
      abort();
    }
    events = grown;
  }
  events[event_count] = (event_clock){.event = event};
  return &events[event_count++];
}

static void merge(check_segment *into, const check_segment *known) {
  for (uint32_t i = 0; i < CHECK_QUEUES; ++i) {
    if (known[i] > into[i]) {
      into[i] = known[i];
    }
  }
}

// Of many values the first are forgotten: who waits for one of them is taken
// for ordered behind a later one.
static void note_signal(uint64_t number, uint64_t value,
                        const check_segment *known) {
  event_clock *event = event_of(number);
  event = event ? event : add_event(number);
  if (event->count && event->signals[event->count - 1].value >= value) {
    return;  // it changes nothing
  }
  if (event->count == SIGNALS) {
    memmove(&event->signals[0], &event->signals[1],
            (SIGNALS - 1) * sizeof event->signals[0]);
    --event->count;
  }
  event->signals[event->count].value = value;
  memcpy(event->signals[event->count++].known, known,
         CHECK_QUEUES * sizeof *known);
}

// All that comes before what a queue does next.
static void copy_clock(const clock_of_queue *clock, check_segment *out) {
  memcpy(out, clock->known, sizeof clock->known);
  out[clock - clocks] = clock->end;
}

void mtli_check_signal(uint64_t queue, uint64_t event, uint64_t value,
                       bool hosts_see) {
  check_segment known[CHECK_QUEUES];
  pthread_mutex_lock(&check_lock);
  copy_clock(clock_of(queue), known);
  note_signal(event, value, known);
  if (hosts_see) {
    merge(host, known);
  }
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_host_signal(uint64_t event, uint64_t value) {
  pthread_mutex_lock(&check_lock);
  note_signal(event, value, host);
  pthread_mutex_unlock(&check_lock);
}

// What was signalled behind the first value that is enough need not have come
// yet, had the queues run at other speeds.
void mtli_check_waited(uint64_t queue, uint64_t number, uint64_t value) {
  pthread_mutex_lock(&check_lock);
  const event_clock *event = event_of(number);
  for (uint32_t i = 0; event && i < event->count; ++i) {
    if (event->signals[i].value >= value) {
      merge(clock_of(queue)->known, event->signals[i].known);
      break;
    }
  }
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_event_ends(uint64_t number) {
  pthread_mutex_lock(&check_lock);
  event_clock *event = event_of(number);
  if (event) {
    *event = events[--event_count];
  }
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_commit(uint64_t queue) {
  pthread_mutex_lock(&check_lock);
  merge(clock_of(queue)->known, host);
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_complete(uint64_t queue) {
  check_segment known[CHECK_QUEUES];
  pthread_mutex_lock(&check_lock);
  copy_clock(clock_of(queue), known);
  merge(host, known);
  pthread_mutex_unlock(&check_lock);
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
    munmap(s->check.threadgroup_quarters,
           s->threadgroup_room * sizeof(check_cell));
    munmap(s->check.threadgroup_set, s->threadgroup_room);
  }
  s->check.threadgroup_cells = NULL;
  s->threadgroup_room = 0;
}

// Cells for the memory of a threadgroup, and some behind its end.
static bool prepare_threadgroup(check_state *s, uint64_t bytes) {
  const uint64_t room = (bytes + 64 + 4095) & ~(uint64_t)4095;
  if (room <= s->threadgroup_room) {
    return true;
  }
  drop_threadgroup(s);
  s->check.threadgroup_cells = map(room / 4 * sizeof(check_cell));
  s->check.threadgroup_quarters = map(room * sizeof(check_cell));
  s->check.threadgroup_set = map(room);
  s->threadgroup_room = room;
  return s->check.threadgroup_cells && s->check.threadgroup_quarters &&
         s->check.threadgroup_set;
}

static bool prepare_state(check_state *s) {
  if (!s->dump) {
    s->dump = map(CHECK_DUMP_BYTES);
        s->check.segment = s->last = 1;
  }
  return s->dump != NULL;
}

// Numbers begin anew when they have run out: what is in flight then is taken
// for ordered.
static void begin_anew(check_state *s) {
  check_memory_forget();
  drop_threadgroup(s);
  memset(clocks, 0, sizeof clocks);
  clock_count = 0;
  past_count = 0;
  event_count = 0;
  memset(host, 0, sizeof host);
  s->check.segment = s->last = 1;
}

static bool add_past(check_state *s) {
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
                       .kernel = s->kernel,
                       .sites = s->sites,
                       .number = s->dispatch};
  memcpy(past->group_count, s->group_count, sizeof past->group_count);
  return true;
}

// Those below are ordered before the dispatch, whatever queue they are of.
static check_segment find_safe(const check_state *s) {
  const clock_of_queue *own = &clocks[s->queue];
  check_segment safe = own->window;
  for (uint32_t i = 0; i < clock_count; ++i) {
    if (i != s->queue && own->known[i] < clocks[i].end &&
        own->known[i] < safe) {
      safe = own->known[i];
    }
  }
  return safe ? safe : 1;
}

mtli_check_view check_view_of(const check_state *s, const check_range *range) {
  mtli_check_view view = {.first = range->first, .bytes = range->bytes};
  const check_memory *memory = range->memory;
  if (!range->first) {
    return view;  // of a threadgroup
  }
  // Inline bytes are nobody's to write.
  static check_cell inline_cells[CHECK_MOST_INLINE / 4 + 4];
  if (!memory && range->bytes <= CHECK_MOST_INLINE && !range->is_written) {
    view.cells = view.coarse = view.quarters = inline_cells;
  } else if (memory && (range->first - memory->first) % 4 == 0) {
    const uint64_t offset = range->first - memory->first;
    view.cells = memory->cells ? memory->cells + offset / 4 : NULL;
    view.quarters = memory->quarters ? memory->quarters + offset : NULL;
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
  range->is_read |= !is_write || site->access == MTLI_CHECK_ATOMIC_BOTH;
  if (site->align_bytes > range->align_bytes) {
    range->align_bytes = site->align_bytes;
  }
  if (site->object_bytes > range->object_bytes) {
    range->object_bytes = site->object_bytes;
  }
}

// Which arguments are read and written, and which in parts of words.
static void note_uses(check_state *s) {
  for (uint32_t i = 0; i < s->sites->count; ++i) {
    const mtli_check_site *site = &s->sites->sites[i];
    if (site->space != MTLI_CHECK_DEVICE) {
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
    }
    if (s->ranges[i].memory && (s->checks & MTLI_CHECK_RACES) &&
        !check_memory_prepare(s->ranges[i].memory)) {
      return false;
    }
    if (s->ranges[i].memory) {
      s->ranges[i].memory->has_parts = false;
    }
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

// A run of the dispatch begins.
static void begin_run(check_state *s) {
  s->dispatch_first = check_last(s) + 1;
  s->safe = find_safe(s);
  s->known_count = 0;
  check_fences_clear();
  check_causes_begin(s);
  check_origins_clear();
  s->pending = NULL;
  check_set_floors(s);
  take_schedule(s, (uint64_t)s->group_count[0] * s->group_count[1] *
                       s->group_count[2]);
}

static bool begin_dispatch(check_state *s,
                           const mtli_check_dispatch *dispatch) {
  if (!prepare_state(s)) {
    return false;
  }
  if (check_last(s) > LAST_SEGMENT) {
    begin_anew(s);
  }
  const uint32_t checks = dispatch->sites->checks;
  check_take_functions(s);
  s->sites = dispatch->sites;
  s->kernel = dispatch->kernel;
  s->checks = checks;
  s->dispatch = ++check_dispatches;
  clock_of_queue *clock = clock_of(dispatch->queue);
  s->queue = (uint32_t)(clock - clocks);
  if (dispatch->is_ordered) {
    clock->window = check_last(s) + 1;
  }
  s->window = clock->window;
  memcpy(s->group_count, dispatch->group_count, sizeof s->group_count);
  s->has_fences = has_fences(s->sites);
  s->is_to_stop = false;
  s->run = 0;
  begin_run(s);
  check_segments_drop(s->safe < s->last ? s->safe : s->last);
  return take_ranges(s, dispatch) && add_past(s) && check_explore_begin(s);
}

// Its runs are ordered behind each other.
bool mtli_check_again(mtli_check *check) {
  check_state *s = (check_state *)check;
  check_causes_end();
  if (!check_explore_next(s) || check_last(s) > LAST_SEGMENT) {
    return false;
  }
  clocks[s->queue].window = check_last(s) + 1;
  begin_run(s);
  return add_past(s);
}

mtli_check *mtli_check_begin(const mtli_check_dispatch *dispatch) {
  pthread_mutex_lock(&check_lock);
  if (!begin_dispatch(&state, dispatch)) {
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
  s->group_first = s->device_first = check_last(s) + 1;
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
  clocks[s->queue].window = s->window;
  *out_text = check_first_text(s);
  clocks[s->queue].end = check_last(s) + 1;
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
