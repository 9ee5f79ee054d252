// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clocks.c: orders dispatches by vector clocks: of queues, their encoders and
// fences, events, and the host where it has seen that work is complete.
//
// A queue orders its encoders over memory that is tracked. Over untracked
// memory they may overlap, unless fences, an event or the host order them.
#include <stdlib.h>
#include <string.h>

#include "check/findings.h"

enum {
  SIGNALS = 16,
  ENCODERS = 256,  // older ones count as ordered
  ENCODER_WORDS = ENCODERS / 64,
};

// The work that a queue or the host is ordered after, kept by a command buffer.
typedef struct check_clock {
  uint32_t age;  // segments of other ages are forgotten
  check_hold *holds;
  check_segment known[CHECK_QUEUES];
} check_clock;

static uint32_t age;

// A queue, and which segments are ordered before its next work.
typedef struct clock_of_queue {
  uint64_t queue;
  check_window window;
  check_segment end;  // behind its last
  // Segments below these are ordered before, in all memory and of the queue's
  // own.
  check_segment known[CHECK_QUEUES];
  uint32_t ordinal;  // number of the current encoder in its command buffer
  uint32_t encoder;  // its number
} clock_of_queue;

static clock_of_queue clocks[CHECK_QUEUES];
static uint32_t clock_count;

typedef struct encoder_clock {
  uint32_t number;
  uint32_t queue;  // index
  check_segment first;
  uint64_t known[ENCODER_WORDS];  // a bit for each place in encoders
} encoder_clock;

static encoder_clock encoders[ENCODERS];  // by number, from 1
static uint32_t encoder_count;

typedef struct fence_clock {
  uint64_t fence;
  uint64_t known[ENCODER_WORDS];
} fence_clock;

static fence_clock *fences;  // [fence_count]
static size_t fence_count, fence_capacity;

// An event: the clocks of its last values. Values rise.
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
// The work that the host has seen complete: ordered before all that it commits
// or signals from now on.
static check_segment host[CHECK_QUEUES];

static clock_of_queue *clock_of(uint64_t queue) {
  for (uint32_t i = 0; i < clock_count; ++i) {
    if (clocks[i].queue == queue) {
      return &clocks[i];
    }
  }
  // With too many queues, the last ones share an entry.
  const size_t at =
      clock_count < CHECK_QUEUES ? clock_count++ : CHECK_QUEUES - 1;
  if (clocks[at].queue == 0) {
    clocks[at] = (clock_of_queue){.queue = queue, .window = {1, 1}, .end = 1};
  }
  return &clocks[at];
}

static void merge(check_segment *into, const check_segment *known) {
  for (uint32_t i = 0; i < CHECK_QUEUES; ++i) {
    if (known[i] > into[i]) {
      into[i] = known[i];
    }
  }
}

// Copies the clock that orders a queue's next work.
static void copy_clock(const clock_of_queue *clock, check_segment *out) {
  memcpy(out, clock->known, sizeof clock->known);
  out[clock - clocks] = clock->end;
}

// Makes room for one more item in *items.
static void grow(void *items, size_t count, size_t *capacity, size_t bytes) {
  if (count < *capacity) {
    return;
  }
  *capacity = *capacity ? 2 * *capacity : 16;
  void *grown = realloc(*(void **)items, *capacity * bytes);
  if (!grown) {
    abort();
  }
  *(void **)items = grown;
}

// --- encoders and fences -----------------------------------------------------

static bool has_bit(const uint64_t *bits, uint32_t at) {
  return bits[at / 64] >> at % 64 & 1;
}

static void forget_place(uint32_t at) {
  const uint64_t kept = ~((uint64_t)1 << at % 64);
  for (uint32_t i = 0; i < ENCODERS; ++i) {
    encoders[i].known[at / 64] &= kept;
  }
  for (size_t i = 0; i < fence_count; ++i) {
    fences[i].known[at / 64] &= kept;
  }
}

static encoder_clock *encoder_at(uint32_t number) {
  return &encoders[number % ENCODERS];
}

void mtli_check_encoder(uint64_t queue, uint32_t ordinal) {
  pthread_mutex_lock(&check_lock);
  clock_of_queue *clock = clock_of(queue);
  if (!clock->encoder || clock->ordinal != ordinal) {
    clock->ordinal = ordinal;
    clock->encoder = ++encoder_count;
    forget_place(encoder_count % ENCODERS);
    *encoder_at(encoder_count) =
        (encoder_clock){.number = encoder_count,
                        .queue = (uint32_t)(clock - clocks),
                        .first = clock->end};
  }
  pthread_mutex_unlock(&check_lock);
}

static fence_clock *fence_of(uint64_t fence) {
  for (size_t i = 0; i < fence_count; ++i) {
    if (fences[i].fence == fence) {
      return &fences[i];
    }
  }
  return NULL;
}

void mtli_check_fence_updated(uint64_t queue, uint64_t number) {
  pthread_mutex_lock(&check_lock);
  const uint32_t own = clock_of(queue)->encoder;
  fence_clock *fence = fence_of(number);
  if (!fence) {
    grow(&fences, fence_count, &fence_capacity, sizeof *fences);
    fence = &fences[fence_count++];
  }
  *fence = (fence_clock){.fence = number};
  memcpy(fence->known, encoder_at(own)->known, sizeof fence->known);
  fence->known[own % ENCODERS / 64] |= (uint64_t)1 << own % 64;
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_fence_waited(uint64_t queue, uint64_t number) {
  pthread_mutex_lock(&check_lock);
  encoder_clock *own = encoder_at(clock_of(queue)->encoder);
  const fence_clock *fence = fence_of(number);
  for (uint32_t i = 0; fence && i < ENCODER_WORDS; ++i) {
    own->known[i] |= fence->known[i];
  }
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_fence_ends(uint64_t number) {
  pthread_mutex_lock(&check_lock);
  fence_clock *fence = fence_of(number);
  if (fence) {
    *fence = fences[--fence_count];
  }
  pthread_mutex_unlock(&check_lock);
}

// True if a fence orders one encoder of a queue before another, or if it lies
// so far back that it is forgotten.
static bool is_encoder_known(uint32_t own, uint32_t before) {
  return before + ENCODERS <= encoder_count || before == 0 ||
         has_bit(encoder_at(own)->known, before % ENCODERS);
}

bool check_past_is_ordered(const check_state *s, const check_past *past,
                           check_segment segment, check_kind kind,
                           check_segment barrier) {
  const clock_of_queue *own = &clocks[s->queue];
  if (past->queue != s->queue) {
    return segment < own->known[past->queue];
  }
  const check_segment window =
      kind & CHECK_TEXELS ? own->window.texels : own->window.buffers;
  return (segment < window || segment < barrier) &&
         (kind & CHECK_TRACKED || past->encoder == own->encoder ||
          segment < own->known[s->queue] ||
          is_encoder_known(own->encoder, past->encoder));
}

// --- dispatches --------------------------------------------------------------

uint32_t check_clock_take(uint64_t queue, unsigned orders, check_segment next,
                          uint32_t *out_encoder) {
  clock_of_queue *clock = clock_of(queue);
  if (orders & MTL_BARRIER_BUFFERS) {
    clock->window.buffers = next;
  }
  if (orders & MTL_BARRIER_TEXTURES) {
    clock->window.texels = next;
  }
  *out_encoder = clock->encoder;
  return (uint32_t)(clock - clocks);
}

check_window check_clock_window(uint32_t queue) {
  return clocks[queue].window;
}

void check_clock_set_window(uint32_t queue, check_window window) {
  clocks[queue].window = window;
}

void check_clock_end(uint32_t queue, check_segment end) {
  clocks[queue].end = end;
}

// Segments below come before what a queue does next; window is its own.
static check_segment safe_of(uint32_t queue, bool is_tracked,
                             check_segment window) {
  const clock_of_queue *own = &clocks[queue];
  check_segment safe = window;
  for (uint32_t i = 0; i < clock_count; ++i) {
    if (i != queue && own->known[i] < clocks[i].end && own->known[i] < safe) {
      safe = own->known[i];
    }
  }
  for (uint32_t i = 0; !is_tracked && i < ENCODERS; ++i) {
    const encoder_clock *it = &encoders[i];
    if (it->number && it->number != own->encoder && it->queue == queue &&
        !is_encoder_known(own->encoder, it->number)) {
      const check_segment first =
          it->first > own->known[queue] ? it->first : own->known[queue];
      safe = first < safe ? first : safe;
    }
  }
  return safe ? safe : 1;
}

void check_clock_safe(check_state *s) {
  const check_window window = clocks[s->queue].window;
  s->safe = safe_of(s->queue, s->is_tracked, window.buffers);
  s->texels_safe = safe_of(s->queue, s->is_tracked, window.texels);
}

void check_clocks_forget(void) {
  ++age;
  memset(clocks, 0, sizeof clocks);
  memset(encoders, 0, sizeof encoders);
  memset(host, 0, sizeof host);
  clock_count = 0;
  fence_count = event_count = 0;
}

void mtli_check_queue_orders(uint64_t queue) {
  pthread_mutex_lock(&check_lock);
  clock_of_queue *clock = clock_of(queue);
  clock->window = (check_window){clock->end, clock->end};
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_memory_orders(uint64_t queue, uint64_t address) {
  pthread_mutex_lock(&check_lock);
  check_memory *memory = check_memory_find(address);
  if (memory) {
    memory->barrier = clock_of(queue)->end;
    memory->barrier_queue = queue;
  }
  pthread_mutex_unlock(&check_lock);
}

// --- events ------------------------------------------------------------------

static event_clock *event_of(uint64_t event) {
  for (size_t i = 0; i < event_count; ++i) {
    if (events[i].event == event) {
      return &events[i];
    }
  }
  return NULL;
}

static event_clock *add_event(uint64_t event) {
  grow(&events, event_count, &event_capacity, sizeof *events);
  events[event_count] = (event_clock){.event = event};
  return &events[event_count++];
}

// Records a signal. If there are too many values, the first are forgotten, and
// a wait for one of them counts as a wait for a later one.
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

void mtli_check_signal(uint64_t queue, uint64_t event, uint64_t value) {
  check_segment known[CHECK_QUEUES];
  pthread_mutex_lock(&check_lock);
  copy_clock(clock_of(queue), known);
  note_signal(event, value, known);
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_host_signal(uint64_t event, uint64_t value) {
  pthread_mutex_lock(&check_lock);
  note_signal(event, value, host);
  pthread_mutex_unlock(&check_lock);
}

// Later signals than the first sufficient one do not order: they need not have
// happened, had the queues run at other speeds.
static void learn_event(check_segment *known, uint64_t number, uint64_t value) {
  const event_clock *event = event_of(number);
  for (uint32_t i = 0; event && i < event->count; ++i) {
    if (event->signals[i].value >= value) {
      merge(known, event->signals[i].known);
      break;
    }
  }
}

void mtli_check_waited(uint64_t queue, uint64_t number, uint64_t value) {
  pthread_mutex_lock(&check_lock);
  learn_event(clock_of(queue)->known, number, value);
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_host_waited(uint64_t number, uint64_t value) {
  pthread_mutex_lock(&check_lock);
  learn_event(host, number, value);
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

// --- command buffers ---------------------------------------------------------

static check_clock *copy_of(const check_segment *known) {
  check_clock *clock = malloc(sizeof *clock);
  if (!clock) {
    abort();
  }
  clock->age = age;
  clock->holds = NULL;
  memcpy(clock->known, known, sizeof clock->known);
  return clock;
}

void *mtli_check_commit(void) {
  pthread_mutex_lock(&check_lock);
  check_clock *clock = copy_of(host);
  pthread_mutex_unlock(&check_lock);
  return clock;
}

void mtli_check_start(uint64_t queue, const void *committed) {
  const check_clock *clock = committed;
  pthread_mutex_lock(&check_lock);
  clock_of_queue *own = clock_of(queue);
  own->ordinal = UINT32_MAX;
  if (clock && clock->age == age) {
    merge(own->known, clock->known);
  }
  pthread_mutex_unlock(&check_lock);
}

void *mtli_check_complete(uint64_t queue, void *committed) {
  check_clock *before = committed;
  check_segment known[CHECK_QUEUES];
  pthread_mutex_lock(&check_lock);
  copy_clock(clock_of(queue), known);
  check_clock *clock = copy_of(known);
  if (before) {
    clock->holds = before->holds;
    before->holds = NULL;
  }
  pthread_mutex_unlock(&check_lock);
  return clock;
}

void mtli_check_seen(void *completed) {
  check_clock *clock = completed;
  pthread_mutex_lock(&check_lock);
  if (clock->age == age) {
    merge(host, clock->known);
  }
  check_hold *holds = clock->holds;
  clock->holds = NULL;
  pthread_mutex_unlock(&check_lock);
  check_host_release(holds);
}

void mtli_check_host_hold(void *committed, const mtli_check_held *held) {
  check_host_hold(&((check_clock *)committed)->holds, held);
}

// Memory that the host has never seen complete stays closed.
void mtli_check_forget(void *clock) {
  if (clock) {
    check_hold_free(((check_clock *)clock)->holds);
  }
  free(clock);
}
