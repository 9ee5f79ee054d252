// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bundle.m: NSBundle, NSProcessInfo, NSUUID, as a program for macOS has them.
#import <Foundation/Foundation.h>
#include "../check.h"
@interface Anchor : NSObject
@end
@implementation Anchor
@end
int main(int argc, const char **argv) {
  @autoreleasepool {
    NSBundle *m = [NSBundle mainBundle];
    CHECK(m.bundlePath.length > 0);
    CHECK([m.executablePath hasSuffix:@"bundle"]);
    CHECK([NSBundle bundleForClass:[Anchor class]] == m);
    CHECK([NSBundle bundleForClass:NSClassFromString(@"Anchor")] == m);
    CHECK([m pathForResource:@"nothere" ofType:@"metallib"] == nil);
    CHECK([m URLForResource:@"nothere" withExtension:@"metal"] == nil);
    CHECK([m pathForResource:@"t" ofType:@"h"] != nil);
    CHECK([m pathForResource:@"t.h" ofType:nil] != nil);
    CHECK([m pathForResource:@"x" ofType:@"h" inDirectory:@"none"] == nil);
    CHECK([[[m URLForResource:@"t"
                withExtension:@"h"] lastPathComponent] isEqualToString:@"t.h"]);
    NSBundle *at = [NSBundle bundleWithPath:@"/tmp"];
    CHECK(at != nil);
    CHECK([NSBundle bundleWithPath:@"/no/such/dir"] == nil);
    CHECK([[NSBundle bundleWithURL:[NSURL fileURLWithPath:@"/tmp"]].bundlePath
        isEqual:@"/tmp"]);
    NSDictionary *info = m.infoDictionary;
    (void)info;
    CHECK([m objectForInfoDictionaryKey:@"CFBundleName"] == nil);
    NSArray *p = [m pathsForResourcesOfType:@"h" inDirectory:nil];
    CHECK(p.count >= 1);
    NSOperatingSystemVersion v14 = {14, 0, 0};
    NSProcessInfo *pi = [NSProcessInfo processInfo];
    CHECK(pi.arguments.count == (NSUInteger)argc);
    CHECK(pi.environment[@"PATH"] != nil);
    CHECK(pi.processorCount >= 1);
    CHECK(pi.physicalMemory > 0);
    CHECK([pi.processName isEqualToString:@"bundle"]);
    CHECK(pi.hostName.length > 0);
    CHECK(pi.globallyUniqueString.length > 8);
    CHECK([pi isOperatingSystemAtLeastVersion:v14]);
    CHECK(pi.thermalState == NSProcessInfoThermalStateNominal);
    CHECK(!pi.isLowPowerModeEnabled);
    NSUUID *uuid = [NSUUID UUID];
    CHECK(uuid.UUIDString.length == 36);
  }
  return checks_end();
}
