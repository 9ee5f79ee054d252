// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.m: NSFileManager, NSURL, NSData and strings in files, as a program for
// macOS has them.
#import <Foundation/Foundation.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    NSFileManager *fm = [NSFileManager defaultManager];
    NSError *e = nil;
    NSString *dir = [NSTemporaryDirectory()
        stringByAppendingPathComponent:[NSString stringWithFormat:@"fm_%d",
                                                                  getpid()]];
    CHECK([fm createDirectoryAtPath:[dir stringByAppendingPathComponent:@"a/b"]
        withIntermediateDirectories:YES
                         attributes:nil
                              error:&e]);
    BOOL isDir = NO;
    CHECK([fm fileExistsAtPath:dir isDirectory:&isDir] && isDir);
    NSString *f = [dir stringByAppendingPathComponent:@"x.txt"];
    NSData *data = [@"hello" dataUsingEncoding:NSUTF8StringEncoding];
    CHECK([fm createFileAtPath:f contents:data attributes:nil]);
    CHECK([data writeToFile:f atomically:YES]);
    CHECK([data writeToFile:f options:NSDataWritingAtomic error:&e]);
    CHECK([data writeToURL:[NSURL fileURLWithPath:f] atomically:YES]);
    CHECK([[fm contentsAtPath:f] isEqualToData:data]);
    CHECK([[NSData dataWithContentsOfFile:f] isEqualToData:data]);
    CHECK([[NSData dataWithContentsOfURL:[NSURL fileURLWithPath:f]] length] ==
          5);
    NSData *mapped = [NSData dataWithContentsOfFile:f
                                            options:NSDataReadingMappedIfSafe
                                              error:&e];
    CHECK(mapped.length == 5);
    NSDictionary *at = [fm attributesOfItemAtPath:f error:&e];
    CHECK([at[NSFileSize] unsignedLongLongValue] == 5);
    CHECK(at.fileSize == 5);
    CHECK([at[NSFileType] isEqual:NSFileTypeRegular]);
    CHECK([at[NSFileModificationDate] timeIntervalSinceNow] < 5);
    CHECK([fm copyItemAtPath:f
                      toPath:[dir stringByAppendingPathComponent:@"y.txt"]
                       error:&e]);
    CHECK([fm moveItemAtPath:f
                      toPath:[dir stringByAppendingPathComponent:@"z.txt"]
                       error:&e]);
    CHECK([fm createSymbolicLinkAtPath:[dir stringByAppendingPathComponent:@"l"]
                   withDestinationPath:@"z.txt"
                                 error:&e]);
    CHECK([[fm
        destinationOfSymbolicLinkAtPath:[dir
                                            stringByAppendingPathComponent:@"l"]
                                  error:&e] isEqual:@"z.txt"]);
    NSArray<NSString *> *list = [[fm contentsOfDirectoryAtPath:dir error:&e]
        sortedArrayUsingSelector:@selector(compare:)];
    CHECK([list isEqualToArray:(@[ @"a", @"l", @"y.txt", @"z.txt" ])]);
    NSUInteger n = 0;
    for (NSString *p in [fm enumeratorAtPath:dir]) {
      (void)p;
      n++;
    }
    CHECK(n == 5);
    CHECK([fm subpathsAtPath:dir].count == 5);
    CHECK([fm contentsOfDirectoryAtURL:[NSURL fileURLWithPath:dir]
              includingPropertiesForKeys:nil
                                 options:NSDirectoryEnumerationSkipsHiddenFiles
                                   error:&e]
              .count == 4);
    CHECK([fm isReadableFileAtPath:dir] && [fm isWritableFileAtPath:dir] &&
          ![fm isExecutableFileAtPath:
                   [dir stringByAppendingPathComponent:@"z.txt"]]);
    CHECK(![fm removeItemAtPath:@"/none/x" error:&e]);
    CHECK(e.code == NSFileNoSuchFileError);
    CHECK([fm currentDirectoryPath].length > 0);
    CHECK([fm temporaryDirectory] != nil);
    CHECK(NSHomeDirectory().length > 0);
    CHECK([NSSearchPathForDirectoriesInDomains(
              NSCachesDirectory, NSUserDomainMask, YES) count] == 1);
    NSURL *u = [[NSURL fileURLWithPath:dir isDirectory:YES]
        URLByAppendingPathComponent:@"z.txt"];
    CHECK([u.lastPathComponent isEqual:@"z.txt"]);
    CHECK([u.pathExtension isEqual:@"txt"]);
    CHECK(u.isFileURL);
    CHECK([u.URLByDeletingLastPathComponent.path isEqual:dir]);
    CHECK([[u.URLByDeletingPathExtension lastPathComponent] isEqual:@"z"]);
    CHECK([u checkResourceIsReachableAndReturnError:nil]);
    CHECK([[u.absoluteString substringToIndex:7] isEqual:@"file://"]);
    NSURL *web = [NSURL URLWithString:@"https://example.com/a/b?c=d#e"];
    CHECK([web.scheme isEqual:@"https"] && [web.host isEqual:@"example.com"] &&
          [web.path isEqual:@"/a/b"]);
    NSString *line = [NSString
        stringWithContentsOfFile:[dir stringByAppendingPathComponent:@"z.txt"]
                        encoding:NSUTF8StringEncoding
                           error:nil];
    CHECK([line isEqualToString:@"hello"]);
    CHECK([@"abc\ndef" writeToFile:f
                        atomically:YES
                          encoding:NSUTF8StringEncoding
                             error:&e]);
    NSString *s2 = [NSString stringWithContentsOfURL:[NSURL fileURLWithPath:f]
                                            encoding:NSUTF8StringEncoding
                                               error:&e];
    CHECK([s2 componentsSeparatedByString:@"\n"].count == 2);
    CHECK([fm removeItemAtPath:dir error:&e]);
    CHECK(![fm fileExistsAtPath:dir]);
  }
  return checks_end();
}
