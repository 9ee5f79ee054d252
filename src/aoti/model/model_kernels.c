// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_kernels.c: compiles all MSL of a model on several threads when the
// model is loaded. The model itself would compile each kernel when it first
// runs it. Sources that models share are compiled once.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aoti/model/model.h"

struct kernel_source {
  kernel_source *next;  // in its bucket
  uint32_t reference_count;
  uint64_t hash;
  const mtl_device *device;     // of library
  mtl_shader_library *library;  // +1; NULL until it is compiled
  char text[];
};

enum { BUCKET_COUNT = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kernel_source *buckets[BUCKET_COUNT];

// FNV-1a. Source: Fowler, Noll and Vo, draft-eastlake-fnv
static uint64_t hash_of(const char *text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *text; ++text) {
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  }
  return hash;
}

static kernel_source *find(uint64_t hash, const char *text) {
  kernel_source *source = buckets[hash % BUCKET_COUNT];
  while (source && (source->hash != hash || strcmp(source->text, text) != 0)) {
    source = source->next;
  }
  return source;
}

// Finds or adds text, +1; NULL without memory.
static kernel_source *source_of(const char *text) {
  const uint64_t hash = hash_of(text);
  pthread_mutex_lock(&lock);
  kernel_source *source = find(hash, text);
  if (!source) {
    source = calloc(1, sizeof *source + strlen(text) + 1);
    if (source) {
      source->hash = hash;
      strcpy(source->text, text);
      source->next = buckets[hash % BUCKET_COUNT];
      buckets[hash % BUCKET_COUNT] = source;
    }
  }
  if (source) {
    source->reference_count += 1;
  }
  pthread_mutex_unlock(&lock);
  return source;
}

static void source_release(kernel_source *released) {
  pthread_mutex_lock(&lock);
  mtl_shader_library *library = NULL;
  released->reference_count -= 1;
  const bool is_last = released->reference_count == 0;
  if (is_last) {
    kernel_source **place = &buckets[released->hash % BUCKET_COUNT];
    while (*place != released) {
      place = &(*place)->next;
    }
    *place = released->next;
    library = released->library;
  }
  pthread_mutex_unlock(&lock);
  mtl_shader_library_release(library);  // -1
  if (is_last) {
    free(released);
  }
}

mtl_shader_library *model_kernels_library(const mtl_device *device,
                                          const char *source) {
  pthread_mutex_lock(&lock);
  const kernel_source *found = find(hash_of(source), source);
  mtl_shader_library *library =
      found && found->device == device
          ? mtl_shader_library_retain(found->library)  // +1
          : NULL;
  pthread_mutex_unlock(&lock);
  return library;
}

// --- Finding -----------------------------------------------------------------

static mtl_status add_kernel(mtl_model *model, const char *text) {
  for (size_t i = 0; i < model->kernel_count; ++i) {
    if (strcmp(model->kernels[i]->text, text) == 0) {
      return MTL_OK;
    }
  }
  kernel_source **grown = realloc(
      model->kernels, (model->kernel_count + 1) * sizeof *model->kernels);
  if (grown) {
    model->kernels = grown;
  }
  kernel_source *source = grown ? source_of(text) : NULL;
  if (!source) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "a model's kernels: no memory");
  }
  model->kernels[model->kernel_count++] = source;
  return MTL_OK;
}

// Inductor's code has the texts in global variables, numbered from 0; it leaves
// numbers out where kernels turn out to be the same.
// torch/_inductor/codegen/mps.py, 2.13
mtl_status model_kernels_find(mtl_model *model) {
  enum { GAP_MAX = 256 };
  for (int number = 0, gap = 0; gap < GAP_MAX; ++number) {
    char name[64];
    snprintf(name, sizeof name, "mps_lib_%d_source", number);
    const char *const *text = dlsym(model->object, name);
    gap = text ? 0 : gap + 1;
    if (text && *text) {
      AOTI_TRY(add_kernel(model, *text));
    }
  }
  return MTL_OK;
}

void model_kernels_release(mtl_model *model) {
  for (size_t i = 0; i < model->kernel_count; ++i) {
    source_release(model->kernels[i]);  // -1
  }
  free(model->kernels);
}

// --- Compiling ---------------------------------------------------------------

typedef struct compilation {
  mtl_model *model;
  mtl_device *device;
  _Atomic size_t next;
  pthread_mutex_t lock;
  mtl_status status;  // the first failure
  char *text;         // malloc'ed
} compilation;

// Compiles one text and the kernel that Inductor puts into each.
static mtl_status compile(kernel_source *source, mtl_device *device) {
  mtl_shader_library *library = model_kernels_library(device, source->text);
  if (library) {
    mtl_shader_library_release(library);  // -1
    return MTL_OK;
  }
  AOTI_TRY(mtl_shader_library_create(device, source->text, &library));
  mtl_kernel *kernel = NULL;
  mtl_status status = MTL_OK;
  if (strstr(source->text, "generated_kernel(")) {
    status = mtl_shader_library_kernel(library, "generated_kernel", &kernel);
  }
  pthread_mutex_lock(&lock);
  mtl_shader_library *other = library;
  if (status == MTL_OK && !source->library) {
    other = NULL;
    source->device = device;
    source->library = library;  // +1
  }
  pthread_mutex_unlock(&lock);
  mtl_shader_library_release(other);  // -1
  return status;
}

static void *compile_some(void *context) {
  compilation *shared = context;
  for (;;) {
    // Relaxed: each thread only needs a number of its own.
    const size_t index =
        atomic_fetch_add_explicit(&shared->next, 1, memory_order_relaxed);
    if (index >= shared->model->kernel_count) {
      return NULL;
    }
    const mtl_status status =
        compile(shared->model->kernels[index], shared->device);
    if (status != MTL_OK) {
      pthread_mutex_lock(&shared->lock);
      if (shared->status == MTL_OK) {
        shared->status = status;
        shared->text = strdup(mtl_last_error());
      }
      pthread_mutex_unlock(&shared->lock);
    }
  }
}

enum { THREADS_MAX = 8 };

mtl_status model_kernels_compile(mtl_model *model, mtl_device *device) {
  compilation shared = {.model = model, .device = device};
  pthread_mutex_init(&shared.lock, NULL);
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  count = count > THREADS_MAX ? THREADS_MAX : count;
  count = count > (long)model->kernel_count ? (long)model->kernel_count : count;
  pthread_t threads[THREADS_MAX];
  int started = 0;
  while (started < count - 1 &&
         pthread_create(&threads[started], NULL, compile_some, &shared) == 0) {
    ++started;
  }
  compile_some(&shared);
  for (int i = 0; i < started; ++i) {
    pthread_join(threads[i], NULL);
  }
  pthread_mutex_destroy(&shared.lock);
  if (shared.status != MTL_OK) {
    mtl_fail(shared.status, "%s", shared.text ? shared.text : "");
  }
  free(shared.text);
  return shared.status;
}

size_t mtl_model_kernel_count(const mtl_model *model) {
  return model->kernel_count;
}

const char *mtl_model_kernel_source(const mtl_model *model, size_t index) {
  return index < model->kernel_count ? model->kernels[index]->text : NULL;
}
