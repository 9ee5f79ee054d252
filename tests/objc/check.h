// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check.h: checks of a program in Objective-C, counted and told by programs.py.
#ifndef METTLE_OBJC_CHECK_H
#define METTLE_OBJC_CHECK_H

#include <stdio.h>

static int checks_passed, checks_failed;

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (condition) {                                                       \
      ++checks_passed;                                                     \
    } else {                                                               \
      ++checks_failed;                                                     \
      printf("FAILED: %s:%d: %s\n", __FILE__, __LINE__, #condition);       \
    }                                                                      \
  } while (0)

static inline int checks_end(void) {
  printf("%d passed, %d failed\n", checks_passed, checks_failed);
  return checks_failed != 0;
}

#if __has_feature(objc_arc)
#define RELEASE(object) ((object) = nil)
#define SUPER_DEALLOC
#else
#define RELEASE(object) ([(object) release], (object) = nil)
#define SUPER_DEALLOC [super dealloc]
#endif

#endif
