// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// objc.h: the types of Objective-C for C.
#ifndef METTLE_OBJC_OBJC_H
#define METTLE_OBJC_OBJC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define OBJC_EXTERN extern "C"
#else
#define OBJC_EXTERN extern
#endif
#define OBJC_EXPORT OBJC_EXTERN

typedef struct objc_class *Class;
struct objc_object {
  Class isa;
};
typedef struct objc_object *id;
typedef struct objc_selector *SEL;
typedef id (*IMP)(id, SEL, ...);

#if defined(__OBJC_BOOL_IS_BOOL) && __OBJC_BOOL_IS_BOOL
typedef bool BOOL;
#else
typedef signed char BOOL;
#endif
#define YES ((BOOL)1)
#define NO ((BOOL)0)

// Null pointers of any kind: programs give nil for an NSError **, too.
#if defined(__cplusplus) && __cplusplus >= 201103L
#define METTLE_OBJC_NIL nullptr
#elif defined(__cplusplus)
#define METTLE_OBJC_NIL __null
#else
#define METTLE_OBJC_NIL ((void *)0)
#endif
#ifndef Nil
#define Nil METTLE_OBJC_NIL
#endif
#ifndef nil
#define nil METTLE_OBJC_NIL
#endif

#ifdef __OBJC__
#define OBJC_BRIDGE __bridge
#endif

OBJC_EXPORT SEL sel_registerName(const char *name);
OBJC_EXPORT const char *sel_getName(SEL selector);
OBJC_EXPORT BOOL sel_isMapped(SEL selector);
OBJC_EXPORT SEL sel_getUid(const char *name);
OBJC_EXPORT const char *object_getClassName(id object);
OBJC_EXPORT void *object_getIndexedIvars(id object);

#endif
