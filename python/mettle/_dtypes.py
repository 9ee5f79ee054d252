# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_dtypes.py: the types of elements, between NumPy, torch and MSL."""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional, Tuple

import numpy as np

try:
    import ml_dtypes
    BFLOAT16: Optional[np.dtype] = np.dtype(ml_dtypes.bfloat16)
except ImportError:  # bfloat16 arrays are uint16 then
    BFLOAT16 = None

# mtl_data_type, in its order.
(NONE, BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, BFLOAT,
 FLOAT) = range(13)
MSL_NAMES: List[str] = ["", "bool", "char", "uchar", "short", "ushort", "int",
                        "uint", "long", "ulong", "half", "bfloat", "float"]
_NUMPY = ["", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
          "int64", "uint64", "float16", "", "float32"]
TO_NUMPY: Dict[int, np.dtype] = {
    code: np.dtype(name) for code, name in enumerate(_NUMPY) if name}
TO_NUMPY[BFLOAT] = BFLOAT16 or np.dtype(np.uint16)
FROM_NUMPY: Dict[np.dtype, int] = {
    np.dtype(name): code for code, name in enumerate(_NUMPY) if name}
if BFLOAT16 is not None:
    FROM_NUMPY[BFLOAT16] = BFLOAT
# What MLX and torch call them, for metal_kernel's template arguments.
MSL_TYPES: Dict[str, str] = {
    "bool": "bool", "bool_": "bool", "int8": "int8_t", "uint8": "uint8_t",
    "int16": "int16_t", "uint16": "uint16_t", "int32": "int32_t",
    "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t",
    "float16": "float16_t", "half": "float16_t", "float32": "float",
    "float": "float", "bfloat16": "bfloat16_t", "complex64": "complex64_t"}


def _accepted() -> Dict[int, FrozenSet[np.dtype]]:
    """What arrays an argument of a type may be: its own, the integer of the
    other sign, and for bfloat uint16, for those without ml_dtypes. Bytes may
    be anything."""
    pairs = [(CHAR, UCHAR), (SHORT, USHORT), (INT, UINT), (LONG, ULONG)]
    table = {code: {dtype} for code, dtype in TO_NUMPY.items()}
    for one, other in pairs:
        both = table[one] | table[other]
        table[one], table[other] = set(both), set(both)
    table[BFLOAT].add(np.dtype(np.uint16))
    table[BOOL] |= table[UCHAR]
    del table[CHAR], table[UCHAR]
    return {code: frozenset(dtypes) for code, dtypes in table.items()}


ACCEPTED = _accepted()


def name_of(dtype: Any) -> str:
    """"float32" of numpy.float32, torch.float32, mlx's or the text itself."""
    if isinstance(dtype, str):
        return dtype.rpartition(".")[2]
    if isinstance(dtype, type) and issubclass(dtype, (bool, int, float)) and \
            not issubclass(dtype, np.generic):
        return {bool: "bool", int: "int32", float: "float32"}[dtype]
    if isinstance(dtype, np.dtype):
        return dtype.name
    try:
        return np.dtype(dtype).name
    except TypeError:
        return str(dtype).rpartition(".")[2]


def to_numpy(dtype: Any) -> np.dtype:
    """The NumPy type of whatever names one."""
    if isinstance(dtype, np.dtype) and dtype.isnative:
        return _plain(dtype)
    name = name_of(dtype)
    if name == "bfloat16":
        if BFLOAT16 is None:
            raise TypeError("bfloat16 arrays want the package ml_dtypes")
        return BFLOAT16
    return _plain(np.dtype({"half": "float16", "float": "float32"}.get(name,
                                                                       name)))


def _plain(dtype: np.dtype) -> np.dtype:
    """The type itself, unless kernels could make nothing of it."""
    if dtype.hasobject or dtype.kind in "SUmM":
        raise TypeError(f"a kernel knows no elements of {dtype}")
    return dtype


def msl_type(dtype: Any) -> str:
    """The MSL type of whatever names one."""
    name = name_of(dtype)
    if name not in MSL_TYPES:
        raise TypeError(f"MSL has no type for elements of {name}")
    return MSL_TYPES[name]


def packing(code: int) -> Tuple[str, Any]:
    """(struct format, conversion) of one value of a type."""
    return {BOOL: ("?", bool), CHAR: ("b", int), UCHAR: ("B", int),
            SHORT: ("h", int), USHORT: ("H", int), INT: ("i", int),
            UINT: ("I", int), LONG: ("q", int), ULONG: ("Q", int),
            HALF: ("e", float), FLOAT: ("f", float)}[code]


def value_bytes(code: int, value: Any) -> bytes:
    """A value, or several, as bytes of a type. An integer that does not fit
    is an OverflowError."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" and array.dtype != BFLOAT16:
        raise TypeError(f"{value!r} is no number")
    if code == BFLOAT:
        bits = array.astype(np.float32).view(np.uint32)
        rounded = (bits.astype(np.uint64) + 0x7fff + ((bits >> 16) & 1)) >> 16
        is_nan = (bits & 0x7fffffff) > 0x7f800000
        return np.where(is_nan, 0x7fc0, rounded).astype(np.uint16).tobytes()
    dtype = TO_NUMPY[code]
    if dtype.kind in "iu" and array.size:
        if array.dtype.kind not in "iub":
            raise TypeError(f"a value of {MSL_NAMES[code]} is an integer, not "
                            f"{value!r}")
        limits = np.iinfo(dtype)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise OverflowError(f"{value!r} is no {MSL_NAMES[code]}")
    return array.astype(dtype).tobytes()
