// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.h: Grand Central Dispatch: queues, groups, semaphores, data. The
// main queue is a serial queue with a thread of its own: there is no run loop.
#ifndef METTLE_OBJC_DISPATCH_H
#define METTLE_OBJC_DISPATCH_H

#include <objc/objc.h>
#include <stdint.h>
#include <time.h>

#define DISPATCH_EXPORT OBJC_EXTERN
// What is created is the caller's: reference counting by the compiler must know.
#if defined(__OBJC__)
#define DISPATCH_RETURNS_RETAINED __attribute__((ns_returns_retained))
#else
#define DISPATCH_RETURNS_RETAINED
#endif

#ifdef __OBJC__
@protocol OS_dispatch_object
@end
#define DISPATCH_OBJECT(name) \
  @protocol OS_dispatch_##name<OS_dispatch_object> \
  @end \
  typedef id<OS_dispatch_##name> dispatch_##name##_t
DISPATCH_OBJECT(queue);
DISPATCH_OBJECT(group);
DISPATCH_OBJECT(semaphore);
DISPATCH_OBJECT(data);
DISPATCH_OBJECT(queue_attr);
typedef id dispatch_object_t;
#else
typedef struct dispatch_queue_s *dispatch_queue_t;
typedef struct dispatch_group_s *dispatch_group_t;
typedef struct dispatch_semaphore_s *dispatch_semaphore_t;
typedef struct dispatch_data_s *dispatch_data_t;
typedef struct dispatch_queue_attr_s *dispatch_queue_attr_t;
typedef void *dispatch_object_t;
#endif
typedef dispatch_queue_t dispatch_queue_global_t;
typedef dispatch_queue_t dispatch_queue_main_t;

typedef uint64_t dispatch_time_t;
typedef void (*dispatch_function_t)(void *);
typedef long dispatch_once_t;
typedef unsigned int dispatch_qos_class_t;

#define DISPATCH_TIME_NOW (0ull)
#define DISPATCH_TIME_FOREVER (~0ull)
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define USEC_PER_SEC 1000000ull

enum {
  QOS_CLASS_USER_INTERACTIVE = 0x21,
  QOS_CLASS_USER_INITIATED = 0x19,
  QOS_CLASS_DEFAULT = 0x15,
  QOS_CLASS_UTILITY = 0x11,
  QOS_CLASS_BACKGROUND = 0x09,
  QOS_CLASS_UNSPECIFIED = 0x00
};
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND (-32768)

DISPATCH_EXPORT struct objc_object _dispatch_queue_attr_concurrent;
#ifdef __OBJC__
#define DISPATCH_QUEUE_CONCURRENT \
  ((__bridge dispatch_queue_attr_t)(void *)&_dispatch_queue_attr_concurrent)
#else
#define DISPATCH_QUEUE_CONCURRENT \
  ((dispatch_queue_attr_t)(void *)&_dispatch_queue_attr_concurrent)
#endif
#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)
#define DISPATCH_TARGET_QUEUE_DEFAULT ((dispatch_queue_t)0)
#define DISPATCH_APPLY_AUTO ((dispatch_queue_t)0)
#define DISPATCH_CURRENT_QUEUE_LABEL ((dispatch_queue_t)0)

DISPATCH_EXPORT dispatch_queue_t
dispatch_queue_create(const char *label, dispatch_queue_attr_t attributes)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(
    dispatch_queue_attr_t attributes, dispatch_qos_class_t qos, int priority);
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t identifier,
                                                           uintptr_t flags);
DISPATCH_EXPORT dispatch_queue_t dispatch_get_main_queue(void);
DISPATCH_EXPORT const char *dispatch_queue_get_label(dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_suspend(dispatch_object_t queue);
DISPATCH_EXPORT void dispatch_resume(dispatch_object_t queue);
DISPATCH_EXPORT void dispatch_activate(dispatch_object_t queue);
DISPATCH_EXPORT void dispatch_queue_set_specific(
    dispatch_queue_t queue, const void *key, void *value,
    dispatch_function_t destructor);
DISPATCH_EXPORT void *dispatch_queue_get_specific(dispatch_queue_t queue,
                                                  const void *key);
DISPATCH_EXPORT void *dispatch_get_specific(const void *key);
DISPATCH_EXPORT void dispatch_assert_queue(dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_assert_queue_not(dispatch_queue_t queue);
#if !defined(__OBJC__) || !__has_feature(objc_arc)
DISPATCH_EXPORT void dispatch_retain(dispatch_object_t object);
DISPATCH_EXPORT void dispatch_release(dispatch_object_t object);
#endif

DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void *context,
                                      dispatch_function_t work);
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void *context,
                                     dispatch_function_t work);
DISPATCH_EXPORT void dispatch_apply_f(size_t count, dispatch_queue_t queue,
                                      void *context,
                                      void (*work)(void *, size_t));
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t *once, void *context,
                                     dispatch_function_t work);

DISPATCH_EXPORT dispatch_group_t dispatch_group_create(void)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT void dispatch_group_enter(dispatch_group_t group);
DISPATCH_EXPORT void dispatch_group_leave(dispatch_group_t group);
DISPATCH_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group,
                                             dispatch_time_t timeout);

DISPATCH_EXPORT dispatch_semaphore_t dispatch_semaphore_create(intptr_t value)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t sem);
DISPATCH_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t sem,
                                                 dispatch_time_t timeout);

DISPATCH_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when,
                                              int64_t delta_ns);
DISPATCH_EXPORT dispatch_time_t dispatch_walltime(const struct timespec *when,
                                                  int64_t delta_ns);

DISPATCH_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);

#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue,
                                    dispatch_block_t block);
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue,
                                   dispatch_block_t block);
DISPATCH_EXPORT void dispatch_barrier_async(dispatch_queue_t queue,
                                            dispatch_block_t block);
DISPATCH_EXPORT void dispatch_barrier_sync(dispatch_queue_t queue,
                                           dispatch_block_t block);
DISPATCH_EXPORT void dispatch_apply(size_t count, dispatch_queue_t queue,
                                    void (^block)(size_t));
DISPATCH_EXPORT void dispatch_after(dispatch_time_t when,
                                    dispatch_queue_t queue,
                                    dispatch_block_t block);
DISPATCH_EXPORT void dispatch_once(dispatch_once_t *once,
                                   dispatch_block_t block);
DISPATCH_EXPORT void dispatch_group_async(dispatch_group_t group,
                                          dispatch_queue_t queue,
                                          dispatch_block_t block);
DISPATCH_EXPORT void dispatch_group_notify(dispatch_group_t group,
                                           dispatch_queue_t queue,
                                           dispatch_block_t block);
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)
DISPATCH_EXPORT const dispatch_block_t _dispatch_data_destructor_free;
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)
DISPATCH_EXPORT dispatch_data_t
dispatch_data_create(const void *bytes, size_t length, dispatch_queue_t queue,
                     dispatch_block_t destructor)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT dispatch_data_t dispatch_data_create_map(
    dispatch_data_t data, const void **out_bytes, size_t *out_length)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT dispatch_data_t
dispatch_data_create_subrange(dispatch_data_t data, size_t offset,
                              size_t length)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT dispatch_data_t
dispatch_data_create_concat(dispatch_data_t one, dispatch_data_t other)
    DISPATCH_RETURNS_RETAINED;
typedef bool (^dispatch_data_applier_t)(dispatch_data_t region, size_t offset,
                                        const void *bytes, size_t length);
DISPATCH_EXPORT bool dispatch_data_apply(dispatch_data_t data,
                                         dispatch_data_applier_t applier);
#endif

#endif
