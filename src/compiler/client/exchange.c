// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exchange.c: talks to one worker, never longer than its time limit and a
// little more, and says what happened if it is lost.
#include "compiler/client/exchange.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/settings.h"
#include "base/status.h"
#include "compiler/client/connection.h"

enum {
  DEFAULT_SECONDS = 120,
  DEFAULT_MEMORY_MB = 4096,
  // The server ends a late worker; only if it does not, do we give up.
  GRACE_SECONDS = 5,
};

// How reading a message ended.
typedef enum talk {
  TALK_DONE,
  TALK_ENDED,  // by the other side
  TALK_LATE,
  TALK_NO_MEMORY,
} talk;

typedef struct talker {
  const mtlc_exchange *exchange;
  mtlc_limits limits;
  mtlc_channel channel;
  uint64_t deadline_ns;
  bool is_accepted;  // the worker has begun
} talker;

static mtl_status read_limits(mtlc_limits *out_limits) {
  uint64_t seconds, memory_mb;
  MTL_TRY(mtli_setting_number("METTLE_COMPILER_SECONDS", DEFAULT_SECONDS,
                              &seconds));
  MTL_TRY(mtli_setting_number("METTLE_COMPILER_MEMORY_MB", DEFAULT_MEMORY_MB,
                              &memory_mb));
  *out_limits = (mtlc_limits){.seconds = (uint32_t)seconds,
                              .memory_mb = (uint32_t)memory_mb};
  return MTL_OK;
}

// --- bytes

static talk wait_for(const talker *self, int fd, short events) {
  for (;;) {
    struct pollfd file = {.fd = fd, .events = events};
    const int ready = poll(&file, 1, mtlc_poll_timeout_ms(self->deadline_ns));
    if (ready > 0) {
      return TALK_DONE;
    }
    if (ready == 0) {
      return TALK_LATE;
    }
    if (errno != EINTR) {
      return TALK_ENDED;
    }
  }
}

static talk send_bytes(const talker *self, const void *data, size_t size) {
  const int fd = self->channel.stream_fd;
  for (size_t done = 0; done < size;) {
    const ssize_t count = send(fd, (const unsigned char *)data + done,
                               size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      done += (size_t)count;
    } else if (errno == EAGAIN) {
      const talk waited = wait_for(self, fd, POLLOUT);
      if (waited != TALK_DONE) {
        return waited;
      }
    } else if (errno != EINTR) {
      return TALK_ENDED;
    }
  }
  return TALK_DONE;
}

static talk receive(const talker *self, void *data, size_t size) {
  const int fd = self->channel.stream_fd;
  for (size_t done = 0; done < size;) {
    const ssize_t count =
        recv(fd, (unsigned char *)data + done, size - done, MSG_DONTWAIT);
    if (count > 0) {
      done += (size_t)count;
    } else if (count < 0 && errno == EAGAIN) {
      const talk waited = wait_for(self, fd, POLLIN);
      if (waited != TALK_DONE) {
        return waited;
      }
    } else if (count == 0 || errno != EINTR) {
      return TALK_ENDED;
    }
  }
  return TALK_DONE;
}

static talk send_frame(const talker *self, mtlc_frame_kind kind,
                       const mtli_bytes *contents) {
  unsigned char header[MTLC_FRAME_HEADER_BYTES];
  if (contents->failed) {
    return TALK_NO_MEMORY;
  }
  mtlc_frame_header(header, kind, contents->size);
  const talk sent = send_bytes(self, header, sizeof header);
  return sent == TALK_DONE ? send_bytes(self, contents->data, contents->size)
                           : sent;
}

static talk receive_frame(const talker *self, mtlc_frame_kind *out_kind,
                          mtli_bytes *out_contents) {
  unsigned char header[MTLC_FRAME_HEADER_BYTES];
  uint64_t length;
  *out_contents = (mtli_bytes){0};
  talk received = receive(self, header, sizeof header);
  if (received != TALK_DONE) {
    return received;
  }
  if (!mtlc_frame_parse(header, out_kind, &length)) {
    return TALK_ENDED;  // the worker sends nonsense
  }
  out_contents->data = malloc(length ? (size_t)length : 1);
  if (!out_contents->data) {
    return TALK_NO_MEMORY;
  }
  out_contents->capacity = out_contents->size = (size_t)length;
  received = receive(self, out_contents->data, out_contents->size);
  if (received != TALK_DONE) {
    mtli_bytes_clear(out_contents);
  }
  return received;
}

// --- the talk

static talk answer_header(const talker *self, const mtli_bytes *question) {
  const mtlc_exchange *exchange = self->exchange;
  mtli_cursor cursor = {.data = question->data, .size = question->size};
  const char *name = mtli_cursor_text(&cursor);
  const char *text = NULL;
  size_t length = 0;
  if (!name) {
    return TALK_ENDED;
  }
  const bool found =
      exchange->header_callback &&
      exchange->header_callback(exchange->header_context, name, &text, &length);
  mtli_bytes header = {0};
  mtlc_header_write(found, text, length, &header);
  const talk sent = send_frame(self, MTLC_FRAME_HEADER, &header);
  mtli_bytes_clear(&header);
  return sent;
}

// Talks until the result, whose frame's contents become *out_bytes.
static talk converse(talker *self, mtli_bytes *out_bytes) {
  *out_bytes = (mtli_bytes){0};
  talk state = send_frame(self, self->exchange->kind, self->exchange->contents);
  // A worker that ended early may have announced before that it began.
  if (state != TALK_DONE && state != TALK_ENDED) {
    return state;
  }
  for (;;) {
    mtlc_frame_kind kind;
    mtli_bytes contents;
    state = receive_frame(self, &kind, &contents);
    if (state != TALK_DONE) {
      return state;
    }
    if (kind == MTLC_FRAME_RESULT) {
      *out_bytes = contents;
      return TALK_DONE;
    }
    if (kind == MTLC_FRAME_ACCEPTED) {
      self->is_accepted = true;
    } else if (kind == MTLC_FRAME_HEADER_WANTED) {
      state = answer_header(self, &contents);
    } else {
      state = TALK_ENDED;
    }
    mtli_bytes_clear(&contents);
    if (state != TALK_DONE) {
      return state;
    }
  }
}

// --- when it is lost

// Waits for the server's report of the worker's end; false if the server is
// gone as well.
static bool read_obituary(const talker *self, mtlc_obituary *out_obituary) {
  unsigned char data[MTLC_OBITUARY_BYTES];
  const int fd = self->channel.obituary_fd;
  for (;;) {
    if (wait_for(self, fd, POLLIN) != TALK_DONE) {
      return false;
    }
    const ssize_t size = read(fd, data, sizeof data);
    if (size >= 0 || errno != EINTR) {
      return size > 0 && mtlc_obituary_read(data, (size_t)size, out_obituary);
    }
  }
}

static void describe_end(const mtlc_obituary *obituary,
                         const mtlc_limits *limits, char *out_text,
                         size_t capacity) {
  const int number = (int)obituary->detail;
  const char *signal_name = sigabbrev_np(number);
  switch (obituary->end) {
    case MTLC_END_SIGNAL:
      snprintf(out_text, capacity,
               number == SIGKILL ? "was killed (SIG%s)" : "crashed (SIG%s)",
               signal_name ? signal_name : "?");
      break;
    case MTLC_END_EXIT:
      snprintf(out_text, capacity, "ended by itself with exit status %d",
               number);
      break;
    case MTLC_END_TIME:
      snprintf(out_text, capacity,
               "passed its time limit of %u s (METTLE_COMPILER_SECONDS)",
               limits->seconds);
      break;
    case MTLC_END_MEMORY:
      snprintf(out_text, capacity,
               "passed its memory limit of %u MB (METTLE_COMPILER_MEMORY_MB)",
               limits->memory_mb);
      break;
    case MTLC_END_STACK:
      snprintf(out_text, capacity,
               "ran out of stack (the source nests or recurses too deeply)");
      break;
    case MTLC_END_NO_PROCESS:
    case MTLC_END_COUNT:
      snprintf(out_text, capacity, "could not begin: %s", strerror(number));
      break;
  }
}

static mtl_status fail_lost(const talker *self, const mtlc_obituary *obituary) {
  char what[160];
  // LLVM's own words for a crash are pages long and about LLVM.
  const bool is_crash =
      obituary->end == MTLC_END_SIGNAL || obituary->end == MTLC_END_EXIT;
  const char *said = is_crash ? obituary->text : "";
  describe_end(obituary, &self->limits, what, sizeof what);
  return mtli_fail(MTL_COMPILER_LOST, "the compiler %s while compiling %s%s%s",
                   what, self->exchange->name, *said ? "; it last wrote: " : "",
                   said);
}

static mtl_status explain(const talker *self, talk state,
                          bool *out_server_lost) {
  mtlc_obituary obituary;
  *out_server_lost = false;
  if (state == TALK_NO_MEMORY) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory to compile %s",
                     self->exchange->name);
  }
  if (state == TALK_ENDED && read_obituary(self, &obituary)) {
    return fail_lost(self, &obituary);
  }
  *out_server_lost = true;
  if (state == TALK_LATE) {
    return fail_lost(self, &(mtlc_obituary){.end = MTLC_END_TIME});
  }
  return mtli_fail(MTL_COMPILER_LOST,
                   "the compiler process was killed while compiling %s",
                   self->exchange->name);
}

// --- the call

// Runs one attempt. *out_may_retry if no worker ever began.
static mtl_status attempt(talker *self, mtli_bytes *out_bytes,
                          bool *out_may_retry) {
  *out_may_retry = false;
  MTL_TRY(mtlc_channel_open(&self->limits, &self->channel));
  self->deadline_ns =
      mtlc_now_ns() +
      ((uint64_t)self->limits.seconds * MTLC_WALL_FACTOR + GRACE_SECONDS) *
          1000000000u;
  mtl_status status = MTL_OK;
  const talk state = converse(self, out_bytes);
  if (state != TALK_DONE) {
    bool is_server_lost;
    status = explain(self, state, &is_server_lost);
    if (is_server_lost) {
      mtlc_connection_drop(self->channel.server);
    }
    *out_may_retry =
        is_server_lost && state == TALK_ENDED && !self->is_accepted;
  }
  mtlc_channel_close(&self->channel);
  return status;
}

// The compiler notices most shortages itself.
static mtl_status fail_out_of_memory(const talker *self) {
  return fail_lost(self, &(mtlc_obituary){.end = MTLC_END_MEMORY});
}

mtl_status mtlc_exchange_run(const mtlc_exchange *exchange,
                             mtli_bytes *out_bytes, mtlc_reply *out_reply) {
  talker self = {.exchange = exchange};
  bool may_retry;
  MTL_TRY(read_limits(&self.limits));
  if (exchange->contents->failed) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory to compile %s",
                     exchange->name);
  }
  if (exchange->contents->size > MTLC_FRAME_LIMIT_BYTES) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s is too large: %zu bytes",
                     exchange->name, exchange->contents->size);
  }
  mtl_status status = attempt(&self, out_bytes, &may_retry);
  if (status != MTL_OK && may_retry) {
    // The process was lost before it began with this request, most likely since
    // the last one: try once more.
    status = attempt(&self, out_bytes, &may_retry);
  }
  MTL_TRY(status);
  if (!mtlc_reply_read(out_bytes->data, out_bytes->size, out_reply)) {
    mtli_bytes_clear(out_bytes);
    return mtli_fail(MTL_COMPILER_LOST,
                     "the compiler's answer for %s makes no sense",
                     exchange->name);
  }
  if (out_reply->status == MTL_OUT_OF_MEMORY) {
    mtli_bytes_clear(out_bytes);
    return fail_out_of_memory(&self);
  }
  return MTL_OK;
}

mtl_status mtlc_exchange_prepare(void) {
  mtlc_limits limits;
  MTL_TRY(read_limits(&limits));
  return mtlc_connection_start(&limits);
}
