# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""installed.py: what `make install` leaves builds, links and runs programs
through pkg-config, from a folder that has been moved."""

import os
import shutil
import subprocess
import unittest

from tool import case


def _output(*words, **options):
    return subprocess.run(list(words), check=True, capture_output=True,
                          text=True, timeout=120, **options).stdout


def _install(tool):
    if not all(map(shutil.which, ("cmake", "pkg-config", "cc"))):
        raise unittest.SkipTest("cmake, pkg-config or cc is missing")
    first = tool.file("first")
    _output("cmake", "--install", tool.build, "--prefix", first)
    moved = tool.file("moved")
    os.rename(first, moved)
    for folder, _, names in os.walk(moved):
        if "mettle.pc" in names:
            return moved, folder
    raise AssertionError("mettle.pc is not installed")


def _sanitized(tool):
    with open(os.path.join(tool.build, "CMakeCache.txt"),
              encoding="utf-8") as cache:
        return any(line.startswith("METTLE_SANITIZE:")
                   and line.strip().split("=", 1)[1] for line in cache)


@case
def an_installed_library_builds_the_first_example(tool):
    if _sanitized(tool):
        raise unittest.SkipTest("a sanitizer's run time is not linked by cc")
    prefix, pc_folder = _install(tool)
    environment = {**os.environ, "PKG_CONFIG_PATH": pc_folder}
    version = _output("pkg-config", "--modversion", "mettle", env=environment)
    assert tool.done("--version").out == f"mettle {version}"
    flags = _output("pkg-config", "--cflags", "--libs", "mettle",
                    env=environment).split()
    source = os.path.join(os.path.dirname(__file__), "..", "..", "examples",
                          "add_vectors.c")
    program = tool.file("add_vectors")
    _output("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o",
            program, *flags)
    library = [flag[2:] for flag in flags if flag.startswith("-L")][0]
    out = _output(program, env={**os.environ, "LD_LIBRARY_PATH": library})
    assert out == "11 22 33 44\n", out
    needed = _output("objdump", "-p", program)
    assert f"libmettle.so.{version.split('.')[0]}\n" in needed, needed
    command = os.path.join(prefix, "bin", "mettle")
    assert _output(command, "--version") == f"mettle {version}"


@case
def what_is_installed_is_all_there(tool):
    prefix, _ = _install(tool)
    files = {os.path.relpath(os.path.join(folder, name), prefix)
             for folder, _, names in os.walk(prefix) for name in names}
    for name in ("bin/mettle", "libexec/mettle/mettlec",
                 "include/mettle/mettle.h", "share/man/man1/mettle.1",
                 "share/man/man1/mettle-run.1",
                 "share/bash-completion/completions/mettle"):
        assert name in files, sorted(files)
