// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal.h: Metal for compute, as libMetal.so.1 has it. Names and numbers are
// Metal's; what is not here is not there: docs/objc.md.
//
// Source  metal-cpp's enumerations (Apache-2.0), for the numbers
#ifndef METTLE_OBJC_METAL_H
#define METTLE_OBJC_METAL_H

#include <Metal/MTLAllocation.h>
#include <Metal/MTLArgument.h>
#include <Metal/MTLArgumentEncoder.h>
#include <Metal/MTLBinaryArchive.h>
#include <Metal/MTLBlitCommandEncoder.h>
#include <Metal/MTLBlitPass.h>
#include <Metal/MTLBuffer.h>
#include <Metal/MTLCaptureManager.h>
#include <Metal/MTLCaptureScope.h>
#include <Metal/MTLCommandBuffer.h>
#include <Metal/MTLCommandEncoder.h>
#include <Metal/MTLCommandQueue.h>
#include <Metal/MTLComputeCommandEncoder.h>
#include <Metal/MTLComputePass.h>
#include <Metal/MTLComputePipeline.h>
#include <Metal/MTLCounters.h>
#include <Metal/MTLDefines.h>
#include <Metal/MTLDepthStencil.h>
#include <Metal/MTLDevice.h>
#include <Metal/MTLDynamicLibrary.h>
#include <Metal/MTLEvent.h>
#include <Metal/MTLFence.h>
#include <Metal/MTLFunctionConstantValues.h>
#include <Metal/MTLFunctionDescriptor.h>
#include <Metal/MTLFunctionHandle.h>
#include <Metal/MTLFunctionLog.h>
#include <Metal/MTLHeap.h>
#include <Metal/MTLIOCommandBuffer.h>
#include <Metal/MTLIOCommandQueue.h>
#include <Metal/MTLIndirectCommandBuffer.h>
#include <Metal/MTLIndirectCommandEncoder.h>
#include <Metal/MTLLibrary.h>
#include <Metal/MTLLinkedFunctions.h>
#include <Metal/MTLLogState.h>
#include <Metal/MTLPipeline.h>
#include <Metal/MTLPixelFormat.h>
#include <Metal/MTLResidencySet.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLSampler.h>
#include <Metal/MTLTensor.h>
#include <Metal/MTLTexture.h>
#include <Metal/MTLTypes.h>
#include <Metal/MTLVisibleFunctionTable.h>

#include <Metal/MTL4.h>

#endif
