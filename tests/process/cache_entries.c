// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_entries.c: the disk cache gives back what belongs to a request and
// nothing else, whatever happened to its files.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/client/cache.h"
#include "compiler/client/cache_folder.h"
#include "compiler/client/connection.h"
#include "harness/test.h"
#include "process.h"

// Compiles a text and tells whether the result came from the cache.
static bool is_hit_with(const char *text, const mtl_compile_options *options) {
  mtli_compiled compiled;
  CHECK_OK(compile_text(text, options, &compiled));
  const bool result = compiled.from_cache;
  mtli_compiled_clear(&compiled);
  return result;
}

static bool is_hit(const char *text) {
  return is_hit_with(text, NULL);
}

// Finds the only entry of code in a folder.
static void find_entry(const char *folder, char out_path[4096]) {
  DIR *directory = opendir(folder);
  int found = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (strstr(entry->d_name, ".code")) {
      snprintf(out_path, 4096, "%s/%s", folder, entry->d_name);
      ++found;
    }
  }
  closedir(directory);
  CHECK_EQUAL(found, 1);
}

static int count_files(const char *folder, const char *part) {
  DIR *directory = opendir(folder);
  int found = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    found += entry->d_name[0] != '.' || strncmp(entry->d_name, ".new", 4) == 0
                 ? strstr(entry->d_name, part) != NULL
                 : 0;
  }
  closedir(directory);
  return found;
}

// --- hits

TEST(cache, gives_the_second_request_the_first_ones_result) {
  use_cache_folder();
  mtli_compiled first, second;
  CHECK_OK(compile_text("kernel a\nwarn careful", NULL, &first));
  CHECK_OK(compile_text("kernel a\nwarn careful", NULL, &second));
  CHECK(!first.from_cache);
  CHECK(second.from_cache);
  CHECK_EQUAL(second.size_bytes, first.size_bytes);
  CHECK(memcmp(second.bytes, first.bytes, first.size_bytes) == 0);
  CHECK_TEXT(second.code->kernels[0].name, "a");
  CHECK_TEXT(second.code->warnings, "careful");
  mtli_compiled_clear(&first);
  mtli_compiled_clear(&second);
}

static void hit_without_compiler(void) {
  mtli_bytes identity = {0};
  CHECK(is_hit("kernel a"));
  CHECK(!mtlc_connection_identity(&identity));
}

static void compile_a(void) {
  CHECK(!is_hit("kernel a"));
}

TEST(cache, serves_another_process_without_starting_a_compiler) {
  use_cache_folder();
  run_in_child(compile_a);
  run_in_child(hit_without_compiler);
}

TEST(cache, is_off_with_METTLE_CACHE_0) {
  use_cache_folder();
  CHECK(!is_hit("kernel a"));
  setenv("METTLE_CACHE", "0", 1);
  CHECK(!is_hit("kernel a"));
}

TEST(cache, makes_its_folder_private) {
  char path[4096];
  struct stat status;
  snprintf(path, sizeof path, "%s/deep/er", use_cache_folder());
  setenv("METTLE_CACHE_DIR", path, 1);
  CHECK(!is_hit("kernel a"));
  CHECK(is_hit("kernel a"));
  CHECK_EQUAL(stat(path, &status), 0);
  CHECK_EQUAL(status.st_mode & 0777, 0700);
}

TEST(cache, is_in_XDG_CACHE_HOME_else_in_home) {
  const char *folder = use_cache_folder();
  char path[4096];
  unsetenv("METTLE_CACHE_DIR");
  setenv("XDG_CACHE_HOME", folder, 1);
  CHECK(!is_hit("kernel a"));
  snprintf(path, sizeof path, "%s/mettle", folder);
  CHECK_EQUAL(count_files(path, ".code"), 1);
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  setenv("HOME", folder, 1);
  CHECK(!is_hit("kernel a"));
  snprintf(path, sizeof path, "%s/.cache/mettle", folder);
  CHECK_EQUAL(count_files(path, ".code"), 1);
}

TEST(cache, does_not_keep_failures) {
  use_cache_folder();
  mtli_compiled compiled;
  CHECK_ERROR(compile_text("error e", NULL, &compiled), MTL_COMPILE_FAILED,
              "e");
  CHECK_ERROR(compile_text("error e", NULL, &compiled), MTL_COMPILE_FAILED,
              "e");
}

// --- what a key is made of

TEST(cache, tells_options_apart) {
  use_cache_folder();
  const mtl_macro macro = {"A", "1"}, other_macro = {"A", "2"};
  const char *const path = "/usr/include";
  const mtl_compile_options variants[] = {
      {0},
      {.language_version = MTL_LANGUAGE_3_0},
      {.math_mode = MTL_MATH_SAFE},
      {.debug = true},
      {.file_name = "/a.metal"},
      {.file_name = "a.metal"},
      {.macros = &macro, .macro_count = 1},
      {.macros = &other_macro, .macro_count = 1},
      {.include_paths = &path, .include_path_count = 1},
  };
  for (size_t i = 0; i < sizeof variants / sizeof *variants; ++i) {
    CHECK(!is_hit_with("kernel a", &variants[i]));
  }
  for (size_t i = 0; i < sizeof variants / sizeof *variants; ++i) {
    CHECK(is_hit_with("kernel a", &variants[i]));
  }
  CHECK(!is_hit("kernel b"));
  CHECK(!is_hit("kernel a\n"));
}

TEST(cache, minds_the_folder_only_for_relative_paths) {
  const char *folder = use_cache_folder();
  const mtl_compile_options relative = {.file_name = "a.metal"};
  CHECK_EQUAL(chdir("/"), 0);
  CHECK(!is_hit("kernel a"));
  CHECK(!is_hit_with("kernel a", &relative));
  CHECK_EQUAL(chdir(folder), 0);
  CHECK(is_hit("kernel a"));
  CHECK(!is_hit_with("kernel a", &relative));
}

static bool is_pipeline_hit(const mtli_pipeline_request *request) {
  mtli_compiled compiled;
  CHECK_OK(mtli_compile_pipeline(request, &compiled));
  const bool result = compiled.from_cache;
  mtli_compiled_clear(&compiled);
  return result;
}

TEST(cache, tells_pipelines_apart) {
  use_cache_folder();
  mtli_compiled library, other;
  CHECK_OK(compile_text("kernel a", NULL, &library));
  CHECK_OK(compile_text("kernel b", NULL, &other));
  const mtli_constant_value value = {.is_set = true, .bytes = {1}};
  const mtli_constant_value other_value = {.is_set = true, .bytes = {2}};
  mtli_pipeline_request requests[8];
  for (int i = 0; i < 8; ++i) {
    requests[i] = (mtli_pipeline_request){
        .library_bytes = library.bytes,
        .library_size_bytes = library.size_bytes,
        .kernel_name = "kernel a",
    };
  }
  requests[1].kernel_name = "kernel b";
  requests[2].tier = MTLI_TIER_1;
  requests[3].target = "x86_64 x86-64-v3";
  requests[4].group_class.row = 32;
  requests[5].constant_values = &value;
  requests[5].constant_count = 1;
  requests[6].constant_values = &other_value;
  requests[6].constant_count = 1;
  requests[7].library_bytes = other.bytes;
  requests[7].library_size_bytes = other.size_bytes;
  for (int i = 0; i < 8; ++i) {
    CHECK(!is_pipeline_hit(&requests[i]));
  }
  for (int i = 0; i < 8; ++i) {
    CHECK(is_pipeline_hit(&requests[i]));
  }
  requests[0].dump_after = "frontend";
  CHECK(!is_pipeline_hit(&requests[0]));
  mtli_compiled_clear(&library);
  mtli_compiled_clear(&other);
}

// --- headers

TEST(cache, sees_a_header_that_changed) {
  const char *folder = use_cache_folder();
  const char *const paths[] = {folder};
  const mtl_compile_options options = {.include_paths = paths,
                                       .include_path_count = 1};
  char path[4096];
  write_file(folder, "a.h", "kernel old");
  CHECK(!is_hit_with("include a.h", &options));
  CHECK(is_hit_with("include a.h", &options));
  write_file(folder, "a.h", "kernel new");
  CHECK_TEXT(compile_name("include a.h", &options), "new");
  CHECK(is_hit_with("include a.h", &options));
  snprintf(path, sizeof path, "%s/a.h", folder);
  CHECK_EQUAL(unlink(path), 0);
  mtli_compiled compiled;
  CHECK_ERROR(compile_text("include a.h", &options, &compiled),
              MTL_COMPILE_FAILED, "no such header");
}

TEST(cache, sees_a_header_that_appears_on_an_earlier_path) {
  const char *folder = use_cache_folder();
  char first[4096];
  snprintf(first, sizeof first, "%s/first", folder);
  CHECK_EQUAL(mkdir(first, 0700), 0);
  const char *const paths[] = {first, folder};
  const mtl_compile_options options = {.include_paths = paths,
                                       .include_path_count = 2};
  write_file(folder, "a.h", "kernel second");
  CHECK_TEXT(compile_name("include a.h", &options), "second");
  CHECK(is_hit_with("include a.h", &options));
  write_file(first, "a.h", "kernel first");
  CHECK_TEXT(compile_name("include a.h", &options), "first");
}

static int callback_calls;
static bool give_header(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  (void)name;
  ++callback_calls;
  *out_text = context;
  *out_length = context ? strlen(context) : 0;
  return context != NULL;
}

TEST(cache, asks_the_header_callback_again) {
  use_cache_folder();
  mtl_compile_options options = {.header_callback = give_header,
                                 .header_context = "kernel old"};
  CHECK(!is_hit_with("include a.h", &options));
  callback_calls = 0;
  CHECK(is_hit_with("include a.h", &options));
  CHECK_EQUAL(callback_calls, 1);
  options.header_context = "kernel new";
  CHECK_TEXT(compile_name("include a.h", &options), "new");
  mtli_compiled compiled;
  options.header_context = NULL;
  CHECK_ERROR(compile_text("include a.h", &options, &compiled),
              MTL_COMPILE_FAILED, "no such header");
}

// --- damage

// Reads and rewrites the entry through the cache's own calls, which is quicker
// than a compilation for each of some thousand kinds of damage.
static void make_entry(mtli_bytes *key) {
  *key = (mtli_bytes){0};
  mtli_bytes_append_text(key, "a key of some length");
  mtlc_cache_store(
      key, &(mtlc_reply){.container = "the contents", .container_bytes = 12});
}

static bool entry_loads(const mtli_bytes *key) {
  mtli_bytes contents;
  const bool is_loaded = mtlc_cache_load(key, NULL, NULL, &contents);
  mtli_bytes_clear(&contents);
  return is_loaded;
}

static size_t read_file(const char *path, unsigned char *out, size_t capacity) {
  const int file = open(path, O_RDONLY);
  const ssize_t size = read(file, out, capacity);
  close(file);
  CHECK(size > 0);
  return (size_t)size;
}

static void write_bytes(const char *path, const void *bytes, size_t size) {
  const int file = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
  CHECK_EQUAL(write(file, bytes, size), size);
  close(file);
}

TEST(cache, never_trusts_a_damaged_or_half_written_entry) {
  const char *folder = use_cache_folder();
  mtli_bytes key;
  char path[4096];
  unsigned char bytes[1024];
  make_entry(&key);
  CHECK(entry_loads(&key));
  find_entry(folder, path);
  const size_t size = read_file(path, bytes, sizeof bytes);
  for (size_t bit = 0; bit < size * 8; ++bit) {
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    write_bytes(path, bytes, size);
    CHECK(!entry_loads(&key));
    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  for (size_t length = 0; length < size; ++length) {
    write_bytes(path, bytes, length);
    CHECK(!entry_loads(&key));
  }
  write_bytes(path, bytes, size);
  CHECK(entry_loads(&key));
  mtli_bytes_clear(&key);
}

TEST(cache, recompiles_and_replaces_a_damaged_entry) {
  const char *folder = use_cache_folder();
  char path[4096];
  CHECK(!is_hit("kernel a"));
  find_entry(folder, path);
  write_bytes(path, "rubbish", 7);
  CHECK(!is_hit("kernel a"));
  CHECK(is_hit("kernel a"));
  CHECK_EQUAL(truncate(path, 100), 0);
  CHECK_TEXT(compile_name("kernel a", NULL), "a");
  CHECK(is_hit("kernel a"));
}

TEST(cache, does_not_take_another_requests_entry_for_its_own) {
  const char *folder = use_cache_folder();
  char path[4096], kept[4096];
  CHECK(!is_hit("kernel a"));
  find_entry(folder, path);
  snprintf(kept, sizeof kept, "%s/kept", folder);
  CHECK_EQUAL(rename(path, kept), 0);
  CHECK(!is_hit("kernel b"));
  find_entry(folder, path);
  CHECK_EQUAL(rename(kept, path), 0);  // b's name, a's whole entry
  CHECK_TEXT(compile_name("kernel b", NULL), "b");
  CHECK(is_hit("kernel b"));
}

TEST(cache, does_not_follow_links_or_wait_on_pipes) {
  const char *folder = use_cache_folder();
  char path[4096], kept[4096];
  CHECK(!is_hit("kernel a"));
  find_entry(folder, path);
  snprintf(kept, sizeof kept, "%s/kept", folder);
  CHECK_EQUAL(rename(path, kept), 0);
  CHECK_EQUAL(symlink(kept, path), 0);
  CHECK(!is_hit("kernel a"));
  CHECK(is_hit("kernel a"));
  CHECK_EQUAL(unlink(path), 0);
  CHECK_EQUAL(mkfifo(path, 0600), 0);
  CHECK(!is_hit("kernel a"));
  CHECK(is_hit("kernel a"));
  CHECK_EQUAL(unlink(path), 0);
  CHECK_EQUAL(mkdir(path, 0700), 0);
  CHECK(!is_hit("kernel a"));  // cannot be replaced, and need not be
  CHECK(!is_hit("kernel a"));
}

TEST(cache, does_not_trust_files_that_others_may_write) {
  const char *folder = use_cache_folder();
  char path[4096];
  CHECK(!is_hit("kernel a"));
  find_entry(folder, path);
  CHECK_EQUAL(chmod(path, 0666), 0);
  CHECK(!is_hit("kernel a"));
  if (geteuid() == 0) {
    CHECK_EQUAL(chown(path, 65534, 65534), 0);
    CHECK(!is_hit("kernel a"));
  }
}

TEST(cache, does_not_use_a_folder_that_others_may_write) {
  const char *folder = use_cache_folder();
  CHECK_EQUAL(chmod(folder, 0777), 0);
  CHECK(!is_hit("kernel a"));
  CHECK(!is_hit("kernel a"));
  CHECK_EQUAL(count_files(folder, ""), 0);
}

TEST(cache, does_not_use_a_folder_of_someone_else) {
  const char *folder = use_cache_folder();
  if (geteuid() != 0) {
    test_skip("only root can give a folder away");
  }
  CHECK_EQUAL(chown(folder, 65534, 65534), 0);
  CHECK(!is_hit("kernel a"));
  CHECK(!is_hit("kernel a"));
  CHECK_EQUAL(count_files(folder, ""), 0);
}

static const char *read_only_folder;
static void use_read_only_folder(void) {
  // Root may write everywhere: be somebody else.
  if (geteuid() == 0) {
    CHECK_EQUAL(chown(read_only_folder, 65534, 65534), 0);
    CHECK_EQUAL(setuid(65534), 0);
  }
  CHECK(!is_hit("kernel a"));
  CHECK_EQUAL(chmod(read_only_folder, 0500), 0);
  CHECK(is_hit("kernel a"));
  CHECK(!is_hit("kernel b"));
  CHECK(!is_hit("kernel b"));
  CHECK_EQUAL(chmod(read_only_folder, 0700), 0);
}

// Whether root, as somebody else, could still run the stand-in: its folder may
// be root's alone.
static bool nobody_can_run_stand_in(void) {
  CHECK_EQUAL(seteuid(65534), 0);
  const bool result = faccessat(AT_FDCWD, STAND_IN_PATH, X_OK, AT_EACCESS) == 0;
  CHECK_EQUAL(seteuid(0), 0);
  return result;
}

TEST(cache, reads_from_a_read_only_folder) {
  read_only_folder = use_cache_folder();
  if (geteuid() == 0 && !nobody_can_run_stand_in()) {
    test_skip("nobody cannot run %s", STAND_IN_PATH);
  }
  run_in_child(use_read_only_folder);
}

TEST(cache, goes_without_when_a_file_cannot_be_written) {
  const char *folder = use_cache_folder();
  const struct rlimit none = {16, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);  // behaves like a full disk, and raises a
                                   // signal too
  CHECK(!is_hit("kernel a"));
  CHECK(!is_hit("kernel a"));
  CHECK_EQUAL(count_files(folder, ""), 0);
}

TEST(cache, goes_without_a_folder_that_cannot_be_made) {
  use_cache_folder();
  setenv("METTLE_CACHE_DIR", "/proc/mettle", 1);
  CHECK(!is_hit("kernel a"));
  CHECK(!is_hit("kernel a"));
}

TEST(cache, folder_below_a_file_is_an_error) {
  use_cache_folder();
  mtli_compiled compiled;
  setenv("METTLE_CACHE_DIR", "/dev/null/mettle", 1);
  CHECK_ERROR(compile_text("kernel a", NULL, &compiled), MTL_INVALID_ARGUMENT,
              "METTLE_CACHE_DIR is \"/dev/null/mettle\", which is no folder");
}

// --- size

static uint64_t folder_bytes(const char *folder) {
  DIR *directory = opendir(folder);
  uint64_t total = 0;
  struct stat status;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
        S_ISREG(status.st_mode)) {
      total += (uint64_t)status.st_size;
    }
  }
  closedir(directory);
  return total;
}

static void blob_text(char out_text[64], int number) {
  snprintf(out_text, 64, "blob 100000\nkernel k%d", number);
}

TEST(cache, stays_within_its_size_and_drops_what_is_unused) {
  const char *folder = use_cache_folder();
  setenv("METTLE_CACHE_MB", "1", 1);
  char text[64], path[4096];
  CHECK(!is_hit("kernel used"));
  find_entry(folder, path);
  for (int i = 0; i < 40; ++i) {
    // Each hit on an entry that was long unused counts as a use.
    const struct timespec long_ago[] = {{1000000, 0}, {1000000, 0}};
    CHECK_EQUAL(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    CHECK(is_hit("kernel used"));
    blob_text(text, i);
    CHECK(!is_hit(text));
    CHECK(folder_bytes(folder) <= 1 << 20);
  }
  blob_text(text, 39);
  CHECK(is_hit(text));
  blob_text(text, 0);
  CHECK(!is_hit(text));
}

TEST(cache, survives_damage_to_its_bookkeeping) {
  const char *folder = use_cache_folder();
  setenv("METTLE_CACHE_MB", "1", 1);
  char text[64];
  for (int i = 0; i < 40; ++i) {
    if (i % 4 == 0) {
      write_file(folder, "usage", i % 8 ? "" : "seventeen bytes..");
    }
    blob_text(text, i);
    CHECK(!is_hit(text));
    CHECK(folder_bytes(folder) <= 1 << 20);
  }
}

TEST(cache, does_not_keep_what_would_fill_a_quarter_of_it) {
  const char *folder = use_cache_folder();
  setenv("METTLE_CACHE_MB", "1", 1);
  CHECK(!is_hit("blob 300000"));
  CHECK(!is_hit("blob 300000"));
  CHECK_EQUAL(count_files(folder, ".code"), 0);
}

TEST(cache, leaves_other_files_alone_and_removes_abandoned_ones) {
  const char *folder = use_cache_folder();
  setenv("METTLE_CACHE_MB", "1", 1);
  char text[64], path[4096];
  write_file(folder, "letter.txt", "dear diary");
  write_file(folder, ".new-1-0-abandoned", "half");
  snprintf(path, sizeof path, "%s/.new-1-0-abandoned", folder);
  const struct timespec long_ago[] = {{1000000, 0}, {1000000, 0}};
  CHECK_EQUAL(utimensat(AT_FDCWD, path, long_ago, 0), 0);
  for (int i = 0; i < 20; ++i) {
    blob_text(text, i);
    CHECK(!is_hit(text));
  }
  CHECK_EQUAL(count_files(folder, "letter.txt"), 1);
  CHECK_EQUAL(count_files(folder, ".new"), 0);
}

// --- several processes

static void write_and_read_one_entry(void) {
  mtli_bytes key = {0}, contents;
  mtli_bytes_append_text(&key, "everybody's");
  static char text[65536];
  memset(text, 'x', sizeof text);
  for (int i = 0; i < 200; ++i) {
    mtlc_cache_store(
        &key, &(mtlc_reply){.container = text, .container_bytes = sizeof text});
    CHECK(mtlc_cache_load(&key, NULL, NULL, &contents));
    CHECK_EQUAL(contents.size, sizeof text);
    CHECK(memcmp(contents.data, text, sizeof text) == 0);
    mtli_bytes_clear(&contents);
  }
  mtli_bytes_clear(&key);
}

TEST(cache, lets_processes_race_for_one_entry) {
  const char *folder = use_cache_folder();
  pid_t racers[4];
  for (int i = 0; i < 4; ++i) {
    racers[i] = fork();
    if (racers[i] == 0) {
      write_and_read_one_entry();
      _exit(0);
    }
  }
  for (int i = 0; i < 4; ++i) {
    int status;
    CHECK_EQUAL(waitpid(racers[i], &status, 0), racers[i]);
    CHECK_EQUAL(status, 0);
  }
  CHECK_EQUAL(count_files(folder, ".code"), 1);
  CHECK_EQUAL(count_files(folder, ".new"), 0);
}

// --- the compiler's identity

static char copied_compiler[1024];
static void copy_stand_in(void) {
  char command[8192];
  snprintf(command, sizeof command, "cp %s %s.new && mv %s.new %s",
           STAND_IN_PATH, copied_compiler, copied_compiler, copied_compiler);
  CHECK_EQUAL(system(command), 0);
}

static void miss_a(void) {
  CHECK(!is_hit("kernel a"));
}
static void hit_a(void) {
  CHECK(is_hit("kernel a"));
}

TEST(cache, forgets_results_of_another_compiler) {
  const char *folder = use_cache_folder();
  snprintf(copied_compiler, sizeof copied_compiler, "%s/mettlec", folder);
  copy_stand_in();
  setenv("METTLE_COMPILER", copied_compiler, 1);
  run_in_child(miss_a);
  run_in_child(hit_a);
  copy_stand_in();  // a new build of it, to all appearances
  run_in_child(miss_a);
  run_in_child(hit_a);
}

// A library that the stand-in does not load of itself.
static void preload_another_library(void) {
  setenv("LD_PRELOAD", "libresolv.so.2", 1);
}

static void miss_a_with_another_library(void) {
  preload_another_library();
  CHECK(!is_hit("kernel a"));
}

static void hit_a_with_another_library(void) {
  preload_another_library();
  hit_without_compiler();
}

TEST(cache, tells_what_the_linker_loads_for_the_compiler_apart) {
  use_cache_folder();
  run_in_child(miss_a);
  run_in_child(miss_a_with_another_library);
  run_in_child(hit_without_compiler);
  run_in_child(hit_a_with_another_library);
}

// Stores under the compiler's name an identity that is current and not its
// own: that of another set of files.
static void mistake_compiler(void) {
  mtli_bytes identity = {0};
  CHECK(mtlc_stamp_append(&identity, STAND_IN_PATH));
  CHECK(mtlc_stamp_append(&identity, "/proc/self/exe"));
  mtlc_cache_store_identity(STAND_IN_PATH, identity.data, identity.size);
  mtli_bytes_clear(&identity);
}

static void *compile_one(void *text) {
  mtli_compiled compiled;
  const mtl_status status = compile_text(text, NULL, &compiled);
  const bool is_cached = status == MTL_OK && compiled.from_cache;
  mtli_compiled_clear(&compiled);
  return status == MTL_OK ? is_cached ? "hit" : "miss" : "error";
}

// Compiles several libraries at once, before any tells who the compiler is.
static void compile_at_once(const char *expected) {
  static char texts[8][16];
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) {
    snprintf(texts[i], sizeof texts[i], "kernel k%d", i);
    CHECK_EQUAL(pthread_create(&threads[i], NULL, compile_one, texts[i]), 0);
  }
  for (int i = 0; i < 8; ++i) {
    void *result;
    CHECK_EQUAL(pthread_join(threads[i], &result), 0);
    CHECK_TEXT(result, expected);
  }
}

static void miss_all_with_mistaken_compiler(void) {
  mistake_compiler();
  compile_at_once("miss");
}
static void hit_all(void) {
  compile_at_once("hit");
}
static void hit_all_with_mistaken_compiler(void) {
  mistake_compiler();
  compile_at_once("hit");
}

TEST(cache, keeps_what_a_compiler_gives_that_is_not_the_one_looked_up) {
  use_cache_folder();
  run_in_child(miss_all_with_mistaken_compiler);
  run_in_child(hit_all);
  run_in_child(hit_all_with_mistaken_compiler);
}
