#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libraries.py BUILD_FOLDER: matrix products by a library of the host's, while
the process has others of the same names. A product is never wrong, and the
library is used where it can be kept apart."""

import glob
import os
import subprocess
import sys
import tempfile

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


# name: (stand-in, preloaded, loaded by the client, expected output)
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


def models():
    """A model calls Mettle's functions, whatever else has their names."""
    import numpy
    build = os.environ["METTLE_BUILD_DIR"]
    with tempfile.TemporaryDirectory() as folder:
        x = os.path.join(folder, "x.npy")
        numpy.save(x, numpy.arange(8, dtype=numpy.float32))
        done = subprocess.run(
            [os.path.join(build, "mettle"), "model", "run",
             os.path.join(build, "tests", "aoti", "libtimes_2.so"), "--input",
             x, "--output-dir", folder], text=True, capture_output=True,
            env=dict(os.environ, LD_PRELOAD=library("other_torch")))
        results = [numpy.load(path) for path in glob.glob(
            os.path.join(folder, "*.npy")) if path != x]
    if len(results) == 1 and numpy.array_equal(
            results[0], 2 * numpy.arange(8, dtype=numpy.float32)):
        return True
    print(f"model beside another aoti_torch_: {done.stderr} {results}")
    return False


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
