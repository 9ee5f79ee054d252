// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSPointerFunctions.h: how map tables, hash tables and pointer arrays hold
// what is in them. C strings and structs are refused.
#ifndef METTLE_OBJC_FOUNDATION_NSPOINTERFUNCTIONS_H
#define METTLE_OBJC_FOUNDATION_NSPOINTERFUNCTIONS_H

#include <Foundation/NSObjCRuntime.h>

#ifdef __OBJC__

typedef NS_OPTIONS(NSUInteger, NSPointerFunctionsOptions) {
  NSPointerFunctionsStrongMemory = 0,
  NSPointerFunctionsOpaqueMemory = 2,
  NSPointerFunctionsWeakMemory = 5,
  NSPointerFunctionsObjectPersonality = 0,
  NSPointerFunctionsOpaquePersonality = 1 << 8,
  NSPointerFunctionsObjectPointerPersonality = 2 << 8,
  NSPointerFunctionsIntegerPersonality = 5 << 8,
  NSPointerFunctionsCopyIn = 1 << 16
};

#endif

#endif
