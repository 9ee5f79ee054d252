#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_tinygrad.py --list | GROUP...: the kernels that tinygrad writes for a Mac,
# run here, against NumPy or against tinygrad's CPU device. Ends with 77 where
# tinygrad cannot be had.
import os
import sys

import numpy as np

import check
import sources

# tinygrad's cache and threads are of no use here.
os.environ.update(DEV="METAL", CACHELEVEL="0", CCACHE="0", PARALLEL="0")
# tinygrad's CPU device compiles with the clang on the path.
os.environ["PATH"] += os.pathsep + "/usr/lib/llvm-19/bin"


def _values(random, *shape):
    return random.uniform(-2, 2, shape).astype(np.float32)


def elementwise(t, random):
    for shape in ((3,), (45, 65), (2, 3, 31), (1, 1025)):
        a, b = _values(random, *shape), _values(random, *shape)
        positive = np.abs(b) + np.float32(.1)
        yield f"add {shape}", t(a) + t(b), a + b
        yield f"divide {shape}", t(a) / t(positive), a / positive
        yield f"where {shape}", (t(a) > t(b)).where(t(a), t(b)), np.where(
            a > b, a, b)
        yield f"relu {shape}", t(a).relu(), np.maximum(a, 0)
        yield f"exp {shape}", t(a).exp(), np.exp(a)
        yield f"log {shape}", t(positive).log(), np.log(positive)
        yield f"sin {shape}", (t(a) * 30).sin(), np.sin(a * np.float32(30))
        yield f"sqrt {shape}", t(positive).sqrt(), np.sqrt(positive)
        yield f"sigmoid {shape}", t(a).sigmoid(), 1 / (1 + np.exp(-a))
        yield f"tanh {shape}", t(a).tanh(), np.tanh(a)
        yield f"power {shape}", t(positive).pow(t(a)), np.power(positive, a)
        yield f"floor {shape}", (t(a) * 3).floor(), np.floor(a * 3)
        yield f"gelu {shape}", t(a).gelu(), a / 2 * (1 + np.tanh(
            (2 / np.pi) ** .5 * (a + .044715 * a ** 3)))


def integers(t, random):
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
                  np.int64, np.uint64):
        limits = np.iinfo(dtype)
        a = random.integers(limits.min, limits.max, (33, 7), dtype)
        b = np.maximum(random.integers(1, 100, (33, 7), dtype), 1)
        name = np.dtype(dtype).name
        yield f"{name} +", t(a) + t(b), a + b
        yield f"{name} *", t(a) * t(b), a * b
        yield f"{name} ^", t(a) ^ t(b), a ^ b
        yield f"{name} min", t(a).minimum(t(b)), np.minimum(a, b)
        yield f"{name} //", t(a) // t(b), a // b
        yield f"{name} %", t(a) % t(b), a % b
        yield f"{name} max", t(a).max(0), a.max(0)
        yield f"{name} to float", t(a).float(), a.astype(np.float32)
        yield f"{name} to bool", t(a).bool(), a.astype(bool)


def reductions(t, random):
    for shape in ((3, 5), (45, 65), (7, 1000), (128, 256), (2, 4099)):
        a = _values(random, *shape)
        for axis in (0, 1, None):
            yield f"sum {shape} {axis}", t(a).sum(axis), a.sum(axis)
            yield f"max {shape} {axis}", t(a).max(axis), a.max(axis)
            yield f"mean {shape} {axis}", t(a).mean(axis), a.mean(axis)
        yield f"argmax {shape}", t(a).argmax(1), a.argmax(1)
        yield f"cumsum {shape}", t(a).cumsum(1), a.cumsum(1)
        yield f"std {shape}", t(a).std(1), a.std(1, ddof=1)
        e = np.exp(a - a.max(1, keepdims=True))
        yield f"softmax {shape}", t(a).softmax(1), e / e.sum(1, keepdims=True)
        yield f"layernorm {shape}", t(a).layernorm(), (
            a - a.mean(1, keepdims=True)) / np.sqrt(
                a.var(1, keepdims=True) + 1e-5)


def products(t, random):
    for m, n, k in ((4, 4, 4), (64, 64, 64), (33, 45, 71), (128, 96, 256),
                    (1, 300, 200), (9, 1, 512)):
        a, b = _values(random, m, k), _values(random, k, n)
        yield f"product {m}x{n}x{k}", t(a) @ t(b), a @ b
        half = a.astype(np.float16), b.astype(np.float16)
        # tinygrad rounds each product to half where it uses no simdgroup
        # matrices; they are at most 4.
        yield (f"half product {m}x{n}x{k}", t(half[0]).dot(
            t(half[1]), dtype="float"), half[0].astype(np.float32) @ half[1],
            4 * 2 ** -11 * k ** .5)
    a, b = _values(random, 3, 17, 24), _values(random, 3, 24, 9)
    yield "batched product", t(a) @ t(b), a @ b


def movements(t, random):
    a = _values(random, 5, 7, 3)
    yield "permute", t(a).permute(2, 0, 1).contiguous(), a.transpose(2, 0, 1)
    yield "flip", t(a).flip(1).contiguous(), a[:, ::-1]
    yield "pad", t(a).pad(((1, 2), (0, 3), (2, 0))).contiguous(), np.pad(
        a, ((1, 2), (0, 3), (2, 0)))
    yield "shrink", t(a)[1:4, 2:, ::2].contiguous(), a[1:4, 2:, ::2]
    yield "concatenate", t(a).cat(t(a), dim=1), np.concatenate([a, a], 1)
    at = random.integers(0, 5, (4, 6)).astype(np.int32)
    yield "gather rows", t(a)[t(at)], a[at]
    yield "sort", t(a).sort(1)[0], np.sort(a, 1)
    yield "triu", t(a[..., 0]).triu(), np.triu(a[..., 0])
    ones = np.ones(1000, np.int32)
    yield "arange", t(ones).cumsum() - 1, np.arange(1000)


def networks(t, random):
    def cpu(function, *arrays):
        tensor = type(t(arrays[0]))
        return function(*(tensor(a, device="CPU") for a in arrays)).numpy()

    for shape, kernel, stride in (((1, 3, 9, 9), (4, 3, 3, 3), 1),
                                  ((2, 8, 15, 17), (16, 8, 3, 3), 2),
                                  ((1, 16, 8, 8), (16, 1, 3, 3), 1)):
        x, w = _values(random, *shape), _values(random, *kernel)
        groups = shape[1] // kernel[1]

        def convolve(x, w, stride=stride, groups=groups):
            return x.conv2d(w, stride=stride, groups=groups, padding=1)

        yield f"convolution {shape}", convolve(t(x), t(w)), cpu(convolve, x, w)
    x = _values(random, 2, 3, 13, 11)
    for name, function in (
            ("max_pool2d", lambda x: x.max_pool2d(2)),
            ("avg_pool2d", lambda x: x.avg_pool2d(3)),
            ("interpolate", lambda x: x.interpolate((20, 7)))):
        yield name, function(t(x)), cpu(function, x)
    q, k, v = (_values(random, 2, 4, 19, 16) for _ in range(3))

    def attend(q, k, v):
        return q.scaled_dot_product_attention(k, v, is_causal=True)

    yield "attention", attend(t(q), t(k), t(v)), cpu(attend, q, k, v)


GROUPS = {"elementwise": elementwise, "integers": integers,
          "reductions": reductions, "products": products,
          "movements": movements, "networks": networks}


def _check(name, tensor, want, absolute=5e-5):
    try:
        got = tensor.numpy()
    except Exception as error:  # whatever tinygrad makes of a failed compile
        return check.failed(f"{name}: {error}")
    want = np.asarray(want)
    if want.dtype.kind != "f":
        return check.equal(name, got, want.astype(got.dtype))
    # Sums of up to 4099 terms of size 2 in float, in another order; of all
    # elements where a single one is left.
    absolute = max(absolute, 2e-4 if want.ndim < 2 else 0)
    return check.equal(name, got.astype(np.float64), want.astype(np.float64),
                       2e-5, absolute)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(GROUPS))
        return
    if not sources.tinygrad():
        check.skipped("no tinygrad: let pip reach its index")
        check.finish()
    import tinygrad_metal
    tinygrad_metal.install()
    from tinygrad import Tensor

    def tensor(array):
        return Tensor(np.ascontiguousarray(array), device="METAL")

    for name in sys.argv[1:] or GROUPS:
        with np.errstate(all="ignore"):
            for case in GROUPS[name](tensor, np.random.default_rng(6)):
                _check(*case)
    print(f"{len(tinygrad_metal.SOURCES)} kernels")
    check.finish()


if __name__ == "__main__":
    main()
