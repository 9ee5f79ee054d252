# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of mlx-vlm, called by its own functions, against what the same
module does without a GPU, or NumPy. What is here is what needs no model."""

import unittest

import mlx_world
import numpy as np
import test_mlx_lm as lm
from mlx_world import load, mx, on_the_gpu

lm.PACKAGE = PACKAGE = "mlx_vlm"
LEAST = 36  # kernels that run here


class Norms(lm.Norms):
    """Those that mlx-lm has as well."""


class Models(lm.Models):
    def test_gated_delta(self):
        module = load(PACKAGE, "models.gated_delta")
        for vector in (False, True):
            for masked in (False, True):
                given = self.gated(64, 16, vector, masked)
                wanted = module.gated_delta_ops(*given)
                self.same(module.gated_delta_kernel(*given), wanted,
                          given[-1])
                y, state, states = module.gated_delta_kernel(
                    *given, state_steps=6)
                self.same((y, state), wanted, given[-1])
                lm.near(self, states[:, -1], state)

    def test_gated_delta_packed(self):
        module = load(PACKAGE, "models.qwen3_5.gated_delta")
        for size in (64, 128):
            given = self.gated(size, 16)
            self.same(module.gated_delta_kernel(*given),
                      module.gated_delta_ops(*given))
            given = self.gated(size, 16, masked=True)
            self.same(module.gated_delta_kernel(*given),
                      module.gated_delta_ops(*given), given[-1])

    def test_gated_delta_with_states(self):
        module = load(PACKAGE, "models.qwen3_5.gated_delta")
        q, k, v, _, _, state, mask = self.gated(64, 16, masked=True)
        a, b = lm.arrays(lm.random(2, 6, 4), lm.random(2, 6, 4))
        log, bias = lm.arrays(lm.random(4), lm.random(4))
        for given in (None, mask):
            wanted = module.gated_delta_update_with_states(
                q, k, v, a, b, log, bias, state, given, state_steps=4)
            with on_the_gpu():
                got = module.gated_delta_update_with_states(
                    q, k, v, a, b, log, bias, state, given, state_steps=4)
            self.same(got[:2], wanted[:2], given)
            lm.near(self, got[2], wanted[2], rtol=1e-3, atol=1e-4)

    def test_rwkv7(self):
        module = load(PACKAGE, "models.rwkv7.language")
        lm_load, lm.load = lm.load, lambda package, name: module
        try:
            super().test_rwkv7()
        finally:
            lm.load = lm_load

    def test_kimi(self):
        module = load(PACKAGE, "models.kimi_k3.language")
        lm_load, lm.load = lm.load, lambda package, name: module
        try:
            super().test_kimi()
        finally:
            lm.load = lm_load

    def test_sinkhorn(self):
        self.skipTest("in one kernel with more, which wants a model")

    def test_bitlinear(self):
        module = load(PACKAGE, "models.bitnet.bitlinear")
        kernel = module.make_bitlinear_kernel()
        packed = lm.RANDOM.integers(0, 256, (3, 64)).astype(np.uint8) & 0xaa
        x = lm.random(2, 64)
        out, = kernel(
            inputs=lm.arrays(x, packed, np.array([2], np.float32)),
            template=[("T", mx.float32), ("invert_weight_scales", False),
                      ("in_features", 64), ("out_features", 12)],
            grid=(32, 2 * 3, 1), threadgroup=(32, 1, 1),
            output_shapes=[(2, 12)], output_dtypes=[mx.float32])
        weight = np.concatenate([(packed >> 2 * i & 3).astype(np.float32) - 1
                                 for i in range(4)])
        lm.near(self, out, x @ weight.T * 2, atol=1e-4)

    def test_fp8(self):
        module = load(PACKAGE, "models.deepseek_v41.fakequant")
        x = mx.array(lm.random(3, 96, scale=20))
        with on_the_gpu():
            got = module.fake_quant_fp8_ue8m0(x)
        self.assertEqual(np.asarray(got).tolist(),
                         np.asarray(module.fake_quant_fp8_ue8m0(x)).tolist())


class Pictures(unittest.TestCase):
    setUpClass = lm.Norms.setUpClass

    def test_interpolation(self):
        module = load(PACKAGE, "models.kernels")
        module._HAS_METAL = True
        x = mx.array(lm.random(2, 3, 7, 9))
        for size in ((14, 5), (3, 20)):
            lm.near(self, module.nearest_interpolate(x, size=size),
                    module._nearest_interpolate_mlx(x, *size))
            for corners, smooth in ((False, False), (True, False),
                                    (False, True)):
                lm.near(self, module.bicubic_interpolate(
                    x, size=size, align_corners=corners, antialias=smooth),
                    module._bicubic_interpolate_mlx(x, *size, corners,
                                                    smooth),
                    rtol=1e-3, atol=1e-4)

    def test_grids_and_taps(self):
        module = load(PACKAGE, "models.kernels")
        module._HAS_METAL = True
        x = mx.array(lm.random(2, 6, 7, 3))
        grid = mx.array(lm.RANDOM.uniform(-1.2, 1.2, (2, 4, 5, 2)).astype(
            np.float32))
        lm.near(self, module.grid_sample(x, grid),
                module._grid_sample_mlx(x, grid), atol=1e-4)
        index = [mx.array(lm.RANDOM.integers(0, n, (8, 2)).astype(np.int32))
                 for n in (6, 7)]
        weights = lm.arrays(lm.random(8, 2), lm.random(8, 2))
        given = x, index[0], weights[0], index[1], weights[1]
        lm.near(self, module.separable_interpolate(*given),
                module._separable_interpolate_mlx(*given), atol=1e-4)


class Rest(unittest.TestCase):
    setUpClass = lm.Norms.setUpClass

    def test_one_bit(self):
        module = load(PACKAGE, "quantization.one_bit")
        for rows in (1, 3, 20):
            x = lm.random(rows, 512)
            weight = lm.RANDOM.integers(0, 1 << 32, (64, 16)).astype(
                np.uint32)
            scales, biases = lm.random(64, 4), lm.random(64, 4)
            given = lm.arrays(weight, scales, biases)
            dense = module.dequantize_one_bit(*given, 128)
            with on_the_gpu():
                got = module.one_bit_quantized_matmul(
                    mx.array(x), *given, group_size=128)
            lm.near(self, got, x @ np.asarray(dense).T, rtol=1e-3, atol=1e-3)

    def test_masks_of_tokens(self):
        module = load(PACKAGE, "structured")
        logits = lm.random(2, 40)
        allowed = lm.RANDOM.random((2, 64)) < 0.5
        words = np.packbits(allowed, axis=1, bitorder="little").view(np.int32)
        got = module._apply_llguidance_mask(*lm.arrays(logits, words))
        self.assertEqual(np.asarray(got).tolist(),
                         np.where(allowed[:, :40], logits, -np.inf).tolist())


class Zzz(unittest.TestCase):
    """Last."""

    def test_how_many_were_called(self):
        if mx is None or mlx_world.source(PACKAGE) is None:
            self.skipTest("no mlx or no mlx_vlm")
        called = sum(1 for kernel in mlx_world.made if kernel.calls)
        print(f"{called} kernels of {PACKAGE} ran, of "
              f"{len(mlx_world.made)} that were made")
        self.assertGreaterEqual(called, LEAST)


if __name__ == "__main__":
    unittest.main()
