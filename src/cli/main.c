// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// main.c: the command `mettle`: finds the verb and lets it run.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/suggest.h"
#include "mettle/trace.h"
#include "mettle/version.h"

static const cli_verb *const verbs[] = {
    &cli_verb_run,     &cli_verb_compile, &cli_verb_reflect, &cli_verb_model,
    &cli_verb_iree,    &cli_verb_devices, &cli_verb_bench,   &cli_verb_corpus,
    &cli_verb_env,     &cli_verb_trace,   &cli_verb_diff,
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)

static void print_help(FILE *file) {
  fputs(
      "usage: mettle VERB ...\n"
      "\n"
      "Compiles Metal Shading Language kernels and runs them on this machine.\n"
      "\n",
      file);
  for (size_t i = 0; i < VERB_COUNT; ++i) {
    fprintf(file, "  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
  }
  fputs(
      "\n"
      "'mettle VERB --help' tells of each. --version prints the version.\n"
      "Environment: METTLE_DEVICE names the default device, METTLE_CACHE_DIR\n"
      "the directory of compiled code, METTLE_CPU_THREADS the threads of the\n"
      "device cpu. See mettle(1).\n",
      file);
}

static const cli_verb *find_verb(const char *name) {
  for (size_t i = 0; i < VERB_COUNT; ++i) {
    if (strcmp(verbs[i]->name, name) == 0) {
      return verbs[i];
    }
  }
  return NULL;
}

static bool is_help(const char *argument) {
  return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

// True if --help or --version is among the arguments; prints the answer then.
static bool answers_question(const cli_verb *verb, char **arguments) {
  for (; *arguments != NULL && strcmp(*arguments, "--") != 0; ++arguments) {
    if (is_help(*arguments)) {
      fputs(verb->help, stdout);
      return true;
    }
    if (strcmp(*arguments, "--version") == 0) {
      printf("mettle %s\n", mtl_version());
      return true;
    }
  }
  return false;
}

static int fail_verb(const char *name) {
  const char *names[VERB_COUNT + 1] = {"help"};
  for (size_t i = 0; i < VERB_COUNT; ++i) {
    names[i + 1] = verbs[i]->name;
  }
  const size_t length = strlen(name);
  const char *end = length > 6 ? name + length - 6 : name;
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, name, length, names, VERB_COUNT + 1);
  fprintf(stderr, "mettle: there is no verb '%s'", name);
  if (strcmp(end, ".metal") == 0) {
    fprintf(stderr, "; did you mean 'mettle run %s'?", name);
  }
  fprintf(stderr, "%s\nTry 'mettle --help'.\n", suggestion);
  return CLI_USAGE;
}

static int run_verb(const cli_verb *verb, char **arguments) {
  if (answers_question(verb, arguments)) {
    return CLI_DONE;
  }
  cli_error error = {0};
  const bool is_done =
      (!verb->traces || cli_take_trace(arguments, &error)) &&
      (!verb->checks || cli_take_check(arguments, &error)) &&
      verb->run(arguments, &error);
  const int exit_code = is_done ? CLI_DONE : cli_report(verb->name, &error);
  // The verb stops at the failure; findings up to then are printed at the end.
  return verb->checks && cli_is_checked() && exit_code != CLI_DONE &&
                 exit_code != CLI_USAGE
             ? CLI_NOT_CHECKED
             : exit_code;
}

static int run_command(char **arguments) {
  const char *name = arguments[0];
  if (name == NULL) {
    print_help(stderr);
    return CLI_USAGE;
  }
  if (is_help(name) || strcmp(name, "help") == 0) {
    const cli_verb *verb = arguments[1] ? find_verb(arguments[1]) : NULL;
    if (verb == NULL && arguments[1] != NULL && !is_help(name)) {
      return fail_verb(arguments[1]);
    }
    if (verb != NULL) {
      fputs(verb->help, stdout);
    } else {
      print_help(stdout);
    }
    return CLI_DONE;
  }
  if (strcmp(name, "--version") == 0) {
    printf("mettle %s\n", mtl_version());
    return CLI_DONE;
  }
  const cli_verb *verb = find_verb(name);
  if (verb == NULL) {
    return fail_verb(name);
  }
  return run_verb(verb, arguments + 1);
}

int main(int argc, char **argv) {
  const int exit_code = run_command(argc > 0 ? argv + 1 : argv);
  // A full disk behind > shows only now.
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && exit_code == CLI_DONE) {
    fprintf(stderr, "mettle: cannot write: %s\n", strerror(errno));
    return CLI_FAILED;
  }
  return exit_code;
}
