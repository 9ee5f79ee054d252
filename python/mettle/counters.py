# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""counters.py: samples of the device's clock, and when each piece of a command
buffer's work ran."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _structures
from ._handle import Handle
from ._native import encode, make, mtl
from .buffer import storage_code

if TYPE_CHECKING:
    from .device import Device

NOT_TAKEN = (1 << 64) - 1  # MTL_COUNTER_ERROR
NO_ENCODER = 0xFFFFFFFF  # MTL_NO_ENCODER
WORK_KINDS = ["compute_encoder", "blit_encoder", "dispatch", "execute",
              "copy", "fill", "synchronize", "host_work"]


class WorkTime(NamedTuple):
    """When one piece of work ran, in seconds of time.monotonic(); an encoder
    is followed by what it recorded."""

    kind: str  # of WORK_KINDS
    encoder: Optional[int]  # they count from 0; None for host work
    name: str  # of the kernel or the host work
    debug_group: str
    start: float  # 0 if it did not run
    end: float


def work_times(commands: Any) -> List[WorkTime]:
    """Of a completed command buffer."""
    count = ctypes.c_size_t()
    address = mtl.mtl_command_buffer_work_times(commands, ctypes.byref(count))
    if not count.value:
        return []
    table = (_structures.WorkTime * count.value).from_address(address)
    return [WorkTime(WORK_KINDS[w.kind],
                     None if w.encoder == NO_ENCODER else w.encoder,
                     (w.name or b"").decode(errors="replace"),
                     (w.debug_group or b"").decode(errors="replace"),
                     w.start_ns / 1e9, w.end_ns / 1e9) for w in table]


def sample_timestamps(device: "Device") -> Tuple[float, int]:
    """(seconds of time.monotonic(), ticks of the device's clock), of one
    moment."""
    host, ticks = ctypes.c_uint64(), ctypes.c_uint64()
    mtl.mtl_device_sample_timestamps(device, ctypes.byref(host),
                                     ctypes.byref(ticks))
    return host.value / 1e9, ticks.value


class CounterSampleBuffer(Handle):
    """Room for samples of the device's clock, which encoders take by
    sample_counters."""

    __slots__ = ("device",)
    _release = mtl.mtl_counter_sample_buffer_release

    def __init__(self, device: "Device", count: int, *,
                 storage: str = "shared",
                 label: Optional[str] = None) -> None:
        self.device = device
        desc = _structures.CounterDesc(sample_count=count,
                                   storage_mode=storage_code(storage),
                                   label=encode(label))
        super().__init__(make(mtl.mtl_counter_sample_buffer_create, device,
                              ctypes.byref(desc)))

    def __len__(self) -> int:
        return mtl.mtl_counter_sample_buffer_count(self)

    def resolve(self, first: int = 0, count: Optional[int] = None) -> \
            np.ndarray:
        """Samples as ticks of the device's clock, uint64; NOT_TAKEN where none
        was taken. Those of a command buffer are there when it has
        completed."""
        if count is None:
            count = len(self) - first
        ticks = np.empty(max(count, 0), np.uint64)
        mtl.mtl_counter_sample_buffer_resolve(self, first, count,
                                              ticks.ctypes.data)
        return ticks

    def seconds(self, first: int = 0, count: Optional[int] = None) -> \
            np.ndarray:
        """The same in seconds, of a clock that starts anywhere; NaN where no
        sample was taken."""
        ticks = self.resolve(first, count)
        return np.where(ticks == NOT_TAKEN, np.nan,
                        ticks / self.device.timestamp_frequency)
