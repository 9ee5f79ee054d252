# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_rows.py: MLX's kernels along rows against NumPy: reductions, softmax,
# log-sum-exp, layer and RMS norm, rotary positions, arg-reductions, scans,
# sorts.
import numpy as np

import check
import mlx_kernels as mlx
from elements import (BY_NAME, FEW_FLOATS, FLOAT16, FLOAT32, FLOATS, FULL,
                      INTEGERS)

ROWS = ((1, 1), (3, 31), (2, 1000), (5, 4096), (2, 4500))


def _threads(length, per_thread):
    """A simdgroup's multiple that reads length elements."""
    return min(1024, -(-length // (32 * per_thread)) * 32)


def _compare(title, element, out, want, units=16):
    tolerance = units * element.digits
    check.equal(title, element.unpack(out).astype(np.float64),
                np.asarray(want, np.float64), tolerance, tolerance)


def _row_kernel(library, block_name, looped_name, length, per_thread=4,
                limit=4096):
    """The kernel for rows of length, and its threads in a group."""
    if length <= limit:
        return library.pipeline(block_name), _threads(length, per_thread)
    return library.pipeline(looped_name), 1024


def softmax(random):
    instances = []
    for e in FLOATS:
        for name, function in (("block", "softmax_single_row"),
                               ("looped", "softmax_looped")):
            instances.append((f"{name}_{e.name}", function, e.metal, "float"))
    library = mlx.library(["utils.h", "softmax.h"], instances)
    for e in FLOATS:
        for rows, length in ROWS:
            x = e.random(random, (rows, length))
            out = e.zeros(rows, length)
            kernel, threads = _row_kernel(library, f"block_{e.name}",
                                          f"looped_{e.name}", length)
            kernel({0: e.pack(x), 1: out, 2: np.int32(length)},
                   grid=(rows * threads,), group=(threads,))
            wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
            _compare(f"softmax of {rows}x{length} {e.name}", e, out,
                     wide / wide.sum(1, keepdims=True))


def logsumexp(random):
    instances = []
    for e in FLOATS:
        instances += [(f"block_{e.name}", "logsumexp", e.metal),
                      (f"looped_{e.name}", "logsumexp_looped", e.metal)]
    library = mlx.library(["utils.h", "logsumexp.h"], instances)
    for e in FLOATS:
        for rows, length in ROWS:
            x = e.random(random, (rows, length))
            out = e.zeros(rows)
            kernel, threads = _row_kernel(library, f"block_{e.name}",
                                          f"looped_{e.name}", length)
            kernel({0: e.pack(x), 1: out, 2: np.int32(length)},
                   grid=(rows * threads,), group=(threads,))
            _compare(f"logsumexp of {rows}x{length} {e.name}", e, out,
                     np.logaddexp.reduce(x.astype(np.float64), 1))


def rms_norm(random):
    library = mlx.library(["rms_norm.metal"])
    for e in FLOATS:
        for rows, length in ROWS:
            x, w = e.random(random, (rows, length)), e.random(random, length)
            out = e.zeros(rows, length)
            kernel, threads = _row_kernel(library, f"rms{e.name}",
                                          f"rms_looped{e.name}", length)
            kernel({0: e.pack(x), 1: e.pack(w), 2: out, 3: np.float32(1e-5),
                    4: np.uint32(length), 5: np.uint32(1)},
                   grid=(rows * threads,), group=(threads,))
            wide = x.astype(np.float64)
            want = w * wide / np.sqrt((wide ** 2).mean(1, keepdims=True)
                                      + 1e-5)
            _compare(f"rms_norm of {rows}x{length} {e.name}", e, out, want)


def layer_norm(random):
    library = mlx.library(["layer_norm.metal"])
    for e in FLOATS:
        for rows, length in ((2, 8), (3, 31), (2, 1000), (5, 4096),
                             (2, 6700)):
            x = e.random(random, (rows, length))
            w, b = (e.random(random, length) for _ in range(2))
            out = e.zeros(rows, length)
            kernel, threads = _row_kernel(
                library, f"layer_norm{e.name}", f"layer_norm_looped{e.name}",
                length, per_thread=8, limit=6656)
            kernel({0: e.pack(x), 1: e.pack(w), 2: e.pack(b), 3: out,
                    4: np.float32(1e-5), 5: np.uint32(length),
                    6: np.uint32(1), 7: np.uint32(1)},
                   grid=(rows * threads,), group=(threads,))
            wide = x.astype(np.float64)
            want = w * (wide - wide.mean(1, keepdims=True)) / np.sqrt(
                wide.var(1, keepdims=True) + 1e-5) + b
            _compare(f"layer_norm of {rows}x{length} {e.name}", e, out, want,
                     32)


def rope(random):
    library = mlx.library(["rope.metal"])
    for e in FLOATS:
        for traditional in (False, True):
            for shape in ((1, 2, 5, 64), (2, 3, 7, 24), (1, 1, 33, 16)):
                _rope(random, library, e, traditional, shape)
        _rope_single(random, library, e)


def _rotated(x, offset, traditional):
    """x [heads, time, size] turned by its position."""
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-np.arange(half) / half)
    angle = (np.arange(x.shape[1]) + offset)[:, None] * frequency
    c, s = np.cos(angle), np.sin(angle)
    a, b = ((x[..., ::2], x[..., 1::2]) if traditional
            else (x[..., :half], x[..., half:]))
    pair = (a * c - b * s, a * s + b * c)
    return (np.stack(pair, -1).reshape(x.shape) if traditional
            else np.concatenate(pair, -1))


def _rope_kernel(library, name, traditional):
    return library.pipeline(name, {1: np.bool_(True),
                                   2: np.bool_(traditional),
                                   3: np.bool_(False)})


def _rope(random, library, e, traditional, shape):
    batch, heads, time, size = shape
    x = e.random(random, shape)
    out = e.zeros(*shape)
    strides = mlx.longs(time * size, size, 1)
    grid = (size // 2, time, batch * (-(-heads // 4)))
    _rope_kernel(library, f"rope_{e.name}", traditional)(
        {0: e.pack(x), 1: out, 2: np.array([3] * 4, np.int32),
         3: np.float32(1), 4: strides, 5: strides, 6: np.int64(0),
         7: np.int32(heads), 10: np.float32(np.log2(10000.0))},
        grid=grid, group=mlx.block(*grid))
    want = _rotated(x.astype(np.float64).reshape(-1, time, size), 3,
                    traditional).reshape(shape)
    kind = "traditional" if traditional else "halves"
    # The kernels use fast sine and cosine, for angles up to 36 in float.
    _compare(f"rope of {shape} {e.name}, {kind}", e, out, want,
             max(8, 1e-4 / e.digits))


def _rope_single(random, library, e):
    heads, size = 7, 48
    x = e.random(random, (heads, 1, size))
    out = e.zeros(heads, 1, size)
    _rope_kernel(library, f"rope_single_{e.name}", False)(
        {0: e.pack(x), 1: out, 2: np.int32(11), 3: np.float32(1),
         4: np.int64(size), 10: np.float32(np.log2(10000.0))},
        grid=(size // 2, heads), group=mlx.block(size // 2, heads))
    _compare(f"rope_single of {e.name}", e, out,
             _rotated(x.astype(np.float64), 11, False),
             max(8, 1e-4 / e.digits))


REDUCTIONS = {"Sum": np.sum, "Prod": np.prod, "Min": np.min, "Max": np.max}
REDUCED = (*FEW_FLOATS, *INTEGERS)


def reduce(random):
    instances = []
    for e in REDUCED:
        for name in REDUCTIONS:
            types = (e.metal, e.metal, f"{name}<{e.metal}>")
            instances += [
                (f"all_{name}_{e.name}", "all_reduce", *types),
                (f"row_{name}_{e.name}", "row_reduce_simple", *types),
                (f"small_{name}_{e.name}", "row_reduce_small", *types, "int",
                 1)]
    library = mlx.library(["utils.h", "atomic.h", "reduction/ops.h",
                           "reduce.h"], instances, before=(
                               "metal_atomic", "metal_simdgroup"))
    for e in REDUCED:
        for name in REDUCTIONS:
            _reduce_all(random, library, e, name)
            _reduce_rows(random, library, e, name)


def _factors(random, e, name, shape):
    """Values whose reduction stays within the type."""
    if name != "Prod" or not e.is_float:
        return e.random(random, shape, -2 if e.is_float else -99, 99
                        if not e.is_float else 2)
    return e.unpack(e.pack(np.exp2(random.integers(-1, 2, shape) * (
        random.random(shape) < .01)).astype(np.float32)))


def _reduced(e, name, x, axis):
    with np.errstate(over="ignore"):
        if not e.is_float:
            return REDUCTIONS[name](x, axis, dtype=e.dtype) if name in (
                "Sum", "Prod") else REDUCTIONS[name](x, axis)
        return REDUCTIONS[name](x.astype(np.float64), axis)


def _compare_reduced(title, e, name, out, want, length):
    if not e.is_float or name in ("Min", "Max"):
        return check.equal(title, e.unpack(out), np.asarray(want).astype(
            e.unpack(out).dtype))
    # Every addition rounds to the type; the terms are at most 2.
    tolerance = 4 * e.digits * max(8, length ** .5)
    return check.equal(title, e.unpack(out).astype(np.float64),
                       np.asarray(want), tolerance, tolerance)


def _turn(e, name):
    """Which half of the shapes a type's operation is tried in, each of which
    has code of its own; None for both."""
    if FULL or name == "Sum":
        return None
    return (list(REDUCTIONS).index(name) + REDUCED.index(e)) % 2


def _reduce_all(random, library, e, name):
    kernel = library.pipeline(f"all_{name}_{e.name}")
    turn = _turn(e, name)
    for size in ((1, 97, 1000, 4096) if turn is None else
                 ((1, 4096), (97, 1000))[turn]):
        x = _factors(random, e, name, size)
        out = e.zeros(1)
        threads = _threads(size, 4)
        kernel({0: e.pack(x), 1: out, 2: np.int64(size), 3: np.int64(size)},
               grid=(threads,), group=(threads,))
        _compare_reduced(f"all_reduce {name} of {size} {e.name}", e, name,
                         out, [_reduced(e, name, x, None)], size)
    if turn == 1:
        return
    x = _factors(random, e, name, 50001)
    parts, out = e.zeros(128), e.zeros(1)
    row = -(-x.size // 128)
    threads = _threads(row, 4)
    kernel({0: e.pack(x), 1: parts, 2: np.int64(x.size), 3: np.int64(row)},
           grid=(threads, 128), group=(threads,))
    kernel({0: parts, 1: out, 2: np.int64(128), 3: np.int64(128)},
           grid=(32,), group=(32,))
    _compare_reduced(f"all_reduce {name} of 50001 {e.name}", e, name, out,
                     [_reduced(e, name, x, None)], x.size)


def _reduce_rows(random, library, e, name):
    simple = library.pipeline(f"row_{name}_{e.name}")
    turn = _turn(e, name)
    for rows, length in (((4, 33), (7, 129), (32, 1000)) if turn is None else
                         (((4, 33),), ((7, 129), (32, 1000)))[turn]):
        x = _factors(random, e, name, (rows, length))
        out = e.zeros(rows)
        threads = _threads(length, 4)
        simple({0: e.pack(x), 1: out, 2: np.int64(length), 3: np.int64(rows)},
               grid=(threads, -(-rows // 4)), group=(threads,))
        _compare_reduced(f"row_reduce {name} of {rows}x{length} {e.name}", e,
                         name, out, _reduced(e, name, x, 1), length)
    small = library.pipeline(f"small_{name}_{e.name}")
    for rows, length in (((5, 3), (50, 8), (1, 31)) if turn is None else
                         (((5, 3), (1, 31)), ((50, 8),))[turn]):
        x = _factors(random, e, name, (rows, length))
        out = e.zeros(rows)
        small({0: e.pack(x), 1: out, 2: np.int64(length), 3: np.int64(1),
               4: mlx.ints(rows), 5: mlx.longs(length), 6: np.int32(1),
               7: mlx.ints(1), 8: mlx.longs(0), 9: np.int32(0)},
              grid=(rows,), group=(min(rows, 1024),))
        _compare_reduced(f"small row_reduce {name} of {rows}x{length} "
                         f"{e.name}", e, name, out, _reduced(e, name, x, 1),
                         length)


def arg_reduce(random):
    library = mlx.library(["arg_reduce.metal"])
    for e in (*FLOATS, BY_NAME["int32"], BY_NAME["uint8"], BY_NAME["int64"]):
        for name, function in (("argmin", np.argmin), ("argmax", np.argmax)):
            kernel = library.pipeline(f"{name}_{e.name}")
            for rows, length in ROWS:
                x = e.random(random, (rows, length), -50, 50)
                out = np.zeros(rows, np.uint32)
                threads = _threads(length, 4)
                kernel({0: e.pack(x), 1: out, 2: mlx.ints(rows),
                        3: mlx.longs(length), 4: mlx.longs(1),
                        5: np.int64(1), 6: np.int64(1), 7: np.int64(length)},
                       grid=(threads, rows), group=(threads,))
                check.equal(f"{name} of {rows}x{length} {e.name}", out,
                            function(x, 1).astype(np.uint32))


SCANS = {"CumSum": np.cumsum, "CumProd": np.cumprod,
         "CumMax": np.maximum.accumulate, "CumMin": np.minimum.accumulate}


def scan(random):
    elements = (FLOAT32, FLOAT16, BY_NAME["int32"], BY_NAME["uint8"])
    ways = [(inclusive, reverse) for inclusive in (True, False)
            for reverse in (False, True)]
    # All ways of one sum, of the others one in turn, unless METTLE_CORPUS_FULL
    # is set.
    cases = [(name, e, *way) for i, name in enumerate(SCANS)
             for k, e in enumerate(elements) for j, way in enumerate(ways)
             if FULL or i == k == 0 or (i + k) % len(ways) == j]
    instances = [(f"{name}_{e.name}_{i:d}{r:d}", "contiguous_scan", e.metal,
                  e.metal, f"{name}<{e.metal}>", 4, str(i).lower(),
                  str(r).lower()) for name, e, i, r in cases]
    library = mlx.library(["defines.h", "utils.h", "binary_ops.h", "scan.h"],
                          instances, before=("metal_math", "metal_simdgroup"))
    for case in cases:
        _scan(random, library, *case)


def _scanned(name, e, x, inclusive, reverse):
    if e.is_float:
        x = x.astype(np.float64)
    if reverse:
        x = x[:, ::-1]
    with np.errstate(over="ignore"):
        full = (SCANS[name](x, 1, dtype=x.dtype)
                if name in ("CumSum", "CumProd") else SCANS[name](x, 1))
    if not inclusive:
        lowest = -np.inf if e.is_float else np.iinfo(e.dtype).min
        highest = np.inf if e.is_float else np.iinfo(e.dtype).max
        first = {"CumSum": 0, "CumProd": 1, "CumMax": lowest,
                 "CumMin": highest}[name]
        full = np.concatenate([np.full_like(full[:, :1], first),
                               full[:, :-1]], 1)
    return full[:, ::-1] if reverse else full


def _scan(random, library, name, e, inclusive, reverse):
    kernel = library.pipeline(f"{name}_{e.name}_{inclusive:d}{reverse:d}")
    shapes = ((1, 1), (3, 45), (2, 1000), (1, 4500))
    if not FULL and name != "CumSum":
        turn = (list(SCANS).index(name) + inclusive) % 2
        shapes = shapes[turn::2]
    for rows, length in shapes:
        x = _factors(random, e, "Prod" if name == "CumProd" else name,
                     (rows, length))
        out = e.zeros(rows, length)
        threads = _threads(length, 4)
        kernel({0: e.pack(x), 1: out, 2: np.int64(length)},
               grid=(threads, rows), group=(threads,))
        want = _scanned(name, e, x, inclusive, reverse)
        title = (f"{name} of {rows}x{length} {e.name}, "
                 f"{'inclusive' if inclusive else 'exclusive'}"
                 f"{', reverse' if reverse else ''}")
        _compare_reduced(title, e, "Min" if name in ("CumMax", "CumMin")
                         else name, out, want, 4 * length)


def sort(random):
    elements = (*FLOATS, BY_NAME["int32"], BY_NAME["uint16"],
                BY_NAME["int8"])
    instances = []
    for e in elements:
        for n in (32, 256):
            instances += [
                (f"sort_{e.name}_{n}", "block_sort", e.metal, e.metal,
                 "false", n, 4),
                (f"argsort_{e.name}_{n}", "block_sort", e.metal, "uint32_t",
                 "true", n, 4)]
    library = mlx.library(["utils.h", "sort.h"], instances)
    for e in elements:
        for n, rows, length in ((32, 1, 1), (32, 3, 77), (32, 2, 128),
                                (256, 3, 1000)):
            _sort(random, library, e, n, rows, length)


def _sort(random, library, e, threads, rows, length):
    x = e.random(random, (rows, length), -90, 90)
    tail = {2: np.int32(length), 3: np.int32(1), 4: np.int32(1),
            5: np.int32(length), 6: np.int32(length)}
    out = e.zeros(rows, length)
    library.pipeline(f"sort_{e.name}_{threads}")(
        {0: e.pack(x), 1: out, **tail}, groups=(1, rows), group=(threads,))
    check.equal(f"sort of {rows}x{length} {e.name}", e.unpack(out),
                np.sort(x, 1))
    order = np.zeros((rows, length), np.uint32)
    library.pipeline(f"argsort_{e.name}_{threads}")(
        {0: e.pack(x), 1: order, **tail}, groups=(1, rows), group=(threads,))
    check.equal(f"argsort of {rows}x{length} {e.name}", order,
                np.argsort(x, 1, kind="stable").astype(np.uint32))


FAMILIES = {"softmax": softmax, "logsumexp": logsumexp, "rms_norm": rms_norm,
            "layer_norm": layer_norm, "rope": rope, "reduce": reduce,
            "arg_reduce": arg_reduce, "scan": scan, "sort": sort}
# Kernels that are not in MLX's package, only in its sources.
NEEDS = {"rms_norm": "rms_norm.metal", "layer_norm": "layer_norm.metal",
         "rope": "rope.metal", "arg_reduce": "arg_reduce.metal"}
