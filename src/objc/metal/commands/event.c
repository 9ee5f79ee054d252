// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event.c: MTLEvent, MTLSharedEvent, its listeners, and MTLFence.
#include <pthread.h>
#include <stdlib.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_MettleEvent;
extern struct objc_class OBJC_CLASS_$_MettleSharedEvent;
extern struct objc_class OBJC_CLASS_$_MettleFence;

mtl_event *event_of(id event) {
  return event ? ((metal_event *)event)->event : NULL;
}

mtl_fence *fence_of(id fence) {
  return fence ? ((metal_fence *)fence)->fence : NULL;
}

// --- Events ------------------------------------------------------------------

static id create(id device, bool shared) {
  mtl_event *event;
  const mtl_event_desc desc = {.shared = shared};
  if (mtl_event_create(device_of(device), &desc, &event) != MTL_OK) {
    return NULL;
  }
  metal_event *made = (metal_event *)(shared ? CREATE(MettleSharedEvent)
                                             : CREATE(MettleEvent));
  made->device = objc_retain(device);
  made->event = event;
  return &made->object;
}

static id new_event(id self, SEL _cmd) {
  (void)_cmd;
  return create(self, false);
}

static id new_shared_event(id self, SEL _cmd) {
  (void)_cmd;
  return create(self, true);
}

static void event_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_event *event = (metal_event *)self;
  mtl_event_release(event->event);
  objc_release(event->label);
  objc_release(event->device);
  instance_dispose(self);
}

static id event_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_event *)self)->device;
}

COPY_PROPERTY(metal_event, label)

METHODS(event_methods, METHOD("dealloc", "v16@0:8", event_dealloc),
        METHOD("device", "@16@0:8", event_device),
        OBJECT_METHODS(metal_event, label, "setLabel:"));
DEFINE_CLASS(MettleEvent, NSObject, sizeof(metal_event), event_methods,
             NO_METHODS);

static uint64_t event_value(id self, SEL _cmd) {
  (void)_cmd;
  uint64_t value = 0;
  return mtl_event_value(event_of(self), &value) == MTL_OK ? value : 0;
}

static void event_set_value(id self, SEL _cmd, uint64_t value) {
  (void)_cmd;
  if (mtl_event_signal(event_of(self), value) != MTL_OK) {
    runtime_warn("setSignaledValue: %s", mtl_last_error());
  }
}

static int event_wait(id self, SEL _cmd, uint64_t value, uint64_t timeout_ms) {
  (void)_cmd;
  const uint64_t timeout_ns = timeout_ms > UINT64_MAX / 1000000
                                  ? MTL_WAIT_FOREVER
                                  : timeout_ms * 1000000;
  return mtl_event_wait(event_of(self), value, timeout_ns) == MTL_OK;
}

// --- Listeners ---------------------------------------------------------------

typedef struct listener {
  struct objc_object object;
  id queue;  // +1
} listener;

extern struct objc_class OBJC_CLASS_$_MTLSharedEventListener;

static id listener_init_queue(id self, SEL _cmd, id queue) {
  (void)_cmd;
  ((listener *)self)->queue = objc_retain(queue);
  return self;
}

static id listener_init(id self, SEL _cmd) {
  (void)_cmd;
  ((listener *)self)->queue =
      dispatch_queue_create_serial("MTLSharedEventListener");
  return self;
}

static id listener_shared(Class self, SEL _cmd) {
  static _Atomic(id) shared;
  (void)_cmd;
  const id one = shared_instance(&shared, self);
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!((listener *)one)->queue) {
    listener_init(one, NULL);
  }
  pthread_mutex_unlock(&lock);
  return one;
}

static void listener_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((listener *)self)->queue);
  instance_dispose(self);
}

static id listener_queue(id self, SEL _cmd) {
  (void)_cmd;
  return ((listener *)self)->queue;
}

METHODS(listener_methods, METHOD("init", "@16@0:8", listener_init),
        METHOD("initWithDispatchQueue:", "@24@0:8@16", listener_init_queue),
        METHOD("dealloc", "v16@0:8", listener_dealloc),
        METHOD("dispatchQueue", "@16@0:8", listener_queue));
METHODS(listener_class_methods,
        METHOD("sharedListener", "@16@0:8", listener_shared));
DEFINE_CLASS(MTLSharedEventListener, NSObject, sizeof(listener),
             listener_methods, &listener_class_methods);

typedef struct notice {
  id event;    // +1
  id queue;    // +1
  id literal;  // +1
  uint64_t value;
} notice;

static void call_listener(void *context) {
  notice *of = context;
  BLOCK_CALL(void (*)(id, id, uint64_t), of->literal, of->event, of->value);
  _Block_release(of->literal);
  objc_release(of->queue);
  objc_release(of->event);
  free(of);
}

static void event_reached(void *context, mtl_event *event, uint64_t value) {
  notice *of = context;
  (void)event;
  of->value = value;
  dispatch_queue_add(of->queue, call_listener, of);
}

static void event_notify(id self, SEL _cmd, id listening, uint64_t value,
                         id literal) {
  (void)_cmd;
  notice *made = malloc(sizeof *made);
  if (!made) {
    runtime_fail("no memory for an event's listener");
  }
  *made = (notice){objc_retain(self), objc_retain(((listener *)listening)->queue),
                   _Block_copy(literal), 0};
  uint64_t now = 0;
  if (mtl_event_value(event_of(self), &now) == MTL_OK && now >= value) {
    event_reached(made, NULL, now);
  } else if (mtl_event_notify(event_of(self), value, event_reached, made) !=
             MTL_OK) {
    runtime_fail("notifyListener: %s", mtl_last_error());
  }
}

// --- Handles: of this process alone ------------------------------------------

extern struct objc_class OBJC_CLASS_$_MTLSharedEventHandle;

typedef struct event_handle {
  struct objc_object object;
  id event;  // +1
} event_handle;

REFERENCES(event_handle, event, event)

static id handle_label(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_event *)((event_handle *)self)->event)->label;
}

METHODS(handle_methods, REFERENCES_METHODS(event_handle),
        METHOD("label", "@16@0:8", handle_label));
DEFINE_CLASS(MTLSharedEventHandle, NSObject, sizeof(event_handle),
             handle_methods, NO_METHODS);

static id event_new_handle(id self, SEL _cmd) {
  (void)_cmd;
  event_handle *made = (event_handle *)CREATE(MTLSharedEventHandle);
  made->event = objc_retain(self);
  return &made->object;
}

// The event itself: two objects of one event are one.
static id event_from_handle(id self, SEL _cmd, id handle) {
  (void)self;
  (void)_cmd;
  return handle ? objc_retain(((event_handle *)handle)->event) : NULL;
}

METHODS(shared_methods, METHOD("dealloc", "v16@0:8", event_dealloc),
        METHOD("signaledValue", "Q16@0:8", event_value),
        METHOD("setSignaledValue:", "v24@0:8Q16", event_set_value),
        METHOD("waitUntilSignaledValue:timeoutMS:", "B32@0:8Q16Q24",
               event_wait),
        METHOD("notifyListener:atValue:block:", "v40@0:8@16Q24@?32",
               event_notify),
        METHOD("newSharedEventHandle", "@16@0:8", event_new_handle));
DEFINE_CLASS(MettleSharedEvent, MettleEvent, sizeof(metal_event),
             shared_methods, NO_METHODS);

// --- Fences ------------------------------------------------------------------

static id new_fence(id self, SEL _cmd) {
  (void)_cmd;
  mtl_fence *fence;
  if (mtl_fence_create(device_of(self), &fence) != MTL_OK) {
    return NULL;
  }
  metal_fence *made = (metal_fence *)CREATE(MettleFence);
  made->device = objc_retain(self);
  made->fence = fence;
  return &made->object;
}

static void fence_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_fence *fence = (metal_fence *)self;
  mtl_fence_release(fence->fence);
  objc_release(fence->label);
  objc_release(fence->device);
  instance_dispose(self);
}

static id fence_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_fence *)self)->device;
}

COPY_PROPERTY(metal_fence, label)

METHODS(fence_methods, METHOD("dealloc", "v16@0:8", fence_dealloc),
        METHOD("device", "@16@0:8", fence_device),
        OBJECT_METHODS(metal_fence, label, "setLabel:"));
DEFINE_CLASS(MettleFence, NSObject, sizeof(metal_fence), fence_methods,
             NO_METHODS);

METHODS(device_methods, METHOD("newEvent", "@16@0:8", new_event),
        METHOD("newSharedEvent", "@16@0:8", new_shared_event),
        METHOD("newSharedEventWithHandle:", "@24@0:8@16", event_from_handle),
        METHOD("newFence", "@16@0:8", new_fence));
DEFINE_CATEGORY(MettleDevice, events, device_methods);
