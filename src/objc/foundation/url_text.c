// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// url_text.c: takes URLs apart and together, and encodes and decodes them.
//
// Source  RFC 3986, whose sections are named below
#include "objc/foundation/url_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"

static part take(const char **at, const char *stops) {
  const part taken = {*at, strcspn(*at, stops)};
  *at += taken.length;
  return taken;
}

// Takes a URL apart (appendix B).
url_parts url_split(const char *text) {
  url_parts parts = {0};
  const size_t scheme = strcspn(text, ":/?#");
  if (text[scheme] == ':' && isalpha((unsigned char)*text)) {
    parts.scheme = (part){text, scheme};
    text += scheme + 1;
  }
  if (text[0] == '/' && text[1] == '/') {
    text += 2;
    parts.authority = take(&text, "/?#");
  }
  parts.path = take(&text, "?#");
  if (*text == '?') {
    ++text;
    parts.query = take(&text, "#");
  }
  if (*text == '#') {
    parts.fragment = (part){text + 1, strlen(text + 1)};
  }
  return parts;
}

// Puts a URL together (section 5.3).
id url_joined(const url_parts *parts) {
  const part *of[] = {&parts->scheme, &parts->authority, &parts->path,
                      &parts->query, &parts->fragment};
  static const char *const before[] = {"", "//", "", "?", "#"};
  static const char *const behind[] = {":", "", "", "", ""};
  id text = string_make("");
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    if (of[i]->at) {
      text = string_make_printf("%s%s%.*s%s", string_utf8(text), before[i],
                                (int)of[i]->length, of[i]->at, behind[i]);
    }
  }
  return text;
}

part url_whole(id text) {
  const char *utf8 = string_utf8(text);
  return (part){utf8, strlen(utf8)};
}

// True if c stands for itself in a path; a ';' does not in Foundation's.
bool url_path_character(char c) {
  return isalnum((unsigned char)c) || (c && strchr("-._~!$&'()*+,=:@/", c));
}

// True if c may stand in some part of a URL (section 2).
bool url_character(char c) {
  return url_path_character(c) || (c && strchr(";?#[]", c));
}

static bool is_encoded(const char *at) {
  return at[0] == '%' && isxdigit((unsigned char)at[1]) &&
         isxdigit((unsigned char)at[2]);
}

id url_encoded(const char *text, bool (*stays)(char), bool keeps_encoded) {
  static const char digits[] = "0123456789ABCDEF";
  char *out = malloc(3 * strlen(text) + 1);
  size_t bytes = 0;
  for (; out && *text; ++text) {
    if ((stays(*text) && !(*text & 0x80)) ||
        (keeps_encoded && is_encoded(text))) {
      out[bytes++] = *text;
    } else {
      out[bytes++] = '%';
      out[bytes++] = digits[(unsigned char)*text >> 4];
      out[bytes++] = digits[*text & 15];
    }
  }
  const id made = string_make_bytes(out, bytes);
  free(out);
  return made;
}

id url_decoded(part of) {
  char *out = malloc(of.length + 1);
  size_t bytes = 0;
  for (size_t i = 0; out && i < of.length; ++i) {
    char code[3] = "";
    if (i + 2 < of.length && is_encoded(of.at + i)) {
      memcpy(code, of.at + i + 1, 2);
    }
    const char byte = (char)strtoul(code, NULL, 16);  // 0 if it is no code
    out[bytes++] = byte ? byte : of.at[i];
    i += byte ? 2 : 0;
  }
  const id made = of.at ? string_make_bytes(out, bytes) : NULL;
  free(out);
  return made;
}

// Removes dot segments: "." and ".." with the segment before it
// (section 5.2.4).
id url_without_dots(part path) {
  char *out = malloc(path.length + 2);
  size_t bytes = 0;
  const char *end = path.at + path.length;
  for (const char *at = path.at; out && at < end;) {
    const char *slash = memchr(at, '/', (size_t)(end - at));
    const size_t length = (size_t)((slash ? slash : end) - at);
    const bool is_up = length == 2 && !memcmp(at, "..", 2);
    if (is_up && bytes > 1) {
      --bytes;  // the slash behind what it cancels
      while (bytes && out[bytes - 1] != '/') {
        --bytes;
      }
    } else if (!is_up && !(length == 1 && *at == '.')) {
      memcpy(out + bytes, at, length);
      bytes += length;
      if (slash) {
        out[bytes++] = '/';
      }
    }
    at += length + (slash != NULL);
  }
  const id made = string_make_bytes(out, bytes);
  free(out);
  return made;
}
