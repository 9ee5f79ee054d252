# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""device.py: what there is to compute on."""

from __future__ import annotations

import ctypes
import enum
import os
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, \
    Tuple, Union

from . import _structures
from ._handle import Handle
from ._native import encode, make, mtl

if TYPE_CHECKING:
    from .archive import BinaryArchive
    from .buffer import Buffer
    from .counters import CounterSampleBuffer
    from .event import Event, Fence
    from .heap import Heap, ResidencySet, SizeAndAlign
    from .indirect import IndirectCommandBuffer
    from .library import Library
    from .log import LogLevel, LogState
    from .queue import Queue
    from .texture import Sampler, Texture


class Family(enum.IntEnum):
    """Feature families, with Metal's meaning and raw values."""

    APPLE7 = 1007
    APPLE8 = 1008
    APPLE9 = 1009
    APPLE10 = 1010
    MAC2 = 2002
    COMMON1 = 3001
    COMMON2 = 3002
    COMMON3 = 3003
    METAL3 = 5001
    METAL4 = 5002


class Device(Handle):
    """A device: its limits, and everything that is made on it.

    ``Device()`` is the default one (the environment variable METTLE_DEVICE
    names another), ``Device("cpu")`` one by its name."""

    __slots__ = ("_info", "_queue")
    _release = mtl.mtl_device_release

    def __init__(self, name: Optional[str] = None, *,
                 _handle: Optional[int] = None) -> None:
        if _handle is None:
            _handle = make(mtl.mtl_device_default) if name is None else \
                make(mtl.mtl_device_by_name, encode(name))
        super().__init__(_handle)
        self._info = _structures.DeviceInfo.from_address(
            mtl.mtl_device_get_info(self))
        self._queue: Optional[Queue] = None

    def __repr__(self) -> str:
        return f"<mettle.Device {self.name!r}, {self.architecture}>"

    # --- what it is

    @property
    def name(self) -> str:
        """"cpu", for instance."""
        return self._info.name.decode()

    @property
    def architecture(self) -> str:
        """"x86-64-v4", for instance."""
        return self._info.architecture.decode()

    @property
    def registry_id(self) -> int:
        """The same in every process on this machine."""
        return self._info.registry_id

    @property
    def thread_execution_width(self) -> int:
        """Threads of a simdgroup: 32."""
        return self._info.thread_execution_width

    @property
    def max_threads_per_threadgroup(self) -> int:
        """Threads of a threadgroup in all."""
        return self._info.max_threads_per_threadgroup

    @property
    def max_threadgroup_threads(self) -> tuple:
        """Threads of a threadgroup along x, y and z."""
        return tuple(self._info.max_threadgroup_threads)

    @property
    def max_threadgroup_memory_bytes(self) -> int:
        """Bytes of threadgroup memory."""
        return self._info.max_threadgroup_memory_bytes

    @property
    def max_buffer_bytes(self) -> int:
        """Bytes of one buffer."""
        return self._info.max_buffer_bytes

    @property
    def recommended_max_working_set_bytes(self) -> int:
        """Bytes of all buffers together."""
        return self._info.recommended_max_working_set_bytes

    @property
    def compute_units(self) -> int:
        """Threadgroups that run at once."""
        return self._info.compute_units

    @property
    def has_unified_memory(self) -> bool:
        """True if host and device share one memory."""
        return self._info.has_unified_memory

    @property
    def current_allocated_bytes(self) -> int:
        """What live buffers take now."""
        return mtl.mtl_device_current_allocated_bytes(self)

    @property
    def timestamp_frequency(self) -> int:
        """Ticks a second of the device's clock."""
        return self._info.timestamp_frequency_hz

    def sample_timestamps(self) -> Tuple[float, int]:
        """(seconds of time.monotonic(), ticks of the device's clock), both of
        one moment."""
        from .counters import sample_timestamps
        return sample_timestamps(self)

    def heap_buffer_size_and_align(self, length: int) -> "SizeAndAlign":
        """What a buffer of so many bytes takes of a heap."""
        from .heap import buffer_size_and_align
        return buffer_size_and_align(self, length)

    def supports_family(self, family: Union[Family, int]) -> bool:
        """True if the device has all compute features of family."""
        return mtl.mtl_device_supports_family(self, int(family))

    # --- what is made on it

    @property
    def queue(self) -> "Queue":
        """The queue of compile_shader and metal_kernel."""
        if self._queue is None:
            self._queue = self.new_queue(label="mettle")
        return self._queue

    def new_queue(self, *, max_command_buffers: int = 0,
                  label: Optional[str] = None,
                  log_state: Optional["LogState"] = None,
                  time_limit: Optional[float] = None) -> "Queue":
        """Makes a queue. time_limit is in seconds, of each of its command
        buffers; max_command_buffers counts those not yet completed (64)."""
        from .queue import Queue
        return Queue(self, max_command_buffers=max_command_buffers,
                     label=label, log_state=log_state, time_limit=time_limit)

    def new_buffer(self, source: Any, *, storage: str = "shared",
                   hazard_tracked: bool = True, guarded: bool = False,
                   label: Optional[str] = None) -> "Buffer":
        """Makes a buffer: of zeros, if source is a number of bytes, or with a
        copy of an array or bytes. storage is "shared", "managed" or
        "private"; guarded makes an access past the end fault exactly."""
        from .buffer import Buffer
        return Buffer(self, source, storage=storage,
                      hazard_tracked=hazard_tracked, guarded=guarded,
                      label=label)

    def wrap(self, array: Any) -> "Buffer":
        """A buffer over an array's own memory, without a copy. It keeps the
        array; ``buffer.offset`` is where in it the array begins."""
        from .buffer import Buffer
        return Buffer.over(self, array)

    def new_texture(self, width: int, height: int = 0, depth: int = 0,
                    **options: Any) -> "Texture":
        """Makes a texture of zeros; the options are Texture's."""
        from .texture import Texture
        return Texture(self, width, height, depth, **options)

    def new_sampler(self, **options: Any) -> "Sampler":
        """Makes a sampler; the options are Sampler's."""
        from .texture import Sampler
        return Sampler(self, **options)

    def new_library(self, source: str, *,
                    macros: Optional[Mapping[str, Any]] = None,
                    include_paths: Sequence[Union[str, os.PathLike]] = (),
                    headers: Any = None, file_name: Optional[str] = None,
                    language_version: Optional[str] = None,
                    math_mode: str = "fast", debug: bool = False,
                    permissive: bool = False) -> "Library":
        """Compiles MSL source; see Library.compile for the options."""
        from .library import Library
        return Library.compile(
            self, source, macros=macros, include_paths=include_paths,
            headers=headers, file_name=file_name,
            language_version=language_version, math_mode=math_mode,
            debug=debug, permissive=permissive)

    def load_library(self, source: Union[str, os.PathLike, bytes]) -> \
            "Library":
        """A library from a code container: a path, or its bytes."""
        from .library import Library
        return Library.load(self, source)

    def new_event(self, value: int = 0, *, shared: bool = True,
                  label: Optional[str] = None) -> "Event":
        """Makes an event; only shared ones are for the host."""
        from .event import Event
        return Event(self, value, shared=shared, label=label)

    def new_fence(self) -> "Fence":
        """Makes a fence, which orders encoders of a queue."""
        from .event import Fence
        return Fence(self)

    def new_heap(self, length: int, **options: Any) -> "Heap":
        """Makes a heap of so many bytes; the options are Heap's."""
        from .heap import Heap
        return Heap(self, length, **options)

    def new_residency_set(self, *, label: Optional[str] = None) -> \
            "ResidencySet":
        """Makes an empty residency set."""
        from .heap import ResidencySet
        return ResidencySet(self, label=label)

    def new_indirect_command_buffer(self, max_commands: int,
                                    **options: Any) -> \
            "IndirectCommandBuffer":
        """Makes so many empty commands; the options are
        IndirectCommandBuffer's."""
        from .indirect import IndirectCommandBuffer
        return IndirectCommandBuffer(self, max_commands, **options)

    def new_counter_sample_buffer(self, count: int, **options: Any) -> \
            "CounterSampleBuffer":
        """Makes room for so many samples of the device's clock."""
        from .counters import CounterSampleBuffer
        return CounterSampleBuffer(self, count, **options)

    def new_binary_archive(self, source: Union[
            str, os.PathLike, bytes, None] = None, *,
            label: Optional[str] = None) -> "BinaryArchive":
        """Makes an empty archive of machine code, or opens a file's."""
        from .archive import BinaryArchive
        return BinaryArchive(self, source, label=label)

    def new_log_state(self, handler: Any = None, *,
                      level: Optional["LogLevel"] = None,
                      buffer_bytes: int = 0,
                      label: Optional[str] = None) -> "LogState":
        """Makes a log state, which receives what kernels say by os_log."""
        from .log import LogState
        return LogState(self, handler, level=level, buffer_bytes=buffer_bytes,
                        label=label)


_default: Optional[Device] = None


def default_device() -> Device:
    """The device that is used where none is named."""
    global _default
    if _default is None:
        _default = Device()
    return _default


def devices() -> List[Device]:
    """All devices that work is meant for, the default first."""
    count = ctypes.c_size_t()
    mtl.mtl_device_list(None, 0, ctypes.byref(count))
    handles = (ctypes.c_void_p * count.value)()
    mtl.mtl_device_list(handles, count.value, ctypes.byref(count))
    return [Device(_handle=handle) for handle in handles if handle]


def _after_fork() -> None:
    """A child opens devices of its own."""
    global _default
    _default = None


os.register_at_fork(after_in_child=_after_fork)
