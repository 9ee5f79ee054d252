# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ops_convolutions.py: convolutions against their definition in double."""
import ctypes
import itertools

import numpy as np
from ops import (Array, Convolution, LIBRARY, TOLERANCE, agree, call, check,
                 empty, make, random, refused)


def reference_convolution(x, w, bias, stride, padding, dilation, groups,
                          transposed, output_padding):
    """By scattering every product, in double."""
    rank = x.ndim - 2
    x, w = x.astype(float), w.astype(float)
    if transposed:
        outputs = w.shape[1] * groups
        size = [(x.shape[d + 2] - 1) * stride[d] - 2 * padding[d]
                + dilation[d] * (w.shape[d + 2] - 1) + 1 + output_padding[d]
                for d in range(rank)]
    else:
        outputs = w.shape[0]
        size = [(x.shape[d + 2] + 2 * padding[d]
                 - dilation[d] * (w.shape[d + 2] - 1) - 1) // stride[d] + 1
                for d in range(rank)]
    out = np.zeros([x.shape[0], outputs] + size)
    in_group, out_group = x.shape[1] // groups, outputs // groups
    for tap in itertools.product(*[range(n) for n in w.shape[2:]]):
        for at in itertools.product(*[range(n) for n in
                                      (x.shape[2:] if transposed else size)]):
            there = [a * s - p + t * d for a, s, p, t, d in
                     zip(at, stride, padding, tap, dilation)]
            limits = size if transposed else x.shape[2:]
            if any(i < 0 or i >= n for i, n in zip(there, limits)):
                continue
            for g in range(groups):
                i = slice(g * in_group, (g + 1) * in_group)
                o = slice(g * out_group, (g + 1) * out_group)
                if transposed:
                    out[(slice(None), o, *there)] += (
                        x[(slice(None), i, *at)] @ w[(i, slice(None), *tap)])
                else:
                    out[(slice(None), o, *at)] += (
                        x[(slice(None), i, *there)]
                        @ w[(o, slice(None), *tap)].T)
    if bias is not None:
        out += bias.astype(float).reshape([-1] + [1] * rank)
    return out


def convolve(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1,
             transposed=False, output_padding=0, kind="float",
             channels_last=False):
    rank = x.ndim - 2
    spread = [[v] * rank if isinstance(v, int) else list(v)
              for v in (stride, padding, dilation, output_padding)]
    left, right = make(x, kind), make(w, kind)
    extra = make(bias, kind) if bias is not None else None
    want = reference_convolution(
        left.numpy(), right.numpy(), extra and extra.numpy(), spread[0],
        spread[1], spread[2], groups, transposed, spread[3])
    shape = np.full(want.shape, 77, np.float32)
    if channels_last:
        def last(a):
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)),
                               -1, 1)
        left, right, shape = make(last(x), kind), make(last(w), kind), \
            last(shape)
    out = make(shape, kind)
    triple = ctypes.c_int64 * 3
    desc = Convolution(rank, *[triple(*v) for v in spread], groups, transposed)
    sizes = (ctypes.c_int64 * 5)()
    check(LIBRARY.mtl_ops_convolution_sizes(
        ctypes.byref(left.tensor), ctypes.byref(right.tensor),
        ctypes.byref(desc), sizes))
    assert tuple(sizes[:rank + 2]) == want.shape
    call("mtl_ops_convolution", left, right, extra, ctypes.byref(desc), out)
    agree(out.numpy(), want, TOLERANCE[kind] * 2, np.abs(want) + 10)
    # Weights that stay: the second call takes what the first one kept.
    right.tensor.constant = LIBRARY.mtl_constant_create()
    for _ in range(2):
        out.view()[...] = 55
        call("mtl_ops_convolution", left, right, extra, ctypes.byref(desc), out)
        agree(out.numpy(), want, TOLERANCE[kind] * 2, np.abs(want) + 10)
    LIBRARY.mtl_constant_forget(right.tensor.constant)
    assert LIBRARY.mtl_constant_kept_bytes() == 0


def convolution_of_few_channels():
    """A window's lines are runs of inputs, but at the edges."""
    for kind in TOLERANCE:
        for c, size, stride, padding in ((3, 3, 2, 1), (3, 7, 2, 3),
                                         (2, (3, 5), 1, (0, 2)), (1, 5, 3, 0)):
            window = (size, size) if isinstance(size, int) else size
            convolve(random(2, c, 23, 31), random(20, c, *window), random(20),
                     stride, padding, kind=kind, channels_last=True)
    convolve(random(2, 3, 23, 31), random(20, 3, 3, 3), dilation=2,
             channels_last=True)
    convolve(random(1, 6, 9, 13), random(40, 3, 3, 3), padding=2, groups=2,
             channels_last=True)
    convolve(random(2, 4, 29), random(16, 4, 5), padding=2, channels_last=True)


def convolution_in_one_dimension():
    convolve(random(2, 3, 20), random(4, 3, 5), random(4), padding=2)
    convolve(random(1, 8, 33), random(16, 8, 3), stride=2, dilation=3)


def convolution_in_two_dimensions():
    convolve(random(2, 3, 9, 11), random(10, 3, 3, 3), random(10), padding=1)
    convolve(random(1, 4, 12, 7), random(9, 4, 5, 2), stride=(2, 3),
             padding=(1, 0), dilation=(2, 1))
    convolve(random(1, 16, 40, 40), random(16, 16, 1, 1), random(16))
    convolve(random(3, 1, 8, 8), random(1, 1, 3, 3), padding=1)


def convolution_in_three_dimensions():
    convolve(random(1, 2, 5, 6, 7), random(3, 2, 3, 2, 3), random(3),
             stride=(1, 2, 1), padding=(1, 0, 2))


def convolution_in_groups():
    convolve(random(2, 8, 9, 9), random(12, 2, 3, 3), random(12), groups=4)
    convolve(random(1, 24, 10, 10), random(24, 1, 3, 3), padding=1, groups=24)


def convolution_transposed():
    convolve(random(2, 4, 5, 6), random(4, 3, 3, 3), random(3), stride=2,
             padding=1, output_padding=1, transposed=True)
    convolve(random(1, 6, 9), random(6, 2, 4), stride=3, dilation=2, groups=3,
             transposed=True)


def convolution_channels_last():
    convolve(random(2, 5, 8, 9), random(7, 5, 3, 3), random(7), padding=1,
             channels_last=True)
    convolve(random(1, 8, 8, 8), random(8, 1, 3, 3), groups=8, stride=2,
             channels_last=True)


def convolution_large():
    for last in (False, True):
        convolve(random(2, 20, 30, 33), random(70, 20, 3, 3), random(70),
                 padding=1, channels_last=last)
        convolve(random(1, 32, 29, 31), random(64, 16, 3, 2), stride=(2, 1),
                 dilation=(1, 2), padding=(1, 3), groups=2, channels_last=last)
        convolve(random(2, 48, 17, 19), random(40, 48, 1, 1), random(40),
                 channels_last=last)
        convolve(random(2, 16, 6, 7, 9), random(24, 16, 2, 3, 3), random(24),
                 padding=(0, 1, 1), channels_last=last)
        convolve(random(3, 40, 9, 9), random(40, 1, 5, 5), random(40),
                 padding=2, groups=40, channels_last=last)
        convolve(random(1, 24, 20, 20), random(32, 24, 3, 3), random(32),
                 padding=1, kind="bfloat", channels_last=last)
    convolve(random(2, 3, 500), random(40, 3, 9), random(40), stride=2)
    convolve(random(1, 16, 5, 5), random(200, 16, 5, 5), random(200))


def convolution_of_half_and_bfloat():
    for kind in ("half", "bfloat"):
        convolve(random(1, 3, 8, 8), random(4, 3, 3, 3), random(4), padding=1,
                 kind=kind)


def convolution_refuses_what_does_not_fit():
    desc = Convolution(2)
    refused("3 channels in 1 groups", "mtl_ops_convolution",
            Array(random(1, 3, 4, 4)), Array(random(2, 4, 3, 3)), None,
            ctypes.byref(desc), empty((1, 2, 2, 2)))
    refused("leaves nothing", "mtl_ops_convolution",
            Array(random(1, 3, 2, 4)), Array(random(2, 3, 3, 3)), None,
            ctypes.byref(desc), empty((1, 2, 2, 2)))
