// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// life.c: models loaded, run and unloaded: over and over, several at once, from
// several threads. The models are tiny_model.c, times 2, 3, 4 and 5.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aoti/aoti.h"

enum { MODEL_COUNT = 4, THREAD_COUNT = 8, CYCLES = 1000 };

static mtl_model *load(int factor) {
  const char *build = getenv("METTLE_BUILD_DIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/aoti/libtimes_%d.so",
           build ? build : ".", factor);
  mtl_model *model = NULL;
  CHECK_OK(mtl_model_load(path, NULL, &model));
  return model;
}

// Runs the model on {1, 2, ...} and checks the outputs.
static void run(mtl_model *model, mtl_stream *stream, int factor) {
  float numbers[64];
  for (int i = 0; i < 64; ++i) {
    numbers[i] = (float)(i + 1);
  }
  mtl_buffer *buffer = NULL;
  const mtl_buffer_desc desc = {.length_bytes = sizeof numbers,
                                .bytes = numbers};
  CHECK_OK(mtl_buffer_create(mtl_stream_device(stream), &desc, &buffer));
  const mtl_model_tensor input =
      mtl_model_tensor_make(buffer, MTL_SCALAR_FLOAT32, 2, (int64_t[]){8, 8});
  mtl_model_result *result = NULL;
  CHECK_OK(mtl_model_run(model, stream, &input, 1, &result));
  mtl_buffer_release(buffer);  // the run has it
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  mtl_model_tensor output;
  CHECK_OK(mtl_model_result_get(result, 0, &output));
  CHECK_EQUAL(output.rank, 2);
  CHECK_EQUAL(output.sizes[1], 8);
  const float *got =
      (const float *)((char *)mtl_buffer_contents(output.buffer) +
                      output.offset_bytes);
  CHECK_EQUAL(got[0], factor);
  CHECK_EQUAL(got[63], 64 * factor);
  mtl_model_result_release(result);
}

// executorch 22953: the 2nd to 12th load failed; 18673: memory grew.
TEST(life, a_thousand_cycles_keep_memory_flat) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  test_skip("sanitizers keep memory of their own");
#endif
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_current(&stream));
  size_t settled_kb = 0;
  for (int i = 0; i < CYCLES; ++i) {
    mtl_model *model = load(2 + i % 2);
    run(model, stream, 2 + i % 2);
    mtl_model_release(model);
    if (i == CYCLES / 5) {
      settled_kb = test_resident_bytes() / 1024;
    }
  }
  const size_t end_kb = test_resident_bytes() / 1024;
  // 800 cycles more, and not 8 MiB: not 10 KiB a cycle.
  if (end_kb > settled_kb + 8192) {
    test_fail(__FILE__, __LINE__, "memory grew from %zu to %zu KiB", settled_kb,
              end_kb);
  }
  mtl_pool_statistics pool;
  CHECK_OK(mtl_pool_get_statistics(mtl_stream_device(stream), &pool));
  CHECK_EQUAL(pool.used_buffers, 0);
}

// metal_backend.cpp: the end of one model cleared the tensors of all others.
TEST(life, models_go_in_any_order) {
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_current(&stream));
  mtl_model *models[MODEL_COUNT];
  for (int i = 0; i < MODEL_COUNT; ++i) {
    models[i] = load(2 + i);
  }
  static const int order[MODEL_COUNT] = {1, 3, 0, 2};
  for (int gone = 0; gone < MODEL_COUNT; ++gone) {
    for (int i = gone; i < MODEL_COUNT; ++i) {
      run(models[order[i]], stream, 2 + order[i]);
    }
    mtl_model_release(models[order[gone]]);
  }
}

TEST(life, a_result_outlives_its_model) {
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_current(&stream));
  mtl_model *model = load(3);
  mtl_buffer *buffer = NULL;
  const float one = 1;
  CHECK_OK(mtl_buffer_create(
      mtl_stream_device(stream),
      &(mtl_buffer_desc){.length_bytes = 4, .bytes = &one}, &buffer));
  const mtl_model_tensor input =
      mtl_model_tensor_make(buffer, MTL_SCALAR_FLOAT32, 0, NULL);
  mtl_model_result *first = NULL;
  mtl_model_result *second = NULL;
  CHECK_OK(mtl_model_run(model, NULL, &input, 1, &first));
  // The next run's input is not computed yet.
  mtl_model_tensor between;
  CHECK_OK(mtl_model_result_get(first, 0, &between));
  CHECK_OK(mtl_model_run(model, NULL, &between, 1, &second));
  CHECK_EQUAL(mtl_stream_get_statistics(stream).waits, 0);
  mtl_model_result_release(first);
  mtl_model_release(model);
  mtl_buffer_release(buffer);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_OK(mtl_model_result_get(second, 0, &between));
  CHECK_EQUAL(*(float *)mtl_buffer_contents(between.buffer), 9);
  mtl_model_result_release(second);
}

static void *run_models(void *context) {
  const int own = (int)(intptr_t)context % MODEL_COUNT;
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_create(NULL, NULL, &stream));
  for (int i = 0; i < 20; ++i) {
    const int factor = 2 + (own + i) % MODEL_COUNT;
    mtl_model *model = load(factor);
    run(model, stream, factor);
    run(model, stream, factor);
    mtl_model_release(model);
  }
  mtl_stream_release(stream);
  return NULL;
}

TEST(life, eight_threads_over_four_models) {
  pthread_t threads[THREAD_COUNT];
  for (intptr_t i = 0; i < THREAD_COUNT; ++i) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, run_models, (void *)i), 0);
  }
  for (int i = 0; i < THREAD_COUNT; ++i) {
    pthread_join(threads[i], NULL);
  }
}

TEST(life, wrong_calls_are_answered) {
  mtl_model *model = NULL;
  CHECK_ERROR(mtl_model_load("/nowhere/model.so", NULL, &model), MTL_NOT_FOUND,
              "/nowhere");
  CHECK_ERROR(mtl_model_load("/proc/self/status", NULL, &model), MTL_BAD_DATA,
              "status");
  model = load(2);
  mtl_model_result *result = NULL;
  CHECK_ERROR(mtl_model_run(model, NULL, NULL, 0, &result),
              MTL_INVALID_ARGUMENT, "takes 1");
  mtl_model_tensor input = {.type = MTL_SCALAR_FLOAT32};
  CHECK_ERROR(mtl_model_run(model, NULL, &input, 1, &result),
              MTL_INVALID_ARGUMENT, "without a buffer");
  CHECK(mtl_model_input_name(model, 1) == NULL);
  CHECK_EQUAL(mtl_model_kernel_count(model), 1);
  CHECK_CONTAINS(mtl_model_kernel_source(model, 0), "in[i] * 2");
  CHECK_ERROR(mtl_model_swap_constants(model), MTL_UNSUPPORTED, "fixed");
  mtl_model_release(model);
}
