// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// file_loads.m: a program that streams weights from a file by
// MTLIOCommandQueue: into shared and private buffers, plain memory and a
// texture, ordered against a queue of kernels by events.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../check.h"

enum { COUNT = 4096 };  // floats in the file: 0, 1, 2 ...

static id<MTLDevice> device;
static id<MTLIOCommandQueue> queue;
static id<MTLIOFileHandle> file;

static void open_file(void) {
  NSMutableData *data = [NSMutableData dataWithLength:COUNT * sizeof(float)];
  float *to = data.mutableBytes;
  for (int i = 0; i < COUNT; ++i) {
    to[i] = (float)i;
  }
  NSString *path =
      [NSTemporaryDirectory() stringByAppendingPathComponent:@"weights.bin"];
  CHECK([data writeToFile:path atomically:YES]);
  NSError *error = nil;
  MTLIOCommandQueueDescriptor *shape = [MTLIOCommandQueueDescriptor new];
  CHECK(shape.type == MTLIOCommandQueueTypeConcurrent);
  shape.type = MTLIOCommandQueueTypeSerial;
  shape.priority = MTLIOPriorityHigh;
  queue = [device newIOCommandQueueWithDescriptor:shape error:&error];
  file = [device newIOFileHandleWithURL:[NSURL fileURLWithPath:path]
                                  error:&error];
  CHECK(queue && file && !error);
  CHECK([queue conformsToProtocol:@protocol(MTLIOCommandQueue)]);
}

static void loads(void) {
  id<MTLBuffer> shared = [device newBufferWithLength:1024 options:0];
  id<MTLBuffer> hidden =
      [device newBufferWithLength:1024
                          options:MTLResourceStorageModePrivate];
  id<MTLBuffer> status = [device newBufferWithLength:16 options:0];
  MTLTextureDescriptor *shape = [MTLTextureDescriptor
      texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Float
                                   width:16
                                  height:8
                               mipmapped:NO];
  id<MTLTexture> texture = [device newTextureWithDescriptor:shape];
  float plain[4] = {0};
  id<MTLIOCommandBuffer> commands = [queue commandBuffer];
  commands.label = @"weights";
  [commands loadBuffer:shared
                  offset:16
                    size:64
            sourceHandle:file
      sourceHandleOffset:400];
  [commands loadBuffer:hidden
                  offset:0
                    size:1024
            sourceHandle:file
      sourceHandleOffset:4096];
  [commands loadBytes:plain
                    size:sizeof plain
            sourceHandle:file
      sourceHandleOffset:8];
  // Rows of 20 floats in the file, of which 5 go to 3, 2.
  [commands loadTexture:texture
                    slice:0
                    level:0
                     size:MTLSizeMake(5, 4, 1)
        sourceBytesPerRow:20 * sizeof(float)
      sourceBytesPerImage:0
        destinationOrigin:MTLOriginMake(3, 2, 0)
             sourceHandle:file
       sourceHandleOffset:0];
  [commands copyStatusToBuffer:status offset:8];
  __block MTLIOStatus told = MTLIOStatusPending;
  dispatch_semaphore_t called = dispatch_semaphore_create(0);
  [commands addCompletedHandler:^(id<MTLIOCommandBuffer> done) {
    told = done.status;
    dispatch_semaphore_signal(called);
  }];
  [commands commit];
  [commands waitUntilCompleted];
  dispatch_semaphore_wait(called, DISPATCH_TIME_FOREVER);
  CHECK(commands.status == MTLIOStatusComplete && !commands.error);
  CHECK(told == MTLIOStatusComplete);
  const float *values = shared.contents;
  CHECK(values[3] == 0 && values[4] == 100 && values[19] == 115);
  CHECK(values[20] == 0);
  CHECK(plain[0] == 2 && plain[3] == 5);
  CHECK(((const NSInteger *)status.contents)[0] == 0);
  CHECK(((const NSInteger *)status.contents)[1] == MTLIOStatusComplete);
  float pixels[2];
  [texture getBytes:pixels
        bytesPerRow:sizeof pixels
         fromRegion:MTLRegionMake2D(7, 5, 2, 1)
        mipmapLevel:0];
  CHECK(pixels[0] == 3 * 20 + 4 && pixels[1] == 0);
  id<MTLCommandBuffer> copy = [[device newCommandQueue] commandBuffer];
  id<MTLBlitCommandEncoder> blit = [copy blitCommandEncoder];
  [blit copyFromBuffer:hidden
           sourceOffset:1020
               toBuffer:shared
      destinationOffset:0
                   size:4];
  [blit endEncoding];
  [copy commit];
  [copy waitUntilCompleted];
  CHECK(values[0] == 1024 + 255);
}

// A kernel's queue waits for the load, and the next load for the kernel.
static void events(void) {
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLBuffer> buffer = [device newBufferWithLength:64 options:0];
  id<MTLBuffer> kept = [device newBufferWithLength:64 options:0];
  id<MTLIOCommandBuffer> first = [queue commandBuffer];
  id<MTLIOCommandBuffer> second = [queue commandBuffer];
  [first enqueue];
  [second waitForEvent:event value:2];
  [second loadBuffer:buffer
                  offset:0
                    size:64
            sourceHandle:file
      sourceHandleOffset:64];
  [second signalEvent:event value:3];
  [second commit];  // runs behind the first, which is enqueued
  id<MTLCommandBuffer> copies = [[device newCommandQueue] commandBuffer];
  [copies encodeWaitForEvent:event value:1];
  id<MTLBlitCommandEncoder> blit = [copies blitCommandEncoder];
  [blit copyFromBuffer:buffer
           sourceOffset:0
               toBuffer:kept
      destinationOffset:0
                   size:64];
  [blit endEncoding];
  [copies encodeSignalEvent:event value:2];
  [copies commit];
  CHECK(event.signaledValue == 0 && first.status == MTLIOStatusPending);
  [first loadBuffer:buffer
                  offset:0
                    size:64
            sourceHandle:file
      sourceHandleOffset:0];
  [first signalEvent:event value:1];
  [first commit];
  [second waitUntilCompleted];
  CHECK(event.signaledValue == 3);
  CHECK(((const float *)kept.contents)[15] == 15);
  CHECK(((const float *)buffer.contents)[15] == 31);
}

static void failures(void) {
  NSError *error = nil;
  NSURL *missing = [NSURL fileURLWithPath:@"/there/is/none"];
  CHECK(![device newIOFileHandleWithURL:missing error:&error]);
  CHECK([error.domain isEqual:MTLIOErrorDomain]);
  CHECK(error.code == MTLIOErrorURLInvalid);
  CHECK([error.localizedDescription containsString:@"/there/is/none"]);
  CHECK(![device newIOFileHandleWithURL:missing
                      compressionMethod:MTLIOCompressionMethodLZ4
                                  error:&error]);
  CHECK(error.code == MTLIOErrorInternal);
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLBuffer> buffer = [device newBufferWithLength:64 options:0];
  id<MTLIOCommandBuffer> commands = [queue commandBuffer];
  [commands loadBuffer:buffer
                  offset:0
                    size:64
            sourceHandle:file
      sourceHandleOffset:COUNT * sizeof(float) - 32];
  [commands signalEvent:event value:1];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLIOStatusError && event.signaledValue == 1);
  CHECK([commands.error.localizedDescription
      containsString:@"gave 32 of the 64 bytes"]);
  commands = [queue commandBuffer];
  [commands waitForEvent:event value:100];
  [commands tryCancel];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == MTLIOStatusCancelled && !commands.error);
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    open_file();
    loads();
    events();
    failures();
  }
  return checks_end();
}
