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

// The eight digits of value, below 10^8, a byte each, the first one lowest:
// halves are divided side by side. Digits one by one take three times as long.
static uint64_t eight_digits(uint32_t value) {
  const uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
  // x * 10486 >> 20 is x / 100 below 10000, and x * 103 >> 10 is x / 10 below
  // 100.
  const uint64_t hundreds = (fours * 10486 >> 20) & 0x7f0000007f;
  const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  const uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000f;
  return tens | (twos - 10 * tens) << 8;
}

// Writes up to 8 bytes behind the number, too.
static char *put_number(char *at, uint64_t value) {
  const uint64_t zeros = 0x3030303030303030;
  enum { EIGHT_DIGITS = 100000000 };
  if (value >= EIGHT_DIGITS) {
    at = put_number(at, value / EIGHT_DIGITS);
    const uint64_t text =
        eight_digits((uint32_t)(value % EIGHT_DIGITS)) | zeros;
    memcpy(at, &text, sizeof text);  // of a little-endian machine
    return at + sizeof text;
  }
  const uint64_t digits = eight_digits((uint32_t)value);
  const int left_out = digits ? __builtin_ctzll(digits) / 8 : 7;
  const uint64_t text = (digits | zeros) >> 8 * left_out;
  memcpy(at, &text, sizeof text);
  return at + (sizeof text - (size_t)left_out);
}

// Microseconds, to the nanosecond: as a double they would lose that. Inlined,
// so that the length of member is a constant.
__attribute__((always_inline)) static inline char *put_time(char *at,
                                                            const char *member,
                                                            uint64_t ns) {
  at = put_number(put_text(at, member), ns / 1000);
  const uint32_t rest = (uint32_t)(ns % 1000);
  *at++ = '.';
  *at++ = (char)('0' + rest / 100);
  *at++ = (char)('0' + rest / 10 % 10);
  *at++ = (char)('0' + rest % 10);
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

static char *put_sizes(char *at, const uint32_t sizes[3]) {
  for (int i = 0; i < 3; ++i) {
    *at++ = i ? ',' : '[';
    at = put_number(at, sizes[i]);
  }
  *at++ = ']';
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
      return put_sizes(at, sizes);
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

// Writes the beginning that all objects share, up to the name.
static char *put_head(char *at, mtli_trace_heads *heads, char kind,
                      uint64_t track) {
  mtli_trace_head *head = &heads->kept[track % MTLI_TRACE_HEADS];
  if (!head->length || head->track != track) {
    char *end = put_number(put_text(head->text, "{\"ph\":\"?\",\"pid\":"),
                           heads->process);
    end = put_number(put_text(end, ",\"tid\":"), track);
    head->length = (size_t)(put_text(end, ",\"name\":\"") - head->text);
    head->track = track;
  }
  memcpy(at, head->text, sizeof head->text);  // all of it: a constant
  at[sizeof "{\"ph\":\"" - 1] = kind;
  return at + head->length;
}

static char *put_arrow(char *at, mtli_trace_heads *heads, char kind,
                       uint64_t track, const mtli_trace_arrow *arrow) {
  at = put_text(put_head(put_text(at, ",\n"), heads, kind, track), arrow->name);
  at = put_number(put_text(at, "\",\"cat\":\"flow\",\"id\":\""), arrow->flow);
  // "e": to the slice around that time, not to the next one.
  at = put_text(at, kind == 'f' ? "\",\"bp\":\"e\"" : "\"");
  return put_text(put_time(at, ",\"ts\":", arrow->at_ns), "}");
}

static char *put_slice(char *at, const mtli_trace_dispatch *dispatch,
                       size_t name_length, const char *category) {
  at = put_escaped(at, dispatch->name, name_length);
  at = put_time(put_text(at, category), "\"ts\":", dispatch->start_ns);
  return put_time(at, ",\"dur\":", dispatch->end_ns - dispatch->start_ns);
}

char *mtli_trace_write_dispatch(char *target, mtli_trace_heads *heads,
                                const mtli_trace_dispatch *dispatch) {
  const size_t length = strnlen(dispatch->name, MTLI_TRACE_NAME_BYTES);
  const uint16_t *group = dispatch->group;
  const uint32_t groups[3] = {group[0], group[1], group[2]};
  char *at = put_head(target, heads, 'X', dispatch->track);
  at = put_slice(at, dispatch, length, "\",\"cat\":\"command\",");
  at = put_sizes(put_text(at, ",\"args\":{\"grid\":"), dispatch->grid);
  at = put_sizes(put_text(at, ",\"group\":"), groups);
  at = put_number(put_text(at, ",\"bytes bound\":"), dispatch->bytes);
  if (dispatch->line) {
    at = put_number(put_text(at, ",\"line\":"), dispatch->line);
  }
  at = put_text(at, "}}");
  if (!dispatch->thread) {
    return at;
  }
  at = put_head(put_text(at, ",\n"), heads, 'X', dispatch->thread);
  return put_text(put_slice(at, dispatch, length, "\",\"cat\":\"work\","), "}");
}

char *mtli_trace_write_text(char *target, mtli_trace_heads *heads,
                            const mtli_trace_event *event) {
  const mtli_trace_arrow *arrows = (const mtli_trace_arrow *)(event + 1);
  const size_t count = (size_t)event->arrivals + event->departures;
  const char *name = (const char *)(arrows + count);
  char *at = put_head(target, heads, event->kind, event->track);
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
  }
  if (event->arguments_length) {
    at = put_arguments(at, name + event->name_length, event->arguments_length);
  }
  at = put_text(at, "}");
  for (size_t i = 0; i < count; ++i) {
    at = put_arrow(at, heads, i < event->arrivals ? 'f' : 's', event->track,
                   &arrows[i]);
  }
  return at;
}
