#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_stress.py PROGRAM [NAME...]: PROGRAM (stress/model_stress.c) runs models
that torch exported, four at a time, from eight threads, with a library for
large products and without; it can be built with sanitizers, as nothing of
Python is in its process. The first results are held to what eager torch
computed, all others to the first.

Models come from the cache that run_models.py keeps. Without names it is four
models, or all of them with METTLE_AOTI_FULL=1; what is not there counts as
skipped. METTLE_STRESS_ROUNDS is how many turns a thread takes. The last line
is "N passed, N failed, N skipped"."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run_models  # noqa: E402
from host import SCALARS  # noqa: E402

FOUR = ["convolution", "attention", "index_rows", "decoder"]
# PROGRAM gives inputs in rows; these models' have layouts of their own, which
# `mettle model run` makes (tests/cli/models.py).
LAID_OUT = ["channels_last_input", "inputs_that_are_views",
            "dynamic_channels_last"]
AT_A_TIME = 4
THREADS = "8"
ROUNDS = os.environ.get("METTLE_STRESS_ROUNDS", "8")
SECONDS = 900
LIBRARIES = {"kernels alone": {"METTLE_HOST_LIBRARY": "none"},
             "host library": {}}
# LeakSanitizer's tracer dies over the thread-local memory of libraries that
# were loaded late, as models are.
LEAKS = {"LSAN_OPTIONS": f"use_tls=0:suppressions={HERE}/stress/lsan.txt:"
                         "print_suppressions=0"}


def prepare(name, target):
    """A folder as model_stress.c wants it; returns what case.json says."""
    source = run_models.folder_of(name)
    os.mkdir(target)
    for file in ("model.so", "model_weights.blob"):
        if os.path.exists(f"{source}/{file}"):
            os.symlink(f"{source}/{file}", f"{target}/{file}")
    with open(f"{source}/case.json", encoding="utf-8") as file:
        about = json.load(file)
    with open(f"{target}/inputs.txt", "w", encoding="utf-8") as file:
        for i, kind in enumerate(about["inputs"]):
            array = np.load(f"{source}/in{i}.npy")
            array.tofile(f"{target}/in{i}.raw")
            print(SCALARS[kind], *array.shape, f"{target}/in{i}.raw",
                  file=file)
    return about


def result(folder, want, i, kind):
    """Output i as run_models.load would give it."""
    stored = np.uint16 if kind == "bf16" else want.dtype
    array = np.fromfile(f"{folder}/{i}.raw", stored)
    if kind == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.reshape(want.shape) if array.size == want.size else array


def compare(name, folder, about):
    source = run_models.folder_of(name)
    for i, kind in enumerate(about["outputs"]):
        want = run_models.load(f"{source}/out{i}.npy", kind)
        got = result(folder, want, i, kind)
        why = run_models.difference(f"output {i}", got, want,
                                    about["tolerance"])
        if why:
            return why
    return None


def stress(program, names, library):
    """Runs some models; returns why that failed, or None."""
    with tempfile.TemporaryDirectory() as top:
        environment = {**os.environ, **LEAKS, **LIBRARIES[library]}
        folders = [os.path.join(top, name) for name in names]
        abouts = [prepare(*pair) for pair in zip(names, folders)]
        try:
            done = subprocess.run([program, THREADS, ROUNDS, *folders],
                                  capture_output=True, text=True,
                                  timeout=SECONDS, check=False,
                                  env=environment)
        except subprocess.TimeoutExpired:
            return f"longer than {SECONDS} s"
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr.strip()[:8000]}"
        for name, folder, about in zip(names, folders, abouts):
            why = compare(name, folder, about)
            if why:
                return f"{name}: {why}"
    return None


def main():
    program, names = sys.argv[1], sys.argv[2:]
    if not names:
        names = FOUR
        if run_models.FULL:
            names = [n for n in run_models.CASES if n not in LAID_OUT]
    if run_models.FULL:
        run_models.export([n for n in names if not run_models.is_exported(n)])
    there = [n for n in names if run_models.is_exported(n)]
    passed = failed = 0
    for i in range(0, len(there), AT_A_TIME):
        some = there[i:i + AT_A_TIME]
        for library in LIBRARIES:
            why = stress(program, some, library)
            if why is None:
                passed += 1
            else:
                failed += 1
                print(f"FAILED {' '.join(some)}, {library}: {why}", flush=True)
    skipped = -(-(len(names) - len(there)) // AT_A_TIME) * len(LIBRARIES)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
