// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSFileManager.h: files and folders.
#ifndef METTLE_OBJC_FOUNDATION_NSFILEMANAGER_H
#define METTLE_OBJC_FOUNDATION_NSFILEMANAGER_H

#include <Foundation/NSPathUtilities.h>

#ifdef __OBJC__

typedef NSString *NSFileAttributeKey;
typedef NSString *NSFileAttributeType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileSize;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileModificationDate;
FOUNDATION_EXPORT NSFileAttributeKey const NSFilePosixPermissions;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeRegular;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeDirectory;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeSymbolicLink;
typedef NS_OPTIONS(NSUInteger, NSDirectoryEnumerationOptions) {
  NSDirectoryEnumerationSkipsSubdirectoryDescendants = 1,
  NSDirectoryEnumerationSkipsPackageDescendants = 2,
  NSDirectoryEnumerationSkipsHiddenFiles = 4
};

@interface NSDictionary (NSFileAttributes)
- (unsigned long long)fileSize;
- (NSString *)fileType;
- (NSDate *)fileModificationDate;
@end

@interface NSDirectoryEnumerator<T> : NSEnumerator <T>
@property(readonly, copy) NSDictionary<NSFileAttributeKey, id> *fileAttributes;
@property(readonly) NSUInteger level;
- (void)skipDescendants;
- (void)skipDescendents;
@end

@interface NSFileManager : NSObject
@property(class, readonly, strong) NSFileManager *defaultManager;
@property(readonly, copy) NSString *currentDirectoryPath;
@property(readonly, copy) NSURL *temporaryDirectory;
- (BOOL)fileExistsAtPath:(NSString *)path;
- (BOOL)fileExistsAtPath:(NSString *)path isDirectory:(BOOL *)out_is_directory;
- (BOOL)isReadableFileAtPath:(NSString *)path;
- (BOOL)isWritableFileAtPath:(NSString *)path;
- (BOOL)isExecutableFileAtPath:(NSString *)path;
- (BOOL)isDeletableFileAtPath:(NSString *)path;
- (BOOL)changeCurrentDirectoryPath:(NSString *)path;
- (NSDictionary<NSFileAttributeKey, id> *)
    attributesOfItemAtPath:(NSString *)path
                     error:(NSError **)error;
- (NSString *)destinationOfSymbolicLinkAtPath:(NSString *)path
                                        error:(NSError **)error;
- (NSData *)contentsAtPath:(NSString *)path;
- (BOOL)contentsEqualAtPath:(NSString *)one andPath:(NSString *)other;
- (NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path
                                             error:(NSError **)error;
- (NSArray<NSString *> *)subpathsOfDirectoryAtPath:(NSString *)path
                                             error:(NSError **)error;
- (NSArray<NSString *> *)subpathsAtPath:(NSString *)path;
- (NSArray<NSURL *> *)
      contentsOfDirectoryAtURL:(NSURL *)url
    includingPropertiesForKeys:(NSArray<NSURLResourceKey> *)keys
                       options:(NSDirectoryEnumerationOptions)options
                         error:(NSError **)error;
- (NSDirectoryEnumerator<NSString *> *)enumeratorAtPath:(NSString *)path;
- (NSDirectoryEnumerator<NSURL *> *)
               enumeratorAtURL:(NSURL *)url
    includingPropertiesForKeys:(NSArray<NSURLResourceKey> *)keys
                       options:(NSDirectoryEnumerationOptions)options
                  errorHandler:(BOOL (^)(NSURL *url, NSError *error))handler;
- (BOOL)createDirectoryAtPath:(NSString *)path
    withIntermediateDirectories:(BOOL)makes_parents
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error;
- (BOOL)createDirectoryAtURL:(NSURL *)url
    withIntermediateDirectories:(BOOL)makes_parents
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error;
- (BOOL)createFileAtPath:(NSString *)path
                contents:(NSData *)data
              attributes:(NSDictionary *)attributes;
- (BOOL)createSymbolicLinkAtPath:(NSString *)path
             withDestinationPath:(NSString *)target
                           error:(NSError **)error;
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError **)error;
- (BOOL)removeItemAtURL:(NSURL *)url error:(NSError **)error;
- (BOOL)copyItemAtPath:(NSString *)from
                toPath:(NSString *)to
                 error:(NSError **)error;
- (BOOL)moveItemAtPath:(NSString *)from
                toPath:(NSString *)to
                 error:(NSError **)error;
- (BOOL)copyItemAtURL:(NSURL *)from toURL:(NSURL *)to error:(NSError **)error;
- (BOOL)moveItemAtURL:(NSURL *)from toURL:(NSURL *)to error:(NSError **)error;
@end

#endif

#endif
