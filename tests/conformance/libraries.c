// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libraries.c: source text, options, headers, functions.
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char store_value[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "#ifndef VALUE\n"
    "#define VALUE 7\n"
    "#endif\n"
    "kernel void store(device uint *out [[buffer(0)]]) { out[0] = VALUE; }\n";

// Returns the result of the library's `store` in a fresh buffer.
static uint32_t stored(mtl_library *library) {
  mtl_buffer *out = new_buffer(4);
  RUN(new_pipeline_from(library, "store"), size_of(1, 1, 1), size_of(1, 1, 1),
      out);
  return words(out)[0];
}

TEST(libraries, compile_and_run) {
  CHECK_EQUAL(stored(new_library(store_value)), 7);
}

TEST(libraries, need_no_terminator) {
  const size_t length = strlen(store_value);
  char *source = malloc(length);
  CHECK(source != NULL);
  memcpy(source, store_value, length);
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(the_device(), source, length, NULL,
                                          &library));
  free(source);
  release_library_later(library);
  CHECK_EQUAL(stored(library), 7);
}

TEST(libraries, macros_are_defined) {
  const mtl_macro macros[] = {{"VALUE", "30 + 12"}};
  CHECK_EQUAL(stored(new_library_with(
                  store_value,
                  &(mtl_compile_options){.macros = macros, .macro_count = 1})),
              42);
}

TEST(libraries, macro_without_value_is_1) {
  const mtl_macro macros[] = {{"OTHER", "5"}, {"VALUE", NULL}};
  CHECK_EQUAL(stored(new_library_with(
                  store_value,
                  &(mtl_compile_options){.macros = macros, .macro_count = 2})),
              1);
}

TEST(libraries, macro_with_a_name_that_cannot_be_is_refused) {
  const char *const names[] = {"", "1st", "a b", "a\nb", "a-b", NULL};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const mtl_macro macros[] = {{names[i], "1"}};
    mtl_library *library = (mtl_library *)1;
    CHECK_ERROR(mtl_library_create_from_source(
                    the_device(), store_value, strlen(store_value),
                    &(mtl_compile_options){.macros = macros, .macro_count = 1},
                    &library),
                MTL_INVALID_ARGUMENT, "macro");
    CHECK(library == NULL);
  }
}

TEST(libraries, language_versions_set_the_macro) {
  static const struct {
    mtl_language_version version;
    uint32_t expected;
  } cases[] = {{MTL_LANGUAGE_DEFAULT, 320}, {MTL_LANGUAGE_2_4, 240},
               {MTL_LANGUAGE_3_0, 300},     {MTL_LANGUAGE_3_1, 310},
               {MTL_LANGUAGE_3_2, 320},     {MTL_LANGUAGE_4_0, 400},
               {MTL_LANGUAGE_4_1, 410}};
  const char *source =
      "kernel void store(device uint *out [[buffer(0)]]) {\n"
      "  out[0] = __METAL_VERSION__;\n"
      "}\n";
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    CHECK_EQUAL(stored(new_library_with(
                    source, &(mtl_compile_options){.language_version =
                                                       cases[i].version})),
                cases[i].expected);
  }
}

TEST(libraries, unknown_language_version_is_refused) {
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(
      mtl_library_create_from_source(
          the_device(), store_value, strlen(store_value),
          &(mtl_compile_options){.language_version = (mtl_language_version)990},
          &library),
      MTL_INVALID_ARGUMENT, "990");
}

// x is a NaN, which fast mathematics may assume away.
TEST(libraries, math_mode_safe_keeps_nan_and_infinity) {
  const char *source =
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void store(device uint *out [[buffer(0)]],\n"
      "                  device const float *in [[buffer(1)]]) {\n"
      "  out[0] = uint(isnan(in[0])) + 2 * uint(isinf(in[1]))\n"
      "           + 4 * uint(in[0] != in[0]);\n"
      "}\n";
  mtl_library *library = new_library_with(
      source, &(mtl_compile_options){.math_mode = MTL_MATH_SAFE});
  const uint32_t in[2] = {0x7FC00000, 0x7F800000};  // NaN, infinity
  mtl_buffer *out = new_buffer(4);
  RUN(new_pipeline_from(library, "store"), size_of(1, 1, 1), size_of(1, 1, 1),
      out, BUFFER_OF(in));
  CHECK_EQUAL(words(out)[0], 7);
}

// 1/3 * 3 - 1 rounds to 0 without contraction; fma keeps the difference.
TEST(libraries, math_mode_safe_rounds_products_on_their_own) {
  const char *source =
      "kernel void store(device float *out [[buffer(0)]],\n"
      "                  device const float *in [[buffer(1)]]) {\n"
      "  float product = in[0] * in[1];\n"
      "  out[0] = product + in[2];\n"
      "}\n";
  mtl_library *library = new_library_with(
      source, &(mtl_compile_options){.math_mode = MTL_MATH_SAFE});
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 rounds to 1 + 2^-11.
  const float in[3] = {1.000244140625f, 1.000244140625f, -1.00048828125f};
  mtl_buffer *out = new_buffer(4);
  RUN(new_pipeline_from(library, "store"), size_of(1, 1, 1), size_of(1, 1, 1),
      out, BUFFER_OF(in));
  CHECK(floats(out)[0] == 0.0f);
}

TEST(libraries, include_paths_are_searched_in_order) {
  const char *first = new_folder();
  const char *second = new_folder();
  char path[256];
  snprintf(path, sizeof path, "%s/both.h", first);
  write_file(path, "#define VALUE 1\n", 16);
  snprintf(path, sizeof path, "%s/both.h", second);
  write_file(path, "#define VALUE 2\n", 16);
  snprintf(path, sizeof path, "%s/only.h", second);
  write_file(path, "#define MORE 40\n", 16);
  const char *const folders[] = {first, second};
  const char *source =
      "#include \"both.h\"\n"
      "#include <only.h>\n"
      "kernel void store(device uint *out [[buffer(0)]]) {\n"
      "  out[0] = VALUE + MORE;\n"
      "}\n";
  CHECK_EQUAL(stored(new_library_with(
                  source, &(mtl_compile_options){.include_paths = folders,
                                                 .include_path_count = 2})),
              41);
}

TEST(libraries, headers_that_change_are_read_again) {
  const char *folder = new_folder();
  char path[256];
  snprintf(path, sizeof path, "%s/value.h", folder);
  const char *source =
      "#include \"value.h\"\n"
      "kernel void store(device uint *out [[buffer(0)]]) { out[0] = VALUE; }\n";
  const mtl_compile_options options = {.include_paths = &folder,
                                       .include_path_count = 1};
  write_file(path, "#define VALUE 1\n", 16);
  CHECK_EQUAL(stored(new_library_with(source, &options)), 1);
  write_file(path, "#define VALUE 2\n", 16);
  CHECK_EQUAL(stored(new_library_with(source, &options)), 2);
}

typedef struct header {
  const char *name;
  const char *text;
  int calls;
} header;

static bool find_header(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  header *wanted = context;
  wanted->calls++;
  if (strcmp(name, wanted->name) != 0) {
    return false;
  }
  *out_text = wanted->text;
  *out_length = strlen(wanted->text);
  return true;
}

TEST(libraries, header_callback_gives_headers) {
  header wanted = {"generated/value.h", "#define VALUE 21\n", 0};
  const char *source =
      "#include \"generated/value.h\"\n"
      "kernel void store(device uint *out [[buffer(0)]]) { out[0] = VALUE; }\n";
  CHECK_EQUAL(stored(new_library_with(
                  source, &(mtl_compile_options){.header_callback = find_header,
                                                 .header_context = &wanted})),
              21);
  CHECK(wanted.calls >= 1);
}

// The cache must not answer for a callback that has changed its mind.
TEST(libraries, header_callback_texts_are_not_confused) {
  header wanted = {"value.h", "#define VALUE 1\n", 0};
  const char *source =
      "#include \"value.h\"\n"
      "kernel void store(device uint *out [[buffer(0)]]) { out[0] = VALUE; }\n";
  const mtl_compile_options options = {.header_callback = find_header,
                                       .header_context = &wanted};
  CHECK_EQUAL(stored(new_library_with(source, &options)), 1);
  wanted.text = "#define VALUE 2\n";
  CHECK_EQUAL(stored(new_library_with(source, &options)), 2);
}

TEST(libraries, header_that_nobody_has_is_an_error_with_its_name) {
  header wanted = {"other.h", "", 0};
  const char *source = "#include \"nowhere.h\"\n";
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(mtl_library_create_from_source(
                  the_device(), source, strlen(source),
                  &(mtl_compile_options){.header_callback = find_header,
                                         .header_context = &wanted},
                  &library),
              MTL_COMPILE_FAILED, "nowhere.h");
  CHECK(library == NULL);
}

TEST(libraries, error_shows_file_line_column_and_caret) {
  const char *source =
      "kernel void k(device float *out [[buffer(0)]]) {\n"
      "  out[0] = nonsense;\n"
      "}\n";
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(
      mtl_library_create_from_source(
          the_device(), source, strlen(source),
          &(mtl_compile_options){.file_name = "shaders/first.metal"}, &library),
      MTL_COMPILE_FAILED, "shaders/first.metal:2:12: error: ");
  CHECK_CONTAINS(mtl_last_error(), "nonsense");
  CHECK_CONTAINS(mtl_last_error(), "  out[0] = nonsense;\n");
  CHECK_CONTAINS(mtl_last_error(), "           ^");
}

TEST(libraries, error_of_a_nameless_source_says_program_source) {
  CHECK_CONTAINS(compile_error("kernel void k() { return 1 }\n"),
                 "program_source:1:");
}

TEST(libraries, every_error_is_told) {
  const char *text = compile_error(
      "kernel void a(device int *p) { p[0] = first; }\n"
      "kernel void b(device int *p) { p[0] = second; }\n");
  CHECK_CONTAINS(text, "first");
  CHECK_CONTAINS(text, "second");
}

TEST(libraries, warnings_are_kept) {
  mtl_library *library = new_library(
      "kernel void k(device int *p [[buffer(0)]]) {\n"
      "#warning \"mind the gap\"\n"
      "  p[0] = 1;\n"
      "}\n");
  CHECK_CONTAINS(mtl_library_warnings(library), "mind the gap");
  CHECK_CONTAINS(mtl_library_warnings(library), "warning: ");
}

TEST(libraries, warnings_are_kept_by_the_cache) {
  const char *source =
      "#warning \"twice told\"\n"
      "kernel void k(device int *p [[buffer(0)]]) { p[0] = 1; }\n";
  CHECK_CONTAINS(mtl_library_warnings(new_library(source)), "twice told");
  CHECK_CONTAINS(mtl_library_warnings(new_library(source)), "twice told");
}

TEST(libraries, clean_source_has_no_warnings) {
  CHECK_TEXT(mtl_library_warnings(new_library(simple_kernels)), "");
}

TEST(libraries, function_names_are_in_source_order) {
  mtl_library *library = new_library(
      "kernel void zebra(device int *p [[buffer(0)]]) { p[0] = 1; }\n"
      "static int helper() { return 2; }\n"
      "[[kernel]] void aardvark(device int *p [[buffer(0)]]) {\n"
      "  p[0] = helper();\n"
      "}\n");
  CHECK_EQUAL(mtl_library_function_count(library), 2);
  CHECK_TEXT(mtl_library_function_name(library, 0), "zebra");
  CHECK_TEXT(mtl_library_function_name(library, 1), "aardvark");
  CHECK(mtl_library_function_name(library, 2) == NULL);
}

TEST(libraries, templates_have_their_host_names) {
  mtl_library *library = new_library(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "template <typename T, int N>\n"
      "kernel void fill(device T *out [[buffer(0)]],\n"
      "                 uint i [[thread_position_in_grid]]) {\n"
      "  out[i] = T(N);\n"
      "}\n"
      "template [[host_name(\"fill_u32_5\")]] kernel void\n"
      "fill<uint, 5>(device uint *, uint);\n"
      "template [[host_name(\"fill_f32_6\")]] kernel void\n"
      "fill<float, 6>(device float *, uint);\n");
  CHECK_EQUAL(mtl_library_function_count(library), 2);
  mtl_buffer *out = new_buffer(12);
  RUN(new_pipeline_from(library, "fill_u32_5"), size_of(3, 1, 1),
      size_of(3, 1, 1), out);
  CHECK_EQUAL(words(out)[2], 5);
  RUN(new_pipeline_from(library, "fill_f32_6"), size_of(3, 1, 1),
      size_of(3, 1, 1), out);
  CHECK(floats(out)[2] == 6.0f);
}

TEST(libraries, empty_source_has_no_functions) {
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(the_device(), "", 0, NULL, &library));
  CHECK_EQUAL(mtl_library_function_count(library), 0);
  CHECK(mtl_library_function_name(library, 0) == NULL);
  mtl_library_release(library);
}

TEST(libraries, missing_function_is_not_found_and_names_near_ones) {
  mtl_library *library = new_library(simple_kernels);
  mtl_function *function = (mtl_function *)1;
  CHECK_ERROR(mtl_function_create(library, "store_indx", NULL, &function),
              MTL_NOT_FOUND, "store_indx");
  CHECK(function == NULL);
  CHECK_CONTAINS(mtl_last_error(), "store_index");
}

TEST(libraries, null_arguments_are_refused) {
  mtl_library *library = (mtl_library *)1;
  mtl_function *function = (mtl_function *)1;
  CHECK_ERROR(mtl_library_create_from_source(NULL, "", 0, NULL, &library),
              MTL_INVALID_ARGUMENT, "device");
  CHECK_ERROR(
      mtl_library_create_from_source(the_device(), NULL, 5, NULL, &library),
      MTL_INVALID_ARGUMENT, "source");
  CHECK_ERROR(mtl_library_create_from_source(the_device(), "", 0, NULL, NULL),
              MTL_INVALID_ARGUMENT, "out_library");
  CHECK_ERROR(mtl_function_create(NULL, "k", NULL, &function),
              MTL_INVALID_ARGUMENT, "library");
  CHECK_ERROR(
      mtl_function_create(new_library(simple_kernels), NULL, NULL, &function),
      MTL_INVALID_ARGUMENT, "name");
  mtl_library_release(NULL);
  mtl_function_release(NULL);
}

TEST(libraries, function_outlives_its_library) {
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(
      the_device(), simple_kernels, strlen(simple_kernels), NULL, &library));
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(library, "add_one", NULL, &function));
  mtl_library_release(library);
  CHECK_TEXT(mtl_function_name(function), "add_one");
  mtl_function_release(function);
}

TEST(libraries, metal_4_is_cpp_as_before) {
  CHECK_EQUAL(
      stored(new_library_with(
          "#include <metal_stdlib>\n"
          "using namespace metal;\n"
          "template <typename T> T twice(T x) { return x + x; }\n"
          "kernel void store(device uint *out [[buffer(0)]]) {\n"
          "  out[0] = twice(popcount(0xf0u)) + uint(bfloat(2.0));\n"
          "}\n",
          &(mtl_compile_options){.language_version = MTL_LANGUAGE_4_0})),
      10);
}

TEST(libraries, keep_their_source_if_asked) {
  const char *source = "kernel void k(device uint *out) { out[0] = 1; }\n";
  size_t length = 1;
  CHECK(mtl_library_source(new_library(source), &length) == NULL);
  CHECK_EQUAL(length, 0);
  mtl_library *library =
      new_library_with(source, &(mtl_compile_options){.keep_source = true});
  const char *kept = mtl_library_source(library, &length);
  CHECK_EQUAL(length, strlen(source));
  CHECK(memcmp(kept, source, length) == 0);
  // And so do copies of it.
  size_t bytes = 0;
  const void *data = mtl_library_data(library, &bytes);
  mtl_library *copy = NULL;
  CHECK_OK(mtl_library_create_from_data(the_device(), data, bytes, &copy));
  release_library_later(copy);
  kept = mtl_library_source(copy, &length);
  CHECK_EQUAL(length, strlen(source));
  CHECK(memcmp(kept, source, length) == 0);
  mtl_pipeline *pipeline = new_pipeline_from(copy, "k");
  CHECK(pipeline != NULL);
}

typedef struct made {
  mtl_event *event;
  mtl_library *library;
  mtl_status status;
  char error[256];
} made;

static void note_made(void *context, mtl_library *library, mtl_status status,
                      const char *error) {
  made *note = context;
  note->library = library;
  note->status = status;
  strncpy(note->error, error, sizeof note->error - 1);
  // The test may release its own once it has seen the value.
  mtl_event *event = mtl_event_retain(note->event);
  CHECK_OK(mtl_event_signal(event, 1));
  mtl_event_release(event);
}

// The caller's arguments are freed before the library is made.
TEST(libraries, are_made_in_the_background) {
  made note = {.event = new_event()};
  char *source = strdup(
      "#include \"value.h\"\n"
      "kernel void store(device uint *out [[buffer(0)]]) {\n"
      "  out[0] = VALUE + MORE;\n"
      "}\n");
  char *folder = strdup(new_folder());
  char path[4096];
  snprintf(path, sizeof path, "%s/value.h", folder);
  write_file(path, "#define VALUE 40\n", 17);
  char name[] = "MORE", value[] = "2";
  mtl_macro macro = {name, value};
  const char *paths[] = {folder};
  mtl_compile_options options = {.macros = &macro,
                                 .macro_count = 1,
                                 .include_paths = paths,
                                 .include_path_count = 1};
  CHECK_OK(mtl_library_create_from_source_async(
      the_device(), source, strlen(source), &options, note_made, &note));
  memset(source, ' ', strlen(source));
  memset(folder, ' ', strlen(folder));
  memset(name, ' ', strlen(name));
  macro = (mtl_macro){0};
  paths[0] = NULL;
  CHECK_OK(mtl_event_wait(note.event, 1, MTL_WAIT_FOREVER));
  CHECK_EQUAL(note.status, MTL_OK);
  CHECK_TEXT(note.error, "");
  release_library_later(note.library);
  if (strcmp(the_info()->name, "null") != 0) {
    CHECK_EQUAL(stored(note.library), 42);
  }
  free(source);
  free(folder);
}

TEST(libraries, failures_in_the_background_come_with_their_text) {
  made note = {.event = new_event(), .library = (mtl_library *)1};
  CHECK_OK(mtl_library_create_from_source_async(the_device(), "nonsense", 8,
                                                NULL, note_made, &note));
  CHECK_OK(mtl_event_wait(note.event, 1, MTL_WAIT_FOREVER));
  CHECK_EQUAL(note.status, MTL_COMPILE_FAILED);
  CHECK(note.library == NULL);
  CHECK_CONTAINS(note.error, "nonsense");
  note.event = new_event();
  mtl_macro macro = {NULL, NULL};
  CHECK_OK(mtl_library_create_from_source_async(
      the_device(), "", 0,
      &(mtl_compile_options){.macros = &macro, .macro_count = 1}, note_made,
      &note));
  CHECK_OK(mtl_event_wait(note.event, 1, MTL_WAIT_FOREVER));
  CHECK_EQUAL(note.status, MTL_INVALID_ARGUMENT);
  CHECK_ERROR(mtl_library_create_from_source_async(the_device(), "", 0, NULL,
                                                   NULL, NULL),
              MTL_INVALID_ARGUMENT, "callback");
}
