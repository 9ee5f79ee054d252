// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// random.c: the seeds from which Inductor's own kernels make random
// numbers.
#include <pthread.h>
#include <sys/random.h>
#include <time.h>

#include "aoti/operators/host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t state;  // 0 until it is seeded

// splitmix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom
// number generators", 2014
static uint64_t next_random(void) {
  pthread_mutex_lock(&lock);
  while (state == 0) {
    if (getrandom(&state, sizeof state, 0) != (ssize_t)sizeof state) {
      state = (uint64_t)time(NULL);
    }
  }
  state += 0x9e3779b97f4a7c15u;
  uint64_t bits = state;
  pthread_mutex_unlock(&lock);
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

AOTITorchError aoti_torch_mps_randint_low_out(AtenTensorHandle out, int64_t low,
                                              int64_t high, const int64_t *size,
                                              int64_t size_length) {
  AOTI_CHECK_NOT_NULL(out);
  AOTI_CHECK_NOT_NULL(out->storage);
  (void)size;  // out has it
  (void)size_length;
  if (low >= high) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "randint: %lld to %lld",
                    (long long)low, (long long)high);
  }
  AOTI_TRY(aoti_tensor_before_write(out));
  AOTI_TRY(aoti_wait());
  const uint64_t span = (uint64_t)high - (uint64_t)low;
  const int64_t count = aoti_tensor_count(out);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t value = (uint64_t)low + next_random() % span;
    aoti_element_write(out->dtype, host_at(out, out->rank, out->sizes, i),
                       (element){.kind = SIGNED, .number = (int64_t)value});
  }
  return MTL_OK;
}
