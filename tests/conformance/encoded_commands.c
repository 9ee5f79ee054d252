// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoded_commands.c: indirect commands that kernels encode.
#include <string.h>

#include "conformance.h"
#include "textures.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    ADD_AND_TRIPLE
    "kernel void reverse(device uint *data [[buffer(0)]],\n"
    "                    threadgroup uint *scratch [[threadgroup(1)]],\n"
    "                    uint i [[thread_position_in_threadgroup]],\n"
    "                    uint n [[threads_per_threadgroup]]) {\n"
    "  scratch[i] = data[i];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  data[i] = scratch[n - 1 - i];\n"
    "}\n"
    "struct Image { texture2d<float> image; };\n"
    "kernel void sample(constant Image &in [[buffer(0)]],\n"
    "                   device float *out [[buffer(1)]]) {\n"
    "  out[0] = in.image.read(uint2(1, 0)).x;\n"
    "}\n"
    "struct Encoder {\n"
    "  command_buffer commands [[id(0)]];\n"
    "  compute_pipeline_state first [[id(1)]];\n"
    "  compute_pipeline_state second [[id(2)]];\n"
    "  command_buffer other [[id(3)]];\n"
    "  device uint *data [[id(4)]];\n"
    "  constant uint *numbers [[id(5)]];\n"
    "  uint value [[id(6)]];\n"
    "};\n"
    // One thread a command: each adds its number to 32 words of its own.
    "kernel void each(constant Encoder &e [[buffer(0)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  compute_command command(e.commands, i);\n"
    "  if (i % 4 == 3) { command.reset(); return; }\n"
    "  command.set_compute_pipeline_state(i % 2 ? e.second : e.first);\n"
    "  command.set_kernel_buffer(e.data + i * 32, 0);\n"
    "  command.set_kernel_buffer(e.numbers + i * 4, 1);\n"
    "  if (i % 4 == 0)\n"
    "    command.concurrent_dispatch_threads(uint3(20, 1, 1), uint3(8, 1, 1));\n"
    "  else\n"
    "    command.concurrent_dispatch_threadgroups(uint3(3, 1, 1),\n"
    "                                             uint3(8, 1, 1));\n"
    "}\n"
    "kernel void steps(constant Encoder &e [[buffer(0)]]) {\n"
    "  for (uint i = 0; i < 20; i++) {\n"
    "    compute_command command(e.commands, i);\n"
    "    command.set_compute_pipeline_state(e.first);\n"
    "    command.set_kernel_buffer(e.data, 0);\n"
    "    command.set_kernel_buffer(e.numbers + i * 4, 1);\n"
    "    command.concurrent_dispatch_threads(uint3(1024, 1, 1),\n"
    "                                        uint3(64, 1, 1));\n"
    "    command.set_barrier();\n"
    "    if (e.value) { command.clear_barrier(); command.set_barrier(); }\n"
    "  }\n"
    "}\n"
    "kernel void lengths(constant Encoder &e [[buffer(0)]]) {\n"
    "  compute_command command(e.commands, 0);\n"
    "  command.set_compute_pipeline_state(e.first);\n"
    "  command.set_kernel_buffer((const device uint *)e.data, 0);\n"
    "  command.set_threadgroup_memory_length(e.value, 1);\n"
    "  command.concurrent_dispatch_threadgroups(uint3(1), uint3(8, 1, 1));\n"
    "}\n"
    "kernel void grid_alone(constant Encoder &e [[buffer(0)]],\n"
    "                       uint i [[thread_position_in_grid]]) {\n"
    "  compute_command(e.commands, i).concurrent_dispatch_threads(\n"
    "      uint3(e.value, 1, 1), uint3(32, 1, 1));\n"
    "}\n"
    "kernel void copy(constant Encoder &e [[buffer(0)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  compute_command target(e.commands, i);\n"
    "  target.copy_command(compute_command(e.other, i / 2));\n"
    "  if (i & 1) target.set_kernel_buffer(e.numbers, 1);\n"
    "  target.copy_command(target);\n"
    "}\n"
    "kernel void clear(constant Encoder &e [[buffer(0)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  compute_command(e.commands, i + e.value).reset();\n"
    "}\n"
    "kernel void bind_at(constant Encoder &e [[buffer(0)]]) {\n"
    "  compute_command(e.commands, 0).set_kernel_buffer(e.data, e.value);\n"
    "}\n"
    "kernel void choose_pipeline(constant Encoder &e [[buffer(0)]]) {\n"
    "  compute_command(e.commands, 0).set_compute_pipeline_state(e.first);\n"
    "}\n"
    "kernel void look(constant Encoder &e [[buffer(0)]],\n"
    "                 device uint *out [[buffer(1)]]) {\n"
    "  out[0] = uint(e.commands.size());\n"
    "  out[1] = is_null_command_buffer(e.commands);\n"
    "  out[2] = is_null_command_buffer(e.other);\n"
    "  out[3] = is_null_compute_pipeline_state(e.first);\n"
    "  out[4] = is_null_compute_pipeline_state(e.second);\n"
    "  out[5] = uint(e.other.size());\n"
    "}\n";

// The struct Encoder that a test encodes with, and the objects that it refers
// to.
typedef struct scene {
  mtl_library *library;
  mtl_argument_encoder *encoder;
  mtl_buffer *arguments;
  mtl_indirect_command_buffer *commands;
  mtl_indirect_command_buffer *other;  // NULL for none
  mtl_buffer *data;
  mtl_buffer *numbers;
} scene;

static void release_indirect(void *commands) {
  mtl_indirect_command_buffer_release(commands);
}

static void release_encoder(void *encoder) {
  mtl_argument_encoder_release(encoder);
}

static mtl_indirect_command_buffer *new_indirect(
    mtl_indirect_command_buffer_desc desc) {
  mtl_indirect_command_buffer *commands;
  CHECK_OK(mtl_indirect_command_buffer_create(the_device(), &desc, &commands));
  test_defer(release_indirect, commands);
  return commands;
}

static void set_value(const scene *it, uint32_t value) {
  uint32_t *place = mtl_argument_encoder_constant_data(it->encoder, 6);
  CHECK(place != NULL);
  *place = value;
}

// Makes a scene with data_words zeros, and number_count numbers from 0 on, 16
// bytes apart.
static scene new_scene(mtl_indirect_command_buffer_desc desc,
                       uint32_t data_words, uint32_t number_count) {
  scene it = {.library = new_library(kernels),
              .commands = new_indirect(desc),
              .data = new_buffer(data_words * 4),
              .numbers = new_buffer(number_count * 16)};
  for (uint32_t i = 0; i < number_count; i++) {
    words(it.numbers)[i * 4] = i;
  }
  CHECK_OK(mtl_argument_encoder_create(new_function(it.library, "each"), 0,
                                       &it.encoder));
  test_defer(release_encoder, it.encoder);
  it.arguments = new_buffer(mtl_argument_encoder_encoded_length(it.encoder));
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(it.encoder, it.arguments,
                                                    0));
  CHECK_OK(mtl_argument_encoder_set_indirect_commands(it.encoder, it.commands,
                                                      0));
  CHECK_OK(mtl_argument_encoder_set_buffer(it.encoder, it.data, 0, 4));
  CHECK_OK(mtl_argument_encoder_set_buffer(it.encoder, it.numbers, 0, 5));
  return it;
}

static mtl_pipeline *set_pipeline(const scene *it, uint32_t id,
                                  const char *name) {
  mtl_pipeline *pipeline = new_pipeline_from(it->library, name);
  CHECK_OK(mtl_argument_encoder_set_pipeline(it->encoder, pipeline, id));
  return pipeline;
}

static void use(const scene *it, mtl_compute_encoder *encoder) {
  mtl_compute_encoder_use_commands(encoder, it->commands, MTL_USAGE_WRITE);
  if (it->other) {
    mtl_compute_encoder_use_commands(encoder, it->other, MTL_USAGE_READ);
  }
  mtl_compute_encoder_use_buffer(encoder, it->data, MTL_USAGE_WRITE);
  mtl_compute_encoder_use_buffer(encoder, it->numbers, MTL_USAGE_READ);
}

static void dispatch_encoding(const scene *it, mtl_compute_encoder *encoder,
                              const char *kernel, uint32_t threads) {
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline_from(it->library, kernel));
  mtl_compute_encoder_set_buffer(encoder, it->arguments, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(threads, 1, 1),
                                       size_of(32, 1, 1));
}

// Has kernel encode with so many threads, then executes count commands.
static mtl_command_buffer *encode_and_execute(const scene *it,
                                              const char *kernel,
                                              uint32_t threads,
                                              uint32_t count) {
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  use(it, encoder);
  dispatch_encoding(it, encoder, kernel, threads);
  mtl_compute_encoder_execute_commands(encoder, it->commands, 0, count);
  end(encoder);
  return outer;
}

static void encode_alone(const scene *it, const char *kernel,
                         uint32_t threads) {
  finish(encode_and_execute(it, kernel, threads, 0));
}

static void execute(const scene *it, uint32_t first, uint32_t count) {
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  use(it, encoder);
  mtl_compute_encoder_execute_commands(encoder, it->commands, first, count);
  end(encoder);
  finish(outer);
}

static void fails(mtl_command_buffer *commands, mtl_status status,
                  const char *part) {
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_ERROR(mtl_command_buffer_wait(commands), status, part);
}

// --- what runs --------------------------------------------------------------

enum { MANY = 256 };

// Checks the result of pipelines add and triple, as `each` encoded them, run
// once over data.
static void check_each(const scene *it) {
  for (uint32_t i = 0; i < MANY; i++) {
    for (uint32_t n = 0; n < 32; n++) {
      const uint32_t threads = i % 4 == 0 ? 20 : i % 4 == 3 ? 0 : 24;
      CHECK_EQUAL(words(it->data)[i * 32 + n], n < threads ? i : 0);
    }
  }
}

TEST(encoded, each_thread_encodes_a_command) {
  scene it = new_scene(
      (mtl_indirect_command_buffer_desc){.max_commands = MANY}, MANY * 32,
      MANY);
  set_pipeline(&it, 1, "add");
  set_pipeline(&it, 2, "triple");
  finish(encode_and_execute(&it, "each", MANY, MANY));
  check_each(&it);
}

TEST(encoded, less_room_and_other_queues) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = MANY,
                                                          .max_buffers = 2},
                       MANY * 32, MANY);
  set_pipeline(&it, 1, "add");
  set_pipeline(&it, 2, "triple");
  encode_alone(&it, "each", MANY);
  execute(&it, 0, MANY / 2);
  execute(&it, MANY / 2, MANY / 2);
  check_each(&it);
}

TEST(encoded, concurrent_encoders_execute_behind_what_encodes) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 20},
                       1024, 20);
  set_pipeline(&it, 1, "triple");
  set_value(&it, 1);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(outer);
  use(&it, encoder);
  dispatch_encoding(&it, encoder, "steps", 1);
  mtl_compute_encoder_execute_commands(encoder, it.commands, 0, 20);
  end(encoder);
  finish(outer);
  uint32_t expected = 0;
  for (uint32_t i = 0; i < 20; i++) {
    expected = expected * 3 + i;
  }
  for (uint32_t i = 0; i < 1024; i++) {
    CHECK_EQUAL(words(it.data)[i], expected);
  }
}

TEST(encoded, threadgroup_memory_has_its_length) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 1}, 8,
                       1);
  for (uint32_t i = 0; i < 8; i++) {
    words(it.data)[i] = i + 1;
  }
  set_pipeline(&it, 1, "reverse");
  set_value(&it, 32);
  finish(encode_and_execute(&it, "lengths", 1, 1));
  for (uint32_t i = 0; i < 8; i++) {
    CHECK_EQUAL(words(it.data)[i], 8 - i);
  }
  set_value(&it, 20);
  fails(encode_and_execute(&it, "lengths", 1, 1), MTL_INVALID_ARGUMENT,
        "20 bytes of threadgroup memory at index 1, not a multiple of 16");
}

TEST(encoded, buffers_and_pipeline_are_inherited) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){
                           .max_commands = 2,
                           .inherit_buffers = true,
                           .inherit_pipeline = true},
                       64, 8);
  set_value(&it, 40);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  use(&it, encoder);
  dispatch_encoding(&it, encoder, "grid_alone", 2);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline_from(it.library, "add"));
  mtl_compute_encoder_set_buffer(encoder, it.data, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, it.numbers, 7 * 16, 1);
  mtl_compute_encoder_execute_commands(encoder, it.commands, 0, 2);
  end(encoder);
  finish(outer);
  for (uint32_t i = 0; i < 64; i++) {
    CHECK_EQUAL(words(it.data)[i], i < 40 ? 14 : 0);
  }
}

TEST(encoded, textures_come_in_argument_buffers) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 1}, 4,
                       1);
  mtl_pipeline *sample = new_pipeline_from(it.library, "sample");
  mtl_texture *image = new_texture_2d(MTL_FORMAT_R32_FLOAT, 2, 1);
  put_texels(image, (float[]){3, 7.5f});
  const uint64_t id = mtl_texture_resource_id(image);
  mtl_buffer *in = new_buffer_with(&id, sizeof id);
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(it.commands, 0, sample));
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(it.commands, 0, in, 0, 0));
  CHECK_OK(
      mtl_indirect_command_buffer_set_buffer(it.commands, 0, it.data, 0, 1));
  set_value(&it, 1);
  mtl_command_buffer *outer = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(outer);
  use(&it, encoder);
  mtl_compute_encoder_use_buffer(encoder, in, MTL_USAGE_READ);
  mtl_compute_encoder_use_texture(encoder, image, MTL_USAGE_READ);
  dispatch_encoding(&it, encoder, "grid_alone", 1);
  mtl_compute_encoder_execute_commands(encoder, it.commands, 0, 1);
  end(encoder);
  finish(outer);
  CHECK(floats(it.data)[0] == 7.5f);
}

// --- kernels and the host ---------------------------------------------------

static void record(mtl_indirect_command_buffer *commands, uint32_t index,
                   mtl_pipeline *pipeline, const scene *it, uint32_t number) {
  CHECK_OK(mtl_indirect_command_buffer_set_pipeline(commands, index, pipeline));
  CHECK_OK(
      mtl_indirect_command_buffer_set_buffer(commands, index, it->data, 0, 0));
  CHECK_OK(mtl_indirect_command_buffer_set_buffer(commands, index, it->numbers,
                                                  number * 16, 1));
  CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
      commands, index, size_of(32, 1, 1), size_of(32, 1, 1)));
}

static void check_sum(const scene *it, uint32_t expected) {
  for (uint32_t i = 0; i < 32; i++) {
    CHECK_EQUAL(words(it->data)[i], expected);
  }
}

TEST(encoded, kernels_copy_what_the_host_recorded) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 4},
                       32, 8);
  it.other = new_indirect((mtl_indirect_command_buffer_desc){
      .max_commands = 2, .max_buffers = 3, .max_threadgroup_memory = 5});
  mtl_pipeline *add = new_pipeline_from(it.library, "add");
  record(it.other, 0, add, &it, 3);  // before kernels know of it
  CHECK_OK(mtl_argument_encoder_set_indirect_commands(it.encoder, it.other, 3));
  record(it.other, 1, add, &it, 5);  // and after
  for (uint32_t i = 0; i < 4; i++) {
    record(it.commands, i, add, &it, 7);
  }
  words(it.numbers)[0] = 100;
  finish(encode_and_execute(&it, "copy", 4, 4));
  check_sum(&it, 3 + 100 + 5 + 100);
}

TEST(encoded, later_edits_of_the_host_count) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 2},
                       32, 8);
  mtl_pipeline *add = new_pipeline_from(it.library, "add");
  record(it.commands, 0, add, &it, 2);
  record(it.commands, 1, add, &it, 3);
  set_value(&it, 1);
  encode_alone(&it, "clear", 1);  // command 1
  execute(&it, 0, 2);
  check_sum(&it, 2);
  record(it.commands, 1, add, &it, 4);
  execute(&it, 0, 2);
  check_sum(&it, 8);
  CHECK_OK(mtl_indirect_command_buffer_reset(it.commands, 0, 1));
  execute(&it, 0, 2);
  check_sum(&it, 12);
  // The kernel's edit leaves the rest as the host has it.
  record(it.commands, 0, add, &it, 1);
  set_value(&it, 16);
  encode_alone(&it, "grid_alone", 2);
  execute(&it, 0, 2);
  for (uint32_t i = 0; i < 32; i++) {
    CHECK_EQUAL(words(it.data)[i], i < 16 ? 17 : 12);
  }
}

TEST(encoded, blits_copy_and_reset_what_kernels_encoded) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = MANY},
                       MANY * 32, MANY);
  set_pipeline(&it, 1, "add");
  set_pipeline(&it, 2, "add");
  mtl_indirect_command_buffer *copied =
      new_indirect((mtl_indirect_command_buffer_desc){.max_commands = 4});
  mtl_command_buffer *outer = encode_and_execute(&it, "each", MANY, 0);
  mtl_blit_encoder *blit = new_blit(outer);
  mtl_blit_encoder_copy_commands(blit, it.commands, 4, copied, 0, 3);
  mtl_blit_encoder_reset_commands(blit, it.commands, 0, 250);
  end_blit(blit);
  mtl_compute_encoder *encoder = new_encoder(outer);
  use(&it, encoder);
  mtl_compute_encoder_execute_commands(encoder, copied, 0, 4);
  mtl_compute_encoder_execute_commands(encoder, it.commands, 0, MANY);
  end(encoder);
  finish(outer);
  for (uint32_t i = 0; i < MANY; i++) {
    const bool runs = (i >= 4 && i < 7) || (i >= 250 && i % 4 != 3);
    CHECK_EQUAL(words(it.data)[i * 32], runs ? i : 0);
  }
}

TEST(encoded, another_buffer_at_the_same_address_is_bound) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 1}, 8,
                       8);
  set_pipeline(&it, 1, "triple");
  for (uint32_t round = 0; round < 20; round++) {
    mtl_buffer *data;
    CHECK_OK(mtl_buffer_create(
        the_device(), &(mtl_buffer_desc){.length_bytes = 4096}, &data));
    CHECK_OK(mtl_argument_encoder_set_buffer(it.encoder, data, 0, 4));
    mtl_command_buffer *outer = new_commands(new_queue());
    mtl_compute_encoder *encoder = new_encoder(outer);
    use(&it, encoder);
    mtl_compute_encoder_use_buffer(encoder, data, MTL_USAGE_WRITE);
    dispatch_encoding(&it, encoder, "each", 1);
    words(it.numbers)[0] = round + 1;
    mtl_compute_encoder_execute_commands(encoder, it.commands, 0, 1);
    end(encoder);
    finish(outer);
    CHECK_EQUAL(words(data)[19], round + 1);
    CHECK_EQUAL(words(data)[20], 0);
    mtl_buffer_release(data);
  }
}

TEST(encoded, kernels_ask_what_is_there) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 9}, 8,
                       1);
  set_pipeline(&it, 1, "add");
  RUN(new_pipeline_from(it.library, "look"), size_of(1, 1, 1),
      size_of(1, 1, 1), it.arguments, it.data);
  const uint32_t expected[] = {9, 0, 1, 0, 1, 0};
  CHECK_EQUAL(memcmp(words(it.data), expected, sizeof expected), 0);
}

TEST(encoded, ids_and_kinds_of_members) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 1}, 1,
                       1);
  mtl_pipeline *add = new_pipeline_from(it.library, "add");
  mtl_pipeline *triple = new_pipeline_from(it.library, "triple");
  uint64_t first, second, again;
  CHECK_OK(mtl_pipeline_resource_id(add, &first));
  CHECK_OK(mtl_pipeline_resource_id(triple, &second));
  CHECK_OK(mtl_pipeline_resource_id(add, &again));
  CHECK(first != 0 && second != 0 && first != second && first == again);
  CHECK_OK(mtl_indirect_command_buffer_resource_id(it.commands, &first));
  CHECK_OK(mtl_indirect_command_buffer_resource_id(it.commands, &again));
  CHECK(first != 0 && first == again);
  size_t count;
  const mtl_argument_member *members =
      mtl_argument_encoder_members(it.encoder, &count);
  CHECK_EQUAL(count, 7);
  CHECK_EQUAL(members[0].kind, MTL_MEMBER_INDIRECT_COMMANDS);
  CHECK_EQUAL(members[1].kind, MTL_MEMBER_PIPELINE);
  CHECK_EQUAL(members[2].offset_bytes, 16);
  CHECK_ERROR(mtl_argument_encoder_set_pipeline(it.encoder, add, 0),
              MTL_INVALID_ARGUMENT,
              "member 0 is an indirect command buffer, not a pipeline");
  CHECK_ERROR(
      mtl_argument_encoder_set_indirect_commands(it.encoder, it.commands, 4),
      MTL_INVALID_ARGUMENT, "member 4 is a buffer, not an indirect command");
  CHECK_ERROR(mtl_indirect_command_buffer_resource_id(NULL, &first),
              MTL_INVALID_ARGUMENT, "commands is NULL");
  CHECK_ERROR(mtl_pipeline_resource_id(add, NULL), MTL_INVALID_ARGUMENT,
              "out_id is NULL");
}

// --- what goes wrong --------------------------------------------------------

TEST(encoded, mistakes_of_kernels_are_faults) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 4,
                                                          .max_buffers = 3},
                       64, 1);
  set_value(&it, 4);
  fails(encode_and_execute(&it, "clear", 1, 0), MTL_KERNEL_FAULT,
        "index past the end of an indirect command buffer");
  set_value(&it, 3);
  fails(encode_and_execute(&it, "bind_at", 1, 0), MTL_KERNEL_FAULT,
        "a buffer at an index that the indirect command buffer has not");
  CHECK_OK(mtl_argument_encoder_set_indirect_commands(it.encoder, NULL, 0));
  fails(encode_and_execute(&it, "bind_at", 1, 0), MTL_KERNEL_FAULT,
        "an indirect command buffer that is not there");
  it.commands = new_indirect((mtl_indirect_command_buffer_desc){
      .max_commands = 1, .inherit_buffers = true, .inherit_pipeline = true});
  CHECK_OK(mtl_argument_encoder_set_indirect_commands(it.encoder, it.commands,
                                                      0));
  fails(encode_and_execute(&it, "bind_at", 1, 0), MTL_KERNEL_FAULT,
        "a buffer of a command that inherits buffers");
  fails(encode_and_execute(&it, "choose_pipeline", 1, 0), MTL_KERNEL_FAULT,
        "the pipeline of a command that inherits it");
}

TEST(encoded, what_is_not_there_is_told_when_it_runs) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 1,
                                                          .label = "graph"},
                       64, 1);
  fails(encode_and_execute(&it, "each", 1, 1), MTL_INVALID_ARGUMENT,
        "command 0 of indirect command buffer 'graph': it has a dispatch and "
        "no pipeline");
  uint64_t *pipeline = (uint64_t *)mtl_buffer_contents(it.arguments) + 1;
  *pipeline = 1000000;
  fails(encode_and_execute(&it, "each", 1, 1), MTL_KERNEL_FAULT,
        "a kernel encoded pipeline 1000000, which is none");
  set_pipeline(&it, 1, "add");
  uint64_t *data = (uint64_t *)mtl_buffer_contents(it.arguments) + 4;
  *data = 64;
  fails(encode_and_execute(&it, "each", 1, 1), MTL_KERNEL_FAULT,
        "kernel 'add': [[buffer(0)]] was encoded as address 0x40, where no "
        "buffer is");
  CHECK_OK(mtl_argument_encoder_set_buffer(it.encoder, NULL, 0, 4));
  fails(encode_and_execute(&it, "each", 1, 1), MTL_INVALID_ARGUMENT,
        "argument 'data'");
  // The host corrects a command that a kernel had encoded wrongly.
  CHECK_OK(
      mtl_indirect_command_buffer_set_buffer(it.commands, 0, it.data, 0, 0));
  execute(&it, 0, 1);
}

TEST(encoded, types_of_dispatches_that_are_not_there_are_refused) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){
                           .max_commands = 1,
                           .command_types = MTL_INDIRECT_DISPATCH_THREADGROUPS},
                       64, 1);
  set_pipeline(&it, 1, "add");
  fails(encode_and_execute(&it, "each", 1, 1), MTL_INVALID_ARGUMENT,
        "a kernel encoded a dispatch of type 0x40; the command types are 0x20");
}

TEST(encoded, ended_pipelines_are_told) {
  scene it = new_scene((mtl_indirect_command_buffer_desc){.max_commands = 1},
                       64, 1);
  mtl_pipeline *pipeline;
  CHECK_OK(mtl_pipeline_create(new_function(it.library, "add"),
                               &(mtl_pipeline_desc){.label = "gone"},
                               &pipeline));
  CHECK_OK(mtl_argument_encoder_set_pipeline(it.encoder, pipeline, 1));
  mtl_pipeline_release(pipeline);
  fails(encode_and_execute(&it, "each", 1, 1), MTL_KERNEL_FAULT,
        "pipeline 'gone' was released");
}
