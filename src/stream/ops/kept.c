// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kept.c: caches what operations derive from constants, such as packed weights.
#include <stdlib.h>
#include <string.h>

#include "stream/ops/host.h"
#include "stream/stream_parts.h"

enum {
  BUCKET_COUNT = 256,
  KEYS_MAX = 8,  // for one constant: if shapes change, the first few are kept
  LIMIT_MB = 512,
};

typedef struct kept {
  struct kept *next;  // in its bucket
  uint64_t constant;
  mtl_buffer *buffer;  // +1; NULL if the preparation failed
  size_t key_bytes;
  char key[];
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept *buckets[BUCKET_COUNT];
static uint64_t kept_bytes;
static _Atomic uint64_t newest;

uint64_t mtl_constant_create(void) {
  // Relaxed: each caller only needs a number of its own.
  return atomic_fetch_add_explicit(&newest, 1, memory_order_relaxed) + 1;
}

uint64_t mtl_constant_kept_bytes(void) {
  pthread_mutex_lock(&lock);
  const uint64_t bytes = kept_bytes;
  pthread_mutex_unlock(&lock);
  return bytes;
}

uint64_t mtl_constant_limit_bytes(void) {
  return stream_bound_bytes("METTLE_CONSTANTS_MB", LIMIT_MB);
}

static void kept_delete(kept *old) {
  mtl_buffer_release(old->buffer);  // -1
  free(old);
}

void mtl_constant_forget(uint64_t constant) {
  kept *forgotten = NULL;
  pthread_mutex_lock(&lock);
  for (kept **place = &buckets[constant % BUCKET_COUNT]; *place;) {
    kept *at = *place;
    if (at->constant != constant) {
      place = &at->next;
      continue;
    }
    *place = at->next;
    at->next = forgotten;
    forgotten = at;
    kept_bytes -= at->buffer ? mtl_buffer_length(at->buffer) : 0;
  }
  pthread_mutex_unlock(&lock);
  while (forgotten) {
    kept *next = forgotten->next;
    kept_delete(forgotten);
    forgotten = next;
  }
}

// Finds an entry and counts the constant's entries. The lock is held.
static kept *find(uint64_t constant, const void *key, size_t key_bytes,
                  int *out_count) {
  *out_count = 0;
  kept *found = NULL;
  for (kept *at = buckets[constant % BUCKET_COUNT]; at; at = at->next) {
    if (at->constant == constant) {
      *out_count += 1;
      if (at->key_bytes == key_bytes && memcmp(at->key, key, key_bytes) == 0) {
        found = at;
      }
    }
  }
  return found;
}

mtl_buffer *ops_kept_find(uint64_t constant, const void *key, size_t key_bytes,
                          bool *out_is_known) {
  pthread_mutex_lock(&lock);
  int count = 0;
  const kept *found = find(constant, key, key_bytes, &count);
  *out_is_known = found || count >= KEYS_MAX;
  mtl_buffer *buffer = found ? mtl_buffer_retain(found->buffer) : NULL;  // +1
  pthread_mutex_unlock(&lock);
  return buffer;
}

bool ops_kept_has_room(uint64_t bytes) {
  const uint64_t limit = mtl_constant_limit_bytes();
  pthread_mutex_lock(&lock);
  const bool has_room = bytes <= limit && kept_bytes <= limit - bytes;
  pthread_mutex_unlock(&lock);
  return has_room;
}

void ops_kept_add(uint64_t constant, const void *key, size_t key_bytes,
                  mtl_buffer *buffer) {
  kept *added = calloc(1, sizeof *added + key_bytes);
  if (!added) {
    return;
  }
  added->constant = constant;
  added->buffer = mtl_buffer_retain(buffer);  // +1
  added->key_bytes = key_bytes;
  memcpy(added->key, key, key_bytes);
  pthread_mutex_lock(&lock);
  int count = 0;
  const bool is_new = !find(constant, key, key_bytes, &count);
  if (is_new) {
    added->next = buckets[constant % BUCKET_COUNT];
    buckets[constant % BUCKET_COUNT] = added;
    kept_bytes += buffer ? mtl_buffer_length(buffer) : 0;
  }
  pthread_mutex_unlock(&lock);
  if (!is_new) {
    kept_delete(added);
  }
}
