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
  }
  return checks_end();
}
