// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.c: autorelease pools: each thread's stack of objects to release.
#include "objc/runtime/memory/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/message/message.h"
#include "objc/runtime/name_table.h"

// Where a pool was opened, the stack has a NULL.
typedef struct pool_stack {
  id *objects;  // [capacity]
  size_t count;
  size_t capacity;
  size_t pools;  // how many are open
} pool_stack;

static _Thread_local pool_stack *stack;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool tells_poolless;
static pthread_mutex_t poolless_lock = PTHREAD_MUTEX_INITIALIZER;
static name_table poolless;  // class name to count, as a pointer's number

static void tell_poolless(void) {
  for (size_t i = 0; i < poolless.capacity; ++i) {
    if (poolless.entries[i].name) {
      fprintf(stderr,
              "mettle objc: %8ld of %s autoreleased without a pool: they stay "
              "for ever\n",
              (long)(intptr_t)poolless.entries[i].value,
              poolless.entries[i].name);
    }
  }
}

static void pop_to(size_t count) {
  while (stack->count > count) {
    const id object = stack->objects[--stack->count];
    if (object) {
      objc_release(object);
    } else {
      --stack->pools;
    }
  }
}

static void thread_ended(void *ended) {
  stack = ended;
  pop_to(0);
  free(stack->objects);
  free(stack);
  stack = NULL;
}

static void start(void) {
  pthread_key_create(&key, thread_ended);
  tells_poolless = runtime_debugs("pools");
  if (tells_poolless) {
    atexit(tell_poolless);
  }
}

static void push(id object) {
  if (!stack) {
    pthread_once(&once, start);
    stack = calloc(1, sizeof *stack);
    if (!stack) {
      runtime_fail("no memory for an autorelease pool");
    }
    pthread_setspecific(key, stack);
  }
  if (stack->count == stack->capacity) {
    const size_t wanted = stack->capacity ? 2 * stack->capacity : 64;
    id *grown = realloc(stack->objects, wanted * sizeof *grown);
    if (!grown) {
      runtime_fail("no memory for an autorelease pool");
    }
    stack->objects = grown;
    stack->capacity = wanted;
  }
  stack->objects[stack->count++] = object;
}

void *objc_autoreleasePoolPush(void) {
  push(NULL);
  ++stack->pools;
  return (void *)stack->count;  // one past the NULL, and so never 0
}

void objc_autoreleasePoolPop(void *pool) {
  const size_t place = (size_t)pool;
  if (!stack || place == 0 || place > stack->count ||
      stack->objects[place - 1]) {
    runtime_fail("an autorelease pool is popped that is not open on this "
                 "thread");
  }
  pop_to(place - 1);
}

static void count_poolless(id object) {
  pthread_once(&once, start);
  if (tells_poolless) {
    pthread_mutex_lock(&poolless_lock);
    const char *name = class_name(object->isa);
    const intptr_t count = (intptr_t)name_table_find(&poolless, name);
    name_table_add(&poolless, name, (void *)(count + 1));
    pthread_mutex_unlock(&poolless_lock);
  }
}

void pool_add(id object) {
  if (stack && stack->pools) {
    push(object);
  } else {
    count_poolless(object);
  }
}

OBJC_EXPORT void *_objc_autoreleasePoolPush(void) {
  return objc_autoreleasePoolPush();
}

OBJC_EXPORT void _objc_autoreleasePoolPop(void *pool) {
  objc_autoreleasePoolPop(pool);
}
