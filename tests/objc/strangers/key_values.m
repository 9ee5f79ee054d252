// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// key_values.m: key-value coding and notifications, as a program for macOS has
// them.
#import <Foundation/Foundation.h>
#include "../check.h"
@interface Person : NSObject {
 @public
  int _age;
}
@property(nonatomic, copy) NSString *name;
@property(nonatomic) double height;
@property(nonatomic, strong) Person *friend;
@property(getter=isHappy) BOOL happy;
@end
@implementation Person
- (NSString *)description {
  return [NSString stringWithFormat:@"<Person %@>", self.name];
}
@end
@interface Obs : NSObject
@property int hits;
@end
@implementation Obs
- (void)note:(NSNotification *)n {
  self.hits += [n.userInfo[@"k"] intValue];
}
- (void)observeValueForKeyPath:(NSString *)p
                      ofObject:(id)o
                        change:(NSDictionary *)c
                       context:(void *)x {
  self.hits += 100;
}
@end
// --- Observing --------------------------------------------------------------------

typedef struct {
  float x, y, z;
} Extent;

@interface Job : NSObject {
 @public
  int _hidden;
}
@property int count;
@property double scale;
@property(copy) NSString *name;
@property Extent extent;
@property(strong) Job *next;
@property int silent;
@property(readonly) NSString *title;
@end
@implementation Job
- (NSString *)title {
  return [NSString stringWithFormat:@"%@ x%d", self.name, self.count];
}
+ (NSSet *)keyPathsForValuesAffectingTitle {
  return [NSSet setWithObjects:@"name", @"count", nil];
}
+ (BOOL)automaticallyNotifiesObserversOfSilent {
  return NO;
}
- (id)valueForUndefinedKey:(NSString *)key {
  return [key isEqual:@"extent"] ? @(self.extent.z) : nil;
}
@end

@interface Watcher : NSObject
@property(strong) NSMutableArray *told;
@end
@implementation Watcher
- (void)observeValueForKeyPath:(NSString *)path
                      ofObject:(id)object
                        change:(NSDictionary *)change
                       context:(void *)context {
  NSMutableString *text = [NSMutableString stringWithString:path];
  if (change[NSKeyValueChangeNotificationIsPriorKey]) {
    [text appendString:@" soon"];
  }
  [text appendFormat:@" %@>%@", change[NSKeyValueChangeOldKey] ?: @"",
                     change[NSKeyValueChangeNewKey] ?: @""];
  [self.told addObject:text];
}
- (NSString *)all {
  NSString *all = [self.told componentsJoinedByString:@"; "];
  [self.told removeAllObjects];
  return all;
}
@end

static void observing(void) {
  Watcher *watcher = [Watcher new];
  watcher.told = [NSMutableArray array];
  Job *job = [Job new];
  const NSKeyValueObservingOptions both =
      NSKeyValueObservingOptionOld | NSKeyValueObservingOptionNew;
  job.name = @"add";
  [job addObserver:watcher forKeyPath:@"count" options:both context:NULL];
  [job addObserver:watcher
        forKeyPath:@"title"
           options:NSKeyValueObservingOptionNew |
                   NSKeyValueObservingOptionInitial
           context:&watcher];
  CHECK([[watcher all] isEqual:@"title >add x0"]);
  job.count = 3;
  CHECK(job.count == 3);
  CHECK([[watcher all] isEqual:@"count 0>3; title >add x3"]);
  [job setValue:@4 forKey:@"count"];
  CHECK([[watcher all] isEqual:@"count 3>4; title >add x4"]);
  [job removeObserver:watcher forKeyPath:@"title" context:&watcher];
  job.name = @"mul";
  CHECK([[watcher all] isEqual:@""]);
  // The class is hidden; a double and a struct go through as they are.
  CHECK([job class] == [Job class] && [job isMemberOfClass:[Job class]]);
  CHECK([job.description hasPrefix:@"<Job:"]);
  [job addObserver:watcher
        forKeyPath:@"scale"
           options:NSKeyValueObservingOptionPrior
           context:NULL];
  [job addObserver:watcher forKeyPath:@"extent" options:both context:NULL];
  job.scale = 0.5;
  job.extent = (Extent){1, 2, 3};
  CHECK(job.scale == 0.5 && job.extent.y == 2 && job.extent.z == 3);
  CHECK([[watcher all] isEqual:@"scale soon >; scale >; extent 0>3"]);
  // By hand, and by an instance variable.
  [job addObserver:watcher forKeyPath:@"silent" options:both context:NULL];
  job.silent = 1;
  CHECK([[watcher all] isEqual:@""]);
  [job willChangeValueForKey:@"silent"];
  job.silent = 2;
  [job didChangeValueForKey:@"silent"];
  CHECK([[watcher all] isEqual:@"silent 1>2"]);
  [job addObserver:watcher forKeyPath:@"hidden" options:both context:NULL];
  [job setValue:@7 forKey:@"hidden"];
  CHECK([[watcher all] isEqual:@"hidden 0>7"]);
  // Along a path, whose objects change.
  Job *second = [Job new], *third = [Job new];
  third.count = 30;
  [job addObserver:watcher
        forKeyPath:@"next.next.count"
           options:both
           context:NULL];
  job.next = second;
  second.next = third;
  third.count = 31;
  CHECK([[watcher all]
      isEqual:@"next.next.count <null>><null>; next.next.count <null>>30; "
              @"next.next.count 30>31"]);
  job.next = nil;
  third.count = 32;
  CHECK([[watcher all] isEqual:@"next.next.count 31><null>"]);
  for (NSString *path in
       @[ @"count", @"scale", @"extent", @"silent", @"hidden",
          @"next.next.count" ]) {
    [job removeObserver:watcher forKeyPath:path];
  }
  job.count = 9;
  CHECK([[watcher all] isEqual:@""]);
  BOOL raised = NO;
  @try {
    [job removeObserver:watcher forKeyPath:@"count"];
  } @catch (NSException *exception) {
    raised = [exception.name isEqual:NSRangeException];
  }
  CHECK(raised);
  // Another object of the class is not observed.
  Job *plain = [Job new];
  plain.count = 1;
  CHECK([[watcher all] isEqual:@""]);
}

int main(void) {
  @autoreleasepool {
    Person *p = [Person new];
    [p setValue:@"Ann" forKey:@"name"];
    [p setValue:@1.75 forKey:@"height"];
    [p setValue:@30 forKey:@"age"];
    CHECK([p.name isEqual:@"Ann"] && p.height == 1.75 && p->_age == 30);
    CHECK([[p valueForKey:@"height"] doubleValue] == 1.75);
    p.friend = [Person new];
    [p setValue:@"Bob" forKeyPath:@"friend.name"];
    CHECK([[p valueForKeyPath:@"friend.name"] isEqual:@"Bob"]);
    CHECK([[p valueForKey:@"happy"] isEqual:@NO]);
    p.happy = YES;
    CHECK([[p valueForKey:@"isHappy"] boolValue]);
    CHECK(([[(@[ p, p.friend ]) valueForKey:@"name"]
        isEqual:(@[ @"Ann", @"Bob" ])]));
    @try {
      [p valueForKey:@"nope"];
      CHECK(0);
    } @catch (NSException *e) {
      CHECK([e.name isEqual:NSUndefinedKeyException]);
    }
    CHECK(([[NSString stringWithFormat:@"%@", p] isEqual:@"<Person Ann>"]));
    NSDictionary *d = [p dictionaryWithValuesForKeys:@[ @"name" ]];
    CHECK([d[@"name"] isEqual:@"Ann"]);
    Obs *o = [Obs new];
    NSNotificationCenter *c = [NSNotificationCenter defaultCenter];
    [c addObserver:o selector:@selector(note:) name:@"N" object:nil];
    [c postNotificationName:@"N" object:p userInfo:@{@"k" : @4}];
    [c postNotificationName:@"M" object:p];
    CHECK(o.hits == 4);
    [c removeObserver:o];
    [c postNotificationName:@"N" object:p userInfo:@{@"k" : @4}];
    CHECK(o.hits == 4);
    __block int blk = 0;
    id tok = [c addObserverForName:@"B"
                            object:nil
                             queue:nil
                        usingBlock:^(NSNotification *n) {
                          blk++;
                        }];
    [c postNotification:[NSNotification notificationWithName:@"B" object:nil]];
    CHECK(blk == 1);
    [c removeObserver:tok];
    [c postNotificationName:@"B" object:nil];
    CHECK(blk == 1);
    observing();
  }
  return checks_end();
}
