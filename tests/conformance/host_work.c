// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_work.c: work of the host's at a place in a queue's order.
#include "conformance.h"

#include <stdatomic.h>
#include <string.h>

static const char doubling[] =
    "kernel void twice(device uint *x [[buffer(0)]],\n"
    "                  uint i [[thread_position_in_grid]]) { x[i] *= 2; }";

// Adds *arguments to the words of a piece: 100 of them.
static void add_to_words(const void *arguments, void *const *addresses,
                         void *scratch, uint64_t first, uint64_t end) {
  (void)scratch;
  uint32_t term;
  memcpy(&term, arguments, sizeof term);
  uint32_t *data = addresses[0];
  for (uint64_t i = first * 100; i < end * 100; i++) {
    data[i] += term;
  }
}

static void add_on_host(mtl_command_buffer *commands, mtl_buffer *buffer,
                        size_t offset_bytes, uint32_t term, uint64_t pieces,
                        uint64_t piece_ns) {
  mtl_command_buffer_host_work(commands,
                               &(mtl_host_work){.name = "add",
                                                .function = add_to_words,
                                                .arguments = &term,
                                                .arguments_bytes = sizeof term,
                                                .buffers = &buffer,
                                                .offsets_bytes = &offset_bytes,
                                                .buffer_count = 1,
                                                .piece_count = pieces,
                                                .piece_ns = piece_ns});
}

static void double_all(mtl_command_buffer *commands, mtl_pipeline *pipeline,
                       mtl_buffer *buffer, uint32_t count) {
  encode(commands, pipeline, buffer, size_of(count, 1, 1), size_of(64, 1, 1));
}

TEST(host_work, stands_in_order_between_kernels) {
  enum { PIECES = 50, COUNT = PIECES * 100 };
  mtl_pipeline *pipeline = new_pipeline(doubling, "twice");
  for (uint64_t piece_ns = 0; piece_ns <= 100000; piece_ns += 100000) {
    mtl_buffer *buffer = new_buffer(COUNT * sizeof(uint32_t));
    mtl_command_buffer *commands = new_commands(new_queue());
    add_on_host(commands, buffer, 0, 3, PIECES, piece_ns);
    double_all(commands, pipeline, buffer, COUNT);
    add_on_host(commands, buffer, 0, 1, PIECES, piece_ns);
    double_all(commands, pipeline, buffer, COUNT);
    finish(commands);
    for (int i = 0; i < COUNT; i++) {
      CHECK_EQUAL(words(buffer)[i], 14);  // ((0 + 3) * 2 + 1) * 2
    }
  }
}

TEST(host_work, starts_at_the_offset_of_its_buffer) {
  mtl_buffer *buffer = new_buffer(201 * sizeof(uint32_t));
  mtl_command_buffer *commands = new_commands(new_queue());
  add_on_host(commands, buffer, 101 * sizeof(uint32_t), 5, 1, 0);
  finish(commands);
  CHECK_EQUAL(words(buffer)[100], 0);
  CHECK_EQUAL(words(buffer)[101], 5);
  CHECK_EQUAL(words(buffer)[200], 5);
}

TEST(host_work, keeps_its_buffers) {
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(the_device(),
                             &(mtl_buffer_desc){.length_bytes = 400}, &buffer));
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_command_buffer *commands = new_commands(new_queue());
  add_on_host(commands, buffer, 0, 1, 1, 0);
  mtl_buffer_release(buffer);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
  finish(commands);
}

// Writes to the scratch memory, and notes whether it is aligned.
static void use_scratch(const void *arguments, void *const *addresses,
                        void *scratch, uint64_t first, uint64_t end) {
  (void)arguments;
  memset(scratch, 1, 100000);
  if ((uintptr_t)scratch % 64 == 0) {
    ((uint32_t *)addresses[0])[first] = (uint32_t)end;
  }
}

TEST(host_work, has_scratch_memory) {
  mtl_buffer *buffer = new_buffer(16);
  mtl_command_buffer *commands = new_commands(new_queue());
  const size_t offset_bytes = 0;
  mtl_command_buffer_host_work(commands,
                               &(mtl_host_work){.function = use_scratch,
                                                .buffers = &buffer,
                                                .offsets_bytes = &offset_bytes,
                                                .buffer_count = 1,
                                                .scratch_bytes = 100000,
                                                .piece_count = 1});
  finish(commands);
  CHECK_EQUAL(words(buffer)[0], 1);
}

static void touch_nothing(const void *arguments, void *const *addresses,
                          void *scratch, uint64_t first, uint64_t end) {
  (void)addresses;
  (void)scratch;
  (void)first;
  (void)end;
  uintptr_t wrong;
  memcpy(&wrong, arguments, sizeof wrong);
  *(volatile int *)wrong = 1;
}

TEST(host_work, fault_fails_its_command_buffer_alone) {
  mtl_queue *queue = new_queue();
  mtl_command_buffer *commands = new_commands(queue);
  const uintptr_t wrong = 64;
  mtl_command_buffer_host_work(commands,
                               &(mtl_host_work){.name = "of a test",
                                                .function = touch_nothing,
                                                .arguments = &wrong,
                                                .arguments_bytes = sizeof wrong,
                                                .piece_count = 1});
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT,
              "host work 'of a test' failed: it wrote to address 0x40");
  mtl_buffer *buffer = new_buffer(400);
  mtl_command_buffer *next = new_commands(queue);
  add_on_host(next, buffer, 0, 2, 1, 0);
  finish(next);
  CHECK_EQUAL(words(buffer)[99], 2);
}

TEST(host_work, offset_past_the_end_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  add_on_host(commands, new_buffer(10), 11, 0, 1, 0);
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_ARGUMENT,
              "buffer 0 is shorter than its offset");
}

TEST(host_work, is_refused_while_an_encoder_is_open) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *encoder = new_blit(commands);
  add_on_host(commands, new_buffer(400), 0, 0, 1, 0);
  CHECK_ERROR(mtl_blit_encoder_end(encoder), MTL_INVALID_STATE,
              "an encoder is open");
}
