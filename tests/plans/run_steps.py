#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_steps.py: checks that each recogniser of the vectoriser fires where
steps.txt says: one that fires nowhere any more is a failed test. Every step
that counts must have a line. The last line is "N passed, N failed"."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(os.path.dirname(HERE), "regression")
METTLE = os.path.join(os.environ.get("METTLE_BUILD_DIR", "build"), "mettle")
# A row of --dump-after=steps: name, changes or "-", milliseconds.
COUNTED = re.compile(r"^(vectorize\.\w+) +(\d+) +[\d.]+ ms$", re.MULTILINE)


def compiled(name, target, options):
    return subprocess.run(
        [METTLE, "compile", os.path.join(KERNELS, f"{name}.metal"), *options],
        check=False, capture_output=True, text=True,
        env={**os.environ, "METTLE_CPU_TARGET": target}).stdout


def fires(what, name, target, options):
    """Whether it does, and the names of the steps that count."""
    kind, _, text = what.partition(": ")
    if kind == "report":
        return text in compiled(name, target, [*options, "--report"]), set()
    if kind == "code":
        return re.search(text, compiled(
            name, target, [*options, "--dump-after=hoist_constants"])), set()
    rows = COUNTED.findall(compiled(name, target,
                                    [*options, "--dump-after=steps"]))
    return (any(row == what and int(count) for row, count in rows),
            {row for row, _ in rows})


def main():
    passed, failed, listed, counting = 0, 0, set(), set()
    with open(os.path.join(HERE, "steps.txt"), encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n")
                 if line and not line.startswith("#")]
    for line in lines:
        what, name, target, *options = line.split(" | ")
        listed.add(what)
        fired, steps = fires(what, name, target, options)
        counting |= steps
        passed += bool(fired)
        failed += not fired
        if not fired:
            print(f"{what} does not fire in {name}.metal")
    for step in sorted(counting - listed):
        failed += 1
        print(f"{step} is not in steps.txt")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
