// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_init.h: strings that are made of bytes.
#ifndef METTLE_OBJC_STRING_INIT_H
#define METTLE_OBJC_STRING_INIT_H

#include "objc/foundation/foundation.h"

// +[NSString alloc].
id string_alloc(Class self, SEL _cmd);

// The caller's reference; nil for bytes that are not of the encoding, or of one
// that is not known.
id string_create_encoded(const void *bytes, size_t length, NSUInteger encoding);

#endif
