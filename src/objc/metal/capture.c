// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// capture.c: MTLCaptureManager. A capture records a timeline of the whole
// process (mettle/trace.h), whatever object it was asked for.
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

CONSTANT_STRING(MTLCaptureErrorDomain, "MTLCaptureErrorDomain");

// MTLCaptureDestination
enum { DESTINATION_TOOLS = 1, DESTINATION_FILE = 2 };

typedef struct capture_descriptor {
  struct objc_object object;
  id captureObject;
  id outputURL;
  NSInteger destination;  // MTLCaptureDestination
} capture_descriptor;

REFERENCES(capture_descriptor, captureObject, outputURL)

OBJECT_PROPERTY(capture_descriptor, captureObject)
VALUE_PROPERTY(capture_descriptor, NSInteger, destination)
COPY_PROPERTY(capture_descriptor, outputURL)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  ((capture_descriptor *)self)->destination = DESTINATION_TOOLS;
  return self;
}

METHODS(descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
        REFERENCES_METHODS(capture_descriptor),
        OBJECT_METHODS(capture_descriptor, captureObject,
                       "setCaptureObject:"),
        VALUE_METHODS(capture_descriptor, destination, "setDestination:",
                      "q"),
        OBJECT_METHODS(capture_descriptor, outputURL, "setOutputURL:"));
DEFINE_CLASS(MTLCaptureDescriptor, NSObject, sizeof(capture_descriptor),
             descriptor_methods, NO_METHODS);

typedef struct capture_scope {
  struct objc_object object;
  id device;        // +1
  id commandQueue;  // +1 or nil
  id label;
} capture_scope;

REFERENCES(capture_scope, device, label)
READ_PROPERTY(capture_scope, id, device)
READ_PROPERTY(capture_scope, id, commandQueue)
COPY_PROPERTY(capture_scope, label)

static void scope_nothing(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

METHODS(scope_methods, REFERENCES_METHODS(capture_scope),
        METHOD("device", "@16@0:8", capture_scope_get_device),
        METHOD("commandQueue", "@16@0:8", capture_scope_get_commandQueue),
        OBJECT_METHODS(capture_scope, label, "setLabel:"),
        METHOD("beginScope", "v16@0:8", scope_nothing),
        METHOD("endScope", "v16@0:8", scope_nothing));
DEFINE_CLASS(MettleCaptureScope, NSObject, sizeof(capture_scope),
             scope_methods, NO_METHODS);

extern struct objc_class OBJC_CLASS_$_MTLCaptureManager;

static id manager_shared(Class self, SEL _cmd) {
  static _Atomic(id) shared;
  (void)_cmd;
  return shared_instance(&shared, self);
}

// MTLCaptureError
enum { NOT_SUPPORTED = 1, ALREADY_CAPTURING, INVALID_DESCRIPTOR };

static _Atomic bool is_capturing;

static int manager_is_capturing(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return is_capturing;
}

static int manager_supports(id self, SEL _cmd, NSInteger destination) {
  (void)self;
  (void)_cmd;
  return destination == DESTINATION_FILE;
}

static int start_failed(id *out_error, NSInteger code, const char *text) {
  error_set(out_error, MTLCaptureErrorDomain, code, text);
  return 0;
}

static int manager_start(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)self;
  (void)_cmd;
  const capture_descriptor *wanted = (const capture_descriptor *)descriptor;
  if (!wanted || wanted->destination != DESTINATION_FILE) {
    return start_failed(out_error, NOT_SUPPORTED,
                        "Mettle captures to a file: the descriptor's "
                        "destination is MTLCaptureDestinationGPUTraceDocument");
  }
  id path = wanted->outputURL
                ? SEND(id(*)(id, SEL), wanted->outputURL, "path")
                : NULL;
  const char *text =
      path ? SEND(const char *(*)(id, SEL), path, "UTF8String") : NULL;
  if (!text) {
    return start_failed(out_error, INVALID_DESCRIPTOR,
                        "the capture's descriptor has no outputURL");
  }
  const mtl_status status = mtl_trace_start(text);
  if (status != MTL_OK) {
    return start_failed(out_error,
                        status == MTL_INVALID_STATE ? ALREADY_CAPTURING
                                                    : INVALID_DESCRIPTOR,
                        mtl_last_error());
  }
  is_capturing = true;
  return 1;
}

static void manager_stop(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  if (is_capturing) {
    is_capturing = false;
    (void)mtl_trace_stop();  // nobody could be told
  }
}

static id scope_for(id device, id queue) {
  extern struct objc_class OBJC_CLASS_$_MettleCaptureScope;
  capture_scope *made = (capture_scope *)CREATE(MettleCaptureScope);
  made->device = objc_retain(device);
  made->commandQueue = objc_retain(queue);
  return &made->object;
}

static id manager_scope_device(id self, SEL _cmd, id device) {
  (void)self;
  (void)_cmd;
  return scope_for(device, NULL);
}

static id manager_scope_queue(id self, SEL _cmd, id queue) {
  (void)self;
  (void)_cmd;
  return scope_for(SEND(id(*)(id, SEL), queue, "device"), queue);
}

typedef struct capture_manager {
  struct objc_object object;
  id defaultCaptureScope;
} capture_manager;

OBJECT_PROPERTY(capture_manager, defaultCaptureScope)

METHODS(manager_methods,
        OBJECT_METHODS(capture_manager, defaultCaptureScope,
                       "setDefaultCaptureScope:"),
        METHOD("supportsDestination:", "B24@0:8q16", manager_supports),
        METHOD("startCaptureWithDescriptor:error:", "B32@0:8@16^@24",
               manager_start),
        METHOD("stopCapture", "v16@0:8", manager_stop),
        METHOD("isCapturing", "B16@0:8", manager_is_capturing),
        METHOD("newCaptureScopeWithDevice:", "@24@0:8@16",
               manager_scope_device),
        METHOD("newCaptureScopeWithCommandQueue:", "@24@0:8@16",
               manager_scope_queue));
METHODS(manager_class_methods,
        METHOD("sharedCaptureManager", "@16@0:8", manager_shared));
DEFINE_CLASS(MTLCaptureManager, NSObject, sizeof(capture_manager),
             manager_methods, &manager_class_methods);
