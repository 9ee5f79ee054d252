// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// element.c: the types of elements, their sizes, and how they print.
#include "cli/values/element.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"

mtl_member element_of_argument(const mtl_argument *argument) {
  mtl_member element = {.name = argument->name,
                        .type_name = argument->type_name,
                        .type = argument->type,
                        .components = argument->components,
                        .columns = 1,
                        .size_bytes = argument->size_bytes,
                        .array_length = 1,
                        .members = argument->members,
                        .member_count = argument->member_count};
  if (argument->member_count == 1 && argument->members[0].name[0] == '\0') {
    element = argument->members[0];  // a matrix or an array
    element.name = argument->name;
  }
  return element;
}

bool element_is_known(const mtl_member *element) {
  return element->size_bytes > 0 &&
         (element->type != MTL_TYPE_NONE || element->member_count > 0);
}

bool element_is_array(const mtl_member *element) {
  return element->type == MTL_TYPE_NONE && element->member_count == 1 &&
         element->members[0].name[0] == '\0';
}

bool element_is_struct(const mtl_member *element) {
  while (element_is_array(element)) {
    element = &element->members[0];
  }
  return element->type == MTL_TYPE_NONE && element->member_count > 0;
}

uint64_t element_scalar_count(const mtl_member *element) {
  uint64_t count = (uint64_t)element->components * element->columns;
  for (uint32_t i = 0; i < element->member_count; ++i) {
    count += element_scalar_count(&element->members[i]);
  }
  return count * element->array_length;
}

void element_values_clear(element_values *values) {
  free(values->bytes);
  free(values->given);
  memset(values, 0, sizeof *values);
}

bool element_values_grow(element_values *values, const mtl_member *element,
                         uint64_t count, cli_error *error) {
  size_t size;
  if (__builtin_mul_overflow((size_t)element->size_bytes,
                             (size_t)element->array_length, &size) ||
      __builtin_mul_overflow(size, count, &size) || size > PTRDIFF_MAX) {
    return cli_fail(error, CLI_USAGE,
                    "%llu elements are more than memory can be",
                    (unsigned long long)count);
  }
  if (size <= values->size_bytes) {
    return true;
  }
  // calloc, not realloc: of a million zeros few pages are ever touched.
  unsigned char *bytes = calloc(1, size), *given = calloc(1, size);
  if (bytes == NULL || given == NULL) {
    free(bytes);
    free(given);
    return cli_fail(error, CLI_FAILED, "out of memory: %zu bytes", size);
  }
  if (values->size_bytes > 0) {
    memcpy(bytes, values->bytes, values->size_bytes);
    memcpy(given, values->given, values->size_bytes);
  }
  element_values_clear(values);
  *values = (element_values){bytes, given, size};
  return true;
}

static void each_scalar(const mtl_member *element, size_t offset_bytes,
                        element_visit *visit, void *context) {
  const value_type type = value_type_of(element->type);
  const size_t scalar_bytes = value_type_get_info(type)->size_bytes;
  for (uint32_t i = 0; i < element->array_length; ++i) {
    const size_t start = offset_bytes + (size_t)i * element->size_bytes;
    for (uint32_t j = 0; j < element->columns * element->components; ++j) {
      const uint32_t column = j / element->components;
      const uint32_t row = j % element->components;
      visit(context, type,
            start + (size_t)column * (element->size_bytes / element->columns) +
                row * scalar_bytes);
    }
    for (uint32_t j = 0; j < element->member_count; ++j) {
      const mtl_member *member = &element->members[j];
      each_scalar(member, start + member->offset_bytes, visit, context);
    }
  }
}

void element_each_scalar(const mtl_member *element, uint64_t count,
                         element_visit *visit, void *context) {
  const size_t size_bytes = (size_t)element->size_bytes * element->array_length;
  for (uint64_t i = 0; i < count; ++i) {
    each_scalar(element, i * size_bytes, visit, context);
  }
}

void element_print_scalar(FILE *file, value_type type, const void *value,
                          bool as_json) {
  char text[VALUE_TEXT_SIZE];
  value_format(type, value, text);
  const bool is_number = type == VALUE_BOOL || text[text[0] == '-'] < 'a';
  fprintf(file, as_json && !is_number ? "\"%s\"" : "%s", text);
}

static void print_vector(FILE *file, const mtl_member *element,
                         const unsigned char *bytes, bool as_json) {
  const value_type type = value_type_of(element->type);
  const uint32_t scalar_bytes = value_type_get_info(type)->size_bytes;
  if (element->components == 1) {
    element_print_scalar(file, type, bytes, as_json);
    return;
  }
  fputc(as_json ? '[' : '(', file);
  for (uint32_t i = 0; i < element->components; ++i) {
    fputs(i == 0 ? "" : ", ", file);
    element_print_scalar(file, type, bytes + i * scalar_bytes, as_json);
  }
  fputc(as_json ? ']' : ')', file);
}

static void print_struct(FILE *file, const mtl_member *element,
                         const unsigned char *bytes, bool as_json) {
  fputc('{', file);
  for (uint32_t i = 0; i < element->member_count; ++i) {
    const mtl_member *member = &element->members[i];
    fputs(i == 0 ? "" : ", ", file);
    if (as_json) {
      json_write_text(file, member->name);
    } else {
      fputs(member->name, file);
    }
    fputs(": ", file);
    element_print(file, member, bytes + member->offset_bytes, as_json);
  }
  fputc('}', file);
}

static void print_one(FILE *file, const mtl_member *element,
                      const unsigned char *bytes, bool as_json) {
  if (element_is_array(element)) {
    element_print(file, &element->members[0], bytes, as_json);
    return;
  }
  if (element->type == MTL_TYPE_NONE) {
    if (element->member_count > 0) {
      print_struct(file, element, bytes, as_json);
    } else {
      fputs(as_json ? "null" : "?", file);  // a pointer, a bit-field
    }
    return;
  }
  if (element->columns == 1) {
    print_vector(file, element, bytes, as_json);
    return;
  }
  fputc(as_json ? '[' : '(', file);
  for (uint32_t i = 0; i < element->columns; ++i) {
    fputs(i == 0 ? "" : ", ", file);
    print_vector(file, element,
                 bytes + i * (element->size_bytes / element->columns), as_json);
  }
  fputc(as_json ? ']' : ')', file);
}

void element_print(FILE *file, const mtl_member *element,
                   const unsigned char *bytes, bool as_json) {
  if (element->array_length == 1) {
    print_one(file, element, bytes, as_json);
    return;
  }
  fputc('[', file);
  for (uint32_t i = 0; i < element->array_length; ++i) {
    fputs(i == 0 ? "" : ", ", file);
    print_one(file, element, bytes + (size_t)i * element->size_bytes, as_json);
  }
  fputc(']', file);
}
