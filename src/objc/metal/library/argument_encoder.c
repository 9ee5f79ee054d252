// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_encoder.c: MTLArgumentEncoder.
#include <stdlib.h>

#include "objc/metal/commands/indirect_commands.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

typedef struct argument_encoder {
  struct objc_object object;
  id device;  // +1
  mtl_argument_encoder *encoder;
  id label;
} argument_encoder;

extern struct objc_class OBJC_CLASS_$_MettleArgumentEncoder;
extern struct objc_class OBJC_CLASS_$_MettleFunction;
extern mtl_function_table *function_table_of(id table);

static mtl_argument_encoder *encoder_of(id self) {
  return ((argument_encoder *)self)->encoder;
}

static id create(id device, mtl_argument_encoder *encoder) {
  argument_encoder *made = (argument_encoder *)CREATE(MettleArgumentEncoder);
  made->device = objc_retain(device);
  made->encoder = encoder;
  return &made->object;
}

static id function_encoder(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  mtl_argument_encoder *encoder;
  if (mtl_argument_encoder_create(function_of(self), (uint32_t)index,
                                  &encoder) != MTL_OK) {
    metal_assert("newArgumentEncoderWithBufferIndex: %s", mtl_last_error());
  }
  return create(((metal_function *)self)->device, encoder);
}

METHODS(function_methods, METHOD("newArgumentEncoderWithBufferIndex:",
                                 "@24@0:8Q16", function_encoder));
DEFINE_CATEGORY(MettleFunction, argument_encoders, function_methods);

// --- MTLArgumentDescriptor ---------------------------------------------------

typedef struct argument_descriptor {
  struct objc_object object;
  NSUInteger dataType;  // MTLDataType
  NSUInteger index;
  NSUInteger arrayLength;
  NSUInteger access;
  NSUInteger textureType;
  NSUInteger constantBlockAlignment;
} argument_descriptor;

VALUE_PROPERTY(argument_descriptor, NSUInteger, dataType)
VALUE_PROPERTY(argument_descriptor, NSUInteger, index)
VALUE_PROPERTY(argument_descriptor, NSUInteger, arrayLength)
VALUE_PROPERTY(argument_descriptor, NSUInteger, access)
VALUE_PROPERTY(argument_descriptor, NSUInteger, textureType)
VALUE_PROPERTY(argument_descriptor, NSUInteger, constantBlockAlignment)

static id argument_make(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(instance_create(self, 0));
}

static id argument_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return fields_copy(self, sizeof(argument_descriptor), 0, 0);
}

METHODS(argument_methods, METHOD("copyWithZone:", "@24@0:8^v16", argument_copy),
        VALUE_METHODS(argument_descriptor, dataType, "setDataType:", "Q"),
        VALUE_METHODS(argument_descriptor, index, "setIndex:", "Q"),
        VALUE_METHODS(argument_descriptor, arrayLength, "setArrayLength:", "Q"),
        VALUE_METHODS(argument_descriptor, access, "setAccess:", "Q"),
        VALUE_METHODS(argument_descriptor, textureType, "setTextureType:", "Q"),
        VALUE_METHODS(argument_descriptor, constantBlockAlignment,
                      "setConstantBlockAlignment:", "Q"));
METHODS(argument_class_methods,
        METHOD("argumentDescriptor", "@16@0:8", argument_make));
DEFINE_CLASS(MTLArgumentDescriptor, NSObject, sizeof(argument_descriptor),
             argument_methods, &argument_class_methods);

// Describes an MTLDataType to the C API; false if it cannot be a member.
static bool desc_of(const argument_descriptor *from, mtl_argument_desc *out) {
  enum {
    TEXTURE = 58,
    SAMPLER = 59,
    POINTER = 60,
    PIPELINE = 79,
    COMMANDS = 80,
    TABLE = 115
  };
  enum { FIRST_MATRIX = 7, FIRST_HALF_MATRIX = 20, MATRICES = 9 };
  *out = (mtl_argument_desc){
      .id = (uint32_t)from->index,
      .array_length = (uint32_t)from->arrayLength,
      .alignment_bytes = (uint32_t)from->constantBlockAlignment};
  const NSUInteger type = from->dataType;
  switch (type) {
    case TEXTURE: out->kind = MTL_MEMBER_TEXTURE; return true;
    case SAMPLER: out->kind = MTL_MEMBER_SAMPLER; return true;
    case POINTER: out->kind = MTL_MEMBER_BUFFER; return true;
    case PIPELINE: out->kind = MTL_MEMBER_PIPELINE; return true;
    case COMMANDS: out->kind = MTL_MEMBER_INDIRECT_COMMANDS; return true;
    case TABLE: out->kind = MTL_MEMBER_FUNCTION_TABLE; return true;
  }
  for (int half = 0; half < 2; ++half) {
    const NSUInteger first = half ? FIRST_HALF_MATRIX : FIRST_MATRIX;
    if (type >= first && type < first + MATRICES) {  // 2x2, 2x3, 2x4, 3x2, ...
      out->type = half ? MTL_TYPE_HALF : MTL_TYPE_FLOAT;
      out->columns = (uint32_t)(type - first) / 3 + 2;
      out->components = (uint32_t)(type - first) % 3 + 2;
      return true;
    }
  }
  return element_type_of(type, &out->type, &out->components);
}

static id device_encoder(id self, SEL _cmd, id arguments) {
  (void)_cmd;
  const size_t count = array_count(arguments);
  mtl_argument_desc *descs = calloc(count + 1, sizeof *descs);
  bool good = descs && count;
  for (size_t i = 0; good && i < count; ++i) {
    const argument_descriptor *from =
        (argument_descriptor *)array_at(arguments, i);
    good = desc_of(from, &descs[i]);
    if (!good) {
      metal_assert(
          "newArgumentEncoderWithArguments: %lu is no MTLDataType of a "
          "member",
          from->dataType);
    }
  }
  mtl_argument_encoder *encoder = NULL;
  if (good && mtl_argument_encoder_create_from_descs(
                  device_of(self), descs, count, &encoder) != MTL_OK) {
    metal_assert("newArgumentEncoderWithArguments: %s", mtl_last_error());
  }
  free(descs);
  return encoder ? create(self, encoder) : NULL;
}

METHODS(device_methods, METHOD("newArgumentEncoderWithArguments:", "@24@0:8@16",
                               device_encoder));
DEFINE_CATEGORY(MettleDevice, argument_encoders, device_methods);

// --- MTLArgumentEncoder ------------------------------------------------------

static void encoder_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_argument_encoder_release(encoder_of(self));
  objc_release(((argument_encoder *)self)->label);
  objc_release(((argument_encoder *)self)->device);
  instance_dispose(self);
}

static void check(mtl_status status, const char *call) {
  if (status != MTL_OK) {
    metal_assert("%s %s", call, mtl_last_error());
  }
}

static NSUInteger encoder_length(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_argument_encoder_encoded_length(encoder_of(self));
}

static NSUInteger encoder_alignment(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_argument_encoder_alignment(encoder_of(self));
}

static void set_target(id self, SEL _cmd, id buffer, NSUInteger offset) {
  (void)_cmd;
  check(mtl_argument_encoder_set_argument_buffer(
            encoder_of(self), buffer_of(buffer),
            buffer_offset_of(buffer) + offset),
        "setArgumentBuffer:");
}

static void set_target_element(id self, SEL _cmd, id buffer, NSUInteger offset,
                               NSUInteger element) {
  set_target(self, _cmd, buffer, offset + element * encoder_length(self, _cmd));
}

static void set_buffer(id self, SEL _cmd, id buffer, NSUInteger offset,
                       NSUInteger index) {
  (void)_cmd;
  check(mtl_argument_encoder_set_buffer(encoder_of(self), buffer_of(buffer),
                                        buffer_offset_of(buffer) + offset,
                                        (uint32_t)index),
        "setBuffer:");
}

static void set_buffers(id self, SEL _cmd, const id *buffers,
                        const NSUInteger *offsets, NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_buffer(self, _cmd, buffers[i], offsets[i], range.location + i);
  }
}

static void set_texture(id self, SEL _cmd, id texture, NSUInteger index) {
  (void)_cmd;
  check(mtl_argument_encoder_set_texture(encoder_of(self), texture_of(texture),
                                         (uint32_t)index),
        "setTexture:");
}

static void set_textures(id self, SEL _cmd, const id *textures, NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_texture(self, _cmd, textures[i], range.location + i);
  }
}

static void set_sampler(id self, SEL _cmd, id sampler, NSUInteger index) {
  (void)_cmd;
  check(mtl_argument_encoder_set_sampler(encoder_of(self), sampler_of(sampler),
                                         (uint32_t)index),
        "setSamplerState:");
}

static void set_samplers(id self, SEL _cmd, const id *samplers, NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_sampler(self, _cmd, samplers[i], range.location + i);
  }
}

static void set_table(id self, SEL _cmd, id table, NSUInteger index) {
  (void)_cmd;
  check(mtl_argument_encoder_set_function_table(
            encoder_of(self), function_table_of(table), (uint32_t)index),
        "setVisibleFunctionTable:");
}

static void set_pipeline(id self, SEL _cmd, id pipeline, NSUInteger index) {
  (void)_cmd;
  check(mtl_argument_encoder_set_pipeline(
            encoder_of(self), pipeline_of(pipeline), (uint32_t)index),
        "setComputePipelineState:");
}

static void set_pipelines(id self, SEL _cmd, const id *pipelines,
                          NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_pipeline(self, _cmd, pipelines[i], range.location + i);
  }
}

static void set_commands(id self, SEL _cmd, id commands, NSUInteger index) {
  (void)_cmd;
  check(mtl_argument_encoder_set_indirect_commands(
            encoder_of(self), indirect_commands_of(commands), (uint32_t)index),
        "setIndirectCommandBuffer:");
}

static void set_commands_range(id self, SEL _cmd, const id *commands,
                               NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_commands(self, _cmd, commands[i], range.location + i);
  }
}

static void *constant_data(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  void *place =
      mtl_argument_encoder_constant_data(encoder_of(self), (uint32_t)index);
  check(place ? MTL_OK : MTL_NOT_FOUND, "constantDataAtIndex:");
  return place;
}

static id nested_encoder(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  mtl_argument_encoder *encoder;
  check(mtl_argument_encoder_create_nested(encoder_of(self), (uint32_t)index,
                                           &encoder),
        "newArgumentEncoderForBufferAtIndex:");
  return create(((argument_encoder *)self)->device, encoder);
}

static id encoder_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((argument_encoder *)self)->device;
}

COPY_PROPERTY(argument_encoder, label)

METHODS(encoder_methods, METHOD("dealloc", "v16@0:8", encoder_dealloc),
        METHOD("device", "@16@0:8", encoder_device),
        OBJECT_METHODS(argument_encoder, label, "setLabel:"),
        METHOD("encodedLength", "Q16@0:8", encoder_length),
        METHOD("alignment", "Q16@0:8", encoder_alignment),
        METHOD("setArgumentBuffer:offset:", "v32@0:8@16Q24", set_target),
        METHOD("setArgumentBuffer:startOffset:arrayElement:",
               "v40@0:8@16Q24Q32", set_target_element),
        METHOD("setBuffer:offset:atIndex:", "v40@0:8@16Q24Q32", set_buffer),
        METHOD("setBuffers:offsets:withRange:",
               "v48@0:8^@16^Q24{_NSRange=QQ}32", set_buffers),
        METHOD("setTexture:atIndex:", "v32@0:8@16Q24", set_texture),
        METHOD("setTextures:withRange:", "v40@0:8^@16{_NSRange=QQ}24",
               set_textures),
        METHOD("setSamplerState:atIndex:", "v32@0:8@16Q24", set_sampler),
        METHOD("setSamplerStates:withRange:", "v40@0:8^@16{_NSRange=QQ}24",
               set_samplers),
        METHOD("setVisibleFunctionTable:atIndex:", "v32@0:8@16Q24", set_table),
        METHOD("setComputePipelineState:atIndex:", "v32@0:8@16Q24",
               set_pipeline),
        METHOD("setComputePipelineStates:withRange:",
               "v40@0:8^@16{_NSRange=QQ}24", set_pipelines),
        METHOD("setIndirectCommandBuffer:atIndex:", "v32@0:8@16Q24",
               set_commands),
        METHOD("setIndirectCommandBuffers:withRange:",
               "v40@0:8^@16{_NSRange=QQ}24", set_commands_range),
        METHOD("constantDataAtIndex:", "^v24@0:8Q16", constant_data),
        METHOD("newArgumentEncoderForBufferAtIndex:", "@24@0:8Q16",
               nested_encoder));
DEFINE_CLASS(MettleArgumentEncoder, NSObject, sizeof(argument_encoder),
             encoder_methods, NO_METHODS);
