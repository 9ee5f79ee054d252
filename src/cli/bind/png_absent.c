// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// png_absent.c: PNG files in a build without libpng: an error that says so.
#include "cli/bind/png.h"

static bool fail_absent(const char *path, cli_error *error) {
  return cli_fail(error, CLI_FAILED,
                  "%s: this build of Mettle has no libpng, and cannot read or "
                  "write PNG files; NumPy files (.npy) it can",
                  path);
}

bool png_read(const char *path, png_picture *out_picture, cli_error *error) {
  *out_picture = (png_picture){0};
  return fail_absent(path, error);
}

bool png_write(const char *path, const png_picture *picture, cli_error *error) {
  (void)picture;
  return fail_absent(path, error);
}
