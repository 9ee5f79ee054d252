# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""event.py: timelines that order work between queues and the host, and
fences that order encoders."""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Generator, Optional

from . import _waiting
from ._handle import Handle
from ._native import encode, make, mtl
from ._structures import EventDesc
from .errors import TimedOutError

if TYPE_CHECKING:
    from .device import Device

FOREVER = (1 << 64) - 1


class Event(Handle):
    """A 64-bit value that only rises. Queues wait for it and raise it
    (CommandBuffer.wait_event, signal_event), and so does the host."""

    __slots__ = ("device",)
    _release = mtl.mtl_event_release

    def __init__(self, device: "Device", value: int = 0, *,
                 shared: bool = True, label: Optional[str] = None) -> None:
        self.device = device
        desc = EventDesc(shared=shared, initial_value=value,
                         label=encode(label))
        super().__init__(make(mtl.mtl_event_create, device,
                              ctypes.byref(desc)))

    @property
    def value(self) -> int:
        """The present value of a shared event."""
        value = ctypes.c_uint64()
        mtl.mtl_event_value(self, ctypes.byref(value))
        return value.value

    def signal(self, value: int) -> None:
        """Raises the value from the host."""
        mtl.mtl_event_signal(self, value)

    def wait(self, value: int, timeout: Optional[float] = None) -> None:
        """Waits until the value is at least value, timeout seconds at the
        most: TimedOutError."""
        if threading.get_ident() != _waiting.main_thread:
            mtl.mtl_event_wait(self, value, FOREVER if timeout is None else
                               int(timeout * 1e9))
            return
        # In slices, so that Ctrl-C gets through.
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _waiting.SLICE_NS if end is None else \
                max(0, int((end - time.monotonic()) * 1e9))
            try:
                mtl.mtl_event_wait(self, value, min(left, _waiting.SLICE_NS))
                return
            except TimedOutError:
                if end is not None and left <= _waiting.SLICE_NS:
                    raise

    def notify(self, value: int, function: Callable[[int], Any]) -> None:
        """Calls function with the value reached, once, on a thread of
        Mettle's, when it is at least value."""
        _waiting.when_reached(self, value, function)

    def reached(self, value: int) -> "Reached":
        """To be awaited: ``await event.reached(3)``."""
        return Reached(self, value)


class Reached:
    """An event's value that is still to come, for ``await``."""

    def __init__(self, event: Event, value: int) -> None:
        self.event, self.value = event, value

    def __await__(self) -> Generator[Any, None, int]:
        loop = asyncio.get_running_loop()
        future: "asyncio.Future[int]" = loop.create_future()

        def finish(value: int) -> None:
            if not future.done():
                future.set_result(value)

        def tell(value: int) -> None:
            try:
                loop.call_soon_threadsafe(finish, value)
            except RuntimeError:
                pass  # the loop has been closed
        self.event.notify(self.value, tell)
        return future.__await__()


class Fence(Handle):
    """Orders encoders of one queue over untracked buffers."""

    __slots__ = ("device",)
    _release = mtl.mtl_fence_release

    def __init__(self, device: "Device") -> None:
        self.device = device
        super().__init__(make(mtl.mtl_fence_create, device))
