// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Foundation.h: the part of Foundation that clients of Metal use. What is not
// here is not there: docs/objc.md.
#ifndef METTLE_OBJC_FOUNDATION_H
#define METTLE_OBJC_FOUNDATION_H

#include <Foundation/NSArray.h>
#include <Foundation/NSAutoreleasePool.h>
#include <Foundation/NSBundle.h>
#include <Foundation/NSByteCountFormatter.h>
#include <Foundation/NSCache.h>
#include <Foundation/NSCharacterSet.h>
#include <Foundation/NSData.h>
#include <Foundation/NSDate.h>
#include <Foundation/NSDateFormatter.h>
#include <Foundation/NSDictionary.h>
#include <Foundation/NSEnumerator.h>
#include <Foundation/NSError.h>
#include <Foundation/NSException.h>
#include <Foundation/NSFileHandle.h>
#include <Foundation/NSFileManager.h>
#include <Foundation/NSFormatter.h>
#include <Foundation/NSGeometry.h>
#include <Foundation/NSHashTable.h>
#include <Foundation/NSISO8601DateFormatter.h>
#include <Foundation/NSIndexSet.h>
#include <Foundation/NSInvocation.h>
#include <Foundation/NSJSONSerialization.h>
#include <Foundation/NSKeyValueObserving.h>
#include <Foundation/NSLocale.h>
#include <Foundation/NSLock.h>
#include <Foundation/NSMapTable.h>
#include <Foundation/NSNotification.h>
#include <Foundation/NSNull.h>
#include <Foundation/NSNumberFormatter.h>
#include <Foundation/NSObjCRuntime.h>
#include <Foundation/NSObject.h>
#include <Foundation/NSOperation.h>
#include <Foundation/NSPathUtilities.h>
#include <Foundation/NSPointerArray.h>
#include <Foundation/NSPointerFunctions.h>
#include <Foundation/NSProcessInfo.h>
#include <Foundation/NSPropertyList.h>
#include <Foundation/NSRange.h>
#include <Foundation/NSRegularExpression.h>
#include <Foundation/NSRunLoop.h>
#include <Foundation/NSScanner.h>
#include <Foundation/NSSet.h>
#include <Foundation/NSString.h>
#include <Foundation/NSThread.h>
#include <Foundation/NSTimeZone.h>
#include <Foundation/NSTimer.h>
#include <Foundation/NSURL.h>
#include <Foundation/NSUUID.h>
#include <Foundation/NSUserDefaults.h>
#include <Foundation/NSValue.h>

#endif
