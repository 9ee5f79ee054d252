// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalar_type.c: the types of a model's elements: their sizes and names.
#include "aoti/tensor.h"
#include "mettle/model.h"

size_t aoti_element_size(int32_t dtype) {
  switch (dtype) {
    case AOTI_UINT8:
    case AOTI_INT8:
    case AOTI_BOOL: return 1;
    case AOTI_INT16:
    case AOTI_UINT16:
    case AOTI_FLOAT16:
    case AOTI_BFLOAT16: return 2;
    case AOTI_INT32:
    case AOTI_UINT32:
    case AOTI_FLOAT32:
    case AOTI_COMPLEX32: return 4;
    case AOTI_INT64:
    case AOTI_UINT64:
    case AOTI_FLOAT64:
    case AOTI_COMPLEX64: return 8;
    case AOTI_COMPLEX128: return 16;
    default: return 0;
  }
}

size_t mtl_scalar_type_size(mtl_scalar_type type) {
  return aoti_element_size((int32_t)type);
}

const char *mtl_scalar_type_name(mtl_scalar_type type) {
  switch (type) {
    case MTL_SCALAR_UINT8: return "u8";
    case MTL_SCALAR_INT8: return "i8";
    case MTL_SCALAR_INT16: return "i16";
    case MTL_SCALAR_INT32: return "i32";
    case MTL_SCALAR_INT64: return "i64";
    case MTL_SCALAR_FLOAT16: return "f16";
    case MTL_SCALAR_FLOAT32: return "f32";
    case MTL_SCALAR_FLOAT64: return "f64";
    case MTL_SCALAR_COMPLEX64: return "c64";
    case MTL_SCALAR_BOOL: return "bool";
    case MTL_SCALAR_BFLOAT16: return "bf16";
    case MTL_SCALAR_UINT16: return "u16";
    case MTL_SCALAR_UINT32: return "u32";
    case MTL_SCALAR_UINT64: return "u64";
  }
  return "?";
}
