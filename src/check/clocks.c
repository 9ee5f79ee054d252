// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clocks.c: orders dispatches by vector clocks: of queues, their encoders and
// fences, events, and the host where it has seen that work is complete.
//
// A queue orders its encoders over memory that is tracked. Over untracked
// memory they may overlap, unless fences, an event or the host order them. A
// queue that is ordered by barriers orders nothing by itself: each encoder
// there is divided into sections, which barriers order, each stage by itself.
#include <stdlib.h>
#include <string.h>

#include "check/findings.h"

enum {
  SIGNALS = 16,
  ENCODERS = 256,  // sections; older ones count as ordered
  ENCODER_WORDS = CHECK_STAGES * ENCODERS / 64,
};

// Work of sections: a bit for each stage and place in encoders.
typedef struct sections {
  uint64_t bits[ENCODER_WORDS];
} sections;

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
  uint32_t encoder;  // its section's number
  bool has_barriers;
  // What comes before such work of encoders to come.
  sections produced[CHECK_STAGES];
} clock_of_queue;

static clock_of_queue clocks[CHECK_QUEUES];
static uint32_t clock_count;

// A section of an encoder: all of it, but on a queue ordered by barriers.
typedef struct encoder_clock {
  uint32_t number;
  uint32_t pass;   // number of the encoder's first section
  uint32_t queue;  // index
  check_segment first;
  uint32_t stages;               // that it has work of, bits
  sections known[CHECK_STAGES];  // comes before such work of it
} encoder_clock;

static encoder_clock encoders[ENCODERS];  // by number, from 1
static uint32_t encoder_count;

typedef struct fence_clock {
  uint64_t fence;
  sections known;
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

static uint32_t bit_of(uint32_t section, uint32_t stage) {
  return stage * ENCODERS + section % ENCODERS;
}

static bool has(const sections *set, uint32_t section, uint32_t stage) {
  const uint32_t at = bit_of(section, stage);
  return set->bits[at / 64] >> at % 64 & 1;
}

static void add(sections *set, uint32_t section, uint32_t stage) {
  const uint32_t at = bit_of(section, stage);
  set->bits[at / 64] |= (uint64_t)1 << at % 64;
}

static void add_all(sections *set, const sections *other) {
  for (uint32_t i = 0; i < ENCODER_WORDS; ++i) {
    set->bits[i] |= other->bits[i];
  }
}

static void forget(sections *set, uint32_t section) {
  for (uint32_t stage = 0; stage < CHECK_STAGES; ++stage) {
    const uint32_t at = bit_of(section, stage);
    set->bits[at / 64] &= ~((uint64_t)1 << at % 64);
  }
}

// A new section takes the place of an old one, of which nothing is known.
static void forget_place(uint32_t section) {
  for (uint32_t stage = 0; stage < CHECK_STAGES; ++stage) {
    for (uint32_t i = 0; i < ENCODERS; ++i) {
      forget(&encoders[i].known[stage], section);
    }
    for (uint32_t i = 0; i < clock_count; ++i) {
      forget(&clocks[i].produced[stage], section);
    }
  }
  for (size_t i = 0; i < fence_count; ++i) {
    forget(&fences[i].known, section);
  }
}

static encoder_clock *encoder_at(uint32_t number) {
  return &encoders[number % ENCODERS];
}

// Begins a section, of the pass of `before` or of a new one.
static void begin_section(clock_of_queue *clock, const encoder_clock *before) {
  encoder_clock made = {.number = ++encoder_count,
                        .queue = (uint32_t)(clock - clocks),
                        .first = clock->end};
  made.pass = before ? before->pass : made.number;
  memcpy(made.known, before ? before->known : clock->produced,
         sizeof made.known);
  clock->encoder = made.number;
  *encoder_at(made.number) = made;
  forget_place(made.number);
}

void mtli_check_encoder(uint64_t queue, uint32_t ordinal, bool has_barriers) {
  pthread_mutex_lock(&check_lock);
  clock_of_queue *clock = clock_of(queue);
  if (!clock->encoder || clock->ordinal != ordinal) {
    clock->ordinal = ordinal;
    clock->has_barriers = has_barriers;
    begin_section(clock, NULL);
  }
  pthread_mutex_unlock(&check_lock);
}

bool check_clock_has_barriers(uint64_t queue) {
  return clock_of(queue)->has_barriers;
}

static fence_clock *fence_of(uint64_t fence) {
  for (size_t i = 0; i < fence_count; ++i) {
    if (fences[i].fence == fence) {
      return &fences[i];
    }
  }
  grow(&fences, fence_count, &fence_capacity, sizeof *fences);
  fences[fence_count] = (fence_clock){.fence = fence};
  return &fences[fence_count++];
}

// --- barriers and fences of encoders -----------------------------------------

// Adds the work of such stages of the queue's encoder so far, and what comes
// before that; is_earlier: of the queue's encoders before it.
static void add_work(const clock_of_queue *clock, bool is_earlier,
                     unsigned stages, sections *out) {
  const encoder_clock *own = encoder_at(clock->encoder);
  for (uint32_t i = 0; i < ENCODERS; ++i) {
    const encoder_clock *it = &encoders[i];
    if (!it->number || it->queue != own->queue ||
        (it->pass == own->pass) == is_earlier) {
      continue;
    }
    for (uint32_t stage = 0; stage < CHECK_STAGES; ++stage) {
      if (it->stages & stages & 1u << stage) {
        add(out, it->number, stage);
        add_all(out, &it->known[stage]);
      }
    }
  }
}

static void learn(sections *known, unsigned stages, const sections *work) {
  for (uint32_t stage = 0; stage < CHECK_STAGES; ++stage) {
    if (stages >> stage & 1) {
      add_all(&known[stage], work);
    }
  }
}

static void order_work(clock_of_queue *clock, const mtl_order *order) {
  sections work = {0};
  const encoder_clock *own = encoder_at(clock->encoder);
  // A new section, so that the encoder's later work is not taken for work that
  // the barrier waits for.
  if (clock->has_barriers && own->stages) {
    begin_section(clock, own);
  }
  sections *known = encoder_at(clock->encoder)->known;
  switch (order->kind) {
    case MTL_ORDER_WITHIN_ENCODER:
      add_work(clock, false, order->after, &work);
      learn(known, order->before, &work);
      break;
    case MTL_ORDER_BEHIND_QUEUE:
      add_work(clock, true, order->after, &work);
      learn(known, order->before, &work);
      break;
    case MTL_ORDER_BEFORE_QUEUE:
      add_work(clock, false, order->after, &work);
      learn(clock->produced, order->before, &work);
      break;
    case MTL_ORDER_UPDATE_FENCE:
      add_work(clock, false, order->after, &work);
      fence_of((uintptr_t)order->fence)->known = work;
      break;
    case MTL_ORDER_WAIT_FENCE:
      learn(known, order->before, &fence_of((uintptr_t)order->fence)->known);
      break;
  }
}

void mtli_check_order(uint64_t queue, const mtl_order *order) {
  pthread_mutex_lock(&check_lock);
  order_work(clock_of(queue), order);
  pthread_mutex_unlock(&check_lock);
}

void mtli_check_fence_ends(uint64_t number) {
  pthread_mutex_lock(&check_lock);
  fence_clock *fence = fence_of(number);
  *fence = fences[--fence_count];
  pthread_mutex_unlock(&check_lock);
}

// True if work of a section comes before the stage's work of another of the
// same queue, or if the section lies so far back that it is forgotten.
static bool is_encoder_known(uint32_t own, uint32_t own_stage, uint32_t before,
                             uint32_t stage) {
  return before + ENCODERS <= encoder_count || before == 0 ||
         has(&encoder_at(own)->known[own_stage], before, stage);
}

bool check_past_is_ordered(const check_state *s, const check_past *past,
                           check_segment segment, check_kind kind,
                           check_segment barrier) {
  const clock_of_queue *own = &clocks[s->queue];
  if (past->queue != s->queue) {
    return segment < own->known[past->queue];
  }
  const bool is_known =
      segment < own->known[s->queue] ||
      is_encoder_known(own->encoder, s->stage, past->encoder, past->stage);
  if (own->has_barriers) {
    return is_known;
  }
  const check_segment window =
      kind & CHECK_TEXELS ? own->window.texels : own->window.buffers;
  return (segment < window || segment < barrier) &&
         (kind & CHECK_TRACKED || past->encoder == own->encoder || is_known);
}

// --- dispatches --------------------------------------------------------------

void check_clock_take(check_state *s, uint64_t queue, unsigned orders,
                      check_segment next) {
  clock_of_queue *clock = clock_of(queue);
  if (orders & MTL_BARRIER_BUFFERS) {
    clock->window.buffers = next;
  }
  if (orders & MTL_BARRIER_TEXTURES) {
    clock->window.texels = next;
  }
  // Of an indirect command buffer.
  if (clock->has_barriers && orders && s->stage == CHECK_STAGE_DISPATCH) {
    order_work(clock, &(mtl_order){.kind = MTL_ORDER_WITHIN_ENCODER,
                                   .after = MTL_STAGES_ALL,
                                   .before = MTL_STAGES_ALL});
  }
  encoder_at(clock->encoder)->stages |= 1u << s->stage;
  s->queue = (uint32_t)(clock - clocks);
  s->encoder = clock->encoder;
}

check_window check_clock_window(uint32_t queue) {
  return clocks[queue].window;
}

void check_clock_set_window(uint32_t queue, check_window window) {
  clocks[queue].window = window;
}

void check_clock_run_again(check_state *s, check_segment next) {
  clock_of_queue *clock = &clocks[s->queue];
  clock->window = (check_window){next, next};
  if (clock->has_barriers) {
    clock->end = next;
    begin_section(clock, encoder_at(clock->encoder));
    add(&encoder_at(clock->encoder)->known[s->stage], s->encoder, s->stage);
    encoder_at(clock->encoder)->stages |= 1u << s->stage;
    s->encoder = clock->encoder;
  }
}

void check_clock_end(uint32_t queue, check_segment end) {
  clocks[queue].end = end;
}

// Returns the first segment of a section that may be concurrent with the
// dispatch or blit that begins; UINT32_MAX if the whole section happens before.
static check_segment first_unknown(const check_state *s,
                                   const encoder_clock *it) {
  const clock_of_queue *own = &clocks[s->queue];
  const bool is_own = it->number == own->encoder;
  if (!it->number || it->queue != s->queue || (is_own && !own->has_barriers)) {
    return UINT32_MAX;
  }
  for (uint32_t stage = 0; stage < CHECK_STAGES; ++stage) {
    if (it->stages >> stage & 1 &&
        !is_encoder_known(own->encoder, s->stage, it->number, stage)) {
      const check_segment known = own->known[s->queue];
      return it->first > known ? it->first : known;
    }
  }
  return UINT32_MAX;
}

// Returns the first segment that may be concurrent with the dispatch or blit
// that begins: all below happen before it. window: the first segment behind its
// queue's last barrier.
static check_segment safe_of(const check_state *s, check_segment window) {
  const clock_of_queue *own = &clocks[s->queue];
  check_segment safe = own->has_barriers ? own->end : window;
  for (uint32_t i = 0; i < clock_count; ++i) {
    if (i != s->queue && own->known[i] < clocks[i].end &&
        own->known[i] < safe) {
      safe = own->known[i];
    }
  }
  for (uint32_t i = 0; !s->is_tracked && i < ENCODERS; ++i) {
    const check_segment first = first_unknown(s, &encoders[i]);
    safe = first < safe ? first : safe;
  }
  return safe ? safe : 1;
}

void check_clock_safe(check_state *s) {
  const check_window window = clocks[s->queue].window;
  s->safe = safe_of(s, window.buffers);
  s->texels_safe = safe_of(s, window.texels);
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
