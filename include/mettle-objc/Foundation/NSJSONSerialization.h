// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSJSONSerialization.h: JSON.
#ifndef METTLE_OBJC_FOUNDATION_NSJSONSERIALIZATION_H
#define METTLE_OBJC_FOUNDATION_NSJSONSERIALIZATION_H

#include <Foundation/NSFileManager.h>

#ifdef __OBJC__

typedef NS_OPTIONS(NSUInteger, NSJSONReadingOptions) {
  NSJSONReadingMutableContainers = 1,
  NSJSONReadingMutableLeaves = 2,
  NSJSONReadingFragmentsAllowed = 4,
  NSJSONReadingAllowFragments = 4
};
typedef NS_OPTIONS(NSUInteger, NSJSONWritingOptions) {
  NSJSONWritingPrettyPrinted = 1,
  NSJSONWritingSortedKeys = 2,
  NSJSONWritingFragmentsAllowed = 4
};
@interface NSJSONSerialization : NSObject
+ (id)JSONObjectWithData:(NSData *)data
                 options:(NSJSONReadingOptions)options
                   error:(NSError **)error;
+ (NSData *)dataWithJSONObject:(id)object
                       options:(NSJSONWritingOptions)options
                         error:(NSError **)error;
+ (BOOL)isValidJSONObject:(id)object;
@end

#endif

#endif
