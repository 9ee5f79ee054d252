// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bytes.h: writes and reads little-endian data: a buffer that grows and a
// cursor that cannot run past the end. Both remember that something failed, so
// that callers check once.
#ifndef MTLI_BYTES_H
#define MTLI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Zero is an empty buffer. After a failed allocation nothing more is added.
typedef struct mtli_bytes {
  unsigned char *data;  // [size] malloc'ed
  size_t size;
  size_t capacity;
  bool failed;  // out of memory
} mtli_bytes;

void mtli_bytes_clear(mtli_bytes *bytes);
void mtli_bytes_append(mtli_bytes *bytes, const void *data, size_t size);
void mtli_bytes_append_u32(mtli_bytes *bytes, uint32_t value);
void mtli_bytes_append_u64(mtli_bytes *bytes, uint64_t value);
// Appends a length (u64), the bytes and a zero byte.
void mtli_bytes_append_block(mtli_bytes *bytes, const void *data, size_t size);
// Appends a text as a block; NULL is kept apart from "".
void mtli_bytes_append_text(mtli_bytes *bytes, const char *text);
// Fills with zeros up to a multiple of alignment, a power of two.
void mtli_bytes_align(mtli_bytes *bytes, size_t alignment);

typedef struct mtli_cursor {
  const unsigned char *data;  // [size] borrowed
  size_t size;
  size_t offset;
  bool failed;  // a read went past the end, or a text was malformed
} mtli_cursor;

// Each returns 0 or NULL once the cursor has failed.
uint32_t mtli_cursor_u32(mtli_cursor *cursor);
uint64_t mtli_cursor_u64(mtli_cursor *cursor);
const void *mtli_cursor_take(mtli_cursor *cursor, uint64_t size);
const void *mtli_cursor_block(mtli_cursor *cursor, size_t *out_size);
// Returns a text without zero bytes inside, or NULL where NULL was written.
const char *mtli_cursor_text(mtli_cursor *cursor);

#endif
