// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFBundle.h: the program's bundle and URLs: NSBundle and NSURL.
#ifndef METTLE_OBJC_CFBUNDLE_H
#define METTLE_OBJC_CFBUNDLE_H

#include <CoreFoundation/CFBase.h>

typedef CFIndex CFURLPathStyle;
enum { kCFURLPOSIXPathStyle = 0 };

CF_EXPORT CFURLRef CFURLCreateWithFileSystemPath(CFAllocatorRef allocator,
                                                 CFStringRef path,
                                                 CFURLPathStyle style,
                                                 Boolean isFolder);
CF_EXPORT CFStringRef CFURLCopyFileSystemPath(CFURLRef url,
                                              CFURLPathStyle style);
CF_EXPORT Boolean CFURLGetFileSystemRepresentation(CFURLRef url,
                                                   Boolean resolves,
                                                   UInt8 *buffer, CFIndex size);
CF_EXPORT CFBundleRef CFBundleGetMainBundle(void);
CF_EXPORT CFURLRef CFBundleCopyResourcesDirectoryURL(CFBundleRef bundle);
CF_EXPORT CFURLRef CFBundleCopyBundleURL(CFBundleRef bundle);
CF_EXPORT CFURLRef CFBundleCopyResourceURL(CFBundleRef bundle, CFStringRef name,
                                           CFStringRef type,
                                           CFStringRef folder);

#endif
