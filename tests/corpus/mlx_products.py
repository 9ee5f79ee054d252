# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_products.py: MLX's matrix products, quantized products, attention and
# gathers against NumPy.
import struct

import numpy as np

import check
import mlx_kernels as mlx
from elements import BY_NAME, FLOAT16, FLOAT32, FLOATS, FULL


def compare(title, element, out, want, length):
    """Sums of length products in float, rounded to the type once."""
    want = np.asarray(want, np.float64)
    scale = np.abs(want).max() + length ** .5
    check.equal(title, element.unpack(out).astype(np.float64), want,
                4 * element.digits, (element.digits + 1e-6) * scale)


def gemv(random):
    instances = []
    for e in FLOATS:
        for key, tile in (("rows", (4, 1, 1, 32, 4, 4)),
                          ("short", (1, 8, 1, 32, 1, 4)),
                          ("thin", (1, 1, 8, 4, 1, 4))):
            instances.append((f"{key}_{e.name}", "gemv", e.metal, *tile, 0, 0))
    library = mlx.library(["gemv.h"], instances, before=(
        "metal_simdgroup", "metal_stdlib"))
    for e in FLOATS:
        for key, rows, length in (("rows", 4, 64), ("rows", 37, 1000),
                                  ("rows", 64, 257), ("short", 3, 515),
                                  ("thin", 19, 31)):
            _gemv(random, library, e, key, rows, length)


def _gemv(random, library, e, key, rows, length):
    tile_rows, simdgroups = {"rows": (16, (32, 1, 4)), "short": (1, (32, 8, 1)),
                             "thin": (8, (32, 1, 1))}[key]
    a, x = e.random(random, (rows, length)), e.random(random, length)
    out = e.zeros(rows)
    library.pipeline(f"{key}_{e.name}")(
        {0: e.pack(a), 1: e.pack(x), 2: e.zeros(1), 3: out,
         4: np.int32(length), 5: np.int32(rows), 6: np.int32(length),
         7: np.float32(1), 8: np.float32(0), 9: np.int32(1), 10: mlx.ints(1),
         11: mlx.longs(0), 12: mlx.longs(0), 13: mlx.longs(0),
         14: np.int32(0)},
        groups=(-(-rows // tile_rows),), group=simdgroups)
    compare(f"gemv {key} of {rows}x{length} {e.name}", e, out,
             a.astype(np.float64) @ x, length)


TILES = ((32, 32, 16, 2, 2), (64, 64, 16, 2, 2), (64, 32, 32, 2, 2))


def gemm(random):
    instances = []
    for e in FLOATS:
        for tile in TILES:
            for ta, tb in ((0, 0), (0, 1), (1, 0)):
                instances.append((
                    f"{e.name}_{tile[0]}{tile[1]}_{ta}{tb}", "gemm", e.metal,
                    *tile, str(bool(ta)).lower(), str(bool(tb)).lower(),
                    "float"))
    library = mlx.library(["utils.h", "steel/gemm/gemm.h",
                           "steel/gemm/kernels/steel_gemm_fused.h"], instances)
    for e in FLOATS:
        for tile in TILES[:3 if e is FLOAT32 else 1]:
            for transposed in ((0, 0), (0, 1), (1, 0)):
                for shape in ((64, 64, 32), (33, 71, 45), (5, 96, 130)):
                    if FULL or _is_daily(e, tile, transposed, shape):
                        _gemm(random, library, e, tile, transposed, shape)


def _is_daily(e, tile, transposed, shape):
    """Each tile, type and transposition, but not each with each other: they
    are the largest kernels of all."""
    whole, ends = shape == (64, 64, 32), shape == (33, 71, 45)
    if e is FLOAT32 and tile == TILES[0]:
        return whole if transposed == (0, 0) else ends
    return ends and transposed == (0, 1)


def _gemm(random, library, e, tile, transposed, shape):
    (bm, bn, bk, wm, wn), (m, n, k) = tile, shape
    a = e.random(random, (k, m) if transposed[0] else (m, k))
    b = e.random(random, (n, k) if transposed[1] else (k, n))
    out = e.zeros(m, n)
    tiles = -(-n // bn), -(-m // bm)
    parameters = struct.pack(
        "<8i3q3i4x", m, n, k, a.shape[1], b.shape[1], n, *tiles, m * k, k * n,
        m * n, 0, k // bk, 1)
    false = np.bool_(False)
    kernel = library.pipeline(
        f"{e.name}_{bm}{bn}_{transposed[0]}{transposed[1]}",
        {10: false, 100: false, 110: false, 200: np.bool_(m % bm == 0),
         201: np.bool_(n % bn == 0), 202: np.bool_(k % bk == 0)})
    kernel({0: e.pack(a), 1: e.pack(b), 3: out, 4: parameters},
           groups=(*tiles, 1), group=(32, wn, wm))
    left = a.T if transposed[0] else a
    right = b.T if transposed[1] else b
    compare(f"gemm {bm}x{bn}x{bk} {transposed} of {shape} {e.name}", e, out,
             left.astype(np.float64) @ right, k)


def quantized(random):
    kinds = [(e, bits) for e in (FLOAT32, FLOAT16) for bits in (2, 4, 8)
             if FULL or e is FLOAT16 or bits == 4]
    instances = []
    for e, bits in kinds:
        key = f"{e.name}_{bits}"
        instances += [
            (f"quantize_{key}", "affine_quantize", e.metal, 64, bits),
            (f"dequantize_{key}", "affine_dequantize", e.metal, 64, bits),
            (f"fast_{key}", "affine_qmv_fast", e.metal, 64, bits, "false"),
            (f"qmv_{key}", "affine_qmv", e.metal, 64, bits, "false"),
            (f"qmm_{key}", "affine_qmm_t", e.metal, 64, bits, "false",
             "false")]
    library = mlx.library(["utils.h", "steel/gemm/gemm.h", "quantized_utils.h",
                           "quantized.h"], instances)
    for e, bits in kinds:
        _quantized(random, library, e, bits)


def _weights(random, e, bits, rows, length):
    """Quantized weights: packed words, scales, biases, and their values."""
    codes = random.integers(0, 1 << bits, (rows, length)).astype(np.uint32)
    scales = e.random(random, (rows, length // 64), .01, .1)
    biases = e.random(random, (rows, length // 64), -1, 1)
    per_word = 32 // bits
    shifts = (np.arange(per_word) * bits).astype(np.uint32)
    words = np.bitwise_or.reduce(
        codes.reshape(rows, -1, per_word) << shifts, 2).astype(np.uint32)
    values = (codes * np.repeat(scales.astype(np.float64), 64, 1)
              + np.repeat(biases.astype(np.float64), 64, 1))
    return np.ascontiguousarray(words), scales, biases, values


def _quantized(random, library, e, bits):
    key = f"{e.name}_{bits}"
    # Batches of one: the arguments after the sizes are not read.
    rest = {7: np.int32(0), 8: mlx.ints(0), 9: mlx.longs(0), 10: np.int32(0),
            11: mlx.ints(0), 12: mlx.longs(0), 13: mlx.longs(0),
            14: mlx.longs(0)}
    for name, count, rows, length in (
            ("fast", 1, 8, 512), ("fast", 3, 24, 1024), ("qmv", 1, 13, 192),
            ("qmv", 2, 5, 576), ("qmv", 1, 40, 64)):
        words, scales, biases, values = _weights(random, e, bits, rows, length)
        x = e.random(random, (count, length), -1, 1)
        out = e.zeros(count, rows)
        library.pipeline(f"{name}_{key}")(
            {0: words, 1: e.pack(scales), 2: e.pack(biases), 3: e.pack(x),
             4: out, 5: np.int32(length), 6: np.int32(rows), **rest},
            groups=(count, -(-rows // 8)), group=(32, 2))
        compare(f"qmv {name} {bits} bits, {count}x{rows}x{length} {e.name}",
                 e, out, x.astype(np.float64) @ values.T, length)
    rest = {8 + i: value for i, value in enumerate(rest.values())}
    for count, rows, length in ((32, 32, 64), (7, 45, 128), (40, 33, 320)):
        words, scales, biases, values = _weights(random, e, bits, rows, length)
        x = e.random(random, (count, length), -1, 1)
        out = e.zeros(count, rows)
        library.pipeline(f"qmm_{key}")(
            {0: words, 1: e.pack(scales), 2: e.pack(biases), 3: e.pack(x),
             4: out, 5: np.int32(length), 6: np.int32(rows),
             7: np.int32(count), **rest},
            groups=(-(-rows // 32), -(-count // 32), 1), group=(32, 2, 2))
        # The weights themselves are rounded to the type here.
        compare(f"qmm_t {bits} bits, {count}x{rows}x{length} {e.name}", e,
                 out, x.astype(np.float64) @ values.T, 4 * length)
    _round_trip(random, library, e, bits)


def _round_trip(random, library, e, bits):
    for rows, length in ((1, 64), (3, 192), (5, 512)):
        x = e.random(random, (rows, length), -3, 3)
        groups = rows * length // 64
        packed = np.zeros(rows * length * bits // 8, np.uint8)
        scales, biases = e.zeros(groups), e.zeros(groups)
        library.pipeline(f"quantize_{e.name}_{bits}")(
            {0: e.pack(x), 1: packed, 2: scales, 3: biases},
            grid=(rows * length // 2,), group=(32,))
        out = e.zeros(rows, length)
        threads = packed.size
        library.pipeline(f"dequantize_{e.name}_{bits}")(
            {0: packed, 1: scales, 2: biases, 3: out}, grid=(threads,),
            group=(min(threads, 1024),))
        # A code is half a step off at the most; the step may be rounded so
        # that zero has a code.
        step = np.repeat(np.abs(scales.astype(np.float64)), 64)
        off = np.abs(out.astype(np.float64) - x).ravel() / step
        check.equal(f"quantize and back, {bits} bits, {rows}x{length} "
                    f"{e.name}: steps off", np.maximum(off, 1),
                    np.ones_like(off), 0, .05)


def attention(random):
    instances = [(f"sdpa_{e.name}_{d}", "sdpa_vector", e.metal, d, d)
                 for e in FLOATS for d in (64, 128)]
    library = mlx.library(["utils.h", "sdpa_vector.h"], instances,
                          before=("metal_stdlib",))
    for e in FLOATS:
        for size, heads, kv_heads, length in ((64, 4, 4, 33), (64, 6, 2, 100),
                                              (128, 2, 1, 7)):
            for causal in (False, True):
                _attention(random, library, e, causal, size, heads, kv_heads,
                           length)


def _attention(random, library, e, causal, size, heads, kv_heads, length):
    queries = 3
    q = e.random(random, (heads, queries, size), -1, 1)
    k, v = (e.random(random, (kv_heads, length, size), -1, 1)
            for _ in range(2))
    out = e.zeros(heads, queries, size)
    false = np.bool_(False)
    library.pipeline(
        f"sdpa_{e.name}_{size}",
        {20: false, 21: false, 22: np.bool_(causal), 23: false, 24: false,
         25: false, 26: np.int32(1)})(
        {0: e.pack(q), 1: e.pack(k), 2: e.pack(v), 3: out,
         4: np.int32(heads // kv_heads), 5: np.int32(length),
         6: np.int64(length * size), 7: np.int64(size),
         8: np.int64(length * size), 9: np.int64(size),
         10: np.float32(size ** -.5)},
        groups=(heads, queries), group=(1024,))
    wide_k, wide_v = (np.repeat(x.astype(np.float64), heads // kv_heads, 0)
                      for x in (k, v))
    scores = q.astype(np.float64) @ wide_k.transpose(0, 2, 1) * size ** -.5
    if causal:
        seen = (np.arange(length)[None]
                <= np.arange(queries)[:, None] + length - queries)
        scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    compare(f"attention of {heads}/{kv_heads} heads, {length}x{size} "
             f"{e.name}{', causal' if causal else ''}", e, out,
             weights @ wide_v, length)


def gather(random):
    elements = (*FLOATS, BY_NAME["int32"], BY_NAME["uint8"])
    indices = BY_NAME["int32"], BY_NAME["uint32"]
    instances = [(f"{name}_{e.name}_{i.name}", template, e.metal, i.metal,
                  "int", *rest) for e in elements for i in indices
                 for name, template, rest in (
                     ("front", "gather_front", (4,)),
                     ("axis", "gather_axis", ("true", "true")))]
    library = mlx.library(["utils.h", "indexing/indexing.h",
                           "indexing/gather_front.h",
                           "indexing/gather_axis.h"], instances)
    for e in elements:
        for i in indices:
            for shape in ((5, 7, 11), (33, 4, 1), (2, 129, 30)):
                _gather(random, library, e, i, shape)


def _gather(random, library, e, i, shape):
    first, rows, last = shape
    x = e.pack(e.random(random, (rows, first * last), -50, 50))
    lowest = -rows if i.name == "int32" else 0
    at = random.integers(lowest, rows, 37).astype(i.dtype)
    width = first * last
    out = np.zeros((37, width), x.dtype)
    grid = (-(-width // 4), 37)
    library.pipeline(f"front_{e.name}_{i.name}")(
        {0: x, 1: at, 2: out, 3: np.int64(width), 4: np.int32(rows)},
        grid=grid, group=mlx.block(*grid))
    check.equal(f"gather_front of {shape} {e.name}", out,
                x[at.astype(np.int64)])
    x = np.ascontiguousarray(x.reshape(first, rows, last))
    at = random.integers(lowest, rows, (first, 9, last)).astype(i.dtype)
    out = np.zeros((first, 9, last), x.dtype)
    grid = (last, 9, first)
    library.pipeline(f"axis_{e.name}_{i.name}")(
        {0: x, 1: at, 2: out, 3: mlx.ints(first, last),
         4: mlx.longs(rows * last, 1), 5: mlx.longs(9 * last, 1),
         6: np.int64(2), 7: np.int32(1), 8: np.int32(rows),
         9: np.int64(last), 10: np.int64(last)},
        grid=grid, group=mlx.block(*grid))
    check.equal(f"gather_axis of {shape} {e.name}", out,
                np.take_along_axis(x, at.astype(np.int64), 1))


FAMILIES = {"gemv": gemv, "gemm": gemm, "quantized": quantized,
            "attention": attention, "gather": gather}
