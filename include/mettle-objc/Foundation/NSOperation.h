// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSOperation.h: operations and queues of them. Threads have one quality here.
#ifndef METTLE_OBJC_FOUNDATION_NSOPERATION_H
#define METTLE_OBJC_FOUNDATION_NSOPERATION_H

#include <Foundation/NSArray.h>
#include <dispatch/dispatch.h>

#ifdef __OBJC__

typedef NS_ENUM(NSInteger, NSQualityOfService) {
  NSQualityOfServiceUserInteractive = 0x21,
  NSQualityOfServiceUserInitiated = 0x19,
  NSQualityOfServiceUtility = 0x11,
  NSQualityOfServiceBackground = 0x09,
  NSQualityOfServiceDefault = -1
};
typedef NS_ENUM(NSInteger, NSOperationQueuePriority) {
  NSOperationQueuePriorityVeryLow = -8,
  NSOperationQueuePriorityLow = -4,
  NSOperationQueuePriorityNormal = 0,
  NSOperationQueuePriorityHigh = 4,
  NSOperationQueuePriorityVeryHigh = 8
};
enum { NSOperationQueueDefaultMaxConcurrentOperationCount = -1 };

// One that overrides start tells its end by didChangeValueForKey: of
// "isFinished".
@interface NSOperation : NSObject
- (void)start;
- (void)main;
- (void)cancel;
- (void)waitUntilFinished;
@property(readonly, getter=isCancelled) BOOL cancelled;
@property(readonly, getter=isExecuting) BOOL executing;
@property(readonly, getter=isFinished) BOOL finished;
@property(readonly, getter=isConcurrent) BOOL concurrent;
@property(readonly, getter=isAsynchronous) BOOL asynchronous;
@property(readonly, getter=isReady) BOOL ready;
- (void)willChangeValueForKey:(NSString *)key;
- (void)didChangeValueForKey:(NSString *)key;
- (void)addDependency:(NSOperation *)other;
- (void)removeDependency:(NSOperation *)other;
@property(readonly, copy) NSArray<NSOperation *> *dependencies;
@property NSOperationQueuePriority queuePriority;
@property NSQualityOfService qualityOfService;
@property(copy) void (^completionBlock)(void);
@property(copy) NSString *name;
@end

@interface NSBlockOperation : NSOperation
+ (instancetype)blockOperationWithBlock:(void (^)(void))block;
- (void)addExecutionBlock:(void (^)(void))block;
@property(readonly, copy) NSArray<void (^)(void)> *executionBlocks;
@end

@interface NSOperationQueue : NSObject
@property(class, readonly, strong) NSOperationQueue *currentQueue;
@property(class, readonly, strong) NSOperationQueue *mainQueue;
- (void)addOperation:(NSOperation *)operation;
- (void)addOperations:(NSArray<NSOperation *> *)operations
    waitUntilFinished:(BOOL)waits;
- (void)addOperationWithBlock:(void (^)(void))block;
@property(readonly, copy) NSArray<NSOperation *> *operations;
@property(readonly) NSUInteger operationCount;
@property NSInteger maxConcurrentOperationCount;
@property(getter=isSuspended) BOOL suspended;
@property(copy) NSString *name;
@property NSQualityOfService qualityOfService;
@property(strong) dispatch_queue_t underlyingQueue;
- (void)cancelAllOperations;
- (void)waitUntilAllOperationsAreFinished;
@end

#endif

#endif
