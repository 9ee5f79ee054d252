# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays, and the memory that they share with other packages."""

import copy
import unittest
from unittest import mock

import numpy as np
from case import SAXPY

import mettle
from mettle import _gpu

LIB = mettle.compile_shader(SAXPY)


class Arrays(unittest.TestCase):
    def test_making_them(self):
        self.assertEqual(mettle.zeros((2, 3)).tolist(), [[0] * 3] * 2)
        self.assertEqual(mettle.full(2, 7, np.int16).tolist(), [7, 7])
        self.assertEqual(mettle.ones(()).item(), 1)
        self.assertEqual(mettle.array([1, 2.5]).dtype, np.float32)
        self.assertEqual(mettle.array([1, 2]).dtype, np.int32)
        self.assertEqual(mettle.array(np.float64(2)).dtype, np.float64)
        self.assertEqual(mettle.empty((0, 4)).shape, (0, 4))
        x = mettle.array(np.arange(6, dtype=np.int8).reshape(2, 3))
        self.assertEqual((x.ndim, x.size, x.nbytes, x.itemsize, len(x)),
                         (2, 6, 6, 1, 2))
        self.assertEqual(x.reshape(3, -1).tolist(), [[0, 1], [2, 3], [4, 5]])
        self.assertEqual(x.view(np.uint8).dtype, np.uint8)
        self.assertEqual(x[1].tolist(), [3, 4, 5])
        with self.assertRaises(ValueError):
            x.reshape(4, 4)
        with self.assertRaisesRegex(ValueError, "do not fit"):
            mettle.Array(x.buffer, (7,), np.int8)

    def test_shapes_and_numbers_that_cannot_be(self):
        self.assertEqual(mettle.zeros(np.int64(3)).shape, (3,))
        self.assertEqual(mettle.zeros((0, 3)).reshape(3, -1).shape, (3, 0))
        for shape in (1.5, (2, 1.5), "2"):
            with self.assertRaisesRegex(TypeError, "integers"):
                mettle.zeros(shape)
        with self.assertRaisesRegex(ValueError, "negative"):
            mettle.zeros((2, -1))
        with self.assertRaisesRegex(OverflowError, "int32"):
            mettle.array([1, 1 << 31])
        big = mettle.array([1 << 40], np.int64)
        self.assertEqual(big.tolist(), [1 << 40])
        with self.assertRaises(OverflowError):
            mettle.array([300], np.int8)

    def test_elements_that_kernels_do_not_know(self):
        for values in ([None], ["a"], np.array([object()]),
                       np.array(["2020-01-01"], "M8[D]")):
            for make in (mettle.array, mettle.asarray):
                with self.assertRaisesRegex(TypeError, "no elements of"):
                    make(values)
        pairs = np.array([(1.5, 2)], [("a", "f4"), ("b", "i4")])
        self.assertEqual(mettle.asarray(pairs).numpy()["b"].tolist(), [2])

    def test_another_order_of_bytes_is_copied(self):
        swapped = np.array([1, 2.5], ">f4")
        for make in (mettle.array, mettle.asarray):
            self.assertEqual(make(swapped).tolist(), [1, 2.5])
            self.assertTrue(make(swapped).dtype.isnative)

    def test_as_a_number(self):
        self.assertEqual((float(mettle.array(1.5)), int(mettle.array([7]))),
                         (1.5, 7))
        self.assertEqual("abc"[mettle.array(1)], "b")
        self.assertFalse(mettle.array([0]))
        self.assertEqual(bytes(mettle.array(3)), b"\3\0\0\0")
        with self.assertRaises(ValueError):
            bool(mettle.array([0, 1]))
        x = mettle.array([1, 2])
        other = copy.deepcopy(x)
        other[0] = 9
        self.assertEqual(x.tolist(), [1, 2])

    def test_numpy_shares_the_memory(self):
        x = mettle.zeros(4)
        np.asarray(x)[1] = 5
        x[2] = 6
        self.assertEqual(x.tolist(), [0, 5, 6, 0])
        self.assertEqual(np.asarray(x, np.int32).tolist(), [0, 5, 6, 0])
        view = x.numpy()
        del x  # the view keeps the memory
        self.assertEqual(view.tolist(), [0, 5, 6, 0])

    def test_asarray_shares_numpys(self):
        y = np.zeros(5000, np.float32)[3:]
        shared = mettle.asarray(y)
        LIB.saxpy(mettle.ones(len(y)), shared, 2.0)
        shared.synchronize()
        self.assertEqual(set(y.tolist()), {2.0})
        apart = mettle.asarray(y[::2])  # not contiguous: a copy
        apart[0] = 9
        self.assertEqual(y[0], 2)

    def test_dlpack(self):
        x = mettle.array(np.arange(4, dtype=np.float32))
        other = np.from_dlpack(x)
        other_address = other.ctypes.data
        self.assertEqual(other_address, x.numpy().ctypes.data)

        class Producer:
            def __dlpack__(self, **options):
                return x.__dlpack__(**options)

            def __dlpack_device__(self):
                return x.__dlpack_device__()
        shared = mettle.asarray(Producer())
        self.assertEqual(shared.numpy().ctypes.data, other_address)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no torch")
        x, y = torch.arange(6.0), torch.ones(6)
        LIB.saxpy(x, y[:4], 0.5, threads=4)  # a view, at its offset
        self.assertEqual(y.tolist(), [1, 1.5, 2, 2.5, 1, 1])
        mine = mettle.zeros(3)
        theirs = torch.from_dlpack(mine)
        theirs[1] = 4
        self.assertEqual(mine.tolist(), [0, 4, 0])
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            LIB.saxpy(x, torch.ones(6, 2)[:, 0], 0.5)
        with self.assertRaisesRegex(TypeError, "float64"):
            LIB.saxpy(x.double(), y, 0.5)
        grad = torch.ones(6, requires_grad=True)
        LIB.saxpy(grad, y, 0.0)
        LIB.saxpy(torch.ones(6), torch.nn.Parameter(y), 1.0)
        self.assertEqual(y.tolist(), [2, 2.5, 3, 3.5, 2, 2])
        with self.assertRaisesRegex(TypeError, "meta"):
            LIB.saxpy(torch.ones(6, device="meta"), y, 0.5)
        LIB.saxpy(torch.ones(0), y, 0.5)  # no thread
        self.assertEqual(y.tolist(), [2, 2.5, 3, 3.5, 2, 2])
        with self.assertRaisesRegex(TypeError, "[Ss]parse"):
            LIB.saxpy(torch.ones(6).to_sparse(), y, 0.5)

    def test_gpu_memory_wants_its_device(self):
        class Producer:
            def __dlpack__(self, **options):
                raise AssertionError("looked at in spite of its device")

            def __dlpack_device__(self):
                return 2, 1
        for take in (mettle.asarray, lambda x: LIB.saxpy(x, x, 0.5)):
            with self.assertRaisesRegex(ValueError, "GPU 1.*'cuda:1' can"):
                take(Producer())

    def test_gpu_capsules(self):
        host = np.arange(12, dtype=np.int16)
        made = _gpu.GpuArray(host.ctypes.data, 0, host.dtype, (3, 4), None)

        class Producer:
            def __dlpack__(self, stream):
                self.stream = stream
                return _gpu.capsule_of(host, made)
        producer = Producer()
        with mock.patch.object(_gpu, "_finish_default_stream") as finish:
            found = _gpu.look(producer)
        finish.assert_called_once_with(0)
        self.assertEqual(producer.stream, 1)
        self.assertEqual(found[:4], made[:4])
        self.assertEqual(len(_gpu._exported), 1)
        del found
        self.assertFalse(_gpu._exported)

    def test_gpu_layouts(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no torch")
        x = torch.ones(4, 6, dtype=torch.bfloat16)

        def read(tensor):  # capsules of the host's memory are like a GPU's
            return _gpu.read_capsule(tensor.__dlpack__(), tensor)
        found = read(x[2:])
        self.assertEqual(found.address, x.data_ptr() + 24)
        self.assertEqual(found.shape, (2, 6))
        self.assertEqual(found.dtype.itemsize, 2)
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            read(x.t())
        with self.assertRaisesRegex(TypeError, "type 5"):
            read(torch.ones(2, dtype=torch.complex64))

    def test_torch_on_a_gpu(self):
        try:
            import torch
            cuda = mettle.Device("cuda")
            there = torch.arange(6.0, device="cuda")
        except (ImportError, mettle.MettleError, RuntimeError,
                AssertionError) as error:
            self.skipTest(f"no GPU: {error}")
        lib = mettle.compile_shader(SAXPY, device=cuda)
        y = torch.ones(6, device="cuda")
        lib.saxpy(there, y, 0.5)
        self.assertEqual(y.tolist(), [1, 1.5, 2, 2.5, 3, 3.5])
        shared = mettle.asarray(y[2:], device=cuda)
        lib.saxpy(there, shared, 1.0, threads=4)
        shared.synchronize()
        self.assertEqual(y.tolist(), [1, 1.5, 2, 3.5, 5, 6.5])
        self.assertEqual(torch.from_dlpack(shared).data_ptr(),
                         y.data_ptr() + 8)
        own = mettle.Array(mettle.Buffer(cuda, 24, storage="private"), 6)
        lib.saxpy(there, own, 2.0)
        self.assertEqual(torch.from_dlpack(own).tolist(), [0, 2, 4, 6, 8, 10])
        kernel = mettle.fast.metal_kernel(
            "twice", ["x"], ["y"], "uint i = thread_position_in_grid.x; "
            "y[i] = 2 * x[i];", device=cuda)
        twice, = kernel(inputs=[y], grid=(6, 1, 1), threadgroup=(6, 1, 1),
                        output_shapes=[(6,)], output_dtypes=[np.float32])
        self.assertEqual(twice.tolist(), [2, 3, 4, 7, 10, 13])

    def test_bfloat16_between_packages(self):
        try:
            import ml_dtypes
            import torch
        except ImportError as error:
            self.skipTest(str(error))
        lib = mettle.compile_shader(
            "kernel void twice(device bfloat *x, uint i "
            "[[thread_position_in_grid]]) { x[i] = x[i] * bfloat(2); }")
        x = torch.tensor([1.5, -3], dtype=torch.bfloat16)
        lib.twice(x)
        self.assertEqual(x.tolist(), [3, -6])
        y = mettle.array(np.array([0.5, 8], ml_dtypes.bfloat16))
        lib.twice(y)
        theirs = torch.from_dlpack(y)
        self.assertEqual(theirs.dtype, torch.bfloat16)
        self.assertEqual(theirs.tolist(), [1, 16])

    def test_a_failure_is_told_by_the_array(self):
        lib = mettle.compile_shader(
            "kernel void far(device int *x) { x[1 << 28] = 1; }")
        x = mettle.zeros(4, np.int32)
        lib.far(x)
        with self.assertRaises(mettle.KernelFaultError):
            x.tolist()
        self.assertEqual(x.tolist(), [0] * 4)  # once

    def test_timeit(self):
        timing = mettle.timeit(LIB.saxpy, mettle.ones(4096),
                               mettle.zeros(4096), 1.0, seconds=0.01)
        self.assertGreaterEqual(timing.calls, 10)
        self.assertGreater(timing.device_best, 0)
        self.assertGreaterEqual(timing.host, timing.device_best)
        self.assertIn("on the device", str(timing))


if __name__ == "__main__":
    unittest.main()
