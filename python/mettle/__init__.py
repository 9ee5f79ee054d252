# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metal compute for every machine, from Python.

    import mettle, numpy as np
    lib = mettle.compile_shader('''
    kernel void saxpy(device const float *x, device float *y,
                      constant float &a, uint i [[thread_position_in_grid]]) {
      y[i] += a * x[i];
    }''')
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    lib.saxpy(x, y, 0.5)

compile_shader has the shape of torch.mps.compile_shader and
fast.metal_kernel that of mlx.core.fast.metal_kernel; Device, Queue,
CommandBuffer and the rest are Metal's object model."""

from . import fast
from ._native import mtl as _mtl
from .archive import BinaryArchive
from .array import Array, array, asarray, empty, full, ones, zeros
from .buffer import Buffer
from .checking import Finding, Place, check
from .counters import CounterSampleBuffer, WorkTime
from .device import Device, Family, default_device, devices
from .encoder import BlitEncoder, ComputeEncoder
from .errors import (BadDataError, CancelledError, CompileError,
                     CompilerLostError, FileError, FindingsError,
                     InvalidArgumentError,
                     InvalidStateError, KernelFaultError, MettleError,
                     NotFoundError, OutOfMemoryError, TimedOutError,
                     UnsupportedError)
from .event import Event, Fence
from .function_table import ArgumentEncoder, FunctionHandle, FunctionTable
from .heap import Heap, ResidencySet, SizeAndAlign
from .indirect import IndirectCommand, IndirectCommandBuffer
from .library import (Argument, Constant, Function, Library, Member,
                      Pipeline)
from .log import LogLevel, LogMessage, LogState
from .model import Model, load_model
from .queue import CommandBuffer, Queue, Status, Times
from .shader import ShaderFunction, ShaderLibrary, compile_shader
from .tensor import Tensor
from .texture import PixelFormat, Sampler, Texture
from .timing import Timing, timeit

__version__: str = _mtl.mtl_version()


def synchronize() -> None:
    """Waits for all that compile_shader's and metal_kernel's functions have
    started on the default device."""
    default_device().queue.synchronize()


__all__ = [
    "Argument", "ArgumentEncoder", "Array", "BadDataError", "BinaryArchive",
    "BlitEncoder", "Buffer", "CancelledError", "CommandBuffer", "CompileError",
    "CompilerLostError", "ComputeEncoder", "Constant", "CounterSampleBuffer",
    "Device", "Event", "Family", "Fence", "FileError", "Finding",
    "FindingsError", "Function", "FunctionHandle", "FunctionTable", "Heap",
    "IndirectCommand", "IndirectCommandBuffer", "InvalidArgumentError",
    "InvalidStateError", "KernelFaultError", "Library", "LogLevel",
    "LogMessage", "LogState", "Member", "MettleError", "Model",
    "NotFoundError", "OutOfMemoryError", "Pipeline", "PixelFormat", "Place",
    "Queue", "ResidencySet", "Sampler", "ShaderFunction", "ShaderLibrary",
    "SizeAndAlign", "Status", "Tensor", "Texture", "TimedOutError", "Times",
    "Timing", "UnsupportedError", "WorkTime", "array", "asarray", "check",
    "compile_shader", "default_device", "devices", "empty", "fast", "full",
    "load_model", "ones", "synchronize", "timeit", "zeros"]
