// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// profiling.m: counter sample buffers, binary archives, argument encoders made
// of descriptors, libraries in the background, memory of any address.
#import <Metal/Metal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "struct Arguments { device uint *data [[id(0)]]; uint k [[id(1)]]; };\n"
     "kernel void add_one(device uint *data [[buffer(0)]],\n"
     "                    uint i [[thread_position_in_grid]]) { ++data[i]; }\n"
     "kernel void add_k(constant Arguments &a [[buffer(0)]],\n"
     "                  uint i [[thread_position_in_grid]]) {\n"
     "  a.data[i] += a.k;\n"
     "}\n"
     "kernel void maybe(device uint *data [[buffer(0)]],\n"
     "                  threadgroup uint *shared [[threadgroup(0)]],\n"
     "                  uint i [[thread_index_in_threadgroup]]) {\n"
     "  if (data[0] == 5) { shared[i] = i; }\n"
     "  data[i] = shared ? 7 : 8;\n"
     "}\n";

static id<MTLDevice> device;
static id<MTLLibrary> library;
static id<MTLCommandQueue> queue;

static id<MTLComputePipelineState> pipeline(NSString *name) {
  NSError *error = nil;
  return [device
      newComputePipelineStateWithFunction:[library newFunctionWithName:name]
                                    error:&error];
}

static id<MTLCounterSampleBuffer> samples(NSUInteger count) {
  MTLCounterSampleBufferDescriptor *descriptor =
      [[MTLCounterSampleBufferDescriptor alloc] init];
  for (id<MTLCounterSet> set in device.counterSets) {
    if ([set.name isEqualToString:MTLCommonCounterSetTimestamp]) {
      descriptor.counterSet = set;
    }
  }
  descriptor.sampleCount = count;
  descriptor.storageMode = MTLStorageModeShared;
  descriptor.label = @"times";
  NSError *error = nil;
  id<MTLCounterSampleBuffer> made =
      [device newCounterSampleBufferWithDescriptor:descriptor error:&error];
  CHECK(made.sampleCount == count && [made.label isEqualToString:@"times"]);
  RELEASE(descriptor);
  return made;
}

static void counters(void) {
  CHECK(device.counterSets.count == 1);
  CHECK([device.counterSets[0].counters[0].name
      isEqualToString:MTLCommonCounterTimestamp]);
  CHECK([device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary]);
  CHECK([device supportsCounterSampling:MTLCounterSamplingPointAtBlitBoundary]);
  CHECK(![device supportsCounterSampling:MTLCounterSamplingPointAtDrawBoundary]);
  CHECK([device queryTimestampFrequency] != 0);
  MTLTimestamp cpu = 0, before = 0, after = 0;
  [device sampleTimestamps:&cpu gpuTimestamp:&before];
  CHECK(cpu != 0);
  id<MTLCounterSampleBuffer> buffer = samples(4);
  id<MTLBuffer> data = [device newBufferWithLength:256 options:0];
  id<MTLBuffer> resolved = [device newBufferWithLength:32 options:0];
  MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
  pass.dispatchType = MTLDispatchTypeConcurrent;
  pass.sampleBufferAttachments[0].sampleBuffer = buffer;
  pass.sampleBufferAttachments[0].startOfEncoderSampleIndex = 0;
  pass.sampleBufferAttachments[0].endOfEncoderSampleIndex = 2;
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder =
      [commands computeCommandEncoderWithDescriptor:pass];
  [encoder setComputePipelineState:pipeline(@"add_one")];
  [encoder setBuffer:data offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(64, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder sampleCountersInBuffer:buffer atSampleIndex:1 withBarrier:YES];
  [encoder endEncoding];
  MTLBlitPassDescriptor *blits = [MTLBlitPassDescriptor blitPassDescriptor];
  blits.sampleBufferAttachments[0].sampleBuffer = buffer;
  blits.sampleBufferAttachments[0].startOfEncoderSampleIndex =
      MTLCounterDontSample;
  blits.sampleBufferAttachments[0].endOfEncoderSampleIndex =
      MTLCounterDontSample;
  id<MTLBlitCommandEncoder> blit =
      [commands blitCommandEncoderWithDescriptor:blits];
  [blit resolveCounters:buffer
                inRange:NSMakeRange(0, 4)
      destinationBuffer:resolved
      destinationOffset:0];
  [blit endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.error == nil);
  [device sampleTimestamps:&cpu gpuTimestamp:&after];
  const MTLCounterResultTimestamp *times =
      [buffer resolveCounterRange:NSMakeRange(0, 4)].bytes;
  CHECK(before <= times[0].timestamp);
  CHECK(times[0].timestamp <= times[1].timestamp);
  CHECK(times[1].timestamp <= times[2].timestamp);
  CHECK(times[2].timestamp <= after);
  CHECK(times[3].timestamp == MTLCounterErrorValue);
  CHECK(memcmp(resolved.contents, times, 32) == 0);
  CHECK([buffer resolveCounterRange:NSMakeRange(2, 3)] == nil);
  MTLCounterSampleBufferDescriptor *wrong =
      [[MTLCounterSampleBufferDescriptor alloc] init];
  NSError *error = nil;
  CHECK([device newCounterSampleBufferWithDescriptor:wrong error:&error] == nil);
  CHECK([error.domain isEqualToString:MTLCounterErrorDomain]);
  RELEASE(wrong);
}

static void archives(void) {
  NSError *error = nil;
  MTLBinaryArchiveDescriptor *descriptor =
      [[MTLBinaryArchiveDescriptor alloc] init];
  id<MTLBinaryArchive> archive =
      [device newBinaryArchiveWithDescriptor:descriptor error:&error];
  CHECK(archive != nil && archive.device == device);
  MTLComputePipelineDescriptor *wanted =
      [[MTLComputePipelineDescriptor alloc] init];
  wanted.computeFunction = [library newFunctionWithName:@"add_one"];
  wanted.binaryArchives = @[ archive ];
  CHECK([device newComputePipelineStateWithDescriptor:wanted
                                              options:
                                   MTLPipelineOptionFailOnBinaryArchiveMiss
                                           reflection:NULL
                                                error:&error] == nil);
  CHECK(error != nil);
  error = nil;
  CHECK([archive addComputePipelineFunctionsWithDescriptor:wanted
                                                     error:&error]);
  char path[] = "/tmp/mettle-archive-XXXXXX";
  const int file = mkstemp(path);
  close(file);
  NSURL *url =
      [NSURL fileURLWithPath:[NSString stringWithUTF8String:path]];
  CHECK([archive serializeToURL:url error:&error]);
  descriptor.url = url;
  id<MTLBinaryArchive> again =
      [device newBinaryArchiveWithDescriptor:descriptor error:&error];
  CHECK(again != nil);
  MTLComputePipelineDescriptor *copy = [wanted copy];
  CHECK(copy.computeFunction == wanted.computeFunction);
  copy.binaryArchives = @[ again ];
  id<MTLComputePipelineState> state = [device
      newComputePipelineStateWithDescriptor:copy
                                    options:
                                        MTLPipelineOptionFailOnBinaryArchiveMiss
                                 reflection:NULL
                                      error:&error];
  CHECK(state != nil);
  // Damaged, it is an error.
  CHECK(truncate(path, 100) == 0);
  error = nil;
  CHECK([device newBinaryArchiveWithDescriptor:descriptor error:&error] == nil);
  CHECK([error.domain isEqualToString:MTLBinaryArchiveDomain]);
  unlink(path);
  RELEASE(copy);
  RELEASE(wanted);
  RELEASE(descriptor);
}

static MTLArgumentDescriptor *argument(MTLDataType type, NSUInteger index) {
  MTLArgumentDescriptor *made = [MTLArgumentDescriptor argumentDescriptor];
  made.dataType = type;
  made.index = index;
  return made;
}

static void arguments(void) {
  id<MTLArgumentEncoder> encoder = [device newArgumentEncoderWithArguments:@[
    argument(MTLDataTypePointer, 0), argument(MTLDataTypeUInt, 1)
  ]];
  CHECK(encoder.encodedLength == 16 && encoder.alignment == 8);
  id<MTLBuffer> encoded = [device newBufferWithLength:16 options:0];
  const unsigned values[2] = {40, 50};
  id<MTLBuffer> data = [device newBufferWithBytes:values length:8 options:0];
  [encoder setArgumentBuffer:encoded offset:0];
  [encoder setBuffer:data offset:0 atIndex:0];
  *(unsigned *)[encoder constantDataAtIndex:1] = 3;
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> compute = [commands computeCommandEncoder];
  [compute setComputePipelineState:pipeline(@"add_k")];
  [compute setBuffer:encoded offset:0 atIndex:0];
  [compute useResource:data usage:MTLResourceUsageRead | MTLResourceUsageWrite];
  [compute dispatchThreads:MTLSizeMake(2, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
  [compute endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(((unsigned *)data.contents)[0] == 43);
  CHECK(((unsigned *)data.contents)[1] == 53);
}

static void later_libraries(void) {
  MTLCompileOptions *options = [[MTLCompileOptions alloc] init];
  options.languageVersion = MTLLanguageVersion4_0;
  options.preprocessorMacros = @{@"NAME" : @"named"};
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block BOOL is_there = NO;
  [device newLibraryWithSource:@"#if __METAL_VERSION__ == 400\n"
                                "kernel void NAME(device int *a) { a[0] = 1; }\n"
                                "#endif\n"
                       options:options
             completionHandler:^(id<MTLLibrary> made, NSError *error) {
               is_there = error == nil &&
                          [made.functionNames[0] isEqualToString:@"named"];
               dispatch_semaphore_signal(done);
             }];
  RELEASE(options);
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  CHECK(is_there);
  __block BOOL has_failed = NO;
  [device newLibraryWithSource:@"nonsense"
                       options:nil
             completionHandler:^(id<MTLLibrary> made, NSError *error) {
               has_failed = made == nil && error != nil;
               dispatch_semaphore_signal(done);
             }];
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  CHECK(has_failed);
}

static void any_memory(void) {
  static char bytes[] = "neighbour.....neighbour";
  id<MTLBuffer> lent = [device newBufferWithBytesNoCopy:bytes + 9
                                                 length:5
                                                options:0
                                            deallocator:nil];
  CHECK(lent.contents == bytes + 9 && lent.length == 5);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit fillBuffer:lent range:NSMakeRange(0, 5) value:'x'];
  [blit endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(strcmp(bytes, "neighbourxxxxxneighbour") == 0);
}

static NSError *run_maybe(unsigned first) {
  id<MTLBuffer> data = [device newBufferWithLength:256 options:0];
  ((unsigned *)data.contents)[0] = first;
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:pipeline(@"maybe")];
  [encoder setBuffer:data offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(32, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  return commands.error;
}

// Threadgroup memory that is declared and not given is no error until it is
// used.
static void unbound_memory(void) {
  CHECK(run_maybe(0) == nil);
}

int main(void) {
  @autoreleasepool {
    NSError *error = nil;
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    library = [device newLibraryWithSource:source options:nil error:&error];
    CHECK(library != nil);
    counters();
    archives();
    arguments();
    later_libraries();
    any_memory();
    unbound_memory();
  }
  return checks_end();
}
