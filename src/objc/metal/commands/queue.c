// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.c: MTLCommandQueue and MTLCommandBuffer.
#include <stdlib.h>

#include "objc/metal/commands/encoder_info.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_MettleQueue;
extern struct objc_class OBJC_CLASS_$_MettleCommandBuffer;

// --- MTLCommandQueueDescriptor -----------------------------------------------

typedef struct queue_descriptor {
  struct objc_object object;
  NSUInteger maxCommandBufferCount;
  id logState;
} queue_descriptor;

REFERENCES(queue_descriptor, logState, logState)
VALUE_PROPERTY(queue_descriptor, NSUInteger, maxCommandBufferCount)
OBJECT_PROPERTY(queue_descriptor, logState)

static id queue_descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  ((queue_descriptor *)self)->maxCommandBufferCount = 64;
  return self;
}

METHODS(queue_descriptor_methods,
        METHOD("init", "@16@0:8", queue_descriptor_init),
        REFERENCES_METHODS(queue_descriptor),
        VALUE_METHODS(queue_descriptor, maxCommandBufferCount,
                      "setMaxCommandBufferCount:", "Q"),
        OBJECT_METHODS(queue_descriptor, logState, "setLogState:"));
DEFINE_CLASS(MTLCommandQueueDescriptor, NSObject, sizeof(queue_descriptor),
             queue_descriptor_methods, NO_METHODS);

// --- MTLCommandQueue ---------------------------------------------------------

static id queue_make(id self, const mtl_queue_desc *desc, id log_state) {
  mtl_queue *queue;
  if (mtl_queue_create(device_of(self), desc, &queue) != MTL_OK) {
    return NULL;
  }
  metal_queue *made = (metal_queue *)CREATE(MettleQueue);
  made->device = objc_retain(self);
  made->queue = queue;
  made->log_state = objc_retain(log_state);
  return &made->object;
}

static id new_queue_of(id self, NSUInteger count, id log_state) {
  return queue_make(self,
                    &(mtl_queue_desc){.max_command_buffers = (uint32_t)count,
                                      .log_state = log_state_of(log_state)},
                    log_state);
}

id queue_make_ordered_by_barriers(id device) {
  return queue_make(device, &(mtl_queue_desc){.is_ordered_by_barriers = true},
                    NULL);
}

static id new_queue(id self, SEL _cmd) {
  (void)_cmd;
  return new_queue_of(self, 64, NULL);
}

static id new_queue_with_count(id self, SEL _cmd, NSUInteger count) {
  (void)_cmd;
  return new_queue_of(self, count, NULL);
}

static id new_queue_by(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const queue_descriptor *from = (queue_descriptor *)descriptor;
  return new_queue_of(self, from->maxCommandBufferCount, from->logState);
}

METHODS(device_methods, METHOD("newCommandQueue", "@16@0:8", new_queue),
        METHOD("newCommandQueueWithMaxCommandBufferCount:", "@24@0:8Q16",
               new_queue_with_count),
        METHOD("newCommandQueueWithDescriptor:", "@24@0:8@16", new_queue_by));
DEFINE_CATEGORY(MettleDevice, queues, device_methods);

static void queue_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_queue_release(((metal_queue *)self)->queue);
  objc_release(((metal_queue *)self)->log_state);
  objc_release(((metal_queue *)self)->device);
  instance_dispose(self);
}

static id queue_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_queue *)self)->device;
}

static id queue_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_queue_label(((metal_queue *)self)->queue));
}

static void queue_set_label(id self, SEL _cmd, id label) {
  (void)_cmd;
  mtl_queue_set_label(((metal_queue *)self)->queue, string_utf8(label));
}

static bool tell_end(id self);

// Returns a command buffer, autoreleased.
static id command_buffer(id self, bool unretained, id log_state) {
  mtl_command_buffer *commands;
  const mtl_command_buffer_desc desc = {.unretained_references = unretained,
                                        .log_state = log_state_of(log_state)};
  if (mtl_command_buffer_create(((metal_queue *)self)->queue, &desc,
                                &commands) != MTL_OK) {
    return NULL;
  }
  metal_command_buffer *made =
      (metal_command_buffer *)CREATE(MettleCommandBuffer);
  made->queue = objc_retain(self);
  made->commands = commands;
  made->unretained = unretained;
  made->log_state =
      objc_retain(log_state ? log_state : ((metal_queue *)self)->log_state);
  if (made->log_state && !tell_end(&made->object)) {
    objc_release(&made->object);
    return NULL;
  }
  return objc_autorelease(&made->object);
}

static id queue_commands(id self, SEL _cmd) {
  (void)_cmd;
  return command_buffer(self, false, NULL);
}

static id queue_commands_unretained(id self, SEL _cmd) {
  (void)_cmd;
  return command_buffer(self, true, NULL);
}

typedef struct command_buffer_descriptor {
  struct objc_object object;
  bool retainedReferences;
  NSUInteger errorOptions;
  id logState;
} command_buffer_descriptor;

REFERENCES(command_buffer_descriptor, logState, logState)
FLAG_PROPERTY(command_buffer_descriptor, retainedReferences)
VALUE_PROPERTY(command_buffer_descriptor, NSUInteger, errorOptions)
OBJECT_PROPERTY(command_buffer_descriptor, logState)

static id command_descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  ((command_buffer_descriptor *)self)->retainedReferences = true;
  return self;
}

METHODS(command_descriptor_methods,
        METHOD("init", "@16@0:8", command_descriptor_init),
        REFERENCES_METHODS(command_buffer_descriptor),
        FLAG_METHODS(command_buffer_descriptor, retainedReferences,
                     "setRetainedReferences:"),
        VALUE_METHODS(command_buffer_descriptor, errorOptions,
                      "setErrorOptions:", "Q"),
        OBJECT_METHODS(command_buffer_descriptor, logState, "setLogState:"));
DEFINE_CLASS(MTLCommandBufferDescriptor, NSObject,
             sizeof(command_buffer_descriptor), command_descriptor_methods,
             NO_METHODS);

static id queue_commands_by(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const command_buffer_descriptor *from =
      (command_buffer_descriptor *)descriptor;
  const id made =
      command_buffer(self, !from->retainedReferences, from->logState);
  if (made) {
    ((metal_command_buffer *)made)->error_options = from->errorOptions;
  }
  return made;
}

static void queue_add_sets(id self, SEL _cmd, const id *sets,
                           NSUInteger count) {
  (void)_cmd;
  for (NSUInteger i = 0; i < count; ++i) {
    mtl_residency_set *set = residency_set_of(sets[i]);
    if (mtl_queue_add_residency_sets(((metal_queue *)self)->queue, &set, 1) !=
        MTL_OK) {
      metal_assert("addResidencySet: %s", mtl_last_error());
    }
  }
}

static void queue_remove_sets(id self, SEL _cmd, const id *sets,
                              NSUInteger count) {
  (void)_cmd;
  for (NSUInteger i = 0; i < count; ++i) {
    mtl_residency_set *set = residency_set_of(sets[i]);
    if (mtl_queue_remove_residency_sets(((metal_queue *)self)->queue, &set,
                                        1) != MTL_OK) {
      metal_assert("removeResidencySet: %s", mtl_last_error());
    }
  }
}

static void queue_add_set(id self, SEL _cmd, id set) {
  queue_add_sets(self, _cmd, &set, 1);
}

static void queue_remove_set(id self, SEL _cmd, id set) {
  queue_remove_sets(self, _cmd, &set, 1);
}

static void commands_use_sets(id self, SEL _cmd, const id *sets,
                              NSUInteger count) {
  (void)_cmd;
  for (NSUInteger i = 0; i < count; ++i) {
    mtl_residency_set *set = residency_set_of(sets[i]);
    mtl_command_buffer_use_residency_sets(
        ((metal_command_buffer *)self)->commands, &set, 1);
  }
}

static void commands_use_set(id self, SEL _cmd, id set) {
  commands_use_sets(self, _cmd, &set, 1);
}

static void queue_boundary(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

METHODS(queue_methods, METHOD("dealloc", "v16@0:8", queue_dealloc),
        METHOD("device", "@16@0:8", queue_device),
        METHOD("label", "@16@0:8", queue_label),
        METHOD("setLabel:", "v24@0:8@16", queue_set_label),
        METHOD("commandBuffer", "@16@0:8", queue_commands),
        METHOD("commandBufferWithUnretainedReferences", "@16@0:8",
               queue_commands_unretained),
        METHOD("commandBufferWithDescriptor:", "@24@0:8@16",
               queue_commands_by),
        METHOD("addResidencySet:", "v24@0:8@16", queue_add_set),
        METHOD("removeResidencySet:", "v24@0:8@16", queue_remove_set),
        METHOD("addResidencySets:count:", "v32@0:8^@16Q24",
               queue_add_sets),
        METHOD("removeResidencySets:count:", "v32@0:8^@16Q24",
               queue_remove_sets),
        METHOD("insertDebugCaptureBoundary", "v16@0:8", queue_boundary));
DEFINE_CLASS(MettleQueue, NSObject, sizeof(metal_queue), queue_methods,
             NO_METHODS);

// --- MTLCommandBuffer --------------------------------------------------------

static mtl_command_buffer *commands_of(id self) {
  return ((metal_command_buffer *)self)->commands;
}

static void commands_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_command_buffer *buffer = (metal_command_buffer *)self;
  handlers_free(buffer->scheduled);
  handlers_free(buffer->completed);
  mtl_command_buffer_release(buffer->commands);
  objc_release(buffer->error);
  objc_release(buffer->encoders);
  objc_release(buffer->log_state);
  objc_release(buffer->queue);
  instance_dispose(self);
}

static id commands_queue(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_command_buffer *)self)->queue;
}

static id commands_device(id self, SEL _cmd) {
  (void)_cmd;
  return queue_device(((metal_command_buffer *)self)->queue, _cmd);
}

static id commands_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_command_buffer_label(commands_of(self)));
}

static void commands_set_label(id self, SEL _cmd, id label) {
  (void)_cmd;
  mtl_command_buffer_set_label(commands_of(self), string_utf8(label));
}

static int commands_retained(id self, SEL _cmd) {
  (void)_cmd;
  return !((metal_command_buffer *)self)->unretained;
}

static void commands_enqueue(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_command_buffer_enqueue(commands_of(self)) != MTL_OK) {
    metal_assert("enqueue: %s", mtl_last_error());
  }
}

// Client code that Mettle calls runs in a pool of its own.
static void call_handlers(handler **list, id self) {
  void *pool = objc_autoreleasePoolPush();
  handler *taken = *list;
  *list = NULL;
  handlers_call(taken, self);
  objc_autoreleasePoolPop(pool);
}

static void tell_scheduled(void *context, mtl_command_buffer *commands) {
  (void)commands;
  const id self = context;
  call_handlers(&((metal_command_buffer *)self)->scheduled, self);
}

static void tell_completed(void *context, mtl_command_buffer *commands) {
  (void)commands;
  const id self = context;
  call_handlers(&((metal_command_buffer *)self)->completed, self);
  objc_release(self);  // -1, of commit
}

static void commands_commit(id self, SEL _cmd) {
  (void)_cmd;
  metal_command_buffer *buffer = (metal_command_buffer *)self;
  const bool is_awaited = buffer->is_told;
  if (is_awaited) {
    objc_retain(self);  // +1, until its handlers have been called
  }
  // A failed recording is no error of commit's: status and error report it, and
  // the handlers are called.
  if (mtl_command_buffer_commit(buffer->commands) == MTL_INVALID_STATE) {
    if (is_awaited) {
      objc_release(self);  // -1
    }
    metal_assert("commit: %s", mtl_last_error());
  }
}

static void add_handler(handler **list, id literal, bool is_told) {
  if (!is_told || !handlers_add(list, literal)) {
    metal_assert("no memory for a handler");
  }
}

// Has tell_completed called, whatever the number of handlers. It borrows self,
// which commit retains.
static bool tell_end(id self) {
  metal_command_buffer *buffer = (metal_command_buffer *)self;
  buffer->is_told = buffer->is_told ||
                    mtl_command_buffer_on_completed(
                        buffer->commands, tell_completed, self) == MTL_OK;
  return buffer->is_told;
}

static void check_open(id self) {
  if (mtl_command_buffer_get_status(commands_of(self)) >=
      MTL_COMMAND_BUFFER_COMMITTED) {
    metal_assert("a handler is added to a command buffer that is committed");
  }
}

static void commands_add_scheduled(id self, SEL _cmd, id literal) {
  (void)_cmd;
  metal_command_buffer *buffer = (metal_command_buffer *)self;
  check_open(self);
  const bool is_told =
      tell_end(self) &&
      (buffer->scheduled ||
       mtl_command_buffer_on_scheduled(buffer->commands, tell_scheduled,
                                       self) == MTL_OK);
  add_handler(&buffer->scheduled, literal, is_told);
}

static void commands_add_completed(id self, SEL _cmd, id literal) {
  (void)_cmd;
  check_open(self);
  add_handler(&((metal_command_buffer *)self)->completed, literal,
              tell_end(self));
}

static void commands_wait(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_command_buffer_wait(commands_of(self)) == MTL_INVALID_STATE) {
    metal_assert("waitUntilCompleted: %s", mtl_last_error());
  }
}

static void commands_wait_scheduled(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_command_buffer_wait_scheduled(commands_of(self)) ==
      MTL_INVALID_STATE) {
    metal_assert("waitUntilScheduled: %s", mtl_last_error());
  }
}

static NSUInteger commands_status(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_command_buffer_get_status(commands_of(self));
}

static id commands_error(id self, SEL _cmd) {
  (void)_cmd;
  metal_command_buffer *buffer = (metal_command_buffer *)self;
  const char *text;
  const mtl_status status = mtl_command_buffer_error(buffer->commands, &text);
  if (status == MTL_OK) {
    return NULL;
  }
  id known = atomic_load_explicit(&buffer->error, memory_order_acquire);
  if (!known) {
    id made = NULL;
    (void)mtl_fail(status, "%s", text);
    error_from_mettle(&made, MTLCommandBufferErrorDomain, status);
    made = objc_retain(encoder_infos_add(self, made));
    if (atomic_compare_exchange_strong(&buffer->error, &known, made)) {
      known = made;
    } else {
      objc_release(made);
    }
  }
  return known;
}

static double seconds(uint64_t ns) {
  return (double)ns * 1e-9;
}

static double commands_gpu_start(id self, SEL _cmd) {
  (void)_cmd;
  return seconds(mtl_command_buffer_get_times(commands_of(self)).device_start_ns);
}

static double commands_gpu_end(id self, SEL _cmd) {
  (void)_cmd;
  return seconds(mtl_command_buffer_get_times(commands_of(self)).device_end_ns);
}

static double commands_kernel_start(id self, SEL _cmd) {
  (void)_cmd;
  return seconds(mtl_command_buffer_get_times(commands_of(self)).kernel_start_ns);
}

static double commands_kernel_end(id self, SEL _cmd) {
  (void)_cmd;
  return seconds(mtl_command_buffer_get_times(commands_of(self)).kernel_end_ns);
}

static void commands_wait_event(id self, SEL _cmd, id event, uint64_t value) {
  (void)_cmd;
  mtl_command_buffer_wait_event(commands_of(self), event_of(event), value);
}

static void commands_signal_event(id self, SEL _cmd, id event,
                                  uint64_t value) {
  (void)_cmd;
  mtl_command_buffer_signal_event(commands_of(self), event_of(event), value);
}

static void commands_push_group(id self, SEL _cmd, id name) {
  (void)self;
  (void)_cmd;
  (void)name;
}

static void commands_pop_group(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static NSUInteger commands_error_options(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_command_buffer *)self)->error_options;
}

static id commands_logs(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return array_make(NULL, 0);
}

METHODS(
    commands_methods, METHOD("dealloc", "v16@0:8", commands_dealloc),
    METHOD("commandQueue", "@16@0:8", commands_queue),
    METHOD("device", "@16@0:8", commands_device),
    METHOD("label", "@16@0:8", commands_label),
    METHOD("setLabel:", "v24@0:8@16", commands_set_label),
    METHOD("retainedReferences", "B16@0:8", commands_retained),
    METHOD("enqueue", "v16@0:8", commands_enqueue),
    METHOD("commit", "v16@0:8", commands_commit),
    METHOD("addScheduledHandler:", "v24@0:8@?16", commands_add_scheduled),
    METHOD("addCompletedHandler:", "v24@0:8@?16", commands_add_completed),
    METHOD("waitUntilCompleted", "v16@0:8", commands_wait),
    METHOD("waitUntilScheduled", "v16@0:8", commands_wait_scheduled),
    METHOD("status", "Q16@0:8", commands_status),
    METHOD("error", "@16@0:8", commands_error),
    METHOD("logs", "@16@0:8", commands_logs),
    METHOD("errorOptions", "Q16@0:8", commands_error_options),
    METHOD("GPUStartTime", "d16@0:8", commands_gpu_start),
    METHOD("GPUEndTime", "d16@0:8", commands_gpu_end),
    METHOD("kernelStartTime", "d16@0:8", commands_kernel_start),
    METHOD("kernelEndTime", "d16@0:8", commands_kernel_end),
    METHOD("encodeWaitForEvent:value:", "v32@0:8@16Q24", commands_wait_event),
    METHOD("encodeSignalEvent:value:", "v32@0:8@16Q24",
           commands_signal_event),
    METHOD("useResidencySet:", "v24@0:8@16", commands_use_set),
    METHOD("useResidencySets:count:", "v32@0:8^@16Q24", commands_use_sets),
    METHOD("pushDebugGroup:", "v24@0:8@16", commands_push_group),
    METHOD("popDebugGroup", "v16@0:8", commands_pop_group));
DEFINE_CLASS(MettleCommandBuffer, NSObject, sizeof(metal_command_buffer),
             commands_methods, NO_METHODS);
