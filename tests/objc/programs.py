#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""programs.py: builds programs in Objective-C as their authors would, with and
without automatic reference counting, unoptimised and optimised, and runs them
on libMetal. Its last line is the count; ends with 77 without a clang."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import sanitized

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))
OBJC = os.path.join(BUILD, "objc")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
PROGRAMS = ("language.m", "foundation.m", "compute.m", "profiling.m",
            "tensors.m", "threads.m", "mixed.mm")
VARIANTS = (("-O0",), ("-O2",), ("-O0", "-fobjc-arc"), ("-O2", "-fobjc-arc"))
COUNTED = VARIANTS[2:]  # of programs that want reference counting
SECONDS = 60


def build(clang, program, flags, target):
    compiler = clang.replace("clang", "clang++") if program.endswith("mm") \
        else clang
    return subprocess.run(
        [compiler, *flags, "-Wall", "-Werror", "-fobjc-runtime=macosx-12.0",
         "-fblocks", "-fexceptions", "-fobjc-exceptions",
         *(["-fobjc-arc-exceptions"] if "-fobjc-arc" in flags else []),
         "-I", os.path.join(ROOT, "include", "mettle-objc"),
         os.path.join(HERE, program), os.path.join(OBJC, "mettle-objc-crt.o"),
         os.path.join(OBJC, "libMetal.so.1"), f"-Wl,-rpath,{OBJC}",
         f"-Wl,-rpath,{BUILD}", "-o", target],
        capture_output=True, text=True, timeout=SECONDS)


def main():
    clang = shutil.which("clang-19") or shutil.which("clang")
    if not clang:
        print("skipped: no clang")
        sys.exit(77)
    passed = failed = 0
    variables = sanitized.environment()
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "program")
        for program in PROGRAMS:
            for flags in COUNTED if program == "threads.m" else VARIANTS:
                name = f"{program} {' '.join(flags)}"
                made = build(clang, program, flags, target)
                if made.returncode:
                    failed += 1
                    print(f"FAILED: {name} does not build\n{made.stderr}")
                    continue
                ran = subprocess.run([target], capture_output=True, text=True,
                                     timeout=SECONDS, env=variables)
                counts = COUNTS.search(ran.stdout)
                if counts and ran.returncode in (0, 1):
                    passed += int(counts[1])
                    failed += int(counts[2])
                else:
                    failed += 1
                if ran.returncode or not counts:
                    print(f"FAILED: {name}: status {ran.returncode}\n"
                          f"{ran.stdout}{ran.stderr}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
