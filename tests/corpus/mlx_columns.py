# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_columns.py: MLX's reductions over columns, over several axes at a time,
# and to truth values, of every type, against NumPy.
import numpy as np

import check
import mlx_kernels as mlx
from elements import BOOL, BY_NAME, COMPLEX64, FLOATS, FLOAT32, FULL, INTEGERS

OPERATORS = {"Sum": np.sum, "Prod": np.prod, "Min": np.min, "Max": np.max,
             "And": np.all, "Or": np.any}
NUMBERS = (*FLOATS, *INTEGERS, COMPLEX64)


def result(name, e):
    """The type that MLX reduces e in."""
    if name in ("And", "Or"):
        return BOOL
    if name in ("Sum", "Prod") and e.name in ("int8", "int16", "uint8"):
        return BY_NAME["int32"]
    return BY_NAME["uint32"] if (name in ("Sum", "Prod")
                                 and e.name == "uint16") else e


def cases():
    wanted = NUMBERS if FULL else (FLOAT32, BY_NAME["bfloat16"],
                                   BY_NAME["uint8"], COMPLEX64)
    for e in wanted:
        for name in ("Sum", "Prod", "Min", "Max"):
            if FULL or e is FLOAT32 or name in ("Sum", "Max"):
                yield name, e
    for e in (BOOL, *FLOATS, BY_NAME["int64"]) if FULL else (BOOL, FLOAT32):
        yield "And", e
        yield "Or", e


def values(random, name, e, shape):
    """Such that a product neither grows nor vanishes, and that there is a
    zero in some lines only."""
    if name in ("And", "Or"):
        x = random.random(shape) < (.995 if name == "And" else .005)
        return x if e is BOOL else x.astype(e.dtype if e.dtype is not np.uint16
                                            else np.float32)
    if name != "Prod":
        low = 0 if e.name.startswith("uint") else -2
        return e.random(random, shape, low, 2)
    rare = random.random(shape) < .02
    if e.is_complex:
        return np.where(rare, np.complex64(1j), np.complex64(1))
    if e.is_float:
        return np.where(rare, random.choice([.5, 2, -1], shape), 1).astype(
            np.float32)
    return np.where(rare, 3, 1).astype(e.dtype)


def reduced(name, e, x, axes):
    with np.errstate(over="ignore"):
        if e.is_float and name not in ("And", "Or"):
            return OPERATORS[name](x.astype(np.float64), axes)
        if e.is_complex and name in ("Min", "Max"):
            return _extreme(name, x, axes)
        if name in ("Sum", "Prod"):
            return OPERATORS[name](x, axes, dtype=np.complex128
                                   if e.is_complex else result(name, e).dtype)
        return OPERATORS[name](x, axes)


def _extreme(name, x, axes):
    """Complex numbers in the order of their real parts."""
    kept = [a for a in range(x.ndim) if a not in np.atleast_1d(axes)]
    flat = x.transpose(*kept, *np.atleast_1d(axes)).reshape(
        *(x.shape[a] for a in kept), -1)
    return (np.sort(flat, -1)[..., -1] if name == "Max"
            else np.sort(flat, -1)[..., 0])


def compare(title, name, e, out, want, length):
    target = result(name, e)
    got = target.unpack(out)
    if target.is_complex and name in ("Sum", "Prod"):
        return check.equal(title, got, want, 1e-5, 1e-5 * length ** .5)
    if not target.is_float or name in ("Min", "Max"):
        return check.equal(title, got, np.asarray(want).astype(got.dtype))
    # Each addition rounds to the type; the terms are at most 2.
    tolerance = 4 * target.digits * max(8, length ** .5)
    return check.equal(title, got.astype(np.float64), want, tolerance,
                       tolerance)


def _library(kinds):
    """kinds: (name, template, what follows the operator)."""
    instances = []
    for name, e in cases():
        target = result(name, e).metal
        types = (e.metal, target, f"{name}<{target}>")
        instances += [(f"{kind}_{name}_{e.name}", template, *types, *rest)
                      for kind, template, *rest in kinds]
    return mlx.library(["utils.h", "atomic.h", "reduction/ops.h", "reduce.h"],
                       instances, before=("metal_atomic", "metal_simdgroup"))


# Shapes and the axes to reduce: columns alone, and other axes with them; those
# that come before the reduced column are what is left.
COLUMNS = (((7, 3), (0,)), ((33, 45), (0,)), ((4, 9, 70), (1,)),
           ((5, 3, 7, 13), (0, 2)))


def column_arguments(shape, axes, x):
    """MLX's arguments 2 to 10 for a contiguous array."""
    column = axes[-1]
    others = list(axes[:-1])
    kept = [a for a in range(column) if a not in others]
    strides = [s // x.itemsize for s in x.strides]
    inner = int(np.prod(shape[column + 1:]))
    rows = [shape[a] for a in (*others, column)]
    return {2: np.int64(shape[column]), 3: np.int64(inner),
            4: mlx.ints(*([shape[a] for a in kept] or [0])),
            5: mlx.longs(*([strides[a] for a in kept] or [0])),
            6: np.int32(len(kept)), 7: mlx.ints(*rows),
            8: mlx.longs(*(strides[a] for a in (*others, column))),
            9: np.int32(len(rows)),
            10: np.int64(int(np.prod([shape[a] for a in others])))}, inner


def column_reduce(random):
    kinds = [(f"{kind}{n}", f"col_reduce_{template}", "int", n, *rest)
             for n in (1, 2) for kind, template, *rest in (
                 ("small", "small"), ("long", "longcolumn"),
                 ("looped", "looped", 32, 32), ("twice", "2pass", 32, 32))]
    library = _library(kinds)
    for name, e in cases():
        for shape, axes in COLUMNS:
            _columns_at_once(random, library, name, e, shape, axes)
        shapes = (("long", (1000, 5)), ("twice", (400, 70)),
                  ("twice", (3, 350, 33)), ("long", (4099, 31)))
        if not FULL and name != "Sum":
            turn = (list(OPERATORS).index(name) + (e is FLOAT32)) % 2
            shapes = shapes[turn::2]
        for kind, shape in shapes:
            _columns_twice(random, library, name, e, kind, shape)


def tiled(arguments, parts=None):
    """The arguments of the kernels of whole tiles: where to begin, in versions
    that have it, and how far the parts are from each other."""
    rest = [np.int64(0)] if mlx.mentions("reduction/reduce_col.h",
                                         "column_offset") else []
    rest += [np.int64(parts)] if parts else []
    return {**arguments, **{11 + i: value for i, value in enumerate(rest)}}


def _columns_at_once(random, library, name, e, shape, axes):
    x = values(random, name, e, shape)
    want = reduced(name, e, x, axes)
    arguments, inner = column_arguments(shape, axes, e.pack(x))
    count = want.size // inner
    length = x.size // want.size
    blocks = -(-inner // 4)
    wide = min(blocks, 32)
    for kind, grid, group, arguments in (
            ("small", (-(-blocks // wide), count), (wide, min(8, length)),
             arguments),
            ("looped", (-(-inner // 32), count), (256,), tiled(arguments))):
        out = result(name, e).zeros(*want.shape)
        library.pipeline(f"{kind}{len(axes)}_{name}_{e.name}")(
            {0: e.pack(x), 1: out, **arguments}, groups=grid, group=group)
        compare(f"columns {kind} {name} of {shape} over {axes}, {e.name}",
                name, e, out, want, length)


def _columns_twice(random, library, name, e, kind, shape):
    """Parts of the columns first, then the parts."""
    x = values(random, name, e, shape)
    column = len(shape) - 2
    want = reduced(name, e, x, column)
    arguments, inner = column_arguments(shape, (column,), e.pack(x))
    target = result(name, e)
    parts = target.zeros(32, want.size)
    count = want.size // inner
    if kind == "long":
        groups, group = (count, 1, 32), (inner, min(32, -(-shape[column] // 32)))
        arguments[11] = np.int64(want.size)
    else:
        groups, group = (-(-inner // 32), count * 32), (256,)
        arguments = tiled(arguments, count)
    library.pipeline(f"{kind}1_{name}_{e.name}")(
        {0: e.pack(x), 1: parts, **arguments}, groups=groups, group=group)
    # The kernel of the second pass may have another type than the first's.
    second = name, (target if (name, target) in cases() else None)
    if second[1] is None:
        got = reduced(name, target, target.unpack(parts), 0)
        return compare(f"columns {kind} {name} of {shape}, {e.name}, parts",
                       name, e, target.pack(got).reshape(want.shape), want,
                       shape[column])
    arguments, inner = column_arguments((32, want.size), (0,), parts)
    out = target.zeros(*want.shape)
    library.pipeline(f"looped1_{name}_{target.name}")(
        {0: parts, 1: out, **tiled(arguments)},
        groups=(-(-inner // 32), 1), group=(256,))
    return compare(f"columns {kind} {name} of {shape}, {e.name}", name, e, out,
                   want, shape[column])


# Rows, and other axes with them: the last axis is the row.
ROWS = (((3, 70), (1,)), ((5, 3, 129), (0, 2)), ((2, 4, 1000), (0, 1, 2)),
        ((7, 2, 3, 65), (1, 3)))


def row_reduce(random):
    kinds = [(f"{kind}{n}", f"row_reduce_{template}", "int", n)
             for n in (1, 2) for kind, template in (
                 ("looped", "looped"), ("small", "small"))]
    library = _library(kinds)
    for name, e in cases():
        for shape, axes in ROWS:
            _rows(random, library, name, e, shape, axes, "looped")
        for shape, axes in (((9, 5, 31), (0, 2)), ((40, 6, 7), (0, 2)),
                            ((3, 11, 2, 8), (1, 3))):
            _rows(random, library, name, e, shape, axes, "small")


def _rows(random, library, name, e, shape, axes, kind):
    x = values(random, name, e, shape)
    want = np.asarray(reduced(name, e, x, axes))
    others = list(axes[:-1])
    kept = [a for a in range(len(shape)) if a not in axes]
    strides = [s // e.pack(x).itemsize for s in e.pack(x).strides]
    rows = int(np.prod([shape[a] for a in others]))
    arguments = {
        2: np.int64(shape[-1]), 3: np.int64(rows),
        4: mlx.ints(*([shape[a] for a in kept] or [0])),
        5: mlx.longs(*([strides[a] for a in kept] or [0])),
        6: np.int32(len(kept)),
        7: mlx.ints(*([shape[a] for a in others] or [0])),
        8: mlx.longs(*([strides[a] for a in others] or [0])),
        9: np.int32(len(others))}
    out = result(name, e).zeros(max(want.size, 1))
    if kind == "looped":
        threads = min(1024, -(-shape[-1] // 128) * 32)
        grid, group = (threads, want.size), (threads,)
    elif (rows < 32 and shape[-1] <= 8) or rows <= 8:
        grid, group = (want.size,), (min(want.size, 1024),)
    else:
        grid, group = (32, want.size), (32,)
    library.pipeline(f"{kind}{max(1, len(others))}_{name}_{e.name}")(
        {0: e.pack(x), 1: out, **arguments}, grid=grid, group=group)
    compare(f"rows {kind} {name} of {shape} over {axes}, {e.name}", name, e,
            out, want.ravel(), x.size // out.size)


def reduce_start(random):
    """What a reduction of nothing is."""
    pairs = [(name, result(name, e)) for name, e in cases()]
    pairs = list(dict.fromkeys(pairs))
    library = mlx.library(
        ["utils.h", "atomic.h", "reduction/ops.h", "reduce.h"],
        [(f"{name}_{e.name}", "init_reduce", e.metal, f"{name}<{e.metal}>")
         for name, e in pairs], before=("metal_atomic", "metal_simdgroup"))
    for name, e in pairs:
        limits = ((-np.inf, np.inf) if e.is_float or e.is_complex else
                  (False, True) if e is BOOL else
                  (np.iinfo(e.dtype).min, np.iinfo(e.dtype).max))
        if e.is_complex:
            limits = tuple(complex(x, x) for x in limits)
        want = {"Sum": 0, "Prod": 1, "Min": limits[1], "Max": limits[0],
                "And": True, "Or": False}[name]
        for size in (1, 37, 1025):
            out = e.zeros(size)
            library.pipeline(f"{name}_{e.name}")({0: out}, grid=(size,),
                                                 group=(min(size, 1024),))
            check.equal(f"start of {name}, {size} {e.name}", out,
                        e.pack(np.full(size, want)))


FAMILIES = {"column_reduce": column_reduce, "row_reduce": row_reduce,
            "reduce_start": reduce_start}
