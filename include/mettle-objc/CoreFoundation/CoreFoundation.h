// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CoreFoundation.h: the part of CoreFoundation that clients of Metal use.
#ifndef METTLE_OBJC_COREFOUNDATION_H
#define METTLE_OBJC_COREFOUNDATION_H

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFBundle.h>
#include <CoreFoundation/CFCollections.h>
#include <CoreFoundation/CFData.h>
#include <CoreFoundation/CFNumber.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFString.h>

#endif
