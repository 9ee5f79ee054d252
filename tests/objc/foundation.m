// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// foundation.m: strings, collections, numbers, errors, files, dispatch, dates,
// threads. What
// is expected follows from Apple's documentation.
#import <Foundation/Foundation.h>
#import <QuartzCore/QuartzCore.h>
#include <mach/mach_time.h>
#include <unistd.h>

#include "check.h"

#define SAME(value, text) CHECK([(value) isEqualToString:(text)])

static void strings(void) {
  SAME(([NSString stringWithFormat:@"%d %5.2f %@ %s|%-4ld|%x", -3, 2.5, @"x",
                                   "y", 7L, 255]),
       @"-3  2.50 x y|7   |ff");
  SAME(([NSString stringWithFormat:@"%@", @[ @1, @"b" ]]),
       @"(\n    1,\n    b\n)");
  CHECK([@"h\u00e9" length] == 2);
  CHECK([@"\U0001F600" length] == 2);
  CHECK([@"\U0001F600" characterAtIndex:1] == 0xde00);
  CHECK(!strcmp([@"h\u00e9" UTF8String], "h\xc3\xa9"));
  CHECK([@"abc" compare:@"abd"] == NSOrderedAscending);
  SAME([@"hello world" substringFromIndex:6], @"world");
  SAME([@"hello" substringWithRange:NSMakeRange(1, 3)], @"ell");
  CHECK([@"hello" rangeOfString:@"lo"].location == 3);
  CHECK([@"hello" rangeOfString:@"xx"].location == NSNotFound);
  CHECK(([[@"a,b,,c" componentsSeparatedByString:@","]
      isEqual:@[ @"a", @"b", @"", @"c" ]]));
  SAME([@"a.b.c" stringByReplacingOccurrencesOfString:@"." withString:@"::"],
       @"a::b::c");
  SAME([@"/usr/lib/" stringByAppendingPathComponent:@"x.y"], @"/usr/lib/x.y");
  SAME([@"/usr/lib/x.metal" lastPathComponent], @"x.metal");
  SAME([@"/usr/lib/x.metal" pathExtension], @"metal");
  SAME([@"/usr/lib/x.metal" stringByDeletingLastPathComponent], @"/usr/lib");
  SAME([@"x.metal" stringByDeletingPathExtension], @"x");
  SAME([@"/a/./b/../c" stringByStandardizingPath], @"/a/c");
  NSMutableString *text = [NSMutableString stringWithString:@"one"];
  NSString *before = [text copy];
  [text appendFormat:@" %d", 2];
  SAME(text, @"one 2");
  SAME(before, @"one");
  CHECK([@"12" intValue] == 12 && [@"-2.5" doubleValue] == -2.5);
  CHECK([@"x" hash] == [[NSString stringWithUTF8String:"x"] hash]);
  NSString *latin = [[NSString alloc] initWithBytes:"\xe9"
                                             length:1
                                           encoding:NSISOLatin1StringEncoding];
  SAME(latin, @"\u00e9");
  BOOL raised = NO;
  @try {
    [@"abc" substringFromIndex:4];
  } @catch (NSException *exception) {
    raised = [exception.name isEqual:NSRangeException];
  }
  CHECK(raised);
}

static void collections(void) {
  NSMutableArray *list = [NSMutableArray array];
  for (int i = 0; i < 100; ++i) {
    [list addObject:@(i)];
  }
  long sum = 0;
  for (NSNumber *each in list) {
    sum += each.integerValue;
  }
  CHECK(sum == 4950);
  [list removeObject:@50];
  CHECK(list.count == 99 && [list[50] isEqual:@51]);
  [list insertObject:@"first" atIndex:0];
  CHECK([list.firstObject isEqual:@"first"]);
  list[0] = @"changed";
  CHECK([list indexOfObject:@"changed"] == 0);
  NSArray *sorted = [@[ @3, @1, @2 ]
      sortedArrayUsingComparator:^NSComparisonResult(NSNumber *a, NSNumber *b) {
        return [a compare:b];
      }];
  CHECK(([sorted isEqual:@[ @1, @2, @3 ]]));
  NSMutableDictionary *table = [NSMutableDictionary dictionary];
  for (int i = 0; i < 1000; ++i) {
    table[[NSString stringWithFormat:@"key %d", i]] = @(i);
  }
  for (int i = 0; i < 1000; i += 2) {
    [table removeObjectForKey:[NSString stringWithFormat:@"key %d", i]];
  }
  CHECK(table.count == 500);
  CHECK([table[@"key 999"] intValue] == 999 && table[@"key 998"] == nil);
  table[@"key 1"] = nil;
  CHECK(table.count == 499);
  CHECK(([@{@"a" : @1} isEqual:[NSDictionary dictionaryWithObject:@1
                                                           forKey:@"a"]]));
  CHECK([@1 isEqual:@1.0] && [@1 hash] == [@1.0 hash]);
  CHECK(strcmp([@(2.5f) objCType], "f") == 0 && [@YES boolValue]);
  CHECK([@(18446744073709551615ull) unsignedLongLongValue] == UINT64_MAX);
  BOOL raised = NO;
  @try {
    for (id each in list) {
      [list addObject:each];
    }
  } @catch (NSException *exception) {
    raised = YES;
  }
  CHECK(raised);
}

static void sets(void) {
  NSMutableSet *set = [NSMutableSet setWithArray:@[ @1, @"a", @1.0, @2 ]];
  CHECK(set.count == 3 && [set containsObject:@1]);
  NSObject *plain = [[NSObject alloc] init];  // cannot be copied
  [set addObject:plain];
  CHECK([set member:plain] == plain && set.count == 4);
  [set removeObject:@"a"];
  [set removeObject:@"absent"];
  CHECK(set.count == 3 && ![set containsObject:@"a"]);
  [set removeObject:plain];
  RELEASE(plain);
  long sum = 0;
  for (NSNumber *each in set) {
    sum += each.integerValue;
  }
  CHECK(sum == 3);
  CHECK(([set isEqual:[NSSet setWithObjects:@2, @1, nil]]));
  [set unionSet:[NSSet setWithObjects:@3, @4, nil]];
  [set minusSet:[NSSet setWithObject:@1]];
  CHECK(([set isEqualToSet:[NSSet setWithArray:@[ @2, @3, @4 ]]]));
  [set intersectSet:[NSSet setWithObjects:@4, @9, nil]];
  SAME(([NSString stringWithFormat:@"%@", set]), @"{(\n    4\n)}");
  CHECK(([set isSubsetOfSet:[NSSet setWithArray:@[ @4, @5 ]]]));
  CHECK(![set intersectsSet:[NSSet setWithObject:@5]]);
  BOOL raised = NO;
  @try {
    [set addObject:(id _Nonnull)nil];
  } @catch (NSException *exception) {
    raised = [exception.name isEqual:NSInvalidArgumentException];
  }
  CHECK(raised);
}

static void scanning(void) {
  NSScanner *scanner =
      [NSScanner scannerWithString:@"  #include \"caf\u00e9.h\" -12 2.5e1 ff"];
  NSString *name = nil;
  CHECK(![scanner scanString:@"include" intoString:NULL]);
  CHECK([scanner scanString:@"#" intoString:NULL]);
  CHECK([scanner scanString:@"INCLUDE" intoString:NULL]);  // in any case
  CHECK([scanner scanString:@"\"" intoString:NULL]);
  CHECK([scanner scanUpToString:@"\"" intoString:&name]);
  SAME(name, @"caf\u00e9.h");
  CHECK(scanner.scanLocation == 18);
  CHECK([scanner scanString:@"\"" intoString:NULL]);
  int number = 0;
  CHECK([scanner scanInt:&number] && number == -12);
  double real = 0;
  CHECK(![scanner scanString:@"x" intoString:NULL]);
  CHECK([scanner scanDouble:&real] && real == 25.0);
  CHECK(![scanner scanInt:NULL] && !scanner.isAtEnd);
  unsigned hex = 0;
  CHECK([scanner scanHexInt:&hex] && hex == 255 && scanner.isAtEnd);
  scanner = [NSScanner scannerWithString:@"ab12 cd"];
  CHECK([scanner scanCharactersFromSet:[NSCharacterSet letterCharacterSet]
                            intoString:&name]);
  SAME(name, @"ab");
  CHECK([scanner
      scanUpToCharactersFromSet:[NSCharacterSet whitespaceCharacterSet]
                     intoString:&name]);
  SAME(name, @"12");
  SAME([@" \t x y \n"
      stringByTrimmingCharactersInSet:[NSCharacterSet whitespaceCharacterSet]],
       @"x y \n");
  SAME([@"..x.." stringByTrimmingCharactersInSet:
                    [NSCharacterSet characterSetWithCharactersInString:@"."]],
       @"x");
  CHECK(([[@"a1b2" componentsSeparatedByCharactersInSet:
                       [NSCharacterSet decimalDigitCharacterSet]]
      isEqual:@[ @"a", @"b", @"" ]]));
  CHECK([@"ab 1" rangeOfCharacterFromSet:[[NSCharacterSet letterCharacterSet]
                                             invertedSet]]
            .location == 2);
}

static void errors_and_files(void) {
  NSError *error = nil;
  NSString *text = [NSString stringWithContentsOfFile:@"/does/not/exist"
                                             encoding:NSUTF8StringEncoding
                                                error:&error];
  CHECK(text == nil && error.code == NSFileReadNoSuchFileError);
  CHECK([error.domain isEqual:NSCocoaErrorDomain]);
  CHECK([error.underlyingErrors.firstObject code] == 2);
  error = [NSError errorWithDomain:@"here"
                              code:7
                          userInfo:@{NSLocalizedDescriptionKey : @"why"}];
  SAME(error.localizedDescription, @"why");
  NSString *path =
      [NSString stringWithFormat:@"/tmp/mettle-objc-%d.txt", getpid()];
  CHECK([@"content" writeToFile:path
                     atomically:YES
                       encoding:NSUTF8StringEncoding
                          error:NULL]);
  SAME([NSString stringWithContentsOfFile:path
                                 encoding:NSUTF8StringEncoding
                                    error:NULL],
       @"content");
  CHECK([[[NSFileManager defaultManager] attributesOfItemAtPath:path error:NULL]
            [NSFileSize] intValue] == 7);
  CHECK([[NSFileManager defaultManager] removeItemAtPath:path error:NULL]);
  CHECK([NSProcessInfo processInfo].arguments.count == 1);
  SAME([NSURL fileURLWithPath:@"/a/b"].absoluteString, @"file:///a/b");
}

static void dispatch(void) {
  dispatch_queue_t serial = dispatch_queue_create("serial", NULL);
  __block long order = 0;
  for (int i = 1; i <= 9; ++i) {
    dispatch_async(serial, ^{
      order = order * 10 + i;
    });
  }
  dispatch_sync(serial, ^{
    CHECK(order == 123456789);
  });
  dispatch_group_t group = dispatch_group_create();
  __block _Atomic int count = 0;
  for (int i = 0; i < 50; ++i) {
    dispatch_group_async(group, dispatch_get_global_queue(0, 0), ^{
      ++count;
    });
  }
  CHECK(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0 && count == 50);
  dispatch_apply(1000, dispatch_get_global_queue(0, 0), ^(size_t i) {
    count += (int)(i & 1);
  });
  CHECK(count == 550);
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  CHECK(dispatch_semaphore_wait(semaphore,
                                dispatch_time(DISPATCH_TIME_NOW, 1000000)) != 0);
  dispatch_async(serial, ^{
    dispatch_semaphore_signal(semaphore);
  });
  CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER) == 0);
  static dispatch_once_t once;
  __block int times = 0;
  for (int i = 0; i < 3; ++i) {
    dispatch_once(&once, ^{
      ++times;
    });
  }
  CHECK(times == 1);
  BOOL caught = NO;
  @try {
    dispatch_sync(serial, ^{
      @throw @"through";
    });
  } @catch (id thrown) {
    caught = [thrown isEqual:@"through"];
  }
  CHECK(caught);
  __block int after = 0;
  dispatch_sync(serial, ^{
    after = 1;
  });
  CHECK(after == 1);
}

static void dates(void) {
  NSDate *start = [NSDate dateWithTimeIntervalSince1970:86400];
  CHECK([start.description isEqual:@"1970-01-02 00:00:00 +0000"]);
  CHECK(start.timeIntervalSinceReferenceDate == 86400 - 978307200.0);
  NSDate *later = [start dateByAddingTimeInterval:1.5];
  CHECK([later timeIntervalSinceDate:start] == 1.5);
  CHECK([start compare:later] == NSOrderedAscending);
  CHECK([start laterDate:later] == later && [later earlierDate:start] == start);
  CHECK([later isEqual:[NSDate dateWithTimeIntervalSince1970:86401.5]]);
  CHECK(![later isEqual:@"later"]);
  const double seconds = CFAbsoluteTimeGetCurrent();
  CHECK(fabs([NSDate date].timeIntervalSinceReferenceDate - seconds) < 60);
  CHECK(fabs(time(NULL) - seconds - NSTimeIntervalSince1970) < 60);
  CHECK([[NSDate distantFuture] timeIntervalSinceNow] > 1e9);
  const double before = CACurrentMediaTime();
  [NSThread sleepForTimeInterval:0.002];
  CHECK(CACurrentMediaTime() - before >= 0.002);
  mach_timebase_info_data_t base;
  CHECK(mach_timebase_info(&base) == 0 && base.numer == base.denom);
}

@interface Runner : NSThread {
 @public
  dispatch_semaphore_t done;
  int value;
}
- (void)add:(NSNumber *)number;
@end
@implementation Runner
- (void)main {
  value += 1;
  dispatch_semaphore_signal(done);
}
- (void)add:(NSNumber *)number {
  value += number.intValue;
  dispatch_semaphore_signal(done);
}
@end

static void threads(void) {
  CHECK([NSThread isMainThread] && [NSThread currentThread].isMainThread);
  CHECK([NSThread currentThread] == [NSThread mainThread]);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  Runner *runner = [Runner new];
  runner->done = done;
  [runner setName:@"runner"];
  CHECK(!runner.executing && [runner.name isEqual:@"runner"]);
  [runner start];
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  CHECK(runner->value == 1);
  [NSThread detachNewThreadSelector:@selector(add:)
                           toTarget:runner
                         withObject:@41];
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  CHECK(runner->value == 42);
  __block BOOL is_main = YES, is_same = NO;
  [NSThread detachNewThreadWithBlock:^{
    is_main = [NSThread isMainThread];
    NSThread *own = [NSThread currentThread];
    own.threadDictionary[@"key"] = @"value";
    is_same = [[NSThread currentThread].threadDictionary[@"key"]
        isEqual:@"value"];
    dispatch_semaphore_signal(done);
  }];
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  CHECK(!is_main && is_same);
  [runner cancel];
  CHECK(runner.cancelled);
  BOOL caught = NO;
  @try {
    [runner start];
  } @catch (NSException *error) {
    caught = [error.name isEqual:NSInvalidArgumentException];
  }
  CHECK(caught);
#if !__has_feature(objc_arc)
  [runner release];
#endif
}

int main(void) {
  @autoreleasepool {
    dates();
    threads();
    strings();
    collections();
    sets();
    scanning();
  sets();
  scanning();
    errors_and_files();
    dispatch();
  }
  return checks_end();
}
