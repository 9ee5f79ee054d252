// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// class.h: realized classes, and the lock that guards them all.
#ifndef METTLE_OBJC_CLASS_H
#define METTLE_OBJC_CLASS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "objc/runtime/abi.h"

// class_data.flags, beside those of class_constants that it copies.
enum {
  // Instances live for ever: constant strings, classes. retain and release do
  // nothing.
  CLASS_IMMORTAL = 1 << 16,
  // The class or one above it has its own retain, release or autorelease, which
  // objc_retain and its kin must call.
  CLASS_COUNTS_ITSELF = 1 << 17,
  // objc_allocateClassPair made it, and objc_registerClassPair has not yet.
  CLASS_UNDER_CONSTRUCTION = 1 << 18,
};

typedef enum initialize_state {
  INITIALIZE_NEEDED = 0,
  INITIALIZE_RUNS,
  INITIALIZE_DONE,
} initialize_state;

// A growing list of pointers that images own: method lists, and so on.
typedef struct list_of_lists {
  void **lists;  // [count] the newest last, which comes first in a search
  size_t count;
} list_of_lists;

// A class's run-time data. The runtime's lock guards it, except flags and
// instance_bytes, which no longer change once others see the class.
typedef struct class_data {
  uint32_t flags;
  uint32_t instance_bytes;
  const class_constants *constants;
  list_of_lists methods;     // of method_list
  list_of_lists protocols;   // of protocol_list
  list_of_lists properties;  // of property_list
  list_of_lists ivars;       // of ivar_list
  Class first_subclass;
  Class next_sibling;
  initialize_state initialize;  // of a class, not of a metaclass
  pthread_t initializer;        // the thread that runs +initialize
} class_data;

// Takes the runtime's lock, over classes, caches, protocols and images. It is
// recursive, as +load and +resolveInstanceMethod: run inside it or call back.
void runtime_lock(void);
void runtime_unlock(void);
// Releases the lock and waits until some class's initialize state changes.
void runtime_wait(void);
void runtime_wake(void);

static inline bool class_is_realized(Class class) {
  return *class->flags & CLASS_REALIZED;
}
static inline bool class_is_meta(Class class) {
  return *class->flags & CLASS_META;
}
// Returns the class's flags, of both words together.
static inline uint32_t class_flags(Class class) {
  return *class->flags;
}

const char *class_name(Class class);

// Realizes class and its superclasses: creates their data, and places their
// ivars after their superclass's. The lock is held.
void class_realize(Class class);

// Registers class by its name for objc_getClass. The lock is held.
void class_publish(Class class);

// Adds a category's methods, protocols and properties. The lock is held.
void class_attach(Class class, method_list *methods, protocol_list *protocols,
                  property_list *properties);

// Replaces the selectors' plain strings in methods by interned ones.
void method_list_intern(method_list *methods);

static inline method *method_list_at(method_list *list, size_t index) {
  return (method *)((char *)list->methods +
                    index * (list->entry_bytes & ~3u));
}

// Finds a method of class itself, or of it and those above. The lock is held;
// class is realized.
method *class_own_method(Class class, SEL selector);
method *class_find_method(Class class, SEL selector);

// Adds list behind the others. False if there is no memory.
void list_add(list_of_lists *lists, void *list);

OBJC_EXPORT Class objc_getClass(const char *name);
OBJC_EXPORT IMP class_getMethodImplementation(Class class, SEL selector);

// The root class' pair, defined with Foundation's NSObject.
extern struct objc_class OBJC_CLASS_$_NSObject;
extern struct objc_class OBJC_METACLASS_$_NSObject;

#endif
