// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// io_commands.c: MTLIOCommandBuffer: loads of pieces of files, run one after
// the other by a task of the queue's. The first that fails ends the loads, but
// not the events: who waits for one must not wait for ever.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/io/io.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleLoadCommands;

typedef enum io_status {  // MTLIOStatus
  IO_PENDING = 0,
  IO_CANCELLED = 1,
  IO_FAILED = 2,
  IO_COMPLETE = 3,
} io_status;

typedef enum io_kind {
  LOAD_BYTES,
  LOAD_BUFFER,
  LOAD_TEXTURE,
  COPY_STATUS,
  WAIT_EVENT,
  SIGNAL_EVENT,
} io_kind;

// Where in a texture a load goes, and how the file lays it out.
typedef struct io_image {
  NSUInteger slice, level;
  MTLSize size;
  MTLOrigin origin;
  NSUInteger row_bytes, image_bytes;
} io_image;

typedef struct io_command {
  struct io_command *next;
  io_kind kind;
  id target;        // +1: a buffer, a texture or an event; or NULL
  io_handle *from;  // +1 or NULL
  void *bytes;
  NSUInteger offset, size, from_offset;
  uint64_t value;  // of an event
  io_image image;
} io_command;

typedef struct io_commands {
  struct objc_object object;
  io_queue *queue;  // +1
  io_command *first, **end;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_enqueued, is_committed;
  _Atomic bool is_cancelled;
  _Atomic int status;  // io_status
  id error;            // +1 or NULL
  id label;
  handler *handlers;
} io_commands;

id io_commands_make(io_queue *queue) {
  io_commands *made = (io_commands *)CREATE(MettleLoadCommands);
  made->queue = (io_queue *)objc_retain(&queue->object);
  made->end = &made->first;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  return objc_autorelease(&made->object);
}

static void commands_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  io_commands *of = (io_commands *)self;
  for (io_command *each = of->first, *next; each; each = next) {
    next = each->next;
    objc_release(each->target);
    objc_release((id)each->from);
    free(each);
  }
  objc_release((id)of->queue);
  objc_release(of->error);
  objc_release(of->label);
  handlers_free(of->handlers);
  pthread_mutex_destroy(&of->lock);
  pthread_cond_destroy(&of->changed);
  instance_dispose(self);
}

// --- Running -----------------------------------------------------------------

static void fail(io_commands *of, id text) {
  if (!of->error) {
    of->error = objc_retain(
        error_make(MTLIOErrorDomain, IO_INTERNAL, string_utf8(text)));
    error_tell(MTLIOErrorDomain, string_utf8(text));
  }
}

static bool read_all(io_commands *of, const io_command *load, void *to) {
  NSUInteger done = 0;
  while (done < load->size) {
    const ssize_t count =
        pread(load->from->file, (char *)to + done, load->size - done,
              (off_t)(load->from_offset + done));
    if (count > 0) {
      done += (NSUInteger)count;
    } else if (count == 0 || errno != EINTR) {
      fail(of, string_make_printf(
                   "'%s' gave %lu of the %lu bytes from %lu on: %s",
                   string_utf8(load->from->path), done, load->size,
                   load->from_offset, count ? strerror(errno) : "it ends"));
      return false;
    }
  }
  return true;
}

// Has a blit of our own queue copy what is staged, and waits for it.
static void copy_staged(io_commands *of, const io_command *load, id staged) {
  const id commands = SEND(id(*)(id, SEL), of->queue->copies, "commandBuffer");
  const id blit = SEND(id(*)(id, SEL), commands, "blitCommandEncoder");
  const io_image *at = &load->image;
  if (load->kind == LOAD_BUFFER) {
    SEND(void (*)(id, SEL, id, NSUInteger, id, NSUInteger, NSUInteger), blit,
         "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", staged,
         0, load->target, load->offset, load->size);
  } else {
    SEND(void (*)(id, SEL, id, NSUInteger, NSUInteger, NSUInteger, MTLSize, id,
                  NSUInteger, NSUInteger, MTLOrigin),
         blit,
         "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:"
         "sourceSize:toTexture:destinationSlice:destinationLevel:"
         "destinationOrigin:",
         staged, 0, at->row_bytes, at->image_bytes, at->size, load->target,
         at->slice, at->level, at->origin);
  }
  SEND(void (*)(id, SEL), blit, "endEncoding");
  SEND(void (*)(id, SEL), commands, "commit");
  SEND(void (*)(id, SEL), commands, "waitUntilCompleted");
  const id error = SEND(id(*)(id, SEL), commands, "error");
  if (error) {
    fail(of, SEND(id(*)(id, SEL), error, "localizedDescription"));
  }
}

static void load_staged(io_commands *of, const io_command *load) {
  const id staged =
      SEND(id(*)(id, SEL, NSUInteger, NSUInteger), of->queue->device,
           "newBufferWithLength:options:", load->size ? load->size : 1,
           STORAGE_SHARED);
  if (!staged) {
    fail(of, string_make_printf("no memory for %lu bytes of '%s'", load->size,
                                string_utf8(load->from->path)));
    return;
  }
  if (read_all(of, load, SEND(void *(*)(id, SEL), staged, "contents"))) {
    copy_staged(of, load, staged);
  }
  objc_release(staged);
}

static void load_buffer(io_commands *of, const io_command *load) {
  const NSUInteger storage =
      SEND(NSUInteger(*)(id, SEL), load->target, "storageMode");
  if (storage == STORAGE_PRIVATE) {
    load_staged(of, load);
    return;
  }
  char *to = SEND(void *(*)(id, SEL), load->target, "contents");
  if (read_all(of, load, to + load->offset) && storage == STORAGE_MANAGED) {
    SEND(void (*)(id, SEL, NSRange), load->target,
         "didModifyRange:", (NSRange){load->offset, load->size});
  }
}

// Waits for an event, and looks now and then whether it is cancelled.
static void wait_for(io_commands *of, const io_command *wait) {
  const uint64_t slice_ms = 10;
  while (!of->is_cancelled &&
         !(SEND(int (*)(id, SEL, uint64_t, uint64_t), wait->target,
                "waitUntilSignaledValue:timeoutMS:", wait->value, slice_ms) &
           0xff)) {
  }
}

static void run_command(io_commands *of, const io_command *command) {
  const bool runs = !of->error && !of->is_cancelled;
  switch (command->kind) {
    case LOAD_BYTES:
      if (runs) {
        read_all(of, command, command->bytes);
      }
      break;
    case LOAD_BUFFER:
      if (runs) {
        load_buffer(of, command);
      }
      break;
    case LOAD_TEXTURE:
      if (runs) {
        load_staged(of, command);
      }
      break;
    case WAIT_EVENT: wait_for(of, command); break;
    case SIGNAL_EVENT:
      SEND(void (*)(id, SEL, uint64_t), command->target,
           "setSignaledValue:", command->value);
      break;
    case COPY_STATUS: break;  // at the end, when it is known
  }
}

static void copy_statuses(const io_commands *of, NSInteger status) {
  for (const io_command *each = of->first; each; each = each->next) {
    if (each->kind == COPY_STATUS) {
      char *to = SEND(void *(*)(id, SEL), each->target, "contents");
      memcpy(to + each->offset, &status, sizeof status);
    }
  }
}

// A task of the queue: waits for the commit, as its place may be taken earlier.
static void run(void *context) {
  io_commands *of = context;
  pthread_mutex_lock(&of->lock);
  while (!of->is_committed) {
    pthread_cond_wait(&of->changed, &of->lock);
  }
  pthread_mutex_unlock(&of->lock);
  for (const io_command *each = of->first; each; each = each->next) {
    run_command(of, each);
  }
  const io_status status = of->error          ? IO_FAILED
                           : of->is_cancelled ? IO_CANCELLED
                                              : IO_COMPLETE;
  copy_statuses(of, status);
  pthread_mutex_lock(&of->lock);
  of->status = status;
  handler *told = of->handlers;
  of->handlers = NULL;
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->lock);
  handlers_call(told, &of->object);
  objc_release(&of->object);
}

static void enqueue(id self, SEL _cmd) {
  (void)_cmd;
  io_commands *of = (io_commands *)self;
  pthread_mutex_lock(&of->lock);
  const bool was = of->is_enqueued;
  of->is_enqueued = true;
  pthread_mutex_unlock(&of->lock);
  if (!was) {
    dispatch_queue_add(of->queue->tasks, run, objc_retain(self));
  }
}

static void commit(id self, SEL _cmd) {
  io_commands *of = (io_commands *)self;
  pthread_mutex_lock(&of->lock);
  const bool was = of->is_committed;
  of->is_committed = true;
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->lock);
  if (was) {
    metal_assert("commit: the MTLIOCommandBuffer is committed already");
  }
  enqueue(self, _cmd);
}

static void wait_completed(id self, SEL _cmd) {
  (void)_cmd;
  io_commands *of = (io_commands *)self;
  pthread_mutex_lock(&of->lock);
  while (of->status == IO_PENDING) {
    pthread_cond_wait(&of->changed, &of->lock);
  }
  pthread_mutex_unlock(&of->lock);
}

static void try_cancel(id self, SEL _cmd) {
  (void)_cmd;
  ((io_commands *)self)->is_cancelled = true;
}

static void add_handler(id self, SEL _cmd, id literal) {
  (void)_cmd;
  io_commands *of = (io_commands *)self;
  pthread_mutex_lock(&of->lock);
  const bool is_done = of->status != IO_PENDING;
  handler *own = NULL;
  handlers_add(is_done ? &own : &of->handlers, literal);
  pthread_mutex_unlock(&of->lock);
  handlers_call(own, self);
}

// --- Encoding ----------------------------------------------------------------

static io_command *add(id self, io_command from) {
  io_commands *of = (io_commands *)self;
  if (of->is_committed) {
    metal_assert("the MTLIOCommandBuffer is committed already");
  }
  if (from.kind <= LOAD_TEXTURE && !is_io_handle((id)from.from)) {
    metal_assert("sourceHandle: it is no MTLIOFileHandle");
  }
  io_command *made = malloc(sizeof *made);
  if (!made) {
    abort();
  }
  *made = from;
  objc_retain(made->target);
  objc_retain((id)made->from);
  *of->end = made;
  of->end = &made->next;
  return made;
}

static void check_room(const char *call, id buffer, NSUInteger offset,
                       NSUInteger size) {
  const NSUInteger length =
      is_buffer(buffer) ? SEND(NSUInteger(*)(id, SEL), buffer, "length") : 0;
  if (offset > length || size > length - offset) {
    metal_assert("%s: %lu bytes from %lu on are not in a buffer of %lu", call,
                 size, offset, length);
  }
}

static void load_into_buffer(id self, SEL _cmd, id buffer, NSUInteger offset,
                             NSUInteger size, io_handle *from,
                             NSUInteger from_offset) {
  (void)_cmd;
  check_room("loadBuffer:", buffer, offset, size);
  add(self, (io_command){.kind = LOAD_BUFFER,
                         .target = buffer,
                         .offset = offset,
                         .size = size,
                         .from = from,
                         .from_offset = from_offset});
}

static void load_into_bytes(id self, SEL _cmd, void *bytes, NSUInteger size,
                            io_handle *from, NSUInteger from_offset) {
  (void)_cmd;
  add(self, (io_command){.kind = LOAD_BYTES,
                         .bytes = bytes,
                         .size = size,
                         .from = from,
                         .from_offset = from_offset});
}

static void load_into_texture(id self, SEL _cmd, id texture, NSUInteger slice,
                              NSUInteger level, MTLSize size,
                              NSUInteger row_bytes, NSUInteger image_bytes,
                              MTLOrigin origin, io_handle *from,
                              NSUInteger from_offset) {
  (void)_cmd;
  const NSUInteger image = image_bytes ? image_bytes : row_bytes * size.height;
  add(self,
      (io_command){
          .kind = LOAD_TEXTURE,
          .target = texture,
          .size = size.depth > 1 ? image * size.depth : row_bytes * size.height,
          .from = from,
          .from_offset = from_offset,
          .image = {slice, level, size, origin, row_bytes, image}});
}

static void copy_status(id self, SEL _cmd, id buffer, NSUInteger offset) {
  (void)_cmd;
  check_room("copyStatusToBuffer:", buffer, offset, sizeof(NSInteger));
  if (!SEND(void *(*)(id, SEL), buffer, "contents")) {
    metal_assert("copyStatusToBuffer: the buffer is private");
  }
  add(self,
      (io_command){.kind = COPY_STATUS, .target = buffer, .offset = offset});
}

static void wait_event(id self, SEL _cmd, id event, uint64_t value) {
  (void)_cmd;
  add(self, (io_command){.kind = WAIT_EVENT, .target = event, .value = value});
}

static void signal_event(id self, SEL _cmd, id event, uint64_t value) {
  (void)_cmd;
  add(self,
      (io_command){.kind = SIGNAL_EVENT, .target = event, .value = value});
}

// Commands run in their order anyway.
static void add_barrier(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

// Groups are for captures alone.
static void push_group(id self, SEL _cmd, id name) {
  (void)self;
  (void)_cmd;
  (void)name;
}

static NSInteger commands_status(id self, SEL _cmd) {
  (void)_cmd;
  return ((io_commands *)self)->status;
}

static id commands_error(id self, SEL _cmd) {
  (void)_cmd;
  io_commands *of = (io_commands *)self;
  return of->status == IO_FAILED ? of->error : NULL;
}

COPY_PROPERTY(io_commands, label)

METHODS(commands_methods, METHOD("dealloc", "v16@0:8", commands_dealloc),
        METHOD("loadBuffer:offset:size:sourceHandle:sourceHandleOffset:",
               "v56@0:8@16Q24Q32@40Q48", load_into_buffer),
        METHOD("loadBytes:size:sourceHandle:sourceHandleOffset:",
               "v48@0:8^v16Q24@32Q40", load_into_bytes),
        METHOD("loadTexture:slice:level:size:sourceBytesPerRow:"
               "sourceBytesPerImage:destinationOrigin:sourceHandle:"
               "sourceHandleOffset:",
               "v120@0:8@16Q24Q32{?=QQQ}40Q64Q72{?=QQQ}80@104Q112",
               load_into_texture),
        METHOD("copyStatusToBuffer:offset:", "v32@0:8@16Q24", copy_status),
        METHOD("waitForEvent:value:", "v32@0:8@16Q24", wait_event),
        METHOD("signalEvent:value:", "v32@0:8@16Q24", signal_event),
        METHOD("addBarrier", "v16@0:8", add_barrier),
        METHOD("pushDebugGroup:", "v24@0:8@16", push_group),
        METHOD("popDebugGroup", "v16@0:8", add_barrier),
        METHOD("enqueue", "v16@0:8", enqueue),
        METHOD("commit", "v16@0:8", commit),
        METHOD("waitUntilCompleted", "v16@0:8", wait_completed),
        METHOD("tryCancel", "v16@0:8", try_cancel),
        METHOD("addCompletedHandler:", "v24@0:8@?16", add_handler),
        METHOD("status", "q16@0:8", commands_status),
        METHOD("error", "@16@0:8", commands_error),
        OBJECT_METHODS(io_commands, label, "setLabel:"));
DEFINE_CLASS(MettleLoadCommands, NSObject, sizeof(io_commands),
             commands_methods, NO_METHODS);
