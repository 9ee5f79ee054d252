// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipelines.c: functions made ready, at once or in the background.
#include "conformance.h"

#include <pthread.h>
#include <string.h>

TEST(pipelines, properties_of_a_plain_kernel) {
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  CHECK_EQUAL(mtl_pipeline_max_total_threads_per_threadgroup(pipeline),
              the_info()->max_threads_per_threadgroup);
  CHECK_EQUAL(mtl_pipeline_thread_execution_width(pipeline), 32);
  CHECK_EQUAL(mtl_pipeline_static_threadgroup_memory_bytes(pipeline), 0);
  CHECK_TEXT(mtl_pipeline_label(pipeline), "add_one");
}

TEST(pipelines, description_limits_and_labels) {
  mtl_function *function = new_function(new_library(simple_kernels), "add_one");
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(
      function,
      &(mtl_pipeline_desc){.max_total_threads_per_threadgroup = 128,
                           .label = "adder"},
      &pipeline));
  CHECK_EQUAL(mtl_pipeline_max_total_threads_per_threadgroup(pipeline), 128);
  CHECK_TEXT(mtl_pipeline_label(pipeline), "adder");
  mtl_pipeline_release(pipeline);
}

TEST(pipelines, attribute_limits_threads) {
  mtl_pipeline *pipeline = new_pipeline(
      "[[kernel, max_total_threads_per_threadgroup(64)]]\n"
      "void k(device int *p [[buffer(0)]]) { p[0] = 1; }\n",
      "k");
  CHECK_EQUAL(mtl_pipeline_max_total_threads_per_threadgroup(pipeline), 64);
}

TEST(pipelines, limit_over_the_devices_is_refused) {
  mtl_pipeline *pipeline = (mtl_pipeline *)1;
  CHECK_ERROR(
      mtl_pipeline_create(
          new_function(new_library(simple_kernels), "add_one"),
          &(mtl_pipeline_desc){.max_total_threads_per_threadgroup = 1000000},
          &pipeline),
      MTL_INVALID_ARGUMENT, "1000000");
  CHECK(pipeline == NULL);
}

TEST(pipelines, static_threadgroup_memory_is_counted) {
  mtl_pipeline *pipeline = new_pipeline(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void k(device float *p [[buffer(0)]],\n"
      "              uint i [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float tile[256];\n"
      "  tile[i] = p[i];\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  p[i] = tile[255 - i];\n"
      "}\n",
      "k");
  const size_t bytes = mtl_pipeline_static_threadgroup_memory_bytes(pipeline);
  CHECK(bytes >= 1024 && bytes < 1024 + 64);  // room for alignment only
}

TEST(pipelines, static_threadgroup_memory_over_the_limit_is_refused) {
  mtl_pipeline *pipeline = (mtl_pipeline *)1;
  mtl_library *library = new_library(
      "kernel void k(device float *p [[buffer(0)]],\n"
      "              uint i [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float tile[1 << 20];\n"
      "  tile[i] = p[i];\n"
      "  p[i] = tile[i ^ 1];\n"
      "}\n");
  const mtl_status status =
      mtl_pipeline_create(new_function(library, "k"), NULL, &pipeline);
  CHECK(status != MTL_OK);
  CHECK(pipeline == NULL);
  CHECK_CONTAINS(mtl_last_error(), "4194304");
}

// Private memory over the limit is told in both tiers, whatever they make of
// it.
static void check_refused(const char *source, const char *kernel,
                          const char *const *texts, size_t count) {
  for (int debug = 0; debug < 2; debug++) {
    mtl_pipeline *pipeline = (mtl_pipeline *)1;
    mtl_library *library = new_library_with(
        source, &(mtl_compile_options){.file_name = "large.metal"});
    CHECK_EQUAL(
        mtl_pipeline_create(new_function(library, kernel),
                            &(mtl_pipeline_desc){.debug = debug}, &pipeline),
        MTL_UNSUPPORTED);
    CHECK(pipeline == NULL);
    for (size_t i = 0; i < count; i++) {
      CHECK_CONTAINS(mtl_last_error(), texts[i]);
    }
  }
}

TEST(pipelines, private_memory_over_the_limit_is_refused) {
  static const char source[] =
      "kernel void one(device uint *x [[buffer(0)]]) {\n"
      "  uint a[1 << 26];\n"
      "  for (uint j = 0; j < (1 << 26); j += x[0]) { a[j] = j; }\n"
      "  x[0] = a[x[1]];\n"
      "}\n"
      "struct half_full { uint words[150000]; };\n"
      "static uint fill(thread half_full &h, uint n) {\n"
      "  half_full own;\n"
      "  for (uint j = 0; j < 150000; j++) { own.words[j] = h.words[j] * n; }\n"
      "  return own.words[n];\n"
      "}\n"
      "kernel void two(device uint *x [[buffer(0)]]) {\n"
      "  half_full h;\n"
      "  for (uint j = 0; j < 150000; j++) { h.words[j] = j; }\n"
      "  x[0] = fill(h, x[1]);\n"
      "}\n";
  const char *const one[] = {"large.metal:1", "268435456", "1048576"};
  check_refused(source, "one", one, 3);
  const char *const two[] = {"large.metal:12", "1200000", "1048576"};
  check_refused(source, "two", two, 3);
}

TEST(pipelines, private_memory_of_no_fixed_size_is_refused) {
  static const char *const sources[][2] = {
      {"kernel void k(device uint *x [[buffer(0)]]) {\n"
       "  uint *a = (uint *)__builtin_alloca(x[0] * 4);\n"
       "  x[0] = a[x[1]];\n"
       "}\n",
       "'__builtin_alloca' is not supported in Metal"},
      {"kernel void k(device uint *x [[buffer(0)]]) {\n"
       "  uint a[x[0]];\n"
       "  x[0] = a[x[1]];\n"
       "}\n",
       "variable length arrays are not supported"},
  };
  for (size_t i = 0; i < 2; ++i) {
    mtl_library *library = NULL;
    CHECK_ERROR(mtl_library_create_from_source(the_device(), sources[i][0],
                                               strlen(sources[i][0]), NULL,
                                               &library),
                MTL_COMPILE_FAILED, "program_source:2:");
    CHECK_CONTAINS(mtl_last_error(), sources[i][1]);
  }
}

TEST(pipelines, outlive_function_and_library) {
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(
      the_device(), simple_kernels, strlen(simple_kernels), NULL, &library));
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(library, "store_index", NULL, &function));
  mtl_library_release(library);
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_function_release(function);
  mtl_buffer *out = new_buffer(400);
  RUN(pipeline, size_of(100, 1, 1), size_of(32, 1, 1), out);
  CHECK_EQUAL(words(out)[99], 99);
  mtl_pipeline_release(pipeline);
}

TEST(pipelines, debug_gives_the_same_numbers) {
  mtl_library *library = new_library(simple_kernels);
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(new_function(library, "store_index"),
                               &(mtl_pipeline_desc){.debug = true}, &pipeline));
  release_pipeline_later(pipeline);
  mtl_buffer *out = new_buffer(400);
  RUN(pipeline, size_of(100, 1, 1), size_of(32, 1, 1), out);
  for (uint32_t i = 0; i < 100; i++) {
    CHECK_EQUAL(words(out)[i], i);
  }
}

typedef struct arrival {
  pthread_mutex_t lock;
  pthread_cond_t arrived;
  int calls;
  mtl_pipeline *pipeline;
  mtl_status status;
  char error[256];
  pthread_t thread;
} arrival;

static void note_arrival(void *context, mtl_pipeline *pipeline,
                         mtl_status status, const char *error) {
  arrival *note = context;
  pthread_mutex_lock(&note->lock);
  note->calls++;
  note->pipeline = pipeline;
  note->status = status;
  strncpy(note->error, error ? error : "", sizeof note->error - 1);
  note->thread = pthread_self();
  pthread_cond_signal(&note->arrived);
  pthread_mutex_unlock(&note->lock);
}

static void await(arrival *note) {
  pthread_mutex_lock(&note->lock);
  while (note->calls == 0) {
    pthread_cond_wait(&note->arrived, &note->lock);
  }
  pthread_mutex_unlock(&note->lock);
}

TEST(pipelines, asynchronous_creation_calls_back) {
  arrival note = {PTHREAD_MUTEX_INITIALIZER,
                  PTHREAD_COND_INITIALIZER,
                  0,
                  NULL,
                  MTL_OK,
                  "",
                  pthread_self()};
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(new_library(simple_kernels), "store_index", NULL,
                               &function));
  CHECK_OK(mtl_pipeline_create_async(function, NULL, note_arrival, &note));
  mtl_function_release(function);
  await(&note);
  CHECK_EQUAL(note.status, MTL_OK);
  CHECK(note.pipeline != NULL);
  CHECK(!pthread_equal(note.thread, pthread_self()));
  mtl_buffer *out = new_buffer(40);
  RUN(note.pipeline, size_of(10, 1, 1), size_of(10, 1, 1), out);
  CHECK_EQUAL(words(out)[9], 9);
  mtl_pipeline_release(note.pipeline);
}

TEST(pipelines, asynchronous_creation_that_fails_calls_back_with_the_reason) {
  arrival note = {.lock = PTHREAD_MUTEX_INITIALIZER,
                  .arrived = PTHREAD_COND_INITIALIZER,
                  .pipeline = (mtl_pipeline *)1,
                  .thread = pthread_self()};
  mtl_library *library = new_library(
      "#include <metal_stdlib>\n"
      "int deep(int n) {\n"
      "  return n < 2 ? metal::simd_sum(n) : deep(n - 1) + deep(n - 2);\n"
      "}\n"
      "kernel void k(device int *p) { p[0] = deep(p[1]); }\n");
  CHECK_OK(mtl_pipeline_create_async(new_function(library, "k"), NULL,
                                     note_arrival, &note));
  await(&note);
  CHECK_EQUAL(note.status, MTL_UNSUPPORTED);
  CHECK(note.pipeline == NULL);
  CHECK_CONTAINS(note.error, "deep calls itself");
}

TEST(pipelines, asynchronous_creations_run_side_by_side) {
  enum { COUNT = 8 };
  static arrival notes[COUNT];
  mtl_library *library = new_library(simple_kernels);
  for (int i = 0; i < COUNT; i++) {
    pthread_mutex_init(&notes[i].lock, NULL);
    pthread_cond_init(&notes[i].arrived, NULL);
    CHECK_OK(mtl_pipeline_create_async(
        new_function(library, i % 2 ? "add_one" : "store_index"), NULL,
        note_arrival, &notes[i]));
  }
  for (int i = 0; i < COUNT; i++) {
    await(&notes[i]);
    CHECK_EQUAL(notes[i].calls, 1);
    CHECK_EQUAL(notes[i].status, MTL_OK);
    mtl_pipeline_release(notes[i].pipeline);
  }
}

TEST(pipelines, null_arguments_are_refused) {
  mtl_pipeline *pipeline = (mtl_pipeline *)1;
  CHECK_ERROR(mtl_pipeline_create(NULL, NULL, &pipeline), MTL_INVALID_ARGUMENT,
              "function");
  mtl_function *function = new_function(new_library(simple_kernels), "add_one");
  CHECK_ERROR(mtl_pipeline_create(function, NULL, NULL), MTL_INVALID_ARGUMENT,
              "out_pipeline");
  CHECK_ERROR(mtl_pipeline_create_async(function, NULL, NULL, NULL),
              MTL_INVALID_ARGUMENT, "callback");
  mtl_pipeline_release(NULL);
}

TEST(pipelines, functions_of_other_stages_are_told) {
  mtl_library *library = new_library(
      "struct V { float4 p [[position]]; };\n"
      "vertex V place(uint i [[vertex_id]]) { return V{float4(i)}; }\n"
      "[[mesh]] void shape() {}\n"
      "kernel void k(device float *x [[buffer(0)]]) { x[0] = 1; }\n");
  CHECK_EQUAL(mtl_library_function_count(library), 1);
  mtl_function *function = NULL;
  CHECK_ERROR(mtl_function_create(library, "place", NULL, &function),
              MTL_UNSUPPORTED, "'place' is a function of the stage 'vertex'");
  CHECK_ERROR(mtl_function_create(library, "shape", NULL, &function),
              MTL_UNSUPPORTED, "'shape' is a function of the stage 'mesh'");
  CHECK_ERROR(mtl_function_create(library, "plac", NULL, &function),
              MTL_NOT_FOUND, "'plac'");
}
