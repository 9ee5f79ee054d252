// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.c: keeps the order of commits. Every enqueued or committed command
// buffer has a place in a list; committed ones at its head go to the driver, in
// order.
#include <stdlib.h>

#include "base/futex.h"
#include "runtime/log.h"
#include "runtime/record/recording.h"

enum { DEFAULT_COMMAND_BUFFERS = 64 };  // Metal: newCommandQueue

static void queue_destroy(mtli_object *object) {
  mtl_queue *queue = (mtl_queue *)object;
  mtl_device *device = queue->device;
  device->driver->queue_destroy(queue);
  mtli_lane_end(queue->lane);
  pthread_mutex_destroy(&queue->lock);
  mtl_log_state_release(queue->log_state);  // -1
  for (uint32_t i = 0; i < queue->residency_set_count; i++) {
    mtl_residency_set_release(queue->residency_sets[i]);  // -1
  }
  free(queue->label);
  free(queue);
  mtl_device_release(device);  // -1
}

mtl_status mtl_queue_create(mtl_device *device, const mtl_queue_desc *desc,
                            mtl_queue **out_queue) {
  if (!device || !out_queue) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_queue_create: %s is NULL",
                     device ? "out_queue" : "device");
  }
  *out_queue = NULL;
  MTL_TRY(mtli_device_check(device));
  static const mtl_queue_desc defaults;
  desc = desc ? desc : &defaults;
  uint64_t time_limit_ns = 0;
  MTL_TRY(mtli_time_limit(desc->time_limit_ns, &time_limit_ns));
  MTL_TRY(mtli_log_state_check(desc->log_state, device, "mtl_queue_create"));
  mtl_queue *queue = calloc(1, device->driver->queue_bytes);
  mtli_lane *lane = mtli_lane_create();
  if (!queue || !lane) {
    free(queue);
    mtli_lane_end(lane);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a queue");
  }
  mtli_object_init(&queue->object, queue_destroy);
  queue->device = device;
  queue->lane = lane;
  queue->max_command_buffers = desc->max_command_buffers
                                   ? desc->max_command_buffers
                                   : DEFAULT_COMMAND_BUFFERS;
  queue->time_limit_ns = time_limit_ns;
  queue->times_work = desc->times_work;
  queue->is_ordered_by_barriers = desc->is_ordered_by_barriers;
  pthread_mutex_init(&queue->lock, NULL);
  const mtl_status status = device->driver->queue_create(queue);
  if (status != MTL_OK) {
    pthread_mutex_destroy(&queue->lock);
    mtli_lane_end(lane);
    free(queue);
    return status;
  }
  queue->label = mtli_label_copy(desc->label);
  queue->log_state = mtl_log_state_retain(desc->log_state);  // +1
  mtl_device_retain(device);                                 // +1
  *out_queue = queue;
  return MTL_OK;
}

mtl_queue *mtl_queue_retain(mtl_queue *queue) {
  if (queue) {
    mtli_object_retain(&queue->object);
  }
  return queue;
}

void mtl_queue_release(mtl_queue *queue) {
  if (queue) {
    mtli_object_release(&queue->object);
  }
}

mtl_device *mtl_queue_device(const mtl_queue *queue) {
  return queue->device;
}

void mtl_queue_set_label(mtl_queue *queue, const char *label) {
  mtli_label_set(queue->device, &queue->label, label);
}

const char *mtl_queue_label(const mtl_queue *queue) {
  return queue->label ? queue->label : "";
}

static void place_add(mtl_queue *queue, mtl_command_buffer *command_buffer) {
  command_buffer->next = NULL;
  if (queue->last_place) {
    queue->last_place->next = command_buffer;
  } else {
    queue->first_place = command_buffer;
  }
  queue->last_place = command_buffer;
}

// Hands over the committed command buffers at the head of the queue. The held
// lock keeps the order.
static void submit_head(mtl_queue *queue) {
  while (queue->first_place &&
         mtli_recording_of(queue->first_place)->is_committed) {
    mtl_command_buffer *command_buffer = queue->first_place;
    queue->first_place = command_buffer->next;
    if (!queue->first_place) {
      queue->last_place = NULL;
    }
    queue->device->driver->queue_submit(queue, command_buffer);
  }
}

void mtli_queue_enqueue(mtl_queue *queue, mtl_command_buffer *command_buffer) {
  pthread_mutex_lock(&queue->lock);
  place_add(queue, command_buffer);
  pthread_mutex_unlock(&queue->lock);
}

void mtli_queue_commit(mtl_queue *queue, mtl_command_buffer *command_buffer) {
  mtli_recording *recording = mtli_recording_of(command_buffer);
  pthread_mutex_lock(&queue->lock);
  if (!recording->is_enqueued) {
    recording->is_enqueued = true;
    place_add(queue, command_buffer);
  }
  recording->is_committed = true;
  submit_head(queue);
  pthread_mutex_unlock(&queue->lock);
}

void mtli_queue_forget(mtl_queue *queue, mtl_command_buffer *command_buffer) {
  pthread_mutex_lock(&queue->lock);
  mtl_command_buffer *previous = NULL;
  mtl_command_buffer **link = &queue->first_place;
  while (*link != command_buffer) {
    previous = *link;
    link = &previous->next;
  }
  *link = command_buffer->next;
  if (queue->last_place == command_buffer) {
    queue->last_place = previous;
  }
  submit_head(queue);
  pthread_mutex_unlock(&queue->lock);
}

mtl_status mtli_queue_enter(mtl_queue *queue) {
  uint32_t in_flight = atomic_load(&queue->in_flight);
  for (;;) {
    if (in_flight < queue->max_command_buffers) {
      // Sequentially consistent, with creators: either leave sees the sleeper
      // or the sleeper sees the place that it left.
      if (atomic_compare_exchange_weak(&queue->in_flight, &in_flight,
                                       in_flight + 1)) {
        return MTL_OK;
      }
      continue;
    }
    MTL_TRY(mtli_queue_check_wait(queue, "mtl_command_buffer_create"));
    (void)queue->device->driver->queue_help(queue, NULL);
    in_flight = atomic_load(&queue->in_flight);
    if (in_flight < queue->max_command_buffers) {
      continue;
    }
    atomic_fetch_add(&queue->creators, 1);
    mtli_futex_wait(&queue->in_flight, in_flight, MTLI_FOREVER);
    atomic_fetch_sub(&queue->creators, 1);
    in_flight = atomic_load(&queue->in_flight);
  }
}

void mtli_queue_leave(mtl_queue *queue) {
  atomic_fetch_sub(&queue->in_flight, 1);
  if (atomic_load(&queue->creators)) {
    mtli_futex_wake(&queue->in_flight, 1);
  }
}
