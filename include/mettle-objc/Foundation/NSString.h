// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSString.h: strings.
#ifndef METTLE_OBJC_FOUNDATION_NSSTRING_H
#define METTLE_OBJC_FOUNDATION_NSSTRING_H

#include <Foundation/NSEnumerator.h>

#ifdef __OBJC__

typedef NSUInteger NSStringEncoding;
enum {
  NSASCIIStringEncoding = 1,
  NSUTF8StringEncoding = 4,
  NSISOLatin1StringEncoding = 5,
  NSUnicodeStringEncoding = 10,
  NSUTF16StringEncoding = 10,
  NSUTF16LittleEndianStringEncoding = 0x94000100
};

typedef NS_OPTIONS(NSUInteger, NSStringCompareOptions) {
  NSCaseInsensitiveSearch = 1,
  NSLiteralSearch = 2,
  NSBackwardsSearch = 4,
  NSAnchoredSearch = 8,
  NSNumericSearch = 64,
  NSRegularExpressionSearch = 1024
};

@interface NSString : NSObject <NSCopying, NSMutableCopying>
@property(readonly) NSUInteger length;
- (unichar)characterAtIndex:(NSUInteger)index;
@end

@interface NSString (NSStringExtensionMethods)
+ (instancetype)string;
+ (instancetype)stringWithString:(NSString *)string;
+ (instancetype)stringWithUTF8String:(const char *)utf8;
+ (instancetype)stringWithCString:(const char *)bytes
                         encoding:(NSStringEncoding)encoding;
+ (instancetype)stringWithCharacters:(const unichar *)units
                              length:(NSUInteger)length;
+ (instancetype)stringWithFormat:(NSString *)format,
                                 ... NS_FORMAT_FUNCTION(1, 2);
+ (instancetype)stringWithContentsOfFile:(NSString *)path
                                encoding:(NSStringEncoding)encoding
                                   error:(NSError **)error;
+ (instancetype)stringWithContentsOfURL:(NSURL *)url
                               encoding:(NSStringEncoding)encoding
                                  error:(NSError **)error;
- (instancetype)initWithContentsOfFile:(NSString *)path
                              encoding:(NSStringEncoding)encoding
                                 error:(NSError **)error;
- (BOOL)writeToURL:(NSURL *)url
        atomically:(BOOL)atomically
          encoding:(NSStringEncoding)encoding
             error:(NSError **)error;
+ (NSString *)pathWithComponents:(NSArray *)components;
+ (NSStringEncoding)defaultCStringEncoding;
- (instancetype)initWithString:(NSString *)string;
- (instancetype)initWithUTF8String:(const char *)utf8;
- (instancetype)initWithCString:(const char *)bytes
                       encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytes:(const void *)bytes
                       length:(NSUInteger)length
                     encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)length
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)frees;
- (instancetype)initWithCharacters:(const unichar *)units
                            length:(NSUInteger)length;
- (instancetype)initWithData:(NSData *)data encoding:(NSStringEncoding)encoding;
- (instancetype)initWithFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
- (instancetype)initWithFormat:(NSString *)format arguments:(va_list)arguments;
@property(readonly) const char *UTF8String
    __attribute__((objc_returns_inner_pointer));
@property(readonly) int intValue;
@property(readonly) NSInteger integerValue;
@property(readonly) long long longLongValue;
@property(readonly) float floatValue;
@property(readonly) double doubleValue;
@property(readonly) BOOL boolValue;
@property(readonly, copy) NSString *lowercaseString;
@property(readonly, copy) NSString *uppercaseString;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly, copy) NSString *pathExtension;
@property(readonly, copy) NSString *stringByDeletingLastPathComponent;
@property(readonly, copy) NSString *stringByDeletingPathExtension;
@property(readonly, copy) NSString *stringByStandardizingPath;
@property(readonly, copy) NSArray *pathComponents;
@property(readonly, getter=isAbsolutePath) BOOL absolutePath;
@property(readonly) const char *fileSystemRepresentation
    __attribute__((objc_returns_inner_pointer));
- (BOOL)isEqualToString:(NSString *)other;
- (NSComparisonResult)compare:(NSString *)other;
- (NSComparisonResult)caseInsensitiveCompare:(NSString *)other;
- (BOOL)hasPrefix:(NSString *)prefix;
- (BOOL)hasSuffix:(NSString *)suffix;
- (BOOL)containsString:(NSString *)other;
- (NSRange)rangeOfString:(NSString *)other;
- (NSString *)substringToIndex:(NSUInteger)end;
- (NSString *)substringFromIndex:(NSUInteger)first;
- (NSString *)substringWithRange:(NSRange)range;
- (NSString *)stringByAppendingString:(NSString *)other;
- (NSString *)stringByAppendingFormat:(NSString *)format,
                                      ... NS_FORMAT_FUNCTION(1, 2);
- (NSString *)stringByAppendingPathComponent:(NSString *)part;
- (NSString *)stringByAppendingPathExtension:(NSString *)extension;
- (NSString *)stringByReplacingOccurrencesOfString:(NSString *)wanted
                                        withString:(NSString *)other;
- (NSArray *)componentsSeparatedByString:(NSString *)separator;
- (NSArray *)componentsSeparatedByCharactersInSet:(NSCharacterSet *)set;
- (NSString *)stringByTrimmingCharactersInSet:(NSCharacterSet *)set;
- (NSRange)rangeOfCharacterFromSet:(NSCharacterSet *)set;
- (NSRange)rangeOfString:(NSString *)other
                 options:(NSStringCompareOptions)options;
- (NSRange)rangeOfString:(NSString *)other
                 options:(NSStringCompareOptions)options
                   range:(NSRange)range;
- (NSRange)rangeOfString:(NSString *)other
                 options:(NSStringCompareOptions)options
                   range:(NSRange)range
                  locale:(id)locale;
- (NSComparisonResult)compare:(NSString *)other
                      options:(NSStringCompareOptions)options;
- (NSComparisonResult)compare:(NSString *)other
                      options:(NSStringCompareOptions)options
                        range:(NSRange)range;
- (NSComparisonResult)localizedCompare:(NSString *)other;
- (NSComparisonResult)localizedCaseInsensitiveCompare:(NSString *)other;
- (NSComparisonResult)localizedStandardCompare:(NSString *)other;
- (BOOL)localizedCaseInsensitiveContainsString:(NSString *)other;
- (BOOL)localizedStandardContainsString:(NSString *)other;
- (NSString *)commonPrefixWithString:(NSString *)other
                             options:(NSStringCompareOptions)options;
- (NSString *)stringByReplacingCharactersInRange:(NSRange)range
                                      withString:(NSString *)other;
- (NSString *)stringByReplacingOccurrencesOfString:(NSString *)wanted
                                        withString:(NSString *)other
                                           options:
                                               (NSStringCompareOptions)options
                                             range:(NSRange)range;
- (NSString *)stringByPaddingToLength:(NSUInteger)length
                           withString:(NSString *)pad
                      startingAtIndex:(NSUInteger)index;
@property(readonly, copy) NSString *capitalizedString;
@property(readonly, copy) NSString *stringByExpandingTildeInPath;
@property(readonly, copy) NSString *stringByAbbreviatingWithTildeInPath;
@property(readonly, copy) NSString *stringByResolvingSymlinksInPath;
@property(readonly, copy) NSString *stringByRemovingPercentEncoding;
- (NSString *)stringByAddingPercentEncodingWithAllowedCharacters:
    (NSCharacterSet *)allowed;
- (void)getCharacters:(unichar *)out range:(NSRange)range;
- (void)getCharacters:(unichar *)out;
- (void)enumerateLinesUsingBlock:(void (^)(NSString *line, BOOL *stop))block;
- (const char *)cStringUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)getCString:(char *)out
         maxLength:(NSUInteger)capacity
          encoding:(NSStringEncoding)encoding;
- (NSData *)dataUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)writeToFile:(NSString *)path
         atomically:(BOOL)atomically
           encoding:(NSStringEncoding)encoding
              error:(NSError **)error;
@end

@interface NSMutableString : NSString
+ (instancetype)stringWithCapacity:(NSUInteger)capacity;
- (void)appendString:(NSString *)other;
- (void)appendFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
- (void)setString:(NSString *)other;
- (void)insertString:(NSString *)other atIndex:(NSUInteger)index;
- (void)deleteCharactersInRange:(NSRange)range;
- (NSUInteger)replaceOccurrencesOfString:(NSString *)wanted
                              withString:(NSString *)other
                                 options:(NSStringCompareOptions)options
                                   range:(NSRange)range;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString *)other;
@end

// Compilers name the class of @"..." so.
@interface NSConstantString : NSString
@end

FOUNDATION_EXPORT void NSLog(NSString *format, ...) NS_FORMAT_FUNCTION(1, 2);
FOUNDATION_EXPORT void NSLogv(NSString *format, va_list arguments);

#endif

#endif
