// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arc.m: lifetimes under automatic reference counting, as a program for macOS
// has them.
#import <Foundation/Foundation.h>
#include "../check.h"
static int deallocs;
@interface Node : NSObject
@property(strong) Node *next;
@property(weak) Node *prev;
@property(unsafe_unretained) Node *raw;
@property(copy) void (^cb)(void);
@end
@implementation Node
- (void)dealloc {
  deallocs++;
}
@end
static Node *make(void) {
  return [Node new];
}
int main(void) {
  __weak Node *w;
  @autoreleasepool {
    Node *a = [Node new], *b = make();
    a.next = b;
    b.prev = a;
    w = b;
    CHECK(w == b);
    CHECK(b.prev == a);
  }
  CHECK(w == nil);
  CHECK(deallocs == 2);
  deallocs = 0;
  @autoreleasepool {
    Node *n = [Node new];
    __weak typeof(n) wn = n;
    n.cb = ^{
      __strong typeof(wn) sn = wn;
      if (sn) sn.next = nil;
    };
    n.cb();
  }
  CHECK(deallocs == 1);
  deallocs = 0;
  for (int i = 0; i < 100; i++) @autoreleasepool {
      NSMutableArray *arr = [NSMutableArray array];
      for (int j = 0; j < 10; j++) [arr addObject:[Node new]];
    }
  CHECK(deallocs == 1000);
  @autoreleasepool {
    void *p = (__bridge_retained void *)[Node new];
    deallocs = 0;
    {
      Node *back = (__bridge_transfer Node *)p;
      (void)back;
    }
    CHECK(deallocs == 1);
    CFTypeRef cf = CFBridgingRetain([Node new]);
    CFRelease(cf);
    CHECK(deallocs == 2);
  }
  @autoreleasepool {
    __block Node *cap = [Node new];
    void (^blk)(void) = ^{
      cap = nil;
    };
    deallocs = 0;
    blk();
    CHECK(deallocs == 1);
  }
  @autoreleasepool {
    Node *x = [Node new];
    @try {
      Node *inner = [Node new];
      (void)inner;
      @throw [NSException exceptionWithName:@"e" reason:nil userInfo:nil];
    } @catch (NSException *e) {
      (void)x;
    }
  }
  __weak Node *w2;
  {
    Node *t = [Node new];
    w2 = t;
    __weak Node *w3 = w2;
    CHECK(w3 == t);
    t = nil;
    CHECK(w3 == nil);
  }
  Node *__strong arrs[3] = {nil};
  arrs[0] = [Node new];
  arrs[0] = nil;
  NSMutableArray *m = [NSMutableArray new];
  @autoreleasepool {
    for (int i = 0; i < 3; i++) {
      __weak id wi = m;
      [m addObject:^{
        (void)wi;
      }];
    }
  }
  CHECK(m.count == 3);
  return checks_end();
}
