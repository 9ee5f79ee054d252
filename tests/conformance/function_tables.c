// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function_tables.c: visible functions, linked into pipelines, called through
// tables and by name. Each kernel runs in both tiers.
#include <stdio.h>
#include <string.h>

#include "conformance.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant float factor [[function_constant(0)]];\n"
    "constant float tripled = factor * 3;\n"
    "[[visible]] float twice(float x) { return 2 * x; }\n"
    "[[visible]] float square(float x) { return x * x; }\n"
    "[[stitchable]] float minus(float x) { return -x; }\n"
    "[[visible]] float scaled(float x) { return x * factor + tripled; }\n"
    "[[visible]] float by_simdgroup(float x) { return simd_sum(x); }\n"
    "[[visible]] int not_a_float(float x) { return int(x) + 1; }\n"
    "struct Pair { float a; uint b; float4 c; };\n"
    "[[visible]] Pair pair(Pair p, device float *at) {\n"
    "  at[0] += 1;\n"
    "  p.a *= 2;\n"
    "  p.c.w = p.b;\n"
    "  return p;\n"
    "}\n"
    "using Table = visible_function_table<float(float)>;\n"
    "[[visible]] float through(float x, Table t) { return t[0](x) + 1; }\n"
    "kernel void apply(Table t [[buffer(0)]],\n"
    "                  device const uint *which [[buffer(1)]],\n"
    "                  device float *out [[buffer(2)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = t[which[i]](out[i]);\n"
    "}\n"
    "kernel void ask(Table t [[buffer(0)]],\n"
    "                device const uint *which [[buffer(1)]],\n"
    "                device float *out [[buffer(2)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  float (*f)(float) = t[i % t.size()];\n"
    "  out[i] = t.empty() || is_null_visible_function_table(t) ? -1\n"
    "           : f ? f(out[i]) : 100;\n"
    "}\n"
    "kernel void nested(visible_function_table<float(float, Table)> t\n"
    "                       [[buffer(0)]],\n"
    "                   Table inner [[buffer(1)]],\n"
    "                   device float *out [[buffer(2)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = t[0](out[i], inner);\n"
    "}\n"
    "kernel void pairs(visible_function_table<Pair(Pair, device float *)> t\n"
    "                      [[buffer(0)]],\n"
    "                  device Pair *data [[buffer(1)]],\n"
    "                  device float *at [[buffer(2)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  data[i] = t[0](data[i], at + i);\n"
    "}\n"
    "struct Arguments {\n"
    "  device float *out; Table t; float4 more; Table u[2];\n"
    "};\n"
    "kernel void in_struct(constant Arguments &a [[buffer(0)]],\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "  a.out[i] = a.t[i % 2](a.out[i]) + a.u[1][0](a.more.x);\n"
    "}\n"
    "kernel void arrays(array<Table, 2> t [[buffer(3)]],\n"
    "                   device float *out [[buffer(2)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = t[1][0](t[0][0](out[i]));\n"
    "}\n"
    "extern float shade(float);\n"
    "kernel void by_name(device float *out [[buffer(2)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = shade(out[i]);\n"
    "}\n";

static const char shades[] =
    "[[visible]] float shade(float x) { return x + 0.5f; }\n";

static void release_table(void *table) {
  mtl_function_table_release(table);
}

static void release_handle(void *handle) {
  mtl_function_handle_release(handle);
}

static mtl_function *scaled_by(mtl_library *library, float factor) {
  mtl_constant_values *values = NULL;
  CHECK_OK(mtl_constant_values_create(&values));
  release_constants_later(values);
  CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_FLOAT, 1, &factor));
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(library, "scaled", values, &function));
  release_function_later(function);
  return function;
}

static mtl_pipeline *linked(mtl_library *library, const char *kernel,
                            mtl_function *const *functions, size_t count,
                            uint32_t depth, bool debug) {
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(
      new_function(library, kernel),
      &(mtl_pipeline_desc){.linked_functions = {.functions = functions,
                                                .function_count = count},
                           .max_call_stack_depth = depth,
                           .debug = debug},
      &pipeline));
  release_pipeline_later(pipeline);
  return pipeline;
}

static mtl_function_handle *handle_of(mtl_pipeline *pipeline,
                                      mtl_function *function) {
  mtl_function_handle *handle = NULL;
  CHECK_OK(mtl_pipeline_function_handle(pipeline, function, &handle));
  test_defer(release_handle, handle);
  return handle;
}

// A table with entries [count]; NULL leaves one empty.
static mtl_function_table *table_of(mtl_pipeline *pipeline,
                                    mtl_function *const *entries,
                                    uint32_t count) {
  mtl_function_table *table = NULL;
  CHECK_OK(mtl_function_table_create(
      pipeline, &(mtl_function_table_desc){.function_count = count}, &table));
  test_defer(release_table, table);
  for (uint32_t i = 0; i < count; i++) {
    if (entries[i]) {
      CHECK_OK(mtl_function_table_set(table, handle_of(pipeline, entries[i]),
                                      i));
    }
  }
  return table;
}

enum { THREADS = 70 };

static mtl_buffer *counting(void) {
  mtl_buffer *buffer = new_buffer(THREADS * 4);
  for (int i = 0; i < THREADS; i++) {
    floats(buffer)[i] = (float)i;
  }
  return buffer;
}

// Dispatches THREADS threads with the table and two buffers bound.
static mtl_status dispatch(mtl_pipeline *pipeline, mtl_function_table *table,
                           mtl_buffer *first, mtl_buffer *second) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_function_table(encoder, table, 0);
  if (first) {
    mtl_compute_encoder_set_buffer(encoder, first, 0, 1);
  }
  mtl_compute_encoder_set_buffer(encoder, second, 0, 2);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(THREADS, 1, 1),
                                       size_of(32, 1, 1));
  const mtl_status recorded = mtl_compute_encoder_end(encoder);
  const mtl_status committed = mtl_command_buffer_commit(commands);
  return recorded != MTL_OK    ? recorded
         : committed != MTL_OK ? committed
                               : mtl_command_buffer_wait(commands);
}

TEST(function_tables, threads_call_different_entries) {
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {
      new_function(library, "twice"), new_function(library, "square"),
      new_function(library, "minus"), scaled_by(library, 10),
      scaled_by(library, 100)};
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline = linked(library, "apply", functions, 5, 0, debug);
    mtl_function_table *table = table_of(pipeline, functions, 5);
    CHECK_EQUAL(mtl_function_table_count(table), 5);
    mtl_buffer *which = new_buffer(THREADS * 4), *out = counting();
    for (uint32_t i = 0; i < THREADS; i++) {
      words(which)[i] = i % 5;
    }
    CHECK_OK(dispatch(pipeline, table, which, out));
    for (int i = 0; i < THREADS; i++) {
      const float x = (float)i;
      const float expected[] = {2 * x, x * x, -x, x * 10 + 30, x * 100 + 300};
      CHECK(floats(out)[i] == expected[i % 5]);
    }
    // All threads the same.
    for (uint32_t i = 0; i < THREADS; i++) {
      words(which)[i] = 2;
    }
    CHECK_OK(dispatch(pipeline, table, which, out));
    CHECK(floats(out)[1] == -1);
    CHECK(floats(out)[69] == -6900 - 300);
    // Entries change without a new pipeline.
    CHECK_OK(mtl_function_table_set(table, handle_of(pipeline, functions[0]),
                                    2));
    CHECK_OK(dispatch(pipeline, table, which, out));
    CHECK(floats(out)[1] == -2);
  }
}

TEST(function_tables, functions_work_with_their_simdgroup) {
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {new_function(library, "by_simdgroup"),
                               new_function(library, "twice")};
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline = linked(library, "apply", functions, 2, 0, debug);
    mtl_function_table *table = table_of(pipeline, functions, 2);
    mtl_buffer *which = new_buffer(THREADS * 4), *out = counting();
    for (uint32_t i = 0; i < THREADS; i++) {
      words(which)[i] = i % 2;
    }
    CHECK_OK(dispatch(pipeline, table, which, out));
    // Even threads of the first simdgroup sum their numbers.
    CHECK(floats(out)[0] == 240);
    CHECK(floats(out)[30] == 240);
    CHECK(floats(out)[31] == 62);
  }
}

TEST(function_tables, tell_their_size_and_empty_entries) {
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {new_function(library, "twice"), NULL};
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline = linked(library, "ask", functions, 1, 0, debug);
    mtl_function_table *table = table_of(pipeline, functions, 2);
    mtl_buffer *out = counting();
    CHECK_OK(dispatch(pipeline, table, new_buffer(4), out));
    CHECK(floats(out)[8] == 16);
    CHECK(floats(out)[9] == 100);
    CHECK_OK(mtl_function_table_set(table, NULL, 0));
    CHECK_OK(dispatch(pipeline, table, new_buffer(4), out));
    CHECK(floats(out)[8] == 100);
  }
}

TEST(function_tables, structs_and_pointers_are_arguments) {
  typedef struct pair {
    float a;
    uint32_t b;
    uint32_t unused[2];
    float c[4];
  } pair;
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {new_function(library, "pair")};
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline = linked(library, "pairs", functions, 1, 0, debug);
    mtl_buffer *data = new_buffer(THREADS * sizeof(pair)), *at = counting();
    pair *pairs = mtl_buffer_contents(data);
    for (uint32_t i = 0; i < THREADS; i++) {
      pairs[i] = (pair){.a = 1 + (float)i, .b = i, .c = {1, 2, 3, 4}};
    }
    CHECK_OK(dispatch(pipeline, table_of(pipeline, functions, 1), data, at));
    CHECK(pairs[33].a == 68);
    CHECK(pairs[33].c[2] == 3);
    CHECK(pairs[33].c[3] == 33);
    CHECK(floats(at)[33] == 34);
  }
}

// --- tables inside other things ----------------------------------------------

TEST(function_tables, lie_in_argument_buffers) {
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {new_function(library, "twice"),
                               new_function(library, "minus")};
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline =
        linked(library, "in_struct", functions, 2, 0, debug);
    mtl_function_table *table = table_of(pipeline, functions, 2);
    mtl_argument_encoder *arguments = NULL;
    CHECK_OK(mtl_argument_encoder_create(new_function(library, "in_struct"), 0,
                                         &arguments));
    mtl_buffer *target = new_buffer(64), *out = counting();
    CHECK_EQUAL(mtl_argument_encoder_encoded_length(arguments), 48);
    CHECK_OK(mtl_argument_encoder_set_argument_buffer(arguments, target, 0));
    CHECK_OK(mtl_argument_encoder_set_buffer(arguments, out, 0, 0));
    CHECK_OK(mtl_argument_encoder_set_function_table(arguments, table, 1));
    CHECK_EQUAL(mtl_argument_encoder_set_function_table(arguments, table, 0),
                MTL_INVALID_ARGUMENT);
    *(float *)mtl_argument_encoder_constant_data(arguments, 2) = 1000;
    CHECK_OK(mtl_argument_encoder_set_function_table(arguments, table, 4));
    const uint64_t id = mtl_function_table_resource_id(table);
    CHECK(memcmp((char *)mtl_buffer_contents(target) + 8, &id, 8) == 0);
    mtl_argument_encoder_release(arguments);
    mtl_command_buffer *commands = new_commands(new_queue());
    mtl_compute_encoder *encoder = new_encoder(commands);
    mtl_compute_encoder_set_pipeline(encoder, pipeline);
    mtl_compute_encoder_set_buffer(encoder, target, 0, 0);
    mtl_compute_encoder_use_buffer(encoder, out,
                                   MTL_USAGE_READ | MTL_USAGE_WRITE);
    mtl_compute_encoder_use_function_table(encoder, table);
    mtl_compute_encoder_dispatch_threads(encoder, size_of(THREADS, 1, 1),
                                         size_of(32, 1, 1));
    end(encoder);
    finish(commands);
    CHECK(floats(out)[6] == 2012);
    CHECK(floats(out)[7] == 1993);
  }
}

TEST(function_tables, come_in_arrays) {
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {new_function(library, "square"),
                               new_function(library, "minus")};
  mtl_pipeline *pipeline = linked(library, "arrays", functions, 2, 0, false);
  mtl_function_table *tables[] = {table_of(pipeline, functions, 1),
                                  table_of(pipeline, functions + 1, 1)};
  mtl_buffer *out = counting();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_function_tables(encoder, tables, 3, 2);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 2);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(THREADS, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
  finish(commands);
  CHECK(floats(out)[9] == -81);
}

// --- calls within calls, and by name -----------------------------------------

TEST(function_tables, functions_call_through_tables_as_deep_as_told) {
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {new_function(library, "through"),
                               new_function(library, "square")};
  for (int debug = 0; debug < 2; debug++) {
    for (uint32_t depth = 1; depth <= 2; depth++) {
      mtl_pipeline *pipeline =
          linked(library, "nested", functions, 2, depth, debug);
      mtl_function_table *outer = table_of(pipeline, functions, 1);
      mtl_function_table *inner = table_of(pipeline, functions + 1, 1);
      mtl_buffer *out = counting();
      mtl_command_buffer *commands = new_commands(new_queue());
      mtl_compute_encoder *encoder = new_encoder(commands);
      mtl_compute_encoder_set_pipeline(encoder, pipeline);
      mtl_compute_encoder_set_function_tables(
          encoder, (mtl_function_table *[]){outer, inner}, 0, 2);
      mtl_compute_encoder_set_buffer(encoder, out, 0, 2);
      mtl_compute_encoder_dispatch_threads(encoder, size_of(THREADS, 1, 1),
                                           size_of(32, 1, 1));
      end(encoder);
      CHECK_OK(mtl_command_buffer_commit(commands));
      if (depth == 1) {
        CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT,
                    "max_call_stack_depth");
      } else {
        CHECK_OK(mtl_command_buffer_wait(commands));
        CHECK(floats(out)[5] == 26);
      }
    }
  }
}

TEST(function_tables, private_functions_are_called_by_name) {
  mtl_library *library = new_library(source);
  mtl_function *shade = new_function(new_library(shades), "shade");
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline = NULL;
    CHECK_OK(mtl_pipeline_create(
        new_function(library, "by_name"),
        &(mtl_pipeline_desc){
            .linked_functions = {.private_functions = &shade,
                                 .private_function_count = 1},
            .debug = debug},
        &pipeline));
    release_pipeline_later(pipeline);
    mtl_buffer *out = counting();
    CHECK_OK(dispatch(pipeline, NULL, NULL, out));
    CHECK(floats(out)[41] == 41.5f);
    mtl_function_handle *handle = NULL;
    CHECK_EQUAL(mtl_pipeline_function_handle(pipeline, shade, &handle),
                MTL_NOT_FOUND);
  }
}

TEST(function_tables, a_function_nobody_defines_is_an_error) {
  mtl_pipeline *pipeline = NULL;
  CHECK_EQUAL(mtl_pipeline_create(new_function(new_library(source), "by_name"),
                                  NULL, &pipeline),
              MTL_UNSUPPORTED);
  CHECK_CONTAINS(mtl_last_error(), "kernel by_name calls shade, which has no");
}

TEST(function_tables, pipelines_keep_their_functions) {
  mtl_library *library = new_library(source);
  mtl_function *square = NULL;
  CHECK_OK(mtl_function_create(library, "square", NULL, &square));
  mtl_function *kernel = new_function(library, "apply");
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(
      kernel,
      &(mtl_pipeline_desc){.linked_functions = {.functions = &square,
                                                .function_count = 1}},
      &pipeline));
  mtl_function_release(square);
  release_pipeline_later(pipeline);
  // A function that is created again is the same function.
  mtl_function *again = new_function(library, "square");
  mtl_function_table *table = table_of(pipeline, &again, 1);
  mtl_buffer *out = counting();
  CHECK_OK(dispatch(pipeline, table, new_buffer(THREADS * 4), out));
  CHECK(floats(out)[12] == 144);
}

// --- what goes wrong ---------------------------------------------------------

static void check_fault(mtl_pipeline *pipeline, mtl_function_table *table,
                        uint32_t index, const char *text) {
  mtl_buffer *which = new_buffer(THREADS * 4), *out = counting();
  words(which)[37] = index;
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_function_table(encoder, table, 0);
  mtl_compute_encoder_set_buffer(encoder, which, 0, 1);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 2);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(THREADS, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
  const char *error = NULL;
  CHECK_EQUAL(mtl_command_buffer_error(commands, &error), MTL_KERNEL_FAULT);
  CHECK_CONTAINS(error, text);
  CHECK_CONTAINS(error,
                 "tables.metal:24, thread (5, 0, 0) of threadgroup (1, 0, 0)");
}

TEST(function_tables, wrong_entries_fault_with_thread_and_line) {
  mtl_library *library = new_library_with(
      source, &(mtl_compile_options){.file_name = "tables.metal"});
  mtl_function *functions[] = {new_function(library, "twice"), NULL,
                               new_function(library, "not_a_float")};
  mtl_function *both[] = {functions[0], functions[2]};
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline = linked(library, "apply", both, 2, 0, debug);
    mtl_function_table *table = table_of(pipeline, functions, 3);
    check_fault(pipeline, table, 1, "empty or of another type");
    check_fault(pipeline, table, 2, "empty or of another type");
    check_fault(pipeline, table, 3, "past the end of a function table");
    check_fault(pipeline, table, 0x80000000u, "past the end");
  }
}

TEST(function_tables, handles_and_tables_belong_to_a_pipeline) {
  mtl_library *library = new_library(source);
  mtl_function *functions[] = {new_function(library, "twice"),
                               new_function(library, "square")};
  mtl_pipeline *one = linked(library, "apply", functions, 1, 0, false);
  mtl_pipeline *two = linked(library, "apply", functions, 2, 0, false);
  mtl_function_handle *handle = NULL;
  CHECK_EQUAL(mtl_pipeline_function_handle(one, functions[1], &handle),
              MTL_NOT_FOUND);
  CHECK_CONTAINS(mtl_last_error(), "'square'");
  handle = handle_of(two, functions[0]);
  CHECK(strcmp(mtl_function_handle_name(handle), "twice") == 0);
  mtl_function_table *table = table_of(one, functions, 1);
  CHECK_EQUAL(mtl_function_table_set(table, handle, 0), MTL_INVALID_ARGUMENT);
  CHECK_EQUAL(mtl_function_table_set(table, NULL, 1), MTL_INVALID_ARGUMENT);
  mtl_function_handle *none[3] = {NULL, NULL, NULL};
  CHECK_EQUAL(mtl_function_table_set_range(table, none, 0, 2),
              MTL_INVALID_ARGUMENT);
  CHECK_OK(mtl_function_table_set_range(table, none, 0, 1));
  CHECK_EQUAL(dispatch(two, table, new_buffer(THREADS * 4), counting()),
              MTL_INVALID_ARGUMENT);
  CHECK_EQUAL(dispatch(two, NULL, new_buffer(THREADS * 4), counting()),
              MTL_INVALID_ARGUMENT);
  CHECK_EQUAL(mtl_function_table_create(
                  one, &(mtl_function_table_desc){0}, &table),
              MTL_INVALID_ARGUMENT);
}

TEST(function_tables, only_visible_functions_are_linked) {
  mtl_library *library = new_library(source);
  mtl_function *kernel = new_function(library, "ask");
  mtl_function *visible = new_function(library, "twice");
  CHECK(mtl_function_is_visible(visible) && !mtl_function_is_visible(kernel));
  mtl_pipeline *pipeline = NULL;
  CHECK_EQUAL(mtl_pipeline_create(visible, NULL, &pipeline),
              MTL_INVALID_ARGUMENT);
  CHECK_CONTAINS(mtl_last_error(), "visible function");
  const mtl_pipeline_desc itself = {
      .linked_functions = {.functions = &kernel, .function_count = 1}};
  CHECK_EQUAL(mtl_pipeline_create(kernel, &itself, &pipeline),
              MTL_INVALID_ARGUMENT);
  CHECK_EQUAL(mtl_pipeline_create(
                  kernel, &(mtl_pipeline_desc){.max_call_stack_depth = 9},
                  &pipeline),
              MTL_INVALID_ARGUMENT);
}

TEST(function_tables, are_reflected) {
  mtl_library *library = new_library(source);
  size_t count = 0;
  const mtl_argument *arguments =
      mtl_function_arguments(new_function(library, "arrays"), &count);
  CHECK_EQUAL(count, 2);
  CHECK_EQUAL(arguments[0].kind, MTL_ARGUMENT_FUNCTION_TABLE);
  CHECK_EQUAL(arguments[0].index, 3);
  CHECK_EQUAL(arguments[0].array_length, 2);
  const size_t functions = mtl_library_function_count(library);
  size_t visible = 0;
  for (size_t i = 0; i < functions; i++) {
    visible += mtl_library_function_is_visible(library, i);
  }
  CHECK_EQUAL(visible, 8);
  CHECK_EQUAL(functions, 15);
  CHECK(!mtl_library_function_is_visible(library, 0));
  CHECK(mtl_library_function_is_visible(library, functions - 1));
}
