// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_buffers.c: makes buffers with the contents that bindings give.
#include "cli/run/run_buffers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bind/png.h"

const mtl_argument *run_find_argument(const run_state *state,
                                      const kernel_binding *binding) {
  for (size_t i = 0; i < state->argument_count; ++i) {
    const mtl_argument *argument = &state->arguments[i];
    const bool is_array = argument->kind == MTL_ARGUMENT_TEXTURE ||
                          argument->kind == MTL_ARGUMENT_SAMPLER ||
                          argument->kind == MTL_ARGUMENT_FUNCTION_TABLE;
    const uint32_t count = is_array ? argument->array_length : 1;
    if (argument->kind == binding_table(binding) &&
        binding->index >= argument->index &&
        binding->index - argument->index < count) {
      return argument;
    }
  }
  return NULL;
}

static bool check_argument(const run_options *options,
                           const mtl_argument *argument, cli_error *error) {
  if (!argument->is_active ||
      run_find_binding(options, argument->kind, argument->index)) {
    return true;
  }
  static const char *const whats[] = {
      [MTL_ARGUMENT_BUFFER] = "...",
      [MTL_ARGUMENT_THREADGROUP_MEMORY] = "BYTES",
      [MTL_ARGUMENT_TEXTURE] = "...",
      [MTL_ARGUMENT_SAMPLER] = "...",
      [MTL_ARGUMENT_FUNCTION_TABLE] = "FUNCTION,...",
  };
  const char *what = whats[argument->kind];
  const bool is_named = argument->name[0] != '\0';
  return cli_fail(
      error, CLI_USAGE,
      "argument '%s' of %s is not bound: %s%s%s%s%s%u=%s is missing",
      argument->name, options->kernel, argument->name, is_named ? "=" : "",
      is_named ? what : "", is_named ? " or " : "",
      binding_table_prefix(argument->kind), argument->index, what);
}

bool run_check_bindings(const run_options *options, const run_state *state,
                        cli_error *error) {
  for (size_t i = 0; i < state->argument_count; ++i) {
    if (!check_argument(options, &state->arguments[i], error)) {
      return false;
    }
  }
  for (size_t i = 0; i < options->binding_count; ++i) {
    const kernel_binding *binding = &options->bindings[i];
    if (run_find_argument(state, binding) == NULL) {
      fprintf(stderr, "mettle run: warning: %s has no %s %u\n", options->kernel,
              binding_table_name(binding_table(binding)), binding->index);
    }
  }
  return true;
}

static bool is_float_type(mtl_data_type type) {
  return type == MTL_TYPE_HALF || type == MTL_TYPE_BFLOAT ||
         type == MTL_TYPE_FLOAT;
}

// True if the argument's elements are three components padded to four.
static bool is_padded(const mtl_argument *argument) {
  return argument->components == 3 &&
         argument->size_bytes == 4 * mtl_data_type_size(argument->type);
}

// Warns of rows of three numbers for a kernel that steps by four, which is
// never meant.
static void warn_of_stride(const mtl_argument *argument,
                           const npy_array *array) {
  if (is_padded(argument) && array->dimension_count > 1 &&
      array->shape[array->dimension_count - 1] == 3) {
    fprintf(stderr,
            "mettle run: warning: buffer %u ('%s'): a %s takes the room of 4 "
            "elements, the array has rows of 3; packed_%s has rows of 3\n",
            argument->index, argument->name, argument->type_name,
            argument->type_name);
  }
}

// Warns of bytes of another size or kind than the kernel's, which are legal and
// seldom meant.
static void warn_of_type(const mtl_argument *argument,
                         const kernel_binding *binding) {
  const value_type_info *info = value_type_get_info(binding->array.type);
  const bool is_bits_of_bfloat =
      argument->type == MTL_TYPE_BFLOAT && binding->array.type == VALUE_U16;
  if (argument->type == MTL_TYPE_NONE || binding->is_mixed ||
      is_bits_of_bfloat || mtl_data_type_size(argument->type) == 1) {
    return;
  }
  if (mtl_data_type_size(argument->type) != info->size_bytes ||
      is_float_type(argument->type) != info->is_float) {
    fprintf(stderr,
            "mettle run: warning: buffer %u ('%s') is of type %s, %s was "
            "bound\n",
            argument->index, argument->name, argument->type_name, info->name);
  }
}

static bool is_written(const mtl_argument *argument) {
  return argument != NULL && argument->access != MTL_ACCESS_READ_ONLY;
}

static bool create_buffer(const run_state *state, const char *label,
                          size_t length_bytes,
                          mtl_buffer **out_buffer, cli_error *error) {
  const mtl_buffer_desc desc = {
      // An array may be empty, a buffer not.
      .length_bytes = length_bytes > 0 ? length_bytes : 16,
      .label = label,
  };
  const mtl_status status =
      mtl_buffer_create(state->program.device, &desc, out_buffer);
  return status == MTL_OK || cli_fail_status(error, status, label);
}

// Takes structs for an argument of structs of the same size.
static bool take_structs(kernel_binding *binding, const mtl_argument *argument,
                         cli_error *error) {
  const uint32_t struct_bytes = binding->array.struct_bytes;
  mtl_member element = {0};
  if (argument != NULL) {
    element = element_of_argument(argument);
  }
  if (!element_is_struct(&element) || element.array_length != 1 ||
      element.size_bytes != struct_bytes) {
    return cli_fail(error, CLI_FAILED,
                    "%s: a structured type of %u bytes for argument '%s', "
                    "which is a %s of %u",
                    binding->path_name, struct_bytes,
                    argument ? argument->name : "",
                    argument ? argument->type_name : "",
                    argument ? argument->size_bytes : 0);
  }
  binding->element = element;
  return true;
}

static bool make_from_file(const run_state *state, kernel_binding *binding,
                           const char *label,
                           mtl_buffer **out_buffer, cli_error *error) {
  FILE *file;
  if (png_is_one(binding->path_name)) {
    return cli_fail(error, CLI_FAILED,
                    "%s: a PNG file makes a texture, and this is a buffer: "
                    ".npy files make buffers",
                    binding->path_name);
  }
  if (!npy_open(binding->path_name, &binding->array, &file, error)) {
    return false;
  }
  const bool ok =
      (binding->array.struct_bytes == 0 ||
       take_structs(binding, run_find_argument(state, binding), error)) &&
      create_buffer(state, label, binding->array.data_bytes,
                    out_buffer, error) &&
      npy_read_data(binding->path_name, file, &binding->array,
                    mtl_buffer_contents(*out_buffer), error);
  fclose(file);
  return ok;
}

// Makes the buffer of one binding, NULL if it is for no buffer. A few values
// have one as well, which begins with a page: behind them run_ends.c looks.
static bool make_buffer(const run_state *state, kernel_binding *binding,
                        mtl_buffer **out_buffer, cli_error *error) {
  const mtl_argument *argument = run_find_argument(state, binding);
  char label[96];
  snprintf(label, sizeof label, "buffer %u%s%.64s", binding->index,
           argument ? " " : "", argument ? argument->name : "");
  switch (binding->kind) {
    case BINDING_THREADGROUP:
    case BINDING_TEXTURE:
    case BINDING_SAMPLER:
    case BINDING_TABLE: return true;
    case BINDING_FILE:
      return make_from_file(state, binding, label, out_buffer, error);
    case BINDING_FILL:
      if (!create_buffer(state, label, binding->array.data_bytes,
                         out_buffer, error)) {
        return false;
      }
      binding_fill_bytes(binding, mtl_buffer_contents(*out_buffer));
      return true;
    default: break;
  }
  if (argument != NULL && is_padded(argument) && !binding->is_mixed &&
      binding->array.element_count == 3) {
    // A float3 is written as three values; behind them are zeros.
    binding->values_bytes = argument->size_bytes;
  }
  if (!create_buffer(state, label, binding->values_bytes, out_buffer,
                     error)) {
    return false;
  }
  memcpy(mtl_buffer_contents(*out_buffer), binding->values,
         binding->values_bytes);
  return true;
}

// Keeps a copy of the buffers that the kernel will overwrite, for the runs
// after the first.
static bool keep_contents(const run_state *state, size_t number,
                          cli_error *error) {
  const mtl_buffer *buffer = state->buffers[number];
  const size_t length_bytes = mtl_buffer_length(buffer);
  state->first_contents[number] = malloc(length_bytes);
  if (state->first_contents[number] == NULL) {
    return cli_fail(error, CLI_FAILED,
                    "out of memory: --repeat needs %zu bytes more",
                    length_bytes);
  }
  memcpy(state->first_contents[number], mtl_buffer_contents(buffer),
         length_bytes);
  return true;
}

bool run_make_buffers(run_options *options, run_state *state,
                      cli_error *error) {
  const size_t count = options->binding_count;
  state->buffers = calloc(count + 1, sizeof(mtl_buffer *));
  state->first_contents = calloc(count + 1, sizeof(void *));
  state->result.contents = calloc(count + 1, sizeof(void *));
  if (state->buffers == NULL || state->first_contents == NULL ||
      state->result.contents == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  for (size_t i = 0; i < count; ++i) {
    kernel_binding *binding = &options->bindings[i];
    const mtl_argument *argument = run_find_argument(state, binding);
    if (!make_buffer(state, binding, &state->buffers[i], error)) {
      return false;
    }
    if (argument != NULL && argument->kind == MTL_ARGUMENT_BUFFER) {
      warn_of_type(argument, binding);
      warn_of_stride(argument, &binding->array);
    }
    if (options->repeat > 1 && state->buffers[i] != NULL &&
        is_written(argument) && !keep_contents(state, i, error)) {
      return false;
    }
  }
  return true;
}

mtl_status run_restore_buffers(const run_options *options,
                               const run_state *state) {
  for (size_t i = 0; i < options->binding_count; ++i) {
    mtl_buffer *buffer = state->buffers[i];
    if (state->first_contents[i] == NULL) {
      continue;
    }
    const size_t length_bytes = mtl_buffer_length(buffer);
    memcpy(mtl_buffer_contents(buffer), state->first_contents[i], length_bytes);
    const mtl_status status =
        mtl_buffer_did_modify_range(buffer, 0, length_bytes);
    if (status != MTL_OK) {
      return status;
    }
  }
  return MTL_OK;
}

void run_collect_contents(const run_options *options, run_state *state) {
  for (size_t i = 0; i < options->binding_count; ++i) {
    if (state->buffers[i] != NULL) {
      state->result.contents[i] = mtl_buffer_contents(state->buffers[i]);
    }
  }
}

void run_release_buffers(run_state *state, size_t binding_count) {
  for (size_t i = 0; i < binding_count; ++i) {
    if (state->buffers != NULL) {
      mtl_buffer_release(state->buffers[i]);
    }
    if (state->first_contents != NULL) {
      free(state->first_contents[i]);
    }
  }
  free(state->buffers);
  free(state->first_contents);
  free(state->result.contents);
}
