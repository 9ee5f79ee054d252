# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ops.py: the graph operations of ops.h by ctypes, on NumPy's arrays.

Tolerances: sums of n products in float are within a few n * 2^-24 of the
magnitudes added up, results are rounded to their type (half 2^-11, bfloat
2^-8)."""
import ctypes
import os

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
