// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLCommandEncoder.h: what encoders have in common.
#ifndef METTLE_OBJC_MTLCOMMANDENCODER_H
#define METTLE_OBJC_MTLCOMMANDENCODER_H

#include <Metal/MTLDefines.h>

typedef NS_OPTIONS(NSUInteger, MTLResourceUsage) {
  MTLResourceUsageRead = 1,
  MTLResourceUsageWrite = 2,
  MTLResourceUsageSample = 4
};

typedef NS_OPTIONS(NSUInteger, MTLBarrierScope) {
  MTLBarrierScopeBuffers = 1,
  MTLBarrierScopeTextures = 2
};

#ifdef __OBJC__

@protocol MTLCommandEncoder <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
- (void)endEncoding;
- (void)pushDebugGroup:(NSString *)name;
- (void)popDebugGroup;
- (void)insertDebugSignpost:(NSString *)name;
@end

#endif

#endif
