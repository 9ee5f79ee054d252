#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_mlx.py --list | FAMILY...: MLX's kernels on random inputs against NumPy.
# Ends with 77 where MLX's sources cannot be had.
import sys

import numpy as np

import check
import mettle
import mlx_columns
import mlx_convolutions
import mlx_elementwise
import mlx_indexing
import mlx_kernels
import mlx_layouts
import mlx_orders
import mlx_products
import mlx_quantized
import mlx_rows
import mlx_steel
import mlx_tensors
import mlx_transforms

FAMILIES = {**mlx_elementwise.FAMILIES, **mlx_rows.FAMILIES,
            **mlx_products.FAMILIES, **mlx_columns.FAMILIES,
            **mlx_orders.FAMILIES, **mlx_indexing.FAMILIES,
            **mlx_layouts.FAMILIES, **mlx_steel.FAMILIES,
            **mlx_quantized.FAMILIES, **mlx_transforms.FAMILIES,
            **mlx_convolutions.FAMILIES, **mlx_tensors.FAMILIES}
# Kernels that are not in MLX's package, only in its sources.
NEEDS = {**mlx_rows.NEEDS, **mlx_transforms.NEEDS, **mlx_convolutions.NEEDS,
         **mlx_tensors.NEEDS}


def missing(name):
    """Why a family cannot run; "" if it can."""
    if mlx_kernels.ROOT is None:
        return ("no MLX: let pip reach its index, or set METTLE_CORPUS_MLX "
                "to a checkout")
    if name in NEEDS and not mlx_kernels.has(NEEDS[name]):
        return (f"MLX's package has no {NEEDS[name]}; set METTLE_CORPUS_MLX "
                "to a checkout")
    return ""


def run(name):
    try:
        FAMILIES[name](np.random.default_rng(4))
    except mettle.Error as error:
        check.failed(f"{name}: {error}")


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(FAMILIES))
        return
    for name in sys.argv[1:] or FAMILIES:
        reason = missing(name)
        if reason:
            check.skipped(f"{name}: {reason}")
        else:
            run(name)
    check.finish()


if __name__ == "__main__":
    main()
