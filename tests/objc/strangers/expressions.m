// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expressions.m: regular expressions. What each matches follows from ICU's
// description of its syntax.
#import <Foundation/Foundation.h>

#include "../check.h"

static NSRegularExpression *compiled(NSString *pattern,
                                     NSRegularExpressionOptions options) {
  NSError *error = nil;
  NSRegularExpression *made =
      [NSRegularExpression regularExpressionWithPattern:pattern
                                                options:options
                                                  error:&error];
  if (!made) {
    printf("%s\n", error.localizedDescription.UTF8String);
  }
  return made;
}

// All matches, between bars.
static NSString *found(NSString *pattern, NSString *text,
                       NSRegularExpressionOptions options) {
  NSMutableString *all = [NSMutableString string];
  for (NSTextCheckingResult *each in [compiled(pattern, options)
           matchesInString:text
                   options:0
                     range:NSMakeRange(0, text.length)]) {
    [all appendFormat:@"%@|", [text substringWithRange:each.range]];
  }
  return all;
}

#define FINDS(pattern, text, matches) \
  CHECK([found(pattern, text, 0) isEqual:matches])

static void syntax(void) {
  FINDS(@"a+b?", @"aab a b aaa", @"aab|a|aaa|");
  FINDS(@"<.+?>", @"<a><bc>", @"<a>|<bc>|");
  FINDS(@"(a|ab)(c|bcd)(d*)", @"abcd", @"abcd|");
  FINDS(@"\\d{2,3}", @"1 12 123 1234", @"12|123|123|");
  FINDS(@"x{0}y", @"xy", @"y|");
  FINDS(@"[a-c&&[^b]]+", @"abcca", @"a|cca|");
  FINDS(@"[\\w--\\d]+", @"ab1c", @"ab|c|");
  FINDS(@"[^\\s,]+", @"a, b,c", @"a|b|c|");
  FINDS(@"[]x]+", @"a]x[", @"]x|");
  FINDS(@"[[:upper:]_]+", @"aB_c", @"B_|");
  FINDS(@"\\p{Lu}\\p{L}*", @"caf\u00e9 \u00c9t\u00e9", @"\u00c9t\u00e9|");
  FINDS(@"\\bfoo\\b", @"foo food foo", @"foo|foo|");
  FINDS(@"(?<=\\$)\\d+(?!%)", @"$5 6 $77%", @"5|7|");
  FINDS(@"(?<!a)b", @"ab b", @"b|");
  FINDS(@"(\\w)\\1", @"aabbcd", @"aa|bb|");
  FINDS(@"(?<first>\\w)-\\k<first>", @"a-a a-b", @"a-a|");
  FINDS(@"(?>a+)ab", @"aaab", @"");
  FINDS(@"a++b", @"aaab", @"aaab|");
  FINDS(@"(?i)ABC(?-i)d", @"abcd abcD", @"abcd|");
  FINDS(@"a(?i:b)c", @"aBc aBC", @"aBc|");
  FINDS(@"\\Qa.b\\E", @"axb a.b", @"a.b|");
  FINDS(@"\\x41\\u0042\\x{1F600}", @"AB\U0001F600", @"AB\U0001F600|");
  FINDS(@"^.", @"a\nb", @"a|");
  FINDS(@"(?m)^.$", @"a\nb\n", @"a|b|");
  FINDS(@"a.c", @"a\nc abc", @"abc|");
  FINDS(@"(?s)a.c", @"a\nc", @"a\nc|");
  FINDS(@"b$", @"ab\n", @"b|");
  FINDS(@"b\\z", @"ab\n", @"");
  FINDS(@"x*", @"axb", @"|x|||");
  FINDS(@"(a*)*b", @"aab", @"aab|");
  FINDS(@"(?x) a  b # both\n", @"ab", @"ab|");
  FINDS(@"\\R", @"a\r\nb\n", @"\r\n|\n|");
  FINDS(@".", @"\U0001F600x", @"\U0001F600|x|");
  CHECK([found(@"a.b", @"axb a.b", NSRegularExpressionIgnoreMetacharacters)
      isEqual:@"a.b|"]);
  CHECK([found(@"\u00c9T", @"\u00e9t", NSRegularExpressionCaseInsensitive)
      isEqual:@"\u00e9t|"]);
  FINDS(@"([0-9]+)(?:\\.([0-9]+))?", @"1.5 2", @"1.5|2|");
  NSMutableString *many = [NSMutableString string];
  for (int i = 0; i < 20000; ++i) {
    [many appendString:@"ab"];
  }
  CHECK(found(@"[ab]*", many, 0).length == 40002);  // all, and the empty end
}

static void errors(void) {
  NSString *wrong[] = {@"(a",    @"a)",    @"[a",      @"*a",   @"a{2,1}",
                       @"\\",    @"[z-a]", @"\\p{No}", @"(?<n", @"\\k<n>",
                       @"(?qa)", @"\\y",   @"a{,2}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    NSError *error = nil;
    CHECK(![NSRegularExpression regularExpressionWithPattern:wrong[i]
                                                     options:0
                                                       error:&error]);
    CHECK(error.code == 2048 &&
          [error.localizedDescription containsString:wrong[i]]);
  }
  // Takes more steps than there are: no match, and not for ever.
  CHECK(found(@"(a|a)*c", @"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 0).length == 0);
}

static void matches(void) {
  NSString *text = @"kernel void add(1), kernel void mul(2)";
  NSRegularExpression *expression =
      compiled(@"kernel\\s+void\\s+(?<name>\\w+)\\((\\d)?(x)?\\)", 0);
  CHECK(expression.numberOfCaptureGroups == 3);
  const NSRange whole = NSMakeRange(0, text.length);
  NSTextCheckingResult *first = [expression firstMatchInString:text
                                                       options:0
                                                         range:whole];
  CHECK(first.numberOfRanges == 4 && first.range.length == 18);
  CHECK(
      [[text substringWithRange:[first rangeWithName:@"name"]] isEqual:@"add"]);
  CHECK(NSEqualRanges([first rangeAtIndex:2], NSMakeRange(16, 1)));
  CHECK([first rangeAtIndex:3].location == NSNotFound);
  CHECK([expression numberOfMatchesInString:text options:0 range:whole] == 2);
  CHECK([[expression stringByReplacingMatchesInString:text
                                              options:0
                                                range:whole
                                         withTemplate:@"$1=\\$$2$10"]
      isEqual:@"add=$1add0, mul=$2mul0"]);
  NSMutableString *changed = [text mutableCopy];
  CHECK([expression replaceMatchesInString:changed
                                   options:0
                                     range:NSMakeRange(5, text.length - 5)
                              withTemplate:@"-"] == 1);
  CHECK([changed isEqual:@"kernel void add(1), -"]);
  __block int count = 0;
  [expression enumerateMatchesInString:text
                               options:0
                                 range:whole
                            usingBlock:^(NSTextCheckingResult *result,
                                         NSMatchingFlags flags, BOOL *stop) {
                              *stop = ++count == 1;
                            }];
  CHECK(count == 1);
  NSRegularExpression *edge = compiled(@"^b", 0);
  CHECK([edge rangeOfFirstMatchInString:@"abc"
                                options:0
                                  range:NSMakeRange(1, 2)]
            .location == 1);
  CHECK([edge rangeOfFirstMatchInString:@"abc"
                                options:NSMatchingWithoutAnchoringBounds
                                  range:NSMakeRange(1, 2)]
            .location == NSNotFound);
  CHECK([@"x = 12;" rangeOfString:@"[0-9]+"
                          options:NSRegularExpressionSearch]
            .location == 4);
  CHECK([[@"a1b22"
      stringByReplacingOccurrencesOfString:@"([0-9])+"
                                withString:@"<$1>"
                                   options:NSRegularExpressionSearch
                                     range:NSMakeRange(0, 5)]
      isEqual:@"a<1>b<2>"]);
  CHECK(
      [[NSRegularExpression escapedPatternForString:@"a.b"] isEqual:@"a\\.b"]);
}

int main(void) {
  @autoreleasepool {
    syntax();
    errors();
    matches();
  }
  return checks_end();
}
