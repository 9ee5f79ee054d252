// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// containers.c: libraries written to disk and read again.
#include "conformance.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct container {
  char path[256];
  uint8_t *bytes;  // [length_bytes] malloc'ed
  size_t length_bytes;
} container;

static void free_now(void *bytes) {
  free(bytes);
}

static container write_container(void) {
  container result;
  snprintf(result.path, sizeof result.path, "%s/kernels.mtlcode", new_folder());
  CHECK_OK(mtl_library_write(new_library(simple_kernels), result.path));
  result.bytes = read_file(result.path, &result.length_bytes);
  test_defer(free_now, result.bytes);
  return result;
}

static void check_works(mtl_library *library) {
  CHECK_EQUAL(mtl_library_function_count(library), 2);
  CHECK_TEXT(mtl_library_function_name(library, 1), "add_one");
  mtl_buffer *data = new_buffer(40);
  RUN(new_pipeline_from(library, "store_index"), size_of(10, 1, 1),
      size_of(4, 1, 1), data);
  CHECK_EQUAL(words(data)[9], 9);
}

TEST(containers, file_round_trip) {
  const container file = write_container();
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_file(the_device(), file.path, &library));
  release_library_later(library);
  check_works(library);
}

TEST(containers, memory_round_trip) {
  const container file = write_container();
  uint8_t *copy = malloc(file.length_bytes);
  CHECK(copy != NULL);
  memcpy(copy, file.bytes, file.length_bytes);
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_data(the_device(), copy, file.length_bytes,
                                        &library));
  release_library_later(library);
  memset(copy, 0, file.length_bytes);  // the data was only borrowed
  free(copy);
  check_works(library);
}

TEST(containers, written_twice_are_the_same) {
  const container first = write_container();
  const container second = write_container();
  CHECK_EQUAL(second.length_bytes, first.length_bytes);
  CHECK(memcmp(second.bytes, first.bytes, first.length_bytes) == 0);
}

TEST(containers, survive_another_round) {
  const container file = write_container();
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_file(the_device(), file.path, &library));
  release_library_later(library);
  CHECK_OK(mtl_library_write(library, file.path));
  size_t length = 0;
  void *again = read_file(file.path, &length);
  CHECK_EQUAL(length, file.length_bytes);
  CHECK(memcmp(again, file.bytes, length) == 0);
  free(again);
}

static void check_refused(const void *bytes, size_t length_bytes) {
  mtl_library *library = (mtl_library *)1;
  const mtl_status status =
      mtl_library_create_from_data(the_device(), bytes, length_bytes, &library);
  CHECK_EQUAL(status, MTL_BAD_DATA);
  CHECK(library == NULL);
  CHECK(mtl_last_error()[0] != '\0');
}

TEST(containers, every_truncation_is_refused) {
  const container file = write_container();
  for (size_t length = 0; length < file.length_bytes;
       length += length < 256 ? 1 : 97) {
    check_refused(file.bytes, length);
  }
}

TEST(containers, flipped_bytes_are_refused) {
  const container file = write_container();
  for (size_t at = 0; at < file.length_bytes; at += at < 512 ? 1 : 61) {
    file.bytes[at] ^= 0x40;
    check_refused(file.bytes, file.length_bytes);
    file.bytes[at] ^= 0x40;
  }
}

TEST(containers, bytes_behind_the_end_are_refused) {
  const container file = write_container();
  uint8_t *longer = calloc(1, file.length_bytes + 8);
  CHECK(longer != NULL);
  memcpy(longer, file.bytes, file.length_bytes);
  check_refused(longer, file.length_bytes + 8);
  free(longer);
}

TEST(containers, foreign_files_are_refused) {
  check_refused(
      "\x7f"
      "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
      16);
  check_refused("MTLB\0\0\0\0", 8);
  check_refused("MTLCODE\0", 8);
}

TEST(containers, missing_file_is_an_error_with_its_path) {
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(mtl_library_create_from_file(
                  the_device(), "/nonexistent/kernels.mtlcode", &library),
              MTL_NOT_FOUND, "/nonexistent/kernels.mtlcode");
  CHECK(library == NULL);
}

TEST(containers, unwritable_path_is_an_error_with_its_path) {
  CHECK_ERROR(mtl_library_write(new_library(simple_kernels),
                                "/nonexistent/kernels.mtlcode"),
              MTL_IO_ERROR, "/nonexistent/kernels.mtlcode");
}

TEST(containers, folder_is_no_file) {
  mtl_library *library = (mtl_library *)1;
  const char *folder = new_folder();
  const mtl_status status =
      mtl_library_create_from_file(the_device(), folder, &library);
  CHECK(status == MTL_IO_ERROR || status == MTL_BAD_DATA);
  CHECK_CONTAINS(mtl_last_error(), folder);
}

TEST(containers, damaged_file_is_named_in_the_error) {
  const container file = write_container();
  CHECK_EQUAL(truncate(file.path, 20), 0);
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(mtl_library_create_from_file(the_device(), file.path, &library),
              MTL_BAD_DATA, file.path);
}

typedef struct pipe_reader {
  int end;
  uint8_t bytes[1 << 20];
  size_t length_bytes;
} pipe_reader;

static void *read_pipe(void *context) {
  pipe_reader *reader = context;
  ssize_t got;
  while ((got = read(reader->end, reader->bytes + reader->length_bytes,
                     sizeof reader->bytes - reader->length_bytes)) > 0) {
    reader->length_bytes += (size_t)got;
  }
  return NULL;
}

// A path that is no plain file is written to, never replaced.
TEST(containers, are_written_into_a_named_pipe) {
  const container file = write_container();
  char path[256];
  snprintf(path, sizeof path, "%s/pipe", new_folder());
  CHECK_EQUAL(mkfifo(path, 0600), 0);
  static pipe_reader reader;
  reader.end = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  CHECK(reader.end >= 0);
  CHECK_EQUAL(fcntl(reader.end, F_SETFL, 0), 0);
  pthread_t thread;
  // Held open by this process too, so that the reader waits for the writer.
  const int held = open(path, O_WRONLY | O_CLOEXEC);
  CHECK_EQUAL(pthread_create(&thread, NULL, read_pipe, &reader), 0);
  CHECK_OK(mtl_library_write(new_library(simple_kernels), path));
  close(held);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  close(reader.end);
  CHECK_EQUAL(reader.length_bytes, file.length_bytes);
  CHECK(memcmp(reader.bytes, file.bytes, file.length_bytes) == 0);
  struct stat about;
  CHECK_EQUAL(stat(path, &about), 0);
  CHECK(S_ISFIFO(about.st_mode));
}
