// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensors.c: buffers as Metal 4's tensors: made, reflected, bound, and refused
// where a kernel wants another.
#include <string.h>

#include "conformance.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "#include <metal_tensor>\n"
    "using namespace metal;\n"
    "kernel void add(tensor<device const float, dextents<int, 2>> a\n"
    "                    [[buffer(0)]],\n"
    "                tensor<device float, extents<int, 4, 3>> b\n"
    "                    [[buffer(1)]],\n"
    "                tensor<device int, dextents<int, 1>> told [[buffer(2)]],\n"
    "                uint2 p [[thread_position_in_grid]]) {\n"
    "  b[p.x, p.y] += a[p.x, p.y];\n"
    "  if (p.x || p.y) return;\n"
    "  told[0] = a.get_extent(0);\n"
    "  told[1] = a.get_extent(1);\n"
    "  told[2] = a.get_stride(1);\n"
    "  told[3] = int(a.load(-1, 0)) + int(a.load(4, 0));\n"
    "  told.store(7, 4);\n"
    "}\n"
    "kernel void far(tensor<device uchar, dextents<int, 3>> t [[buffer(3)]],\n"
    "                uint3 p [[thread_position_in_grid]]) {\n"
    "  t[p.x, p.y, p.z] += p.x + 10 * p.y + 100 * p.z;\n"
    "}\n"
    "kernel void plain(device float *a [[buffer(0)]]) { a[0] = 1; }\n";

static mtl_pipeline *pipeline_of(const char *name, bool debug) {
  const mtl_compile_options options = {.language_version = MTL_LANGUAGE_4_0};
  mtl_library *library = new_library_with(source, &options);
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(new_function(library, name),
                               &(mtl_pipeline_desc){.debug = debug},
                               &pipeline));
  release_pipeline_later(pipeline);
  return pipeline;
}

static mtl_buffer_tensor *tensor_of(mtl_buffer *buffer, mtl_data_type type,
                                    uint32_t rank, const int64_t *extents,
                                    const int64_t *strides,
                                    size_t offset_bytes) {
  mtl_buffer_tensor *tensor = NULL;
  CHECK_OK(mtl_buffer_tensor_create(
      buffer,
      &(mtl_buffer_tensor_desc){.type = type,
                                .rank = rank,
                                .extents = extents,
                                .strides = strides,
                                .offset_bytes = offset_bytes,
                                .label = "weights"},
      &tensor));
  return tensor;
}

// Adds a 3 x 4 matrix with a row stride of 6, from the second element on, to a
// packed one.
static void add_in(bool debug) {
  float from[24], to[12];
  for (int i = 0; i < 24; i++) {
    from[i] = (float)i;
  }
  for (int i = 0; i < 12; i++) {
    to[i] = 100;
  }
  mtl_buffer *a = BUFFER_OF(from), *b = BUFFER_OF(to), *told = new_buffer(16);
  const int64_t strides[] = {1, 6};
  mtl_buffer_tensor *tensors[] = {
      tensor_of(a, MTL_TYPE_FLOAT, 2, (int64_t[]){4, 3}, strides, 4),
      tensor_of(b, MTL_TYPE_FLOAT, 2, (int64_t[]){4, 3}, NULL, 0),
      tensor_of(told, MTL_TYPE_INT, 1, (int64_t[]){4}, NULL, 0)};
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline_of("add", debug));
  for (uint32_t i = 0; i < 3; i++) {
    mtl_compute_encoder_set_tensor(encoder, tensors[i], i);
    mtl_buffer_tensor_release(tensors[i]);  // the command buffer has it
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(4, 3, 1),
                                       size_of(4, 3, 1));
  end(encoder);
  finish(commands);
  for (int i = 0; i < 12; i++) {
    CHECK(floats(b)[i] == (float)(100 + 1 + i / 4 * 6 + i % 4));
  }
  const uint32_t wanted[] = {4, 3, 6, 0};
  CHECK(memcmp(words(told), wanted, sizeof wanted) == 0);
}

TEST(tensors, are_what_kernels_read) {
  add_in(false);
}

TEST(tensors, are_what_unoptimised_kernels_read) {
  add_in(true);
}

// Of three dimensions and bytes, with gaps that stay as they are.
TEST(tensors, keep_what_lies_between_their_elements) {
  mtl_buffer *memory = new_buffer(64);
  mtl_buffer_tensor *tensor =
      tensor_of(memory, MTL_TYPE_UCHAR, 3, (int64_t[]){3, 2, 2},
                (int64_t[]){1, 5, 20}, 7);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline_of("far", false));
  mtl_compute_encoder_set_tensor(encoder, tensor, 3);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(3, 2, 2),
                                       size_of(3, 2, 2));
  end(encoder);
  finish(commands);
  mtl_buffer_tensor_release(tensor);
  uint8_t wanted[64] = {0};
  for (int z = 0; z < 2; z++) {
    for (int y = 0; y < 2; y++) {
      for (int x = 0; x < 3; x++) {
        wanted[7 + x + 5 * y + 20 * z] = (uint8_t)(x + 10 * y + 100 * z);
      }
    }
  }
  CHECK(memcmp(mtl_buffer_contents(memory), wanted, sizeof wanted) == 0);
}

TEST(tensors, of_concurrent_dispatches_keep_their_order) {
  const mtl_compile_options options = {.language_version = MTL_LANGUAGE_4_0};
  mtl_pipeline *pipeline = new_pipeline_from(
      new_library_with(
          "#include <metal_tensor>\n"
          "using namespace metal;\n"
          "kernel void twice(tensor<device uint, dextents<int, 1>> t,\n"
          "                  uint i [[thread_position_in_grid]]) {\n"
          "  t[i] = 2 * t[i] + 1;\n"
          "}\n",
          &options),
      "twice");
  mtl_buffer *memory = new_buffer(4096 * 4);
  mtl_buffer_tensor *tensor =
      tensor_of(memory, MTL_TYPE_UINT, 1, (int64_t[]){4096}, NULL, 0);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_tensor(encoder, tensor, 0);
  for (int i = 0; i < 10; i++) {
    mtl_compute_encoder_dispatch_threads(encoder, size_of(4096, 1, 1),
                                         size_of(64, 1, 1));
  }
  end(encoder);
  finish(commands);
  mtl_buffer_tensor_release(tensor);
  for (int i = 0; i < 4096; i++) {
    CHECK_EQUAL(words(memory)[i], 1023);
  }
}

TEST(tensors, can_be_told_by_bytes) {
  float values[4] = {1, 2, 3, 4};
  mtl_buffer *memory = BUFFER_OF(values);
  mtl_pipeline *pipeline = pipeline_of("far", false);
  const int64_t record[] = {(int64_t)mtl_buffer_gpu_address(memory), 2, 1, 1,
                            1, 4, 8};
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_use_buffer(encoder, memory, MTL_USAGE_WRITE);
  mtl_compute_encoder_set_bytes(encoder, record, sizeof record, 3);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(2, 1, 1),
                                       size_of(2, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(((uint8_t *)mtl_buffer_contents(memory))[1], 1);
}

TEST(tensors, are_told_of_arguments) {
  const mtl_compile_options options = {.language_version = MTL_LANGUAGE_4_0};
  mtl_function *function =
      new_function(new_library_with(source, &options), "add");
  size_t count = 0;
  const mtl_argument *arguments = mtl_function_arguments(function, &count);
  CHECK_EQUAL(count, 3);
  CHECK_EQUAL(arguments[0].kind, MTL_ARGUMENT_BUFFER);
  CHECK_EQUAL(arguments[0].type, MTL_TYPE_FLOAT);
  CHECK_EQUAL(arguments[0].access, MTL_ACCESS_READ_ONLY);
  CHECK_EQUAL(arguments[0].tensor_rank, 2);
  CHECK_EQUAL(arguments[0].tensor_extents[0], -1);
  CHECK_EQUAL(arguments[0].tensor_extents[1], -1);
  CHECK_EQUAL(arguments[1].access, MTL_ACCESS_READ_WRITE);
  CHECK_EQUAL(arguments[1].tensor_extents[0], 4);
  CHECK_EQUAL(arguments[1].tensor_extents[1], 3);
  CHECK_EQUAL(arguments[2].type, MTL_TYPE_INT);
  CHECK_EQUAL(arguments[2].tensor_rank, 1);
}

TEST(tensors, tell_what_they_were_made_with) {
  mtl_buffer *memory = new_buffer(4096);
  mtl_buffer_tensor *tensor =
      tensor_of(memory, MTL_TYPE_HALF, 3, (int64_t[]){5, 4, 3}, NULL, 6);
  const mtl_buffer_tensor_desc *info = mtl_buffer_tensor_info(tensor);
  CHECK_EQUAL(info->type, MTL_TYPE_HALF);
  CHECK_EQUAL(info->rank, 3);
  CHECK_EQUAL(info->extents[2], 3);
  CHECK_EQUAL(info->strides[0], 1);
  CHECK_EQUAL(info->strides[1], 5);
  CHECK_EQUAL(info->strides[2], 20);
  CHECK_EQUAL(info->offset_bytes, 6);
  CHECK_TEXT(info->label, "weights");
  CHECK(mtl_buffer_tensor_buffer(tensor) == memory);
  CHECK(mtl_buffer_tensor_retain(tensor) == tensor);
  mtl_buffer_tensor_release(tensor);
  mtl_buffer_tensor_release(tensor);
  mtl_buffer_tensor_release(NULL);
}

TEST(tensors, tell_how_many_bytes_they_take) {
  const int64_t extents[] = {5, 3}, strides[] = {1, 8};
  mtl_buffer_tensor_desc desc = {
      .type = MTL_TYPE_BFLOAT, .rank = 2, .extents = extents};
  size_t size_bytes = 0;
  CHECK_OK(mtl_buffer_tensor_size(&desc, &size_bytes));
  CHECK_EQUAL(size_bytes, 30);
  desc.strides = strides;
  CHECK_OK(mtl_buffer_tensor_size(&desc, &size_bytes));
  CHECK_EQUAL(size_bytes, 42);
}

// Creating tensors that are not allowed.
static void refused(mtl_buffer_tensor_desc desc, const char *text) {
  mtl_buffer_tensor *tensor = NULL;
  CHECK_ERROR(mtl_buffer_tensor_create(new_buffer(64), &desc, &tensor),
              MTL_INVALID_ARGUMENT,
              text);
  CHECK(!tensor);
}

TEST(tensors, that_cannot_be_are_refused) {
  const int64_t ones[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1,
                            1, 1, 1, 1, 1, 1, 1, 1};
  const mtl_buffer_tensor_desc good = {
      .type = MTL_TYPE_FLOAT, .rank = 2, .extents = (int64_t[]){4, 4}};
  mtl_buffer_tensor_desc desc = good;
  desc.type = MTL_TYPE_BOOL;
  refused(desc, "no elements of bool");
  desc.type = MTL_TYPE_NONE;
  refused(desc, "no elements of no type");
  desc = good;
  desc.rank = 0;
  refused(desc, "a tensor of 0 dimensions; it has 1 to 16");
  desc.rank = 17;
  desc.extents = ones;
  refused(desc, "a tensor of 17 dimensions");
  desc = good;
  desc.extents = NULL;
  refused(desc, "the extents are NULL");
  desc.extents = (int64_t[]){4, 0};
  refused(desc, "extent 0 of dimension 1 is not above 0");
  desc = good;
  desc.strides = (int64_t[]){2, 8};
  refused(desc, "stride 2 of dimension 0 is not 1");
  desc.strides = (int64_t[]){1, -4};
  refused(desc, "stride -4 of dimension 1 is not above 0");
  desc.strides = (int64_t[]){1, 5};
  refused(desc, "76 bytes at offset 0 is past the end");
  desc = good;
  desc.offset_bytes = 2;
  refused(desc, "offset 2 is not a multiple of the 4 bytes");
  desc.offset_bytes = 4;
  refused(desc, "64 bytes at offset 4 is past the end");
  desc.offset_bytes = SIZE_MAX - 3;
  refused(desc, "past the end");
  desc = good;
  desc.extents = (int64_t[]){INT64_MAX, 3};
  refused(desc, "more than 64 bits count");
}

// A dispatch with one tensor that does not fit.
static void mismatched(const char *kernel, mtl_data_type type, uint32_t rank,
                       const int64_t *extents, uint32_t index,
                       const char *text) {
  mtl_buffer *memory = new_buffer(4096);
  mtl_buffer_tensor *tensor = tensor_of(memory, type, rank, extents, NULL, 0);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline_of(kernel, false));
  for (uint32_t i = 0; i < 3; i++) {
    mtl_compute_encoder_set_buffer(encoder, memory, 0, i);
  }
  mtl_compute_encoder_set_tensor(encoder, tensor, index);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              text);

  mtl_buffer_tensor_release(tensor);
}

TEST(tensors, that_a_kernel_does_not_want_are_refused) {
  mismatched("add", MTL_TYPE_HALF, 2, (int64_t[]){4, 3}, 0,
             "'a' [[buffer(0)]] is a tensor of 2 dimensions of float; tensor "
             "'weights' has 2 of half");
  mismatched("add", MTL_TYPE_FLOAT, 1, (int64_t[]){4}, 0,
             "of 2 dimensions of float; tensor 'weights' has 1 of float");
  mismatched("add", MTL_TYPE_FLOAT, 2, (int64_t[]){4, 5}, 1,
             "has 3 elements in dimension 1; tensor 'weights' has 5");
  mismatched("plain", MTL_TYPE_FLOAT, 2, (int64_t[]){4, 5}, 0,
             "'a' [[buffer(0)]] is no tensor, but is bound to tensor");
}

TEST(tensors, bound_to_no_such_index_are_refused) {
  mtl_buffer_tensor *tensor = tensor_of(new_buffer(64), MTL_TYPE_FLOAT, 1,
                                        (int64_t[]){4}, NULL, 0);
  mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_set_tensor(encoder, tensor, 31);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "buffer index 31; the last one is 30");

  mtl_buffer_tensor_release(tensor);
}

TEST(tensors, that_are_missing_are_refused) {
  mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_set_pipeline(encoder, pipeline_of("far", false));
  mtl_compute_encoder_set_tensor(encoder, NULL, 3);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "'t' [[buffer(3)]] is not bound");

}
