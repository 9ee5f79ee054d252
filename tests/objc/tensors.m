// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensors.m: MTLTensor: its descriptor and extents, its elements, its binding.
#import <Metal/Metal.h>
#include <string.h>

#include "check.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "#include <metal_tensor>\n"
     "using namespace metal;\n"
     "kernel void sum_rows(tensor<device const half, dextents<int, 2>> a\n"
     "                         [[buffer(0)]],\n"
     "                     tensor<device float, dextents<int, 1>> out\n"
     "                         [[buffer(1)]],\n"
     "                     uint r [[thread_position_in_grid]]) {\n"
     "  float sum = 0;\n"
     "  for (int c = 0; c < a.get_extent(0); c++) sum += a[c, int(r)];\n"
     "  out[r] = sum;\n"
     "}\n";

static id<MTLDevice> device;

static MTLTensorExtents *extents(NSUInteger rank, const NSInteger *values) {
  MTLTensorExtents *made = [[MTLTensorExtents alloc] initWithRank:rank
                                                           values:values];
#if !__has_feature(objc_arc)
  [made autorelease];
#endif
  return made;
}

static MTLTensorDescriptor *descriptor(MTLTensorDataType type, NSInteger columns,
                                       NSInteger rows) {
  MTLTensorDescriptor *made = [[MTLTensorDescriptor alloc] init];
#if !__has_feature(objc_arc)
  [made autorelease];
#endif
  made.dataType = type;
  made.dimensions = extents(2, (NSInteger[]){columns, rows});
  return made;
}

static void sizes(void) {
  MTLTensorExtents *three = extents(3, (NSInteger[]){4, 5, 6});
  CHECK(three.rank == 3 && [three extentAtDimensionIndex:2] == 6);
  CHECK([three extentAtDimensionIndex:3] == -1);
  CHECK([three isEqual:extents(3, (NSInteger[]){4, 5, 6})]);
  CHECK(![three isEqual:extents(3, (NSInteger[]){4, 5, 7})]);
  CHECK(![three isEqual:extents(2, (NSInteger[]){4, 5})]);
  NSInteger many[17] = {0};
  CHECK(extents(17, many) == nil);
}

static void descriptors(void) {
  MTLTensorDescriptor *fresh = [[MTLTensorDescriptor alloc] init];
  CHECK(fresh.dataType == MTLTensorDataTypeFloat32);
  CHECK(fresh.usage == MTLTensorUsageCompute && fresh.strides == nil);
  fresh.resourceOptions = MTLResourceStorageModePrivate;
  CHECK(fresh.storageMode == MTLStorageModePrivate);
  RELEASE(fresh);
  MTLTensorDescriptor *d = descriptor(MTLTensorDataTypeFloat16, 5, 3);
  MTLSizeAndAlign size = [device tensorSizeAndAlignWithDescriptor:d];
  CHECK(size.size == 30 && size.align == 2);
  d.strides = extents(2, (NSInteger[]){1, 8});
  size = [device tensorSizeAndAlignWithDescriptor:d];
  CHECK(size.size == 42);
  MTLTensorDescriptor *copy = [d copy];
  CHECK([copy.strides isEqual:d.strides] &&
        copy.dataType == MTLTensorDataTypeFloat16);
  RELEASE(copy);
}

static id<MTLTensor> made_of(MTLTensorDescriptor *from) {
  NSError *error = nil;
  id<MTLTensor> tensor = [device newTensorWithDescriptor:from error:&error];
  CHECK(tensor != nil && error == nil);
  return tensor;
}

// A matrix of 3 rows of 5, in rows of 8.
static void elements(void) {
  MTLTensorDescriptor *d = descriptor(MTLTensorDataTypeInt32, 5, 3);
  d.strides = extents(2, (NSInteger[]){1, 8});
  id<MTLTensor> tensor = made_of(d);
  CHECK(tensor.buffer == nil && tensor.device == device);
  CHECK([tensor.dimensions isEqual:d.dimensions]);
  CHECK([tensor.strides isEqual:d.strides]);
  CHECK(tensor.dataType == MTLTensorDataTypeInt32);
  int in[6] = {1, 2, 3, 4, 5, 6}, out[15];
  [tensor replaceSliceOrigin:extents(2, (NSInteger[]){2, 1})
             sliceDimensions:extents(2, (NSInteger[]){3, 2})
                   withBytes:in
                     strides:extents(2, (NSInteger[]){1, 3})];
  [tensor getBytes:out
              strides:extents(2, (NSInteger[]){3, 1})
      fromSliceOrigin:extents(2, (NSInteger[]){0, 0})
      sliceDimensions:extents(2, (NSInteger[]){5, 3})];
  const int wanted[15] = {0, 0, 0, 0, 0, 0, 0, 1, 4, 0, 2, 5, 0, 3, 6};
  CHECK(memcmp(out, wanted, sizeof wanted) == 0);
  RELEASE(tensor);
}

static void kernels(void) {
  NSError *error = nil;
  MTLCompileOptions *options = [[MTLCompileOptions alloc] init];
  options.languageVersion = MTLLanguageVersion4_0;
  id<MTLLibrary> library = [device newLibraryWithSource:source
                                                options:options
                                                  error:&error];
  CHECK(library != nil);
  MTLComputePipelineReflection *told = nil;
  id<MTLComputePipelineState> sum = [device
      newComputePipelineStateWithFunction:[library
                                              newFunctionWithName:@"sum_rows"]
                                  options:MTLPipelineOptionBindingInfo
                               reflection:&told
                                    error:&error];
  CHECK(sum != nil && told.bindings.count == 2);
  id<MTLTensorBinding> first = (id<MTLTensorBinding>)told.bindings[0];
  CHECK(first.type == MTLBindingTypeTensor && first.index == 0);
  CHECK(first.tensorDataType == MTLTensorDataTypeFloat16);
  CHECK(first.indexType == MTLDataTypeInt && first.dimensions.rank == 2);
  CHECK([first.dimensions extentAtDimensionIndex:1] == -1);
  _Float16 values[12];
  for (int i = 0; i < 12; ++i) {
    values[i] = (_Float16)i;
  }
  id<MTLBuffer> memory = [device newBufferWithBytes:values
                                             length:sizeof values
                                            options:0];
  id<MTLTensor> a =
      [memory newTensorWithDescriptor:descriptor(MTLTensorDataTypeFloat16, 5, 2)
                               offset:4
                                error:&error];
  CHECK(a != nil && a.buffer == memory && a.bufferOffset == 4);
  CHECK([a.strides extentAtDimensionIndex:1] == 5);
  MTLTensorDescriptor *d = descriptor(MTLTensorDataTypeFloat32, 1, 1);
  d.dimensions = extents(1, (NSInteger[]){2});
  id<MTLTensor> out = made_of(d);
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:sum];
  [encoder setTensor:a atBufferIndex:0];
  [encoder setTensor:out atBufferIndex:1];
  [encoder dispatchThreads:MTLSizeMake(2, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.error == nil);
  float got[2] = {0};
  [out getBytes:got
              strides:extents(1, (NSInteger[]){1})
      fromSliceOrigin:extents(1, (NSInteger[]){0})
      sliceDimensions:extents(1, (NSInteger[]){2})];
  CHECK(got[0] == 2 + 3 + 4 + 5 + 6 && got[1] == 7 + 8 + 9 + 10 + 11);
  RELEASE(queue);
  RELEASE(out);
  RELEASE(a);
  RELEASE(memory);
  RELEASE(sum);
  RELEASE(library);
  RELEASE(options);
}

static void refusals(void) {
  NSError *error = nil;
  MTLTensorDescriptor *d = descriptor(MTLTensorDataTypeFloat32, 4, 4);
  id<MTLBuffer> memory = [device newBufferWithLength:60 options:0];
  CHECK([memory newTensorWithDescriptor:d offset:0 error:&error] == nil);
  CHECK([error.domain isEqualToString:MTLTensorDomain]);
  CHECK([error.localizedDescription rangeOfString:@"past the end"].location !=
        NSNotFound);
  error = nil;
  d.strides = extents(1, (NSInteger[]){1});
  CHECK([device newTensorWithDescriptor:d error:&error] == nil);
  CHECK([error.localizedDescription
            rangeOfString:@"2 dimensions and 1 strides"].location !=
        NSNotFound);
  d.strides = nil;
  d.dataType = MTLTensorDataTypeNone;
  CHECK([device newTensorWithDescriptor:d error:NULL] == nil);
  RELEASE(memory);
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    sizes();
    descriptors();
    elements();
    kernels();
    refusals();
  }
  return checks_end();
}
