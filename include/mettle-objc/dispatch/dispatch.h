// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.h: Grand Central Dispatch: queues, groups, semaphores, sources, data. The
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
DISPATCH_OBJECT(source);
typedef id dispatch_object_t;
#else
typedef struct dispatch_queue_s *dispatch_queue_t;
typedef struct dispatch_group_s *dispatch_group_t;
typedef struct dispatch_semaphore_s *dispatch_semaphore_t;
typedef struct dispatch_data_s *dispatch_data_t;
typedef struct dispatch_queue_attr_s *dispatch_queue_attr_t;
typedef struct dispatch_source_s *dispatch_source_t;
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
DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create_with_target(
    const char *label, dispatch_queue_attr_t attributes,
    dispatch_queue_t target) DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT void dispatch_set_target_queue(dispatch_object_t object,
                                               dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_set_context(dispatch_object_t object,
                                          void *context);
DISPATCH_EXPORT void *dispatch_get_context(dispatch_object_t object);
// Never returns, and runs nothing: the main queue has a thread of its own.
DISPATCH_EXPORT void dispatch_main(void) __attribute__((noreturn));
DISPATCH_EXPORT dispatch_queue_attr_t
dispatch_queue_attr_make_with_autorelease_frequency(
    dispatch_queue_attr_t attributes, unsigned long frequency);
#define DISPATCH_AUTORELEASE_FREQUENCY_INHERIT 0
#define DISPATCH_AUTORELEASE_FREQUENCY_WORK_ITEM 1
#define DISPATCH_AUTORELEASE_FREQUENCY_NEVER 2
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
DISPATCH_EXPORT void dispatch_barrier_async_f(dispatch_queue_t queue,
                                              void *context,
                                              dispatch_function_t work);
DISPATCH_EXPORT void dispatch_barrier_sync_f(dispatch_queue_t queue,
                                             void *context,
                                             dispatch_function_t work);
DISPATCH_EXPORT void dispatch_async_and_wait_f(dispatch_queue_t queue,
                                               void *context,
                                               dispatch_function_t work);
DISPATCH_EXPORT void dispatch_after_f(dispatch_time_t when,
                                      dispatch_queue_t queue, void *context,
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
DISPATCH_EXPORT void dispatch_group_async_f(dispatch_group_t group,
                                            dispatch_queue_t queue,
                                            void *context,
                                            dispatch_function_t work);
DISPATCH_EXPORT void dispatch_group_notify_f(dispatch_group_t group,
                                             dispatch_queue_t queue,
                                             void *context,
                                             dispatch_function_t work);
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

// Sources: timers, and numbers that are merged until the handler runs. Those of
// files, signals and processes are not here.
typedef const struct dispatch_source_type_s *dispatch_source_type_t;
struct dispatch_source_type_s;
DISPATCH_EXPORT const struct dispatch_source_type_s
    _dispatch_source_type_timer, _dispatch_source_type_data_add,
    _dispatch_source_type_data_or, _dispatch_source_type_data_replace;
#define DISPATCH_SOURCE_TYPE_TIMER (&_dispatch_source_type_timer)
#define DISPATCH_SOURCE_TYPE_DATA_ADD (&_dispatch_source_type_data_add)
#define DISPATCH_SOURCE_TYPE_DATA_OR (&_dispatch_source_type_data_or)
#define DISPATCH_SOURCE_TYPE_DATA_REPLACE (&_dispatch_source_type_data_replace)
#define DISPATCH_TIMER_STRICT 1
DISPATCH_EXPORT dispatch_source_t
dispatch_source_create(dispatch_source_type_t type, uintptr_t handle,
                       uintptr_t mask, dispatch_queue_t queue)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT void dispatch_source_set_timer(dispatch_source_t source,
                                               dispatch_time_t start,
                                               uint64_t interval_ns,
                                               uint64_t leeway_ns);
DISPATCH_EXPORT void dispatch_source_set_event_handler_f(
    dispatch_source_t source, dispatch_function_t handler);
DISPATCH_EXPORT void dispatch_source_set_cancel_handler_f(
    dispatch_source_t source, dispatch_function_t handler);
DISPATCH_EXPORT void dispatch_source_merge_data(dispatch_source_t source,
                                                uintptr_t value);
DISPATCH_EXPORT uintptr_t dispatch_source_get_data(dispatch_source_t source);
DISPATCH_EXPORT uintptr_t dispatch_source_get_handle(dispatch_source_t source);
DISPATCH_EXPORT uintptr_t dispatch_source_get_mask(dispatch_source_t source);
DISPATCH_EXPORT void dispatch_source_cancel(dispatch_source_t source);
DISPATCH_EXPORT intptr_t dispatch_source_testcancel(dispatch_source_t source);

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
DISPATCH_EXPORT void dispatch_async_and_wait(dispatch_queue_t queue,
                                             dispatch_block_t block);
DISPATCH_EXPORT void dispatch_source_set_event_handler(
    dispatch_source_t source, dispatch_block_t handler);
DISPATCH_EXPORT void dispatch_source_set_cancel_handler(
    dispatch_source_t source, dispatch_block_t handler);

// Blocks that can be cancelled and waited for. Flags change nothing.
typedef unsigned long dispatch_block_flags_t;
enum {
  DISPATCH_BLOCK_BARRIER = 1,
  DISPATCH_BLOCK_DETACHED = 2,
  DISPATCH_BLOCK_ASSIGN_CURRENT = 4,
  DISPATCH_BLOCK_NO_QOS_CLASS = 8,
  DISPATCH_BLOCK_INHERIT_QOS_CLASS = 16,
  DISPATCH_BLOCK_ENFORCE_QOS_CLASS = 32
};
DISPATCH_EXPORT dispatch_block_t dispatch_block_create(
    dispatch_block_flags_t flags, dispatch_block_t block)
    DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT dispatch_block_t dispatch_block_create_with_qos_class(
    dispatch_block_flags_t flags, dispatch_qos_class_t qos, int priority,
    dispatch_block_t block) DISPATCH_RETURNS_RETAINED;
DISPATCH_EXPORT void dispatch_block_perform(dispatch_block_flags_t flags,
                                            dispatch_block_t block);
DISPATCH_EXPORT intptr_t dispatch_block_wait(dispatch_block_t block,
                                             dispatch_time_t timeout);
DISPATCH_EXPORT void dispatch_block_notify(dispatch_block_t block,
                                           dispatch_queue_t queue,
                                           dispatch_block_t notified);
DISPATCH_EXPORT void dispatch_block_cancel(dispatch_block_t block);
DISPATCH_EXPORT intptr_t dispatch_block_testcancel(dispatch_block_t block);
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
