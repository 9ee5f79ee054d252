#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_tests.py [NAME...]: runs the tests of the Python package, each file in
a process of its own, on the libraries in METTLE_BUILD_DIR.

They run in an environment with torch, ml_dtypes, Pillow and the checkers that
is made once, in METTLE_PYTHON_CACHE or mettle-tests/python among the user's
caches. Where it cannot be had they run with this Python, and what a test
misses skips it. The last line is "N passed, N failed[, N skipped]"."""

import contextlib
import fcntl
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get("METTLE_PYTHON_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
    "mettle-tests", "python")
PACKAGES = ["numpy", "ml_dtypes", "pillow", "torch==2.13.0", "ruff", "mypy",
            "nbclient", "ipykernel"]
# Not for every system; pyright runs on node, which the extra brings.
MORE = [["mlx==0.32.4", "mlx-cpu==0.32.4"], ["pyright[nodejs]"]]
INSTALL_SECONDS = 900
FILE_SECONDS = 1500  # the harness has the limit that counts
RESULT = re.compile(r"^RESULT (\d+) (\d+) (\d+)$", re.MULTILINE)


@contextlib.contextmanager
def one_at_a_time():
    """tests/executorch makes the same environment."""
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    with open(CACHE + ".lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def python():
    """The environment's Python, or this one."""
    with one_at_a_time():
        return _python()


def _python():
    ready = os.path.join(CACHE, "ready")
    program = os.path.join(CACHE, "bin", "python")
    if os.path.exists(ready):
        return program
    if os.path.exists(CACHE + ".missed"):
        return sys.executable
    try:
        subprocess.run([sys.executable, "-m", "venv", CACHE], check=True,
                       capture_output=True, timeout=60)
        subprocess.run([program, "-m", "pip", "install", "-q", "--retries",
                        "0", "--timeout", "10", *PACKAGES], check=True,
                       capture_output=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError):
        with open(CACHE + ".missed", "w", encoding="ascii"):
            return sys.executable
    for packages in MORE:
        subprocess.run([program, "-m", "pip", "install", "-q", "--retries",
                        "0", "--timeout", "10", *packages],
                       capture_output=True, timeout=INSTALL_SECONDS,
                       check=False)
    with open(ready, "w", encoding="ascii"):
        return program


def run(program, path):
    """(passed, failed, skipped) of one file."""
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")
                   + os.pathsep + HERE, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.setdefault("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))
    command = [program, "-X", "faulthandler", os.path.join(HERE, "case.py"),
               path]
    try:
        result = subprocess.run(command, env=environment, text=True,
                                stdout=subprocess.PIPE, cwd=HERE,
                                stderr=subprocess.STDOUT, check=False,
                                timeout=FILE_SECONDS)
        output = result.stdout
    except subprocess.TimeoutExpired as error:
        output = (error.stdout or b"").decode(errors="replace") + \
            f"\nstill running after {FILE_SECONDS} s\n"
        result = None
    found = RESULT.search(output)
    counts = [int(n) for n in found.groups()] if found else [0, 1, 0]
    if result is not None and result.returncode not in (0, 1) and \
            not counts[1]:
        counts[1] = 1
        output += f"\nexit status {result.returncode}\n"
    if counts[1]:
        print(f"--- {os.path.basename(path)}\n{output}", flush=True)
    else:
        for line in output.splitlines():
            if line.startswith("skipped "):
                print(line)
    return counts


def main():
    program = python()
    names = sys.argv[1:]
    total = [0, 0, 0]
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        if names and not any(name in path for name in names):
            continue
        total = [a + b for a, b in zip(total, run(program, path))]
    text = f"{total[0]} passed, {total[1]} failed"
    print(text + (f", {total[2]} skipped" if total[2] else ""))
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main())
