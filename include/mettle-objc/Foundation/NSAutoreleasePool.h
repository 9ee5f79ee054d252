// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSAutoreleasePool.h: pools without @autoreleasepool.
#ifndef METTLE_OBJC_FOUNDATION_NSAUTORELEASEPOOL_H
#define METTLE_OBJC_FOUNDATION_NSAUTORELEASEPOOL_H

#include <Foundation/NSObject.h>

#ifdef __OBJC__

@interface NSAutoreleasePool : NSObject
#if !__has_feature(objc_arc)
- (void)drain;
#endif
@end

#endif

#endif
