# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""buffer.py: memory that kernels read and write."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple

import numpy as np

from . import _dtypes, _host
from ._handle import Handle
from ._native import encode, launch, make, mtl
from ._structures import BufferDesc
from .errors import InvalidArgumentError, InvalidStateError

if TYPE_CHECKING:
    from .device import Device
    from .queue import CommandBuffer

STORAGE = {"shared": 0, "managed": 1, "private": 2}
PURGEABLE = {"keep_current": 1, "non_volatile": 2, "volatile": 3, "empty": 4}


def storage_code(name: str) -> int:
    """mtl_storage_mode of a name."""
    if name not in STORAGE:
        raise InvalidArgumentError(f"storage {name!r} is none of "
                                   f"{', '.join(STORAGE)}")
    return STORAGE[name]


def buffer_desc(source: Any, **fields: Any) -> BufferDesc:
    """mtl_buffer_desc of a number of bytes, or of an array to copy, which the
    result keeps."""
    desc = BufferDesc(**fields)
    if isinstance(source, str):
        raise TypeError("a buffer is made of a number of bytes or of an array, "
                        "not of a str; its encode() makes bytes")
    if isinstance(source, (int, np.integer)):
        if source < 0:
            raise InvalidArgumentError(f"a length of {source} bytes")
        desc.length_bytes = int(source)
    else:
        if isinstance(source, (list, tuple)):
            source = _host.of_python(source)
        desc.source = np.ascontiguousarray(_host.as_numpy(source))
        desc.length_bytes = desc.source.nbytes
        desc.bytes = desc.source.ctypes.data
    return desc


class Buffer(Handle):
    """A buffer of a device. ``bytes(buffer)``, ``buffer.contents`` and
    ``buffer.numpy(...)`` reach its memory if it is not private."""

    __slots__ = ("device", "offset", "_keeps", "_last")
    _release = mtl.mtl_buffer_release

    def __init__(self, device: "Device", source: Any, *,
                 storage: str = "shared", hazard_tracked: bool = True,
                 guarded: bool = False, label: Optional[str] = None,
                 _handle: Optional[int] = None) -> None:
        self.device = device
        self.offset = 0  # of the wrapped array's first byte
        self._keeps: Any = None
        # The last work of compile_shader or metal_kernel that uses it.
        self._last: Optional[CommandBuffer] = None
        if _handle is None:
            desc = buffer_desc(source, storage_mode=storage_code(storage),
                               hazard_tracking=int(not hazard_tracked),
                               guarded=guarded, label=encode(label))
            _handle = make(mtl.mtl_buffer_create, device, ctypes.byref(desc))
        super().__init__(_handle)

    @classmethod
    def over(cls, device: "Device", array: Any) -> "Buffer":
        """A buffer over an array's own memory; see Device.wrap."""
        host = _host.as_numpy(array)
        if not host.flags.c_contiguous:
            raise InvalidArgumentError("an array that is not contiguous "
                                       "cannot be wrapped")
        offset = ctypes.c_uint64()
        handle = ctypes.c_void_p()
        launch.mettle_wrap_memory(device, host.ctypes.data,
                                  max(host.nbytes, 1), ctypes.byref(handle),
                                  ctypes.byref(offset))
        buffer = cls(device, 0, _handle=handle.value)
        buffer.offset = offset.value
        buffer._keeps = (array, host)
        return buffer

    @classmethod
    def over_gpu(cls, device: "Device", address: int, nbytes: int,
                 keeps: Any) -> "Buffer":
        """A private buffer over memory that others have on the GPU."""
        desc = BufferDesc(length_bytes=nbytes, no_copy_bytes=address,
                          storage_mode=STORAGE["private"])
        buffer = cls(device, 0, _handle=make(mtl.mtl_buffer_create, device,
                                             ctypes.byref(desc)))
        buffer._keeps = keeps
        return buffer

    def remote_view(self, device: "Device") -> "Buffer":
        """A private buffer of another device of this kind, such as a second
        GPU, over this private buffer's memory."""
        return Buffer(device, 0, _handle=make(
            mtl.mtl_buffer_create_remote_view, device, self))

    @property
    def is_private(self) -> bool:
        """True if the host has no contents of it."""
        return mtl.mtl_buffer_storage_mode(self) == STORAGE["private"]

    def __repr__(self) -> str:
        return f"<{self._title()} of {len(self)} bytes>"

    def __len__(self) -> int:
        return mtl.mtl_buffer_length(self)

    def __bytes__(self) -> bytes:
        return bytes(self.contents)

    @property
    def nbytes(self) -> int:
        """The length in bytes."""
        return len(self)

    @property
    def contents(self) -> memoryview:
        """The buffer's memory, as it is now: writable, one byte an element.
        Work in flight is not waited for."""
        return memoryview(self._ctypes_array()).cast("B")

    def _ctypes_array(self) -> Any:
        address = mtl.mtl_buffer_contents(self)
        if not address:
            raise InvalidStateError("a private buffer has no contents for the "
                                    "host")
        array: Any = (ctypes.c_char * len(self)).from_address(address)
        array._keeps = self
        return array

    def numpy(self, dtype: Any = np.uint8, shape: Optional[Sequence[int]] =
              None, offset: int = 0) -> np.ndarray:
        """The buffer's memory as a NumPy array, without a copy. Waits for
        what compile_shader and metal_kernel do with the buffer."""
        self.synchronize()
        kind = _dtypes.to_numpy(dtype)
        if shape is None:
            shape = ((len(self) - offset) // kind.itemsize,)
        return np.ndarray(tuple(shape), kind, self._ctypes_array(), offset)

    def synchronize(self) -> None:
        """Waits for the last call of compile_shader's or metal_kernel's
        functions that uses the buffer, and raises its error."""
        last = self._last
        if last is not None:
            self._last = None
            last.wait()

    def did_modify(self, offset: int = 0, length: Optional[int] = None) -> \
            None:
        """Tells the device that the host wrote into a managed buffer."""
        mtl.mtl_buffer_did_modify_range(
            self, offset, len(self) - offset if length is None else length)

    def make_aliasable(self) -> None:
        """Lets later resources of its heap lie where it does."""
        mtl.mtl_buffer_make_aliasable(self)

    def set_purgeable_state(self, state: str) -> str:
        """Says whether its memory may be taken away: "non_volatile",
        "volatile", "empty", or "keep_current", which only asks. Returns what
        it was before; "empty" says that contents were lost."""
        if state not in PURGEABLE:
            raise InvalidArgumentError(f"state {state!r} is none of "
                                       f"{', '.join(PURGEABLE)}")
        before = ctypes.c_int()
        mtl.mtl_buffer_set_purgeable_state(self, PURGEABLE[state],
                                           ctypes.byref(before))
        return list(PURGEABLE)[before.value - 1]

    @property
    def gpu_address(self) -> int:
        """The address that kernels see for the first byte."""
        return mtl.mtl_buffer_gpu_address(self)

    @property
    def label(self) -> str:
        """The name shown in errors."""
        return mtl.mtl_buffer_label(self)

    @label.setter
    def label(self, text: str) -> None:
        mtl.mtl_buffer_set_label(self, encode(text))


def bound(memory: Any) -> Tuple[Optional[Buffer], int]:
    """The buffer of what set_buffer is given, a Buffer, an Array or None, and
    the byte in it where that begins."""
    buffer = getattr(memory, "buffer", memory)
    if buffer is not None and not isinstance(buffer, Buffer):
        raise TypeError("set_buffer takes a Buffer or an Array, not "
                        f"{type(memory).__name__}; Device.wrap makes a "
                        "buffer of an array")
    return buffer, getattr(memory, "offset", 0)
