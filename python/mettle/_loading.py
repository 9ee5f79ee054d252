# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""_loading.py: finds and opens Mettle's libraries."""

from __future__ import annotations

import ctypes
import os
from typing import List

HERE = os.path.dirname(os.path.abspath(__file__))


def _folders() -> List[str]:
    """The wheel's own or what `make install` put there; a build that is asked
    for; the build of a checkout."""
    folders = [os.path.join(HERE, "_lib")]
    build = os.environ.get("METTLE_BUILD_DIR")
    if build:
        folders.append(build)
    folders.append(os.path.join(os.path.dirname(os.path.dirname(HERE)),
                                "build"))
    return folders


def _path(name: str) -> str:
    for folder in _folders():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return os.path.realpath(path)
    return name  # the linker's search


def _open_folder() -> str:
    """The folder of the libmettle that this process has open, or ""."""
    with open("/proc/self/maps", encoding="utf-8",
              errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").split(None, 5)[-1]
            if os.path.basename(path).startswith("libmettle.so."):
                return os.path.dirname(path)
    return ""


def load(name: str) -> ctypes.CDLL:
    """Opens one of Mettle's libraries."""
    path = _path(name)
    if path == name:  # installed: beside the one that is open already
        path = os.path.join(_open_folder(), name)
    try:
        return ctypes.CDLL(path if os.path.exists(path) else name)
    except OSError as error:
        raise ImportError(f"{name} cannot be opened: {error}. A wheel has it "
                          "inside; for a build, set METTLE_BUILD_DIR.") \
            from error


def folder() -> str:
    """The folder of libmettle, the compiler and the command."""
    return os.path.dirname(_path("libmettle.so.0"))


# Loads this library first: it knows where libmettle is installed.
LAUNCH = load("libmettle-python.so")
LIBRARY = load("libmettle.so.0")
