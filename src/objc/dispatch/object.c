// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// object.c: functions that queues and sources share.
#include <unistd.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/instance.h"

extern struct objc_class OBJC_CLASS_$_OS_dispatch_queue;
extern struct objc_class OBJC_CLASS_$_OS_dispatch_source;

METHODS(object_methods, METHOD_LIST_END);
DEFINE_CLASS(OS_dispatch_object, NSObject, sizeof(struct objc_object),
             object_methods, NO_METHODS);

static bool is_source(id object) {
  return object->isa == &OBJC_CLASS_$_OS_dispatch_source;
}

static bool is_queue(id object) {
  return object->isa == &OBJC_CLASS_$_OS_dispatch_queue;
}

OBJC_EXPORT void dispatch_retain(id object) {
  objc_retain(object);
}

OBJC_EXPORT void dispatch_release(id object) {
  objc_release(object);
}

OBJC_EXPORT void dispatch_suspend(id object) {
  if (is_source(object)) {
    dispatch_source_suspend(object);
  } else if (is_queue(object)) {
    dispatch_queue_suspend(object);
  }
}

OBJC_EXPORT void dispatch_resume(id object) {
  if (is_source(object)) {
    dispatch_source_resume(object);
  } else if (is_queue(object)) {
    dispatch_queue_resume(object);
  }
}

// All queues are active from the start.
OBJC_EXPORT void dispatch_activate(id object) {
  if (is_source(object)) {
    dispatch_source_activate(object);
  }
}

OBJC_EXPORT void dispatch_set_target_queue(id object, id queue) {
  if (is_source(object)) {
    dispatch_source_set_queue(object,
                              queue ? queue : dispatch_get_global_queue(0, 0));
  } else if (is_queue(object)) {
    dispatch_queue_set_target(object, queue);
  }
}

// --- A client's pointer ------------------------------------------------------

OBJC_EXPORT void objc_setAssociatedObject(id object, const void *key, id value,
                                          uintptr_t policy);
OBJC_EXPORT id objc_getAssociatedObject(id object, const void *key);

enum { ASSIGN = 0 };  // OBJC_ASSOCIATION_ASSIGN
static const char context_key;

OBJC_EXPORT void dispatch_set_context(id object, void *context) {
  objc_setAssociatedObject(object, &context_key, context, ASSIGN);
  if (is_source(object)) {
    dispatch_source_set_context(object, context);
  }
}

OBJC_EXPORT void *dispatch_get_context(id object) {
  return objc_getAssociatedObject(object, &context_key);
}

// --- The main thread ---------------------------------------------------------

// It has nothing to run: the main queue has a thread of its own.
OBJC_EXPORT void dispatch_main(void) {
  for (;;) {
    pause();
  }
}
