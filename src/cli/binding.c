// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binding.c: reads the words that bind a kernel's arguments.
#include "cli/binding.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "mettle/device.h"

static const struct {
  const char *prefix, *name;
  uint32_t count;
} tables[] = {
    [MTL_ARGUMENT_BUFFER] = {"", "buffer", MTL_MAX_BUFFER_ARGUMENTS},
    [MTL_ARGUMENT_THREADGROUP_MEMORY] = {"tg", "threadgroup memory",
                                         MTL_MAX_BUFFER_ARGUMENTS},
    [MTL_ARGUMENT_TEXTURE] = {"tex", "texture", MTL_MAX_TEXTURE_ARGUMENTS},
    [MTL_ARGUMENT_SAMPLER] = {"sampler", "sampler", MTL_MAX_SAMPLER_ARGUMENTS},
    [MTL_ARGUMENT_FUNCTION_TABLE] = {"table", "function table",
                                     MTL_MAX_BUFFER_ARGUMENTS},
};

mtl_argument_kind binding_table(const kernel_binding *binding) {
  switch (binding->kind) {
    case BINDING_THREADGROUP: return MTL_ARGUMENT_THREADGROUP_MEMORY;
    case BINDING_TEXTURE: return MTL_ARGUMENT_TEXTURE;
    case BINDING_SAMPLER: return MTL_ARGUMENT_SAMPLER;
    case BINDING_TABLE: return MTL_ARGUMENT_FUNCTION_TABLE;
    default: return MTL_ARGUMENT_BUFFER;
  }
}

const char *binding_table_name(mtl_argument_kind table) {
  return tables[table].name;
}

const char *binding_table_prefix(mtl_argument_kind table) {
  return tables[table].prefix;
}

// The table that a word's letters name; *out_digits is what follows them.
static mtl_argument_kind table_of(const char *word, const char **out_digits) {
  for (int i = MTL_ARGUMENT_FUNCTION_TABLE; i > MTL_ARGUMENT_BUFFER; --i) {
    const size_t length = strlen(tables[i].prefix);
    if (strncmp(word, tables[i].prefix, length) == 0) {
      *out_digits = word + length;
      return (mtl_argument_kind)i;
    }
  }
  *out_digits = word;
  return MTL_ARGUMENT_BUFFER;
}

bool binding_is_one(const char *word) {
  table_of(word, &word);
  const size_t digits = strspn(word, "0123456789");
  return digits > 0 && word[digits] == '=';
}

bool index_parse(const char *word, size_t length, mtl_argument_kind *out_table,
                 uint32_t *out_index, cli_error *error) {
  uint64_t index;
  const char *digits;
  *out_table = table_of(word, &digits);
  const size_t prefix = (size_t)(digits - word);
  const uint32_t most = tables[*out_table].count - 1;
  if (prefix > length ||
      !value_parse_count(digits, length - prefix, most, &index)) {
    return cli_fail(error, CLI_USAGE, "'%.*s' is no %s index: %s0 to %s%u are",
                    length > 40 ? 40 : (int)length, word,
                    tables[*out_table].name, tables[*out_table].prefix,
                    tables[*out_table].prefix, most);
  }
  *out_index = (uint32_t)index;
  return true;
}

// The part of text before letter, or all of it; *out_rest is what follows,
// NULL at the end.
static size_t split(const char *text, char letter, const char **out_rest) {
  const char *found = strchr(text, letter);
  *out_rest = found ? found + 1 : NULL;
  return found ? (size_t)(found - text) : strlen(text);
}

bool size_parse(const char *option, const char *word, uint32_t out_size[3],
                cli_error *error) {
  const char *rest = word;
  for (int i = 0; i < 3; ++i) {
    out_size[i] = 1;
    if (rest == NULL) {
      continue;
    }
    const char *text = rest;
    uint64_t number;
    const size_t length = split(text, ',', &rest);
    if (!value_parse_count(text, length, UINT32_MAX, &number)) {
      return cli_fail(error, CLI_USAGE,
                      "%s %s: X[,Y[,Z]] must be numbers below 2^32", option,
                      word);
    }
    out_size[i] = (uint32_t)number;
  }
  return rest == NULL ||
         cli_fail(error, CLI_USAGE, "%s %s: there are three dimensions at most",
                  option, word);
}

static bool fail_type(const char *type, size_t length, cli_error *error) {
  return cli_fail(error, CLI_USAGE,
                  "'%.*s' is no type: " VALUE_TYPE_NAMES " are",
                  length > 40 ? 40 : (int)length, type);
}

static bool find_fill(const char *word, size_t length, binding_fill *out_fill) {
  static const char *const fills[] = {
      [FILL_ZEROS] = "zeros",
      [FILL_ONES] = "ones",
      [FILL_IOTA] = "iota",
      [FILL_RAND] = "rand",
  };
  for (int i = 0; i < 4; ++i) {
    if (strlen(fills[i]) == length && memcmp(fills[i], word, length) == 0) {
      *out_fill = (binding_fill)i;
      return true;
    }
  }
  return false;
}

// Reads TYPE:COUNT[:SEED] into binding.
static bool parse_fill(const char *word, kernel_binding *binding,
                       cli_error *error) {
  const char *count_text, *seed_text = NULL;
  value_type type;
  const size_t type_length = split(word, ':', &count_text);
  if (!value_type_by_name(word, type_length, &type)) {
    return fail_type(word, type_length, error);
  }
  if (count_text == NULL) {
    return cli_fail(error, CLI_USAGE, "a count is missing: %.*s:COUNT",
                    (int)type_length, word);
  }
  uint64_t count;
  const size_t count_length = split(count_text, ':', &seed_text);
  if (!value_parse_count(count_text, count_length, UINT64_MAX, &count)) {
    return cli_fail(error, CLI_USAGE, "'%.*s' is no count of elements",
                    count_length > 40 ? 40 : (int)count_length, count_text);
  }
  if (!npy_describe(type, count, &binding->array)) {
    return cli_fail(error, CLI_USAGE,
                    "%.*s elements are more than memory can "
                    "be",
                    (int)count_length, count_text);
  }
  if (seed_text != NULL && binding->fill != FILL_RAND) {
    return cli_fail(error, CLI_USAGE, "only rand takes a seed");
  }
  return seed_text == NULL ||
         value_parse_count(seed_text, strlen(seed_text), UINT64_MAX,
                           &binding->seed) ||
         cli_fail(error, CLI_USAGE, "'%s' is no seed: a 64-bit count is",
                  seed_text);
}

// A value's place follows C's rules for structs: a multiple of its size.
static size_t align_up(size_t offset, size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Reads TYPE:V[,V...] where a later V may have a TYPE: of its own.
static bool parse_values(const char *word, kernel_binding *binding,
                         cli_error *error) {
  value_type type = VALUE_F32;
  size_t used = 0, count = 0, largest = 1;
  // A value takes at least one character and a comma, and its bytes with what
  // aligns them are 16 at most.
  binding->values = calloc(strlen(word) / 2 + 2, 16);
  if (binding->values == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  for (const char *rest = word; rest != NULL;) {
    const char *text = rest;
    size_t length = split(text, ',', &rest);
    const char *colon = memchr(text, ':', length);
    if (colon != NULL) {
      const value_type before = type;
      if (!value_type_by_name(text, (size_t)(colon - text), &type)) {
        return fail_type(text, (size_t)(colon - text), error);
      }
      binding->is_mixed |= count > 0 && type != before;
      length -= (size_t)(colon + 1 - text);
      text = colon + 1;
    } else if (count == 0) {
      return fail_type(text, length, error);
    }
    const size_t size_bytes = value_type_get_info(type)->size_bytes;
    used = align_up(used, size_bytes);
    if (!value_parse(type, text, length, binding->values + used, error)) {
      return false;
    }
    used += size_bytes;
    largest = size_bytes > largest ? size_bytes : largest;
    ++count;
  }
  binding->values_bytes = align_up(used, largest);
  return npy_describe(type, count, &binding->array);
}

static bool parse_threadgroup(const char *word, kernel_binding *binding,
                              cli_error *error) {
  return value_parse_count(word, strlen(word), UINT32_MAX,
                           &binding->threadgroup_bytes) ||
         cli_fail(error, CLI_USAGE, "'%s' is no count of bytes", word);
}

static bool parse_table(const char *word, kernel_binding *binding,
                        cli_error *error) {
  binding->functions = strdup(word);
  return binding->functions != NULL ||
         cli_fail(error, CLI_FAILED, "out of memory");
}

static bool parse_source(const char *word, kernel_binding *binding,
                         cli_error *error) {
  if (word[0] == '@') {
    binding->kind = BINDING_FILE;
    binding->path = strdup(word + 1);
    return (binding->path != NULL ||
            cli_fail(error, CLI_FAILED, "out of memory")) &&
           (word[1] != '\0' ||
            cli_fail(error, CLI_USAGE, "a file's name is missing behind @"));
  }
  const char *rest;
  const size_t length = split(word, ':', &rest);
  if (find_fill(word, length, &binding->fill)) {
    binding->kind = BINDING_FILL;
    return rest != NULL ? parse_fill(rest, binding, error)
                        : cli_fail(error, CLI_USAGE,
                                   "a type and count are missing: "
                                   "%s:TYPE:COUNT",
                                   word);
  }
  binding->kind = BINDING_VALUES;
  return parse_values(word, binding, error);
}

// Reads what is behind INDEX=.
static bool parse_rest(const char *rest, mtl_argument_kind table,
                       kernel_binding *binding, cli_error *error) {
  switch (table) {
    case MTL_ARGUMENT_THREADGROUP_MEMORY:
      binding->kind = BINDING_THREADGROUP;
      return parse_threadgroup(rest, binding, error);
    case MTL_ARGUMENT_TEXTURE:
      binding->kind = BINDING_TEXTURE;
      return texture_binding_parse(rest, binding, error);
    case MTL_ARGUMENT_SAMPLER:
      binding->kind = BINDING_SAMPLER;
      return sampler_binding_parse(rest, binding, error);
    case MTL_ARGUMENT_FUNCTION_TABLE:
      binding->kind = BINDING_TABLE;
      return parse_table(rest, binding, error);
    default: return parse_source(rest, binding, error);
  }
}

bool binding_parse(const char *word, kernel_binding *out_binding,
                   cli_error *error) {
  memset(out_binding, 0, sizeof *out_binding);
  const char *rest;
  const size_t length = split(word, '=', &rest);
  if (rest == NULL) {
    return cli_fail(error, CLI_USAGE, "'%s' is no binding INDEX=...", word);
  }
  cli_error inner = {0};
  mtl_argument_kind table;
  const bool ok =
      index_parse(word, length, &table, &out_binding->index, &inner) &&
      parse_rest(rest, table, out_binding, &inner);
  return ok || cli_fail(error, inner.exit_code, "binding %.200s: %.700s", word,
                        inner.text);
}

void binding_clear(kernel_binding *binding) {
  free(binding->values);
  free(binding->path);
  free(binding->functions);
  memset(binding, 0, sizeof *binding);
}

// splitmix64 of the element's number: the same values on every machine, and
// the first of a longer array are those of a shorter.
// Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators.
static uint64_t random_bits(uint64_t seed, uint64_t index) {
  uint64_t bits = seed * 0xd1342543de82ef95u + index * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

void binding_fill_bytes(const kernel_binding *binding, void *target) {
  const value_type type = binding->array.type;
  const size_t size_bytes = value_type_get_info(type)->size_bytes;
  unsigned char *next = target;
  if (binding->fill == FILL_ZEROS) {
    memset(target, 0, binding->array.data_bytes);
    return;
  }
  for (uint64_t i = 0; i < binding->array.element_count; ++i) {
    if (binding->fill == FILL_RAND) {
      value_from_random(type, random_bits(binding->seed, i + 1), next);
    } else {
      value_from_integer(type, binding->fill == FILL_IOTA ? i : 1, next);
    }
    next += size_bytes;
  }
}

bool constant_value_parse(const char *word, constant_value *out_value,
                          cli_error *error) {
  memset(out_value, 0, sizeof *out_value);
  const char *rest, *values;
  const size_t name_length = split(word, '=', &rest);
  if (rest == NULL || name_length == 0) {
    return cli_fail(error, CLI_USAGE, "--constant %s: INDEX=TYPE:V is needed",
                    word);
  }
  uint64_t index;
  if (value_parse_count(word, name_length, 65535, &index)) {
    out_value->index = (uint32_t)index;  // MSL: indices are 0 to 65535
  } else if (isdigit((unsigned char)word[0])) {
    return cli_fail(error, CLI_USAGE,
                    "--constant %s: the index must be at "
                    "most 65535",
                    word);
  } else {
    out_value->name = word;
    out_value->name_length = name_length;
  }
  const size_t type_length = split(rest, ':', &values);
  if (values == NULL ||
      !value_type_by_name(rest, type_length, &out_value->type)) {
    return fail_type(rest, type_length, error);
  }
  const size_t size_bytes = value_type_get_info(out_value->type)->size_bytes;
  while (values != NULL) {
    const char *text = values;
    const size_t length = split(text, ',', &values);
    if (out_value->components == 4) {
      return cli_fail(error, CLI_USAGE,
                      "--constant %s: a constant has 1 to 4 "
                      "components",
                      word);
    }
    if (!value_parse(out_value->type, text, length,
                     out_value->bytes + out_value->components * size_bytes,
                     error)) {
      return false;
    }
    ++out_value->components;
  }
  return true;
}
