// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_weights.c: gives a model its constants, from a file or from memory.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aoti/model/model.h"

// "net.wrapper.so" has its weights in "net.wrapper_weights.blob". malloc'ed.
static char *default_weights(const char *path) {
  const size_t length = strlen(path);
  static const char ending[] = "_weights.blob";
  if (length < 3 || strcmp(path + length - 3, ".so") != 0) {
    return NULL;
  }
  char *weights = malloc(length - 3 + sizeof ending);
  if (weights) {
    memcpy(weights, path, length - 3);
    strcpy(weights + length - 3, ending);
  }
  return weights;
}

// Constants are padded to 64 bytes; what is less may be a mark at the end, as
// PyTorch puts one behind weights in the object itself.
enum { WEIGHTS_ALIGNMENT = 64 };

static mtl_status load_bytes(mtl_model *model, const char *name,
                             const uint8_t *bytes, size_t size) {
  uint64_t wanted = size;
  if (!model->call.load_blob) {
    return mtl_fail(MTL_UNSUPPORTED, "the model takes no weights from a file");
  }
  if (model->call.blob_bytes &&
      model->call.blob_bytes(model->container, &wanted) != 0) {
    return model_fail_call(model, name);
  }
  if (size < wanted || size - wanted >= WEIGHTS_ALIGNMENT) {
    return mtl_fail(MTL_BAD_DATA,
                    "weights %s: %zu bytes; the model needs %" PRIu64, name,
                    size, wanted);
  }
  return size != 0 && model->call.load_blob(model->container, bytes) != 0
             ? model_fail_call(model, name)
             : MTL_OK;
}

static mtl_status load_file(mtl_model *model, const char *path) {
  mapped_file file;
  AOTI_TRY(mapped_file_open("weights", path, &file));
  const mtl_status status = load_bytes(model, path, file.bytes, file.size);
  mapped_file_close(&file);
  return status;
}

// True if a model has no weights in its object and none were loaded. Only such
// models report a size; others print a complaint.
static bool lacks_weights(const mtl_model *model) {
  const model_pair *entries = NULL;
  size_t count = 0;
  uint64_t bytes = 0;
  const model_functions *call = &model->call;
  if (model->constant_count == 0 || !call->load_blob || !call->blob_bytes ||
      !call->entries ||
      call->entries(model->container, &entries, &count, false) != 0) {
    return false;
  }
  size_t i = 0;
  while (i < count && entries[i].handle) {
    ++i;
  }
  return (i < count || count == 0) &&
         call->blob_bytes(model->container, &bytes) == 0 && bytes > 0;
}

// Loads a model's weights. Without them the model is still loaded: they may be
// given one by one.
mtl_status model_weights_load(mtl_model *model, const char *path,
                              const mtl_model_desc *desc) {
  if (desc->weights) {
    return load_bytes(model, "in memory", desc->weights, desc->weights_bytes);
  }
  if (desc->weights_path) {
    return load_file(model, desc->weights_path);
  }
  char *weights = path ? default_weights(path) : NULL;
  mtl_status status = MTL_OK;
  if (weights && access(weights, F_OK) == 0 && model->call.load_blob) {
    status = load_file(model, weights);
  } else {
    model->lacks_weights = lacks_weights(model);
  }
  free(weights);
  return status;
}
