// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSURL.h: URLs.
#ifndef METTLE_OBJC_FOUNDATION_NSURL_H
#define METTLE_OBJC_FOUNDATION_NSURL_H

#include <Foundation/NSException.h>

#ifdef __OBJC__

@interface NSURL : NSObject <NSCopying>
+ (NSURL *)fileURLWithPath:(NSString *)path;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)is_directory;
+ (instancetype)URLWithString:(NSString *)text;
- (instancetype)initFileURLWithPath:(NSString *)path;
- (instancetype)initWithString:(NSString *)text;
@property(readonly, copy) NSString *path;
@property(readonly, copy) NSString *absoluteString;
@property(readonly, getter=isFileURL) BOOL fileURL;
@property(readonly) const char *fileSystemRepresentation;
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
@property(readonly, copy) NSString *scheme, *host;
- (BOOL)checkResourceIsReachableAndReturnError:(NSError **)error;
@end

#endif

#endif
