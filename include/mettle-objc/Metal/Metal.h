// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal.h: Metal for compute, as libMetal.so.1 has it. Names and numbers are
// Metal's; what is not here is not there: docs/objc.md.
//
// Source  metal-cpp's enumerations (Apache-2.0), for the numbers
#ifndef METTLE_OBJC_METAL_H
#define METTLE_OBJC_METAL_H

#include <Foundation/Foundation.h>
#include <IOSurface/IOSurfaceRef.h>

#define MTL_EXTERN OBJC_EXTERN
#define METAL_EXTERN OBJC_EXTERN

// --- Plain data --------------------------------------------------------------

typedef struct {
  NSUInteger width, height, depth;
} MTLSize;
typedef struct {
  NSUInteger x, y, z;
} MTLOrigin;
typedef struct {
  MTLOrigin origin;
  MTLSize size;
} MTLRegion;
typedef struct {
  NSUInteger size, align;
} MTLSizeAndAlign;
typedef struct {
  uint64_t _impl;
} MTLResourceID;
typedef struct {
  uint32_t threadgroupsPerGrid[3];
} MTLDispatchThreadgroupsIndirectArguments;
typedef struct {
  uint32_t location, length;
} MTLIndirectCommandBufferExecutionRange;

NS_INLINE MTLSize MTLSizeMake(NSUInteger width, NSUInteger height,
                              NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}
NS_INLINE MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {
  MTLOrigin origin = {x, y, z};
  return origin;
}
NS_INLINE MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width) {
  MTLRegion region = {{x, 0, 0}, {width, 1, 1}};
  return region;
}
NS_INLINE MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y,
                                    NSUInteger width, NSUInteger height) {
  MTLRegion region = {{x, y, 0}, {width, height, 1}};
  return region;
}
NS_INLINE MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z,
                                    NSUInteger width, NSUInteger height,
                                    NSUInteger depth) {
  MTLRegion region = {{x, y, z}, {width, height, depth}};
  return region;
}

typedef uint64_t MTLGPUAddress;
typedef uint64_t MTLTimestamp;

// --- Enumerations ------------------------------------------------------------

typedef NS_ENUM(NSInteger, MTLGPUFamily) {
  MTLGPUFamilyApple1 = 1001,
  MTLGPUFamilyApple2 = 1002,
  MTLGPUFamilyApple3 = 1003,
  MTLGPUFamilyApple4 = 1004,
  MTLGPUFamilyApple5 = 1005,
  MTLGPUFamilyApple6 = 1006,
  MTLGPUFamilyApple7 = 1007,
  MTLGPUFamilyApple8 = 1008,
  MTLGPUFamilyApple9 = 1009,
  MTLGPUFamilyApple10 = 1010,
  MTLGPUFamilyMac1 = 2001,
  MTLGPUFamilyMac2 = 2002,
  MTLGPUFamilyCommon1 = 3001,
  MTLGPUFamilyCommon2 = 3002,
  MTLGPUFamilyCommon3 = 3003,
  MTLGPUFamilyMetal3 = 5001,
  MTLGPUFamilyMetal4 = 5002
};

typedef NS_ENUM(NSUInteger, MTLDeviceLocation) {
  MTLDeviceLocationBuiltIn = 0,
  MTLDeviceLocationSlot = 1,
  MTLDeviceLocationExternal = 2,
  MTLDeviceLocationUnspecified = NSUIntegerMax
};
typedef NS_ENUM(NSUInteger, MTLArgumentBuffersTier) {
  MTLArgumentBuffersTier1 = 0,
  MTLArgumentBuffersTier2 = 1
};
typedef NS_ENUM(NSUInteger, MTLReadWriteTextureTier) {
  MTLReadWriteTextureTierNone = 0,
  MTLReadWriteTextureTier1 = 1,
  MTLReadWriteTextureTier2 = 2
};

typedef NS_ENUM(NSUInteger, MTLCPUCacheMode) {
  MTLCPUCacheModeDefaultCache = 0,
  MTLCPUCacheModeWriteCombined = 1
};
typedef NS_ENUM(NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged = 1,
  MTLStorageModePrivate = 2,
  MTLStorageModeMemoryless = 3
};
typedef NS_ENUM(NSUInteger, MTLHazardTrackingMode) {
  MTLHazardTrackingModeDefault = 0,
  MTLHazardTrackingModeUntracked = 1,
  MTLHazardTrackingModeTracked = 2
};
typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
  MTLResourceCPUCacheModeDefaultCache = 0,
  MTLResourceCPUCacheModeWriteCombined = 1,
  MTLResourceStorageModeShared = 0 << 4,
  MTLResourceStorageModeManaged = 1 << 4,
  MTLResourceStorageModePrivate = 2 << 4,
  MTLResourceStorageModeMemoryless = 3 << 4,
  MTLResourceHazardTrackingModeDefault = 0 << 8,
  MTLResourceHazardTrackingModeUntracked = 1 << 8,
  MTLResourceHazardTrackingModeTracked = 2 << 8,
  MTLResourceOptionCPUCacheModeDefault = 0,
  MTLResourceOptionCPUCacheModeWriteCombined = 1
};
typedef NS_ENUM(NSUInteger, MTLPurgeableState) {
  MTLPurgeableStateKeepCurrent = 1,
  MTLPurgeableStateNonVolatile = 2,
  MTLPurgeableStateVolatile = 3,
  MTLPurgeableStateEmpty = 4
};
typedef NS_OPTIONS(NSUInteger, MTLResourceUsage) {
  MTLResourceUsageRead = 1,
  MTLResourceUsageWrite = 2,
  MTLResourceUsageSample = 4
};
typedef NS_OPTIONS(NSUInteger, MTLBarrierScope) {
  MTLBarrierScopeBuffers = 1,
  MTLBarrierScopeTextures = 2
};
typedef NS_ENUM(NSUInteger, MTLDispatchType) {
  MTLDispatchTypeSerial = 0,
  MTLDispatchTypeConcurrent = 1
};
typedef NS_ENUM(NSInteger, MTLHeapType) {
  MTLHeapTypeAutomatic = 0,
  MTLHeapTypePlacement = 1,
  MTLHeapTypeSparse = 2
};

typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5
};
typedef NS_ENUM(NSUInteger, MTLCommandBufferError) {
  MTLCommandBufferErrorNone = 0,
  MTLCommandBufferErrorInternal = 1,
  MTLCommandBufferErrorTimeout = 2,
  MTLCommandBufferErrorPageFault = 3,
  MTLCommandBufferErrorNotPermitted = 7,
  MTLCommandBufferErrorOutOfMemory = 8,
  MTLCommandBufferErrorInvalidResource = 9
};
typedef NS_OPTIONS(NSUInteger, MTLCommandBufferErrorOption) {
  MTLCommandBufferErrorOptionNone = 0,
  MTLCommandBufferErrorOptionEncoderExecutionStatus = 1
};

typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
  MTLLanguageVersion1_0 = 1 << 16,
  MTLLanguageVersion1_1 = (1 << 16) + 1,
  MTLLanguageVersion1_2 = (1 << 16) + 2,
  MTLLanguageVersion2_0 = 2 << 16,
  MTLLanguageVersion2_1 = (2 << 16) + 1,
  MTLLanguageVersion2_2 = (2 << 16) + 2,
  MTLLanguageVersion2_3 = (2 << 16) + 3,
  MTLLanguageVersion2_4 = (2 << 16) + 4,
  MTLLanguageVersion3_0 = 3 << 16,
  MTLLanguageVersion3_1 = (3 << 16) + 1,
  MTLLanguageVersion3_2 = (3 << 16) + 2,
  MTLLanguageVersion4_0 = 4 << 16
};
typedef NS_ENUM(NSInteger, MTLMathMode) {
  MTLMathModeSafe = 0,
  MTLMathModeRelaxed = 1,
  MTLMathModeFast = 2
};
typedef NS_ENUM(NSInteger, MTLMathFloatingPointFunctions) {
  MTLMathFloatingPointFunctionsFast = 0,
  MTLMathFloatingPointFunctionsPrecise = 1
};
typedef NS_ENUM(NSInteger, MTLLibraryType) {
  MTLLibraryTypeExecutable = 0,
  MTLLibraryTypeDynamic = 1
};
typedef NS_ENUM(NSInteger, MTLLibraryOptimizationLevel) {
  MTLLibraryOptimizationLevelDefault = 0,
  MTLLibraryOptimizationLevelSize = 1
};
typedef NS_ENUM(NSUInteger, MTLLibraryError) {
  MTLLibraryErrorUnsupported = 1,
  MTLLibraryErrorInternal = 2,
  MTLLibraryErrorCompileFailure = 3,
  MTLLibraryErrorCompileWarning = 4,
  MTLLibraryErrorFunctionNotFound = 5,
  MTLLibraryErrorFileNotFound = 6
};
typedef NS_ENUM(NSUInteger, MTLFunctionType) {
  MTLFunctionTypeVertex = 1,
  MTLFunctionTypeFragment = 2,
  MTLFunctionTypeKernel = 3,
  MTLFunctionTypeVisible = 5,
  MTLFunctionTypeIntersection = 6
};
typedef NS_OPTIONS(NSUInteger, MTLFunctionOptions) {
  MTLFunctionOptionNone = 0,
  MTLFunctionOptionCompileToBinary = 1
};
typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionArgumentInfo = 1,
  MTLPipelineOptionBindingInfo = 1,
  MTLPipelineOptionBufferTypeInfo = 2,
  MTLPipelineOptionFailOnBinaryArchiveMiss = 4
};
typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
  MTLCounterSamplingPointAtStageBoundary = 0,
  MTLCounterSamplingPointAtDrawBoundary = 1,
  MTLCounterSamplingPointAtDispatchBoundary = 2,
  MTLCounterSamplingPointAtTileDispatchBoundary = 3,
  MTLCounterSamplingPointAtBlitBoundary = 4
};
typedef NS_ENUM(NSUInteger, MTLBinaryArchiveError) {
  MTLBinaryArchiveErrorNone = 0,
  MTLBinaryArchiveErrorInvalidFile = 1,
  MTLBinaryArchiveErrorUnexpectedElement = 2,
  MTLBinaryArchiveErrorCompilationFailure = 3,
  MTLBinaryArchiveErrorInternalError = 4
};
// Sources: the sample was not taken; no sample is wanted.
#define MTLCounterErrorValue ((uint64_t)~0ULL)
#define MTLCounterDontSample ((NSUInteger)-1)
typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;
typedef NS_ENUM(NSInteger, MTLShaderValidation) {
  MTLShaderValidationDefault = 0,
  MTLShaderValidationEnabled = 1,
  MTLShaderValidationDisabled = 2
};
typedef NS_ENUM(NSInteger, MTLCompileSymbolVisibility) {
  MTLCompileSymbolVisibilityDefault = 0,
  MTLCompileSymbolVisibilityHidden = 1
};
typedef NS_ENUM(NSInteger, MTLLogLevel) {
  MTLLogLevelUndefined = 0,
  MTLLogLevelDebug = 1,
  MTLLogLevelInfo = 2,
  MTLLogLevelNotice = 3,
  MTLLogLevelError = 4,
  MTLLogLevelFault = 5
};
typedef NS_ENUM(NSInteger, MTLCommandEncoderErrorState) {
  MTLCommandEncoderErrorStateUnknown = 0,
  MTLCommandEncoderErrorStateCompleted = 1,
  MTLCommandEncoderErrorStateAffected = 2,
  MTLCommandEncoderErrorStatePending = 3,
  MTLCommandEncoderErrorStateFaulted = 4
};
typedef NS_ENUM(NSUInteger, MTLDynamicLibraryError) {
  MTLDynamicLibraryErrorNone = 0,
  MTLDynamicLibraryErrorInvalidFile = 1,
  MTLDynamicLibraryErrorCompilationFailure = 2,
  MTLDynamicLibraryErrorUnresolvedInstallName = 3,
  MTLDynamicLibraryErrorDependencyLoadFailure = 4,
  MTLDynamicLibraryErrorUnsupported = 5
};
// Feature sets of before families: supportsFeatureSet: is false of all.
typedef NS_ENUM(NSUInteger, MTLFeatureSet) {
  MTLFeatureSet_macOS_GPUFamily1_v1 = 10000,
  MTLFeatureSet_macOS_GPUFamily1_v2 = 10001,
  MTLFeatureSet_macOS_GPUFamily1_v3 = 10003,
  MTLFeatureSet_macOS_GPUFamily1_v4 = 10004,
  MTLFeatureSet_macOS_GPUFamily2_v1 = 10005
};
typedef NS_ENUM(NSUInteger, MTLMutability) {
  MTLMutabilityDefault = 0,
  MTLMutabilityMutable = 1,
  MTLMutabilityImmutable = 2
};
typedef NS_ENUM(NSUInteger, MTLDataType) {
  MTLDataTypeNone = 0,
  MTLDataTypeStruct = 1,
  MTLDataTypeArray = 2,
  MTLDataTypeFloat = 3,
  MTLDataTypeFloat2 = 4,
  MTLDataTypeFloat3 = 5,
  MTLDataTypeFloat4 = 6,
  MTLDataTypeFloat2x2 = 7,
  MTLDataTypeFloat2x3 = 8,
  MTLDataTypeFloat2x4 = 9,
  MTLDataTypeFloat3x2 = 10,
  MTLDataTypeFloat3x3 = 11,
  MTLDataTypeFloat3x4 = 12,
  MTLDataTypeFloat4x2 = 13,
  MTLDataTypeFloat4x3 = 14,
  MTLDataTypeFloat4x4 = 15,
  MTLDataTypeHalf = 16,
  MTLDataTypeHalf2 = 17,
  MTLDataTypeHalf3 = 18,
  MTLDataTypeHalf4 = 19,
  MTLDataTypeHalf2x2 = 20,
  MTLDataTypeHalf2x3 = 21,
  MTLDataTypeHalf2x4 = 22,
  MTLDataTypeHalf3x2 = 23,
  MTLDataTypeHalf3x3 = 24,
  MTLDataTypeHalf3x4 = 25,
  MTLDataTypeHalf4x2 = 26,
  MTLDataTypeHalf4x3 = 27,
  MTLDataTypeHalf4x4 = 28,
  MTLDataTypeInt = 29,
  MTLDataTypeInt2 = 30,
  MTLDataTypeInt3 = 31,
  MTLDataTypeInt4 = 32,
  MTLDataTypeUInt = 33,
  MTLDataTypeUInt2 = 34,
  MTLDataTypeUInt3 = 35,
  MTLDataTypeUInt4 = 36,
  MTLDataTypeShort = 37,
  MTLDataTypeShort2 = 38,
  MTLDataTypeShort3 = 39,
  MTLDataTypeShort4 = 40,
  MTLDataTypeUShort = 41,
  MTLDataTypeUShort2 = 42,
  MTLDataTypeUShort3 = 43,
  MTLDataTypeUShort4 = 44,
  MTLDataTypeChar = 45,
  MTLDataTypeChar2 = 46,
  MTLDataTypeChar3 = 47,
  MTLDataTypeChar4 = 48,
  MTLDataTypeUChar = 49,
  MTLDataTypeUChar2 = 50,
  MTLDataTypeUChar3 = 51,
  MTLDataTypeUChar4 = 52,
  MTLDataTypeBool = 53,
  MTLDataTypeBool2 = 54,
  MTLDataTypeBool3 = 55,
  MTLDataTypeBool4 = 56,
  MTLDataTypeTexture = 58,
  MTLDataTypeSampler = 59,
  MTLDataTypePointer = 60,
  MTLDataTypeComputePipeline = 79,
  MTLDataTypeIndirectCommandBuffer = 80,
  MTLDataTypeLong = 81,
  MTLDataTypeLong2 = 82,
  MTLDataTypeLong3 = 83,
  MTLDataTypeLong4 = 84,
  MTLDataTypeULong = 85,
  MTLDataTypeULong2 = 86,
  MTLDataTypeULong3 = 87,
  MTLDataTypeULong4 = 88,
  MTLDataTypeVisibleFunctionTable = 115,
  MTLDataTypeBFloat = 121,
  MTLDataTypeBFloat2 = 122,
  MTLDataTypeBFloat3 = 123,
  MTLDataTypeBFloat4 = 124
};
typedef NS_ENUM(NSInteger, MTLBindingType) {
  MTLBindingTypeBuffer = 0,
  MTLBindingTypeThreadgroupMemory = 1,
  MTLBindingTypeTexture = 2,
  MTLBindingTypeSampler = 3,
  MTLBindingTypeVisibleFunctionTable = 24,
  MTLBindingTypeTensor = 37
};
typedef NS_ENUM(NSUInteger, MTLBindingAccess) {
  MTLBindingAccessReadOnly = 0,
  MTLBindingAccessReadWrite = 1,
  MTLBindingAccessWriteOnly = 2
};
// What bindings were called before macOS 13.
typedef MTLBindingType MTLArgumentType;
#define MTLArgumentTypeBuffer MTLBindingTypeBuffer
#define MTLArgumentTypeThreadgroupMemory MTLBindingTypeThreadgroupMemory
#define MTLArgumentTypeTexture MTLBindingTypeTexture
#define MTLArgumentTypeSampler MTLBindingTypeSampler
#define MTLArgumentTypeVisibleFunctionTable MTLBindingTypeVisibleFunctionTable
typedef MTLBindingAccess MTLArgumentAccess;
#define MTLArgumentAccessReadOnly MTLBindingAccessReadOnly
#define MTLArgumentAccessReadWrite MTLBindingAccessReadWrite
#define MTLArgumentAccessWriteOnly MTLBindingAccessWriteOnly
typedef NS_OPTIONS(NSUInteger, MTLIndirectCommandType) {
  MTLIndirectCommandTypeConcurrentDispatch = 1 << 5,
  MTLIndirectCommandTypeConcurrentDispatchThreads = 1 << 6
};
typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
  MTLCaptureDestinationDeveloperTools = 1,
  MTLCaptureDestinationGPUTraceDocument = 2
};
typedef NS_ENUM(NSInteger, MTLCaptureError) {
  MTLCaptureErrorNotSupported = 1,
  MTLCaptureErrorAlreadyCapturing = 2,
  MTLCaptureErrorInvalidDescriptor = 3
};

typedef NS_ENUM(NSUInteger, MTLTextureType) {
  MTLTextureType1D = 0,
  MTLTextureType1DArray = 1,
  MTLTextureType2D = 2,
  MTLTextureType2DArray = 3,
  MTLTextureType2DMultisample = 4,
  MTLTextureTypeCube = 5,
  MTLTextureTypeCubeArray = 6,
  MTLTextureType3D = 7,
  MTLTextureType2DMultisampleArray = 8,
  MTLTextureTypeTextureBuffer = 9
};
typedef NS_OPTIONS(NSUInteger, MTLTextureUsage) {
  MTLTextureUsageUnknown = 0,
  MTLTextureUsageShaderRead = 1,
  MTLTextureUsageShaderWrite = 2,
  MTLTextureUsageRenderTarget = 4,
  MTLTextureUsagePixelFormatView = 0x10,
  MTLTextureUsageShaderAtomic = 0x20
};
typedef NS_ENUM(NSUInteger, MTLPixelFormat) {
  MTLPixelFormatInvalid = 0,
  MTLPixelFormatA8Unorm = 1,
  MTLPixelFormatR8Unorm = 10,
  MTLPixelFormatR8Unorm_sRGB = 11,
  MTLPixelFormatR8Snorm = 12,
  MTLPixelFormatR8Uint = 13,
  MTLPixelFormatR8Sint = 14,
  MTLPixelFormatR16Unorm = 20,
  MTLPixelFormatR16Snorm = 22,
  MTLPixelFormatR16Uint = 23,
  MTLPixelFormatR16Sint = 24,
  MTLPixelFormatR16Float = 25,
  MTLPixelFormatRG8Unorm = 30,
  MTLPixelFormatRG8Unorm_sRGB = 31,
  MTLPixelFormatRG8Snorm = 32,
  MTLPixelFormatRG8Uint = 33,
  MTLPixelFormatRG8Sint = 34,
  MTLPixelFormatR32Uint = 53,
  MTLPixelFormatR32Sint = 54,
  MTLPixelFormatR32Float = 55,
  MTLPixelFormatRG16Unorm = 60,
  MTLPixelFormatRG16Snorm = 62,
  MTLPixelFormatRG16Uint = 63,
  MTLPixelFormatRG16Sint = 64,
  MTLPixelFormatRG16Float = 65,
  MTLPixelFormatRGBA8Unorm = 70,
  MTLPixelFormatRGBA8Unorm_sRGB = 71,
  MTLPixelFormatRGBA8Snorm = 72,
  MTLPixelFormatRGBA8Uint = 73,
  MTLPixelFormatRGBA8Sint = 74,
  MTLPixelFormatBGRA8Unorm = 80,
  MTLPixelFormatBGRA8Unorm_sRGB = 81,
  MTLPixelFormatRGB10A2Unorm = 90,
  MTLPixelFormatRGB10A2Uint = 91,
  MTLPixelFormatRG11B10Float = 92,
  MTLPixelFormatRGB9E5Float = 93,
  MTLPixelFormatBGR10A2Unorm = 94,
  MTLPixelFormatRG32Uint = 103,
  MTLPixelFormatRG32Sint = 104,
  MTLPixelFormatRG32Float = 105,
  MTLPixelFormatRGBA16Unorm = 110,
  MTLPixelFormatRGBA16Snorm = 112,
  MTLPixelFormatRGBA16Uint = 113,
  MTLPixelFormatRGBA16Sint = 114,
  MTLPixelFormatRGBA16Float = 115,
  MTLPixelFormatRGBA32Uint = 123,
  MTLPixelFormatRGBA32Sint = 124,
  MTLPixelFormatRGBA32Float = 125,
  MTLPixelFormatDepth16Unorm = 250,
  MTLPixelFormatDepth32Float = 252,
  MTLPixelFormatStencil8 = 253,
  MTLPixelFormatDepth32Float_Stencil8 = 260
};
typedef NS_ENUM(uint8_t, MTLTextureSwizzle) {
  MTLTextureSwizzleZero = 0,
  MTLTextureSwizzleOne = 1,
  MTLTextureSwizzleRed = 2,
  MTLTextureSwizzleGreen = 3,
  MTLTextureSwizzleBlue = 4,
  MTLTextureSwizzleAlpha = 5
};
typedef struct {
  MTLTextureSwizzle red, green, blue, alpha;
} MTLTextureSwizzleChannels;
NS_INLINE MTLTextureSwizzleChannels MTLTextureSwizzleChannelsMake(
    MTLTextureSwizzle red, MTLTextureSwizzle green, MTLTextureSwizzle blue,
    MTLTextureSwizzle alpha) {
  MTLTextureSwizzleChannels channels = {red, green, blue, alpha};
  return channels;
}
#define MTLTextureSwizzleChannelsDefault                                       \
  MTLTextureSwizzleChannelsMake(MTLTextureSwizzleRed, MTLTextureSwizzleGreen,  \
                                MTLTextureSwizzleBlue, MTLTextureSwizzleAlpha)
typedef NS_ENUM(NSInteger, MTLTextureCompressionType) {
  MTLTextureCompressionTypeLossless = 0,
  MTLTextureCompressionTypeLossy = 1
};
typedef NS_OPTIONS(NSUInteger, MTLBlitOption) {
  MTLBlitOptionNone = 0,
  MTLBlitOptionDepthFromDepthStencil = 1,
  MTLBlitOptionStencilFromDepthStencil = 2
};
typedef NS_ENUM(NSUInteger, MTLSamplerBorderColor) {
  MTLSamplerBorderColorTransparentBlack = 0,
  MTLSamplerBorderColorOpaqueBlack = 1,
  MTLSamplerBorderColorOpaqueWhite = 2
};
typedef NS_ENUM(NSUInteger, MTLSamplerMinMagFilter) {
  MTLSamplerMinMagFilterNearest = 0,
  MTLSamplerMinMagFilterLinear = 1
};
typedef NS_ENUM(NSUInteger, MTLSamplerMipFilter) {
  MTLSamplerMipFilterNotMipmapped = 0,
  MTLSamplerMipFilterNearest = 1,
  MTLSamplerMipFilterLinear = 2
};
typedef NS_ENUM(NSUInteger, MTLSamplerAddressMode) {
  MTLSamplerAddressModeClampToEdge = 0,
  MTLSamplerAddressModeMirrorClampToEdge = 1,
  MTLSamplerAddressModeRepeat = 2,
  MTLSamplerAddressModeMirrorRepeat = 3,
  MTLSamplerAddressModeClampToZero = 4,
  MTLSamplerAddressModeClampToBorderColor = 5
};
typedef NS_ENUM(NSUInteger, MTLCompareFunction) {
  MTLCompareFunctionNever = 0,
  MTLCompareFunctionLess = 1,
  MTLCompareFunctionEqual = 2,
  MTLCompareFunctionLessEqual = 3,
  MTLCompareFunctionGreater = 4,
  MTLCompareFunctionNotEqual = 5,
  MTLCompareFunctionGreaterEqual = 6,
  MTLCompareFunctionAlways = 7
};

#ifdef __OBJC__

@protocol MTLDevice, MTLCommandQueue, MTLCommandBuffer,
    MTLComputeCommandEncoder, MTLBlitCommandEncoder, MTLLibrary, MTLFunction,
    MTLComputePipelineState, MTLBuffer, MTLTexture, MTLSamplerState, MTLHeap,
    MTLEvent, MTLSharedEvent, MTLFence, MTLIndirectCommandBuffer,
    MTLIndirectComputeCommand, MTLArgumentEncoder, MTLResidencySet,
    MTLVisibleFunctionTable, MTLFunctionHandle, MTLCaptureScope, MTLLogState,
    MTLDynamicLibrary, MTL4CommandQueue, MTL4CommandAllocator,
    MTL4CommandBuffer, MTL4ArgumentTable, MTL4Compiler;
@class MTLCompileOptions, MTLFunctionConstantValues, MTLFunctionDescriptor,
    MTLComputePipelineDescriptor, MTLComputePipelineReflection,
    MTLTextureDescriptor, MTLSamplerDescriptor, MTLTensorDescriptor,
    MTLHeapDescriptor,
    MTLResidencySetDescriptor, MTLIndirectCommandBufferDescriptor,
    MTLCommandQueueDescriptor, MTLCommandBufferDescriptor,
    MTLComputePassDescriptor, MTLBlitPassDescriptor, MTLSharedEventListener,
    MTLVisibleFunctionTableDescriptor, MTLLinkedFunctions, MTLArchitecture,
    MTLStageInputOutputDescriptor, MTLArgumentDescriptor,
    MTLCounterSampleBufferDescriptor, MTLBinaryArchiveDescriptor,
    MTLLogStateDescriptor, MTLFunctionConstant, MTLSharedEventHandle,
    MTLStructType, MTLArrayType, MTLPointerType,
    MTL4CommandQueueDescriptor, MTL4CommandAllocatorDescriptor,
    MTL4ArgumentTableDescriptor, MTL4CompilerDescriptor;
@protocol MTLCounterSet, MTLCounterSampleBuffer, MTLBinaryArchive, MTLTensor;

typedef NSString *MTLCommonCounter;
typedef NSString *MTLCommonCounterSet;
MTL_EXTERN MTLCommonCounter const MTLCommonCounterTimestamp;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetTimestamp;
MTL_EXTERN NSErrorDomain const MTLCounterErrorDomain;
MTL_EXTERN NSErrorDomain const MTLBinaryArchiveDomain;
MTL_EXTERN NSErrorDomain const MTLTensorDomain;
MTL_EXTERN NSErrorDomain const MTLDynamicLibraryDomain;
MTL_EXTERN NSErrorDomain const MTLLogStateErrorDomain;

MTL_EXTERN NSErrorDomain const MTLLibraryErrorDomain;
MTL_EXTERN NSErrorDomain const MTLCommandBufferErrorDomain;
MTL_EXTERN NSErrorDomain const MTLCaptureErrorDomain;
MTL_EXTERN NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey;

MTL_EXTERN id<MTLDevice> MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;
MTL_EXTERN NSArray<id<MTLDevice>> *MTLCopyAllDevices(void) NS_RETURNS_RETAINED;

// Devices neither come nor go here: an observer is never called.
typedef NSString *MTLDeviceNotificationName;
MTL_EXTERN MTLDeviceNotificationName const MTLDeviceWasAddedNotification;
MTL_EXTERN MTLDeviceNotificationName const
    MTLDeviceRemovalRequestedNotification;
MTL_EXTERN MTLDeviceNotificationName const MTLDeviceWasRemovedNotification;
typedef void (^MTLDeviceNotificationHandler)(id<MTLDevice> device,
                                             MTLDeviceNotificationName name);
MTL_EXTERN NSArray<id<MTLDevice>> *MTLCopyAllDevicesWithObserver(
    id<NSObject> __strong *observer,
    MTLDeviceNotificationHandler handler) NS_RETURNS_RETAINED;
MTL_EXTERN void MTLRemoveDeviceObserver(id<NSObject> observer);

typedef void (^MTLNewLibraryCompletionHandler)(id<MTLLibrary> library,
                                               NSError *error);
typedef void (^MTLNewComputePipelineStateCompletionHandler)(
    id<MTLComputePipelineState> pipeline, NSError *error);
typedef void (^MTLNewComputePipelineStateWithReflectionCompletionHandler)(
    id<MTLComputePipelineState> pipeline,
    MTLComputePipelineReflection *reflection, NSError *error);
typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer> commands);
typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent> event,
                                                uint64_t value);
typedef MTLComputePipelineReflection *MTLAutoreleasedComputePipelineReflection;

// --- Devices -----------------------------------------------------------------

@interface MTLArchitecture : NSObject
@property(readonly, copy) NSString *name;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSString *name;
@property(readonly) uint64_t registryID;
@property(readonly) MTLArchitecture *architecture;
@property(readonly) BOOL hasUnifiedMemory;
@property(readonly, getter=isLowPower) BOOL lowPower;
@property(readonly, getter=isHeadless) BOOL headless;
@property(readonly, getter=isRemovable) BOOL removable;
@property(readonly) MTLDeviceLocation location;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) uint64_t recommendedMaxWorkingSetSize;
@property(readonly) NSUInteger currentAllocatedSize;
@property(readonly) NSUInteger maxThreadgroupMemoryLength;
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly) MTLArgumentBuffersTier argumentBuffersSupport;
@property(readonly) MTLReadWriteTextureTier readWriteTextureSupport;
@property(readonly) BOOL supportsFunctionPointers;
@property(readonly) BOOL supportsDynamicLibraries;
@property(readonly) BOOL supportsRaytracing;
@property(readonly) BOOL supportsRenderDynamicLibraries;
@property(readonly) BOOL supportsFunctionPointersFromRender;
@property(readonly) BOOL supportsRaytracingFromRender;
@property(readonly) BOOL supportsPrimitiveMotionBlur;
@property(readonly) BOOL supports32BitFloatFiltering;
@property(readonly) BOOL supports32BitMSAA;
@property(readonly) BOOL supportsQueryTextureLOD;
@property(readonly) BOOL supportsBCTextureCompression;
@property(readonly) BOOL supportsPullModelInterpolation;
@property(readonly) BOOL supportsShaderBarycentricCoordinates;
@property(readonly) BOOL areBarycentricCoordsSupported;
@property(readonly) BOOL areProgrammableSamplePositionsSupported;
@property(readonly) BOOL areRasterOrderGroupsSupported;
@property(readonly) BOOL isDepth24Stencil8PixelFormatSupported;
@property(readonly) NSUInteger locationNumber;
@property(readonly) uint64_t maxTransferRate;
@property(readonly) uint64_t peerGroupID;
@property(readonly) uint32_t peerIndex, peerCount;
@property(readonly) NSUInteger maxArgumentBufferSamplerCount;
@property(readonly) NSUInteger sparseTileSizeInBytes;
@property(readonly) NSUInteger maximumConcurrentCompilationTaskCount;
@property BOOL shouldMaximizeConcurrentCompilation;
- (BOOL)supportsFeatureSet:(MTLFeatureSet)set;
- (BOOL)supportsTextureSampleCount:(NSUInteger)count;
- (BOOL)supportsVertexAmplificationCount:(NSUInteger)count;
- (NSUInteger)minimumTextureBufferAlignmentForPixelFormat:
    (MTLPixelFormat)format;
- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle *)handle;
- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor *)descriptor
                                       error:(NSError **)error;
- (id<MTLDynamicLibrary>)newDynamicLibrary:(id<MTLLibrary>)library
                                     error:(NSError **)error;
- (id<MTLDynamicLibrary>)newDynamicLibraryWithURL:(NSURL *)url
                                            error:(NSError **)error;
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                    options:(MTLPipelineOption)options
                          completionHandler:
    (MTLNewComputePipelineStateWithReflectionCompletionHandler)handler;
- (void)newComputePipelineStateWithDescriptor:
            (MTLComputePipelineDescriptor *)descriptor
                                      options:(MTLPipelineOption)options
                            completionHandler:
    (MTLNewComputePipelineStateWithReflectionCompletionHandler)handler;
- (BOOL)supportsFamily:(MTLGPUFamily)family;
- (void)sampleTimestamps:(MTLTimestamp *)cpu gpuTimestamp:(MTLTimestamp *)gpu;
- (uint64_t)queryTimestampFrequency;
@property(readonly) NSArray<id<MTLCounterSet>> *counterSets;
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point;
- (id<MTLCounterSampleBuffer>)
    newCounterSampleBufferWithDescriptor:
        (MTLCounterSampleBufferDescriptor *)descriptor
                                   error:(NSError **)error;
- (id<MTLBinaryArchive>)
    newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor
                             error:(NSError **)error;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithArguments:
    (NSArray<MTLArgumentDescriptor *> *)arguments;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:
    (NSUInteger)count;
- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:
    (MTLCommandQueueDescriptor *)descriptor;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                             options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytes:(const void *)bytes
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)bytes
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:
                                  (void (^)(void *bytes,
                                            NSUInteger length))deallocator;
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor;
- (id<MTLSamplerState>)newSamplerStateWithDescriptor:
    (MTLSamplerDescriptor *)descriptor;
- (id<MTLTensor>)newTensorWithDescriptor:(MTLTensorDescriptor *)descriptor
                                   error:(NSError **)error;
- (MTLSizeAndAlign)tensorSizeAndAlignWithDescriptor:
    (MTLTensorDescriptor *)descriptor;
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)descriptor;
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length
                                            options:
                                                (MTLResourceOptions)options;
- (MTLSizeAndAlign)heapTextureSizeAndAlignWithDescriptor:
    (MTLTextureDescriptor *)descriptor;
- (NSUInteger)minimumLinearTextureAlignmentForPixelFormat:
    (MTLPixelFormat)format;
- (id<MTLLibrary>)newDefaultLibrary;
- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle *)bundle
                                        error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                               options:(MTLCompileOptions *)options
                                 error:(NSError **)error;
- (void)newLibraryWithSource:(NSString *)source
                     options:(MTLCompileOptions *)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler;
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data
                               error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithFile:(NSString *)path error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                  error:(NSError **)error;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                options:(MTLPipelineOption)options
                             reflection:
                                 (MTLAutoreleasedComputePipelineReflection *)
                                     reflection
                                  error:(NSError **)error;
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                          completionHandler:
                              (MTLNewComputePipelineStateCompletionHandler)
                                  handler;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:
        (MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:
                                   (MTLAutoreleasedComputePipelineReflection *)
                                       reflection
                                    error:(NSError **)error;
// Metal 4: MTL4.h.
- (id<MTL4CommandQueue>)newMTL4CommandQueue;
- (id<MTL4CommandQueue>)
    newMTL4CommandQueueWithDescriptor:(MTL4CommandQueueDescriptor *)descriptor
                                error:(NSError **)error;
- (id<MTL4CommandAllocator>)newCommandAllocator;
- (id<MTL4CommandAllocator>)
    newCommandAllocatorWithDescriptor:
        (MTL4CommandAllocatorDescriptor *)descriptor
                                error:(NSError **)error;
- (id<MTL4CommandBuffer>)newCommandBuffer;
- (id<MTL4ArgumentTable>)
    newArgumentTableWithDescriptor:(MTL4ArgumentTableDescriptor *)descriptor
                             error:(NSError **)error;
- (id<MTL4Compiler>)newCompilerWithDescriptor:
                        (MTL4CompilerDescriptor *)descriptor
                                        error:(NSError **)error;
- (id<MTLEvent>)newEvent;
- (id<MTLSharedEvent>)newSharedEvent;
- (id<MTLFence>)newFence;
- (id<MTLResidencySet>)newResidencySetWithDescriptor:
                           (MTLResidencySetDescriptor *)descriptor
                                               error:(NSError **)error;
- (id<MTLIndirectCommandBuffer>)
    newIndirectCommandBufferWithDescriptor:
        (MTLIndirectCommandBufferDescriptor *)descriptor
                           maxCommandCount:(NSUInteger)count
                                   options:(MTLResourceOptions)options;
@end

// --- Resources ---------------------------------------------------------------

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

@protocol MTLAllocation <NSObject>
@property(readonly) NSUInteger allocatedSize;
@end
@protocol MTLResource <MTLAllocation>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) MTLCPUCacheMode cpuCacheMode;
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLHazardTrackingMode hazardTrackingMode;
@property(readonly) MTLResourceOptions resourceOptions;
@property(readonly) id<MTLHeap> heap;
@property(readonly) NSUInteger heapOffset;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
- (void)makeAliasable;
- (BOOL)isAliasable;
@end

@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
@property(readonly) uint64_t gpuAddress;
- (void *)contents;
- (void)didModifyRange:(NSRange)range;
- (void)addDebugMarker:(NSString *)marker range:(NSRange)range;
- (void)removeAllDebugMarkers;
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)row;
- (id<MTLTensor>)newTensorWithDescriptor:(MTLTensorDescriptor *)descriptor
                                  offset:(NSUInteger)offset
                                   error:(NSError **)error;
@end

@interface MTLTextureDescriptor : NSObject <NSCopying>
+ (MTLTextureDescriptor *)texture2DDescriptorWithPixelFormat:
                              (MTLPixelFormat)format
                                                       width:(NSUInteger)width
                                                      height:(NSUInteger)height
                                                   mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor *)textureCubeDescriptorWithPixelFormat:
                              (MTLPixelFormat)format
                                                          size:(NSUInteger)size
                                                     mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor *)
    textureBufferDescriptorWithPixelFormat:(MTLPixelFormat)format
                                     width:(NSUInteger)width
                           resourceOptions:(MTLResourceOptions)options
                                     usage:(MTLTextureUsage)usage;
@property MTLTextureType textureType;
@property MTLPixelFormat pixelFormat;
@property NSUInteger width, height, depth;
@property NSUInteger mipmapLevelCount, sampleCount, arrayLength;
@property MTLResourceOptions resourceOptions;
@property MTLStorageMode storageMode;
@property MTLCPUCacheMode cpuCacheMode;
@property MTLHazardTrackingMode hazardTrackingMode;
@property MTLTextureUsage usage;
@property BOOL allowGPUOptimizedContents;
@property MTLTextureSwizzleChannels swizzle;
@property MTLTextureCompressionType compressionType;
@end

@protocol MTLTexture <MTLResource>
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLPixelFormat pixelFormat;
@property(readonly) NSUInteger width, height, depth;
@property(readonly) NSUInteger mipmapLevelCount, sampleCount, arrayLength;
@property(readonly) MTLTextureUsage usage;
@property(readonly) MTLResourceID gpuResourceID;
@property(readonly) id<MTLTexture> parentTexture;
@property(readonly) NSUInteger parentRelativeLevel, parentRelativeSlice;
@property(readonly) id<MTLBuffer> buffer;
@property(readonly) NSUInteger bufferOffset, bufferBytesPerRow;
@property(readonly) MTLTextureSwizzleChannels swizzle;
@property(readonly) BOOL allowGPUOptimizedContents;
@property(readonly) MTLTextureCompressionType compressionType;
@property(readonly, getter=isFramebufferOnly) BOOL framebufferOnly;
@property(readonly, getter=isShareable) BOOL shareable;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
            withBytes:(const void *)bytes
          bytesPerRow:(NSUInteger)row;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void *)bytes
          bytesPerRow:(NSUInteger)row
        bytesPerImage:(NSUInteger)image;
- (void)getBytes:(void *)bytes
     bytesPerRow:(NSUInteger)row
      fromRegion:(MTLRegion)region
     mipmapLevel:(NSUInteger)level;
- (void)getBytes:(void *)bytes
      bytesPerRow:(NSUInteger)row
    bytesPerImage:(NSUInteger)image
       fromRegion:(MTLRegion)region
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice;
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format;
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format
                                    textureType:(MTLTextureType)type
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices;
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format
                                    textureType:(MTLTextureType)type
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices
                                        swizzle:(MTLTextureSwizzleChannels)
                                                    swizzle;
@end

@interface MTLSamplerDescriptor : NSObject <NSCopying>
@property MTLSamplerMinMagFilter minFilter, magFilter;
@property MTLSamplerMipFilter mipFilter;
@property NSUInteger maxAnisotropy;
@property MTLSamplerAddressMode sAddressMode, tAddressMode, rAddressMode;
@property MTLCompareFunction compareFunction;
@property float lodMinClamp, lodMaxClamp;
@property BOOL normalizedCoordinates;
@property MTLSamplerBorderColor borderColor;
@property BOOL lodAverage;
@property BOOL supportArgumentBuffers;
@property(copy) NSString *label;
@end
@protocol MTLSamplerState <NSObject>
@property(readonly) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) MTLResourceID gpuResourceID;
@end

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

@interface MTLHeapDescriptor : NSObject <NSCopying>
@property NSUInteger size;
@property MTLStorageMode storageMode;
@property MTLCPUCacheMode cpuCacheMode;
@property MTLHazardTrackingMode hazardTrackingMode;
@property MTLResourceOptions resourceOptions;
@property MTLHeapType type;
@end
@protocol MTLHeap <MTLAllocation>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger size, usedSize, currentAllocatedSize;
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLResourceOptions resourceOptions;
@property(readonly) MTLHeapType type;
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;
@property(readonly) MTLCPUCacheMode cpuCacheMode;
@property(readonly) MTLHazardTrackingMode hazardTrackingMode;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                             options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                             options:(MTLResourceOptions)options
                              offset:(NSUInteger)offset;
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor;
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor
                                    offset:(NSUInteger)offset;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
@end

@interface MTLResidencySetDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property NSUInteger initialCapacity;
@end
@protocol MTLResidencySet <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
@property(readonly) uint64_t allocatedSize;
@property(readonly) NSUInteger allocationCount;
@property(readonly, copy) NSArray<id<MTLAllocation>> *allAllocations;
- (void)addAllocation:(id<MTLAllocation>)allocation;
- (void)removeAllocation:(id<MTLAllocation>)allocation;
- (void)addAllocations:(const id<MTLAllocation> __unsafe_unretained[])list
                 count:(NSUInteger)count;
- (void)removeAllocations:(const id<MTLAllocation> __unsafe_unretained[])list
                    count:(NSUInteger)count;
- (void)removeAllAllocations;
- (BOOL)containsAllocation:(id<MTLAllocation>)allocation;
- (void)commit;
- (void)requestResidency;
- (void)endResidency;
@end

// --- Libraries and pipelines -------------------------------------------------

@interface MTLCompileOptions : NSObject <NSCopying>
@property(copy) NSDictionary<NSString *, NSObject *> *preprocessorMacros;
@property BOOL fastMathEnabled;
@property MTLMathMode mathMode;
@property MTLMathFloatingPointFunctions mathFloatingPointFunctions;
@property MTLLanguageVersion languageVersion;
@property MTLLibraryType libraryType;
@property BOOL preserveInvariance;
@property MTLLibraryOptimizationLevel optimizationLevel;
@property NSUInteger maxTotalThreadsPerThreadgroup;
@property BOOL enableLogging;
@property(copy) NSString *installName;
@property(copy) NSArray<id<MTLDynamicLibrary>> *libraries;
@property BOOL allowReferencingUndefinedSymbols;
@property MTLCompileSymbolVisibility compileSymbolVisibility;
@end

@interface MTLFunctionConstantValues : NSObject
- (void)setConstantValue:(const void *)value
                    type:(MTLDataType)type
                 atIndex:(NSUInteger)index;
- (void)setConstantValue:(const void *)value
                    type:(MTLDataType)type
                withName:(NSString *)name;
- (void)setConstantValues:(const void *)values
                     type:(MTLDataType)type
                withRange:(NSRange)range;
- (void)reset;
@end

@interface MTLFunctionDescriptor : NSObject <NSCopying>
+ (MTLFunctionDescriptor *)functionDescriptor;
@property(copy) NSString *name;
@property(copy) NSString *specializedName;
@property(strong) MTLFunctionConstantValues *constantValues;
@property MTLFunctionOptions options;
@property(copy) NSArray<id<MTLBinaryArchive>> *binaryArchives;
@end

@protocol MTLLibrary <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSArray<NSString *> *functionNames;
@property(readonly) MTLLibraryType type;
@property(readonly) NSString *installName;
- (id<MTLFunction>)newFunctionWithName:(NSString *)name;
- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)values
                                 error:(NSError **)error;
- (void)newFunctionWithName:(NSString *)name
             constantValues:(MTLFunctionConstantValues *)values
          completionHandler:(void (^)(id<MTLFunction> function,
                                      NSError *error))handler;
- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                                       error:(NSError **)error;
- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                completionHandler:(void (^)(id<MTLFunction> function,
                                            NSError *error))handler;
@end

@protocol MTLFunction <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *name;
@property(readonly) MTLFunctionType functionType;
@property(readonly) MTLFunctionOptions options;
@property(readonly)
    NSDictionary<NSString *, MTLFunctionConstant *> *functionConstantsDictionary;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index;
@end

@interface MTLFunctionConstant : NSObject
@property(readonly) NSString *name;
@property(readonly) MTLDataType type;
@property(readonly) NSUInteger index;
@property(readonly) BOOL required;
@end

// There are none yet (docs/objc.md): making one fails, with the reason.
@protocol MTLDynamicLibrary <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *installName;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
@end

@interface MTLLinkedFunctions : NSObject <NSCopying>
+ (MTLLinkedFunctions *)linkedFunctions;
@property(copy) NSArray<id<MTLFunction>> *functions;
@property(copy) NSArray<id<MTLFunction>> *binaryFunctions;
@property(copy) NSArray<id<MTLFunction>> *privateFunctions;
@property(copy)
    NSDictionary<NSString *, NSArray<id<MTLFunction>> *> *groups;
@end

@interface MTLPipelineBufferDescriptor : NSObject
@property MTLMutability mutability;
@end
@interface MTLPipelineBufferDescriptorArray : NSObject
- (MTLPipelineBufferDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLPipelineBufferDescriptor *)descriptor
    atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLComputePipelineDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property(strong) id<MTLFunction> computeFunction;
@property BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property NSUInteger maxTotalThreadsPerThreadgroup;
@property NSUInteger maxCallStackDepth;
@property BOOL supportIndirectCommandBuffers;
@property(copy) MTLLinkedFunctions *linkedFunctions;
@property(copy) NSArray<id<MTLBinaryArchive>> *binaryArchives;
@property(copy) NSArray<id<MTLDynamicLibrary>> *preloadedLibraries;
@property(copy) NSArray<id<MTLDynamicLibrary>> *insertLibraries;
@property BOOL supportAddingBinaryFunctions;
@property MTLShaderValidation shaderValidation;
@property(readonly) MTLPipelineBufferDescriptorArray *buffers;
- (void)reset;
@end

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

@protocol MTLBinding <NSObject>
@property(readonly) NSString *name;
@property(readonly) MTLBindingType type;
@property(readonly) MTLBindingAccess access;
@property(readonly) NSUInteger index;
@property(readonly, getter=isUsed) BOOL used;
@property(readonly, getter=isArgument) BOOL argument;
@end
@protocol MTLBufferBinding <MTLBinding>
@property(readonly) NSUInteger bufferAlignment, bufferDataSize;
@property(readonly) MTLDataType bufferDataType;
@property(readonly) MTLStructType *bufferStructType;
@end
@protocol MTLThreadgroupBinding <MTLBinding>
@property(readonly) NSUInteger threadgroupMemoryAlignment;
@property(readonly) NSUInteger threadgroupMemoryDataSize;
@end
@protocol MTLTextureBinding <MTLBinding>
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLDataType textureDataType;
@property(readonly, getter=isDepthTexture) BOOL depthTexture;
@property(readonly) NSUInteger arrayLength;
@end
@protocol MTLTensorBinding <MTLBinding>
@property(readonly) MTLTensorDataType tensorDataType;
@property(readonly) MTLDataType indexType;
@property(readonly) MTLTensorExtents *dimensions;  // -1 for any
@end

@interface MTLPointerType : NSObject
@property(readonly) MTLDataType elementType;
@property(readonly) MTLStructType *elementStructType;
@end
@interface MTLArrayType : NSObject
@property(readonly) MTLDataType elementType;
@property(readonly) NSUInteger arrayLength, stride, argumentIndexStride;
@property(readonly) MTLStructType *elementStructType;
@property(readonly) MTLArrayType *elementArrayType;
@property(readonly) MTLPointerType *elementPointerType;
@end
@interface MTLStructMember : NSObject
@property(readonly) NSString *name;
@property(readonly) NSUInteger offset, argumentIndex;
@property(readonly) MTLDataType dataType;
@property(readonly) MTLStructType *structType;
@property(readonly) MTLArrayType *arrayType;
@property(readonly) MTLPointerType *pointerType;
@end
@interface MTLStructType : NSObject
@property(readonly) NSArray<MTLStructMember *> *members;
- (MTLStructMember *)memberByName:(NSString *)name;
@end

// What a binding was called before macOS 13. There is no class of this name to
// make objects of: they come from reflection.
@interface MTLArgument : NSObject
@property(readonly) NSString *name;
@property(readonly) MTLArgumentType type;
@property(readonly) MTLArgumentAccess access;
@property(readonly) NSUInteger index;
@property(readonly, getter=isActive) BOOL active;
@property(readonly) NSUInteger bufferAlignment, bufferDataSize;
@property(readonly) MTLDataType bufferDataType;
@property(readonly) MTLStructType *bufferStructType;
@property(readonly) NSUInteger threadgroupMemoryAlignment;
@property(readonly) NSUInteger threadgroupMemoryDataSize;
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLDataType textureDataType;
@property(readonly) BOOL isDepthTexture;
@property(readonly) NSUInteger arrayLength;
@end
@interface MTLComputePipelineReflection : NSObject
@property(readonly) NSArray<id<MTLBinding>> *bindings;
@property(readonly) NSArray<MTLArgument *> *arguments;
@end

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@property(readonly) BOOL supportIndirectCommandBuffers;
@property(readonly) MTLResourceID gpuResourceID;
@property(readonly) MTLShaderValidation shaderValidation;
@property(readonly) MTLComputePipelineReflection *reflection;
- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)dimensions;
- (id<MTLFunctionHandle>)functionHandleWithFunction:(id<MTLFunction>)function;
- (id<MTLVisibleFunctionTable>)newVisibleFunctionTableWithDescriptor:
    (MTLVisibleFunctionTableDescriptor *)descriptor;
@end

@protocol MTLFunctionHandle <NSObject>
@property(readonly) MTLFunctionType functionType;
@property(readonly) NSString *name;
@property(readonly) id<MTLDevice> device;
@end
@interface MTLVisibleFunctionTableDescriptor : NSObject <NSCopying>
+ (MTLVisibleFunctionTableDescriptor *)visibleFunctionTableDescriptor;
@property NSUInteger functionCount;
@end
@protocol MTLVisibleFunctionTable <MTLResource>
- (void)setFunctions:(const id<MTLFunctionHandle> __unsafe_unretained[])list
           withRange:(NSRange)range;
@property(readonly) MTLResourceID gpuResourceID;
- (void)setFunction:(id<MTLFunctionHandle>)function atIndex:(NSUInteger)index;
@end

@interface MTLArgumentDescriptor : NSObject <NSCopying>
+ (MTLArgumentDescriptor *)argumentDescriptor;
@property MTLDataType dataType;
@property NSUInteger index, arrayLength, constantBlockAlignment;
@property MTLBindingAccess access;
@property MTLTextureType textureType;
@end
@protocol MTLArgumentEncoder <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSUInteger encodedLength, alignment;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer
              startOffset:(NSUInteger)offset
             arrayElement:(NSUInteger)element;
- (void)setBuffer:(id<MTLBuffer>)buffer
           offset:(NSUInteger)offset
          atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> __unsafe_unretained[])buffers
           offsets:(const NSUInteger[])offsets
         withRange:(NSRange)range;
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> __unsafe_unretained[])textures
          withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> __unsafe_unretained[])samplers
               withRange:(NSRange)range;
- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table
                        atIndex:(NSUInteger)index;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline
                        atIndex:(NSUInteger)index;
- (void)setComputePipelineStates:
            (id<MTLComputePipelineState> const[])pipelines
                       withRange:(NSRange)range;
- (void)setIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)commands
                         atIndex:(NSUInteger)index;
- (void)setIndirectCommandBuffers:
            (id<MTLIndirectCommandBuffer> const[])commands
                        withRange:(NSRange)range;
- (void *)constantDataAtIndex:(NSUInteger)index;
- (id<MTLArgumentEncoder>)newArgumentEncoderForBufferAtIndex:(NSUInteger)index;
@end

// --- Queues and command buffers ----------------------------------------------

@interface MTLCommandQueueDescriptor : NSObject <NSCopying>
@property(strong) id<MTLLogState> logState;
@property NSUInteger maxCommandBufferCount;
@end
@interface MTLCommandBufferDescriptor : NSObject <NSCopying>
@property(strong) id<MTLLogState> logState;
@property BOOL retainedReferences;
@property MTLCommandBufferErrorOption errorOptions;
@end
@protocol MTLCounter <NSObject>
@property(readonly) NSString *name;
@end
@protocol MTLCounterSet <NSObject>
@property(readonly) NSString *name;
@property(readonly) NSArray<id<MTLCounter>> *counters;
@end
@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSet> counterSet;
@property(copy) NSString *label;
@property MTLStorageMode storageMode;
@property NSUInteger sampleCount;
@end
@protocol MTLCounterSampleBuffer <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
@property(readonly) NSUInteger sampleCount;
- (NSData *)resolveCounterRange:(NSRange)range;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSampleBuffer> sampleBuffer;
@property NSUInteger startOfEncoderSampleIndex, endOfEncoderSampleIndex;
@end
@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:
    (NSUInteger)index;
- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor *)attachment
    atIndexedSubscript:(NSUInteger)index;
@end
@interface MTLBlitPassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSampleBuffer> sampleBuffer;
@property NSUInteger startOfEncoderSampleIndex, endOfEncoderSampleIndex;
@end
@interface MTLBlitPassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLBlitPassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:
    (NSUInteger)index;
- (void)setObject:(MTLBlitPassSampleBufferAttachmentDescriptor *)attachment
    atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLComputePassDescriptor : NSObject <NSCopying>
+ (MTLComputePassDescriptor *)computePassDescriptor;
@property MTLDispatchType dispatchType;
@property(readonly)
    MTLComputePassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;
@end
@interface MTLBlitPassDescriptor : NSObject <NSCopying>
+ (MTLBlitPassDescriptor *)blitPassDescriptor;
@property(readonly)
    MTLBlitPassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;
@end

@protocol MTLCommandQueue <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
- (id<MTLCommandBuffer>)commandBuffer;
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:
    (MTLCommandBufferDescriptor *)descriptor;
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySets:
            (const id<MTLResidencySet> __unsafe_unretained[])sets
                      count:(NSUInteger)count;
- (void)addResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets
                   count:(NSUInteger)count;
@end

@protocol MTLLogState <NSObject>
- (void)addLogHandler:(void (^)(NSString *subsystem, NSString *category,
                                MTLLogLevel level, NSString *message))handler;
@end
@interface MTLLogStateDescriptor : NSObject <NSCopying>
@property MTLLogLevel level;
@property NSInteger bufferSize;
@end

// In the userInfo of the error of a command buffer that asked for
// MTLCommandBufferErrorOptionEncoderExecutionStatus, under
// MTLCommandBufferEncoderInfoErrorKey.
@protocol MTLCommandBufferEncoderInfo <NSObject>
@property(readonly) NSString *label;
@property(readonly) NSArray<NSString *> *debugSignposts;
@property(readonly) MTLCommandEncoderErrorState errorState;
@end
@protocol MTLLogContainer <NSFastEnumeration>
@end
@protocol MTLFunctionLog <NSObject>
@end

@protocol MTLCommandBuffer <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) id<MTLCommandQueue> commandQueue;
@property(readonly) BOOL retainedReferences;
@property(readonly) MTLCommandBufferStatus status;
@property(readonly) NSError *error;
@property(readonly) MTLCommandBufferErrorOption errorOptions;
@property(readonly) id<MTLLogContainer> logs;
@property(readonly) CFTimeInterval kernelStartTime, kernelEndTime;
@property(readonly) CFTimeInterval GPUStartTime, GPUEndTime;
- (void)enqueue;
- (void)commit;
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler;
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler;
- (void)waitUntilScheduled;
- (void)waitUntilCompleted;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:
    (MTLDispatchType)type;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:
    (MTLComputePassDescriptor *)descriptor;
- (id<MTLBlitCommandEncoder>)blitCommandEncoder;
- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:
    (MTLBlitPassDescriptor *)descriptor;
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)useResidencySet:(id<MTLResidencySet>)set;
- (void)useResidencySets:(const id<MTLResidencySet> __unsafe_unretained[])sets
                   count:(NSUInteger)count;
- (void)pushDebugGroup:(NSString *)name;
- (void)popDebugGroup;
@end

@protocol MTLCommandEncoder <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
- (void)endEncoding;
- (void)pushDebugGroup:(NSString *)name;
- (void)popDebugGroup;
- (void)insertDebugSignpost:(NSString *)name;
@end

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
@property(readonly) MTLDispatchType dispatchType;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)samples
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline;
- (void)setBuffer:(id<MTLBuffer>)buffer
           offset:(NSUInteger)offset
          atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> __unsafe_unretained[])buffers
           offsets:(const NSUInteger[])offsets
         withRange:(NSRange)range;
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void *)bytes
          length:(NSUInteger)length
         atIndex:(NSUInteger)index;
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> __unsafe_unretained[])textures
          withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> __unsafe_unretained[])samplers
               withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler
            lodMinClamp:(float)min
            lodMaxClamp:(float)max
                atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> __unsafe_unretained[])samplers
            lodMinClamps:(const float[])mins
            lodMaxClamps:(const float[])maxs
               withRange:(NSRange)range;
- (void)setStageInRegion:(MTLRegion)region;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table
                  atBufferIndex:(NSUInteger)index;
- (void)setVisibleFunctionTables:
            (const id<MTLVisibleFunctionTable> __unsafe_unretained[])tables
                 withBufferRange:(NSRange)range;
- (void)setTensor:(id<MTLTensor>)tensor atBufferIndex:(NSUInteger)index;
- (void)dispatchThreads:(MTLSize)grid threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroups:(MTLSize)grid
       threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group;
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)commands
                      withRange:(NSRange)range;
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)commands
                 indirectBuffer:(id<MTLBuffer>)buffer
           indirectBufferOffset:(NSUInteger)offset;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
- (void)memoryBarrierWithResources:
            (const id<MTLResource> __unsafe_unretained[])resources
                             count:(NSUInteger)count;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)useResources:(const id<MTLResource> __unsafe_unretained[])resources
               count:(NSUInteger)count
               usage:(MTLResourceUsage)usage;
- (void)useHeap:(id<MTLHeap>)heap;
- (void)useHeaps:(const id<MTLHeap> __unsafe_unretained[])heaps
           count:(NSUInteger)count;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
@end

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)samples
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier;
- (void)resolveCounters:(id<MTLCounterSampleBuffer>)samples
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)buffer
      destinationOffset:(NSUInteger)offset;
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)source_offset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)target_offset
                  size:(NSUInteger)size;
- (void)fillBuffer:(id<MTLBuffer>)buffer
             range:(NSRange)range
             value:(uint8_t)value;
- (void)synchronizeResource:(id<MTLResource>)resource;
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)offset
      sourceBytesPerRow:(NSUInteger)row
    sourceBytesPerImage:(NSUInteger)image
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin;
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)row
    destinationBytesPerImage:(NSUInteger)image;
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)offset
      sourceBytesPerRow:(NSUInteger)row
    sourceBytesPerImage:(NSUInteger)image
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin
                options:(MTLBlitOption)options;
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)row
    destinationBytesPerImage:(NSUInteger)image
                     options:(MTLBlitOption)options;
- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)source_slice
            sourceLevel:(NSUInteger)source_level
           sourceOrigin:(MTLOrigin)source_origin
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)target_slice
       destinationLevel:(NSUInteger)target_level
      destinationOrigin:(MTLOrigin)target_origin;
- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)source_slice
            sourceLevel:(NSUInteger)source_level
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)target_slice
       destinationLevel:(NSUInteger)target_level
             sliceCount:(NSUInteger)slices
             levelCount:(NSUInteger)levels;
- (void)copyFromTexture:(id<MTLTexture>)source
              toTexture:(id<MTLTexture>)target;
- (void)synchronizeTexture:(id<MTLTexture>)texture
                     slice:(NSUInteger)slice
                     level:(NSUInteger)level;
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture;
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture
                               slice:(NSUInteger)slice
                               level:(NSUInteger)level;
- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture;
- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture
                               slice:(NSUInteger)slice
                               level:(NSUInteger)level;
- (void)generateMipmapsForTexture:(id<MTLTexture>)texture;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
- (void)copyIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)source
                      sourceRange:(NSRange)range
                      destination:(id<MTLIndirectCommandBuffer>)destination
                 destinationIndex:(NSUInteger)index;
- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)commands
                    withRange:(NSRange)range;
- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)commands
                            withRange:(NSRange)range;
@end

// --- Events and fences -------------------------------------------------------

@protocol MTLEvent <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString *label;
@end
@interface MTLSharedEventListener : NSObject
- (instancetype)init;
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue;
@property(readonly) dispatch_queue_t dispatchQueue;
+ (MTLSharedEventListener *)sharedListener;
@end
// Of one process: there is no way to send it to another.
@interface MTLSharedEventHandle : NSObject
@property(readonly) NSString *label;
@end
@protocol MTLSharedEvent <MTLEvent>
@property uint64_t signaledValue;
- (MTLSharedEventHandle *)newSharedEventHandle;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)timeout;
- (void)notifyListener:(MTLSharedEventListener *)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
@end
@protocol MTLFence <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString *label;
@end

// --- Indirect commands -------------------------------------------------------

@interface MTLIndirectCommandBufferDescriptor : NSObject <NSCopying>
@property NSUInteger maxVertexBufferBindCount, maxFragmentBufferBindCount;
@property MTLIndirectCommandType commandTypes;
@property BOOL inheritBuffers;
@property BOOL inheritPipelineState;
@property NSUInteger maxKernelBufferBindCount;
@property NSUInteger maxKernelThreadgroupMemoryBindCount;
@end
@protocol MTLIndirectCommandBuffer <MTLResource>
@property(readonly) NSUInteger size;
@property(readonly) MTLResourceID gpuResourceID;
- (void)resetWithRange:(NSRange)range;
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:
    (NSUInteger)index;
@end
@protocol MTLIndirectComputeCommand <NSObject>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline;
- (void)setKernelBuffer:(id<MTLBuffer>)buffer
                 offset:(NSUInteger)offset
                atIndex:(NSUInteger)index;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)concurrentDispatchThreadgroups:(MTLSize)grid
                 threadsPerThreadgroup:(MTLSize)group;
- (void)concurrentDispatchThreads:(MTLSize)grid
            threadsPerThreadgroup:(MTLSize)group;
- (void)setBarrier;
- (void)clearBarrier;
- (void)reset;
@end

// --- Captures: timelines (docs/tracing.md) ------------------------------------

@interface MTLCaptureDescriptor : NSObject <NSCopying>
@property(strong) id captureObject;
@property MTLCaptureDestination destination;
@property(copy) NSURL *outputURL;
@end
@protocol MTLCaptureScope <NSObject>
- (void)beginScope;
- (void)endScope;
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) id<MTLCommandQueue> commandQueue;
@end
@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager *)sharedCaptureManager;
@property(readonly) BOOL isCapturing;
@property(strong) id<MTLCaptureScope> defaultCaptureScope;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor
                             error:(NSError **)error;
- (void)stopCapture;
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device;
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:
    (id<MTLCommandQueue>)queue;
@end

#endif  // __OBJC__

#include <Metal/MTL4.h>

#endif
