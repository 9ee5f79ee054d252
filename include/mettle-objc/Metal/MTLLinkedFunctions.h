// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLLinkedFunctions.h: functions that a pipeline may call.
#ifndef METTLE_OBJC_MTLLINKEDFUNCTIONS_H
#define METTLE_OBJC_MTLLINKEDFUNCTIONS_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@interface MTLLinkedFunctions : NSObject <NSCopying>
+ (MTLLinkedFunctions *)linkedFunctions;
@property(copy) NSArray<id<MTLFunction>> *functions;
@property(copy) NSArray<id<MTLFunction>> *binaryFunctions;
@property(copy) NSArray<id<MTLFunction>> *privateFunctions;
@property(copy) NSDictionary<NSString *, NSArray<id<MTLFunction>> *> *groups;
@end

#endif

#endif
