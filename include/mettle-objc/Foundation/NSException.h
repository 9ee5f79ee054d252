// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSException.h: exceptions and assertions.
#ifndef METTLE_OBJC_FOUNDATION_NSEXCEPTION_H
#define METTLE_OBJC_FOUNDATION_NSEXCEPTION_H

#include <Foundation/NSError.h>

#ifdef __OBJC__

@interface NSException : NSObject
+ (NSException *)exceptionWithName:(NSExceptionName)name
                            reason:(NSString *)reason
                          userInfo:(NSDictionary *)info;
+ (void)raise:(NSExceptionName)name
       format:(NSString *)format, ... NS_FORMAT_FUNCTION(2, 3);
+ (void)raise:(NSExceptionName)name
       format:(NSString *)format
    arguments:(va_list)arguments;
- (instancetype)initWithName:(NSExceptionName)name
                      reason:(NSString *)reason
                    userInfo:(NSDictionary *)info;
- (void)raise;
@property(readonly, copy) NSExceptionName name;
@property(readonly, copy) NSString *reason;
@property(readonly, copy) NSDictionary *userInfo;
@property(readonly, copy) NSArray<NSString *> *callStackSymbols;
@end

// Called before an exception that nobody catches ends the process.
typedef void NSUncaughtExceptionHandler(NSException *exception);
FOUNDATION_EXPORT NSUncaughtExceptionHandler *NSGetUncaughtExceptionHandler(
    void);
FOUNDATION_EXPORT void NSSetUncaughtExceptionHandler(
    NSUncaughtExceptionHandler *handler);

#define NSAssert(condition, text, ...)                    \
  do {                                                    \
    if (!(condition)) {                                   \
      [NSException raise:NSInternalInconsistencyException \
                  format:(text), ##__VA_ARGS__];          \
    }                                                     \
  } while (0)
#define NSCAssert NSAssert
#define NSParameterAssert(condition) NSAssert((condition), @"%s", #condition)

#endif

#endif
