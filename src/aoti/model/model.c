// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model.c: loads a model's shared object, describes its contents, and replaces
// its constants.
#include "aoti/model/model.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stream/own_scope.h"

// --- Loading -----------------------------------------------------------------

static mtl_status open_object(mtl_model *model, const char *name,
                              const char *path) {
  // All models export functions of the same names.
  char text[512] = "";
  model->object = own_scope_open(path, "AOTInductorModelContainerRun", text,
                                 sizeof text);
  if (model->object) {
    return MTL_OK;
  }
  const char *symbol = strstr(text, "undefined symbol: ");
  if (symbol) {
    return mtl_fail(MTL_UNSUPPORTED, "%s needs %s, which Mettle has not", name,
                    symbol + strlen("undefined symbol: "));
  }
  return mtl_fail(MTL_BAD_DATA, "%s: %s", name, text);
}

static mtl_status find_functions(mtl_model *model, const char *path) {
  const struct {
    const char *name;
    void *place;
    bool is_optional;
  } functions[] = {
      {"ContainerCreateWithDevice", &model->call.create, false},
      {"ContainerDelete", &model->call.delete, false},
      {"ContainerRun", &model->call.run, false},
      {"ContainerGetNumInputs", &model->call.input_count, false},
      {"ContainerGetNumOutputs", &model->call.output_count, false},
      {"ContainerGetInputName", &model->call.input_name, false},
      {"ContainerGetOutputName", &model->call.output_name, false},
      {"ContainerGetNumConstants", &model->call.constant_count, false},
      {"ContainerGetConstantName", &model->call.constant_name, false},
      {"ContainerGetConstantOriginalFQN", &model->call.constant_original_name,
       false},
      {"ContainerGetConstantDtype", &model->call.constant_type, false},
      {"ContainerGetConstantDataSize", &model->call.constant_bytes, true},
      {"ContainerGetConstantFromFolded", &model->call.constant_folded, true},
      {"ContainerGetConstantsBlobSize", &model->call.blob_bytes, true},
      {"UpdateConstantsFromBlob", &model->call.load_blob, true},
      {"ContainerUpdateConstantBufferPairs", &model->call.update, true},
      {"ContainerSwapConstantBuffer", &model->call.swap, true},
      {"ContainerExtractConstantsMapEntries", &model->call.entries, true},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    char name[128] = "AOTInductorModel";
    strncat(name, functions[i].name, sizeof name - strlen(name) - 1);
    void *found = dlsym(model->object, name);
    if (!found && !functions[i].is_optional) {
      return mtl_fail(MTL_BAD_DATA, "%s is no AOTInductor model: it has no %s",
                      path, name);
    }
    memcpy(functions[i].place, &found, sizeof found);
  }
  void *last_error = dlsym(model->object, "AOTInductorGetLastError");
  memcpy(&model->call.last_error, &last_error, sizeof last_error);
  return MTL_OK;
}

static mtl_status create_container(mtl_model *model, const char *path,
                                   uint32_t instances) {
  if (model->call.create(&model->container, instances ? instances : 1, "mps",
                         NULL) != 0) {
    return model_fail_call(model, path);
  }
  if (model->call.input_count(model->container, &model->input_count) != 0 ||
      model->call.output_count(model->container, &model->output_count) != 0 ||
      model->call.constant_count(model->container, &model->constant_count) !=
          0) {
    return model_fail_call(model, path);
  }
  return MTL_OK;
}

static mtl_status load_object(mtl_model *model, const char *name,
                              const char *object_path, uint32_t instances) {
  AOTI_TRY(open_object(model, name, object_path));
  AOTI_TRY(find_functions(model, name));
  AOTI_TRY(model_kernels_find(model));
  return create_container(model, name, instances);
}

// The object's file is read again if the weights are in it.
static mtl_status load_bytes(mtl_model *model, const char *name,
                             const void *bytes, size_t size,
                             uint32_t instances) {
  model_object_file file;
  AOTI_TRY(model_object_make(name, bytes, size, &file));
  const mtl_status status = load_object(model, name, file.path, instances);
  model_object_close(&file);
  return status;
}

static mtl_status load_file(mtl_model *model, const char *path,
                            uint32_t instances) {
  mapped_file file;
  AOTI_TRY(mapped_file_open("model", path, &file));
  const mtl_status status =
      load_bytes(model, path, file.bytes, file.size, instances);
  mapped_file_close(&file);
  return status;
}

// Loads objects one at a time. The dynamic linker's own lock would do, but
// ThreadSanitizer does not see it: an object may be mapped where another thread
// has just unmapped one.
static mtl_status load_object_of(mtl_model *model, const char *path,
                                 const mtl_model_desc *desc) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  const mtl_status status =
      desc->object
          ? load_bytes(model, path ? path : "a model in memory", desc->object,
                       desc->object_bytes, desc->instances)
          : load_file(model, path, desc->instances);
  pthread_mutex_unlock(&lock);
  return status;
}

static mtl_status load_parts(mtl_model *model, const char *path,
                             const mtl_model_desc *desc) {
  mtl_stream *stream = NULL;
  AOTI_TRY(mtl_stream_current(&stream));
  AOTI_TRY(load_object_of(model, path, desc));
  AOTI_TRY(model_weights_load(model, path, desc));
  if (!desc->compile_lazily) {
    AOTI_TRY(model_kernels_compile(model, mtl_stream_device(stream)));
  }
  return MTL_OK;
}

static void model_delete(mtl_model *model) {
  if (model->container) {
    (void)model->call.delete(model->container);
  }
  if (model->object) {
    dlclose(model->object);
    kernels_release_deleted();
  }
  model_kernels_release(model);
  free(model);
}

mtl_status mtl_model_load(const char *path, const mtl_model_desc *desc,
                          mtl_model **out_model) {
  desc = desc ? desc : &(mtl_model_desc){0};
  AOTI_CHECK_NOT_NULL(out_model);
  *out_model = NULL;
  if (!desc->object) {
    AOTI_CHECK_NOT_NULL(path);
  }
  mtl_model *model = calloc(1, sizeof *model);
  if (!model) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "a model: no memory");
  }
  atomic_init(&model->reference_count, 1);
  const mtl_status status = load_parts(model, path, desc);
  if (status != MTL_OK) {
    model_delete(model);
    return status;
  }
  *out_model = model;
  return MTL_OK;
}

mtl_model *mtl_model_retain(mtl_model *model) {
  if (model) {
    // Relaxed: who retains has a reference already.
    atomic_fetch_add_explicit(&model->reference_count, 1, memory_order_relaxed);
  }
  return model;
}

void mtl_model_release(mtl_model *model) {
  // Acquire and release: the last owner sees what the others did.
  if (model && atomic_fetch_sub_explicit(&model->reference_count, 1,
                                         memory_order_acq_rel) == 1) {
    model_delete(model);
  }
}

// --- What a model is ---------------------------------------------------------

size_t mtl_model_input_count(const mtl_model *model) {
  return model->input_count;
}

size_t mtl_model_output_count(const mtl_model *model) {
  return model->output_count;
}

size_t mtl_model_constant_count(const mtl_model *model) {
  return model->constant_count;
}

const char *mtl_model_input_name(const mtl_model *model, size_t index) {
  const char *name = NULL;
  return index < model->input_count &&
                 model->call.input_name(model->container, index, &name) == 0
             ? name
             : NULL;
}

const char *mtl_model_output_name(const mtl_model *model, size_t index) {
  const char *name = NULL;
  return index < model->output_count &&
                 model->call.output_name(model->container, index, &name) == 0
             ? name
             : NULL;
}

mtl_status mtl_model_get_constant(const mtl_model *model, size_t index,
                                  mtl_model_constant *out_constant) {
  AOTI_CHECK_NOT_NULL(model);
  AOTI_CHECK_NOT_NULL(out_constant);
  if (index >= model->constant_count) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "constant %zu of %zu", index,
                    model->constant_count);
  }
  int32_t type = 0;
  size_t data_bytes = 0;
  const model_functions *call = &model->call;
  if (call->constant_name(model->container, index, &out_constant->name) != 0 ||
      call->constant_original_name(model->container, index,
                                   &out_constant->original_name) != 0 ||
      call->constant_type(model->container, index, &type) != 0 ||
      (call->constant_bytes &&
       call->constant_bytes(model->container, index, &data_bytes) != 0)) {
    return model_fail_call(model, "a constant");
  }
  out_constant->type = (mtl_scalar_type)type;
  out_constant->data_bytes = data_bytes;
  return MTL_OK;
}

// --- Constants ---------------------------------------------------------------

static mtl_status find_name(const mtl_model *model, const char *name,
                            const char **out_name) {
  for (size_t i = 0; i < model->constant_count; ++i) {
    mtl_model_constant constant;
    AOTI_TRY(mtl_model_get_constant(model, i, &constant));
    if (strcmp(constant.name, name) == 0 ||
        (constant.original_name && strcmp(constant.original_name, name) == 0)) {
      *out_name = constant.name;
      return MTL_OK;
    }
  }
  return mtl_fail(MTL_NOT_FOUND, "the model has no constant '%s'", name);
}

// The model copies whole storages: one must be no longer than its tensor, and
// the tensor no longer than the constant.
static mtl_status trim(const mtl_model *model, const char *name,
                       aoti_tensor *tensor) {
  const size_t bytes =
      (size_t)aoti_extent(tensor->rank, tensor->sizes, tensor->strides) *
      aoti_element_size(tensor->dtype);
  tensor->storage->size_bytes = bytes;
  for (size_t i = 0; i < model->constant_count; ++i) {
    mtl_model_constant constant;
    AOTI_TRY(mtl_model_get_constant(model, i, &constant));
    if (strcmp(constant.name, name) == 0 &&
        ((int32_t)constant.type != tensor->dtype ||
         (constant.data_bytes != 0 && bytes > constant.data_bytes))) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "constant '%s' is of %" PRIu64
                      " bytes of %s; the value is of %zu of %s",
                      name, constant.data_bytes,
                      mtl_scalar_type_name(constant.type), bytes,
                      mtl_scalar_type_name((mtl_scalar_type)tensor->dtype));
    }
  }
  return MTL_OK;
}

static mtl_status make_pairs(const mtl_model *model, const char *const *names,
                             const mtl_model_tensor *values, size_t count,
                             model_pair *pairs) {
  for (size_t i = 0; i < count; ++i) {
    AOTI_TRY(find_name(model, names[i], &pairs[i].name));
    AOTI_TRY(model_tensor_wrap(&values[i], &pairs[i].handle));
    AOTI_TRY(trim(model, pairs[i].name, pairs[i].handle));
  }
  return MTL_OK;
}

static const model_pair *find_pair(const model_pair *pairs, size_t count,
                                   const char *name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(pairs[i].name, name) == 0) {
      return &pairs[i];
    }
  }
  return NULL;
}

// Adds the active set's constants that the inactive one lacks and is not given:
// after a swap the model is complete. pairs has room for all constants.
static mtl_status add_missing(const mtl_model *model, model_pair *pairs,
                              size_t *count) {
  const size_t given = *count;
  const model_pair *entries = NULL;
  size_t entry_count = 0;
  if (!model->call.entries) {
    return MTL_OK;
  }
  for (int pass = 0; pass < 2; ++pass) {  // the inactive set, then the active
                                          // one
    if (model->call.entries(model->container, &entries, &entry_count,
                            pass == 0) != 0) {
      return model_fail_call(model, "a set of constants");
    }
    for (size_t i = 0; i < model->constant_count; ++i) {
      mtl_model_constant constant;
      AOTI_TRY(mtl_model_get_constant(model, i, &constant));
      const model_pair *entry =
          constant.original_name
              ? find_pair(entries, entry_count, constant.original_name)
              : NULL;
      if (entry && !find_pair(pairs, *count, constant.name)) {
        pairs[(*count)++] = (model_pair){constant.name, entry->handle};
      }
    }
    if (pass == 0) {
      for (size_t i = given; i < *count; ++i) {
        pairs[i].handle = NULL;  // there already
      }
    }
  }
  size_t kept = given;
  for (size_t i = given; i < *count; ++i) {
    if (pairs[i].handle) {
      pairs[kept++] = pairs[i];
    }
  }
  *count = kept;
  return MTL_OK;
}

mtl_status mtl_model_update_constants(mtl_model *model,
                                      const char *const *names,
                                      const mtl_model_tensor *values,
                                      size_t count, bool is_active) {
  AOTI_CHECK_NOT_NULL(model);
  if (count == 0) {
    return MTL_OK;
  }
  AOTI_CHECK_NOT_NULL(names);
  AOTI_CHECK_NOT_NULL(values);
  if (!model->call.update) {
    return mtl_fail(MTL_UNSUPPORTED, "the model's constants are fixed");
  }
  model_pair *pairs = calloc(count + model->constant_count, sizeof *pairs);
  AOTI_CHECK_NOT_NULL(pairs);
  mtl_status status = make_pairs(model, names, values, count, pairs);
  size_t all = count;
  if (status == MTL_OK && !is_active) {
    status = add_missing(model, pairs, &all);
  }
  if (status == MTL_OK && model->call.update(model->container, pairs, all,
                                             !is_active, false) != 0) {
    status = model_fail_call(model, "mtl_model_update_constants");
  }
  if (status == MTL_OK && is_active) {
    model->lacks_weights = false;  // the model reports whether it needs
                                   // anything else
  }
  for (size_t i = 0; i < count; ++i) {
    aoti_torch_delete_tensor_object(pairs[i].handle);
  }
  free(pairs);
  return status;
}

mtl_status mtl_model_swap_constants(mtl_model *model) {
  AOTI_CHECK_NOT_NULL(model);
  if (!model->call.swap) {
    return mtl_fail(MTL_UNSUPPORTED, "the model's constants are fixed");
  }
  if (model->call.swap(model->container) != 0) {
    return model_fail_call(model, "mtl_model_swap_constants");
  }
  model->lacks_weights = false;
  return MTL_OK;
}
