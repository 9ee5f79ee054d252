// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model.h: what the files of the verb `model` share.
#ifndef METTLE_CLI_MODEL_H
#define METTLE_CLI_MODEL_H

#include "cli/values/values.h"
#include "mettle/model.h"

// One --input: a file, and the type that overrides the file's.
typedef struct model_input {
  char *path;  // malloc'ed
  bool has_type;
  value_type type;
} model_input;

typedef struct model_options {
  bool is_info;
  const char *path;
  const char *weights;     // NULL for the file beside the model
  const char *output_dir;  // run only
  model_input *inputs;     // [input_count], in order
  size_t input_count;
  uint32_t repeat;
  bool json;
} model_options;

// The known part of the layout that a model expects of an input.
typedef struct model_layout {
  bool is_known[MTL_TENSOR_MAX_RANK];
  int64_t strides[MTL_TENSOR_MAX_RANK];  // elements
  mtl_buffer *buffer;  // +1: the input's elements in this layout; NULL
} model_layout;

// Lays one of rows [count], contiguous tensors, out in inputs [count] as why, a
// failed run's text, asks for. False if it asks for no layout, or for one that
// the elements do not have: elements that share memory differ.
bool model_layout_follow(const char *why, mtl_device *device,
                         model_layout *layouts, const mtl_model_tensor *rows,
                         mtl_model_tensor *inputs, size_t count);

// Fails as a call on the model: CLI_NOT_COMPILED for kernels.
static inline bool model_fail(const model_options *options, mtl_status status,
                              cli_error *error) {
  return status == MTL_COMPILE_FAILED
             ? cli_fail_compile(error, status, options->path)
             : cli_fail_status(error, status, options->path);
}

bool model_run(const model_options *options, mtl_model *model,
               cli_error *error);
bool model_info(const model_options *options, const mtl_model *model,
                cli_error *error);

#endif
