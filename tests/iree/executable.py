# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# executable.py: reads IREE's executables for Metal: a 64-byte header and a
# flatbuffer of MSL sources and of the functions in them.
import struct
from collections import namedtuple

HEADER_BYTES = 64

Function = namedtuple("Function", "name entry_point library group constants "
                      "bindings")


class _Table:
    """A flatbuffer's table: fields by number, None where one is left out."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.field_bytes = struct.unpack_from("<H", data, self.fields)[0]

    def place(self, field):
        slot = 4 + 2 * field
        if slot >= self.field_bytes:
            return None
        offset = struct.unpack_from("<H", self.data, self.fields + slot)[0]
        return self.at + offset if offset else None

    def follow(self, field):
        at = self.place(field)
        return at + struct.unpack_from("<I", self.data, at)[0] if at else None

    def number(self, field):
        at = self.place(field)
        return struct.unpack_from("<I", self.data, at)[0] if at else 0

    def text(self, field):
        at = self.follow(field)
        if not at:
            return ""
        length = struct.unpack_from("<I", self.data, at)[0]
        return self.data[at + 4:at + 4 + length].decode()

    def count(self, field):
        at = self.follow(field)
        return struct.unpack_from("<I", self.data, at)[0] if at else 0

    def tables(self, field):
        at = self.follow(field)
        for i in range(self.count(field)):
            slot = at + 4 + 4 * i
            yield _Table(self.data,
                         slot + struct.unpack_from("<I", self.data, slot)[0])


def read(data):
    """Returns the MSL sources and the functions of an executable."""
    if data[:4] != b"MTL1":
        raise ValueError("no executable for Metal")
    body = data[HEADER_BYTES:]
    root = _Table(body, struct.unpack_from("<I", body)[0])
    sources = []
    for library in root.tables(1):
        sources.append(_Table(body, library.follow(0)).text(1))
    functions = []
    for pipeline in root.tables(0):
        functions.append(Function(
            pipeline.text(8) or pipeline.text(1), pipeline.text(1),
            pipeline.number(0),
            struct.unpack_from("<3I", body, pipeline.place(3)),
            pipeline.number(5), pipeline.count(6)))
    return sources, functions
