// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSIndexSet.h: sets of indices.
#ifndef METTLE_OBJC_FOUNDATION_NSINDEXSET_H
#define METTLE_OBJC_FOUNDATION_NSINDEXSET_H

#include <Foundation/NSNull.h>

#ifdef __OBJC__

@interface NSIndexSet : NSObject <NSCopying, NSMutableCopying>
+ (instancetype)indexSet;
+ (instancetype)indexSetWithIndex:(NSUInteger)index;
+ (instancetype)indexSetWithIndexesInRange:(NSRange)range;
- (instancetype)initWithIndex:(NSUInteger)index;
- (instancetype)initWithIndexesInRange:(NSRange)range;
- (instancetype)initWithIndexSet:(NSIndexSet *)other;
@property(readonly) NSUInteger count, firstIndex, lastIndex;
- (NSUInteger)indexGreaterThanIndex:(NSUInteger)index;
- (NSUInteger)indexLessThanIndex:(NSUInteger)index;
- (BOOL)containsIndex:(NSUInteger)index;
- (BOOL)containsIndexesInRange:(NSRange)range;
- (BOOL)isEqualToIndexSet:(NSIndexSet *)other;
- (void)enumerateIndexesUsingBlock:(void (^)(NSUInteger index,
                                             BOOL *stop))block;
- (void)enumerateRangesUsingBlock:(void (^)(NSRange range, BOOL *stop))block;
@end
@interface NSMutableIndexSet : NSIndexSet
- (void)addIndex:(NSUInteger)index;
- (void)addIndexesInRange:(NSRange)range;
- (void)addIndexes:(NSIndexSet *)other;
- (void)removeIndex:(NSUInteger)index;
- (void)removeIndexesInRange:(NSRange)range;
- (void)removeAllIndexes;
@end

#endif

#endif
