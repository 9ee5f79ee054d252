// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// urls.m: kernels found by URLs beside a program: names with spaces and signs,
// relative parts, enumerators and what a URL tells of its file.
#import <Metal/Metal.h>
#include "../check.h"

#define SAME(one, other) CHECK([(one) isEqual:(other)])

static NSString *const source =
    @"kernel void twice(device int *x [[buffer(0)]]) { *x *= 2; }\n";

static NSURL *resolved(NSString *part) {
  NSURL *base = [NSURL URLWithString:@"http://a/b/c/d;p?q"];
  return [NSURL URLWithString:part relativeToURL:base];
}

// RFC 3986, section 5.4
static void relative_parts(void) {
  SAME(resolved(@"g").absoluteString, @"http://a/b/c/g");
  SAME(resolved(@"./g/").absoluteString, @"http://a/b/c/g/");
  SAME(resolved(@"/g").absoluteString, @"http://a/g");
  SAME(resolved(@"//g").absoluteString, @"http://g");
  SAME(resolved(@"?y").absoluteString, @"http://a/b/c/d;p?y");
  SAME(resolved(@"g?y#s").absoluteString, @"http://a/b/c/g?y#s");
  SAME(resolved(@"../..").absoluteString, @"http://a/");
  SAME(resolved(@"../../../g").absoluteString, @"http://a/g");
  SAME(resolved(@"g/../h").absoluteString, @"http://a/b/c/h");
  SAME(resolved(@"x:y").absoluteString, @"x:y");
  SAME(resolved(@"../g").relativeString, @"../g");
  SAME(resolved(@"../g").baseURL.host, @"a");
}

static void parts(void) {
  NSURL *url =
      [NSURL URLWithString:@"https://me:pw@host.org:8080/a%20b/c.txt?x=1&y#z"];
  SAME(url.user, @"me");
  SAME(url.password, @"pw");
  SAME(url.host, @"host.org");
  SAME(url.port, @8080);
  SAME(url.path, @"/a b/c.txt");
  SAME(url.query, @"x=1&y");
  SAME(url.fragment, @"z");
  CHECK(!url.isFileURL);
  url = [NSURL URLWithString:@"http://h/a"];
  SAME([url URLByAppendingPathComponent:@"b c"].absoluteString,
       @"http://h/a/b%20c");
  SAME([url URLByAppendingPathComponent:@"d" isDirectory:YES].absoluteString,
       @"http://h/a/d/");
  SAME(url.URLByDeletingLastPathComponent.absoluteString, @"http://h/");
  SAME([url URLByAppendingPathExtension:@"x"].absoluteString, @"http://h/a.x");
  SAME([NSURL URLWithString:@"http://[::1]:80/"].host, @"::1");
  SAME([NSURL fileURLWithPath:@"/none/a b#1%.metal"].absoluteString,
       @"file:///none/a%20b%231%25.metal");
  SAME([NSURL URLWithString:@"file:///none/a%20b/%zz"].path, @"/none/a b/%zz");
  SAME([NSURL fileURLWithPath:@"/tmp"].absoluteString, @"file:///tmp/");
  SAME([NSURL fileURLWithPath:@"x:y"].path.lastPathComponent, @"x:y");
  SAME([NSURL fileURLWithPath:@"x"].path,
       [NSFileManager.defaultManager.currentDirectoryPath
           stringByAppendingPathComponent:@"x"]);
  SAME([NSURL fileURLWithPath:@"/a/b/../c/./d"].URLByStandardizingPath.path,
       @"/a/c/d");
}

static void run(NSString *text) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  id<MTLLibrary> library = [device newLibraryWithSource:text
                                                options:nil
                                                  error:NULL];
  id<MTLComputePipelineState> pipeline = [device
      newComputePipelineStateWithFunction:[library newFunctionWithName:@"twice"]
                                    error:NULL];
  id<MTLBuffer> buffer = [device newBufferWithBytes:&(int){21}
                                             length:4
                                            options:0];
  id<MTLCommandBuffer> work = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [work computeCommandEncoder];
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  [work commit];
  [work waitUntilCompleted];
  CHECK(*(int *)buffer.contents == 42);
}

static void files(void) {
  NSFileManager *manager = NSFileManager.defaultManager;
  NSURL *folder =
      [NSBundle.mainBundle.executableURL.URLByDeletingLastPathComponent
          URLByAppendingPathComponent:@"k #1"
                          isDirectory:YES];
  NSError *error = nil;
  [manager removeItemAtURL:folder error:NULL];
  CHECK([manager
             createDirectoryAtURL:[folder URLByAppendingPathComponent:@"in/.no"]
      withIntermediateDirectories:YES
                       attributes:nil
                            error:&error]);
  CHECK(folder.hasDirectoryPath);
  NSURL *file = [NSURL URLWithString:@"in/two%20words.metal"
                       relativeToURL:folder];
  CHECK([source writeToURL:file
                atomically:YES
                  encoding:NSUTF8StringEncoding
                     error:&error]);
  [source writeToURL:[folder URLByAppendingPathComponent:@"in/.no/x.metal"]
          atomically:YES
            encoding:NSUTF8StringEncoding
               error:&error];
  int count = 0;
  NSDirectoryEnumerator<NSURL *> *all =
      [manager enumeratorAtURL:folder
          includingPropertiesForKeys:@[ NSURLIsDirectoryKey ]
                             options:NSDirectoryEnumerationSkipsHiddenFiles
                        errorHandler:nil];
  for (NSURL *each in all) {
    NSNumber *is_folder = nil, *size = nil;
    CHECK([each getResourceValue:&is_folder
                          forKey:NSURLIsDirectoryKey
                           error:&error]);
    CHECK([each getResourceValue:&size forKey:NSURLFileSizeKey error:&error]);
    ++count;
    if (is_folder.boolValue) {
      CHECK(all.level == 1 && each.hasDirectoryPath);
      continue;
    }
    CHECK(all.level == 2 && size.unsignedIntegerValue == source.length);
    SAME(each.path, file.path);
    SAME(each.absoluteString.lastPathComponent, @"two%20words.metal");
    run([NSString stringWithContentsOfURL:each
                                 encoding:NSUTF8StringEncoding
                                    error:&error]);
  }
  CHECK(count == 2);
  all = [manager enumeratorAtURL:folder
      includingPropertiesForKeys:nil
                         options:0
                    errorHandler:nil];
  CHECK([all nextObject] && all.level == 1);
  [all skipDescendants];
  CHECK(![all nextObject]);
  CHECK([manager removeItemAtURL:folder error:&error]);
  id value = nil;
  CHECK(![folder getResourceValue:&value forKey:NSURLFileSizeKey error:&error]);
  CHECK(error.code == 260);
}

int main(void) {
  @autoreleasepool {
    relative_parts();
    parts();
    files();
  }
  return checks_end();
}
