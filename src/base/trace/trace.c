// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.c: records the timeline's events, and writes its file. A thread copies
// events into a block of its own; blocks that are full go to the writer, a
// thread that makes text of them.
#include "base/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/trace/trace_text.h"

_Atomic bool mtli_trace_state;

enum {
  BLOCK_BYTES = 1 << 16,
  MOST_BLOCKS = 256,  // full blocks that wait to be written; beyond it,
                      // recording threads wait
  BUFFER_BYTES = 1 << 18,
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
typedef struct thread_log {
  _Atomic bool is_busy;
  block *block;       // NULL if there is nothing
  uint32_t named_in;  // the timeline in which the thread has its name
  uint64_t thread;
  struct thread_log *next, **link;  // under logs.lock
} thread_log;

// Locks are taken in this order: control, logs.lock, trace.lock.
static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;  // starts and stops
static struct {
  pthread_mutex_t lock;
  thread_log *first;
} logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
  pthread_mutex_t lock;  // over what follows, up to the empty line
  pthread_cond_t changed;
  block *first, **last;  // full, in order
  block *empty;          // written: taken again, for fresh pages cost more
  size_t count;
  bool has_writer, ends;
  _Atomic uint32_t number;  // of timelines so far

  // The writer's while there is one, then its maker's.
  pthread_t writer;
  char *buffer;  // [BUFFER_BYTES] malloc'ed; NULL if no timeline is written
  size_t length;
  int file;
  int error;  // an errno: something is missing in the file
  bool has_events;
  uint64_t process;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

static _Atomic uint64_t track_count;
static _Atomic uint64_t flow_count;

// --- The writer --------------------------------------------------------------

// Written without stdio: a child of fork would write its buffer a second time
// at exit.
static void flush(void) {
  size_t done = 0;
  while (done < trace.length && !trace.error) {
    const ssize_t written =
        write(trace.file, trace.buffer + done, trace.length - done);
    if (written > 0) {
      done += (size_t)written;
    } else if (written == 0 || errno != EINTR) {
      trace.error = written == 0 ? EIO : errno;
    }
  }
  trace.length = 0;
}

static void write_text(const char *text) {
  const size_t length = strlen(text);
  memcpy(trace.buffer + trace.length, text, length);
  trace.length += length;
}

static void write_block(const block *from) {
  for (size_t done = 0; done < from->length;) {
    const mtli_trace_event *event =
        (const mtli_trace_event *)(const void *)(from->bytes + done);
    if (BUFFER_BYTES - trace.length < MTLI_TRACE_TEXT_BYTES) {
      flush();
    }
    if (trace.has_events) {
      write_text(",\n");
    }
    trace.has_events = true;
    trace.length = (size_t)(mtli_trace_write_text(trace.buffer + trace.length,
                                                  trace.process, event) -
                            trace.buffer);
    done += mtli_trace_event_bytes(event);
  }
}

// Writes the full blocks. trace.lock is held, but released while writing.
static void write_blocks(void) {
  while (trace.first) {
    block *full = trace.first;
    trace.first = full->next;
    if (!trace.first) {
      trace.last = &trace.first;
    }
    pthread_mutex_unlock(&trace.lock);
    write_block(full);
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

static void append(thread_log *log, mtli_trace_event event,
                   const payload *behind) {
  const mtli_trace_arguments *arguments = behind->arguments;
  event.name_length = (uint16_t)strnlen(behind->name, MTLI_TRACE_NAME_BYTES);
  event.arguments_length = (uint16_t)(arguments ? arguments->length : 0);
  event.arrivals = behind->arrival && behind->arrival->flow;
  event.departures = behind->departure && behind->departure->flow;
  mtli_trace_event *kept = room_in(log, mtli_trace_event_bytes(&event));
  if (!kept) {
    return;
  }
  *kept = event;
  mtli_trace_arrow *arrow = (mtli_trace_arrow *)(kept + 1);
  if (event.arrivals) {
    *arrow++ = *behind->arrival;
  }
  if (event.departures) {
    *arrow++ = *behind->departure;
  }
  memcpy(arrow, behind->name, event.name_length);
  if (arguments) {
    memcpy((char *)arrow + event.name_length, arguments->bytes,
           event.arguments_length);
  }
}

static void append_meta(thread_log *log, uint64_t track, const char *kind,
                        const char *name) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  mtli_trace_text(&arguments, "name", name);
  append(log, (mtli_trace_event){.kind = 'M', .track = track},
         &(payload){.name = kind, .arguments = &arguments});
}

// Names the thread when it comes into a timeline.
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

static void record(mtli_trace_event event, const payload *behind) {
  thread_log *log = mtli_trace_is_on() ? own_log() : NULL;
  if (!log) {
    return;
  }
  // Sequentially consistent, with collect: either this sees that the timeline
  // has ended, or collect sees that the log is busy.
  atomic_store(&log->is_busy, true);
  if (atomic_load(&mtli_trace_state)) {
    if (event.track == MTLI_TRACE_THREAD) {
      name_thread(log);
      event.track = log->thread;
    }
    append(log, event, behind);
  }
  atomic_store_explicit(&log->is_busy, false, memory_order_release);
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

void mtli_trace_slice_joined(mtli_trace_track track, const char *category,
                             const char *name, uint64_t start_ns,
                             uint64_t end_ns,
                             const mtli_trace_arguments *arguments,
                             const mtli_trace_arrow *arrival,
                             const mtli_trace_arrow *departure) {
  record((mtli_trace_event){.kind = 'X',
                            .track = track,
                            .category = category,
                            .time_ns = start_ns,
                            .length_ns =
                                end_ns > start_ns ? end_ns - start_ns : 0},
         &(payload){.name = name,
                    .arguments = arguments,
                    .arrival = arrival,
                    .departure = departure});
}

void mtli_trace_slice(mtli_trace_track track, const char *category,
                      const char *name, uint64_t start_ns, uint64_t end_ns,
                      const mtli_trace_arguments *arguments) {
  mtli_trace_slice_joined(track, category, name, start_ns, end_ns, arguments,
                          NULL, NULL);
}

void mtli_trace_instant(mtli_trace_track track, const char *category,
                        const char *name, uint64_t at_ns,
                        const mtli_trace_arguments *arguments) {
  record(
      (mtli_trace_event){
          .kind = 'i', .track = track, .category = category, .time_ns = at_ns},
      &(payload){.name = name, .arguments = arguments});
}

void mtli_trace_counter(const char *name, const char *unit, uint64_t at_ns,
                        uint64_t value) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  mtli_trace_number(&arguments, unit, value);
  record((mtli_trace_event){.kind = 'C', .time_ns = at_ns},
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
    const mtli_trace_event event = {.kind = 'M', .track = first + i};
    mtli_trace_arguments arguments;
    mtli_trace_clear(&arguments);
    mtli_trace_text(&arguments, "name", i == 0 ? name : "beside it");
    record(event, &(payload){.name = "thread_name", .arguments = &arguments});
    mtli_trace_clear(&arguments);
    mtli_trace_number(&arguments, "sort_index", number * MTLI_TRACE_ROWS + i);
    record(event,
           &(payload){.name = "thread_sort_index", .arguments = &arguments});
  }
  return first;
}

// --- The file ----------------------------------------------------------------

// path with the process's number for each %p. malloc'ed.
static char *resolve(const char *path) {
  const size_t room = strlen(path) * 12 + 1;  // of "%p" at the most
  char *resolved = malloc(room);
  size_t length = 0;
  for (const char *c = path; resolved && *c; ++c) {
    if (c[0] == '%' && c[1] == 'p') {
      length += (size_t)snprintf(resolved + length, room - length, "%ld",
                                 (long)getpid());
      ++c;
    } else {
      resolved[length++] = *c;
    }
  }
  if (resolved) {
    resolved[length] = '\0';
  }
  return resolved;
}

// control is held.
static mtl_status open_file(const char *path) {
  if (trace.buffer) {
    return mtli_fail(MTL_INVALID_STATE, "a timeline is being written already");
  }
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    return mtli_fail(MTL_IO_ERROR, "a timeline in %s: %s", path,
                     strerror(errno));
  }
  trace.buffer = malloc(BUFFER_BYTES);
  thread_log *log = own_log();
  if (!trace.buffer || !log) {
    free(trace.buffer);
    trace.buffer = NULL;
    close(file);
    return mtli_fail(MTL_OUT_OF_MEMORY, "a timeline: no memory");
  }
  trace.file = file;
  trace.length = 0;
  trace.error = 0;
  trace.has_events = trace.ends = false;
  trace.first = NULL;
  trace.last = &trace.first;
  trace.count = 0;
  trace.process = (uint64_t)getpid();
  write_text("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  atomic_fetch_add_explicit(&trace.number, 1, memory_order_relaxed);
  start_writer();
  append_meta(log, log->thread, "process_name", program_invocation_short_name);
  return MTL_OK;
}

mtl_status mtli_trace_start(const char *path) {
  char *resolved = resolve(path);
  if (!resolved) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "a timeline: no memory");
  }
  pthread_mutex_lock(&control);
  const mtl_status status = open_file(resolved);
  if (status == MTL_OK) {
    atomic_store(&mtli_trace_state, true);
  }
  pthread_mutex_unlock(&control);
  free(resolved);
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
static mtl_status close_file(void) {
  if (!trace.buffer) {
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
  if (BUFFER_BYTES - trace.length < MTLI_TRACE_TEXT_BYTES) {
    flush();
  }
  write_text("\n]}\n");
  flush();
  if (close(trace.file) != 0 && !trace.error) {
    trace.error = errno;
  }
  free(trace.buffer);
  trace.buffer = NULL;
  return trace.error
             ? mtli_fail(MTL_IO_ERROR, "a timeline: %s", strerror(trace.error))
             : MTL_OK;
}

uint32_t mtli_trace_timeline(void) {
  return atomic_load_explicit(&trace.number, memory_order_relaxed);
}

mtl_status mtli_trace_stop(void) {
  pthread_mutex_lock(&control);
  atomic_store(&mtli_trace_state, false);
  const mtl_status status = close_file();
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
  trace.buffer = NULL;
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
