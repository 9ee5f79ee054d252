// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mps_command_buffer.c: MPSCommandBuffer, which can commit its command buffer
// and continue in a new one.
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MPSCommandBuffer;

typedef struct mps_command_buffer {
  struct objc_object object;
  id commandBuffer;  // +1, an MTLCommandBuffer
  id predicate;      // +1 or nil: kept for the client alone
} mps_command_buffer;

static void mps_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((mps_command_buffer *)self)->commandBuffer);
  objc_release(((mps_command_buffer *)self)->predicate);
  instance_dispose(self);
}

READ_PROPERTY(mps_command_buffer, id, commandBuffer)
OBJECT_PROPERTY(mps_command_buffer, predicate)

static id init_with(id self, SEL _cmd, id commands) {
  (void)_cmd;
  ((mps_command_buffer *)self)->commandBuffer = objc_retain(commands);
  return self;
}

static id make_with(Class self, SEL _cmd, id commands) {
  return commands ? objc_autorelease(
                        init_with(instance_create(self, 0), _cmd, commands))
                  : NULL;
}

static id make_from_queue(Class self, SEL _cmd, id queue) {
  return make_with(self, _cmd, SEND(id(*)(id, SEL), queue, "commandBuffer"));
}

// Later commands are encoded into a new command buffer of the same queue.
static void commit_and_continue(id self, SEL _cmd) {
  (void)_cmd;
  mps_command_buffer *of = (mps_command_buffer *)self;
  const id queue = SEND(id(*)(id, SEL), of->commandBuffer, "commandQueue");
  const id next = objc_retain(SEND(id(*)(id, SEL), queue, "commandBuffer"));
  SEND(void (*)(id, SEL), of->commandBuffer, "commit");
  objc_release(of->commandBuffer);
  of->commandBuffer = next;
}

static id target(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  (void)selector;
  return ((mps_command_buffer *)self)->commandBuffer;
}

static int responds(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return class_getMethodImplementation(self->isa, selector) ||
         SEND(int (*)(id, SEL, SEL),
              ((mps_command_buffer *)self)->commandBuffer,
              "respondsToSelector:", selector);
}

// Its label is the command buffer's: NSObject has no method of that name, so
// that it is forwarded as all the others are.
METHODS(mps_methods, METHOD("dealloc", "v16@0:8", mps_dealloc),
        METHOD("initWithCommandBuffer:", "@24@0:8@16", init_with),
        METHOD("commandBuffer", "@16@0:8",
               mps_command_buffer_get_commandBuffer),
        METHOD("rootCommandBuffer", "@16@0:8",
               mps_command_buffer_get_commandBuffer),
        OBJECT_METHODS(mps_command_buffer, predicate, "setPredicate:"),
        METHOD("commitAndContinue", "v16@0:8", commit_and_continue),
        METHOD("respondsToSelector:", "B24@0:8:16", responds),
        METHOD("forwardingTargetForSelector:", "@24@0:8:16", target));
METHODS(mps_class_methods,
        METHOD("commandBufferFromCommandQueue:", "@24@0:8@16", make_from_queue),
        METHOD("commandBufferWithCommandBuffer:", "@24@0:8@16", make_with));
DEFINE_CLASS(MPSCommandBuffer, NSObject, sizeof(mps_command_buffer),
             mps_methods, &mps_class_methods);
