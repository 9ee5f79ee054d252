// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CABase.h: CACurrentMediaTime, a monotonic clock.
#ifndef METTLE_OBJC_CABASE_H
#define METTLE_OBJC_CABASE_H

#include <CoreFoundation/CoreFoundation.h>

// Seconds of a clock that never goes back, mach_absolute_time's.
CF_EXPORT CFTimeInterval CACurrentMediaTime(void);

#endif
