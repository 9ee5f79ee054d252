// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.c: a thread for each queue, which executes command buffers from a list.
// It may drop the last reference to its own queue: so it works on a worker
// object that outlives the queue.
#include <stdlib.h>

#include "base/thread.h"
#include "drivers/null/null.h"

struct null_worker {
  mtli_object object;  // one reference of the queue, one of the thread
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  mtl_command_buffer *first;
  mtl_command_buffer *last;
  bool is_ending;
};

static void worker_destroy(mtli_object *object) {
  null_worker *worker = (null_worker *)object;
  pthread_cond_destroy(&worker->changed);
  pthread_mutex_destroy(&worker->lock);
  free(worker);
}

// Waits for the next command buffer; NULL when the queue is gone.
static mtl_command_buffer *worker_next(null_worker *worker) {
  pthread_mutex_lock(&worker->lock);
  while (!worker->first && !worker->is_ending) {
    pthread_cond_wait(&worker->changed, &worker->lock);
  }
  mtl_command_buffer *command_buffer = worker->first;
  if (command_buffer) {
    worker->first = command_buffer->next;
    worker->last = worker->first ? worker->last : NULL;
  }
  pthread_mutex_unlock(&worker->lock);
  return command_buffer;
}

static void *worker_main(void *context) {
  null_worker *worker = context;
  mtl_command_buffer *command_buffer;
  while ((command_buffer = worker_next(worker))) {
    null_commands_run(command_buffer);
  }
  mtli_object_release(&worker->object);  // -1
  return NULL;
}

mtl_status null_queue_create(mtl_queue *queue) {
  null_worker *worker = calloc(1, sizeof *worker);
  if (!worker) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a queue");
  }
  mtli_object_init(&worker->object, worker_destroy);
  pthread_mutex_init(&worker->lock, NULL);
  pthread_cond_init(&worker->changed, NULL);
  mtli_object_retain(&worker->object);  // +1, the thread's
  if (!mtli_thread_start(&worker->thread, "mettle-null", worker_main, worker)) {
    worker_destroy(&worker->object);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no thread for a queue");
  }
  ((null_queue *)queue)->worker = worker;
  return MTL_OK;
}

void null_queue_destroy(mtl_queue *queue) {
  null_worker *worker = ((null_queue *)queue)->worker;
  if (mtli_device_is_inherited(queue->device)) {
    free(worker);  // its thread and the state of its lock are lost
    return;
  }
  pthread_mutex_lock(&worker->lock);
  worker->is_ending = true;
  pthread_cond_signal(&worker->changed);
  pthread_mutex_unlock(&worker->lock);
  mtli_thread_end(worker->thread);
  mtli_object_release(&worker->object);  // -1
}

void null_queue_submit(mtl_queue *queue, mtl_command_buffer *command_buffer) {
  null_worker *worker = ((null_queue *)queue)->worker;
  command_buffer->next = NULL;
  pthread_mutex_lock(&worker->lock);
  if (worker->last) {
    worker->last->next = command_buffer;
  } else {
    worker->first = command_buffer;
  }
  worker->last = command_buffer;
  pthread_cond_signal(&worker->changed);
  pthread_mutex_unlock(&worker->lock);
}
