// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// buffer_pool.c: keeps freed buffers of a device for the next allocation. Best
// fit by size; least recently used ones go when the pool is over its limit.
#include <stdlib.h>
#include <string.h>

#include "stream/stream_parts.h"

typedef struct kept {
  mtl_buffer *buffer;  // +1
  size_t length_bytes;
  uint64_t age;  // the pool's clock when it came back
  stream_mark marks[STREAM_MARKS_MAX];
  size_t mark_count;
} kept;

typedef struct device_pool {
  struct device_pool *next;
  mtl_device *device;  // +1, for good
  kept **kept;         // [count] by length, shortest first; malloc'ed
  size_t capacity;
  uint64_t clock;
  mtl_pool_statistics statistics;
} device_pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static device_pool *pools;

uint64_t stream_bound_bytes(const char *variable, uint32_t otherwise_mib) {
  const char *text = getenv(variable);
  char *end = NULL;
  const unsigned long long mib = text ? strtoull(text, &end, 10) : 0;
  const bool is_number = text && end != text && *end == '\0';
  return (uint64_t)(is_number && mib <= UINT32_MAX ? mib : otherwise_mib) << 20;
}

// Finds the device's pool, made at the first call; NULL without memory.
static device_pool *pool_of(mtl_device *device) {
  device_pool *found = pools;
  while (found && found->device != device) {
    found = found->next;
  }
  if (!found && (found = calloc(1, sizeof *found))) {
    found->device = mtl_device_retain(device);  // +1
    found->statistics.limit_bytes = stream_bound_bytes("METTLE_POOL_MB", 256);
    found->next = pools;
    pools = found;
  }
  return found;
}

// Returns the first kept buffer of at least length_bytes.
static size_t lower_bound(const device_pool *pool, size_t length_bytes) {
  size_t low = 0;
  size_t high = pool->statistics.kept_buffers;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (pool->kept[middle]->length_bytes < length_bytes) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static kept *take_out(device_pool *pool, size_t index) {
  kept *taken = pool->kept[index];
  pool->statistics.kept_buffers -= 1;
  pool->statistics.kept_bytes -= taken->length_bytes;
  memmove(pool->kept + index, pool->kept + index + 1,
          (pool->statistics.kept_buffers - index) * sizeof *pool->kept);
  return taken;
}

static void kept_delete(kept *old) {
  stream_marks_release(old->marks, old->mark_count);
  mtl_buffer_release(old->buffer);  // -1
  free(old);
}

// Lengths come in steps of an eighth of their power of two, 256 bytes at the
// least, so that what is freed fits what comes next. Buffers take whole pages
// anyway, and end with one: what a kernel reaches past a tensor is a fault.
static size_t round_up(size_t length_bytes) {
  size_t step = 256;
  while (step < length_bytes / 8) {
    step *= 2;
  }
  return length_bytes > SIZE_MAX - step
             ? length_bytes
             : (length_bytes + step - 1) / step * step;
}

// Finds the best fit that whoever asks may use: no more than twice as long
// and 32 KiB longer.  // as ExecuTorch's pool
static kept *find_fit(device_pool *pool, size_t length_bytes,
                      const mtl_stream *stream) {
  const size_t slack =
      length_bytes < (32u << 10) ? length_bytes : (size_t)32 << 10;
  for (size_t i = lower_bound(pool, length_bytes);
       i < pool->statistics.kept_buffers &&
       pool->kept[i]->length_bytes - length_bytes <= slack;
       ++i) {
    const kept *candidate = pool->kept[i];
    if (stream_marks_passed(candidate->marks, candidate->mark_count, stream)) {
      return take_out(pool, i);
    }
  }
  return NULL;
}

static void count_use(mtl_device *device, size_t length_bytes, bool is_hit) {
  pthread_mutex_lock(&lock);
  device_pool *pool = pool_of(device);
  if (pool) {
    *(is_hit ? &pool->statistics.hits : &pool->statistics.misses) += 1;
    pool->statistics.used_buffers += 1;
    pool->statistics.used_bytes += length_bytes;
  }
  pthread_mutex_unlock(&lock);
}

mtl_status buffer_pool_take(mtl_stream *stream, size_t length_bytes,
                            mtl_memory_use use, mtl_buffer **out_buffer) {
  mtl_device *device = mtl_stream_device(stream);
  const size_t wanted_bytes = round_up(length_bytes);
  pthread_mutex_lock(&lock);
  device_pool *pool = pool_of(device);
  kept *fit = pool ? find_fit(pool, wanted_bytes,
                              use == MTL_MEMORY_FOR_STREAM ? stream : NULL)
                   : NULL;
  pthread_mutex_unlock(&lock);
  if (fit) {
    *out_buffer = mtl_buffer_retain(fit->buffer);  // +1
    count_use(device, fit->length_bytes, true);
    kept_delete(fit);
    return MTL_OK;
  }
  const mtl_buffer_desc desc = {.length_bytes = wanted_bytes,
                                .guard_alignment_bytes = 16};
  STREAM_TRY(mtl_buffer_create(device, &desc, out_buffer));
  count_use(device, wanted_bytes, false);
  return MTL_OK;
}

static size_t least_recent(const device_pool *pool) {
  size_t oldest = 0;
  for (size_t i = 1; i < pool->statistics.kept_buffers; ++i) {
    if (pool->kept[i]->age < pool->kept[oldest]->age) {
      oldest = i;
    }
  }
  return oldest;
}

// Removes the buffers over the limit, chained through *out_evicted
// [*out_count].
static void evict(device_pool *pool, kept ***out_evicted, size_t *out_count) {
  *out_evicted = NULL;
  *out_count = 0;
  if (pool->statistics.kept_bytes <= pool->statistics.limit_bytes) {
    return;
  }
  *out_evicted = malloc(pool->statistics.kept_buffers * sizeof **out_evicted);
  while (*out_evicted &&
         pool->statistics.kept_bytes > pool->statistics.limit_bytes) {
    (*out_evicted)[(*out_count)++] = take_out(pool, least_recent(pool));
    pool->statistics.evictions += 1;
  }
}

static void delete_all(kept **evicted, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    kept_delete(evicted[i]);
  }
  free(evicted);
}

static bool put_in(device_pool *pool, kept *added) {
  const size_t count = pool->statistics.kept_buffers;
  if (count == pool->capacity) {
    const size_t capacity = pool->capacity ? 2 * pool->capacity : 64;
    kept **grown = realloc(pool->kept, capacity * sizeof *grown);
    if (!grown) {
      return false;
    }
    pool->kept = grown;
    pool->capacity = capacity;
  }
  const size_t index = lower_bound(pool, added->length_bytes);
  memmove(pool->kept + index + 1, pool->kept + index,
          (count - index) * sizeof *pool->kept);
  pool->kept[index] = added;
  added->age = ++pool->clock;
  pool->statistics.kept_buffers += 1;
  pool->statistics.kept_bytes += added->length_bytes;
  return true;
}

void buffer_pool_give(mtl_buffer *buffer) {
  mtl_device *device = mtl_buffer_device(buffer);
  const size_t length_bytes = mtl_buffer_length(buffer);
  kept *added = calloc(1, sizeof *added);
  bool is_kept = added != NULL;
  if (added) {
    added->buffer = buffer;
    added->length_bytes = length_bytes;
    is_kept = stream_marks_take(device, added->marks, &added->mark_count);
  }
  kept **evicted = NULL;
  size_t evicted_count = 0;
  pthread_mutex_lock(&lock);
  device_pool *pool = pool_of(device);
  if (pool) {
    pool->statistics.used_buffers -= 1;
    pool->statistics.used_bytes -= length_bytes;
    // A single buffer must not push out all others.
    is_kept = is_kept && length_bytes <= pool->statistics.limit_bytes / 2 &&
              put_in(pool, added);
    evict(pool, &evicted, &evicted_count);
  }
  pthread_mutex_unlock(&lock);
  delete_all(evicted, evicted_count);
  if (added && !(pool && is_kept)) {
    kept_delete(added);
  } else if (!added) {
    mtl_buffer_release(buffer);  // -1
  }
}

mtl_status mtl_pool_get_statistics(mtl_device *device,
                                   mtl_pool_statistics *out_statistics) {
  if (!device || !out_statistics) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "mtl_pool_get_statistics: %s is NULL",
                    device ? "out_statistics" : "device");
  }
  pthread_mutex_lock(&lock);
  const device_pool *pool = pool_of(device);
  *out_statistics = pool ? pool->statistics : (mtl_pool_statistics){0};
  pthread_mutex_unlock(&lock);
  return MTL_OK;
}

mtl_status mtl_pool_set_limit(mtl_device *device, uint64_t limit_bytes) {
  if (!device) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "mtl_pool_set_limit: device is NULL");
  }
  kept **evicted = NULL;
  size_t evicted_count = 0;
  pthread_mutex_lock(&lock);
  device_pool *pool = pool_of(device);
  if (pool) {
    pool->statistics.limit_bytes = limit_bytes;
    evict(pool, &evicted, &evicted_count);
  }
  pthread_mutex_unlock(&lock);
  delete_all(evicted, evicted_count);
  return pool ? MTL_OK : mtl_fail(MTL_OUT_OF_MEMORY, "a pool: no memory");
}
