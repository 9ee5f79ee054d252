# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fast.py: kernels of their bodies alone, in the shape of
mlx.core.fast.metal_kernel, so that what is written for MLX runs unchanged.

The signature is made from the inputs of a call: an input of a few elements is
constant, one without dimensions a reference, and its shape, strides and number
of dimensions are parameters if the body names them."""

from __future__ import annotations

import ctypes
import inspect
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, \
    Sequence, Tuple, Union

import numpy as np

from . import _dtypes, _gpu, _host
from ._arguments import BUFFER, BYTES, MEMORY, Used
from ._native import triple
from ._prelude import ATTRIBUTES, PRELUDE
from .array import Array, empty, over_gpu
from .device import Device, default_device
from .errors import InvalidArgumentError
from .library import Library, Pipeline
from .shader import WAIT, _pack_sizes, commit

OPTIONS = inspect.signature(Library.compile).parameters.keys() - {
    "device", "source", "file_name"}
CONSTANT_SIZE = 8  # MLX: an input of fewer elements is constant
Pairs = Sequence[Tuple[str, Any]]
Template = Union[Pairs, Mapping[str, Any]]


class _Input(NamedTuple):
    """An input as the kernel gets it: of Mettle's memory or of the host's."""

    array: Optional[Array]
    host: Optional[np.ndarray]
    is_ours: bool  # nobody else can change it; else the call waits
    msl: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # elements
    size: int


def _host_input(value: Any, row_contiguous: bool) -> _Input:
    is_ours = not _host.is_array(value)
    if is_ours:
        host = np.asarray(value) if isinstance(value, np.generic) \
            else _host.of_python(value)
    else:
        host = _host.as_numpy(value)
    if row_contiguous and not host.flags.c_contiguous:
        host, is_ours = np.ascontiguousarray(host), True
    steps = tuple(step // host.itemsize for step in host.strides)
    return _Input(None, host, is_ours, _dtypes.msl_type(host.dtype),
                  host.shape, steps, host.size)


def _input(value: Any, row_contiguous: bool, device: Device) -> _Input:
    is_ours = _gpu.gpu_of(value) is None or isinstance(value, Array)
    if not is_ours:
        value = over_gpu(value, device)
    if isinstance(value, Array):
        return _Input(value, None, is_ours, _dtypes.msl_type(value.dtype),
                      value.shape, _host.row_strides(value.shape), value.size)
    return _host_input(value, row_contiguous)


def _extent(host: np.ndarray) -> Tuple[int, int, int]:
    """(lowest address, offset of element 0, length) of an array, however it
    is strided."""
    first = host.ctypes.data
    low = high = first
    for side, step in zip(host.shape, host.strides):
        if side > 1:
            low += min(0, (side - 1) * step)
            high += max(0, (side - 1) * step)
    return low, first - low, high + host.itemsize - low


def _template_words(template: Pairs) -> Tuple[List[str], List[str]]:
    """(parameters, arguments) of the kernel's template."""
    parameters, arguments = [], []
    for name, value in template:
        if isinstance(value, (bool, np.bool_)):
            parameters.append(f"bool {name}")
            arguments.append("true" if value else "false")
        elif isinstance(value, (int, np.integer)):
            parameters.append(f"int {name}")
            arguments.append(str(int(value)))
        else:
            if isinstance(value, (float, complex)):
                raise TypeError(f"template {name!r} is a type, an integer or "
                                f"a truth value, not {value!r}")
            parameters.append(f"typename {name}")
            arguments.append(_dtypes.msl_type(value))
    return parameters, arguments


class MetalKernel:
    """What metal_kernel makes; called once and again with inputs."""

    def __init__(self, name: str, input_names: Sequence[str],
                 output_names: Sequence[str], source: str, header: str,
                 ensure_row_contiguous: bool, atomic_outputs: bool,
                 device: Optional[Device], options: Dict[str, Any]) -> None:
        if not re.fullmatch(r"\w+", name, re.ASCII):
            raise InvalidArgumentError(f"metal_kernel {name!r}: the name is "
                                       "part of a function's, of letters, "
                                       "digits and _")
        for what, names in (("input_names", input_names),
                            ("output_names", output_names)):
            if isinstance(names, str):
                raise TypeError(f"metal_kernel {name!r}: {what} is a list of "
                                f"names, not {names!r}")
        for option in options:
            if option not in OPTIONS:
                raise TypeError(f"metal_kernel {name!r} has no option "
                                f"{option!r}; there are "
                                f"{', '.join(sorted(OPTIONS))}")
        if not output_names:
            raise InvalidArgumentError(f"metal_kernel {name!r}: it has no "
                                       "outputs")
        self.name = name
        self.input_names = list(input_names)
        self.output_names = list(output_names)
        self.source = source
        self.header = header
        self.ensure_row_contiguous = ensure_row_contiguous
        self.atomic_outputs = atomic_outputs
        self._device = device
        self._options = options
        self._pipelines: Dict[Any, Pipeline] = {}
        words = set(re.findall(r"\w+", source))
        self._attributes = [a for a in ATTRIBUTES if a in words]
        # For each input: which of its _shape, _strides and _ndim are named.
        self._details = [[detail for detail in ("shape", "strides", "ndim")
                          if f"{name}_{detail}" in words]
                         for name in self.input_names]

    def __repr__(self) -> str:
        return (f"<mettle.fast.metal_kernel {self.name}"
                f"({', '.join(self.input_names)}) -> "
                f"{', '.join(self.output_names)}>")

    # --- the source

    def _parameters(self, inputs: Sequence[_Input],
                    dtypes: Sequence[np.dtype]) -> List[str]:
        found: List[str] = []

        def add(text: str) -> None:
            found.append(f"{text} [[buffer({len(found)})]]")
        for name, given, details in zip(self.input_names, inputs,
                                        self._details):
            space = "constant" if given.size < CONSTANT_SIZE else "device"
            mark = "*" if given.shape else "&"
            add(f"const {space} {given.msl}{mark} {name}")
            for detail in details if given.shape else ():
                add({"shape": f"const constant int* {name}_shape",
                     "strides": f"const constant int64_t* {name}_strides",
                     "ndim": f"const constant int& {name}_ndim"}[detail])
        for name, dtype in zip(self.output_names, dtypes):
            msl = _dtypes.msl_type(dtype)
            if self.atomic_outputs:
                msl = f"atomic<{msl}>"
            add(f"device {msl}* {name}")
        return found + [f"{ATTRIBUTES[name]} {name} [[{name}]]"
                        for name in self._attributes]

    def _text(self, inputs: Sequence[_Input], dtypes: Sequence[np.dtype],
              template: Pairs) -> str:
        parameters, arguments = _template_words(template)
        signature = ",\n    ".join(self._parameters(inputs, dtypes))
        function = f"custom_kernel_{self.name}"
        # Errors, findings and faults have the lines that the caller wrote.
        text = [PRELUDE, f'#line 1 "{self.name}.header"', self.header,
                f'#line 1 "{self.name}.signature"']
        if parameters:
            text.append(f"template <{', '.join(parameters)}>")
        text.append(f"[[kernel]] void {function}(\n    {signature}) {{\n"
                    f'#line 1 "{self.name}"\n{self.source}\n}}')
        if parameters:
            instance = f"{function}<{', '.join(arguments)}>"
            text.append(f'#line 1 "{self.name}.instance"\n'
                        f'template [[host_name("{function}")]] [[kernel]] '
                        f"decltype({instance}) {instance};")
        return "\n".join(text) + "\n"

    def _pipeline(self, inputs: Sequence[_Input], dtypes: Sequence[np.dtype],
                  template: Pairs, verbose: bool) -> Pipeline:
        key = (tuple((i.msl, i.size < CONSTANT_SIZE, bool(i.shape))
                     for i in inputs), tuple(dtypes),
               tuple((name, value if isinstance(value, (bool, int))
                      else _dtypes.name_of(value), type(value) is bool)
                     for name, value in template))
        found = self._pipelines.get(key)
        text = ""
        if found is None or verbose:
            text = self._text(inputs, dtypes, template)
            if verbose:
                shown = re.sub(r"^#line .*\n", "", text[len(PRELUDE):],
                               flags=re.MULTILINE)
                print(f"Generated source code for `{self.name}`:\n```"
                      f"{shown}\n```")
        if found is None:
            library = Library.compile(self._device or default_device(), text,
                                      file_name=None, **self._options)
            found = library[f"custom_kernel_{self.name}"].pipeline(
                debug=bool(self._options.get("debug")))
            self._pipelines[key] = found
        return found

    # --- a call

    def __call__(self, *, inputs: Sequence[Any], output_shapes: Sequence[
            Sequence[int]], output_dtypes: Sequence[Any], grid: Sequence[int],
                 threadgroup: Sequence[int], template: Optional[Template] =
                 None, init_value: Optional[float] = None,
                 verbose: bool = False, stream: Any = None,
                 wait: Optional[bool] = None) -> List[Array]:
        """Runs the kernel; returns its outputs.

        inputs         arrays of any package, in the host's memory, or numbers
        output_shapes  one for each output, as output_dtypes
        grid           threads along x, y and z
        threadgroup    threads of a threadgroup, no longer than the grid
        template       (name, value) of types, integers and truth values
        init_value     what outputs hold before; without it zeros
        verbose        prints the source that is compiled
        wait           None waits if an input is memory of another package's
        stream         MLX's; there is one queue"""
        pairs = list(template.items()) if isinstance(template, Mapping) else \
            list(template or [])
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"metal_kernel {self.name!r}: template holds "
                                "pairs of a name and a value, not "
                                f"{pair!r}")
        self._check(inputs, output_shapes, output_dtypes)
        dtypes = [_dtypes.to_numpy(dtype) for dtype in output_dtypes]
        given = [self._given(name, value)
                 for name, value in zip(self.input_names, inputs)]
        pipeline = self._pipeline(given, dtypes, pairs, verbose)
        outputs = [empty(shape, dtype, device=pipeline.device)
                   for shape, dtype in zip(output_shapes, dtypes)]
        if init_value is not None:
            for output in outputs:
                output.numpy()[...] = init_value
        used = Used()
        words = self._words(given, outputs, used)
        sizes = self._sizes(grid, threadgroup, pipeline)
        if wait is None:
            wait = used.is_host
        commit(pipeline.device.queue, pipeline, words, len(words) // 4, sizes,
               WAIT if wait else 0, used)
        return outputs

    def _given(self, name: str, value: Any) -> _Input:
        try:
            return _input(value, self.ensure_row_contiguous,
                          self._device or default_device())
        except TypeError as error:
            raise TypeError(f"metal_kernel {self.name!r}, input {name!r}: "
                            f"{error}") from None

    def _check(self, inputs: Sequence[Any], shapes: Sequence[Any],
               dtypes: Sequence[Any]) -> None:
        for what, values, names in (
                ("inputs", inputs, self.input_names),
                ("output_shapes", shapes, self.output_names),
                ("output_dtypes", dtypes, self.output_names)):
            if isinstance(values, (str, type)) or \
                    not hasattr(values, "__len__"):
                raise TypeError(f"metal_kernel {self.name!r}: {what} is a "
                                f"list, not {values!r}")
            if len(values) != len(names):
                raise InvalidArgumentError(
                    f"metal_kernel {self.name!r}: {what} has {len(values)} "
                    f"entries for {len(names)} names")

    def _sizes(self, grid: Sequence[int], threadgroup: Sequence[int],
               pipeline: Pipeline) -> bytes:
        threads = triple(grid, "grid")
        group = triple(threadgroup, "threadgroup")
        count = group[0] * group[1] * group[2]
        most = pipeline.max_total_threads_per_threadgroup
        if count > most:
            raise InvalidArgumentError(
                f"metal_kernel {self.name!r}: a threadgroup of {count} "
                f"threads; {most} are possible")
        return _pack_sizes(*threads, *map(min, group, threads))

    def _words(self, inputs: Sequence[_Input], outputs: Sequence[Array],
               used: Used) -> List[int]:
        words: List[int] = []

        def add(kind: int, item: int, offset: int, length: int) -> None:
            words.extend((kind | (len(words) // 4) << 32, item, offset,
                          length))

        def add_bytes(values: Any, dtype: str) -> None:
            raw = np.asarray(values, dtype).tobytes()
            held = ctypes.create_string_buffer(raw, len(raw))
            used.keeps.append(held)
            add(BYTES, ctypes.addressof(held), 0, len(raw))
        for given, details in zip(inputs, self._details):
            if given.array is not None:
                add(BUFFER, given.array.buffer.handle, given.array.offset, 0)
                used.resources.append(given.array.buffer)
                used.keeps.append(given.array)
            else:
                host = given.host
                assert host is not None
                if host.size == 0:  # there is nothing to read
                    host = np.zeros(1, np.uint64)
                used.keeps.append(host)
                add(MEMORY, *_extent(host))
            used.is_host = used.is_host or not given.is_ours
            for detail in details if given.shape else ():
                if detail == "shape":
                    add_bytes(given.shape, "int32")
                elif detail == "strides":
                    add_bytes(given.strides, "int64")
                else:
                    add_bytes(len(given.shape), "int32")
        for output in outputs:
            add(BUFFER, output.buffer.handle, output.offset, 0)
            used.resources.append(output.buffer)
        return words


def metal_kernel(name: str, input_names: Sequence[str],
                 output_names: Sequence[str], source: str, header: str = "",
                 ensure_row_contiguous: bool = True,
                 atomic_outputs: bool = False, *,
                 device: Optional[Device] = None, **options: Any) -> \
        MetalKernel:
    """Makes a kernel of its body. Parameters are mlx.core.fast.metal_kernel's.

    source      the body; it names inputs, outputs, INPUT_shape, _strides and
                _ndim, and Metal's attributes (thread_position_in_grid, ...)
    header      goes in front of the kernel
    ensure_row_contiguous  copies inputs whose elements lie otherwise
    atomic_outputs         outputs are device atomic<T>*
    options     of Library.compile: math_mode, macros, ...; debug=True runs
                threads one at a time, in turns

        exp = mettle.fast.metal_kernel(
            name="exp", input_names=["x"], output_names=["y"],
            source="uint i = thread_position_in_grid.x; y[i] = exp(x[i]);")
        y, = exp(inputs=[x], grid=(x.size, 1, 1), threadgroup=(256, 1, 1),
                 output_shapes=[x.shape], output_dtypes=[np.float32])
    """
    return MetalKernel(name, input_names, output_names, source, header,
                       ensure_row_contiguous, atomic_outputs, device, options)
