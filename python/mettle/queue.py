# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""queue.py: queues, and command buffers that are waited for, awaited or call
back. Encoders are in encoder.py."""

from __future__ import annotations

import collections
import ctypes
import enum
import sys
import threading
from typing import (TYPE_CHECKING, Any, Callable, Deque, Generator, List,
                    NamedTuple, Optional)

from . import _native, _structures, _waiting, counters
from ._handle import Handle, handles
from ._native import encode, make, mtl
from ._structures import CommandBufferCallback
from .errors import InvalidStateError, MettleError, TimedOutError
from .event import Event

if TYPE_CHECKING:
    from .device import Device
    from .encoder import BlitEncoder, ComputeEncoder
    from .heap import ResidencySet
    from .log import LogState


class Status(enum.IntEnum):
    """How far a command buffer is."""

    NOT_ENQUEUED = 0
    ENQUEUED = 1
    COMMITTED = 2
    SCHEDULED = 3
    COMPLETED = 4
    ERROR = 5


class Times(NamedTuple):
    """Seconds of time.monotonic(), 0 until known: when the queue took the
    command buffer up (kernel) and when its work ran (device)."""

    kernel_start: float
    kernel_end: float
    device_start: float
    device_end: float


def _nanoseconds(seconds: Optional[float]) -> int:
    if seconds is None:
        return 0
    return (1 << 64) - 1 if seconds == float("inf") else int(seconds * 1e9)


class Queue(Handle):
    """Runs command buffers in the order of their commits."""

    __slots__ = ("device", "_in_flight", "_event", "_value", "_lock",
                 "_log_state")
    _release = mtl.mtl_queue_release

    def __init__(self, device: "Device", *, max_command_buffers: int = 0,
                 label: Optional[str] = None,
                 log_state: Optional["LogState"] = None,
                 time_limit: Optional[float] = None) -> None:
        self.device = device
        self._log_state = log_state
        # Committed command buffers made from Python that may still run, with
        # the objects that they use.
        self._in_flight: Deque[CommandBuffer] = collections.deque()
        self._value = 0
        self._lock = threading.Lock()  # values rise in the order of commits
        desc = _structures.QueueDesc(
            max_command_buffers=max_command_buffers, label=encode(label),
            log_state=log_state.handle if log_state else None,
            time_limit_ns=_nanoseconds(time_limit))
        super().__init__(make(mtl.mtl_queue_create, device,
                              ctypes.byref(desc)))
        self._event = Event(device)
        _waiting.queues.add(self)

    def __repr__(self) -> str:
        return f"<{self._title()}>"

    @property
    def label(self) -> str:
        """The name shown in errors."""
        return mtl.mtl_queue_label(self)

    @label.setter
    def label(self, text: str) -> None:
        mtl.mtl_queue_set_label(self, encode(text))

    def command_buffer(self, *, label: Optional[str] = None,
                       log_state: Optional["LogState"] = None,
                       time_limit: Optional[float] = None,
                       times_work: bool = False) -> "CommandBuffer":
        """Makes an empty command buffer. As a context it is committed at the
        end: ``with queue.command_buffer() as commands: ...``. times_work has
        its work_times tell when each dispatch and copy ran."""
        desc = _structures.CommandBufferDesc(
            label=encode(label),
            log_state=log_state.handle if log_state else None,
            time_limit_ns=_nanoseconds(time_limit), times_work=times_work)
        return CommandBuffer(self, make(mtl.mtl_command_buffer_create, self,
                                        ctypes.byref(desc)), log_state)

    def add_residency_sets(self, *sets: "ResidencySet") -> None:
        """Has the sets' memory resident while the queue works."""
        mtl.mtl_queue_add_residency_sets(self, handles(sets), len(sets))

    def remove_residency_sets(self, *sets: "ResidencySet") -> None:
        """Takes sets from the queue."""
        mtl.mtl_queue_remove_residency_sets(self, handles(sets), len(sets))

    def synchronize(self) -> None:
        """Waits for all that this process has committed; raises the first
        error among it that nobody has asked for."""
        first: Optional[MettleError] = None
        while self._in_flight:
            commands = self._in_flight[0]
            try:
                commands.wait()
            except MettleError as error:
                first = first or error
            with self._lock:
                if self._in_flight and self._in_flight[0] is commands:
                    self._in_flight.popleft()
        if first is not None:
            raise first

    def _track(self, commands: "CommandBuffer") -> None:
        """Keeps a command buffer until it has completed. Under the lock."""
        flying = self._in_flight
        while flying and _get_status(flying[0]) >= Status.COMPLETED:
            flying.popleft()._keeps = None
        flying.append(commands)


_get_status = mtl.mtl_command_buffer_get_status
_wait = mtl.mtl_command_buffer_wait
_wait_timeout = mtl.mtl_command_buffer_wait_timeout


class CommandBuffer(Handle):
    """A list of work, recorded once and committed once. ``await`` it, wait
    for it, or have it call back."""

    __slots__ = ("queue", "_keeps", "_value", "_functions", "_log_state")
    _release = mtl.mtl_command_buffer_release

    def __init__(self, queue: Queue, handle: int,
                 log_state: Optional["LogState"] = None) -> None:
        self.queue = queue
        self._keeps: Any = None  # the memory that it uses
        self._value = 0  # of the queue's event, when it has completed
        self._functions: Optional[List[Any]] = None
        self._log_state = log_state
        self._as_parameter_ = handle

    def __repr__(self) -> str:
        return f"<{self._title()}, {self.status.name}>"

    # --- recording

    def compute_encoder(self, *, concurrent: bool = False) -> \
            "ComputeEncoder":
        """Opens an encoder of dispatches; as a context it is ended."""
        from .encoder import ComputeEncoder
        return ComputeEncoder(self, concurrent=concurrent)

    def blit_encoder(self) -> "BlitEncoder":
        """Opens an encoder of copies; as a context it is ended."""
        from .encoder import BlitEncoder
        return BlitEncoder(self)

    def depend_on(self, earlier: "CommandBuffer") -> None:
        """Has this run only if earlier, which is committed to the same queue,
        succeeds: else its wait raises CancelledError. Before it is enqueued or
        committed."""
        mtl.mtl_command_buffer_depend_on(self, earlier)

    def wait_event(self, event: Event, value: int) -> None:
        """Records a wait: what is recorded later starts when event is at
        least value. It blocks the queue, not the caller."""
        mtl.mtl_command_buffer_wait_event(self, event, value)

    def signal_event(self, event: Event, value: int) -> None:
        """Records a signal: event rises to value once everything recorded
        earlier has finished."""
        mtl.mtl_command_buffer_signal_event(self, event, value)

    def on_scheduled(self, function: Callable[["CommandBuffer"], Any]) -> None:
        """Has function called when the queue takes the work up, on a thread
        of Mettle's. Before the commit."""
        self._call(mtl.mtl_command_buffer_on_scheduled, function)

    def on_completed(self, function: Callable[["CommandBuffer"], Any]) -> None:
        """Has function called when the work has finished or failed, on a
        thread of Mettle's. Before the commit; add_done_callback is for
        after."""
        self._call(mtl.mtl_command_buffer_on_completed, function)

    def _call(self, add: Callable[..., None],
              function: Callable[["CommandBuffer"], Any]) -> None:
        def call(_context: Any, _commands: Any) -> None:
            if not sys.is_finalizing():
                function(self)
        given = CommandBufferCallback(call)
        add(self, given, None)
        if self._functions is None:
            self._functions = []
        self._functions.append(given)

    def use_residency_sets(self, *sets: "ResidencySet") -> None:
        """Has the sets' memory resident while this runs."""
        mtl.mtl_command_buffer_use_residency_sets(self, handles(sets),
                                                  len(sets))

    # --- running

    def enqueue(self) -> None:
        """Takes the next place in the queue's order; commit may come
        later."""
        mtl.mtl_command_buffer_enqueue(self)

    def commit(self) -> "CommandBuffer":
        """Hands the work to its queue and returns at once."""
        queue = self.queue
        with queue._lock:
            if self._value == 0:
                self._value = queue._value + 1
                mtl.mtl_command_buffer_signal_event(self, queue._event,
                                                    self._value)
                queue._value = self._value
            mtl.mtl_command_buffer_commit(self)
            queue._track(self)
        return self

    def cancel(self) -> None:
        """Ends it early: its wait raises CancelledError."""
        mtl.mtl_command_buffer_cancel(self)

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until it has completed and raises its error. Ctrl-C cancels
        it. timeout is in seconds: TimedOutError."""
        out = ctypes.c_void_p(self._as_parameter_)
        if timeout is None:
            status = _waiting.watched(_wait, out, self.queue, self)
        else:
            status = self._wait_slices(timeout)
        if status:
            raise self.error or _native.failure(status, _native.last_error())
        self._keeps = None

    def _wait_slices(self, timeout: float) -> int:
        left = int(timeout * 1e9)
        while True:
            status = _wait_timeout(self, min(left, _waiting.SLICE_NS))
            left -= _waiting.SLICE_NS
            if status == 0:
                return 0
            if self.error is not None:
                return status
            if left <= 0:
                raise TimedOutError(f"still running after {timeout:g} s")

    def wait_scheduled(self) -> None:
        """Waits until the queue has taken it up."""
        mtl.mtl_command_buffer_wait_scheduled(self)

    @property
    def status(self) -> Status:
        """How far it is."""
        return Status(_get_status(self))

    def done(self) -> bool:
        """True if it has completed or failed."""
        return _get_status(self) >= Status.COMPLETED

    @property
    def error(self) -> Optional[MettleError]:
        """Its error, None without one."""
        text = ctypes.c_void_p()
        status = mtl.mtl_command_buffer_error(self, ctypes.byref(text))
        return _native.failure(status, _native._text(text.value)) \
            if status else None

    @property
    def times(self) -> Times:
        """When it ran."""
        t = mtl.mtl_command_buffer_get_times(self)
        return Times(t.kernel_start_ns / 1e9, t.kernel_end_ns / 1e9,
                     t.device_start_ns / 1e9, t.device_end_ns / 1e9)

    @property
    def work_times(self) -> List[counters.WorkTime]:
        """When each encoder, dispatch and copy ran, once it has completed, if
        it was made with times_work."""
        return counters.work_times(self)

    @property
    def device_time(self) -> float:
        """Seconds that its work ran for; waits for it."""
        self.wait()
        times = mtl.mtl_command_buffer_get_times(self)
        return (times.device_end_ns - times.device_start_ns) / 1e9

    @property
    def label(self) -> str:
        """The name shown in errors."""
        return mtl.mtl_command_buffer_label(self)

    @label.setter
    def label(self, text: str) -> None:
        mtl.mtl_command_buffer_set_label(self, encode(text))

    # --- callbacks and await

    def add_done_callback(self, function: Callable[["CommandBuffer"], Any]) \
            -> None:
        """Calls function when the committed work has completed or failed, at
        once if it has, on a thread of Mettle's."""
        if self.done():
            function(self)
            return
        if self._value == 0:
            raise InvalidStateError("not committed")
        _waiting.when_reached(self.queue._event, self._value,
                              lambda _value: function(self))

    def __await__(self) -> Generator[Any, None, None]:
        if not self.done():
            if self._value == 0:
                raise InvalidStateError("not committed")
            yield from self.queue._event.reached(self._value).__await__()
        self.wait()  # the event rises just before it has completed

    def __enter__(self) -> "CommandBuffer":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.commit()
