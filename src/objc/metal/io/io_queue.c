// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// io_queue.c: MTLIOCommandQueue and MTLIOFileHandle: files that threads of the
// host read into resources. Compressed files are refused.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "objc/metal/io/io.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleFileHandle;
extern struct objc_class OBJC_CLASS_$_MettleLoadQueue;
extern struct objc_object _dispatch_queue_attr_concurrent;
extern id dispatch_queue_create(const char *label, id attributes);
extern void dispatch_barrier_async_f(id queue, void *context,
                                     void (*function)(void *));

CONSTANT_STRING(MTLIOErrorDomain, "MTLIOErrorDomain");

// --- MTLIOCommandQueueDescriptor ---------------------------------------------

typedef struct io_descriptor {
  struct objc_object object;
  NSUInteger maxCommandBufferCount;
  NSInteger priority;  // MTLIOPriority
  NSInteger type;      // 0 concurrent, 1 serial
  NSUInteger maxCommandsInFlight;
  id scratchBufferAllocator;  // for decompression, which there is not
} io_descriptor;

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  ((io_descriptor *)self)->maxCommandBufferCount = 64;
  ((io_descriptor *)self)->priority = 1;
  return self;
}

VALUE_PROPERTY(io_descriptor, NSUInteger, maxCommandBufferCount)
VALUE_PROPERTY(io_descriptor, NSInteger, priority)
VALUE_PROPERTY(io_descriptor, NSInteger, type)
VALUE_PROPERTY(io_descriptor, NSUInteger, maxCommandsInFlight)
REFERENCES(io_descriptor, scratchBufferAllocator, scratchBufferAllocator)
OBJECT_PROPERTY(io_descriptor, scratchBufferAllocator)

METHODS(descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
        REFERENCES_METHODS(io_descriptor),
        VALUE_METHODS(io_descriptor, maxCommandBufferCount,
                      "setMaxCommandBufferCount:", "Q"),
        VALUE_METHODS(io_descriptor, priority, "setPriority:", "q"),
        VALUE_METHODS(io_descriptor, type, "setType:", "q"),
        VALUE_METHODS(io_descriptor, maxCommandsInFlight,
                      "setMaxCommandsInFlight:", "Q"),
        OBJECT_METHODS(io_descriptor, scratchBufferAllocator,
                       "setScratchBufferAllocator:"));
DEFINE_CLASS(MTLIOCommandQueueDescriptor, NSObject, sizeof(io_descriptor),
             descriptor_methods, NO_METHODS);

// --- MTLIOFileHandle ---------------------------------------------------------

bool is_io_handle(id object) {
  return object_is(object, &OBJC_CLASS_$_MettleFileHandle);
}

static void handle_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  io_handle *of = (io_handle *)self;
  close(of->file);
  objc_release(of->label);
  objc_release(of->path);
  instance_dispose(self);
}

COPY_PROPERTY(io_handle, label)

METHODS(handle_methods, METHOD("dealloc", "v16@0:8", handle_dealloc),
        OBJECT_METHODS(io_handle, label, "setLabel:"));
DEFINE_CLASS(MettleFileHandle, NSObject, sizeof(io_handle), handle_methods,
             NO_METHODS);

static void fail(id *out_error, NSInteger code, id text) {
  error_set(out_error, MTLIOErrorDomain, code, string_utf8(text));
}

static id new_handle(id self, SEL _cmd, id url, id *out_error) {
  (void)self;
  (void)_cmd;
  const id path = SEND(id(*)(id, SEL), url, "path");
  const int file = path ? open(string_utf8(path), O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) {
    fail(out_error, IO_URL_INVALID,
         string_make_printf("'%s' cannot be opened: %s",
                            path ? string_utf8(path) : "",
                            path ? strerror(errno) : "no URL of a file"));
    return NULL;
  }
  io_handle *made = (io_handle *)CREATE(MettleFileHandle);
  made->file = file;
  made->path = objc_retain(path);
  return &made->object;
}

static id new_compressed(id self, SEL _cmd, id url, NSInteger number,
                         id *out_error) {
  (void)self;
  (void)_cmd;
  (void)url;
  fail(out_error, IO_INTERNAL,
       string_make_printf("MTLIOCompressionMethod %ld: Mettle reads no "
                          "compressed files; decompress it, and open it by "
                          "newIOFileHandleWithURL:error:",
                          number));
  return NULL;
}

// --- MTLIOCommandQueue -------------------------------------------------------

static id new_queue(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  (void)out_error;
  const io_descriptor *by = (io_descriptor *)descriptor;
  io_queue *made = (io_queue *)CREATE(MettleLoadQueue);
  made->device = objc_retain(self);
  made->tasks = dispatch_queue_create(
      "mettle.load",
      by && by->type == 1 ? NULL : &_dispatch_queue_attr_concurrent);
  made->copies = SEND(id(*)(id, SEL), self, "newCommandQueue");
  return &made->object;
}

METHODS(device_methods,
        METHOD("newIOCommandQueueWithDescriptor:error:", "@32@0:8@16^@24",
               new_queue),
        METHOD("newIOFileHandleWithURL:error:", "@32@0:8@16^@24", new_handle),
        METHOD("newIOHandleWithURL:error:", "@32@0:8@16^@24", new_handle),
        METHOD("newIOFileHandleWithURL:compressionMethod:error:",
               "@40@0:8@16q24^@32", new_compressed),
        METHOD("newIOHandleWithURL:compressionMethod:error:",
               "@40@0:8@16q24^@32", new_compressed));
DEFINE_CATEGORY(MettleDevice, loads, device_methods);

static void queue_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  io_queue *of = (io_queue *)self;
  objc_release(of->device);
  objc_release(of->tasks);
  objc_release(of->label);
  objc_release(of->copies);
  instance_dispose(self);
}

COPY_PROPERTY(io_queue, label)

static id queue_commands(id self, SEL _cmd) {
  (void)_cmd;
  return io_commands_make((io_queue *)self);
}

static void nothing(void *context) {
  (void)context;
}

// What comes later waits for all that came before.
static void queue_barrier(id self, SEL _cmd) {
  (void)_cmd;
  dispatch_barrier_async_f(((io_queue *)self)->tasks, NULL, nothing);
}

METHODS(queue_methods, METHOD("dealloc", "v16@0:8", queue_dealloc),
        METHOD("commandBuffer", "@16@0:8", queue_commands),
        METHOD("commandBufferWithUnretainedReferences", "@16@0:8",
               queue_commands),
        METHOD("enqueueBarrier", "v16@0:8", queue_barrier),
        OBJECT_METHODS(io_queue, label, "setLabel:"));
DEFINE_CLASS(MettleLoadQueue, NSObject, sizeof(io_queue), queue_methods,
             NO_METHODS);
