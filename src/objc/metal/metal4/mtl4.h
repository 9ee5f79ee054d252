// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4.h: Metal 4's command model over Metal 3's objects: a command buffer is a
// list of commands, which a queue encodes at its commit.
#ifndef METTLE_OBJC_MTL4_H
#define METTLE_OBJC_MTL4_H

#include "objc/metal/metal.h"

typedef struct mtl4_library_descriptor {
  struct objc_object object;
  id source;
  id name;
  id options;
} mtl4_library_descriptor;

// A function descriptor of either class: MTL4LibraryFunctionDescriptor has the
// first two fields, MTL4Specialized... the rest.
typedef struct mtl4_function_descriptor {
  struct objc_object object;
  id library;
  id name;
  id functionDescriptor;
  id specializedName;
  id constantValues;
} mtl4_function_descriptor;

typedef struct mtl4_pipeline_descriptor {
  struct objc_object object;
  id label;
  id computeFunctionDescriptor;
  NSUInteger maxTotalThreadsPerThreadgroup;
  NSInteger supportIndirectCommandBuffers;  // 1: enabled
  bool threadGroupSizeIsMultipleOfThreadExecutionWidth;
} mtl4_pipeline_descriptor;

typedef struct mtl4_table_descriptor {
  struct objc_object object;
  id label;
  NSUInteger maxBufferBindCount;
  NSUInteger maxTextureBindCount;
  NSUInteger maxSamplerStateBindCount;
  bool initializeBindings;
} mtl4_table_descriptor;

typedef struct mtl4_queue_descriptor {
  struct objc_object object;
  id label;
  id feedbackQueue;
} mtl4_queue_descriptor;

typedef struct mtl4_allocator_descriptor {
  struct objc_object object;
  id label;
} mtl4_allocator_descriptor;

// Metal's limits of an argument table.
enum { TABLE_BUFFERS = 31, TABLE_TEXTURES = 128, TABLE_SAMPLERS = 16 };

// The contents of an argument table, copied for each dispatch when it is
// encoded. 0 where nothing is bound.
typedef struct table_contents {
  uint64_t buffers[TABLE_BUFFERS];    // addresses, or resources
  bool are_resources[TABLE_BUFFERS];  // a tensor, or a table of functions
  uint64_t textures[TABLE_TEXTURES];
  uint64_t samplers[TABLE_SAMPLERS];
} table_contents;

const table_contents *table_contents_of(id table);

// --- Command buffers (mtl4_command_buffer.c) ---------------------------------

// A list of commands with their arguments.
typedef struct mtl4_commands {
  struct objc_object object;
  id device;  // +1
  id label;
  id sets;  // +1: residency sets of its own
  struct mtl4_command *first;
  struct mtl4_command **last;
  bool is_open;
} mtl4_commands;

// Makes an MTL4ComputeCommandEncoder, autoreleased, of an MTL4CommandBuffer.
// Here and below: mtl4_encoder.c.
id mtl4_encoder_make(id commands);
// Records the time behind all of a list's earlier work.
void mtl4_commands_add_timestamp(mtl4_commands *of, id heap, NSUInteger index);
// Empties a list.
void mtl4_commands_clear(mtl4_commands *of);
// Encodes a list into an MTLCommandBuffer, with the resident allocations.
// Returns NULL, or an error's text.
const char *mtl4_commands_encode(const mtl4_commands *of, id target,
                                 id resident);

// --- Times (mtl4_counter_heap.c) ---------------------------------------------

// Returns the samples of an MTL4CounterHeap; NULL of nil.
mtl_counter_sample_buffer *mtl4_heap_samples(id heap);

// --- Resources by their identifiers (resource_table.c) -----------------------

// Registers a sampler, texture, tensor or function table under its
// gpuResourceID, for as long as it lives.
void resource_add(uint64_t identifier, id object);
// Returns an autoreleased object, or nil.
id resource_find(uint64_t identifier);

#endif
