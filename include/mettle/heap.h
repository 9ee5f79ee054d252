// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heap.h: memory that is taken from the system once and shared out to buffers
// and textures, which may lie in one place one after the other (aliasing).
//
// The memory of a heap is apart from all other memory, as a buffer's is. Inside
// it nothing keeps resources apart: what leaves one reaches its neighbour.
#ifndef METTLE_HEAP_H
#define METTLE_HEAP_H

#include "encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_heap mtl_heap;

// Who says where resources lie. Source: MTLHeapType.
typedef enum mtl_heap_type {
  MTL_HEAP_AUTOMATIC = 0,  // the heap finds a place
  MTL_HEAP_PLACEMENT,      // the client: resources may overlap
} mtl_heap_type;

// Whether memory may be taken away. Source: MTLPurgeableState.
typedef enum mtl_purgeable_state {
  MTL_PURGEABLE_KEEP_CURRENT = 1,  // only asks
  MTL_PURGEABLE_NON_VOLATILE,      // contents stay
  MTL_PURGEABLE_VOLATILE,  // contents may be lost any time; here they never are
  MTL_PURGEABLE_EMPTY,     // contents are lost, and the memory given back
} mtl_purgeable_state;

typedef struct mtl_heap_desc {
  size_t length_bytes;  // 1 to the device's max_buffer_bytes
  mtl_heap_type type;
  mtl_storage_mode storage_mode;  // of all its resources. Zero is shared;
                                  // Metal's default is private
  // Tracks hazards of the heap as a whole: what touches one of its resources
  // touches all. Otherwise the client orders them, as for untracked buffers;
  // that is Metal's default.
  bool tracks_hazards;
  const char *label;  // copied; NULL for none
} mtl_heap_desc;

// Makes a heap. Its memory starts as zeros.
//
// Ownership  The heap is yours; it retains device. Its resources retain it.
// Threads    Any, for all functions here.
// Errors     MTL_INVALID_ARGUMENT  a length, type or mode that cannot be
//            MTL_UNSUPPORTED       the device has no heaps
//            MTL_OUT_OF_MEMORY     the text has the length
// Source     Metal: -[MTLDevice newHeapWithDescriptor:]
MTL_API MTL_MUST_USE mtl_status mtl_heap_create(mtl_device *device,
                                                const mtl_heap_desc *desc,
                                                mtl_heap **out_heap);
MTL_API mtl_heap *mtl_heap_retain(mtl_heap *heap);
// NULL is allowed; its resources and work in flight keep the heap alive.
MTL_API void mtl_heap_release(mtl_heap *heap);

// What the heap was made with, and its label, "" if there is none.
MTL_API mtl_device *mtl_heap_device(const mtl_heap *heap);  // borrowed
MTL_API size_t mtl_heap_length(const mtl_heap *heap);
MTL_API mtl_heap_type mtl_heap_get_type(const mtl_heap *heap);
MTL_API mtl_storage_mode mtl_heap_storage_mode(const mtl_heap *heap);
MTL_API bool mtl_heap_tracks_hazards(const mtl_heap *heap);
MTL_API void mtl_heap_set_label(mtl_heap *heap, const char *label);
MTL_API const char *mtl_heap_label(const mtl_heap *heap);

// Returns the bytes that live resources take, alignment included; where some
// overlap, once. What was made aliasable does not count.
//
// Source     Metal: usedSize
MTL_API size_t mtl_heap_used_bytes(const mtl_heap *heap);
// Returns the bytes of the device's memory that the heap takes: its length in
// whole pages.
//
// Source     Metal: currentAllocatedSize
MTL_API size_t mtl_heap_current_allocated_bytes(const mtl_heap *heap);
// Returns the length of the largest resource, in bytes, that would find a place
// now.
//
//   alignment_bytes  a power of two, up to the page size; 0 means 1
//
// Source     Metal: maxAvailableSizeWithAlignment:
MTL_API size_t mtl_heap_max_available_bytes(const mtl_heap *heap,
                                            size_t alignment_bytes);

// What a resource takes of a heap of the device, in bytes.
typedef struct mtl_size_and_align {
  size_t size_bytes;   // a multiple of the alignment
  size_t align_bytes;  // a power of two
} mtl_size_and_align;

// Tell what a buffer or a texture would take. Only length, or what shapes the
// texels, counts.
//
// Errors     MTL_INVALID_ARGUMENT  as creating it
// Source     Metal: heapBufferSizeAndAlignWithLength:options:,
//            heapTextureSizeAndAlignWithDescriptor:
MTL_API MTL_MUST_USE mtl_status mtl_device_heap_buffer_size_and_align(
    mtl_device *device, size_t length_bytes, mtl_size_and_align *out_size);
MTL_API MTL_MUST_USE mtl_status mtl_device_heap_texture_size_and_align(
    mtl_device *device, const mtl_texture_desc *desc,
    mtl_size_and_align *out_size);

// Make a buffer or a texture in a heap. Contents are what was there before,
// zeros in a new heap; a buffer's may start as desc->bytes.
//
//   desc          storage_mode is the heap's. hazard_tracking counts for
//                 nothing: the heap says
//   offset_bytes  in a placement heap, a multiple of the alignment above; in an
//                 automatic one 0
//
// Ownership  The resource is yours; it retains heap.
// Errors     MTL_INVALID_ARGUMENT  another storage mode; an offset that cannot
//                                  be; no_copy_bytes or guarded
//            MTL_OUT_OF_MEMORY     no place; the text has the largest there is
// Source     Metal: -[MTLHeap newBufferWithLength:options:offset:],
//            newTextureWithDescriptor:offset:
MTL_API MTL_MUST_USE mtl_status
mtl_heap_create_buffer(mtl_heap *heap, const mtl_buffer_desc *desc,
                       size_t offset_bytes, mtl_buffer **out_buffer);
MTL_API MTL_MUST_USE mtl_status
mtl_heap_create_texture(mtl_heap *heap, const mtl_texture_desc *desc,
                        size_t offset_bytes, mtl_texture **out_texture);

// Return the heap that a resource lies in, borrowed, or NULL; and where.
MTL_API mtl_heap *mtl_buffer_heap(const mtl_buffer *buffer);
MTL_API size_t mtl_buffer_heap_offset(const mtl_buffer *buffer);
MTL_API mtl_heap *mtl_texture_heap(const mtl_texture *texture);
MTL_API size_t mtl_texture_heap_offset(const mtl_texture *texture);

// Let later resources of the heap lie where this one does; once and for good.
// The client orders who uses the place when.
//
// Errors     MTL_INVALID_ARGUMENT  the resource lies in no heap
// Source     Metal: makeAliasable
MTL_API MTL_MUST_USE mtl_status mtl_buffer_make_aliasable(mtl_buffer *buffer);
MTL_API MTL_MUST_USE mtl_status
mtl_texture_make_aliasable(mtl_texture *texture);
// True if later resources may lie in the same place: in a placement heap any
// time, in an automatic one once it was made aliasable.
MTL_API bool mtl_buffer_is_aliasable(const mtl_buffer *buffer);
MTL_API bool mtl_texture_is_aliasable(const mtl_texture *texture);

// Set whether memory may be taken away, and tell what that was before. The
// texels of a texture are those of its buffer, whose state they share.
//
//   out_before  NULL if it does not matter. MTL_PURGEABLE_EMPTY says that
//               contents were lost
//
// Errors     MTL_INVALID_ARGUMENT  a state that does not exist; the resource
//                                  lies in a heap, whose state it has, and the
//                                  call would change it
// Source     Metal: setPurgeableState:
MTL_API MTL_MUST_USE mtl_status
mtl_buffer_set_purgeable_state(mtl_buffer *buffer, mtl_purgeable_state state,
                               mtl_purgeable_state *out_before);
MTL_API MTL_MUST_USE mtl_status
mtl_texture_set_purgeable_state(mtl_texture *texture, mtl_purgeable_state state,
                                mtl_purgeable_state *out_before);
MTL_API MTL_MUST_USE mtl_status mtl_heap_set_purgeable_state(
    mtl_heap *heap, mtl_purgeable_state state, mtl_purgeable_state *out_before);

// Keeps heap and makes its resources, made before or after, usable for kernels
// that reach them through addresses. They are read and, in a heap that tracks
// hazards, taken to be written.
//
// Source     Metal: useHeap:
MTL_API void mtl_compute_encoder_use_heap(mtl_compute_encoder *encoder,
                                          mtl_heap *heap);

// The same for each of heaps [count].
MTL_API void mtl_compute_encoder_use_heaps(mtl_compute_encoder *encoder,
                                           mtl_heap *const *heaps,
                                           size_t count);

#ifdef __cplusplus
}
#endif
#endif
