# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""encoder.py: records dispatches and copies into a command buffer."""

from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence, Tuple, Union

import numpy as np

from . import _dtypes, _host, _native, checking
from ._handle import Handle, handles
from ._native import encode, make, mtl, size_of
from ._structures import Region
from .buffer import Buffer, bound
from .counters import CounterSampleBuffer
from .errors import InvalidArgumentError
from .event import Fence
from .function_table import FunctionTable
from .heap import Heap
from .indirect import IndirectCommandBuffer
from .library import Pipeline
from .queue import CommandBuffer
from .tensor import Tensor
from .texture import Sampler, Texture

Sizes = Union[int, Sequence[int]]
USAGES = {"read": 1, "write": 2, "read_write": 3}
SCOPES = {"buffers": 1, "textures": 2, "all": 3}


def _region(origin: Sizes, size: Sizes) -> Region:
    if isinstance(origin, int):
        origin = (origin,)
    place = tuple(origin) + (0,) * (3 - len(tuple(origin)))
    return Region(*place, *_native.triple(size, "a region"))


class _Encoder(Handle):
    """What both encoders do: each is open until its end."""

    __slots__ = ("command_buffer", "_is_open")
    _end: Any
    _is_open: bool

    def end(self) -> None:
        """Closes the encoder; raises the first error of what was recorded."""
        if self._is_open:
            self._is_open = False
            type(self)._end(self)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.end()
        elif self._is_open:
            self._is_open = False
            try:
                type(self)._end(self)
            except _native.MettleError:
                pass  # the first error is under way


class ComputeEncoder(_Encoder):
    """Records dispatches. Grids are counted in threads unless the name says
    threadgroups. Errors of recording come from end, or from the commit."""

    __slots__ = ("_pipeline",)
    _release = mtl.mtl_compute_encoder_release
    _end = mtl.mtl_compute_encoder_end

    def __init__(self, command_buffer: CommandBuffer, *,
                 concurrent: bool = False) -> None:
        self.command_buffer = command_buffer
        self._is_open = True
        self._pipeline: Optional[Pipeline] = None
        super().__init__(make(mtl.mtl_compute_encoder_create, command_buffer,
                              int(concurrent)))

    def set_pipeline(self, pipeline: Pipeline) -> None:
        """Chooses what later dispatches run. Bindings stay."""
        if checking.active() is not None:
            pipeline = pipeline.checked(checking.bits())
        self._pipeline = pipeline
        mtl.mtl_compute_encoder_set_pipeline(self, pipeline)

    def set_buffer(self, index: int, buffer: Any, offset: int = 0) -> None:
        """Binds a Buffer or an Array; None unbinds. offset is in bytes."""
        inner, start = bound(buffer)
        mtl.mtl_compute_encoder_set_buffer(self, inner, start + offset, index)

    def set_buffer_offset(self, index: int, offset: int) -> None:
        """Moves the offset of the buffer that is bound."""
        mtl.mtl_compute_encoder_set_buffer_offset(self, offset, index)

    def set_bytes(self, index: int, value: Any,
                  type_name: Optional[str] = None) -> None:
        """Binds a copy of up to 4096 bytes: bytes, an array, or a value of
        an MSL type: ``set_bytes(2, 0.5, "float")``. Without the type a number
        has that of the pipeline's argument."""
        if _host.is_array(value):
            raw = np.ascontiguousarray(_host.as_numpy(value)).tobytes()
        else:
            raw = _dtypes.value_bytes(self._code(index, type_name), value)
        mtl.mtl_compute_encoder_set_bytes(self, raw, len(raw), index)

    def _code(self, index: int, type_name: Optional[str]) -> int:
        if type_name is None and self._pipeline is not None:
            for argument in self._pipeline.arguments:
                if (argument.kind, argument.index) == ("buffer", index):
                    type_name = argument.type
        if type_name not in _dtypes.MSL_NAMES[1:]:
            raise InvalidArgumentError(
                f"set_bytes at {index}: a number wants its MSL type, one of "
                f"{', '.join(_dtypes.MSL_NAMES[1:])}")
        return _dtypes.MSL_NAMES.index(type_name)

    def set_threadgroup_memory(self, index: int, length: int) -> None:
        """Sets the size of [[threadgroup(index)]]: a multiple of 16 bytes."""
        mtl.mtl_compute_encoder_set_threadgroup_memory(self, length, index)

    def set_texture(self, index: int, texture: Optional[Texture]) -> None:
        """Binds a texture."""
        mtl.mtl_compute_encoder_set_texture(self, texture, index)

    def set_sampler(self, index: int, sampler: Optional[Sampler]) -> None:
        """Binds a sampler."""
        mtl.mtl_compute_encoder_set_sampler(self, sampler, index)

    def set_function_table(self, index: int,
                           table: Optional[FunctionTable]) -> None:
        """Binds a function table in the place of a buffer."""
        mtl.mtl_compute_encoder_set_function_table(self, table, index)

    def set_tensor(self, index: int, tensor: Optional[Tensor]) -> None:
        """Binds a tensor to a kernel's tensor argument."""
        mtl.mtl_compute_encoder_set_tensor(self, tensor, index)

    def dispatch_threads(self, grid: Sizes, group: Sizes) -> None:
        """Runs grid threads in threadgroups of group threads."""
        mtl.mtl_compute_encoder_dispatch_threads(
            self, size_of(grid, "the grid"), size_of(group, "the group"))

    def dispatch_threadgroups(self, groups: Sizes, group: Sizes) -> None:
        """Runs groups whole threadgroups of group threads."""
        mtl.mtl_compute_encoder_dispatch_threadgroups(
            self, size_of(groups, "the grid"), size_of(group, "the group"))

    def dispatch_threadgroups_indirect(self, buffer: Buffer, group: Sizes,
                                       offset: int = 0) -> None:
        """The same with three uint32 of buffer, read when it runs."""
        mtl.mtl_compute_encoder_dispatch_threadgroups_indirect(
            self, buffer, offset, size_of(group, "the group"))

    def execute(self, commands: IndirectCommandBuffer, first: int = 0,
                count: Optional[int] = None) -> None:
        """Runs commands, in their order: all from first on without a count.
        use_buffer names what they touch."""
        if count is None:
            count = len(commands) - first
        mtl.mtl_compute_encoder_execute_commands(self, commands, first, count)

    def execute_indirect(self, commands: IndirectCommandBuffer,
                         buffer: Buffer, offset: int = 0) -> None:
        """The same with first and count as two uint32 of buffer, read when it
        runs."""
        mtl.mtl_compute_encoder_execute_commands_indirect(
            self, commands, buffer, offset)

    def use_commands(self, commands: IndirectCommandBuffer,
                     usage: str = "write") -> None:
        """Says that kernels of this encoder encode commands."""
        mtl.mtl_compute_encoder_use_commands(self, commands, USAGES[usage])

    def sample_counters(self, samples: CounterSampleBuffer, index: int, *,
                        ordered: bool = True) -> None:
        """Reads the device's clock between what is recorded before and
        after."""
        mtl.mtl_compute_encoder_sample_counters(self, samples, index, ordered)

    def memory_barrier(self, scope: Union[str, Iterable[Buffer]] =
                       "buffers") -> None:
        """In a concurrent encoder: later dispatches see what earlier ones
        did to "buffers", "textures", "all", or to the buffers given."""
        if isinstance(scope, str):
            mtl.mtl_compute_encoder_memory_barrier(self, SCOPES[scope])
            return
        buffers = list(scope)
        mtl.mtl_compute_encoder_memory_barrier_buffers(
            self, handles(buffers), len(buffers))

    def use_buffer(self, buffer: Buffer, usage: str = "read") -> None:
        """Keeps a buffer for kernels that reach it through an address."""
        mtl.mtl_compute_encoder_use_buffer(self, buffer, USAGES[usage])

    def use_texture(self, texture: Texture, usage: str = "read") -> None:
        """The same for a texture."""
        mtl.mtl_compute_encoder_use_texture(self, texture, USAGES[usage])

    def use_heap(self, heap: Heap) -> None:
        """Keeps a heap for kernels that reach its resources through
        addresses."""
        mtl.mtl_compute_encoder_use_heap(self, heap)

    def use_function_table(self, table: FunctionTable) -> None:
        """The same for a function table."""
        mtl.mtl_compute_encoder_use_function_table(self, table)

    def update_fence(self, fence: Fence) -> None:
        """Signals fence when this encoder's work is done."""
        mtl.mtl_compute_encoder_update_fence(self, fence)

    def wait_fence(self, fence: Fence) -> None:
        """Makes this encoder's work wait for fence."""
        mtl.mtl_compute_encoder_wait_fence(self, fence)

    def push_debug_group(self, name: str) -> None:
        """Names what follows, in errors; groups nest."""
        mtl.mtl_compute_encoder_push_debug_group(self, encode(name))

    def pop_debug_group(self) -> None:
        """Ends the innermost name."""
        mtl.mtl_compute_encoder_pop_debug_group(self)


class BlitEncoder(_Encoder):
    """Records copies."""

    __slots__ = ()
    _release = mtl.mtl_blit_encoder_release
    _end = mtl.mtl_blit_encoder_end

    def __init__(self, command_buffer: CommandBuffer) -> None:
        self.command_buffer = command_buffer
        self._is_open = True
        super().__init__(make(mtl.mtl_blit_encoder_create, command_buffer))

    def copy(self, source: Buffer, target: Buffer, *, length: Optional[int] =
             None, source_offset: int = 0, target_offset: int = 0) -> None:
        """Copies bytes between buffers."""
        if length is None:
            length = min(len(source) - source_offset,
                         len(target) - target_offset)
        mtl.mtl_blit_encoder_copy(self, source, source_offset, target,
                                  target_offset, length)

    def fill(self, buffer: Buffer, value: int, *, offset: int = 0,
             length: Optional[int] = None) -> None:
        """Sets bytes to value."""
        mtl.mtl_blit_encoder_fill(
            self, buffer, offset,
            len(buffer) - offset if length is None else length, value)

    def synchronize(self, resource: Union[Buffer, Texture]) -> None:
        """Makes the device's writes to managed memory visible to the host."""
        if isinstance(resource, Texture):
            mtl.mtl_blit_encoder_synchronize_texture(self, resource)
        else:
            mtl.mtl_blit_encoder_synchronize(self, resource)

    def copy_to_texture(self, source: Buffer, target: Texture, *,
                        offset: int = 0, bytes_per_row: int = 0,
                        bytes_per_image: int = 0, origin: Sizes = (0, 0, 0),
                        size: Optional[Sizes] = None, level: int = 0,
                        slice: int = 0) -> None:
        """Copies rows of texels from a buffer; all of the level without a
        size."""
        mtl.mtl_blit_encoder_copy_buffer_to_texture(
            self, source, offset, bytes_per_row, bytes_per_image, target,
            _region(origin, size or _level(target, level)), level, slice)

    def copy_from_texture(self, source: Texture, target: Buffer, *,
                          offset: int = 0, bytes_per_row: int = 0,
                          bytes_per_image: int = 0,
                          origin: Sizes = (0, 0, 0),
                          size: Optional[Sizes] = None, level: int = 0,
                          slice: int = 0) -> None:
        """The other way."""
        mtl.mtl_blit_encoder_copy_texture_to_buffer(
            self, source, _region(origin, size or _level(source, level)),
            level, slice, target, offset, bytes_per_row, bytes_per_image)

    def copy_texture(self, source: Texture, target: Texture, *,
                     origin: Sizes = (0, 0, 0), size: Optional[Sizes] = None,
                     level: int = 0, slice: int = 0,
                     target_origin: Sizes = (0, 0, 0), target_level: int = 0,
                     target_slice: int = 0) -> None:
        """Copies a region between textures."""
        sides = size or _level(source, level)
        mtl.mtl_blit_encoder_copy_texture(
            self, source, _region(origin, sides), level, slice, target,
            _region(target_origin, sides), target_level, target_slice)

    def generate_mipmaps(self, texture: Texture) -> None:
        """Fills level 1 and those behind it with averages."""
        mtl.mtl_blit_encoder_generate_mipmaps(self, texture)

    def copy_commands(self, source: IndirectCommandBuffer,
                      target: IndirectCommandBuffer, *, first: int = 0,
                      target_first: int = 0,
                      count: Optional[int] = None) -> None:
        """Copies indirect commands: all from first on without a count."""
        if count is None:
            count = len(source) - first
        mtl.mtl_blit_encoder_copy_commands(self, source, first, target,
                                           target_first, count)

    def reset_commands(self, commands: IndirectCommandBuffer, first: int = 0,
                       count: Optional[int] = None) -> None:
        """Empties indirect commands when it runs."""
        if count is None:
            count = len(commands) - first
        mtl.mtl_blit_encoder_reset_commands(self, commands, first, count)

    def sample_counters(self, samples: CounterSampleBuffer, index: int, *,
                        ordered: bool = True) -> None:
        """Reads the device's clock between what is recorded before and
        after."""
        mtl.mtl_blit_encoder_sample_counters(self, samples, index, ordered)

    def resolve_counters(self, samples: CounterSampleBuffer, target: Buffer,
                         *, first: int = 0, count: Optional[int] = None,
                         offset: int = 0) -> None:
        """Writes samples into target, a uint64 of ticks each."""
        if count is None:
            count = len(samples) - first
        mtl.mtl_blit_encoder_resolve_counters(self, samples, first, count,
                                              target, offset)

    def update_fence(self, fence: Fence) -> None:
        """Signals fence when this encoder's work is done."""
        mtl.mtl_blit_encoder_update_fence(self, fence)

    def wait_fence(self, fence: Fence) -> None:
        """Makes this encoder's work wait for fence."""
        mtl.mtl_blit_encoder_wait_fence(self, fence)


def _level(texture: Texture, level: int) -> Tuple[int, ...]:
    return tuple(max(1, side >> level) for side in
                 (texture.width, texture.height, texture.depth))
