// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.c: dispatches that are recorded once and executed often.
#include "conformance.h"

#include <pthread.h>
#include <string.h>

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    ADD_AND_TRIPLE
    "kernel void reverse(device uint *data [[buffer(0)]],\n"
    "                    threadgroup uint *scratch [[threadgroup(0)]],\n"
    "                    uint i [[thread_position_in_threadgroup]],\n"
    "                    uint n [[threads_per_threadgroup]]) {\n"
    "  scratch[i] = data[i];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  data[i] = scratch[n - 1 - i];\n"
    "}\n"
    "kernel void choose(device uint *range [[buffer(0)]]) {\n"
    "  range[1] = 2;\n"
    "  range[2] = 3;\n"
    "}\n"
    "kernel void sample(texture2d<float> image [[texture(0)]],\n"
    "                   device float *out [[buffer(0)]]) {\n"
    "  out[0] = image.read(uint2(0)).x;\n"
    "}\n";

enum { COUNT = 1024 };

static void release_indirect(void *commands) {
  mtl_indirect_command_buffer_release(commands);
}

static mtl_indirect_command_buffer *new_indirect_like(
    mtl_indirect_command_buffer_desc desc) {
  mtl_indirect_command_buffer *commands;
  CHECK_OK(mtl_indirect_command_buffer_create(the_device(), &desc, &commands));
  test_defer(release_indirect, commands);
  return commands;
}

static mtl_indirect_command_buffer *new_indirect(uint32_t max_commands) {
  return new_indirect_like(
      (mtl_indirect_command_buffer_desc){.max_commands = max_commands});
}

static mtl_buffer *new_number(uint32_t number) {
  return new_buffer_with(&number, sizeof number);
}

// Records pipeline over data [COUNT] and a number.
static void record(mtl_indirect_command_buffer *commands, uint32_t index,
                   mtl_pipeline *pipeline, mtl_buffer *data,
                   mtl_buffer *number) {
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(commands, index, pipeline));
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, index, data, 0, 0));
  CHECK_OK(
      mtl_indirect_command_buffer_set_buffer(commands, index, number, 0, 1));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, index, size_of(COUNT, 1, 1), size_of(32, 1, 1)));
}

static mtl_command_buffer *encode_execution(
    mtl_queue *queue, mtl_indirect_command_buffer *commands, uint32_t first,
    uint32_t count, mtl_buffer *const *used, size_t used_count) {
  mtl_command_buffer *outer = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(outer);
  mtl_compute_encoder_use_buffers(encoder, used, used_count,
                                  MTL_USAGE_READ | MTL_USAGE_WRITE);
  mtl_compute_encoder_execute_commands(encoder, commands, first, count);
  end(encoder);
  return outer;
}

// Executes with the resources that the commands use, and waits.
static void execute(mtl_indirect_command_buffer *commands, uint32_t first,
                    uint32_t count, mtl_buffer *const *used,
                    size_t used_count) {
  finish(
      encode_execution(new_queue(), commands, first, count, used, used_count));
}
#define EXECUTE(commands, first, count, ...)                     \
  execute(commands, first, count, (mtl_buffer *[]){__VA_ARGS__}, \
          sizeof((mtl_buffer *[]){__VA_ARGS__}) / sizeof(mtl_buffer *))

static void check_all(mtl_buffer *data, uint32_t expected) {
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(data)[i], expected);
  }
}

// --- what runs --------------------------------------------------------------

TEST(indirect, commands_run_as_they_were_recorded) {
  mtl_library *library = new_library(kernels);
  mtl_pipeline *add = new_pipeline_from(library, "add");
  mtl_pipeline *triple = new_pipeline_from(library, "triple");
  mtl_buffer *data = new_buffer(COUNT * 4), *other = new_buffer(COUNT * 4);
  mtl_buffer *two = new_number(2), *five = new_number(5);
  mtl_indirect_command_buffer *commands = new_indirect(4);
  CHECK_EQUAL(mtl_indirect_command_buffer_size(commands), 4);
  CHECK(mtl_indirect_command_buffer_device(commands) == the_device());
  record(commands, 0, add, data, two);
  record(commands, 1, add, other, five);
  record(commands, 2, triple, data, five);
  record(commands, 3, add, data, two);
  EXECUTE(commands, 0, 3, data, other, two, five);
  check_all(data, 2 * 3 + 5);
  check_all(other, 5);
  EXECUTE(commands, 2, 2, data, other, two, five);
  check_all(data, 11 * 3 + 5 + 2);
}

TEST(indirect, offsets_and_both_kinds_of_grids) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(64 * 4);
  mtl_buffer *numbers = BUFFER_OF(((uint32_t[]){7, 0, 0, 0, 30}));
  mtl_indirect_command_buffer *commands = new_indirect(2);
  for (uint32_t i = 0; i < 2; i++) {
    CHECK_OK(mtl_indirect_command_buffer_set_pipeline(commands, i, add));
    CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, i, data,
                                                    i * 32 * 4, 0));
    CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, i, numbers,
                                                    i * 16, 1));
  }
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, 0, size_of(10, 1, 1), size_of(4, 1, 1)));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threadgroups(
      commands, 1, size_of(3, 1, 1), size_of(4, 1, 1)));
  EXECUTE(commands, 0, 2, data, numbers);
  for (uint32_t i = 0; i < 64; i++) {
    CHECK_EQUAL(words(data)[i], i < 10 ? 7 : i >= 32 && i < 44 ? 30 : 0);
  }
}

TEST(indirect, threadgroup_memory_has_its_length) {
  mtl_pipeline *reverse = new_pipeline(kernels, "reverse");
  mtl_buffer *data = BUFFER_OF(((uint32_t[]){1, 2, 3, 4, 5, 6, 7, 8}));
  mtl_indirect_command_buffer *commands = new_indirect(1);
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(commands, 0, reverse));
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, 0, data, 0, 0));
  CHECK_OK(
      mtl_indirect_command_buffer_set_threadgroup_memory(commands, 0, 32, 0));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threadgroups(
      commands, 0, size_of(1, 1, 1), size_of(8, 1, 1)));
  EXECUTE(commands, 0, 1, data);
  for (uint32_t i = 0; i < 8; i++) {
    CHECK_EQUAL(words(data)[i], 8 - i);
  }
}

TEST(indirect, empty_and_reset_commands_do_nothing) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(COUNT * 4), *one = new_number(1);
  mtl_indirect_command_buffer *commands = new_indirect(8);
  record(commands, 1, add, data, one);
  record(commands, 2, add, data, one);
  record(commands, 3, add, data, one);
  record(commands, 4, add, data, one);
  // An empty grid with an empty group, as programs send to have a pipeline
  // used.
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(commands, 6, add));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threadgroups(
      commands, 6, size_of(0, 0, 0), size_of(0, 0, 0)));
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(commands, 7, add));
  CHECK_OK(mtl_indirect_command_buffer_reset(commands, 2, 2));
  EXECUTE(commands, 0, 8, data, one);
  check_all(data, 2);
  CHECK_OK(mtl_indirect_command_buffer_reset(commands, 0, 8));
  EXECUTE(commands, 0, 8, data, one);
  EXECUTE(commands, 8, 0, data, one);
  check_all(data, 2);
}

TEST(indirect, buffers_and_pipeline_are_inherited) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_indirect_command_buffer *commands = new_indirect_like((
      mtl_indirect_command_buffer_desc){
      .max_commands = 2, .inherit_buffers = true, .inherit_pipeline = true});
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, 0, size_of(COUNT, 1, 1), size_of(32, 1, 1)));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, 1, size_of(COUNT, 1, 1), size_of(64, 1, 1)));
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  mtl_compute_encoder_set_pipeline(encoder, add);
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  for (uint32_t amount = 1; amount <= 100; amount *= 10) {
    mtl_compute_encoder_set_bytes(encoder, &amount, sizeof amount, 1);
    mtl_compute_encoder_execute_commands(encoder, commands, 0, 2);
  }
  end(encoder);
  finish(outer);
  check_all(data, 222);
}

TEST(indirect, encoders_own_state_stays) {
  mtl_library *library = new_library(kernels);
  mtl_pipeline *add = new_pipeline_from(library, "add");
  mtl_pipeline *triple = new_pipeline_from(library, "triple");
  mtl_buffer *data = new_buffer(COUNT * 4), *other = new_buffer(COUNT * 4);
  mtl_buffer *two = new_number(2), *five = new_number(5);
  mtl_indirect_command_buffer *commands = new_indirect(1);
  record(commands, 0, triple, other, five);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  mtl_compute_encoder_set_pipeline(encoder, add);
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, two, 0, 1);
  mtl_compute_encoder_use_buffer(encoder, other, MTL_USAGE_WRITE);
  mtl_compute_encoder_use_buffer(encoder, five, MTL_USAGE_READ);
  mtl_compute_encoder_execute_commands(encoder, commands, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
  finish(outer);
  check_all(data, 2);
  check_all(other, 5);
}

TEST(indirect, range_is_read_from_a_buffer_when_it_runs) {
  mtl_library *library = new_library(kernels);
  mtl_pipeline *add = new_pipeline_from(library, "add");
  mtl_pipeline *choose = new_pipeline_from(library, "choose");
  mtl_buffer *data = new_buffer(COUNT * 4), *range = new_buffer(16);
  mtl_indirect_command_buffer *commands = new_indirect(6);
  mtl_buffer *numbers[6];
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  for (uint32_t i = 0, number = 1; i < 6; i++, number *= 10) {
    numbers[i] = new_number(number);
    record(commands, i, add, data, numbers[i]);
    mtl_compute_encoder_use_buffer(encoder, numbers[i], MTL_USAGE_READ);
  }
  mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
  mtl_compute_encoder_set_pipeline(encoder, choose);
  mtl_compute_encoder_set_buffer(encoder, range, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  mtl_compute_encoder_execute_commands_indirect(encoder, commands, range, 4);
  end(encoder);
  finish(outer);
  check_all(data, 11100);
}

// --- when it is read --------------------------------------------------------

TEST(indirect, edits_count_until_the_commands_run) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(COUNT * 4), *other = new_buffer(COUNT * 4);
  mtl_buffer *one = new_number(1), *ten = new_number(10);
  mtl_indirect_command_buffer *commands = new_indirect(2);
  record(commands, 0, add, data, one);
  mtl_event *event = new_event();
  mtl_queue *queue = new_queue();
  mtl_command_buffer *outer = new_commands(queue);
  mtl_command_buffer_wait_event(outer, event, 1);
  mtl_compute_encoder *encoder = new_encoder(outer);
  mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
  mtl_compute_encoder_use_buffer(encoder, other, MTL_USAGE_WRITE);
  mtl_compute_encoder_use_buffer(encoder, one, MTL_USAGE_READ);
  mtl_compute_encoder_use_buffer(encoder, ten, MTL_USAGE_READ);
  mtl_compute_encoder_execute_commands(encoder, commands, 0, 2);
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(outer));
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, 0, ten, 0, 1));
  record(commands, 1, add, other, one);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(outer));
  check_all(data, 10);
  check_all(other, 1);
}

TEST(indirect, edits_between_replays_count) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(COUNT * 4), *one = new_number(1);
  mtl_indirect_command_buffer *commands = new_indirect(1);
  record(commands, 0, add, data, one);
  mtl_queue *queue = new_queue();
  for (uint32_t i = 1; i <= 8; i++) {
    CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
        commands, 0, size_of(i * 100, 1, 1), size_of(32, 1, 1)));
    finish(encode_execution(queue, commands, 0, 1, (mtl_buffer *[]){data, one},
                            2));
  }
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(data)[i], i < 800 ? 8 - i / 100 : 0);
  }
}

TEST(indirect, blits_copy_and_reset_when_they_run) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_buffer *one = new_number(1), *ten = new_number(10);
  mtl_indirect_command_buffer *source = new_indirect(3);
  mtl_indirect_command_buffer *target = new_indirect(5);
  record(source, 1, add, data, one);
  record(source, 2, add, data, ten);
  for (uint32_t i = 0; i < 5; i++) {
    record(target, i, add, data, one);
  }
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(outer);
  mtl_blit_encoder_copy_commands(blit, source, 1, target, 3, 2);
  mtl_blit_encoder_copy_commands(blit, target, 4, target, 0, 1);
  mtl_blit_encoder_reset_commands(blit, target, 1, 2);
  mtl_blit_encoder_reset_commands(blit, source, 0, 3);
  mtl_blit_encoder_optimize_commands(blit, target, 0, 5);
  end_blit(blit);
  mtl_compute_encoder *encoder = new_encoder(outer);
  mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
  mtl_compute_encoder_use_buffer(encoder, one, MTL_USAGE_READ);
  mtl_compute_encoder_use_buffer(encoder, ten, MTL_USAGE_READ);
  mtl_compute_encoder_execute_commands(encoder, source, 0, 3);
  mtl_compute_encoder_execute_commands(encoder, target, 0, 5);
  end(encoder);
  finish(outer);
  check_all(data, 21);  // 10 at 0, 1 at 3, 10 at 4
}

TEST(indirect, one_is_executed_often_and_at_once) {
  enum { QUEUES = 4, TIMES = 25 };
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *one = new_number(1);
  mtl_buffer *data[QUEUES];
  mtl_indirect_command_buffer *commands = new_indirect(QUEUES);
  mtl_queue *queues[QUEUES];
  mtl_command_buffer *last[QUEUES];
  for (uint32_t q = 0; q < QUEUES; q++) {
    queues[q] = new_queue();
    data[q] = new_buffer(COUNT * 4);
    record(commands, q, add, data[q], one);
  }
  for (int i = 0; i < TIMES; i++) {
    for (uint32_t q = 0; q < QUEUES; q++) {
      last[q] = encode_execution(queues[q], commands, q, 1,
                                 (mtl_buffer *[]){data[q], one}, 2);
      CHECK_OK(mtl_command_buffer_commit(last[q]));
    }
  }
  for (uint32_t q = 0; q < QUEUES; q++) {
    CHECK_OK(mtl_command_buffer_wait(last[q]));
    check_all(data[q], TIMES);
  }
}

static void *edit_often(void *context) {
  mtl_indirect_command_buffer *commands = context;
  for (uint32_t i = 0; i < 2000; i++) {
    CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
        commands, 0, size_of(i % 2 ? 16 : COUNT, 1, 1), size_of(16, 1, 1)));
    CHECK_OK(mtl_indirect_command_buffer_set_barrier(commands, 0, i % 2));
  }
  return NULL;
}

TEST(indirect, edits_from_another_thread_are_whole) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(COUNT * 4), *one = new_number(1);
  mtl_indirect_command_buffer *commands = new_indirect(1);
  record(commands, 0, add, data, one);
  pthread_t editor;
  CHECK_EQUAL(pthread_create(&editor, NULL, edit_often, commands), 0);
  mtl_queue *queue = new_queue();
  for (int i = 0; i < 50; i++) {
    finish(encode_execution(queue, commands, 0, 1, (mtl_buffer *[]){data, one},
                            2));
  }
  pthread_join(editor, NULL);
  for (uint32_t i = 0; i < 16; i++) {
    CHECK_EQUAL(words(data)[i], 50);
  }
  for (uint32_t i = 17; i < COUNT; i++) {
    CHECK_EQUAL(words(data)[i], words(data)[16]);
  }
}

// --- order ------------------------------------------------------------------

enum { STEPS = 20 };

static uint32_t after_steps(void) {
  uint32_t expected = 0;
  for (uint32_t i = 0; i < STEPS; i++) {
    expected = expected * 3 + i;
  }
  return expected;
}

static mtl_buffer *new_untracked(void) {
  return new_buffer_like((mtl_buffer_desc){
      .length_bytes = COUNT * 4, .hazard_tracking = MTL_HAZARD_UNTRACKED});
}

// Steps over data in two halves of one encoder.
static void run_steps(mtl_buffer *data, bool is_concurrent, bool has_barriers) {
  mtl_pipeline *triple = new_pipeline(kernels, "triple");
  mtl_indirect_command_buffer *commands = new_indirect(STEPS);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder =
      is_concurrent ? new_concurrent_encoder(outer) : new_encoder(outer);
  mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
  for (uint32_t i = 0; i < STEPS; i++) {
    mtl_buffer *number = new_number(i);
    record(commands, i, triple, data, number);
    CHECK_OK(
        mtl_indirect_command_buffer_set_barrier(commands, i, has_barriers));
    mtl_compute_encoder_use_buffer(encoder, number, MTL_USAGE_READ);
  }
  mtl_compute_encoder_execute_commands(encoder, commands, 0, STEPS / 2);
  mtl_compute_encoder_execute_commands(encoder, commands, STEPS / 2, STEPS / 2);
  end(encoder);
  finish(outer);
  check_all(data, after_steps());
}

TEST(indirect, barriers_order_commands) {
  run_steps(new_untracked(), true, true);
}

TEST(indirect, serial_encoders_order_commands) {
  run_steps(new_untracked(), false, false);
}

TEST(indirect, barriers_of_empty_commands_order_too) {
  mtl_library *library = new_library(kernels);
  mtl_pipeline *triple = new_pipeline_from(library, "triple");
  mtl_buffer *data = new_untracked();
  mtl_indirect_command_buffer *commands = new_indirect(2 * STEPS);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(outer);
  mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
  for (uint32_t i = 0; i < STEPS; i++) {
    mtl_buffer *number = new_number(i);
    CHECK_OK(mtl_indirect_command_buffer_set_barrier(commands, 2 * i, true));
    record(commands, 2 * i + 1, triple, data, number);
    mtl_compute_encoder_use_buffer(encoder, number, MTL_USAGE_READ);
  }
  mtl_compute_encoder_execute_commands(encoder, commands, 0, 2 * STEPS);
  end(encoder);
  finish(outer);
  check_all(data, after_steps());
}

// What use_buffer names is tracked, as if the execution were one dispatch.
TEST(indirect, used_buffers_are_tracked) {
  mtl_pipeline *triple = new_pipeline(kernels, "triple");
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_indirect_command_buffer *commands = new_indirect(STEPS);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(outer);
  mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
  for (uint32_t i = 0; i < STEPS; i++) {
    mtl_buffer *number = new_number(i);
    record(commands, i, triple, data, number);
    mtl_compute_encoder_use_buffer(encoder, number, MTL_USAGE_READ);
  }
  mtl_compute_encoder_set_pipeline(encoder, triple);
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  for (uint32_t i = 0; i < STEPS; i++) {
    if (i % 2) {
      mtl_compute_encoder_execute_commands(encoder, commands, i, 1);
    } else {
      mtl_compute_encoder_set_bytes(encoder, &i, sizeof i, 1);
      mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                           size_of(32, 1, 1));
    }
  }
  end(encoder);
  finish(outer);
  check_all(data, after_steps());
}

TEST(indirect, commands_without_barriers_all_run) {
  enum { BUFFERS = 12 };
  mtl_pipeline *triple = new_pipeline(kernels, "triple");
  mtl_buffer *data[BUFFERS + 1];
  mtl_indirect_command_buffer *commands = new_indirect(BUFFERS);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(outer);
  data[BUFFERS] = new_number(4);
  for (uint32_t i = 0; i < BUFFERS; i++) {
    data[i] = new_untracked();
    record(commands, i, triple, data[i], data[BUFFERS]);
    mtl_compute_encoder_use_buffer(encoder, data[i], MTL_USAGE_WRITE);
  }
  mtl_compute_encoder_use_buffer(encoder, data[BUFFERS], MTL_USAGE_READ);
  mtl_compute_encoder_execute_commands(encoder, commands, 0, BUFFERS);
  end(encoder);
  finish(outer);
  for (uint32_t i = 0; i < BUFFERS; i++) {
    check_all(data[i], 4);
  }
}

// --- lifetimes --------------------------------------------------------------

static void fail_with(mtl_indirect_command_buffer *commands, uint32_t count,
                      mtl_status status, const char *part) {
  mtl_command_buffer *outer =
      encode_execution(new_queue(), commands, 0, count, NULL, 0);
  CHECK_OK(mtl_command_buffer_commit(outer));
  CHECK_ERROR(mtl_command_buffer_wait(outer), status, part);
}

TEST(indirect, nothing_is_kept_by_commands) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_indirect_command_buffer *commands = new_indirect(2);
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_buffer *data;
  CHECK_OK(mtl_buffer_create(
      the_device(),
      &(mtl_buffer_desc){.length_bytes = COUNT * 4, .label = "gone"}, &data));
  record(commands, 0, add, data, data);
  mtl_buffer_release(data);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
}

TEST(indirect, released_buffers_are_told) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_indirect_command_buffer *commands = new_indirect_like(
      (mtl_indirect_command_buffer_desc){.max_commands = 2, .label = "graph"});
  mtl_buffer *one = new_number(1), *kept = new_buffer(COUNT * 4);
  mtl_buffer *data;
  CHECK_OK(mtl_buffer_create(
      the_device(),
      &(mtl_buffer_desc){.length_bytes = COUNT * 4, .label = "gone"}, &data));
  record(commands, 0, add, kept, one);
  record(commands, 1, add, data, one);
  EXECUTE(commands, 0, 2, data, kept, one);
  mtl_buffer_release(data);
  fail_with(commands, 2, MTL_KERNEL_FAULT,
            "command 1 of indirect command buffer 'graph': kernel 'add': "
            "buffer 'gone', bound to [[buffer(0)]], was released");
  // A new object in its place counts as new.
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, 1, kept, 0, 0));
  EXECUTE(commands, 0, 2, kept, one);
  check_all(kept, 3);
}

TEST(indirect, released_pipelines_are_told) {
  mtl_library *library = new_library(kernels);
  mtl_function *function = new_function(library, "add");
  mtl_indirect_command_buffer *commands = new_indirect(1);
  mtl_buffer *one = new_number(1), *data = new_buffer(COUNT * 4);
  mtl_pipeline *pipeline;
  CHECK_OK(mtl_pipeline_create(function, &(mtl_pipeline_desc){.label = "first"},
                               &pipeline));
  record(commands, 0, pipeline, data, one);
  EXECUTE(commands, 0, 1, data, one);
  mtl_pipeline_release(pipeline);
  fail_with(commands, 1, MTL_KERNEL_FAULT,
            "command 0 of indirect command buffer '': pipeline 'first' was "
            "released");
}

TEST(indirect, used_buffers_live_until_the_work_is_done) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_indirect_command_buffer *commands;
  CHECK_OK(mtl_indirect_command_buffer_create(
      the_device(), &(mtl_indirect_command_buffer_desc){.max_commands = 1},
      &commands));
  mtl_buffer *one = new_number(1), *sum = new_buffer(COUNT * 4);
  mtl_buffer *data;
  CHECK_OK(mtl_buffer_create(
      the_device(), &(mtl_buffer_desc){.length_bytes = COUNT * 4}, &data));
  record(commands, 0, add, data, one);
  mtl_event *event = new_event();
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_command_buffer_wait_event(outer, event, 1);
  mtl_compute_encoder *encoder = new_encoder(outer);
  mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
  mtl_compute_encoder_use_buffer(encoder, one, MTL_USAGE_READ);
  mtl_compute_encoder_execute_commands(encoder, commands, 0, 1);
  end(encoder);
  mtl_blit_encoder *blit = new_blit(outer);
  mtl_blit_encoder_copy(blit, data, 0, sum, 0, COUNT * 4);
  end_blit(blit);
  CHECK_OK(mtl_command_buffer_commit(outer));
  mtl_buffer_release(data);
  mtl_indirect_command_buffer_release(commands);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(outer));
  check_all(sum, 1);
}

// --- errors -----------------------------------------------------------------

TEST(indirect, what_cannot_be_made_is_told) {
  mtl_indirect_command_buffer *commands;
  mtl_device *device = the_device();
  CHECK_ERROR(mtl_indirect_command_buffer_create(
                  device, &(mtl_indirect_command_buffer_desc){0}, &commands),
              MTL_INVALID_ARGUMENT, "0 commands are not within 1 to 16384");
  CHECK_ERROR(
      mtl_indirect_command_buffer_create(
          device, &(mtl_indirect_command_buffer_desc){.max_commands = 16385},
          &commands),
      MTL_INVALID_ARGUMENT, "16385 commands");
  CHECK_ERROR(mtl_indirect_command_buffer_create(
                  device,
                  &(mtl_indirect_command_buffer_desc){.max_commands = 1,
                                                      .command_types = 1},
                  &commands),
              MTL_INVALID_ARGUMENT, "command types 0x1");
  CHECK_ERROR(mtl_indirect_command_buffer_create(
                  device,
                  &(mtl_indirect_command_buffer_desc){.max_commands = 1,
                                                      .max_buffers = 32},
                  &commands),
              MTL_INVALID_ARGUMENT, "32 buffers are more than 31");
  CHECK_ERROR(mtl_indirect_command_buffer_create(device, NULL, &commands),
              MTL_INVALID_ARGUMENT, "desc is NULL");
  mtl_indirect_command_buffer_release(NULL);
}

TEST(indirect, what_cannot_be_recorded_is_told) {
  mtl_buffer *data =
      new_buffer_like((mtl_buffer_desc){.length_bytes = 16, .label = "small"});
  mtl_indirect_command_buffer *commands =
      new_indirect_like((mtl_indirect_command_buffer_desc){
          .max_commands = 2,
          .max_buffers = 3,
          .max_threadgroup_memory = 1,
          .command_types = MTL_INDIRECT_DISPATCH_THREADS});
  CHECK_ERROR(mtl_indirect_command_buffer_set_buffer(commands, 2, data, 0, 0),
              MTL_INVALID_ARGUMENT, "1 commands from 2 on; there are 2");
  CHECK_ERROR(mtl_indirect_command_buffer_set_buffer(commands, 0, data, 0, 3),
              MTL_INVALID_ARGUMENT, "buffer index 3; the last one is 2");
  CHECK_ERROR(mtl_indirect_command_buffer_set_buffer(commands, 0, data, 16, 0),
              MTL_INVALID_ARGUMENT,
              "offset 16 is past the end of buffer 'small'");
  CHECK_ERROR(
      mtl_indirect_command_buffer_set_threadgroup_memory(commands, 0, 8, 0),
      MTL_INVALID_ARGUMENT, "not a multiple of 16");
  CHECK_ERROR(
      mtl_indirect_command_buffer_set_threadgroup_memory(commands, 0, 16, 1),
      MTL_INVALID_ARGUMENT, "index 1; the last one is 0");
  CHECK_ERROR(mtl_indirect_command_buffer_dispatch_threadgroups(
                  commands, 0, size_of(1, 1, 1), size_of(1, 1, 1)),
              MTL_INVALID_STATE, "command types 0x40 are without 0x20");
  CHECK_ERROR(mtl_indirect_command_buffer_reset(commands, 1, 2),
              MTL_INVALID_ARGUMENT, "2 commands from 1 on; there are 2");
  CHECK_ERROR(mtl_indirect_command_buffer_set_barrier(NULL, 0, true),
              MTL_INVALID_ARGUMENT, "commands is NULL");
  mtl_indirect_command_buffer *heir = new_indirect_like((
      mtl_indirect_command_buffer_desc){
      .max_commands = 1, .inherit_buffers = true, .inherit_pipeline = true});
  CHECK_ERROR(mtl_indirect_command_buffer_set_buffer(heir, 0, data, 0, 0),
              MTL_INVALID_STATE, "buffers are inherited");
  CHECK_ERROR(mtl_indirect_command_buffer_set_pipeline(heir, 0, NULL),
              MTL_INVALID_STATE, "the pipeline is inherited");
}

TEST(indirect, what_cannot_be_encoded_is_told) {
  mtl_indirect_command_buffer *commands = new_indirect(2);
  mtl_indirect_command_buffer *heir =
      new_indirect_like((mtl_indirect_command_buffer_desc){
          .max_commands = 2, .inherit_pipeline = true});
  mtl_buffer *range = new_buffer(8);
  mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_execute_commands(encoder, commands, 1, 2);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "2 commands from 1 on");
  encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_execute_commands(encoder, NULL, 0, 1);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "commands is NULL");
  encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_execute_commands(encoder, heir, 0, 1);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "inherit the pipeline, and none is set");
  encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_execute_commands_indirect(encoder, commands, range, 4);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "8 bytes at offset 4");
  mtl_blit_encoder *blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_copy_commands(blit, commands, 0, heir, 0, 1);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT,
              "do not inherit the same");
  blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_copy_commands(blit, commands, 0, commands, 0, 2);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT, "overlap");
  blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_reset_commands(blit, commands, 0, 3);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT,
              "3 commands from 0 on");
}

TEST(indirect, what_cannot_be_executed_is_told) {
  mtl_library *library = new_library(kernels);
  mtl_pipeline *add = new_pipeline_from(library, "add");
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_indirect_command_buffer *commands = new_indirect(1);
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, 0, size_of(1, 1, 1), size_of(1, 1, 1)));
  fail_with(commands, 1, MTL_INVALID_ARGUMENT, "no pipeline");
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(commands, 0, add));
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, 0, data, 0, 0));
  fail_with(commands, 1, MTL_INVALID_ARGUMENT,
            "argument 'amount' [[buffer(1)]] is not bound");
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, 0, data, 0, 1));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, 0, size_of(1, 1, 1), size_of(2048, 1, 1)));
  fail_with(commands, 1, MTL_INVALID_ARGUMENT, "2048x1x1");
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, 0, size_of(1, 1, 1), size_of(0, 1, 1)));
  fail_with(commands, 1, MTL_INVALID_ARGUMENT, "is empty");
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, 0, size_of(1, 1, 1), size_of(1, 1, 1)));
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(
      commands, 0, new_pipeline_from(library, "sample")));
  fail_with(commands, 1, MTL_INVALID_ARGUMENT,
            "argument 'image': indirect commands bind no textures");
}

TEST(indirect, range_that_is_too_long_is_an_error) {
  mtl_indirect_command_buffer *commands = new_indirect(3);
  mtl_buffer *range = BUFFER_OF(((uint32_t[]){2, 2}));
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  mtl_compute_encoder_execute_commands_indirect(encoder, commands, range, 0);
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(outer));
  CHECK_ERROR(mtl_command_buffer_wait(outer), MTL_INVALID_ARGUMENT,
              "2 commands from 2 on of indirect command buffer '', which has "
              "3");
}
