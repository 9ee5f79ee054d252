// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSPointerArray.h: arrays that may hold nil and weak references.
#ifndef METTLE_OBJC_FOUNDATION_NSPOINTERARRAY_H
#define METTLE_OBJC_FOUNDATION_NSPOINTERARRAY_H

#include <Foundation/NSArray.h>
#include <Foundation/NSPointerFunctions.h>

#ifdef __OBJC__

@interface NSPointerArray : NSObject <NSCopying, NSFastEnumeration>
+ (NSPointerArray *)pointerArrayWithOptions:(NSPointerFunctionsOptions)options;
+ (NSPointerArray *)strongObjectsPointerArray;
+ (NSPointerArray *)weakObjectsPointerArray;
- (instancetype)initWithOptions:(NSPointerFunctionsOptions)options;
@property NSUInteger count;
@property(readonly, copy) NSArray *allObjects;
- (void *)pointerAtIndex:(NSUInteger)index;
- (void)addPointer:(void *)pointer;
- (void)insertPointer:(void *)pointer atIndex:(NSUInteger)index;
- (void)replacePointerAtIndex:(NSUInteger)index withPointer:(void *)pointer;
- (void)removePointerAtIndex:(NSUInteger)index;
- (void)compact;
@end

#endif

#endif
