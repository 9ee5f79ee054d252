// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants.c: results that depend on constants alone are computed once, and
// stay right whatever happens to the constants.
#include <string.h>

#include "aoti/aoti.h"

enum { COUNT = 64 };

static void stop_run(void *unused) {
  (void)unused;
  aoti_torch_grad_mode_set_enabled(true);
}

static void free_memory(void *memory) {
  aoti_torch_mps_free(memory);
}

static void load(void *memory, float first) {
  float values[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    values[i] = first + (float)i;
  }
  CHECK_EQUAL(
      aoti_torch_mps_memcpy(memory, 0, 0, sizeof values, (uint8_t *)values), 0);
}

// Constants first, first + 1, ... as a model makes them, in a model's run.
static AtenTensorHandle new_constants(float first, void **out_memory) {
  aoti_torch_grad_mode_set_enabled(false);
  test_defer(stop_run, NULL);
  CHECK_EQUAL(aoti_torch_mps_malloc(out_memory, COUNT * sizeof(float)), 0);
  test_defer(free_memory, *out_memory);
  load(*out_memory, first);
  AtenTensorHandle tensor = NULL;
  CHECK_EQUAL(aoti_torch_create_tensor_from_blob_v2(*out_memory, SIZES(COUNT),
                                                    (int64_t[]){1}, 0, F32, MPS,
                                                    0, &tensor, 0, NULL, 0),
              0);
  return tensor;
}

static AtenTensorHandle new_result(void) {
  return new_tensor(MPS, F32, SIZES(COUNT));
}

static uint64_t dispatches(void) {
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_current(&stream));
  return mtl_stream_get_statistics(stream).dispatches;
}

static void record(AOTIMetalKernelFunctionHandle function, AtenTensorHandle out,
                   AtenTensorHandle in) {
  CHECK_EQUAL(aoti_torch_mps_start_encoding(function), 0);
  CHECK_EQUAL(aoti_torch_mps_set_arg_tensor(function, 0, out), 0);
  CHECK_EQUAL(aoti_torch_mps_set_arg_tensor(function, 1, in), 0);
  CHECK_EQUAL(aoti_torch_mps_dispatch_single(function, COUNT), 0);
}

static AOTIMetalKernelFunctionHandle new_doubling(void) {
  return new_function(
      "kernel void generated_kernel(device float *out, constant float *in,\n"
      "                             uint i [[thread_position_in_grid]]) {\n"
      "  out[i] = 2 * in[i];\n"
      "}\n");
}

TEST(constants, their_results_are_computed_once) {
  void *memory = NULL;
  AtenTensorHandle in = new_constants(5, &memory);
  AOTIMetalKernelFunctionHandle function = new_doubling();
  AtenTensorHandle first = new_result();
  record(function, first, in);
  AtenTensorHandle second = new_result();
  record(function, second, first);  // a result of a folded result is folded,
                                    // too
  wait_for_stream();
  const uint64_t before = dispatches();
  AtenTensorHandle again = new_result();
  record(function, again, in);
  AtenTensorHandle last = new_result();
  record(function, last, again);
  CHECK_EQUAL(dispatches(), before);
  wait_for_stream();
  CHECK_EQUAL(floats_of(first)[3], 16);
  CHECK_EQUAL(floats_of(again)[3], 16);
  CHECK_EQUAL(floats_of(last)[3], 32);
  aoti_torch_delete_tensor_object(in);
}

TEST(constants, an_update_is_seen) {
  void *memory = NULL;
  AtenTensorHandle in = new_constants(0, &memory);
  AOTIMetalKernelFunctionHandle function = new_doubling();
  for (int i = 0; i < 3; ++i) {
    record(function, new_result(), in);
    wait_for_stream();
  }
  load(memory, 100);
  AtenTensorHandle out = new_result();
  record(function, out, in);
  wait_for_stream();
  CHECK_EQUAL(floats_of(out)[1], 202);
  aoti_torch_delete_tensor_object(in);
}

TEST(constants, an_update_by_a_copy_is_seen) {
  void *memory = NULL;
  AtenTensorHandle in = new_constants(0, &memory);
  AOTIMetalKernelFunctionHandle function = new_doubling();
  for (int i = 0; i < 3; ++i) {
    record(function, new_result(), in);
    wait_for_stream();
  }
  AtenTensorHandle values = new_iota(COUNT);
  floats_of(values)[1] = 7;
  CHECK_EQUAL(aoti_torch_mps_copy_buffer(floats_of(values), memory,
                                         COUNT * sizeof(float), 0, 0),
              0);
  AtenTensorHandle out = new_result();
  record(function, out, in);
  wait_for_stream();
  CHECK_EQUAL(floats_of(out)[1], 14);
  aoti_torch_delete_tensor_object(in);
}

// A model's state is a constant that its runs write.
TEST(constants, what_runs_write_is_state) {
  void *memory = NULL;
  AtenTensorHandle state = new_constants(0, &memory);
  AOTIMetalKernelFunctionHandle function = new_doubling();
  for (int i = 1; i <= 5; ++i) {
    AtenTensorHandle out = new_result();
    record(function, out, state);
    add_one(state, state, COUNT);
    wait_for_stream();
    CHECK_EQUAL(floats_of(out)[10], (float)(2 * (10 + i - 1)));
  }
  aoti_torch_delete_tensor_object(state);
}

TEST(constants, shared_results_are_not_written) {
  void *memory = NULL;
  AtenTensorHandle in = new_constants(0, &memory);
  AOTIMetalKernelFunctionHandle function = new_doubling();
  AtenTensorHandle other = new_iota(COUNT);
  for (int i = 0; i < 4; ++i) {
    AtenTensorHandle out = new_result();
    record(function, out, in);
    AtenTensorHandle view = view_of(out, SIZES(8), (int64_t[]){1}, 4);
    record(function, out, other);  // reuses the buffer
    CHECK_EQUAL(aoti_torch_zero_(view), 0);
    wait_for_stream();
    CHECK_EQUAL(floats_of(out)[3], 6);
    CHECK_EQUAL(floats_of(out)[4], 0);
    CHECK_EQUAL(floats_of(out)[12], 24);
  }
  for (int i = 0; i < 2; ++i) {
    AtenTensorHandle out = new_result();
    record(function, out, in);
    wait_for_stream();
    float *values = floats_of(out);  // the host may write here
    CHECK_EQUAL(values[4], 8);
    values[4] = -1;
  }
  aoti_torch_delete_tensor_object(in);
}

TEST(constants, inputs_are_none) {
  void *memory = NULL;
  AtenTensorHandle constants = new_constants(0, &memory);
  AtenTensorHandle in = new_iota(COUNT);
  AOTIMetalKernelFunctionHandle function = new_doubling();
  for (int i = 0; i < 4; ++i) {
    floats_of(in)[0] = (float)i;
    AtenTensorHandle out = new_result();
    record(function, out, in);
    wait_for_stream();
    CHECK_EQUAL(floats_of(out)[0], (float)(2 * i));
  }
  aoti_torch_delete_tensor_object(constants);
}

// Its address may be another constant's then.
TEST(constants, freed_ones_are_forgotten) {
  AOTIMetalKernelFunctionHandle function = new_doubling();
  aoti_torch_grad_mode_set_enabled(false);
  test_defer(stop_run, NULL);
  for (int i = 0; i < 20; ++i) {
    void *memory = NULL;
    CHECK_EQUAL(aoti_torch_mps_malloc(&memory, COUNT * sizeof(float)), 0);
    load(memory, (float)i);
    AtenTensorHandle in = NULL;
    CHECK_EQUAL(aoti_torch_create_tensor_from_blob_v2(memory, SIZES(COUNT),
                                                      (int64_t[]){1}, 0, F32,
                                                      MPS, 0, &in, 0, NULL, 0),
                0);
    AtenTensorHandle out = new_result();
    record(function, out, in);
    wait_for_stream();
    CHECK_EQUAL(floats_of(out)[0], (float)(2 * i));
    CHECK_EQUAL(aoti_torch_mps_free(memory), 0);
    aoti_torch_delete_tensor_object(in);
  }
}

// A convolution keeps weights that stay, and takes those that come.
// LeakSanitizer's tracer dies over the thread-local memory of threads that were
// there before oneDNN was loaded: no leaks are looked for in a process that
// used it.
static int used_onednn;
#ifdef __SANITIZE_ADDRESS__
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return used_onednn;
}
#endif

TEST(constants, convolutions_follow_their_weights) {
  used_onednn = 1;
  void *memory = NULL;
  AtenTensorHandle constants = new_constants(1, &memory);
  AtenTensorHandle weight =
      view_of(constants, SIZES(8, 8, 1, 1), (int64_t[]){8, 1, 1, 1}, 0);
  AtenTensorHandle input = new_tensor(MPS, F32, SIZES(1, 8, 2, 2));
  for (int i = 0; i < 32; ++i) {
    floats_of(input)[i] = i < 4 ? 1 : 0;  // channel 0 alone
  }
  const int64_t one[] = {1, 1};
  const int64_t zero[] = {0, 0};
  for (int i = 0; i < 4; ++i) {
    load(memory, i < 2 ? 1 : 1000);
    AtenTensorHandle out = NULL;
    CHECK_EQUAL(aoti_torch_mps_convolution(input, weight, NULL, one, 2, zero, 2,
                                           one, 2, 0, zero, 2, 1, &out),
                0);
    wait_for_stream();
    CHECK_EQUAL(floats_of(out)[0], i < 2 ? 1 : 1000);
    CHECK_EQUAL(floats_of(out)[4 * 7], i < 2 ? 57 : 1056);
    aoti_torch_delete_tensor_object(out);
  }
  aoti_torch_delete_tensor_object(constants);
}
