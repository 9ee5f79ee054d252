// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_text.c: writes a timeline's events as JSON, without printf, which would
// take most of the time.
#include "base/trace/trace_text.h"

#include <string.h>

// --- Arguments, as they are kept ---------------------------------------------

typedef struct argument {
  const char *name;  // a literal
  uint32_t length;   // of the value, which follows
  char kind;         // 't'ext, 'n'umber, 's'izes
} argument;

static void add(mtli_trace_arguments *arguments, char kind, const char *name,
                const void *value, size_t length) {
  const argument head = {
      .name = name, .length = (uint32_t)length, .kind = kind};
  if (sizeof head + length > sizeof arguments->bytes - arguments->length) {
    return;
  }
  unsigned char *at = arguments->bytes + arguments->length;
  memcpy(at, &head, sizeof head);
  memcpy(at + sizeof head, value, length);
  arguments->length += sizeof head + length;
}

void mtli_trace_text(mtli_trace_arguments *arguments, const char *name,
                     const char *value) {
  add(arguments, 't', name, value, strnlen(value, MTLI_TRACE_NAME_BYTES));
}

void mtli_trace_number(mtli_trace_arguments *arguments, const char *name,
                       uint64_t value) {
  add(arguments, 'n', name, &value, sizeof value);
}

void mtli_trace_sizes(mtli_trace_arguments *arguments, const char *name,
                      const uint32_t value[3]) {
  add(arguments, 's', name, value, 3 * sizeof *value);
}

// --- Texts -------------------------------------------------------------------

// Inlined, so that the length of a literal is a constant.
__attribute__((always_inline)) static inline char *put_text(char *at,
                                                            const char *text) {
  const size_t length = strlen(text);
  memcpy(at, text, length);
  return at + length;
}

static char *put_number(char *at, uint64_t value) {
  char digits[20];
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

// Writes the inside of a JSON string, escaped; returns its end.
static char *put_escaped(char *at, const char *text, size_t length) {
  static const char hex[] = "0123456789abcdef";
  for (size_t i = 0; i < length; ++i) {
    const unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') {
      *at++ = '\\';
      *at++ = (char)c;
    } else if (c < ' ') {
      at = put_text(at, "\\u00");
      *at++ = hex[c >> 4];
      *at++ = hex[c & 15];
    } else {
      *at++ = (char)c;
    }
  }
  return at;
}

static char *put_value(char *at, const argument *head, const char *value) {
  switch (head->kind) {
    case 't':
      *at++ = '"';
      at = put_escaped(at, value, head->length);
      *at++ = '"';
      return at;
    case 'n': {
      uint64_t number = 0;
      memcpy(&number, value, sizeof number);
      return put_number(at, number);
    }
    default: {
      uint32_t sizes[3] = {0};
      memcpy(sizes, value, sizeof sizes);
      for (int i = 0; i < 3; ++i) {
        *at++ = i ? ',' : '[';
        at = put_number(at, sizes[i]);
      }
      *at++ = ']';
      return at;
    }
  }
}

static char *put_arguments(char *at, const char *bytes, size_t length) {
  at = put_text(at, ",\"args\":{");
  for (size_t done = 0; done < length;) {
    argument head;
    memcpy(&head, bytes + done, sizeof head);
    at = put_text(put_text(at, done ? ",\"" : "\""), head.name);
    at = put_value(put_text(at, "\":"), &head, bytes + done + sizeof head);
    done += sizeof head + head.length;
  }
  return put_text(at, "}");
}

// Writes the beginning that all objects share.
static char *put_head(char *at, char kind, uint64_t process, uint64_t track) {
  const char text[] = {kind, '\0'};
  at = put_text(put_text(at, "{\"ph\":\""), text);
  at = put_number(put_text(at, "\",\"pid\":"), process);
  return put_text(put_number(put_text(at, ",\"tid\":"), track), ",\"name\":\"");
}

static char *put_arrow(char *at, char kind, uint64_t process, uint64_t track,
                       const mtli_trace_arrow *arrow) {
  at = put_text(put_head(put_text(at, ",\n"), kind, process, track),
                arrow->name);
  at = put_number(put_text(at, "\",\"cat\":\"flow\",\"id\":\""), arrow->flow);
  // "e": to the slice around that time, not to the next one.
  at = put_text(at, kind == 'f' ? "\",\"bp\":\"e\"" : "\"");
  return put_text(put_time(at, ",\"ts\":", arrow->at_ns), "}");
}

char *mtli_trace_write_text(char *target, uint64_t process,
                            const mtli_trace_event *event) {
  const mtli_trace_arrow *arrows = (const mtli_trace_arrow *)(event + 1);
  const size_t count = (size_t)event->arrivals + event->departures;
  const char *name = (const char *)(arrows + count);
  char *at = put_head(target, event->kind, process, event->track);
  at = put_text(put_escaped(at, name, event->name_length), "\"");
  if (event->category) {
    at = put_text(put_text(at, ",\"cat\":\""), event->category);
    at = put_text(at, "\"");
  }
  if (event->kind != 'M') {
    at = put_time(at, ",\"ts\":", event->time_ns);
  }
  if (event->kind == 'X') {
    at = put_time(at, ",\"dur\":", event->length_ns);
  } else if (event->kind == 'i') {
    at = put_text(at, ",\"s\":\"t\"");
  }
  if (event->arguments_length) {
    at = put_arguments(at, name + event->name_length, event->arguments_length);
  }
  at = put_text(at, "}");
  for (size_t i = 0; i < count; ++i) {
    at = put_arrow(at, i < event->arrivals ? 'f' : 's', process, event->track,
                   &arrows[i]);
  }
  return at;
}
