// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSUserDefaults.h: a program's settings: its arguments (-name value), its
// file, which lies in mettle/defaults of $XDG_CONFIG_HOME, and what it
// registered.
#ifndef METTLE_OBJC_FOUNDATION_NSUSERDEFAULTS_H
#define METTLE_OBJC_FOUNDATION_NSUSERDEFAULTS_H

#include <Foundation/NSNotification.h>

#ifdef __OBJC__

FOUNDATION_EXPORT NSNotificationName const NSUserDefaultsDidChangeNotification;
FOUNDATION_EXPORT NSString *const NSArgumentDomain;
FOUNDATION_EXPORT NSString *const NSGlobalDomain;
FOUNDATION_EXPORT NSString *const NSRegistrationDomain;

@interface NSUserDefaults : NSObject
@property(class, readonly, strong) NSUserDefaults *standardUserDefaults;
- (instancetype)initWithSuiteName:(NSString *)name;
- (id)objectForKey:(NSString *)key;
- (void)setObject:(id)value forKey:(NSString *)key;
- (void)removeObjectForKey:(NSString *)key;
- (NSString *)stringForKey:(NSString *)key;
- (NSArray *)arrayForKey:(NSString *)key;
- (NSArray<NSString *> *)stringArrayForKey:(NSString *)key;
- (NSDictionary<NSString *, id> *)dictionaryForKey:(NSString *)key;
- (NSData *)dataForKey:(NSString *)key;
- (NSInteger)integerForKey:(NSString *)key;
- (float)floatForKey:(NSString *)key;
- (double)doubleForKey:(NSString *)key;
- (BOOL)boolForKey:(NSString *)key;
- (void)setInteger:(NSInteger)value forKey:(NSString *)key;
- (void)setFloat:(float)value forKey:(NSString *)key;
- (void)setDouble:(double)value forKey:(NSString *)key;
- (void)setBool:(BOOL)value forKey:(NSString *)key;
- (void)registerDefaults:(NSDictionary<NSString *, id> *)values;
- (NSDictionary<NSString *, id> *)dictionaryRepresentation;
- (void)removePersistentDomainForName:(NSString *)name;
- (BOOL)synchronize;
@end

#endif

#endif
