// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal4.m: Metal 4's command model, argument tables and compiler, as a program
// for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    NSError *e = nil;
    id<MTL4CommandQueue> q = [d newMTL4CommandQueue];
    id<MTL4CommandAllocator> al = [d newCommandAllocator];
    id<MTL4CommandBuffer> cb = [d newCommandBuffer];
    CHECK([q conformsToProtocol:@protocol(MTL4CommandQueue)]);
    id<MTL4Compiler> comp =
        [d newCompilerWithDescriptor:[MTL4CompilerDescriptor new] error:&e];
    CHECK(comp.device == d);
    MTL4LibraryDescriptor *ld = [MTL4LibraryDescriptor new];
    ld.name = @"kernels";
    ld.source =
        @"#include <metal_stdlib>\nusing namespace metal;\nconstant int factor "
        @"[[function_constant(0)]];\nkernel void k(device int *x "
        @"[[buffer(0)]], constant int &n [[buffer(2)]], texture2d<float> t "
        @"[[texture(0)]], sampler s [[sampler(0)]], threadgroup int *g "
        @"[[threadgroup(0)]], uint i [[thread_position_in_grid]]) { g[i % 8] = "
        @"int(i); x[i] = g[i % 8] * factor + n + int(t.sample(s, "
        @"float2(0.5)).x); }\nkernel void plus(device int *x [[buffer(0)]], "
        @"uint i [[thread_position_in_grid]]) { x[i] += 1; }\nkernel void "
        @"reach(device int *const device *p [[buffer(0)]], uint i "
        @"[[thread_position_in_grid]]) { p[0][i] += 1000; }";
    id<MTLLibrary> lib = [comp newLibraryWithDescriptor:ld error:&e];
    CHECK(lib);
    CHECK([lib.label isEqual:@"kernels"]);
    MTL4LibraryFunctionDescriptor *fd = [MTL4LibraryFunctionDescriptor new];
    fd.library = lib;
    fd.name = @"k";
    int factor = 3;
    MTLFunctionConstantValues *cv = [MTLFunctionConstantValues new];
    [cv setConstantValue:&factor type:MTLDataTypeInt atIndex:0];
    MTL4SpecializedFunctionDescriptor *sf =
        [MTL4SpecializedFunctionDescriptor new];
    sf.functionDescriptor = fd;
    sf.constantValues = cv;
    sf.specializedName = @"k3";
    MTL4ComputePipelineDescriptor *pd = [MTL4ComputePipelineDescriptor new];
    pd.computeFunctionDescriptor = sf;
    pd.label = @"p";
    id<MTLComputePipelineState> p =
        [comp newComputePipelineStateWithDescriptor:pd
                                compilerTaskOptions:nil
                                              error:&e];
    CHECK(p);
    CHECK([p.label isEqual:@"p"]);
    MTL4LibraryFunctionDescriptor *pf = [MTL4LibraryFunctionDescriptor new];
    pf.library = lib;
    pf.name = @"plus";
    pd.computeFunctionDescriptor = pf;
    id<MTLComputePipelineState> plus =
        [comp newComputePipelineStateWithDescriptor:pd
                                compilerTaskOptions:nil
                                              error:&e];
    CHECK(plus);
    pf.name = @"reach";
    pd.computeFunctionDescriptor = pf;
    id<MTLComputePipelineState> reach =
        [comp newComputePipelineStateWithDescriptor:pd
                                compilerTaskOptions:nil
                                              error:&e];
    CHECK(reach);
    pf.name = @"absent";
    pd.computeFunctionDescriptor = pf;
    NSError *fe = nil;
    CHECK([comp newComputePipelineStateWithDescriptor:pd
                                  compilerTaskOptions:nil
                                                error:&fe] == nil);
    CHECK(fe.code == MTLLibraryErrorFunctionNotFound);
    MTL4ArgumentTableDescriptor *ad = [MTL4ArgumentTableDescriptor new];
    ad.maxBufferBindCount = 3;
    ad.maxTextureBindCount = 1;
    ad.maxSamplerStateBindCount = 1;
    id<MTL4ArgumentTable> at = [d newArgumentTableWithDescriptor:ad error:&e];
    CHECK(at);
    MTL4ArgumentTableDescriptor *big = [MTL4ArgumentTableDescriptor new];
    big.maxBufferBindCount = 32;
    NSError *te = nil;
    CHECK([d newArgumentTableWithDescriptor:big error:&te] == nil && te);
    id<MTLBuffer> b = [d newBufferWithLength:128 options:0],
                  n = [d newBufferWithLength:256 options:0],
                  ptrs = [d newBufferWithLength:8 options:0],
                  unseen = [d newBufferWithLength:64 options:0];
    ((int *)n.contents)[4] = 100;
    ((int *)n.contents)[5] = 200;
    *(uint64_t *)ptrs.contents = b.gpuAddress;
    id<MTLTexture> tx =
        [d newTextureWithDescriptor:
                [MTLTextureDescriptor
                    texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Float
                                                 width:1
                                                height:1
                                             mipmapped:NO]];
    float seven = 7;
    [tx replaceRegion:MTLRegionMake2D(0, 0, 1, 1)
          mipmapLevel:0
            withBytes:&seven
          bytesPerRow:4];
    id<MTLSamplerState> sm =
        [d newSamplerStateWithDescriptor:[MTLSamplerDescriptor new]];
    [at setAddress:b.gpuAddress atIndex:0];
    [at setAddress:n.gpuAddress + 16 atIndex:2];
    [at setTexture:tx.gpuResourceID atIndex:0];
    [at setSamplerState:sm.gpuResourceID atIndex:0];
    id<MTLResidencySet> rs =
        [d newResidencySetWithDescriptor:[MTLResidencySetDescriptor new]
                                   error:&e];
    [rs addAllocation:b];
    [rs addAllocation:n];
    [rs addAllocation:tx];
    [rs addAllocation:ptrs];
    [rs commit];
    [q addResidencySet:rs];
    MTL4CounterHeapDescriptor *hd = [MTL4CounterHeapDescriptor new];
    hd.count = 4;
    NSError *he = nil;
    CHECK([d newCounterHeapWithDescriptor:hd error:&he] == nil && he);
    hd.type = MTL4CounterHeapTypeTimestamp;
    id<MTL4CounterHeap> heap = [d newCounterHeapWithDescriptor:hd error:&e];
    CHECK(heap.count == 4 && heap.type == MTL4CounterHeapTypeTimestamp);
    CHECK([heap conformsToProtocol:@protocol(MTL4CounterHeap)]);
    CHECK([d sizeOfCounterHeapEntry:heap.type] ==
          sizeof(MTL4TimestampHeapEntry));
    CHECK([heap resolveCounterRange:NSMakeRange(3, 2)] == nil);
    [cb beginCommandBufferWithAllocator:al];
    [cb writeTimestampIntoHeap:heap atIndex:0];
    id<MTL4ComputeCommandEncoder> ce = [cb computeCommandEncoder];
    [ce setComputePipelineState:p];
    [ce setArgumentTable:at];
    [ce setThreadgroupMemoryLength:32 atIndex:0];
    [ce dispatchThreads:MTLSizeMake(16, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    // the table may change behind a dispatch, which uses the old contents
    [at setAddress:b.gpuAddress + 64 atIndex:0];
    [at setAddress:n.gpuAddress + 20 atIndex:2];
    [ce barrierAfterEncoderStages:MTLStageDispatch
              beforeEncoderStages:MTLStageDispatch
                visibilityOptions:MTL4VisibilityOptionDevice];
    [ce dispatchThreadgroups:MTLSizeMake(2, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    [ce writeTimestampWithGranularity:MTL4TimestampGranularityPrecise
                             intoHeap:heap
                              atIndex:1];
    [ce endEncoding];
    [cb writeTimestampIntoHeap:heap atIndex:2];
    [cb endCommandBuffer];
    id<MTLSharedEvent> ev = [d newSharedEvent];
    [q commit:&cb count:1];
    [q signalEvent:ev value:1];
    CHECK([ev waitUntilSignaledValue:1 timeoutMS:20000]);
    int *out = b.contents;
    CHECK(out[0] == 107 && out[15] == 152 && out[16] == 207 && out[31] == 252);
    NSData *resolved = [heap resolveCounterRange:NSMakeRange(0, 4)];
    const MTL4TimestampHeapEntry *times = resolved.bytes;
    CHECK(resolved.length == 4 * sizeof *times);
    CHECK(times[0].timestamp > 0 &&
          times[1].timestamp >= times[0].timestamp &&
          times[2].timestamp >= times[1].timestamp && times[3].timestamp == 0);
    [al reset];
    // used again, with a copy, a fill, an indirect dispatch and feedback
    [at setAddress:b.gpuAddress atIndex:0];
    ((uint32_t *)n.contents)[32] = 1;
    ((uint32_t *)n.contents)[33] = 1;
    ((uint32_t *)n.contents)[34] = 1;
    [cb beginCommandBufferWithAllocator:al];
    ce = [cb computeCommandEncoder];
    ce.label = @"more";
    [ce setComputePipelineState:plus];
    [ce setArgumentTable:at];
    [ce dispatchThreadgroupsWithIndirectBuffer:n.gpuAddress + 128
                         threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [ce barrierAfterEncoderStages:MTLStageDispatch
              beforeEncoderStages:MTLStageAll
                visibilityOptions:MTL4VisibilityOptionDevice];
    [ce copyFromBuffer:b sourceOffset:0 toBuffer:b destinationOffset:64 size:4];
    [ce fillBuffer:b range:NSMakeRange(124, 4) value:1];
    [ce barrierAfterEncoderStages:MTLStageBlit
              beforeEncoderStages:MTLStageDispatch
                visibilityOptions:MTL4VisibilityOptionDevice];
    [at setAddress:ptrs.gpuAddress atIndex:0];
    [ce setComputePipelineState:reach];
    [ce dispatchThreads:MTLSizeMake(2, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
    [ce endEncoding];
    [cb endCommandBuffer];
    MTL4CommitOptions *co = [MTL4CommitOptions new];
    dispatch_semaphore_t told = dispatch_semaphore_create(0);
    __block NSError *ferr = nil;
    __block double end = 0;
    [co addFeedbackHandler:^(id<MTL4CommitFeedback> f) {
      ferr = f.error;
      end = f.GPUEndTime;
      dispatch_semaphore_signal(told);
    }];
    [q commit:&cb count:1 options:co];
    CHECK(dispatch_semaphore_wait(
              told, dispatch_time(DISPATCH_TIME_NOW, 20ll * NSEC_PER_SEC)) ==
          0);
    CHECK(ferr == nil);
    CHECK(end > 0);
    CHECK(out[0] == 1108 && out[1] == 1111 && out[3] == 117 && out[4] == 119 &&
          out[16] == 108 && out[31] == 0x01010101);
    // a buffer that is not resident is told
    [at setAddress:unseen.gpuAddress atIndex:0];
    [cb beginCommandBufferWithAllocator:al];
    ce = [cb computeCommandEncoder];
    [ce setComputePipelineState:plus];
    [ce setArgumentTable:at];
    [ce dispatchThreads:MTLSizeMake(1, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [ce endEncoding];
    [cb endCommandBuffer];
    [q commit:&cb count:1 options:co];
    CHECK(dispatch_semaphore_wait(
              told, dispatch_time(DISPATCH_TIME_NOW, 20ll * NSEC_PER_SEC)) ==
          0);
    CHECK([ferr.localizedDescription containsString:@"resident"]);
    CHECK(*(int *)unseen.contents == 0);
    id<MTLResidencySet> own =
        [d newResidencySetWithDescriptor:[MTLResidencySetDescriptor new]
                                   error:&e];
    [own addAllocation:unseen];
    [own commit];
    [cb beginCommandBufferWithAllocator:al];
    [cb useResidencySet:own];
    ce = [cb computeCommandEncoder];
    [ce setComputePipelineState:plus];
    [ce setArgumentTable:at];
    [ce dispatchThreads:MTLSizeMake(1, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [ce endEncoding];
    [cb endCommandBuffer];
    [q waitForEvent:ev value:1];
    [q commit:&cb count:1];
    [q signalEvent:ev value:2];
    CHECK([ev waitUntilSignaledValue:2 timeoutMS:20000]);
    CHECK(*(int *)unseen.contents == 1);
    [q removeResidencySet:rs];
    // a tensor
    NSInteger ext[2] = {4, 2};
    MTLTensorDescriptor *td = [MTLTensorDescriptor new];
    td.dimensions = [[MTLTensorExtents alloc] initWithRank:2 values:ext];
    td.dataType = MTLTensorDataTypeFloat32;
    td.usage = MTLTensorUsageCompute;
    id<MTLTensor> ten = [d newTensorWithDescriptor:td error:&e];
    CHECK(ten && ten.gpuResourceID._impl != 0);
    [own addAllocation:ten];
    [own commit];
    MTLCompileOptions *four = [MTLCompileOptions new];
    four.languageVersion = MTLLanguageVersion4_0;
    id<MTLLibrary> tl =
        [d newLibraryWithSource:
                @"#include <metal_tensor>\nusing namespace metal;\nkernel void "
                @"set(tensor<device float, dextents<int32_t, 2>> t "
                @"[[buffer(1)]], uint2 p [[thread_position_in_grid]]) { t[p.x, "
                @"p.y] = p.x + 10 * p.y; }"
                        options:four
                          error:&e];
    if (!tl) NSLog(@"%@", e);
    CHECK(tl);
    id<MTLComputePipelineState> tp =
        [d newComputePipelineStateWithFunction:[tl newFunctionWithName:@"set"]
                                         error:&e];
    id<MTL4ArgumentTable> tt = [d newArgumentTableWithDescriptor:ad error:&e];
    [tt setResource:ten.gpuResourceID atBufferIndex:1];
    [cb beginCommandBufferWithAllocator:al];
    [cb useResidencySet:own];
    ce = [cb computeCommandEncoder];
    [ce setComputePipelineState:tp];
    [ce setArgumentTable:tt];
    [ce dispatchThreads:MTLSizeMake(4, 2, 1)
        threadsPerThreadgroup:MTLSizeMake(4, 2, 1)];
    [ce endEncoding];
    [cb endCommandBuffer];
    [q commit:&cb count:1 options:co];
    dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER);
    if (ferr) NSLog(@"%@", ferr);
    float got[8] = {0};
    NSInteger st[2] = {1, 4}, zero[2] = {0, 0};
    [ten getBytes:got
                strides:[[MTLTensorExtents alloc] initWithRank:2 values:st]
        fromSliceOrigin:[[MTLTensorExtents alloc] initWithRank:2 values:zero]
        sliceDimensions:td.dimensions];
    CHECK(got[3] == 3 && got[7] == 13);
  }
  return checks_end();
}
