# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mettle.py: libmettle from Python, by ctypes over the public headers: enough
# to compile MSL and launch kernels on NumPy arrays.
#
#   device = Device()
#   library = device.library(source, include_paths=[...])
#   kernel = library.pipeline("saxpy", constants={0: np.bool_(True)})
#   kernel({0: x, 1: y, 2: np.float32(2)}, grid=(1000,), group=(256,))
import ctypes
import os

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))

MATH_FAST, MATH_RELAXED, MATH_SAFE = 0, 1, 2

# library.h: mtl_data_type
_TYPES = {np.bool_: 1, np.int8: 2, np.uint8: 3, np.int16: 4, np.uint16: 5,
          np.int32: 6, np.uint32: 7, np.int64: 8, np.uint64: 9,
          np.float16: 10, np.float32: 12}


class _Macro(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class _CompileOptions(ctypes.Structure):
    _fields_ = [("language_version", ctypes.c_int),
                ("math_mode", ctypes.c_int),
                ("macros", ctypes.POINTER(_Macro)),
                ("macro_count", ctypes.c_size_t),
                ("include_paths", ctypes.POINTER(ctypes.c_char_p)),
                ("include_path_count", ctypes.c_size_t),
                ("header_callback", ctypes.c_void_p),
                ("header_context", ctypes.c_void_p),
                ("file_name", ctypes.c_char_p),
                ("debug", ctypes.c_bool)]


class _BufferDesc(ctypes.Structure):
    _fields_ = [("length_bytes", ctypes.c_size_t),
                ("storage_mode", ctypes.c_int),
                ("hazard_tracking", ctypes.c_int),
                ("bytes", ctypes.c_void_p),
                ("no_copy_bytes", ctypes.c_void_p),
                ("deallocator", ctypes.c_void_p),
                ("deallocator_context", ctypes.c_void_p),
                ("guarded", ctypes.c_bool),
                ("label", ctypes.c_char_p)]


class _PipelineDesc(ctypes.Structure):
    _fields_ = [("max_total_threads_per_threadgroup", ctypes.c_uint32),
                ("label", ctypes.c_char_p),
                ("group_threads", ctypes.c_uint32 * 3),
                ("functions", ctypes.c_void_p),
                ("function_count", ctypes.c_size_t),
                ("private_functions", ctypes.c_void_p),
                ("private_function_count", ctypes.c_size_t),
                ("max_call_stack_depth", ctypes.c_uint32),
                ("debug", ctypes.c_bool),
                ("dump_after", ctypes.c_char_p),
                ("archives", ctypes.c_void_p),
                ("archive_count", ctypes.c_size_t),
                ("fail_on_archive_miss", ctypes.c_bool),
                ("report_code", ctypes.c_bool)]


class _Size(ctypes.Structure):
    _fields_ = [(axis, ctypes.c_uint32) for axis in "xyz"]


class Error(Exception):
    """A failed call of libmettle: its status' name and text."""


def _load():
    library = ctypes.CDLL(os.path.join(BUILD, "libmettle.so"))
    library.mtl_status_name.restype = ctypes.c_char_p
    library.mtl_last_error.restype = ctypes.c_char_p
    library.mtl_library_function_name.restype = ctypes.c_char_p
    library.mtl_library_function_count.restype = ctypes.c_size_t
    library.mtl_buffer_contents.restype = ctypes.c_void_p
    return library


_mettle = _load()


def _call(name, *arguments):
    status = getattr(_mettle, name)(*arguments)
    if status != 0:
        raise Error(_mettle.mtl_status_name(status).decode() + ": "
                    + _mettle.mtl_last_error().decode(errors="replace"))


def _make(name, *arguments):
    """Calls a function whose last argument receives the object."""
    out = ctypes.c_void_p()
    _call(name, *arguments, ctypes.byref(out))
    return out


class _Object:
    """Owns one reference of kind, mtl_<kind>_release ends it."""

    def __init__(self, kind, handle):
        self.kind, self.handle = kind, handle

    def __del__(self):
        if hasattr(self, "kind"):  # else it was never made
            getattr(_mettle, f"mtl_{self.kind}_release")(self.handle)


class Device(_Object):
    def __init__(self, name=None):
        super().__init__("device", _make("mtl_device_by_name", name.encode())
                         if name else _make("mtl_device_default"))
        self.queue = _Object("queue",
                             _make("mtl_queue_create", self.handle, None))

    def library(self, source, include_paths=(), macros=None, math=MATH_FAST,
                file_name=None, language=0):
        macros = macros or {}
        options = _CompileOptions(
            language_version=language, math_mode=math,
            macros=(_Macro * len(macros))(
                *(_Macro(k.encode(), v.encode()) for k, v in macros.items())),
            macro_count=len(macros),
            include_paths=(ctypes.c_char_p * len(include_paths))(
                *(path.encode() for path in include_paths)),
            include_path_count=len(include_paths),
            file_name=file_name.encode() if file_name else None)
        text = source.encode()
        return Library(self, _make("mtl_library_create_from_source",
                                   self.handle, text,
                                   ctypes.c_size_t(len(text)),
                                   ctypes.byref(options)))


class Library(_Object):
    def __init__(self, device, handle):
        super().__init__("library", handle)
        self.device = device

    def names(self):
        count = _mettle.mtl_library_function_count(self.handle)
        return [_mettle.mtl_library_function_name(
            self.handle, ctypes.c_size_t(i)).decode() for i in range(count)]

    def pipeline(self, name, constants=None, debug=False):
        """constants: NumPy scalars or vectors by index."""
        values = _Object("constant_values",
                         _make("mtl_constant_values_create"))
        for index, value in (constants or {}).items():
            value = np.atleast_1d(value)
            _call("mtl_constant_values_set", values.handle,
                  ctypes.c_uint32(index), _TYPES[value.dtype.type],
                  ctypes.c_uint32(value.size),
                  ctypes.c_void_p(value.ctypes.data))
        function = _Object("function", _make(
            "mtl_function_create", self.handle, name.encode(), values.handle))
        return Pipeline(self.device, function, debug)


class Padded:
    """An array with zeros behind it that a kernel may read: some read past
    the end, where their own programs have other data."""

    def __init__(self, array, bytes_behind):
        self.array, self.bytes_behind = array, bytes_behind


class Pipeline:
    """Made when it first runs: for the threadgroups that it then has."""

    def __init__(self, device, function, debug):
        self.device, self.function, self.debug = device, function, debug
        self.pipeline = None

    def _handle(self, group):
        if self.pipeline is None:
            desc = _PipelineDesc(
                debug=self.debug,
                group_threads=(ctypes.c_uint32 * 3)(
                    *group, *(1,) * (3 - len(group))))
            self.pipeline = _Object("pipeline", _make(
                "mtl_pipeline_create", self.function.handle,
                ctypes.byref(desc)))
        return self.pipeline.handle

    def __call__(self, arguments, group, grid=None, groups=None, memory=None):
        """Runs grid threads, or groups threadgroups, and waits.

        arguments: by buffer index. An array is a buffer, and has the kernel's
        results afterwards; a NumPy scalar or bytes are copied. Touching what
        lies behind an array's end, rounded up to 16 bytes, is an error, except
        behind a Padded one. memory: bytes of threadgroup memory by index."""
        commands = _Object("command_buffer", _make(
            "mtl_command_buffer_create", self.device.queue.handle, None))
        encoder = _Object("compute_encoder", _make(
            "mtl_compute_encoder_create", commands.handle, 0))
        _mettle.mtl_compute_encoder_set_pipeline(encoder.handle,
                                                 self._handle(group))
        buffers = []
        for index, value in arguments.items():
            self._bind(encoder, index, value, buffers)
        for index, length in (memory or {}).items():
            _mettle.mtl_compute_encoder_set_threadgroup_memory(
                encoder.handle, ctypes.c_size_t(length),
                ctypes.c_uint32(index))
        dispatch = ("dispatch_threads" if groups is None
                    else "dispatch_threadgroups")
        getattr(_mettle, f"mtl_compute_encoder_{dispatch}")(
            encoder.handle, _size(grid if groups is None else groups),
            _size(group))
        _call("mtl_compute_encoder_end", encoder.handle)
        _call("mtl_command_buffer_commit", commands.handle)
        status = _mettle.mtl_command_buffer_wait(commands.handle)
        if status != 0:
            text = ctypes.c_char_p()
            _mettle.mtl_command_buffer_error(commands.handle,
                                             ctypes.byref(text))
            raise Error(text.value.decode(errors="replace"))
        for array, buffer in buffers:
            ctypes.memmove(array.ctypes.data,
                           _mettle.mtl_buffer_contents(buffer.handle),
                           array.nbytes)

    def _bind(self, encoder, index, value, buffers):
        if isinstance(value, (bytes, np.generic)):
            text = value if isinstance(value, bytes) else value.tobytes()
            _mettle.mtl_compute_encoder_set_bytes(
                encoder.handle, text, ctypes.c_size_t(len(text)),
                ctypes.c_uint32(index))
            return None
        behind = 0
        if isinstance(value, Padded):
            value, behind = value.array, value.bytes_behind
        if not value.flags.c_contiguous:
            raise ValueError(f"buffer {index} is not contiguous")
        for array, buffer in buffers:  # bound twice, in two places
            if array.ctypes.data == value.ctypes.data:
                return self._set_buffer(encoder, index, buffer)
        desc = _BufferDesc(length_bytes=max(value.nbytes + behind, 16),
                           guarded=True)
        buffer = _Object("buffer", _make(
            "mtl_buffer_create", self.device.handle, ctypes.byref(desc)))
        ctypes.memmove(_mettle.mtl_buffer_contents(buffer.handle),
                       value.ctypes.data, value.nbytes)
        buffers.append((value, buffer))
        return self._set_buffer(encoder, index, buffer)

    def _set_buffer(self, encoder, index, buffer):
        _mettle.mtl_compute_encoder_set_buffer(
            encoder.handle, buffer.handle, ctypes.c_size_t(0),
            ctypes.c_uint32(index))


def _size(threads):
    return _Size(*threads, *(1,) * (3 - len(threads)))
