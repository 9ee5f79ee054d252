// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_output.c: what `mettle run` saves and prints.
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/run.h"

static uint64_t least_ns(const run_result *result) {
  return result->times_ns[0];
}

// The middle of the rising times, or between the two in the middle.
static uint64_t median_ns(const run_options *options,
                          const run_result *result) {
  const uint32_t middle = options->repeat / 2;
  if (options->repeat % 2 == 1) {
    return result->times_ns[middle];
  }
  const uint64_t low = result->times_ns[middle - 1];
  return low + (result->times_ns[middle] - low) / 2;
}

// One element as text; as JSON what is no number goes in quotes.
static void print_element(value_type type, const void *value, bool as_json) {
  char text[VALUE_TEXT_SIZE];
  value_format(type, value, text);
  const bool is_number = type == VALUE_BOOL || text[text[0] == '-'] < 'a';
  fprintf(stdout, as_json && !is_number ? "\"%s\"" : "%s", text);
}

static void print_elements(const run_options *options, const run_result *result,
                           const run_output *output, const char *separator) {
  const kernel_binding *binding =
      run_find_binding(options, output->table, output->index);
  const unsigned char *bytes = result->contents[binding - options->bindings];
  const npy_array *array = &binding->array;
  const uint32_t size_bytes = value_type_get_info(array->type)->size_bytes;
  uint64_t count = array->element_count;
  if (output->has_count && output->count < count) {
    count = output->count;
  }
  for (uint64_t i = 0; i < count; ++i) {
    fputs(i == 0 ? "" : separator, stdout);
    print_element(array->type, bytes + i * size_bytes, options->json);
  }
}

static void print_text(const run_options *options, const run_result *result) {
  for (size_t i = 0; i < options->output_count; ++i) {
    const run_output *output = &options->outputs[i];
    if (output->path == NULL) {
      printf("%s%u: ", binding_table_prefix(output->table), output->index);
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

// An object's keys come once.
static bool is_printed_before(const run_options *options, size_t number) {
  const run_output *const output = &options->outputs[number];
  for (size_t i = 0; i < number; ++i) {
    const run_output *const earlier = &options->outputs[i];
    if (earlier->path == NULL && earlier->table == output->table &&
        earlier->index == output->index) {
      return true;
    }
  }
  return false;
}

// "print": {"INDEX": [...]}, only if something is to be printed.
static void print_json_buffers(const run_options *options,
                               const run_result *result) {
  bool first = true;
  for (size_t i = 0; i < options->output_count; ++i) {
    const run_output *output = &options->outputs[i];
    if (output->path != NULL || is_printed_before(options, i)) {
      continue;
    }
    printf("%s\"%s%u\": [", first ? ", \"print\": {" : ", ",
           binding_table_prefix(output->table), output->index);
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

bool run_write_outputs(const run_options *options, const run_result *result,
                       cli_error *error) {
  for (size_t i = 0; i < options->output_count; ++i) {
    const run_output *output = &options->outputs[i];
    if (output->path == NULL) {
      continue;
    }
    const kernel_binding *binding =
        run_find_binding(options, output->table, output->index);
    if (!npy_write(output->path, &binding->array,
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
