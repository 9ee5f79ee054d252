// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices of 8x8 below simdgroup_matrix, as generators of attention write them:
// vec<T, 64> is what the simdgroup holds, two elements a thread, and the
// multiplication has Apple's internal name. A is the identity but for the last
// row, which is all ones; B counts from 0; C is 100 everywhere.
// run: product --grid 32 --group 32 0=iota:f32:64 1=zeros:f32:66
// expect: 1: 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137 138 139 140 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155 324 332 340 348 356 364 372 380
// run: loaded --grid 32 --group 32 0=iota:f32:64 1=zeros:f32:64
// expect: 1: 3 2 3 4 5 6 7 8 9 12 11 12 13 14 15 16 17 18 21 20 21 22 23 24 25
#include <metal_stdlib>
using namespace metal;

#pragma METAL internals : enable
template <typename T>
struct storage {
  typedef vec<T, 64> storage_type;
  storage_type t;
  METAL_FUNC thread vec<T, 2> *elements() thread {
    return reinterpret_cast<thread vec<T, 2> *>(&t);
  }
  METAL_FUNC storage() thread = default;
  METAL_FUNC storage(vec<T, 2> elements) thread { *(this->elements()) = elements; }
  template <typename U, typename V>
  METAL_FUNC void multiply(storage<U> a, storage<V> b, bool accumulate = true) {
    if (!accumulate) *(elements()) = vec<T, 2>(0);
    t = __metal_simdgroup_matrix_8x8_multiply_accumulate(a.t, b.t, t, typename storage<T>::storage_type());
  }
};
#pragma METAL internals : disable

// The column and row of a thread's first element.
ushort2 place(ushort lane) {
  const ushort quad = lane / 4;
  return ushort2((quad & 2) * 2 + lane % 2 * 2, quad / 4 * 4 + lane / 2 % 4);
}

kernel void product(device const float *b [[buffer(0)]], device float *out [[buffer(1)]],
                    ushort lane [[thread_index_in_simdgroup]]) {
  const ushort2 at = place(lane);
  const bool is_last = at.y == 7;
  storage<half> left[2];
  left[0] = storage<half>(half2(is_last || at.x == at.y, is_last || at.x + 1 == at.y));
  left[1] = storage<half>(half2(0));
  storage<float> right(*(device const float2 *)(b + at.y * 8 + at.x)), sum(float2(100));
  for (int i = 0; i < 2; i++) sum.multiply(left[i], right);
  storage<float> fresh(float2(5));
  fresh.multiply(left[1], right, false);
  *(device float2 *)(out + at.y * 8 + at.x) = *sum.elements() + *fresh.elements();
}

// Returns the loaded matrix plus one everywhere and two more on the diagonal.
kernel void loaded(device const float *b [[buffer(0)]], device float *out [[buffer(1)]]) {
  simdgroup_float8x8 one = make_filled_simdgroup_matrix<float, 8, 8>(1);
  vec<float, 64> counted = __metal_simdgroup_matrix_8x8_load(b, 8);
  const vec<float, 64> diagonal = __metal_simdgroup_matrix_8x8_init_diag(1.0f);
  counted = __metal_simdgroup_matrix_8x8_multiply_accumulate(counted, diagonal, one.thread_elements(), counted);
  const vec<float, 64> twos = __metal_simdgroup_matrix_8x8_init_diag(2.0f);
  const vec<float, 64> sum = __metal_simdgroup_matrix_8x8_multiply_accumulate(twos, diagonal, counted, counted);
  __metal_simdgroup_matrix_8x8_store(sum, out, 8);
}
