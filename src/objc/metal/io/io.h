// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// io.h: queues that load files into buffers and textures, for each other's
// files.
#ifndef METTLE_OBJC_METAL_IO_H
#define METTLE_OBJC_METAL_IO_H

#include <pthread.h>

#include "objc/metal/metal.h"

// MTLIOError
enum { IO_URL_INVALID = 1, IO_INTERNAL = 2 };
extern id const MTLIOErrorDomain;

typedef struct io_handle {
  struct objc_object object;
  int file;
  id label;
  id path;  // +1
} io_handle;

typedef struct io_queue {
  struct objc_object object;
  id device;  // +1
  id tasks;   // +1, a dispatch queue; a task is a command buffer
  id label;
  id copies;  // +1, an MTLCommandQueue for memory that the host cannot
              // reach
} io_queue;

// Makes an MTLIOCommandBuffer of the queue, autoreleased.
id io_commands_make(io_queue *queue);
bool is_io_handle(id object);

#endif
