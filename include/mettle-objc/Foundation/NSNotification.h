// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSNotification.h: notifications.
#ifndef METTLE_OBJC_FOUNDATION_NSNOTIFICATION_H
#define METTLE_OBJC_FOUNDATION_NSNOTIFICATION_H

#include <Foundation/NSUUID.h>

#ifdef __OBJC__

typedef NSString *NSNotificationName;
@interface NSNotification : NSObject
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)sender;
+ (instancetype)notificationWithName:(NSNotificationName)name
                              object:(id)sender
                            userInfo:(NSDictionary *)info;
@property(readonly, copy) NSNotificationName name;
@property(readonly, strong) id object;
@property(readonly, copy) NSDictionary *userInfo;
@end
// Observers are called on the thread that posts; a queue is not asked.
@interface NSNotificationCenter : NSObject
@property(class, readonly, strong) NSNotificationCenter *defaultCenter;
- (void)addObserver:(id)observer
           selector:(SEL)selector
               name:(NSNotificationName)name
             object:(id)sender;
- (id<NSObject>)addObserverForName:(NSNotificationName)name
                            object:(id)sender
                             queue:(id)queue
                        usingBlock:(void (^)(NSNotification *note))block;
- (void)removeObserver:(id)observer;
- (void)removeObserver:(id)observer
                  name:(NSNotificationName)name
                object:(id)sender;
- (void)postNotification:(NSNotification *)notification;
- (void)postNotificationName:(NSNotificationName)name object:(id)sender;
- (void)postNotificationName:(NSNotificationName)name
                      object:(id)sender
                    userInfo:(NSDictionary *)info;
@end

#endif

#endif
