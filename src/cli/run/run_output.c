// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_output.c: saves and prints the results of `mettle run`.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/json.h"
#include "cli/bind/png.h"
#include "cli/run/run.h"

static uint64_t least_ns(const run_result *result) {
  return result->times_ns[0];
}

// Returns the middle of the rising times, or between the two in the middle.
static uint64_t median_ns(const run_options *options,
                          const run_result *result) {
  const uint32_t middle = options->repeat / 2;
  if (options->repeat % 2 == 1) {
    return result->times_ns[middle];
  }
  const uint64_t low = result->times_ns[middle - 1];
  return low + (result->times_ns[middle] - low) / 2;
}

static void print_elements(const run_options *options, const run_result *result,
                           const run_output *output, const char *separator) {
  const kernel_binding *binding =
      run_find_binding(options, output->table, output->index);
  const unsigned char *bytes = result->contents[binding - options->bindings];
  const npy_array *array = &binding->array;
  const mtl_member *element = &binding->element;
  const bool is_typed = element->size_bytes > 0;
  const uint64_t size_bytes =
      is_typed ? (uint64_t)element->size_bytes * element->array_length
               : value_type_get_info(array->type)->size_bytes;
  uint64_t count = array->data_bytes / size_bytes;
  if (output->has_count && output->count < count) {
    count = output->count;
  }
  for (uint64_t i = 0; i < count; ++i) {
    fputs(i == 0 ? "" : separator, stdout);
    if (is_typed) {
      element_print(stdout, element, bytes + i * size_bytes, options->json);
    } else {
      element_print_scalar(stdout, array->type, bytes + i * size_bytes,
                           options->json);
    }
  }
}

static void print_text(const run_options *options, const run_result *result) {
  for (size_t i = 0; i < options->output_count; ++i) {
    const run_output *output = &options->outputs[i];
    if (output->path == NULL) {
      printf("%.*s: ", (int)output->what_length, output->what);
      print_elements(options, result, output, " ");
      putchar('\n');
    }
  }
  // Times are for people here: scripts ask for --json.
  if (options->repeat > 1 || isatty(STDERR_FILENO)) {
    fflush(stdout);
    fprintf(stderr,
            "%s: grid %u,%u,%u in groups of %u,%u,%u on %s: %.3f us at best, "
            "%.3f us in the median of %u\n",
            options->kernel, options->grid[0], options->grid[1],
            options->grid[2], result->group[0], result->group[1],
            result->group[2], result->device_name,
            (double)least_ns(result) * 1e-3,
            (double)median_ns(options, result) * 1e-3, options->repeat);
  }
}

// A JSON object's keys must be unique.
static bool is_printed_before(const run_options *options, size_t number) {
  const run_output *const output = &options->outputs[number];
  for (size_t i = 0; i < number; ++i) {
    const run_output *const earlier = &options->outputs[i];
    if (earlier->path == NULL && earlier->what_length == output->what_length &&
        memcmp(earlier->what, output->what, output->what_length) == 0) {
      return true;
    }
  }
  return false;
}

// "print": {"NAME": [...]}, only if something is to be printed.
static void print_json_buffers(const run_options *options,
                               const run_result *result) {
  bool first = true;
  for (size_t i = 0; i < options->output_count; ++i) {
    const run_output *output = &options->outputs[i];
    if (output->path != NULL || is_printed_before(options, i)) {
      continue;
    }
    printf("%s\"%.*s\": [", first ? ", \"print\": {" : ", ",
           (int)output->what_length, output->what);
    print_elements(options, result, output, ", ");
    putchar(']');
    first = false;
  }
  fputs(first ? "" : "}", stdout);
}

static void print_json(const run_options *options, const run_result *result) {
  fputs("{\"kernel\": ", stdout);
  json_write_text(stdout, options->kernel);
  fputs(", \"device\": ", stdout);
  json_write_text(stdout, result->device_name);
  fputs(", \"grid\": ", stdout);
  json_write_size(stdout, options->grid);
  fputs(", \"group\": ", stdout);
  json_write_size(stdout, result->group);
  printf(", \"time_ns\": {\"min\": %" PRIu64 ", \"median\": %" PRIu64
         ", \"runs\": %u}",
         least_ns(result), median_ns(options, result), options->repeat);
  print_json_buffers(options, result);
  puts("}");
}

static bool save_picture(const kernel_binding *binding, const char *path,
                         const void *texels, cli_error *error) {
  const npy_array *array = &binding->array;
  const texture_format *format = texture_format_find(binding->format);
  if (array->dimension_count != (format->components > 1 ? 3 : 2)) {
    return cli_fail(error, CLI_FAILED,
                    "%s: only textures of two sides are pictures: .npy files "
                    "hold others",
                    path);
  }
  png_picture picture;
  const bool ok = png_from_texels(path, texels, format, binding->size[0],
                                  binding->size[1], &picture, error) &&
                  png_write(path, &picture, error);
  free(picture.samples);
  return ok;
}

static bool save_structs(const kernel_binding *binding, const char *path,
                         const void *contents, cli_error *error) {
  npy_array array = binding->array;
  char *fields = element_fields(&binding->element);
  array.fields = fields;
  const bool ok = fields != NULL ? npy_write(path, &array, contents, error)
                                 : cli_fail(error, CLI_FAILED, "out of memory");
  free(fields);
  return ok;
}

static bool save(const kernel_binding *binding, const char *path,
                 const void *contents, cli_error *error) {
  if (element_is_struct(&binding->element)) {
    return save_structs(binding, path, contents, error);
  }
  return png_is_one(path) ? save_picture(binding, path, contents, error)
                          : npy_write(path, &binding->array, contents, error);
}

bool run_write_outputs(const run_options *options, const run_result *result,
                       cli_error *error) {
  for (size_t i = 0; i < options->output_count; ++i) {
    const run_output *output = &options->outputs[i];
    if (output->path == NULL) {
      continue;
    }
    const kernel_binding *binding =
        run_find_binding(options, output->table, output->index);
    if (!save(binding, output->path,
              result->contents[binding - options->bindings], error)) {
      return false;
    }
  }
  if (options->json) {
    print_json(options, result);
  } else {
    print_text(options, result);
  }
  return true;
}
