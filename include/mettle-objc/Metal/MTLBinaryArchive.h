// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLBinaryArchive.h: pipelines in files.
#ifndef METTLE_OBJC_MTLBINARYARCHIVE_H
#define METTLE_OBJC_MTLBINARYARCHIVE_H

#include <Metal/MTLDefines.h>

typedef NS_ENUM(NSUInteger, MTLBinaryArchiveError) {
  MTLBinaryArchiveErrorNone = 0,
  MTLBinaryArchiveErrorInvalidFile = 1,
  MTLBinaryArchiveErrorUnexpectedElement = 2,
  MTLBinaryArchiveErrorCompilationFailure = 3,
  MTLBinaryArchiveErrorInternalError = 4
};

#ifdef __OBJC__

MTL_EXTERN NSErrorDomain const MTLBinaryArchiveDomain;

@interface MTLBinaryArchiveDescriptor : NSObject <NSCopying>
@property(copy) NSURL *url;
@end

@protocol MTLBinaryArchive <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
- (BOOL)addComputePipelineFunctionsWithDescriptor:
            (MTLComputePipelineDescriptor *)descriptor
                                            error:(NSError **)error;
- (BOOL)addFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                          library:(id<MTLLibrary>)library
                            error:(NSError **)error;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
@end

#endif

#endif
