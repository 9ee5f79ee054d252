# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# harness.py: compiles MSL with the library's headers straight to a shared
# object of the host, so that the tests here can call functions of one thread
# on whole arrays, without a device. Counts checks and prints the last line.
import ctypes
import os
import subprocess
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
HEADERS = os.path.join(ROOT, "src", "compiler", "metal")
CLANG = os.environ.get("METTLE_TEST_CLANG", "/usr/lib/llvm-19/bin/clang")

# What the front end sets (src/compiler/frontend/frontend.cpp), as cc1 flags.
FLAGS = """-cc1 -triple x86_64-unknown-linux-gnu
  -aux-triple x86_64-unknown-linux-gnu -x c++ -std=c++17 -fsycl-is-device
  -fdeclspec -ffp-contract=on -fwchar-type=int -nostdsysteminc
  -cl-single-precision-constant -ffloat16-excess-precision=none
  -fbfloat16-excess-precision=none -fwrapv -mrelocation-model pic -pic-level 2
  -target-cpu haswell -D__METAL_VERSION__=320 -Wall -Werror -Wno-c++11-narrowing
  -Wno-user-defined-literals""".split() + [
    "-DMETTLE_EACH_SPACE(M)=M(thread,) M(const thread, const)"]

# Functions that the compiler's passes provide for a kernel, here for a single
# thread.
RUNTIME = """
int math_mode = 2;
int mode(void) __asm__("mettle.math_mode");
int mode(void) { return math_mode; }
"""


def compile_metal(path, output, *flags):
    """Runs clang on an MSL file; returns its completed process."""
    command = [CLANG, *FLAGS, "-I", HEADERS, "-include", "mettle/prelude.h",
               *flags, path, "-o", output]
    return subprocess.run(command, capture_output=True, text=True)


class Library:
    """The functions of an MSL file, called through ctypes."""

    def __init__(self, path, *flags):
        with tempfile.TemporaryDirectory() as folder:
            object_file = os.path.join(folder, "functions.o")
            shared = os.path.join(folder, "functions.so")
            stubs = os.path.join(folder, "runtime.c")
            with open(stubs, "w") as file:
                file.write(RUNTIME)
            done = compile_metal(path, object_file, "-O2", "-emit-obj", *flags)
            if done.returncode:
                raise SystemExit(done.stderr)
            subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-z,defs", "-o",
                            shared, object_file, stubs], check=True)
            self.shared = ctypes.CDLL(shared)

    def set_math_mode(self, mode):
        ctypes.c_int.in_dll(self.shared, "math_mode").value = mode

    def call(self, name, out_dtype, count, *arrays):
        """Calls void name(in..., out, count) and returns out."""
        inputs = [np.ascontiguousarray(a) for a in arrays]
        out = np.zeros(count, out_dtype)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*inputs, out)]
        getattr(self.shared, name)(*pointers, ctypes.c_long(count))
        return out


class Count:
    passed = 0
    failed = 0


def check(condition, text):
    """Counts one check; prints it if it failed."""
    if condition:
        Count.passed += 1
    else:
        Count.failed += 1
        print("FAILED:", text)


def finish():
    print(f"{Count.passed} passed, {Count.failed} failed")
    raise SystemExit(1 if Count.failed else 0)


def ulp_error(got, want):
    """Distance of float32 results from float64 references, in units in the
    last place of the reference; infinity where one is NaN and not the other."""
    want32 = want.astype(np.float32)
    exponent = np.frexp(want)[1].astype(np.float64)
    exponent = np.clip(exponent, -125, 128)
    unit = np.exp2(exponent - 24)
    with np.errstate(all="ignore"):
        error = np.abs(got.astype(np.float64) - want) / unit
    # A result that rounds to infinity is right if it is infinity, or one unit
    # off if it is the largest number.
    same = (got == want32) | (np.isnan(got) & np.isnan(want))
    error = np.where(same, np.where(np.isfinite(error), error, 0), error)
    near_top = np.isinf(want32) & (np.abs(got) == np.finfo(np.float32).max)
    error = np.where(near_top & np.isfinite(want), 1, error)
    return np.where(np.isnan(error), np.inf, error)
