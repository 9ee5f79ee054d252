// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// element_fields.c: a struct as the fields of a NumPy array's type.
// Source: NumPy, numpy.lib.format, "descr"; '|Vn' without a name is padding.
#include <stdlib.h>

#include "cli/values/element.h"

static void write_fields(FILE *text, const mtl_member *element);

// The sides of arrays of arrays, a matrix's columns, a vector's components.
static void write_sides(FILE *text, const mtl_member *member) {
  bool has_sides = false;
  for (const mtl_member *side = member;; side = &side->members[0]) {
    if (side->array_length != 1) {
      fprintf(text, "%s%u,", has_sides ? " " : ", (", side->array_length);
      has_sides = true;
    }
    if (element_is_array(side)) {
      continue;
    }
    if (side->columns > 1) {
      fprintf(text, "%s%u,", has_sides ? " " : ", (", side->columns);
      has_sides = true;
    }
    if (side->components > 1) {
      const uint32_t scalar_bytes =
          value_type_get_info(value_type_of(side->type))->size_bytes;
      fprintf(text, "%s%u,", has_sides ? " " : ", (",
              side->size_bytes / side->columns / scalar_bytes);
      has_sides = true;
    }
    fputs(has_sides ? ")" : "", text);
    return;
  }
}

static void write_member(FILE *text, const mtl_member *member) {
  const mtl_member *inner = member;
  while (element_is_array(inner)) {
    inner = &inner->members[0];
  }
  fprintf(text, "('%s', ", member->name);
  if (inner->type == MTL_TYPE_NONE) {
    write_fields(text, inner);
  } else {
    fprintf(text, "'%s'",
            value_type_get_info(value_type_of(inner->type))->descr);
  }
  write_sides(text, member);
  fputs("), ", text);
}

static void write_padding(FILE *text, uint64_t from, uint64_t to) {
  if (to > from) {
    fprintf(text, "('', '|V%llu'), ", (unsigned long long)(to - from));
  }
}

// Members that have no type here, or share bytes with an earlier one, are
// padding.
static void write_fields(FILE *text, const mtl_member *element) {
  uint64_t end = 0;
  fputc('[', text);
  for (uint32_t i = 0; i < element->member_count; ++i) {
    const mtl_member *member = &element->members[i];
    if (element_is_known(member) && member->offset_bytes >= end &&
        member->array_length > 0) {
      write_padding(text, end, member->offset_bytes);
      write_member(text, member);
      end = member->offset_bytes +
            (uint64_t)member->size_bytes * member->array_length;
    }
  }
  write_padding(text, end, element->size_bytes);
  fputc(']', text);
}

char *element_fields(const mtl_member *element) {
  char *fields = NULL;
  size_t size = 0;
  FILE *text = open_memstream(&fields, &size);
  if (text == NULL) {
    return NULL;
  }
  const mtl_member *inner = element;
  while (element_is_array(inner)) {
    inner = &inner->members[0];
  }
  write_fields(text, inner);
  return fclose(text) == 0 ? fields : NULL;
}
