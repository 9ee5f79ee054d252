// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLFence.h: fences.
#ifndef METTLE_OBJC_MTLFENCE_H
#define METTLE_OBJC_MTLFENCE_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@protocol MTLFence <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString *label;
@end

#endif

#endif
