// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_layout.c: inputs in the layout that a model was compiled for. NumPy
// files hold rows; a model exported with channels-last or transposed inputs
// takes those, and generated code tells so, one stride at a time, when it is
// asked to check its inputs.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/model/model.h"

// True if dimension a is outside b in memory: by the known stride, or that of
// row-major order; of two equal strides the known one is inside.
static bool is_outer_dimension(const mtl_model_tensor *rows,
                               const model_layout *layout, uint32_t a,
                               uint32_t b) {
  const int64_t stride_a =
      layout->is_known[a] ? layout->strides[a] : rows->strides[a];
  const int64_t stride_b =
      layout->is_known[b] ? layout->strides[b] : rows->strides[b];
  return stride_a > stride_b ||
         (stride_a == stride_b && !layout->is_known[a] && layout->is_known[b]);
}

static void choose_strides(const model_layout *layout,
                           const mtl_model_tensor *rows,
                           mtl_model_tensor *tensor) {
  uint32_t order[MTL_TENSOR_MAX_RANK];
  for (uint32_t i = 0; i < rows->rank; ++i) {
    uint32_t place = i;
    for (; place > 0 && is_outer_dimension(rows, layout, i, order[place - 1]);
         --place) {
      order[place] = order[place - 1];
    }
    order[place] = i;
  }
  int64_t next = 1;
  for (uint32_t i = rows->rank; i-- > 0;) {
    const uint32_t d = order[i];
    tensor->strides[d] = layout->is_known[d] ? layout->strides[d] : next;
    if (tensor->strides[d] > 0 && rows->sizes[d] > 1) {
      next = tensor->strides[d] * rows->sizes[d];
    }
  }
}

// Returns the number of elements from the first to the last in memory.
static uint64_t extent_of(const mtl_model_tensor *tensor) {
  uint64_t extent = 1;
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    if (tensor->sizes[d] == 0) {
      return 0;
    }
    extent += (uint64_t)(tensor->sizes[d] - 1) * (uint64_t)tensor->strides[d];
  }
  return extent;
}

// Calls use for each element with its place in rows and in tensor.
typedef bool use_function(char *row, char *place, size_t size);

static bool for_each(const mtl_model_tensor *tensor, uint32_t dimension,
                     char **row, char *place, use_function *use) {
  const size_t size = mtl_scalar_type_size(tensor->type);
  if (dimension == tensor->rank) {
    char *element = *row;
    *row += size;
    return use(element, place, size);
  }
  for (int64_t i = 0; i < tensor->sizes[dimension]; ++i) {
    if (!for_each(tensor, dimension + 1, row,
                  place + i * tensor->strides[dimension] * (int64_t)size,
                  use)) {
      return false;
    }
  }
  return true;
}

static bool put(char *row, char *place, size_t size) {
  memcpy(place, row, size);
  return true;
}

// Elements that share memory must be equal.
static bool is_equal(char *row, char *place, size_t size) {
  return memcmp(place, row, size) == 0;
}

static bool lay_out(const mtl_model_tensor *rows, mtl_model_tensor *tensor) {
  char *place = mtl_buffer_contents(tensor->buffer);
  char *row = mtl_buffer_contents(rows->buffer);
  char *again = row;
  return for_each(tensor, 0, &row, place, put) &&
         for_each(tensor, 0, &again, place, is_equal);
}

static bool read_complaint(const char *why, size_t count, size_t *out_input,
                           uint32_t *out_dimension, int64_t *out_stride) {
  const char *text = strstr(why, "input_handles[");
  return text &&
         sscanf(text,
                "input_handles[%zu]: unmatched stride value at %" SCNu32
                ", expected: %" SCNd64,
                out_input, out_dimension, out_stride) == 3 &&
         *out_input < count && *out_dimension < MTL_TENSOR_MAX_RANK &&
         *out_stride >= 0;
}

bool model_layout_follow(const char *why, mtl_device *device,
                         model_layout *layouts, const mtl_model_tensor *rows,
                         mtl_model_tensor *inputs, size_t count) {
  size_t i;
  uint32_t d;
  int64_t stride;
  if (!read_complaint(why, count, &i, &d, &stride) || d >= rows[i].rank ||
      layouts[i].is_known[d]) {
    return false;
  }
  layouts[i].is_known[d] = true;
  layouts[i].strides[d] = stride;
  mtl_model_tensor tensor = rows[i];
  choose_strides(&layouts[i], &rows[i], &tensor);
  const uint64_t bytes =
      extent_of(&tensor) * mtl_scalar_type_size(tensor.type) + 1;
  tensor.buffer = NULL;
  if (mtl_buffer_create(device, &(mtl_buffer_desc){.length_bytes = bytes},
                        &tensor.buffer) != MTL_OK) {
    return false;
  }
  mtl_buffer_release(layouts[i].buffer);
  layouts[i].buffer = tensor.buffer;
  inputs[i] = tensor;
  return lay_out(&rows[i], &tensor);
}
