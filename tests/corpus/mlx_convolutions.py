# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_convolutions.py: MLX's convolutions against NumPy: products without an
# unfolded copy (2-D, 2-D with dilated inputs, 3-D), unfolding, depthwise ones
# and Winograd's. In all types and shapes only with METTLE_CORPUS_FULL.
import itertools
import struct

import numpy as np

import check
import mlx_kernels as mlx
from elements import FLOAT32, FLOATS, FULL
from mettle import Padded
from mlx_products import compare

KINDS = FLOATS if FULL else (FLOAT32,)
STEEL = ["utils.h", "steel/gemm/mma.h", "steel/conv/conv.h",
         "steel/conv/params.h", "steel/utils.h"]


class Convolution:
    """Inputs [n, *inside, c] and weights [o, *window, c / groups]; steps,
    padding and dilations are one number for each axis, or for all."""

    def __init__(self, inside, window, n=2, c=3, o=5, steps=1, padding=0,
                 dilation=1, spread=1, groups=1, flip=False):
        axes = len(inside)
        self.inside, self.window, self.n, self.c = inside, window, n, c
        self.o, self.groups, self.flip = o, groups, flip
        self.steps, self.padding, self.dilation, self.spread = (
            (v,) * axes if isinstance(v, int) else v
            for v in (steps, padding, dilation, spread))
        self.outside = tuple(
            (spread * (i - 1) + 2 * p - d * (w - 1)) // s + 1
            for i, w, s, p, d, spread in zip(
                inside, window, self.steps, self.padding, self.dilation,
                self.spread))

    def operands(self, random, e):
        return (e.random(random, (self.n, *self.inside, self.c), -1, 1),
                e.random(random, (self.o, *self.window,
                                  self.c // self.groups), -1, 1),
                np.zeros((self.n, *self.outside, self.o), e.dtype))

    def parameters(self, x, w, out):
        """MLXConvParams."""
        lists = (self.inside, self.window, self.outside, self.steps,
                 self.padding, self.dilation, self.spread)
        numbers = [self.n, self.c, self.o, *itertools.chain(*lists)]
        text = struct.pack(f"<{len(numbers)}i", *numbers)
        text += bytes(-len(text) % 8)
        for array in (x, w, out):
            text += mlx.strides(array).tobytes()
        return text + struct.pack("<i?3x", self.groups, self.flip)

    def rows(self, x):
        """What each output sees: [n, *outside, positions, c]."""
        axes = range(len(self.inside))
        wide = [2 * (p + d * w) + s * (i - 1) + 1 for p, d, w, s, i in zip(
            self.padding, self.dilation, self.window, self.spread,
            self.inside)]
        inner = np.zeros((self.n, *wide, self.c))
        inner[(slice(None), *(slice(
            p, p + s * (i - 1) + 1, s) for p, s, i in zip(
                self.padding, self.spread, self.inside)))] = x
        seen = []
        for place in itertools.product(*map(range, self.window)):
            if self.flip:
                place = [w - 1 - k for w, k in zip(self.window, place)]
            seen.append(inner[(slice(None), *(
                slice(k, k + self.steps[a] * (self.outside[a] - 1) + 1,
                      self.steps[a])
                for a, k in zip(axes, (k * d for k, d in zip(
                    place, self.dilation)))))])
        return np.stack(seen, axis=-2)

    def reference(self, x, w):
        parts = zip(np.split(self.rows(x), self.groups, axis=-1),
                    np.split(w.astype(float), self.groups))
        return np.concatenate(
            [rows.reshape(*rows.shape[:-2], -1) @ part.reshape(
                len(part), -1).T for rows, part in parts], axis=-1)

    def length(self):
        return int(np.prod(self.window)) * self.c // self.groups

    def __str__(self):
        return (f"{self.inside} by {self.window}, {self.c} to {self.o} "
                f"channels")


def _padded(weights):
    """Weights and room for 64 rows behind them: MLX reads whole tiles."""
    return Padded(weights, 64 * weights.strides[0])


def _up(a, b):
    return -(-a // b)


def _tiles(rows, columns):
    """bm, bn, wm, wn as MLX chooses them where there are few rows."""
    if columns <= 16:
        return 32, 8, 4, 1
    return 32, 64 if columns >= 64 else 32, 2, 2


def _jumps(conv, x, block):
    """From a window's place to the next, innermost axis first, and from its
    last place to the next channels."""
    sign = -1 if conv.flip else 1
    steps = [s * d for s, d in zip(mlx.strides(x)[1:-1], conv.dilation)]
    jumps, back = [], 0
    for step, size in zip(reversed(steps), reversed(conv.window)):
        jumps.append(sign * (step - back))
        back += (size - 1) * step
    return [*jumps, block - sign * back]


def _gemm(conv, x, rows, columns, iterations, tiles):
    bm, bn = tiles[:2]
    jumps = _jumps(conv, x, 16)
    return struct.pack(
        f"<{7 + len(jumps)}i", rows, columns, conv.length(), iterations,
        *map(int, jumps), _up(columns, bn), _up(rows, bm), 0)


CASES_2D = [
    Convolution((7, 9), (3, 3), c=16, o=20, padding=1),
    Convolution((8, 5), (2, 3), c=3, o=33, steps=2, padding=1),
    Convolution((9, 9), (3, 3), c=32, o=16, groups=2, flip=True, padding=1,
                dilation=2)]
CASES_2D_MORE = [
    Convolution((6, 7), (3, 1), c=1, o=8), Convolution((5, 5), (2, 2), c=4),
    Convolution((12, 11), (5, 3), c=48, o=70, padding=(2, 1), flip=True),
    Convolution((20, 19), (17, 2), c=32, o=24, padding=8)]


def conv_2d(random):
    cases = CASES_2D + (CASES_2D_MORE if FULL else [])
    library = mlx.library([*STEEL, "steel/conv/kernels/steel_conv.h"], [
        (f"conv_{e.name}_{i}", "implicit_gemm_conv_2d", e.metal,
         *_template_2d(conv)) for e in KINDS for i, conv in enumerate(cases)],
        before=("metal_stdlib",))
    for e in KINDS:
        for i, conv in enumerate(cases):
            _conv_2d(random, library.pipeline(f"conv_{e.name}_{i}"), e, conv)


def _template_2d(conv):
    bm, bn, wm, wn = _tiles(0, conv.o // conv.groups)
    channels = conv.c // conv.groups
    few = channels if channels <= 4 else 0
    small = few == 0 and max(conv.window) <= 16
    return bm, bn, 16, wm, wn, few, str(small).lower()


def _conv_2d(random, kernel, e, conv):
    x, w, out = conv.operands(random, e)
    bm, bn, _, wm, wn, few, _ = _template_2d(conv)
    places, channels = conv.window[0] * conv.window[1], conv.c // conv.groups
    iterations = (places * _up(channels, 16) if few == 0 else
                  _up(places * (4 if few > 2 else few), 16))
    rows, columns = out.size // conv.o, conv.o // conv.groups
    kernel({0: e.pack(x), 1: _padded(e.pack(w)), 2: out,
            3: conv.parameters(x, w, out),
            4: _gemm(conv, x, rows, columns, iterations, (bm, bn))},
           groups=(_up(columns, bn), _up(rows, bm), conv.groups),
           group=(32, wn, wm))
    compare(f"2-D convolution of {conv}, {e.name}", e, out,
            conv.reference(x, w), conv.length())


def conv_2d_general(random):
    """With dilated inputs, as gradients of steps are computed."""
    library = mlx.library(
        [*STEEL, "steel/conv/kernels/steel_conv_general.h"],
        [(f"conv_{e.name}", "implicit_gemm_conv_2d_general", e.metal, 32, 32,
          16, 2, 2) for e in KINDS], before=("metal_stdlib",))
    cases = [Convolution((5, 4), (3, 3), c=16, o=7, spread=2, padding=1),
             Convolution((4, 6), (2, 3), c=19, o=40, spread=(3, 2), steps=2,
                         flip=True, padding=2)]
    for e, conv in itertools.product(KINDS, cases):
        _conv_2d_general(random, library.pipeline(
            f"conv_{e.name}", {200: np.bool_(conv.c % 16 == 0)}), e, conv)


def _conv_2d_general(random, kernel, e, conv):
    x, w, out = conv.operands(random, e)
    common = [np.lcm(a, b) for a, b in zip(conv.spread, conv.dilation)]
    window_jumps = [c // d for c, d in zip(common, conv.dilation)]
    out_jumps = [np.lcm(a, b) // b for a, b in zip(conv.spread, conv.steps)]
    sizes = [_up(o, j) for o, j in zip(conv.outside, out_jumps)]
    rows = conv.n * sizes[0] * sizes[1]
    bases = [_bases(conv, axis, window_jumps[axis], out_jumps[axis])
             for axis in range(2)]
    kernel({0: e.pack(x), 1: _padded(e.pack(w)), 2: out,
            3: conv.parameters(x, w, out),
            4: _gemm(conv, x, out.size // conv.o, conv.o, _up(conv.c, 16),
                     (32, 32)),
            5: mlx.ints(*window_jumps, *out_jumps, *sizes,
                        sizes[0] * sizes[1], rows),
            6: bases[0], 7: bases[1]},
           groups=(_up(conv.o, 32), _up(rows, 32),
                   int(out_jumps[0] * out_jumps[1])), group=(32, 2, 2))
    compare(f"2-D convolution of spread {conv}, {e.name}", e, out,
            conv.reference(x, w), conv.length())


def _bases(conv, axis, window_jump, out_jump):
    """Where the window first meets an element, and how often."""
    window, spread = conv.window[axis], conv.spread[axis]
    jump = conv.dilation[axis] * (-1 if conv.flip else 1)
    begin = (window - 1) * conv.dilation[axis] if conv.flip else 0
    numbers = []
    for i in range(out_jump):
        at = i * conv.steps[axis] - conv.padding[axis] + begin
        base = next((k for k in range(window) if (at + k * jump) % spread == 0),
                    window)
        numbers += [base, _up(window - base, window_jump)]
    return mlx.ints(*numbers)


def conv_3d(random):
    cases = [Convolution((4, 5, 6), (2, 3, 2), c=16, o=9, padding=1),
             Convolution((5, 5, 4), (3, 2, 2), c=32, o=48, steps=2, flip=True)]
    library = mlx.library([*STEEL, "steel/conv/kernels/steel_conv_3d.h"], [
        (f"conv_{e.name}_{i}", "implicit_gemm_conv_3d", e.metal,
         *_tiles_3d(conv), "true") for e in KINDS
        for i, conv in enumerate(cases)], before=("metal_stdlib",))
    for e in KINDS:
        for i, conv in enumerate(cases):
            _conv_3d(random, library.pipeline(f"conv_{e.name}_{i}"), e, conv)


def _tiles_3d(conv):
    bm, bn, wm, wn = _tiles(0, conv.o)
    return bm, bn, 16, wm, wn


def _conv_3d(random, kernel, e, conv):
    x, w, out = conv.operands(random, e)
    bm, bn, _, wm, wn = _tiles_3d(conv)
    rows = out.size // conv.o
    iterations = int(np.prod(conv.window)) * _up(conv.c, 16)
    kernel({0: e.pack(x), 1: _padded(e.pack(w)), 2: out,
            3: conv.parameters(x, w, out),
            4: _gemm(conv, x, rows, conv.o, iterations, (bm, bn))},
           groups=(_up(conv.o, bn), _up(rows, bm), 1), group=(32, wn, wm))
    compare(f"3-D convolution of {conv}, {e.name}", e, out,
            conv.reference(x, w), conv.length())


def conv_unfold(random):
    """Copies of what each output sees; numbers unchanged."""
    library = mlx.library(["conv.metal"])
    for e in KINDS:
        for conv in (Convolution((9,), (4,), c=5, steps=2, padding=1),
                     Convolution((6, 5), (3, 2), c=7, spread=2, padding=2),
                     Convolution((3, 4, 5), (2, 2, 3), c=3, flip=True,
                                 dilation=2, padding=2)):
            x, w, out = conv.operands(random, e)
            want = e.pack(conv.rows(x))
            for name, wanted in (("", want), ("transpose_", np.swapaxes(
                    want, -1, -2))):
                got = np.zeros(wanted.shape, e.dtype)
                grid = (conv.c, int(np.prod(conv.window)), out.size // conv.o)
                library.pipeline(
                    f"naive_unfold_{name}nd_{e.name}_{len(conv.inside)}")(
                        {0: e.pack(x), 1: got, 2: conv.parameters(x, w, out),
                         3: np.int32(0)}, grid=grid,
                        group=(min(32, grid[0]), min(8, grid[1]), 1))
                if name and conv.flip:
                    continue  # its rows are in the order of the weights
                check.equal(f"unfolding {name}{conv}, {e.name}", got, wanted)


def conv_depthwise(random):
    library = mlx.library(["conv.metal"])
    for e in KINDS:
        for conv in (Convolution((9, 11), (3, 3), c=16, o=16, groups=16,
                                 padding=1),
                     Convolution((10, 7), (5, 2), c=32, o=32, groups=32,
                                 steps=2, padding=2, flip=True)):
            _depthwise_2d(random, library, e, conv)
        _depthwise_1d(random, library, e, Convolution(
            (29,), (4,), c=21, o=21, groups=21))


def _depthwise_2d(random, library, e, conv):
    x, w, out = conv.operands(random, e)
    constants = {0: conv.window[0], 1: conv.window[1], 10: conv.steps[0],
                 11: conv.steps[1], 100: 4, 101: 8}
    kernel = library.pipeline(
        f"depthwise_conv_2d_{e.name}",
        {**{i: np.int32(v) for i, v in constants.items()},
         200: np.bool_(conv.flip)})
    rows, columns = conv.outside
    kernel({0: e.pack(x), 1: e.pack(w), 2: out,
            3: conv.parameters(x, w, out)},
           groups=(conv.c // 8, _up(columns, 8), _up(rows, 4) * conv.n),
           group=(8, 8, 4))
    compare(f"depthwise convolution of {conv}, {e.name}", e, out,
            conv.reference(x, w), conv.length())


def _depthwise_1d(random, library, e, conv):
    x, w, out = conv.operands(random, e)
    for name, numbers in (("", mlx.ints), ("_large", mlx.longs)):
        got = np.zeros_like(out)
        library.pipeline(f"depthwise_conv_1d_{e.name}{name}")(
            {0: e.pack(x), 1: e.pack(w), 2: got, 3: numbers(*mlx.strides(x)),
             4: np.int32(conv.window[0])},
            grid=(conv.c, conv.outside[0], conv.n), group=(21, 8, 1))
        compare(f"depthwise convolution{name} of {conv}, {e.name}", e, got,
                conv.reference(x, w), conv.length())


def conv_winograd(random):
    """F(6x6, 3x3) in three kernels; the products between are NumPy's."""
    library = mlx.library(["conv.metal"])
    for e in KINDS:
        for conv in (Convolution((14, 9), (3, 3), c=32, o=32),
                     Convolution((8, 8), (3, 3), n=1, c=64, o=96)):
            _winograd(random, library, e, conv)


def _winograd(random, library, e, conv):
    x, w, out = conv.operands(random, e)
    tiles = [_up(side, 6) for side in conv.outside]
    padded = np.zeros((conv.n, 6 * tiles[0] + 2, 6 * tiles[1] + 2, conv.c),
                      e.dtype)
    padded[:, :conv.inside[0], :conv.inside[1]] = e.pack(x)
    groups = (tiles[1], tiles[0], conv.n)
    count = int(np.prod(groups))
    parts = np.zeros((64, count, conv.c), e.dtype)
    weights = np.zeros((64, conv.c, conv.o), e.dtype)
    parameters = conv.parameters(padded, w, out)
    library.pipeline(f"winograd_conv_2d_weight_transform_{e.name}_bc32")(
        {0: e.pack(w), 1: weights, 2: np.int32(conv.c), 3: np.int32(conv.o)},
        groups=(conv.o // 4,), group=(32, 4))
    library.pipeline(f"winograd_conv_2d_input_transform_{e.name}_bc32")(
        {0: padded, 1: parts, 2: parameters}, groups=groups, group=(32, 2, 2))
    products = e.pack(e.unpack(parts).astype(float)
                      @ e.unpack(weights).astype(float))
    library.pipeline(f"winograd_conv_2d_output_transform_{e.name}_bo32")(
        {0: products, 1: out, 2: parameters}, groups=groups, group=(32, 2, 2))
    # What is rounded between the kernels is multiplied by up to 32 squared, in
    # both ways of its sign: 256 spacings of the largest result.
    want = conv.reference(x, w)
    check.equal(f"Winograd's convolution of {conv}, {e.name}",
                e.unpack(out).astype(float), want,
                absolute=256 * e.digits * np.abs(want).max())


FAMILIES = {"conv_2d": conv_2d, "conv_2d_general": conv_2d_general,
            "conv_3d": conv_3d, "conv_unfold": conv_unfold,
            "conv_depthwise": conv_depthwise, "conv_winograd": conv_winograd}
NEEDS = dict.fromkeys(("conv_unfold", "conv_depthwise", "conv_winograd"),
                      "conv.metal")
