# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_reductions.py: reductions of rows and columns, what maps to them, and a
# product of what another product left: attention in small.
import numpy as np

from case import Program, check, mettle

TEXT = """
template <typename S, int M, int N, typename R>
static void reduce(device float *x, device float *rows, device float *columns,
                   device float *mapped, R how, float identity) {
  auto t = tensor(x, extents<int, N, M>());
  matmul2d<matmul2d_descriptor(M, N, 16), S> op;
  auto c = op.template get_destination_cooperative_tensor<
      decltype(t), decltype(t), float>();
  for (int i = 0; i < c.get_capacity(); i++) c[i] = 1e9f;  // where none is
  c.load(t);
  auto r = op.template get_row_reduction_destination_cooperative_tensor<
      decltype(t), decltype(t), float>();
  auto k = op.template get_column_reduction_destination_cooperative_tensor<
      decltype(t), decltype(t), float>();
  reduce_rows(c, r, how, identity);
  reduce_columns(c, k, how, identity);
  r.store(tensor(rows, extents<int, M>()));
  for (auto it = k.begin(); it != k.end(); ++it)
    if (it.is_valid_element()) columns[it.get_multidimensional_index()[0]] = *it;
  if (!is_iterator_compatible(c, r) || !is_iterator_compatible(c, k)) return;
  for (auto it = c.begin(); it != c.end(); ++it)
    *it = *it * 2 - *r.map_iterator(it) + *k.map_iterator(it) * 3;
  c.store(tensor(mapped, extents<int, N, M>()));
}
#define KERNEL(name, S, M, N)                                               \\
  kernel void name(device float *x, device float *rows,                     \\
                   device float *columns, device float *mapped,             \\
                   constant int &how, constant float &identity) {           \\
    auto op = how == 0   ? reduction_operation::sum                         \\
              : how == 1 ? reduction_operation::max                         \\
                         : reduction_operation::min;                        \\
    reduce<S, M, N>(x, rows, columns, mapped, op, identity);                \\
  }
KERNEL(whole, execution_simdgroup, 32, 48)
KERNEL(ragged, execution_simdgroup, 21, 37)
KERNEL(alone, execution_thread, 5, 3)
kernel void identities(device float *x, device float *out) {
  auto t = tensor(x, extents<int, 16, 16>());
  matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroup> op;
  auto c = op.get_destination_cooperative_tensor<decltype(t), decltype(t),
                                                 float>();
  c.load(t);
  auto r = op.get_row_reduction_destination_cooperative_tensor<
      decltype(t), decltype(t), float>();
  reduce_rows(c, r);
  r.store(tensor(out, extents<int, 16>()));
  reduce_rows(c, r, reduction_operation::max);  // not below the identity, 0
  r.store(tensor(out + 16, extents<int, 16>()));
  reduce_rows(c, r, reduction_operation::max,
              reduction_operation_identity<float>::max_identity);
  r.store(tensor(out + 32, extents<int, 16>()));
  reduce_rows(c, r, reduction_operation::min,
              reduction_operation_identity<float>::min_identity);
  r.store(tensor(out + 48, extents<int, 16>()));
}
// softmax(q k^T) v, as flash attention has it: blocks of 16 keys.
kernel void attention(device half *q, device half *k, device half *v,
                      device float *o, constant int &keys) {
  constexpr int rows = 16, depth = 32, block = 16;
  auto mode = matmul2d_descriptor::mode::multiply_accumulate;
  constexpr auto scores = matmul2d_descriptor(
      rows, block, depth, false, true, false,
      matmul2d_descriptor::mode::multiply);
  constexpr auto values = matmul2d_descriptor(
      rows, depth, block, false, false, true,
      matmul2d_descriptor::mode::multiply_accumulate);
  (void)mode;
  matmul2d<scores, execution_simdgroup> qk;
  matmul2d<values, execution_simdgroup> pv;
  auto tq = tensor(q, extents<int, depth, rows>());
  auto tk = tensor(k, dextents<int, 2>{depth, keys}, array<int, 2>{1, depth});
  auto tv = tensor(v, dextents<int, 2>{depth, keys});
  auto top = qk.get_row_reduction_destination_cooperative_tensor<
      decltype(tq), decltype(tk), float>();
  auto sum = qk.get_row_reduction_destination_cooperative_tensor<
      decltype(tq), decltype(tk), float>();
  for (int i = 0; i < top.get_capacity(); i++) top[i] = -INFINITY;
  auto s = qk.get_destination_cooperative_tensor<decltype(tq), decltype(tk),
                                                 float>();
  auto p = pv.get_left_input_cooperative_tensor<half, half, float>();
  auto acc = pv.get_destination_cooperative_tensor<decltype(p), decltype(tv),
                                                   float>();
  for (int at = 0; at < keys; at += block) {
    auto bk = tk.slice(0, at);
    auto bv = tv.slice(0, at);
    qk.run(tq, bk, s);
    for (auto it = s.begin(); it != s.end(); ++it)
      if (at + it.get_multidimensional_index()[0] >= keys) *it = -INFINITY;
    auto now = top;
    reduce_rows(s, now, reduction_operation::max, -INFINITY);
    for (int i = 0; i < now.get_capacity(); i++) now[i] = max(now[i], top[i]);
    for (auto it = s.begin(); it != s.end(); ++it)
      *it = exp(*it - *now.map_iterator(it));
    auto part = sum;
    reduce_rows(s, part, reduction_operation::sum, 0.0f);
    for (auto it = acc.begin(); it != acc.end(); ++it) {
      auto row = now.map_iterator(it);
      *it *= exp(*top.map_iterator(it) - *row);
    }
    for (int i = 0; i < sum.get_capacity(); i++)
      sum[i] = sum[i] * exp(top[i] - now[i]) + part[i];
    top = now;
    if (!pv.is_compatible_as_left_input<half, half, float>(s)) return;
    auto left = pv.get_left_input_cooperative_tensor<half, half, float>(s);
    pv.run(left, bv, acc);
  }
  for (auto it = acc.begin(); it != acc.end(); ++it)
    *it /= *sum.map_iterator(it);
  acc.store(tensor(o, extents<int, depth, rows>()));
}"""


def reductions(program, random):
    for kernel, rows, columns, group in (("whole", 32, 48, 32),
                                         ("ragged", 21, 37, 32),
                                         ("alone", 5, 3, 1)):
        x = random.integers(-99, 100, (rows, columns)).astype(np.float32)
        for how, (reduce, identity) in enumerate((
                (np.sum, 7), (np.max, -1000), (np.min, 1000))):
            results = program.run(
                kernel, {0: x, 1: np.zeros(rows, np.float32),
                         2: np.zeros(columns, np.float32),
                         3: np.zeros_like(x), 4: np.int32(how),
                         5: np.float32(identity)}, group=(group,))
            extra = identity if how == 0 else 0
            r = reduce(x, 1) + np.float32(extra)
            c = reduce(x, 0) + np.float32(extra)
            name = f"{kernel} {reduce.__name__}"
            check.equal(name + " of rows", results[1], r)
            check.equal(name + " of columns", results[2], c)
            check.equal(name + " mapped", results[3],
                        x * 2 - r[:, None] + c * 3)
    x = -random.integers(1, 100, (16, 16)).astype(np.float32)
    out = program.run("identities", {0: x, 1: np.zeros((4, 16),
                                                       np.float32)})[1]
    check.equal("identities", out, np.stack(
        [x.sum(1), np.zeros(16, np.float32), x.max(1), x.min(1)]))


def attention(program, random):
    for keys in (16, 64, 45):
        q = (random.standard_normal((16, 32)) / 4).astype(np.float16)
        k, v = (random.standard_normal((keys, 32)).astype(np.float16)
                for _ in "kv")
        out = program.run("attention", {
            0: q, 1: k, 2: v, 3: np.zeros((16, 32), np.float32),
            4: np.int32(keys)})[3]
        s = q.astype(np.float32) @ k.astype(np.float32).T
        p = np.exp(s - s.max(1, keepdims=True))
        want = p / p.sum(1, keepdims=True) @ v.astype(np.float32)
        # p is rounded to half: 2**-11 of 1, with fast exponentials.
        check.equal(f"attention over {keys}", out, want, 0, 2e-3)


try:
    reductions(Program(TEXT), np.random.default_rng(3))
    attention(Program(TEXT), np.random.default_rng(4))
except mettle.Error as error:
    check.failed(str(error))
check.finish()
