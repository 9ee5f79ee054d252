# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of their bodies alone, as of mx.fast.metal_kernel."""

import contextlib
import io
import os
import unittest

import numpy as np

import mettle

EXP = mettle.fast.metal_kernel(
    name="myexp", input_names=["inp"], output_names=["out"], source="""
    uint elem = thread_position_in_grid.x;
    T tmp = inp[elem];
    out[elem] = metal::exp(tmp);""")
GATHER = """
    uint elem = thread_position_in_grid.x;
    auto loc = elem_to_loc(elem, inp_shape, inp_strides, inp_ndim);
    out[elem] = inp[loc];"""


def gather(**options):
    return mettle.fast.metal_kernel(
        name="gather", input_names=["inp"], output_names=["out"],
        source=GATHER, **options)


def run(kernel, x, shape=None, dtype=None, **options):
    size = int(np.prod(shape or x.shape))
    return kernel(**{**dict(
        inputs=[x], grid=(size, 1, 1), threadgroup=(256, 1, 1),
        output_shapes=[shape or x.shape],
        output_dtypes=[dtype or x.dtype]), **options})


class Kernels(unittest.TestCase):
    def test_the_example_of_the_documentation(self):
        x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(4, 16)
        out, = run(EXP, x, template=[("T", np.float32)])
        self.assertEqual(out.shape, (4, 16))
        np.testing.assert_allclose(out.numpy(), np.exp(x), rtol=1e-6)
        half, = run(EXP, x.astype(np.float16),
                    template=[("T", np.float16)])
        self.assertEqual(half.dtype, np.float16)
        np.testing.assert_allclose(half.numpy(), np.exp(x), rtol=2e-3)

    def test_arrays_do_not_wait_and_chain(self):
        x = mettle.zeros(16)
        for _ in range(2):
            x, = run(EXP, x, template=[("T", np.float32)])
        np.testing.assert_allclose(x.numpy(), [np.exp(1)] * 16, rtol=1e-6)

    def test_strided_inputs_are_copied_or_not(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        for view in (x.T, x[::2, 1:5], x[::-1, ::-2], x[:, 0], x):
            for options in ({}, {"ensure_row_contiguous": False}):
                with self.subTest(shape=view.shape, **options):
                    out, = run(gather(**options), view)
                    self.assertEqual(out.tolist(), view.tolist())

    def test_shapes_and_strides_are_those_of_the_input(self):
        kernel = mettle.fast.metal_kernel(
            name="show", input_names=["a", "b"], output_names=["out"],
            ensure_row_contiguous=False, source="""
            out[0] = a_shape[1]; out[1] = a_strides[0]; out[2] = a_ndim;
            out[3] = b_shape[0];""")
        x = np.zeros((3, 5), np.int16).T
        out, = kernel(inputs=[x, np.zeros(9)[:7].astype(np.float32)],
                      grid=(1, 1, 1), threadgroup=(1, 1, 1),
                      output_shapes=[(4,)], output_dtypes=[np.int64])
        self.assertEqual(out.tolist(), [3, 1, 2, 7])

    def test_numbers_and_few_elements_are_constant(self):
        kernel = mettle.fast.metal_kernel(
            name="mix", input_names=["x", "few", "a", "n", "on"],
            output_names=["y", "z"], source="""
            uint i = thread_position_in_grid.x;
            y[i] = on ? x[i] * a + n : 0;
            z[i] = few[i % few_shape[0]];""")
        y, z = kernel(inputs=[np.arange(8, dtype=np.float32),
                              np.array([5, 6], np.int32), 0.5, 2, True],
                      grid=(8, 1, 1), threadgroup=(8, 1, 1),
                      output_shapes=[(8,), (2, 4)],
                      output_dtypes=[np.float32, np.int32])
        self.assertEqual(y.tolist(), [2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5])
        self.assertEqual(z.tolist(), [[5, 6, 5, 6]] * 2)

    def test_templates(self):
        kernel = mettle.fast.metal_kernel(
            name="t", input_names=["x"], output_names=["y"],
            source="y[0] = ON ? T(x[0]) * N : -1;")
        for template, expected in (
                ([("T", np.int32), ("N", 3), ("ON", True)], 6),
                ([("T", np.float32), ("N", 3), ("ON", True)], 7.5),
                ([("T", np.float32), ("N", -3), ("ON", False)], -1)):
            y, = kernel(inputs=[np.array([2.5] * 9, np.float32)],
                        template=template, grid=(1, 1, 1),
                        threadgroup=(1, 1, 1), output_shapes=[(1,)],
                        output_dtypes=[np.float32])
            self.assertEqual(y.tolist(), [expected])

    def test_atomic_outputs_and_an_initial_value(self):
        kernel = mettle.fast.metal_kernel(
            name="count", input_names=["x"], output_names=["sum"],
            atomic_outputs=True, source="""
            atomic_fetch_add_explicit(&sum[thread_position_in_grid.x % 2],
                                      x[thread_position_in_grid.x],
                                      memory_order_relaxed);""")
        x = np.arange(100, dtype=np.float32)
        out, = run(kernel, x, shape=(2,), init_value=10,
                   grid=(100, 1, 1))
        self.assertEqual(out.tolist(), [2460, 2510])

    def test_a_header(self):
        kernel = mettle.fast.metal_kernel(
            name="h", input_names=["x"], output_names=["y"],
            header="template <typename T> T cube(T x) { return x * x * x; }",
            source="y[0] = cube(x[0]);")
        y, = run(kernel, np.array([3], np.int32))
        self.assertEqual(y.tolist(), [27])

    def test_threadgroups_are_cut_to_the_grid(self):
        kernel = mettle.fast.metal_kernel(
            name="g", input_names=["x"], output_names=["y"],
            source="y[thread_position_in_grid.x] = "
                   "threads_per_threadgroup.x;")
        y, = run(kernel, np.zeros(5, np.int32), threadgroup=(256, 1, 1))
        self.assertEqual(y.tolist(), [5] * 5)
        with self.assertRaisesRegex(ValueError, "2048 threads; 1024"):
            run(kernel, np.zeros(5, np.int32), threadgroup=(2048, 1, 1))

    def test_bfloat16_and_complex(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("no ml_dtypes")
        x = np.array([1, 2.5, -3], ml_dtypes.bfloat16)
        kernel = mettle.fast.metal_kernel(
            name="b", input_names=["x"], output_names=["y"], source="""
            uint i = thread_position_in_grid.x;
            y[i] = x[i] * bfloat16_t(2);""")
        y, = run(kernel, x)
        self.assertEqual(y.numpy().astype(np.float32).tolist(), [2, 5, -6])
        z = np.array([1 + 2j, 3 - 1j], np.complex64)
        kernel = mettle.fast.metal_kernel(
            name="c", input_names=["x"], output_names=["y"], source="""
            uint i = thread_position_in_grid.x;
            y[i] = x[i] * x[i];""")
        y, = run(kernel, z)
        self.assertEqual(y.tolist(), [-3 + 4j, 8 - 6j])

    def test_limits_and_three_dimensions(self):
        kernel = mettle.fast.metal_kernel(
            name="d", input_names=["x"], output_names=["y"],
            ensure_row_contiguous=False, source="""
            uint3 p = thread_position_in_grid;
            auto n = threads_per_grid;
            y[p.x + n.x * (p.y + n.y * p.z)] =
                min(x[elem_to_loc(p, x_shape, x_strides, x_ndim)],
                    Limits<int>::max);""")
        x = np.arange(24, dtype=np.int32).reshape(4, 3, 2).T
        y, = run(kernel, x, grid=(4, 3, 2), threadgroup=(4, 1, 1))
        self.assertEqual(y.tolist(), x.tolist())

    def test_verbose(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            run(EXP, np.zeros(9, np.float32), verbose=True,
                template=[("T", np.float32)])
        self.assertIn("custom_kernel_myexp<float>", text.getvalue())
        self.assertNotIn("#line", text.getvalue())

    def test_errors_have_the_lines_of_the_caller(self):
        x = np.zeros(9, np.float32)
        body = mettle.fast.metal_kernel(
            name="body", input_names=["x"], output_names=["y"],
            source="\nuint i = 0;\ny[i] = nothing;")
        with self.assertRaisesRegex(mettle.CompileError, r"^body:3:8: error"):
            run(body, x)
        header = mettle.fast.metal_kernel(
            name="k", input_names=["x"], output_names=["y"],
            header="float f() { return nothing; }", source="y[0] = f();")
        with self.assertRaisesRegex(mettle.CompileError, r"^k.header:1:20"):
            run(header, x)
        race = mettle.fast.metal_kernel(
            name="race", input_names=["x"], output_names=["y"],
            source="uint i = thread_position_in_grid.x;\ny[0] = x[i];")
        with mettle.check(raises=False) as findings:
            run(race, np.arange(9, dtype=np.float32))
        place = next(iter(findings)).first
        self.assertEqual((os.path.basename(place.file), place.line),
                         ("race", 2))

    def test_errors(self):
        x = np.zeros(9, np.float32)
        with self.assertRaisesRegex(ValueError, "2 entries for 1 names"):
            run(EXP, x, inputs=[x, x], template=[("T", np.float32)])
        with self.assertRaisesRegex(mettle.CompileError, "'T'"):
            run(EXP, x)
        with self.assertRaisesRegex(TypeError, "float64"):
            run(EXP, x.astype(np.float64), template=[("T", np.float32)])
        for wrong, text in (
                ({"template": [("T", 1.5)]}, "a truth value, not 1.5"),
                ({"template": ["T"]}, "pairs of a name and a value"),
                ({"grid": (9.5, 1, 1)}, "grid is an integer"),
                ({"output_dtypes": np.float32}, "output_dtypes is a list")):
            with self.assertRaisesRegex(TypeError, text):
                run(EXP, x, **{"template": [("T", np.float32)], **wrong})
        with self.assertRaisesRegex(TypeError, "input_names is a list"):
            mettle.fast.metal_kernel("n", "x", ["y"], "")
        with self.assertRaisesRegex(TypeError, "no option 'fast_math'"):
            mettle.fast.metal_kernel("n", ["x"], ["y"], "", fast_math=True)
        with self.assertRaisesRegex(ValueError, "the name is part"):
            mettle.fast.metal_kernel("a-b", ["x"], ["y"], "")
        with self.assertRaisesRegex(ValueError, "no outputs"):
            mettle.fast.metal_kernel("n", ["x"], [], "")


if __name__ == "__main__":
    unittest.main()
