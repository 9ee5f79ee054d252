// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.c: shares out a stream's two roles: submitting to it, and waiting for
// it.
//
// Both are taken under the worker's lock: the first by whoever finds a command
// buffer that is not yet submitted, the second by whoever finds a step. Two
// threads sleep until there is one; a client that waits is usually sooner.
// Either may drop the last reference to the queue: so they work on an object of
// its own.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/thread.h"
#include "drivers/cuda/cuda.h"

enum {
  // How long a thread spins before it sleeps, as in steps.c.
  SPIN_NS = 150 * 1000,
  // The time that a thread leaves to a waiting client before it acts itself:
  // the client has the data in its processor's caches.
  GRACE_NS = 1500,
};

static uint32_t news_of(cuda_worker *worker) {
  return atomic_load_explicit(&worker->news, memory_order_relaxed);
}

// --- roles ------------------------------------------------------------------

// Takes up the next command buffer if nobody else is at it. Only up to last, if
// that is not NULL and was not taken up before: then it is looked for. The lock
// is held, and is again at the end.
static bool submit_one(cuda_worker *worker) {
  mtl_command_buffer *command_buffer = worker->first;
  if (!command_buffer || worker->is_submitting) {
    return false;
  }
  worker->first = command_buffer->next;
  worker->last = worker->first ? worker->last : NULL;
  worker->is_submitting = true;
  pthread_mutex_unlock(&worker->lock);
  cuda_enter(worker->device);
  cuda_commands_run(worker, command_buffer);
  cuda_leave();
  pthread_mutex_lock(&worker->lock);
  worker->is_submitting = false;
  cuda_worker_tell_news(worker);
  if (worker->first && worker->sleepers[0]) {
    pthread_cond_signal(&worker->submitted);
  }
  return true;
}

static bool step_one(cuda_worker *worker) {
  cuda_step *step = worker->first_step;
  if (!step || worker->is_stepping) {
    return false;
  }
  worker->first_step = step->next;
  worker->last_step = worker->first_step ? worker->last_step : NULL;
  worker->is_stepping = true;
  pthread_mutex_unlock(&worker->lock);
  cuda_enter(worker->device);
  cuda_step_do(worker, step);
  cuda_leave();
  pthread_mutex_lock(&worker->lock);
  worker->is_stepping = false;
  cuda_worker_tell_news(worker);
  cuda_worker_wake_stepper(worker);
  return true;
}

// True if threads may spin for work: there are processors to spare.
static bool may_look_out(void) {
  enum { LEAST = 4 };
  static _Atomic long processors;
  // Relaxed: every thread computes the same value.
  long known = atomic_load_explicit(&processors, memory_order_relaxed);
  if (!known) {
    known = sysconf(_SC_NPROCESSORS_ONLN);
    atomic_store_explicit(&processors, known, memory_order_relaxed);
  }
  return known >= LEAST;
}

// Spins for news for a while before sleeping. Releases the lock meanwhile. True
// if there may be something to do.
static bool look_out(cuda_worker *worker, uint32_t seen) {
  if (!may_look_out()) {
    return false;
  }
  const uint64_t end_ns = mtli_now_ns() + SPIN_NS;
  bool is_news = false;
  pthread_mutex_unlock(&worker->lock);
  do {
    for (int i = 0; i < 32 && !is_news; i++) {
      mtli_pause();
      // Relaxed: the lock orders the data that it announces.
      is_news =
          atomic_load_explicit(&worker->news, memory_order_relaxed) != seen;
    }
  } while (!is_news && mtli_now_ns() < end_ns);
  pthread_mutex_lock(&worker->lock);
  return is_news;
}

// Yields a role to a waiting client: its processor's caches have the data. Not
// if another queue may wait. Releases the lock meanwhile.
static void give_way(cuda_worker *worker, int role) {
  if (role == 1 && worker->first_step &&
      worker->first_step->kind != CUDA_STEP_END) {
    return;
  }
  pthread_mutex_unlock(&worker->lock);
  const uint64_t end_ns = mtli_now_ns() + GRACE_NS;
  while (mtli_now_ns() < end_ns) {
    mtli_pause();
  }
  pthread_mutex_lock(&worker->lock);
}

static void serve(cuda_worker *worker, int role, bool (*do_one)(cuda_worker *),
                  pthread_cond_t *news) {
  pthread_mutex_lock(&worker->lock);
  for (;;) {
    const uint32_t seen = news_of(worker);
    if (do_one(worker)) {
      continue;
    }
    if (worker->is_ending) {
      break;
    }
    if (look_out(worker, seen)) {
      give_way(worker, role);
      continue;
    }
    if (news_of(worker) == seen) {
      worker->sleepers[role]++;
      pthread_cond_wait(news, &worker->lock);
      worker->sleepers[role]--;
    }
  }
  pthread_mutex_unlock(&worker->lock);
  mtli_object_release(&worker->object);  // -1, the thread's
}

static void *submitter_main(void *context) {
  cuda_worker *worker = context;
  serve(worker, 0, submit_one, &worker->submitted);
  return NULL;
}

static void *stepper_main(void *context) {
  cuda_worker *worker = context;
  serve(worker, 1, step_one, &worker->stepped);
  return NULL;
}

// True if the command buffer waits for someone to take it up. The lock is held.
static bool is_pending(const cuda_worker *worker,
                       const mtl_command_buffer *command_buffer) {
  const mtl_command_buffer *at = worker->first;
  while (at && at != command_buffer) {
    at = at->next;
  }
  return at != NULL;
}

static bool is_completed(mtl_command_buffer *command_buffer) {
  return mtl_command_buffer_get_status(command_buffer) >=
         MTL_COMMAND_BUFFER_COMPLETED;
}

mtl_status cuda_queue_help(mtl_queue *base,
                           mtl_command_buffer *command_buffer) {
  cuda_worker *worker = ((cuda_queue *)base)->worker;
  if (!command_buffer) {
    return MTL_OK;
  }
  mtli_object_retain(&worker->object);  // +1
  pthread_mutex_lock(&worker->lock);
  worker->helpers++;
  for (;;) {
    const uint32_t seen = news_of(worker);
    if (is_completed(command_buffer) ||
        !((is_pending(worker, command_buffer) && submit_one(worker)) ||
          step_one(worker) || look_out(worker, seen))) {
      break;
    }
  }
  worker->helpers--;
  cuda_worker_wake_stepper(worker);
  pthread_mutex_unlock(&worker->lock);
  mtli_object_release(&worker->object);  // -1
  return MTL_OK;
}

// --- queues -----------------------------------------------------------------

static void worker_destroy(mtli_object *object) {
  cuda_worker *worker = (cuda_worker *)object;
  pthread_cond_destroy(&worker->submitted);
  pthread_cond_destroy(&worker->stepped);
  pthread_mutex_destroy(&worker->lock);
  free(worker);
}

// The state of threads and lock is the parent's.
static void free_marks(cuda_worker *worker, bool is_inherited) {
  for (int i = 0; i < 2; i++) {
    while (worker->free_marks[i]) {
      cuda_mark *next = worker->free_marks[i]->next;
      if (!is_inherited) {
        cuda.cuEventDestroy(worker->free_marks[i]->event);
      }
      free(worker->free_marks[i]);
      worker->free_marks[i] = next;
    }
  }
}

static bool start_thread(cuda_worker *worker, int role) {
  mtli_object_retain(&worker->object);  // +1, the thread's
  if (mtli_thread_start(&worker->threads[role],
                        role == 0 ? "mettle-cuda" : "mettle-cuda-end",
                        role == 0 ? submitter_main : stepper_main, worker)) {
    return true;
  }
  mtli_object_release(&worker->object);  // -1
  return false;
}

static void end_threads(cuda_worker *worker, int count) {
  pthread_mutex_lock(&worker->lock);
  worker->is_ending = true;
  cuda_worker_tell_news(worker);
  pthread_cond_broadcast(&worker->submitted);
  pthread_cond_broadcast(&worker->stepped);
  pthread_mutex_unlock(&worker->lock);
  for (int i = 0; i < count; i++) {
    mtli_thread_end(worker->threads[i]);
  }
}

static void free_stream(cuda_worker *worker) {
  if (worker->stream) {
    // The word may still be on its way: its event comes before it.
    cuda.cuStreamSynchronize(worker->stream);
    cuda.cuStreamDestroy(worker->stream);
  }
  if (worker->word) {
    cuda_piece_give(&worker->device->pinned, sizeof *worker->word,
                    (uintptr_t)worker->word);
  }
}

mtl_status cuda_queue_create(mtl_queue *queue) {
  cuda_device *device = cuda_device_of(queue->device);
  if (cuda_lost_text()) {
    return mtli_fail(MTL_KERNEL_FAULT, "%s", cuda_lost_text());
  }
  cuda_worker *worker = calloc(1, sizeof *worker);
  if (!worker) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a queue");
  }
  mtli_object_init(&worker->object, worker_destroy);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  // Spins before it sleeps: the lock is never held for long, and to be woken
  // takes as long as four small command buffers.
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(&worker->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_cond_init(&worker->submitted, NULL);
  pthread_cond_init(&worker->stepped, NULL);
  worker->device = device;
  cuda_enter(device);
  uint64_t word = 0;
  mtl_status status =
      cuda_piece_take(&device->pinned, sizeof *worker->word, &word);
  if (status == MTL_OK) {
    worker->word = (_Atomic uint64_t *)(uintptr_t)word;
    atomic_init(worker->word, 0);
    status =
        cuda_done(cuda.cuStreamCreate(&worker->stream, CU_STREAM_NON_BLOCKING),
                  "cuStreamCreate");
  }
  cuda_leave();
  for (int i = 0; i < 2 && status == MTL_OK; i++) {
    if (!start_thread(worker, i)) {
      end_threads(worker, i);
      status = mtli_fail(MTL_OUT_OF_MEMORY, "no thread for a queue");
    }
  }
  if (status != MTL_OK) {
    cuda_enter(device);
    free_stream(worker);
    cuda_leave();
    mtli_object_release(&worker->object);  // -1
    return status;
  }
  ((cuda_queue *)queue)->worker = worker;
  return MTL_OK;
}

void cuda_queue_destroy(mtl_queue *queue) {
  cuda_worker *worker = ((cuda_queue *)queue)->worker;
  if (mtli_device_is_inherited(queue->device)) {
    free_marks(worker, true);
    cuda_graphs_free(worker, true);
    free(worker);
    return;
  }
  end_threads(worker, 2);
  cuda_enter(worker->device);
  free_marks(worker, false);
  if (worker->anchor) {
    cuda.cuEventDestroy(worker->anchor);
  }
  cuda_graphs_free(worker, false);
  free_stream(worker);
  cuda_leave();
  mtli_object_release(&worker->object);  // -1
}

void cuda_queue_submit(mtl_queue *queue, mtl_command_buffer *command_buffer) {
  cuda_worker *worker = ((cuda_queue *)queue)->worker;
  command_buffer->next = NULL;
  pthread_mutex_lock(&worker->lock);
  if (worker->last) {
    worker->last->next = command_buffer;
  } else {
    worker->first = command_buffer;
  }
  worker->last = command_buffer;
  cuda_worker_tell_news(worker);
  if (worker->sleepers[0]) {
    pthread_cond_signal(&worker->submitted);
  }
  pthread_mutex_unlock(&worker->lock);
}

// Does nothing: the submitter checks before each command. What the GPU has
// begun continues.
mtl_status cuda_queue_cancel(mtl_queue *queue,
                             mtl_command_buffer *command_buffer) {
  (void)queue;
  (void)command_buffer;
  return MTL_OK;
}
