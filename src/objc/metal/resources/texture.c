// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture.c: MTLTexture.
#include <string.h>

#include "objc/metal/metal.h"
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"
#include "objc/metal/resources/texture_descriptor.h"

extern struct objc_class OBJC_CLASS_$_MettleTexture;

mtl_texture *texture_of(id texture) {
  return texture ? ((metal_texture *)texture)->texture : NULL;
}

// --- MTLTexture --------------------------------------------------------------

static id create(id device, mtl_texture *texture, NSUInteger options) {
  metal_texture *made = (metal_texture *)CREATE(MettleTexture);
  made->device = objc_retain(device);
  made->texture = texture;
  made->options = options;
  memcpy(made->swizzle, &NO_SWIZZLE, sizeof made->swizzle);
  resource_add(mtl_texture_resource_id(texture), &made->object);
  return &made->object;
}

// Makes a view with a descriptor's swizzle of the whole texture, which itself
// has none.
static id swizzled(id texture, swizzles wanted) {
  if (!memcmp(&wanted, &NO_SWIZZLE, sizeof wanted) || !texture) {
    return texture;
  }
  metal_texture *shown = (metal_texture *)texture;
  const mtl_texture_desc *info = mtl_texture_info(shown->texture);
  const mtl_texture_view_desc desc = {
      .type = info->type,
      .pixel_format = info->pixel_format,
      .swizzle = {
          (mtl_swizzle)(wanted.red + 1), (mtl_swizzle)(wanted.green + 1),
          (mtl_swizzle)(wanted.blue + 1), (mtl_swizzle)(wanted.alpha + 1)}};
  mtl_texture *view;
  if (mtl_texture_create_view(shown->texture, &desc, &view) != MTL_OK) {
    metal_assert("swizzle: %s", mtl_last_error());
  }
  mtl_texture_release(shown->texture);  // the view has it
  shown->texture = view;
  memcpy(shown->swizzle, &wanted, sizeof wanted);
  resource_add(mtl_texture_resource_id(view), texture);
  return texture;
}

static id new_texture(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const texture_descriptor *from = (texture_descriptor *)descriptor;
  const mtl_texture_desc desc = texture_desc_of(from);
  mtl_texture *texture;
  if (mtl_texture_create(device_of(self), &desc, &texture) != MTL_OK) {
    metal_assert("newTextureWithDescriptor: %s", mtl_last_error());
  }
  return swizzled(create(self, texture, from->resourceOptions), from->swizzle);
}

static id heap_texture_at(id self, SEL _cmd, id descriptor, NSUInteger offset) {
  (void)_cmd;
  const mtl_texture_desc desc =
      texture_desc_of((texture_descriptor *)descriptor);
  mtl_texture *texture;
  if (mtl_heap_create_texture(heap_of(self), &desc, offset, &texture) !=
      MTL_OK) {
    return NULL;
  }
  const id made = create(heap_device(self), texture, heap_options(self));
  ((metal_texture *)made)->heap = objc_retain(self);
  return swizzled(made, ((texture_descriptor *)descriptor)->swizzle);
}

static id heap_texture(id self, SEL _cmd, id descriptor) {
  return heap_texture_at(self, _cmd, descriptor, 0);
}

static MTLSizeAndAlign texture_size_and_align(id self, SEL _cmd,
                                              id descriptor) {
  (void)_cmd;
  const mtl_texture_desc desc =
      texture_desc_of((texture_descriptor *)descriptor);
  mtl_size_and_align size;
  if (mtl_device_heap_texture_size_and_align(device_of(self), &desc, &size) !=
      MTL_OK) {
    metal_assert("heapTextureSizeAndAlignWithDescriptor: %s", mtl_last_error());
  }
  return (MTLSizeAndAlign){size.size_bytes, size.align_bytes};
}

static id buffer_texture(id self, SEL _cmd, id descriptor, NSUInteger offset,
                         NSUInteger row) {
  (void)_cmd;
  const metal_buffer *buffer = (metal_buffer *)self;
  const mtl_texture_desc desc =
      texture_desc_of((texture_descriptor *)descriptor);
  mtl_texture *texture;
  if (mtl_texture_create_from_buffer(buffer->buffer, &desc,
                                     buffer->offset + offset, row,
                                     &texture) != MTL_OK) {
    metal_assert("newTextureWithDescriptor:offset:bytesPerRow: %s",
                 mtl_last_error());
  }
  const id made = create(buffer->device, texture, buffer->options);
  ((metal_texture *)made)->buffer = objc_retain(self);
  ((metal_texture *)made)->buffer_offset = offset;
  ((metal_texture *)made)->buffer_row = row;
  return swizzled(made, ((texture_descriptor *)descriptor)->swizzle);
}

METHODS(device_methods,
        METHOD("newTextureWithDescriptor:", "@24@0:8@16", new_texture),
        METHOD("heapTextureSizeAndAlignWithDescriptor:", "{?=QQ}24@0:8@16",
               texture_size_and_align));
DEFINE_CATEGORY(MettleDevice, textures, device_methods);
extern struct objc_class OBJC_CLASS_$_MettleHeap;
METHODS(heap_methods,
        METHOD("newTextureWithDescriptor:", "@24@0:8@16", heap_texture),
        METHOD("newTextureWithDescriptor:offset:", "@32@0:8@16Q24",
               heap_texture_at));
DEFINE_CATEGORY(MettleHeap, textures, heap_methods);
METHODS(buffer_methods, METHOD("newTextureWithDescriptor:offset:bytesPerRow:",
                               "@40@0:8@16Q24Q32", buffer_texture));
DEFINE_CATEGORY(MettleBuffer, textures, buffer_methods);

static void texture_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_texture *texture = (metal_texture *)self;
  mtl_texture_release(texture->texture);
  objc_release(texture->parent);
  objc_release(texture->buffer);
  objc_release(texture->heap);
  objc_release(texture->device);
  instance_dispose(self);
}

#define INFO(self) mtl_texture_info(texture_of(self))
#define TEXTURE_VALUE(name, expression)                 \
  static NSUInteger texture_##name(id self, SEL _cmd) { \
    (void)_cmd;                                         \
    const mtl_texture_desc *info = INFO(self);          \
    return (NSUInteger)(expression);                    \
  }
TEXTURE_VALUE(type, texture_type_number(info->type))
TEXTURE_VALUE(format, info->pixel_format)
TEXTURE_VALUE(width, info->width)
TEXTURE_VALUE(height, info->height ? info->height : 1)
TEXTURE_VALUE(depth, info->depth ? info->depth : 1)
TEXTURE_VALUE(levels, info->level_count ? info->level_count : 1)
TEXTURE_VALUE(samples, info->sample_count ? info->sample_count : 1)
TEXTURE_VALUE(layers, info->array_length ? info->array_length : 1)
TEXTURE_VALUE(usage, info->usage)

static uint64_t texture_resource(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_texture_resource_id(texture_of(self));
}

static NSUInteger texture_options(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_texture *)self)->options;
}

static NSUInteger texture_storage(id self, SEL _cmd) {
  return texture_options(self, _cmd) >> 4 & 15;
}

static id texture_heap(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_texture *)self)->heap;
}

static NSUInteger texture_heap_offset(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_texture_heap_offset(texture_of(self));
}

static NSUInteger texture_set_purgeable(id self, SEL _cmd, NSUInteger state) {
  (void)_cmd;
  mtl_purgeable_state before;
  if (mtl_texture_set_purgeable_state(
          texture_of(self), (mtl_purgeable_state)state, &before) != MTL_OK) {
    metal_assert("setPurgeableState: %s", mtl_last_error());
  }
  return before;
}

static int texture_is_aliasable(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_texture_is_aliasable(texture_of(self));
}

static void texture_make_aliasable(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_texture_make_aliasable(texture_of(self)) != MTL_OK) {
    metal_assert("makeAliasable: %s", mtl_last_error());
  }
}

static NSUInteger texture_allocated(id self, SEL _cmd) {
  (void)_cmd;
  const mtl_texture_desc *info = INFO(self);
  return (NSUInteger)mtl_pixel_format_bytes(info->pixel_format) * info->width *
         (info->height ? info->height : 1) * (info->depth ? info->depth : 1) *
         (info->array_length ? info->array_length : 1);
}

static id texture_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_texture *)self)->device;
}

static id texture_parent(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_texture *)self)->parent;
}

static id texture_buffer(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_texture *)self)->buffer;
}

#define TEXTURE_FIELD(type, field, name)          \
  static type texture_##name(id self, SEL _cmd) { \
    (void)_cmd;                                   \
    return ((metal_texture *)self)->field;        \
  }
TEXTURE_FIELD(NSUInteger, first_level, parent_level)
TEXTURE_FIELD(NSUInteger, first_slice, parent_slice)
TEXTURE_FIELD(NSUInteger, buffer_offset, buffer_offset)
TEXTURE_FIELD(NSUInteger, buffer_row, buffer_row)

static swizzles texture_swizzle(id self, SEL _cmd) {
  (void)_cmd;
  swizzles out;
  memcpy(&out, ((metal_texture *)self)->swizzle, sizeof out);
  return out;
}

static NSUInteger texture_cache_mode(id self, SEL _cmd) {
  return texture_options(self, _cmd) & 15;
}

static NSUInteger texture_hazards(id self, SEL _cmd) {
  return hazard_tracking_of(texture_options(self, _cmd)) == MTL_HAZARD_UNTRACKED
             ? HAZARD_UNTRACKED
             : HAZARD_TRACKED;
}

static int texture_no(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

static int texture_yes(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 1;
}

static NSInteger texture_lossless(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;  // MTLTextureCompressionTypeLossless
}

static id texture_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_texture_label(texture_of(self)));
}

static void texture_set_label(id self, SEL _cmd, id label) {
  (void)_cmd;
  mtl_texture_set_label(texture_of(self), string_utf8(label));
}

static void texture_replace_slice(id self, SEL _cmd, MTLRegion region,
                                  NSUInteger level, NSUInteger slice,
                                  const void *bytes, NSUInteger row,
                                  NSUInteger image) {
  (void)_cmd;
  if (mtl_texture_replace_region(
          texture_of(self), region_of(region.origin, region.size),
          (uint32_t)level, (uint32_t)slice, bytes, row, image) != MTL_OK) {
    metal_assert("replaceRegion: %s", mtl_last_error());
  }
}

static void texture_replace(id self, SEL _cmd, MTLRegion region,
                            NSUInteger level, const void *bytes,
                            NSUInteger row) {
  texture_replace_slice(self, _cmd, region, level, 0, bytes, row, 0);
}

static void texture_get_slice(id self, SEL _cmd, void *bytes, NSUInteger row,
                              NSUInteger image, MTLRegion region,
                              NSUInteger level, NSUInteger slice) {
  (void)_cmd;
  if (mtl_texture_get_bytes(
          texture_of(self), region_of(region.origin, region.size),
          (uint32_t)level, (uint32_t)slice, bytes, row, image) != MTL_OK) {
    metal_assert("getBytes: %s", mtl_last_error());
  }
}

static void texture_get(id self, SEL _cmd, void *bytes, NSUInteger row,
                        MTLRegion region, NSUInteger level) {
  texture_get_slice(self, _cmd, bytes, row, 0, region, level, 0);
}

// --- Views -------------------------------------------------------------------

static id view(id self, const mtl_texture_view_desc *desc) {
  const metal_texture *texture = (metal_texture *)self;
  mtl_texture *made;
  if (mtl_texture_create_view(texture->texture, desc, &made) != MTL_OK) {
    metal_assert("newTextureViewWithPixelFormat: %s", mtl_last_error());
  }
  const id shown = create(texture->device, made, texture->options);
  ((metal_texture *)shown)->parent = objc_retain(self);
  ((metal_texture *)shown)->first_level = desc->first_level;
  ((metal_texture *)shown)->first_slice = desc->first_slice;
  return shown;
}

static id texture_view(id self, SEL _cmd, NSUInteger format) {
  (void)_cmd;
  return view(
      self, &(mtl_texture_view_desc){.pixel_format = (mtl_pixel_format)format});
}

static mtl_texture_view_desc view_desc(NSUInteger format, NSUInteger type,
                                       NSRange levels, NSRange slices) {
  return (mtl_texture_view_desc){.type = texture_type_of(type),
                                 .pixel_format = (mtl_pixel_format)format,
                                 .first_level = (uint32_t)levels.location,
                                 .level_count = (uint32_t)levels.length,
                                 .first_slice = (uint32_t)slices.location,
                                 .slice_count = (uint32_t)slices.length};
}

static id texture_view_of(id self, SEL _cmd, NSUInteger format, NSUInteger type,
                          NSRange levels, NSRange slices) {
  (void)_cmd;
  const mtl_texture_view_desc desc = view_desc(format, type, levels, slices);
  return view(self, &desc);
}

static id texture_view_swizzled(id self, SEL _cmd, NSUInteger format,
                                NSUInteger type, NSRange levels, NSRange slices,
                                swizzles from) {
  (void)_cmd;
  mtl_texture_view_desc desc = view_desc(format, type, levels, slices);
  desc.swizzle[0] = (mtl_swizzle)(from.red + 1);
  desc.swizzle[1] = (mtl_swizzle)(from.green + 1);
  desc.swizzle[2] = (mtl_swizzle)(from.blue + 1);
  desc.swizzle[3] = (mtl_swizzle)(from.alpha + 1);
  const id shown = view(self, &desc);
  memcpy(((metal_texture *)shown)->swizzle, &from, sizeof from);
  return shown;
}

METHODS(
    texture_methods, METHOD("dealloc", "v16@0:8", texture_dealloc),
    METHOD("newTextureViewWithPixelFormat:", "@24@0:8Q16", texture_view),
    METHOD("newTextureViewWithPixelFormat:textureType:levels:slices:",
           "@64@0:8Q16Q24{_NSRange=QQ}32{_NSRange=QQ}48", texture_view_of),
    METHOD("newTextureViewWithPixelFormat:textureType:levels:slices:swizzle:",
           "@68@0:8Q16Q24{_NSRange=QQ}32{_NSRange=QQ}48{?=CCCC}64",
           texture_view_swizzled),
    METHOD("textureType", "Q16@0:8", texture_type),
    METHOD("pixelFormat", "Q16@0:8", texture_format),
    METHOD("width", "Q16@0:8", texture_width),
    METHOD("height", "Q16@0:8", texture_height),
    METHOD("depth", "Q16@0:8", texture_depth),
    METHOD("mipmapLevelCount", "Q16@0:8", texture_levels),
    METHOD("sampleCount", "Q16@0:8", texture_samples),
    METHOD("arrayLength", "Q16@0:8", texture_layers),
    METHOD("usage", "Q16@0:8", texture_usage),
    METHOD("gpuResourceID", "{MTLResourceID=Q}16@0:8", texture_resource),
    METHOD("resourceOptions", "Q16@0:8", texture_options),
    METHOD("storageMode", "Q16@0:8", texture_storage),
    METHOD("allocatedSize", "Q16@0:8", texture_allocated),
    METHOD("heap", "@16@0:8", texture_heap),
    METHOD("heapOffset", "Q16@0:8", texture_heap_offset),
    METHOD("setPurgeableState:", "Q24@0:8Q16", texture_set_purgeable),
    METHOD("isAliasable", "B16@0:8", texture_is_aliasable),
    METHOD("makeAliasable", "v16@0:8", texture_make_aliasable),
    METHOD("device", "@16@0:8", texture_device),
    METHOD("parentTexture", "@16@0:8", texture_parent),
    METHOD("buffer", "@16@0:8", texture_buffer),
    METHOD("bufferOffset", "Q16@0:8", texture_buffer_offset),
    METHOD("bufferBytesPerRow", "Q16@0:8", texture_buffer_row),
    METHOD("parentRelativeLevel", "Q16@0:8", texture_parent_level),
    METHOD("parentRelativeSlice", "Q16@0:8", texture_parent_slice),
    METHOD("swizzle", "{?=CCCC}16@0:8", texture_swizzle),
    METHOD("cpuCacheMode", "Q16@0:8", texture_cache_mode),
    METHOD("hazardTrackingMode", "Q16@0:8", texture_hazards),
    METHOD("allowGPUOptimizedContents", "B16@0:8", texture_yes),
    METHOD("compressionType", "q16@0:8", texture_lossless),
    METHOD("isFramebufferOnly", "B16@0:8", texture_no),
    METHOD("isShareable", "B16@0:8", texture_no),
    METHOD("label", "@16@0:8", texture_label),
    METHOD("setLabel:", "v24@0:8@16", texture_set_label),
    METHOD("replaceRegion:mipmapLevel:withBytes:bytesPerRow:",
           "v88@0:8{?={?=QQQ}{?=QQQ}}16Q64^v72Q80", texture_replace),
    METHOD("replaceRegion:mipmapLevel:slice:withBytes:bytesPerRow:"
           "bytesPerImage:",
           "v104@0:8{?={?=QQQ}{?=QQQ}}16Q64Q72^v80Q88Q96",
           texture_replace_slice),
    METHOD("getBytes:bytesPerRow:fromRegion:mipmapLevel:",
           "v88@0:8^v16Q24{?={?=QQQ}{?=QQQ}}32Q80", texture_get),
    METHOD("getBytes:bytesPerRow:bytesPerImage:fromRegion:mipmapLevel:slice:",
           "v104@0:8^v16Q24Q32{?={?=QQQ}{?=QQQ}}40Q88Q96", texture_get_slice));
DEFINE_CLASS(MettleTexture, NSObject, sizeof(metal_texture), texture_methods,
             NO_METHODS);
