# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""work.py: what the processes of a pool do."""

import numpy as np

import mettle


def twice(n):
    lib = mettle.compile_shader(
        "kernel void twice(device int *x) { x[0] *= 2; }")
    x = np.array([n], np.int32)
    lib.twice(x)
    return int(x[0])
