// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLEvent.h: events.
#ifndef METTLE_OBJC_MTLEVENT_H
#define METTLE_OBJC_MTLEVENT_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent> event,
                                                uint64_t value);

@protocol MTLEvent <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString *label;
@end

@interface MTLSharedEventListener : NSObject
- (instancetype)init;
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue;
@property(readonly) dispatch_queue_t dispatchQueue;
+ (MTLSharedEventListener *)sharedListener;
@end

// Of one process: there is no way to send it to another.
@interface MTLSharedEventHandle : NSObject
@property(readonly) NSString *label;
@end

@protocol MTLSharedEvent <MTLEvent>
@property uint64_t signaledValue;
- (MTLSharedEventHandle *)newSharedEventHandle;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)timeout;
- (void)notifyListener:(MTLSharedEventListener *)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
@end

#endif

#endif
