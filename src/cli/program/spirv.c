// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// spirv.c: runs spirv-cross. The module goes to it in memory that has a name
// under /dev/fd, what it writes comes back in memory likewise.
#include "cli/program/spirv.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool spirv_is(const char *bytes, size_t size) {
  return size >= 4 && (memcmp(bytes, "\x03\x02\x23\x07", 4) == 0 ||
                       memcmp(bytes, "\x07\x23\x02\x03", 4) == 0);
}

typedef struct conversion {
  int input, output, errors;  // memory, -1 for none
} conversion;

static bool write_all(int file, const char *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = write(file, bytes + done, size - done);
    if (count < 0 && errno != EINTR) {
      return false;
    }
    done += count > 0 ? (size_t)count : 0;
  }
  return true;
}

// Returns a file's contents, with a zero behind them; NULL if there is no
// memory.
static char *read_all(int file, size_t *out_size) {
  struct stat status;
  const size_t size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
  char *text = malloc(size + 1);
  size_t done = 0;
  while (text != NULL && done < size) {
    const ssize_t count = pread(file, text + done, size - done, (off_t)done);
    if (count <= 0) {
      break;
    }
    done += (size_t)count;
  }
  if (text != NULL) {
    text[done] = '\0';
  }
  *out_size = done;
  return text;
}

static bool open_conversion(conversion *c) {
  c->input = memfd_create("spirv", 0);
  c->output = memfd_create("msl", MFD_CLOEXEC);
  c->errors = memfd_create("errors", MFD_CLOEXEC);
  return c->input >= 0 && c->output >= 0 && c->errors >= 0;
}

static void close_conversion(const conversion *c) {
  const int files[] = {c->input, c->output, c->errors};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    if (files[i] >= 0) {
      close(files[i]);
    }
  }
}

// Runs spirv-cross and waits; returns 0, an errno, or -1 if it has failed.
static int run(const conversion *c) {
  char path[32];
  snprintf(path, sizeof path, "/dev/fd/%d", c->input);
  char *arguments[] = {"spirv-cross", "--msl", "--msl-version", "20300",
                       path, NULL};
  posix_spawn_file_actions_t actions;
  pid_t process;
  int status = posix_spawn_file_actions_init(&actions);
  if (status != 0) {
    return status;
  }
  posix_spawn_file_actions_adddup2(&actions, c->output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, c->errors, STDERR_FILENO);
  status = posix_spawnp(&process, arguments[0], &actions, NULL, arguments,
                        environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) {
    return status;
  }
  int outcome = 0;
  while (waitpid(process, &outcome, 0) < 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0 ? 0 : -1;
}

static bool convert(const char *name, const conversion *c, char **out_text,
                    size_t *out_size, cli_error *error) {
  const int status = run(c);
  if (status == ENOENT) {
    return cli_fail(error, CLI_FAILED,
                    "%s is SPIR-V, and the program spirv-cross, which makes "
                    "MSL of it, is not there (Debian's package is called so)",
                    name);
  }
  if (status > 0) {
    return cli_fail(error, CLI_FAILED, "spirv-cross: %s", strerror(status));
  }
  *out_text = read_all(status == 0 ? c->output : c->errors, out_size);
  if (*out_text == NULL) {
    return cli_fail(error, CLI_FAILED, "%s: no memory", name);
  }
  if (status == 0 && *out_size > 0) {
    return true;
  }
  (*out_text)[strcspn(*out_text, "\n")] = '\0';
  cli_fail(error, CLI_NOT_COMPILED, "%s: spirv-cross: %s", name,
           **out_text ? *out_text : "it has made nothing of it");
  free(*out_text);
  *out_text = NULL;
  return false;
}

bool spirv_to_source(const char *name, const char *bytes, size_t size,
                     char **out_text, size_t *out_size, cli_error *error) {
  conversion c;
  *out_text = NULL;
  *out_size = 0;
  const bool ok = open_conversion(&c) && write_all(c.input, bytes, size);
  const bool done =
      ok ? convert(name, &c, out_text, out_size, error)
         : cli_fail(error, CLI_FAILED, "%s: %s", name, strerror(errno));
  close_conversion(&c);
  return done;
}
