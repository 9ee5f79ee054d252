// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute.m: Metal itself: libraries, pipelines, buffers, encoders, events,
// indirect commands, errors.
#import <Metal/Metal.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "constant int factor [[function_constant(0)]];\n"
     "kernel void add(device const float *a [[buffer(0)]],\n"
     "                device float *b [[buffer(1)]],\n"
     "                constant float &k [[buffer(2)]],\n"
     "                uint i [[thread_position_in_grid]]) { b[i] = a[i] + k; }\n"
     "kernel void scale(device int *b [[buffer(0)]],\n"
     "                  uint i [[thread_position_in_grid]]) {\n"
     "  b[i] = int(i) * factor;\n"
     "}\n"
     "struct Encoder {\n"
     "  command_buffer commands [[id(0)]];\n"
     "  compute_pipeline_state add [[id(1)]];\n"
     "  device float *b [[id(2)]];\n"
     "};\n"
     "kernel void encode(constant Encoder &e [[buffer(0)]],\n"
     "                   constant float &k [[buffer(1)]],\n"
     "                   uint i [[thread_position_in_grid]]) {\n"
     "  compute_command command(e.commands, i);\n"
     "  command.set_compute_pipeline_state(e.add);\n"
     "  command.set_kernel_buffer(e.b + 4 * i, 0);\n"
     "  command.set_kernel_buffer(e.b + 4 * i, 1);\n"
     "  command.set_kernel_buffer(&k, 2);\n"
     "  command.concurrent_dispatch_threads(uint3(4 - i, 1, 1),\n"
     "                                      uint3(4, 1, 1));\n"
     "}\n"
     "kernel void overrun(device float *b [[buffer(0)]]) { b[1 << 30] = 1; }\n";

static id<MTLDevice> device;
static id<MTLLibrary> library;
static id<MTLCommandQueue> queue;

static id<MTLComputePipelineState> pipeline(NSString *name) {
  NSError *error = nil;
  id<MTLFunction> function = [library newFunctionWithName:name];
  return [device newComputePipelineStateWithFunction:function error:&error];
}

static void dispatches(void) {
  float values[300];
  for (int i = 0; i < 300; ++i) {
    values[i] = (float)i;
  }
  id<MTLBuffer> a = [device newBufferWithBytes:values
                                        length:sizeof values
                                       options:MTLResourceStorageModeShared];
  id<MTLBuffer> b = [device newBufferWithLength:sizeof values options:0];
  id<MTLComputePipelineState> add = pipeline(@"add");
  CHECK(add.threadExecutionWidth == 32);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  commands.label = @"work";
  CHECK(commands.status == MTLCommandBufferStatusNotEnqueued);
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  const float k = 0.5f;
  [encoder setComputePipelineState:add];
  [encoder setBuffer:a offset:4 atIndex:0];
  [encoder setBufferOffset:0 atIndex:0];
  [encoder setBuffer:b offset:0 atIndex:1];
  [encoder setBytes:&k length:sizeof k atIndex:2];
  [encoder dispatchThreads:MTLSizeMake(300, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
  [encoder dispatchThreadgroups:MTLSizeMake(0, 0, 0)
          threadsPerThreadgroup:MTLSizeMake(0, 0, 0)];
  [encoder endEncoding];
  __block int calls = 0;
  [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
    calls += done.status == MTLCommandBufferStatusCompleted ? 1 : 100;
  }];
  [commands commit];
  [commands waitUntilCompleted];
  const float *got = b.contents;
  CHECK(got[0] == 0.5f && got[299] == 299.5f);
  CHECK(calls == 1 && commands.error == nil);
  CHECK(commands.GPUEndTime >= commands.GPUStartTime);
  CHECK([commands.label isEqualToString:@"work"]);
}

static void constants_and_reflection(void) {
  MTLFunctionConstantValues *values = [[MTLFunctionConstantValues alloc] init];
  const int factor = 7;
  [values setConstantValue:&factor type:MTLDataTypeInt atIndex:0];
  NSError *error = nil;
  id<MTLFunction> function = [library newFunctionWithName:@"scale"
                                           constantValues:values
                                                    error:&error];
  MTLComputePipelineDescriptor *descriptor =
      [[MTLComputePipelineDescriptor alloc] init];
  descriptor.computeFunction = function;
  descriptor.buffers[0].mutability = MTLMutabilityMutable;
  MTLComputePipelineReflection *reflection = nil;
  id<MTLComputePipelineState> scale = [device
      newComputePipelineStateWithDescriptor:descriptor
                                    options:MTLPipelineOptionArgumentInfo
                                 reflection:&reflection
                                      error:&error];
  CHECK(scale != nil && error == nil);
  CHECK([reflection.bindings[0].name isEqual:@"b"]);
  CHECK(reflection.bindings[0].index == 0);
  id<MTLBuffer> b = [device newBufferWithLength:64 * sizeof(int) options:0];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:scale];
  [encoder setBuffer:b offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(64, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit fillBuffer:b range:NSMakeRange(0, 4) value:0xff];
  [blit endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(((int *)b.contents)[0] == -1 && ((int *)b.contents)[63] == 441);
}

// Copies and resets by blits, and a range that is read from a buffer.
static void indirect_by_blits(MTLIndirectCommandBufferDescriptor *how,
                              id<MTLIndirectCommandBuffer> from,
                              id<MTLBuffer> b) {
  id<MTLIndirectCommandBuffer> to =
      [device newIndirectCommandBufferWithDescriptor:how
                                     maxCommandCount:5
                                             options:0];
  to.label = @"copies";
  CHECK(to.size == 5 && [to.label isEqualToString:@"copies"]);
  const MTLIndirectCommandBufferExecutionRange range = {1, 4};
  id<MTLBuffer> where = [device newBufferWithBytes:&range
                                            length:sizeof range
                                           options:0];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit copyIndirectCommandBuffer:from
                      sourceRange:NSMakeRange(0, 1)
                      destination:to
                 destinationIndex:0];
  [blit copyIndirectCommandBuffer:from
                      sourceRange:NSMakeRange(0, 3)
                      destination:to
                 destinationIndex:2];
  [blit resetCommandsInBuffer:from withRange:NSMakeRange(0, 3)];
  [blit optimizeIndirectCommandBuffer:to withRange:NSMakeRange(0, 5)];
  [blit fillBuffer:b range:NSMakeRange(0, 128) value:0];
  [blit endEncoding];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder useResource:b usage:MTLResourceUsageRead | MTLResourceUsageWrite];
  [encoder executeCommandsInBuffer:from withRange:NSMakeRange(0, 3)];
  [encoder executeCommandsInBuffer:to
                    indirectBuffer:where
              indirectBufferOffset:0];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLCommandBufferStatusCompleted);
  CHECK(((float *)b.contents)[31] == 2.0f);
}

static void indirect(void) {
  MTLComputePipelineDescriptor *descriptor =
      [[MTLComputePipelineDescriptor alloc] init];
  descriptor.computeFunction = [library newFunctionWithName:@"add"];
  descriptor.supportIndirectCommandBuffers = YES;
  id<MTLComputePipelineState> add =
      [device newComputePipelineStateWithDescriptor:descriptor
                                            options:MTLPipelineOptionNone
                                         reflection:NULL
                                              error:NULL];
  MTLIndirectCommandBufferDescriptor *how =
      [[MTLIndirectCommandBufferDescriptor alloc] init];
  how.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
  how.inheritBuffers = NO;
  how.inheritPipelineState = NO;
  how.maxKernelBufferBindCount = 3;
  id<MTLIndirectCommandBuffer> list =
      [device newIndirectCommandBufferWithDescriptor:how
                                     maxCommandCount:3
                                             options:0];
  const float one = 1;
  id<MTLBuffer> k = [device newBufferWithBytes:&one length:4 options:0];
  id<MTLBuffer> b = [device newBufferWithLength:128 options:0];
  for (NSUInteger i = 0; i < 3; ++i) {
    id<MTLIndirectComputeCommand> command =
        [list indirectComputeCommandAtIndex:i];
    [command setComputePipelineState:add];
    [command setKernelBuffer:b offset:0 atIndex:0];
    [command setKernelBuffer:b offset:0 atIndex:1];
    [command setKernelBuffer:k offset:0 atIndex:2];
    [command concurrentDispatchThreadgroups:MTLSizeMake(1, 1, 1)
                      threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [command setBarrier];
  }
  [list resetWithRange:NSMakeRange(1, 1)];
  for (int round = 0; round < 2; ++round) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands
        computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    [encoder useResource:b usage:MTLResourceUsageRead | MTLResourceUsageWrite];
    [encoder executeCommandsInBuffer:list withRange:NSMakeRange(0, 3)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
  }
  CHECK(((float *)b.contents)[31] == 4.0f);
  indirect_by_blits(how, list, b);
}

// Two commands that a kernel encodes: 4 words get 2 more, then 3 words.
static void indirect_by_kernels(void) {
  id<MTLFunction> function = [library newFunctionWithName:@"encode"];
  id<MTLComputePipelineState> encode = pipeline(@"encode");
  id<MTLComputePipelineState> add = pipeline(@"add");
  MTLIndirectCommandBufferDescriptor *how =
      [[MTLIndirectCommandBufferDescriptor alloc] init];
  how.commandTypes = MTLIndirectCommandTypeConcurrentDispatchThreads;
  how.inheritBuffers = NO;
  how.inheritPipelineState = NO;
  how.maxKernelBufferBindCount = 3;
  id<MTLIndirectCommandBuffer> list =
      [device newIndirectCommandBufferWithDescriptor:how
                                     maxCommandCount:2
                                             options:0];
  CHECK(list.storageMode == MTLStorageModeShared && list.heap == nil);
  CHECK(list.hazardTrackingMode == MTLHazardTrackingModeTracked);
  id<MTLBuffer> b = [device newBufferWithLength:32 options:0];
  id<MTLArgumentEncoder> into = [function newArgumentEncoderWithBufferIndex:0];
  id<MTLBuffer> arguments = [device newBufferWithLength:into.encodedLength
                                                options:0];
  [into setArgumentBuffer:arguments offset:0];
  [into setIndirectCommandBuffer:list atIndex:0];
  [into setComputePipelineState:add atIndex:1];
  [into setBuffer:b offset:0 atIndex:2];
  const uint64_t *words = arguments.contents;
  CHECK(words[0] == list.gpuResourceID._impl);
  CHECK(words[1] == add.gpuResourceID._impl && words[1] != 0);
  const float two = 2;
  id<MTLBuffer> k = [device newBufferWithBytes:&two length:4 options:0];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:encode];
  [encoder setBuffer:arguments offset:0 atIndex:0];
  [encoder setBuffer:k offset:0 atIndex:1];
  [encoder useResource:list usage:MTLResourceUsageWrite];
  [encoder useResource:b usage:MTLResourceUsageRead | MTLResourceUsageWrite];
  [encoder dispatchThreads:MTLSizeMake(2, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
  [encoder executeCommandsInBuffer:list withRange:NSMakeRange(0, 2)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  const float *got = b.contents;
  CHECK(commands.error == nil);
  CHECK(got[0] == 2 && got[3] == 2 && got[4] == 2 && got[6] == 2);
  CHECK(got[7] == 0);
}

static void events(void) {
  id<MTLSharedEvent> event = [device newSharedEvent];
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  MTLSharedEventListener *listener = [[MTLSharedEventListener alloc] init];
  __block uint64_t reached = 0;
  [event notifyListener:listener
                atValue:5
                  block:^(id<MTLSharedEvent> which, uint64_t value) {
                    reached = value;
                    dispatch_semaphore_signal(told);
                  }];
  CHECK(![event waitUntilSignaledValue:5 timeoutMS:1]);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands encodeWaitForEvent:event value:4];
  [commands encodeSignalEvent:event value:5];
  [commands commit];
  event.signaledValue = 4;
  CHECK([event waitUntilSignaledValue:5 timeoutMS:60000]);
  dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER);
  CHECK(reached == 5 && event.signaledValue == 5);
}

static void memory(void) {
  // Memory of the host's own, that begins and ends within a page.
  static float lent[5000];
  float *first = lent + 11;
  __block int freed = 0;
  @autoreleasepool {
    id<MTLBuffer> buffer =
        [device newBufferWithBytesNoCopy:first
                                  length:4000
                                 options:0
                             deallocator:^(void *bytes, NSUInteger length) {
                               freed = bytes == first && length == 4000;
                             }];
    CHECK(buffer.contents == first && buffer.length == 4000);
    RELEASE(buffer);
  }
  CHECK(freed == 1);
  MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor alloc] init];
  descriptor.size = 1024;
  descriptor.storageMode = MTLStorageModeShared;
  id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
  id<MTLBuffer> one = [heap newBufferWithLength:500 options:0];
  CHECK(one != nil && one.heap == heap && heap.usedSize == 512);
  CHECK([heap newBufferWithLength:600 options:0] == nil);
  RELEASE(one);
  CHECK(heap.usedSize == 0);
  CHECK([heap newBufferWithLength:4 options:MTLResourceStorageModePrivate] ==
        nil);
  CHECK(heap.hazardTrackingMode == MTLHazardTrackingModeUntracked);
}

static void placement(void) {
  MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor alloc] init];
  descriptor.size = 1 << 16;
  descriptor.storageMode = MTLStorageModeShared;
  descriptor.hazardTrackingMode = MTLHazardTrackingModeTracked;
  descriptor.type = MTLHeapTypePlacement;
  id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
  CHECK(heap.type == MTLHeapTypePlacement && heap.size == 1 << 16);
  CHECK(heap.hazardTrackingMode == MTLHazardTrackingModeTracked);
  id<MTLBuffer> first = [heap newBufferWithLength:4096 options:0 offset:1024];
  id<MTLBuffer> second = [heap newBufferWithLength:4096 options:0 offset:2048];
  CHECK(second.heapOffset == 2048 && [second isAliasable]);
  ((int *)first.contents)[256] = 7;
  CHECK(((int *)second.contents)[0] == 7);
  CHECK(heap.usedSize == 5120);
  CHECK([heap maxAvailableSizeWithAlignment:256] == (1 << 16) - 6144);
  MTLTextureDescriptor *image = [MTLTextureDescriptor
      texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Uint
                                   width:16
                                  height:16
                               mipmapped:NO];
  const MTLSizeAndAlign size =
      [device heapTextureSizeAndAlignWithDescriptor:image];
  CHECK(size.size == 1024 && size.align == 256);
  id<MTLTexture> texture = [heap newTextureWithDescriptor:image offset:1024];
  CHECK(texture.heap == heap && texture.heapOffset == 1024);
  uint32_t texels[256];
  [texture getBytes:texels
        bytesPerRow:64
         fromRegion:MTLRegionMake2D(0, 0, 16, 16)
        mipmapLevel:0];
  ((int *)first.contents)[255] = 9;
  [texture getBytes:texels
        bytesPerRow:64
         fromRegion:MTLRegionMake2D(0, 0, 16, 16)
        mipmapLevel:0];
  CHECK(texels[255] == 9);
  CHECK([heap setPurgeableState:MTLPurgeableStateEmpty] ==
        MTLPurgeableStateNonVolatile);
  CHECK([heap setPurgeableState:MTLPurgeableStateNonVolatile] ==
        MTLPurgeableStateEmpty);
  CHECK([first setPurgeableState:MTLPurgeableStateKeepCurrent] ==
        MTLPurgeableStateNonVolatile);
}

static void residency(void) {
  MTLResidencySetDescriptor *descriptor =
      [[MTLResidencySetDescriptor alloc] init];
  descriptor.label = @"weights";
  NSError *error = nil;
  id<MTLResidencySet> set = [device newResidencySetWithDescriptor:descriptor
                                                            error:&error];
  CHECK(error == nil && [set.label isEqualToString:@"weights"]);
  id<MTLBuffer> b = [device newBufferWithLength:4096 options:0];
  [set addAllocation:b];
  [set addAllocation:b];
  CHECK(set.allocationCount == 1 && [set containsAllocation:b]);
  CHECK(set.allocatedSize == 0);
  [set commit];
  [set requestResidency];
  CHECK(set.allocatedSize == 4096 && set.allAllocations[0] == b);
  [queue addResidencySet:set];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands useResidencySet:set];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLCommandBufferStatusCompleted);
  [queue removeResidencySet:set];
  [set endResidency];
  [set removeAllocation:b];
  CHECK(![set containsAllocation:b] && set.allocatedSize == 4096);
  [set commit];
  CHECK(set.allocatedSize == 0);
}

static void failures(void) {
  NSError *error = nil;
  id<MTLLibrary> wrong = [device newLibraryWithSource:@"kernel void f(flaot x)"
                                              options:nil
                                                error:&error];
  CHECK(wrong == nil && error.code == MTLLibraryErrorCompileFailure);
  CHECK([error.domain isEqual:MTLLibraryErrorDomain]);
  CHECK([error.localizedDescription containsString:@"flaot"]);
  CHECK([library newFunctionWithName:@"missing"] == nil);
  // What succeeds leaves no earlier error behind.
  NSError *earlier = error;
  id<MTLLibrary> right = [device newLibraryWithSource:@"kernel void f() {}"
                                              options:nil
                                                error:&error];
  CHECK(right != nil && error == nil);
  error = earlier;
  CHECK([device newComputePipelineStateWithFunction:
                    [right newFunctionWithName:@"f"]
                                              error:&error] != nil);
  CHECK(error == nil);
  id<MTLBuffer> b = [device newBufferWithLength:64 options:0];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:pipeline(@"overrun")];
  [encoder setBuffer:b offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  __block int calls = 0;
  [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
    calls += done.status == MTLCommandBufferStatusError;
  }];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLCommandBufferStatusError && calls == 1);
  CHECK(commands.error.code == MTLCommandBufferErrorPageFault);
  CHECK([commands.error.localizedDescription containsString:@"overrun"]);
  // What recording refuses is the command buffer's error, too.
  id<MTLCommandBuffer> second = [queue commandBuffer];
  encoder = [second computeCommandEncoder];
  [encoder setComputePipelineState:pipeline(@"add")];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  [second commit];
  [second waitUntilCompleted];
  CHECK(second.status == MTLCommandBufferStatusError && second.error != nil);
}

// What commit refuses is refused once: the handlers are called after the commit
// that succeeds, and the command buffer goes when its work has.
static void refused_commits(void) {
  setenv("METTLE_OBJC_EXCEPTIONS", "1", 1);
  __block int scheduled = 0, completed = 0, raised = 0;
  @autoreleasepool {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    for (int i = 0; i < 2; ++i) {
      [commands addScheduledHandler:^(id<MTLCommandBuffer> which) {
        ++scheduled;
      }];
      [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
        completed += which.status == MTLCommandBufferStatusCompleted;
      }];
    }
    for (int i = 0; i < 2; ++i) {
      @try {
        [commands commit];
      } @catch (NSException *exception) {
        raised += [exception.reason containsString:@"an encoder"];
      }
    }
    CHECK(raised == 2 && scheduled == 0 && completed == 0);
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(scheduled == 2 && completed == 2);
    for (int i = 0; i < 3; ++i) {
      @try {
        if (i == 0) {
          [commands commit];
        } else if (i == 1) {
          [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
            completed = 100;
          }];
        } else {
          [commands addScheduledHandler:^(id<MTLCommandBuffer> which) {
            scheduled = 100;
          }];
        }
      } @catch (NSException *exception) {
        raised += [exception.reason containsString:@"committed"];
      }
    }
    CHECK(raised == 5 && scheduled == 2 && completed == 2);
  }
  unsetenv("METTLE_OBJC_EXCEPTIONS");
}

// A handler retains the objects that it captures, and a command buffer that is
// never committed retains nothing.
static void uncommitted_handlers(void) {
  int gone = 0;
  @autoreleasepool {
    id<MTLBuffer> buffer =
        [device newBufferWithBytesNoCopy:&gone
                                  length:4
                                 options:0
                             deallocator:^(void *bytes, NSUInteger length) {
                               *(int *)bytes = 1;
                             }];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands addScheduledHandler:^(id<MTLCommandBuffer> which) {
      (void)buffer.length;
    }];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      (void)buffer.length;
    }];
    RELEASE(buffer);
  }
  CHECK(gone == 1);
}

static void captures(void) {
  MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
  MTLCaptureDescriptor *wanted = [[MTLCaptureDescriptor alloc] init];
  NSError *error = nil;
  CHECK(![manager supportsDestination:MTLCaptureDestinationDeveloperTools]);
  CHECK([manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]);
  wanted.captureObject = queue;
  CHECK(![manager startCaptureWithDescriptor:wanted error:&error]);
  CHECK([error.domain isEqual:MTLCaptureErrorDomain] && error.code == 1);
  NSString *path = [NSString
      stringWithFormat:@"/tmp/mettle-capture-%d.gputrace", (int)getpid()];
  wanted.destination = MTLCaptureDestinationGPUTraceDocument;
  wanted.outputURL = [NSURL fileURLWithPath:path];
  CHECK([manager startCaptureWithDescriptor:wanted error:&error]);
  CHECK(manager.isCapturing);
  CHECK(![manager startCaptureWithDescriptor:wanted error:&error]);
  CHECK(error.code == 2);
  dispatches();
  [manager stopCapture];
  CHECK(!manager.isCapturing);
  NSData *bytes = [NSData dataWithContentsOfFile:path];
  NSString *text = [[NSString alloc] initWithData:bytes
                                         encoding:NSUTF8StringEncoding];
  CHECK([text containsString:@"\"name\":\"add\""]);
  CHECK([text containsString:@"\"label\":\"work\""]);
  unlink(path.UTF8String);
#if !__has_feature(objc_arc)
  [text release];
  [wanted release];
#endif
}

int main(void) {
  @autoreleasepool {
    NSError *error = nil;
    device = MTLCreateSystemDefaultDevice();
    CHECK(device != nil && device.maxThreadsPerThreadgroup.width == 1024);
    CHECK([MTLCopyAllDevices() indexOfObjectIdenticalTo:device] == 0);
    library = [device newLibraryWithSource:source options:nil error:&error];
    CHECK(library.functionNames.count == 4);
    queue = [device newCommandQueue];
    dispatches();
    constants_and_reflection();
    indirect();
    indirect_by_kernels();
    events();
    memory();
    placement();
    residency();
    failures();
    refused_commits();
    uncommitted_handlers();
    captures();
  }
  return checks_end();
}
