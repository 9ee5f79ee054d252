// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bytes.c: a growing buffer and a checked cursor.
#include "base/memory/bytes.h"

#include <stdlib.h>
#include <string.h>

// Length that stands for a NULL text.
#define NO_TEXT UINT64_MAX

void mtli_bytes_clear(mtli_bytes *bytes) {
  free(bytes->data);
  *bytes = (mtli_bytes){0};
}

static bool bytes_reserve(mtli_bytes *bytes, size_t size) {
  if (bytes->failed || size > SIZE_MAX / 2 - bytes->size) {
    bytes->failed = true;
    return false;
  }
  const size_t wanted = bytes->size + size;
  if (wanted <= bytes->capacity) {
    return true;
  }
  size_t capacity = bytes->capacity ? bytes->capacity * 2 : 256;
  if (capacity < wanted) {
    capacity = wanted;
  }
  unsigned char *data = realloc(bytes->data, capacity);
  if (!data) {
    bytes->failed = true;
    return false;
  }
  bytes->data = data;
  bytes->capacity = capacity;
  return true;
}

void mtli_bytes_append(mtli_bytes *bytes, const void *data, size_t size) {
  if (size && bytes_reserve(bytes, size)) {
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
  }
}

static void append_little_endian(mtli_bytes *bytes, uint64_t value, int size) {
  unsigned char data[8];
  for (int i = 0; i < size; ++i) {
    data[i] = (unsigned char)(value >> (8 * i));
  }
  mtli_bytes_append(bytes, data, (size_t)size);
}

void mtli_bytes_append_u32(mtli_bytes *bytes, uint32_t value) {
  append_little_endian(bytes, value, 4);
}

void mtli_bytes_append_u64(mtli_bytes *bytes, uint64_t value) {
  append_little_endian(bytes, value, 8);
}

void mtli_bytes_append_block(mtli_bytes *bytes, const void *data, size_t size) {
  mtli_bytes_append_u64(bytes, size);
  mtli_bytes_append(bytes, data, size);
  mtli_bytes_append(bytes, "", 1);
}

void mtli_bytes_append_text(mtli_bytes *bytes, const char *text) {
  if (text) {
    mtli_bytes_append_block(bytes, text, strlen(text));
  } else {
    mtli_bytes_append_u64(bytes, NO_TEXT);
  }
}

void mtli_bytes_align(mtli_bytes *bytes, size_t alignment) {
  const size_t padding = -bytes->size & (alignment - 1);
  if (padding && bytes_reserve(bytes, padding)) {
    memset(bytes->data + bytes->size, 0, padding);
    bytes->size += padding;
  }
}

const void *mtli_cursor_take(mtli_cursor *cursor, uint64_t size) {
  if (cursor->failed || size > cursor->size - cursor->offset) {
    cursor->failed = true;
    return NULL;
  }
  const void *data = cursor->data + cursor->offset;
  cursor->offset += size;
  return data;
}

static uint64_t take_little_endian(mtli_cursor *cursor, int size) {
  const unsigned char *data = mtli_cursor_take(cursor, (uint64_t)size);
  uint64_t value = 0;
  for (int i = 0; data && i < size; ++i) {
    value |= (uint64_t)data[i] << (8 * i);
  }
  return value;
}

uint32_t mtli_cursor_u32(mtli_cursor *cursor) {
  return (uint32_t)take_little_endian(cursor, 4);
}

uint64_t mtli_cursor_u64(mtli_cursor *cursor) {
  return take_little_endian(cursor, 8);
}

// Reads the part of a block after its length.
static const void *block_rest(mtli_cursor *cursor, uint64_t size) {
  const unsigned char *data = mtli_cursor_take(cursor, size);
  const unsigned char *end = mtli_cursor_take(cursor, 1);
  if (!data || !end || *end) {
    cursor->failed = true;
    return NULL;
  }
  return data;
}

const void *mtli_cursor_block(mtli_cursor *cursor, size_t *out_size) {
  const uint64_t size = mtli_cursor_u64(cursor);
  const void *data = block_rest(cursor, size);
  *out_size = data ? (size_t)size : 0;
  return data;
}

const char *mtli_cursor_text(mtli_cursor *cursor) {
  const uint64_t size = mtli_cursor_u64(cursor);
  if (cursor->failed || size == NO_TEXT) {
    return NULL;
  }
  const char *text = block_rest(cursor, size);
  if (text && strlen(text) != size) {
    cursor->failed = true;
    return NULL;
  }
  return text;
}
