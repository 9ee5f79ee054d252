# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""array.py: arrays in Mettle's memory, which kernels use while Python goes
on. Reading one waits for them."""

from __future__ import annotations

import ctypes
import math
import operator
from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from . import _dtypes, _gpu, _host
from ._native import integers
from .buffer import Buffer
from .device import Device, default_device
from .errors import InvalidArgumentError

Shape = Union[int, Sequence[int]]
CPU = (1, 0)  # DLPack: kDLCPU


def sides_of(shape: Shape) -> Tuple[int, ...]:
    """The sides of a shape, of which an integer is one."""
    sides = integers(shape, "a shape is made of integers")
    if any(side < 0 for side in sides):
        raise InvalidArgumentError(f"a shape of {sides}: no side is negative")
    return sides


class Array:
    """A contiguous array of a shape and an element type in a Buffer. NumPy,
    torch and everything that knows DLPack share its memory:
    ``numpy.asarray(array)``, ``torch.from_dlpack(array)``."""

    __slots__ = ("buffer", "offset", "shape", "dtype", "__weakref__")

    def __init__(self, buffer: Buffer, shape: Shape, dtype: Any = np.float32,
                 offset: int = 0) -> None:
        """offset is in bytes."""
        self.buffer = buffer
        self.shape: Tuple[int, ...] = sides_of(shape)
        self.dtype: np.dtype = _dtypes.to_numpy(dtype)
        self.offset = offset
        if offset < 0 or offset + self.nbytes > len(buffer):
            raise InvalidArgumentError(
                f"{self.nbytes} bytes at {offset} do not fit a buffer of "
                f"{len(buffer)} bytes")

    def __repr__(self) -> str:
        return f"mettle.Array({self.numpy()!r})"

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes in all."""
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> Device:
        """Where it is."""
        return self.buffer.device

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return operator.index(self.numpy())

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __bytes__(self) -> bytes:
        return self.numpy().tobytes()

    def __deepcopy__(self, _known: Any) -> "Array":
        return self.copy()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numpy())

    def __getitem__(self, index: Any) -> Any:
        return self.numpy()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.numpy()[index] = value

    def numpy(self) -> np.ndarray:
        """The same memory as a NumPy array, once the kernels that use it are
        done."""
        return self.buffer.numpy(self.dtype, self.shape, self.offset)

    def synchronize(self) -> None:
        """Waits for the kernels that use it and raises their error."""
        self.buffer.synchronize()

    def tolist(self) -> Any:
        """The elements as Python's lists and numbers."""
        return self.numpy().tolist()

    def item(self) -> Any:
        """The one element."""
        return self.numpy().item()

    def reshape(self, *shape: Any) -> "Array":
        """The same memory in another shape; one side may be -1."""
        sides = shape[0] if len(shape) == 1 and not isinstance(
            shape[0], int) else shape
        # Elements without bytes, or no elements: nothing is allocated.
        sides = np.empty(self.shape, np.void if self.size else np.uint8
                         ).reshape(sides).shape
        return Array(self.buffer, sides, self.dtype, self.offset)

    def view(self, dtype: Any) -> "Array":
        """The same bytes as elements of another type of the same size."""
        kind = _dtypes.to_numpy(dtype)
        if kind.itemsize != self.itemsize:
            raise InvalidArgumentError(
                f"elements of {self.dtype}, {self.itemsize} bytes each, "
                f"cannot be seen as {kind}, {kind.itemsize} bytes each")
        return Array(self.buffer, self.shape, kind, self.offset)

    def copy(self) -> "Array":
        """A copy in memory of its own."""
        return array(self, device=self.device)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> \
            np.ndarray:
        result = self.numpy()
        if dtype is not None and np.dtype(dtype) != result.dtype:
            if copy is False:
                raise ValueError(f"{result.dtype} as {dtype} is a copy")
            return result.astype(dtype)
        return result.copy() if copy else result

    def _gpu_array(self) -> Optional[_gpu.GpuArray]:
        """Where it is, if that is in a GPU's memory alone."""
        gpu = _gpu.number_of(self.device.name)
        if gpu is None or not self.buffer.is_private:
            return None
        return _gpu.GpuArray(self.buffer.gpu_address + self.offset, gpu,
                             self.dtype, self.shape, self)

    def __dlpack_device__(self) -> Tuple[int, int]:
        found = self._gpu_array()
        return CPU if found is None else (_gpu.CUDA, found.gpu)

    def __dlpack__(self, **options: Any) -> Any:
        options.pop("stream", None)
        found = self._gpu_array()
        if found is not None:
            if options.get("copy"):
                raise BufferError("a GPU's memory is shared, not copied")
            self.synchronize()
            return _gpu.capsule_of(self, found)
        values = self.numpy()
        if _dtypes.name_of(self.dtype) != "bfloat16":
            return _capsule(values, options)
        return _as_bfloat(_capsule(values.view(np.uint16), options))


def _capsule(values: np.ndarray, options: Any) -> Any:
    try:
        return values.__dlpack__(**options)
    except TypeError:  # NumPy 1: no version, no copy
        return values.__dlpack__()


def _as_bfloat(capsule: Any) -> Any:
    """NumPy knows no bfloat16: says so in its capsule of uint16."""
    # DLTensor: data, device, ndim, dtype (code, bits, lanes), ...; in front of
    # it the version, the context, the deleter and the flags, if there is one.
    is_versioned = "dltensor_versioned" in repr(capsule)
    address = _gpu.pointer_of(capsule, b"dltensor_versioned" if is_versioned
                              else b"dltensor")
    code = address + (32 if is_versioned else 0) + 8 + 8 + 4
    ctypes.c_uint8.from_address(code).value = _gpu.BFLOAT
    return capsule


def empty(shape: Shape, dtype: Any = np.float32, *,
          device: Optional[Device] = None) -> Array:
    """A new array, of zeros too: a buffer's memory always is."""
    sides = sides_of(shape)
    count = math.prod(sides) * _dtypes.to_numpy(dtype).itemsize
    buffer = Buffer(device or default_device(), max(count, 1))
    return Array(buffer, sides, dtype)


def zeros(shape: Shape, dtype: Any = np.float32, *,
          device: Optional[Device] = None) -> Array:
    """A new array of zeros."""
    return empty(shape, dtype, device=device)


def full(shape: Shape, value: Any, dtype: Any = np.float32, *,
         device: Optional[Device] = None) -> Array:
    """A new array of one value."""
    result = empty(shape, dtype, device=device)
    result.numpy()[...] = value
    return result


def ones(shape: Shape, dtype: Any = np.float32, *,
         device: Optional[Device] = None) -> Array:
    """A new array of ones."""
    return full(shape, 1, dtype, device=device)


def array(values: Any, dtype: Any = None, *,
          device: Optional[Device] = None) -> Array:
    """A new array with a copy of values: any array, lists, numbers. Python's
    floats become float32 and its integers int32, as MSL has them; larger ones
    want a dtype."""
    if _host.is_array(values) or isinstance(values, (Array, np.generic)):
        source = _host.as_numpy(values) if not isinstance(values, np.generic) \
            else np.asarray(values)
    elif dtype is None:
        source = _host.of_python(values)
    else:
        source = np.asarray(values, _dtypes.to_numpy(dtype))
    kind = source.dtype if dtype is None else _dtypes.to_numpy(dtype)
    result = empty(source.shape, kind, device=device)
    result.numpy()[...] = source
    return result


def asarray(values: Any, *, device: Optional[Device] = None) -> Array:
    """An array over the memory of another one, where it lies, if it is
    contiguous and in the host's memory: NumPy's, torch's, DLPack's. Otherwise
    as array. The other one is kept; what writes to it in the meantime is the
    caller's concern. On the device cuda so are arrays in the GPU's memory:
    torch's, CuPy's, JAX's, DLPack's."""
    if isinstance(values, Array):
        return values
    if _gpu.gpu_of(values) is not None:
        return over_gpu(values, device or default_device())
    if not _host.is_array(values):
        return array(values, device=device)
    host = _host.as_numpy(values)
    if not host.flags.c_contiguous or not host.flags.writeable or \
            not host.dtype.isnative:
        return array(host, device=device)
    buffer = Buffer.over(device or default_device(), host)
    buffer._keeps = (values, host)
    return Array(buffer, host.shape, host.dtype, buffer.offset)


def over_gpu(values: Any, device: Device) -> Array:
    """An array over the memory of another package's array in the GPU's."""
    gpu = _gpu.gpu_of(values)
    if _gpu.number_of(device.name) != gpu:
        raise InvalidArgumentError(
            f"an array in the memory of GPU {gpu}: kernels of the device "
            f"{device.name!r} cannot reach it, those of "
            f"{'cuda' if not gpu else f'cuda:{gpu}'!r} can")
    found = _gpu.look(values)
    size = math.prod(found.shape) * found.dtype.itemsize
    if not size:
        return empty(found.shape, found.dtype, device=device)
    return Array(Buffer.over_gpu(device, found.address, size, found.keeps),
                 found.shape, found.dtype)
