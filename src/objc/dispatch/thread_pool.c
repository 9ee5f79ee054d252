// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread_pool.c: runs queues' jobs on a pool of threads. It has a thread for
// each job that runs or blocks; idle threads wait a while for the next.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/pool.h"

enum { IDLE_SECONDS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pool_job *first;
static pool_job **last = &first;
static size_t idle_threads;
static size_t waiting_jobs;

static void start(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&work, &attributes);
  pthread_condattr_destroy(&attributes);
}

// Takes the next job; NULL after a while without one. The lock is held.
static pool_job *take(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += IDLE_SECONDS;
  ++idle_threads;
  while (!first) {
    if (pthread_cond_timedwait(&work, &lock, &until) == ETIMEDOUT && !first) {
      --idle_threads;
      return NULL;
    }
  }
  --idle_threads;
  --waiting_jobs;
  pool_job *job = first;
  first = job->next;
  if (!first) {
    last = &first;
  }
  return job;
}

static void *run(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  for (pool_job *job; (job = take()) != NULL;) {
    pthread_mutex_unlock(&lock);
    void *pool = objc_autoreleasePoolPush();
    job->run(job->context);
    objc_autoreleasePoolPop(pool);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

// Starts a thread that takes no signals: those are the client's threads'.
static void start_thread(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run, NULL);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) {
    runtime_warn("no thread for a dispatch queue: its work waits for another");
  }
}

void thread_pool_add(pool_job *job) {
  pthread_once(&once, start);
  pthread_mutex_lock(&lock);
  job->next = NULL;
  *last = job;
  last = &job->next;
  const bool needs_thread = ++waiting_jobs > idle_threads;
  pthread_cond_signal(&work);
  pthread_mutex_unlock(&lock);
  if (needs_thread) {
    start_thread();
  }
}
