#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""checker.py BUILD: what checks cost: the device's time of three kernels on
one thread in tier 1, in tier 0, under --check and under --check=bounds, each
with the geometric mean beside tier 1; and the process's time of their twins
under Oclgrind, where oclgrind-kernel is installed."""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checker")
RUNS = 120
SIDES = {"tier 1": [], "tier 0": ["--debug"], "--check": ["--check"],
         "bounds": ["--check=bounds"]}
# Kernel: its grid and group, its arguments for Mettle, and for Oclgrind.
KERNELS = {
    "scale_add": ("65536", "256",
                  ["0=iota:f32:65536", "1=zeros:f32:65536", "2=f32:0.5"],
                  ["<size=262144 range=0:1:65535 float>",
                   "<size=262144 fill=0 float>", "<size=4 float>\n0.5"]),
    "tree": ("65536", "256", ["0=iota:f32:65536", "1=zeros:f32:256"],
             ["<size=262144 range=0:1:65535 float>",
              "<size=1024 fill=0 float>"]),
    "tiles": ("64,64", "16,16", ["0=iota:f32:4096", "1=iota:f32:4096",
                                 "2=zeros:f32:4096"],
              ["<size=16384 range=0:1:4095 float>",
               "<size=16384 range=0:1:4095 float>",
               "<size=16384 fill=0 float>"]),
}


def measure(mettle, kernel, side):
    grid, group, arguments, _ = KERNELS[kernel]
    result = subprocess.run(
        [mettle, "run", os.path.join(HERE, "checker.metal"), kernel, "--grid",
         grid, "--group", group, "--repeat", str(RUNS), "--unchecked",
         "--json", *SIDES[side], *arguments],
        env=dict(os.environ, METTLE_CPU_THREADS="1"), capture_output=True,
        text=True, check=True)
    return json.loads(result.stdout)["time_ns"]["min"] / 1000


def oclgrind(kernel, option):
    """Microseconds of a process, or None."""
    grid, group, _, arguments = KERNELS[kernel]

    def three(text):
        return " ".join((text.split(",") + ["1", "1"])[:3])

    with tempfile.NamedTemporaryFile("w", suffix=".sim") as file:
        file.write("\n".join([os.path.join(HERE, "checker.cl"), kernel,
                              three(grid), three(group), *arguments, ""]))
        file.flush()
        start = time.perf_counter()
        result = subprocess.run(["oclgrind-kernel", *option, file.name],
                                capture_output=True, check=False)
        spent = 1e6 * (time.perf_counter() - start)
    return spent if result.returncode == 0 else None


def main():
    mettle = os.path.join(os.path.abspath(sys.argv[1]), "mettle")
    print("\nThe checker, microseconds on one thread")
    sides = list(SIDES)
    has_peer = shutil.which("oclgrind-kernel") is not None
    names = sides + (["oclgrind", "with races"] if has_peer else [])
    print("  " + " " * 12 + "".join(f"{name:>13}" for name in names))
    ratios = {name: [] for name in names}
    for kernel in KERNELS:
        times = {side: measure(mettle, kernel, side) for side in sides}
        if has_peer:
            times["oclgrind"] = oclgrind(kernel, [])
            times["with races"] = oclgrind(kernel, ["--data-races"])
        for name, value in times.items():
            ratios[name].append(value / times["tier 1"] if value else math.nan)
        print(f"  {kernel:<12}" + "".join(
            f"{times[name] or math.nan:13,.1f}" for name in names), flush=True)
    means = {name: math.exp(sum(map(math.log, all_)) / len(all_))
             for name, all_ in ratios.items()}
    print("  times tier 1" + "".join(f"{means[name]:13,.1f}"
                                     for name in names))
    if not has_peer:
        print("  oclgrind-kernel is not there (Debian: oclgrind): skipped")


if __name__ == "__main__":
    main()
