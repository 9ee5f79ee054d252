// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// define.h: defines classes in C. They have the layout that a compiler emits
// for an Objective-C source, and are registered with such classes.
//
//   static id lock_init(id self, SEL _cmd) { ... }
//   METHODS(lock_methods, METHOD("init", "@16@0:8", lock_init), ...);
//   DEFINE_CLASS(NSLock, NSObject, sizeof(lock), lock_methods, NO_METHODS);
//
// An instance is a C struct whose first member is the superclass' struct, or
// struct objc_object. Types are as Apple's compilers encode them; "B" and "c"
// alike are returned as an int that is 0 or 1, since callers by ctypes look at
// all 32 bits.
#ifndef METTLE_OBJC_DEFINE_H
#define METTLE_OBJC_DEFINE_H

#include "objc/runtime/abi.h"

#define METHOD(name, types, function) {name, types, (IMP)(function)}
#define METHOD_LIST_END {"", "", 0}  // for a class without methods

// A list of methods called variable.
#define METHODS(variable, ...)                                        \
  static struct {                                                     \
    uint32_t entry_bytes;                                             \
    uint32_t count;                                                   \
    method methods[sizeof((method[]){__VA_ARGS__}) / sizeof(method)]; \
  } variable = {sizeof(method),                                       \
                sizeof((method[]){__VA_ARGS__}) / sizeof(method),     \
                {__VA_ARGS__}}

extern struct objc_class OBJC_METACLASS_$_NSObject;
extern struct message_cache _objc_empty_cache;

#define DEFINE_CLASS_PAIR(name_, super_class, super_meta, root_meta, bytes, \
                          instance_methods, class_methods, flags_)          \
  static class_constants name_##_meta_constants = {                         \
      .flags = CLASS_META | (flags_),                                       \
      .instance_start = sizeof(struct objc_class),                          \
      .instance_bytes = sizeof(struct objc_class),                          \
      .name = #name_,                                                       \
      .methods = (method_list *)(class_methods)};                           \
  static class_constants name_##_constants = {                              \
      .flags = (flags_),                                                    \
      .instance_start = (bytes),                                            \
      .instance_bytes = (bytes),                                            \
      .name = #name_,                                                       \
      .methods = (method_list *)(instance_methods)};                        \
  extern struct objc_class OBJC_CLASS_$_##name_;                            \
  OBJC_EXPORT struct objc_class OBJC_METACLASS_$_##name_ = {                \
      root_meta, super_meta, &_objc_empty_cache, NULL,                      \
      {&name_##_meta_constants}};                                           \
  OBJC_EXPORT struct objc_class OBJC_CLASS_$_##name_ = {                    \
      &OBJC_METACLASS_$_##name_, super_class, &_objc_empty_cache, NULL,     \
      {&name_##_constants}};                                                \
  static Class const name_##_listed                                         \
      __attribute__((section("objc_classlist"), used)) =                    \
          &OBJC_CLASS_$_##name_

// Defines class name under super, with instances of bytes in all.
#define DEFINE_CLASS(name, super, bytes, instance_methods, class_methods) \
  extern struct objc_class OBJC_CLASS_$_##super;                          \
  extern struct objc_class OBJC_METACLASS_$_##super;                      \
  DEFINE_CLASS_PAIR(name, &OBJC_CLASS_$_##super, &OBJC_METACLASS_$_##super, \
                    &OBJC_METACLASS_$_NSObject, bytes, &(instance_methods), \
                    class_methods, 0)

// The class_methods of a class that has none, or &list.
#define NO_METHODS NULL

#define DEFINE_ROOT_CLASS(name, instance_methods, class_methods)          \
  extern struct objc_class OBJC_METACLASS_$_##name;                       \
  extern struct objc_class OBJC_CLASS_$_##name;                           \
  DEFINE_CLASS_PAIR(name, NULL, &OBJC_CLASS_$_##name,                     \
                    &OBJC_METACLASS_$_##name, sizeof(struct objc_object), \
                    &(instance_methods), class_methods, CLASS_ROOT)

// Adds methods to class target.
#define DEFINE_CATEGORY(target, name_, instance_methods_)             \
  static category target##_##name_##_category = {                     \
      .name = #name_,                                                 \
      .class = &OBJC_CLASS_$_##target,                                \
      .instance_methods = (method_list *)&(instance_methods_)};       \
  static category *target##_##name_##_listed                          \
      __attribute__((section("objc_catlist"), used)) =                \
          &target##_##name_##_category

// The C expression for a class.
#define CLASS_OF(name) ((id)&OBJC_CLASS_$_##name)

#endif
