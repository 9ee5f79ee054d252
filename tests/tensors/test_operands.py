# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_operands.py: operands of matmul2d in every address space, of static and
# dynamic extents, with strides that are not packed; what simdgroups and threads
# do of which others do something else; arrays of cooperative tensors.
import numpy as np

from case import Program, check, mettle

TEXT = """
// A product of any size by tiles that a threadgroup copies.
kernel void copied(device const half *a, device const half *b, device float *c,
                   constant int4 &s, threadgroup half *memory,
                   uint t [[thread_index_in_threadgroup]],
                   uint2 g [[threadgroup_position_in_grid]]) {
  tensor<threadgroup half, extents<int, 24, 32>, tensor_inline> ta(
      memory, extents<int, 24, 32>());
  auto tb = tensor(memory + 32 * 24, extents<int, 40, 24>());
  constexpr auto desc = matmul2d_descriptor(
      32, 40, 24, false, false, false,
      matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<desc, execution_simdgroups<4>> op;
  auto sums = op.get_destination_cooperative_tensor<decltype(ta), decltype(tb),
                                                    float>();
  auto from_a = tensor(a, dextents<int, 2>(s.z, s.x));
  auto from_b = tensor(b, dextents<int, 2>(s.y, s.z));
  for (int k = 0; k < s.z; k += 24) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = t; i < 24 * 32; i += 128)
      ta[i % 24, i / 24] = from_a.load(k + i % 24, int(g.y) * 32 + i / 24);
    for (int i = t; i < 40 * 24; i += 128)
      tb.store(from_b.load(int(g.x) * 40 + i % 40, k + i / 40), i % 40, i / 40);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    op.run(ta, tb, sums);
  }
  auto to = tensor(c, dextents<int, 2>(s.y, s.x));
  sums.store(to.slice(int(g.x) * 40, int(g.y) * 32));
}
kernel void spaces(device const half *a, constant half *b, device half *c) {
  tensor<device const half, dextents<long, 2>, tensor_inline> ta(
      a, dextents<long, 2>(33, 20));
  tensor<constant half, extents<uint, 20, 33>, tensor_inline> tb(
      b, extents<uint, 20, 33>());
  matmul2d<matmul2d_descriptor(20, 20, static_cast<int>(dynamic_extent)),
           execution_simdgroup>{}
      .run(ta, tb, tensor(c, dextents<ushort, 2>(20, 20)));
}
// Columns two apart; one row, or one column, again and again; columns first.
kernel void strides(device float *a, device float *b, device float *c,
                    device float *d) {
  auto ta = tensor(a, dextents<int, 2>(20, 30), array<int, 2>{2, 41});
  matmul2d<matmul2d_descriptor(30, 24, 20), execution_simdgroups<2>> op;
  op.run(ta, tensor(b, dextents<int, 2>(24, 20), array<int, 2>{1, 0}),
         tensor(c, dextents<int, 2>(24, 30), array<int, 2>{30, 1}));
  op.run(ta, tensor(b, dextents<int, 2>(24, 20), array<int, 2>{0, 1}),
         tensor(d, dextents<int, 2>(24, 30)));
}
kernel void apart(device float *a, device float *b, device float *c,
                  uint g [[simdgroup_index_in_threadgroup]],
                  uint t [[thread_index_in_threadgroup]]) {
  auto ta = tensor(a, dextents<int, 2>(16, 64));
  auto tb = tensor(b, dextents<int, 2>(16, 16));
  auto tc = tensor(c, dextents<int, 2>(16, 64));
  if (g == 1 || g == 2) {
    matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroup> op;
    op.run(ta.slice(0, int(g) * 16), tb, tc.slice(0, int(g) * 16));
  } else if (g == 3) {
    matmul2d<matmul2d_descriptor(8, 16, dynamic_length_v<int>),
             execution_simdgroup> op;
    for (int at = 48; at < 64; at += 8)
      op.run(ta.slice(0, at), tb, tc.slice(0, at));
  } else if (t % 3 == 1 && t < 16) {
    matmul2d<matmul2d_descriptor(1, 16, 16), execution_thread> op;
    op.run(ta.slice(0, int(t)), tb, tc.slice(0, int(t)));
  }
}
kernel void arrays(device half *a, device half *b, device float *c,
                   uint g [[simdgroup_index_in_threadgroup]]) {
  constexpr auto desc = matmul2d_descriptor(
      16, 32, 16, false, false, true,
      matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<desc, execution_simdgroup> op;
  auto left = op.get_left_input_cooperative_tensor<half, half, float>();
  auto right = op.get_right_input_cooperative_tensor<half, half, float>();
  decltype(op.get_destination_cooperative_tensor<
           decltype(left), decltype(right), float>()) sums[2];
  auto ta = tensor(a, dextents<int, 2>(64, 64));
  auto tb = tensor(b, dextents<int, 2>(32, 64));
  for (int k = 0; k < 64; k += 16) {
    right.load(tb.slice<32, 16>(0, k));
    for (int i = 0; i < 2; i++) {
      left.load(ta.slice<16, 16>(k, int(g) * 32 + i * 16));
      op.run(left, right, sums[i]);
    }
  }
  for (int i = 0; i < 2; i++)
    sums[i].store(tensor(c, dextents<int, 2>(32, 64))
                      .slice<32, 16>(0, int(g) * 32 + i * 16));
}"""


def main():
    random = np.random.default_rng(11)

    def numbers(kind, *shape):
        """Small whole numbers: sums of their products are exact."""
        return random.integers(-6, 7, shape).astype(kind)
    program = Program(TEXT)
    m, n, k = 70, 93, 50
    a, b = numbers(np.float16, m, k), numbers(np.float16, k, n)
    out = program.run("copied", {
        0: a, 1: b, 2: np.zeros((m, n), np.float32),
        3: np.array([m, n, k, 0], np.int32)}, groups=(3, 3), group=(128,),
        memory={0: 2 * (32 * 24 + 40 * 24)})[2]
    check.equal("copied", out, a.astype(np.float32) @ b.astype(np.float32))
    a, b = numbers(np.float16, 20, 33), numbers(np.float16, 33, 20)
    out = program.run("spaces", {0: a, 1: b,
                                 2: np.zeros((20, 20), np.float16)})[2]
    check.equal("spaces", out, (a.astype(np.float32) @ b.astype(
        np.float32)).astype(np.float16))
    a, b = numbers(np.float32, 30, 41), numbers(np.float32, 24)
    out = program.run("strides", {
        0: a, 1: b, 2: np.zeros((24, 30), np.float32),
        3: np.zeros((30, 24), np.float32)}, group=(64,))
    check.equal("one row", out[2].T, a[:, :40:2] @ np.tile(b, (20, 1)))
    check.equal("one column", out[3],
                a[:, :40:2] @ np.tile(b[:20, None], (1, 24)))
    a, b = numbers(np.float32, 64, 16), numbers(np.float32, 16, 16)
    want = a @ b
    want[[row for row in range(16) if row % 3 != 1]] = 9
    out = program.run("apart", {0: a, 1: b,
                                2: np.full((64, 16), 9, np.float32)},
                      group=(128,))[2]
    check.equal("apart", out, want)
    a, b = numbers(np.float16, 64, 64), numbers(np.float16, 64, 32)
    out = program.run("arrays", {0: a, 1: b, 2: np.zeros((64, 32), np.float32)},
                      group=(64,))[2]
    check.equal("arrays", out, a.astype(np.float32) @ b.astype(np.float32))


try:
    main()
except mettle.Error as error:
    check.failed(str(error))
check.finish()
