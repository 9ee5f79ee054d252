// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFData.h: bytes: NSData.
#ifndef METTLE_OBJC_CFDATA_H
#define METTLE_OBJC_CFDATA_H

#include <CoreFoundation/CFBase.h>

CF_EXPORT CFTypeID CFDataGetTypeID(void);
CF_EXPORT CFDataRef CFDataCreate(CFAllocatorRef allocator, const UInt8 *bytes,
                                 CFIndex length);
CF_EXPORT CFMutableDataRef CFDataCreateMutable(CFAllocatorRef allocator,
                                               CFIndex capacity);
CF_EXPORT const UInt8 *CFDataGetBytePtr(CFDataRef data);
CF_EXPORT UInt8 *CFDataGetMutableBytePtr(CFMutableDataRef data);
CF_EXPORT CFIndex CFDataGetLength(CFDataRef data);
CF_EXPORT void CFDataGetBytes(CFDataRef data, CFRange range, UInt8 *buffer);
CF_EXPORT void CFDataSetLength(CFMutableDataRef data, CFIndex length);
CF_EXPORT void CFDataAppendBytes(CFMutableDataRef data, const UInt8 *bytes,
                                 CFIndex length);

#endif
