// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSScanner.h: readers of strings.
#ifndef METTLE_OBJC_FOUNDATION_NSSCANNER_H
#define METTLE_OBJC_FOUNDATION_NSSCANNER_H

#include <Foundation/NSCharacterSet.h>

#ifdef __OBJC__

@interface NSScanner : NSObject
+ (instancetype)scannerWithString:(NSString *)string;
- (instancetype)initWithString:(NSString *)string;
@property(readonly, copy) NSString *string;
@property(copy) NSCharacterSet *charactersToBeSkipped;
@property BOOL caseSensitive;
@property NSUInteger scanLocation;
@property(readonly, getter=isAtEnd) BOOL atEnd;
- (BOOL)scanString:(NSString *)wanted intoString:(NSString **)out;
- (BOOL)scanUpToString:(NSString *)wanted intoString:(NSString **)out;
- (BOOL)scanCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)out;
- (BOOL)scanUpToCharactersFromSet:(NSCharacterSet *)set
                       intoString:(NSString **)out;
- (BOOL)scanInt:(int *)out;
- (BOOL)scanInteger:(NSInteger *)out;
- (BOOL)scanLongLong:(long long *)out;
- (BOOL)scanHexInt:(unsigned *)out;
- (BOOL)scanFloat:(float *)out;
- (BOOL)scanDouble:(double *)out;
@end

#endif

#endif
