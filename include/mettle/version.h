// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version.h: which Mettle this is. CMakeLists.txt reads the numbers from here.
#ifndef METTLE_VERSION_H
#define METTLE_VERSION_H

#include "status.h"

#define MTL_VERSION_MAJOR 0
#define MTL_VERSION_MINOR 2
#define MTL_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

// Returns the version of the library that runs, "0.2.0" for instance.
MTL_API const char *mtl_version(void);

#ifdef __cplusplus
}
#endif
#endif
