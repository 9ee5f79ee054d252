#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""operations.py: graph operations (ops.h) against NumPy in double.

  operations.py --list        the names of all tests
  operations.py NAME          runs one; exit status 0 if it passed
  operations.py --library NAME ...  the same for what host libraries do, with
                              METTLE_HOST_LIBRARY=NAME; passes where the
                              library cannot be had

Tolerances: sums of n products in float are within a few n * 2^-24 of the
magnitudes added up, results are rounded to their type (half 2^-11, bfloat
2^-8)."""
import ctypes
import inspect
import itertools
import os
import resource
import sys
import types

import numpy as np

BUILD = os.environ.get("METTLE_BUILD_DIR", "build")
LIBRARY = ctypes.CDLL(os.path.join(BUILD, "libmettle.so.0"))
COMMIT_AND_WAIT = 2
BFLOAT = 11
CODES = {np.dtype(t): c for t, c in (
    (np.bool_, 1), (np.int8, 2), (np.uint8, 3), (np.int16, 4), (np.uint16, 5),
    (np.int32, 6), (np.uint32, 7), (np.int64, 8), (np.uint64, 9),
    (np.float16, 10), (np.float32, 12))}


class Tensor(ctypes.Structure):
    _fields_ = [("buffer", ctypes.c_void_p), ("offset_bytes", ctypes.c_size_t),
                ("type", ctypes.c_int), ("rank", ctypes.c_uint32),
                ("sizes", ctypes.c_int64 * 16),
                ("strides", ctypes.c_int64 * 16),
                ("constant", ctypes.c_uint64)]


class Convolution(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_uint32), ("stride", ctypes.c_int64 * 3),
                ("padding", ctypes.c_int64 * 3),
                ("dilation", ctypes.c_int64 * 3),
                ("output_padding", ctypes.c_int64 * 3),
                ("groups", ctypes.c_int64), ("transposed", ctypes.c_bool)]


class Attention(ctypes.Structure):
    _fields_ = [("mask", ctypes.POINTER(Tensor)), ("is_causal", ctypes.c_bool),
                ("scale", ctypes.c_double)]


class Scatter(ctypes.Structure):
    _fields_ = [("dimension", ctypes.c_int64),
                ("index", ctypes.POINTER(Tensor)),
                ("source", ctypes.POINTER(Tensor)), ("value", ctypes.c_double),
                ("combination", ctypes.c_int), ("includes_self", ctypes.c_bool)]


class Pool(ctypes.Structure):
    _fields_ = [("window", ctypes.c_int64 * 2), ("stride", ctypes.c_int64 * 2),
                ("padding", ctypes.c_int64 * 2),
                ("dilation", ctypes.c_int64 * 2),
                ("is_largest", ctypes.c_bool), ("is_adaptive", ctypes.c_bool),
                ("rounds_up", ctypes.c_bool),
                ("counts_padding", ctypes.c_bool), ("divisor", ctypes.c_int64)]


LIBRARY.mtl_last_error.restype = ctypes.c_char_p
LIBRARY.mtl_constant_create.restype = ctypes.c_uint64
LIBRARY.mtl_constant_forget.argtypes = [ctypes.c_uint64]
LIBRARY.mtl_constant_kept_bytes.restype = ctypes.c_uint64
STREAM = ctypes.c_void_p()


def check(status):
    if status != 0:
        raise RuntimeError(LIBRARY.mtl_last_error().decode())


def round_bfloat(values):
    """float32 whose low 16 bits are 0, to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000
    return bits.astype(np.uint32).view(np.float32)


class Array:
    """A NumPy array's elements in memory that streams know, its strides kept.

    A bfloat array is a float32 one to NumPy."""

    def __init__(self, values, bfloat=False):
        values = np.asarray(values)
        if bfloat:
            stored = (round_bfloat(values).view(np.uint32) >> 16).astype(
                np.uint16)
            order = np.argsort([-s for s in values.strides], kind="stable")
            stored = np.ascontiguousarray(
                stored.transpose(order)).transpose(np.argsort(order))
            values = stored
        self.bfloat = bfloat
        self.dtype = values.dtype
        self.shape = values.shape
        item = values.itemsize
        self.strides = [s // item for s in values.strides]
        count = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        if values.size == 0:
            count = 0
        self.extent = count
        self.address = ctypes.c_void_p()
        # Memory in front, so that offsets are not 0.
        check(LIBRARY.mtl_memory_allocate(
            STREAM, ctypes.c_size_t((count + 3) * item), 0,
            ctypes.byref(self.address)))
        buffer, offset = ctypes.c_void_p(), ctypes.c_size_t()
        check(LIBRARY.mtl_memory_find(self.address, ctypes.byref(buffer),
                                      ctypes.byref(offset)))
        self.tensor = Tensor(buffer.value, offset.value + 3 * item,
                             BFLOAT if bfloat else CODES[self.dtype],
                             len(self.shape))
        for i, (n, s) in enumerate(zip(self.shape, self.strides)):
            self.tensor.sizes[i], self.tensor.strides[i] = n, s
        if count:
            self.view()[...] = values

    def view(self):
        raw = (ctypes.c_uint8 * ((self.extent + 3) * self.dtype.itemsize)
               ).from_address(self.address.value)
        flat = np.frombuffer(raw, self.dtype)[3:]
        return np.lib.stride_tricks.as_strided(
            flat, self.shape, [s * self.dtype.itemsize for s in self.strides])

    def numpy(self):
        values = self.view().copy() if self.extent else np.empty(
            self.shape, self.dtype)
        if self.bfloat:
            return (values.astype(np.uint32) << 16).view(np.float32)
        return values


def call(name, *arguments):
    status = getattr(LIBRARY, name)(STREAM, *[
        ctypes.byref(a.tensor) if isinstance(a, Array) else a
        for a in arguments])
    check(status)
    check(LIBRARY.mtl_stream_synchronize(STREAM, COMMIT_AND_WAIT))


def refused(text, name, *arguments):
    """The call must fail with text in its message, and the stream go on."""
    try:
        call(name, *arguments)
    except RuntimeError as error:
        assert text in str(error), f"{error}, expected: {text}"
    else:
        raise AssertionError(f"{name} did not fail; expected: {text}")
    LIBRARY.mtl_stream_synchronize(STREAM, COMMIT_AND_WAIT)


RANDOM = np.random.default_rng(7)


def random(*shape, kind="float"):
    values = RANDOM.standard_normal(shape).astype(np.float32)
    return values.astype(np.float16) if kind == "half" else values


def make(values, kind):
    return Array(values.astype(np.float16) if kind == "half" else values,
                 bfloat=kind == "bfloat")


def empty(shape, kind="float"):
    return make(np.full(shape, 77, np.float32), kind)


TOLERANCE = {"float": 2e-6, "half": 1.5e-3, "bfloat": 8e-3}


def agree(got, want, tolerance, scale=None):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, f"{got.shape} is not {want.shape}"
    scale = np.maximum(np.abs(want) if scale is None else scale, 1e-3)
    error = np.abs(got - want) / scale
    error[np.isnan(got) & np.isnan(want)] = 0
    error[got == want] = 0
    worst = error.max() if error.size else 0
    assert worst <= tolerance, f"worst error {worst:g} of {tolerance:g}"


# --- Copies ------------------------------------------------------------------

def copies_between_types():
    values = np.array([[0, 1, 2, 100], [7, 0, 3, 55]])
    some = [np.dtype(t) for t in (np.bool_, np.int64, np.float16, np.float32)]
    for a, b in itertools.product(CODES, CODES):
        if a not in some and b not in some:
            continue  # each pipeline is a compilation
        source, target = Array(values.astype(a)), Array(np.zeros((2, 4), b))
        call("mtl_ops_copy", source, target)
        assert (target.numpy() == values.astype(a).astype(b)).all(), (a, b)


def copies_negative_and_large_integers():
    values = np.array([-1, -128, 127, -3])
    for a, b in itertools.product((np.int8, np.int16, np.int32, np.int64),
                                  (np.int8, np.int16, np.int64, np.float32)):
        target = Array(np.zeros(4, b))
        call("mtl_ops_copy", Array(values.astype(a)), target)
        assert (target.numpy() == values.astype(b)).all(), (a, b)
    big = np.array([2**63 - 1, -2**63, 2**53 + 1], np.int64)
    target = Array(np.zeros(3, np.int64))
    call("mtl_ops_copy", Array(big), target)
    assert (target.numpy() == big).all()


def copies_layouts_and_broadcasts():
    values = random(3, 5, 7, 4)
    for order in itertools.permutations(range(4)):
        target = empty([values.shape[i] for i in order])
        source = Array(values)
        moved = Array(np.zeros(1, np.float32))
        moved.tensor = Tensor(source.tensor.buffer, source.tensor.offset_bytes,
                              12, 4)
        for to, i in enumerate(order):
            moved.tensor.sizes[to] = source.tensor.sizes[i]
            moved.tensor.strides[to] = source.tensor.strides[i]
        call("mtl_ops_copy", moved, target)
        assert (target.numpy() == values.transpose(order)).all(), order
    wide = empty((6, 3, 5, 7, 4))
    call("mtl_ops_copy", Array(values), wide)
    assert (wide.numpy() == values).all()
    scalar = empty((2, 3))
    call("mtl_ops_copy", Array(np.float32(5)), scalar)
    assert (scalar.numpy() == 5).all()


def copy_refuses_sizes_that_do_not_fit():
    refused("in has sizes (3), not (2, 4)", "mtl_ops_copy",
            Array(random(3)), empty((2, 4)))


# --- Products ----------------------------------------------------------------

def product(a, b, kind, bias=None, alpha=1.0, beta=0.0):
    out_shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (
        a.shape[-2], b.shape[-1])
    out = empty(out_shape, kind)
    left, right = make(a, kind), make(b, kind)
    extra = make(bias, kind) if bias is not None else None
    call("mtl_ops_matmul", left, right, extra, ctypes.c_double(alpha),
         ctypes.c_double(beta), out)
    x, y = left.numpy().astype(float), right.numpy().astype(float)
    want, scale = alpha * (x @ y), abs(alpha) * (abs(x) @ abs(y))
    if bias is not None and beta:
        want = want + beta * extra.numpy().astype(float)
    agree(out.numpy(), want, TOLERANCE[kind], scale + abs(want))
    # An operand that stays: the second call takes what the first one kept.
    right.tensor.constant = LIBRARY.mtl_constant_create()
    for _ in range(2):
        out.view()[...] = 55
        call("mtl_ops_matmul", left, right, extra, ctypes.c_double(alpha),
             ctypes.c_double(beta), out)
        agree(out.numpy(), want, TOLERANCE[kind], scale + abs(want))
    LIBRARY.mtl_constant_forget(right.tensor.constant)
    assert LIBRARY.mtl_constant_kept_bytes() == 0


def products_of_all_types_and_sizes():
    for kind in TOLERANCE:
        for m, n, k in ((1, 1, 1), (3, 4, 5), (1, 300, 64), (33, 7, 100),
                        (64, 64, 64), (9, 1, 257), (127, 101, 7)):
            product(random(m, k), random(k, n), kind)


def products_large():
    # Several tiles, and every kind of operand that has to be packed.
    for kind in TOLERANCE:
        product(random(150, 260), random(260, 310), kind)
    product(random(260, 150).T, random(310, 260).T, "bfloat")
    product(random(200, 520)[:, ::2], random(520, 300)[::2],
            "float", random(300), 0.25, -1.5)
    product(random(70, 300), random(300, 200), "float", random(70, 1), 1.0, 1.0)
    product(random(3, 90, 100), random(3, 100, 80), "half",
            random(3, 1, 80), 1.0, 1.0)


def products_with_a_constant():
    # Batches that share it, rows that do not fill a thread, a bias of every
    # shape, columns that are far apart.
    product(random(3, 5, 48), random(48, 70), "float", random(70), 0.5, 2.0)
    product(random(4, 13, 40), random(40, 33), "bfloat", random(13, 33), 1.0,
            1.0)
    product(random(2, 1, 64), random(64, 96), "half", random(2, 1, 96), 1.0,
            1.0)
    product(random(100, 37).T, random(70, 100).T, "float", random(70, 2)[:, 0],
            1.0, 1.0)


def products_into_columns():
    out = make(np.zeros((60, 90), np.float32).T, "float")
    a, b = Array(random(90, 70)), Array(random(70, 60))
    call("mtl_ops_matmul", a, b, None, ctypes.c_double(1), ctypes.c_double(0),
         out)
    x, y = a.numpy().astype(float), b.numpy().astype(float)
    agree(out.numpy(), x @ y, TOLERANCE["float"], abs(x) @ abs(y))


def products_add_to_their_result():
    a, b, out = Array(random(40, 64)), Array(random(64, 50)), Array(
        random(40, 50))
    x, y, z = (t.numpy().astype(float) for t in (a, b, out))
    call("mtl_ops_matmul", a, b, out, ctypes.c_double(1), ctypes.c_double(2),
         out)
    agree(out.numpy(), x @ y + 2 * z, TOLERANCE["float"],
          abs(x) @ abs(y) + abs(z))


def products_with_transposed_operands():
    for m, n, k in ((5, 6, 7), (1, 40, 96), (3, 33, 65), (20, 20, 200)):
        a, b = random(k, m).T, random(n, k).T
        product(a, b, "float")
        product(random(m, k), b, "float")
        product(a, random(k, n), "half")


def products_in_batches_and_broadcast():
    product(random(4, 5, 6), random(4, 6, 7), "float")
    product(random(2, 3, 5, 40), random(40, 7), "float")
    product(random(2, 1, 5, 6), random(3, 6, 7), "bfloat")


def products_add_a_bias():
    a, b = random(6, 40), random(40, 9)
    for bias in (random(6, 9), random(9), random(6, 1), random(1)):
        product(a, b, "float", bias, 0.5, 2.0)
    product(a, b, "float", np.full(9, np.nan, np.float32), 1.0, 0.0)


def products_over_nothing_are_the_bias():
    out = empty((2, 3))
    call("mtl_ops_matmul", Array(np.zeros((2, 0), np.float32)),
         Array(np.zeros((0, 3), np.float32)), Array(np.float32([1, 2, 3])),
         ctypes.c_double(1), ctypes.c_double(1), out)
    assert (out.numpy() == [[1, 2, 3], [1, 2, 3]]).all()


def products_refuse_what_does_not_fit():
    one = ctypes.c_double(1)
    refused("b has sizes (4, 3), not (5, 3)", "mtl_ops_matmul",
            Array(random(2, 5)), Array(random(4, 3)), None, one, one,
            empty((2, 3)))
    refused("must be of half, bfloat or float", "mtl_ops_matmul",
            Array(np.ones((2, 2), np.int32)), Array(random(2, 2)), None, one,
            one, empty((2, 2)))


def quantize(n, k, group):
    q = RANDOM.integers(0, 16, (n, k)).astype(np.uint8)
    scales, zeros = random(n, k // group) * 0.1, random(n, k // group)
    packed = q[:, 0::2] | q[:, 1::2] << 4
    weights = (np.repeat(scales, group, 1).astype(float) * q
               + np.repeat(zeros, group, 1))
    return packed, scales, zeros, weights


def int4_linear():
    for m, n, k, group in ((1, 256, 128, 32), (127, 20, 128, 64),
                           (1, 10, 32, 32), (3, 13, 512, 256), (2, 5, 6, 2)):
        packed, scales, zeros, weights = quantize(n, k, group)
        a, out = random(m, k), empty((m, n))
        call("mtl_ops_int4_linear", Array(a), Array(packed),
             ctypes.c_int64(group), Array(scales), Array(zeros), out)
        agree(out.numpy(), a @ weights.T, 3e-6,
              abs(a).astype(float) @ abs(weights).T)


def gather_qmv():
    experts, n, k, group = 4, 64, 128, 32
    parts = [quantize(n, k, group) for _ in range(experts)]
    packed, scales, zeros, weights = (np.stack(p) for p in zip(*parts))
    a = random(5, k)
    for kind in (np.int32, np.uint32, np.int64):
        chosen = np.array([3, 0, 2, 2, 1], kind)
        out = empty((5, n))
        call("mtl_ops_gather_qmv", Array(a), Array(packed), Array(scales),
             Array(zeros), Array(chosen), ctypes.c_int64(group), out)
        want = np.stack([weights[e] @ x for e, x in zip(chosen, a)])
        agree(out.numpy(), want, 1e-5, np.abs(want) + 10)
    out = empty((1, n))
    call("mtl_ops_gather_qmv", Array(a[:1]), Array(packed), Array(scales),
         Array(zeros), Array(np.int32([4])), ctypes.c_int64(group), out)
    assert np.isnan(out.numpy()).all()


# --- Convolution -------------------------------------------------------------

def reference_convolution(x, w, bias, stride, padding, dilation, groups,
                          transposed, output_padding):
    """By scattering every product, in double."""
    rank = x.ndim - 2
    x, w = x.astype(float), w.astype(float)
    if transposed:
        outputs = w.shape[1] * groups
        size = [(x.shape[d + 2] - 1) * stride[d] - 2 * padding[d]
                + dilation[d] * (w.shape[d + 2] - 1) + 1 + output_padding[d]
                for d in range(rank)]
    else:
        outputs = w.shape[0]
        size = [(x.shape[d + 2] + 2 * padding[d]
                 - dilation[d] * (w.shape[d + 2] - 1) - 1) // stride[d] + 1
                for d in range(rank)]
    out = np.zeros([x.shape[0], outputs] + size)
    in_group, out_group = x.shape[1] // groups, outputs // groups
    for tap in itertools.product(*[range(n) for n in w.shape[2:]]):
        for at in itertools.product(*[range(n) for n in
                                      (x.shape[2:] if transposed else size)]):
            there = [a * s - p + t * d for a, s, p, t, d in
                     zip(at, stride, padding, tap, dilation)]
            limits = size if transposed else x.shape[2:]
            if any(i < 0 or i >= n for i, n in zip(there, limits)):
                continue
            for g in range(groups):
                i = slice(g * in_group, (g + 1) * in_group)
                o = slice(g * out_group, (g + 1) * out_group)
                if transposed:
                    out[(slice(None), o, *there)] += (
                        x[(slice(None), i, *at)] @ w[(i, slice(None), *tap)])
                else:
                    out[(slice(None), o, *at)] += (
                        x[(slice(None), i, *there)]
                        @ w[(o, slice(None), *tap)].T)
    if bias is not None:
        out += bias.astype(float).reshape([-1] + [1] * rank)
    return out


def convolve(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1,
             transposed=False, output_padding=0, kind="float",
             channels_last=False):
    rank = x.ndim - 2
    spread = [[v] * rank if isinstance(v, int) else list(v)
              for v in (stride, padding, dilation, output_padding)]
    left, right = make(x, kind), make(w, kind)
    extra = make(bias, kind) if bias is not None else None
    want = reference_convolution(
        left.numpy(), right.numpy(), extra and extra.numpy(), spread[0],
        spread[1], spread[2], groups, transposed, spread[3])
    shape = np.full(want.shape, 77, np.float32)
    if channels_last:
        def last(a):
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)),
                               -1, 1)
        left, right, shape = make(last(x), kind), make(last(w), kind), \
            last(shape)
    out = make(shape, kind)
    triple = ctypes.c_int64 * 3
    desc = Convolution(rank, *[triple(*v) for v in spread], groups, transposed)
    sizes = (ctypes.c_int64 * 5)()
    check(LIBRARY.mtl_ops_convolution_sizes(
        ctypes.byref(left.tensor), ctypes.byref(right.tensor),
        ctypes.byref(desc), sizes))
    assert tuple(sizes[:rank + 2]) == want.shape
    call("mtl_ops_convolution", left, right, extra, ctypes.byref(desc), out)
    agree(out.numpy(), want, TOLERANCE[kind] * 2, np.abs(want) + 10)
    # Weights that stay: the second call takes what the first one kept.
    right.tensor.constant = LIBRARY.mtl_constant_create()
    for _ in range(2):
        out.view()[...] = 55
        call("mtl_ops_convolution", left, right, extra, ctypes.byref(desc), out)
        agree(out.numpy(), want, TOLERANCE[kind] * 2, np.abs(want) + 10)
    LIBRARY.mtl_constant_forget(right.tensor.constant)
    assert LIBRARY.mtl_constant_kept_bytes() == 0


def convolution_of_few_channels():
    """A window's lines are runs of inputs, but at the edges."""
    for kind in TOLERANCE:
        for c, size, stride, padding in ((3, 3, 2, 1), (3, 7, 2, 3),
                                         (2, (3, 5), 1, (0, 2)), (1, 5, 3, 0)):
            window = (size, size) if isinstance(size, int) else size
            convolve(random(2, c, 23, 31), random(20, c, *window), random(20),
                     stride, padding, kind=kind, channels_last=True)
    convolve(random(2, 3, 23, 31), random(20, 3, 3, 3), dilation=2,
             channels_last=True)
    convolve(random(1, 6, 9, 13), random(40, 3, 3, 3), padding=2, groups=2,
             channels_last=True)
    convolve(random(2, 4, 29), random(16, 4, 5), padding=2, channels_last=True)


def convolution_in_one_dimension():
    convolve(random(2, 3, 20), random(4, 3, 5), random(4), padding=2)
    convolve(random(1, 8, 33), random(16, 8, 3), stride=2, dilation=3)


def convolution_in_two_dimensions():
    convolve(random(2, 3, 9, 11), random(10, 3, 3, 3), random(10), padding=1)
    convolve(random(1, 4, 12, 7), random(9, 4, 5, 2), stride=(2, 3),
             padding=(1, 0), dilation=(2, 1))
    convolve(random(1, 16, 40, 40), random(16, 16, 1, 1), random(16))
    convolve(random(3, 1, 8, 8), random(1, 1, 3, 3), padding=1)


def convolution_in_three_dimensions():
    convolve(random(1, 2, 5, 6, 7), random(3, 2, 3, 2, 3), random(3),
             stride=(1, 2, 1), padding=(1, 0, 2))


def convolution_in_groups():
    convolve(random(2, 8, 9, 9), random(12, 2, 3, 3), random(12), groups=4)
    convolve(random(1, 24, 10, 10), random(24, 1, 3, 3), padding=1, groups=24)


def convolution_transposed():
    convolve(random(2, 4, 5, 6), random(4, 3, 3, 3), random(3), stride=2,
             padding=1, output_padding=1, transposed=True)
    convolve(random(1, 6, 9), random(6, 2, 4), stride=3, dilation=2, groups=3,
             transposed=True)


def convolution_channels_last():
    convolve(random(2, 5, 8, 9), random(7, 5, 3, 3), random(7), padding=1,
             channels_last=True)
    convolve(random(1, 8, 8, 8), random(8, 1, 3, 3), groups=8, stride=2,
             channels_last=True)


def convolution_large():
    for last in (False, True):
        convolve(random(2, 20, 30, 33), random(70, 20, 3, 3), random(70),
                 padding=1, channels_last=last)
        convolve(random(1, 32, 29, 31), random(64, 16, 3, 2), stride=(2, 1),
                 dilation=(1, 2), padding=(1, 3), groups=2, channels_last=last)
        convolve(random(2, 48, 17, 19), random(40, 48, 1, 1), random(40),
                 channels_last=last)
        convolve(random(2, 16, 6, 7, 9), random(24, 16, 2, 3, 3), random(24),
                 padding=(0, 1, 1), channels_last=last)
        convolve(random(3, 40, 9, 9), random(40, 1, 5, 5), random(40),
                 padding=2, groups=40, channels_last=last)
        convolve(random(1, 24, 20, 20), random(32, 24, 3, 3), random(32),
                 padding=1, kind="bfloat", channels_last=last)
    convolve(random(2, 3, 500), random(40, 3, 9), random(40), stride=2)
    convolve(random(1, 16, 5, 5), random(200, 16, 5, 5), random(200))


def convolution_of_half_and_bfloat():
    for kind in ("half", "bfloat"):
        convolve(random(1, 3, 8, 8), random(4, 3, 3, 3), random(4), padding=1,
                 kind=kind)


def convolution_refuses_what_does_not_fit():
    desc = Convolution(2)
    refused("3 channels in 1 groups", "mtl_ops_convolution",
            Array(random(1, 3, 4, 4)), Array(random(2, 4, 3, 3)), None,
            ctypes.byref(desc), empty((1, 2, 2, 2)))
    refused("leaves nothing", "mtl_ops_convolution",
            Array(random(1, 3, 2, 4)), Array(random(2, 3, 3, 3)), None,
            ctypes.byref(desc), empty((1, 2, 2, 2)))


# --- Attention ---------------------------------------------------------------

def attend(q, k, v, mask=None, causal=False, scale=None, kind="float",
           wants_weights=True):
    queries, keys, values = make(q, kind), make(k, kind), make(v, kind)
    x, y, z = (t.numpy().astype(float) for t in (queries, keys, values))
    sharing = q.shape[1] // k.shape[1]
    y, z = np.repeat(y, sharing, 1), np.repeat(z, sharing, 1)
    scores = x @ y.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5)
    extra = None
    if causal:
        scores[..., ~np.tri(q.shape[2], k.shape[2], dtype=bool)] = -np.inf
    if mask is not None:
        extra = Array(mask) if mask.dtype == np.bool_ else make(mask, kind)
        scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ \
            else scores + extra.numpy()
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(top), 0, top))
    sums = e.sum(-1, keepdims=True)
    w = e / np.where(sums == 0, 1, sums)
    out = empty(q.shape[:3] + v.shape[3:], kind)
    weights = empty(w.shape, kind) if wants_weights else None
    desc = Attention(ctypes.pointer(extra.tensor) if extra else None, causal,
                     scale or 0)
    call("mtl_ops_attention", queries, keys, values, ctypes.byref(desc), out,
         weights)
    agree(out.numpy(), w @ z, TOLERANCE[kind] * 4, np.abs(w @ z) + 1)
    if wants_weights:
        agree(weights.numpy(), w, TOLERANCE[kind] * 4, w + 0.1)


def attention_plain():
    for kind in TOLERANCE:
        attend(random(2, 4, 16, 64), random(2, 4, 16, 64),
               random(2, 4, 16, 64), kind=kind)
    attend(random(1, 2, 3, 5), random(1, 2, 70, 5), random(1, 2, 70, 9),
           scale=0.3, wants_weights=False)


def attention_with_masks():
    q, k, v = random(2, 2, 7, 8), random(2, 2, 40, 8), random(2, 2, 40, 8)
    attend(q, k, v, random(7, 40))
    attend(q, k, v, random(2, 1, 7, 40))
    mask = RANDOM.random((2, 2, 7, 40)) > 0.5
    mask[1, 0, 3] = False  # a row that sees nothing is 0
    attend(q, k, v, mask)
    attend(q, k, v, mask[:1, :1, :1])


def attention_causal():
    attend(random(1, 3, 40, 16), random(1, 3, 40, 16), random(1, 3, 40, 16),
           causal=True)


def attention_with_shared_keys():
    attend(random(2, 8, 5, 32), random(2, 2, 9, 32), random(2, 2, 9, 32))


def attention_in_parts():
    """Where scores take more than 64 MiB: by batches, by heads that share a key,
    and by queries."""
    attend(random(3, 4, 1500, 8), random(3, 2, 1500, 8),
           random(3, 2, 1500, 8), random(1500, 1500), wants_weights=False)
    attend(random(1, 8, 1900, 8), random(1, 4, 1900, 8),
           random(1, 4, 1900, 8), wants_weights=False)
    attend(random(1, 1, 5000, 8), random(1, 1, 5000, 8),
           random(1, 1, 5000, 8), causal=True, wants_weights=False)
    attend(random(1, 1, 5000, 8), random(1, 1, 5000, 8),
           random(1, 1, 5000, 4), random(5000, 1) > 0, wants_weights=False)


def attention_in_bounded_memory():
    """24 heads of 2,000 queries and keys have 384,000,000 bytes of scores. Parts
    of them take 64 MiB, and products keep less than that."""
    q, k, v = (random(2, 12, 2000, 8) for _ in range(3))
    out = empty(q.shape)
    arrays = [Array(x) for x in (q, k, v)]
    call("mtl_ops_attention", *(Array(x[:, :, :40]) for x in (q, k, v)), None,
         empty((2, 12, 40, 8)), None)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call("mtl_ops_attention", *arrays, None, out, None)
    got = out.numpy()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 128 << 10, f"{grown} KiB"
    scores = q[1, 11].astype(float) @ k[1, 11].T * 8 ** -0.5
    w = np.exp(scores - scores.max(-1, keepdims=True))
    agree(got[1, 11], w @ v[1, 11] / w.sum(-1, keepdims=True),
          TOLERANCE["float"] * 4, 2)


def attention_strided():
    q = random(2, 16, 4, 64).swapaxes(1, 2)
    attend(q, random(2, 16, 4, 64).swapaxes(1, 2),
           random(2, 16, 4, 64).swapaxes(1, 2))


def gated_delta_rule():
    for b, t, hk, hv, dk, dv in ((1, 2, 4, 4, 64, 64), (2, 5, 2, 6, 40, 24)):
        q, k = random(b, t, hk, dk), random(b, t, hk, dk) * dk ** -0.5
        v = random(b, t, hv, dv)
        g, beta = np.exp(-abs(random(b, t, hv))), abs(random(b, t, hv))
        s = random(b, hv, dv, dk)
        state, out = Array(s), empty((b, t, hv, dv))
        call("mtl_ops_gated_delta_rule", Array(q), Array(k), Array(v),
             Array(g), Array(beta), state, out)
        s, want = s.astype(float), np.zeros((b, t, hv, dv))
        for i, n, h in itertools.product(range(b), range(t), range(hv)):
            at = h // (hv // hk)
            s[i, h] *= g[i, n, h]
            d = (v[i, n, h] - s[i, h] @ k[i, n, at]) * beta[i, n, h]
            s[i, h] += np.outer(d, k[i, n, at])
            want[i, n, h] = s[i, h] @ q[i, n, at]
        agree(out.numpy(), want, 1e-5, np.abs(want) + 1)
        agree(state.numpy(), s, 1e-5, np.abs(s) + 1)


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


def main():
    tests = {name: value for name, value in globals().items()
             if isinstance(value, types.FunctionType) and name != "main"
             and not inspect.signature(value).parameters}
    arguments = sys.argv[1:]
    if arguments[0] == "--library":
        os.environ["METTLE_HOST_LIBRARY"] = arguments[1]
        tests = {name: test for name, test in tests.items() if name.startswith(
            ("products", "convolution", "attention"))}
        arguments = arguments[2:]
    if arguments == ["--list"]:
        print("\n".join(tests))
        return 0
    check(LIBRARY.mtl_stream_create(None, None, ctypes.byref(STREAM)))
    tests[arguments[0]]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
