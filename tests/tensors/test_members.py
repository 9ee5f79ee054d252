# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_members.py: extents, tensors in memory, cooperative tensors' members and
# layout, and what is refused. Expected values are literals or NumPy's.
import itertools

import numpy as np

from case import Program, check, mettle, refused, to_bfloat

TENSORS = """
kernel void members(device int *in, device int *out) {
  typedef extents<int, 6, dynamic_extent, 4> sizes;
  static_assert(sizes::rank() == 3 && sizes::rank_dynamic() == 1);
  static_assert(sizes::static_extent(0) == 6 &&
                sizes::static_extent(1) == dynamic_extent);
  tensor<device int, sizes, tensor_inline> t(in, sizes(5));
  static_assert(is_same_v<decltype(t)::value_type, int> &&
                is_same_v<decltype(t)::index_type, int> &&
                is_same_v<decltype(t)::size_type, uint>);
  static_assert(decltype(t)::get_rank() == 3 &&
                decltype(t)::get_static_extent(2) == 4);
  int n = 0;
  out[n++] = t.get_extent(0); out[n++] = t.get_extent(1);
  out[n++] = t.get_extent(2); out[n++] = t.get_stride(1);
  out[n++] = t.get_stride(2);
  out[n++] = t[3, 2, 1];                            // 3 + 12 + 30
  out[n++] = t[array<int, 3>{1, 0, 2}];             // 1 + 60
  out[n++] = t.load(5, 4, 3); out[n++] = t.load(-1, 0, 0);
  out[n++] = t.load(0, 5, 0); out[n++] = t.load(array<int, 3>{0, 0, 4});
  auto u = t.slice<dynamic_extent, 2, 3>(1, 1, 1);  // from 1 + 6 + 30
  out[n++] = u.get_extent(0); out[n++] = u.get_extent(1);
  out[n++] = u.get_extent(2); out[n++] = u[0, 0, 0];
  auto v = u.slice(2, 1, 0).slice(1, 0, 2);         // + 2 + 6, + 1 + 60
  out[n++] = v.get_extent(0); out[n++] = v.get_extent(1);
  out[n++] = v.get_extent(2); out[n++] = v[0, 0, 0];
  v.store(-5, 0, 0, 0);
  v.store(-6, 5, 0, 0); v.store(-6, 0, -1, 0);
  t[0, 0, 0] = -7;
  tensor<device const int, dextents<long, 3>, tensor_inline> w = t;
  out[n++] = int(w.get_extent(1)); out[n++] = w[3, 2, 1];
  out[n++] = dextents<int, 2>(3, 4) == extents<int, 3, 4>();
}
kernel void strided(device float *in, device float *out) {
  auto t = tensor(in, dextents<int, 2>(4, 3), array<int, 2>({3, 1}));
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++) out[r * 4 + c] = t[c, r];
  threadgroup float here[6];
  auto s = tensor(here, extents<int, 3, 2>());
  for (int i = 0; i < 6; i++) s.store(in[i] + 1, i % 3, i / 3);
  out[12] = here[5];
  out[13] = s.load(1, 1);
  float own[4] = {1, 2, 3, 4};
  auto p = tensor(own, dextents<int, 1>(4));
  out[14] = p.load(2) + p.load(4);
}
kernel void far(device char *in, device int *out) {
  auto t = tensor(in - 3000000000l, dextents<int, 2>(1 << 30, 4));
  out[0] = t.slice(852516352, 2)[0, 0];
  out[1] = t.load(852516353, 2);
}"""

TOGETHER = """
template <typename T>
static void tell(T t, device int *out, uint at) {
  for (ushort i = 0; i < t.get_capacity(); i++) {
    auto place = t.get_multidimensional_index(i);
    bool valid = t.is_valid_element(i) && t.get_mask(i);
    out[(at * t.get_capacity() + i) * 2] = valid ? int(place[0]) : -1;
    out[(at * t.get_capacity() + i) * 2 + 1] = valid ? int(place[1]) : -1;
  }
}
constant constexpr auto acc = matmul2d_descriptor::mode::multiply_accumulate;
kernel void where(device int *out, uint l [[thread_index_in_simdgroup]]) {
  matmul2d<matmul2d_descriptor(16, 32, 16, false, false, true, acc),
           execution_simdgroup> op;
  matmul2d<matmul2d_descriptor(16, 32, 16, false, true), execution_simdgroup>
      turned;
  auto a = op.get_left_input_cooperative_tensor<half, bfloat, float>();
  auto b = op.get_right_input_cooperative_tensor<half, half, float>();
  auto c = op.get_destination_cooperative_tensor<decltype(a), decltype(b),
                                                 float>();
  static_assert(a.get_capacity() == 8 && b.get_capacity() == 16 &&
                c.get_capacity() == 16);
  tell(a, out, l);
  tell(b, out + 512, l);
  tell(turned.get_right_input_cooperative_tensor<half, half, float>(),
       out + 1536, l);
  tell(c, out + 2560, l);
}
kernel void cover(device atomic_int *hits, device float *stored, device half *x,
                  uint t [[thread_index_in_threadgroup]]) {
  auto a = tensor(x, dextents<int, 2>(16, ROWS));
  auto b = tensor(x, dextents<int, 2>(COLUMNS, 16));
  matmul2d<matmul2d_descriptor(ROWS, COLUMNS, 16), execution_simdgroups<GROUPS>>
      op;
  auto c = op.get_destination_cooperative_tensor<decltype(a), decltype(b),
                                                 float>();
  for (int i = 0; i < c.get_capacity(); i++)
    if (c[i] != 0) atomic_fetch_add_explicit(hits, 1000, memory_order_relaxed);
  ushort e = 0;
  for (auto it = c.begin(); it != c.end(); it++, e++) {
    if (!it.is_valid_element()) continue;
    auto at = it.get_multidimensional_index();
    *it = 100 * at[1] + at[0];
    atomic_fetch_add_explicit(hits + at[1] * COLUMNS + at[0], 1,
                              memory_order_relaxed);
    if (*it != c.get(e) || &*it != &c[e]) c.set(e, -1);
  }
  c.store(tensor(stored, dextents<int, 2>(COLUMNS - 3, ROWS - 2),
                 array<int, 2>{1, COLUMNS + 1}));
}
kernel void load(device float *in, device half *out) {
  matmul2d<matmul2d_descriptor(20, 24, 16), execution_simdgroup> op;
  auto t = tensor(in, dextents<int, 2>(24, 1));
  auto c = op.get_destination_cooperative_tensor<decltype(t), decltype(t),
                                                 float>();
  c.load(t);                                          // each row the same
  c.store(tensor(out, extents<int, 24, 20>()));
  c.load(tensor(in, dextents<int, 2>(10, 12), array<int, 2>{1, 24}));
  c.store(tensor(out + 480, extents<int, 24, 20>()));  // 0 beyond
}"""


def members():
    program = Program(TENSORS)
    given = np.arange(120, dtype=np.int32)
    results = program.run("members", {0: given, 1: np.zeros(22, np.int32)},
                          group=(1,))
    want = given.copy()
    want[0], want[106] = -7, -5
    check.equal("members: memory", results[0], want)
    check.equal("members", results[1], np.array(
        [6, 5, 4, 6, 30, 45, 61, 119, 0, 0, 0, 5, 2, 3, 37, 2, 1, 1, 106, 5,
         45, 1], np.int32))
    x = np.arange(12, dtype=np.float32)
    out, = list(program.run("strided", {0: x, 1: np.zeros(15, np.float32)},
                            group=(1,)).values())[1:]
    check.equal("strides", out, np.concatenate(
        [x.reshape(4, 3).T.ravel(), [6, 5, 3]]).astype(np.float32))
    # 2 * 2**30 + 852516352 = 3000000000
    out = program.run("far", {0: np.array([5, 9], np.int8),
                              1: np.zeros(2, np.int32)}, group=(1,))[1]
    check.equal("offsets above 2 GiB", out, np.array([5, 9], np.int32))


def layout():
    """Row and columns of a thread in a fragment of 16 x 16."""
    program = Program(TOGETHER.replace("ROWS", "16").replace("COLUMNS", "16")
                      .replace("GROUPS", "1"))
    out = program.run("where", {0: np.zeros(3584, np.int32)})[0]
    thread = np.arange(32)
    row = [0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3,
           4, 4, 5, 5, 6, 6, 7, 7, 4, 4, 5, 5, 6, 6, 7, 7]
    column = [0, 4, 0, 4, 0, 4, 0, 4, 8, 12, 8, 12, 8, 12, 8, 12] * 2

    def want(columns_of_16, rows_of_16):
        parts = []
        for down in range(rows_of_16):
            for across in range(columns_of_16):
                for i in range(8):
                    parts.append(np.stack(
                        [np.array(column)[thread] + i % 4 + 16 * across,
                         np.array(row)[thread] + i // 4 * 8 + 16 * down], -1))
        return np.stack(parts, 1).astype(np.int32).ravel()
    check.equal("left", out[:512], want(1, 1))
    check.equal("right", out[512:1536], want(2, 1))
    check.equal("right transposed", out[1536:2560], want(1, 2))
    check.equal("result", out[2560:], want(2, 1))


def coverage():
    for rows, columns, groups in ((16, 16, 1), (48, 40, 4), (8, 100, 4),
                                  (33, 17, 2), (64, 32, 4), (5, 6, 8),
                                  (80, 16, 3), (32, 64, 6)):
        name = f"{rows} x {columns} in {groups} simdgroups"
        program = Program(TOGETHER.replace("ROWS", str(rows))
                          .replace("COLUMNS", str(columns))
                          .replace("GROUPS", str(groups)))
        results = program.run(
            "cover", {0: np.zeros((rows, columns), np.int32),
                      1: np.full((rows, columns + 1), -9, np.float32),
                      2: np.zeros(rows * columns * 16, np.float16)},
            group=(32 * groups,))
        check.equal(name + ": each held once", results[0],
                    np.ones((rows, columns), np.int32))
        want = np.full((rows, columns + 1), -9, np.float32)
        want[:rows - 2, :columns - 3] = 100 * np.arange(rows - 2)[:, None] + \
            np.arange(columns - 3)
        check.equal(name + ": stored", results[1], want)
    x = np.arange(480, dtype=np.float32)
    out = program.run("load", {0: x, 1: np.zeros((2, 20, 24),
                                                 np.float16)})[1]
    want = np.zeros((2, 20, 24), np.float16)
    want[0] = x[:24]
    want[1, :12, :10] = x[:288].reshape(12, 24)[:, :10]
    check.equal("load", out, want)


def versions():
    name = "#include <metal_stdlib>\nkernel void k(device int *out) " \
           "{ out[0] = __METAL_VERSION__ * 10 + "
    probe = ("__has_include(<metal_tensor>)"
             " + __has_include(<metal_cooperative_tensor>)"
             " + __has_include(<MetalPerformancePrimitives/"
             "MetalPerformancePrimitives.h>)")
    text = "#if " + probe + " == 3\n#define N 3\n#elif " + probe + \
           " == 0\n#define N 0\n#else\n#define N 9\n#endif\n" + name + "N; }"
    for language, want in ((320, 3200), (400, 4003), (410, 4103)):
        program = Program(text, language, head="")
        out = program.run("k", {0: np.zeros(1, np.int32)}, group=(1,))[0]
        check.equal(f"headers of {language}", out, np.array([want], np.int32))
    refused("before Metal 4", "#include <metal_tensor>\n",
            "'metal_tensor' is of Metal 4: compile as language version 4.0 or "
            "4.1", 320, "")
    refused("before Metal 4", "#include <MetalPerformancePrimitives/"
            "MetalPerformancePrimitives.h>\n",
            "'MetalPerformancePrimitives' is of Metal 4", 310, "")


def spellings():
    # The library's headers are in the folder metal too, each one file.
    text = ("#include <metal/metal_stdlib>\n#include <metal_stdlib>\n"
            "#include <metal/metal_simdgroup_matrix>\n"
            "#include <metal_simdgroup_matrix>\n"
            "#if __has_include(<metal/metal_none>) || "
            "__has_include(<metal/simd.h>)\n#error found\n#endif\n"
            "kernel void k(device int *out) "
            "{ out[0] = metal::popcount(7u); }")
    for language in (310, 410):
        out = Program(text, language, head="").run(
            "k", {0: np.zeros(1, np.int32)}, group=(1,))[0]
        check.equal(f"folder metal, {language}", out, np.array([3], np.int32))
    refused("folder metal before Metal 4", "#include <metal/metal_tensor>\n",
            "'metal_tensor' is of Metal 4", 320, "")
    refused("folder metal, unsupported", "#include <metal/metal_raytracing>\n",
            "'metal_raytracing' is unsupported: Mettle has no ray tracing",
            410, "")
    program = Program("""kernel void product(
          device half *x, device float *out) {
      auto a = tensor(x, dextents<int, 2>{16, 16}, array<int, 2>{1, 16});
      using A = __tensor_ops_detail::__remove_addrspace_t<decltype(a)>;
      static_assert(is_same_v<A, decltype(a)>);
      static_assert(is_same_v<__tensor_ops_detail::__remove_addrspace_t<
                                  device float>, float>);
      matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroup> op;
      auto c = op.get_destination_cooperative_tensor<A, A, float>();
      op.run(a, a, c);
      c.store(tensor(out, dextents<int, 2>{16, 16}));
    }""")
    x = np.arange(256).reshape(16, 16).astype(np.float16) / 16
    out = program.run("product", {0: x, 1: np.zeros((16, 16), np.float32)})[1]
    check.equal("bare types", out, x.astype(np.float32) @ x.astype(np.float32))


def decoded(exponent_bits, fraction_bits, bias, code):
    """A number of a sign, an exponent and a fraction, without infinities."""
    sign = -1.0 if code >> (exponent_bits + fraction_bits) else 1.0
    exponent = code >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = (code & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
    return sign * (fraction * 2.0 ** (1 - bias) if exponent == 0 else
                   (1 + fraction) * 2.0 ** (exponent - bias))


# Bits, and what each code is.
CODES = {
    "uint4b_format": (4, np.arange(16.0)),
    "int4b_format": (4, np.r_[np.arange(8.0), np.arange(-8.0, 0)]),
    "uint2b_format": (2, np.arange(4.0)),
    "int2b_format": (2, np.array([0, 1, -2, -1.0])),
    "char": (8, np.r_[np.arange(128.0), np.arange(-128.0, 0)]),
    "metal_fp4_e2m1_format": (4, np.array(
        [0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6])),
    "metal_fp8_e4m3_format": (8, np.array([decoded(4, 3, 7, c) for c in
                                           range(256)])),
    "metal_fp8_e5m2_format": (8, np.array([decoded(5, 2, 15, c) for c in
                                           range(256)]))}


def packed(codes, bits):
    """Rows of codes in bytes, the first in the lowest bits."""
    each = 8 // bits
    wide = np.zeros((len(codes), -(-codes.shape[1] // each) * each), np.uint8)
    wide[:, :codes.shape[1]] = codes
    return sum(wide[:, i::each] << i * bits for i in range(each)).astype(
        np.uint8)


# Left, right, result, M, N, scope, right transposed?
PACKED = (("half", "uint4b_format", "float", 16, 32, 2, True),
          ("bfloat", "int4b_format", "float", 16, 16, 1, False),
          ("char", "int4b_format", "int", 16, 16, 1, True),
          ("uchar", "uint2b_format", "int", 16, 16, 1, False),
          ("half", "int2b_format", "half", 16, 16, 1, True),
          ("half", "metal_fp8_e4m3_format", "float", 16, 16, 1, False),
          ("float", "metal_fp8_e5m2_format", "float", 16, 16, 1, True),
          ("half", "metal_fp4_e2m1_format", "float", 16, 16, 1, False),
          ("half", "char", "float", 16, 32, 1, True))
PACKED_KERNEL = """
kernel void p%d(device %s *a, device uchar *b, device %s *c,
                constant int *s, uint2 g [[threadgroup_position_in_grid]]) {
  constexpr int m = %d, n = %d;
  constexpr bool turned = %s;
  auto ta = tensor(a, dextents<int, 2>(s[2], s[0]));
  auto tb = tensor<device %s, dextents<int, 2>, tensor_inline>(
      (device %s *)b,
      dextents<int, 2>(s[turned ? 2 : 1], s[turned ? 1 : 2]),
      array<int, 2>{1, s[3]});
  matmul2d<matmul2d_descriptor(m, n, dynamic_length_v<int>, false, turned),
           execution_simdgroups<%d>> op;
  const int x = int(g.x) * n, y = int(g.y) * m;
  op.run(ta.slice(0, y), tb.slice(turned ? 0 : x, turned ? x : 0),
         tensor(c, dextents<int, 2>(s[1], s[0])).slice(x, y));
}"""
SCALED = """
using scales = tensor_blockwise<tensor_plane_scales,
                                device metal_fp8_ue8m0_format, 32, 1>;
using fp4 = tensor<device metal_fp4_e2m1_format, dextents<int, 2>,
                   tensor_inline, scales>;
// Pieces of 48 along K begin inside blocks.
kernel void scaled(device uchar *a, device uchar *as, device uchar *b,
                   device uchar *bs, device float *c, constant int *s,
                   device int *strides) {
  fp4 ta(a, dextents<int, 2>{s[2], s[0]}, array<int, 2>{1, s[2]}, scales(as));
  fp4 tb((fp4::data_handle_type)b, dextents<int, 2>{s[2], s[1]},
         array<int, 2>{1, s[2]},
         scales(reinterpret_cast<scales::data_handle_type>(bs)));
  matmul2d<matmul2d_descriptor(
               16, 32, 48, false, true, false,
               matmul2d_descriptor::mode::multiply_accumulate),
           execution_simdgroup> op;
  auto sums = op.get_destination_cooperative_tensor<fp4, fp4, float>();
  for (int k = 0; k < s[2]; k += 48)
    op.run(ta.slice(k, 0), tb.slice(k, 0), sums);
  sums.store(tensor(c, dextents<int, 2>(s[1], s[0])));
  strides[0] = tb.get_stride(1);
  strides[1] = tb.get_stride<tensor_plane_scales>(1);
}
kernel void scaled_right(device half *a, device uchar *b, device uchar *bs,
                         device float *c, constant int *s) {
  fp4 tb(b, dextents<int, 2>{s[2], s[1]}, array<int, 2>{1, s[2]}, scales(bs));
  auto tc = tensor(c, dextents<int, 2>(s[1], s[0]));
  auto ta = tensor(a, dextents<int, 2>(s[2], s[0]));
  matmul2d<matmul2d_descriptor(16, 16, dynamic_length_v<int>, false, true),
           execution_simdgroup> op;
  for (int n = 0; n < s[1]; n += 16) op.run(ta, tb.slice(0, n), tc.slice(n, 0));
}
// A left side held together; one thread; names of types; unpacked vectors.
kernel void held(device char *a, device uchar *b, device int *c,
                 threadgroup uchar *here, device float *numbers,
                 device ulong *w, uint t [[thread_index_in_threadgroup]]) {
  using op_t = matmul2d<matmul2d_descriptor(16, 32, 32, false, true, true),
                        execution_simdgroup>;
  op_t op;
  auto left = op.get_left_input_cooperative_tensor<char, int4b_format, int>();
  static_assert(is_same_v<decltype(left), op_t::cooperative_tensor_left_input_t<
                                              char, int4b_format, int>>);
  left.load(tensor(a, extents<int, 32, 16>()));
  using right_t = tensor<device int4b_format, extents<int, 32, 32>,
                         tensor_inline>;
  right_t right(b, {}, array<int, 2>{1, 64});
  op_t::cooperative_tensor_destination_t<decltype(left), right_t, int> sums;
  op.run(left, right, sums);
  sums.store(tensor(c, extents<int, 32, 16>()));
  if (t) return;
  for (int i = 0; i < 4; i++) here[i] = b[i];
  auto bytes = tensor((threadgroup metal_fp8_e5m2_format *)(here + 1),
                      dextents<int, 2>(1, 3));
  float own[3] = {1, 2, 4}, sum[1];
  matmul2d<matmul2d_descriptor(1, 1, 3), execution_thread>{}.run(
      tensor(own, extents<int, 3, 1>()), bytes,
      tensor(sum, extents<int, 1, 1>()));
  numbers[0] = sum[0];
  typedef packed_numeric_type<uint4b_format, 16> sixteen;
  auto v = unpack<float>(sixteen(as_type<sixteen::storage_type>(w[0])));
  for (int i = 0; i < 16; i++) numbers[1 + i] = v[i];
  for (int i = 0; i < 256; i++)
    numbers[17 + i] = unpack<half, metal_fp8_e4m3_format, 4>(
        packed_metal_fp8_e4m3<4>(packed_uchar4(0, uchar(i), 0, 0)))[1];
}
#if !defined(__HAVE_TENSOR__) || !defined(__HAVE_INT4B_FORMAT_TYPE__) || \\
    defined(__HAVE_TENSOR_MULTIPLANE__) != (__METAL_VERSION__ >= 410)
#error macros
#endif
"""


def products_of_formats(random, program):
    # Sizes of whole words, and others.
    for (number, (left, name, result, m, n, scope, turned)), sizes in (
            itertools.product(enumerate(PACKED), ((32, 96, 64), (37, 51, 45)))):
        bits, numbers = CODES[name]
        shape = (sizes[1], sizes[2]) if turned else (sizes[2], sizes[1])
        # Of the floating-point ones no infinities and no large numbers.
        codes = random.integers(0, 1 << bits, shape).astype(np.uint8) & (
            0xbf if bits == 8 else 0xff)
        a = random.integers(0 if left == "uchar" else -8, 9, sizes[::2])
        memory = to_bfloat(a) if left == "bfloat" else a.astype(
            {"half": np.float16, "float": np.float32, "char": np.int8,
             "uchar": np.uint8}[left])
        b = packed(codes, bits)
        kind = {"half": np.float16, "float": np.float32, "int": np.int32}[
            result]
        out = program.run(
            f"p{number}", {0: memory, 1: b, 2: np.zeros(sizes[:2], kind),
                           3: np.array([*sizes, b.shape[1] * 8 // bits],
                                       np.int32)},
            groups=(-(-sizes[1] // n), -(-sizes[0] // m)),
            group=(32 * scope,))[2]
        want = a @ (numbers[codes].T if turned else numbers[codes])
        # Sums of these need no more than 24 bits.
        check.equal(f"{left} by {name}", out, want.astype(kind))


def formats():
    random = np.random.default_rng(12)
    program = Program("".join(
        PACKED_KERNEL % (i, left, result, m, n, str(turned).lower(), name,
                         name, scope)
        for i, (left, name, result, m, n, scope, turned) in enumerate(PACKED)) +
        SCALED, 410)
    products_of_formats(random, program)
    m, n, k = 13, 29, 160
    numbers = CODES["metal_fp4_e2m1_format"][1]
    codes, powers = zip(*((random.integers(0, 16, (rows, k)).astype(np.uint8),
                           random.integers(120, 134, (rows, k // 32)).astype(
                               np.uint8)) for rows in (m, n)))
    a, b = (numbers[c] * np.repeat(2.0 ** (p.astype(int) - 127), 32, 1)
            for c, p in zip(codes, powers))
    out = program.run("scaled", {
        0: packed(codes[0], 4), 1: powers[0], 2: packed(codes[1], 4),
        3: powers[1], 4: np.zeros((m, n), np.float32),
        5: np.array([m, n, k], np.int32), 6: np.zeros(2, np.int32)})
    # 160 products, each rounded to 24 bits of the greatest sum.
    check.equal("scaled", out[4], (a @ b.T).astype(np.float32), 0,
                160 * 2.0**-24 * (abs(a) @ abs(b).T).max())
    left = random.integers(-8, 9, (m, k))
    right = program.run("scaled_right", {
        0: left.astype(np.float16), 1: packed(codes[1], 4), 2: powers[1],
        3: np.zeros((m, n), np.float32), 4: np.array([m, n, k], np.int32)})[3]
    check.equal("scaled on the right", right, (left @ b.T).astype(np.float32),
                0, 160 * 2.0**-24 * (abs(left) @ abs(b).T).max())
    check.equal("strides", out[6], np.array([160, 5], np.int32))
    a = random.integers(-128, 128, (16, 32)).astype(np.int8)
    codes = random.integers(0, 16, (32, 64)).astype(np.uint8)
    bytes_ = packed(codes, 4)
    bytes_[0, :4] = (0x3c, 0x40, 0x44, 0x3d)  # 1, 2, 4 and 1.25 in e5m2
    codes[0, :8] = (12, 3, 0, 4, 4, 4, 13, 3)
    out = program.run("held", {
        0: a, 1: bytes_, 2: np.zeros((16, 32), np.int32),
        3: np.zeros(273, np.float32),
        4: np.array([0xfedcba9876543210], np.uint64)}, memory={0: 16})
    b = CODES["int4b_format"][1][codes[:, :32]].astype(np.int32)
    check.equal("held", out[2], a.astype(np.int32) @ b.T)
    check.equal("bytes", out[3][0], np.float32(1 * 2 + 2 * 4 + 4 * 1.25))
    check.equal("nibbles", out[3][1:17], np.arange(16, dtype=np.float32))
    want = CODES["metal_fp8_e4m3_format"][1].astype(np.float32)
    want[[127, 255]] = np.nan
    check.equal("unpacked", out[3][17:], want)
    refused("a format in threads", "kernel void k(device uchar *x) { "
            "tensor<device int4b_format, dextents<int, 2>, tensor_inline> "
            "t(x, dextents<int, 2>(2, 1)); t.load(0, 0); }",
            "elements of a packed format are operands of matmul2d alone", 410)
    refused("a bound plane", "kernel void k(tensor<device "
            "metal_fp8_e4m3_format, dextents<int, 2>, tensor_handle, "
            "tensor_blockwise<tensor_plane_scales, device "
            "metal_fp8_ue8m0_format, 32, 1>> t) {}",
            "Mettle binds no tensors with a plane of scales", 410)
    refused("before Metal 4", "using T = metal::int4b_format;",
            "'int4b_format' is of Metal 4", 320, "#include <metal_stdlib>\n")


def errors():
    refused("elements", "kernel void k(device bool *x) { tensor(x, "
            "dextents<int, 1>(4)); }", "a tensor's elements are numbers")
    refused("types", """kernel void k(device int *x) {
      auto t = tensor(x, extents<int, 16, 16>());
      matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroup>{}.run(
          t, t, t); }""",
            "matmul2d has no product of these types of elements")
    refused("dynamic K held together", """kernel void k(device int *x) {
      matmul2d<matmul2d_descriptor(16, 16), execution_simdgroup> op;
      op.get_left_input_cooperative_tensor<half, half, float>(); }""",
            "an input that is held together needs K")
    refused("reductions of several", """kernel void k(device half *x) {
      auto t = tensor(x, extents<int, 16, 16>());
      matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroups<2>> op;
      op.get_row_reduction_destination_cooperative_tensor<
          decltype(t), decltype(t), float>(); }""",
            "one simdgroup or one thread reduces what it holds")
    refused("a pointer as an operand", """kernel void k(device half *x) {
      matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroup>{}.run(
          x, x, x); }""", "the operands of run are tensors")
    refused("a tensor in a struct", "struct S { int n; "
            "tensor<device half, dextents<int, 2>> t[3]; };\n"
            "kernel void k(constant S &s) {}",
            "a tensor_handle inside a struct is unsupported")
    refused("a threadgroup variable of the program's",
            "static void f() { threadgroup int x; x = 1; }\n"
            "kernel void k() { f(); }", "must be declared in a kernel")


for test in (members, layout, coverage, versions, spellings, formats,
             errors):
    try:
        test()
    except mettle.Error as error:
        check.failed(f"{test.__name__}: {error}")
check.finish()
