// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compiler_process.c: the compiler's process is killed, or its cache spoiled.
#include "conformance.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// A source that no cache knows.
static mtl_status compile_number(int number, mtl_library **out_library) {
  char source[256];
  snprintf(source, sizeof source,
           "kernel void store(device uint *out [[buffer(0)]]) {\n"
           "  out[0] = %d;\n"
           "}\n",
           number);
  return mtl_library_create_from_source(the_device(), source, strlen(source),
                                        NULL, out_library);
}

static void check_compiles(int number) {
  mtl_library *library = NULL;
  CHECK_OK(compile_number(number, &library));
  release_library_later(library);
  mtl_buffer *out = new_buffer(4);
  RUN(new_pipeline_from(library, "store"), size_of(1, 1, 1), size_of(1, 1, 1),
      out);
  CHECK_EQUAL(words(out)[0], number);
}

// Makes processes that leave their parents children of this one: the compiler
// is no child of the program that it serves, lest that should wait for it.
static void adopt_orphans(void) {
  CHECK_EQUAL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

static pid_t parent_of(pid_t process) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    return 0;  // ended meanwhile
  }
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  // proc(5): the name in parentheses may hold anything.
  const char *name_end = strrchr(text, ')');
  int parent = 0;
  CHECK(name_end != NULL && sscanf(name_end, ") %*c %d", &parent) == 1);
  return parent;
}

// Kills the children of this process, the compiler's server and its workers,
// and waits for their ends. Returns their number.
static int kill_children(void) {
  DIR *folder = opendir("/proc");
  CHECK(folder != NULL);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    const pid_t process = (pid_t)atoi(entry->d_name);
    if (process <= 0 || parent_of(process) != getpid()) {
      continue;
    }
    CHECK_EQUAL(kill(process, SIGKILL), 0);
    CHECK_EQUAL(waitpid(process, NULL, 0), process);
    count++;
  }
  closedir(folder);
  return count;
}

TEST(compiler_process, next_request_works_after_it_was_killed) {
  setenv("METTLE_CACHE", "0", 1);  // or nothing starts a compiler
  adopt_orphans();
  check_compiles(1);
  CHECK(kill_children() >= 1);
  check_compiles(2);
}

static bool kill_instead(void *context, const char *name, const char **out_text,
                         size_t *out_length) {
  (void)name;
  *(int *)context += kill_children();
  *out_text = "";
  *out_length = 0;
  return true;
}

TEST(compiler_process, next_request_works_after_it_was_killed_in_one) {
  setenv("METTLE_CACHE", "0", 1);
  adopt_orphans();
  static const char source[] =
      "#include \"asked_for_while_it_compiles.h\"\n"
      "kernel void k(device uint *out) {}\n";
  int killed = 0;
  mtl_library *library = (mtl_library *)1;
  const mtl_compile_options options = {.header_callback = kill_instead,
                                       .header_context = &killed};
  CHECK_ERROR(mtl_library_create_from_source(
                  the_device(), source, strlen(source), &options, &library),
              MTL_COMPILER_LOST, "was killed");
  CHECK(killed >= 1);
  CHECK(library == NULL);
  check_compiles(3);
}

TEST(compiler_process, missing_program_is_an_error_with_its_path) {
  setenv("METTLE_COMPILER", "/nonexistent/mettlec", 1);
  mtl_library *library = (mtl_library *)1;
  CHECK_EQUAL(compile_number(4, &library), MTL_COMPILER_LOST);
  CHECK(library == NULL);
  CHECK_CONTAINS(mtl_last_error(), "/nonexistent/mettlec");
}

TEST(compiler_process, program_that_is_no_compiler_is_an_error) {
  setenv("METTLE_COMPILER", "/bin/true", 1);
  mtl_library *library = (mtl_library *)1;
  CHECK_EQUAL(compile_number(5, &library), MTL_COMPILER_LOST);
  CHECK(library == NULL);
}

// A short source that needs very much time and memory to compile: 2^26
// instances of a template.
static const char endless_source[] =
    "template <int N, unsigned M> struct Wide {\n"
    "  static constexpr unsigned value =\n"
    "      Wide<N - 1, M * 2>::value + Wide<N - 1, M * 2 + 1>::value;\n"
    "};\n"
    "template <unsigned M> struct Wide<0, M> {\n"
    "  static constexpr unsigned value = M;\n"
    "};\n"
    "kernel void k(device unsigned *p) { p[0] = Wide<26, 1>::value; }\n";

TEST(compiler_process, time_limit_is_an_error_and_the_next_works) {
  setenv("METTLE_COMPILER_SECONDS", "2", 1);
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(
      mtl_library_create_from_source(the_device(), endless_source,
                                     strlen(endless_source), NULL, &library),
      MTL_COMPILER_LOST, "2");
  CHECK(library == NULL);
  check_compiles(6);
}

TEST(compiler_process, memory_limit_is_an_error_and_the_next_works) {
#ifdef __SANITIZE_ADDRESS__
  test_skip("AddressSanitizer's allocator answers for the compiler's");
#endif
  setenv("METTLE_COMPILER_MEMORY_MB", "150", 1);
  mtl_library *library = (mtl_library *)1;
  CHECK_ERROR(
      mtl_library_create_from_source(the_device(), endless_source,
                                     strlen(endless_source), NULL, &library),
      MTL_COMPILER_LOST, "150");
  CHECK(library == NULL);
  check_compiles(7);
}

// Calls visit on every plain file under a folder.
static int for_each_file(const char *folder_path,
                         void (*visit)(const char *path)) {
  DIR *folder = opendir(folder_path);
  if (folder == NULL) {
    return 0;
  }
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
    struct stat about;
    if (entry->d_name[0] == '.' || lstat(path, &about) != 0) {
      continue;
    }
    if (S_ISDIR(about.st_mode)) {
      count += for_each_file(path, visit);
    } else if (S_ISREG(about.st_mode)) {
      visit(path);
      count++;
    }
  }
  closedir(folder);
  return count;
}

static void cut_short(const char *path) {
  CHECK_EQUAL(truncate(path, 50), 0);
}

static void flip_bytes(const char *path) {
  size_t length = 0;
  uint8_t *bytes = read_file(path, &length);
  for (size_t i = 40; i < length; i += 100) {
    bytes[i] ^= 0xFF;
  }
  write_file(path, bytes, length);
  free(bytes);
}

static void empty(const char *path) {
  CHECK_EQUAL(truncate(path, 0), 0);
}

static void replace_by_foreign(const char *path) {
  write_file(path, "this is not for you", 19);
}

static void check_spoiled_cache(int number, void (*spoil)(const char *path)) {
  const char *folder = new_folder();
  setenv("METTLE_CACHE_DIR", folder, 1);
  check_compiles(number);
  CHECK(for_each_file(folder, spoil) >= 1);
  check_compiles(number);
}

TEST(cache, files_cut_short_are_recompiled) {
  check_spoiled_cache(10, cut_short);
}

TEST(cache, files_with_flipped_bytes_are_recompiled) {
  check_spoiled_cache(11, flip_bytes);
}

TEST(cache, empty_files_are_recompiled) {
  check_spoiled_cache(12, empty);
}

TEST(cache, foreign_files_are_recompiled) {
  check_spoiled_cache(13, replace_by_foreign);
}

TEST(cache, read_only_folder_is_no_hindrance) {
  const char *folder = new_folder();
  CHECK_EQUAL(chmod(folder, 0500), 0);
  setenv("METTLE_CACHE_DIR", folder, 1);
  check_compiles(14);
  CHECK_EQUAL(chmod(folder, 0700), 0);
}

TEST(cache, folder_that_others_may_write_is_not_used) {
  const char *folder = new_folder();
  CHECK_EQUAL(chmod(folder, 0777), 0);
  setenv("METTLE_CACHE_DIR", folder, 1);
  check_compiles(15);
  CHECK_EQUAL(for_each_file(folder, cut_short), 0);
}

TEST(cache, folder_of_someone_else_is_not_used) {
  if (geteuid() != 0) {
    test_skip("only root can give a folder away");
  }
  const char *folder = new_folder();
  CHECK_EQUAL(chown(folder, 12345, 12345), 0);
  setenv("METTLE_CACHE_DIR", folder, 1);
  check_compiles(16);
  CHECK_EQUAL(for_each_file(folder, cut_short), 0);
}

TEST(cache, path_that_is_a_file_is_an_error) {
  char path[256];
  mtl_library *library;
  mtl_device *device;
  CHECK(the_device() != NULL);  // opened in time
  snprintf(path, sizeof path, "%s/file", new_folder());
  write_file(path, "x", 1);
  setenv("METTLE_CACHE_DIR", path, 1);
  CHECK_EQUAL(compile_number(17, &library), MTL_INVALID_ARGUMENT);
  CHECK_CONTAINS(mtl_last_error(), "METTLE_CACHE_DIR");
  CHECK_ERROR(mtl_device_default(&device), MTL_INVALID_ARGUMENT,
              "which is no folder");
}

TEST(cache, folder_is_made_for_the_user_alone) {
  char path[256];
  snprintf(path, sizeof path, "%s/cache", new_folder());
  setenv("METTLE_CACHE_DIR", path, 1);
  check_compiles(19);
  struct stat about;
  CHECK_EQUAL(stat(path, &about), 0);
  CHECK_EQUAL(about.st_mode & 0777, 0700);
}

TEST(cache, can_be_turned_off) {
  const char *folder = new_folder();
  setenv("METTLE_CACHE_DIR", folder, 1);
  setenv("METTLE_CACHE", "0", 1);
  check_compiles(20);
  CHECK_EQUAL(for_each_file(folder, cut_short), 0);
}
