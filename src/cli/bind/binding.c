// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binding.c: reads the words that bind a kernel's arguments, as far as they can
// be without the kernel; binding_resolve.c reads the rest.
#include "cli/bind/binding_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/suggest.h"
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
    case BINDING_OPEN: return binding->table;
    default: return MTL_ARGUMENT_BUFFER;
  }
}

const char *binding_table_name(mtl_argument_kind table) {
  return tables[table].name;
}

const char *binding_table_prefix(mtl_argument_kind table) {
  return tables[table].prefix;
}

// Returns the table that a word's letters name; *out_digits is what follows
// them.
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

bool index_is_one(const char *word, size_t length) {
  const char *digits;
  table_of(word, &digits);
  const size_t prefix = (size_t)(digits - word);
  return prefix < length && strspn(digits, "0123456789") >= length - prefix;
}

bool name_is_one(const char *word, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    const unsigned char letter = (unsigned char)word[i];
    if (letter != '_' && !isalpha(letter) && letter < 0x80 &&
        (i == 0 || !isdigit(letter))) {
      return false;
    }
  }
  return length > 0;
}

bool binding_is_one(const char *word) {
  return strchr(word, '=') != NULL;
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

// Returns the part of text before letter, or all of it; *out_rest is the part
// behind letter, NULL if there is none.
static size_t split(const char *text, char letter, const char **out_rest) {
  const char *found = strchr(text, letter);
  *out_rest = found ? found + 1 : NULL;
  return found ? (size_t)(found - text) : strlen(text);
}

static const char *const fills[] = {
    [FILL_ZEROS] = "zeros",
    [FILL_ONES] = "ones",
    [FILL_IOTA] = "iota",
    [FILL_RAND] = "rand",
};

const char *binding_near_fill(const char *word, size_t length) {
  return cli_near_name(word, length, fills, 4);
}

bool binding_find_fill(const char *word, size_t length,
                       binding_fill *out_fill) {
  for (int i = 0; i < 4; ++i) {
    if (strlen(fills[i]) == length && memcmp(fills[i], word, length) == 0) {
      *out_fill = (binding_fill)i;
      return true;
    }
  }
  return false;
}

bool binding_parse_count(const char *word, kernel_binding *binding,
                         uint64_t *out_count, cli_error *error) {
  const char *seed_text = NULL;
  const size_t length = split(word, ':', &seed_text);
  if (!value_parse_count(word, length, UINT64_MAX, out_count)) {
    return cli_fail(error, CLI_USAGE, "'%.*s' is no count of elements",
                    length > 40 ? 40 : (int)length, word);
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

// Reads TYPE:COUNT[:SEED] into binding.
static bool parse_fill(const char *word, kernel_binding *binding,
                       cli_error *error) {
  const char *count_text;
  value_type type;
  const size_t type_length = split(word, ':', &count_text);
  if (!value_type_by_name(word, type_length, &type)) {
    return value_fail_type(word, type_length, error);
  }
  if (count_text == NULL) {
    return cli_fail(error, CLI_USAGE, "a count is missing: %.*s:COUNT",
                    (int)type_length, word);
  }
  uint64_t count;
  return binding_parse_count(count_text, binding, &count, error) &&
         (npy_describe(type, count, &binding->array) ||
          cli_fail(error, CLI_USAGE,
                   "%llu elements are more than memory can be",
                   (unsigned long long)count));
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
        return value_fail_type(text, (size_t)(colon - text), error);
      }
      binding->is_mixed |= count > 0 && type != before;
      length -= (size_t)(colon + 1 - text);
      text = colon + 1;
    } else if (count == 0) {
      return value_fail_type(text, length, error);
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

static bool parse_path(const char *word, kernel_binding *binding,
                       cli_error *error) {
  binding->kind = BINDING_FILE;
  binding->path_name = strdup(word);
  return (binding->path_name != NULL ||
          cli_fail(error, CLI_FAILED, "out of memory")) &&
         (word[0] != '\0' ||
          cli_fail(error, CLI_USAGE, "a file's name is missing behind @"));
}

bool binding_parse_typed(const char *word, kernel_binding *binding,
                         bool *out_is_typed, cli_error *error) {
  *out_is_typed = true;
  if (word[0] == '@') {
    return parse_path(word + 1, binding, error);
  }
  const char *rest;
  const size_t length = split(word, ':', &rest);
  if (binding_find_fill(word, length, &binding->fill)) {
    // A type is a word; a count begins with a digit, well or badly.
    const bool is_word = rest != NULL && isalpha((unsigned char)rest[0]) &&
                         strchr(rest, ':') != NULL;
    const size_t type_length = rest ? strcspn(rest, ":") : 0;
    value_type type;
    *out_is_typed =
        is_word || value_type_by_name(rest ? rest : "", type_length, &type);
    binding->kind = *out_is_typed ? BINDING_FILL : BINDING_OPEN;
    return !*out_is_typed || parse_fill(rest, binding, error);
  }
  value_type type;
  *out_is_typed = rest != NULL && value_type_by_name(word, length, &type);
  binding->kind = *out_is_typed ? BINDING_VALUES : BINDING_OPEN;
  return !*out_is_typed || parse_values(word, binding, error);
}

// Reads the text behind INDEX=.
bool binding_parse_resource(const char *rest, mtl_argument_kind table,
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
    default: break;
  }
  bool is_typed;
  return binding_parse_typed(rest, binding, &is_typed, error);
}

bool binding_fail(const kernel_binding *binding, const cli_error *inner,
                  cli_error *error) {
  return cli_fail(error, inner->exit_code, "binding %.200s: %.700s",
                  binding->word, inner->text);
}

// Reads NAME, NAME.PATH or NAME[PATH.
static bool parse_name(const char *word, size_t length, kernel_binding *binding,
                       cli_error *error) {
  size_t name_length = 0;
  while (name_length < length && word[name_length] != '.' &&
         word[name_length] != '[') {
    ++name_length;
  }
  if (length == 0) {
    return cli_fail(error, CLI_USAGE,
                    "NAME=VALUE is one word, without blanks around =");
  }
  if (!name_is_one(word, name_length)) {
    return cli_fail(error, CLI_USAGE,
                    "'%.*s' is no argument's name and no index",
                    length > 40 ? 40 : (int)length, word);
  }
  binding->name = word;
  binding->name_length = name_length;
  binding->path = word + name_length;
  binding->path_length = length - name_length;
  binding->kind = BINDING_OPEN;
  return true;
}

bool binding_parse(const char *word, kernel_binding *out_binding,
                   cli_error *error) {
  memset(out_binding, 0, sizeof *out_binding);
  out_binding->word = word;
  const char *rest;
  const size_t length = split(word, '=', &rest);
  if (rest == NULL) {
    return cli_fail(error, CLI_USAGE, "'%s' is no binding NAME=...", word);
  }
  out_binding->text = rest;
  cli_error inner = {0};
  const bool is_index =
      index_is_one(word, length) || isdigit((unsigned char)word[0]);
  const bool ok = is_index
                      ? index_parse(word, length, &out_binding->table,
                                    &out_binding->index, &inner) &&
                            binding_parse_resource(rest, out_binding->table,
                                                   out_binding, &inner)
                      : parse_name(word, length, out_binding, &inner);
  return ok || binding_fail(out_binding, &inner, error);
}

void binding_clear(kernel_binding *binding) {
  free(binding->values);
  free(binding->path_name);
  element_values_clear(&binding->elements);
  free(binding->functions);
  memset(binding, 0, sizeof *binding);
}

// splitmix64 of the element's number: the same values on every machine, and
// the first of a longer array are those of a shorter.
// Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators.
uint64_t binding_random_bits(uint64_t seed, uint64_t index) {
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
      value_from_random(type, binding_random_bits(binding->seed, i + 1), next);
    } else {
      value_from_integer(type, binding->fill == FILL_IOTA ? i : 1, next);
    }
    next += size_bytes;
  }
}

// Reads V[,V...] as components of value's type.
static bool read_components(const char *word, const char *values,
                            constant_value *value, cli_error *error) {
  const size_t size_bytes = value_type_get_info(value->type)->size_bytes;
  while (values != NULL) {
    const char *text = values;
    const size_t length = split(text, ',', &values);
    if (value->components == 4) {
      return cli_fail(error, CLI_USAGE,
                      "--constant %s: a constant has 1 to 4 components", word);
    }
    if (!value_parse(value->type, text, length,
                     value->bytes + value->components * size_bytes, error)) {
      return false;
    }
    ++value->components;
  }
  return true;
}

bool constant_value_parse(const char *word, constant_value *out_value,
                          cli_error *error) {
  memset(out_value, 0, sizeof *out_value);
  const char *rest, *values;
  const size_t name_length = split(word, '=', &rest);
  if (rest == NULL || name_length == 0) {
    return cli_fail(error, CLI_USAGE,
                    "--constant %s: NAME=VALUE or INDEX=TYPE:V is needed",
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
  if (values == NULL) {
    out_value->text = rest;  // the constant's own type
    return true;
  }
  if (!value_type_by_name(rest, type_length, &out_value->type)) {
    return value_fail_type(rest, type_length, error);
  }
  return read_components(word, values, out_value, error);
}

bool constant_value_resolve(constant_value *value,
                            const mtl_constant_info *info, cli_error *error) {
  if (value->text == NULL) {
    return true;
  }
  const char *text = value->text;
  value->text = NULL;
  value->type = value_type_of(info->type);
  cli_error inner = {0};
  if (!read_components(info->name, text, value, &inner)) {
    return cli_fail(error, inner.exit_code, "--constant %s: %.700s", info->name,
                    inner.text);
  }
  return value->components == info->components ||
         cli_fail(error, CLI_USAGE,
                  "--constant %s: it has %u components, %u given", info->name,
                  info->components, value->components);
}
