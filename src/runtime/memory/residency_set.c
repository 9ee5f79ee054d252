// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// residency_set.c: sets of allocations. What is committed is a list of its own
// that never changes, so that a command buffer only has to keep it.
// residency.c uses sets.
#include "mettle/residency_set.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/residency_set.h"
#include "runtime/objects.h"

// The result of a set's commit.
typedef struct committed {
  mtli_residents residents;
  mtl_allocation *allocations;  // [residents.count] +1 each
  uint64_t allocated_bytes;
} committed;

struct mtl_residency_set {
  mtli_object object;
  mtl_device *device;           // +1
  char *label;                  // under device->lock; NULL for none
  pthread_mutex_t lock;         // of all below
  mtl_allocation *allocations;  // [count] +1 each, with pending changes
  size_t count;
  size_t capacity;
  // Places in allocations, from 1, by a hash of their objects; 0 is empty.
  uint32_t *slots;  // [slot_count] a power of two, at least 2 * capacity
  size_t slot_count;
  bool has_changed;  // since the commit
  committed *now;    // +1; NULL before the first commit
  bool is_requested;
};

// --- allocations ------------------------------------------------------------

static const void *key_of(mtl_allocation allocation) {
  return allocation.buffer    ? (const void *)allocation.buffer
         : allocation.texture ? (const void *)allocation.texture
                              : (const void *)allocation.heap;
}

static mtl_buffer *memory_of(mtl_allocation allocation) {
  return allocation.buffer    ? allocation.buffer
         : allocation.texture ? allocation.texture->buffer
                              : mtli_heap_memory(allocation.heap);
}

static uint64_t bytes_of(mtl_allocation allocation) {
  return allocation.heap ? mtl_heap_current_allocated_bytes(allocation.heap)
                         : memory_of(allocation)->length_bytes;
}

static void retain(mtl_allocation allocation) {
  (void)mtl_buffer_retain(allocation.buffer);
  (void)mtl_texture_retain(allocation.texture);
  (void)mtl_heap_retain(allocation.heap);
}

static void release(mtl_allocation allocation) {
  mtl_buffer_release(allocation.buffer);
  mtl_texture_release(allocation.texture);
  mtl_heap_release(allocation.heap);
}

static mtl_status check(const mtl_residency_set *set,
                        const mtl_allocation *allocations, size_t count,
                        const char *call) {
  if (!set || (!allocations && count)) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     set ? "allocations" : "set");
  }
  MTL_TRY(mtli_device_check(set->device));
  for (size_t i = 0; i < count; i++) {
    const mtl_allocation *it = &allocations[i];
    const int objects = !!it->buffer + !!it->texture + !!it->heap;
    if (objects != 1) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "%s: allocation %zu of %zu names %d objects, not one",
                       call, i, count, objects);
    }
    const mtl_device *device = memory_of(*it)->device;
    if (device != set->device) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "%s: allocation %zu of %zu is of device '%s', the set "
                       "of '%s'",
                       call, i, count, device->info.name,
                       set->device->info.name);
    }
  }
  return MTL_OK;
}

// --- the hash: the lock is held ---------------------------------------------

// Finds the hash table's slot of an object by linear probing: its own, or the
// empty one to insert it into.
static size_t slot_of(const mtl_residency_set *set, const void *key) {
  const uint64_t mixed =
      (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
  size_t slot = (size_t)(mixed >> 32) & (set->slot_count - 1);
  while (set->slots[slot] &&
         key_of(set->allocations[set->slots[slot] - 1]) != key) {
    slot = (slot + 1) & (set->slot_count - 1);
  }
  return slot;
}

static bool has(const mtl_residency_set *set, const void *key) {
  return set->slot_count && set->slots[slot_of(set, key)];
}

static bool make_room(mtl_residency_set *set, size_t wanted) {
  if (wanted <= set->capacity) {
    return true;
  }
  size_t capacity = set->capacity ? set->capacity : 16;
  while (capacity < wanted) {
    capacity *= 2;
  }
  uint32_t *slots = calloc(2 * capacity, sizeof *slots);
  mtl_allocation *grown =
      slots ? realloc(set->allocations, capacity * sizeof *grown) : NULL;
  if (!grown) {
    free(slots);
    return false;
  }
  free(set->slots);
  set->slots = slots;
  set->slot_count = 2 * capacity;
  set->allocations = grown;
  set->capacity = capacity;
  for (size_t i = 0; i < set->count; i++) {
    set->slots[slot_of(set, key_of(grown[i]))] = (uint32_t)i + 1;
  }
  return true;
}

// Empties a slot, and moves back the entries that it had displaced.
static void clear_slot(mtl_residency_set *set, size_t slot) {
  const size_t mask = set->slot_count - 1;
  set->slots[slot] = 0;
  for (size_t i = (slot + 1) & mask; set->slots[i]; i = (i + 1) & mask) {
    const uint32_t place = set->slots[i];
    set->slots[i] = 0;
    set->slots[slot_of(set, key_of(set->allocations[place - 1]))] = place;
  }
}

// Removes the entry of a slot; the reference becomes the caller's.
static void take_out(mtl_residency_set *set, size_t slot) {
  const size_t place = set->slots[slot] - 1;
  const size_t last = set->count - 1;
  clear_slot(set, slot);
  if (place != last) {
    const size_t moved = slot_of(set, key_of(set->allocations[last]));
    set->allocations[place] = set->allocations[last];
    set->slots[moved] = (uint32_t)place + 1;
  }
  set->count--;
}

// --- life -------------------------------------------------------------------

static void committed_destroy(mtli_object *object) {
  committed *it = (committed *)object;
  for (size_t i = 0; i < it->residents.count; i++) {
    release(it->allocations[i]);  // -1
  }
  free(it->residents.buffers);
  free(it->allocations);
  free(it);
}

static void committed_release(committed *it) {
  if (it) {
    mtli_object_release(&it->residents.object);
  }
}

static void set_destroy(mtli_object *object) {
  mtl_residency_set *set = (mtl_residency_set *)object;
  mtl_device *device = set->device;
  committed_release(set->now);  // -1
  for (size_t i = 0; i < set->count; i++) {
    release(set->allocations[i]);  // -1
  }
  pthread_mutex_destroy(&set->lock);
  free(set->allocations);
  free(set->slots);
  free(set->label);
  free(set);
  mtl_device_release(device);  // -1
}

mtl_status mtl_residency_set_create(mtl_device *device,
                                    const mtl_residency_set_desc *desc,
                                    mtl_residency_set **out_set) {
  if (!device || !out_set) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_residency_set_create: %s is "
                     "NULL",
                     device ? "out_set" : "device");
  }
  *out_set = NULL;
  MTL_TRY(mtli_device_check(device));
  mtl_residency_set *set = calloc(1, sizeof *set);
  const size_t capacity = desc ? desc->initial_capacity : 0;
  if (!set || capacity > UINT32_MAX / 2 || !make_room(set, capacity)) {
    free(set);
    return mtli_fail(MTL_OUT_OF_MEMORY,
                     "no memory for a residency set of %zu allocations",
                     capacity);
  }
  mtli_object_init(&set->object, set_destroy);
  pthread_mutex_init(&set->lock, NULL);
  set->device = mtl_device_retain(device);  // +1
  set->label = mtli_label_copy(desc ? desc->label : NULL);
  *out_set = set;
  return MTL_OK;
}

mtl_residency_set *mtl_residency_set_retain(mtl_residency_set *set) {
  if (set) {
    mtli_object_retain(&set->object);
  }
  return set;
}

void mtl_residency_set_release(mtl_residency_set *set) {
  if (set) {
    mtli_object_release(&set->object);
  }
}

mtl_device *mtl_residency_set_device(const mtl_residency_set *set) {
  return set->device;
}

void mtl_residency_set_set_label(mtl_residency_set *set, const char *label) {
  mtli_label_set(set->device, &set->label, label);
}

const char *mtl_residency_set_label(const mtl_residency_set *set) {
  return set->label ? set->label : "";
}

// --- changes ----------------------------------------------------------------

mtl_status mtl_residency_set_add(mtl_residency_set *set,
                                 const mtl_allocation *allocations,
                                 size_t count) {
  static const char call[] = "mtl_residency_set_add";
  MTL_TRY(check(set, allocations, count, call));
  pthread_mutex_lock(&set->lock);
  if (count > UINT32_MAX / 2 - set->count ||
      !make_room(set, set->count + count)) {
    pthread_mutex_unlock(&set->lock);
    return mtli_fail(MTL_OUT_OF_MEMORY, "%s: no memory for %zu more", call,
                     count);
  }
  for (size_t i = 0; i < count; i++) {
    const size_t slot = slot_of(set, key_of(allocations[i]));
    if (!set->slots[slot]) {
      retain(allocations[i]);  // +1
      set->allocations[set->count++] = allocations[i];
      set->slots[slot] = (uint32_t)set->count;
      set->has_changed = true;
    }
  }
  pthread_mutex_unlock(&set->lock);
  return MTL_OK;
}

mtl_status mtl_residency_set_remove(mtl_residency_set *set,
                                    const mtl_allocation *allocations,
                                    size_t count) {
  MTL_TRY(check(set, allocations, count, "mtl_residency_set_remove"));
  for (size_t i = 0; i < count; i++) {
    pthread_mutex_lock(&set->lock);
    const void *key = key_of(allocations[i]);
    const bool is_there = has(set, key);
    if (is_there) {
      take_out(set, slot_of(set, key));
      set->has_changed = true;
    }
    pthread_mutex_unlock(&set->lock);
    if (is_there) {
      release(allocations[i]);  // -1
    }
  }
  return MTL_OK;
}

void mtl_residency_set_remove_all(mtl_residency_set *set) {
  pthread_mutex_lock(&set->lock);
  mtl_allocation *before = set->allocations;
  const size_t count = set->count;
  set->has_changed |= count != 0;
  set->allocations = NULL;
  set->count = 0;
  set->capacity = 0;
  free(set->slots);
  set->slots = NULL;
  set->slot_count = 0;
  pthread_mutex_unlock(&set->lock);
  for (size_t i = 0; i < count; i++) {
    release(before[i]);  // -1
  }
  free(before);
}

// Makes a list of the set's members. The lock is held.
static committed *make_list(const mtl_residency_set *set) {
  committed *it = calloc(1, sizeof *it);
  if (!it) {
    return NULL;
  }
  mtli_object_init(&it->residents.object, committed_destroy);
  it->allocations = malloc((set->count + 1) * sizeof *it->allocations);
  it->residents.buffers =
      malloc((set->count + 1) * sizeof *it->residents.buffers);
  if (!it->allocations || !it->residents.buffers) {
    committed_release(it);
    return NULL;
  }
  it->residents.count = set->count;
  for (size_t i = 0; i < set->count; i++) {
    retain(set->allocations[i]);  // +1
    it->allocations[i] = set->allocations[i];
    it->residents.buffers[i] = memory_of(set->allocations[i]);
    it->allocated_bytes += bytes_of(set->allocations[i]);
  }
  return it;
}

static void prefault(const committed *it) {
  for (size_t i = 0; it && i < it->residents.count; i++) {
    mtl_buffer *buffer = it->residents.buffers[i];
    // Relaxed: doing it twice is harmless.
    if (!atomic_exchange_explicit(&buffer->is_prefaulted, true,
                                  memory_order_relaxed)) {
      // Only advice: on a device that cannot prefault, the first access does
      // it.
      (void)buffer->device->driver->buffer_advise(buffer, MTLI_ADVICE_PREFAULT);
    }
  }
}

// Returns the committed list with one more reference, or NULL.
static committed *hold_now(mtl_residency_set *set) {
  pthread_mutex_lock(&set->lock);
  committed *now = set->now;
  if (now) {
    mtli_object_retain(&now->residents.object);  // +1
  }
  pthread_mutex_unlock(&set->lock);
  return now;
}

mtli_residents *mtli_residency_set_hold(mtl_residency_set *set) {
  committed *now = hold_now(set);
  return now ? &now->residents : NULL;
}

mtli_object *mtli_residency_set_object(mtl_residency_set *set) {
  return &set->object;
}

static void prefault_now(mtl_residency_set *set) {
  committed *now = hold_now(set);
  prefault(now);
  committed_release(now);  // -1
}

mtl_status mtl_residency_set_commit(mtl_residency_set *set) {
  MTL_TRY(check(set, NULL, 0, "mtl_residency_set_commit"));
  pthread_mutex_lock(&set->lock);
  committed *before = NULL;
  bool is_there = true;
  if (set->has_changed) {
    committed *made = make_list(set);
    is_there = made != NULL;
    if (made) {
      before = set->now;
      set->now = made;
      set->has_changed = false;
    }
  }
  const bool is_requested = set->is_requested;
  pthread_mutex_unlock(&set->lock);
  committed_release(before);  // -1
  if (!is_there) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a residency set's list");
  }
  if (is_requested) {
    prefault_now(set);
  }
  return MTL_OK;
}

static void request(mtl_residency_set *set, bool is_requested) {
  pthread_mutex_lock(&set->lock);
  set->is_requested = is_requested;
  pthread_mutex_unlock(&set->lock);
}

void mtl_residency_set_request(mtl_residency_set *set) {
  request(set, true);
  if (!mtli_device_is_inherited(set->device)) {
    prefault_now(set);
  }
}

void mtl_residency_set_end(mtl_residency_set *set) {
  request(set, false);
}

// --- questions --------------------------------------------------------------

static pthread_mutex_t *lock_of(const mtl_residency_set *set) {
  return &((mtl_residency_set *)set)->lock;
}

size_t mtl_residency_set_count(const mtl_residency_set *set) {
  pthread_mutex_lock(lock_of(set));
  const size_t count = set->count;
  pthread_mutex_unlock(lock_of(set));
  return count;
}

bool mtl_residency_set_contains(const mtl_residency_set *set,
                                mtl_allocation allocation) {
  const void *key = key_of(allocation);
  pthread_mutex_lock(lock_of(set));
  const bool is_there = key && has(set, key);
  pthread_mutex_unlock(lock_of(set));
  return is_there;
}

size_t mtl_residency_set_allocations(const mtl_residency_set *set,
                                     mtl_allocation *out_allocations,
                                     size_t capacity) {
  pthread_mutex_lock(lock_of(set));
  const size_t count = set->count;
  for (size_t i = 0; i < count && i < capacity; i++) {
    out_allocations[i] = set->allocations[i];
  }
  pthread_mutex_unlock(lock_of(set));
  return count;
}

uint64_t mtl_residency_set_allocated_bytes(const mtl_residency_set *set) {
  pthread_mutex_lock(lock_of(set));
  const uint64_t bytes = set->now ? set->now->allocated_bytes : 0;
  pthread_mutex_unlock(lock_of(set));
  return bytes;
}
