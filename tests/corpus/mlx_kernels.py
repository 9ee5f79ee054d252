# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_kernels.py: MLX's kernels, instantiated the way its host code does it:
# header text and explicit instantiations with a host name, without fast math.
import os

import numpy as np

import mettle
import sources

ROOT = sources.mlx()
KERNELS = ROOT and os.path.join(ROOT, sources.KERNELS)
_device = None


def device():
    global _device
    _device = _device or mettle.Device()
    return _device


def has(*files):
    """Whether all of MLX's files are there."""
    return ROOT is not None and all(
        os.path.exists(os.path.join(KERNELS, name)) for name in files)


def mentions(name, word):
    """Whether MLX's file has word: what a kernel takes differs between its
    versions."""
    with open(os.path.join(KERNELS, name), encoding="utf-8") as file:
        return word in file.read()


def library(headers, instances=(), before=(), text="", language=0):
    """Compiles headers, of Metal's library and MLX's, instances
    [(host name, template, arguments)], and text behind them."""
    lines = [f"#include <{name}>" for name in before]
    lines += ["using namespace metal;"] * bool(before)
    lines += [f'#include "mlx/backend/metal/kernels/{h}"' for h in headers]
    for name, template, *arguments in instances:
        lines.append(f'instantiate_kernel("{name}", {template}, '
                     + ", ".join(map(str, arguments)) + ")")
    return device().library("\n".join([*lines, text, ""]), include_paths=[ROOT],
                            math=mettle.MATH_SAFE, language=language)


def block(x, y=1, z=1, pow2=10):
    """A threadgroup's size for a grid: powers of two, at most 2^pow2 in all,
    grown along each axis in turn."""
    sizes, grid = [1, 1, 1], (x, y, z)
    grown = True
    while grown and sum(s.bit_length() - 1 for s in sizes) < pow2:
        grown = False
        for axis in range(3):
            if (grid[axis] >= 2 * sizes[axis]
                    and sum(s.bit_length() - 1 for s in sizes) < pow2):
                sizes[axis] *= 2
                grown = True
    return tuple(sizes)


def strides(array):
    """Strides in elements."""
    return np.array([s // array.itemsize for s in array.strides], np.int64)


def ints(*values):
    return np.array(values, np.int32).tobytes()


def longs(*values):
    return np.array(values, np.int64).tobytes()
