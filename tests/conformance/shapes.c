// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shapes.c: one pipeline, dispatched in threadgroups of many shapes: by hand,
// from many threads at once, and where no code for a shape can be had.
#include "conformance.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Each thread writes its position once, and passes its index on to its
// neighbour through threadgroup memory. The number makes a source that no cache
// knows.
static const char source_format[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void note(device uint2 *out [[buffer(0)]],\n"
    "                 uint3 p [[thread_position_in_grid]],\n"
    "                 uint3 n [[threads_per_grid]],\n"
    "                 uint3 size [[threads_per_threadgroup]],\n"
    "                 uint index [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup uint shared[1024];\n"
    "  uint i = (p.z * n.y + p.y) * n.x + p.x;\n"
    "  shared[index] = i;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  uint count = size.x * size.y * size.z;\n"
    "  out[i] = uint2(out[i].x + i * 7 + %u, shared[(index + 1) %% count]);\n"
    "}\n";

typedef struct shape {
  mtl_size grid;
  mtl_size group;
} shape;

static const shape shapes[] = {
    {{256, 1, 1}, {64, 1, 1}},  {{300, 1, 1}, {77, 1, 1}},
    {{40, 1, 1}, {16, 1, 1}},   {{64, 9, 1}, {32, 4, 1}},
    {{70, 9, 1}, {32, 4, 1}},   {{32, 32, 1}, {16, 16, 1}},
    {{29, 45, 1}, {16, 16, 1}}, {{24, 16, 1}, {8, 8, 1}},
    {{23, 13, 1}, {8, 8, 1}},   {{13, 10, 3}, {4, 4, 2}},
    {{15, 14, 2}, {5, 7, 1}},   {{1, 70, 1}, {1, 70, 1}},
    {{9, 9, 1}, {32, 8, 1}},    {{100, 1, 1}, {20, 4, 1}},
    {{60, 2, 3}, {24, 1, 2}},   {{33, 4, 1}, {8, 4, 1}},
    {{3, 200, 1}, {1, 64, 1}},  {{3, 150, 2}, {1, 40, 1}},
    {{2, 3, 100}, {1, 1, 32}},  {{2, 20, 9}, {1, 8, 4}},
    {{500, 6, 1}, {1, 2, 1}},   {{1, 90, 4}, {8, 32, 1}},
};

static uint32_t lesser(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

// The linear index in the grid of the thread that is number k of the
// threadgroup that begins at origin.
static uint32_t index_of(const shape *s, mtl_size origin, mtl_size size,
                         uint32_t k) {
  const uint32_t x = origin.x + k % size.x;
  const uint32_t y = origin.y + k / size.x % size.y;
  const uint32_t z = origin.z + k / size.x / size.y;
  return (z * s->grid.y + y) * s->grid.x + x;
}

// True if out holds the kernel's expected results.
static bool is_right(const shape *s, uint32_t number, uint32_t runs,
                     const uint32_t *out) {
  const mtl_size n = s->grid;
  for (uint32_t i = 0; i < n.x * n.y * n.z; i++) {
    const mtl_size p = {i % n.x, i / n.x % n.y, i / n.x / n.y};
    const mtl_size origin = {p.x - p.x % s->group.x, p.y - p.y % s->group.y,
                             p.z - p.z % s->group.z};
    const mtl_size size = {lesser(s->group.x, n.x - origin.x),
                           lesser(s->group.y, n.y - origin.y),
                           lesser(s->group.z, n.z - origin.z)};
    const uint32_t k =
        ((p.z - origin.z) * size.y + p.y - origin.y) * size.x + p.x - origin.x;
    const uint32_t next = (k + 1) % (size.x * size.y * size.z);
    if (out[2 * i] != runs * (i * 7 + number) ||
        out[2 * i + 1] != index_of(s, origin, size, next)) {
      return false;
    }
  }
  return true;
}

static mtl_library *library_of(uint32_t number) {
  char source[2048];
  snprintf(source, sizeof source, source_format, number);
  return new_library(source);
}

static mtl_buffer *buffer_for(const shape *s) {
  return new_buffer((size_t)s->grid.x * s->grid.y * s->grid.z * 8);
}

static void check_shape(mtl_pipeline *pipeline, const shape *s,
                        uint32_t number) {
  mtl_buffer *out = buffer_for(s);
  RUN(pipeline, s->grid, s->group, out);
  if (!is_right(s, number, 1, words(out))) {
    test_fail(__FILE__, __LINE__, "grid %ux%ux%u in groups of %ux%ux%u",
              s->grid.x, s->grid.y, s->grid.z, s->group.x, s->group.y,
              s->group.z);
  }
}

TEST(shapes, one_pipeline_runs_them_all) {
  mtl_pipeline *pipeline = new_pipeline_from(library_of(1), "note");
  for (size_t i = 0; i < COUNT_OF(shapes); i++) {
    check_shape(pipeline, &shapes[i], 1);
  }
}

// The class that a pipeline was created for does not limit its use.
TEST(shapes, announced_and_others) {
  mtl_function *function = new_function(library_of(1), "note");
  static const uint32_t announced[][3] = {{8, 8, 1}, {1, 70, 1}, {16, 1, 1}};
  for (size_t i = 0; i < COUNT_OF(announced); i++) {
    mtl_pipeline_desc desc = {0};
    memcpy(desc.group_threads, announced[i], sizeof desc.group_threads);
    mtl_pipeline *pipeline = NULL;
    CHECK_OK(mtl_pipeline_create(function, &desc, &pipeline));
    release_pipeline_later(pipeline);
    check_shape(pipeline, &shapes[0], 1);
    check_shape(pipeline, &shapes[7], 1);
    check_shape(pipeline, &shapes[10], 1);
  }
}

// A tree whose steps hang on how many threads there are, in memory of as much:
// each number of simdgroups may get code of its own while others' serves.
static const char tree_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void add_up(device const uint *in [[buffer(0)]],\n"
    "                   device uint *out [[buffer(1)]],\n"
    "                   threadgroup uint *sums [[threadgroup(0)]],\n"
    "                   uint i [[thread_position_in_grid]],\n"
    "                   uint l [[thread_index_in_threadgroup]],\n"
    "                   uint n [[threads_per_threadgroup]],\n"
    "                   uint g [[threadgroup_position_in_grid]]) {\n"
    "  sums[l] = in[i];\n"
    "  for (uint step = n / 2; step > 0; step /= 2) {\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (l < step) sums[l] += sums[l + step];\n"
    "  }\n"
    "  if (l == 0) out[g] = sums[0] + n;\n"
    "}\n";

enum { TREE_THREADS = 4096 };

static void run_tree(mtl_queue *queue, mtl_pipeline *pipeline, mtl_buffer *in,
                     mtl_buffer *out, uint32_t threads) {
  mtl_command_buffer *commands = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, in, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 1);
  mtl_compute_encoder_set_threadgroup_memory(encoder, threads * 4, 0);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){TREE_THREADS, 1, 1},
                                       (mtl_size){threads, 1, 1});
  end(encoder);
  finish(commands);
  for (uint32_t g = 0; g < TREE_THREADS / threads; g++) {
    const uint32_t first = g * threads;
    const uint32_t last = first + threads - 1;
    CHECK_EQUAL(words(out)[g], (first + last) * threads / 2 + threads);
  }
}

TEST(shapes, better_code_comes_when_it_is_there) {
  enum { ROUNDS = 100 };
  static const uint32_t sizes[] = {256, 64, 32, 512, 128, 16};
  mtl_queue *queue = new_queue();
  mtl_buffer *in = new_buffer(TREE_THREADS * 4);
  mtl_buffer *out = new_buffer(TREE_THREADS * 4);
  for (uint32_t i = 0; i < TREE_THREADS; i++) {
    words(in)[i] = i;
  }
  for (uint32_t announced = 0; announced < 512; announced += 256) {
    mtl_pipeline_desc desc = {0};
    desc.group_threads[0] = announced;
    desc.group_threads[1] = desc.group_threads[2] = 1;
    mtl_pipeline *pipeline = NULL;
    CHECK_OK(mtl_pipeline_create(
        new_function(new_library(tree_source), "add_up"), &desc, &pipeline));
    release_pipeline_later(pipeline);
    for (uint32_t k = 0; k < ROUNDS; k++) {
      for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        run_tree(queue, pipeline, in, out, sizes[i]);
      }
    }
  }
}

TEST(shapes, function_and_library_may_be_gone) {
  mtl_library *library = NULL;
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  char source[2048];
  snprintf(source, sizeof source, source_format, 2);
  CHECK_OK(mtl_library_create_from_source(the_device(), source, strlen(source),
                                          NULL, &library));
  CHECK_OK(mtl_function_create(library, "note", NULL, &function));
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_function_release(function);
  mtl_library_release(library);
  release_pipeline_later(pipeline);
  check_shape(pipeline, &shapes[7], 2);
}

// A pipeline that is released while the code for a dispatch is being made.
TEST(shapes, released_while_under_way) {
  const shape *s = &shapes[10];
  mtl_library *library = library_of(3);
  mtl_function *function = new_function(library, "note");
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_buffer *out = buffer_for(s);
  mtl_command_buffer *commands = new_commands(new_queue());
  encode(commands, pipeline, out, s->grid, s->group);
  CHECK_OK(mtl_command_buffer_commit(commands));
  mtl_pipeline_release(pipeline);
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK(is_right(s, 3, 1, words(out)));
}

// Compilation for a dispatch does not count as time of the device. The first
// run of a small grid is far shorter than the compilation before it.
TEST(shapes, time_of_compilation_is_not_the_devices) {
  const shape *s = &shapes[10];
  const uint32_t number = (uint32_t)now_ns();
  mtl_pipeline *pipeline = new_pipeline_from(library_of(number), "note");
  mtl_buffer *out = buffer_for(s);
  mtl_command_buffer *commands = new_commands(new_queue());
  encode(commands, pipeline, out, s->grid, s->group);
  // A device may make the code when the work is handed over.
  const uint64_t handed_over_ns = now_ns();
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK(is_right(s, number, 1, words(out)));
  const mtl_command_buffer_times times = mtl_command_buffer_get_times(commands);
  CHECK(times.device_end_ns - times.device_start_ns <
        times.device_start_ns - handed_over_ns);
}

// --- many threads at once ----------------------------------------------------

enum { SIDE_BY_SIDE = 6, RUNS = 3 };

typedef struct encoding {
  mtl_pipeline *pipeline;
  mtl_queue *queue;
  mtl_buffer *out[COUNT_OF(shapes)];
  size_t first;
  bool is_good;
} encoding;

// Encodes every shape a few times into one command buffer, from a shape of
// its own on, in an encoder that orders nothing but what it must.
static void *encode_all(void *context) {
  encoding *it = context;
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  CHECK_OK(mtl_command_buffer_create(it->queue, NULL, &commands));
  CHECK_OK(
      mtl_compute_encoder_create(commands, MTL_DISPATCH_CONCURRENT, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, it->pipeline);
  for (size_t i = 0; i < RUNS * COUNT_OF(shapes); i++) {
    const size_t k = (it->first + i) % COUNT_OF(shapes);
    mtl_compute_encoder_set_buffer(encoder, it->out[k], 0, 0);
    mtl_compute_encoder_dispatch_threads(encoder, shapes[k].grid,
                                         shapes[k].group);
  }
  CHECK_OK(mtl_compute_encoder_end(encoder));
  CHECK_OK(mtl_command_buffer_commit(commands));
  it->is_good = mtl_command_buffer_wait(commands) == MTL_OK;
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  return NULL;
}

TEST(shapes, many_threads_at_once) {
  encoding workers[SIDE_BY_SIDE];
  pthread_t threads[SIDE_BY_SIDE];
  mtl_pipeline *pipeline = new_pipeline_from(library_of(4), "note");
  for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
    workers[i] =
        (encoding){.pipeline = pipeline, .queue = new_queue(), .first = 3 * i};
    for (size_t k = 0; k < COUNT_OF(shapes); k++) {
      workers[i].out[k] = buffer_for(&shapes[k]);
    }
  }
  for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, encode_all, &workers[i]), 0);
  }
  for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    CHECK(workers[i].is_good);
    for (size_t k = 0; k < COUNT_OF(shapes); k++) {
      CHECK(is_right(&shapes[k], 4, RUNS, words(workers[i].out[k])));
    }
  }
}

// --- no code to be had -------------------------------------------------------

// Runs a shape; returns the status and the command buffer's text.
static mtl_status try_shape(mtl_pipeline *pipeline, const shape *s,
                            mtl_buffer *out, char *text, size_t capacity) {
  mtl_command_buffer *commands = new_commands(new_queue());
  encode(commands, pipeline, out, s->grid, s->group);
  CHECK_OK(mtl_command_buffer_commit(commands));
  const mtl_status status = mtl_command_buffer_wait(commands);
  const char *error = "";
  (void)mtl_command_buffer_error(commands, &error);
  snprintf(text, capacity, "%s", error);
  return status;
}

// A kernel that no cache knows and whose compilation takes many megabytes.
static mtl_pipeline *large_pipeline(void) {
  enum { LINES = 2000 };
  static const char head[] =
      "kernel void large(device uint *out [[buffer(0)]],\n"
      "                  uint2 p [[thread_position_in_grid]],\n"
      "                  uint2 n [[threads_per_grid]]) {\n"
      "  device uint *at = out + 2 * (p.y * n.x + p.x);\n"
      "  uint a = p.x, b = p.y;\n";
  static char source[sizeof head + 64 * LINES];
  char *end = stpcpy(source, head);
  for (int i = 0; i < LINES; i++) {
    end += sprintf(end, "  a = (a ^ b) * %u; b += a >> %d;\n", i * 2u + 1,
                   i % 31);
  }
  sprintf(end, "  at[0] = a; at[1] = b + %d;\n}\n", (int)getpid());
  return new_pipeline_from(new_library(source), "large");
}

TEST(shapes, failure_is_the_command_buffers_and_the_next_works) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  test_skip("the sanitizer's allocator answers for the compiler's");
#endif
  static const shape flat = {{64, 1, 1}, {32, 1, 1}};
  static const shape square = {{8, 8, 1}, {8, 8, 1}};
  char text[1024];
  mtl_pipeline *pipeline = large_pipeline();
  mtl_buffer *out = buffer_for(&square);
  setenv("METTLE_COMPILER_MEMORY_MB", "1", 1);
  CHECK_EQUAL(try_shape(pipeline, &square, out, text, sizeof text),
              MTL_COMPILER_LOST);
  CHECK_CONTAINS(text, "'large'");
  CHECK_CONTAINS(text, "METTLE_COMPILER_MEMORY_MB");
  CHECK_EQUAL(words(out)[2], 0);
  // Threadgroups with existing code do not wait for the compilation.
  CHECK_OK(try_shape(pipeline, &flat, out, text, sizeof text));
  CHECK(words(out)[2] != 0);
  mtl_buffer *again = buffer_for(&square);
  unsetenv("METTLE_COMPILER_MEMORY_MB");
  CHECK_OK(try_shape(pipeline, &square, again, text, sizeof text));
  // Thread (0, 0) is the same in both grids.
  CHECK_EQUAL(words(again)[0], words(out)[0]);
  CHECK_EQUAL(words(again)[1], words(out)[1]);
}

// Elements of bytes around number 2^31, whose indices are negative when they
// are taken for signed ones, of a buffer whose other pages are never touched.
TEST(shapes, buffers_of_two_gigabytes_after_small_ones) {
  enum { COUNT = 200 };
  const uint32_t far = (UINT32_C(1) << 31) - 100;
  mtl_pipeline *pipeline = new_pipeline(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void take(device const uchar *in [[buffer(0)]],\n"
      "                 device uint *out [[buffer(1)]],\n"
      "                 constant uint &from [[buffer(2)]],\n"
      "                 uint i [[thread_position_in_grid]]) {\n"
      "  uint sum = in[from + i];\n"
      "  if (from + i > 0) sum += 1000 * in[from + i - 1];\n"
      "  out[i] = sum;\n"
      "}\n",
      "take");
  const uint32_t starts[] = {0, far, 0};
  for (size_t n = 0; n < COUNT_OF(starts); n++) {
    const uint32_t from = starts[n];
    mtl_buffer *in = new_buffer((size_t)from + COUNT);
    mtl_buffer *out = new_buffer(COUNT * 4);
    uint8_t *bytes = mtl_buffer_contents(in);
    for (uint32_t i = 0; i < COUNT; i++) {
      bytes[from + i] = (uint8_t)(i * 7 + n);
    }
    RUN(pipeline, size_of(COUNT, 1, 1), size_of(64, 1, 1), in, out,
        BUFFER_OF(((uint32_t[]){from})));
    for (uint32_t i = 0; i < COUNT; i++) {
      const uint32_t before = i ? (uint8_t)((i - 1) * 7 + n) : 0;
      CHECK_EQUAL(words(out)[i], (uint8_t)(i * 7 + n) + 1000 * before);
    }
  }
}
