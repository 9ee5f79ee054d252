// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// language.m: the contract of compilers and the runtime: classes, protocols,
// categories, properties, blocks, weak references, exceptions.
#import <Foundation/Foundation.h>
#import <objc/message.h>

#include "check.h"

// --- Classes -----------------------------------------------------------------

static int loaded, initialized, deallocated;

@protocol Shape <NSObject>
- (int)corners;
@optional
- (int)holes;
@end

typedef struct {
  long a, b, c;
} triple;

@interface Square : NSObject <Shape> {
  int _side;
}
@property int side;
@property(copy) NSString *name;
@property(nonatomic, strong) id tag;
- (triple)sides;
- (double)area;
- (float)half;
@end

@implementation Square
@synthesize side = _side;
+ (void)load {
  ++loaded;
}
+ (void)initialize {
  if (self == [Square class]) {
    ++initialized;
  }
}
- (int)corners {
  return 4;
}
- (triple)sides {
  return (triple){_side, 2 * _side, 3 * _side};
}
- (double)area {
  return (double)_side * _side;
}
- (float)half {
  return (float)_side / 2;
}
- (void)dealloc {
  ++deallocated;
#if !__has_feature(objc_arc)
  [_name release];
  [_tag release];
#endif
  SUPER_DEALLOC;
}
@end

@interface Rounded : Square {
  double _radius;
}
@end
@implementation Rounded
- (int)corners {
  return [super corners] - 4;
}
- (triple)sides {
  triple all = [super sides];
  all.c = -1;
  return all;
}
@end

@interface NSString (Doubled)
- (NSString *)doubled;
@end
@implementation NSString (Doubled)
- (NSString *)doubled {
  return [self stringByAppendingString:self];
}
@end

static void classes(void) {
  CHECK(loaded == 1);
  CHECK(initialized == 0);
  Rounded *shape = [[Rounded alloc] init];
  CHECK(initialized == 1);
  shape.side = 5;
  CHECK(shape.corners == 0);
  CHECK(shape.sides.a == 5 && shape.sides.b == 10 && shape.sides.c == -1);
  CHECK(shape.area == 25.0);
  CHECK(shape.half == 2.5f);
  shape.name = [NSMutableString stringWithString:@"round"];
  CHECK([shape.name isEqualToString:@"round"]);
  CHECK([[@"ab" doubled] isEqualToString:@"abab"]);
  CHECK([shape conformsToProtocol:@protocol(Shape)]);
  CHECK(![shape conformsToProtocol:@protocol(NSCopying)]);
  CHECK([shape respondsToSelector:@selector(corners)]);
  CHECK(![shape respondsToSelector:@selector(holes)]);
  CHECK([shape isKindOfClass:[Square class]]);
  CHECK(![shape isMemberOfClass:[Square class]]);
  CHECK([Rounded superclass] == [Square class]);
  RELEASE(shape);
  CHECK(deallocated == 1);
  Square *nothing = nil;
  CHECK(nothing.corners == 0 && nothing.area == 0.0);
  CHECK(nothing.sides.b == 0);
}

static int three(id self, SEL _cmd) {
  return 3;
}

static void built_at_run_time(void) {
  Class made = objc_allocateClassPair([Square class], "Made", 0);
  CHECK(made != Nil);
  CHECK(class_addMethod(made, @selector(corners), (IMP)three, "i16@0:8"));
  objc_registerClassPair(made);
  Square *object = [[made alloc] init];
  CHECK([object isKindOfClass:[Square class]]);
  CHECK(object.corners == 3);
  CHECK(objc_getClass("Made") == made);
  Method half = class_getInstanceMethod([Square class], @selector(half));
  CHECK(half != NULL && !strcmp(sel_getName(method_getName(half)), "half"));
  // A cached method is forgotten when it changes.
  class_replaceMethod(made, @selector(corners),
                      class_getMethodImplementation([Square class],
                                                    @selector(corners)),
                      "i16@0:8");
  CHECK(object.corners == 4);
  RELEASE(object);
}

// --- Blocks and weak references ----------------------------------------------

static void blocks(void) {
  __block int sum = 0;
  int step = 3;
  void (^add)(int) = ^(int count) {
    sum += count * step;
  };
  add(1);
  void (^kept)(int) = [add copy];
  kept(2);
  add(3);
  CHECK(sum == 18);
  RELEASE(kept);
  int (^constant)(void) = ^{
    return 7;
  };
  CHECK(constant() == 7);
}

#if __has_feature(objc_arc)
static void weak(void) {
  __weak Square *seen;
  @autoreleasepool {
    Square *square = [Square new];
    seen = square;
    CHECK(seen != nil);
  }
  CHECK(seen == nil);
}
#endif

// --- Exceptions --------------------------------------------------------------

static int unwound;

static void raises(void) {
  @try {
    [NSException raise:NSRangeException format:@"%d is %@", 9, @"too much"];
  } @finally {
    ++unwound;
  }
}

static void exceptions(void) {
  NSString *reason = nil;
  @try {
    raises();
  } @catch (NSException *exception) {
    reason = exception.reason;
  }
  CHECK([reason isEqualToString:@"9 is too much"]);
  CHECK(unwound == 1);
  BOOL caught = NO;
  @try {
    [(id)@"text" corners];
  } @catch (NSException *exception) {
    caught = [exception.name isEqual:NSInvalidArgumentException];
  }
  CHECK(caught);
  @try {
    @try {
      @throw @"a string";
    } @catch (NSException *exception) {
      CHECK(NO);
    }
  } @catch (id other) {
    CHECK([other isEqual:@"a string"]);
  }
  int inside = 0;
  @synchronized(reason) {
    @synchronized(reason) {
      inside = 1;
    }
  }
  CHECK(inside == 1);
}

// --- Messages as objects --------------------------------------------------------

typedef struct {
  double x, y, z;
} point;
typedef struct {
  float a, b;
} pair;
typedef struct {
  char kind;
  double value;
} mixed;
typedef struct {
  char name[20];
} words;

@interface Adder : NSObject
- (triple)triple:(int)a plus:(double)b;
- (point)scaled:(point)by with:(pair)pair mixed:(mixed)mixed;
- (pair)halves:(float)of;
- (mixed)mixed:(mixed)of;
- (long)sum:(long)a
          b:(long)b
          c:(char)c
          d:(short)d
          e:(long)e
          f:(words)f
          g:(double)g;
- (double)nine:(double)a
             b:(double)b
             c:(double)c
             d:(double)d
             e:(double)e
             f:(double)f
             g:(double)g
             h:(double)h
             i:(double)i;
- (NSString *)joined:(NSString *)a to:(NSString *)b;
@end

@implementation Adder
- (triple)triple:(int)a plus:(double)b {
  return (triple){a, (long)b, a + (long)b};
}
- (point)scaled:(point)by with:(pair)pair mixed:(mixed)mixed {
  return (point){by.x * pair.a, by.y * pair.b, by.z * mixed.value + mixed.kind};
}
- (pair)halves:(float)of {
  return (pair){of / 2, of / 4};
}
- (mixed)mixed:(mixed)of {
  return (mixed){(char)(of.kind + 1), of.value * 2};
}
- (long)sum:(long)a
          b:(long)b
          c:(char)c
          d:(short)d
          e:(long)e
          f:(words)f
          g:(double)g {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * e + f.name[19] + (long)g;
}
- (double)nine:(double)a
             b:(double)b
             c:(double)c
             d:(double)d
             e:(double)e
             f:(double)f
             g:(double)g
             h:(double)h
             i:(double)i {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
- (NSString *)joined:(NSString *)a to:(NSString *)b {
  return [NSString stringWithFormat:@"%@-%@", a, b];
}
@end

// Stands for an object, counts what it is sent, and hands it on.
@interface Stand : NSProxy {
 @public
  id _target;
  int _count;
}
@end
@implementation Stand
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector {
  return [_target methodSignatureForSelector:selector];
}
- (void)forwardInvocation:(NSInvocation *)invocation {
  ++_count;
  [invocation invokeWithTarget:_target];
}
#if !__has_feature(objc_arc)
- (void)dealloc {
  [_target release];
  [super dealloc];
}
#endif
@end

static void check_adder(Adder *adder) {
  const triple three = [adder triple:3 plus:4.5];
  CHECK(three.a == 3 && three.b == 4 && three.c == 7);
  const point scaled = [adder scaled:(point){1, 2, 3}
                                with:(pair){10, 20}
                               mixed:(mixed){1, 2.5}];
  CHECK(scaled.x == 10 && scaled.y == 40 && scaled.z == 8.5);
  const pair halves = [adder halves:8];
  CHECK(halves.a == 4 && halves.b == 2);
  const mixed twice = [adder mixed:(mixed){4, 1.25}];
  CHECK(twice.kind == 5 && twice.value == 2.5);
  words last = {{0}};
  last.name[19] = 7;
  CHECK([adder sum:1 b:2 c:3 d:4 e:5 f:last g:600000] == 654328);
  CHECK([adder nine:1 b:2 c:3 d:4 e:5 f:6 g:7 h:8 i:9] == 285);
  CHECK([[adder joined:@"a" to:@"b"] isEqual:@"a-b"]);
}

static void messages(void) {
  Adder *adder = [Adder new];
  check_adder(adder);
  Stand *stand = [Stand alloc];
  stand->_target = adder;
  check_adder((Adder *)stand);
  CHECK(stand->_count == 7);
  CHECK([stand isProxy] && [stand isKindOfClass:[Adder class]]);
  CHECK([stand respondsToSelector:@selector(halves:)] && stand->_count == 9);
  BOOL caught = NO;
  @try {
    [(id)stand corners];
  } @catch (NSException *exception) {
    caught = [exception.name isEqual:NSInvalidArgumentException];
  }
  CHECK(caught);

  NSMethodSignature *types =
      [adder methodSignatureForSelector:@selector(triple:plus:)];
  CHECK(types.numberOfArguments == 4 && types.methodReturnLength == 24);
  CHECK(*[types getArgumentTypeAtIndex:3] == 'd');
  NSInvocation *call = [NSInvocation invocationWithMethodSignature:types];
  call.target = adder;
  call.selector = @selector(triple:plus:);
  int a = 20;
  double b = 2;
  [call setArgument:&a atIndex:2];
  [call setArgument:&b atIndex:3];
  [call invoke];
  triple three = {0, 0, 0};
  [call getReturnValue:&three];
  CHECK(three.c == 22);
  CHECK(![Adder instanceMethodSignatureForSelector:@selector(corners)]);
  types = [NSMethodSignature signatureWithObjCTypes:"v@:{a=ci[2s]^{b}}@?"];
  CHECK(types.numberOfArguments == 4 && types.methodReturnLength == 0);

  call = [NSInvocation
      invocationWithMethodSignature:[Adder instanceMethodSignatureForSelector:
                                               @selector(joined:to:)]];
  [call setSelector:@selector(joined:to:)];
  @autoreleasepool {
    NSString *left = [NSString stringWithFormat:@"%d", 1], *right = @"2";
    [call setArgument:(void *)&left atIndex:2];
    [call setArgument:(void *)&right atIndex:3];
    [call retainArguments];
  }
  [call invokeWithTarget:adder];
  __unsafe_unretained NSString *joined = nil;
  [call getReturnValue:&joined];
  CHECK([joined isEqual:@"1-2"] && call.argumentsRetained);
#if !__has_feature(objc_arc)
  [stand release];
#endif
}

int main(void) {
  @autoreleasepool {
    classes();
    built_at_run_time();
    blocks();
    exceptions();
    messages();
#if __has_feature(objc_arc)
    weak();
#endif
  }
  return checks_end();
}
