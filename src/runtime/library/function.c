// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function.c: one kernel of a library with its constants fixed.
#include <stdlib.h>
#include <string.h>

#include "runtime/library/metallib.h"
#include "runtime/objects.h"

enum { NEAR_NAMES = 3, NAME_LIMIT = 256 };

static void function_free(mtl_function *function) {
  free(function->values);
  free(function->arguments);
  free(function);
}

static void function_destroy(mtli_object *object) {
  mtl_function *function = (mtl_function *)object;
  mtl_library *library = function->library;
  library->device->driver->function_destroy(function);
  function_free(function);
  mtl_library_release(library);  // -1
}

// Counts the insertions, deletions and replacements between two names
// (Levenshtein's distance, one row at a time).
static size_t edit_distance(const char *a, const char *b) {
  size_t row[NAME_LIMIT + 1];
  const size_t b_length = strnlen(b, NAME_LIMIT);
  for (size_t j = 0; j <= b_length; j++) {
    row[j] = j;
  }
  for (size_t i = 0; a[i] && i < NAME_LIMIT; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b_length; j++) {
      const size_t above = row[j + 1];
      const size_t replaced = diagonal + (a[i] != b[j]);
      const size_t best = above < row[j] ? above + 1 : row[j] + 1;
      row[j + 1] = replaced < best ? replaced : best;
      diagonal = above;
    }
  }
  return row[b_length];
}

// Fails if name is a function of another stage than compute.
static mtl_status check_stage(const mtli_code *code, const char *name) {
  const char *line = code->other_functions;
  while (line && *line) {
    const size_t stage = strcspn(line, " \n");
    const size_t end = strcspn(line, "\n");
    if (end > stage && strlen(name) == end - stage - 1 &&
        memcmp(line + stage + 1, name, end - stage - 1) == 0) {
      return mtli_fail(MTL_UNSUPPORTED,
                       "'%s' is a function of the stage '%.*s'; only kernels "
                       "and visible functions run here",
                       name, (int)stage, line);
    }
    line += end + (line[end] == '\n');
  }
  return MTL_OK;
}

static mtl_status fail_not_found(const mtli_code *code, const char *name) {
  MTL_TRY(check_stage(code, name));
  const char *names[NEAR_NAMES] = {"", "", ""};
  size_t distances[NEAR_NAMES] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  for (size_t i = 0; i < code->kernel_count; i++) {
    const char *other = code->kernels[i].name;
    const size_t distance = edit_distance(name, other);
    size_t at = NEAR_NAMES;
    while (at > 0 && distance < distances[at - 1]) {
      at--;
      if (at + 1 < NEAR_NAMES) {
        names[at + 1] = names[at];
        distances[at + 1] = distances[at];
      }
    }
    if (at < NEAR_NAMES) {
      names[at] = other;
      distances[at] = distance;
    }
  }
  if (code->kernel_count == 0) {
    return mtli_fail(MTL_NOT_FOUND, "no function '%s': the library has none",
                     name);
  }
  return mtli_fail(MTL_NOT_FOUND,
                   "no function '%s' among the library's %zu; the nearest: "
                   "%s%s%s%s%s",
                   name, code->kernel_count, names[0], *names[1] ? ", " : "",
                   names[1], *names[2] ? ", " : "", names[2]);
}

// An argument that a constant enables requires that constant's value.
static mtl_status check_enabling(const mtl_function *function) {
  const mtli_code *code = function->library->compiled.code;
  for (size_t i = 0; i < function->kernel->parameter_count; i++) {
    const mtli_parameter *parameter = &function->kernel->parameters[i];
    const int32_t position = parameter->enabling_constant;
    if (position >= 0 && !function->values[position].is_set &&
        code->constants[position].info.required) {
      const mtl_constant_info *info = &code->constants[position].info;
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "function '%s' needs function constant '%s' (index %u) "
                       "for its argument '%s'",
                       function->kernel->name, info->name, info->index,
                       parameter->argument.name);
    }
  }
  return MTL_OK;
}

mtl_status mtli_function_describe(mtl_function *function) {
  const mtli_kernel *kernel = function->kernel;
  function->arguments =
      calloc(kernel->parameter_count + 1, sizeof *function->arguments);
  if (!function->arguments) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for function '%s'",
                     kernel->name);
  }
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    const mtli_parameter *parameter = &kernel->parameters[i];
    if (parameter->builtin != MTLI_BUILTIN_NONE) {
      continue;
    }
    mtl_argument *argument = &function->arguments[function->argument_count++];
    *argument = parameter->argument;
    argument->is_active = mtli_parameter_is_active(
        parameter, function->library->compiled.code, function->values);
  }
  return MTL_OK;
}

void mtli_function_has_no_part(mtl_function *function) {
  (void)function;
}

mtl_status mtl_function_create(mtl_library *library, const char *name,
                               const mtl_constant_values *constants,
                               mtl_function **out_function) {
  if (!library || !name || !out_function) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_function_create: %s is NULL",
                     !library ? "library"
                     : !name  ? "name"
                              : "out_function");
  }
  *out_function = NULL;
  const mtli_code *code = library->compiled.code;
  const mtli_kernel *kernel = mtli_code_find_kernel(code, name);
  if (!kernel) {
    return fail_not_found(code, name);
  }
  if (library->metallib) {
    const size_t index = (size_t)(kernel - code->kernels);
    MTL_TRY(mtli_metallib_part(library, index, &library));
    code = library->compiled.code;
    kernel = code->kernels;  // the only one
  }
  const mtli_driver *driver = library->device->driver;
  mtl_function *function = calloc(1, driver->function_bytes);
  if (!function) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for function '%s'", name);
  }
  mtli_object_init(&function->object, function_destroy);
  function->library = library;
  function->kernel = kernel;
  function->values = calloc(code->constant_count + 1, sizeof *function->values);
  mtl_status status =
      function->values
          ? mtli_constants_resolve(code, constants, function->values)
          : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for function '%s'", name);
  if (status == MTL_OK) {
    status = check_enabling(function);
  }
  if (status == MTL_OK) {
    status = driver->function_describe(function);
  }
  if (status != MTL_OK) {
    function_free(function);
    return status;
  }
  mtl_library_retain(library);  // +1
  *out_function = function;
  return MTL_OK;
}

mtl_function *mtl_function_retain(mtl_function *function) {
  if (function) {
    mtli_object_retain(&function->object);
  }
  return function;
}

void mtl_function_release(mtl_function *function) {
  if (function) {
    mtli_object_release(&function->object);
  }
}

const char *mtl_function_name(const mtl_function *function) {
  return function->kernel->name;
}

bool mtl_function_is_visible(const mtl_function *function) {
  return function->kernel->is_visible;
}

const mtl_argument *mtl_function_arguments(const mtl_function *function,
                                           size_t *out_count) {
  if (out_count) {
    *out_count = function->argument_count;
  }
  return function->arguments;
}
