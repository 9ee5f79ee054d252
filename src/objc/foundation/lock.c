// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lock.c: NSLock, NSRecursiveLock, NSCondition, NSConditionLock and
// NSAutoreleasePool.
#include <pthread.h>
#include <time.h>

#include "objc/foundation/foundation.h"

typedef struct lock {
  struct objc_object object;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  id name;
} lock;

static id init_kind(id self, int kind) {
  lock *made = (lock *)self;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  pthread_mutex_init(&made->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_cond_init(&made->changed, NULL);
  return self;
}

static id lock_init(id self, SEL _cmd) {
  (void)_cmd;
  return init_kind(self, PTHREAD_MUTEX_NORMAL);
}

static id recursive_init(id self, SEL _cmd) {
  (void)_cmd;
  return init_kind(self, PTHREAD_MUTEX_RECURSIVE);
}

static void lock_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  pthread_mutex_destroy(&((lock *)self)->mutex);
  pthread_cond_destroy(&((lock *)self)->changed);
  objc_release(((lock *)self)->name);
  instance_dispose(self);
}

static id lock_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((lock *)self)->name;
}

static void lock_set_name(id self, SEL _cmd, id name) {
  (void)_cmd;
  lock *of = (lock *)self;
  objc_release(of->name);
  of->name = SEND(id(*)(id, SEL), name, "copy");
}

// Converts an NSDate to the time that pthreads' timed waits take.
static struct timespec deadline(id date) {
  const double seconds =
      SEND(double (*)(id, SEL), date, "timeIntervalSince1970");
  struct timespec when = {0, 0};
  if (seconds > 0) {
    when.tv_sec = seconds < 1e15 ? (time_t)seconds : (time_t)1e15;
    when.tv_nsec = seconds < 1e15 ? (long)((seconds - (double)when.tv_sec) * 1e9)
                                  : 0;
  }
  return when;
}

static int lock_before(id self, SEL _cmd, id date) {
  (void)_cmd;
  const struct timespec when = deadline(date);
  return pthread_mutex_timedlock(&((lock *)self)->mutex, &when) == 0;
}

static int condition_wait_until(id self, SEL _cmd, id date) {
  (void)_cmd;
  lock *on = (lock *)self;
  const struct timespec when = deadline(date);
  return pthread_cond_timedwait(&on->changed, &on->mutex, &when) == 0;
}

static void lock_lock(id self, SEL _cmd) {
  (void)_cmd;
  pthread_mutex_lock(&((lock *)self)->mutex);
}

static void lock_unlock(id self, SEL _cmd) {
  (void)_cmd;
  pthread_mutex_unlock(&((lock *)self)->mutex);
}

static int lock_try(id self, SEL _cmd) {
  (void)_cmd;
  return pthread_mutex_trylock(&((lock *)self)->mutex) == 0;
}

static void condition_wait(id self, SEL _cmd) {
  (void)_cmd;
  lock *on = (lock *)self;
  pthread_cond_wait(&on->changed, &on->mutex);
}

static void condition_signal(id self, SEL _cmd) {
  (void)_cmd;
  pthread_cond_signal(&((lock *)self)->changed);
}

static void condition_broadcast(id self, SEL _cmd) {
  (void)_cmd;
  pthread_cond_broadcast(&((lock *)self)->changed);
}

METHODS(lock_methods, METHOD("init", "@16@0:8", lock_init),
        METHOD("dealloc", "v16@0:8", lock_dealloc),
        METHOD("lock", "v16@0:8", lock_lock),
        METHOD("unlock", "v16@0:8", lock_unlock),
        METHOD("name", "@16@0:8", lock_name),
        METHOD("setName:", "v24@0:8@16", lock_set_name),
        METHOD("lockBeforeDate:", "B24@0:8@16", lock_before),
        METHOD("tryLock", "B16@0:8", lock_try));
DEFINE_CLASS(NSLock, NSObject, sizeof(lock), lock_methods, NO_METHODS);

METHODS(recursive_methods, METHOD("init", "@16@0:8", recursive_init));
DEFINE_CLASS(NSRecursiveLock, NSLock, sizeof(lock), recursive_methods,
             NO_METHODS);

METHODS(condition_methods,
        METHOD("waitUntilDate:", "B24@0:8@16", condition_wait_until),
        METHOD("wait", "v16@0:8", condition_wait),
        METHOD("signal", "v16@0:8", condition_signal),
        METHOD("broadcast", "v16@0:8", condition_broadcast));
DEFINE_CLASS(NSCondition, NSLock, sizeof(lock), condition_methods,
             NO_METHODS);

// --- NSConditionLock ---------------------------------------------------------

typedef struct condition_lock {
  lock lock;
  NSInteger condition;
  bool is_taken;
} condition_lock;

static id condition_lock_init(id self, SEL _cmd, NSInteger condition) {
  (void)_cmd;
  init_kind(self, PTHREAD_MUTEX_NORMAL);
  ((condition_lock *)self)->condition = condition;
  return self;
}

// Takes the lock when it is free, and its condition is *wanted, if given.
static int take_until(id self, const NSInteger *wanted, id date) {
  condition_lock *of = (condition_lock *)self;
  const struct timespec when = date ? deadline(date) : (struct timespec){0, 0};
  int failed = 0;
  pthread_mutex_lock(&of->lock.mutex);
  while (!failed && (of->is_taken || (wanted && of->condition != *wanted))) {
    failed = date ? pthread_cond_timedwait(&of->lock.changed, &of->lock.mutex,
                                           &when)
                  : pthread_cond_wait(&of->lock.changed, &of->lock.mutex);
  }
  of->is_taken = of->is_taken || !failed;
  pthread_mutex_unlock(&of->lock.mutex);
  return !failed;
}

static void give(id self, const NSInteger *condition) {
  condition_lock *of = (condition_lock *)self;
  pthread_mutex_lock(&of->lock.mutex);
  of->is_taken = false;
  of->condition = condition ? *condition : of->condition;
  pthread_cond_broadcast(&of->lock.changed);
  pthread_mutex_unlock(&of->lock.mutex);
}

static void condition_lock_lock(id self, SEL _cmd) {
  (void)_cmd;
  take_until(self, NULL, NULL);
}

static void condition_lock_unlock(id self, SEL _cmd) {
  (void)_cmd;
  give(self, NULL);
}

static void condition_lock_when(id self, SEL _cmd, NSInteger wanted) {
  (void)_cmd;
  take_until(self, &wanted, NULL);
}

static int condition_lock_when_before(id self, SEL _cmd, NSInteger wanted,
                                      id date) {
  (void)_cmd;
  return take_until(self, &wanted, date);
}

static int condition_lock_before(id self, SEL _cmd, id date) {
  (void)_cmd;
  return take_until(self, NULL, date);
}

static void condition_lock_unlock_with(id self, SEL _cmd, NSInteger condition) {
  (void)_cmd;
  give(self, &condition);
}

static int try_for(id self, const NSInteger *wanted) {
  condition_lock *of = (condition_lock *)self;
  pthread_mutex_lock(&of->lock.mutex);
  const bool is_free = !of->is_taken && (!wanted || of->condition == *wanted);
  of->is_taken = of->is_taken || is_free;
  pthread_mutex_unlock(&of->lock.mutex);
  return is_free;
}

static int condition_lock_try(id self, SEL _cmd) {
  (void)_cmd;
  return try_for(self, NULL);
}

static int condition_lock_try_when(id self, SEL _cmd, NSInteger wanted) {
  (void)_cmd;
  return try_for(self, &wanted);
}

static NSInteger condition_lock_condition(id self, SEL _cmd) {
  (void)_cmd;
  return ((condition_lock *)self)->condition;
}

METHODS(condition_lock_methods,
        METHOD("initWithCondition:", "@24@0:8q16", condition_lock_init),
        METHOD("lock", "v16@0:8", condition_lock_lock),
        METHOD("unlock", "v16@0:8", condition_lock_unlock),
        METHOD("tryLock", "B16@0:8", condition_lock_try),
        METHOD("tryLockWhenCondition:", "B24@0:8q16", condition_lock_try_when),
        METHOD("lockBeforeDate:", "B24@0:8@16", condition_lock_before),
        METHOD("lockWhenCondition:", "v24@0:8q16", condition_lock_when),
        METHOD("lockWhenCondition:beforeDate:", "B32@0:8q16@24",
               condition_lock_when_before),
        METHOD("unlockWithCondition:", "v24@0:8q16",
               condition_lock_unlock_with),
        METHOD("condition", "q16@0:8", condition_lock_condition));
DEFINE_CLASS(NSConditionLock, NSLock, sizeof(condition_lock),
             condition_lock_methods, NO_METHODS);

// --- NSAutoreleasePool -------------------------------------------------------

typedef struct autorelease_pool {
  struct objc_object object;
  void *token;
} autorelease_pool;

static id pool_init(id self, SEL _cmd) {
  (void)_cmd;
  ((autorelease_pool *)self)->token = objc_autoreleasePoolPush();
  return self;
}

static void pool_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_autoreleasePoolPop(((autorelease_pool *)self)->token);
  instance_dispose(self);
}

static void pool_drain(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(self);
}

METHODS(pool_methods, METHOD("init", "@16@0:8", pool_init),
        METHOD("dealloc", "v16@0:8", pool_dealloc),
        METHOD("drain", "v16@0:8", pool_drain));
DEFINE_CLASS(NSAutoreleasePool, NSObject, sizeof(autorelease_pool),
             pool_methods, NO_METHODS);
