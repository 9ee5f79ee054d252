// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// archive.c: reads and writes archives of code containers.
//
// A file is u64 magic, u32 version, u32 count; for each container its key, its
// name and itself as blocks (base/memory/bytes.h); and the XXH3-128 of all
// that.
#include "code/archive.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "code/code.h"

#define ARCHIVE_MAGIC UINT64_C(0x56484352414C544D)  // "MTLARCHV"
enum { ARCHIVE_VERSION = 1, CHECKSUM_BYTES = sizeof(XXH128_canonical_t) };

void mtli_archive_clear(mtli_archive *archive) {
  for (size_t i = 0; i < archive->count; i++) {
    free(archive->entries[i].name);
    free(archive->entries[i].bytes);
  }
  free(archive->entries);
  *archive = (mtli_archive){0};
}

const mtli_archive_entry *mtli_archive_find(
    const mtli_archive *archive,
    const unsigned char key[MTLI_ARCHIVE_KEY_BYTES]) {
  for (size_t i = 0; i < archive->count; i++) {
    if (memcmp(archive->entries[i].key, key, MTLI_ARCHIVE_KEY_BYTES) == 0) {
      return &archive->entries[i];
    }
  }
  return NULL;
}

static bool grow(mtli_archive *archive) {
  if (archive->count < archive->capacity) {
    return true;
  }
  const size_t capacity = archive->capacity ? 2 * archive->capacity : 8;
  mtli_archive_entry *entries =
      realloc(archive->entries, capacity * sizeof *entries);
  if (entries) {
    archive->entries = entries;
    archive->capacity = capacity;
  }
  return entries;
}

mtl_status mtli_archive_add(mtli_archive *archive,
                            const unsigned char key[MTLI_ARCHIVE_KEY_BYTES],
                            const char *name, const void *bytes,
                            size_t size_bytes) {
  mtli_archive_entry entry = {.name = strdup(name),
                              .bytes = malloc(size_bytes ? size_bytes : 1),
                              .size_bytes = size_bytes};
  mtli_archive_entry *place =
      (mtli_archive_entry *)mtli_archive_find(archive, key);
  if (!entry.name || !entry.bytes || (!place && !grow(archive))) {
    free(entry.name);
    free(entry.bytes);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %zu bytes of an archive",
                     size_bytes);
  }
  memcpy(entry.key, key, MTLI_ARCHIVE_KEY_BYTES);
  memcpy(entry.bytes, bytes, size_bytes);
  if (place) {
    free(place->name);
    free(place->bytes);
  } else {
    place = &archive->entries[archive->count++];
  }
  *place = entry;
  return MTL_OK;
}

mtl_status mtli_archive_write(const mtli_archive *archive, mtli_bytes *out) {
  const size_t start = out->size;
  mtli_bytes_append_u64(out, ARCHIVE_MAGIC);
  mtli_bytes_append_u32(out, ARCHIVE_VERSION);
  mtli_bytes_append_u32(out, (uint32_t)archive->count);
  for (size_t i = 0; i < archive->count; i++) {
    const mtli_archive_entry *entry = &archive->entries[i];
    mtli_bytes_append(out, entry->key, sizeof entry->key);
    mtli_bytes_append_text(out, entry->name);
    mtli_bytes_append_block(out, entry->bytes, entry->size_bytes);
  }
  if (!out->failed) {
    XXH128_canonical_t checksum;
    XXH128_canonicalFromHash(
        &checksum, XXH3_128bits(out->data + start, out->size - start));
    mtli_bytes_append(out, &checksum, sizeof checksum);
  }
  return out->failed ? mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an archive")
                     : MTL_OK;
}

// Checks a container as mtl_library_create_from_data does.
static mtl_status check_container(const void *bytes, size_t size_bytes) {
  mtli_arena arena = {0};
  mtli_code *code;
  const mtl_status status = mtli_code_read(bytes, size_bytes, &arena, &code);
  mtli_arena_clear(&arena);
  return status;
}

static mtl_status read_entry(mtli_cursor *cursor, mtli_archive *archive) {
  const unsigned char *key = mtli_cursor_take(cursor, MTLI_ARCHIVE_KEY_BYTES);
  const char *name = mtli_cursor_text(cursor);
  size_t size_bytes = 0;
  const void *bytes = mtli_cursor_block(cursor, &size_bytes);
  if (cursor->failed || !key || !name || !bytes) {
    return mtli_fail(MTL_BAD_DATA, "an archive is damaged at offset %zu",
                     cursor->offset);
  }
  MTL_TRY(check_container(bytes, size_bytes));
  return mtli_archive_add(archive, key, name, bytes, size_bytes);
}

mtl_status mtli_archive_read(const void *bytes, size_t size_bytes,
                             mtli_archive *out_archive) {
  *out_archive = (mtli_archive){0};
  if (size_bytes < CHECKSUM_BYTES) {
    return mtli_fail(MTL_BAD_DATA, "%zu bytes are no archive", size_bytes);
  }
  const size_t covered = size_bytes - CHECKSUM_BYTES;
  mtli_cursor cursor = {.data = bytes, .size = covered};
  if (mtli_cursor_u64(&cursor) != ARCHIVE_MAGIC) {
    return mtli_fail(MTL_BAD_DATA, "%zu bytes are no archive", size_bytes);
  }
  const uint32_t version = mtli_cursor_u32(&cursor);
  if (version != ARCHIVE_VERSION) {
    return mtli_fail(MTL_BAD_DATA,
                     "an archive has version %u; this one reads version %d",
                     version, ARCHIVE_VERSION);
  }
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(bytes, covered));
  if (memcmp(&checksum, (const char *)bytes + covered, sizeof checksum) != 0) {
    return mtli_fail(MTL_BAD_DATA,
                     "an archive of %zu bytes is damaged or cut short",
                     size_bytes);
  }
  const uint32_t count = mtli_cursor_u32(&cursor);
  mtl_status status = MTL_OK;
  for (uint32_t i = 0; i < count && status == MTL_OK; i++) {
    status = read_entry(&cursor, out_archive);
  }
  if (status == MTL_OK && (cursor.failed || cursor.offset != cursor.size)) {
    status = mtli_fail(MTL_BAD_DATA, "an archive has %zu bytes too many",
                       cursor.size - cursor.offset);
  }
  if (status != MTL_OK) {
    mtli_archive_clear(out_archive);
  }
  return status;
}
