// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLLogState.h: what kernels write by os_log.
#ifndef METTLE_OBJC_MTLLOGSTATE_H
#define METTLE_OBJC_MTLLOGSTATE_H

#include <Metal/MTLDefines.h>

typedef NS_ENUM(NSInteger, MTLLogLevel) {
  MTLLogLevelUndefined = 0,
  MTLLogLevelDebug = 1,
  MTLLogLevelInfo = 2,
  MTLLogLevelNotice = 3,
  MTLLogLevelError = 4,
  MTLLogLevelFault = 5
};

#ifdef __OBJC__

MTL_EXTERN NSErrorDomain const MTLLogStateErrorDomain;

@protocol MTLLogState <NSObject>
- (void)addLogHandler:(void (^)(NSString *subsystem, NSString *category,
                                MTLLogLevel level, NSString *message))handler;
@end

@interface MTLLogStateDescriptor : NSObject <NSCopying>
@property MTLLogLevel level;
@property NSInteger bufferSize;
@end

#endif

#endif
