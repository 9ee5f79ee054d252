// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// time_zone.h: offsets of time zones.
#ifndef METTLE_OBJC_TIME_ZONE_H
#define METTLE_OBJC_TIME_ZONE_H

#include "objc/runtime/abi.h"

// Returns the seconds east of UTC that an NSTimeZone, the machine's for nil,
// has at a time.
long time_zone_offset(id zone, double since_1970);

#endif
