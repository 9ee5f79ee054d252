// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLFunctionDescriptor.h: which function of a library.
#ifndef METTLE_OBJC_MTLFUNCTIONDESCRIPTOR_H
#define METTLE_OBJC_MTLFUNCTIONDESCRIPTOR_H

#include <Metal/MTLDefines.h>

typedef NS_OPTIONS(NSUInteger, MTLFunctionOptions) {
  MTLFunctionOptionNone = 0,
  MTLFunctionOptionCompileToBinary = 1
};

#ifdef __OBJC__

@interface MTLFunctionDescriptor : NSObject <NSCopying>
+ (MTLFunctionDescriptor *)functionDescriptor;
@property(copy) NSString *name;
@property(copy) NSString *specializedName;
@property(strong) MTLFunctionConstantValues *constantValues;
@property MTLFunctionOptions options;
@property(copy) NSArray<id<MTLBinaryArchive>> *binaryArchives;
@end

#endif

#endif
