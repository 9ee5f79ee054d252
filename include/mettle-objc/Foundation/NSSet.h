// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSSet.h: sets.
#ifndef METTLE_OBJC_FOUNDATION_NSSET_H
#define METTLE_OBJC_FOUNDATION_NSSET_H

#include <Foundation/NSDictionary.h>

#ifdef __OBJC__

@interface NSSet<__covariant T>
    : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (T)member:(T)object;
@end
@interface NSSet <T>(NSExtendedSet)
+ (instancetype)set;
+ (instancetype)setWithObject:(T)object;
+ (instancetype)setWithObjects:(const T[])objects count:(NSUInteger)count;
+ (instancetype)setWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)setWithArray:(NSArray<T> *)array;
+ (instancetype)setWithSet:(NSSet<T> *)other;
- (instancetype)initWithArray:(NSArray<T> *)array;
- (instancetype)initWithSet:(NSSet<T> *)other;
- (instancetype)initWithObjects:(const T[])objects count:(NSUInteger)count;
@property(readonly, copy) NSArray<T> *allObjects;
- (T)anyObject;
- (NSString *)descriptionWithLocale:(id)locale indent:(NSUInteger)level;
- (BOOL)containsObject:(T)object;
- (BOOL)isSubsetOfSet:(NSSet<T> *)other;
- (NSSet<T> *)setByAddingObject:(T)object;
- (NSSet<T> *)setByAddingObjectsFromSet:(NSSet<T> *)other;
- (NSEnumerator<T> *)objectEnumerator;
- (BOOL)intersectsSet:(NSSet<T> *)other;
- (BOOL)isEqualToSet:(NSSet<T> *)other;
- (void)enumerateObjectsUsingBlock:(void (^)(T object, BOOL *stop))block;
@end

@interface NSMutableSet<T> : NSSet <T>
+ (instancetype)setWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)addObject:(T)object;
- (void)removeObject:(T)object;
- (void)removeAllObjects;
- (void)addObjectsFromArray:(NSArray<T> *)array;
- (void)unionSet:(NSSet<T> *)other;
- (void)minusSet:(NSSet<T> *)other;
- (void)intersectSet:(NSSet<T> *)other;
@end

#endif

#endif
