# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_orders.py: MLX's scans and sorts along any axis, sorts of rows longer than
# one threadgroup takes, and searches, against NumPy.
import numpy as np

import check
import mlx_kernels as mlx
import mlx_rows
from elements import BOOL, BY_NAME, FLOATS, FLOAT32, FULL, INTEGERS

SORTED = (*FLOATS, *INTEGERS, BOOL)
WAYS = [(inclusive, reverse) for inclusive in (True, False)
        for reverse in (False, True)]


def strided_scan(random):
    """Along the first or the middle axis; the last one stays."""
    elements = (*FLOATS, *INTEGERS) if FULL else (FLOAT32, BY_NAME["int64"])
    cases = [(name, e) for e in elements for name in mlx_rows.SCANS
             if FULL or name in ("CumSum", "CumMax")]
    cases += [("CumLogaddexp", e) for e in (FLOATS if FULL else FLOATS[:1])]
    instances = []
    for name, e in cases:
        reads = 2 if np.dtype(e.dtype).itemsize == 8 else 4
        instances += [(f"{name}_{e.name}_{i:d}{r:d}", "strided_scan", e.metal,
                       e.metal, f"{name}<{e.metal}>", reads, str(i).lower(),
                       str(r).lower()) for i, r in WAYS]
    library = mlx.library(["defines.h", "utils.h", "binary_ops.h", "scan.h"],
                          instances, before=("metal_math", "metal_simdgroup"))
    for name, e in cases:
        for way in WAYS:
            for shape in ((1, 1, 1), (3, 45, 7), (2, 33, 70), (1, 100, 32)):
                _strided_scan(random, library, name, e, way, shape)


def _strided_scan(random, library, name, e, way, shape):
    outer, length, stride = shape
    x = mlx_rows._factors(random, e, "Prod" if name == "CumProd" else name,
                          shape)
    out = e.zeros(*shape)
    threads = (16 if np.dtype(e.dtype).itemsize == 8 else 8) * 32
    blocks = -(-stride // 32)
    library.pipeline(f"{name}_{e.name}_{way[0]:d}{way[1]:d}")(
        {0: e.pack(x), 1: out, 2: np.int64(length), 3: np.int64(stride),
         4: np.int64(blocks)}, grid=(threads, outer * blocks),
        group=(threads,))
    title = f"strided {name} of {shape} {e.name}, {way}"
    rows = x.transpose(0, 2, 1).reshape(-1, length)
    if name == "CumLogaddexp":
        want = _log_sums(rows, *way)
        got = e.unpack(out).astype(np.float64)
        want = want.reshape(outer, stride, length).transpose(0, 2, 1)
        return check.equal(title, got, want, 32 * e.digits, 32 * e.digits)
    want = mlx_rows._scanned(name, e, rows, *way)
    want = want.reshape(outer, stride, length).transpose(0, 2, 1)
    return mlx_rows._compare_reduced(
        title, e, "Min" if name in ("CumMax", "CumMin") else name, out, want,
        4 * length)


def _log_sums(x, inclusive, reverse):
    x = x[:, ::-1] if reverse else x
    full = np.logaddexp.accumulate(x.astype(np.float64), 1)
    if not inclusive:
        full = np.concatenate([np.full_like(full[:, :1], -np.inf),
                               full[:, :-1]], 1)
    return full[:, ::-1] if reverse else full


def strided_sort(random):
    """Along the middle axis, whose neighbours are far from each other."""
    elements = SORTED if FULL else (FLOATS[2], BY_NAME["int64"], BOOL)
    library = mlx.library(["utils.h", "sort.h"], [
        (f"{kind}_{e.name}_{threads}", "block_sort_nc", e.metal, target,
         order, threads, 4) for e in elements for threads in (32, 128)
        for kind, target, order in (("sort", e.metal, "false"),
                                    ("argsort", "uint32_t", "true"))])
    for e in elements:
        for threads, shape in ((32, (1, 1, 1)), (32, (3, 77, 5)),
                               (128, (2, 500, 3))):
            _strided_sort(random, library, e, threads, shape)


def _strided_sort(random, library, e, threads, shape):
    outer, length, stride = shape
    x = e.random(random, shape, -90, 90)
    strides = mlx.longs(length * stride, 1)
    arguments = {2: np.int32(length), 3: np.int32(stride),
                 4: np.int32(stride), 5: np.int32(2),
                 6: mlx.ints(outer, stride), 7: strides, 8: strides}
    out, order = e.zeros(*shape), np.zeros(shape, np.uint32)
    for kind, target in (("sort", out), ("argsort", order)):
        library.pipeline(f"{kind}_{e.name}_{threads}")(
            {0: e.pack(x), 1: target, **arguments},
            groups=(1, outer * stride), group=(threads,))
    check.equal(f"sort of {shape} {e.name}", e.unpack(out), np.sort(x, 1))
    check.equal(f"argsort of {shape} {e.name}", order,
                np.argsort(x, 1, kind="stable").astype(np.uint32))


def long_sort(random):
    """Blocks of 128 or 512 elements are sorted, then merged by twos."""
    elements = SORTED if FULL else (FLOATS[0], BY_NAME["uint8"])
    library = mlx.library(["utils.h", "sort.h"], [
        (f"{kind}_{e.name}_{threads}", f"mb_block_{kind}", e.metal,
         "uint32_t", "true", threads, 4) for e in elements
        for threads in ((32, 128) if FULL else (32,))
        for kind in ("sort", "partition", "merge")])
    for e in elements:
        for threads, rows, length in ((32, 1, 129), (32, 3, 1000),
                                      (128 if FULL else 32, 2, 2345)):
            _long_sort(random, library, e, threads, rows, length)


def _long_sort(random, library, e, threads, rows, length):
    x = e.random(random, (rows, length), -90, 90)
    blocks = -(-length // (threads * 4))
    found = [[e.zeros(rows, length), np.zeros((rows, length), np.uint32)]
             for _ in range(2)]
    parts = np.zeros((rows, blocks + 1), np.uint32)
    library.pipeline(f"sort_{e.name}_{threads}")(
        {0: e.pack(x), 1: found[0][0], 2: found[0][1], 3: np.int32(length),
         4: np.int32(1), 5: np.int32(1), 6: mlx.ints(rows),
         7: mlx.longs(length)}, groups=(blocks, rows), group=(threads,))
    tiles = 2
    while tiles // 2 < blocks:
        before, after = found
        sizes = [np.int32(n) for n in (length, tiles, blocks)]
        library.pipeline(f"partition_{e.name}_{threads}")(
            dict(enumerate([parts, *before, *sizes])), groups=(1, rows),
            group=(min(blocks + 1, 1024),))
        library.pipeline(f"merge_{e.name}_{threads}")(
            dict(enumerate([parts, *before, *after, *sizes])),
            groups=(blocks, rows), group=(threads,))
        found = [after, before]
        tiles *= 2
    check.equal(f"long sort of {rows}x{length} {e.name}",
                e.unpack(found[0][0]), np.sort(x, 1))
    check.equal(f"long argsort of {rows}x{length} {e.name}", found[0][1],
                np.argsort(x, 1, kind="stable").astype(np.uint32))


def search_sorted(random):
    library = mlx.library(["utils.h", "sort.h", "searchsorted.h"], [
        (f"{e.name}_{side}", "searchsorted", e.metal, right) for e in SORTED
        for side, right in (("left", "false"), ("right", "true"))])
    for e in SORTED:
        for length, count in ((1, 3), (37, 100), (1000, 257)):
            a = np.sort(e.random(random, length, -50, 50))
            v = e.random(random, count, -50, 50)
            v[::3] = a[random.integers(0, length, v[::3].size)]
            for side in ("left", "right"):
                out = np.zeros(count, np.uint32)
                library.pipeline(f"{e.name}_{side}")(
                    {0: e.pack(a), 1: e.pack(v), 2: out,
                     3: np.uint32(length), 4: np.int64(1)},
                    grid=(count,), group=(min(count, 1024),))
                check.equal(f"searchsorted {side} {length} {e.name}", out,
                            np.searchsorted(a, v, side).astype(np.uint32))


FAMILIES = {"strided_scan": strided_scan, "strided_sort": strided_sort,
            "long_sort": long_sort, "search_sorted": search_sorted}
