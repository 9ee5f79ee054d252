// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linked_nodes.m: argument buffers that hold addresses of others, of textures
// and samplers, written by the host and by an encoder, and a residency set for
// what they reach. Expected sums by loops of the host.
#import <Metal/Metal.h>
#include <math.h>

#include "../check.h"
static NSString *const source =
    @"#include <metal_stdlib>\nusing namespace metal;\n"
     "struct Node { device const float *values; uint count; device Node *next; "
     "texture2d<float, access::read> image; sampler s; };\n"
     "struct Scene { device Node *first; array<texture2d<float, "
     "access::sample>, 3> images; array<device float *, 2> outs; float scale; "
     "};\n"
     "kernel void walk(constant Scene &scene [[buffer(0)]], uint i "
     "[[thread_position_in_grid]]) {\n"
     "  float sum = 0; uint nodes = 0;\n"
     "  for (device Node *n = scene.first; n; n = n->next, ++nodes) {\n"
     "    for (uint j = i; j < n->count; j += 4) sum += n->values[j];\n"
     "    sum += n->image.read(uint2(i % 2, 0)).x; }\n"
     "  scene.outs[0][i] = sum * scene.scale;\n"
     "  constexpr sampler s(coord::pixel, filter::nearest);\n"
     "  scene.outs[1][i] = scene.images[i % 3].sample(s, float2(0.5, 0.5)).y + "
     "nodes;\n"
     "}\n";
typedef struct {
  uint64_t values;
  uint32_t count, pad;
  uint64_t next;
  MTLResourceID image;
  MTLResourceID sampler;
} node;
typedef struct {
  uint64_t first;
  MTLResourceID images[3];
  uint64_t outs[2];
  float scale;
} scene;
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    CHECK(device.argumentBuffersSupport == MTLArgumentBuffersTier2);
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source
                                                  options:nil
                                                    error:&error];
    if (!library) {
      NSLog(@"%@", error);
      return 1;
    }
    MTLComputePipelineReflection *info = nil;
    MTLComputePipelineDescriptor *pd = [MTLComputePipelineDescriptor new];
    pd.computeFunction = [library newFunctionWithName:@"walk"];
    id<MTLComputePipelineState> pipe = [device
        newComputePipelineStateWithDescriptor:pd
                                      options:MTLPipelineOptionBindingInfo |
                                              MTLPipelineOptionBufferTypeInfo
                                   reflection:&info
                                        error:&error];
    CHECK(pipe);
    id<MTLBufferBinding> binding =
        (id<MTLBufferBinding>)info.bindings.firstObject;
    CHECK(info.bindings.count == 1 && [binding.name isEqual:@"scene"] &&
          binding.bufferDataSize >= sizeof(scene) - 4);
    CHECK([[binding.bufferStructType memberByName:@"outs"] offset] ==
          offsetof(scene, outs));
    id<MTLCommandQueue> queue = [device newCommandQueue];
    MTLResidencySetDescriptor *rd = [MTLResidencySetDescriptor new];
    rd.label = @"all";
    rd.initialCapacity = 16;
    id<MTLResidencySet> set = [device newResidencySetWithDescriptor:rd
                                                              error:&error];
    CHECK(set && !error);
    enum { NODES = 5 };
    id<MTLBuffer> nodes = [device newBufferWithLength:sizeof(node) * NODES
                                              options:0];
    MTLSamplerDescriptor *sd = [MTLSamplerDescriptor new];
    sd.supportArgumentBuffers = YES;
    id<MTLSamplerState> sampler = [device newSamplerStateWithDescriptor:sd];
    MTLTextureDescriptor *td = [MTLTextureDescriptor
        texture2DDescriptorWithPixelFormat:MTLPixelFormatRG32Float
                                     width:2
                                    height:1
                                 mipmapped:NO];
    NSMutableArray *keep = [NSMutableArray array];
    float expected[2][4] = {{0}};
    for (int n = 0; n < NODES; ++n) {
      const int count = 10 + n;
      id<MTLBuffer> values = [device newBufferWithLength:count * 4 options:0];
      for (int j = 0; j < count; ++j) {
        ((float *)values.contents)[j] = (float)(n * 100 + j);
        expected[0][j % 4] += (float)(n * 100 + j);
      }
      id<MTLTexture> image = [device newTextureWithDescriptor:td];
      const float pixels[4] = {(float)n, 1, (float)(n * 2), 1};
      [image replaceRegion:MTLRegionMake2D(0, 0, 2, 1)
               mipmapLevel:0
                 withBytes:pixels
               bytesPerRow:16];
      for (int i = 0; i < 4; ++i) expected[0][i] += pixels[i % 2 * 2];
      ((node *)nodes.contents)[n] =
          (node){values.gpuAddress,
                 (uint32_t)count,
                 0,
                 n + 1 < NODES ? nodes.gpuAddress + sizeof(node) * (n + 1) : 0,
                 image.gpuResourceID,
                 sampler.gpuResourceID};
      [keep addObject:values];
      [keep addObject:image];
      [set addAllocation:values];
      [set addAllocation:image];
    }
    id<MTLBuffer> outs[2] = {[device newBufferWithLength:16 options:0],
                             [device newBufferWithLength:64 options:0]};
    id<MTLBuffer> argument = [device newBufferWithLength:sizeof(scene)
                                                 options:0];
    scene *s = argument.contents;
    s->first = nodes.gpuAddress;
    s->outs[0] = outs[0].gpuAddress;
    s->outs[1] = outs[1].gpuAddress + 32;
    s->scale = 0.5f;
    for (int i = 0; i < 3; ++i) {
      id<MTLTexture> image = [device newTextureWithDescriptor:td];
      const float pixels[4] = {0, 10.f * i, 0, 0};
      [image replaceRegion:MTLRegionMake2D(0, 0, 2, 1)
               mipmapLevel:0
                 withBytes:pixels
               bytesPerRow:16];
      s->images[i] = image.gpuResourceID;
      [keep addObject:image];
      [set addAllocation:image];
    }
    for (int i = 0; i < 4; ++i) {
      expected[0][i] *= 0.5f;
      expected[1][i] = 10.f * (i % 3) + NODES;
    }
    [set addAllocations:(id<MTLAllocation>[]){nodes, outs[0], outs[1], argument}
                  count:4];
    [set commit];
    [set requestResidency];
    CHECK(set.allocationCount == NODES * 2 + 3 + 4 &&
          [set containsAllocation:nodes] && set.allocatedSize > 0);
    [queue addResidencySet:set];
    for (int round = 0; round < 2; ++round) {
      id<MTLCommandBuffer> work = [queue commandBuffer];
      id<MTLComputeCommandEncoder> e = [work computeCommandEncoder];
      [e setComputePipelineState:pipe];
      [e setBuffer:argument offset:0 atIndex:0];
      if (round) {
        [queue removeResidencySet:set];
        [work useResidencySet:set];
      }
      [e dispatchThreads:MTLSizeMake(4, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
      [e endEncoding];
      [work commit];
      [work waitUntilCompleted];
      if (work.error) NSLog(@"%@", work.error);
      for (int i = 0; i < 4; ++i)
        CHECK(fabsf(((float *)outs[0].contents)[i] - expected[0][i]) < 1e-3f &&
              ((float *)outs[1].contents)[8 + i] == expected[1][i]);
      memset(outs[0].contents, 0, 16);
    }
    // the same by an encoder of the function
    id<MTLArgumentEncoder> ae =
        [pd.computeFunction newArgumentEncoderWithBufferIndex:0];
    CHECK(ae.encodedLength >= sizeof(scene) - 4);
    id<MTLBuffer> other = [device newBufferWithLength:ae.encodedLength
                                              options:0];
    [ae setArgumentBuffer:other offset:0];
    [ae setBuffer:nodes offset:0 atIndex:0];
    [ae setTextures:(id<MTLTexture>[]){keep[NODES * 2], keep[NODES * 2 + 1],
                                       keep[NODES * 2 + 2]}
          withRange:NSMakeRange(1, 3)];
    [ae setBuffers:outs
           offsets:(NSUInteger[]){0, 32}
         withRange:NSMakeRange(4, 2)];
    *(float *)[ae constantDataAtIndex:6] = 0.5f;
    id<MTLCommandBuffer> work = [queue commandBuffer];
    id<MTLComputeCommandEncoder> e = [work computeCommandEncoder];
    [work useResidencySet:set];
    [e setComputePipelineState:pipe];
    [e setBuffer:other offset:0 atIndex:0];
    [e dispatchThreads:MTLSizeMake(4, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [e endEncoding];
    [work commit];
    [work waitUntilCompleted];
    if (work.error) NSLog(@"%@", work.error);
    CHECK(fabsf(((float *)outs[0].contents)[3] - expected[0][3]) < 1e-3f);
    [set removeAllAllocations];
    [set commit];
    CHECK(set.allocationCount == 0);
    [set endResidency];
  }
  return checks_end();
}
