// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor.c: tensors of buffers: checks them, binds them as the record that
// kernels read, and checks them against a kernel's arguments.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/objects.h"
#include "runtime/record/compute_encoder.h"
#include "runtime/record/inline_bytes.h"

#define FAIL(encoder, ...)                                             \
  mtli_recording_fail((encoder)->base.recording, MTL_INVALID_ARGUMENT, \
                      __VA_ARGS__)

struct mtl_buffer_tensor {
  mtli_object object;
  mtl_buffer *buffer;  // +1
  mtl_buffer_tensor_desc desc;
  char *label;
  // Laid out as metal_tensor: 0 for the address, extents, strides.
  int64_t words[1 + 2 * MTL_MAX_TENSOR_RANK];
};

static const char *element_name(mtl_data_type type) {
  const bool is_known = type > MTL_TYPE_NONE && type <= MTL_TYPE_FLOAT;
  return is_known ? mtli_data_type_name(type) : "no type";
}

// --- Making ------------------------------------------------------------------

static bool is_element(mtl_data_type type) {
  return type > MTL_TYPE_BOOL && type <= MTL_TYPE_FLOAT;
}

// Finds the strides, those of a packed tensor if none are given, and how many
// bytes are from the first element to the end of the last.
static mtl_status measure(const mtl_buffer_tensor_desc *desc, const char *call,
                          int64_t *out_strides, size_t *out_size_bytes) {
  int64_t last = 0, packed = 1;
  for (uint32_t i = 0; i < desc->rank; i++) {
    const int64_t extent = desc->extents[i];
    const int64_t stride = desc->strides ? desc->strides[i] : packed;
    int64_t span = 0;
    if (extent < 1) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "%s: extent %" PRId64 " of dimension %u is not above 0",
                       call, extent, i);
    }
    if (stride < 1 || (i == 0 && stride != 1)) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "%s: stride %" PRId64 " of dimension %u is not %s", call,
                       stride, i, i ? "above 0" : "1");
    }
    out_strides[i] = stride;
    if (__builtin_mul_overflow(extent - 1, stride, &span) ||
        __builtin_add_overflow(last, span, &last) ||
        __builtin_mul_overflow(packed, extent, &packed)) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "%s: the elements up to dimension %u are more than 64 "
                       "bits count",
                       call, i);
    }
  }
  if (last == INT64_MAX ||
      __builtin_mul_overflow((size_t)last + 1, mtl_data_type_size(desc->type),
                             out_size_bytes)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: the tensor's bytes are more than 64 bits count",
                     call);
  }
  return MTL_OK;
}

static mtl_status check_desc(const mtl_buffer_tensor_desc *desc,
                             const char *call) {
  if (!is_element(desc->type)) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: tensors have no elements of %s",
                     call, element_name(desc->type));
  }
  if (desc->rank < 1 || desc->rank > MTL_MAX_TENSOR_RANK) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: a tensor of %u dimensions; it has 1 to %d", call,
                     desc->rank, MTL_MAX_TENSOR_RANK);
  }
  if (!desc->extents) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: the extents are NULL", call);
  }
  return MTL_OK;
}

mtl_status mtl_buffer_tensor_size(const mtl_buffer_tensor_desc *desc,
                                  size_t *out_size_bytes) {
  static const char call[] = "mtl_buffer_tensor_size";
  if (!desc || !out_size_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     desc ? "out_size_bytes" : "desc");
  }
  *out_size_bytes = 0;
  int64_t strides[MTL_MAX_TENSOR_RANK];
  MTL_TRY(check_desc(desc, call));
  return measure(desc, call, strides, out_size_bytes);
}

static void tensor_destroy(mtli_object *object) {
  mtl_buffer_tensor *tensor = (mtl_buffer_tensor *)object;
  mtl_buffer *buffer = tensor->buffer;
  free(tensor->label);
  free(tensor);
  mtl_buffer_release(buffer);  // -1
}

static mtl_status check_place(const mtl_buffer *buffer,
                              const mtl_buffer_tensor_desc *desc,
                              size_t size_bytes, const char *call) {
  const size_t element_bytes = mtl_data_type_size(desc->type);
  const size_t offset_bytes = desc->offset_bytes;
  if (offset_bytes % element_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: offset %zu is not a multiple of the %zu bytes of an "
                     "element",
                     call, offset_bytes, element_bytes);
  }
  if (offset_bytes > buffer->length_bytes ||
      size_bytes > buffer->length_bytes - offset_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: a tensor of %zu bytes at offset %zu is past the end "
                     "of buffer '%s' of %zu bytes",
                     call, size_bytes, offset_bytes, mtl_buffer_label(buffer),
                     buffer->length_bytes);
  }
  return MTL_OK;
}

mtl_status mtl_buffer_tensor_create(mtl_buffer *buffer,
                                    const mtl_buffer_tensor_desc *desc,
                                    mtl_buffer_tensor **out_tensor) {
  static const char call[] = "mtl_buffer_tensor_create";
  if (!buffer || !desc || !out_tensor) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     !buffer ? "buffer"
                     : !desc ? "desc"
                             : "out_tensor");
  }
  *out_tensor = NULL;
  if (!buffer->device->driver->binds_tensors) {
    return mtli_fail(MTL_UNSUPPORTED, "%s: device '%s' binds no tensors", call,
                     buffer->device->info.name);
  }
  int64_t strides[MTL_MAX_TENSOR_RANK] = {0};
  size_t size_bytes = 0;
  MTL_TRY(check_desc(desc, call));
  MTL_TRY(measure(desc, call, strides, &size_bytes));
  MTL_TRY(check_place(buffer, desc, size_bytes, call));
  mtl_buffer_tensor *tensor = calloc(1, sizeof *tensor);
  if (!tensor) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a tensor object");
  }
  mtli_object_init(&tensor->object, tensor_destroy);
  tensor->buffer = mtl_buffer_retain(buffer);  // +1
  tensor->label = mtli_label_copy(desc->label);
  int64_t *extents = tensor->words + 1;
  memcpy(extents, desc->extents, desc->rank * sizeof *extents);
  memcpy(extents + desc->rank, strides, desc->rank * sizeof *extents);
  tensor->desc = *desc;
  tensor->desc.extents = extents;
  tensor->desc.strides = extents + desc->rank;
  tensor->desc.label =
      tensor->label ? tensor->label : mtl_buffer_label(buffer);
  *out_tensor = tensor;
  return MTL_OK;
}

mtl_buffer_tensor *mtl_buffer_tensor_retain(mtl_buffer_tensor *tensor) {
  if (tensor) {
    mtli_object_retain(&tensor->object);
  }
  return tensor;
}

void mtl_buffer_tensor_release(mtl_buffer_tensor *tensor) {
  if (tensor) {
    mtli_object_release(&tensor->object);
  }
}

const mtl_buffer_tensor_desc *mtl_buffer_tensor_info(
    const mtl_buffer_tensor *tensor) {
  return &tensor->desc;
}

mtl_buffer *mtl_buffer_tensor_buffer(const mtl_buffer_tensor *tensor) {
  return tensor->buffer;
}

// --- Binding -----------------------------------------------------------------

void mtl_compute_encoder_set_tensor(mtl_compute_encoder *encoder,
                                    mtl_buffer_tensor *tensor,
                                    uint32_t index) {
  static const char call[] = "mtl_compute_encoder_set_tensor";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  if (index >= MTL_MAX_BUFFER_ARGUMENTS) {
    FAIL(encoder, "%s: buffer index %u; the last one is %d", call, index,
         MTL_MAX_BUFFER_ARGUMENTS - 1);
    return;
  }
  mtli_recording *recording = encoder->base.recording;
  mtli_binding *binding = &encoder->bindings[index];
  *binding = (mtli_binding){0};
  if (!tensor || !mtli_recording_check_device(
                     recording, tensor->buffer->device, "a tensor")) {
    return;
  }
  const size_t length_bytes = (1 + 2 * tensor->desc.rank) * sizeof(int64_t);
  int64_t *words = mtli_inline_bytes_place(recording, length_bytes);
  if (!words) {
    return;
  }
  memcpy(words, tensor->words, length_bytes);
  words[0] =
      (int64_t)(tensor->buffer->gpu_address + tensor->desc.offset_bytes);
  mtli_recording_use_buffer(recording, tensor->buffer);
  if (!recording->unretained_references) {
    mtli_recording_keep(recording, &tensor->object);
  }
  *binding = (mtli_binding){.bytes = words,
                            .length_bytes = (uint32_t)length_bytes,
                            .tensor = tensor};
}

bool mtli_check_tensor(mtl_compute_encoder *encoder,
                       const mtl_argument *argument,
                       const mtli_binding *binding) {
  const char *kernel = mtli_kernel_name(encoder);
  const uint32_t index = argument->index;
  if (!binding->tensor) {
    return true;  // only the size of a tensor's descriptor is known
  }
  const mtl_buffer_tensor_desc *desc = &binding->tensor->desc;
  if (!argument->tensor_rank) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[buffer(%u)]] is no tensor, but is bound "
         "to tensor '%s'",
         kernel, argument->name, index, desc->label);
    return false;
  }
  if (argument->type != desc->type || argument->tensor_rank != desc->rank) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[buffer(%u)]] is a tensor of %u "
         "dimensions of %s; tensor '%s' has %u of %s",
         kernel, argument->name, index, argument->tensor_rank,
         element_name(argument->type), desc->label, desc->rank,
         element_name(desc->type));
    return false;
  }
  for (uint32_t i = 0; i < desc->rank; i++) {
    const int64_t fixed = argument->tensor_extents[i];
    if (fixed != -1 && fixed != desc->extents[i]) {
      FAIL(encoder,
           "kernel '%s': argument '%s' [[buffer(%u)]] has %" PRId64
           " elements in dimension %u; tensor '%s' has %" PRId64,
           kernel, argument->name, index, fixed, i, desc->label,
           desc->extents[i]);
      return false;
    }
  }
  return true;
}
