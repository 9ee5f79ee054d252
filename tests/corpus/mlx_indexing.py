# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_indexing.py: MLX's gathers and scatters by several index arrays, whose
# kernels its host code writes around a template, against NumPy.
import os
import re

import numpy as np

import check
import mlx_kernels as mlx
from elements import BOOL, BY_NAME, FLOATS, FLOAT32, FULL


def _texts():
    """The kernels in MLX's jit/indexing.h, with places to fill in, by name."""
    path = os.path.join(mlx.ROOT, "mlx", "backend", "metal", "jit",
                        "indexing.h")
    with open(path, encoding="utf-8") as file:
        return dict(re.findall(r'string_view (\w+) = R"\((.*?)\)";',
                               file.read(), re.S))


def _index_arguments(index, count):
    """The arguments for the index arrays, and their names."""
    arguments = "".join(f"const device {index.metal} *idx{i} "
                        f"[[buffer({20 + i})]],\n" for i in range(count))
    return arguments, ",".join(f"idx{i}" for i in range(count))


def _compile(headers, texts):
    return mlx.library(["utils.h", *headers], text="\n".join(texts))


def _indices(random, index, shape, limit, dense):
    """Positions below limit, some from the end; spread out unless dense."""
    low = -limit if index.name.startswith("int") else 0
    values = random.integers(low, limit, shape).astype(index.dtype)
    return values if dense else np.asfortranarray(values)


def _index_tables(indices):
    """Shapes, strides, whether in rows, of all index arrays on end."""
    return (np.array([n for a in indices for n in a.shape] or [0], np.int32),
            np.concatenate([mlx.strides(a) for a in indices]),
            np.array([a.flags.c_contiguous for a in indices]))


def _memory(array):
    """An array's elements in the order of its memory."""
    return np.ascontiguousarray(array.ravel("K"))


def gather_many(random):
    elements = ((*FLOATS, BY_NAME["int64"], BY_NAME["uint8"], BOOL) if FULL
                else (FLOAT32, BY_NAME["uint8"]))
    cases = [(e, BY_NAME[i], count, dimensions) for e in elements
             for i in ("int32", "uint32") for count, dimensions in
             ((1, 1), (1, 2), (2, 2), (3, 0), (2, 3))]
    texts = []
    template = _texts()["gather_kernels"]
    for e, i, count, dimensions in cases:
        arguments, names = _index_arguments(i, count)
        texts.append(template.format(e.name + i.name, e.metal, i.metal, count,
                                     arguments, names, dimensions, "int"))
    library = _compile(["indexing/gather.h"], texts)
    for case in cases:
        for dense in (True, False):
            _gather_many(random, library, *case, dense)


def _gather_many(random, library, e, i, count, dimensions, dense):
    shape = (7, 5, 6, 9)
    axes = list(range(count))
    x = e.pack(e.random(random, shape, -50, 50))
    at = [_indices(random, i, (4, 3, 5)[:dimensions], shape[axis], dense)
          for axis in axes]
    slices = [1] * count + [4, 3, 5, 8][count:]
    out = np.zeros((*at[0].shape, *slices), x.dtype)
    shapes, strides, rows = _index_tables(at)
    name = f"gather{e.name}{i.name}_{count}_{dimensions}_int"
    grid = (at[0].shape[0] if dimensions else 1,
            int(np.prod(at[0].shape[1:])), int(np.prod(slices)))
    library.pipeline(name)(
        {0: x, 1: out, 2: mlx.ints(*shape), 3: mlx.strides(x).tobytes(),
         4: np.int64(len(shape)), 5: mlx.ints(*slices), 6: mlx.ints(*axes),
         7: shapes, 8: strides, 9: rows, 10: np.int32(dimensions),
         **{20 + n: _memory(a) for n, a in enumerate(at)}},
        grid=grid, group=mlx.block(*grid))
    inner = x[(slice(None),) * count + tuple(slice(n)
                                             for n in slices[count:])]
    check.equal(f"{name}, {'rows' if dense else 'columns'}",
                out.reshape(*at[0].shape, *slices[count:]),
                inner[tuple(a.astype(np.int64) for a in at)])


OPERATORS = {"None": None, "Sum": np.add, "Prod": np.multiply,
             "Max": np.maximum, "Min": np.minimum}


def _operator(name, e):
    return name if name == "None" else f"{name}<{e.metal}>"


def scatter_many(random):
    # Atomic operations on elements of 1 and 2 bytes are loops of exchanges.
    elements = ((*FLOATS, BY_NAME["int32"], BY_NAME["uint8"],
                 BY_NAME["int16"]) if FULL
                else (FLOAT32, BY_NAME["uint8"], FLOATS[1]))
    index = BY_NAME["int32"]
    cases = [(e, name, count) for e in elements for name in OPERATORS
             for count in (1, 2)]
    template = _texts()["scatter_kernels"]
    texts = []
    for e, name, count in cases:
        arguments, names = _index_arguments(index, count)
        texts.append(template.format(
            f"{e.name}{index.name}_{name}", e.metal, index.metal,
            _operator(name, e), count, arguments, names, "true", 1, "int"))
    library = _compile(["reduce_utils.h", "indexing/scatter.h"], texts)
    for case in cases:
        for length in (1, 33):
            _scatter_many(random, library, index, *case, length)


def _updates(random, e, name, shape):
    if name == "Prod":  # exact in every type
        x = random.choice([1, 1, 2], shape)
    else:
        x = random.integers(0, 9, shape)
    return x.astype(np.float32 if e.is_float else e.dtype)


def _scatter_many(random, library, index, e, name, count, length):
    shape = (6, 5, 7)
    x = _updates(random, e, "Sum", shape)
    axes = list(range(count))
    at = [_indices(random, index, length, shape[axis], True) for axis in axes]
    if name == "None":  # the last of equals is any
        at[0] = random.permutation(shape[0])[:length].astype(index.dtype)
        at = [a[:at[0].size] for a in at]
    inner = [1] * count + list(shape[count:])
    updates = _updates(random, e, name, (at[0].size, *inner))
    out = e.pack(x).copy()
    shapes, strides, rows = _index_tables(at)
    size = int(np.prod(inner))
    grid = (size, at[0].size)
    library.pipeline(f"scatter{e.name}{index.name}_{name}_{count}_updc_true"
                     "_nwork1_int")(
        {1: e.pack(updates), 2: out, 3: mlx.ints(*updates.shape),
         4: mlx.strides(updates).tobytes(), 5: np.int64(updates.ndim),
         6: np.int64(size), 7: mlx.ints(*shape),
         8: mlx.strides(x).tobytes(), 9: np.int64(3), 10: mlx.ints(*axes),
         11: shapes, 12: strides, 13: rows, 14: np.int32(1),
         15: np.int64(at[0].size), **{20 + n: a for n, a in enumerate(at)}},
        grid=grid, group=mlx.block(*grid))
    want = x.copy()
    where = tuple(a.astype(np.int64) for a in at)
    values = updates.reshape(at[0].size, *shape[count:])
    if name == "None":
        want[where] = values
    else:
        OPERATORS[name].at(want, where, values)
    check.equal(f"scatter {name} by {count} of {at[0].size}, {e.name}", out,
                e.pack(want))


def scatter_axis(random):
    elements = ((*FLOATS, BY_NAME["int32"], BY_NAME["uint8"]) if FULL
                else (FLOAT32, BY_NAME["uint8"]))
    index = BY_NAME["int32"]
    cases = [(e, name) for e in elements for name in ("None", "Sum")]
    library = mlx.library(
        ["utils.h", "reduce_utils.h", "indexing/scatter_axis.h"],
        [(f"{name}_{e.name}", "scatter_axis", e.metal, index.metal, "int",
          _operator(name, e), "true", "true") for e, name in cases])
    for e, name in cases:
        for shape, count in (((3, 7, 5), 4), ((1, 33, 1), 9),
                             ((2, 5, 129), 5)):
            _scatter_axis(random, library, index, e, name, shape, count)


def _scatter_axis(random, library, index, e, name, shape, count):
    before, rows, after = shape
    at = np.argsort(random.random(shape), 1)[:, :count].astype(index.dtype)
    if name == "Sum":
        at = random.integers(-rows, rows, at.shape).astype(index.dtype)
    x = _updates(random, e, name, shape)
    updates = _updates(random, e, name, at.shape)
    out = e.pack(x).copy()
    strides = mlx.longs(count * after, 1)
    grid = (after, count, before)
    library.pipeline(f"{name}_{e.name}")(
        {0: e.pack(updates), 1: at, 2: out, 3: mlx.ints(before, after),
         4: strides, 5: strides, 6: np.int64(2), 7: np.int32(1),
         8: np.int32(rows), 9: np.int64(after), 10: np.int64(after)},
        grid=grid, group=mlx.block(*grid))
    want = x.copy()
    where = (np.arange(before)[:, None, None], at.astype(np.int64),
             np.arange(after))
    if name == "None":
        want[where] = updates
    else:
        np.add.at(want, where, updates)
    check.equal(f"scatter_axis {name} of {shape} {e.name}", out,
                e.pack(want))


def masked_scatter(random):
    elements = ((*FLOATS, BY_NAME["int64"], BY_NAME["uint8"], BOOL) if FULL
                else (FLOAT32, BOOL))
    template = _texts()["masked_assign_kernel"]
    library = _compile(["indexing/masked_scatter.h"], [
        template.format(e.name, e.metal, "true") for e in elements])
    for e in elements:
        for batch, size in ((1, 33), (3, 1000), (2, 4099)):
            mask = BOOL.random(random, (batch, size))
            source = e.pack(e.random(random, (batch, size), -50, 50))
            out = e.pack(e.random(random, (batch, size), -50, 50))
            want = out.copy()
            offsets = np.cumsum(mask, 1, dtype=np.uint32) - mask
            want[mask] = np.take_along_axis(
                source, offsets.astype(np.int64), 1)[mask]
            library.pipeline(e.name)(
                {0: mask, 1: offsets.astype(np.uint32), 2: source, 3: out,
                 4: mlx.ints(batch, size), 5: mlx.longs(size, 1),
                 6: np.int32(2), 7: np.int64(size), 8: np.int64(size)},
                grid=(batch * size,), group=(min(batch * size, 1024),))
            check.equal(f"masked assignment of {batch}x{size} {e.name}", out,
                        want)


def slice_update(random):
    """Part of an array is combined with updates, in rows or with gaps."""
    elements = ((*FLOATS, BY_NAME["int32"], BY_NAME["uint8"]) if FULL
                else (FLOAT32, BY_NAME["uint8"]))
    cases = [(e, name) for e in elements for name in ("Sum", "Prod", "Max",
                                                      "Min")]
    template = _texts()["slice_update_op_kernel"]
    library = _compile(["reduce_utils.h", "indexing/scatter.h"], [
        template.format(f"{name}_{e.name}", e.metal, "int",
                        _operator(name, e), "false", "false", "false", 1, 3)
        for e, name in cases])
    for e, name in cases:
        x = _updates(random, e, "Sum", (6, 9, 40))
        updates = _updates(random, e, name, (3, 7, 2))
        out = e.pack(x).copy()
        grid = (7, 3, 2)
        library.pipeline(f"{name}_{e.name}")(
            {0: e.pack(updates), 1: out, 2: mlx.ints(2, 3, 7),
             3: mlx.strides(updates.transpose(2, 0, 1)).tobytes(),
             4: np.int32(3), 5: np.int64(updates.size),
             6: mlx.longs(3 * 9 * 40, 2 * 40, 3),
             7: np.int64(9 * 40 + 40 + 5)},
            grid=grid, group=mlx.block(*grid))
        want = x.copy()
        part = want[1::3, 1:6:2, 5:26:3]
        part[...] = OPERATORS[name](part, updates.transpose(2, 0, 1))
        check.equal(f"slice update {name} of {e.name}", out, e.pack(want))


FAMILIES = {"gather_many": gather_many, "scatter_many": scatter_many,
            "scatter_axis": scatter_axis, "masked_scatter": masked_scatter,
            "slice_update": slice_update}
