// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipelines.m: reflection, descriptors, function tables, archives, as a program
// for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
static NSString *src =
    @"#include <metal_stdlib>\nusing namespace metal;\nstruct P { float a; "
    @"uint2 b; };\nkernel void k(device float *o [[buffer(0)]], constant P &p "
    @"[[buffer(1)]], texture2d<float, access::write> t [[texture(0)]], "
    @"threadgroup float *s [[threadgroup(0)]], sampler m [[sampler(0)]], uint "
    @"i [[thread_position_in_grid]]) { s[i] = p.a; o[i] = s[i] + p.b.y; "
    @"t.write(float4(1), uint2(0)); }\n[[visible]] float addf(float a, float "
    @"b) { return a + b; }\nkernel void vf(device float *o, "
    @"visible_function_table<float(float, float)> tab [[buffer(1)]]) { o[0] = "
    @"tab[0](1, 2); }";
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> lib = [d newLibraryWithSource:src options:nil error:&error];
    if (!lib) {
      NSLog(@"%@", error);
      return 1;
    }
    lib.label = @"lib";
    CHECK(lib.functionNames.count == 3);
    CHECK(lib.device == d);
    CHECK(lib.type == MTLLibraryTypeExecutable);
    MTLComputePipelineReflection *r = nil;
    id<MTLComputePipelineState> p =
        [d newComputePipelineStateWithFunction:[lib newFunctionWithName:@"k"]
                                       options:MTLPipelineOptionArgumentInfo |
                                               MTLPipelineOptionBufferTypeInfo
                                    reflection:&r
                                         error:&error];
    CHECK(p);
    for (id<MTLBinding> b in r.bindings) {
      if (b.type == MTLBindingTypeBuffer && b.index == 1) {
        id<MTLBufferBinding> bb = (id<MTLBufferBinding>)b;
        CHECK(bb.bufferDataSize == 16 &&
              bb.bufferDataType == MTLDataTypeStruct);
        CHECK([bb.bufferStructType memberByName:@"b"].offset == 8);
        for (MTLStructMember *m in bb.bufferStructType.members)
          CHECK(m.name.length == 1);
      }
      if (b.type == MTLBindingTypeTexture) {
        id<MTLTextureBinding> tb = (id)b;
        CHECK(tb.textureType == MTLTextureType2D &&
              b.access == MTLBindingAccessWriteOnly);
      }
      if (b.type == MTLBindingTypeThreadgroupMemory) {
        CHECK(((id<MTLThreadgroupBinding>)b).threadgroupMemoryAlignment >= 4);
      }
      CHECK(b.isUsed || b.type == MTLBindingTypeSampler);
    }
    for (MTLArgument *a in r.arguments) {
      if (a.type == MTLArgumentTypeBuffer && a.index == 1) {
        CHECK(a.bufferDataSize == 16);
        CHECK(a.active);
      }
    }
    MTLComputePipelineDescriptor *pd =
        [[MTLComputePipelineDescriptor alloc] init];
    pd.label = @"pipe";
    pd.computeFunction = [lib newFunctionWithName:@"k"];
    pd.threadGroupSizeIsMultipleOfThreadExecutionWidth = YES;
    pd.maxTotalThreadsPerThreadgroup = 128;
    pd.buffers[0].mutability = MTLMutabilityMutable;
    pd.supportIndirectCommandBuffers = YES;
    pd.maxCallStackDepth = 2;
    p = [d newComputePipelineStateWithDescriptor:pd
                                         options:0
                                      reflection:nil
                                           error:&error];
    CHECK(p && p.maxTotalThreadsPerThreadgroup <= 128 &&
          [p.label isEqual:@"pipe"] && p.supportIndirectCommandBuffers &&
          p.staticThreadgroupMemoryLength == 0 && p.device == d);
    [pd reset];
    CHECK(pd.label == nil);
    CHECK([p imageblockMemoryLengthForDimensions:MTLSizeMake(1, 1, 1)] == 0);
    MTLLinkedFunctions *lf = [MTLLinkedFunctions linkedFunctions];
    id<MTLFunction> addf = [lib newFunctionWithName:@"addf"];
    CHECK(addf.functionType == MTLFunctionTypeVisible);
    lf.functions = @[ addf ];
    MTLComputePipelineDescriptor *vd = [MTLComputePipelineDescriptor new];
    vd.computeFunction = [lib newFunctionWithName:@"vf"];
    vd.linkedFunctions = lf;
    id<MTLComputePipelineState> vp =
        [d newComputePipelineStateWithDescriptor:vd
                                         options:MTLPipelineOptionNone
                                      reflection:NULL
                                           error:&error];
    if (!vp) NSLog(@"%@", error);
    MTLVisibleFunctionTableDescriptor *td =
        [MTLVisibleFunctionTableDescriptor new];
    td.functionCount = 1;
    id<MTLVisibleFunctionTable> tab =
        [vp newVisibleFunctionTableWithDescriptor:td];
    id<MTLFunctionHandle> h = [vp functionHandleWithFunction:addf];
    CHECK([h.name isEqual:@"addf"]);
    [tab setFunction:h atIndex:0];
    id<MTLBuffer> o = [d newBufferWithLength:64 options:0];
    id<MTLCommandBuffer> cb = [[d newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    [e setComputePipelineState:vp];
    [e setBuffer:o offset:0 atIndex:0];
    [e setVisibleFunctionTable:tab atBufferIndex:1];
    [e useResource:tab usage:MTLResourceUsageRead];
    [e dispatchThreads:MTLSizeMake(1, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(*(float *)o.contents == 3);
    if (cb.error) NSLog(@"%@", cb.error);
    dispatch_semaphore_t s = dispatch_semaphore_create(0);
    __block id<MTLComputePipelineState> ap = nil;
    [d newComputePipelineStateWithFunction:[lib newFunctionWithName:@"k"]
                         completionHandler:^(id<MTLComputePipelineState> x,
                                             NSError *er) {
                           ap = x;
                           dispatch_semaphore_signal(s);
                         }];
    dispatch_semaphore_wait(s, DISPATCH_TIME_FOREVER);
    CHECK(ap);
    __block id<MTLLibrary> al = nil;
    [d newLibraryWithSource:src
                    options:nil
          completionHandler:^(id<MTLLibrary> l, NSError *er) {
            al = l;
            dispatch_semaphore_signal(s);
          }];
    dispatch_semaphore_wait(s, DISPATCH_TIME_FOREVER);
    CHECK(al);
    MTLBinaryArchiveDescriptor *bd = [MTLBinaryArchiveDescriptor new];
    id<MTLBinaryArchive> ba = [d newBinaryArchiveWithDescriptor:bd
                                                          error:&error];
    pd.computeFunction = [lib newFunctionWithName:@"k"];
    CHECK([ba addComputePipelineFunctionsWithDescriptor:pd error:&error]);
    NSURL *u =
        [NSURL fileURLWithPath:[NSTemporaryDirectory()
                                   stringByAppendingPathComponent:@"archive"]];
    CHECK([ba serializeToURL:u error:&error]);
    bd.url = u;
    CHECK([d newBinaryArchiveWithDescriptor:bd error:&error]);
    pd.binaryArchives = @[ ba ];
  }
  return checks_end();
}
