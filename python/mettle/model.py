# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""model.py: runs PyTorch models that mettle.export_mps, or AOTInductor on a
Mac, compiled for device "mps". Nothing of PyTorch is needed to run one."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Union

from . import _loading, _native, _structures
from ._handle import Handle
from ._native import AOTI_TABLE, CHECKED, Functions, encode, make
from ._structures import ModelTensor
from .array import Array, array
from .buffer import Buffer
from .device import Device, default_device
from .errors import InvalidArgumentError, NotFoundError

aoti = Functions(_loading.load("libmettle-aoti.so.0"), AOTI_TABLE, CHECKED)
COMMIT_AND_WAIT = 2  # MTL_SYNC_COMMIT_AND_WAIT
# mtl_scalar_type, by the names of NumPy.
SCALARS: Dict[str, int] = {
    "uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5,
    "float32": 6, "complex64": 9, "bool": 11, "bfloat16": 15, "uint16": 27,
    "uint32": 28, "uint64": 29}
NAMES = {code: name for name, code in SCALARS.items()}


class Constant(NamedTuple):
    """A weight of a model."""

    name: str
    original_name: str  # "layer1.0.conv1.weight"
    dtype: str
    nbytes: int


class _Result(Handle):
    __slots__ = ()
    _release = aoti.mtl_model_result_release


def _tensor(values: Array) -> ModelTensor:
    name = values.dtype.name
    if name not in SCALARS:
        raise InvalidArgumentError(f"models have no elements of {name}")
    tensor = ModelTensor(buffer=values.buffer.handle,
                         offset_bytes=values.offset, type=SCALARS[name],
                         rank=values.ndim)
    step = 1
    for i in reversed(range(values.ndim)):
        tensor.sizes[i], tensor.strides[i] = values.shape[i], step
        step *= values.shape[i]
    return tensor


class Model(Handle):
    """A model: ``outputs = model(x)``.

    path            the .so
    weights_path    None for X_weights.blob beside X.so
    instances       runs at a time
    compile_lazily  kernels when they first run, not at the load"""

    __slots__ = ("device",)
    _release = aoti.mtl_model_release

    def __init__(self, path: Union[str, os.PathLike], *,
                 weights_path: Union[str, os.PathLike, None] = None,
                 instances: int = 1, compile_lazily: bool = False) -> None:
        desc = _structures.ModelDesc(
            weights_path=None if weights_path is None
            else os.fsencode(weights_path),
            instances=instances, compile_lazily=compile_lazily)
        super().__init__(make(aoti.mtl_model_load, os.fsencode(path),
                              ctypes.byref(desc)))
        self.device: Device = default_device()

    @property
    def input_names(self) -> List[str]:
        """The inputs in their order."""
        return [aoti.mtl_model_input_name(self, i)
                for i in range(aoti.mtl_model_input_count(self))]

    @property
    def output_names(self) -> List[str]:
        """The outputs in their order."""
        return [aoti.mtl_model_output_name(self, i)
                for i in range(aoti.mtl_model_output_count(self))]

    @property
    def constants(self) -> List[Constant]:
        """The weights."""
        found = []
        for i in range(aoti.mtl_model_constant_count(self)):
            one = _structures.ModelConstant()
            aoti.mtl_model_get_constant(self, i, ctypes.byref(one))
            found.append(Constant(one.name.decode(),
                                  (one.original_name or b"").decode(),
                                  NAMES.get(one.type, "?"), one.data_bytes))
        return found

    @property
    def kernel_sources(self) -> List[str]:
        """The MSL in the file."""
        return [aoti.mtl_model_kernel_source(self, i)
                for i in range(aoti.mtl_model_kernel_count(self))]

    def _arrays(self, values: Any) -> List[Array]:
        arrays = [value if isinstance(value, Array)
                  else array(value, device=self.device) for value in values]
        for one in arrays:
            one.synchronize()
        return arrays

    def __call__(self, *inputs: Any) -> List[Array]:
        """Runs the model and waits for it. Inputs are arrays of any package,
        of the types and shapes that it was compiled for."""
        given = self._arrays(inputs)
        tensors = (ModelTensor * len(given))(*map(_tensor, given))
        stream = make(aoti.mtl_stream_current)  # borrowed
        result = _Result(make(aoti.mtl_model_run, self, stream, tensors,
                              len(given)))
        aoti.mtl_stream_synchronize(stream, COMMIT_AND_WAIT)
        return [self._output(result, i)
                for i in range(aoti.mtl_model_result_count(result))]

    def _output(self, result: _Result, index: int) -> Array:
        tensor = ModelTensor()
        aoti.mtl_model_result_get(result, index, ctypes.byref(tensor))
        buffer = Buffer(self.device, 0, _handle=_native.mtl.mtl_buffer_retain(
            tensor.buffer))
        shape = list(tensor.sizes[:tensor.rank])
        strides = list(tensor.strides[:tensor.rank])
        flat = Array(buffer, shape, NAMES[tensor.type], tensor.offset_bytes)
        step = 1
        for side, stride in zip(reversed(shape), reversed(strides)):
            if side > 1 and stride != step:
                return _gathered(flat, shape, strides)
            step *= side
        return flat

    def update_constants(self, values: Mapping[str, Any], *,
                         active: bool = False) -> None:
        """Replaces weights by name, in the inactive set unless active;
        swap_constants makes that the active one."""
        known = {name for c in self.constants
                 for name in (c.name, c.original_name)}
        for name in values:
            if name not in known:
                raise NotFoundError(f"the model has no constant {name!r}")
        arrays = self._arrays(values.values())
        names = (ctypes.c_char_p * len(arrays))(*map(encode, values))
        tensors = (ModelTensor * len(arrays))(*map(_tensor, arrays))
        aoti.mtl_model_update_constants(self, names, tensors, len(arrays),
                                        active)

    def swap_constants(self) -> None:
        """Makes the inactive set the active one."""
        aoti.mtl_model_swap_constants(self)


def _gathered(flat: Array, shape: List[int], strides: List[int]) -> Array:
    """A copy in row order of an output that lies otherwise."""
    import numpy as np
    values = flat.numpy()
    view = np.lib.stride_tricks.as_strided(
        values, shape, [stride * flat.itemsize for stride in strides])
    return array(view, device=flat.device)


def load_model(path: Union[str, os.PathLike], **options: Any) -> Model:
    """Loads a model; the options are Model's."""
    return Model(path, **options)


__all__ = ["Constant", "Model", "load_model"]
