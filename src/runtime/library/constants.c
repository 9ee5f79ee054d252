// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants.c: sets of function constant values, and matching them with the
// constants that a library declares.
#include <stdlib.h>
#include <string.h>

#include "runtime/objects.h"

size_t mtl_data_type_size(mtl_data_type type) {
  switch (type) {
    case MTL_TYPE_NONE: return 0;
    case MTL_TYPE_BOOL:
    case MTL_TYPE_CHAR:
    case MTL_TYPE_UCHAR: return 1;
    case MTL_TYPE_SHORT:
    case MTL_TYPE_USHORT:
    case MTL_TYPE_HALF:
    case MTL_TYPE_BFLOAT: return 2;
    case MTL_TYPE_INT:
    case MTL_TYPE_UINT:
    case MTL_TYPE_FLOAT: return 4;
    case MTL_TYPE_LONG:
    case MTL_TYPE_ULONG: return 8;
  }
  return 0;
}

const char *mtli_data_type_name(mtl_data_type type) {
  static const char *const names[] = {
      "struct", "bool", "char",  "uchar", "short",  "ushort", "int",
      "uint",   "long", "ulong", "half",  "bfloat", "float"};
  return (size_t)type < sizeof names / sizeof *names ? names[type] : "?";
}

mtl_status mtl_constant_values_create(mtl_constant_values **out_values) {
  if (!out_values) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_constant_values_create: out_values is NULL");
  }
  *out_values = calloc(1, sizeof **out_values);
  return *out_values
             ? MTL_OK
             : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for constant values");
}

void mtl_constant_values_release(mtl_constant_values *values) {
  if (!values) {
    return;
  }
  for (size_t i = 0; i < values->count; i++) {
    free(values->entries[i].name);
  }
  free(values->entries);
  free(values);
}

static bool entry_is(const mtli_constant_entry *entry, const char *name,
                     uint32_t index) {
  if (!name || !entry->name) {
    return !name && !entry->name && entry->index == index;
  }
  return strcmp(entry->name, name) == 0;
}

// Gives the entry of a name or index, made if there is none.
static mtli_constant_entry *entry_get(mtl_constant_values *values,
                                      const char *name, uint32_t index) {
  for (size_t i = 0; i < values->count; i++) {
    if (entry_is(&values->entries[i], name, index)) {
      return &values->entries[i];
    }
  }
  if (values->count == values->capacity) {
    const size_t capacity = values->capacity ? 2 * values->capacity : 8;
    mtli_constant_entry *entries =
        realloc(values->entries, capacity * sizeof *entries);
    if (!entries) {
      return NULL;
    }
    values->entries = entries;
    values->capacity = capacity;
  }
  char *copy = name ? strdup(name) : NULL;
  if (name && !copy) {
    return NULL;
  }
  mtli_constant_entry *entry = &values->entries[values->count++];
  *entry = (mtli_constant_entry){.name = copy, .index = index};
  return entry;
}

static mtl_status values_set(mtl_constant_values *values, const char *name,
                             uint32_t index, mtl_data_type type,
                             uint32_t components, const void *value) {
  const size_t size_bytes = mtl_data_type_size(type);
  if (!values || !value) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_constant_values_set: %s is NULL",
                     values ? "value" : "values");
  }
  if (size_bytes == 0 || components < 1 || components > 4) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_constant_values_set: type %d with %u components "
                     "cannot be a constant",
                     (int)type, components);
  }
  mtli_constant_entry *entry = entry_get(values, name, index);
  if (!entry) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a constant value");
  }
  entry->type = type;
  entry->components = components;
  memcpy(entry->bytes, value, size_bytes * components);
  return MTL_OK;
}

mtl_status mtl_constant_values_set(mtl_constant_values *values, uint32_t index,
                                   mtl_data_type type, uint32_t components,
                                   const void *value) {
  return values_set(values, NULL, index, type, components, value);
}

mtl_status mtl_constant_values_set_named(mtl_constant_values *values,
                                         const char *name, mtl_data_type type,
                                         uint32_t components,
                                         const void *value) {
  if (!name) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_constant_values_set_named: name is NULL");
  }
  return values_set(values, name, 0, type, components, value);
}

// Finds the value for a constant; the entry set last by name or by index wins
// only if the two agree on the constant, so a name goes first.
static const mtli_constant_entry *find_entry(const mtl_constant_values *set,
                                             const mtl_constant_info *info) {
  const mtli_constant_entry *by_index = NULL;
  for (size_t i = 0; set && i < set->count; i++) {
    const mtli_constant_entry *entry = &set->entries[i];
    if (entry->name && info->name && strcmp(entry->name, info->name) == 0) {
      return entry;
    }
    if (!entry->name && entry->index == info->index) {
      by_index = entry;
    }
  }
  return by_index;
}

mtl_status mtli_constants_resolve(const mtli_code *code,
                                  const mtl_constant_values *set,
                                  mtli_constant_value *values) {
  for (size_t i = 0; i < code->constant_count; i++) {
    const mtl_constant_info *info = &code->constants[i].info;
    const mtli_constant_entry *entry = find_entry(set, info);
    values[i] = (mtli_constant_value){0};
    if (!entry) {
      continue;
    }
    if (entry->type != info->type || entry->components != info->components) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "function constant '%s' (index %u) is %s with %u "
                       "component(s), but was set as %s with %u",
                       info->name, info->index,
                       mtli_data_type_name(info->type), info->components,
                       mtli_data_type_name(entry->type), entry->components);
    }
    values[i].is_set = true;
    memcpy(values[i].bytes, entry->bytes,
           mtl_data_type_size(entry->type) * entry->components);
  }
  return MTL_OK;
}
