// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSFileHandle.h: files and pipes by their descriptors. There are no
// notifications of data that came, nor readability handlers.
#ifndef METTLE_OBJC_FOUNDATION_NSFILEHANDLE_H
#define METTLE_OBJC_FOUNDATION_NSFILEHANDLE_H

#include <Foundation/NSURL.h>

#ifdef __OBJC__

@interface NSFileHandle : NSObject
@property(class, readonly, strong) NSFileHandle *fileHandleWithStandardInput;
@property(class, readonly, strong) NSFileHandle *fileHandleWithStandardOutput;
@property(class, readonly, strong) NSFileHandle *fileHandleWithStandardError;
@property(class, readonly, strong) NSFileHandle *fileHandleWithNullDevice;
+ (instancetype)fileHandleForReadingAtPath:(NSString *)path;
+ (instancetype)fileHandleForWritingAtPath:(NSString *)path;
+ (instancetype)fileHandleForUpdatingAtPath:(NSString *)path;
+ (instancetype)fileHandleForReadingFromURL:(NSURL *)url
                                      error:(NSError **)error;
+ (instancetype)fileHandleForWritingToURL:(NSURL *)url error:(NSError **)error;
+ (instancetype)fileHandleForUpdatingURL:(NSURL *)url error:(NSError **)error;
- (instancetype)initWithFileDescriptor:(int)descriptor;
- (instancetype)initWithFileDescriptor:(int)descriptor
                        closeOnDealloc:(BOOL)closes;
@property(readonly) int fileDescriptor;
@property(readonly, copy) NSData *availableData;
- (NSData *)readDataToEndOfFileAndReturnError:(NSError **)error;
- (NSData *)readDataUpToLength:(NSUInteger)length error:(NSError **)error;
- (BOOL)writeData:(NSData *)data error:(NSError **)error;
- (BOOL)getOffset:(unsigned long long *)offset error:(NSError **)error;
- (BOOL)seekToEndReturningOffset:(unsigned long long *)offset
                           error:(NSError **)error;
- (BOOL)seekToOffset:(unsigned long long)offset error:(NSError **)error;
- (BOOL)truncateAtOffset:(unsigned long long)offset error:(NSError **)error;
- (BOOL)synchronizeAndReturnError:(NSError **)error;
- (BOOL)closeAndReturnError:(NSError **)error;
// These raise NSFileHandleOperationException where they fail.
- (NSData *)readDataToEndOfFile;
- (NSData *)readDataOfLength:(NSUInteger)length;
- (void)writeData:(NSData *)data;
@property(readonly) unsigned long long offsetInFile;
- (unsigned long long)seekToEndOfFile;
- (void)seekToFileOffset:(unsigned long long)offset;
- (void)truncateFileAtOffset:(unsigned long long)offset;
- (void)synchronizeFile;
- (void)closeFile;
@end

@interface NSPipe : NSObject
+ (NSPipe *)pipe;
@property(readonly, retain) NSFileHandle *fileHandleForReading;
@property(readonly, retain) NSFileHandle *fileHandleForWriting;
@end

#endif

#endif
