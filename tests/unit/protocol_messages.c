// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// protocol_messages.c: messages between runtime and compiler give back what was
// put in, and what is cut short or too long is none.
#include <stdlib.h>
#include <string.h>

#include "compiler/process/protocol.h"
#include "harness/test.h"

// Reads a message from an exact copy, so that a sanitizer sees reads past its
// end, with one way of reading for all lengths but the right one.
typedef bool read_message(const void *data, size_t size);

static void check_only_whole(const mtli_bytes *message, read_message *read) {
  CHECK(!message->failed);
  for (size_t size = 0; size <= message->size + 1; ++size) {
    unsigned char *copy = calloc(1, size + 1);
    memcpy(copy, message->data, size < message->size ? size : message->size);
    CHECK_EQUAL(read(copy, size), size == message->size);
    free(copy);
  }
}

static bool read_library_request(const void *data, size_t size) {
  mtli_arena arena = {0};
  mtlc_library_request request;
  const bool is_read = mtlc_library_request_read(data, size, &arena, &request);
  if (is_read) {
    CHECK_EQUAL(request.size_bytes, 3);
    CHECK(memcmp(request.text, "a\0b", 3) == 0);
    CHECK_EQUAL(request.options.language_version, MTL_LANGUAGE_3_0);
    CHECK_EQUAL(request.options.math_mode, MTL_MATH_RELAXED);
    CHECK(request.options.debug);
    CHECK(request.options.permissive);
    CHECK(request.has_header_callback);
    CHECK(request.options.file_name == NULL);
    CHECK_TEXT(request.working_directory, "");
    CHECK_EQUAL(request.options.macro_count, 2);
    CHECK_TEXT(request.options.macros[0].name, "A");
    CHECK(request.options.macros[0].value == NULL);
    CHECK_TEXT(request.options.macros[1].value, "");
    CHECK_EQUAL(request.options.include_path_count, 1);
    CHECK_TEXT(request.options.include_paths[0], "/include");
  }
  mtli_arena_clear(&arena);
  return is_read;
}

TEST(protocol, carries_library_requests) {
  const mtl_macro macros[] = {{"A", NULL}, {"B", ""}};
  const char *const paths[] = {"/include"};
  mtli_bytes message = {0};
  mtlc_library_request_write(
      &(mtlc_library_request){.text = "a\0b",
                              .size_bytes = 3,
                              .options = {.language_version = MTL_LANGUAGE_3_0,
                                          .math_mode = MTL_MATH_RELAXED,
                                          .debug = true,
                                          .permissive = true,
                                          .macros = macros,
                                          .macro_count = 2,
                                          .include_paths = paths,
                                          .include_path_count = 1},
                              .has_header_callback = true,
                              .working_directory = ""},
      &message);
  check_only_whole(&message, read_library_request);
  mtli_bytes_clear(&message);
}

static bool read_pipeline_request(const void *data, size_t size) {
  mtli_arena arena = {0};
  mtli_pipeline_request request;
  const bool is_read = mtlc_pipeline_request_read(data, size, &arena, &request);
  if (is_read) {
    CHECK_TEXT(request.kernel_name, "scale");
    CHECK_EQUAL(request.tier, MTLI_TIER_1);
    CHECK_TEXT(request.target, "x86_64 x86-64-v3");
    CHECK_EQUAL(request.group_class.row, 16);
    CHECK(request.group_class.is_exact);
    CHECK(request.group_class.is_single);
    CHECK(request.group_class.is_uneven);
    CHECK(request.group_class.is_whole);
    CHECK(request.group_class.is_far);
    CHECK_EQUAL(request.group_class.simdgroups, 9);
    CHECK_EQUAL(request.group_class.row_dimension, 2);
    CHECK(request.may_change_class);
    CHECK(request.dump_after == NULL);
    CHECK(request.report_code);
    CHECK_EQUAL(request.constant_count, 2);
    CHECK(!request.constant_values[0].is_set);
    CHECK(request.constant_values[1].is_set);
    CHECK_EQUAL(request.constant_values[1].bytes[31], 9);
    CHECK_EQUAL(request.library_size_bytes, 7);
    CHECK(memcmp(request.library_bytes, "library", 7) == 0);
  }
  mtli_arena_clear(&arena);
  return is_read;
}

TEST(protocol, carries_pipeline_requests) {
  const mtli_constant_value values[] = {{0},
                                        {.is_set = true, .bytes = {[31] = 9}}};
  mtli_bytes message = {0};
  mtlc_pipeline_request_write(
      &(mtli_pipeline_request){.library_bytes = "library",
                               .library_size_bytes = 7,
                               .kernel_name = "scale",
                               .report_code = true,
                               .constant_values = values,
                               .constant_count = 2,
                               .tier = MTLI_TIER_1,
                               .target = "x86_64 x86-64-v3",
                               .group_class = {16, true, true, true, true, true, 9, 2},
                               .may_change_class = true},
      &message);
  check_only_whole(&message, read_pipeline_request);
  mtli_bytes_clear(&message);
}

static bool read_reply(const void *data, size_t size) {
  mtlc_reply reply;
  const bool is_read = mtlc_reply_read(data, size, &reply);
  if (is_read) {
    CHECK_EQUAL(reply.status, MTL_UNSUPPORTED);
    CHECK_TEXT(reply.text, "text");
    CHECK_EQUAL(reply.container_bytes, 0);
    mtli_cursor cursor = {.data = reply.dependencies,
                          .size = reply.dependencies_bytes};
    mtlc_dependency dependency;
    CHECK(mtlc_dependency_read(&cursor, &dependency));
    CHECK_TEXT(dependency.name, "a.h");
    CHECK(dependency.is_header && dependency.found);
    const XXH128_canonical_t hash = mtlc_text_hash("text", 4);
    CHECK(memcmp(&dependency.hash, &hash, sizeof hash) == 0);
    CHECK(!mtlc_dependency_read(&cursor, &dependency));
  }
  return is_read;
}

TEST(protocol, carries_replies_and_dependencies) {
  mtli_bytes dependencies = {0}, message = {0};
  mtlc_dependency_write(&(mtlc_dependency){.is_header = true,
                                           .found = true,
                                           .name = "a.h",
                                           .hash = mtlc_text_hash("text", 4)},
                        &dependencies);
  mtlc_reply_write(&(mtlc_reply){.status = MTL_UNSUPPORTED,
                                 .text = "text",
                                 .dependencies = dependencies.data,
                                 .dependencies_bytes = dependencies.size},
                   &message);
  check_only_whole(&message, read_reply);
  mtli_bytes_clear(&dependencies);
  mtli_bytes_clear(&message);
}

static bool read_obituary(const void *data, size_t size) {
  mtlc_obituary obituary;
  const bool is_read = mtlc_obituary_read(data, size, &obituary);
  if (is_read) {
    CHECK_EQUAL(obituary.end, MTLC_END_SIGNAL);
    CHECK_EQUAL(obituary.detail, 11);
    CHECK_TEXT(obituary.text, "last words");
  }
  return is_read;
}

TEST(protocol, carries_obituaries) {
  mtli_bytes message = {0};
  mtlc_obituary_write(
      &(mtlc_obituary){
          .end = MTLC_END_SIGNAL, .detail = 11, .text = "last words"},
      &message);
  check_only_whole(&message, read_obituary);
  mtli_bytes_clear(&message);
}

TEST(protocol, refuses_counts_that_the_message_cannot_hold) {
  mtli_bytes message = {0};
  for (int i = 0; i < 4; ++i) {
    mtli_bytes_append_u32(&message, 0);
  }
  mtli_bytes_append_text(&message, NULL);
  mtli_bytes_append_text(&message, NULL);
  mtli_bytes_append_u64(&message, UINT64_MAX / 16 + 2);  // macros
  CHECK(!read_library_request(message.data, message.size));
  mtli_bytes_clear(&message);
}

TEST(protocol, refuses_frames_that_are_not_its_own) {
  unsigned char header[MTLC_FRAME_HEADER_BYTES];
  mtlc_frame_kind kind;
  uint64_t length;
  mtlc_frame_header(header, MTLC_FRAME_RESULT, 12345);
  CHECK(mtlc_frame_parse(header, &kind, &length));
  CHECK_EQUAL(kind, MTLC_FRAME_RESULT);
  CHECK_EQUAL(length, 12345);
  mtlc_frame_header(header, MTLC_FRAME_RESULT, UINT64_C(1) << 40);
  CHECK(!mtlc_frame_parse(header, &kind, &length));
  mtlc_frame_header(header, (mtlc_frame_kind)99, 1);
  CHECK(!mtlc_frame_parse(header, &kind, &length));
  mtlc_frame_header(header, MTLC_FRAME_RESULT, 1);
  header[0] ^= 1;
  CHECK(!mtlc_frame_parse(header, &kind, &length));
}

TEST(protocol, knows_an_identity_whose_files_changed) {
  mtli_bytes identity = {0};
  CHECK(mtlc_stamp_append(&identity, "/proc/self/exe"));
  CHECK(mtlc_stamp_append(&identity, "/bin/sh"));
  CHECK(!mtlc_stamp_append(&identity, "/nowhere"));
  CHECK(
      mtlc_identity_is_current(identity.data, identity.size, "/proc/self/exe"));
  CHECK(!mtlc_identity_is_current(identity.data, identity.size, "/bin/sh"));
  CHECK(!mtlc_identity_is_current(identity.data, identity.size - 1,
                                  "/proc/self/exe"));
  CHECK(!mtlc_identity_is_current(identity.data, 0, "/proc/self/exe"));
  identity.data[identity.size - 1] ^= 1;
  CHECK(!mtlc_identity_is_current(identity.data, identity.size,
                                  "/proc/self/exe"));
  mtli_bytes_clear(&identity);
}
