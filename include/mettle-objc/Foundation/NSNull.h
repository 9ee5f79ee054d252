// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSNull.h: the object for nothing.
#ifndef METTLE_OBJC_FOUNDATION_NSNULL_H
#define METTLE_OBJC_FOUNDATION_NSNULL_H

#include <Foundation/NSValue.h>

#ifdef __OBJC__

@interface NSNull : NSObject <NSCopying>
+ (NSNull *)null;
@end

#endif

#endif
