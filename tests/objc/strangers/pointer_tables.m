// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_tables.m: pipelines by key in tables that hold them weakly, and how
// collections print what is in them.
#import <Metal/Metal.h>
#include "../check.h"

#define SAME(one, other) CHECK([(one) isEqual:(other)])

static id<MTLComputePipelineState> pipeline(id<MTLDevice> device,
                                            NSString *name) {
  NSString *source =
      [NSString stringWithFormat:@"kernel void %@(device int *x) {}", name];
  id<MTLLibrary> library = [device newLibraryWithSource:source
                                                options:nil
                                                  error:NULL];
  return [device
      newComputePipelineStateWithFunction:[library newFunctionWithName:name]
                                    error:NULL];
}

static void maps(id<MTLDevice> device) {
  NSMapTable<NSString *, id<MTLComputePipelineState>> *cache =
      [NSMapTable strongToWeakObjectsMapTable];
  id<MTLComputePipelineState> kept = nil;
  @autoreleasepool {
    for (NSString *name in @[ @"one", @"two", @"three" ]) {
      id<MTLComputePipelineState> made = pipeline(device, name);
      [cache setObject:made forKey:name];
      CHECK([cache objectForKey:[name mutableCopy]] == made);
      kept = [name isEqual:@"two"] ? made : kept;
    }
  }
  CHECK(![cache objectForKey:@"one"] && ![cache objectForKey:@"three"]);
  CHECK([cache objectForKey:@"two"] == kept);
  SAME(cache.objectEnumerator.allObjects, @[ kept ]);
  CHECK(cache.dictionaryRepresentation.count == 1);
  [cache removeObjectForKey:@"two"];
  CHECK(![cache objectForKey:@"two"]);

  // by the pointer: equal strings are two keys
  NSMapTable *exact = [[NSMapTable alloc]
      initWithKeyOptions:NSPointerFunctionsStrongMemory |
                         NSPointerFunctionsObjectPointerPersonality
            valueOptions:NSPointerFunctionsStrongMemory
                capacity:8];
  NSString *one = [@"k" mutableCopy], *other = [@"k" mutableCopy];
  [exact setObject:@1 forKey:one];
  [exact setObject:@2 forKey:other];
  SAME([exact objectForKey:one], @1);
  [exact setObject:@3 forKey:one];
  NSMapTable *copied = [exact copy];
  [exact removeAllObjects];
  CHECK(exact.count == 0 && copied.count == 2);
  SAME([copied objectForKey:one], @3);

  NSMapTable *many = [NSMapTable weakToStrongObjectsMapTable];
  NSMutableArray *keys = [NSMutableArray array];
  for (int i = 0; i < 1000; ++i) {
    @autoreleasepool {
      NSObject *key = [NSObject new];
      [many setObject:@(i) forKey:key];
      if (i % 100 == 0) {
        [keys addObject:key];
      }
    }
  }
  CHECK(many.count == 10);
  int sum = 0;
  for (NSObject *key in many) {
    sum += [[many objectForKey:key] intValue];
  }
  CHECK(sum == 4500);
  BOOL raised = NO;
  @try {
    [many setObject:@1 forKey:(id _Nonnull)nil];
  } @catch (NSException *exception) {
    raised = [exception.name isEqual:NSInvalidArgumentException];
  }
  CHECK(raised);
}

static void sets(id<MTLDevice> device) {
  NSHashTable<id<MTLBuffer>> *live = [NSHashTable weakObjectsHashTable];
  id<MTLBuffer> kept = [device newBufferWithLength:16 options:0];
  @autoreleasepool {
    id<MTLBuffer> gone = [device newBufferWithLength:16 options:0];
    [live addObject:kept];
    [live addObject:gone];
    [live addObject:gone];
    CHECK(live.count == 2 && [live containsObject:gone]);
  }
  CHECK(live.allObjects.count == 1 && live.anyObject == kept);
  NSHashTable *strong = [NSHashTable hashTableWithOptions:0];
  [strong addObject:@"a"];
  [strong addObject:@"b"];
  NSHashTable *less = [strong copy];
  [less removeObject:@"b"];
  [strong minusHashTable:less];
  SAME(strong.allObjects, @[ @"b" ]);
  [strong unionHashTable:less];
  SAME(strong.setRepresentation, ([NSSet setWithObjects:@"a", @"b", nil]));

  NSPointerArray *pointers = [NSPointerArray weakObjectsPointerArray];
  @autoreleasepool {
    NSObject *gone = [NSObject new];
    [pointers addPointer:(__bridge void *)gone];
    [pointers addPointer:NULL];
    [pointers addPointer:(__bridge void *)kept];
    CHECK([pointers pointerAtIndex:0] == (__bridge void *)gone);
  }
  CHECK(pointers.count == 3 && ![pointers pointerAtIndex:0]);
  [pointers compact];
  CHECK(pointers.count == 1);
  [pointers replacePointerAtIndex:0 withPointer:NULL];
  CHECK(pointers.allObjects.count == 0 && pointers.count == 1);
}

static void descriptions(void) {
  SAME((@[ @1, @"a b", @2.5, @[], @[ @"x" ] ]).description,
       @"(\n    1,\n    \"a b\",\n    \"2.5\",\n        (\n    ),\n"
       @"        (\n        x\n    )\n)");
  SAME((
           @{@"k" : @{@"n" : NSNull.null},
             @"a" : @"\u00fc\"",
             @"" : @1})
           .description,
       @"{\n    \"\" = 1;\n    a = \"\\U00fc\\\"\";\n    k =     {\n"
       @"        n = \"<null>\";\n    };\n}");
  SAME([NSSet setWithObject:@"one"].description, @"{(\n    one\n)}");
  SAME(([NSString stringWithFormat:@"%p %@", NULL, nil]), @"0x0 (null)");
}

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    maps(device);
    sets(device);
    descriptions();
  }
  return checks_end();
}
