// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// instance.h: objects on the heap and their reference counts.
#ifndef METTLE_OBJC_INSTANCE_H
#define METTLE_OBJC_INSTANCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objc/runtime/abi.h"

// The header before every object that class_createInstance made.
typedef struct object_header {
  _Atomic uint64_t state;  // references * OBJECT_ONE, and the flags below
  Class ended;             // of a zombie: its former class
} object_header;

enum {
  OBJECT_IS_WEAKLY_REFERENCED = 1 << 0,
  OBJECT_HAS_ASSOCIATIONS = 1 << 1,
  OBJECT_ONE = 1 << 8,
};

static inline object_header *object_header_of(id object) {
  return (object_header *)object - 1;
}

// Allocates a zeroed instance with extra_bytes behind it and one reference, and
// constructs its C++ members. NULL if there is no memory.
id instance_create(Class class, size_t extra_bytes);

// Destroys the members of an object that has no references, and frees it.
void instance_dispose(id object);

// Retain and release an object directly, without its class's overrides.
id instance_retain(id object);
void instance_release(id object);
// Retains the object unless it is about to be destroyed.
bool instance_try_retain(id object);
uint64_t instance_references(id object);

// Retain and release by the class's own methods if it overrides them. NULL is
// allowed.
OBJC_EXPORT id objc_retain(id object);
OBJC_EXPORT void objc_release(id object);
OBJC_EXPORT id objc_autorelease(id object);
OBJC_EXPORT void objc_storeStrong(id *location, id object);

// Clears all weak references to object, which is being destroyed.
void weak_clear(id object);
// Releases the values associated with object, which is being destroyed.
void associations_clear(id object);

#endif
