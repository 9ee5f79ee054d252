# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sanitized.py: how programs run on a libMetal that a sanitizer is built
into: the sanitizer's library is loaded before all others."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))
LIBRARY = os.path.join(BUILD, "objc", "libMetal.so.1")


def environment(leaks=False):
    """The environment of a program that is linked with libMetal; with leaks, it
    fails if it loses what it allocates."""
    needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True,
                            text=True, check=True).stdout
    names = re.findall(r"\[lib([a-z]*san)\.so[.0-9]*\]", needed)
    # ubsan alone needs no preloading; asan contains it.
    first = [name for name in names if name in ("asan", "tsan")]
    if not first:
        return dict(os.environ)
    path = subprocess.run(["gcc", f"-print-file-name=lib{first[0]}.so"],
                          capture_output=True, text=True,
                          check=True).stdout.strip()
    return {**os.environ, "LD_PRELOAD": path,
            "UBSAN_OPTIONS": "halt_on_error=1:" + os.environ.get(
                "UBSAN_OPTIONS", ""),
            "ASAN_OPTIONS": f"detect_leaks={int(leaks)}:" + os.environ.get(
                "ASAN_OPTIONS", "")}
