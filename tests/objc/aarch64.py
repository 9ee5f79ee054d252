#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aarch64.py: builds the Objective-C runtime, Foundation and dispatch for
AArch64 and runs language.m and foundation.m on them in qemu's user mode: what
sends messages there is assembly of its own. Its last line is the count; ends
with 77 without a cross compiler, clang or qemu."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TRIPLE = "aarch64-linux-gnu"
SYSTEM = f"/usr/{TRIPLE}"
CXX = os.path.join(SYSTEM, "lib", "libstdc++.so.6")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
PROGRAMS = ("language.m", "foundation.m")
VARIANTS = (("-O2",), ("-O0", "-fobjc-arc", "-fobjc-arc-exceptions"))
SECONDS = 300


def run(words):
    done = subprocess.run(words, capture_output=True, text=True,
                          timeout=SECONDS)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}\n{done.stderr[-3000:]}")


def compile_runtime(folder):
    """Compiles every file of the runtime; returns the objects."""
    objc = os.path.join(ROOT, "src", "objc")
    files = [path for room in ("runtime", "foundation", "dispatch")
             for path in glob.glob(os.path.join(objc, room, "**", "*.c"),
                                   recursive=True)]
    files += glob.glob(os.path.join(objc, "runtime", "**", "*_aarch64.S"),
                       recursive=True)
    files.append(os.path.join(objc, "launch", "crt.c"))
    compiler = [f"{TRIPLE}-gcc", "-std=gnu11", "-O1", "-fPIC", "-fexceptions",
                "-fvisibility=hidden", "-D_GNU_SOURCE",
                "-I", os.path.join(ROOT, "src"),
                "-I", os.path.join(ROOT, "include")]
    if shutil.which("ccache"):
        compiler.insert(0, "ccache")

    def make(path):
        name = os.path.relpath(path, objc).replace(os.sep, "-") + ".o"
        target = os.path.join(folder, name)
        run([*compiler, "-c", path, "-o", target])
        return target

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(make, files))


def build(program, flags, objects, folder):
    target = os.path.join(folder, "program")
    run(["clang-19", f"--target={TRIPLE}", *flags, "-Wall", "-Werror",
         "-fobjc-runtime=macosx-12.0", "-fblocks", "-fexceptions",
         "-fobjc-exceptions",
         "-I", os.path.join(ROOT, "include", "mettle-objc"),
         "-c", os.path.join(HERE, program), "-o", target + ".o"])
    run([f"{TRIPLE}-gcc", target + ".o", *objects, CXX, "-lm", "-pthread",
         "-ldl", "-rdynamic", "-o", target])
    return target


def main():
    missing = [name for name in ("clang-19", f"{TRIPLE}-gcc", "qemu-aarch64")
               if not shutil.which(name)]
    if missing or not os.path.exists(CXX):
        print(f"skipped: no {' '.join(missing) or CXX}")
        sys.exit(77)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        objects = compile_runtime(folder)
        for program in PROGRAMS:
            for flags in VARIANTS:
                target = build(program, flags, objects, folder)
                ran = subprocess.run(["qemu-aarch64", "-L", SYSTEM, target],
                                     capture_output=True, text=True,
                                     timeout=SECONDS)
                counts = COUNTS.search(ran.stdout)
                passed += int(counts[1]) if counts else 0
                failed += max(int(counts[2]) if counts else 1,
                              ran.returncode != 0)
                if ran.returncode or not counts:
                    print(f"FAILED: {program} {' '.join(flags)}: status "
                          f"{ran.returncode}\n{ran.stdout}{ran.stderr}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
