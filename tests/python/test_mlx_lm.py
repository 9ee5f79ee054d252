# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All kernels of mlx-lm, called by its own functions, against MLX's CPU
operations and NumPy. Those that mlx-vlm has as well run from there, too."""

import math
import unittest

import mlx_world
import numpy as np
from mlx_world import load, mx, on_the_gpu

RANDOM = np.random.default_rng(42)
PACKAGE = "mlx_lm"
KERNELS = {
    "attnres_mix", "bitlinear_matmul", "deepseek_v41_sinkhorn",
    "expert_routing", "gated_delta_step", "gated_delta_step_mask",
    "gated_delta_step_packed_btree", "gated_delta_step_vec",
    "gated_delta_step_vec_mask", "gated_delta_step_xtree", "norm_add",
    "norm_add_norm", "norm_add_norm_pre_norm", "post_expert_norm_combine",
    "qk_norm", "qk_norm_rope", "rms_norm_sigmoid_gate", "ssm_kernel",
    "wkv7_kernel"}
LOSSES = 4  # kernels of tuner.losses
# Of float32 sums in another order, and of the fast functions of the kernels.
NEAR = dict(rtol=2e-4, atol=2e-5)


def random(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def arrays(*values):
    return [mx.array(value) for value in values]


def rms(x, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def near(test, got, wanted, **tolerance):
    np.testing.assert_allclose(np.asarray(got, np.float32),
                               np.asarray(wanted, np.float32),
                               **{**NEAR, **tolerance})


class Norms(unittest.TestCase):
    """mlx_lm.kernels; their references are NumPy's."""

    H, K, D = 4, 2, 64

    @classmethod
    def setUpClass(cls):
        why = mlx_world.enter(PACKAGE)
        if why:
            raise unittest.SkipTest(why)

    def heads(self, x, scale):
        parts = x[..., :(self.H + self.K) * self.D].reshape(
            x.shape[:-1] + (self.H + self.K, self.D))
        normed = rms(parts, 1e-5)
        return normed[..., :self.H, :] * scale, normed[..., self.H:, :]

    def options(self):
        return dict(n_heads=self.H, n_kv_heads=self.K, head_dim=self.D,
                    eps=1e-5, query_scale=0.125)

    def test_qk_norm(self):
        x = random(2, 5, 2 * (self.H + self.K) * self.D)
        q, k = load(PACKAGE, "kernels.qk_norm").qk_norm(mx.array(x),
                                                        **self.options())
        want_q, want_k = self.heads(x, 0.125)
        near(self, q, want_q)
        near(self, k, want_k)

    def test_qk_norm_rope(self):
        x = random(2, 5, 2 * (self.H + self.K) * self.D)
        function = load(PACKAGE, "kernels.qk_norm_rope").qk_norm_rope
        for offset in (7, mx.array([3, 11])):
            q, k = function(mx.array(x), **self.options(), rope_base=1e4,
                            offset=offset)
            for got, plain in zip((q, k), self.heads(x, 0.125)):
                want = mx.fast.rope(
                    mx.array(plain).transpose(0, 2, 1, 3), self.D,
                    traditional=True, base=1e4, scale=1.0,
                    offset=offset).transpose(0, 2, 1, 3)
                near(self, got, want, rtol=1e-3, atol=1e-4)

    def test_expert_routing(self):
        logits, bias = random(6, 40), random(40, scale=0.1)
        inds, weights = load(PACKAGE, "kernels.expert_routing") \
            .expert_routing(*arrays(logits, bias), top_k=4, multiplier=0.5,
                            score_eps=1e-6, route_scale=2.5)
        scores = 1 / (1 + np.exp(-logits.astype(np.float64) * 0.5))
        order = np.argsort(-(scores + bias), -1, kind="stable")[:, :4]
        picked = np.take_along_axis(scores, order, -1)
        self.assertEqual(np.asarray(inds).tolist(), order.tolist())
        near(self, weights,
             picked / (picked.sum(-1, keepdims=True) + 1e-6) * 2.5)

    def test_norm_add_norm(self):
        import mlx.nn as nn
        module = load(PACKAGE, "kernels.norm_add_norm")
        for d in (64, 512):
            branch, stream = random(3, d), random(3, d)
            alpha, beta, weight = random(d), random(d), random(d)
            norm = nn.RMSNorm(d, eps=1e-6)
            norm.weight = mx.array(random(d))
            for post in (weight, None):
                given = arrays(branch, stream)
                extra = dict(
                    alpha=mx.array(alpha), beta=mx.array(beta), post_eps=1e-5,
                    post_weight=None if post is None else mx.array(post))
                scaled = branch if post is None else branch * post
                want = alpha * stream + beta * rms(scaled, 1e-5)
                new, none = module.norm_add_norm(*given, **extra,
                                                 next_norm=None)
                self.assertIsNone(none)
                near(self, new, want)
                new, normed = module.norm_add_norm(*given, **extra,
                                                   next_norm=norm)
                near(self, new, want)
                near(self, normed, rms(want, 1e-6) * np.asarray(norm.weight))
                again = module.pre_norm(new, norm, dtype=mx.float32)
                self.assertEqual(np.asarray(again).tolist(),
                                 np.asarray(normed).tolist())

    def test_post_expert_norm_combine(self):
        experts, weights = random(3, 4, 96), random(3, 4)
        weight = random(96)
        out = load(PACKAGE, "kernels.post_expert_norm_combine") \
            .post_expert_norm_combine(*arrays(experts, weights),
                                      norm_weight=mx.array(weight), eps=1e-5)
        near(self, out, (rms(experts * weight, 1e-5)
                         * weights[..., None]).sum(-2))

    def test_rms_norm_sigmoid_gate(self):
        x, gate = random(2, 5, 4, 48), random(2, 5, 4 * 48)
        out = load(PACKAGE, "kernels.rms_norm_sigmoid_gate") \
            .rms_norm_sigmoid_gate(mx.array(x).transpose(0, 2, 1, 3),
                                   mx.array(gate), eps=1e-5)
        near(self, out, rms(x, 1e-5).reshape(2, 5, -1)
             / (1 + np.exp(-gate)))

    def test_half_and_bfloat(self):
        x = random(1, 2, 2 * (self.H + self.K) * self.D)
        for dtype, tolerance in ((mx.float16, 2e-3), (mx.bfloat16, 2e-2)):
            given = mx.array(x).astype(dtype)
            q, k = load(PACKAGE, "kernels.qk_norm").qk_norm(given,
                                                            **self.options())
            self.assertEqual(q.dtype, dtype)
            wanted = self.heads(np.asarray(given.astype(mx.float32)), 0.125)
            for got, want in zip((q, k), wanted):
                near(self, got.astype(mx.float32), want, rtol=tolerance,
                     atol=tolerance / 10)


class Models(unittest.TestCase):
    """mlx_lm.models; the reference is what the same module does without."""

    @classmethod
    def setUpClass(cls):
        why = mlx_world.enter(PACKAGE)
        if why:
            raise unittest.SkipTest(why)

    def gated(self, d_k, d_v, vector=False, masked=False):
        b, t, h_k, h_v = 2, 6, 2, 4
        q, k = random(b, t, h_k, d_k, scale=0.2), random(b, t, h_k, d_k,
                                                         scale=0.2)
        v, beta = random(b, t, h_v, d_v), RANDOM.random(
            (b, t, h_v)).astype(np.float32)
        g = RANDOM.uniform(0.5, 1, (b, t, h_v) + ((d_k,) if vector else ()))
        state = random(b, h_v, d_v, d_k, scale=0.1)
        mask = mx.array(np.arange(t)[None] < np.array([[t], [t - 2]])) \
            if masked else None
        return [*arrays(q, k, v, g.astype(np.float32), beta, state), mask]

    def same(self, got, wanted, mask=None):
        y, want = np.asarray(got[0]), np.asarray(wanted[0])
        if mask is not None:
            y, want = y[np.asarray(mask)], want[np.asarray(mask)]
        near(self, y, want, rtol=1e-3, atol=1e-4)
        near(self, got[1], wanted[1], rtol=1e-3, atol=1e-4)

    def test_gated_delta(self):
        module = load(PACKAGE, "models.gated_delta")
        for vector in (False, True):
            for masked in (False, True):
                given = self.gated(64, 16, vector, masked)
                self.same(module.gated_delta_kernel(*given),
                          module.gated_delta_ops(*given), given[-1])

    def test_gated_delta_packed(self):
        module = load(PACKAGE, "models.gated_delta")
        given = self.gated(128, 16)
        wanted = module.gated_delta_ops(*given)
        packed = module.gated_delta_kernel(*given)
        tree = module.gated_delta_kernel_xtree(*given)
        self.same(packed, wanted)
        self.same(module.gated_delta_kernel_unpacked(*given), wanted)
        for one, other in zip(packed, tree):  # bitwise, as they promise
            self.assertEqual(np.asarray(one).tolist(),
                             np.asarray(other).tolist())

    def test_ssm(self):
        module = load(PACKAGE, "models.ssm")
        n, h, d, groups, s = 2, 8, 16, 2, 64
        given = arrays(
            random(n, 1, h, d), random(h, scale=0.3), random(n, 1, groups, s),
            random(n, 1, groups, s), random(h), random(n, 1, h), random(h),
            random(n, h, d, s))
        wanted = module.ssm_update(*given)
        with on_the_gpu():
            got = module.ssm_update(*given)
        self.same(got, wanted)

    def test_rwkv7(self):
        module = load(PACKAGE, "models.rwkv7")
        shape = (2, 3, 4, 64)
        r, k, v, a = (random(*shape, scale=0.3) for _ in range(4))
        w = RANDOM.uniform(0.3, 1, shape).astype(np.float32)
        given = arrays(r, w, k, v, a, random(*shape, scale=0.1),
                       random(2, 4, 64, 64, scale=0.1))
        steps, state = [], given[-1]
        for t in range(shape[1]):
            y, state = module._wkv7_step_ops(*(x[:, t] for x in given[:-1]),
                                             state)
            steps.append(np.asarray(y).reshape(2, 4, 64))
        self.same(module.wkv7_kernel(*given), (np.stack(steps, 1), state))

    def test_kimi(self):
        module = load(PACKAGE, "models.kimi_k3")
        blocks = module.ResidualBlocks(1e-6)
        for _ in range(3):
            blocks.append(mx.array(random(2, 5, 96)))
        given = blocks, *arrays(random(2, 5, 96), random(96, scale=0.1)), 1e-6
        with on_the_gpu():
            got = module._attn_res_mix(*given)
        near(self, got, module._attn_res_mix(*given))

    def test_sinkhorn(self):
        module = load(PACKAGE, "models.deepseek_v41")
        comb = mx.array(RANDOM.random((2, 5, 4, 4)).astype(np.float32))
        eps = mx.array([1e-6])
        with on_the_gpu():
            got = module._sinkhorn(comb, iters=5, eps=eps)
        near(self, got, module._sinkhorn(comb, iters=5, eps=eps))

    def test_bitlinear(self):
        module = load(PACKAGE, "models.bitlinear_layers")
        for inverted in (False, True):
            layer = module.BitLinear(64, 12, bias=True,
                                     invert_weight_scales=inverted)
            packed = RANDOM.integers(0, 256, (3, 64)).astype(np.uint8) & 0xaa
            layer.weight, layer.bias = arrays(packed, random(12))
            layer.weight_scale = mx.array([2.0])
            x = random(2, 3, 64)
            weight = np.concatenate([(packed >> 2 * i & 3).astype(np.float32)
                                     - 1 for i in range(4)])
            scale = 0.5 if inverted else 2.0
            near(self, layer(mx.array(x)),
                 x @ weight.T * scale + np.asarray(layer.bias), atol=1e-4)


class Losses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = mlx_world.enter("mlx_lm")
        if why:
            raise unittest.SkipTest(why)

    def probabilities(self, x):
        e = np.exp(x.astype(np.float64))
        return e / e.sum(-1, keepdims=True)

    def check(self, function, wanted):
        """wanted(q, p) of probabilities; its gradient by q's logits, with
        weights, by differences in float64."""
        q, p, weights = random(3, 4500), random(3, 4500), random(3)
        near(self, function(*arrays(q, p)), wanted(q, p), rtol=1e-3)
        _, (gradient, _) = mx.vjp(function, arrays(q, p), arrays(weights))
        direction = random(3, 4500)
        step = 1e-4
        want = ((wanted(q + step * direction.astype(np.float64), p)
                 - wanted(q - step * direction.astype(np.float64), p))
                / (2 * step) * weights).sum()
        got = (np.asarray(gradient).astype(np.float64) * direction).sum()
        self.assertTrue(math.isclose(got, want, rel_tol=2e-3, abs_tol=1e-4),
                        (got, want))

    def kl(self, q, p):
        a, b = self.probabilities(p), self.probabilities(q)
        return (a * np.log(a / b)).sum(-1)

    def js(self, q, p):
        a, b = self.probabilities(p), self.probabilities(q)
        m = (a + b) / 2
        return ((a * np.log(a / m)).sum(-1) + (b * np.log(b / m)).sum(-1)) / 2

    def test_kl(self):
        losses = load("mlx_lm", "tuner.losses")
        self.check(lambda q, p: losses.kl_div_loss(q, p), self.kl)

    def test_js(self):
        losses = load("mlx_lm", "tuner.losses")
        self.check(lambda q, p: losses.js_div_loss(q, p), self.js)


class Zzz(unittest.TestCase):
    """Last: every kernel of the package has run."""

    def test_all_of_them_were_called(self):
        if mx is None or mlx_world.source("mlx_lm") is None:
            self.skipTest("no mlx or no mlx_lm")
        called = {name for name, n in mlx_world.calls().items() if n}
        self.assertEqual(KERNELS - called, set())
        self.assertEqual(len(called), len(KERNELS) + LOSSES)


if __name__ == "__main__":
    unittest.main()
