// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// repeats.c: long lists of dispatches that come again, the same or changed. A
// driver may reuse its prepared form of such a list; no stale value may show.
#include "conformance.h"

#include <string.h>

static const char kernels[] =
    "kernel void push(device ulong *data [[buffer(0)]],\n"
    "                 constant uint &bit [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  data[i] = data[i] * 2 + bit;\n"
    "}\n"
    "kernel void twice(device uint *data [[buffer(0)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  data[i] *= 2;\n"
    "}\n"
    "kernel void one(device uint *data [[buffer(0)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  data[i] += 1;\n"
    "}\n"
    "kernel void two(device uint *data [[buffer(0)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  data[i] += 2;\n"
    "}\n"
    "kernel void four(device uint *data [[buffer(0)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  data[i] += 4;\n"
    "}\n"
    "kernel void note(device uint *data [[buffer(0)]],\n"
    "                 uint i [[thread_position_in_grid]],\n"
    "                 uint n [[threads_per_threadgroup]]) {\n"
    "  data[i] += 1;\n"
    "  data[256 + i] = n;\n"
    "}\n";

enum { COUNT = 256 };

static void dispatch(mtl_compute_encoder *encoder, mtl_pipeline *pipeline,
                     int times) {
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (int i = 0; i < times; i++) {
    mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                         size_of(64, 1, 1));
  }
}

// Pushes the lowest bits of value, the highest first, one a dispatch.
static mtl_command_buffer *encode_bits(mtl_queue *queue, mtl_pipeline *push,
                                       mtl_buffer *data, size_t offset_bytes,
                                       uint32_t value, int bits) {
  mtl_command_buffer *commands = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_buffer(encoder, data, offset_bytes, 0);
  for (int i = bits - 1; i >= 0; i--) {
    const uint32_t bit = value >> i & 1;
    mtl_compute_encoder_set_bytes(encoder, &bit, sizeof bit, 1);
    dispatch(encoder, push, 1);
  }
  end(encoder);
  return commands;
}

static void check_longs(mtl_buffer *data, size_t first, uint64_t expected) {
  const uint64_t *longs = mtl_buffer_contents(data);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(longs[first + i], expected);
  }
}

static void check_words(mtl_buffer *data, size_t first, size_t count,
                        uint32_t expected) {
  for (size_t i = 0; i < count; i++) {
    CHECK_EQUAL(words(data)[first + i], expected);
  }
}

TEST(repeats, bytes_buffers_and_offsets_are_this_times) {
  static const uint32_t values[] = {0xa5c, 0x3f1, 0x808, 0x7fe, 0x111, 0xeb7};
  mtl_pipeline *push = new_pipeline(kernels, "push");
  mtl_queue *queue = new_queue();
  mtl_buffer *data[] = {new_buffer(2 * COUNT * 8), new_buffer(2 * COUNT * 8)};
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    finish(encode_bits(queue, push, data[i % 2], i / 2 % 2 * COUNT * 8,
                       values[i], 12));
  }
  check_longs(data[0], 0, 0xa5c111);
  check_longs(data[1], 0, 0x3f1eb7);
  check_longs(data[0], COUNT, 0x808);
  check_longs(data[1], COUNT, 0x7fe);
}

TEST(repeats, bytes_are_those_of_each_that_is_in_flight) {
  static const uint32_t values[] = {0x01, 0x23, 0x45, 0x67,
                                    0x89, 0xab, 0xcd, 0xef};
  mtl_pipeline *push = new_pipeline(kernels, "push");
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(COUNT * 8);
  mtl_command_buffer *all[COUNT_OF(values)];
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    all[i] = encode_bits(queue, push, data, 0, values[i], 8);
    CHECK_OK(mtl_command_buffer_commit(all[i]));
  }
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    CHECK_OK(mtl_command_buffer_wait(all[i]));
    const mtl_command_buffer_times times = mtl_command_buffer_get_times(all[i]);
    CHECK(times.device_start_ns > 0);
    CHECK(times.device_start_ns <= times.device_end_ns);
  }
  check_longs(data, 0, UINT64_C(0x0123456789abcdef));
}

TEST(repeats, sizes_are_this_times) {
  static const uint32_t sizes[][2] = {{256, 64}, {256, 64}, {256, 64},
                                      {256, 64}, {100, 64}, {100, 32},
                                      {256, 32}, {100, 64}, {256, 64}};
  mtl_pipeline *note = new_pipeline(kernels, "note");
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(2 * COUNT * 4);
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    mtl_command_buffer *commands = new_commands(queue);
    for (int k = 0; k < 10; k++) {
      encode(commands, note, data, size_of(sizes[i][0], 1, 1),
             size_of(sizes[i][1], 1, 1));
    }
    finish(commands);
    CHECK_EQUAL(words(data)[COUNT], sizes[i][1]);
  }
  check_words(data, 0, 100, 90);
  check_words(data, 100, 156, 60);
}

TEST(repeats, order_is_this_times) {
  mtl_library *library = new_library(kernels);
  mtl_pipeline *twice = new_pipeline_from(library, "twice");
  mtl_pipeline *one = new_pipeline_from(library, "one");
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(COUNT * 4);
  static const char order[] = "aaaabbbbabab";
  for (const char *at = order; *at; at++) {
    memset(words(data), 0, COUNT * 4);
    mtl_command_buffer *commands = new_commands(queue);
    mtl_compute_encoder *encoder = new_encoder(commands);
    mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
    for (int i = 0; i < 5; i++) {
      dispatch(encoder, *at == 'a' ? twice : one, 1);
      dispatch(encoder, *at == 'a' ? one : twice, 1);
    }
    end(encoder);
    finish(commands);
    check_words(data, 0, COUNT, *at == 'a' ? 31 : 62);
  }
}

// A new pipeline may lie where one was that is gone.
TEST(repeats, kernels_of_released_pipelines_are_gone) {
  static const struct {
    const char *name;
    uint32_t expected;
  } cycles[] = {{"one", 10}, {"two", 20}, {"four", 40}, {"one", 10}};
  mtl_library *library = new_library(kernels);
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(COUNT * 4);
  for (size_t i = 0; i < COUNT_OF(cycles); i++) {
    mtl_function *function = NULL;
    CHECK_OK(mtl_function_create(library, cycles[i].name, NULL, &function));
    mtl_pipeline *pipeline = NULL;
    CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
    mtl_function_release(function);
    for (int round = 0; round < 4; round++) {
      memset(words(data), 0, COUNT * 4);
      mtl_command_buffer *commands = NULL;
      CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
      mtl_compute_encoder *encoder = NULL;
      CHECK_OK(
          mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
      mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
      dispatch(encoder, pipeline, 10);
      end(encoder);
      mtl_compute_encoder_release(encoder);
      finish(commands);
      mtl_command_buffer_release(commands);
      check_words(data, 0, COUNT, cycles[i].expected);
    }
    mtl_pipeline_release(pipeline);
  }
}

TEST(repeats, indirect_counts_and_fills_between_are_this_times) {
  static const uint32_t counts[] = {8, 0, 1, 2, 8, 1};
  mtl_pipeline *one = new_pipeline(kernels, "one");
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_buffer *count = new_buffer(3 * 4);
  words(count)[1] = words(count)[2] = 1;
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    words(count)[0] = counts[i];
    mtl_command_buffer *commands = new_commands(queue);
    mtl_compute_encoder *encoder = new_encoder(commands);
    mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
    dispatch(encoder, one, 9);
    end(encoder);
    mtl_blit_encoder *blit = new_blit(commands);
    mtl_blit_encoder_fill(blit, data, 0, COUNT * 4, 0);
    end_blit(blit);
    encoder = new_encoder(commands);
    mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
    dispatch(encoder, one, 8);
    mtl_compute_encoder_dispatch_threadgroups_indirect(encoder, count, 0,
                                                       size_of(32, 1, 1));
    dispatch(encoder, one, 12);
    end(encoder);
    finish(commands);
    check_words(data, 0, 32 * counts[i], 21);
    check_words(data, 32 * counts[i], COUNT - 32 * counts[i], 20);
  }
}

static void release_indirect(void *commands) {
  mtl_indirect_command_buffer_release(commands);
}

static void record(mtl_indirect_command_buffer *list, uint32_t index,
                   mtl_pipeline *pipeline, mtl_buffer *data) {
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(list, index, pipeline));
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(list, index, data, 0, 0));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      list, index, size_of(COUNT, 1, 1), size_of(64, 1, 1)));
}

TEST(repeats, indirect_commands_are_this_times) {
  mtl_library *library = new_library(kernels);
  mtl_pipeline *one = new_pipeline_from(library, "one");
  mtl_pipeline *four = new_pipeline_from(library, "four");
  mtl_queue *queue = new_queue();
  mtl_buffer *data[] = {new_buffer(COUNT * 4), new_buffer(COUNT * 4)};
  mtl_indirect_command_buffer *list = NULL;
  CHECK_OK(mtl_indirect_command_buffer_create(
      the_device(), &(mtl_indirect_command_buffer_desc){.max_commands = 10},
      &list));
  test_defer(release_indirect, list);
  for (uint32_t i = 0; i < 10; i++) {
    record(list, i, one, data[0]);
  }
  for (int round = 0; round < 8; round++) {
    if (round == 4) {
      record(list, 5, one, data[1]);
    } else if (round == 6) {
      record(list, 9, four, data[1]);
    }
    mtl_command_buffer *commands = new_commands(queue);
    mtl_compute_encoder *encoder = new_encoder(commands);
    mtl_compute_encoder_use_buffers(encoder, data, 2,
                                    MTL_USAGE_READ | MTL_USAGE_WRITE);
    mtl_compute_encoder_execute_commands(encoder, list, 0, 10);
    end(encoder);
    finish(commands);
  }
  check_words(data[0], 0, COUNT, 4 * 10 + 2 * 9 + 2 * 8);
  check_words(data[1], 0, COUNT, 2 * 1 + 2 * (1 + 4));
}
