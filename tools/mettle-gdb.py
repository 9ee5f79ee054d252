# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mettle-gdb.py: has gdb print Metal's types as a kernel's source has them.

    (gdb) print own.position
    $1 = float4(0.5, 0.25, 0, 1)

gdb loads it with libmettle.so, if it is installed where gdb looks; docs/debugging.md
says where, and shows a whole session."""

import re
import struct

import gdb
import gdb.printing

SCALARS = {
    "_Float16": "half",
    "unsigned char": "uchar",
    "signed char": "char",
    "unsigned short": "ushort",
    "unsigned int": "uint",
    "unsigned long": "ulong",
}


def scalar_name(type_):
    """The name of a scalar type in MSL."""
    name = type_.strip_typedefs().unqualified().name or "?"
    return SCALARS.get(name, name)


def bits_of_bfloat(value):
    """The 16 bits of a bfloat, which is a structure or, in vectors, bits."""
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        value = value["__bits"]
    return int(value) & 0xFFFF


def shortest_float(number):
    """The shortest decimal that is this 32-bit float."""
    if number != number or number in (float("inf"), float("-inf")):
        return str(number)
    for digits in range(1, 10):
        text = f"{number:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", number):
            return text
    return repr(number)


def scalar(value, name):
    """An element as text: characters are numbers, bytes may be bools."""
    if name == "bfloat":
        bits = bits_of_bfloat(value) << 16
        return shortest_float(struct.unpack("f", struct.pack("I", bits))[0])
    if name == "bool":
        return "true" if int(value) & 1 else "false"
    if value.type.strip_typedefs().sizeof == 1:
        return str(int(value))
    return value.format_string(format="d") if name in (
        "char", "uchar") else value.format_string()


def elements(array, count, name):
    """The first elements of an array or a vector, as texts."""
    return [scalar(array[i], name) for i in range(count)]


class ScalarPrinter:
    """bfloat, and what an atomic holds."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        type_ = self.value.type.strip_typedefs().unqualified()
        if type_.name == "bfloat":
            return scalar(self.value, "bfloat")
        return scalar(self.value["__s"], scalar_name(type_.template_argument(0)))


class VectorPrinter:
    """float4(1, 2, 3, 4), and packed_float3(1, 2, 3)."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        type_ = self.value.type.strip_typedefs().unqualified()
        name = scalar_name(type_.template_argument(0))
        count = int(type_.template_argument(1))
        is_packed = "packed_vec<" in type_.name
        parts = elements(self.value["c" if is_packed else "v"], count, name)
        prefix = "packed_" if is_packed else ""
        return f"{prefix}{name}{count}({', '.join(parts)})"


class MatrixPrinter:
    """float2x3({1, 2, 3}, {4, 5, 6}): columns, as in MSL."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        type_ = self.value.type.strip_typedefs().unqualified()
        name = scalar_name(type_.template_argument(0))
        columns = int(type_.template_argument(1))
        rows = int(type_.template_argument(2))
        parts = [
            "{%s}" % ", ".join(
                elements(self.value["columns"][i]["v"], rows, name))
            for i in range(columns)
        ]
        return f"{name}{columns}x{rows}({', '.join(parts)})"


class TilePrinter:
    """A simdgroup_matrix: the two elements that this thread holds."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        type_ = self.value.type.strip_typedefs().unqualified()
        name = scalar_name(type_.template_argument(0))
        parts = elements(self.value["elements_"]["v"], 2, name)
        return f"simdgroup_{name}8x8(this thread's: {', '.join(parts)})"


class ArrayPrinter:
    """array<float, 3>: its elements, each printed as it is."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return None

    def children(self):
        count = int(self.value.type.strip_typedefs().template_argument(1))
        for i in range(count):
            yield f"[{i}]", self.value["__elements"][i]

    def display_hint(self):
        return "array"


PRINTERS = [
    (r"^bfloat$", ScalarPrinter),
    (r"^metal::_?atomic<.*>$", ScalarPrinter),
    (r"^metal::vec<.*>$", VectorPrinter),
    (r"^metal::packed_vec<.*>$", VectorPrinter),
    (r"^metal::matrix<.*>$", MatrixPrinter),
    (r"^metal::simdgroup_matrix<.*>$", TilePrinter),
    (r"^metal::array<.*>$", ArrayPrinter),
]


class MettlePrinters(gdb.printing.PrettyPrinter):
    """Finds the printer of a value by its type's name."""

    def __init__(self):
        super().__init__("mettle", [])

    def __call__(self, value):
        type_ = value.type.strip_typedefs()
        if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
            type_ = value.type.strip_typedefs()
        name = type_.unqualified().name
        if type_.code != gdb.TYPE_CODE_STRUCT or name is None:
            return None
        for pattern, printer in PRINTERS:
            if re.match(pattern, name):
                return printer(value)
        return None


gdb.printing.register_pretty_printer(None, MettlePrinters(), replace=True)
