// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of tiles that begin with nothing, go on behind loads by which threads
// part, and are stored element by element as far as there is room. The sums of
// a threadgroup have the places of those of the last.
// run: edges --grid 128 --group 64 0=iota:f32:400 1=iota:f32:400 2=zeros:f32:400
// expect: 2: 162 198 213 207 180 132 105 162 198 213 207 180 132 105 162 198 213 207 180 132 100 158 195 211 206 180 168 100 158 195 211 206 180 168 100 158 195 211 206 180 164 97 156 194 211 207 210 164 97 156 194 211 207 210 164 97 156 194 211 207 207 162 96 156 195 213 231 207 162 96 156 195 213 231 207 162 96 156 195 213 229 206 162 97 158 198 231 229 206 162 97 158 198 231 229 206 162 97 158 198 230 229 207 164 100 162 210 230 229 207 164 100 162 210 230 229 207 164 100 162 210 231 231 210 168 105 168 210 231 231 210 168 105 168 210 231 231 210 168 105 162 198 213 207 180 132 105 162 198 213 207 180 132 105 162 198 213 207 180 132 100 158 195 211 206 180 168 100 158 195 211 206 180 168 100 158 195 211 206 180 164 97 156 194 211 207 210 164 97 156 194 211 207 210 164 97 156 194 211 207 207 162 96 156 195 213 231 207 162 96 156 195 213 231 207 162 96 156 195 213 229 206 162 97 158 198 231 229 206 162 97 158 198 231 229 206 162 97 158 198 230 229 207 164 100 162 210 230 229 207 164 100 162 210 230 229 207 164 100 162 210 231 231 210 168 105 168 210 231 231 210 168 105 168 210 231 231 210 168 105 162 198 213 207 180 132 105 162 198 213 207 180 132 105 162 198 213 207 180 132 100 158 195 211 206 180 168 100 158 195 211 206 180 168 100 158 195 211 206 180 164 97 156 194 211 207 210 164 97 156 194 211 207 210 164 97 156 194 211 207 207 162 96 156 195 213 231 207 162 96 156 195 213 231 207 162 96 156 195 213 229 206 162 97 158 198 231 229 206 162 97 158 198 231 229 206 162 97 158 198 230 229 207 164 100 162 210 230 229 207 164 100 162 210 230 229 207 164 100 162
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr ushort side = 20;

// The 8 columns of 32 rows of a, and 8 rows of 16 columns of b, as far as there
// are such: threads part by what they load.
static void load(device const float *x, uint first_row, uint first_column,
                 ushort rows, ushort columns, threadgroup float *to, ushort t) {
  for (ushort i = t; i < rows * columns; i += 64) {
    ushort row = i / columns, column = i % columns;
    if (first_row + row >= side) {
      to[i] = 0;
      continue;
    }
    float value = 0;
    if (first_column + column < side)
      value = fmod(x[(first_row + row) * side + first_column + column], 7.0f);
    to[i] = value;
  }
}

static void multiply(threadgroup const float *a, threadgroup const float *b,
                     thread simdgroup_float8x8 (&sums)[2][2]) {
  simdgroup_float8x8 left[2], right[2];
  simdgroup_barrier(mem_flags::mem_none);
  for (short i = 0; i < 2; i++) {
    simdgroup_load(left[i], a + i * 64, 8);
    simdgroup_load(right[i], b + i * 8, 16);
  }
  for (short i = 0; i < 2; i++)
    for (short j = 0; j < 2; j++)
      simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
}

// Each threadgroup makes 32 x 16 of c = a * b: first with what is left of a's
// columns behind the last 8, then with eight at a time.
kernel void edges(device const float *a [[buffer(0)]],
                  device const float *b [[buffer(1)]],
                  device float *c [[buffer(2)]],
                  ushort t [[thread_index_in_threadgroup]],
                  ushort lane [[thread_index_in_simdgroup]],
                  ushort s [[simdgroup_index_in_threadgroup]],
                  uint group [[threadgroup_position_in_grid]]) {
  threadgroup float rows[32 * 8], columns[8 * 16];
  simdgroup_float8x8 sums[2][2];
  for (short i = 0; i < 4; i++)
    sums[i / 2][i % 2] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  load(a, 0, 16, 32, 8, rows, t);
  load(b, 16, group * 16, 8, 16, columns, t);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  multiply(rows + s * 128, columns, sums);
  for (ushort k = 0; k < 16; k += 8) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    load(a, 0, k, 32, 8, rows, t);
    load(b, k, group * 16, 8, 16, columns, t);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply(rows + s * 128, columns, sums);
  }
  const ushort row = (lane >> 2 & 4) | (lane >> 1 & 3);
  const ushort column = (lane >> 1 & 4) | (lane << 1 & 2);
  for (short i = 0; i < 8; i++) {
    const ushort y = s * 16 + i / 4 * 8 + row;
    const ushort x = group * 16 + i / 2 % 2 * 8 + column + i % 2;
    if (y < side && x < side)
      c[y * side + x] = sums[i / 4][i / 2 % 2].thread_elements()[i % 2];
  }
}
