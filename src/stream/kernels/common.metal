// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common.metal: what the kernels of graph operations share; it stands in front
// of each of them. Element types are function constants, numbered as
// mtl_data_type, so that one kernel serves all and each pipeline has its own
// loads.
#include <metal_stdlib>
using namespace metal;

constant uint type_0 [[function_constant(0)]];
constant uint type_1 [[function_constant(1)]];
constant uint type_2 [[function_constant(2)]];
constant uint type_3 [[function_constant(3)]];
constant uint option [[function_constant(4)]];

enum element_type : uint {
  BOOL = 1, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, BFLOAT,
  FLOAT
};

template <typename T>
static inline T element(device const uchar *data, long i) {
  return reinterpret_cast<device const T *>(data)[i];
}

static inline float load_float(uint type, device const uchar *data, long i) {
  switch (type) {
    case BOOL: return element<uchar>(data, i) != 0 ? 1.0f : 0.0f;
    case CHAR: return float(element<char>(data, i));
    case UCHAR: return float(element<uchar>(data, i));
    case SHORT: return float(element<short>(data, i));
    case USHORT: return float(element<ushort>(data, i));
    case INT: return float(element<int>(data, i));
    case UINT: return float(element<uint>(data, i));
    case LONG: return float(element<long>(data, i));
    case ULONG: return float(element<ulong>(data, i));
    case HALF: return float(element<half>(data, i));
    case BFLOAT: return float(element<bfloat>(data, i));
    default: return element<float>(data, i);
  }
}

// Integers and bools, sign or zero extended.
static inline long load_long(uint type, device const uchar *data, long i) {
  switch (type) {
    case BOOL: return element<uchar>(data, i) != 0;
    case CHAR: return element<char>(data, i);
    case UCHAR: return element<uchar>(data, i);
    case SHORT: return element<short>(data, i);
    case USHORT: return element<ushort>(data, i);
    case INT: return element<int>(data, i);
    case UINT: return element<uint>(data, i);
    default: return element<long>(data, i);
  }
}

template <typename T>
static inline void set_element(device uchar *data, long i, T value) {
  reinterpret_cast<device T *>(data)[i] = value;
}

// From long or float.
template <typename V>
static inline void store(uint type, device uchar *data, long i, V value) {
  switch (type) {
    case BOOL: set_element(data, i, uchar(value != V(0))); break;
    case CHAR: set_element(data, i, char(int(value))); break;
    case UCHAR: set_element(data, i, uchar(int(value))); break;
    case SHORT: set_element(data, i, short(int(value))); break;
    case USHORT: set_element(data, i, ushort(int(value))); break;
    case INT: set_element(data, i, int(value)); break;
    case UINT: set_element(data, i, uint(long(value))); break;
    case LONG: set_element(data, i, long(value)); break;
    case ULONG: set_element(data, i, ulong(value)); break;
    case HALF: set_element(data, i, half(value)); break;
    case BFLOAT: set_element(data, i, bfloat(float(value))); break;
    default: set_element(data, i, float(value)); break;
  }
}

static inline bool is_floating(uint type) {
  return type >= HALF;
}

// Leading dimensions that several tensors share: `shape` in ops/parts.h.
struct shape {
  int rank;
  int sizes[16];
  long strides[4][16];
};

// Where the elements of linear index i start in each tensor.
static inline void locate(constant shape &s, uint i, int tensors,
                          thread long *offsets) {
  for (int t = 0; t < tensors; ++t) {
    offsets[t] = 0;
  }
  for (int d = s.rank - 1; d >= 0; --d) {
    const uint size = uint(s.sizes[d]);
    const uint at = i % size;
    i /= size;
    for (int t = 0; t < tensors; ++t) {
      offsets[t] += long(at) * s.strides[t][d];
    }
  }
}
