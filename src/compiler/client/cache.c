// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache.c: the entries of the disk cache.
//
// An entry is u64 magic, u32 version, a block each of key, dependencies and
// contents, and the XXH3-128 of all that.
#include "compiler/client/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/client/cache_folder.h"

#define ENTRY_MAGIC UINT64_C(0x45484341434C544D)  // "MTLCACHE"
enum {
  ENTRY_VERSION = 1,
  CHECKSUM_BYTES = sizeof(XXH128_canonical_t),
  NAME_BYTES = 2 * CHECKSUM_BYTES + 16,
};

typedef struct cache_entry {
  const void *key, *dependencies, *contents;
  size_t key_bytes, dependencies_bytes, contents_bytes;
} cache_entry;

static void entry_name(const void *key, size_t size, const char *kind,
                       char out_name[NAME_BYTES]) {
  const XXH128_canonical_t hash = mtlc_text_hash(key, size);
  for (int i = 0; i < CHECKSUM_BYTES; ++i) {
    sprintf(out_name + 2 * i, "%02x", hash.digest[i]);
  }
  snprintf(out_name + 2 * CHECKSUM_BYTES, NAME_BYTES - 2 * CHECKSUM_BYTES,
           ".%s", kind);
}

static void write_entry(const cache_entry *entry, const char *kind) {
  const int folder = mtlc_cache_folder_open();
  if (folder < 0) {
    return;
  }
  char name[NAME_BYTES];
  mtli_bytes bytes = {0};
  mtli_bytes_append_u64(&bytes, ENTRY_MAGIC);
  mtli_bytes_append_u32(&bytes, ENTRY_VERSION);
  mtli_bytes_append_block(&bytes, entry->key, entry->key_bytes);
  mtli_bytes_append_block(&bytes, entry->dependencies,
                          entry->dependencies_bytes);
  mtli_bytes_append_block(&bytes, entry->contents, entry->contents_bytes);
  if (!bytes.failed) {
    const XXH128_canonical_t checksum = mtlc_text_hash(bytes.data, bytes.size);
    mtli_bytes_append(&bytes, &checksum, sizeof checksum);
    entry_name(entry->key, entry->key_bytes, kind, name);
    mtlc_cache_file_write(folder, name, &bytes);
  }
  mtli_bytes_clear(&bytes);
  close(folder);
}

// Parses a cache file; false unless it is complete and of this version.
static bool parse_entry(const mtli_bytes *bytes, cache_entry *out_entry) {
  if (bytes->size < CHECKSUM_BYTES) {
    return false;
  }
  const size_t covered = bytes->size - CHECKSUM_BYTES;
  const XXH128_canonical_t checksum = mtlc_text_hash(bytes->data, covered);
  mtli_cursor cursor = {.data = bytes->data, .size = covered};
  if (memcmp(&checksum, bytes->data + covered, sizeof checksum) != 0 ||
      mtli_cursor_u64(&cursor) != ENTRY_MAGIC ||
      mtli_cursor_u32(&cursor) != ENTRY_VERSION) {
    return false;
  }
  out_entry->key = mtli_cursor_block(&cursor, &out_entry->key_bytes);
  out_entry->dependencies =
      mtli_cursor_block(&cursor, &out_entry->dependencies_bytes);
  out_entry->contents = mtli_cursor_block(&cursor, &out_entry->contents_bytes);
  return !cursor.failed && cursor.offset == cursor.size;
}

// Reads the entry of a key. Its parts point into *out_bytes.
static bool read_entry(const void *key, size_t key_bytes, const char *kind,
                       mtli_bytes *out_bytes, cache_entry *out_entry) {
  char name[NAME_BYTES];
  const int folder = mtlc_cache_folder_open();
  *out_bytes = (mtli_bytes){0};
  if (folder < 0) {
    return false;
  }
  entry_name(key, key_bytes, kind, name);
  const bool is_found = mtlc_cache_file_read(folder, name, out_bytes) &&
                        parse_entry(out_bytes, out_entry) &&
                        out_entry->key_bytes == key_bytes &&
                        memcmp(out_entry->key, key, key_bytes) == 0;
  close(folder);
  if (!is_found) {
    mtli_bytes_clear(out_bytes);
  }
  return is_found;
}

// --- dependencies

// Hashes a file's text; false if it cannot be read.
static bool hash_file(const char *path, XXH128_canonical_t *out_hash) {
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    return false;
  }
  bool is_read = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  XXH3_state_t *state = is_read ? XXH3_createState() : NULL;
  is_read = state && XXH3_128bits_reset(state) == XXH_OK;
  while (is_read) {
    unsigned char part[16 * 1024];
    const ssize_t count = read(file, part, sizeof part);
    if (count == 0) {
      break;
    }
    is_read = count > 0 || errno == EINTR;
    if (count > 0) {
      XXH3_128bits_update(state, part, (size_t)count);
    }
  }
  if (is_read) {
    XXH128_canonicalFromHash(out_hash, XXH3_128bits_digest(state));
  }
  XXH3_freeState(state);
  close(file);
  return is_read;
}

static bool file_is_unchanged(const mtlc_dependency *dependency) {
  XXH128_canonical_t hash;
  if (!dependency->found) {
    return access(dependency->name, F_OK) != 0;
  }
  return hash_file(dependency->name, &hash) &&
         memcmp(&hash, &dependency->hash, sizeof hash) == 0;
}

static bool header_is_unchanged(const mtlc_dependency *dependency,
                                mtl_header_callback *callback, void *context) {
  const char *text = NULL;
  size_t length = 0;
  const bool found =
      callback && callback(context, dependency->name, &text, &length);
  if (!found || !dependency->found) {
    return found == dependency->found;
  }
  const XXH128_canonical_t hash = mtlc_text_hash(text, length);
  return memcmp(&hash, &dependency->hash, sizeof hash) == 0;
}

static bool dependencies_are_unchanged(const cache_entry *entry,
                                       mtl_header_callback *callback,
                                       void *context) {
  mtli_cursor cursor = {.data = entry->dependencies,
                        .size = entry->dependencies_bytes};
  while (cursor.offset < cursor.size) {
    mtlc_dependency dependency;
    if (!mtlc_dependency_read(&cursor, &dependency) ||
        !(dependency.is_header
              ? header_is_unchanged(&dependency, callback, context)
              : file_is_unchanged(&dependency))) {
      return false;
    }
  }
  return true;
}

// --- the calls

bool mtlc_cache_load(const mtli_bytes *key, mtl_header_callback *callback,
                     void *callback_context, mtli_bytes *out_container) {
  *out_container = (mtli_bytes){0};
  mtli_bytes bytes;
  cache_entry entry;
  if (!read_entry(key->data, key->size, "code", &bytes, &entry)) {
    return false;
  }
  if (dependencies_are_unchanged(&entry, callback, callback_context)) {
    mtli_bytes_append(out_container, entry.contents, entry.contents_bytes);
  }
  mtli_bytes_clear(&bytes);
  return out_container->size > 0;
}

void mtlc_cache_store(const mtli_bytes *key, const mtlc_reply *reply) {
  write_entry(&(cache_entry){.key = key->data,
                             .key_bytes = key->size,
                             .dependencies = reply->dependencies,
                             .dependencies_bytes = reply->dependencies_bytes,
                             .contents = reply->container,
                             .contents_bytes = reply->container_bytes},
              "code");
}

// The program's files follow from its path and from where the dynamic linker
// is told to look.
static mtli_bytes identity_key(const char *path) {
  static const char *const variables[] = {"LD_LIBRARY_PATH", "LD_PRELOAD"};
  mtli_bytes key = {0};
  mtli_bytes_append_text(&key, path);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char *value = getenv(variables[i]);
    mtli_bytes_append_text(&key, value ? value : "");
  }
  return key;
}

bool mtlc_cache_load_identity(const char *path, mtli_bytes *out_identity) {
  *out_identity = (mtli_bytes){0};
  mtli_bytes bytes = {0}, key = identity_key(path);
  cache_entry entry;
  if (!key.failed &&
      read_entry(key.data, key.size, "compiler", &bytes, &entry) &&
      mtlc_identity_is_current(entry.contents, entry.contents_bytes, path)) {
    mtli_bytes_append(out_identity, entry.contents, entry.contents_bytes);
  }
  mtli_bytes_clear(&bytes);
  mtli_bytes_clear(&key);
  return out_identity->size > 0;
}

void mtlc_cache_store_identity(const char *path, const void *identity,
                               size_t size) {
  mtli_bytes key = identity_key(path);
  if (!key.failed) {
    write_entry(&(cache_entry){.key = key.data,
                               .key_bytes = key.size,
                               .contents = identity,
                               .contents_bytes = size},
                "compiler");
  }
  mtli_bytes_clear(&key);
}
