// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crt.c: registers an image's Objective-C sections with the runtime before any
// other constructor of the image runs. The linker script libMetal.so links it
// into each executable and library.
#include "objc/runtime/image.h"

// The linker defines the bounds of sections whose names are C identifiers;
// weak, as an image need not have all of them.
#define BOUNDS(type, section)                                    \
  extern type __start_##section[] __attribute__((weak,           \
                                                 visibility("hidden"))); \
  extern type __stop_##section[] __attribute__((weak, visibility("hidden")))
BOUNDS(SEL, objc_selrefs);
BOUNDS(Class, objc_classlist);
BOUNDS(Class, objc_nlclslist);
BOUNDS(category *, objc_catlist);
BOUNDS(category *, objc_nlcatlist);
BOUNDS(protocol *, objc_protolist);
BOUNDS(protocol *, objc_protorefs);

static void __attribute__((constructor(101))) register_image(void) {
  const objc_image image = {
      .version = 1,
      .bytes = sizeof image,
      .selector_references = __start_objc_selrefs,
      .selector_references_end = __stop_objc_selrefs,
      .classes = __start_objc_classlist,
      .classes_end = __stop_objc_classlist,
      .load_classes = __start_objc_nlclslist,
      .load_classes_end = __stop_objc_nlclslist,
      .categories = __start_objc_catlist,
      .categories_end = __stop_objc_catlist,
      .load_categories = __start_objc_nlcatlist,
      .load_categories_end = __stop_objc_nlcatlist,
      .protocols = __start_objc_protolist,
      .protocols_end = __stop_objc_protolist,
      .protocol_references = __start_objc_protorefs,
      .protocol_references_end = __stop_objc_protorefs,
  };
  mettle_objc_register_image(&image);
}
