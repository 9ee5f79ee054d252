// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSURL.h: URLs.
#ifndef METTLE_OBJC_FOUNDATION_NSURL_H
#define METTLE_OBJC_FOUNDATION_NSURL_H

#include <Foundation/NSException.h>

#ifdef __OBJC__

typedef NSString *NSURLResourceKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLNameKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLPathKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLIsRegularFileKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLIsDirectoryKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLIsSymbolicLinkKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLIsHiddenKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLIsReadableKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLIsWritableKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLIsExecutableKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLFileSizeKey;
FOUNDATION_EXPORT NSURLResourceKey const NSURLContentModificationDateKey;

@interface NSURL : NSObject <NSCopying>
+ (NSURL *)fileURLWithPath:(NSString *)path;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)is_directory;
+ (instancetype)URLWithString:(NSString *)text;
+ (NSURL *)fileURLWithPath:(NSString *)path relativeToURL:(NSURL *)base;
+ (instancetype)URLWithString:(NSString *)text relativeToURL:(NSURL *)base;
- (instancetype)initFileURLWithPath:(NSString *)path;
- (instancetype)initFileURLWithPath:(NSString *)path
                        isDirectory:(BOOL)is_directory;
- (instancetype)initFileURLWithPath:(NSString *)path
                      relativeToURL:(NSURL *)base;
- (instancetype)initWithString:(NSString *)text relativeToURL:(NSURL *)base;
- (instancetype)initWithString:(NSString *)text;
@property(readonly, copy) NSString *path;
@property(readonly, copy) NSString *absoluteString;
@property(readonly, getter=isFileURL) BOOL fileURL;
@property(readonly) const char *fileSystemRepresentation
    __attribute__((objc_returns_inner_pointer));
- (NSURL *)URLByAppendingPathComponent:(NSString *)part;
@property(readonly, copy) NSURL *URLByDeletingLastPathComponent;
- (NSURL *)URLByAppendingPathComponent:(NSString *)part
                           isDirectory:(BOOL)is_directory;
- (NSURL *)URLByAppendingPathExtension:(NSString *)extension;
@property(readonly, copy) NSURL *URLByDeletingPathExtension;
@property(readonly, copy) NSURL *URLByStandardizingPath;
@property(readonly, copy) NSString *relativePath;
@property(readonly, copy) NSString *lastPathComponent, *pathExtension;
@property(readonly, copy) NSArray<NSString *> *pathComponents;
@property(readonly, copy) NSString *relativeString;
@property(readonly, copy) NSURL *absoluteURL, *baseURL;
@property(readonly, copy) NSString *scheme, *resourceSpecifier, *host;
@property(readonly, copy) NSString *user, *password, *query, *fragment;
@property(readonly, copy) NSNumber *port;
@property(readonly) BOOL hasDirectoryPath;
@property(readonly, copy) NSURL *standardizedURL;
@property(readonly, copy) NSURL *URLByResolvingSymlinksInPath;
- (BOOL)getFileSystemRepresentation:(char *)out maxLength:(NSUInteger)capacity;
- (BOOL)getResourceValue:(out id *)value
                  forKey:(NSURLResourceKey)key
                   error:(NSError **)error;
- (NSDictionary<NSURLResourceKey, id> *)resourceValuesForKeys:
                                            (NSArray<NSURLResourceKey> *)keys
                                                        error:(NSError **)error;
- (BOOL)checkResourceIsReachableAndReturnError:(NSError **)error;
@end

#endif

#endif
