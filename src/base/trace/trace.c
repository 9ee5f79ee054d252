// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.c: records the timeline's events, and has them written. A thread copies
// events into a block of its own; blocks that are full go to the writer, a
// thread that makes text of them.
#include "base/trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/trace/trace_file.h"

_Atomic bool mtli_trace_state;

enum {
  BLOCK_BYTES = 1 << 16,
  MOST_BLOCKS = 256,    // full blocks that wait to be written; beyond it,
                        // recording threads wait
  FIRST_ROW = 1 << 30,  // above every thread's number
};

typedef struct block {
  struct block *next;
  size_t length;
  _Alignas(8) unsigned char bytes[BLOCK_BYTES - 2 * sizeof(void *)];
} block;

// Events that a thread has recorded and the writer has not taken. While a
// timeline is written, only the thread touches it, with is_busy set. The thread
// that ends the timeline waits for is_busy, and takes the block.
struct mtli_trace_log {
  _Atomic bool is_busy;
  block *block;       // NULL if there is nothing
  uint32_t named_in;  // the timeline in which the thread has its name
  uint64_t thread;
  struct mtli_trace_log *next, **link;  // under logs.lock
};
typedef mtli_trace_log thread_log;

// Locks are taken in this order: control, logs.lock, trace.lock.
static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;  // starts and stops
static struct {
  pthread_mutex_t lock;
  thread_log *first;
} logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
  pthread_mutex_t lock;  // guards the members below, up to the empty line
  pthread_cond_t changed;
  block *first, **last;  // full, in order
  block *empty;          // written: taken again, for fresh pages cost more
  size_t count;
  bool has_writer, ends;
  _Atomic uint32_t number;  // of timelines so far

  // The writer's while there is one, then its maker's.
  pthread_t writer;
  mtli_trace_file file;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

static _Atomic uint64_t track_count;
static _Atomic uint64_t flow_count;

// --- The writer --------------------------------------------------------------

// Writes the full blocks. trace.lock is held, but released while writing.
static void write_blocks(void) {
  while (trace.first) {
    block *full = trace.first;
    trace.first = full->next;
    if (!trace.first) {
      trace.last = &trace.first;
    }
    pthread_mutex_unlock(&trace.lock);
    mtli_trace_file_write(&trace.file, full->bytes, full->length);
    pthread_mutex_lock(&trace.lock);
    full->next = trace.empty;
    trace.empty = full;
    --trace.count;
    pthread_cond_broadcast(&trace.changed);
  }
}

static void *write_as_they_come(void *nothing) {
  (void)nothing;
  pthread_setname_np(pthread_self(), "timeline");
  pthread_mutex_lock(&trace.lock);
  while (trace.first || !trace.ends) {
    write_blocks();
    if (!trace.ends) {
      pthread_cond_wait(&trace.changed, &trace.lock);
    }
  }
  pthread_mutex_unlock(&trace.lock);
  return NULL;
}

// Without one, blocks wait until the timeline ends.
static void start_writer(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  trace.has_writer =
      pthread_create(&trace.writer, NULL, write_as_they_come, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void hand_over(block *full) {
  pthread_mutex_lock(&trace.lock);
  while (trace.has_writer && !trace.ends && trace.count >= MOST_BLOCKS) {
    pthread_cond_wait(&trace.changed, &trace.lock);
  }
  full->next = NULL;
  *trace.last = full;
  trace.last = &full->next;
  ++trace.count;
  pthread_cond_broadcast(&trace.changed);
  pthread_mutex_unlock(&trace.lock);
}

// Returns an empty block; NULL without memory.
static block *take_block(void) {
  pthread_mutex_lock(&trace.lock);
  block *taken = trace.empty;
  if (taken) {
    trace.empty = taken->next;
  }
  pthread_mutex_unlock(&trace.lock);
  taken = taken ? taken : malloc(sizeof *taken);
  if (taken) {
    taken->length = 0;
  }
  return taken;
}

// trace.lock is held.
static void free_blocks(void) {
  while (trace.empty) {
    block *next = trace.empty->next;
    free(trace.empty);
    trace.empty = next;
  }
}

// --- Threads' logs -----------------------------------------------------------

static pthread_key_t log_key;
static bool has_log_key;
static _Thread_local thread_log *own;

static void end_log(void *data) {
  thread_log *log = data;
  own = NULL;
  pthread_mutex_lock(&logs.lock);
  *log->link = log->next;
  if (log->next) {
    log->next->link = log->link;
  }
  if (log->block) {  // before anybody ends the timeline that it is of
    hand_over(log->block);
  }
  pthread_mutex_unlock(&logs.lock);
  free(log);
}

static void make_log_key(void) {
  has_log_key = pthread_key_create(&log_key, end_log) == 0;
}

// Returns the calling thread's log; NULL without memory for one.
static thread_log *own_log(void) {
  if (own) {
    return own;
  }
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_log_key);
  thread_log *log = has_log_key ? calloc(1, sizeof *log) : NULL;
  if (!log || pthread_setspecific(log_key, log) != 0) {
    free(log);
    return NULL;
  }
  log->thread = (uint64_t)syscall(SYS_gettid);
  pthread_mutex_lock(&logs.lock);
  log->next = logs.first;
  log->link = &logs.first;
  if (log->next) {
    log->next->link = &log->next;
  }
  logs.first = log;
  pthread_mutex_unlock(&logs.lock);
  own = log;
  return log;
}

// Room for bytes in the log's block, which may be a new one; NULL without
// memory.
static void *room_in(thread_log *log, size_t bytes) {
  if (log->block && log->block->length + bytes > sizeof log->block->bytes) {
    hand_over(log->block);
    log->block = NULL;
  }
  if (!log->block) {
    log->block = take_block();
    if (!log->block) {
      return NULL;
    }
  }
  void *room = log->block->bytes + log->block->length;
  log->block->length += bytes;
  return room;
}

// The data that follows an event.
typedef struct payload {
  const char *name;
  const mtli_trace_arguments *arguments;
  const mtli_trace_arrow *arrival, *departure;
} payload;

// Sets the event's lengths, and keeps it with what follows it.
static void append(thread_log *log, mtli_trace_event *event,
                   const payload *behind) {
  const mtli_trace_arguments *arguments = behind->arguments;
  event->name_length = (uint16_t)strnlen(behind->name, MTLI_TRACE_NAME_BYTES);
  event->arguments_length = (uint16_t)(arguments ? arguments->length : 0);
  event->arrivals = behind->arrival && behind->arrival->flow;
  event->departures = behind->departure && behind->departure->flow;
  mtli_trace_event *kept = room_in(log, mtli_trace_event_bytes(event));
  if (!kept) {
    return;
  }
  *kept = *event;
  mtli_trace_arrow *arrow = (mtli_trace_arrow *)(kept + 1);
  if (event->arrivals) {
    *arrow++ = *behind->arrival;
  }
  if (event->departures) {
    *arrow++ = *behind->departure;
  }
  memcpy(arrow, behind->name, event->name_length);
  if (arguments) {
    memcpy((char *)arrow + event->name_length, arguments->bytes,
           event->arguments_length);
  }
}

static void append_meta(thread_log *log, uint64_t track, const char *kind,
                        const char *name) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  mtli_trace_text(&arguments, "name", name);
  append(log, &(mtli_trace_event){.kind = 'M', .track = track},
         &(payload){.name = kind, .arguments = &arguments});
}

// Names the thread the first time that it appears in a timeline.
static void name_thread(thread_log *log) {
  const uint32_t number =
      atomic_load_explicit(&trace.number, memory_order_relaxed);
  if (log->named_in != number) {
    log->named_in = number;
    char name[32] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    append_meta(log, log->thread, "thread_name", name);
  }
}

mtli_trace_log *mtli_trace_open(void) {
  thread_log *log = mtli_trace_is_on() ? own_log() : NULL;
  if (!log) {
    return NULL;
  }
  // Sequentially consistent, with collect: either this sees that the timeline
  // has ended, or collect sees that the log is busy.
  atomic_store(&log->is_busy, true);
  if (!atomic_load(&mtli_trace_state)) {
    mtli_trace_close(log);
    return NULL;
  }
  return log;
}

void mtli_trace_close(mtli_trace_log *log) {
  atomic_store_explicit(&log->is_busy, false, memory_order_release);
}

static void add(thread_log *log, mtli_trace_event *event,
                const payload *behind) {
  if (event->track == MTLI_TRACE_THREAD) {
    name_thread(log);
    event->track = log->thread;
  }
  append(log, event, behind);
}

static void add_alone(mtli_trace_event *event, const payload *behind) {
  thread_log *log = mtli_trace_open();
  if (log) {
    add(log, event, behind);
    mtli_trace_close(log);
  }
}

// Takes the blocks of all threads. The timeline has ended, so each adds one
// more event at most.
static void collect(void) {
  pthread_mutex_lock(&logs.lock);
  for (thread_log *log = logs.first; log; log = log->next) {
    while (atomic_load(&log->is_busy)) {
      sched_yield();
    }
    if (log->block) {
      hand_over(log->block);
      log->block = NULL;
    }
  }
  pthread_mutex_unlock(&logs.lock);
}

// --- Events ------------------------------------------------------------------

void mtli_trace_add(mtli_trace_log *log, const mtli_trace_slice *slice) {
  add(log,
      &(mtli_trace_event){.kind = 'X',
                          .track = slice->track,
                          .category = slice->category,
                          .time_ns = slice->start_ns,
                          .length_ns = slice->end_ns > slice->start_ns
                                           ? slice->end_ns - slice->start_ns
                                           : 0},
      &(payload){.name = slice->name,
                 .arguments = slice->arguments,
                 .arrival = slice->arrival,
                 .departure = slice->departure});
}

void mtli_trace_add_dispatch(mtli_trace_log *log,
                             const mtli_trace_dispatch *dispatch) {
  mtli_trace_dispatch *kept = room_in(log, sizeof *kept);
  if (kept) {
    *kept = *dispatch;
    kept->kind = MTLI_TRACE_DISPATCH;
  }
}

uint32_t mtli_trace_thread(void) {
  thread_log *log = mtli_trace_is_on() ? own_log() : NULL;
  const uint32_t number =
      atomic_load_explicit(&trace.number, memory_order_relaxed);
  if (log && log->named_in != number) {
    log = mtli_trace_open();
    if (log) {
      name_thread(log);
      mtli_trace_close(log);
    }
  }
  return log ? (uint32_t)log->thread : 0;
}

void mtli_trace_add_alone(const mtli_trace_slice *slice) {
  thread_log *log = mtli_trace_open();
  if (log) {
    mtli_trace_add(log, slice);
    mtli_trace_close(log);
  }
}

void mtli_trace_counter(const char *name, const char *unit, uint64_t at_ns,
                        uint64_t value) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  mtli_trace_number(&arguments, unit, value);
  add_alone(&(mtli_trace_event){.kind = 'C', .time_ns = at_ns},
            &(payload){.name = name, .arguments = &arguments});
}

uint64_t mtli_trace_new_flow(void) {
  return atomic_fetch_add_explicit(&flow_count, 1, memory_order_relaxed) + 1;
}

mtli_trace_track mtli_trace_add_track(const char *name) {
  const uint64_t number =
      atomic_fetch_add_explicit(&track_count, 1, memory_order_relaxed);
  const mtli_trace_track first = FIRST_ROW + number * MTLI_TRACE_ROWS;
  for (uint64_t i = 0; i < MTLI_TRACE_ROWS; ++i) {
    mtli_trace_event event = {.kind = 'M', .track = first + i};
    mtli_trace_arguments arguments;
    mtli_trace_clear(&arguments);
    mtli_trace_text(&arguments, "name", i == 0 ? name : "beside it");
    add_alone(&event,
              &(payload){.name = "thread_name", .arguments = &arguments});
    mtli_trace_clear(&arguments);
    mtli_trace_number(&arguments, "sort_index", number * MTLI_TRACE_ROWS + i);
    add_alone(&event,
              &(payload){.name = "thread_sort_index", .arguments = &arguments});
  }
  return first;
}

// --- The timeline ------------------------------------------------------------

// control is held.
static mtl_status begin(const char *path) {
  if (trace.file.buffer) {
    return mtli_fail(MTL_INVALID_STATE, "a timeline is being written already");
  }
  thread_log *log = own_log();
  if (!log) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "a timeline: no memory");
  }
  MTL_TRY(mtli_trace_file_create(&trace.file, path));
  trace.ends = false;
  trace.first = NULL;
  trace.last = &trace.first;
  trace.count = 0;
  atomic_fetch_add_explicit(&trace.number, 1, memory_order_relaxed);
  start_writer();
  append_meta(log, log->thread, "process_name", program_invocation_short_name);
  atomic_store(&mtli_trace_state, true);
  return MTL_OK;
}

mtl_status mtli_trace_start(const char *path) {
  pthread_mutex_lock(&control);
  const mtl_status status = begin(path);
  pthread_mutex_unlock(&control);
  return status;
}

static mtl_status setting_status;

static void start_by_setting(void) {
  const char *path = getenv("METTLE_TRACE");
  const bool is_wanted = path && *path && !mtli_trace_is_on();
  setting_status = is_wanted ? mtli_trace_start(path) : MTL_OK;
}

mtl_status mtli_trace_start_by_setting(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start_by_setting);
  return setting_status == MTL_OK
             ? MTL_OK
             : mtli_fail(
                   MTL_INVALID_ARGUMENT,
                   "METTLE_TRACE is \"%s\", a file that cannot be written",
                   getenv("METTLE_TRACE"));
}

// control is held.
static mtl_status finish(void) {
  if (!trace.file.buffer) {
    return MTL_OK;
  }
  collect();
  pthread_mutex_lock(&trace.lock);
  trace.ends = true;
  pthread_cond_broadcast(&trace.changed);
  pthread_mutex_unlock(&trace.lock);
  if (trace.has_writer) {
    pthread_join(trace.writer, NULL);
    trace.has_writer = false;
  }
  pthread_mutex_lock(&trace.lock);
  write_blocks();
  free_blocks();
  pthread_mutex_unlock(&trace.lock);
  return mtli_trace_file_close(&trace.file);
}

uint32_t mtli_trace_timeline(void) {
  return atomic_load_explicit(&trace.number, memory_order_relaxed);
}

mtl_status mtli_trace_stop(void) {
  pthread_mutex_lock(&control);
  atomic_store(&mtli_trace_state, false);
  const mtl_status status = finish();
  pthread_mutex_unlock(&control);
  return status;
}

// Blocks of other threads are the parent's to write; those threads do not exist
// here.
void mtli_trace_forget(void) {
  atomic_store_explicit(&mtli_trace_state, false, memory_order_relaxed);
  pthread_mutex_init(&control, NULL);
  pthread_mutex_init(&logs.lock, NULL);
  pthread_mutex_init(&trace.lock, NULL);
  pthread_cond_init(&trace.changed, NULL);
  trace.has_writer = false;
  trace.file.buffer = NULL;
  trace.first = trace.empty = NULL;
  trace.last = &trace.first;
  trace.count = 0;
  logs.first = NULL;
  if (own) {
    own->is_busy = false;
    own->block = NULL;
    own->thread = (uint64_t)syscall(SYS_gettid);
    own->next = NULL;
    own->link = &logs.first;
    logs.first = own;
  }
}

__attribute__((destructor)) static void end(void) {
  if (mtli_trace_is_on()) {
    (void)mtli_trace_stop();
  }
}
