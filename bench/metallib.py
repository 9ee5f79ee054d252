#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""metallib.py BUILD: MLX's package with its 17,248 compiled kernels: what
opening it takes in time and memory, what translating a function takes with a
warm compiler and no cache, and how fast what comes of it is beside the same
kernel from source, by turns. Nothing where the package cannot be had."""

import os
import random
import resource
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE, ROUNDS, SIDE = 100, 7, 1024
GEMM = "steel_gemm_fused_nn_float32_float32_bm64_bn64_bk16_wm2_wn2"
SOURCE = """#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_fused.h"
#include "mlx/backend/metal/kernels/softmax.h"
instantiate_kernel("%s", gemm, float, 64, 64, 16, 2, 2, false, false, float)
instantiate_kernel("block_softmax_float32", softmax_single_row, float, float)
instantiate_kernel("looped_softmax_float32", softmax_looped, float, float)
""" % GEMM


def _find():
    """MLX's metallib and the folder of its headers, or None."""
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "corpus"))
    import sources
    import test_mlx_compiled
    library = test_mlx_compiled.find_library()
    return (library, sources.mlx()) if library else None


def _open(mettle, device, path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    library = mettle.Library.load(device, path)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"  opening              {1000 * seconds:8.1f} ms   "
          f"{(after - before) / 1024:6.1f} MB", flush=True)
    return library


def _translate(library):
    library.function_constants(library.function_names[0])  # starts a compiler
    times = []
    for name in random.Random(5).sample(library.function_names, SAMPLE):
        start = time.perf_counter()
        library.function_constants(name)
        times.append(1000 * (time.perf_counter() - start))
    print(f"  translating          {statistics.median(times):8.1f} ms the "
          f"median, {max(times):.1f} the worst of {SAMPLE}", flush=True)


def _bind_gemm(np, device):
    n = SIDE
    a, b = (device.new_buffer(np.random.default_rng(seed).standard_normal(
        (n, n)).astype(np.float32)) for seed in (1, 2))
    out, tiles = device.new_buffer(4 * n * n), n // 64
    params = np.array([n, n, n, n, n, n, tiles, tiles], np.int32).tobytes() \
        + bytes(24) + np.array([0, n // 16, 1, 0], np.int32).tobytes()
    flags = {10: False, 100: False, 110: False, 200: True, 201: True,
             202: True}
    return GEMM, flags, {0: a, 1: b, 3: out, 4: params}, \
        (tiles, tiles, 1), (32, 2, 2)


def _bind_rows(np, device, form, length, group):
    rows = device.new_buffer(np.random.default_rng(3).standard_normal(
        (1024, length)).astype(np.float32))
    out = device.new_buffer(4 * 1024 * length)
    return f"{form}_softmax_float32", {}, {
        0: rows, 1: out, 2: np.int32(length).tobytes()}, (1024, 1, 1), \
        (group, 1, 1)


def _time(queue, pipeline, bound, groups, group):
    start = time.perf_counter()
    with queue.command_buffer() as commands:
        with commands.compute_encoder() as encoder:
            encoder.set_pipeline(pipeline)
            for index, value in bound.items():
                if isinstance(value, bytes):
                    encoder.set_bytes(index, value)
                else:
                    encoder.set_buffer(index, value)
            encoder.dispatch_threadgroups(groups, group)
    commands.wait()
    return time.perf_counter() - start


def _compare(np, device, compiled, source):
    queue = device.new_queue()
    for given in (_bind_gemm(np, device),
                  _bind_rows(np, device, "block", 1024, 256),
                  _bind_rows(np, device, "looped", 8192, 1024)):
        name, constants, *arguments = given
        pipelines = [library.function(name, constants).pipeline()
                     for library in (compiled, source)]
        times = [[], []]
        for _ in range(ROUNDS + 1):
            for pipeline, mine in zip(pipelines, times):
                mine.append(_time(queue, pipeline, *arguments))
        least = [1000 * min(mine[1:]) for mine in times]
        print(f"  {name.split('_nn')[0]:<20} {least[0]:8.2f} ms   from source "
              f"{least[1]:8.2f} ms   {least[1] / least[0]:5.2f} times as fast",
              flush=True)


def main():
    os.environ["METTLE_BUILD_DIR"] = os.path.abspath(sys.argv[1])
    os.environ["METTLE_CACHE"] = "0"
    found = _find()
    if found is None:
        return
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
    del sys.modules["mettle"]  # that of the corpus tests
    import mettle
    import numpy as np
    print("\nMLX's metallib")
    device = mettle.Device()
    library = _open(mettle, device, found[0])
    _translate(library)
    source = device.new_library(SOURCE, include_paths=[found[1]],
                                math_mode="safe")
    _compare(np, device, library, source)


if __name__ == "__main__":
    main()
