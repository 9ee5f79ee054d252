// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_encoders.m: argument encoders of functions and descriptors, as a
// program for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
static NSString *src =
    @"#include <metal_stdlib>\nusing namespace metal;\n"
     "struct Args { device float *out [[id(0)]]; const device float *in "
     "[[id(1)]]; float scale [[id(2)]]; texture2d<float> t [[id(3)]]; sampler "
     "s [[id(4)]]; array<device float*, 2> more [[id(5)]]; };"
     "kernel void k(constant Args &a [[buffer(0)]], uint i "
     "[[thread_position_in_grid]]) { a.out[i] = a.in[i] * a.scale + "
     "a.t.sample(a.s, float2(0.5)).x; a.more[1][i] = i; }";
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    CHECK(device.argumentBuffersSupport == MTLArgumentBuffersTier2);
    id<MTLLibrary> lib = [device newLibraryWithSource:src
                                              options:nil
                                                error:&error];
    if (!lib) {
      NSLog(@"%@", error);
      return 1;
    }
    id<MTLFunction> f = [lib newFunctionWithName:@"k"];
    id<MTLArgumentEncoder> enc = [f newArgumentEncoderWithBufferIndex:0];
    id<MTLBuffer> ab = [device newBufferWithLength:enc.encodedLength options:0];
    [enc setArgumentBuffer:ab offset:0];
    id<MTLBuffer> o = [device newBufferWithLength:64 options:0],
                  i0 = [device newBufferWithLength:64 options:0],
                  m = [device newBufferWithLength:64 options:0];
    for (int i = 0; i < 16; i++) ((float *)i0.contents)[i] = i;
    const id<MTLBuffer> bs[] = {o, i0};
    const NSUInteger offs[] = {0, 0};
    [enc setBuffers:bs offsets:offs withRange:NSMakeRange(0, 2)];
    *(float *)[enc constantDataAtIndex:2] = 2.0f;
    MTLTextureDescriptor *td = [MTLTextureDescriptor
        texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Float
                                     width:1
                                    height:1
                                 mipmapped:NO];
    id<MTLTexture> t = [device newTextureWithDescriptor:td];
    float half = 0.5f;
    [t replaceRegion:MTLRegionMake2D(0, 0, 1, 1)
         mipmapLevel:0
           withBytes:&half
         bytesPerRow:4];
    MTLSamplerDescriptor *sd = [MTLSamplerDescriptor new];
    sd.supportArgumentBuffers = YES;
    sd.minFilter = MTLSamplerMinMagFilterLinear;
    id<MTLSamplerState> s = [device newSamplerStateWithDescriptor:sd];
    [enc setTexture:t atIndex:3];
    [enc setSamplerState:s atIndex:4];
    [enc setTextures:&t withRange:NSMakeRange(3, 1)];
    [enc setSamplerStates:&s withRange:NSMakeRange(4, 1)];
    [enc setBuffer:m offset:0 atIndex:5];
    [enc setBuffer:m offset:0 atIndex:6];
    id<MTLComputePipelineState> p =
        [device newComputePipelineStateWithFunction:f error:&error];
    id<MTLCommandBuffer> cb = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    [e setComputePipelineState:p];
    [e setBuffer:ab offset:0 atIndex:0];
    const id<MTLResource> rs[] = {o, m};
    [e useResources:rs count:2 usage:MTLResourceUsageWrite];
    [e useResource:i0 usage:MTLResourceUsageRead];
    [e useResource:t usage:MTLResourceUsageRead | MTLResourceUsageSample];
    [e dispatchThreads:MTLSizeMake(16, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(cb.status == MTLCommandBufferStatusCompleted);
    if (cb.error) NSLog(@"%@", cb.error);
    CHECK(((float *)o.contents)[5] == 10.5f);
    CHECK(((float *)m.contents)[7] == 7.0f);
    // tier 2 style by gpuAddress / gpuResourceID is another program
    MTLArgumentDescriptor *d0 = [MTLArgumentDescriptor argumentDescriptor];
    d0.index = 0;
    d0.dataType = MTLDataTypePointer;
    d0.access = MTLArgumentAccessReadWrite;
    MTLArgumentDescriptor *d1 = [MTLArgumentDescriptor argumentDescriptor];
    d1.index = 1;
    d1.dataType = MTLDataTypeFloat4;
    id<MTLArgumentEncoder> e2 =
        [device newArgumentEncoderWithArguments:@[ d0, d1 ]];
    CHECK(e2.encodedLength >= 24);
  }
  return checks_end();
}
