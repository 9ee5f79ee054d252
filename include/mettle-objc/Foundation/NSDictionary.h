// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSDictionary.h: dictionaries.
#ifndef METTLE_OBJC_FOUNDATION_NSDICTIONARY_H
#define METTLE_OBJC_FOUNDATION_NSDICTIONARY_H

#include <Foundation/NSArray.h>

#ifdef __OBJC__

@interface NSDictionary<K, V>
    : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (V)objectForKey:(K)key;
@end
@interface NSDictionary <K, V>(NSExtendedDictionary)
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObject:(V)value forKey:(K)key;
+ (instancetype)dictionaryWithObjects:(const V[])values
                              forKeys:(const K[])keys
                                count:(NSUInteger)count;
+ (instancetype)dictionaryWithObjectsAndKeys:(id)first,
                                             ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)dictionaryWithDictionary:(NSDictionary<K, V> *)other;
- (instancetype)initWithDictionary:(NSDictionary<K, V> *)other;
- (V)objectForKeyedSubscript:(K)key;
- (NSString *)descriptionWithLocale:(id)locale indent:(NSUInteger)level;
@property(readonly, copy) NSArray<K> *allKeys;
@property(readonly, copy) NSArray<V> *allValues;
- (BOOL)isEqualToDictionary:(NSDictionary<K, V> *)other;
+ (instancetype)dictionaryWithObjects:(NSArray<V> *)values
                              forKeys:(NSArray<K> *)keys;
- (instancetype)initWithObjects:(const V[])values
                        forKeys:(const K[])keys
                          count:(NSUInteger)count;
- (NSArray<K> *)allKeysForObject:(V)value;
- (NSArray<K> *)keysSortedByValueUsingSelector:(SEL)selector;
- (NSArray<K> *)keysSortedByValueUsingComparator:
    (NSComparisonResult (^)(V one, V other))comparator;
- (NSArray<V> *)objectsForKeys:(NSArray<K> *)keys notFoundMarker:(V)marker;
- (NSEnumerator<K> *)keyEnumerator;
- (NSEnumerator<V> *)objectEnumerator;
- (void)enumerateKeysAndObjectsUsingBlock:(void (^)(K key, V value,
                                                    BOOL *stop))block;
@end

@interface NSMutableDictionary<K, V> : NSDictionary <K, V>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity;
- (void)setObject:(V)value forKey:(K)key;
- (void)setObject:(V)value forKeyedSubscript:(K)key;
- (void)removeObjectForKey:(K)key;
- (void)removeObjectsForKeys:(NSArray<K> *)keys;
- (void)setDictionary:(NSDictionary<K, V> *)other;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)removeAllObjects;
- (void)addEntriesFromDictionary:(NSDictionary<K, V> *)other;
@end

#endif

#endif
