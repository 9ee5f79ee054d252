#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libraries.py BUILD_FOLDER: matrix products by a library of the host's, while
the process has others of the same names. A product is never wrong, and the
library is used where it can be kept apart."""

import glob
import os
import subprocess
import sys

BUILD = sys.argv[1]
CLIENT = os.path.join(os.environ["METTLE_BUILD_DIR"], "product_client")


def library(name):
    return os.path.join(BUILD, f"lib{name}.so")


def run(folder, preload=(), arguments=(), host_library="openblas"):
    environment = dict(os.environ, METTLE_HOST_LIBRARY=host_library,
                       LD_PRELOAD=":".join(preload))
    if folder:
        environment["LD_LIBRARY_PATH"] = folder
    done = subprocess.run([CLIENT, *arguments], env=environment, text=True,
                          capture_output=True)
    return (done.stdout + done.stderr).strip()


def stand_in(kind):
    return os.path.join(BUILD, kind)


# what: (stand-in, preloaded, loaded by the client, what it must say)
CASES = {
    "alone": ("right", [], [], "right used"),
    "another is preloaded": ("right", ["meddler"], [], "right used"),
    "another is loaded globally": ("right", [], ["meddler"], "right used"),
    "another shares an inner name": ("right", ["half_meddler"], [],
                                     "right used"),
    "the process has its own malloc": ("right", ["own_malloc"], [],
                                       "right used"),
    "its own malloc and another": ("right", ["own_malloc", "meddler"], [],
                                   "right unused"),
    "its own malloc and an inner name": (
        "right", ["own_malloc", "half_meddler"], [], "right unused"),
    "the library is wrong": ("wrong", [], [], "right unused"),
    "the library's integers are wide": ("wide", [], [], "right unused"),
}


def model_says(preload):
    """What a model's loading says where a library is preloaded."""
    tool = os.path.join(os.environ["METTLE_BUILD_DIR"], "mettle")
    model = os.path.join(os.environ["METTLE_BUILD_DIR"], "tests", "aoti",
                         "libtimes_2.so")
    done = subprocess.run([tool, "model", "info", model], text=True,
                          env=dict(os.environ, LD_PRELOAD=preload),
                          capture_output=True)
    return done.returncode, done.stderr


def models():
    """A model never calls another library's functions for Mettle's."""
    good, _ = model_says("")
    bad, said = model_says(library("other_torch"))
    if good != 0 or bad == 0 or "libother_torch.so" not in said:
        print(f"model beside another aoti_torch_: {good} {bad} {said}")
        return False
    return True


def numpys():
    """OpenBLAS as numpy's wheel brings it; None without one."""
    try:
        import numpy
    except ImportError:
        return None
    folder = os.path.dirname(os.path.dirname(numpy.__file__))
    found = glob.glob(os.path.join(folder, "numpy.libs", "*openblas*.so*"))
    return found[0] if found else None


def main():
    results = []
    for name, (kind, preloaded, loaded, wanted) in CASES.items():
        said = run(stand_in(kind), [library(one) for one in preloaded],
                   [library(one) for one in loaded])
        results.append(said == wanted)
        if said != wanted:
            print(f"{name}: {said!r}, not {wanted!r}")
    results.append(models())
    skipped = 0
    blas = numpys()
    for host_library in ("openblas", "onednn", ""):
        if not blas:
            skipped += 1
            continue
        # The system's own library, if it has one, beside numpy's.
        said = run(None, [blas], host_library=host_library)
        results.append(said.startswith("right"))
        if not results[-1]:
            print(f"{host_library} beside {blas}: {said}")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, "
          f"{skipped} skipped")
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
