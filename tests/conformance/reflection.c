// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflection.c: what a function says of its arguments.
#include "conformance.h"

static const char reflected[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Params { uint count; float scale; float3 axis; };\n"
    "kernel void k(device const float4 *source [[buffer(2)]],\n"
    "              device half *target [[buffer(0)]],\n"
    "              constant Params &params [[buffer(5)]],\n"
    "              threadgroup uint *scratch [[threadgroup(1)]],\n"
    "              constant uint *table [[buffer(30)]],\n"
    "              uint i [[thread_position_in_grid]]) {\n"
    "  scratch[0] = table[0];\n"
    "  target[i] = half(source[i].x * params.scale) + half(scratch[0]);\n"
    "}\n"
    "kernel void automatic(device int *a, device int2 *b,\n"
    "                      constant long &c,\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "  a[i] = b[i].x + int(c);\n"
    "}\n";

static const mtl_argument *arguments_of(const char *name, size_t expected) {
  size_t count = 0;
  const mtl_argument *arguments = mtl_function_arguments(
      new_function(new_library(reflected), name), &count);
  CHECK_EQUAL(count, expected);
  return arguments;
}

TEST(reflection, arguments_are_in_source_order_with_their_indices) {
  const mtl_argument *arguments = arguments_of("k", 5);
  static const struct {
    const char *name;
    mtl_argument_kind kind;
    uint32_t index;
  } expected[] = {{"source", MTL_ARGUMENT_BUFFER, 2},
                  {"target", MTL_ARGUMENT_BUFFER, 0},
                  {"params", MTL_ARGUMENT_BUFFER, 5},
                  {"scratch", MTL_ARGUMENT_THREADGROUP_MEMORY, 1},
                  {"table", MTL_ARGUMENT_BUFFER, 30}};
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    CHECK_TEXT(arguments[i].name, expected[i].name);
    CHECK_EQUAL(arguments[i].kind, expected[i].kind);
    CHECK_EQUAL(arguments[i].index, expected[i].index);
    CHECK(arguments[i].is_active);
  }
}

TEST(reflection, access_follows_const_and_constant) {
  const mtl_argument *arguments = arguments_of("k", 5);
  CHECK_EQUAL(arguments[0].access, MTL_ACCESS_READ_ONLY);
  CHECK_EQUAL(arguments[1].access, MTL_ACCESS_READ_WRITE);
  CHECK_EQUAL(arguments[2].access, MTL_ACCESS_READ_ONLY);
  CHECK_EQUAL(arguments[4].access, MTL_ACCESS_READ_ONLY);
}

TEST(reflection, types_sizes_and_alignments) {
  const mtl_argument *arguments = arguments_of("k", 5);
  CHECK_TEXT(arguments[0].type_name, "float4");
  CHECK_EQUAL(arguments[0].type, MTL_TYPE_FLOAT);
  CHECK_EQUAL(arguments[0].components, 4);
  CHECK_EQUAL(arguments[0].size_bytes, 16);
  CHECK_EQUAL(arguments[0].alignment_bytes, 16);
  CHECK_TEXT(arguments[1].type_name, "half");
  CHECK_EQUAL(arguments[1].type, MTL_TYPE_HALF);
  CHECK_EQUAL(arguments[1].size_bytes, 2);
  CHECK_EQUAL(arguments[1].alignment_bytes, 2);
}

TEST(reflection, structs_have_metals_layout) {
  const mtl_argument *arguments = arguments_of("k", 5);
  CHECK_TEXT(arguments[2].type_name, "Params");
  CHECK_EQUAL(arguments[2].type, MTL_TYPE_NONE);
  CHECK_EQUAL(arguments[2].components, 0);
  CHECK_EQUAL(arguments[2].size_bytes, 32);  // 4 + 4 + 8 pad + float3's 16
  CHECK_EQUAL(arguments[2].alignment_bytes, 16);
  CHECK(arguments[2].is_reference);
  CHECK(!arguments[0].is_reference);
}

TEST(reflection, indices_are_given_automatically) {
  const mtl_argument *arguments = arguments_of("automatic", 3);
  for (uint32_t i = 0; i < 3; i++) {
    CHECK_EQUAL(arguments[i].index, i);
  }
  CHECK_EQUAL(arguments[1].components, 2);
  CHECK_EQUAL(arguments[2].size_bytes, 8);
  CHECK_EQUAL(arguments[2].type, MTL_TYPE_LONG);
}

TEST(reflection, pipelines_say_the_same) {
  mtl_library *library = new_library(reflected);
  size_t function_count = 0, pipeline_count = 0;
  const mtl_argument *of_function =
      mtl_function_arguments(new_function(library, "k"), &function_count);
  const mtl_argument *of_pipeline =
      mtl_pipeline_arguments(new_pipeline_from(library, "k"), &pipeline_count);
  CHECK_EQUAL(pipeline_count, function_count);
  for (size_t i = 0; i < function_count; i++) {
    CHECK_TEXT(of_pipeline[i].name, of_function[i].name);
    CHECK_EQUAL(of_pipeline[i].index, of_function[i].index);
    CHECK_EQUAL(of_pipeline[i].size_bytes, of_function[i].size_bytes);
  }
}
