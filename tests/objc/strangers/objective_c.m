// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// objective_c.m: classes, categories, exceptions, the runtime's functions, as a
// program for macOS has them.
#import <Foundation/Foundation.h>
#include "../check.h"
@protocol Shape <NSObject>
- (double)area;
@optional
- (NSString *)title;
@end
@interface Base : NSObject <Shape>
@property(nonatomic, readonly) double side;
- (instancetype)initWithSide:(double)s NS_DESIGNATED_INITIALIZER;
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)square:(double)s;
@property(class, nonatomic) int made;
@end
static int made_;
@interface Base ()
@property(nonatomic, readwrite) double side;
@end
@implementation Base
+ (int)made {
  return made_;
}
+ (void)setMade:(int)m {
  made_ = m;
}
- (instancetype)initWithSide:(double)s {
  if ((self = [super init])) {
    _side = s;
    Base.made++;
  }
  return self;
}
+ (instancetype)square:(double)s {
  return [[self alloc] initWithSide:s];
}
- (double)area {
  return _side * _side;
}
@end
@interface Derived : Base
@property(nonatomic, weak) id delegate;
@property(nonatomic, copy) int (^block)(int);
@property(atomic, strong) NSArray<NSString *> *tags;
@end
@implementation Derived
- (double)area {
  return [super area] * 2;
}
- (void)setDelegate:(id)d {
  _delegate = d;
}
@end
@interface NSString (Extra)
- (NSString *)reversed;
@property(readonly) NSUInteger vowels;
@end
@implementation NSString (Extra)
- (NSString *)reversed {
  NSMutableString *m = [NSMutableString stringWithCapacity:self.length];
  for (NSInteger i = (NSInteger)self.length - 1; i >= 0; i--)
    [m appendFormat:@"%C", [self characterAtIndex:(NSUInteger)i]];
  return m;
}
- (NSUInteger)vowels {
  return 2;
}
@end
@interface Proxy : NSObject
@property(strong) id target;
@end
@implementation Proxy
- (id)forwardingTargetForSelector:(SEL)s {
  return self.target;
}
- (BOOL)respondsToSelector:(SEL)s {
  return [super respondsToSelector:s] || [self.target respondsToSelector:s];
}
@end
@interface Dyn : NSObject
@end
@interface Dyn (Later)
- (int)later:(int)x;
@end
static int dynLater(id self, SEL _cmd, int x) {
  return x + 1;
}
@implementation Dyn
+ (BOOL)resolveInstanceMethod:(SEL)s {
  if (s == @selector(later:)) {
    class_addMethod(self, s, (IMP)dynLater, "i@:i");
    return YES;
  }
  return [super resolveInstanceMethod:s];
}
@end
@interface Copyable : NSObject <NSCopying>
@property int v;
@end
@implementation Copyable
- (id)copyWithZone:(NSZone *)z {
  Copyable *c = [[[self class] allocWithZone:z] init];
  c.v = self.v;
  return c;
}
- (BOOL)isEqual:(id)o {
  return [o isKindOfClass:[Copyable class]] && ((Copyable *)o).v == self.v;
}
- (NSUInteger)hash {
  return (NSUInteger)self.v;
}
@end
int main(void) {
  @autoreleasepool {
    Base *b = [Base square:3];
    Derived *d = [Derived square:3];
    CHECK(b.area == 9 && d.area == 18 && Base.made == 2);
    CHECK([d isKindOfClass:Base.class] && ![d isMemberOfClass:Base.class] &&
          [d conformsToProtocol:@protocol(Shape)]);
    id<Shape> s = d;
    CHECK(![s respondsToSelector:@selector(title)]);
    CHECK(d.superclass == Base.class);
    d.block = ^(int x) {
      return x * (int)b.area;
    };
    CHECK(d.block(2) == 18);
    d.tags = @[ @"x" ];
    CHECK([d.tags.firstObject isEqual:@"x"]);
    CHECK([[@"abc" reversed] isEqual:@"cba"] && @"".vowels == 2);
    Proxy *p = [Proxy new];
    p.target = @"hello";
    CHECK([(id)p length] == 5);
    CHECK([[Dyn new] later:4] == 5);
    Copyable *c = [Copyable new];
    c.v = 9;
    NSMutableDictionary *m = [NSMutableDictionary dictionary];
    m[c] = @"nine";
    Copyable *k = [c copy];
    CHECK([m[k] isEqual:@"nine"]);
    int r = 0;
    @try {
      @throw [NSException exceptionWithName:@"Mine"
                                     reason:@"why"
                                   userInfo:@{
                                     @"a" : @1
                                   }];
    } @catch (NSException *e) {
      r = [e.name isEqual:@"Mine"] && [e.reason isEqual:@"why"] &&
                  [e.userInfo[@"a"] intValue] == 1
              ? 1
              : 2;
    } @finally {
      r += 10;
    }
    CHECK(r == 11);
    @try {
      @try {
        [NSException raise:NSGenericException format:@"n %d", 5];
      } @finally {
        r = 1;
      }
    } @catch (id e) {
      CHECK([[e reason] isEqual:@"n 5"]);
      r++;
    }
    CHECK(r == 2);
    @try {
      [(id)b performSelector:NSSelectorFromString(@"zork") withObject:nil];
      CHECK(0);
    } @catch (NSException *e) {
      CHECK([e.name isEqual:NSInvalidArgumentException]);
      CHECK([e.reason containsString:@"zork"]);
      CHECK(e.callStackSymbols != nil);
    } @
    try {
      NSAssert(1 == 2, @"math %d", 3);
      CHECK(0);
    } @catch (NSException *e) {
      CHECK([e.name isEqual:NSInternalInconsistencyException]);
    }
    NSObject *lock = [NSObject new];
    __block int count = 0;
    dispatch_apply(8, dispatch_get_global_queue(0, 0), ^(size_t i) {
      for (int j = 0; j < 100; j++) @synchronized(lock) {
          count++;
        }
    });
    CHECK(count == 800);
    objc_setAssociatedObject(b, &r, @"assoc",
                             OBJC_ASSOCIATION_RETAIN_NONATOMIC);
    CHECK([objc_getAssociatedObject(b, &r) isEqual:@"assoc"]);
    Method m1 = class_getInstanceMethod(Base.class, @selector(area)),
           m2 = class_getInstanceMethod(Derived.class, @selector(area));
    CHECK(m1 != m2);
    unsigned n;
    objc_property_t *props = class_copyPropertyList(Derived.class, &n);
    CHECK(n == 3);
    CHECK(property_getName(props[0]) != NULL);
    CHECK(property_getAttributes(props[0]) != NULL);
    free(props);
    Ivar *iv = class_copyIvarList(Base.class, &n);
    CHECK(n == 1);
    free(iv);
    Protocol *__unsafe_unretained *pl = class_copyProtocolList(Base.class, &n);
    CHECK(n == 1);
    free(pl);
    CHECK(!strcmp(@encode(NSRange), "{_NSRange=QQ}"));
    CHECK(object_getClass(b) == Base.class &&
          !strcmp(object_getClassName(b), "Base"));
  }
  return checks_end();
}
