// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hazards.c: the order of dispatches that touch the same memory.
#include "conformance.h"

// A step that does not commute, over more threads than run at once; the spin
// makes the first threadgroups slow, so that a missing order shows.
static const char step_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void step(device uint *data [[buffer(0)]],\n"
    "                 constant uint &add [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  uint spin = i < 64 ? 2000 : 10;\n"
    "  uint noise = i;\n"
    "  for (uint n = 0; n < spin; n++) { noise = noise * 1664525 + n; }\n"
    // True for no i here, which a compiler cannot know.
    "  data[i] = data[i] * 3 + add + (noise == 0x9e3779b9 ? 1 : 0);\n"
    "}\n"
    // Reads elements that other threadgroups of the earlier dispatch wrote.
    "kernel void mirror(device const uint *in [[buffer(0)]],\n"
    "                   device uint *out [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]],\n"
    "                   uint n [[threads_per_grid]]) {\n"
    "  out[i] = in[n - 1 - i] + 1;\n"
    "}\n";

enum { COUNT = 4096, STEPS = 20 };

static void encode_step(mtl_compute_encoder *encoder, mtl_pipeline *pipeline,
                        mtl_buffer *data, uint32_t add) {
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_set_bytes(encoder, &add, sizeof add, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                       size_of(64, 1, 1));
}

static void check_steps(mtl_buffer *data, uint32_t steps) {
  uint32_t expected = 0;
  for (uint32_t i = 0; i < steps; i++) {
    expected = expected * 3 + i;
  }
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(data)[i], expected);
  }
}

static mtl_buffer *new_untracked(size_t length_bytes) {
  return new_buffer_like((mtl_buffer_desc){
      .length_bytes = length_bytes, .hazard_tracking = MTL_HAZARD_UNTRACKED});
}

TEST(hazards, serial_dispatches_keep_their_order) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_buffer *data = new_untracked(COUNT * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  for (uint32_t i = 0; i < STEPS; i++) {
    encode_step(encoder, pipeline, data, i);
  }
  end(encoder);
  finish(commands);
  check_steps(data, STEPS);
}

TEST(hazards, serial_dispatch_sees_all_threadgroups_before) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "mirror");
  mtl_buffer *buffers[2] = {new_buffer(COUNT * 4), new_buffer(COUNT * 4)};
  for (uint32_t i = 0; i < COUNT; i++) {
    words(buffers[0])[i] = i;
  }
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < STEPS; i++) {
    mtl_compute_encoder_set_buffer(encoder, buffers[i % 2], 0, 0);
    mtl_compute_encoder_set_buffer(encoder, buffers[(i + 1) % 2], 0, 1);
    mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                         size_of(32, 1, 1));
  }
  end(encoder);
  finish(commands);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(buffers[0])[i], i + STEPS);
  }
}

// Steps over data in one concurrent encoder.
static void check_concurrent_steps(mtl_buffer *data, bool with_barriers) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(commands);
  for (uint32_t i = 0; i < STEPS; i++) {
    encode_step(encoder, pipeline, data, i);
    if (with_barriers) {
      mtl_compute_encoder_memory_barrier(encoder, MTL_BARRIER_BUFFERS);
    }
  }
  end(encoder);
  finish(commands);
  check_steps(data, STEPS);
}

TEST(hazards, concurrent_dispatches_on_a_tracked_buffer_keep_their_order) {
  check_concurrent_steps(new_buffer(COUNT * 4), false);
}

TEST(hazards, barrier_by_scope_orders_untracked_buffers) {
  check_concurrent_steps(new_untracked(COUNT * 4), true);
}

TEST(hazards, barrier_by_resource_orders_its_buffers) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_buffer *first = new_untracked(COUNT * 4);
  mtl_buffer *second = new_untracked(COUNT * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(commands);
  for (uint32_t i = 0; i < STEPS; i++) {
    encode_step(encoder, pipeline, first, i);
    encode_step(encoder, pipeline, second, i);
    mtl_compute_encoder_memory_barrier_buffers(
        encoder, (mtl_buffer *[]){first, second}, 2);
  }
  end(encoder);
  finish(commands);
  check_steps(first, STEPS);
  check_steps(second, STEPS);
}

TEST(hazards, concurrent_dispatches_on_separate_buffers_all_run) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(commands);
  mtl_buffer *buffers[10];
  for (size_t i = 0; i < COUNT_OF(buffers); i++) {
    buffers[i] = new_buffer(COUNT * 4);
    encode_step(encoder, pipeline, buffers[i], 0);
  }
  end(encoder);
  finish(commands);
  for (size_t i = 0; i < COUNT_OF(buffers); i++) {
    check_steps(buffers[i], 1);
  }
}

TEST(hazards, encoders_of_one_command_buffer_keep_their_order) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  for (uint32_t i = 0; i < STEPS; i++) {
    mtl_compute_encoder *encoder =
        i % 2 ? new_concurrent_encoder(commands) : new_encoder(commands);
    encode_step(encoder, pipeline, data, i);
    end(encoder);
  }
  finish(commands);
  check_steps(data, STEPS);
}

TEST(hazards, command_buffers_of_one_queue_keep_their_order) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_queue *queue = new_queue();
  mtl_command_buffer *last = NULL;
  for (uint32_t i = 0; i < STEPS; i++) {
    last = new_commands(queue);
    mtl_compute_encoder *encoder = new_encoder(last);
    encode_step(encoder, pipeline, data, i);
    end(encoder);
    CHECK_OK(mtl_command_buffer_commit(last));
  }
  CHECK_OK(mtl_command_buffer_wait(last));
  check_steps(data, STEPS);
}

TEST(hazards, blits_and_dispatches_keep_their_order) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_buffer *first = new_buffer(COUNT * 4), *second = new_buffer(COUNT * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  for (uint32_t i = 0; i < STEPS; i++) {
    mtl_compute_encoder *encoder = new_encoder(commands);
    encode_step(encoder, pipeline, i % 2 ? second : first, i);
    end(encoder);
    mtl_blit_encoder *blit = new_blit(commands);
    mtl_blit_encoder_copy(blit, i % 2 ? second : first, 0,
                          i % 2 ? first : second, 0, COUNT * 4);
    end_blit(blit);
  }
  finish(commands);
  check_steps(first, STEPS);
  check_steps(second, STEPS);
}

TEST(hazards, fences_order_encoders_over_untracked_buffers) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_buffer *data = new_untracked(COUNT * 4);
  mtl_fence *fence = new_fence();
  mtl_command_buffer *commands = new_commands(new_queue());
  for (uint32_t i = 0; i < STEPS; i++) {
    mtl_compute_encoder *encoder = new_concurrent_encoder(commands);
    if (i > 0) {
      mtl_compute_encoder_wait_fence(encoder, fence);
    }
    encode_step(encoder, pipeline, data, i);
    mtl_compute_encoder_update_fence(encoder, fence);
    end(encoder);
  }
  finish(commands);
  check_steps(data, STEPS);
}

TEST(hazards, fences_order_blits_and_kernels_across_command_buffers) {
  mtl_pipeline *pipeline = new_pipeline(step_kernels, "step");
  mtl_buffer *data = new_untracked(COUNT * 4);
  mtl_buffer *copy = new_untracked(COUNT * 4);
  mtl_fence *fence = new_fence();
  mtl_queue *queue = new_queue();
  mtl_command_buffer *first = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(first);
  encode_step(encoder, pipeline, data, 5);
  mtl_compute_encoder_update_fence(encoder, fence);
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(first));
  mtl_command_buffer *second = new_commands(queue);
  mtl_blit_encoder *blit = new_blit(second);
  mtl_blit_encoder_wait_fence(blit, fence);
  mtl_blit_encoder_copy(blit, data, 0, copy, 0, COUNT * 4);
  mtl_blit_encoder_update_fence(blit, fence);
  end_blit(blit);
  finish(second);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(copy)[i], 5);
  }
}

TEST(hazards, fence_that_nobody_updated_holds_up_nothing) {
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_wait_fence(encoder, new_fence());
  encode_step(encoder, new_pipeline(step_kernels, "step"), data, 5);
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(data)[0], 5);
}
