#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile_alone.py FOLDER CC CXX: compiles each header of FOLDER/mettle as the
only one of a source, as strict C11 and as C++17, without a warning. The last
line is "N passed, N failed"."""

import os
import subprocess
import sys

WARNINGS = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror"]


def languages(cc, cxx):
    return (("C11", [cc, "-x", "c", "-std=c11"]),
            ("C++17", [cxx, "-x", "c++", "-std=c++17"]))


def compiles(folder, name, command):
    """"" if it does, else what the compiler says. Twice in one source: the
    second time nothing may be left of it."""
    source = f"#include <mettle/{name}>\n" * 2 + "extern int nothing_else;\n"
    done = subprocess.run([*command, *WARNINGS, f"-I{folder}", "-fsyntax-only",
                           "-"], input=source, capture_output=True, text=True,
                          check=False)
    return "" if done.returncode == 0 else done.stderr or "no text"


def main():
    folder, cc, cxx = sys.argv[1:]
    headers = sorted(name for name in os.listdir(os.path.join(folder, "mettle"))
                     if name.endswith(".h"))
    passed = failed = 0
    for language, command in languages(cc, cxx):
        for name in headers:
            error = compiles(folder, name, command)
            passed += not error
            if error:
                failed += 1
                print(f"FAILED mettle/{name} as {language}:\n{error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
