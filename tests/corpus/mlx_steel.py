# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_steel.py: MLX's other matrix products (along K in parts, segments, by
# indices, under masks) and its attention in tiles and in two passes, against
# NumPy. In all types and shapes only with METTLE_CORPUS_FULL.
import struct

import numpy as np

import mlx_kernels as mlx
from elements import FLOAT16, FLOATS, FULL
from mlx_products import compare

KINDS = FLOATS if FULL else (FLOAT16,)
TILE = 32, 32, 16, 2, 2
GROUP = 32, 2, 2
GEMM = ["utils.h", "steel/gemm/gemm.h"]
SIDES = ((False, False), (False, True), (True, False))


def _flag(value):
    return str(bool(value)).lower()


def operands(random, e, sides, shape, batches=()):
    """A and B as they lie in memory, and as they are multiplied."""
    m, n, k = shape
    left = e.random(random, (*batches[:1], *((k, m) if sides[0] else (m, k))),
                    -1, 1)
    right = e.random(random, (*batches[1:], *((n, k) if sides[1] else (k, n))),
                     -1, 1)
    return left, right, *(np.swapaxes(x, -1, -2) if turned else x for
                          x, turned in zip((left, right), sides))


def parameters(shape, left, right, strides=(0, 0, 0), tile=TILE):
    m, n, k = shape
    return struct.pack(
        "<8i3q3i4x", m, n, k, left.shape[-1], right.shape[-1], n,
        *tiles(shape, tile), *strides, 0, k // tile[2], 1)


def tiles(shape, tile=TILE):
    """Tiles of the result across and down."""
    return -(-shape[1] // tile[1]), -(-shape[0] // tile[0])


def whole_sides(shape, tile=TILE):
    """The constants that say which sides are whole tiles."""
    return {200 + i: np.bool_(size % side == 0)
            for i, (size, side) in enumerate(zip(shape, tile))}


def _aligned(shape):
    return {10: np.bool_(False), **whole_sides(shape)}


def gemm_split(random):
    """Parts of K apart, then their sums."""
    whole = [(m, k) for m in (False, True) for k in (False, True)]
    library = mlx.library([*GEMM, "steel/gemm/kernels/steel_gemm_splitk.h"], [
        *((f"split_{e.name}_{m}_{k}_{s}", "gemm_splitk", e.metal, "float",
           *TILE, *map(_flag, SIDES[s]), _flag(m), _flag(k)) for e in KINDS
          for m, k in whole for s in range(3)),
        *((f"sum_{e.name}", "gemm_splitk_accum", "float", e.metal)
          for e in KINDS)])
    for e in KINDS:
        for s in range(3 if FULL else 2):
            for shape, parts in (((32, 64, 256), 4), ((33, 7, 333), 3),
                                 ((5, 96, 130), 2)):
                _gemm_split(random, library, e, s, shape, parts)


def _gemm_split(random, library, e, s, shape, parts):
    m, n, k = shape
    a, b, left, right = operands(random, e, SIDES[s], shape)
    rounds = k // 16 // parts
    sums, out = np.zeros((parts, m, n), np.float32), e.zeros(m, n)
    whole = m % 32 == 0 and n % 32 == 0, k % 16 == 0
    library.pipeline(f"split_{e.name}_{whole[0]}_{whole[1]}_{s}")(
        {0: e.pack(a), 1: e.pack(b), 2: sums, 3: mlx.ints(
            m, n, k, a.shape[-1], b.shape[-1], n, *tiles(shape), parts, m * n,
            rounds * 16, 0, rounds)},
        groups=(*tiles(shape), parts), group=GROUP)
    library.pipeline(f"sum_{e.name}")(
        {0: sums, 1: out, 2: np.int32(parts), 3: np.int32(m * n),
         4: np.int32(n)}, grid=(n, m), group=mlx.block(n, m))
    compare(f"gemm of {shape} in {parts} parts, {SIDES[s]} {e.name}", e, out,
            left.astype(np.float64) @ right, k)


def gemm_segments(random):
    """A product for each of some ranges of K."""
    library = mlx.library([*GEMM, "steel/gemm/kernels/steel_gemm_segmented.h"],
                          [(f"{e.name}_{s}", "segmented_mm", e.metal, *TILE,
                            *map(_flag, SIDES[s])) for e in KINDS
                           for s in range(3)])
    for e in KINDS:
        for s in range(3):
            for shape in ((32, 64, 64), (33, 71, 45), (5, 32, 130)):
                _gemm_segments(random, library, e, s, shape)


def _gemm_segments(random, library, e, s, shape):
    m, n, k = shape
    a, b, left, right = operands(random, e, SIDES[s], shape)
    ends = np.array([[0, k], [3, 3], [1, k - 5], [k // 2, k]], np.uint32)
    out = e.zeros(len(ends), m, n)
    library.pipeline(f"{e.name}_{s}", {199: np.bool_(True), **_aligned(shape)})(
        {0: e.pack(a), 1: e.pack(b), 2: ends, 3: out,
         4: parameters(shape, a, b, (0, 0, m * n))},
        groups=(*tiles(shape), len(ends)), group=GROUP)
    want = np.stack([left[:, x:y].astype(np.float64) @ right[x:y]
                     for x, y in ends])
    compare(f"gemm of segments of {shape} {SIDES[s]} {e.name}", e, out, want, k)


def gemm_gather(random):
    """Matrices that indices name."""
    library = mlx.library([*GEMM, "steel/gemm/kernels/steel_gemm_gather.h"], [
        (f"{name}_{e.name}_{s}", template, e.metal, *TILE,
         *map(_flag, SIDES[s])) for e in KINDS for s in range(3)
        for name, template in (("both", "gather_mm"),
                               ("right", "gather_mm_rhs"))])
    for e in KINDS:
        for s in range(3):
            for shape in ((32, 64, 64), (33, 71, 45), (5, 32, 130)):
                _gather_both(random, library, e, s, shape)
                if not SIDES[s][0]:
                    _gather_right(random, library, e, s, shape)


def _gather_both(random, library, e, s, shape):
    m, n, k = shape
    a, b, left, right = operands(random, e, SIDES[s], shape, (3, 4))
    at_a, at_b = (random.integers(0, count, 6).astype(np.uint32)
                  for count in (3, 4))
    out, one = e.zeros(6, m, n), np.int32(1)
    library.pipeline(f"both_{e.name}_{s}", _aligned(shape))(
        {0: e.pack(a), 1: e.pack(b), 2: at_a, 3: at_b, 4: out,
         5: parameters(shape, a, b, (1, 1, m * n)), 6: mlx.ints(6),
         7: mlx.longs(1), 8: mlx.longs(1), 9: one, 10: mlx.ints(3),
         11: mlx.longs(m * k), 12: one, 13: mlx.ints(4), 14: mlx.longs(n * k)},
        groups=(*tiles(shape), 6), group=GROUP)
    compare(f"gather_mm of {shape} {SIDES[s]} {e.name}", e, out,
            left.astype(np.float64)[at_a] @ right[at_b], k)


def _gather_right(random, library, e, s, shape):
    """Rows sorted by their matrix; one matrix has none."""
    m, n, k = shape
    a, b, left, right = operands(random, e, SIDES[s], shape, (1, 4))
    starts = np.array([0, m // 3, m // 3, m - 2], np.int32)
    out = e.zeros(m, n)
    across, down = tiles(shape)
    library.pipeline(f"right_{e.name}_{s}", _aligned(shape))(
        {0: e.pack(a), 1: e.pack(b), 2: starts, 3: out,
         4: parameters(shape, a, b, (0, n * k, 0)), 5: np.int32(4)},
        groups=(across, down + 4, 1), group=GROUP)
    ends = np.append(starts[1:], m)
    want = np.concatenate([left[0, x:y].astype(np.float64) @ right[i]
                           for i, (x, y) in enumerate(zip(starts, ends))])
    compare(f"gather_mm_rhs of {shape} {SIDES[s]} {e.name}", e, out, want, k)


MASKS = {"bool": ("bool", "bool"), "none": ("nomask_t", "bool"),
         "scales": ("float", "T"), "output": ("bool", "nomask_t")}


def gemm_masked(random):
    """Blocks of 32 that masks leave out or scale."""
    aligned = [(m, k) for m in (False, True) for k in (False, True)]
    library = mlx.library([*GEMM, "steel/gemm/kernels/steel_gemm_masked.h"], [
        (f"{mask}_{e.name}_{m}_{k}_{s}", "block_masked_gemm", e.metal, output,
         e.metal if operand == "T" else operand, *TILE, *map(_flag, SIDES[s]),
         _flag(m), _flag(k)) for e in KINDS for m, k in aligned
        for s in range(3 if FULL else 1)
        for mask, (output, operand) in MASKS.items()])
    for e in KINDS:
        for mask in MASKS:
            for s in range(3 if FULL else 1):
                for shape in ((64, 96, 64), (33, 71, 45), (5, 96, 130)):
                    _gemm_masked(random, library, e, mask, s, shape)


def _mask(random, e, kind, *blocks):
    """A mask's buffer and what it multiplies by."""
    keep = random.integers(0, 2, blocks).astype(bool)
    if kind == "nomask_t":
        return np.zeros(1, np.uint8), np.ones(blocks)
    if kind == "bool":
        return keep, keep * 1.0
    scale = e.random(random, blocks, .5, 2) * keep
    if kind == "float":
        return scale.astype(np.float32), scale.astype(np.float64)
    return e.pack(scale), scale.astype(np.float64)


def _gemm_masked(random, library, e, mask, s, shape):
    m, n, k = shape
    rows, columns, depth = (-(-x // 32) for x in shape)
    a, b, left, right = operands(random, e, SIDES[s], shape)
    kinds = MASKS[mask]
    masks = [_mask(random, e, kind, *blocks) for kind, blocks in zip(
        (kinds[0], kinds[1], kinds[1]),
        ((rows, columns), (rows, depth), (depth, columns)))]
    strides = [mlx.ints(1, x) for kind, x in zip(
        (kinds[0], kinds[1], kinds[1]), (columns, depth, columns))
        if kind != "nomask_t"]
    out = e.zeros(m, n)
    whole = m % 32 == 0 and n % 32 == 0, k % 16 == 0
    library.pipeline(f"{mask}_{e.name}_{whole[0]}_{whole[1]}_{s}")(
        {0: e.pack(a), 1: e.pack(b), 3: out, 4: parameters(shape, a, b),
         6: mlx.ints(1), 7: mlx.longs(*[0] * 8), 10: masks[0][0],
         11: masks[1][0], 12: masks[2][0], 13: b"".join(strides)},
        groups=(*tiles(shape), 1), group=GROUP)
    wide = [np.kron(x[1], np.ones((32, 32))) for x in masks]
    want = wide[0][:m, :n] * (
        (left.astype(np.float64) * wide[1][:m, :k])
        @ (right.astype(np.float64) * wide[2][:k, :n]))
    compare(f"gemm of {shape}, mask {mask} {SIDES[s]} {e.name}", e, out, want,
            4 * k)


def _attend(q, k, v, scale, seen):
    """[heads, rows, size] by heads of keys, in double precision."""
    shared = len(q) // len(k)
    k, v = (np.repeat(x.astype(np.float64), shared, 0) for x in (k, v))
    scores = q.astype(np.float64) @ k.transpose(0, 2, 1) * scale + seen
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def _seen(random, e, mask, heads, queries, length):
    """What a kind of mask adds to the scores, and its buffer."""
    nothing = np.zeros((heads, queries, length))
    if mask == "causal":
        late = (np.arange(length)[None]
                > np.arange(queries)[:, None] + length - queries)
        return np.where(late, -np.inf, nothing), None
    if mask == "bool":
        keep = random.integers(0, 4, nothing.shape) > 0
        keep[..., 0] = True
        return np.where(keep, 0, -np.inf), keep
    if mask == "float":
        added = e.random(random, nothing.shape, -2, 2)
        return added.astype(np.float64), e.pack(added)
    return nothing, None


# Type, size of a head, keys in a tile, masks: each pipeline takes seconds.
TILED = ((FLOAT16, 64, 32, ("none", "causal", "bool", "float")),
         *((e, 64, 32, ("causal",)) for e in FLOATS if e is not FLOAT16),
         (FLOAT16, 80, 32, ("causal",)), (FLOAT16, 128, 16, ("causal",)))


def attention_tiles(random):
    library = mlx.library(
        ["utils.h", "steel/attn/kernels/steel_attention.h"],
        [(f"{e.name}_{size}_{mask}", "attention", e.metal, 32, block, size,
          size, 4, 1, mask, "float") for e, size, block, _ in TILED
         for mask in (e.metal, "bool")])
    for e, size, block, masks in TILED:
        for mask in masks:
            for shape in ((2, 2, 64, 64), (4, 2, 33, 71), (3, 1, 7, 130)):
                attend_in_tiles(random, library, e, size, (32, block), mask,
                                shape)


def attend_in_tiles(random, library, e, size, tile, mask, shape):
    """By a kernel whose tiles have so many queries and keys."""
    rows_each, block = tile
    heads, kv_heads, queries, length = shape
    q = e.random(random, (heads, queries, size), -1, 1)
    k, v = (e.random(random, (kv_heads, length, size), -1, 1)
            for _ in range(2))
    seen, buffer = _seen(random, e, mask, heads, queries, length)
    scale, out = size ** -.5, e.zeros(heads, queries, size)
    rows, columns = (heads * queries * size, queries * size, size), (
        kv_heads * length * size, length * size, size)
    parameters = struct.pack(
        "<6if7i12q", 1, heads, size, queries, length, heads // kv_heads, scale,
        -(-queries // rows_each), -(-length // block), queries // rows_each,
        length // block, queries % rows_each, length % block,
        length - queries, *rows, *columns, *columns, *rows)
    arguments = {0: e.pack(q), 1: e.pack(k), 2: e.pack(v), 3: out,
                 4: parameters}
    if buffer is not None:
        arguments |= {5: mlx.longs(heads * queries * length, queries * length,
                                   length), 6: buffer}
    kernel = library.pipeline(
        f"{e.name}_{size}_{'bool' if mask == 'bool' else e.metal}",
        {200: np.bool_(queries % rows_each == 0), 201: np.bool_(length % block == 0),
         300: np.bool_(buffer is not None), 301: np.bool_(mask == "causal"),
         302: np.bool_(False), 303: np.bool_(False)})
    kernel(arguments, groups=(-(-queries // rows_each), heads, 1), group=(32, 4, 1))
    compare(f"attention in tiles of {shape} x {size}, mask {mask} {e.name}", e,
            out, _attend(q, k, v, scale, seen), length)


def attention_passes(random):
    """Keys in blocks, which a second kernel joins."""
    library = mlx.library(["utils.h", "sdpa_vector.h"], [
        instance for e in KINDS for size in (64, 128) for instance in (
            (f"first_{e.name}_{size}", "sdpa_vector_2pass_1", e.metal, size),
            (f"second_{e.name}_{size}", "sdpa_vector_2pass_2", e.metal, size))],
        before=("metal_stdlib",))
    for e in KINDS:
        for shape, size in (((4, 4, 1, 128), 64), ((6, 2, 3, 515), 64),
                            ((2, 1, 2, 77), 128)):
            for mask in ("none", "causal", "bool", "float") if FULL else (
                    "causal", "float"):
                _attention_passes(random, library, e, size, mask, shape)


def _attention_passes(random, library, e, size, mask, shape):
    heads, kv_heads, queries, length = shape
    q = e.random(random, (heads, queries, size), -1, 1)
    k, v = (e.random(random, (kv_heads, length, size), -1, 1)
            for _ in range(2))
    seen, buffer = _seen(random, e, mask, heads, queries, length)
    blocks, scale = 32, size ** -.5
    parts = e.zeros(heads, queries, blocks, size)
    sums, most = np.zeros((2, heads * queries * blocks), np.float32)
    sums, most = np.ascontiguousarray(sums), np.ascontiguousarray(most)
    arguments = {
        0: e.pack(q), 1: e.pack(k), 2: e.pack(v), 3: parts, 4: sums, 5: most,
        7: np.int32(length), 8: np.int64(length * size), 9: np.int64(size),
        10: np.int64(length * size), 11: np.int64(size),
        12: np.float32(scale)}
    if buffer is not None:
        arguments |= {13 if mask == "bool" else 14: buffer, 15: np.int32(1),
                      16: np.int32(length), 17: np.int32(queries * length)}
    flags = {20: buffer is not None, 21: False, 22: mask == "causal",
             23: mask == "bool", 24: mask == "float", 25: False}
    library.pipeline(f"first_{e.name}_{size}", {
        **{i: np.bool_(x) for i, x in flags.items()}, 26: np.int32(blocks)})(
        arguments, groups=(kv_heads, 1, blocks),
        group=(32, heads // kv_heads, queries))
    out = e.zeros(heads, queries, size)
    library.pipeline(f"second_{e.name}_{size}")(
        {0: parts, 1: sums, 2: most, 3: out, 4: np.int32(blocks)},
        groups=(heads, queries), group=(1024,))
    compare(f"attention in two passes of {shape} x {size}, mask {mask} "
            f"{e.name}", e, out, _attend(q, k, v, scale, seen), length)


FAMILIES = {"gemm_split": gemm_split, "attention_passes": attention_passes}
if FULL:
    FAMILIES |= {"gemm_segments": gemm_segments, "gemm_gather": gemm_gather,
                 "gemm_masked": gemm_masked,
                 "attention_tiles": attention_tiles}
