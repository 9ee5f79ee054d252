// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// abi.h: the data that compilers for Apple's modern Objective-C runtime emit,
// as clang 14 to 19 do with -fobjc-runtime=macosx.
//
// Compiled classes, categories and protocols are used in place. Every list
// starts with the size of its entries, so that longer entries of newer
// compilers work.
#ifndef METTLE_OBJC_ABI_H
#define METTLE_OBJC_ABI_H

#include <stdint.h>

typedef struct objc_class *Class;
typedef struct objc_object *id;
typedef const char *SEL;  // the selector's one string in the arena
typedef void (*IMP)(void);

struct objc_object {
  Class isa;
};

typedef struct method {
  SEL name;  // a plain string until its image is registered
  const char *types;
  IMP imp;
} method;

typedef struct method_list {
  uint32_t entry_bytes;  // low two bits: flags of Apple's linker
  uint32_t count;
  method methods[];
} method_list;

typedef struct ivar {
  int32_t *offset;  // a 64-bit variable on x86-64; 32 bits are used
  const char *name;
  const char *type;
  uint32_t alignment_log2;  // UINT32_MAX: that of a pointer
  uint32_t size;
} ivar;

typedef struct ivar_list {
  uint32_t entry_bytes;
  uint32_t count;
  ivar ivars[];
} ivar_list;

typedef struct property {
  const char *name;
  const char *attributes;
} property;

typedef struct property_list {
  uint32_t entry_bytes;
  uint32_t count;
  property properties[];
} property_list;

typedef struct protocol protocol;

typedef struct protocol_list {
  uintptr_t count;
  protocol *protocols[];
} protocol_list;

struct protocol {
  Class isa;
  const char *name;
  protocol_list *protocols;
  method_list *instance_methods;
  method_list *class_methods;
  method_list *optional_instance_methods;
  method_list *optional_class_methods;
  property_list *properties;
  uint32_t size;
  uint32_t flags;
  const char **extended_types;
};

// class_constants.flags
enum {
  CLASS_META = 1 << 0,
  CLASS_ROOT = 1 << 1,
  CLASS_HAS_CXX_STRUCTORS = 1 << 2,  // .cxx_construct, .cxx_destruct
  CLASS_HAS_CXX_DESTRUCTOR_ONLY = 1 << 8,
  CLASS_REALIZED = 1u << 31,  // never in a file: see class_data
};

// A class's constant data, as the compiler emits it.
typedef struct class_constants {
  uint32_t flags;
  uint32_t instance_start;  // bytes: where its own ivars begin
  uint32_t instance_bytes;
  uint32_t reserved;
  const uint8_t *ivar_layout;
  const char *name;
  method_list *methods;
  protocol_list *protocols;
  ivar_list *ivars;
  const uint8_t *weak_ivar_layout;
  property_list *properties;
} class_constants;

struct message_cache;
struct class_data;

struct objc_class {
  Class isa;
  Class superclass;
  struct message_cache *cache;
  void *unused;
  // In a file: class_constants. From class_realize on: class_data. Both begin
  // with their flags, of which CLASS_REALIZED tells them apart.
  union {
    const class_constants *constants;
    struct class_data *data;
    const uint32_t *flags;
  };
};

typedef struct category {
  const char *name;
  Class class;
  method_list *instance_methods;
  method_list *class_methods;
  protocol_list *protocols;
  property_list *properties;
} category;

struct objc_super {
  id receiver;
  Class current_class;  // whose superclass answers
};

#define OBJC_EXPORT __attribute__((visibility("default")))

#endif
