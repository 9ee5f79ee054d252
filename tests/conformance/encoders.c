// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoders.c: bindings, and recording calls that are wrong.
#include "conformance.h"

#include <string.h>

static const char binding_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Params { uint first; uint second; };\n"
    "kernel void gather(device const uint *in [[buffer(0)]],\n"
    "                   device uint *out [[buffer(1)]],\n"
    "                   constant Params &params [[buffer(2)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = in[i] * params.first + params.second;\n"
    "}\n"
    "kernel void use_scratch(device uint *out [[buffer(0)]],\n"
    "                        threadgroup uint *scratch [[threadgroup(3)]]) {\n"
    "  scratch[0] = 1;\n"
    "  out[0] = scratch[0];\n"
    "}\n"
    "kernel void vectors(device float4 *data [[buffer(0)]]) {\n"
    "  data[0] = data[0] + 1.0f;\n"
    "}\n"
    "kernel void last_slot(device uint *out [[buffer(30)]]) {\n"
    "  out[0] = 30;\n"
    "}\n";

typedef struct recording {
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
} recording;

static recording record(const char *kernel) {
  recording it;
  it.commands = new_commands(new_queue());
  it.encoder = new_encoder(it.commands);
  mtl_compute_encoder_set_pipeline(it.encoder,
                                   new_pipeline(binding_kernels, kernel));
  return it;
}

static void dispatch_one(recording it) {
  mtl_compute_encoder_dispatch_threads(it.encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
}

// The recording must be refused, by end and by commit alike.
static void check_refused(recording it, const char *part) {
  CHECK_ERROR(mtl_compute_encoder_end(it.encoder), MTL_INVALID_ARGUMENT, part);
  CHECK_ERROR(mtl_command_buffer_commit(it.commands), MTL_INVALID_ARGUMENT,
              part);
  CHECK_EQUAL(mtl_command_buffer_get_status(it.commands),
              MTL_COMMAND_BUFFER_ERROR);
  const char *text = NULL;
  CHECK_EQUAL(mtl_command_buffer_error(it.commands, &text),
              MTL_INVALID_ARGUMENT);
  CHECK_CONTAINS(text, part);
}

TEST(encoders, buffers_bytes_and_offsets_are_bound) {
  uint32_t in[6] = {0, 0, 1, 2, 3, 4};
  mtl_buffer *out = new_buffer(32);
  recording it = record("gather");
  mtl_compute_encoder_set_buffer(it.encoder, BUFFER_OF(in), 8, 0);
  mtl_compute_encoder_set_buffer(it.encoder, out, 4, 1);
  uint32_t params[2] = {10, 5};
  mtl_compute_encoder_set_bytes(it.encoder, params, sizeof params, 2);
  params[0] = 0;  // a copy was taken
  mtl_compute_encoder_dispatch_threads(it.encoder, size_of(4, 1, 1),
                                       size_of(4, 1, 1));
  end(it.encoder);
  finish(it.commands);
  const uint32_t expected[8] = {0, 15, 25, 35, 45, 0, 0, 0};
  CHECK(memcmp(words(out), expected, sizeof expected) == 0);
}

TEST(encoders, bindings_stay_between_dispatches_and_can_change) {
  uint32_t in[1] = {7};
  mtl_buffer *out = new_buffer(12);
  recording it = record("gather");
  mtl_compute_encoder_set_buffer(it.encoder, BUFFER_OF(in), 0, 0);
  for (uint32_t i = 0; i < 3; i++) {
    mtl_compute_encoder_set_buffer(it.encoder, out, i * 4, 1);
    const uint32_t params[2] = {i, 100};
    mtl_compute_encoder_set_bytes(it.encoder, params, sizeof params, 2);
    dispatch_one(it);
  }
  end(it.encoder);
  finish(it.commands);
  CHECK_EQUAL(words(out)[0], 100);
  CHECK_EQUAL(words(out)[1], 107);
  CHECK_EQUAL(words(out)[2], 114);
}

TEST(encoders, slot_30_is_there) {
  mtl_buffer *out = new_buffer(4);
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, out, 0, 30);
  dispatch_one(it);
  end(it.encoder);
  finish(it.commands);
  CHECK_EQUAL(words(out)[0], 30);
}

// Each thread adds one to what it reads and writes it one element on: where
// both arguments are one buffer, it reads what it has written.
#define STEPS(body)                                        \
  "#include <metal_stdlib>\n"                              \
  "using namespace metal;\n"                               \
  "kernel void steps(device const int *x [[buffer(0)]],\n" \
  "                  device int *y [[buffer(1)]],\n"       \
  "                  uint i [[thread_position_in_grid]]) {\n" body "}\n"
static const char loop_of_steps[] = STEPS(
    "  for (uint k = 0; k < 15; ++k) {\n"
    "    y[i * 16 + k + 1] = x[i * 16 + k] + 1;\n"
    "  }\n");
static const char line_of_steps[] = STEPS(
    "  y[i * 4 + 1] = x[i * 4] + 1;\n"
    "  y[i * 4 + 2] = x[i * 4 + 1] + 1;\n"
    "  y[i * 4 + 3] = x[i * 4 + 2] + 1;\n");

static void check_steps(const char *source, uint32_t length) {
  enum { ROWS = 64 };
  mtl_pipeline *pipeline = new_pipeline(source, "steps");
  mtl_buffer *one = new_buffer(4 * ROWS * length);
  mtl_buffer *other = new_buffer(4 * ROWS * length);
  for (uint32_t i = 0; i < ROWS * length; i++) {
    words(one)[i] = i % length ? 0 : 100 * i;
  }
  RUN(pipeline, size_of(ROWS, 1, 1), size_of(32, 1, 1), one, other);
  for (uint32_t i = 0; i < ROWS * length; i++) {
    const uint32_t k = i % length;
    CHECK_EQUAL(words(other)[i], k == 0 ? 0 : k == 1 ? 100 * (i - k) + 1 : 1);
  }
  RUN(pipeline, size_of(ROWS, 1, 1), size_of(32, 1, 1), one, one);
  for (uint32_t i = 0; i < ROWS * length; i++) {
    CHECK_EQUAL(words(one)[i], 100 * (i - i % length) + i % length);
  }
}

TEST(encoders, one_buffer_is_two_arguments) {
  check_steps(loop_of_steps, 16);
  check_steps(line_of_steps, 4);
}

TEST(encoders, encoder_without_work_is_fine) {
  mtl_command_buffer *commands = new_commands(new_queue());
  end(new_encoder(commands));
  finish(commands);
}

TEST(encoders, debug_groups_nest) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_push_debug_group(encoder, "outer");
  mtl_compute_encoder_push_debug_group(encoder, "inner");
  mtl_compute_encoder_pop_debug_group(encoder);
  mtl_compute_encoder_pop_debug_group(encoder);
  end(encoder);
  finish(commands);
}

TEST(encoders, missing_pipeline_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  const recording it = {commands, new_encoder(commands)};
  dispatch_one(it);
  check_refused(it, "pipeline");
}

TEST(encoders, missing_buffer_is_refused_by_name_and_index) {
  uint32_t in[1] = {1};
  recording it = record("gather");
  mtl_compute_encoder_set_buffer(it.encoder, BUFFER_OF(in), 0, 0);
  mtl_compute_encoder_set_bytes(it.encoder, in, 4, 2);
  dispatch_one(it);
  CHECK_ERROR(mtl_compute_encoder_end(it.encoder), MTL_INVALID_ARGUMENT, "out");
  CHECK_CONTAINS(mtl_last_error(), "1");
  CHECK_CONTAINS(mtl_last_error(), "gather");
}

TEST(encoders, unbound_buffer_is_missing_again) {
  mtl_buffer *out = new_buffer(4);
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, out, 0, 30);
  mtl_compute_encoder_set_buffer(it.encoder, NULL, 0, 30);
  dispatch_one(it);
  check_refused(it, "out");
}

// It is a fault where the kernel uses that memory: threadgroups.c.
TEST(encoders, missing_threadgroup_memory_is_recorded) {
  recording it = record("use_scratch");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(4), 0, 0);
  dispatch_one(it);
  end(it.encoder);
}

TEST(encoders, reference_behind_the_end_is_refused) {
  uint32_t in[1] = {1};
  recording it = record("gather");
  mtl_compute_encoder_set_buffer(it.encoder, BUFFER_OF(in), 0, 0);
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(4), 0, 1);
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(12), 8, 2);
  dispatch_one(it);
  check_refused(it, "params");
}

TEST(encoders, bytes_shorter_than_a_reference_are_refused) {
  uint32_t in[1] = {1};
  recording it = record("gather");
  mtl_compute_encoder_set_buffer(it.encoder, BUFFER_OF(in), 0, 0);
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(4), 0, 1);
  mtl_compute_encoder_set_bytes(it.encoder, in, 4, 2);
  dispatch_one(it);
  check_refused(it, "params");
}

TEST(encoders, offset_behind_the_end_is_refused) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 68, 30);
  check_refused(it, "68");
}

TEST(encoders, offset_between_elements_is_refused) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 6, 30);
  dispatch_one(it);
  check_refused(it, "offset 6, not a multiple of its alignment of 4");
}

TEST(encoders, offset_below_the_arguments_alignment_is_refused) {
  recording it = record("vectors");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 8, 0);
  dispatch_one(it);
  check_refused(it, "16");
}

TEST(encoders, index_over_30_is_refused) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 0, 31);
  check_refused(it, "31");
}

TEST(encoders, bytes_over_4096_are_refused) {
  static const char bytes[5000];
  recording it = record("last_slot");
  mtl_compute_encoder_set_bytes(it.encoder, bytes, 4097, 0);
  check_refused(it, "4097");
}

TEST(encoders, bytes_of_4096_are_accepted) {
  static const uint32_t bytes[1024] = {[1023] = 5};
  const char *source =
      "kernel void k(constant uint *bytes [[buffer(0)]],\n"
      "              device uint *out [[buffer(1)]]) {\n"
      "  out[0] = bytes[1023];\n"
      "}\n";
  mtl_buffer *out = new_buffer(4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, new_pipeline(source, "k"));
  mtl_compute_encoder_set_bytes(encoder, bytes, sizeof bytes, 0);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(out)[0], 5);
}

TEST(encoders, empty_bytes_are_refused) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_bytes(it.encoder, "", 0, 3);
  check_refused(it, "0 bytes");
}

TEST(encoders, threadgroup_memory_off_16_is_refused) {
  recording it = record("use_scratch");
  mtl_compute_encoder_set_threadgroup_memory(it.encoder, 20, 3);
  check_refused(it, "20");
}

TEST(encoders, threadgroup_memory_over_the_limit_is_refused) {
  recording it = record("use_scratch");
  const size_t too_much = the_info()->max_threadgroup_memory_bytes + 16;
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(4), 0, 0);
  mtl_compute_encoder_set_threadgroup_memory(it.encoder, too_much, 3);
  dispatch_one(it);
  check_refused(it, "threadgroup memory");
}

static void check_group_refused(mtl_size group, const char *part) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 0, 30);
  mtl_compute_encoder_dispatch_threads(it.encoder, size_of(64, 64, 64), group);
  check_refused(it, part);
}

TEST(encoders, group_over_the_limit_is_refused_with_the_numbers) {
  check_group_refused(size_of(1024, 2, 1), "2048");
  check_group_refused(size_of(32, 32, 32), "32768");
}

TEST(encoders, group_that_overflows_is_refused) {
  check_group_refused(size_of(65536, 65536, 1), "65536");
  check_group_refused(size_of(UINT32_MAX, UINT32_MAX, UINT32_MAX),
                      "4294967295");
}

TEST(encoders, empty_group_is_refused) {
  check_group_refused(size_of(0, 1, 1), "group");
  check_group_refused(size_of(8, 0, 1), "group");
}

TEST(encoders, group_over_the_pipelines_limit_is_refused) {
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(
      new_function(new_library(binding_kernels), "last_slot"),
      &(mtl_pipeline_desc){.max_total_threads_per_threadgroup = 64},
      &pipeline));
  release_pipeline_later(pipeline);
  mtl_command_buffer *commands = new_commands(new_queue());
  const recording it = {commands, new_encoder(commands)};
  mtl_compute_encoder_set_pipeline(it.encoder, pipeline);
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 0, 30);
  mtl_compute_encoder_dispatch_threads(it.encoder, size_of(65, 1, 1),
                                       size_of(65, 1, 1));
  check_refused(it, "64");
}

TEST(encoders, indirect_range_is_checked) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 0, 30);
  mtl_compute_encoder_dispatch_threadgroups_indirect(it.encoder, new_buffer(16),
                                                     8, size_of(1, 1, 1));
  check_refused(it, "8");
}

TEST(encoders, indirect_offset_that_is_no_multiple_of_4_is_refused) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 0, 30);
  mtl_compute_encoder_dispatch_threadgroups_indirect(it.encoder, new_buffer(64),
                                                     2, size_of(1, 1, 1));
  check_refused(it, "2");
}

TEST(encoders, only_the_first_error_is_kept) {
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 68, 30);
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 0, 99);
  check_refused(it, "68");
}

TEST(encoders, nothing_runs_after_an_error) {
  uint32_t start[1] = {5};
  mtl_buffer *data = BUFFER_OF(start);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  mtl_compute_encoder_set_buffer(encoder, data, 0, 31);
  CHECK(mtl_compute_encoder_end(encoder) != MTL_OK);
  CHECK(mtl_command_buffer_commit(commands) != MTL_OK);
  CHECK_EQUAL(words(data)[0], 5);
}

TEST(encoders, second_open_encoder_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *first = new_encoder(commands);
  mtl_compute_encoder *second = (mtl_compute_encoder *)1;
  CHECK_ERROR(
      mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &second),
      MTL_INVALID_STATE, "open");
  CHECK(second == NULL);
  mtl_blit_encoder *blit = (mtl_blit_encoder *)1;
  CHECK_ERROR(mtl_blit_encoder_create(commands, &blit), MTL_INVALID_STATE,
              "open");
  end(first);
}

TEST(encoders, encoder_after_commit_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  finish(commands);
  mtl_compute_encoder *encoder = (mtl_compute_encoder *)1;
  CHECK_ERROR(
      mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder),
      MTL_INVALID_STATE, "commit");
  CHECK(encoder == NULL);
}

TEST(encoders, commit_with_an_open_encoder_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_STATE,
              "encoder");
  end(encoder);
  finish(commands);
}

TEST(encoders, releasing_an_open_encoder_ends_it) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = NULL;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_release(encoder);
  mtl_blit_encoder *blit = NULL;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_blit_encoder_release(blit);
  finish(commands);
}

TEST(encoders, ending_twice_is_an_error_and_harmless) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  end(encoder);
  CHECK_EQUAL(mtl_compute_encoder_end(encoder), MTL_INVALID_STATE);
}

// Recording after the end cannot be told by its own call: it becomes the
// command buffer's error.
TEST(encoders, recording_after_the_end_is_an_error) {
  recording it = record("last_slot");
  end(it.encoder);
  mtl_compute_encoder_set_buffer(it.encoder, new_buffer(64), 0, 30);
  CHECK_EQUAL(mtl_command_buffer_commit(it.commands), MTL_INVALID_STATE);
}

TEST(encoders, buffer_of_another_device_is_refused) {
  mtl_device *other = NULL;
  const bool on_null = strcmp(the_info()->name, "null") == 0;
  CHECK_OK(mtl_device_by_name(on_null ? "cpu" : "null", &other));
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(other, &(mtl_buffer_desc){.length_bytes = 64},
                             &buffer));
  mtl_device_release(other);
  release_buffer_later(buffer);
  recording it = record("last_slot");
  mtl_compute_encoder_set_buffer(it.encoder, buffer, 0, 30);
  check_refused(it, "device");
}

// A kernel follows an address in one buffer to another buffer.
TEST(encoders, used_buffer_is_reached_through_its_address) {
  const char *source =
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "struct Link { device uint *target; };\n"
      "kernel void follow(device const Link *link [[buffer(0)]]) {\n"
      "  link[0].target[1] = 4242;\n"
      "}\n";
  mtl_buffer *target = new_buffer(16);
  uint64_t link = mtl_buffer_gpu_address(target);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, new_pipeline(source, "follow"));
  mtl_compute_encoder_set_buffer(encoder, new_buffer_with(&link, sizeof link),
                                 0, 0);
  mtl_compute_encoder_use_buffer(encoder, target,
                                 MTL_USAGE_READ | MTL_USAGE_WRITE);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(target)[1], 4242);
}

TEST(encoders, used_arrays_are_checked) {
  mtl_buffer *buffers[] = {new_buffer(4), NULL};
  mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_use_buffers(encoder, buffers, 2, MTL_USAGE_READ);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "a buffer is NULL");
  encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_use_textures(encoder, NULL, 3, MTL_USAGE_READ);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "the array of 3 is NULL");
  encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_use_buffers(encoder, NULL, 0, MTL_USAGE_READ);
  mtl_compute_encoder_use_buffers(encoder, buffers, 1, MTL_USAGE_WRITE);
  end(encoder);
}

TEST(encoders, unused_arguments_need_not_be_bound) {
  mtl_library *library = new_library(OPTIONAL_ARGUMENTS);
  mtl_pipeline *plain = new_pipeline_from(library, "plain");
  mtl_buffer *data = BUFFER_OF(((uint32_t[]){5, 6, 7, 8}));
  RUN(plain, size_of(4, 1, 1), size_of(4, 1, 1), data);
  CHECK_EQUAL(words(data)[0], 10);
  CHECK_EQUAL(words(data)[3], 16);
  // Bound as well as used.
  mtl_buffer *more[] = {data, NULL, NULL, data, data};
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, plain);
  for (uint32_t i = 0; i < 5; i++) {
    mtl_compute_encoder_set_buffer(encoder, more[i], 0, i);
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(4, 1, 1),
                                       size_of(4, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(data)[1], 24);
}

TEST(encoders, used_arguments_must_be_bound) {
  mtl_library *library = new_library(OPTIONAL_ARGUMENTS);
  mtl_pipeline *full = new_pipeline_from(library, "full");
  static const char *const told[] = {"'data' [[buffer(0)]]",
                                     "'bias' [[buffer(3)]]",
                                     "'by' [[buffer(4)]]",
                                     "'image' [[texture(1)]]"};
  static const uint32_t bound[] = {0, 3, 4};
  for (uint32_t i = 0; i < 4; i++) {
    mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
    mtl_compute_encoder_set_pipeline(encoder, full);
    for (uint32_t n = 0; n < i; n++) {
      mtl_compute_encoder_set_buffer(encoder, new_buffer(64), 0, bound[n]);
    }
    mtl_compute_encoder_dispatch_threads(encoder, size_of(4, 1, 1),
                                         size_of(4, 1, 1));
    CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
                told[i]);
  }
}
