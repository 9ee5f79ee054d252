// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLAllocation.h: what takes memory.
#ifndef METTLE_OBJC_MTLALLOCATION_H
#define METTLE_OBJC_MTLALLOCATION_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@protocol MTLAllocation <NSObject>
@property(readonly) NSUInteger allocatedSize;
@end

#endif

#endif
