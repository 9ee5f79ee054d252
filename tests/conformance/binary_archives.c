// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binary_archives.c: code of pipelines, kept in files.
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_archive(void *archive) {
  mtl_binary_archive_release(archive);
}

static mtl_binary_archive *new_archive(const mtl_binary_archive_desc *desc) {
  mtl_binary_archive *archive = NULL;
  CHECK_OK(mtl_binary_archive_create(the_device(), desc, &archive));
  test_defer(release_archive, archive);
  return archive;
}

static const char *archive_path(void) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/kernels.archive", new_folder());
  return path;
}

static mtl_status create_from(mtl_binary_archive *archive,
                              mtl_function *function, uint32_t group,
                              mtl_pipeline **out_pipeline) {
  return mtl_pipeline_create(
      function,
      &(mtl_pipeline_desc){.archives = &archive,
                           .archive_count = 1,
                           .group_threads = {group, group != 0, group != 0},
                           .fail_on_archive_miss = true},
      out_pipeline);
}

TEST(binary_archives, empty_ones_have_nothing) {
  mtl_binary_archive *archive =
      new_archive(&(mtl_binary_archive_desc){.label = "mine"});
  CHECK_EQUAL(mtl_binary_archive_count(archive), 0);
  CHECK_TEXT(mtl_binary_archive_label(archive), "mine");
  CHECK(mtl_binary_archive_device(archive) == the_device());
  mtl_pipeline *pipeline = (mtl_pipeline *)1;
  CHECK_ERROR(
      create_from(archive, new_function(new_library(simple_kernels), "add_one"),
                  0, &pipeline),
      MTL_NOT_FOUND, "'add_one' is in none of 1 archives");
  CHECK(pipeline == NULL);
}

TEST(binary_archives, miss_compiles_unless_told_otherwise) {
  mtl_binary_archive *archive = new_archive(NULL);
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(
      new_function(new_library(simple_kernels), "add_one"),
      &(mtl_pipeline_desc){.archives = &archive, .archive_count = 1},
      &pipeline));
  mtl_pipeline_release(pipeline);
  CHECK_EQUAL(mtl_binary_archive_count(archive), 0);
}

TEST(binary_archives, added_functions_are_found) {
  mtl_binary_archive *archive = new_archive(NULL);
  mtl_library *library = new_library(simple_kernels);
  mtl_function *function = new_function(library, "add_one");
  CHECK_OK(mtl_binary_archive_add(archive, function, NULL));
  CHECK_OK(mtl_binary_archive_add(archive, function, NULL));
  CHECK_EQUAL(mtl_binary_archive_count(archive), 1);
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(create_from(archive, function, 0, &pipeline));
  mtl_pipeline_release(pipeline);
  CHECK_ERROR(
      create_from(archive, new_function(library, "store_index"), 0, &pipeline),
      MTL_NOT_FOUND, "store_index");
}

// A file written, and read as a path and as bytes; the kernels in it run.
TEST(binary_archives, files_hold_what_was_added) {
  mtl_library *library = new_library(simple_kernels);
  mtl_binary_archive *first = new_archive(NULL);
  CHECK_OK(
      mtl_binary_archive_add(first, new_function(library, "add_one"), NULL));
  CHECK_OK(mtl_binary_archive_add(first, new_function(library, "store_index"),
                                  NULL));
  const char *path = archive_path();
  CHECK_OK(mtl_binary_archive_write(first, path));
  size_t length = 0;
  void *bytes = read_file(path, &length);
  const mtl_binary_archive_desc descs[] = {
      {.path = path}, {.data = bytes, .data_bytes = length}};
  for (size_t i = 0; i < COUNT_OF(descs); i++) {
    mtl_binary_archive *again = new_archive(&descs[i]);
    CHECK_EQUAL(mtl_binary_archive_count(again), 2);
    mtl_pipeline *pipeline = NULL;
    CHECK_OK(
        create_from(again, new_function(library, "add_one"), 0, &pipeline));
    release_pipeline_later(pipeline);
    mtl_buffer *data = new_buffer_with((uint32_t[]){5, 6, 7}, 12);
    RUN(pipeline, size_of(3, 1, 1), size_of(3, 1, 1), data);
    if (strcmp(the_info()->name, "null") != 0) {
      CHECK_EQUAL(words(data)[2], 8);
    }
  }
  free(bytes);
}

TEST(binary_archives, other_constants_are_a_miss) {
  mtl_library *library = new_library(
      "constant uint n [[function_constant(0)]];\n"
      "kernel void store(device uint *out) { out[0] = n; }\n");
  mtl_function *functions[2];
  for (uint32_t i = 0; i < 2; i++) {
    mtl_constant_values *values = NULL;
    CHECK_OK(mtl_constant_values_create(&values));
    release_constants_later(values);
    const uint32_t value = 10 + i;
    CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_UINT, 1, &value));
    CHECK_OK(mtl_function_create(library, "store", values, &functions[i]));
    release_function_later(functions[i]);
  }
  mtl_binary_archive *archive = new_archive(NULL);
  CHECK_OK(mtl_binary_archive_add(archive, functions[0], NULL));
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(create_from(archive, functions[0], 0, &pipeline));
  mtl_pipeline_release(pipeline);
  CHECK_ERROR(create_from(archive, functions[1], 0, &pipeline), MTL_NOT_FOUND,
              "'store'");
}

TEST(binary_archives, threadgroups_of_other_shapes_are_added_one_by_one) {
  mtl_library *library = new_library(
      "kernel void sum(device uint *data [[buffer(0)]],\n"
      "                uint i [[thread_position_in_grid]],\n"
      "                uint n [[threads_per_threadgroup]]) {\n"
      "  data[i] = metal::simd_sum(i) + n;\n"
      "}\n");
  mtl_function *function = new_function(library, "sum");
  mtl_binary_archive *archive = new_archive(NULL);
  static const uint32_t groups[] = {8, 64};
  for (size_t i = 0; i < COUNT_OF(groups); i++) {
    CHECK_OK(mtl_binary_archive_add(
        archive, function,
        &(mtl_pipeline_desc){.group_threads = {groups[i], 1, 1}}));
    mtl_pipeline *pipeline = NULL;
    CHECK_OK(create_from(archive, function, groups[i], &pipeline));
    mtl_pipeline_release(pipeline);
  }
}

TEST(binary_archives, are_asked_in_the_background_too) {
  mtl_library *library = new_library(simple_kernels);
  mtl_binary_archive *archive = NULL;
  CHECK_OK(mtl_binary_archive_create(the_device(), NULL, &archive));
  mtl_function *function = new_function(library, "add_one");
  CHECK_OK(mtl_binary_archive_add(archive, function, NULL));
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(create_from(archive, function, 0, &pipeline));
  mtl_binary_archive_release(archive);  // the pipeline keeps it
  mtl_pipeline_release(pipeline);
}

static void check_refused(const void *bytes, size_t length) {
  mtl_binary_archive *archive = (mtl_binary_archive *)1;
  CHECK_EQUAL(
      mtl_binary_archive_create(
          the_device(),
          &(mtl_binary_archive_desc){.data = bytes, .data_bytes = length},
          &archive),
      MTL_BAD_DATA);
  CHECK(archive == NULL);
}

// Cut at any length, and with any bit of every 61st byte turned.
TEST(binary_archives, damaged_files_are_refused) {
  mtl_binary_archive *archive = new_archive(NULL);
  CHECK_OK(mtl_binary_archive_add(
      archive, new_function(new_library(simple_kernels), "add_one"), NULL));
  const char *path = archive_path();
  CHECK_OK(mtl_binary_archive_write(archive, path));
  size_t length = 0;
  unsigned char *bytes = read_file(path, &length);
  for (size_t cut = 0; cut < length; cut += cut < 64 ? 1 : 97) {
    check_refused(bytes, cut);
  }
  for (size_t i = 0; i < length; i += 61) {
    bytes[i] ^= 1u << i % 8;
    check_refused(bytes, length);
    bytes[i] ^= 1u << i % 8;
  }
  write_file(path, "no archive", 10);
  mtl_binary_archive *none = NULL;
  CHECK_ERROR(
      mtl_binary_archive_create(
          the_device(), &(mtl_binary_archive_desc){.path = path}, &none),
      MTL_BAD_DATA, path);
  free(bytes);
}

TEST(binary_archives, wrong_uses_are_told) {
  mtl_binary_archive *archive = (mtl_binary_archive *)1;
  CHECK_ERROR(
      mtl_binary_archive_create(
          the_device(),
          &(mtl_binary_archive_desc){.path = "/nonexistent/archive"}, &archive),
      MTL_NOT_FOUND, "/nonexistent/archive");
  CHECK(archive == NULL);
  CHECK_ERROR(
      mtl_binary_archive_create(
          the_device(), &(mtl_binary_archive_desc){.path = "a", .data = "b"},
          &archive),
      MTL_INVALID_ARGUMENT, "both");
  archive = new_archive(NULL);
  CHECK_ERROR(mtl_binary_archive_write(archive, "/nonexistent/archive"),
              MTL_IO_ERROR, "/nonexistent/archive");
  CHECK_ERROR(mtl_binary_archive_add(archive, NULL, NULL), MTL_INVALID_ARGUMENT,
              "function");
  mtl_binary_archive *none = NULL;
  mtl_pipeline *pipeline = NULL;
  CHECK_ERROR(mtl_pipeline_create(
                  new_function(new_library(simple_kernels), "add_one"),
                  &(mtl_pipeline_desc){.archives = &none, .archive_count = 1},
                  &pipeline),
              MTL_INVALID_ARGUMENT, "archive 0 of 1");
}
