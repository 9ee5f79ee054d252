# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_fragments.py: fragments that lanes load, each its eight elements by the
# layout, as clients of registers do: by rows of any length, transposed, widened
# or not, with a vector for each fragment that loops carry.
import itertools

import numpy as np

from case import Program, check, mettle, to_bfloat

# One simdgroup has TM x TN fragments of the result. A is M x K, or K x M if
# transposed; rows are as long as the dispatch says.
SOURCE = """
typedef metal::vec<float, 8> eight;
template <typename T, typename I>
eight loaded(const device T *from, I row_length, uint lane, bool swapped) {
  const short row = (lane >> 2 & 4) | (lane >> 1 & 3);
  const short column = ((lane >> 2 & 2) | (lane & 1)) * 4;
  from += row * row_length + column;
  eight f;
  for (short h = 0; h < 2; h++)
    for (short j = 0; j < 4; j++)
      f[4 * h + j] = float(from[8 * h * row_length + (swapped ? 3 - j : j)]);
  return f;
}
template <typename T, typename I, bool TA, bool TB, short TM, short TN,
          bool Swapped>
kernel void product(const device T *a [[buffer(0)]],
                    const device T *b [[buffer(1)]],
                    device float *c [[buffer(2)]], constant I *n [[buffer(3)]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint2 at [[threadgroup_position_in_grid]]) {
  constexpr auto how = matmul2d_descriptor(
      16, 32, 16, TA, TB, true,
      matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<how, execution_simdgroup> op;
  const I k_end = n[0], length_a = n[1], length_b = n[2], length_c = n[3];
  a += TA ? I(at.y) * 16 * TM : I(at.y) * 16 * TM * length_a;
  b += TB ? I(at.x) * 16 * TN * length_b : I(at.x) * 16 * TN;
  eight sums[TM * TN];
  for (short i = 0; i < TM * TN; i++) sums[i] = eight(0);
  for (I k = 0; k < k_end; k += 16) {
    eight left[TM], right[TN];
    for (short i = 0; i < TM; i++)
      left[i] = loaded(a + (TA ? k * length_a + 16 * i
                               : 16 * i * length_a + k), length_a, lane,
                       Swapped);
    for (short j = 0; j < TN; j++)
      right[j] = loaded(b + (TB ? 16 * j * length_b + k
                                : k * length_b + 16 * j), length_b, lane,
                        false);
    for (short i = 0; i < TM; i++)
      for (short j = 0; j < TN; j += 2) {
        auto l = op.template get_left_input_cooperative_tensor<
            float, float, float>();
        auto r = op.template get_right_input_cooperative_tensor<
            float, float, float>();
        auto s = op.template get_destination_cooperative_tensor<
            decltype(l), decltype(r), float>();
        for (short e = 0; e < 8; e++) {
          l[e] = left[i][e];
          r[e] = right[j][e];
          r[8 + e] = right[j + 1][e];
          s[e] = sums[i * TN + j][e];
          s[8 + e] = sums[i * TN + j + 1][e];
        }
        op.run(l, r, s);
        for (short e = 0; e < 8; e++) {
          sums[i * TN + j][e] = s[e];
          sums[i * TN + j + 1][e] = s[8 + e];
        }
      }
  }
  const short row = (lane >> 2 & 4) | (lane >> 1 & 3);
  const short column = ((lane >> 2 & 2) | (lane & 1)) * 4;
  for (short i = 0; i < TM; i++)
    for (short j = 0; j < TN; j++)
      for (short e = 0; e < 8; e++)
        c[(I(at.y) * 16 * TM + 16 * i + row + e / 4 * 8) * length_c +
          I(at.x) * 16 * TN + 16 * j + column + e % 4] = sums[i * TN + j][e];
}
"""
INSTANCE = """
template [[host_name("{name}")]] kernel void
product<{type}, {index}, {ta}, {tb}, {tm}, {tn}, {swapped}>(
    const device {type} *, const device {type} *, device float *,
    constant {index} *, uint, uint2);
"""


def values_of(random, kind, shape):
    """Small integers, exact in all types, as memory and as numbers."""
    numbers = random.integers(-8, 9, shape).astype(np.float32)
    memory = {"half": lambda: numbers.astype(np.float16),
              "bfloat": lambda: to_bfloat(numbers),
              "float": lambda: numbers.copy()}[kind]()
    return memory, numbers


def permuted(numbers):
    """A as lanes have it that take each four columns of memory backwards."""
    order = np.arange(numbers.shape[1]).reshape(-1, 4)[:, ::-1].reshape(-1)
    return numbers[:, order]


def one(random, program, name, kind, index, ta, tb, tm, tn, swapped):
    m, n, k = 32 * tm, 32 * tn, 48
    pad = int(random.integers(0, 9))
    a, a_numbers = values_of(random, kind, (k, m + pad) if ta else (m, k + pad))
    b, b_numbers = values_of(random, kind, (n, k + pad) if tb else (k, n + pad))
    a_numbers = a_numbers[:, :m] if ta else a_numbers[:, :k]
    b_numbers = b_numbers[:, :k] if tb else b_numbers[:, :n]
    if swapped:
        a_numbers = permuted(a_numbers)
    want = (a_numbers.T if ta else a_numbers) @ (
        b_numbers.T if tb else b_numbers)
    lengths = np.array([k, a.shape[1], b.shape[1], n],
                       np.int32 if index == "int" else np.int64)
    got = program.run(name, {0: a, 1: b, 2: np.zeros((m, n), np.float32),
                             3: lengths}, groups=(2, 2, 1))
    check.equal(f"{name}: {kind} {index} {ta} {tb}", got[2], want)


def main():
    random = np.random.default_rng(43)
    cases = [(kind, index, ta, tb, tm, tn, False)
             for (kind, index, tm, tn), ta, tb in itertools.product(
                 (("half", "int", 2, 2), ("bfloat", "long", 1, 2)), (False, True),
                 (False, True))]
    # Another order of columns is not a tile's: lanes keep their loaded
    # elements.
    cases += [("float", "int", False, True, 1, 4, False),
              ("half", "int", False, False, 1, 2, True),
              ("float", "int", True, True, 1, 2, True)]
    text = SOURCE + "".join(INSTANCE.format(
        name=f"p{i}", type=kind, index=index, ta=str(ta).lower(),
        tb=str(tb).lower(), tm=tm, tn=tn, swapped=str(swapped).lower())
        for i, (kind, index, ta, tb, tm, tn, swapped) in enumerate(cases))
    program = Program(text)
    for i, case in enumerate(cases):
        one(random, program, f"p{i}", *case)


try:
    main()
except mettle.Error as error:
    check.failed(str(error))
check.finish()
