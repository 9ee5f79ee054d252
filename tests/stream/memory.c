// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: the pointer map and the buffer pool.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stream/streams.h"

static uint32_t *allocate(mtl_stream *stream, size_t length_bytes,
                          mtl_memory_use use) {
  void *memory = NULL;
  CHECK_OK(mtl_memory_allocate(stream, length_bytes, use, &memory));
  CHECK(memory != NULL);
  return memory;
}

static void check_found(const void *address, size_t offset_bytes) {
  mtl_buffer *buffer = NULL;
  size_t found_bytes = 1;
  CHECK_OK(mtl_memory_find(address, &buffer, &found_bytes));
  CHECK_EQUAL(found_bytes, offset_bytes);
  CHECK((const char *)mtl_buffer_contents(buffer) + offset_bytes == address);
  mtl_buffer_release(buffer);
}

static bool is_found(const void *address) {
  mtl_buffer *buffer = NULL;
  size_t offset_bytes = 0;
  const bool found = mtl_memory_find(address, &buffer, &offset_bytes) == MTL_OK;
  mtl_buffer_release(buffer);
  return found;
}

TEST(pointer_map, finds_every_address_within_and_none_without) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 1000);
  const char *base = mtl_buffer_contents(buffer);
  CHECK(!is_found(base));
  CHECK_OK(mtl_memory_track(buffer));
  check_found(base, 0);
  check_found(base + 1, 1);
  check_found(base + 3999, 3999);
  CHECK(!is_found(base - 1));
  CHECK(!is_found(base + 4000));
  CHECK(!is_found(NULL));
  CHECK_OK(mtl_memory_forget(buffer));
  CHECK(!is_found(base));
}

TEST(pointer_map, refuses_what_is_tracked_and_forgets_once) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 16);
  CHECK_OK(mtl_memory_track(buffer));
  CHECK_ERROR(mtl_memory_track(buffer), MTL_INVALID_ARGUMENT, "already");
  CHECK_OK(mtl_memory_forget(buffer));
  CHECK_ERROR(mtl_memory_forget(buffer), MTL_NOT_FOUND, "not tracked");
  CHECK_OK(mtl_memory_track(buffer));  // like a model that is loaded again
  CHECK_OK(mtl_memory_forget(buffer));
}

enum { STORM_BLOCKS = 64, STORM_ROUNDS = 3000 };

static void *storm(void *context) {
  uint32_t state = (uint32_t)(uintptr_t)context;
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_create(NULL, NULL, &stream));
  char *blocks[STORM_BLOCKS] = {0};
  size_t sizes[STORM_BLOCKS] = {0};
  for (int i = 0; i < STORM_ROUNDS; ++i) {
    state = state * 1664525 + 1013904223;
    const size_t at = state >> 26;
    if (blocks[at]) {
      check_found(blocks[at] + sizes[at] - 1, sizes[at] - 1);
      CHECK_OK(mtl_memory_free(blocks[at]));
      blocks[at] = NULL;
    } else {
      sizes[at] = 1 + (state >> 8) % 20000;
      blocks[at] = (char *)allocate(stream, sizes[at], MTL_MEMORY_FOR_HOST);
      memset(blocks[at], (int)at, sizes[at]);
    }
  }
  for (size_t at = 0; at < STORM_BLOCKS; ++at) {
    if (blocks[at]) {
      CHECK_EQUAL((unsigned char)blocks[at][sizes[at] / 2], at);
    }
    CHECK_OK(mtl_memory_free(blocks[at]));
  }
  mtl_stream_release(stream);
  return NULL;
}

TEST(pointer_map, survives_a_storm_of_four_threads) {
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; ++i) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, storm, (void *)(i + 1)), 0);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
  }
  mtl_pool_statistics pool;
  mtl_stream *stream = new_stream();
  CHECK_OK(mtl_pool_get_statistics(mtl_stream_device(stream), &pool));
  CHECK_EQUAL(pool.used_buffers, 0);
  CHECK_EQUAL(pool.used_bytes, 0);
}

TEST(pool, gives_what_was_freed_again_by_best_fit) {
  mtl_stream *stream = new_stream();
  void *large = allocate(stream, 100000, MTL_MEMORY_FOR_HOST);
  void *middle = allocate(stream, 70000, MTL_MEMORY_FOR_HOST);
  void *small = allocate(stream, 1000, MTL_MEMORY_FOR_HOST);
  CHECK_OK(mtl_memory_free(large));
  CHECK_OK(mtl_memory_free(middle));
  CHECK_OK(mtl_memory_free(small));
  CHECK(allocate(stream, 69000, MTL_MEMORY_FOR_HOST) == middle);
  CHECK(allocate(stream, 99000, MTL_MEMORY_FOR_HOST) == large);
  CHECK(allocate(stream, 900, MTL_MEMORY_FOR_HOST) == small);
  mtl_pool_statistics pool;
  CHECK_OK(mtl_pool_get_statistics(mtl_stream_device(stream), &pool));
  CHECK_EQUAL(pool.hits, 3);
  CHECK_EQUAL(pool.misses, 3);
  CHECK_EQUAL(pool.used_buffers, 3);
  CHECK_EQUAL(pool.kept_buffers, 0);
  CHECK_OK(mtl_memory_free(large));
  CHECK_OK(mtl_memory_free(middle));
  CHECK_OK(mtl_memory_free(small));
}

TEST(pool, does_not_waste_a_large_buffer_on_a_small_wish) {
  mtl_stream *stream = new_stream();
  void *large = allocate(stream, 1 << 20, MTL_MEMORY_FOR_HOST);
  CHECK_OK(mtl_memory_free(large));
  void *small = allocate(stream, 4096, MTL_MEMORY_FOR_HOST);
  CHECK(small != large);
  CHECK_OK(mtl_memory_free(small));
}

TEST(pool, evicts_the_least_recently_used_beyond_its_limit) {
  mtl_stream *stream = new_stream();
  mtl_device *device = mtl_stream_device(stream);
  CHECK_OK(mtl_pool_set_limit(device, 1 << 20));
  void *blocks[4];
  for (int i = 0; i < 4; ++i) {
    blocks[i] = allocate(stream, 400 << 10, MTL_MEMORY_FOR_HOST);
  }
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(mtl_memory_free(blocks[i]));
  }
  mtl_pool_statistics pool;
  CHECK_OK(mtl_pool_get_statistics(device, &pool));
  CHECK_EQUAL(pool.kept_buffers, 2);
  CHECK_EQUAL(pool.evictions, 2);
  CHECK(pool.kept_bytes <= 1 << 20);
  void *again = allocate(stream, 400 << 10, MTL_MEMORY_FOR_HOST);
  CHECK(again == blocks[2] || again == blocks[3]);
  // More than half of the limit is never kept.
  void *whole = allocate(stream, 600 << 10, MTL_MEMORY_FOR_HOST);
  CHECK_OK(mtl_memory_free(whole));
  CHECK_OK(mtl_pool_get_statistics(device, &pool));
  CHECK_EQUAL(pool.kept_buffers, 1);
  CHECK_OK(mtl_pool_set_limit(device, 0));
  CHECK_OK(mtl_pool_get_statistics(device, &pool));
  CHECK_EQUAL(pool.kept_bytes, 0);
  CHECK_OK(mtl_memory_free(again));
}

TEST(pool, gives_the_host_nothing_that_pending_work_still_uses) {
  mtl_stream *stream = new_stream();
  mtl_stream *other = new_stream();
  uint32_t *memory = allocate(stream, 4096, MTL_MEMORY_FOR_HOST);
  memset(memory, 0, 4096);
  const uint64_t grid[] = {1024};
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_one")));
  CHECK_OK(mtl_stream_set_address(stream, 0, memory, 4096));
  CHECK_OK(mtl_stream_dispatch(stream, grid, 1, NULL));
  CHECK_OK(mtl_memory_free(memory));  // the work is not even committed
  uint32_t *host = allocate(stream, 4096, MTL_MEMORY_FOR_HOST);
  uint32_t *elsewhere = allocate(other, 4096, MTL_MEMORY_FOR_STREAM);
  CHECK(host != memory);
  CHECK(elsewhere != memory);
  // Later work of the same stream is ordered after it anyway.
  uint32_t *same = allocate(stream, 4096, MTL_MEMORY_FOR_STREAM);
  CHECK(same == memory);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(same[1023], 1);
  CHECK_OK(mtl_memory_free(same));
  CHECK(allocate(other, 4096, MTL_MEMORY_FOR_HOST) == same);
  CHECK_OK(mtl_memory_free(same));
  CHECK_OK(mtl_memory_free(host));
  CHECK_OK(mtl_memory_free(elsewhere));
}

TEST(pool, ends_where_memory_cannot_be_accessed) {
  static const size_t lengths[] = {256, 512, 20480, 5 << 20};
  for (size_t i = 0; i < 4; ++i) {
    mtl_stream *stream = new_stream();
    const uint64_t words = lengths[i] / 4;
    uint32_t *memory = allocate(stream, lengths[i], MTL_MEMORY_FOR_HOST);
    CHECK_EQUAL((uintptr_t)memory % 256, 0);
    memory[0] = memory[words - 1] = 1;
    CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_one")));
    CHECK_OK(mtl_stream_set_address(stream, 0, memory, lengths[i]));
    CHECK_OK(mtl_stream_dispatch(stream, &words, 1, NULL));
    CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
    CHECK_EQUAL(memory[0], 2);
    CHECK_EQUAL(memory[words - 1], 2);
    const uint64_t too_many = words + 1;
    CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_one")));
    CHECK_OK(mtl_stream_set_address(stream, 0, memory, lengths[i]));
    CHECK_OK(mtl_stream_dispatch(stream, &too_many, 1, NULL));
    CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT),
                MTL_KERNEL_FAULT, "add_one");
    CHECK_OK(mtl_memory_free(memory));
  }
}

TEST(pool, zero_bytes_are_null_and_strangers_are_refused) {
  void *memory = &memory;
  CHECK_OK(mtl_memory_allocate(NULL, 0, MTL_MEMORY_FOR_HOST, &memory));
  CHECK(memory == NULL);
  CHECK_OK(mtl_memory_free(NULL));
  CHECK_ERROR(mtl_memory_free(&memory), MTL_INVALID_ARGUMENT, "not the start");
  char *block = (char *)allocate(new_stream(), 64, MTL_MEMORY_FOR_HOST);
  CHECK_ERROR(mtl_memory_free(block + 1), MTL_INVALID_ARGUMENT,
              "not the start");
  CHECK_OK(mtl_memory_free(block));
  CHECK_ERROR(mtl_memory_free(block), MTL_INVALID_ARGUMENT, "not the start");
}
