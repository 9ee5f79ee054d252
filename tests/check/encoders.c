// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoders.c: what orders encoders and commands over untracked memory: fences,
// events, and the host where it has waited; and what does not.
#include "client.h"

static mtl_fence *fence_of(void) {
  mtl_fence *fence;
  CHECK_OK(mtl_fence_create(device, &fence));
  return fence;
}

// One dispatch in an encoder, behind a fence and in front of another; either
// may be NULL.
static void encode_between(mtl_command_buffer *commands, const char *name,
                           mtl_buffer *first, mtl_buffer *second,
                           mtl_fence *before, mtl_fence *behind) {
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  if (before) {
    mtl_compute_encoder_wait_fence(encoder, before);
  }
  dispatch(encoder, name, first, second);
  if (behind) {
    mtl_compute_encoder_update_fence(encoder, behind);
  }
  CHECK_OK(mtl_compute_encoder_end(encoder));
}

static mtl_status run(mtl_command_buffer *commands) {
  CHECK_OK(mtl_command_buffer_commit(commands));
  return mtl_command_buffer_wait(commands);
}

TEST(encoders, over_untracked_memory_race) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_command_buffer *commands = commands_of(0);
  encode(commands, "put", x, NULL);
  encode(commands, "get", x, y);
  CHECK_ERROR(run(commands), MTL_KERNEL_FAULT, "race.dispatch");
  CHECK(is_found("race.dispatch", "put", "get"));
}

TEST(encoders, over_tracked_memory_do_not) {
  open_all();
  mtl_buffer *x;
  CHECK_OK(
      mtl_buffer_create(device, &(mtl_buffer_desc){.length_bytes = BYTES}, &x));
  mtl_command_buffer *commands = commands_of(0);
  encode(commands, "put", x, NULL);
  encode(commands, "get", x, buffer_of(BYTES));
  wait_for_clean((CHECK_OK(mtl_command_buffer_commit(commands)), commands));
  CHECK_EQUAL(count_findings(), 0);
}

// Two dispatches of a concurrent encoder, and a barrier for textures or for
// named buffers alone.
static mtl_status run_beside(mtl_barrier_scope scope, mtl_buffer *x,
                             mtl_buffer *named) {
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(
      mtl_compute_encoder_create(commands, MTL_DISPATCH_CONCURRENT, &encoder));
  dispatch(encoder, "put", x, NULL);
  if (named) {
    mtl_compute_encoder_memory_barrier_buffers(encoder, &named, 1);
  } else {
    mtl_compute_encoder_memory_barrier(encoder, scope);
  }
  dispatch(encoder, "get", x, buffer_of(BYTES));
  CHECK_OK(mtl_compute_encoder_end(encoder));
  return run(commands);
}

TEST(barriers, for_textures_order_no_buffers) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES);
  CHECK_OK(run_beside(MTL_BARRIER_BUFFERS, x, NULL));
  CHECK_EQUAL(count_findings(), 0);
  CHECK_ERROR(run_beside(MTL_BARRIER_TEXTURES, x, NULL), MTL_KERNEL_FAULT,
              "race.dispatch");
}

TEST(barriers, order_the_buffers_that_they_name) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES);
  CHECK_OK(run_beside(0, x, x));
  CHECK_EQUAL(count_findings(), 0);
  CHECK_ERROR(run_beside(0, x, buffer_of(BYTES)), MTL_KERNEL_FAULT,
              "race.dispatch");
}

TEST(fences, order_encoders) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_fence *fence = fence_of();
  mtl_command_buffer *commands = commands_of(0);
  encode_between(commands, "put", x, NULL, NULL, fence);
  encode_between(commands, "get", x, y, fence, NULL);
  CHECK_OK(run(commands));
  CHECK_EQUAL(count_findings(), 0);
}

enum { EARLIER = 4 };

// Encoders that nothing orders, and one that is behind all of them but one;
// with EARLIER, behind all.
static mtl_status run_behind_all_but(int missed, const char *earlier,
                                     const char *last) {
  mtl_buffer *x = buffer_of(BYTES);
  mtl_command_buffer *commands = commands_of(0);
  mtl_fence *fences[EARLIER];
  for (int i = 0; i < EARLIER; ++i) {
    encode_between(commands, earlier, x, buffer_of(BYTES), NULL,
                   fences[i] = fence_of());
  }
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  for (int i = 0; i < EARLIER; ++i) {
    if (i != missed) {
      mtl_compute_encoder_wait_fence(encoder, fences[i]);
    }
  }
  dispatch(encoder, last, x, buffer_of(BYTES));
  CHECK_OK(mtl_compute_encoder_end(encoder));
  return run(commands);
}

static void run_behind_four(const char *earlier, const char *last) {
  open_all();
  CHECK_OK(run_behind_all_but(EARLIER, earlier, last));
  CHECK_EQUAL(count_findings(), 0);
  for (int missed = 0; missed < EARLIER; ++missed) {
    CHECK_ERROR(run_behind_all_but(missed, earlier, last), MTL_KERNEL_FAULT,
                "race.dispatch");
  }
  CHECK(is_found("race.dispatch", earlier, last));
}

TEST(encoders, race_with_each_of_four_readers) {
  run_behind_four("get", "put");
}

TEST(encoders, race_with_each_of_four_readers_of_bytes) {
  run_behind_four("get_bytes", "put_bytes");
}

TEST(encoders, that_read_race_with_each_of_four_that_add) {
  run_behind_four("add", "get");
}

TEST(encoders, that_write_race_with_each_of_four_that_add) {
  run_behind_four("add", "put");
}

// Encoders of words and of bytes; waits has a bit for each that one is behind.
// Nothing orders the last and the second.
TEST(encoders, race_with_one_of_many_readers_of_words_and_bytes) {
  static const struct {
    const char *name;
    uint32_t waits;
  } order[] = {{"get", 0},       {"get_bytes", 0},  {"get", 0},
               {"get_bytes", 0}, {"get_bytes", 13}, {"get_bytes", 0},
               {"add", 57}};
  enum { COUNT = sizeof order / sizeof order[0] };
  open_all();
  mtl_buffer *x = buffer_of(BYTES);
  mtl_command_buffer *commands = commands_of(0);
  mtl_fence *fences[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    mtl_compute_encoder *encoder;
    CHECK_OK(
        mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
    for (int k = 0; k < i; ++k) {
      if (order[i].waits >> k & 1) {
        mtl_compute_encoder_wait_fence(encoder, fences[k]);
      }
    }
    dispatch(encoder, order[i].name, x, buffer_of(BYTES));
    mtl_compute_encoder_update_fence(encoder, fences[i] = fence_of());
    CHECK_OK(mtl_compute_encoder_end(encoder));
  }
  CHECK_ERROR(run(commands), MTL_KERNEL_FAULT, "race.dispatch");
  CHECK(is_found("race.dispatch", "get_bytes", "add"));
}

TEST(fences, that_are_never_updated_order_nothing) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_command_buffer *commands = commands_of(0);
  encode_between(commands, "put", x, NULL, NULL, fence_of());
  encode_between(commands, "get", x, y, fence_of(), NULL);
  CHECK_ERROR(run(commands), MTL_KERNEL_FAULT, "race.dispatch");
}

// Across command buffers of a queue, and through an encoder between.
TEST(fences, hand_on_what_came_before) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_fence *first = fence_of(), *second = fence_of();
  mtl_command_buffer *commands[3] = {commands_of(0), commands_of(0),
                                     commands_of(0)};
  encode_between(commands[0], "put", x, NULL, NULL, first);
  encode_between(commands[1], "put", y, NULL, first, second);
  encode_between(commands[2], "get", x, y, second, NULL);
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(mtl_command_buffer_commit(commands[i]));
  }
  for (int i = 0; i < 3; ++i) {
    wait_for_clean(commands[i]);
  }
  CHECK_EQUAL(count_findings(), 0);
}

TEST(fences, order_no_encoder_that_did_not_update_them) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_fence *fence = fence_of();
  mtl_command_buffer *commands = commands_of(0);
  encode_between(commands, "put", x, NULL, NULL, NULL);
  encode_between(commands, "put", y, NULL, NULL, fence);
  encode_between(commands, "get", x, y, fence, NULL);
  CHECK_ERROR(run(commands), MTL_KERNEL_FAULT, "race.dispatch");
}

// Further back than the checker's memory of encoders.
TEST(fences, of_long_ago_still_order) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_fence *fence = fence_of();
  mtl_command_buffer *commands = commands_of(0);
  for (int i = 0; i < 300; ++i) {
    encode_between(commands, i % 2 ? "get" : "put", x, i % 2 ? y : NULL, fence,
                   fence);
  }
  CHECK_OK(run(commands));
  CHECK_EQUAL(count_findings(), 0);
}

TEST(events, of_the_same_queue_order) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *event = event_of(false);
  mtl_command_buffer *commands = commands_of(0);
  encode(commands, "put", x, NULL);
  mtl_command_buffer_signal_event(commands, event, 1);
  mtl_command_buffer_wait_event(commands, event, 1);
  encode(commands, "get", x, y);
  CHECK_OK(run(commands));
}

TEST(hosts, order_what_they_have_waited_for) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_command_buffer *put = commands_of(0), *get = commands_of(0);
  encode(put, "put", x, NULL);
  encode(get, "get", x, y);
  CHECK_OK(run(put));
  CHECK_OK(run(get));
}

// However soon the first is complete.
TEST(hosts, do_not_order_what_they_have_not_waited_for) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_command_buffer *put = commands_of(0), *other = commands_of(1),
                     *get = commands_of(2);
  encode(put, "put", x, NULL);
  encode(other, "put", y, NULL);
  encode(get, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(put));
  CHECK_OK(mtl_command_buffer_commit(other));
  CHECK_OK(mtl_command_buffer_wait(other));
  CHECK_OK(mtl_command_buffer_commit(get));
  const mtl_status one = mtl_command_buffer_wait(put);
  const mtl_status two = mtl_command_buffer_wait(get);
  CHECK(one != MTL_OK || two != MTL_OK);
}

static mtl_status run_copy(mtl_fence *fence, bool is_fill) {
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_command_buffer *commands = commands_of(0);
  encode_between(commands, "put", x, NULL, NULL, fence);
  mtl_blit_encoder *blit;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  if (fence) {
    mtl_blit_encoder_wait_fence(blit, fence);
  }
  if (is_fill) {
    mtl_blit_encoder_fill(blit, x, 4, 7, 1);
  } else {
    mtl_blit_encoder_copy(blit, x, 0, y, 0, BYTES);
  }
  CHECK_OK(mtl_blit_encoder_end(blit));
  return run(commands);
}

TEST(commands, race_with_dispatches) {
  open_all();
  CHECK_ERROR(run_copy(NULL, false), MTL_KERNEL_FAULT, "race.dispatch");
  CHECK(is_found("race.dispatch", "put", "copy"));
  CHECK_ERROR(run_copy(NULL, true), MTL_KERNEL_FAULT, "race.dispatch");
  CHECK(is_found("race.dispatch", "put", "fill"));
}

TEST(commands, behind_a_fence_do_not) {
  open_all();
  CHECK_OK(run_copy(fence_of(), false));
  CHECK_OK(run_copy(fence_of(), true));
  CHECK_EQUAL(count_findings(), 0);
}

// "put" writes the counts 0, 1 and 2: no threadgroups.
static mtl_status run_indirect(bool with_barrier) {
  mtl_buffer *counts = buffer_of(BYTES);
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(
      mtl_compute_encoder_create(commands, MTL_DISPATCH_CONCURRENT, &encoder));
  dispatch(encoder, "put", counts, NULL);
  if (with_barrier) {
    mtl_compute_encoder_memory_barrier(encoder, MTL_BARRIER_BUFFERS);
  }
  mtl_compute_encoder_set_buffer(encoder, buffer_of(BYTES), 0, 0);
  mtl_compute_encoder_dispatch_threadgroups_indirect(encoder, counts, 0,
                                                     (mtl_size){32, 1, 1});
  CHECK_OK(mtl_compute_encoder_end(encoder));
  return run(commands);
}

TEST(commands, read_counts_behind_a_barrier) {
  open_all();
  CHECK_OK(run_indirect(true));
  CHECK_ERROR(run_indirect(false), MTL_KERNEL_FAULT, "race.dispatch");
  CHECK(is_found("race.dispatch", "put", "count of threadgroups"));
}

// The kernel that makes them is Mettle's own, and its arguments have lengths.
TEST(commands, make_mipmap_levels) {
  open_all();
  mtl_texture *texture;
  CHECK_OK(mtl_texture_create(
      device,
      &(mtl_texture_desc){.pixel_format = MTL_FORMAT_R32_FLOAT,
                          .width = 2,
                          .height = 2,
                          .level_count = 2},
      &texture));
  const mtl_region all = {.width = 2, .height = 2, .depth = 1};
  const mtl_region one = {.width = 1, .height = 1, .depth = 1};
  const float texels[4] = {1, 2, 3, 6};
  CHECK_OK(mtl_texture_replace_region(texture, all, 0, 0, texels, 8, 0));
  mtl_command_buffer *commands = commands_of(0);
  mtl_blit_encoder *blit;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_blit_encoder_generate_mipmaps(blit, texture);
  CHECK_OK(mtl_blit_encoder_end(blit));
  CHECK_OK(run(commands));
  float mean = 0;
  CHECK_OK(mtl_texture_get_bytes(texture, one, 1, 0, &mean, 4, 0));
  CHECK(mean == 3);
  CHECK_EQUAL(count_findings(), 0);
  mtl_texture_release(texture);
}
