// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AvailabilityMacros.h: the older names of Availability.h.
#ifndef METTLE_OBJC_AVAILABILITY_MACROS_H
#define METTLE_OBJC_AVAILABILITY_MACROS_H

#include <Availability.h>
#define MAC_OS_X_VERSION_MIN_REQUIRED __MAC_OS_X_VERSION_MIN_REQUIRED
#define MAC_OS_X_VERSION_MAX_ALLOWED __MAC_OS_X_VERSION_MAX_ALLOWED

#endif
