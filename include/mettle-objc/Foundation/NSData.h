// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSData.h: bytes.
#ifndef METTLE_OBJC_FOUNDATION_NSDATA_H
#define METTLE_OBJC_FOUNDATION_NSDATA_H

#include <Foundation/NSCache.h>

#ifdef __OBJC__

typedef NS_OPTIONS(NSUInteger, NSDataReadingOptions) {
  NSDataReadingMappedIfSafe = 1,
  NSDataReadingUncached = 2,
  NSDataReadingMappedAlways = 8
};
typedef NS_OPTIONS(NSUInteger, NSDataWritingOptions) {
  NSDataWritingAtomic = 1,
  NSDataWritingWithoutOverwriting = 2
};
typedef NS_OPTIONS(NSUInteger, NSDataSearchOptions) {
  NSDataSearchBackwards = 1,
  NSDataSearchAnchored = 2
};
typedef NS_OPTIONS(NSUInteger, NSDataBase64EncodingOptions) {
  NSDataBase64EncodingNone = 0
};
typedef NS_OPTIONS(NSUInteger, NSDataBase64DecodingOptions) {
  NSDataBase64DecodingIgnoreUnknownCharacters = 1
};

@interface NSData : NSObject <NSCopying, NSMutableCopying>
@property(readonly) const void *bytes;
@property(readonly) NSUInteger length;
+ (instancetype)data;
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)length
                       freeWhenDone:(BOOL)frees;
+ (instancetype)dataWithContentsOfFile:(NSString *)path;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url;
+ (instancetype)dataWithData:(NSData *)other;
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithContentsOfFile:(NSString *)path
                               options:(NSDataReadingOptions)options
                                 error:(NSError **)error;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url
                              options:(NSDataReadingOptions)options
                                error:(NSError **)error;
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)length
                       freeWhenDone:(BOOL)frees;
- (instancetype)initWithData:(NSData *)other;
- (instancetype)initWithContentsOfFile:(NSString *)path;
- (instancetype)initWithContentsOfURL:(NSURL *)url;
- (instancetype)initWithBase64EncodedString:(NSString *)text
                                    options:
                                        (NSDataBase64DecodingOptions)options;
- (NSString *)base64EncodedStringWithOptions:
    (NSDataBase64EncodingOptions)options;
- (BOOL)writeToFile:(NSString *)path
            options:(NSDataWritingOptions)options
              error:(NSError **)error;
- (BOOL)writeToURL:(NSURL *)url atomically:(BOOL)atomically;
- (BOOL)writeToURL:(NSURL *)url
           options:(NSDataWritingOptions)options
             error:(NSError **)error;
- (void)getBytes:(void *)out range:(NSRange)range;
- (void)getBytes:(void *)out;
- (NSRange)rangeOfData:(NSData *)wanted
               options:(NSDataSearchOptions)options
                 range:(NSRange)range;
- (void)enumerateByteRangesUsingBlock:
    (void (^)(const void *bytes, NSRange range, BOOL *stop))block;
- (BOOL)isEqualToData:(NSData *)other;
- (void)getBytes:(void *)out length:(NSUInteger)length;
- (NSData *)subdataWithRange:(NSRange)range;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
@end
@interface NSMutableData : NSData
+ (instancetype)dataWithLength:(NSUInteger)length;
@property(readonly) void *mutableBytes;
@property NSUInteger length;
- (instancetype)initWithLength:(NSUInteger)length;
- (void)replaceBytesInRange:(NSRange)range withBytes:(const void *)bytes;
- (void)replaceBytesInRange:(NSRange)range
                  withBytes:(const void *)bytes
                     length:(NSUInteger)length;
- (void)resetBytesInRange:(NSRange)range;
- (void)increaseLengthBy:(NSUInteger)count;
- (void)setData:(NSData *)other;
- (void)appendBytes:(const void *)bytes length:(NSUInteger)length;
- (void)appendData:(NSData *)other;
@end

#endif

#endif
