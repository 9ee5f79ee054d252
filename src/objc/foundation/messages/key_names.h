// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// key_names.h: the names of a key's accessors (key_value.c).
#ifndef METTLE_OBJC_KEY_NAMES_H
#define METTLE_OBJC_KEY_NAMES_H

#include <stdbool.h>

enum { KEY_NAME_BYTES = 256 };

// Writes prefix + key + suffix to out [KEY_NAME_BYTES], with the key's first
// letter unchanged or in upper case.
void key_name(char *out, const char *prefix, const char *key, bool upper,
              const char *suffix);

#endif
