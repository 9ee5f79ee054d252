# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_waiting.py: waits that Ctrl-C ends, callbacks from C, and what a fork and
the end of the interpreter do to them.

Python runs no signal handler while its main thread is in a C function, and a
wait of Mettle's runs kernels, so it cannot simply be cut into slices without
becoming slower. Instead SIGINT tells a thread of this module (native/
interrupt.c), which cancels what the main thread waits for.

Other signals are not errors as a rule, so only a handler that raises may end
a wait. Where the program has a handler for one, the main thread runs no
kernels: it waits in slices and Python runs the handlers between them."""

from __future__ import annotations

import _signal
import atexit
import ctypes
import itertools
import os
import signal
import threading
import weakref
from _thread import get_ident
from typing import Any, Callable, Dict, List, Optional, TypeVar

from ._native import launch, mtl
from ._structures import EventCallback

T = TypeVar("T")
SLICE_NS = 50_000_000  # of a wait that cannot be cancelled
COMPLETED = 4  # MTL_COMMAND_BUFFER_COMPLETED; an error is above
EXIT_SECONDS = 2.0  # for work in flight when the interpreter ends

main_thread = threading.main_thread().ident
lock = threading.Lock()  # over waited_for while it is cancelled
# Of the main thread: a c_void_p with a command buffer, and its queue.
waited_for: Optional[tuple] = None
_write_end: int = -1
queues: "weakref.WeakSet[Any]" = weakref.WeakSet()


# --- Ctrl-C ------------------------------------------------------------------

def _cancel_waited_for() -> None:
    with lock:
        if waited_for is None:
            return
        out, queue = waited_for
        # Wait for the command buffers committed earlier first: they run first.
        for commands in list(queue._in_flight):
            mtl.mtl_command_buffer_cancel(commands)
        if out.value:
            mtl.mtl_command_buffer_cancel(out.value)


def _listen(read_end: int) -> None:
    while os.read(read_end, 64):
        _cancel_waited_for()


def _start_listening() -> None:
    global _write_end
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    threading.Thread(target=_listen, args=(read_end,), daemon=True,
                     name="mettle-interrupt").start()
    _write_end = write_end


def enter(out: ctypes.c_void_p, queue: Any) -> int:
    """Has Ctrl-C cancel what out holds, until leave. Returns the descriptor
    for native/interrupt.c, -1 on any thread but the main one."""
    global waited_for
    if get_ident() != main_thread:
        return -1
    if _write_end < 0:
        _start_listening()
    waited_for = (out, queue)
    return _write_end


def leave() -> None:
    """What was waited for may be released."""
    global waited_for
    with lock:
        waited_for = None


def watched(function: Callable[..., int], out: ctypes.c_void_p, queue: Any,
            *arguments: Any) -> int:
    """Calls function, which waits for room in queue if out is empty, else for
    the command buffer in it, so that signals get through. Returns its
    status."""
    fd = enter(out, queue)
    if fd < 0:
        return function(*arguments)
    try:
        launch.mettle_watch_interrupts(fd)
        if has_handlers():
            if out.value:
                return patiently(out)
            for commands in list(queue._in_flight)[:1]:
                patiently(ctypes.c_void_p(commands._as_parameter_))
        return function(*arguments)
    finally:
        leave()


def aside(function: Callable[[], T]) -> T:
    """Calls a function that may take long and cannot be cancelled on a thread
    of its own, so that Ctrl-C gets through; it then ends by itself."""
    if get_ident() != main_thread:
        return function()
    results: List[Any] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append((True, function()))
        except BaseException as error:
            results.append((False, error))
        done.set()

    threading.Thread(target=run, daemon=True, name="mettle-compile").start()
    done.wait()
    good, value = results.pop()
    if not good:
        raise value
    return value


# --- Handlers of other signals -----------------------------------------------

# Signals that do something unless they are handled, or that programs send.
_SIGNALS = tuple(int(getattr(signal, name)) for name in (
    "SIGALRM", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2",
    "SIGVTALRM", "SIGPROF", "SIGXCPU", "SIGIO"))
_get_handler = _signal.getsignal
_seen_handlers: Optional[tuple] = None  # and whether one is Python's:
_is_handled = False


def has_handlers() -> bool:
    """True if a Python handler of a signal other than SIGINT is installed. For
    the main thread, which alone installs them."""
    global _seen_handlers, _is_handled
    present = tuple(map(_get_handler, _SIGNALS))
    if present != _seen_handlers:
        _is_handled = any(map(callable, present))
        _seen_handlers = present
    return _is_handled


def patiently(out: ctypes.c_void_p,
              commit: Optional[Callable[[], int]] = None) -> int:
    """Waits for the command buffer in out, which commit may put there, between
    enter and leave, so that handlers run. One that raises cancels it. Returns
    the status."""
    try:
        status = commit() if commit else 0
        while not status and \
                mtl.mtl_command_buffer_get_status(out) < COMPLETED:
            mtl.mtl_command_buffer_wait_timeout(out, SLICE_NS)
        return status or mtl.mtl_command_buffer_wait(out)
    except BaseException:
        if out.value:
            _cancel_waited_for()
            mtl.mtl_command_buffer_wait(out)  # its memory is the program's
        raise


# --- Callbacks from threads of Mettle's --------------------------------------

_keys = itertools.count(1)
_called_back: Dict[int, Callable[[int], None]] = {}


def _on_event(context: Optional[int], _event: Any, value: int) -> None:
    function = _called_back.pop(context or 0, None)
    if function is not None:
        function(value)


_event_callback = EventCallback(_on_event)


def when_reached(event: Any, value: int,
                 function: Callable[[int], None]) -> None:
    """Calls function once event is at least value, on a thread of Mettle's."""
    key = next(_keys)
    _called_back[key] = function
    try:
        mtl.mtl_event_notify(event, value, _event_callback, key)
    except BaseException:
        _called_back.pop(key, None)
        raise


# --- Fork, and the end -------------------------------------------------------

def _after_fork() -> None:
    global main_thread, lock, waited_for, _write_end
    main_thread = get_ident()
    lock = threading.Lock()
    waited_for = None
    _write_end = -1  # the thread that reads is the parent's
    launch.mettle_watch_interrupts(-1)
    _called_back.clear()
    for queue in list(queues):
        queue._in_flight.clear()


def _at_exit() -> None:
    """No thread of Mettle's may call back into an interpreter that ends."""
    for queue in list(queues):
        for commands in list(queue._in_flight):
            if mtl.mtl_command_buffer_wait_timeout(
                    commands, int(EXIT_SECONDS * 1e9)):
                mtl.mtl_command_buffer_cancel(commands)
        queue._in_flight.clear()
    _called_back.clear()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
