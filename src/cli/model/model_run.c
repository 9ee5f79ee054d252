// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_run.c: `mettle model run`: inputs from NumPy files, runs, and outputs
// into NumPy files.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/held_errors.h"
#include "cli/base/json.h"
#include "cli/model/model.h"
#include "cli/values/npy.h"

typedef struct model_state {
  mtl_stream *stream;        // borrowed
  mtl_buffer **buffers;      // [input_count]
  mtl_model_tensor *rows;    // [input_count] as in the files
  model_layout *layouts;     // [input_count]
  mtl_model_tensor *inputs;  // [input_count] in the layout that the model takes
  mtl_model_result *result;  // of the last run
  uint64_t *times_ns;        // [repeat]
  mtl_stream_statistics used;  // by the last run
} model_state;

static const struct {
  value_type value;
  mtl_scalar_type scalar;
} types[] = {
    {VALUE_F32, MTL_SCALAR_FLOAT32},   {VALUE_F16, MTL_SCALAR_FLOAT16},
    {VALUE_BF16, MTL_SCALAR_BFLOAT16}, {VALUE_I8, MTL_SCALAR_INT8},
    {VALUE_U8, MTL_SCALAR_UINT8},      {VALUE_I16, MTL_SCALAR_INT16},
    {VALUE_U16, MTL_SCALAR_UINT16},    {VALUE_I32, MTL_SCALAR_INT32},
    {VALUE_U32, MTL_SCALAR_UINT32},    {VALUE_I64, MTL_SCALAR_INT64},
    {VALUE_U64, MTL_SCALAR_UINT64},    {VALUE_BOOL, MTL_SCALAR_BOOL},
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

static mtl_scalar_type scalar_of(value_type type) {
  size_t i = 0;
  while (types[i].value != type) {
    ++i;
  }
  return types[i].scalar;
}

// --- Inputs ------------------------------------------------------------------

static bool choose_type(const model_input *input, npy_array *array,
                        cli_error *error) {
  if (!input->has_type) {
    return true;
  }
  const uint32_t wanted = value_type_get_info(input->type)->size_bytes;
  const uint32_t found = value_type_get_info(array->type)->size_bytes;
  if (wanted != found) {
    return cli_fail(error, CLI_USAGE,
                    "%s: elements of %" PRIu32 " bytes cannot be %s",
                    input->path, found, value_type_get_info(input->type)->name);
  }
  array->type = input->type;
  return true;
}

static bool describe(const model_input *input, const npy_array *array,
                     mtl_buffer *buffer, mtl_model_tensor *tensor,
                     cli_error *error) {
  const uint32_t rank = array->dimension_count;
  if (rank > MTL_TENSOR_MAX_RANK) {
    return cli_fail(error, CLI_FAILED, "%s: %" PRIu32 " dimensions, %d at most",
                    input->path, rank, MTL_TENSOR_MAX_RANK);
  }
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i) {
    sizes[i] = (int64_t)array->shape[i];
  }
  *tensor = mtl_model_tensor_make(buffer, scalar_of(array->type), rank, sizes);
  return true;
}

// Copies an array in Fortran's order into C's order: models are compiled for
// inputs whose last dimension is contiguous.
static void turn_rows(const npy_array *array, const char *from, char *target) {
  const size_t size = value_type_get_info(array->type)->size_bytes;
  for (uint64_t i = 0; i < array->element_count; ++i) {
    uint64_t place = 0, rest = i, stride = array->element_count;
    for (uint32_t d = array->dimension_count; d-- > 0;) {
      stride /= array->shape[d];
      place += rest % array->shape[d] * stride;
      rest /= array->shape[d];
    }
    memcpy(target + i * size, from + place * size, size);
  }
}

static bool read_data(const model_input *input, FILE *file,
                      const npy_array *array, char *target, cli_error *error) {
  if (!array->fortran_order || array->element_count == 0) {
    return npy_read_data(input->path, file, array, target, error);
  }
  char *data = malloc(array->data_bytes);
  const bool ok = data == NULL
                      ? cli_fail(error, CLI_FAILED, "out of memory")
                      : npy_read_data(input->path, file, array, data, error);
  if (ok) {
    turn_rows(array, data, target);
  }
  free(data);
  return ok;
}

static bool read_input(const model_options *options, size_t index,
                       model_state *state, cli_error *error) {
  const model_input *input = &options->inputs[index];
  npy_array array;
  FILE *file;
  if (!npy_open(input->path, &array, &file, error)) {
    return false;
  }
  if (array.struct_bytes > 0) {
    fclose(file);
    return cli_fail(error, CLI_FAILED,
                    "%s: a structured type is no model's input", input->path);
  }
  const mtl_buffer_desc desc = {.length_bytes =
                                    array.data_bytes ? array.data_bytes : 1};
  mtl_buffer **buffer = &state->buffers[index];
  const mtl_status status =
      mtl_buffer_create(mtl_stream_device(state->stream), &desc, buffer);
  const bool ok =
      (status == MTL_OK || cli_fail_status(error, status, input->path)) &&
      choose_type(input, &array, error) &&
      read_data(input, file, &array, mtl_buffer_contents(*buffer), error) &&
      describe(input, &array, *buffer, &state->rows[index], error);
  fclose(file);
  state->inputs[index] = state->rows[index];
  return ok;
}

// --- Runs --------------------------------------------------------------------

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static mtl_status run_once(const model_options *options, mtl_model *model,
                           model_state *state, uint64_t *out_time_ns) {
  const mtl_stream_statistics before = mtl_stream_get_statistics(state->stream);
  const uint64_t start_ns = now_ns();
  mtl_status status = mtl_model_run(model, state->stream, state->inputs,
                                    options->input_count, &state->result);
  if (status == MTL_OK) {
    status = mtl_stream_synchronize(state->stream, MTL_SYNC_COMMIT_AND_WAIT);
  }
  *out_time_ns = now_ns() - start_ns;
  state->used = mtl_stream_get_statistics(state->stream);
  state->used.dispatches -= before.dispatches;
  state->used.commits -= before.commits;
  state->used.bytes -= before.bytes;
  return status;
}

// The first run finds out in which layouts the model takes its inputs. The
// model prints its complaints itself; they are reported here instead.
static mtl_status run_first(const model_options *options, mtl_model *model,
                            model_state *state) {
  held_errors held;
  held_errors_begin(&held);
  mtl_status status = run_once(options, model, state, &state->times_ns[0]);
  while (status != MTL_OK &&
         model_layout_follow(mtl_last_error(), mtl_stream_device(state->stream),
                             state->layouts, state->rows, state->inputs,
                             options->input_count)) {
    status = run_once(options, model, state, &state->times_ns[0]);
  }
  held_errors_end(&held, "Error: ");
  return status;
}

static int compare_times(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left;
  const uint64_t b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

// Reports the failed run. Where the model names an input by its number, also
// prints the input that was given.
static bool fail_run(const model_options *options, const model_state *state,
                     mtl_status status, cli_error *error) {
  size_t i;
  const char *why = mtl_last_error();
  const char *number = strstr(why, "input_handles[");
  if (!number || sscanf(number, "input_handles[%zu]", &i) != 1 ||
      i >= options->input_count) {
    return model_fail(options, status, error);
  }
  char shape[MTL_TENSOR_MAX_RANK * 24] = "";
  for (uint32_t d = 0; d < state->rows[i].rank; ++d) {
    const size_t length = strlen(shape);
    snprintf(shape + length, sizeof shape - length, "%s%" PRId64,
             d == 0 ? "" : ", ", state->rows[i].sizes[d]);
  }
  return cli_fail(error, CLI_FAILED, "%s: %s; input %zu, %s, is %s (%s)",
                  options->path, why, i, options->inputs[i].path,
                  mtl_scalar_type_name(state->rows[i].type), shape);
}

static bool run_all(const model_options *options, mtl_model *model,
                    model_state *state, cli_error *error) {
  for (uint32_t i = 0; i < options->repeat; ++i) {
    mtl_model_result_release(state->result);
    state->result = NULL;
    const mtl_status status =
        i == 0 ? run_first(options, model, state)
               : run_once(options, model, state, &state->times_ns[i]);
    if (status != MTL_OK) {
      return fail_run(options, state, status, error);
    }
  }
  qsort(state->times_ns, options->repeat, sizeof *state->times_ns,
        compare_times);
  return true;
}

// --- Outputs -----------------------------------------------------------------

// Packs the elements of tensor from dimension on, row by row, into *target.
static void pack(const mtl_model_tensor *tensor, uint32_t dimension,
                 const char *from, size_t size, char **target) {
  if (dimension == tensor->rank) {
    memcpy(*target, from, size);
    *target += size;
    return;
  }
  for (int64_t i = 0; i < tensor->sizes[dimension]; ++i) {
    pack(tensor, dimension + 1,
         from + i * tensor->strides[dimension] * (int64_t)size, size, target);
  }
}

static bool describe_output(const mtl_model_tensor *tensor, size_t index,
                            npy_array *array, cli_error *error) {
  size_t i = 0;
  while (i < TYPE_COUNT && types[i].scalar != tensor->type) {
    ++i;
  }
  uint64_t count = 1;
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    count *= (uint64_t)tensor->sizes[d];
  }
  if (i == TYPE_COUNT || !npy_describe(types[i].value, count, array)) {
    return cli_fail(error, CLI_FAILED,
                    "output %zu of type %s cannot be written", index,
                    mtl_scalar_type_name(tensor->type));
  }
  array->dimension_count = tensor->rank;
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    array->shape[d] = (uint64_t)tensor->sizes[d];
  }
  return true;
}

static bool write_output(const model_options *options, model_state *state,
                         size_t index, cli_error *error) {
  mtl_model_tensor tensor;
  const mtl_status status = mtl_model_result_get(state->result, index, &tensor);
  if (status != MTL_OK) {
    return model_fail(options, status, error);
  }
  npy_array array;
  if (!describe_output(&tensor, index, &array, error)) {
    return false;
  }
  char *data = malloc(array.data_bytes + 1);
  char *path = NULL;
  if (data == NULL ||
      asprintf(&path, "%s/%zu.npy", options->output_dir, index) < 0) {
    free(data);
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  char *end = data;
  pack(&tensor, 0,
       (const char *)mtl_buffer_contents(tensor.buffer) + tensor.offset_bytes,
       mtl_scalar_type_size(tensor.type), &end);
  const bool ok = npy_write(path, &array, data, error);
  free(path);
  free(data);
  return ok;
}

static uint64_t median_ns(const model_options *options,
                          const model_state *state) {
  const uint64_t *times = state->times_ns;
  const uint32_t middle = options->repeat / 2;
  return options->repeat % 2
             ? times[middle]
             : times[middle - 1] + (times[middle] - times[middle - 1]) / 2;
}

static void print_times(const model_options *options,
                        const model_state *state) {
  const uint64_t median = median_ns(options, state);
  if (options->json) {
    fputs("{\"device\": ", stdout);
    json_write_text(
        stdout, mtl_device_get_info(mtl_stream_device(state->stream))->name);
    printf(", \"outputs\": %zu, \"time_ns\": {\"min\": %" PRIu64
           ", \"median\": %" PRIu64 ", \"runs\": %u}, \"dispatches\": %" PRIu64
           ", \"commits\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n",
           mtl_model_result_count(state->result), state->times_ns[0], median,
           options->repeat, state->used.dispatches, state->used.commits,
           state->used.bytes);
  } else if (options->repeat > 1 || isatty(STDERR_FILENO)) {
    fprintf(stderr,
            "%s: %.3f us at best, %.3f us in the median of %u; %" PRIu64
            " dispatches in %" PRIu64 " commits\n",
            options->path, (double)state->times_ns[0] * 1e-3,
            (double)median * 1e-3, options->repeat, state->used.dispatches,
            state->used.commits);
  }
}

static bool make_folder(const char *path, cli_error *error) {
  return mkdir(path, 0777) == 0 || errno == EEXIST ||
         cli_fail(error, CLI_FAILED, "%s: %s", path, strerror(errno));
}

static bool run_with_state(const model_options *options, mtl_model *model,
                           model_state *state, cli_error *error) {
  const mtl_status status = mtl_stream_current(&state->stream);
  if (status != MTL_OK) {
    return model_fail(options, status, error);
  }
  if (options->input_count != mtl_model_input_count(model)) {
    return cli_fail(error, CLI_USAGE, "%s takes %zu inputs; %zu are given",
                    options->path, mtl_model_input_count(model),
                    options->input_count);
  }
  for (size_t i = 0; i < options->input_count; ++i) {
    if (!read_input(options, i, state, error)) {
      return false;
    }
  }
  if (!run_all(options, model, state, error) ||
      !make_folder(options->output_dir, error)) {
    return false;
  }
  for (size_t i = 0; i < mtl_model_result_count(state->result); ++i) {
    if (!write_output(options, state, i, error)) {
      return false;
    }
  }
  print_times(options, state);
  return true;
}

bool model_run(const model_options *options, mtl_model *model,
               cli_error *error) {
  const size_t count = options->input_count + 1;
  model_state state = {
      .buffers = calloc(count, sizeof(mtl_buffer *)),
      .rows = calloc(count, sizeof(mtl_model_tensor)),
      .layouts = calloc(count, sizeof(model_layout)),
      .inputs = calloc(count, sizeof(mtl_model_tensor)),
      .times_ns = calloc(options->repeat, sizeof(uint64_t)),
  };
  const bool ok = state.buffers && state.rows && state.layouts &&
                          state.inputs && state.times_ns
                      ? run_with_state(options, model, &state, error)
                      : cli_fail(error, CLI_FAILED, "out of memory");
  mtl_model_result_release(state.result);
  for (size_t i = 0; state.buffers && i < options->input_count; ++i) {
    mtl_buffer_release(state.buffers[i]);
  }
  for (size_t i = 0; state.layouts && i < options->input_count; ++i) {
    mtl_buffer_release(state.layouts[i].buffer);
  }
  free(state.buffers);
  free(state.rows);
  free(state.layouts);
  free(state.inputs);
  free(state.times_ns);
  return ok;
}
