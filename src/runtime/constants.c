// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants.c: sets of function constant values, and matching them with the
// constants that a library declares.
#include <stdio.h>
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

static const char *type_name(mtl_data_type type) {
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
                       info->name, info->index, type_name(info->type),
                       info->components, type_name(entry->type),
                       entry->components);
    }
    values[i].is_set = true;
    memcpy(values[i].bytes, entry->bytes,
           mtl_data_type_size(entry->type) * entry->components);
  }
  return MTL_OK;
}

// --- what constants switch on and off ---------------------------------------

static int64_t integer_of(const mtl_constant_info *info,
                          const mtli_constant_value *value) {
  const size_t size_bytes = mtl_data_type_size(info->type);
  int64_t integer = 0;
  memcpy(&integer, value->bytes, size_bytes);
  const bool is_signed =
      info->type == MTL_TYPE_CHAR || info->type == MTL_TYPE_SHORT ||
      info->type == MTL_TYPE_INT || info->type == MTL_TYPE_LONG;
  const unsigned unused_bits = 64 - 8 * (unsigned)size_bytes;
  return is_signed && size_bytes
             ? (int64_t)((uint64_t)integer << unused_bits) >> unused_bits
             : integer;
}

static int64_t apply(const char *name, int64_t a, int64_t b) {
  static const char *const names[] = {"&&", "||", "==", "!=", "<", "<=", ">",
                                      ">=", "+",  "-",  "*",  "&", "|",  "^"};
  const int64_t results[] = {
      a && b,
      a || b,
      a == b,
      a != b,
      a < b,
      a <= b,
      a > b,
      a >= b,
      (int64_t)((uint64_t)a + (uint64_t)b),
      (int64_t)((uint64_t)a - (uint64_t)b),
      (int64_t)((uint64_t)a * (uint64_t)b),
      a & b,
      a | b,
      a ^ b,
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) == 0) {
      return results[i];
    }
  }
  return 0;
}

typedef struct stack {
  int64_t values[128];
  size_t count;
} stack;

static int64_t pop(stack *s) {
  return s->count ? s->values[--s->count] : 0;
}

static void push(stack *s, int64_t value) {
  if (s->count < sizeof s->values / sizeof *s->values) {
    s->values[s->count++] = value;
  }
}

// One word of a condition (code.h); senseless ones, which only a container
// that was tampered with has, give some value.
static void evaluate_word(stack *s, const char *word, const mtli_code *code,
                          const mtli_constant_value *values) {
  const size_t position = strtoul(word + 1, NULL, 10);
  const bool is_constant = word[0] == 'c' || word[0] == 'd';
  if (is_constant && position >= code->constant_count) {
    push(s, 0);
  } else if (word[0] == 'd') {
    push(s, values[position].is_set);
  } else if (word[0] == 'c') {
    push(s, integer_of(&code->constants[position].info, &values[position]));
  } else if ((word[0] >= '0' && word[0] <= '9') ||
             (word[0] == '-' && word[1] != '\0')) {
    push(s, strtoll(word, NULL, 10));
  } else if (strcmp(word, "!") == 0) {
    push(s, !pop(s));
  } else if (strcmp(word, "?") == 0) {
    const int64_t otherwise = pop(s), then = pop(s);
    push(s, pop(s) ? then : otherwise);
  } else {
    const int64_t right = pop(s), left = pop(s);
    push(s, apply(word, left, right));
  }
}

bool mtli_parameter_is_active(const mtli_parameter *parameter,
                              const mtli_code *code,
                              const mtli_constant_value *values) {
  const int32_t enabling = parameter->enabling_constant;
  if (enabling < -1) {
    return values[MTLI_ENABLED_IF_DEFINED(enabling)].is_set;
  }
  if (enabling >= 0) {
    return values[enabling].bytes[0] != 0;
  }
  if (!parameter->condition || !*parameter->condition) {
    return true;
  }
  stack s = {.count = 0};
  char word[32];
  int length = 0;
  for (const char *at = parameter->condition;
       sscanf(at, "%31s%n", word, &length) == 1; at += length) {
    evaluate_word(&s, word, code, values);
  }
  return pop(&s) != 0;
}
