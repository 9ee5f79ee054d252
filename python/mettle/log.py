# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""log.py: what kernels say by os_log."""

from __future__ import annotations

import ctypes
import enum
import sys
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional

from ._handle import Handle
from ._native import encode, make, mtl
from ._structures import LogHandler, LogStateDesc

if TYPE_CHECKING:
    from .device import Device


class LogLevel(enum.IntEnum):
    """log_debug, log_info, log, log_error and log_fault, by rising weight."""

    UNDEFINED = 0
    DEBUG = 1
    INFO = 2
    NOTICE = 3
    ERROR = 4
    FAULT = 5


class LogMessage(NamedTuple):
    """One message of a kernel's, formatted."""

    subsystem: str
    category: str
    level: LogLevel
    text: str


class LogState(Handle):
    """Receives the messages of the queues and command buffers that have it.
    Handlers are called on threads of Mettle's, before the command buffer's
    wait returns."""

    __slots__ = ("device", "_handlers")
    _release = mtl.mtl_log_state_release

    def __init__(self, device: "Device", handler: Optional[
            Callable[[LogMessage], Any]] = None, *,
                 level: Optional[LogLevel] = None, buffer_bytes: int = 0,
                 label: Optional[str] = None) -> None:
        self.device = device
        self._handlers: List[Any] = []
        desc = LogStateDesc(level=int(level or 0), buffer_bytes=buffer_bytes,
                            label=encode(label))
        super().__init__(make(mtl.mtl_log_state_create, device,
                              ctypes.byref(desc)))
        if handler is not None:
            self.add_handler(handler)

    def add_handler(self, handler: Callable[[LogMessage], Any]) -> None:
        """Adds a function to call with each message."""

        def call(_context: Any, message: Any) -> None:
            if sys.is_finalizing():
                return
            given = message.contents
            handler(LogMessage(given.subsystem.decode(errors="replace"),
                               given.category.decode(errors="replace"),
                               LogLevel(given.level),
                               given.text.decode(errors="replace")))
        function = LogHandler(call)
        # As long as the log state, which work in flight may keep: for good.
        _handlers.append(function)
        self._handlers.append(function)
        mtl.mtl_log_state_add_handler(self, function, None)

    @property
    def dropped(self) -> int:
        """How many messages found no room so far."""
        return mtl.mtl_log_state_dropped(self)


_handlers: List[Any] = []
