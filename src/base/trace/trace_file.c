// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_file.c: writes a timeline's file. Without stdio: a child of fork would
// write its buffer a second time at exit.
#include "base/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 18 };

static void flush(mtli_trace_file *file) {
  size_t done = 0;
  while (done < file->length && !file->error) {
    const ssize_t written =
        write(file->file, file->buffer + done, file->length - done);
    if (written > 0) {
      done += (size_t)written;
    } else if (written == 0 || errno != EINTR) {
      file->error = written == 0 ? EIO : errno;
    }
  }
  file->length = 0;
}

static void make_room(mtli_trace_file *file) {
  if (BUFFER_BYTES - file->length < MTLI_TRACE_TEXT_BYTES) {
    flush(file);
  }
}

static void write_text(mtli_trace_file *file, const char *text) {
  const size_t length = strlen(text);
  memcpy(file->buffer + file->length, text, length);
  file->length += length;
}

// Writes the event or the dispatch at kept; returns the bytes it takes there.
static size_t write_kept(mtli_trace_file *file, const void *kept) {
  char *at = file->buffer + file->length;
  char *end = NULL;
  size_t bytes = sizeof(mtli_trace_dispatch);
  if (*(const char *)kept == MTLI_TRACE_DISPATCH) {
    end = mtli_trace_write_dispatch(at, &file->heads, kept);
  } else {
    end = mtli_trace_write_text(at, &file->heads, kept);
    bytes = mtli_trace_event_bytes(kept);
  }
  file->length += (size_t)(end - at);
  return bytes;
}

void mtli_trace_file_write(mtli_trace_file *file, const unsigned char *events,
                           size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    make_room(file);
    if (file->has_events) {
      write_text(file, ",\n");
    }
    file->has_events = true;
    done += write_kept(file, events + done);
  }
}

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

mtl_status mtli_trace_file_create(mtli_trace_file *file, const char *path) {
  char *resolved = resolve(path);
  char *buffer = malloc(BUFFER_BYTES);
  if (!resolved || !buffer) {
    free(resolved);
    free(buffer);
    return mtli_fail(MTL_OUT_OF_MEMORY, "a timeline: no memory");
  }
  const int opened =
      open(resolved, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (opened < 0) {
    const mtl_status status = mtli_fail(MTL_IO_ERROR, "a timeline in %s: %s",
                                        resolved, strerror(errno));
    free(resolved);
    free(buffer);
    return status;
  }
  free(resolved);
  *file = (mtli_trace_file){.buffer = buffer,
                            .file = opened,
                            .heads = {.process = (uint64_t)getpid()}};
  write_text(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  return MTL_OK;
}

mtl_status mtli_trace_file_close(mtli_trace_file *file) {
  make_room(file);
  write_text(file, "\n]}\n");
  flush(file);
  if (close(file->file) != 0 && !file->error) {
    file->error = errno;
  }
  free(file->buffer);
  file->buffer = NULL;
  return file->error
             ? mtli_fail(MTL_IO_ERROR, "a timeline: %s", strerror(file->error))
             : MTL_OK;
}
