// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoding.c: dispatches in every form, their limits, copies and fills.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/streams.h"

TEST(kernels, the_same_name_gives_the_same_kernel) {
  mtl_shader_library *library = new_shader_library(stream_kernels);
  mtl_kernel *first = NULL;
  mtl_kernel *second = NULL;
  CHECK_OK(mtl_shader_library_kernel(library, "scale", &first));
  CHECK_OK(mtl_shader_library_kernel(library, "scale", &second));
  CHECK(first == second);
  CHECK_TEXT(mtl_kernel_name(first), "scale");
  CHECK_ERROR(mtl_shader_library_kernel(library, "scales", &first),
              MTL_NOT_FOUND, "scale");
}

TEST(kernels, go_with_their_library_while_work_is_pending) {
  mtl_stream *stream = new_stream();
  mtl_shader_library *library = NULL;
  CHECK_OK(mtl_shader_library_create(NULL, stream_kernels, &library));
  mtl_kernel *kernel = NULL;
  CHECK_OK(mtl_shader_library_kernel(library, "add_one", &kernel));
  mtl_buffer *buffer = new_words(stream, 8);
  record(stream, kernel, buffer, 8);
  mtl_shader_library_release(library);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[7], 1);
}

TEST(arguments, int64_and_bytes_reach_the_kernel) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 4);
  words_of(buffer)[2] = 5;
  const uint64_t grid[] = {4};
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("scale")));
  CHECK_OK(mtl_stream_set_buffer(stream, 0, buffer, 0, 16));
  CHECK_OK(mtl_stream_set_int64(stream, 1, 7));
  CHECK_OK(mtl_stream_dispatch(stream, grid, 1, NULL));
  const uint32_t pair[2] = {100, 1000};
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_two")));
  CHECK_OK(mtl_stream_set_buffer(stream, 0, buffer, 0, 16));
  CHECK_OK(mtl_stream_set_bytes(stream, 1, pair, sizeof pair));
  CHECK_OK(mtl_stream_dispatch(stream, grid, 1, NULL));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[2], 1135);
}

TEST(arguments, an_address_binds_the_buffer_around_it) {
  mtl_stream *stream = new_stream();
  uint32_t *memory = NULL;
  CHECK_OK(
      mtl_memory_allocate(stream, 64, MTL_MEMORY_FOR_HOST, (void **)&memory));
  memset(memory, 0, 64);
  const uint64_t grid[] = {2};
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_one")));
  CHECK_OK(mtl_stream_set_address(stream, 0, memory + 3, 8));
  CHECK_OK(mtl_stream_dispatch(stream, grid, 1, NULL));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(memory[2], 0);
  CHECK_EQUAL(memory[3], 1);
  CHECK_EQUAL(memory[4], 1);
  CHECK_EQUAL(memory[5], 0);
  CHECK_OK(mtl_memory_free(memory));
}

TEST(arguments, what_is_out_of_range_is_refused) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 4);
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_one")));
  CHECK_ERROR(mtl_stream_set_buffer(stream, 31, buffer, 0, 0),
              MTL_INVALID_ARGUMENT, "31");
  CHECK_ERROR(mtl_stream_set_buffer(stream, 0, NULL, 0, 0),
              MTL_INVALID_ARGUMENT, "NULL");
  CHECK_ERROR(mtl_stream_set_buffer(stream, 0, buffer, 8, 12),
              MTL_INVALID_ARGUMENT, "16 bytes");
  CHECK_ERROR(mtl_stream_set_buffer(stream, 0, buffer, 8, SIZE_MAX - 4),
              MTL_INVALID_ARGUMENT, "16 bytes");
  CHECK_ERROR(mtl_stream_set_bytes(stream, 0, "", 0), MTL_INVALID_ARGUMENT,
              "4096");
  char large[4097] = {0};
  CHECK_ERROR(mtl_stream_set_bytes(stream, 0, large, sizeof large),
              MTL_INVALID_ARGUMENT, "4097");
  int local = 0;
  CHECK_ERROR(mtl_stream_set_address(stream, 0, &local, 4), MTL_NOT_FOUND,
              "no tracked buffer");
}

// Each thread of the grid must run once, whatever the group.
static void check_grid(const uint64_t *grid, size_t rank,
                       const uint64_t *group) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 5000);
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("positions")));
  CHECK_OK(mtl_stream_set_buffer(stream, 0, buffer, 0, 0));
  CHECK_OK(mtl_stream_dispatch(stream, grid, rank, group));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  uint64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    count *= grid[i];
  }
  for (uint64_t i = 0; i < 5000; ++i) {
    CHECK_EQUAL(words_of(buffer)[i], i < count ? 1 : 0);
  }
}

TEST(dispatches, run_exactly_the_threads_asked_for) {
  check_grid((uint64_t[]){1}, 1, NULL);
  check_grid((uint64_t[]){1025}, 1, NULL);
  check_grid((uint64_t[]){4999}, 1, (uint64_t[]){37});
  check_grid((uint64_t[]){3, 1000}, 2, NULL);
  check_grid((uint64_t[]){31, 33}, 2, (uint64_t[]){8, 5});
  check_grid((uint64_t[]){7, 5, 11}, 3, NULL);
  check_grid((uint64_t[]){7, 5, 11}, 3, (uint64_t[]){4, 4, 4});
  check_grid((uint64_t[]){7, 0, 11}, 3, NULL);
}

TEST(dispatches, threadgroups_are_whole) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 100);
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_one")));
  CHECK_OK(mtl_stream_set_buffer(stream, 0, buffer, 0, 0));
  CHECK_OK(mtl_stream_dispatch_threadgroups(stream, (mtl_size){3, 1, 1},
                                            (mtl_size){20, 1, 1}));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[59], 1);
  CHECK_EQUAL(words_of(buffer)[60], 0);
}

TEST(dispatches, sizes_out_of_range_are_refused_and_spare_the_batch) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 8);
  mtl_kernel *kernel = new_kernel("add_one");
  record(stream, kernel, buffer, 8);
  const uint64_t grid[] = {8, 1, 1, 1};
  CHECK_OK(mtl_stream_start_encoding(stream, kernel));
  CHECK_OK(mtl_stream_set_buffer(stream, 0, buffer, 0, 0));
  CHECK_ERROR(mtl_stream_dispatch(stream, grid, 0, NULL), MTL_INVALID_ARGUMENT,
              "0 dimensions");
  CHECK_ERROR(mtl_stream_dispatch(stream, grid, 4, NULL), MTL_INVALID_ARGUMENT,
              "4 dimensions");
  const uint64_t huge[] = {(uint64_t)UINT32_MAX + 1};
  CHECK_ERROR(mtl_stream_dispatch(stream, huge, 1, NULL), MTL_INVALID_ARGUMENT,
              "4294967296");
  CHECK_ERROR(mtl_stream_dispatch(stream, grid, 1, (uint64_t[]){1025}),
              MTL_INVALID_ARGUMENT, "1025");
  CHECK_ERROR(mtl_stream_dispatch(stream, grid, 2, (uint64_t[]){65536, 65536}),
              MTL_INVALID_ARGUMENT, "65536x65536");
  CHECK_ERROR(mtl_stream_dispatch(stream, grid, 1, (uint64_t[]){0}),
              MTL_INVALID_ARGUMENT, "0x1x1");
  CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT),
              MTL_INVALID_ARGUMENT, "0 dimensions");
  CHECK_EQUAL(words_of(buffer)[0], 1);
}

TEST(dispatches, share_an_encoder_and_see_each_other) {
  mtl_stream *stream = new_stream_like((mtl_stream_desc){.manual = true});
  mtl_buffer *buffer = new_words(stream, 8);
  mtl_kernel *kernel = new_kernel("add_one");
  for (int i = 0; i < 1000; ++i) {
    record(stream, kernel, buffer, 8);
  }
  CHECK_EQUAL(mtl_stream_get_statistics(stream).pending_dispatches, 1000);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[7], 1000);
  CHECK_EQUAL(mtl_stream_get_statistics(stream).commits, 1);
}

TEST(dispatches, flush_by_themselves_when_many_are_pending) {
  mtl_stream *stream =
      new_stream_like((mtl_stream_desc){.flush_dispatches = 10});
  mtl_buffer *buffer = new_words(stream, 8);
  mtl_kernel *kernel = new_kernel("add_one");
  for (int i = 0; i < 35; ++i) {
    record(stream, kernel, buffer, 8);
  }
  CHECK_EQUAL(mtl_stream_get_statistics(stream).commits, 3);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[0], 35);
}

TEST(copies, stand_in_the_order_of_the_calls) {
  mtl_stream *stream = new_stream();
  mtl_buffer *from = new_words(stream, 8);
  mtl_buffer *to = new_words(stream, 8);
  mtl_kernel *kernel = new_kernel("add_one");
  record(stream, kernel, from, 8);
  CHECK_OK(mtl_stream_copy(stream, from, 4, to, 8, 12, MTL_SYNC_NONE));
  record(stream, kernel, from, 8);
  CHECK_OK(mtl_stream_fill(stream, from, 28, 4, 0xAB, MTL_SYNC_NONE));
  CHECK_EQUAL(mtl_stream_get_statistics(stream).commits, 0);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(to)[1], 0);
  CHECK_EQUAL(words_of(to)[2], 1);
  CHECK_EQUAL(words_of(to)[4], 1);
  CHECK_EQUAL(words_of(to)[5], 0);
  CHECK_EQUAL(words_of(from)[6], 2);
  CHECK_EQUAL(words_of(from)[7], 0xABABABAB);
}

TEST(copies, honour_the_mode_given) {
  mtl_stream *stream = new_stream();
  mtl_buffer *from = new_words(stream, 8);
  mtl_buffer *to = new_words(stream, 8);
  words_of(from)[0] = 42;
  CHECK_OK(
      mtl_stream_copy(stream, from, 0, to, 0, 32, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(to)[0], 42);
  CHECK_OK(mtl_stream_fill(stream, to, 0, 32, 1, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(to)[0], 0x01010101);
}

TEST(copies, past_an_end_are_errors_and_touch_nothing) {
  mtl_stream *stream = new_stream();
  mtl_buffer *from = new_words(stream, 8);
  mtl_buffer *to = new_words(stream, 4);
  const mtl_sync_mode wait = MTL_SYNC_COMMIT_AND_WAIT;
  CHECK_ERROR(mtl_stream_copy(stream, from, 0, to, 0, 32, wait),
              MTL_INVALID_ARGUMENT, "16 bytes");
  CHECK_ERROR(mtl_stream_copy(stream, from, 24, to, 0, 16, wait),
              MTL_INVALID_ARGUMENT, "32 bytes");
  CHECK_ERROR(mtl_stream_copy(stream, from, SIZE_MAX - 3, to, 0, 8, wait),
              MTL_INVALID_ARGUMENT, "offset");  // the sum overflows
  CHECK_ERROR(mtl_stream_copy(stream, from, 0, from, 8, 16, wait),
              MTL_INVALID_ARGUMENT, "overlap");
  CHECK_ERROR(mtl_stream_copy(stream, NULL, 0, to, 0, 4, wait),
              MTL_INVALID_ARGUMENT, "source is NULL");
  CHECK_ERROR(mtl_stream_fill(stream, to, 8, SIZE_MAX - 7, 0, wait),
              MTL_INVALID_ARGUMENT, "16 bytes");
  CHECK_OK(mtl_stream_copy(stream, from, 32, to, 16, 0, MTL_SYNC_NONE));
  CHECK_EQUAL(words_of(to)[3], 0);
}

// The test takes up to 20 seconds.
static void skip_unless_wanted(uint64_t bytes) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  (void)bytes;
  test_skip("a sanitizer keeps notes of every byte");
#else
  const uint64_t free_bytes =
      (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  if (!getenv("METTLE_TEST_LARGE") || free_bytes < bytes) {
    test_skip("wants METTLE_TEST_LARGE=1 and %llu MiB of free memory",
              (unsigned long long)(bytes >> 20));
  }
#endif
}

// pytorch 124335: from 4 GiB on a blit left other bytes than it copied.
TEST(copies, are_exact_beyond_4_gib) {
  const size_t gib = (size_t)1 << 30;
  const size_t length = 4 * gib + 8192;
  skip_unless_wanted(6 * gib);
  mtl_stream *stream = new_stream();
  mtl_buffer *from = new_words(stream, length / 4);
  mtl_buffer *to = new_words(stream, length / 4);
  const size_t marks[] = {0,           2 * gib - 4,   2 * gib,
                          4 * gib - 4, 4 * gib + 400, length - 4};
  enum { COUNT = sizeof marks / sizeof marks[0] };
  for (uint32_t i = 0; i < COUNT; ++i) {
    words_of(from)[marks[i] / 4] = i + 1;
  }
  // All but the first word, one word further on.
  const mtl_sync_mode wait = MTL_SYNC_COMMIT_AND_WAIT;
  CHECK_OK(mtl_stream_copy(stream, from, 4, to, 0, length - 4, wait));
  for (uint32_t i = 1; i < COUNT; ++i) {
    CHECK_EQUAL(words_of(to)[marks[i] / 4 - 1], i + 1);
    CHECK_EQUAL(words_of(to)[marks[i] / 4 - 2], marks[i] == 2 * gib ? 2 : 0);
  }
  CHECK_OK(mtl_stream_fill(stream, to, 4 * gib - 8, 16, 0xCD, wait));
  CHECK_EQUAL(words_of(to)[gib - 3], 0);
  CHECK_EQUAL(words_of(to)[gib], 0xCDCDCDCD);
  CHECK_EQUAL(words_of(to)[gib + 1], 0xCDCDCDCD);
  CHECK_EQUAL(words_of(to)[gib + 2], 0);
}
