// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// workers.c: threads for jobs that may block: host calls and files. A job gets
// an idle thread or a new one, since jobs may wait for each other.
#include <pthread.h>
#include <string.h>

#include "mettle_hal.h"

struct mettle_workers {
  iree_allocator_t host_allocator;
  iree_atomic_ref_count_t references;  // threads and the owner
  iree_slim_mutex_t mutex;
  mettle_job *first, *last;  // mutex
  uint32_t idle_count;       // mutex: threads that wait for a job
  uint32_t job_count;        // mutex: jobs that no thread has taken
  bool is_ending;            // mutex
  iree_notification_t wake;
};

iree_status_t mettle_workers_create(iree_allocator_t host_allocator,
                                    struct mettle_workers **out_workers) {
  struct mettle_workers *workers = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof *workers,
                                             (void **)&workers));
  memset(workers, 0, sizeof *workers);
  workers->host_allocator = host_allocator;
  iree_atomic_ref_count_init(&workers->references);
  iree_slim_mutex_initialize(&workers->mutex);
  iree_notification_initialize(&workers->wake);
  *out_workers = workers;
  return iree_ok_status();
}

static void workers_release(struct mettle_workers *workers) {
  if (iree_atomic_ref_count_dec(&workers->references) != 1) {
    return;
  }
  iree_notification_deinitialize(&workers->wake);
  iree_slim_mutex_deinitialize(&workers->mutex);
  iree_allocator_free(workers->host_allocator, workers);
}

void mettle_workers_destroy(struct mettle_workers *workers) {
  if (!workers) {
    return;
  }
  iree_slim_mutex_lock(&workers->mutex);
  workers->is_ending = true;
  iree_slim_mutex_unlock(&workers->mutex);
  iree_notification_post(&workers->wake, IREE_ALL_WAITERS);
  workers_release(workers);
}

static bool has_news(void *arg) {
  struct mettle_workers *workers = arg;
  iree_slim_mutex_lock(&workers->mutex);
  const bool result = workers->first || workers->is_ending;
  iree_slim_mutex_unlock(&workers->mutex);
  return result;
}

// Takes a job; NULL when there are none and will be none.
static mettle_job *take(struct mettle_workers *workers) {
  for (;;) {
    iree_slim_mutex_lock(&workers->mutex);
    mettle_job *job = workers->first;
    const bool is_ending = workers->is_ending;
    if (job) {
      workers->first = job->next;
      workers->last = workers->first ? workers->last : NULL;
      workers->job_count--;
    } else if (!is_ending) {
      workers->idle_count++;
    }
    iree_slim_mutex_unlock(&workers->mutex);
    if (job || is_ending) {
      return job;
    }
    iree_notification_await(&workers->wake, has_news, workers,
                            iree_infinite_timeout());
    iree_slim_mutex_lock(&workers->mutex);
    workers->idle_count--;
    iree_slim_mutex_unlock(&workers->mutex);
  }
}

static void *worker_main(void *arg) {
  struct mettle_workers *workers = arg;
  for (mettle_job *job; (job = take(workers));) {
    job->run(job);
  }
  workers_release(workers);  // -1
  return NULL;
}

static iree_status_t add_thread(struct mettle_workers *workers) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  iree_atomic_ref_count_inc(&workers->references);  // +1 until it ends
  const int error = pthread_create(&thread, &attributes, worker_main, workers);
  pthread_attr_destroy(&attributes);
  if (error) {
    workers_release(workers);
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "pthread_create: error %d", error);
  }
  return iree_ok_status();
}

iree_status_t mettle_workers_post(struct mettle_workers *workers,
                                  mettle_job *job) {
  iree_slim_mutex_lock(&workers->mutex);
  const bool needs_thread = workers->job_count >= workers->idle_count;
  iree_slim_mutex_unlock(&workers->mutex);
  if (needs_thread) {
    IREE_RETURN_IF_ERROR(add_thread(workers));
  }
  job->next = NULL;
  iree_slim_mutex_lock(&workers->mutex);
  if (workers->last) {
    workers->last->next = job;
  } else {
    workers->first = job;
  }
  workers->last = job;
  workers->job_count++;
  iree_slim_mutex_unlock(&workers->mutex);
  iree_notification_post(&workers->wake, IREE_ALL_WAITERS);
  return iree_ok_status();
}
