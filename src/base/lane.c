// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane.c: a list of lanes that have work, and threads up to a limit.
#include "base/lane.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/thread.h"

enum {
  THREAD_LIMIT = 64,  // callbacks that block at the same time
  IDLE_SECONDS = 2,   // a thread without work ends then
};

struct mtli_lane {
  mtli_lane *next;
  mtli_task *first;
  mtli_task *last;
  bool is_busy;   // ready, or on a thread
  bool is_ended;  // freed as soon as it is not busy
};

// Guards all lanes and everything below: callbacks are rare and slow.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work;
static pthread_once_t work_once = PTHREAD_ONCE_INIT;
static mtli_lane *ready_first;
static mtli_lane *ready_last;
static uint32_t ready_count;
static uint32_t thread_count;
static uint32_t idle_count;

static void work_init(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&work, &attributes);
  pthread_condattr_destroy(&attributes);
}

mtli_lane *mtli_lane_create(void) {
  return calloc(1, sizeof(mtli_lane));
}

void mtli_lane_end(mtli_lane *lane) {
  if (!lane) {
    return;
  }
  pthread_mutex_lock(&lock);
  lane->is_ended = true;
  const bool is_busy = lane->is_busy;
  pthread_mutex_unlock(&lock);
  if (!is_busy) {
    free(lane);
  }
}

static void ready_push(mtli_lane *lane) {
  lane->next = NULL;
  if (ready_last) {
    ready_last->next = lane;
  } else {
    ready_first = lane;
  }
  ready_last = lane;
  ready_count++;
}

static mtli_lane *ready_pop(void) {
  mtli_lane *lane = ready_first;
  ready_first = lane->next;
  if (!ready_first) {
    ready_last = NULL;
  }
  ready_count--;
  return lane;
}

// Runs one task of lane, without the lock, which is held on entry and return.
static void lane_step(mtli_lane *lane) {
  mtli_task *task = lane->first;
  lane->first = task->next;
  if (!lane->first) {
    lane->last = NULL;
  }
  pthread_mutex_unlock(&lock);
  task->run(task);
  pthread_mutex_lock(&lock);
  if (lane->first) {
    ready_push(lane);
    return;
  }
  lane->is_busy = false;
  if (lane->is_ended) {
    free(lane);
  }
}

// Sleeps until there is work. False if none came for a while.
static bool idle_wait(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += IDLE_SECONDS;
  idle_count++;
  int result = 0;
  while (!ready_first && result == 0) {
    result = pthread_cond_timedwait(&work, &lock, &until);
  }
  idle_count--;
  return ready_first != NULL;
}

static void *thread_main(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  while (ready_first || idle_wait()) {
    lane_step(ready_pop());
  }
  thread_count--;
  pthread_mutex_unlock(&lock);
  return NULL;
}

// Wakes or starts a thread for the ready lanes; false if none can be had. The
// lock is held.
static bool call_thread(void) {
  if (idle_count >= ready_count) {
    pthread_cond_signal(&work);
    return true;
  }
  pthread_t thread;
  if (thread_count < THREAD_LIMIT &&
      mtli_thread_start(&thread, "mettle-lane", thread_main, NULL)) {
    pthread_detach(thread);
    thread_count++;
  }
  return thread_count > 0;
}

void mtli_lane_post(mtli_lane *lane, mtli_task *task) {
  pthread_once(&work_once, work_init);
  task->next = NULL;
  pthread_mutex_lock(&lock);
  if (lane->last) {
    lane->last->next = task;
  } else {
    lane->first = task;
  }
  lane->last = task;
  if (!lane->is_busy) {
    lane->is_busy = true;
    ready_push(lane);
    if (!call_thread()) {
      // The only ready lanes are this one's: every other post has emptied it.
      while (ready_first) {
        lane_step(ready_pop());
      }
    }
  }
  pthread_mutex_unlock(&lock);
}

void mtli_lane_lock(void) {
  pthread_mutex_lock(&lock);
}

void mtli_lane_unlock(void) {
  pthread_mutex_unlock(&lock);
}

void mtli_lane_forget_threads(void) {
  ready_first = NULL;
  ready_last = NULL;
  ready_count = 0;
  thread_count = 0;
  idle_count = 0;
  work_once = (pthread_once_t)PTHREAD_ONCE_INIT;
}
