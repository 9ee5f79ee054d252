// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fold_table.c: a hash table from the inputs of folded results to the values
// that hold them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aoti/fold.h"

enum {
  BUCKET_COUNT = 256,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fold_key *buckets[BUCKET_COUNT];
static uint64_t table_bytes;

// --- Values ------------------------------------------------------------------

fold_value *fold_value_retain(fold_value *value) {
  if (value) {
    mtl_buffer_retain(value->self);
  }
  return value;
}

void fold_value_release(fold_value *value) {
  if (value) {
    mtl_buffer_release(value->self);
  }
}

// Called by the last release of self, also on a thread of the device's.
static void value_delete(void *context, void *bytes, size_t length_bytes) {
  (void)context;
  (void)length_bytes;
  fold_value *value = bytes;
  mtl_constant_forget(value->name);
  mtl_buffer_release(value->buffer);  // -1
  const mtl_status status = mtl_memory_free(value->pooled);
  (void)status;  // it is our buffer, so the call cannot fail
  free(value);
}

fold_value *fold_value_create(mtl_device *device, aoti_storage *storage) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *memory = NULL;
  if (!storage->pooled || posix_memalign(&memory, page, page) != 0) {
    return NULL;
  }
  fold_value *value = memset(memory, 0, page);
  const mtl_buffer_desc desc = {.length_bytes = page,
                                .no_copy_bytes = memory,
                                .deallocator = value_delete};
  if (mtl_buffer_create(device, &desc, &value->self) != MTL_OK) {
    free(memory);
    return NULL;
  }
  value->name = mtl_constant_create();
  value->buffer = mtl_buffer_retain(storage->buffer);  // +1
  value->offset_bytes = storage->offset_bytes;
  value->size_bytes = storage->size_bytes;
  value->pooled = storage->pooled;
  storage->pooled = NULL;                     // taken
  storage->value = fold_value_retain(value);  // +1
  storage->is_fresh = false;
  return value;
}

void fold_value_share(fold_value *value, aoti_storage *storage) {
  void *pooled = storage->pooled;
  fold_value *before = storage->value;
  storage->value = fold_value_retain(value);  // +1
  storage->pooled = NULL;
  storage->is_fresh = false;
  mtl_buffer_retain(value->buffer);     // +1
  mtl_buffer_release(storage->buffer);  // -1
  storage->buffer = value->buffer;
  storage->offset_bytes = value->offset_bytes;
  storage->base =
      (char *)mtl_buffer_contents(value->buffer) + value->offset_bytes;
  fold_value_release(before);  // -1
  const mtl_status status = mtl_memory_free(pooled);
  (void)status;  // it is our buffer, so the call cannot fail
}

// --- The table ---------------------------------------------------------------

static uint64_t bytes_of(const fold_key *key) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < key->result_count; ++i) {
    bytes += key->results[i]->size_bytes;
  }
  return bytes;
}

void fold_key_delete(fold_key *key) {
  if (key) {
    for (uint32_t i = 0; i < key->result_count; ++i) {
      fold_value_release(key->results[i]);  // -1
    }
    mtl_pipeline_release(key->pipeline);  // -1
    free(key);
  }
}

static bool is_same(const fold_key *a, const fold_key *b) {
  return a->hash == b->hash && a->pipeline == b->pipeline &&
         a->word_count == b->word_count &&
         memcmp(a->words, b->words, a->word_count * sizeof *a->words) == 0;
}

static fold_key *find(const fold_key *key) {
  fold_key *at = buckets[key->hash % BUCKET_COUNT];
  while (at && !is_same(at, key)) {
    at = at->next;
  }
  return at;
}

bool fold_value_is_there(const fold_value *value) {
  // Acquire: pairs with the release in fold_dispatch.c.
  return atomic_load_explicit(&value->is_there, memory_order_acquire);
}

bool fold_table_find(const fold_key *key, fold_value **results,
                     bool *out_is_new) {
  pthread_mutex_lock(&lock);
  const fold_key *found = find(key);
  *out_is_new = !found;
  bool all_are_there = found != NULL;
  for (uint32_t i = 0; found && i < found->result_count; ++i) {
    all_are_there = all_are_there && fold_value_is_there(found->results[i]);
  }
  for (uint32_t i = 0; all_are_there && i < found->result_count; ++i) {
    results[i] = fold_value_retain(found->results[i]);  // +1
  }
  pthread_mutex_unlock(&lock);
  return all_are_there;
}

void fold_table_add(fold_key *key) {
  const uint64_t bytes = bytes_of(key);
  const uint64_t limit = mtl_constant_limit_bytes();
  pthread_mutex_lock(&lock);
  const bool fits = bytes <= limit && table_bytes <= limit - bytes;
  if (fits && !find(key)) {
    table_bytes += bytes;
    key->next = buckets[key->hash % BUCKET_COUNT];
    buckets[key->hash % BUCKET_COUNT] = key;
    key = NULL;
  }
  pthread_mutex_unlock(&lock);
  fold_key_delete(key);
}

static bool follows_from(const fold_key *key, uint64_t name) {
  // A name may equal another number in a key by chance: dropping one key too
  // many does no harm.
  for (uint32_t i = 0; i < key->word_count; ++i) {
    if (key->words[i] == name) {
      return true;
    }
  }
  return false;
}

// Takes out the entries that depend on name, chained.
static fold_key *take_out(uint64_t name) {
  fold_key *taken = NULL;
  for (int i = 0; i < BUCKET_COUNT; ++i) {
    for (fold_key **place = &buckets[i]; *place;) {
      fold_key *at = *place;
      if (!follows_from(at, name)) {
        place = &at->next;
        continue;
      }
      *place = at->next;
      table_bytes -= bytes_of(at);
      at->next = taken;
      taken = at;
    }
  }
  return taken;
}

static fold_key *last_of(fold_key *list) {
  while (list->next) {
    list = list->next;
  }
  return list;
}

void fold_table_forget(uint64_t name) {
  pthread_mutex_lock(&lock);
  fold_key *all = take_out(name);
  for (fold_key *at = all; at; at = at->next) {
    for (uint32_t i = 0; i < at->result_count; ++i) {
      last_of(at)->next = take_out(at->results[i]->name);
    }
  }
  pthread_mutex_unlock(&lock);
  while (all) {
    fold_key *next = all->next;
    fold_key_delete(all);
    all = next;
  }
}
