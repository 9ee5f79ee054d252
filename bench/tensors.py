#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tensors.py BUILD: matrix products by Metal 4's matmul2d, beside the same
products by simdgroup_matrix: MLX's kernels and ggml's, and OpenBLAS on the
values as floats; and products of 8-bit integers beside those of floats. Times
are the least of some runs, by turns, commit and wait included. Kernels whose
package cannot be had are left out."""

import os
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 5
STEEL = ("steel_gemm_fused.h", 64, 64, 16)
TENSORS = ("steel_gemm_fused_nax.h", 64, 64, 256)
SHAPE = 2048, 2048, 512  # of ggml's: along the sum, rows, columns
SOURCE = """#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/%s.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/%s"
instantiate_kernel("product", gemm, %s, %d, %d, %d, 2, 2, false, %s, float)
"""
INTEGERS = """#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
template <typename L, typename R>
kernel void product(device L *a [[buffer(0)]], device L *b [[buffer(1)]],
                    device R *c [[buffer(2)]],
                    constant int &n [[buffer(3)]],
                    uint2 at [[threadgroup_position_in_grid]]) {
  tensor<device L, dextents<int, 2>, tensor_inline> left(a, {n, n}),
      right(b, {n, n});
  tensor<device R, dextents<int, 2>, tensor_inline> out(c, {n, n});
  constexpr auto how = matmul2d_descriptor(64, 64, dynamic_length_v<int>);
  matmul2d<how, execution_simdgroups<4>> op;
  auto rows = left.slice(0, at.y * 64), columns = right.slice(at.x * 64, 0);
  auto to = out.slice(at.x * 64, at.y * 64);
  auto sums = op.template get_destination_cooperative_tensor<
      decltype(rows), decltype(columns), R>();
  op.run(rows, columns, sums);
  sums.store(to);
}
template [[host_name("float_product")]] kernel void product<float, float>(
    device float *, device float *, device float *, constant int &, uint2);
template [[host_name("char_product")]] kernel void product<char, int>(
    device char *, device char *, device int *, constant int &, uint2);
"""


def _run(queue, kernel, bound, groups, group, memory=0):
    """What runs kernel once, buffers made."""
    device, held = queue.device, {}
    for index, value in bound.items():
        held[index] = value if isinstance(value, bytes) else \
            device.new_buffer(value)

    def run():
        with queue.command_buffer() as commands:
            with commands.compute_encoder() as encoder:
                encoder.set_pipeline(kernel)
                for index, value in held.items():
                    (encoder.set_bytes if isinstance(value, bytes)
                     else encoder.set_buffer)(index, value)
                if memory:
                    encoder.set_threadgroup_memory(0, memory)
                encoder.dispatch_threadgroups(groups, group)
        commands.wait()
    return run


def _by_turns(runs):
    """The least seconds of each."""
    least = [float("inf")] * len(runs)
    for round_ in range(ROUNDS + 1):
        for i, run in enumerate(runs):
            start = time.perf_counter()
            run()
            if round_:  # the first compiles
                least[i] = min(least[i], time.perf_counter() - start)
    return least


def _tell(name, work, seconds, *others):
    """Both rates, and that of the first beside each of the others."""
    print(f"  {name:<30} {work / seconds / 1e9:7.1f} G/s" + "".join(
        f"   {title} {work / other / 1e9:7.1f}, {other / seconds:5.2f}"
        for title, other in others), flush=True)


def _mlx(np, queue, root, e, turned, side):
    """Runs of MLX's kernels by simdgroup_matrix and by matmul2d, and of
    OpenBLAS."""
    random = np.random.default_rng(1)
    a, b = (e.random(random, (side, side), -1, 1) for _ in range(2))
    for file, *tile in (STEEL, TENSORS):
        tensors = file == TENSORS[0]
        library = queue.device.new_library(
            SOURCE % ("gemm_nax" if tensors else "gemm", file, e.metal, *tile,
                      str(turned).lower()), include_paths=[root],
            math_mode="safe", language_version="4.0" if tensors else None)
        kernel = library.function("product", {
            **{i: False for i in (10, 100, 110)},
            **{i: True for i in (200, 201, 202)}}).pipeline()
        parameters = struct.pack(
            "<8i3q3i4x", *[side] * 6, *[side // 64] * 2, 0, 0, 0, 0,
            side // tile[2], 1)
        yield _run(queue, kernel, {0: e.pack(a), 1: e.pack(b), 3: e.zeros(
            side, side), 4: parameters}, (side // 64, side // 64, 1),
            (32, 2, 2))
    left, right = (x.astype(np.float32) for x in (a, b.T if turned else b))
    yield lambda: left @ right


def mlx_products(np, queue, mlx, elements):
    if not mlx.has("steel/gemm/kernels/" + TENSORS[0]):
        return
    for e in (elements.FLOAT16, elements.BFLOAT16, elements.FLOAT32):
        for side in (512, 2048):
            for turned in (False, True):
                steel, tensors, blas = _by_turns(list(_mlx(
                    np, queue, mlx.ROOT, e, turned, side)))
                _tell(f"MLX {e.name} {side} {'nt' if turned else 'nn'}",
                      2 * side ** 3, tensors, ("simdgroup_matrix", steel),
                      ("OpenBLAS", blas))


def ggml_products(np, queue, test):
    if test is None:
        return
    ggml, (length, rows, columns) = test.ggml, SHAPE
    folder = os.path.join(ggml.ROOT, "kernels")
    path = os.path.join(folder, "mul_mm.metal")
    with open(path, encoding="utf-8") as file:
        source = file.read()
    libraries = [queue.device.new_library(
        source, include_paths=[folder, ggml.ROOT, os.path.dirname(ggml.ROOT)],
        macros={"GGML_METAL_HAS_BF16": "1", **more}, file_name=path,
        language_version=language) for more, language in (
            ({}, None), ({"GGML_METAL_HAS_TENSOR": "1"}, "4.0"))]
    x = np.random.default_rng(1).uniform(-1, 1, (columns, length)).astype(
        np.float32)
    for kind in ("f16", "q4_0", "q4_K"):
        weights, _ = test.random_weights(
            np.random.default_rng(2), test.reference(), kind, rows, length)
        runs = []
        for library, tile, memory in zip(libraries, (
                (32, 64), test.tensor_tile()), (6144, 16384)):
            kernel = library.function(
                f"kernel_mul_mm_{kind}_f32", ggml.constants(
                    "MUL_MM", False, memory > 8192, 1, 1, 1, 1)).pipeline()
            runs.append(_run(
                queue, kernel, {0: test.product_arguments(
                    "mul_mm", weights, rows, length, columns), 1: weights,
                    2: x, 3: np.zeros((columns, rows), np.float32)},
                (-(-columns // tile[0]), -(-rows // tile[1]), 1), (32, 4, 1),
                memory))
        plain, tensors = _by_turns(runs)
        _tell(f"ggml {kind} {rows}x{length}x{columns}",
              2 * length * rows * columns, tensors,
              ("simdgroup_matrix", plain))


def integer_products(np, queue):
    library = queue.device.new_library(INTEGERS, language_version="4.0")
    for side in (512, 2048):
        runs = []
        for name, of, to in (("char", np.int8, np.int32),
                             ("float", np.float32, np.float32)):
            a, b = (np.random.default_rng(i).integers(-9, 9, (side, side))
                    .astype(of) for i in (1, 2))
            runs.append(_run(
                queue, library.function(f"{name}_product").pipeline(),
                {0: a, 1: b, 2: np.zeros((side, side), to),
                 3: struct.pack("<i", side)},
                (side // 64, side // 64, 1), (128, 1, 1)))
        integers, floats = _by_turns(runs)
        _tell(f"8-bit integers {side}", 2 * side ** 3, integers,
              ("float", floats))


def main():
    os.environ["METTLE_BUILD_DIR"] = os.path.abspath(sys.argv[1])
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "corpus"))
    import elements
    import mlx_kernels
    import sources
    test = None
    if sources.ggml() and sources.gguf_quants():
        import test_ggml as test
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
    del sys.modules["mettle"]  # that of the corpus tests
    import mettle
    import numpy as np
    print("\nproducts by matmul2d")
    queue = mettle.Device().new_queue()
    mlx_products(np, queue, mlx_kernels, elements)
    ggml_products(np, queue, test)
    integer_products(np, queue)


if __name__ == "__main__":
    main()
