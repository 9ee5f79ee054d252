// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal.h: Metal's objects for this library's own code. Each holds one object
// of Mettle's C API. A kind of object has its own file, with its methods as a
// table of C functions.
//
// Source  Apple: the Metal framework's reference, for names and meanings
#ifndef METTLE_OBJC_METAL_H
#define METTLE_OBJC_METAL_H

#include <mettle/mettle.h>

#include "objc/foundation/foundation.h"

// --- Plain data --------------------------------------------------------------

typedef struct MTLSize {
  NSUInteger width, height, depth;
} MTLSize;

typedef struct MTLOrigin {
  NSUInteger x, y, z;
} MTLOrigin;

typedef struct MTLRegion {
  MTLOrigin origin;
  MTLSize size;
} MTLRegion;

typedef struct MTLSizeAndAlign {
  NSUInteger size, align;
} MTLSizeAndAlign;

// MTLResourceOptions: cache mode, storage mode << 4, hazard tracking << 8.
enum {
  STORAGE_SHARED = 0,
  STORAGE_MANAGED = 1,
  STORAGE_PRIVATE = 2,
  STORAGE_MEMORYLESS = 3,
  HAZARD_UNTRACKED = 1,
  HAZARD_TRACKED = 2,
};

// --- Objects -----------------------------------------------------------------

typedef struct metal_device {
  struct objc_object object;
  mtl_device *device;
  id name;
  id architecture;
} metal_device;

typedef struct metal_buffer {
  struct objc_object object;
  id device;  // +1
  mtl_buffer *buffer;
  size_t offset;  // of the client's first byte: memory that is not ours begins
                  // anywhere in a page
  size_t length;
  NSUInteger options;
  id heap;  // +1 or nil
} metal_buffer;

typedef struct metal_texture {
  struct objc_object object;
  id device;  // +1
  mtl_texture *texture;
  id parent;  // +1, of a view; or nil
  id buffer;  // +1, of a texture in a buffer; or nil
  id heap;    // +1 or nil
  NSUInteger options;
  NSUInteger first_level;  // of the parent's
  NSUInteger first_slice;
  NSUInteger buffer_offset;
  NSUInteger buffer_row;
  uint8_t swizzle[4];  // MTLTextureSwizzle of red, green, blue, alpha
} metal_texture;

typedef struct metal_sampler {
  struct objc_object object;
  id device;  // +1
  mtl_sampler *sampler;
  id descriptor;  // +1, a copy of the descriptor that it was made by
} metal_sampler;

typedef struct metal_library {
  struct objc_object object;
  id device;  // +1
  mtl_library *library;
  id label;
  id next;  // MettleLibrary: of joined libraries, or NULL
} metal_library;

typedef struct metal_function {
  struct objc_object object;
  id device;  // +1
  mtl_function *function;  // NULL if it needs its constants' values first
  id library;              // +1
  id name;  // +1, of a function without a handle, or that a descriptor gives;
            // else NULL
  id label;
} metal_function;

typedef struct metal_pipeline {
  struct objc_object object;
  id device;  // +1
  mtl_pipeline *pipeline;
  bool in_indirect_commands;
} metal_pipeline;

typedef struct metal_queue {
  struct objc_object object;
  id device;  // +1
  mtl_queue *queue;
  id log_state;  // +1, or nil
} metal_queue;

typedef struct handler {
  struct handler *next;
  id literal;  // +1
} handler;

typedef struct metal_command_buffer {
  struct objc_object object;
  id queue;  // +1
  mtl_command_buffer *commands;
  bool unretained;
  NSUInteger error_options;
  id encoders;  // labels of encoders, for its error; or nil
  id log_state;  // +1 until the work is done: it holds the handlers; or nil
  bool is_told;  // of its completion
  handler *scheduled;
  handler *completed;
  _Atomic(id) error;  // made when first asked for
} metal_command_buffer;

typedef struct metal_encoder {
  struct objc_object object;
  id commands;  // +1
  mtl_compute_encoder *compute;
  mtl_blit_encoder *blit;
  id label;
  bool is_concurrent;
} metal_encoder;

typedef struct metal_event {
  struct objc_object object;
  id device;  // +1
  mtl_event *event;
  id label;
} metal_event;

typedef struct metal_fence {
  struct objc_object object;
  id device;  // +1
  mtl_fence *fence;
  id label;
} metal_fence;

extern struct objc_class OBJC_CLASS_$_MettleDevice;
extern struct objc_class OBJC_CLASS_$_MettleBuffer;

// --- Shared helpers ----------------------------------------------------------

// Return the C API's object inside one of ours; NULL for nil.
mtl_device *device_of(id device);
mtl_buffer *buffer_of(id buffer);
size_t buffer_offset_of(id buffer);
mtl_texture *texture_of(id texture);
mtl_sampler *sampler_of(id sampler);
// Copies a sampler with another range of levels.
id sampler_with_lods(id sampler, float min, float max);
mtl_pipeline *pipeline_of(id pipeline);
mtl_function *function_of(id function);
mtl_event *event_of(id event);
mtl_log_state *log_state_of(id state);
mtl_fence *fence_of(id fence);
// Open encoders of an MTLCommandBuffer, autoreleased.
id compute_encoder_open(id commands, const mtl_encoder_desc *desc);
id blit_encoder_open(id commands, const mtl_encoder_desc *desc);
// Makes the untracked MTLCommandQueue to which an MTL4CommandQueue submits; nil
// on failure. The caller owns it.
id queue_make_ordered_by_barriers(id device);

mtl_heap *heap_of(id heap);
NSUInteger heap_options(id heap);
id heap_device(id heap);
bool is_heap(id object);
// Returns the buffer under an MTLTensor, NULL of anything else.
mtl_buffer *tensor_buffer(id object);

mtl_residency_set *residency_set_of(id set);

// Makes the object for a heap's buffer, which it takes.
id buffer_make_in_heap(id heap, mtl_buffer *buffer);

// True for an MTLBuffer, in a heap or not.
bool is_buffer(id object);

// Returns our object for a device; the caller's reference.
id metal_device_for(mtl_device *device);

// Converts an MTLTextureType, which numbers cubes and 3-D textures before
// multisample arrays.
mtl_texture_type texture_type_of(NSUInteger number);
NSUInteger texture_type_number(mtl_texture_type type);

mtl_storage_mode storage_mode_of(NSUInteger options);
mtl_hazard_tracking hazard_tracking_of(NSUInteger options);

// Converts a size to the C API's 32 bits. A larger side saturates at the
// maximum, which no grid may have.
mtl_size size_of(MTLSize size);
mtl_region region_of(MTLOrigin origin, MTLSize size);

// Sets *out_error from the thread's last failure in the C API.
void error_from_mettle(id *out_error, id domain, mtl_status status);

// Sets *out_error to nil where a library, function or pipeline is made. Cocoa
// leaves it alone, but programs (VkFFT) test a variable that they never set.
static inline void error_clear(id *out_error) {
  if (out_error) {
    *out_error = NULL;
  }
}

extern id const MTLLibraryErrorDomain;
extern id const MTLCommandBufferErrorDomain;
extern id const MTLDeviceError;

// Converts an MTLDataType of a scalar or vector; false for others.
bool element_type_of(NSUInteger type, mtl_data_type *out_type,
                  uint32_t *out_components);

// Makes an object's label; "" gives nil.
id label_make(const char *label);

// Reports a client's error on which Metal's validation aborts: prints one line
// and aborts, or raises an exception with METTLE_OBJC_EXCEPTIONS=1.
__attribute__((noreturn, format(printf, 1, 2))) void metal_assert(
    const char *format, ...);

// Writes the C API's buffers among objects [count] to out_buffers, and returns
// how many they are.
size_t array_of_buffers(const id *objects, NSUInteger count,
                        mtl_buffer **out_buffers);

// Loads a library from data that begins with MTLB; see codegen_service.c.
mtl_status library_from_data(mtl_device *device, const void *bytes,
                             size_t length, mtl_library **out_library);
// True if a file is a library that Apple's compiler made, which
// mtl_library_create_from_file reads piece by piece.
bool library_is_of_apple(const char *path);

// Creates a library by the options of an MTLCompileOptions, or nil.
mtl_status library_from_source(mtl_device *device, const char *source,
                               id options, mtl_library **out_library);

// Calls the blocks of a list with object, and frees the list.
void handlers_call(handler *list, id object);
bool handlers_add(handler **list, id literal);
void handlers_free(handler *list);

// Makes autoreleased MTLTensorExtents of values [rank]; resources/tensor.c.
id tensor_extents_make(uint32_t rank, const int64_t *values);

#endif
