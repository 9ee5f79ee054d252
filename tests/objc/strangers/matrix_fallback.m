// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matrix_fallback.m: a program that multiplies by a kernel of its own where a
// class of Metal Performance Shaders is not there.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include "../check.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "#include <metal_simdgroup_matrix>\n"
     "using namespace metal;\n"
     "kernel void multiply(const device float *a, const device float *b,\n"
     "                     device float *c, constant uint &n,\n"
     "                     uint2 g [[threadgroup_position_in_grid]]) {\n"
     "  simdgroup_float8x8 x, y, z = make_filled_simdgroup_matrix<float, 8>(0);\n"
     "  for (uint k = 0; k < n; k += 8) {\n"
     "    simdgroup_load(x, a + g.y * 8 * n + k, n);\n"
     "    simdgroup_load(y, b + k * n + g.x * 8, n);\n"
     "    simdgroup_multiply_accumulate(z, x, y, z);\n"
     "  }\n"
     "  simdgroup_store(z, c + g.y * 8 * n + g.x * 8, n);\n"
     "}\n";

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    CHECK(NSClassFromString(@"MPSNDArrayMatrixMultiplication") == Nil);
    enum { N = 32 };
    float a[N * N], b[N * N];
    for (int i = 0; i < N * N; ++i) {
      a[i] = (float)(i % 7);
      b[i] = (float)(i % 5) - 2;
    }
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source
                                                  options:nil
                                                    error:&error];
    id<MTLComputePipelineState> multiply = [device
        newComputePipelineStateWithFunction:
            [library newFunctionWithName:@"multiply"]
                                      error:&error];
    CHECK(multiply && multiply.threadExecutionWidth == 32);
    id<MTLBuffer> x = [device newBufferWithBytes:a length:sizeof a options:0];
    id<MTLBuffer> y = [device newBufferWithBytes:b length:sizeof b options:0];
    id<MTLBuffer> z = [device newBufferWithLength:sizeof a options:0];
    MPSCommandBuffer *commands =
        [MPSCommandBuffer commandBufferFromCommandQueue:[device newCommandQueue]];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:multiply];
    const id<MTLBuffer> buffers[] = {x, y, z};
    const NSUInteger offsets[] = {0, 0, 0};
    const uint32_t n = N;
    [encoder setBuffers:buffers offsets:offsets withRange:NSMakeRange(0, 3)];
    [encoder setBytes:&n length:sizeof n atIndex:3];
    [encoder dispatchThreadgroups:MTLSizeMake(N / 8, N / 8, 1)
            threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    const float *c = z.contents;
    for (int row = 0; row < N; ++row) {
      for (int column = 0; column < N; ++column) {
        float sum = 0;
        for (int k = 0; k < N; ++k) {
          sum += a[row * N + k] * b[k * N + column];
        }
        if (c[row * N + column] != sum) {
          CHECK(c[row * N + column] == sum);
        }
      }
    }
    CHECK(c[0] != 0);
  }
  return checks_end();
}
