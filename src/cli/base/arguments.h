// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arguments.h: walks a command line: options by a table, the rest in order.
//
// Accepts --name VALUE, --name=VALUE, -XVALUE and -X VALUE; options may stand
// anywhere; "--" ends them.
#ifndef METTLE_CLI_ARGUMENTS_H
#define METTLE_CLI_ARGUMENTS_H

#include "cli/base/cli.h"

typedef struct option_spec {
  const char *name;  // "--grid", "-I"; NULL ends a table
  int id;            // above 0
  bool takes_value;
} option_spec;

typedef struct argument_walk {
  char **next;
  const option_spec *options;
  bool options_ended;
} argument_walk;

enum { ARGUMENT_END = 0, ARGUMENT_POSITIONAL = -1, ARGUMENT_WRONG = -2 };

// Returns the id of the next option, or one of the above. An option's value or
// a positional argument is in *out_value, borrowed from the command line.
int argument_walk_next(argument_walk *walk, const char **out_value,
                       cli_error *error);

#endif
