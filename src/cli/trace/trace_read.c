// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_read.c: reads a timeline: JSON objects, one an event, behind
// "traceEvents". Texts are unescaped in place.
#include <stdlib.h>
#include <string.h>

#include "cli/program/program.h"
#include "cli/trace/trace.h"

typedef struct reader {
  char *at;
  const char *end;
  bool is_damaged;
} reader;

static void skip_blanks(reader *self) {
  while (self->at < self->end && strchr(" \t\r\n", *self->at)) {
    ++self->at;
  }
}

// Takes c if it is next.
static bool take(reader *self, char c) {
  skip_blanks(self);
  if (self->at < self->end && *self->at == c) {
    ++self->at;
    return true;
  }
  return false;
}

static char unescaped(reader *self) {
  const char c = *self->at++;
  if (c != 'u') {
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
  }
  // Mettle escapes control characters alone this way.
  self->at += self->end - self->at < 4 ? self->end - self->at : 4;
  return ' ';
}

// Takes a text and ends it with a zero; "" if there is none.
static const char *take_text(reader *self) {
  if (!take(self, '"')) {
    self->is_damaged = true;
    return "";
  }
  char *text = self->at, *to = self->at;
  while (self->at < self->end && *self->at != '"') {
    const char c = *self->at++;
    *to++ = c == '\\' && self->at < self->end ? unescaped(self) : c;
  }
  if (self->at == self->end) {
    self->is_damaged = true;
    return "";
  }
  ++self->at;
  *to = '\0';
  return text;
}

static double take_number(reader *self) {
  skip_blanks(self);
  char *end = self->at;
  const double value = strtod(self->at, &end);
  self->is_damaged |= end == self->at;
  self->at = end;
  return value;
}

static void skip_value(reader *self, int depth);

// Skips members or elements up to close.
static void skip_group(reader *self, char close, int depth) {
  while (!self->is_damaged && !take(self, close)) {
    if (close == '}') {
      (void)take_text(self);
      self->is_damaged |= !take(self, ':');
    }
    skip_value(self, depth);
    (void)take(self, ',');
  }
}

static void skip_value(reader *self, int depth) {
  enum { DEPTH_MAX = 16 };
  skip_blanks(self);
  if (self->at == self->end || depth == DEPTH_MAX) {
    self->is_damaged = true;
  } else if (*self->at == '"') {
    (void)take_text(self);
  } else if (take(self, '{')) {
    skip_group(self, '}', depth + 1);
  } else if (take(self, '[')) {
    skip_group(self, ']', depth + 1);
  } else if (strchr("tfn", *self->at)) {
    while (self->at < self->end && *self->at >= 'a' && *self->at <= 'z') {
      ++self->at;
    }
  } else {
    (void)take_number(self);
  }
}

static void take_arguments(reader *self, trace_event *event) {
  self->is_damaged |= !take(self, '{');
  while (!self->is_damaged && !take(self, '}')) {
    const char *name = take_text(self);
    self->is_damaged |= !take(self, ':');
    if (strcmp(name, "bytes") == 0 || strcmp(name, "bytes bound") == 0) {
      event->bytes = take_number(self);
    } else if (strcmp(name, "name") == 0) {
      event->new_name = take_text(self);
    } else {
      skip_value(self, 0);
    }
    (void)take(self, ',');
  }
}

static void take_member(reader *self, const char *name, trace_event *event) {
  if (strcmp(name, "ph") == 0) {
    event->kind = *take_text(self);
  } else if (strcmp(name, "tid") == 0) {
    event->track = (uint64_t)take_number(self);
  } else if (strcmp(name, "name") == 0) {
    event->name = take_text(self);
  } else if (strcmp(name, "cat") == 0) {
    event->category = take_text(self);
  } else if (strcmp(name, "ts") == 0) {
    event->start_us = take_number(self);
  } else if (strcmp(name, "dur") == 0) {
    event->length_us = take_number(self);
  } else if (strcmp(name, "args") == 0) {
    take_arguments(self, event);
  } else {
    skip_value(self, 0);
  }
}

// False at the end, and where the file was cut.
static bool take_event(reader *self, trace_event *event) {
  *event = (trace_event){.name = "", .category = "", .new_name = ""};
  if (!take(self, '{')) {
    return false;
  }
  while (!self->is_damaged && !take(self, '}')) {
    const char *name = take_text(self);
    self->is_damaged |= !take(self, ':');
    take_member(self, name, event);
    (void)take(self, ',');
  }
  return !self->is_damaged;
}

static bool append(trace_file *file, size_t *capacity,
                   const trace_event *event) {
  if (file->count == *capacity) {
    *capacity = *capacity ? *capacity * 2 : 1024;
    trace_event *grown =
        realloc(file->events, *capacity * sizeof *file->events);
    if (!grown) {
      return false;
    }
    file->events = grown;
  }
  file->events[file->count++] = *event;
  return true;
}

// Reads the events of out_file's bytes, which end with a zero behind size.
static bool read_events(const char *path, size_t size, trace_file *out_file,
                        cli_error *error) {
  char *bytes = out_file->bytes;
  char *start = strstr(bytes, "\"traceEvents\"");
  start = start ? strchr(start, '[') : NULL;
  if (!start) {
    return cli_fail(error, CLI_FAILED, "%s: not a timeline: it has no "
                                       "\"traceEvents\"", path);
  }
  reader self = {.at = start + 1, .end = bytes + size};
  out_file->first = out_file->end = (size_t)(self.at - bytes);
  size_t capacity = 0;
  trace_event event;
  while (take_event(&self, &event)) {
    out_file->end = (size_t)(self.at - bytes);
    (void)take(&self, ',');
    if (!append(out_file, &capacity, &event)) {
      return cli_fail(error, CLI_FAILED, "%s: no memory", path);
    }
  }
  return true;
}

bool trace_read(const char *path, trace_file *out_file, char **out_raw,
                cli_error *error) {
  *out_file = (trace_file){0};
  size_t size = 0;
  if (!read_whole_file(path, &out_file->bytes, &size, error)) {
    return false;
  }
  // A terminator, at which the parsers of numbers and strings stop.
  char *grown = realloc(out_file->bytes, size + 1);
  char *raw = out_raw ? malloc(size + 1) : NULL;
  if (grown) {
    out_file->bytes = grown;
    grown[size] = '\0';
  }
  if (!grown || (out_raw && !raw)) {
    free(raw);
    return cli_fail(error, CLI_FAILED, "%s: no memory", path);
  }
  if (out_raw) {
    *out_raw = memcpy(raw, grown, size + 1);
  }
  return read_events(path, size, out_file, error);
}

void trace_clear(trace_file *file) {
  free(file->bytes);
  free(file->events);
  *file = (trace_file){0};
}
