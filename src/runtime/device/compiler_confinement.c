// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compiler_confinement.c: asks the compiler process which sandboxes confine it.
#include <stdlib.h>
#include <string.h>

#include "runtime/objects.h"

// True if every attempt, in lines "what: why not", was forbidden.
static bool are_forbidden(const char *text, const char *const *attempts) {
  for (; *attempts; ++attempts) {
    const char *line = strstr(text, *attempts);
    const char *why = line ? line + strlen(*attempts) : "";
    if (strncmp(why, ": EPERM\n", 8) != 0 &&
        strncmp(why, ": EACCES\n", 9) != 0) {
      return false;
    }
  }
  return true;
}

mtl_status mtl_compiler_confinement(uint32_t *out_confined) {
  static const char *const calls[] = {"connect", "exec",  "fork",
                                      "trace",   "new code", NULL};
  static const char *const files[] = {"read", "list", "write", NULL};
  char *text;
  *out_confined = 0;
  MTL_TRY(mtli_probe_compiler(&text));
  *out_confined = (are_forbidden(text, calls) ? MTL_CONFINED_CALLS : 0u) |
                (are_forbidden(text, files) ? MTL_CONFINED_FILES : 0u);
  free(text);
  return MTL_OK;
}
