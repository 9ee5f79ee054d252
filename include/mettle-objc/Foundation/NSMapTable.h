// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSMapTable.h: dictionaries whose keys and values may be weak.
#ifndef METTLE_OBJC_FOUNDATION_NSMAPTABLE_H
#define METTLE_OBJC_FOUNDATION_NSMAPTABLE_H

#include <Foundation/NSDictionary.h>
#include <Foundation/NSPointerFunctions.h>

#ifdef __OBJC__

typedef NSUInteger NSMapTableOptions;
enum {
  NSMapTableStrongMemory = NSPointerFunctionsStrongMemory,
  NSMapTableWeakMemory = NSPointerFunctionsWeakMemory,
  NSMapTableCopyIn = NSPointerFunctionsCopyIn,
  NSMapTableObjectPointerPersonality =
      NSPointerFunctionsObjectPointerPersonality
};

@interface NSMapTable<K, V> : NSObject <NSCopying, NSFastEnumeration>
+ (NSMapTable<K, V> *)mapTableWithKeyOptions:(NSPointerFunctionsOptions)keys
                                valueOptions:(NSPointerFunctionsOptions)values;
+ (NSMapTable<K, V> *)strongToStrongObjectsMapTable;
+ (NSMapTable<K, V> *)weakToStrongObjectsMapTable;
+ (NSMapTable<K, V> *)strongToWeakObjectsMapTable;
+ (NSMapTable<K, V> *)weakToWeakObjectsMapTable;
- (instancetype)initWithKeyOptions:(NSPointerFunctionsOptions)keys
                      valueOptions:(NSPointerFunctionsOptions)values
                          capacity:(NSUInteger)capacity;
@property(readonly) NSUInteger count;
- (V)objectForKey:(K)key;
- (void)setObject:(V)value forKey:(K)key;
- (void)removeObjectForKey:(K)key;
- (void)removeAllObjects;
- (NSEnumerator<K> *)keyEnumerator;
- (NSEnumerator<V> *)objectEnumerator;
- (NSDictionary<K, V> *)dictionaryRepresentation;
@end

#endif

#endif
