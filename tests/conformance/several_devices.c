// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// several_devices.c: what one device's queues can use of another's: private
// memory by remote views, and shared events.
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 64 * 1024 };

static void release_device_now(void *device) {
  mtl_device_release(device);
}

static mtl_device *device_called(const char *name) {
  mtl_device *device = NULL;
  if (mtl_device_by_name(name, &device) == MTL_NOT_FOUND) {
    test_skip("the other device is not there");
  }
  CHECK(device != NULL);
  test_defer(release_device_now, device);
  return device;
}

// A device whose memory the_device can use, if there is one.
static mtl_device *the_neighbour(void) {
  static const char *const pairs[][2] = {{"cpu", "cpu-discrete"},
                                         {"cpu-discrete", "cpu"},
                                         {"cuda", "cuda:1"},
                                         {"cuda:1", "cuda"}};
  const char *own = mtl_device_get_info(the_device())->name;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (strcmp(own, pairs[i][0]) == 0) {
      return device_called(pairs[i][1]);
    }
  }
  return device_called("cpu");
}

// A device of another kind.
static mtl_device *a_stranger(void) {
  const char *own = mtl_device_get_info(the_device())->name;
  return device_called(strcmp(own, "null") == 0 ? "cpu" : "null");
}

static mtl_buffer *private_of(mtl_device *device) {
  mtl_buffer *buffer = NULL;
  CHECK_OK(
      mtl_buffer_create(device,
                        &(mtl_buffer_desc){.length_bytes = BYTES,
                                           .storage_mode = MTL_STORAGE_PRIVATE,
                                           .label = "far"},
                        &buffer));
  release_buffer_later(buffer);
  return buffer;
}

static mtl_buffer *view_of(mtl_device *device, mtl_buffer *buffer) {
  mtl_buffer *view = NULL;
  CHECK_OK(mtl_buffer_create_remote_view(device, buffer, &view));
  release_buffer_later(view);
  return view;
}

static mtl_queue *queue_of(mtl_device *device) {
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(device, NULL, &queue));
  release_queue_later(queue);
  return queue;
}

static mtl_event *shared_event_of(mtl_device *device) {
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(device, &(mtl_event_desc){.shared = true}, &event));
  release_event_later(event);
  return event;
}

static void fill(mtl_command_buffer *commands, mtl_buffer *buffer,
                 uint8_t byte) {
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_fill(blit, buffer, 0, BYTES, byte);
  end_blit(blit);
}

static void copy(mtl_command_buffer *commands, mtl_buffer *source,
                 mtl_buffer *target) {
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, source, 0, target, 0, BYTES);
  end_blit(blit);
}

static void check_bytes(const mtl_buffer *buffer, uint8_t byte) {
  const uint8_t *bytes = mtl_buffer_contents(buffer);
  for (size_t i = 0; i < BYTES; i++) {
    CHECK_EQUAL(bytes[i], byte);
  }
}

// --- remote views ------------------------------------------------------------

TEST(several_devices, remote_view_is_the_others_memory_both_ways) {
  mtl_device *other = the_neighbour();
  mtl_buffer *far = private_of(other), *view = view_of(the_device(), far);
  CHECK_EQUAL(mtl_buffer_length(view), BYTES);
  CHECK(mtl_buffer_device(view) == the_device());
  CHECK(mtl_buffer_contents(view) == NULL);
  mtl_event *event = shared_event_of(other);
  mtl_buffer *near = new_buffer(BYTES);
  // This queue waits for the other's bytes, takes them and leaves others.
  mtl_command_buffer *here = new_commands(new_queue());
  mtl_command_buffer_wait_event(here, event, 1);
  copy(here, view, near);
  fill(here, view, 0x77);
  mtl_command_buffer_signal_event(here, event, 2);
  CHECK_OK(mtl_command_buffer_commit(here));
  mtl_queue *queue = queue_of(other);
  mtl_command_buffer *there = new_commands(queue);
  fill(there, far, 0x5a);
  mtl_command_buffer_signal_event(there, event, 1);
  CHECK_OK(mtl_command_buffer_commit(there));
  mtl_buffer *back = NULL;
  CHECK_OK(mtl_buffer_create(other, &(mtl_buffer_desc){.length_bytes = BYTES},
                             &back));
  release_buffer_later(back);
  mtl_command_buffer *last = new_commands(queue);
  mtl_command_buffer_wait_event(last, event, 2);
  copy(last, far, back);
  finish(last);
  check_bytes(back, 0x77);
  CHECK_OK(mtl_command_buffer_wait(here));
  check_bytes(near, 0x5a);
}

TEST(several_devices, kernels_use_a_remote_view) {
  mtl_device *other = the_neighbour();
  mtl_buffer *far = private_of(other), *view = view_of(the_device(), far);
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "store_index");
  mtl_command_buffer *here = new_commands(new_queue());
  encode(here, pipeline, view, size_of(BYTES / 4, 1, 1), size_of(64, 1, 1));
  finish(here);
  mtl_buffer *back = NULL;
  CHECK_OK(mtl_buffer_create(other, &(mtl_buffer_desc){.length_bytes = BYTES},
                             &back));
  release_buffer_later(back);
  mtl_command_buffer *there = new_commands(queue_of(other));
  copy(there, far, back);
  finish(there);
  const uint32_t *words = mtl_buffer_contents(back);
  for (uint32_t i = 0; i < BYTES / 4; i++) {
    CHECK_EQUAL(words[i], i);
  }
}

TEST(several_devices, remote_view_keeps_the_memory) {
  mtl_device *other = the_neighbour();
  const uint64_t before = mtl_device_current_allocated_bytes(other);
  mtl_buffer *far = NULL, *view = NULL;
  uint8_t bytes[BYTES];
  memset(bytes, 9, sizeof bytes);
  CHECK_OK(
      mtl_buffer_create(other,
                        &(mtl_buffer_desc){.length_bytes = BYTES,
                                           .storage_mode = MTL_STORAGE_PRIVATE,
                                           .bytes = bytes},
                        &far));
  const uint64_t own = mtl_device_current_allocated_bytes(the_device());
  CHECK_OK(mtl_buffer_create_remote_view(the_device(), far, &view));
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), own);
  mtl_buffer_release(far);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(other), before + BYTES);
  mtl_buffer *near = new_buffer(BYTES);
  mtl_command_buffer *here = new_commands(new_queue());
  copy(here, view, near);
  finish(here);
  check_bytes(near, 9);
  mtl_buffer_release(view);
}

TEST(several_devices, remote_view_of_a_part_of_a_heap) {
  mtl_device *other = the_neighbour();
  mtl_heap *heap = NULL;
  CHECK_OK(mtl_heap_create(other,
                           &(mtl_heap_desc){.length_bytes = 4 * BYTES,
                                            .storage_mode = MTL_STORAGE_PRIVATE,
                                            .type = MTL_HEAP_PLACEMENT},
                           &heap));
  uint8_t bytes[BYTES];
  memset(bytes, 3, sizeof bytes);
  mtl_buffer *part = NULL;
  CHECK_OK(mtl_heap_create_buffer(
      heap,
      &(mtl_buffer_desc){.length_bytes = BYTES,
                         .storage_mode = MTL_STORAGE_PRIVATE,
                         .bytes = bytes},
      2 * BYTES, &part));
  mtl_buffer *view = view_of(the_device(), part);
  mtl_buffer_release(part);
  mtl_heap_release(heap);
  mtl_buffer *near = new_buffer(BYTES);
  mtl_command_buffer *here = new_commands(new_queue());
  copy(here, view, near);
  finish(here);
  check_bytes(near, 3);
}

TEST(several_devices, view_of_a_view_is_the_memory_itself) {
  mtl_device *other = the_neighbour();
  mtl_buffer *far = private_of(other), *view = view_of(the_device(), far);
  mtl_buffer *again = view_of(other, view);
  CHECK_EQUAL(mtl_buffer_gpu_address(again), mtl_buffer_gpu_address(far));
}

TEST(several_devices, wrong_remote_views_are_told) {
  mtl_buffer *own = private_of(the_device()), *view = own;
  CHECK_ERROR(mtl_buffer_create_remote_view(the_device(), own, &view),
              MTL_INVALID_ARGUMENT, "itself");
  CHECK(view == NULL);
  CHECK_ERROR(mtl_buffer_create_remote_view(the_device(), NULL, &view),
              MTL_INVALID_ARGUMENT, "buffer");
  mtl_device *stranger = a_stranger();
  CHECK_ERROR(mtl_buffer_create_remote_view(stranger, own, &view),
              MTL_UNSUPPORTED, mtl_device_get_info(stranger)->name);
  CHECK_ERROR(mtl_buffer_create_remote_view(stranger, new_buffer(BYTES), &view),
              MTL_INVALID_ARGUMENT, "private");
}

// --- events ------------------------------------------------------------------

TEST(several_devices, queue_waits_for_an_event_of_another_kind_of_device) {
  mtl_device *stranger = a_stranger();
  mtl_event *event = shared_event_of(stranger);
  mtl_buffer *near = new_buffer(BYTES);
  mtl_command_buffer *here = new_commands(new_queue());
  mtl_command_buffer_wait_event(here, event, 5);
  fill(here, near, 0x21);
  mtl_command_buffer_signal_event(here, event, 6);
  CHECK_OK(mtl_command_buffer_commit(here));
  CHECK(mtl_command_buffer_get_status(here) < MTL_COMMAND_BUFFER_COMPLETED);
  mtl_command_buffer *there = new_commands(queue_of(stranger));
  mtl_command_buffer_signal_event(there, event, 5);
  CHECK_OK(mtl_command_buffer_commit(there));
  CHECK_OK(mtl_event_wait(event, 6, LONG_NS));
  CHECK_OK(mtl_command_buffer_wait(here));
  check_bytes(near, 0x21);
}

TEST(several_devices, event_goes_to_and_fro) {
  enum { TURNS = 50 };
  mtl_event *event = shared_event_of(the_device());
  mtl_queue *here = new_queue(), *there = queue_of(a_stranger());
  mtl_command_buffer *last = NULL;
  for (uint64_t turn = 0; turn < TURNS; turn++) {
    for (uint64_t side = 0; side < 2; side++) {
      last = new_commands(side ? there : here);
      mtl_command_buffer_wait_event(last, event, 2 * turn + side);
      mtl_command_buffer_signal_event(last, event, 2 * turn + side + 1);
      CHECK_OK(mtl_command_buffer_commit(last));
    }
  }
  CHECK_OK(mtl_event_wait(event, 2 * TURNS, LONG_NS));
  CHECK_OK(mtl_command_buffer_wait(last));
}

TEST(several_devices, wait_for_anothers_event_can_be_cancelled) {
  mtl_event *event = shared_event_of(a_stranger());
  mtl_command_buffer *here = new_commands(new_queue());
  mtl_command_buffer_wait_event(here, event, 1);
  CHECK_OK(mtl_command_buffer_commit(here));
  CHECK_OK(mtl_command_buffer_cancel(here));
  CHECK_ERROR(mtl_command_buffer_wait(here), MTL_CANCELLED, "");
  CHECK_OK(mtl_event_signal(event, 1));
}

TEST(several_devices, events_that_are_not_shared_stay_with_their_device) {
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(a_stranger(), &(mtl_event_desc){.label = "own"},
                            &event));
  release_event_later(event);
  mtl_command_buffer *here = new_commands(new_queue());
  mtl_command_buffer_wait_event(here, event, 1);
  CHECK_ERROR(mtl_command_buffer_commit(here), MTL_INVALID_ARGUMENT, "device");
}
