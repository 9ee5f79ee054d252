# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples.py: the examples run and are right."""

import os
import struct
import subprocess
import unittest

from tool import case


def _run(tool, name, *words):
    program = os.path.join(tool.build, "examples", name)
    if not os.path.exists(program):
        raise unittest.SkipTest(f"{name} is not built")
    return subprocess.run([program, *words], cwd=tool.folder, timeout=120,
                          stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=True).stdout


@case
def add_vectors_adds(tool):
    assert _run(tool, "add_vectors") == "11 22 33 44\n"


@case
def the_matrix_product_is_right(tool):
    assert "500 x 300 x 700" in _run(tool, "matrix_product")


@case
def two_queues_stay_in_step(tool):
    assert "0 wrong" in _run(tool, "two_queues")


@case
def the_mandelbrot_set_becomes_a_picture(tool):
    _run(tool, "mandelbrot", "set.png")
    with open(tool.file("set.png"), "rb") as file:
        picture = file.read()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    # Width and height of the IHDR chunk: PNG specification, 11.2.2.
    assert picture[16:24] == struct.pack(">2I", 1200, 800)
    assert len(picture) > 50000  # a plain area would pack to less
