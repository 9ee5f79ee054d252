# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tensor.py: memory as Metal 4's tensors, the arguments tensor<device T,
...> of kernels."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from . import _dtypes, _structures
from ._handle import Handle
from ._native import encode, make, mtl
from .array import Array
from .buffer import Buffer
from .errors import InvalidArgumentError


class Tensor(Handle):
    """A tensor of a buffer's memory. Its shape is in NumPy's order, rows
    before columns; Metal's extents are in the opposite one."""

    __slots__ = ("buffer", "shape", "dtype")
    _release = mtl.mtl_buffer_tensor_release

    def __init__(self, memory: Any, shape: Optional[Sequence[int]] = None,
                 dtype: Any = None, *, strides: Optional[Sequence[int]] = None,
                 offset: int = 0, label: Optional[str] = None) -> None:
        """Makes a tensor of an Array, or of a Buffer with a shape and a type.

        strides  elements from one to the next along each dimension; the last
                 is 1. Without them the tensor is packed
        offset   bytes"""
        if isinstance(memory, Array):
            shape = memory.shape if shape is None else shape
            dtype = memory.dtype if dtype is None else dtype
            offset += memory.offset
            memory = memory.buffer
        if not isinstance(memory, Buffer) or shape is None or dtype is None:
            raise TypeError("a Tensor is of an Array, or of a Buffer with "
                            "shape and dtype")
        self.buffer = memory
        self.shape: Tuple[int, ...] = tuple(int(side) for side in shape)
        code = dtype if isinstance(dtype, int) else \
            _dtypes.FROM_NUMPY.get(_dtypes.to_numpy(dtype), 0)
        if not code:
            raise InvalidArgumentError(f"no tensor has elements of {dtype}")
        self.dtype = _dtypes.TO_NUMPY[code]
        if strides is not None and len(strides) != len(self.shape):
            raise InvalidArgumentError(f"{len(strides)} strides for "
                                       f"{len(self.shape)} dimensions")
        numbers = ctypes.c_int64 * max(len(self.shape), 1)
        desc = _structures.TensorDesc(
            type=code, rank=len(self.shape),
            extents=numbers(*self.shape[::-1]), offset_bytes=offset,
            label=encode(label))
        if strides is not None:
            desc.strides = numbers(*(int(step) for step in strides[::-1]))
        super().__init__(make(mtl.mtl_buffer_tensor_create, memory,
                              ctypes.byref(desc)))

    def __repr__(self) -> str:
        return f"<mettle.Tensor of {self.shape}, {self.dtype}>"

    def numpy(self) -> np.ndarray:
        """The tensor's memory as a NumPy array, without a copy."""
        desc = _structures.TensorDesc.from_address(
            mtl.mtl_buffer_tensor_info(self))
        size = self.dtype.itemsize
        steps = [desc.strides[i] * size for i in range(desc.rank)][::-1]
        values = np.ndarray(
            self.shape, self.dtype, self.buffer._ctypes_array(),
            desc.offset_bytes, steps)
        self.buffer.synchronize()
        return values
