#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_executorch.py [NAME...]: programs.py, and six of the modules that
ExecuTorch tests its own Metal backend with, over the wheels of ExecuTorch and
PyTorch; with METTLE_EXECUTORCH_FULL=1 all of ExecuTorch's Metal tests, half an
hour of two cores.

The Python named by METTLE_EXECUTORCH_PYTHON has the wheels, or a virtual
environment in the user's cache, which is made from PyPI at the first run. Ends
with 77 where they cannot be had. The last line is "N passed, N failed, N
skipped"."""

import os
import re
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = os.path.join(HERE, "..", "..", "plugins", "executorch")
TORCH = "2.13.0"
REQUIREMENTS = os.path.join(PLUGIN, "requirements.txt")
CACHE = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
    "mettle-tests", "executorch")
INSTALL_SECONDS = 900
RUN_SECONDS = 3000
# add, addmm, linear_bias and split_cat are like parts of programs.py.
MODULES = ("conv1d_bias", "linear_nobias_int4", "sdpa", "topk", "gather_qmv",
           "gated_delta_rule")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


def has_wheels(python):
    program = ("import torch, torchao, executorch.runtime, executorch.exir; "
               "v = torch.__version__.split('+')[0].split('.'); "
               "assert tuple(map(int, v[:2])) >= (2, 13)")
    try:
        return subprocess.run([python, "-W", "ignore", "-c", program],
                              capture_output=True, timeout=300,
                              check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def borrow_torch(python):
    """Lets the environment see what that of tests/python has: a torch is a
    gigabyte. Without it, or with another torch there, it gets its own."""
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
    import run_tests
    place = "import sysconfig; print(sysconfig.get_path('purelib'))"
    lender, borrower = (
        subprocess.run([program, "-c", place], capture_output=True, text=True,
                       check=True).stdout.strip()
        for program in (run_tests.python(), python))
    if lender.startswith(run_tests.CACHE):
        with open(os.path.join(borrower, "lent.pth"), "w",
                  encoding="utf-8") as file:
            file.write(lender + "\n")


def install():
    """Makes the environment; True if it has the wheels now."""
    python = os.path.join(CACHE, "bin", "python3")
    if not os.path.exists(python):
        venv.create(CACHE, with_pip=True)
        borrow_torch(python)
    pip = [python, "-m", "pip", "install", "--quiet"]
    for names in ([f"torch=={TORCH}", "numpy"],
                  ["--no-deps", "-r", REQUIREMENTS]):
        try:
            done = subprocess.run(
                [*pip, *names], capture_output=True, text=True,
                timeout=INSTALL_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return False
        if done.returncode != 0:
            print(done.stderr[-600:])
            return False
    return has_wheels(python)


def find_python():
    own = os.path.join(CACHE, "bin", "python3")
    for python in (os.environ.get("METTLE_EXECUTORCH_PYTHON"), own):
        if python and os.path.exists(python) and has_wheels(python):
            return python
    return own if install() else None


def run(python, *arguments):
    """Runs a part and prints what it says; returns what it counts."""
    done = subprocess.run(
        [python, "-B", "-W", "ignore", *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=RUN_SECONDS, check=False,
        env={"AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL": "O0",
             "AOT_INDUCTOR_ENABLE_LINE_TABLES": "0", **os.environ,
             "PYTHONPATH": PLUGIN})
    lines = done.stdout.rstrip().split("\n")
    found = COUNTS.match(lines[-1])
    if not found or found[2] != "0" or done.returncode != 0:
        print("\n".join(lines[-80:]))
    else:
        print(*(line for line in lines if " ms" in line), sep="\n")
    if not found:
        return [0, 1, 0]
    return [int(number or 0) for number in found.groups()]


def main():
    python = find_python()
    if not python:
        print("skipped: no ExecuTorch: let pip reach its index")
        return 77
    sums = run(python, os.path.join(HERE, "programs.py"), *sys.argv[1:])
    if not sys.argv[1:]:
        chosen = []
        if not os.environ.get("METTLE_EXECUTORCH_FULL", "").strip("0"):
            for name in MODULES:
                chosen += ["-k", f"test_{name}_float32_output"]
        more = run(python, "-m", "mettle_executorch.upstream", *chosen)
        sums = [a + b for a, b in zip(sums, more)]
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main())
