# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tinygrad_uses.py: what tinygrad's users do with its METAL device: graphs that
# are replayed from indirect command buffers, copies between devices, errors,
# memory. Run by tinygrad_device.py under `mettle env`.
import os
import unittest

import numpy as np

from tinygrad import Device, Tensor, TinyJit
from tinygrad.device import Buffer, CompileError
from tinygrad.dtype import dtypes


class Uses(unittest.TestCase):
    def setUp(self):
        self.assertEqual(Device.DEFAULT, "METAL")
        self.random = np.random.default_rng(1)

    def floats(self, *shape):
        return self.random.standard_normal(shape, dtype=np.float32)

    def test_products(self):
        a, b = self.floats(65, 130), self.floats(130, 37)
        got = (Tensor(a) @ Tensor(b)).numpy()
        np.testing.assert_allclose(got, a @ b, rtol=1e-4, atol=1e-4)

    def test_softmax(self):
        x = self.floats(33, 257)
        e = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_allclose(Tensor(x).softmax().numpy(),
                                   e / e.sum(1, keepdims=True), rtol=1e-5,
                                   atol=1e-7)

    def test_a_graph_is_replayed_with_new_inputs(self):
        @TinyJit
        def steps(x):
            for _ in range(6):
                x = (x * 2 + 1).contiguous()
            return x.realize()

        for k in range(5):
            got = steps(Tensor.full((40,), float(k)).contiguous().realize())
            np.testing.assert_array_equal(got.numpy(),
                                          np.full(40, 64 * k + 63, np.float32))
        self.assertIsNotNone(steps.captured)

    def test_copies_between_two_devices(self):
        x = self.floats(1000)
        there = Tensor(x).to("METAL:1").realize()
        self.assertEqual(there.device, "METAL:1")
        np.testing.assert_array_equal((there + 1).to("METAL").numpy(), x + 1)

    def test_a_wrong_source_is_a_compile_error(self):
        compiler = Device["METAL"].compiler
        with self.assertRaises(CompileError) as caught:
            compiler.compile("kernel void f(flaot x) {}")
        self.assertIn("flaot", str(caught.exception))

    def test_too_much_memory_is_an_error(self):
        with self.assertRaises(MemoryError):
            Buffer("METAL", 1 << 50, dtypes.uint8).allocate()

    def test_freed_memory_is_no_longer_counted(self):
        device = Device["METAL"].sysdevice
        before = device.currentAllocatedSize()
        buffer = Buffer("METAL", 1 << 20, dtypes.uint8).allocate()
        during = device.currentAllocatedSize()
        del buffer
        Device["METAL"].allocator.free_cache()
        self.assertGreaterEqual(during - before, 1 << 20)
        self.assertLessEqual(device.currentAllocatedSize(), before)


if __name__ == "__main__":
    os.environ.setdefault("DEV", "METAL")
    unittest.main()
