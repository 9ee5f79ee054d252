// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// process.c: helpers of the tests of the compiler process.
#include "process.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"

void use_stand_in(void) {
  setenv("METTLE_COMPILER", STAND_IN_PATH, 1);
  setenv("METTLE_CACHE", "0", 1);
  unsetenv("METTLE_COMPILER_SECONDS");
  unsetenv("METTLE_COMPILER_MEMORY_MB");
}

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *where) {
  (void)status, (void)kind, (void)where;
  return remove(path);
}

static void remove_folder(void *path) {
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *use_cache_folder(void) {
  static char path[] = "/tmp/mettle-cache-XXXXXX";
  strcpy(path, "/tmp/mettle-cache-XXXXXX");
  CHECK(mkdtemp(path) != NULL);
  use_stand_in();
  setenv("METTLE_CACHE", "1", 1);
  setenv("METTLE_CACHE_DIR", path, 1);
  unsetenv("METTLE_CACHE_MB");
  test_defer(remove_folder, path);
  return path;
}

mtl_status compile_text(const char *text, const mtl_compile_options *options,
                        mtli_compiled *out_compiled) {
  return mtli_compile_library(text, strlen(text), options, out_compiled);
}

const char *compile_name(const char *text, const mtl_compile_options *options) {
  static char name[4096];
  mtli_compiled compiled;
  CHECK_OK(compile_text(text, options, &compiled));
  CHECK(compiled.code->kernel_count > 0);
  snprintf(name, sizeof name, "%s", compiled.code->kernels[0].name);
  mtli_compiled_clear(&compiled);
  return name;
}

void compile_ok(const char *text) {
  mtli_compiled compiled;
  CHECK_OK(compile_text(text, NULL, &compiled));
  mtli_compiled_clear(&compiled);
}

pid_t server_pid(void) {
  return atoi(compile_name("server", NULL));
}

void wait_for_end_of(pid_t pid) {
  const int process = pidfd_open(pid, 0);
  if (process < 0) {
    CHECK_EQUAL(errno, ESRCH);  // ended already
    return;
  }
  struct pollfd file = {.fd = process, .events = POLLIN};
  while (poll(&file, 1, -1) < 0 && errno == EINTR) {
  }
  close(process);
}

void run_in_child(void (*function)(void)) {
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    function();
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
}

void write_file(const char *folder, const char *name, const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  CHECK_EQUAL(fwrite(text, 1, strlen(text), file), strlen(text));
  CHECK_EQUAL(fclose(file), 0);
}
