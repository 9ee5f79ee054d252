# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""library.py: MSL source, compiled; its functions, their arguments, and
pipelines."""

from __future__ import annotations

import ctypes
import os
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping,
                    NamedTuple, Optional, Sequence, Tuple, Union)

import numpy as np

from . import _dtypes, _native, _structures, _waiting, checking
from ._handle import Handle, handles
from ._native import encode, make, mtl
from .errors import (InvalidArgumentError, NotFoundError,
                     UnsupportedError)

if TYPE_CHECKING:
    from .archive import BinaryArchive
    from .device import Device
    from .function_table import FunctionHandle, FunctionTable

LANGUAGES = {None: 0, "2.4": 240, "3.0": 300, "3.1": 310, "3.2": 320,
             "4.0": 400, "4.1": 410}
MATH_MODES = {"fast": 0, "relaxed": 1, "safe": 2}
KINDS = ["buffer", "threadgroup", "texture", "sampler", "function_table"]
ACCESSES = ["read", "read_write", "write"]
TEXTURE_TYPES = ["", "1d", "1d_array", "2d", "2d_array", "2d_multisample",
                 "2d_multisample_array", "cube", "cube_array", "3d", "buffer"]
Headers = Union[Mapping[str, str], Callable[[str], Optional[str]], None]


class Member(NamedTuple):
    """A member of a struct, as MSL lays it out."""

    name: str
    type_name: str  # of one element, as written
    type: str  # of a component: "float"; "" for a struct or a pointer
    components: int
    columns: int
    offset: int  # bytes
    size: int  # bytes of one element
    array_length: int
    members: Tuple[Any, ...]  # of Member


class Argument(NamedTuple):
    """An argument of a function, as the compiler sees it."""

    name: str
    kind: str  # "buffer", "threadgroup", "texture", "sampler" or
    #            "function_table"
    index: int  # type: ignore[assignment]  # in the table of its kind
    access: str  # "read", "read_write" or "write"
    type_name: str  # of the pointee, as written
    type: str  # of the pointee's elements: "float"; "" for a struct
    components: int
    size: int  # bytes of the pointee
    alignment: int
    is_reference: bool
    is_active: bool
    array_length: int
    texture_type: str  # "2d", of a texture
    is_depth: bool
    members: Tuple[Member, ...]
    tensor_extents: Tuple[int, ...]  # of a tensor, innermost first; -1 if known
    #                                  at run time alone; () for all others


class Constant(NamedTuple):
    """A function constant that a library declares."""

    name: str
    index: int  # type: ignore[assignment]
    type: str
    components: int
    required: bool


def _members(pointer: Any, count: int) -> Tuple[Member, ...]:
    return tuple(Member(
        (m.name or b"").decode(), (m.type_name or b"").decode(),
        _dtypes.MSL_NAMES[m.type], m.components, m.columns, m.offset_bytes,
        m.size_bytes, m.array_length, _members(m.members, m.member_count))
        for m in (pointer[i] for i in range(count)))


def read_arguments(function: Callable[..., Any], owner: Any) -> \
        Tuple[Argument, ...]:
    """The arguments that a function of the C API lists for owner."""
    count = ctypes.c_size_t()
    address = function(owner, ctypes.byref(count))
    if not count.value:
        return ()
    table = (_structures.ArgumentInfo * count.value).from_address(address)
    return tuple(Argument(
        (a.name or b"").decode(), KINDS[a.kind], a.index, ACCESSES[a.access],
        (a.type_name or b"").decode(), _dtypes.MSL_NAMES[a.type],
        a.components, a.size_bytes, a.alignment_bytes, a.is_reference,
        a.is_active, a.array_length, TEXTURE_TYPES[a.texture_type],
        a.is_depth_texture, _members(a.members, a.member_count),
        tuple(a.tensor_extents[i] for i in range(a.tensor_rank)))
        for a in table)


def _macro_text(value: Any) -> Optional[bytes]:
    if value is None:
        return None
    if isinstance(value, bool):
        return b"1" if value else b"0"
    return str(value).encode()


def header_callback(headers: Headers, keep: List[Any]) -> Any:
    """A callback that finds headers in a mapping or by a function. What it
    gives out stays in keep."""
    if headers is None:
        return _structures.HeaderCallback()
    find = headers.get if isinstance(headers, Mapping) else headers

    def call(_context: Any, name: bytes, out_text: Any, out_length: Any) -> \
            bool:
        try:
            text = find(name.decode(errors="replace"))
        except Exception as error:  # is raised when the compiler returns
            keep.append(error)
            return False
        if text is None:
            return False
        raw = text.encode()
        keep.append(raw)
        out_text[0] = ctypes.cast(ctypes.c_char_p(raw), ctypes.c_void_p)
        out_length[0] = len(raw)
        return True
    return _structures.HeaderCallback(call)


def _constants_at(address: Any, count: int) -> Dict[str, Constant]:
    if not count:
        return {}
    table = (_structures.ConstantInfo * count).from_address(address)
    return {c.name.decode(): Constant(
        c.name.decode(), c.index, _dtypes.MSL_NAMES[c.type], c.components,
        c.required) for c in table}


class Library(Handle):
    """Compiled functions. ``library["name"]`` is one of them."""

    __slots__ = ("device",)
    _release = mtl.mtl_library_release

    def __init__(self, device: "Device", handle: int) -> None:
        self.device = device
        super().__init__(handle)

    @classmethod
    def compile(cls, device: "Device", source: str, *,
                macros: Optional[Mapping[str, Any]] = None,
                include_paths: Union[str, os.PathLike, Sequence[Union[
                    str, os.PathLike]]] = (), headers: Headers = None,
                file_name: Optional[str] = None,
                language_version: Optional[str] = None,
                math_mode: str = "fast", debug: bool = False,
                permissive: bool = False) -> "Library":
        """Compiles MSL source.

        macros           names and values; None for a value means 1
        include_paths    folders that the source may include from
        headers          more headers: a mapping of names to texts, or a
                         function of a name that returns the text or None
        file_name        shown in diagnostics; its folder may be included from
        language_version "2.4" to "4.1"; None for 3.2
        math_mode        "fast", "relaxed" or "safe"
        debug            for gdb: one thread at a time, unoptimised
        permissive       what Metal refuses and Mettle can compile is a warning

        CompileError has all diagnostics."""
        if math_mode not in MATH_MODES:
            raise InvalidArgumentError(f"math_mode {math_mode!r} is none of "
                                       f"{', '.join(MATH_MODES)}")
        if language_version not in LANGUAGES:
            raise InvalidArgumentError(f"language_version "
                                       f"{language_version!r} is none of "
                                       "2.4, 3.0, 3.1, 3.2, 4.0, 4.1")
        if not isinstance(source, str):
            raise TypeError("source is the text of a kernel, a str, not "
                            f"{type(source).__name__}")
        if isinstance(include_paths, (str, os.PathLike)):
            include_paths = [include_paths]
        text = source.encode()
        names = dict(macros or {})
        table = (_structures.Macro * len(names))(*(
            _structures.Macro(name.encode(), _macro_text(value))
            for name, value in names.items()))
        paths = (ctypes.c_char_p * len(include_paths))(*(
            os.fsencode(path) for path in include_paths))
        keep: List[Any] = []
        options = _structures.CompileOptions(
            language_version=LANGUAGES[language_version],
            math_mode=MATH_MODES[math_mode], macros=table,
            macro_count=len(table), include_paths=paths,
            include_path_count=len(paths),
            header_callback=header_callback(headers, keep),
            file_name=encode(file_name), debug=debug, permissive=permissive)

        def run() -> int:
            try:
                return make(mtl.mtl_library_create_from_source, device, text,
                            len(text), ctypes.byref(options))
            except _native.MettleError as error:
                for found in keep:
                    if isinstance(found, Exception):
                        raise found from error
                raise
        return cls(device, _waiting.aside(run))

    @classmethod
    def load(cls, device: "Device", source: Union[str, os.PathLike, bytes]) \
            -> "Library":
        """A library from a code container or one of Metal's compiled
        libraries (metallib): a path, or its bytes."""
        if isinstance(source, (bytes, bytearray)):
            data = bytes(source)
            return cls(device, make(mtl.mtl_library_create_from_data, device,
                                    data, len(data)))
        return cls(device, make(mtl.mtl_library_create_from_file, device,
                                os.fsencode(source)))

    def __repr__(self) -> str:
        return f"<mettle.Library: {', '.join(self.function_names)}>"

    @property
    def data(self) -> bytes:
        """The code container, for load."""
        size = ctypes.c_size_t()
        address = mtl.mtl_library_data(self, ctypes.byref(size))
        return ctypes.string_at(address, size.value)

    def write(self, path: Union[str, os.PathLike]) -> None:
        """Writes the code container to a file, atomically."""
        mtl.mtl_library_write(self, os.fsencode(path))

    @property
    def warnings(self) -> str:
        """The warnings of the compilation, "" if there were none."""
        return mtl.mtl_library_warnings(self)

    @property
    def function_names(self) -> List[str]:
        """Kernels in source order and then visible functions."""
        return [mtl.mtl_library_function_name(self, i)
                for i in range(mtl.mtl_library_function_count(self))]

    @property
    def kernel_names(self) -> List[str]:
        """The kernels in source order."""
        return [name for i, name in enumerate(self.function_names)
                if not mtl.mtl_library_function_is_visible(self, i)]

    @property
    def constants(self) -> Dict[str, Constant]:
        """The function constants that the library declares; those of a
        metallib are its functions'."""
        count = ctypes.c_size_t()
        address = mtl.mtl_library_constants(self, ctypes.byref(count))
        return _constants_at(address, count.value)

    def function_constants(self, name: str) -> Dict[str, Constant]:
        """The constants that a function may be created with."""
        count, address = ctypes.c_size_t(), ctypes.c_void_p()
        mtl.mtl_library_function_constants(
            self, encode(name), ctypes.byref(address), ctypes.byref(count))
        return _constants_at(address.value, count.value)

    def function(self, name: str, constants: Optional[
            Mapping[Union[str, int], Any]] = None) -> "Function":
        """Finds a function and fixes its constants, given by name or index."""
        return Function(self, name, constants)

    def __getitem__(self, name: str) -> "Function":
        return self.function(name)


class _ConstantValues(Handle):
    """Values of function constants."""

    __slots__ = ()
    _release = mtl.mtl_constant_values_release

    def __init__(self, library: Library, name: str,
                 constants: Mapping[Union[str, int], Any]) -> None:
        super().__init__(make(mtl.mtl_constant_values_create))
        declared = library.function_constants(name)
        for key, value in constants.items():
            self._set(key, value, declared)

    def _set(self, key: Union[str, int], value: Any,
             declared: Dict[str, Constant]) -> None:
        found = declared.get(key) if isinstance(key, str) else next(
            (c for c in declared.values() if c.index == key), None)
        if found is None:
            raise NotFoundError(
                f"the library declares no function constant {key!r}; there "
                f"are {', '.join(declared) or 'none'}")
        count = np.size(value)
        if count != found.components:
            raise InvalidArgumentError(
                f"function constant {found.name!r} has {found.components} "
                f"components, {value!r} has {count}")
        code = _dtypes.MSL_NAMES.index(found.type)
        raw = _dtypes.value_bytes(code, value)
        mtl.mtl_constant_values_set(self, found.index, code,
                                    found.components, raw)


class Function(Handle):
    """A function of a library, its constants fixed."""

    __slots__ = ("library",)
    _release = mtl.mtl_function_release

    def __init__(self, library: Library, name: str, constants: Optional[
            Mapping[Union[str, int], Any]] = None) -> None:
        self.library = library
        values = (_ConstantValues(library, name, constants) if constants
                  else None)
        super().__init__(make(mtl.mtl_function_create, library, encode(name),
                              values))

    def __repr__(self) -> str:
        return f"<mettle.Function {self.name!r}>"

    @property
    def name(self) -> str:
        """The name that it was found by."""
        return mtl.mtl_function_name(self)

    @property
    def is_visible(self) -> bool:
        """True for a [[visible]] function, which kernels call."""
        return mtl.mtl_function_is_visible(self)

    @property
    def arguments(self) -> Tuple[Argument, ...]:
        """The arguments in source order."""
        return read_arguments(mtl.mtl_function_arguments, self)

    def pipeline(self, **options: Any) -> "Pipeline":
        """Makes it ready to run; the options are Pipeline's."""
        return Pipeline(self, **options)


def pipeline_desc(*, label: Optional[str] = None,
                  max_total_threads_per_threadgroup: int = 0,
                  group_threads: Union[int, Sequence[int], None] = None,
                  linked_functions: Sequence[Function] = (),
                  private_functions: Sequence[Function] = (),
                  max_call_stack_depth: int = 0, debug: bool = False,
                  dump_after: Optional[str] = None, report_code: bool = False,
                  archives: Sequence["BinaryArchive"] = (),
                  fail_on_archive_miss: bool = False,
                  checks: int = 0) -> Any:
    """mtl_pipeline_desc of Pipeline's options."""
    linked, private = handles(linked_functions), handles(private_functions)
    desc = _structures.PipelineDesc(
        max_total_threads_per_threadgroup=max_total_threads_per_threadgroup,
        label=encode(label), max_call_stack_depth=max_call_stack_depth,
        debug=debug, dump_after=encode(dump_after), report_code=report_code,
        archives=handles(archives), archive_count=len(archives),
        fail_on_archive_miss=fail_on_archive_miss, check=checks,
        linked_functions=_structures.LinkedFunctions(
            linked, len(linked), private, len(private)))
    if group_threads is not None:
        desc.group_threads[:] = _native.triple(group_threads, "group_threads")
    return desc


class Pipeline(Handle):
    """A function made ready to run on its device."""

    __slots__ = ("device", "function", "_arguments", "_checks", "_options",
                 "_twins")
    _release = mtl.mtl_pipeline_release

    def __init__(self, function: Function, *, label: Optional[str] = None,
                 max_total_threads_per_threadgroup: int = 0,
                 group_threads: Union[int, Sequence[int], None] = None,
                 linked_functions: Sequence[Function] = (),
                 private_functions: Sequence[Function] = (),
                 max_call_stack_depth: int = 0, debug: bool = False,
                 dump_after: Optional[str] = None,
                 report_code: bool = False,
                 archives: Sequence["BinaryArchive"] = (),
                 fail_on_archive_miss: bool = False,
                 checks: Optional[int] = None) -> None:
        """Compiles function.

        group_threads      the sides of its threadgroups, if they are known:
                           the code for them is made at once
        linked_functions   visible functions for its function tables
        private_functions  visible functions that it calls by name
        debug              one thread at a time, unoptimised
        dump_after         a pass of the compiler, or "asm", for dump
        report_code        has report count registers and spills
        archives           where the code is looked for before it is compiled;
                           with fail_on_archive_miss NotFoundError otherwise
        checks             bits of mtl_check; those of the mettle.check that
                           this is inside of if None"""
        self._checks = checking.bits() if checks is None else checks
        self.function = function
        self._options: Dict[str, Any] = {
            "label": label, "group_threads": group_threads,
            "max_total_threads_per_threadgroup":
            max_total_threads_per_threadgroup,
            "private_functions": private_functions,
            "max_call_stack_depth": max_call_stack_depth,
            "linked_functions": linked_functions}
        self._twins: Dict[int, Pipeline] = {}
        self.device = function.library.device
        self._arguments: Optional[Tuple[Argument, ...]] = None
        desc = pipeline_desc(
            label=label, debug=debug, dump_after=dump_after,
            report_code=report_code, checks=self._checks, archives=archives,
            fail_on_archive_miss=fail_on_archive_miss, group_threads=
            group_threads, linked_functions=linked_functions,
            private_functions=private_functions,
            max_call_stack_depth=max_call_stack_depth,
            max_total_threads_per_threadgroup=max_total_threads_per_threadgroup)
        super().__init__(_waiting.aside(lambda: make(
            mtl.mtl_pipeline_create, function, ctypes.byref(desc))))

    def __repr__(self) -> str:
        return f"<{self._title()}>"

    @property
    def label(self) -> str:
        """The label given, or the function's name."""
        return mtl.mtl_pipeline_label(self)

    @property
    def resource_id(self) -> int:
        """What kernels know it by: a compute_pipeline_state of MSL."""
        found = ctypes.c_uint64()
        mtl.mtl_pipeline_resource_id(self, ctypes.byref(found))
        return found.value

    def checked(self, checks: int) -> "Pipeline":
        """The same function, checked for the bits of mtl_check."""
        if checks == self._checks:
            return self
        if checks not in self._twins:
            if self._options["linked_functions"]:
                raise UnsupportedError(
                    f"pipeline {self.label!r} has function tables: make it, "
                    "and them, inside mettle.check")
            self._twins[checks] = Pipeline(self.function, checks=checks,
                                           **self._options)
        return self._twins[checks]

    @property
    def max_total_threads_per_threadgroup(self) -> int:
        """Threads of a threadgroup at the most."""
        return mtl.mtl_pipeline_max_total_threads_per_threadgroup(self)

    @property
    def thread_execution_width(self) -> int:
        """Threads of a simdgroup: 32."""
        return mtl.mtl_pipeline_thread_execution_width(self)

    @property
    def static_threadgroup_memory_bytes(self) -> int:
        """Bytes of threadgroup variables declared in the function."""
        return mtl.mtl_pipeline_static_threadgroup_memory_bytes(self)

    @property
    def arguments(self) -> Tuple[Argument, ...]:
        """The arguments in source order."""
        if self._arguments is None:
            self._arguments = read_arguments(mtl.mtl_pipeline_arguments, self)
        return self._arguments

    @property
    def report(self) -> str:
        """What the compiler tells of the machine code: vectorised, or why
        not; for people."""
        return mtl.mtl_pipeline_report(self)

    @property
    def dump(self) -> str:
        """What dump_after asked for."""
        return mtl.mtl_pipeline_dump(self)

    def function_handle(self, function: Function) -> "FunctionHandle":
        """A linked function, for function tables of this pipeline."""
        from .function_table import FunctionHandle
        return FunctionHandle(self, function)

    def new_function_table(self, count: int) -> "FunctionTable":
        """Makes a function table with count empty entries."""
        from .function_table import FunctionTable
        return FunctionTable(self, count)
