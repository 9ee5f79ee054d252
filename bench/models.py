#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""models.py BUILD [NAME...]: whole models beside eager torch and torch.compile
on the same cores, with one thread and with two: the median of rounds in which
each takes its turn. Then what a load takes, with an empty cache of compiled
code and with a full one. Models are those that tests/aoti/run_models.py
exports; without them, or without a torch (METTLE_TORCH_PYTHON), a line says
so.

A turn is a pause, a run that does not count, and the one that does. torch's
second thread looks out for work for 5 to 8 ms after a run: without the pause
it would be on the other's core, and without the first run torch.compile alone
would find it awake, by eager torch's turn."""

import ctypes
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "tests", "aoti")
sys.path.insert(0, TESTS)
ROUNDS = int(os.environ.get("METTLE_BENCH_ROUNDS", "15"))
WARM_UP = 3
SETTLE_SECONDS = 0.02


def serve(build, folder):
    """Runs a model for each line on standard input: this program's child, so
    that the count of threads is its own."""
    import json
    import host as host_module
    import numpy as np
    start = time.perf_counter()
    host = host_module.Host(build)
    model = host.make("mtl_model_load", f"{folder}/model.so".encode(), None)
    print(time.perf_counter() - start, flush=True)
    with open(f"{folder}/case.json", encoding="utf-8") as file:
        kinds = json.load(file)["inputs"]
    inputs = [host.tensor(np.load(f"{folder}/in{i}.npy"), kind)
              for i, kind in enumerate(kinds)]
    inputs = (host_module.Tensor * len(kinds))(*inputs)
    for _ in sys.stdin:
        start = time.perf_counter()
        result = host.make("mtl_model_run", model, host.stream, inputs,
                           ctypes.c_size_t(len(kinds)))
        host.call("mtl_stream_synchronize", host.stream,
                  host_module.COMMIT_AND_WAIT)
        print(time.perf_counter() - start, flush=True)
        host.library.mtl_model_result_release(result)


class Side:
    """A child that answers each line with the seconds it took."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, bufsize=1,
            env={**os.environ, **(environment or {})})

    def read(self):
        return float(self.process.stdout.readline().strip() or "nan")

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
        except BrokenPipeError:
            return math.nan
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def mettle_side(build, folder, environment):
    side = Side([sys.executable, "-B", os.path.abspath(__file__), "--serve",
                 build, folder], environment)
    return side, side.read()


def compare(build, name, folder, python, threads):
    ours, _ = mettle_side(build, folder, {"METTLE_CPU_THREADS": str(threads)})
    torch = Side([python, "-W", "ignore", os.path.join(HERE, "torch_side.py"),
                  name, str(threads)])
    times = {"mettle": [], "eager": [], "compiled": []}
    for i in range(WARM_UP + ROUNDS):
        for kind, list_ in times.items():
            side = ours if kind == "mettle" else torch
            time.sleep(SETTLE_SECONDS)
            side.ask(kind)
            seconds = side.ask(kind)
            if i >= WARM_UP:
                list_.append(seconds * 1e3)
    ours.close()
    torch.close()
    medians = {kind: statistics.median(t) for kind, t in times.items()}
    best = min(t for kind, t in medians.items()
               if kind != "mettle" and not math.isnan(t))
    print(f"{name + ', threads: ' + str(threads):40} "
          f"{medians['mettle']:10.3g}  ms    "
          + " ".join(f"{kind} {medians[kind]:.3g} "
                     f"({medians[kind] / medians['mettle']:.2f}x)"
                     for kind in ("eager", "compiled"))
          + f"; the better {best / medians['mettle']:.2f}x", flush=True)


def load_times(build, name, folder):
    with tempfile.TemporaryDirectory() as cache:
        times = []
        for _ in range(6):
            side, seconds = mettle_side(build, folder,
                                        {"METTLE_CACHE_DIR": cache})
            side.close()
            times.append(seconds * 1e3)
    print(f"{'load of ' + name:40} {statistics.median(times[1:]):10.3g}  ms    "
          f"with nothing cached {times[0]:.3g}", flush=True)


def main():
    if sys.argv[1] == "--serve":
        serve(*sys.argv[2:])
        return
    build = sys.argv[1]
    import models
    import run_models
    names = sys.argv[2:] or list(models.CASES)
    print("\nmodels of PyTorch", flush=True)
    python = run_models.torch_python()
    run_models.export([n for n in names if not run_models.is_exported(n)])
    there = [n for n in names if run_models.is_exported(n)]
    if not python or not there:
        print("no torch here, or no model that it exported: skipped")
        return
    for name in there:
        for threads in (1, 2):
            compare(build, name, run_models.folder_of(name), python, threads)
    for name in there:
        load_times(build, name, run_models.folder_of(name))


if __name__ == "__main__":
    main()
