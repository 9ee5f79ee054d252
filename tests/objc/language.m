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

int main(void) {
  @autoreleasepool {
    classes();
    built_at_run_time();
    blocks();
    exceptions();
#if __has_feature(objc_arc)
    weak();
#endif
  }
  return checks_end();
}
