# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""writer.py: packs functions into a compiled Metal library, the container
"MTLB" (src/code/metallib_read.c says how it is laid out)."""

import hashlib
import struct

KINDS = {"vertex": 0, "fragment": 1, "kernel": 2, "visible": 4}
HEADER_BYTES = 88


def tag(name, data):
    return name.encode("ascii") + struct.pack("<H", len(data)) + data


def function_record(name, kind, bitcode, offset, air=(2, 7), msl=(3, 2)):
    tags = tag("NAME", name.encode() + b"\0")
    tags += tag("TYPE", bytes([KINDS[kind]]))
    tags += tag("HASH", hashlib.sha256(bitcode).digest())
    tags += tag("OFFT", struct.pack("<3Q", 0, 0, offset))
    tags += tag("VERS", struct.pack("<4H", *air, *msl))
    tags += tag("MDSZ", struct.pack("<Q", len(bitcode)))
    tags += b"ENDT"
    return struct.pack("<I", len(tags) + 4) + tags


def pack(functions, platform=0x8001, version=(2, 7), kind=0, system=0x81,
         extension=b""):
    """functions: [(name, kind, bitcode)]; returns the library's bytes."""
    records, bitcodes = b"", b""
    for name, kind_name, bitcode in functions:
        records += function_record(name, kind_name, bitcode, len(bitcodes))
        bitcodes += bitcode
    start = HEADER_BYTES
    metadata = start + 4 + len(records) + len(extension)
    body = struct.pack("<I", len(functions)) + records + extension
    body += struct.pack("<I", 8) + b"ENDT"  # public metadata, nearly none
    code = start + len(body)
    header = b"MTLB" + struct.pack("<HHHBBHH", platform, *version, kind,
                                   system, 14, 0)
    header += struct.pack("<Q", code + len(bitcodes))
    header += struct.pack("<8Q", start, len(records), metadata, 8, code, 0,
                          code, len(bitcodes))
    return header + body + bitcodes
