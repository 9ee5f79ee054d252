# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""container_cases.py: the container: what is listed, what is refused."""

import os
import struct
import subprocess
import tempfile

import mettle

from cases import map_text
from world import DEVICE, raises
from writer import pack, tag

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def load(data):
    return mettle.Library.load(DEVICE, data)


@case
def kernels_are_listed_and_others_told(assembler):
    code = assembler(map_text("f", "  %y = fneg float %x"))
    library = load(pack([("g", "vertex", b""), ("f", "kernel", code),
                         ("h", "visible", code), ("e", "kernel", code)]))
    assert library.function_names == ["f", "e", "h"]
    raises(mettle.UnsupportedError, ["'g'", "vertex"], library.function, "g")
    raises(mettle.NotFoundError, ["'x'"], library.function, "x")


@case
def a_file_is_read_piece_by_piece(assembler):
    code = assembler(map_text("f", "  %y = fneg float %x"))
    data = pack([("f", "kernel", code)])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "one.metallib")
        with open(path, "wb") as file:
            file.write(data)
        library = load(path)
        assert library.function("f").name == "f"
        assert library.data == data
        other = load(path)
        os.truncate(path, len(data) - len(code))
        raises(mettle.MettleError, ["shorter"], other.function, "f")


@case
def other_systems_and_kinds_are_refused(assembler):
    rows = [({"platform": 1, "system": 0x82}, ["iOS"]),
            ({"version": (1, 2)}, ["1.2", "2.x"]),
            ({"kind": 1}, ["Core Image"]),
            ({"kind": 3}, ["symbol companion"])]
    for options, words in rows:
        raises(mettle.UnsupportedError, words, load, pack([], **options))
    for magic in (b"\xca\xfe\xba\xbe", b"\xcb\xfe\xba\xbe",
                  b"\xcf\xfa\xed\xfe"):
        raises(mettle.UnsupportedError, ["universal"], load, magic + bytes(96))


@case
def sources_inside_are_told(assembler):
    extension = tag("HSRD", struct.pack("<QQ", 88, 4)) + b"ENDT"
    assert "sources" in load(pack([], extension=extension)).warnings


@case
def damage_is_told(assembler):
    data = pack([("f", "kernel", b"abcd")])
    raises(mettle.BadDataError, ["cut short"], load, data[:-1])
    raises(mettle.BadDataError, ["no compiled"], load, b"MTLB")
    for at, words in ((88, ["functions"]), (92, ["function 0"]),
                      (24, ["list of functions"])):
        damaged = bytearray(data)
        damaged[at:at + 4] = b"\xff\xff\xff\xff"
        raises(mettle.BadDataError, words, load, bytes(damaged))
    raises(mettle.BadDataError, ["damaged", "function f"],
           load(data).function, "f")


def command(*arguments):
    return subprocess.run(
        [os.path.join(os.environ["METTLE_BUILD_DIR"], "mettle"), *arguments],
        capture_output=True, text=True)


@case
def the_command_takes_them(assembler):
    good = assembler(map_text("f", "  %y = fadd float %x, 1.0"))
    bad = assembler(map_text(
        "g", "  %y = call float @air.unheard_of.f32(float %x)",
        declare="declare float @air.unheard_of.f32(float)"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "two.metallib")
        with open(path, "wb") as file:
            file.write(pack([("f", "kernel", good), ("g", "kernel", bad)]))
        done = command("reflect", path, "--kernel", "f")
        assert done.returncode == 0 and "buffer" in done.stdout, done
        done = command("compile", path)
        assert done.returncode == 3 and "1 of 2 translated" in done.stdout
        assert "air.unheard_of.f32" in done.stderr
        done = command("compile", path, "--kernel", "f")
        assert done.returncode == 0 and "1 of 1 translated" in done.stdout
        done = command("compile", path, "-D", "X")
        assert done.returncode == 2 and "compiled already" in done.stderr
        done = command("run", path, "f", "in=1,2,3", "out=zeros:3", "--grid",
                       "3", "--print", "out")
        assert done.stdout == "out: 2 3 4\n", done
