# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels called as functions, as of torch.mps.compile_shader."""

import tempfile
import unittest

import numpy as np
from case import SAXPY

import mettle

SCALARS = """
kernel void scalars(device float *out, constant %s &a,
                    uint i [[thread_position_in_grid]]) {
  out[i] = float(a);
}"""
STRUCT = """
struct Inner { uchar tag; float2 corner; };
struct Look { float3 color; int count[3]; Inner inner; float2x2 m; };
kernel void look(device float *out, constant Look &l) {
  out[0] = l.color.x; out[1] = l.color.z; out[2] = l.count[0];
  out[3] = l.count[2]; out[4] = l.inner.tag; out[5] = l.inner.corner.y;
  out[6] = l.m[0][1]; out[7] = l.m[1][0];
}"""


def shader(source, **options):
    return mettle.compile_shader("#include <metal_stdlib>\n"
                                 "using namespace metal;\n" + source,
                                 **options)


class Calls(unittest.TestCase):
    def setUp(self):
        self.lib = shader(SAXPY)
        self.x = np.arange(8, dtype=np.float32)
        self.y = np.ones(8, np.float32)
        self.expected = [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]

    def test_numpy_arrays_are_used_where_they_lie(self):
        self.lib.saxpy(self.x, self.y, 0.5)
        self.assertEqual(self.y.tolist(), self.expected)

    def test_names(self):
        self.lib.saxpy(a=0.5, y=self.y, x=self.x)
        self.assertEqual(self.y.tolist(), self.expected)

    def test_wrong_names_are_told(self):
        for call, text in (
                (lambda: self.lib.saxpy(self.x, self.y), "misses 'a'"),
                (lambda: self.lib.saxpy(self.x, self.y, 1, 2),
                 "takes 3 arguments, 4 were given"),
                (lambda: self.lib.saxpy(self.x, self.y, b=1),
                 "has no argument 'b'"),
                (lambda: self.lib.saxpy(self.x, self.y, 1, y=self.y),
                 "two values for 'y'")):
            with self.assertRaisesRegex(TypeError, text):
                call()

    def test_threads_and_group_size(self):
        self.lib.saxpy(self.x, self.y, 0.5, threads=3)
        self.assertEqual(self.y.tolist(), [1, 1.5, 2, 1, 1, 1, 1, 1])
        lib = shader("""
kernel void where(device uint *out, uint3 t [[thread_position_in_grid]],
                  uint3 n [[threads_per_threadgroup]],
                  uint3 g [[threads_per_grid]]) {
  out[t.x + g.x * (t.y + g.y * t.z)] = n.x * 100 + n.y * 10 + n.z;
}""")
        out = np.zeros((2, 3, 4), np.uint32)
        lib.where(out, threads=(4, 3, 2), group_size=[4, 3, 1])
        self.assertEqual(set(out.ravel().tolist()), {431})
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "4 sides"):
            lib.where(out, threads=(1, 1, 1, 1))
        with self.assertRaises(mettle.InvalidArgumentError):
            lib.where(out, threads=-1)

    def test_group_size_over_the_limit(self):
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "2048"):
            self.lib.saxpy(self.x, self.y, 0.5, group_size=2048)

    def test_a_kernel_without_arrays_wants_threads(self):
        lib = shader("kernel void nothing(constant int &a) {}")
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "threads="):
            lib.nothing(1)
        lib.nothing(1, threads=4).wait()

    def test_sizes_are_integers(self):
        self.lib.saxpy(self.x, self.y, 0.5, threads=np.int64(3))
        self.assertEqual(self.y.tolist(), self.expected[:3] + [1] * 5)
        for threads in (1.5, "8", (4, 2.0)):
            with self.assertRaisesRegex(TypeError, "threads is an integer"):
                self.lib.saxpy(self.x, self.y, 0.5, threads=threads)

    def test_an_element_of_several_numbers_is_one_thread(self):
        lib = shader("""
struct Pair { float a, b; };
kernel void vectors(device float4 *x, device uint *n,
                    uint threads [[threads_per_grid]]) { *n = threads; }
kernel void pairs(device Pair *x, device uint *n,
                  uint threads [[threads_per_grid]]) { *n = threads; }""")
        for kernel, count in ((lib.vectors, 2), (lib.pairs, 4)):
            for x in (self.x, mettle.array(self.x)):
                n = np.zeros(1, np.uint32)
                kernel(x, n)
                self.assertEqual(n[0], count)

    def test_views_and_strides(self):
        y = np.ones((4, 8), np.float32)
        self.lib.saxpy(self.x, y[2], 0.5)
        self.assertEqual(y[2].tolist(), self.expected)
        self.assertEqual(y[[0, 1, 3]].tolist(), [[1] * 8] * 3)
        with self.assertRaisesRegex(mettle.InvalidArgumentError,
                                    "'y': the array is not contiguous"):
            self.lib.saxpy(self.x, np.ones((8, 2), np.float32)[:, 0], 0.5)

    def test_read_only_arrays(self):
        self.x.flags.writeable = False
        self.lib.saxpy(self.x, self.y, 0.5)
        self.assertEqual(self.y.tolist(), self.expected)
        self.y.flags.writeable = False
        with self.assertRaisesRegex(mettle.InvalidArgumentError,
                                    "'y' is written"):
            self.lib.saxpy(self.x, self.y, 0.5)
        self.assertEqual(self.y.tolist(), self.expected)

    def test_an_array_of_another_type(self):
        with self.assertRaisesRegex(TypeError, "'x' is float in the kernel, "
                                               "the array is of float64"):
            self.lib.saxpy(np.arange(8.0), self.y, 0.5)
        with self.assertRaisesRegex(TypeError, "'y'.*int32"):
            self.lib.saxpy(self.x, mettle.zeros(8, np.int32), 0.5)

    def test_signs_and_bytes_are_free(self):
        lib = shader("""
kernel void set(device uint *a, device uchar *b) { a[0] = 7; b[5] = 1; }""")
        a, b = np.zeros(1, np.int32), np.zeros(2, np.float32)
        lib.set(a, b)
        self.assertEqual(a.tolist(), [7])
        self.assertEqual(b.view(np.uint8).tolist(), [0, 0, 0, 0, 0, 1, 0, 0])

    def test_an_empty_array(self):
        before = self.y.tolist()
        for nothing in (np.zeros(0, np.float32), np.zeros((3, 0), np.float32)):
            self.lib.saxpy(nothing, self.y, 0.5)  # no thread
        self.assertEqual(self.y.tolist(), before)
        with self.assertRaisesRegex(TypeError, "float64"):
            self.lib.saxpy(np.zeros(0), self.y, 0.5)

    def test_buffers_out_of_order(self):
        lib = shader("""
kernel void order(constant float &a [[buffer(2)]],
                  device float *out [[buffer(0)]],
                  device const float *x [[buffer(1)]]) { *out = *x - a; }""")
        out, x = np.zeros(1, np.float32), np.full(1, 5, np.float32)
        lib.order(out, x, 2.0)  # by index, as torch has it
        self.assertEqual(out.tolist(), [3])

    def test_a_missing_kernel(self):
        with self.assertRaisesRegex(AttributeError, "saxpy"):
            print(self.lib.saxpi)
        self.assertEqual(dir(self.lib), ["saxpy"])
        self.assertFalse(hasattr(self.lib, "nothing"))

    def test_arrays_do_not_wait(self):
        x, y = mettle.array(self.x), mettle.array(self.y)
        commands = self.lib.saxpy(x, y, 0.5)
        self.assertEqual(y.tolist(), self.expected)
        self.assertTrue(commands.done())

    def test_buffers(self):
        device = mettle.default_device()
        y = device.new_buffer(self.y)
        self.lib.saxpy(device.new_buffer(self.x), y, 0.5, threads=8)
        self.assertEqual(y.numpy(np.float32).tolist(), self.expected)

    def test_many_in_flight(self):
        x, y = mettle.ones(8), mettle.zeros(8)
        for _ in range(500):
            self.lib.saxpy(x, y, 1.0)
        self.assertEqual(y.tolist(), [500.0] * 8)

    def test_constants(self):
        lib = shader("""
constant int factor [[function_constant(0)]];
constant float2 more [[function_constant(3)]];
kernel void times(device float *x, uint i [[thread_position_in_grid]]) {
  x[i] = x[i] * factor + more.y;
}""")
        times = lib.kernel("times", {"factor": 3, 3: (1.0, 0.5)})
        x = np.array([1, 2], np.float32)
        times(x)
        self.assertEqual(x.tolist(), [3.5, 6.5])
        with self.assertRaisesRegex(mettle.NotFoundError, "factor, more"):
            lib.kernel("times", {"factors": 3})
        with self.assertRaisesRegex(mettle.InvalidArgumentError,
                                    "2 components"):
            lib.kernel("times", {"factor": 3, "more": 1.0})

    def test_macros_headers_and_math(self):
        source = ('#include "mine.h"\nkernel void k(device float *x) '
                  "{ *x = VALUE + OTHER; }")
        lib = shader(source, macros={"VALUE": 2}, math_mode="safe",
                     headers={"mine.h": "#define OTHER 40\n"})
        x = np.zeros(1, np.float32)
        lib.k(x)
        self.assertEqual(x.tolist(), [42])
        with self.assertRaisesRegex(mettle.CompileError, "mine.h"):
            shader(source, macros={"VALUE": 2})
        with self.assertRaisesRegex(ZeroDivisionError, "mine.h"):
            def find(name):
                raise ZeroDivisionError(name)
            shader(source, headers=find)


class Values(unittest.TestCase):
    def value(self, msl, value, **options):
        out = np.zeros(1, np.float32)
        shader(SCALARS % msl).scalars(out, value, **options)
        return float(out[0])

    def test_numbers_become_what_the_kernel_declares(self):
        for msl, value in (("float", 0.5), ("float", 3), ("half", 0.25),
                           ("bfloat", 1.5), ("int", -7), ("uint", 7),
                           ("char", -8), ("uchar", 255), ("short", -300),
                           ("ushort", 60000), ("long", -1 << 40),
                           ("ulong", 1 << 50), ("bool", True), ("int", True),
                           ("float", np.float64(2.5)), ("int", np.int8(-3))):
            with self.subTest(msl=msl, value=value):
                self.assertEqual(self.value(msl, value), float(value))

    def test_numbers_that_do_not_fit(self):
        for msl, value, error in (
                ("uchar", 256, OverflowError), ("uint", -1, OverflowError),
                ("int", 1 << 31, OverflowError), ("int", 0.5, TypeError),
                ("half", 1e6, OverflowError), ("float", "1", TypeError),
                ("float", [None], TypeError)):
            with self.subTest(msl=msl, value=value):
                with self.assertRaises(error):
                    self.value(msl, value)

    def test_casts(self):
        self.assertEqual(self.value("half", 0.5, arg_casts="fp16"), 0.5)
        self.assertEqual(self.value("int", 7, arg_casts=[None, "int32"]), 7)
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "fp17"):
            self.value("half", 0.5, arg_casts="fp17")
        with self.assertRaises(mettle.InvalidArgumentError):  # 2 bytes of 4
            self.value("float", 0.5, arg_casts="fp16")

    def test_vectors_and_lists(self):
        lib = shader("""
kernel void sum(device float *out, constant float3 &v,
                constant float *list, constant packed_short3 &p) {
  out[0] = v.x + v.y + v.z; out[1] = list[4]; out[2] = p[2];
}""")
        out = np.zeros(3, np.float32)
        lib.sum(out, (1, 2, 3), [1.5, 2, 3, 4, 5.5], [7, 8, 9])
        self.assertEqual(out.tolist(), [6, 5.5, 9])
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "'v'"):
            lib.sum(out, (1, 2), [1.0] * 5, [7, 8, 9])

    def test_structs(self):
        lib = shader(STRUCT)
        out = np.zeros(8, np.float32)
        lib.look(out, {"color": (1, 2, 3), "count": [4, 5, 6],
                       "inner": {"tag": 7, "corner": (8, 9)},
                       "m": [1, 2, 3, 4]})
        self.assertEqual(out.tolist(), [1, 3, 4, 6, 7, 9, 2, 3])
        with self.assertRaisesRegex(TypeError, "color, count, inner, m"):
            lib.look(out, {"colour": 1})
        with self.assertRaisesRegex(TypeError, "12 bytes"):
            lib.look(out, {"count": [1, 2, 3, 4]})

    def test_a_matrix(self):
        lib = shader("""
kernel void matrix(device float *out, constant float2x3 &m) {
  out[0] = m[0].z; out[1] = m[1].x;
}""")
        out = np.zeros(2, np.float32)
        lib.matrix(out, [[1, 2, 3], [4, 5, 6]], threads=1)
        self.assertEqual(out.tolist(), [3, 4])
        with self.assertRaisesRegex(TypeError, "2 columns of 3"):
            lib.matrix(out, [[1, 2], [3, 4], [5, 6]], threads=1)

    def test_a_table_of_arguments(self):
        lib = shader("""
struct Table {
  device const float *x; device float *y; texture2d<float> t; sampler s;
};
kernel void add(constant Table &table, uint i [[thread_position_in_grid]]) {
  table.y[i] = table.x[i] + 1;
}
kernel void look(constant Table &table, uint i [[thread_position_in_grid]]) {
  table.y[i] = table.t.sample(table.s, float2(0.5)).x;
}""")
        x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
        with mettle.check():  # what the table leads to is resident
            lib.add({"x": x, "y": y}, threads=8)
        self.assertEqual(y.tolist(), [1, 2, 3, 4, 5, 6, 7, 8])
        ours = mettle.zeros(8)
        lib.add({"x": mettle.array(x), "y": ours}, threads=8)
        self.assertEqual(ours.tolist(), y.tolist())
        device = mettle.default_device()
        texture = mettle.Texture.from_array(device,
                                            np.full((2, 2), 5, np.float32))
        lib.look({"y": y, "t": texture, "s": device.new_sampler()}, threads=8)
        self.assertEqual(y.tolist(), [5] * 8)
        for table, text in (
                ({"y": y.astype(np.float64)}, "y points to float .* float64"),
                ({"y": y[::2]}, "contiguous"), ({"y": 3}, "wants an array"),
                ({"t": y}, "texture2d<float> in the kernel, ndarray")):
            with self.assertRaisesRegex(TypeError, text):
                lib.add(table, threads=1)

    def test_a_struct_as_bytes_and_as_an_array(self):
        lib = shader("struct P { int a; float b; };\n"
                     "kernel void k(device float *o, constant P &p)"
                     "{ *o = p.a + p.b; }")
        out = np.zeros(1, np.float32)
        record = np.array([(2, 0.5)], [("a", np.int32), ("b", np.float32)])
        lib.k(out, record)
        self.assertEqual(out.tolist(), [2.5])
        lib.k(out, record.tobytes())
        self.assertEqual(out.tolist(), [2.5])

    def test_values_are_not_written(self):
        lib = shader("kernel void k(device float *o) { *o = 1; }")
        with self.assertRaisesRegex(TypeError, "wants an array"):
            lib.k([1.0], threads=1)

    def test_threadgroup_memory(self):
        lib = shader("""
kernel void reverse(device int *x, threadgroup int *t [[threadgroup(0)]],
                    uint i [[thread_position_in_threadgroup]],
                    uint n [[threads_per_threadgroup]]) {
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[n - 1 - i];
}""")
        x = np.arange(5, dtype=np.int32)
        lib.reverse(x, threadgroup_memory=20)
        self.assertEqual(x.tolist(), [4, 3, 2, 1, 0])
        lib.reverse(x, threadgroup_memory={"t": 20})
        self.assertEqual(x.tolist(), [0, 1, 2, 3, 4])
        with self.assertRaisesRegex(TypeError, "'t'"):
            lib.reverse(x)


class Failures(unittest.TestCase):
    def test_a_source_is_a_text(self):
        for source in (b"kernel void k() {}", None):
            with self.assertRaisesRegex(TypeError, "source is the text"):
                mettle.compile_shader(source)

    def test_one_folder_of_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/two.h", "w", encoding="ascii") as file:
                file.write("#define TWO 2\n")
            lib = mettle.compile_shader(
                '#include "two.h"\n'
                "kernel void k(device int *x) { *x = TWO; }",
                include_paths=folder)
        x = np.zeros(1, np.int32)
        lib.k(x)
        self.assertEqual(x[0], 2)

    def test_a_wrong_source(self):
        with self.assertRaisesRegex(mettle.CompileError,
                                    r"mine.metal:1:\d+: error: .*nothing"):
            mettle.compile_shader("kernel void k() { nothing; }",
                                  file_name="mine.metal")

    def test_a_fault(self):
        lib = shader("kernel void far(device int *x, constant int &far) "
                     "{ x[far] = 1; }")
        with self.assertRaisesRegex(mettle.KernelFaultError, "'far'"):
            lib.far(mettle.zeros(4, np.int32), 1 << 30, wait=True)
        x = mettle.zeros(4, np.int32)
        commands = lib.far(x, 1 << 30)
        with self.assertRaisesRegex(mettle.KernelFaultError, "'far'"):
            x.numpy()
        self.assertEqual(commands.status, mettle.Status.ERROR)
        lib.far(x, 2)  # the queue goes on
        self.assertEqual(x.tolist(), [0, 0, 1, 0])

    def test_every_status_has_its_class(self):
        self.assertTrue(issubclass(mettle.InvalidArgumentError, ValueError))
        self.assertTrue(issubclass(mettle.OutOfMemoryError, MemoryError))
        self.assertTrue(issubclass(mettle.TimedOutError, TimeoutError))
        self.assertTrue(issubclass(mettle.NotFoundError, LookupError))
        with self.assertRaisesRegex(mettle.NotFoundError, "gpu9.*cpu"):
            mettle.Device("gpu9")
        with self.assertRaisesRegex(ValueError, "length 70368744177664"):
            mettle.default_device().new_buffer(1 << 46)
        with self.assertRaises(mettle.BadDataError):
            mettle.default_device().load_library(b"no container")


if __name__ == "__main__":
    unittest.main()
