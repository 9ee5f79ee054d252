// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// settings.m: file handles, pipes, property lists and user defaults.
#import <Foundation/Foundation.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

static NSString *folder;

static NSData *bytes_of(NSString *text) {
  return [text dataUsingEncoding:NSUTF8StringEncoding];
}

static NSString *text_of(NSData *data) {
  return [[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding];
}

static void file_handles(void) {
  NSString *path = [folder stringByAppendingPathComponent:@"handle.txt"];
  NSError *error = nil;
  CHECK(![NSFileHandle fileHandleForReadingAtPath:path]);
  CHECK(![NSFileHandle fileHandleForReadingFromURL:[NSURL fileURLWithPath:path]
                                             error:&error]);
  CHECK(error.code == NSFileReadNoSuchFileError);
  [[NSFileManager defaultManager] createFileAtPath:path
                                          contents:nil
                                        attributes:nil];
  NSFileHandle *file = [NSFileHandle fileHandleForUpdatingAtPath:path];
  [file writeData:bytes_of(@"0123456789")];
  CHECK(file.offsetInFile == 10);
  [file seekToFileOffset:4];
  CHECK([text_of([file readDataOfLength:3]) isEqual:@"456"]);
  CHECK([text_of([file readDataToEndOfFile]) isEqual:@"789"]);
  CHECK([file truncateAtOffset:2 error:&error] && [file seekToEndOfFile] == 2);
  CHECK([file writeData:bytes_of(@"ab") error:&error]);
  CHECK([file synchronizeAndReturnError:&error]);
  [file closeFile];
  file = [NSFileHandle fileHandleForReadingAtPath:path];
  CHECK([text_of([file readDataToEndOfFileAndReturnError:&error])
      isEqual:@"01ab"]);
  CHECK(![file writeData:bytes_of(@"x") error:&error] && error);
  BOOL raised = NO;
  @try {
    [file writeData:bytes_of(@"x")];
  } @catch (NSException *exception) {
    raised = [exception.name isEqual:@"NSFileHandleOperationException"];
  }
  CHECK(raised);
  NSPipe *pipe = [NSPipe pipe];
  [pipe.fileHandleForWriting writeData:bytes_of(@"through")];
  CHECK([text_of(pipe.fileHandleForReading.availableData) isEqual:@"through"]);
  [pipe.fileHandleForWriting closeFile];
  CHECK([pipe.fileHandleForReading readDataToEndOfFile].length == 0);
  CHECK(NSFileHandle.fileHandleWithStandardOutput.fileDescriptor == 1);
}

static void property_lists(void) {
  NSString *path = [folder stringByAppendingPathComponent:@"list.plist"];
  const char *written =
      "<?xml version=\"1.0\"?>\n<!-- a comment -->\n<plist version=\"1.0\">"
      "<dict><key>name</key><string>a &lt;b&gt; &amp; &#x2713;</string>"
      "<key>list</key><array><integer>-7</integer><real>2.5</real><true/>"
      "<string/></array><key>when</key><date>2001-01-01T00:01:00Z</date>"
      "<key>bytes</key><data>AQID\n</data><key>none</key><dict/></dict></"
      "plist>";
  [[NSData dataWithBytes:written length:strlen(written)] writeToFile:path
                                                          atomically:YES];
  NSDictionary *list = [NSDictionary dictionaryWithContentsOfFile:path];
  CHECK(list.count == 5);
  CHECK([list[@"name"] isEqual:@"a <b> & \u2713"]);
  CHECK(([list[@"list"] isEqual:@[ @-7, @2.5, @YES, @"" ]]));
  CHECK([list[@"when"] timeIntervalSinceReferenceDate] == 60);
  CHECK([list[@"bytes"] length] == 3 &&
        ((const char *)[list[@"bytes"] bytes])[2] == 3);
  CHECK([list[@"none"] count] == 0);
  NSError *error = nil;
  NSData *data = [NSPropertyListSerialization
      dataWithPropertyList:list
                    format:NSPropertyListXMLFormat_v1_0
                   options:0
                     error:&error];
  NSPropertyListFormat format = 0;
  CHECK(
      [[NSPropertyListSerialization propertyListWithData:data
                                                 options:0
                                                  format:&format
                                                   error:&error] isEqual:list]);
  CHECK(format == NSPropertyListXMLFormat_v1_0);
  CHECK(![NSArray arrayWithContentsOfURL:[NSURL fileURLWithPath:path]
                                   error:&error]);
  CHECK(error.code == NSPropertyListReadCorruptError);
  CHECK(![NSPropertyListSerialization
      propertyListWithData:bytes_of(@"<plist><dict><key>a</key></plist>")
                   options:0
                    format:NULL
                     error:&error]);
  CHECK(![NSPropertyListSerialization propertyListWithData:bytes_of(@"bplist00")
                                                   options:0
                                                    format:NULL
                                                     error:&error]);
  CHECK([error.localizedDescription containsString:@"binary"]);
  CHECK(![NSPropertyListSerialization
          propertyList:@[ [NSNull null] ]
      isValidForFormat:NSPropertyListXMLFormat_v1_0]);
  CHECK(([@[ @1, @{@"a" : @"b"} ] writeToFile:path atomically:YES]));
  CHECK(([[NSArray arrayWithContentsOfFile:path]
      isEqual:@[ @1, @{@"a" : @"b"} ]]));
}

static void user_defaults(void) {
  NSUserDefaults *defaults = NSUserDefaults.standardUserDefaults;
  [defaults registerDefaults:@{@"size" : @512, @"kernel" : @"add"}];
  CHECK([defaults integerForKey:@"size"] == 512);
  CHECK([[defaults stringForKey:@"kernel"] isEqual:@"add"]);
  __block int changes = 0;
  id observer = [NSNotificationCenter.defaultCenter
      addObserverForName:NSUserDefaultsDidChangeNotification
                  object:defaults
                   queue:nil
              usingBlock:^(NSNotification *note) {
                ++changes;
              }];
  [defaults setInteger:1024 forKey:@"size"];
  [defaults setBool:YES forKey:@"fast"];
  [defaults setDouble:0.5 forKey:@"scale"];
  [defaults setObject:@[ @"a", @"b" ] forKey:@"names"];
  [NSNotificationCenter.defaultCenter removeObserver:observer];
  CHECK(changes == 4);
  CHECK([defaults integerForKey:@"size"] == 1024);
  CHECK([defaults boolForKey:@"fast"] && ![defaults boolForKey:@"absent"]);
  CHECK([defaults stringArrayForKey:@"names"].count == 2);
  CHECK(![defaults dataForKey:@"names"] && ![defaults objectForKey:@"none"]);
  // Another object reads the file, and the arguments: -rounds 12 -verbose YES.
  NSUserDefaults *other = [[NSUserDefaults alloc] init];
  CHECK([other doubleForKey:@"scale"] == 0.5 &&
        ![other stringForKey:@"kernel"]);
  CHECK([other integerForKey:@"rounds"] == 12 && [other boolForKey:@"verbose"]);
  [other removeObjectForKey:@"size"];
  CHECK(![[[NSUserDefaults alloc] init] objectForKey:@"size"]);
  NSUserDefaults *suite = [[NSUserDefaults alloc] initWithSuiteName:@"suite"];
  CHECK(![suite objectForKey:@"fast"]);
}

int main(int count, char **words) {
  char made[] = "/tmp/mettle-settings-XXXXXX";
  if (count == 1) {
    setenv("XDG_CONFIG_HOME", mkdtemp(made), 1);
    execl(words[0], words[0], "-rounds", "12", "-verbose", "YES", NULL);
  }
  @autoreleasepool {
    folder = @(getenv("XDG_CONFIG_HOME"));
    file_handles();
    property_lists();
    user_defaults();
    [[NSFileManager defaultManager] removeItemAtPath:folder error:NULL];
  }
  return checks_end();
}
