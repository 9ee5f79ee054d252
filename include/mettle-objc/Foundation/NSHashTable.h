// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSHashTable.h: sets whose members may be weak.
#ifndef METTLE_OBJC_FOUNDATION_NSHASHTABLE_H
#define METTLE_OBJC_FOUNDATION_NSHASHTABLE_H

#include <Foundation/NSPointerFunctions.h>
#include <Foundation/NSSet.h>

#ifdef __OBJC__

typedef NSUInteger NSHashTableOptions;
enum {
  NSHashTableStrongMemory = NSPointerFunctionsStrongMemory,
  NSHashTableWeakMemory = NSPointerFunctionsWeakMemory,
  NSHashTableCopyIn = NSPointerFunctionsCopyIn,
  NSHashTableObjectPointerPersonality =
      NSPointerFunctionsObjectPointerPersonality
};

@interface NSHashTable<T> : NSObject <NSCopying, NSFastEnumeration>
+ (NSHashTable<T> *)hashTableWithOptions:(NSPointerFunctionsOptions)options;
+ (NSHashTable<T> *)weakObjectsHashTable;
- (instancetype)initWithOptions:(NSPointerFunctionsOptions)options
                       capacity:(NSUInteger)capacity;
@property(readonly) NSUInteger count;
@property(readonly, copy) NSArray<T> *allObjects;
@property(readonly) T anyObject;
@property(readonly, copy) NSSet<T> *setRepresentation;
- (T)member:(T)object;
- (BOOL)containsObject:(T)object;
- (void)addObject:(T)object;
- (void)removeObject:(T)object;
- (void)removeAllObjects;
- (NSEnumerator<T> *)objectEnumerator;
- (void)unionHashTable:(NSHashTable<T> *)other;
- (void)minusHashTable:(NSHashTable<T> *)other;
- (void)intersectHashTable:(NSHashTable<T> *)other;
@end

#endif

#endif
