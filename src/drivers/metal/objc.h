// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// objc.h: declares Metal for C: untyped objects, messages sent by the runtime's
// function, and the numbers and structs that they take. Nothing here comes from
// a header of Apple's.
//
// Source  Apple: the Metal framework's reference, for selectors and values;
//         Clang: "Block Implementation Specification", for blocks
#ifndef METAL_OBJC_H
#define METAL_OBJC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/object.h"
#include "base/status.h"

typedef struct objc_object *id;
typedef struct objc_selector *SEL;

// NSRange, MTLSize and MTLOrigin.
typedef struct metal_range {
  unsigned long first, count;
} metal_range;
typedef struct metal_size {
  unsigned long width, height, depth;
} metal_size;

// X(name, selector) of every message that the driver sends.
#define METAL_SELECTORS(X)                                                     \
  X(addCompletedHandler, "addCompletedHandler:")                               \
  X(addScheduledHandler, "addScheduledHandler:")                               \
  X(alloc, "alloc")                                                            \
  X(architecture, "architecture")                                              \
  X(arrayLength, "arrayLength")                                                \
  X(access, "access")                                                          \
  X(argumentIndex, "argumentIndex")                                            \
  X(argumentIndexStride, "argumentIndexStride")                                \
  X(arrayType, "arrayType")                                                    \
  X(elementStructType, "elementStructType")                                    \
  X(elementArrayType, "elementArrayType")                                      \
  X(elementPointerType, "elementPointerType")                                  \
  X(elementType, "elementType")                                                \
  X(pointerType, "pointerType")                                                \
  X(dataType, "dataType")                                                      \
  X(dataSize, "dataSize")                                                      \
  X(alignment, "alignment")                                                    \
  X(stride, "stride")                                                          \
  X(offset, "offset")                                                          \
  X(members, "members")                                                        \
  X(structType, "structType")                                                  \
  X(bindings, "bindings")                                                      \
  X(blitCommandEncoder, "blitCommandEncoder")                                  \
  X(bufferAlignment, "bufferAlignment")                                        \
  X(bufferDataSize, "bufferDataSize")                                          \
  X(bufferDataType, "bufferDataType")                                          \
  X(bufferStructType, "bufferStructType")                                      \
  X(code, "code")                                                              \
  X(commandBuffer, "commandBuffer")                                            \
  X(commit, "commit")                                                          \
  X(computeEncoder, "computeCommandEncoderWithDispatchType:")                  \
  X(contents, "contents")                                                      \
  X(copyBuffer,                                                                \
    "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:")            \
  X(copyBufferToTexture,                                                       \
    "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:"       \
    "sourceSize:toTexture:destinationSlice:destinationLevel:"                  \
    "destinationOrigin:")                                                      \
  X(copyTextureToBuffer,                                                       \
    "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:"         \
    "toBuffer:destinationOffset:destinationBytesPerRow:"                       \
    "destinationBytesPerImage:")                                               \
  X(count, "count")                                                            \
  X(didModifyRange, "didModifyRange:")                                         \
  X(dispatchIndirect,                                                          \
    "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:"             \
    "threadsPerThreadgroup:")                                                  \
  X(dispatchThreadgroups, "dispatchThreadgroups:threadsPerThreadgroup:")       \
  X(dispatchThreads, "dispatchThreads:threadsPerThreadgroup:")                 \
  X(domain, "domain")                                                          \
  X(encodeSignalEvent, "encodeSignalEvent:value:")                             \
  X(encodeWaitForEvent, "encodeWaitForEvent:value:")                           \
  X(endEncoding, "endEncoding")                                                \
  X(error, "error")                                                            \
  X(fillBuffer, "fillBuffer:range:value:")                                     \
  X(functionConstants, "functionConstantsDictionary")                          \
  X(functionHandle, "functionHandleWithFunction:")                             \
  X(functionNames, "functionNames")                                            \
  X(functionType, "functionType")                                              \
  X(allValues, "allValues")                                                    \
  X(gpuAddress, "gpuAddress")                                                  \
  X(gpuResourceID, "gpuResourceID")                                            \
  X(gpuStartTime, "GPUStartTime")                                              \
  X(gpuEndTime, "GPUEndTime")                                                  \
  X(hasUnifiedMemory, "hasUnifiedMemory")                                      \
  X(index, "index")                                                            \
  X(init, "init")                                                              \
  X(initWithBytes, "initWithBytes:length:encoding:")                           \
  X(isDepthTexture, "isDepthTexture")                                          \
  X(isUsed, "isUsed")                                                          \
  X(localizedDescription, "localizedDescription")                              \
  X(linkedFunctions, "linkedFunctions")                                        \
  X(maxBufferLength, "maxBufferLength")                                        \
  X(maxThreadgroupMemoryLength, "maxThreadgroupMemoryLength")                  \
  X(maxThreadsPerThreadgroup, "maxThreadsPerThreadgroup")                      \
  X(maxTotalThreads, "maxTotalThreadsPerThreadgroup")                          \
  X(memoryBarrier, "memoryBarrierWithScope:")                                  \
  X(memberByName, "memberByName:")                                             \
  X(name, "name")                                                              \
  X(newBuffer, "newBufferWithLength:options:")                                 \
  X(newBufferWithBytes, "newBufferWithBytes:length:options:")                  \
  X(newBufferNoCopy,                                                           \
    "newBufferWithBytesNoCopy:length:options:deallocator:")                    \
  X(newFence, "newFence")                                                      \
  X(newFunction, "newFunctionWithName:")                                       \
  X(newFunctionWithValues, "newFunctionWithName:constantValues:error:")        \
  X(newLibrary, "newLibraryWithSource:options:error:")                         \
  X(newLogState, "newLogStateWithDescriptor:error:")                           \
  X(newPipeline,                                                               \
    "newComputePipelineStateWithDescriptor:options:reflection:error:")         \
  X(newQueue, "newCommandQueueWithMaxCommandBufferCount:")                     \
  X(newSampler, "newSamplerStateWithDescriptor:")                              \
  X(newSharedEvent, "newSharedEvent")                                          \
  X(newTable, "newVisibleFunctionTableWithDescriptor:")                        \
  X(newTexture, "newTextureWithDescriptor:")                                   \
  X(newTextureInBuffer, "newTextureWithDescriptor:offset:bytesPerRow:")        \
  X(newSwizzledView,                                                           \
    "newTextureViewWithPixelFormat:textureType:levels:slices:swizzle:")        \
  X(notifyListener, "notifyListener:atValue:block:")                           \
  X(objectAtIndex, "objectAtIndex:")                                           \
  X(popDebugGroup, "popDebugGroup")                                            \
  X(pushDebugGroup, "pushDebugGroup:")                                         \
  X(arrayWithObjects, "arrayWithObjects:count:")                               \
  X(recommendedMaxWorkingSetSize, "recommendedMaxWorkingSetSize")              \
  X(release, "release")                                                        \
  X(required, "required")                                                      \
  X(respondsToSelector, "respondsToSelector:")                                 \
  X(retain, "retain")                                                          \
  X(sampleTimestamps, "sampleTimestamps:gpuTimestamp:")                        \
  X(setLogState, "setLogState:")                                               \
  X(setLevel, "setLevel:")                                                     \
  X(setBufferSize, "setBufferSize:")                                           \
  X(setEnableLogging, "setEnableLogging:")                                     \
  X(addLogHandler, "addLogHandler:")                                           \
  X(commandBufferWithDescriptor, "commandBufferWithDescriptor:")               \
  X(newResidencySet, "newResidencySetWithDescriptor:error:")                   \
  X(addAllocation, "addAllocation:")                                           \
  X(requestResidency, "requestResidency")                                      \
  X(setArrayLength, "setArrayLength:")                                         \
  X(setBorderColor, "setBorderColor:")                                         \
  X(setBuffer, "setBuffer:offset:atIndex:")                                    \
  X(setBytes, "setBytes:length:atIndex:")                                      \
  X(setCompareFunction, "setCompareFunction:")                                 \
  X(setComputeFunction, "setComputeFunction:")                                 \
  X(setComputePipelineState, "setComputePipelineState:")                       \
  X(setConstantValue, "setConstantValue:type:atIndex:")                        \
  X(setDepth, "setDepth:")                                                     \
  X(setFastMathEnabled, "setFastMathEnabled:")                                 \
  X(setFunction, "setFunction:atIndex:")                                       \
  X(setFunctionCount, "setFunctionCount:")                                     \
  X(setFunctions, "setFunctions:")                                             \
  X(setHeight, "setHeight:")                                                   \
  X(setLabel, "setLabel:")                                                     \
  X(setLanguageVersion, "setLanguageVersion:")                                 \
  X(setLinkedFunctions, "setLinkedFunctions:")                                 \
  X(setLodMaxClamp, "setLodMaxClamp:")                                         \
  X(setLodMinClamp, "setLodMinClamp:")                                         \
  X(setMagFilter, "setMagFilter:")                                             \
  X(setMathMode, "setMathMode:")                                               \
  X(setMaxAnisotropy, "setMaxAnisotropy:")                                     \
  X(setMaxCallStackDepth, "setMaxCallStackDepth:")                             \
  X(setMaxTotalThreads, "setMaxTotalThreadsPerThreadgroup:")                   \
  X(setMinFilter, "setMinFilter:")                                             \
  X(setMipFilter, "setMipFilter:")                                             \
  X(setMipmapLevelCount, "setMipmapLevelCount:")                               \
  X(setNormalizedCoordinates, "setNormalizedCoordinates:")                     \
  X(setPixelFormat, "setPixelFormat:")                                         \
  X(setPrivateFunctions, "setPrivateFunctions:")                               \
  X(setPurgeableState, "setPurgeableState:")                                   \
  X(setRAddressMode, "setRAddressMode:")                                       \
  X(setResourceOptions, "setResourceOptions:")                                 \
  X(setSAddressMode, "setSAddressMode:")                                       \
  X(setSamplerState, "setSamplerState:atIndex:")                               \
  X(setSignaledValue, "setSignaledValue:")                                     \
  X(setSupportArgumentBuffers, "setSupportArgumentBuffers:")                   \
  X(setTAddressMode, "setTAddressMode:")                                       \
  X(setTexture, "setTexture:atIndex:")                                         \
  X(setTextureType, "setTextureType:")                                         \
  X(setThreadgroupMemory, "setThreadgroupMemoryLength:atIndex:")               \
  X(setUsage, "setUsage:")                                                     \
  X(setVisibleFunctionTable, "setVisibleFunctionTable:atBufferIndex:")         \
  X(setWidth, "setWidth:")                                                     \
  X(signaledValue, "signaledValue")                                            \
  X(staticThreadgroupMemoryLength, "staticThreadgroupMemoryLength")            \
  X(status, "status")                                                          \
  X(supportsFamily, "supportsFamily:")                                         \
  X(synchronizeResource, "synchronizeResource:")                               \
  X(textureDataType, "textureDataType")                                        \
  X(textureType, "textureType")                                                \
  X(threadExecutionWidth, "threadExecutionWidth")                              \
  X(threadgroupMemoryAlignment, "threadgroupMemoryAlignment")                  \
  X(threadgroupMemoryDataSize, "threadgroupMemoryDataSize")                    \
  X(type, "type")                                                              \
  X(unsignedLongValue, "unsignedLongValue")                                    \
  X(userInfo, "userInfo")                                                      \
  X(objectForKey, "objectForKey:")                                             \
  X(updateFence, "updateFence:")                                               \
  X(useResource, "useResource:usage:")                                         \
  X(useResources, "useResources:count:usage:")                                 \
  X(utf8String, "UTF8String")                                                  \
  X(waitForFence, "waitForFence:")                                             \
  X(waitUntilCompleted, "waitUntilCompleted")                                  \
  X(setCommandTypes, "setCommandTypes:")                                       \
  X(setInheritBuffers, "setInheritBuffers:")                                   \
  X(setInheritPipelineState, "setInheritPipelineState:")                       \
  X(setMaxKernelBuffers, "setMaxKernelBufferBindCount:")                       \
  X(setMaxKernelThreadgroupMemory, "setMaxKernelThreadgroupMemoryBindCount:")  \
  X(newIndirectCommands,                                                       \
    "newIndirectCommandBufferWithDescriptor:maxCommandCount:options:")         \
  X(computeCommandAtIndex, "indirectComputeCommandAtIndex:")                   \
  X(setKernelBuffer, "setKernelBuffer:offset:atIndex:")                        \
  X(concurrentThreads, "concurrentDispatchThreads:threadsPerThreadgroup:")     \
  X(concurrentThreadgroups,                                                    \
    "concurrentDispatchThreadgroups:threadsPerThreadgroup:")                   \
  X(setBarrier, "setBarrier")                                                  \
  X(clearBarrier, "clearBarrier")                                              \
  X(resetWithRange, "resetWithRange:")                                         \
  X(executeCommands, "executeCommandsInBuffer:withRange:")                     \
  X(executeCommandsIndirect,                                                   \
    "executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:")            \
  X(copyCommands,                                                              \
    "copyIndirectCommandBuffer:sourceRange:destination:destinationIndex:")     \
  X(resetCommands, "resetCommandsInBuffer:withRange:")                         \
  X(setSupportIndirect, "setSupportIndirectCommandBuffers:")                   \
  X(dimensions, "dimensions")                                                  \
  X(rank, "rank")                                                              \
  X(tensorDataType, "tensorDataType")                                          \
  X(extentAtDimensionIndex, "extentAtDimensionIndex:")                         \
  X(initWithRank, "initWithRank:values:")                                      \
  X(setDimensions, "setDimensions:")                                           \
  X(setStrides, "setStrides:")                                                 \
  X(setDataType, "setDataType:")                                               \
  X(newTensorInBuffer, "newTensorWithDescriptor:offset:error:")                \
  X(setTensor, "setTensor:atBufferIndex:")                                     \
  X(counterSets, "counterSets")                                                \
  X(supportsCounterSampling, "supportsCounterSampling:")                       \
  X(setCounterSet, "setCounterSet:")                                           \
  X(setSampleCount, "setSampleCount:")                                         \
  X(setStorageMode, "setStorageMode:")                                         \
  X(newCounterSamples, "newCounterSampleBufferWithDescriptor:error:")          \
  X(sampleBufferAttachments, "sampleBufferAttachments")                        \
  X(objectAtIndexedSubscript, "objectAtIndexedSubscript:")                     \
  X(setSampleBuffer, "setSampleBuffer:")                                       \
  X(setStartOfEncoderSample, "setStartOfEncoderSampleIndex:")                  \
  X(setEndOfEncoderSample, "setEndOfEncoderSampleIndex:")                      \
  X(computePassDescriptor, "computePassDescriptor")                            \
  X(blitPassDescriptor, "blitPassDescriptor")                                  \
  X(setDispatchType, "setDispatchType:")                                       \
  X(computeEncoderFor, "computeCommandEncoderWithDescriptor:")                 \
  X(blitEncoderFor, "blitCommandEncoderWithDescriptor:")                       \
  X(resolveCounters,                                                           \
    "resolveCounters:inRange:destinationBuffer:destinationOffset:")            \
  X(resolveCounterRange, "resolveCounterRange:")                               \
  X(length, "length")                                                          \
  X(bytes, "bytes")                                                            \
  X(waitUntilSignaledValue, "waitUntilSignaledValue:timeoutMS:")

enum {
#define METAL_SELECTOR_NUMBER(name, text) METAL_##name,
  METAL_SELECTORS(METAL_SELECTOR_NUMBER)
#undef METAL_SELECTOR_NUMBER
      METAL_SELECTOR_COUNT,
};

// The functions and classes that load.c has found. Set once, before the first
// device is open.
typedef struct metal_runtime {
  void (*send)(void);         // objc_msgSend
  void (*send_struct)(void);  // for results larger than two words
  id (*get_class)(const char *name);
  void *(*pool_push)(void);
  void (*pool_pop)(void *pool);
  id (*copy_all_devices)(void);
  void *stack_block;  // _NSConcreteStackBlock
  SEL selectors[METAL_SELECTOR_COUNT];
} metal_runtime;
extern metal_runtime metal;

// Loads Metal, once. Any thread; blocks.
mtl_status metal_load(void);

// Sends a message: SEND(void (*)(id, SEL, unsigned long), object, setWidth, 3).
#define SEND(type, object, name, ...)                               \
  (((type)metal.send)((object), metal.selectors[METAL_##name],      \
                      ##__VA_ARGS__))
typedef id metal_get_object(id, SEL);
typedef unsigned long metal_get_number(id, SEL);
typedef void metal_set_number(id, SEL, unsigned long);
typedef void metal_set_object(id, SEL, id);
typedef void metal_set_float(id, SEL, float);
typedef void metal_call(id, SEL);
#define GET_OBJECT(object, name) SEND(metal_get_object *, object, name)
#define GET_NUMBER(object, name) SEND(metal_get_number *, object, name)
// Reads a BOOL: the rest of the register is undefined.
#define GET_BOOL(object, name) \
  ((SEND(metal_get_number *, object, name) & 0xff) != 0)
#define SET_NUMBER(object, name, value) \
  SEND(metal_set_number *, object, name, value)
#define SET_OBJECT(object, name, value) \
  SEND(metal_set_object *, object, name, value)
#define CALL(object, name) SEND(metal_call *, object, name)

// True if object has a method of that selector.
#define RESPONDS(object, name)                                            \
  ((SEND(unsigned long (*)(id, SEL, SEL), object, respondsToSelector,     \
         metal.selectors[METAL_##name]) &                                 \
    0xff) != 0)

// [[class alloc] init]; the caller's reference.
id metal_new(const char *class_name);
void metal_release(id object);  // nil is allowed
id metal_retain(id object);

// Returns an NSString, the caller's reference; nil for invalid UTF-8.
id metal_string(const char *text, unsigned long length_bytes);
// Returns the text of an NSString, for as long as the string lives; "" for nil.
const char *metal_text(id string);

// Returns an NSArray of objects, autoreleased.
id metal_array(const id *objects, unsigned long count);

// Sets object's label, if there is one.
void metal_label(id object, const char *label);

// Fails with the text of an NSError; what names the call if error is nil.
mtl_status metal_fail(id error, const char *what);
// Returns the status alone.
mtl_status metal_status(id error);

// --- blocks ------------------------------------------------------------------

typedef struct metal_block_layout {
  unsigned long reserved;
  unsigned long size;
  void (*copy)(void *to, const void *from);
  void (*dispose)(const void *block);
} metal_block_layout;

// A block on the stack that retains one object; callees that keep the block
// copy it.
typedef struct metal_block {
  void *isa;
  int32_t flags;
  int32_t reserved;
  void (*invoke)(void);
  const metal_block_layout *layout;
  mtli_object *object;
} metal_block;

// invoke's first parameter is the block.
metal_block metal_block_of(void (*invoke)(void), mtli_object *object);

#endif
