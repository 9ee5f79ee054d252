// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// protocols.c: declares which of Metal's protocols our classes adopt, by name.
// The protocols' methods are in the client's compiled code.
#include "objc/metal/metal.h"

typedef struct adopted {
  uintptr_t count;
  protocol *protocols[3];
} adopted;

#define PROTOCOL(name_) \
  static protocol name_##_protocol = {.name = #name_, .size = sizeof(protocol)}
#define PROTOCOL_OVER(name_, over)                       \
  static adopted name_##_over = {1, {&over##_protocol}}; \
  static protocol name_##_protocol = {                   \
      .name = #name_,                                    \
      .protocols = (protocol_list *)&name_##_over,       \
      .size = sizeof(protocol)}

// Declares that class adopts one protocol, and the protocols that it inherits.
#define ADOPTS(class_, name_)                                 \
  extern struct objc_class OBJC_CLASS_$_##class_;             \
  static adopted class_##_adopted = {1, {&name_##_protocol}}; \
  static category class_##_protocols_category = {             \
      .name = "protocols",                                    \
      .class = &OBJC_CLASS_$_##class_,                        \
      .protocols = (protocol_list *)&class_##_adopted};       \
  static category *class_##_protocols_listed                  \
      __attribute__((section("objc_catlist"), used)) =        \
          &class_##_protocols_category

PROTOCOL(MTLDevice);
PROTOCOL(MTLCommandQueue);
PROTOCOL(MTLCommandBuffer);
PROTOCOL(MTLCommandEncoder);
PROTOCOL_OVER(MTLComputeCommandEncoder, MTLCommandEncoder);
PROTOCOL_OVER(MTLBlitCommandEncoder, MTLCommandEncoder);
PROTOCOL(MTLLibrary);
PROTOCOL(MTLFunction);
PROTOCOL(MTLFunctionHandle);
PROTOCOL(MTLComputePipelineState);
PROTOCOL(MTLAllocation);
PROTOCOL_OVER(MTLResource, MTLAllocation);
PROTOCOL_OVER(MTLBuffer, MTLResource);
PROTOCOL_OVER(MTLTexture, MTLResource);
PROTOCOL_OVER(MTLTensor, MTLResource);
PROTOCOL_OVER(MTLIndirectCommandBuffer, MTLResource);
PROTOCOL_OVER(MTLVisibleFunctionTable, MTLResource);
PROTOCOL_OVER(MTLHeap, MTLAllocation);
PROTOCOL(MTLIndirectComputeCommand);
PROTOCOL(MTLSamplerState);
PROTOCOL(MTLArgumentEncoder);
PROTOCOL(MTLEvent);
PROTOCOL_OVER(MTLSharedEvent, MTLEvent);
PROTOCOL(MTLFence);
PROTOCOL(MTLResidencySet);
PROTOCOL(MTLBinaryArchive);
PROTOCOL(MTLCounter);
PROTOCOL(MTLCounterSet);
PROTOCOL(MTLCounterSampleBuffer);
PROTOCOL(MTLCaptureScope);
PROTOCOL(MTLLogState);
PROTOCOL(MTLIOCommandQueue);
PROTOCOL(MTLIOCommandBuffer);
PROTOCOL(MTLIOFileHandle);
PROTOCOL(MTLCommandBufferEncoderInfo);
PROTOCOL(MTL4CommandQueue);
PROTOCOL(MTL4CommandBuffer);
PROTOCOL(MTL4CommandAllocator);
PROTOCOL(MTL4CommandEncoder);
PROTOCOL_OVER(MTL4ComputeCommandEncoder, MTL4CommandEncoder);
PROTOCOL(MTL4ArgumentTable);
PROTOCOL(MTL4Compiler);
PROTOCOL(MTL4CounterHeap);
PROTOCOL(MTLBinding);
PROTOCOL_OVER(MTLBufferBinding, MTLBinding);

ADOPTS(MettleDevice, MTLDevice);
ADOPTS(MettleQueue, MTLCommandQueue);
ADOPTS(MettleCommandBuffer, MTLCommandBuffer);
ADOPTS(MettleComputeEncoder, MTLComputeCommandEncoder);
ADOPTS(MettleBlitEncoder, MTLBlitCommandEncoder);
ADOPTS(MettleLibrary, MTLLibrary);
ADOPTS(MettleFunction, MTLFunction);
ADOPTS(MettleFunctionHandle, MTLFunctionHandle);
ADOPTS(MettlePipeline, MTLComputePipelineState);
ADOPTS(MettleBuffer, MTLBuffer);
ADOPTS(MettleTexture, MTLTexture);
ADOPTS(MettleTensor, MTLTensor);
ADOPTS(MettleIndirectCommands, MTLIndirectCommandBuffer);
ADOPTS(MettleIndirectCommand, MTLIndirectComputeCommand);
ADOPTS(MettleFunctionTable, MTLVisibleFunctionTable);
ADOPTS(MettleHeap, MTLHeap);
ADOPTS(MettleSampler, MTLSamplerState);
ADOPTS(MettleArgumentEncoder, MTLArgumentEncoder);
ADOPTS(MettleEvent, MTLEvent);
ADOPTS(MettleSharedEvent, MTLSharedEvent);
ADOPTS(MettleFence, MTLFence);
ADOPTS(MettleResidencySet, MTLResidencySet);
ADOPTS(MettleBinaryArchive, MTLBinaryArchive);
ADOPTS(MettleCounter, MTLCounter);
ADOPTS(MettleCounterSet, MTLCounterSet);
ADOPTS(MettleCounterSampleBuffer, MTLCounterSampleBuffer);
ADOPTS(MettleCaptureScope, MTLCaptureScope);
ADOPTS(MettleLogState, MTLLogState);
ADOPTS(MettleLoadQueue, MTLIOCommandQueue);
ADOPTS(MettleLoadCommands, MTLIOCommandBuffer);
ADOPTS(MettleFileHandle, MTLIOFileHandle);
ADOPTS(MettleEncoderInfo, MTLCommandBufferEncoderInfo);
ADOPTS(MettleBinding, MTLBufferBinding);
ADOPTS(MettleQueue4, MTL4CommandQueue);
ADOPTS(MettleCommands4, MTL4CommandBuffer);
ADOPTS(MettleAllocator4, MTL4CommandAllocator);
ADOPTS(MettleEncoder4, MTL4ComputeCommandEncoder);
ADOPTS(MettleArgumentTable4, MTL4ArgumentTable);
ADOPTS(MettleCompiler4, MTL4Compiler);
ADOPTS(MettleCounterHeap4, MTL4CounterHeap);
ADOPTS(MPSCommandBuffer, MTLCommandBuffer);
