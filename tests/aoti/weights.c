// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// weights.c: how a model's file of weights is read.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aoti/aoti.h"
#include "mettle/model.h"

enum { WEIGHT_BYTES = 1 << 20 };

static _Atomic size_t ahead_bytes;  // models are loaded on many threads

// Stands before the C library's, for the libraries too.
__attribute__((visibility("default"))) int madvise(void *address, size_t length,
                                                   int advice) {
  if (advice == MADV_WILLNEED && length > ahead_bytes) {
    ahead_bytes = length;
  }
  return (int)syscall(SYS_madvise, address, length, advice);
}

static void remove_file(void *path) {
  unlink(path);
}

static void load(const char *weights_path, mtl_status expected) {
  const char *build = getenv("METTLE_BUILD_DIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/aoti/libweights_of_a_mib.so",
           build ? build : ".");
  mtl_model *model = NULL;
  CHECK_EQUAL(
      mtl_model_load(path, &(mtl_model_desc){.weights_path = weights_path},
                     &model),
      expected);
  mtl_model_release(model);
}

// executorch 18236: weights came from a mapped file page after page, at a tenth
// of the disk's rate. How far the system reads ahead of faults by itself is its
// affair: it must be told of the whole.
TEST(weights, are_read_ahead_of_their_use) {
  static char path[] = "/tmp/mettle-weights-XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  test_defer(remove_file, path);
  CHECK_EQUAL(ftruncate(file, WEIGHT_BYTES), 0);
  load(path, MTL_OK);
  CHECK_EQUAL(ahead_bytes, WEIGHT_BYTES);
  // With another length they are another model's weights.
  CHECK_EQUAL(ftruncate(file, WEIGHT_BYTES + 64), 0);
  load(path, MTL_BAD_DATA);
  CHECK_EQUAL(ftruncate(file, WEIGHT_BYTES - 64), 0);
  load(path, MTL_BAD_DATA);
  close(file);
}
