// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matrix_products.m: products by MPSMatrixMultiplication as programs of
// language models make them: weights that lie turned, parts of larger buffers,
// halves, sums that go on, and many matrices at once.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include "../check.h"

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;

// Small integers: every sum of their products is exact in float.
static float value(NSUInteger i, NSUInteger seed) {
  return (float)((i * 7 + seed * 3) % 11) - 5;
}

static MPSMatrix *matrix(NSUInteger rows, NSUInteger columns, NSUInteger row,
                         NSUInteger offset, NSUInteger seed) {
  id<MTLBuffer> buffer =
      [device newBufferWithLength:offset + rows * row * sizeof(float)
                          options:MTLResourceStorageModeShared];
  float *to = (float *)((char *)buffer.contents + offset);
  for (NSUInteger i = 0; i < rows * row; ++i) {
    to[i] = value(i, seed);
  }
  MPSMatrixDescriptor *shape =
      [MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                            columns:columns
                                           rowBytes:row * sizeof(float)
                                           dataType:MPSDataTypeFloat32];
  return [[MPSMatrix alloc] initWithBuffer:buffer
                                    offset:offset
                                descriptor:shape];
}

static float at(MPSMatrix *of, NSUInteger row, NSUInteger column) {
  const float *from = (const float *)((char *)of.data.contents + of.offset);
  return from[row * of.rowBytes / sizeof(float) + column];
}

static void run(MPSMatrixMultiplication *product, MPSMatrix *left,
                MPSMatrix *right, MPSMatrix *result) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [product encodeToCommandBuffer:commands
                      leftMatrix:left
                     rightMatrix:right
                    resultMatrix:result];
  [result synchronizeOnCommandBuffer:commands];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLCommandBufferStatusCompleted);
}

// Sizes that are no multiple of anything, rows that are longer than the
// columns, and both turns of both.
static void turned(BOOL left_turned, BOOL right_turned) {
  enum { M = 37, N = 45, K = 70 };
  MPSMatrix *a = left_turned ? matrix(K, M, M + 3, 256, 1)
                             : matrix(M, K, K + 1, 256, 1);
  MPSMatrix *b =
      right_turned ? matrix(N, K, K, 0, 2) : matrix(K, N, N + 2, 0, 2);
  MPSMatrix *c = matrix(M, N, N + 4, 64, 3);
  MPSMatrix *before = matrix(M, N, N + 4, 64, 3);
  MPSMatrixMultiplication *product =
      [[MPSMatrixMultiplication alloc] initWithDevice:device
                                        transposeLeft:left_turned
                                       transposeRight:right_turned
                                           resultRows:M
                                        resultColumns:N
                                      interiorColumns:K
                                                alpha:2
                                                 beta:-1];
  run(product, a, b, c);
  NSUInteger wrong = 0;
  for (NSUInteger i = 0; i < M; ++i) {
    for (NSUInteger j = 0; j < N; ++j) {
      float sum = 0;
      for (NSUInteger k = 0; k < K; ++k) {
        sum += (left_turned ? at(a, k, i) : at(a, i, k)) *
               (right_turned ? at(b, j, k) : at(b, k, j));
      }
      wrong += at(c, i, j) != 2 * sum - at(before, i, j);
    }
    // What is between the rows stays as it was.
    wrong += at(c, i, N + 1) != at(before, i, N + 1);
  }
  CHECK(wrong == 0);
}

// A product of parts: rows 2.., columns 3.. of each.
static void parts(void) {
  MPSMatrix *a = matrix(8, 9, 9, 0, 4), *b = matrix(9, 10, 10, 0, 5);
  MPSMatrix *c = matrix(8, 10, 10, 0, 6), *before = matrix(8, 10, 10, 0, 6);
  MPSMatrixMultiplication *product =
      [[MPSMatrixMultiplication alloc] initWithDevice:device
                                           resultRows:4
                                        resultColumns:5
                                      interiorColumns:6];
  product.leftMatrixOrigin = MTLOriginMake(2, 3, 0);
  product.rightMatrixOrigin = MTLOriginMake(1, 2, 0);
  product.resultMatrixOrigin = MTLOriginMake(3, 4, 0);
  CHECK(product.leftMatrixOrigin.y == 3 && product.batchSize == NSUIntegerMax);
  run(product, a, b, c);
  float sum = 0;
  for (NSUInteger k = 0; k < 6; ++k) {
    sum += at(a, 2 + 1, 3 + k) * at(b, 1 + k, 2 + 4);
  }
  CHECK(at(c, 3 + 1, 4 + 4) == sum);
  CHECK(at(c, 2, 4) == at(before, 2, 4) && at(c, 3, 3) == at(before, 3, 3));
  CHECK(at(c, 7, 4) == at(before, 7, 4) && at(c, 3, 9) == at(before, 3, 9));
}

// Three matrices of halves behind each other, multiplied into floats.
static void batch_of_halves(void) {
  enum { N = 6, MATRICES = 3 };
  MPSMatrixDescriptor *halves = [MPSMatrixDescriptor
      matrixDescriptorWithRows:N
                       columns:N
                      matrices:MATRICES
                      rowBytes:N * 2
                   matrixBytes:N * N * 2
                      dataType:MPSDataTypeFloat16];
  MPSMatrixDescriptor *floats = [MPSMatrixDescriptor
      matrixDescriptorWithRows:N
                       columns:N
                      matrices:MATRICES
                      rowBytes:N * 4
                   matrixBytes:N * N * 4
                      dataType:MPSDataTypeFloat32];
  MPSMatrix *a = [[MPSMatrix alloc] initWithDevice:device descriptor:halves];
  MPSMatrix *b = [[MPSMatrix alloc] initWithDevice:device descriptor:halves];
  MPSMatrix *c = [[MPSMatrix alloc] initWithDevice:device descriptor:floats];
  CHECK(a.matrices == MATRICES && a.resourceSize == MATRICES * N * N * 2);
  uint16_t *x = a.data.contents, *y = b.data.contents;
  for (int i = 0; i < MATRICES * N * N; ++i) {
    x[i] = i % N == i / N % N ? 0x4000 : 0;  // 2 on the diagonal
    y[i] = (uint16_t)(0x3c00 + 0x200 * (i % 2));  // 1 and 1.5
  }
  MPSMatrixMultiplication *product =
      [[MPSMatrixMultiplication alloc] initWithDevice:device
                                           resultRows:N
                                        resultColumns:N
                                      interiorColumns:N];
  product.batchStart = 1;
  run(product, a, b, c);
  const float *z = c.data.contents;
  CHECK(z[0] == 0 && z[N * N - 1] == 0);  // the first is not of the batch
  CHECK(z[N * N] == 2 && z[N * N + 1] == 3);
  CHECK(z[3 * N * N - 2] == 2 && z[3 * N * N - 1] == 3);
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    CHECK(MPSSupportsMTLDevice(device) && !MPSSupportsMTLDevice(nil));
    CHECK([MPSMatrixDescriptor rowBytesFromColumns:5
                                          dataType:MPSDataTypeFloat32] == 32);
    turned(NO, NO);
    turned(NO, YES);
    turned(YES, NO);
    turned(YES, YES);
    parts();
    batch_of_halves();
  }
  return checks_end();
}
