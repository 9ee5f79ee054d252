// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.h: shared by indirect_commands.c (records, edits),
// record/indirect_encoding.c (encoders) and record/indirect_execution.c.
#ifndef MTLI_INDIRECT_COMMANDS_H
#define MTLI_INDIRECT_COMMANDS_H

#include "mettle/indirect_command_buffer.h"
#include "runtime/record/compute_encoder.h"
#include "runtime/weak.h"

// A command's binding of [[buffer(n)]].
typedef struct mtli_indirect_binding {
  mtli_weak *buffer;  // +1; NULL for none
  uint64_t address;   // with a buffer or, if a kernel set it, with none
} mtli_indirect_binding;

typedef enum mtli_indirect_kind {
  MTLI_INDIRECT_NONE = 0,
  MTLI_INDIRECT_THREADGROUPS,
  MTLI_INDIRECT_THREADS,
} mtli_indirect_kind;

// One recorded command.
typedef struct mtli_indirect_record {
  uint64_t version;     // another one after each edit
  mtli_weak *pipeline;  // +1; NULL for none
  uint64_t pipeline_id;  // mtli_pipeline_id, or a number that a kernel set; 0
                         // for none
  mtli_indirect_kind kind;  // of a kernel-encoded command perhaps none of the
                            // three
  mtl_size grid;  // threads or threadgroups
  mtl_size group;
  bool has_barrier;
} mtli_indirect_record;

typedef struct mtli_execution mtli_execution;

struct mtl_indirect_command_buffer {
  mtli_object object;
  mtl_device *device;                     // +1
  mtl_indirect_command_buffer_desc desc;  // the description, with defaults
                                          // filled in
  char *label;                            // under device->lock; NULL for none
  void *native;  // the device's own object; then nothing below is there
  pthread_mutex_t lock;  // for edits, and for all members below
  uint64_t last_version;
  mtli_indirect_record *records;    // [max_commands]
  mtli_indirect_binding *bindings;  // [max_commands * max_buffers]
  uint32_t *threadgroup_bytes;      // [max_commands * max_threadgroup_memory]
  mtli_execution *executions;  // free ones, with their prepared memory
  mtl_buffer *memory;  // +1; where kernels encode commands, NULL for nowhere
  uint64_t *seen_versions;  // [max_commands] of slots there, last taken in
};

static inline mtli_indirect_binding *mtli_indirect_bindings(
    const mtl_indirect_command_buffer *commands, uint32_t index) {
  return commands->bindings + (size_t)index * commands->desc.max_buffers;
}

static inline uint32_t *mtli_indirect_threadgroup_bytes(
    const mtl_indirect_command_buffer *commands, uint32_t index) {
  return commands->threadgroup_bytes +
         (size_t)index * commands->desc.max_threadgroup_memory;
}

// Returns the slots of a device that keeps the commands itself; NULL for
// others.
static inline const mtli_indirect_slots *mtli_indirect_slots_of(
    const mtl_indirect_command_buffer *commands) {
  return commands->device->driver->indirect;
}

// True if commands [count] from first on are all there.
static inline bool mtli_indirect_has_range(
    const mtl_indirect_command_buffer *commands, uint32_t first,
    uint32_t count) {
  return first <= commands->desc.max_commands &&
         count <= commands->desc.max_commands - first;
}

// record/indirect_memory.c, with the lock held: updates the record of a command
// from the memory that kernels wrote; and writes the host's record to that
// memory.
void mtli_indirect_take_in(mtl_indirect_command_buffer *commands,
                           uint32_t index);
void mtli_indirect_write_out(mtl_indirect_command_buffer *commands,
                             uint32_t index);
// Returns the memory, NULL for none. Once there it stays.
mtl_buffer *mtli_indirect_memory(mtl_indirect_command_buffer *commands);

// record/indirect_encoding.c: checks commands that are handed to an encoder; fails the
// recording and returns false.
bool mtli_indirect_check_use(mtli_encoder *encoder,
                             const mtl_indirect_command_buffer *commands,
                             const char *call);

// record/indirect_execution.c: releases the objects of an execution.
void mtli_execution_end(const mtli_execute *execute);
// Ends a free one, with its indirect command buffer.
void mtli_execution_destroy(mtli_execution *execution);

#endif
