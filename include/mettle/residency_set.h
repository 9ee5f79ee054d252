// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// residency_set.h: buffers, textures and heaps that work may use without naming
// them.
#ifndef METTLE_RESIDENCY_SET_H
#define METTLE_RESIDENCY_SET_H

#include "heap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_residency_set mtl_residency_set;

#define MTL_MAX_RESIDENCY_SETS 32  // of a queue, and of a command buffer. Metal

// What a set holds: exactly one of these is not NULL. A texture stands for the
// memory of its texels.
//
// Source     Metal: MTLAllocation
typedef struct mtl_allocation {
  mtl_buffer *buffer;
  mtl_texture *texture;
  mtl_heap *heap;
} mtl_allocation;

typedef struct mtl_residency_set_desc {
  size_t initial_capacity;  // allocations to have room for
  const char *label;        // copied; NULL for none
} mtl_residency_set_desc;

// Makes an empty set.
//
//   desc   NULL for the defaults
//
// Ownership  The set is yours; it retains device.
// Threads    Any, for all functions here.
// Errors     MTL_OUT_OF_MEMORY
// Source     Metal: newResidencySetWithDescriptor:error:
MTL_API MTL_MUST_USE mtl_status
mtl_residency_set_create(mtl_device *device, const mtl_residency_set_desc *desc,
                         mtl_residency_set **out_set);
MTL_API mtl_residency_set *mtl_residency_set_retain(mtl_residency_set *set);
MTL_API void mtl_residency_set_release(mtl_residency_set *set);
MTL_API mtl_device *mtl_residency_set_device(
    const mtl_residency_set *set);  // borrowed
MTL_API void mtl_residency_set_set_label(mtl_residency_set *set,
                                         const char *label);
MTL_API const char *mtl_residency_set_label(const mtl_residency_set *set);

// Add and remove allocations [count]; what is there already, or not, is passed
// over. Nothing changes for work before mtl_residency_set_commit.
//
// Ownership  Retains what is added until it was removed and that was committed.
// Errors     MTL_INVALID_ARGUMENT  an allocation that is none or two; one of
//                                  another device; nothing is added then
//            MTL_OUT_OF_MEMORY
// Source     Metal: addAllocation:, addAllocations:count:, removeAllocation:, …
MTL_API MTL_MUST_USE mtl_status mtl_residency_set_add(
    mtl_residency_set *set, const mtl_allocation *allocations, size_t count);
MTL_API MTL_MUST_USE mtl_status mtl_residency_set_remove(
    mtl_residency_set *set, const mtl_allocation *allocations, size_t count);
MTL_API void mtl_residency_set_remove_all(mtl_residency_set *set);

// Makes the additions and removals count: for command buffers that are
// committed from now on, and for a residency that was requested.
//
// Errors     MTL_OUT_OF_MEMORY  all is as it was
// Source     Metal: commit
MTL_API MTL_MUST_USE mtl_status
mtl_residency_set_commit(mtl_residency_set *set);

// Has the committed allocations' memory be there before work needs it, so that
// the first touch costs no page faults; and what is committed later, until the
// residency ends. Memory that would take most of what the machine has free is
// left to be touched. Cheap to repeat.
//
// Source     Metal: requestResidency, endResidency
MTL_API void mtl_residency_set_request(mtl_residency_set *set);
MTL_API void mtl_residency_set_end(mtl_residency_set *set);

// Tell what the set holds, not yet committed changes included.
//
//   out_allocations  [capacity] receives up to capacity of them, in no order,
//                    borrowed; NULL with capacity 0
//
// Source     Metal: allocationCount, containsAllocation:, allAllocations
MTL_API size_t mtl_residency_set_count(const mtl_residency_set *set);
MTL_API bool mtl_residency_set_contains(const mtl_residency_set *set,
                                        mtl_allocation allocation);
MTL_API size_t mtl_residency_set_allocations(const mtl_residency_set *set,
                                             mtl_allocation *out_allocations,
                                             size_t capacity);
// Returns the bytes that the allocations take, as of the last commit.
//
// Source     Metal: allocatedSize
MTL_API uint64_t
mtl_residency_set_allocated_bytes(const mtl_residency_set *set);

// Have every command buffer of queue that is committed from now on, or one
// command buffer before its commit, use what sets [count] hold then, as
// mtl_compute_encoder_use_buffer would, but for hazards: kernels may reach it
// through addresses.
//
// Ownership  Retain the sets: the queue until they are removed, a command
//            buffer until it is completed.
// Errors     MTL_INVALID_ARGUMENT  NULL; another device's; more than
//                                  MTL_MAX_RESIDENCY_SETS. A command buffer
//                                  keeps it
// Source     Metal: addResidencySets:count:, removeResidencySets:count:,
//            useResidencySets:count:
MTL_API MTL_MUST_USE mtl_status mtl_queue_add_residency_sets(
    mtl_queue *queue, mtl_residency_set *const *sets, size_t count);
MTL_API MTL_MUST_USE mtl_status mtl_queue_remove_residency_sets(
    mtl_queue *queue, mtl_residency_set *const *sets, size_t count);
MTL_API void mtl_command_buffer_use_residency_sets(
    mtl_command_buffer *command_buffer, mtl_residency_set *const *sets,
    size_t count);

#ifdef __cplusplus
}
#endif
#endif
