// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binding_resolve.c: reads bindings that say no type, once it is known from
// the kernel's argument: NAME=0.5, NAME=zeros:1000, NAME.size=640,480.
#include <stdlib.h>
#include <string.h>

#include "cli/bind/binding_parts.h"

// Returns the type of an element's scalars, NULL for a struct; the sides of its
// arrays go to array's shape.
static const mtl_member *describe_sides(const mtl_member *element,
                                        npy_array *array) {
  for (;; element = &element->members[0]) {
    if (element->array_length != 1) {
      array->shape[array->dimension_count++] = element->array_length;
    }
    if (!element_is_array(element)) {
      return element->type == MTL_TYPE_NONE ? NULL : element;
    }
  }
}

// Returns the scalars that the bytes of an element are; those of a struct are
// bytes.
static value_type scalar_type(const mtl_member *element) {
  while (element_is_array(element)) {
    element = &element->members[0];
  }
  return element->type == MTL_TYPE_NONE ? VALUE_U8
                                        : value_type_of(element->type);
}

// Describes count elements as an array for NumPy: (count), then the sides of an
// element from the slowest on. A struct is an element of bytes.
static bool describe(kernel_binding *binding, uint64_t count,
                     cli_error *error) {
  const mtl_member *element = &binding->element;
  npy_array *array = &binding->array;
  const value_type type = scalar_type(element);
  const uint32_t scalar_bytes = value_type_get_info(type)->size_bytes;
  uint64_t scalars;
  if (__builtin_mul_overflow((uint64_t)element->size_bytes / scalar_bytes,
                             element->array_length, &scalars) ||
      __builtin_mul_overflow(scalars, count, &scalars) ||
      !npy_describe(type, scalars, array)) {
    return cli_fail(error, CLI_USAGE,
                    "%llu elements are more than memory can be",
                    (unsigned long long)count);
  }
  array->shape[0] = count;
  const mtl_member *inner = describe_sides(element, array);
  if (inner == NULL) {
    return true;
  }
  if (inner->columns > 1) {
    array->shape[array->dimension_count++] = inner->columns;
  }
  if (inner->components > 1) {
    array->shape[array->dimension_count++] =
        inner->size_bytes / inner->columns / scalar_bytes;
  }
  return true;
}

// True if an element has no room but for its scalars, all of one type.
static bool is_dense(const mtl_member *element) {
  while (element_is_array(element)) {
    element = &element->members[0];
  }
  return element->type != MTL_TYPE_NONE &&
         (uint64_t)element->size_bytes ==
             (uint64_t)element->components * element->columns *
                 value_type_get_info(value_type_of(element->type))->size_bytes;
}

static bool is_scalar(const mtl_member *element) {
  return element->type != MTL_TYPE_NONE && element->components == 1 &&
         element->columns == 1 && element->array_length == 1;
}

typedef struct fill_state {
  const kernel_binding *binding;
  uint64_t index;
} fill_state;

static void fill_scalar(void *context, value_type type, size_t offset_bytes) {
  fill_state *state = context;
  const kernel_binding *binding = state->binding;
  unsigned char *target = binding->elements.bytes + offset_bytes;
  ++state->index;
  if (binding->fill == FILL_RAND) {
    value_from_random(type, binding_random_bits(binding->seed, state->index),
                      target);
  } else {
    value_from_integer(type, binding->fill == FILL_IOTA ? state->index - 1 : 1,
                       target);
  }
}

// Makes a fill's elements, so that parts of them can be set.
static bool make_elements(kernel_binding *binding, uint64_t count,
                          cli_error *error) {
  binding->kind = BINDING_ELEMENTS;
  if (!element_values_grow(&binding->elements, &binding->element, count,
                           error)) {
    return false;
  }
  fill_state state = {binding, 0};
  if (binding->fill != FILL_ZEROS) {
    element_each_scalar(&binding->element, count, fill_scalar, &state);
  }
  return true;
}

static uint64_t element_bytes(const mtl_member *element) {
  return (uint64_t)element->size_bytes * element->array_length;
}

// "zeros:COUNT" and the like; a reference is one element without a count.
static bool read_fill(const char *rest, bool is_one, kernel_binding *binding,
                      cli_error *error) {
  uint64_t count = 1;
  if (rest == NULL && !is_one) {
    return cli_fail(error, CLI_USAGE, "a count is missing: %.*s:COUNT",
                    (int)strcspn(binding->text, ":"), binding->text);
  }
  if (rest != NULL && !binding_parse_count(rest, binding, &count, error)) {
    return false;
  }
  if (is_one && count != 1) {
    return cli_fail(error, CLI_USAGE, "the argument is one %.80s, not %llu",
                    binding->element.type_name, (unsigned long long)count);
  }
  if (binding->fill == FILL_ZEROS || is_dense(&binding->element)) {
    binding->kind = BINDING_FILL;
    return describe(binding, count, error);
  }
  return make_elements(binding, count, error);
}

static bool is_member(const mtl_member *element, const char *name,
                      size_t length) {
  for (uint32_t i = 0; i < element->member_count; ++i) {
    if (strlen(element->members[i].name) == length &&
        memcmp(element->members[i].name, name, length) == 0) {
      return true;
    }
  }
  return false;
}

static bool fail_unknown(const mtl_argument *argument, cli_error *error) {
  return cli_fail(error, CLI_USAGE,
                  "'%.80s' points at %.80s, of which no values can be made: "
                  "TYPE:V,... or @file.npy give its bytes",
                  argument->name, argument->type_name);
}

// A word where a number is wanted: a type or a fill, mistyped.
static bool fail_word(const char *text, size_t length, cli_error *error) {
  const char *fill = binding_near_fill(text, length);
  return fill != NULL ? cli_fail(error, CLI_USAGE,
                                 "'%.*s' is no value; did you mean "
                                 "'%s:'?",
                                 length > 40 ? 40 : (int)length, text, fill)
                      : value_fail_type(text, length, error);
}

// Reads values of the argument's own type into target.
static bool read_values(const kernel_binding *binding,
                        const mtl_argument *argument, const mtl_member *element,
                        element_values *target, cli_error *error) {
  if (!element_is_known(element)) {
    return fail_unknown(argument, error);
  }
  if (binding->path_length > 0) {
    return element_read_part(element, argument->is_reference, binding->path,
                             binding->path_length, binding->text, target,
                             error);
  }
  const size_t length = strcspn(binding->text, ":");
  if (binding->text[length] == ':' && element->member_count == 0 &&
      name_is_one(binding->text, length)) {
    return fail_word(binding->text, length, error);
  }
  const char *end = strrchr(binding->text, '.');
  if (end != NULL && (strcmp(end, ".npy") == 0 || strcmp(end, ".png") == 0)) {
    return cli_fail(error, CLI_USAGE,
                    "a file's name begins with @; did you mean '@%.100s'?",
                    binding->text);
  }
  return element_read(element, argument->is_reference, binding->text, target,
                      error);
}

// A FILL of elements becomes the elements themselves.
static bool open_elements(kernel_binding *earlier, cli_error *error) {
  const uint64_t size_bytes = element_bytes(&earlier->element);
  if (earlier->kind != BINDING_FILL || size_bytes == 0) {
    return earlier->kind == BINDING_ELEMENTS ||
           cli_fail(error, CLI_USAGE,
                    "buffer %u is bound twice, and %.80s is no list of values "
                    "in which a part could be set",
                    earlier->index, earlier->text);
  }
  return make_elements(earlier, earlier->array.data_bytes / size_bytes, error);
}

static bool add_to_earlier(const kernel_binding *binding,
                           const mtl_argument *argument,
                           const mtl_member *element, kernel_binding *earlier,
                           cli_error *error) {
  const char *text = binding->text;
  const size_t length = strcspn(text, ":=");
  const bool is_named =
      text[length] != '\0' && is_member(element, text, length);
  if (binding->path_length == 0 && !is_named &&
      (earlier->kind != BINDING_ELEMENTS || element->member_count == 0)) {
    return cli_fail(error, CLI_USAGE, "%s %u is bound twice",
                    binding_table_name(argument->kind), earlier->index);
  }
  return open_elements(earlier, error) &&
         read_values(binding, argument, element, &earlier->elements, error);
}

static bool resolve_buffer(kernel_binding *binding,
                           const mtl_argument *argument,
                           kernel_binding *earlier, cli_error *error) {
  const mtl_member element = element_of_argument(argument);
  if (earlier != NULL) {
    return add_to_earlier(binding, argument, &element, earlier, error);
  }
  const char *text = binding->text;
  const size_t length = strcspn(text, ":");
  const bool is_fill = binding->path_length == 0 &&
                       binding_find_fill(text, length, &binding->fill);
  if (binding->path_length == 0 && !is_member(&element, text, length)) {
    bool is_typed;
    const bool ok = binding_parse_typed(text, binding, &is_typed, error);
    if (!ok || is_typed) {
      return ok;
    }
  }
  binding->element = element;
  if (is_fill && !element_is_known(&element)) {
    return fail_unknown(argument, error);
  }
  if (is_fill) {
    return read_fill(text[length] == ':' ? text + length + 1 : NULL,
                     argument->is_reference, binding, error);
  }
  binding->kind = BINDING_ELEMENTS;
  return read_values(binding, argument, &element, &binding->elements, error);
}

// "textures[2]" is the third of an array of them.
static bool resolve_place(kernel_binding *binding, const mtl_argument *argument,
                          cli_error *error) {
  binding->table = argument->kind;
  binding->index = argument->index;
  if (binding->path_length == 0 || argument->kind == MTL_ARGUMENT_BUFFER) {
    return true;
  }
  uint64_t number;
  const char *path = binding->path;
  if (path[0] != '[' || path[binding->path_length - 1] != ']' ||
      !value_parse_count(path + 1, binding->path_length - 2, UINT32_MAX,
                         &number) ||
      number >= argument->array_length) {
    return cli_fail(
        error, CLI_USAGE,
        argument->array_length > 1 ? "'%.*s': [0] to [%u] are its parts"
                                   : "'%.*s': it has no parts",
        (int)binding->path_length, path, argument->array_length - 1);
  }
  binding->index += (uint32_t)number;
  return true;
}

bool binding_place(kernel_binding *binding, const mtl_argument *argument,
                   cli_error *error) {
  cli_error inner = {0};
  return resolve_place(binding, argument, &inner) ||
         binding_fail(binding, &inner, error);
}

bool binding_resolve(kernel_binding *binding, const mtl_argument *argument,
                     kernel_binding *earlier, cli_error *error) {
  cli_error inner = {0};
  bool ok;
  if (argument->kind == MTL_ARGUMENT_BUFFER) {
    ok = resolve_buffer(binding, argument, earlier, &inner);
  } else {
    ok = earlier == NULL
             ? binding_parse_resource(binding->text, argument->kind, binding,
                                      &inner)
             : cli_fail(&inner, CLI_USAGE, "%s %u is bound twice",
                        binding_table_name(argument->kind), earlier->index);
  }
  return ok || binding_fail(binding, &inner, error);
}

bool binding_finish(kernel_binding *binding, cli_error *error) {
  if (binding->kind == BINDING_ELEMENTS) {
    const uint64_t size_bytes = element_bytes(&binding->element);
    binding->kind = BINDING_VALUES;
    binding->values = binding->elements.bytes;
    binding->values_bytes = binding->elements.size_bytes;
    free(binding->elements.given);
    memset(&binding->elements, 0, sizeof binding->elements);
    if (!describe(binding, binding->values_bytes / size_bytes, error)) {
      return false;
    }
  }
  if (is_scalar(&binding->element)) {
    binding->element.size_bytes = 0;  // its array says as much
  }
  return true;
}
