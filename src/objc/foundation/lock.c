// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lock.c: NSLock, NSRecursiveLock, NSCondition and NSAutoreleasePool.
#include <pthread.h>

#include "objc/foundation/foundation.h"

typedef struct lock {
  struct objc_object object;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
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
  instance_dispose(self);
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
        METHOD("tryLock", "B16@0:8", lock_try));
DEFINE_CLASS(NSLock, NSObject, sizeof(lock), lock_methods, NO_METHODS);

METHODS(recursive_methods, METHOD("init", "@16@0:8", recursive_init));
DEFINE_CLASS(NSRecursiveLock, NSLock, sizeof(lock), recursive_methods,
             NO_METHODS);

METHODS(condition_methods, METHOD("wait", "v16@0:8", condition_wait),
        METHOD("signal", "v16@0:8", condition_signal),
        METHOD("broadcast", "v16@0:8", condition_broadcast));
DEFINE_CLASS(NSCondition, NSLock, sizeof(lock), condition_methods,
             NO_METHODS);

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
