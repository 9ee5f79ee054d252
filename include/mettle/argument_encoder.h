// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_encoder.h: writes resources and constants into an argument buffer,
// a buffer that holds a struct with pointers, textures and samplers.
//
// The layout is that of the struct in C: a pointer is the 8-byte GPU address
// (mtl_buffer_gpu_address plus an offset), a texture its resource id, a sampler
// its word, a function table, a pipeline and an indirect command buffer their
// resource ids, constants lie as they are.
// Programs that know the struct may write it themselves. What an argument
// buffer leads to is not kept alive by it: say mtl_compute_encoder_use_buffer.
#ifndef METTLE_ARGUMENT_ENCODER_H
#define METTLE_ARGUMENT_ENCODER_H

#include "buffer.h"
#include "function_table.h"
#include "indirect_command_buffer.h"
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

typedef enum mtl_member_kind {
  MTL_MEMBER_CONSTANT = 0,  // a value that lies in the argument buffer
  MTL_MEMBER_BUFFER,
  MTL_MEMBER_TEXTURE,
  MTL_MEMBER_SAMPLER,
  MTL_MEMBER_FUNCTION_TABLE,
  MTL_MEMBER_PIPELINE,           // compute_pipeline_state
  MTL_MEMBER_INDIRECT_COMMANDS,  // command_buffer
} mtl_member_kind;

// One member to be, for who has no function.
//
// Source     Metal: MTLArgumentDescriptor
typedef struct mtl_argument_desc {
  uint32_t id;  // of its first element
  mtl_member_kind kind;
  uint32_t array_length;  // elements; 0 means 1
  // Of a constant:
  mtl_data_type type;        // none but MTL_TYPE_NONE
  uint32_t components;       // 1 to 4, of a matrix those of a column; 0 means 1
  uint32_t columns;          // 1 to 4; 0 means 1
  uint32_t alignment_bytes;  // a power of 2, if more than the type's own
} mtl_argument_desc;

// Makes an encoder for a struct whose members descs [count] are, in the order
// of their ids, each at the next offset that its alignment allows: what MSL does
// with a struct of such members in that order.
//
// Ownership  The encoder is yours; it retains device. Borrows descs.
// Errors     MTL_INVALID_ARGUMENT  no descriptors; two have one id; a type that
//                                  cannot be
// Source     Metal: -[MTLDevice newArgumentEncoderWithArguments:]
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_create_from_descs(
    mtl_device *device, const mtl_argument_desc *descs, size_t count,
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

// One member of the struct, or neighbours of one kind: an array.
typedef struct mtl_argument_member {
  const char *name;  // as a path: "weights", "layers[1].bias"; "" if it was made
                     // of a descriptor
  uint32_t id;       // of the first element; element n has id + n
  uint32_t count;    // elements
  mtl_member_kind kind;
  size_t offset_bytes;   // of the first element in the struct
  size_t element_bytes;  // from one element to the next; 8 if no constant
} mtl_argument_member;

// Returns the members by their offsets, for who writes argument buffers by hand.
// Those of structs inside are members too, bit-fields are none. Valid as long
// as the encoder.
MTL_API const mtl_argument_member *mtl_argument_encoder_members(
    const mtl_argument_encoder *encoder, size_t *out_count);
// Tells where in the struct the member or element with an id lies.
//
// Errors     MTL_NOT_FOUND  no member has that id
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_offset(
    const mtl_argument_encoder *encoder, uint32_t id, size_t *out_offset_bytes);
// Finds a member by its name.
//
// Ownership  *out_member is valid as long as the encoder.
// Errors     MTL_NOT_FOUND  no member has that name
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_find(
    const mtl_argument_encoder *encoder, const char *name,
    const mtl_argument_member **out_member);

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
// What kernels encode commands with; also MTL_UNSUPPORTED, as
// mtl_indirect_command_buffer_resource_id.
//
// Source     Metal: setComputePipelineState:atIndex:,
//            setIndirectCommandBuffer:atIndex:
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_set_pipeline(
    mtl_argument_encoder *encoder, mtl_pipeline *pipeline, uint32_t id);
MTL_API MTL_MUST_USE mtl_status mtl_argument_encoder_set_indirect_commands(
    mtl_argument_encoder *encoder, mtl_indirect_command_buffer *commands,
    uint32_t id);

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
