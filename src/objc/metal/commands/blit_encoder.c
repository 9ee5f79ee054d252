// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blit_encoder.c: MTLBlitCommandEncoder.
#include "objc/metal/commands/encoder_info.h"
#include "objc/metal/commands/indirect_commands.h"
#include "objc/metal/commands/passes.h"
#include "objc/metal/metal.h"

extern struct objc_class OBJC_CLASS_$_MettleBlitEncoder;
extern struct objc_class OBJC_CLASS_$_MettleTexture;

static mtl_blit_encoder *encoder_of(id self) {
  return ((metal_encoder *)self)->blit;
}

id blit_encoder_open(id self, const mtl_encoder_desc *desc) {
  mtl_blit_encoder *encoder;
  if (mtl_blit_encoder_create_with(((metal_command_buffer *)self)->commands,
                                   desc, &encoder) != MTL_OK) {
    metal_assert("blitCommandEncoder: %s", mtl_last_error());
  }
  metal_encoder *made = (metal_encoder *)CREATE(MettleBlitEncoder);
  made->commands = objc_retain(self);
  made->blit = encoder;
  return objc_autorelease(&made->object);
}

static id commands_encoder(id self, SEL _cmd) {
  (void)_cmd;
  return blit_encoder_open(self, NULL);
}

static id commands_encoder_by(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const mtl_encoder_desc desc = encoder_desc_of(descriptor);
  return blit_encoder_open(self, &desc);
}

METHODS(commands_methods,
        METHOD("blitCommandEncoder", "@16@0:8", commands_encoder),
        METHOD("blitCommandEncoderWithDescriptor:", "@24@0:8@16",
               commands_encoder_by));
extern struct objc_class OBJC_CLASS_$_MettleCommandBuffer;
DEFINE_CATEGORY(MettleCommandBuffer, blit, commands_methods);

static void encoder_end(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_blit_encoder_end(encoder_of(self)) == MTL_INVALID_STATE) {
    metal_assert("endEncoding: %s", mtl_last_error());
  }
  encoder_infos_note(((metal_encoder *)self)->commands, self);
}

static void copy_buffer(id self, SEL _cmd, id from, NSUInteger from_offset,
                        id to, NSUInteger to_offset, NSUInteger length) {
  (void)_cmd;
  mtl_blit_encoder_copy(encoder_of(self), buffer_of(from),
                        buffer_offset_of(from) + from_offset, buffer_of(to),
                        buffer_offset_of(to) + to_offset, length);
}

static void fill_buffer(id self, SEL _cmd, id buffer, NSRange range,
                        unsigned value) {
  (void)_cmd;
  mtl_blit_encoder_fill(encoder_of(self), buffer_of(buffer),
                        buffer_offset_of(buffer) + range.location,
                        range.length, (uint8_t)value);
}

static void synchronize(id self, SEL _cmd, id resource) {
  (void)_cmd;
  if (resource && resource->isa == &OBJC_CLASS_$_MettleTexture) {
    mtl_blit_encoder_synchronize_texture(encoder_of(self),
                                         texture_of(resource));
  } else if (resource) {
    mtl_blit_encoder_synchronize(encoder_of(self), buffer_of(resource));
  }
}

static void synchronize_texture(id self, SEL _cmd, id texture,
                                NSUInteger slice, NSUInteger level) {
  (void)slice;
  (void)level;
  synchronize(self, _cmd, texture);
}

static void buffer_to_texture(id self, SEL _cmd, id from, NSUInteger offset,
                              NSUInteger row, NSUInteger image, MTLSize size,
                              id to, NSUInteger slice, NSUInteger level,
                              MTLOrigin origin) {
  (void)_cmd;
  mtl_blit_encoder_copy_buffer_to_texture(
      encoder_of(self), buffer_of(from), buffer_offset_of(from) + offset, row,
      image, texture_of(to), region_of(origin, size), (uint32_t)level,
      (uint32_t)slice);
}

static void texture_to_buffer(id self, SEL _cmd, id from, NSUInteger slice,
                              NSUInteger level, MTLOrigin origin, MTLSize size,
                              id to, NSUInteger offset, NSUInteger row,
                              NSUInteger image) {
  (void)_cmd;
  mtl_blit_encoder_copy_texture_to_buffer(
      encoder_of(self), texture_of(from), region_of(origin, size),
      (uint32_t)level, (uint32_t)slice, buffer_of(to),
      buffer_offset_of(to) + offset, row, image);
}

static void texture_to_texture(id self, SEL _cmd, id from,
                               NSUInteger from_slice, NSUInteger from_level,
                               MTLOrigin origin, MTLSize size, id to,
                               NSUInteger to_slice, NSUInteger to_level,
                               MTLOrigin to_origin) {
  (void)_cmd;
  mtl_blit_encoder_copy_texture(
      encoder_of(self), texture_of(from), region_of(origin, size),
      (uint32_t)from_level, (uint32_t)from_slice, texture_of(to),
      region_of(to_origin, size), (uint32_t)to_level, (uint32_t)to_slice);
}

// Depth and stencil are never in one texture: options have no meaning.
static void buffer_to_texture_with(id self, SEL _cmd, id from,
                                   NSUInteger offset, NSUInteger row,
                                   NSUInteger image, MTLSize size, id to,
                                   NSUInteger slice, NSUInteger level,
                                   MTLOrigin origin, NSUInteger options) {
  (void)options;
  buffer_to_texture(self, _cmd, from, offset, row, image, size, to, slice,
                    level, origin);
}

static void texture_to_buffer_with(id self, SEL _cmd, id from,
                                   NSUInteger slice, NSUInteger level,
                                   MTLOrigin origin, MTLSize size, id to,
                                   NSUInteger offset, NSUInteger row,
                                   NSUInteger image, NSUInteger options) {
  (void)options;
  texture_to_buffer(self, _cmd, from, slice, level, origin, size, to, offset,
                    row, image);
}

static NSUInteger side_at(NSUInteger side, NSUInteger level) {
  return side >> level ? side >> level : 1;
}

// Slices: layers of an array, times six for cubes.
static NSUInteger slices_of(const mtl_texture_desc *info) {
  const bool is_cube = info->type == MTL_TEXTURE_CUBE ||
                       info->type == MTL_TEXTURE_CUBE_ARRAY;
  return (info->array_length ? info->array_length : 1) * (is_cube ? 6 : 1);
}

static void copy_slices(id self, SEL _cmd, id from, NSUInteger from_slice,
                        NSUInteger from_level, id to, NSUInteger to_slice,
                        NSUInteger to_level, NSUInteger slices,
                        NSUInteger levels) {
  const mtl_texture_desc *info = mtl_texture_info(texture_of(from));
  const MTLOrigin zero = {0, 0, 0};
  for (NSUInteger level = 0; level < levels; ++level) {
    const NSUInteger at = from_level + level;
    const MTLSize size = {side_at(info->width, at), side_at(info->height, at),
                          side_at(info->depth, at)};
    for (NSUInteger slice = 0; slice < slices; ++slice) {
      texture_to_texture(self, _cmd, from, from_slice + slice, at, zero, size,
                         to, to_slice + slice, to_level + level, zero);
    }
  }
}

// Copies all levels, from the size of the smaller texture on, as Metal does.
static void copy_whole(id self, SEL _cmd, id from, id to) {
  const mtl_texture_desc *one = mtl_texture_info(texture_of(from));
  const mtl_texture_desc *other = mtl_texture_info(texture_of(to));
  const NSUInteger ones = one->level_count ? one->level_count : 1;
  const NSUInteger others = other->level_count ? other->level_count : 1;
  NSUInteger from_level = 0, to_level = 0;
  while (from_level + 1 < ones && side_at(one->width, from_level) > other->width) {
    ++from_level;
  }
  while (to_level + 1 < others && side_at(other->width, to_level) > one->width) {
    ++to_level;
  }
  const NSUInteger left = ones - from_level, right = others - to_level;
  copy_slices(self, _cmd, from, 0, from_level, to, 0, to_level, slices_of(one),
              left < right ? left : right);
}

static void generate_mipmaps(id self, SEL _cmd, id texture) {
  (void)_cmd;
  mtl_blit_encoder_generate_mipmaps(encoder_of(self), texture_of(texture));
}

static void copy_commands(id self, SEL _cmd, id from, NSRange range, id to,
                          NSUInteger index) {
  (void)_cmd;
  indirect_commands_check(from, range);
  indirect_commands_check(to, (NSRange){index, range.length});
  mtl_blit_encoder_copy_commands(
      encoder_of(self), indirect_commands_of(from), (uint32_t)range.location,
      indirect_commands_of(to), (uint32_t)index, (uint32_t)range.length);
}

static void reset_commands(id self, SEL _cmd, id commands, NSRange range) {
  (void)_cmd;
  indirect_commands_check(commands, range);
  mtl_blit_encoder_reset_commands(
      encoder_of(self), indirect_commands_of(commands),
      (uint32_t)range.location, (uint32_t)range.length);
}

static void optimize_commands(id self, SEL _cmd, id commands, NSRange range) {
  (void)_cmd;
  indirect_commands_check(commands, range);
  mtl_blit_encoder_optimize_commands(
      encoder_of(self), indirect_commands_of(commands),
      (uint32_t)range.location, (uint32_t)range.length);
}

static void update_fence(id self, SEL _cmd, id fence) {
  (void)_cmd;
  mtl_blit_encoder_update_fence(encoder_of(self), fence_of(fence));
}

static void wait_fence(id self, SEL _cmd, id fence) {
  (void)_cmd;
  mtl_blit_encoder_wait_fence(encoder_of(self), fence_of(fence));
}

// Hints for caches that do not exist here.
static void optimize(id self, SEL _cmd, id resource) {
  (void)self;
  (void)_cmd;
  (void)resource;
}

static void optimize_slice(id self, SEL _cmd, id resource, NSUInteger slice,
                           NSUInteger level) {
  (void)slice;
  (void)level;
  optimize(self, _cmd, resource);
}

static void pop_group(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static void sample(id self, SEL _cmd, id samples, NSUInteger index,
                   int with_barrier) {
  (void)_cmd;
  mtl_blit_encoder_sample_counters(encoder_of(self), samples_of(samples),
                                   (uint32_t)index, with_barrier & 0xff);
}

static void resolve(id self, SEL _cmd, id samples, NSRange range, id buffer,
                    NSUInteger offset) {
  (void)_cmd;
  mtl_blit_encoder_resolve_counters(
      encoder_of(self), samples_of(samples), (uint32_t)range.location,
      (uint32_t)range.length, buffer_of(buffer),
      buffer_offset_of(buffer) + offset);
}

METHODS(
    encoder_methods, METHOD("sampleCountersInBuffer:atSampleIndex:withBarrier:",
           "v36@0:8@16Q24B32", sample),
    METHOD("resolveCounters:inRange:destinationBuffer:destinationOffset:",
           "v56@0:8@16{_NSRange=QQ}24@40Q48", resolve),
    METHOD("endEncoding", "v16@0:8", encoder_end),
    METHOD("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:",
           "v56@0:8@16Q24@32Q40Q48", copy_buffer),
    METHOD("fillBuffer:range:value:", "v44@0:8@16{_NSRange=QQ}24C40",
           fill_buffer),
    METHOD("synchronizeResource:", "v24@0:8@16", synchronize),
    METHOD("synchronizeTexture:slice:level:", "v40@0:8@16Q24Q32",
           synchronize_texture),
    METHOD("copyFromBuffer:sourceOffset:sourceBytesPerRow:"
           "sourceBytesPerImage:sourceSize:toTexture:destinationSlice:"
           "destinationLevel:destinationOrigin:",
           "v120@0:8@16Q24Q32Q40{?=QQQ}48@72Q80Q88{?=QQQ}96",
           buffer_to_texture),
    METHOD("copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:"
           "toBuffer:destinationOffset:destinationBytesPerRow:"
           "destinationBytesPerImage:",
           "v120@0:8@16Q24Q32{?=QQQ}40{?=QQQ}64@88Q96Q104Q112",
           texture_to_buffer),
    METHOD("copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:"
           "toTexture:destinationSlice:destinationLevel:destinationOrigin:",
           "v136@0:8@16Q24Q32{?=QQQ}40{?=QQQ}64@88Q96Q104{?=QQQ}112",
           texture_to_texture),
    METHOD("copyFromBuffer:sourceOffset:sourceBytesPerRow:"
           "sourceBytesPerImage:sourceSize:toTexture:destinationSlice:"
           "destinationLevel:destinationOrigin:options:",
           "v128@0:8@16Q24Q32Q40{?=QQQ}48@72Q80Q88{?=QQQ}96Q120",
           buffer_to_texture_with),
    METHOD("copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:"
           "toBuffer:destinationOffset:destinationBytesPerRow:"
           "destinationBytesPerImage:options:",
           "v128@0:8@16Q24Q32{?=QQQ}40{?=QQQ}64@88Q96Q104Q112Q120",
           texture_to_buffer_with),
    METHOD("copyFromTexture:sourceSlice:sourceLevel:toTexture:"
           "destinationSlice:destinationLevel:sliceCount:levelCount:",
           "v80@0:8@16Q24Q32@40Q48Q56Q64Q72", copy_slices),
    METHOD("copyFromTexture:toTexture:", "v32@0:8@16@24", copy_whole),
    METHOD("generateMipmapsForTexture:", "v24@0:8@16", generate_mipmaps),
    METHOD("copyIndirectCommandBuffer:sourceRange:destination:"
           "destinationIndex:",
           "v56@0:8@16{_NSRange=QQ}24@40Q48", copy_commands),
    METHOD("resetCommandsInBuffer:withRange:", "v40@0:8@16{_NSRange=QQ}24",
           reset_commands),
    METHOD("optimizeIndirectCommandBuffer:withRange:",
           "v40@0:8@16{_NSRange=QQ}24", optimize_commands),
    METHOD("updateFence:", "v24@0:8@16", update_fence),
    METHOD("waitForFence:", "v24@0:8@16", wait_fence),
    METHOD("optimizeContentsForGPUAccess:", "v24@0:8@16", optimize),
    METHOD("optimizeContentsForCPUAccess:", "v24@0:8@16", optimize),
    METHOD("optimizeContentsForGPUAccess:slice:level:", "v40@0:8@16Q24Q32",
           optimize_slice),
    METHOD("optimizeContentsForCPUAccess:slice:level:", "v40@0:8@16Q24Q32",
           optimize_slice),
    METHOD("pushDebugGroup:", "v24@0:8@16", optimize),
    METHOD("popDebugGroup", "v16@0:8", pop_group));
DEFINE_CLASS(MettleBlitEncoder, MettleEncoder, sizeof(metal_encoder),
             encoder_methods, NO_METHODS);
