// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// settings.h: the METTLE_ variables of the environment. A wrong value is an
// error: whoever set it meant something by it.
#ifndef MTLI_SETTINGS_H
#define MTLI_SETTINGS_H

#include <stdint.h>

#include "base/status.h"

// Checks the values of all variables that are numbers, words or folders; those
// that name a device, a processor or a program are checked where they are used.
// Unset and empty ones are as good.
//
// Errors     MTL_INVALID_ARGUMENT  the text has the variable, its value and
//                                  what it may be
mtl_status mtli_settings_check(void);

// Reads a variable that is a number; of one in seconds, the nanoseconds.
// *out_value is `otherwise` if the variable is unset or empty, and on failure.
mtl_status mtli_setting_number(const char *name, uint64_t otherwise,
                               uint64_t *out_value);

#endif
