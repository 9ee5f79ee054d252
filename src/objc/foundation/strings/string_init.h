// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_init.h: makes strings from encoded bytes.
#ifndef METTLE_OBJC_STRING_INIT_H
#define METTLE_OBJC_STRING_INIT_H

#include "objc/foundation/foundation.h"

// +[NSString alloc].
id string_alloc(Class self, SEL _cmd);

// Makes a string from encoded bytes, the caller's reference; nil if the bytes
// are invalid or the encoding is unknown.
id string_create_encoded(const void *bytes, size_t length, NSUInteger encoding);

#endif
