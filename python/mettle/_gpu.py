# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_gpu.py: arrays of other packages in an NVIDIA GPU's memory, by DLPack
(dmlc/dlpack's dlpack.h, version 0.8): torch's, CuPy's, JAX's."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _dtypes, _host
from .errors import InvalidArgumentError

CUDA = 2  # kDLCUDA
LEGACY_STREAM = 1  # what DLPack and CUDA call the default stream
# Type codes, and NumPy's kinds.
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
BFLOAT = 4  # kDLBfloat


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p),
                ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class GpuArray(NamedTuple):
    """A contiguous array in a GPU's memory."""

    address: int
    gpu: int
    dtype: np.dtype
    shape: Tuple[int, ...]
    keeps: Any  # while it is used


def gpu_of(value: Any) -> Optional[int]:
    """The number of the GPU whose memory value is in; None for what is
    elsewhere or no array."""
    find = getattr(type(value), "__dlpack_device__", None)
    if find is None or isinstance(value, np.ndarray):
        return None
    try:
        kind, number = find(value)
    except (BufferError, NotImplementedError, RuntimeError, TypeError,
            ValueError):  # torch's meta tensors, sparse ones
        return None
    return int(number) if int(kind) == CUDA else None


def number_of(device_name: str) -> Optional[int]:
    """The number of the GPU that is the device cuda or cuda:N; else None."""
    name, _, number = device_name.partition(":")
    return int(number or 0) if name == "cuda" else None


def _finish_default_stream(gpu: int) -> None:
    """Waits for the work of the producer's stream, which DLPack has put in
    front of the default stream's."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    failed = cuda.cuDeviceGet(ctypes.byref(device), gpu) or \
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    if not failed:
        cuda.cuCtxPushCurrent_v2(context)
        failed = cuda.cuStreamSynchronize(ctypes.c_void_p(LEGACY_STREAM))
        cuda.cuCtxPopCurrent_v2(ctypes.byref(context))
        cuda.cuDevicePrimaryCtxRelease_v2(device)
    if failed:
        raise RuntimeError(f"CUDA error {failed} in work before the kernel")


def _dtype_of(tensor: _Tensor) -> np.dtype:
    if tensor.lanes == 1 and tensor.code == BFLOAT and tensor.bits == 16:
        return _dtypes.BFLOAT16 or np.dtype(np.uint16)
    if tensor.lanes != 1 or tensor.code not in _KINDS:
        raise TypeError(f"elements of DLPack's type {tensor.code} of "
                        f"{tensor.bits} bits")
    return np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")


def pointer_of(capsule: Any, name: bytes) -> int:
    """The address in a capsule of that name."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(get_pointer(capsule, name))


def read_capsule(capsule: Any, keeps: Any) -> GpuArray:
    """What a capsule says; keeps is kept beside it."""
    tensor = _Tensor.from_address(pointer_of(capsule, b"dltensor"))
    shape = tuple(tensor.shape[:tensor.ndim])
    if tensor.strides and 0 not in shape and any(
            step != row for step, row, side in
            zip(tensor.strides[:tensor.ndim], _host.row_strides(shape), shape)
            if side > 1):
        raise InvalidArgumentError("an array in a GPU's memory that is not "
                                   "contiguous; its package makes a copy that "
                                   "is")
    return GpuArray((tensor.data or 0) + tensor.byte_offset, tensor.device_id,
                    _dtype_of(tensor), shape, (keeps, capsule))


def look(value: Any) -> GpuArray:
    """Where an array that gpu_of knows is. The work on it that its package
    has begun is waited for."""
    if hasattr(value, "detach"):  # torch exports nothing that has a gradient
        value = value.detach()
    found = read_capsule(value.__dlpack__(stream=LEGACY_STREAM), value)
    _finish_default_stream(found.gpu)
    return found


# --- what others get ---------------------------------------------------------

_exported: Dict[int, Any] = {}  # by the address of its _Managed


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address: int) -> None:
    _exported.pop(address, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _drop_unused(capsule: int) -> None:
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    if is_valid(capsule, b"dltensor"):  # else the consumer deletes it
        get_pointer = ctypes.PyDLL(None).PyCapsule_GetPointer
        get_pointer.restype = ctypes.c_void_p
        get_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        _exported.pop(get_pointer(capsule, b"dltensor"), None)


def capsule_of(keeps: Any, found: GpuArray) -> Any:
    """A capsule of DLPack's over the GPU's memory; keeps lives as long."""
    rank = len(found.shape)
    sides = (ctypes.c_int64 * max(rank, 1))(*found.shape)
    steps = (ctypes.c_int64 * max(rank, 1))(*_host.row_strides(found.shape))
    is_bfloat = _dtypes.name_of(found.dtype) == "bfloat16"
    code = BFLOAT if is_bfloat else \
        {kind: code for code, kind in _KINDS.items()}[found.dtype.kind]
    made = _Managed(
        _Tensor(found.address, CUDA, found.gpu, rank, code,
                8 * found.dtype.itemsize, 1, sides, steps, 0), None, _delete)
    address = ctypes.addressof(made)
    _exported[address] = (made, sides, steps, keeps)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(address, b"dltensor",
               ctypes.cast(_drop_unused, ctypes.c_void_p))
