#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""metal_cpp.py: builds programs against metal-cpp, which MLX's package carries
along, and runs them on libMetal. Its last line is the count; ends with 77 where
metal-cpp cannot be had."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "corpus"))
import sources  # noqa: E402
from mettle import BUILD  # noqa: E402

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
SECONDS = 240
DEVICES = ("cpu", "cpu-discrete")
PROGRAMS = ("metal_cpp_uses.cpp", "metal_cpp_metal4.cpp")


def build(source, headers, program):
    return subprocess.run(
        [os.path.join(BUILD, "mettle"), "env", "--", "clang++",
         "-std=c++17", "-O1", "-Wall", "-Werror", "-isystem", headers,
         os.path.join(HERE, source), "-framework", "Metal",
         "-framework", "Foundation", "-framework", "QuartzCore",
         "-pthread", "-o", program],
        capture_output=True, text=True, timeout=SECONDS)


def main():
    headers = shutil.which("clang++-19") and sources.metal_cpp()
    if not headers:
        print("skipped: no clang++-19, or no metal-cpp")
        sys.exit(77)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        for source in PROGRAMS:
            made = build(source, headers, program)
            if made.returncode:
                print(f"FAILED: {source} does not build\n{made.stderr[:3000]}")
                failed += 1
            for device in DEVICES if not made.returncode else ():
                ran = subprocess.run(
                    [program], env=dict(os.environ, METTLE_DEVICE=device),
                    capture_output=True, text=True, timeout=SECONDS)
                counts = COUNTS.search(ran.stdout)
                passed += int(counts[1]) if counts else 0
                failed += max(int(counts[2]) if counts else 1,
                              ran.returncode != 0)
                if ran.returncode or not counts:
                    print(f"FAILED: {source} on {device}: status "
                          f"{ran.returncode}\n{ran.stdout}{ran.stderr}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
