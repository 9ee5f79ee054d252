// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSBundle.h: programs and their resources.
#ifndef METTLE_OBJC_FOUNDATION_NSBUNDLE_H
#define METTLE_OBJC_FOUNDATION_NSBUNDLE_H

#include <Foundation/NSNotification.h>

#ifdef __OBJC__

@interface NSBundle : NSObject
@property(class, readonly, strong) NSBundle *mainBundle;
+ (NSBundle *)bundleForClass:(Class)cls;
+ (instancetype)bundleWithPath:(NSString *)path;
+ (instancetype)bundleWithURL:(NSURL *)url;
- (instancetype)initWithPath:(NSString *)path;
@property(class, readonly, copy) NSArray<NSBundle *> *allBundles;
@property(class, readonly, copy) NSArray<NSBundle *> *allFrameworks;
@property(readonly, copy) NSString *bundlePath;
@property(readonly, copy) NSString *resourcePath;
@property(readonly, copy) NSString *executablePath;
@property(readonly, copy) NSString *bundleIdentifier;
@property(readonly, copy) NSURL *bundleURL;
@property(readonly, copy) NSURL *resourceURL;
@property(readonly, copy) NSURL *executableURL;
- (NSString *)pathForResource:(NSString *)name ofType:(NSString *)type;
- (NSURL *)URLForResource:(NSString *)name withExtension:(NSString *)extension;
- (NSString *)pathForResource:(NSString *)name
                       ofType:(NSString *)type
                  inDirectory:(NSString *)folder;
- (NSArray<NSString *> *)pathsForResourcesOfType:(NSString *)type
                                     inDirectory:(NSString *)folder;
// Empty: no property lists are read.
@property(readonly, copy) NSDictionary<NSString *, id> *infoDictionary;
- (id)objectForInfoDictionaryKey:(NSString *)key;
@end

#endif

#endif
