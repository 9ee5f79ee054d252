// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLFunctionLog.h: what function logs are made of.
#ifndef METTLE_OBJC_MTLFUNCTIONLOG_H
#define METTLE_OBJC_MTLFUNCTIONLOG_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@protocol MTLLogContainer <NSFastEnumeration>
@end

@protocol MTLFunctionLog <NSObject>
@end

#endif

#endif
