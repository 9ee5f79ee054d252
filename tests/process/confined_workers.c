// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// confined_workers.c: a real worker of the compiler process, and a process that
// confines itself, cannot do what is forbidden; sources read permitted files
// only.
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/process/confine.h"
#include "harness/test.h"
#include "process.h"

// The kernel that runs the tests may lack either fence; valgrind and emulators
// lack both.
static bool has_landlock(void) {
  return syscall(444, NULL, 0, 1) >= 1;  // landlock_create_ruleset's version
}

static bool has_seccomp(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    mtlc_confine_worker(NULL, 0);
    _exit(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM ? 0 : 1);
  }
  int status;
  return waitpid(pid, &status, 0) == pid && status == 0;
}

static void check_line(const char *text, const char *what, const char *why) {
  char line[64];
  snprintf(line, sizeof line, "%s: %s\n", what, why);
  if (!strstr(text, line)) {
    fprintf(stderr, "no line %s in\n%s", line, text);
  }
  CHECK(strstr(text, line) != NULL);
}

TEST(confined, a_worker_has_no_files_programs_or_network) {
  use_stand_in();
  char *text;
  CHECK_OK(mtli_probe_compiler(&text));
  check_line(text, "new privileges", "EPERM");
  if (has_landlock()) {
    check_line(text, "read", "EACCES");
    check_line(text, "list", "EACCES");
  }
  if (has_seccomp()) {
    check_line(text, "write", "EPERM");
    check_line(text, "create", "EPERM");
    check_line(text, "connect", "EPERM");
    check_line(text, "connect here", "EPERM");
    check_line(text, "exec", "EPERM");
    check_line(text, "fork", "EPERM");
    check_line(text, "signal", "EPERM");
    check_line(text, "trace", "EPERM");
    check_line(text, "new code", "EPERM");
  }
  free(text);
}

TEST(confined, the_probe_tells_of_what_is_open) {
  mtli_bytes text = {0};
  mtlc_confine_probe(&text);  // in a process that nothing confines
  mtli_bytes_append(&text, "", 1);
  check_line((const char *)text.data, "read", "done");
  check_line((const char *)text.data, "list", "done");
  check_line((const char *)text.data, "exec", "done");
  check_line((const char *)text.data, "fork", "done");
  check_line((const char *)text.data, "connect here", "done");
  mtli_bytes_clear(&text);
}

// --- folders

static char folder[] = "/tmp/mettle-confined-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *where) {
  (void)status, (void)kind, (void)where;
  return remove(path);
}

static void remove_folder(void *unused) {
  (void)unused;
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int open_below(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  return file < 0 ? errno : 0;
}

static void confine_to_inside(void) {
  char inside[64];
  snprintf(inside, sizeof inside, "%s/inside", folder);
  const char *folders[] = {"/nothing/is/here", inside};
  mtlc_confine_server();
  mtlc_confine_worker(folders, 2);
  CHECK_EQUAL(open_below("inside/header"), 0);
  if (has_landlock()) {
    CHECK_EQUAL(open_below("outside"), EACCES);
    CHECK_EQUAL(open_below("inside/link"), EACCES);
    CHECK_EQUAL(open_below("inside/../outside"), EACCES);
  }
}

TEST(confined, folders_are_readable_to_where_they_end) {
  char inside[64], link[96];
  strcpy(folder, "/tmp/mettle-confined-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  test_defer(remove_folder, NULL);
  snprintf(inside, sizeof inside, "%s/inside", folder);
  CHECK(mkdir(inside, 0700) == 0);
  write_file(inside, "header", "int inside;\n");
  write_file(folder, "outside", "int outside;\n");
  snprintf(link, sizeof link, "%s/link", inside);
  CHECK(symlink("../outside", link) == 0);
  run_in_child(confine_to_inside);
}

// --- requests go on as ever

TEST(confined, requests_of_different_folders_one_after_the_other) {
  use_stand_in();
  const char *paths[] = {"/usr"};
  mtli_compiled compiled;
  CHECK_OK(compile_text("kernel a",
                        &(mtl_compile_options){.include_paths = paths,
                                               .include_path_count = 1},
                        &compiled));
  mtli_compiled_clear(&compiled);
  CHECK_OK(compile_text(
      "kernel b", &(mtl_compile_options){.file_name = "/var/x.metal"},
      &compiled));
  mtli_compiled_clear(&compiled);
  compile_ok("kernel c");
}
