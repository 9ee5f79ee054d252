// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strings.m: NSString: formats, searches, encodings, as a program for macOS has
// them.
#import <Foundation/Foundation.h>
#include "../check.h"
#define EQ(x, y) CHECK([(x) isEqualToString:(y)])
int main(void) {
  @autoreleasepool {
    EQ(([NSString stringWithFormat:@"%@ %d %5.2f %s %c %x %lu %lld %%", @"a",
                                   -3, 3.14159, "cs", 'z', 255, 7ul, -9ll]),
       @"a -3  3.14 cs z ff 7 -9 %");
    EQ(([NSString stringWithFormat:@"%5@|%-5@|%05d|%+d|%#x|%e|%g|%hhd|%zu|%p",
                                   @"ab", @"ab", 42, 5, 255, 1234.5, 0.0001,
                                   (char)300, (size_t)9, (void *)16]),
       @"   ab|ab   |00042|+5|0xff|1.234500e+03|0.0001|44|9|0x10");
    EQ(([NSString stringWithFormat:@"%2$@ %1$@", @"a", @"b"]), @"b a");
    EQ(([NSString stringWithFormat:@"%*d|%.*f", 5, 3, 2, 1.5]), @"    3|1.50");
    EQ(([NSString stringWithFormat:@"%@", nil]), @"(null)");
    EQ(([NSString
           stringWithFormat:@"%C%S", (unichar)0x20ac, (const unichar *)u"hi"]),
       @"€hi");
    EQ(([NSString
           stringWithFormat:@"%@ %@ %@ %@", @YES, @1.5, @'a', @(1ull << 40)]),
       @"1 1.5 97 1099511627776");
    EQ([@"Hello" stringByAppendingString:@" World"].uppercaseString,
       @"HELLO WORLD");
    EQ(@"hello world".capitalizedString, @"Hello World");
    EQ([@"  x " stringByTrimmingCharactersInSet:NSCharacterSet
                                                    .whitespaceCharacterSet],
       @"x");
    EQ([@"a-b-c" stringByReplacingOccurrencesOfString:@"-" withString:@"+"],
       @"a+b+c");
    EQ([@"abcabc" stringByReplacingOccurrencesOfString:@"B"
                                            withString:@"_"
                                               options:NSCaseInsensitiveSearch
                                                 range:NSMakeRange(0, 3)],
       @"a_cabc");
    EQ([@"abc" stringByReplacingCharactersInRange:NSMakeRange(1, 1)
                                       withString:@"XX"],
       @"aXXc");
    EQ([@"abc" stringByPaddingToLength:6 withString:@"-" startingAtIndex:0],
       @"abc---");
    CHECK([@"hello" rangeOfString:@"ll"].location == 2);
    CHECK([@"hello" rangeOfString:@"zz"].location == NSNotFound);
    CHECK([@"hello" rangeOfString:@"L"
                          options:NSBackwardsSearch | NSCaseInsensitiveSearch]
              .location == 3);
    CHECK([@"abc" compare:@"abd"] == NSOrderedAscending);
    CHECK([@"file10" compare:@"file9"
                     options:NSNumericSearch] == NSOrderedDescending);
    CHECK([@"ABC" caseInsensitiveCompare:@"abc"] == NSOrderedSame);
    CHECK([@"a" localizedCompare:@"b"] == NSOrderedAscending);
    CHECK([@"abc" localizedStandardContainsString:@"B"] &&
          [@"abc" localizedCaseInsensitiveContainsString:@"C"]);
    CHECK(@"42abc".intValue == 42 && @"3.5".doubleValue == 3.5 &&
          @"YES".boolValue && @"0x".intValue == 0 &&
          @"123456789012".longLongValue == 123456789012ll &&
          @"17".integerValue == 17 && @"2.5".floatValue == 2.5f);
    CHECK(@"été".length == 3 && strlen(@"été".UTF8String) == 5);
    CHECK([@"été" lengthOfBytesUsingEncoding:NSUTF8StringEncoding] == 5);
    CHECK(@"😀".length == 2);
    EQ(@"/a/b/c.txt".lastPathComponent, @"c.txt");
    EQ(@"/a/b/c.txt".pathExtension, @"txt");
    EQ(@"/a/b/c.txt".stringByDeletingPathExtension, @"/a/b/c");
    EQ([@"/a" stringByAppendingPathComponent:@"b"], @"/a/b");
    EQ(@"/a/../b".stringByStandardizingPath, @"/b");
    EQ([@"~" stringByExpandingTildeInPath], NSHomeDirectory());
    EQ([@"a" stringByAppendingPathExtension:@"m"], @"a.m");
    NSMutableString *m = [NSMutableString string];
    [m appendString:@"abc"];
    [m appendFormat:@"%d", 5];
    [m insertString:@"_" atIndex:0];
    [m deleteCharactersInRange:NSMakeRange(1, 1)];
    CHECK([m replaceOccurrencesOfString:@"c"
                             withString:@"CC"
                                options:0
                                  range:NSMakeRange(0, m.length)] == 1);
    EQ(m, @"_bCC5");
    [m setString:@"q"];
    EQ(m, @"q");
    NSMutableString *mc = [[NSMutableString alloc] initWithString:@"z"];
    EQ(mc, @"z");
    NSMutableString *cap = [[NSMutableString alloc] initWithCapacity:10];
    [cap appendString:@"k"];
    EQ(cap, @"k");
    CHECK([[@"a,b,,c" componentsSeparatedByString:@","] count] == 4);
    __block int lines = 0;
    [@"x\ny\nz" enumerateLinesUsingBlock:^(NSString *l, BOOL *s) {
      lines++;
    }];
    CHECK(lines == 3);
    unichar buf[3];
    [@"abc" getCharacters:buf range:NSMakeRange(0, 3)];
    CHECK(buf[2] == 'c');
    NSData *u16 = [@"ab" dataUsingEncoding:NSUTF16LittleEndianStringEncoding];
    CHECK(u16.length == 4);
    EQ([[NSString alloc] initWithData:u16
                             encoding:NSUTF16LittleEndianStringEncoding],
       @"ab");
    CHECK([[NSString alloc] initWithBytes:"\xff\xfe\xfd"
                                   length:3
                                 encoding:NSUTF8StringEncoding] == nil);
    EQ([[NSString alloc] initWithUTF8String:"x"], @"x");
    EQ([NSString stringWithCString:"y" encoding:NSASCIIStringEncoding], @"y");
    EQ([NSString stringWithString:@(1).stringValue], @"1");
    EQ(@(5).stringValue, @"5");
    EQ(@("cstr"), @"cstr");
    EQ(NSStringFromSelector(@selector(foo:bar:)), @"foo:bar:");
    EQ(NSStringFromClass([NSObject class]), @"NSObject");
    CHECK(NSSelectorFromString(@"length") == @selector(length));
    EQ(NSStringFromRange(NSMakeRange(1, 2)), @"{1, 2}");
    CHECK([@"abc" hasPrefix:@"ab"] && [@"abc" hasSuffix:@"bc"] &&
          [@"abc" characterAtIndex:1] == 'b');
    CHECK(@"abc".hash == [[NSMutableString stringWithString:@"abc"] hash]);
    EQ([@"a b" stringByAddingPercentEncodingWithAllowedCharacters:
                   NSCharacterSet.URLQueryAllowedCharacterSet],
       @"a%20b");
    EQ([@"a%20b" stringByRemovingPercentEncoding], @"a b");
    CHECK(
        [@"12ab" rangeOfCharacterFromSet:NSCharacterSet.decimalDigitCharacterSet
                                             .invertedSet]
            .location == 2);
  }
  return checks_end();
}
