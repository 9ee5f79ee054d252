# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""indirect.py: dispatches that are recorded once, and executed and edited
again and again."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Union

from . import _structures, checking
from ._handle import Handle
from ._native import encode, make, mtl, size_of
from .buffer import bound

if TYPE_CHECKING:
    from .device import Device
    from .library import Pipeline

Sizes = Union[int, Sequence[int]]


class IndirectCommandBuffer(Handle):
    """An indirect command buffer: ``commands[i]`` is its command i. Encoders
    run a range of it by ComputeEncoder.execute; what commands are then counts,
    not what they were when that was recorded."""

    __slots__ = ("device", "_keeps")
    _release = mtl.mtl_indirect_command_buffer_release

    def __init__(self, device: "Device", max_commands: int, *,
                 max_buffers: int = 0, max_threadgroup_memory: int = 0,
                 inherit_buffers: bool = False, inherit_pipeline: bool = False,
                 label: Optional[str] = None) -> None:
        """Makes max_commands empty commands.

        max_buffers             commands bind indices below it; 0 for all 31
        max_threadgroup_memory  the same for threadgroup memory
        inherit_buffers         commands use the encoder's buffers
        inherit_pipeline        commands use the encoder's pipeline"""
        self.device = device
        # {command: {what: object}}: the C object keeps none of them.
        self._keeps: Dict[int, Dict[Any, Any]] = {}
        desc = _structures.IndirectDesc(
            max_commands=max_commands, max_buffers=max_buffers,
            max_threadgroup_memory=max_threadgroup_memory,
            inherit_buffers=inherit_buffers,
            inherit_pipeline=inherit_pipeline, label=encode(label))
        super().__init__(make(mtl.mtl_indirect_command_buffer_create, device,
                              ctypes.byref(desc)))

    def __repr__(self) -> str:
        return f"<mettle.IndirectCommandBuffer of {len(self)} commands>"

    def __len__(self) -> int:
        return mtl.mtl_indirect_command_buffer_size(self)

    def __getitem__(self, index: int) -> "IndirectCommand":
        if not 0 <= index < len(self):
            raise IndexError(f"command {index} of {len(self)}")
        return IndirectCommand(self, index)

    def reset(self, first: int = 0, count: Optional[int] = None) -> None:
        """Empties commands: all from first on without a count."""
        if count is None:
            count = len(self) - first
        mtl.mtl_indirect_command_buffer_reset(self, first, count)
        for index in range(first, first + count):
            self._keeps.pop(index, None)

    @property
    def resource_id(self) -> int:
        """What kernels know it by: a command_buffer of MSL."""
        found = ctypes.c_uint64()
        mtl.mtl_indirect_command_buffer_resource_id(self, ctypes.byref(found))
        return found.value


class IndirectCommand:
    """One command. It runs once it has a dispatch."""

    __slots__ = ("commands", "index")

    def __init__(self, commands: IndirectCommandBuffer, index: int) -> None:
        self.commands = commands
        self.index = index

    def _keep(self, what: Any, value: Any) -> None:
        self.commands._keeps.setdefault(self.index, {})[what] = value

    def set_pipeline(self, pipeline: "Pipeline") -> None:
        """Chooses what it runs."""
        if checking.active() is not None:
            pipeline = pipeline.checked(checking.bits())
        mtl.mtl_indirect_command_buffer_set_pipeline(self.commands, self.index,
                                                     pipeline)
        self._keep("pipeline", pipeline)

    def set_buffer(self, index: int, buffer: Any, offset: int = 0) -> None:
        """Binds a Buffer or an Array; None unbinds. offset is in bytes."""
        inner, start = bound(buffer)
        mtl.mtl_indirect_command_buffer_set_buffer(
            self.commands, self.index, inner, start + offset, index)
        self._keep(index, inner)

    def set_threadgroup_memory(self, index: int, length: int) -> None:
        """Sets the size of [[threadgroup(index)]]: a multiple of 16 bytes."""
        mtl.mtl_indirect_command_buffer_set_threadgroup_memory(
            self.commands, self.index, length, index)

    def set_barrier(self, has_barrier: bool = True) -> None:
        """Has it wait for all earlier commands of its execution."""
        mtl.mtl_indirect_command_buffer_set_barrier(self.commands, self.index,
                                                    has_barrier)

    def dispatch_threads(self, grid: Sizes, group: Sizes) -> None:
        """Has it run grid threads in threadgroups of group threads."""
        mtl.mtl_indirect_command_buffer_dispatch_threads(
            self.commands, self.index, size_of(grid, "the grid"),
            size_of(group, "the group"))

    def dispatch_threadgroups(self, groups: Sizes, group: Sizes) -> None:
        """Has it run groups whole threadgroups of group threads."""
        mtl.mtl_indirect_command_buffer_dispatch_threadgroups(
            self.commands, self.index, size_of(groups, "the grid"),
            size_of(group, "the group"))

    def reset(self) -> None:
        """Empties it."""
        self.commands.reset(self.index, 1)
