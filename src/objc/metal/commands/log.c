// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log.c: MTLLogState: passes messages of os_log in kernels to handlers.
#include <stdlib.h>

#include "objc/metal/metal.h"
#include "objc/metal/property.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_MettleLogState;

// --- MTLLogStateDescriptor -----------------------------------------------------

typedef struct log_descriptor {
  struct objc_object object;
  NSInteger level;  // MTLLogLevel, which mtl_log_level is
  NSInteger bufferSize;
} log_descriptor;

VALUE_PROPERTY(log_descriptor, NSInteger, level)
VALUE_PROPERTY(log_descriptor, NSInteger, bufferSize)

static id log_descriptor_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  const log_descriptor *from = (log_descriptor *)self;
  log_descriptor *made = (log_descriptor *)instance_create(self->isa, 0);
  made->level = from->level;
  made->bufferSize = from->bufferSize;
  return &made->object;
}

METHODS(log_descriptor_methods,
        METHOD("copyWithZone:", "@24@0:8^v16", log_descriptor_copy),
        VALUE_METHODS(log_descriptor, level, "setLevel:", "q"),
        VALUE_METHODS(log_descriptor, bufferSize, "setBufferSize:", "q"));
DEFINE_CLASS(MTLLogStateDescriptor, NSObject, sizeof(log_descriptor),
             log_descriptor_methods, NO_METHODS);

// --- MTLLogState ---------------------------------------------------------------

typedef struct log_state {
  struct objc_object object;
  mtl_log_state *state;
  handler *handlers;  // their blocks, for as long as the state lives
} log_state;

mtl_log_state *log_state_of(id state) {
  return state ? ((log_state *)state)->state : NULL;
}

static id new_log_state(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const log_descriptor *from = (log_descriptor *)descriptor;
  const mtl_log_state_desc desc = {
      .level = from ? (mtl_log_level)from->level : MTL_LOG_UNDEFINED,
      .buffer_bytes = from ? (size_t)from->bufferSize : 0};
  mtl_log_state *state;
  const mtl_status status =
      mtl_log_state_create(device_of(self), &desc, &state);
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLLibraryErrorDomain, status);
    return NULL;
  }
  log_state *made = (log_state *)CREATE(MettleLogState);
  made->state = state;
  return &made->object;
}

METHODS(device_methods, METHOD("newLogStateWithDescriptor:error:",
                               "@32@0:8@16^@24", new_log_state));
DEFINE_CATEGORY(MettleDevice, logs, device_methods);

static void log_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  log_state *state = (log_state *)self;
  mtl_log_state_release(state->state);
  handlers_free(state->handlers);
  instance_dispose(self);
}

// Client code that Mettle calls runs in a pool of its own.
static void tell(void *context, const mtl_log_message *message) {
  void *pool = objc_autoreleasePoolPush();
  BLOCK_CALL(void (*)(id, id, id, NSInteger, id), (id)context,
             string_make(message->subsystem), string_make(message->category),
             (NSInteger)message->level, string_make(message->text));
  objc_autoreleasePoolPop(pool);
}

static void log_add_handler(id self, SEL _cmd, id literal) {
  (void)_cmd;
  log_state *state = (log_state *)self;
  if (!handlers_add(&state->handlers, literal)) {
    return;
  }
  const handler *last = state->handlers;
  while (last->next) {
    last = last->next;
  }
  if (mtl_log_state_add_handler(state->state, tell, last->literal) != MTL_OK) {
    metal_assert("addLogHandler: %s", mtl_last_error());
  }
}

METHODS(log_methods, METHOD("dealloc", "v16@0:8", log_dealloc),
        METHOD("addLogHandler:", "v24@0:8@?16", log_add_handler));
DEFINE_CLASS(MettleLogState, NSObject, sizeof(log_state), log_methods,
             NO_METHODS);
