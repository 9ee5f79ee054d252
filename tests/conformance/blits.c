// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blits.c: copies and fills.
#include "conformance.h"

#include <string.h>

typedef struct blit {
  mtl_command_buffer *commands;
  mtl_blit_encoder *encoder;
} blit;

static blit open_blit(void) {
  blit it = {new_commands(new_queue()), NULL};
  it.encoder = new_blit(it.commands);
  return it;
}

static void run_blit(blit it) {
  end_blit(it.encoder);
  finish(it.commands);
}

static void check_refused(blit it, const char *part) {
  CHECK_ERROR(mtl_blit_encoder_end(it.encoder), MTL_INVALID_ARGUMENT, part);
  CHECK_ERROR(mtl_command_buffer_commit(it.commands), MTL_INVALID_ARGUMENT,
              part);
}

TEST(blits, copy_of_any_alignment) {
  mtl_buffer *source = new_buffer_with("0123456789", 10);
  mtl_buffer *target = new_buffer_with("abcdefghijk", 12);
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, source, 3, target, 1, 5);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(target), "a34567ghijk");
}

TEST(blits, copy_inside_one_buffer) {
  mtl_buffer *buffer = new_buffer_with("0123456789", 11);
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, buffer, 0, buffer, 5, 5);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(buffer), "0123401234");
}

TEST(blits, copies_follow_one_another) {
  mtl_buffer *first = new_buffer_with("xy", 3);
  mtl_buffer *second = new_buffer(3), *third = new_buffer(3);
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, first, 0, second, 0, 3);
  mtl_blit_encoder_fill(it.encoder, first, 0, 2, 'z');
  mtl_blit_encoder_copy(it.encoder, second, 0, third, 0, 3);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(first), "zz");
  CHECK_TEXT(mtl_buffer_contents(third), "xy");
}

TEST(blits, large_copy) {
  enum { BYTES = 32 << 20 };
  mtl_buffer *source = new_buffer(BYTES), *target = new_buffer(BYTES);
  for (size_t i = 0; i < BYTES / 4; i++) {
    words(source)[i] = (uint32_t)(i * 2654435761u);
  }
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, source, 0, target, 0, BYTES);
  run_blit(it);
  CHECK(memcmp(words(source), words(target), BYTES) == 0);
}

TEST(blits, fill_stays_in_its_range) {
  mtl_buffer *buffer = new_buffer_with("..........", 11);
  const blit it = open_blit();
  mtl_blit_encoder_fill(it.encoder, buffer, 3, 4, '#');
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(buffer), "...####...");
}

TEST(blits, empty_ranges_do_nothing) {
  mtl_buffer *buffer = new_buffer_with("....", 5);
  const blit it = open_blit();
  mtl_blit_encoder_fill(it.encoder, buffer, 2, 0, '#');
  mtl_blit_encoder_copy(it.encoder, buffer, 0, buffer, 5, 0);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(buffer), "....");
}

TEST(blits, source_range_is_checked) {
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, new_buffer(10), 6, new_buffer(100), 0, 5);
  check_refused(it, "source");
}

TEST(blits, target_range_is_checked) {
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, new_buffer(100), 0, new_buffer(10), 6, 5);
  check_refused(it, "target");
}

TEST(blits, ranges_that_overflow_are_refused) {
  blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, new_buffer(10), SIZE_MAX, new_buffer(10), 0,
                        2);
  check_refused(it, "source");
  it = open_blit();
  mtl_blit_encoder_fill(it.encoder, new_buffer(10), 5, SIZE_MAX, 0);
  check_refused(it, "10");
}

TEST(blits, overlapping_ranges_are_refused) {
  mtl_buffer *buffer = new_buffer(100);
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, buffer, 0, buffer, 9, 10);
  check_refused(it, "overlap");
}

TEST(blits, null_buffers_are_refused) {
  blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, NULL, 0, new_buffer(4), 0, 4);
  check_refused(it, "source");
  it = open_blit();
  mtl_blit_encoder_copy(it.encoder, new_buffer(4), 0, NULL, 0, 4);
  check_refused(it, "target");
  it = open_blit();
  mtl_blit_encoder_fill(it.encoder, NULL, 0, 4, 0);
  check_refused(it, "buffer");
}

TEST(blits, synchronize_of_a_private_buffer_is_refused) {
  const blit it = open_blit();
  mtl_blit_encoder_synchronize(
      it.encoder,
      new_buffer_like((mtl_buffer_desc){.length_bytes = 16,
                                        .storage_mode = MTL_STORAGE_PRIVATE}));
  check_refused(it, "managed");
}

TEST(blits, pattern_of_two_bytes_repeats_from_any_offset) {
  mtl_buffer *buffer = new_buffer_with("............", 13);
  const blit it = open_blit();
  mtl_blit_encoder_fill_pattern(it.encoder, buffer, 3, 6, "ab", 2);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(buffer), "...ababab...");
}

TEST(blits, pattern_of_four_bytes_repeats_from_any_offset) {
  mtl_buffer *buffer = new_buffer_with("............", 13);
  const blit it = open_blit();
  mtl_blit_encoder_fill_pattern(it.encoder, buffer, 1, 8, "wxyz", 4);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(buffer), ".wxyzwxyz...");
}

TEST(blits, pattern_of_one_byte_and_of_equal_bytes) {
  mtl_buffer *buffer = new_buffer_with("............", 13);
  const blit it = open_blit();
  mtl_blit_encoder_fill_pattern(it.encoder, buffer, 0, 3, "#", 1);
  mtl_blit_encoder_fill_pattern(it.encoder, buffer, 5, 4, "++", 2);
  mtl_blit_encoder_fill_pattern(it.encoder, buffer, 9, 0, "++", 2);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(buffer), "###..++++...");
}

// More than one thread's share, and an end that is no multiple of 4.
TEST(blits, large_pattern_keeps_its_phase) {
  enum { HALVES = (8 << 20) + 1 };
  mtl_buffer *buffer = new_buffer(2 * HALVES + 2);
  const uint16_t pattern = 0x1234;
  const blit it = open_blit();
  mtl_blit_encoder_fill_pattern(it.encoder, buffer, 0, 2 * HALVES, &pattern, 2);
  run_blit(it);
  const uint16_t *halves = mtl_buffer_contents(buffer);
  size_t wrong = 0;
  for (size_t i = 0; i < HALVES; i++) {
    wrong += halves[i] != 0x1234;
  }
  CHECK_EQUAL(wrong, 0);
  CHECK_EQUAL(halves[HALVES], 0);
}

TEST(blits, patterns_of_other_sizes_and_uneven_lengths_are_refused) {
  static const size_t sizes[] = {0, 3, 8};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    const blit it = open_blit();
    mtl_blit_encoder_fill_pattern(it.encoder, new_buffer(32), 0, 24, "12345678",
                                  sizes[i]);
    check_refused(it, "1, 2 or 4");
  }
  blit it = open_blit();
  mtl_blit_encoder_fill_pattern(it.encoder, new_buffer(32), 0, 6, "1234", 4);
  check_refused(it, "multiple");
  it = open_blit();
  mtl_blit_encoder_fill_pattern(it.encoder, new_buffer(32), 0, 4, NULL, 4);
  check_refused(it, "NULL");
  it = open_blit();
  mtl_blit_encoder_fill_pattern(it.encoder, new_buffer(32), 30, 4, "1234", 4);
  check_refused(it, "32");
}

TEST(blits, update_copies_bytes_when_it_is_recorded) {
  mtl_buffer *buffer = new_buffer_with("0123456789", 11);
  mtl_buffer *before = new_buffer(11);
  char bytes[] = "abc";
  const blit it = open_blit();
  mtl_blit_encoder_copy(it.encoder, buffer, 0, before, 0, 11);
  mtl_blit_encoder_update(it.encoder, buffer, 5, bytes, 3);
  memcpy(bytes, "xyz", 3);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(before), "0123456789");
  CHECK_TEXT(mtl_buffer_contents(buffer), "01234abc89");
}

TEST(blits, update_reaches_private_buffers) {
  mtl_buffer *private_one = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 8, .storage_mode = MTL_STORAGE_PRIVATE});
  mtl_buffer *target = new_buffer(8);
  const blit it = open_blit();
  mtl_blit_encoder_update(it.encoder, private_one, 0, "private", 8);
  mtl_blit_encoder_copy(it.encoder, private_one, 0, target, 0, 8);
  run_blit(it);
  CHECK_TEXT(mtl_buffer_contents(target), "private");
}

TEST(blits, update_of_the_largest_size) {
  static uint8_t bytes[MTL_MAX_UPDATE_BYTES];
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (uint8_t)(i * 31 + 7);
  }
  mtl_buffer *buffer = new_buffer(sizeof bytes + 2);
  const blit it = open_blit();
  mtl_blit_encoder_update(it.encoder, buffer, 1, bytes, sizeof bytes);
  run_blit(it);
  const uint8_t *contents = mtl_buffer_contents(buffer);
  CHECK_EQUAL(contents[0], 0);
  CHECK(memcmp(contents + 1, bytes, sizeof bytes) == 0);
  CHECK_EQUAL(contents[sizeof bytes + 1], 0);
}

TEST(blits, updates_past_their_limits_are_refused) {
  static const char bytes[MTL_MAX_UPDATE_BYTES + 1];
  blit it = open_blit();
  mtl_blit_encoder_update(it.encoder, new_buffer(100000), 0, bytes, 65537);
  check_refused(it, "65536");
  it = open_blit();
  mtl_blit_encoder_update(it.encoder, new_buffer(4), 2, bytes, 3);
  check_refused(it, "buffer");
  it = open_blit();
  mtl_blit_encoder_update(it.encoder, new_buffer(4), 0, NULL, 3);
  check_refused(it, "bytes is NULL");
  it = open_blit();
  mtl_blit_encoder_update(it.encoder, NULL, 0, bytes, 3);
  check_refused(it, "buffer is NULL");
  it = open_blit();
  mtl_blit_encoder_update(it.encoder, new_buffer(4), 4, NULL, 0);
  run_blit(it);
}
