# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""heap.py: memory that is taken from the system once and shared out, and sets
of memory that is to be resident."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Optional, Union

from . import _structures
from ._handle import Handle
from ._native import encode, make, mtl
from .buffer import Buffer, buffer_desc, storage_code
from .errors import InvalidArgumentError
from .texture import PixelFormat, Texture, texture_desc

if TYPE_CHECKING:
    from .device import Device

HEAP_TYPES = {"automatic": 0, "placement": 1}


class SizeAndAlign(NamedTuple):
    """What a resource takes of a heap, in bytes; size is a multiple of
    align."""

    size: int
    align: int


def buffer_size_and_align(device: "Device", length: int) -> SizeAndAlign:
    """What a buffer of so many bytes takes of a heap."""
    found = _structures.SizeAndAlign()
    mtl.mtl_device_heap_buffer_size_and_align(device, length,
                                              ctypes.byref(found))
    return SizeAndAlign(found.size_bytes, found.align_bytes)


class Heap(Handle):
    """Memory that buffers and textures are placed in, by the heap
    ("automatic") or by offsets of yours ("placement"), where they may overlap.
    It starts as zeros."""

    __slots__ = ("device",)
    _release = mtl.mtl_heap_release

    def __init__(self, device: "Device", length: int, *,
                 type: str = "automatic", storage: str = "shared",
                 tracks_hazards: bool = False,
                 label: Optional[str] = None) -> None:
        """tracks_hazards orders what touches any of its resources; without
        it, as in Metal, fences and barriers of yours do."""
        if type not in HEAP_TYPES:
            raise InvalidArgumentError(f"heap type {type!r} is none of "
                                       f"{', '.join(HEAP_TYPES)}")
        if length < 0:
            raise InvalidArgumentError(f"a length of {length} bytes")
        self.device = device
        desc = _structures.HeapDesc(
            length_bytes=length, type=HEAP_TYPES[type],
            storage_mode=storage_code(storage),
            tracks_hazards=tracks_hazards, label=encode(label))
        super().__init__(make(mtl.mtl_heap_create, device,
                              ctypes.byref(desc)))

    def __repr__(self) -> str:
        return f"<{self._title()} of {len(self)} bytes>"

    def __len__(self) -> int:
        return mtl.mtl_heap_length(self)

    @property
    def label(self) -> str:
        """The name shown in errors."""
        return mtl.mtl_heap_label(self)

    @property
    def used_bytes(self) -> int:
        """What live resources take; where some overlap, once."""
        return mtl.mtl_heap_used_bytes(self)

    def max_available_bytes(self, alignment: int = 0) -> int:
        """The largest resource that would find a place now."""
        return mtl.mtl_heap_max_available_bytes(self, alignment)

    def new_buffer(self, source: Any, *, offset: int = 0,
                   label: Optional[str] = None) -> Buffer:
        """A buffer in the heap: of so many bytes, which are what was there
        before, or with a copy of an array. offset is for placement heaps."""
        desc = buffer_desc(
            source, storage_mode=mtl.mtl_heap_storage_mode(self),
            label=encode(label))
        handle = make(mtl.mtl_heap_create_buffer, self, ctypes.byref(desc),
                      offset)
        return Buffer(self.device, 0, _handle=handle)

    def new_texture(self, width: int, height: int = 0, depth: int = 0, *,
                    offset: int = 0,
                    format: Union[PixelFormat, str] = PixelFormat.RGBA8_UNORM,
                    type: Optional[str] = None, levels: int = 1,
                    array_length: int = 0, samples: int = 1,
                    label: Optional[str] = None) -> Texture:
        """A texture in the heap; the options are Texture's."""
        desc = texture_desc(width, height, depth, format, type, levels,
                            array_length, samples, label)
        desc.storage_mode = mtl.mtl_heap_storage_mode(self)
        handle = make(mtl.mtl_heap_create_texture, self, ctypes.byref(desc),
                      offset)
        return Texture(self.device, 0, _handle=handle)


Allocation = Union[Buffer, Texture, Heap]


def _allocations(resources: Iterable[Allocation]) -> Any:
    rows = []
    for resource in resources:
        if isinstance(resource, Buffer):
            rows.append(_structures.Allocation(buffer=resource.handle))
        elif isinstance(resource, Texture):
            rows.append(_structures.Allocation(texture=resource.handle))
        elif isinstance(resource, Heap):
            rows.append(_structures.Allocation(heap=resource.handle))
        else:
            raise TypeError("a residency set has buffers, textures and heaps,"
                            f" not {type(resource).__name__}")
    return (_structures.Allocation * len(rows))(*rows)


class ResidencySet(Handle):
    """Buffers, textures and heaps whose memory is made ready before work needs
    it. What is added or removed counts from the next commit on."""

    __slots__ = ("device",)
    _release = mtl.mtl_residency_set_release

    def __init__(self, device: "Device", *,
                 label: Optional[str] = None) -> None:
        self.device = device
        desc = _structures.ResidencySetDesc(label=encode(label))
        super().__init__(make(mtl.mtl_residency_set_create, device,
                              ctypes.byref(desc)))

    def __len__(self) -> int:
        return mtl.mtl_residency_set_count(self)

    def __contains__(self, resource: Allocation) -> bool:
        return mtl.mtl_residency_set_contains(self,
                                              _allocations([resource])[0])

    def add(self, *resources: Allocation) -> None:
        """Adds resources, which the set keeps."""
        mtl.mtl_residency_set_add(self, _allocations(resources),
                                  len(resources))

    def remove(self, *resources: Allocation) -> None:
        """Removes resources."""
        mtl.mtl_residency_set_remove(self, _allocations(resources),
                                     len(resources))

    def commit(self) -> None:
        """Makes what was added and removed count."""
        mtl.mtl_residency_set_commit(self)

    def request(self) -> None:
        """Has the memory made ready now."""
        mtl.mtl_residency_set_request(self)

    def end(self) -> None:
        """Takes the request back."""
        mtl.mtl_residency_set_end(self)

    @property
    def allocated_bytes(self) -> int:
        """What the committed resources take."""
        return mtl.mtl_residency_set_allocated_bytes(self)
