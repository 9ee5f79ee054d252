# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""timing.py: how long kernels take, on the device and with the call."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable, List, NamedTuple

from .queue import CommandBuffer


class Timing(NamedTuple):
    """Seconds of one call: of the device's work, and from the call to the
    end of the wait."""

    device: float  # the median
    device_best: float
    host: float  # the median
    host_best: float
    calls: int

    def __str__(self) -> str:
        return (f"{_text(self.device)} on the device (best "
                f"{_text(self.device_best)}), {_text(self.host)} with the call"
                f" (best {_text(self.host_best)}), {self.calls} calls")


def _text(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _command_buffers(result: Any) -> List[CommandBuffer]:
    """Those of a call's result: a command buffer, an array, or several."""
    if isinstance(result, CommandBuffer):
        return [result]
    if isinstance(result, (list, tuple)):
        found = [c for one in result for c in _command_buffers(one)]
        return list({c.handle: c for c in found}.values())
    last = getattr(getattr(result, "buffer", None), "_last", None)
    return [last] if last is not None else []


def timeit(function: Callable[..., Any], *args: Any, seconds: float = 0.2,
           least: int = 10, **options: Any) -> Timing:
    """Calls a kernel again and again, after a first call that may compile:
    ``print(mettle.timeit(lib.saxpy, x, y, 0.5))``.

    seconds   of calls in all
    least     calls at least
    args, options   those of function"""
    for commands in _command_buffers(function(*args, **options)):
        commands.wait()
    device: List[float] = []
    host: List[float] = []
    end = time.perf_counter() + seconds
    while len(host) < least or time.perf_counter() < end:
        start = time.perf_counter()
        work = _command_buffers(function(*args, **options))
        for commands in work:
            commands.wait()
        host.append(time.perf_counter() - start)
        device.append(sum(commands.device_time for commands in work))
    return Timing(statistics.median(device), min(device),
                  statistics.median(host), min(host), len(host))
