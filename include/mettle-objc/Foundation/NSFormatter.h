// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSFormatter.h: objects as text.
#ifndef METTLE_OBJC_FOUNDATION_NSFORMATTER_H
#define METTLE_OBJC_FOUNDATION_NSFORMATTER_H

#include <Foundation/NSUserDefaults.h>

#ifdef __OBJC__

@interface NSFormatter : NSObject
- (NSString *)stringForObjectValue:(id)object;
@end

#endif

#endif
