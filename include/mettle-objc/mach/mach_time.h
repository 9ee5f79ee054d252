// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mach_time.h: a clock in ticks, which are nanoseconds here.
#ifndef METTLE_OBJC_MACH_TIME_H
#define METTLE_OBJC_MACH_TIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A tick is numer / denom nanoseconds.
typedef struct mach_timebase_info {
  uint32_t numer;
  uint32_t denom;
} mach_timebase_info_data_t;
typedef mach_timebase_info_data_t *mach_timebase_info_t;

int mach_timebase_info(mach_timebase_info_t out_info);  // 0
uint64_t mach_absolute_time(void);
uint64_t mach_continuous_time(void);

#ifdef __cplusplus
}
#endif
#endif
