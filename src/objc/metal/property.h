// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// property.h: defines accessors of descriptors' properties. The C struct's
// field has the property's name.
#ifndef METTLE_OBJC_PROPERTY_H
#define METTLE_OBJC_PROPERTY_H

#include <stddef.h>

#include "objc/runtime/memory/instance.h"
#include "objc/runtime/message/message.h"

// Only the getter.
#define READ_PROPERTY(owner, type, name)              \
  static type owner##_get_##name(id self, SEL _cmd) { \
    (void)_cmd;                                       \
    return ((owner *)self)->name;                     \
  }

#define VALUE_PROPERTY(owner, type, name)                        \
  READ_PROPERTY(owner, type, name)                               \
  static void owner##_set_##name(id self, SEL _cmd, type value) { \
    (void)_cmd;                                                  \
    ((owner *)self)->name = value;                               \
  }

// A BOOL: callers leave garbage above its low byte.
#define FLAG_PROPERTY(owner, name)                              \
  static int owner##_get_##name(id self, SEL _cmd) {            \
    (void)_cmd;                                                 \
    return ((owner *)self)->name;                               \
  }                                                             \
  static void owner##_set_##name(id self, SEL _cmd, int value) { \
    (void)_cmd;                                                 \
    ((owner *)self)->name = (value & 0xff) != 0;                \
  }

#define OBJECT_PROPERTY_BY(owner, name, keep)                   \
  static id owner##_get_##name(id self, SEL _cmd) {             \
    (void)_cmd;                                                 \
    return ((owner *)self)->name;                               \
  }                                                             \
  static void owner##_set_##name(id self, SEL _cmd, id value) { \
    (void)_cmd;                                                 \
    const id old = ((owner *)self)->name;                       \
    ((owner *)self)->name = keep;                               \
    objc_release(old);                                          \
  }
// Defines a property that retains, or copies, its object.
#define OBJECT_PROPERTY(owner, name) \
  OBJECT_PROPERTY_BY(owner, name, objc_retain(value))
#define COPY_PROPERTY(owner, name) \
  OBJECT_PROPERTY_BY(owner, name, SEND(id(*)(id, SEL), value, "copy"))

#define VALUE_METHODS(owner, name, setter, type)               \
  METHOD(#name, type "16@0:8", owner##_get_##name),            \
      METHOD(setter, "v24@0:8" type "16", owner##_set_##name)
#define FLAG_METHODS(owner, name, setter) VALUE_METHODS(owner, name, setter, "B")
#define OBJECT_METHODS(owner, name, setter) \
  VALUE_METHODS(owner, name, setter, "@")

// Copies an object of size_bytes, and releases one. Its references are the
// fields [count] from first_offset on.
id fields_copy(id from, size_t size_bytes, size_t first_offset, size_t count);
void fields_release(id object, size_t first_offset, size_t count);

// Defines copyWithZone: and dealloc of an object whose references are adjacent,
// from first to last; all other fields are values.
//
//   REFERENCES(linked_functions, functions, privateFunctions)
//   METHODS(list, REFERENCES_METHODS(linked_functions), ...);
#define REFERENCES(owner, first, last)                                      \
  enum {                                                                    \
    owner##_reference_count =                                               \
        (offsetof(owner, last) - offsetof(owner, first)) / sizeof(id) + 1   \
  };                                                                        \
  static void owner##_release(id self) {                                    \
    fields_release(self, offsetof(owner, first), owner##_reference_count);  \
  }                                                                         \
  static id owner##_copy(id self, SEL _cmd, void *zone) {                   \
    (void)_cmd;                                                             \
    (void)zone;                                                             \
    return fields_copy(self, sizeof(owner), offsetof(owner, first),         \
                       owner##_reference_count);                            \
  }                                                                         \
  static void owner##_dealloc(id self, SEL _cmd) {                          \
    (void)_cmd;                                                             \
    owner##_release(self);                                                  \
    instance_dispose(self);                                                 \
  }
// The same for an object without references.
#define VALUES_ALONE(owner)                                   \
  static id owner##_copy(id self, SEL _cmd, void *zone) {     \
    (void)_cmd;                                               \
    (void)zone;                                               \
    return fields_copy(self, sizeof(owner), 0, 0);            \
  }
#define VALUES_ALONE_METHODS(owner) \
  METHOD("copyWithZone:", "@24@0:8^v16", owner##_copy)

#define REFERENCES_METHODS(owner)                  \
  METHOD("dealloc", "v16@0:8", owner##_dealloc),   \
      METHOD("copyWithZone:", "@24@0:8^v16", owner##_copy)

#endif
