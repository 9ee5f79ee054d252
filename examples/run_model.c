// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_model.c: loads a PyTorch model that AOTInductor compiled for device mps,
// runs it on a vector or an array of ones, and prints where its first output
// begins.
//
//   run_model net.wrapper.so 1 3 224 224
#include <stdio.h>
#include <stdlib.h>

#include "mettle/mettle.h"
#include "mettle/model.h"

static void check(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "%s: %s\n", mtl_status_name(status), mtl_last_error());
    exit(1);
  }
}

// A buffer of float32 ones, as many as the product of sizes.
static mtl_buffer *make_ones(mtl_device *device, uint32_t rank,
                             const int64_t *sizes) {
  size_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    count *= (size_t)sizes[i];
  }
  mtl_buffer *buffer = NULL;
  const mtl_buffer_desc desc = {.length_bytes = count * sizeof(float)};
  check(mtl_buffer_create(device, &desc, &buffer));
  float *values = mtl_buffer_contents(buffer);
  for (size_t i = 0; i < count; ++i) {
    values[i] = 1;
  }
  return buffer;
}

static void print_beginning(const mtl_model_tensor *output) {
  printf("%s [", mtl_scalar_type_name(output->type));
  for (uint32_t i = 0; i < output->rank; ++i) {
    printf("%s%lld", i ? ", " : "", (long long)output->sizes[i]);
  }
  printf("]\n");
  if (output->type != MTL_SCALAR_FLOAT32 || output->rank == 0) {
    return;
  }
  // Along the last dimension, from element 0 of all others.
  const uint32_t last = output->rank - 1;
  const char *bytes = mtl_buffer_contents(output->buffer);
  const float *values = (const float *)(bytes + output->offset_bytes);
  for (int64_t i = 0; i < 8 && i < output->sizes[last]; ++i) {
    printf("%g\n", values[i * output->strides[last]]);
  }
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 2 + MTL_TENSOR_MAX_RANK) {
    fprintf(stderr, "usage: run_model MODEL.so SIZE...\n");
    return 2;
  }
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  const uint32_t rank = (uint32_t)(argc - 2);
  for (uint32_t i = 0; i < rank; ++i) {
    sizes[i] = strtoll(argv[2 + i], NULL, 10);
  }
  mtl_model *model = NULL;
  mtl_stream *stream = NULL;
  check(mtl_model_load(argv[1], NULL, &model));
  check(mtl_stream_create(NULL, NULL, &stream));

  mtl_buffer *ones = make_ones(mtl_stream_device(stream), rank, sizes);
  const mtl_model_tensor input =
      mtl_model_tensor_make(ones, MTL_SCALAR_FLOAT32, rank, sizes);
  mtl_model_result *result = NULL;
  check(mtl_model_run(model, stream, &input, 1, &result));  // does not wait
  check(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));

  mtl_model_tensor output;
  check(mtl_model_result_get(result, 0, &output));
  print_beginning(&output);
  mtl_model_result_release(result);
  mtl_buffer_release(ones);
  mtl_stream_release(stream);
  mtl_model_release(model);
  return 0;
}
