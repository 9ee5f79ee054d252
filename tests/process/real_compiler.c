// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// real_compiler.c: clang behind the process and the cache, through the public
// API: headers that change are seen, and bad source ends in an error.
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/test.h"
#include "mettle/mettle.h"

static char folder[] = "/tmp/mettle-real-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *where) {
  (void)status, (void)kind, (void)where;
  return remove(path);
}

static void remove_folder(void *unused) {
  (void)unused;
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static mtl_device *device;

static void set_up(void) {
  strcpy(folder, "/tmp/mettle-real-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  test_defer(remove_folder, NULL);
  setenv("METTLE_CACHE_DIR", folder, 1);
  setenv("METTLE_CACHE", "1", 1);
  CHECK_OK(mtl_device_by_name("null", &device));
}

// Compiles text and gives the name of its first function.
static const char *first_name(const char *text,
                              const mtl_compile_options *options) {
  static char name[256];
  mtl_library *library;
  CHECK_OK(mtl_library_create_from_source(device, text, strlen(text), options,
                                          &library));
  CHECK(mtl_library_function_count(library) > 0);
  snprintf(name, sizeof name, "%s", mtl_library_function_name(library, 0));
  mtl_library_release(library);
  return name;
}

static mtl_status compile(const char *text, size_t length,
                          const mtl_compile_options *options) {
  mtl_library *library;
  const mtl_status status =
      mtl_library_create_from_source(device, text, length, options, &library);
  mtl_library_release(library);
  return status;
}

static void write_header(const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  fputs(text, file);
  CHECK_EQUAL(fclose(file), 0);
}

#define KERNEL(name) "kernel void " name "(device int *x [[buffer(0)]]) {}\n"

TEST(real, sees_headers_that_change_appear_and_go) {
  set_up();
  char early[512];
  snprintf(early, sizeof early, "%s/early", folder);
  const char *const paths[] = {early, folder};
  const mtl_compile_options options = {.include_paths = paths,
                                       .include_path_count = 2};
  const char *text = "#include \"parts/a.h\"\n";
  char parts[512];
  snprintf(parts, sizeof parts, "%s/parts", folder);
  CHECK_EQUAL(mkdir(parts, 0700), 0);
  write_header("parts/a.h", KERNEL("one"));
  CHECK_TEXT(first_name(text, &options), "one");
  CHECK_TEXT(first_name(text, &options), "one");
  write_header("parts/a.h", KERNEL("two"));
  CHECK_TEXT(first_name(text, &options), "two");
  // A folder that did not exist is now found first.
  CHECK_EQUAL(mkdir(early, 0700), 0);
  snprintf(parts, sizeof parts, "%s/early/parts", folder);
  CHECK_EQUAL(mkdir(parts, 0700), 0);
  write_header("early/parts/a.h", KERNEL("three"));
  CHECK_TEXT(first_name(text, &options), "three");
}

TEST(real, sees_a_header_that_has_include_asked_for) {
  set_up();
  const char *const paths[] = {folder};
  const mtl_compile_options options = {.include_paths = paths,
                                       .include_path_count = 1};
  const char *text = "#if __has_include(\"a.h\")\n" KERNEL(
      "with") "#else\n" KERNEL("without") "#endif\n";
  CHECK_TEXT(first_name(text, &options), "without");
  CHECK_TEXT(first_name(text, &options), "without");
  write_header("a.h", "");
  CHECK_TEXT(first_name(text, &options), "with");
}

typedef struct headers {
  const char *text;
  int calls;
} headers;

static bool give_header(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  headers *self = context;
  self->calls += strcmp(name, "a.h") == 0;
  *out_text = self->text;
  *out_length = strlen(self->text);
  return strcmp(name, "a.h") == 0;
}

TEST(real, asks_the_header_callback_once_and_sees_its_changes) {
  set_up();
  headers given = {KERNEL("one"), 0};
  const mtl_compile_options options = {.header_callback = give_header,
                                       .header_context = &given};
  const char *text = "#include \"a.h\"\n";
  CHECK_TEXT(first_name(text, &options), "one");
  CHECK_EQUAL(given.calls, 1);
  CHECK_TEXT(first_name(text, &options), "one");
  CHECK_EQUAL(given.calls, 2);
  given.text = KERNEL("two");
  CHECK_TEXT(first_name(text, &options), "two");
}

TEST(real, gives_warnings_from_the_cache_too) {
  set_up();
  const char *text =
      "kernel void k(device int *x [[buffer(0)]]) { int unused = 1; }\n"
      "#warning take care\n";
  for (int i = 0; i < 2; ++i) {
    mtl_library *library;
    CHECK_OK(mtl_library_create_from_source(device, text, strlen(text), NULL,
                                            &library));
    CHECK_CONTAINS(mtl_library_warnings(library), "take care");
    mtl_library_release(library);
  }
}

// Repeats part count times between head and tail.
static char *repeat(const char *head, const char *part, size_t count,
                    const char *tail, size_t *out_length) {
  const size_t size = strlen(part);
  char *text = malloc(strlen(head) + count * size + strlen(tail) + 1);
  char *end = stpcpy(text, head);
  for (size_t i = 0; i < count; ++i, end += size) {
    memcpy(end, part, size);
  }
  strcpy(end, tail);
  *out_length = (size_t)(end - text) + strlen(tail);
  return text;
}

static void check_next_works(void) {
  CHECK_TEXT(first_name(KERNEL("next"), NULL), "next");
}

TEST(real, survives_expressions_that_nest_without_end) {
  set_up();
  size_t length;
  char *text =
      repeat("kernel void k(device int *x [[buffer(0)]]) { x[0] = ", "-~",
             300000, "1; }\n", &length);
  CHECK_ERROR(compile(text, length, NULL), MTL_COMPILER_LOST,
              "ran out of stack");
  free(text);
  check_next_works();
}

TEST(real, ends_a_compilation_at_the_memory_limit) {
#ifdef __SANITIZE_ADDRESS__
  test_skip("AddressSanitizer's allocator answers for the compiler's");
#endif
  set_up();
  setenv("METTLE_COMPILER_MEMORY_MB", "200", 1);
  size_t length;
  char *text = repeat("", "int f(int);\n", 4 << 20, "", &length);
  CHECK_ERROR(compile(text, length, NULL), MTL_COMPILER_LOST,
              "memory limit of 200 MB");
  free(text);
  check_next_works();
}

// 2 to the 60 different instantiations: no machine is fast enough to finish.
#define EXPONENTIAL                                                            \
  "template <int depth, long path> struct tree {\n"                            \
  "  static constexpr int value = tree<depth - 1, 2 * path>::value +\n"        \
  "                               tree<depth - 1, 2 * path + 1>::value;\n"     \
  "};\n"                                                                       \
  "template <long path> struct tree<0, path> {\n"                              \
  "  static constexpr int value = 1;\n"                                        \
  "};\n"                                                                       \
  "kernel void k(device int *x [[buffer(0)]]) {\n"                             \
  "  x[0] = tree<60, 1>::value;\n"                                             \
  "}\n"

TEST(real, ends_a_compilation_at_the_time_limit) {
  set_up();
  setenv("METTLE_COMPILER_SECONDS", "1", 1);
  CHECK_ERROR(compile(EXPONENTIAL, strlen(EXPONENTIAL), NULL),
              MTL_COMPILER_LOST, "time limit of 1 s");
  setenv("METTLE_COMPILER_SECONDS", "60", 1);
  check_next_works();
}

TEST(real, takes_50_megabytes_of_source) {
  set_up();
  size_t length;
  char *text = repeat("// ", "0123456789", 5 << 20, "\n" KERNEL("k"), &length);
  CHECK(length > 50 << 20);
  CHECK_OK(compile(text, length, NULL));
  free(text);
}

// --- what a source may read

static mtl_status include(const char *line, const mtl_compile_options *options) {
  char text[512];
  snprintf(text, sizeof text,
           "%s\nkernel void k(device int *x [[buffer(0)]]) { x[0] = 1; }\n",
           line);
  return compile(text, strlen(text), options);
}

TEST(real, without_paths_and_name_nothing_is_read) {
  set_up();
  CHECK_ERROR(include("#include \"/etc/passwd\"", NULL), MTL_COMPILE_FAILED,
              "program_source:1:10: fatal error: '/etc/passwd' cannot be "
              "included: a source without a file name and include paths reads "
              "no files");
  CHECK_ERROR(include("#include \"../../../../../etc/passwd\"", NULL),
              MTL_COMPILE_FAILED, "program_source:1:10: fatal error:");
  CHECK(strstr(mtl_last_error(), "root") == NULL);
  CHECK_OK(include("#if __has_include(\"/etc/passwd\")\n#error\n#endif", NULL));
}

TEST(real, with_paths_what_lies_under_them) {
  set_up();
  char inside[64], path[96];
  snprintf(inside, sizeof inside, "%s/inside", folder);
  CHECK(mkdir(inside, 0700) == 0);
  write_header("inside/near.h", "#include \"../far.h\"\n");
  write_header("inside/plain.h", "#define PLAIN 1\n");
  write_header("far.h", "#define FAR 1\n");
  snprintf(path, sizeof path, "%s/link.h", inside);
  CHECK(symlink("../far.h", path) == 0);
  const char *paths[] = {inside, folder};
  const mtl_compile_options one = {.include_paths = paths,
                                   .include_path_count = 1};
  const mtl_compile_options both = {.include_paths = paths,
                                    .include_path_count = 2};
  CHECK_OK(include("#include <plain.h>", &one));
  CHECK_ERROR(include("#include <link.h>", &one), MTL_COMPILE_FAILED,
              "'link.h' cannot be included: it lies outside the include paths (-I)");
  CHECK_ERROR(include("#include <near.h>", &one), MTL_COMPILE_FAILED,
              "near.h:1:10: fatal error: '../far.h' cannot be included");
  CHECK_OK(include("#include <link.h>", &both));
  CHECK_OK(include("#include <near.h>", &both));
}

TEST(real, with_a_file_name_its_own_folder) {
  set_up();
  char name[96];
  write_header("near.h", "#define NEAR 1\n");
  snprintf(name, sizeof name, "%s/x.metal", folder);
  const mtl_compile_options named = {.file_name = name};
  CHECK_OK(include("#include \"near.h\"", &named));
  CHECK_ERROR(include("#include \"/etc/passwd\"", &named), MTL_COMPILE_FAILED,
              "'/etc/passwd' cannot be included: it lies outside");
}

TEST(real, the_compiler_is_confined_or_says_what_is_not) {
  set_up();
  uint32_t fences = 0;
  CHECK_OK(mtl_compiler_confinement(&fences));
  // Landlock's version, asked of the kernel: the one fence that may be missing
  // where the other is there.
  const bool has_landlock = syscall(444, NULL, 0, 1) >= 1;
  CHECK_EQUAL((fences & MTL_CONFINED_FILES) != 0, has_landlock);
}
