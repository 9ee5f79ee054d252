// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// server_program.c: finds the compiler's program and starts it as a process
// with signals, descriptors and an environment of its own.
#include "compiler/client/server_program.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "compiler/client/connection.h"

#ifndef METTLE_LIBEXEC
#define METTLE_LIBEXEC "/usr/local/libexec"
#endif

static bool is_program(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
         access(path, X_OK) == 0;
}

// An address in this library, for dladdr.
static const char inside_library = 0;

mtl_status mtlc_compiler_path(char out_path[PATH_MAX]) {
  static const char *const places[] = {"mettlec", "../libexec/mettle/mettlec",
                                       // from lib/<architecture>, as on Debian
                                       "../../libexec/mettle/mettlec"};
  const char *chosen = secure_getenv("METTLE_COMPILER");
  if (chosen && *chosen) {
    if (!is_program(chosen) || strlen(chosen) >= PATH_MAX) {
      return mtli_fail(MTL_COMPILER_LOST,
                       "METTLE_COMPILER is %s, which is no program", chosen);
    }
    strcpy(out_path, chosen);
    return MTL_OK;
  }
  Dl_info library;
  char library_path[PATH_MAX];
  if (!dladdr(&inside_library, &library) ||
      !realpath(library.dli_fname, library_path)) {
    return mtli_fail(MTL_COMPILER_LOST,
                     "no compiler: the library's own place is unknown; set "
                     "METTLE_COMPILER");
  }
  const char *folder = dirname(library_path);
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    const int length = snprintf(out_path, PATH_MAX, "%s/%s", folder, places[i]);
    if (length < PATH_MAX && is_program(out_path)) {
      return MTL_OK;
    }
  }
  strcpy(out_path, METTLE_LIBEXEC "/mettle/mettlec");
  if (is_program(out_path)) {
    return MTL_OK;  // of a program that has the library linked in
  }
  return mtli_fail(MTL_COMPILER_LOST,
                   "no compiler: neither %s/%s nor %s/%s is a program; set "
                   "METTLE_COMPILER",
                   folder, places[0], folder, places[1]);
}

// Keeps descriptors off 0 to 2, where a host that has closed them expects the
// next file that it opens.
int mtlc_above_standard(int fd) {
  if (fd > STDERR_FILENO || fd < 0) {
    return fd;
  }
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(fd);
  return moved;
}

// Has glibc ask for huge pages: a large library is some 400 MB of small
// objects, and takes a twelfth less time with them. A host that has tuned its
// allocator keeps that.
#define TUNABLES_NAME "GLIBC_TUNABLES="
#define HUGE_PAGES "glibc.malloc.hugetlb=1"

// Returns the environment of the compiler process: the host's, with that. The
// strings are the host's but for one, which *out_text holds; NULL without
// memory.
static char **make_environment(char **out_text) {
  const size_t name_length = strlen(TUNABLES_NAME);
  size_t count = 0;
  const char *tunables = NULL;
  while (environ && environ[count]) {
    if (strncmp(environ[count], TUNABLES_NAME, name_length) == 0) {
      tunables = environ[count] + name_length;
    }
    ++count;
  }
  char **result = calloc(count + 2, sizeof *result);
  *out_text = NULL;
  if (!result || (tunables && strstr(tunables, "glibc.malloc.")) ||
      asprintf(out_text, TUNABLES_NAME "%s%s" HUGE_PAGES,
               tunables ? tunables : "", tunables ? ":" : "") < 0) {
    *out_text = NULL;
    free(result);
    return NULL;
  }
  size_t kept = 0;
  result[kept++] = *out_text;
  for (size_t i = 0; i < count; ++i) {
    if (strncmp(environ[i], TUNABLES_NAME, name_length) != 0) {
      result[kept++] = environ[i];
    }
  }
  return result;
}

// error_fd, -1 for none, takes what it writes to standard error.
int mtlc_spawn_server(const char *path, int their_fd, int error_fd,
                      pid_t *out_pid) {
  char *arguments[] = {"mettlec", "--serve", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  // First: its number may be the control socket's.
  if (error_fd >= 0) {
    posix_spawn_file_actions_adddup2(&actions, error_fd, 2);
  } else {
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, their_fd, MTLC_CONTROL_FD);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char *text;
  char **environment = make_environment(&text);
  const int error = posix_spawn(out_pid, path, &actions, &attributes, arguments,
                                environment ? environment : environ);
  free(environment);
  free(text);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}
