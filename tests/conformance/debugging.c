// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debugging.c: pipelines for the debugger run one thread after the other.
#include "conformance.h"

#include <string.h>

// Each thread draws a number; many at a time would draw them in any order.
static const char ordered_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void draw(device atomic_uint *next [[buffer(0)]],\n"
    "                 device uint *drawn [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  float x = 1;\n"
    "  for (uint k = 0; k < 200; ++k) { x = x * 1.01f + 0.5f; }\n"
    "  drawn[i] = atomic_fetch_add_explicit(next, x > 0,\n"
    "                                       memory_order_relaxed);\n"
    "}\n"
    "kernel void draw_behind_a_barrier(\n"
    "    device atomic_uint *next [[buffer(0)]],\n"
    "    device uint *drawn [[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "  threadgroup_barrier(mem_flags::mem_none);\n"
    "  drawn[i] = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);\n"
    "}\n"
    "kernel void trap_from(device uint *first [[buffer(0)]],\n"
    "                      device uint *ran [[buffer(1)]],\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "  float x = i;\n"
    "  for (uint k = 0; k < 200; ++k) { x = x * 1.01f + 0.5f; }\n"
    "  ran[i] = x >= 0;\n"
    "  if (i >= first[0] && i % 7 == 0) { __builtin_trap(); }\n"
    "}\n";

enum { THREADS = 64 * 100 };

static mtl_pipeline *new_ordered(const char *kernel) {
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(
      new_function(new_library(ordered_kernels), kernel),
      &(mtl_pipeline_desc){.debug = true}, &pipeline));
  release_pipeline_later(pipeline);
  return pipeline;
}

static void encode_both(mtl_compute_encoder *encoder, mtl_pipeline *pipeline,
                        mtl_buffer *first, mtl_buffer *second) {
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(THREADS, 1, 1),
                                       size_of(64, 1, 1));
}

static void check_in_order(const char *kernel) {
  mtl_buffer *next = new_buffer(4);
  mtl_buffer *drawn = new_buffer(THREADS * 4);
  words(next)[0] = 0;
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  encode_both(encoder, new_ordered(kernel), next, drawn);
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  for (uint32_t i = 0; i < THREADS; i++) {
    CHECK_EQUAL(words(drawn)[i], i);
  }
}

TEST(debugging, threads_run_in_order) {
  check_in_order("draw");
}

TEST(debugging, threads_run_in_order_behind_a_barrier) {
  check_in_order("draw_behind_a_barrier");
}

// Dispatches that may run side by side do not.
TEST(debugging, dispatches_run_in_order) {
  mtl_buffer *next = new_buffer(4);
  mtl_buffer *drawn[2] = {new_buffer(THREADS * 4), new_buffer(THREADS * 4)};
  words(next)[0] = 0;
  mtl_pipeline *pipeline = new_ordered("draw");
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(commands);
  for (int k = 0; k < 2; k++) {
    encode_both(encoder, pipeline, next, drawn[k]);
  }
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  for (uint32_t i = 0; i < THREADS; i++) {
    CHECK_EQUAL(words(drawn[0])[i], i);
    CHECK_EQUAL(words(drawn[1])[i], THREADS + i);
  }
}

// Of many faults the first is reported, and no later dispatch has run.
TEST(debugging, the_first_fault_is_found_each_time) {
  mtl_pipeline *pipeline = new_ordered("trap_from");
  mtl_buffer *first = new_buffer(4);
  words(first)[0] = 1000;
  for (int k = 0; k < 10; k++) {
    mtl_buffer *ran = new_buffer(THREADS * 4);
    memset(words(ran), 0, THREADS * 4);
    mtl_command_buffer *commands = new_commands(new_queue());
    mtl_compute_encoder *encoder = new_encoder(commands);
    encode_both(encoder, pipeline, first, ran);
    end(encoder);
    CHECK_OK(mtl_command_buffer_commit(commands));
    CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
    const char *text = NULL;
    mtl_command_buffer_error(commands, &text);
    // 1001 is 7 * 143: thread 41 of threadgroup 15.
    CHECK_CONTAINS(text, "thread (41, 0, 0) of threadgroup (15, 0, 0)");
    CHECK_EQUAL(words(ran)[1001], 1);
    CHECK_EQUAL(words(ran)[1002], 0);
  }
}

TEST(debugging, unused_arguments_need_not_be_bound) {
  mtl_pipeline *plain = NULL;
  CHECK_OK(mtl_pipeline_create(
      new_function(new_library(OPTIONAL_ARGUMENTS), "plain"),
      &(mtl_pipeline_desc){.debug = true}, &plain));
  release_pipeline_later(plain);
  mtl_buffer *data = BUFFER_OF(((uint32_t[]){5, 6, 7, 8}));
  RUN(plain, size_of(4, 1, 1), size_of(4, 1, 1), data);
  CHECK_EQUAL(words(data)[0], 10);
  CHECK_EQUAL(words(data)[3], 16);
}
