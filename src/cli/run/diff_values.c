// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// diff_values.c: compares arrays value by value, floats in units in the last
// place.
#include <stdlib.h>
#include <string.h>

#include "cli/run/diff.h"

// Returns a float's place among all of its type, in order: -0 and +0 are one.
static int64_t place_of(value_type type, const void *at, bool *out_is_nan) {
  uint32_t bits = 0;
  const uint32_t bytes = value_type_get_info(type)->size_bytes;
  memcpy(&bits, at, bytes);
  const uint32_t sign = 1u << (8 * bytes - 1);
  const uint32_t infinity = type == VALUE_F32   ? 0x7f800000u
                            : type == VALUE_F16 ? 0x7c00u
                                                : 0x7f80u;
  *out_is_nan = (bits & ~sign) > infinity;
  const int64_t size = (int64_t)(bits & ~sign);
  return bits & sign ? -size : size;
}

uint64_t diff_ulps(value_type type, const void *left, const void *right) {
  bool left_is_nan, right_is_nan;
  const int64_t one = place_of(type, left, &left_is_nan);
  const int64_t other = place_of(type, right, &right_is_nan);
  if (left_is_nan || right_is_nan) {
    return left_is_nan && right_is_nan ? 0 : UINT64_MAX;
  }
  return (uint64_t)(one < other ? other - one : one - other);
}

// The scalars of one element.
typedef struct scalar {
  value_type type;
  size_t offset_bytes;
} scalar;

typedef struct layout {
  scalar *scalars;  // [count]
  uint64_t count;
  uint64_t element_bytes;
} layout;

static void add_scalar(void *context, value_type type, size_t offset_bytes) {
  layout *it = context;
  it->scalars[it->count++] = (scalar){type, offset_bytes};
}

static bool lay_out(const kernel_binding *binding, layout *out) {
  const mtl_member *element = &binding->element;
  const bool is_typed = element->size_bytes > 0;
  const uint64_t count = is_typed ? element_scalar_count(element) : 1;
  *out = (layout){.scalars = calloc(count + 1, sizeof *out->scalars)};
  if (!out->scalars) {
    return false;
  }
  if (is_typed) {
    out->element_bytes = (uint64_t)element->size_bytes * element->array_length;
    element_each_scalar(element, 1, add_scalar, out);
  } else {
    out->element_bytes = value_type_get_info(binding->array.type)->size_bytes;
    add_scalar(out, binding->array.type, 0);
  }
  return true;
}

static void note(diff_result *out, const scalar *it, uint64_t element,
                 uint64_t number, uint64_t offset, uint64_t ulps) {
  const bool is_float = value_type_get_info(it->type)->is_float;
  if (out->different++ == 0) {
    out->element = element;
    out->scalar = number;
    out->offset_bytes = offset;
    out->type = it->type;
    out->is_float = is_float;
    out->ulps = is_float ? ulps : 0;
  }
  if (is_float && ulps > out->most_ulps) {
    out->most_ulps = ulps;
  }
}

bool diff_contents(const kernel_binding *binding, const void *left,
                   const void *right, uint64_t most_ulps, diff_result *out) {
  layout it;
  *out = (diff_result){0};
  if (memcmp(left, right, binding->array.data_bytes) == 0 ||
      !lay_out(binding, &it)) {
    return false;
  }
  const uint64_t elements = binding->array.data_bytes / it.element_bytes;
  out->scalars = it.count;
  out->values = elements * it.count;
  for (uint64_t i = 0; i < elements; ++i) {
    for (uint64_t k = 0; k < it.count; ++k) {
      const scalar *part = &it.scalars[k];
      const value_type_info *info = value_type_get_info(part->type);
      const uint64_t offset = i * it.element_bytes + part->offset_bytes;
      const char *one = (const char *)left + offset;
      const char *other = (const char *)right + offset;
      const uint64_t ulps = info->is_float ? diff_ulps(part->type, one, other)
                                           : 0;
      if (info->is_float ? ulps > most_ulps
                         : memcmp(one, other, info->size_bytes) != 0) {
        note(out, part, i, k, offset, ulps);
      }
    }
  }
  free(it.scalars);
  return out->different > 0;
}
