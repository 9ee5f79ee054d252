// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSCache.h: caches.
#ifndef METTLE_OBJC_FOUNDATION_NSCACHE_H
#define METTLE_OBJC_FOUNDATION_NSCACHE_H

#include <Foundation/NSSet.h>

#ifdef __OBJC__

// Forgets what came first, of more than countLimit. Costs are not counted.
@interface NSCache<K, V> : NSObject
@property(copy) NSString *name;
@property NSUInteger countLimit, totalCostLimit;
- (V)objectForKey:(K)key;
- (void)setObject:(V)object forKey:(K)key;
- (void)setObject:(V)object forKey:(K)key cost:(NSUInteger)cost;
- (void)removeObjectForKey:(K)key;
- (void)removeAllObjects;
@end

#endif

#endif
