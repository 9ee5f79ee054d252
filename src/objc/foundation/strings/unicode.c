// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unicode.c: converts between UTF-8 and UTF-16. Each byte that is not UTF-8
// counts as one unit.
#include "objc/foundation/foundation.h"

// Returns the bytes of the character at utf8, 1 to 4.
static size_t character_bytes(const char *utf8, size_t left) {
  const unsigned char first = (unsigned char)*utf8;
  const size_t bytes = first < 0xc0   ? 1
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf8 ? 4
                                      : 1;
  return bytes <= left ? bytes : 1;
}

size_t utf16_length(const char *utf8, size_t bytes) {
  size_t units = 0;
  for (size_t i = 0; i < bytes;) {
    const size_t each = character_bytes(utf8 + i, bytes - i);
    units += each == 4 ? 2 : 1;
    i += each;
  }
  return units;
}

size_t utf8_offset(const char *utf8, size_t bytes, size_t unit_index) {
  size_t i = 0;
  for (size_t units = 0; i < bytes && units < unit_index;) {
    const size_t each = character_bytes(utf8 + i, bytes - i);
    units += each == 4 ? 2 : 1;
    i += each;
  }
  return i;
}

static uint32_t decode(const char *utf8, size_t bytes) {
  const unsigned char *c = (const unsigned char *)utf8;
  switch (bytes) {
    case 2: return (c[0] & 31u) << 6 | (c[1] & 63u);
    case 3: return (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
    case 4:
      return (c[0] & 7u) << 18 | (c[1] & 63u) << 12 | (c[2] & 63u) << 6 |
             (c[3] & 63u);
    default: return c[0];
  }
}

unichar utf16_unit(const char *utf8, size_t bytes, size_t unit_index) {
  size_t units = 0;
  for (size_t i = 0; i < bytes;) {
    const size_t each = character_bytes(utf8 + i, bytes - i);
    const uint32_t character = decode(utf8 + i, each);
    if (units == unit_index) {
      return (unichar)(each == 4 ? 0xd800 + ((character - 0x10000) >> 10)
                                 : character);
    }
    units += each == 4 ? 2 : 1;
    if (units > unit_index) {  // the second of a pair
      return (unichar)(0xdc00 + ((character - 0x10000) & 0x3ff));
    }
    i += each;
  }
  return 0;
}

size_t utf16_from_utf8(const char *utf8, size_t bytes, unichar *out) {
  size_t units = 0;
  for (size_t i = 0; i < bytes;) {
    const size_t each = character_bytes(utf8 + i, bytes - i);
    const uint32_t character = decode(utf8 + i, each);
    if (each == 4) {
      out[units++] = (unichar)(0xd800 + ((character - 0x10000) >> 10));
      out[units++] = (unichar)(0xdc00 + ((character - 0x10000) & 0x3ff));
    } else {
      out[units++] = (unichar)character;
    }
    i += each;
  }
  return units;
}

char *utf8_put(char *out, uint32_t character) {
  if (character < 0x80) {
    *out++ = (char)character;
  } else if (character < 0x800) {
    *out++ = (char)(0xc0 | character >> 6);
    *out++ = (char)(0x80 | (character & 0x3f));
  } else if (character < 0x10000) {
    *out++ = (char)(0xe0 | character >> 12);
    *out++ = (char)(0x80 | (character >> 6 & 0x3f));
    *out++ = (char)(0x80 | (character & 0x3f));
  } else {
    *out++ = (char)(0xf0 | character >> 18);
    *out++ = (char)(0x80 | (character >> 12 & 0x3f));
    *out++ = (char)(0x80 | (character >> 6 & 0x3f));
    *out++ = (char)(0x80 | (character & 0x3f));
  }
  return out;
}

size_t utf8_from_utf16(const unichar *units, size_t count, char *out) {
  char *at = out;
  for (size_t i = 0; i < count; ++i) {
    uint32_t character = units[i];
    if (character >= 0xd800 && character < 0xdc00 && i + 1 < count &&
        units[i + 1] >= 0xdc00 && units[i + 1] < 0xe000) {
      character = 0x10000 + ((character - 0xd800) << 10) +
                  (units[++i] - 0xdc00u);
    }
    at = utf8_put(at, character);
  }
  return (size_t)(at - out);
}
