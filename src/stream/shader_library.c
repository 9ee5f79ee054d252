// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shader_library.c: compiles MSL once and creates its kernels at their first
// use.
#include <stdlib.h>
#include <string.h>

#include "stream/stream_parts.h"

struct mtl_kernel {
  mtl_kernel *next;                              // in its library
  mtl_pipeline *pipeline;                        // +1
  uint32_t constants[STREAM_BUILTIN_CONSTANTS];  // of one of our own
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

// The values of constants 0 and up, all uint; NULL if there are none.
static mtl_status make_function(mtl_library *library, const char *name,
                                const uint32_t *constants,
                                mtl_function **out_function) {
  mtl_constant_values *values = NULL;
  if (constants) {
    STREAM_TRY(mtl_constant_values_create(&values));
  }
  mtl_status status = MTL_OK;
  for (uint32_t i = 0; values && i < STREAM_BUILTIN_CONSTANTS; ++i) {
    status =
        mtl_constant_values_set(values, i, MTL_TYPE_UINT, 1, &constants[i]);
    if (status != MTL_OK) {
      break;
    }
  }
  if (status == MTL_OK) {
    status = mtl_function_create(library, name, values, out_function);
  }
  mtl_constant_values_release(values);
  return status;
}

static mtl_status make_kernel(mtl_library *library, const char *name,
                              const uint32_t *constants,
                              mtl_kernel **out_kernel) {
  mtl_function *function = NULL;
  STREAM_TRY(make_function(library, name, constants, &function));
  mtl_pipeline *pipeline = NULL;
  const mtl_status status = mtl_pipeline_create(function, NULL, &pipeline);
  mtl_function_release(function);  // -1
  if (status != MTL_OK) {
    return status;
  }
  mtl_kernel *kernel = calloc(1, sizeof *kernel + strlen(name) + 1);
  if (!kernel) {
    mtl_pipeline_release(pipeline);  // -1
    return mtl_fail(MTL_OUT_OF_MEMORY, "kernel '%s': no memory", name);
  }
  kernel->pipeline = pipeline;
  if (constants) {
    memcpy(kernel->constants, constants, sizeof kernel->constants);
  }
  strcpy(kernel->name, name);
  *out_kernel = kernel;
  return MTL_OK;
}

static mtl_kernel *find_kernel(const mtl_shader_library *library,
                               const char *name, const uint32_t *constants) {
  mtl_kernel *kernel = library->kernels;
  // Either all kernels of a library have constants, or none has.
  while (kernel && (strcmp(kernel->name, name) != 0 ||
                    (constants && memcmp(kernel->constants, constants,
                                         sizeof kernel->constants) != 0))) {
    kernel = kernel->next;
  }
  return kernel;
}

// Finds a kernel, or makes it.
static mtl_status find_or_make(mtl_shader_library *library, const char *name,
                               const uint32_t *constants,
                               mtl_kernel **out_kernel) {
  pthread_mutex_lock(&library->lock);
  mtl_status status = MTL_OK;
  *out_kernel = find_kernel(library, name, constants);
  if (!*out_kernel) {
    status = make_kernel(library->library, name, constants, out_kernel);
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
  return find_or_make(library, name, NULL, out_kernel);
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
  return find_or_make(found->library, name, constants, out_kernel);
}
