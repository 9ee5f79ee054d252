// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model.h: a loaded model, shared by the files model*.c, with the shader
// libraries that were compiled ahead of their first use.
#ifndef METTLE_AOTI_MODEL_H
#define METTLE_AOTI_MODEL_H

#include <limits.h>

#include "aoti/tensor.h"
#include "mettle/model.h"

typedef struct AOTInductorModelContainerOpaque *model_container;

typedef struct model_pair {
  const char *name;
  AtenTensorHandle handle;
} model_pair;

// The functions that Inductor's models export. Source:
// torch/csrc/inductor/aoti_runtime/interface.h
typedef struct model_functions {
  int32_t (*create)(model_container *, size_t, const char *, const char *);
  int32_t (*delete)(model_container);
  int32_t (*run)(model_container, AtenTensorHandle *, size_t,
                 AtenTensorHandle *, size_t, void *, void *);
  int32_t (*input_count)(model_container, size_t *);
  int32_t (*output_count)(model_container, size_t *);
  int32_t (*input_name)(model_container, size_t, const char **);
  int32_t (*output_name)(model_container, size_t, const char **);
  int32_t (*constant_count)(model_container, size_t *);
  int32_t (*constant_name)(model_container, size_t, const char **);
  int32_t (*constant_original_name)(model_container, size_t, const char **);
  int32_t (*constant_type)(model_container, size_t, int32_t *);
  int32_t (*constant_bytes)(model_container, size_t, size_t *);
  int32_t (*constant_folded)(model_container, size_t, bool *);
  int32_t (*blob_bytes)(model_container, uint64_t *);
  int32_t (*load_blob)(model_container, const uint8_t *);
  int32_t (*update)(model_container, const model_pair *, size_t, bool, bool);
  int32_t (*swap)(model_container);
  int32_t (*entries)(model_container, const model_pair **, size_t *,
                     bool use_inactive);
  int32_t (*last_error)(const char **);
} model_functions;

typedef struct kernel_source kernel_source;

struct mtl_model {
  _Atomic uint32_t reference_count;
  void *object;  // of dlopen
  model_functions call;
  model_container container;
  size_t input_count;
  size_t output_count;
  size_t constant_count;
  kernel_source **kernels;  // [kernel_count] +1 each
  size_t kernel_count;
  _Atomic bool lacks_weights;  // no constant has a value
};

// --- model_failure.c ---------------------------------------------------------

// Fails with the model's own text for its last failure behind ours.
mtl_status model_fail_call(const mtl_model *model, const char *what);

// --- mapped_file.c -----------------------------------------------------------

typedef struct mapped_file {
  const uint8_t *bytes;  // [size] NULL if it is empty
  size_t size;
} mapped_file;

// Maps a file. what is "model" or "weights", for error texts.
mtl_status mapped_file_open(const char *what, const char *path,
                            mapped_file *out_file);
void mapped_file_close(mapped_file *file);

// --- object_file.c -----------------------------------------------------------

// A file that the dynamic linker can open by its path until it is closed.
typedef struct model_object_file {
  char path[PATH_MAX];
  int file;
  bool is_named;  // and to be unlinked
} model_object_file;

// Makes a private copy of a shared object's bytes for this process. Fails if
// they are not a shared object, or are truncated.
mtl_status model_object_make(const char *name, const void *bytes, size_t size,
                             model_object_file *out_file);
void model_object_close(model_object_file *file);

// --- model_weights.c ---------------------------------------------------------

// Loads the weights that desc names, or those beside path (or NULL).
mtl_status model_weights_load(mtl_model *model, const char *path,
                              const mtl_model_desc *desc);

// --- model_kernels.c ---------------------------------------------------------

// Finds the MSL texts in the model's object.
mtl_status model_kernels_find(mtl_model *model);
// Compiles them, on several threads.
mtl_status model_kernels_compile(mtl_model *model, mtl_device *device);
void model_kernels_release(mtl_model *model);
// Finds a library that a model had compiled from source on device, +1; NULL if
// there is none.
mtl_shader_library *model_kernels_library(const mtl_device *device,
                                          const char *source);

// --- kernels.c ---------------------------------------------------------------

// Releases the libraries that models have deleted. Do not call it from a
// model's destructors.
void kernels_release_deleted(void);

// --- model_tensor.c ----------------------------------------------------------

// Makes a tensor handle over value's buffer.
mtl_status model_tensor_wrap(const mtl_model_tensor *value,
                             AtenTensorHandle *out_new);

#endif
