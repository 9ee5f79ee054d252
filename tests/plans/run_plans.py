#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_plans.py: compares how the loads and stores of the regression kernels are
done with plans.txt: a form that stops firing, or fires where it did not, is a
failure.

  run_plans.py             compares
  run_plans.py --update    writes plans.txt anew; look at what changed

Each version of a kernel's code has a line for each way that its loads or
stores are done, with their number: "2 load if no index wraps (contiguous |
lane loop)". The targets are the same on every machine. Fails of one kernel count
as one. The last line is "N passed, N failed"."""

import collections
import concurrent.futures
import difflib
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(os.path.dirname(HERE), "regression")
PLANS = os.path.join(HERE, "plans.txt")
METTLE = os.path.join(os.environ.get("METTLE_BUILD_DIR", "build"), "mettle")
# Which files for which target: all with masks; without, those whose forms are
# others then.
TARGETS = {
    "x86_64 x86-64-v4": ["*"],
    "x86_64 x86-64-v3": ["elements_with_gaps", "words_and_bytes",
                         "parts_of_words", "wrapped_indices"],
}
COMMENT = """\
# How the loads and stores of the regression kernels are done; written by
# run_plans.py --update.
"""
# "  line 3, load: contiguous, cost 2: why", with "then" or "else" further in.
ACCESS = re.compile(r"  line \d+, (load|store): (.*)")
WAY = re.compile(r" +(?:then|else) (.*)")
CHOICE = re.compile(r"(.*?), cost \d+: .*")


def form_of(lines):
    """Takes a choice and what is behind its check off lines."""
    text = CHOICE.fullmatch(lines.pop(0))[1]
    if not text.startswith("if "):
        return text
    return f"{text} ({form_of(lines)} | {form_of(lines)})"


def plan_of(text):
    """{"KERNEL, rows of 32": [line]} of what --dump-plan prints."""
    lines = text.split("\n")
    plans, kernel, title = {}, "", ""
    while lines:
        line = lines.pop(0)
        access = ACCESS.fullmatch(line)
        if line.startswith("kernel "):
            kernel = line[len("kernel "):]
        elif access:
            rest = [access[2]]
            while lines and WAY.fullmatch(lines[0]):
                rest.append(WAY.fullmatch(lines.pop(0))[1])
            plans[title][f"{access[1]} {form_of(rest)}"] += 1
        elif line:
            title = f"{kernel}, {line.rstrip(':')}"
            plans.setdefault(title, collections.Counter())
    return {title: [f"  {count} {form}" for form, count in sorted(plan.items())]
            for title, plan in plans.items() if plan}


def plans_of(path, target):
    result = subprocess.run(
        [METTLE, "compile", path, "--dump-plan"], check=False,
        capture_output=True, text=True,
        env={**os.environ, "METTLE_CPU_TARGET": target})
    name = os.path.basename(path)
    return {f"{name} {title}, {target}": plan
            for title, plan in plan_of(result.stdout).items()}


def plans_here():
    work = [(path, target) for target, patterns in TARGETS.items()
            for pattern in patterns for path in sorted(
                glob.glob(os.path.join(KERNELS, f"{pattern}.metal")))]
    plans = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(plans_of, *zip(*work)):
            plans.update(found)
    return plans


def plans_there():
    plans, lines = {}, []
    with open(PLANS, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith("  "):
                lines.append(line)
            elif line and not line.startswith("#"):
                lines = plans[line] = []
    return plans


def main():
    here = plans_here()
    if sys.argv[1:] == ["--update"]:
        with open(PLANS, "w", encoding="utf-8") as file:
            file.write(COMMENT)
            for title, plan in here.items():
                file.write("\n".join([title, *plan, ""]))
        return 0
    there = plans_there()
    failed = 0
    for title in sorted({**there, **here}):
        before, now = there.get(title, []), here.get(title, [])
        if before != now:
            failed += 1
            print(title)
            for line in difflib.ndiff(before, now):
                if line[0] in "+-":
                    print(line)
    print(f"{len({**there, **here}) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
