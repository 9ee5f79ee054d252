// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// late.c: delivers signals and completions on cpu-discrete from a thread,
// delayed and in order, as interrupts of a device on a bus arrive.
#include <stdlib.h>
#include <time.h>

#include "base/futex.h"
#include "base/thread.h"
#include "drivers/cpu/cpu.h"

enum { DELAY_NS = 50 * 1000 };  // about the time of an interrupt

struct cpu_late {
  mtli_object object;  // one reference of the device, one of the thread
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool is_started;
  bool is_ending;
  cpu_late_item *first;
  cpu_late_item *last;
};

static void late_destroy(mtli_object *object) {
  cpu_late *late = (cpu_late *)object;
  pthread_cond_destroy(&late->changed);
  pthread_mutex_destroy(&late->lock);
  free(late);
}

cpu_late *cpu_late_create(void) {
  cpu_late *late = calloc(1, sizeof *late);
  if (late) {
    mtli_object_init(&late->object, late_destroy);
    pthread_mutex_init(&late->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&late->changed, &attributes);
    pthread_condattr_destroy(&attributes);
  }
  return late;
}

// Waits for the next item to be due; NULL when the device is gone.
static cpu_late_item *late_next(cpu_late *late) {
  pthread_mutex_lock(&late->lock);
  while (!late->is_ending || late->first) {
    if (!late->first) {
      pthread_cond_wait(&late->changed, &late->lock);
      continue;
    }
    const uint64_t due_ns = late->first->due_ns;
    if (mtli_now_ns() >= due_ns) {
      break;
    }
    const struct timespec until = {.tv_sec = (time_t)(due_ns / 1000000000u),
                                   .tv_nsec = (long)(due_ns % 1000000000u)};
    pthread_cond_timedwait(&late->changed, &late->lock, &until);
  }
  cpu_late_item *item = late->first;
  if (item) {
    late->first = item->next;
    late->last = late->first ? late->last : NULL;
  }
  pthread_mutex_unlock(&late->lock);
  return item;
}

static void *late_main(void *context) {
  cpu_late *late = context;
  cpu_late_item *item;
  while ((item = late_next(late))) {
    item->arrive(item);
  }
  mtli_object_release(&late->object);  // -1
  return NULL;
}

mtl_status cpu_late_start(cpu_late *late) {
  mtl_status status = MTL_OK;
  pthread_mutex_lock(&late->lock);
  if (!late->is_started) {
    mtli_object_retain(&late->object);  // +1, the thread's
    late->is_started =
        mtli_thread_start(&late->thread, "mettle-late", late_main, late);
    if (!late->is_started) {
      mtli_object_release(&late->object);  // -1
      status = mtli_fail(MTL_OUT_OF_MEMORY, "no thread for the device");
    }
  }
  pthread_mutex_unlock(&late->lock);
  return status;
}

void cpu_late_end(cpu_late *late, bool is_inherited) {
  if (is_inherited) {
    free(late);  // after a fork its thread and lock are lost
    return;
  }
  pthread_mutex_lock(&late->lock);
  late->is_ending = true;
  const bool is_started = late->is_started;
  pthread_cond_signal(&late->changed);
  pthread_mutex_unlock(&late->lock);
  if (is_started) {
    mtli_thread_end(late->thread);
  }
  mtli_object_release(&late->object);  // -1
}

void cpu_late_post(cpu_late *late, cpu_late_item *item) {
  item->next = NULL;
  item->due_ns = mtli_now_ns() + DELAY_NS;
  pthread_mutex_lock(&late->lock);
  if (late->last) {
    late->last->next = item;
  } else {
    late->first = item;
  }
  late->last = item;
  pthread_cond_signal(&late->changed);
  pthread_mutex_unlock(&late->lock);
}
