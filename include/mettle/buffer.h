// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// buffer.h: memory that kernels read and write.
#ifndef METTLE_BUFFER_H
#define METTLE_BUFFER_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_buffer mtl_buffer;

// Where a buffer lives and who may touch it. Zero is the default.
typedef enum mtl_storage_mode {
  MTL_STORAGE_SHARED = 0,  // host and device see one memory; the host sees the
                           // device's writes once the command buffer completed
  MTL_STORAGE_MANAGED,     // two copies: mtl_buffer_did_modify_range tells the
                           // device, mtl_blit_encoder_synchronize the host
  MTL_STORAGE_PRIVATE,     // the device alone; contents is NULL
} mtl_storage_mode;

typedef enum mtl_hazard_tracking {
  MTL_HAZARD_TRACKED = 0,  // dispatches that touch the buffer keep their order
  MTL_HAZARD_UNTRACKED,    // the client orders them: barriers, fences, events
} mtl_hazard_tracking;

// Called once when nothing uses no_copy_bytes any more, on any thread.
typedef void mtl_buffer_deallocator(void *context, void *bytes,
                                    size_t length_bytes);

typedef struct mtl_buffer_desc {
  size_t length_bytes;  // 1 to max_buffer_bytes
  mtl_storage_mode storage_mode;
  mtl_hazard_tracking hazard_tracking;
  const void *bytes;    // [length_bytes] initial contents, or NULL for zeros
  void *no_copy_bytes;  // [length_bytes] the caller's memory to use in place;
                        // it and the length are multiples of the device's
                        // no_copy_alignment_bytes; shared, or as the end says
  mtl_buffer_deallocator *deallocator;  // for no_copy_bytes; NULL for none
  void *deallocator_context;
  bool guarded;  // an inaccessible page right behind the last byte: an
                 // access past the end faults. 16 MiB on both sides are
                 // inaccessible
  // What the first byte of a guarded buffer is aligned to: 1, 2, 4, 8 or 16; 0
  // is 16. So many bytes less one may lie between the last byte and the page
  // behind it, unless length_bytes is a multiple. Of a buffer that is not
  // guarded: 0 to have it begin with a page; or the alignment of one that ends
  // with a page, with what is inaccessible behind all buffers right behind it.
  uint8_t guard_alignment_bytes;
  const char *label;  // copied; NULL for none
} mtl_buffer_desc;

// Makes a buffer. Contents start as desc->bytes, or as zeros. The pages of a
// buffer are its own, and memory around them is inaccessible: a kernel that
// leaves them reaches no other buffer and nothing of the program's, but faults
// (docs/errors.md). METTLE_GUARD_ENDS=1 has all buffers end with a page. With
// no_copy_bytes the memory around is the program's: a kernel that leaves the
// buffer reaches it, but one that stays inside leaves the bytes beside it
// alone, to the last. Kernels need the alignment that their arguments' types
// have; blits need none.
//
// Ownership  The buffer is yours; it retains device. bytes is borrowed;
//            no_copy_bytes stays the caller's until the deallocator is called.
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  length 0 or over max_buffer_bytes;
//                                  no_copy_bytes misaligned or not shared;
//                                  a wrong guard_alignment_bytes;
//                                  both bytes and no_copy_bytes
//            MTL_OUT_OF_MEMORY     the text has the length
// Source     Metal: -[MTLDevice newBufferWithLength:options:],
//            newBufferWithBytes:…, newBufferWithBytesNoCopy:…
MTL_API MTL_MUST_USE mtl_status mtl_buffer_create(mtl_device *device,
                                                  const mtl_buffer_desc *desc,
                                                  mtl_buffer **out_buffer);

// Makes a buffer of device over the memory of another device's private buffer:
// device's blits and kernels read and write it where it is, across what joins
// the two. Shared events order the queues of both.
//
//   buffer    private, of another device of the same kind (cuda and cuda:1;
//             cpu and cpu-discrete)
//   out_view  private, as long as buffer; takes no memory of device
//
// Ownership  The view is yours; it retains buffer and device.
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  NULL; buffer is device's own, or not private
//            MTL_UNSUPPORTED       the devices cannot use each other's memory
// Source     Metal: -[MTLBuffer newRemoteBufferViewForDevice:]
MTL_API MTL_MUST_USE mtl_status mtl_buffer_create_remote_view(
    mtl_device *device, mtl_buffer *buffer, mtl_buffer **out_view);

MTL_API mtl_buffer *mtl_buffer_retain(mtl_buffer *buffer);
// NULL is allowed; work in flight keeps the buffer alive.
MTL_API void mtl_buffer_release(mtl_buffer *buffer);

// Returns the host's address of the first byte, page aligned unless guarded or
// with a guard alignment, or NULL for a private buffer. Valid as long as the
// buffer.
MTL_API void *mtl_buffer_contents(const mtl_buffer *buffer);
MTL_API size_t mtl_buffer_length(const mtl_buffer *buffer);
MTL_API mtl_storage_mode mtl_buffer_storage_mode(const mtl_buffer *buffer);
MTL_API mtl_device *mtl_buffer_device(const mtl_buffer *buffer);  // borrowed

// Returns the address that kernels see for the first byte.
//
// Source     Metal: -[MTLBuffer gpuAddress]
MTL_API uint64_t mtl_buffer_gpu_address(const mtl_buffer *buffer);

// Tells the device that the host wrote into a managed buffer. Shared buffers
// need no call and accept it.
//
// Errors     MTL_INVALID_ARGUMENT  the range ends past the buffer, or the
//                                  buffer is private
// Source     Metal: -[MTLBuffer didModifyRange:]
MTL_API MTL_MUST_USE mtl_status mtl_buffer_did_modify_range(
    mtl_buffer *buffer, size_t offset_bytes, size_t length_bytes);

// Sets the label shown in errors; copied, NULL for none.
MTL_API void mtl_buffer_set_label(mtl_buffer *buffer, const char *label);
// Returns the label, "" if there is none. Valid until the next set_label.
MTL_API const char *mtl_buffer_label(const mtl_buffer *buffer);

// --- memory of others on the GPU ---------------------------------------------
//
// In private storage, on a device that runs native work (cuda), no_copy_bytes
// is an address of the GPU's own memory, such as that of a torch tensor on the
// same GPU (DLPack's data): kernels use it where it is, and contents is NULL.
// mtl_buffer_gpu_address of a private buffer is such an address, too.
// On the device cuda a shared buffer over more than 64 kB of memory that is
// mapped read-only, such as a file of weights, is a copy in the GPU's memory,
// made when the buffer is created: kernels do not see later changes of the
// file.

#ifdef __cplusplus
}
#endif
#endif
