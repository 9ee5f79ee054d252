// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLTensor.h: tensors.
#ifndef METTLE_OBJC_MTLTENSOR_H
#define METTLE_OBJC_MTLTENSOR_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLTypes.h>

#ifdef __OBJC__

MTL_EXTERN NSErrorDomain const MTLTensorDomain;

typedef NS_ENUM(NSInteger, MTLTensorDataType) {
  MTLTensorDataTypeNone = 0,
  MTLTensorDataTypeFloat32 = 3,
  MTLTensorDataTypeFloat16 = 16,
  MTLTensorDataTypeInt32 = 29,
  MTLTensorDataTypeUInt32 = 33,
  MTLTensorDataTypeInt16 = 37,
  MTLTensorDataTypeUInt16 = 41,
  MTLTensorDataTypeInt8 = 45,
  MTLTensorDataTypeUInt8 = 49,
  MTLTensorDataTypeBFloat16 = 121
};

typedef NS_OPTIONS(NSUInteger, MTLTensorUsage) {
  MTLTensorUsageCompute = 1,
  MTLTensorUsageRender = 2,
  MTLTensorUsageMachineLearning = 4
};

@interface MTLTensorExtents : NSObject <NSCopying>
// At most 16 dimensions, the innermost first.
- (instancetype)initWithRank:(NSUInteger)rank values:(const NSInteger *)values;
@property(readonly) NSUInteger rank;
- (NSInteger)extentAtDimensionIndex:(NSUInteger)index;
@end

@interface MTLTensorDescriptor : NSObject <NSCopying>
@property(copy) MTLTensorExtents *dimensions;
@property(copy) MTLTensorExtents *strides;
@property MTLTensorDataType dataType;
@property MTLTensorUsage usage;
@property MTLResourceOptions resourceOptions;
@property MTLCPUCacheMode cpuCacheMode;
@property MTLStorageMode storageMode;
@property MTLHazardTrackingMode hazardTrackingMode;
@end

// Bound by an argument table of Metal 4, or by setTensor:atBufferIndex:, a
// method of Mettle's.
@protocol MTLTensor <MTLResource>
@property(readonly) MTLResourceID gpuResourceID;
@property(readonly) id<MTLBuffer> buffer;
@property(readonly) NSUInteger bufferOffset;
@property(readonly) MTLTensorExtents *dimensions;
@property(readonly) MTLTensorExtents *strides;
@property(readonly) MTLTensorDataType dataType;
@property(readonly) MTLTensorUsage usage;
- (void)replaceSliceOrigin:(MTLTensorExtents *)origin
           sliceDimensions:(MTLTensorExtents *)dimensions
                 withBytes:(const void *)bytes
                   strides:(MTLTensorExtents *)strides;
- (void)getBytes:(void *)bytes
            strides:(MTLTensorExtents *)strides
    fromSliceOrigin:(MTLTensorExtents *)origin
    sliceDimensions:(MTLTensorExtents *)dimensions;
@end

#endif

#endif
