// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operation.c: NSOperation and NSBlockOperation.
#include "objc/operations/operation.h"

#include <pthread.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSOperation;
extern struct objc_class OBJC_CLASS_$_NSBlockOperation;

static pthread_mutex_t lock;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

// Recursive: isReady, which is asked under the lock, may be a client's.
static void make_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

void operations_lock(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_lock);
  pthread_mutex_lock(&lock);
}

void operations_unlock(void) {
  pthread_mutex_unlock(&lock);
}

void operations_wait(void) {
  pthread_cond_wait(&ended, &lock);
}

static operation *of(id self) {
  return (operation *)self;
}

static bool is_finished(id self) {
  return SEND(signed char (*)(id, SEL), self, "isFinished");
}

static id operation_init(id self, SEL _cmd) {
  (void)_cmd;
  of(self)->dependencies = mutable_array_create();
  of(self)->quality = -1;  // NSQualityOfServiceDefault
  return self;
}

static void operation_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(of(self)->dependencies);
  objc_release(of(self)->name);
  _Block_release(of(self)->completion);
  instance_dispose(self);
}

// --- States ------------------------------------------------------------------

static int operation_finished(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->is_finished;
}

static int operation_executing(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->is_executing;
}

static int operation_cancelled(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->is_cancelled;
}

static int operation_asynchronous(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

// A cancelled operation waits for nothing: it has only to end.
bool operation_is_ready(id self) {
  operations_lock();
  const id others = of(self)->dependencies;
  bool is_ready = true;
  for (size_t i = 0; is_ready && i < array_count(others); ++i) {
    is_ready = is_finished(array_at(others, i));
  }
  is_ready = is_ready || of(self)->is_cancelled;
  operations_unlock();
  return is_ready;
}

static int operation_ready(id self, SEL _cmd) {
  (void)_cmd;
  return operation_is_ready(self);
}

static void call_completion(void *context) {
  BLOCK_CALL(void (*)(id), (id)context);
  _Block_release(context);
}

void operation_check_end(id self) {
  if (!is_finished(self)) {
    return;
  }
  objc_retain(self);
  operations_lock();
  id completion = NULL, emptied = NULL;
  if (!of(self)->is_done) {
    of(self)->is_done = true;
    completion = of(self)->completion;
    of(self)->completion = NULL;
    const id queue = of(self)->queue;
    if (queue && operation_queue_remove(queue, self)) {
      emptied = queue;
    }
    pthread_cond_broadcast(&ended);
    operation_queues_schedule();
  }
  operations_unlock();
  if (completion) {
    dispatch_queue_add(dispatch_get_global_queue(0, 0), call_completion,
                       completion);
  }
  objc_release(emptied);
  objc_release(self);
}

// An operation that runs by itself tells its end so, by key-value observing's
// calls: isFinished has changed.
static void operation_did_change(id self, SEL _cmd, id key) {
  (void)_cmd;
  if (string_equals(key, string_make("isFinished")) ||
      string_equals(key, string_make("finished"))) {
    operation_check_end(self);
  } else if (string_equals(key, string_make("isReady")) ||
             string_equals(key, string_make("ready"))) {
    operations_lock();
    operation_queues_schedule();
    operations_unlock();
  }
}

static void operation_will_change(id self, SEL _cmd, id key) {
  (void)self;
  (void)_cmd;
  (void)key;
}

static void set_states(id self, bool is_executing, bool is_finished_now) {
  operations_lock();
  of(self)->is_executing = is_executing;
  of(self)->is_finished = is_finished_now;
  operations_unlock();
}

static void operation_main(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static void operation_start(id self, SEL _cmd) {
  (void)_cmd;
  if (of(self)->is_finished) {
    return;
  }
  if (!SEND(signed char (*)(id, SEL), self, "isReady")) {
    exception_raise("NSInvalidArgumentException",
                    "-[NSOperation start]: it waits for another operation");
  }
  if (!SEND(signed char (*)(id, SEL), self, "isCancelled")) {
    set_states(self, true, false);
    SEND(void (*)(id, SEL), self, "main");
  }
  set_states(self, false, true);
  operation_check_end(self);
}

static void operation_cancel(id self, SEL _cmd) {
  (void)_cmd;
  operations_lock();
  of(self)->is_cancelled = true;
  operation_queues_schedule();
  operations_unlock();
}

static void operation_wait(id self, SEL _cmd) {
  (void)_cmd;
  operations_lock();
  while (!of(self)->is_done) {
    operations_wait();
  }
  operations_unlock();
}

// --- Properties --------------------------------------------------------------

static void operation_depend(id self, SEL _cmd, id other) {
  (void)_cmd;
  operations_lock();
  array_add(of(self)->dependencies, other);
  operations_unlock();
}

static void operation_undepend(id self, SEL _cmd, id other) {
  (void)_cmd;
  operations_lock();
  SEND(void (*)(id, SEL, id), of(self)->dependencies,
       "removeObjectIdenticalTo:", other);
  operation_queues_schedule();
  operations_unlock();
}

static id operation_dependencies(id self, SEL _cmd) {
  (void)_cmd;
  operations_lock();
  const id all = SEND(id(*)(id, SEL), of(self)->dependencies, "copy");
  operations_unlock();
  return objc_autorelease(all);
}

static id operation_completion(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->completion;
}

static void operation_set_completion(id self, SEL _cmd, id literal) {
  (void)_cmd;
  const id copy = (id)_Block_copy(literal);
  operations_lock();
  const id old = of(self)->completion;
  of(self)->completion = copy;
  operations_unlock();
  _Block_release(old);
}

static id operation_name(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->name;
}

static void operation_set_name(id self, SEL _cmd, id name) {
  (void)_cmd;
  const id old = of(self)->name;
  of(self)->name = SEND(id(*)(id, SEL), name, "copy");
  objc_release(old);
}

static NSInteger operation_priority(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->priority;
}

static void operation_set_priority(id self, SEL _cmd, NSInteger priority) {
  (void)_cmd;
  of(self)->priority = priority;
}

static NSInteger operation_quality(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->quality;
}

static void operation_set_quality(id self, SEL _cmd, NSInteger quality) {
  (void)_cmd;
  of(self)->quality = quality;
}

METHODS(operation_methods, METHOD("init", "@16@0:8", operation_init),
        METHOD("dealloc", "v16@0:8", operation_dealloc),
        METHOD("main", "v16@0:8", operation_main),
        METHOD("start", "v16@0:8", operation_start),
        METHOD("cancel", "v16@0:8", operation_cancel),
        METHOD("isFinished", "B16@0:8", operation_finished),
        METHOD("isExecuting", "B16@0:8", operation_executing),
        METHOD("isCancelled", "B16@0:8", operation_cancelled),
        METHOD("isReady", "B16@0:8", operation_ready),
        METHOD("isAsynchronous", "B16@0:8", operation_asynchronous),
        METHOD("isConcurrent", "B16@0:8", operation_asynchronous),
        METHOD("willChangeValueForKey:", "v24@0:8@16", operation_will_change),
        METHOD("didChangeValueForKey:", "v24@0:8@16", operation_did_change),
        METHOD("waitUntilFinished", "v16@0:8", operation_wait),
        METHOD("addDependency:", "v24@0:8@16", operation_depend),
        METHOD("removeDependency:", "v24@0:8@16", operation_undepend),
        METHOD("dependencies", "@16@0:8", operation_dependencies),
        METHOD("completionBlock", "@?16@0:8", operation_completion),
        METHOD("setCompletionBlock:", "v24@0:8@?16", operation_set_completion),
        METHOD("name", "@16@0:8", operation_name),
        METHOD("setName:", "v24@0:8@16", operation_set_name),
        METHOD("queuePriority", "q16@0:8", operation_priority),
        METHOD("setQueuePriority:", "v24@0:8q16", operation_set_priority),
        METHOD("qualityOfService", "q16@0:8", operation_quality),
        METHOD("setQualityOfService:", "v24@0:8q16", operation_set_quality));
DEFINE_CLASS(NSOperation, NSObject, sizeof(operation), operation_methods,
             NO_METHODS);

// --- NSBlockOperation --------------------------------------------------------

typedef struct block_operation {
  operation operation;
  id blocks;  // +1, an NSMutableArray
} block_operation;

static id block_init(id self, SEL _cmd) {
  operation_init(self, _cmd);
  ((block_operation *)self)->blocks = mutable_array_create();
  return self;
}

static void block_add(id self, SEL _cmd, id literal) {
  (void)_cmd;
  const id copy = (id)_Block_copy(literal);
  array_add(((block_operation *)self)->blocks, copy);
  _Block_release(copy);
}

static id block_with(Class self, SEL _cmd, id literal) {
  const id made =
      SEND(id(*)(id, SEL), SEND(id(*)(id, SEL), self, "alloc"), "init");
  block_add(made, _cmd, literal);
  return objc_autorelease(made);
}

static id block_list(id self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(
      SEND(id(*)(id, SEL), ((block_operation *)self)->blocks, "copy"));
}

static void block_main(id self, SEL _cmd) {
  const id blocks = block_list(self, _cmd);
  for (size_t i = 0; i < array_count(blocks); ++i) {
    BLOCK_CALL(void (*)(id), array_at(blocks, i));
  }
}

static void block_dealloc(id self, SEL _cmd) {
  objc_release(((block_operation *)self)->blocks);
  operation_dealloc(self, _cmd);
}

METHODS(block_methods, METHOD("init", "@16@0:8", block_init),
        METHOD("dealloc", "v16@0:8", block_dealloc),
        METHOD("main", "v16@0:8", block_main),
        METHOD("addExecutionBlock:", "v24@0:8@?16", block_add),
        METHOD("executionBlocks", "@16@0:8", block_list));
METHODS(block_class_methods,
        METHOD("blockOperationWithBlock:", "@24@0:8@?16", block_with));
DEFINE_CLASS(NSBlockOperation, NSOperation, sizeof(block_operation),
             block_methods, &block_class_methods);
