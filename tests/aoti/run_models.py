#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_models.py [NAME...]: runs models that torch exported against what eager
torch computed on the CPU, through `mettle model run` and through model.h.

Exports stay in a cache, METTLE_AOTI_CACHE or mettle-tests/aoti among the
user's caches, under names made from the cases' sources, the exporter and the
version of torch: a second run needs no torch. Missing ones are made with the
Python named by METTLE_TORCH_PYTHON, this one, or the one that was installed
into the cache (METTLE_AOTI_FULL=1 installs it, from PyPI). Without
METTLE_AOTI_FULL quick cases are made for 45 s at the most, and whatever is in
the cache runs; the rest counts as skipped. The last line is "N passed,
N failed, N skipped"."""

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import graphs  # noqa: E402
import host  # noqa: E402
import models  # noqa: E402

CASES = graphs.CASES | models.CASES
FULL = os.environ.get("METTLE_AOTI_FULL", "0") not in ("", "0")
BUILD = os.environ.get("METTLE_BUILD_DIR", "build")
CACHE = os.environ.get("METTLE_AOTI_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
    "mettle-tests", "aoti")
TORCH = "2.13.0"
EXPORT_SECONDS = 45  # the quick selection
FULL_SECONDS = 6000
RUN_SECONDS = 120


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def folder_of(name):
    # A model's case is its class too: the whole file counts.
    shared = (read("export.py") + read("../../python/mettle/export_mps.py")
              + read("case.py") + TORCH)
    if name in models.CASES:
        shared += read("models.py")
    return os.path.join(CACHE, CASES[name].key(shared), name)


def is_exported(name):
    return os.path.exists(os.path.join(folder_of(name), "case.json"))


# --- Exporting ---------------------------------------------------------------

def has_torch(python):
    program = ("import torch; v = torch.__version__.split('+')[0].split('.');"
               "assert tuple(map(int, v[:2])) >= (2, 13)")
    try:
        return subprocess.run([python, "-c", program], capture_output=True,
                              timeout=120, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def install_torch():
    """A virtual environment with a torch for the CPU; None if that fails."""
    folder = os.path.join(CACHE, "torch-" + TORCH)
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=False,
                       capture_output=True)
    pip = [python, "-m", "pip", "install", "-q", "numpy", f"torch=={TORCH}"]
    index = ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]
    for options in (index, []):
        try:
            subprocess.run(pip + options, check=False, capture_output=True,
                           timeout=1500)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if has_torch(python):
            return python
    return None


def torch_python():
    installed = os.path.join(CACHE, "torch-" + TORCH, "bin", "python")
    for python in (os.environ.get("METTLE_TORCH_PYTHON"), sys.executable,
                   installed):
        if python and os.path.exists(python) and has_torch(python):
            return python
    return install_torch() if FULL else None


def lines_until(process, deadline):
    """The exporter's answers as they come, until the deadline."""
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    while selector.select(max(0, deadline - time.monotonic())):
        line = process.stdout.readline()
        if not line:
            return
        yield line.strip()


def export(names):
    """Exports names into the cache for as long as there is time; returns why
    cases failed, by name."""
    python = torch_python() if names else None
    if not python:
        return {}
    deadline = time.monotonic() + (FULL_SECONDS if FULL else EXPORT_SECONDS)
    failures = {}
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder, \
            subprocess.Popen(
                [python, "-W", "ignore", os.path.join(HERE, "export.py"),
                 folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, bufsize=1) as process:
        process.stdin.write("".join(name + "\n" for name in names))
        process.stdin.close()
        for line in lines_until(process, deadline):
            answer, _, rest = line.partition(" ")
            if answer == "ok":
                target = folder_of(rest)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                if not os.path.exists(target):
                    os.rename(os.path.join(folder, rest), target)
            elif answer == "failed":
                name, _, why = rest.partition(": ")
                failures[name] = why
        process.kill()
    return failures


# --- Running -----------------------------------------------------------------

def load(path, kind):
    array = np.load(path)
    if kind == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array


def difference(name, got, want, tolerance):
    """Why got is not want, or None: integers are equal, the rest lies within
    tolerance of the largest value, what is no number stands at its place."""
    if got.shape != want.shape:
        return f"{name}: shape {got.shape}, not {want.shape}"
    if want.size == 0:
        return None
    if want.dtype.kind in "iub":
        wrong = np.count_nonzero(got != want)
        return f"{name}: {wrong} of {want.size} differ" if wrong else None
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    if not (same | finite).all():
        return f"{name}: infinities or NaN stand elsewhere"
    if not finite.any():
        return None
    got, want = got[finite], want[finite]
    error = np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)
    if not error <= tolerance:
        return f"{name}: off by {error:.3g}, not {tolerance:g}"
    return None


def compare(folder, results, prefix, about):
    for i, kind in enumerate(about["outputs"]):
        want = load(f"{folder}/{prefix}{i}.npy", kind)
        why = difference(f"output {i}", results(i, kind), want,
                         about["tolerance"])
        if why:
            return why
    return None


def run_by_command(folder, about):
    with tempfile.TemporaryDirectory() as out:
        command = [os.path.join(BUILD, "mettle"), "model", "run",
                   f"{folder}/model.so", "--output-dir", out]
        for i, kind in enumerate(about["inputs"]):
            suffix = ":bf16" if kind == "bf16" else ""
            command += ["--input", f"{folder}/in{i}.npy{suffix}"]
        result = subprocess.run(command, capture_output=True, text=True,
                                timeout=RUN_SECONDS, check=False)
        if result.returncode:
            return (f"exit code {result.returncode}: "
                    f"{result.stderr.strip()[:2000]}")
        return compare(folder, lambda i, kind: load(f"{out}/{i}.npy", kind),
                       "out", about)


def run_steps(folder, about):
    """A decoder: what comes out goes in again, in one process."""
    try:
        results = host.decode(BUILD, folder, about["steps"])
    except host.Error as error:
        return str(error)
    return compare(folder, lambda i, kind: results[i], "last", about)


def run(name):
    folder = folder_of(name)
    with open(f"{folder}/case.json", encoding="utf-8") as file:
        about = json.load(file)
    try:
        why = run_by_command(folder, about)
    except subprocess.TimeoutExpired:
        why = f"longer than {RUN_SECONDS} s"
    if why is None and about["steps"]:
        why = run_steps(folder, about)
    if why is None and name == "convolution":
        why = host.update_convolution(BUILD, folder)
    return why


def main():
    chosen = sys.argv[1:] or list(CASES)
    wanted = [n for n in chosen if not is_exported(n)
              and (FULL or CASES[n].quick or sys.argv[1:])]
    failures = export(wanted)
    passed = failed = skipped = 0
    for name in chosen:
        if name in failures:
            why = f"torch did not export it: {failures[name]}"
        elif not is_exported(name):
            skipped += 1
            continue
        else:
            why = run(name)
        if why is None:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {name}: {why}", flush=True)
    if skipped:
        print(f"skipped: {skipped} models that are not exported; "
              "METTLE_AOTI_FULL=1 exports them where torch can be had")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
