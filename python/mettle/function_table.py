# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""function_table.py: tables of visible functions, and argument buffers."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Union

from . import _dtypes, _native, _structures
from ._handle import Handle
from ._native import make, mtl
from .buffer import Buffer
from .library import Function, Pipeline
from .texture import Sampler, Texture


class FunctionHandle(Handle):
    """A linked function as one pipeline has it."""

    __slots__ = ("pipeline",)
    _release = mtl.mtl_function_handle_release

    def __init__(self, pipeline: Pipeline, function: Function) -> None:
        self.pipeline = pipeline
        super().__init__(make(mtl.mtl_pipeline_function_handle, pipeline,
                              function))

    @property
    def name(self) -> str:
        """The function's name."""
        return mtl.mtl_function_handle_name(self)


class FunctionTable(Handle):
    """A table of visible functions: ``table[3] = handle`` sets an entry."""

    __slots__ = ("pipeline",)
    _release = mtl.mtl_function_table_release

    def __init__(self, pipeline: Pipeline, count: int) -> None:
        self.pipeline = pipeline
        desc = _structures.FunctionTableDesc(function_count=count)
        super().__init__(make(mtl.mtl_function_table_create, pipeline,
                              ctypes.byref(desc)))

    def __len__(self) -> int:
        return mtl.mtl_function_table_count(self)

    def __setitem__(self, index: int, handle: Union[
            FunctionHandle, Function, None]) -> None:
        if isinstance(handle, Function):
            handle = self.pipeline.function_handle(handle)
        mtl.mtl_function_table_set(self, handle, index)

    @property
    def resource_id(self) -> int:
        """What an argument buffer holds of the table."""
        return mtl.mtl_function_table_resource_id(self)


class ArgumentEncoder(Handle):
    """Writes resources and constants into an argument buffer: the struct
    that [[buffer(buffer_index)]] of a function points to. Members are called
    by their [[id(n)]]."""

    __slots__ = ("function", "_target")
    _release = mtl.mtl_argument_encoder_release

    def __init__(self, function: Function, buffer_index: int, *,
                 _handle: Optional[int] = None) -> None:
        self.function = function
        self._target: Optional[Buffer] = None
        super().__init__(_handle or make(mtl.mtl_argument_encoder_create,
                                         function, buffer_index))

    def nested(self, member: int) -> "ArgumentEncoder":
        """The encoder of the structs that a buffer member points to."""
        return ArgumentEncoder(self.function, 0, _handle=make(
            mtl.mtl_argument_encoder_create_nested, self, member))

    @property
    def encoded_length(self) -> int:
        """Bytes of one struct."""
        return mtl.mtl_argument_encoder_encoded_length(self)

    @property
    def alignment(self) -> int:
        """What the offset of a struct must be a multiple of."""
        return mtl.mtl_argument_encoder_alignment(self)

    def set_argument_buffer(self, buffer: Optional[Buffer],
                            offset: int = 0) -> None:
        """Chooses where the next calls write."""
        mtl.mtl_argument_encoder_set_argument_buffer(self, buffer, offset)
        self._target = buffer

    def set_buffer(self, member: int, buffer: Optional[Buffer],
                   offset: int = 0) -> None:
        """Writes a pointer. What it leads to is not kept alive by it: say
        ComputeEncoder.use_buffer."""
        mtl.mtl_argument_encoder_set_buffer(self, buffer, offset, member)

    def set_texture(self, member: int, texture: Optional[Texture]) -> None:
        """Writes a texture."""
        mtl.mtl_argument_encoder_set_texture(self, texture, member)

    def set_sampler(self, member: int, sampler: Optional[Sampler]) -> None:
        """Writes a sampler."""
        mtl.mtl_argument_encoder_set_sampler(self, sampler, member)

    def set_function_table(self, member: int,
                           table: Optional[FunctionTable]) -> None:
        """Writes a function table."""
        mtl.mtl_argument_encoder_set_function_table(self, table, member)

    def set_constant(self, member: int, type_name: str, value: Any) -> None:
        """Writes a constant member: ``set_constant(2, "float", 0.5)``."""
        raw = _dtypes.value_bytes(_dtypes.MSL_NAMES.index(type_name), value)
        address = mtl.mtl_argument_encoder_constant_data(self, member)
        if not address:
            raise _native.failure(1, _native.last_error())
        ctypes.memmove(address, raw, len(raw))
