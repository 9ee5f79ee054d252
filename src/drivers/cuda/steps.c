// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// steps.c: performs the host's steps when the stream has reached a mark, in
// order: signals, times and ends of command buffers. It also makes the marks.
#include <stdlib.h>

#include "base/futex.h"
#include "base/thread.h"
#include "drivers/cuda/cuda.h"

enum {
  // How long a thread spins on a mark before it sleeps. A shorter time than a
  // wake-up takes would slow a loop of short kernels to the speed of wake-ups.
  SPIN_NS = 150 * 1000,
  // Two looks this close together were not interrupted between.
  LOOK_NS = 1000,
  // CUDA gives the time between two events as a float, whose 24 bits are good
  // for 1 us in 16 s: the event that times count from is renewed in half of
  // that.
  ANCHOR_NS = 8 * 1000 * 1000 * 1000LL,
};

// Called under the lock, which orders the announced changes.
void cuda_worker_tell_news(cuda_worker *worker) {
  atomic_fetch_add_explicit(&worker->news, 1, memory_order_relaxed);
}

static cuda_mark *new_mark(bool is_timed) {
  cuda_mark *mark = calloc(1, sizeof *mark);
  if (!mark) {
    return NULL;
  }
  mark->is_timed = is_timed;
  const unsigned flags =
      CU_EVENT_BLOCKING_SYNC | (is_timed ? 0 : CU_EVENT_DISABLE_TIMING);
  if (cuda.cuEventCreate(&mark->event, flags)) {
    free(mark);
    return NULL;
  }
  return mark;
}

cuda_mark *cuda_mark_place(cuda_worker *worker, cuda_mark_kind kind) {
  const bool is_timed = kind != CUDA_MARK_PLACE;
  pthread_mutex_lock(&worker->lock);
  cuda_mark *mark = worker->free_marks[is_timed];
  if (mark) {
    worker->free_marks[is_timed] = mark->next;
  }
  pthread_mutex_unlock(&worker->lock);
  if (!mark) {
    mark = new_mark(is_timed);
  }
  if (!mark) {
    return NULL;
  }
  mark->sequence = 0;
  // The word first: threads that wait for the end spin on it; the event is for
  // sleeping threads and for times.
  if (kind == CUDA_MARK_END) {
    if (cuda.cuStreamWriteValue64(worker->stream, (uintptr_t)worker->word,
                                  worker->sequence + 1, 0) == CUDA_SUCCESS) {
      mark->sequence = ++worker->sequence;
    } else {
      worker->has_no_words = true;
    }
  }
  cuda.cuEventRecord(mark->event, worker->stream);
  return mark;
}

bool cuda_stream_is_idle(const cuda_worker *worker) {
  // Acquire: the stream writes it behind all that came before.
  return !worker->has_no_words &&
         atomic_load_explicit(worker->word, memory_order_acquire) ==
             worker->sequence;
}

void cuda_mark_free(cuda_worker *worker, cuda_mark *mark) {
  if (mark) {
    pthread_mutex_lock(&worker->lock);
    mark->next = worker->free_marks[mark->is_timed];
    worker->free_marks[mark->is_timed] = mark;
    pthread_mutex_unlock(&worker->lock);
  }
}

// Wakes the thread that steps, unless a client is about to. The lock is held.
void cuda_worker_wake_stepper(cuda_worker *worker) {
  if (worker->first_step && worker->sleepers[1] && !worker->helpers) {
    pthread_cond_signal(&worker->stepped);
  }
}

void cuda_step_add(cuda_worker *worker, const cuda_step *step) {
  cuda_step *made = malloc(sizeof *made);
  if (!made) {
    abort();  // a command buffer that never ends would be worse
  }
  *made = *step;
  made->next = NULL;
  pthread_mutex_lock(&worker->lock);
  if (worker->last_step) {
    worker->last_step->next = made;
  } else {
    worker->first_step = made;
  }
  worker->last_step = made;
  cuda_worker_tell_news(worker);
  cuda_worker_wake_stepper(worker);
  pthread_mutex_unlock(&worker->lock);
}

// True if the stream's word shows that it has passed a place.
static bool has_passed(const cuda_worker *worker, const cuda_mark *mark) {
  // Acquire: the stream writes it behind all that came before.
  return mark->sequence &&
         atomic_load_explicit(worker->word, memory_order_acquire) >=
             mark->sequence;
}

// Waits until the stream has come to a place. To look at a word takes no call
// of the driver, which the thread that hands commands over would wait for.
// Returns when it came, if it was being looked for then; else 0.
static uint64_t await_mark(const cuda_worker *worker, const cuda_mark *mark) {
  const uint64_t start_ns = mtli_now_ns();
  uint64_t now_ns = start_ns;
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY && now_ns < start_ns + SPIN_NS) {
    const uint64_t last_ns = now_ns;
    now_ns = mtli_now_ns();
    if (has_passed(worker, mark)) {
      // The stream may have passed it long before the first look, or while the
      // thread slept.
      return last_ns > start_ns && now_ns - last_ns < LOOK_NS ? now_ns : 0;
    }
    if (mark->sequence) {
      mtli_pause();
    } else {
      result = cuda.cuEventQuery(mark->event);
    }
  }
  if (result == CUDA_ERROR_NOT_READY) {
    result = cuda.cuEventSynchronize(mark->event);
  }
  (void)cuda_done(result, "a kernel or a copy");
  return 0;
}

// Finds a moment that both clocks know, from time to time: it is between two
// looks at the host's clock, and of a few tries the one with the nearest
// counts.
static void renew_anchor(cuda_worker *worker) {
  enum { TRIES = 5, NEAR_NS = 8 * 1000 };
  if (worker->anchor && mtli_now_ns() - worker->anchor_ns < ANCHOR_NS) {
    return;
  }
  cuda_device *device = worker->device;
  uint64_t nearest_ns = UINT64_MAX;
  pthread_mutex_lock(&device->stream_lock);
  for (int i = 0; i < TRIES && nearest_ns > NEAR_NS; i++) {
    CUevent event;
    if (cuda.cuEventCreate(&event, CU_EVENT_DEFAULT)) {
      break;
    }
    const uint64_t start_ns = mtli_now_ns();
    cuda.cuEventRecord(event, device->stream);
    while (cuda.cuEventQuery(event) == CUDA_ERROR_NOT_READY) {
    }
    const uint64_t between_ns = mtli_now_ns() - start_ns;
    if (between_ns < nearest_ns) {
      nearest_ns = between_ns;
      worker->anchor_ns = start_ns + between_ns / 2;
      CUevent before = worker->anchor;
      worker->anchor = event;
      event = before;
    }
    if (event) {
      cuda.cuEventDestroy(event);
    }
  }
  pthread_mutex_unlock(&device->stream_lock);
}

static uint64_t time_of(const cuda_worker *worker, const cuda_mark *mark) {
  float ms = 0;
  if (cuda.cuEventElapsedTime(&ms, worker->anchor, mark->event)) {
    return mtli_now_ns();
  }
  return worker->anchor_ns + (uint64_t)(int64_t)((double)ms * 1e6);
}

// Times of marks. What the clocks' difference is known to leaves a few us,
// which are less where it cannot have been sooner or later.
static void find_times(cuda_worker *worker, const cuda_step *step,
                       uint64_t *start_ns, uint64_t *end_ns) {
  const cuda_list *list = step->command_buffer->driver_data;
  // The event comes behind the awaited word.
  while (cuda.cuEventQuery(step->mark->event) == CUDA_ERROR_NOT_READY) {
    mtli_pause();
  }
  renew_anchor(worker);
  if (!step->start) {
    *start_ns = step->start_ns;
    *end_ns = time_of(worker, step->mark);
    *end_ns = *end_ns < *start_ns ? *start_ns : *end_ns;
    return;
  }
  *start_ns = time_of(worker, step->start);
  float ms = 0;
  cuda.cuEventElapsedTime(&ms, step->start->event, step->mark->event);
  const uint64_t ran_ns = (uint64_t)((double)ms * 1e6);
  const uint64_t now_ns = mtli_now_ns();
  if (*start_ns + ran_ns > now_ns) {
    *start_ns = now_ns - ran_ns;
  }
  if (*start_ns < list->begun_ns) {
    *start_ns = list->begun_ns;
  }
  *end_ns = *start_ns + ran_ns;
}

// Records when the command buffer ran. seen_ns: when its end was observed, or
// 0. The host's times take no call of the driver.
static void tell_times(cuda_worker *worker, const cuda_step *step,
                       uint64_t seen_ns) {
  uint64_t start_ns = mtli_now_ns(), end_ns = start_ns;
  if (!step->start && step->start_ns && seen_ns) {
    start_ns = step->start_ns;
    end_ns = seen_ns;
  } else if (step->mark && (step->start || step->start_ns) &&
             !cuda_lost_text()) {
    find_times(worker, step, &start_ns, &end_ns);
  }
  mtli_command_buffer_ran(step->command_buffer, start_ns, end_ns);
}

static void complete(cuda_worker *worker, const cuda_step *step,
                     uint64_t seen_ns) {
  mtl_command_buffer *command_buffer = step->command_buffer;
  cuda_list *list = command_buffer->driver_data;
  if (cuda_lost_text()) {
    cuda_list_fail(list, MTL_KERNEL_FAULT, cuda_lost_text());
  } else if (step->mark) {
    cuda_fault_note(worker, list);
    cuda_log_take(worker, command_buffer);
  }
  if (!command_buffer->is_failed) {
    tell_times(worker, step, seen_ns);
  }
  cuda_mark_free(worker, step->start);
  cuda_mark_free(worker, step->mark);
  cuda_list_settle(list);
  const char *reason = mtli_stop_reason(command_buffer);
  if (reason) {
    cuda_list_fail(list, MTL_CANCELLED, reason);
  }
  const mtl_status status = list->status;
  atomic_store(&command_buffer->has_failed, status != MTL_OK);
  char *text = list->text;
  list->text = NULL;
  mtli_command_buffer_completed(command_buffer, status, text ? text : "");
  free(text);
}

void cuda_step_do(cuda_worker *worker, cuda_step *step) {
  uint64_t seen_ns = 0;
  if (step->mark && !cuda_lost_text()) {
    seen_ns = await_mark(worker, step->mark);
  }
  switch (step->kind) {
    case CUDA_STEP_TIMES:
      if (step->start && step->mark && !cuda_lost_text()) {
        renew_anchor(worker);
        mtli_command_starts(step->times, time_of(worker, step->start));
        mtli_command_ends(step->times, time_of(worker, step->mark));
      }
      cuda_mark_free(worker, step->start);
      cuda_mark_free(worker, step->mark);
      break;
    case CUDA_STEP_SIGNAL:
      cuda_mark_free(worker, step->mark);
      (void)mtli_host_event_signal(step->event, step->value);
      break;
    case CUDA_STEP_END: complete(worker, step, seen_ns); break;
  }
  free(step);
}
