// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model.h: runs PyTorch models that AOTInductor compiled for device "mps".
//
// Such a model is a shared object with MSL in it and a file of weights beside
// it; nothing of PyTorch is needed to run it. Link with libmettle-aoti.
//
//   mtl_model_load("net.wrapper.so", NULL, &model);
//   mtl_model_run(model, stream, inputs, 1, &result);   // does not wait
//   mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT);
//   mtl_model_result_get(result, 0, &output);           // a buffer and a shape
//
// examples/run_model.c is a whole program.
#ifndef METTLE_MODEL_H
#define METTLE_MODEL_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_model mtl_model;
typedef struct mtl_model_result mtl_model_result;

// Element types, with PyTorch's codes (c10::ScalarType).
typedef enum mtl_scalar_type {
  MTL_SCALAR_UINT8 = 0,
  MTL_SCALAR_INT8 = 1,
  MTL_SCALAR_INT16 = 2,
  MTL_SCALAR_INT32 = 3,
  MTL_SCALAR_INT64 = 4,
  MTL_SCALAR_FLOAT16 = 5,
  MTL_SCALAR_FLOAT32 = 6,
  MTL_SCALAR_FLOAT64 = 7,
  MTL_SCALAR_COMPLEX64 = 9,
  MTL_SCALAR_BOOL = 11,
  MTL_SCALAR_BFLOAT16 = 15,
  MTL_SCALAR_UINT16 = 27,
  MTL_SCALAR_UINT32 = 28,
  MTL_SCALAR_UINT64 = 29,
} mtl_scalar_type;

// Returns the size of one element in bytes; 0 for what is no type.
MTL_API size_t mtl_scalar_type_size(mtl_scalar_type type);
// Returns "f32", "bf16", "i64" and so on; "?" for what is no type.
MTL_API const char *mtl_scalar_type_name(mtl_scalar_type type);

// A strided array in a buffer or in the host's memory: a value, which owns
// nothing.
typedef struct mtl_model_tensor {
  mtl_buffer *buffer;   // shared storage, on the stream's device; or NULL
  size_t offset_bytes;  // of element 0
  mtl_scalar_type type;
  uint32_t rank;                         // 0 for a scalar
  int64_t sizes[MTL_TENSOR_MAX_RANK];    // [rank] elements
  int64_t strides[MTL_TENSOR_MAX_RANK];  // [rank] elements
  // Without a buffer: element 0 in the host's memory, at any address, which is
  // used in place, until the run has finished. NULL in what Mettle returns.
  void *data;
} mtl_model_tensor;

// Describes a contiguous tensor at the start of buffer.
MTL_API mtl_model_tensor mtl_model_tensor_make(mtl_buffer *buffer,
                                               mtl_scalar_type type,
                                               uint32_t rank,
                                               const int64_t *sizes);

typedef struct mtl_model_desc {
  const char
      *weights_path;    // NULL for X_weights.blob beside X.so, if it exists
  uint32_t instances;   // runs at a time; 0 means 1
  bool compile_lazily;  // kernels when they first run, not at the load
  // The .so itself, instead of path, and its weights, instead of a file. Both
  // are read during the load only. NULL for a file.
  const void *object;
  size_t object_bytes;
  const void *weights;
  size_t weights_bytes;
} mtl_model_desc;

// Loads a model and its weights, and compiles its kernels.
//
// Its calls of aoti_torch_ functions are Mettle's, and a PyTorch in the same
// process, whatever came first and however it was loaded, keeps its own.
//
//   path   the .so; with desc->object a name for texts, or NULL
//   desc   NULL for the defaults
//
// Ownership  The model is yours. Its file may change or go once it is loaded.
// Threads    Any; any number of models at a time, in any order.
// Errors     MTL_NOT_FOUND    no such file
//            MTL_BAD_DATA     not a model; weights of another length
//            MTL_UNSUPPORTED  it needs an operator that is not there: the text
//                             names it
//            MTL_COMPILE_FAILED  a kernel; the text has the diagnostics
MTL_API MTL_MUST_USE mtl_status mtl_model_load(const char *path,
                                               const mtl_model_desc *desc,
                                               mtl_model **out_model);
MTL_API mtl_model *mtl_model_retain(mtl_model *model);
// Work in flight keeps what it needs.
MTL_API void mtl_model_release(mtl_model *model);

// Records a run on stream and returns without waiting for it. Inputs have the
// types, sizes and strides that the model was compiled for: it looks at them
// only if AOTI_RUNTIME_CHECK_INPUTS=1 is in the environment at its first run.
//
//   stream   NULL for the current one
//   inputs   [input_count] in the model's order
//
// Ownership  Inputs are borrowed; the run retains their buffers. These, and the
//            host's memory that is an input, must not change until it has
//            finished. The result is yours.
// Threads    Any; runs of one model wait for a free instance of it.
// Errors     MTL_INVALID_ARGUMENT  another number of inputs; an input that does
//                                  not fit its buffer
//            MTL_NOT_FOUND         its weights were not beside it and were not
//                                  given since
//            any other             of a kernel or an operator. What fails later
//                                  comes from the stream's synchronisation
MTL_API MTL_MUST_USE mtl_status mtl_model_run(mtl_model *model,
                                              mtl_stream *stream,
                                              const mtl_model_tensor *inputs,
                                              size_t input_count,
                                              mtl_model_result **out_result);

// Describes output index. Its contents are there once the stream has been
// synchronised; another run may take it as an input before that.
//
// Ownership  The buffer is borrowed from result.
MTL_API MTL_MUST_USE mtl_status mtl_model_result_get(
    const mtl_model_result *result, size_t index, mtl_model_tensor *out_output);
MTL_API size_t mtl_model_result_count(const mtl_model_result *result);
MTL_API void mtl_model_result_release(mtl_model_result *result);

// --- What a model is ---------------------------------------------------------

// Return how many inputs, outputs, constants and kernels the model has.
MTL_API size_t mtl_model_input_count(const mtl_model *model);
MTL_API size_t mtl_model_output_count(const mtl_model *model);
MTL_API size_t mtl_model_constant_count(const mtl_model *model);
MTL_API size_t mtl_model_kernel_count(const mtl_model *model);

// Names are valid as long as the model; NULL past the end.
MTL_API const char *mtl_model_input_name(const mtl_model *model, size_t index);
MTL_API const char *mtl_model_output_name(const mtl_model *model, size_t index);

typedef struct mtl_model_constant {
  const char *name;           // in the model's code
  const char *original_name;  // of the parameter: "layer1.0.conv1.weight"
  mtl_scalar_type type;
  uint64_t data_bytes;
} mtl_model_constant;
MTL_API MTL_MUST_USE mtl_status mtl_model_get_constant(
    const mtl_model *model, size_t index, mtl_model_constant *out_constant);

// Returns the MSL source of kernel index: the distinct sources in the file.
MTL_API const char *mtl_model_kernel_source(const mtl_model *model,
                                            size_t index);

// --- Constants ---------------------------------------------------------------

// Replaces constants, in the inactive set unless is_active. What the inactive
// set has not been given it takes from the active one.
//
//   names   [count] names or original names
//   values  [count] copied; of the constant's type, and no longer
//
// Threads    Not while the model runs on another thread, if is_active.
MTL_API MTL_MUST_USE mtl_status mtl_model_update_constants(
    mtl_model *model, const char *const *names, const mtl_model_tensor *values,
    size_t count, bool is_active);
// Makes the inactive set the active one, for runs from now on.
MTL_API MTL_MUST_USE mtl_status mtl_model_swap_constants(mtl_model *model);

#ifdef __cplusplus
}
#endif
#endif
