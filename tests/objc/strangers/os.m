// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// os.m: os_log, signposts, unfair locks, clocks, as a program for macOS has
// them.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <objc/message.h>
#import <os/log.h>
#import <os/signpost.h>
#import <os/lock.h>
#import <mach/mach_time.h>
#include <getopt.h>
#include "../check.h"
int main(int argc, char **argv) {
  @autoreleasepool {
    os_log_t log = os_log_create("com.example", "bench");
    os_log(log, "hello %d", 3);
    os_log_error(log, "e %{public}s", "x");
    os_log_info(OS_LOG_DEFAULT, "i");
    os_log_debug(log, "d");
    os_signpost_id_t sid = os_signpost_id_generate(log);
    os_signpost_interval_begin(log, sid, "work");
    os_signpost_interval_end(log, sid, "work");
    os_unfair_lock lock = OS_UNFAIR_LOCK_INIT;
    os_unfair_lock_lock(&lock);
    os_unfair_lock_unlock(&lock);
    mach_timebase_info_data_t tb;
    mach_timebase_info(&tb);
    uint64_t t0 = mach_absolute_time();
    CHECK(tb.numer && t0);
  }
  return checks_end();
}
