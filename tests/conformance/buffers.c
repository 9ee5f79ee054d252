// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// buffers.c: making, reading and freeing memory.
#include "conformance.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

TEST(buffers, start_as_zeros) {
  mtl_buffer *buffer = new_buffer(10000);
  const uint8_t *bytes = mtl_buffer_contents(buffer);
  for (size_t i = 0; i < 10000; i++) {
    CHECK_EQUAL(bytes[i], 0);
  }
}

TEST(buffers, start_as_zeros_after_others_were_freed) {
  for (int round = 0; round < 3; round++) {
    mtl_buffer *buffer = NULL;
    CHECK_OK(mtl_buffer_create(
        the_device(), &(mtl_buffer_desc){.length_bytes = 65536}, &buffer));
    uint8_t *bytes = mtl_buffer_contents(buffer);
    for (size_t i = 0; i < 65536; i++) {
      CHECK_EQUAL(bytes[i], 0);
    }
    memset(bytes, 0xAA, 65536);
    mtl_buffer_release(buffer);
  }
}

TEST(buffers, start_with_given_bytes) {
  mtl_buffer *buffer = new_buffer_with("forty-two", 10);
  CHECK_EQUAL(mtl_buffer_length(buffer), 10);
  CHECK_TEXT(mtl_buffer_contents(buffer), "forty-two");
}

TEST(buffers, contents_are_page_aligned) {
  for (size_t length = 1; length < 1 << 20; length = length * 7 + 1) {
    const uintptr_t address =
        (uintptr_t)mtl_buffer_contents(new_buffer(length));
    CHECK_EQUAL(address % page_bytes(), 0);
  }
}

TEST(buffers, keep_their_description) {
  mtl_buffer *buffer = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 12345,
      .storage_mode = MTL_STORAGE_MANAGED,
      .label = "weights",
  });
  CHECK_EQUAL(mtl_buffer_length(buffer), 12345);
  CHECK_EQUAL(mtl_buffer_storage_mode(buffer), MTL_STORAGE_MANAGED);
  CHECK_TEXT(mtl_buffer_label(buffer), "weights");
  CHECK(mtl_buffer_device(buffer) == the_device());
}

TEST(buffers, label_is_copied_and_replaceable) {
  char label[] = "first";
  mtl_buffer *buffer =
      new_buffer_like((mtl_buffer_desc){.length_bytes = 4, .label = label});
  label[0] = 'X';
  CHECK_TEXT(mtl_buffer_label(buffer), "first");
  mtl_buffer_set_label(buffer, "second");
  CHECK_TEXT(mtl_buffer_label(buffer), "second");
  mtl_buffer_set_label(buffer, NULL);
  CHECK_TEXT(mtl_buffer_label(buffer), "");
}

TEST(buffers, private_contents_are_null) {
  mtl_buffer *buffer = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 64, .storage_mode = MTL_STORAGE_PRIVATE});
  CHECK(mtl_buffer_contents(buffer) == NULL);
}

TEST(buffers, gpu_addresses_are_distinct) {
  mtl_buffer *first = new_buffer(4096);
  mtl_buffer *second = new_buffer(4096);
  const uint64_t low = mtl_buffer_gpu_address(first);
  const uint64_t high = mtl_buffer_gpu_address(second);
  CHECK(low != 0 && high != 0);
  CHECK((low > high ? low - high : high - low) >= 4096);
}

TEST(buffers, zero_length_is_refused) {
  mtl_buffer *buffer = (mtl_buffer *)1;
  CHECK_ERROR(mtl_buffer_create(the_device(), &(mtl_buffer_desc){0}, &buffer),
              MTL_INVALID_ARGUMENT, "length");
  CHECK(buffer == NULL);
}

TEST(buffers, length_over_the_limit_is_refused_with_both_numbers) {
  mtl_buffer *buffer = (mtl_buffer *)1;
  const uint64_t limit = the_info()->max_buffer_bytes;
  CHECK_ERROR(
      mtl_buffer_create(the_device(),
                        &(mtl_buffer_desc){.length_bytes = SIZE_MAX}, &buffer),
      MTL_INVALID_ARGUMENT, "18446744073709551615");
  CHECK(buffer == NULL);
  CHECK_ERROR(
      mtl_buffer_create(the_device(),
                        &(mtl_buffer_desc){.length_bytes = limit + 1}, &buffer),
      MTL_INVALID_ARGUMENT, "length");
}

// Many of the largest buffers: memory must run out as a status, never as an
// end of the process.
TEST(buffers, memory_that_cannot_be_had_is_a_status) {
  enum { LIMIT = 4096 };
  const uint64_t length = the_info()->max_buffer_bytes;
  static mtl_buffer *buffers[LIMIT];
  size_t count = 0;
  mtl_status status = MTL_OK;
  while (count < LIMIT && status == MTL_OK) {
    status = mtl_buffer_create(the_device(),
                               &(mtl_buffer_desc){.length_bytes = length},
                               &buffers[count]);
    count += status == MTL_OK;
  }
  if (status != MTL_OK) {
    CHECK_EQUAL(status, MTL_OUT_OF_MEMORY);
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)length);
    CHECK_CONTAINS(mtl_last_error(), digits);
  }
  while (count > 0) {
    mtl_buffer_release(buffers[--count]);
  }
  CHECK_EQUAL(words(new_buffer(4096))[0], 0);
}

typedef struct freed {
  atomic_int calls;
  void *bytes;
  size_t length_bytes;
} freed;

static void note_freed(void *context, void *bytes, size_t length_bytes) {
  freed *note = context;
  note->bytes = bytes;
  note->length_bytes = length_bytes;
  atomic_fetch_add(&note->calls, 1);
}

static void *map_pages(size_t length_bytes) {
  void *bytes = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(bytes != MAP_FAILED);
  return bytes;
}

TEST(buffers, no_copy_uses_the_callers_memory) {
  const size_t length = 2 * page_bytes();
  uint32_t *bytes = map_pages(length);
  bytes[3] = 33;
  freed note = {0};
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(the_device(),
                             &(mtl_buffer_desc){
                                 .length_bytes = length,
                                 .no_copy_bytes = bytes,
                                 .deallocator = note_freed,
                                 .deallocator_context = &note,
                             },
                             &buffer));
  CHECK(mtl_buffer_contents(buffer) == bytes);
  CHECK_EQUAL(words(buffer)[3], 33);
  CHECK_EQUAL(atomic_load(&note.calls), 0);
  mtl_buffer_release(buffer);
  CHECK_EQUAL(atomic_load(&note.calls), 1);
  CHECK(note.bytes == bytes);
  CHECK_EQUAL(note.length_bytes, length);
  munmap(bytes, length);
}

TEST(buffers, no_copy_is_seen_by_kernels) {
  const size_t length = page_bytes();
  uint32_t *bytes = map_pages(length);
  bytes[7] = 41;
  mtl_buffer *buffer = new_buffer_like(
      (mtl_buffer_desc){.length_bytes = length, .no_copy_bytes = bytes});
  RUN(new_pipeline(simple_kernels, "add_one"), size_of(16, 1, 1),
      size_of(16, 1, 1), buffer);
  CHECK_EQUAL(bytes[7], 42);
  CHECK_EQUAL(bytes[16], 0);
}

TEST(buffers, no_copy_is_freed_only_after_the_work) {
  const size_t length = page_bytes();
  uint32_t *bytes = map_pages(length);
  freed note = {0};
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(the_device(),
                             &(mtl_buffer_desc){
                                 .length_bytes = length,
                                 .no_copy_bytes = bytes,
                                 .deallocator = note_freed,
                                 .deallocator_context = &note,
                             },
                             &buffer));
  mtl_event *event = new_event();
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(new_queue(), NULL, &commands));
  mtl_command_buffer_wait_event(commands, event, 1);
  mtl_blit_encoder *blit = NULL;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_blit_encoder_fill(blit, buffer, 0, length, 0x11);
  CHECK_OK(mtl_blit_encoder_end(blit));
  mtl_blit_encoder_release(blit);
  CHECK_OK(mtl_command_buffer_commit(commands));
  mtl_buffer_release(buffer);
  CHECK_EQUAL(atomic_load(&note.calls), 0);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
  mtl_command_buffer_release(commands);
  CHECK_EQUAL(atomic_load(&note.calls), 1);
  munmap(bytes, length);
}

TEST(buffers, no_copy_off_the_alignment_is_refused) {
  const uint64_t alignment = the_info()->no_copy_alignment_bytes;
  CHECK(alignment >= 1);
  if (alignment == 1) {
    return;  // any address will do
  }
  const size_t length = 2 * page_bytes();
  char *bytes = map_pages(length);
  mtl_buffer *buffer = (mtl_buffer *)1;
  CHECK_ERROR(mtl_buffer_create(the_device(),
                                &(mtl_buffer_desc){
                                    .length_bytes = page_bytes(),
                                    .no_copy_bytes = bytes + 1,
                                },
                                &buffer),
              MTL_INVALID_ARGUMENT, "no_copy_bytes");
  CHECK(buffer == NULL);
  munmap(bytes, length);
}

TEST(buffers, no_copy_of_any_address_and_length) {
  if (the_info()->no_copy_alignment_bytes != 1) {
    return;
  }
  char bytes[] = "neighbour.....neighbour";
  mtl_buffer *buffer = new_buffer_like(
      (mtl_buffer_desc){.length_bytes = 5, .no_copy_bytes = bytes + 9});
  CHECK(mtl_buffer_contents(buffer) == bytes + 9);
  CHECK_EQUAL(mtl_buffer_length(buffer), 5);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, new_buffer_with("abcde", 5), 0, buffer, 0, 5);
  end_blit(blit);
  finish(commands);
  CHECK_TEXT(bytes, "neighbourabcdeneighbour");
}

// A kernel writes all of a no-copy buffer; the bytes around it stay as they
// are.
TEST(buffers, no_copy_leaves_neighbours_alone) {
  if (the_info()->no_copy_alignment_bytes != 1) {
    return;
  }
  enum { MOST = 70 };
  mtl_pipeline *pipeline = new_pipeline(
      "kernel void step(device uchar *data [[buffer(0)]],\n"
      "                 uint i [[thread_position_in_grid]]) {\n"
      "  data[i] = data[i] + uchar(i);\n"
      "}\n",
      "step");
  for (size_t first = 1; first <= 4; first++) {
    for (uint32_t length = 1; length <= MOST; length += 3) {
      uint8_t bytes[MOST + 10];
      memset(bytes, 0x55, sizeof bytes);
      mtl_buffer *buffer = NULL;
      CHECK_OK(
          mtl_buffer_create(the_device(),
                            &(mtl_buffer_desc){.length_bytes = length,
                                               .no_copy_bytes = bytes + first},
                            &buffer));
      RUN(pipeline, size_of(length, 1, 1), size_of(32, 1, 1), buffer);
      mtl_buffer_release(buffer);
      for (size_t i = 0; i < sizeof bytes; i++) {
        const bool is_inside = i >= first && i < first + length;
        CHECK_EQUAL(bytes[i], is_inside ? (uint8_t)(0x55 + (i - first)) : 0x55);
      }
    }
  }
}

// Clients wrap the same memory for each copy, and release nothing before the
// end.
TEST(buffers, no_copy_of_the_same_memory_again_and_again) {
  const size_t length = 2 * page_bytes();
  uint32_t *bytes = map_pages(length);
  mtl_buffer *inner = new_buffer(length);
  mtl_queue *queue = new_queue();
  for (uint32_t round = 1; round <= 4; round++) {
    bytes[0] = bytes[length / 4 - 1] = round;
    mtl_buffer *source = new_buffer_like(
        (mtl_buffer_desc){.length_bytes = length, .no_copy_bytes = bytes});
    mtl_command_buffer *commands = new_commands(queue);
    mtl_blit_encoder *blit = new_blit(commands);
    mtl_blit_encoder_copy(blit, source, 0, inner, 0, length);
    mtl_blit_encoder_copy(blit, inner, length - 4, source, 4, 4);
    end_blit(blit);
    finish(commands);
    CHECK_EQUAL(words(inner)[0], round);
    CHECK_EQUAL(bytes[1], round);
  }
  munmap(bytes, length);
}

// Two buffers over the same pages, and one over a part of them, are one memory
// to kernels, too.
TEST(buffers, no_copy_buffers_may_overlap) {
  const size_t page = page_bytes();
  uint32_t *bytes = map_pages(2 * page);
  mtl_buffer *whole = new_buffer_like(
      (mtl_buffer_desc){.length_bytes = 2 * page, .no_copy_bytes = bytes});
  mtl_buffer *twin = new_buffer_like(
      (mtl_buffer_desc){.length_bytes = 2 * page, .no_copy_bytes = bytes});
  mtl_buffer *second = new_buffer_like((mtl_buffer_desc){
      .length_bytes = page, .no_copy_bytes = (char *)bytes + page});
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  RUN(pipeline, size_of(16, 1, 1), size_of(16, 1, 1), whole);
  RUN(pipeline, size_of(16, 1, 1), size_of(16, 1, 1), twin);
  RUN(pipeline, size_of(16, 1, 1), size_of(16, 1, 1), second);
  CHECK_EQUAL(bytes[7], 2);
  CHECK_EQUAL(bytes[16], 0);
  CHECK_EQUAL(bytes[page / 4 + 7], 1);
}

// Weights are files that are mapped for reading. One is small, one is not.
TEST(buffers, no_copy_of_a_file_mapped_for_reading) {
  const size_t lengths[] = {page_bytes(), 64 * page_bytes()};
  mtl_pipeline *pipeline = new_pipeline(
      "kernel void twice(device const uint *from [[buffer(0)]],\n"
      "                  device uint *to [[buffer(1)]],\n"
      "                  uint i [[thread_position_in_grid]]) {\n"
      "  to[i] = 2 * from[i];\n"
      "}\n",
      "twice");
  for (size_t k = 0; k < 2; k++) {
    const uint32_t count = (uint32_t)(lengths[k] / sizeof(uint32_t));
    FILE *file = tmpfile();
    CHECK(file);
    for (uint32_t i = 0; i < count; i++) {
      CHECK(fwrite(&i, sizeof i, 1, file) == 1);
    }
    CHECK(fflush(file) == 0);
    void *bytes =
        mmap(NULL, lengths[k], PROT_READ, MAP_SHARED, fileno(file), 0);
    CHECK(bytes != MAP_FAILED);
    mtl_buffer *from = new_buffer_like(
        (mtl_buffer_desc){.length_bytes = lengths[k], .no_copy_bytes = bytes});
    CHECK(mtl_buffer_contents(from) == bytes);
    mtl_buffer *to = new_buffer(lengths[k]);
    RUN(pipeline, size_of(count, 1, 1), size_of(64, 1, 1), from, to);
    for (uint32_t i = 0; i < count; i++) {
      CHECK_EQUAL(words(to)[i], 2 * i);
    }
    mtl_command_buffer *commands = new_commands(new_queue());
    mtl_blit_encoder *blit = new_blit(commands);
    mtl_blit_encoder_copy(blit, from, 4, to, 0, 8);
    end_blit(blit);
    finish(commands);
    CHECK_EQUAL(words(to)[0], 1);
    CHECK_EQUAL(words(to)[1], 2);
    fclose(file);
  }
}

TEST(buffers, no_copy_must_fit_the_arguments_type) {
  if (the_info()->no_copy_alignment_bytes != 1 ||
      !the_info()->has_unified_memory) {
    return;  // a device with memory of its own has aligned memory
  }
  static uint32_t bytes[8];
  mtl_buffer *buffer = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 16, .no_copy_bytes = (char *)bytes + 2});
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, buffer, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(2, 1, 1),
                                       size_of(2, 1, 1));
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "not aligned to the 4 bytes");
}

TEST(buffers, no_copy_outside_shared_mode_is_refused) {
  const size_t length = page_bytes();
  void *bytes = map_pages(length);
  mtl_buffer *buffer = (mtl_buffer *)1;
  CHECK_ERROR(mtl_buffer_create(the_device(),
                                &(mtl_buffer_desc){
                                    .length_bytes = length,
                                    .storage_mode = MTL_STORAGE_PRIVATE,
                                    .no_copy_bytes = bytes,
                                },
                                &buffer),
              MTL_INVALID_ARGUMENT, "no_copy_bytes");
  munmap(bytes, length);
}

TEST(buffers, bytes_and_no_copy_together_are_refused) {
  const size_t length = page_bytes();
  void *bytes = map_pages(length);
  mtl_buffer *buffer = (mtl_buffer *)1;
  CHECK_ERROR(mtl_buffer_create(the_device(),
                                &(mtl_buffer_desc){
                                    .length_bytes = length,
                                    .bytes = bytes,
                                    .no_copy_bytes = bytes,
                                },
                                &buffer),
              MTL_INVALID_ARGUMENT, "bytes");
  munmap(bytes, length);
}

TEST(buffers, unknown_storage_mode_is_refused) {
  mtl_buffer *buffer = (mtl_buffer *)1;
  CHECK_ERROR(mtl_buffer_create(the_device(),
                                &(mtl_buffer_desc){
                                    .length_bytes = 64,
                                    .storage_mode = (mtl_storage_mode)77,
                                },
                                &buffer),
              MTL_INVALID_ARGUMENT, "storage mode 77");
  CHECK(buffer == NULL);
}

TEST(buffers, null_arguments_are_refused) {
  mtl_buffer *buffer = (mtl_buffer *)1;
  const mtl_buffer_desc desc = {.length_bytes = 4};
  CHECK_ERROR(mtl_buffer_create(NULL, &desc, &buffer), MTL_INVALID_ARGUMENT,
              "device");
  CHECK_ERROR(mtl_buffer_create(the_device(), NULL, &buffer),
              MTL_INVALID_ARGUMENT, "desc");
  CHECK_ERROR(mtl_buffer_create(the_device(), &desc, NULL),
              MTL_INVALID_ARGUMENT, "out_buffer");
  mtl_buffer_release(NULL);
  CHECK(mtl_buffer_retain(NULL) == NULL);
}

TEST(buffers, guarded_ends_at_its_last_byte) {
  mtl_buffer *buffer = new_buffer_like(
      (mtl_buffer_desc){.length_bytes = 4096 + 16, .guarded = true});
  const uintptr_t address = (uintptr_t)mtl_buffer_contents(buffer);
  CHECK_EQUAL((address + 4096 + 16) % page_bytes(), 0);
  words(buffer)[0] = 1;
  words(buffer)[(4096 + 16) / 4 - 1] = 2;
}

TEST(buffers, guarded_address_is_aligned_to_16) {
  mtl_buffer *buffer =
      new_buffer_like((mtl_buffer_desc){.length_bytes = 21, .guarded = true});
  const uintptr_t address = (uintptr_t)mtl_buffer_contents(buffer);
  CHECK_EQUAL(address % 16, 0);
  CHECK_EQUAL((address + 32) % page_bytes(), 0);
  CHECK_EQUAL(mtl_buffer_length(buffer), 21);
}

TEST(buffers, guarded_end_with_a_page_as_their_alignment_allows) {
  for (uint32_t alignment = 1; alignment <= 16; alignment *= 2) {
    mtl_buffer *buffer = new_buffer_like(
        (mtl_buffer_desc){.length_bytes = 21 * alignment,
                          .guarded = true,
                          .guard_alignment_bytes = (uint8_t)alignment});
    const uintptr_t address = (uintptr_t)mtl_buffer_contents(buffer);
    CHECK_EQUAL((address + 21 * alignment) % page_bytes(), 0);
  }
  mtl_buffer *buffer = NULL;
  for (uint32_t alignment = 3; alignment <= 32; alignment += 29) {
    const mtl_buffer_desc desc = {.length_bytes = 64,
                                  .guarded = true,
                                  .guard_alignment_bytes = (uint8_t)alignment};
    CHECK_ERROR(mtl_buffer_create(the_device(), &desc, &buffer),
                MTL_INVALID_ARGUMENT, "1, 2, 4, 8 or 16");
  }
}

TEST(buffers, that_are_not_guarded_may_end_with_a_page) {
  for (size_t length = 16; length <= 100000; length = length * 5 / 16 * 16) {
    mtl_buffer *buffer = new_buffer_like(
        (mtl_buffer_desc){.length_bytes = length, .guard_alignment_bytes = 16});
    const uintptr_t address = (uintptr_t)mtl_buffer_contents(buffer);
    CHECK_EQUAL((address + length) % page_bytes(), 0);
    CHECK_EQUAL(words(buffer)[length / 4 - 1], 0);
  }
}

TEST(buffers, all_end_with_a_page_where_a_setting_says_so) {
  setenv("METTLE_GUARD_ENDS", "1", 1);
  mtl_buffer *buffer = new_buffer_like((mtl_buffer_desc){.length_bytes = 48});
  CHECK_EQUAL(((uintptr_t)mtl_buffer_contents(buffer) + 48) % page_bytes(), 0);
  setenv("METTLE_GUARD_ENDS", "0", 1);
  buffer = new_buffer_like((mtl_buffer_desc){.length_bytes = 48});
  CHECK_EQUAL((uintptr_t)mtl_buffer_contents(buffer) % page_bytes(), 0);
}

TEST(buffers, did_modify_range_checks_the_range) {
  mtl_buffer *buffer = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 100, .storage_mode = MTL_STORAGE_MANAGED});
  CHECK_OK(mtl_buffer_did_modify_range(buffer, 0, 100));
  CHECK_OK(mtl_buffer_did_modify_range(buffer, 100, 0));
  CHECK_ERROR(mtl_buffer_did_modify_range(buffer, 60, 41), MTL_INVALID_ARGUMENT,
              "100");
  CHECK_ERROR(mtl_buffer_did_modify_range(buffer, SIZE_MAX, 2),
              MTL_INVALID_ARGUMENT, "100");
}

TEST(buffers, did_modify_range_of_a_private_buffer_is_refused) {
  mtl_buffer *buffer = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 100, .storage_mode = MTL_STORAGE_PRIVATE});
  CHECK_ERROR(mtl_buffer_did_modify_range(buffer, 0, 4), MTL_INVALID_ARGUMENT,
              "private");
}

TEST(buffers, did_modify_range_of_a_shared_buffer_is_accepted) {
  CHECK_OK(mtl_buffer_did_modify_range(new_buffer(100), 0, 100));
}
