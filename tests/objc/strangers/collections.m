// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// collections.m: arrays, dictionaries, sets, caches, as a program for macOS has
// them.
#import <Foundation/Foundation.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    NSArray<NSNumber *> *a = @[ @3, @1, @2 ];
    CHECK(a[0].intValue == 3);
    CHECK([a.lastObject isEqual:@2]);
    NSMutableArray *m = [a mutableCopy];
    m[0] = @7;
    [m addObject:@9];
    m[4] = @10;
    [m insertObject:@0 atIndex:0];
    [m removeObjectAtIndex:1];
    [m removeLastObject];
    [m addObjectsFromArray:@[ @4, @5 ]];
    [m exchangeObjectAtIndex:0 withObjectAtIndex:1];
    [m replaceObjectAtIndex:0 withObject:@100];
    [m removeObject:@9];
    [m removeObjectsInArray:@[ @4 ]];
    CHECK([m isEqualToArray:(@[ @100, @0, @2, @5 ])]);
    [m sortUsingSelector:@selector(compare:)];
    CHECK([m.firstObject isEqual:@0]);
    [m sortUsingComparator:^NSComparisonResult(id x, id y) {
      return [y compare:x];
    }];
    CHECK([m[0] isEqual:@100]);
    NSArray *s = [a sortedArrayUsingSelector:@selector(compare:)];
    CHECK([[s componentsJoinedByString:@","] isEqual:@"1,2,3"]);
    CHECK([[[a reverseObjectEnumerator] allObjects]
        isEqualToArray:(@[ @2, @1, @3 ])]);
    NSEnumerator *en = [a objectEnumerator];
    id o;
    int t = 0;
    while ((o = [en nextObject])) t += [o intValue];
    CHECK(t == 6);
    __block int sum = 0;
    [a enumerateObjectsUsingBlock:^(NSNumber *n, NSUInteger i, BOOL *stop) {
      sum += n.intValue;
      if (i == 1) *stop = YES;
    }];
    CHECK(sum == 4);
    [a enumerateObjectsWithOptions:NSEnumerationReverse
                        usingBlock:^(NSNumber *n, NSUInteger i, BOOL *stop) {
                          sum = n.intValue;
                        }];
    CHECK(sum == 3);
    CHECK([a indexOfObjectPassingTest:^BOOL(NSNumber *n, NSUInteger i,
                                            BOOL *stop) {
            return n.intValue == 2;
          }] == 2);
    CHECK([a indexOfObject:@55] == NSNotFound);
    CHECK([[a valueForKey:@"stringValue"][0] isEqual:@"3"]);
    CHECK([[a valueForKeyPath:@"@sum.self"] intValue] == 6);
    [a makeObjectsPerformSelector:@selector(description)];
    CHECK([a objectsAtIndexes:[NSIndexSet
                                  indexSetWithIndexesInRange:NSMakeRange(1, 2)]]
              .count == 2);
    NSMutableIndexSet *is = [NSMutableIndexSet indexSet];
    [is addIndex:5];
    [is addIndex:2];
    CHECK(is.count == 2 && is.firstIndex == 2 && [is containsIndex:5]);
    NSDictionary<NSString *, NSNumber *> *d = @{@"one" : @1, @"two" : @2};
    CHECK([d[@"two"] intValue] == 2);
    CHECK(d[@"x"] == nil);
    int keys = 0;
    for (NSString *k in d) {
      keys += d[k].intValue;
    }
    CHECK(keys == 3);
    CHECK([[d.allKeys sortedArrayUsingSelector:@selector(compare:)]
        isEqual:(@[ @"one", @"two" ])]);
    CHECK([[d keysSortedByValueUsingSelector:@selector(compare:)][0]
        isEqual:@"one"]);
    CHECK([d allKeysForObject:@2].count == 1);
    NSMutableDictionary *md = [NSMutableDictionary dictionaryWithDictionary:d];
    md[@"three"] = @3;
    [md removeObjectForKey:@"one"];
    [md addEntriesFromDictionary:@{@"four" : @4}];
    md[@"two"] = nil;
    CHECK(md.count == 2);
    [md setValue:@5 forKey:@"five"];
    CHECK([[md valueForKey:@"five"] isEqual:@5]);
    [md removeObjectsForKeys:@[ @"five" ]];
    [md enumerateKeysAndObjectsUsingBlock:^(id k, id v, BOOL *stop) {
      CHECK([v intValue] >= 3);
    }];
    NSEnumerator *ke = md.keyEnumerator;
    int c = 0;
    while ([ke nextObject]) c++;
    CHECK(c == 2);
    CHECK([md.objectEnumerator allObjects].count == 2);
    CHECK(([[NSDictionary dictionaryWithObjectsAndKeys:@1, @"a", @2, @"b", nil]
               count] == 2));
    CHECK(([[NSDictionary dictionaryWithObject:@1
                                        forKey:@"a"] isEqualToDictionary:@{
      @"a" : @1
    }]));
    CHECK(([[NSDictionary dictionaryWithObjects:@[ @1 ]
                                        forKeys:@[ @"a" ]] count] == 1));
    NSSet *set = [NSSet setWithArray:@[ @1, @1, @2 ]];
    CHECK(set.count == 2 && [set containsObject:@1] &&
          ![set containsObject:@3]);
    NSMutableSet *ms = [NSMutableSet setWithObjects:@1, @5, nil];
    [ms unionSet:set];
    CHECK(ms.count == 3);
    [ms minusSet:[NSSet setWithObject:@5]];
    CHECK([ms isEqualToSet:set]);
    [ms intersectSet:[NSSet setWithObject:@1]];
    CHECK([[ms anyObject] isEqual:@1]);
    CHECK([[set setByAddingObject:@8] count] == 3);
    CHECK([[NSSet setWithObject:@1] isSubsetOfSet:set]);
    NSCache *cache = [[NSCache alloc] init];
    cache.countLimit = 10;
    [cache setObject:@1 forKey:@"x"];
    CHECK([[cache objectForKey:@"x"] isEqual:@1]);
    [cache removeObjectForKey:@"x"];
    CHECK(![cache objectForKey:@"x"]);
    CHECK([NSNull null] == [NSNull null]);
    NSArray *no_objects = @[];
    NSDictionary *no_pairs = @{};
    CHECK(no_objects.count == 0 && [no_objects isEqual:[NSArray array]]);
    CHECK(no_pairs.count == 0 && !no_pairs[@"x"]);
    CHECK([[no_objects arrayByAddingObject:@1] isEqual:@[ @1 ]]);
    CHECK([no_pairs.className hasSuffix:@"Dictionary"]);
    @try {
      (void)a[99];
      CHECK(0);
    } @catch (NSException *x) {
      CHECK([x.name isEqualToString:NSRangeException]);
    } @
    try {
      [m insertObject:(id _Nonnull)nil atIndex:0];
      CHECK(0);
    } @catch (NSException *x) {
      CHECK([x.name isEqualToString:NSInvalidArgumentException]);
    }
    CHECK(([@{@"a" : @[ @1, @2 ]}.description containsString:@"a"]));
    NSLog(@"%@ %@ %@", a, d, set);
  }
  return checks_end();
}
