// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree.c: `mettle iree`: programs of IREE's compiler. The work is
// libmettle-iree's, which is built only where IREE's sources were given.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "mettle/version.h"

#define LIBRARY "libmettle-iree.so.0"

typedef int iree_main(char **arguments);

// Opens libmettle-iree beside libmettle, else on the usual search path.
static void *open_library(void) {
  Dl_info info;
  char path[4096];
  if (dladdr((void *)mtl_version, &info) && info.dli_fname) {
    const char *slash = strrchr(info.dli_fname, '/');
    const int length = slash ? (int)(slash - info.dli_fname) : 0;
    const int written =
        snprintf(path, sizeof path, "%.*s/" LIBRARY, length, info.dli_fname);
    if (slash && written > 0 && (size_t)written < sizeof path) {
      void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (library != NULL) {
        return library;
      }
    }
  }
  return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

static bool iree_run(char **arguments, cli_error *error) {
  void *library = open_library();
  if (library == NULL) {
    return cli_fail(error, CLI_FAILED,
                    "this Mettle was built without IREE: build it with "
                    "-DMETTLE_IREE_SOURCE=FOLDER, the sources of IREE's "
                    "runtime (docs/iree.md): %s",
                    dlerror());
  }
  iree_main *function = (iree_main *)dlsym(library, "mettle_iree_main");
  if (function == NULL) {
    return cli_fail(error, CLI_FAILED, LIBRARY " is another version's: %s",
                    dlerror());
  }
  fflush(stdout);
  const int code = function(arguments);
  if (code != CLI_DONE) {
    // The failed call has already printed the error.
    error->exit_code = code == CLI_USAGE ? CLI_USAGE : CLI_FAILED;
    error->is_told = true;
  }
  return code == CLI_DONE;
}

const cli_verb cli_verb_iree = {
    .name = "iree",
    .summary = "run a program of IREE's compiler",
    .help =
        "usage: mettle iree run PROGRAM.vmfb [--function=NAME] [options]\n"
        "\n"
        "Runs a function of a program that iree-compile made for Metal:\n"
        "\n"
        "  iree-compile --iree-hal-target-device=metal IN.mlir -o OUT.vmfb\n"
        "\n"
        "  --function=NAME   the function; needed if there are several\n"
        "  --input=VALUE     an argument: a file a.npy, or a value as IREE's\n"
        "                    tools take it: 2xf32=1,2. Once for each argument\n"
        "  --output=FILE     where a result goes: a .npy file, or - for\n"
        "                    stdout; once for each result\n"
        "  --repeat=N        call it N times and tell how long it took\n"
        "  --device=NAME     the device; METTLE_DEVICE or the first if not\n"
        "                    given. NAME?queues=4&math=safe sets options\n"
        "  --json            print results and times as JSON\n"
        "\n"
        "Needs libmettle-iree, which is built where -DMETTLE_IREE_SOURCE "
        "names\n"
        "IREE's sources (docs/iree.md).\n",
    .run = iree_run,
};
