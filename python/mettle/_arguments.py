# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_arguments.py: what callers give for a kernel's arguments, as the words of
mettle_argument (native/launch.h): kind and index, object, offset, length."""

from __future__ import annotations

import ctypes
import re
import struct
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Sequence, \
    Tuple

import numpy as np

from . import _dtypes, _gpu, _host
from .array import Array, empty, over_gpu
from .buffer import Buffer
from .errors import InvalidArgumentError
from .function_table import FunctionTable
from .library import Argument, Member
from .tensor import Tensor
from .texture import Sampler, Texture

(BUFFER, MEMORY, VALUE, BYTES, TEXTURE, SAMPLER, TABLE, THREADGROUP,
 TENSOR, USED_BUFFER, USED_TEXTURE, USED_TABLE) = range(12)
MOST_BYTES = 4096  # of mtl_compute_encoder_set_bytes

from_buffer: Any = ctypes.c_char.from_buffer
addressof = ctypes.addressof
ndarray = np.ndarray
# torch's names of casts, and ours.
CASTS = {"fp16": _dtypes.HALF, "fp32": _dtypes.FLOAT, "bf16": _dtypes.BFLOAT,
         "int8": _dtypes.CHAR, "uint8": _dtypes.UCHAR,
         "int16": _dtypes.SHORT, "uint16": _dtypes.USHORT,
         "int32": _dtypes.INT, "uint32": _dtypes.UINT,
         "int64": _dtypes.LONG, "uint64": _dtypes.ULONG}


MATRIX = re.compile(r"(float|half|bfloat)([234])x([234])")
POINTER = re.compile(r"(?:(?:const|device|constant) )*(\w+)(?: const)? ?\*")


class Used:
    """What the arguments of one call are, besides their words."""

    __slots__ = ("is_host", "count", "keeps", "resources")

    def __init__(self) -> None:
        self.is_host = False  # memory of another package's is among them
        self.count: Any = None  # the grid, by the first array or texture
        self.keeps: List[Any] = []  # what must live until the end
        self.resources: List[Any] = []  # Buffers and textures


def _not_contiguous(name: str) -> Exception:
    return InvalidArgumentError(
        f"argument {name!r}: the array is not contiguous; "
        "numpy.ascontiguousarray makes a copy that is")


class Parameter:
    """One argument of a kernel."""

    __slots__ = ("name", "kind", "index", "argument", "device", "code",
                 "dtype", "memory", "_accepts", "_words", "_is_written",
                 "_pack", "_convert", "_element")

    def __init__(self, argument: Argument, device: Any) -> None:
        self.argument = argument
        self.device = device
        self.name, self.kind, self.index = (argument.name, argument.kind,
                                            argument.index)
        self.code = _dtypes.MSL_NAMES.index(argument.type)
        self._accepts: Optional[FrozenSet[np.dtype]] = \
            _dtypes.ACCEPTED.get(self.code)
        self._words = [self.word(kind) for kind in range(12)]
        self.memory = self._words[MEMORY]
        # Of arrays that need no further look.
        is_plain = argument.components == 1 and argument.type != ""
        self.dtype = _dtypes.TO_NUMPY.get(self.code) \
            if self.kind == "buffer" and is_plain else None
        # Size in bytes of an element that is a vector, a matrix or a struct;
        # 0 for plain numbers.
        self._element = 0 if is_plain else argument.size
        self._is_written = argument.access != "read"
        self._pack: Optional[Callable[..., bytes]] = None
        self._convert: Any = None
        if argument.type and argument.components == 1 and \
                self.code != _dtypes.BFLOAT:
            letter, self._convert = _dtypes.packing(self.code)
            size = struct.calcsize("<" + letter)
            self._pack = struct.Struct(f"<{letter}{8 - size}x").pack

    def word(self, kind: int) -> int:
        """Kind and index in one."""
        return kind | self.index << 32

    def _elements(self, size: int, nbytes: int) -> int:
        """How many of the kernel's elements an array is."""
        return nbytes // self._element if self._element else size

    def add(self, words: List[int], value: Any, used: Used) -> None:
        """Appends the four words of value."""
        given = type(value)
        if given is ndarray and self.kind == "buffer":
            self._add_memory(words, value, used)
        elif given is Array and self.kind == "buffer":
            accepts = self._accepts
            if accepts is not None and value.dtype not in accepts:
                raise self._wrong_type(value.dtype)
            buffer = value.buffer
            words += (self._words[BUFFER], buffer._as_parameter_,
                      value.offset, 0)
            used.resources.append(buffer)
            if used.count is None:
                used.count = self._elements(value.size, value.nbytes)
        elif (given is float or given is int) and self._pack is not None:
            self._add_number(words, value)
        elif self.kind == "buffer" and _host.is_tensor(value):
            self._add_tensor(words, value, used)
        else:
            self._add_other(words, value, used)

    def _add_tensor(self, words: List[int], value: Any, used: Used) -> None:
        plain = _host.plain_tensor(value)
        if plain is None or plain[3] == 0:
            self._add_other(words, value, used)
            return
        dtype, address, size, count = plain
        if self._accepts is not None and dtype not in self._accepts:
            raise self._wrong_type(dtype)
        words += (self._words[MEMORY], address, 0, size)
        used.is_host = True
        used.keeps.append(value)
        if used.count is None:
            used.count = self._elements(count, size)

    def _add_memory(self, words: List[int], value: np.ndarray, used: Used) -> \
            None:
        accepts = self._accepts
        if accepts is not None and value.dtype not in accepts:
            raise self._wrong_type(value.dtype)
        if value.size == 0:  # without memory, which an array of Mettle's has
            kind = np.float32 if accepts is None else value.dtype
            self.add(words, empty(value.shape, kind, device=self.device), used)
            return
        try:
            address = addressof(from_buffer(value))
        except (TypeError, ValueError, BufferError):
            address = self._address(value)
        words += (self._words[MEMORY], address, 0, value.nbytes)
        used.is_host = True
        used.keeps.append(value)
        if used.count is None:
            used.count = self._elements(value.size, value.nbytes)

    def _address(self, value: np.ndarray) -> int:
        """Of an array that is read-only or of a type that buffers do not
        have."""
        if not value.flags.c_contiguous:
            raise _not_contiguous(self.name)
        if self._is_written and not value.flags.writeable:
            raise InvalidArgumentError(
                f"argument {self.name!r} is written by the kernel, and the "
                "array is read-only")
        return value.ctypes.data

    def _wrong_type(self, dtype: Any) -> Exception:
        return TypeError(
            f"argument {self.name!r} is {self.argument.type_name} in the "
            f"kernel, the array is of {dtype}")

    def _add_number(self, words: List[int], value: Any) -> None:
        pack = self._pack
        assert pack is not None
        try:
            raw = pack(value)
        except (struct.error, OverflowError, TypeError):
            raise self._wrong_number(value) from None
        words += (self._words[VALUE], int.from_bytes(raw, "little"), 0,
                  self.argument.size)

    def _wrong_number(self, value: Any) -> Exception:
        text = f"argument {self.name!r} is {self.argument.type_name} in the " \
               f"kernel, which {value!r} is not"
        if isinstance(value, int) or (isinstance(value, float)
                                      and self._convert is float):
            return OverflowError(text)
        return TypeError(text)

    def add_cast(self, words: List[int], value: Any, cast: str) -> None:
        """A number as bytes of the type that the caller names."""
        if cast not in CASTS:
            raise InvalidArgumentError(f"arg_casts {cast!r} is none of "
                                       f"{', '.join(CASTS)}")
        raw = _dtypes.value_bytes(CASTS[cast], value)
        words += (self._words[VALUE], int.from_bytes(raw, "little"), 0,
                  len(raw))

    def _add_other(self, words: List[int], value: Any, used: Used) -> None:
        if self.kind == "texture":
            self._add_texture(words, value, used)
        elif self.kind == "sampler":
            self._add_object(words, value, Sampler, SAMPLER, used)
        elif self.kind == "function_table":
            self._add_object(words, value, FunctionTable, TABLE, used)
        elif value is None:
            words += (self._words[BUFFER], 0, 0, 0)
        elif isinstance(value, Buffer):
            words += (self._words[BUFFER], value.handle, value.offset, 0)
            used.resources.append(value)
            used.keeps.append(value)
        elif isinstance(value, Array):  # of a subclass
            self.add(words, Array(value.buffer, value.shape, value.dtype,
                                  value.offset), used)
        elif isinstance(value, np.generic) and value.ndim == 0:
            self._add_value(words, value.item(), used)
        elif _gpu.gpu_of(value) is not None:
            array = over_gpu(value, self.device)
            self.add(words, array, used)
            used.is_host = True
            used.keeps.append(array)
        elif _host.is_array(value):
            used.keeps.append(value)
            self._add_memory(words, _host.as_numpy(value), used)
        else:
            self._add_value(words, value, used)

    def _add_object(self, words: List[int], value: Any, kind: Any, code: int,
                    used: Used) -> None:
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"argument {self.name!r} is a "
                            f"{kind.__name__} in the kernel, "
                            f"{type(value).__name__} was given")
        words += (self._words[code], value.handle if value else 0, 0, 0)
        used.keeps.append(value)

    def _add_texture(self, words: List[int], value: Any, used: Used) -> None:
        self._add_object(words, value, Texture, TEXTURE, used)
        if value is None:
            return
        used.resources.append(value)
        if used.count is None:
            used.count = (value.width, value.height, value.depth)

    def _add_value(self, words: List[int], value: Any, used: Used) -> None:
        """A number, a list of them, or a struct's dict, copied."""
        if isinstance(value, (int, float)) and self._pack is not None:
            self._add_number(words, value)
            return
        raw = self._bytes_of(words, value, used)
        if not 0 < len(raw) <= MOST_BYTES:
            raise InvalidArgumentError(
                f"argument {self.name!r}: {len(raw)} bytes; values have 1 to "
                f"{MOST_BYTES}, more are an array")
        if self._is_written:
            raise TypeError(f"argument {self.name!r} is written by the "
                            "kernel: it wants an array")
        if len(raw) < self.argument.size:
            raise InvalidArgumentError(
                f"argument {self.name!r}: {self.argument.type_name} has "
                f"{self.argument.size} bytes, {len(raw)} were given")
        held = ctypes.create_string_buffer(raw, len(raw))
        used.keeps.append(held)
        words += (self._words[BYTES], addressof(held), 0, len(raw))

    def _bytes_of(self, words: List[int], value: Any, used: Used) -> bytes:
        argument = self.argument
        try:
            if isinstance(value, dict):
                return struct_bytes(
                    argument.members, value, argument.size, self.name,
                    lambda member, item, path: self._reach(
                        words, member, item, path, used))
            matrix = MATRIX.fullmatch(argument.type_name)
            if matrix is not None:
                return matrix_bytes(matrix, argument.size, value)
            if not argument.type:
                raise TypeError("a struct wants a dict or bytes")
            return typed_bytes(self.code, argument.components, argument.size,
                               value)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"argument {self.name!r} is "
                              f"{argument.type_name} in the kernel: "
                              f"{error}") from None

    def _reach(self, words: List[int], member: Member, value: Any, path: str,
               used: Used) -> bytes:
        """What a struct holds of a buffer, an array, a texture, a sampler or
        a function table, which the kernel may then use."""
        if value is None:
            return bytes(8)
        used.keeps.append(value)
        kind = POINTER.fullmatch(member.type_name)
        if kind is not None:
            return self._address_of(words, kind[1], value, path, used)
        wanted, word = (Sampler, None) \
            if member.type_name.startswith("sampler") else \
            (Texture, USED_TEXTURE) if member.type_name.startswith(
                ("texture", "depth")) else (FunctionTable, USED_TABLE)
        if not isinstance(value, wanted):
            raise TypeError(f"{path} is {member.type_name} in the kernel, "
                            f"{type(value).__name__} was given")
        if isinstance(value, Texture):
            used.resources.append(value)
        if word is not None:
            words += (self._words[word], value.handle, 0, 0)
        return value.resource_id.to_bytes(8, "little")

    def _address_of(self, words: List[int], type_name: str, value: Any,
                    path: str, used: Used) -> bytes:
        if isinstance(value, Buffer):
            buffer, offset = value, value.offset
        else:
            buffer, offset = self._buffer_of(type_name, value, path, used)
        used.resources.append(buffer)
        used.keeps.append(buffer)
        words += (self._words[USED_BUFFER], buffer.handle, 0, 0)
        return (buffer.gpu_address + offset).to_bytes(8, "little")

    def _buffer_of(self, type_name: str, value: Any, path: str, used: Used) \
            -> Tuple[Buffer, int]:
        """(buffer, offset) of an array that a pointer leads to."""
        given: Any = value
        if isinstance(value, Array):
            pass
        elif _gpu.gpu_of(value) is not None:
            given = over_gpu(value, self.device)
            used.is_host = True
        elif _host.is_array(value):
            given = _host.as_numpy(value)
            if not given.flags.c_contiguous or not given.flags.writeable:
                raise TypeError(f"{path} wants an array that is contiguous "
                                "and may be written")
            used.is_host = True
        else:
            raise TypeError(f"{path} is a pointer in the kernel: it wants an "
                            f"array, {type(value).__name__} was given")
        accepts = _dtypes.ACCEPTED.get(_dtypes.MSL_NAMES.index(type_name)) \
            if type_name in _dtypes.MSL_NAMES else None
        if accepts is not None and given.dtype not in accepts:
            raise TypeError(f"{path} points to {type_name} in the kernel, the "
                            f"array is of {given.dtype}")
        if isinstance(given, Array):
            return given.buffer, given.offset
        buffer = Buffer.over(self.device, given)
        return buffer, buffer.offset


class TensorParameter(Parameter):
    """A tensor argument: the array's shape becomes the tensor's."""

    __slots__ = ()

    def __init__(self, argument: Argument, device: Any) -> None:
        super().__init__(argument, device)
        self.dtype = None  # never plain memory

    def add(self, words: List[int], value: Any, used: Used) -> None:
        tensor = value if isinstance(value, Tensor) else self._tensor(value,
                                                                      used)
        words += (self._words[TENSOR], tensor.handle, 0, 0)
        used.resources.append(tensor.buffer)
        used.keeps.append(tensor)
        if used.count is None:
            used.count = int(np.prod(tensor.shape))

    def _tensor(self, value: Any, used: Used) -> Tensor:
        if not isinstance(value, Array) and not _host.is_array(value):
            raise TypeError(f"argument {self.name!r} is a tensor in the "
                            f"kernel, {type(value).__name__} was given")
        if _gpu.gpu_of(value) is not None:
            value = over_gpu(value, self.device)
            used.is_host = True
        host = value if isinstance(value, Array) else _host.as_numpy(value)
        if self._accepts is not None and host.dtype not in self._accepts:
            raise self._wrong_type(host.dtype)
        rank = len(self.argument.tensor_extents)
        if len(host.shape) != rank:
            raise InvalidArgumentError(
                f"argument {self.name!r} is a tensor of rank {rank} in the "
                f"kernel, the array has {len(host.shape)} dimensions")
        if isinstance(host, Array):
            return Tensor(host.buffer, host.shape, self.code,
                          offset=host.offset)
        self._address(host)  # refuses what buffers cannot be
        buffer = Buffer.over(self.device, host)
        used.is_host = True
        used.keeps.append(value)
        return Tensor(buffer, host.shape, self.code, offset=buffer.offset)


def typed_bytes(code: int, components: int, size: int, value: Any) -> bytes:
    """Elements of a vector type: three components lie in the room of four,
    if the size says so."""
    raw = _dtypes.value_bytes(code, value)
    width = components * len(_dtypes.value_bytes(code, 0))
    if len(raw) % width:
        raise InvalidArgumentError(
            f"{np.size(value)} numbers for a vector of {components}")
    if width and size > width and len(raw) % width == 0:
        gap = bytes(size - width)
        raw = b"".join(raw[i:i + width] + gap
                       for i in range(0, len(raw), width))
    return raw


def matrix_bytes(matrix: Any, size: int, value: Any) -> bytes:
    """A matrix, or several, as its columns."""
    columns, rows = int(matrix[2]), int(matrix[3])
    shape = np.shape(value)
    if shape[-2:] != (columns, rows) and shape != (columns * rows,):
        raise TypeError(f"it wants {columns} columns of {rows} numbers, the "
                        f"value's shape is {shape}")
    return typed_bytes(_dtypes.MSL_NAMES.index(matrix[1]), rows,
                       size // columns, value)


Reach = Callable[[Member, Any, str], bytes]


def struct_bytes(members: Sequence[Member], values: Dict[str, Any], size: int,
                 path: str, reach: Reach) -> bytes:
    """A struct by the names of its members; the rest is zeros."""
    known = {member.name: member for member in members}
    result = bytearray(size)
    for name, value in values.items():
        member = known.get(name)
        if member is None:
            raise TypeError(f"{path} has no member {name!r}; there are "
                            f"{', '.join(known) or 'none'}")
        raw = _member_bytes(member, value, f"{path}.{name}", reach)
        room = member.size * member.array_length
        if len(raw) > room:
            raise TypeError(f"{path}.{name} has {room} bytes, not {len(raw)}")
        result[member.offset:member.offset + len(raw)] = raw
    return bytes(result)


def _member_bytes(member: Member, value: Any, path: str, reach: Reach) -> \
        bytes:
    if isinstance(value, dict):
        return struct_bytes(member.members, value, member.size, path, reach)
    if isinstance(value, (list, tuple)) and value and \
            isinstance(value[0], dict):
        return b"".join(struct_bytes(member.members, one, member.size, path,
                                     reach) for one in value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if member.members:
        raise TypeError(f"{path} is {member.type_name}: it wants a dict or "
                        "bytes")
    if not member.type and member.array_length > 1 and \
            isinstance(value, (list, tuple)):
        return b"".join(reach(member, one, f"{path}[{i}]")
                        for i, one in enumerate(value))
    if not member.type:
        return reach(member, value, path)
    code = _dtypes.MSL_NAMES.index(member.type)
    try:
        return typed_bytes(code, member.components,
                           member.size // max(member.columns, 1), value)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{path} is {member.type_name}: "
                                   f"{error}") from None


def describe(arguments: Sequence[Argument], device: Any) -> \
        Tuple[List[Parameter], List[Parameter]]:
    """(what a call gives, the threadgroup memory). Buffers are in the order
    of their indices, wherever the kernel has them."""
    active = [a for a in arguments if a.is_active]
    buffers = iter(sorted((a for a in active if a.kind == "buffer"),
                          key=lambda a: a.index))
    ordered = [next(buffers) if a.kind == "buffer" else a
               for a in active if a.kind != "threadgroup"]
    given = [(TensorParameter if a.tensor_extents else Parameter)(a, device)
             for a in ordered]
    return given, [Parameter(a, device) for a in active
                   if a.kind == "threadgroup"]
