// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hosts.c: what the host does to buffers while work is in flight, which is
// found on a device whose kernels see other memory than the host.
#include "client.h"

enum { PAGE = 65536 };

static mtl_buffer *shared_of(mtl_storage_mode mode) {
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(
      device,
      &(mtl_buffer_desc){
          .length_bytes = PAGE, .storage_mode = mode, .label = "numbers"},
      &buffer));
  return buffer;
}

static volatile int32_t *contents_of(mtl_buffer *buffer) {
  return mtl_buffer_contents(buffer);
}

// One dispatch, committed; it has not begun before `start` is signalled.
static mtl_command_buffer *commit(const char *name, mtl_buffer *first,
                                  mtl_buffer *second, mtl_event *start) {
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  mtl_pipeline *pipeline =
      pipeline_of(name, MTL_CHECK_DEFAULT | MTL_CHECK_HOST);
  if (start) {
    mtl_command_buffer_wait_event(commands, start, 1);
  }
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  if (second) {
    mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  }
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){THREADS, 1, 1},
                                       (mtl_size){32, 1, 1});
  CHECK_OK(mtl_compute_encoder_end(encoder));
  CHECK_OK(mtl_command_buffer_commit(commands));
  return commands;
}

static void open_discrete(void) {
  open_all_of("cpu-discrete");
}

TEST(hosts, that_wait_are_clean) {
  open_discrete();
  mtl_buffer *x = shared_of(MTL_STORAGE_SHARED);
  contents_of(x)[3] = 7;
  wait_for_clean(commit("put", x, NULL, NULL));
  CHECK_EQUAL(contents_of(x)[3], 3);
  contents_of(x)[3] = 7;
  CHECK_EQUAL(count_findings(), 0);
}

TEST(hosts, that_read_too_early_are_found) {
  open_discrete();
  mtl_buffer *x = shared_of(MTL_STORAGE_SHARED);
  mtl_event *start = event_of(true);
  mtl_command_buffer *commands = commit("put", x, NULL, start);
  CHECK_EQUAL(contents_of(x)[3], 0);
  CHECK_OK(mtl_event_signal(start, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(contents_of(x)[3], 3);
  CHECK_EQUAL(count_findings(), 1);
}

// However long ago the work has ended.
TEST(hosts, that_never_wait_are_found) {
  open_discrete();
  mtl_buffer *x = shared_of(MTL_STORAGE_SHARED);
  commit("put", x, NULL, NULL);
  CHECK_OK(mtl_queue_create(device, NULL, &queues[0]));
  wait_for_clean(commit("put", shared_of(MTL_STORAGE_SHARED), NULL, NULL));
  CHECK_EQUAL(contents_of(x)[3], 3);
  CHECK_EQUAL(count_findings(), 1);
}

TEST(hosts, may_read_what_is_read) {
  open_discrete();
  mtl_buffer *x = shared_of(MTL_STORAGE_SHARED);
  mtl_buffer *y = shared_of(MTL_STORAGE_SHARED);
  mtl_event *start = event_of(true);
  mtl_command_buffer *commands = commit("get", x, y, start);
  CHECK_EQUAL(contents_of(x)[3], 0);
  CHECK_EQUAL(count_findings(), 0);
  contents_of(x)[3] = 1;
  CHECK_EQUAL(count_findings(), 1);
  CHECK_OK(mtl_event_signal(start, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
}

TEST(hosts, synchronize_what_is_managed) {
  open_discrete();
  mtl_buffer *x = shared_of(MTL_STORAGE_MANAGED);
  wait_for_clean(commit("put", x, NULL, NULL));
  mtl_command_buffer *commands = commands_of(0);
  mtl_blit_encoder *blit;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_blit_encoder_synchronize(blit, x);
  CHECK_OK(mtl_blit_encoder_end(blit));
  CHECK_OK(mtl_command_buffer_commit(commands));
  wait_for_clean(commands);
  CHECK_EQUAL(contents_of(x)[3], 3);
  CHECK_EQUAL(count_findings(), 0);
}

TEST(hosts, that_read_what_is_not_synchronized_are_found) {
  open_discrete();
  mtl_buffer *x = shared_of(MTL_STORAGE_MANAGED);
  wait_for_clean(commit("put", x, NULL, NULL));
  CHECK_EQUAL(contents_of(x)[3], 0);
  CHECK_EQUAL(count_findings(), 1);
}

// The device uses host memory directly.
TEST(hosts, of_unified_memory_are_not_checked) {
  open_all_of("cpu");
  mtl_buffer *x = shared_of(MTL_STORAGE_SHARED);
  wait_for_clean(commit("put", x, NULL, NULL));
  uint64_t unchecked = 0;
  mtl_check_counts(NULL, NULL, NULL, &unchecked);
  CHECK(unchecked > 0);
}

TEST(buffers, that_end_in_use_are_forgotten) {
  open_discrete();
  mtl_buffer *x = shared_of(MTL_STORAGE_SHARED);
  mtl_command_buffer *commands = commit("put", x, NULL, NULL);
  mtl_buffer_release(x);
  CHECK_OK(mtl_command_buffer_wait(commands));
  for (int i = 0; i < 4; ++i) {
    contents_of(shared_of(MTL_STORAGE_SHARED))[0] = i;
  }
  CHECK_EQUAL(count_findings(), 0);
}
