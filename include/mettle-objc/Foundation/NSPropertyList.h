// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSPropertyList.h: property lists in XML. The binary form is neither read nor
// written: an NSError says so.
#ifndef METTLE_OBJC_FOUNDATION_NSPROPERTYLIST_H
#define METTLE_OBJC_FOUNDATION_NSPROPERTYLIST_H

#include <Foundation/NSURL.h>

#ifdef __OBJC__

typedef NS_ENUM(NSUInteger, NSPropertyListFormat) {
  NSPropertyListOpenStepFormat = 1,
  NSPropertyListXMLFormat_v1_0 = 100,
  NSPropertyListBinaryFormat_v1_0 = 200,
};
// What is read is mutable.
typedef NS_OPTIONS(NSUInteger, NSPropertyListMutabilityOptions) {
  NSPropertyListImmutable = 0,
  NSPropertyListMutableContainers = 1,
  NSPropertyListMutableContainersAndLeaves = 2,
};
typedef NSPropertyListMutabilityOptions NSPropertyListReadOptions;
typedef NSUInteger NSPropertyListWriteOptions;
enum {
  NSPropertyListWriteInvalidError = 3852,
};

@interface NSPropertyListSerialization : NSObject
+ (BOOL)propertyList:(id)list isValidForFormat:(NSPropertyListFormat)format;
+ (NSData *)dataWithPropertyList:(id)list
                          format:(NSPropertyListFormat)format
                         options:(NSPropertyListWriteOptions)options
                           error:(NSError **)error;
+ (id)propertyListWithData:(NSData *)data
                   options:(NSPropertyListReadOptions)options
                    format:(NSPropertyListFormat *)format
                     error:(NSError **)error;
@end

@interface NSArray (NSPropertyList)
+ (NSArray *)arrayWithContentsOfFile:(NSString *)path;
+ (NSArray *)arrayWithContentsOfURL:(NSURL *)url;
+ (NSArray *)arrayWithContentsOfURL:(NSURL *)url error:(NSError **)error;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
- (BOOL)writeToURL:(NSURL *)url atomically:(BOOL)atomically;
- (BOOL)writeToURL:(NSURL *)url error:(NSError **)error;
@end
@interface NSDictionary (NSPropertyList)
+ (NSDictionary *)dictionaryWithContentsOfFile:(NSString *)path;
+ (NSDictionary *)dictionaryWithContentsOfURL:(NSURL *)url;
+ (NSDictionary *)dictionaryWithContentsOfURL:(NSURL *)url
                                        error:(NSError **)error;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
- (BOOL)writeToURL:(NSURL *)url atomically:(BOOL)atomically;
- (BOOL)writeToURL:(NSURL *)url error:(NSError **)error;
@end

#endif

#endif
