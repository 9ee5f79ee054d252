// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflection.c: what reflection reports of a function's arguments.
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

static const char structs[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Base { ushort id; };\n"
    "struct Inner { bool on; packed_float3 p; };\n"
    "struct Outer : Base {\n"
    "  float3 axis; Inner in[2]; half3x2 m; uint g[2][3]; union { float f;\n"
    "  int i; }; device float *link;\n"
    "};\n"
    "kernel void k(constant Outer &o [[buffer(0)]],\n"
    "              device float4x4 *m [[buffer(1)]],\n"
    "              device float *x [[buffer(2)]]) { x[0] = o.axis.x; }\n";

// Sizes and alignments are those of the tables in the Metal Shading Language
// Specification, chapter 2.
TEST(reflection, structs_tell_their_members) {
  static const mtl_member expected[] = {
      {"id", "ushort", MTL_TYPE_USHORT, 1, 1, 0, 2, 1, NULL, 0},
      {"axis", "float3", MTL_TYPE_FLOAT, 3, 1, 16, 16, 1, NULL, 0},
      {"in", "Inner", MTL_TYPE_NONE, 0, 1, 32, 16, 2, NULL, 2},
      {"m", "half3x2", MTL_TYPE_HALF, 2, 3, 64, 12, 1, NULL, 0},
      {"g", "uint[3]", MTL_TYPE_NONE, 0, 1, 76, 12, 2, NULL, 1},
      {"f", "float", MTL_TYPE_FLOAT, 1, 1, 100, 4, 1, NULL, 0},
      {"i", "int", MTL_TYPE_INT, 1, 1, 100, 4, 1, NULL, 0},
      {"link", "device float *", MTL_TYPE_NONE, 0, 1, 104, 8, 1, NULL, 0},
  };
  mtl_library *library = new_library(structs);
  size_t count = 0;
  const mtl_argument *arguments =
      mtl_function_arguments(new_function(library, "k"), &count);
  const mtl_argument *of_pipeline =
      mtl_pipeline_arguments(new_pipeline_from(library, "k"), &count);
  CHECK_EQUAL(arguments[0].member_count, COUNT_OF(expected));
  CHECK_EQUAL(of_pipeline[0].member_count, COUNT_OF(expected));
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    const mtl_member *member = &arguments[0].members[i];
    CHECK_TEXT(member->name, expected[i].name);
    CHECK_TEXT(member->type_name, expected[i].type_name);
    CHECK_EQUAL(member->type, expected[i].type);
    CHECK_EQUAL(member->components, expected[i].components);
    CHECK_EQUAL(member->columns, expected[i].columns);
    CHECK_EQUAL(member->offset_bytes, expected[i].offset_bytes);
    CHECK_EQUAL(member->size_bytes, expected[i].size_bytes);
    CHECK_EQUAL(member->array_length, expected[i].array_length);
    CHECK_EQUAL(member->member_count, expected[i].member_count);
    CHECK_TEXT(of_pipeline[0].members[i].name, expected[i].name);
  }
  const mtl_member *inner = arguments[0].members[2].members;
  CHECK_TEXT(inner[1].name, "p");
  CHECK_EQUAL(inner[1].offset_bytes, 4);
  CHECK_EQUAL(inner[1].size_bytes, 12);
  const mtl_member *row = arguments[0].members[4].members;
  CHECK_TEXT(row->name, "");
  CHECK_EQUAL(row->array_length, 3);
  CHECK_EQUAL(arguments[1].member_count, 1);
  CHECK_TEXT(arguments[1].members[0].name, "");
  CHECK_EQUAL(arguments[1].members[0].columns, 4);
  CHECK_EQUAL(arguments[2].member_count, 0);
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
