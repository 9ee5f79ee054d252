// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLDefines.h: names that all other headers know.
#ifndef METTLE_OBJC_MTLDEFINES_H
#define METTLE_OBJC_MTLDEFINES_H

#include <Foundation/Foundation.h>
#include <IOSurface/IOSurfaceRef.h>

#define MTL_EXTERN OBJC_EXTERN
#define METAL_EXTERN OBJC_EXTERN

#ifdef __OBJC__

@protocol MTLDevice
, MTLCommandQueue, MTLCommandBuffer, MTLComputeCommandEncoder,
    MTLBlitCommandEncoder, MTLLibrary, MTLFunction, MTLComputePipelineState,
    MTLBuffer, MTLTexture, MTLSamplerState, MTLHeap, MTLEvent, MTLSharedEvent,
    MTLFence, MTLIndirectCommandBuffer, MTLIndirectComputeCommand,
    MTLArgumentEncoder, MTLResidencySet, MTLVisibleFunctionTable,
    MTLFunctionHandle, MTLCaptureScope, MTLLogState, MTLDynamicLibrary,
    MTL4CommandQueue, MTL4CommandAllocator, MTL4CommandBuffer,
    MTL4ArgumentTable, MTL4Compiler, MTL4CounterHeap;

@class MTLCompileOptions, MTLFunctionConstantValues, MTLFunctionDescriptor,
    MTLComputePipelineDescriptor, MTLComputePipelineReflection,
    MTLTextureDescriptor, MTLSamplerDescriptor, MTLTensorDescriptor,
    MTLHeapDescriptor, MTLResidencySetDescriptor,
    MTLIndirectCommandBufferDescriptor, MTLCommandQueueDescriptor,
    MTLCommandBufferDescriptor, MTLComputePassDescriptor, MTLBlitPassDescriptor,
    MTLSharedEventListener, MTLVisibleFunctionTableDescriptor,
    MTLLinkedFunctions, MTLArchitecture, MTLStageInputOutputDescriptor,
    MTLArgumentDescriptor, MTLCounterSampleBufferDescriptor,
    MTLBinaryArchiveDescriptor, MTLLogStateDescriptor, MTLFunctionConstant,
    MTLSharedEventHandle, MTLStructType, MTLArrayType, MTLPointerType,
    MTL4CommandQueueDescriptor, MTL4CommandAllocatorDescriptor,
    MTL4ArgumentTableDescriptor, MTL4CompilerDescriptor,
    MTL4CounterHeapDescriptor;

@protocol MTLCounterSet
, MTLCounterSampleBuffer, MTLBinaryArchive, MTLTensor, MTLAllocation,
    MTLResource, MTLBinding, MTLLogContainer;

@class MTLArgument;

#endif

#endif
