// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arguments.c: finds the offset of each binding in a kernel's struct of
// addresses. The compiler omits unused bindings, so each kernel has a layout of
// its own.
#include "mettle_hal.h"

static iree_status_t query(const mtl_argument_encoder *encoder,
                           uint32_t binding_count, mettle_layout *out_layout) {
  const size_t bytes = mtl_argument_encoder_encoded_length(encoder);
  if (bytes > MAX_BINDINGS * sizeof(uint64_t)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "a kernel's arguments take %zu bytes; %zu is the "
                            "most",
                            bytes, MAX_BINDINGS * sizeof(uint64_t));
  }
  for (uint32_t i = 0; i < binding_count; i++) {
    size_t offset = 0;
    const mtl_status status = mtl_argument_encoder_offset(encoder, i, &offset);
    if (status == MTL_OK) {
      out_layout->offsets[i] = (uint16_t)offset;
    } else if (status != MTL_NOT_FOUND) {
      return mettle_status(status, "mtl_argument_encoder_offset");
    }
  }
  out_layout->struct_bytes = (uint16_t)bytes;
  return iree_ok_status();
}

iree_status_t mettle_layout_query(mtl_function *function,
                                  uint32_t binding_count,
                                  mettle_layout *out_layout) {
  *out_layout = (mettle_layout){0};
  for (uint32_t i = 0; i < MAX_BINDINGS; i++) {
    out_layout->offsets[i] = NOT_THERE;
  }
  mtl_argument_encoder *encoder = NULL;
  const mtl_status status = mtl_argument_encoder_create(function, 0, &encoder);
  if (status == MTL_NOT_FOUND) {
    return iree_ok_status();  // a kernel without bindings
  }
  IREE_RETURN_IF_ERROR(mettle_status(status, "mtl_argument_encoder_create"));
  iree_status_t result = query(encoder, binding_count, out_layout);
  mtl_argument_encoder_release(encoder);
  return result;
}
