// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSUUID.h: identifiers.
#ifndef METTLE_OBJC_FOUNDATION_NSUUID_H
#define METTLE_OBJC_FOUNDATION_NSUUID_H

#include <Foundation/NSJSONSerialization.h>

#ifdef __OBJC__

@interface NSUUID : NSObject <NSCopying>
+ (instancetype)UUID;
- (instancetype)initWithUUIDString:(NSString *)text;
@property(readonly, copy) NSString *UUIDString;
@end

#endif

#endif
