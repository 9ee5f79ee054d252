// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_option.c: --trace FILE of the verbs that run something.
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "mettle/trace.h"

static bool traces;

bool cli_is_traced(void) {
  const char *setting = getenv("METTLE_TRACE");
  return traces || (setting && *setting);
}

bool cli_take_trace(char **arguments, cli_error *error) {
  const char *path = NULL;
  char **to = arguments;
  for (char **word = arguments; *word; ++word) {
    if (strcmp(*word, "--trace") == 0) {
      path = *++word;
      if (!path) {
        return cli_fail(error, CLI_USAGE, "--trace needs a file");
      }
    } else if (strncmp(*word, "--trace=", strlen("--trace=")) == 0) {
      path = *word + strlen("--trace=");
    } else {
      *to++ = *word;
    }
  }
  *to = NULL;
  traces = path != NULL;
  const mtl_status status = path ? mtl_trace_start(path) : MTL_OK;
  return status == MTL_OK || cli_fail_status(error, status, "--trace");
}
