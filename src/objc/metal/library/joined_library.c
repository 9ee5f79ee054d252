// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// joined_library.c: reads the file into which xcrun's metallib joins several
// libraries:
#include "objc/metal/library/joined_library.h"

#include <stdlib.h>
#include <string.h>

static const char magic[] = "MTLBMTLJ ";
static const char end_mark[] = "ENDT";
enum { NUMBER_DIGITS = 19 };  // fewer than overflow 64 bits

bool joined_libraries_are(const void *data, size_t length) {
  return length >= strlen(magic) && !memcmp(data, magic, strlen(magic));
}

// Reads a decimal number and the end of its line at *at, below end.
static bool read_line(const char **at, const char *end, size_t *out_number) {
  const char *first = *at;
  *out_number = 0;
  while (*at < end && **at >= '0' && **at <= '9' &&
         *at - first < NUMBER_DIGITS) {
    *out_number = *out_number * 10 + (size_t)(*(*at)++ - '0');
  }
  return *at > first && *at < end && *(*at)++ == '\n';
}

mtl_status joined_libraries_read(const void *data, size_t length,
                                 joined_library **out_parts,
                                 size_t *out_count) {
  const char *at = (const char *)data + strlen(magic);
  const char *end = (const char *)data + length;
  size_t count, total = 0;
  *out_parts = NULL;
  *out_count = 0;
  // Each has a line of two bytes at least.
  if (!read_line(&at, end, &count) || !count || count > length / 2) {
    return mtl_fail(MTL_BAD_DATA, "joined libraries have a damaged head");
  }
  joined_library *parts = calloc(count, sizeof *parts);
  if (!parts) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "no memory for %zu libraries", count);
  }
  bool is_whole = true;
  for (size_t i = 0; i < count && is_whole; ++i) {
    is_whole = read_line(&at, end, &parts[i].length) &&
               parts[i].length <= length - total;
    total += parts[i].length;
  }
  if (!is_whole || total + strlen(end_mark) != (size_t)(end - at) ||
      memcmp(end - strlen(end_mark), end_mark, strlen(end_mark)) != 0) {
    free(parts);
    return mtl_fail(MTL_BAD_DATA,
                    "joined libraries of %zu bytes are cut short or damaged",
                    length);
  }
  for (size_t i = 0; i < count; ++i) {
    parts[i].data = at;
    at += parts[i].length;
  }
  *out_parts = parts;
  *out_count = count;
  return MTL_OK;
}
