// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.c: writes the timeline's file.
#include "base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic bool mtli_trace_state;

enum {
  BUFFER_BYTES = 1 << 20,
  NAME_BYTES = 512,
  // No event has more: a name, arguments, and less than 300 besides.
  EVENT_BYTES = 2048,
  FIRST_ROW = 1 << 30,  // above every thread's number
};

static struct {
  pthread_mutex_t lock;  // over all below
  char *buffer;          // [BUFFER_BYTES] malloc'ed; NULL if none is written
  size_t length;         // of what is in buffer
  int file;
  int error;             // an errno: something is missing in the file
  bool has_events;
  uint64_t process;
  uint32_t number;  // of timelines so far
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uint64_t track_count;
static _Atomic uint64_t flow_count;

// --- Texts ---------------------------------------------------------------------
//
// Not by printf, which takes most of the time that a timeline costs.

static char *put_text(char *at, const char *text) {
  const size_t length = strlen(text);
  memcpy(at, text, length);
  return at + length;
}

enum { NUMBER_BYTES = 20 };  // at the most

static char *put_number(char *at, uint64_t value) {
  char digits[NUMBER_BYTES];
  size_t count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  while (count) {
    *at++ = digits[--count];
  }
  return at;
}

// Microseconds, to the nanosecond: as a double they would lose that.
static char *put_time(char *at, const char *member, uint64_t ns) {
  at = put_number(put_text(at, member), ns / 1000);
  *at++ = '.';
  for (uint64_t digit = 100; digit; digit /= 10) {
    *at++ = (char)('0' + ns / digit % 10);
  }
  return at;
}

// Appends text as the inside of a JSON string; it ends where it finds no room.
static size_t escape(char *target, size_t room, const char *text) {
  static const char hex[] = "0123456789abcdef";
  size_t length = 0;
  for (const unsigned char *c = (const unsigned char *)text; *c; ++c) {
    char code[6] = {(char)*c};
    size_t more = 1;
    if (*c == '"' || *c == '\\') {
      code[0] = '\\';
      code[1] = (char)*c;
      more = 2;
    } else if (*c < ' ') {
      memcpy(code, "\\u00", 4);
      code[4] = hex[*c >> 4];
      code[5] = hex[*c & 15];
      more = 6;
    }
    if (length + more >= room) {
      break;
    }
    memcpy(target + length, code, more);
    length += more;
  }
  target[length] = '\0';
  return length;
}

// Adds a member, or nothing where it finds no room.
static void add(mtli_trace_arguments *arguments, const char *name,
                const char *value, size_t value_length) {
  const size_t room = sizeof arguments->text - arguments->length;
  const size_t name_length = strlen(name);
  if (name_length + value_length + 5 > room) {
    return;
  }
  char *at = arguments->text + arguments->length;
  at = put_text(at, arguments->length ? ",\"" : "\"");
  at = put_text(put_text(at, name), "\":");
  memcpy(at, value, value_length);
  at += value_length;
  *at = '\0';
  arguments->length = (size_t)(at - arguments->text);
}

void mtli_trace_text(mtli_trace_arguments *arguments, const char *name,
                     const char *value) {
  char text[520] = "\"";
  const size_t length = escape(text + 1, sizeof text - 2, value);
  text[1 + length] = '"';
  add(arguments, name, text, length + 2);
}

void mtli_trace_number(mtli_trace_arguments *arguments, const char *name,
                       uint64_t value) {
  char text[NUMBER_BYTES];
  add(arguments, name, text, (size_t)(put_number(text, value) - text));
}

void mtli_trace_sizes(mtli_trace_arguments *arguments, const char *name,
                      const uint32_t value[3]) {
  char text[3 * NUMBER_BYTES + 4];
  char *at = text;
  for (int i = 0; i < 3; ++i) {
    *at++ = i ? ',' : '[';
    at = put_number(at, value[i]);
  }
  *at++ = ']';
  add(arguments, name, text, (size_t)(at - text));
}

// --- Events --------------------------------------------------------------------

static uint64_t thread_number(void) {
  static _Thread_local uint64_t number;
  if (!number) {
    number = (uint64_t)syscall(SYS_gettid);
  }
  return number;
}

// Not stdio's buffers: a child of fork would write them once more when it ends.
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

// Writes one event: kind, track and name, more members, and its arguments. The
// lock is held, and a timeline is written.
static void write_event(const char *kind, uint64_t track, const char *name,
                        const char *more, const char *arguments) {
  if (BUFFER_BYTES - trace.length < EVENT_BYTES) {
    flush();
  }
  char *const start = trace.buffer + trace.length;
  char *at = put_text(start, trace.has_events ? ",\n{\"ph\":\"" : "{\"ph\":\"");
  at = put_text(put_text(at, kind), "\",\"pid\":");
  at = put_text(put_number(at, trace.process), ",\"tid\":");
  at = put_text(put_number(at, track), ",\"name\":\"");
  at += escape(at, NAME_BYTES, name);
  at = put_text(put_text(at, "\""), more);
  if (arguments && *arguments) {
    at = put_text(put_text(at, ",\"args\":{"), arguments);
    at = put_text(at, "}");
  }
  at = put_text(at, "}");
  trace.length += (size_t)(at - start);
  trace.has_events = true;
}

static void name_track(uint64_t track, const char *name) {
  mtli_trace_arguments arguments = {0};
  mtli_trace_text(&arguments, "name", name);
  write_event("M", track, "thread_name", "", arguments.text);
}

// Names the thread when it comes into a timeline.
static void name_thread(void) {
  static _Thread_local uint32_t named_in;
  if (named_in != trace.number) {
    named_in = trace.number;
    char name[32] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    name_track(thread_number(), name);
  }
}

static void put(const char *kind, mtli_trace_track track, const char *name,
                const char *more, const mtli_trace_arguments *arguments) {
  pthread_mutex_lock(&trace.lock);
  if (trace.buffer) {
    if (track == MTLI_TRACE_THREAD) {
      name_thread();
      track = thread_number();
    }
    write_event(kind, track, name, more, arguments ? arguments->text : NULL);
  }
  pthread_mutex_unlock(&trace.lock);
}

enum { MORE_BYTES = 160 };  // categories are short

static char *put_category(char *at, const char *category) {
  return put_text(put_text(put_text(at, ",\"cat\":\""), category), "\"");
}

void mtli_trace_slice(mtli_trace_track track, const char *category,
                      const char *name, uint64_t start_ns, uint64_t end_ns,
                      const mtli_trace_arguments *arguments) {
  const uint64_t length_ns = end_ns > start_ns ? end_ns - start_ns : 0;
  char more[MORE_BYTES];
  char *at = put_category(more, category);
  at = put_time(at, ",\"ts\":", start_ns);
  *put_time(at, ",\"dur\":", length_ns) = '\0';
  put("X", track, name, more, arguments);
}

void mtli_trace_instant(mtli_trace_track track, const char *category,
                        const char *name, uint64_t at_ns,
                        const mtli_trace_arguments *arguments) {
  char more[MORE_BYTES];
  char *at = put_text(put_category(more, category), ",\"s\":\"t\"");
  *put_time(at, ",\"ts\":", at_ns) = '\0';
  put("i", track, name, more, arguments);
}

void mtli_trace_counter(const char *name, const char *unit, uint64_t at_ns,
                        uint64_t value) {
  mtli_trace_arguments arguments = {0};
  mtli_trace_number(&arguments, unit, value);
  char more[MORE_BYTES];
  *put_time(more, ",\"ts\":", at_ns) = '\0';
  put("C", MTLI_TRACE_THREAD, name, more, &arguments);
}

uint64_t mtli_trace_new_flow(void) {
  return atomic_fetch_add_explicit(&flow_count, 1, memory_order_relaxed) + 1;
}

static void put_flow(const char *kind, const char *binding,
                     mtli_trace_track track, const char *name, uint64_t flow,
                     uint64_t at_ns) {
  char more[MORE_BYTES];
  char *at = put_text(put_category(more, "flow"), ",\"id\":\"");
  at = put_text(put_text(put_number(at, flow), "\""), binding);
  *put_time(at, ",\"ts\":", at_ns) = '\0';
  put(kind, track, name, more, NULL);
}

void mtli_trace_flow_begins(mtli_trace_track track, const char *name,
                            uint64_t flow, uint64_t at_ns) {
  put_flow("s", "", track, name, flow, at_ns);
}

void mtli_trace_flow_ends(mtli_trace_track track, const char *name,
                          uint64_t flow, uint64_t at_ns) {
  // "e": to the slice around that time, not to the next one.
  put_flow("f", ",\"bp\":\"e\"", track, name, flow, at_ns);
}

mtli_trace_track mtli_trace_add_track(const char *name) {
  const uint64_t number =
      atomic_fetch_add_explicit(&track_count, 1, memory_order_relaxed);
  const mtli_trace_track first = FIRST_ROW + number * MTLI_TRACE_ROWS;
  pthread_mutex_lock(&trace.lock);
  for (uint64_t i = 0; trace.buffer && i < MTLI_TRACE_ROWS; ++i) {
    name_track(first + i, i == 0 ? name : "beside it");
    mtli_trace_arguments order = {0};
    mtli_trace_number(&order, "sort_index", number * MTLI_TRACE_ROWS + i);
    write_event("M", first + i, "thread_sort_index", "", order.text);
  }
  pthread_mutex_unlock(&trace.lock);
  return first;
}

// --- The file ------------------------------------------------------------------

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

static mtl_status open_file(const char *path) {
  if (trace.buffer) {
    return mtli_fail(MTL_INVALID_STATE, "a timeline is being written already");
  }
  const int file =
      open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    return mtli_fail(MTL_IO_ERROR, "a timeline in %s: %s", path,
                     strerror(errno));
  }
  char *buffer = malloc(BUFFER_BYTES);
  if (!buffer) {
    close(file);
    return mtli_fail(MTL_OUT_OF_MEMORY, "a timeline: no memory");
  }
  trace.buffer = buffer;
  trace.file = file;
  trace.length = 0;
  trace.error = 0;
  trace.has_events = false;
  ++trace.number;
  trace.process = (uint64_t)getpid();
  char *end = put_text(buffer, "{\"displayTimeUnit\":\"ns\",");
  end = put_text(end, "\"traceEvents\":[\n");
  trace.length = (size_t)(end - buffer);
  mtli_trace_arguments arguments = {0};
  mtli_trace_text(&arguments, "name", program_invocation_short_name);
  write_event("M", thread_number(), "process_name", "", arguments.text);
  return MTL_OK;
}

mtl_status mtli_trace_start(const char *path) {
  char *resolved = resolve(path);
  if (!resolved) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "a timeline: no memory");
  }
  pthread_mutex_lock(&trace.lock);
  const mtl_status status = open_file(resolved);
  if (status == MTL_OK) {
    atomic_store_explicit(&mtli_trace_state, true, memory_order_relaxed);
  }
  pthread_mutex_unlock(&trace.lock);
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
             : mtli_fail(MTL_INVALID_ARGUMENT,
                         "METTLE_TRACE is \"%s\", a file that cannot be written",
                         getenv("METTLE_TRACE"));
}

// The lock is held.
static mtl_status close_file(void) {
  if (!trace.buffer) {
    return MTL_OK;
  }
  if (BUFFER_BYTES - trace.length < EVENT_BYTES) {
    flush();
  }
  trace.length +=
      (size_t)(put_text(trace.buffer + trace.length, "\n]}\n") -
               (trace.buffer + trace.length));
  flush();
  if (close(trace.file) != 0 && !trace.error) {
    trace.error = errno;
  }
  free(trace.buffer);
  trace.buffer = NULL;
  return trace.error ? mtli_fail(MTL_IO_ERROR, "a timeline: %s",
                                 strerror(trace.error))
                     : MTL_OK;
}

uint32_t mtli_trace_timeline(void) {
  pthread_mutex_lock(&trace.lock);
  const uint32_t number = trace.number;
  pthread_mutex_unlock(&trace.lock);
  return number;
}

mtl_status mtli_trace_stop(void) {
  atomic_store_explicit(&mtli_trace_state, false, memory_order_relaxed);
  pthread_mutex_lock(&trace.lock);
  const mtl_status status = close_file();
  pthread_mutex_unlock(&trace.lock);
  return status;
}

void mtli_trace_forget(void) {
  atomic_store_explicit(&mtli_trace_state, false, memory_order_relaxed);
  pthread_mutex_init(&trace.lock, NULL);
  trace.buffer = NULL;
}

__attribute__((destructor)) static void end(void) {
  if (mtli_trace_is_on()) {
    (void)mtli_trace_stop();
  }
}
