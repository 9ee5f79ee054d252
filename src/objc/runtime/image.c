// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// image.c: registers the classes, categories, protocols and selectors of an
// image.
#include "objc/runtime/image.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/message/message.h"
#include "objc/runtime/protocol.h"
#include "objc/runtime/selectors.h"

// Images that are registered, by their selectors or classes.
static const void **images;
static size_t image_count;

// True if the image is new. It is never unloaded then: its classes are in use.
static bool note(const objc_image *image) {
  const void *mark = image->selector_references
                         ? (const void *)image->selector_references
                         : (const void *)image->classes;
  if (!mark) {
    mark = image->categories ? (const void *)image->categories
                             : (const void *)image->protocols;
  }
  if (!mark) {
    return false;  // there is nothing in it
  }
  for (size_t i = 0; i < image_count; ++i) {
    if (images[i] == mark) {
      return false;
    }
  }
  const void **grown = realloc(images, (image_count + 1) * sizeof *grown);
  if (!grown) {
    return false;
  }
  images = grown;
  images[image_count++] = mark;
  Dl_info info;
  if (dladdr(mark, &info) && info.dli_fname) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
  return true;
}

static void attach(category *each) {
  if (!each->class) {
    return;  // of a class that is weakly linked and not there
  }
  class_attach(each->class, each->instance_methods, each->protocols,
               each->properties);
  class_attach(each->class->isa, each->class_methods, each->protocols, NULL);
}

// Sends a class' own +load, once, after its superclass'.
static void load_class(Class class) {
  if (!class) {
    return;
  }
  load_class(class->superclass);
  static const uint32_t loaded = 1u << 19;  // of the metaclass' flags
  if (class->isa->data->flags & loaded) {
    return;
  }
  class->isa->data->flags |= loaded;
  const method *found = class_own_method(class->isa, SELECTOR("load"));
  if (found) {
    ((void (*)(id, SEL))found->imp)((id)class, found->name);
  }
}

static void load_category(const category *each) {
  const SEL load = SELECTOR("load");
  for (size_t i = 0; each->class && each->class_methods &&
                     i < each->class_methods->count;
       ++i) {
    const method *found = method_list_at(each->class_methods, i);
    if (found->name == load) {
      ((void (*)(id, SEL))found->imp)((id)each->class, load);
    }
  }
}

#define FOR_EACH(type, variable, image, section) \
  for (type *variable = (image)->section;        \
       variable && variable < (image)->section##_end; ++variable)

void mettle_objc_register_image(const objc_image *image) {
  if (image->version != 1 || image->bytes < sizeof *image) {
    runtime_fail("an image was linked for another version of libMetal");
  }
  runtime_lock();
  if (!note(image)) {
    runtime_unlock();
    return;
  }
  FOR_EACH(SEL, selector, image, selector_references) {
    *selector = selector_intern(*selector);
  }
  FOR_EACH(protocol *, each, image, protocols) {
    protocol_register(*each);
  }
  FOR_EACH(protocol *, each, image, protocol_references) {
    *each = protocol_canonical(*each);
  }
  FOR_EACH(Class, each, image, classes) {
    class_publish(*each);
  }
  FOR_EACH(Class, each, image, classes) {
    class_realize(*each);
  }
  FOR_EACH(category *, each, image, categories) {
    attach(*each);
  }
  FOR_EACH(Class, each, image, load_classes) {
    load_class(*each);
  }
  FOR_EACH(category *, each, image, load_categories) {
    load_category(*each);
  }
  runtime_unlock();
}
