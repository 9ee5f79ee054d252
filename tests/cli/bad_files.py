# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bad_files.py: files that cannot be read as what they should be: an error
that names the file, exit code 1, never a crash or a wrong answer."""

import struct

import numpy as np

from tool import case

RUN = ("run", "kernels.metal", "scale", "--grid", "4", "0=@x.npy", "1=f32:1")


def _npy(header, data=b"", version=(1, 0)):
    header = header.encode() if isinstance(header, str) else header
    length = struct.pack("<H" if version[0] == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes(version) + length + header + data


def _refused(tool, content, text):
    tool.write("x.npy", content)
    result = tool.fails(1, ["x.npy", text], *RUN)
    assert result.err.count("\n") == 1, result.err


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n"


@case
def files_that_are_not_there(tool):
    tool.fails(1, ["x.npy", "No such file"], *RUN)
    tool.fails(1, ["gone.metal", "No such file"], "run", "gone.metal", "k",
               "--grid", "1")
    tool.fails(1, ["gone.metal", "No such file"], "run", "gone.metal", "k")
    tool.fails(2, ["--grid", "missing"], "run", "kernels.metal", "scale")
    tool.fails(1, [".", "directory"], "compile", ".")


@case
def every_way_to_cut_a_file_short(tool):
    whole = _npy(GOOD, struct.pack("<4f", 1, 2, 3, 4))
    tool.write("x.npy", whole)
    assert tool(*RUN).code == 0
    for length in (*range(0, 14), 40, len(whole) - 16, len(whole) - 1):
        text = ("not a .npy" if length < 6 else "cut short")
        _refused(tool, whole[:length], text)
    _refused(tool, whole + b"x", "follows the data")


@case
def a_pipe_cut_short_is_refused(tool):
    whole = _npy(GOOD, struct.pack("<4f", 1, 2, 3, 4))
    words = ("run", "kernels.metal", "scale", "--grid", "4", "0=@/dev/stdin",
             "1=f32:1")
    for data in (whole[:-1], whole + b"x"):
        result = tool(*words, stdin=data)
        assert result.code == 1 and "/dev/stdin" in result.err, result.err


@case
def garbage_is_refused(tool):
    _refused(tool, b"", "not a .npy")
    _refused(tool, np.random.default_rng(1).bytes(1000), "not a .npy")
    _refused(tool, b"PK\x03\x04" + bytes(100), "not a .npy")
    _refused(tool, _npy(GOOD, bytes(16), (4, 0)), "format 4.0 is unknown")
    _refused(tool, _npy(GOOD, bytes(16), (1, 1)), "format 1.1 is unknown")
    _refused(tool, b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "header")


@case
def headers_are_read_strictly(tool):
    for header in (
            "", "{}", "[]", "{'descr': '<f4'}", GOOD[:-4] + "\n",
            GOOD + "x", GOOD.replace("'shape'", "'shap'"),
            GOOD.replace("False", "false"), GOOD.replace("(4,)", "(4)"),
            GOOD.replace("(4,)", "4"), GOOD.replace("(4,)", "(-4,)"),
            GOOD.replace("(4,)", "(4.0,)"), GOOD.replace("(4,)", "(2 2)"),
            GOOD.replace("(4,)", "(,)"), GOOD.replace("(4,)", "(4"),
            GOOD.replace(", }", ", 'shape': (4,)}"),
            GOOD.replace(", }", ", 'more': 1}"),
            GOOD.replace("(4,)", "(" + "1," * 65 + ")"),
            GOOD.replace("(4,)", "(99999999999999999999,)"),
            GOOD.replace("(4,)", "(4294967296, 4294967296)"),
            GOOD.replace("(4,)", "(4611686018427387904,)"),
            GOOD.encode().replace(b"<f4", b"\x00f4"),
    ):
        _refused(tool, _npy(header, bytes(16)), "")


@case
def headers_of_other_writers_are_read(tool):
    data = struct.pack("<4f", 1, 2, 3, 4)
    for version in ((1, 0), (2, 0), (3, 0)):
        for header in (GOOD, GOOD.replace("'", '"'),
                       GOOD.replace("(4,)", "(4L,)"),
                       GOOD.replace("(4,)", "(2,2)"),
                       "{ 'shape' :(4,),'fortran_order':True,'descr':'<f4'}",
                       GOOD.replace("<f4", "=f4")):
            tool.write("x.npy", _npy(header, data, version))
            result = tool(*RUN, "--print", "0")
            assert result.out == "0: 1 2 3 4\n", (header, result.err)


@case
def a_shape_larger_than_memory_is_refused(tool):
    huge = GOOD.replace("(4,)", "(1152921504606846976,)")  # 4 EiB of f4
    _refused(tool, _npy(huge, bytes(16)), "cut short")


@case
def types_that_a_buffer_cannot_have(tool):
    for array, text in ((np.zeros(4, "f8"), "double"),
                        (np.zeros(4, ">f4"), "big-endian"),
                        (np.zeros(4, ">i2"), "big-endian"),
                        (np.zeros(4, "c8"), "'<c8'"),
                        (np.array(["ab"]), "'<U2'"),
                        (np.array([b"ab"]), "'|S2'"),
                        (np.zeros(2, "M8[s]"), "'<M8[s]'"),
                        (np.zeros(2, [("a", "f4")]), "structured")):
        np.save(tool.file("x.npy"), array)
        result = tool.fails(1, ["x.npy", text], *RUN)
        assert result.err.count("\n") == 1, result.err


@case
def a_buffer_that_cannot_be_had(tool):
    result = tool.fails(1, ["buffer 0"], "run", "kernels.metal", "scale",
                        "--grid", "1", "0=zeros:f32:1000000000000000",
                        "1=f32:1")
    assert "4000000000000000" in result.err, result.err
