// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime.h: classes, methods and ivars at run time.
#ifndef METTLE_OBJC_RUNTIME_H
#define METTLE_OBJC_RUNTIME_H

#include <Availability.h>
#include <TargetConditionals.h>
#include <objc/objc.h>

typedef struct objc_method *Method;
typedef struct objc_ivar *Ivar;
typedef struct objc_property *objc_property_t;
#ifdef __OBJC__
@class Protocol;
#else
typedef struct objc_object Protocol;
#endif

struct objc_method_description {
  SEL name;
  char *types;
};

typedef uintptr_t objc_AssociationPolicy;
enum {
  OBJC_ASSOCIATION_ASSIGN = 0,
  OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
  OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
  OBJC_ASSOCIATION_RETAIN = 01401,
  OBJC_ASSOCIATION_COPY = 01403
};

OBJC_EXPORT Class object_getClass(id object);
OBJC_EXPORT Class object_setClass(id object, Class cls);
OBJC_EXPORT BOOL object_isClass(id object);
OBJC_EXPORT id object_getIvar(id object, Ivar ivar);
OBJC_EXPORT void object_setIvar(id object, Ivar ivar, id value);

OBJC_EXPORT Class objc_getClass(const char *name);
OBJC_EXPORT Class objc_lookUpClass(const char *name);
OBJC_EXPORT Class objc_getRequiredClass(const char *name);
OBJC_EXPORT Class objc_getMetaClass(const char *name);
OBJC_EXPORT int objc_getClassList(Class *list, int capacity);
OBJC_EXPORT Protocol *objc_getProtocol(const char *name);
OBJC_EXPORT Class objc_allocateClassPair(Class superclass, const char *name,
                                         size_t extra_bytes);
OBJC_EXPORT void objc_registerClassPair(Class cls);

OBJC_EXPORT const char *class_getName(Class cls);
OBJC_EXPORT BOOL class_isMetaClass(Class cls);
OBJC_EXPORT Class class_getSuperclass(Class cls);
OBJC_EXPORT size_t class_getInstanceSize(Class cls);
OBJC_EXPORT Ivar class_getInstanceVariable(Class cls, const char *name);
OBJC_EXPORT Method class_getInstanceMethod(Class cls, SEL selector);
OBJC_EXPORT Method class_getClassMethod(Class cls, SEL selector);
OBJC_EXPORT IMP class_getMethodImplementation(Class cls, SEL selector);
OBJC_EXPORT BOOL class_respondsToSelector(Class cls, SEL selector);
OBJC_EXPORT Method *class_copyMethodList(Class cls, unsigned *out_count);
OBJC_EXPORT Ivar *class_copyIvarList(Class cls, unsigned *out_count);
OBJC_EXPORT objc_property_t *class_copyPropertyList(Class cls,
                                                    unsigned *out_count);
OBJC_EXPORT objc_property_t class_getProperty(Class cls, const char *name);
#ifdef __OBJC__
OBJC_EXPORT Protocol *__unsafe_unretained *class_copyProtocolList(
    Class cls, unsigned *out_count);
#else
OBJC_EXPORT Protocol **class_copyProtocolList(Class cls, unsigned *out_count);
#endif
OBJC_EXPORT const char *property_getName(objc_property_t property);
OBJC_EXPORT const char *property_getAttributes(objc_property_t property);
OBJC_EXPORT BOOL class_conformsToProtocol(Class cls, Protocol *protocol);
OBJC_EXPORT BOOL class_addMethod(Class cls, SEL selector, IMP imp,
                                 const char *types);
OBJC_EXPORT IMP class_replaceMethod(Class cls, SEL selector, IMP imp,
                                    const char *types);
OBJC_EXPORT BOOL class_addIvar(Class cls, const char *name, size_t bytes,
                               uint8_t alignment_log2, const char *types);
OBJC_EXPORT BOOL class_addProtocol(Class cls, Protocol *protocol);
OBJC_EXPORT id class_createInstance(Class cls, size_t extra_bytes);

OBJC_EXPORT SEL method_getName(Method method);
OBJC_EXPORT IMP method_getImplementation(Method method);
OBJC_EXPORT const char *method_getTypeEncoding(Method method);
OBJC_EXPORT IMP method_setImplementation(Method method, IMP imp);
OBJC_EXPORT void method_exchangeImplementations(Method one, Method other);

OBJC_EXPORT const char *ivar_getName(Ivar ivar);
OBJC_EXPORT const char *ivar_getTypeEncoding(Ivar ivar);
OBJC_EXPORT ptrdiff_t ivar_getOffset(Ivar ivar);

OBJC_EXPORT const char *protocol_getName(Protocol *protocol);
OBJC_EXPORT BOOL protocol_isEqual(Protocol *one, Protocol *other);
OBJC_EXPORT BOOL protocol_conformsToProtocol(Protocol *one, Protocol *other);
OBJC_EXPORT struct objc_method_description protocol_getMethodDescription(
    Protocol *protocol, SEL selector, BOOL is_required, BOOL is_instance);

OBJC_EXPORT BOOL sel_isEqual(SEL one, SEL other);

OBJC_EXPORT void objc_setAssociatedObject(id object, const void *key, id value,
                                          objc_AssociationPolicy policy);
OBJC_EXPORT id objc_getAssociatedObject(id object, const void *key);
OBJC_EXPORT void objc_removeAssociatedObjects(id object);

OBJC_EXPORT void *objc_autoreleasePoolPush(void);
OBJC_EXPORT void objc_autoreleasePoolPop(void *pool);
#if !defined(__OBJC__) || !__has_feature(objc_arc)
OBJC_EXPORT id objc_retain(id object);
OBJC_EXPORT void objc_release(id object);
OBJC_EXPORT id objc_autorelease(id object);
#endif
OBJC_EXPORT int objc_sync_enter(id object);
OBJC_EXPORT int objc_sync_exit(id object);

#endif
