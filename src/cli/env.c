// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// env.c: `mettle env -- COMMAND`: runs a program that was written for macOS
// with what it needs to find Metal here (docs/objc.md). Only variables are set:
// nothing is installed, and nobody else sees it.
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/arguments.h"

// The places of libMetal relative to this command's folder: built or installed.
static const char *const places[] = {"objc", METTLE_OBJC_FROM_BIN};

// Writes the folder that has name, an existing file, to out. xcrun calls this
// command by METTLE_OBJC_COMMAND.
static bool find_folder(char out[PATH_MAX], const char *name,
                        cli_error *error) {
  char self[PATH_MAX] = "";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
    return cli_fail(error, CLI_FAILED, "cannot read /proc/self/exe: %s",
                    strerror(errno));
  }
  if (setenv("METTLE_OBJC_COMMAND", self, 1) != 0) {
    return cli_fail(error, CLI_FAILED, "no memory for the environment");
  }
  const char *folder = dirname(self);
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    char path[PATH_MAX];
    const int length =
        snprintf(path, sizeof path, "%s/%s/%s", folder, places[i], name);
    if (length < (int)sizeof path && access(path, R_OK) == 0) {
      snprintf(path, sizeof path, "%s/%s", folder, places[i]);
      if (realpath(path, out)) {
        return true;
      }
    }
  }
  return cli_fail(error, CLI_FAILED,
                  "%s is neither in %s/%s nor in %s/%s: was Mettle built "
                  "without METTLE_OBJC?",
                  name, folder, places[0], folder, places[1]);
}

// Sets a variable to "FOLDER/FILE", in front of what it has been where that is
// a list.
static bool set(const char *variable, const char *folder, const char *file,
                const char *separator, cli_error *error) {
  const char *before = separator ? getenv(variable) : NULL;
  char *value = NULL;
  const int length =
      asprintf(&value, "%s/%s%s%s", folder, file,
               before && *before ? separator : "", before ? before : "");
  const bool done = length >= 0 && setenv(variable, value, 1) == 0;
  free(value);
  return done || cli_fail(error, CLI_FAILED, "no memory for the environment");
}

static const struct {
  const char *variable;
  const char *file;       // in the folder of libMetal
  const char *separator;  // of a list that the user may have begun, or NULL
} variables[] = {
    // The auditor, which maps the paths of frameworks, and what it maps them
    // to.
    {"LD_AUDIT", "libmettle-audit.so", ":"},
    {"METTLE_OBJC_LIBRARY", "libMetal.so.1", NULL},
    // The file that names the system's version.
    {"LD_PRELOAD", "libmettle-files.so", ":"},
    {"METTLE_OBJC_SYSTEM_VERSION", "SystemVersion.plist", NULL},
    // tinygrad asks for libraries by these.
    {"METAL_PATH", "libMetal.so.1", NULL},
    {"MTLCOMPILER_PATH", "libMetal.so.1", NULL},
    {"COREGRAPHICS_PATH", "libMetal.so.1", NULL},
    // Compilers that build Objective-C for libMetal, and xcrun, with metal and
    // metallib; and where linkers and CMake find frameworks.
    {"PATH", "bin", ":"},
    {"LIBRARY_PATH", ".", ":"},
    {"CMAKE_LIBRARY_PATH", ".", ":"},
};

static bool run(char **arguments, cli_error *error) {
  if (*arguments && strcmp(*arguments, "--") == 0) {
    ++arguments;
  }
  if (!*arguments) {
    return cli_fail(error, CLI_USAGE, "a command is missing: mettle env -- "
                                      "COMMAND [ARGUMENT...]");
  }
  char folder[PATH_MAX];
  if (!find_folder(folder, "libMetal.so.1", error)) {
    return false;
  }
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    if (!set(variables[i].variable, folder, variables[i].file,
             variables[i].separator, error)) {
      return false;
    }
  }
  execvp(*arguments, arguments);
  return cli_fail(error, CLI_FAILED, "cannot run '%s': %s", *arguments,
                  strerror(errno));
}

const cli_verb cli_verb_env = {
    .name = "env",
    .summary = "run a program for macOS that uses Metal",
    .help =
        "usage: mettle env [--] COMMAND [ARGUMENT...]\n"
        "\n"
        "Runs COMMAND, a program that was written for Metal on macOS, so that\n"
        "it finds Mettle's libMetal in place of Apple's frameworks:\n"
        "\n"
        "  mettle env -- env DEV=METAL python3 program_for_tinygrad.py\n"
        "\n"
        "It sets LD_AUDIT, LD_PRELOAD, PATH, LIBRARY_PATH, CMAKE_LIBRARY_PATH\n"
        "and a few variables of its own for COMMAND alone; cc and c++ are then\n"
        "clang, for Objective-C. METTLE_OBJC_DEBUG is a list of words: zombies, leaks,\n"
        "messages, pools, exceptions, unrecognized, errors, log, or all.\n",
    .run = run,
};
