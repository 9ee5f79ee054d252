// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle.h: Metal compute for every machine. This page is the tour.
//
// Names and meanings are Metal's wherever Metal has a word. The order of the
// includes is the order of use:
//
//   mtl_device *device;          // 1. what to run on
//   mtl_buffer *buffer;          // 2. its memory
//   mtl_texture *texture;        //    and images in it
//   mtl_library *library;        // 3. MSL source, compiled
//   mtl_pipeline *pipeline;      // 4. one function, ready to run
//   mtl_queue *queue;            // 5. keeps commits in order
//   mtl_command_buffer *commands;// 6. a list of work
//   mtl_compute_encoder *encoder;// 7. records dispatches into it
//   mtl_event *event;            // 8. orders queues and the host
//
// examples/add_vectors.c is the smallest whole program. Ownership, threads and
// errors are the same everywhere: docs/ownership.md, docs/threads.md,
// docs/errors.md.
//
// Ownership words in these headers: an object that is "yours" must be released
// by you; a callee that "retains" keeps a reference of its own; one that
// "borrows" uses it during the call only; one that "takes" becomes the owner.
#ifndef METTLE_METTLE_H
#define METTLE_METTLE_H

#include "status.h"
#include "device.h"
#include "buffer.h"
#include "texture.h"
#include "library.h"
#include "argument_encoder.h"
#include "check.h"
#include "pipeline.h"
#include "binary_archive.h"
#include "function_table.h"
#include "log.h"
#include "queue.h"
#include "event.h"
#include "command_buffer.h"
#include "encoder.h"
#include "tensor.h"
#include "heap.h"
#include "residency_set.h"
#include "indirect_command_buffer.h"
#include "counters.h"
#include "trace.h"
#include "stream.h"
#include "ops.h"
#include "version.h"

#endif
