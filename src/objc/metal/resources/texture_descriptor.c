// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_descriptor.c: MTLTextureDescriptor.
#include "objc/metal/resources/texture_descriptor.h"

#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MTLTextureDescriptor;

// MTLTextureType
enum { TYPE_2D = 2, TYPE_CUBE = 5, TYPE_BUFFER = 9 };

VALUE_PROPERTY(texture_descriptor, NSUInteger, textureType)
VALUE_PROPERTY(texture_descriptor, NSUInteger, pixelFormat)
VALUE_PROPERTY(texture_descriptor, NSUInteger, width)
VALUE_PROPERTY(texture_descriptor, NSUInteger, height)
VALUE_PROPERTY(texture_descriptor, NSUInteger, depth)
VALUE_PROPERTY(texture_descriptor, NSUInteger, mipmapLevelCount)
VALUE_PROPERTY(texture_descriptor, NSUInteger, sampleCount)
VALUE_PROPERTY(texture_descriptor, NSUInteger, arrayLength)
VALUE_PROPERTY(texture_descriptor, NSUInteger, resourceOptions)
VALUE_PROPERTY(texture_descriptor, NSUInteger, usage)
FLAG_PROPERTY(texture_descriptor, allowGPUOptimizedContents)
VALUE_PROPERTY(texture_descriptor, swizzles, swizzle)
VALUE_PROPERTY(texture_descriptor, NSInteger, compressionType)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  texture_descriptor *made = (texture_descriptor *)self;
  made->textureType = TYPE_2D;
  made->pixelFormat = MTL_FORMAT_RGBA8_UNORM;
  made->width = made->height = made->depth = 1;
  made->mipmapLevelCount = made->sampleCount = made->arrayLength = 1;
  made->usage = MTL_TEXTURE_USAGE_SHADER_READ;
  made->allowGPUOptimizedContents = true;
  made->swizzle = NO_SWIZZLE;
  return self;
}

// Parts of resourceOptions as properties of their own.
static NSUInteger get_part(id self, int shift, NSUInteger mask) {
  return ((texture_descriptor *)self)->resourceOptions >> shift & mask;
}

static void set_part(id self, int shift, NSUInteger mask, NSUInteger value) {
  NSUInteger *options = &((texture_descriptor *)self)->resourceOptions;
  *options = (*options & ~(mask << shift)) | (value & mask) << shift;
}

static NSUInteger get_storage(id self, SEL _cmd) {
  (void)_cmd;
  return get_part(self, 4, 15);
}

static void set_storage(id self, SEL _cmd, NSUInteger value) {
  (void)_cmd;
  set_part(self, 4, 15, value);
}

static NSUInteger get_cache(id self, SEL _cmd) {
  (void)_cmd;
  return get_part(self, 0, 15);
}

static void set_cache(id self, SEL _cmd, NSUInteger value) {
  (void)_cmd;
  set_part(self, 0, 15, value);
}

static NSUInteger get_hazards(id self, SEL _cmd) {
  (void)_cmd;
  return get_part(self, 8, 3);
}

static void set_hazards(id self, SEL _cmd, NSUInteger value) {
  (void)_cmd;
  set_part(self, 8, 3, value);
}

static NSUInteger levels_of(NSUInteger width, NSUInteger height) {
  NSUInteger levels = 1, side = width > height ? width : height;
  for (; side > 1; side /= 2) {
    ++levels;
  }
  return levels;
}

static id descriptor_2d(Class self, SEL _cmd, NSUInteger format,
                        NSUInteger width, NSUInteger height, int mipmapped) {
  texture_descriptor *made = (texture_descriptor *)instance_create(self, 0);
  descriptor_init(&made->object, _cmd);
  made->pixelFormat = format;
  made->width = width;
  made->height = height;
  made->mipmapLevelCount = mipmapped & 0xff ? levels_of(width, height) : 1;
  return objc_autorelease(&made->object);
}

static id descriptor_cube(Class self, SEL _cmd, NSUInteger format,
                          NSUInteger size, int mipmapped) {
  const id made = descriptor_2d(self, _cmd, format, size, size, mipmapped);
  ((texture_descriptor *)made)->textureType = TYPE_CUBE;
  return made;
}

static id descriptor_buffer(Class self, SEL _cmd, NSUInteger format,
                            NSUInteger width, NSUInteger options,
                            NSUInteger usage) {
  const id made = descriptor_2d(self, _cmd, format, width, 1, 0);
  ((texture_descriptor *)made)->textureType = TYPE_BUFFER;
  ((texture_descriptor *)made)->resourceOptions = options;
  ((texture_descriptor *)made)->usage = usage;
  return made;
}

static id descriptor_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return fields_copy(self, sizeof(texture_descriptor), 0, 0);
}

METHODS(descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
        METHOD("copyWithZone:", "@24@0:8^v16", descriptor_copy),
        VALUE_METHODS(texture_descriptor, textureType, "setTextureType:", "Q"),
        VALUE_METHODS(texture_descriptor, pixelFormat, "setPixelFormat:", "Q"),
        VALUE_METHODS(texture_descriptor, width, "setWidth:", "Q"),
        VALUE_METHODS(texture_descriptor, height, "setHeight:", "Q"),
        VALUE_METHODS(texture_descriptor, depth, "setDepth:", "Q"),
        VALUE_METHODS(texture_descriptor, mipmapLevelCount,
                      "setMipmapLevelCount:", "Q"),
        VALUE_METHODS(texture_descriptor, sampleCount, "setSampleCount:", "Q"),
        VALUE_METHODS(texture_descriptor, arrayLength, "setArrayLength:", "Q"),
        VALUE_METHODS(texture_descriptor, resourceOptions,
                      "setResourceOptions:", "Q"),
        VALUE_METHODS(texture_descriptor, usage, "setUsage:", "Q"),
        FLAG_METHODS(texture_descriptor, allowGPUOptimizedContents,
                     "setAllowGPUOptimizedContents:"),
        METHOD("swizzle", "{?=CCCC}16@0:8", texture_descriptor_get_swizzle),
        METHOD("setSwizzle:", "v20@0:8{?=CCCC}16",
               texture_descriptor_set_swizzle),
        VALUE_METHODS(texture_descriptor, compressionType,
                      "setCompressionType:", "q"),
        METHOD("storageMode", "Q16@0:8", get_storage),
        METHOD("setStorageMode:", "v24@0:8Q16", set_storage),
        METHOD("cpuCacheMode", "Q16@0:8", get_cache),
        METHOD("setCpuCacheMode:", "v24@0:8Q16", set_cache),
        METHOD("hazardTrackingMode", "Q16@0:8", get_hazards),
        METHOD("setHazardTrackingMode:", "v24@0:8Q16", set_hazards));
METHODS(descriptor_class_methods,
        METHOD("texture2DDescriptorWithPixelFormat:width:height:mipmapped:",
               "@44@0:8Q16Q24Q32B40", descriptor_2d),
        METHOD("textureCubeDescriptorWithPixelFormat:size:mipmapped:",
               "@36@0:8Q16Q24B32", descriptor_cube),
        METHOD("textureBufferDescriptorWithPixelFormat:width:resourceOptions:"
               "usage:",
               "@48@0:8Q16Q24Q32Q40", descriptor_buffer));
DEFINE_CLASS(MTLTextureDescriptor, NSObject, sizeof(texture_descriptor),
             descriptor_methods, &descriptor_class_methods);

mtl_texture_desc texture_desc_of(const texture_descriptor *from) {
  return (mtl_texture_desc){
      .type = texture_type_of(from->textureType),
      .pixel_format = (mtl_pixel_format)from->pixelFormat,
      .width = (uint32_t)from->width,
      .height = (uint32_t)from->height,
      .depth = (uint32_t)from->depth,
      .level_count = (uint32_t)from->mipmapLevelCount,
      .array_length = (uint32_t)from->arrayLength,
      .sample_count = (uint32_t)from->sampleCount,
      .storage_mode = storage_mode_of(from->resourceOptions),
      .hazard_tracking = hazard_tracking_of(from->resourceOptions),
      .usage = (uint32_t)from->usage & 0x33};
}
