// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// misbehaving.c: tests that go wrong in every way, for self_test.py. Only
// `passes` is fine.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/test.h"

TEST(misbehaving, passes) {
  CHECK_EQUAL(2 + 2, 4);
}

TEST(misbehaving, fails_a_check) {
  CHECK_EQUAL(2 + 2, 5);
}

TEST(misbehaving, crashes) {
  raise(SIGSEGV);
}

TEST(misbehaving, aborts) {
  abort();
}

TEST(misbehaving, hangs) {
  for (;;) {
    pause();
  }
}

static void fail_late(void *context) {
  (void)context;
  test_fail(__FILE__, __LINE__, "while cleaning up");
}

TEST(misbehaving, fails_while_cleaning_up) {
  test_defer(fail_late, NULL);
}

// A child that outlives the test and holds its output open.
TEST(misbehaving, leaves_a_child_behind) {
  if (fork() == 0) {
    for (;;) {
      pause();
    }
  }
}

TEST(misbehaving, is_skipped) {
  test_skip("there is no moon tonight");
}
