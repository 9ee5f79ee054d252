// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// native_work.c: work on the device's own interface, at a place in a queue's
// order. Where there is none it is refused.
#include "conformance.h"

#include <dlfcn.h>
#include <string.h>

static const char doubling[] =
    "kernel void twice(device uint *x [[buffer(0)]],\n"
    "                  uint i [[thread_position_in_grid]]) { x[i] *= 2; }";

enum { COUNT = 1000 };

// Fills words from the address on with *arguments.
static mtl_status fill(const void *arguments, const uint64_t *addresses,
                       void *native_queue) {
  uint32_t value;
  memcpy(&value, arguments, sizeof value);
  int (*set)(uint64_t, unsigned, size_t, void *) = NULL;
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  *(void **)&set = library ? dlsym(library, "cuMemsetD32Async") : NULL;
  return set && set(addresses[0], value, COUNT, native_queue) == 0
             ? MTL_OK
             : mtl_fail(MTL_KERNEL_FAULT, "cuMemsetD32Async failed");
}

static mtl_status fail(const void *arguments, const uint64_t *addresses,
                       void *native_queue) {
  (void)arguments;
  (void)addresses;
  (void)native_queue;
  return mtl_fail(MTL_OUT_OF_MEMORY, "no more of it");
}

static void fill_natively(mtl_command_buffer *commands, mtl_buffer *buffer,
                          size_t offset_bytes, uint32_t value) {
  mtl_command_buffer_native_work(
      commands, &(mtl_native_work){.name = "fill",
                                   .function = fill,
                                   .arguments = &value,
                                   .arguments_bytes = sizeof value,
                                   .buffers = &buffer,
                                   .offsets_bytes = &offset_bytes,
                                   .buffer_count = 1});
}

static void need_native_work(void) {
  if (!the_info()->runs_native_work) {
    test_skip("the device has no interface of its own");
  }
}

TEST(native_work, is_refused_where_there_is_none) {
  if (the_info()->runs_native_work) {
    test_skip("there is");
  }
  mtl_command_buffer *commands = new_commands(new_queue());
  fill_natively(commands, new_buffer(4 * COUNT), 0, 1);
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_UNSUPPORTED,
              "mtl_command_buffer_native_work");
}

TEST(native_work, stands_in_order_between_kernels) {
  need_native_work();
  mtl_pipeline *pipeline = new_pipeline(doubling, "twice");
  mtl_buffer *buffer = new_buffer((COUNT + 1) * sizeof(uint32_t));
  words(buffer)[0] = 9;
  mtl_command_buffer *commands = new_commands(new_queue());
  for (uint32_t i = 0; i < 3; i++) {
    encode(commands, pipeline, buffer, size_of(COUNT + 1, 1, 1),
           size_of(64, 1, 1));
    fill_natively(commands, buffer, sizeof(uint32_t), 5 + i);
  }
  encode(commands, pipeline, buffer, size_of(COUNT + 1, 1, 1),
         size_of(64, 1, 1));
  finish(commands);
  CHECK_EQUAL(words(buffer)[0], 9 * 16);
  CHECK_EQUAL(words(buffer)[1], 14);
  CHECK_EQUAL(words(buffer)[COUNT], 14);
}

TEST(native_work, keeps_its_buffers) {
  need_native_work();
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(
      the_device(), &(mtl_buffer_desc){.length_bytes = 4 * COUNT}, &buffer));
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_command_buffer *commands = new_commands(new_queue());
  fill_natively(commands, buffer, 0, 1);
  mtl_buffer_release(buffer);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
  finish(commands);
}

TEST(native_work, failure_is_the_command_buffers) {
  need_native_work();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_command_buffer_native_work(commands,
                                 &(mtl_native_work){.function = fail});
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_OUT_OF_MEMORY,
              "no more of it");
}

TEST(native_work, offset_past_the_end_is_refused) {
  need_native_work();
  mtl_command_buffer *commands = new_commands(new_queue());
  fill_natively(commands, new_buffer(4 * COUNT), 4 * COUNT + 1, 1);
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_ARGUMENT,
              "shorter than its offset");
}

TEST(native_work, is_refused_while_an_encoder_is_open) {
  need_native_work();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = NULL;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  fill_natively(commands, new_buffer(4 * COUNT), 0, 1);
  const mtl_status ended = mtl_compute_encoder_end(encoder);
  (void)ended;  // the command buffer tells
  mtl_compute_encoder_release(encoder);
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_STATE,
              "an encoder is open");
}

// Memory that others have on the device is used where it is.
TEST(native_work, private_memory_of_others_is_used_in_place) {
  need_native_work();
  mtl_buffer *others = new_buffer_like((mtl_buffer_desc){
      .length_bytes = COUNT * 4, .storage_mode = MTL_STORAGE_PRIVATE});
  mtl_buffer *same = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 64 * 4,
      .storage_mode = MTL_STORAGE_PRIVATE,
      .no_copy_bytes = (char *)(uintptr_t)mtl_buffer_gpu_address(others) + 16});
  CHECK_EQUAL(mtl_buffer_gpu_address(same),
              mtl_buffer_gpu_address(others) + 16);
  mtl_command_buffer *commands = new_commands(new_queue());
  fill_natively(commands, others, 0, 7);
  encode(commands, new_pipeline(doubling, "twice"), same, size_of(64, 1, 1),
         size_of(64, 1, 1));
  mtl_buffer *out = new_buffer(COUNT * 4);
  mtl_blit_encoder *blit = NULL;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_blit_encoder_copy(blit, others, 0, out, 0, COUNT * 4);
  CHECK_OK(mtl_blit_encoder_end(blit));
  finish(commands);
  mtl_blit_encoder_release(blit);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(out)[i], i >= 4 && i < 68 ? 14 : 7);
  }
}

TEST(native_work, memory_of_the_host_is_no_private_memory) {
  need_native_work();
  static uint32_t bytes[64];
  mtl_buffer *buffer = NULL;
  CHECK_ERROR(
      mtl_buffer_create(the_device(),
                        &(mtl_buffer_desc){.length_bytes = sizeof bytes,
                                           .storage_mode = MTL_STORAGE_PRIVATE,
                                           .no_copy_bytes = bytes},
                        &buffer),
      MTL_INVALID_ARGUMENT, "no address in the memory of device");
}
