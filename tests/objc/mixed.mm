// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mixed.mm: Objective-C++: exceptions of both languages through frames of both,
// and C++ members of objects.
#import <Foundation/Foundation.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "check.h"

static int alive;

struct counted {
  counted() { ++alive; }
  ~counted() { --alive; }
  std::string text = "made";
};

@interface Holder : NSObject {
 @public
  counted member;
}
@end
@implementation Holder
@end

static void members() {
  Holder *holder = [[Holder alloc] init];
  CHECK(alive == 1 && holder->member.text == "made");
  RELEASE(holder);
  CHECK(alive == 0);
}

static void exceptions() {
  bool caught = false;
  try {
    counted local;
    [NSException raise:NSGenericException format:@"of Objective-C"];
  } catch (...) {
    caught = true;
  }
  CHECK(caught && alive == 0);
  std::string what;
  try {
    @try {
      throw std::runtime_error("of C++");
    } @finally {
      what = "finally ";
    }
  } catch (const std::exception &exception) {
    what += exception.what();
  }
  CHECK(what == "finally of C++");
  NSString *reason = nil;
  @try {
    counted local;
    std::function<void()> raise = [] {
      @throw [NSException exceptionWithName:@"x" reason:@"deep" userInfo:nil];
    };
    raise();
  } @catch (NSException *exception) {
    reason = exception.reason;
  }
  CHECK([reason isEqual:@"deep"] && alive == 0);
  bool by_type = false;
  try {
    dispatch_sync(dispatch_queue_create("q", NULL), ^{
      throw 42;
    });
  } catch (int value) {
    by_type = value == 42;
  }
  CHECK(by_type);
}

int main() {
  @autoreleasepool {
    members();
    exceptions();
  }
  return checks_end();
}
