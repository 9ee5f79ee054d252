// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MetalPerformanceShaders.h: products of matrices, and MPSCommandBuffer. The
// compiler refuses the other kernels that programs use most.
#ifndef METTLE_OBJC_METALPERFORMANCESHADERS_H
#define METTLE_OBJC_METALPERFORMANCESHADERS_H

#include <Metal/Metal.h>

// YES for every device of ours: what is declared here runs on it.
OBJC_EXTERN BOOL MPSSupportsMTLDevice(id<MTLDevice> device);

#ifdef __OBJC__
#define METTLE_NO_MPS                                                    \
  __attribute__((unavailable(                                            \
      "of Metal Performance Shaders Mettle has MPSMatrixMultiplication " \
      "alone: write a kernel of your own")))
#define METTLE_NO_MPS_CLASS(name)          \
  METTLE_NO_MPS @interface name : NSObject \
  @end
METTLE_NO_MPS_CLASS(MPSTemporaryMatrix)
METTLE_NO_MPS_CLASS(MPSVectorDescriptor)
METTLE_NO_MPS_CLASS(MPSVector)
METTLE_NO_MPS_CLASS(MPSMatrixVectorMultiplication)
METTLE_NO_MPS_CLASS(MPSMatrixSoftMax)
METTLE_NO_MPS_CLASS(MPSNDArrayDescriptor)
METTLE_NO_MPS_CLASS(MPSNDArray)
METTLE_NO_MPS_CLASS(MPSNDArrayMatrixMultiplication)
METTLE_NO_MPS_CLASS(MPSImageDescriptor)
METTLE_NO_MPS_CLASS(MPSImage)
METTLE_NO_MPS_CLASS(MPSImageGaussianBlur)
METTLE_NO_MPS_CLASS(MPSImageBilinearScale)
METTLE_NO_MPS_CLASS(MPSImageHistogram)
METTLE_NO_MPS_CLASS(MPSCNNConvolution)

// Bits, and what they are. MPSMatrixMultiplication takes the three floats.
typedef NS_ENUM(uint32_t, MPSDataType) {
  MPSDataTypeInvalid = 0,
  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeSignedBit = 0x20000000,
  MPSDataTypeNormalizedBit = 0x40000000,
  MPSDataTypeAlternateEncodingBit = 0x80000000,
  MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,
  MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
  MPSDataTypeBFloat16 = MPSDataTypeAlternateEncodingBit | MPSDataTypeFloat16,
  MPSDataTypeInt8 = MPSDataTypeSignedBit | 8,
  MPSDataTypeInt16 = MPSDataTypeSignedBit | 16,
  MPSDataTypeInt32 = MPSDataTypeSignedBit | 32,
  MPSDataTypeInt64 = MPSDataTypeSignedBit | 64,
  MPSDataTypeUInt8 = 8,
  MPSDataTypeUInt16 = 16,
  MPSDataTypeUInt32 = 32,
  MPSDataTypeUInt64 = 64,
  MPSDataTypeBool = MPSDataTypeAlternateEncodingBit | 8,
};

typedef NS_OPTIONS(NSUInteger, MPSKernelOptions) {
  MPSKernelOptionsNone = 0,
  MPSKernelOptionsSkipAPIValidation = 1 << 0,
  MPSKernelOptionsAllowReducedPrecision = 1 << 1,
  MPSKernelOptionsDisableInternalTiling = 1 << 2,
  MPSKernelOptionsInsertDebugGroups = 1 << 3,
  MPSKernelOptionsVerbose = 1 << 4,
};

@interface MPSKernel : NSObject
@property(readonly, nonatomic) id<MTLDevice> device;
@property(readwrite, nonatomic, copy) NSString *label;
// Kept; all results have full precision.
@property(readwrite, nonatomic) MPSKernelOptions options;
@end

@interface MPSMatrixDescriptor : NSObject <NSCopying>
@property(readwrite, nonatomic) NSUInteger rows, columns;
@property(readonly, nonatomic) NSUInteger matrices;
@property(readwrite, nonatomic) MPSDataType dataType;
@property(readwrite, nonatomic) NSUInteger rowBytes;
@property(readonly, nonatomic) NSUInteger matrixBytes;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)bytes
                                dataType:(MPSDataType)type;
+ (instancetype)matrixDescriptorWithDimensions:(NSUInteger)rows
                                       columns:(NSUInteger)columns
                                      rowBytes:(NSUInteger)bytes
                                      dataType:(MPSDataType)type;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)bytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)type;
+ (size_t)rowBytesFromColumns:(NSUInteger)columns dataType:(MPSDataType)type;
+ (size_t)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)type;
@end

@interface MPSMatrix : NSObject
@property(readonly, nonatomic) id<MTLDevice> device;
@property(readonly, nonatomic) id<MTLBuffer> data;
@property(readonly, nonatomic) NSUInteger offset;
@property(readonly, nonatomic) NSUInteger rows, columns, matrices;
@property(readonly, nonatomic) NSUInteger rowBytes, matrixBytes;
@property(readonly, nonatomic) MPSDataType dataType;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                    descriptor:(MPSMatrixDescriptor *)descriptor;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor *)descriptor;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    descriptor:(MPSMatrixDescriptor *)descriptor;
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commands;
- (NSUInteger)resourceSize;
@end

// result = alpha * left * right + beta * result, either turned or not. Origins
// are row, column and matrix. Sums are floats.
@interface MPSMatrixMultiplication : MPSKernel
@property(readwrite, nonatomic) MTLOrigin resultMatrixOrigin;
@property(readwrite, nonatomic) MTLOrigin leftMatrixOrigin;
@property(readwrite, nonatomic) MTLOrigin rightMatrixOrigin;
@property(readwrite, nonatomic) NSUInteger batchStart, batchSize;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)rows
                 resultColumns:(NSUInteger)columns
               interiorColumns:(NSUInteger)interior
                         alpha:(double)alpha
                          beta:(double)beta;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    resultRows:(NSUInteger)rows
                 resultColumns:(NSUInteger)columns
               interiorColumns:(NSUInteger)interior;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commands
                   leftMatrix:(MPSMatrix *)left
                  rightMatrix:(MPSMatrix *)right
                 resultMatrix:(MPSMatrix *)result;
@end

@interface MPSCommandBuffer : NSObject <MTLCommandBuffer>
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)queue;
+ (instancetype)commandBufferWithCommandBuffer:(id<MTLCommandBuffer>)commands;
- (instancetype)initWithCommandBuffer:(id<MTLCommandBuffer>)commands;
@property(readonly) id<MTLCommandBuffer> commandBuffer;
@property(readonly) id<MTLCommandBuffer> rootCommandBuffer;
@property(strong) id predicate;
// Commits what is encoded; what comes is in a new one of the same queue.
- (void)commitAndContinue;
@end
#endif

#endif
