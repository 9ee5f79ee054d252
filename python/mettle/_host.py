# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_host.py: arrays of other packages in the host's memory, as NumPy's."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _dtypes


def is_torch(value: Any) -> bool:
    """True if value is a torch.Tensor; torch is not imported for it."""
    return type(value).__module__.partition(".")[0] == "torch" and \
        hasattr(value, "data_ptr")


def torch_numpy(tensor: Any) -> np.ndarray:
    """The memory of a torch CPU tensor as a NumPy array."""
    if tensor.device.type != "cpu":
        raise TypeError(f"a torch tensor on {tensor.device}; this takes those "
                        "in the host's memory")
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy has no such type itself
        import torch
        bits = tensor.view(torch.int16).numpy()
        return bits.view(_dtypes.BFLOAT16 or np.uint16)
    return tensor.numpy()


_is_tensor: Dict[type, bool] = {}
_tensor_dtypes: Dict[Any, np.dtype] = {}  # by torch's


def is_tensor(value: Any) -> bool:
    """is_torch, for many values of few types."""
    kind = type(value)
    known = _is_tensor.get(kind)
    if known is None:
        known = _is_tensor[kind] = is_torch(value)
    return known


def plain_tensor(tensor: Any) -> Optional[Tuple[np.dtype, int, int, int]]:
    """(type, address, bytes, elements) of a torch tensor; None where more
    than a look at it is wanted: torch_numpy takes four times as long."""
    if not tensor.is_cpu:
        return None
    dtype = _tensor_dtypes.get(tensor.dtype)
    if dtype is None:
        dtype = _tensor_dtypes[tensor.dtype] = torch_numpy(tensor).dtype
    if tensor.is_neg() or not tensor.is_contiguous():
        return None
    count = tensor.numel()
    return dtype, tensor.data_ptr(), count * tensor.element_size(), count


def is_mlx(value: Any) -> bool:
    """True if value is an mlx.core.array."""
    return type(value).__module__.partition(".")[0] == "mlx"


def mlx_numpy(value: Any) -> np.ndarray:
    """The memory of an array of MLX's, of its CPU device here."""
    if _dtypes.name_of(value.dtype) == "bfloat16":
        import mlx.core as mx
        bits = np.asarray(value.view(mx.uint16))
        return bits.view(_dtypes.BFLOAT16 or np.uint16)
    return np.asarray(value)


def is_array(value: Any) -> bool:
    """True if value is an array of another package's, or memory."""
    return isinstance(value, (np.ndarray, bytes, bytearray, memoryview)) or \
        is_torch(value) or is_mlx(value) or hasattr(value, "__dlpack__") or \
        hasattr(value, "__array_interface__")


def as_numpy(value: Any) -> np.ndarray:
    """A NumPy array over the memory of an array of any package, without a
    copy if there is memory to share."""
    if isinstance(value, np.ndarray):
        return value
    if is_torch(value):
        return torch_numpy(value)
    if is_mlx(value):
        return mlx_numpy(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return np.frombuffer(value, np.uint8) if len(value) else \
            np.zeros(0, np.uint8)
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def of_python(values: Any) -> np.ndarray:
    """Lists and numbers as NumPy's array of what MSL has."""
    found = np.asarray(values)
    kind = found.dtype.str[1:]
    if kind in ("i8", "u8") and found.size and (
            int(found.min()) < -1 << 31 or int(found.max()) >= 1 << 31):
        raise OverflowError(f"{values!r} does not fit int32, as which integers "
                            "are taken; a dtype says otherwise")
    small = {"f8": np.float32, "i8": np.int32}.get(kind)
    return found if small is None else found.astype(small)


def row_strides(shape: Sequence[int]) -> Tuple[int, ...]:
    """The strides, in elements, of a contiguous array."""
    strides: List[int] = []
    step = 1
    for side in reversed(shape):
        strides.insert(0, step)
        step *= side
    return tuple(strides)
