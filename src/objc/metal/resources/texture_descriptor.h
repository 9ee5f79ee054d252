// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_descriptor.h: the fields of an MTLTextureDescriptor.
#ifndef METTLE_OBJC_TEXTURE_DESCRIPTOR_H
#define METTLE_OBJC_TEXTURE_DESCRIPTOR_H

#include <mettle/texture.h>
#include <stdbool.h>
#include <stdint.h>

#include "objc/metal/metal.h"

// MTLTextureSwizzle: zero, one, red, green, blue, alpha.
typedef struct swizzles {
  uint8_t red, green, blue, alpha;
} swizzles;
#define NO_SWIZZLE ((swizzles){2, 3, 4, 5})

typedef struct texture_descriptor {
  struct objc_object object;
  NSUInteger textureType;
  NSUInteger pixelFormat;
  NSUInteger width;
  NSUInteger height;
  NSUInteger depth;
  NSUInteger mipmapLevelCount;
  NSUInteger sampleCount;
  NSUInteger arrayLength;
  NSUInteger resourceOptions;
  NSUInteger usage;
  bool allowGPUOptimizedContents;
  swizzles swizzle;
  NSInteger compressionType;
} texture_descriptor;

mtl_texture_desc texture_desc_of(const texture_descriptor *from);

#endif
