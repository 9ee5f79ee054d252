# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ops_order.py: sorts, scans, scatters and pools against NumPy."""
import ctypes

import numpy as np
from ops import (Array, CODES, LIBRARY, Pool, RANDOM, Scatter, Tensor, agree,
                 call, check, empty, make, random, refused)

# --- Order and sums ----------------------------------------------------------

def order(values, axis, descending):
    """Stable, NaN greatest: Python's sort is stable both ways."""
    def key(x):
        return (1, 0) if x != x else (0, x)

    def row(r):
        return np.array(sorted(range(len(r)), key=lambda i: key(r[i]),
                               reverse=False) if not descending else
                        sorted(range(len(r)), key=lambda i: (
                            -key(r[i])[0], -key(r[i])[1])), np.int64)
    return np.apply_along_axis(row, axis, values) if values.size else \
        np.zeros(values.shape, np.int64)


def check_sort(values, axis, descending):
    want = order(values.astype(object) if values.dtype.kind in "iu"
                 else values.astype(float), axis, descending)
    out = Array(np.zeros(values.shape, values.dtype))
    indices = Array(np.zeros(values.shape, np.int64))
    call("mtl_ops_sort", Array(values), ctypes.c_int64(axis),
         ctypes.c_bool(descending), out, indices)
    assert (indices.numpy() == want).all()
    np.testing.assert_array_equal(out.numpy(),
                                  np.take_along_axis(values, want, axis))


def sorts_every_type():
    for dtype in CODES:
        values = RANDOM.integers(0, 100, (3, 37)).astype(dtype)
        if np.dtype(dtype).kind in "if":
            values = values - values.dtype.type(50)
        for descending in (False, True):
            check_sort(values, -1, descending)


def sorts_special_values():
    row = np.float32([1, np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan, -5, 0])
    for descending in (False, True):
        check_sort(row, 0, descending)
        check_sort(np.array([2**63 - 1, -2**63, 0, -1, 2**63 - 1]), 0,
                   descending)
        check_sort(np.array([2**64 - 1, 0, 2**63], np.uint64), 0, descending)


def sorts_any_dimension_and_size():
    for shape, axis in (((5, 6, 7), 0), ((5, 6, 7), 1), ((1,), 0), ((2, 1), 1),
                        ((3000,), 0), ((2, 1025), 1), ((4, 1024), -1)):
        check_sort(random(*shape), axis, False)
    check_sort(random(9, 4).T, 1, True)


def topk():
    values = RANDOM.integers(0, 40, (4, 64)).astype(np.float32)
    for k, axis, largest in ((2, 1, True), (64, -1, False), (3, 0, False),
                             (0, 1, True)):
        want = np.take(order(values, axis, largest), range(k), axis)
        shape = want.shape
        out, indices = empty(shape), Array(np.zeros(shape, np.int64))
        call("mtl_ops_topk", Array(values), ctypes.c_int64(k),
             ctypes.c_int64(axis), ctypes.c_bool(largest), out, indices)
        assert (indices.numpy() == want).all()
        assert (out.numpy() == np.take_along_axis(values, want, axis)).all()
    refused("topk: 65 of 64", "mtl_ops_topk", Array(values),
            ctypes.c_int64(65), ctypes.c_int64(1), ctypes.c_bool(True),
            empty((4, 65)), Array(np.zeros((4, 65), np.int64)))


def cumulative_sum():
    for axis in (0, 1, -1):
        values = random(30, 40, 3)
        out = empty(values.shape)
        call("mtl_ops_cumulative_sum", Array(values), ctypes.c_int64(axis), out)
        want = np.cumsum(values.astype(float), axis)
        agree(out.numpy(), want, 1e-6, np.abs(want))
    for dtype in (np.bool_, np.uint8, np.int32, np.int64):
        values = RANDOM.integers(0, 2, (4, 50)).astype(dtype)
        out = Array(np.zeros((4, 50), np.int64))
        call("mtl_ops_cumulative_sum", Array(values), ctypes.c_int64(1), out)
        assert (out.numpy() == np.cumsum(values, 1, dtype=np.int64)).all()
    long = random(1, 100000)
    out = empty(long.shape)
    call("mtl_ops_cumulative_sum", Array(long), ctypes.c_int64(1), out)
    agree(out.numpy(), np.cumsum(long.astype(float), 1), 2e-6)


# --- Elements whose places are data ------------------------------------------

SET, SUM, PRODUCT, MEAN, LARGEST, LEAST = range(6)


def scatter(out, axis, index, source, how, includes_self=True, value=0.0):
    """Runs it, and says what it should give, element by element."""
    kind = "float" if out.dtype.kind == "f" else None
    got = make(out, kind) if kind else Array(out)
    places = Array(index)
    given = Array(source) if source is not None else None
    desc = Scatter(axis, ctypes.pointer(places.tensor),
                   ctypes.pointer(given.tensor) if given else None, value, how,
                   includes_self)
    call("mtl_ops_scatter", ctypes.byref(desc), got)
    want = out.astype(float if kind else object).copy()
    met = {}
    for at in np.ndindex(*index.shape):
        to = list(at)
        to[axis] = index[at]
        met.setdefault(tuple(to), []).append(
            value if source is None else source[at].item())
    for to, values in met.items():
        if how == SET:
            want[to] = values[-1]
            continue
        values = ([want[to]] if includes_self else []) + values
        whole = {SUM: sum, PRODUCT: np.prod, LARGEST: max, LEAST: min,
                 MEAN: np.mean}[how](values)
        want[to] = whole if kind else int(np.floor(whole))
    agree(got.numpy().astype(float), want.astype(float), 1e-5,
          np.abs(want.astype(float)) + 1)


def scatters_in_every_way():
    for how in range(6):
        for includes_self in (False, True):
            scatter(random(6, 5), 1, RANDOM.integers(0, 5, (4, 7)),
                    random(5, 7), how, includes_self)
            scatter(RANDOM.integers(-9, 9, (4, 3, 2)), 0,
                    RANDOM.integers(0, 4, (9, 3, 2)),
                    RANDOM.integers(-9, 9, (9, 3, 2)), how, includes_self)
    scatter(random(5, 6).T, 0, RANDOM.integers(0, 6, (2, 5)).astype(np.int32),
            None, SET, value=2.5)


def scatter_refuses_what_does_not_fit():
    index = Array(np.zeros((3, 9), np.int64))
    desc = Scatter(0, ctypes.pointer(index.tensor), None, 1.0, SET, True)
    refused("9 indices over 4 elements of out", "mtl_ops_scatter",
            ctypes.byref(desc), empty((5, 4)))


def put_at(shape, indices, values, accumulate):
    out = random(*shape)
    got, given = Array(out), Array(values)
    arrays = [None if i is None else Array(i) for i in indices]
    pointers = (ctypes.POINTER(Tensor) * len(indices))(*[
        ctypes.pointer(a.tensor) if a else None for a in arrays])
    call("mtl_ops_index_put", pointers, ctypes.c_uint32(len(indices)), given,
         ctypes.c_bool(accumulate), got)
    at = tuple(slice(None) if i is None else i for i in indices)
    want = out.copy()
    if accumulate:
        np.add.at(want, at, values)
    else:
        want[at] = values
    agree(got.numpy(), want.astype(float), 1e-6, np.abs(want) + 1)


def puts_where_indices_say():
    rows = np.array([1, 3, -1])
    put_at((6, 4), [rows], random(3, 4), False)
    put_at((6, 4), [np.array([1, 1, 2])], random(3, 4), True)
    put_at((6, 4, 5), [None, np.array([0, 3])], random(6, 2, 5), False)
    put_at((6, 4, 5), [rows, np.array([[0], [2]])], random(2, 3, 5), False)
    # Indices that are not adjacent: their dimension comes first.
    put_at((6, 4, 5), [rows, None, rows], random(3, 4), False)
    put_at((6, 4, 5), [rows, rows, rows], random(1), True)


def running_products_and_extremes():
    for values in (random(4, 9, 3), RANDOM.integers(-3, 4, (4, 9, 3))):
        for axis in (0, 1, -1):
            out = Array(np.zeros_like(values))
            call("mtl_ops_scan", Array(values), ctypes.c_int64(axis),
                 ctypes.c_int(PRODUCT), out, None)
            want = np.cumprod(values.astype(float), axis)
            agree(out.numpy(), want, 1e-6, np.abs(want))
            for how, largest in ((LARGEST, np.maximum), (LEAST, np.minimum)):
                places = Array(np.zeros(values.shape, np.int64))
                call("mtl_ops_scan", Array(values), ctypes.c_int64(axis),
                     ctypes.c_int(how), out, places)
                want = largest.accumulate(values, axis)
                assert (out.numpy() == want).all()
                assert (np.take_along_axis(values, places.numpy(), axis)
                        == want).all()
    values = np.float32([1, 3, np.nan, 5, 2])
    out, places = empty((5,)), Array(np.zeros(5, np.int64))
    call("mtl_ops_scan", Array(values), ctypes.c_int64(0),
         ctypes.c_int(LARGEST), out, places)
    assert np.isnan(out.numpy()[2:]).all() and out.numpy()[1] == 3
    assert places.numpy().tolist() == [0, 1, 2, 2, 2]


# --- Pooling -----------------------------------------------------------------

def spans(size, window, stride, padding, dilation, rounds_up):
    """(places within the input, length with padding) for each window."""
    reach, result, start = dilation * (window - 1) + 1, [], -padding
    while start + reach <= size + padding or (
            rounds_up and start < size and
            start + reach - stride < size + padding):
        places = [p for p in range(start, start + reach, dilation)
                  if 0 <= p < size]
        end = min(start + reach, size + padding)
        result.append((places, end - start))
        start += stride
    return result


def pool(values, desc, lines, columns):
    plane = (len(lines), len(columns))
    sizes = (ctypes.c_int64 * 2)()
    given = Array(values)
    check(LIBRARY.mtl_ops_pool_sizes(ctypes.byref(given.tensor),
                                     ctypes.byref(desc), sizes))
    assert tuple(sizes) == plane, (tuple(sizes), plane)
    out = empty(values.shape[:-2] + plane)
    places = Array(np.zeros(out.shape, np.int64))
    call("mtl_ops_pool", given, ctypes.byref(desc), out,
         places if desc.is_largest else None)
    for i, (ys, height) in enumerate(lines):
        for j, (xs, width) in enumerate(columns):
            part = values[..., ys, :][..., xs].astype(float)
            got = out.numpy()[..., i, j]
            if desc.is_largest:
                assert (got == part.max((-2, -1))).all()
                flat = values.reshape(*values.shape[:-2], -1)
                at = places.numpy()[..., i, j][..., None]
                assert (np.take_along_axis(flat, at, -1)[..., 0] == got).all()
                continue
            count = desc.divisor or (height * width if desc.counts_padding
                                     else len(ys) * len(xs))
            agree(got, part.sum((-2, -1)) / count, 1e-6,
                  np.abs(part).sum((-2, -1)))


def pools_of_windows():
    values = random(2, 3, 13, 17)
    for window, stride, padding, dilation, rounds_up, largest, counts in (
            (3, 2, 1, 1, False, True, False), (2, 2, 0, 2, True, True, False),
            (7, 3, 3, 1, True, False, True), (6, 2, 0, 1, False, False, False),
            (5, 4, 2, 1, True, False, False), (3, 5, 1, 1, True, True, False)):
        pair = ctypes.c_int64 * 2
        desc = Pool(pair(window, window), pair(stride, stride),
                    pair(padding, padding), pair(dilation, dilation), largest,
                    False, rounds_up, counts, 0)
        pool(values, desc, *(spans(n, window, stride, padding, dilation,
                                   rounds_up) for n in (13, 17)))


def pools_adaptive():
    for largest in (False, True):
        values = random(3, 13, 17)
        desc = Pool((ctypes.c_int64 * 2)(5, 4))
        desc.is_largest, desc.is_adaptive = largest, True
        lines, columns = ([(list(range(i * n // m, -(-(i + 1) * n // m))), 0)
                           for i in range(m)] for n, m in ((13, 5), (17, 4)))
        pool(values, desc, lines, columns)
