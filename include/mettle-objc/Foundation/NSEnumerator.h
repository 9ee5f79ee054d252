// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSEnumerator.h: enumeration.
#ifndef METTLE_OBJC_FOUNDATION_NSENUMERATOR_H
#define METTLE_OBJC_FOUNDATION_NSENUMERATOR_H

#include <Foundation/NSAutoreleasePool.h>

#ifdef __OBJC__

typedef struct {
  unsigned long state;
  id __unsafe_unretained *itemsPtr;
  unsigned long *mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)count;
@end

@class NSArray<__covariant T>;
@interface NSEnumerator<T> : NSObject <NSFastEnumeration>
- (T)nextObject;
@property(readonly, copy) NSArray<T> *allObjects;
@end

typedef NS_OPTIONS(NSUInteger, NSEnumerationOptions) {
  NSEnumerationConcurrent = 1,
  NSEnumerationReverse = 2
};
typedef NS_OPTIONS(NSUInteger, NSSortOptions) {
  NSSortConcurrent = 1,
  NSSortStable = 16
};
typedef NSComparisonResult (^NSComparator)(id one, id other);

#endif

#endif
