// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Availability.h: macOS 15 at the most and at the least; clang takes every
// @available for true on Linux.
#ifndef METTLE_OBJC_AVAILABILITY_H
#define METTLE_OBJC_AVAILABILITY_H

#define __MAC_10_13 101300
#define __MAC_10_14 101400
#define __MAC_10_15 101500
#define __MAC_11_0 110000
#define __MAC_12_0 120000
#define __MAC_13_0 130000
#define __MAC_14_0 140000
#define __MAC_15_0 150000
#define __MAC_OS_X_VERSION_MIN_REQUIRED 150000
#define __MAC_OS_X_VERSION_MAX_ALLOWED 150000

#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)

#endif
