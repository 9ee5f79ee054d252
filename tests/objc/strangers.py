#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""strangers.py: builds the programs of strangers/, which are written as for
macOS, by `mettle env` with frameworks by name and reference counting by the
compiler, and runs them. Its last line is the count; ends with 77 without a
clang."""
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
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
FRAMEWORKS = ("Metal", "Foundation", "MetalKit", "CoreGraphics", "QuartzCore",
              "MetalPerformanceShaders", "IOKit", "Cocoa", "Accelerate")
SECONDS = 60


def build(path, target):
    compiler = "clang++" if path.endswith(".mm") else "clang"
    linked = [word for name in FRAMEWORKS for word in ("-framework", name)]
    return subprocess.run(
        [os.path.join(BUILD, "mettle"), "env", "--", compiler, "-O1",
         "-Wall", "-Werror", "-Wno-format",
         "-Wno-arc-performSelector-leaks", "-fobjc-arc",
         "-fobjc-arc-exceptions", "-fobjc-exceptions", "-fexceptions", path,
         *linked, "-o", target],
        capture_output=True, text=True, timeout=SECONDS)


def main():
    if not (shutil.which("clang-19") or shutil.which("clang")):
        print("skipped: no clang")
        sys.exit(77)
    passed = failed = 0
    programs = sorted(os.listdir(os.path.join(HERE, "strangers")))
    with tempfile.TemporaryDirectory() as folder:
        # A resource beside the programs, for bundle.m.
        with open(os.path.join(folder, "t.h"), "w", encoding="utf-8") as file:
            file.write("// a resource\n")
        variables = {**sanitized.environment(leaks=True), "TMPDIR": folder}
        for program in programs:
            target = os.path.join(folder, os.path.splitext(program)[0])
            made = build(os.path.join(HERE, "strangers", program), target)
            if made.returncode:
                failed += 1
                print(f"FAILED: {program} does not build\n{made.stderr}")
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
                print(f"FAILED: {program}: status {ran.returncode}\n"
                      f"{ran.stdout}{ran.stderr}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
