// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_queue.c: MTL4CommandQueue, which encodes lists at their commit, and the
// feedback of a commit.
#include <pthread.h>
#include <stdlib.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_MettleQueue4;
extern struct objc_class OBJC_CLASS_$_MettleFeedback4;

// --- What a commit tells -----------------------------------------------------

typedef struct feedback {
  struct objc_object object;
  id error;  // +1 or nil
  double GPUStartTime;
  double GPUEndTime;
} feedback;

REFERENCES(feedback, error, error)
READ_PROPERTY(feedback, id, error)
READ_PROPERTY(feedback, double, GPUStartTime)
READ_PROPERTY(feedback, double, GPUEndTime)

METHODS(feedback_methods, REFERENCES_METHODS(feedback),
        METHOD("error", "@16@0:8", feedback_get_error),
        METHOD("GPUStartTime", "d16@0:8", feedback_get_GPUStartTime),
        METHOD("GPUEndTime", "d16@0:8", feedback_get_GPUEndTime));
DEFINE_CLASS(MettleFeedback4, NSObject, sizeof(feedback), feedback_methods,
             NO_METHODS);

typedef struct commit_options {
  struct objc_object object;
  id handlers;  // +1 or nil: blocks
} commit_options;

static void options_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((commit_options *)self)->handlers);
  instance_dispose(self);
}

static void options_add(id self, SEL _cmd, id literal) {
  (void)_cmd;
  commit_options *of = (commit_options *)self;
  if (!of->handlers) {
    of->handlers = mutable_array_create();
  }
  void *copy = _Block_copy(literal);
  array_add(of->handlers, copy);
  _Block_release(copy);
}

METHODS(options_methods, METHOD("dealloc", "v16@0:8", options_dealloc),
        METHOD("addFeedbackHandler:", "v24@0:8@?16", options_add));
DEFINE_CLASS(MTL4CommitOptions, NSObject, sizeof(commit_options),
             options_methods, NO_METHODS);

// --- MTL4CommandQueue --------------------------------------------------------

typedef struct queue4 {
  struct objc_object object;
  id device;  // +1
  id queue;   // +1, an MTLCommandQueue
  id sets;    // +1, an NSMutableArray
  id label;
  id feedback_queue;  // +1, a dispatch queue
  pthread_mutex_t lock;
} queue4;

static id new_queue_by(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  (void)out_error;
  const mtl4_queue_descriptor *from = (mtl4_queue_descriptor *)descriptor;
  queue4 *made = (queue4 *)CREATE(MettleQueue4);
  pthread_mutex_init(&made->lock, NULL);
  made->device = objc_retain(self);
  made->queue = queue_make_ordered_by_barriers(self);
  made->sets = mutable_array_create();
  made->label = objc_retain(from ? from->label : NULL);
  made->feedback_queue = from && from->feedbackQueue
                             ? objc_retain(from->feedbackQueue)
                             : dispatch_queue_create_serial("MTL4CommandQueue");
  return &made->object;
}

static id new_queue(id self, SEL _cmd) {
  return new_queue_by(self, _cmd, NULL, NULL);
}

static void queue_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  queue4 *of = (queue4 *)self;
  objc_release(of->feedback_queue);
  objc_release(of->label);
  objc_release(of->sets);
  objc_release(of->queue);
  objc_release(of->device);
  pthread_mutex_destroy(&of->lock);
  instance_dispose(self);
}

static void queue_add_set(id self, SEL _cmd, id set) {
  (void)_cmd;
  queue4 *of = (queue4 *)self;
  pthread_mutex_lock(&of->lock);
  array_add(of->sets, set);
  SEND(void (*)(id, SEL, id), of->queue, "addResidencySet:", set);
  pthread_mutex_unlock(&of->lock);
}

static void queue_remove_set(id self, SEL _cmd, id set) {
  (void)_cmd;
  queue4 *of = (queue4 *)self;
  pthread_mutex_lock(&of->lock);
  SEND(void (*)(id, SEL, id), of->sets, "removeObjectIdenticalTo:", set);
  SEND(void (*)(id, SEL, id), of->queue, "removeResidencySet:", set);
  pthread_mutex_unlock(&of->lock);
}

static void queue_add_sets(id self, SEL _cmd, const id *sets,
                           NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    queue_add_set(self, _cmd, sets[i]);
  }
}

static void queue_remove_sets(id self, SEL _cmd, const id *sets,
                              NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    queue_remove_set(self, _cmd, sets[i]);
  }
}

// Returns all allocations of the queue's sets and of a command buffer's.
static id resident_of(queue4 *of, id own_sets) {
  const id all = objc_autorelease(mutable_array_create());
  pthread_mutex_lock(&of->lock);
  const id both = SEND(id(*)(id, SEL, id), of->sets,
                       "arrayByAddingObjectsFromArray:", own_sets);
  pthread_mutex_unlock(&of->lock);
  const size_t count = array_count(both);
  for (size_t i = 0; i < count; ++i) {
    const id list = SEND(id(*)(id, SEL), array_at(both, i), "allAllocations");
    SEND(void (*)(id, SEL, id), all, "addObjectsFromArray:", list);
  }
  return all;
}

// The arguments of the feedback's handlers, called when the last command buffer
// is done.
typedef struct pending {
  id handlers;  // +1
  id queue;     // +1
  id feedback;  // +1
} pending;

static void tell(void *context) {
  pending *of = context;
  const size_t count = array_count(of->handlers);
  for (size_t i = 0; i < count; ++i) {
    BLOCK_CALL(void (*)(id, id), array_at(of->handlers, i), of->feedback);
  }
  objc_release(of->handlers);
  objc_release(of->queue);
  objc_release(of->feedback);
  free(of);
}

static void done(void *context, mtl_command_buffer *finished) {
  pending *of = context;
  feedback *told = (feedback *)of->feedback;
  const char *text;
  const mtl_status status = mtl_command_buffer_error(finished, &text);
  if (status != MTL_OK && !told->error) {
    id made = NULL;
    (void)mtl_fail(status, "%s", text);
    error_from_mettle(&made, MTLCommandBufferErrorDomain, status);
    told->error = objc_retain(made);
  }
  told->GPUEndTime =
      (double)mtl_command_buffer_get_times(finished).device_end_ns * 1e-9;
  dispatch_queue_add(of->queue, tell, of);
}

// Has the handlers called when target, the last of a commit, is done.
static void tell_end(queue4 *of, id target, id handlers, id error) {
  pending *made = calloc(1, sizeof *made);
  feedback *told = (feedback *)CREATE(MettleFeedback4);
  if (!made) {
    runtime_fail("no memory for a commit's feedback");
  }
  told->error = objc_retain(error);
  *made = (pending){objc_retain(handlers), objc_retain(of->feedback_queue),
                    &told->object};
  mtl_command_buffer *last = ((metal_command_buffer *)target)->commands;
  if (mtl_command_buffer_on_completed(last, done, made) != MTL_OK) {
    runtime_fail("commit: %s", mtl_last_error());
  }
}

// Encodes and commits [count], in order. A command buffer that cannot be
// encoded is told of by the feedback, and by a line where nobody asked for one.
static void queue_commit_with(id self, SEL _cmd, const id *list,
                              NSUInteger count, id options) {
  (void)_cmd;
  void *pool = objc_autoreleasePoolPush();
  queue4 *of = (queue4 *)self;
  const id handlers = options ? ((commit_options *)options)->handlers : NULL;
  id error = NULL;
  for (NSUInteger i = 0; i < count; ++i) {
    const mtl4_commands *each = (mtl4_commands *)list[i];
    if (each->is_open) {
      metal_assert("commit: a command buffer was not ended");
    }
    const id target = SEND(id(*)(id, SEL), of->queue, "commandBuffer");
    SEND(void (*)(id, SEL, id), target, "setLabel:", each->label);
    const char *failure =
        mtl4_commands_encode(each, target, resident_of(of, each->sets));
    if (failure) {
      error = error_make(MTLCommandBufferErrorDomain, 9, failure);
      if (!handlers) {
        runtime_warn("commit: %s", failure);
      }
      continue;  // drops the part that was encoded
    }
    if (handlers && i + 1 == count) {
      tell_end(of, target, handlers, error);
    }
    SEND(void (*)(id, SEL), target, "commit");
  }
  if (handlers && error) {
    const id last = SEND(id(*)(id, SEL), of->queue, "commandBuffer");
    tell_end(of, last, handlers, error);
    SEND(void (*)(id, SEL), last, "commit");
  }
  objc_autoreleasePoolPop(pool);
}

static void queue_commit(id self, SEL _cmd, const id *list, NSUInteger count) {
  queue_commit_with(self, _cmd, list, count, NULL);
}

static void event_at(id self, const char *selector, id event, uint64_t value) {
  void *pool = objc_autoreleasePoolPush();
  const id target =
      SEND(id(*)(id, SEL), ((queue4 *)self)->queue, "commandBuffer");
  if (*selector == 's') {
    SEND(void (*)(id, SEL, id, uint64_t), target,
         "encodeSignalEvent:value:", event, value);
  } else {
    SEND(void (*)(id, SEL, id, uint64_t), target,
         "encodeWaitForEvent:value:", event, value);
  }
  SEND(void (*)(id, SEL), target, "commit");
  objc_autoreleasePoolPop(pool);
}

static void queue_signal(id self, SEL _cmd, id event, uint64_t value) {
  (void)_cmd;
  event_at(self, "signal", event, value);
}

static void queue_wait(id self, SEL _cmd, id event, uint64_t value) {
  (void)_cmd;
  event_at(self, "wait", event, value);
}

READ_PROPERTY(queue4, id, device)
READ_PROPERTY(queue4, id, label)

METHODS(queue_methods, METHOD("dealloc", "v16@0:8", queue_dealloc),
        METHOD("device", "@16@0:8", queue4_get_device),
        METHOD("label", "@16@0:8", queue4_get_label),
        METHOD("commit:count:", "v32@0:8^@16Q24", queue_commit),
        METHOD("commit:count:options:", "v40@0:8^@16Q24@32", queue_commit_with),
        METHOD("signalEvent:value:", "v32@0:8@16Q24", queue_signal),
        METHOD("waitForEvent:value:", "v32@0:8@16Q24", queue_wait),
        METHOD("addResidencySet:", "v24@0:8@16", queue_add_set),
        METHOD("addResidencySets:count:", "v32@0:8^@16Q24", queue_add_sets),
        METHOD("removeResidencySet:", "v24@0:8@16", queue_remove_set),
        METHOD("removeResidencySets:count:", "v32@0:8^@16Q24",
               queue_remove_sets));
DEFINE_CLASS(MettleQueue4, NSObject, sizeof(queue4), queue_methods, NO_METHODS);

METHODS(device_methods, METHOD("newMTL4CommandQueue", "@16@0:8", new_queue),
        METHOD("newMTL4CommandQueueWithDescriptor:error:", "@32@0:8@16^@24",
               new_queue_by));
DEFINE_CATEGORY(MettleDevice, queues4, device_methods);
