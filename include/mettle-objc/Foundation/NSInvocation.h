// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSInvocation.h: messages as objects, and objects that stand for others.
#ifndef METTLE_OBJC_FOUNDATION_NSINVOCATION_H
#define METTLE_OBJC_FOUNDATION_NSINVOCATION_H

#include <Foundation/NSValue.h>

#ifdef __OBJC__

@interface NSMethodSignature : NSObject
+ (NSMethodSignature *)signatureWithObjCTypes:(const char *)types;
@property(readonly) NSUInteger numberOfArguments;  // self and _cmd included
- (const char *)getArgumentTypeAtIndex:(NSUInteger)index;
@property(readonly) NSUInteger frameLength;
@property(readonly) const char *methodReturnType;
@property(readonly) NSUInteger methodReturnLength;
- (BOOL)isOneway;
@end

// A method that returns long double, or has over 63 arguments, cannot be
// invoked.
@interface NSInvocation : NSObject
+ (NSInvocation *)invocationWithMethodSignature:(NSMethodSignature *)types;
@property(readonly, retain) NSMethodSignature *methodSignature;
- (void)retainArguments;
@property(readonly) BOOL argumentsRetained;
@property(assign) id target;
@property SEL selector;
- (void)getReturnValue:(void *)out;
- (void)setReturnValue:(void *)value;
- (void)getArgument:(void *)out atIndex:(NSInteger)index;
- (void)setArgument:(void *)value atIndex:(NSInteger)index;
- (void)invoke;
- (void)invokeWithTarget:(id)target;
@end

@interface NSObject (NSInvocation)
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector;
+ (NSMethodSignature *)instanceMethodSignatureForSelector:(SEL)selector;
- (void)forwardInvocation:(NSInvocation *)invocation;
@end

__attribute__((objc_root_class))
@interface NSProxy<NSObject> {
  Class isa;
}
+ (id)alloc;
+ (Class)class;
- (void)dealloc;
- (void)forwardInvocation:(NSInvocation *)invocation;
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector;
@property(readonly, copy) NSString *description;
@end

#endif

#endif
