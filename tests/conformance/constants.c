// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants.c: function constants, by index and by name.
#include "conformance.h"

#include <string.h>

static const char constant_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant uint factor [[function_constant(0)]];\n"
    "constant float offset [[function_constant(3)]];\n"
    "constant bool doubled [[function_constant(7)]];\n"
    "constant float4 mix_weights [[function_constant(9)]];\n"
    "constant uint used_factor =\n"
    "    is_function_constant_defined(factor) ? factor : 100;\n"
    "kernel void scale(device float *out [[buffer(0)]]) {\n"
    "  out[0] = float(used_factor);\n"
    "}\n"
    "kernel void all(device float *out [[buffer(0)]]) {\n"
    "  out[0] = offset * (doubled ? 2.0f : 1.0f);\n"
    "  out[1] = dot(mix_weights, float4(1, 10, 100, 1000));\n"
    "}\n"
    "constant bool has_extra [[function_constant(11)]];\n"
    "kernel void optional_argument(\n"
    "    device float *out [[buffer(0)]],\n"
    "    device float *extra [[buffer(1), function_constant(has_extra)]]) {\n"
    "  if (has_extra) { out[0] = extra[0]; } else { out[0] = -1; }\n"
    "}\n";

static mtl_constant_values *new_values(void) {
  mtl_constant_values *values = NULL;
  CHECK_OK(mtl_constant_values_create(&values));
  release_constants_later(values);
  return values;
}

static mtl_pipeline *pipeline_with(mtl_library *library, const char *name,
                                   mtl_constant_values *values) {
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(library, name, values, &function));
  release_function_later(function);
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  release_pipeline_later(pipeline);
  return pipeline;
}

static float first_of(mtl_pipeline *pipeline) {
  mtl_buffer *out = new_buffer(16);
  RUN(pipeline, size_of(1, 1, 1), size_of(1, 1, 1), out);
  return floats(out)[0];
}

TEST(constants, undefined_is_told) {
  mtl_library *library = new_library(constant_kernels);
  CHECK(first_of(pipeline_with(library, "scale", NULL)) == 100.0f);
}

TEST(constants, value_by_index) {
  mtl_constant_values *values = new_values();
  const uint32_t factor = 13;
  CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 1, &factor));
  mtl_library *library = new_library(constant_kernels);
  CHECK(first_of(pipeline_with(library, "scale", values)) == 13.0f);
}

TEST(constants, value_by_name) {
  mtl_constant_values *values = new_values();
  const uint32_t factor = 14;
  CHECK_OK(mtl_constant_values_set_named(values, "factor", MTL_TYPE_UINT, 1,
                                         &factor));
  mtl_library *library = new_library(constant_kernels);
  CHECK(first_of(pipeline_with(library, "scale", values)) == 14.0f);
}

TEST(constants, later_value_replaces_an_earlier_one) {
  mtl_constant_values *values = new_values();
  const uint32_t first = 1, second = 2;
  CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 1, &first));
  CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 1, &second));
  mtl_library *library = new_library(constant_kernels);
  CHECK(first_of(pipeline_with(library, "scale", values)) == 2.0f);
}

TEST(constants, one_library_many_values) {
  mtl_library *library = new_library(constant_kernels);
  for (uint32_t factor = 1; factor <= 3; factor++) {
    mtl_constant_values *values = new_values();
    CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 1, &factor));
    CHECK(first_of(pipeline_with(library, "scale", values)) == (float)factor);
  }
}

TEST(constants, floats_bools_and_vectors) {
  mtl_constant_values *values = new_values();
  const float offset = 1.5f, weights[4] = {1, 2, 3, 4};
  const bool doubled = true;
  CHECK_OK(mtl_constant_values_set(values, 3, MTL_TYPE_FLOAT, 1, &offset));
  CHECK_OK(mtl_constant_values_set(values, 7, MTL_TYPE_BOOL, 1, &doubled));
  CHECK_OK(mtl_constant_values_set_named(values, "mix_weights", MTL_TYPE_FLOAT,
                                         4, weights));
  mtl_buffer *out = new_buffer(16);
  RUN(pipeline_with(new_library(constant_kernels), "all", values),
      size_of(1, 1, 1), size_of(1, 1, 1), out);
  CHECK(floats(out)[0] == 3.0f);
  CHECK(floats(out)[1] == 4321.0f);
}

// Whether the body needs a constant may be known only when the pipeline is
// made.
TEST(constants, missing_required_value_is_refused_by_name) {
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  mtl_status status = mtl_function_create(new_library(constant_kernels), "all",
                                          new_values(), &function);
  if (status == MTL_OK) {
    release_function_later(function);
    status = mtl_pipeline_create(function, NULL, &pipeline);
  }
  CHECK_EQUAL(status, MTL_INVALID_ARGUMENT);
  CHECK(pipeline == NULL);
  CHECK_CONTAINS(mtl_last_error(), "function constant");
}

TEST(constants, value_of_another_type_is_refused_by_name) {
  mtl_constant_values *values = new_values();
  const float factor = 1;
  CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_FLOAT, 1, &factor));
  mtl_function *function = (mtl_function *)1;
  CHECK_ERROR(mtl_function_create(new_library(constant_kernels), "scale",
                                  values, &function),
              MTL_INVALID_ARGUMENT, "factor");
}

TEST(constants, value_with_other_components_is_refused_by_name) {
  mtl_constant_values *values = new_values();
  const uint32_t factor[2] = {1, 2};
  CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 2, factor));
  mtl_function *function = (mtl_function *)1;
  CHECK_ERROR(mtl_function_create(new_library(constant_kernels), "scale",
                                  values, &function),
              MTL_INVALID_ARGUMENT, "factor");
}

TEST(constants, nonsense_values_are_refused) {
  mtl_constant_values *values = new_values();
  const uint32_t value = 1;
  CHECK_ERROR(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 5, &value),
              MTL_INVALID_ARGUMENT, "components");
  CHECK_ERROR(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 0, &value),
              MTL_INVALID_ARGUMENT, "components");
  CHECK_ERROR(mtl_constant_values_set(values, 0, MTL_TYPE_NONE, 1, &value),
              MTL_INVALID_ARGUMENT, "type");
  CHECK_ERROR(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 1, NULL),
              MTL_INVALID_ARGUMENT, "value");
  CHECK_ERROR(
      mtl_constant_values_set_named(values, NULL, MTL_TYPE_UINT, 1, &value),
      MTL_INVALID_ARGUMENT, "name");
  CHECK_ERROR(mtl_constant_values_set(NULL, 0, MTL_TYPE_UINT, 1, &value),
              MTL_INVALID_ARGUMENT, "values");
}

TEST(constants, library_lists_its_constants) {
  size_t count = 0;
  const mtl_constant_info *infos =
      mtl_library_constants(new_library(constant_kernels), &count);
  CHECK_EQUAL(count, 5);
  CHECK_TEXT(infos[0].name, "factor");
  CHECK_EQUAL(infos[0].index, 0);
  CHECK_EQUAL(infos[0].type, MTL_TYPE_UINT);
  CHECK_EQUAL(infos[0].components, 1);
  CHECK_TEXT(infos[3].name, "mix_weights");
  CHECK_EQUAL(infos[3].index, 9);
  CHECK_EQUAL(infos[3].type, MTL_TYPE_FLOAT);
  CHECK_EQUAL(infos[3].components, 4);
}

TEST(constants, leave_out_an_argument) {
  mtl_library *library = new_library(constant_kernels);
  mtl_constant_values *values = new_values();
  const bool has_extra = false;
  CHECK_OK(mtl_constant_values_set(values, 11, MTL_TYPE_BOOL, 1, &has_extra));
  mtl_function *function = NULL;
  CHECK_OK(
      mtl_function_create(library, "optional_argument", values, &function));
  release_function_later(function);
  size_t count = 0;
  const mtl_argument *arguments = mtl_function_arguments(function, &count);
  CHECK_EQUAL(count, 2);
  CHECK(arguments[0].is_active);
  CHECK(!arguments[1].is_active);
  CHECK(first_of(pipeline_with(library, "optional_argument", values)) == -1.0f);
}

TEST(constants, keep_an_argument) {
  mtl_library *library = new_library(constant_kernels);
  mtl_constant_values *values = new_values();
  const bool has_extra = true;
  CHECK_OK(mtl_constant_values_set(values, 11, MTL_TYPE_BOOL, 1, &has_extra));
  const float extra[1] = {8.5f};
  mtl_buffer *out = new_buffer(4);
  RUN(pipeline_with(library, "optional_argument", values), size_of(1, 1, 1),
      size_of(1, 1, 1), out, BUFFER_OF(extra));
  CHECK(floats(out)[0] == 8.5f);
}

TEST(constants, leave_out_an_argument_by_a_computation) {
  mtl_library *library = new_library(
      "constant bool has [[function_constant(0)]];\n"
      "constant int mode [[function_constant(1)]];\n"
      "constant bool both = is_function_constant_defined(has) && has;\n"
      "constant bool other = mode == -2 || (mode > 4 && !both);\n"
      "kernel void f(device float *x [[buffer(0), function_constant(both)]],\n"
      "  device float *y [[buffer(1), function_constant(other)]],\n"
      "  device float *z [[buffer(2)]]) { z[0] = both + 2 * other; }\n");
  static const struct {
    int has;  // -1 for not defined
    int mode;
    bool x, y;
  } cases[] = {{-1, 0, false, false}, {-1, 5, false, true},
               {0, -2, false, true},  {1, 4, true, false},
               {1, 5, true, false},   {1, -2, true, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mtl_constant_values *values = new_values();
    const bool has = cases[i].has == 1;
    if (cases[i].has >= 0) {
      CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_BOOL, 1, &has));
    }
    CHECK_OK(
        mtl_constant_values_set(values, 1, MTL_TYPE_INT, 1, &cases[i].mode));
    mtl_function *function = NULL;
    CHECK_OK(mtl_function_create(library, "f", values, &function));
    release_function_later(function);
    size_t count = 0;
    const mtl_argument *arguments = mtl_function_arguments(function, &count);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(arguments[0].is_active, cases[i].x);
    CHECK_EQUAL(arguments[1].is_active, cases[i].y);
    CHECK(arguments[2].is_active);
  }
}

TEST(constants, leave_out_an_argument_by_a_computation_of_floats) {
  mtl_library *library = new_library(
      "constant float gain [[function_constant(0)]];\n"
      "constant half bias [[function_constant(1)]];\n"
      "constant int steps [[function_constant(2)]];\n"
      "constant bool large = gain * 2 > 5.0f;\n"
      "constant bool some = bias;\n"
      "constant bool fits = int(gain) == steps && -gain + steps <= 0.5f;\n"
      "kernel void f(device float *x [[buffer(0), function_constant(large)]],\n"
      "  device float *y [[buffer(1), function_constant(some)]],\n"
      "  device float *z [[buffer(2), function_constant(fits)]],\n"
      "  device float *w [[buffer(3), function_constant(steps)]]) {}\n");
  static const struct {
    float gain;
    uint16_t bias;  // the bits of a half
    int steps;
    bool x, y, z, w;
  } cases[] = {{2.5f, 0, 2, false, false, true, true},
               {2.75f, 0x8000, 256, true, false, false, true},
               {-1.5f, 0x0001, -1, false, true, true, true},
               {0.25f, 0x3800, 0, false, true, true, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mtl_constant_values *values = new_values();
    CHECK_OK(
        mtl_constant_values_set(values, 0, MTL_TYPE_FLOAT, 1, &cases[i].gain));
    CHECK_OK(
        mtl_constant_values_set(values, 1, MTL_TYPE_HALF, 1, &cases[i].bias));
    CHECK_OK(
        mtl_constant_values_set(values, 2, MTL_TYPE_INT, 1, &cases[i].steps));
    mtl_function *function = NULL;
    CHECK_OK(mtl_function_create(library, "f", values, &function));
    release_function_later(function);
    size_t count = 0;
    const mtl_argument *arguments = mtl_function_arguments(function, &count);
    CHECK_EQUAL(count, 4);
    CHECK_EQUAL(arguments[0].is_active, cases[i].x);
    CHECK_EQUAL(arguments[1].is_active, cases[i].y);
    CHECK_EQUAL(arguments[2].is_active, cases[i].z);
    CHECK_EQUAL(arguments[3].is_active, cases[i].w);
  }
}

TEST(constants, sizes_of_types) {
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_NONE), 0);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_BOOL), 1);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_CHAR), 1);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_USHORT), 2);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_HALF), 2);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_BFLOAT), 2);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_INT), 4);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_FLOAT), 4);
  CHECK_EQUAL(mtl_data_type_size(MTL_TYPE_ULONG), 8);
}
