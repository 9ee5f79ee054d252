# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_tensors.py: MLX's matrix products by Metal 4's matmul2d, against NumPy.
import struct

import numpy as np

import mlx_kernels as mlx
from elements import FLOAT16
from mlx_products import compare

KERNEL = "steel/gemm/kernels/steel_gemm_fused_nax.h"
HEADERS = ["utils.h", "steel/gemm/gemm_nax.h", KERNEL]
SIDES = ((False, False), (False, True), (True, False), (True, True))
SHAPES = ((64, 64, 256), (70, 90, 300))


def gemm_tensors(random):
    """Fragments of 16 x 16 in registers, at edges as well."""
    e = FLOAT16
    library = mlx.library(HEADERS, [
        (f"p{s}", "gemm", e.metal, 64, 64, 256, 2, 2, str(a).lower(),
         str(b).lower(), "float") for s, (a, b) in enumerate(SIDES)],
        language=400)
    for s, (turned_a, turned_b) in enumerate(SIDES):
        for m, n, k in SHAPES:
            left = e.random(random, (k, m) if turned_a else (m, k), -1, 1)
            right = e.random(random, (n, k) if turned_b else (k, n), -1, 1)
            out = e.zeros(m, n)
            across, down = -(-n // 64), -(-m // 64)
            constants = {i: np.bool_(False) for i in (10, 100, 110)}
            constants.update({200: np.bool_(m % 64 == 0),
                              201: np.bool_(n % 64 == 0),
                              202: np.bool_(k % 256 == 0)})
            library.pipeline(f"p{s}", constants)(
                {0: e.pack(left), 1: e.pack(right), 3: out, 4: struct.pack(
                    "<8i3q3i4x", m, n, k, left.shape[1], right.shape[1], n,
                    across, down, 0, 0, 0, 0, k // 256, 1)},
                groups=(across, down, 1), group=(32, 2, 2))
            compare(f"matmul2d of {m, n, k} {SIDES[s]}", e, out,
                    (left.T if turned_a else left).astype(np.float64)
                    @ (right.T if turned_b else right), k)


FAMILIES = {"gemm_tensors": gemm_tensors}
NEEDS = {"gemm_tensors": KERNEL}
