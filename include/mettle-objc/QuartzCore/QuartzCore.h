// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QuartzCore.h: its monotonic clock alone.
#ifndef METTLE_OBJC_QUARTZCORE_H
#define METTLE_OBJC_QUARTZCORE_H

#include <QuartzCore/CABase.h>

#endif
