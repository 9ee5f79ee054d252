// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// url_text.h: the texts of URLs. Parts point into the text that they were taken
// from, objects are autoreleased.
#ifndef METTLE_OBJC_URL_TEXT_H
#define METTLE_OBJC_URL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "objc/runtime/abi.h"

// A part of a text; at is NULL if it is not there.
typedef struct part {
  const char *at;
  size_t length;
} part;

typedef struct url_parts {
  part scheme, authority, path, query, fragment;
} url_parts;

url_parts url_split(const char *text);
id url_joined(const url_parts *parts);
part url_whole(id text);

// True if c stands for itself in a path, or somewhere in a URL.
bool url_path_character(char c);
bool url_character(char c);

// Percent-encodes the bytes that are not ASCII, and the characters for which
// stays() is false. keeps_encoded leaves percent escapes of the text as they
// are.
id url_encoded(const char *text, bool (*stays)(char), bool keeps_encoded);
id url_decoded(part of);  // nil if the part is not there

// Drops "." and what ".." cancels.
id url_without_dots(part path);

#endif
