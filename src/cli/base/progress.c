// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// progress.c: draws the bar from a thread of its own, so that it moves while
// the main thread waits inside one long call.
#include "cli/base/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_DRAW_NS 500000000u  // shorter work is over before one can read
#define REDRAW_NS 100000000u
#define BAR_WIDTH 30

struct progress {
  pthread_t thread;
  pthread_mutex_t mutex;  // guards the members below
  pthread_cond_t changed;
  const char *what;
  uint64_t done, total;
  bool stopped;
};

static void draw(const progress *bar, double seconds) {
  fprintf(stderr, "\r%s ", bar->what);
  if (bar->total > 1) {
    const int filled = (int)(bar->done * BAR_WIDTH / bar->total);
    char cells[BAR_WIDTH + 1];
    memset(cells, '.', BAR_WIDTH);
    memset(cells, '#', (size_t)filled);
    cells[BAR_WIDTH] = '\0';
    fprintf(stderr, "[%s] %llu/%llu ", cells, (unsigned long long)bar->done,
            (unsigned long long)bar->total);
  }
  fprintf(stderr, "%.1f s\x1b[K", seconds);
  fflush(stderr);
}

static struct timespec later(struct timespec time, uint64_t nanoseconds) {
  const uint64_t sum = (uint64_t)time.tv_nsec + nanoseconds;
  time.tv_sec += (time_t)(sum / 1000000000u);
  time.tv_nsec = (long)(sum % 1000000000u);
  return time;
}

static void *draw_until_stopped(void *context) {
  progress *bar = context;
  struct timespec start, next;
  clock_gettime(CLOCK_MONOTONIC, &start);
  next = later(start, FIRST_DRAW_NS);
  bool drawn = false;
  pthread_mutex_lock(&bar->mutex);
  while (!bar->stopped) {
    if (pthread_cond_timedwait(&bar->changed, &bar->mutex, &next) == 0) {
      continue;  // woken to stop, or for no reason
    }
    draw(bar, (double)(next.tv_sec - start.tv_sec) +
                  (double)(next.tv_nsec - start.tv_nsec) * 1e-9);
    drawn = true;
    next = later(next, REDRAW_NS);
  }
  pthread_mutex_unlock(&bar->mutex);
  if (drawn) {
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
  }
  return NULL;
}

static bool is_drawable(void) {
  const char *terminal = getenv("TERM");
  return isatty(STDERR_FILENO) && terminal != NULL &&
         strcmp(terminal, "dumb") != 0;
}

progress *progress_start(const char *what) {
  if (!is_drawable()) {
    return NULL;
  }
  progress *bar = calloc(1, sizeof *bar);
  if (bar == NULL) {
    return NULL;
  }
  bar->what = what;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&bar->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&bar->mutex, NULL);
  if (pthread_create(&bar->thread, NULL, draw_until_stopped, bar) != 0) {
    pthread_mutex_destroy(&bar->mutex);
    pthread_cond_destroy(&bar->changed);
    free(bar);
    return NULL;
  }
  return bar;
}

void progress_set(progress *bar, uint64_t done, uint64_t total) {
  if (bar != NULL) {
    pthread_mutex_lock(&bar->mutex);
    bar->done = done;
    bar->total = total;
    pthread_mutex_unlock(&bar->mutex);
  }
}

void progress_stop(progress *bar) {
  if (bar == NULL) {
    return;
  }
  pthread_mutex_lock(&bar->mutex);
  bar->stopped = true;
  pthread_cond_signal(&bar->changed);
  pthread_mutex_unlock(&bar->mutex);
  pthread_join(bar->thread, NULL);
  pthread_mutex_destroy(&bar->mutex);
  pthread_cond_destroy(&bar->changed);
  free(bar);
}
