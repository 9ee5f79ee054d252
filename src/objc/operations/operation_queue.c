// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operation_queue.c: NSOperationQueue: starts operations that are ready, as
// many at once as it may, by dispatch's threads.
#include "objc/dispatch/dispatch.h"
#include "objc/operations/operation.h"

typedef struct operation_queue {
  struct objc_object object;
  struct operation_queue *next;  // of all queues
  id operations;                 // +1, an NSMutableArray of what has not ended
  id name;                       // +1
  id underlying;                 // +1, a dispatch queue or nil
  NSInteger most;                // at once; -1 for as many as there are threads
  NSInteger quality;
  NSInteger running;
  bool is_suspended;
} operation_queue;

enum { THREADS = 64 };  // as many as dispatch starts on macOS

extern struct objc_class OBJC_CLASS_$_NSOperationQueue;
extern struct objc_class OBJC_CLASS_$_NSBlockOperation;

static operation_queue *queues;
static _Thread_local id current;

static operation_queue *of(id self) {
  return (operation_queue *)self;
}

static id queue_init(id self, SEL _cmd) {
  (void)_cmd;
  of(self)->operations = mutable_array_create();
  of(self)->most = -1;
  of(self)->quality = -1;
  operations_lock();
  of(self)->next = queues;
  queues = of(self);
  operations_unlock();
  return self;
}

static void queue_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  operations_lock();
  operation_queue **at = &queues;
  while (*at && *at != of(self)) {
    at = &(*at)->next;
  }
  if (*at) {
    *at = of(self)->next;
  }
  operations_unlock();
  objc_release(of(self)->operations);
  objc_release(of(self)->name);
  objc_release(of(self)->underlying);
  instance_dispose(self);
}

// --- Running -----------------------------------------------------------------

static void run(void *context) {
  const id task = (id)context, before = current;
  const id queue = objc_retain(((operation *)task)->queue);
  current = queue;
  SEND(void (*)(id, SEL), task, "start");
  operation_check_end(task);
  current = before;
  objc_release(queue);
  objc_release(task);
}

// Returns the operation to start next: the first of those with the highest
// priority that are ready.
static operation *next_of(const operation_queue *queue) {
  operation *best = NULL;
  for (size_t i = 0; i < array_count(queue->operations); ++i) {
    operation *each = (operation *)array_at(queue->operations, i);
    if (!each->is_launched && (!best || each->priority > best->priority) &&
        SEND(signed char (*)(id, SEL), each, "isReady")) {
      best = each;
    }
  }
  return best;
}

static void schedule(operation_queue *queue) {
  const NSInteger most = queue->most < 0 ? THREADS : queue->most;
  while (!queue->is_suspended && queue->running < most) {
    operation *next = next_of(queue);
    if (!next) {
      return;
    }
    next->is_launched = true;
    ++queue->running;
    dispatch_queue_add(
        queue->underlying ? queue->underlying : dispatch_get_global_queue(0, 0),
        run, objc_retain(&next->object));
  }
}

void operation_queues_schedule(void) {
  for (operation_queue *each = queues; each; each = each->next) {
    schedule(each);
  }
}

// A queue lives as long as it has operations: the first one retains it.
bool operation_queue_remove(id queue, id ended) {
  ((operation *)ended)->queue = NULL;
  of(queue)->running -= ((operation *)ended)->is_launched;
  SEND(void (*)(id, SEL, id), of(queue)->operations,
       "removeObjectIdenticalTo:", ended);
  return !array_count(of(queue)->operations);
}

static void add(id self, id task) {
  operation *added = (operation *)task;
  if (!task || added->queue || added->is_done ||
      SEND(signed char (*)(id, SEL), task, "isExecuting")) {
    operations_unlock();
    exception_raise("NSInvalidArgumentException",
                    "-[NSOperationQueue addOperation:]: %s",
                    task ? "the operation was added or started before"
                         : "the operation is nil");
  }
  if (!array_count(of(self)->operations)) {
    objc_retain(self);
  }
  added->queue = self;
  array_add(of(self)->operations, task);
}

static void queue_add(id self, SEL _cmd, id task) {
  (void)_cmd;
  operations_lock();
  add(self, task);
  schedule(of(self));
  operations_unlock();
}

static void queue_add_all(id self, SEL _cmd, id tasks, signed char waits) {
  (void)_cmd;
  operations_lock();
  for (size_t i = 0; i < array_count(tasks); ++i) {
    add(self, array_at(tasks, i));
  }
  schedule(of(self));
  operations_unlock();
  for (size_t i = 0; waits && i < array_count(tasks); ++i) {
    SEND(void (*)(id, SEL), array_at(tasks, i), "waitUntilFinished");
  }
}

static void queue_add_block(id self, SEL _cmd, id literal) {
  queue_add(self, _cmd,
            SEND(id(*)(id, SEL, id), CLASS_OF(NSBlockOperation),
                 "blockOperationWithBlock:", literal));
}

static id queue_list(id self, SEL _cmd) {
  (void)_cmd;
  operations_lock();
  const id all = SEND(id(*)(id, SEL), of(self)->operations, "copy");
  operations_unlock();
  return objc_autorelease(all);
}

static NSUInteger queue_count(id self, SEL _cmd) {
  return array_count(queue_list(self, _cmd));
}

static void queue_cancel(id self, SEL _cmd) {
  const id all = queue_list(self, _cmd);
  for (size_t i = 0; i < array_count(all); ++i) {
    SEND(void (*)(id, SEL), array_at(all, i), "cancel");
  }
}

static void queue_wait(id self, SEL _cmd) {
  (void)_cmd;
  operations_lock();
  while (array_count(of(self)->operations)) {
    operations_wait();
  }
  operations_unlock();
}

// --- Properties --------------------------------------------------------------

static NSInteger queue_most(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->most;
}

static void queue_set_most(id self, SEL _cmd, NSInteger most) {
  (void)_cmd;
  operations_lock();
  of(self)->most = most;
  schedule(of(self));
  operations_unlock();
}

static int queue_suspended(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->is_suspended;
}

static void queue_set_suspended(id self, SEL _cmd, signed char suspended) {
  (void)_cmd;
  operations_lock();
  of(self)->is_suspended = suspended;
  schedule(of(self));
  operations_unlock();
}

static id queue_name(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->name;
}

static void queue_set_name(id self, SEL _cmd, id name) {
  (void)_cmd;
  const id old = of(self)->name;
  of(self)->name = SEND(id(*)(id, SEL), name, "copy");
  objc_release(old);
}

static NSInteger queue_quality(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->quality;
}

static void queue_set_quality(id self, SEL _cmd, NSInteger quality) {
  (void)_cmd;
  of(self)->quality = quality;
}

static id queue_underlying(id self, SEL _cmd) {
  (void)_cmd;
  return of(self)->underlying;
}

static void queue_set_underlying(id self, SEL _cmd, id underlying) {
  (void)_cmd;
  operations_lock();
  const id old = of(self)->underlying;
  of(self)->underlying = objc_retain(underlying);
  operations_unlock();
  objc_release(old);
}

static id queue_current(Class self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return current;
}

// The queue of the main thread, which here is dispatch's main queue.
static id queue_main(Class self, SEL _cmd) {
  extern id dispatch_get_main_queue(void);
  static _Atomic(id) shared;
  (void)_cmd;
  const id made = shared_instance(&shared, self);
  operations_lock();
  if (!of(made)->underlying) {
    of(made)->underlying = objc_retain(dispatch_get_main_queue());
    of(made)->most = 1;
  }
  operations_unlock();
  return made;
}

METHODS(queue_methods, METHOD("init", "@16@0:8", queue_init),
        METHOD("dealloc", "v16@0:8", queue_dealloc),
        METHOD("addOperation:", "v24@0:8@16", queue_add),
        METHOD("addOperations:waitUntilFinished:", "v28@0:8@16c24",
               queue_add_all),
        METHOD("addOperationWithBlock:", "v24@0:8@?16", queue_add_block),
        METHOD("operations", "@16@0:8", queue_list),
        METHOD("operationCount", "Q16@0:8", queue_count),
        METHOD("cancelAllOperations", "v16@0:8", queue_cancel),
        METHOD("waitUntilAllOperationsAreFinished", "v16@0:8", queue_wait),
        METHOD("maxConcurrentOperationCount", "q16@0:8", queue_most),
        METHOD("setMaxConcurrentOperationCount:", "v24@0:8q16", queue_set_most),
        METHOD("isSuspended", "B16@0:8", queue_suspended),
        METHOD("setSuspended:", "v20@0:8c16", queue_set_suspended),
        METHOD("name", "@16@0:8", queue_name),
        METHOD("setName:", "v24@0:8@16", queue_set_name),
        METHOD("qualityOfService", "q16@0:8", queue_quality),
        METHOD("setQualityOfService:", "v24@0:8q16", queue_set_quality),
        METHOD("underlyingQueue", "@16@0:8", queue_underlying),
        METHOD("setUnderlyingQueue:", "v24@0:8@16", queue_set_underlying));
METHODS(queue_class_methods, METHOD("mainQueue", "@16@0:8", queue_main),
        METHOD("currentQueue", "@16@0:8", queue_current));
DEFINE_CLASS(NSOperationQueue, NSObject, sizeof(operation_queue), queue_methods,
             &queue_class_methods);
