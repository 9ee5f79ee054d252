// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_abi.h: the memory of an indirect command buffer, by which kernels
// encode commands: a head, then one slot a command. metal_command_buffer in
// src/compiler/metal knows the same offsets.
#ifndef MTLI_INDIRECT_ABI_H
#define MTLI_INDIRECT_ABI_H

#include <stdint.h>

enum {
  MTLI_INDIRECT_INHERITS_BUFFERS = 1,
  MTLI_INDIRECT_INHERITS_PIPELINE = 2,
};

typedef struct mtli_indirect_head {
  uint64_t count;       // of slots
  uint64_t slot_bytes;  // a multiple of 8
  uint32_t max_buffers;
  uint32_t max_threadgroup_memory;
  uint64_t inherits;  // MTLI_INDIRECT_INHERITS_*, or-ed
} mtli_indirect_head;

// The kind of a command; 0 for none.
enum { MTLI_INDIRECT_SLOT_THREADGROUPS = 1, MTLI_INDIRECT_SLOT_THREADS = 2 };

// Behind it lie the addresses of what the command binds, [max_buffers] of 64
// bits, 0 for nothing, and the lengths of threadgroup memory,
// [max_threadgroup_memory] of 32 bits.
typedef struct mtli_indirect_slot {
  uint64_t version;   // changes with each change by a kernel
  uint64_t pipeline;  // mtl_pipeline_resource_id; 0 for none
  uint32_t kind;
  uint32_t has_barrier;
  uint32_t grid[3];  // threads or threadgroups
  uint32_t group[3];
  uint64_t buffers[];
} mtli_indirect_slot;

_Static_assert(sizeof(mtli_indirect_head) == 32, "metal_command_buffer");
_Static_assert(sizeof(mtli_indirect_slot) == 48, "metal_command_buffer");

#endif
