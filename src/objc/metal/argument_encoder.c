// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_encoder.c: MTLArgumentEncoder.
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

static void set_textures(id self, SEL _cmd, const id *textures,
                         NSRange range) {
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

static void set_samplers(id self, SEL _cmd, const id *samplers,
                         NSRange range) {
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
        METHOD("setVisibleFunctionTable:atIndex:", "v32@0:8@16Q24",
               set_table),
        METHOD("constantDataAtIndex:", "^v24@0:8Q16", constant_data),
        METHOD("newArgumentEncoderForBufferAtIndex:", "@24@0:8Q16",
               nested_encoder));
DEFINE_CLASS(MettleArgumentEncoder, NSObject, sizeof(argument_encoder),
             encoder_methods, NO_METHODS);
