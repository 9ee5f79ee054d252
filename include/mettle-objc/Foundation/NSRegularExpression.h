// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSRegularExpression.h: regular expressions of ICU's syntax: groups by number
// and name, lookarounds, atomic groups, flags, sets with && and --, classes by
// POSIX' names and by \p of letters, digits, punctuation, space and their like.
// Not there: \X, \N{...}, scripts and blocks, word boundaries by Unicode's
// rules.
#ifndef METTLE_OBJC_FOUNDATION_NSREGULAREXPRESSION_H
#define METTLE_OBJC_FOUNDATION_NSREGULAREXPRESSION_H

#include <Foundation/NSUserDefaults.h>

#ifdef __OBJC__

typedef NS_OPTIONS(NSUInteger, NSRegularExpressionOptions) {
  NSRegularExpressionCaseInsensitive = 1 << 0,
  NSRegularExpressionAllowCommentsAndWhitespace = 1 << 1,
  NSRegularExpressionIgnoreMetacharacters = 1 << 2,
  NSRegularExpressionDotMatchesLineSeparators = 1 << 3,
  NSRegularExpressionAnchorsMatchLines = 1 << 4,
  NSRegularExpressionUseUnixLineSeparators = 1 << 5,
  NSRegularExpressionUseUnicodeWordBoundaries = 1 << 6,
};
typedef NS_OPTIONS(NSUInteger, NSMatchingOptions) {
  NSMatchingReportProgress = 1 << 0,
  NSMatchingReportCompletion = 1 << 1,
  NSMatchingAnchored = 1 << 2,
  NSMatchingWithTransparentBounds = 1 << 3,
  NSMatchingWithoutAnchoringBounds = 1 << 4,
};
typedef NS_OPTIONS(NSUInteger, NSMatchingFlags) {
  NSMatchingProgress = 1 << 0,
  NSMatchingCompleted = 1 << 1,
  NSMatchingHitEnd = 1 << 2,
  NSMatchingRequiredEnd = 1 << 3,
  NSMatchingInternalError = 1 << 4,
};
typedef NS_OPTIONS(uint64_t, NSTextCheckingType) {
  NSTextCheckingTypeRegularExpression = 1 << 10,
};

@class NSRegularExpression;
@interface NSTextCheckingResult : NSObject
@property(readonly) NSTextCheckingType resultType;
@property(readonly) NSRange range;
@property(readonly) NSUInteger numberOfRanges;
@property(readonly, copy) NSRegularExpression *regularExpression;
- (NSRange)rangeAtIndex:(NSUInteger)index;
- (NSRange)rangeWithName:(NSString *)name;
@end

// A search that takes over 50 million steps finds nothing.
@interface NSRegularExpression : NSObject
+ (NSRegularExpression *)
    regularExpressionWithPattern:(NSString *)pattern
                         options:(NSRegularExpressionOptions)options
                           error:(NSError **)error;
- (instancetype)initWithPattern:(NSString *)pattern
                        options:(NSRegularExpressionOptions)options
                          error:(NSError **)error;
@property(readonly, copy) NSString *pattern;
@property(readonly) NSRegularExpressionOptions options;
@property(readonly) NSUInteger numberOfCaptureGroups;
+ (NSString *)escapedPatternForString:(NSString *)string;
+ (NSString *)escapedTemplateForString:(NSString *)string;
- (NSArray<NSTextCheckingResult *> *)matchesInString:(NSString *)string
                                             options:(NSMatchingOptions)options
                                               range:(NSRange)range;
- (NSTextCheckingResult *)firstMatchInString:(NSString *)string
                                     options:(NSMatchingOptions)options
                                       range:(NSRange)range;
- (NSRange)rangeOfFirstMatchInString:(NSString *)string
                             options:(NSMatchingOptions)options
                               range:(NSRange)range;
- (NSUInteger)numberOfMatchesInString:(NSString *)string
                              options:(NSMatchingOptions)options
                                range:(NSRange)range;
- (void)enumerateMatchesInString:(NSString *)string
                         options:(NSMatchingOptions)options
                           range:(NSRange)range
                      usingBlock:(void (^)(NSTextCheckingResult *result,
                                           NSMatchingFlags flags,
                                           BOOL *stop))block;
- (NSString *)stringByReplacingMatchesInString:(NSString *)string
                                       options:(NSMatchingOptions)options
                                         range:(NSRange)range
                                  withTemplate:(NSString *)text;
- (NSUInteger)replaceMatchesInString:(NSMutableString *)string
                             options:(NSMatchingOptions)options
                               range:(NSRange)range
                        withTemplate:(NSString *)text;
- (NSString *)replacementStringForResult:(NSTextCheckingResult *)result
                                inString:(NSString *)string
                                  offset:(NSInteger)offset
                                template:(NSString *)text;
@end

#endif

#endif
