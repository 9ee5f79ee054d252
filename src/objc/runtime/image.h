// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// image.h: the Objective-C sections that an executable or library registers at
// its start. crt.c, linked into each, fills this in.
#ifndef METTLE_OBJC_IMAGE_H
#define METTLE_OBJC_IMAGE_H

#include "objc/runtime/abi.h"

// The bounds of a section, both NULL if the image has none.
#define IMAGE_SECTION(type, name) \
  type *name;                     \
  type *name##_end

typedef struct objc_image {
  uint32_t version;  // 1
  uint32_t bytes;    // sizeof(objc_image) when the image was compiled
  IMAGE_SECTION(SEL, selector_references);
  IMAGE_SECTION(Class, classes);
  IMAGE_SECTION(Class, load_classes);  // those with +load
  IMAGE_SECTION(category *, categories);
  IMAGE_SECTION(category *, load_categories);
  IMAGE_SECTION(protocol *, protocols);
  IMAGE_SECTION(protocol *, protocol_references);
} objc_image;

// Registers an image and sends its +load messages. An image that is registered
// already, known by its first section, is left alone: clients link crt.o as
// often as they name a framework.
//
// Threads    Any.
OBJC_EXPORT void mettle_objc_register_image(const objc_image *image);

#endif
