// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// types.c: measures types as Objective-C encodes them.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/invocation/call_frame.h"

_Static_assert(offsetof(call_frame, vector) == FRAME_VECTOR, "");
_Static_assert(offsetof(call_frame, result) == FRAME_RESULT, "");
_Static_assert(offsetof(call_frame, stack) == FRAME_STACK, "");
_Static_assert(offsetof(call_frame, stack_words) == FRAME_STACK_WORDS, "");
_Static_assert(sizeof(call_frame) == FRAME_BYTES, "");

const char *type_skip_qualifiers(const char *types) {
  while (*types && strchr("rnNoORVAj", *types)) {
    ++types;
  }
  return types;
}

static const char *skip_digits(const char *text) {
  while (isdigit((unsigned char)*text) || *text == '-') {
    ++text;
  }
  return text;
}

static size_t scalar_bytes(char kind) {
  switch (kind) {
    case 'v': return 0;
    case 'c':
    case 'C':
    case 'B': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'D': return 16;
    default: return 8;
  }
}

// Walks over one type at offset from the start of the whole; context of visit
// as in type_scalars. visit may be NULL.
typedef struct walk {
  scalar_visitor *visit;
  void *context;
} walk;

static const char *walk_type(const char *type, size_t offset, const walk *with,
                             size_t *out_bytes, size_t *out_alignment);

static size_t rounded(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// type is behind "{" or "(".
static const char *walk_members(const char *type, size_t offset,
                                const walk *with, bool is_union,
                                size_t *out_bytes, size_t *out_alignment) {
  const char close = is_union ? ')' : '}';
  while (*type && *type != '=' && *type != close) {
    ++type;
  }
  size_t bytes = 0, alignment = 1;
  type += *type == '=';
  while (*type && *type != close) {
    if (*type == '"') {  // a member's name
      type = strchr(type + 1, '"') + 1;
      continue;
    }
    size_t size, align;
    const walk measure = {NULL, NULL};
    walk_type(type, 0, &measure, &size, &align);
    const size_t at = is_union ? 0 : rounded(bytes, align);
    type = walk_type(type, offset + at, with, &size, &align);
    bytes = is_union ? (size > bytes ? size : bytes) : at + size;
    alignment = align > alignment ? align : alignment;
  }
  *out_alignment = alignment;
  *out_bytes = rounded(bytes, alignment);
  return type + (*type == close);
}

static const char *walk_array(const char *type, size_t offset, const walk *with,
                              size_t *out_bytes, size_t *out_alignment) {
  char *element;
  const size_t count = strtoul(type, &element, 10);
  const walk measure = {NULL, NULL};
  const char *end = walk_type(element, 0, &measure, out_bytes, out_alignment);
  const size_t size = *out_bytes;
  for (size_t i = 0; with->visit && i < count; ++i) {
    walk_type(element, offset + i * size, with, out_bytes, out_alignment);
  }
  *out_bytes = count * size;
  return end + (*end == ']');
}

static const char *walk_type(const char *type, size_t offset, const walk *with,
                             size_t *out_bytes, size_t *out_alignment) {
  type = type_skip_qualifiers(type);
  switch (*type) {
    case '{':
    case '(':
      return walk_members(type + 1, offset, with, *type == '(', out_bytes,
                          out_alignment);
    case '[':
      return walk_array(type + 1, offset, with, out_bytes, out_alignment);
    default: break;
  }
  const char kind = *type;
  *out_bytes = scalar_bytes(kind);
  *out_alignment = *out_bytes ? *out_bytes : 1;
  if (with->visit && *out_bytes) {
    with->visit(kind, offset, *out_bytes, with->context);
  }
  if (kind == '^') {  // the pointer; what it points to is skipped
    const walk nothing = {NULL, NULL};
    size_t bytes, alignment;
    return walk_type(type + 1, 0, &nothing, &bytes, &alignment);
  }
  type += kind != 0;
  if (kind == '@' && *type == '?') {  // a block
    ++type;
    if (*type == '<') {
      type = strchr(type, '>') + 1;
    }
  } else if (kind == '@' && *type == '"') {
    type = strchr(type + 1, '"') + 1;
  }
  return type;
}

const char *type_measure(const char *types, size_t *out_bytes,
                         size_t *out_alignment) {
  const walk nothing = {NULL, NULL};
  return skip_digits(walk_type(types, 0, &nothing, out_bytes, out_alignment));
}

void type_scalars(const char *type, scalar_visitor *visit, void *context) {
  const walk with = {visit, context};
  size_t bytes, alignment;
  walk_type(type, 0, &with, &bytes, &alignment);
}
