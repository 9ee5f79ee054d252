// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// residency.c: the residency sets of queues and command buffers: which
// allocations a command buffer's kernels may use without naming them.
#include <pthread.h>

#include "mettle/residency_set.h"
#include "runtime/memory/residency_set.h"
#include "runtime/record/recording.h"

static mtl_status check_sets(const mtl_device *device,
                             mtl_residency_set *const *sets, size_t count,
                             const char *call) {
  for (size_t i = 0; i < count; i++) {
    if (!sets || !sets[i]) {
      return mtli_fail(MTL_INVALID_ARGUMENT, "%s: set %zu of %zu is NULL", call,
                       i, count);
    }
    if (mtl_residency_set_device(sets[i]) != device) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "%s: set '%s' is of device '%s', not of '%s'", call,
                       mtl_residency_set_label(sets[i]),
                       mtl_residency_set_device(sets[i])->info.name, device->info.name);
    }
  }
  return MTL_OK;
}

// Returns the index of a set among [count]; count if it is not there.
static uint32_t find_set(mtl_residency_set *const *sets, uint32_t count,
                         const mtl_residency_set *set) {
  uint32_t i = 0;
  while (i < count && sets[i] != set) {
    i++;
  }
  return i;
}

mtl_status mtl_queue_add_residency_sets(mtl_queue *queue,
                                        mtl_residency_set *const *sets,
                                        size_t count) {
  static const char call[] = "mtl_queue_add_residency_sets";
  if (!queue) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: queue is NULL", call);
  }
  MTL_TRY(mtli_device_check(queue->device));
  MTL_TRY(check_sets(queue->device, sets, count, call));
  bool fits = true;
  pthread_mutex_lock(&queue->lock);
  uint32_t now = queue->residency_set_count;
  for (size_t i = 0; i < count && fits; i++) {
    if (find_set(queue->residency_sets, now, sets[i]) < now) {
      continue;
    }
    fits = now < MTL_MAX_RESIDENCY_SETS;
    if (fits) {
      queue->residency_sets[now++] = mtl_residency_set_retain(sets[i]);  // +1
    }
  }
  // Relaxed: readers of the sets take the lock.
  atomic_store_explicit(&queue->residency_set_count, now, memory_order_relaxed);
  pthread_mutex_unlock(&queue->lock);
  return fits ? MTL_OK
              : mtli_fail(MTL_INVALID_ARGUMENT,
                          "%s: more than %d sets on one queue", call,
                          MTL_MAX_RESIDENCY_SETS);
}

mtl_status mtl_queue_remove_residency_sets(mtl_queue *queue,
                                           mtl_residency_set *const *sets,
                                           size_t count) {
  static const char call[] = "mtl_queue_remove_residency_sets";
  if (!queue) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: queue is NULL", call);
  }
  MTL_TRY(mtli_device_check(queue->device));
  MTL_TRY(check_sets(queue->device, sets, count, call));
  for (size_t i = 0; i < count; i++) {
    pthread_mutex_lock(&queue->lock);
    const uint32_t now = queue->residency_set_count;
    const uint32_t place = find_set(queue->residency_sets, now, sets[i]);
    if (place < now) {
      queue->residency_sets[place] = queue->residency_sets[now - 1];
      atomic_store_explicit(&queue->residency_set_count, now - 1,
                            memory_order_relaxed);
    }
    pthread_mutex_unlock(&queue->lock);
    if (place < now) {
      mtl_residency_set_release(sets[i]);  // -1
    }
  }
  return MTL_OK;
}

void mtl_command_buffer_use_residency_sets(mtl_command_buffer *command_buffer,
                                           mtl_residency_set *const *sets,
                                           size_t count) {
  static const char call[] = "mtl_command_buffer_use_residency_sets";
  if (!command_buffer) {
    return;
  }
  mtli_recording *recording = mtli_recording_of(command_buffer);
  if (recording->is_committed) {
    return;  // the list is immutable, its error no longer ours to set
  }
  const mtl_device *device = command_buffer->queue->device;
  if (check_sets(device, sets, count, call) != MTL_OK) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s",
                        mtl_last_error());
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (recording->residency_set_count == MTL_MAX_RESIDENCY_SETS) {
      mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                          "%s: more than %d sets in one command buffer", call,
                          MTL_MAX_RESIDENCY_SETS);
      return;
    }
    mtli_used_set *used = mtli_recording_allocate(recording, sizeof *used);
    if (!used) {
      return;
    }
    mtli_recording_keep(recording, mtli_residency_set_object(sets[i]));
    *used = (mtli_used_set){.next = recording->residency_sets, .set = sets[i]};
    recording->residency_sets = used;
    recording->residency_set_count++;
  }
}

// Appends a set's committed allocations to residents [*count]; the recording
// keeps them alive.
static void add_residents(mtli_recording *recording, mtl_residency_set *set,
                          mtli_residents **residents, size_t *count) {
  mtli_residents *now = mtli_residency_set_hold(set);
  if (!now) {
    return;
  }
  mtli_recording_keep(recording, &now->object);
  if (recording->error == MTL_OK) {  // otherwise it may not be kept
    residents[(*count)++] = now;
  }
  mtli_object_release(&now->object);  // -1
}

void mtli_recording_take_residents(mtli_recording *recording) {
  mtl_command_buffer *command_buffer = &recording->command_buffer;
  mtl_queue *queue = command_buffer->queue;
  if (!recording->residency_set_count &&
      !atomic_load_explicit(&queue->residency_set_count,
                            memory_order_relaxed)) {
    return;
  }
  mtli_residents **residents = mtli_recording_allocate(
      recording, 2 * MTL_MAX_RESIDENCY_SETS * sizeof *residents);
  if (!residents) {
    return;
  }
  size_t count = 0;
  for (mtli_used_set *used = recording->residency_sets; used;
       used = used->next) {
    add_residents(recording, used->set, residents, &count);
  }
  pthread_mutex_lock(&queue->lock);
  for (uint32_t i = 0; i < queue->residency_set_count; i++) {
    add_residents(recording, queue->residency_sets[i], residents, &count);
  }
  pthread_mutex_unlock(&queue->lock);
  command_buffer->residents = residents;
  command_buffer->resident_count = count;
}
