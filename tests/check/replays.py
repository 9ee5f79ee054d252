#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""replays.py: the same schedule gives the same report, byte for byte, and the
same results, on one thread of the device and on two; what one run of many
(explore:N) has found, its own schedule finds again.

The last line is "N passed, N failed"."""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
METTLE = os.path.join(os.environ.get("METTLE_BUILD_DIR", "build"), "mettle")
REPLAYS = 20
# File, arguments, schedule, output.
CASES = [
    ("race_device.metal", ["other_values", "--grid", "64", "--group", "32",
                           "0=zeros:u32:1"], "random:9", "0"),
    ("variants.metal", ["last_step", "--grid", "256", "--group", "64",
                        "0=iota:f32:256", "1=zeros:f32:4"], "random:77", "1"),
    ("explore.metal", ["lock", "--grid", "64", "--group", "32",
                       "0=zeros:u32:1", "1=zeros:u32:1"], "stale:5", "1")]


def run(case, schedule, threads, report):
    file, arguments, _, printed = case
    environment = dict(os.environ, METTLE_CPU_THREADS=str(threads))
    result = subprocess.run(
        [METTLE, "run", os.path.join(HERE, file), *arguments, "--check",
         "--schedule", schedule, "--check-report", report, "--print", printed],
        env=environment, capture_output=True, text=True, check=False)
    with open(report, encoding="utf-8") as text:
        return result.returncode, result.stdout, text.read()


def replay(case, folder):
    """Returns what is wrong, or None."""
    report = os.path.join(folder, "report.json")
    first = run(case, case[2], 1, report)
    if first[0] != 3:
        return f"exit {first[0]}"
    for number in range(1, REPLAYS):
        if run(case, case[2], 1 + number % 2, report) != first:
            return f"replay {number} differs"
    return None


def find_again(folder):
    """The value that a schedule of many is said to give, it gives alone."""
    report = os.path.join(folder, "report.json")
    case = ("explore.metal", CASES[2][1], None, "1")
    found = json.loads(run(case, "explore:12", 2, report)[2])["findings"]
    entry = next(it for it in found if it["kind"] == "nondeterministic")
    value = entry["text"].split(" and ")[1].split(" in ")[0]
    alone = run(case, entry["schedule"], 1, report)
    if alone[1].split() != ["1:", value]:
        return f"{entry['schedule']} gives {alone[1]!r}, not {value}"
    return None


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, wrong in ([(case[1][0], replay(case, folder))
                             for case in CASES] +
                            [("explore", find_again(folder))]):
            passed += wrong is None
            failed += wrong is not None
            if wrong:
                print(f"FAILED {name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
