// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sysctl.h: facts of the system by name.
#ifndef METTLE_OBJC_SYSCTL_H
#define METTLE_OBJC_SYSCTL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns 0, or -1 for a name that is not known.
int sysctlbyname(const char *name, void *out, size_t *out_bytes, void *value,
                 size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
