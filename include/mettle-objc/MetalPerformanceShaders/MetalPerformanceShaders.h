// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MetalPerformanceShaders.h: MPSCommandBuffer alone. There are no kernels:
// MPSSupportsMTLDevice says NO of every device, and the compiler refuses the
// classes that programs use most.
#ifndef METTLE_OBJC_METALPERFORMANCESHADERS_H
#define METTLE_OBJC_METALPERFORMANCESHADERS_H

#include <Metal/Metal.h>

// NO: programs that ask do without.
OBJC_EXTERN BOOL MPSSupportsMTLDevice(id<MTLDevice> device);

#ifdef __OBJC__
#define METTLE_NO_MPS                                                      \
  __attribute__((unavailable(                                              \
      "Mettle has no kernels of Metal Performance Shaders: multiply by a " \
      "kernel of your own where MPSSupportsMTLDevice says NO")))
#define METTLE_NO_MPS_CLASS(name)          \
  METTLE_NO_MPS @interface name : NSObject \
  @end
METTLE_NO_MPS_CLASS(MPSKernel)
METTLE_NO_MPS_CLASS(MPSMatrixDescriptor)
METTLE_NO_MPS_CLASS(MPSMatrix)
METTLE_NO_MPS_CLASS(MPSTemporaryMatrix)
METTLE_NO_MPS_CLASS(MPSVectorDescriptor)
METTLE_NO_MPS_CLASS(MPSVector)
METTLE_NO_MPS_CLASS(MPSMatrixMultiplication)
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
