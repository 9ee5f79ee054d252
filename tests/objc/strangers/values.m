// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// values.m: NSData, JSON, dates, threads, locks, geometry, as a program for
// macOS has them.
#import <Foundation/Foundation.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    NSMutableData *d = [NSMutableData dataWithLength:8];
    ((uint8_t *)d.mutableBytes)[0] = 0xff;
    [d appendBytes:"xyz" length:3];
    [d appendData:[NSData dataWithBytes:"q" length:1]];
    CHECK(d.length == 12);
    d.length = 9;
    [d replaceBytesInRange:NSMakeRange(0, 1) withBytes:"A"];
    CHECK(((const char *)d.bytes)[0] == 'A' &&
          ((const char *)d.bytes)[8] == 'x');
    [d resetBytesInRange:NSMakeRange(8, 1)];
    [d increaseLengthBy:3];
    CHECK(d.length == 12);
    NSData *sub = [d subdataWithRange:NSMakeRange(0, 2)];
    CHECK(sub.length == 2);
    uint8_t buf[4];
    [d getBytes:buf length:4];
    [d getBytes:buf range:NSMakeRange(0, 4)];
    CHECK(buf[0] == 'A');
    CHECK([[[@"hello" dataUsingEncoding:NSUTF8StringEncoding]
        base64EncodedStringWithOptions:0] isEqual:@"aGVsbG8="]);
    NSData *b64 = [[NSData alloc] initWithBase64EncodedString:@"aGVsbG8="
                                                      options:0];
    CHECK(b64.length == 5);
    NSData *nc = [NSData dataWithBytesNoCopy:malloc(10)
                                      length:10
                                freeWhenDone:YES];
    CHECK(nc.length == 10);
    CHECK([[NSData data] length] == 0);
    CHECK([d rangeOfData:[NSData dataWithBytes:"A" length:1]
                 options:0
                   range:NSMakeRange(0, d.length)]
              .location == 0);
    __block size_t total = 0;
    [d enumerateByteRangesUsingBlock:^(const void *b, NSRange r, BOOL *s) {
      total += r.length;
    }];
    CHECK(total == 12);
    NSValue *v = [NSValue valueWithRange:NSMakeRange(3, 4)];
    CHECK(v.rangeValue.length == 4);
    struct P {
      int x, y;
    } p = {1, 2}, p2;
    NSValue *pv = [NSValue valueWithBytes:&p objCType:@encode(struct P)];
    [pv getValue:&p2];
    CHECK(p2.y == 2);
    CHECK([[NSValue valueWithNonretainedObject:d] nonretainedObjectValue] == d);
    NSError *e = nil;
    NSData *j = [NSJSONSerialization dataWithJSONObject:@{
      @"a" : @[ @1, @2.5, @"x", NSNull.null, @YES ]
    }
                                                options:NSJSONWritingSortedKeys
                                                  error:&e];
    CHECK([[[NSString alloc] initWithData:j encoding:NSUTF8StringEncoding]
        isEqual:@"{\"a\":[1,2.5,\"x\",null,true]}"]);
    id back = [NSJSONSerialization
        JSONObjectWithData:[@"{\"k\": [1, {\"z\": \"\\u00e9\\n\"}], \"b\": "
                            @"false, \"n\": -1.5e3}" dataUsingEncoding:4]
                   options:NSJSONReadingMutableContainers
                     error:&e];
    CHECK([back[@"k"][1][@"z"] isEqual:@"é\n"]);
    CHECK([back[@"n"] doubleValue] == -1500);
    CHECK(back[@"b"] == (id) @NO || [back[@"b"] isEqual:@NO]);
    CHECK([NSJSONSerialization JSONObjectWithData:[@"{bad" dataUsingEncoding:4]
                                          options:0
                                            error:&e] == nil &&
          e);
    NSDate *t0 = [NSDate date];
    [NSThread sleepForTimeInterval:0.001];
    CHECK(-[t0 timeIntervalSinceNow] > 0.0009);
    CFAbsoluteTime a = CFAbsoluteTimeGetCurrent();
    CHECK(a > 0);
    CHECK(fabs(a - [NSDate timeIntervalSinceReferenceDate]) < 5);
    NSThread *th = [[NSThread alloc] initWithBlock:^{
      @autoreleasepool {
        NSThread.currentThread.threadDictionary[@"k"] = @1;
      }
    }];
    th.name = @"worker";
    [th start];
    while (!th.isFinished) usleep(100);
    NSConditionLock *cl = [[NSConditionLock alloc] initWithCondition:0];
    [NSThread detachNewThreadWithBlock:^{
      [cl lock];
      [cl unlockWithCondition:1];
    }];
    [cl lockWhenCondition:1];
    [cl unlock];
    NSLock *l = [NSLock new];
    l.name = @"l";
    CHECK([l tryLock]);
    CHECK(![l lockBeforeDate:[NSDate dateWithTimeIntervalSinceNow:0.001]]);
    [l unlock];
    NSCondition *c = [NSCondition new];
    [c lock];
    CHECK(![c waitUntilDate:[NSDate dateWithTimeIntervalSinceNow:0.001]]);
    [c unlock];
    CHECK([@1 compare:@2] == NSOrderedAscending && [@1 isEqualToNumber:@1.0] &&
          [@1 isEqual:@1.0] && [@1 hash] == [@1.0 hash]);
    CHECK(!strcmp([@1 objCType], "i") && !strcmp([@1.5 objCType], "d") &&
          !strcmp([@YES objCType], "c"));
    CHECK(NSMaxRange(
              NSIntersectionRange(NSMakeRange(0, 5), NSMakeRange(3, 5))) == 5 &&
          NSLocationInRange(3, NSMakeRange(3, 1)) &&
          NSEqualRanges(NSUnionRange(NSMakeRange(0, 1), NSMakeRange(5, 1)),
                        NSMakeRange(0, 6)));
    CHECK(MAX(1, 2) == 2 && MIN(1, 2) == 1 && ABS(-3) == 3);
    NSPoint pt = NSMakePoint(1, 2);
    CGSize sz = CGSizeMake(3, 4);
    CGRect r = CGRectMake(0, 0, 1, 1);
    CHECK(pt.y == 2 && sz.width == 3 && r.size.height == 1);
  }
  return checks_end();
}
