# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# elements.py: the element types of the corpus tests: their names in MSL and in
# MLX, random values, and the precision to ask for. bfloat is held as the upper
# half of a float32, since NumPy has none.
import os

import numpy as np


class Element:
    def __init__(self, name, metal, dtype, digits=0.0):
        self.name, self.metal, self.dtype = name, metal, dtype
        self.digits = digits  # relative spacing; 0 for integers
        self.is_complex = dtype is np.complex64
        self.is_float = digits > 0 and not self.is_complex

    def pack(self, values):
        """Values as the buffer holds them."""
        if self.name != "bfloat16":
            return np.ascontiguousarray(np.asarray(values), self.dtype)
        bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
        rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(values), 0x7fc0, rounded).astype(np.uint16)

    def unpack(self, array):
        if self.name != "bfloat16":
            return array
        return (array.astype(np.uint32) << 16).view(np.float32)

    def zeros(self, *shape):
        return np.zeros(shape, self.dtype)

    def random(self, source, shape, low=-4.0, high=4.0):
        """Random values that the type has, in a type NumPy computes with."""
        if self.is_float:
            return self.unpack(self.pack(
                source.uniform(low, high, shape).astype(np.float32)))
        if self.dtype == np.bool_:
            return source.integers(0, 2, shape).astype(np.bool_)
        if self.is_complex:
            parts = source.uniform(low, high, (2, *np.atleast_1d(shape)))
            return (parts[0] + 1j * parts[1]).astype(np.complex64)
        limits = np.iinfo(self.dtype)
        return source.integers(max(limits.min, int(low)),
                               min(limits.max, int(high)), shape,
                               endpoint=True).astype(self.dtype)


FLOAT32 = Element("float32", "float", np.float32, 2.0 ** -23)
FLOAT16 = Element("float16", "half", np.float16, 2.0 ** -10)
BFLOAT16 = Element("bfloat16", "bfloat16_t", np.uint16, 2.0 ** -7)
FLOATS = (FLOAT32, FLOAT16, BFLOAT16)
ALL_INTEGERS = tuple(Element(f"{sign}int{bits}", f"{sign}int{bits}_t",
                             np.dtype(f"{sign}int{bits}").type)
                     for sign in ("", "u") for bits in (8, 16, 32, 64))
COMPLEX64 = Element("complex64", "complex64_t", np.complex64, 2.0 ** -23)
# A type costs hundreds of pipelines: where there are many kernels of each, two
# types stand for the three with a point, and two for the eight integer ones,
# unless METTLE_CORPUS_FULL is set.
FULL = bool(os.environ.get("METTLE_CORPUS_FULL"))
FEW_FLOATS = FLOATS if FULL else (FLOAT32, BFLOAT16)
INTEGERS = ALL_INTEGERS if FULL else tuple(
    e for e in ALL_INTEGERS if e.name in ("int64", "uint8"))
BOOL = Element("bool_", "bool", np.bool_)
EVERY = (*FLOATS, *INTEGERS, BOOL, COMPLEX64)
BY_NAME = {e.name: e for e in (*FLOATS, *ALL_INTEGERS, BOOL, COMPLEX64)}
