# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_layouts.py: every way in which MLX walks over the operands of an
# elementwise kernel (scalars, more than 2^32 elements, strides of one to five
# dimensions), with one operator each and every type.
import numpy as np

import check
import mlx_kernels as mlx
from elements import BOOL, BY_NAME, COMPLEX64, EVERY, FLOAT32, FULL

# One type of each size that MLX treats in its own way, unless all are wanted.
TYPES = EVERY if FULL else (FLOAT32, BY_NAME["uint8"], COMPLEX64)
SHAPES = {1: (257,), 2: (13, 37), 3: (5, 9, 33), 4: (3, 4, 5, 7),
          5: (2, 3, 2, 5, 9)}
LENGTHS = (1, 33, 4099)


def per_thread(element):
    return 8 // np.dtype(element.dtype).itemsize


def view(random, element, shape, kind):
    """An array of shape with gaps or in another order; its whole buffer.

    kind 0: the axes backwards in memory; 1: every third element of the last
    axis; 2: one element for the whole first axis."""
    low = 0 if element.name.startswith("uint") else -50
    if kind == 0:
        base = element.random(random, shape[::-1], low, 50)
        return base, base.transpose()
    if kind == 1:
        base = element.random(random, (*shape[:-1], 3 * shape[-1]), low, 50)
        return base, base[..., ::3]
    base = element.random(random, (1, *shape[1:]), low, 50)
    return base, np.broadcast_to(base, shape)


def strides_of(array):
    """Strides in elements, 8 bytes each; alone where there is one."""
    return mlx.strides(array).tobytes()


def grid_of(shape, work=1):
    """The grid over a shape: its last axis, the one before, all others."""
    first = -(-shape[-1] // work)
    second = shape[-2] if len(shape) > 1 else 1
    rest = int(np.prod(shape[:-2])) if len(shape) > 2 else 1
    return first, second, rest


def run_view(kernel, arguments, shape, work=1):
    grid = grid_of(shape, work)
    kernel(arguments, grid=grid, group=mlx.block(*grid))


def run_flat(kernel, arguments, size, work):
    """arguments without the size, which comes last."""
    threads = -(-size // work)
    kernel({**arguments, len(arguments): np.uint32(size)}, grid=(threads,),
           group=(min(threads, 1024),))


def run_large(kernel, arguments, size, work):
    """As for more than 2^32 elements: a grid of two dimensions."""
    threads = -(-size // work)
    # With one element a thread, no thread may be too many.
    rows = next((n for n in (7, 3, 2) if threads % n == 0 or (
        work > 1 and threads > n)), 1)
    grid = (-(-threads // rows), rows)
    kernel({**arguments, len(arguments): np.int64(size)}, grid=grid,
           group=mlx.block(*grid))


def flat_ways(element):
    """Suffix of a kernel's name, how to run it, elements a thread."""
    work = per_thread(element)
    ways = [("", run_flat, 1), ("2", run_large, work)]
    return ways + [("n", run_flat, work)] * (work > 1)


def flat_instances(element, kinds):
    """kinds: (kernel's name, template, types). Elements of eight bytes have
    no kernel of their own for several a thread."""
    for kind, template, *types in kinds:
        yield f"{kind}_{element.name}", template, *types, 1
        yield f"{kind}2_{element.name}", f"{template}2", *types
        if per_thread(element) > 1:
            yield f"{kind}n_{element.name}", template, *types


# Kinds of strided kernels: dimensions, elements a thread, is the index long?
STRIDED = {"g1": (1, 1, False), "g1large": (1, 1, True), "g2": (2, 1, False),
           "g2large": (2, 1, True), "g3": (3, 1, False),
           "g3large": (3, 1, True), "gn2": (4, 2, False),
           "gn4large": (5, 4, True)}


def strided_instances(element, template, types):
    """The strided kernels of a template over types."""
    for kind, (dimensions, work, large) in STRIDED.items():
        name = (f"{template}_nd{dimensions}" if dimensions <= 3 else template)
        rest = [work] if dimensions > 3 else []
        yield (f"{kind}_{element.name}", name, *types, *rest,
               *([] if large else ["int"]))


def strided_arguments(shape, views):
    """What follows the buffers: strides, and from 4 dimensions on more."""
    strides = [strides_of(v) for v in views]
    if len(shape) <= 3:
        return strides
    return [mlx.ints(*shape), *strides, np.int32(len(shape))]


def numbered(values):
    return dict(enumerate(values))


def _subtract(a, b):
    return a ^ b if a.dtype == np.bool_ else a - b


def _compare(title, element, out, want):
    check.equal(title, out, element.pack(want))


def binary_layouts(random):
    """c = a - b; of bool, whose difference C makes an int, not equal."""
    instances = []
    for e in TYPES:
        types = (e.metal, e.metal, "Subtract")
        instances += [(f"ss_{e.name}", "binary_ss", *types)]
        instances += flat_instances(e, [
            (kind, f"binary_{kind}", *types) for kind in ("sv", "vs", "vv")])
        instances += strided_instances(e, "binary_g", types)
    library = mlx.library(["utils.h", "binary_ops.h", "binary.h"], instances)
    for e in TYPES:
        _binary_flat(random, library, e)
        for kind in STRIDED:
            _binary_strided(random, library, e, kind)


def _binary_flat(random, library, e):
    for size in LENGTHS:
        a, b = (e.random(random, size, 0, 50) for _ in range(2))
        for kind in ("ss", "sv", "vs", "vv"):
            left = a[:1] if kind[0] == "s" else a
            right = b[:1] if kind[1] == "s" else b
            for suffix, run, work in flat_ways(e):
                out = e.zeros(1 if kind == "ss" else size)
                arguments = numbered((e.pack(left), e.pack(right), out))
                if kind == "ss":
                    library.pipeline(f"ss_{e.name}")(arguments, grid=(1,),
                                                     group=(1,))
                else:
                    run(library.pipeline(f"{kind}{suffix}_{e.name}"),
                        arguments, size, work)
                _compare(f"{kind}{suffix} of {size} {e.name}", e, out,
                         _subtract(left, right))


def _binary_strided(random, library, e, kind):
    dimensions, work, _ = STRIDED[kind]
    shape = SHAPES[dimensions]
    for first, second in ((0, 1), (1, 2), (2, 0)):
        (a, left), (b, right) = (view(random, e, shape, way)
                                 for way in (first, second))
        out = e.zeros(*shape)
        run_view(library.pipeline(f"{kind}_{e.name}"), numbered(
            [e.pack(a), e.pack(b), out,
             *strided_arguments(shape, (left, right))]), shape, work)
        _compare(f"{kind} of {shape} {e.name}, layouts {first}{second}", e,
                 out, _subtract(left, right))


def unary_layouts(random):
    instances = []
    for e in TYPES:
        types = (e.metal, e.metal, "Square")
        instances += flat_instances(e, [("v", "unary_v", *types)])
        instances += [(f"gn1_{e.name}", "unary_g", *types, 1, "int"),
                      (f"gn4large_{e.name}", "unary_g", *types, 4)]
    library = mlx.library(["utils.h", "unary_ops.h", "unary.h"], instances)
    for e in TYPES:
        for size in LENGTHS:
            x = e.random(random, size, 0, 11)
            for suffix, run, work in flat_ways(e):
                out = e.zeros(size)
                run(library.pipeline(f"v{suffix}_{e.name}"),
                    numbered((e.pack(x), out)), size, work)
                _compare_squares(f"v{suffix} of {size} {e.name}", e, out, x)
        for kind, work in (("gn1", 1), ("gn4large", 4)):
            for shape in SHAPES.values():
                _unary_strided(random, library, e, kind, work, shape)


def _unary_strided(random, library, e, kind, work, shape):
    base, x = view(random, e, shape, len(shape) % 3)
    out = e.zeros(*shape)
    run_view(library.pipeline(f"{kind}_{e.name}"), {
        0: e.pack(base), 1: out, 2: mlx.ints(*shape), 3: strides_of(x),
        4: np.array([len(shape)], np.int32)}, shape, work)
    _compare_squares(f"{kind} of {shape} {e.name}", e, out, x)


def _compare_squares(title, e, out, x):
    if not e.is_complex:
        return _compare(title, e, out, x & x if e is BOOL else x * x)
    want = x.astype(np.complex128) ** 2
    return check.equal(title, out, want, 1e-5, 1e-3)


def ternary_layouts(random):
    instances = []
    for e in TYPES:
        for kind, b, c in (("v", 0, 0), ("vs", 0, 1), ("sv", 1, 0)):
            scalars = [str(bool(s)).lower() for s in (b, c)]
            instances += flat_instances(e, [
                (kind, "ternary_v", e.metal, "Select", *scalars)])
        instances += strided_instances(e, "ternary_g", (e.metal, "Select"))
    library = mlx.library(["utils.h", "ternary_ops.h", "ternary.h"], instances)
    for e in TYPES:
        _ternary_flat(random, library, e)
        for kind in STRIDED:
            _ternary_strided(random, library, e, kind)


def _ternary_flat(random, library, e):
    for size in LENGTHS:
        a = BOOL.random(random, size)
        b, c = (e.random(random, size, 0, 50) for _ in range(2))
        for kind in ("v", "vs", "sv"):
            left = b[:1] if kind == "sv" else b
            right = c[:1] if kind == "vs" else c
            for suffix, run, work in flat_ways(e):
                out = e.zeros(size)
                run(library.pipeline(f"{kind}{suffix}_{e.name}"), numbered(
                    (a, e.pack(left), e.pack(right), out)), size, work)
                _compare(f"select {kind}{suffix} of {size} {e.name}", e, out,
                         np.where(a, left, right))


def _ternary_strided(random, library, e, kind):
    dimensions, work, _ = STRIDED[kind]
    shape = SHAPES[dimensions]
    for ways in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        (a, which), (b, left), (c, right) = (
            view(random, t, shape, way) for t, way in zip((BOOL, e, e), ways))
        out = e.zeros(*shape)
        run_view(library.pipeline(f"{kind}_{e.name}"), numbered(
            [a, e.pack(b), e.pack(c), out,
             *strided_arguments(shape, (which, left, right))]), shape, work)
        _compare(f"select {kind} of {shape} {e.name}, layouts {ways}", e, out,
                 np.where(which, left, right))


def copy_layouts(random):
    """Copies within a type, and from float to it."""
    pairs = [(e, e) for e in TYPES] + [
        (FLOAT32, e) for e in TYPES if FULL and e is not FLOAT32]
    instances = []
    for a, b in pairs:
        types, key = (a.metal, b.metal), f"{a.name}_{b.name}"
        for name, *rest in flat_instances(b, [
                (kind, f"copy_{kind}", *types) for kind in ("s", "v")]):
            instances.append((f"{name.split('_')[0]}_{key}", *rest))
        for family in ("g", "gg", "gg_dynamic"):
            for kind, template, *rest in strided_instances(
                    b, f"copy_{family}", types):
                kind = kind.split("_")[0].replace("g", family, 1)
                instances.append((f"{kind}_{key}", template, *rest))
    library = mlx.library(["utils.h", "copy.h"], instances)
    for a, b in pairs:
        _copy_flat(random, library, a, b)
        for kind in STRIDED:
            for family in ("g", "gg", "gg_dynamic"):
                _copy_strided(random, library, a, b, family, kind)


def _copied(a, b, x):
    """The values of a, held as b holds them."""
    if a is b:
        return b.pack(x)
    return b.pack(x if b.name == "bfloat16" else x.astype(b.dtype))


def _copy_flat(random, library, a, b):
    key = f"{a.name}_{b.name}"
    for size in LENGTHS:
        x = a.random(random, size, 0, 50)
        for kind in ("s", "v"):
            for suffix, run, work in flat_ways(b):
                source = x[:1] if kind == "s" else x
                out = b.zeros(size)
                run(library.pipeline(f"{kind}{suffix}_{key}"),
                    numbered((a.pack(source), out)), size, work)
                check.equal(f"copy {kind}{suffix} of {size}, {key}", out,
                            np.broadcast_to(_copied(a, b, source), size))


def _copy_strided(random, library, a, b, family, kind):
    dimensions, work, _ = STRIDED[kind]
    shape = SHAPES[dimensions]
    key = f"{kind.replace('g', family, 1)}_{a.name}_{b.name}"
    offsets = (7, 11) if family == "gg_dynamic" else (0, 0)
    for way in range(3):
        base, x = view(random, a, shape, way)
        base = np.concatenate([np.zeros(offsets[0], base.dtype), base.ravel()])
        room = b.zeros(int(np.prod(shape)) + offsets[1])
        out = room[offsets[1]:].reshape(shape[::-1]).transpose()
        if family == "g":
            room = out = b.zeros(*shape)
        arguments = {0: a.pack(base), 1: room, 3: strides_of(x)}
        if family != "g":
            arguments[4] = strides_of(out)
        if dimensions > 3:
            arguments |= {2: mlx.ints(*shape), 5: np.int32(dimensions)}
        if family == "gg_dynamic":
            arguments |= {6: np.int64(offsets[0]), 7: np.int64(offsets[1])}
        run_view(library.pipeline(key), arguments, shape, work)
        check.equal(f"copy {key} of {shape}, layout {way}", out,
                    _copied(a, b, x))


FAMILIES = {"unary_layouts": unary_layouts, "binary_layouts": binary_layouts,
            "ternary_layouts": ternary_layouts, "copy_layouts": copy_layouts}
