// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLArgument.h: what kernels say of their arguments.
#ifndef METTLE_OBJC_MTLARGUMENT_H
#define METTLE_OBJC_MTLARGUMENT_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLTensor.h>
#include <Metal/MTLTexture.h>

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

#ifdef __OBJC__

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

#endif

#endif
