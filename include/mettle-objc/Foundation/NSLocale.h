// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSLocale.h: there is one locale, in whose words formatters write:
// that of the United States.
#ifndef METTLE_OBJC_FOUNDATION_NSLOCALE_H
#define METTLE_OBJC_FOUNDATION_NSLOCALE_H

#include <Foundation/NSUserDefaults.h>

#ifdef __OBJC__

@interface NSLocale : NSObject
@property(class, readonly, copy) NSLocale *currentLocale;
@property(class, readonly, copy) NSLocale *systemLocale;
+ (instancetype)localeWithLocaleIdentifier:(NSString *)identifier;
- (instancetype)initWithLocaleIdentifier:(NSString *)identifier;
@property(readonly, copy) NSString *localeIdentifier;
@end

#endif

#endif
