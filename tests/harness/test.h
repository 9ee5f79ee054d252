// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test.h: what a test program in C is made of. Link tests/harness/test.c,
// which has the main: --list prints the names, NAME runs one test, and no
// argument runs them all in one process. tests/harness/run.py gives each test
// a process of its own; a failed check ends that process with status 1.
#ifndef METTLE_TEST_H
#define METTLE_TEST_H

#include <stddef.h>
#include <stdint.h>

#include "mettle/status.h"

typedef void test_function(void);
typedef struct test_case {
  const char *name;  // "topic.behaviour"
  test_function *function;
  struct test_case *next;
} test_case;

void test_register(test_case *entry);

// Defines one test; its name says the behaviour.
#define TEST(topic, behaviour)                                             \
  static void topic##_##behaviour(void);                                   \
  __attribute__((constructor)) static void register_##topic##_##behaviour( \
      void) {                                                              \
    static test_case entry = {#topic "." #behaviour, topic##_##behaviour,  \
                              NULL};                                       \
    test_register(&entry);                                                 \
  }                                                                        \
  static void topic##_##behaviour(void)

#define TEST_SKIPPED 77  // exit status, as in automake and CTest

// Ends the test: failed, or skipped with a reason.
_Noreturn void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void test_skip(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

// Runs before each test, in programs that have one.
void test_prepare(void) __attribute__((weak));

// Calls function(context) when the test has passed, the latest first.
void test_defer(void (*function)(void *context), void *context);

// Returns how much of the process's memory is present now.
size_t test_resident_bytes(void);

void test_check_equal(const char *file, int line, const char *text,
                      uint64_t actual, uint64_t expected);
void test_check_text(const char *file, int line, const char *text,
                     const char *actual, const char *expected);
void test_check_contains(const char *file, int line, const char *actual,
                         const char *part);
void test_check_status(const char *file, int line, const char *text,
                       mtl_status actual, mtl_status expected,
                       const char *part);

#define CHECK(condition)                                         \
  do {                                                           \
    if (!(condition)) {                                          \
      test_fail(__FILE__, __LINE__, "not true: %s", #condition); \
    }                                                            \
  } while (0)
#define CHECK_EQUAL(actual, expected)                               \
  test_check_equal(__FILE__, __LINE__, #actual, (uint64_t)(actual), \
                   (uint64_t)(expected))
#define CHECK_TEXT(actual, expected) \
  test_check_text(__FILE__, __LINE__, #actual, actual, expected)
#define CHECK_CONTAINS(actual, part) \
  test_check_contains(__FILE__, __LINE__, actual, part)
// A call that must succeed.
#define CHECK_OK(call) \
  test_check_status(__FILE__, __LINE__, #call, call, MTL_OK, NULL)
// A call that must fail, with part in the text of mtl_last_error().
#define CHECK_ERROR(call, status, part) \
  test_check_status(__FILE__, __LINE__, #call, call, status, part)

#endif
