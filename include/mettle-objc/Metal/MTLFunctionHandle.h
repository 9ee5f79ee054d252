// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLFunctionHandle.h: functions of a pipeline.
#ifndef METTLE_OBJC_MTLFUNCTIONHANDLE_H
#define METTLE_OBJC_MTLFUNCTIONHANDLE_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLLibrary.h>

#ifdef __OBJC__

@protocol MTLFunctionHandle <NSObject>
@property(readonly) MTLFunctionType functionType;
@property(readonly) NSString *name;
@property(readonly) id<MTLDevice> device;
@end

#endif

#endif
