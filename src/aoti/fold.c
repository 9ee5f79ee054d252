// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fold.c: tracks which memory holds constants, and drops what was folded from
// them when it is written.
#include <pthread.h>
#include <stdlib.h>

#include "aoti/fold.h"

// A stretch of a buffer that was loaded (name 0), that was asked for by its
// name, or that runs write themselves.
typedef enum range_kind { LOADED, NAMED, WRITTEN } range_kind;

typedef struct range {
  struct range *next;
  range_kind kind;
  const mtl_buffer *buffer;  // freed before its address is used again
  size_t offset_bytes, length_bytes;
  uint64_t name;
} range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static range *ranges;

static bool overlaps(const range *it, const mtl_buffer *buffer,
                     size_t offset_bytes, size_t length_bytes) {
  return it->buffer == buffer &&
         it->offset_bytes < offset_bytes + length_bytes &&
         offset_bytes < it->offset_bytes + it->length_bytes;
}

static void add(range_kind kind, const mtl_buffer *buffer, size_t offset_bytes,
                size_t length_bytes, uint64_t name) {
  range *added = malloc(sizeof *added);
  if (added) {
    *added = (range){ranges, kind, buffer, offset_bytes, length_bytes, name};
    ranges = added;
  }
}

// Takes out the ranges of kind that overlap, chained.
static range *take_out(range_kind kind, const mtl_buffer *buffer,
                       size_t offset_bytes, size_t length_bytes) {
  range *taken = NULL;
  for (range **place = &ranges; *place;) {
    range *at = *place;
    if (at->kind != kind || !overlaps(at, buffer, offset_bytes, length_bytes)) {
      place = &at->next;
      continue;
    }
    *place = at->next;
    at->next = taken;
    taken = at;
  }
  return taken;
}

static void forget_all(range *list) {
  while (list) {
    range *next = list->next;
    if (list->name != 0) {
      fold_table_forget(list->name);
      mtl_constant_forget(list->name);
    }
    free(list);
    list = next;
  }
}

// Neighbours become one, so that a model's blob is one range.
static void add_to(range_kind kind, const mtl_buffer *buffer,
                   size_t offset_bytes, size_t length_bytes) {
  for (range *at = ranges; at; at = at->next) {
    const bool is_next = at->kind == kind && at->buffer == buffer &&
                         offset_bytes >= at->offset_bytes &&
                         offset_bytes <= at->offset_bytes + at->length_bytes;
    if (is_next) {
      const size_t end = offset_bytes + length_bytes - at->offset_bytes;
      at->length_bytes = end > at->length_bytes ? end : at->length_bytes;
      return;
    }
  }
  add(kind, buffer, offset_bytes, length_bytes, 0);
}

void fold_constants_loaded(mtl_buffer *buffer, size_t offset_bytes,
                           size_t length_bytes) {
  pthread_mutex_lock(&lock);
  range *gone = take_out(NAMED, buffer, offset_bytes, length_bytes);
  add_to(LOADED, buffer, offset_bytes, length_bytes);
  pthread_mutex_unlock(&lock);
  forget_all(gone);
}

void fold_constants_freed(mtl_buffer *buffer) {
  const size_t length_bytes = mtl_buffer_length(buffer);
  pthread_mutex_lock(&lock);
  range *named = take_out(NAMED, buffer, 0, length_bytes);
  range *loaded = take_out(LOADED, buffer, 0, length_bytes);
  range *written = take_out(WRITTEN, buffer, 0, length_bytes);
  pthread_mutex_unlock(&lock);
  forget_all(named);
  forget_all(loaded);
  forget_all(written);
}

// Returns the name of a range; 0 unless the model loaded all of it and no run
// writes to it. The lock is held.
static uint64_t name_of_range(const mtl_buffer *buffer, size_t offset_bytes,
                              size_t length_bytes) {
  bool is_loaded = false;
  for (const range *at = ranges; at; at = at->next) {
    if (!overlaps(at, buffer, offset_bytes, length_bytes)) {
      continue;
    }
    if (at->kind == WRITTEN) {
      return 0;
    }
    if (at->kind == NAMED && at->offset_bytes == offset_bytes &&
        at->length_bytes == length_bytes) {
      return at->name;
    }
    is_loaded =
        is_loaded ||
        (at->kind == LOADED && at->offset_bytes <= offset_bytes &&
         offset_bytes + length_bytes <= at->offset_bytes + at->length_bytes);
  }
  if (!is_loaded) {
    return 0;
  }
  const uint64_t name = mtl_constant_create();
  add(NAMED, buffer, offset_bytes, length_bytes, name);
  return name;
}

uint64_t fold_name_of(const aoti_storage *storage, size_t offset_bytes,
                      size_t length_bytes) {
  if (storage->value) {
    return storage->value->name;
  }
  if (!storage->is_constant || length_bytes == 0) {
    return 0;
  }
  pthread_mutex_lock(&lock);
  const uint64_t name = name_of_range(
      storage->buffer, storage->offset_bytes + offset_bytes, length_bytes);
  pthread_mutex_unlock(&lock);
  return name;
}

bool fold_is_constant(const mtl_buffer *buffer) {
  bool is_constant = false;
  pthread_mutex_lock(&lock);
  for (const range *at = ranges; at && !is_constant; at = at->next) {
    is_constant = at->kind == LOADED && at->buffer == buffer;
  }
  pthread_mutex_unlock(&lock);
  return is_constant;
}

// --- Writing -----------------------------------------------------------------

static void write_constant(const aoti_storage *storage, size_t offset_bytes,
                           size_t length_bytes) {
  const size_t start_bytes = storage->offset_bytes + offset_bytes;
  pthread_mutex_lock(&lock);
  range *gone = take_out(NAMED, storage->buffer, start_bytes, length_bytes);
  add_to(WRITTEN, storage->buffer, start_bytes, length_bytes);
  pthread_mutex_unlock(&lock);
  forget_all(gone);
}

// Copies the value into memory of the storage's own.
static mtl_status leave_value(aoti_storage *storage) {
  fold_value *value = storage->value;
  mtl_stream *stream = NULL;
  AOTI_TRY(mtl_stream_current(&stream));
  void *pooled = NULL;
  AOTI_TRY(mtl_memory_allocate(NULL, storage->size_bytes, MTL_MEMORY_FOR_STREAM,
                               &pooled));
  mtl_buffer *buffer = NULL;
  size_t offset_bytes = 0;
  mtl_status status = mtl_memory_find(pooled, &buffer, &offset_bytes);  // +1
  if (status == MTL_OK) {
    status = mtl_stream_copy(stream, value->buffer, value->offset_bytes, buffer,
                             offset_bytes, storage->size_bytes, MTL_SYNC_NONE);
  }
  if (status != MTL_OK) {
    mtl_buffer_release(buffer);  // -1
    const mtl_status freed = mtl_memory_free(pooled);
    (void)freed;
    return status;
  }
  mtl_buffer_release(storage->buffer);  // -1
  storage->buffer = buffer;
  storage->offset_bytes = offset_bytes;
  storage->base = pooled;
  storage->pooled = pooled;
  storage->value = NULL;
  fold_value_release(value);  // -1
  return MTL_OK;
}

mtl_status fold_before_write(aoti_storage *storage, size_t offset_bytes,
                             size_t length_bytes) {
  storage->is_fresh = false;
  if (storage->value) {
    return leave_value(storage);
  }
  if (storage->is_constant && length_bytes > 0) {
    write_constant(storage, offset_bytes, length_bytes);
  }
  return MTL_OK;
}
