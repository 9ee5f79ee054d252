// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// random_tests.c: kernels that random_kernels.py made, tier 1 against tier 0.
// random_kernels.py runs this with the bitcode's path and the kernels' count in
// the environment.
#include <stdio.h>
#include <stdlib.h>

#include "differential.h"
#include "harness/test.h"

TEST(random, kernels_agree) {
  const char *first = getenv("RANDOM_FIRST");
  const char *count = getenv("RANDOM_COUNT");
  if (!first || !count) {
    test_skip("run by random_kernels.py");
  }
  for (int i = 0; i < atoi(count); i++) {
    differential_check((unsigned)(atoi(first) + i), NULL, 1);
  }
}
