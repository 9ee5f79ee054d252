// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_encoder.h: shared by compute_encoder.c (bindings) and dispatch.c.
#ifndef MTLI_COMPUTE_ENCODER_H
#define MTLI_COMPUTE_ENCODER_H

#include <string.h>

#include "runtime/library/linked_functions.h"
#include "runtime/record/encoder.h"
#include "runtime/record/hazards.h"

// The binding of [[texture(n)]].
typedef struct mtli_texture_binding {
  mtl_texture *texture;  // NULL for none
  bool is_set;           // also if it is bound to none
} mtli_texture_binding;

// A buffer that kernels reach through an address (use_buffer).
typedef struct mtli_debug_group {
  struct mtli_debug_group *outer;
  const char *path;  // names of all open groups, joined by "/"
} mtli_debug_group;

struct mtl_compute_encoder {
  mtli_encoder base;
  mtl_dispatch_type dispatch_type;
  bool has_hazards;  // of a concurrent one: they order what the client does not
  // The next command waits for all before: the first one, and after barriers.
  bool is_next_ordered;
  uint8_t next_orders;  // mtli_command: the memory that the next barrier orders
  const mtli_ordered_piece *ordered;
  mtl_pipeline *pipeline;
  mtli_binding bindings[MTL_MAX_BUFFER_ARGUMENTS];
  mtli_texture_binding textures[MTL_MAX_TEXTURE_ARGUMENTS];
  uint64_t samplers[MTL_MAX_SAMPLER_ARGUMENTS];  // ids; 0 for none
  size_t threadgroup_bytes[MTL_MAX_THREADGROUP_ARGUMENTS];
  mtli_used_buffer *used;
  mtli_debug_group *group;  // the innermost open one
  mtli_hazards hazards;     // of a concurrent encoder
};

// Returns the name of the kernel that a dispatch runs, for the texts of errors.
static inline const char *mtli_kernel_name(const mtl_compute_encoder *encoder) {
  return encoder->pipeline->kernel->name;
}

// Makes the next command wait for all earlier ones, with the reason that memory
// of such kinds requires it.
static inline void mtli_order_next(mtl_compute_encoder *encoder,
                                   unsigned orders) {
  encoder->is_next_ordered = true;
  encoder->next_orders |= (uint8_t)orders;
}

// mtli_encoder_check for this kind.
static inline bool mtli_compute_encoder_check(mtl_compute_encoder *encoder,
                                              const char *call) {
  return mtli_encoder_check((mtli_encoder *)encoder, call);
}

// Returns a place for an argument's handles, zeros; NULL if the recording has
// failed. Kernels index those of an array.
static inline uint64_t *mtli_compute_encoder_handles(
    mtl_compute_encoder *encoder, uint32_t count) {
  mtli_recording *recording = encoder->base.recording;
  const size_t size_bytes = count * sizeof(uint64_t);
  uint64_t *handles = count == 1
                          ? mtli_recording_allocate(recording, size_bytes)
                          : mtli_inline_bytes_place(recording, size_bytes);
  return handles ? memset(handles, 0, size_bytes) : NULL;
}

// dispatch.c: the checks of a dispatch against the encoder's state. They fail
// the recording and return false.
bool mtli_check_group(mtl_compute_encoder *encoder, mtl_size group);
bool mtli_check_grid(mtl_compute_encoder *encoder, mtl_size grid,
                     mtl_size group);
// Counts the threads of groups.
bool mtli_threads_of(mtl_compute_encoder *encoder, mtl_size groups,
                     mtl_size group, mtl_size *out_grid);
// Fills in the arguments, whose arrays are there, and the threadgroup memory.
bool mtli_resolve_arguments(mtl_compute_encoder *encoder,
                            mtli_dispatch *dispatch);

// Memory that the next command touches, besides buffers named by use_buffer.
typedef enum mtli_touches {
  MTLI_TOUCHES_NOTHING,
  MTLI_TOUCHES_ARGUMENTS,  // the buffers bound to the pipeline's arguments
  MTLI_TOUCHES_BINDINGS,   // all that is bound
} mtli_touches;

// Decides whether the next command waits for all before it. indirect, which it
// reads, may be NULL.
bool mtli_take_order(mtl_compute_encoder *encoder, mtli_touches touches,
                     const mtl_buffer *indirect);

// Give the resource ids [argument->array_length] of a texture, sampler or table
// argument, in the recording's memory; NULL if the recording has failed.
uint64_t *mtli_resolve_textures(mtl_compute_encoder *encoder,
                                const mtl_argument *argument);
uint64_t *mtli_resolve_samplers(mtl_compute_encoder *encoder,
                                const mtl_argument *argument);
uint64_t *mtli_resolve_function_tables(mtl_compute_encoder *encoder,
                                       const mtl_argument *argument);

// tensor.c: checks the binding of a tensor argument, and a tensor bound to any
// argument.
bool mtli_check_tensor(mtl_compute_encoder *encoder,
                       const mtl_argument *argument,
                       const mtli_binding *binding);

#endif
