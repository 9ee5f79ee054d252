// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cli.h: shared by the verbs of the command `mettle`: exit codes, errors, and
// the table of verbs that main.c walks.
#ifndef METTLE_CLI_CLI_H
#define METTLE_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "mettle/status.h"

// Scripts depend on these.
typedef enum cli_exit {
  CLI_DONE = 0,
  CLI_FAILED = 1,        // the command line was right, but the work failed
  CLI_USAGE = 2,         // the command line is wrong
  CLI_NOT_COMPILED = 3,  // the source did not compile; with --check CLI_FOUND
  CLI_FOUND = 3,         // with --check: something was found
  CLI_NOT_CHECKED = 4,   // with --check: something could not be checked
  CLI_DIFFERS = 5,       // of diff: results are not alike
} cli_exit;

// The first thing that went wrong. Zero means nothing has.
typedef struct cli_error {
  cli_exit exit_code;
  char text[1024];    // one line, cut if longer
  char *diagnostics;  // malloc'ed: the compiler's, to print instead; or NULL
  bool is_told;       // printed already
} cli_error;

// Fills error (printf form) and returns false, so that a failure reads
// `return cli_fail(error, CLI_USAGE, ...)`.
bool cli_fail(cli_error *error, cli_exit exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Fails with the text of a failed libmettle call, preceded by what was tried.
bool cli_fail_status(cli_error *error, mtl_status status, const char *what);

// The same for a call that compiles a source or a kernel: the exit code is
// CLI_NOT_COMPILED if compilation failed.
bool cli_fail_compile(cli_error *error, mtl_status status, const char *what);

// Prints error to stderr as verb's, clears it and returns its exit code.
int cli_report(const char *verb, cli_error *error);

// Fills target with "; there are: a, b" out of names [count], as many as fit.
void cli_list_names(char *target, size_t size, const char *const *names,
                    size_t count);

typedef struct cli_verb {
  const char *name;
  const char *summary;  // one line
  const char *help;     // the whole page of --help
  // Runs with the arguments behind the verb, NULL at the end; returns false
  // with error filled.
  bool (*run)(char **arguments, cli_error *error);
  bool traces;  // takes --trace FILE (trace_option.c)
  bool checks;  // takes --check (check_option.c)
} cli_verb;

// trace_option.c: takes --trace FILE out of arguments and begins the timeline,
// which the end of the process ends.
bool cli_take_trace(char **arguments, cli_error *error);
// True if a timeline of this process is written.
bool cli_is_traced(void);

// check_option.c: takes --check, --check-report, --check-suppress and
// --schedule out of arguments.
bool cli_take_check(char **arguments, cli_error *error);
// True if kernels of this process are checked; if something was found.
bool cli_is_checked(void);
bool cli_check_has_found(void);

extern const cli_verb cli_verb_run;
extern const cli_verb cli_verb_compile;
extern const cli_verb cli_verb_reflect;
extern const cli_verb cli_verb_model;
extern const cli_verb cli_verb_devices;
extern const cli_verb cli_verb_diff;
extern const cli_verb cli_verb_bench;
extern const cli_verb cli_verb_corpus;
extern const cli_verb cli_verb_env;
extern const cli_verb cli_verb_iree;
extern const cli_verb cli_verb_trace;

#endif
