// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version.c: the version that was built.
#include "mettle/version.h"

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) \
  TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *mtl_version(void) {
  return VERSION_TEXT(MTL_VERSION_MAJOR, MTL_VERSION_MINOR, MTL_VERSION_PATCH);
}
