// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLCaptureScope.h: what is captured.
#ifndef METTLE_OBJC_MTLCAPTURESCOPE_H
#define METTLE_OBJC_MTLCAPTURESCOPE_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@protocol MTLCaptureScope <NSObject>
- (void)beginScope;
- (void)endScope;
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) id<MTLCommandQueue> commandQueue;
@end

#endif

#endif
