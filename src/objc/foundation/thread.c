// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread.c: NSThread. A thread that something else has started gets an object
// when it first asks for one; the object lives until the thread ends.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/memory/block.h"

typedef enum thread_state { IS_NEW, IS_RUNNING, IS_FINISHED } thread_state;

typedef struct thread {
  struct objc_object object;
  id target;  // with selector and argument, or block, or neither
  SEL selector;
  id argument;
  void *block;
  id name;
  id dictionary;
  _Atomic int state;
  _Atomic bool is_cancelled;
} thread;

extern struct objc_class OBJC_CLASS_$_NSThread;

static pthread_key_t current_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(id) main_object;

static void release_current(void *object) {
  atomic_store(&((thread *)object)->state, IS_FINISHED);
  objc_release(object);
}

static void make_key(void) {
  pthread_key_create(&current_key, release_current);
}

static int is_main_thread(void) {
  return gettid() == getpid();
}

static id main_thread(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  id made = shared_instance(&main_object, &OBJC_CLASS_$_NSThread);
  atomic_store(&((thread *)made)->state, IS_RUNNING);
  return made;
}

static id current_thread(id self, SEL _cmd) {
  if (is_main_thread()) {
    return main_thread(self, _cmd);
  }
  pthread_once(&once, make_key);
  id found = pthread_getspecific(current_key);
  if (!found) {
    found = CREATE(NSThread);
    atomic_store(&((thread *)found)->state, IS_RUNNING);
    pthread_setspecific(current_key, found);
  }
  return found;
}

static id init_target(id self, SEL _cmd, id target, SEL selector,
                      id argument) {
  (void)_cmd;
  thread *made = (thread *)self;
  made->target = objc_retain(target);
  made->selector = selector;
  made->argument = objc_retain(argument);
  return self;
}

static id init_block(id self, SEL _cmd, const void *body) {
  (void)_cmd;
  ((thread *)self)->block = _Block_copy(body);
  return self;
}

static void thread_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  thread *old = (thread *)self;
  objc_release(old->target);
  objc_release(old->argument);
  _Block_release(old->block);
  objc_release(old->name);
  objc_release(old->dictionary);
  instance_dispose(self);
}

static void thread_main(id self, SEL _cmd) {
  (void)_cmd;
  thread *own = (thread *)self;
  if (own->block) {
    BLOCK_CALL(void (*)(id), own->block);
  } else if (own->target) {
    SEND(id (*)(id, SEL, SEL, id), own->target,
         "performSelector:withObject:", own->selector, own->argument);
  }
}

static void *run(void *object) {
  thread *own = object;
  pthread_once(&once, make_key);
  pthread_setspecific(current_key, object);  // which has the reference
  void *pool = objc_autoreleasePoolPush();
  if (own->name) {
    char name[16] = "";
    const char *text = string_utf8(own->name);
    for (size_t i = 0; i + 1 < sizeof name && text[i]; ++i) {
      name[i] = text[i];
    }
    pthread_setname_np(pthread_self(), name);
  }
  SEND(void (*)(id, SEL), (id)object, "main");
  objc_autoreleasePoolPop(pool);
  return NULL;
}

static void thread_start(id self, SEL _cmd) {
  (void)_cmd;
  thread *own = (thread *)self;
  pthread_t started;
  int expected = IS_NEW;
  if (!atomic_compare_exchange_strong(&own->state, &expected, IS_RUNNING)) {
    exception_raise("NSInvalidArgumentException",
                    "-[NSThread start]: it has been started");
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  objc_retain(self);
  if (pthread_create(&started, &attributes, run, self) != 0) {
    objc_release(self);
    exception_raise("NSGenericException",
                    "-[NSThread start]: no thread can be had");
  }
  pthread_attr_destroy(&attributes);
}

static void start_and_forget(id made) {
  thread_start(made, NULL);
  objc_release(made);
}

static void detach_selector(id self, SEL _cmd, SEL selector, id target,
                            id argument) {
  (void)self;
  start_and_forget(
      init_target(CREATE(NSThread), _cmd, target, selector, argument));
}

static void detach_block(id self, SEL _cmd, const void *body) {
  (void)self;
  start_and_forget(init_block(CREATE(NSThread), _cmd, body));
}

static void thread_cancel(id self, SEL _cmd) {
  (void)_cmd;
  atomic_store(&((thread *)self)->is_cancelled, true);
}

static int thread_is_cancelled(id self, SEL _cmd) {
  (void)_cmd;
  return atomic_load(&((thread *)self)->is_cancelled);
}

static int thread_is_executing(id self, SEL _cmd) {
  (void)_cmd;
  return atomic_load(&((thread *)self)->state) == IS_RUNNING;
}

static int thread_is_finished(id self, SEL _cmd) {
  (void)_cmd;
  return atomic_load(&((thread *)self)->state) == IS_FINISHED;
}

static int thread_is_main(id self, SEL _cmd) {
  (void)_cmd;
  return self == atomic_load(&main_object);
}

static id thread_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((thread *)self)->name;
}

static void thread_set_name(id self, SEL _cmd, id name) {
  (void)_cmd;
  thread *own = (thread *)self;
  id old = own->name;
  own->name = SEND(id (*)(id, SEL), name, "copy");
  objc_release(old);
}

static id thread_dictionary(id self, SEL _cmd) {
  (void)_cmd;
  thread *own = (thread *)self;
  if (!own->dictionary) {
    own->dictionary = dictionary_create();
  }
  return own->dictionary;
}

// --- the class's own -----------------------------------------------------------

static int class_is_main(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return is_main_thread();
}

static void sleep_for(id self, SEL _cmd, double seconds) {
  (void)self;
  (void)_cmd;
  if (!(seconds > 0)) {
    return;
  }
  const double most = 1e9;
  const double bounded = seconds < most ? seconds : most;
  struct timespec rest = {
      .tv_sec = (time_t)bounded,
      .tv_nsec = (long)((bounded - (double)(time_t)bounded) * 1e9)};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

static void sleep_until(id self, SEL _cmd, id date) {
  sleep_for(self, _cmd,
            SEND(double (*)(id, SEL), date, "timeIntervalSinceNow"));
}

METHODS(thread_methods,
        METHOD("initWithTarget:selector:object:", "@40@0:8@16:24@32",
               init_target),
        METHOD("initWithBlock:", "@24@0:8@?16", init_block),
        METHOD("dealloc", "v16@0:8", thread_dealloc),
        METHOD("main", "v16@0:8", thread_main),
        METHOD("start", "v16@0:8", thread_start),
        METHOD("cancel", "v16@0:8", thread_cancel),
        METHOD("isCancelled", "B16@0:8", thread_is_cancelled),
        METHOD("isExecuting", "B16@0:8", thread_is_executing),
        METHOD("isFinished", "B16@0:8", thread_is_finished),
        METHOD("isMainThread", "B16@0:8", thread_is_main),
        METHOD("name", "@16@0:8", thread_name),
        METHOD("setName:", "v24@0:8@16", thread_set_name),
        METHOD("threadDictionary", "@16@0:8", thread_dictionary));
METHODS(thread_class_methods,
        METHOD("currentThread", "@16@0:8", current_thread),
        METHOD("mainThread", "@16@0:8", main_thread),
        METHOD("isMainThread", "B16@0:8", class_is_main),
        METHOD("sleepForTimeInterval:", "v24@0:8d16", sleep_for),
        METHOD("sleepUntilDate:", "v24@0:8@16", sleep_until),
        METHOD("detachNewThreadSelector:toTarget:withObject:",
               "v40@0:8:16@24@32", detach_selector),
        METHOD("detachNewThreadWithBlock:", "v24@0:8@?16", detach_block));
DEFINE_CLASS(NSThread, NSObject, sizeof(thread), thread_methods,
             &thread_class_methods);
