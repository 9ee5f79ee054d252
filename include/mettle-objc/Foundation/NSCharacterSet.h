// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSCharacterSet.h: sets of characters.
#ifndef METTLE_OBJC_FOUNDATION_NSCHARACTERSET_H
#define METTLE_OBJC_FOUNDATION_NSCHARACTERSET_H

#include <Foundation/NSString.h>

#ifdef __OBJC__

@interface NSCharacterSet : NSObject <NSCopying>
@property(class, readonly, copy) NSCharacterSet *whitespaceCharacterSet;
@property(class, readonly, copy) NSCharacterSet *newlineCharacterSet;
@property(class, readonly, copy)
    NSCharacterSet *whitespaceAndNewlineCharacterSet;
@property(class, readonly, copy) NSCharacterSet *decimalDigitCharacterSet;
@property(class, readonly, copy) NSCharacterSet *letterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *alphanumericCharacterSet;
@property(class, readonly, copy) NSCharacterSet *punctuationCharacterSet;
@property(class, readonly, copy) NSCharacterSet *uppercaseLetterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *lowercaseLetterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLHostAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLPathAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLQueryAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLFragmentAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLUserAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLPasswordAllowedCharacterSet;
+ (NSCharacterSet *)characterSetWithCharactersInString:(NSString *)characters;
+ (NSCharacterSet *)characterSetWithRange:(NSRange)range;
@property(readonly, copy) NSCharacterSet *invertedSet;
- (BOOL)characterIsMember:(unichar)unit;
@end

#endif

#endif
