// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_buffers.m: argument buffers written as structs, simd, samplers, as a
// program for macOS has them.
#import <Metal/Metal.h>
#import <MetalKit/MetalKit.h>
#import <simd/simd.h>
#include "../check.h"
typedef struct {
  uint64_t out;
  MTLResourceID tex;
  vector_float4 scale;
  matrix_float4x4 m;
  simd_float3 v;
} Args;
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> lib =
        [d newLibraryWithSource:
                @"#include <metal_stdlib>\nusing namespace metal;\nstruct Args "
                @"{ device float4 *out; texture2d<float> t; float4 scale; "
                @"float4x4 m; float3 v; };\nkernel void k(constant Args &a "
                @"[[buffer(0)]], uint i [[thread_position_in_grid]]) { "
                @"constexpr sampler s(filter::linear); a.out[i] = a.m * "
                @"(a.t.sample(s, float2(0.5)) * a.scale) + float4(a.v, 0); }"
                        options:nil
                          error:&error];
    if (!lib) {
      NSLog(@"%@", error);
      return 1;
    }
    id<MTLComputePipelineState> p =
        [d newComputePipelineStateWithFunction:[lib newFunctionWithName:@"k"]
                                         error:&error];
    MTLTextureDescriptor *td = [MTLTextureDescriptor
        texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA32Float
                                     width:2
                                    height:2
                                 mipmapped:NO];
    td.usage = MTLTextureUsageShaderRead;
    td.cpuCacheMode = MTLCPUCacheModeDefaultCache;
    td.allowGPUOptimizedContents = NO;
    td.swizzle = MTLTextureSwizzleChannelsMake(
        MTLTextureSwizzleRed, MTLTextureSwizzleGreen, MTLTextureSwizzleBlue,
        MTLTextureSwizzleAlpha);
    id<MTLTexture> t = [d newTextureWithDescriptor:td];
    vector_float4 px[4] = {
        {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}};
    [t replaceRegion:MTLRegionMake2D(0, 0, 2, 2)
         mipmapLevel:0
           withBytes:px
         bytesPerRow:32];
    id<MTLBuffer> o = [d newBufferWithLength:64 options:0],
                  ab = [d newBufferWithLength:sizeof(Args) options:0];
    Args *a = ab.contents;
    a->out = o.gpuAddress;
    a->tex = t.gpuResourceID;
    a->scale = (vector_float4){2, 2, 2, 2};
    a->m = matrix_identity_float4x4;
    a->v = simd_make_float3(1, 1, 1);
    CHECK(sizeof(simd_float3) == 16 && sizeof(matrix_float4x4) == 64);
    CHECK(simd_dot(simd_make_float3(1, 2, 3), simd_make_float3(1, 1, 1)) == 6);
    CHECK(simd_length((simd_float2){3, 4}) == 5);
    simd_float4x4 mm = simd_mul(matrix_identity_float4x4, a->m);
    CHECK(mm.columns[1].y == 1);
    vector_uint2 vu = {1, 2};
    CHECK(vu.y == 2);
    id<MTLCommandBuffer> cb = [[d newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    [e setComputePipelineState:p];
    [e setBuffer:ab offset:0 atIndex:0];
    [e useResource:o usage:MTLResourceUsageWrite];
    [e useResource:t usage:MTLResourceUsageRead];
    [e dispatchThreads:MTLSizeMake(4, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    if (cb.error) NSLog(@"%@", cb.error);
    vector_float4 *r = o.contents;
    CHECK(r[3].x == 3 && r[3].y == 5 && r[3].z == 7 && r[3].w == 8);
    MTLSamplerDescriptor *sd = [[MTLSamplerDescriptor alloc] init];
    sd.minFilter = sd.magFilter = MTLSamplerMinMagFilterLinear;
    sd.mipFilter = MTLSamplerMipFilterLinear;
    sd.sAddressMode = sd.tAddressMode = sd.rAddressMode =
        MTLSamplerAddressModeRepeat;
    sd.maxAnisotropy = 4;
    sd.lodMinClamp = 0;
    sd.lodMaxClamp = 10;
    sd.normalizedCoordinates = YES;
    sd.compareFunction = MTLCompareFunctionLess;
    sd.borderColor = MTLSamplerBorderColorTransparentBlack;
    sd.label = @"s";
    CHECK([d newSamplerStateWithDescriptor:sd].label);
    id<MTLTexture> ts[] = {t, t};
    e = nil;
    cb = [[d newCommandQueue] commandBuffer];
    e = [cb computeCommandEncoder];
    [e setTextures:ts withRange:NSMakeRange(0, 2)];
    id<MTLSamplerState> ss[] = {[d newSamplerStateWithDescriptor:sd]};
    [e setSamplerStates:ss withRange:NSMakeRange(0, 1)];
    [e setSamplerState:ss[0] lodMinClamp:0 lodMaxClamp:1 atIndex:1];
    [e setStageInRegion:MTLRegionMake1D(0, 4)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
  }
  return checks_end();
}
