// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSArray.h: arrays.
#ifndef METTLE_OBJC_FOUNDATION_NSARRAY_H
#define METTLE_OBJC_FOUNDATION_NSARRAY_H

#include <Foundation/NSIndexSet.h>

#ifdef __OBJC__

@interface NSArray<__covariant T>
    : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (T)objectAtIndex:(NSUInteger)index;
@end
@interface NSArray <T>(NSExtendedArray)
+ (instancetype)array;
+ (instancetype)arrayWithObject:(T)object;
+ (instancetype)arrayWithObjects:(const T[])objects count:(NSUInteger)count;
+ (instancetype)arrayWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)arrayWithArray:(NSArray<T> *)other;
- (instancetype)initWithObjects:(const T[])objects count:(NSUInteger)count;
- (instancetype)initWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
- (instancetype)initWithArray:(NSArray<T> *)other;
- (T)objectAtIndexedSubscript:(NSUInteger)index;
@property(readonly) T firstObject;
@property(readonly) T lastObject;
- (NSUInteger)indexOfObject:(T)object;
- (NSUInteger)indexOfObjectIdenticalTo:(T)object;
- (BOOL)containsObject:(T)object;
- (BOOL)isEqualToArray:(NSArray<T> *)other;
- (NSArray<T> *)arrayByAddingObject:(T)object;
- (NSArray<T> *)subarrayWithRange:(NSRange)range;
- (NSString *)descriptionWithLocale:(id)locale indent:(NSUInteger)level;
- (NSString *)componentsJoinedByString:(NSString *)separator;
- (void)enumerateObjectsUsingBlock:(void (^)(T object, NSUInteger index,
                                             BOOL *stop))block;
- (NSArray<T> *)sortedArrayUsingComparator:
    (NSComparisonResult (^)(T one, T other))comparator;
- (NSArray<T> *)sortedArrayWithOptions:(NSSortOptions)options
                       usingComparator:
                           (NSComparisonResult (^)(T one, T other))comparator;
- (NSArray<T> *)sortedArrayUsingSelector:(SEL)selector;
- (NSArray<T> *)sortedArrayUsingFunction:(NSInteger (*)(T, T, void *))function
                                 context:(void *)context;
- (NSEnumerator<T> *)objectEnumerator;
- (NSEnumerator<T> *)reverseObjectEnumerator;
- (void)enumerateObjectsWithOptions:(NSEnumerationOptions)options
                         usingBlock:(void (^)(T object, NSUInteger index,
                                              BOOL *stop))block;
- (NSUInteger)indexOfObjectPassingTest:(BOOL (^)(T object, NSUInteger index,
                                                 BOOL *stop))test;
- (NSIndexSet *)indexesOfObjectsPassingTest:
    (BOOL (^)(T object, NSUInteger index, BOOL *stop))test;
- (NSUInteger)indexOfObject:(T)object inRange:(NSRange)range;
- (T)firstObjectCommonWithArray:(NSArray<T> *)other;
- (NSArray<T> *)objectsAtIndexes:(NSIndexSet *)indexes;
- (NSArray<T> *)arrayByAddingObjectsFromArray:(NSArray<T> *)other;
- (void)makeObjectsPerformSelector:(SEL)selector;
- (void)makeObjectsPerformSelector:(SEL)selector withObject:(id)argument;
- (void)getObjects:(T __unsafe_unretained[])objects range:(NSRange)range;
@end

@interface NSMutableArray<T> : NSArray <T>
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)addObject:(T)object;
- (void)addObjectsFromArray:(NSArray<T> *)other;
- (void)insertObject:(T)object atIndex:(NSUInteger)index;
- (void)removeObjectAtIndex:(NSUInteger)index;
- (void)removeObject:(T)object;
- (void)removeLastObject;
- (void)removeAllObjects;
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(T)object;
- (void)setArray:(NSArray<T> *)other;
- (void)exchangeObjectAtIndex:(NSUInteger)one
            withObjectAtIndex:(NSUInteger)other;
- (void)removeObjectsInRange:(NSRange)range;
- (void)removeObjectsInArray:(NSArray<T> *)others;
- (void)removeObjectIdenticalTo:(T)object;
- (void)removeObjectsAtIndexes:(NSIndexSet *)indexes;
- (void)sortUsingSelector:(SEL)selector;
- (void)sortUsingComparator:(NSComparisonResult (^)(T one, T other))comparator;
- (void)sortWithOptions:(NSSortOptions)options
        usingComparator:(NSComparisonResult (^)(T one, T other))comparator;
- (void)setObject:(T)object atIndexedSubscript:(NSUInteger)index;
@end

#endif

#endif
