# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_tensors.py: MLX's kernels by Metal 4's matmul2d, against NumPy: products
# whole, along K in parts, of segments, by groups of rows, of few rows; of
# quantised weights; attention; the gated delta rule. In all types and shapes
# only with METTLE_CORPUS_FULL.
import struct

import numpy as np

import check
import mlx_kernels as mlx
import mlx_quantized as quantized
import mlx_steel as steel
from elements import BFLOAT16, FLOAT16, FLOAT32, FULL
from mlx_products import compare

KINDS = (FLOAT16, BFLOAT16, FLOAT32) if FULL else (FLOAT16,)
KERNEL = "steel/gemm/kernels/steel_gemm_fused_nax.h"
ATTENTION = "steel/attn/kernels/steel_attention_nax.h"
DELTA = "gated_delta_update_nax.h"
FILES = ["utils.h", "steel/gemm/gemm_nax.h"]
SIDES = ((False, False), (False, True), (True, False), (True, True))
SHAPES = (64, 64, 256), (70, 90, 300)
TILE = 64, 64, 256, 2, 2
GROUP = 32, 2, 2


def _few(cases, *some):
    """All cases, or the ones that stand for them: a pipeline takes seconds."""
    return cases if FULL else [cases[i] for i in some]


def _library(headers, instances):
    return mlx.library(headers, instances, language=400)


def _gemm(name, template, e, sides, *rest):
    return (name, template, e.metal, *TILE,
            *(str(side).lower() for side in sides), *rest)


def _tiles(m, n):
    return steel.tiles((m, n), TILE)


def _parameters(shape, left, right, strides=(0, 0, 0)):
    return steel.parameters(shape, left, right, strides, TILE)


def _whole(shape):
    return steel.whole_sides(shape, TILE)


def gemm_tensors(random):
    """Fragments of 16 x 16 in registers, at edges as well. One side turned is
    left to parts and segments of K."""
    turned = _few(SIDES, 0, 3)
    library = _library([*FILES, KERNEL], [
        _gemm(f"{e.name}_{s}", "gemm", e, sides, "float")
        for e in KINDS for s, sides in enumerate(turned)])
    for e in KINDS:
        for s, sides in enumerate(turned):
            for shape in _few(SHAPES, s % 2):
                _whole_product(random, library.pipeline(f"{e.name}_{s}", {
                    **{i: np.bool_(False) for i in (10, 100, 110)},
                    **_whole(shape)}), e, sides, shape)


def _whole_product(random, kernel, e, sides, shape):
    m, n, k = shape
    a, b, left, right = steel.operands(random, e, sides, shape)
    out = e.zeros(m, n)
    kernel({0: e.pack(a), 1: e.pack(b), 3: out, 4: _parameters(shape, a, b)},
           groups=(*_tiles(m, n), 1), group=GROUP)
    compare(f"matmul2d of {shape} {sides} {e.name}", e, out,
            left.astype(np.float64) @ right, k)


def split_tensors(random):
    """Parts of K apart, the last of them shorter."""
    sides = _few(SIDES, 2)
    library = _library(
        [*FILES, "steel/gemm/kernels/steel_gemm_splitk_nax.h"],
        [_gemm(f"{e.name}_{s}", "gemm_splitk_nax", e, turned, "float")
         for e in KINDS for s, turned in enumerate(sides)])
    for e in KINDS:
        for s, turned in enumerate(sides):
            for shape, each in _few((((64, 64, 512), 256),
                                     ((70, 90, 700), 512)), 1):
                _split(random, library, e, s, turned, shape, each)


def _split(random, library, e, s, sides, shape, each):
    m, n, k = shape
    a, b, left, right = steel.operands(random, e, sides, shape)
    parts = -(-k // each)
    out = np.zeros((parts, m, n), np.float32)
    across, down = _tiles(m, n)
    whole = _whole(shape)
    del whole[202]
    library.pipeline(f"{e.name}_{s}", whole)(
        {0: e.pack(a), 1: e.pack(b), 2: out, 3: mlx.ints(
            m, n, k, a.shape[-1], b.shape[-1], n, across, down, parts, m * n,
            each, 0, each // 256)},
        groups=(across * down * parts, 1, 1), group=GROUP)
    want = np.stack([left[:, x:x + each].astype(np.float64)
                     @ right[x:x + each] for x in range(0, k, each)])
    compare(f"matmul2d of {shape} in parts {sides} {e.name}", FLOAT32, out,
            want, k)


def segment_tensors(random):
    """A product for each of some ranges of K."""
    sides = _few(SIDES, 1)
    library = _library(
        [*FILES, "steel/gemm/kernels/steel_gemm_segmented_nax.h"],
        [_gemm(f"{e.name}_{s}", "segmented_mm_nax", e, turned, "float")
         for e in KINDS for s, turned in enumerate(sides)])
    for e in KINDS:
        for s, turned in enumerate(sides):
            for shape in _few(((64, 64, 512), (33, 71, 300)), 1):
                _segments(random, library, e, s, turned, shape)


def _segments(random, library, e, s, sides, shape):
    m, n, k = shape
    a, b, left, right = steel.operands(random, e, sides, shape)
    ends = np.array([[0, k], [3, 3], [1, k - 5], [k // 2, k]], np.uint32)
    out = e.zeros(len(ends), m, n)
    whole = {199: np.bool_(True), **_whole(shape)}
    del whole[202]
    library.pipeline(f"{e.name}_{s}", whole)(
        {0: e.pack(a), 1: e.pack(b), 2: ends, 3: out,
         4: _parameters(shape, a, b, (0, 0, m * n))},
        groups=(*_tiles(m, n), len(ends)), group=GROUP)
    compare(f"matmul2d of segments of {shape} {sides} {e.name}", e, out,
            np.stack([left[:, x:y].astype(np.float64) @ right[x:y]
                      for x, y in ends]), k)


def gather_tensors(random):
    """Rows sorted by their matrix; one matrix has none."""
    turns = _few(SIDES[:2], 0)
    library = _library(
        [*FILES, "steel/gemm/kernels/steel_gemm_gather_nax.h"],
        [_gemm(f"{e.name}_{s}", "gather_mm_rhs_nax", e, sides, "float")
         for e in KINDS for s, sides in enumerate(turns)])
    for e in KINDS:
        for s, sides in enumerate(turns):
            for shape in _few(((192, 64, 256), (133, 71, 300)), 1):
                m, n, k = shape
                a, b, left, right = steel.operands(random, e, sides, shape,
                                                   (1, 4))
                starts = np.array([0, m // 3, m // 3, m - 2], np.int32)
                out = e.zeros(m, n)
                across, down = _tiles(m, n)
                library.pipeline(f"{e.name}_{s}", _whole(shape))(
                    {0: e.pack(a), 1: e.pack(b), 2: starts, 3: out,
                     4: _parameters(shape, a[0], b[0], (0, n * k, 0)),
                     5: np.int32(4)},
                    groups=(across, down + 4, 1), group=GROUP)
                want = _grouped(left[0], right, starts)
                compare(f"matmul2d of rows by matrix, {shape} {sides} "
                        f"{e.name}", e, out, want, k)


def _grouped(left, right, starts):
    """Each range of left's rows by its own matrix."""
    ends = np.append(starts[1:], len(left))
    return np.concatenate([left[x:y].astype(np.float64) @ right[i]
                           for i, (x, y) in enumerate(zip(starts, ends))])


def thin_tensors(random):
    """Few rows: the left matrix in registers, the right one in memory, K
    shared by simdgroups, whose sums go through threadgroup memory."""
    forms = {"one": (1, 1, 1, 2, 4), "wide": (1, 2, 1, 1, 4),
             "tall": (2, 1, 1, 2, 2)}
    library = _library(
        [*FILES, "steel/gemm/kernels/steel_gemm_thin_nax.h"],
        [(f"{e.name}_{name}_{b}", "gemm_thin_nax", e.metal, *form,
          str(bool(b)).lower()) for e in KINDS
         for name, form in forms.items() for b in (0, 1)])
    for e in KINDS:
        for name, form in forms.items():
            for b in (0, 1):
                for shape in _few(((16, 64, 256), (7, 45, 300),
                                   (33, 130, 70)), 1 + b):
                    _thin(random, library, e, name, form, b, shape)


def _thin(random, library, e, name, form, turned, shape):
    m, n, k = shape
    a, b, left, right = steel.operands(random, e, (False, bool(turned)), shape)
    rows, columns = 16 * form[0] * form[2], 16 * form[1] * form[3]
    down, across = -(-m // rows), -(-n // columns)
    source = e.random(random, (m, n), -1, 1)
    out = e.zeros(m, n)
    library.pipeline(f"{e.name}_{name}_{turned}", {
        100: np.bool_(True), 110: np.bool_(True),
        200: np.bool_(m % rows == 0), 201: np.bool_(n % columns == 0),
        202: np.bool_(k % 64 == 0)})(
        {0: e.pack(a), 1: e.pack(b), 2: e.pack(source), 3: out,
         4: struct.pack("<8i3q3i4x", m, n, k, k, b.shape[-1], n, across, down,
                        0, 0, 0, 0, -(-k // (64 * form[4])), 1),
         5: struct.pack("<2iq2f", n, 1, 0, 2, -3)},
        groups=(across * down, 1, 1),
        group=(32, form[2] * form[3] * form[4], 1))
    compare(f"matmul2d of few rows {shape} {name} {turned} {e.name}", e, out,
            2 * (left.astype(np.float64) @ right) - 3 * source, k)


def quantized_tensors(random):
    """Weights of few bits become fragments on the way."""
    bits = _few((2, 3, 4, 5, 6, 8), 2)
    tile = 64, 64, 64, 2, 2
    library = _library([*FILES, "quantized_utils.h", "quantized_nax.h"], [
        (f"{name}_{e.name}_{count}", template, e.metal, 64, count, *rest)
        for e in KINDS for count in bits for name, template, rest in (
            ("t", "affine_qmm_t_nax", ("false", "false", *tile)),
            ("n", "affine_qmm_n_nax", ("false", *tile)),
            ("gather", "affine_gather_qmm_t_nax", ("false", *tile)),
            ("rows", "affine_gather_qmm_rhs_nax", (*tile, "true")))])
    for e in KINDS:
        for count in bits:
            for rows, length in _few(((64, 128), (77, 192)), 1):
                for name in ("t", "n"):
                    _quantized(random, library, e, count, name, rows, length)
                _quantized_gather(random, library, e, count, rows, length)
                _quantized_rows(random, library, e, count, rows, length)


def _constants(rows):
    return {200: np.bool_(False), 201: np.bool_(rows % 64 == 0),
            202: np.bool_(True)}


def _quantized(random, library, e, bits, name, rows, length):
    """By the weights' rows ("t"), or along them."""
    count = 70
    if name == "n":
        rows, length = length, (rows + 63) // 64 * 64
    buffers, values = quantized.weights(random, e, bits, rows, length)
    summed, wide = (length, rows) if name == "t" else (rows, length)
    x, out = e.random(random, (count, summed), -1, 1), e.zeros(count, wide)
    library.pipeline(f"{name}_{e.name}_{bits}", _constants(wide))(
        {**quantized.after(0, buffers), 3: e.pack(x), 4: out,
         **quantized.after(5, (np.int32(summed), np.int32(wide),
                               np.int32(count), *quantized.UNUSED))},
        groups=(*_tiles(count, wide), 1), group=GROUP)
    compare(f"matmul2d of {bits} bits {name}, {count}x{rows}x{length} "
            f"{e.name}", e, out,
            x.astype(np.float64) @ (values.T if name == "t" else values),
            4 * summed)


def _quantized_gather(random, library, e, bits, rows, length):
    """Three matrices of weights and four of rows, five times."""
    parts = [quantized.weights(random, e, bits, rows, length)
             for _ in range(3)]
    buffers = [np.stack(x) for x in zip(*(p[0] for p in parts))]
    values = np.stack([p[1] for p in parts])
    count = 35
    x, out = e.random(random, (4, count, length), -1, 1), e.zeros(5, count,
                                                                  rows)
    left, right = (random.integers(0, n, 5).astype(np.uint32) for n in (4, 3))
    words, one = buffers[0].shape[-1] // 4, np.int32(1)
    rest = (np.int32(length), np.int32(rows), np.int32(count), one,
            mlx.ints(4, count, length), mlx.longs(count * length), one,
            mlx.ints(3, rows, words), mlx.longs(rows * words),
            *[mlx.longs(rows * length // 64)] * 2, one, mlx.ints(5),
            mlx.longs(1), mlx.longs(1))
    library.pipeline(f"gather_{e.name}_{bits}", _constants(rows))(
        {**quantized.after(0, buffers), 3: e.pack(x), 4: left, 5: right,
         6: out, **quantized.after(7, rest)},
        groups=(*_tiles(count, rows), 5), group=GROUP)
    compare(f"matmul2d of {bits} bits by indices, {rows}x{length} {e.name}", e,
            out, x.astype(np.float64)[left] @ values[right].transpose(0, 2, 1),
            4 * length)


def _quantized_rows(random, library, e, bits, rows, length):
    parts = [quantized.weights(random, e, bits, rows, length)
             for _ in range(3)]
    buffers = [np.stack(x) for x in zip(*(p[0] for p in parts))]
    values = np.stack([p[1].T for p in parts])
    count = 133
    x, out = e.random(random, (count, length), -1, 1), e.zeros(count, rows)
    starts = np.array([0, 50, 50], np.int32)
    across, down = _tiles(count, rows)
    library.pipeline(f"rows_{e.name}_{bits}", _constants(rows))(
        {0: e.pack(x), **quantized.after(1, buffers), 4: starts, 5: out,
         6: np.int32(count), 7: np.int32(rows), 8: np.int32(length),
         9: np.int32(3)},
        groups=(across, down + 3, 1), group=GROUP)
    compare(f"matmul2d of {bits} bits, rows by matrix, {rows}x{length} "
            f"{e.name}", e, out, _grouped(x, values, starts), 4 * length)


def float_tensors(random):
    """Weights of small floats, as bfloat in the product."""
    forms = {name: quantized.FORMATS[name] for name in _few(
        sorted(quantized.FORMATS), 1, 2)}
    library = _library(
        [*FILES, "quantized_utils.h", "fp4.h", "fp8.h", "fp_quantized_nax.h"],
        [(f"{e.name}_{form}", "fp_qmm_t_nax", e.metal, *forms[form], "false",
          "false", 64, 64, 64, 2, 2) for e in KINDS for form in forms])
    for e in KINDS:
        for form in forms:
            for rows, length in _few(((64, 128), (77, 192)), 1):
                count = 70
                (words, scales), values = quantized.floats(random, form, rows,
                                                           length)
                x = e.random(random, (count, length), -1, 1)
                out = e.zeros(count, rows)
                library.pipeline(f"{e.name}_{form}", _constants(rows))(
                    {0: words, 1: scales, 2: np.ones(1, np.float32),
                     3: e.pack(x), 4: out, **quantized.after(5, (
                         np.int32(length), np.int32(rows), np.int32(count),
                         *quantized.UNUSED[:-1]))},
                    groups=(*_tiles(count, rows), 1), group=GROUP)
                compare(f"matmul2d of {form}, {count}x{rows}x{length} "
                        f"{e.name}", e, out, x.astype(np.float64) @ values.T,
                        4 * length)


def attention_tensors(random):
    """Scores stay in the fragments that the second product takes."""
    kinds = [(e, size) for e in KINDS for size in ((64, 128) if FULL
                                                   else (64,))]
    library = _library(["utils.h", ATTENTION], [
        (f"{e.name}_{size}_{mask}", "attention_nax", e.metal, 64, 32, size,
         size, 4, 1, mask, "float") for e, size in kinds
        for mask in (e.metal, "bool")])
    for e, size in kinds:
        for mask in _few(("none", "causal", "bool", "float"), 1, 2):
            for shape in _few(((4, 2, 70, 90), (2, 2, 64, 64),
                               (3, 1, 7, 130)), 0):
                steel.attend_in_tiles(
                    random, library, e, size, (64, 32), mask, shape)


def delta_tensors(random):
    """The gated delta rule, sixteen steps at a time."""
    sizes = 64, 32, 2, 4  # of keys, of values; heads of each
    library = _library(
        ["utils.h", "steel/gemm/nax.h", DELTA],
        [(e.name, "gated_delta_fused_nax", e.metal, *sizes, 16, 4)
         for e in KINDS])
    for e in KINDS:
        for steps in _few((16, 37), 1):
            _delta(random, library.pipeline(e.name, {200: np.bool_(False)}),
                   e, sizes, steps)


def _delta(random, kernel, e, sizes, steps):
    keys, values, key_heads, heads = sizes
    batch = 2
    q, k = (e.random(random, (batch, steps, key_heads, keys), -.2, .2)
            for _ in range(2))
    v = e.random(random, (batch, steps, heads, values), -1, 1)
    decay, beta = (e.random(random, (batch, steps, heads), low, 1)
                   for low in (.8, .1))
    before = random.uniform(-1, 1, (batch, heads, values, keys)).astype(
        np.float32)
    after, out = np.zeros_like(before), e.zeros(batch, steps, heads, values)
    nothing = np.zeros(4, np.float32)
    kernel({0: e.pack(q), 1: e.pack(k), 2: e.pack(v), 3: before,
            4: e.pack(decay), 5: e.pack(beta), 6: out, 7: after,
            8: np.int32(steps), 9: nothing, 10: nothing, 11: nothing},
           grid=(32, values // 16, batch * heads),
           group=(32, min(4, values // 16), 1))
    state, want = before.astype(np.float64), np.zeros(out.shape)
    for t in range(steps):
        key, query = (np.repeat(x[:, t], heads // key_heads, 1).astype(
            np.float64) for x in (k, q))
        state = state * decay[:, t, :, None, None]
        change = beta[:, t, :, None] * (
            v[:, t] - np.einsum("bhvk,bhk->bhv", state, key))
        state = state + change[..., None] * key[:, :, None]
        want[:, t] = np.einsum("bhvk,bhk->bhv", state, query)
    compare(f"delta rule of {steps} steps {e.name}", e, out, want, keys)
    # The kernels use MLX's fast logarithms and powers.
    check.equal(f"state behind {steps} steps {e.name}", after.astype(
        np.float64), state, 1e-3, 2e-3)


FAMILIES = {"gemm_tensors": gemm_tensors, "split_tensors": split_tensors,
            "segment_tensors": segment_tensors,
            "gather_tensors": gather_tensors, "thin_tensors": thin_tensors,
            "quantized_tensors": quantized_tensors,
            "float_tensors": float_tensors,
            "attention_tensors": attention_tensors,
            "delta_tensors": delta_tensors}
NEEDS = {**{name: KERNEL for name in FAMILIES},
         "thin_tensors": "steel/gemm/kernels/steel_gemm_thin_nax.h",
         "attention_tensors": ATTENTION, "delta_tensors": DELTA}
