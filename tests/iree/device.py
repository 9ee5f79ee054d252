# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# device.py: runs IREE's commands on Mettle, each dispatch as IREE's drivers
# do: a struct of addresses at [[buffer(0)]], constants at [[buffer(3)]].
import ctypes
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "corpus"))
import mettle  # noqa: E402

_API = mettle._mettle
_API.mtl_buffer_gpu_address.restype = ctypes.c_uint64
_API.mtl_argument_encoder_encoded_length.restype = ctypes.c_size_t
_API.mtl_argument_encoder_offset.argtypes = (
    ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_size_t))
NOT_FOUND = 4
READ_WRITE = 3
CONSTANTS = 3


class Kernel:
    """A function of an executable, compiled and reflected."""

    def __init__(self, device, library, function):
        self.device, self.function = device, function
        handle = mettle._make("mtl_function_create", library.handle,
                              function.entry_point.encode(), None)
        self.metal = mettle._Object("function", handle)
        self.pipeline = mettle.Pipeline(device, self.metal, False)
        self.offsets, self.struct_bytes = self._reflect()

    def _reflect(self):
        """Where binding n lies in the struct; a kernel leaves out what it
        does not use."""
        encoder = mettle._Object("argument_encoder", mettle._make(
            "mtl_argument_encoder_create", self.metal.handle, 0))
        offsets = {}
        for n in range(self.function.bindings):
            offset = ctypes.c_size_t()
            status = _API.mtl_argument_encoder_offset(
                encoder.handle, n, ctypes.byref(offset))
            if status == 0:
                offsets[n] = offset.value
            elif status != NOT_FOUND:
                raise mettle.Error(_API.mtl_last_error().decode())
        return offsets, _API.mtl_argument_encoder_encoded_length(
            encoder.handle)

    def encode(self, encoder, buffers, dispatch):
        arguments = bytearray(self.struct_bytes)
        for n, r in enumerate(dispatch.bindings):
            if n not in self.offsets:
                continue
            buffer = buffers[r.buffer]
            struct.pack_into(
                "<Q", arguments, self.offsets[n],
                _API.mtl_buffer_gpu_address(buffer.handle) + r.offset)
            _API.mtl_compute_encoder_use_buffer(encoder.handle, buffer.handle,
                                                READ_WRITE)
        _API.mtl_compute_encoder_set_pipeline(
            encoder.handle, self.pipeline._handle(self.function.group))
        _set_bytes(encoder, bytes(arguments), 0)
        if dispatch.constants:
            _set_bytes(encoder, struct.pack(
                f"<{len(dispatch.constants)}I",
                *(c % (1 << 32) for c in dispatch.constants)), CONSTANTS)
        _API.mtl_compute_encoder_dispatch_threadgroups(
            encoder.handle, mettle._size(tuple(dispatch.groups)),
            mettle._size(tuple(self.function.group)))


def _set_bytes(encoder, text, index):
    _API.mtl_compute_encoder_set_bytes(encoder.handle, text,
                                       ctypes.c_size_t(len(text)),
                                       ctypes.c_uint32(index))


def _contents(buffer, length):
    address = _API.mtl_buffer_contents(buffer.handle)
    return np.ctypeslib.as_array((ctypes.c_uint8 * length).from_address(
        address))


def _fill(commands, buffers, fill):
    encoder = mettle._Object("blit_encoder", mettle._make(
        "mtl_blit_encoder_create", commands.handle))
    _API.mtl_blit_encoder_fill_pattern(
        encoder.handle, buffers[fill.target.buffer].handle,
        ctypes.c_size_t(fill.target.offset),
        ctypes.c_size_t(fill.target.length), fill.pattern,
        ctypes.c_size_t(len(fill.pattern)))
    mettle._call("mtl_blit_encoder_end", encoder.handle)


def _copy(commands, buffers, copy):
    encoder = mettle._Object("blit_encoder", mettle._make(
        "mtl_blit_encoder_create", commands.handle))
    _API.mtl_blit_encoder_copy(
        encoder.handle, buffers[copy.source.buffer].handle,
        ctypes.c_size_t(copy.source.offset),
        buffers[copy.target.buffer].handle,
        ctypes.c_size_t(copy.target.offset),
        ctypes.c_size_t(copy.target.length))
    mettle._call("mtl_blit_encoder_end", encoder.handle)


def _dispatch(commands, kernel, buffers, dispatch):
    encoder = mettle._Object("compute_encoder", mettle._make(
        "mtl_compute_encoder_create", commands.handle, 0))
    kernel.encode(encoder, buffers, dispatch)
    mettle._call("mtl_compute_encoder_end", encoder.handle)


def run(device, kernels, program, inputs):
    """Runs a program on arrays; returns the bytes of its results."""
    buffers = {}
    for name, length in program.lengths.items():
        desc = mettle._BufferDesc(length_bytes=max(length, 16), guarded=True)
        buffers[name] = mettle._Object("buffer", mettle._make(
            "mtl_buffer_create", device.handle, ctypes.byref(desc)))
    for name, array in zip(program.inputs, inputs):
        if name in buffers:
            _contents(buffers[name], array.nbytes)[:] = np.frombuffer(
                array.tobytes(), np.uint8)
    commands = mettle._Object("command_buffer", mettle._make(
        "mtl_command_buffer_create", device.queue.handle, None))
    for command in program.commands:
        if hasattr(command, "pattern"):
            _fill(commands, buffers, command)
        elif hasattr(command, "source"):
            _copy(commands, buffers, command)
        else:
            _dispatch(commands, kernels[command.executable, command.function],
                      buffers, command)
    mettle._call("mtl_command_buffer_commit", commands.handle)
    if _API.mtl_command_buffer_wait(commands.handle) != 0:
        text = ctypes.c_char_p()
        _API.mtl_command_buffer_error(commands.handle, ctypes.byref(text))
        raise mettle.Error(text.value.decode(errors="replace"))
    return [_contents(buffers[r.buffer], r.offset + r.length)[r.offset:]
            .tobytes() for r in program.results]
