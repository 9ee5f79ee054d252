# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""archive.py: machine code of pipelines, kept in a file of the program's
own."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _structures, _waiting
from ._handle import Handle
from ._native import encode, make, mtl

if TYPE_CHECKING:
    from .device import Device
    from .library import Function


class BinaryArchive(Handle):
    """An archive of machine code. Pipelines look for theirs in it:
    ``function.pipeline(archives=[archive])``."""

    __slots__ = ("device",)
    _release = mtl.mtl_binary_archive_release

    def __init__(self, device: "Device", source: Union[
            str, os.PathLike, bytes, None] = None, *,
                 label: Optional[str] = None) -> None:
        """An empty archive, or that of a file: its path, or its bytes."""
        self.device = device
        desc = _structures.BinaryArchiveDesc(label=encode(label))
        if isinstance(source, (bytes, bytearray)):
            held: Any = ctypes.create_string_buffer(bytes(source), len(source))
            desc.data, desc.data_bytes = ctypes.addressof(held), len(source)
        elif source is not None:
            desc.path = os.fsencode(source)
        super().__init__(make(mtl.mtl_binary_archive_create, device,
                              ctypes.byref(desc)))

    def __len__(self) -> int:
        return mtl.mtl_binary_archive_count(self)

    def add(self, function: "Function", **options: Any) -> None:
        """Compiles function as ``function.pipeline(**options)`` would, and
        keeps the code. group_threads says for which threadgroups."""
        from .library import pipeline_desc
        desc = pipeline_desc(**options)
        _waiting.aside(lambda: mtl.mtl_binary_archive_add(
            self, function, ctypes.byref(desc)))

    def write(self, path: Union[str, os.PathLike]) -> None:
        """Writes the archive to a file."""
        mtl.mtl_binary_archive_write(self, os.fsencode(path))
