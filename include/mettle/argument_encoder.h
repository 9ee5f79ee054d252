// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_encoder.h: writes resources and constants into an argument buffer,
// a buffer that holds a struct with pointers, textures and samplers.
//
// The layout is that of the struct in C: a pointer is the 8-byte GPU address
// (mtl_buffer_gpu_address plus an offset), a texture its resource id, a sampler
// its word, a function table its resource id, constants lie as they are.
// Programs that know the struct may write it themselves. What an argument
// buffer leads to is not kept alive by it: say mtl_compute_encoder_use_buffer.
#ifndef METTLE_ARGUMENT_ENCODER_H
#define METTLE_ARGUMENT_ENCODER_H

#include "buffer.h"
#include "function_table.h"
#include "library.h"
#include "texture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_argument_encoder mtl_argument_encoder;

// Makes an encoder for the struct that [[buffer(buffer_index)]] of function
// points to.
//
// Members are called by their [[id(n)]]; one without has the id behind the
// member before it. An array has an id for each element, the members of a
// struct follow the id of the struct.
//
// Ownership  The encoder is yours; it retains function.
// Threads    One at a time.
// Errors     MTL_NOT_FOUND         no such argument
//            MTL_INVALID_ARGUMENT  it is no struct with resources or ids
// Source     Metal: -[MTLFunction newArgumentEncoderWithBufferIndex:]
MTL_API MTL_MUST_USE mtl_status
mtl_argument_encoder_create(mtl_function *function, uint32_t buffer_index,
                            mtl_argument_encoder **out_encoder);
// The same for the structs that the buffer member id of encoder points to.
//
// Errors     as above
// Source     Metal: newArgumentEncoderForBufferAtIndex:
MTL_API MTL_MUST_USE mtl_status
mtl_argument_encoder_create_nested(mtl_argument_encoder *encoder, uint32_t id,
                                   mtl_argument_encoder **out_encoder);
MTL_API mtl_argument_encoder *mtl_argument_encoder_retain(
    mtl_argument_encoder *encoder);
MTL_API void mtl_argument_encoder_release(mtl_argument_encoder *encoder);

// Bytes of one struct; element n of an array of them lies n times as far.
MTL_API size_t
mtl_argument_encoder_encoded_length(const mtl_argument_encoder *encoder);
// What the offset of a struct must be a multiple of, in bytes.
MTL_API size_t
mtl_argument_encoder_alignment(const mtl_argument_encoder *encoder);

// Chooses where the next calls write.
//
//   buffer        not private; NULL for nowhere
//   offset_bytes  a multiple of the alignment; the struct fits behind it
//
// Ownership  Retains buffer until the next call or the encoder's end.
// Errors     MTL_INVALID_ARGUMENT
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_set_argument_buffer(
    mtl_argument_encoder *encoder, mtl_buffer *buffer, size_t offset_bytes);

// Write a member; NULL writes zeros. A managed buffer must then be told of the
// change, as of any other.
//
// Errors     MTL_NOT_FOUND         no member has that id
//            MTL_INVALID_ARGUMENT  it is of another kind
//            MTL_INVALID_STATE     no argument buffer is set
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_set_buffer(
    mtl_argument_encoder *encoder, mtl_buffer *buffer, size_t offset_bytes,
    uint32_t id);
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_set_texture(
    mtl_argument_encoder *encoder, mtl_texture *texture, uint32_t id);
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_set_sampler(
    mtl_argument_encoder *encoder, mtl_sampler *sampler, uint32_t id);
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_set_function_table(
    mtl_argument_encoder *encoder, mtl_function_table *table, uint32_t id);

// Returns where a constant member lies, to be written by the caller; NULL with
// an error as above.
//
// Source     Metal: constantDataAtIndex:
MTL_API void *mtl_argument_encoder_constant_data(mtl_argument_encoder *encoder,
                                                 uint32_t id);

#ifdef __cplusplus
}
#endif
#endif
