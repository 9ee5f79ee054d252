# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""shader.py: kernels as Python functions, in the shape of
torch.mps.compile_shader.

A call packs its arguments (_arguments.py) and hands them to native/launch.c,
which records, commits and, if wanted, waits, without the GIL."""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_void_p
from typing import (Any, Dict, List, Mapping, Optional, Sequence, Tuple,
                    Union)

from . import _waiting, checking
from ._arguments import (THREADGROUP, Used, addressof, describe, from_buffer,
                         ndarray)
from ._native import failure, last_error, launch, mtl, triple
from .device import Device, default_device
from .errors import InvalidArgumentError, NotFoundError
from .library import Library, Pipeline
from .queue import CommandBuffer, Queue

Sizes = Union[int, Sequence[int]]
WAIT, THREADGROUPS = 1, 2  # mettle_launch_flags
NEARLY_FULL = 48  # in flight: the next may have to wait for room

_launch = launch.mettle_launch
_wait = mtl.mtl_command_buffer_wait
_pack_sizes = struct.Struct("<6I").pack
byref = ctypes.byref


def default_group(grid: Tuple[int, int, int], most: int) -> \
        Tuple[int, int, int]:
    """A threadgroup for a grid: as wide as it may be, then 32 wide and as
    high."""
    x, y, z = (max(side, 1) for side in grid)
    if y == 1 and z == 1:
        return (min(x, most), 1, 1)
    width = min(x, 32, most)
    height = min(y, max(1, most // width))
    return (width, height, min(z, max(1, most // (width * height)), 64))


def commit(queue: Queue, pipeline: Pipeline, words: List[int], count: int,
           sizes: bytes, flags: int, used: Used) -> CommandBuffer:
    """Runs one dispatch: words are four a mettle_argument."""
    if checking.active() is not None:
        return _commit_checked(queue, pipeline, words, count, sizes, flags)
    packed = _packer(count)(*words)
    out = c_void_p()
    if flags & WAIT:
        fd = _waiting.enter(out, queue)
        try:
            if fd >= 0 and _waiting.has_handlers():
                status = _waiting.patiently(out, lambda: _launch(
                    queue._as_parameter_, pipeline._as_parameter_, packed,
                    count, sizes, flags & ~WAIT, None, 0, fd, byref(out)))
            else:
                status = _launch(queue._as_parameter_, pipeline._as_parameter_,
                                 packed, count, sizes, flags, None, 0, fd,
                                 byref(out))
        except BaseException:
            if out.value:
                CommandBuffer(queue, out.value)  # releases it
            raise
        finally:
            if fd >= 0:
                _waiting.leave()
        if status:
            error = failure(status, last_error())
            if out.value:
                CommandBuffer(queue, out.value)  # releases it
            raise error
        assert out.value is not None
        return CommandBuffer(queue, out.value)
    return _commit_and_go_on(queue, pipeline, packed, count, sizes, flags, out,
                             used)


def _commit_checked(queue: Queue, pipeline: Pipeline, words: List[int],
                    count: int, sizes: bytes, flags: int) -> CommandBuffer:
    """Waits for the end; findings are mettle.check's to tell."""
    before = checking.instances()
    out = c_void_p()
    status = _launch(queue._as_parameter_,
                     pipeline.checked(checking.bits())._as_parameter_,
                     _packer(count)(*words), count, sizes, flags & ~WAIT, None,
                     0, -1, byref(out))
    if not status:
        status = _waiting.watched(_wait, out, queue, out)
    error = failure(status, last_error()) if status else None
    commands = CommandBuffer(queue, out.value) if out.value else None
    if error is not None and not checking.is_finding(error, before):
        raise error
    assert commands is not None
    return commands


def _commit_and_go_on(queue: Queue, pipeline: Pipeline, packed: bytes,
                      count: int, sizes: bytes, flags: int, out: c_void_p,
                      used: Used) -> CommandBuffer:
    with queue._lock:
        value = queue._value + 1
        arguments = (queue._as_parameter_, pipeline._as_parameter_, packed,
                     count, sizes, flags, queue._event._as_parameter_, value,
                     -1, byref(out))
        if len(queue._in_flight) < NEARLY_FULL:
            status = _launch(*arguments)
        else:
            status = _waiting.watched(_launch, c_void_p(), queue, *arguments)
        if status:
            raise failure(status, last_error())
        queue._value = value
        assert out.value is not None
        commands = CommandBuffer(queue, out.value)
        commands._value = value
        commands._keeps = used.keeps
        queue._track(commands)
    for resource in used.resources:
        resource._last = commands
    return commands


_packers: Dict[int, Any] = {}


def _packer(count: int) -> Any:
    found = _packers.get(count)
    if found is None:
        found = _packers[count] = struct.Struct("<" + "QQQQ" * count).pack
    return found


class ShaderFunction:
    """A kernel as a function: ``kernel(x, y, 0.5)``.

    Arguments come in the kernel's order or by its names: NumPy arrays, torch
    CPU tensors and whatever knows DLPack, used where they lie; mettle.Array
    and mettle.Buffer; numbers, which become what the kernel declares; lists,
    bytes and, for structs, dicts; textures, samplers, function tables.

    threads      the grid in threads; without it one for each of the first
                 array's elements as the kernel has them: a float4 is one
    group_size   the threads of a threadgroup
    arg_casts    "fp16", "fp32", "int8" ... for all numbers, or a list of
                 them: the bytes written, whatever the kernel declares
    threadgroup_memory  bytes of the [[threadgroup(n)]] arguments: one number,
                 or a dict by name
    wait         True waits for the end, False does not. None waits if an
                 argument is memory of another package's, which anybody may
                 read right after the call; Arrays, Buffers and textures know
                 what they have to wait for.

    Returns the command buffer: to be awaited or waited for, with its times."""

    def __init__(self, pipeline: Pipeline, queue: Queue) -> None:
        self.pipeline = pipeline
        self.queue = queue
        self._parameters, self._memory = describe(pipeline.arguments,
                                                  pipeline.device)
        self._most = pipeline.max_total_threads_per_threadgroup
        self._sizes: Dict[Any, bytes] = {}
        self.__name__ = pipeline.label
        self.__doc__ = f"{self.__name__}({', '.join(self.parameters)})"

    def __repr__(self) -> str:
        return f"<mettle kernel {self.__doc__}>"

    @property
    def parameters(self) -> List[str]:
        """The names of the arguments, in the order of a call."""
        return [parameter.name for parameter in self._parameters]

    def __call__(self, *args: Any, threads: Optional[Sizes] = None,
                 group_size: Optional[Sizes] = None, arg_casts: Union[
                     str, Sequence[Optional[str]], None] = None,
                 threadgroup_memory: Union[int, Mapping[str, int], None] =
                 None, wait: Optional[bool] = None, **named: Any) -> \
            CommandBuffer:
        parameters = self._parameters
        if named or len(args) != len(parameters):
            args = self._bind(args, named)
        words: List[int] = []
        used = Used()
        if arg_casts is None:
            for parameter, value in zip(parameters, args):
                if type(value) is not ndarray or \
                        value.dtype is not parameter.dtype:
                    parameter.add(words, value, used)
                    continue
                try:  # most calls are of this kind
                    words += (parameter.memory,
                              addressof(from_buffer(value)), 0, value.nbytes)
                except (TypeError, ValueError, BufferError):
                    parameter.add(words, value, used)
                    continue
                used.is_host = True
                if used.count is None:
                    used.count = value.size
        else:
            self._add_cast(words, args, arg_casts, used)
        if self._memory:
            self._add_memory(words, threadgroup_memory)
        if threads is None:
            threads = used.count
        try:
            sizes = self._sizes[threads, group_size]
        except (KeyError, TypeError):  # new, or lists
            sizes = self._make_sizes(threads, group_size)
        if wait is None:
            wait = used.is_host
        if not wait:
            used.keeps.append(args)
        return commit(self.queue, self.pipeline, words, len(words) // 4,
                      sizes, WAIT if wait else 0, used)

    def _make_sizes(self, threads: Any, group_size: Optional[Sizes]) -> bytes:
        if threads is None:
            raise InvalidArgumentError(
                f"{self.__name__}: without an array among the arguments, "
                "threads= says how many there are")
        grid = triple(threads, "threads")
        group = default_group(grid, self._most) if group_size is None else \
            triple(group_size, "group_size")
        sizes = _pack_sizes(*grid, *group)
        if len(self._sizes) < 64:
            try:
                self._sizes[threads, group_size] = sizes
            except TypeError:  # lists may change
                pass
        return sizes

    def _bind(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> \
            Tuple[Any, ...]:
        names = self.parameters
        if len(args) > len(names):
            raise TypeError(f"{self.__doc__} takes {len(names)} arguments, "
                            f"{len(args)} were given")
        values = dict(zip(names, args))
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"{self.__doc__} has no argument {name!r}")
            if name in values:
                raise TypeError(f"{self.__name__}: two values for {name!r}")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"{self.__doc__} misses "
                            f"{', '.join(map(repr, missing))}")
        return tuple(values[name] for name in names)

    def _add_cast(self, words: List[int], args: Sequence[Any],
                  arg_casts: Union[str, Sequence[Optional[str]]],
                  used: Used) -> None:
        casts: Sequence[Optional[str]] = [arg_casts] * len(args) \
            if isinstance(arg_casts, str) else arg_casts
        for i, (parameter, value) in enumerate(zip(self._parameters, args)):
            cast = casts[i] if i < len(casts) else None
            if cast is not None and isinstance(value, (int, float)):
                parameter.add_cast(words, value, cast)
            else:
                parameter.add(words, value, used)

    def _add_memory(self, words: List[int], memory: Union[
            int, Mapping[str, int], None]) -> None:
        for parameter in self._memory:
            length = memory.get(parameter.name) \
                if isinstance(memory, Mapping) else memory
            if length is None:
                raise TypeError(f"{self.__name__}: threadgroup_memory= says "
                                f"how many bytes {parameter.name!r} has")
            if length < 0:
                raise InvalidArgumentError(
                    f"{self.__name__}: {parameter.name!r} of {length} bytes")
            words += (parameter.word(THREADGROUP), 0, 0, (length + 15) & ~15)


class ShaderLibrary:
    """Kernels of one source, as attributes: ``library.saxpy(x, y, 0.5)``."""

    def __init__(self, library: Library, queue: Queue,
                 options: Dict[str, Any]) -> None:
        self._library = library
        self._queue = queue
        self._options = options

    def __repr__(self) -> str:
        return f"<mettle shader library: {', '.join(dir(self))}>"

    def __dir__(self) -> List[str]:
        return self._library.kernel_names

    def __getattr__(self, name: str) -> ShaderFunction:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            function = self.kernel(name)
        except NotFoundError as error:
            raise AttributeError(str(error)) from None
        setattr(self, name, function)
        return function

    def __getitem__(self, name: str) -> ShaderFunction:
        return self.kernel(name)

    @property
    def library(self) -> Library:
        """The library of the object model."""
        return self._library

    def kernel(self, name: str, constants: Optional[
            Mapping[Union[str, int], Any]] = None, **options: Any) -> \
            ShaderFunction:
        """A kernel by its name, with values for its function constants. The
        options are Pipeline's."""
        function = self._library.function(name, constants)
        return ShaderFunction(Pipeline(function,
                                       **{**self._options, **options}),
                              self._queue)


def compile_shader(source: str, *, device: Optional[Device] = None,
                   queue: Optional[Queue] = None, debug: bool = False,
                   **options: Any) -> ShaderLibrary:
    """Compiles MSL source; its kernels are functions of the result.

    queue     where calls run, one after the other; the device's own without
    debug     one thread at a time, unoptimised: for gdb, and for faults that
              are the same each time
    options   of Library.compile: macros, include_paths, headers, file_name,
              language_version, math_mode, permissive

        lib = mettle.compile_shader('''
        kernel void saxpy(device const float *x, device float *y,
                          constant float &a,
                          uint i [[thread_position_in_grid]]) {
          y[i] += a * x[i];
        }''')
        lib.saxpy(x, y, 0.5)
    """
    if queue is not None:
        device = queue.device
    device = device or default_device()
    library = Library.compile(device, source, debug=debug, **options)
    return ShaderLibrary(library, queue or device.queue,
                         {"debug": True} if debug else {})
