// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// errors.m: NSError: Foundation's, a client's own, and Metal's, as a program
// for macOS has them.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../check.h"
static NSString *const MyDomain = @"com.example.my";
typedef NS_ERROR_ENUM(MyDomain, MyError){MyErrorOne = 1, MyErrorTwo};
static BOOL doit(int x, NSError *_Nullable *_Nullable error) {
  if (x) {
    if (error)
      *error =
          [NSError errorWithDomain:MyDomain
                              code:MyErrorTwo
                          userInfo:@{
                            NSLocalizedDescriptionKey : @"it broke",
                            NSLocalizedFailureReasonErrorKey : @"because",
                            NSUnderlyingErrorKey :
                                [NSError errorWithDomain:NSPOSIXErrorDomain
                                                    code:2
                                                userInfo:nil],
                            NSLocalizedRecoverySuggestionErrorKey : @"retry"
                          }];
    return NO;
  }
  return YES;
}
int main(void) {
  @autoreleasepool {
    NSError *e = nil;
    CHECK(doit(0, &e));
    CHECK(e == nil);
    CHECK(!doit(1, &e));
    CHECK([e.domain isEqualToString:MyDomain]);
    CHECK(e.code == 2);
    CHECK([e.localizedDescription isEqualToString:@"it broke"]);
    CHECK([e.localizedFailureReason isEqualToString:@"because"]);
    CHECK([e.localizedRecoverySuggestion isEqualToString:@"retry"]);
    NSError *u = e.userInfo[NSUnderlyingErrorKey];
    CHECK(u.code == 2 && [u.domain isEqual:NSPOSIXErrorDomain]);
    NSLog(@"%@", e);
    NSError *plain = [[NSError alloc] initWithDomain:NSCocoaErrorDomain
                                                code:NSFileNoSuchFileError
                                            userInfo:nil];
    CHECK(plain.code == 4);
    CHECK(plain.userInfo.count == 0);
    CHECK(plain.localizedDescription.length > 0);
    NSError *r = nil;
    NSString *s = [NSString stringWithContentsOfFile:@"/nonexistent/file"
                                            encoding:NSUTF8StringEncoding
                                               error:&r];
    CHECK(s == nil);
    CHECK(r != nil);
    CHECK([r.domain isEqualToString:NSCocoaErrorDomain]);
    CHECK(r.code == NSFileReadNoSuchFileError);
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    NSError *le = nil;
    id<MTLLibrary> l =
        [d newLibraryWithSource:@"kernel void f(device int *x) { y = 3; }"
                        options:nil
                          error:&le];
    CHECK(l == nil);
    CHECK([le.domain isEqualToString:MTLLibraryErrorDomain]);
    CHECK(le.code == MTLLibraryErrorCompileFailure);
    CHECK([le.localizedDescription containsString:@"y"]);
    // nil out error is fine
    CHECK([d newLibraryWithSource:@"!!" options:nil error:nil] == nil);
    CHECK([d newLibraryWithSource:@"!!" options:nil error:NULL] == nil);
    le = nil;
    l = [d newLibraryWithURL:[NSURL fileURLWithPath:@"/none.metallib"]
                       error:&le];
    CHECK(!l && le);
    CHECK(le.code == MTLLibraryErrorFileNotFound ||
          [le.domain isEqualToString:NSCocoaErrorDomain]);
    NSError *copy = [e copy];
    CHECK([copy isEqual:e]);
  }
  return checks_end();
}
