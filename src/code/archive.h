// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// archive.h: a file of code containers that are found by a key: what was
// compiled, for whom and how, as 128 bits.
#ifndef MTLI_ARCHIVE_H
#define MTLI_ARCHIVE_H

#include "base/memory/bytes.h"
#include "base/status.h"

enum { MTLI_ARCHIVE_KEY_BYTES = 16 };

typedef struct mtli_archive_entry {
  unsigned char key[MTLI_ARCHIVE_KEY_BYTES];
  char *name;   // of the function, for people; malloc'ed
  void *bytes;  // [size_bytes] a container; malloc'ed
  size_t size_bytes;
} mtli_archive_entry;

// Zero is an empty archive. One thread at a time.
typedef struct mtli_archive {
  mtli_archive_entry *entries;  // [count] malloc'ed
  size_t count;
  size_t capacity;
} mtli_archive;

void mtli_archive_clear(mtli_archive *archive);

// Finds the container of a key; NULL if there is none. Valid until the next
// add.
const mtli_archive_entry *mtli_archive_find(
    const mtli_archive *archive,
    const unsigned char key[MTLI_ARCHIVE_KEY_BYTES]);

// Adds a copy of a container, in the place of one with the same key.
mtl_status mtli_archive_add(mtli_archive *archive,
                            const unsigned char key[MTLI_ARCHIVE_KEY_BYTES],
                            const char *name, const void *bytes,
                            size_t size_bytes);

// Appends the file: it begins with the magic "MTLARCHV" and a version, and ends
// with a checksum of all before.
mtl_status mtli_archive_write(const mtli_archive *archive, mtli_bytes *out);

// Reads a file, and checks it and every container in full; any input is safe.
//
// Errors     MTL_BAD_DATA, MTL_OUT_OF_MEMORY; *out_archive is empty then
mtl_status mtli_archive_read(const void *bytes, size_t size_bytes,
                             mtli_archive *out_archive);

#endif
