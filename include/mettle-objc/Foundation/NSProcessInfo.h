// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSProcessInfo.h: the process.
#ifndef METTLE_OBJC_FOUNDATION_NSPROCESSINFO_H
#define METTLE_OBJC_FOUNDATION_NSPROCESSINFO_H

#include <Foundation/NSBundle.h>

#ifdef __OBJC__

typedef NS_ENUM(NSInteger, NSProcessInfoThermalState) {
  NSProcessInfoThermalStateNominal = 0,
  NSProcessInfoThermalStateFair = 1,
  NSProcessInfoThermalStateSerious = 2,
  NSProcessInfoThermalStateCritical = 3
};
@interface NSProcessInfo : NSObject
@property(readonly, copy) NSString *hostName;
@property(readonly, copy) NSString *globallyUniqueString;
@property(readonly) NSProcessInfoThermalState thermalState;
@property(readonly, getter=isLowPowerModeEnabled) BOOL lowPowerModeEnabled;
@property(class, readonly, strong) NSProcessInfo *processInfo;
@property(readonly, copy) NSArray<NSString *> *arguments;
@property(readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property(readonly, copy) NSString *processName;
@property(readonly) int processIdentifier;
@property(readonly) NSUInteger processorCount;
@property(readonly) NSUInteger activeProcessorCount;
@property(readonly) unsigned long long physicalMemory;
@property(readonly) NSTimeInterval systemUptime;
@property(readonly) NSOperatingSystemVersion operatingSystemVersion;
@property(readonly, copy) NSString *operatingSystemVersionString;
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version;
@end

#endif

#endif
