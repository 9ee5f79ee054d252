// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function_pointers.m: a small shader graph: stages are visible functions that
// a kernel calls through tables, changed between dispatches; one table lies in
// an argument buffer, functions are specialised by constants.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../check.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "constant float gain [[function_constant(0)]];\n"
     "using stage = float(float, uint);\n"
     "[[visible]] float scale(float x, uint) { return x * gain; }\n"
     "[[visible]] float offset(float x, uint i) { return x + i; }\n"
     "[[visible]] float square(float x, uint) { return x * x; }\n"
     "struct Graph {\n"
     "  visible_function_table<stage> stages;\n"
     "  device float *out;\n"
     "  uint count;\n"
     "};\n"
     "kernel void run(constant Graph &graph [[buffer(0)]],\n"
     "                uint i [[thread_position_in_grid]]) {\n"
     "  float x = 2;\n"
     "  for (uint s = 0; s < graph.count; s++) x = graph.stages[s](x, i);\n"
     "  graph.out[i] = x;\n"
     "}\n"
     "kernel void one(device float *out [[buffer(0)]],\n"
     "                visible_function_table<stage> a [[buffer(1)]],\n"
     "                visible_function_table<stage> b [[buffer(2)]],\n"
     "                uint i [[thread_position_in_grid]]) {\n"
     "  out[i] = a[i & 1](3, i) + b[0](1, i);\n"
     "}\n";

static id<MTLDevice> device;
static id<MTLLibrary> library;
static id<MTLCommandQueue> queue;

static id<MTLFunction> specialised(NSString *name, float gain, NSString *as) {
  MTLFunctionDescriptor *descriptor = [MTLFunctionDescriptor functionDescriptor];
  descriptor.name = name;
  descriptor.specializedName = as;
  MTLFunctionConstantValues *values = [MTLFunctionConstantValues new];
  [values setConstantValue:&gain type:MTLDataTypeFloat withName:@"gain"];
  descriptor.constantValues = values;
  NSError *error = nil;
  id<MTLFunction> made = [library newFunctionWithDescriptor:descriptor
                                                      error:&error];
  CHECK(made && made.functionType == MTLFunctionTypeVisible);
  return made;
}

static id<MTLComputePipelineState> pipeline(NSString *kernel,
                                            NSArray<id<MTLFunction>> *linked) {
  MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
  descriptor.label = kernel;
  descriptor.computeFunction = [library newFunctionWithName:kernel];
  MTLLinkedFunctions *functions = [MTLLinkedFunctions linkedFunctions];
  functions.functions = linked;
  functions.groups = @{@"stages" : linked};
  descriptor.linkedFunctions = functions;
  descriptor.maxCallStackDepth = 2;
  NSError *error = nil;
  id<MTLComputePipelineState> made =
      [device newComputePipelineStateWithDescriptor:descriptor
                                            options:MTLPipelineOptionNone
                                         reflection:nil
                                              error:&error];
  if (!made) {
    NSLog(@"%@", error);
  }
  CHECK(made != nil);
  return made;
}

static void finish(id<MTLCommandBuffer> commands) {
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLCommandBufferStatusCompleted);
}

// The table and the buffer that it writes to lie in an argument buffer.
static void graph(void) {
  id<MTLFunction> twice = specialised(@"scale", 2, @"twice");
  id<MTLFunction> offset = [library newFunctionWithName:@"offset"];
  id<MTLFunction> square = [library newFunctionWithName:@"square"];
  id<MTLComputePipelineState> run =
      pipeline(@"run", @[ twice, offset, square ]);
  MTLVisibleFunctionTableDescriptor *descriptor =
      [MTLVisibleFunctionTableDescriptor visibleFunctionTableDescriptor];
  descriptor.functionCount = 3;
  id<MTLVisibleFunctionTable> table =
      [run newVisibleFunctionTableWithDescriptor:descriptor];
  id<MTLFunctionHandle> handle = [run functionHandleWithFunction:offset];
  CHECK([handle.name isEqualToString:@"offset"] &&
        handle.functionType == MTLFunctionTypeVisible);
  id<MTLFunctionHandle> handles[] = {
      handle, [run functionHandleWithFunction:square],
      [run functionHandleWithFunction:twice]};
  [table setFunctions:handles withRange:NSMakeRange(0, 3)];
  id<MTLBuffer> out = [device newBufferWithLength:4 * 16 options:0];
  struct {
    MTLResourceID stages;
    uint64_t out;
    uint32_t count;
  } arguments = {table.gpuResourceID, out.gpuAddress, 3};
  for (int round = 0; round < 2; ++round) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:run];
    [encoder setBytes:&arguments length:sizeof arguments atIndex:0];
    [encoder useResource:table usage:MTLResourceUsageRead];
    [encoder useResource:out usage:MTLResourceUsageWrite];
    [encoder dispatchThreads:MTLSizeMake(16, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
    [encoder endEncoding];
    finish(commands);
    const float *values = out.contents;
    for (int i = 0; i < 16; ++i) {
      const float two_i = 2 + i, eight_i = 4 * 2 + i;
      CHECK(values[i] == (round == 0 ? two_i * two_i * 2 : eight_i));
    }
    // Square first, then twice, then the offset.
    [table setFunction:handles[1] atIndex:0];
    [table setFunction:handles[2] atIndex:1];
    [table setFunction:handles[0] atIndex:2];
  }
}

static void tables(void) {
  id<MTLFunction> thrice = specialised(@"scale", 3, @"thrice");
  id<MTLFunction> square = [library newFunctionWithName:@"square"];
  id<MTLComputePipelineState> one = pipeline(@"one", @[ thrice, square ]);
  MTLVisibleFunctionTableDescriptor *descriptor =
      [MTLVisibleFunctionTableDescriptor new];
  descriptor.functionCount = 2;
  id<MTLVisibleFunctionTable> both[2];
  for (int i = 0; i < 2; ++i) {
    both[i] = [one newVisibleFunctionTableWithDescriptor:descriptor];
    [both[i] setFunction:[one functionHandleWithFunction:i ? square : thrice]
                 atIndex:0];
    [both[i] setFunction:[one functionHandleWithFunction:i ? thrice : square]
                 atIndex:1];
  }
  id<MTLBuffer> out = [device newBufferWithLength:4 * 8 options:0];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:one];
  [encoder setBuffer:out offset:0 atIndex:0];
  [encoder setVisibleFunctionTables:both withBufferRange:NSMakeRange(1, 2)];
  [encoder dispatchThreads:MTLSizeMake(8, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
  [encoder endEncoding];
  finish(commands);
  const float *values = out.contents;
  for (int i = 0; i < 8; ++i) {
    CHECK(values[i] == 9 + 1);  // 3 * 3 either way, and 1 * 1
  }
  CHECK(![one functionHandleWithFunction:[library
                                             newFunctionWithName:@"offset"]]);
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    NSError *error = nil;
    library = [device newLibraryWithSource:source options:nil error:&error];
    CHECK(library && device.supportsFunctionPointers);
    graph();
    tables();
  }
  return checks_end();
}
