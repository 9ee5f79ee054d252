// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.h: Grand Central Dispatch's objects for our own C code. They are
// Objective-C objects: retain, release and NSArray take them.
#ifndef METTLE_OBJC_DISPATCH_H
#define METTLE_OBJC_DISPATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objc/runtime/abi.h"

typedef struct dispatch_queue dispatch_queue;
typedef void dispatch_function(void *context);

#define DISPATCH_TIME_NOW 0u
#define DISPATCH_TIME_FOREVER UINT64_MAX

// --- The pool of threads (thread_pool.c) -------------------------------------

typedef struct pool_job {
  struct pool_job *next;
  dispatch_function *run;
  void *context;
} pool_job;

// Runs job on a thread of the pool, which grows while all threads are busy;
// threads idle for 10 s end. job is borrowed until run is called.
void thread_pool_add(pool_job *job);

// --- Queues (queue.c) --------------------------------------------------------

// Runs function(context) on the queue, and returns at once. A function of ours
// runs inside an autorelease pool.
void dispatch_queue_add(id queue, dispatch_function *function, void *context);

OBJC_EXPORT id dispatch_get_global_queue(long identifier, unsigned long flags);
void dispatch_queue_suspend(id queue);
void dispatch_queue_resume(id queue);
// Makes target run the queue's tasks in its own order; NULL for none.
void dispatch_queue_set_target(id queue, id target);

// True in a task of the main queue, or of one whose target it is.
bool dispatch_is_on_main_queue(void);

// Makes a serial queue; the reference is the caller's.
id dispatch_queue_create_serial(const char *label);

// --- Sources (source.c) ------------------------------------------------------

void dispatch_source_suspend(id source);
void dispatch_source_resume(id source);
void dispatch_source_activate(id source);
void dispatch_source_set_context(id source, void *context);
void dispatch_source_set_queue(id source, id queue);

// --- Time (time.c) -----------------------------------------------------------

// Converts a dispatch_time_t to nanoseconds of CLOCK_MONOTONIC.
uint64_t dispatch_deadline_ns(uint64_t when);
uint64_t dispatch_now_ns(void);
// Initialises a condition whose timeouts are on CLOCK_MONOTONIC.
void dispatch_cond_init(pthread_cond_t *condition);

OBJC_EXPORT id dispatch_group_create(void);
OBJC_EXPORT void dispatch_group_enter(id group);
OBJC_EXPORT void dispatch_group_leave(id group);
OBJC_EXPORT long dispatch_group_wait(id group, uint64_t when);
OBJC_EXPORT void dispatch_group_notify(id group, id queue, id literal);

// --- Data (data.c) -----------------------------------------------------------

// Returns the bytes of a dispatch_data_t or an NSData. NULL if data is neither.
const void *dispatch_data_bytes(id data, size_t *out_length);

#endif
