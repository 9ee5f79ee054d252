// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shader_library.c: MSL compiled once, and its kernels, made when first asked
// for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/stream_parts.h"

struct mtl_kernel {
  mtl_kernel *next;        // in its library
  mtl_pipeline *pipeline;  // +1
  char name[];
};

struct mtl_shader_library {
  _Atomic uint32_t reference_count;
  mtl_library *library;  // +1
  pthread_mutex_t lock;  // of kernels
  mtl_kernel *kernels;
};

static mtl_status device_of_current(mtl_device **out_device) {
  mtl_stream *stream = NULL;
  STREAM_TRY(mtl_stream_current(&stream));
  *out_device = mtl_stream_device(stream);
  return MTL_OK;
}

mtl_status mtl_shader_library_create(mtl_device *device, const char *source,
                                     mtl_shader_library **out_library) {
  if (!source || !out_library) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_shader_library_create: %s is "
                    "NULL",
                    source ? "out_library" : "source");
  }
  *out_library = NULL;
  if (!device) {
    STREAM_TRY(device_of_current(&device));
  }
  mtl_shader_library *library = calloc(1, sizeof *library);
  if (!library) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "mtl_shader_library_create: no memory");
  }
  const mtl_compile_options options = {.math_mode = MTL_MATH_SAFE};
  const mtl_status status = mtl_library_create_from_source(
      device, source, strlen(source), &options, &library->library);
  if (status != MTL_OK) {
    free(library);
    return status;
  }
  atomic_init(&library->reference_count, 1);
  pthread_mutex_init(&library->lock, NULL);
  *out_library = library;
  return MTL_OK;
}

mtl_shader_library *mtl_shader_library_retain(mtl_shader_library *library) {
  if (library) {
    // Relaxed: who retains has a reference already.
    atomic_fetch_add_explicit(&library->reference_count, 1,
                              memory_order_relaxed);
  }
  return library;
}

void mtl_shader_library_release(mtl_shader_library *library) {
  // Acquire and release: the last owner sees what the others did.
  if (!library || atomic_fetch_sub_explicit(&library->reference_count, 1,
                                            memory_order_acq_rel) != 1) {
    return;
  }
  for (mtl_kernel *kernel = library->kernels; kernel;) {
    mtl_kernel *next = kernel->next;
    mtl_pipeline_release(kernel->pipeline);  // -1
    free(kernel);
    kernel = next;
  }
  mtl_library_release(library->library);  // -1
  pthread_mutex_destroy(&library->lock);
  free(library);
}

static mtl_status make_kernel(mtl_library *library, const char *name,
                              const mtl_constant_values *constants,
                              const char *key, mtl_kernel **out_kernel) {
  mtl_function *function = NULL;
  STREAM_TRY(mtl_function_create(library, name, constants, &function));
  mtl_pipeline *pipeline = NULL;
  const mtl_status status = mtl_pipeline_create(function, NULL, &pipeline);
  mtl_function_release(function);  // -1
  if (status != MTL_OK) {
    return status;
  }
  mtl_kernel *kernel = malloc(sizeof *kernel + strlen(key) + 1);
  if (!kernel) {
    mtl_pipeline_release(pipeline);  // -1
    return mtl_fail(MTL_OUT_OF_MEMORY, "kernel '%s': no memory", name);
  }
  kernel->pipeline = pipeline;
  strcpy(kernel->name, key);
  *out_kernel = kernel;
  return MTL_OK;
}

static mtl_kernel *find_kernel(const mtl_shader_library *library,
                               const char *key) {
  mtl_kernel *kernel = library->kernels;
  while (kernel && strcmp(kernel->name, key) != 0) {
    kernel = kernel->next;
  }
  return kernel;
}

// Finds a kernel by its key, or makes it from name and constants.
static mtl_status kernel_by_key(mtl_shader_library *library, const char *key,
                                const char *name,
                                const mtl_constant_values *constants,
                                mtl_kernel **out_kernel) {
  pthread_mutex_lock(&library->lock);
  mtl_status status = MTL_OK;
  *out_kernel = find_kernel(library, key);
  if (!*out_kernel) {
    status = make_kernel(library->library, name, constants, key, out_kernel);
    if (status == MTL_OK) {
      (*out_kernel)->next = library->kernels;
      library->kernels = *out_kernel;
    }
  }
  pthread_mutex_unlock(&library->lock);
  return status;
}

mtl_status mtl_shader_library_kernel(mtl_shader_library *library,
                                     const char *name,
                                     mtl_kernel **out_kernel) {
  if (!library || !name || !out_kernel) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_shader_library_kernel: %s is NULL",
                    !library ? "library"
                    : name   ? "out_kernel"
                             : "name");
  }
  return kernel_by_key(library, name, name, NULL, out_kernel);
}

const char *mtl_kernel_name(const mtl_kernel *kernel) {
  return kernel->name;
}

mtl_pipeline *mtl_kernel_pipeline(const mtl_kernel *kernel) {
  return kernel->pipeline;
}

// --- Our own kernels ---------------------------------------------------------

// Compiled once for each device, and kept with the process.
typedef struct builtin {
  struct builtin *next;
  const mtl_device *device;
  const char *source;
  mtl_shader_library *library;
} builtin;

static pthread_mutex_t builtin_lock = PTHREAD_MUTEX_INITIALIZER;
static builtin *builtins;

static mtl_status make_builtin(mtl_device *device, const char *source,
                               builtin **out_builtin) {
  builtin *made = malloc(sizeof *made);
  if (!made) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "a kernel of Mettle's: no memory");
  }
  *made = (builtin){.next = builtins, .device = device, .source = source};
  const mtl_status status =
      mtl_shader_library_create(device, source, &made->library);
  if (status != MTL_OK) {
    free(made);
    return status;
  }
  builtins = made;
  *out_builtin = made;
  return MTL_OK;
}

static mtl_status find_builtin(mtl_device *device, const char *source,
                               builtin **out_builtin) {
  pthread_mutex_lock(&builtin_lock);
  *out_builtin = builtins;
  while (*out_builtin && ((*out_builtin)->device != device ||
                          (*out_builtin)->source != source)) {
    *out_builtin = (*out_builtin)->next;
  }
  mtl_status status = MTL_OK;
  if (!*out_builtin) {
    status = make_builtin(device, source, out_builtin);
  }
  pthread_mutex_unlock(&builtin_lock);
  return status;
}

mtl_status stream_builtin_kernel(
    mtl_stream *stream, const char *source, const char *name,
    const uint32_t constants[STREAM_BUILTIN_CONSTANTS],
    mtl_kernel **out_kernel) {
  builtin *found = NULL;
  STREAM_TRY(find_builtin(mtl_stream_device(stream), source, &found));
  mtl_constant_values *values = NULL;
  STREAM_TRY(mtl_constant_values_create(&values));
  char key[128];
  int length = snprintf(key, sizeof key, "%s", name);
  mtl_status status = MTL_OK;
  for (uint32_t i = 0; i < STREAM_BUILTIN_CONSTANTS && status == MTL_OK; ++i) {
    length += snprintf(key + length, sizeof key - (size_t)length, "/%u",
                       constants[i]);
    status = mtl_constant_values_set(values, i, MTL_TYPE_UINT, 1,
                                     &constants[i]);
  }
  if (status == MTL_OK) {
    status = kernel_by_key(found->library, key, name, values, out_kernel);
  }
  mtl_constant_values_release(values);
  return status;
}
