// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSPathUtilities.h: usual folders.
#ifndef METTLE_OBJC_FOUNDATION_NSPATHUTILITIES_H
#define METTLE_OBJC_FOUNDATION_NSPATHUTILITIES_H

#include <Foundation/NSURL.h>

#ifdef __OBJC__

FOUNDATION_EXPORT NSString *NSHomeDirectory(void);
FOUNDATION_EXPORT NSString *NSTemporaryDirectory(void);
FOUNDATION_EXPORT NSString *NSUserName(void);
typedef NS_ENUM(NSUInteger, NSSearchPathDirectory) {
  NSLibraryDirectory = 5,
  NSDocumentDirectory = 9,
  NSDesktopDirectory = 12,
  NSCachesDirectory = 13,
  NSApplicationSupportDirectory = 14,
  NSDownloadsDirectory = 15
};
typedef NS_OPTIONS(NSUInteger, NSSearchPathDomainMask) {
  NSUserDomainMask = 1,
  NSLocalDomainMask = 2,
  NSAllDomainsMask = 0xffff
};
// The user's alone: caches in XDG_CACHE_HOME or ~/.cache, and so on.
FOUNDATION_EXPORT NSArray<NSString *> *NSSearchPathForDirectoriesInDomains(
    NSSearchPathDirectory directory, NSSearchPathDomainMask domains,
    BOOL expands_tilde);

#endif

#endif
