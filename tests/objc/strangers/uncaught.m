// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// uncaught.m: what a program says of an exception that nobody catches, and the
// handler that hears of it first.
#import <Foundation/Foundation.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../check.h"

@interface Refusal : NSObject
@end
@implementation Refusal
@end

static void report(NSException *exception) {
  fprintf(stderr, "handler: %s\n", exception.name.UTF8String);
}

static void raise_range(void) {
  NSSetUncaughtExceptionHandler(report);
  (void)[@[] objectAtIndex:3];
}

static void send_unknown(void) {
  [(id)[Refusal new] performSelector:NSSelectorFromString(@"fly")];
}

static void throw_other(void) {
  @throw [Refusal new];
}

// Returns the stderr of a child that calls function, which must abort.
static NSString *last_words(void (*function)(void)) {
  int ends[2];
  CHECK(!pipe(ends));
  const pid_t child = fork();
  if (!child) {
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], 2);
    function();
    _exit(0);
  }
  close(ends[1]);
  NSMutableData *heard = [NSMutableData data];
  char bytes[512];
  for (ssize_t count; (count = read(ends[0], bytes, sizeof bytes)) > 0;) {
    [heard appendBytes:bytes length:(NSUInteger)count];
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  return [[NSString alloc] initWithData:heard encoding:NSUTF8StringEncoding];
}

int main(void) {
  @autoreleasepool {
    CHECK(NSGetUncaughtExceptionHandler() == NULL);
    NSString *range = last_words(raise_range);
    CHECK([range hasPrefix:@"handler: NSRangeException\n"]);
    CHECK(
        [range containsString:@"*** Terminating app due to uncaught exception "
                              @"'NSRangeException', reason: 'index 3"]);
    NSString *unknown = last_words(send_unknown);
    CHECK([unknown containsString:@"'NSInvalidArgumentException', reason: "
                                  @"'-[Refusal fly]: unrecognized selector"]);
    // Who sent it: this program, in which its own name is.
    CHECK([unknown containsString:@"it was sent from "] &&
          [unknown containsString:NSProcessInfo.processInfo.processName]);
    CHECK([last_words(throw_other) containsString:@"'Refusal'"]);
  }
  return checks_end();
}
